/* One task being searched: what the files of the loop share. */
#ifndef MERCATOR_RUN_SEARCH_TASK_SEARCH_H
#define MERCATOR_RUN_SEARCH_TASK_SEARCH_H

#include "run/internal.h"

#include <stdatomic.h>

typedef struct MerAssessment MerAssessment;

/* The trials of a batch in memory; threads that go walks of several steps have those of a walk side by side. */
typedef struct MerTrials {
    struct MerTaskSearch *search;
    MerRunTrial          *trials;
    MerIndex             *seen;  /* the optimizer's points, capacity x view knobs */
    MerTrial             *told;  /* in the order of the log */
    MerLines             *texts; /* of the walks (MerBatchWalks) */
    size_t               *ends;
    int64_t               first;     /* index of the first trial */
    int                   count;     /* walks.width * walks.steps */
    MerBatchWalks         walks;     /* steps are 1 where trials were asked for */
    bool                  is_walked; /* the threads propose and price it */
} MerTrials;

/* Where trial i of the log's order is. */
static inline int mer_trials_place(const MerTrials *batch, int i)
{
    const MerBatchWalks *walks = &batch->walks;
    return walks->steps == 1 ? i : i % walks->width * walks->steps + i / walks->width;
}

static inline MerRunTrial *mer_trials_at(const MerTrials *batch, int i)
{
    return &batch->trials[mer_trials_place(batch, i)];
}

typedef struct MerTaskSearch {
    MerRunState             *run;
    MerRunTask              *task;
    const MerOptimizerClass *type;
    void                    *optimizer;
    MerSearch                search;
    MerRng                   rng;
    MerNotes                 notes;
    MerGoal                  goal;
    MerLegality              legality;
    MerSoftCost              soft;
    MerPointCost             numbers;
    double                   reference; /* cost of the plan that shares are of; NaN: not priced */
    MerArena                *scratch;   /* of prices of points, NULL: there are none */
    MerIndex                *priced_point;
    MerTrainable             trainable;
    MerIndex                *legality_point;
    MerBatch                *batch;
    MerArena                *memory;   /* of the arrays below, which end with the search */
    int                      capacity; /* proposals of an ask */
    int                      places;   /* trials of a batch */
    MerTrialForm             form;
    MerProposal             *proposals;      /* of an ask */
    int                     *choices;        /* of the view's knobs */
    MerTrials                batches[2];     /* the second for threads that go ahead */
    atomic_bool              has_left_space; /* a proposal has */
    int64_t                  expected;       /* of the budget, where the optimizer ends before */
    const MerLogEnd         *end;            /* in the log that is resumed; NULL: none */
    MerAssessment           *assessment;     /* NULL: nobody asks what the models think */
    char
        apart[64]; /* what follows changes with every trial, what is above is read by all threads */
    MerTrials     *ahead;   /* threads work on it; NULL: they do not */
    MerBatchWalked walked;  /* of the batch that is worked off, if it was walked */
    double         shown;   /* when progress was told last */
    int64_t        counted; /* against the budget */
} MerTaskSearch;

/* Describes the task to the optimizer (space, graph, rng, notes, legality) and opens it, or moves the
 * one that is open on to this task. The search must not move in memory afterwards. */
MerStatus mer_task_search_open(MerTaskSearch *s, MerError *error);
/* Closes the optimizer, unless it can carry its policy on to the next task. */
void mer_task_search_close(MerTaskSearch *s, bool is_last);

/* point_cost.c: fills `search.numbers` where points can be priced beside their trials. */
void mer_point_cost_open(MerTaskSearch *s);
void mer_point_cost_close(MerTaskSearch *s);

/* deadline.c: sets the run's deadline where it is not set (INFINITY), once the log has nothing more to say. */
void mer_deadline_set(MerTaskSearch *s);
/* Seconds till the end of the round at the pace of this search, at most; NaN: nobody knows. */
double mer_deadline_left(const MerTaskSearch *s, double now);

