/* Taking priced trials into a task's result: the best, the front of trade-offs, the counts. */
#include "run/search/reasons.h"
#include "run/search/task_search.h"

#include <math.h>
#include <string.h>

/* The trial as a point of the front, every value smaller the better. */
static MerFrontPoint front_point(const MerRunSpec *spec, const MerRunTrial *trial)
{
    MerFrontPoint point = {.index = trial->index};
    for (int m = 0; m < spec->pareto_count; m++) {
        double direction = mer_metric_info(spec->pareto[m])->direction;
        point.value[m] = -direction * trial->cost.value[spec->pareto[m]];
    }
    return point;
}

/* No value of `a` is above that of `b`; false where one is not known. */
static bool dominates(const MerRunSpec *spec, const MerFrontPoint *a, const MerFrontPoint *b)
{
    bool is_below = true;
    for (int m = 0; m < spec->pareto_count; m++) {
        is_below = is_below && a->value[m] <= b->value[m];
    }
    return is_below;
}

static bool is_beyond_front(const MerRunSpec *spec, const MerTaskResult *result,
                            const MerFrontPoint *point)
{
    bool is_beyond = true;
    for (int i = 0; is_beyond && i < result->front_count; i++) {
        is_beyond = !dominates(spec, &result->front[i], point);
    }
    return is_beyond;
}

bool mer_task_joins_front(const MerRunState *run, const MerRunTask *task, const MerRunTrial *trial)
{
    if (run->spec->pareto_count == 0 || !trial->cost.feasible || trial->cost.cut) {
        return false;
    }
    MerFrontPoint point = front_point(run->spec, trial);
    return is_beyond_front(run->spec, task->result, &point);
}

void mer_front_add(MerRunState *run, MerTaskResult *result, const MerFrontPoint *point)
{
    int kept = 0;
    if (!is_beyond_front(run->spec, result, point)) {
        return;
    }
    for (int i = 0; i < result->front_count; i++) {
        if (!dominates(run->spec, point, &result->front[i])) {
            result->front[kept++] = result->front[i];
        }
    }
    result->front_count = kept;
    MER_GROW(run->arena, result->front, kept);
    result->front[result->front_count++] = *point;
}

static void keep_front(MerRunState *run, MerRunTask *task, const MerRunTrial *trial)
{
    MerFrontPoint point = front_point(run->spec, trial);
    if (mer_task_joins_front(run, task, trial) &&
        dominates(run->spec, &point, &point)) { /* else some value is not known */
        mer_front_add(run, task->result, &point);
    }
}

static void keep_best(MerRunState *run, MerRunTask *task, const MerRunTrial *trial)
{
    MerTaskResult *result = task->result;
    result->score = trial->score;
    result->value = mer_objective_value(&run->objective, trial->cost.value);
    result->best = trial->cost;
    result->best_index = trial->index;
    memcpy(task->best_point, trial->point,
           (size_t)task->problem.space.knob_count * sizeof *trial->point);
    result->point = task->best_point;
}

/* Of plans with the same score the one with fewer cycles, then less energy, then less traffic. */
static bool wins_tie(const MerCost *cost, const MerCost *best)
{
    static const MerMetric order[] = {MER_METRIC_CYCLES, MER_METRIC_ENERGY,
                                      MER_METRIC_TRAFFIC_BYTES};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        double value = cost->value[order[i]];
        double other = best->value[order[i]];
        if (value < other || value > other) {
            return value < other;
        }
    }
    return false;
}

bool mer_task_is_better(const MerRunTask *task, const MerRunTrial *trial)
{
    const MerTaskResult *result = task->result;
    double               best = result->point ? result->score : INFINITY;
    bool is_tie = result->point && trial->score == best && wins_tie(&trial->cost, &result->best);
    return !trial->cost.cut && (trial->score < best || is_tie);
}

void mer_task_keep(MerRunState *run, MerRunTask *task, const MerRunTrial *trial)
{
    if (mer_task_is_better(task, trial)) {
        keep_best(run, task, trial);
    }
    keep_front(run, task, trial);
}

void mer_task_count(MerRunState *run, MerRunTask *task, const MerRunTrial *trial)
{
    MerTaskResult *result = task->result;
    for (int i = 0; i < MER_SPENT_COUNT; i++) {
        result->spent[i] += trial->spent[i];
    }
    run->trials++;
    if (trial->is_warm) { /* what an earlier run found says nothing about this search */
        return;
    }
    result->trials++;
    result->evaluations += trial->same_as < 0;
    if (!trial->cost.feasible) {
        result->infeasible++;
        mer_reasons_count(result, &trial->cost);
    }
}
