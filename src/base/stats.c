/* Means, quantiles, bootstrap intervals and the Mann-Whitney test. */
#include "base/stats.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double mer_mean(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i];
    }
    return n > 0 ? sum / n : NAN;
}

double mer_variance(const double *x, int n)
{
    if (n < 2) {
        return 0;
    }
    double mean = mer_mean(x, n), sum = 0;
    for (int i = 0; i < n; i++) {
        sum += (x[i] - mean) * (x[i] - mean);
    }
    return sum / (n - 1);
}

int mer_compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *sorted_copy(const double *x, int n)
{
    double *copy = mer_heap_zeroed((size_t)n, sizeof *copy);
    memcpy(copy, x, (size_t)n * sizeof *copy);
    qsort(copy, (size_t)n, sizeof *copy, mer_compare_reals);
    return copy;
}

/* Type 7 of Hyndman and Fan, "Sample quantiles in statistical packages", 1996. */
static double sorted_quantile(const double *sorted, int n, double q)
{
    double place = fmin(fmax(q, 0), 1) * (n - 1);
    int    low = (int)place;
    double part = place - low;
    return part > 0 ? sorted[low] + part * (sorted[low + 1] - sorted[low]) : sorted[low];
}

double mer_quantile(const double *x, int n, double q)
{
    if (n < 1) {
        return NAN;
    }
    double *sorted = sorted_copy(x, n);
    double  result = sorted_quantile(sorted, n, q);
    free(sorted);
    return result;
}

double mer_median(const double *x, int n)
{
    return mer_quantile(x, n, 0.5);
}

typedef struct Ranked {
    double value;
    int    index;
} Ranked;

static int compare_ranked(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    int           order = (x->value > y->value) - (x->value < y->value);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static Ranked *ranked(const double *x, int n)
{
    Ranked *order = mer_heap_zeroed((size_t)n, sizeof *order);
    for (int i = 0; i < n; i++) {
        order[i] = (Ranked){.value = x[i], .index = i};
    }
    qsort(order, (size_t)n, sizeof *order, compare_ranked);
    return order;
}

int mer_sort_order(const double *x, int n, int *order)
{
    Ranked *sorted = ranked(x, n);
    int     finite = 0;
    for (int i = 0; i < n; i++) {
        order[i] = sorted[i].index;
        finite += sorted[i].value < INFINITY;
    }
    free(sorted);
    return finite;
}

/* Ranks from 1, averaged over ties. Returns the sum of t^3 - t over groups of t equal values. */
static double rank(const double *x, int n, double *ranks)
{
    Ranked *order = ranked(x, n);
    double  ties = 0;
    for (int begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && order[end].value == order[begin].value; end++) {
        }
        for (int i = begin; i < end; i++) {
            ranks[order[i].index] = 0.5 * (begin + 1 + end);
        }
        double t = end - begin;
        ties += t * t * t - t;
    }
    free(order);
    return ties;
}

MerInterval mer_bootstrap(const double *x, int n, double (*statistic)(const double *, int),
                          double level, int rounds, MerRng *rng)
{
    if (n < 1 || rounds < 1) {
        return (MerInterval){.low = NAN, .high = NAN};
    }
    double *sample = mer_heap_zeroed((size_t)n, sizeof *sample);
    double *results = mer_heap_zeroed((size_t)rounds, sizeof *results);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < n; i++) {
            sample[i] = x[mer_rng_below(rng, n)];
        }
        results[round] = statistic(sample, n);
    }
    qsort(results, (size_t)rounds, sizeof *results, mer_compare_reals);
    MerInterval interval = {.low = sorted_quantile(results, rounds, (1 - level) / 2),
                            .high = sorted_quantile(results, rounds, (1 + level) / 2)};
    free(sample);
    free(results);
    return interval;
}

/* P(U <= limit) without ties: ways[k][u] counts the choices of k ranks with statistic u, growing the
 * population one rank at a time (Mann and Whitney, 1947). n + m <= 20. */
static double exact_tail(int n, int m, int limit)
{
    double ways[21][101] = {{0}};
    ways[0][0] = 1;
    for (int position = 0; position < n + m; position++) {
        for (int k = n < position + 1 ? n : position + 1; k >= 1; k--) {
            int beaten = position - (k - 1); /* members of the other sample below this rank */
            for (int u = n * m; beaten <= m && u >= beaten; u--) {
                ways[k][u] += ways[k - 1][u - beaten];
            }
        }
    }
    double total = 0, tail = 0;
    for (int u = 0; u <= n * m; u++) {
        total += ways[n][u];
        tail += u <= limit ? ways[n][u] : 0;
    }
    return tail / total;
}

double mer_rank_test(const double *x, int n, const double *y, int m)
{
    if (n < 1 || m < 1) {
        return 1;
    }
    size_t  count = (size_t)n + (size_t)m;
    double *both = mer_heap_zeroed(2 * count, sizeof *both);
    memcpy(both, x, (size_t)n * sizeof *both);
    memcpy(both + n, y, (size_t)m * sizeof *both);
    double ties = rank(both, (int)count, both + count);
    double u = -0.5 * n * (n + 1.0);
    for (int i = 0; i < n; i++) {
        u += both[count + (size_t)i];
    }
    free(both);
    double product = (double)n * m, total = (double)count;
    double smaller = fmin(u, product - u);
    if (ties == 0 && count <= 20) {
        return fmin(1, 2 * exact_tail(n, m, (int)smaller));
    }
    double variance = product / 12 * (total + 1 - ties / (total * (total - 1)));
    /* Half a step of continuity correction, towards the mean. */
    double distance = fmax(0, product / 2 - smaller - 0.5);
    return variance > 0 ? erfc(distance / sqrt(2 * variance)) : 1;
}

double mer_student(int n)
{
    static const double t[] = {0,     12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306, 2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131};
    int                 freedom = n - 1;
    return freedom < 1    ? NAN
           : freedom < 16 ? t[freedom]
                          : 1.96 + 2.5 / freedom; /* within 0.004 of the quantile */
}

double mer_rank_correlation(int n, const float *x, const float *y)
{
    double *a = mer_heap_zeroed(4 * (size_t)n, sizeof *a), *b = a + n, *values = b + n;
    double  ab = 0, aa = 0, bb = 0, mean = 0.5 * (n + 1);
    for (int i = 0; i < n; i++) {
        values[i] = x[i];
        values[n + i] = y[i];
    }
    rank(values, n, a);
    rank(values + n, n, b);
    for (int i = 0; i < n; i++) {
        ab += (a[i] - mean) * (b[i] - mean);
        aa += (a[i] - mean) * (a[i] - mean);
        bb += (b[i] - mean) * (b[i] - mean);
    }
    free(a);
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
}
