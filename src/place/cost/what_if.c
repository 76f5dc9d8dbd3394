#include "place/cost/what_if.h"

#include "mercator/rng.h"
#include "place/solve/ideals.h"
#include "place/solve/placements.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_OPERATORS = 20000,   /* of a graph that is opened again and again */
    MOVES_PRICED = 400000,    /* operators times moves */
    STEPS_PRICED = 1600000,   /* operators times steps of one improvement */
    SINGLES_PRICED = 2000000, /* operators times units that are tried alone */
    STREAM = 0x77696621       /* of the generator of improvements */
};

typedef struct Opened {
    MerProblem   problem;
    MerEvaluator evaluator;
    MerMetric    metric;
} Opened;

/* The problem on another platform; `transfer` is a factor of the transfer times of its file. false: it cannot be opened. */
static bool reopen(const MerPlacePricer *pricer, const MerPlatform *platform, double transfer,
                   MerArena *arena, Opened *opened)
{
    MerPlaceOptions *options = MER_NEW(arena, MerPlaceOptions);
    *options = *(const MerPlaceOptions *)pricer->problem->options;
    options->msr_cost_scale *= transfer;
    *opened = (Opened){.problem = *pricer->problem, .metric = pricer->metric};
    opened->problem.options = options;
    opened->problem.platform = platform;
    opened->problem.state = mer_arena_alloc(arena, pricer->problem->type->state_size);
    const MerEvaluatorClass *type = pricer->evaluator.type;
    opened->evaluator =
        (MerEvaluator){type, mer_arena_alloc(arena, type->state_size), pricer->evaluator.options};
    return pricer->problem->type->open(&opened->problem, arena, NULL) == MER_OK &&
           type->open(opened->evaluator.state, &opened->problem, opened->evaluator.options, arena,
                      NULL) == MER_OK;
}

static void close_again(Opened *opened)
{
    if (opened->evaluator.type->close) {
        opened->evaluator.type->close(opened->evaluator.state);
    }
}

/* NaN: refused. */
static double price_fully(const Opened *opened, const MerPlan *plan, MerArena *scratch,
                          MerCost *cost)
{
    MerCall call = {
        .scratch = scratch, .limit_metric = MER_METRIC_COUNT, .limit = INFINITY, .exact = true};
    opened->evaluator.type->evaluate(opened->evaluator.state, plan, &call, cost);
    return cost->feasible ? cost->value[opened->metric] : NAN;
}

static double price(const Opened *opened, const MerPlan *plan, MerArena *scratch)
{
    MerCost cost;
    return price_fully(opened, plan, scratch, &cost);
}

static double price_point(const Opened *opened, const MerIndex *point, MerArena *scratch)
{
    MerPlan plan;
    mer_arena_reset(scratch);
    opened->problem.type->decode(&opened->problem, point, &plan, scratch);
    return price(opened, &plan, scratch);
}

/* The plan on a platform that may have a unit more. */
static MerPlan fit_plan(const MerPlan *plan, int unit_count, MerArena *arena)
{
    MerGraphPlan *made = MER_NEW(arena, MerGraphPlan);
    *made = *mer_graph_plan(plan);
    if (made->replicas) {
        made->replicas = MER_ARRAY(arena, int, unit_count);
        for (int u = 0; u < unit_count; u++) {
            made->replicas[u] = u < made->unit_count ? mer_graph_plan(plan)->replicas[u] : 1;
        }
    }
    made->unit_count = unit_count;
    return (MerPlan){plan->kind, made};
}

