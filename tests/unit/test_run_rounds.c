/* Tasks that belong together: further rounds with a knob fixed alike in all tasks or for another objective, and which
 * round's answers the run takes. */
#include "run_support.h"
#include "support.h"

#include <math.h>

/* Three tasks; a plan is a geometry and a setting. What a task costs alone is least at a geometry of its own; all
 * together do best with one in between. */
enum { TASKS = 3, GEOMETRIES = 8, SETTINGS = 16 };

typedef struct Plan {
    int task, geometry, setting;
} Plan;

static uint64_t hash_plan(const MerPlan *plan, uint64_t hash)
{
    const Plan *content = plan->content;
    return hash * 1000 + (uint64_t)(content->geometry * SETTINGS + content->setting);
}

static const MerPlanKind        kind = {.name = "shared", .hash = hash_plan};
static const MerPlanKind *const kinds[] = {&kind, NULL};

static MerStatus list_tasks(const MerProblem *problem, MerArena *arena, const MerTask **tasks,
                            int *count, MerError *error)
{
    (void)problem;
    (void)error;
    MerTask *list = MER_ARRAY(arena, MerTask, TASKS);
    for (int t = 0; t < TASKS; t++) {
        list[t] = (MerTask){mer_arena_format(arena, "part%d", t), 1, 1, t, 0, NULL};
    }
    *tasks = list;
    *count = TASKS;
    return MER_OK;
}

static MerStatus open_shared(MerProblem *problem, MerArena *arena, MerError *error)
{
    (void)error;
    MerKnob *knobs = MER_ARRAY(arena, MerKnob, 2);
    knobs[0] = (MerKnob){.name = "geometry",
                         .kind = MER_KNOB_ORDERED,
                         .role = MER_ROLE_HARDWARE,
                         .level = -1,
                         .dim = -1,
                         .op = -1,
                         .choices = GEOMETRIES};
    knobs[1] = knobs[0];
    knobs[1].name = "setting";
    knobs[1].role = MER_ROLE_TILE;
    knobs[1].choices = SETTINGS;
    problem->space = (MerSpace){.knob_count = 2, .knobs = knobs};
    return MER_OK;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    Plan *content = MER_NEW(arena, Plan);
    *content = (Plan){problem->task->op, point[0], point[1]};
    *plan = (MerPlan){&kind, content};
}

static void bound(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *bound)
{
    (void)problem, (void)rules, (void)metric;
    *bound = (MerBound){NAN, "none", ""};
}

static double cycles_of(int task, int geometry, int setting)
{
    static const int own[TASKS] = {1, 2, 6}; /* the best geometry of each task */
    return 10 + (geometry - own[task]) * (geometry - own[task]) + abs(setting - geometry);
}

static int rounds_seen;

/* After the first round each geometry once, fixed for all. */
static bool next_round(const MerWhole *rounds, int done, MerRound *round, MerArena *arena)
{
    rounds_seen = done;
    assert_int_equal(rounds[done - 1].count, TASKS);
    assert_non_null(rounds[done - 1].parts[0].plan);
    MerFixedKnob *fixed = MER_NEW(arena, MerFixedKnob);
    *fixed = (MerFixedKnob){"geometry", done - 1, NULL};
    *round = (MerRound){
        .name = mer_arena_format(arena, "geometry %d", done - 1), .fixed_count = 1, .fixed = fixed};
    return done <= GEOMETRIES;
}

/* The geometry with the least sum, for all tasks; the first round has mixed ones. */
static void pick_rounds(const MerWhole *rounds, int done, int *pick)
{
    double least = INFINITY;
    for (int r = 1; r < done; r++) {
        double sum = 0;
        for (int t = 0; t < TASKS; t++) {
            const Plan *plan = rounds[r].parts[t].plan->content;
            assert_int_equal(plan->geometry, r - 1);
            sum += rounds[r].parts[t].cost->value[MER_METRIC_CYCLES];
        }
        for (int t = 0; sum < least && t < TASKS; t++) {
            pick[t] = r;
        }
        least = fmin(least, sum);
    }
}

static const MerProblemClass problem_shared = {.name = "shared",
                                               .summary = "one geometry",
                                               .objective = "cycles",
                                               .budget = 200,
                                               .platforms = ~0u,
                                               .plans = kinds,
                                               .open = open_shared,
                                               .decode = decode,
                                               .bound = bound,
                                               .tasks = list_tasks,
                                               .rounds = 20,
                                               .next_round = next_round,
                                               .pick_rounds = pick_rounds};

