/* Correlation and interaction of knobs over feasible samples. */
#include "space/correlation.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Sample {
    double          score, weight;
    const MerIndex *point;
} Sample;

static int by_score(const void *a, const void *b)
{
    const Sample *x = a, *y = b;
    if (x->score != y->score) {
        return x->score < y->score ? -1 : 1;
    }
    return x->point < y->point ? -1 : x->point > y->point; /* the order they came in */
}

/* Feasible samples, best first; gives how many. */
static int feasible(const MerSpace *space, int count, const MerIndex *points, const double *scores,
                    Sample **samples)
{
    int n = 0;
    *samples = mer_heap_zeroed((size_t)count + 1, sizeof **samples);
    for (int i = 0; i < count; i++) {
        if (isfinite(scores[i])) {
            (*samples)[n++] =
                (Sample){scores[i], 0, points + (size_t)i * (size_t)space->knob_count};
        }
    }
    qsort(*samples, (size_t)n, sizeof **samples, by_score);
    for (int i = 0; i < n; i++) {
        (*samples)[i].weight = exp(-i / (0.1 * n));
    }
    return n;
}

/* Columns of a knob: one per choice for a category, else one for its position. */
static int column_count(const MerKnob *knob)
{
    return knob->kind == MER_KNOB_CATEGORY ? knob->choices : 1;
}

static int column_of(const MerKnob *knob, MerIndex index)
{
    return knob->kind == MER_KNOB_CATEGORY ? index : 0;
}

static double value_of(const MerKnob *knob, MerIndex index)
{
    return knob->kind == MER_KNOB_CATEGORY ? 1 : (double)index / knob->choices;
}

typedef struct Moments { /* weighted sums of each column of a knob and of their squares */
    double *sum, *square;
} Moments;

static Moments moments_of(const MerKnob *knob, int at, int n, const Sample *samples)
{
    size_t  columns = (size_t)column_count(knob);
    Moments m = {mer_heap_zeroed(columns, sizeof(double)),
                 mer_heap_zeroed(columns, sizeof(double))};
    for (int i = 0; i < n; i++) {
        int    column = column_of(knob, samples[i].point[at]);
        double value = value_of(knob, samples[i].point[at]);
        m.sum[column] += samples[i].weight * value;
        m.square[column] += samples[i].weight * value * value;
    }
    return m;
}

static double pearson(double total, double cross, double sum_x, double square_x, double sum_y,
                      double square_y)
{
    double x = square_x / total - sum_x / total * (sum_x / total);
    double y = square_y / total - sum_y / total * (sum_y / total);
    double both = cross / total - sum_x / total * (sum_y / total);
    return x > 1e-12 && y > 1e-12 ? both / sqrt(x * y) : 0;
}

/* Each sample touches one column of either knob, so that one table holds all products of
 * columns. */
static double strongest(const MerSpace *space, int a, int b, int n, const Sample *samples,
                        const Moments *moments, double total)
{
    const MerKnob *x = &space->knobs[a], *y = &space->knobs[b];
    int            rows = column_count(x), columns = column_count(y);
    double        *cross = mer_heap_zeroed((size_t)rows * (size_t)columns, sizeof *cross), best = 0;
    for (int i = 0; i < n; i++) {
        MerIndex p = samples[i].point[a], q = samples[i].point[b];
        cross[(size_t)column_of(x, p) * (size_t)columns + (size_t)column_of(y, q)] +=
            samples[i].weight * value_of(x, p) * value_of(y, q);
    }
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < columns; c++) {
            double found =
                pearson(total, cross[(size_t)r * (size_t)columns + (size_t)c], moments[a].sum[r],
                        moments[a].square[r], moments[b].sum[c], moments[b].square[c]);
            best = fabs(found) > fabs(best) ? found : best;
        }
    }
    free(cross);
    return rows * columns > 1 ? fabs(best) : best;
}

static void set_pair(double *matrix, int n, int a, int b, double value)
{
    matrix[(size_t)a * (size_t)n + (size_t)b] = value;
    matrix[(size_t)b * (size_t)n + (size_t)a] = value;
}

