/* Which units are taken, and what a split costs (docs/placement.md, "Exact splits"). */
#include "place/solve/stages.h"

#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

static bool same_column(const double *table, int rows, int columns, int a, int b)
{
    for (int r = 0; r < rows; r++) {
        const double *row = table + (size_t)r * (size_t)columns;
        if (row[a] != row[b]) {
            return false;
        }
    }
    return true;
}

/* Groups that are pinned to one of two equal units make them different. */
static bool same_choices(const MerPlace *place, int a, int b)
{
    for (int g = 0; g < place->group_count; g++) {
        bool has_a = false, has_b = false;
        for (int i = place->choice_start[g]; i < place->choice_start[g + 1]; i++) {
            has_a = has_a || place->choices[i] == a;
            has_b = has_b || place->choices[i] == b;
        }
        if (has_a != has_b) {
            return false;
        }
    }
    return true;
}

static bool are_alike(const MerPlace *place, int a, int b)
{
    int units = place->unit_count;
    return place->limit[a] == place->limit[b] &&
           same_column(place->group_us, place->group_count, units, a, b) &&
           same_column(place->transfer_us, place->op_count, units, a, b) &&
           same_choices(place, a, b);
}

MerStageKinds *mer_stage_unit_kinds(const MerPlace *place, MerArena *arena)
{
    MerStageKinds *kinds = MER_NEW(arena, MerStageKinds);
    int *unit = NEW(int, place->unit_count), *replicas = NEW(int, place->unit_count), count = 0;
    int *kind_of_unit = NEW(int, place->unit_count);
    for (int u = 0; u < place->unit_count; u++) {
        int known = 0;
        while (known < count && !are_alike(place, unit[known], u)) {
            known++;
        }
        kind_of_unit[u] = known;
        unit[known] = known == count ? u : unit[known];
        replicas[known] = 1;
        count += known == count;
    }
    *kinds = (MerStageKinds){count, unit, replicas, kind_of_unit};
    return kinds;
}

void mer_stage_finish_states(MerStageStates *states, const MerStageBlocks *blocks, MerArena *arena)
{
    double *power = NEW(double, states->count), *memory = NEW(double, states->count);
    for (int s = states->count - 1; s >= 0; s--) {
        for (int i = states->step_start[s]; i < states->step_start[s + 1]; i++) {
            const MerStageStep *step = &states->steps[i];
            power[step->from] = fmax(power[step->from], power[s] + blocks->power[step->kind]);
            memory[step->from] = fmax(memory[step->from], memory[s] + step->limit);
        }
    }
    states->power_left = power;
    states->memory_left = memory;
}

/* Every vector of numbers of taken units by kind is a state; mixed-radix digits. */
static MerStageStates *count_states(const int *counts, const double *limits, int kinds, int total,
                                    MerArena *arena)
{
    MerStageStates *states = MER_NEW(arena, MerStageStates);
    int            *start = NEW(int, total + 1), step_count = 0;
    MerStageStep   *steps = NEW(MerStageStep, (size_t)total * (size_t)kinds);
    for (int s = 0; s < total; s++) {
        for (int k = 0, rest = s, place_value = 1; k < kinds; k++) {
            if (rest % (counts[k] + 1) > 0) {
                steps[step_count++] = (MerStageStep){s - place_value, k, limits[k]};
            }
            rest /= counts[k] + 1;
            place_value *= counts[k] + 1;
        }
        start[s + 1] = step_count;
    }
    *states =
        (MerStageStates){.count = total, .step_start = start, .steps = steps, .may_idle = true};
    return states;
}

/* The units one after the other: state s has taken the first s. */
static MerStageStates *row_states(const MerStageKinds *kinds, const double *limits, int units,
                                  MerArena *arena)
{
    MerStageStates *states = MER_NEW(arena, MerStageStates);
    int            *start = NEW(int, units + 2);
    MerStageStep   *steps = NEW(MerStageStep, units);
    for (int u = 0; u < units; u++) {
        int kind = kinds->kind_of_unit[u];
        steps[u] = (MerStageStep){u, kind, limits[kind]};
        start[u + 2] = u + 1;
    }
    *states =
        (MerStageStates){.count = units + 1, .step_start = start, .steps = steps, .may_idle = true};
    return states;
}

