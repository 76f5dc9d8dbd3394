/* Data-centric spaces and mappings: points, plans, text, and bounds that no random point beats. */
#include "layer/datacentric_plan.h"
#include "layer/directive_format.h"
#include "map/directives/directives.h"
#include "map/export/maestro_plan.h"
#include "mercator/evaluator.h"
#include "mercator/json.h"
#include "support.h"

#include <math.h>

extern const MerEvaluatorClass mer_evaluator_datacentric;

typedef struct Layer {
    const char *name;
    MerOpKind   kind;
    int         k, c, y, x, r, s, stride, groups;
} Layer;

static const Layer layers[] = {
    {"conv3x3", MER_OP_CONV, 64, 64, 56, 56, 3, 3, 1, 1},
    {"conv1x1", MER_OP_CONV, 96, 16, 112, 112, 1, 1, 1, 1},
    {"strided3x3", MER_OP_CONV, 128, 128, 28, 28, 3, 3, 2, 1},
    {"strided1x1", MER_OP_CONV, 512, 256, 28, 28, 1, 1, 2, 1},
    {"depthwise", MER_OP_DEPTHWISE, 1, 96, 56, 56, 3, 3, 2, 1},
    {"grouped", MER_OP_CONV, 4, 4, 56, 56, 3, 3, 1, 32},
    {"transposed", MER_OP_TRANSPOSED, 16, 32, 20, 20, 4, 4, 2, 1},
    {"gemm", MER_OP_GEMM, 768, 768, 512, 1, 1, 1, 1, 1},
    {"batched", MER_OP_BATCHED_GEMM, 512, 64, 512, 1, 1, 1, 1, 12},
};
enum { LAYERS = sizeof layers / sizeof *layers };

static MerOp make_op(const Layer *layer)
{
    MerOp op = mer_op_make(layer->name, "test", layer->kind);

    op.dims[MER_DIM_K] = layer->k;
    op.dims[MER_DIM_C] = layer->c;
    op.dims[MER_DIM_Y] = layer->y;
    op.dims[MER_DIM_X] = layer->x;
    op.dims[MER_DIM_R] = layer->r;
    op.dims[MER_DIM_S] = layer->s;
    op.dims[MER_DIM_G] = layer->groups;
    op.stride[0] = op.stride[1] = layer->stride;
    return op;
}

static const MerMemory memories[] = {
    {.name = "DRAM",
     .words = INFINITY,
     .read_words_per_cycle = 32,
     .write_words_per_cycle = 32,
     .fanout = {.x = 1, .y = 1, .words_per_cycle = 32}},
    {.name = "L2",
     .words = INFINITY,
     .read_pj = 4.2803,
     .write_pj = 4.2803,
     .fanout = {.x = 32, .y = 32, .words_per_cycle = 64, .latency_cycles = 2}},
    {.name = "L1",
     .words = INFINITY,
     .read_pj = 0.3864,
     .write_pj = 0.3864,
     .fanout = {.x = 1, .y = 1, .words_per_cycle = INFINITY}},
};
static const MerUnit     unit = {.name = "PE", .mac_pj = 0.23, .lanes = 1};
static const MerPlatform platform = {.kind = MER_PLATFORM_PE_ARRAY,
                                     .name = "test",
                                     .clock_hz = NAN,
                                     .memory_count = 3,
                                     .unit_count = 1,
                                     .memories = memories,
                                     .units = &unit};

static void open_space(MerDirectiveSpace *space, const MerOp *op, MerDirectiveGenome genome,
                       bool par_rs, MerArena *arena)
{
    MerDirectiveOptions options = {.genome = genome,
                                   .par_rs = par_rs,
                                   .min_levels = genome == MER_GENOME_GAMMA ? 1 : 0,
                                   .max_levels = genome == MER_GENOME_GAMMA ? 3 : 0};
    MerError            error = {0};

    if (mer_directives_open(space, op, &platform, &options, arena, &error) != MER_OK)
        fail_msg("%s", error.message);
}

