/* exact_nest against brute force over every factorisation, loop order and bypass of tiny layers on
 * tiny random machines, and against annealing on layers of middle size. */
#include "exact_support.h"
#include "one_arena.h"
#include "run_support.h"

/* Every nest of a space, priced by the model. */
typedef struct Brute {
    const MerNestModel *model;
    const MerNestSpace *space;
    int                 prime_count, dim[64], prime[64];
    MerNestLevel        levels[MER_NEST_MAX_LEVELS];
    MerNestPlan         plan;
    double              best[3]; /* energy, cycles, edp */
    int64_t             nests;
} Brute;

static int *slot_of(MerNestLevel *levels, const MerNestSlot *slot, int d)
{
    MerNestLevel *level = &levels[slot->level];
    return slot->place == MER_PLACE_TEMPORAL ? &level->temporal[d]
           : slot->place == MER_PLACE_X      ? &level->x[d]
                                             : &level->y[d];
}

static void price_nest(Brute *b)
{
    MerCost cost;
    MerPlan plan = {&mer_plan_nest, &b->plan};
    MerCall call = {.limit_metric = MER_METRIC_COUNT, .limit = INFINITY};
    mer_evaluator_find("loopnest", NULL)->evaluate(b->model, &plan, &call, &cost);
    b->nests++;
    char reason[200];
    bool is_allowed =
        mer_nest_allows(b->space->constraints, &b->plan, &b->model->shape, reason, sizeof reason);
    if (cost.feasible && is_allowed) {
        b->best[0] = fmin(b->best[0], cost.value[MER_METRIC_ENERGY]);
        b->best[1] = fmin(b->best[1], cost.value[MER_METRIC_CYCLES]);
        b->best[2] = fmin(b->best[2], cost.value[MER_METRIC_EDP]);
    }
}

static void try_orders(Brute *b, int l);

/* Puts each loop of level l, one after the other, into place `at`, counted from the inside. */
static void permute(Brute *b, int l, int at)
{
    int *order = b->levels[l].order;
    if (at < 0 || b->levels[l].temporal[order[at]] == 1) {
        try_orders(b, l + 1); /* loops of one trip were sorted to the outside */
        return;
    }
    for (int i = at; i >= 0; i--) {
        if (b->levels[l].temporal[order[i]] == 1) {
            break;
        }
        int taken = order[i];
        order[i] = order[at];
        order[at] = taken;
        permute(b, l, at - 1);
        order[at] = order[i];
        order[i] = taken;
    }
}

static void try_orders(Brute *b, int l)
{
    if (l == b->plan.level_count) {
        price_nest(b);
        return;
    }
    int count = 0;
    for (int round = 0; round < 2; round++) {
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            if ((b->levels[l].temporal[d] > 1) == (round == 1)) {
                b->levels[l].order[count++] = d;
            }
        }
    }
    permute(b, l, l == 0 ? -1 : MER_DIM_COUNT - 1);
}

static bool is_too_wide(const Brute *b)
{
    for (int l = 0; l < b->plan.level_count; l++) {
        double x = 1;
        double y = 1;
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            x *= b->levels[l].x[d];
            y *= b->levels[l].y[d];
        }
        if (x > b->model->memories[l].fanout_x || y > b->model->memories[l].fanout_y) {
            return true;
        }
    }
    return false;
}

static void try_factors(Brute *b, int k)
{
    if (is_too_wide(b)) {
        return;
    }
    if (k == b->prime_count) {
        try_orders(b, 0);
        return;
    }
    for (int s = 0; s < b->space->slot_count; s++) {
        int *factor = slot_of(b->levels, &b->space->slots[s], b->dim[k]);
        *factor *= b->prime[k];
        try_factors(b, k + 1);
        *factor /= b->prime[k];
    }
}

static void try_masks(Brute *b, int l)
{
    if (l == b->plan.level_count) {
        try_factors(b, 0);
        return;
    }
    for (unsigned mask = 0; mask < 8; mask++) {
        bool is_choice = (mask & ~b->space->is_free[l]) == 0;
        if (is_choice) {
            b->levels[l].keep = b->space->keep[l] | mask;
            try_masks(b, l + 1);
        }
    }
}

