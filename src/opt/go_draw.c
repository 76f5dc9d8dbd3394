/* Placements drawn from the policy of `go`. */
#include "opt/go_learn.h"

#include "base/memory.h"
#include "opt/unit_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void mer_go_batch_make(MerGoBatch *b, const MerGoGraph *g, int capacity, int rounds,
                       MerArena *arena)
{
    int64_t cuts = (int64_t)capacity * (g->unit_count - 1);
    int64_t units = (int64_t)capacity * g->group_count, ops = (int64_t)capacity * g->op_count;
    *b = (MerGoBatch){.capacity = capacity, .rounds = rounds};
    b->cuts = MER_ARRAY(arena, int, cuts + 1);
    b->cuts_old = MER_ARRAY(arena, float, cuts + 1);
    b->rules = MER_ARRAY(arena, int, capacity *MER_GO_TASKS);
    b->rules_old = MER_ARRAY(arena, float, capacity *MER_GO_TASKS);
    b->units = MER_ARRAY(arena, int, units *(rounds + 1) + 1);
    b->units_old = MER_ARRAY(arena, float, units *rounds + 1);
    b->best = MER_ARRAY(arena, int, g->group_count + 1);
    for (int t = 0; t < MER_GO_TASKS; t++) {
        if (g->levels[t] > 0) {
            b->levels[t] = MER_ARRAY(arena, int, ops);
            b->first_levels[t] = MER_ARRAY(arena, int, ops);
            b->levels_old[t] = MER_ARRAY(arena, float, ops);
            b->best_levels[t] = MER_ARRAY(arena, int, g->op_count);
        }
    }
    b->scores = MER_ARRAY(arena, double, capacity);
}

static int *units_before(const MerGoGraph *g, const MerGoBatch *b, int index, int round)
{
    return b->units + ((int64_t)index * (b->rounds + 1) + round) * g->group_count;
}

MerGoDecided mer_go_decided(const MerGoGraph *g, const MerGoBatch *b, int index, int round)
{
    bool         is_first = round < b->rounds || index < b->plain;
    MerGoDecided decided = {.units = units_before(g, b, index, index < b->plain ? 0 : round)};
    for (int t = 0; t < MER_GO_TASKS; t++) {
        const int *levels = is_first ? b->first_levels[t] : b->levels[t];
        decided.levels[t] = levels != NULL ? levels + (int64_t)index * g->op_count : NULL;
    }
    return decided;
}

/* A choice from logits, and its log-probability; without `rng` the likeliest, the first of equals. */
static int choose(const float *logits, int count, MerRng *rng, float *log_probability)
{
    int    best = 0;
    double sum = 0;
    for (int i = 1; i < count; i++) {
        best = logits[i] > logits[best] ? i : best;
    }
    for (int i = 0; i < count; i++) {
        sum += exp((double)logits[i] - logits[best]);
    }
    int    choice = best;
    double left = rng != NULL ? mer_rng_unit(rng) * sum : 0;
    for (int i = 0; i < count && rng != NULL && left >= 0; i++) {
        double weight = exp((double)logits[i] - logits[best]);
        choice = weight > 0 ? i : choice;
        left -= weight;
    }
    *log_probability = (float)((double)logits[choice] - logits[best] - log(sum));
    return choice;
}

static void choose_rows(const MerTensor *logits, int row, int count, MerRng *rng, int *choices,
                        float *old)
{
    int width = logits->shape[1];
    for (int i = 0; i < count; i++) {
        choices[i] = choose(logits->data + (int64_t)(row + i) * width, width, rng, &old[i]);
    }
}

static void begin_from_best(const MerGoGraph *g, MerGoBatch *b, int index)
{
    memcpy(units_before(g, b, index, 0), b->best, sizeof *b->best * (size_t)g->group_count);
    for (int t = 0; t < MER_GO_TASKS; t++) {
        if (b->first_levels[t] != NULL) {
            memcpy(b->first_levels[t] + (int64_t)index * g->op_count, b->best_levels[t],
                   sizeof *b->best_levels[t] * (size_t)g->op_count);
        }
    }
}

/* Units and levels that follow from the first decisions. */
static void begin_from_first(const MerGoGraph *g, MerGoBatch *b, int index)
{
    mer_go_cut(g, b->cuts + (int64_t)index * (g->unit_count - 1), units_before(g, b, index, 0));
    for (int t = 0; t < MER_GO_TASKS; t++) {
        if (b->first_levels[t] != NULL) {
            mer_go_rule(g, (MerGoTask)t, b->rules[index * MER_GO_TASKS + t],
                        b->first_levels[t] + (int64_t)index * g->op_count);
        }
    }
}

