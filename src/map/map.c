/* Problem `map`: tile sizes, loop order and parallelism of each layer on one accelerator
 * (docs/mapping.md). One task per distinct layer. The evaluator decides which kind of plan is made. */
#include "map/map.h"

#include "base/option_rows.h"
#include "layer/op_format.h"
#include "layer/task_select.h"
#include "map/directives/directives.h"
#include "map/nest/constraints.h"
#include "map/nest/nest_bound.h"
#include "mercator/evaluator.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum Genome { AUTO, PRIMES, DIVISORS, TEN, GAMMA } Genome;

typedef struct Options {
    int         genome, factors;
    int64_t     min_levels, max_levels;
    bool        par_rs;
    int         dataflow;
    const char *constraints;
    const char *select;
} Options;

static const MerOption options[] = {
    MER_CHOICE(genome, "auto", "auto|primes|divisors|ten|gamma",
               "how points say plans; loop nests: every prime factor picks a place (auto), or "
               "every place takes a divisor; directives: ten knobs, or GAMMA's genome (auto)"),
    MER_CHOICE(
        factors, "perfect", "perfect|padded",
        "loop nests: whether trip counts of a dimension multiply to its size, or may run past it"),
    MER_INT(min_levels, "2", 1, 3, "cluster levels of genome gamma"),
    MER_INT(max_levels, "2", 1, 3, "cluster levels of genome gamma"),
    MER_BOOL(par_rs, "false", "genome gamma: R and S may be spread over units too"),
    MER_CHOICE(dataflow, "none", MER_DATAFLOW_CHOICES,
               "loop nests: what stays in the units of the array: weights, outputs, or rows as in "
               "Eyeriss"),
    MER_TEXT(constraints, "",
             "loop nests: file with Timeloop constraints (factors, orders, keep, bypass)"),
    MER_TEXT(select, "", "layers to map, counted from 1: 1,3-5; or a layer's name"),
    {0}};

extern const MerProblemClass mer_problem_map;

typedef struct State {
    MerNestSpace      nest; /* plans of kind nest, ... */
    MerNestBound      bound;
    MerDirectiveSpace directives; /* ... or of kind directives */
    double            repeat;
} State;

static MerStatus list_tasks(const MerProblem *problem, MerArena *arena, const MerTask **tasks,
                            int *count, MerError *error)
{
    const Options  *chosen = problem->options;
    const MerGraph *graph = problem->graph;
    MerTask        *list = MER_ARRAY(arena, MerTask, graph->layer_count + 1);
    *count = 0;
    if (graph->layer_count == 0) {
        return mer_error_set(error, MER_INVALID, "%s has no layer with multiplications to map",
                             graph->name);
    }
    MER_TRY(mer_task_select_check(chosen->select, graph, error));
    for (int l = 0; l < graph->layer_count; l++) {
        const MerOp *op = &graph->ops[graph->layers[l].op];
        if (mer_task_is_selected(chosen->select, l + 1, op->name)) {
            list[(*count)++] = (MerTask){
                op->name, graph->layers[l].count, (double)op->macs, graph->layers[l].op, 0, NULL};
        }
    }
    *tasks = list;
    return MER_OK;
}

/* Is the genome `auto`, or one of the two that make plans of the problem's kind? */
static MerStatus check_genome(const MerProblem *problem, Genome one, Genome other, MerError *error)
{
    Genome genome = (Genome)((const Options *)problem->options)->genome;
    return genome == AUTO || genome == one || genome == other
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "the genome does not make plans of kind %s; leave it at auto",
                               problem->plan->name);
}

bool mer_map_is_padded(const MerProblem *problem)
{
    const Options *chosen = problem->options;
    return chosen->factors == 1;
}

/* The platform with what the constraints keep and bypass: bounds depend on it. */
static const MerPlatform *constrained_platform(const MerPlatform  *platform,
                                               const MerNestSpace *nest, MerArena *arena)
{
    if (!nest->is_constrained) {
        return platform;
    }
    MerPlatform *copy = MER_NEW(arena, MerPlatform);
    MerMemory   *memories = MER_ARRAY(arena, MerMemory, platform->memory_count);
    *copy = *platform;
    copy->memories = memories;
    for (int m = 0; m < platform->memory_count; m++) {
        int l = platform->memory_count - 1 - m;
        memories[m] = platform->memories[m];
        memories[m].keep = nest->keep[l];
        memories[m].bypass =
            m == 0 ? 0 : ~(nest->keep[l] | nest->is_free[l]) & ((1u << MER_TENSOR_COUNT) - 1);
    }
    return copy;
}