/* A step: one group, or all groups of its unit from it on in the order of the graph, goes to another unit. */
static void step(const MerPlace *place, MerRng *rng, MerIndex *point)
{
    int  g = mer_rng_below(rng, place->group_count);
    int  choices = place->choice_start[g + 1] - place->choice_start[g];
    int  from = place->choices[place->choice_start[g] + point[g]];
    int  to = place->choices[place->choice_start[g] + mer_rng_below(rng, choices)];
    bool is_tail = mer_rng_below(rng, 2) == 0;
    for (int k = g; k < (is_tail ? place->group_count : g + 1); k++) {
        int first = place->choice_start[k], count = place->choice_start[k + 1] - first;
        for (int c = 0; place->choices[first + point[k]] == from && c < count; c++) {
            if (place->choices[first + c] == to) {
                point[k] = c;
                break;
            }
        }
    }
}

/* A contiguous split where it is better than the point: more memory or another unit often needs another split altogether. */
static double start_from_split(const Opened *opened, double value, MerIndex *point, MerArena *arena)
{
    static const MerIdealLimits limits = {3000, 300000};
    const MerPlace             *place = mer_place_of(&opened->problem);
    const MerEvaluatorClass    *type = opened->evaluator.type;
    const MerPlaceRules        *rules = type->rules ? type->rules(opened->evaluator.state) : NULL;
    int                        *unit = MER_ARRAY(arena, int, place->group_count);
    MerIndex *split = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1);
    double    found;
    bool      is_proven;
    if (!rules ||
        !mer_place_ideal_split(place, rules, &limits, NULL, NULL, unit, &found, &is_proven,
                               arena) ||
        !mer_place_point(place, unit, split)) {
        return value;
    }
    MerArena *scratch = mer_arena_new();
    found = price_point(opened, split, scratch);
    mer_arena_free(scratch);
    if (found < value || (isnan(value) && !isnan(found))) {
        memcpy(point, split, (size_t)opened->problem.space.knob_count * sizeof *point);
        return found;
    }
    return value;
}

/* The value after a number of steps, each kept unless it costs more; NaN: the plan is no point of the space. */
static double improve(const Opened *opened, const MerPlan *plan, MerArena *arena)
{
    const MerProblem *problem = &opened->problem;
    const MerPlace   *place = mer_place_of(problem);
    size_t            bytes = (size_t)problem->space.knob_count * sizeof(MerIndex);
    MerIndex         *best = MER_ARRAY(arena, MerIndex, problem->space.knob_count + 1);
    MerIndex         *point = MER_ARRAY(arena, MerIndex, problem->space.knob_count + 1);
    MerRng            rng = mer_rng_make(1, STREAM);
    if (!problem->type->encode(problem, plan, best)) {
        return NAN;
    }
    MerArena *scratch = mer_arena_new();
    double    value = start_from_split(opened, price_point(opened, best, scratch), best, arena);
    for (int i = 0; i < STEPS_PRICED / place->op_count; i++) {
        memcpy(point, best, bytes);
        step(place, &rng, point);
        double other = price_point(opened, point, scratch);
        if (other <= value || (isnan(value) && !isnan(other))) {
            value = other;
            memcpy(best, point, bytes);
        }
    }
    mer_arena_free(scratch);
    return value;
}

static MerWhatIf ask(const MerPlacePricer *pricer, const MerPlan *plan,
                     const MerWhatIfChange *change, MerWhatIfMode mode)
{
    MerWhatIf          answer = {change->text, NAN, NAN};
    MerArena          *arena = mer_arena_new();
    const MerPlatform *platform =
        mer_place_change(pricer->problem->platform, change->change, arena);
    Opened opened;
    if (reopen(pricer, platform, change->transfer, arena, &opened)) {
        MerPlan fitted = fit_plan(plan, platform->unit_count, arena);
        answer.value = price(&opened, &fitted, arena);
        answer.improved =
            mode == MER_WHAT_IF_SEARCH ? improve(&opened, &fitted, arena) : answer.improved;
        close_again(&opened);
    }
    mer_arena_free(arena);
    return answer;
}

/* Groups, those of the unit that is idle least first, then the longest. */
typedef struct Candidate {
    int    group;
    double weight;
} Candidate;

