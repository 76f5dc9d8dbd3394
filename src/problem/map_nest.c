/* Knobs of a loop nest and the way from points to nests and back (map.md section 6). Every point
 * decodes to a nest that covers the layer exactly; whether it fits the machine is the evaluator's
 * business. */
#include "problem/map_nest.h"

#include "problem/map_constraints.h"
#include "problem/padded_factor.h"

#include <string.h>

static const char *const place_names[] = {"", ".x", ".y"};

static void add_slots(MerNestSpace *nest, const MerPlatform *platform)
{
    for (int l = 0; l < nest->level_count; l++) {
        const MerFanout *fanout = &platform->memories[nest->level_count - 1 - l].fanout;
        nest->slots[nest->slot_count++] = (MerNestSlot){l, MER_PLACE_TEMPORAL};
        nest->fanout[l][MER_PLACE_X] = fanout->x;
        nest->fanout[l][MER_PLACE_Y] = fanout->y;
        if (fanout->x > 1) {
            nest->slots[nest->slot_count++] = (MerNestSlot){l, MER_PLACE_X};
        }
        if (fanout->y > 1) {
            nest->slots[nest->slot_count++] = (MerNestSlot){l, MER_PLACE_Y};
        }
    }
}

static const char *level_name(const MerNestSpace *nest, const MerPlatform *platform, int level)
{
    return platform->memories[nest->level_count - 1 - level].name;
}

static int divisor_count(int n)
{
    int count = 1;
    for (int p = 2; n > 1; p++) {
        if ((int64_t)p * p > n) {
            return count * 2;
        }
        int power = 0;
        for (; n % p == 0; n /= p) {
            power++;
        }
        count *= power + 1;
    }
    return count;
}

/* The divisor of n at `rank` (0 = 1) in ascending order. */
static int divisor_at(int n, int rank)
{
    int below = 0;
    for (int d = 1; (int64_t)d * d <= n; d++) {
        if (n % d == 0 && below++ == rank) {
            return d;
        }
    }
    int from_top = divisor_count(n) - 1 - rank;
    return n / divisor_at(n, from_top);
}

/* Factors that a slot can take: an axis of a fan-out never more than it has, and no slot more than a
 * constraint says. */
static int choice_count(const MerNestSpace *nest, const MerNestSlot *slot, int dim, int n)
{
    int most = nest->constraints.most[slot->level][slot->place][dim];
    int limit = slot->place == MER_PLACE_TEMPORAL ? n : nest->fanout[slot->level][slot->place];
    limit = most > 0 && most < limit ? most : limit;
    if (nest->genome == MER_GENOME_PADDED) {
        return mer_padded_count(n, limit);
    }
    if (limit >= n) {
        return divisor_count(n);
    }
    int count = 0;
    for (int d = 1; d <= limit; d++) {
        count += n % d == 0;
    }
    return count;
}

static int divisor_rank(int n, int divisor)
{
    int rank = 0;
    for (int d = 1; d < divisor; d++) {
        rank += n % d == 0;
    }
    return rank;
}

static int factor_at(const MerNestSpace *nest, int n, int rank)
{
    return nest->genome == MER_GENOME_PADDED ? mer_padded_at(n, rank) : divisor_at(n, rank);
}

/* The place of a factor among the choices, -1 if it is none of them. */
static int factor_rank(const MerNestSpace *nest, int n, int factor)
{
    if (nest->genome == MER_GENOME_PADDED) {
        return mer_padded_rank(n, factor);
    }
    return n % factor == 0 ? divisor_rank(n, factor) : -1;
}

/* What fixed factors leave of a dim. */
static int free_size(const MerNestSpace *nest, int dim)
{
    int rest = nest->shape.size[dim];
    for (int s = 0; s < nest->slot_count; s++) {
        int exact = nest->constraints.exact[nest->slots[s].level][nest->slots[s].place][dim];
        rest = mer_padded_rest(rest, exact > 0 ? exact : 1);
    }
    return rest;
}

/* Do the fixed factors leave nothing of an axis? */
static bool is_full(const MerNestSpace *nest, const MerNestSlot *slot)
{
    int room = nest->fanout[slot->level][slot->place];
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        int exact = nest->constraints.exact[slot->level][slot->place][d];
        room /= exact > 0 ? exact : 1;
    }
    return slot->place != MER_PLACE_TEMPORAL && room < 2;
}

static void find_allowed(MerNestSpace *nest)
{
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        for (int s = 0; s < nest->slot_count; s++) {
            const MerNestSlot *slot = &nest->slots[s];
            if (nest->constraints.exact[slot->level][slot->place][d] == 0 &&
                nest->constraints.most[slot->level][slot->place][d] != 1 && !is_full(nest, slot)) {
                nest->allowed[d][nest->allowed_count[d]++] = s;
            }
        }
    }
}

