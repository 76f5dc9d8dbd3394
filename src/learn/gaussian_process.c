/* Kernel, fit, prediction and tuning of the Gaussian process. The signal's variance is set to its most
 * likely value for given length scales, so that only those and the noise are searched. */
#include "learn/gaussian_process.h"

#include "base/linalg.h"
#include "base/stats.h"
#include "learn/lapack.h"

#include <math.h>
#include <string.h>

static const double LEAST_NOISE = 1e-6, MOST_NOISE = 1, LEAST_WEIGHT = 1e-4, MOST_WEIGHT = 1e4;

void mer_gp_make(MerGaussianProcess *gp, int capacity, int features, const bool *is_category,
                 const int *group, int group_count, MerArena *arena)
{
    size_t n = (size_t)capacity;
    *gp = (MerGaussianProcess){
        .capacity = capacity, .features = features, .group_count = group_count};
    gp->is_category = is_category;
    gp->group = group;
    gp->x = MER_ARRAY(arena, double, n *(size_t)features + 1);
    gp->y = MER_ARRAY(arena, double, n + 1);
    gp->weight = MER_ARRAY(arena, double, group_count + 1);
    gp->factor = MER_ARRAY(arena, double, n *n + 1);
    gp->alpha = MER_ARRAY(arena, double, n + 1);
    gp->distance = MER_ARRAY(arena, double, n + 1);
    gp->cross = MER_ARRAY(arena, double, n *MER_GP_BLOCK + 1);
    gp->parts = MER_ARRAY(arena, double, (size_t)group_count *MER_GP_TUNED *MER_GP_TUNED + 1);
    for (int g = 0; g < group_count; g++) {
        /* half of all features differ by about a quarter */
        gp->weight[g] = 4.0 / fmax(1, features);
    }
    gp->noise = 1e-3;
    gp->signal = gp->deviation = 1;
    mer_lapack_open();
}

int mer_gp_add(MerGaussianProcess *gp)
{
    return gp->count++;
}

void mer_gp_put(MerGaussianProcess *gp, int index, const double *x, double y)
{
    for (int f = 0; f < gp->features; f++) {
        gp->x[(size_t)f * (size_t)gp->capacity + (size_t)index] = x[f];
    }
    gp->y[index] = y;
}

/* Adds weight * squared difference of one feature between `at` and the points 0 .. count-1. */
static void add_distance(const MerGaussianProcess *gp, int feature, double at, double weight,
                         int count, double *distance)
{
    const double *column = gp->x + (size_t)feature * (size_t)gp->capacity;
    if (gp->is_category[feature]) {
        for (int j = 0; j < count; j++) {
            distance[j] += column[j] == at ? 0 : weight;
        }
    } else {
        for (int j = 0; j < count; j++) {
            double difference = column[j] - at;
            distance[j] += weight * difference * difference;
        }
    }
}

/* Matern 5/2 of a squared scaled distance; eq. 4.17. */
static double kernel(double squared)
{
    double r = sqrt(5 * squared);
    return (1 + r + r * r / 3) * exp(-r);
}

static void scale_y(MerGaussianProcess *gp)
{
    gp->mean = mer_mean(gp->y, gp->count);
    gp->deviation = sqrt(mer_variance(gp->y, gp->count));
    gp->deviation = gp->deviation > 0 ? gp->deviation : 1;
}

/* Algorithm 2.1 for a kernel matrix in the lower half of `factor`; alpha holds y standardised. */
static bool solve(MerGaussianProcess *gp, int n)
{
    for (int i = 0; i < n; i++) {
        gp->alpha[i] = (gp->y[i] - gp->mean) / gp->deviation;
    }
    if (!mer_lapack_cholesky(gp->factor, n)) {
        return false;
    }
    mer_lapack_solve_lower(gp->factor, n, gp->alpha, 1, false);
    gp->signal = fmax(1e-12, mer_dot(gp->alpha, gp->alpha, n) / n);
    return true;
}

static double likelihood(const MerGaussianProcess *gp, int n)
{
    double log_determinant = 0;
    for (int i = 0; i < n; i++) {
        log_determinant += log(gp->factor[(size_t)i * (size_t)(n + 1)]);
    }
    return -0.5 * n * log(gp->signal) - log_determinant;
}

