/* What every schedule owes its users: points and plans round trip, evaluations do not depend on how they were
 * made, bounds hold, more bandwidth is never slower, equal cores are equal, and every optimizer keeps its
 * promises on this problem too. */
#include "one_arena.h"
#include "schedule_support.h"

#include "mercator/json.h"
#include "mercator/yaml.h"

static void open_small(const char *name, const char *platform, const char *problem,
                       const char *evaluator, OpenedSchedule *opened)
{
    open_schedule_case(graph_named(name, arena), platform_named(platform, arena), problem,
                       evaluator, arena, opened);
}

static void random_plan(const OpenedSchedule *opened, MerRng *rng, MerIndex *point, MerPlan *plan)
{
    mer_space_sample(&opened->problem.space, rng, point);
    opened->problem.type->decode(&opened->problem, point, plan, arena);
}

static MerIndex *new_point(const OpenedSchedule *opened)
{
    return MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1);
}

static void assert_same_bits(const MerCost *a, const MerCost *b)
{
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        assert_true(a->value[m] == b->value[m] || (isnan(a->value[m]) && isnan(b->value[m])));
    }
}

static const char *const platforms[] = {"s1", "s2", "s5", "s6"};

static void test_encode_and_plan_files_give_the_same_cost(void **state)
{
    (void)state;
    for (int p = 0; p < 4; p++) {
        OpenedSchedule opened;
        MerRng         rng = mer_rng_make(1, (uint64_t)p);
        open_small("synthetic:60:3", platforms[p], "schedule:bandwidth=4", "bandwidth", &opened);
        MerIndex *point = new_point(&opened);
        for (int i = 0; i < 20; i++) {
            MerPlan  plan, again;
            MerJson  json = {0};
            MerYaml *body;
            MerError error = {0};
            random_plan(&opened, &rng, point, &plan);
            MerCost cost = price_schedule(&opened, &plan, arena);
            assert_true(opened.problem.type->encode(&opened.problem, &plan, point));
            opened.problem.type->decode(&opened.problem, point, &again, arena);
            assert_int_equal(mer_plan_hash(&plan), mer_plan_hash(&again));
            mer_json_object(&json, NULL);
            opened.problem.plan->write(&opened.problem, &plan, &json);
            mer_json_end_object(&json);
            assert_int_equal(mer_yaml_parse("plan", json.text, json.size, arena, &body, &error),
                             MER_OK);
            assert_int_equal(
                opened.problem.plan->read(&opened.problem, body, &again, arena, &error), MER_OK);
            MerCost other = price_schedule(&opened, &again, arena);
            assert_same_bits(&cost, &other);
            mer_json_free(&json);
        }
    }
}

/* A chain of local moves, each priced from the snapshot of the one before, against a full evaluation. */
static void test_moves_priced_from_a_snapshot_have_the_same_bits(void **state)
{
    (void)state;
    for (int p = 0; p < 4; p++) {
        OpenedSchedule opened;
        MerRng         rng = mer_rng_make(2, (uint64_t)p);
        open_small("synthetic:80:5", platforms[p], "schedule:bandwidth=2", "bandwidth", &opened);
        MerIndex   *point = new_point(&opened);
        size_t      size = opened.evaluator.type->snapshot_size(opened.evaluator.state);
        void       *snapshots[2] = {mer_arena_alloc(arena, size), mer_arena_alloc(arena, size)};
        const void *base = NULL;
        mer_space_sample(&opened.problem.space, &rng, point);
        for (int i = 0; i < 300; i++) {
            MerPlan plan;
            MerCost cost;
            MerCall call = {.scratch = arena,
                            .limit = INFINITY,
                            .limit_metric = MER_METRIC_COUNT,
                            .base = base,
                            .snapshot = snapshots[i % 2]};
            mer_space_step(&opened.problem.space, &rng,
                           mer_rng_below(&rng, opened.problem.space.knob_count), point);
            opened.problem.type->decode(&opened.problem, point, &plan, arena);
            opened.evaluator.type->evaluate(opened.evaluator.state, &plan, &call, &cost);
            MerCost full = price_schedule(&opened, &plan, arena);
            assert_same_bits(&cost, &full);
            base = snapshots[i % 2];
        }
    }
}

