/* Problem `place`: which unit runs which operator of one network, in what order, fused with what (docs/placement.md). One task, the
 * whole graph. */
#include "place/place_parts.h"

#include "base/option_rows.h"
#include "mercator/evaluator.h"

#include <string.h>

typedef MerPlaceOptions Options;

static const MerOption options[] = {
    MER_TEXT(decide, "place", "what the search decides: place, order, fuse, as place,order,fuse"),
    MER_BOOL(in_turn, "false",
             "decide one after the other: the placement, then the order, then fusion, each with "
             "the rest as it is by then"),
    MER_TEXT(profile, "",
             "measured times of operators: CSV, or the profile of ONNX Runtime (JSON)"),
    MER_TEXTS(colocate, "[]",
              "regular expressions with brackets: operators with equal captures share a unit"),
    MER_TEXTS(pin, "[]", "REGEX=UNIT or REGEX=CLASS: operators that match go there"),
    MER_CHOICE(single_consumer, "off", "off|output|group",
               "an operator whose result one other reads joins it: consumers counted once, or "
               "again after each merge"),
    MER_BOOL(blocks, "false", "operators of one block of the network share a unit"),
    MER_REAL(group_work_limit, "1", 0, 1,
             "share of all work above which the single-consumer rule merges nothing"),
    MER_REAL(
        msr_cost_scale, "1", 0, 1e9,
        "factor of the edge costs of msr files, some of which are seconds beside milliseconds"),
    MER_BOOL(replication, "false",
             "a stage may run on several units at once, each with other samples (PipeDream)"),
    MER_BOOL(recompute, "false", "times and bytes with activations computed again (Piper files)"),
    MER_INT(levels, "20", 2, 1000, "levels of priorities and of fusion"),
    MER_CHOICE(what_if, "price", "off|price|search",
               "with the answer: what links, memories, units and gaps would change, for the same "
               "placement or an improved one"),
    {0}};

extern const MerProblemClass mer_problem_place;

typedef struct State {
    MerPlace    place;
    const char *remarks[2];
} State;

const MerPlace *mer_place_of(const MerProblem *problem)
{
    return problem->type == &mer_problem_place ? &((const State *)problem->state)->place : NULL;
}

static MerStatus read_decisions(const char *text, MerPlace *place, MerError *error)
{
    bool has_place = false;
    text += text && *text == '['; /* in a reference, decide=[place,order] */
    while (text && *text != '\0' && *text != ']') {
        size_t length = strcspn(text, ",]");
        bool  *said = length == 5 && strncmp(text, "place", 5) == 0   ? &has_place
                      : length == 5 && strncmp(text, "order", 5) == 0 ? &place->decides_order
                      : length == 4 && strncmp(text, "fuse", 4) == 0  ? &place->decides_fusion
                                                                      : NULL;
        if (!said) {
            return mer_error_set(error, MER_INVALID,
                                 "decide is \"%.*s\", expected place, order or fuse, separated by "
                                 "commas",
                                 (int)length, text);
        }
        *said = true;
        text += length + (text[length] == ',');
    }
    return has_place ? MER_OK
                     : mer_error_set(error, MER_INVALID,
                                     "decide lacks place, expected place, place,order, place,fuse "
                                     "or place,order,fuse");
}

static MerStatus open_place(MerProblem *problem, MerArena *arena, MerError *error)
{
    const MerPlaceOptions *chosen = problem->options;
    State                 *state = problem->state;
    MER_TRY(mer_place_open(problem, &state->place, state->remarks, arena, error));
    MER_TRY(read_decisions(chosen->decide, &state->place, error));
    problem->space = mer_place_space(&state->place, arena);
    return MER_OK;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    mer_place_decode(mer_place_of(problem), point, plan, arena);
}

static bool encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    return mer_place_encode(mer_place_of(problem), mer_graph_plan(plan), point);
}

static void bound(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *result)
{
    *result = mer_place_bound(mer_place_of(problem), rules, metric);
}

/* Pipelines are measured by their period, everything else by the end of one run. */
static const char *choose_default(MerDefault what, const MerInputs *inputs)
{
    if (what == MER_DEFAULT_EVALUATOR && inputs->objective &&
        mer_metric_find(inputs->objective) == MER_METRIC_PERIOD) {
        return "maxload";
    }
    if (what == MER_DEFAULT_EVALUATOR && inputs->graph) {
        return mer_graph_attachment(inputs->graph, MER_PLACE_PROFILE) ? "maxload" : "cluster";
    }
    if (what == MER_DEFAULT_OBJECTIVE && inputs->evaluator) {
        return strcmp(inputs->evaluator->name, "maxload") == 0 ? "period"
               : strcmp(inputs->evaluator->name, "calls") == 0 ? "latency"
                                                               : "makespan";
    }
    /* solvers ask an evaluator more often than one of unknown cost should be asked */
    bool is_unknown = inputs->evaluator && !inputs->evaluator->rules;
    return what == MER_DEFAULT_OPTIMIZER &&
                   (is_unknown || (inputs->refused && inputs->has_fixed_knobs))
               ? "annealing"
               : NULL;
}

static const char *warnings(const MerProblem *problem, const void *rules, MerMetric objective,
                            MerArena *arena)
{
    const State         *state = problem->state;
    const MerPlaceRules *priced = rules;
    const char          *text = NULL;
    (void)objective;
    for (int i = 0; i < 2; i++) {
        if (state->remarks[i]) {
            text = mer_arena_format(arena, "%s%s\n", text ? text : "", state->remarks[i]);
        }
    }
    if (priced && priced->form != MER_PLACE_CLUSTER &&
        (state->place.decides_order || state->place.decides_fusion)) {
        text = mer_arena_format(arena,
                                "%sorder and fusion matter to evaluator cluster alone: here only "
                                "the placement is decided\n",
                                text ? text : "");
    }
    return text;
}

static const char *choice_name(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena)
{
    const MerPlace *place = mer_place_of(problem);
    (void)arena;
    return knob < place->group_count
               ? place->unit_names[place->choices[place->choice_start[knob] + choice]]
               : NULL;
}

static const char *advise(const char *reason, MerArena *arena)
{
    (void)arena;
    return strncmp(reason, "memory", 6) == 0
               ? "more units or more memory (memory_bytes of the platform), or price it anyway "
                 "with the evaluator's price_infeasible=true"
               : NULL;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_graph, NULL};

const MerProblemClass mer_problem_place = {
    .name = "place",
    .summary = "which device runs which operator, in what order, fused with what",
    .evaluator = "cluster",
    .optimizer = "portfolio",
    .objective = "makespan",
    .exact = "ideal_dp",
    .platform = "four-v100-nvlink",
    .plan_file = "placement.yaml",
    .budget = 5000,
    .platforms = 1u << MER_PLATFORM_CLUSTER,
    .plans = plan_kinds,
    .options = options,
    .options_size = sizeof(MerPlaceOptions),
    .state_size = sizeof(State),
    .open = open_place,
    .decode = decode,
    .encode = encode,
    .bound = bound,
    .warnings = warnings,
    .choose_default = choose_default,
    .choice_name = choice_name,
    .advise = advise,
    .rounds = 2,
    .next_round = mer_place_next_round,
    .first_round = mer_place_first_round,
    .round_share = mer_place_round_share,
    .demo = "bert_base --platform four-v100-nvlink",
    .demo_summary = "The operators of BERT on four GPUs.",
};
