/* The run log file: append, replay, cut. The old log is read as a stream; what is new is gathered here and written
 * to the descriptor, because a stream that a signal interrupts loses what it holds. */
#include "run/log/runlog.h"

#include "base/descriptor.h"
#include "base/json_read.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { BUFFER = 1 << 16, SYNC_BYTES = 1 << 22 }; /* SYNC_BYTES: the disk begins with */

static const double SYNC_INTERVAL_S = 1, WRITE_INTERVAL_S = 0.05, QUICK_BATCH_S = 0.001;

static MerStatus io_error(const MerRunlog *log, const char *what, MerError *error)
{
    return mer_error_set(error, MER_IO, "%s: cannot %s: %s", log->path, what, strerror(errno));
}

/* A log goes on as it began. */
static bool is_of_version_1(MerRunlog *log)
{
    ssize_t length = getline(&log->line, &log->capacity, log->file);
    rewind(log->file);
    return length > 0 && strstr(log->line, "\"format\":\"mercator-run/1\"") != NULL;
}

MerStatus mer_runlog_open(MerRunlog *log, const char *path, bool resume, MerError *error)
{
    *log = (MerRunlog){0};
    if (!path) {
        return MER_OK;
    }
    snprintf(log->path, sizeof log->path, "%s", path);
    int descriptor = mer_descriptor_open(path, O_RDWR | O_CREAT | O_NOFOLLOW);
    log->file = descriptor >= 0 ? fdopen(descriptor, "r+") : NULL;
    if (!log->file) {
        return io_error(log, "write", error);
    }
    /* not by fcntl, whose locks are gone once this process closes the file elsewhere, after a look at it */
    if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        return mer_error_set(error, MER_IO, "%s: another run is writing this log", path);
    }
    log->is_replay = resume;
    log->ahead = -1;
    log->words.is_long = resume && is_of_version_1(log);
    log->buffer = mer_heap_zeroed(BUFFER, 1);
    log->last_sync = mer_clock();
    return resume || ftruncate(descriptor, 0) == 0 || errno == EINVAL
               ? MER_OK
               : io_error(log, "write", error);
}

static MerStatus write_out(MerRunlog *log, MerError *error)
{
    bool is_written = mer_descriptor_write(fileno(log->file), log->buffer, log->filled);
    log->is_synced = log->is_synced && log->filled == 0;
    log->unsynced += log->filled;
    log->filled = 0;
    if (!is_written) {
        return io_error(log, "write", error);
    }
    if (log->unsynced >= SYNC_BYTES) { /* so that it has less to do when somebody waits for it */
        mer_descriptor_begin_sync(fileno(log->file));
        log->unsynced = 0;
    }
    return MER_OK;
}

MerStatus mer_runlog_sync(MerRunlog *log, MerError *error)
{
    if (!log->file || log->is_replay) {
        return MER_OK;
    }
    MER_TRY(write_out(log, error));
    bool is_done = log->is_synced || (mer_descriptor_sync(fileno(log->file)) &&
                                      (log->is_name_synced || mer_folder_sync(log->path)));
    log->is_synced = log->is_name_synced = true;
    log->last_sync = mer_clock();
    return is_done ? MER_OK : io_error(log, "write", error);
}

MerStatus mer_runlog_write(MerRunlog *log, MerError *error)
{
    return log->file && !log->is_replay ? write_out(log, error) : MER_OK;
}

/* Batches that follow each other within a moment are written together: a call of the system takes longer than a
 * small one. */
MerStatus mer_runlog_flush(MerRunlog *log, MerError *error)
{
    if (!log->file) {
        return MER_OK;
    }
    double now = mer_clock();
    bool   is_quick = now - log->last_flush < QUICK_BATCH_S;
    log->last_flush = now;
    if (now - log->last_sync >= SYNC_INTERVAL_S) {
        return mer_runlog_sync(log, error);
    }
    if (is_quick && now - log->last_write < WRITE_INTERVAL_S) {
        return MER_OK;
    }
    log->last_write = now;
    return mer_runlog_write(log, error);
}