static MerStatus open_nest(MerProblem *problem, const MerOp *op, MerArena *arena, MerError *error)
{
    const Options *chosen = problem->options;
    State         *state = problem->state;
    MER_TRY(check_genome(problem, PRIMES, DIVISORS, error));
    if (mer_map_is_padded(problem) && chosen->genome != AUTO) {
        return mer_error_set(error, MER_INVALID,
                             "factors=padded has a genome of its own; leave genome at auto");
    }
    MerNestGenome      genome = mer_map_is_padded(problem)   ? MER_GENOME_PADDED
                                : chosen->genome == DIVISORS ? MER_GENOME_DIVISORS
                                                             : MER_GENOME_PRIMES;
    MerNestConstraints constraints = {0};
    if (chosen->dataflow != MER_DATAFLOW_NONE || chosen->constraints) {
        MER_TRY(mer_layer_shape_make(op, &state->nest.shape, error));
        MER_TRY(mer_nest_constraints_make(&constraints, op, &state->nest.shape, problem->platform,
                                          (MerDataflow)chosen->dataflow, chosen->constraints,
                                          mer_map_is_padded(problem), arena, error));
    }
    MER_TRY(mer_nest_space_open(&state->nest, op, problem->platform, genome, &constraints,
                                &problem->space, arena, error));
    mer_nest_bound(&state->nest.shape, constrained_platform(problem->platform, &state->nest, arena),
                   mer_map_is_padded(problem), &state->bound);
    return MER_OK;
}

static MerStatus open_directives(MerProblem *problem, const MerOp *op, MerArena *arena,
                                 MerError *error)
{
    const Options *chosen = problem->options;
    State         *state = problem->state;
    MER_TRY(check_genome(problem, TEN, GAMMA, error));
    if (chosen->dataflow != MER_DATAFLOW_NONE || chosen->constraints) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "dataflow and constraints speak of loop nests, evaluator loopnest");
    }
    MerDirectiveOptions directive_options = {
        .genome = chosen->genome == TEN ? MER_GENOME_TEN : MER_GENOME_GAMMA,
        .par_rs = chosen->par_rs,
        .min_levels = (int)chosen->min_levels,
        .max_levels = (int)chosen->max_levels,
    };
    MerStatus status = mer_directives_open(&state->directives, op, problem->platform,
                                           &directive_options, arena, error);
    problem->space = state->directives.space;
    return status;
}

static MerStatus open_map(MerProblem *problem, MerArena *arena, MerError *error)
{
    State       *state = problem->state;
    const MerOp *op = &problem->graph->ops[problem->task->op];
    state->repeat = (double)op->repeat;
    return problem->plan == &mer_plan_nest ? open_nest(problem, op, arena, error)
                                           : open_directives(problem, op, arena, error);
}

const char mer_map_rules[] = "map";

const MerNestSpace *mer_map_nest_space(const MerProblem *problem)
{
    const State *state = problem->state;
    return problem->type == &mer_problem_map && problem->plan == &mer_plan_nest ? &state->nest
                                                                                : NULL;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    const State *state = problem->state;
    plan->kind = problem->plan;
    if (plan->kind == &mer_plan_nest) {
        plan->content = MER_NEW(arena, MerNestPlan);
        mer_nest_decode(&state->nest, point, plan->content, arena);
    } else {
        plan->content = MER_NEW(arena, MerDirectivePlan);
        mer_directives_decode(&state->directives, point, plan->content, arena);
    }
}

static bool encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    const State *state = problem->state;
    return plan->kind == &mer_plan_nest
               ? mer_nest_encode(&state->nest, plan->content, &problem->space, point)
               : mer_directives_encode(&state->directives, plan->content, point);
}

void mer_map_fill_costs(double cycles, double energy, double macs, double peak_macs,
                        double clock_hz, MerCost *cost)
{
    cost->value[MER_METRIC_CYCLES] = cycles;
    cost->value[MER_METRIC_ENERGY] = energy;
    cost->value[MER_METRIC_EDP] = energy * cycles;
    cost->value[MER_METRIC_UTILISATION] = macs / (cycles * peak_macs);
    if (!isnan(clock_hz)) {
        cost->value[MER_METRIC_LATENCY] = cycles / clock_hz;
        cost->value[MER_METRIC_THROUGHPUT] = 2 * macs * clock_hz / cycles;
    }
}

