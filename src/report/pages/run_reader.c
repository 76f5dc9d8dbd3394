/* Reads a run directory for a report (formats: run log mercator-run/2, summary mercator-summary/1).
 * Unknown kinds of lines are passed over, so that newer logs can still be shown. */
#include "report/pages/run_reader.h"

#include "base/json_read.h"
#include "base/memory.h"
#include "mercator/text.h"
#include "report/pages/curve.h"
#include "report/pages/log_lines.h"
#include "report/pages/refusals.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum {
    NOTE_LIMIT = 10000,
    NOTE_BYTES_LIMIT = 64 << 20,
    SUMMARY_LIMIT = 256 << 20,
    COST_LIMIT = 400, /* of longer searches the page has every second, fourth, ... trial */
    KNOWN_VERSION = 2
};

typedef struct Note {
    MerReportNote note;
    const char   *id;      /* of a view, else "" */
    char         *printed; /* the value, of cJSON's memory */
} Note;

typedef struct Reader {
    MerArena     *arena, *scratch; /* of the run; until it is read */
    MerReportRun *run;
    MerCurveSet   curves;
    MerRefusals   refusals;
    const char   *costs[COST_LIMIT];
    int           cost_count;
    int64_t       cost_seen, cost_stride; /* one of so many is kept */
    bool          has_other_costs;        /* of several tasks: none are shown */
    Note         *notes;
    int           note_count;
    size_t        note_bytes;
} Reader;

/* Printed again by the parser, so that what goes into the page is JSON for every reader; absent is null. Give it back
 * with cJSON_free(). */
static char *print_json(const cJSON *item)
{
    static const cJSON absent = {.type = cJSON_NULL};
    char              *printed = cJSON_PrintUnformatted(item != NULL ? item : &absent);
    if (printed == NULL) {
        mer_out_of_memory(0);
    }
    return printed;
}

static const char *keep_json(const cJSON *item, MerArena *arena)
{
    char       *printed = print_json(item);
    const char *kept = mer_arena_text(arena, printed);
    cJSON_free(printed);
    return kept;
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

/* The newest note of a name (of views: of an id) replaces the older ones; warnings are all kept. NULL: there are too
 * many. */
static Note *note_place(Reader *reader, int64_t task, const char *source, const char *name,
                        const char *id)
{
    bool is_warning = strncmp(name, "warning", strlen("warning")) == 0;
    for (int i = reader->note_count - 1; i >= 0 && !is_warning; i--) {
        Note *old = &reader->notes[i];
        if (old->note.task == task && strcmp(old->note.name, name) == 0 &&
            strcmp(old->note.source, source) == 0 && strcmp(old->id, id) == 0) {
            reader->note_bytes -= strlen(old->printed);
            cJSON_free(old->printed);
            return old;
        }
    }
    if (reader->note_count == NOTE_LIMIT) {
        return NULL;
    }
    MER_GROW(reader->scratch, reader->notes, reader->note_count);
    Note *note = &reader->notes[reader->note_count++];
    *note = (Note){.note = {.task = task,
                            .source = mer_arena_text(reader->arena, source),
                            .name = mer_arena_text(reader->arena, name)},
                   .id = mer_arena_text(reader->arena, id)};
    return note;
}

static void take_note(Reader *reader, const MerLogLine *line, cJSON *object)
{
    cJSON      *value = cJSON_GetObjectItemCaseSensitive(object, "value");
    const char *name = mer_json_get_text(object, "name", "");
    const char *id = strcmp(name, "view") == 0 ? mer_json_get_text(value, "id", "") : "";
    if (strcmp(name, "plan") == 0 && cJSON_IsObject(value)) {
        cJSON_DeleteItemFromObjectCaseSensitive(value, "task");
        cJSON_AddNumberToObject(value, "task", (double)line->task);
    }
    char  *printed = print_json(value);
    size_t bytes = strlen(printed);
    Note  *place =
        reader->note_bytes + bytes <= NOTE_BYTES_LIMIT
             ? note_place(reader, line->task, mer_json_get_text(object, "source", ""), name, id)
             : NULL;
    if (place == NULL) {
        cJSON_free(printed);
        return;
    }
    reader->note_bytes += bytes;
    place->note.index = line->index;
    place->printed = printed;
}

/* What a trial came to: the points behind a front of trade-offs. When there are too many, every second one goes. */
static void take_cost(Reader *reader, const MerLogLine *line)
{
    reader->has_other_costs |= line->task != 0;
    if (reader->has_other_costs || line->cost.text == NULL ||
        reader->cost_seen++ % reader->cost_stride != 0) {
        return;
    }
    if (reader->cost_count == COST_LIMIT) {
        reader->cost_count /= 2;
        reader->cost_stride *= 2;
        for (int i = 0; i < reader->cost_count; i++) {
            reader->costs[i] = reader->costs[2 * i];
        }
    }
    reader->costs[reader->cost_count++] =
        mer_arena_text_n(reader->scratch, line->cost.text, line->cost.length);
}

static MerStatus take_trial(Reader *reader, const MerLogFile *log, const MerLogLine *line,
                            MerError *error)
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
    reader->run->trials++;
    if (!is_feasible) {
        mer_refusals_add(&reader->refusals, line);
    }
    if (is_feasible && !line->is_cut) {
        take_cost(reader, line);
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
        reader->run->summary = keep_json(object, reader->arena);
    } else if (reader->run->header == NULL) {
        status = check_header(log, object, error);
        double budget = mer_json_get_real(object, "budget", 0);
        reader->curves.budget = budget > 0 && budget < 9e15 ? (int64_t)budget : 0;
        drop_knob_names(object);
        reader->run->header = keep_json(object, reader->arena);
    }
    cJSON_Delete(object);
    return status;
}

