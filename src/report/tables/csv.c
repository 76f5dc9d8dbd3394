/* Trials of runs as CSV (RFC 4180 quoting, lines end in a newline). */
#include "report/tables/csv.h"

#include "base/csv_cell.h"
#include "base/json_read.h"
#include "base/output.h"
#include "mercator/metric.h"
#include "report/pages/log_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { METRICS_LIMIT = 64, NAME_LIMIT = 64 };

typedef struct Metrics {
    char name[METRICS_LIMIT][NAME_LIMIT]; /* JSON, with quotes */
    int  count;
} Metrics;

static int find_metric(const Metrics *metrics, MerSlice key)
{
    for (int i = 0; i < metrics->count; i++) {
        if (mer_slice_equals(key, metrics->name[i])) {
            return i;
        }
    }
    return -1;
}

static void collect_metrics(Metrics *metrics, MerSlice cost)
{
    const char *cursor = cost.text;
    MerSlice    key, value;
    bool        is_valid;
    while (mer_slice_member(&cursor, &key, &value, &is_valid)) {
        if (find_metric(metrics, key) < 0 && metrics->count < METRICS_LIMIT &&
            key.length < NAME_LIMIT) {
            memcpy(metrics->name[metrics->count], key.text, key.length);
            metrics->name[metrics->count++][key.length] = '\0';
        }
    }
}

void mer_csv_title(FILE *file, const char *metric)
{
    MerMetric found = mer_metric_find(metric);
    fprintf(file, found != MER_METRIC_COUNT ? ",%s [%s]" : ",%s", metric,
            found != MER_METRIC_COUNT ? mer_metric_info(found)->unit : "");
}

/* The text of a JSON string, quoted for CSV. */
static void write_text(FILE *file, MerSlice json)
{
    cJSON *parsed = cJSON_ParseWithLength(json.text, json.length);
    if (cJSON_IsString(parsed)) {
        mer_csv_cell(file, parsed->valuestring);
    }
    cJSON_Delete(parsed);
}

static void write_costs(FILE *file, const Metrics *metrics, MerSlice cost)
{
    MerSlice    cells[METRICS_LIMIT] = {{0}};
    const char *cursor = cost.text;
    MerSlice    key, value;
    bool        is_valid;
    while (cursor != NULL && mer_slice_member(&cursor, &key, &value, &is_valid)) {
        int place = find_metric(metrics, key);
        if (place >= 0 && !mer_slice_equals(value, "null")) {
            cells[place] = value;
        }
    }
    for (int i = 0; i < metrics->count; i++) {
        fprintf(file, ",%.*s", (int)cells[i].length, cells[i].text != NULL ? cells[i].text : "");
    }
}

typedef struct Run { /* one log */
    const char *path, *name;
    const char *before; /* cells that stand before those of a trial, with their commas */
    char        unit[NAME_LIMIT];
} Run;

static void write_trial(FILE *file, const Metrics *metrics, const Run *run, const MerLogLine *line)
{
    bool is_feasible = !isnan(line->score);
    fprintf(file, "%s%lld,%lld,", run->before, (long long)line->index, (long long)line->task);
    if (is_feasible) {
        fprintf(file, "%.*s", (int)line->score_text.length, line->score_text.text);
    }
    fputs(is_feasible ? ",1," : ",0,", file);
    if (line->reason.text != NULL) {
        write_text(file, line->reason);
    }
    write_costs(file, metrics, line->cost);
    fputc('\n', file);
}

static const char *quoted(const char *text, MerArena *arena)
{
    char  *data = NULL;
    size_t size = 0;
    FILE  *stream = open_memstream(&data, &size);
    if (stream != NULL) {
        mer_csv_cell(stream, text);
        fclose(stream);
    }
    const char *kept = mer_arena_text(arena, data != NULL ? data : "");
    free(data);
    return kept;
}

