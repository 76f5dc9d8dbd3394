/* The best cuts of blocks in one order (docs/placement.md, "Cuts of a chain"): a dynamic programme over prefixes and states of
 * units, within a period that is raised until some cuts keep it. A prefix is only looked at if the units that are left can do the
 * rest within the period, which leaves few of them when the period is close to the best. */
#include "place/solve/stages.h"

#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

typedef struct Cell { /* the best way to a prefix in a state */
    double value_us;
    int    cut, step; /* the last stage begins there (-1: it is empty) and is taken by this step */
} Cell;

typedef struct Chain {
    const MerStageBlocks *blocks;
    const MerStageStates *states;
    int                   count;
    double                period_us;
    /* of the first p blocks, by kind [kind][p]; border: what goes on from there, of nets with blocks on both sides */
    double **compute, **border;
    int    **free_until;  /* [kind][p]: blocks from there up to here may all be in such a stage */
    double  *work, *size; /* [p] */
    /* nets by position: all blocks, rising, as the blocks' net_start lists them; the first and the last, and of the active
     * ones, which have some blocks before the sweep and some after it, the next */
    int    *positions, *first, *last, *next, *cursor, *active, *place_of_active, active_count;
    double *change;   /* [p], all 0 between pushes */
    Cell  **cells;    /* [state][p] */
    bool   *is_cut;   /* [p]: a stage may end there */
    bool   *is_fresh; /* of states, at the position of the sweep */
} Chain;

static void sum_up(Chain *c, const int *order, MerArena *arena)
{
    int kinds = c->blocks->kind_count, count = c->count;
    c->compute = NEW(double *, kinds);
    c->border = NEW(double *, kinds);
    c->free_until = NEW(int *, kinds);
    c->work = NEW(double, count);
    c->size = NEW(double, count);
    for (int p = 0; p < count; p++) {
        c->work[p + 1] = c->work[p] + c->blocks->work_us[order[p]];
        c->size[p + 1] = c->size[p] + c->blocks->size[order[p]];
    }
    for (int k = 0; k < kinds; k++) {
        c->compute[k] = NEW(double, count);
        c->border[k] = NEW(double, count + 1);
        c->free_until[k] = NEW(int, count);
        for (int p = 0; p < count; p++) {
            size_t at = (size_t)order[p] * (size_t)kinds + (size_t)k;
            c->compute[k][p + 1] = c->compute[k][p] + c->blocks->time_us[at];
        }
        for (int p = count - 1, end = count; p >= 0; p--) {
            end = c->blocks->is_barred[(size_t)order[p] * (size_t)kinds + (size_t)k] ? p : end;
            c->free_until[k][p] = end;
        }
    }
}

static void place_nets(Chain *c, const int *order, MerArena *arena)
{
    const MerStageBlocks *blocks = c->blocks;
    int                  *end = NEW(int, blocks->net_count);
    c->positions = NEW(int, blocks->net_start[blocks->net_count]);
    c->first = NEW(int, blocks->net_count);
    c->last = NEW(int, blocks->net_count);
    c->next = NEW(int, blocks->net_count);
    c->cursor = NEW(int, blocks->net_count);
    c->active = NEW(int, blocks->net_count);
    c->place_of_active = NEW(int, blocks->net_count);
    c->change = NEW(double, c->count + 1);
    memcpy(end, blocks->net_start, (size_t)blocks->net_count * sizeof *end);
    for (int p = 0; p < c->count; p++) {
        int block = order[p];
        for (int i = blocks->touch_start[block]; i < blocks->touch_start[block + 1]; i++) {
            c->positions[end[blocks->touch[i]]++] = p;
        }
    }
    for (int n = 0; n < blocks->net_count; n++) {
        c->first[n] = c->positions[blocks->net_start[n]];
        c->last[n] = c->positions[blocks->net_start[n + 1] - 1];
    }
}

static void sum_borders(Chain *c)
{
    int kinds = c->blocks->kind_count;
    for (int k = 0; k < kinds; k++) {
        double *border = c->border[k];
        for (int n = 0; n < c->blocks->net_count; n++) {
            double us = c->blocks->net_us[(size_t)n * (size_t)kinds + (size_t)k];
            border[c->first[n] + 1] += us;
            border[c->last[n] + 1] -= us;
        }
        for (int p = 0; p < c->count; p++) {
            border[p + 1] += border[p];
        }
    }
}

