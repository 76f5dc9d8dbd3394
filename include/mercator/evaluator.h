/* An evaluator prices plans: a pure function, thread-safe, without allocation on the hot path. */
#ifndef MERCATOR_EVALUATOR_H
#define MERCATOR_EVALUATOR_H

#include "mercator/metric.h"
#include "mercator/notes.h"
#include "mercator/problem.h"

typedef struct MerCall { /* what one evaluation may use besides the plan */
    MerArena *scratch;   /* reset after the call */
    MerNotes *notes;
    MerMetric limit_metric;
    /* +inf: none; else stop once limit_metric is sure to pass it, and set cut */
    double      limit;
    const void *base;     /* NULL, or the snapshot of a plan that differs little */
    void       *snapshot; /* NULL, or memory to leave this plan's snapshot */
    bool        exact;    /* the value will be reported; see approximates */
} MerCall;

typedef struct MerServed { /* what became of (a part of) a request that has a deadline */
    /* equal for the parts of one request, in all tasks of a run; -1: it has no other part */
    int64_t number;
    bool    is_missed; /* late, or never ended */
} MerServed;

struct MerEvaluatorClass {
    const char      *name, *summary, *reference;
    unsigned         plans;   /* bit per MerPlanKind it prices */
    uint64_t         metrics; /* bit per MerMetric it fills */
    const MerOption *options;
    size_t           options_size, state_size;
    MerStatus (*open)(void *state, const MerProblem *problem, const void *options, MerArena *arena,
                      MerError *error);
    /* Same plan, same bits, from any thread, with or without limit, base and snapshot. */
    void (*evaluate)(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost);

    /* optional */
    /* `count` plans at once (SIMD, GPU); absent: one by one, on threads. */
    void (*evaluate_batch)(const void *state, const MerPlan *plans, int count, const MerCall *calls,
                           MerCost *costs);
    /* bytes of a snapshot; absent: base and snapshot stay NULL */
    size_t (*snapshot_size)(const void *state);
    MerTensor *(*expected)(const void *state, MerTape *tape, MerTensor *const *choice,
                           MerMetric metric);
    /* Breakdown of one plan as notes: accesses per level, Gantt, critical path. */
    void (*detail)(const void *state, const MerPlan *plan, MerNotes *notes);
    /* How one plan runs, as lines for a person after those of the problem's print_plan. */
    const char *(*print)(const void *state, const MerPlan *plan, MerArena *arena);
    /* false: it may price below the problem's bounds; absent: true */
    bool (*keeps_bounds)(const void *state);
    /* of the cost tables it reads; absent: not logged */
    uint64_t (*tables_hash)(const void *state);
    /* true: values are only close to what exact calls give; a run prices every new best and every point of its
     * front again by such a call. Absent: false */
    bool (*approximates)(const void *state);
    /* As of a problem: what the user should know of the evaluator as it was opened. Absent: nothing */
    const char *(*warnings)(const void *state, MerMetric objective, MerArena *arena);
    /* The option by which `objective` is the same for every plan, "dispatch=policy"; NULL: it is not. Absent: NULL */
    const char *(*ignores_plan)(const void *state, MerMetric objective);
    /* The requests of `plan`, or parts of them, in `arena`; gives how many. Absent: there are none */
    int (*requests)(const void *state, const MerPlan *plan, MerArena *arena, MerServed **requests);
    void (*close)(void *state);
};

struct MerEvaluator {
    const MerEvaluatorClass *type;
    void                    *state;
    const void              *options;
};

#endif