/* A cut answer is a lower bound above the limit; below the limit nothing is cut. */
static void test_a_limit_cuts_only_what_is_above_it(void **state)
{
    (void)state;
    OpenedSchedule opened;
    MerRng         rng = mer_rng_make(3, 0);
    open_small("synthetic:80:5", "s2", "schedule:bandwidth=2", "bandwidth", &opened);
    MerIndex *point = new_point(&opened);
    int       cuts = 0;
    for (int i = 0; i < 100; i++) {
        MerPlan plan;
        MerCost cut;
        random_plan(&opened, &rng, point, &plan);
        MerCost full = price_schedule(&opened, &plan, arena);
        double  cycles = full.value[MER_METRIC_CYCLES];
        double  limit = cycles * (0.8 + 0.4 * mer_rng_unit(&rng));
        MerCall call = {.scratch = arena, .limit = limit, .limit_metric = MER_METRIC_CYCLES};
        opened.evaluator.type->evaluate(opened.evaluator.state, &plan, &call, &cut);
        assert_int_equal(cut.cut, cycles > limit);
        assert_true(cut.value[MER_METRIC_CYCLES] <= cycles);
        cuts += cut.cut;
    }
    assert_in_range(cuts, 10, 90);
}

static void test_plain_and_extended_loops_have_the_same_bits(void **state)
{
    (void)state;
    for (int p = 0; p < 4; p++) {
        OpenedSchedule plain, extended;
        MerRng         rng = mer_rng_make(4, (uint64_t)p);
        open_small("synthetic:90:7", platforms[p], "schedule:bandwidth=3", "bandwidth", &plain);
        open_small("synthetic:90:7", platforms[p], "schedule:bandwidth=3",
                   "bandwidth:loop=extended", &extended);
        MerIndex *point = new_point(&plain);
        for (int i = 0; i < 50; i++) {
            MerPlan plan;
            random_plan(&plain, &rng, point, &plan);
            MerCost a = price_schedule(&plain, &plan, arena);
            MerCost b = price_schedule(&extended, &plan, arena);
            assert_true(a.value[MER_METRIC_CYCLES] == b.value[MER_METRIC_CYCLES]);
            assert_true(a.value[MER_METRIC_BANDWIDTH_USE] == b.value[MER_METRIC_BANDWIDTH_USE]);
            assert_true(a.value[MER_METRIC_UTILISATION] == b.value[MER_METRIC_UTILISATION]);
        }
    }
}

static void test_more_bandwidth_is_never_slower_and_no_core_beats_its_load(void **state)
{
    (void)state;
    static const double bandwidths[] = {0.5, 1, 3, 10, 100, 1e6};
    MerRng              rng = mer_rng_make(5, 0);
    double              last[20];
    for (int b = 0; b < 6; b++) {
        OpenedSchedule opened;
        MerRng         same = rng;
        open_small("synthetic:50:9", "s2",
                   mer_arena_format(arena, "schedule:bandwidth=%g", bandwidths[b]), "bandwidth",
                   &opened);
        MerIndex *point = new_point(&opened);
        for (int i = 0; i < 20; i++) {
            MerPlan plan;
            random_plan(&opened, &same, point, &plan);
            double cycles = price_schedule(&opened, &plan, arena).value[MER_METRIC_CYCLES];
            assert_true(b == 0 || cycles <= last[i] * (1 + 1e-12));
            last[i] = cycles;
            const MerJobsPlan *jobs = mer_jobs_plan(&plan);
            for (int u = 0; u < jobs->unit_count; u++) {
                double load = 0;
                for (int k = jobs->start[u]; k < jobs->start[u + 1]; k++) {
                    load += opened.schedule->latency[jobs->queue[k] * jobs->unit_count + u];
                }
                assert_true(cycles >= load * (1 - 1e-12));
            }
        }
    }
}

static void test_equal_cores_may_exchange_their_queues(void **state)
{
    (void)state;
    OpenedSchedule opened;
    MerRng         rng = mer_rng_make(6, 0);
    open_small("synthetic:60:2", "s5", "schedule:bandwidth=2", "bandwidth", &opened);
    MerIndex *point = new_point(&opened);
    for (int i = 0; i < 50; i++) {
        MerPlan plan;
        random_plan(&opened, &rng, point, &plan);
        double before = price_schedule(&opened, &plan, arena).value[MER_METRIC_CYCLES];
        opened.problem.type->canonical(&opened.problem, &plan);
        double   after = price_schedule(&opened, &plan, arena).value[MER_METRIC_CYCLES];
        uint64_t hash = mer_plan_hash(&plan);
        opened.problem.type->canonical(&opened.problem, &plan);
        assert_int_equal(hash, mer_plan_hash(&plan));
        assert_true(fabs(after / before - 1) < 1e-12);
    }
}

