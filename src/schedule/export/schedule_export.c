/* Files of a finished schedule: schedule.csv, requests.csv, trace.json and jobtable.json, made from how the
 * evaluator plays a plan (docs/scheduling.md, "Outputs"). */
#include "base/csv_cell.h"
#include "base/trace_events.h"
#include "mercator/export.h"
#include "mercator/text.h"
#include "schedule/cost/bandwidth.h"
#include "schedule/jobs/schedule_deadlines.h"
#include "schedule/table/schedule_table.h"

#include <math.h>
#include <stdio.h>

#define EXPORTER(id, words, writer)                                                                \
    const MerExporterClass mer_exporter_##id = {                                                   \
        .name = #id, .summary = words, .problem = "schedule", .is_default = true, .write = writer}

typedef struct Gantt { /* the chart of one task */
    const MerSchedule *schedule;
    const char        *task;
    double             switch_cycles;
    bool               is_played; /* false: the plan could not run at all, or nobody knows how */
    MerBandwidthPlay   play;
    const int         *order; /* jobs by their start */
} Gantt;

/* Where a job ran to its end; -1: it did not. */
static int unit_of(const Gantt *gantt, int job)
{
    return isnan(gantt->play.times.end[job]) ? -1 : gantt->play.times.unit[job];
}

static void play(const MerExportTask *task, Gantt *gantt, MerArena *arena)
{
    const MerSchedule       *schedule = mer_schedule_of(task->problem);
    const MerBandwidthState *state = mer_bandwidth_state(task->evaluator);
    double                  *start = MER_ARRAY(arena, double, schedule->job_count + 1);
    *gantt = (Gantt){.schedule = schedule,
                     .task = task->problem->task->name,
                     .switch_cycles = mer_bandwidth_rules(task->evaluator)->switch_cycles};
    gantt->is_played = state && mer_bandwidth_play(state, task->plan, arena, &gantt->play);
    for (int j = 0; j < schedule->job_count && gantt->is_played; j++) {
        start[j] = unit_of(gantt, j) < 0 ? INFINITY : gantt->play.times.start[j];
    }
    gantt->order = mer_schedule_sorted(start, schedule->job_count, arena);
}

static void write_number(FILE *file, double value)
{
    char text[32] = "";
    if (isfinite(value)) {
        mer_print_real(text, value);
    }
    fprintf(file, ",%s", text);
}

static void write_name(FILE *file, const char *before, const char *text)
{
    fputs(before, file);
    mer_csv_cell(file, text);
}

/* A dropped job has no core, position or times. */
static void write_csv_row(const Gantt *gantt, int job, int position, FILE *file)
{
    const MerSchedule       *schedule = gantt->schedule;
    const MerBandwidthTimes *times = &gantt->play.times;
    int                      unit = unit_of(gantt, job);
    int                      model = schedule->model[job];
    bool                     ran = unit >= 0;
    double                   energy = ran && schedule->energy
                                          ? mer_schedule_job_energy(schedule, job, unit, times->moved[job]) / 1000
                                          : NAN;
    write_name(file, "", schedule->job_names[job]);
    write_name(file, ",", model >= 0 ? schedule->models[model].name : "");
    write_name(file, ",", schedule->layer_names[job]);
    write_name(file, ",", schedule->tenants[schedule->tenant[job]].name);
    write_name(file, ",", ran ? schedule->unit_names[unit] : "");
    write_number(file, ran ? position : NAN);
    write_number(file, ran ? times->start[job] : NAN);
    write_number(file, times->end[job]);
    write_number(file, ran ? schedule->latency[job * schedule->unit_count + unit] : NAN);
    write_number(file, ran ? mer_bandwidth_stall(schedule, times, job) : NAN);
    write_number(file, ran ? times->moved[job] : NAN);
    write_number(file, energy);
    write_number(file, schedule->release[job]);
    write_number(file, schedule->deadline[job]);
    write_number(file, times->end[job] - schedule->deadline[job]);
    write_name(file, ",", gantt->task);
    write_number(file, model >= 0 ? schedule->request[job] : NAN);
    fputc('\n', file);
}

