/* Operators that share a unit: classes, patterns, blocks, both readings of the single-consumer rule, limits and the
 * warning. */
#include "place_inputs_support.h"

#include "mercator/rng.h"
#include "place/inputs/profile_build.h"
#include "unit/importer.h"

#include <math.h>
#include <time.h>

#define UNITS(count)                                                                               \
    "format: mercator-platform/1\nkind: cluster\nunits: [{name: acc, count: " count "}]\n"

/* Edges as "ab bc": operator i has the name names[i], or a letter, and takes times[i] us, or 1. */
static MerPlace graph_place(int count, const char *edges, const char *const *names,
                            const double *times, const char *platform, MerArena *arena)
{
    MerProfileNode *nodes = MER_ARRAY(arena, MerProfileNode, count);
    MerProfileEdge *list = MER_ARRAY(arena, MerProfileEdge, strlen(edges) + 1);
    MerImportFile   file = text_file("toy", "");
    MerGraph       *graph = NULL;
    MerError        error = {0};
    int             edge_count = 0;
    for (int i = 0; i < count; i++) {
        char letter[] = {(char)('a' + i), '\0'};
        nodes[i] = (MerProfileNode){.name = mer_arena_text(arena, names ? names[i] : letter),
                                    .source = "test",
                                    .file_index = i,
                                    .time_us = times ? times[i] : 1};
    }
    for (; *edges != '\0'; edges += edges[2] == ' ' ? 3 : 2) {
        list[edge_count++] = (MerProfileEdge){edges[0] - 'a', edges[1] - 'a'};
    }
    if (mer_profile_graph(&file, "test", nodes, count, list, edge_count, arena, &graph, &error) !=
        MER_OK) {
        fail_msg("%s", error.message);
    }
    mer_profile_attach(graph, MER_PLACE_PROFILE, nodes);
    return open_place(graph, platform_of(platform, arena), NULL, NULL, arena);
}

/* The groups as "012..": the group of each operator in the graph's order. */
static const char *groups_text(const MerPlace *place, MerPlaceOptions options,
                               const int64_t *class_of, const char **warning, MerArena *arena)
{
    int        *group = MER_ARRAY(arena, int, place->op_count), count;
    char       *text = MER_ARRAY(arena, char, place->op_count + 1);
    const char *ignored;
    MerError    error = {0};
    options.group_work_limit = options.group_work_limit > 0 ? options.group_work_limit : 1;
    if (mer_place_find_groups(place, &options, class_of, group, &count,
                              warning ? warning : &ignored, arena, &error) != MER_OK) {
        return mer_arena_text(arena, error.message);
    }
    for (int o = 0; o < place->op_count; o++) {
        assert_in_range(group[o], 0, count - 1);
        text[o] = (char)('0' + group[o]);
    }
    return text;
}

#define OPTIONS(...) ((MerPlaceOptions){__VA_ARGS__})

static void test_without_rules_every_operator_is_alone(void **state)
{
    MerPlace place = graph_place(4, "ab bc cd", NULL, NULL, UNITS("2"), *state);
    assert_string_equal(groups_text(&place, OPTIONS(0), NULL, NULL, *state), "0123");
}

static void test_classes_share_a_unit(void **state)
{
    MerPlace place = graph_place(5, "ab bc cd de", NULL, NULL, UNITS("1"), *state);
    int64_t  classes[] = {7, -1, 9, 7, -1};
    assert_string_equal(groups_text(&place, OPTIONS(0), classes, NULL, *state), "01203");
}

/* A fork a -> b, c -> d: the output of a is read by two operators, and by one group once b and c have joined d. */
static void test_the_two_readings_differ_at_forks(void **state)
{
    MerPlace        place = graph_place(4, "ab ac bd cd", NULL, NULL, UNITS("1"), *state);
    MerPlaceOptions output = {.single_consumer = MER_CONSUMER_OUTPUT};
    MerPlaceOptions group = {.single_consumer = MER_CONSUMER_GROUP};
    assert_string_equal(groups_text(&place, output, NULL, NULL, *state), "0111");
    assert_string_equal(groups_text(&place, group, NULL, NULL, *state), "0000");
}

