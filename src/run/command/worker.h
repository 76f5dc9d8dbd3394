/* A program that answers lines: it is started when the first line is sent, lives on between lines, and is started again after it
 * crashed or was too slow. */
#ifndef MERCATOR_RUN_COMMAND_WORKER_H
#define MERCATOR_RUN_COMMAND_WORKER_H

#include "mercator/metric.h"
#include "mercator/notes.h"

#include <stddef.h>
#include <sys/types.h>

typedef struct MerWorker {
    pid_t  pid; /* 0: not running; it leads a process group of its own */
    int    in, out;
    char  *text; /* what came and was not taken yet */
    size_t size, capacity;
    char  *answer; /* the last line */
} MerWorker;

/* Sends `line` (with its newline) to `command`, a line of the shell, and waits for one line, which is valid until the next call.
 * NULL: `cost` was refused with the class `timeout`, `crash` or `answer`, or `notes` is cancelled, and the program was ended. */
const char *mer_worker_ask(MerWorker *worker, const char *command, const char *line, size_t size,
                           double timeout_s, MerNotes *notes, MerCost *cost);
/* Ends the program, which has `patience_s` to leave once its input ends. */
void mer_worker_stop(MerWorker *worker, double patience_s);

#endif
