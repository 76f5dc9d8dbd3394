/* One more column of a program. */
#ifndef MERCATOR_SCHEDULE_BOUND_CLP_COLUMN_H
#define MERCATOR_SCHEDULE_BOUND_CLP_COLUMN_H

#include <Clp_C_Interface.h>
#include <math.h>

static inline void mer_clp_add_column(Clp_Simplex *model, double lower, double cost, int count,
                                      const int *rows, const double *values)
{
    const CoinBigIndex starts[2] = {0, count};
    const double       upper = INFINITY;
    Clp_addColumns(model, 1, &lower, &upper, &cost, starts, rows, values);
}

#endif
