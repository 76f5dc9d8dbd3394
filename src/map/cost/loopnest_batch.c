/* The loop-nest model over eight plans at once (docs/loopnest-model.md, "Batches"), with
 * the vector types of GCC and clang. All counts are whole numbers below 2^53, so they are exact in
 * whatever order they are multiplied; sums of energies are added in the order of the plain version, so
 * that the bits are the same. */
#include "map/cost/loopnest.h"

#include <string.h>

enum { LANES = MER_NEST_LANES };

typedef double  Lanes __attribute__((vector_size(LANES * sizeof(double))));
typedef int64_t Mask __attribute__((vector_size(LANES * sizeof(int64_t))));
typedef int     Ints __attribute__((vector_size(LANES * sizeof(int))));

#define PICK(mask, yes, no) ((Lanes)(((mask) & (Mask)(yes)) | (~(mask) & (Mask)(no))))
#define ALL(number) ((number) - (Lanes){0})
#define INLINE static inline __attribute__((always_inline))

/* as MerNestLoops, one plan per lane; [l] holds the level whose loops start there */
typedef struct Group {
    Ints trips[MER_NEST_MAX_LEVELS][MER_DIM_COUNT], x[MER_NEST_MAX_LEVELS][MER_DIM_COUNT];
    Ints y[MER_NEST_MAX_LEVELS][MER_DIM_COUNT];
    /* outer to inner, dims larger than 1 only */
    Ints  loop_trips[MER_NEST_MAX_LEVELS][MER_DIM_COUNT];
    Ints  loop_bit[MER_NEST_MAX_LEVELS][MER_DIM_COUNT]; /* 1 << dim; 0 for a loop of one trip */
    Lanes tile[MER_NEST_MAX_LEVELS + 1][MER_DIM_COUNT], spatial[MER_NEST_MAX_LEVELS][MER_DIM_COUNT];
    Lanes footprint[MER_NEST_MAX_LEVELS][MER_TENSOR_COUNT];
    Lanes instances[MER_NEST_MAX_LEVELS + 1], reductions[MER_NEST_MAX_LEVELS + 1];
    Lanes outward[MER_NEST_MAX_LEVELS + 1], moves[MER_NEST_MAX_LEVELS + 1][MER_TENSOR_COUNT];
    /* the innermost loop at or above a level: its dim, its trips, the product outside, its extent inside */
    Mask  first_bit[MER_NEST_MAX_LEVELS + 1];
    Lanes first_trips[MER_NEST_MAX_LEVELS + 1], first_rest[MER_NEST_MAX_LEVELS + 1];
    Lanes first_inside[MER_NEST_MAX_LEVELS + 1][MER_DIM_COUNT];
    Mask  is_bad; /* the plan does not fit */
    Ints  odd;    /* not zero: some plan is not for these kernels */
} Group;

typedef struct Access { /* as MerNestAccess, tensors summed up */
    Lanes reads[MER_NEST_MAX_LEVELS], fills[MER_NEST_MAX_LEVELS], updates[MER_NEST_MAX_LEVELS];
} Access;

/* Do memories `inner` .. `outer` have anything to spread over? */
INLINE bool has_fanout(const MerNestModel *model, int inner, int outer)
{
    bool has = false;
    for (int l = inner; l <= outer; l++) {
        has |= model->memories[l].fanout_x > 1 || model->memories[l].fanout_y > 1;
    }
    return has;
}

#define PAIR(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l, i + 4, j + 4, k + 4, l + 4)

