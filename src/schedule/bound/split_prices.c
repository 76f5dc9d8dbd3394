/* The relaxation of large groups. Its dual has one price per core class and one for bytes, if the rows of single
 * jobs are left out, which matter little among many: any prices that sum to 1 give a bound, the cost of all jobs
 * where each is cheapest. Good prices are found by column generation (Dantzig and Wolfe, 1960): a small program
 * mixes the assignments found so far, and the next one is made at prices between its own and the best so far
 * (Wentges, 1997). A step looks at every pair of the table once. */
#include "schedule/bound/schedule_bound.h"

#include "schedule/bound/clp_column.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Of the program that CLP solves whole, some 0.5 s of work. One class of cores is as much work as two. */
enum { LARGE_PAIRS = 1 << 13 };
enum { STEPS = 120, HALVINGS = 16 };

static const double fine = 1e-9;   /* the end of steps, in parts of the bound */
static const double coarse = 1e-6; /* the end of halvings, likewise */

typedef struct Prices {
    const Relaxation *relaxation;
    double            limit; /* pairs above it are left out */
    double           *share; /* at work: by class, of all its units, then of bytes; the sum is 1 */
    double           *proposed; /* the program's */
    double           *center;   /* those of the best value */
    double            best;     /* the most that any prices gave: no schedule is below */
    double            least;    /* what no prices can give more than */
    double           *load;     /* of an assignment, by class */
    double            excess, bytes;
    Clp_Simplex      *program;
    int               columns;
    double           *kept; /* [column]: its prices */
} Prices;

bool mer_relaxation_is_large(const Relaxation *relaxation)
{
    int64_t classes = relaxation->classes < 2 ? 2 : relaxation->classes;
    return relaxation->rows * classes > LARGE_PAIRS;
}

/* The class where a job of the row is cheapest, -1 if it may not run anywhere. */
static int cheapest(const Prices *prices, const double *share, int row, double *cost)
{
    const Relaxation *relaxation = prices->relaxation;
    int               classes = relaxation->classes;
    int               best = -1;
    *cost = INFINITY;
    for (int c = 0; c < classes; c++) {
        int    at = row * classes + c;
        double own = share[c] / relaxation->units[c] * relaxation->load[at] +
                     (1 - share[classes]) * relaxation->excess[at] +
                     share[classes] * relaxation->bytes[at];
        if (relaxation->alone[at] <= prices->limit && own < *cost) {
            best = c;
            *cost = own;
        }
    }
    return best;
}

/* Weak duality: what all jobs cost, each where it is cheapest; less what rounding may have added. */
static double assign(Prices *prices)
{
    const Relaxation *relaxation = prices->relaxation;
    int               classes = relaxation->classes;
    double            value = 0;
    memset(prices->load, 0, (size_t)classes * sizeof *prices->load);
    prices->excess = prices->bytes = 0;
    for (int r = 0; r < relaxation->rows; r++) {
        double cost;
        int    c = cheapest(prices, prices->share, r, &cost);
        if (c < 0) {
            return INFINITY;
        }
        int    at = r * classes + c;
        double count = relaxation->count[r];
        value += count * cost;
        prices->load[c] += count * relaxation->load[at];
        prices->excess += count * relaxation->excess[at];
        prices->bytes += count * relaxation->bytes[at];
    }
    value *= 1 - (relaxation->rows + classes) * DBL_EPSILON;
    return value - (1 - prices->share[classes]) * relaxation->free_switch;
}

/* Rows: what each class does, on average over its units; bytes; all parts of assignments together. The column is
 * the makespan. */
static void begin_program(Prices *prices)
{
    int     rows = prices->relaxation->classes + 2;
    double *row_upper = MER_ARRAY(prices->relaxation->arena, double, 3 * rows);
    double *row_lower = row_upper + rows, *value = row_lower + rows;
    int    *index = MER_ARRAY(prices->relaxation->arena, int, rows);
    for (int r = 0; r < rows; r++) {
        row_upper[r] = r == rows - 1;
        row_lower[r] = r == rows - 1 ? 1 : -INFINITY;
        value[r] = -1;
        index[r] = r;
    }
    if (prices->program) { /* of another limit */
        Clp_deleteModel(prices->program);
    }
    prices->program = Clp_newModel();
    prices->columns = 0;
    Clp_setLogLevel(prices->program, 0);
    Clp_resize(prices->program, rows, 0);
    Clp_chgRowLower(prices->program, row_lower);
    Clp_chgRowUpper(prices->program, row_upper);
    mer_clp_add_column(prices->program, -INFINITY, 1, rows - 1, index, value);
}

