/* Jobs split over cores: a linear relaxation solved with COIN-OR CLP. With proportional sharing it counts, in
 * virtual time, the bytes by which single jobs exceed the bandwidth (docs/bandwidth-model.md, "Bounds of
 * schedules"), also for the core that runs a long job. A job that would take longer than the bound on some core
 * may not go there, even in part (after Lenstra, Shmoys and Tardos, 1990). CLP only proposes multipliers; the
 * bound is computed from them, so rounding cannot make it too high. */
#include "schedule/bound/schedule_bound.h"

#include "base/stats.h"

#include <Clp_C_Interface.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct SplitProgram {
    Clp_Simplex *model;
    Relaxation  *relaxation;
};

/* Where rows of the program begin: jobs first, then these; the excess comes last. */
typedef struct Rows {
    int core, job, bytes;
} Rows;

static Rows rows_of(const Relaxation *relaxation)
{
    int jobs = relaxation->rows;
    return (Rows){jobs, jobs + relaxation->classes, 2 * jobs + relaxation->classes};
}

static double multiplier(const double *price, int row)
{
    return fmax(0, -price[row]);
}

/* Weak duality: for any multipliers >= 0 this is below every makespan that keeps to pairs with alone <= limit. */
static double dual_value(Relaxation *relaxation, const double *price, double limit)
{
    Rows   rows = rows_of(relaxation);
    double all = 0;
    for (int c = 0; c < relaxation->classes; c++) {
        all += relaxation->units[c] * multiplier(price, rows.core + c);
    }
    for (int r = 0; r < relaxation->rows; r++) {
        all += multiplier(price, rows.job + r);
    }
    double bytes = multiplier(price, rows.bytes);
    double weight = all + bytes;
    double sum = 0;
    for (int r = 0; r < relaxation->rows; r++) {
        double least = INFINITY;
        for (int c = 0; c < relaxation->classes; c++) {
            int    at = r * relaxation->classes + c;
            double own = multiplier(price, rows.core + c) +
                         multiplier(price, rows.job + r) / relaxation->count[r];
            double cost = own * relaxation->load[at] + all * relaxation->excess[at] +
                          bytes * relaxation->bytes[at];
            least = relaxation->alone[at] <= limit ? fmin(least, cost) : least;
        }
        sum += relaxation->count[r] * least;
        relaxation->row_price[r] = weight > 0 ? least / weight : 0;
    }
    return weight > 0 ? (sum - all * relaxation->free_switch) / weight : 0;
}

/* Columns are x[row][class], the excess E of all jobs, and the makespan T. Rows: every job once; what a core
 * class does; what the core does that runs a job (its load is at least that job's); bytes; E. */
