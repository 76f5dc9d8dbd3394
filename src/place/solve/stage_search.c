/* The best chain of ideals (docs/placement.md, "Exact splits"; Tarnawski et al., NeurIPS 2020, section 5): for each state of
 * units and each ideal the smallest largest load, over all smaller ideals that the state before can hold. What cannot be part
 * of a split below the best one known is never looked at: ideals that leave more than the free units can do, and
 * differences that take too long without any transfer. */
#include "place/solve/stages.h"

#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

typedef struct Way { /* the best way to an ideal in a state */
    int from, step;  /* the ideal before (-1: the same, an empty stage) and the step */
} Way;

typedef struct Search {
    const MerStageBlocks *blocks;
    const MerStageStates *states;
    const MerIdeals      *ideals;
    /* of each ideal */
    double *compute; /* [ideal * kinds + kind] */
    int    *barred;  /* [ideal * kinds + kind] */
    double *size;
    double *border;    /* [ideal * kinds + kind]: what all nets that leave it take */
    size_t *cut_start; /* nets that leave it */
    int    *cut;
    /* of each state and ideal */
    double **value;
    Way    **way;
    /* of each state: ideals that are worth a next stage, rising */
    int   *live_count;
    int  **live;
    int    state, first; /* the state that is filled, and its first ideal that counts */
    double limit_us;     /* values below it count */
} Search;

static bool has(const uint64_t *bits, int block)
{
    return bits[block / 64] >> (block % 64) & 1;
}

static const uint64_t *bits_of(const Search *s, int ideal)
{
    return s->ideals->bits + (size_t)ideal * (size_t)s->ideals->words;
}

static void add_block(Search *s, int ideal, int block)
{
    int    kinds = s->blocks->kind_count;
    size_t to = (size_t)ideal * (size_t)kinds, from = (size_t)block * (size_t)kinds;
    s->size[ideal] += s->blocks->size[block];
    for (int k = 0; k < kinds; k++) {
        s->compute[to + (size_t)k] += s->blocks->time_us[from + (size_t)k];
        s->barred[to + (size_t)k] += s->blocks->is_barred[from + (size_t)k];
    }
}

static bool is_cut(const MerStageBlocks *blocks, int net, const uint64_t *bits)
{
    bool some = false, all = true;
    for (int i = blocks->net_start[net]; i < blocks->net_start[net + 1]; i++) {
        bool is_inside = has(bits, blocks->net_blocks[i]);
        some = some || is_inside;
        all = all && is_inside;
    }
    return some && !all;
}

/* Nets that leave an ideal into `cut`, which may be NULL; returns how many. */
static int find_cut(const Search *s, int ideal, int *seen, int *cut)
{
    const MerStageBlocks *blocks = s->blocks;
    const uint64_t       *bits = bits_of(s, ideal);
    int                   count = 0;
    for (int b = 0; b < blocks->count; b++) {
        for (int i = blocks->touch_start[b]; has(bits, b) && i < blocks->touch_start[b + 1]; i++) {
            int net = blocks->touch[i];
            if (seen[net] != ideal + 1 && is_cut(blocks, net, bits)) {
                seen[net] = ideal + 1;
                if (cut) {
                    cut[count] = net;
                }
                count++;
            }
        }
    }
    return count;
}

static void sum_ideals(Search *s, MerArena *arena)
{
    int    count = s->ideals->count, kinds = s->blocks->kind_count;
    size_t cells = (size_t)count * (size_t)kinds, cuts = 0;
    s->compute = NEW(double, cells);
    s->barred = NEW(int, cells);
    s->border = NEW(double, cells);
    s->size = NEW(double, count);
    s->cut_start = NEW(size_t, count);
    int *seen = NEW(int, s->blocks->net_count);
    for (int i = 0; i < count; i++) {
        for (int b = 0; b < s->blocks->count; b++) {
            if (has(bits_of(s, i), b)) {
                add_block(s, i, b);
            }
        }
        s->cut_start[i] = cuts;
        cuts += (size_t)find_cut(s, i, seen, NULL);
    }
    s->cut_start[count] = cuts;
    s->cut = NEW(int, cuts);
    memset(seen, 0, (size_t)s->blocks->net_count * sizeof *seen);
    for (int i = 0; i < count; i++) {
        find_cut(s, i, seen, s->cut + s->cut_start[i]);
        for (size_t n = s->cut_start[i]; n < s->cut_start[i + 1]; n++) {
            for (int k = 0; k < kinds; k++) {
                s->border[(size_t)i * (size_t)kinds + (size_t)k] +=
                    s->blocks->net_us[(size_t)s->cut[n] * (size_t)kinds + (size_t)k];
            }
        }
    }
}

