/* Files of a finished schedule: schedule.csv, jobtable.json and, in schedule_trace.c, trace.json;
 * made from the timeline that the evaluator shows of a plan (docs/scheduling.md, "Outputs"). */
#include "schedule/export/schedule_export.h"

#include "base/json_read.h"
#include "base/name_table.h"
#include "schedule/cost/bandwidth.h"
#include "schedule/table/schedule_table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_start(const void *a, const void *b)
{
    const MerGanttItem *x = a;
    const MerGanttItem *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The items of a lane in the order they ran. */
static void read_lane(const cJSON *lane, const MerNameTable *jobs, MerGanttLane *into,
                      MerArena *arena)
{
    const cJSON *items = mer_json_get(lane, "items");
    const cJSON *item;
    into->items = MER_ARRAY(arena, MerGanttItem, cJSON_GetArraySize(items) + 1);
    cJSON_ArrayForEach(item, items)
    {
        const char *name = mer_json_get_text(item, "name", NULL);
        const int  *job = name ? mer_name_table_find(jobs, name) : NULL;
        if (job) {
            into->items[into->count++] = (MerGanttItem){
                *job, mer_json_get_real(item, "start", NAN), mer_json_get_real(item, "end", NAN),
                mer_json_get_real(item, "stall", NAN), mer_json_get_real(item, "amount", NAN)};
        }
    }
    qsort(into->items, (size_t)into->count, sizeof *into->items, by_start);
}

static void read_gantt(const MerExportTask *task, MerGantt *gantt, MerArena *arena)
{
    const MerSchedule *schedule = mer_schedule_of(task->problem);
    MerNameTable       jobs = {.arena = arena};
    int               *numbers = MER_ARRAY(arena, int, schedule->job_count + 1);
    for (int j = 0; j < schedule->job_count; j++) {
        numbers[j] = j;
        mer_name_table_set(&jobs, schedule->job_names[j], &numbers[j]);
    }
    *gantt = (MerGantt){.schedule = schedule,
                        .task = task->problem->task->name,
                        .switch_cycles = mer_bandwidth_rules(task->evaluator)->switch_cycles,
                        .lanes = MER_ARRAY(arena, MerGanttLane, schedule->unit_count + 1)};
    gantt->root = task->detail ? cJSON_Parse(task->detail) : NULL;
    const cJSON *chart = mer_json_get(mer_json_get(gantt->root, "views"), "timeline");
    const cJSON *lane;
    int          unit = 0;
    cJSON_ArrayForEach(lane, mer_json_get(chart, "lanes"))
    {
        if (unit < schedule->unit_count) {
            read_lane(lane, &jobs, &gantt->lanes[unit++], arena);
        }
    }
    gantt->segments = mer_json_get(cJSON_GetArrayItem(mer_json_get(chart, "below"), 0), "segments");
}

static void write_number(FILE *file, double value)
{
    if (isfinite(value)) {
        fprintf(file, ",%.17g", value);
    } else {
        fputc(',', file);
    }
}

/* Names of layers may hold commas. */
static void write_name(FILE *file, const char *before, const char *text)
{
    fprintf(file, "%s\"", before);
    for (; *text; text++) {
        fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    }
    fputc('"', file);
}

/* A dropped job has no core (-1), position or times. */
static void write_csv_row(const MerGantt *gantt, int unit, int position, const MerGanttItem *item,
                          FILE *file)
{
    const MerSchedule *schedule = gantt->schedule;
    int                job = item->job;
    int                at = job * schedule->unit_count + unit;
    int                model = schedule->model[job];
    bool               ran = unit >= 0;
    write_name(file, "", schedule->job_names[job]);
    write_name(file, ",", model >= 0 ? schedule->models[model].name : "");
    write_name(file, ",", schedule->layer_names[job]);
    write_name(file, ",", schedule->tenants[schedule->tenant[job]].name);
    write_name(file, ",", ran ? schedule->unit_names[unit] : "");
    write_number(file, ran ? position : NAN);
    write_number(file, item->start);
    write_number(file, item->end);
    write_number(file, ran ? schedule->latency[at] : NAN);
    write_number(file, item->stall);
    write_number(file, item->traffic);
    write_number(file, ran && schedule->energy
                           ? mer_schedule_job_energy(schedule, job, unit, item->traffic) / 1000
                           : NAN);
    write_number(file, schedule->release[job]);
    write_number(file, schedule->deadline[job]);
    write_number(file, item->end - schedule->deadline[job]);
    write_name(file, ",", gantt->task);
    fputc('\n', file);
}

static void write_csv_task(const MerGantt *gantt, FILE *file)
{
    int       jobs = gantt->schedule->job_count;
    MerArena *scratch = mer_arena_new();
    bool     *has_run = MER_ARRAY(scratch, bool, jobs + 1);
    for (int u = 0; u < gantt->schedule->unit_count; u++) {
        for (int i = 0; i < gantt->lanes[u].count; i++) {
            const MerGanttItem *item = &gantt->lanes[u].items[i];
            write_csv_row(gantt, u, i, item, file);
            has_run[item->job] = true;
        }
    }
    for (int j = 0; gantt->segments && j < jobs; j++) { /* none: the plan could not run at all */
        if (!has_run[j]) {
            write_csv_row(gantt, -1, 0, &(MerGanttItem){j, NAN, NAN, NAN, NAN}, file);
        }
    }
    mer_arena_free(scratch);
}

static MerGantt *open_gantts(const MerExport *what, MerArena *arena)
{
    MerGantt *gantts = MER_ARRAY(arena, MerGantt, what->count);
    for (int t = 0; t < what->count; t++) {
        read_gantt(&what->tasks[t], &gantts[t], arena);
    }
    return gantts;
}

static void close_gantts(MerGantt *gantts, int count)
{
    for (int t = 0; t < count; t++) {
        cJSON_Delete(gantts[t].root);
    }
}

static MerStatus export_csv(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerGantt *gantts = open_gantts(what, files->arena);
    FILE     *file = mer_export_begin(files);
    if (file) {
        fprintf(file, "job,model,layer,tenant,core,position,start_cycle,end_cycle,no_stall_cycles,"
                      "stall_cycles,traffic_bytes,energy_nj,release,deadline,lateness,group\n");
        for (int t = 0; t < what->count; t++) {
            write_csv_task(&gantts[t], file);
        }
    }
    close_gantts(gantts, what->count);
    return mer_export_end(files, file, "schedule.csv", error);
}

const MerExporterClass mer_exporter_schedule_csv = {
    .name = "schedule_csv",
    .summary = "schedule.csv: a row per job with core, times, traffic, energy and deadline",
    .problem = "schedule",
    .is_default = true,
    .write = export_csv,
};

static MerStatus export_trace(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerGantt *gantts = open_gantts(what, files->arena);
    MerJson   trace = {0};
    (void)error;
    mer_schedule_trace(gantts, what->count, &trace);
    mer_export_add(files, "trace.json", trace.text, trace.size);
    mer_json_free(&trace);
    close_gantts(gantts, what->count);
    return MER_OK;
}

const MerExporterClass mer_exporter_schedule_trace = {
    .name = "schedule_trace",
    .summary = "trace.json: Chrome's trace format, which Perfetto reads too",
    .problem = "schedule",
    .is_default = true,
    .write = export_trace,
};

static MerStatus export_table(const MerExport *what, MerExportFiles *files, MerError *error)
{
    const MerJobTable **tables = MER_ARRAY(files->arena, const MerJobTable *, what->count);
    MerJson             table = {0};
    (void)error;
    for (int t = 0; t < what->count; t++) {
        tables[t] = mer_schedule_table(what->tasks[t].problem);
    }
    mer_job_table_write(tables, what->count, files->arena, &table);
    mer_export_add(files, "jobtable.json", table.text, table.size);
    mer_json_free(&table);
    return MER_OK;
}

const MerExporterClass mer_exporter_job_table = {
    .name = "job_table",
    .summary = "jobtable.json: cycles, bandwidth and energy of each job on each kind of core",
    .problem = "schedule",
    .is_default = true,
    .write = export_table,
};
