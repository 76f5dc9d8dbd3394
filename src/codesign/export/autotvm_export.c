/* The best schedules as a tuning log of AutoTVM (docs/codesign-files.md, "Tuning logs"). */
#include "codesign/codesign.h"
#include "codesign/records/vta_records.h"
#include "mercator/export.h"

static MerVtaRecord record_of(const MerExportTask *task, MerArena *arena)
{
    const MerCodesignTask *opened = mer_codesign_task(task->problem);
    const MerVtaPlan      *plan = task->plan->content;
    MerVtaRecord           record = {.schedule = plan->schedule};
    mer_codesign_vta_task(opened, &plan->core, &record.task);
    record.is_dense = mer_vta_is_dense(opened->op) && record.task.shape.rows == 1 &&
                      record.task.shape.groups == 1;
    record.model = mer_vta_model(task->problem->platform->name, &plan->core, arena);
    record.seconds = task->cost->value[MER_METRIC_LATENCY] / (double)record.task.shape.repeat;
    return record;
}

static MerStatus export_log(const MerExport *what, MerExportFiles *files, MerError *error)
{
    if (what->tasks[0].plan->kind != &mer_plan_vta) {
        return MER_OK;
    }
    FILE *file = mer_export_begin(files);
    for (int t = 0; t < what->count && file; t++) {
        MerVtaRecord      record = record_of(&what->tasks[t], files->arena);
        const MerVtaCore *core = &record.task.core;
        MerJson           json = {0};
        if (core->block_in != core->block_out) { /* no such core in AutoTVM's models */
            fprintf(file, "# the next line is for a core %dx%dx%d (batch x block_in x block_out)\n",
                    core->batch, core->block_in, core->block_out);
        }
        mer_autotvm_write(&record, &json);
        fprintf(file, "%s\n", json.text);
        mer_json_free(&json);
    }
    return mer_export_end(files, file, "autotvm.log", error);
}

const MerExporterClass mer_exporter_autotvm_log = {
    .name = "autotvm_log",
    .summary = "autotvm.log: the best schedules as a tuning log of AutoTVM, v0.2",
    .problem = "codesign",
    .write = export_log,
};
