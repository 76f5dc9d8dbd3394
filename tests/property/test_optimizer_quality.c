/* The comparison of docs/studies/map-optimizers.md in small: two layers, five seeds, equal budgets. No
 * optimizer may fall far behind random points; the strong ones must beat them. */
#include "run_support.h"

#include "base/stats.h"

#include <math.h>

enum { SEEDS = 5, BUDGET = 2000, FEW = BUDGET / 10 };
/* medians of five short runs scatter; those of tbpsa by 1.23 */
static const double      TOLERANCE = 1.3;
static const char *const strong[] = {"annealing", "genetic", "gamma", "de", "cmaes"};

/* They need fewer points, and take longer for each. */
static bool has_model(const MerOptimizerClass *optimizer)
{
    static const char *const names[] = {"bayes", "autotvm", "chameleon", "dcoc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(optimizer->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static double score_of(const MerOptimizerClass *optimizer, const MerGraph *graph, int64_t budget,
                       uint64_t seed, MerArena *arena)
{
    MerRunSpec spec = {
        .name = "quality",
        .problem = mer_problem_find("map", NULL),
        .graph = graph,
        .platform = platform_named("s256", arena),
        .evaluator = mer_evaluator_find("loopnest", NULL),
        .optimizer = optimizer,
        .objective = "edp",
        .seed = seed,
        .budget = budget,
        .threads = 1,
    };
    MerRunResult result = run_or_fail(&spec, NULL, arena);
    return result.is_feasible ? result.tasks[0].score : INFINITY;
}

static double median_score(const MerOptimizerClass *optimizer, const MerGraph *graph,
                           int64_t budget)
{
    double scores[SEEDS];
    for (int s = 0; s < SEEDS; s++) {
        MerArena *arena = mer_arena_new();
        scores[s] = score_of(optimizer, graph, budget, (uint64_t)s + 1, arena);
        mer_arena_free(arena);
    }
    return mer_median(scores, SEEDS);
}

static bool is_strong(const MerOptimizerClass *optimizer)
{
    for (size_t i = 0; i < sizeof strong / sizeof strong[0]; i++) {
        if (strcmp(optimizer->name, strong[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void compare_on(const MerGraph *graph)
{
    const MerOptimizerClass *chance = mer_optimizer_find("random", NULL);
    double all = median_score(chance, graph, BUDGET), few = median_score(chance, graph, FEW);
    assert_true(few < INFINITY);
    for (const MerOptimizerClass *const *list = mer_optimizers(); *list; list++) {
        bool    is_bayes = strcmp((*list)->name, "bayes") == 0; /* keeps up with more points too */
        double  random = has_model(*list) && !is_bayes ? few : all;
        int64_t budget = is_bayes ? BUDGET / 5 : has_model(*list) ? FEW : BUDGET;
        double  found = (*list)->open && !(*list)->tables && !(*list)->needs_model
                            ? median_score(*list, graph, budget)
                            : 0;
        double  limit = is_strong(*list) ? random : random * TOLERANCE;
        if (!(found <= limit)) {
            fail_msg("%s: median %g, random %g", (*list)->name, found, random);
        }
    }
}

static void test_every_optimizer_keeps_up_with_random_on_a_3x3_layer(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    compare_on(one_layer_graph(64, 64, 56, 56, 3, 3, arena));
    mer_arena_free(arena);
}

static void test_every_optimizer_keeps_up_with_random_on_a_1x1_layer(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    compare_on(one_layer_graph(128, 256, 28, 28, 1, 1, arena));
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_optimizer_keeps_up_with_random_on_a_3x3_layer),
        cmocka_unit_test(test_every_optimizer_keeps_up_with_random_on_a_1x1_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
