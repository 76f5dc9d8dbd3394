/* The table of a hardware sweep. */
#include "cli/sweep.h"

#include "base/output.h"
#include "mercator/text.h"
#include "report/tables/csv.h"
#include "report/tables/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int mer_sweep_combinations(const MerExperiment *experiment)
{
    int combinations = 1;
    for (int s = 0; s < experiment->sweep_count; s++) {
        combinations *= experiment->sweeps[s].values.count;
    }
    return combinations;
}

void mer_sweep_axes(const MerCellTotal *result, double axes[2])
{
    const double *best = result->total.best.value;
    axes[0] = best[MER_METRIC_ENERGY];
    axes[1] = best[isnan(best[MER_METRIC_LATENCY]) ? MER_METRIC_CYCLES : MER_METRIC_LATENCY];
    if (isnan(axes[0]) || isnan(axes[1])) {
        axes[0] = axes[1] = result->total.score;
    }
}

bool mer_sweep_is_on_front(const MerCellTotal *results, int count, int at)
{
    double own[2], other[2];
    mer_sweep_axes(&results[at], own);
    for (int i = 0; i < count; i++) {
        mer_sweep_axes(&results[i], other);
        bool is_other_better = other[0] < own[0] || other[1] < own[1] || i < at;
        if (results[i].is_feasible && other[0] <= own[0] && other[1] <= own[1] && is_other_better) {
            return false;
        }
    }
    return results[at].is_feasible;
}

static const MerMetric usual[] = {MER_METRIC_CYCLES, MER_METRIC_ENERGY, MER_METRIC_EDP};
enum { USUAL = sizeof usual / sizeof usual[0] };

/* The metrics that an evaluator of the sweep gives, and the objective if it is none of them. */
static int choose_columns(const MerRunSpec *specs, int count, MerMetric *columns)
{
    uint64_t given = 0, wanted = 0;
    int      chosen = 0;
    for (int i = 0; i < count; i++) {
        MerMetric objective = mer_metric_find(specs[i].objective);
        given |= specs[i].evaluator->metrics;
        wanted |= objective != MER_METRIC_COUNT ? UINT64_C(1) << objective : 0;
    }
    for (int m = 0; m < USUAL; m++) {
        if (given >> usual[m] & 1) {
            columns[chosen++] = usual[m];
            wanted &= ~(UINT64_C(1) << usual[m]);
        }
    }
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        if (wanted >> m & 1) {
            columns[chosen++] = (MerMetric)m;
        }
    }
    return chosen;
}

static void print_table(const MerRunSpec *specs, const MerCellTotal *results, const bool *is_knee,
                        int count, MerArena *arena, FILE *file)
{
    MerMetric   metrics[MER_METRIC_COUNT];
    const char *titles[MER_METRIC_COUNT + 5] = {"", "platform", "~~workload", "~~optimizer"};
    int         metric_count = choose_columns(specs, count, metrics), columns = 4;
    bool        has_energy = false;
    for (int m = 0; m < metric_count; m++) {
        titles[columns++] = mer_arena_format(arena, ">%s", mer_metric_info(metrics[m])->name);
        has_energy = has_energy || metrics[m] == MER_METRIC_ENERGY;
    }
    titles[columns++] = ">gap";
    MerTextTable *table = mer_text_table_new(arena, columns, titles);
    for (int i = 0; i < count; i++) {
        const MerTaskResult *total = &results[i].total;
        bool                 is_known = results[i].is_feasible;
        mer_text_table_add(table,
                           mer_arena_format(arena, "%s%s", is_knee[i] ? ">" : "",
                                            mer_sweep_is_on_front(results, count, i) ? "*" : ""));
        mer_text_table_add(table, specs[i].platform->name);
        mer_text_table_add(table, specs[i].name);
        mer_text_table_add(table, specs[i].optimizer->name);
        for (int m = 0; m < metric_count; m++) {
            char text[48];
            mer_show_value(text, metrics[m], is_known ? total->best.value[metrics[m]] : NAN);
            mer_text_table_add(table, text);
        }
        mer_text_table_add_percent(table, is_known ? total->gap : NAN);
    }
    fprintf(file, "\n");
    mer_text_table_print(table, file);
    fprintf(file, "\n* nothing in the sweep beats it%s, or equals it further up\n",
            has_energy ? " in both energy and time" : "");
    for (int i = 0; i < count; i++) {
        if (is_knee[i]) {
            const char *swept = strchr(specs[i].platform->name, ' ');
            fprintf(file, "> the knee: %s, farthest below the straight line between the ends\n",
                    swept ? swept + 1 : specs[i].platform->name);
        }
    }
}

