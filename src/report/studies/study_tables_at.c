/* Tables of a study after so many samples: quality, pairs, ratios; and what it cost. */
#include "report/studies/study_maker.h"

#include <math.h>

void mer_table_at(MerTableMaker *maker, int64_t samples)
{
    const MerStudyGroup *group = maker->group;
    MerStudyTable       *table = mer_table_begin(
              maker, mer_arena_format(maker->arena, "at-%lld", (long long)samples),
              mer_arena_format(maker->arena, "Quality at %lld samples", (long long)samples),
              "Objective over the best known of the layer: median of the seeds, then over the "
                    "layers. Wins: layers on which the "
                    "median is better, over all other optimizers, at equal samples.",
              5);
    mer_table_titles(table, "optimizer", ">samples", ">median (95 % interval)", ">geometric mean",
                     ">wins, losses", NULL);
    for (int m = 0; m < group->method_count; m++) {
        int     wins = 0, losses = 0;
        int64_t own = mer_least_samples(samples, group->methods[m].samples);
        for (int o = 0; o < group->method_count; o++) {
            int more, less;
            mer_fill_advantage(maker, m, o, mer_least_samples(own, group->methods[o].samples));
            mer_count_signs(maker, &more, &less);
            wins += more;
            losses += less;
        }
        mer_fill_quality(maker, m, own);
        mer_table_add(maker, group->methods[m].name);
        mer_table_add(maker, mer_arena_format(maker->arena, "%lld", (long long)own));
        mer_table_add(maker, mer_table_over_layers(maker));
        mer_table_add(maker, mer_table_real(mer_table_geomean(maker), maker->arena));
        mer_table_add(maker, mer_arena_format(maker->arena, "%d, %d", wins, losses));
    }
    mer_table_finish(maker);
}

void mer_table_pairs(MerTableMaker *maker, int64_t samples)
{
    const MerStudyGroup *group = maker->group;
    MerStudyTable       *table = mer_table_begin(
              maker, mer_arena_format(maker->arena, "pairs-%lld", (long long)samples),
              mer_arena_format(maker->arena, "Pairs at %lld samples", (long long)samples),
              "How many times better the optimizer of the row is than that of the column: median "
                    "over the layers of the ratio of "
                    "medians (layers won-lost), at the smallest of the budgets.",
              group->method_count + 1);
    table->titles[0] = "row / column";
    for (int m = 0; m < group->method_count; m++) {
        table->titles[m + 1] = mer_arena_format(maker->arena, ">%s", group->methods[m].name);
    }
    for (int m = 0; m < group->method_count; m++) {
        mer_table_add(maker, group->methods[m].name);
        for (int o = 0; o < group->method_count; o++) {
            int more, less;
            mer_fill_advantage(
                maker, m, o,
                mer_least_samples(samples, mer_least_samples(group->methods[m].samples,
                                                             group->methods[o].samples)));
            mer_count_signs(maker, &more, &less);
            mer_table_add(maker, m == o ? ""
                                        : mer_arena_format(
                                              maker->arena, "%s (%d-%d)",
                                              mer_table_real(mer_study_median(maker->values,
                                                                              group->layer_count),
                                                             maker->arena),
                                              more, less));
        }
    }
    mer_table_finish(maker);
}

void mer_table_ratios(MerTableMaker *maker, int64_t samples)
{
    const MerStudyGroup  *group = maker->group;
    const MerStudyMethod *reference = &group->methods[maker->reference];
    bool                  is_final = samples == INT64_MAX;
    const char           *when =
        is_final ? "the end" : mer_arena_format(maker->arena, "%lld samples", (long long)samples);
    MerStudyTable *table = mer_table_begin(
        maker,
        is_final ? "ratio-end" : mer_arena_format(maker->arena, "ratio-%lld", (long long)samples),
        mer_arena_format(maker->arena, "%s of %s over the optimizer's at %s", group->objective,
                         reference->name, when),
        "Ratio of the medians of the seeds at equal samples; above 1 the optimizer is better than "
        "the reference. Interval: 95 % "
        "bootstrap of the median over the layers.",
        6);
    mer_table_titles(table, "optimizer", ">at samples", ">median (95 % interval)",
                     ">geometric mean", ">least", ">largest", NULL);
    for (int m = 0; m < group->method_count; m++) {
        double  low, high;
        int64_t at = mer_least_samples(
            samples, mer_least_samples(group->methods[m].samples, reference->samples));
        if (m == maker->reference) {
            continue;
        }
        mer_fill_advantage(maker, m, maker->reference, at);
        mer_table_extremes(maker, &low, &high);
        mer_table_add(maker, group->methods[m].name);
        mer_table_add(maker, mer_arena_format(maker->arena, "%lld", (long long)at));
        mer_table_add(maker, mer_table_over_layers(maker));
        mer_table_add(maker, mer_table_real(mer_table_geomean(maker), maker->arena));
        mer_table_add(maker, mer_table_real(low, maker->arena));
        mer_table_add(maker, mer_table_real(high, maker->arena));
    }
    mer_table_finish(maker);
}

