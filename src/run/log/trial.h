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
    bool      is_known;   /* answered from the log */
    bool      is_dropped; /* cancelled before it was priced */
    bool      is_warm;
    bool      is_from_log; /* replay: the log says which point it is */
    bool      is_written;  /* json is filled, if the log's words still are those of `metrics` */
    MerIndex *point;       /* all knobs */
    double    limit;       /* score above which the exact value does not matter */
    int64_t   base;        /* trial it was changed from, -1: none */
    int64_t   same_as;     /* trial with the same plan, -1: none */
    double    score;
    MerLines  lines;   /* what its evaluation wants logged before it */
    MerJson   json;    /* its own line */
    uint64_t  metrics; /* that the cost has, as bits */
    double    spent[MER_SPENT_COUNT];
    MerCost
        cost; /* last: the thread that takes a trial needs its values only where it is the best */
} MerRunTrial;

/* How the trials of a task are written. */
typedef struct MerTrialForm {
    MerLogWords *words;   /* of the log */
    int         *choices; /* of the knobs */
    int          knobs, point_length;
    MerMetric    objective; /* MER_METRIC_COUNT: an expression */
    int          direction;
} MerTrialForm;

/* Everything but the words of the log, which come with it. */
MerTrialForm mer_trial_form(const MerSpace *space, MerMetric objective, int direction,
                            MerArena *arena);
/* Fills json, from any thread, if the log has all the words for it by now. */
void mer_trial_write(MerRunTrial *trial, const MerTrialForm *form);
/* Makes sure of it when it is the trial's turn; new words are taken. */
void mer_trial_settle(MerRunTrial *trial, const MerTrialForm *form);
/* Does its line, as mer_trial_write made it, use only words that the log has by now, and leave none? */
bool mer_trial_is_settled(const MerRunTrial *trial, const MerTrialForm *form);
/* Fills json with everything in full, as logs of version 1 have it. */
void mer_trial_write_long(MerRunTrial *trial, int knob_count);

/* Members of an open object: the metrics that are known; and an object of what was spent. */
void mer_write_metrics(MerJson *json, const double *values);
void mer_write_spent(MerJson *json, const double *spent);

/* Replay: takes the trial, and the lines of its evaluation before it, from the log. `*found` is false
 * when the old log ends before it; the log is then ready to be written. */
MerStatus mer_trial_replay(MerRunTrial *trial, const MerTrialForm *form, MerRunlog *log,
                           bool *found, MerError *error);
/* A line of the log in full; NULL: it is not whole. */
const char *mer_trial_full_line(const MerTrialForm *form, MerRunlog *log, const char *line);
/* Reads cost, reason, flags and spent out of a trial line; false if it is not a trial line. */
struct cJSON;
bool mer_trial_read(const struct cJSON *line, MerCost *cost, int64_t *same_as, double *spent);
void mer_read_spent(const struct cJSON *object, double *spent);

#endif