static int compare_candidates(const void *first, const void *second)
{
    const Candidate *a = first, *b = second;
    return a->weight != b->weight ? (a->weight < b->weight) - (a->weight > b->weight)
                                  : (a->group > b->group) - (a->group < b->group);
}

static Candidate *order_groups(const MerPlace *place, const MerGraphPlan *plan,
                               const double *load_us, MerArena *arena)
{
    Candidate *list = MER_ARRAY(arena, Candidate, place->group_count);
    int        busiest = 0;
    double     all = 1;
    for (int u = 1; u < place->unit_count; u++) {
        busiest = load_us[3 * u + 2] < load_us[3 * busiest + 2] ? u : busiest;
    }
    for (int g = 0; g < place->group_count; g++) {
        int unit = plan->unit[place->members[place->member_start[g]]];
        list[g] =
            (Candidate){g, place->group_us[(size_t)g * (size_t)place->unit_count + (size_t)unit]};
        all += list[g].weight;
    }
    for (int g = 0; g < place->group_count; g++) {
        int unit = plan->unit[place->members[place->member_start[g]]];
        list[g].weight += unit == busiest ? all : 0;
    }
    qsort(list, (size_t)place->group_count, sizeof *list, compare_candidates);
    return list;
}

static void keep_move(MerWhatIfs *answer, MerWhatIfMove move)
{
    int at = answer->move_count;
    if (isnan(move.value) || !(move.value < answer->value * (1 - 1e-9))) {
        return;
    }
    while (at > 0 && move.value < answer->moves[at - 1].value) {
        at--;
    }
    if (at == MER_WHAT_IF_MOVES) {
        return;
    }
    answer->move_count += answer->move_count < MER_WHAT_IF_MOVES;
    memmove(&answer->moves[at + 1], &answer->moves[at],
            (size_t)(answer->move_count - at - 1) * sizeof move);
    answer->moves[at] = move;
}

/* Every group of the list on every unit it may take, as far as the budget goes. */
static void try_moves(const Opened *opened, const MerPlacePriced *priced, MerWhatIfs *answer,
                      MerArena *arena)
{
    const MerPlace *place = mer_place_of(&opened->problem);
    Candidate *list = order_groups(place, mer_graph_plan(priced->plan), priced->load_us, arena);
    MerIndex  *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count + 1);
    int64_t    budget = MOVES_PRICED / place->op_count + 1;
    if (!opened->problem.type->encode(&opened->problem, priced->plan, point)) {
        return;
    }
    MerArena *scratch = mer_arena_new();
    for (int i = 0; i < place->group_count && budget > 0; i++) {
        int           g = list[i].group, first = place->choice_start[g];
        int           count = place->choice_start[g + 1] - first;
        MerIndex      own = point[g];
        MerWhatIfMove best = {g, place->choices[first + own], -1, INFINITY};
        for (int c = 0; c < count; c++, budget--) {
            point[g] = c;
            double value = c == own ? NAN : price_point(opened, point, scratch);
            if (value < best.value) {
                best.value = value;
                best.to = place->choices[first + c];
            }
        }
        point[g] = own;
        keep_move(answer, best);
    }
    mer_arena_free(scratch);
}

static double price_single(const Opened *opened, int single, MerArena *scratch, MerCost *cost)
{
    const MerPlace *place = mer_place_of(&opened->problem);
    int            *unit = MER_ARRAY(scratch, int, place->group_count + 1);
    MerPlan         plan;
    MerGraphPlan   *made = mer_place_new_plan(place, &plan, scratch);
    mer_place_single(place, single, unit);
    for (int o = 0; o < place->op_count; o++) {
        made->unit[o] = unit[place->group[o]];
    }
    return price_fully(opened, &plan, scratch, cost);
}

