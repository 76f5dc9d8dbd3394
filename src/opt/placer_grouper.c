/* Two products without bias and without anything between them, as published. */
#include "opt/placer_grouper.h"

#include <math.h>

/* Clusters are numbered along the order: each is to have about the same share of the groups and of the work. */
static const float *make_pull(const MerPlacerGraph *g, int clusters, double pull, MerArena *arena)
{
    float *added = MER_ARRAY(arena, float, (int64_t)g->order_count *clusters);
    int    used = clusters < g->order_count ? clusters : g->order_count;
    double done = 0;
    for (int i = 0; i < g->order_count; i++) {
        double work = g->work[g->order[i]];
        double by_work = g->total > 0 ? (done + work / 2) / g->total : 0;
        double at = used * 0.5 * ((i + 0.5) / g->order_count + by_work);
        for (int c = 0; c < clusters; c++) {
            added[(int64_t)i * clusters + c] = (float)(-pull * fabs(c + 0.5 - at));
        }
        done += work;
    }
    return added;
}

void mer_placer_grouper_make(MerPlacerGrouper *grouper, const MerPlacerGraph *graph,
                             MerPlacerFeatures features, int clusters, double pull, MerArena *arena)
{
    int    width = mer_placer_member_width(features);
    float *vectors = MER_ARRAY(arena, float, (int64_t)graph->order_count *width);
    *grouper = (MerPlacerGrouper){
        .graph = graph, .clusters = clusters, .width = width, .vectors = vectors};
    mer_placer_member_vectors(graph, features, vectors);
    grouper->pull = pull > 0 ? make_pull(graph, clusters, pull, arena) : NULL;
}

void mer_placer_grouper_add(MerPlacerGrouper *grouper, int hidden, MerParameters *parameters,
                            MerRng *rng)
{
    grouper->in = mer_parameters_add(parameters, "grouper.in", 2, (int[]){grouper->width, hidden});
    grouper->out =
        mer_parameters_add(parameters, "grouper.out", 2, (int[]){hidden, grouper->clusters});
    mer_tensor_fill_glorot(grouper->in, 1, rng);
    mer_tensor_fill_glorot(grouper->out, 1, rng);
}

MerTensor *mer_placer_grouper_run(MerTape *tape, const MerPlacerGrouper *grouper,
                                  const float *noise)
{
    int        shape[2] = {grouper->graph->order_count, grouper->clusters};
    MerTensor *x = mer_tape_input(tape, 2, (int[]){shape[0], grouper->width}, grouper->vectors);
    MerTensor *logits =
        mer_tensor_matmul(tape, mer_tensor_matmul(tape, x, grouper->in), grouper->out);
    if (noise != NULL) { /* in shares of what is learned: the pull is no part of it */
        logits = mer_tensor_reshape(tape, logits, 2, (int[]){1, -1});
        logits = mer_tensor_reshape(tape, mer_placer_disturb(tape, logits, noise), 2, shape);
    }
    if (grouper->pull != NULL) {
        logits = mer_tensor_add(tape, logits, mer_tape_input(tape, 2, shape, grouper->pull));
    }
    return mer_tensor_log_softmax(tape, logits);
}
