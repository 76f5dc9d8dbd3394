/* Points as vectors in [0,1)^n, for optimizers that work on real numbers. */
#ifndef MERCATOR_SPACE_POSITIONS_H
#define MERCATOR_SPACE_POSITIONS_H

#include "space/neighbours.h"

typedef struct MerPositions {
    const MerSpace *space;
    MerKnobGroups   ranks;
    int            *order; /* memory to sort one group of ranks */
    double         *keys;
} MerPositions;

void mer_positions_make(MerPositions *positions, const MerSpace *space, MerArena *arena);
/* Coordinates outside [0,1) count as their mirror image. RANK knobs are sorted by coordinate, so that
 * each order of the coordinates is a point of its own (random keys, Bean 1994). */
void mer_positions_to_point(MerPositions *positions, const double *vector, MerIndex *point);
void mer_positions_from_point(const MerPositions *positions, const MerIndex *point, double *vector);
void mer_positions_sample(const MerPositions *positions, MerRng *rng, double *vector);

double mer_position_mirror(double position); /* into [0,1) */

/* Ratios of scores as differences; scores of maximised metrics are negative, and the order is kept
 * among scores of one sign. +inf stays. */
double mer_log_score(double score);

#endif