static void brute_force(Brute *b, const MerNestModel *model, const MerNestSpace *space)
{
    *b = (Brute){.model = model, .space = space, .best = {INFINITY, INFINITY, INFINITY}};
    b->plan =
        (MerNestPlan){.op = space->op, .level_count = space->level_count, .levels = b->levels};
    for (int l = 0; l < space->level_count; l++) {
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            b->levels[l].temporal[d] = b->levels[l].x[d] = b->levels[l].y[d] = 1;
        }
    }
    for (int i = 0; i < model->shape.dim_count; i++) {
        int rest = model->shape.size[model->shape.dims[i]];
        for (int p = 2; rest > 1; p++) {
            for (; rest % p == 0; rest /= p) {
                b->dim[b->prime_count] = model->shape.dims[i];
                b->prime[b->prime_count++] = p;
            }
        }
    }
    try_masks(b, 0);
}

/* A layer of few prime factors. */
static MerOp random_op(MerRng *rng, int primes)
{
    static const struct {
        MerOpKind   kind;
        const char *dims;
    } layers[] = {{MER_OP_CONV, "NKCYXRSG"},     {MER_OP_CONV, "YYXXKCR"},
                  {MER_OP_DEPTHWISE, "NCYXRS"},  {MER_OP_GEMM, "KCY"},
                  {MER_OP_BATCHED_GEMM, "GKCY"}, {MER_OP_TRANSPOSED, "KCYXRS"},
                  {MER_OP_CONV, "YYYK"}};
    int         which = mer_rng_below(rng, 7);
    MerOp       op = mer_op_make("layer", "test", layers[which].kind);
    const char *letters = layers[which].dims;
    for (int i = 0; i < primes; i++) {
        char letter = letters[mer_rng_below(rng, (int)strlen(letters))];
        int  d = (int)(strchr(MER_DIM_LETTERS, letter) - MER_DIM_LETTERS);
        op.dims[d] *= mer_rng_below(rng, 3) ? 2 : 3;
    }
    for (int i = 0; i < 2; i++) {
        op.stride[i] = 1 + mer_rng_below(rng, 3);
        op.dilation[i] = 1 + mer_rng_below(rng, 2);
    }
    op.repeat = 1 + mer_rng_below(rng, 2);
    return op;
}

static void write_memory(MerRng *rng, char *text, size_t size, int l, int count, bool has_bypass)
{
    int length =
        snprintf(text, size,
                 "{name: M%d, read_pj: %d, write_pj: %d, update_pj: %d, read_words_per_cycle: %d, "
                 "write_words_per_cycle: %d",
                 l, mer_rng_below(rng, 20), mer_rng_below(rng, 20), mer_rng_below(rng, 20),
                 1 + mer_rng_below(rng, 8), 1 + mer_rng_below(rng, 8));
    if (l + 1 < count) {
        length += snprintf(text + length, size - (size_t)length, ", words: %d",
                           3 + mer_rng_below(rng, 12 << l));
        if (mer_rng_below(rng, 4) == 0) {
            length += snprintf(
                text + length, size - (size_t)length, ", partition_words: {W: %d, I: %d, O: %d}",
                1 + mer_rng_below(rng, 8), 1 + mer_rng_below(rng, 8), 1 + mer_rng_below(rng, 8));
        }
        if (!has_bypass) {
            length += snprintf(text + length, size - (size_t)length, ", keep: [W, I, O]");
        } else if (mer_rng_below(rng, 3) == 0) {
            length += snprintf(text + length, size - (size_t)length, ", keep: [W], bypass: [%s]",
                               mer_rng_below(rng, 2) ? "I" : "I, O");
        }
    }
    if (mer_rng_below(rng, 2)) {
        length += snprintf(text + length, size - (size_t)length,
                           ", fanout: {x: %d, y: %d, pj_per_word: %d}", 1 + mer_rng_below(rng, 4),
                           1 + mer_rng_below(rng, 3), mer_rng_below(rng, 3));
    }
    snprintf(text + length, size - (size_t)length, "}");
}

static const char *random_platform(MerRng *rng, int levels, bool has_bypass)
{
    char        memory[512];
    const char *text =
        mer_arena_format(arena,
                         "{format: mercator-platform/1, kind: pe-array, name: tiny, clock_hz: 1G, "
                         "units: [{name: MAC, mac_pj: %d, lanes: %d}], memories: [",
                         mer_rng_below(rng, 3), 1 + mer_rng_below(rng, 2));
    for (int l = levels - 1; l >= 0; l--) {
        write_memory(rng, memory, sizeof memory, l, levels, has_bypass);
        text = mer_arena_format(arena, "%s%s%s", text, memory, l > 0 ? ", " : "]}");
    }
    return text;
}

