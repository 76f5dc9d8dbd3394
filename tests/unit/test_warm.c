/* Warm starts: points of the same space, points carried to other groups of jobs, and damaged logs. */
#include "schedule_support.h"

#include "schedule/schedule_parts.h"

#include <cjson/cJSON.h>
#include <math.h>

enum { JOBS = 20 };

typedef struct Messages {
    char text[512];
    int  count;
} Messages;

static void remember(void *state, const char *text)
{
    Messages *messages = state;
    snprintf(messages->text, sizeof messages->text, "%s", text);
    messages->count++;
}

typedef struct Case {
    const char         *group, *optimizer, *platform, *warm;
    int                 match;
    int64_t             budget;
    const ReferenceSet *set; /* of a group TASK:NUMBER */
} Case;

/* Groups of 20 layers, cut from 60 with the same generator; or a group of a benchmark. */
static MerStatus run_group(const Case *c, const char *folder, Messages *messages, MerArena *arena,
                           MerRunResult *result, MerError *error)
{
    const char *input = "synthetic:60:3";
    const char *text = mer_arena_format(arena, "schedule:group_size=%d,select=%s", JOBS, c->group);
    if (strchr(c->group, ':')) {
        input = reference_path(c->set, c->set->benchmark, arena);
        text = mer_arena_format(arena, "schedule:table=m3e-compat,select=%s", c->group);
    }
    MerRunHooks hooks = {.state = messages, .warn = messages ? remember : NULL};
    MerRunSpec  spec = spec_from(text, "bandwidth", c->optimizer, graph_named(input, arena),
                                c->platform ? c->platform : "s2", arena);
    spec.budget = c->budget;
    spec.warm = c->warm;
    spec.warm_match = c->match;
    spec.directory = folder;
    return mer_run(&spec, &hooks, arena, result, error);
}

static MerRunResult run_group_or_fail(const Case *c, const char *folder, Messages *messages,
                                      MerArena *arena)
{
    MerRunResult result;
    MerError     error = {0};
    if (run_group(c, folder, messages, arena, &result, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return result;
}

/* The number of warm trials of a log, and the score and point of the first. */
static int count_warm(const char *folder, MerArena *arena, double *score, MerIndex *point)
{
    char *text = file_text(folder, "run.jsonl", arena);
    char *rest = NULL;
    int   count = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        cJSON *json = cJSON_Parse(line);
        if (cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(json, "warm"))) {
            const cJSON *knobs = cJSON_GetObjectItemCaseSensitive(json, "point");
            for (int k = 0; count == 0 && point && k < 2 * JOBS; k++) {
                point[k] = cJSON_GetArrayItem(knobs, k)->valueint;
            }
            if (count == 0 && score) {
                *score = cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(json, "score"));
            }
            count++;
        }
        cJSON_Delete(json);
    }
    return count;
}

static void test_the_same_group_starts_with_the_best_points_it_had(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    const char  *old = new_folder(arena);
    const char  *folder = new_folder(arena);
    Case         first = {.group = "1", .optimizer = "random", .budget = 300};
    Case         again = {.group = "1", .optimizer = "random", .budget = 1};
    MerRunResult a = run_group_or_fail(&first, old, NULL, arena);
    again.warm = mer_arena_format(arena, "%s:7", old);
    run_group_or_fail(&again, folder, NULL, arena);
    double score = NAN;
    assert_int_equal(count_warm(folder, arena, &score, NULL), 7);
    assert_true(score == a.total.value);
    remove_folder(old);
    remove_folder(folder);
    mer_arena_free(arena);
}

static MerRunResult run_layer(const char *optimizer, const char *warm, const char *folder,
                              MerArena *arena)
{
    const MerGraph *graph = one_layer_graph(12, 8, 7, 6, 3, 3, arena);
    MerRunSpec      spec = spec_from("map", "loopnest", optimizer, graph, "s256", arena);
    spec.budget = 50;
    spec.warm = warm;
    spec.directory = folder;
    return run_or_fail(&spec, NULL, arena);
}