static double median_seconds(const MerTableMaker *maker, int layer, int method)
{
    const MerStudyCell *cell = mer_study_cell(maker->group, layer, method);
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
    MerStudyTable       *table = mer_table_begin(
              maker, "time",
              mer_arena_format(maker->arena, "Seconds to the final quality of %s", reference),
              "Wall clock of a cell (median), of the way to the target, and the whole time of the "
                    "reference "
                    "over it: median over the layers, a layer that is never finished counts as 0. As many "
                    "cells ran at "
                    "once as the machine had cores, and others may have used it.",
              5);
    mer_table_titles(table, "optimizer", ">s per cell", ">samples/s", ">s needed",
                     ">saving in time (95 % interval)", NULL);
    for (int m = 0; m < group->method_count; m++) {
        double *seconds = MER_ARRAY(maker->arena, double, group->layer_count);
        double *needed = MER_ARRAY(maker->arena, double, group->layer_count);
        double  samples = (double)group->methods[m].samples;
        for (int l = 0; l < group->layer_count; l++) {
            seconds[l] = median_seconds(maker, l, m);
            needed[l] = mer_reach_of(maker, l, m).samples / samples * seconds[l];
            maker->values[l] =
                isfinite(needed[l]) ? median_seconds(maker, l, maker->reference) / needed[l] : 0;
        }
        double each = mer_study_median(seconds, group->layer_count);
        double way = mer_study_median(needed, group->layer_count);
        mer_table_add(maker, group->methods[m].name);
        mer_table_add(maker, mer_arena_format(maker->arena, "%.3f", each));
        mer_table_add(maker, mer_arena_format(maker->arena, "%.0f", samples / each));
        mer_table_add(maker, isfinite(way) ? mer_arena_format(maker->arena, "%.4f", way) : "never");
        mer_table_add(maker, mer_table_over_layers(maker));
    }
    mer_table_finish(maker);
}

typedef struct Learned { /* what the cells of a method left in their logs */
    int     count, sparse, drifted;
    double *clustering, *agents;
} Learned;

static Learned gather(const MerTableMaker *maker, int method)
{
    const MerStudyGroup *group = maker->group;
    Learned              learned = {0};
    int                  capacity = 1;
    for (int l = 0; l < group->layer_count; l++) {
        capacity += mer_study_cell(group, l, method)->count;
    }
    learned.clustering = MER_ARRAY(maker->arena, double, capacity);
    learned.agents = MER_ARRAY(maker->arena, double, capacity);
    for (int l = 0; l < group->layer_count; l++) {
        const MerStudyCell *cell = mer_study_cell(group, l, method);
        for (int s = 0; s < cell->count; s++) {
            learned.clustering[learned.count] = (double)cell->traces[s].clustering;
            learned.agents[learned.count++] = (double)cell->traces[s].agents;
            learned.sparse += cell->traces[s].was_sparse;
            learned.drifted += cell->traces[s].has_drifted;
        }
    }
    return learned;
}

/* Only of methods that have agents or warned. */
void mer_table_agents(MerTableMaker *maker)
{
    const MerStudyGroup *group = maker->group;
    MerStudyTable       *table = mer_table_begin(
              maker, "agents", "Clusters and warnings",
              "Samples that went into the clusters and agents they gave (median of all cells, "
                    "and the range of agents); cells that warned. Optimizers with neither are left out.",
              6);
    mer_table_titles(table, "optimizer", ">clustering samples", ">agents", ">least-most agents",
                     ">sparse reward", ">correlation drift", NULL);
    for (int m = 0; m < group->method_count; m++) {
        Learned learned = gather(maker, m);
        int     n = learned.count;
        double  most = mer_quantile(learned.agents, n, 1);
        if (!(most > 0) && learned.sparse + learned.drifted == 0) {
            continue;
        }
        mer_table_add(maker, group->methods[m].name);
        mer_table_add(maker, most > 0
                                 ? mer_table_whole(mer_median(learned.clustering, n), maker->arena)
                                 : "-");
        mer_table_add(maker, most > 0 ? mer_table_whole(mer_median(learned.agents, n), maker->arena)
                                      : "-");
        mer_table_add(maker, most > 0 ? mer_arena_format(maker->arena, "%.0f-%.0f",
                                                         mer_quantile(learned.agents, n, 0), most)
                                      : "-");
        mer_table_add(maker, mer_arena_format(maker->arena, "%d of %d", learned.sparse, n));
        mer_table_add(maker, mer_arena_format(maker->arena, "%d of %d", learned.drifted, n));
    }
    mer_table_finish(maker);
}
