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

typedef struct Moments { /* of a knob's positions, by weight */
    double mean, variance;
} Moments;

static double position_of(const MerKnob *knob, MerIndex index)
{
    return (double)index / knob->choices;
}

static Moments moments_of(const MerKnob *knob, int at, int n, const Sample *samples, double total)
{
    double sum = 0, square = 0;
    for (int i = 0; i < n; i++) {
        double value = position_of(knob, samples[i].point[at]);
        sum += samples[i].weight * value;
        square += samples[i].weight * value * value;
    }
    return (Moments){sum / total, square / total - sum / total * (sum / total)};
}

static double pearson(const MerSpace *space, int a, int b, int n, const Sample *samples,
                      const Moments *moments, double total)
{
    double cross = 0, x = moments[a].variance, y = moments[b].variance;
    for (int i = 0; i < n; i++) {
        cross += samples[i].weight * position_of(&space->knobs[a], samples[i].point[a]) *
                 position_of(&space->knobs[b], samples[i].point[b]);
    }
    double both = cross / total - moments[a].mean * moments[b].mean;
    return x > 1e-12 && y > 1e-12 ? both / sqrt(x * y) : 0;
}

enum { BINS = 8 };

static int bin_of(const MerKnob *knob, MerIndex index)
{
    return knob->choices <= BINS ? index : (int)((int64_t)index * BINS / knob->choices);
}

/* Rows or columns of a table of pairs: every choice of a category, bins of an order. */
static int cell_of(const MerKnob *knob, MerIndex index)
{
    return knob->kind == MER_KNOB_CATEGORY ? index : bin_of(knob, index);
}

typedef struct Margin { /* shares of the samples in each cell of one knob */
    double *share;
    int     count, seen;
} Margin;

static Margin margin_of(const MerKnob *knob, int at, int n, const Sample *samples, double total)
{
    Margin margin = {.count = cell_of(knob, knob->choices - 1) + 1};
    margin.share = mer_heap_zeroed((size_t)margin.count, sizeof *margin.share);
    for (int i = 0; i < n; i++) {
        double *share = &margin.share[cell_of(knob, samples[i].point[at])];
        margin.seen += *share == 0;
        *share += samples[i].weight / total;
    }
    return margin;
}

/* Cramer's V without its bias (Bergsma, J. Korean Statistical Society 42, 2013): phi^2 less what
 * independent knobs would show, over the most it can be, with fewer rows and columns where samples
 * are few. `over` is the number of samples less one. */
static double without_bias(double phi_squared, int rows, int columns, double over)
{
    double beyond = phi_squared - (rows - 1) * (columns - 1) / over;
    double most = fmin(rows - (rows - 1) * (rows - 1) / over,
                       columns - (columns - 1) * (columns - 1) / over) -
                  1;
    return beyond > 0 && most > 1e-9 ? fmin(1, sqrt(beyond / most)) : 0;
}

/* The same for a pair with a category in it. Samples of unequal weight count as (sum w)^2 / sum w^2
 * equal ones (Kish, "Survey Sampling", 1965). */
static double cramer(const MerSpace *space, int a, int b, int n, const Sample *samples,
                     double total, double effective)
{
    const MerKnob *knobs = space->knobs;
    Margin         rows = margin_of(&knobs[a], a, n, samples, total);
    Margin         columns = margin_of(&knobs[b], b, n, samples, total);
    double        *both = mer_heap_zeroed((size_t)rows.count * (size_t)columns.count, sizeof *both);
    double         phi_squared = -1;
    for (int i = 0; i < n; i++) {
        size_t row = (size_t)cell_of(&knobs[a], samples[i].point[a]);
        size_t column = (size_t)cell_of(&knobs[b], samples[i].point[b]);
        both[row * (size_t)columns.count + column] += samples[i].weight / total;
    }
    for (int r = 0; r < rows.count; r++) {
        for (int c = 0; c < columns.count; c++) {
            double share = both[(size_t)r * (size_t)columns.count + (size_t)c];
            phi_squared += share > 0 ? share * share / (rows.share[r] * columns.share[c]) : 0;
        }
    }
    free(both);
    free(rows.share);
    free(columns.share);
    return without_bias(phi_squared, rows.seen, columns.seen, effective - 1);
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

static bool is_category(const MerSpace *space, int knob)
{
    return space->knobs[knob].kind == MER_KNOB_CATEGORY;
}

void mer_correlation(const MerSpace *space, int count, const MerIndex *points, const double *scores,
                     double *matrix)
{
    Sample  *samples;
    int      knobs = space->knob_count, n = feasible(space, count, points, scores, &samples);
    double   total = 0, squares = 0;
    Moments *moments = mer_heap_zeroed((size_t)knobs + 1, sizeof *moments);
    set_identity(matrix, knobs);
    for (int i = 0; i < n; i++) {
        total += samples[i].weight;
        squares += samples[i].weight * samples[i].weight;
    }
    for (int a = 0; a < knobs && n > 1; a++) {
        moments[a] = moments_of(&space->knobs[a], a, n, samples, total);
        for (int b = 0; b < a; b++) {
            bool has_category = is_category(space, a) || is_category(space, b);
            set_pair(matrix, knobs, a, b,
                     has_category ? cramer(space, a, b, n, samples, total, total * total / squares)
                                  : pearson(space, a, b, n, samples, moments, total));
        }
    }
    free(moments);
    free(samples);
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
