/* Schedules of a VTA-class core per second of one core of this machine, refused ones included: every point of the
 * distinct convolutions of seven networks at 1x16x16, and on every core that the budget allows; the walk over
 * instructions beside it. Lines are `name value unit`. */
#include "base/log.h"
#include "codesign/cost/timing.h"
#include "mercator/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const networks[] = {"alexnet", "vgg11",    "vgg13",   "vgg16",
                                       "vgg19",   "resnet18", "resnet34"};
enum { NETWORKS = sizeof networks / sizeof networks[0], MOST = 200 };

typedef struct Count {
    int64_t points, legal;
    double  sum; /* of the times, so that nothing is left out */
} Count;

/* Every schedule on one core; `walk`: by its instructions, every 50th. */
static void price_all(const MerVtaTask *task, const MerVtaTiming *timing, bool walk, Count *count)
{
    const MerVtaShape *s = &task->shape;
    for (int h = 1; h <= s->rows; h++) {
        for (int w = 1; w <= s->columns && s->rows % h == 0; w++) {
            for (int ci = 1; ci <= s->ci && s->columns % w == 0; ci++) {
                for (int co = 1; co <= s->co && s->ci % ci == 0; co++) {
                    for (int t = 0; t < 4 && s->co % co == 0; t++) {
                        MerVtaSchedule point = {h, w, ci, co, 1 + t % 2, 1 + t / 2};
                        MerVtaTime     time;
                        count->points++;
                        if ((walk && count->points % 50 != 0) ||
                            !mer_vta_check(&task->core, s, &point, &task->rules, NULL)) {
                            continue;
                        }
                        count->legal++;
                        if (walk) {
                            MerVtaStream stream;
                            mer_vta_generate(task, &point, MER_VTA_STREAM_LIMIT, &stream, NULL);
                            mer_vta_walk(&task->core, timing, stream.list, stream.count, &time,
                                         NULL, NULL, NULL);
                            mer_vta_stream_free(&stream);
                        } else {
                            mer_vta_price(task, &point, timing, INFINITY, &time);
                        }
                        count->sum += mer_vta_seconds(timing, &time);
                    }
                }
            }
        }
    }
}

static int list_layers(MerOp *ops, MerArena *arena)
{
    int count = 0;
    for (int n = 0; n < NETWORKS; n++) {
        MerGraph *graph;
        MerError  error = {0};
        if (mer_graph_import(networks[n], NULL, arena, &graph, &error) != MER_OK) {
            fprintf(stderr, "%s\n", error.message);
            exit(1);
        }
        for (int l = 0; l < graph->layer_count; l++) {
            const MerOp *op = &graph->ops[graph->layers[l].op];
            bool         is_new = op->kind == MER_OP_CONV && count < MOST;
            for (int o = 0; o < count && is_new; o++) {
                is_new = memcmp(ops[o].dims, op->dims, sizeof op->dims) != 0 ||
                         memcmp(ops[o].stride, op->stride, sizeof op->stride) != 0;
            }
            if (is_new) {
                ops[count++] = *op;
            }
        }
    }
    return count;
}

static double bench(const char *name, const MerOp *ops, int count, const MerVtaCore *cores,
                    int core_count, const MerVtaTiming *timing, bool walk)
{
    Count  all = {0};
    double begin = mer_cpu_clock();
    for (int c = 0; c < core_count; c++) {
        for (int o = 0; o < count; o++) {
            MerVtaTask task = {.core = cores[c]};
            mer_vta_shape_make(&ops[o], 1, &cores[c], &task.shape);
            price_all(&task, timing, walk, &all);
        }
    }
    double rate = (double)(walk ? all.legal : all.points) / (mer_cpu_clock() - begin);
    printf("%s %.0f schedules/s\n", name, rate);
    printf("%s_points %lld 1\n%s_legal %lld 1\n", name, (long long)all.points, name,
           (long long)all.legal);
    return rate;
}

int main(void)
{
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform;
    MerError           error = {0};
    MerOp             *ops = MER_ARRAY(arena, MerOp, MOST);
    MerVtaTiming       timing;
    MerVtaCore         usual, cores[125];
    int                count = list_layers(ops, arena), core_count = 0;
    if (mer_platform_read("vta-pynq-b", arena, &platform, &error) != MER_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    mer_vta_timing_of(platform, &timing);
    mer_vta_core_of(platform, &usual);
    for (int n = 0; n < 125; n++) {
        mer_vta_core_follow(&usual, 1 << n / 25, 4 << n / 5 % 5, 4 << n % 5, 491520,
                            &cores[core_count]);
        core_count += mer_vta_core_macs(&cores[core_count]) <= 256 &&
                      mer_vta_core_check(&cores[core_count], NULL);
    }
    double fast = bench("vta_fixed", ops, count, &usual, 1, &timing, false);
    bench("vta_mixed", ops, count, cores, core_count, &timing, false);
    double slow = bench("vta_walk", ops, count, &usual, 1, &timing, true);
    printf("vta_fast_over_walk %.1f ratio\n", fast / slow);
    mer_arena_free(arena);
    return 0;
}
