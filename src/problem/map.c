/* Problem `map`: tile sizes, loop order and parallelism of each layer on one accelerator
 * (map.md). One task per distinct layer. The evaluator decides which kind of plan is made. */
#include "problem/map_bound.h"
#include "problem/map_nest.h"
#include "problem/nest_format.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    int         genome;
    const char *select;
} Options;

static const MerOption options[] = {
    {"genome", MER_OPTION_CHOICE, offsetof(Options, genome), "primes", 0, 0, "primes|divisors",
     "how points say tile sizes: every prime factor picks a place, or every place takes a divisor"},
    {"select", MER_OPTION_TEXT, offsetof(Options, select), "", 0, 0, NULL,
     "layers to map, counted from 1: 1,3-5; or a layer's name"},
    {0}};

typedef struct State {
    MerNestSpace nest;
    MerNestBound bound;
    double       repeat;
} State;

/* Is layer `number` (from 1), called `name`, part of "1,3-5" or "conv1,fc"? */
static bool is_selected(const char *select, int number, const char *name)
{
    for (const char *at = select; at && *at;) {
        size_t length = strcspn(at, ",");
        char *end;
        long low = strtol(at, &end, 10);
        long high = *end == '-' ? strtol(end + 1, &end, 10) : low;
        bool is_range = end == at + length && length > 0;
        bool is_name = strlen(name) == length && strncmp(at, name, length) == 0;
        if ((is_range && number >= low && number <= high) || is_name) {
            return true;
        }
        at += length;
        at += *at == ',';
    }
    return !select || !*select;
}

static MerStatus list_tasks(const MerProblem *problem, MerArena *arena, const MerTask **tasks, int *count,
                            MerError *error)
{
    const Options *chosen = problem->options;
    const MerGraph *graph = problem->graph;
    MerTask *list = MER_ARRAY(arena, MerTask, graph->layer_count + 1);
    *count = 0;
    for (int l = 0; l < graph->layer_count; l++) {
        const MerOp *op = &graph->ops[graph->layers[l].op];
        if (is_selected(chosen->select, l + 1, op->name)) {
            list[(*count)++] =
                (MerTask){op->name, graph->layers[l].count, (double)op->macs, graph->layers[l].op};
        }
    }
    *tasks = list;
    if (graph->layer_count == 0) {
        return mer_error_set(error, MER_INVALID, "%s has no layer with multiplications to map", graph->name);
    }
    if (*count == 0) {
        return mer_error_set(error, MER_INVALID,
                             "--select is \"%s\", expected layers in 1 .. %d of %s, or their names",
                             chosen->select, graph->layer_count, graph->name);
    }
    return MER_OK;
}

static MerStatus open_map(MerProblem *problem, MerArena *arena, MerError *error)
{
    const Options *chosen = problem->options;
    State *state = problem->state;
    const MerOp *op = &problem->graph->ops[problem->task->op];
    MerStatus status = mer_nest_space_open(&state->nest, op, problem->platform, (MerNestGenome)chosen->genome,
                                           &problem->space, arena, error);
    if (status == MER_OK) {
        mer_nest_bound(&state->nest.shape, problem->platform, &state->bound);
        state->repeat = (double)op->repeat;
    }
    return status;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    const State *state = problem->state;
    plan->kind = MER_PLAN_NEST;
    mer_nest_decode(&state->nest, point, &plan->as.nest, arena);
}

static bool encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    const State *state = problem->state;
    return mer_nest_encode(&state->nest, &plan->as.nest, &problem->space, point);
}

static void bound(const MerProblem *problem, MerMetric metric, MerBound *result)
{
    const State *state = problem->state;
    double cycles = state->bound.cycles * state->repeat;
    double energy = state->bound.energy * state->repeat;
    double clock = problem->platform->clock_hz;
    *result = (MerBound){NAN, "none", ""};
    switch (metric) {
    case MER_METRIC_CYCLES:
        *result = (MerBound){cycles, "roofline", ""};
        break;
    case MER_METRIC_LATENCY:
        *result = isnan(clock) ? *result : (MerBound){cycles / clock, "roofline", ""};
        break;
    case MER_METRIC_THROUGHPUT:
        *result = isnan(clock) ? *result
                               : (MerBound){2 * problem->task->macs * clock / cycles, "roofline", ""};
        break;
    case MER_METRIC_ENERGY:
        *result = (MerBound){energy, "traffic", ""};
        break;
    case MER_METRIC_EDP:
        *result = (MerBound){energy * cycles, "traffic", ""};
        break;
    default:
        break;
    }
}

static void write_plan(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    mer_nest_write(&plan->as.nest, problem->platform, json);
}

static MerStatus read_plan(const MerProblem *problem, const MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    plan->kind = MER_PLAN_NEST;
    return mer_nest_read(body, &problem->graph->ops[problem->task->op], problem->platform, &plan->as.nest, arena,
                         error);
}

static const char *print_plan(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    return mer_nest_print(&plan->as.nest, problem->platform, arena);
}

const MerProblemClass mer_problem_map = {
    .name = "map",
    .summary = "tile sizes, loop order and parallelism of each layer on one accelerator",
    .evaluator = "loopnest",
    .optimizer = "annealing",
    .objective = "edp",
    .platform = "s256",
    .plan_file = "mapping.yaml",
    .budget = 100000,
    .platforms = 1u << MER_PLATFORM_PE_ARRAY,
    .plans = 1u << MER_PLAN_NEST,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_map,
    .decode = decode,
    .encode = encode,
    .bound = bound,
    .tasks = list_tasks,
    .write_plan = write_plan,
    .read_plan = read_plan,
    .print_plan = print_plan,
};