static void ten_knobs_have_the_size_the_definition_says(void **state)
{
    MerArena         *arena = mer_arena_new();
    MerOp             op = make_op(&layers[0]);
    MerDirectiveSpace space;
    double            size;

    (void)state;
    open_space(&space, &op, MER_GENOME_TEN, false, arena);
    assert_int_equal(space.space.knob_count, 10);
    size = 24. * 24 * 4 * 4 * 11 * 7 * 7 * 8 * 8 * 8;
    assert_true(fabs(mer_space_log10_size(&space.space) - log10(size)) < 1e-9);
    assert_string_equal(space.space.knobs[5].name, "tile.K.outer");
    assert_int_equal(space.space.knobs[5].role, MER_ROLE_TILE);
    assert_int_equal(space.space.knobs[5].level, 1);
    assert_int_equal(space.space.knobs[5].choices, 7);
    mer_arena_free(arena);
}

static void gamma_has_fourteen_knobs_per_level_but_the_outermost_cluster(void **state)
{
    MerArena         *arena = mer_arena_new();
    MerOp             op = make_op(&layers[0]);
    MerDirectiveSpace space;

    (void)state;
    open_space(&space, &op, MER_GENOME_GAMMA, false, arena);
    assert_int_equal(space.space.knob_count, 1 + 3 * 14 - 1);
    mer_arena_free(arena);
}

static void every_point_decodes_and_encodes_back_to_its_plan(void **state)
{
    MerRng    rng = mer_rng_make(5, 0);
    MerArena *arena = mer_arena_new();

    (void)state;
    for (int n = 0; n < LAYERS * 4; n++) {
        MerOp             op = make_op(&layers[n / 4]);
        MerDirectiveSpace space;

        open_space(&space, &op, n & 1 ? MER_GENOME_GAMMA : MER_GENOME_TEN, n & 2, arena);
        for (int i = 0; i < 300; i++) {
            MerIndex         point[64], again[64];
            MerDirectivePlan plan;

            mer_space_sample(&space.space, &rng, point);
            mer_directives_decode(&space, point, &plan, arena);
            assert_true(mer_directives_encode(&space, &plan, again));
            assert_true(mer_space_contains(&space.space, again));
        }
        mer_arena_reset(arena);
    }
    mer_arena_free(arena);
}

static void plan_from_elsewhere_has_no_point(void **state)
{
    MerArena         *arena = mer_arena_new();
    MerOp             op = make_op(&layers[0]);
    MerDirectiveSpace space;
    MerDirectivePlan  plan;
    MerIndex          point[64];

    (void)state;
    open_space(&space, &op, MER_GENOME_TEN, false, arena);
    assert_int_equal(mer_directives_parse("S(1,1) K | T(64,64) C | Cluster 3 | S(1,1) C", &op,
                                          &plan, arena, NULL),
                     MER_OK);
    assert_false(mer_directives_encode(&space, &plan, point));
    mer_arena_free(arena);
}

/* A network that a test can open an evaluator on. */
typedef struct Opened {
    MerArena  *arena;
    MerOp      op;
    MerGraph   graph;
    MerTask    task;
    MerProblem problem;
    void      *state;
} Opened;

static void open_evaluator(Opened *opened, const MerOp *op, const char *const *settings)
{
    const MerEvaluatorClass *type = &mer_evaluator_datacentric;
    MerError                 error = {0};
    void                    *options;

    opened->arena = mer_arena_new();
    opened->op = *op;
    opened->graph = (MerGraph){.op_count = 1, .ops = &opened->op};
    opened->task = (MerTask){.name = op->name, .count = 1};
    opened->problem =
        (MerProblem){.graph = &opened->graph, .platform = &platform, .task = &opened->task};
    options = mer_arena_alloc(opened->arena, type->options_size);
    opened->state = mer_arena_alloc(opened->arena, type->state_size);
    mer_options_defaults(type->options, options, opened->arena);
    for (; settings && *settings; settings += 2)
        if (mer_options_set(type->options, options, "test", settings[0], settings[1], opened->arena,
                            &error) != MER_OK)
            fail_msg("%s", error.message);
    if (type->open(opened->state, &opened->problem, options, opened->arena, &error) != MER_OK)
        fail_msg("%s", error.message);
}

static MerCost price(const Opened *opened, const MerDirectivePlan *directives)
{
    MerDirectivePlan copy = *directives;
    MerPlan          plan = {&mer_plan_directives, &copy};
    MerCall          call = {.limit = INFINITY};
    MerCost          cost;

    mer_evaluator_datacentric.evaluate(opened->state, &plan, &call, &cost);
    return cost;
}

