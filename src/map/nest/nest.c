/* Knobs of a loop nest (docs/loopnest-model.md, "Space of loop nests"): what a point of the space chooses,
 * and what constraints leave to choose. */
#include "map/nest/nest_inside.h"

#include "map/nest/constraints.h"
#include "map/nest/factors.h"

#include <string.h>

static const char *const place_names[] = {"", ".x", ".y"};

static void add_slots(MerNestSpace *nest, const MerPlatform *platform)
{
    for (int l = 0; l < nest->level_count; l++) {
        const MerFanout *fanout = &mer_nest_memory(platform, l)->fanout;
        nest->fanout[l][MER_PLACE_X] = fanout->x;
        nest->fanout[l][MER_PLACE_Y] = fanout->y;
        for (int p = MER_PLACE_TEMPORAL; p <= MER_PLACE_Y; p++) {
            if (p == MER_PLACE_TEMPORAL || nest->fanout[l][p] > 1) {
                nest->slots[nest->slot_count++] = (MerNestSlot){l, (MerNestPlace)p};
            }
        }
    }
}

/* Do the fixed factors leave nothing of an axis? */
static bool is_full(const MerNestSpace *nest, const MerNestSlot *slot)
{
    int capacity = nest->fanout[slot->level][slot->place];
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        int exact = nest->constraints->exact[slot->level][slot->place][d];
        capacity /= exact > 0 ? exact : 1;
    }
    return slot->place != MER_PLACE_TEMPORAL && capacity < 2;
}

static void find_allowed(MerNestSpace *nest)
{
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        for (int s = 0; s < nest->slot_count; s++) {
            const MerNestSlot *slot = &nest->slots[s];
            if (nest->constraints->exact[slot->level][slot->place][d] == 0 &&
                nest->constraints->most[slot->level][slot->place][d] != 1 && !is_full(nest, slot)) {
                nest->allowed[d][nest->allowed_count[d]++] = s;
            }
        }
    }
}

static MerKnob make_knob(const char *name, MerKnobKind kind, MerRole role, int level, int dim,
                         int choices)
{
    return (MerKnob){name, kind, role, .level = level, .dim = dim, .op = -1, .choices = choices};
}

static int add_primes(MerNestSpace *nest, MerKnob *knobs, MerArena *arena)
{
    int prime[MER_NEST_PRIMES], dim[MER_NEST_PRIMES], count = 0;
    for (int i = 0; i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        int primes = mer_primes(mer_nest_free_size(nest, d), prime + count);
        for (int k = 0; k < primes && nest->allowed_count[d] > 1; k++) {
            const char *name =
                mer_arena_format(arena, "tile.%c.%d.%d", MER_DIM_LETTERS[d], prime[count], k);
            dim[count] = d;
            knobs[count++] =
                make_knob(name, MER_KNOB_CATEGORY, MER_ROLE_TILE, -1, d, nest->allowed_count[d]);
        }
    }
    nest->prime = memcpy(MER_ARRAY(arena, int, count), prime, (size_t)count * sizeof *prime);
    nest->dim = memcpy(MER_ARRAY(arena, int, count), dim, (size_t)count * sizeof *dim);
    return count;
}

static int add_shares(MerNestSpace *nest, const MerPlatform *platform, MerKnob *knobs,
                      MerArena *arena)
{
    int order[MER_NEST_SLOTS];
    int count = 0;
    for (int i = 0; i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        int slots = mer_nest_share_slots(nest, d, order);
        for (int s = 0; s < slots; s++) {
            const MerNestSlot *slot = &nest->slots[order[s]];
            const char        *name = mer_arena_format(
                       arena, "%s.%c.%s%s", slot->place ? "parallel" : "tile", MER_DIM_LETTERS[d],
                       mer_nest_memory(platform, slot->level)->name, place_names[slot->place]);
            knobs[count++] = make_knob(
                name, MER_KNOB_ORDERED, slot->place ? MER_ROLE_PARALLEL : MER_ROLE_TILE,
                slot->level, d, mer_nest_choices(nest, slot, d, mer_nest_free_size(nest, d)));
        }
    }
    return count;
}