/* The slot that takes what is left of a dim: the outermost temporal one that is free, without a limit
 * if there is one; -1 if all of the dim is fixed. */
static int rest_slot(const MerNestSpace *nest, int dim)
{
    int best = -1;
    int best_grade = -1;
    for (int i = 0; i < nest->allowed_count[dim]; i++) {
        int s = nest->allowed[dim][i];
        const MerNestSlot *slot = &nest->slots[s];
        bool is_limited = nest->constraints.most[slot->level][slot->place][dim] > 0;
        int grade = slot->level + (slot->place == MER_PLACE_TEMPORAL ? MER_NEST_LEVELS : 0) +
                    (is_limited ? 0 : 2 * MER_NEST_LEVELS);
        if (grade > best_grade) {
            best = s;
            best_grade = grade;
        }
    }
    return best;
}

static int add_primes(MerNestSpace *nest, MerKnob *knobs, MerArena *arena)
{
    int count = 0;
    for (int i = 0; i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        int rest = free_size(nest, d);
        int position = 0;
        for (int p = 2; rest > 1 && nest->allowed_count[d] > 1; p++) {
            if ((int64_t)p * p > rest) {
                p = rest;
            }
            for (; rest % p == 0; rest /= p) {
                nest->dim[count] = d;
                nest->prime[count] = p;
                knobs[count++] = (MerKnob){
                    .name = mer_arena_format(arena, "tile.%c.%d.%d", MER_DIM_LETTERS[d], p, position++),
                    .kind = MER_KNOB_CATEGORY,
                    .role = MER_ROLE_TILE,
                    .level = -1,
                    .dim = d,
                    .op = -1,
                    .choices = nest->allowed_count[d],
                };
            }
        }
    }
    return count;
}

/* Slots of the genomes divisors and padded in the order they take their share of a dim: fan-outs
 * first; the one that takes the rest has no knob, nor have fixed ones. */
static int share_slots(const MerNestSpace *nest, int dim, int order[MER_NEST_SLOTS])
{
    int count = 0;
    int rest = rest_slot(nest, dim);
    for (int spatial = 1; spatial >= 0; spatial--) {
        for (int i = 0; i < nest->allowed_count[dim]; i++) {
            int s = nest->allowed[dim][i];
            bool is_spatial = nest->slots[s].place != MER_PLACE_TEMPORAL;
            if (is_spatial == (spatial == 1) && s != rest) {
                order[count++] = s;
            }
        }
    }
    return count;
}

static int add_shares(MerNestSpace *nest, const MerPlatform *platform, MerKnob *knobs, MerArena *arena)
{
    int order[MER_NEST_SLOTS];
    int count = 0;
    for (int i = 0; i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        int slots = share_slots(nest, d, order);
        for (int s = 0; s < slots; s++) {
            const MerNestSlot *slot = &nest->slots[order[s]];
            knobs[count++] = (MerKnob){
                .name = mer_arena_format(arena, "%s.%c.%s%s", slot->place ? "parallel" : "tile",
                                         MER_DIM_LETTERS[d], level_name(nest, platform, slot->level),
                                         place_names[slot->place]),
                .kind = MER_KNOB_ORDERED,
                .role = slot->place ? MER_ROLE_PARALLEL : MER_ROLE_TILE,
                .level = slot->level,
                .dim = d,
                .op = -1,
                .choices = choice_count(nest, slot, d, free_size(nest, d)),
            };
        }
    }
    return count;
}

/* Which loops of each level are sorted by knobs, and which have a place that is fixed. */
static void find_sorted(MerNestSpace *nest)
{
    const MerNestConstraints *constraints = &nest->constraints;
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

static int add_orders(MerNestSpace *nest, const MerPlatform *platform, MerKnob *knobs, int count, MerArena *arena)
{
    memset(nest->order_knob, -1, sizeof nest->order_knob);
    for (int l = 1; l < nest->level_count; l++) {
        for (int i = 0; i < nest->sorted_count[l]; i++) {
            int d = nest->sorted[l][i];
            nest->order_knob[l][d] = count;
            knobs[count++] = (MerKnob){
                .name = mer_arena_format(arena, "order.%c.%s", MER_DIM_LETTERS[d], level_name(nest, platform, l)),
                .kind = MER_KNOB_RANK,
                .role = MER_ROLE_ORDER,
                .level = l,
                .dim = d,
                .op = -1,
                .choices = nest->sorted_count[l],
            };
        }
    }
    return count;
}

static int add_bypasses(MerNestSpace *nest, const MerPlatform *platform, MerKnob *knobs, int count, MerArena *arena)
{
    memset(nest->bypass_knob, -1, sizeof nest->bypass_knob);
    for (int l = 0; l < nest->level_count - 1; l++) {
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            if (!(nest->is_free[l] >> t & 1)) {
                continue;
            }
            nest->bypass_knob[l][t] = count;
            knobs[count++] = (MerKnob){
                .name = mer_arena_format(arena, "bypass.%c.%s", MER_TENSOR_LETTERS[t],
                                         level_name(nest, platform, l)),
                .kind = MER_KNOB_CATEGORY,
                .role = MER_ROLE_BYPASS,
                .level = l,
                .dim = t,
                .op = -1,
                .choices = 2,
            };
        }
    }
    return count;
}

