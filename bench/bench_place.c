/* Placements priced per second on one core: full evaluations of a graph of 200 operators on four GPUs and a host, by `maxload`, `calls`
 * and `cluster` (with peak memory; with priorities; with fusion), on random placements and on cuts of the topological order. Lines
 * are `name value unit`. */
#include "base/log.h"
#include "mercator/evaluator.h"
#include "mercator/registry.h"
#include "place/place_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPS = 200, POINTS = 64, ROUNDS = 100, REPEATS = 4 };

typedef struct Bench {
    MerArena    *arena, *scratch;
    MerProblem   problem;
    MerEvaluator evaluator;
    MerTask      task;
    MerPlan      plans[POINTS];
} Bench;

_Noreturn static void fail(const MerError *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

static const void *fill(const char *text, const MerOption *table, size_t size, MerArena *arena,
                        const char **name)
{
    MerReference reference;
    MerError     error = {0};
    void        *options = mer_arena_alloc(arena, size);
    if (mer_reference_parse(text, &reference, arena, &error) != MER_OK) {
        fail(&error);
    }
    *name = reference.name;
    if (table && mer_options_fill(table, NULL, options, &reference, arena, &error) != MER_OK) {
        fail(&error);
    }
    return options;
}

/* Blocks of five operators with a shortcut around each, as of a residual network: 1.2 edges per operator. */
static MerGraph *make_graph(MerArena *arena)
{
    MerGraph        *graph = mer_graph_new("blocks", arena);
    MerPlaceProfile *profile = MER_NEW(arena, MerPlaceProfile);
    double          *reals = MER_ARRAY(arena, double, 4 * OPS);
    MerOpKind       *kinds = MER_ARRAY(arena, MerOpKind, OPS);
    MerRng           rng = mer_rng_make(7, 0);
    MerError         error = {0};
    *profile = (MerPlaceProfile){.host_us = reals,
                                 .unit_us = reals + OPS,
                                 .size = reals + 2 * OPS,
                                 .output_bytes = reals + 3 * OPS,
                                 .kinds = kinds};
    for (int o = 0; o < OPS; o++) {
        char *name = mer_arena_format(arena, "op%d", o);
        MerOp op = mer_op_make(name, "Op", MER_OP_MOVE);
        int   inputs[2] = {o - 1, o - 5};
        int   output = mer_graph_add_value(
              graph, &(MerValue){.name = name, .rank = 1, .dims = {1}, .type = MER_TYPE_FLOAT32});
        op.inputs = inputs;
        op.input_count = o == 0 ? 0 : o >= 5 && o % 5 == 0 ? 2 : 1;
        op.outputs = &output;
        op.output_count = 1;
        mer_graph_add_op(graph, &op);
        kinds[o] = o % 5 == 1 ? MER_OP_CONV : MER_OP_ELEMENTWISE;
        reals[OPS + o] = 10 + 190 * mer_rng_unit(&rng);
        reals[o] = 20 * reals[OPS + o];
        reals[2 * OPS + o] = 1e5 * (1 + mer_rng_below(&rng, 50));
        reals[3 * OPS + o] = 1e5 * (1 + mer_rng_below(&rng, 50));
    }
    if (mer_graph_finish(graph, &error) != MER_OK) {
        fail(&error);
    }
    mer_graph_attach(graph, MER_PLACE_PROFILE, profile);
    return graph;
}

static void open_bench(Bench *bench, const char *decide, const char *evaluator)
{
    MerError           error = {0};
    const MerPlatform *platform;
    const char        *name;
    bench->arena = mer_arena_new();
    bench->scratch = mer_arena_new();
    const MerProblemClass *type = mer_problem_find("place", NULL);
    if (mer_platform_read("four-v100-nvlink", bench->arena, &platform, &error) != MER_OK) {
        fail(&error);
    }
    MerPlaceOptions *chosen = MER_NEW(bench->arena, MerPlaceOptions);
    mer_options_defaults(type->options, chosen, bench->arena);
    chosen->decide = decide;
    bench->task = (MerTask){.name = "blocks", .count = 1, .op = -1};
    bench->problem = (MerProblem){.type = type,
                                  .graph = make_graph(bench->arena),
                                  .platform = platform,
                                  .plan = &mer_plan_graph,
                                  .task = &bench->task,
                                  .state = mer_arena_alloc(bench->arena, type->state_size),
                                  .options = chosen};
    if (type->open(&bench->problem, bench->arena, &error) != MER_OK) {
        fail(&error);
    }
    fill(evaluator, NULL, 1, bench->arena, &name);
    const MerEvaluatorClass *pricer = mer_evaluator_find(name, NULL);
    const void              *options =
        fill(evaluator, pricer->options, pricer->options_size, bench->arena, &name);
    bench->evaluator =
        (MerEvaluator){pricer, mer_arena_alloc(bench->arena, pricer->state_size), options};
    if (pricer->open(bench->evaluator.state, &bench->problem, options, bench->arena, &error) !=
        MER_OK) {
        fail(&error);
    }
}

/* Units at random, or in parts of the topological order on units that follow each other. */
static void make_plans(Bench *bench, bool is_cut)
{
    const MerPlace *place = mer_place_of(&bench->problem);
    int             knobs = bench->problem.space.knob_count;
    MerIndex       *point = MER_ARRAY(bench->arena, MerIndex, knobs);
    MerRng          rng = mer_rng_make(1, 0);
    for (int i = 0; i < POINTS; i++) {
        mer_space_sample(&bench->problem.space, &rng, point);
        for (int g = 0, unit = 0; g < place->group_count && is_cut; g++) {
            unit += mer_rng_below(&rng, OPS / 4) == 0;
            point[g] = unit % 4;
        }
        bench->problem.type->decode(&bench->problem, point, &bench->plans[i], bench->arena);
    }
}

/* The best of a few rounds: what other programs take away is not the evaluator's. */
static double rate(const Bench *bench)
{
    MerCost cost;
    MerCall call = {.scratch = bench->scratch, .limit = INFINITY};
    double  best = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double begin = mer_cpu_clock();
        for (int i = 0; i < REPEATS * POINTS; i++) {
            bench->evaluator.type->evaluate(bench->evaluator.state, &bench->plans[i % POINTS],
                                            &call, &cost);
            mer_arena_reset(bench->scratch);
        }
        best = fmax(best, REPEATS * POINTS / (mer_cpu_clock() - begin));
    }
    if (!cost.feasible && bench->evaluator.type->metrics >> MER_METRIC_MAKESPAN & 1) {
        fprintf(stderr, "%s\n", cost.reason);
        exit(1);
    }
    return best;
}

static void print_rates(const char *name, const char *decide, const char *evaluator)
{
    Bench bench;
    open_bench(&bench, decide, evaluator);
    make_plans(&bench, false);
    printf("place_%s_%dx5_random %.0f evaluations/s\n", name, OPS, rate(&bench));
    make_plans(&bench, true);
    printf("place_%s_%dx5_cuts %.0f evaluations/s\n", name, OPS, rate(&bench));
    mer_arena_free(bench.arena);
    mer_arena_free(bench.scratch);
}

/* All, or the one that is named. */
int main(int count, char **arguments)
{
    static const struct {
        const char *name, *decide, *evaluator;
    } cases[] = {{"maxload", "place", "maxload"},
                 {"calls", "place", "calls:price_infeasible=true"},
                 {"cluster", "place", "cluster"},
                 {"cluster_order", "place,order", "cluster"},
                 {"cluster_fused", "place,order,fuse", "cluster"},
                 {"cluster_path", "place", "cluster:link_model=path"},
                 {"cluster_placeto", "place", "cluster:preset=placeto"}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        if (count < 2 || strcmp(arguments[1], cases[c].name) == 0) {
            print_rates(cases[c].name, cases[c].decide, cases[c].evaluator);
        }
    }
    return 0;
}
