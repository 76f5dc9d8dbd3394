/* Cells of comma-separated tables. */
#ifndef MERCATOR_BASE_CSV_CELL_H
#define MERCATOR_BASE_CSV_CELL_H

#include <stdio.h>

/* A text in quotes, as names of layers may hold commas; quotes inside are doubled (RFC 4180). */
void mer_csv_cell(FILE *file, const char *text);

#endif
