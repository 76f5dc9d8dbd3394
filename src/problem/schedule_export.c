/* Files of a finished schedule: schedule.csv, jobtable.json and trace.json (Chrome and Perfetto), made from
 * the Gantt chart that the evaluator notes with a plan (schedule.md section 14). */
#include "problem/schedule_export.h"

#include "problem/schedule.h"
#include "problem/schedule_table.h"

#include "base/json.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

static int find_job(const MerSchedule *schedule, const char *name)
{
    for (int j = 0; name && j < schedule->job_count; j++) {
        if (strcmp(schedule->job_names[j], name) == 0) {
            return j;
        }
    }
    return -1;
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
static void write_name(FILE *file, const char *text)
{
    fputc('"', file);
    for (; *text; text++) {
        fprintf(file, *text == '"' ? "\"\"" : "%c", *text);
    }
    fputc('"', file);
}

static void write_csv_row(const MerSchedule *schedule, int unit, int position, const cJSON *item,
                          FILE *file)
{
    int job =
        find_job(schedule, cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name")));
    if (job < 0) {
        return;
    }
    int    at = job * schedule->unit_count + unit;
    int    model = schedule->model[job];
    double end = number(item, "end");
    write_name(file, schedule->job_names[job]);
    fputc(',', file);
    write_name(file, model >= 0 ? schedule->models[model].name : "");
    fputc(',', file);
    write_name(file, schedule->tenants[schedule->tenant[job]].name);
    fputc(',', file);
    write_name(file, schedule->unit_names[unit]);
    fprintf(file, ",%d", position);
    write_number(file, number(item, "start"));
    write_number(file, end);
    write_number(file, schedule->latency[at]);
    write_number(file, number(item, "stall"));
    write_number(file, schedule->traffic[at]);
    write_number(file, schedule->energy ? schedule->energy[at] / 1000 : NAN);
    write_number(file, schedule->release[job]);
    write_number(file, schedule->deadline[job]);
    write_number(file, end - schedule->deadline[job]);
    fputc('\n', file);
}

static int by_start(const void *a, const void *b)
{
    double x = number(*(const cJSON *const *)a, "start");
    double y = number(*(const cJSON *const *)b, "start");
    return (x > y) - (x < y);
}

/* The items of a lane in the order they ran. */
static const cJSON **sorted_items(const cJSON *lane, int *count, MerArena *arena)
{
    const cJSON  *items = cJSON_GetObjectItemCaseSensitive(lane, "items");
    const cJSON **list = MER_ARRAY(arena, const cJSON *, cJSON_GetArraySize(items) + 1);
    *count = 0;
    for (const cJSON *item = items ? items->child : NULL; item; item = item->next) {
        list[(*count)++] = item;
    }
    qsort(list, (size_t)*count, sizeof *list, by_start);
    return list;
}

static void write_task_csv(const MerSchedule *schedule, const cJSON *gantt, FILE *file,
                           MerArena *arena)
{
    int          unit = 0;
    const cJSON *lanes = cJSON_GetObjectItemCaseSensitive(gantt, "lanes");
    for (const cJSON *lane = lanes ? lanes->child : NULL; lane; lane = lane->next, unit++) {
        int           count;
        const cJSON **items = sorted_items(lane, &count, arena);
        for (int i = 0; i < count; i++) {
            write_csv_row(schedule, unit, i, items[i], file);
        }
    }
}

static void event(MerJson *json, const char *phase, const char *name, int process, int thread)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "ph", phase);
    mer_json_text(json, "name", name);
    mer_json_int(json, "pid", process);
    if (thread >= 0) {
        mer_json_int(json, "tid", thread);
    }
}

static void name_event(MerJson *json, const char *what, const char *name, int process, int thread)
{
    event(json, "M", what, process, thread);
    mer_json_object(json, "args");
    mer_json_text(json, "name", name);
    mer_json_end_object(json);
    mer_json_end_object(json);
}

