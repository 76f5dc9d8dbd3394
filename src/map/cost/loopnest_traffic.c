/* Traffic of the loop-nest model (docs/loopnest-model.md, "Traffic"): how many words of each tensor move
 * between consecutive storage levels that keep it. */
#include "map/cost/loopnest.h"

#include <math.h>
#include <string.h>

/* Words of a sliding tensor that a step of the innermost loop brings in anew (rule 2). */
static double halo_delta(const MerTensorShape *tensor, const MerNestLoops *loops, int loop,
                         double footprint, const double *tile)
{
    for (int s = 0; s < tensor->slide_count; s++) {
        const MerSlide *slide = &tensor->slides[s];
        for (int side = 0; side < 2; side++) {
            if (slide->dim[side] != loops->dim[loop]) {
                continue;
            }
            double height = mer_slide_height(slide, tile);
            double shift = slide->coefficient[side] * loops->inside[loop];
            return shift < height ? footprint / height * shift : footprint;
        }
    }
    return footprint;
}

/* How often the innermost stretch of loops brings in how many words (rules 1 and 2):
 * loops that do not move the tensor are skipped until the first that does. */
static double traffic(const MerNestModel *model, const MerNestLoops *loops, int tensor, int start,
                      double footprint, const double *tile)
{
    const MerTensorShape *shape = &model->shape.tensors[tensor];
    if (shape->slide_count > 0 && start < loops->loop_count &&
        (shape->relevant >> loops->dim[start] & 1)) {
        double delta = halo_delta(shape, loops, start, footprint, tile);
        return (footprint + (loops->trips[start] - 1) * delta) * loops->outward[start + 1];
    }
    return footprint * loops->moves[start][tensor];
}

/* Distinct positions of a sliding window over spatial copies: with `a` steps of p and `b` steps of q
 * the sums a*p + b*q, equal sums being one multicast. */
static double distinct_offsets(double count0, double step0, double count1, double step1)
{
    if (count0 <= 1 || count1 <= 1) {
        return count0 * count1;
    }
    double distinct = 0; /* offsets i*step0 + j*step1 not reached with a smaller j */
    for (double j = 0; j < count1; j++) {
        for (double i = 0; i < count0; i++) {
            bool seen = false;
            for (double k = 0; k < j && !seen; k++) {
                double other = i + (j - k) * step1 / step0;
                seen = other < count0 && other == floor(other);
            }
            distinct += !seen;
        }
    }
    return distinct;
}

/* The words that all children of a parent hold together. Copies of a tile that overlap share the
 * overlap (halo=shared), or only count once when they are equal (halo=timeloop: its multicast
 * merges children that receive the same words, so overlapping rows are sent to each). Copies on
 * either side of a temporal loop of the same dim are not neighbours and never overlap. */
static double joint_footprint(const MerNestModel *model, const MerNestLoops *loops, int tensor,
                              int child, int parent, double *tile)
{
    const MerTensorShape *shape = &model->shape.tensors[tensor];
    double                copies = 1;
    bool                  is_spread = false;
    for (int l = child + 1; l <= parent; l++) {
        is_spread |= model->memories[l].fanout_x > 1 || model->memories[l].fanout_y > 1;
    }
    memcpy(tile, loops->tile[child + 1], sizeof(double) * MER_DIM_COUNT);
    if (!is_spread) {
        return child < 0 ? 1 : loops->footprint[child][tensor];
    }
    for (int l = child + 1; l <= parent; l++) {
        for (int i = 0; i < model->shape.dim_count; i++) {
            int d = model->shape.dims[i];
            if (loops->spatial[l][d] <= 1 || !(shape->relevant >> d & 1)) {
                continue;
            }
            bool is_apart = !(shape->plain >> d & 1) && loops->tile[l][d] != tile[d];
            if (is_apart) {
                copies *= loops->spatial[l][d];
            } else {
                tile[d] *= loops->spatial[l][d];
            }
        }
    }
    return copies * mer_layer_footprint(&model->shape, tensor, tile);
}

/* halo=timeloop: children receive whole tiles; equal tiles are one multicast. Gives the number of
 * distinct tiles of a tensor among the children. */
