/* How strongly knobs belong together, judged by priced points. */
#ifndef MERCATOR_SPACE_CORRELATION_H
#define MERCATOR_SPACE_CORRELATION_H

#include "mercator/space.h"

/* `points` is (count, knobs); samples with an infinite score are left out. Matrices are (knobs,
 * knobs), symmetric, 1 on the diagonal, 0 where nothing is known. */

/* Weighted Pearson correlation of knob positions; the weight of a sample is exp(-rank / (0.1 n)) by
 * score, so that good points count most. Pairs with a CATEGORY knob have Cramer's V without
 * its bias instead, a magnitude: 0 for what chance alone explains, the other knob in at most 8 bins
 * if it is ordered. */
void mer_correlation(const MerSpace *space, int count, const MerIndex *points, const double *scores,
                     double *matrix);

/* Share of the variance of log(score) that a pair of knobs explains beyond what each explains
 * alone, in at most 8 bins per knob. */
void mer_interaction(const MerSpace *space, int count, const MerIndex *points, const double *scores,
                     double *matrix);

/* 1 - |c|, or signed 1 - c, rescaled to 0 .. 1 over all pairs: raw values are small on near-uniform
 * samples. */
void mer_correlation_distance(int knobs, const double *matrix, bool is_signed, double *distance);

#endif