static void set_keeps(MerNestSpace *nest, const MerPlatform *platform)
{
    unsigned all = (1u << MER_TENSOR_COUNT) - 1;
    for (int l = 0; l < nest->level_count; l++) {
        const MerMemory *memory = &platform->memories[nest->level_count - 1 - l];
        bool is_outermost = l == nest->level_count - 1;
        unsigned fixed = nest->constraints.keep[l] | nest->constraints.bypass[l];
        nest->keep[l] = is_outermost ? all : (memory->keep & ~fixed) | nest->constraints.keep[l];
        nest->is_free[l] = is_outermost ? 0 : all & ~(memory->keep | memory->bypass | fixed);
    }
}

static int *slot_factor(MerNestLevel *levels, const MerNestSlot *slot, int dim)
{
    MerNestLevel *level = &levels[slot->level];
    return slot->place == MER_PLACE_TEMPORAL ? &level->temporal[dim]
           : slot->place == MER_PLACE_X      ? &level->x[dim]
                                             : &level->y[dim];
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
            int exact = nest->constraints.exact[nest->slots[s].level][nest->slots[s].place][d];
            *slot_factor(nest->blank, &nest->slots[s], d) = exact > 0 ? exact : 1;
        }
        if (nest->genome == MER_GENOME_PRIMES && nest->allowed_count[d] == 1) {
            *slot_factor(nest->blank, &nest->slots[nest->allowed[d][0]], d) = free_size(nest, d);
        }
    }
}

MerStatus mer_nest_space_open(MerNestSpace *nest, const MerOp *op, const MerPlatform *platform,
                              MerNestGenome genome, MerSpace *space, MerArena *arena, MerError *error)
{
    return mer_nest_space_open_with(nest, op, platform, genome, NULL, space, arena, error);
}

MerStatus mer_nest_space_open_with(MerNestSpace *nest, const MerOp *op, const MerPlatform *platform,
                                   MerNestGenome genome, const MerNestConstraints *constraints, MerSpace *space,
                                   MerArena *arena, MerError *error)
{
    *nest = (MerNestSpace){.op = op, .genome = genome, .level_count = platform->memory_count};
    if (constraints) {
        nest->constraints = *constraints;
        nest->is_constrained = mer_nest_is_constrained(constraints);
    }
    if (platform->kind != MER_PLATFORM_PE_ARRAY || platform->memory_count > MER_NEST_LEVELS) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "platform %s: loop nests need a pe-array with at most %d memories, found %s with %d",
                             platform->name, MER_NEST_LEVELS, mer_platform_kind_name(platform->kind),
                             platform->memory_count);
    }
    MerStatus status = mer_layer_shape_make(op, &nest->shape, error);
    if (status != MER_OK) {
        return status;
    }
    add_slots(nest, platform);
    find_allowed(nest);
    find_sorted(nest);
    set_keeps(nest, platform);
    int room = MER_NEST_PRIMES + (MER_NEST_SLOTS + MER_NEST_LEVELS) * MER_DIM_COUNT +
               MER_NEST_LEVELS * MER_TENSOR_COUNT;
    MerKnob *knobs = MER_ARRAY(arena, MerKnob, room);
    nest->factor_knobs = genome == MER_GENOME_PRIMES ? add_primes(nest, knobs, arena)
                                                     : add_shares(nest, platform, knobs, arena);
    int count = add_orders(nest, platform, knobs, nest->factor_knobs, arena);
    count = add_bypasses(nest, platform, knobs, count, arena);
    make_blanks(nest);
    *space = (MerSpace){.knob_count = count, .knobs = knobs};
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

/* What the axes of all fan-outs have left while padded shares are handed out, so that no point asks for
 * more units than there are. */
