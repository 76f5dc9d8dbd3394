/* Prices a batch of trials on threads: decode, evaluate, score, and write each one's log line. The
 * result does not depend on the number of threads. */
#ifndef MERCATOR_RUN_SEARCH_BATCH_H
#define MERCATOR_RUN_SEARCH_BATCH_H

#include "mercator/evaluator.h"
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

/* The same while trials are still being proposed: false where that cannot be done, and mer_batch_price has to. `more`
 * says how many of `trials` are ready by now, and `end`, when there are no more, waits for all; none of them is known. */
bool mer_batch_begin(MerBatch *batch, MerRunTrial *trials, bool write_lines);
void mer_batch_more(MerBatch *batch, int count);
void mer_batch_end(MerBatch *batch, int count);

/* Says that the caller is going to look at a trial soon. */
void mer_batch_expect(const MerRunTrial *trial);
void mer_batch_expect_line(const MerRunTrial *trial); /* a little later: its log line */

/* Prices a trial of the last batch again by an exact call, if the evaluator's values are only close to that. */
void mer_batch_price_exactly(MerBatch *batch, MerRunTrial *trial);

/* measure.c: prices one plan as its evaluator wants it: here, or, where it measures, in a child process. What `check` (its type
 * NULL: nobody) refuses is not priced.
 * A child that crashes, or takes longer than the evaluator allows, gives an infeasible cost with the class
 * `crash` or `timeout`. When call->notes is cancelled the child is ended and the cost means nothing. */
void mer_price_plan(const MerEvaluator *evaluator, const MerEvaluator *check, const MerPlan *plan,
                    const MerCall *call, MerCost *cost);

#endif
