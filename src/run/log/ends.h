/* Lines `end` of a log: a search that was stopped by time says after how many trials, so that a resumed run can
 * stop it at the same place. */
#ifndef MERCATOR_RUN_LOG_ENDS_H
#define MERCATOR_RUN_LOG_ENDS_H

#include "mercator/arena.h"
#include "mercator/json.h"
#include "mercator/metric.h"
#include "mercator/notes.h"
#include "run/log/runlog.h"

typedef struct MerLogEnd {
    int      search; /* number among the searches of the run */
    int64_t  index;  /* trials of the run by then */
    MerBound bound; /* what was proven by then, which a search that is cut at once would not know */
    double   spent[MER_SPENT_COUNT]; /* by then, on a training that was cut, too */
} MerLogEnd;

typedef struct MerLogEnds {
    int        count;
    MerLogEnd *list;
} MerLogEnds;

MerLogEnds       mer_log_ends_read(const char *path, MerArena *arena);
const MerLogEnd *mer_log_ends_find(const MerLogEnds *ends, int search); /* NULL if there is none */
MerStatus        mer_log_end_write(MerRunlog *log, const MerLogEnd *end, int task, MerError *error);

#endif