/* Core by core in the order of time, then those that never ran. */
static void write_csv_task(const Gantt *gantt, MerArena *arena, FILE *file)
{
    (void)arena;
    int units = gantt->schedule->unit_count;
    for (int u = 0; u <= units && gantt->is_played; u++) {
        int position = 0;
        for (int i = 0; i < gantt->schedule->job_count; i++) {
            if (unit_of(gantt, gantt->order[i]) == (u < units ? u : -1)) {
                write_csv_row(gantt, gantt->order[i], position++, file);
            }
        }
    }
}

static Gantt *play_all(const MerExport *what, MerArena *arena)
{
    Gantt *gantts = MER_ARRAY(arena, Gantt, what->count);
    for (int t = 0; t < what->count; t++) {
        play(&what->tasks[t], &gantts[t], arena);
    }
    return gantts;
}

/* A table with the rows that `write` makes of each task. */
static MerStatus export_rows(const MerExport *what, MerExportFiles *files, const char *name,
                             const char *columns,
                             void (*write)(const Gantt *gantt, MerArena *arena, FILE *file),
                             MerError *error)
{
    Gantt *gantts = play_all(what, files->arena);
    FILE  *file = mer_export_begin(files);
    if (file) {
        fprintf(file, "%s\n", columns);
        for (int t = 0; t < what->count; t++) {
            write(&gantts[t], files->arena, file);
        }
    }
    return mer_export_end(files, file, name, error);
}

static MerStatus export_csv(const MerExport *what, MerExportFiles *files, MerError *error)
{
    return export_rows(what, files, "schedule.csv",
                       "job,model,layer,tenant,core,position,start_cycle,end_cycle,no_stall_cycles,"
                       "stall_cycles,traffic_bytes,energy_nj,release_cycle,deadline_cycle,"
                       "lateness_cycles,group,request",
                       write_csv_task, error);
}

EXPORTER(schedule_csv, "schedule.csv: a row per job with core, times, traffic, energy and deadline",
         export_csv);

/* A row for each request of each model, times in milliseconds. */
static void write_requests(const Gantt *gantt, MerArena *arena, FILE *file)
{
    const MerSchedule *schedule = gantt->schedule;
    double             ms = 1000 / schedule->clock_hz;
    int                count = 0;
    MerServed         *list = NULL;
    if (gantt->is_played) {
        count = mer_schedule_serve(schedule, gantt->play.times.end, arena, &list);
    }
    for (int r = 0; r < count; r++) {
        const MerServed *request = &list[r];
        int              model = schedule->model[request->job];
        double           end = request->is_dropped ? NAN : request->end;
        write_name(file, "", gantt->task);
        write_name(file, ",",
                   model >= 0 ? schedule->models[model].name : schedule->job_names[request->job]);
        write_number(file, model >= 0 ? schedule->request[request->job] : 0);
        write_number(file, request->release * ms);
        write_number(file, request->deadline * ms);
        write_number(file, end * ms);
        write_number(file, (end - request->release) * ms);
        write_number(file, request->is_dropped ? NAN : mer_served_slack(request) * ms);
        write_number(file, mer_served_is_missed(request));
        write_number(file, request->is_dropped);
        fputc('\n', file);
    }
}

static void write_models(const Gantt *gantt, MerArena *arena, FILE *file)
{
    int                     count = 0;
    const MerModelRequests *models = NULL;
    if (gantt->is_played) {
        models = mer_bandwidth_requests(gantt->schedule, &gantt->play.times, arena, &count);
    }
    for (int m = 0; m < count; m++) {
        const double numbers[] = {models[m].count,        1000 * models[m].p50,
                                  1000 * models[m].p95,   1000 * models[m].p99,
                                  1000 * models[m].slack, models[m].missed,
                                  models[m].dropped};
        write_name(file, "", gantt->task);
        write_name(file, ",", models[m].name);
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
            write_number(file, numbers[i]);
        }
        fputc('\n', file);
    }
}

static MerStatus export_models(const MerExport *what, MerExportFiles *files, MerError *error)
{
    return mer_schedule_of(what->tasks[0].problem)->clock_hz > 0
               ? export_rows(what, files, "models.csv",
                             "group,model,requests,p50_ms,p95_ms,p99_ms,least_slack_ms,missed,"
                             "dropped",
                             write_models, error)
               : MER_OK;
}

EXPORTER(models_csv, "models.csv: a row per model with latency percentiles, slack and misses",
         export_models);

