/* Problem `split`: which compute unit of a system on chip computes which output channels of every layer (docs/channel-split.md). One task,
 * the whole network. */
#include "split/split_parts.h"

#include "mercator/evaluator.h"

#include <stddef.h>
#include <string.h>

#define OPTION(name) offsetof(MerSplitOptions, name)
static const MerOption options[] = {
    {"granularity", MER_OPTION_CHOICE, OPTION(granularity), "count", 0, 0, "count|channel",
     "what a knob says: how many channels an option gets, or which option a channel gets"},
    {"tie", MER_OPTION_BOOL, OPTION(tie), "false", 0, 0, NULL,
     "layers whose channels meet (Add, depthwise) share one assignment"},
    {"operators", MER_OPTION_CHOICE, OPTION(operators), "replace", 0, 0, "replace|keep",
     "may a unit for depthwise layers stand in for 3x3 convolutions and depthwise-separable pairs"},
    {"pin", MER_OPTION_TEXTS, OPTION(pin), "[]", 0, 0, NULL,
     "REGEX=UNIT or REGEX=OPTION: all channels of the layers that match go there"},
    {"reduced", MER_OPTION_BOOL, OPTION(reduced), "false", 0, 0, NULL,
     "search only layers where another option can keep up with the reference; the rest stays "
     "there"},
    {0}};

extern const MerProblemClass mer_problem_split;

typedef struct State {
    MerSplit        split;
    MerSplitRemarks remarks;
} State;

const char mer_split_no_weights[] =
    "the network's file has no weights: distortion is that of random ones (He, seeded)";

const MerSplit *mer_split_of(const MerProblem *problem)
{
    return problem->type == &mer_problem_split ? &((const State *)problem->state)->split : NULL;
}

static MerStatus open_split(MerProblem *problem, MerArena *arena, MerError *error)
{
    State *state = problem->state;
    MER_TRY(mer_split_open(problem, &state->split, &state->remarks, arena, error));
    problem->space = mer_split_space(&state->split, arena);
    return MER_OK;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    mer_split_decode(mer_split_of(problem), point, plan, arena);
}

static bool encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    return mer_split_encode(mer_split_of(problem), mer_split_plan(plan), point);
}

static void bound(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *result)
{
    *result = mer_split_lower_bound(mer_split_of(problem), rules, metric);
}

/* What the exact solver refuses, a general optimizer tries. */
static const char *choose_default(MerDefault what, const MerInputs *inputs)
{
    return what == MER_DEFAULT_OPTIMIZER && inputs->refused ? "genetic" : NULL;
}

static const char *warnings(const MerProblem *problem, const void *rules, MerMetric objective,
                            MerArena *arena)
{
    const State *state = problem->state;
    const char  *text = state->remarks.text;
    (void)rules;
    return objective == MER_METRIC_DISTORTION && !state->split.has_weights
               ? mer_arena_format(arena, "%s%s\n", text ? text : "", mer_split_no_weights)
               : text;
}

static const char *choice_name(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena)
{
    const MerSplit *split = mer_split_of(problem);
    const MerKnob  *which = &problem->space.knobs[knob];
    (void)arena;
    return which->kind == MER_KNOB_CATEGORY ? split->layers[which->op].options[choice].name : NULL;
}

static const char *advise(const char *reason, MerArena *arena)
{
    (void)arena;
    return strncmp(reason, "memory", 6) == 0
               ? "memory=price adds the cycles of transfers instead, memory=off leaves memory out"
               : NULL;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_split, NULL};

const MerProblemClass mer_problem_split = {
    .name = "split",
    .summary = "which compute unit of a system on chip computes which channels of each layer",
    .evaluator = "soc",
    .optimizer = "exact_split",
    .objective = "latency",
    .exact = "exact_split",
    .platform = "diana",
    .plan_file = "split.yaml",
    .budget = 5000,
    .platforms = 1u << MER_PLATFORM_SOC,
    .plans = plan_kinds,
    .options = options,
    .options_size = sizeof(MerSplitOptions),
    .state_size = sizeof(State),
    .open = open_split,
    .decode = decode,
    .encode = encode,
    .bound = bound,
    .warnings = warnings,
    .choose_default = choose_default,
    .choice_name = choice_name,
    .advise = advise,
    .demo = "resnet8 --platform diana",
    .demo_summary = "The channels of ResNet8 over a digital and an analog array.",
};
