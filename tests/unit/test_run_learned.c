/* Learning optimizers stopped anywhere in a run of two layers and resumed: from their saved states,
 * or, where there is none yet, by asking again. Either way the log is the same. */
#include "run_support.h"
#include "support.h"

#include <limits.h>

enum { BUDGET = 120 };

static MerGraph *two_layers(MerArena *arena)
{
    MerGraph *graph = mer_graph_new("layers", arena);
    for (int i = 0; i < 2; i++) {
        MerOp op = mer_op_make(i == 0 ? "first" : "second", "test", MER_OP_CONV);
        op.dims[MER_DIM_K] = 16 << i;
        op.dims[MER_DIM_C] = 8;
        op.dims[MER_DIM_Y] = op.dims[MER_DIM_X] = 14;
        op.dims[MER_DIM_R] = op.dims[MER_DIM_S] = 3;
        mer_graph_add_op(graph, &op);
    }
    assert_int_equal(mer_graph_finish(graph, NULL), MER_OK);
    return graph;
}

static MerRunSpec spec_of(const char *reference, MerArena *arena)
{
    MerRunSpec spec = spec_from("map", "loopnest", reference, two_layers(arena), "s256", arena);
    spec.seed = 5;
    spec.budget = BUDGET;
    spec.directory = new_folder(arena);
    spec.checkpoint_s = 1e-9;
    return spec;
}

/* Whether a state was saved for the first layer. */
static bool has_state(const MerRunSpec *spec)
{
    char path[512];
    snprintf(path, sizeof path, "%s/state-0.bin", spec->directory);
    return access(path, R_OK) == 0;
}

static void expect_same_log(const char *reference, bool is_saved)
{
    MerArena  *arena = mer_arena_new();
    MerRunSpec whole = spec_of(reference, arena);
    Countdown  most = {INT_MAX};
    int        saved = 0, stopped = 0;
    run_or_fail(&whole, &(MerRunHooks){.state = &most, .is_cancelled = count_down}, arena);
    const char *wanted = file_text(whole.directory, "run.jsonl", arena);
    for (int part = 1; part < 8; part++) {
        int          looks = (int)((int64_t)(INT_MAX - most.left) * part / 8);
        MerRunSpec   spec = spec_of(reference, arena);
        MerRunHooks  hooks = {.state = &(Countdown){looks}, .is_cancelled = count_down};
        MerRunResult result = run_or_fail(&spec, &hooks, arena);
        stopped += strcmp(result.total.stopped, "interrupted") == 0; /* looks depend on the clock */
        saved += has_state(&spec);
        spec.resume = true;
        run_or_fail(&spec, NULL, arena);
        if (strcmp(wanted, file_text(spec.directory, "run.jsonl", arena)) != 0) {
            fail_msg("%s, stopped after %d looks: the resumed log differs", reference, looks);
        }
        remove_folder(spec.directory);
    }
    assert_true(stopped > 0);
    assert_int_equal(saved > 0, is_saved);
    remove_folder(whole.directory);
    mer_arena_free(arena);
}

static void test_saved_states_resume_to_the_same_log(void **state)
{
    (void)state;
    expect_same_log("marl", true);
    expect_same_log("marl:samples=40,recluster=30", true);
    expect_same_log("marl:preset=paper", true);
    expect_same_log("marl:heads=joint", true);
    expect_same_log("ppo:heads=ordered", true);
    expect_same_log("ppo", true);
    expect_same_log("ppo:transfer=0.5", true);
}

static void test_a_search_that_cannot_be_saved_yet_is_asked_again(void **state)
{
    (void)state;
    expect_same_log("marl:preset=paper,initial=annealing,samples=120", false);
    expect_same_log("annealing:transfer=24", false);
}

