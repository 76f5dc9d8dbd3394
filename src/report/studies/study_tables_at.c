/* Tables of a study after so many samples: quality, pairs, ratios; and what it cost. */
#include "report/studies/study_maker.h"

#include <math.h>
#include <string.h>

void mer_table_at(MerTableMaker *maker, int64_t samples)
{
    const MerStudyGroup *group = maker->group;
    mer_table_begin(maker, mer_arena_format(maker->arena, "at-%lld", (long long)samples),
                    mer_arena_format(maker->arena, "Quality at %lld samples", (long long)samples),
                    "Objective over the best known of the task: median of the seeds, then over the "
                    "tasks. Wins: tasks on which the "
                    "median is better, over all other optimizers, at equal samples.",
                    "optimizer|>samples|>median (95 % interval)|>geometric mean|>wins, losses");
    for (int m = 0; m < group->method_count; m++) {
        int     wins = 0, losses = 0;
        int64_t own = mer_fill_advantage(maker, m, m, samples);
        for (int o = 0; o < group->method_count; o++) {
            int more, less;
            mer_fill_advantage(maker, m, o, samples);
            mer_count_signs(maker, &more, &less);
            wins += more;
            losses += less;
        }
        mer_fill_quality(maker, m, samples);
        mer_table_add(maker, group->methods[m].name);
        mer_table_print(maker, "%lld", (long long)own);
        mer_table_add(maker, mer_table_over_tasks(maker));
        mer_table_add(maker, mer_table_real(mer_table_geomean(maker), maker->arena));
        mer_table_print(maker, "%d, %d", wins, losses);
    }
}

void mer_table_pairs(MerTableMaker *maker, int64_t samples)
{
    const MerStudyGroup *group = maker->group;
    mer_table_begin_by_method(
        maker, mer_arena_format(maker->arena, "pairs-%lld", (long long)samples),
        mer_arena_format(maker->arena, "Pairs at %lld samples", (long long)samples),
        "How many times better the optimizer of the row is than that of the column: median over "
        "the tasks of the ratio of medians (tasks won-lost), at as many samples as both took.",
        "row / column");
    for (int m = 0; m < group->method_count; m++) {
        mer_table_add(maker, group->methods[m].name);
        for (int o = 0; o < group->method_count; o++) {
            int more, less;
            mer_fill_advantage(maker, m, o, samples);
            mer_count_signs(maker, &more, &less);
            mer_table_add(maker, m == o ? ""
                                        : mer_arena_format(
                                              maker->arena, "%s (%d-%d)",
                                              mer_table_real(mer_table_median(maker), maker->arena),
                                              more, less));
        }
    }
}

void mer_table_ratios(MerTableMaker *maker, int64_t samples)
{
    const MerStudyGroup  *group = maker->group;
    const MerStudyMethod *reference = &group->methods[maker->reference];
    bool                  is_final = samples == INT64_MAX;
    const char           *when =
        is_final ? "the end" : mer_arena_format(maker->arena, "%lld samples", (long long)samples);
    mer_table_begin(
        maker,
        is_final ? "ratio-end" : mer_arena_format(maker->arena, "ratio-%lld", (long long)samples),
        mer_arena_format(maker->arena, "%s of %s over the optimizer's at %s", group->objective,
                         reference->name, when),
        "Ratio of the medians of the seeds at equal samples; above 1 the optimizer is better than "
        "the reference. Interval: 95 % "
        "bootstrap of the median over the tasks.",
        "optimizer|>at samples|>median (95 % interval)|>geometric mean|>least|>largest");
    for (int m = 0; m < group->method_count; m++) {
        if (m == maker->reference) {
            continue;
        }
        int64_t     at = mer_fill_advantage(maker, m, maker->reference, samples);
        MerInterval range = mer_table_extremes(maker);
        mer_table_add(maker, group->methods[m].name);
        mer_table_print(maker, "%lld", (long long)at);
        mer_table_add(maker, mer_table_over_tasks(maker));
        mer_table_add(maker, mer_table_real(mer_table_geomean(maker), maker->arena));
        mer_table_add(maker, mer_table_real(range.low, maker->arena));
        mer_table_add(maker, mer_table_real(range.high, maker->arena));
    }
}

