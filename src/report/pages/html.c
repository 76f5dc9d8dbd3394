/* Puts the data of the runs into the report page, which is part of the program. */
#define _GNU_SOURCE /* memmem */
#include "report/pages/html.h"

#include "base/output.h"
#include "mercator/json.h"
#include "mercator/metric.h"
#include "mercator/text.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#ifndef MERCATOR_VERSION
#define MERCATOR_VERSION "unknown"
#endif

extern const unsigned char mer_asset_report[];
extern const size_t        mer_asset_report_size;

static const char placeholder[] = "__MERCATOR_DATA__";

/* The page knows units, directions and totals from the one list of metrics. */
static void write_metrics(MerJson *json)
{
    static const char *const totals[] = {[MER_TOTAL_NONE] = "none",
                                         [MER_TOTAL_SUM] = "sum",
                                         [MER_TOTAL_MAXIMUM] = "maximum",
                                         [MER_TOTAL_MEAN] = "mean",
                                         [MER_TOTAL_DERIVED] = "derived"};
    mer_json_object(json, "metrics");
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        const MerMetricInfo *info = mer_metric_info((MerMetric)m);
        mer_json_object(json, info->name);
        mer_json_text(json, "unit", info->unit);
        mer_json_int(json, "direction", info->direction);
        mer_json_text(json, "total", totals[info->total]);
        mer_json_text(json, "help", info->help);
        mer_json_end_object(json);
    }
    mer_json_end_object(json);
}

static void write_curves(MerJson *json, const MerReportRun *run)
{
    mer_json_array(json, "curves");
    for (int task = 0; task < run->curve_count; task++) {
        const MerReportCurve *curve = &run->curves[task];
        mer_json_object(json, NULL);
        mer_json_int(json, "task", task);
        mer_json_array(json, "points");
        for (int i = 0; i < curve->count; i++) {
            mer_json_array(json, NULL);
            mer_json_int(json, NULL, curve->evaluations[i]);
            mer_json_real(json, NULL, curve->scores[i]);
            mer_json_end_array(json);
        }
        mer_json_end_array(json);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static void write_infeasible(MerJson *json, const MerReportRun *run)
{
    mer_json_object(json, "infeasible");
    mer_json_int(json, "count", run->infeasible);
    mer_json_object(json, "reasons");
    for (int i = 0; i < run->reason_count; i++) {
        mer_json_int(json, run->reasons[i].name, run->reasons[i].count);
    }
    mer_json_end_object(json);
    mer_json_array(json, "examples");
    for (int i = 0; i < run->example_count; i++) {
        mer_json_object(json, NULL);
        mer_json_text(json, "class", run->examples[i].name);
        mer_json_text(json, "text", run->examples[i].text);
        mer_json_int(json, "index", run->examples[i].index);
        mer_json_int(json, "task", run->examples[i].task);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}

static void write_raw(MerJson *json, const char *key, const char *const *values, int count)
{
    mer_json_array(json, key);
    for (int i = 0; i < count; i++) {
        mer_json_raw(json, NULL, values[i]);
    }
    mer_json_end_array(json);
}

static void write_notes(MerJson *json, const MerReportRun *run)
{
    mer_json_array(json, "notes");
    for (int i = 0; i < run->note_count; i++) {
        const MerReportNote *note = &run->notes[i];
        mer_json_object(json, NULL);
        mer_json_int(json, "index", note->index);
        mer_json_int(json, "task", note->task);
        mer_json_text(json, "source", note->source);
        mer_json_text(json, "name", note->name);
        mer_json_raw(json, "value", note->value);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
    write_raw(json, "plans", run->plans, run->plan_count);
}

/* `number` >= 0: notes and plans, most of what there is to say of a run, are in a block of their own, which the page reads
 * when the run is opened. */
static void write_run(MerJson *json, const MerReportRun *run, int number)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "name", run->name);
    mer_json_raw(json, "header", run->header);
    mer_json_raw(json, "summary", run->summary != NULL ? run->summary : "null");
    mer_json_raw(json, "clock", run->clock != NULL ? run->clock : "null");
    mer_json_int(json, "trials", run->trials);
    mer_json_bool(json, "cut", run->was_cut);
    write_curves(json, run);
    write_infeasible(json, run);
    if (run->cost_count > 0) {
        write_raw(json, "costs", run->costs, run->cost_count);
    }
    if (number >= 0) {
        mer_json_int(json, "details", number);
        mer_json_bool(json, "has_plans", run->plan_count > 0);
    } else {
        write_notes(json, run);
    }
    mer_json_end_object(json);
}

/* In JSON `<` occurs in strings only, where it may be written as an escape: so no text of a run can
 * close the script element that holds the data. */
static void write_escaped(FILE *file, const char *text, size_t size)
{
    const char *end = text + size;
    while (text < end) {
        const char *sign = memchr(text, '<', (size_t)(end - text));
        const char *stop = sign != NULL ? sign : end;
        fwrite(text, 1, (size_t)(stop - text), file);
        if (sign != NULL) {
            fputs("\\u003c", file);
            stop++;
        }
        text = stop;
    }
}

/* Ends the block before it; its own end is in the page. */
static void write_details(FILE *file, const MerReportRun *run, int number)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    write_notes(&json, run);
    mer_json_end_object(&json);
    fprintf(file, "</script>\n<script type=\"application/json\" id=\"mercator-run-%d\">", number);
    write_escaped(file, json.text, json.size);
    mer_json_free(&json);
}

static void write_data(FILE *file, const MerReportRun *runs, int run_count, const char *study,
                       const char *title)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "format", "mercator-report/1");
    mer_json_text(&json, "title", title);
    mer_json_text(&json, "generated_by", "mercator " MERCATOR_VERSION);
    write_metrics(&json);
    mer_json_array(&json, "runs");
    for (int i = 0; i < run_count; i++) {
        write_run(&json, &runs[i], run_count > 1 ? i : -1);
    }
    mer_json_end_array(&json);
    if (study != NULL) {
        mer_json_raw(&json, "study", study);
    }
    mer_json_end_object(&json);
    write_escaped(file, json.text, json.size);
    mer_json_free(&json);
    for (int i = 0; run_count > 1 && i < run_count; i++) {
        write_details(file, &runs[i], i);
    }
}

