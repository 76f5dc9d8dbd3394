/* Reads a run directory for a report (formats: run log mercator-run/2, summary mercator-summary/1).
 * Unknown kinds of lines are passed over, so that newer logs can still be shown. */
#include "report/pages/run_reader.h"

#include "base/file.h"
#include "base/json_read.h"
#include "base/memory.h"
#include "report/pages/curve.h"
#include "report/pages/log_lines.h"
#include "report/pages/refusals.h"
#include "report/pages/trial_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    NOTE_LIMIT = 10000,
    NOTE_BYTES_LIMIT = 64 << 20,
    SUMMARY_LIMIT = 256 << 20,
    KNOWN_VERSION = 2
};

typedef struct Note {
    int64_t index, task;
    char   *source, *name, *value;
    char   *id; /* of a view, else "" */
} Note;

typedef struct Reader {
    MerCurveSet   curves;
    MerRefusals   refusals;
    MerTrialCosts costs;
    Note         *notes;
    int           note_count, note_capacity;
    size_t        note_bytes;
    char         *header, *summary;
} Reader;

static void free_note(Note *note)
{
    free(note->source);
    free(note->name);
    free(note->value);
    free(note->id);
}

static void reader_free(Reader *reader)
{
    mer_curve_free(&reader->curves);
    mer_trial_costs_free(&reader->costs);
    for (int i = 0; i < reader->note_count; i++) {
        free_note(&reader->notes[i]);
    }
    free(reader->notes);
    free(reader->header);
    free(reader->summary);
    free(reader);
}

static char *heap_text(const char *text)
{
    size_t size = strlen(text) + 1;
    return memcpy(mer_heap_zeroed(size, 1), text, size);
}

/* Printed again by the parser, so that what goes into the page is JSON for every reader. */
static char *print_json(const cJSON *item)
{
    char *printed = cJSON_PrintUnformatted(item);
    if (printed == NULL) {
        mer_out_of_memory(0);
    }
    char *copy = heap_text(printed);
    cJSON_free(printed);
    return copy;
}

static MerStatus check_header(const MerLogFile *log, const cJSON *header, MerError *error)
{
    const char *format = mer_json_get_text(header, "format", "absent");
    int         version = 0;
    if (sscanf(format, "mercator-run/%d", &version) != 1 || version < 1) {
        return mer_error_set(error, MER_INVALID,
                             "%s:%lld: format is %.60s, expected mercator-run/%d", log->path,
                             (long long)log->line, format, KNOWN_VERSION);
    }
    if (version > KNOWN_VERSION) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%s:%lld: format is mercator-run/%d, this program knows up to %d",
                             log->path, (long long)log->line, version, KNOWN_VERSION);
    }
    return MER_OK;
}

/* The newest note of a name (of views: of an id) replaces the older ones; warnings are all kept. */
static Note *note_place(Reader *reader, const Note *note)
{
    bool is_warning = strncmp(note->name, "warning", strlen("warning")) == 0;
    for (int i = reader->note_count - 1; i >= 0 && !is_warning; i--) {
        Note *old = &reader->notes[i];
        if (old->task == note->task && strcmp(old->name, note->name) == 0 &&
            strcmp(old->source, note->source) == 0 && strcmp(old->id, note->id) == 0) {
            reader->note_bytes -= strlen(old->value);
            free_note(old);
            return old;
        }
    }
    if (reader->note_count == NOTE_LIMIT) {
        return NULL;
    }
    if (reader->note_count == reader->note_capacity) {
        reader->note_capacity = reader->note_capacity == 0 ? 64 : reader->note_capacity * 2;
        reader->notes =
            mer_heap_resize(reader->notes, (size_t)reader->note_capacity, sizeof *reader->notes);
    }
    return &reader->notes[reader->note_count++];
}

