/* Long asks and evaluations: they can be cancelled, write their own log lines, count what they spend,
 * and save and restore their state. A toy trainer and a toy evaluator stand in for hours of work. */
#include "one_arena.h"
#include "run_support.h"

#include <math.h>
#include <unistd.h>

/* A problem with one knob whose point is its plan's first channel count. */
static MerStatus open_line(MerProblem *problem, MerArena *capacity, MerError *error)
{
    (void)error;
    MerKnob *knob = MER_NEW(capacity, MerKnob);
    *knob = (MerKnob){.name = "value",
                      .kind = MER_KNOB_ORDERED,
                      .role = MER_ROLE_SETTING,
                      .level = -1,
                      .dim = -1,
                      .op = -1,
                      .choices = 1000};
    problem->space = (MerSpace){.knob_count = 1, .knobs = knob};
    return MER_OK;
}

static uint64_t hash_line(const MerPlan *plan, uint64_t hash)
{
    return hash * 31 + (uint64_t) * (const int *)plan->content;
}

static const MerPlanKind        plan_line = {.name = "line", .hash = hash_line};
static const MerPlanKind *const plan_kinds[] = {&plan_line, NULL};

static void decode_line(const MerProblem *problem, const MerIndex *point, MerPlan *plan,
                        MerArena *capacity)
{
    (void)problem;
    int *value = MER_NEW(capacity, int);
    *value = point[0];
    *plan = (MerPlan){&plan_line, value};
}

static void bound_line(const MerProblem *problem, const void *rules, MerMetric metric,
                       MerBound *bound)
{
    (void)problem;
    (void)rules;
    (void)metric;
    *bound = (MerBound){NAN, "none", ""};
}

static const MerProblemClass problem_line = {.name = "line",
                                             .summary = "one knob",
                                             .objective = "cycles",
                                             .budget = 10,
                                             .platforms = ~0u,
                                             .plans = plan_kinds,
                                             .open = open_line,
                                             .decode = decode_line,
                                             .bound = bound_line};

/* Pricing takes three epochs, each logged and paid for. */
static MerStatus open_slow(void *state, const MerProblem *problem, const void *options,
                           MerArena *capacity, MerError *error)
{
    (void)state, (void)problem, (void)options, (void)capacity, (void)error;
    return MER_OK;
}

static void evaluate_slow(const void *state, const MerPlan *plan, const MerCall *call,
                          MerCost *cost)
{
    (void)state;
    int value = *(const int *)plan->content;
    mer_cost_clear(cost);
    for (int epoch = 0; epoch < 3; epoch++) {
        if (mer_is_cancelled(call->notes)) {
            return; /* half-trained: the run drops this trial */
        }
        char json[64];
        snprintf(json, sizeof json, "{\"loss\":%d}", value - epoch);
        mer_epoch(call->notes, "finetune", epoch, 3, json);
        mer_spend(call->notes, MER_SPENT_EPOCHS, 1);
        mer_spend(call->notes, MER_SPENT_IMAGES, 100);
    }
    cost->value[MER_METRIC_CYCLES] = 1 + fabs(value - 500.0);
}

static const MerEvaluatorClass evaluator_slow = {.name = "slow",
                                                 .summary = "three epochs per plan",
                                                 .plans = plan_kinds,
                                                 .metrics = UINT64_C(1) << MER_METRIC_CYCLES,
                                                 .open = open_slow,
                                                 .evaluate = evaluate_slow};

/* Each ask trains for five epochs of one random draw each and proposes their sum. */
enum { ASK_EPOCHS = 5 };

typedef struct Trainer {
    MerRng   *rng;
    MerNotes *notes;
    int       epoch, sum, asks, loads;
} Trainer;

static int loads_seen; /* how often a state was restored: the test's own window into the plug-in */

static MerStatus open_trainer(void *state, const MerSearch *search, const void *options,
                              MerError *error)
{
    (void)options;
    (void)error;
    *(Trainer *)state = (Trainer){.rng = search->rng, .notes = search->notes};
    return MER_OK;
}

static int ask_trainer(void *state, MerProposal *proposals, int capacity)
{
    Trainer *t = state;
    (void)capacity;
    while (t->epoch < ASK_EPOCHS) {
        if (mer_is_cancelled(t->notes)) {
            return 0;
        }
        char json[64];
        t->sum += mer_rng_below(t->rng, 190);
        snprintf(json, sizeof json, "{\"sum\":%d}", t->sum);
        mer_epoch(t->notes, "search", t->epoch++, ASK_EPOCHS, json);
        mer_spend(t->notes, MER_SPENT_EPOCHS, 1);
        mer_checkpoint(t->notes);
    }
    proposals[0].point[0] = t->sum;
    t->epoch = t->sum = 0;
    t->asks++;
    mer_note(t->notes, "asked", t->asks % 2 ? "[1]" : "[2]");
    return 1;
}

