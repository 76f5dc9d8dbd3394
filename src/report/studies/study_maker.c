/* What the tables of a study are made with. */
#include "report/studies/study_maker.h"

#include <math.h>
#include <string.h>

void mer_table_add_column(MerTableMaker *maker, const char *title)
{
    MerStudyTable *table = &maker->tables[maker->count - 1];
    MER_GROW(maker->arena, table->titles, table->columns);
    table->titles[table->columns++] = title;
}

void mer_table_begin(MerTableMaker *maker, const char *id, const char *title, const char *caption,
                     const char *titles)
{
    if (maker->count == MER_STUDY_TABLES) {
        maker->count--;
    }
    MerStudyTable *table = &maker->tables[maker->count++];
    *table = (MerStudyTable){.id = id, .title = title, .caption = caption};
    char *rest = NULL;
    for (char *part = strtok_r(mer_arena_text(maker->arena, titles), "|", &rest); part;
         part = strtok_r(NULL, "|", &rest)) {
        mer_table_add_column(maker, part);
    }
}

void mer_table_begin_by_method(MerTableMaker *maker, const char *id, const char *title,
                               const char *caption, const char *first)
{
    mer_table_begin(maker, id, title, caption, first);
    for (int m = 0; m < maker->group->method_count; m++) {
        const char *name = maker->group->methods[m].name;
        mer_table_add_column(maker, mer_arena_format(maker->arena, ">%s", name));
    }
}

void mer_table_add(MerTableMaker *maker, const char *text)
{
    MerStudyTable *table = &maker->tables[maker->count - 1];
    MER_GROW(maker->arena, table->cells, table->cell_count);
    table->cells[table->cell_count++] = text;
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
    const char *text = mer_table_real(value, arena);
    return isnan(interval.low) && isnan(interval.high)
               ? text
               : mer_arena_format(arena, "%s (%s-%s)", text, mer_table_real(interval.low, arena),
                                  mer_table_real(interval.high, arena));
}

const char *mer_table_whole(double value, MerArena *arena)
{
    return isfinite(value) ? mer_arena_format(arena, "%.0f", value) : "never";
}

/* The values that are not NaN. */
static double *get_known(const MerTableMaker *maker, int *count)
{
    double *known = MER_ARRAY(maker->arena, double, maker->group->task_count + 1);
    *count = 0;
    for (int t = 0; t < maker->group->task_count; t++) {
        known[*count] = maker->values[t];
        *count += !isnan(maker->values[t]);
    }
    return known;
}

double mer_table_median(const MerTableMaker *maker)
{
    int     count;
    double *known = get_known(maker, &count);
    return count > 0 ? mer_study_median(known, count) : INFINITY;
}

const char *mer_table_over_tasks(const MerTableMaker *maker)
{
    int     count;
    double *known = get_known(maker, &count);
    return mer_table_with_interval(mer_table_median(maker), mer_study_interval(known, count),
                                   maker->arena);
}

double mer_table_geomean(const MerTableMaker *maker)
{
    int     count;
    double *known = get_known(maker, &count), sum = 0;
    for (int i = 0; i < count; i++) {
        sum += log(known[i]);
    }
    return count > 0 ? exp(sum / count) : INFINITY;
}

MerInterval mer_table_extremes(const MerTableMaker *maker)
{
    MerInterval range = {INFINITY, -INFINITY};
    for (int t = 0; t < maker->group->task_count; t++) {
        range.low = fmin(range.low, maker->values[t]);
        range.high = fmax(range.high, maker->values[t]);
    }
    return range;
}

/* values[task] = what the method's median has over the best known after so many samples. */
void mer_fill_quality(const MerTableMaker *maker, int method, int64_t samples)
{
    for (int t = 0; t < maker->group->task_count; t++) {
        double score = mer_cell_median(mer_study_cell(maker->group, t, method), samples);
        maker->values[t] = mer_study_ratio(score, maker->group->tasks[t].best);
    }
}

int64_t mer_equal_samples(const MerTableMaker *maker, int task, int method, int against,
                          int64_t samples)
{
    int64_t own = mer_cell_until(mer_study_cell(maker->group, task, method));
    int64_t other = mer_cell_until(mer_study_cell(maker->group, task, against));
    int64_t least = own < other ? own : other;
    return least < samples ? least : samples;
}

int64_t mer_fill_advantage(const MerTableMaker *maker, int method, int against, int64_t samples)
{
    const MerStudyGroup *group = maker->group;
    double              *equal = MER_ARRAY(maker->arena, double, group->task_count + 1);
    int                  count = 0;
    for (int t = 0; t < group->task_count; t++) {
        int64_t at = mer_equal_samples(maker, t, method, against, samples);
        double  own = mer_cell_median(mer_study_cell(group, t, method), at);
        double  other = mer_cell_median(mer_study_cell(group, t, against), at);
        bool    has_none = isinf(own) && isinf(other);
        equal[count] = (double)at;
        count += !isnan(own) && !isnan(other);
        maker->values[t] = has_none ? NAN : isinf(own) ? 0 : mer_study_ratio(other, own);
    }
    return count > 0 ? (int64_t)mer_median(equal, count) : 0;
}

void mer_count_signs(const MerTableMaker *maker, int *more, int *less)
{
    *more = *less = 0;
    for (int t = 0; t < maker->group->task_count; t++) {
        *more += maker->values[t] > 1 + 1e-12;
        *less += maker->values[t] < 1 - 1e-12;
    }
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
