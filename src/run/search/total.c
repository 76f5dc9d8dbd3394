/* A workload is the sum of its tasks, by the rules of the metric table (MerTotal): costs add up by count, edp is total
 * energy times total cycles (docs/formats.md, "Totals"). What a problem knows better, its `combine` says. */
#include "run/internal.h"
#include "run/search/reasons.h"

#include <math.h>
#include <string.h>

void mer_run_set_gap(const MerObjective *objective, MerTaskResult *result)
{
    result->gap =
        result->point ? mer_objective_gap(objective, result->value, result->bound.value) : NAN;
    result->is_proven = result->gap <= 1e-12;
}

/* What the value of each task adds to the total: its count, or for a mean its part of all. */
static double weight_of(const MerRunResult *result, int task, MerTotal rule)
{
    double all = 0;
    for (int t = 0; rule == MER_TOTAL_MEAN && t < result->task_count; t++) {
        all += (double)result->tasks[t].task.count;
    }
    double count = (double)result->tasks[task].task.count;
    return rule == MER_TOTAL_MEAN ? count / all : count;
}

static double total_of(const MerRunResult *result, MerMetric metric)
{
    MerTotal rule = mer_metric_info(metric)->total;
    bool     is_known = rule != MER_TOTAL_NONE && rule != MER_TOTAL_DERIVED;
    double   total = rule == MER_TOTAL_MAXIMUM || !is_known ? NAN : 0;
    for (int t = 0; is_known && t < result->task_count; t++) {
        double value = result->tasks[t].best.value[metric];
        total = rule == MER_TOTAL_MAXIMUM ? fmax(total, value) /* of those that have one */
                                          : total + weight_of(result, t, rule) * value;
    }
    return total;
}

static void add_costs(const MerRunState *run, MerCost *total)
{
    const MerRunResult *result = run->result;
    double              macs = 0;
    mer_cost_clear(total);
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        total->value[m] = total_of(result, (MerMetric)m);
    }
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
    MerTotal rule = mer_metric_info(metric)->total;
    double   sum = 0;
    for (int t = 0; t < run->task_count; t++) {
        const MerRunTask *task = &run->tasks[t];
        MerBound          bound = task->result->bound;
        if (run->objective.metric != metric) {
            bound = mer_run_bound(task, metric);
        }
        sum += weight_of(run->result, t, rule) * bound.value;
        join_kinds(kind, bound.kind);
    }
    return sum;
}

/* EDP of the whole from the EDP bounds of its tasks, proofs included: by Cauchy and Schwarz
 * (sum e)(sum c) >= (sum sqrt(e c))^2, so proven tasks nearly prove the whole. */
static double edp_from_tasks(const MerRunState *run)
{
    double sum = 0;
    for (int t = 0; t < run->task_count; t++) {
        const MerTaskResult *result = run->tasks[t].result;
        sum += (double)result->task.count * sqrt(result->bound.value);
    }
    return sum * sum;
}

static void add_bounds(const MerRunState *run, MerTaskResult *total)
{
    MerMetric objective = run->objective.metric;
    MerTotal  rule =
        objective == MER_METRIC_COUNT ? MER_TOTAL_NONE : mer_metric_info(objective)->total;
    const char *kind = NULL;
    double      value = NAN;
    if (objective == MER_METRIC_EDP) {
        const char *kind_of_factor = NULL;
        value = sum_bounds(run, MER_METRIC_ENERGY, &kind_of_factor) *
                sum_bounds(run, MER_METRIC_CYCLES, &kind_of_factor);
        for (int t = 0; t < run->task_count; t++) {
            join_kinds(&kind, mer_run_bound(&run->tasks[t], MER_METRIC_EDP).kind);
        }
        double from_tasks = edp_from_tasks(run);
        if (from_tasks > value) { /* only what was proven of tasks makes it so */
            value = from_tasks;
            kind = "search";
        }
    } else if (rule == MER_TOTAL_SUM || (rule == MER_TOTAL_MEAN && run->result->is_feasible)) {
        value = sum_bounds(run, objective, &kind);
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

void mer_run_add_work(MerTaskResult *total, const MerTaskResult *part)
{
    total->trials += part->trials;
    total->evaluations += part->evaluations;
    total->infeasible += part->infeasible;
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        total->spent[s] += part->spent[s];
    }
}

static void add_counts(const MerRunResult *result, MerTaskResult *total)
{
    for (int t = 0; t < result->task_count; t++) {
        const MerTaskResult *task = &result->tasks[t];
        total->task.macs += (double)task->task.count * task->task.macs;
        mer_run_add_work(total, task);
        mer_reasons_merge(total, task);
        total->stopped = worse_stop(total->stopped, task->stopped);
    }
}

static MerBound bound_of(const void *state, int part, MerMetric metric)
{
    const MerRunState *run = state;
    return mer_run_bound(&run->tasks[part], metric);
}

MerWhole mer_run_whole(const MerRunState *run)
{
    MerPart *parts = MER_ARRAY(run->arena, MerPart, run->task_count + 1);
    for (int t = 0; t < run->task_count; t++) {
        const MerRunTask    *task = &run->tasks[t];
        const MerTaskResult *result = task->result;
        parts[t] = (MerPart){
            &result->task, &task->problem, &task->evaluator, result->point ? &result->plan : NULL,
            &result->best, result->bound,  result->gap,      result->is_proven};
    }
    return (MerWhole){run->objective.metric, run->task_count, parts, bound_of, run, NAN, NAN};
}

/* What the problem knows better of the whole than the table of metrics. */
static void combine(const MerRunState *run, MerTaskResult *total)
{
    if (run->spec->problem->combine) {
        MerWhole whole = mer_run_whole(run);
        if (run->result->is_feasible) {
            whole.value = mer_objective_value(&run->objective, total->best.value);
        }
        run->spec->problem->combine(&whole, run->result->is_feasible ? &total->best : NULL,
                                    &total->bound);
    }
}

static void describe(const MerRunState *run)
{
    if (run->spec->problem->describe && run->result->is_feasible) {
        MerWhole whole = mer_run_whole(run);
        run->result->description = run->spec->problem->describe(&whole, run->arena);
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
    describe(run);
    if (result->task_count == 1 && result->tasks[0].task.count == 1) {
        *total = result->tasks[0];
        total->task.name = run->spec->name;
        return;
    }
    *total = (MerTaskResult){.task = {run->spec->name, 1, 0, -1, 0, NULL},
                             .among = result->tasks[0].among};
    total->value = total->score = total->gap = NAN;
    total->bound = total->reference = (MerBound){NAN, "none", ""};
    add_counts(result, total);
    add_bounds(run, total);
    if (result->is_feasible) {
        add_costs(run, &total->best);
    }
    combine(run, total);
    if (!result->is_feasible) {
        return;
    }
    total->value = mer_objective_value(&run->objective, total->best.value);
    total->score = run->objective.direction > 0 ? -total->value : total->value;
    total->gap = mer_objective_gap(&run->objective, total->value, total->bound.value);
    total->is_proven = total->gap <= 1e-12;
}
