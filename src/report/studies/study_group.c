/* Sorts what the runs of a study left into groups, tasks and methods, each in the order it is first
 * met. */
#include "report/studies/study_items.h"

#include "report/studies/study_stats.h"

#include <math.h>
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
    int         *columns; /* of each method among those that compete, -1: it is left out */
} Names;

/* Did this solver prove the best of all its tasks? Then it tells the optimum and does not compete. */
static bool has_proved(const MerStudyItem *items, int count, const char *group, const char *key)
{
    bool has = true;
    for (int i = 0; i < count && has; i++) {
        bool is_its = strcmp(items[i].method_key, key) == 0 && strcmp(items[i].group, group) == 0;
        has = !is_its || (items[i].is_exact && items[i].is_proven);
    }
    return has;
}

static Names list_names(const MerStudyItem *items, int count, const char *group, MerArena *arena)
{
    Names names = {.tasks = MER_ARRAY(arena, const char *, count),
                   .methods = MER_ARRAY(arena, const char *, count),
                   .columns = MER_ARRAY(arena, int, count)};
    for (int i = 0; i < count; i++) {
        if (strcmp(items[i].group, group) == 0) {
            add_text(names.tasks, &names.task_count, items[i].task_key);
            add_text(names.methods, &names.method_count, items[i].method_key);
        }
    }
    return names;
}

/* An optimizer with two limits is two methods; its name shows the limit only then. */
static const char *name_of(const Names *names, int method, MerArena *arena)
{
    const char *key = names->methods[method];
    size_t      length = (size_t)(strrchr(key, '@') - key) - 1;
    bool        is_alone = true;
    for (int o = 0; o < names->method_count; o++) {
        is_alone = is_alone && (o == method || strncmp(names->methods[o], key, length + 2) != 0);
    }
    return is_alone ? mer_arena_text_n(arena, key, length) : key;
}

static void name_methods(const MerStudyItem *items, int count, const Names *names, MerArena *arena,
                         MerStudyGroup *group)
{
    for (int m = 0; m < names->method_count; m++) {
        const char *name = name_of(names, m, arena);
        bool        is_left = has_proved(items, count, group->title, names->methods[m]);
        names->columns[m] = is_left ? -1 : group->method_count;
        if (is_left) {
            group->exact = mer_arena_format(arena, "%s%s%s", group->exact ? group->exact : "",
                                            group->exact ? ", " : "", name);
        } else {
            group->methods[group->method_count++].name = name;
        }
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

/* What ended by itself would have no more after as many samples as the others took. */
static void prolong(MerStudyGroup *group)
{
    for (int t = 0; t < group->task_count; t++) {
        int64_t most = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (int m = 0; m < group->method_count; m++) {
                MerStudyCell *cell = &group->cells[t * group->method_count + m];
                for (int s = 0; s < cell->count; s++) {
                    MerStudyTrace *trace = &cell->traces[s];
                    most = trace->until > most ? trace->until : most;
                    trace->until = pass == 1 && trace->is_ended ? most : trace->until;
                }
            }
        }
    }
}

static void fill_group(const MerStudyItem *items, int count, const char *title, MerArena *arena,
                       MerStudyGroup *group)
{
    Names names = list_names(items, count, title, arena);
    *group = (MerStudyGroup){.title = title,
                             .task_count = names.task_count,
                             .tasks = MER_ARRAY(arena, MerStudyTask, names.task_count + 1),
                             .methods = MER_ARRAY(arena, MerStudyMethod, names.method_count + 1)};
    name_methods(items, count, &names, arena, group);
    group->cells = MER_ARRAY(arena, MerStudyCell, names.task_count * group->method_count + 1);
    for (int i = 0; i < count; i++) {
        const MerStudyItem *item = &items[i];
        if (strcmp(item->group, title) != 0) {
            continue;
        }
        int task = find_text(names.tasks, names.task_count, item->task_key);
        int method = names.columns[find_text(names.methods, names.method_count, item->method_key)];
        if (!group->tasks[task].workload) {
            group->tasks[task] = item->task;
        }
        take_best(&group->tasks[task], item);
        group->objective = item->objective;
        group->unit = item->unit;
        if (method >= 0) {
            add_trace(&group->cells[task * group->method_count + method], &item->trace, arena);
        }
    }
    prolong(group);
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