/* Row r holds the eight ints of plan r; column c then holds number c of all plans. */
INLINE void transpose(const Ints *row, Ints *column)
{
    Ints pair[LANES];
    Ints four[LANES]; /* [c]: columns c and c + 4 of plans 0 to 3, [c + 4]: of plans 4 to 7 */
    for (int r = 0; r < LANES; r += 2) {
        pair[r] = PAIR(row[r], row[r + 1], 0, 8, 1, 9);
        pair[r + 1] = PAIR(row[r], row[r + 1], 2, 10, 3, 11);
    }
    for (int r = 0; r < LANES; r += 4) {
        four[r] = PAIR(pair[r], pair[r + 2], 0, 1, 8, 9);
        four[r + 1] = PAIR(pair[r], pair[r + 2], 2, 3, 10, 11);
        four[r + 2] = PAIR(pair[r + 1], pair[r + 3], 0, 1, 8, 9);
        four[r + 3] = PAIR(pair[r + 1], pair[r + 3], 2, 3, 10, 11);
    }
    for (int c = 0; c < LANES / 2; c++) {
        column[c] = __builtin_shufflevector(four[c], four[c + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        column[c + 4] = __builtin_shufflevector(four[c], four[c + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}

INLINE void load_axes(const MerNestPlan *const *plans, int l, bool is_spread, Group *group)
{
    Ints x[LANES], y[LANES];
    for (int i = 0; i < LANES; i++) {
        memcpy(&x[i], plans[i]->levels[l].x, sizeof x[i]);
        memcpy(&y[i], plans[i]->levels[l].y, sizeof y[i]);
    }
    if (is_spread) {
        transpose(x, group->x[l]);
        transpose(y, group->y[l]);
        return;
    }
    for (int i = 0; i < LANES; i++) {
        group->odd |= (x[i] | y[i]) ^ 1; /* uses a fan-out that is not there */
    }
}

/* The loops of a level, outer to inner. Dims of size 1 have to stand outside all others, as decoded
 * plans have them. */
INLINE void load_loops(const MerNestModel *model, const MerNestPlan *const *plans, int l,
                       Group *group)
{
    const MerLayerShape *shape = &model->shape;
    int                  units = MER_DIM_COUNT - shape->dim_count;
    Ints                 order[LANES], dim[LANES];
    for (int i = 0; i < LANES; i++) {
        memcpy(&order[i], plans[i]->levels[l].order, sizeof order[i]);
    }
    transpose(order, dim);
    for (int i = 0; i < shape->dim_count; i++) {
        Ints trips = {0};
        for (int j = 0; j < shape->dim_count; j++) {
            int d = shape->dims[j];
            trips |= (dim[units + i] == d) & group->trips[l][d];
        }
        group->loop_trips[l][i] = trips;
        group->loop_bit[l][i] = (trips > 1) & (1 << dim[units + i]);
        group->odd |= trips == 0;
    }
}

/* Turns plans into lanes. */
INLINE void load_plans(const MerNestModel *model, const MerNestPlan *const *plans, Group *group)
{
    for (int l = 0; l < model->level_count; l++) {
        Ints temporal[LANES];
        for (int i = 0; i < LANES; i++) {
            memcpy(&temporal[i], plans[i]->levels[l].temporal, sizeof temporal[i]);
            group->odd |= (int)(plans[i]->levels[l].keep ^ plans[0]->levels[l].keep);
        }
        transpose(temporal, group->trips[l]);
        load_axes(plans, l, has_fanout(model, l, l), group);
        if (l > 0) {
            load_loops(model, plans, l, group);
        }
    }
}

/* Copies below a level, and whether its axes have memory for them. */
INLINE void find_spatial(const MerNestModel *model, int l, Group *group)
{
    const MerLayerShape *shape = &model->shape;
    Lanes                used_x = ALL(1.0);
    Lanes                used_y = ALL(1.0);
    for (int i = 0; i < shape->dim_count; i++) {
        int   d = shape->dims[i];
        Lanes x = __builtin_convertvector(group->x[l][d], Lanes);
        Lanes y = __builtin_convertvector(group->y[l][d], Lanes);
        used_x *= x;
        used_y *= y;
        if (model->exclusive_axes) {
            group->is_bad |= (x > 1) & (y > 1);
        }
        group->spatial[l][d] = x * y;
    }
    group->is_bad |=
        (used_x > model->memories[l].fanout_x) | (used_y > model->memories[l].fanout_y);
}

INLINE void find_tiles(const MerNestModel *model, Group *group)
{
    const MerLayerShape *shape = &model->shape;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        group->tile[0][d] = ALL(1.0);
    }
    for (int l = 0; l < model->level_count; l++) {
        bool is_spread = has_fanout(model, l, l);
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            group->tile[l + 1][d] = group->spatial[l][d] = ALL(1.0);
        }
        if (is_spread) {
            find_spatial(model, l, group);
        }
        for (int i = 0; i < shape->dim_count; i++) {
            int d = shape->dims[i];
            group->tile[l + 1][d] = group->tile[l][d] * group->spatial[l][d] *
                                    __builtin_convertvector(group->trips[l][d], Lanes);
        }
    }
    for (int i = 0; i < shape->dim_count; i++) {
        int d = shape->dims[i];
        group->is_bad |= group->tile[model->level_count][d] < shape->size[d];
    }
}

INLINE void find_footprint(const MerTensorShape *tensor, const Lanes *tile, Lanes *footprint)
{
    Lanes words = ALL(1.0);
    for (int i = 0; i < tensor->plain_count; i++) {
        words *= tile[tensor->plain_dims[i]];
    }
    for (int s = 0; s < tensor->slide_count; s++) {
        const MerSlide *slide = &tensor->slides[s];
        words *= 1 + slide->coefficient[0] * (tile[slide->dim[0]] - 1) +
                 slide->coefficient[1] * (tile[slide->dim[1]] - 1);
    }
    *footprint = words;
}

INLINE void find_footprints(const MerNestModel *model, const MerNestPlan *plan, Group *group)
{
    for (int l = 0; l < model->level_count; l++) {
        const MerNestMemory *memory = &model->memories[l];
        Lanes                need = ALL(0.0);
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            if (plan->levels[l].keep >> t & 1) {
                find_footprint(&model->shape.tensors[t], group->tile[l + 1],
                               &group->footprint[l][t]);
                group->is_bad |= group->footprint[l][t] > memory->partition[t];
                need += group->footprint[l][t];
            }
        }
        group->is_bad |= need > memory->words;
    }
}

INLINE void find_instances(const MerNestModel *model, Group *group)
{
    const MerLayerShape *shape = &model->shape;
    Lanes                instances = ALL(1.0);
    Lanes                reductions = ALL(1.0);
    for (int l = model->level_count - 1; l >= 0; l--) {
        group->instances[l + 1] = instances;
        group->reductions[l + 1] = reductions;
        for (int i = 0; has_fanout(model, l, l) && i < shape->dim_count; i++) {
            int d = shape->dims[i];
            instances *= group->spatial[l][d];
            if (shape->reduction >> d & 1) {
                reductions *= group->spatial[l][d];
            }
        }
    }
    group->instances[0] = instances;
    group->reductions[0] = reductions;
}

/* Walks the loops from the outermost inwards and notes, where each level starts, what stands outside. */
INLINE void find_moves(const MerNestModel *model, Group *group)
{
    const MerLayerShape *shape = &model->shape;
    int                  outermost = model->level_count;
    Lanes                outward = ALL(1.0);
    Lanes                moves[MER_TENSOR_COUNT];
    Mask                 first_bit = {0};
    Lanes                first_trips = ALL(1.0);
    Lanes                first_rest = ALL(1.0);
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        moves[t] = ALL(1.0);
    }
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        group->first_inside[outermost][d] = ALL(1.0);
    }
    for (int l = outermost - 1; l > 0; l--) {
        Lanes outer_outward = outward;
        for (int i = 0; i < shape->dim_count; i++) {
            Mask  bit = __builtin_convertvector(group->loop_bit[l][i], Mask);
            Lanes trips = __builtin_convertvector(group->loop_trips[l][i], Lanes);
            Mask  is_loop = bit != 0;
            first_bit = (is_loop & bit) | (~is_loop & first_bit);
            first_trips = PICK(is_loop, trips, first_trips);
            first_rest = PICK(is_loop, outward, first_rest);
            outward *= trips;
            for (int t = 0; t < MER_TENSOR_COUNT; t++) {
                moves[t] = PICK((bit & shape->tensors[t].relevant) != 0, outward, moves[t]);
            }
        }
        Mask has_loops = outward != outer_outward;
        for (int i = 0; i < shape->dim_count; i++) {
            int d = shape->dims[i];
            group->first_inside[l][d] = PICK(has_loops, group->tile[l][d] * group->spatial[l][d],
                                             group->first_inside[l + 1][d]);
        }
        group->outward[l] = outward;
        group->first_bit[l] = first_bit;
        group->first_trips[l] = first_trips;
        group->first_rest[l] = first_rest;
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            group->moves[l][t] = moves[t];
        }
    }
    for (int i = 0; i < shape->dim_count; i++) {
        outward *= __builtin_convertvector(group->trips[0][shape->dims[i]], Lanes);
    }
    group->outward[0] = outward;
}

