/* Tuners on the tiling landscape of the tests, its optimum known by enumeration:
 *     bench_tuners SEEDS BUDGET fixed|joint TUNER...
 * prints per tuner and layer how many measurements after the first 64 come within 1 % of the optimum
 * (medians over the seeds; not reached counts as the budget), the median gap at 64, 128, 256, 512, and
 * the time the tuner itself takes. */
#include "tiling_landscape.h"

#include "base/stats.h"
#include "mercator/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 64, FIRST = 64, MOST_SEEDS = 64 };

typedef struct Outcome {
    double reached, gaps[4], seconds;
} Outcome;

static double optimum_of(const Tiling *t)
{
    MerIndex point[TILING_KNOBS] = {0};
    double   best = INFINITY;
    for (;;) {
        best = tiling_bound(t, point) < best ? fmin(best, tiling_seconds(t, point)) : best;
        int k = 0;
        while (k < t->space.knob_count && ++point[k] == t->knobs[k].choices) {
            point[k++] = 0;
        }
        if (k == t->space.knob_count) {
            return best;
        }
    }
}

static void *open_tuner(const char *text, const MerSearch *search, const MerOptimizerClass **type)
{
    MerReference reference;
    MerError     error = {0};
    if (mer_reference_parse(text, &reference, search->arena, &error) != MER_OK ||
        (*type = mer_optimizer_find(reference.name, &error)) == NULL) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    void *options = mer_arena_alloc(search->arena, (*type)->options_size + 1);
    void *state = mer_arena_alloc(search->arena, (*type)->state_size + 1);
    if (((*type)->options && mer_options_fill((*type)->options, (*type)->presets, options,
                                              &reference, search->arena, &error) != MER_OK) ||
        (*type)->open(state, search, options, &error) != MER_OK) {
        fprintf(stderr, "%s\n", error.message);
        exit(2);
    }
    return state;
}

static Outcome run(const Tiling *t, const char *tuner, int budget, uint64_t seed, double optimum)
{
    MerArena                *arena = mer_arena_new();
    MerRng                   rng = mer_rng_make(seed, 0);
    MerLegality              legality = {t, tiling_is_legal};
    MerSearch                search = {.space = &t->space,
                                       .task_count = 1,
                                       .objective = MER_METRIC_COUNT,
                                       .budget = budget,
                                       .rng = &rng,
                                       .seed = seed,
                                       .arena = arena,
                                       .legality = &legality};
    const MerOptimizerClass *type;
    MerIndex                 points[BATCH][TILING_KNOBS];
    MerProposal              proposals[BATCH];
    MerTrial                 trials[BATCH];
    MerCost                  cost;
    Outcome                  outcome = {.reached = budget - FIRST};
    double                   best = INFINITY;
    bool                     is_reached = false;
    clock_t                  spent = 0, start = clock();
    void                    *state = open_tuner(tuner, &search, &type);
    mer_cost_clear(&cost);
    for (int done = 0; done < budget;) {
        for (int i = 0; i < BATCH; i++) {
            proposals[i] = (MerProposal){points[i], INFINITY, -1};
        }
        int count = type->ask(state, proposals, budget - done < BATCH ? budget - done : BATCH);
        spent += clock() - start;
        if (count == 0) {
            break;
        }
        for (int i = 0; i < count; i++) {
            double score = tiling_seconds(t, points[i]);
            trials[i] = (MerTrial){done, points[i], &cost, score, false};
            best = fmin(best, score);
            done++;
            if (best <= 1.01 * optimum && !is_reached) {
                is_reached = true;
                outcome.reached = done > FIRST ? done - FIRST : 0;
            }
            for (int g = 0; g < 4; g++) {
                outcome.gaps[g] = done <= FIRST + (64 << g) ? best / optimum - 1 : outcome.gaps[g];
            }
        }
        start = clock();
        type->tell(state, trials, count);
    }
    outcome.seconds = (double)spent / CLOCKS_PER_SEC;
    if (type->close) {
        type->close(state);
    }
    mer_arena_free(arena);
    return outcome;
}

int main(int argc, char **argv)
{
    if (argc < 5) {
        fprintf(stderr, "usage: bench_tuners SEEDS BUDGET fixed|joint TUNER...\n");
        return 2;
    }
    int           seeds = atoi(argv[1]), budget = atoi(argv[2]) + FIRST;
    bool          is_joint = strcmp(argv[3], "joint") == 0;
    double        optima[TILING_LAYERS];
    static Tiling tilings[TILING_LAYERS];
    int           layers = is_joint ? 4 : TILING_LAYERS;
    for (int l = 0; l < layers; l++) {
        tiling_make(&tilings[l], tiling_layers[is_joint ? 3 * l : l], is_joint);
        optima[l] = optimum_of(&tilings[l]);
    }
    for (int a = 4; a < argc; a++) {
        double log_sum = 0, seconds = 0, gaps[4] = {0};
        printf("%-40s", argv[a]);
        for (int l = 0; l < layers; l++) {
            double reached[MOST_SEEDS], gap[4][MOST_SEEDS];
            for (int s = 0; s < seeds; s++) {
                Outcome o = run(&tilings[l], argv[a], budget, (uint64_t)s + 1, optima[l]);
                reached[s] = o.reached;
                seconds += o.seconds / seeds / layers;
                for (int g = 0; g < 4; g++) {
                    gap[g][s] = o.gaps[g];
                }
            }
            double median = mer_median(reached, seeds);
            log_sum += log(fmax(median, 1)) / layers;
            for (int g = 0; g < 4; g++) {
                gaps[g] += mer_mean(gap[g], seeds) / layers;
            }
            printf(" %4.0f", median);
            fflush(stdout);
        }
        printf("  geomean %6.1f  gap %% %.2f %.2f %.2f %.2f  %.2f s\n", exp(log_sum), 100 * gaps[0],
               100 * gaps[1], 100 * gaps[2], 100 * gaps[3], seconds);
    }
    for (int l = 0; l < layers; l++) {
        double size = 1;
        for (int k = 0; k < tilings[l].space.knob_count; k++) {
            size *= tilings[l].knobs[k].choices;
        }
        printf("%s%.4f ms (%.0f points)", l ? ", " : "optima: ", 1e3 * optima[l], size);
    }
    printf("\n");
    return 0;
}
