/* A run log, line by line, in bounded memory: a log of a million trials is never held whole.
 *
 *     MerLogFile log;
 *     if (mer_log_open(&log, path, error) != MER_OK) ...
 *     while ((status = mer_log_next(&log, &line, error)) == MER_OK && line.type != NULL) ...
 *     mer_log_close(&log);
 */
#ifndef MERCATOR_REPORT_PAGES_LOG_LINES_H
#define MERCATOR_REPORT_PAGES_LOG_LINES_H

#include "base/json_slice.h"
#include "base/log_words.h"
#include "mercator/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct MerLogFile {
    FILE        *file;
    const char  *path; /* kept */
    char        *text; /* the current line, 0-terminated */
    size_t       length, capacity;
    int64_t      line;    /* number of the current line, from 1 */
    bool         was_cut; /* the last line was half-written and has been left out */
    MerLogWords  words;
    MerWordsText full; /* reason and cost of the current line, where it has them short */
} MerLogFile;

/* The members of one line that a trial has; other lines are given to a full parser. */
typedef struct MerLogLine {
    const char *text; /* the whole line, valid until the next call */
    size_t      length;
    /* "header", "trial", "epoch", "note", "end", "summary", "" = unknown; NULL: the end */
    const char *type;
    int64_t     index, task; /* -1 where absent or null */
    double      score;       /* NaN where absent or null */
    MerSlice    score_text;
    bool        is_warm, is_cut;
    MerSlice    reason; /* a JSON string with its quotes */
    MerSlice    cost;   /* a JSON object */
} MerLogLine;

MerStatus mer_log_open(MerLogFile *log, const char *path, MerError *error);
/* A line that is not a JSON object is an error `FILE:LINE: ...`, except a last one cut short. */
MerStatus mer_log_next(MerLogFile *log, MerLogLine *line, MerError *error);
void      mer_log_close(MerLogFile *log);

#endif