static MerStatus export_requests(const MerExport *what, MerExportFiles *files, MerError *error)
{
    return mer_schedule_of(what->tasks[0].problem)->clock_hz > 0
               ? export_rows(what, files, "requests.csv",
                             "group,model,request,release_ms,deadline_ms,end_ms,latency_ms,"
                             "slack_ms,missed,dropped",
                             write_requests, error)
               : MER_OK;
}

EXPORTER(requests_csv, "requests.csv: a row per request with its latency, slack and deadline in ms",
         export_requests);

/* Chrome's trace format: a process per task, a thread per core; jobs as slices with their stalls and switches
 * nested or beside them, bandwidth as a counter with one value per core. */
static void write_job(MerTrace *trace, const Gantt *gantt, int job, int unit)
{
    const MerSchedule       *schedule = gantt->schedule;
    const MerBandwidthTimes *times = &gantt->play.times;
    MerJson                 *json = &trace->json;
    double                   start = times->start[job], end = times->end[job];
    double                   stall = mer_bandwidth_stall(schedule, times, job);
    mer_trace_slice(trace, schedule->job_names[job], unit, start, end);
    mer_json_object(json, "args");
    mer_json_text(json, "layer", schedule->layer_names[job]);
    mer_json_text(json, "tenant", schedule->tenants[schedule->tenant[job]].name);
    mer_json_real(json, "traffic_bytes", times->moved[job]);
    mer_json_real(json, "stall_us", stall * trace->microseconds);
    mer_json_end_object(json);
    mer_trace_end_event(trace);
    if (stall > 1e-9 * (end - start)) { /* shown as one piece at the end */
        mer_trace_slice(trace, "stall", unit, end - stall, end);
        mer_trace_end_event(trace);
    }
}

static void write_lane(MerTrace *trace, const Gantt *gantt, int unit)
{
    bool is_first = true;
    mer_trace_thread(trace, unit, gantt->schedule->unit_names[unit]);
    for (int i = 0; gantt->is_played && i < gantt->schedule->job_count; i++) {
        int job = gantt->order[i];
        if (unit_of(gantt, job) != unit) {
            continue;
        }
        if (!is_first && gantt->switch_cycles > 0) {
            double start = gantt->play.times.start[job];
            mer_trace_slice(trace, "switch", unit, start - gantt->switch_cycles, start);
            mer_trace_end_event(trace);
        }
        write_job(trace, gantt, job, unit);
        is_first = false;
    }
}

/* `use` NULL: nothing moves any more. */
static void write_bandwidth(MerTrace *trace, const MerSchedule *schedule, double t,
                            const double *use)
{
    mer_trace_counter(trace, "bandwidth", t);
    for (int u = 0; u < schedule->unit_count; u++) {
        mer_json_real(&trace->json, schedule->unit_names[u], use ? use[u] : 0);
    }
    mer_trace_end_counter(trace);
}

static void write_task(MerTrace *trace, const Gantt *gantt, int process)
{
    const MerSchedule *schedule = gantt->schedule;
    double             end = NAN;
    /* without a clock a cycle counts as one microsecond */
    trace->microseconds = isnan(schedule->clock_hz) ? 1 : 1e6 / schedule->clock_hz;
    mer_trace_process(trace, process, gantt->task);
    for (int u = 0; u < schedule->unit_count; u++) {
        write_lane(trace, gantt, u);
    }
    const double *segment = gantt->play.segments;
    for (int i = 0; i < gantt->play.segment_count; i++, segment += schedule->unit_count + 2) {
        write_bandwidth(trace, schedule, segment[0], segment + 2);
        end = segment[1];
    }
    if (!isnan(end)) {
        write_bandwidth(trace, schedule, end, NULL);
    }
}

static MerStatus export_trace(const MerExport *what, MerExportFiles *files, MerError *error)
{
    Gantt   *gantts = play_all(what, files->arena);
    MerTrace trace = {.process = 1};
    (void)error;
    mer_trace_begin(&trace);
    for (int t = 0; t < what->count; t++) {
        write_task(&trace, &gantts[t], t + 1);
    }
    mer_trace_end(&trace);
    mer_export_add(files, "trace.json", trace.json.text, trace.json.size);
    mer_json_free(&trace.json);
    return MER_OK;
}

EXPORTER(schedule_trace, "trace.json: Chrome's trace format, which Perfetto reads too",
         export_trace);

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

EXPORTER(job_table, "jobtable.json: cycles, bandwidth and energy of each job on each kind of core",
         export_table);