static void test_no_random_plan_beats_a_bound(void **state)
{
    (void)state;
    static const char *const evaluators[] = {"bandwidth", "bandwidth:share=maxmin",
                                             "bandwidth:share=even", "bandwidth:switch_cycles=100",
                                             "bandwidth:dispatch=strict"};
    static const char *const loads[] = {"synthetic:12:4", "resnet18"};
    static const MerMetric   metrics[] = {MER_METRIC_CYCLES, MER_METRIC_ENERGY, MER_METRIC_EDP};
    for (int e = 0; e < 5; e++) {
        for (int w = 0; w < 2; w++) {
            OpenedSchedule opened;
            MerRng         rng = mer_rng_make(7, (uint64_t)e);
            open_small(loads[w], "s2", "schedule:bandwidth=1", evaluators[e], &opened);
            MerIndex *point = new_point(&opened);
            for (int i = 0; i < 60; i++) {
                MerPlan plan;
                random_plan(&opened, &rng, point, &plan);
                MerCost cost = price_schedule(&opened, &plan, arena);
                for (int m = 0; cost.feasible && m < 3; m++) {
                    MerBound bound = schedule_bound(&opened, metrics[m]);
                    assert_true(cost.value[metrics[m]] >= bound.value * (1 - 1e-12));
                }
            }
        }
    }
}

static MerRunSpec small_run(const MerOptimizerClass *optimizer)
{
    return (MerRunSpec){
        .name = "jobs",
        .problem = mer_problem_find("schedule", NULL),
        .graph = graph_named("synthetic:18:1", arena),
        .platform = platform_named("s2", arena),
        .evaluator = mer_evaluator_find("bandwidth", NULL),
        .optimizer = optimizer,
        .objective = "cycles",
        .seed = 3,
        .budget = 250,
        .threads = 1,
        .batch = 64,
        .directory = new_folder(arena),
    };
}

static bool fits(const MerOptimizerClass *optimizer)
{
    return !optimizer->tables && !optimizer->needs_model &&
           (!optimizer->problem || strcmp(optimizer->problem, "schedule") == 0);
}

static void test_every_optimizer_gives_one_log_on_any_threads_and_above_the_bound(void **state)
{
    (void)state;
    for (const MerOptimizerClass *const *list = mer_optimizers(); *list; list++) {
        if (!fits(*list)) {
            continue;
        }
        MerRunSpec           spec = small_run(*list);
        MerRunResult         result = run_or_fail(&spec, NULL, arena);
        const MerTaskResult *task = &result.tasks[0];
        const char          *one = file_text(spec.directory, "run.jsonl", arena);
        assert_true(task->trials <= 250);
        if (!(task->value >= task->bound.value * (1 - 1e-12))) {
            fail_msg("%s: %.17g is below the bound %.17g", (*list)->name, task->value,
                     task->bound.value);
        }
        spec.threads = 2;
        run_or_fail(&spec, NULL, arena);
        if (strcmp(one, file_text(spec.directory, "run.jsonl", arena)) != 0) {
            fail_msg("%s: the log depends on the number of threads", (*list)->name);
        }
        spec.resume = true;
        cut_file(spec.directory, "run.jsonl", (long)strlen(one) / 2);
        run_or_fail(&spec, NULL, arena);
        assert_string_equal(one, file_text(spec.directory, "run.jsonl", arena));
        remove_folder(spec.directory);
    }
}

/* On small groups branch and bound proves the optimum; bounds are below it and searches not. */
static void test_small_optima_lie_between_bound_and_every_search(void **state)
{
    (void)state;
    static const char *const rivals[] = {"list_annealing", "magma", "lpt", "lp_round", "random"};
    for (int seed = 1; seed <= 6; seed++) {
        MerRunSpec  spec = small_run(mer_optimizer_find("exact_schedule", NULL));
        const char *text = mer_arena_format(arena, "schedule:bandwidth=%d", seed % 2 ? 2000 : 4);
        spec.graph = graph_named(mer_arena_format(arena, "synthetic:7:%d", seed), arena);
        spec.problem_options =
            options_from(text, spec.problem->options, spec.problem->options_size, arena);
        MerTaskResult  exact = run_or_fail(&spec, NULL, arena).tasks[0];
        OpenedSchedule opened;
        MerBound       bound;
        open_schedule_case(spec.graph, spec.platform, text, "bandwidth", arena, &opened);
        bound = schedule_bound(&opened, MER_METRIC_CYCLES);
        assert_true(exact.is_proven);
        assert_true(bound.value <= exact.value * (1 + 1e-12));
        for (int r = 0; r < 5; r++) {
            spec.optimizer = mer_optimizer_find(rivals[r], NULL);
            spec.budget = 3000;
            double value = run_or_fail(&spec, NULL, arena).tasks[0].value;
            assert_true(value >= exact.value * (1 - 1e-12));
            if (r == 0) {
                assert_true(value <= exact.value * 1.02);
            }
        }
        remove_folder(spec.directory);
    }
}

