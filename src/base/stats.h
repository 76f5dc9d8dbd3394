/* Summaries of samples. None of them changes its input. */
#ifndef MERCATOR_BASE_STATS_H
#define MERCATOR_BASE_STATS_H

#include "mercator/rng.h"

double mer_mean(const double *x, int n);
double mer_variance(const double *x, int n); /* n - 1 in the denominator; 0 for n < 2 */
/* linear between order statistics (type 7) */
double mer_quantile(const double *x, int n, double q);
int    mer_compare_reals(const void *a, const void *b); /* for qsort, rising */
/* Indices of the values, the least first, equal ones in their order; gives how many are below infinity. */
int    mer_sort_order(const double *x, int n, int *order);
double mer_median(const double *x, int n);

typedef struct MerInterval {
    double low, high;
} MerInterval;

/* Percentile bootstrap of a statistic at the given level (0.95), `rounds` resamples. */
MerInterval mer_bootstrap(const double *x, int n, double (*statistic)(const double *, int),
                          double level, int rounds, MerRng *rng);
/* Half the width of the 95 % interval of a mean of n values, in standard errors (Student's t); NAN for n < 2. */
double mer_student(int n);
/* Two-sided p of the Mann-Whitney rank test (exact for n + m <= 40, with ties too, else normal with tie correction). */
double mer_rank_test(const double *x, int n, const double *y, int m);
/* Rank correlation (Spearman) of two lists, ties by their mean rank; NAN if one of them is constant. */
double mer_rank_correlation(int n, const float *x, const float *y);

#endif
