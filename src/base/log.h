/* Messages for people, on stderr: warnings and progress. The library says nothing unless a sink is set
 * by the program, so that a user of libmercator keeps a quiet stderr. */
#ifndef MERCATOR_BASE_LOG_H
#define MERCATOR_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* One line that replaces itself on a terminal, and a plain line every ten seconds elsewhere. */
typedef struct MerProgress {
    FILE  *file; /* NULL: silent */
    bool   is_terminal;
    double started, last;
    int    width;
} MerProgress;

double mer_clock(void);     /* seconds, monotonic */
double mer_cpu_clock(void); /* CPU seconds of the process */

void mer_progress_begin(MerProgress *progress, FILE *file); /* NULL file: silent */
/* `done` of `total` (0: unknown), `best` as text; prints at most ten times a second. */
void mer_progress_update(MerProgress *progress, const char *label, int64_t done, int64_t total,
                         double rate, const char *best);
void mer_progress_end(MerProgress *progress); /* clears the line on a terminal */

#endif
