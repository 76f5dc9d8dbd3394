/* Training rates of the networks of `mercator split`: images per second of the processor on one thread, in floating point and with
 * quantisers and every layer on all units, as a ratio within one run; and what a second thread brings by the wall clock. Sides in turn,
 * the best of several repeats. Lines are `name value unit`; bench/train_torch.py runs it beside PyTorch.
 *     bench_train [NETWORK PLATFORM]... */
#include "base/log.h"
#include "mercator/import.h"
#include "mercator/registry.h"
#include "split/split_parts.h"
#include "split/train/train_net.h"
#include "tensor/updater.h"

#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 64, REPEATS = 5, STEPS = 2 };

typedef struct Side {
    MerTape     *tape;
    MerTrainNet *net;
    MerUpdater  *updater;
} Side;

static void must(MerStatus status, const MerError *error)
{
    if (status != MER_OK) {
        fprintf(stderr, "bench_train: %s\n", error->message);
        exit(1);
    }
}

/* Even shares of all options, as at the start of a search. */
static MerTensor **even_shares(const MerSplit *split, MerTape *tape)
{
    MerTensor **choice = mer_workspace_alloc(mer_tape_workspace(tape),
                                             (size_t)split->layer_count * sizeof(MerTensor *));
    for (int l = 0; l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        choice[l] = mer_tape_tensor(tape, 2, (int[]){layer->option_count, layer->c_out});
        mer_tensor_fill(choice[l], 1 / (float)layer->option_count);
    }
    return choice;
}

static void step(Side *side, const float *images, const int *labels)
{
    mer_tape_reset(side->tape);
    mer_parameters_clear(side->net->weights);
    mer_parameters_clear(side->net->scales);
    MerTensor **choice = side->net->is_folded ? even_shares(side->net->split, side->tape) : NULL;
    MerTensor  *y = mer_train_net_run(side->net, side->tape, images, BATCH, choice, true);
    mer_tape_backward(side->tape, mer_tensor_cross_entropy(side->tape, y, labels, 0), NULL);
    mer_updater_step(side->updater, 1e-3);
}

static Side side_open(const MerGraph *graph, const MerSplit *split, MerPool *pool, bool is_folded,
                      MerArena *arena)
{
    MerTrainForm form = {0};
    MerError     error = {0};
    MerRule      rule = mer_rule_sgd(0.9, 5e-4);
    MerRng       rng = mer_rng_make(1, 0);
    Side         side = {.tape = mer_tape_new(&mer_backend_dnnl, pool)};
    must(mer_train_net_new(graph, split, &form, arena, &side.net, &error), &error);
    mer_train_net_fill(side.net, &rng);
    if (is_folded) {
        mer_train_net_fold(side.net);
    }
    side.updater = mer_updater_new(side.tape, side.net->weights, &rule);
    return side;
}

static void side_close(Side *side)
{
    mer_updater_free(side->updater);
    mer_train_net_free(side->net);
    mer_tape_free(side->tape);
}

static double time_of(Side *side, const float *images, const int *labels, double (*clock)(void))
{
    double start = clock();
    for (int s = 0; s < STEPS; s++) {
        step(side, images, labels);
    }
    return (clock() - start) / STEPS;
}

static MerSplit split_of(const MerGraph *graph, const char *platform_name, MerArena *arena)
{
    MerError               error = {0};
    const MerProblemClass *type = mer_problem_find("split", NULL);
    MerProblem             problem = {.type = type, .graph = graph};
    MerSplit               split;
    MerSplitRemarks        remarks = {.arena = arena};
    must(mer_platform_read(platform_name, arena, &problem.platform, &error), &error);
    problem.options = mer_options_or_defaults(NULL, type->options, type->options_size, arena);
    must(mer_split_open(&problem, &split, &remarks, arena, &error), &error);
    return split;
}

static void bench(const char *network, const char *platform)
{
    MerArena *arena = mer_arena_new();
    MerError  error = {0};
    MerGraph *graph;
    must(mer_graph_import(network, NULL, arena, &graph, &error), &error);
    MerSplit split = split_of(graph, platform, arena);
    MerPool *pool = mer_pool_new(2);
    Side     sides[3] = {side_open(graph, NULL, NULL, false, arena),
                         side_open(graph, &split, NULL, true, arena),
                         side_open(graph, NULL, pool, false, arena)};
    int64_t  pixels =
        (int64_t)sides[0].net->shape[0] * sides[0].net->shape[1] * sides[0].net->shape[2] * BATCH;
    float *images = mer_arena_alloc(arena, (size_t)pixels * sizeof *images);
    int   *labels = mer_arena_alloc(arena, BATCH * sizeof *labels);
    double best[4] = {1e30, 1e30, 1e30, 1e30};
    for (int64_t i = 0; i < pixels; i++) {
        images[i] = (float)(i % 97) / 97;
    }
    for (int r = 0; r <= REPEATS; r++) { /* the first only warms up */
        double took[4] = {time_of(&sides[0], images, labels, mer_cpu_clock),
                          time_of(&sides[1], images, labels, mer_cpu_clock),
                          time_of(&sides[0], images, labels, mer_clock),
                          time_of(&sides[2], images, labels, mer_clock)};
        for (int i = 0; i < 4 && r > 0; i++) {
            best[i] = took[i] < best[i] ? took[i] : best[i];
        }
    }
    printf("%s_float %.0f images/s of the processor\n", network, BATCH / best[0]);
    printf("%s_quantised %.0f images/s of the processor\n", network, BATCH / best[1]);
    printf("%s_quantised_over_float %.3f 1\n", network, best[0] / best[1]);
    printf("%s_two_threads_over_one %.3f 1\n", network, best[2] / best[3]);
    fflush(stdout);
    for (int i = 0; i < 3; i++) {
        side_close(&sides[i]);
    }
    mer_pool_free(pool);
    mer_arena_free(arena);
}

int main(int count, char **arguments)
{
    static const char *const usual[][2] = {{"resnet8@input=3x32x32", "diana"},
                                           {"resnet8@input=1x8x8", "diana"},
                                           {"resnet20", "diana"},
                                           {"ds_cnn", "diana"},
                                           {"mobilenet_v1@width=0.25@input=3x96x96", "diana"},
                                           {"mobilenet_v1@input=3x32x32", "diana"}};
    if (count == 1) {
        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
            bench(usual[i][0], usual[i][1]);
        }
    }
    for (int i = 1; i + 1 < count; i += 2) {
        bench(arguments[i], arguments[i + 1]);
    }
    return 0;
}
