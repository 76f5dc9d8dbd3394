/* Contiguous splits of an opened problem: blocks, chains of them, ideals, and which unit takes which stage. */
#include "place/solve/stages.h"

#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

/* Stages take the units of their kinds in the order of the platform. */
static void assign_units(const MerPlace *place, const MerStageKinds *kinds,
                         const MerStageBlocks *blocks, const MerStages *split, int *unit_of_group,
                         MerArena *arena)
{
    int  *unit_of_stage = NEW(int, split->stage_count);
    bool *is_taken = NEW(bool, place->unit_count);
    for (int i = 0; i < split->stage_count; i++) {
        int unit = 0;
        while (is_taken[unit] || kinds->kind_of_unit[unit] != split->kind[i]) {
            unit++;
        }
        is_taken[unit] = true;
        unit_of_stage[i] = unit;
    }
    for (int g = 0; g < place->group_count; g++) {
        unit_of_group[g] = unit_of_stage[split->stage_of_block[blocks->block_of_group[g]]];
    }
}

bool mer_place_chain_split(const MerPlace *place, const MerPlaceRules *rules, const int *order,
                           MerNotes *notes, int *unit_of_group, double *value_us, MerArena *arena)
{
    const MerStageKinds  *kinds = mer_stage_unit_kinds(place, arena);
    const MerStageBlocks *blocks =
        mer_stage_blocks(place, rules, kinds, (MerStageMerges){0}, arena);
    bool                  is_row;
    const MerStageStates *states =
        mer_stage_unit_states(place, rules, blocks, kinds, blocks->count + 1, &is_row, arena);
    MerStages *split = mer_stages_new(blocks, states, arena);
    int       *rank = order ? NEW(int, blocks->count) : NULL;
    for (int i = place->group_count - 1; order && i >= 0; i--) {
        rank[blocks->block_of_group[order[i]]] = i;
    }
    if (!mer_stage_chain(blocks, states, mer_stage_order(blocks, rank, arena), notes, split,
                         arena)) {
        return false;
    }
    assign_units(place, kinds, blocks, split, unit_of_group, arena);
    *value_us = split->value_us;
    return true;
}

/* Of the depth-first order and of that of the graph, a limit for the search and the answer without one. */
static void find_chains(const MerStageBlocks *blocks, const MerStageStates *states, MerNotes *notes,
                        MerStages *best, MerArena *arena)
{
    int *rank = NEW(int, blocks->count);
    for (int b = 0; b < blocks->count; b++) {
        rank[b] = b;
    }
    for (int i = 0; i < 2; i++) {
        MerStages *split = mer_stages_new(blocks, states, arena);
        const int *order = mer_stage_order(blocks, i == 0 ? NULL : rank, arena);
        if (mer_stage_chain(blocks, states, order, notes, split, arena) &&
            split->value_us < best->value_us) {
            *best = *split;
        }
    }
}

typedef struct Task {
    const MerPlace       *place;
    const MerPlaceRules  *rules;
    const MerStageKinds  *kinds;
    const MerStageBlocks *blocks;
    const MerStageStates *states;
    const MerIdeals      *ideals; /* NULL: too many */
    bool                  is_exact;
} Task;

/* Where memory is scarce, blocks without time are only merged if there are too many ideals otherwise: a better split may
 * have them elsewhere. */
static void list_ideals(Task *t, const MerIdealLimits *limits, MerNotes *notes, MerArena *arena)
{
    t->is_exact = true;
    t->blocks =
        mer_stage_blocks(t->place, t->rules, t->kinds, (MerStageMerges){true, false}, arena);
    t->ideals = mer_stage_list_ideals(t->blocks, limits, notes, arena);
    if (t->ideals) {
        return;
    }
    const MerStageBlocks *fewer =
        mer_stage_blocks(t->place, t->rules, t->kinds, (MerStageMerges){true, true}, arena);
    const MerIdeals *ideals =
        fewer->count < t->blocks->count ? mer_stage_list_ideals(fewer, limits, notes, arena) : NULL;
    if (ideals) {
        t->is_exact = false;
        t->blocks = fewer;
        t->ideals = ideals;
    }
}

bool mer_place_ideal_split(const MerPlace *place, const MerPlaceRules *rules,
                           const MerIdealLimits *limits, MerNotes *notes, MerPool *pool,
                           int *unit_of_group, double *value_us, bool *is_proven, MerArena *arena)
{
    Task t = {.place = place, .rules = rules, .kinds = mer_stage_unit_kinds(place, arena)};
    bool is_row;
    list_ideals(&t, limits, notes, arena);
    int64_t positions = t.ideals ? t.ideals->count : t.blocks->count + 1;
    t.states = mer_stage_unit_states(place, rules, t.blocks, t.kinds, positions, &is_row, arena);
    MerStages *split = mer_stages_new(t.blocks, t.states, arena);
    find_chains(t.blocks, t.states, notes, split, arena);
    *is_proven = t.ideals &&
                 mer_stage_search(t.blocks, t.states, t.ideals, notes, pool, split, arena) &&
                 t.is_exact && !is_row;
    *value_us = split->value_us;
    if (split->value_us == INFINITY) {
        return false;
    }
    assign_units(place, t.kinds, t.blocks, split, unit_of_group, arena);
    return true;
}

int64_t mer_place_count_ideals(const MerPlace *place, const MerPlaceRules *rules,
                               const MerIdealLimits *limits, MerArena *arena)
{
    Task t = {.place = place, .rules = rules, .kinds = mer_stage_unit_kinds(place, arena)};
    list_ideals(&t, limits, NULL, arena);
    return t.ideals ? t.ideals->count : -1;
}
