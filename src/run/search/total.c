/* A network is the sum of its layers: costs add up by count, edp is total energy times total cycles
 * (docs/formats.md, "Totals"). Shares of jobs and scores are means over the tasks, shares of requests are
 * counted anew; what is none of these, such as the fairness of groups with other tenants, has no total. */
#include "run/internal.h"
#include "run/search/reasons.h"

#include <math.h>
#include <string.h>

static const MerMetric additive[] = {
    MER_METRIC_CYCLES,        MER_METRIC_LATENCY,   MER_METRIC_MAKESPAN,  MER_METRIC_ENERGY,
    MER_METRIC_TRAFFIC_BYTES, MER_METRIC_TARDINESS, MER_METRIC_VIOLATIONS};

enum { ADDITIVE_COUNT = sizeof additive / sizeof additive[0] };

static const MerMetric mean[] = {MER_METRIC_DROP_RATE, MER_METRIC_XR_SCORE};

enum { MEAN_COUNT = sizeof mean / sizeof mean[0] };

static bool is_in(const MerMetric *list, int count, MerMetric metric)
{
    for (int i = 0; i < count; i++) {
        if (metric == list[i]) {
            return true;
        }
    }
    return false;
}

/* Shares weigh by what they are shares of, jobs or requests; scenarios weigh the same. */
static double size_of(const MerRunState *run, int task, MerMetric metric)
{
    const MerTaskResult *result = &run->result->tasks[task];
    double               size = metric == MER_METRIC_DROP_RATE && result->plan.kind == MER_PLAN_JOBS
                                    ? result->plan.as.jobs.job_count
                                : metric == MER_METRIC_MISS_RATE
                                    ? (double)mer_run_count_requests(run, task, task + 1).all
                                    : 1;
    return (double)result->task.count * size;
}

/* What the value of each task adds to the total. */
static const double *weigh(const MerRunState *run, MerMetric metric)
{
    double *weights = MER_ARRAY(run->arena, double, run->task_count);
    double  all = 0;
    bool    is_sum = is_in(additive, ADDITIVE_COUNT, metric);
    for (int t = 0; t < run->task_count; t++) {
        weights[t] = is_sum ? (double)run->result->tasks[t].task.count : size_of(run, t, metric);
        all += weights[t];
    }
    for (int t = 0; !is_sum && t < run->task_count; t++) {
        weights[t] = all > 0 ? weights[t] / all : 0;
    }
    return weights;
}

static double sum_best(const MerRunState *run, MerMetric metric)
{
    const double *weights = weigh(run, metric);
    double        sum = 0;
    for (int t = 0; t < run->task_count; t++) {
        sum += weights[t] * run->result->tasks[t].best.value[metric];
    }
    return sum;
}

/* Requests with layers in several groups count once. Without deadlines there is none. */
static double miss_rate(const MerRunState *run)
{
    for (int t = 0; t < run->task_count; t++) {
        if (isnan(run->result->tasks[t].best.value[MER_METRIC_MISS_RATE])) {
            return NAN;
        }
    }
    MerRequestCount requests = mer_run_count_requests(run, 0, run->task_count);
    return requests.all > 0 ? (double)requests.missed / (double)requests.all : 0;
}

/* The latest of all; tasks without a deadline have none. */
static double latest(const MerRunResult *result)
{
    double lateness = NAN;
    for (int t = 0; t < result->task_count; t++) {
        lateness = fmax(lateness, result->tasks[t].best.value[MER_METRIC_LATENESS]);
    }
    return lateness;
}

static void add_costs(const MerRunState *run, MerCost *total)
{
    const MerRunResult *result = run->result;
    double              macs = 0;
    mer_cost_clear(total);
    for (int i = 0; i < ADDITIVE_COUNT; i++) {
        total->value[additive[i]] = sum_best(run, additive[i]);
    }
    for (int i = 0; i < MEAN_COUNT; i++) {
        total->value[mean[i]] = sum_best(run, mean[i]);
    }
    total->value[MER_METRIC_MISS_RATE] = miss_rate(run);
    total->value[MER_METRIC_LATENESS] = latest(result);
    double cycles = total->value[MER_METRIC_CYCLES];
    double latency = total->value[MER_METRIC_LATENCY];
    total->value[MER_METRIC_EDP] = total->value[MER_METRIC_ENERGY] * cycles;
    double busy = 0;
    for (int t = 0; t < result->task_count; t++) {
        const MerTaskResult *task = &result->tasks[t];
        macs += (double)task->task.count * task->task.macs;
        busy += (double)task->task.count * task->best.value[MER_METRIC_CYCLES] *
                task->best.value[MER_METRIC_UTILISATION];
    }
    total->value[MER_METRIC_UTILISATION] = busy / cycles;
    total->value[MER_METRIC_THROUGHPUT] = 2 * macs / latency;
    total->value[MER_METRIC_POWER] = total->value[MER_METRIC_ENERGY] * 1e-9 / latency;
}

/* A total has the kind of its parts, "mixed" if they differ; NULL: there was no part yet. */
static void join_kinds(const char **kind, const char *other)
{
    *kind = !*kind || strcmp(*kind, other) == 0 ? other : "mixed";
}