/* The log decides: a state that is ahead of it is left aside and the log replayed. */
static void test_a_log_cut_short_of_its_state_is_replayed(void **state)
{
    (void)state;
    MerArena  *arena = mer_arena_new();
    MerRunSpec spec = spec_of("ppo", arena);
    run_or_fail(&spec, NULL, arena);
    const char *wanted = file_text(spec.directory, "run.jsonl", arena);
    MerRunSpec  cut = spec_of("ppo", arena);
    Countdown   looks = {40};
    run_or_fail(&cut, &(MerRunHooks){.state = &looks, .is_cancelled = count_down}, arena);
    const char *begun = file_text(cut.directory, "run.jsonl", arena);
    assert_true(has_state(&cut));
    cut_file(cut.directory, "run.jsonl", (long)strlen(begun) / 2);
    cut.resume = true;
    run_or_fail(&cut, NULL, arena);
    assert_string_equal(file_text(cut.directory, "run.jsonl", arena), wanted);
    remove_folder(spec.directory);
    remove_folder(cut.directory);
    mer_arena_free(arena);
}

/* Stopped after some looks; what the state was changed to makes no difference to the resumed log. */
static void expect_same_log_after(const MerRunSpec *stopped, const char *log, const char *state,
                                  size_t size, const char *wanted, MerArena *arena)
{
    MerRunSpec spec = *stopped;
    spec.resume = true;
    write_text(mer_arena_format(arena, "%s/run.jsonl", spec.directory), log);
    write_bytes(mer_arena_format(arena, "%s/state-0.bin", spec.directory), state, size);
    run_or_fail(&spec, NULL, arena);
    assert_string_equal(file_text(spec.directory, "run.jsonl", arena), wanted);
}

static void test_a_damaged_state_is_left_aside(void **state)
{
    (void)state;
    MerArena  *arena = mer_arena_new();
    MerRunSpec whole = spec_of("ppo", arena), stopped = spec_of("ppo", arena);
    Countdown  looks = {40};
    size_t     size;
    run_or_fail(&whole, NULL, arena);
    run_or_fail(&stopped, &(MerRunHooks){.state = &looks, .is_cancelled = count_down}, arena);
    const char *wanted = file_text(whole.directory, "run.jsonl", arena);
    const char *log = file_text(stopped.directory, "run.jsonl", arena);
    char       *kept = file_bytes(stopped.directory, "state-0.bin", &size, arena);
    expect_same_log_after(&stopped, log, kept, size, wanted, arena);
    expect_same_log_after(&stopped, log, kept, size / 2, wanted, arena);
    for (size_t i = 0; i < size; i += size / 30) {
        kept[i] = (char)(kept[i] ^ 1 << i % 8);
        expect_same_log_after(&stopped, log, kept, size, wanted, arena);
        kept[i] = (char)(kept[i] ^ 1 << i % 8);
    }
    remove_folder(whole.directory);
    remove_folder(stopped.directory);
    mer_arena_free(arena);
}

typedef struct Second {
    const MerRunSpec *spec;
    int               tried;
} Second;

/* Another run on the same folder, once there is a state. */
static void run_again(void *state, const MerRunProgress *progress)
{
    Second *second = state;
    (void)progress;
    if (second->tried < 3 && has_state(second->spec)) {
        MerArena    *arena = mer_arena_new();
        MerRunSpec   spec = *second->spec;
        MerRunResult result;
        MerError     error = {0};
        spec.resume = true;
        assert_int_equal(mer_run(&spec, NULL, arena, &result, &error), MER_IO);
        assert_non_null(strstr(error.message, "another run is writing this log"));
        mer_arena_free(arena);
        second->tried++;
    }
}

static void test_a_log_in_use_is_refused_after_states_were_saved(void **state)
{
    (void)state;
    MerArena   *arena = mer_arena_new();
    MerRunSpec  spec = spec_of("ppo", arena);
    Second      second = {&spec, 0};
    MerRunHooks hooks = {.state = &second, .progress = run_again};
    run_or_fail(&spec, &hooks, arena);
    assert_int_equal(second.tried, 3);
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saved_states_resume_to_the_same_log),
        cmocka_unit_test(test_a_search_that_cannot_be_saved_yet_is_asked_again),
        cmocka_unit_test(test_a_log_cut_short_of_its_state_is_replayed),
        cmocka_unit_test(test_a_damaged_state_is_left_aside),
        cmocka_unit_test(test_a_log_in_use_is_refused_after_states_were_saved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
