/* Groups of a thousand jobs: the default search, the bound and trails work as they do on small ones. */
#include "one_arena.h"
#include "schedule_support.h"

static MerTaskResult search(const char *platform, double bandwidth, const char *optimizer)
{
    const char *problem = mer_arena_format(arena, "schedule:bandwidth=%g,cache=off", bandwidth);
    MerRunSpec  spec = spec_from(problem, "bandwidth", optimizer,
                                 graph_named("synthetic:1000:3", arena), platform, arena);
    spec.budget = 3000;
    spec.log = MER_LOG_IMPROVING;
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