/* Sum or mean over tasks of the bound of one metric; NaN if a task has none. */
static double sum_bounds(const MerRunState *run, MerMetric metric, const char **kind)
{
    const double *weights = weigh(run, metric);
    double        sum = 0;
    for (int t = 0; t < run->task_count; t++) {
        const MerRunTask *task = &run->tasks[t];
        MerBound          bound = task->result->bound;
        if (run->objective.metric != metric) {
            bound = mer_run_bound(task, metric);
        }
        sum += weights[t] * bound.value;
        join_kinds(kind, bound.kind);
    }
    return sum;
}

/* EDP of a network from the EDP bounds of its layers, proofs included: by Cauchy and Schwarz
 * (sum e)(sum c) >= (sum sqrt(e c))^2, so proven layers nearly prove the whole. */
static double edp_from_layers(const MerRunState *run)
{
    double sum = 0;
    for (int t = 0; t < run->task_count; t++) {
        const MerTaskResult *result = run->tasks[t].result;
        sum += (double)result->task.count * sqrt(result->bound.value);
    }
    return sum * sum;
}

/* A group that starts when the one before ends may be late only because of how that one was planned: what it
 * must miss then is no bound of the whole. */
static bool is_bound_by_plans(const MerRunState *run, MerMetric metric)
{
    bool is_late = metric == MER_METRIC_TARDINESS || metric == MER_METRIC_VIOLATIONS ||
                   metric == MER_METRIC_MISS_RATE;
    bool follows = false;
    for (int t = 0; t < run->task_count; t++) {
        const MerTask *task = &run->tasks[t].result->task;
        follows = follows || (task->start > 0 && isfinite(task->start));
    }
    return is_late && follows;
}

static void add_bounds(const MerRunState *run, MerTaskResult *total)
{
    MerMetric   objective = run->objective.metric;
    const char *kind = NULL;
    double      value = NAN;
    if (objective == MER_METRIC_EDP) {
        const char *kind_of_factor = NULL;
        value = sum_bounds(run, MER_METRIC_ENERGY, &kind_of_factor) *
                sum_bounds(run, MER_METRIC_CYCLES, &kind_of_factor);
        for (int t = 0; t < run->task_count; t++) {
            join_kinds(&kind, mer_run_bound(&run->tasks[t], MER_METRIC_EDP).kind);
        }
        double from_layers = edp_from_layers(run);
        if (from_layers > value) { /* only what was proven of layers makes it so */
            value = from_layers;
            kind = "search";
        }
    } else if (is_in(additive, ADDITIVE_COUNT, objective) ||
               (run->result->is_feasible &&
                (is_in(mean, MEAN_COUNT, objective) || objective == MER_METRIC_MISS_RATE))) {
        value = sum_bounds(run, objective, &kind);
        value = value > 0 && is_bound_by_plans(run, objective) ? NAN : value;
    }
    total->bound = isnan(value) ? (MerBound){NAN, "none", ""} : (MerBound){value, kind, ""};
}

/* Of the reasons to stop the one that leaves the most open: a run whose groups ended by the gap but for one that
 * used up its budget was stopped by the budget. */
static const char *worse_stop(const char *one, const char *other)
{
    static const char *const rising[] = {"finished", "gap", "budget", "time", "interrupted"};
    int                      rank[2] = {-1, -1};
    for (int i = 0; i < 5; i++) {
        rank[0] = one && strcmp(one, rising[i]) == 0 ? i : rank[0];
        rank[1] = other && strcmp(other, rising[i]) == 0 ? i : rank[1];
    }
    return rank[1] > rank[0] ? other : one;
}

static void add_counts(const MerRunResult *result, MerTaskResult *total)
{
    for (int t = 0; t < result->task_count; t++) {
        const MerTaskResult *task = &result->tasks[t];
        total->task.macs += (double)task->task.count * task->task.macs;
        total->trials += task->trials;
        total->evaluations += task->evaluations;
        total->infeasible += task->infeasible;
        for (int s = 0; s < MER_SPENT_COUNT; s++) {
            total->spent[s] += task->spent[s];
        }
        mer_reasons_merge(total, task);
        total->stopped = worse_stop(total->stopped, task->stopped);
    }
}

void mer_run_add_up(MerRunState *run)
{
    MerRunResult  *result = run->result;
    MerTaskResult *total = &result->total;
    result->is_feasible = true;
    for (int t = 0; t < result->task_count; t++) {
        result->is_feasible = result->is_feasible && result->tasks[t].point;
    }
    if (result->task_count == 1 && result->tasks[0].task.count == 1) {
        *total = result->tasks[0];
        total->task.name = run->spec->name;
        return;
    }
    *total = (MerTaskResult){.task = {run->spec->name, 1, 0, -1, 0, NULL}};
    total->value = total->score = total->gap = NAN;
    total->bound = total->reference = (MerBound){NAN, "none", ""};
    add_counts(result, total);
    add_bounds(run, total);
    if (!result->is_feasible) {
        return;
    }
    add_costs(run, &total->best);
    total->value = mer_objective_value(&run->objective, total->best.value);
    total->score = run->objective.direction > 0 ? -total->value : total->value;
    total->gap = mer_objective_gap(&run->objective, total->value, total->bound.value);
    total->is_proven = total->gap <= 1e-12;
}