/* Warm points are feasible, so that counting them would make a search look better than it is. */
static void test_warm_trials_are_not_counted(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    const char  *old = new_folder(arena);
    const char  *folder = new_folder(arena);
    MerRunResult cold = run_layer("random", NULL, old, arena);
    MerRunResult warm = run_layer("random", old, folder, arena);
    int          given = count_warm(folder, arena, NULL, NULL);
    assert_true(given > 0 && cold.total.infeasible > 0);
    assert_int_equal(cold.total.trials, 50);
    assert_int_equal(warm.total.trials, 50);
    assert_int_equal(warm.total.evaluations, 50);
    assert_int_equal(warm.total.infeasible, cold.total.infeasible); /* the same points at random */
    mer_test_contains(warm.summary, "\"trials\":50,");
    run_layer("marl", old, folder, arena);
    mer_test_contains(
        file_text(folder, "run.jsonl", arena),
        mer_arena_format(arena, "\"text\":\"%d of an earlier run\"", given < 10 ? given : 10));
    remove_folder(old);
    remove_folder(folder);
    mer_arena_free(arena);
}

static void test_another_group_takes_core_and_priority_by_rank(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    const char  *old = new_folder(arena);
    const char  *folder = new_folder(arena);
    MerIndex     point[2 * JOBS];
    Case         first = {.group = "1", .optimizer = "random", .budget = 200};
    Case         next = {.group = "2", .optimizer = "random", .budget = 1, .warm = old};
    MerRunResult a = run_group_or_fail(&first, old, NULL, arena);
    run_group_or_fail(&next, folder, NULL, arena);
    assert_int_equal(count_warm(folder, arena, NULL, point), 64);
    assert_memory_equal(point, a.tasks[0].point, sizeof point);
    remove_folder(old);
    remove_folder(folder);
    mer_arena_free(arena);
}

static void test_carried_points_are_better_than_as_many_at_random(const ReferenceSet *set)
{
    MerArena *arena = mer_arena_new();
    reference_path(set, set->benchmark, arena); /* skips before there are folders */
    const char *old = new_folder(arena);
    const char *folder = new_folder(arena);
    const char *next_group = set->is_public ? "mix:1" : "blend:1";
    Case        first = {.group = set->is_public ? "mix:0" : "blend:0",
                         .optimizer = "magma",
                         .budget = 3000,
                         .set = set};
    Case        cold = {.group = next_group, .optimizer = "random", .budget = 64, .set = set};
    run_group_or_fail(&first, old, NULL, arena);
    MerRunResult chance = run_group_or_fail(&cold, NULL, NULL, arena);
    for (int match = MER_MATCH_RANK; match <= MER_MATCH_LAYER; match++) {
        Case         next = {.group = next_group,
                             .optimizer = "random",
                             .budget = 1,
                             .warm = old,
                             .match = match,
                             .set = set};
        MerRunResult warm = run_group_or_fail(&next, folder, NULL, arena);
        print_message("match %d: %g against %g\n", match, warm.total.value, chance.total.value);
        assert_true(warm.total.value < chance.total.value);
    }
    remove_folder(old);
    remove_folder(folder);
    mer_arena_free(arena);
}

ON_BOTH_SETS(test_carried_points_are_better_than_as_many_at_random)

static void test_a_chain_warms_every_group_but_the_first(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    const char  *folder = new_folder(arena);
    Case         c = {.group = "1-3", .optimizer = "magma", .budget = 300, .warm = "chain:10"};
    MerRunResult result = run_group_or_fail(&c, folder, NULL, arena);
    assert_int_equal(result.task_count, 3);
    assert_int_equal(count_warm(folder, arena, NULL, NULL), 20);
    remove_folder(folder);
    mer_arena_free(arena);
}

