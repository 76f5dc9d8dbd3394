/* Child processes that price plans: waiting for them, ending them, and saying how they ended. */
#ifndef MERCATOR_RUN_COMMAND_CHILD_H
#define MERCATOR_RUN_COMMAND_CHILD_H

#include "mercator/metric.h"
#include "mercator/notes.h"

#include <stdbool.h>
#include <sys/types.h>

typedef enum MerChildState {
    MER_CHILD_READY,
    MER_CHILD_GONE, /* it closed its end */
    MER_CHILD_LATE,
    MER_CHILD_CANCELLED
} MerChildState;

/* Waits until `file` can be read (POLLIN) or written (POLLOUT), the clock shows `deadline`, or `notes` is cancelled. */
MerChildState mer_child_wait(int file, short what, double deadline, MerNotes *notes);
/* Is errno that of a call to try again? */
bool mer_child_is_passing(int code);
/* Waits for its end, after `patience_s` by force, ends what it left behind in its process group, and gives its status. */
int mer_child_end(pid_t pid, double patience_s);
/* Refuses `cost` with the class `timeout` or `crash`. */
void mer_child_explain(MerChildState state, int status, double timeout_s, MerCost *cost);

#endif
