/* MAESTRO networks and the tree of their text. */
#include "import/layer_list.h"
#include "import/maestro_text.h"
#include "support.h"

#include "unit/importer.h"

static MerGraph *import(const char *text, const char *select, MerArena *arena)
{
    MerImportFile file = text_file("t.m", text);
    return must_import(&mer_importer_maestro, &file, select, arena);
}

static void test_layers_become_operators(void **state)
{
    static const char *const expected[] = {"conv K64 C3 Y112 X111 R7 S7 s2,2",
                                           "depthwise C32 Y54 X54 R3 S3",
                                           "conv K4 C8 Y8 X8 R3 S3 G32",
                                           "transposed K16 C8 Y28 X28 R2 S2",
                                           "gemm K30 C20 Y10",
                                           "batched-gemm K4 C3 Y2 G5",
                                           "gemm K10 C64",
                                           "conv N2 K8 C4 Y5 X6 R3 S3"};
    const MerGraph          *graph = import(
                 "// a network\nConstant Rows 230;\n"
                          "Network net-1 {\n"
                          "Layer CONV-1 { Type: CONV\n Stride { X: 2, Y: 2 }\n"
                          " Dimensions { K 64,C 3,R 7,S 7,Y Rows,X 227 } }\n"
                          "Layer DW { Type: DSCONV Dimensions { K: 1, C: 32, R: 3, S: 3, Y: 56, X: 56 } }\n"
                          "Layer G { Type: NGCONV; Dimensions { G: 32, K: 4, C: 8, R: 3, S: 3, Y: 10, X: 10 } }\n"
                          "Layer T { Type: TRCONV Dimensions { K: 16, C: 8, R: 2, S: 2, Y: 28, X: 28 } }\n"
                          "Layer M { Type: GEMM Dimensions { K: 20, M: 10, N: 30 } }\n"
                          "Layer B { Type: BMM Dimensions { B: 5, K: 3, M: 2, N: 4 } }\n"
                          "Layer F { Type: FC Dimensions { K: 10, C: 64 } }\n"
                          "Layer O { Dimensions { N: 2, K: 8, C: 4, R: 3, S: 3, Y': 5, X': 6 } /* output sizes */ }\n"
                          "}\nAccelerator { PE { NumPEs: 128; VectorWidth: 4 } }\n",
                 NULL, *state);
    char text[200];
    assert_string_equal(graph->name, "net-1");
    assert_string_equal(graph->ops[0].name, "CONV-1");
    assert_int_equal(graph->op_count, 8);
    for (int i = 0; i < 8; i++) {
        assert_string_equal(describe(&graph->ops[i], text), expected[i]);
    }
    assert_int_equal(graph->ops[0].input_rows, 230);
    assert_int_equal(graph->ops[7].input_rows, 7);
    assert_int_equal(graph->ops[5].parameters, 0);
    assert_int_equal(graph->parameters,
                     64 * 3 * 49 + 32 * 9 + 128 * 8 * 9 + 16 * 8 * 4 + 600 + 640 + 8 * 4 * 9);
}

static void test_one_of_several_networks_is_selected(void **state)
{
    const char *text = "Network a { Layer L { Dimensions { K: 1, C: 1, Y: 1, X: 1 } } }\n"
                       "Network b { Layer L { Dimensions { K: 2, C: 1, Y: 1, X: 1 } } }\n";
    assert_int_equal(import(text, "b", *state)->ops[0].dims[MER_DIM_K], 2);
}

static void test_dataflows_are_kept_in_the_tree(void **state)
{
    const char    *text = "Constant Tile 64;\nNetwork n {\nLayer L {\nType: CONV\n"
                          "Dimensions { K: 64, C: 3, R: 3, S: 3, Y: 9, X: 9 }\nDataflow {\n"
                          "SpatialMap(1,1) K; TemporalMap(Tile,Sz(R)) Y';\nCluster(Sz(R), "
                          "P);\nCluster(8);\n}\n}\n}\n";
    MerMaestroFile file;
    assert_int_equal(mer_maestro_parse("t.m", text, strlen(text), *state, &file, NULL), MER_OK);
    const MerMaestroLayer *layer = &file.networks[0].layers[0];
    assert_true(layer->has_dataflow);
    assert_int_equal(layer->directive_count, 4);
    assert_int_equal(layer->directives[0].kind, MER_MAESTRO_SPATIAL);
    assert_string_equal(layer->directives[0].dim, "K");
    assert_int_equal(layer->directives[1].kind, MER_MAESTRO_TEMPORAL);
    assert_int_equal(layer->directives[1].size.number, 64);
    assert_string_equal(layer->directives[1].offset.terms[0].size_of, "R");
    assert_string_equal(layer->directives[1].dim, "Y'");
    assert_int_equal(layer->directives[1].place.line, 7);
    assert_int_equal(layer->directives[1].place.column, 20);
    assert_int_equal(layer->directives[2].kind, MER_MAESTRO_CLUSTER);
    assert_string_equal(layer->directives[2].dim, "P");
    assert_string_equal(layer->directives[3].dim, "");
    assert_int_equal(import(text, NULL, *state)->op_count, 1);
}