static void no_random_point_beats_a_bound(void **state)
{
    static const char *const exact[] = {"exact_strides", "true", NULL};
    static const MerMetric   metrics[] = {MER_METRIC_CYCLES, MER_METRIC_ENERGY, MER_METRIC_EDP};
    MerRng                   rng = mer_rng_make(9, 0);

    (void)state;
    for (int n = 0; n < LAYERS * 4; n++) {
        MerOp             op = make_op(&layers[n / 4]);
        MerArena         *scratch = mer_arena_new();
        MerDirectiveSpace space;
        Opened            opened;
        int               feasible = 0;

        open_evaluator(&opened, &op, n & 2 ? exact : NULL);
        open_space(&space, &op, n & 1 ? MER_GENOME_GAMMA : MER_GENOME_TEN, false, opened.arena);
        for (int i = 0; i < 2000; i++) {
            MerIndex         point[64];
            MerDirectivePlan plan;
            MerCost          cost;

            mer_arena_reset(scratch);
            mer_space_sample(&space.space, &rng, point);
            mer_directives_decode(&space, point, &plan, scratch);
            cost = price(&opened, &plan);
            for (int m = 0; cost.feasible && m < 3; m++) {
                MerBound bound;

                bound = mer_directives_bound(&space, &platform, metrics[m]);
                if (cost.value[metrics[m]] < bound.value * (1 - 1e-12))
                    fail_msg("%s: %s %g beats the bound %g: %s", op.name,
                             mer_metric_info(metrics[m])->name, cost.value[metrics[m]], bound.value,
                             mer_directives_line(&plan, scratch));
            }
            feasible += cost.feasible;
        }
        if ((n & 2) && feasible < 1500)
            fail_msg("%s: %d of 2000 points are feasible with exact strides", op.name, feasible);
        mer_arena_free(scratch);
        mer_arena_free(opened.arena);
    }
}

static void text_reads_back_to_the_same_plan(void **state)
{
    MerRng            rng = mer_rng_make(2, 0);
    MerArena         *arena = mer_arena_new();
    MerOp             op = make_op(&layers[2]);
    MerDirectiveSpace space;

    (void)state;
    open_space(&space, &op, MER_GENOME_GAMMA, false, arena);
    for (int i = 0; i < 200; i++) {
        MerDirectivePlan plan, from_line, from_json;
        MerIndex         point[64];
        MerJson          json = {0};
        MerYaml         *root;
        MerError         error = {0};

        mer_space_sample(&space.space, &rng, point);
        mer_directives_decode(&space, point, &plan, arena);
        if (mer_directives_parse(mer_directives_line(&plan, arena), &op, &from_line, arena,
                                 &error) != MER_OK)
            fail_msg("%s", error.message);
        assert_true(mer_directives_equal(&plan, &from_line));
        mer_json_object(&json, NULL);
        mer_directives_write(&plan, &json);
        mer_json_end_object(&json);
        assert_int_equal(mer_yaml_parse("plan", json.text, json.size, arena, &root, &error),
                         MER_OK);
        if (mer_directives_read(root, &op, &from_json, arena, &error) != MER_OK)
            fail_msg("%s", error.message);
        assert_true(mer_directives_equal(&plan, &from_json));
        mer_json_free(&json);
    }
    mer_arena_free(arena);
}

static void long_names_and_brackets_are_read_too(void **state)
{
    MerArena        *arena = mer_arena_new();
    MerOp            op = make_op(&layers[0]);
    MerDirectivePlan plan, same;

    (void)state;
    assert_int_equal(mer_directives_parse(
                         "SpatialMap(1,1) K | TemporalMap( 3 , 1 ) Y | Cluster(64, P) | S(2,2) X'",
                         &op, &plan, arena, NULL),
                     MER_OK);
    assert_int_equal(
        mer_directives_parse("S(1,1) K|T(3,1) Y|Cluster 64|S(2,2) X'", &op, &same, arena, NULL),
        MER_OK);
    assert_true(mer_directives_equal(&plan, &same));
    assert_string_equal(
        mer_directives_print(&plan, arena),
        "SpatialMap(1,1) K\nTemporalMap(3,1) Y\nCluster 64\n  SpatialMap(2,2) X'\n");
    mer_arena_free(arena);
}

