/* The bound of schedule_bound.h: the largest limit that no schedule keeps to. At a limit, the least excess says
 * how much virtual time is left, into which the jobs of every core must fit; that may raise the least excess
 * in turn. */
#include "schedule/bound/configuration_program.h"

#include <math.h>

/* Of work, about a quarter of a second; beyond, the best bound so far is the answer. Programs with more kinds of
 * jobs would not be solved with it. */
enum { MOST_WORK = 6000000, MOST_ROWS = 256 };

static const double fine = 1e-4; /* the search ends at this part of the bound */

typedef struct Search {
    Columns columns;
    double  low, high;   /* no schedule is below, and none is known to be impossible from here on */
    double  high_excess; /* the least at `high`, so also below it */
} Search;

/* Whether no schedule keeps to the limit; else the least excess. */
static bool is_impossible(Search *search, double limit, double *excess)
{
    enum { ROUNDS = 4 };
    const double rounded = 1e-12;
    *excess = search->high_excess;
    for (int round = 0; round < ROUNDS; round++) {
        double left = (limit - *excess) * (1 + rounded);
        double value = mer_columns_solve(&search->columns, limit, left, COLUMNS_QUESTION);
        if (value > limit * (1 + rounded)) {
            return true;
        }
        double more = mer_columns_solve(&search->columns, limit, left, COLUMNS_EXCESS);
        if (more <= *excess + fine * limit) {
            break;
        }
        *excess = more * (1 - rounded);
    }
    return false;
}

/* Upwards by growing steps until a limit is not impossible, then between the two. */
static void find_limit(Search *search)
{
    double step = 3 * fine;
    while (search->high - search->low > fine * search->low &&
           !mer_columns_are_exhausted(&search->columns)) {
        double limit =
            isinf(search->high) ? search->low * (1 + step) : (search->low + search->high) / 2;
        double excess;
        if (is_impossible(search, limit, &excess)) {
            search->low = limit;
            step *= 4;
        } else {
            search->high = limit;
            search->high_excess = excess;
        }
    }
}

double mer_schedule_bound_by_configurations(const Relaxation *relaxation, double bound)
{
    const double wide = 1.05; /* of the first program */
    Search      *search = MER_NEW(relaxation->arena, Search);
    Columns     *columns = &search->columns;
    if (relaxation->rows > MOST_ROWS || !mer_columns_begin(columns, relaxation)) {
        return bound;
    }
    columns->most_work = MOST_WORK;
    columns->tolerance = fine / 100;
    double value = mer_columns_solve(columns, wide * bound, INFINITY, COLUMNS_VALUE);
    search->low = fmax(bound, fmin(value, wide * bound));
    search->high = INFINITY;
    find_limit(search);
    if (isinf(search->high)) {
        return search->low;
    }
    columns->tolerance = 1e-12;
    value =
        mer_columns_solve(columns, search->high, search->high - search->high_excess, COLUMNS_VALUE);
    return fmax(search->low, fmin(value, search->high));
}