bool mer_gp_fit(MerGaussianProcess *gp)
{
    int n = gp->count;
    if (n == 0) {
        return false;
    }
    scale_y(gp);
    for (int i = 0; i < n; i++) {
        memset(gp->distance, 0, (size_t)n * sizeof *gp->distance);
        for (int f = 0; f < gp->features; f++) {
            double at = gp->x[(size_t)f * (size_t)gp->capacity + (size_t)i];
            add_distance(gp, f, at, gp->weight[gp->group[f]], i, gp->distance);
        }
        for (int j = 0; j < i; j++) {
            gp->factor[(size_t)j * (size_t)n + (size_t)i] = kernel(gp->distance[j]);
        }
        gp->factor[(size_t)i * (size_t)(n + 1)] = 1 + gp->noise;
    }
    if (!solve(gp, n)) {
        return false;
    }
    mer_lapack_solve_lower(gp->factor, n, gp->alpha, 1, true);
    return true;
}

static void predict_block(const MerGaussianProcess *gp, const double *x, int count, double *mean,
                          double *deviation)
{
    int n = gp->count;
    memset(gp->cross, 0, (size_t)n * (size_t)count * sizeof *gp->cross);
    for (int c = 0; c < count; c++) {
        double *column = gp->cross + (size_t)c * (size_t)n;
        for (int f = 0; f < gp->features; f++) {
            double at = x[(size_t)c * (size_t)gp->features + (size_t)f];
            add_distance(gp, f, at, gp->weight[gp->group[f]], n, column);
        }
        for (int j = 0; j < n; j++) {
            column[j] = kernel(column[j]);
        }
        mean[c] = gp->mean + gp->deviation * mer_dot(column, gp->alpha, n);
    }
    mer_lapack_solve_lower(gp->factor, n, gp->cross, count, false);
    for (int c = 0; c < count; c++) {
        const double *column = gp->cross + (size_t)c * (size_t)n;
        double        variance = gp->signal * fmax(0, 1 - mer_dot(column, column, n));
        deviation[c] = gp->deviation * sqrt(variance);
    }
}

void mer_gp_predict(const MerGaussianProcess *gp, const double *x, int count, double *mean,
                    double *deviation)
{
    for (int first = 0; first < count; first += MER_GP_BLOCK) {
        int part = count - first < MER_GP_BLOCK ? count - first : MER_GP_BLOCK;
        predict_block(gp, x + (size_t)first * (size_t)gp->features, part, mean + first,
                      deviation + first);
    }
}

/* Likelihood of the first n points from the distances per group. */
static double tuned_likelihood(MerGaussianProcess *gp, int n)
{
    size_t cells = (size_t)n * (size_t)n;
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            size_t cell = (size_t)j * (size_t)n + (size_t)i;
            double squared = 0;
            for (int g = 0; g < gp->group_count; g++) {
                squared += gp->weight[g] * gp->parts[(size_t)g * cells + cell];
            }
            gp->factor[cell] = i == j ? 1 + gp->noise : kernel(squared);
        }
    }
    return solve(gp, n) ? likelihood(gp, n) : -INFINITY;
}

static void measure_parts(MerGaussianProcess *gp, int n)
{
    size_t cells = (size_t)n * (size_t)n;
    memset(gp->parts, 0, (size_t)gp->group_count * cells * sizeof *gp->parts);
    for (int f = 0; f < gp->features; f++) {
        for (int j = 0; j < n; j++) {
            double  at = gp->x[(size_t)f * (size_t)gp->capacity + (size_t)j];
            double *column = gp->parts + (size_t)gp->group[f] * cells + (size_t)j * (size_t)n;
            add_distance(gp, f, at, 1, n, column);
        }
    }
}

/* Tries both directions of one parameter; keeps what is more likely. */
static double try_both(MerGaussianProcess *gp, int n, double *parameter, double least, double most,
                       double now)
{
    static const double factors[] = {4, 0.25, 1.5, 0.667};
    for (int i = 0; i < 4; i++) {
        double kept = *parameter;
        *parameter = fmin(most, fmax(least, kept * factors[i]));
        double changed = tuned_likelihood(gp, n);
        if (changed > now) {
            now = changed;
        } else {
            *parameter = kept;
        }
    }
    return now;
}

void mer_gp_tune(MerGaussianProcess *gp)
{
    int n = gp->count < MER_GP_TUNED ? gp->count : MER_GP_TUNED;
    if (n < 3) {
        return;
    }
    scale_y(gp);
    measure_parts(gp, n);
    double now = tuned_likelihood(gp, n);
    for (int g = 0; g < gp->group_count; g++) {
        now = try_both(gp, n, &gp->weight[g], LEAST_WEIGHT, MOST_WEIGHT, now);
    }
    try_both(gp, n, &gp->noise, LEAST_NOISE, MOST_NOISE, now);
}