/* a and d are one class, which b and e read from: two readers under `group`; under `output` d alone has one reader
 * and takes a along. */
static void test_classes_count_as_one_producer_by_group(void **state)
{
    MerPlace        place = graph_place(5, "ab ac bd cd de", NULL, NULL, UNITS("1"), *state);
    int64_t         classes[] = {1, -1, -1, 1, -1};
    MerPlaceOptions output = {.single_consumer = MER_CONSUMER_OUTPUT};
    MerPlaceOptions group = {.single_consumer = MER_CONSUMER_GROUP};
    assert_string_equal(groups_text(&place, output, classes, NULL, *state), "00000");
    assert_string_equal(groups_text(&place, group, classes, NULL, *state), "00000");
    MerPlace two = graph_place(5, "ab de", NULL, NULL, UNITS("1"), *state);
    assert_string_equal(groups_text(&two, output, classes, NULL, *state), "00100");
    assert_string_equal(groups_text(&two, group, classes, NULL, *state), "01203");
}

static void test_limit_refuses_merges_above_it(void **state)
{
    MerPlace        place = graph_place(4, "ab bc cd", NULL, NULL, UNITS("1"), *state);
    MerPlaceOptions output = {.single_consumer = MER_CONSUMER_OUTPUT, .group_work_limit = 0.5};
    MerPlaceOptions group = {.single_consumer = MER_CONSUMER_GROUP, .group_work_limit = 0.5};
    assert_string_equal(groups_text(&place, output, NULL, NULL, *state), "0011");
    assert_string_equal(groups_text(&place, group, NULL, NULL, *state), "0011");
}

static void test_large_group_is_warned_of(void **state)
{
    static const double times[] = {1, 5, 3, 1};
    MerPlace            place = graph_place(4, "ab bc cd", NULL, times, UNITS("2"), *state);
    int64_t             half[] = {1, -1, 1, 1}, more[] = {-1, 1, 1, -1};
    const char         *warning;
    groups_text(&place, OPTIONS(0), half, &warning, *state);
    assert_null(warning);
    groups_text(&place, OPTIONS(0), more, &warning, *state);
    assert_string_equal(
        warning, "2 operators that share a unit, from \"b\" on, hold 80.0 % of the work: more "
                 "than one of 2 units should; group_work_limit keeps such groups smaller");
}

static const char *const block_names[] = {"embed",         "blk.0.attn.q",  "blk.0.ffn.up",
                                          "blk.10.attn.q", "blk.10.ffn.up", "out"};

static void test_equal_captures_share_a_unit(void **state)
{
    static const struct {
        const char *pattern, *expected;
    } cases[] = {
        {"blk\\.(\\d+)\\..*", "011223"},
        {"blk\\.([0-9]+)\\.", "011223"},
        {"blk\\.([\\d]+)\\.", "011223"},
        {"^blk\\.\\d+\\.(attn|ffn)", "012123"},
        {"blk", "011112"}, /* nothing is captured: all that match */
        {"\\.(\\D+)\\.", "012123"},
        {"nothing", "colocate \"nothing\" matches no operator of toy"},
        {"b(", "colocate is \"b(\" (Unmatched ( or \\(), expected an extended regular expression"},
    };
    MerPlace place = graph_place(6, "ab bc cd de ef", block_names, NULL, UNITS("1"), *state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerPlaceOptions options = {.colocate = {1, &cases[i].pattern}};
        assert_string_equal(groups_text(&place, options, NULL, NULL, *state), cases[i].expected);
    }
    static const char *const both[] = {"(embed|out)", "blk\\.(1)"};
    MerPlaceOptions          options = {.colocate = {2, both}};
    /* equal captures of one pattern, not of any */
    assert_string_equal(groups_text(&place, options, NULL, NULL, *state), "012334");
}

