/* Solver `pipedream`: stages of a pipeline, each on one unit or on several that share its samples (Narayanan et al., PipeDream:
 * Generalized Pipeline Parallelism for DNN Training, SOSP 2019, section 3.1; docs/placement.md, "PipeDream"). Hierarchies of
 * links are left out: all units are equal. */
#include "place/solve/stages.h"

#include "base/option_rows.h"
#include "mercator/evaluator.h"

#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

typedef struct Options {
    bool    straight, use_fewer_machines;
    double  memory, bandwidth;
    int64_t ideals, explored;
} Options;

static const MerOption options[] = {
    MER_BOOL(straight, "false", "every stage has one unit"),
    MER_BOOL(use_fewer_machines, "false", "units may stay idle; the published solver uses all"),
    MER_REAL(
        memory, "0", 0, 1e18,
        "bytes of a unit for results and weights of all samples on their way; 0: no such limit"),
    MER_REAL(bandwidth, "0", 0, 1e18,
             "bytes per second between replicas; 0: what the evaluator has"),
    MER_INT(ideals, "60000", 1, 2e9, "down-sets of the graph at most; with more it cuts one chain"),
    MER_INT(explored, "2000000", 1, 1e15,
            "down-sets that may be met, again and again, while they are listed"),
    {0}};

typedef struct State {
    const MerSearch  *search;
    const MerProblem *problem;
    const MerPlace   *place;
    MerPlaceRules     rules;
    Options           chosen;
    int              *units, unit_count; /* accelerators */
    bool              is_done, is_proven;
    double            value_us;
} State;

/* The units that are no hosts. */
static int find_units(const MerPlace *place, int *units)
{
    int count = 0;
    for (int u = 0; u < place->unit_count; u++) {
        if (!place->is_host[u]) {
            units[count++] = u;
        }
    }
    return count;
}

/* The first accelerator that differs from the first of all; -1: none does. */
static int find_other(const MerPlace *place, const int *units, int count)
{
    MerArena            *arena = mer_arena_new();
    const MerStageKinds *kinds = mer_stage_unit_kinds(place, arena);
    int                  other = -1;
    for (int i = count - 1; i > 0; i--) {
        bool is_same = kinds->kind_of_unit[units[i]] == kinds->kind_of_unit[units[0]] &&
                       place->unit_class[units[i]] == place->unit_class[units[0]];
        other = is_same ? other : units[i];
    }
    mer_arena_free(arena);
    return other;
}

static MerStatus check_units(const MerPlace *place, const int *units, int count, MerError *error)
{
    if (count == 0) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "pipedream splits over accelerators, found none in %s",
                             place->platform->name);
    }
    int other = find_other(place, units, count);
    if (other >= 0) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "pipedream splits over equal accelerators, found that %s and %s "
                             "differ, or what may go there",
                             place->unit_names[units[0]], place->unit_names[other]);
    }
    for (int g = 0; g < place->group_count; g++) {
        bool may_run = false;
        for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
            may_run = may_run || place->choices[i] == units[0];
        }
        if (!may_run) {
            return mer_error_set(error, MER_UNSUPPORTED,
                                 "pipedream splits over accelerators, found %s, which may run on "
                                 "none of them",
                                 place->group_names[g]);
        }
    }
    return MER_OK;
}

