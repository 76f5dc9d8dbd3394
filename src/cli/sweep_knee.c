/* The knee of a sweep: the point of a falling curve that is farthest below the straight line between its ends, both
 * axes brought to 0 .. 1 (Satopaa, Albrecht, Irwin and Raghavan, Finding a "Kneedle" in a Haystack, 2011, without its
 * smoothing). Of one swept number the curve is the score over it, of several it is the front of energy and time. */
#include "cli/sweep.h"

#include "mercator/text.h"

#include <math.h>
#include <stdlib.h>

/* below this a curve is as good as straight */
static const double LEAST = 0.05;

typedef struct Point {
    double x, y;
    int    index; /* of the MerRunSpec */
} Point;

static int by_x(const void *a, const void *b)
{
    const Point *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

/* The index of the knee, or -1. */
static int find_knee(Point *points, int count)
{
    int    knee = -1;
    double farthest = LEAST;
    if (count < 3) {
        return -1;
    }
    qsort(points, (size_t)count, sizeof *points, by_x);
    double wide = points[count - 1].x - points[0].x;
    double low = points[0].y, high = points[0].y;
    for (int i = 1; i < count; i++) {
        low = fmin(low, points[i].y);
        high = fmax(high, points[i].y);
    }
    for (int i = 0; wide > 0 && high > low && i < count; i++) {
        double below = 1 - (points[i].x - points[0].x) / wide - (points[i].y - low) / (high - low);
        if (below > farthest) {
            farthest = below;
            knee = points[i].index;
        }
    }
    return knee;
}

/* 1 2 4 8: equal factors are equal steps. */
static bool is_geometric(const double *values, int count)
{
    bool is_equal = count > 2 && values[0] > 0;
    for (int i = 2; is_equal && i < count; i++) {
        is_equal = fabs(values[i] * values[i - 2] / (values[i - 1] * values[i - 1]) - 1) < 1e-6;
    }
    return is_equal;
}

/* The swept numbers as steps of a curve; false: some are no numbers. */
static bool read_steps(const MerSweep *sweep, double *steps)
{
    int count = sweep->values.count;
    for (int i = 0; i < count; i++) {
        if (!mer_parse_real(sweep->values.texts[i], &steps[i])) {
            return false;
        }
    }
    bool is_log = is_geometric(steps, count);
    for (int i = 0; is_log && i < count; i++) {
        steps[i] = log2(steps[i]);
    }
    return true;
}

/* Specs that differ in their platform alone stand `stride` apart, `platforms` of them. */
static int stride_of(const MerRunSpec *specs, int count)
{
    int stride = 1;
    while (stride < count && specs[stride].platform == specs[0].platform) {
        stride++;
    }
    return stride;
}

void mer_sweep_knees(const MerExperiment *experiment, const MerRunSpec *specs,
                     const MerCellTotal *results, int count, bool *is_knee, MerArena *arena)
{
    int     platforms = mer_sweep_combinations(experiment), stride = stride_of(specs, count);
    bool    is_curve = experiment->sweep_count == 1;
    double *steps = MER_ARRAY(arena, double, platforms);
    Point  *points = MER_ARRAY(arena, Point, platforms);
    if (is_curve && !read_steps(&experiment->sweeps[0], steps)) {
        return;
    }
    for (int first = 0; first < count; first++) {
        if (first / stride % platforms != 0 || first + (platforms - 1) * stride >= count) {
            continue; /* not the first platform of a group */
        }
        int found = 0;
        for (int p = 0; p < platforms; p++) {
            int    i = first + p * stride;
            double axes[2];
            mer_sweep_axes(&results[i], axes);
            bool is_point = results[i].is_feasible &&
                            (is_curve ? isfinite(results[i].total.score)
                                      : axes[0] > 0 && axes[1] > 0 && axes[0] != axes[1] &&
                                            mer_sweep_is_on_front(results, count, i));
            if (is_point) {
                points[found++] = is_curve ? (Point){steps[p], results[i].total.score, i}
                                           : (Point){log(axes[0]), log(axes[1]), i};
            }
        }
        int knee = find_knee(points, found);
        if (knee >= 0) {
            is_knee[knee] = true;
        }
    }
}