static const char *dims_of(const MerOp *op)
{
    const char *text = mer_op_kind_name(op->kind);
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        text = mer_arena_format(arena, "%s %c%d", text, MER_DIM_LETTERS[d], (int)op->dims[d]);
    }
    return mer_arena_format(arena, "%s stride %d %d dilation %d %d", text, op->stride[0],
                            op->stride[1], op->dilation[0], op->dilation[1]);
}

/* False if the machine cannot be used in the given dataflow. */
static bool compare_case(MerRng *rng, int levels, int primes, bool has_bypass,
                         const char *evaluator, const char *dataflow)
{
    static const MerMetric objectives[] = {MER_METRIC_ENERGY, MER_METRIC_CYCLES, MER_METRIC_EDP};
    MerOp                  op = random_op(rng, primes);
    const char            *text = random_platform(rng, levels, has_bypass);
    const MerPlatform     *platform = platform_from(text, arena);
    Brute                  brute;
    for (int o = 0; o < 3; o++) {
        ExactCase   c = {.op = &op,
                         .platform = platform,
                         .objective = objectives[o],
                         .problem_options = dataflow                ? dataflow
                                            : mer_rng_below(rng, 2) ? "genome=divisors"
                                                                    : NULL,
                         .evaluator_options = evaluator,
                         .optimizer_options = "start=0", /* a good start would hide a wrong bound */
                         .budget = mer_rng_below(rng, 2) ? 0 : 1};
        ExactResult result;
        solve_exactly(&c, &result, arena);
        if (dataflow && result.status != MER_OK) {
            return false;
        }
        if (result.status != MER_OK) {
            fail_msg("%s", result.error.message);
        }
        if (o == 0) {
            brute_force(&brute, result.model, mer_map_nest_space(&result.problem));
        }
        bool   is_feasible = brute.best[o] < INFINITY;
        double apart = fabs(result.score - brute.best[o]);
        bool   is_equal =
            is_feasible ? apart <= 1e-12 * fabs(brute.best[o]) : result.score == INFINITY;
        bool is_proven = is_feasible ? result.has_proof && result.bound.value == result.score
                                     : !result.has_proof;
        if (!is_equal || !is_proven) {
            fail_msg("%s of %s (%s) on %s: exact %.17g, bound %.17g (%s), brute force %.17g over "
                     "%lld nests",
                     mer_metric_info(objectives[o])->name, dims_of(&op), evaluator ? evaluator : "",
                     text, result.score, result.bound.value,
                     result.has_proof ? result.bound.kind : "none", brute.best[o],
                     (long long)brute.nests);
        }
    }
    return true;
}

static void test_fixed_levels_give_the_optimum_of_brute_force(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(11, 0);
    for (int i = 0; i < 150; i++) {
        compare_case(&rng, 2 + i % 3, i % 3 == 2 ? 4 : 5, false, NULL, NULL);
    }
}

static void test_free_bypass_gives_the_optimum_of_brute_force(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(12, 0);
    for (int i = 0; i < 60; i++) {
        compare_case(&rng, 2 + i % 2, 4, true, NULL, NULL);
    }
    for (int i = 0; i < 6; i++) {
        compare_case(&rng, 4, 3, true, NULL, NULL);
    }
}

static void test_every_option_of_the_model_gives_the_optimum_of_brute_force(void **state)
{
    (void)state;
    static const char *const options[] = {"axes=exclusive", "halo=timeloop", "ramp=true",
                                          "halo=timeloop,axes=exclusive,ramp=true"};
    MerRng                   rng = mer_rng_make(13, 0);
    for (int i = 0; i < 80; i++) {
        compare_case(&rng, 2 + i % 3, i % 3 == 2 ? 4 : 5, false, options[i % 4], NULL);
    }
    for (int i = 0; i < 20; i++) {
        compare_case(&rng, 2 + i % 2, 4, true, options[i % 4], NULL);
    }
}