/* Which loops of each level are sorted by knobs, and which have a place that is fixed. */
static void find_sorted(MerNestSpace *nest)
{
    const MerNestConstraints *constraints = nest->constraints;
    for (int l = 0; l < nest->level_count; l++) {
        unsigned is_fixed = 0;
        for (int i = 0; i < constraints->inner_count[l]; i++) {
            int d = constraints->inner[l][i];
            if (nest->shape.size[d] > 1) {
                is_fixed |= 1u << d;
                nest->fixed[l][nest->fixed_count[l]++] = d;
            }
        }
        for (int i = 0; l > 0 && i < nest->shape.dim_count; i++) {
            if (!(is_fixed >> nest->shape.dims[i] & 1)) {
                nest->sorted[l][nest->sorted_count[l]++] = nest->shape.dims[i];
            }
        }
        nest->sorted_count[l] = nest->sorted_count[l] > 1 ? nest->sorted_count[l] : 0;
    }
}

static int add_orders(MerNestSpace *nest, const MerPlatform *platform, MerKnob *knobs, int count,
                      MerArena *arena)
{
    memset(nest->order_knob, -1, sizeof nest->order_knob);
    for (int l = 1; l < nest->level_count; l++) {
        for (int i = 0; i < nest->sorted_count[l]; i++) {
            int d = nest->sorted[l][i];
            nest->order_knob[l][d] = count;
            const char *name = mer_arena_format(arena, "order.%c.%s", MER_DIM_LETTERS[d],
                                                mer_nest_memory(platform, l)->name);
            knobs[count++] =
                make_knob(name, MER_KNOB_RANK, MER_ROLE_ORDER, l, d, nest->sorted_count[l]);
        }
    }
    return count;
}

static int add_bypasses(MerNestSpace *nest, const MerPlatform *platform, MerKnob *knobs, int count,
                        MerArena *arena)
{
    memset(nest->bypass_knob, -1, sizeof nest->bypass_knob);
    for (int l = 0; l < nest->level_count - 1; l++) {
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            if (!(nest->is_free[l] >> t & 1)) {
                continue;
            }
            nest->bypass_knob[l][t] = count;
            const char *name = mer_arena_format(arena, "bypass.%c.%s", MER_TENSOR_LETTERS[t],
                                                mer_nest_memory(platform, l)->name);
            knobs[count++] = make_knob(name, MER_KNOB_CATEGORY, MER_ROLE_BYPASS, l, t, 2);
        }
    }
    return count;
}

static void set_keeps(MerNestSpace *nest, const MerPlatform *platform)
{
    unsigned all = (1u << MER_TENSOR_COUNT) - 1;
    for (int l = 0; l < nest->level_count; l++) {
        const MerMemory *memory = mer_nest_memory(platform, l);
        bool             is_outermost = l == nest->level_count - 1;
        unsigned         fixed = nest->constraints->keep[l] | nest->constraints->bypass[l];
        nest->keep[l] = is_outermost ? all : (memory->keep & ~fixed) | nest->constraints->keep[l];
        nest->is_free[l] = is_outermost ? 0 : all & ~(memory->keep | memory->bypass | fixed);
    }
}

/* Loops without a choice outside, then those that knobs sort, then those that stand innermost. */
static void make_blank_order(const MerNestSpace *nest, int l, int *order)
{
    int count = 0;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        bool is_fixed = false;
        for (int i = 0; i < nest->fixed_count[l]; i++) {
            is_fixed = is_fixed || nest->fixed[l][i] == d;
        }
        if (!is_fixed && nest->order_knob[l][d] < 0) {
            order[count++] = d;
        }
    }
    for (int i = 0; i < nest->sorted_count[l]; i++) {
        order[count++] = nest->sorted[l][i];
    }
    for (int i = nest->fixed_count[l] - 1; i >= 0; i--) {
        order[count++] = nest->fixed[l][i];
    }
}

static void make_blanks(MerNestSpace *nest)
{
    for (int l = 0; l < nest->level_count; l++) {
        MerNestLevel *level = &nest->blank[l];
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            level->temporal[d] = level->x[d] = level->y[d] = 1;
        }
        make_blank_order(nest, l, level->order);
        level->keep = nest->keep[l];
    }
    for (int i = 0; nest->is_constrained && i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        for (int s = 0; s < nest->slot_count; s++) {
            int exact = nest->constraints->exact[nest->slots[s].level][nest->slots[s].place][d];
            *mer_nest_slot_factor(nest->blank, &nest->slots[s], d) = exact > 0 ? exact : 1;
        }
        if (nest->genome == MER_GENOME_PRIMES && nest->allowed_count[d] == 1) {
            *mer_nest_slot_factor(nest->blank, &nest->slots[nest->allowed[d][0]], d) =
                mer_nest_free_size(nest, d);
        }
    }
}