/* What a plan would cost that reaches both. */
MerBound mer_map_bound(MerMetric metric, double cycles, double energy, double macs, double clock_hz)
{
    MerCost ideal;
    bool    is_energy = metric == MER_METRIC_ENERGY || metric == MER_METRIC_EDP;
    mer_cost_clear(&ideal);
    mer_map_fill_costs(cycles, energy, macs, NAN, clock_hz, &ideal);
    double value = metric < MER_METRIC_COUNT ? ideal.value[metric] : NAN;
    return (MerBound){value, isnan(value) ? "none" : is_energy ? "traffic" : "roofline", ""};
}

static void bound(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *result)
{
    (void)rules; /* of all evaluators that have some */
    const State *state = problem->state;
    *result = problem->plan == &mer_plan_nest
                  ? mer_map_bound(metric, state->bound.cycles * state->repeat,
                                  state->bound.energy * state->repeat, problem->task->macs,
                                  problem->platform->clock_hz)
                  : mer_directives_bound(&state->directives, problem->platform, metric);
}

static const char *describe(const MerProblem *problem, MerArena *arena)
{
    const MerNestSpace *nest = mer_map_nest_space(problem);
    return nest && nest->is_constrained ? mer_nest_constraints_text(nest, arena) : NULL;
}

static const char *choice_name(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena)
{
    const MerNestSpace *nest = mer_map_nest_space(problem);
    return nest ? mer_nest_choice_name(nest, problem->platform, &problem->space.knobs[knob], knob,
                                       choice, arena)
                : NULL;
}

/* The default depends on the plans that the chosen evaluator prices. */
static const char *choose_default(MerDefault what, const MerInputs *inputs)
{
    if (what != MER_DEFAULT_OPTIMIZER || !inputs->evaluator || inputs->refused) {
        return NULL;
    }
    return mer_evaluator_prices(inputs->evaluator, &mer_plan_nest) ? "exact_nest" : "gamma";
}

/* Padded plans are held against the bounds of padded factors. */
static MerStatus read_graph(MerYaml *tasks, MerGraph **graph, MerReference *implied,
                            MerArena *arena, MerError *error)
{
    static const char *const key[] = {"factors"}, *const value[] = {"padded"};
    bool is_padded = false;
    MER_TRY(mer_ops_read(tasks, arena, graph, error));
    for (int t = 0; t < tasks->count && !is_padded; t++) {
        MER_TRY(mer_yaml_get_bool(tasks->items[t], "padded", &is_padded, error));
    }
    if (is_padded) {
        *implied = (MerReference){NULL, 1, (const char **)key, (const char **)value};
    }
    return MER_OK;
}

/* The word after "capacity: " or "fan-out: " names the memory. */
static const char *advise(const char *reason, MerArena *arena)
{
    char   memory[60] = "";
    double need = 0;
    if (sscanf(reason, "capacity: %59s needs %lf words", memory, &need) == 2) {
        return mer_arena_format(arena,
                                "%s needs room for %.0f words at least (memories.%s.words), or "
                                "tensors that bypass it",
                                memory, need, memory);
    }
    if (sscanf(reason, "fan-out: %59s needs %lf instances", memory, &need) == 2) {
        return mer_arena_format(arena,
                                "too much is spread below %s; loosen what is fixed there, or widen "
                                "memories.%s.fanout",
                                memory, memory);
    }
    return strncmp(reason, "constraint: ", 12) == 0
               ? "loosen that constraint; see the constraints as understood"
               : NULL;
}

static const char *covers(const MerProblem *problem)
{
    return problem->plan == &mer_plan_nest && !mer_map_is_padded(problem) ? "perfect factors"
                                                                          : NULL;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_nest, &mer_plan_directives, NULL};

const MerProblemClass mer_problem_map = {
    .name = "map",
    .summary = "tile sizes, loop order and parallelism of each layer on one accelerator",
    .evaluator = "loopnest",
    .optimizer = "annealing",
    .objective = "edp",
    .platform = "s256",
    .exact = "exact_nest",
    .subset = "select",
    .plan_file = "mapping.yaml",
    .budget = 100000,
    .platforms = 1u << MER_PLATFORM_PE_ARRAY,
    .plans = plan_kinds,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_map,
    .decode = decode,
    .encode = encode,
    .bound = bound,
    .tasks = list_tasks,
    .choose_default = choose_default,
    .read_graph = read_graph,
    .constraints = describe,
    .choice_name = choice_name,
    .advise = advise,
    .covers = covers,
    .demo = "resnet18 --platform s256 --budget 20000",
    .demo_summary = "ResNet-18, layer by layer, on a 16 x 16 array: tile sizes, loop order and "
                    "parallelism.",
};
