/* The knee of a sweep: the point of a falling curve that is farthest below the straight line between its ends, both
 * axes brought to 0 .. 1 (Satopaa, Albrecht, Irwin and Raghavan, Finding a "Kneedle" in a Haystack, 2011, without its
 * smoothing). Of one swept number the curve is the score over it, which is less where any objective is better; of
 * several it is the front of energy and time. */
#include "cli/sweep.h"

#include "mercator/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* below the first a curve is as good as straight, below the second it is level */
static const double LEAST = 0.05, ROUNDING = 1e-9;

typedef struct Point {
    double x, y;
    int    index; /* of the row */
} Point;

static int by_x(const void *a, const void *b)
{
    const Point *p = a, *q = b;
    return p->x != q->x ? (p->x > q->x) - (p->x < q->x) : (p->y > q->y) - (p->y < q->y);
}

/* The index of the knee, or -1: the curve does not fall, or no point between its ends is far enough below the line. */
static int find_knee(Point *points, int count)
{
    int    knee = -1;
    double farthest = LEAST;
    if (count < 3) {
        return -1;
    }
    qsort(points, (size_t)count, sizeof *points, by_x);
    Point  first = points[0], last = points[count - 1];
    double wide = last.x - first.x, fall = first.y - last.y, low = last.y, high = first.y;
    for (int i = 1; i < count; i++) {
        low = fmin(low, points[i].y);
        high = fmax(high, points[i].y);
    }
    bool is_falling = wide > 0 && fall > ROUNDING * fmax(fabs(low), fabs(high));
    for (int i = 1; is_falling && i < count - 1; i++) {
        double line = first.y - fall * (points[i].x - first.x) / wide;
        double below = (line - points[i].y) / (high - low);
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

/* The knee of the curve that row `first` begins; -1: none. */
static int knee_of(const MerSweepTable *table, int first, const double *steps, Point *points)
{
    const MerSweepRow *base = &table->rows[first];
    int                found = 0;
    for (int r = first; r < table->count; r++) {
        const MerSweepRow *row = &table->rows[r];
        double             axes[2], score = row->median.total.score;
        if (row->group != base->group || row->platform != base->platform ||
            strcmp(row->setting, base->setting) != 0) {
            continue;
        }
        mer_sweep_axes(&row->median, axes);
        bool is_point =
            row->median.is_feasible &&
            (steps ? isfinite(score)
                   : axes[0] > 0 && axes[1] > 0 && axes[0] != axes[1] && row->is_on_front);
        if (is_point) {
            points[found++] = steps ? (Point){steps[row->combination], score, r}
                                    : (Point){log(axes[0]), log(axes[1]), r};
        }
    }
    return find_knee(points, found);
}

void mer_sweep_knees(const MerExperiment *experiment, MerSweepTable *table, MerArena *arena)
{
    const MerSweep *sweep = &experiment->sweeps[0];
    bool            is_curve = experiment->sweep_count == 1;
    double         *steps = is_curve ? MER_ARRAY(arena, double, sweep->values.count) : NULL;
    Point          *points = MER_ARRAY(arena, Point, table->count);
    if (is_curve && !read_steps(sweep, steps)) {
        return;
    }
    for (int r = 0; r < table->count; r++) {
        int knee = table->rows[r].combination == 0 ? knee_of(table, r, steps, points) : -1;
        if (knee >= 0) {
            table->rows[knee].is_knee = true;
        }
    }
}
