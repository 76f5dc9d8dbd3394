/* Tables of a space in which groups of operators go to units, as the policies that place them read them. Which tables there are:
 * docs/placement.md, "Tables". */
#ifndef MERCATOR_OPT_UNIT_TABLES_H
#define MERCATOR_OPT_UNIT_TABLES_H

#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/space.h"

/* Table `name` of `columns` columns and *rows rows; -1: any number, which *rows then is. Refuses, in the name of `who`, a
 * space that lacks it. The numbers stay those of the space. */
MerStatus mer_unit_table(const MerSpace *space, const char *who, const char *name, int columns,
                         int *rows, const double **values, MerError *error);

/* The least of each row of `time`, 0 where nothing is allowed. */
const double *mer_unit_least(int rows, int units, const double *time, MerArena *arena);

/* The unit that a choice of a knob stands for. */
static inline int mer_knob_unit(const MerKnob *knob, int choice)
{
    return knob->values != NULL ? (int)knob->values[choice] : choice;
}

/* Lists by counting: item i (or item[i]) goes to list key[i], in this order; keys below 0 are left out. List l is
 * items[start[l]] .. items[start[l + 1] - 1]. */
void mer_unit_lists(int count, const int *key, const int *item, int lists, MerArena *arena,
                    const int **start, const int **items);

#endif