static MerStatus open_cost(void *state, const MerProblem *problem, const void *options,
                           MerArena *arena, MerError *error)
{
    (void)state, (void)problem, (void)options, (void)arena, (void)error;
    return MER_OK;
}

static void price(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    (void)state, (void)call;
    const Plan *content = plan->content;
    mer_cost_clear(cost);
    cost->value[MER_METRIC_CYCLES] = cycles_of(content->task, content->geometry, content->setting);
    cost->value[MER_METRIC_ENERGY] = 1 + content->geometry;
}

static const MerEvaluatorClass evaluator_cost = {.name = "cost",
                                                 .summary = "cost",
                                                 .plans = kinds,
                                                 .metrics = UINT64_C(1) << MER_METRIC_CYCLES |
                                                            UINT64_C(1) << MER_METRIC_ENERGY,
                                                 .open = open_cost,
                                                 .evaluate = price};

static MerRunResult run_shared(const MerProblemClass *problem, const char *folder, bool resume,
                               MerArena *arena)
{
    MerRunSpec   spec = {.name = "shared",
                         .problem = problem,
                         .evaluator = &evaluator_cost,
                         .optimizer = mer_optimizer_find("random", NULL),
                         .seed = 1,
                         .budget = 400,
                         .directory = folder,
                         .resume = resume};
    MerRunResult result;
    MerError     error = {0};
    if (mer_run(&spec, NULL, arena, &result, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return result;
}

static void test_all_tasks_take_the_geometry_that_is_best_for_the_sum(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    MerRunResult result = run_shared(&problem_shared, "shared", false, arena);
    assert_int_equal(rounds_seen, GEOMETRIES + 1);
    double least = INFINITY;
    int    best = 0;
    for (int g = 0; g < GEOMETRIES; g++) {
        double sum = cycles_of(0, g, g) + cycles_of(1, g, g) + cycles_of(2, g, g);
        best = sum < least ? g : best;
        least = fmin(least, sum);
    }
    for (int t = 0; t < TASKS; t++) {
        assert_int_equal(result.tasks[t].point[0], best);
        assert_int_equal(result.tasks[t].trials, 400 * (GEOMETRIES + 1));
        assert_true(result.tasks[t].value == result.tasks[t].best.value[MER_METRIC_CYCLES]);
    }
    assert_true(result.total.value == least);
    mer_test_contains(file_text("shared", "run.jsonl", arena), "\"name\":\"geometry 3\"");
    mer_arena_free(arena);
}

static void test_a_cut_log_of_several_rounds_goes_on_to_the_same_bytes(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    run_shared(&problem_shared, "whole", false, arena);
    run_shared(&problem_shared, "cut", false, arena);
    char *whole = file_text("whole", "run.jsonl", arena);
    FILE *file = fopen("cut/run.jsonl", "w");
    fwrite(whole, 1, strlen(whole) * 2 / 3, file);
    fclose(file);
    run_shared(&problem_shared, "cut", true, arena);
    assert_string_equal(file_text("cut", "run.jsonl", arena), whole);
    mer_arena_free(arena);
}

/* Another objective in the second round, and no choice of its own: every task takes what is best for the run. */
static bool ask_for_energy(const MerWhole *rounds, int done, MerRound *round, MerArena *arena)
{
    (void)rounds, (void)arena;
    *round = (MerRound){.name = "energy", .objective = "energy"};
    return done == 1;
}

static void test_without_a_pick_the_best_by_the_runs_objective_stays(void **state)
{
    (void)state;
    MerArena       *arena = mer_arena_new();
    MerProblemClass problem = problem_shared;
    problem.next_round = ask_for_energy;
    problem.pick_rounds = NULL;
    MerRunResult result = run_shared(&problem, "energy", false, arena);
    for (int t = 0; t < TASKS; t++) {
        assert_true(result.tasks[t].value == 10);
        assert_int_equal(result.tasks[t].trials, 800);
    }
    mer_test_contains(file_text("energy", "run.jsonl", arena), "\"objective\":\"energy\"");
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_tasks_take_the_geometry_that_is_best_for_the_sum),
        cmocka_unit_test(test_a_cut_log_of_several_rounds_goes_on_to_the_same_bytes),
        cmocka_unit_test(test_without_a_pick_the_best_by_the_runs_objective_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
