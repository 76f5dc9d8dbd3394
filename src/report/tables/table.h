/* Tables for a terminal: aligned columns, numbers with engineering units.
 *
 *     MerTextTable *table = mer_text_table_new(arena, 2, (const char *[]){"task", ">energy"});
 *     mer_text_table_add(table, "conv1");
 *     mer_text_table_add_real(table, 7.0618e8, "pJ");
 *     mer_text_table_print(table, stdout);
 */
#ifndef MERCATOR_REPORT_TABLES_TABLE_H
#define MERCATOR_REPORT_TABLES_TABLE_H

#include "base/engineering.h"
#include "mercator/arena.h"

#include <stdint.h>
#include <stdio.h>

typedef struct MerTextTable MerTextTable;

/* A title that starts with `>` makes a right-aligned column, `=` one whose texts are never shortened. One with a `~` before all that is left out
 * where a terminal is too narrow, sooner with two of them. Before, names are shortened, and
 * those of the last column broken into lines. What goes to no terminal is never cut. */
MerTextTable *mer_text_table_new(MerArena *arena, int column_count, const char *const *titles);
/* The next cell, row by row; copies the text, NULL is an empty cell. */
void mer_text_table_add(MerTextTable *table, const char *text);
/* As many texts as there are columns. */
void mer_text_table_add_row(MerTextTable *table, const char *const *texts);
void mer_text_table_add_int(MerTextTable *table, int64_t value); /* with digit groups */
void mer_text_table_add_real(MerTextTable *table, double value, const char *unit);
void mer_text_table_add_percent(MerTextTable *table, double share); /* 0.0703 -> 7.03 % */
void mer_text_table_print(const MerTextTable *table, FILE *file);

#endif
