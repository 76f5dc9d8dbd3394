/* Evaluators that measure run in a child process: what crashes or hangs is an infeasible plan, and a resumed run keeps
 * what was measured. Evaluators that train get the run's threads. */
#include "run_support.h"
#include "support.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { CRASHES, HANGS, LEAVES, CHOICES = 8 };

static uint64_t hash_plan(const MerPlan *plan, uint64_t hash)
{
    return hash * 31 + (uint64_t) * (const int *)plan->content;
}

static const MerPlanKind        kind = {.name = "kernel", .hash = hash_plan};
static const MerPlanKind *const kinds[] = {&kind, NULL};

static MerStatus open_kernel(MerProblem *problem, MerArena *arena, MerError *error)
{
    (void)error;
    MerKnob *knob = MER_NEW(arena, MerKnob);
    *knob = (MerKnob){.name = "kernel",
                      .kind = MER_KNOB_CATEGORY,
                      .role = MER_ROLE_SETTING,
                      .level = -1,
                      .dim = -1,
                      .op = -1,
                      .choices = CHOICES};
    problem->space = (MerSpace){.knob_count = 1, .knobs = knob};
    return MER_OK;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    (void)problem;
    int *content = MER_NEW(arena, int);
    *content = point[0];
    *plan = (MerPlan){&kind, content};
}

static void bound(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *bound)
{
    (void)problem, (void)rules, (void)metric;
    *bound = (MerBound){NAN, "none", ""};
}

static const MerProblemClass problem_kernel = {.name = "kernel",
                                               .summary = "kernels",
                                               .objective = "latency",
                                               .budget = 40,
                                               .platforms = ~0u,
                                               .plans = kinds,
                                               .open = open_kernel,
                                               .decode = decode,
                                               .bound = bound};

static MerStatus open_cost(void *state, const MerProblem *problem, const void *options,
                           MerArena *arena, MerError *error)
{
    (void)state, (void)problem, (void)options, (void)arena, (void)error;
    return MER_OK;
}

static void measure(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    (void)state;
    int which = *(const int *)plan->content;
    if (which == CRASHES) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    while (which == HANGS) {
        sleep(1);
    }
    if (which == LEAVES) {
        _exit(3);
    }
    mer_cost_clear(cost);
    mer_spend(call->notes, MER_SPENT_SIMULATED_S, 0.5);
    cost->value[MER_METRIC_LATENCY] = which;
}

static double patience(const void *state)
{
    (void)state;
    return 0.2;
}

static const MerEvaluatorClass evaluator_board = {.name = "board",
                                                  .summary = "board",
                                                  .plans = kinds,
                                                  .metrics = UINT64_C(1) << MER_METRIC_LATENCY,
                                                  .mode = MER_EVALUATE_MEASURED,
                                                  .open = open_cost,
                                                  .evaluate = measure,
                                                  .timeout_s = patience};

static MerRunResult run_kernel(const MerEvaluatorClass *evaluator, const char *folder, bool resume,
                               MerArena *arena)
{
    MerRunSpec   spec = {.name = "kernels",
                         .problem = &problem_kernel,
                         .evaluator = evaluator,
                         .optimizer = mer_optimizer_find("random", NULL),
                         .seed = 1,
                         .budget = 40,
                         .count_distinct = true,
                         .threads = 2,
                         .directory = folder,
                         .resume = resume};
    MerRunResult result;
    MerError     error = {0};
    if (mer_run(&spec, NULL, arena, &result, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return result;
}

static void test_crashes_and_timeouts_are_infeasible_plans(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    MerRunResult result = run_kernel(&evaluator_board, "board", false, arena);
    const char  *log = file_text("board", "run.jsonl", arena);
    assert_int_equal((int)result.tasks[0].value, LEAVES + 1);
    assert_false(result.is_reproducible);
    mer_test_contains(log, "\"measured\":true");
    mer_test_contains(log, "crash: ended by signal 11");
    mer_test_contains(log, "timeout: no answer within 0.2 s");
    mer_test_contains(log, "crash: ended with code 3 without an answer");
    mer_test_contains(log, "\"spent\":{\"simulated_s\":0.5}");
    mer_arena_free(arena);
}

static void answer_differently(const void *state, const MerPlan *plan, const MerCall *call,
                               MerCost *cost)
{
    (void)state, (void)plan, (void)call;
    mer_cost_clear(cost);
    cost->value[MER_METRIC_LATENCY] = 77;
}

static void test_a_resumed_run_keeps_what_was_measured(void **state)
{
    (void)state;
    MerArena         *arena = mer_arena_new();
    MerEvaluatorClass other = evaluator_board;
    other.evaluate = answer_differently;
    run_kernel(&evaluator_board, "kept", false, arena);
    MerRunResult again = run_kernel(&other, "kept", true, arena);
    assert_int_equal((int)again.tasks[0].value, LEAVES + 1);
    mer_arena_free(arena);
}

static int threads_given;

static void train(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    (void)state;
    threads_given = call->pool ? mer_pool_threads(call->pool) : 0;
    mer_cost_clear(cost);
    cost->value[MER_METRIC_LATENCY] = *(const int *)plan->content;
}

static void test_trainings_get_the_threads_of_the_run(void **state)
{
    (void)state;
    MerArena         *arena = mer_arena_new();
    MerEvaluatorClass evaluator = evaluator_board;
    evaluator.mode = MER_EVALUATE_ALONE;
    evaluator.evaluate = train;
    MerRunResult result = run_kernel(&evaluator, "alone", false, arena);
    assert_true(result.is_reproducible);
    assert_int_equal(threads_given, 2);
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crashes_and_timeouts_are_infeasible_plans),
        cmocka_unit_test(test_a_resumed_run_keeps_what_was_measured),
        cmocka_unit_test(test_trainings_get_the_threads_of_the_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