static void tell_trainer(void *state, const MerTrial *trials, int count)
{
    (void)state, (void)trials, (void)count;
}

static MerStatus save_trainer(const void *state, MerKeep what, FILE *file, MerError *error)
{
    (void)what;
    const Trainer *t = state;
    int            kept[3] = {t->epoch, t->sum, t->asks};
    return fwrite(kept, sizeof kept, 1, file) == 1 ? MER_OK
                                                   : mer_error_set(error, MER_IO, "cannot save");
}

static MerStatus load_trainer(void *state, MerKeep what, FILE *file, MerError *error)
{
    Trainer *t = state;
    int      kept[3];
    (void)what;
    if (fread(kept, sizeof kept, 1, file) != 1) {
        return mer_error_set(error, MER_INVALID, "the state is cut");
    }
    t->epoch = kept[0];
    t->sum = kept[1];
    t->asks = kept[2];
    loads_seen++;
    return MER_OK;
}

static const MerOptimizerClass optimizer_trainer = {.name = "trainer",
                                                    .summary = "long asks",
                                                    .reference = "none",
                                                    .state_size = sizeof(Trainer),
                                                    .open = open_trainer,
                                                    .ask = ask_trainer,
                                                    .tell = tell_trainer,
                                                    .save = save_trainer,
                                                    .load = load_trainer};

static const MerOptimizerClass optimizer_forgetful = {.name = "trainer",
                                                      .summary = "long asks",
                                                      .reference = "none",
                                                      .state_size = sizeof(Trainer),
                                                      .open = open_trainer,
                                                      .ask = ask_trainer,
                                                      .tell = tell_trainer};

static MerRunSpec long_spec(const MerOptimizerClass *optimizer)
{
    return (MerRunSpec){.name = "long",
                        .problem = &problem_line,
                        .graph = one_layer_graph(2, 2, 2, 2, 1, 1, arena),
                        .evaluator = &evaluator_slow,
                        .optimizer = optimizer,
                        .seed = 5,
                        .budget = 12,
                        .threads = 1,
                        .directory = new_folder(arena),
                        .checkpoint_s = 1e-9};
}

static void test_epochs_and_notes_stand_in_order_in_the_log(void **state)
{
    (void)state;
    MerRunSpec spec = long_spec(&optimizer_trainer);
    run_or_fail(&spec, NULL, arena);
    const char *log = file_text(spec.directory, "run.jsonl", arena);
    const char *search =
        strstr(log, "{\"type\":\"epoch\",\"index\":0,\"task\":0,\"phase\":\"search\",\"epoch\":4");
    const char *note = strstr(log, "{\"type\":\"note\",\"index\":0,\"task\":0,\"source\":"
                                   "\"trainer\",\"name\":\"asked\",\"value\":[1]}");
    const char *tune = strstr(
        log, "{\"type\":\"epoch\",\"index\":0,\"task\":0,\"phase\":\"finetune\",\"epoch\":2");
    const char *trial = strstr(log, "{\"type\":\"trial\",\"index\":0");
    assert_non_null(search);
    assert_true(search < note && note < tune && tune < trial);
    remove_folder(spec.directory);
}

static void test_spending_of_asks_and_evaluations_adds_up(void **state)
{
    (void)state;
    MerRunSpec   spec = long_spec(&optimizer_trainer);
    MerRunResult result = run_or_fail(&spec, NULL, arena);
    assert_true(result.tasks[0].spent[MER_SPENT_EPOCHS] == 12 * (ASK_EPOCHS + 3));
    assert_true(result.tasks[0].spent[MER_SPENT_IMAGES] == 12 * 3 * 100);
    assert_non_null(strstr(result.summary, "\"spent\":{\"epochs\":96,\"images\":3600}"));
    remove_folder(spec.directory);
}

/* Interrupted anywhere, inside an ask or inside an evaluation, and resumed: the same log. */
static void resume_after_interrupts(const MerOptimizerClass *optimizer, bool expect_loads)
{
    MerRunSpec whole_spec = long_spec(optimizer);
    run_or_fail(&whole_spec, NULL, arena);
    const char *whole = file_text(whole_spec.directory, "run.jsonl", arena);
    int         loads = loads_seen;
    for (int calls = 1; calls < 90; calls += 2) {
        MerRunSpec   spec = long_spec(optimizer);
        Countdown    countdown = {calls};
        MerRunHooks  hooks = {.state = &countdown, .is_cancelled = count_down};
        MerRunResult result = run_or_fail(&spec, &hooks, arena);
        assert_string_equal(result.total.stopped, "interrupted");
        spec.resume = true;
        result = run_or_fail(&spec, NULL, arena);
        if (strcmp(whole, file_text(spec.directory, "run.jsonl", arena)) != 0) {
            fail_msg("interrupted after %d looks: the resumed log differs", calls);
        }
        assert_true(result.tasks[0].spent[MER_SPENT_EPOCHS] == 12 * (ASK_EPOCHS + 3));
        remove_folder(spec.directory);
    }
    assert_int_equal(loads_seen > loads, expect_loads);
    remove_folder(whole_spec.directory);
}

