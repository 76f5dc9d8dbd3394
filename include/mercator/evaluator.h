/* An evaluator prices plans: a pure function, thread-safe, without allocation on the hot path. */
#ifndef MERCATOR_EVALUATOR_H
#define MERCATOR_EVALUATOR_H

#include "mercator/metric.h"
#include "mercator/notes.h"
#include "mercator/problem.h"
#include "mercator/threads.h"

typedef struct MerCall { /* what one evaluation may use besides the plan */
    MerArena *scratch;   /* reset after the call */
    MerNotes *notes;
    MerMetric limit_metric;
    /* +inf: none; else stop once limit_metric is sure to pass it, and set cut */
    double      limit;
    const void *base;     /* NULL, or the snapshot of a plan that differs little */
    void       *snapshot; /* NULL, or memory to leave this plan's snapshot */
    bool        exact;    /* the value will be reported; see approximates */
    MerPool    *pool;     /* of MER_EVALUATE_ALONE: threads for this evaluation; NULL: none */
    bool is_told; /* resumed: what the first feasible plan makes it say and spend is in the log */
} MerCall;

typedef enum MerEvaluateMode {
    MER_EVALUATE_PARALLEL, /* several plans at once, on threads of the run */
    /* one plan at a time, which may use the threads of `MerCall.pool` (trainings); the result does not
     * depend on their number */
    MER_EVALUATE_ALONE,
    /* one plan at a time, in a child process, ended after `timeout_s`: measures real hardware, so that
     * no two runs agree. A crash or a time-out is an infeasible plan. The log says so, and a resumed
     * run keeps what was measured and measures the rest. */
    MER_EVALUATE_MEASURED
} MerEvaluateMode;

struct MerEvaluatorClass {
    const char *name, *summary, *reference;
    /* kinds that it prices, ends with NULL; NULL: every kind that can be written to a file */
    const MerPlanKind *const *plans;
    uint64_t                  metrics; /* bit per MerMetric it fills */
    uint64_t                  clocked; /* of these: unknown where the platform has no clock_hz */
    MerEvaluateMode           mode;
    /* refuses plans that do not fit the platform (fan-out, capacity, ...); false: the problem's own evaluator is asked
     * first, and what it refuses is never priced */
    bool checks_plans;
    /* asks MerProblem.inner, where the user names one (`inner=NAME`), for what it would price itself */
    bool             takes_inner;
    const MerOption *options;
    size_t           options_size, state_size;
    MerStatus (*open)(void *state, const MerProblem *problem, const void *options, MerArena *arena,
                      MerError *error);
    /* Same plan, same bits, from any thread, with or without limit, base and snapshot. */
    void (*evaluate)(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost);

    /* optional */
    /* As evaluate, without what takes long (training): for whoever asks while he searches. Absent: evaluate, of MER_EVALUATE_PARALLEL */
    void (*price)(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost);
    /* `count` plans at once (SIMD, GPU); absent: one by one, on threads. */
    void (*evaluate_batch)(const void *state, const MerPlan *plans, int count, const MerCall *calls,
                           MerCost *costs);
    /* bytes of a snapshot; absent: base and snapshot stay NULL */
    size_t (*snapshot_size)(const void *state);
    /* The cost of relaxed choices (MerTrainable.loss has their form) over that of a plan that it compares with: differentiable, 1
     * for that plan. */
    MerTensor *(*expected)(const void *state, MerTape *tape, MerTensor *const *choice,
                           MerMetric metric);
    /* true: the user wants `expected` to be taken as a number, whose gradient is not used. Absent: false */
    bool (*is_number)(const void *state);
    /* Breakdown of one plan as notes and views: accesses per level, timeline, critical path. */
    void (*detail)(const void *state, const MerPlan *plan, MerNotes *notes);
    /* How one plan runs, as lines for a person after those of the kind's print. */
    const char *(*print)(const void *state, const MerPlan *plan, MerArena *arena);
    /* The rules by which it prices, of a type that the problem's bounds know; NULL, or the slot
     * absent: the bounds do not hold for it. */
    const void *(*rules)(const void *state);
    /* Metrics that are 0 for every plan, as bits, and why: "platform s256 has no energies". An
     * objective that is their product says nothing. Absent: none */
    uint64_t (*zeros)(const void *state, const char **why);
    /* Metrics that no plan has here, as bits, and why: "platform gap8 has no power_mw". They are no objective. Absent: none */
    uint64_t (*unknown)(const void *state, const char **why);
    /* of the cost tables it reads; absent: not logged */
    uint64_t (*tables_hash)(const void *state);
    /* true: values are only close to what exact calls give; a run prices every new best and every point of its
     * front again by such a call. Absent: false */
    bool (*approximates)(const void *state);
    /* As of a problem: what the user should know of the evaluator as it was opened. Absent: nothing */
    const char *(*warnings)(const void *state, MerMetric objective, MerArena *arena);
    /* The option by which `objective` is the same for every plan, "dispatch=policy"; NULL: it is not.
     * Absent: NULL */
    const char *(*ignores_plan)(const void *state, MerMetric objective);
    /* Of MER_EVALUATE_MEASURED: seconds that one plan may take; absent: 10 */
    double (*timeout_s)(const void *state);
    /* Of one that does not check plans: false, the problem's own evaluator is not asked either. Absent: true */
    bool (*needs_check)(const void *state);
    void (*close)(void *state);
};

struct MerEvaluator {
    const MerEvaluatorClass *type;
    void                    *state;
    const void              *options;
};

/* Does it price plans of this kind? */
bool mer_evaluator_prices(const MerEvaluatorClass *type, const MerPlanKind *kind);

#endif
