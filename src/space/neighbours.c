/* Moves of local search on any space (docs/optimizers.md, "Annealing on knobs": shift a factor, swap two
 * loops, toggle a bypass, re-draw a pair). A move that finds nothing to act on becomes a plain step. */
#include "space/neighbours.h"

#include <string.h>

/* Shares of the moves; found on the nine layers of docs/loopnest-model.md, "Reference figures". */
static const double RANK_SHARE = 0.2; /* where both ranks and other knobs exist */
/* of the rank moves: one loop goes elsewhere, else two swap */
static const double INSERT_SHARE = 0.5;
static const double EXCHANGE_SHARE = 0.5; /* of the other moves: two peers exchange choices */
static const double BLOCK_SHARE = 0.1;    /* of the other moves: a dimension moves as a whole */
static const double AGAIN_SHARE = 0.4;    /* of all moves: another one on top */

static bool sorts_with(const MerKnob *a, const MerKnob *b)
{
    return a->kind == MER_KNOB_RANK && b->kind == MER_KNOB_RANK && a->role == b->role &&
           a->level == b->level;
}

static bool is_peer(const MerKnob *a, const MerKnob *b)
{
    return a->kind != MER_KNOB_RANK && a->kind == b->kind && a->role == b->role &&
           a->level == b->level && a->choices == b->choices && a->choices > 1;
}

static bool is_kin(const MerKnob *a, const MerKnob *b)
{
    return a->kind != MER_KNOB_RANK && a->kind == b->kind && a->role == b->role &&
           a->dim == b->dim && a->op == b->op && a->dim >= 0 && a->choices > 1 && b->choices > 1;
}

void mer_knob_groups_make(MerKnobGroups *groups, const MerSpace *space, MerKnobRelation *relation,
                          int least, MerArena *arena)
{
    int count = 0;
    *groups = (MerKnobGroups){0};
    groups->start = MER_ARRAY(arena, int, space->knob_count + 2);
    groups->knobs = MER_ARRAY(arena, int, space->knob_count + 1);
    groups->of_knob = MER_ARRAY(arena, int, space->knob_count + 1);
    memset(groups->of_knob, -1, (size_t)space->knob_count * sizeof *groups->of_knob);
    for (int k = 0; k < space->knob_count; k++) {
        int first = count;
        for (int j = k; j < space->knob_count && groups->of_knob[k] == -1; j++) {
            if (groups->of_knob[j] == -1 && relation(&space->knobs[k], &space->knobs[j])) {
                groups->knobs[count++] = j;
            }
        }
        if (count == first || count - first < least) {
            count = first;
            continue;
        }
        for (int i = first; i < count; i++) {
            groups->of_knob[groups->knobs[i]] = groups->count;
        }
        groups->start[++groups->count] = count;
    }
}

void mer_rank_groups(MerKnobGroups *groups, const MerSpace *space, MerArena *arena)
{
    mer_knob_groups_make(groups, space, sorts_with, 2, arena);
}

void mer_moves_make(MerMoves *moves, const MerSpace *space, MerArena *arena)
{
    *moves = (MerMoves){.space = space};
    moves->singles = MER_ARRAY(arena, int, space->knob_count + 1);
    for (int k = 0; k < space->knob_count; k++) {
        if (space->knobs[k].kind != MER_KNOB_RANK && space->knobs[k].choices > 1) {
            moves->singles[moves->single_count++] = k;
        }
    }
    mer_rank_groups(&moves->ranks, space, arena);
    mer_knob_groups_make(&moves->peers, space, is_peer, 2, arena);
    mer_knob_groups_make(&moves->kin, space, is_kin, 2, arena);
}

void mer_ranks_move(const int *knobs, int count, int from, int to, MerIndex *point)
{
    int order[MER_RANKS_MOVED];
    for (int i = 0; i < count; i++) {
        int j = i;
        for (; j > 0 && point[order[j - 1]] > point[knobs[i]]; j--) {
            order[j] = order[j - 1];
        }
        order[j] = knobs[i];
    }
    int moved = order[from];
    memmove(order + from, order + from + 1, (size_t)(count - 1 - from) * sizeof *order);
    memmove(order + to + 1, order + to, (size_t)(count - 1 - to) * sizeof *order);
    order[to] = moved;
    for (int i = 0; i < count; i++) {
        point[order[i]] = i;
    }
}

