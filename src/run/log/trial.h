/* One trial on its way through the run: asked, priced (or answered from the log), logged, told. */
#ifndef MERCATOR_RUN_LOG_TRIAL_H
#define MERCATOR_RUN_LOG_TRIAL_H

#include "mercator/json.h"
#include "mercator/metric.h"
#include "mercator/notes.h"
#include "mercator/space.h"
#include "run/log/lines.h"
#include "run/log/runlog.h"

typedef struct MerRunTrial {
    int64_t   index;
    int       task;
    MerIndex *point; /* all knobs */
    double    limit; /* score above which the exact value does not matter */
    int64_t   base;  /* trial it was changed from, -1: none */
    MerCost   cost;
    double    score;
    int64_t   same_as;    /* trial with the same plan, -1: none */
    bool      is_known;   /* answered from the log */
    bool      is_dropped; /* cancelled before it was priced */
    bool      is_warm;
    bool      is_from_log; /* replay: the log says which point it is */
    double    spent[MER_SPENT_COUNT];
    MerLines  lines; /* what its evaluation wants logged before it */
    MerJson   json;  /* its own line */
} MerRunTrial;

void mer_trial_write(MerRunTrial *trial, int knob_count); /* fills json */

/* Members of an open object: the metrics that are known; and an object of what was spent. */
void mer_write_metrics(MerJson *json, const double *values);
void mer_write_spent(MerJson *json, const double *spent);

/* Replay: takes the trial, and the lines of its evaluation before it, from the log. `*found` is false
 * when the old log ends before it; the log is then ready to be written. */
MerStatus mer_trial_replay(MerRunTrial *trial, int knob_count, MerRunlog *log, bool *found,
                           MerError *error);
/* Reads cost, reason, flags and spent out of a trial line; false if it is not a trial line. */
struct cJSON;
bool mer_trial_read(const struct cJSON *line, MerCost *cost, int64_t *same_as, double *spent);

#endif
