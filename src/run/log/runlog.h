/* The run log on disk: lines appended in a fixed order, or compared with the log of an earlier run
 * that is being resumed. Until the old log ends every line must be equal; from there on lines are
 * written. So a resumed log is the uninterrupted one, byte by byte. */
#ifndef MERCATOR_RUN_LOG_RUNLOG_H
#define MERCATOR_RUN_LOG_RUNLOG_H

#include "base/log_words.h"
#include "mercator/error.h"
#include "mercator/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct MerRunlog {
    char    path[512];
    FILE   *file;       /* NULL: nothing is logged */
    bool    is_replay;  /* still reading the old log */
    double  cut_at;     /* when it no longer was */
    int64_t line_count; /* read or written so far */
    int64_t bytes;      /* of these lines */
    int64_t ahead;      /* replay: what mer_runlog_pass found, -1 before it looks */
    char   *line;       /* the line read last, without its newline */
    size_t  capacity;
    char   *buffer; /* lines that are not yet written, `filled` bytes */
    size_t  filled;
    size_t  unsynced;               /* bytes written since the disk was last told of them */
    bool is_synced, is_name_synced; /* whether the disk has what was written, and the file's name */
    double      last_sync, last_write, last_flush; /* when */
    char        apart[64]; /* threads read the words, while what is above changes with every line */
    MerLogWords words;     /* of the trial lines so far */
    MerWordsText full;     /* the line read last, in full */
} MerRunlog;

/* `path` NULL: a log that drops everything. With `resume` an existing log is replayed; without it, an
 * existing one is replaced. */
MerStatus mer_runlog_open(MerRunlog *log, const char *path, bool resume, MerError *error);
/* After each batch: writes what was gathered, so that it survives a kill, at the latest a twentieth of a second after
 * the last time; once a second it syncs, too. */
MerStatus mer_runlog_flush(MerRunlog *log, MerError *error);
/* Writes it now. */
MerStatus mer_runlog_write(MerRunlog *log, MerError *error);
/* Waits for the disk, so that what was logged survives a power cut. */
MerStatus mer_runlog_sync(MerRunlog *log, MerError *error);
MerStatus mer_runlog_close(MerRunlog *log, MerError *error); /* also after errors */

/* Appends one line, or checks it against the old log. */
MerStatus mer_runlog_line(MerRunlog *log, const char *line, MerError *error);
MerStatus mer_runlog_text(MerRunlog *log, const char *line, size_t length, MerError *error);
/* Appends whole lines; not while the old log is replayed. */
MerStatus mer_runlog_lines(MerRunlog *log, const char *lines, size_t length, int count,
                           MerError *error);
/* The same of an object that is still open; frees the writer. */
MerStatus mer_runlog_end_line(MerRunlog *log, MerJson *json, MerError *error);
/* Replay only: the next whole line (kept until the next call), or NULL at the end of the old log. */
const char *mer_runlog_next(MerRunlog *log);
/* Replay only: the run comes to a trial that need not have a line. When the stopped run had not come to it, the old log
 * ends here. */
MerStatus mer_runlog_pass(MerRunlog *log, int64_t trial, MerError *error);
/* Replay only: passes over the notes and epochs that come next and were written after `index` trials. */
void mer_runlog_pass_words(MerRunlog *log, int64_t index);
/* Goes on writing after the first `bytes` bytes (`lines` lines): what follows is forgotten. */
MerStatus mer_runlog_cut(MerRunlog *log, int64_t bytes, int64_t lines, MerError *error);

#endif
