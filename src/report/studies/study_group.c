/* Sorts what the runs of a study left into groups, tasks and methods, each in the order it is first
 * met. */
#include "report/studies/study_items.h"

#include "report/studies/study_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int find_text(const char *const *texts, int count, const char *text)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(texts[i], text) == 0) {
            return i;
        }
    }
    return -1;
}

static void add_text(const char **texts, int *count, const char *text)
{
    if (find_text(texts, *count, text) < 0) {
        texts[(*count)++] = text;
    }
}

typedef struct Names { /* of one group, in the order they are met */
    const char **tasks, **methods;
    int          task_count, method_count;
} Names;

/* An optimizer with two budgets is two methods; its name shows the budget only then. */
static const char *key_of(const MerStudyItem *item, MerArena *arena)
{
    return mer_arena_format(arena, "%s @%lld", item->method, (long long)item->budget);
}

static void name_methods(MerStudyGroup *group, const Names *names, MerArena *arena)
{
    for (int m = 0; m < names->method_count; m++) {
        const char *at = strrchr(names->methods[m], '@');
        size_t      length = (size_t)(at - names->methods[m]) - 1;
        bool        is_alone = true;
        for (int o = 0; o < names->method_count; o++) {
            const char *other = names->methods[o];
            bool        is_same = strncmp(other, names->methods[m], length + 2) == 0;
            is_alone = is_alone && (o == m || !is_same);
        }
        group->methods[m] = (MerStudyMethod){
            is_alone ? mer_arena_text_n(arena, names->methods[m], length) : names->methods[m],
            atoll(at + 1)};
    }
}

static void add_trace(MerStudyCell *cell, const MerStudyTrace *trace, MerArena *arena)
{
    for (int s = 0; s < cell->count; s++) {
        if (cell->traces[s].seed == trace->seed) {
            return; /* the same run given twice */
        }
    }
    MER_GROW(arena, cell->traces, cell->count);
    cell->traces[cell->count++] = *trace;
}

static void take_best(MerStudyTask *task, const MerStudyItem *item)
{
    double score = mer_trace_best(&item->trace, INT64_MAX);
    task->is_proven |= item->is_proven;
    if (score < task->best) {
        task->best = score;
        task->best_by = item->method;
    }
}

static void fill_group(const MerStudyItem *items, int count, const char *title, MerArena *arena,
                       MerStudyGroup *group)
{
    Names names = {MER_ARRAY(arena, const char *, count), MER_ARRAY(arena, const char *, count), 0,
                   0};
    for (int i = 0; i < count; i++) {
        bool is_ours = strcmp(items[i].group, title) == 0;
        if (is_ours) {
            add_text(names.tasks, &names.task_count, items[i].task_key);
        }
        if (is_ours && !items[i].is_exact) {
            add_text(names.methods, &names.method_count, key_of(&items[i], arena));
        }
    }
    *group = (MerStudyGroup){
        .title = title,
        .task_count = names.task_count,
        .method_count = names.method_count,
        .tasks = MER_ARRAY(arena, MerStudyTask, names.task_count + 1),
        .methods = MER_ARRAY(arena, MerStudyMethod, names.method_count + 1),
        .cells = MER_ARRAY(arena, MerStudyCell, names.task_count * names.method_count + 1)};
    name_methods(group, &names, arena);
    for (int i = 0; i < count; i++) {
        const MerStudyItem *item = &items[i];
        if (strcmp(item->group, title) != 0) {
            continue;
        }
        int task = find_text(names.tasks, names.task_count, item->task_key);
        int method = find_text(names.methods, names.method_count, key_of(item, arena));
        if (!group->tasks[task].workload) {
            group->tasks[task] = item->task;
        }
        take_best(&group->tasks[task], item);
        group->objective = item->objective;
        group->unit = item->unit;
        if (method >= 0) {
            add_trace(&group->cells[task * names.method_count + method], &item->trace, arena);
        }
    }
}

/* A task for which no run found a feasible plan says nothing about the optimizers. */
static void drop_hopeless(MerStudyGroup *group)
{
    int kept = 0;
    for (int t = 0; t < group->task_count; t++) {
        if (isinf(group->tasks[t].best)) {
            group->hopeless++;
            continue;
        }
        group->tasks[kept] = group->tasks[t];
        for (int m = 0; m < group->method_count; m++) {
            group->cells[kept * group->method_count + m] =
                group->cells[t * group->method_count + m];
        }
        kept++;
    }
    group->task_count = kept;
}

void mer_study_group(const MerStudyItem *items, int count, MerArena *arena, MerStudy *study)
{
    const char **titles = MER_ARRAY(arena, const char *, count + 1);
    for (int i = 0; i < count; i++) {
        add_text(titles, &study->group_count, items[i].group);
    }
    study->groups = MER_ARRAY(arena, MerStudyGroup, study->group_count + 1);
    for (int g = 0; g < study->group_count; g++) {
        fill_group(items, count, titles[g], arena, &study->groups[g]);
        drop_hopeless(&study->groups[g]);
    }
}