/* The next cell; what is not known is empty. */
static void write_number(FILE *file, double value)
{
    char text[32] = "";
    if (isfinite(value)) {
        mer_print_real(text, value);
    }
    fprintf(file, ",%s", text);
}

static void write_row(const MerExperiment *experiment, const MerRunSpec *spec,
                      const MerCellTotal *result, bool is_front, bool is_knee, int combination,
                      FILE *file)
{
    const char *values[MER_MAX_SWEEPS];
    for (int s = experiment->sweep_count - 1; s >= 0; s--) {
        const MerSweep *sweep = &experiment->sweeps[s];
        values[s] = sweep->values.texts[combination % sweep->values.count];
        combination /= sweep->values.count;
    }
    mer_csv_text(file, spec->name);
    fputc(',', file);
    mer_csv_text(file, spec->optimizer->name);
    for (int s = 0; s < experiment->sweep_count; s++) {
        double number; /* 16Ki is no number for a spreadsheet */
        if (mer_parse_real(values[s], &number)) {
            write_number(file, number);
        } else {
            fputc(',', file);
            mer_csv_text(file, values[s]);
        }
    }
    const double *best = result->total.best.value;
    bool          is_known = result->is_feasible;
    for (int m = 0; m < USUAL; m++) {
        write_number(file, is_known ? best[usual[m]] : NAN);
    }
    write_number(file, is_known ? result->total.gap : NAN);
    fprintf(file, ",%d", is_front);
    write_number(file, is_known ? result->total.value : NAN);
    fprintf(file, ",%d\n", is_knee);
}

/* " [s]" where all runs have the same metric as their objective, else nothing. */
static const char *unit_of_objective(const MerRunSpec *specs, int count, MerArena *arena)
{
    MerMetric metric = mer_metric_find(specs[0].objective);
    for (int i = 1; i < count; i++) {
        metric = mer_metric_find(specs[i].objective) == metric ? metric : MER_METRIC_COUNT;
    }
    return metric == MER_METRIC_COUNT
               ? ""
               : mer_arena_format(arena, " [%s]", mer_metric_info(metric)->unit);
}

MerStatus mer_sweep_show(const MerExperiment *experiment, const MerRunSpec *specs,
                         const MerCellTotal *results, int count, const char *directory,
                         MerArena *arena, FILE *file, MerError *error)
{
    MerOutput output;
    bool     *is_knee = MER_ARRAY(arena, bool, count);
    mer_sweep_knees(experiment, specs, results, count, is_knee, arena);
    const char *path = mer_arena_format(arena, "%s/sweep.csv", directory);
    MER_TRY(mer_output_open(&output, path, error));
    fprintf(output.file, "workload,optimizer");
    for (int s = 0; s < experiment->sweep_count; s++) {
        fprintf(output.file, ",%s", experiment->sweeps[s].path);
    }
    fprintf(output.file,
            ",cycles [cycle],energy [pJ],edp [pJ.cycle],gap [1],on_front,objective%s,knee\n",
            unit_of_objective(specs, count, arena));
    const MerPlatform *last = NULL;
    int                combination = -1, combinations = mer_sweep_combinations(experiment);
    /* platforms vary slower than optimizers, objectives and seeds */
    for (int i = 0; i < count; i++) {
        combination += specs[i].platform != last;
        last = specs[i].platform;
        write_row(experiment, &specs[i], &results[i], mer_sweep_is_on_front(results, count, i),
                  is_knee[i], combination % combinations, output.file);
    }
    MER_TRY(mer_output_close(&output, error));
    print_table(specs, results, is_knee, count, arena, file);
    return MER_OK;
}