/* A long chain is cut at so many places only, each the one of its neighbourhood that least goes over. */
enum { MOST_CUTS = 8192, LONG_CHAIN = 20000 };

static void find_cuts(Chain *c, MerArena *arena)
{
    int window = c->count > LONG_CHAIN ? c->count / MOST_CUTS : 1;
    c->is_cut = NEW(bool, c->count);
    for (int begin = 0; begin <= c->count; begin += window) {
        int best = begin;
        for (int p = begin; p < begin + window && p <= c->count; p++) {
            best = c->border[0][p] < c->border[0][best] ? p : best;
        }
        c->is_cut[best] = true;
    }
    c->is_cut[c->count] = true;
}

/* The sweep goes on over the block at `at`. */
static void pass_block(Chain *c, const int *order, int at)
{
    const MerStageBlocks *blocks = c->blocks;
    int                   block = order[at];
    for (int i = blocks->touch_start[block]; i < blocks->touch_start[block + 1]; i++) {
        int net = blocks->touch[i];
        if (c->last[net] == at) {
            int moved = c->active[--c->active_count];
            c->active[c->place_of_active[net]] = moved;
            c->place_of_active[moved] = c->place_of_active[net];
            continue;
        }
        if (c->first[net] == at) {
            c->place_of_active[net] = c->active_count;
            c->active[c->active_count++] = net;
            c->cursor[net] = blocks->net_start[net];
        }
        c->next[net] = c->positions[++c->cursor[net]];
    }
}

/* The first p of begin .. end where rising values[p] >= least; end + 1: none. */
static int first_from(const double *values, int begin, int end, double least)
{
    int high = end + 1;
    while (begin < high) {
        int middle = begin + (high - begin) / 2;
        if (values[middle] >= least) {
            high = middle;
        } else {
            begin = middle + 1;
        }
    }
    return begin;
}