static void test_damaged_lines_are_skipped_with_one_warning_that_counts_them(void **state)
{
    (void)state;
    MerArena   *arena = mer_arena_new();
    const char *old = new_folder(arena);
    const char *folder = new_folder(arena);
    Messages    messages = {.count = 0};
    Case        first = {.group = "1", .optimizer = "random", .budget = 50};
    Case        next = {.group = "1", .optimizer = "random", .budget = 1, .warm = old};
    run_group_or_fail(&first, old, NULL, arena);
    char *text = file_text(old, "run.jsonl", arena);
    char *line = text;
    for (int i = 0; i < 6; i++) {
        line = strchr(line, '\n') + 1;
        line[0] = i == 2 ? '(' : line[0]; /* not JSON any more */
        if (i == 4) {
            memcpy(strstr(line, "\"point\""), "\"punto\"", 7); /* a trial without a point */
        }
    }
    FILE *file = fopen(mer_arena_format(arena, "%s/run.jsonl", old), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    run_group_or_fail(&next, folder, &messages, arena);
    assert_int_equal(messages.count, 1);
    mer_test_contains(messages.text, "2 damaged lines skipped");
    assert_int_equal(count_warm(folder, arena, NULL, NULL), 48);
    remove_folder(old);
    remove_folder(folder);
    mer_arena_free(arena);
}

static void test_points_of_another_platform_are_refused(void **state)
{
    (void)state;
    MerArena   *arena = mer_arena_new();
    const char *old = new_folder(arena);
    Case        first = {.group = "1", .optimizer = "random", .budget = 20};
    Case next = {.group = "2", .optimizer = "random", .budget = 1, .platform = "s1", .warm = old};
    MerRunResult result;
    MerError     error = {0};
    run_group_or_fail(&first, old, NULL, arena);
    assert_int_equal(run_group(&next, NULL, NULL, arena, &result, &error), MER_INVALID);
    mer_test_contains(error.message, "same platform only");
    remove_folder(old);
    mer_arena_free(arena);
}

/* Three old jobs, latency 10, 100, 1000 on the first core; the new ones are 1000, 10, 10, 90. */
static void test_layer_match_takes_equals_first_and_then_the_nearest(void **state)
{
    (void)state;
    MerArena           *arena = mer_arena_new();
    static const double old_numbers[] = {10, 20, 100, 200, 1000, 2000};
    static const double new_numbers[] = {1000, 2000, 10, 20, 10, 20, 90, 180};
    MerKnob             old_knobs[6] = {{0}};
    MerKnob             new_knobs[8] = {{0}};
    for (int i = 0; i < 6; i++) {
        old_knobs[i] = (MerKnob){.name = "k",
                                 .role = i < 3 ? MER_ROLE_UNIT : MER_ROLE_PRIORITY,
                                 .op = i % 3,
                                 .choices = 2};
    }
    for (int i = 0; i < 8; i++) {
        new_knobs[i] = (MerKnob){.name = "k",
                                 .role = i < 4 ? MER_ROLE_UNIT : MER_ROLE_PRIORITY,
                                 .op = i % 4,
                                 .choices = 2};
    }
    MerTable   old_tables[] = {{"latency", 3, 2, old_numbers}, {"traffic", 3, 2, old_numbers}};
    MerTable   new_tables[] = {{"latency", 4, 2, new_numbers}, {"traffic", 4, 2, new_numbers}};
    MerSpace   old = {6, 2, old_knobs, old_tables};
    MerSpace   space = {8, 2, new_knobs, new_tables};
    int        from[8];
    const int  expected[8] = {2, 0, 0, 1, 5, 3, 3, 4};
    MerProblem problem = {.space = space};
    assert_true(mer_schedule_can_carry(&(MerProblem){.space = old}) &&
                mer_schedule_can_carry(&problem));
    assert_int_equal(mer_schedule_carry(&problem, &old, 6, MER_MATCH_LAYER, from, arena, NULL),
                     MER_OK);
    assert_memory_equal(from, expected, sizeof expected);
    /* by rank: places 0, 2/3, 4/3, 2 of three */
    const int by_rank[8] = {0, 1, 1, 2, 3, 4, 4, 5};
    mer_schedule_carry(&problem, NULL, 6, MER_MATCH_RANK, from, arena, NULL);
    assert_memory_equal(from, by_rank, sizeof by_rank);
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_group_starts_with_the_best_points_it_had),
        cmocka_unit_test(test_another_group_takes_core_and_priority_by_rank),
        BOTH_SETS(test_carried_points_are_better_than_as_many_at_random),
        cmocka_unit_test(test_warm_trials_are_not_counted),
        cmocka_unit_test(test_a_chain_warms_every_group_but_the_first),
        cmocka_unit_test(test_damaged_lines_are_skipped_with_one_warning_that_counts_them),
        cmocka_unit_test(test_points_of_another_platform_are_refused),
        cmocka_unit_test(test_layer_match_takes_equals_first_and_then_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
