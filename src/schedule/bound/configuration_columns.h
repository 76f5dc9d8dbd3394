/* Inside of configuration_program.c: its rows and columns, written down for CLP. */
#ifndef MERCATOR_SCHEDULE_BOUND_CONFIGURATION_COLUMNS_H
#define MERCATOR_SCHEDULE_BOUND_CONFIGURATION_COLUMNS_H

#include "schedule/bound/configuration_program.h"

#include <Clp_C_Interface.h>

/* The row of the program that a job on a class counts for. */
int mer_columns_row(const Columns *columns, int row, int class);
/* Cost in the objective; what the time row counts is always the whole. */
ConfigurationCost mer_columns_cost(const Columns *columns, double time_price);
/* All rows, which can be met at a high price, and no columns. */
Clp_Simplex *mer_columns_new_model(const Columns *columns);
/* Adds the columns that came since the last time, as far as they keep to the limits. */
void mer_columns_load(Clp_Simplex *model, Columns *columns);

#endif
