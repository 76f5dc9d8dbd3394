/* Runs of an optimizer that trains: progress that counts its trainings, and logs that are the same after a stop anywhere, with a
 * front of trade-offs beside the objective. */
#include "mercator/import.h"
#include "run_support.h"
#include "support.h"

#include <limits.h>

static MerRunSpec spec_of(const char *optimizer, MerArena *arena)
{
    MerGraph *graph;
    assert_int_equal(mer_graph_import("resnet8@input=1x8x8", NULL, arena, &graph, NULL), MER_OK);
    MerRunSpec spec = spec_from(
        "split:dataset=digits8x8,samples=60,batch_size=20,warmup_epochs=1,training_seed=1",
        "split_train:finetune_epochs=1", optimizer, graph, "diana", arena);
    spec.objective = "latency";
    spec.budget = strcmp(optimizer, "random") == 0 ? 3 : 5000;
    spec.batch = 1;
    spec.directory = new_folder(arena);
    spec.checkpoint_s = 1e-9;
    spec.pareto_count = 2;
    spec.pareto[0] = MER_METRIC_TEST_ACCURACY;
    spec.pareto[1] = MER_METRIC_LATENCY;
    return spec;
}

static void note_progress(void *state, const MerRunProgress *progress)
{
    *(MerRunProgress *)state = *progress;
}

static const char odimo[] = "odimo:lambda=[0.1,1],search_epochs=3,gate=gumbel";

static void test_progress_counts_trainings_not_the_budget(void **state)
{
    (void)state;
    const char    *optimizer = odimo;
    MerArena      *arena = mer_arena_new();
    MerRunSpec     spec = spec_of(optimizer, arena);
    MerRunProgress last = {0};
    MerRunResult   result =
        run_or_fail(&spec, &(MerRunHooks){.state = &last, .progress = note_progress}, arena);
    assert_int_equal(last.trials, 2);
    assert_int_equal(last.budget, 2);
    assert_string_equal(result.total.stopped, "finished");
    remove_folder(spec.directory);
    mer_arena_free(arena);
}

static void expect_phase(const MerPhaseTimes *times, int p, const char *name, int epochs)
{
    const MerPhaseTime *phase = &times->phases[p];
    assert_string_equal(phase->name, name);
    assert_int_equal(phase->epochs, epochs);
    assert_true(phase->images == 60.0 * epochs);
    assert_true(phase->seconds > 0 && phase->cpu_s > 0);
    assert_true(phase->is_plain == (p == 0));
    assert_true(mer_phase_relative(times, p) > 0.05);
}

/* Warm-up, search and fine-tune, and the first is what the others are compared with; a run that goes on later has what was timed
 * before. */
static void test_phases_of_a_training_are_timed(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    MerRunSpec   spec = spec_of(odimo, arena);
    MerRunResult result = run_or_fail(&spec, NULL, arena);
    assert_int_equal(result.training.count, 3);
    expect_phase(&result.training, 0, "warmup", 1);
    expect_phase(&result.training, 1, "search", 6);
    expect_phase(&result.training, 2, "finetune", 2);
    assert_true(mer_phase_relative(&result.training, 0) == 1);
    assert_non_null(strstr(result.summary, "\"training\":[{\"phase\":\"warmup\",\"epochs\":1,"));
    spec.resume = true; /* nothing is left to do */
    result = run_or_fail(&spec, NULL, arena);
    expect_phase(&result.training, 0, "warmup", 1);
    expect_phase(&result.training, 1, "search", 6);
    expect_phase(&result.training, 2, "finetune", 2);
    remove_folder(spec.directory);
    mer_arena_free(arena);
}

static void expect_same_log(const char *optimizer)
{
    MerArena  *arena = mer_arena_new();
    MerRunSpec whole = spec_of(optimizer, arena);
    Countdown  most = {INT_MAX};
    int        stopped = 0;
    run_or_fail(&whole, &(MerRunHooks){.state = &most, .is_cancelled = count_down}, arena);
    const char *wanted = file_text(whole.directory, "run.jsonl", arena);
    for (int part = 1; part < 5; part++) {
        int          looks = (int)((int64_t)(INT_MAX - most.left) * part / 5);
        MerRunSpec   spec = spec_of(optimizer, arena);
        MerRunHooks  hooks = {.state = &(Countdown){looks}, .is_cancelled = count_down};
        MerRunResult result = run_or_fail(&spec, &hooks, arena);
        stopped += strcmp(result.total.stopped, "interrupted") == 0;
        spec.resume = true;
        run_or_fail(&spec, NULL, arena);
        assert_string_equal(wanted, file_text(spec.directory, "run.jsonl", arena));
        remove_folder(spec.directory);
    }
    assert_true(stopped > 0);
    assert_non_null(strstr(wanted, "\"front\":[{\"index\":"));
    remove_folder(whole.directory);
    mer_arena_free(arena);
}

static void test_a_stop_anywhere_leaves_no_trace(void **state)
{
    (void)state;
    expect_same_log(odimo);
    expect_same_log("odimo:lambda=[0.1,1],search_epochs=3,gradient=score:2");
    expect_same_log("random");
}

static bool ends_within_a_training(const char *log)
{
    const char *end = strstr(log, "{\"type\":\"end\""), *epoch = NULL;
    for (const char *next = log; end && (next = strstr(next, "{\"type\":\"epoch\"")) && next < end;
         next++) {
        epoch = next;
    }
    return epoch && strchr(epoch, '\n') + 1 == end;
}

/* Where the clock ends a training, a resumed run says the same: what was spent on it, too. With states of the training, and without. */
static void test_a_run_that_its_time_ended_resumes_to_the_same_log(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    MerRunSpec   spec = spec_of(odimo, arena);
    MerRunResult result = run_or_fail(&spec, NULL, arena);
    double       wall_s = result.wall_s;
    int          within = 0;
    for (int part = 1; part < 8; part++) {
        spec.resume = false;
        spec.time_s = wall_s * part / 8;
        spec.checkpoint_s = part % 2 ? 1e-9 : 1e9;
        run_or_fail(&spec, NULL, arena);
        const char *wanted = file_text(spec.directory, "run.jsonl", arena);
        spec.resume = true;
        run_or_fail(&spec, NULL, arena);
        assert_string_equal(wanted, file_text(spec.directory, "run.jsonl", arena));
        within += ends_within_a_training(wanted);
    }
    assert_true(within > 0);
    remove_folder(spec.directory);
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_counts_trainings_not_the_budget),
        cmocka_unit_test(test_phases_of_a_training_are_timed),
        cmocka_unit_test(test_a_stop_anywhere_leaves_no_trace),
        cmocka_unit_test(test_a_run_that_its_time_ended_resumes_to_the_same_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
