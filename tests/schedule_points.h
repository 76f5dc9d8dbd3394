/* The 64 points of ../shared/golden/magma-results.json: group 0 of each task on s1 .. s6. */
#ifndef MERCATOR_TESTS_SCHEDULE_POINTS_H
#define MERCATOR_TESTS_SCHEDULE_POINTS_H

#include "one_arena.h"
#include "schedule_support.h"

#include "base/log.h"
#include "base/stats.h"

#include <cjson/cJSON.h>

static cJSON    *golden; /* read once, kept until the end */
static MerGraph *benchmark;

static int tear_down_all(void **state)
{
    cJSON_Delete(golden);
    return tear_down(state);
}

typedef struct Point {
    const char  *task;
    char         platform[4];
    double       bandwidth;
    const cJSON *row;
} Point;

static double number(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name)->valuedouble;
}

static double part(const cJSON *object, const char *name, int index)
{
    return cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(object, name), index)->valuedouble;
}

static int read_points(Point *points)
{
    if (!golden) {
        golden = cJSON_Parse(shared_text("golden/magma-results.json", arena));
    }
    cJSON *root = golden;
    int    count = 0;
    benchmark = shared_graph("golden/magma-benchmark.json", arena);
    for (const cJSON *row = cJSON_GetObjectItemCaseSensitive(root, "rows")->child; row;
         row = row->next) {
        Point *point = &points[count++];
        *point = (Point){cJSON_GetObjectItemCaseSensitive(row, "task")->valuestring, "",
                         number(row, "bw"), row};
        const char *setting = cJSON_GetObjectItemCaseSensitive(row, "setting")->valuestring;
        point->platform[0] = 's';
        point->platform[1] = setting[1];
    }
    assert_int_equal(count, 64);
    return count;
}

typedef struct Second { /* of one core: other programs do not count */
    double end;
} Second;

static bool is_over(void *state)
{
    return mer_cpu_clock() > ((Second *)state)->end;
}

/* At most `budget` evaluations, or one second of one core if that is 0. */
static MerTaskResult run_point(const Point *point, const char *optimizer, int seed, int64_t budget)
{
    char        table[SHARED_PATH_SIZE];
    const char *problem =
        mer_arena_format(arena, "schedule:select=%s:0,bandwidth=%.17g,table=%s", point->task,
                         point->bandwidth, shared_path(table, "golden/magma-jobtable.json"));
    MerRunSpec spec = spec_from(problem, "bandwidth", optimizer, benchmark, point->platform, arena);
    spec.seed = (uint64_t)seed;
    spec.budget = budget;
    spec.time_s = budget > 0 ? 0 : 1000;
    spec.log = MER_LOG_IMPROVING;
    Second      second = {mer_cpu_clock() + 1};
    MerRunHooks hooks = {.state = &second, .is_cancelled = budget > 0 ? NULL : is_over};
    return run_or_fail(&spec, &hooks, arena).tasks[0];
}

/* What seeds 1 to `seeds` end with; the first `known` are there. */
static void run_seeds(const Point *point, const char *optimizer, int64_t budget, int known,
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