static void test_dataflows_give_the_optimum_of_brute_force(void **state)
{
    (void)state;
    static const char *const dataflows[] = {"dataflow=weight", "dataflow=output", "dataflow=row"};
    MerRng                   rng = mer_rng_make(15, 0);
    int                      compared = 0;
    for (int i = 0; i < 90; i++) {
        compared += compare_case(&rng, 2 + i % 2, 4, i % 2, NULL, dataflows[i % 3]);
    }
    assert_true(compared > 60);
}

/* A layer with a few hundred tiles on s256 with small memories: too many nests for brute force. */
static MerOp middle_op(MerRng *rng, int i)
{
    static const MerOpKind kinds[] = {MER_OP_CONV, MER_OP_DEPTHWISE, MER_OP_BATCHED_GEMM,
                                      MER_OP_TRANSPOSED};
    static const int       sizes[] = {4, 6, 8, 12, 14, 18};
    MerOp                  op = mer_op_make("layer", "test", kinds[i % 4]);
    bool                   is_gemm = op.kind == MER_OP_BATCHED_GEMM;
    bool                   is_depthwise = op.kind == MER_OP_DEPTHWISE;
    op.dims[MER_DIM_K] = is_depthwise ? 1 : sizes[mer_rng_below(rng, 6)];
    op.dims[MER_DIM_C] = sizes[mer_rng_below(rng, 6)];
    op.dims[MER_DIM_Y] = sizes[mer_rng_below(rng, 6)];
    op.dims[MER_DIM_X] = is_gemm ? 1 : sizes[mer_rng_below(rng, 6)];
    op.dims[MER_DIM_R] = is_gemm ? 1 : 3;
    op.dims[MER_DIM_S] = is_gemm ? 1 : 1 + mer_rng_below(rng, 3);
    op.dims[MER_DIM_G] = is_gemm ? 4 : 1;
    op.stride[0] = op.stride[1] = 1 + i % 2;
    return op;
}

static void test_no_other_optimizer_beats_it_on_larger_layers(void **state)
{
    (void)state;
    static const char *const objectives[] = {"edp", "energy", "cycles"};
    static const char *const rivals[] = {"annealing", "genetic", "random"};
    const char *text = "{format: mercator-platform/1, kind: pe-array, name: middle, units: [{name: "
                       "MAC, mac_pj: 1}],"
                       " memories: [{name: DRAM, access_pj: 100, words_per_cycle: 4}, {name: GLB, "
                       "words: 700, read_pj: 5,"
                       " write_pj: 7, update_pj: 6, words_per_cycle: 10, fanout: {x: 6, y: 4}},"
                       " {name: RF, words: 40, access_pj: 1, words_per_cycle: 4, keep: [O]}]}";
    MerRng      rng = mer_rng_make(14, 0);
    const MerPlatform *platform = platform_from(text, arena);
    for (int i = 0; i < 12; i++) {
        MerOp           op = middle_op(&rng, i);
        const MerGraph *graph = one_op_graph(&op, arena);
        ExactCase       c = {
                  .op = &op, .platform = platform, .objective = mer_metric_find(objectives[i % 3])};
        ExactResult exact;
        solve_exactly(&c, &exact, arena);
        assert_true(exact.has_proof && exact.bound.value == exact.score);
        for (int r = 0; r < 3; r++) {
            MerRunSpec   spec = {.name = "middle",
                                 .problem = mer_problem_find("map", NULL),
                                 .graph = graph,
                                 .platform = platform,
                                 .evaluator = mer_evaluator_find("loopnest", NULL),
                                 .optimizer = mer_optimizer_find(rivals[r], NULL),
                                 .objective = objectives[i % 3],
                                 .seed = (uint64_t)i,
                                 .budget = 30000,
                                 .threads = 1,
                                 .log = MER_LOG_IMPROVING,
                                 .directory = new_folder(arena)};
            MerRunResult result = run_or_fail(&spec, NULL, arena);
            if (result.tasks[0].score < exact.score * (1 - 1e-12)) {
                fail_msg("%s of %s: %s finds %.17g, the optimum was said to be %.17g",
                         objectives[i % 3], dims_of(&op), rivals[r], result.tasks[0].score,
                         exact.score);
            }
            remove_folder(spec.directory);
        }
    }
}

/* The answer of a run that ends long before the proof. 14 x 12 units are filled only by the right mix of
 * factors; the machine has no bandwidths, so a full array is the optimum. */
