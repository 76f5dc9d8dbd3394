/* Gaussian process regression with a Matern 5/2 kernel (Rasmussen and Williams, "Gaussian Processes for
 * Machine Learning", 2006, eq. 4.17 and algorithm 2.1).
 *
 *     mer_gp_make(&gp, 500, features, is_category, group, groups, arena);
 *     mer_gp_put(&gp, mer_gp_add(&gp), x, y); ...
 *     mer_gp_tune(&gp);                          now and then: length scales and noise
 *     if (mer_gp_fit(&gp)) mer_gp_predict(&gp, x, count, mean, deviation);
 *
 * A feature is a number, or a category: two categories are as far apart as their one-hot vectors, scaled
 * so that a difference counts 1. Features of one group share a length scale. */
#ifndef MERCATOR_LEARN_GAUSSIAN_PROCESS_H
#define MERCATOR_LEARN_GAUSSIAN_PROCESS_H

#include "mercator/arena.h"

#include <stdbool.h>

typedef struct MerGaussianProcess {
    int         capacity, count, features, group_count;
    const bool *is_category; /* per feature */
    const int  *group;       /* per feature */
    /* (features, capacity) column per feature, as the inner loops read it */
    double *x;
    double *y;
    double *weight;                  /* per group: 1 / length scale^2 */
    double  noise;                   /* variance of the noise, in units of the signal's */
    double  mean, deviation, signal; /* of y; variance of the standardised signal */
    double *factor;                  /* (count, count) Cholesky factor of the last fit */
    double *alpha;                   /* K^-1 y */
    double *distance;                /* capacity: (capacity) */
    double *cross;                   /* capacity: (capacity, MER_GP_BLOCK) */
    double *parts;                   /* memory for tuning: (groups, MER_GP_TUNED^2) */
} MerGaussianProcess;

enum { MER_GP_BLOCK = 64, MER_GP_TUNED = 192 };

void mer_gp_make(MerGaussianProcess *gp, int capacity, int features, const bool *is_category,
                 const int *group, int group_count, MerArena *arena);
/* index of a new point to be put; needs count < capacity */
int  mer_gp_add(MerGaussianProcess *gp);
void mer_gp_put(MerGaussianProcess *gp, int index, const double *x, double y);
/* One sweep of coordinate search for the likelihood of (at most MER_GP_TUNED of) the points. */
void mer_gp_tune(MerGaussianProcess *gp);
/* False: no point, or the kernel matrix could not be factored. */
bool mer_gp_fit(MerGaussianProcess *gp);
/* `x` is (count, features); the deviation is that of the function without noise. */
void mer_gp_predict(const MerGaussianProcess *gp, const double *x, int count, double *mean,
                    double *deviation);

#endif
