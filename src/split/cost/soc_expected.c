/* The soft cost on a tape: a number with a known gradient by every choice. */
#include "split/cost/soc.h"

#include "tensor/ops.h"

typedef struct Relaxed { /* all layers; NULL where nothing is chosen */
    double    **theta, **slope;
    MerTensor **inputs; /* those that are chosen, and their gradients */
    float     **gradients;
    int         count;
} Relaxed;

static void take(Relaxed *r, const MerSplitLayer *layer, int l, MerTape *tape, MerTensor *choice,
                 MerArena *scratch)
{
    int64_t      size = (int64_t)layer->option_count * layer->c_out;
    const float *values = mer_tensor_data(tape, choice);
    r->theta[l] = MER_ARRAY(scratch, double, size);
    r->slope[l] = MER_ARRAY(scratch, double, size);
    for (int64_t i = 0; i < size; i++) {
        r->theta[l][i] = values[i];
    }
    r->inputs[r->count] = choice;
    r->gradients[r->count++] = mer_workspace_floats(mer_tape_workspace(tape), size);
}

MerTensor *mer_soc_expected(const MerSplit *split, const MerSplitRules *rules, MerTape *tape,
                            MerTensor *const *choice, MerMetric metric)
{
    MerArena    *scratch = mer_arena_new();
    int          layers = split->layer_count;
    MerSplitSoft soft = rules->soft;
    Relaxed      r = {MER_ARRAY(scratch, double *, layers), MER_ARRAY(scratch, double *, layers),
                      MER_ARRAY(scratch, MerTensor *, layers), MER_ARRAY(scratch, float *, layers), 0};
    soft.metric = metric == MER_METRIC_ENERGY ? MER_METRIC_ENERGY : MER_METRIC_CYCLES;
    MerTensor **chosen = MER_ARRAY(scratch, MerTensor *, layers + 1);
    for (int l = 0; l < layers; l++) {
        chosen[l] = choice[split->layers[l].is_searchable ? mer_split_owner(split, l) : l];
        if (chosen[l] != NULL) {
            take(&r, &split->layers[l], l, tape, chosen[l], scratch);
        }
    }
    double reference = mer_split_reference_cost(split, soft.metric);
    double value =
        mer_split_soft_cost(split, &soft, (const double *const *)r.theta, r.slope, scratch);
    for (int l = 0, i = 0; l < layers; l++) {
        for (int64_t j = 0; chosen[l] != NULL && j < chosen[l]->size; j++) {
            r.gradients[i][j] = (float)(r.slope[l][j] / reference);
        }
        i += chosen[l] != NULL;
    }
    MerTensor *result = mer_tensor_known(tape, (float)(value / reference), r.count, r.inputs,
                                         (const float *const *)r.gradients);
    mer_arena_free(scratch);
    return result;
}