/* The last p of begin .. end where rising values[p] <= most; begin - 1: none. */
static int last_within(const double *values, int begin, int end, double most)
{
    return first_from(values, begin, end, nextafter(most, INFINITY)) - 1;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Where a stage that begins at `at` may end by `step` to state `to`: it keeps the period and its memory, and leaves no more than
 * what is left of the units can do and hold. */
static void find_range(const Chain *c, int at, const MerStageStep *step, int to, int *first,
                       int *last)
{
    const double *compute = c->compute[step->kind];
    double        period = c->period_us * (1 + 1e-9);
    double        work = c->work[c->count] - c->states->power_left[to] * period;
    double        size = c->size[c->count] - c->states->memory_left[to];
    *last = c->free_until[step->kind][at];
    *last = last_within(compute, at + 1, *last, compute[at] + period);
    *last = last_within(c->size, at + 1, *last, c->size[at] + step->limit);
    *first =
        larger(first_from(c->work, at + 1, *last, work), first_from(c->size, at + 1, *last, size));
}

/* What a stage from the sweep's position to `first` pays less or more than the border there; what changes after `first` goes to
 * `change`. Of a net with blocks before the stage: nothing unless it has one in it, then all, also where
 * nothing goes on. */
static double begin_changes(Chain *c, int kind, int first)
{
    double sum = 0;
    for (int i = 0; i < c->active_count; i++) {
        int    net = c->active[i];
        double us = c->blocks->net_us[(size_t)net * (size_t)c->blocks->kind_count + (size_t)kind];
        sum -= us;
        if (c->next[net] < first) {
            sum += us;
        } else {
            c->change[c->next[net] + 1] += us;
        }
        if (c->last[net] < first) {
            sum += us;
        } else {
            c->change[c->last[net] + 1] += us;
        }
    }
    return sum;
}

static void end_changes(Chain *c)
{
    for (int i = 0; i < c->active_count; i++) {
        c->change[c->next[c->active[i]] + 1] = 0;
        c->change[c->last[c->active[i]] + 1] = 0;
    }
}

/* All stages from the sweep's position `at` by one step. */
static void push(Chain *c, int at, int step_index, int to)
{
    const MerStageStep *step = &c->states->steps[step_index];
    int                 first, last;
    find_range(c, at, step, to, &first, &last);
    if (first > last) {
        return;
    }
    const double *compute = c->compute[step->kind], *border = c->border[step->kind];
    Cell         *cells = c->cells[to];
    double before = c->cells[step->from][at].value_us, sum = begin_changes(c, step->kind, first);
    double begin = compute[at], limit = c->period_us;
    bool   overlaps = c->blocks->overlaps;
    for (int p = first; p <= last; p++) {
        sum += p > first ? c->change[p] : 0;
        double busy = compute[p] - begin, moved = border[p] + sum;
        double load = overlaps ? (busy > moved ? busy : moved) : busy + moved;
        double value = load > before ? load : before;
        if (value < cells[p].value_us && load <= limit && c->is_cut[p]) {
            cells[p] = (Cell){value, at, step_index};
        }
    }
    end_changes(c);
}

/* States that are reached with fewer units at no larger value say all that this one could. */
static void find_fresh(Chain *c, int at)
{
    for (int s = 0; s < c->states->count; s++) {
        Cell *cell = &c->cells[s][at];
        c->is_fresh[s] = cell->value_us < INFINITY;
        for (int i = c->states->step_start[s];
             c->states->may_idle && i < c->states->step_start[s + 1]; i++) {
            double value = c->cells[c->states->steps[i].from][at].value_us;
            if (value < INFINITY && value <= cell->value_us) {
                *cell = (Cell){value, -1, i};
                c->is_fresh[s] = false;
            }
        }
    }
}

static void clear_cells(Chain *c, double least)
{
    for (int s = 0; s < c->states->count; s++) {
        for (int p = 0; p <= c->count; p++) {
            c->cells[s][p] = (Cell){INFINITY, -1, -1};
        }
    }
    c->cells[0][0].value_us = least;
    c->active_count = 0;
}

/* Is there a way within the period? */
static bool sweep(Chain *c, const int *order, MerNotes *notes)
{
    const MerStageStates *states = c->states;
    for (int at = 0; at < c->count; at++) {
        if (at % 1024 == 0 && mer_is_cancelled(notes)) {
            return false;
        }
        find_fresh(c, at);
        for (int s = 0; s < states->count; s++) {
            for (int i = states->step_start[s]; i < states->step_start[s + 1]; i++) {
                if (c->is_fresh[states->steps[i].from]) {
                    push(c, at, i, s);
                }
            }
        }
        pass_block(c, order, at);
    }
    find_fresh(c, c->count);
    return c->cells[states->count - 1][c->count].value_us < INFINITY;
}

static void read_split(const Chain *c, const int *order, MerStages *split)
{
    split->stage_count = 0;
    for (int state = c->states->count - 1, end = c->count; end > 0;) {
        const Cell         *cell = &c->cells[state][end];
        const MerStageStep *step = &c->states->steps[cell->step];
        if (cell->cut >= 0) {
            for (int p = cell->cut; p < end; p++) {
                split->stage_of_block[order[p]] = split->stage_count;
            }
            split->kind[split->stage_count++] = step->kind;
            end = cell->cut;
        }
        state = step->from;
    }
    mer_stages_turn(c->blocks, split);
}

bool mer_stage_chain(const MerStageBlocks *blocks, const MerStageStates *states, const int *order,
                     MerNotes *notes, MerStages *split, MerArena *arena)
{
    Chain  chain = {.blocks = blocks, .states = states, .count = blocks->count};
    Chain *c = &chain;
    double least = mer_stage_floor(blocks, states), most = blocks->most_us;
    sum_up(c, order, arena);
    place_nets(c, order, arena);
    sum_borders(c);
    find_cuts(c, arena);
    c->is_fresh = NEW(bool, states->count);
    c->cells = NEW(Cell *, states->count);
    for (int s = 0; s < states->count; s++) {
        c->cells[s] = NEW(Cell, blocks->count);
    }
    /* A pass takes longer the larger the period is, so that a few too small ones cost little. */
    for (double slack = fmax(0.005 * least, 1e-6 * most); !mer_is_cancelled(notes); slack *= 2) {
        c->period_us = fmin(least + slack, most);
        clear_cells(c, least);
        if (sweep(c, order, notes)) {
            read_split(c, order, split);
            mer_stages_price(blocks, split, arena);
            return true;
        }
        if (c->period_us >= most) {
            break;
        }
    }
    return false;
}