MerStatus mer_runlog_close(MerRunlog *log, MerError *error)
{
    /* without a buffer it was not opened to the end */
    MerStatus status = log->buffer ? mer_runlog_sync(log, error) : MER_OK;
    if (log->file && fclose(log->file) != 0 && status == MER_OK) {
        status = io_error(log, "write", error);
    }
    free(log->line);
    free(log->buffer);
    free(log->full.text);
    log->line = log->buffer = log->full.text = NULL;
    log->file = NULL;
    return status;
}

const char *mer_runlog_next(MerRunlog *log)
{
    if (!log->is_replay) {
        return NULL;
    }
    ssize_t length = getline(&log->line, &log->capacity, log->file);
    if (length < 1 || log->line[length - 1] != '\n') { /* a half-written last line does not count */
        return NULL;
    }
    log->line[length - 1] = '\0';
    log->bytes += length;
    log->line_count++;
    log->ahead = -1;
    return log->line;
}

MerStatus mer_runlog_cut(MerRunlog *log, int64_t bytes, int64_t lines, MerError *error)
{
    if (!log->file) {
        return MER_OK;
    }
    log->filled = 0;
    if (ftruncate(fileno(log->file), (off_t)bytes) != 0 ||
        lseek(fileno(log->file), (off_t)bytes, SEEK_SET) < 0) {
        return io_error(log, "cut", error);
    }
    log->is_synced = false;
    log->cut_at = log->is_replay ? mer_clock() : log->cut_at;
    log->is_replay = false;
    log->bytes = bytes;
    log->line_count = lines;
    return MER_OK;
}

/* The end of an interrupted run is not part of the run that goes on. */
static bool is_interim_summary(const char *line)
{
    return strncmp(line, "{\"type\":\"summary\"", 17) == 0 &&
           (strstr(line, "\"stopped\":\"interrupted\"") || strstr(line, "\"stopped\":\"time\""));
}

/* How far the stopped run came after the last line that was read: to the end, as far as is known (a line follows), to
 * the trials that its summary counts, or nowhere, where it was killed. */
static int64_t find_ahead(MerRunlog *log)
{
    int64_t     bytes = log->bytes, lines = log->line_count;
    const char *next = mer_runlog_next(log);
    int64_t     ahead = INT64_MAX;
    if (!next) {
        ahead = 0;
    } else if (is_interim_summary(next)) {
        cJSON *summary = cJSON_Parse(next);
        ahead = (int64_t)mer_json_get_real(summary, "trials", 0);
        cJSON_Delete(summary);
    }
    log->bytes = bytes;
    log->line_count = lines;
    fseeko(log->file, (off_t)bytes, SEEK_SET);
    return ahead;
}

MerStatus mer_runlog_pass(MerRunlog *log, int64_t trial, MerError *error)
{
    if (log->ahead < 0) {
        log->ahead = find_ahead(log);
    }
    return trial < log->ahead ? MER_OK : mer_runlog_cut(log, log->bytes, log->line_count, error);
}

/* Of a note or an epoch how many trials came before it; -1: another line. */
static int64_t word_index(const char *line)
{
    long long index;
    bool      is_word = sscanf(line, "{\"type\":\"note\",\"index\":%lld,", &index) == 1 ||
                   sscanf(line, "{\"type\":\"epoch\",\"index\":%lld,", &index) == 1;
    return is_word ? (int64_t)index : -1;
}

void mer_runlog_pass_words(MerRunlog *log, int64_t index)
{
    bool is_such = log->is_replay;
    while (is_such) {
        int64_t     bytes = log->bytes, lines = log->line_count;
        const char *next = mer_runlog_next(log);
        is_such = next && word_index(next) == index;
        if (!is_such) {
            log->bytes = bytes;
            log->line_count = lines;
            fseeko(log->file, (off_t)bytes, SEEK_SET);
        }
    }
}

