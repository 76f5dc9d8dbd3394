/* Why nothing was feasible: points priced after a search in vain, so that the user learns what is
 * in the way and how near the nearest miss comes. They are no trials and are not logged. */
#include "run/internal.h"
#include "run/search/reasons.h"

#include "base/log.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 1000, STEPS = 3000, STREAM = 0x6e6f };
static const double LONGEST_S = 1;

typedef struct Explanation {
    MerRunState *run;
    MerRunTask  *task;
    MerArena    *scratch;
    MerRng       rng;
    double       started;
    double       closest;     /* excess of the nearest miss */
    bool         counts;      /* reasons go into the result */
    bool         is_unpriced; /* a plan that fits lacks what is asked for: that is what to tell */
} Explanation;

/* Excess of a point: 1 and below would fit, +inf if it cannot be known. */
static double price(Explanation *e, const MerIndex *point)
{
    MerTaskResult *result = e->task->result;
    MerPlan        plan;
    MerCost        cost;
    MerCall call = {.scratch = e->scratch, .limit_metric = MER_METRIC_COUNT, .limit = INFINITY};
    mer_arena_reset(e->scratch);
    e->task->problem.type->decode(&e->task->problem, point, &plan, e->scratch);
    mer_price_plan(&e->task->evaluator, &e->task->check, &plan, &call, &cost);
    result->explained++;
    mer_objective_refuse(&e->run->objective, &cost);
    if (cost.feasible) {
        result->is_reachable = true;
        return 0;
    }
    double excess = mer_cost_excess(&cost);
    if (e->counts) {
        mer_reasons_count(result, &cost);
    }
    e->is_unpriced = strstr(cost.reason, MER_GIVES_NO) != NULL;
    if (result->closest[0] == '\0' || excess < e->closest || e->is_unpriced) {
        e->closest = excess;
        snprintf(result->closest, sizeof result->closest, "%s", cost.reason);
    }
    return excess;
}

static bool goes_on(const Explanation *e)
{
    return !e->task->result->is_reachable && !e->is_unpriced && !mer_run_is_cancelled(e->run) &&
           mer_clock() - e->started < LONGEST_S;
}

/* A trial whose plan was fine lacked what is asked for. */
static bool tell_unpriced(MerTaskResult *result)
{
    for (int r = 0; r < result->reason_count; r++) {
        if (strstr(result->reasons[r].nearest, MER_GIVES_NO)) {
            snprintf(result->closest, sizeof result->closest, "%s", result->reasons[r].nearest);
            return true;
        }
    }
    return false;
}

void mer_run_explain(MerRunState *run, MerRunTask *task)
{
    if (tell_unpriced(task->result)) {
        return;
    }
    const MerSpace *space = &task->problem.space;
    size_t          bytes = (size_t)space->knob_count * sizeof(MerIndex);
    Explanation     e = {.run = run,
                         .task = task,
                         .scratch = mer_arena_new(),
                         .rng = mer_rng_make(run->spec->seed, STREAM),
                         .started = mer_clock(),
                         .closest = INFINITY,
                         .counts = task->result->reason_count == 0};
    MerIndex       *point = MER_ARRAY(run->arena, MerIndex, space->knob_count + 1);
    MerIndex       *best = MER_ARRAY(run->arena, MerIndex, space->knob_count + 1);
    double          best_excess = INFINITY;
    for (int i = 0; i < SAMPLES && goes_on(&e); i++) {
        mer_space_sample(space, &e.rng, point);
        double excess = price(&e, point);
        if (i == 0 || excess < best_excess) {
            best_excess = excess;
            memcpy(best, point, bytes);
        }
    }
    e.counts = false;
    for (int i = 0; i < STEPS && space->knob_count > 0 && goes_on(&e);
         i++) { /* downhill from the nearest */
        memcpy(point, best, bytes);
        int moves = 1 + mer_rng_below(&e.rng, 2);
        for (int m = 0; m < moves; m++) {
            mer_space_step(space, &e.rng, mer_rng_below(&e.rng, space->knob_count), point);
        }
        double excess = price(&e, point);
        if (excess <= best_excess) {
            best_excess = excess;
            memcpy(best, point, bytes);
        }
    }
    mer_arena_free(e.scratch);
}
