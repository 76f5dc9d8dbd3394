/* stats.txt: what the evaluator's breakdown says of each layer, for people. */
#include "map/export/map_export.h"

#include "base/json_read.h"

#include <math.h>
#include <string.h>

/* Names of the counts of a tensor, in the order the evaluator gives them. */
static void write_tensors(const cJSON *tensors, double total, FILE *file)
{
    const cJSON *tensor;
    const cJSON *count;
    cJSON_ArrayForEach(tensor, tensors)
    {
        char letter = *tensor->string;
        fprintf(file, "    %-8s", letter == 'W' ? "weights" : letter == 'I' ? "inputs" : "outputs");
        cJSON_ArrayForEach(count, tensor)
        {
            bool is_energy = strcmp(count->string, "energy") == 0;
            fprintf(file, " %s %.15g%s", count->string, count->valuedouble, is_energy ? " pJ" : "");
            if (is_energy && total > 0) {
                fprintf(file, " (%.2f %%)", 100 * count->valuedouble / total);
            }
        }
        fputc('\n', file);
    }
}

static void write_level(const cJSON *level, double total, FILE *file)
{
    double used = mer_json_get_real(level, "occupancy_words", NAN);
    double capacity = mer_json_get_real(level, "capacity_words", NAN);
    double instances = mer_json_get_real(level, "instances", NAN);
    double bandwidth = mer_json_get_real(level, "bandwidth_use", NAN);
    double network = mer_json_get_real(level, "network_energy", NAN);
    fprintf(file, "  %s", mer_json_get_text(level, "name", NULL));
    if (!isnan(instances)) {
        fprintf(file, ", %.0f instance%s in use", instances, instances == 1 ? "" : "s");
    }
    if (!isnan(capacity)) {
        fprintf(file, ", holds %.0f of %.0f words (%.1f %%)", used, capacity,
                100 * used / capacity);
    } else if (!isnan(used)) {
        fprintf(file, ", holds %.0f words", used);
    }
    if (!isnan(bandwidth)) {
        fprintf(file, ", read bandwidth %.1f %%", 100 * bandwidth);
    }
    if (network > 0) {
        fprintf(file, ", network %.15g pJ", network);
    }
    fputc('\n', file);
    write_tensors(mer_json_get(level, "tensors"), total, file);
}

static void write_breakdown(const cJSON *breakdown, double total, FILE *file)
{
    const cJSON *level;
    double       mac = mer_json_get_real(breakdown, "mac_energy", NAN);
    const char  *binding = mer_json_get_text(breakdown, "binding", NULL);
    cJSON_ArrayForEach(level, mer_json_get(breakdown, "levels"))
    {
        write_level(level, total, file);
    }
    if (!isnan(mac)) {
        fprintf(file, "  MACs, energy %.15g pJ (%.2f %%)\n", mac, 100 * mac / total);
    }
    if (binding) {
        fprintf(file, "  cycles are limited by %s\n", binding);
    }
}

static void write_task(const MerExportTask *task, FILE *file)
{
    const MerTask *layer = task->problem->task;
    cJSON         *detail = task->detail ? cJSON_Parse(task->detail) : NULL;
    fprintf(file, "\n%s (count %lld, %.0f MACs)\n", layer->name, (long long)layer->count,
            layer->macs);
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        if (!isnan(task->cost->value[m])) {
            const MerMetricInfo *info = mer_metric_info((MerMetric)m);
            bool                 has_unit = strcmp(info->unit, "1") != 0;
            fprintf(file, "  %s %.15g%s%s\n", info->name, task->cost->value[m], has_unit ? " " : "",
                    has_unit ? info->unit : "");
        }
    }
    if (!isnan(task->gap)) {
        fprintf(file, "  bound %.15g (%s), gap %.4g %%%s\n", task->bound->value, task->bound->kind,
                100 * task->gap, task->is_proven ? ", proven optimal" : "");
    }
    write_breakdown(mer_json_get(detail, "breakdown"), task->cost->value[MER_METRIC_ENERGY], file);
    cJSON_Delete(detail);
}

void mer_map_write_stats(const MerExport *what, FILE *file, MerArena *arena)
{
    (void)arena;
    fprintf(file, "%s on %s, evaluator %s, objective %s\n", what->workload,
            what->tasks[0].problem->platform->name, what->evaluator, what->objective);
    for (int t = 0; t < what->count; t++) {
        write_task(&what->tasks[t], file);
    }
}