MerStatus mer_nest_space_open(MerNestSpace *nest, const MerOp *op, const MerPlatform *platform,
                              MerNestGenome genome, const MerNestConstraints *constraints,
                              MerSpace *space, MerArena *arena, MerError *error)
{
    static const MerNestConstraints none;
    *nest = (MerNestSpace){
        .op = op, .genome = genome, .level_count = platform->memory_count, .constraints = &none};
    nest->is_constrained = constraints && mer_nest_is_constrained(constraints);
    if (nest->is_constrained || (constraints && constraints->ignored)) {
        MerNestConstraints *copy = MER_NEW(arena, MerNestConstraints);
        *copy = *constraints;
        nest->constraints = copy;
    }
    if (platform->kind != MER_PLATFORM_PE_ARRAY || platform->memory_count > MER_NEST_LEVELS) {
        return mer_error_set(
            error, MER_UNSUPPORTED,
            "platform %s: loop nests need a pe-array with at most %d memories, found %s with %d",
            platform->name, MER_NEST_LEVELS, mer_platform_kind_name(platform->kind),
            platform->memory_count);
    }
    MER_TRY(mer_layer_shape_make(op, &nest->shape, error));
    add_slots(nest, platform);
    find_allowed(nest);
    find_sorted(nest);
    set_keeps(nest, platform);
    /* a network may have many layers, and each needs a tenth of these at most */
    enum {
        CAPACITY = MER_NEST_PRIMES + (MER_NEST_SLOTS + MER_NEST_LEVELS) * MER_DIM_COUNT +
                   MER_NEST_LEVELS * MER_TENSOR_COUNT
    };
    MerKnob knobs[CAPACITY];
    nest->factor_knobs = genome == MER_GENOME_PRIMES ? add_primes(nest, knobs, arena)
                                                     : add_shares(nest, platform, knobs, arena);
    int count = add_orders(nest, platform, knobs, nest->factor_knobs, arena);
    count = add_bypasses(nest, platform, knobs, count, arena);
    make_blanks(nest);
    MerKnob *kept = MER_ARRAY(arena, MerKnob, count);
    memcpy(kept, knobs, (size_t)count * sizeof *knobs);
    *space = (MerSpace){.knob_count = count, .knobs = kept};
    return MER_OK;
}

void mer_nest_plan_make(MerNestPlan *plan, const MerOp *op, int level_count, MerArena *arena)
{
    *plan = (MerNestPlan){.op = op, .level_count = level_count};
    plan->levels = MER_ARRAY(arena, MerNestLevel, level_count);
    for (int l = 0; l < level_count; l++) {
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            plan->levels[l].temporal[d] = plan->levels[l].x[d] = plan->levels[l].y[d] = 1;
            plan->levels[l].order[d] = d;
        }
        plan->levels[l].keep = (1u << MER_TENSOR_COUNT) - 1;
    }
}

double mer_nest_extent(const MerNestPlan *plan, int dim, int level_count)
{
    double extent = 1;
    for (int l = 0; l < level_count; l++) {
        const MerNestLevel *level = &plan->levels[l];
        extent *= (double)level->temporal[dim] * level->x[dim] * level->y[dim];
    }
    return extent;
}

const char *mer_nest_choice_name(const MerNestSpace *nest, const MerPlatform *platform,
                                 const MerKnob *knob, int index, MerIndex choice, MerArena *arena)
{
    if (knob->role == MER_ROLE_BYPASS) {
        return choice == 0 ? "keep" : "bypass";
    }
    if (nest->genome != MER_GENOME_PRIMES || index >= nest->factor_knobs) {
        return NULL;
    }
    const MerNestSlot *slot = &nest->slots[nest->allowed[nest->dim[index]][choice]];
    return mer_arena_format(arena, "%s%s", mer_nest_memory(platform, slot->level)->name,
                            place_names[slot->place]);
}