static double distinct_children(const MerNestModel *model, const MerNestLoops *loops, int tensor,
                                int child, int parent)
{
    const MerTensorShape *shape = &model->shape.tensors[tensor];
    double                spread[MER_DIM_COUNT];
    double                distinct = 1;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        spread[d] = 1;
    }
    for (int l = child + 1; l <= parent; l++) {
        for (int i = 0; i < model->shape.dim_count; i++) {
            int d = model->shape.dims[i];
            spread[d] *= loops->spatial[l][d];
        }
    }
    for (int i = 0; i < model->shape.dim_count; i++) {
        int d = model->shape.dims[i];
        distinct *= shape->plain >> d & 1 ? spread[d] : 1;
    }
    for (int s = 0; s < shape->slide_count; s++) {
        const MerSlide *slide = &shape->slides[s];
        distinct *= distinct_offsets(
            spread[slide->dim[0]], slide->coefficient[0] * loops->tile[child + 1][slide->dim[0]],
            spread[slide->dim[1]], slide->coefficient[1] * loops->tile[child + 1][slide->dim[1]]);
    }
    return distinct;
}

/* Words that leave (or reach) one parent towards its children over the whole run. */
static double parent_traffic(const MerNestModel *model, const MerNestLoops *loops, int tensor,
                             int child, int parent)
{
    const MerTensorShape *shape = &model->shape.tensors[tensor];
    double                tile[MER_DIM_COUNT];
    if (child < 0) { /* a MAC has no storage: no stationarity, no halo */
        return joint_footprint(model, loops, tensor, child, parent, tile) * loops->outward[0];
    }
    if (model->halo == MER_HALO_TIMELOOP && shape->slide_count > 0) {
        return distinct_children(model, loops, tensor, child, parent) *
               traffic(model, loops, tensor, loops->start[child + 1],
                       loops->footprint[child][tensor], loops->tile[child + 1]);
    }
    double footprint = joint_footprint(model, loops, tensor, child, parent, tile);
    return traffic(model, loops, tensor, loops->start[child + 1], footprint, tile);
}

/* The first visit of an output brings nothing back. Where a scattered output has gaps (transposed
 * convolutions with a stride), its bounding range counts more words than are visited: never below 0. */
static double revisits(double visits, double first_visits)
{
    return visits > first_visits ? visits - first_visits : 0;
}

static void count_pair(const MerNestModel *model, const MerNestLoops *loops, int tensor, int child,
                       int parent, MerNestAccess *access)
{
    bool   is_output = tensor == MER_TENSOR_O;
    double whole = loops->footprint[model->level_count - 1][tensor]; /* padded loops included */
    double down =
        parent_traffic(model, loops, tensor, child, parent) * loops->instances[parent + 1];
    if (is_output) {
        access->updates[parent][tensor] = down;
        access->reads[parent][tensor] = revisits(down, whole * loops->reductions[parent + 1]);
    } else {
        access->reads[parent][tensor] = down;
    }
    access->network[parent] += access->reads[parent][tensor] + access->updates[parent][tensor];
    if (child >= 0) {
        double fills = traffic(model, loops, tensor, loops->start[child + 1],
                               loops->footprint[child][tensor], loops->tile[child + 1]) *
                       loops->instances[child + 1];
        access->fills[child][tensor] =
            is_output ? revisits(fills, whole * loops->reductions[child + 1]) : fills;
    }
}

void mer_nest_count(const MerNestModel *model, const MerNestPlan *plan, const MerNestLoops *loops,
                    MerNestAccess *access)
{
    size_t used = (size_t)model->level_count;
    memset(access->reads, 0, used * sizeof access->reads[0]);
    memset(access->fills, 0, used * sizeof access->fills[0]);
    memset(access->updates, 0, used * sizeof access->updates[0]);
    memset(access->network, 0, used * sizeof access->network[0]);
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int child = -1;
        for (int l = 0; l < model->level_count; l++) {
            if (plan->levels[l].keep >> t & 1) {
                count_pair(model, loops, t, child, l, access);
                child = l;
            }
        }
    }
}