/* docs/loopnest-model.md, "Traffic": words that the loops from level `start` on bring in, `footprint` at a
 * time. */
INLINE void find_traffic(const MerNestModel *model, const Group *group, int tensor, int start,
                         const Lanes *footprint, const Lanes *tile, Lanes *traffic)
{
    const MerTensorShape *shape = &model->shape.tensors[tensor];
    *traffic = *footprint * group->moves[start][tensor];
    for (int s = 0; s < shape->slide_count; s++) {
        const MerSlide *slide = &shape->slides[s];
        Lanes           height = 1 + slide->coefficient[0] * (tile[slide->dim[0]] - 1) +
                       slide->coefficient[1] * (tile[slide->dim[1]] - 1);
        Lanes others = *footprint / height;
        for (int side = 0; side < 2; side++) {
            Mask  is_first = group->first_bit[start] == (int64_t)1 << slide->dim[side];
            Lanes shift = slide->coefficient[side] * group->first_inside[start][slide->dim[side]];
            Lanes delta = others * PICK(shift < height, shift, height);
            Lanes slid =
                (*footprint + (group->first_trips[start] - 1) * delta) * group->first_rest[start];
            *traffic = PICK(is_first, slid, *traffic);
        }
    }
}

/* Words that all children of a parent hold together; see joint_footprint of the plain version. */
INLINE void find_joint(const MerNestModel *model, const Group *group, int tensor, int child,
                       int parent, Lanes *tile, Lanes *footprint)
{
    const MerTensorShape *shape = &model->shape.tensors[tensor];
    Lanes                 copies = ALL(1.0);
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        tile[d] = group->tile[child + 1][d];
    }
    for (int l = child + 1; l <= parent; l++) {
        for (int i = 0; i < model->shape.dim_count; i++) {
            int d = model->shape.dims[i];
            if (!(shape->relevant >> d & 1)) {
                continue;
            }
            Lanes spatial = group->spatial[l][d];
            if (shape->plain >> d & 1) {
                tile[d] *= spatial;
            } else {
                Mask is_apart = group->tile[l][d] != tile[d];
                copies *= PICK(is_apart, spatial, ALL(1.0));
                tile[d] *= PICK(is_apart, ALL(1.0), spatial);
            }
        }
    }
    find_footprint(shape, tile, footprint);
    *footprint *= copies;
}

