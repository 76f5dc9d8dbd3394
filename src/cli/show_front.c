/* The front of --pareto, for people: every trade-off of a single task, of several the range of each. */
#include "cli/cli.h"

#include "report/tables/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 20 };

static int by_first(const void *a, const void *b)
{
    const MerFrontPoint *p = a, *q = b;
    return p->value[0] != q->value[0] ? (p->value[0] > q->value[0]) - (p->value[0] < q->value[0])
                                      : (p->index > q->index) - (p->index < q->index);
}

/* As users read it: a front has all values smaller the better. */
static double value_of(MerMetric metric, const MerFrontPoint *point, int m)
{
    return -mer_metric_info(metric)->direction * point->value[m];
}

static const char *show_range(MerMetric metric, const MerTaskResult *task, int m, MerArena *arena)
{
    char   least[48], most[48];
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < task->front_count; i++) {
        low = fmin(low, value_of(metric, &task->front[i], m));
        high = fmax(high, value_of(metric, &task->front[i], m));
    }
    mer_show_value(least, metric, low);
    mer_show_value(most, metric, high);
    return strcmp(least, most) == 0 ? mer_arena_text(arena, least)
                                    : mer_arena_format(arena, "%s .. %s", least, most);
}

static void show_tasks(const MerRunSpec *spec, const MerRunResult *result, MerTextTable *table,
                       MerArena *arena)
{
    for (int t = 0; t < result->task_count; t++) {
        const MerTaskResult *task = &result->tasks[t];
        mer_text_table_add(table, task->task.name);
        mer_text_table_add_int(table, task->front_count);
        for (int m = 0; m < spec->pareto_count; m++) {
            mer_text_table_add(
                table, task->front_count > 0 ? show_range(spec->pareto[m], task, m, arena) : NULL);
        }
    }
}

/* True: one of those shown is the best for the objective. */
static bool show_points(const MerRunSpec *spec, const MerTaskResult *task, MerTextTable *table,
                        MerArena *arena)
{
    size_t         size = (size_t)task->front_count * sizeof *task->front;
    MerFrontPoint *points = MER_ARRAY(arena, MerFrontPoint, task->front_count);
    memcpy(points, task->front, size);
    qsort(points, (size_t)task->front_count, sizeof *points, by_first);
    bool has_best = false;
    for (int i = 0; i < task->front_count && i < MOST_POINTS; i++) {
        bool is_best = points[i].index == task->best_index;
        has_best = has_best || is_best;
        mer_text_table_add(table, is_best ? "*" : "");
        mer_text_table_add_int(table, points[i].index);
        for (int m = 0; m < spec->pareto_count; m++) {
            char text[48];
            mer_show_value(text, spec->pareto[m], value_of(spec->pareto[m], &points[i], m));
            mer_text_table_add(table, text);
        }
    }
    return has_best;
}

/* Whoever priced the plans did not say what was asked for. */
static void explain_none(const MerRunSpec *spec, const MerTaskResult *task, FILE *file)
{
    for (int m = 0; m < spec->pareto_count; m++) {
        if (task->point && isnan(task->best.value[spec->pareto[m]])) {
            fprintf(
                file,
                "\ntrade-offs: none, since no plan has %s: what prices plans does not tell it\n",
                mer_metric_info(spec->pareto[m])->name);
            return;
        }
    }
}

void mer_show_front(const MerRunSpec *spec, const MerRunResult *result, MerArena *arena, FILE *file)
{
    const char *titles[MER_MAX_PARETO + 2];
    bool        is_one = result->task_count == 1;
    int         points = result->tasks[0].front_count;
    if (spec->pareto_count == 0) {
        return;
    }
    if (is_one && points == 0) {
        explain_none(spec, &result->tasks[0], file);
        return;
    }
    titles[0] = is_one ? "" : "task";
    titles[1] = is_one ? ">trial" : ">trade-offs";
    for (int m = 0; m < spec->pareto_count; m++) {
        titles[2 + m] = mer_arena_format(arena, ">%s", mer_metric_info(spec->pareto[m])->name);
    }
    MerTextTable *table = mer_text_table_new(arena, spec->pareto_count + 2, titles);
    fprintf(file, "\ntrade-offs: nothing met beats one of these in all of its columns\n");
    bool has_best = false;
    if (is_one) {
        has_best = show_points(spec, &result->tasks[0], table, arena);
    } else {
        show_tasks(spec, result, table, arena);
    }
    mer_text_table_print(table, file);
    if (is_one && points > MOST_POINTS) {
        fprintf(file, "and %d more: tasks[0].front in summary.json\n", points - MOST_POINTS);
    }
    if (has_best) {
        fprintf(file, "* the best for the objective, whose plan is written\n");
    } else if (!is_one) {
        mer_print_lines(file,
                        "they stand in tasks[].front of summary.json and in the report; the plan "
                        "that is written is the best for the objective\n",
                        0);
    }
}