static void set_identity(double *matrix, int n)
{
    memset(matrix, 0, (size_t)n * (size_t)n * sizeof *matrix);
    for (int i = 0; i < n; i++) {
        set_pair(matrix, n, i, i, 1);
    }
}

void mer_correlation(const MerSpace *space, int count, const MerIndex *points, const double *scores,
                     double *matrix)
{
    Sample  *samples;
    int      knobs = space->knob_count, n = feasible(space, count, points, scores, &samples);
    double   total = 0;
    Moments *moments = mer_heap_zeroed((size_t)knobs + 1, sizeof *moments);
    set_identity(matrix, knobs);
    for (int i = 0; i < n; i++) {
        total += samples[i].weight;
    }
    for (int a = 0; a < knobs && n > 1; a++) {
        moments[a] = moments_of(&space->knobs[a], a, n, samples);
        for (int b = 0; b < a; b++) {
            set_pair(matrix, knobs, a, b, strongest(space, a, b, n, samples, moments, total));
        }
    }
    for (int a = 0; a < knobs; a++) {
        free(moments[a].sum);
        free(moments[a].square);
    }
    free(moments);
    free(samples);
}

enum { BINS = 8 };

static int bin_of(const MerKnob *knob, MerIndex index)
{
    return knob->choices <= BINS ? index : (int)((int64_t)index * BINS / knob->choices);
}

typedef struct Cell {
    double count, sum;
} Cell;

/* Sum of squares between cells, around the mean. */
static double between(const Cell *cells, int count, double mean)
{
    double square = 0;
    for (int i = 0; i < count; i++) {
        if (cells[i].count > 0) {
            double distance = cells[i].sum / cells[i].count - mean;
            square += cells[i].count * distance * distance;
        }
    }
    return square;
}

static double pair_share(const MerSpace *space, int a, int b, int n, const Sample *samples,
                         const double *values, double mean, double all)
{
    Cell both[BINS * BINS] = {{0}}, first[BINS] = {{0}}, second[BINS] = {{0}};
    for (int i = 0; i < n; i++) {
        int   p = bin_of(&space->knobs[a], samples[i].point[a]);
        int   q = bin_of(&space->knobs[b], samples[i].point[b]);
        Cell *cells[3] = {&both[p * BINS + q], &first[p], &second[q]};
        for (int c = 0; c < 3; c++) {
            cells[c]->count += 1;
            cells[c]->sum += values[i];
        }
    }
    double beyond =
        between(both, BINS * BINS, mean) - between(first, BINS, mean) - between(second, BINS, mean);
    return beyond > 0 ? fmin(1, beyond / all) : 0;
}

void mer_interaction(const MerSpace *space, int count, const MerIndex *points, const double *scores,
                     double *matrix)
{
    Sample *samples;
    int     knobs = space->knob_count, n = feasible(space, count, points, scores, &samples);
    double *values = mer_heap_zeroed((size_t)n + 1, sizeof *values), mean = 0, all = 0;
    set_identity(matrix, knobs);
    for (int i = 0; i < n; i++) {
        double score = samples[i].score;
        values[i] = score > 0 ? log(score) : score < 0 ? -log(-score) : 0;
        mean += values[i] / n;
    }
    for (int i = 0; i < n; i++) {
        all += (values[i] - mean) * (values[i] - mean);
    }
    for (int a = 0; a < knobs && all > 0; a++) {
        for (int b = 0; b < a; b++) {
            set_pair(matrix, knobs, a, b, pair_share(space, a, b, n, samples, values, mean, all));
        }
    }
    free(values);
    free(samples);
}

void mer_correlation_distance(int knobs, const double *matrix, bool is_signed, double *distance)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < knobs * knobs; i++) {
        bool is_pair = i / knobs != i % knobs;
        distance[i] = is_pair ? 1 - (is_signed ? matrix[i] : fabs(matrix[i])) : 0;
        least = is_pair ? fmin(least, distance[i]) : least;
        most = is_pair ? fmax(most, distance[i]) : most;
    }
    for (int i = 0; i < knobs * knobs; i++) {
        bool is_pair = i / knobs != i % knobs;
        if (is_pair) {
            distance[i] = most > least ? (distance[i] - least) / (most - least) : 1;
        }
    }
}