static double median_seconds(const MerTableMaker *maker, int task, int method)
{
    const MerStudyCell *cell = mer_study_cell(maker->group, task, method);
    double             *seconds = MER_ARRAY(maker->arena, double, cell->count + 1);
    for (int s = 0; s < cell->count; s++) {
        seconds[s] = cell->traces[s].wall_s;
    }
    return mer_median(seconds, cell->count);
}

/* The same as samples to the reference's quality, on the clock: samples are taken to cost alike. */
void mer_table_time(MerTableMaker *maker)
{
    const MerStudyGroup *group = maker->group;
    const char          *reference = group->methods[maker->reference].name;
    mer_table_begin(
        maker, "time",
        mer_arena_format(maker->arena, "Seconds to the final quality of %s", reference),
        "Wall clock of a cell (median), of the way to the target, and the whole time of the "
        "reference "
        "over it: median over the tasks, a task that is never finished counts as 0. As many "
        "cells ran at "
        "once as the machine had processors, and others may have used it.",
        "optimizer|>s per cell|>samples/s|>s needed|>saving in time (95 % interval)");
    for (int m = 0; m < group->method_count; m++) {
        double *seconds = MER_ARRAY(maker->arena, double, group->task_count);
        double *rates = MER_ARRAY(maker->arena, double, group->task_count);
        double *needed = MER_ARRAY(maker->arena, double, group->task_count);
        for (int t = 0; t < group->task_count; t++) {
            seconds[t] = median_seconds(maker, t, m);
            rates[t] = mer_cell_samples(mer_study_cell(group, t, m)) / seconds[t];
            needed[t] = mer_reach_of(maker, t, m).samples / rates[t];
            maker->values[t] =
                isfinite(needed[t]) ? median_seconds(maker, t, maker->reference) / needed[t] : 0;
        }
        double each = mer_study_median(seconds, group->task_count);
        double way = mer_study_median(needed, group->task_count);
        mer_table_add(maker, group->methods[m].name);
        mer_table_print(maker, "%.3f", each);
        mer_table_print(maker, "%.0f", mer_study_median(rates, group->task_count));
        mer_table_add(maker, isfinite(way) ? mer_arena_format(maker->arena, "%.4f", way) : "never");
        mer_table_add(maker, mer_table_over_tasks(maker));
    }
}

/* How many times the worst seed of a method is above its best one on a task, at the end. */
static double spread_of(const MerTableMaker *maker, int task, int method)
{
    const MerStudyCell *cell = mer_study_cell(maker->group, task, method);
    double             *scores = MER_ARRAY(maker->arena, double, cell->count + 1);
    int                 count = mer_cell_best(cell, INT64_MAX, scores);
    double least = mer_quantile(scores, count, 0), most = mer_quantile(scores, count, 1);
    return isfinite(most) ? mer_study_ratio(most, least) : most;
}

/* A method whose answer depends on its seed is a risk that medians hide. */
void mer_table_seeds(MerTableMaker *maker)
{
    const double         wide = 1.05;
    const MerStudyGroup *group = maker->group;
    if (mer_study_most_seeds(group) < 2) {
        return;
    }
    mer_table_begin(
        maker, "seeds", "Variance between seeds",
        "The worst seed's final value over the best seed's, per task. Wide: tasks on which it is "
        "above 1.05; there one run says little.",
        "optimizer|>median (95 % interval)|>largest|>wide");
    for (int m = 0; m < group->method_count; m++) {
        int count = 0;
        for (int t = 0; t < group->task_count; t++) {
            maker->values[t] = spread_of(maker, t, m);
            count += maker->values[t] > wide;
        }
        mer_table_add(maker, group->methods[m].name);
        mer_table_add(maker, mer_table_over_tasks(maker));
        mer_table_add(maker, mer_table_real(mer_table_extremes(maker).high, maker->arena));
        mer_table_print(maker, "%d of %d", count, group->task_count);
    }
}