static void step_any(const MerMoves *moves, MerRng *rng, MerIndex *point)
{
    mer_space_step(moves->space, rng, moves->singles[mer_rng_below(rng, moves->single_count)],
                   point);
}

/* Two ranks are exchanged, or one goes elsewhere and the others close up. */
static void move_rank(const MerMoves *moves, MerRng *rng, MerIndex *point)
{
    const MerKnobGroups *ranks = &moves->ranks;
    int                  chosen = mer_rng_below(rng, ranks->count);
    const int           *knobs = ranks->knobs + ranks->start[chosen];
    int                  size = ranks->start[chosen + 1] - ranks->start[chosen];
    int                  a = mer_rng_below(rng, size);
    int                  b = mer_rng_below(rng, size - 1);
    b += b >= a;
    MerIndex kept = point[knobs[a]];
    bool     is_exact = size <= MER_RANKS_MOVED && moves->space->knobs[knobs[0]].choices >= size;
    if (kept != point[knobs[b]] && mer_rng_unit(rng) >= INSERT_SHARE) {
        point[knobs[a]] = point[knobs[b]];
        point[knobs[b]] = kept;
    } else if (is_exact) {
        mer_ranks_move(knobs, size, a, b, point);
    } else {
        mer_space_step(moves->space, rng, knobs[a], point);
    }
}

/* Another member of the group of knob `a`, or -1. */
static int companion(const MerKnobGroups *groups, MerRng *rng, int a)
{
    int chosen = groups->of_knob[a];
    if (chosen < 0) {
        return -1;
    }
    int first = groups->start[chosen];
    int b = groups->knobs[first + mer_rng_below(rng, groups->start[chosen + 1] - first)];
    return b == a ? -1 : b;
}

/* Keeps the product of a slot where single steps would overflow it first. */
static bool exchange(const MerMoves *moves, MerRng *rng, MerIndex *point)
{
    int a = moves->singles[mer_rng_below(rng, moves->single_count)];
    int b = companion(&moves->peers, rng, a);
    if (b < 0 || point[a] == point[b]) {
        return false;
    }
    MerIndex kept = point[a];
    point[a] = point[b];
    point[b] = kept;
    return true;
}

/* CATEGORY: all that chose u now choose v and the other way round, within one dimension.
 * ORDERED: what one level gains another loses. */
static bool shift_block(const MerMoves *moves, MerRng *rng, MerIndex *point)
{
    int a = moves->singles[mer_rng_below(rng, moves->single_count)];
    int chosen = moves->kin.of_knob[a];
    if (chosen < 0) {
        return false;
    }
    const int *knobs = moves->kin.knobs + moves->kin.start[chosen];
    int        size = moves->kin.start[chosen + 1] - moves->kin.start[chosen];
    if (moves->space->knobs[a].kind == MER_KNOB_ORDERED) {
        int b = knobs[mer_rng_below(rng, size)];
        if (a == b || point[a] == 0 || point[b] + 1 >= moves->space->knobs[b].choices) {
            return false;
        }
        point[a]--;
        point[b]++;
        return true;
    }
    MerIndex u = point[a];
    MerIndex v = mer_rng_below(rng, moves->space->knobs[a].choices);
    bool     is_swap = mer_rng_below(rng, 2);
    for (int i = 0; i < size; i++) {
        MerIndex now = point[knobs[i]];
        if (v < moves->space->knobs[knobs[i]].choices && (now == u || (is_swap && now == v))) {
            point[knobs[i]] = now == u ? v : u;
        }
    }
    return u != v;
}

static void step_once(const MerMoves *moves, MerRng *rng, MerIndex *point)
{
    bool has_ranks = moves->ranks.count > 0;
    if (has_ranks && (moves->single_count == 0 || mer_rng_unit(rng) < RANK_SHARE)) {
        move_rank(moves, rng, point);
        return;
    }
    double kind = mer_rng_unit(rng);
    bool   is_done = kind < EXCHANGE_SHARE
                         ? exchange(moves, rng, point)
                         : kind < EXCHANGE_SHARE + BLOCK_SHARE && shift_block(moves, rng, point);
    if (!is_done) {
        step_any(moves, rng, point);
    }
}

void mer_moves_step(const MerMoves *moves, MerRng *rng, MerIndex *point)
{
    if (moves->single_count == 0 && moves->ranks.count == 0) {
        return;
    }
    do {
        step_once(moves, rng, point);
    } while (mer_rng_unit(rng) < AGAIN_SHARE);
}
