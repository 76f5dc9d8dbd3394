/* The table of a hardware sweep. */
#include "cli/sweep.h"

#include "base/output.h"
#include "report/tables/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double time_of(const MerCellTotal *result)
{
    double latency = result->total.best.value[MER_METRIC_LATENCY];
    return isnan(latency) ? result->total.best.value[MER_METRIC_CYCLES] : latency;
}

/* Nothing in the sweep is at least as good in energy and time, and better in one. */
static bool is_on_front(const MerCellTotal *results, int count, int at)
{
    double energy = results[at].total.best.value[MER_METRIC_ENERGY];
    double time = time_of(&results[at]);
    for (int i = 0; i < count; i++) {
        double other_energy = results[i].total.best.value[MER_METRIC_ENERGY];
        double other_time = time_of(&results[i]);
        bool   is_better = results[i].is_feasible && other_energy <= energy && other_time <= time &&
                         (other_energy < energy || other_time < time);
        if (is_better) {
            return false;
        }
    }
    return results[at].is_feasible;
}

static void print_table(const MerRunSpec *specs, const MerCellTotal *results, int count,
                        MerArena *arena, FILE *file)
{
    const char   *titles[] = {"",        "platform", "workload", "optimizer",
                              ">cycles", ">energy",  ">edp",     ">gap"};
    MerTextTable *table = mer_text_table_new(arena, 8, titles);
    for (int i = 0; i < count; i++) {
        const MerTaskResult *total = &results[i].total;
        bool                 is_known = results[i].is_feasible;
        mer_text_table_add(table, is_on_front(results, count, i) ? "*" : "");
        mer_text_table_add(table, specs[i].platform->name);
        mer_text_table_add(table, specs[i].name);
        mer_text_table_add(table, specs[i].optimizer->name);
        mer_text_table_add_real(table, is_known ? total->best.value[MER_METRIC_CYCLES] : NAN,
                                "cycle");
        mer_text_table_add_real(table, is_known ? total->best.value[MER_METRIC_ENERGY] : NAN, "pJ");
        mer_text_table_add_real(table, is_known ? total->best.value[MER_METRIC_EDP] : NAN,
                                "pJ.cycle");
        mer_text_table_add_percent(table, is_known ? total->gap : NAN);
    }
    fprintf(file, "\n");
    mer_text_table_print(table, file);
    fprintf(file, "\n* nothing in the sweep beats it in both energy and time\n");
}

static void write_row(const MerExperiment *experiment, const MerRunSpec *spec,
                      const MerCellTotal *result, bool is_front, int combination, FILE *file)
{
    const char *values[MER_MAX_SWEEPS];
    for (int s = experiment->sweep_count - 1; s >= 0; s--) {
        const MerSweep *sweep = &experiment->sweeps[s];
        values[s] = sweep->values.texts[combination % sweep->values.count];
        combination /= sweep->values.count;
    }
    fprintf(file, "%s,%s", spec->name, spec->optimizer->name);
    for (int s = 0; s < experiment->sweep_count; s++) {
        fprintf(file, ",%s", values[s]);
    }
    const double *best = result->total.best.value;
    if (result->is_feasible) {
        fprintf(file, ",%.17g,%.17g,%.17g,%.17g,%d\n", best[MER_METRIC_CYCLES],
                best[MER_METRIC_ENERGY], best[MER_METRIC_EDP], result->total.gap, is_front);
    } else {
        fprintf(file, ",,,,,0\n");
    }
}

MerStatus mer_sweep_show(const MerExperiment *experiment, const MerRunSpec *specs,
                         const MerCellTotal *results, int count, const char *directory,
                         MerArena *arena, FILE *file, MerError *error)
{
    MerOutput   output;
    const char *path = mer_arena_format(arena, "%s/sweep.csv", directory);
    MerStatus   status = mer_output_open(&output, path, error);
    if (status != MER_OK) {
        return status;
    }
    fprintf(output.file, "workload,optimizer");
    for (int s = 0; s < experiment->sweep_count; s++) {
        fprintf(output.file, ",%s", experiment->sweeps[s].path);
    }
    fprintf(output.file, ",cycles,energy_pj,edp,gap,on_front\n");
    int combinations = 1;
    for (int s = 0; s < experiment->sweep_count; s++) {
        combinations *= experiment->sweeps[s].values.count;
    }
    const MerPlatform *last = NULL;
    int                combination = -1;
    /* platforms vary slower than optimizers, objectives and seeds */
    for (int i = 0; i < count; i++) {
        combination += specs[i].platform != last;
        last = specs[i].platform;
        write_row(experiment, &specs[i], &results[i], is_on_front(results, count, i),
                  combination % combinations, output.file);
    }
    status = mer_output_close(&output, error);
    if (status == MER_OK) {
        print_table(specs, results, count, arena, file);
    }
    return status;
}
