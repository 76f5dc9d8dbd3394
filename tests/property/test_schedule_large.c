/* Groups of a thousand jobs: the default search, the bound and trails work as they do on small ones. */
#include "schedule_support.h"

static MerArena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = mer_arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mer_arena_free(arena);
    return 0;
}

static MerTaskResult search(const char *platform, double bandwidth, const char *optimizer)
{
    MerGraph              *graph = NULL;
    MerError               error = {0};
    const MerProblemClass *problem = mer_problem_find("schedule", NULL);
    assert_int_equal(mer_graph_import("synthetic:1000:3", NULL, arena, &graph, &error), MER_OK);
    const char *options = mer_arena_format(arena, "schedule:bandwidth=%g,cache=off", bandwidth);
    MerRunSpec  spec = {
         .name = "large",
         .problem = problem,
         .graph = graph,
         .platform = platform_named(platform, arena),
         .problem_options = options_from(options, problem->options, problem->options_size, arena),
         .evaluator = mer_evaluator_find("bandwidth", NULL),
         .optimizer = mer_optimizer_find(optimizer, NULL),
         .seed = 1,
         .budget = 3000,
         .log = MER_LOG_IMPROVING,
         .threads = 1,
    };
    return run_or_fail(&spec, NULL, arena).tasks[0];
}

static void test_a_thousand_jobs_are_scheduled_above_their_bound_and_below_every_list(void **state)
{
    (void)state;
    static const struct {
        const char *platform;
        double      bandwidth;
    } cases[] = {{"s1", 64}, {"s2", 64}, {"s4", 256}, {"s6", 256}};
    for (int i = 0; i < 4; i++) {
        MerTaskResult best = search(cases[i].platform, cases[i].bandwidth, "list_annealing");
        MerTaskResult longest = search(cases[i].platform, cases[i].bandwidth, "lpt");
        MerTaskResult first = search(cases[i].platform, cases[i].bandwidth, "fcfs");
        assert_int_equal(best.plan.as.jobs.job_count, 1000);
        assert_true(best.bound.value > 0 && best.bound.value <= best.value);
        assert_true(best.value <= longest.value && best.value <= first.value);
        assert_true(best.gap < 0.25);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_thousand_jobs_are_scheduled_above_their_bound_and_below_every_list),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
