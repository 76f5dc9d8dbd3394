/* Keeps the improvements of each task. When there are too many, every second one goes, so that
 * memory stays bounded and the shape of the curve does not change. */
#include "report/pages/curve.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_KEPT = 8 * MER_REPORT_POINTS };

typedef struct MerCurveTask {
    struct Point {
        int64_t evaluations;
        double  score;
    } * points;
    int     count, capacity;
    int64_t seen;
    double  best;
} Task;

static Task *find_task(MerCurveSet *set, int64_t task)
{
    if (task >= set->count) {
        int count = (int)task + 1;
        set->tasks = mer_heap_resize(set->tasks, (size_t)count, sizeof *set->tasks);
        for (int i = set->count; i < count; i++) {
            set->tasks[i] = (Task){.best = INFINITY};
        }
        set->count = count;
    }
    return &set->tasks[task];
}

static void keep_some(Task *task, int wanted)
{
    int count = task->count;
    for (int i = 0; i < wanted; i++) {
        task->points[i] = task->points[(int64_t)i * (count - 1) / (wanted - 1)];
    }
    task->count = wanted;
}

static void append(Task *task, int64_t evaluations, double score)
{
    if (task->count == MOST_KEPT) {
        keep_some(task, MOST_KEPT / 2);
    }
    if (task->count == task->capacity) {
        task->capacity = task->capacity == 0 ? 64 : task->capacity * 2;
        task->points = mer_heap_resize(task->points, (size_t)task->capacity, sizeof *task->points);
    }
    task->points[task->count++] = (struct Point){evaluations, score};
}

/* Trials that the log left out belong to the task at work; at a change of task, first to the old
 * one up to its budget, then to the new one. */
static void count_missing(MerCurveSet *set, int64_t missing, int64_t task)
{
    if (task != set->last_task && set->last_task < set->count) {
        Task   *last = find_task(set, set->last_task);
        int64_t left = set->budget > last->seen ? set->budget - last->seen : 0;
        int64_t share = missing < left ? missing : left;
        last->seen += share;
        missing -= share;
    }
    find_task(set, task)->seen += missing;
}

void mer_curve_add(MerCurveSet *set, int64_t index, int64_t task, double score)
{
    Task *at = find_task(set, task);
    if (index > set->next_index) {
        count_missing(set, index - set->next_index, task);
    }
    set->next_index = index + 1;
    set->last_task = task;
    at->seen++;
    if (score < at->best) {
        at->best = score;
        append(at, at->seen, score);
    }
}

void mer_curve_end(MerCurveSet *set, int64_t index, int64_t task)
{
    if (index > set->next_index && task >= 0 && task < MER_CURVE_TASKS) {
        mer_curve_add(set, index - 1, task, NAN);
    }
}

void mer_curve_finish(const MerCurveSet *set, MerReportRun *run, MerArena *arena)
{
    run->curve_count = set->count;
    run->curves = MER_ARRAY(arena, MerReportCurve, set->count);
    for (int i = 0; i < set->count; i++) {
        Task           *task = &set->tasks[i];
        MerReportCurve *curve = &run->curves[i];
        if (task->count > MER_REPORT_POINTS) {
            keep_some(task, MER_REPORT_POINTS);
        }
        if (task->count > 0 && task->points[task->count - 1].evaluations < task->seen) {
            append(task, task->seen, task->best);
        }
        curve->count = task->count;
        curve->evaluations = MER_ARRAY(arena, int64_t, task->count);
        curve->scores = MER_ARRAY(arena, double, task->count);
        for (int k = 0; k < task->count; k++) {
            curve->evaluations[k] = task->points[k].evaluations;
            curve->scores[k] = task->points[k].score;
        }
    }
}

void mer_curve_free(MerCurveSet *set)
{
    for (int i = 0; i < set->count; i++) {
        free(set->tasks[i].points);
    }
    free(set->tasks);
    *set = (MerCurveSet){0};
}
