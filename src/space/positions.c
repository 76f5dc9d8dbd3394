/* Vectors to points and back, and the scale on which scores are compared. */
#include "space/positions.h"

#include <math.h>

void mer_positions_make(MerPositions *positions, const MerSpace *space, MerArena *arena)
{
    *positions = (MerPositions){.space = space};
    mer_rank_groups(&positions->ranks, space, arena);
    positions->order = MER_ARRAY(arena, int, space->knob_count + 1);
    positions->keys = MER_ARRAY(arena, double, space->knob_count + 1);
}

double mer_position_mirror(double position)
{
    double folded = fabs(fmod(position, 2));
    folded = folded > 1 ? 2 - folded : folded;
    return folded < 1 ? folded : nextafter(1, 0); /* NaN as well */
}

/* Shell sort with Ciura's gaps: in place, and the same on every machine. */
static void sort_by_key(int *order, const double *keys, int count)
{
    static const int gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (int g = 0; g < (int)(sizeof gaps / sizeof gaps[0]); g++) {
        for (int i = gaps[g]; i < count; i++) {
            int moved = order[i], j = i;
            for (; j >= gaps[g]; j -= gaps[g]) {
                int other = order[j - gaps[g]];
                if (keys[other] < keys[moved] || (keys[other] == keys[moved] && other < moved)) {
                    break;
                }
                order[j] = other;
            }
            order[j] = moved;
        }
    }
}

static void place_ranks(MerPositions *positions, const int *knobs, int count, MerIndex *point)
{
    for (int i = 0; i < count; i++) {
        if (positions->space->knobs[knobs[i]].choices < count) {
            return; /* too few choices to keep all apart */
        }
        positions->order[i] = knobs[i];
    }
    sort_by_key(positions->order, positions->keys, count);
    for (int i = 0; i < count; i++) {
        int k = positions->order[i];
        point[k] = (MerIndex)((int64_t)i * positions->space->knobs[k].choices / count);
    }
}

void mer_positions_to_point(MerPositions *positions, const double *vector, MerIndex *point)
{
    const MerSpace      *space = positions->space;
    const MerKnobGroups *ranks = &positions->ranks;
    for (int k = 0; k < space->knob_count; k++) {
        positions->keys[k] = mer_position_mirror(vector[k]);
        point[k] = mer_knob_index(&space->knobs[k], positions->keys[k]);
    }
    for (int g = 0; g < ranks->count; g++) {
        place_ranks(positions, ranks->knobs + ranks->start[g],
                    ranks->start[g + 1] - ranks->start[g], point);
    }
}

void mer_positions_from_point(const MerPositions *positions, const MerIndex *point, double *vector)
{
    for (int k = 0; k < positions->space->knob_count; k++) {
        vector[k] = mer_knob_position(&positions->space->knobs[k], point[k]);
    }
}

void mer_positions_sample(const MerPositions *positions, MerRng *rng, double *vector)
{
    for (int k = 0; k < positions->space->knob_count; k++) {
        vector[k] = mer_rng_unit(rng);
    }
}

double mer_log_score(double score)
{
    return score > 0 ? log(score) : score < 0 ? -log(-score) : -INFINITY;
}