static MerStatus read_log(Reader *reader, const char *path, MerError *error)
{
    MerReportRun *run = reader->run;
    MerLogFile    log;
    MerLogLine    line;
    MerStatus     status = mer_log_open(&log, path, error);
    while (status == MER_OK && (status = mer_log_next(&log, &line, error)) == MER_OK &&
           line.type != NULL) {
        if (run->header == NULL && strcmp(line.type, "header") != 0) {
            status =
                mer_error_set(error, MER_INVALID, "%s:%lld: found %.40s..., expected a header line",
                              path, (long long)log.line, line.text);
        } else if (strcmp(line.type, "trial") == 0) {
            status = take_trial(reader, &log, &line, error);
        } else if (strcmp(line.type, "end") == 0) {
            mer_curve_end(&reader->curves, line.index, line.task);
        } else if (strcmp(line.type, "epoch") != 0 && *line.type != '\0') {
            status = take_object(reader, &log, &line, error);
        }
    }
    if (status == MER_OK && run->header == NULL) {
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
    run->summary = keep_json(object, arena);
    cJSON_Delete(object);
    return MER_OK;
}

/* First line of clock.jsonl, and the last of how far it was. It is a help, not a result: whatever is wrong with it, the
 * report does without. */
static void read_clock(const char *path, MerReportRun *run, MerArena *arena)
{
    MerLogFile  log;
    MerLogLine  line;
    const char *first = NULL;
    cJSON      *last = NULL;
    if (access(path, F_OK) != 0 || mer_log_open(&log, path, NULL) != MER_OK) {
        return;
    }
    while (mer_log_next(&log, &line, NULL) == MER_OK && line.type != NULL) {
        cJSON *object = cJSON_ParseWithLength(line.text, line.length);
        if (object != NULL && first == NULL) {
            first = keep_json(object, arena);
            cJSON_Delete(object);
        } else if (mer_json_get(object, "trials")) {
            cJSON_Delete(last);
            last = object;
        } else {
            cJSON_Delete(object);
        }
    }
    if (first != NULL) {
        run->clock =
            mer_arena_format(arena, "{\"start\":%s,\"last\":%s}", first, keep_json(last, arena));
    }
    cJSON_Delete(last);
    mer_log_close(&log);
}

/* Of the notes read what a page shows. */
static void finish_notes(Reader *reader)
{
    MerReportRun *run = reader->run;
    run->notes = MER_ARRAY(reader->arena, MerReportNote, reader->note_count);
    run->plans = MER_ARRAY(reader->arena, const char *, reader->note_count);
    for (int i = 0; i < reader->note_count; i++) {
        MerReportNote *note = &reader->notes[i].note;
        note->value = mer_arena_text(reader->arena, reader->notes[i].printed);
        if (strcmp(note->name, "plan") == 0 && *note->value == '{') {
            run->plans[run->plan_count++] = note->value;
        } else {
            run->notes[run->note_count++] = *note;
        }
    }
}

static bool is_filled(const cJSON *array)
{
    return cJSON_GetArraySize(array) > 0;
}

/* Of one task. The whole has no front where that task occurs more than once, the task has. */
static bool has_front(const MerReportRun *run)
{
    cJSON       *summary = run->summary != NULL ? cJSON_Parse(run->summary) : NULL;
    const cJSON *tasks = mer_json_get(summary, "tasks");
    const cJSON *only = cJSON_GetArraySize(tasks) == 1 ? cJSON_GetArrayItem(tasks, 0) : NULL;
    bool         result =
        is_filled(mer_json_get(summary, "front")) || is_filled(mer_json_get(only, "front"));
    cJSON_Delete(summary);
    return result;
}

static void finish_costs(Reader *reader)
{
    MerReportRun *run = reader->run;
    if (reader->has_other_costs || reader->cost_count < 2 || !has_front(run)) {
        return;
    }
    run->costs = MER_ARRAY(reader->arena, const char *, reader->cost_count);
    for (int i = 0; i < reader->cost_count; i++) {
        cJSON *object =
            cJSON_Parse(reader->costs[i]); /* trials are not checked when they are read */
        if (cJSON_IsObject(object)) {
            run->costs[run->cost_count++] = mer_arena_text(reader->arena, reader->costs[i]);
        }
        cJSON_Delete(object);
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
    MerArena   *scratch = mer_arena_new();
    Reader     *reader = MER_NEW(scratch, Reader);
    *run = (MerReportRun){.name = last_part(run_directory, arena)};
    *reader = (Reader){.arena = arena, .scratch = scratch, .run = run, .cost_stride = 1};
    MerStatus status = read_log(reader, log, error);
    if (status == MER_OK) {
        mer_curve_finish(&reader->curves, run, arena);
        mer_refusals_finish(&reader->refusals, run, arena);
        finish_notes(reader);
        status =
            read_summary(mer_arena_format(arena, "%s/summary.json", folder), run, arena, error);
        finish_costs(reader);
        read_clock(mer_arena_format(arena, "%s/clock.jsonl", folder), run, arena);
    }
    for (int i = 0; i < reader->note_count; i++) {
        cJSON_free(reader->notes[i].printed);
    }
    mer_curve_free(&reader->curves);
    mer_arena_free(scratch);
    return status;
}
