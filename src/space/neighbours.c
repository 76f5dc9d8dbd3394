/* Moves of local search on any space (map.md section 7, annealing: shift a factor, swap two loops,
 * toggle a bypass, re-draw a pair). */
#include "space/neighbours.h"

#include <string.h>

static const double RANK_SHARE = 0.3; /* of moves that swap two ranks, where both sorts exist */
static const double PAIR_SHARE = 0.3; /* of the other moves that change two knobs at once */

static bool is_grouped(const MerKnob *a, const MerKnob *b)
{
    return a->role == b->role && a->level == b->level;
}

static void group_ranks(MerMoves *moves, MerArena *arena)
{
    const MerSpace *space = moves->space;
    bool *is_taken = MER_ARRAY(arena, bool, space->knob_count + 1);
    int count = 0;
    for (int k = 0; k < space->knob_count; k++) {
        if (space->knobs[k].kind != MER_KNOB_RANK || is_taken[k]) {
            continue;
        }
        int first = count;
        for (int j = k; j < space->knob_count; j++) {
            if (space->knobs[j].kind == MER_KNOB_RANK && is_grouped(&space->knobs[j], &space->knobs[k])) {
                is_taken[j] = true;
                moves->group_knobs[count++] = j;
            }
        }
        if (count - first < 2) {
            count = first; /* one rank alone orders nothing */
            continue;
        }
        moves->group_start[++moves->group_count] = count;
    }
}

void mer_moves_make(MerMoves *moves, const MerSpace *space, MerArena *arena)
{
    *moves = (MerMoves){.space = space};
    moves->singles = MER_ARRAY(arena, int, space->knob_count + 1);
    moves->group_knobs = MER_ARRAY(arena, int, space->knob_count + 1);
    moves->group_start = MER_ARRAY(arena, int, space->knob_count + 2);
    for (int k = 0; k < space->knob_count; k++) {
        if (space->knobs[k].kind != MER_KNOB_RANK && space->knobs[k].choices > 1) {
            moves->singles[moves->single_count++] = k;
        }
    }
    group_ranks(moves, arena);
}

static void swap_ranks(const MerMoves *moves, MerRng *rng, MerIndex *point)
{
    int group = mer_rng_below(rng, moves->group_count);
    int first = moves->group_start[group];
    int size = moves->group_start[group + 1] - first;
    int a = moves->group_knobs[first + mer_rng_below(rng, size)];
    int b = moves->group_knobs[first + mer_rng_below(rng, size)];
    MerIndex kept = point[a];
    if (point[a] == point[b] || a == b) { /* a swap would change nothing */
        mer_space_step(moves->space, rng, a, point);
        return;
    }
    point[a] = point[b];
    point[b] = kept;
}

void mer_moves_step(const MerMoves *moves, MerRng *rng, MerIndex *point)
{
    bool has_ranks = moves->group_count > 0;
    if (moves->single_count == 0 && !has_ranks) {
        return;
    }
    if (has_ranks && (moves->single_count == 0 || mer_rng_unit(rng) < RANK_SHARE)) {
        swap_ranks(moves, rng, point);
        return;
    }
    mer_space_step(moves->space, rng, moves->singles[mer_rng_below(rng, moves->single_count)], point);
    if (mer_rng_unit(rng) < PAIR_SHARE) {
        mer_space_step(moves->space, rng, moves->singles[mer_rng_below(rng, moves->single_count)], point);
    }
}
