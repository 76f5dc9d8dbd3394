/* Constraints of loop nests: what is read, what is refused, and that every point obeys. */
#include "map/nest/constraints.h"
#include "map/nest/nest_format.h"
#include "s256.h"
#include "support.h"

typedef struct Case {
    MerArena          *arena;
    const MerPlatform *platform;
    MerOp              op;
    MerLayerShape      shape;
    MerError           error;
} Case;

static int open_case(void **state)
{
    Case *c = calloc(1, sizeof *c);
    c->arena = mer_arena_new();
    c->op = s256_op(&s256_layers[3]); /* K 128, C 128, Y 28, X 28, R 3, S 3 */
    *state = c;
    return mer_platform_read("s256", c->arena, &c->platform, NULL) != MER_OK ||
           mer_layer_shape_make(&c->op, &c->shape, NULL) != MER_OK;
}

static int close_case(void **state)
{
    Case *c = *state;
    mer_arena_free(c->arena);
    free(c);
    return 0;
}

static MerStatus make(Case *c, MerDataflow dataflow, const char *text,
                      MerNestConstraints *constraints)
{
    if (text) {
        write_text("constraints.yaml", text);
    }
    c->error = (MerError){0};
    return mer_nest_constraints_make(constraints, &c->op, &c->shape, c->platform, dataflow,
                                     text ? "constraints.yaml" : NULL, false, c->arena, &c->error);
}

static void accept(Case *c, const char *text, MerNestConstraints *constraints)
{
    if (make(c, MER_DATAFLOW_NONE, text, constraints) != MER_OK) {
        fail_msg("%s", c->error.message);
    }
}

static void refuse(Case *c, const char *text, const char *part)
{
    MerNestConstraints constraints;
    if (make(c, MER_DATAFLOW_NONE, text, &constraints) == MER_OK) {
        fail_msg("accepted, expected \"%s\"", part);
    }
    mer_test_contains(c->error.message, part);
}

enum { RF, GLB, DRAM };

static void test_factors_are_read_in_every_spelling(void **state)
{
    Case              *c = *state;
    MerNestConstraints k;
    accept(c,
           "mapspace_constraints:\n"
           "- {target: GLB, type: temporal, factors: \"C=1 M=4\", permutation: CM}\n"
           "- {target: RF, type: temporal, factors: \"N1 P1 R0 S<=3 Q<5\"}\n"
           "- {target: DRAM, type: temporal, factors: [C=16, K<=8]}\n",
           &k);
    assert_int_equal(k.exact[GLB][MER_PLACE_TEMPORAL][MER_DIM_C], 1);
    assert_int_equal(k.exact[GLB][MER_PLACE_TEMPORAL][MER_DIM_K], 4);
    assert_int_equal(k.inner_count[GLB], 2);
    assert_int_equal(k.inner[GLB][0], MER_DIM_C);
    assert_int_equal(k.inner[GLB][1], MER_DIM_K);
    assert_int_equal(k.exact[RF][MER_PLACE_TEMPORAL][MER_DIM_R], 3);
    assert_int_equal(k.exact[GLB][MER_PLACE_X][MER_DIM_R], 1);
    assert_int_equal(k.exact[DRAM][MER_PLACE_TEMPORAL][MER_DIM_R], 1);
    assert_int_equal(k.most[RF][MER_PLACE_TEMPORAL][MER_DIM_S], 3);
    assert_int_equal(k.most[RF][MER_PLACE_TEMPORAL][MER_DIM_X], 4);
    assert_int_equal(k.exact[DRAM][MER_PLACE_TEMPORAL][MER_DIM_C], 16);
    assert_int_equal(k.most[DRAM][MER_PLACE_TEMPORAL][MER_DIM_K], 8);
}

static void test_split_says_which_axis_a_dim_is_on(void **state)
{
    Case              *c = *state;
    MerNestConstraints k;
    accept(c,
           "architecture_constraints:\n  targets:\n"
           "  - {target: GLB, type: spatial, factors: \"M=16 C=4\", permutation: MCP, split: 1}\n",
           &k);
    assert_int_equal(k.exact[GLB][MER_PLACE_X][MER_DIM_K], 16);
    assert_int_equal(k.exact[GLB][MER_PLACE_Y][MER_DIM_K], 1);
    assert_int_equal(k.exact[GLB][MER_PLACE_X][MER_DIM_C], 1);
    assert_int_equal(k.exact[GLB][MER_PLACE_Y][MER_DIM_C], 4);
    assert_int_equal(k.exact[GLB][MER_PLACE_X][MER_DIM_Y], 1);
    assert_int_equal(k.exact[GLB][MER_PLACE_Y][MER_DIM_Y], 0);
}

