/* What the tables of a study are made with. */
#include "report/studies/study_maker.h"

#include <math.h>
#include <stdarg.h>

MerStudyTable *mer_table_begin(MerTableMaker *maker, const char *id, const char *title,
                               const char *caption, int columns)
{
    if (maker->count == MER_STUDY_TABLES) {
        maker->count--;
    }
    MerStudyTable *table = &maker->tables[maker->count++];
    *table = (MerStudyTable){.id = id,
                             .title = title,
                             .caption = caption,
                             .columns = columns,
                             .titles = MER_ARRAY(maker->arena, const char *, columns)};
    return table;
}

/* Fills the titles in order; NULL ends the list. */
void mer_table_titles(MerStudyTable *table, ...)
{
    va_list list;
    va_start(list, table);
    const char *title = va_arg(list, const char *);
    for (int c = 0; title && c < table->columns; c++, title = va_arg(list, const char *)) {
        table->titles[c] = title;
    }
    va_end(list);
}

void mer_table_add(MerTableMaker *maker, const char *text)
{
    MerStudyTable *table = &maker->tables[maker->count - 1];
    if (table->row_count == table->capacity) {
        table->capacity = table->capacity * 2 + table->columns * 8;
        const char **grown = MER_ARRAY(maker->arena, const char *, table->capacity);
        for (int i = 0; i < table->row_count; i++) {
            grown[i] = table->cells[i];
        }
        table->cells = grown;
    }
    table->cells[table->row_count++] = text; /* counts cells until the table is finished */
}

void mer_table_finish(MerTableMaker *maker)
{
    MerStudyTable *table = &maker->tables[maker->count - 1];
    table->row_count /= table->columns;
}

const char *mer_table_real(double value, MerArena *arena)
{
    if (isnan(value)) {
        return "-";
    }
    double size = fabs(value);
    int    places = size >= 100 ? 0 : size >= 10 ? 1 : size >= 2 ? 2 : 3;
    return isinf(value) ? "none" : mer_arena_format(arena, "%.*f", places, value);
}

const char *mer_table_with_interval(double value, MerInterval interval, MerArena *arena)
{
    return mer_arena_format(arena, "%s (%s-%s)", mer_table_real(value, arena),
                            mer_table_real(interval.low, arena),
                            mer_table_real(interval.high, arena));
}

const char *mer_table_whole(double value, MerArena *arena)
{
    return isfinite(value) ? mer_arena_format(arena, "%.0f", value) : "never";
}

/* Median over the tasks of values[0 .. tasks-1], with its interval. */
const char *mer_table_over_tasks(const MerTableMaker *maker)
{
    int n = maker->group->task_count;
    return mer_table_with_interval(mer_study_median(maker->values, n),
                                   mer_study_interval(maker->values, n), maker->arena);
}

double mer_table_geomean(const MerTableMaker *maker)
{
    double sum = 0;
    for (int t = 0; t < maker->group->task_count; t++) {
        sum += log(maker->values[t]);
    }
    return exp(sum / maker->group->task_count);
}

void mer_table_extremes(const MerTableMaker *maker, double *low, double *high)
{
    *low = INFINITY;
    *high = -INFINITY;
    for (int t = 0; t < maker->group->task_count; t++) {
        *low = fmin(*low, maker->values[t]);
        *high = fmax(*high, maker->values[t]);
    }
}

/* values[task] = what the method's median has over the best known after so many samples. */
void mer_fill_quality(const MerTableMaker *maker, int method, int64_t samples)
{
    for (int t = 0; t < maker->group->task_count; t++) {
        double score = mer_cell_median(mer_study_cell(maker->group, t, method), samples);
        maker->values[t] = mer_study_ratio(score, maker->group->tasks[t].best);
    }
}

/* values[task] = how many times better the first method's median is than the second's. */
void mer_fill_advantage(const MerTableMaker *maker, int method, int against, int64_t samples)
{
    for (int t = 0; t < maker->group->task_count; t++) {
        double own = mer_cell_median(mer_study_cell(maker->group, t, method), samples);
        double other = mer_cell_median(mer_study_cell(maker->group, t, against), samples);
        bool   has_none = isinf(own) && isinf(other);
        maker->values[t] = has_none ? 1 : isinf(own) ? 0 : mer_study_ratio(other, own);
    }
}

void mer_count_signs(const MerTableMaker *maker, int *more, int *less)
{
    *more = *less = 0;
    for (int t = 0; t < maker->group->task_count; t++) {
        *more += maker->values[t] > 1 + 1e-12;
        *less += maker->values[t] < 1 - 1e-12;
    }
}

int64_t mer_least_samples(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

MerReach mer_reach_of(const MerTableMaker *maker, int task, int method)
{
    double target =
        mer_cell_median(mer_study_cell(maker->group, task, maker->reference), INT64_MAX);
    const MerStudyCell *cell = mer_study_cell(maker->group, task, method);
    double             *samples = MER_ARRAY(maker->arena, double, cell->count + 1);
    int                 n = mer_cell_reach(cell, isfinite(target) ? target : -INFINITY, samples);
    MerReach            reach = {mer_study_median(samples, n), n, 0};
    for (int s = 0; s < n; s++) {
        reach.reached += isfinite(samples[s]);
    }
    return reach;
}

/* When each seed of the reference found what it ended with: median over its seeds. */
double mer_own_reach(const MerTableMaker *maker, int task)
{
    const MerStudyCell *cell = mer_study_cell(maker->group, task, maker->reference);
    double             *samples = MER_ARRAY(maker->arena, double, cell->count + 1);
    for (int s = 0; s < cell->count; s++) {
        samples[s] = mer_trace_reach(&cell->traces[s], mer_trace_best(&cell->traces[s], INT64_MAX));
    }
    return mer_study_median(samples, cell->count);
}
