/* Folded networks with random weights, random splits of them, and their logits by the training's own arithmetic. */
#ifndef MERCATOR_TESTS_INTEGER_SUPPORT_H
#define MERCATOR_TESTS_INTEGER_SUPPORT_H

#include "split_support.h"

#include "split/deploy/integer_net.h"
#include "tensor/ops.h"

/* Norms that bring numbers to the size of the clips, biases that matter, clips of several sizes. */
static inline MerTrainNet *random_train_net(const OpenedSplit *opened, const MerTrainForm *form,
                                            MerRng *rng)
{
    MerTrainNet *net;
    MerError     error = {0};
    if (mer_train_net_new(opened->problem.graph, opened->split, form, opened->arena, &net,
                          &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    mer_train_net_fill(net, rng);
    for (int n = 0; n < net->node_count; n++) {
        for (int k = 0; k < net->nodes[n].branch_count; k++) {
            MerTrainBranch *branch = &net->nodes[n].branches[k];
            for (int c = 0; c < branch->weight->shape[0]; c++) {
                branch->bias->data[c] = 0.3f * (float)mer_rng_normal(rng);
                if (branch->has_norm) {
                    branch->norm.running_mean->data[c] = 0.1f * (float)mer_rng_normal(rng);
                    branch->norm.running_variance->data[c] =
                        0.05f + 0.1f * (float)mer_rng_unit(rng);
                    branch->norm.scale->data[c] = 0.5f + (float)mer_rng_unit(rng);
                    branch->norm.shift->data[c] = 0.3f * (float)mer_rng_normal(rng);
                }
            }
        }
    }
    mer_train_net_fold(net);
    for (int q = 0; q < net->quantiser_count; q++) {
        net->clips[q]->data[0] = 2 + 5 * (float)mer_rng_unit(rng);
    }
    return net;
}

/* Any option for any channel; where options must lie in order, in order. */
static inline MerSplitPlan *random_split(const OpenedSplit *opened, MerRng *rng)
{
    MerPlan       plan;
    MerSplitPlan *made = mer_split_new_plan(opened->split, &plan, opened->arena);
    for (int l = 0; l < opened->split->layer_count; l++) {
        const MerSplitLayer *layer = &opened->split->layers[l];
        unsigned char       *assignment = made->assignment + layer->channel_start;
        int                  kind = mer_rng_below(rng, 4);
        for (int c = 0; c < layer->c_out && layer->fixed < 0; c++) {
            assignment[c] = (unsigned char)mer_rng_below(rng, layer->option_count);
            if (kind == 0) { /* all on one */
                assignment[c] = assignment[0];
            }
            for (int at = c; layer->is_ordered && at > 0 && assignment[at] < assignment[at - 1];
                 at--) {
                unsigned char swapped = assignment[at];
                assignment[at] = assignment[at - 1];
                assignment[at - 1] = swapped;
            }
        }
    }
    mer_split_count(opened->split, made);
    return made;
}

static inline MerIntegerNet *integer_net(const MerTrainNet *from, const MerSplitPlan *plan,
                                         MerArena *memory)
{
    MerIntegerNet *net;
    MerError       error = {0};
    if (mer_integer_net_new(from, plan, memory, &net, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return net;
}

/* Logits of the network with quantisers, as the evaluation of the plan has them. */
static inline void trained_logits(MerTrainNet *net, const MerSplitPlan *plan, const float *image,
                                  float *logits)
{
    MerTape *tape = mer_tape_new(&mer_backend_plain, NULL);
    int      layers = net->split->layer_count;
    mer_tape_record(tape, false);
    MerTensor **choice =
        mer_workspace_alloc(mer_tape_workspace(tape), (size_t)layers * sizeof(MerTensor *));
    for (int l = 0; l < layers; l++) {
        const MerSplitLayer *layer = &net->split->layers[l];
        choice[l] = mer_tape_tensor(tape, 2, (int[]){layer->option_count, layer->c_out});
        mer_tensor_fill(choice[l], 0);
        for (int c = 0; c < layer->c_out; c++) {
            choice[l]->data[plan->assignment[layer->channel_start + c] * layer->c_out + c] = 1;
        }
    }
    MerTensor *y = mer_train_net_run(net, tape, image, 1, choice, false);
    memcpy(logits, mer_tensor_data(tape, y), (size_t)y->size * sizeof *logits);
    mer_tape_free(tape);
}

static inline void random_image(const MerTrainNet *net, MerRng *rng, float *image)
{
    int size = net->shape[0] * net->shape[1] * net->shape[2];
    for (int i = 0; i < size; i++) {
        image[i] =
            (float)(net->form.is_input_signed ? 2 * mer_rng_unit(rng) - 1 : mer_rng_unit(rng));
    }
}

#endif
