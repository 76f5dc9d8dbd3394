/* The contract between the run loop and an optimizer: ask for points, tell their scores.
 *
 * An optimizer sees the space (and the graph, for policies that read graphs), never plans, platforms
 * or cost models. A solver is its white-box sibling: it may read the opened problem, and prove things.
 * docs/how-to-add-an-optimizer.md builds one from nothing. */
#ifndef MERCATOR_SEARCH_H
#define MERCATOR_SEARCH_H

#include "mercator/error.h"
#include "mercator/metric.h"
#include "mercator/notes.h"
#include "mercator/option.h"
#include "mercator/rng.h"
#include "mercator/space.h"
#include "mercator/threads.h"
#include "mercator/trainable.h"

#include <stdio.h>

typedef struct MerGraph          MerGraph;
typedef struct MerProblem        MerProblem;
typedef struct MerProblemClass   MerProblemClass;
typedef struct MerEvaluator      MerEvaluator;
typedef struct MerEvaluatorClass MerEvaluatorClass;

typedef struct MerLegality {
    const void *state;
    bool (*is_legal)(const void *state, const MerIndex *point);
} MerLegality;

/* The evaluator's `expected` without the evaluator: a cost as a share of that of the plan that the evaluator compares with, (1). */
typedef struct MerSoftCost {
    const void *state;
    MerTensor *(*expected)(const void *state, MerTape *tape, MerTensor *const *choice,
                           MerMetric metric);
    bool is_number; /* its gradient means nothing */
} MerSoftCost;

/* A cost that is only known as a number: the objective of a point over that of the plan that the problem compares with, by an evaluator
 * that takes little time. A point that is refused is MER_INVALID with the reason, and the caller may go on; MER_NOT_FOUND: the plan to compare with has
 * no price, so that nothing has a share. */
typedef struct MerPointCost {
    void *state;
    /* `cost`: all that is known of the point, NULL: not wanted */
    MerStatus (*share)(void *state, const MerIndex *point, double *share, MerCost *cost,
                       MerError *error);
} MerPointCost;

/* all an optimizer may know; lives as long as the optimizer is open */
/* How tasks of other runs are compared with this one (`--warm-match`). */
typedef enum MerMatch {
    MER_MATCH_RANK, /* by place in the task's own order, resampled when there are more or fewer */
    MER_MATCH_LAYER /* by what they are: the same numbers, else the nearest */
} MerMatch;

/* The objective as the run counts it: for solvers that know what metrics an expression is made of. */
typedef struct MerGoal {
    uint64_t metrics;   /* that it reads, as bits */
    int      direction; /* -1: smaller is better */
    double (*value)(const void *state, const double *metrics);
    const void *state;
} MerGoal;

typedef struct MerSearch {
    const MerSpace *space;
    const MerGraph *graph; /* for policies that read it */
    int             task, task_count;
    MerMetric       objective; /* MER_METRIC_COUNT if it is an expression */
    const MerGoal  *goal;      /* the same, for either; NULL in tests of optimizers */
    /* INT64_MAX with --time alone: schedules then run in doubling rounds */
    int64_t budget;
    int     batch; /* points that one ask wants at most; 0: not known, in tests of optimizers */
    MerRng *rng;
    /* of the run: for replays of programs that draw in their own way */
    uint64_t  seed;
    MerNotes *notes;
    MerArena *arena; /* for whatever the optimizer keeps while it is open */
    MerPool  *pool;  /* threads for a long training, whose result does not depend on their number */
    const MerLegality  *legality;  /* NULL: unknown, or hidden by legality=learned */
    const MerSoftCost  *soft;      /* NULL: the evaluator is not differentiable */
    const MerPointCost *numbers;   /* NULL: points have no price but that of their trials */
    const MerTrainable *trainable; /* NULL: nothing to train */
} MerSearch;

/* preset: limit +inf, a score above which the exact value does not matter, */
typedef struct MerProposal {
    MerIndex *point; /* and base -1, the index of the trial it was changed from */
    double    limit;
    int64_t   base;
} MerProposal;

typedef struct MerTrial { /* score is minimised, +inf if infeasible; warm: from an earlier run */
    int64_t         index;
    const MerIndex *point;
    const MerCost  *cost;
    double          score;
    bool            warm;
} MerTrial;

/* Bytes between what threads write that walk side by side, and what all of them read: some lines of the cache, since a
 * processor fetches the next ones beforehand, too. */
enum { MER_WALKS_APART = 256 };