enum { MOST_NAMES = 24 };

typedef struct Noted {    /* of one name: what the cells of a method left in their logs */
    int     count, cells; /* cells that have it, of so many */
    double *values;
} Noted;

static int find_name(const MerStudyFact *names, int count, const MerStudyFact *fact)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(names[i].name, fact->name) == 0 && isnan(names[i].value) == isnan(fact->value)) {
            return i;
        }
    }
    return -1;
}

/* Numbers first, then warnings, each in the order they are met. */
static int list_names(const MerStudyGroup *group, MerStudyFact names[MOST_NAMES])
{
    int count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < group->task_count * group->method_count; i++) {
            for (int s = 0; s < group->cells[i].count; s++) {
                const MerStudyTrace *trace = &group->cells[i].traces[s];
                for (int f = 0; f < trace->fact_count; f++) {
                    const MerStudyFact *fact = &trace->facts[f];
                    if (isnan(fact->value) == (pass == 1) && count < MOST_NAMES &&
                        find_name(names, count, fact) < 0) {
                        names[count++] = *fact;
                    }
                }
            }
        }
    }
    return count;
}

static Noted gather(const MerTableMaker *maker, int method, const MerStudyFact *name)
{
    const MerStudyGroup *group = maker->group;
    Noted                noted = {0};
    int                  capacity = 1;
    for (int t = 0; t < group->task_count; t++) {
        capacity += mer_study_cell(group, t, method)->count;
    }
    noted.values = MER_ARRAY(maker->arena, double, capacity);
    for (int t = 0; t < group->task_count; t++) {
        const MerStudyCell *cell = mer_study_cell(group, t, method);
        for (int s = 0; s < cell->count; s++) {
            const MerStudyTrace *trace = &cell->traces[s];
            noted.cells++;
            for (int f = 0; f < trace->fact_count; f++) {
                if (find_name(name, 1, &trace->facts[f]) == 0) {
                    noted.values[noted.count++] = trace->facts[f].value;
                }
            }
        }
    }
    return noted;
}

static const char *noted_text(const MerTableMaker *maker, int method, const MerStudyFact *name)
{
    Noted noted = gather(maker, method, name);
    if (isnan(name->value)) {
        return mer_arena_format(maker->arena, "%d of %d", noted.count, noted.cells);
    }
    return noted.count == 0 ? "-"
                            : mer_arena_format(maker->arena, "%.4g (%.4g-%.4g)",
                                               mer_median(noted.values, noted.count),
                                               mer_quantile(noted.values, noted.count, 0),
                                               mer_quantile(noted.values, noted.count, 1));
}

/* Only of methods that left something. */
void mer_table_noted(MerTableMaker *maker)
{
    const MerStudyGroup *group = maker->group;
    MerStudyFact         names[MOST_NAMES];
    int                  count = list_names(group, names);
    if (count == 0) {
        return;
    }
    mer_table_begin(maker, "noted", "What the optimizers noted",
                    "Numbers: median of all cells (least-most). Warnings: cells that warned. "
                    "Optimizers with neither are left out.",
                    "optimizer");
    for (int n = 0; n < count; n++) {
        mer_table_add_column(maker, mer_arena_format(maker->arena, ">%s", names[n].name));
    }
    for (int m = 0; m < group->method_count; m++) {
        int found = 0;
        for (int n = 0; n < count; n++) {
            found += gather(maker, m, &names[n]).count;
        }
        if (found == 0) {
            continue;
        }
        mer_table_add(maker, group->methods[m].name);
        for (int n = 0; n < count; n++) {
            mer_table_add(maker, noted_text(maker, m, &names[n]));
        }
    }
}