static void take_note(Reader *reader, const MerLogLine *line, cJSON *object)
{
    cJSON *value = cJSON_GetObjectItemCaseSensitive(object, "value");
    Note   note = {.index = line->index, .task = line->task};
    note.source = heap_text(mer_json_get_text(object, "source", ""));
    note.name = heap_text(mer_json_get_text(object, "name", ""));
    note.id = heap_text(strcmp(note.name, "view") == 0 ? mer_json_get_text(value, "id", "") : "");
    if (strcmp(note.name, "plan") == 0 && cJSON_IsObject(value)) {
        cJSON_DeleteItemFromObjectCaseSensitive(value, "task");
        cJSON_AddNumberToObject(value, "task", (double)line->task);
    }
    note.value = value != NULL ? print_json(value) : heap_text("null");
    Note *place = reader->note_bytes + strlen(note.value) <= NOTE_BYTES_LIMIT
                      ? note_place(reader, &note)
                      : NULL;
    if (place == NULL) {
        free_note(&note);
        return;
    }
    reader->note_bytes += strlen(note.value);
    *place = note;
}

static MerStatus take_trial(Reader *reader, const MerLogFile *log, const MerLogLine *line,
                            MerReportRun *run, MerError *error)
{
    bool is_feasible = !isnan(line->score);
    if (line->index < 0 || line->task < 0 || line->task >= MER_CURVE_TASKS) {
        return mer_error_set(
            error, MER_INVALID,
            "%s:%lld: a trial without a valid index and task, expected integers >= 0", log->path,
            (long long)log->line);
    }
    if (line->is_warm) {
        return MER_OK;
    }
    run->trials++;
    if (!is_feasible) {
        mer_refusals_add(&reader->refusals, line);
    }
    if (is_feasible && !line->is_cut) {
        mer_trial_costs_add(&reader->costs, line);
    }
    mer_curve_add(&reader->curves, line->index, line->task,
                  is_feasible && !line->is_cut ? line->score : NAN);
    return MER_OK;
}

/* The longest part of a header, and of no use to a page. */
static void drop_knob_names(cJSON *header)
{
    cJSON *task;
    cJSON_ArrayForEach(task, cJSON_GetObjectItemCaseSensitive(header, "tasks"))
    {
        cJSON_DeleteItemFromObjectCaseSensitive(task, "knob_names");
    }
}

/* Header, note and summary lines, which are few: a full tree each. */
static MerStatus take_object(Reader *reader, const MerLogFile *log, const MerLogLine *line,
                             MerError *error)
{
    MerStatus status = MER_OK;
    cJSON    *object = cJSON_ParseWithLength(line->text, line->length);
    if (object == NULL) {
        return mer_error_set(error, MER_INVALID, "%s:%lld: the %s line is not valid JSON",
                             log->path, (long long)log->line, line->type);
    }
    if (strcmp(line->type, "note") == 0) {
        take_note(reader, line, object);
    } else if (strcmp(line->type, "summary") == 0) {
        free(reader->summary);
        reader->summary = print_json(object);
    } else if (reader->header == NULL) {
        status = check_header(log, object, error);
        double budget = mer_json_get_real(object, "budget", 0);
        reader->curves.budget = budget > 0 && budget < 9e15 ? (int64_t)budget : 0;
        drop_knob_names(object);
        reader->header = print_json(object);
    }
    cJSON_Delete(object);
    return status;
}

static MerStatus read_log(Reader *reader, const char *path, MerReportRun *run, MerError *error)
{
    MerLogFile log;
    MerLogLine line;
    MerStatus  status = mer_log_open(&log, path, error);
    while (status == MER_OK && (status = mer_log_next(&log, &line, error)) == MER_OK &&
           line.type != NULL) {
        if (reader->header == NULL && strcmp(line.type, "header") != 0) {
            status =
                mer_error_set(error, MER_INVALID, "%s:%lld: found %.40s..., expected a header line",
                              path, (long long)log.line, line.text);
        } else if (strcmp(line.type, "trial") == 0) {
            status = take_trial(reader, &log, &line, run, error);
        } else if (strcmp(line.type, "epoch") != 0 && *line.type != '\0') {
            status = take_object(reader, &log, &line, error);
        }
    }
    if (status == MER_OK && reader->header == NULL) {
        status =
            mer_error_set(error, MER_INVALID, "%s: the log is empty, expected a header line", path);
    }
    run->was_cut = log.was_cut;
    mer_log_close(&log);
    return status;
}

