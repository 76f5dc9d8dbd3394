/* Tables and lists that placing policies share. */
#include "opt/unit_tables.h"

#include <math.h>

MerStatus mer_unit_table(const MerSpace *space, const char *who, const char *name, int columns,
                         int *rows, const double **values, MerError *error)
{
    const MerTable *table = mer_space_table(space, name);
    if (table == NULL) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s: the space has no table \"%s\", expected one of groups of "
                             "operators that go to units",
                             who, name);
    }
    if (table->columns != columns || (*rows >= 0 && table->rows != *rows)) {
        return mer_error_set(
            error, MER_UNSUPPORTED, "%s: table \"%s\" of the space is %d x %d, expected %d x %d",
            who, name, table->rows, table->columns, *rows >= 0 ? *rows : table->rows, columns);
    }
    *rows = table->rows;
    *values = table->values;
    return MER_OK;
}

const double *mer_unit_least(int rows, int units, const double *time, MerArena *arena)
{
    double *least = MER_ARRAY(arena, double, rows + 1);
    for (int i = 0; i < rows; i++) {
        least[i] = INFINITY;
        for (int u = 0; u < units; u++) {
            least[i] = fmin(least[i], time[(int64_t)i * units + u]);
        }
        least[i] = isfinite(least[i]) ? least[i] : 0;
    }
    return least;
}

void mer_unit_lists(int count, const int *key, const int *item, int lists, MerArena *arena,
                    const int **start, const int **items)
{
    int *first = MER_ARRAY(arena, int, lists + 2), *list = MER_ARRAY(arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        if (key[i] >= 0) {
            first[key[i] + 2]++;
        }
    }
    for (int l = 2; l <= lists + 1; l++) {
        first[l] += first[l - 1];
    }
    for (int i = 0; i < count; i++) {
        if (key[i] >= 0) {
            list[first[key[i] + 1]++] = item != NULL ? item[i] : i;
        }
    }
    *start = first;
    *items = list;
}
