/* Measured cycles in place of a formula. Rows of one shape are a curve over the channels; between rows it is a straight line, behind
 * the last one it goes on as it ended. A shape that nobody measured takes the curve of the nearest one, scaled by MACs. */
#include "split/cost/soc_formula.h"

#include "base/stats.h"

#include <stdlib.h>
#include <string.h>

/* Columns of `rows`, as src/hw/platform_table.c reads them from CSV. */
enum { OPERATOR, C_IN, C_OUT, K_X, K_Y, O_X, O_Y, STRIDE, CYCLES, ROW };
static const int shape_columns[] = {C_IN, K_X, K_Y, O_X, O_Y, STRIDE};
enum { SHAPE_COLUMNS = sizeof shape_columns / sizeof *shape_columns };

static const MerConstant *find_constant(const MerFormula *formula, const char *name)
{
    for (int i = 0; i < formula->count; i++) {
        if (strcmp(formula->constants[i].name, name) == 0 && !formula->constants[i].text) {
            return &formula->constants[i];
        }
    }
    return NULL;
}

static void shape_of(const MerSocCost *cost, double row[ROW])
{
    memset(row, 0, ROW * sizeof *row);
    row[OPERATOR] = cost->type;
    row[C_IN] = cost->c_in;
    row[K_X] = cost->k_x;
    row[K_Y] = cost->k_y;
    row[O_X] = cost->o_x;
    row[O_Y] = cost->o_y;
    row[STRIDE] = cost->stride;
}

static double distance(const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < SHAPE_COLUMNS; i++) {
        double d = log(a[shape_columns[i]] / b[shape_columns[i]]);
        sum += d * d;
    }
    return sum;
}

static double macs_per_channel(const double *row)
{
    double inputs = row[OPERATOR] == MER_SPLIT_DEPTHWISE ? 1 : row[C_IN];
    return inputs * row[K_X] * row[K_Y] * row[O_X] * row[O_Y];
}

/* The row of the wanted operator whose shape is nearest, the first of equals; NULL: none has the operator. */
static const double *nearest_row(const MerConstant *rows, const double *wanted)
{
    const double *best = NULL;
    for (int i = 0; i + ROW <= rows->count; i += ROW) {
        const double *row = &rows->values[i];
        if (row[OPERATOR] == wanted[OPERATOR] &&
            (!best || distance(row, wanted) < distance(best, wanted))) {
            best = row;
        }
    }
    return best;
}

static double *sort_points(double *points, int count)
{
    qsort(points, (size_t)count, 2 * sizeof *points, mer_compare_reals);
    return points;
}

static MerStatus take_rows(const MerConstant *rows, MerSocCost *cost, const char *unit,
                           MerArena *arena, MerError *error)
{
    static const char *const names[] = {
#define X(id, name) name,
        MER_SPLIT_OPERATOR_MAP(X)
#undef X
    };
    double wanted[ROW];
    shape_of(cost, wanted);
    const double *like = nearest_row(rows, wanted);
    if (!like) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "the measured table of unit %s has no row with operator %s", unit,
                             names[cost->type]);
    }
    double *points = MER_ARRAY(arena, double, 2 * (rows->count / ROW));
    double  scale = macs_per_channel(wanted) / macs_per_channel(like);
    cost->is_estimated = distance(like, wanted) > 0;
    cost->point_count = 0;
    for (int i = 0; i + ROW <= rows->count; i += ROW) {
        const double *row = &rows->values[i];
        if (row[OPERATOR] == like[OPERATOR] && distance(row, like) == 0) {
            points[2 * cost->point_count] = row[C_OUT];
            points[2 * cost->point_count + 1] = row[CYCLES] * (cost->is_estimated ? scale : 1);
            cost->point_count++;
        }
    }
    cost->points = sort_points(points, cost->point_count);
    return MER_OK;
}

/* `cycles: [[channels, cycles], ...]`: one curve for every layer, or, with `shape`, for layers of that shape. */
static MerStatus take_pairs(const MerFormula *formula, const MerConstant *pairs, MerSocCost *cost,
                            const char *unit, MerArena *arena, MerError *error)
{
    const MerConstant *shape = find_constant(formula, "shape");
    double             wanted[ROW], scale = 1;
    if (pairs->count % 2 != 0 || (shape && shape->count != SHAPE_COLUMNS)) {
        return mer_error_set(error, MER_INVALID,
                             "units.%s.cost: expected cycles: [[channels, cycles], ...] and shape: "
                             "[c_in, k_x, k_y, o_x, o_y, stride]",
                             unit);
    }
    shape_of(cost, wanted);
    if (shape) {
        double like[ROW] = {[OPERATOR] = cost->type};
        for (int i = 0; i < SHAPE_COLUMNS; i++) {
            like[shape_columns[i]] = shape->values[i];
        }
        cost->is_estimated = distance(like, wanted) > 0;
        scale = cost->is_estimated ? macs_per_channel(wanted) / macs_per_channel(like) : 1;
    }
    double *points = MER_ARRAY(arena, double, pairs->count);
    for (int i = 0; i < pairs->count; i++) {
        points[i] = pairs->values[i] * (i % 2 ? scale : 1);
    }
    cost->point_count = pairs->count / 2;
    cost->points = sort_points(points, cost->point_count);
    return MER_OK;
}

MerStatus mer_soc_table_points(const MerFormula *formula, MerSocCost *cost, const char *unit,
                               MerArena *arena, MerError *error)
{
    const MerConstant *rows = find_constant(formula, "rows"),
                      *pairs = find_constant(formula, "cycles");
    if (rows && rows->count >= ROW && rows->count % ROW == 0) {
        return take_rows(rows, cost, unit, arena, error);
    }
    if (pairs && pairs->count >= 2) {
        return take_pairs(formula, pairs, cost, unit, arena, error);
    }
    return mer_error_set(error, MER_INVALID,
                         "units.%s.cost has no measurements, expected file, rows of %d numbers or "
                         "cycles",
                         unit, ROW);
}

double mer_soc_table_cycles(const MerSocCost *cost, double channels)
{
    const double *points = cost->points;
    double        x0 = 0, y0 = 0, x1 = points[0], y1 = points[1];
    for (int i = 1; i < cost->point_count && channels > x1; i++) {
        x0 = x1;
        y0 = y1;
        x1 = points[2 * i];
        y1 = points[2 * i + 1];
    }
    double cycles = x1 > x0 ? y0 + (channels - x0) * (y1 - y0) / (x1 - x0) : y1;
    return fmax(cycles, 0); /* a curve that falls is not continued below nothing */
}
