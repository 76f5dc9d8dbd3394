/* Opened schedule problems for tests: reference groups on s1 .. s6, and small schedules made by hand. */
#ifndef MERCATOR_TESTS_SCHEDULE_SUPPORT_H
#define MERCATOR_TESTS_SCHEDULE_SUPPORT_H

#include "run_support.h"
#include "shared.h"

#include "base/file.h"
#include "schedule/cost/bandwidth.h"
#include "schedule/schedule.h"
#include "schedule/table/layer_pricer.h"

#include <math.h>

typedef struct OpenedSchedule {
    MerProblem         problem;
    MerEvaluator       evaluator;
    MerTask            task;
    const MerSchedule *schedule;
} OpenedSchedule;

/* `problem` and `evaluator` are references with options; the task is the first group selected. */
static inline void open_schedule_case(const MerGraph *graph, const MerPlatform *platform,
                                      const char *problem, const char *evaluator, MerArena *arena,
                                      OpenedSchedule *opened)
{
    const MerProblemClass   *type = mer_problem_find("schedule", NULL);
    const MerEvaluatorClass *pricer = mer_evaluator_find("bandwidth", NULL);
    const MerTask           *tasks;
    int                      count;
    MerError                 error = {0};
    opened->problem =
        (MerProblem){.type = type,
                     .graph = graph,
                     .platform = platform,
                     .plan = &mer_plan_jobs,
                     .task = &opened->task,
                     .options = options_from(problem, type->options, type->options_size, arena),
                     .state = mer_arena_alloc(arena, type->state_size)};
    if (type->tasks(&opened->problem, arena, &tasks, &count, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    opened->task = tasks[0];
    if (type->open(&opened->problem, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    const void *options = options_from(evaluator, pricer->options, pricer->options_size, arena);
    opened->evaluator = (MerEvaluator){pricer, mer_arena_alloc(arena, pricer->state_size), options};
    if (pricer->open(opened->evaluator.state, &opened->problem, options, arena, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    opened->schedule = mer_schedule_of(&opened->problem);
}

/* Groups of jobs with a job table and figures: those of M3E, which are public data and may be missing, and some
 * of our own making (tests/data/README.md). */
typedef struct ReferenceSet {
    bool        is_public;
    const char *benchmark, *table, *points; /* jobs, job analysis table, figures on points */
} ReferenceSet;

static const ReferenceSet m3e_set = {true, "golden/magma-benchmark.json",
                                     "golden/magma-jobtable.json", TEST_DATA("magma-results.json")};
static const ReferenceSet own_set = {false, TEST_DATA("own-benchmark.json"),
                                     TEST_DATA("own-jobtable.json"), TEST_DATA("own-points.json")};

static inline const char *reference_path(const ReferenceSet *set, const char *name, MerArena *arena)
{
    char path[SHARED_PATH_SIZE];
    return set->is_public ? mer_arena_text(arena, shared_path(path, name)) : name;
}

static inline MerGraph *reference_graph(const ReferenceSet *set, MerArena *arena)
{
    return graph_named(reference_path(set, set->benchmark, arena), arena);
}

static inline char *text_of(const char *path, MerArena *arena)
{
    char    *data = NULL;
    size_t   size;
    MerError error = {0};
    if (mer_file_read(path, (size_t)1 << 28, arena, &data, &size, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return data;
}

/* A group of the set's benchmark with the set's job table. */
static inline void open_reference(const ReferenceSet *set, const MerGraph *benchmark,
                                  const char *task, int group, const char *platform,
                                  double bandwidth, const char *evaluator, MerArena *arena,
                                  OpenedSchedule *opened)
{
    const char *text =
        mer_arena_format(arena, "schedule:select=%s:%d,bandwidth=%.17g,table=%s", task, group,
                         bandwidth, reference_path(set, set->table, arena));
    open_schedule_case(benchmark, platform_named(platform, arena), text, evaluator, arena, opened);
}

/* A test of one set as two cmocka tests, each of which may skip. */
#define ON_BOTH_SETS(name)                                                                         \
    static void name##_of_m3e(void **state)                                                        \
    {                                                                                              \
        (void)state;                                                                               \
        name(&m3e_set);                                                                            \
    }                                                                                              \
    static void name##_of_our_own(void **state)                                                    \
    {                                                                                              \
        (void)state;                                                                               \
        name(&own_set);                                                                            \
    }
#define BOTH_SETS(name) cmocka_unit_test(name##_of_m3e), cmocka_unit_test(name##_of_our_own)

static inline MerCost price_schedule(const OpenedSchedule *opened, const MerPlan *plan,
                                     MerArena *arena)
{
    MerCost cost;
    MerCall call = {.scratch = arena, .limit = INFINITY, .limit_metric = MER_METRIC_COUNT};
    opened->evaluator.type->evaluate(opened->evaluator.state, plan, &call, &cost);
    return cost;
}

/* A small schedule with matrices [job][unit] given row by row. */
static inline MerSchedule *hand_schedule(int jobs, int units, double bandwidth,
                                         const double *latency, const double *rate, MerArena *arena)
{
    MerSchedule *schedule = MER_NEW(arena, MerSchedule);
    const char **names = MER_ARRAY(arena, const char *, jobs + units);
    double      *traffic = MER_ARRAY(arena, double, jobs *units);
    double      *deadline = MER_ARRAY(arena, double, jobs);
    double      *weight = MER_ARRAY(arena, double, jobs);
    int         *model = MER_ARRAY(arena, int, jobs);
    int         *layer = MER_ARRAY(arena, int, jobs);
    int         *order = MER_ARRAY(arena, int, jobs);
    for (int j = 0; j < jobs; j++) {
        names[j] = mer_arena_format(arena, "job%d", j);
        deadline[j] = INFINITY;
        weight[j] = 1;
        model[j] = -1;
        layer[j] = order[j] = j;
        for (int u = 0; u < units; u++) {
            traffic[j * units + u] = latency[j * units + u] * rate[j * units + u];
        }
    }
    for (int u = 0; u < units; u++) {
        names[jobs + u] = mer_arena_format(arena, "core%d", u);
    }
    MerTenant *tenant = MER_NEW(arena, MerTenant);
    *tenant = (MerTenant){"all", 1};
    *schedule = (MerSchedule){.job_count = jobs,
                              .unit_count = units,
                              .tenant_count = 1,
                              .bandwidth = bandwidth,
                              .clock_hz = 1e9,
                              .latency = latency,
                              .rate = rate,
                              .traffic = traffic,
                              .job_names = names,
                              .unit_names = names + jobs,
                              .macs = MER_ARRAY(arena, double, jobs),
                              .release = MER_ARRAY(arena, double, jobs),
                              .deadline = deadline,
                              .weight = weight,
                              .tenant = MER_ARRAY(arena, int, jobs),
                              .model = model,
                              .request = MER_ARRAY(arena, int, jobs),
                              .request_number = order,
                              .layer = layer,
                              .order = order,
                              .release_order = order,
                              .deadline_order = order,
                              .before_start = MER_ARRAY(arena, int, jobs + 1),
                              .before = MER_ARRAY(arena, int, 1),
                              .after_start = MER_ARRAY(arena, int, jobs + 1),
                              .after = MER_ARRAY(arena, int, 1),
                              .unit_class = MER_ARRAY(arena, int, units),
                              .static_pj_per_cycle = MER_ARRAY(arena, double, units),
                              .unit_bytes = MER_ARRAY(arena, double, units),
                              .tenants = tenant};
    return schedule;
}

static inline MerBandwidthInput hand_input(const MerSchedule *schedule, MerArena *arena)
{
    int      count = schedule->job_count * schedule->unit_count;
    MerWork *work = MER_ARRAY(arena, MerWork, count);
    for (int i = 0; i < count; i++) {
        work[i] = mer_work_make(schedule->latency[i], schedule->rate[i], schedule->bandwidth);
    }
    return (MerBandwidthInput){
        .schedule = schedule, .work = work, .bandwidth = schedule->bandwidth, .limit = INFINITY};
}

static inline MerBandwidthTimes new_times(int jobs, MerArena *arena)
{
    return (MerBandwidthTimes){.start = MER_ARRAY(arena, double, jobs),
                               .end = MER_ARRAY(arena, double, jobs),
                               .moved = MER_ARRAY(arena, double, jobs),
                               .unit = MER_ARRAY(arena, int, jobs)};
}

/* The problem's bound under the rules of the opened evaluator. */
static inline MerBound schedule_bound(const OpenedSchedule *opened, MerMetric metric)
{
    MerBound            bound = {NAN, "none", ""};
    const MerEvaluator *evaluator = &opened->evaluator;
    opened->problem.type->bound(&opened->problem, evaluator->type->rules(evaluator->state), metric,
                                &bound);
    return bound;
}

#endif