/* Times in microseconds; without a clock a cycle counts as one. */
static void write_task_trace(const MerExportTask *task, const MerSchedule *schedule,
                             const cJSON *gantt, int process, MerJson *json)
{
    double microseconds = isnan(schedule->clock_hz) ? 1 : 1e6 / schedule->clock_hz;
    int    unit = 0;
    name_event(json, "process_name", task->problem->task->name, process, -1);
    const cJSON *lanes = cJSON_GetObjectItemCaseSensitive(gantt, "lanes");
    for (const cJSON *lane = lanes ? lanes->child : NULL; lane; lane = lane->next, unit++) {
        name_event(json, "thread_name", schedule->unit_names[unit], process, unit);
        const cJSON *item;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(lane, "items"))
        {
            const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(item, "name"));
            int         job = find_job(schedule, name);
            event(json, "X", name, process, unit);
            mer_json_real(json, "ts", number(item, "start") * microseconds);
            mer_json_real(json, "dur",
                          (number(item, "end") - number(item, "start")) * microseconds);
            mer_json_object(json, "args");
            mer_json_real(json, "stall_us", number(item, "stall") * microseconds);
            mer_json_real(json, "traffic_bytes",
                          job >= 0 ? schedule->traffic[job * schedule->unit_count + unit] : NAN);
            mer_json_end_object(json);
            mer_json_end_object(json);
        }
    }
    const cJSON *segment;
    const cJSON *bandwidth = cJSON_GetObjectItemCaseSensitive(gantt, "bandwidth");
    cJSON_ArrayForEach(segment, cJSON_GetObjectItemCaseSensitive(bandwidth, "segments"))
    {
        event(json, "C", "bandwidth", process, -1);
        mer_json_real(json, "ts", cJSON_GetArrayItem(segment, 0)->valuedouble * microseconds);
        mer_json_object(json, "args");
        const cJSON *use = cJSON_GetArrayItem(segment, 2);
        for (int u = 0; use && u < schedule->unit_count; u++, use = use->next) {
            mer_json_real(json, schedule->unit_names[u], use->valuedouble);
        }
        mer_json_end_object(json);
        mer_json_end_object(json);
    }
}

/* The resolved platform, so that the plan can be priced again wherever its platform came from. */
static const char *platform_text(const MerProblem *problem, MerArena *arena)
{
    char  *text = NULL;
    size_t size = 0;
    FILE  *file = open_memstream(&text, &size);
    if (!file) {
        return "";
    }
    mer_platform_write(problem->platform, file);
    fclose(file);
    const char *copy = mer_arena_text(arena, text);
    free(text);
    return copy;
}

int mer_schedule_export(const MerExport *what, MerExportFile files[MER_MAX_EXPORTS],
                        MerArena *arena)
{
    char   *csv = NULL;
    size_t  size = 0;
    FILE   *file = open_memstream(&csv, &size);
    MerJson trace = {0};
    MerJson table = {0};
    if (!file) {
        return 0;
    }
    fprintf(file, "job,model,tenant,core,position,start_cycle,end_cycle,no_stall_cycles,stall_"
                  "cycles,traffic_bytes,"
                  "energy_nj,release,deadline,lateness\n");
    mer_json_object(&trace, NULL);
    mer_json_array(&trace, "traceEvents");
    for (int t = 0; t < what->count; t++) {
        const MerExportTask *task = &what->tasks[t];
        const MerSchedule   *schedule = mer_schedule_of(task->problem);
        cJSON               *detail = task->detail ? cJSON_Parse(task->detail) : NULL;
        const cJSON         *gantt = cJSON_GetObjectItemCaseSensitive(detail, "gantt");
        if (what->count > 1) {
            fprintf(file, "# %s\n", task->problem->task->name);
        }
        write_task_csv(schedule, gantt, file, arena);
        write_task_trace(task, schedule, gantt, t + 1, &trace);
        cJSON_Delete(detail);
    }
    mer_json_end_array(&trace);
    mer_json_end_object(&trace);
    fclose(file);
    const MerJobTable **tables = MER_ARRAY(arena, const MerJobTable *, what->count);
    for (int t = 0; t < what->count; t++) {
        tables[t] = mer_schedule_table(what->tasks[t].problem);
    }
    mer_job_table_write(tables, what->count, arena, &table);
    files[3] = (MerExportFile){"platform.yaml", platform_text(what->tasks[0].problem, arena)};
    files[0] = (MerExportFile){"schedule.csv", mer_arena_text(arena, csv)};
    files[1] = (MerExportFile){"trace.json", mer_arena_text(arena, trace.text)};
    files[2] = (MerExportFile){"jobtable.json", mer_arena_text(arena, table.text)};
    free(csv);
    mer_json_free(&trace);
    mer_json_free(&table);
    return 4;
}