const MerStageStates *mer_stage_unit_states(const MerPlace *place, const MerPlaceRules *rules,
                                            const MerStageBlocks *blocks,
                                            const MerStageKinds *kinds, int64_t positions,
                                            bool *is_row, MerArena *arena)
{
    const int64_t most_cells = 16 << 20; /* of a table by state and position: 256 MB */
    int          *counts = NEW(int, kinds->count);
    double       *limits = NEW(double, kinds->count);
    int64_t       total = 1;
    for (int u = 0; u < place->unit_count; u++) {
        counts[kinds->kind_of_unit[u]]++;
    }
    *is_row = false;
    for (int k = 0; k < kinds->count; k++) {
        limits[k] = rules->ignores_limits ? INFINITY : place->limit[kinds->unit[k]];
        total *= counts[k] + 1;
        *is_row = *is_row || total > most_cells / positions;
        total = *is_row ? 1 : total;
    }
    MerStageStates *states = *is_row
                                 ? row_states(kinds, limits, place->unit_count, arena)
                                 : count_states(counts, limits, kinds->count, (int)total, arena);
    mer_stage_finish_states(states, blocks, arena);
    return states;
}

double mer_stage_floor(const MerStageBlocks *blocks, const MerStageStates *states)
{
    double work = 0, longest = 0;
    int    kinds = blocks->kind_count;
    for (int b = 0; b < blocks->count; b++) {
        double least = INFINITY;
        for (int k = 0; k < kinds; k++) {
            size_t at = (size_t)b * (size_t)kinds + (size_t)k;
            least = blocks->is_barred[at] ? least : fmin(least, blocks->time_us[at]);
        }
        work += blocks->work_us[b];
        longest = fmax(longest, least);
    }
    double balance = states->power_left[0] > 0 ? work / states->power_left[0] : 0;
    return fmax(longest, balance) * (1 - 1e-12); /* sums in another order */
}

MerStages *mer_stages_new(const MerStageBlocks *blocks, const MerStageStates *states,
                          MerArena *arena)
{
    MerStages *split = MER_NEW(arena, MerStages);
    *split = (MerStages){.value_us = INFINITY,
                         .kind = NEW(int, states->count),
                         .stage_of_block = NEW(int, blocks->count)};
    return split;
}

void mer_stages_turn(const MerStageBlocks *blocks, MerStages *split)
{
    int last = split->stage_count - 1;
    for (int i = 0; i < last - i; i++) {
        int kind = split->kind[i];
        split->kind[i] = split->kind[last - i];
        split->kind[last - i] = kind;
    }
    for (int b = 0; b < blocks->count; b++) {
        split->stage_of_block[b] = last - split->stage_of_block[b];
    }
}

/* Adds what each stage of a net pays, once. */
static void pay_net(const MerStageBlocks *blocks, const MerStages *split, int net, int *seen,
                    double *transfer)
{
    int  first = split->stage_of_block[blocks->net_blocks[blocks->net_start[net]]];
    bool is_cut = false;
    for (int i = blocks->net_start[net]; i < blocks->net_start[net + 1]; i++) {
        is_cut = is_cut || split->stage_of_block[blocks->net_blocks[i]] != first;
    }
    for (int i = blocks->net_start[net]; is_cut && i < blocks->net_start[net + 1]; i++) {
        int stage = split->stage_of_block[blocks->net_blocks[i]];
        if (seen[stage] != net + 1) {
            seen[stage] = net + 1;
            transfer[stage] +=
                blocks
                    ->net_us[(size_t)net * (size_t)blocks->kind_count + (size_t)split->kind[stage]];
        }
    }
}

void mer_stages_price(const MerStageBlocks *blocks, MerStages *split, MerArena *arena)
{
    double *compute = NEW(double, split->stage_count), *transfer = NEW(double, split->stage_count);
    int    *seen = NEW(int, split->stage_count);
    for (int b = 0; b < blocks->count; b++) {
        int stage = split->stage_of_block[b];
        compute[stage] +=
            blocks->time_us[(size_t)b * (size_t)blocks->kind_count + (size_t)split->kind[stage]];
    }
    for (int n = 0; n < blocks->net_count; n++) {
        pay_net(blocks, split, n, seen, transfer);
    }
    split->value_us = 0;
    for (int i = 0; i < split->stage_count; i++) {
        split->value_us = fmax(split->value_us, blocks->overlaps ? fmax(compute[i], transfer[i])
                                                                 : compute[i] + transfer[i]);
    }
}