/* As in the row-stationary and yxp_os mappings that MAESTRO ships. */
static void test_sizes_may_be_sums_and_differences(void **state)
{
    static const struct {
        const char *text;
        int64_t     number;
        int         terms;
        const char *first;
        int         sign;
    } values[] = {
        {"8+Sz(S)-1,8", 7, 1, "S", 1},     {"8 + Sz(S) - 1, 8", 7, 1, "S", 1},
        {"Sz(R)-1,1", -1, 1, "R", 1},      {"Tile+2,1", 66, 0, NULL, 0},
        {"Sz(Y)-Sz(R)+1,1", 1, 2, "Y", 1}, {"10-Sz(R),Tile", 10, 1, "R", -1},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        MerMaestroFile file;
        MerError       error = {0};
        const char    *text = mer_arena_format(
               *state, "Constant Tile 64; Network n { Layer L { Dataflow { TemporalMap(%s) X; } } }",
               values[i].text);
        if (mer_maestro_parse("t.m", text, strlen(text), *state, &file, &error) != MER_OK)
            fail_msg("%s: %s", values[i].text, error.message);
        const MerMaestroDirective *directive = &file.networks[0].layers[0].directives[0];
        assert_string_equal(directive->dim, "X");
        assert_int_equal(directive->size.number, values[i].number);
        assert_int_equal(directive->size.term_count, values[i].terms);
        if (values[i].terms > 0) {
            assert_string_equal(directive->size.terms[0].size_of, values[i].first);
            assert_int_equal(directive->size.terms[0].sign, values[i].sign);
        }
    }
}

static void test_bad_files_are_refused_where_they_are_bad(void **state)
{
#define LAYER(body) "Network n { Layer L { " body " } }"
    static const char *const cases[][2] = {
        {"Netwrk n {", "t.m:1:1: found \"Netwrk\", expected Constant or Network"},
        {"Constant A 3;", "t.m:1:1: the file has no Network"},
        {"Constant A 3; Constant A 4;", "t.m:1:24: the constant \"A\" is defined twice"},
        {"Network n {", "t.m:1:12: the file ends here, expected Layer or \"}\""},
        {"Network n { }", "t.m:1:1: network n has no layers"},
        {"Network n { Layer L { Typ: CONV } }",
         "t.m:1:23: found \"Typ\", expected Type, Stride, Dimensions, Dataflow or \"}\""},
        {LAYER("Type: CONV Dimensions { K: 1, C: 1, Y: 1 }"),
         "t.m:1:13: layer L: Dimensions lack X"},
        {LAYER("Dimensions { K: 1, K: 2 }"), "t.m:1:42: K is given twice"},
        {LAYER("Dimensions { K: Q }"),
         "t.m:1:39: found \"Q\", expected an integer or the name of a Constant"},
        {LAYER("Dimensions { K: 0 }"),
         "t.m:1:39: the value is 0, expected an integer in 1 .. 2147483647"},
        {LAYER("Dimensions { K: -4 }"),
         "t.m:1:39: the value is -4, expected an integer in 1 .. 2147483647"},
        {LAYER("Type: CONF"),
         "t.m:1:29: layer L: expected the type CONV, DSCONV, NGCONV, TRCONV, FC, GEMM or "
         "BMM, found CONF"},
        {LAYER("Type: POOL"), "t.m:1:29: layer L: type POOL has no meaning in MAESTRO's model"},
        {LAYER("Dimensions { K: 1, C: 1, R: 3, Y: 2, X: 1 }"),
         "t.m:1:57: layer L: the filter is larger than the input's size 2"},
        {LAYER("Dimensions { K: 1, Q: 1 }"),
         "t.m:1:45: layer L: expected a size N, G, K, C, R, S, Y, X, Y' or X', found Q"},
        {LAYER("Dataflow { Temporal(1,1) K }"),
         "t.m:1:34: found \"Temporal\", expected TemporalMap, SpatialMap, Cluster or \"}\""},
        {LAYER("Dataflow { TemporalMap(1) K }"),
         "t.m:1:47: found \")\", expected an integer or the name of a Constant"},
        {LAYER("Dataflow { TemporalMap(8+,1) K }"),
         "t.m:1:46: the sum ends with a sign, expected another term"},
        {LAYER("Dataflow { TemporalMap(8+Q,1) K }"),
         "t.m:1:46: found \"8+Q\", expected an integer or the name of a Constant"},
        {LAYER("Dataflow { TemporalMap(2-3,1) K }"),
         "t.m:1:46: the value is -1, expected an integer in 1 .. 2147483647"},
        {LAYER("Dataflow { TemporalMap(1,-1) K }"),
         "t.m:1:48: the value is -1, expected an integer in 1 .. 2147483647"},
        {LAYER("Dataflow { } Dataflow { }"), "t.m:1:45: layer L has a second Dataflow"},
        {"Network a { Layer L { } } Network b { Layer L { } }",
         "t.m holds 2 networks, expected one to be selected: a, b (`network: NAME` beside "
         "`file` in a job list, --select NAME of inspect)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerImportFile file = text_file("t.m", cases[i][0]);
        MerGraph     *graph = NULL;
        MerError      error = {0};
        assert_int_not_equal(mer_importer_maestro.read(&file, NULL, *state, &graph, &error),
                             MER_OK);
        assert_string_equal(error.message, cases[i][1]);
    }
}

static void test_the_first_word_decides_the_format(void **state)
{
    static const struct {
        const char *text;
        bool        is_maestro;
    } cases[] = {{"Network a {", true},
                 {"  // c\n\n//d\nConstant A 3;", true},
                 {"", false},
                 {"Networks", false},
                 {"K,C,Y,X,R,S,T\n", false},
                 {"// only", false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerImportFile file = text_file("x", cases[i].text);
        assert_int_equal(mer_importer_maestro.probe(&file), cases[i].is_maestro);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)
    const struct CMUnitTest tests[] = {
        TEST(test_layers_become_operators),
        TEST(test_one_of_several_networks_is_selected),
        TEST(test_dataflows_are_kept_in_the_tree),
        TEST(test_sizes_may_be_sums_and_differences),
        TEST(test_bad_files_are_refused_where_they_are_bad),
        TEST(test_the_first_word_decides_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
