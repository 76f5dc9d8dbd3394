/* Timeloop problems: which layer the projections mean. */
#include "import/layer_list.h"
#include "support.h"

#include "unit/importer.h"

#define COEFFICIENTS                                                                               \
    "    coefficients: [{name: Wstride, default: 1}, {name: Hstride, default: 1}, "                \
    "{name: Wdilation, default: 1}, {name: Hdilation, default: 1}]\n"
#define CONV_SHAPE                                                                                 \
    "  shape:\n    name: conv\n    dimensions: [C, M, R, S, N, P, Q]\n" COEFFICIENTS               \
    "    data-spaces:\n"                                                                           \
    "      - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]}\n"                          \
    "      - {name: Inputs, projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], "           \
    "[[S, Hdilation], [Q, Hstride]]]}\n"                                                           \
    "      - {name: Outputs, projection: [[[N]], [[M]], [[Q]], [[P]]], read-write: True}\n"

typedef struct Case {
    const char *text, *expected;
} Case;

static void test_projections_decide_the_kind(void **state)
{
    static const Case cases[] = {
        {"architecture: {version: 0.3}\nproblem:\n  version: 0.3\n" CONV_SHAPE
         "  instance: {N: 1, M: 128, C: 64, R: 3, S: 5, P: 28, Q: 30, Wstride: 2, Hdilation: 3}\n"
         "mapper: {algorithm: random}\n",
         "conv K128 C64 Y28 X30 R3 S5 s2,1 d1,3"},
        /* underscores, other names, other order */
        {"problem:\n  shape:\n    dimensions: [o, i, b, h, w, kh, kw]\n    coefficients:\n"
         "      - {name: s, default: 2}\n    data_spaces:\n"
         "      - {name: Out, projection: [[[b]], [[o]], [[h]], [[w]]], read_write: True}\n"
         "      - {name: In, projection: [[[b]], [[i]], [[h, s], [kh]], [[w, s], [kw]]]}\n"
         "      - {name: Ker, projection: [[[o]], [[i]], [[kh]], [[kw]]]}\n"
         "  instance: {o: 2, i: 3, b: 4, h: 5, w: 6, kh: 7, kw: 8}\n",
         "conv N4 K2 C3 Y5 X6 R7 S8 s2,2"},
        {"problem:\n  shape:\n    dimensions: [C, R, S, P, Q]\n    data-spaces:\n"
         "      - {name: Weights, projection: [[[C]], [[R]], [[S]]]}\n"
         "      - {name: Inputs, projection: [[[C]], [[R], [P]], [[S], [Q]]]}\n"
         "      - {name: Outputs, projection: [[[C]], [[Q]], [[P]]], read-write: True}\n"
         "  instance: {C: 32, R: 3, S: 3, P: 10, Q: 11}\n",
         "depthwise C32 Y10 X11 R3 S3"},
        {"problem:\n  shape:\n    dimensions: [G, C, M, R, S, P, Q]\n    data-spaces:\n"
         "      - {name: Weights, projection: [[[G]], [[C]], [[M]], [[R]], [[S]]]}\n"
         "      - {name: Inputs, projection: [[[G]], [[C]], [[R], [P]], [[S], [Q]]]}\n"
         "      - {name: Outputs, projection: [[[G]], [[M]], [[Q]], [[P]]], read-write: True}\n"
         "  instance: {G: 32, C: 4, M: 8, R: 3, S: 3, P: 10, Q: 11}\n",
         "conv K8 C4 Y10 X11 R3 S3 G32"},
        {"problem:\n  shape:\n    dimensions: [M, N, K]\n    data-spaces:\n"
         "      - {name: A, projection: [[[M]], [[K]]]}\n      - {name: B, projection: [[[K]], "
         "[[N]]]}\n"
         "      - {name: Z, projection: [[[M]], [[N]]], read-write: True}\n"
         "  instance: {M: 512, N: 768, K: 64}\n",
         "gemm K768 C64 Y512"},
        {"problem:\n  shape:\n    dimensions: [H, M, N, K]\n    data-spaces:\n"
         "      - {name: A, projection: [[[H]], [[M]], [[K]]]}\n"
         "      - {name: B, projection: [[[H]], [[K]], [[N]]]}\n"
         "      - {name: Z, projection: [[[H]], [[M]], [[N]]], read-write: True}\n"
         "  instance: {H: 12, M: 512, N: 512, K: 64}\n",
         "batched-gemm K512 C64 Y512 G12"},
        /* 1-D, and a strided point-wise layer */
        {"problem:\n  shape:\n    dimensions: [C, M, R, P]\n    data-spaces:\n"
         "      - {name: W, projection: [[[C]], [[M]], [[R]]]}\n"
         "      - {name: I, projection: [[[C]], [[R, 2], [P, 3]]]}\n"
         "      - {name: O, projection: [[[M]], [[P]]], read-write: True}\n"
         "  instance: {C: 4, M: 5, R: 6, P: 7}\n",
         "conv K5 C4 Y7 R6 s3,1 d2,1"},
        {"problem:\n  shape:\n    dimensions: [C, M, P, Q]\n    data-spaces:\n"
         "      - {name: W, projection: [[[C]], [[M]]]}\n"
         "      - {name: I, projection: [[[C]], [[P, 2]], [[Q, 2]]]}\n"
         "      - {name: O, projection: [[[M]], [[P]], [[Q]]], read-write: True}\n"
         "  instance: {C: 4, M: 5, P: 6, Q: 7}\n",
         "conv K5 C4 Y6 X7 s2,2"},
        {"problem:\n  shape: cnn-layer\n  C: 3\n  K: 64\n  N: 1\n  P: 112\n  Q: 110\n  R: 7\n  S: "
         "5\n"
         "  Wstride: 2\n  Hstride: 1\n  Hdilation: 1\n  Wdilation: 1\n",
         "conv K64 C3 Y112 X110 R7 S5 s2,1"},
        {"problem:\n  shape: cnn_layer\n  instance: {C: 3, M: 64, P: 4, Q: 5, R: 1, S: 1}\n",
         "conv K64 C3 Y4 X5"},
        {"problem:\n  shape: gemm\n  M: 2\n  N: 3\n  K: 4\n", "gemm K3 C4 Y2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerImportFile   file = text_file("t.yaml", cases[i].text);
        const MerGraph *graph = must_import(&mer_importer_timeloop, &file, NULL, *state);
        char            text[200];
        assert_int_equal(graph->op_count, 1);
        assert_string_equal(describe(&graph->ops[0], text), cases[i].expected);
    }
}

static void test_r50_c3_3x3_has_its_macs_and_bytes(void **state)
{
    MerImportFile file =
        text_file("t.yaml", "problem:\n" CONV_SHAPE
                            "  instance: {N: 1, M: 128, C: 128, R: 3, S: 3, P: 28, Q: 28}\n");
    const MerGraph *graph = must_import(&mer_importer_timeloop, &file, NULL, *state);
    assert_int_equal(graph->macs, 115605504);
    assert_int_equal(graph->parameters, 128 * 128 * 9);
    assert_int_equal(graph->ops[0].input_bytes, 4 * 128 * 30 * 30);
}

static void test_other_problems_are_refused_with_the_reason(void **state)
{
#define NONE ": the problem is none of conv, depthwise, gemm and batched gemm: "
    static const struct {
        MerStatus   status;
        const char *text, *message;
    } cases[] = {
        {MER_INVALID, "problem: 3\n", "t.yaml:1:10: problem is 3, expected a map"},
        {MER_INVALID, "problem: {instance: {}}\n", "t.yaml:1:10: problem has no key \"shape\""},
        {MER_UNSUPPORTED, "problem: {version: 1.0, shape: gemm}\n",
         "t.yaml:1:20: problem version 1.0 is not known, only 0.1 to 0.4"},
        {MER_UNSUPPORTED, "problem: {shape: mttkrp}\n",
         "t.yaml:1:18: the shape is \"mttkrp\", expected cnn-layer, gemm or a map with dimensions "
         "and "
         "data-spaces"},
        {MER_INVALID, "problem: {shape: gemm, M: 1, N: 2}\n",
         "t.yaml:1:10: problem has no key \"K\""},
        {MER_INVALID, "problem: {shape: gemm, M: 1, N: 0, K: 1}\n",
         "t.yaml:1:33: problem.N is 0, expected an integer >= 1"},
        {MER_INVALID, "problem:\n  shape: {dimensions: [M], data-spaces: []}\n  instance: {K: 3}\n",
         "t.yaml:3:13: problem.instance has no key \"M\""},
        {MER_UNSUPPORTED,
         "problem:\n  shape: {dimensions: [M], data-spaces: []}\n  instance: {M: 3}\n",
         "t.yaml:2:41" NONE "it has not three data-spaces"},
        {MER_INVALID,
         "problem:\n  shape: {dimensions: [M], data-spaces: [{name: A, projection: [[[N]]]}, "
         "{name: B, projection: []}, {name: C, projection: []}]}\n  instance: {M: 3}\n",
         "t.yaml:2:67: problem.shape.data-spaces[0].projection[0][0][0] is \"N\", expected the "
         "name of a "
         "dimension"},
        {MER_UNSUPPORTED,
         "problem:\n  shape: {dimensions: [M], data-spaces: [{name: A, projection: [[[M]]]}, "
         "{name: B, projection: []}, {name: C, projection: []}]}\n  instance: {M: 3}\n",
         "t.yaml:2:10" NONE "no data-space has read-write: True"},
        {MER_UNSUPPORTED,
         "problem:\n  shape: {dimensions: [M], data-spaces: [{name: A, projection: [[[M]]]}, "
         "{name: B, projection: []}, {name: C, projection: [], read-write: true}]}\n  instance: "
         "{M: 3}\n",
         "t.yaml:2:10" NONE "only one data-space, or none, uses M"},
        {MER_UNSUPPORTED,
         "problem:\n  shape: {dimensions: [M, N, K], data-spaces: [{name: A, projection: "
         "[[[M], [N], [K]]]}, {name: B, projection: []}, {name: C, projection: []}]}\n"
         "  instance: {M: 3, N: 3, K: 3}\n",
         "t.yaml:2:71" NONE "a rank is a sum of more than two dimensions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerImportFile file = text_file("t.yaml", cases[i].text);
        MerGraph     *graph = NULL;
        MerError      error = {0};
        assert_int_equal(mer_importer_timeloop.read(&file, NULL, *state, &graph, &error),
                         cases[i].status);
        assert_string_equal(error.message, cases[i].message);
    }
}

static void test_our_own_files_are_no_problems(void **state)
{
    MerImportFile file = text_file("e.yaml", "format: mercator-experiment/1\nproblem: map\n");
    (void)state;
    assert_false(mer_importer_timeloop.probe(&file));
    file = text_file("a.yaml", "architecture: {}\n");
    assert_false(mer_importer_timeloop.probe(&file));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)
    const struct CMUnitTest tests[] = {
        TEST(test_projections_decide_the_kind),
        TEST(test_r50_c3_3x3_has_its_macs_and_bytes),
        TEST(test_other_problems_are_refused_with_the_reason),
        TEST(test_our_own_files_are_no_problems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