static void wrong_directives_are_refused_with_their_place(void **state)
{
    static const char *const wrong[] = {
        "",           "S(0,1) K", "S(1,1) Q",           "S(1,1) K'",         "Cluster 3 | S(1,1) K",
        "S(1,1) K |", "S(1) K",   "S(1,1) K x",         "M(1,1) K",          "S(1,1) K | Cluster 4",
        "S(1,1",      "S(1,1) ",  "T(99999999999,1) K", "S(1,1) K | Cluster"};
    MerArena *arena = mer_arena_new();
    MerOp     op = make_op(&layers[0]);

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        MerDirectivePlan plan;
        MerError         error = {0};

        if (mer_directives_parse(wrong[i], &op, &plan, arena, &error) != MER_INVALID)
            fail_msg("\"%s\" was taken", wrong[i]);
        mer_test_contains(error.message, "expected a directive");
    }
    mer_arena_free(arena);
}

static void maestro_text_has_padded_inputs_and_gemm_letters(void **state)
{
    MerArena        *arena = mer_arena_new();
    MerOp            conv = make_op(&layers[2]), gemm = make_op(&layers[7]);
    MerDirectivePlan plan;

    (void)state;
    mer_directives_parse("S(1,1) K | T(1,1) Y' | Cluster 4 | S(1,1) C", &conv, &plan, arena, NULL);
    assert_string_equal(
        mer_directives_maestro(&plan, true, arena),
        "    Layer strided3x3 {\n        Type: CONV\n        Stride { X: 2, Y: 2 }\n"
        "        Dimensions { N: 1, G: 1, K: 128, C: 128, R: 3, S: 3, Y: 57, X: 57 }\n"
        "        Dataflow {\n            SpatialMap(1,1) K;\n            TemporalMap(1,1) Y';\n"
        "            Cluster(4, P);\n            SpatialMap(1,1) C;\n        }\n    }\n");
    mer_directives_parse("S(1,1) K | T(4,4) Y' | T(2,2) C", &gemm, &plan, arena, NULL);
    mer_test_contains(mer_directives_maestro(&plan, true, arena),
                      "Dimensions { M: 512, N: 768, K: 768 }");
    mer_test_contains(
        mer_directives_maestro(&plan, true, arena),
        "SpatialMap(1,1) N;\n            TemporalMap(4,4) M;\n            TemporalMap(2,2) K;");
    mer_arena_free(arena);
}

/* What MAESTRO's text says is priced as the plan it was written from. */
static void maestro_text_reads_back_to_the_same_cost(void **state)
{
    MerRng rng = mer_rng_make(6, 0);

    (void)state;
    for (int n = 0; n < LAYERS; n++) {
        MerOp             op = make_op(&layers[n]);
        MerDirectiveSpace space;
        Opened            opened;

        open_evaluator(&opened, &op, NULL);
        open_space(&space, &op, MER_GENOME_TEN, false, opened.arena);
        for (int i = 0; i < 50; i++) {
            MerIndex         point[64];
            MerDirectivePlan plan, again;
            MerMaestroFile   file;
            MerError         error = {0};
            const char      *text;

            mer_space_sample(&space.space, &rng, point);
            mer_directives_decode(&space, point, &plan, opened.arena);
            text = mer_arena_format(opened.arena, "Network n {\n%s}\n",
                                    mer_directives_maestro(&plan, true, opened.arena));
            if (mer_maestro_parse("n.m", text, strlen(text), opened.arena, &file, &error) !=
                    MER_OK ||
                mer_maestro_plan("n.m", &file.networks[0].layers[0], NULL, &op, &again,
                                 opened.arena, &error) != MER_OK)
                fail_msg("%s", error.message);
            assert_true(price(&opened, &plan).value[MER_METRIC_EDP] ==
                            price(&opened, &again).value[MER_METRIC_EDP] ||
                        !price(&opened, &again).feasible);
            assert_string_equal(price(&opened, &plan).reason, price(&opened, &again).reason);
        }
        mer_arena_free(opened.arena);
    }
}

