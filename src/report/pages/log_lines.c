/* Reads a run log line by line, and the members of a trial without building a tree: a tree per
 * trial would take most of the time of a report. */
#include "report/pages/log_lines.h"

#include "base/descriptor.h"
#include "base/memory.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_LIMIT = 256 << 20 }; /* a note may hold a large matrix; more than this is not a log */

static const char *type_name(MerSlice value)
{
    static const char *const names[] = {"header", "trial", "epoch", "note", "end", "summary"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (value.length == strlen(names[i]) + 2 &&
            memcmp(value.text + 1, names[i], value.length - 2) == 0) {
            return names[i];
        }
    }
    return "";
}

static double number(MerSlice value)
{
    char  *end;
    double result = strtod(value.text, &end);
    return end == value.text + value.length ? result : NAN;
}

static int64_t whole(MerSlice value)
{
    double result = number(value);
    return result >= 0 && result < 9e15 ? (int64_t)result : -1;
}

static void take_member(MerLogLine *line, MerSlice key, MerSlice value)
{
    bool is_null = mer_slice_equals(value, "null");
    if (mer_slice_equals(key, "\"type\"")) {
        line->type = type_name(value);
    } else if (mer_slice_equals(key, "\"index\"")) {
        line->index = whole(value);
    } else if (mer_slice_equals(key, "\"task\"")) {
        line->task = whole(value);
    } else if (mer_slice_equals(key, "\"score\"") && !is_null) {
        line->score = number(value);
        line->score_text = value;
    } else if (mer_slice_equals(key, "\"reason\"") && (*value.text == '"' || *value.text == '[')) {
        line->reason = value;
    } else if (mer_slice_equals(key, "\"cost\"") && (*value.text == '{' || *value.text == '[')) {
        line->cost = value;
    } else if (mer_slice_equals(key, "\"warm\"")) {
        line->is_warm = mer_slice_equals(value, "true");
    } else if (mer_slice_equals(key, "\"cut\"")) {
        line->is_cut = mer_slice_equals(value, "true");
    }
}

static bool scan(MerLogLine *line)
{
    const char *cursor = line->text;
    MerSlice    key, value;
    bool        is_valid;
    while (mer_slice_member(&cursor, &key, &value, &is_valid)) {
        take_member(line, key, value);
    }
    return is_valid && (size_t)(mer_slice_skip_space(cursor) - line->text) == line->length;
}

/* Reason and cost in full. A list that says nothing, as what it refers to is missing, is left out. */
static void say_in_full(MerLogFile *log, MerLogLine *line)
{
    bool is_list;
    log->full.size = 0;
    if (strcmp(line->type, "header") == 0) {
        mer_words_take_header(&log->words, line->text);
    }
    if (strcmp(line->type, "trial") != 0) {
        return;
    }
    is_list = line->reason.text != NULL && *line->reason.text == '[';
    if (is_list) {
        bool is_known = mer_words_full_reason(&log->words, line->reason, &log->full);
        line->reason = is_known ? (MerSlice){log->full.text, log->full.size} : (MerSlice){0};
    } else if (line->reason.text != NULL) {
        mer_words_take_reason(&log->words, line->reason.text + 1, line->reason.length - 2);
    }
    is_list = line->cost.text != NULL && *line->cost.text == '[';
    if (is_list) {
        bool is_known = mer_words_full_cost(&log->words, line->cost, line->score_text, &log->full);
        line->cost = is_known ? (MerSlice){log->full.text, log->full.size} : (MerSlice){0};
    } else if (line->cost.text != NULL) {
        mer_words_take_cost(&log->words, line->cost);
    }
}

MerStatus mer_log_open(MerLogFile *log, const char *path, MerError *error)
{
    *log = (MerLogFile){.file = mer_file_open(path), .path = path};
    if (log->file == NULL) {
        return mer_error_set(error, errno == ENOENT || errno == ENOTDIR ? MER_NOT_FOUND : MER_IO,
                             "%s: %s, expected a run log", path, strerror(errno));
    }
    log->capacity = 4096;
    log->text = mer_heap_resize(NULL, log->capacity, 1);
    return MER_OK;
}

void mer_log_close(MerLogFile *log)
{
    if (log->file != NULL) {
        fclose(log->file);
    }
    free(log->text);
    free(log->full.text);
    log->file = NULL;
    log->text = log->full.text = NULL;
}

/* One line without its end into log->text. `is_whole`: its end was there. */
static MerStatus read_line(MerLogFile *log, bool *is_whole, MerError *error)
{
    int byte;
    log->length = 0;
    *is_whole = false;
    while ((byte = getc_unlocked(log->file)) != EOF && byte != '\n') {
        if (log->length + 1 >= log->capacity) {
            log->capacity *= 2;
            log->text = mer_heap_resize(log->text, log->capacity, 1);
        }
        log->text[log->length++] = (char)byte;
        if (log->length > LINE_LIMIT) {
            return mer_error_set(error, MER_INVALID, "%s:%lld: the line is longer than %d bytes",
                                 log->path, (long long)log->line + 1, LINE_LIMIT);
        }
    }
    if (byte == EOF && ferror(log->file)) {
        return mer_error_set(error, MER_IO, "%s: %s", log->path, strerror(errno));
    }
    log->text[log->length] = '\0';
    *is_whole = byte == '\n';
    return MER_OK;
}

MerStatus mer_log_next(MerLogFile *log, MerLogLine *line, MerError *error)
{
    bool is_whole;
    do {
        MerStatus status = read_line(log, &is_whole, error);
        *line = (MerLogLine){.index = -1, .task = -1, .score = NAN};
        if (status != MER_OK || (!is_whole && log->length == 0)) {
            return status;
        }
        log->line++;
    } while (*mer_slice_skip_space(log->text) == '\0' && strlen(log->text) == log->length);
    line->text = log->text;
    line->length = log->length;
    line->type = "";
    if (scan(line)) {
        say_in_full(log, line);
        return MER_OK;
    }
    line->type = NULL;
    if (!is_whole) {
        log->was_cut = true;
        return MER_OK;
    }
    return mer_error_set(error, MER_INVALID, "%s:%lld: found %.40s..., expected one JSON object",
                         log->path, (long long)log->line, log->text);
}
