/* Points with figures: group 0 of each task on s1 .. s6, the 64 of M3E and the 24 of our own. */
#ifndef MERCATOR_TESTS_SCHEDULE_POINTS_H
#define MERCATOR_TESTS_SCHEDULE_POINTS_H

#include "one_arena.h"
#include "schedule_support.h"

#include "base/log.h"
#include "base/stats.h"

#include <cjson/cJSON.h>

enum { MOST_POINTS = 64 };

typedef struct Points {
    const ReferenceSet *set;
    cJSON              *golden;
    MerGraph           *benchmark;
    int                 count;
} Points;

static Points all_points[2]; /* read once, kept until the end */

static inline int tear_down_all(void **state)
{
    cJSON_Delete(all_points[0].golden);
    cJSON_Delete(all_points[1].golden);
    return tear_down(state);
}

typedef struct Point {
    const Points *all;
    const char   *task;
    char          platform[4];
    double        bandwidth;
    const cJSON  *row;
} Point;

static inline double number(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name)->valuedouble;
}

static inline double part(const cJSON *object, const char *name, int index)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(object, name), index)->valuedouble;
}

static inline Point point_of(const Points *all, const cJSON *row)
{
    const char *setting = cJSON_GetObjectItemCaseSensitive(row, "setting")->valuestring;
    return (Point){all,
                   cJSON_GetObjectItemCaseSensitive(row, "task")->valuestring,
                   {'s', setting[1], '\0'},
                   number(row, "bw"),
                   row};
}

static inline const Points *read_points(const ReferenceSet *set, Point points[MOST_POINTS])
{
    Points *all = &all_points[set->is_public];
    if (!all->golden) {
        const char *path =
            reference_path(set, set->benchmark, arena); /* before the first failure */
        *all = (Points){set, cJSON_Parse(text_of(set->points, arena)), graph_named(path, arena), 0};
    }
    all->count = 0;
    for (const cJSON *row = cJSON_GetObjectItemCaseSensitive(all->golden, "rows")->child; row;
         row = row->next) {
        points[all->count++] = point_of(all, row);
    }
    assert_int_equal(all->count, set->is_public ? 64 : 24);
    return all;
}

static inline void open_point(const Point *point, const char *evaluator, OpenedSchedule *opened)
{
    open_reference(point->all->set, point->all->benchmark, point->task, 0, point->platform,
                   point->bandwidth, evaluator, arena, opened);
}

typedef struct Second { /* of one core: other programs do not count */
    double end;
} Second;

static inline bool is_over(void *state)
{
    return mer_cpu_clock() > ((Second *)state)->end;
}

/* At most `budget` evaluations, or one second of one core if that is 0. */
static inline MerTaskResult run_point(const Point *point, const char *optimizer, int seed,
                                      int64_t budget)
{
    const ReferenceSet *set = point->all->set;
    const char         *problem =
        mer_arena_format(arena, "schedule:select=%s:0,bandwidth=%.17g,table=%s", point->task,
                         point->bandwidth, reference_path(set, set->table, arena));
    MerRunSpec spec =
        spec_from(problem, "bandwidth", optimizer, point->all->benchmark, point->platform, arena);
    spec.seed = (uint64_t)seed;
    spec.budget = budget;
    spec.time_s = budget > 0 ? 0 : 1000;
    spec.log = MER_LOG_IMPROVING;
    Second      second = {mer_cpu_clock() + 1};
    MerRunHooks hooks = {.state = &second, .is_cancelled = budget > 0 ? NULL : is_over};
    return run_or_fail(&spec, &hooks, arena).tasks[0];
}

/* What seeds 1 to `seeds` end with; the first `known` are there. */
static inline void run_seeds(const Point *point, const char *optimizer, int64_t budget, int known,
                             int seeds, double *values)
{
    for (int i = known; i < seeds; i++) {
        MerArena *outer = arena;
        arena = mer_arena_new();
        values[i] = run_point(point, optimizer, i + 1, budget).value;
        mer_arena_free(arena);
        arena = outer;
    }
}

#endif