static void take_axes(const MerNestSpace *nest, int left[MER_NEST_SLOTS])
{
    for (int s = 0; s < nest->slot_count; s++) {
        const MerNestSlot *slot = &nest->slots[s];
        left[s] = nest->fanout[slot->level][slot->place];
        for (int i = 0; i < nest->shape.dim_count && left[s] > 1; i++) {
            int fixed = nest->constraints.exact[slot->level][slot->place][nest->shape.dims[i]];
            left[s] = fixed > left[s] ? 1 : left[s] / (fixed > 0 ? fixed : 1);
        }
    }
}

static int share_count(const MerNestSpace *nest, int s, int dim, int n, int left)
{
    int count = choice_count(nest, &nest->slots[s], dim, n);
    bool is_shared = nest->genome == MER_GENOME_PADDED && nest->slots[s].place != MER_PLACE_TEMPORAL;
    int within = is_shared ? mer_padded_count(n, left) : count;
    return within < count ? within : count;
}

static void decode_shares(const MerNestSpace *nest, const MerIndex *point, MerNestPlan *plan)
{
    int order[MER_NEST_SLOTS];
    int left[MER_NEST_SLOTS];
    int knob = 0;
    take_axes(nest, left);
    for (int i = 0; i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        int whole = free_size(nest, d);
        int rest = whole;
        int slots = share_slots(nest, d, order);
        int last = rest_slot(nest, d);
        for (int j = 0; j < slots; j++, knob++) {
            int s = order[j];
            int choices = choice_count(nest, &nest->slots[s], d, whole);
            int rank = (int)((int64_t)point[knob] * share_count(nest, s, d, rest, left[s]) / choices);
            int factor = factor_at(nest, rest, rank);
            *slot_factor(plan->levels, &nest->slots[s], d) = factor;
            rest = mer_padded_rest(rest, factor);
            left[s] /= factor;
        }
        if (last >= 0) {
            *slot_factor(plan->levels, &nest->slots[last], d) = rest;
        }
    }
}

/* Sorts the dims of a level by their rank knobs; equal ranks keep the order of the dims. A dim stands
 * after as many others as belong before it: counting them needs no guess at what the ranks are. */
static void decode_order(const MerNestSpace *nest, const MerIndex *point, int level, int *order)
{
    int count = nest->sorted_count[level];
    const int *dims = nest->sorted[level];
    MerIndex rank[MER_DIM_COUNT];
    int place[MER_DIM_COUNT];
    for (int i = 0; i < count; i++) {
        rank[i] = point[nest->order_knob[level][dims[i]]];
        place[i] = MER_DIM_COUNT - count - nest->fixed_count[level];
        for (int j = 0; j < i; j++) {
            int is_before = rank[j] <= rank[i];
            place[i] += is_before;
            place[j] += 1 - is_before;
        }
    }
    for (int i = 0; i < count; i++) {
        order[place[i]] = dims[i];
    }
}

static void decode_primes(const MerNestSpace *nest, const MerIndex *point, MerNestPlan *plan)
{
    int *rows[MER_NEST_SLOTS];
    for (int s = 0; s < nest->slot_count; s++) {
        rows[s] = slot_factor(plan->levels, &nest->slots[s], 0);
    }
    for (int k = 0; k < nest->factor_knobs; k++) {
        rows[point[k]][nest->dim[k]] *= nest->prime[k];
    }
}

/* Has a slot room for `product` of a dim? */
static bool has_room(const MerNestSpace *nest, const MerNestSlot *slot, int dim, int64_t product)
{
    int most = nest->constraints.most[slot->level][slot->place][dim];
    return most == 0 || product <= most;
}

/* A prime that would pass a limit goes to the outermost slot that still takes it. */
static void decode_constrained(const MerNestSpace *nest, const MerIndex *point, MerNestPlan *plan)
{
    for (int k = 0; k < nest->factor_knobs; k++) {
        int d = nest->dim[k];
        int64_t prime = nest->prime[k];
        int chosen = nest->allowed[d][point[k]];
        for (int i = nest->allowed_count[d]; i >= 0; i--) {
            int s = i == nest->allowed_count[d] ? chosen : nest->allowed[d][i];
            if (has_room(nest, &nest->slots[s], d, *slot_factor(plan->levels, &nest->slots[s], d) * prime)) {
                chosen = s;
                break;
            }
        }
        *slot_factor(plan->levels, &nest->slots[chosen], d) *= (int)prime;
    }
}