/* See MerOptimizerClass. */
typedef int  MerWalks(void *state, int most, int64_t *steps);
typedef void MerWalk(void *state, int walk, int step, const MerTrial *last, MerProposal *proposal);

/* What ask does for an optimizer that walks: one step of each walk. */
static inline int mer_walks_ask(MerWalks *walks, MerWalk *walk, void *state, MerProposal *proposals,
                                int capacity)
{
    int64_t steps;
    int     count = walks(state, capacity, &steps);
    for (int w = 0; w < count; w++) {
        walk(state, w, 0, NULL, &proposals[w]);
    }
    return count;
}

/* what moves to other inputs; what a restart needs */
typedef enum MerKeep { MER_KEEP_POLICY, MER_KEEP_ALL } MerKeep;

typedef struct MerOpinion {  /* what an optimizer's models think of a point */
    float surrogate, critic; /* larger promises more; NaN: no such model */
    bool  is_dropped;        /* met while the last plan was made, and left out of it */
} MerOpinion;

typedef struct MerOptimizerClass {
    const char      *name, *summary, *reference;
    const MerOption *options;
    const MerPreset *presets; /* NULL: none */
    size_t           options_size, state_size;
    const char      *problem; /* the only one a solver knows, by name; NULL: any */
    /* tables of the space that it reads, separated by spaces, and refuses to open without; NULL: none */
    const char *tables;
    /* true: it learns by gradients, and refuses to open without MerSearch.trainable and soft or numbers */
    bool needs_model;
    /* true: its points come from the problem alone, told trials do not guide it */
    bool makes_own_plan;
    /* true: `save` and `load` know MER_KEEP_ALL alone, what it learns is of no use to another search */
    bool has_no_policy;
    /* true: it ends by a proof, or with the one plan it makes, mostly long before the budget, so that the
     * trials that are left say nothing of the time that is left */
    bool ends_itself;
    /* Exactly one of the two: a black box lives in src/opt, a solver (white box) in its problem's
     * folder. */
    MerStatus (*open)(void *state, const MerSearch *search, const void *options, MerError *error);
    MerStatus (*open_problem)(void *state, const MerSearch *search, const MerProblem *problem,
                              const MerEvaluator *evaluator, const void *options, MerError *error);
    /* how many were filled; 0 = finished */
    int (*ask)(void *state, MerProposal *proposals, int capacity);
    /* the asked ones in order, or warm ones */
    void (*tell)(void *state, const MerTrial *trials, int count);

    /* optional */
    /* Proposals that threads make themselves, in place of ask. `walks` says how many walks go on side by side from here,
     * at most `most`, and how many steps each may take before it has to know of the others: 1 .. `steps`; 0: ask has to be
     * called now. `walk` fills in the proposal of the next step (from 0); `last` is the trial of the step before, NULL at
     * the first. It is called from any thread, for several walks at once, and reads nothing that another walk writes.
     * Trials are in the order of the steps (the first of every walk, the second of every walk, ...) and are told together.
     * The points do not depend on how many steps were taken at once; ask is one step of each walk. */
    MerWalks *walks;
    MerWalk  *walk;
    /* In place of tell, where walks went to their end and no trial of theirs is better than all before: `last` is the last
     * trial of each, `count` their trials in all. False: it wants to be told all of them; absent: it always does. */
    bool (*walked)(void *state, const MerTrial *last, int count);
    /* solvers: what has been proven so far */
    bool (*proof)(const void *state, MerBound *bound);
    /* MER_KEEP_ALL may give MER_UNSUPPORTED where it cannot be done yet: a restart then asks again from the seed. */
    MerStatus (*save)(const void *state, MerKeep what, FILE *file, MerError *error);
    MerStatus (*load)(void *state, MerKeep what, FILE *file, MerError *error);
    /* keep the policy, go on elsewhere; the search of the task before is still there */
    MerStatus (*next_task)(void *state, const MerSearch *search, MerError *error);
    /* What its models think of any points, asked right after it noted an epoch; false: none yet. The run knows the
     * true scores (--assess). */
    bool (*opinions)(const void *state, int count, const MerIndex *points, MerOpinion *opinions);
    /* Points of one generation, by its options; absent, or 0: it has no generations. */
    int64_t (*population)(const void *options);
    /* Points that it proposes in all, by its options; absent, or 0: as many as the budget allows. */
    int64_t (*points)(const void *options);
    /* Does it look at the clock, so that no two runs agree? Absent: no */
    bool (*is_clocked)(const void *options);
    void (*close)(void *state);
} MerOptimizerClass;

#endif
