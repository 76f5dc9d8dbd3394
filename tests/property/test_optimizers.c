/* What every registered optimizer owes its users, whatever it does inside. */
#include "one_arena.h"
#include "run_support.h"

#include <math.h>

/* The next optimizer from `list` on that can work on the small problem, or the end of the list. */
static const MerOptimizerClass *const *first_fit(const MerOptimizerClass *const *list)
{
    while (*list && ((*list)->tables || (*list)->needs_model ||
                     ((*list)->problem && strcmp((*list)->problem, "map") != 0))) {
        list++;
    }
    return list;
}

/* Those that fit boosted trees take their time over every point. */
static int64_t at_most(const MerOptimizerClass *optimizer, int64_t budget, int64_t costly)
{
    static const char *const names[] = {"autotvm", "chameleon", "dcoc"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(optimizer->name, names[i]) == 0) {
            return costly;
        }
    }
    return budget;
}

static MerRunSpec small_spec(const MerOptimizerClass *optimizer)
{
    return (MerRunSpec){
        .name = "small",
        .problem = mer_problem_find("map", NULL),
        .graph = one_layer_graph(12, 8, 7, 6, 3, 3, arena),
        .platform = platform_named("s256", arena),
        .evaluator = mer_evaluator_find("loopnest", NULL),
        .optimizer = optimizer,
        .objective = "edp",
        .seed = 7,
        .budget = at_most(optimizer, 600, 150),
        .threads = 1,
        .batch = 64,
        .directory = new_folder(arena),
    };
}

static void test_one_and_two_threads_write_the_same_log(void **state)
{
    (void)state;
    for (const MerOptimizerClass *const *list = first_fit(mer_optimizers()); *list;
         list = first_fit(list + 1)) {
        MerRunSpec spec = small_spec(*list);
        run_or_fail(&spec, NULL, arena);
        const char *one = file_text(spec.directory, "run.jsonl", arena);
        spec.threads = 2;
        run_or_fail(&spec, NULL, arena);
        if (strcmp(one, file_text(spec.directory, "run.jsonl", arena)) != 0) {
            fail_msg("%s: the log depends on the number of threads", (*list)->name);
        }
        remove_folder(spec.directory);
    }
}

static void test_another_seed_is_another_search(void **state)
{
    (void)state;
    for (const MerOptimizerClass *const *list = first_fit(mer_optimizers()); *list;
         list = first_fit(list + 1)) {
        if ((*list)->open_problem) {
            continue; /* a solver may have no use for chance */
        }
        MerRunSpec spec = small_spec(*list);
        run_or_fail(&spec, NULL, arena);
        const char *one = strchr(file_text(spec.directory, "run.jsonl", arena), '\n');
        spec.seed = 8;
        run_or_fail(&spec, NULL, arena);
        const char *other = strchr(file_text(spec.directory, "run.jsonl", arena), '\n');
        if (strcmp(one, other) == 0) {
            fail_msg("%s: seeds 7 and 8 give the same trials", (*list)->name);
        }
        remove_folder(spec.directory);
    }
}

static void test_budget_is_respected(void **state)
{
    (void)state;
    static const int64_t budgets[] = {1, 2, 63, 64, 65, 333};
    for (const MerOptimizerClass *const *list = first_fit(mer_optimizers()); *list;
         list = first_fit(list + 1)) {
        for (size_t b = 0; b < sizeof budgets / sizeof budgets[0]; b++) {
            MerRunSpec spec = small_spec(*list);
            spec.budget = at_most(*list, budgets[b], budgets[b] < 150 ? budgets[b] : 150);
            MerRunResult         result = run_or_fail(&spec, NULL, arena);
            const MerTaskResult *task = &result.tasks[0];
            bool                 is_kept = task->trials <= spec.budget;
            bool is_used = task->trials == spec.budget || strcmp(task->stopped, "budget") != 0;
            if (!is_kept || !is_used) {
                fail_msg("%s: %lld trials, budget %lld, stopped by %s", (*list)->name,
                         (long long)task->trials, (long long)spec.budget, task->stopped);
            }
            remove_folder(spec.directory);
        }
    }
}