static void add_assignment(Prices *prices)
{
    const Relaxation *relaxation = prices->relaxation;
    int               classes = relaxation->classes;
    double           *value = MER_ARRAY(relaxation->arena, double, classes + 2);
    int              *index = MER_ARRAY(relaxation->arena, int, classes + 2);
    for (int r = 0; r < classes + 2; r++) {
        double cycles = r < classes ? prices->load[r] / relaxation->units[r] + prices->excess -
                                          relaxation->free_switch
                                    : prices->bytes;
        value[r] = r <= classes ? cycles / relaxation->scale : 1;
        index[r] = r;
    }
    mer_clp_add_column(prices->program, 0, 0, classes + 2, index, value);
    size_t size = (size_t)classes + 1;
    memcpy(prices->kept + (size_t)prices->columns * size, prices->share, size * sizeof(double));
    prices->columns++;
}

/* The best mixture of the assignments so far, and prices at which none of them is better. */
static void solve_program(Prices *prices)
{
    int           classes = prices->relaxation->classes;
    double        sum = 0;
    const double *price;
    Clp_primal(prices->program, 0);
    price = Clp_dualRowSolution(prices->program);
    prices->least = Clp_objectiveValue(prices->program) * prices->relaxation->scale;
    for (int c = 0; c <= classes; c++) {
        prices->proposed[c] = fmax(0, -price[c]);
        sum += prices->proposed[c];
    }
    for (int c = 0; c <= classes; c++) {
        prices->proposed[c] = sum > 0 ? prices->proposed[c] / sum : prices->center[c];
    }
}

/* Halfway from the best to the proposed; now and then all the way, which also tells when there is nothing left
 * to find. */
static void choose_prices(Prices *prices, int step)
{
    double part = step % 4 == 3 ? 1 : 0.5;
    double sum = 0;
    for (int c = 0; c <= prices->relaxation->classes; c++) {
        prices->share[c] = prices->center[c] + part * (prices->proposed[c] - prices->center[c]);
        sum += prices->share[c];
    }
    for (int c = 0; c <= prices->relaxation->classes; c++) {
        prices->share[c] /= sum;
    }
}

/* What no schedule of the allowed pairs can beat. With a question it is only of interest on which side of that
 * it lies. */
static double solve(Prices *prices, double limit, double question)
{
    size_t size = (size_t)prices->relaxation->classes + 1;
    prices->limit = limit;
    prices->best = -INFINITY;
    begin_program(prices);
    for (int step = 0; step < STEPS && !mer_is_cancelled(prices->relaxation->notes); step++) {
        if (step == 0) {
            memcpy(prices->share, prices->center, size * sizeof *prices->share);
        } else {
            choose_prices(prices, step);
        }
        double value = assign(prices);
        if (value > prices->best) {
            prices->best = value;
            memcpy(prices->center, prices->share, size * sizeof *prices->share);
        }
        if (isinf(value)) {
            break;
        }
        add_assignment(prices);
        solve_program(prices);
        if (prices->least - prices->best <= fine * prices->best || prices->best > question ||
            prices->least < question) {
            break;
        }
    }
    return prices->best;
}

/* As many jobs of each row to each class as the best mixture has. */
static void share_out(const Prices *prices, double *parts)
{
    const Relaxation *relaxation = prices->relaxation;
    int               classes = relaxation->classes;
    const double     *weight = Clp_primalColumnSolution(prices->program);
    for (int k = 0; k < prices->columns; k++) {
        const double *share = prices->kept + (size_t)k * ((size_t)classes + 1);
        for (int r = 0; r < relaxation->rows && weight[k + 1] > 0; r++) {
            double cost;
            int    c = cheapest(prices, share, r, &cost);
            parts[r * classes + c] += weight[k + 1] * relaxation->count[r];
        }
    }
}

/* The least limit that the relaxation without the pairs above it allows; up to there it allows none. */
static double find_limit(Prices *prices)
{
    double low = fmax(mer_relaxation_longest_job(prices->relaxation), solve(prices, INFINITY, NAN));
    double high = solve(prices, low, NAN);
    for (int i = 0; i < HALVINGS && high - low > coarse * low; i++) {
        double middle = low + (high - low) / 2;
        double value = solve(prices, middle, middle);
        low = value > middle ? middle : low;
        high = value > middle ? high : middle;
    }
    return low;
}

double mer_schedule_bound_by_prices(const Relaxation *relaxation, double *parts)
{
    size_t classes = (size_t)relaxation->classes;
    Prices prices = {.relaxation = relaxation,
                     .share = MER_ARRAY(relaxation->arena, double, classes + 1),
                     .proposed = MER_ARRAY(relaxation->arena, double, classes + 1),
                     .center = MER_ARRAY(relaxation->arena, double, classes + 1),
                     .load = MER_ARRAY(relaxation->arena, double, classes + 1),
                     .kept = MER_ARRAY(relaxation->arena, double, STEPS *(classes + 1))};
    for (size_t c = 0; c <= classes; c++) {
        prices.center[c] = 1.0 / (double)(classes + 1);
    }
    double bound = find_limit(&prices);
    if (parts) {
        memset(parts, 0, (size_t)relaxation->rows * classes * sizeof *parts);
        solve(&prices, bound * (1 + coarse), NAN);
        share_out(&prices, parts);
    }
    Clp_deleteModel(prices.program);
    return bound;
}