/* Into the list by class: the best unit of each, and the best of all first. */
static void keep_single(const MerPlace *place, MerSingle single, MerWhatIfs *answer)
{
    MerSingle *list = answer->singles;
    int        at = 0;
    while (at < answer->single_count &&
           place->unit_class[list[at].unit] != place->unit_class[single.unit]) {
        at++;
    }
    if (at == answer->single_count) {
        list[answer->single_count++] = single;
    } else if (single.value < list[at].value || (isnan(list[at].value) && !isnan(single.value))) {
        list[at] = single;
    }
    if (list[at].value < list[0].value || (isnan(list[0].value) && !isnan(list[at].value))) {
        MerSingle best = list[at];
        memmove(list + 1, list, (size_t)at * sizeof best);
        list[0] = best;
    }
}

/* Often one unit alone is best: an answer is always held against it. */
static void try_singles(const Opened *opened, MerWhatIfs *answer, MerArena *arena)
{
    const MerPlace *place = mer_place_of(&opened->problem);
    MerArena       *scratch = mer_arena_new();
    answer->singles = MER_ARRAY(arena, MerSingle, place->unit_count + 1);
    for (int u = 0; u < place->unit_count; u++) {
        if (u == 0 || u <= SINGLES_PRICED / place->op_count) {
            MerCost cost;
            double  value = price_single(opened, u, scratch, &cost);
            keep_single(place, (MerSingle){u, value, mer_arena_text(arena, cost.reason)}, answer);
            mer_arena_reset(scratch);
        }
    }
    mer_arena_free(scratch);
}

/* What all on the first accelerator needs where nothing limits it. */
static void try_without_limits(const MerPlacePricer *pricer, MerWhatIfs *answer, MerArena *arena)
{
    const MerPlatform *platform = mer_place_change(
        pricer->problem->platform, (MerPlaceChange){MER_CHANGE_MEMORY, -1, INFINITY}, arena);
    Opened  opened;
    MerCost cost;
    if (!reopen(pricer, platform, 1, arena, &opened)) {
        return;
    }
    const MerPlace *place = mer_place_of(&opened.problem);
    int             unit = 0;
    while (unit < place->unit_count && place->is_host[unit]) {
        unit++;
    }
    if (unit < place->unit_count) {
        price_single(&opened, unit, arena, &cost);
        answer->roomy_unit = unit;
        answer->roomy_bytes = cost.value[MER_METRIC_PEAK_BYTES];
    }
    close_again(&opened);
}

MerWhatIfs mer_place_what_ifs(const MerPlacePricer *pricer, const MerPlacePriced *priced,
                              MerArena *arena)
{
    const MerPlace        *place = mer_place_of(pricer->problem);
    const MerPlaceOptions *options = pricer->problem->options;
    Opened                 same = {*pricer->problem, pricer->evaluator, pricer->metric};
    MerWhatIfs             answer = {
                    .mode = (MerWhatIfMode)options->what_if, .improved = NAN, .roomy_unit = -1};
    answer.value = price(&same, priced->plan, arena);
    try_singles(&same, &answer, arena);
    if (place->op_count > MOST_OPERATORS || answer.mode == MER_WHAT_IF_OFF) {
        answer.mode = MER_WHAT_IF_OFF;
        return answer;
    }
    if (!isnan(answer.value)) {
        try_moves(&same, priced, &answer, arena);
    }
    if (answer.mode == MER_WHAT_IF_SEARCH) {
        answer.improved = improve(&same, priced->plan, arena);
    }
    try_without_limits(pricer, &answer, arena);
    int              count;
    MerWhatIfChange *changes = mer_place_list_changes(
        place, mer_graph_plan(priced->plan), answer.mode, isnan(answer.value), arena, &count);
    answer.list = MER_ARRAY(arena, MerWhatIf, count + 1);
    for (int c = 0; c < count; c++) {
        answer.list[answer.count++] = ask(pricer, priced->plan, &changes[c], answer.mode);
    }
    return answer;
}
