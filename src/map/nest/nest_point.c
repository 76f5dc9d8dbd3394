/* From points to loop nests and back (docs/loopnest-model.md, "Space of loop nests"). Every point decodes
 * to a nest that covers the layer exactly; whether it fits the machine is the evaluator's business. */
#include "map/nest/nest_inside.h"

#include "map/nest/factors.h"

#include <string.h>

/* The slots of one dim after the other, each taking its share of what those before it left. */
typedef struct Sharing {
    const MerNestSpace *nest;
    int axis_left[MER_NEST_SLOTS]; /* so that no point asks for more units than there are */
    int dim, whole, rest;          /* of the dim: its size, and what is left of it */
    int slot_count, slots[MER_NEST_SLOTS];
} Sharing;

static void begin_sharing(Sharing *sharing, const MerNestSpace *nest)
{
    sharing->nest = nest;
    for (int s = 0; s < nest->slot_count; s++) {
        const MerNestSlot *slot = &nest->slots[s];
        int                left = nest->fanout[slot->level][slot->place];
        for (int i = 0; i < nest->shape.dim_count && left > 1; i++) {
            int fixed = nest->constraints->exact[slot->level][slot->place][nest->shape.dims[i]];
            left = fixed > left ? 1 : left / (fixed > 0 ? fixed : 1);
        }
        sharing->axis_left[s] = left;
    }
}

static void share_dim(Sharing *sharing, int dim)
{
    sharing->dim = dim;
    sharing->whole = sharing->rest = mer_nest_free_size(sharing->nest, dim);
    sharing->slot_count = mer_nest_share_slots(sharing->nest, dim, sharing->slots);
}

/* Choices of the slot's knob, and how many factors they stand for now. */
static int count_choices(const Sharing *sharing, int s)
{
    return mer_nest_choices(sharing->nest, &sharing->nest->slots[s], sharing->dim, sharing->whole);
}

static int count_factors(const Sharing *sharing, int s)
{
    const MerNestSlot *slot = &sharing->nest->slots[s];
    int                count = mer_nest_choices(sharing->nest, slot, sharing->dim, sharing->rest);
    if (sharing->nest->genome == MER_GENOME_PADDED && slot->place != MER_PLACE_TEMPORAL) {
        int within = mer_padded_count(sharing->rest, sharing->axis_left[s]);
        return within < count ? within : count;
    }
    return count;
}

static void take_share(Sharing *sharing, int s, int factor)
{
    sharing->rest = mer_padded_rest(sharing->rest, factor);
    sharing->axis_left[s] /= factor;
}

static void decode_shares(const MerNestSpace *nest, const MerIndex *point, MerNestPlan *plan)
{
    Sharing sharing;
    begin_sharing(&sharing, nest);
    for (int i = 0; i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        share_dim(&sharing, d);
        for (int j = 0; j < sharing.slot_count; j++) {
            int     s = sharing.slots[j];
            int64_t index = *point++;
            int     rank = (int)(index * count_factors(&sharing, s) / count_choices(&sharing, s));
            int     factor = mer_nest_factor_at(nest, sharing.rest, rank);
            *mer_nest_slot_factor(plan->levels, &nest->slots[s], d) = factor;
            take_share(&sharing, s, factor);
        }
        int last = mer_nest_rest_slot(nest, d);
        if (last >= 0) {
            *mer_nest_slot_factor(plan->levels, &nest->slots[last], d) = sharing.rest;
        }
    }
}

/* Sorts the dims of a level by their rank knobs; equal ranks keep the order of the dims. A dim stands
 * after as many others as belong before it: counting them needs no guess at what the ranks are. */
static void decode_order(const MerNestSpace *nest, const MerIndex *point, int level, int *order)
{
    int        count = nest->sorted_count[level];
    const int *dims = nest->sorted[level];
    MerIndex   rank[MER_DIM_COUNT];
    int        place[MER_DIM_COUNT];
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
        rows[s] = mer_nest_slot_factor(plan->levels, &nest->slots[s], 0);
    }
    for (int k = 0; k < nest->factor_knobs; k++) {
        rows[point[k]][nest->dim[k]] *= nest->prime[k];
    }
}

/* A prime that would pass a limit goes to the outermost slot that still takes it. */
static void decode_constrained(const MerNestSpace *nest, const MerIndex *point, MerNestPlan *plan)
{
    for (int k = 0; k < nest->factor_knobs; k++) {
        int     d = nest->dim[k];
        int64_t prime = nest->prime[k];
        int     chosen = nest->allowed[d][point[k]];
        for (int i = nest->allowed_count[d]; i >= 0; i--) {
            int                s = i == nest->allowed_count[d] ? chosen : nest->allowed[d][i];
            const MerNestSlot *slot = &nest->slots[s];
            int                most = nest->constraints->most[slot->level][slot->place][d];
            if (most == 0 || *mer_nest_slot_factor(plan->levels, slot, d) * prime <= most) {
                chosen = s;
                break;
            }
        }
        *mer_nest_slot_factor(plan->levels, &nest->slots[chosen], d) *= (int)prime;
    }
}

void mer_nest_decode(const MerNestSpace *nest, const MerIndex *point, MerNestPlan *plan,
                     MerArena *arena)
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
            int fixed = *mer_nest_slot_factor((MerNestLevel *)nest->blank, &nest->slots[s], d);
            int factor = *mer_nest_slot_factor(plan->levels, &nest->slots[s], d);
            rest[s][d] = factor % fixed == 0 ? factor / fixed : 0;
        }
    }
    for (int k = 0; k < nest->factor_knobs; k++) {
        int d = nest->dim[k], i = 0;
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
    Sharing sharing;
    begin_sharing(&sharing, nest);
    for (int i = 0; i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        share_dim(&sharing, d);
        for (int j = 0; j < sharing.slot_count; j++) {
            int s = sharing.slots[j];
            int factor = *mer_nest_slot_factor(plan->levels, &nest->slots[s], d);
            int rank = mer_nest_factor_rank(nest, sharing.rest, factor);
            int count = count_factors(&sharing, s);
            if (rank < 0 || rank >= count ||
                !encode_rank(rank, count, count_choices(&sharing, s), point++)) {
                return false;
            }
            take_share(&sharing, s, factor);
        }
        int last = mer_nest_rest_slot(nest, d);
        if (last >= 0 &&
            *mer_nest_slot_factor(plan->levels, &nest->slots[last], d) != sharing.rest) {
            return false;
        }
    }
    return true;
}

bool mer_nest_encode(const MerNestSpace *nest, const MerNestPlan *plan, const MerSpace *space,
                     MerIndex *point)
{
    memset(point, 0, (size_t)space->knob_count * sizeof *point);
    if (nest->is_constrained && !mer_nest_allows(nest->constraints, plan, &nest->shape, NULL, 0)) {
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
            int  knob = nest->bypass_knob[l][t];
            if (knob >= 0) {
                point[knob] = is_kept ? 0 : 1;
            } else {
                fits = fits && is_kept == (nest->keep[l] >> t & 1);
            }
        }
    }
    return fits;
}