static void test_blocks_are_repeated_parts_of_names(void **state)
{
    static const struct {
        const char *names[6], *expected;
    } cases[] = {
        {{"embed", "blk.0.attn.q", "blk.0.ffn.up", "blk.10.attn.q", "blk.10.ffn.up", "out"},
         "011223"},
        {{"/conv1/Conv", "/layer3/layer3.0/conv1/Conv",
          "/layer3/layer3.0/downsample/downsample.0/Conv", "/layer3/layer3.1/conv1/Conv",
          "/layer3/layer3.1/conv2/Conv", "/fc/Gemm"},
         "011223"},
        {{"net_v1_50/encoder/layer_7/q/MatMul", "net_v1_50/encoder/layer_7/k/MatMul",
          "net_v1_50/encoder/layer_8/q/MatMul", "net_v1_50/encoder/layer_8/k/MatMul",
          "net_v1_50/pool/MatMul", "net_v1_50/out/MatMul"},
         "001123"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerPlace place = graph_place(6, "ab bc cd de ef", cases[i].names, NULL, UNITS("1"), *state);
        assert_string_equal(groups_text(&place, OPTIONS(.blocks = true), NULL, NULL, *state),
                            cases[i].expected);
    }
}

/* Names do not tell: two forks in a row; the operator that joins a fork ends its block, the one that opens the next
 * stays with what comes before. Operator g is a weight of c. */
static void test_blocks_end_at_articulation_points(void **state)
{
    static const double times[] = {1, 1, 1, 1, 1, 1, 0, 1};
    MerPlace place = graph_place(8, "ab bc bd ce de gc ef eh fh", NULL, times, UNITS("1"), *state);
    int      position[8];
    const char *text = groups_text(&place, OPTIONS(.blocks = true), NULL, NULL, *state);
    for (int i = 0; i < 8; i++) {
        position[i] = op_named(&place, (char[]){(char)('a' + i), '\0'});
    }
    static const char expected[] = "abcccdcd"; /* of a .. h */
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 8; k++) {
            assert_int_equal(text[position[i]] == text[position[k]], expected[i] == expected[k]);
        }
    }
}

/* The rule as it is told: look for a group that exactly one other group reads from, merge them, start again. */
static int naive_group_rule(const MerPlace *place, int *group)
{
    bool changed = true;
    int  count = place->op_count;
    while (changed) {
        changed = false;
        for (int g = 0; g < place->op_count && !changed; g++) {
            int reader = -1;
            for (int o = 0; o < place->op_count && reader > -2; o++) {
                for (int i = place->after_start[o]; group[o] == g && i < place->after_start[o + 1];
                     i++) {
                    int other = group[place->after[i]];
                    reader = other == g || other == reader ? reader : reader == -1 ? other : -2;
                }
            }
            for (int o = 0; o < place->op_count && reader >= 0; o++) {
                group[o] = group[o] == g ? reader : group[o];
                changed = true;
            }
            count -= reader >= 0;
        }
    }
    return count;
}

/* Every operator reads `fewest` to 2 of the six before it. */
static MerPlace random_place(int count, int fewest, MerRng *rng, int64_t *classes, MerArena *arena)
{
    MerProfileNode *nodes = MER_ARRAY(arena, MerProfileNode, count);
    MerProfileEdge *edges = MER_ARRAY(arena, MerProfileEdge, 2 * (size_t)count);
    MerImportFile   file = text_file("random", "");
    MerGraph       *graph = NULL;
    MerError        error = {0};
    int             edge_count = 0;
    for (int i = 0; i < count; i++) {
        nodes[i] = (MerProfileNode){.name = mer_arena_format(arena, "n%d", i),
                                    .source = "test",
                                    .file_index = i,
                                    .time_us = 1};
        classes[i] = mer_rng_below(rng, 3) == 0 ? mer_rng_below(rng, count / 4 + 1) : -1;
        int parents = i == 0 ? 0 : fewest + mer_rng_below(rng, 3 - fewest);
        for (int k = 0; k < parents; k++) {
            int span = i < 6 ? i : 6;
            edges[edge_count++] = (MerProfileEdge){i - 1 - mer_rng_below(rng, span), i};
        }
    }
    if (mer_profile_graph(&file, "test", nodes, count, edges, edge_count, arena, &graph, &error) !=
        MER_OK) {
        fail_msg("%s", error.message);
    }
    mer_profile_attach(graph, MER_PLACE_PROFILE, nodes);
    return open_place(graph, platform_of(UNITS("1"), arena), NULL, NULL, arena);
}