static void test_the_first_answer_fills_an_array_that_is_hard_to_fill(void **state)
{
    (void)state;
    static const int layers[][6] = {/* K C Y X R S */
                                    {64, 64, 56, 56, 3, 3},
                                    {128, 128, 28, 28, 3, 3},
                                    {144, 24, 56, 56, 1, 1},
                                    {32, 3, 112, 112, 3, 3}};
    for (int i = 0; i < 4; i++) {
        const int      *d = layers[i];
        const MerGraph *graph = one_layer_graph(d[0], d[1], d[2], d[3], d[4], d[5], arena);
        for (uint64_t seed = 1; seed <= 4; seed++) {
            ExactCase   c = {.op = &graph->ops[0],
                             .platform = platform_named("eyeriss-like", arena),
                             .objective = MER_METRIC_CYCLES,
                             .answers = 1,
                             .seed = seed};
            ExactResult exact;
            solve_exactly(&c, &exact, arena);
            double least = (double)graph->macs / 168;
            if (!(exact.score <= least * (1 + 1e-9))) {
                fail_msg("layer %d, seed %d: %.17g cycles, expected %.17g", i, (int)seed,
                         exact.score, least);
            }
        }
    }
}

/* The same for EDP with free bypass, against annealing with as many evaluations. */
static void test_the_first_answer_keeps_up_with_annealing(void **state)
{
    (void)state;
    const MerGraph          *graph = one_layer_graph(64, 64, 56, 56, 3, 3, arena);
    static const char *const machines[] = {"eyeriss-like", "edge", "cloud"};
    for (int m = 0; m < 3; m++) {
        double             sum = 0;
        const MerPlatform *platform = platform_named(machines[m], arena);
        for (uint64_t seed = 1; seed <= 3; seed++) {
            ExactCase   c = {.op = &graph->ops[0],
                             .platform = platform,
                             .objective = MER_METRIC_EDP,
                             .answers = 1,
                             .seed = seed};
            ExactResult exact;
            solve_exactly(&c, &exact, arena);
            MerRunSpec   spec = {.name = "rival",
                                 .problem = mer_problem_find("map", NULL),
                                 .graph = graph,
                                 .platform = platform,
                                 .evaluator = mer_evaluator_find("loopnest", NULL),
                                 .optimizer = mer_optimizer_find("annealing", NULL),
                                 .objective = "edp",
                                 .seed = seed,
                                 .budget = 60000,
                                 .threads = 1};
            MerRunResult result = run_or_fail(&spec, NULL, arena);
            sum += log(exact.score / result.tasks[0].score);
        }
        if (exp(sum / 3) > 1.1) {
            fail_msg("%s: the first answer is %.3f times that of annealing, expected at most 1.1",
                     machines[m], exp(sum / 3));
        }
    }
}

static void test_what_it_cannot_solve_is_refused(void **state)
{
    (void)state;
    MerOp op = mer_op_make("layer", "test", MER_OP_GEMM);
    op.dims[MER_DIM_K] = 4;
    ExactCase c = {
        .op = &op, .platform = platform_named("s256", arena), .objective = MER_METRIC_COUNT};
    ExactResult result;
    solve_exactly(&c, &result, arena);
    assert_int_equal(result.status, MER_UNSUPPORTED);
    assert_non_null(
        strstr(result.error.message, "cycles, latency, energy or edp, found an expression"));
    c.objective = MER_METRIC_UTILISATION;
    solve_exactly(&c, &result, arena);
    assert_int_equal(result.status, MER_UNSUPPORTED);
    assert_non_null(strstr(result.error.message, "found utilisation"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_levels_give_the_optimum_of_brute_force),
        cmocka_unit_test(test_free_bypass_gives_the_optimum_of_brute_force),
        cmocka_unit_test(test_every_option_of_the_model_gives_the_optimum_of_brute_force),
        cmocka_unit_test(test_dataflows_give_the_optimum_of_brute_force),
        cmocka_unit_test(test_no_other_optimizer_beats_it_on_larger_layers),
        cmocka_unit_test(test_the_first_answer_fills_an_array_that_is_hard_to_fill),
        cmocka_unit_test(test_the_first_answer_keeps_up_with_annealing),
        cmocka_unit_test(test_what_it_cannot_solve_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
