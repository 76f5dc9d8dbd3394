/* Trials as CSV (RFC 4180 quoting, lines end in a newline). */
#include "report/tables/csv.h"

#include "base/memory.h"
#include "base/output.h"
#include "report/pages/log_lines.h"

#include <cjson/cJSON.h>
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

/* The text of a JSON string, quoted for CSV. */
static void write_text(FILE *file, MerSlice json)
{
    cJSON *parsed = cJSON_ParseWithLength(json.text, json.length);
    if (cJSON_IsString(parsed)) {
        fputc('"', file);
        for (const char *sign = parsed->valuestring; *sign != '\0'; sign++) {
            if (*sign == '"') {
                fputc('"', file);
            }
            fputc(*sign, file);
        }
        fputc('"', file);
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

static void write_trial(FILE *file, const Metrics *metrics, const MerLogLine *line)
{
    bool is_feasible = !isnan(line->score);
    fprintf(file, "%lld,%lld,", (long long)line->index, (long long)line->task);
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

/* Without a file it learns the metrics, with one it writes the rows. */
static MerStatus walk(const char *path, Metrics *metrics, FILE *file, MerError *error)
{
    MerLogFile log;
    MerLogLine line;
    MerStatus  status = mer_log_open(&log, path, error);
    while (status == MER_OK && (status = mer_log_next(&log, &line, error)) == MER_OK &&
           line.type != NULL) {
        if (strcmp(line.type, "trial") != 0) {
            continue;
        }
        if (file != NULL) {
            write_trial(file, metrics, &line);
        } else if (line.cost.text != NULL) {
            collect_metrics(metrics, line.cost);
        }
    }
    mer_log_close(&log);
    return status;
}

static MerStatus write_csv(const char *log, const char *path, MerError *error)
{
    Metrics   metrics = {.count = 0};
    MerOutput output;
    MER_TRY(walk(log, &metrics, NULL, error));
    MER_TRY(mer_output_open(&output, path, error));
    fputs("index,task,score,feasible,reason", output.file);
    for (int i = 0; i < metrics.count; i++) {
        fprintf(output.file, ",%.*s", (int)strlen(metrics.name[i]) - 2, metrics.name[i] + 1);
    }
    fputc('\n', output.file);
    MerStatus status = walk(log, &metrics, output.file, error);
    if (status != MER_OK) {
        mer_output_discard(&output);
        return status;
    }
    return mer_output_close(&output, error);
}

MerStatus mer_report_csv(const char *run_directory, const char *path, MerError *error)
{
    size_t length = strlen(run_directory);
    bool   is_log = length > 6 && strcmp(run_directory + length - 6, ".jsonl") == 0;
    char  *log = mer_heap_zeroed(length + sizeof "/run.jsonl", 1);
    memcpy(log, run_directory, length);
    memcpy(log + length, "/run.jsonl", is_log ? 0 : sizeof "/run.jsonl");
    MerStatus status = write_csv(log, path, error);
    free(log);
    return status;
}