static void test_without_split_factors_go_where_they_fit(void **state)
{
    Case              *c = *state;
    MerNestConstraints k;
    accept(c, "mapspace: {constraints: [{target: GLB, type: spatial, factors: \"C=16 M=8\"}]}\n",
           &k);
    assert_int_equal(k.exact[GLB][MER_PLACE_X][MER_DIM_K] * k.exact[GLB][MER_PLACE_Y][MER_DIM_K],
                     8);
    assert_int_equal(k.exact[GLB][MER_PLACE_X][MER_DIM_C] * k.exact[GLB][MER_PLACE_Y][MER_DIM_C],
                     16);
    accept(c, "constraints: [{target: GLB, type: spatial, factors: C=64}]\n", &k);
    assert_int_equal(k.exact[GLB][MER_PLACE_X][MER_DIM_C] * k.exact[GLB][MER_PLACE_Y][MER_DIM_C],
                     64);
}

static void test_keep_and_bypass_override_the_platform(void **state)
{
    Case              *c = *state;
    MerNestConstraints k;
    MerNestSpace       nest;
    MerSpace           space;
    accept(c, "constraints: [{target: RF, type: bypass, bypass: [Inputs], keep: [Weights]}]\n", &k);
    assert_int_equal(mer_nest_space_open(&nest, &c->op, c->platform, MER_GENOME_PRIMES, &k, &space,
                                         c->arena, NULL),
                     MER_OK);
    assert_int_equal(nest.keep[RF], 1u << MER_TENSOR_W | 1u << MER_TENSOR_O);
    assert_int_equal(nest.is_free[RF], 0);
}

static void test_what_cannot_hold_is_refused_with_constraint_and_dim(void **state)
{
    Case *c = *state;
    refuse(c, "constraints: [{target: GLB, type: temporal, factors: M=3}]\n",
           "constraint K=3 at GLB cannot hold: K is 128");
    refuse(c,
           "constraints: [{target: GLB, type: temporal, factors: M=64}, {target: RF, type: "
           "temporal, factors: M=4}]\n",
           "constraint K=64 at GLB cannot hold");
    refuse(
        c,
        "constraints: [{target: GLB, type: spatial, factors: M=128, permutation: M, split: 1}]\n",
        "constraint K=128 at GLB on x cannot hold");
    refuse(c,
           "constraints: [{target: GLB, type: spatial, factors: \"M=16 C=16\", permutation: MC, "
           "split: 2}]\n",
           "the fixed factors need 256 instances, the fan-out has 16");
    refuse(c,
           "constraints:\n- {target: DRAM, type: temporal, factors: C<=2}\n- {target: GLB, type: "
           "temporal, factors: C<=2}\n"
           "- {target: RF, type: temporal, factors: C<=2}\n- {target: GLB, type: spatial, factors: "
           "C=1}\n",
           "constraints on C cannot hold together: 128 of 128 remain");
    refuse(c, "constraints: [{target: DRAM, type: datatype, bypass: [Weights]}]\n",
           "constraint on W at DRAM cannot hold");
    refuse(c, "constraints: [{target: GL, type: temporal, factors: M=2}]\n",
           "constraints.yaml:1:24");
    refuse(c, "constraints: [{target: GL, type: temporal, factors: M=2}]\n", "did you mean GLB");
    refuse(c, "constraints: [{target: GLB, type: temporal, factors: \"M=2 M=4\"}]\n",
           "each dimension once");
    refuse(c,
           "constraints: [{target: GLB, type: temporal, factors: M=2}, {target: GLB, type: "
           "temporal, factors: M=4}]\n",
           "fixes K at GLB to 4, it is fixed to 2 already");
    refuse(c, "mapper: {}\n", "found no constraints");
}

/* Points of every genome obey, and the plans they decode to can be encoded again. */
static void check_points(Case *c, const MerNestConstraints *k, MerNestGenome genome)
{
    MerNestSpace nest;
    MerSpace     space;
    MerRng       rng = mer_rng_make(7, 1);
    char         reason[120];
    assert_int_equal(
        mer_nest_space_open(&nest, &c->op, c->platform, genome, k, &space, c->arena, NULL), MER_OK);
    MerIndex *point = MER_ARRAY(c->arena, MerIndex, space.knob_count + 1);
    MerIndex *again = MER_ARRAY(c->arena, MerIndex, space.knob_count + 1);
    for (int i = 0; i < 500; i++) {
        MerNestPlan plan;
        MerNestPlan copy;
        mer_space_sample(&space, &rng, point);
        mer_nest_decode(&nest, point, &plan, c->arena);
        if (!mer_nest_allows(k, &plan, &c->shape, reason, sizeof reason)) {
            fail_msg("genome %d: %s", genome, reason);
        }
        if (genome != MER_GENOME_PADDED) {
            assert_int_equal(mer_nest_check_product(&plan, false, "point", NULL), MER_OK);
        }
        assert_true(mer_nest_encode(&nest, &plan, &space, again));
        mer_nest_decode(&nest, again, &copy, c->arena);
        assert_string_equal(mer_nest_line(&plan, c->platform, c->arena),
                            mer_nest_line(&copy, c->platform, c->arena));
    }
}