static void draw_first(MerGoView *v, MerGoBatch *b, MerRng *rng)
{
    const MerGoGraph *g = v->graph;
    int               boundaries = g->unit_count - 1;
    mer_tape_reset(v->tape);
    mer_tape_record(v->tape, false);
    MerGoFirst logits = mer_go_first_logits(v, NULL);
    for (int i = 0; i < b->count; i++) {
        if (logits.cuts != NULL) {
            choose_rows(logits.cuts, 0, boundaries, rng, b->cuts + (int64_t)i * boundaries,
                        b->cuts_old + (int64_t)i * boundaries);
        }
        choose_rows(logits.rules, 0, MER_GO_TASKS, rng, b->rules + i * MER_GO_TASKS,
                    b->rules_old + i * MER_GO_TASKS);
        if (i < b->count - b->improved) {
            begin_from_first(g, b, i);
        } else {
            begin_from_best(g, b, i);
        }
    }
}

int mer_go_next_part(const MerGoView *v, const MerGoBatch *b, int first)
{
    int part = MER_GO_ROWS / (v->graph->op_count + 1), left = b->count - first;
    part = part < 1 ? 1 : part;
    return left < part ? left : part;
}

MerGoLogits mer_go_batch_logits(MerGoView *v, const MerGoBatch *b, int round, int first, int count,
                                MerRng *dropout)
{
    MerGoDecided *before = mer_heap_zeroed((size_t)count, sizeof *before);
    bool          has_before = round > 0 || v->policy->shape.has_start;
    for (int i = 0; i < count; i++) {
        before[i] = mer_go_decided(v->graph, b, first + i, round);
    }
    MerGoLogits logits =
        mer_go_round_logits(v, count, has_before ? before : NULL, round, b->rounds, dropout);
    free(before);
    return logits;
}

/* Round `round` of placements first .. first + count - 1. */
static void draw_round(MerGoView *v, MerGoBatch *b, int round, int first, int count, MerRng *rng)
{
    const MerGoGraph *g = v->graph;
    mer_tape_reset(v->tape);
    mer_tape_record(v->tape, false);
    MerGoLogits logits = mer_go_batch_logits(v, b, round, first, count, NULL);
    for (int i = 0; i < count; i++) {
        int64_t at = first + i;
        choose_rows(logits.units, i * g->group_count, g->group_count, rng,
                    units_before(g, b, first + i, round + 1),
                    b->units_old + (at * b->rounds + round) * g->group_count);
        for (int t = 0; t < MER_GO_TASKS; t++) {
            if (logits.levels[t] != NULL) {
                choose_rows(logits.levels[t], i * g->op_count, g->op_count, rng,
                            b->levels[t] + at * g->op_count, b->levels_old[t] + at * g->op_count);
            }
        }
    }
}

void mer_go_draw(MerGoView *v, MerGoBatch *b, int count, MerRng *rng)
{
    b->count = count;
    if (v->policy->shape.has_start) {
        draw_first(v, b, rng);
    }
    for (int round = 0; round < b->rounds; round++) {
        for (int first = b->plain, part; first < count; first += part) {
            part = mer_go_next_part(v, b, first);
            draw_round(v, b, round, first, part, rng);
        }
    }
}

static int choice_of(const MerKnob *knob, int unit)
{
    for (int c = 0; c < knob->choices; c++) {
        if (mer_knob_unit(knob, c) == unit) {
            return c;
        }
    }
    return 0;
}

void mer_go_point(const MerGoGraph *g, const MerSpace *space, const MerGoBatch *b, int index,
                  MerIndex *point)
{
    MerGoDecided end = mer_go_decided(g, b, index, b->rounds);
    memset(point, 0, sizeof *point * (size_t)space->knob_count);
    for (int i = 0; i < g->group_count; i++) {
        if (g->unit_knob[i] >= 0) {
            point[g->unit_knob[i]] = choice_of(&space->knobs[g->unit_knob[i]], end.units[i]);
        }
    }
    for (int t = 0; t < MER_GO_TASKS; t++) {
        for (int i = 0; i < g->op_count && end.levels[t] != NULL; i++) {
            int knob = g->level_knob[t][g->op_order[i]];
            if (knob >= 0) {
                point[knob] = end.levels[t][i];
            }
        }
    }
}

/* Of a group without a knob. */
static int only_unit(const MerGoGraph *g, int group)
{
    int unit = 0;
    while (unit < g->unit_count - 1 && !mer_go_allows(g, group, unit)) {
        unit++;
    }
    return unit;
}

void mer_go_read_point(const MerGoGraph *g, const MerSpace *space, const MerIndex *point,
                       int *units, int *const *levels)
{
    for (int i = 0; i < g->group_count; i++) {
        int k = g->unit_knob[i];
        units[i] = k >= 0 ? mer_knob_unit(&space->knobs[k], point[k]) : only_unit(g, i);
    }
    for (int t = 0; t < MER_GO_TASKS; t++) {
        for (int i = 0; i < g->op_count && levels[t] != NULL; i++) {
            int knob = g->level_knob[t][g->op_order[i]];
            levels[t][i] = knob >= 0 ? point[knob] : 0;
        }
    }
}