static void test_fast_rule_gives_the_groups_of_the_plain_one(void **state)
{
    MerRng rng = mer_rng_make(14, 0);
    for (int round = 0; round < 200; round++) {
        int64_t     classes[40];
        int         group[40], plain[40], count;
        const char *warning;
        MerPlace    place =
            random_place(2 + mer_rng_below(&rng, 38), round % 3, &rng, classes, *state);
        MerPlaceOptions options = {.group_work_limit = 1};
        const int64_t  *used = round % 2 == 0 ? classes : NULL;
        assert_int_equal(
            mer_place_find_groups(&place, &options, used, plain, &count, &warning, *state, NULL),
            MER_OK);
        int expected = naive_group_rule(&place, plain) - (place.op_count - count);
        options.single_consumer = MER_CONSUMER_GROUP;
        assert_int_equal(
            mer_place_find_groups(&place, &options, used, group, &count, &warning, *state, NULL),
            MER_OK);
        assert_int_equal(count, expected);
        for (int a = 0; a < place.op_count; a++) {
            for (int b = 0; b < a; b++) {
                assert_int_equal(group[a] == group[b], plain[a] == plain[b]);
            }
        }
    }
}

/* Every rule on a graph as large as the largest published ones. A second is what it may take; the limit here is for
 * slow machines and sanitizers. */
static void test_rules_are_fast_on_large_graphs(void **state)
{
    enum { COUNT = 80000 };
    const char     *warning, *pattern = "n(\\d\\d)";
    MerPlaceOptions options[] = {{.single_consumer = MER_CONSUMER_OUTPUT, .group_work_limit = 1},
                                 {.single_consumer = MER_CONSUMER_GROUP, .group_work_limit = 1},
                                 {.blocks = true, .group_work_limit = 1},
                                 {.colocate = {1, &pattern}, .group_work_limit = 1}};
    int            *group = MER_ARRAY(*state, int, COUNT), count;
    int64_t        *classes = MER_ARRAY(*state, int64_t, COUNT);
    clock_t         spent = 0;
    for (int fewest = 0; fewest < 3; fewest++) {
        MerRng   rng = mer_rng_make(3, 0);
        MerPlace place = random_place(COUNT, fewest, &rng, classes, *state);
        clock_t  start = clock();
        for (int i = 0; i < 8; i++) {
            assert_int_equal(mer_place_find_groups(&place, &options[i / 2],
                                                   i % 2 == 0 ? NULL : classes, group, &count,
                                                   &warning, *state, NULL),
                             MER_OK);
        }
        spent += clock() - start;
    }
    double seconds = (double)spent / CLOCKS_PER_SEC;
    print_message("[          ] 24 groupings of %d operators: %.2f s\n", COUNT, seconds);
    assert_true(seconds < 24);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_without_rules_every_operator_is_alone),
        TEST(test_classes_share_a_unit),
        TEST(test_the_two_readings_differ_at_forks),
        TEST(test_classes_count_as_one_producer_by_group),
        TEST(test_limit_refuses_merges_above_it),
        TEST(test_large_group_is_warned_of),
        TEST(test_equal_captures_share_a_unit),
        TEST(test_blocks_are_repeated_parts_of_names),
        TEST(test_blocks_end_at_articulation_points),
        TEST(test_fast_rule_gives_the_groups_of_the_plain_one),
        TEST(test_rules_are_fast_on_large_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