static void test_every_point_obeys(void **state)
{
    static const char *const texts[] = {
        "constraints:\n"
        "- {target: GLB, type: spatial, factors: \"R=1 S=1 M<=8\", permutation: MCPQ, split: 1}\n"
        "- {target: GLB, type: temporal, factors: \"N1 R=1 C<=4\", permutation: CM}\n"
        "- {target: RF, type: temporal, factors: \"R0 S=3 P<=4\", permutation: SRQP}\n"
        "- {target: RF, type: datatype, keep: [Weights], bypass: [Inputs]}\n",
        "constraints:\n"
        "- {target: DRAM, type: temporal, factors: \"C=1 M=1 P=1 Q=1 R=1 S=1\"}\n",
        "constraints:\n"
        "- {target: DRAM, type: temporal, factors: \"C<=2 M=2\", permutation: QPCMRS}\n"
        "- {target: GLB, type: spatial, factors: \"C=0\"}\n"};
    Case *c = *state;
    c->op.dims[MER_DIM_C] = 16;
    assert_int_equal(mer_layer_shape_make(&c->op, &c->shape, NULL), MER_OK);
    for (int g = MER_GENOME_PRIMES; g <= MER_GENOME_PADDED; g++) {
        for (int t = 0; t < 3; t++) {
            MerNestConstraints k;
            accept(c, texts[t], &k);
            check_points(c, &k, (MerNestGenome)g);
        }
        for (int dataflow = MER_DATAFLOW_WEIGHT; dataflow <= MER_DATAFLOW_ROW; dataflow++) {
            MerNestConstraints k;
            assert_int_equal(make(c, (MerDataflow)dataflow, NULL, &k), MER_OK);
            check_points(c, &k, (MerNestGenome)g);
        }
    }
}

static void test_broken_constraints_are_named(void **state)
{
    Case              *c = *state;
    MerNestConstraints k;
    MerNestPlan        plan;
    char               reason[120];
    accept(c, "constraints: [{target: GLB, type: temporal, factors: M<=8, permutation: CM}]\n", &k);
    assert_int_equal(mer_nest_parse("DRAM: C128 Y28 X28 | GLB: K16 | RF: K8 R3 S3", &c->op,
                                    c->platform, false, &plan, c->arena, NULL),
                     MER_OK);
    assert_false(mer_nest_allows(&k, &plan, &c->shape, reason, sizeof reason));
    assert_string_equal(reason, "K at GLB is 16, at most 8");
    assert_int_equal(mer_nest_parse("DRAM: Y28 X28 | GLB: C128 K8 | RF: K16 R3 S3", &c->op,
                                    c->platform, false, &plan, c->arena, NULL),
                     MER_OK);
    assert_false(mer_nest_allows(&k, &plan, &c->shape, reason, sizeof reason));
    mer_test_contains(reason, "the loops of GLB run over K inside C");
    assert_int_equal(mer_nest_parse("DRAM: Y28 X28 | GLB: K8 C128 | RF: K16 R3 S3", &c->op,
                                    c->platform, false, &plan, c->arena, NULL),
                     MER_OK);
    assert_true(mer_nest_allows(&k, &plan, &c->shape, reason, sizeof reason));
}

static void test_constraints_read_back_as_text(void **state)
{
    Case              *c = *state;
    MerNestConstraints k;
    MerNestSpace       nest;
    MerSpace           space;
    assert_int_equal(make(c, MER_DATAFLOW_WEIGHT, NULL, &k), MER_OK);
    assert_int_equal(mer_nest_space_open(&nest, &c->op, c->platform, MER_GENOME_PRIMES, &k, &space,
                                         c->arena, NULL),
                     MER_OK);
    assert_string_equal(mer_nest_constraints_text(&nest, c->arena),
                        "GLB: not spread: Y X R S, innermost X Y\nRF: keeps W\n");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_case, close_case)
    const struct CMUnitTest tests[] = {
        TEST(test_factors_are_read_in_every_spelling),
        TEST(test_split_says_which_axis_a_dim_is_on),
        TEST(test_without_split_factors_go_where_they_fit),
        TEST(test_keep_and_bypass_override_the_platform),
        TEST(test_what_cannot_hold_is_refused_with_constraint_and_dim),
        TEST(test_every_point_obeys),
        TEST(test_broken_constraints_are_named),
        TEST(test_constraints_read_back_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