/* MER_INVALID: there is a file that is no page of ours. */
static MerStatus check_page(const char *path, MerError *error)
{
    static const char mark[] = "mercator-data"; /* of the data block that every page has */
    char             *text = NULL;
    size_t            size;
    struct stat       about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        return MER_OK;
    }
    MerArena *arena = mer_arena_new();
    MerStatus status = mer_file_read(path, SIZE_MAX, arena, &text, &size, error);
    if (status != MER_IO && !(status == MER_OK && strstr(text, mark))) {
        status = mer_error_set(error, MER_INVALID,
                               "%s is not a page of Mercator, and stays as it is", path);
    }
    mer_arena_free(arena);
    return status;
}

bool mer_report_may_write(const char *path)
{
    return check_page(path, NULL) != MER_INVALID;
}

static MerStatus write_page(const MerReportRun *runs, int run_count, const char *study,
                            const char *title, const char *path, MerError *error)
{
    const char *page = (const char *)mer_asset_report;
    size_t      length = strlen(placeholder);
    const char *place = memmem(page, mer_asset_report_size, placeholder, length);
    MerOutput   output;
    if (place == NULL) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s: this program was built without the report page", path);
    }
    MER_TRY(check_page(path, error));
    MER_TRY(mer_output_open(&output, path, error));
    const char *rest = place + length;
    fwrite(page, 1, (size_t)(place - page), output.file);
    write_data(output.file, runs, run_count, study, title);
    fwrite(rest, 1, (size_t)(page + mer_asset_report_size - rest), output.file);
    return mer_output_close(&output, error);
}

MerStatus mer_report_html(const MerReportRun *runs, int run_count, const char *title,
                          const char *path, MerError *error)
{
    return write_page(runs, run_count, NULL, title, path, error);
}

MerStatus mer_report_page(const char *const *directories, int count, const char *title,
                          const char *path, MerArena *arena, MerError *error)
{
    MerReportRun *runs = MER_ARRAY(arena, MerReportRun, count);
    for (int i = 0; i < count; i++) {
        MER_TRY(mer_report_read(directories[i], &runs[i], arena, error));
    }
    return mer_report_html(runs, count, title, path, error);
}

MerStatus mer_report_study(const char *study, const char *title, const char *path, MerError *error)
{
    return write_page(NULL, 0, study, title, path, error);
}