SplitProgram *mer_split_begin(Relaxation *relaxation)
{
    int           jobs = relaxation->rows;
    int           classes = relaxation->classes;
    int           columns = jobs * classes + 2;
    int           rows = 2 * jobs + classes + 2;
    Rows          first = rows_of(relaxation);
    int           core_row = first.core, job_row = first.job, bytes_row = first.bytes;
    int           excess_row = bytes_row + 1;
    int           capacity = jobs * classes * 5 + 2 * rows;
    MerArena     *arena = relaxation->arena;
    CoinBigIndex *start = MER_ARRAY(arena, CoinBigIndex, columns + 1);
    int          *index = MER_ARRAY(arena, int, capacity);
    double       *value = MER_ARRAY(arena, double, capacity);
    double       *bounds = MER_ARRAY(arena, double, 3 * columns + 2 * rows);
    double       *lower = bounds, *upper = bounds + columns, *cost = upper + columns;
    double       *row_lower = cost + columns, *row_upper = row_lower + rows;
    int           used = 0;
    for (int r = 0; r < rows; r++) {
        row_lower[r] = row_upper[r] = r < jobs ? relaxation->count[r] : 0;
        row_lower[r] = r < jobs ? row_lower[r] : -INFINITY;
        if (r >= core_row && r < bytes_row) {
            double units = r < job_row ? relaxation->units[r - core_row] : 1;
            row_upper[r] = units * relaxation->free_switch / relaxation->scale;
        }
        bool is_job_row = r >= job_row && r < bytes_row;
        row_upper[r] = is_job_row && relaxation->is_published ? INFINITY : row_upper[r];
    }
    for (int at = 0; at < jobs * classes; at++) {
        int    r = at / classes;
        double load = relaxation->load[at] / relaxation->scale;
        const struct {
            int    row;
            double value;
        } entries[5] = {{r, 1},
                        {core_row + at % classes, load},
                        {job_row + r, load / relaxation->count[r]},
                        {bytes_row, relaxation->bytes[at] / relaxation->scale},
                        {excess_row, relaxation->excess[at] / relaxation->scale}};
        start[at] = used;
        upper[at] = relaxation->count[r];
        for (int e = 0; e < 5; e++) {
            index[used] = entries[e].row;
            value[used++] = entries[e].value;
        }
    }
    for (int column = 0; column < 2; column++) { /* E, then T */
        start[columns - 2 + column] = used;
        double sign = column == 0 ? 1 : -1;
        for (int r = core_row; r < bytes_row + column; r++) {
            index[used] = r;
            value[used++] = sign * (r < job_row ? relaxation->units[r - core_row] : 1);
        }
        if (column == 0) {
            index[used] = excess_row;
            value[used++] = -1;
        }
        upper[columns - 2 + column] = INFINITY;
    }
    start[columns] = used;
    cost[columns - 1] = 1;
    Clp_Simplex *model = Clp_newModel();
    Clp_setLogLevel(model, 0);
    Clp_loadProblem(model, columns, rows, start, index, value, lower, upper, cost, row_lower,
                    row_upper);
    SplitProgram *program = MER_NEW(arena, SplitProgram);
    *program = (SplitProgram){model, relaxation};
    return program;
}

void mer_split_end(SplitProgram *program)
{
    Clp_deleteModel(program->model);
}

double mer_split_solve(SplitProgram *program, double limit)
{
    Relaxation *relaxation = program->relaxation;
    int         jobs = relaxation->rows;
    int         classes = relaxation->classes;
    double     *upper = Clp_columnUpper(program->model);
    for (int r = 0; r < jobs; r++) {
        bool is_possible = false;
        for (int c = 0; c < classes; c++) {
            bool is_allowed = relaxation->alone[r * classes + c] <= limit;
            upper[r * classes + c] = is_allowed ? relaxation->count[r] : 0;
            is_possible = is_possible || is_allowed;
        }
        if (!is_possible) {
            return INFINITY;
        }
    }
    Clp_dual(program->model, 0);
    return dual_value(relaxation, Clp_dualRowSolution(program->model), limit);
}

/* The longest pair that a schedule uses is some pair of the table; the makespan is at least that pair's own
 * bound and the relaxation without longer ones. The least over all pairs holds whatever the schedule. */
double mer_split_bound(SplitProgram *program)
{
    Relaxation *relaxation = program->relaxation;
    int         count = relaxation->rows * relaxation->classes;
    double     *limits = MER_ARRAY(relaxation->arena, double, count + 1);
    memcpy(limits, relaxation->alone, (size_t)count * sizeof *limits);
    qsort(limits, (size_t)count, sizeof *limits, mer_compare_reals);
    int    low = 0;
    int    high = count - 1; /* the first place where the pair itself is the larger of the two */
    double below = INFINITY;
    while (low < high && !mer_is_cancelled(relaxation->notes)) {
        int    middle = low + (high - low) / 2;
        double value = mer_split_solve(program, limits[middle]);
        if (limits[middle] >= value) {
            high = middle;
        } else {
            below = fmin(below, value);
            low = middle + 1;
        }
    }
    if (mer_is_cancelled(relaxation->notes)) {
        return 0;
    }
    double last = fmax(limits[low], mer_split_solve(program, limits[low]));
    return fmin(below, last);
}

const double *mer_split_parts(const SplitProgram *program)
{
    return Clp_primalColumnSolution(program->model);
}
