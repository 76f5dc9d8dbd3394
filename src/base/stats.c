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

enum { MOST_EXACT = 40 };

/* Over all choices of n of the ranks, ties included, the share whose sum is at least `far` from the mean one (Mann and
 * Whitney, 1947). Ranks and sums are doubled, which makes them whole numbers: ways[k][s] counts the choices of k with sum s. */
static double exact_p(const double *ranks, int count, int n, int far)
{
    int     most = count * (count + 1), mean = n * (count + 1), sums = most + 1;
    double *ways = mer_heap_zeroed((size_t)(n + 1) * (size_t)sums, sizeof *ways);
    ways[0] = 1;
    for (int i = 0; i < count; i++) {
        int rank = (int)lround(2 * ranks[i]);
        for (int k = i < n ? i + 1 : n; k > 0; k--) {
            for (int sum = most; sum >= rank; sum--) {
                ways[k * sums + sum] += ways[(k - 1) * sums + sum - rank];
            }
        }
    }
    double all = 0, extreme = 0;
    for (int sum = 0; sum <= most; sum++) {
        all += ways[n * sums + sum];
        extreme += abs(sum - mean) >= far ? ways[n * sums + sum] : 0;
    }
    free(ways);
    return extreme / all;
}

double mer_rank_test(const double *x, int n, const double *y, int m)
{
    if (n < 1 || m < 1) {
        return 1;
    }
    size_t  count = (size_t)n + (size_t)m;
    double *both = mer_heap_zeroed(2 * count, sizeof *both), *ranks = both + count;
    memcpy(both, x, (size_t)n * sizeof *both);
    memcpy(both + n, y, (size_t)m * sizeof *both);
    double ties = rank(both, (int)count, ranks);
    double far = -0.5 * n * ((double)count + 1), p = 1;
    for (int i = 0; i < n; i++) {
        far += ranks[i];
    }
    far = fabs(far);
    double product = (double)n * m, total = (double)count;
    double variance = product / 12 * (total + 1 - ties / (total * (total - 1)));
    if (count <= MOST_EXACT) {
        p = exact_p(ranks, (int)count, n, (int)lround(2 * far));
    } else if (variance > 0) {
        p = erfc(fmax(0, far - 0.5) /
                 sqrt(2 * variance)); /* half a step of continuity correction */
    }
    free(both);
    return p;
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
