/* The rows of a sweep's table: runs that differ in their seed are one row of medians, and a row is held against those of
 * the same network, evaluator and objective alone: energies of two networks say nothing of a platform. */
#include "cli/sweep.h"

#include "base/stats.h"
#include "run/experiment/cells.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

void mer_sweep_axes(const MerCellTotal *result, double axes[2])
{
    const double *best = result->total.best.value;
    axes[0] = best[MER_METRIC_ENERGY];
    axes[1] = best[isnan(best[MER_METRIC_LATENCY]) ? MER_METRIC_CYCLES : MER_METRIC_LATENCY];
    if (isnan(axes[0]) || isnan(axes[1])) {
        axes[0] = axes[1] = result->total.score;
    }
}

/* All that was asked for but the seed, the network and the platform, which are compared by themselves. */
static const char *setting_of(const MerRunSpec *spec, MerArena *arena)
{
    MerRunSpec plain = *spec;
    plain.seed = 0;
    plain.platform = NULL;
    plain.problem_options = NULL; /* they may hold the seed; others come with the network */
    return mer_cell_identity(&plain, arena);
}

static bool is_same_group(const MerRunSpec *a, const MerRunSpec *b)
{
    return a->graph == b->graph && strcmp(a->evaluator_text, b->evaluator_text) == 0 &&
           strcmp(a->objective, b->objective) == 0;
}

/* Rows of one platform stand together. */
static int find_row(const MerSweepTable *table, const MerSweepRow *wanted)
{
    for (int r = table->count - 1; r >= 0; r--) {
        const MerSweepRow *row = &table->rows[r];
        if (row->spec->graph != wanted->spec->graph || row->platform != wanted->platform ||
            row->combination != wanted->combination) {
            return -1;
        }
        if (row->group == wanted->group && strcmp(row->setting, wanted->setting) == 0) {
            return r;
        }
    }
    return -1;
}

static int group_of(const MerSweepTable *table, const MerRunSpec *spec)
{
    int groups = 0;
    for (int r = 0; r < table->count; r++) {
        if (is_same_group(table->rows[r].spec, spec)) {
            return table->rows[r].group;
        }
        groups = table->rows[r].group >= groups ? table->rows[r].group + 1 : groups;
    }
    return groups;
}

/* Where the name of a platform says what the sweep has set. */
static const char *swept_part(const MerExperiment *experiment, const char *name, MerArena *arena)
{
    const char *first = mer_arena_format(arena, " %s=", experiment->sweeps[0].path);
    const char *at = strstr(name, first);
    return at ? at : name + strlen(name);
}

/* Platforms vary slower than all but the networks. */
static void add_runs(const MerExperiment *experiment, const MerRunSpec *specs, int count,
                     MerSweepTable *table, MerArena *arena)
{
    int combinations = 1, platform = -1;
    for (int s = 0; s < experiment->sweep_count; s++) {
        combinations *= experiment->sweeps[s].values.count;
    }
    for (int i = 0; i < count; i++) {
        bool is_next = i > 0 && specs[i].graph != specs[i - 1].graph;
        platform = is_next ? -1 : platform;
        platform += is_next || i == 0 || specs[i].platform != specs[i - 1].platform;
        const char *name = specs[i].platform->name;
        const char *swept = swept_part(experiment, name, arena);
        MerSweepRow row = {.spec = &specs[i],
                           .base = mer_arena_text_n(arena, name, (size_t)(swept - name)),
                           .swept = swept + (*swept == ' '),
                           .setting = setting_of(&specs[i], arena),
                           .platform = platform / combinations,
                           .combination = platform % combinations,
                           .group = group_of(table, &specs[i])};
        int         at = find_row(table, &row);
        if (at < 0) {
            at = table->count++;
            table->rows[at] = row;
        }
        table->rows[at].runs++;
        table->row_of[i] = at;
    }
}

static double median_at(const MerCellTotal *const *runs, int count, size_t offset, double *values)
{
    for (int i = 0; i < count; i++) {
        memcpy(&values[i], (const char *)runs[i] + offset, sizeof *values);
        if (isnan(values[i])) {
            return NAN;
        }
    }
    return mer_median(values, count);
}

/* Of the runs that found something, if they are more than half. */
static void fill_median(const MerSweepTable *table, int row, const MerCellTotal *results, int count,
                        MerArena *arena)
{
    MerSweepRow         *filled = &table->rows[row];
    const MerCellTotal **runs = MER_ARRAY(arena, const MerCellTotal *, filled->runs);
    double              *values = MER_ARRAY(arena, double, filled->runs);
    int                  found = 0;
    for (int i = 0; i < count; i++) {
        if (table->row_of[i] == row && results[i].is_feasible) {
            runs[found++] = &results[i];
        }
    }
    filled->found = found;
    filled->median.is_feasible = 2 * found > filled->runs;
    if (!filled->median.is_feasible) {
        return;
    }
    MerTaskResult *total = &filled->median.total;
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        total->best.value[m] =
            median_at(runs, found, offsetof(MerCellTotal, total.best.value[m]), values);
    }
    total->score = median_at(runs, found, offsetof(MerCellTotal, total.score), values);
    total->value = median_at(runs, found, offsetof(MerCellTotal, total.value), values);
    total->gap = median_at(runs, found, offsetof(MerCellTotal, total.gap), values);
}

/* Nothing in its group is at least as good on both axes and better on one, or equal and further up. */
static bool is_on_front(const MerSweepTable *table, int at)
{
    const MerSweepRow *row = &table->rows[at];
    double             own[2], other[2];
    mer_sweep_axes(&row->median, own);
    for (int r = 0; r < table->count; r++) {
        const MerCellTotal *rival = &table->rows[r].median;
        mer_sweep_axes(rival, other);
        bool is_better = other[0] < own[0] || other[1] < own[1] || r < at;
        if (table->rows[r].group == row->group && rival->is_feasible && other[0] <= own[0] &&
            other[1] <= own[1] && is_better) {
            return false;
        }
    }
    return row->median.is_feasible;
}

MerSweepTable mer_sweep_rows(const MerExperiment *experiment, const MerRunSpec *specs,
                             const MerCellTotal *results, int count, MerArena *arena)
{
    MerSweepTable table = {.rows = MER_ARRAY(arena, MerSweepRow, count),
                           .row_of = MER_ARRAY(arena, int, count)};
    add_runs(experiment, specs, count, &table, arena);
    for (int r = 0; r < table.count; r++) {
        fill_median(&table, r, results, count, arena);
    }
    for (int r = 0; r < table.count; r++) {
        table.rows[r].is_on_front = is_on_front(&table, r);
    }
    return table;
}