/* Which key of the header is not as it was? */
static MerStatus header_differs(const MerRunlog *log, const char *old, const char *line,
                                MerError *error)
{
    char         path[200] = "";
    cJSON       *before = cJSON_Parse(old);
    cJSON       *after = cJSON_Parse(line);
    const cJSON *was = before, *now = after;
    MerStatus    status;
    if (cJSON_IsObject(before) && cJSON_IsObject(after) &&
        mer_json_difference(&was, &now, path, sizeof path)) {
        char *found = was ? cJSON_PrintUnformatted(was) : NULL;
        char *wanted = now ? cJSON_PrintUnformatted(now) : NULL;
        status =
            mer_error_set(error, MER_INVALID,
                          "%s:1: %s is %.100s in the log, %.100s now; a run is resumed with "
                          "the inputs it was started with",
                          log->path, path, found ? found : "absent", wanted ? wanted : "absent");
        cJSON_free(found);
        cJSON_free(wanted);
    } else {
        status =
            mer_error_set(error, MER_INVALID, "%s:1: this is not the log of such a run", log->path);
    }
    cJSON_Delete(before);
    cJSON_Delete(after);
    return status;
}

/* Does the stopped run's log end with this word, or others after it? A search that is cut off within an ask may say how
 * far it came; one that is gone on with says something else. */
static bool are_last_words(MerRunlog *log, const char *word)
{
    char   *line = NULL;
    size_t  capacity = 0;
    ssize_t length;
    bool    is_last = word_index(word) >= 0;
    while (is_last && (length = getline(&line, &capacity, log->file)) > 0 &&
           line[length - 1] == '\n' && !is_interim_summary(line)) {
        is_last = word_index(line) >= 0;
    }
    free(line);
    return is_last;
}

static MerStatus compare(MerRunlog *log, const char *line, bool *is_done, MerError *error)
{
    int64_t     bytes = log->bytes;
    int64_t     lines = log->line_count;
    const char *old = mer_runlog_next(log);
    *is_done = old && strcmp(old, line) == 0;
    if (*is_done) {
        return MER_OK;
    }
    if (!old || is_interim_summary(old) || are_last_words(log, old)) {
        return mer_runlog_cut(log, bytes, lines, error);
    }
    if (lines == 0) {
        return header_differs(log, old, line, error);
    }
    size_t same = 0;
    while (old[same] && old[same] == line[same]) {
        same++;
    }
    size_t from = same > 20 ? same - 20 : 0;
    return mer_error_set(
        error, MER_INVALID,
        "%s:%lld:%zu: the log says %.60s, this run would say %.60s; the inputs or the "
        "program differ from those of the stopped run",
        log->path, (long long)lines + 1, same + 1, old + from, line + from);
}

static MerStatus append(MerRunlog *log, const char *text, size_t length, MerError *error)
{
    while (length > 0) {
        size_t part = length < BUFFER - log->filled ? length : BUFFER - log->filled;
        memcpy(log->buffer + log->filled, text, part);
        log->filled += part;
        text += part;
        length -= part;
        if (log->filled == BUFFER) {
            MER_TRY(write_out(log, error));
        }
    }
    return MER_OK;
}

MerStatus mer_runlog_line(MerRunlog *log, const char *line, MerError *error)
{
    return mer_runlog_text(log, line, strlen(line), error);
}

MerStatus mer_runlog_text(MerRunlog *log, const char *line, size_t length, MerError *error)
{
    if (!log->file) {
        return MER_OK;
    }
    if (log->is_replay) {
        bool is_done;
        MER_TRY(compare(log, line, &is_done, error));
        if (is_done) {
            return MER_OK;
        }
    }
    MER_TRY(append(log, line, length, error));
    MER_TRY(append(log, "\n", 1, error));
    log->bytes += (int64_t)length + 1;
    log->line_count++;
    return MER_OK;
}

MerStatus mer_runlog_lines(MerRunlog *log, const char *lines, size_t length, int count,
                           MerError *error)
{
    log->bytes += (int64_t)length;
    log->line_count += count;
    return append(log, lines, length, error);
}

MerStatus mer_runlog_end_line(MerRunlog *log, MerJson *json, MerError *error)
{
    mer_json_end_object(json);
    MerStatus status = mer_runlog_line(log, json->text, error);
    mer_json_free(json);
    return status;
}