static void dataflow_takes_sizes_of_the_layer_and_names_its_faults(void **state)
{
    static const char head[] =
        "Network n { Layer a { Type: CONV Dimensions { K: 64, C: 64, R: 3, S: 3, Y: 58, X: 58 } ";
    MerArena        *arena = mer_arena_new();
    MerOp            op = make_op(&layers[0]);
    MerMaestroFile   file;
    MerDirectivePlan plan, same;
    MerError         error = {0};
    const char      *text;

    (void)state;
    text = mer_arena_format(
        arena,
        "%sDataflow { SpatialMap(1,1) K; TemporalMap(Sz(R),1) Y; Cluster(Sz(S), P); "
        "SpatialMap(1,1) C; } } Layer b { Type: CONV Dimensions { K: 64, C: 64, R: 3, "
        "S: 3, Y: 58, X: 58 } } }",
        head);
    assert_int_equal(mer_maestro_parse("n.m", text, strlen(text), arena, &file, &error), MER_OK);
    assert_int_equal(mer_maestro_plan("n.m", &file.networks[0].layers[1],
                                      &file.networks[0].layers[0], &op, &plan, arena, &error),
                     MER_OK);
    mer_directives_parse("S(1,1) K | T(3,1) Y | Cluster 3 | S(1,1) C", &op, &same, arena, NULL);
    assert_true(mer_directives_equal(&plan, &same));
    assert_int_equal(
        mer_maestro_plan("n.m", &file.networks[0].layers[1], NULL, &op, &plan, arena, &error),
        MER_INVALID);
    mer_test_contains(error.message, "has no Dataflow");
    text = mer_arena_format(arena, "%sDataflow { SpatialMap(1,1) M; } } }", head);
    assert_int_equal(mer_maestro_parse("n.m", text, strlen(text), arena, &file, &error), MER_OK);
    assert_int_equal(
        mer_maestro_plan("n.m", &file.networks[0].layers[0], NULL, &op, &plan, arena, &error),
        MER_INVALID);
    mer_test_contains(error.message, "expected a dimension of the layer, found M");
    mer_arena_free(arena);
}

static void strict_prices_all_accesses_and_compat_the_column_of_maestro(void **state)
{
    static const char *const compat[] = {
        "mode",       "compat", "num_pes",         "256", "noc_bw", "1000", "noc_hops", "1",
        "offchip_bw", "50",     "noc_hop_latency", "1",   NULL};
    static const char mapping[] = "S(1,1) K | T(64,64) C | T(3,3) R | T(3,3) S | T(3,1) Y | T(3,1) "
                                  "X | Cluster 64 | S(1,1) C | T(3,1) Y | "
                                  "T(3,1) X | T(3,3) R | T(3,3) S";
    Layer             vgg_conv2 = {"conv2", MER_OP_CONV, 64, 64, 222, 222, 3, 3, 1, 1};
    MerOp             op = make_op(&vgg_conv2);
    MerDirectivePlan  plan;
    Opened            opened;
    MerCost           cost;

    (void)state;
    open_evaluator(&opened, &op, compat);
    assert_int_equal(mer_directives_parse(mapping, &op, &plan, opened.arena, NULL), MER_OK);
    cost = price(&opened, &plan);
    assert_true(cost.feasible);
    assert_true(cost.value[MER_METRIC_CYCLES] == 44947008);
    assert_true(fabs(cost.value[MER_METRIC_ENERGY] / 681402e3 - 1) < 1e-5);
    assert_true(fabs(cost.value[MER_METRIC_AREA] / 419049000.0 - 1) < 1e-5);
    assert_true(fabs(cost.value[MER_METRIC_POWER] / 3435.59 - 1) < 1e-5);
    mer_arena_free(opened.arena);

    open_evaluator(&opened, &op,
                   (const char *const[]){"num_pes", "256", "noc_bw", "1000", "noc_hop_latency", "1",
                                         "offchip_bw", "50", NULL});
    assert_int_equal(mer_directives_parse(mapping, &op, &plan, opened.arena, NULL), MER_OK);
    cost = price(&opened, &plan);
    assert_true(cost.value[MER_METRIC_CYCLES] == 44947008);
    assert_true(fabs(cost.value[MER_METRIC_ENERGY] / (17303700000.0 * 0.23) - 1) < 1e-5);
    assert_true(fabs(cost.value[MER_METRIC_UTILISATION] - 1816805376 / (44947008 * 256.)) < 1e-12);
    mer_arena_free(opened.arena);
}

