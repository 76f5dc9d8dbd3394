/* Prices a batch of trials on threads: decode, evaluate, score, and write each one's log line. The
 * result does not depend on the number of threads. */
#ifndef MERCATOR_RUN_SEARCH_BATCH_H
#define MERCATOR_RUN_SEARCH_BATCH_H

#include "mercator/evaluator.h"
#include "mercator/run.h"
#include "mercator/threads.h"
#include "run/log/trial.h"
#include "run/search/objective.h"
#include "run/search/phase_times.h"

typedef struct MerBatch MerBatch;

/* Everything is kept; `form` may be NULL where no lines are written. `is_cancelled` may be called from any thread. */
MerBatch *mer_batch_new(const MerProblem *problem, const MerEvaluator *evaluator,
                        const MerEvaluator *check, const MerObjective *objective,
                        const MerTrialForm *form, MerPool *pool, bool use_memo,
                        bool (*is_cancelled)(void *state), void *cancel_state);
/* Epochs of evaluations are timed, where one is made at a time. Kept. */
void mer_batch_watch(MerBatch *batch, MerPhaseWatch *watch);
void mer_batch_free(MerBatch *batch);

/* Prices trials[0 .. count-1] that are not known yet; `write_lines` also fills their `json`. */
void mer_batch_price(MerBatch *batch, MerRunTrial *trials, int count, bool write_lines);

typedef struct MerTrialCounts {
    int64_t infeasible, reasons[MER_MAX_REASONS]; /* of those that the result knows */
    bool    has_more; /* some trial has lines of its evaluation, or spent something */
} MerTrialCounts;

/* Trials that the threads propose themselves, and price at once. Those of a walk lie together, so that threads do not
 * write side by side: trials[walk * steps + step]. */
typedef struct MerBatchWalks {
    int width, steps; /* walks side by side, and steps of each */
    int chunk;        /* walks that go in step on one thread; told by mer_batch_walk */
    /* Makes a trial, from any thread, once the one before it on its walk has been priced. */
    void (*propose)(void *state, int walk, int step);
    /* Counts it, from any thread, when it has been; false: the result or the log's words change by it. */
    bool (*count)(void *state, const MerRunTrial *trial, MerTrialCounts *counts);
    void *state;
    /* NULL: no lines are written. Else those of a chunk from its first walk on: in step k up to ends[walk * steps + k]. */
    MerLines *texts; /* of each walk; those of a chunk's first are used */
    size_t   *ends;
} MerBatchWalks;

typedef struct MerBatchWalked {
    MerTrialCounts counts;
    bool           is_whole; /* none was dropped */
    bool           is_plain; /* all were counted */
} MerBatchWalked;

/* Can it? Not where the price of a trial depends on those before it. */
bool mer_batch_can_walk(const MerBatch *batch);
/* Steps that `width` walks may take at once, of `most`: few where they take so long that a killed run would miss them. */
int mer_batch_steps(const MerBatch *batch, int width, int64_t most);
/* The threads begin, and the caller may do something else that needs neither them nor the log's words. Then he works
 * along until all is done, or wants no more of it. Keeps `walks` till then. */
void           mer_batch_walk(MerBatch *batch, MerRunTrial *trials, MerBatchWalks *walks);
MerBatchWalked mer_batch_walked(MerBatch *batch);
void           mer_batch_turn_back(MerBatch *batch);

/* Prices a trial of the last batch again by an exact call, if the evaluator's values are only close to that. */
void mer_batch_price_exactly(MerBatch *batch, MerRunTrial *trial);

/* measure.c: prices one plan as its evaluator wants it: here, or, where it measures, in a child process. What `check` (its type
 * NULL: nobody) refuses is not priced.
 * A child that crashes, or takes longer than the evaluator allows, gives an infeasible cost with the class
 * `crash` or `timeout`. When call->notes is cancelled the child is ended and the cost means nothing. */
void mer_price_plan(const MerEvaluator *evaluator, const MerEvaluator *check, const MerPlan *plan,
                    const MerCall *call, MerCost *cost);

#endif