static bool is_subset(const uint64_t *small, const uint64_t *large, int words)
{
    for (int w = 0; w < words; w++) {
        if (small[w] & ~large[w]) {
            return false;
        }
    }
    return true;
}

/* What the difference of two ideals moves: the nets that leave the larger one; of those that leave the smaller one only if they
 * have a block in it, and then also where they do not go on. */
static double transfers(const Search *s, int small, int large, int kind)
{
    const MerStageBlocks *blocks = s->blocks;
    const uint64_t       *inner = bits_of(s, small), *outer = bits_of(s, large);
    size_t                kinds = (size_t)blocks->kind_count;
    double                sum = s->border[(size_t)large * kinds + (size_t)kind];
    for (size_t c = s->cut_start[small]; c < s->cut_start[small + 1]; c++) {
        int  net = s->cut[c];
        bool enters = false, goes_on = false;
        for (int i = blocks->net_start[net]; i < blocks->net_start[net + 1]; i++) {
            int  block = blocks->net_blocks[i];
            bool is_after = !has(outer, block);
            goes_on = goes_on || is_after;
            enters = enters || (!is_after && !has(inner, block));
        }
        if (enters != goes_on) {
            double us = blocks->net_us[(size_t)net * kinds + (size_t)kind];
            sum += enters ? us : -us;
        }
    }
    return sum;
}

/* How many of the rising numbers are below `end`. */
static int count_below(const int *numbers, int count, int end)
{
    int low = 0;
    while (low < count) {
        int middle = low + (count - low) / 2;
        if (numbers[middle] < end) {
            low = middle + 1;
        } else {
            count = middle;
        }
    }
    return low;
}

/* All that the state before can hold, as the start of a stage that makes `ideal` full; the largest first. */
static void try_step(const Search *s, int ideal, int step_index, double *best, Way *way)
{
    const MerStageStep *step = &s->states->steps[step_index];
    const MerIdeals    *ideals = s->ideals;
    const uint64_t     *outer = bits_of(s, ideal);
    const int          *live = s->live[step->from];
    const double       *value = s->value[step->from];
    size_t              kinds = (size_t)s->blocks->kind_count, kind = (size_t)step->kind;
    size_t              row = (size_t)ideal * kinds + kind;
    double              reach = s->blocks->power[step->kind] * (1 + 1e-9);
    for (int i = count_below(live, s->live_count[step->from], ideal) - 1; i >= 0; i--) {
        int    small = live[i];
        size_t at = (size_t)small * kinds + kind;
        double compute = s->compute[row] - s->compute[at];
        if (ideals->work_us[ideal] - ideals->work_us[small] > reach * *best) {
            break; /* all that follow are smaller */
        }
        if (value[small] >= *best || compute >= *best || s->barred[row] != s->barred[at] ||
            s->size[ideal] - s->size[small] > step->limit ||
            !is_subset(bits_of(s, small), outer, ideals->words)) {
            continue;
        }
        double moved = transfers(s, small, ideal, step->kind);
        double load = s->blocks->overlaps ? fmax(compute, moved) : compute + moved;
        double longest = fmax(value[small], load);
        if (longest < *best) {
            *best = longest;
            *way = (Way){small, step_index};
        }
    }
}