INLINE void count_pair(const MerNestModel *model, const Group *group, int tensor, int child,
                       int parent, Access *access)
{
    Lanes joint_tile[MER_DIM_COUNT];
    Lanes joint = ALL(1.0);
    Lanes filled = ALL(1.0);
    Lanes sent;
    bool  is_output = tensor == MER_TENSOR_O;
    if (child >= 0) {
        find_traffic(model, group, tensor, child + 1, &group->footprint[child][tensor],
                     group->tile[child + 1], &filled);
    }
    sent = filled;
    if (has_fanout(model, child + 1, parent)) {
        find_joint(model, group, tensor, child, parent, joint_tile, &joint);
        if (child >= 0) {
            find_traffic(model, group, tensor, child + 1, &joint, joint_tile, &sent);
        }
    }
    Lanes down = (child < 0 ? joint * group->outward[0] : sent) * group->instances[parent + 1];
    Lanes whole = group->footprint[model->level_count - 1][tensor];
    Lanes again = down - whole * group->reductions[parent + 1];
    access->reads[parent] += is_output ? again : down;
    if (is_output) {
        access->updates[parent] += down;
    }
    if (child >= 0) {
        Lanes fills = filled * group->instances[child + 1];
        Lanes refills = fills - whole * group->reductions[child + 1];
        access->fills[child] += is_output ? refills : fills;
    }
}