static MerStatus open_pipedream(void *opened, const MerSearch *search, const MerProblem *problem,
                                const MerEvaluator *evaluator, const void *given, MerError *error)
{
    State               *state = opened;
    const MerPlace      *place = mer_place_of(problem);
    const MerPlaceRules *rules =
        evaluator->type->rules ? evaluator->type->rules(evaluator->state) : NULL;
    const char *found = !place || !rules                                         ? "another problem"
                        : search->space->knob_count != problem->space.knob_count ? "fixed knobs"
                                                                                 : NULL;
    if (found) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "pipedream splits graphs of problem place, found %s", found);
    }
    int *units = MER_ARRAY(search->arena, int, place->unit_count);
    int  unit_count = find_units(place, units);
    MER_TRY(check_units(place, units, unit_count, error));
    *state = (State){.search = search,
                     .units = units,
                     .unit_count = unit_count,
                     .problem = problem,
                     .place = place,
                     .rules = *rules,
                     .chosen = *(const Options *)given,
                     .value_us = INFINITY};
    if (state->chosen.bandwidth > 0) {
        state->rules.bytes_per_us = 1e-6 * state->chosen.bandwidth;
    }
    return MER_OK;
}

/* With 1, 2 .. units. */
static MerStageKinds *replica_kinds(const State *state, MerArena *arena)
{
    MerStageKinds *kinds = MER_NEW(arena, MerStageKinds);
    int            units = state->unit_count;
    bool           may_share = state->place->has_replicas && !state->chosen.straight;
    int           *unit_of = NEW(int, units), *replicas = NEW(int, units);
    for (int m = 0; m < units; m++) {
        unit_of[m] = state->units[0];
        replicas[m] = m + 1;
    }
    *kinds = (MerStageKinds){.count = may_share ? units : 1, .unit = unit_of, .replicas = replicas};
    return kinds;
}

/* Bytes that a stage may have. With `memory`, of m units that share the last stage of `taken` units each keeps what the samples
 * need that the rest of the pipeline works on: the published ceil((units - taken) / m) versions. */
static double limit_of(const State *state, int units, int taken, int m, double own)
{
    int versions = (units - taken + m - 1) / m;
    return state->chosen.memory > 0 && versions > 0 ? fmin(own, state->chosen.memory / versions)
                                                    : own;
}

/* State s has taken s units. */
static const MerStageStates *machine_states(const State *state, const MerStageBlocks *blocks,
                                            const MerStageKinds *kinds, MerArena *arena)
{
    MerStageStates *states = MER_NEW(arena, MerStageStates);
    int             units = state->unit_count;
    int            *start = NEW(int, units + 1), count = 0;
    MerStageStep   *steps = NEW(MerStageStep, units * kinds->count);
    double limit = state->rules.ignores_limits ? INFINITY : state->place->limit[kinds->unit[0]];
    for (int s = 0; s <= units; s++) {
        for (int k = 0; k < kinds->count && kinds->replicas[k] <= s; k++) {
            int m = kinds->replicas[k];
            steps[count++] = (MerStageStep){s - m, k, limit_of(state, units, s, m, limit)};
        }
        start[s + 1] = count;
    }
    *states = (MerStageStates){.count = units + 1,
                               .step_start = start,
                               .steps = steps,
                               .may_idle = state->chosen.use_fewer_machines};
    mer_stage_finish_states(states, blocks, arena);
    return states;
}

/* Sizes with the results of the operators, which `memory` counts. */
static const MerPlace *with_results(const MerPlace *place, MerArena *arena)
{
    MerPlace *copy = MER_NEW(arena, MerPlace);
    double   *size = NEW(double, place->group_count);
    memcpy(size, place->group_size, (size_t)place->group_count * sizeof *size);
    for (int o = 0; o < place->op_count; o++) {
        size[place->group[o]] += place->output_bytes[o];
    }
    *copy = *place;
    copy->group_size = size;
    return copy;
}

/* Is the best split of these rules the best contiguous one that the evaluator knows? */
static bool is_optimum(const State *state)
{
    const Options *chosen = &state->chosen;
    return state->rules.form == MER_PLACE_MAXLOAD && chosen->use_fewer_machines &&
           !chosen->straight && chosen->memory == 0 && chosen->bandwidth == 0 &&
           state->unit_count == state->place->unit_count;
}