void mer_nest_decode(const MerNestSpace *nest, const MerIndex *point, MerNestPlan *plan, MerArena *arena)
{
    *plan = (MerNestPlan){.op = nest->op, .level_count = nest->level_count};
    plan->levels = MER_ARRAY(arena, MerNestLevel, nest->level_count);
    memcpy(plan->levels, nest->blank, (size_t)nest->level_count * sizeof nest->blank[0]);
    if (nest->genome == MER_GENOME_PRIMES && nest->is_constrained) {
        decode_constrained(nest, point, plan);
    } else if (nest->genome == MER_GENOME_PRIMES) {
        decode_primes(nest, point, plan);
    } else {
        decode_shares(nest, point, plan);
    }
    for (int l = 0; l < nest->level_count; l++) {
        if (nest->sorted_count[l] > 0) {
            decode_order(nest, point, l, plan->levels[l].order);
        }
        for (int t = 0; nest->is_free[l] && t < MER_TENSOR_COUNT; t++) {
            int knob = nest->bypass_knob[l][t];
            if (knob >= 0 && point[knob] == 0) {
                plan->levels[l].keep |= 1u << t;
            }
        }
    }
}

static bool encode_primes(const MerNestSpace *nest, const MerNestPlan *plan, MerIndex *point)
{
    int rest[MER_NEST_SLOTS][MER_DIM_COUNT];
    for (int s = 0; s < nest->slot_count; s++) {
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            int fixed = *slot_factor((MerNestLevel *)nest->blank, &nest->slots[s], d);
            int factor = *slot_factor(plan->levels, &nest->slots[s], d);
            rest[s][d] = factor % fixed == 0 ? factor / fixed : 0;
        }
    }
    for (int k = 0; k < nest->factor_knobs; k++) {
        int d = nest->dim[k];
        int i = 0;
        while (i < nest->allowed_count[d] && rest[nest->allowed[d][i]][d] % nest->prime[k] != 0) {
            i++;
        }
        if (i == nest->allowed_count[d]) {
            return false;
        }
        rest[nest->allowed[d][i]][d] /= nest->prime[k];
        point[k] = i;
    }
    for (int s = 0; s < nest->slot_count; s++) {
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            if (rest[s][d] != 1) {
                return false;
            }
        }
    }
    return true;
}

/* The smallest index whose share of the factors left is `rank`. */
static bool encode_rank(int rank, int left, int choices, MerIndex *index)
{
    *index = (MerIndex)(((int64_t)rank * choices + left - 1) / left);
    return *index < choices && (int64_t)*index * left / choices == rank;
}

static bool encode_shares(const MerNestSpace *nest, const MerNestPlan *plan, MerIndex *point)
{
    int order[MER_NEST_SLOTS];
    int left[MER_NEST_SLOTS];
    int knob = 0;
    take_axes(nest, left);
    for (int i = 0; i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        int whole = free_size(nest, d);
        int rest = whole;
        int slots = share_slots(nest, d, order);
        int last = rest_slot(nest, d);
        for (int j = 0; j < slots; j++, knob++) {
            int s = order[j];
            int choices = choice_count(nest, &nest->slots[s], d, whole);
            int factor = *slot_factor(plan->levels, &nest->slots[s], d);
            int rank = factor_rank(nest, rest, factor);
            int count = share_count(nest, s, d, rest, left[s]);
            if (rank < 0 || rank >= count || !encode_rank(rank, count, choices, &point[knob])) {
                return false;
            }
            rest = mer_padded_rest(rest, factor);
            left[s] /= factor;
        }
        if (last >= 0 && *slot_factor(plan->levels, &nest->slots[last], d) != rest) {
            return false;
        }
    }
    return true;
}

bool mer_nest_encode(const MerNestSpace *nest, const MerNestPlan *plan, const MerSpace *space, MerIndex *point)
{
    char reason[120];
    memset(point, 0, (size_t)space->knob_count * sizeof *point);
    if (nest->is_constrained && !mer_nest_allows(&nest->constraints, plan, &nest->shape, reason, sizeof reason)) {
        return false;
    }
    bool fits = nest->genome == MER_GENOME_PRIMES ? encode_primes(nest, plan, point)
                                                  : encode_shares(nest, plan, point);
    for (int l = 0; fits && l < nest->level_count; l++) {
        int rank = 0;
        for (int i = 0; i < MER_DIM_COUNT; i++) {
            int knob = nest->order_knob[l][plan->levels[l].order[i]];
            if (knob >= 0) {
                point[knob] = rank++;
            }
        }
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            bool is_kept = plan->levels[l].keep >> t & 1;
            int knob = nest->bypass_knob[l][t];
            if (knob >= 0) {
                point[knob] = is_kept ? 0 : 1;
            } else {
                fits = fits && is_kept == (nest->keep[l] >> t & 1);
            }
        }
    }
    return fits;
}