static void infeasible_plans_say_why(void **state)
{
    static const struct {
        const char *settings[3], *mapping, *reason;
    } cases[] = {
        {{"l1_size", "50", NULL},
         "S(1,1) K | T(1,1) C | T(3,1) Y | T(3,1) X",
         "capacity: L1 needs 54 words, has 50"},
        {{NULL},
         "S(1,1) K | Cluster 2000 | S(1,1) C",
         "fan-out: clusters need 2000 PEs, the array has 1024"},
        {{NULL}, "T(1,1) K | T(1,1) C", "encoding: 0 spatial maps in level 0, expected 1 or 2"},
        {{NULL}, "S(1,1) K | T(1,1) R", "encoding: temporal tile (1,1) of R, expected 3"},
        {{NULL}, "S(1,1) G | T(1,1) C", "encoding: G is not a dimension of a CONV layer"},
        {{NULL}, "S(1,1) K | T(57,57) Y'", "coverage: covers "},
    };
    MerOp op = make_op(&layers[0]);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        MerDirectivePlan plan;
        Opened           opened;
        MerCost          cost;

        open_evaluator(&opened, &op, cases[i].settings);
        assert_int_equal(mer_directives_parse(cases[i].mapping, &op, &plan, opened.arena, NULL),
                         MER_OK);
        cost = price(&opened, &plan);
        assert_false(cost.feasible);
        mer_test_contains(cost.reason, cases[i].reason);
        mer_arena_free(opened.arena);
    }
}

static char noted[20000];

static void keep_note(void *state, const char *name, const char *json)
{
    (void)state;
    size_t used = strlen(noted);
    snprintf(noted + used, sizeof noted - used, "%s %s\n", name, json);
}

static void detail_notes_counts_per_level_and_tensor(void **state)
{
    MerNotes         notes = {.note = keep_note};
    MerOp            op = make_op(&layers[0]);
    MerDirectivePlan directives;
    MerPlan          plan = {&mer_plan_directives, &directives};
    Opened           opened;

    (void)state;
    open_evaluator(&opened, &op, NULL);
    mer_directives_parse("S(1,1) K | T(1,1) C | T(3,1) Y | T(3,1) X", &op,
                         mer_directive_plan(&plan), opened.arena, NULL);
    mer_evaluator_datacentric.detail(opened.state, &plan, &notes);
    mer_test_contains(noted,
                      "breakdown {\"levels\":[{\"name\":\"L2\",\"tensors\":{\"W\":{\"reads\":");
    mer_test_contains(noted, "\"status\":\"ok\"");
    mer_test_contains(noted, "\"num_macs\":115605504");
    mer_test_contains(noted, "view {\"panel\":\"text\",\"id\":\"plan\",");
    mer_test_contains(noted, "view {\"panel\":\"bars\",\"id\":\"energy\",");
    mer_arena_free(opened.arena);
}

static void unsuitable_platform_is_refused(void **state)
{
    MerMemory   two[2] = {memories[0], memories[1]};
    MerPlatform small = platform;
    MerGraph    graph = {0};
    MerProblem  problem = {.graph = &graph, .platform = &small};
    MerArena   *arena = mer_arena_new();
    void       *options = mer_arena_alloc(arena, mer_evaluator_datacentric.options_size);
    void       *opened = mer_arena_alloc(arena, mer_evaluator_datacentric.state_size);
    MerError    error = {0};

    (void)state;
    small.memories = two;
    small.memory_count = 2;
    mer_options_defaults(mer_evaluator_datacentric.options, options, arena);
    assert_int_equal(mer_evaluator_datacentric.open(opened, &problem, options, arena, &error),
                     MER_UNSUPPORTED);
    mer_test_contains(error.message, "2 memories");
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_knobs_have_the_size_the_definition_says),
        cmocka_unit_test(gamma_has_fourteen_knobs_per_level_but_the_outermost_cluster),
        cmocka_unit_test(every_point_decodes_and_encodes_back_to_its_plan),
        cmocka_unit_test(plan_from_elsewhere_has_no_point),
        cmocka_unit_test(no_random_point_beats_a_bound),
        cmocka_unit_test(text_reads_back_to_the_same_plan),
        cmocka_unit_test(long_names_and_brackets_are_read_too),
        cmocka_unit_test(wrong_directives_are_refused_with_their_place),
        cmocka_unit_test(maestro_text_has_padded_inputs_and_gemm_letters),
        cmocka_unit_test(maestro_text_reads_back_to_the_same_cost),
        cmocka_unit_test(dataflow_takes_sizes_of_the_layer_and_names_its_faults),
        cmocka_unit_test(strict_prices_all_accesses_and_compat_the_column_of_maestro),
        cmocka_unit_test(infeasible_plans_say_why),
        cmocka_unit_test(detail_notes_counts_per_level_and_tensor),
        cmocka_unit_test(unsuitable_platform_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
