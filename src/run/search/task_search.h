/* One task being searched: what the files of the loop share. */
#ifndef MERCATOR_RUN_SEARCH_TASK_SEARCH_H
#define MERCATOR_RUN_SEARCH_TASK_SEARCH_H

#include "run/internal.h"

typedef struct MerAssessment MerAssessment;

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
    MerArena                *memory; /* of the arrays below, which end with the search */
    int                      capacity;
    MerTrialForm             form;
    MerRunTrial             *trials;
    MerProposal             *proposals;
    MerTrial                *told;
    MerIndex                *seen;       /* the optimizer's points, capacity x view knobs */
    int                     *choices;    /* of the view's knobs */
    int                      prepared;   /* proposals of this ask that became trials */
    bool                     is_ahead;   /* they are being priced while the optimizer still asks */
    int64_t                  counted;    /* against the budget */
    int64_t                  expected;   /* of the budget, where the optimizer ends before */
    const MerLogEnd         *end;        /* in the log that is resumed; NULL: none */
    MerAssessment           *assessment; /* NULL: nobody asks what the models think */
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

/* `head`, then what the optimizer keeps; give `data` back with free(), after errors too. */
MerStatus mer_task_search_save(const MerTaskSearch *s, MerKeep what, const void *head,
                               size_t head_size, char **data, size_t *size, MerError *error);

/* task_loop.c: the optimizer's proposals up to this one are ready (MerSearch.ready). */
void mer_task_search_ready(void *search, int count);

/* Would this trial be the best so far? */
bool mer_task_is_better(const MerRunTask *task, const MerRunTrial *trial);
/* Would it be in the front of trade-offs, or could it, as some of its values are not known? */
bool mer_task_joins_front(const MerRunState *run, const MerRunTask *task, const MerRunTrial *trial);
/* Takes a priced trial into the task's result: best, front, counts. */
void mer_task_take(MerRunState *run, MerRunTask *task, const MerRunTrial *trial);

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
/* On resume: reads the log up to the saved state, loads it, and goes on writing from there. */
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