static void test_interrupted_training_resumes_from_its_saved_state(void **state)
{
    (void)state;
    resume_after_interrupts(&optimizer_trainer, true);
}

static void test_interrupted_training_without_state_is_asked_again(void **state)
{
    (void)state;
    resume_after_interrupts(&optimizer_forgetful, false);
}

static void interrupt_after(MerRunSpec *spec, int calls)
{
    Countdown   countdown = {calls};
    MerRunHooks hooks = {.state = &countdown, .is_cancelled = count_down};
    run_or_fail(spec, &hooks, arena);
}

/* The state of an earlier run in the same folder, whole by its checksum, is not this run's. */
static void test_the_state_of_another_log_is_not_taken(void **state)
{
    (void)state;
    MerRunSpec before = long_spec(&optimizer_trainer);
    MerRunSpec whole = long_spec(&optimizer_trainer);
    MerRunSpec cut = long_spec(&optimizer_trainer);
    before.seed = 6;
    interrupt_after(&before, 60);
    run_or_fail(&whole, NULL, arena);
    interrupt_after(&cut, 80);
    const char *stale = mer_arena_format(arena, "%s/state-0.bin", before.directory);
    rename(stale, mer_arena_format(arena, "%s/state-0.bin", cut.directory));
    int loads = loads_seen;
    cut.resume = true;
    run_or_fail(&cut, NULL, arena);
    assert_int_equal(loads_seen, loads);
    assert_string_equal(file_text(cut.directory, "run.jsonl", arena),
                        file_text(whole.directory, "run.jsonl", arena));
    remove_folder(before.directory);
    remove_folder(whole.directory);
    remove_folder(cut.directory);
}

/* Whatever their numbers are: with a gap in them, too. */
static void test_a_new_run_removes_all_old_states(void **state)
{
    (void)state;
    MerRunSpec spec = long_spec(&optimizer_trainer);
    run_or_fail(&spec, NULL, arena);
    const char *stray = mer_arena_format(arena, "%s/state-7.bin", spec.directory);
    rename(mer_arena_format(arena, "%s/state-0.bin", spec.directory), stray);
    spec.optimizer = &optimizer_forgetful;
    run_or_fail(&spec, NULL, arena);
    assert_int_not_equal(access(stray, F_OK), 0);
    remove_folder(spec.directory);
}

static void test_policies_are_saved_and_loaded_by_name(void **state)
{
    (void)state;
    MerRunSpec   spec = long_spec(&optimizer_trainer);
    MerRunResult result;
    MerError     error = {0};
    char         path[512];
    snprintf(path, sizeof path, "%s/policy.bin", spec.directory);
    spec.save_policy = path;
    run_or_fail(&spec, NULL, arena);
    int loads = loads_seen;
    spec.save_policy = NULL;
    spec.policy = path;
    run_or_fail(&spec, NULL, arena);
    assert_int_equal(loads_seen, loads + 1);
    spec.optimizer = &optimizer_forgetful;
    assert_int_equal(mer_run(&spec, NULL, arena, &result, &error), MER_UNSUPPORTED);
    assert_string_equal(error.message, "optimizer trainer has no policy to load");
    remove_folder(spec.directory);
}

static void test_a_time_limit_stops_a_long_ask(void **state)
{
    (void)state;
    MerRunSpec spec = long_spec(&optimizer_trainer);
    spec.budget = 0;
    spec.time_s = 0.05;
    MerRunResult result = run_or_fail(&spec, NULL, arena);
    assert_string_equal(result.total.stopped, "time");
    assert_true(result.wall_s < 1);
    remove_folder(spec.directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_epochs_and_notes_stand_in_order_in_the_log),
        cmocka_unit_test(test_spending_of_asks_and_evaluations_adds_up),
        cmocka_unit_test(test_interrupted_training_resumes_from_its_saved_state),
        cmocka_unit_test(test_interrupted_training_without_state_is_asked_again),
        cmocka_unit_test(test_the_state_of_another_log_is_not_taken),
        cmocka_unit_test(test_a_new_run_removes_all_old_states),
        cmocka_unit_test(test_policies_are_saved_and_loaded_by_name),
        cmocka_unit_test(test_a_time_limit_stops_a_long_ask),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