/* summary.json knows the clock as well; a run that was stopped before it was written has none. */
static MerStatus read_summary(const char *path, MerReportRun *run, MerArena *arena, MerError *error)
{
    char  *data;
    size_t size;
    if (access(path, F_OK) != 0) {
        return MER_OK;
    }
    MER_TRY(mer_file_read(path, SUMMARY_LIMIT, arena, &data, &size, error));
    cJSON *object = cJSON_ParseWithLength(data, size);
    if (!cJSON_IsObject(object)) {
        cJSON_Delete(object);
        return mer_error_set(error, MER_INVALID, "%s: not valid JSON, expected a summary object",
                             path);
    }
    char *printed = print_json(object);
    run->summary = mer_arena_text(arena, printed);
    free(printed);
    cJSON_Delete(object);
    return MER_OK;
}

/* First and last line of clock.jsonl. It is a help, not a result: whatever is wrong with it, the
 * report does without. */
static void read_clock(const char *path, MerReportRun *run, MerArena *arena)
{
    MerLogFile log;
    MerLogLine line;
    char      *first = NULL, *last = NULL;
    bool       is_open = access(path, F_OK) == 0 && mer_log_open(&log, path, NULL) == MER_OK;
    while (is_open && mer_log_next(&log, &line, NULL) == MER_OK && line.type != NULL) {
        cJSON *object = cJSON_ParseWithLength(line.text, line.length);
        if (object != NULL) {
            char **place = first == NULL ? &first : &last;
            free(*place);
            *place = print_json(object);
        }
        cJSON_Delete(object);
    }
    if (first != NULL) {
        run->clock = mer_arena_format(arena, "{\"start\":%s,\"last\":%s}", first,
                                      last != NULL ? last : "null");
    }
    free(first);
    free(last);
    if (is_open) {
        mer_log_close(&log);
    }
}

static void finish_notes(const Reader *reader, MerReportRun *run, MerArena *arena)
{
    run->notes = MER_ARRAY(arena, MerReportNote, reader->note_count);
    run->plans = MER_ARRAY(arena, const char *, reader->note_count);
    for (int i = 0; i < reader->note_count; i++) {
        const Note *note = &reader->notes[i];
        const char *value = mer_arena_text(arena, note->value);
        if (strcmp(note->name, "plan") == 0 && *value == '{') {
            run->plans[run->plan_count++] = value;
        } else {
            run->notes[run->note_count++] =
                (MerReportNote){note->index, note->task, mer_arena_text(arena, note->source),
                                mer_arena_text(arena, note->name), value};
        }
    }
}

/* "runs/first/" -> "first"; "." has no better name than itself. */
static const char *last_part(const char *path, MerArena *arena)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') {
        end--;
    }
    size_t start = end;
    while (start > 0 && path[start - 1] != '/') {
        start--;
    }
    return mer_arena_text_n(arena, path + start, end - start);
}

static const char *folder_of(const char *path, MerArena *arena)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? "." : mer_arena_text_n(arena, path, (size_t)(slash - path));
}

MerStatus mer_report_read(const char *run_directory, MerReportRun *run, MerArena *arena,
                          MerError *error)
{
    size_t      length = strlen(run_directory);
    bool        is_log = length > 6 && strcmp(run_directory + length - 6, ".jsonl") == 0;
    const char *folder = is_log ? folder_of(run_directory, arena) : run_directory;
    const char *log = is_log ? run_directory : mer_arena_format(arena, "%s/run.jsonl", folder);
    Reader     *reader = mer_heap_zeroed(1, sizeof *reader);
    *run = (MerReportRun){.name = last_part(run_directory, arena)};
    MerStatus status = read_log(reader, log, run, error);
    if (status == MER_OK) {
        run->header = mer_arena_text(arena, reader->header);
        run->summary = mer_arena_text(arena, reader->summary);
        mer_curve_finish(&reader->curves, run, arena);
        mer_refusals_finish(&reader->refusals, run, arena);
        finish_notes(reader, run, arena);
        status =
            read_summary(mer_arena_format(arena, "%s/summary.json", folder), run, arena, error);
        mer_trial_costs_finish(&reader->costs, run, arena);
        read_clock(mer_arena_format(arena, "%s/clock.jsonl", folder), run, arena);
    }
    reader_free(reader);
    return status;
}
