/* Policy files: what was saved is loaded, and nothing else. */
#include "base/file.h"
#include "run_support.h"
#include "support.h"

static const char PATH[] = "policy"; /* in the test's own folder */

static MerRunSpec spec_of(const char *optimizer, MerArena *arena)
{
    const MerGraph *graph = one_layer_graph(4, 2, 2, 2, 1, 1, arena);
    MerRunSpec      spec = spec_from("map", "loopnest", optimizer, graph, "s256", arena);
    spec.seed = 2;
    spec.budget = 3;
    return spec;
}

static char *learn(const char *optimizer, int64_t budget, size_t *size, MerArena *arena)
{
    MerRunSpec spec = spec_of(optimizer, arena);
    spec.budget = budget;
    spec.save_policy = PATH;
    run_or_fail(&spec, NULL, arena);
    return file_bytes(".", PATH, size, arena);
}

/* What a search that starts from the file finds: the hash of its best plan and score. */
static MerStatus use(const char *optimizer, uint64_t *found, MerError *error)
{
    MerArena    *arena = mer_arena_new();
    MerRunSpec   spec = spec_of(optimizer, arena);
    MerRunResult result;
    spec.policy = PATH;
    MerStatus status = mer_run(&spec, NULL, arena, &result, error);
    if (status == MER_OK) {
        *found = mer_hash_real(mer_hash_text(MER_HASH_START, result.tasks[0].body),
                               result.tasks[0].score);
    }
    mer_arena_free(arena);
    return status;
}

/* Flips a bit of every `stride`-th byte; gives how many such files were loaded. */
static int flip_bytes(const char *optimizer, int64_t budget, size_t stride)
{
    MerArena *arena = mer_arena_new();
    size_t    size;
    char     *data = learn(optimizer, budget, &size, arena);
    uint64_t  wanted, found;
    size_t    line = strcspn(data, "\n");
    int       loaded = 0;
    assert_int_equal(use(optimizer, &wanted, NULL), MER_OK);
    for (size_t i = 0; i < size; i += stride) {
        MerError error = {0};
        data[i] = (char)(data[i] ^ 1 << (i % 8));
        write_bytes(PATH, data, size);
        data[i] = (char)(data[i] ^ 1 << (i % 8));
        MerStatus status = use(optimizer, &found, &error);
        if (status == MER_OK) {
            loaded++;
            assert_true(found == wanted);
            continue;
        }
        assert_int_equal(status, MER_INVALID);
        mer_test_contains(error.message, i <= line ? "policy:1: found \"" : "found \"checksum ");
    }
    mer_arena_free(arena);
    return loaded;
}

static void test_a_changed_byte_is_refused_or_says_nothing(void **state)
{
    (void)state;
    /* a changed `checksum` makes the file one of an earlier version, with the same content */
    assert_int_equal(flip_bytes("reinforce", 40, 1), 9);
    assert_true(flip_bytes("marl", 40, 499) <= 9);
}

static void test_a_file_without_checksum_is_read(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    size_t    size;
    uint64_t  wanted, found;
    for (int i = 0; i < 2; i++) {
        const char *optimizer = i == 0 ? "reinforce" : "marl";
        char       *data = learn(optimizer, 60, &size, arena);
        assert_int_equal(use(optimizer, &wanted, NULL), MER_OK);
        mer_test_contains(data + size - 26, "checksum ");
        write_bytes(PATH, data, size - 26);
        assert_int_equal(use(optimizer, &found, NULL), MER_OK);
        assert_true(found == wanted);
    }
    mer_arena_free(arena);
}

static void expect_message(const char *data, const char *message)
{
    MerError error = {0};
    uint64_t found;
    write_bytes(PATH, data, strlen(data));
    assert_int_equal(use("reinforce", &found, &error), MER_INVALID);
    mer_test_contains(error.message, message);
}

static void test_a_strange_first_line_is_shown(void **state)
{
    (void)state;
    expect_message(
        "\177ELF\001\002 and so on\n",
        "policy:1: found \"?ELF?? and so on\", expected \"mercator-policy/1 reinforce\"");
    expect_message("mercator-policy/1 ppo\n",
                   "found \"mercator-policy/1 ppo\", expected \"mercator-policy/1 reinforce\"");
    expect_message("mercator-policy/1 reinforce", "found \"mercator-policy/1 reinforce\"");
    expect_message("a line that goes on and on and on and on and never seems to end",
                   "found \"a line that goes on and on and on and on...\", expected");
}

static void test_a_content_that_does_not_fit_is_refused_with_its_file(void **state)
{
    (void)state;
    expect_message("mercator-policy/1 reinforce\nsomething else\n",
                   "policy: policy: byte 0: found \"something else\"");
}

typedef struct Looker {
    const MerSearch *search;
    int              choices;
} Looker;

static int choices_of(const MerSearch *search)
{
    int sum = 0;
    for (int k = 0; k < search->space->knob_count; k++) {
        sum += search->space->knobs[k].choices;
    }
    return sum;
}

static MerStatus open_looker(void *state, const MerSearch *search, const void *options,
                             MerError *error)
{
    (void)options;
    (void)error;
    *(Looker *)state = (Looker){search, choices_of(search)};
    return MER_OK;
}

static int moves; /* from task to task, and those on which the choices changed */
static int changes;

static MerStatus look_back(void *state, const MerSearch *search, MerError *error)
{
    Looker *looker = state;
    assert_int_equal(choices_of(looker->search), looker->choices);
    moves++;
    changes += choices_of(search) != looker->choices;
    return open_looker(state, search, NULL, error);
}

static int ask_nothing(void *state, MerProposal *proposals, int capacity)
{
    (void)state;
    (void)proposals;
    (void)capacity;
    return 0;
}

static void hear_nothing(void *state, const MerTrial *trials, int count)
{
    (void)state;
    (void)trials;
    (void)count;
}

/* What an optimizer learned of a task it can only read with that task's knobs. */
static void test_the_search_of_the_task_before_is_still_there(void **state)
{
    (void)state;
    static const MerOptimizerClass looker = {.name = "looker",
                                             .summary = "looks back",
                                             .state_size = sizeof(Looker),
                                             .open = open_looker,
                                             .next_task = look_back,
                                             .ask = ask_nothing,
                                             .tell = hear_nothing};
    MerArena                      *arena = mer_arena_new();
    MerRunResult                   result;
    MerRunSpec                     spec = spec_of("random", arena);
    spec.graph = graph_named("alexnet", arena);
    spec.optimizer = &looker;
    spec.optimizer_options = NULL;
    mer_run(&spec, NULL, arena, &result, &(MerError){0});
    assert_true(moves >= 4 && changes >= 4);
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_search_of_the_task_before_is_still_there),
        cmocka_unit_test(test_a_changed_byte_is_refused_or_says_nothing),
        cmocka_unit_test(test_a_file_without_checksum_is_read),
        cmocka_unit_test(test_a_strange_first_line_is_shown),
        cmocka_unit_test(test_a_content_that_does_not_fit_is_refused_with_its_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