static double annealed(const MerGraph *graph, const char *problem, const char *optimizer,
                       const char *objective, int64_t budget)
{
    MerRunSpec spec = spec_from(problem, "bandwidth", optimizer, graph, "s1", arena);
    spec.objective = objective;
    spec.budget = budget;
    return run_or_fail(&spec, NULL, arena).tasks[0].value;
}

/* Names of equal cores do not matter, so neither does who may exchange them. */
static void test_annealing_is_as_good_with_symmetry(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 3; seed++) {
        MerGraph *graph = graph_named(mer_arena_format(arena, "synthetic:60:%d", seed), arena);
        double plain = annealed(graph, "schedule:bandwidth=16", "list_annealing", "cycles", 5000);
        double symmetric = annealed(graph, "schedule:bandwidth=16,symmetry=true", "list_annealing",
                                    "cycles", 5000);
        if (!(symmetric <= plain * 1.002)) {
            fail_msg("seed %d: %.17g with symmetry, %.17g without", seed, symmetric, plain);
        }
    }
}

/* Equal layers of two tenants, of whom the one that comes last in the file weighs more. */
static void test_annealing_exchanges_equal_layers_of_different_tenants(void **state)
{
    (void)state;
    char   text[2000] = "format: mercator-jobs/1\njobs:\n";
    size_t used = strlen(text);
    for (int j = 0; j < 8; j++) {
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  - {name: j%d, op: gemm, dims: [64, 64, 64], tenant: %s, "
                                 "weight: %d}\n",
                                 j, j < 4 ? "light" : "heavy", j < 4 ? 1 : 9);
    }
    write_text("tenants.yaml", text);
    MerGraph *graph = graph_named("tenants.yaml", arena);
    double    first =
        annealed(graph, "schedule", "list_annealing:swap=1", "weighted_antt", 3); /* the starts */
    double last = annealed(graph, "schedule", "list_annealing:swap=1", "weighted_antt", 500);
    assert_true(last < first * 0.99);
}

static void test_solvers_of_schedule_refuse_other_problems(void **state)
{
    (void)state;
    for (const MerOptimizerClass *const *list = mer_optimizers(); *list; list++) {
        if (!(*list)->problem || strcmp((*list)->problem, "schedule") != 0) {
            continue;
        }
        MerRunSpec   spec = {.name = "layer",
                             .problem = mer_problem_find("map", NULL),
                             .graph = one_layer_graph(4, 4, 4, 4, 1, 1, arena),
                             .platform = platform_named("s256", arena),
                             .evaluator = mer_evaluator_find("loopnest", NULL),
                             .optimizer = *list,
                             .budget = 10,
                             .threads = 1};
        MerRunResult result;
        MerError     error = {0};
        assert_int_equal(mer_run(&spec, NULL, arena, &result, &error), MER_UNSUPPORTED);
        assert_non_null(strstr(error.message, "schedule"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode_and_plan_files_give_the_same_cost),
        cmocka_unit_test(test_moves_priced_from_a_snapshot_have_the_same_bits),
        cmocka_unit_test(test_a_limit_cuts_only_what_is_above_it),
        cmocka_unit_test(test_plain_and_extended_loops_have_the_same_bits),
        cmocka_unit_test(test_more_bandwidth_is_never_slower_and_no_core_beats_its_load),
        cmocka_unit_test(test_equal_cores_may_exchange_their_queues),
        cmocka_unit_test(test_no_random_plan_beats_a_bound),
        cmocka_unit_test(test_every_optimizer_gives_one_log_on_any_threads_and_above_the_bound),
        cmocka_unit_test(test_small_optima_lie_between_bound_and_every_search),
        cmocka_unit_test(test_annealing_is_as_good_with_symmetry),
        cmocka_unit_test(test_annealing_exchanges_equal_layers_of_different_tenants),
        cmocka_unit_test(test_solvers_of_schedule_refuse_other_problems),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
