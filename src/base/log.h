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

typedef struct MerProgressNow { /* NULL or "": not shown */
    const char *what, *name;    /* "map 3/12", and the thing at hand */
    int64_t     done, total;    /* 0: unknown */
    const char *unit;           /* of these, "evaluations" */
    double rate, left_s; /* per second, and till the end of all; rate 0 and left_s NaN: unknown */
    const char *best, *gap, *detail;
} MerProgressNow;

double mer_clock(void);     /* seconds, monotonic */
double mer_cpu_clock(void); /* CPU seconds of the process */

void mer_progress_begin(MerProgress *progress, FILE *file); /* NULL file: silent */
/* The line in at most `columns`: 40 are enough for what is done, the best with its unit, rate and time left. */
void mer_progress_format(char *line, size_t size, const MerProgressNow *now, int columns);
void mer_progress_update(MerProgress          *progress,
                         const MerProgressNow *now); /* at most ten times a second */
void mer_progress_end(MerProgress *progress);        /* clears the line on a terminal */

#endif