INLINE void count_accesses(const MerNestModel *model, const MerNestPlan *plan, const Group *group,
                           Access *access)
{
    for (int l = 0; l < model->level_count; l++) {
        access->reads[l] = access->fills[l] = access->updates[l] = ALL(0.0);
    }
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int child = -1;
        for (int l = 0; l < model->level_count; l++) {
            if (plan->levels[l].keep >> t & 1) {
                count_pair(model, group, t, child, l, access);
                child = l;
            }
        }
    }
}

INLINE void take_figures(const MerNestModel *model, const Group *group, const Access *access,
                         MerNestFigures *figures)
{
    int   outermost = model->level_count - 1;
    Lanes energy = group->outward[0] * group->instances[0] * model->mac_pj;
    Lanes cycles = group->outward[0] / model->lanes;
    Lanes words = access->reads[outermost] + access->updates[outermost];
    for (int l = 0; l < model->level_count; l++) {
        const MerNestMemory *memory = &model->memories[l];
        Lanes                network = access->reads[l] + access->updates[l];
        Lanes read_cycles = access->reads[l] / (group->instances[l + 1] * memory->read_rate);
        Lanes write_cycles = (access->fills[l] + access->updates[l]) /
                             (group->instances[l + 1] * memory->write_rate);
        cycles = PICK(read_cycles > cycles, read_cycles, cycles);
        cycles = PICK(write_cycles > cycles, write_cycles, cycles);
        energy += access->reads[l] * memory->read_pj + access->fills[l] * memory->write_pj +
                  access->updates[l] * memory->update_pj + network * memory->fanout_pj;
    }
    for (int i = 0; i < LANES; i++) {
        figures->cycles[i] = cycles[i];
        figures->energy[i] = energy[i];
        figures->words[i] = words[i];
        figures->is_priced[i] = !group->is_bad[i];
    }
}

INLINE void price_lanes(const MerNestModel *model, const MerNestPlan *const *plans,
                        MerNestFigures *figures)
{
    Group  group;
    Access access;
    group.is_bad = (Mask){0};
    group.odd = (Ints){0};
    load_plans(model, plans, &group);
    for (int i = 0; i < LANES; i++) {
        figures->is_priced[i] = false;
    }
    for (int i = 0; i < LANES; i++) {
        if (group.odd[i]) {
            return;
        }
    }
    find_tiles(model, &group);
    find_footprints(model, plans[0], &group);
    int bad = 0;
    for (int i = 0; i < LANES; i++) {
        bad += group.is_bad[i] != 0;
    }
    if (bad == LANES) {
        return;
    }
    find_instances(model, &group);
    find_moves(model, &group);
    group.is_bad |= group.outward[0] * group.instances[0] >= model->exact_macs;
    count_accesses(model, plans[0], &group, &access);
    take_figures(model, &group, &access, figures);
}

/* One copy for every width of vectors; the machine's own is chosen at run time. */
#if defined(__x86_64__)
__attribute__((target("avx512f,avx512dq,avx512vl"))) static void
price_lanes_512(const MerNestModel *model, const MerNestPlan *const *plans, MerNestFigures *figures)
{
    price_lanes(model, plans, figures);
}

__attribute__((target("avx2"))) static void
price_lanes_256(const MerNestModel *model, const MerNestPlan *const *plans, MerNestFigures *figures)
{
    price_lanes(model, plans, figures);
}
#endif

void mer_nest_price_lanes(const MerNestModel *model, const MerNestPlan *const *plans, int bits,
                          MerNestFigures *figures)
{
    bool is_scattered = model->shape.tensors[MER_TENSOR_O].slide_count > 0;
    if (model->halo != MER_HALO_SHARED || model->ramp || model->constraints || is_scattered) {
        *figures = (MerNestFigures){.is_priced = {false}};
        return;
    }
#if defined(__x86_64__)
    if (bits >= 512 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl")) {
        price_lanes_512(model, plans, figures);
        return;
    }
    if (bits >= 256 && __builtin_cpu_supports("avx2")) {
        price_lanes_256(model, plans, figures);
        return;
    }
#endif
    (void)bits;
    price_lanes(model, plans, figures);
}