/* trials.c: memory for the batches of a search. */
void mer_trials_reserve(MerTaskSearch *s);
void mer_trials_free(MerTaskSearch *s);
/* Is every trial logged here, or only what is better than all before? */
bool mer_trial_is_logged(const MerTaskSearch *s, int64_t index);
bool mer_trials_write_lines(const MerTrials *batch); /* the threads do */
/* Begins a batch of width x steps trials; the optimizer's point of each goes to its place, and makes the trial. */
void      mer_trials_begin(MerTrials *batch, int64_t first, int width, int steps);
MerIndex *mer_trials_seen(const MerTrials *batch, int place);
void      mer_trials_prepare(MerTrials *batch, int i, bool is_warm);
/* Asks for at most `most`. */
MerStatus mer_trials_ask(MerTrials *batch, int most, MerError *error);
/* The threads begin to walk (mer_batch_walk), `before` trials after those of the run; false: they cannot, ask. */
bool      mer_trials_walk(MerTrials *batch, int before);
MerStatus mer_trials_check(const MerTrials *batch,
                           MerError        *error); /* that no proposal left the space */
void      mer_trials_tell(const MerTrials *batch, int count);
/* Threads counted them all, and wrote what the log says of them; these take it. */
bool      mer_trials_are_counted(const MerTrials *batch);
MerStatus mer_trials_take_counts(const MerTrials *batch, MerError *error);

/* `head`, then what the optimizer keeps; give `data` back with free(), after errors too. */
MerStatus mer_task_search_save(const MerTaskSearch *s, MerKeep what, const void *head,
                               size_t head_size, char **data, size_t *size, MerError *error);

/* Would this trial be the best so far? */
bool mer_task_is_better(const MerRunTask *task, const MerRunTrial *trial);
/* Would it be in the front of trade-offs, or could it, as some of its values are not known? */
bool mer_task_joins_front(const MerRunState *run, const MerRunTask *task, const MerRunTrial *trial);
/* A trade-off whose values are all known joins the front, unless one there is as good; it drives out those it beats. */
void mer_front_add(MerRunState *run, MerTaskResult *result, const MerFrontPoint *point);
/* Takes a priced trial into the task's result: its best and its front; its counts. */
void mer_task_keep(MerRunState *run, MerRunTask *task, const MerRunTrial *trial);
void mer_task_count(MerRunState *run, MerRunTask *task, const MerRunTrial *trial);

/* assess.c: prices the whole space, if it is small enough and the optimizer has models; asks them after an epoch; shows
 * what was found. */
void mer_assess_begin(MerTaskSearch *s);
void mer_assess_look(MerTaskSearch *s, int epoch);
void mer_assess_end(MerTaskSearch *s);

/* policy.c: policies that move from one run to another (--save-policy, --policy). A file is a line
 * `mercator-policy/1 OPTIMIZER`, what the optimizer wrote, and a line `checksum HEX` over all before it (FNV-1a,
 * 64 bits). Files of earlier versions lack the last line and are read nevertheless. */
MerStatus mer_policy_load(const MerTaskSearch *s, MerError *error);
/* Before a search: that its policy can be saved at the end. */
MerStatus mer_policy_check(const MerTaskSearch *s, MerError *error);
MerStatus mer_policy_save(const MerTaskSearch *s, MerError *error);

/* checkpoint.c: saved optimizer states: a stopped run of a long training goes on from the newest one instead of
 * being asked all over again.
 * At most every few seconds, if the optimizer can be saved and the run has a directory. */
MerStatus mer_checkpoint_save(MerTaskSearch *s, MerError *error);
/* Where the time has ended the search before: what its last ask has learned is carried here, and a resumed run does not
 * ask it again. Behind the line `end`, and behind `next_task`, so that no proposal waits for its trial. */
MerStatus mer_checkpoint_begin(MerTaskSearch *s, MerError *error);
/* On resume: reads the log up to the saved state, and loads it; the rest of the log is replayed. */
MerStatus mer_checkpoint_restore(MerTaskSearch *s, bool *is_restored, MerError *error);

/* warm.c: the best points of an earlier run, told to the optimizer before its first ask.
 * `spec->warm` is RUN or RUN:k, or `chain`: the tasks of this run that were searched before. Gives at most k
 * (the optimizer's population, 64 if it has none) distinct points of the optimizer's view, best first; none if
 * the MerRunSpec has no warm run. Where the problem can, points of other tasks are carried over
 * (`spec->warm_match`); otherwise another space than the task's is an error. Damaged lines of the log are
 * skipped and counted in one warning. */
MerStatus mer_warm_read(MerRunState *run, MerRunTask *task, MerIndex **points, int *count,
                        MerError *error);

#endif