/* What tells the runs apart, from the header. */
static void describe(Run *run, const MerLogLine *line, bool is_alone, MerArena *arena)
{
    static const char *const plugins[] = {"problem", "workload", "platform", "optimizer"};
    cJSON                   *header = cJSON_ParseWithLength(line->text, line->length);
    snprintf(run->unit, sizeof run->unit, "%s", mer_json_get_text(header, "unit", ""));
    run->before = is_alone ? "" : mer_arena_format(arena, "%s,", quoted(run->name, arena));
    for (int i = 0; !is_alone && i < 4; i++) {
        const char *name = mer_json_get_text(mer_json_get(header, plugins[i]), "name", "");
        run->before = mer_arena_format(arena, "%s%s,", run->before, quoted(name, arena));
    }
    if (!is_alone) {
        run->before =
            mer_arena_format(arena, "%s%s,%s,%.0f,", run->before,
                             quoted(mer_json_get_text(header, "objective", ""), arena),
                             quoted(run->unit, arena), mer_json_get_real(header, "seed", 0));
    }
    cJSON_Delete(header);
}

/* Without a file it learns the metrics, with one it writes the rows. */
static MerStatus walk(Run *run, bool is_alone, Metrics *metrics, FILE *file, MerArena *arena,
                      MerError *error)
{
    MerLogFile log;
    MerLogLine line;
    MerStatus  status = mer_log_open(&log, run->path, error);
    while (status == MER_OK && (status = mer_log_next(&log, &line, error)) == MER_OK &&
           line.type != NULL) {
        bool is_trial = strcmp(line.type, "trial") == 0;
        if (file == NULL && strcmp(line.type, "header") == 0) {
            describe(run, &line, is_alone, arena);
        } else if (is_trial && file != NULL) {
            write_trial(file, metrics, run, &line);
        } else if (is_trial && line.cost.text != NULL) {
            collect_metrics(metrics, line.cost);
        }
    }
    mer_log_close(&log);
    return status;
}

/* The score is the objective, or its negative, in the unit of each run. */
static void write_titles(FILE *file, const Metrics *metrics, const Run *runs, int count)
{
    bool is_one_unit = true;
    for (int r = 1; r < count; r++) {
        is_one_unit = is_one_unit && strcmp(runs[r].unit, runs[0].unit) == 0;
    }
    fputs(count > 1 ? "run,problem,workload,platform,optimizer,objective,unit,seed," : "", file);
    fputs("index,task,score", file);
    if (!is_one_unit || runs[0].unit[0] != '\0') {
        fprintf(file, " [%s]", is_one_unit ? runs[0].unit : "unit");
    }
    fputs(",feasible,reason", file);
    for (int i = 0; i < metrics->count; i++) {
        char name[NAME_LIMIT];
        snprintf(name, sizeof name, "%.*s", (int)strlen(metrics->name[i]) - 2,
                 metrics->name[i] + 1);
        mer_csv_title(file, name);
    }
    fputc('\n', file);
}

MerStatus mer_report_csv(const char *const *runs, int count, const char *path, MerArena *arena,
                         MerError *error)
{
    Run      *logs = MER_ARRAY(arena, Run, count);
    Metrics   metrics = {.count = 0};
    MerOutput output;
    for (int r = 0; r < count; r++) {
        size_t length = strlen(runs[r]);
        bool   is_log = length > 6 && strcmp(runs[r] + length - 6, ".jsonl") == 0;
        logs[r] = (Run){.path = is_log ? runs[r] : mer_arena_format(arena, "%s/run.jsonl", runs[r]),
                        .name = runs[r],
                        .before = ""};
        MER_TRY(walk(&logs[r], count == 1, &metrics, NULL, arena, error));
    }
    MER_TRY(mer_output_open(&output, path, error));
    write_titles(output.file, &metrics, logs, count);
    MerStatus status = MER_OK;
    for (int r = 0; status == MER_OK && r < count; r++) {
        status = walk(&logs[r], count == 1, &metrics, output.file, arena, error);
    }
    return mer_output_end(&output, status, error);
}