static void write_point(const State *state, const MerStageBlocks *blocks,
                        const MerStageKinds *kinds, const MerStages *split, MerIndex *point,
                        MerArena *arena)
{
    const MerSpace *space = &state->problem->space;
    const int      *units = state->units;
    int            *unit = NEW(int, state->place->group_count);
    for (int g = 0; g < state->place->group_count; g++) {
        unit[g] = units[split->stage_of_block[blocks->block_of_group[g]]];
    }
    mer_place_point(state->place, unit, point);
    for (int k = 0; k < space->knob_count; k++) {
        for (int i = 0; i < split->stage_count && space->knobs[k].role == MER_ROLE_REPLICAS; i++) {
            if (space->knobs[k].op == units[i]) {
                point[k] = kinds->replicas[split->kind[i]] - 1;
            }
        }
    }
}

static bool find_split(State *state, MerIndex *point, MerArena *arena)
{
    const MerPlace *place =
        state->chosen.memory > 0 ? with_results(state->place, arena) : state->place;
    MerNotes             *notes = state->search->notes;
    const MerStageKinds  *kinds = replica_kinds(state, arena);
    const MerStageBlocks *blocks =
        mer_stage_blocks(place, &state->rules, kinds, (MerStageMerges){0}, arena);
    const MerStageStates *states = machine_states(state, blocks, kinds, arena);
    const MerIdeals      *ideals = mer_stage_list_ideals(
             blocks, &(MerIdealLimits){state->chosen.ideals, state->chosen.explored}, notes, arena);
    MerStages *split = mer_stages_new(blocks, states, arena);
    mer_stage_chain(blocks, states, mer_stage_order(blocks, NULL, arena), notes, split, arena);
    state->is_proven =
        ideals &&
        mer_stage_search(blocks, states, ideals, notes, state->search->pool, split, arena) &&
        is_optimum(state);
    state->value_us = split->value_us;
    if (split->value_us == INFINITY || mer_is_cancelled(notes)) {
        return false;
    }
    write_point(state, blocks, kinds, split, point, arena);
    return true;
}

/* As it was asked; else, where there are fewer blocks than units or limits are too tight for all of them, with units that stay idle;
 * else without limits, to show by how much they are passed. */
static bool find_any(State *state, MerIndex *point, MerArena *arena)
{
    State fewer = *state, unlimited;
    if (find_split(state, point, arena)) {
        return true;
    }
    fewer.chosen.use_fewer_machines = true;
    unlimited = fewer;
    unlimited.rules.ignores_limits = true;
    unlimited.chosen.memory = 0;
    return find_split(&fewer, point, arena) || find_split(&unlimited, point, arena);
}

static int ask(void *opened, MerProposal *proposals, int capacity)
{
    State *state = opened;
    if (state->is_done || capacity < 1) {
        return 0;
    }
    MerArena *arena = mer_arena_new();
    bool      is_found = find_any(state, proposals[0].point, arena);
    state->is_done = true;
    mer_arena_free(arena);
    return is_found;
}

static void tell(void *opened, const MerTrial *trials, int count)
{
    (void)opened, (void)trials, (void)count; /* it knows the price already */
}

static bool proof(const void *opened, MerBound *bound)
{
    const State *state = opened;
    *bound = (MerBound){1e-6 * state->value_us, "search",
                        state->rules.needs_contiguous ? "" : "contiguous"};
    return state->is_proven && state->value_us < INFINITY &&
           state->search->objective == MER_METRIC_PERIOD;
}

const MerOptimizerClass mer_optimizer_pipedream = {
    .name = "pipedream",
    .summary = "stages of a pipeline on one unit or on several that share the samples "
               "(replication=true), by dynamic programming over down-sets",
    .reference = "Narayanan et al., PipeDream: Generalized Pipeline Parallelism for DNN Training, "
                 "SOSP 2019",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .problem = "place",
    .makes_own_plan = true,
    .ends_itself = true,
    .open_problem = open_pipedream,
    .ask = ask,
    .tell = tell,
    .proof = proof,
};