static void fill_ideal(void *context, int index, int worker)
{
    const Search *s = context;
    int           ideal = s->first + index;
    double        best = s->limit_us;
    Way           way = {-1, -1};
    (void)worker;
    for (int i = s->states->step_start[s->state]; i < s->states->step_start[s->state + 1]; i++) {
        double before = s->value[s->states->steps[i].from][ideal];
        if (s->states->may_idle && before < best) {
            best = before;
            way = (Way){-1, i};
        }
    }
    for (int i = s->states->step_start[s->state]; i < s->states->step_start[s->state + 1]; i++) {
        try_step(s, ideal, i, &best, &way);
    }
    s->value[s->state][ideal] = way.step >= 0 ? best : INFINITY;
    s->way[s->state][ideal] = way;
}

/* The first ideal after which the free units can do the rest. */
static int find_first(const Search *s)
{
    const MerIdeals *ideals = s->ideals;
    int              last = ideals->count - 1, first = 0;
    double           power = s->states->power_left[s->state] * (1 + 1e-9);
    while (first < last && ideals->work_us[first] < ideals->work_us[last] - power * s->limit_us) {
        first++;
    }
    return first;
}

/* Stages begin where the state says something new: not what fewer units say as well. */
static void find_live(Search *s, MerArena *arena)
{
    int           last = s->ideals->count - 1, count = 0, *live = NEW(int, last - s->first);
    const double *value = s->value[s->state];
    for (int i = s->first; i < last; i++) {
        bool is_new = s->state == 0 || s->way[s->state][i].from >= 0;
        bool fits = s->size[last] - s->size[i] <= s->states->memory_left[s->state];
        if (value[i] < s->limit_us && is_new && fits) {
            live[count++] = i;
        }
    }
    s->live[s->state] = live;
    s->live_count[s->state] = count;
}

/* Ideals do not depend on each other, only on those of earlier states. */
static void fill_state(Search *s, MerPool *pool, MerArena *arena)
{
    int count = s->ideals->count;
    s->value[s->state] = NEW(double, count);
    s->way[s->state] = NEW(Way, count);
    for (int i = 0; i < count; i++) {
        s->value[s->state][i] = INFINITY;
    }
    if (s->state == 0) {
        s->value[0][0] = mer_stage_floor(s->blocks, s->states);
    } else {
        s->first = find_first(s);
        if (pool) {
            mer_pool_run(pool, count - s->first, fill_ideal, s);
        }
        for (int i = s->first; i < count && !pool; i++) {
            fill_ideal(s, i - s->first, 0);
        }
    }
    find_live(s, arena);
}

static void read_split(const Search *s, MerStages *split)
{
    split->stage_count = 0;
    for (int state = s->states->count - 1, ideal = s->ideals->count - 1; ideal > 0;) {
        Way way = s->way[state][ideal];
        for (int b = 0; b < s->blocks->count && way.from >= 0; b++) {
            if (has(bits_of(s, ideal), b) && !has(bits_of(s, way.from), b)) {
                split->stage_of_block[b] = split->stage_count;
            }
        }
        if (way.from >= 0) {
            split->kind[split->stage_count++] = s->states->steps[way.step].kind;
            ideal = way.from;
        }
        state = s->states->steps[way.step].from;
    }
    mer_stages_turn(s->blocks, split);
}

bool mer_stage_search(const MerStageBlocks *blocks, const MerStageStates *states,
                      const MerIdeals *ideals, MerNotes *notes, MerPool *pool, MerStages *split,
                      MerArena *arena)
{
    Search s = {.blocks = blocks,
                .states = states,
                .ideals = ideals,
                .value = NEW(double *, states->count),
                .way = NEW(Way *, states->count),
                .live_count = NEW(int, states->count),
                .live = NEW(int *, states->count)};
    sum_ideals(&s, arena);
    s.limit_us = fmin(split->value_us, blocks->most_us);
    for (s.state = 0; s.state < states->count; s.state++) {
        if (mer_is_cancelled(notes)) {
            return false;
        }
        fill_state(&s, pool, arena);
    }
    if (s.value[states->count - 1][ideals->count - 1] < s.limit_us) {
        read_split(&s, split);
        mer_stages_price(blocks, split, arena);
    }
    return true;
}