/* A machine on which nothing fits: every trial has a reason, none is best. */
static void test_nothing_feasible_is_survived(void **state)
{
    (void)state;
    const char *text =
        "{format: mercator-platform/1, kind: pe-array, name: none, units: [{name: MAC, mac_pj: 1}],"
        " memories: [{name: DRAM, keep: [W, I, O]}, {name: GLB, words: 2, keep: [W, I, O]},"
        " {name: RF, words: 2, keep: [W, I, O]}]}";
    for (const MerOptimizerClass *const *list = first_fit(mer_optimizers()); *list;
         list = first_fit(list + 1)) {
        MerRunSpec spec = small_spec(*list);
        spec.platform = platform_from(text, arena);
        MerRunResult result = run_or_fail(&spec, NULL, arena);
        assert_false(result.is_feasible);
        assert_null(result.tasks[0].point);
        assert_int_equal(result.tasks[0].infeasible, result.tasks[0].trials);
        assert_true(result.tasks[0].trials == 0 || result.tasks[0].reason_count > 0);
        remove_folder(spec.directory);
    }
}

static void test_no_trial_beats_the_bound(void **state)
{
    (void)state;
    static const char *const objectives[] = {"edp", "energy", "cycles"};
    for (const MerOptimizerClass *const *list = first_fit(mer_optimizers()); *list;
         list = first_fit(list + 1)) {
        for (int o = 0; o < 3; o++) {
            MerRunSpec spec = small_spec(*list);
            spec.objective = objectives[o];
            spec.budget = at_most(*list, 2000, 150);
            MerRunResult         result = run_or_fail(&spec, NULL, arena);
            const MerTaskResult *task = &result.tasks[0];
            assert_non_null(task->point);
            if (!(task->value >= task->bound.value * (1 - 1e-12))) {
                fail_msg("%s found %s %.17g below the bound %.17g", (*list)->name, objectives[o],
                         task->value, task->bound.value);
            }
            remove_folder(spec.directory);
        }
    }
}

/* However the log was cut, a resumed run ends with the log of an uninterrupted one. */
static void test_resume_restores_the_log_byte_for_byte(void **state)
{
    (void)state;
    for (const MerOptimizerClass *const *list = first_fit(mer_optimizers()); *list;
         list = first_fit(list + 1)) {
        MerRunSpec spec = small_spec(*list);
        run_or_fail(&spec, NULL, arena);
        const char *whole = file_text(spec.directory, "run.jsonl", arena);
        long        size = (long)strlen(whole);
        MerRng      rng = mer_rng_make(3, 0);
        for (int cut = 0; cut < 8; cut++) {
            cut_file(spec.directory, "run.jsonl", cut == 0 ? size : mer_rng_below(&rng, (int)size));
            spec.resume = true;
            run_or_fail(&spec, NULL, arena);
            if (strcmp(whole, file_text(spec.directory, "run.jsonl", arena)) != 0) {
                fail_msg("%s: the resumed log differs", (*list)->name);
            }
        }
        remove_folder(spec.directory);
    }
}

static void test_resume_refuses_another_seed(void **state)
{
    (void)state;
    MerRunSpec   spec = small_spec(mer_optimizer_find("random", NULL));
    MerRunResult result;
    MerError     error = {0};
    run_or_fail(&spec, NULL, arena);
    spec.resume = true;
    spec.seed = 8;
    assert_int_equal(mer_run(&spec, NULL, arena, &result, &error), MER_INVALID);
    assert_non_null(strstr(error.message, "run.jsonl:1:"));
    remove_folder(spec.directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_and_two_threads_write_the_same_log),
        cmocka_unit_test(test_another_seed_is_another_search),
        cmocka_unit_test(test_budget_is_respected),
        cmocka_unit_test(test_nothing_feasible_is_survived),
        cmocka_unit_test(test_no_trial_beats_the_bound),
        cmocka_unit_test(test_resume_restores_the_log_byte_for_byte),
        cmocka_unit_test(test_resume_refuses_another_seed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
