/* Problem `schedule`: which core runs which job, and when (M3E and MAGMA, Kao and Krishna, HPCA 2022;
 * docs/scheduling.md). One task per group of jobs; two knobs per job, its core and its priority. */
#include "base/name_table.h"
#include "base/option_rows.h"
#include "schedule/jobs/arrivals.h"
#include "schedule/jobs/jobs_import.h"
#include "schedule/jobs/schedule_deadlines.h"
#include "schedule/jobs/schedule_jobs.h"
#include "schedule/jobs/schedule_paths.h"
#include "schedule/schedule_parts.h"
#include "schedule/table/layer_pricer.h"

#include <math.h>
#include <string.h>

typedef struct Options {
    double      bandwidth;
    const char *table, *select, *cache;
    int         order, dependencies, flexible;
    int64_t     group_size, batch_size, mini_batch;
    bool        symmetry;
    MerArrivals arrivals;
    MerTexts    deadline_ms;
} Options;

static const MerOption options[] = {
    MER_REAL(bandwidth, "0", 0, 1e15, "bytes per cycle that all cores share; 0: the platform's"),
    MER_TEXT(table, "own",
             "job analysis table: own, m3e-compat (the published artifact's numbers), or a file"),
    MER_TEXT(
        cache, "auto",
        "folder that keeps the prices of layers between runs; auto: the user's cache folder; off"),
    MER_TEXT(
        select, "",
        "groups to schedule, counted from 1: 1,3-5; or names of the file: mix:0-9, a scenario"),
    MER_INT(
        group_size, "0", 0, 1000000,
        "jobs of a group without dependencies inside, cut by the host's rule; 0: as the file says"),
    MER_INT(batch_size, "1", 1, 65536, "images of a network that is no job file"),
    MER_INT(mini_batch, "1", 1, 65536, "images of one job; batch_size is a multiple of it"),
    MER_CHOICE(dependencies, "graph", "graph|chain|none",
               "of a network that is no job file: its edges, one layer after the other, or none"),
    MER_CHOICE(
        flexible, "search", "search|align",
        "shape of flexible arrays: lowest latency, or sides that divide the layer's dimensions"),
    MER_CHOICE(order, "auto", "auto|input|latency|m3e",
               "order of the jobs' knobs: as given, by latency on all cores, or by the artifact's "
               "sort (auto with its table)"),
    MER_CHOICE_AT("arrivals", arrivals.process, "file", "file|poisson",
                  "of periodic models: as the file says, or at random at the same rate"),
    MER_TEXTS(
        deadline_ms, "[]",
        "MS or MODEL=MS: every request, or those of a model, must end so long after its release"),
    MER_REAL_AT("rate", arrivals.rate, "1", 1e-6, 1e6,
                "requests of periodic models over the same time, as a multiple of the file's; "
                "deadlines keep their distance"),
    MER_REAL_AT("jitter_ms", arrivals.jitter_ms, "0", 0, 1e9,
                "a request of a periodic model comes up to this much later; its deadline stays"),
    MER_INT_AT("arrival_seed", arrivals.seed, "1", 0, 9e15,
               "of random arrivals, jitter and requests with a probability; 0: the run's seed"),
    MER_BOOL(symmetry, "false",
             "equal cores exchange queues so that the one with the earliest job comes first"),
    {0}};

extern const MerProblemClass mer_problem_schedule;

typedef struct Shared { /* what all groups of a workload have in common */
    MerArena              *arena;
    const MerJobSet       *set;
    MerJobGroups           groups;
    MerNameTable           by_name; /* of groups: a pointer into `groups.names` */
    bool                   has_deadlines;
    const char            *left_out; /* a warning about jobs without a price; NULL: none */
    struct MerPriceCache **caches;   /* by core class */
} Shared;

typedef struct State {
    MerSchedule schedule;
    MerJobTable table;
    const void *bound_rules; /* for which the bound was made; NULL: not made yet */
    MerBound    bound;       /* of cycles */
    bool        symmetry;
    bool        depends_on_start; /* releases or deadlines, and earlier groups not yet planned */
} State;

const MerSchedule *mer_schedule_of(const MerProblem *problem)
{
    return problem->type == &mer_problem_schedule ? &((const State *)problem->state)->schedule
                                                  : NULL;
}

const MerJobTable *mer_schedule_table(const MerProblem *problem)
{
    return problem->type == &mer_problem_schedule ? &((const State *)problem->state)->table : NULL;
}

/* When the jobs of a list come, and how fast the platform could be at most; NULL: all are there at 0. */
static const MerGroupTimes *find_times(const MerProblem *problem, const MerJobSet *set,
                                       MerArena *arena)
{
    const Options     *chosen = problem->options;
    const MerPlatform *platform = problem->platform;
    MerSchedule        all = {.job_count = set->job_count,
                              .model_count = set->model_count,
                              .clock_hz = platform->clock_hz,
                              .models = set->models};
    const int         *jobs = mer_schedule_input_order(set->job_count, arena);
    mer_schedule_describe_jobs(problem, set, jobs, &all, arena);
    mer_arrivals_apply(&chosen->arrivals, &all, arena);
    MerGroupTimes *times = MER_NEW(arena, MerGroupTimes);
    *times = (MerGroupTimes){.release = all.release, .macs = all.macs};
    for (int u = 0; u < platform->unit_count; u++) {
        double rate = (double)platform->units[u].rows * platform->units[u].columns;
        times->macs_per_cycle += rate;
        times->core_macs_per_cycle = fmax(times->core_macs_per_cycle, rate);
    }
    return all.has_releases ? times : NULL;
}

static MerStatus find_groups(const MerProblem *problem, Shared *shared, MerError *error)
{
    const Options  *chosen = problem->options;
    MerArena       *arena = shared->arena;
    MerJobOptions   jobs = {(int)chosen->batch_size, (int)chosen->mini_batch,
                            (MerJobDependencies)chosen->dependencies};
    const MerGraph *graph = problem->graph;
    const char     *name = graph->path ? graph->path : graph->name;
    MER_TRY(mer_schedule_jobs(graph, &jobs, arena, &shared->set, error));
    MER_TRY(
        mer_schedule_set_deadlines(shared->set, &chosen->deadline_ms, arena, &shared->set, error));
    MER_TRY(mer_schedule_scale_requests(name, shared->set, chosen->arrivals.rate, arena,
                                        &shared->set, error));
    MER_TRY(mer_schedule_draw_requests(name, shared->set, (uint64_t)chosen->arrivals.seed, arena,
                                       &shared->set, error));
    if (chosen->table && mer_name_equal(chosen->table, "m3e-compat") &&
        shared->set->group_count == 0) {
        shared->left_out = mer_schedule_leave_unmapped(
            problem->graph, problem->platform, (MerFlexible)chosen->flexible, arena, &shared->set);
    }
    if (chosen->group_size > 0 && shared->set->group_count > 0) {
        return mer_error_set(error, MER_INVALID,
                             "group_size is %lld, but %s has groups of its own, expected --select",
                             (long long)chosen->group_size, problem->graph->name);
    }
    bool is_cut = chosen->group_size > 0 || shared->set->group_size > 0;
    mer_schedule_groups(problem->graph, shared->set, (int)chosen->group_size,
                        is_cut ? find_times(problem, shared->set, arena) : NULL, arena,
                        &shared->groups);
    return mer_schedule_select(&shared->groups, chosen->select, error);
}

static MerStatus make_shared(const MerProblem *problem, MerArena *arena, Shared **shared,
                             MerError *error)
{
    Shared *made = *shared = MER_NEW(arena, Shared);
    made->arena = arena;
    MER_TRY(find_groups(problem, made, error));
    made->by_name = (MerNameTable){.arena = arena};
    for (int g = made->groups.count - 1; g >= 0; g--) { /* of equal names the first */
        mer_name_table_set(&made->by_name, made->groups.names[g], &made->groups.names[g]);
    }
    for (int j = 0; j < made->set->job_count && !made->has_deadlines; j++) {
        const MerJob *job = &made->set->jobs[j];
        made->has_deadlines = job->deadline_cycles + job->deadline_s < INFINITY;
    }
    return MER_OK;
}

static MerStatus list_tasks(const MerProblem *problem, MerArena *arena, const MerTask **tasks,
                            int *count, MerError *error)
{
    Shared *shared;
    MER_TRY(make_shared(problem, arena, &shared, error));
    const MerJobGroups *groups = &shared->groups;
    MerTask            *list = MER_ARRAY(arena, MerTask, groups->count);
    for (int g = 0; g < groups->count; g++) {
        double macs = 0;
        for (int i = groups->start[g]; i < groups->start[g + 1]; i++) {
            macs += (double)mer_job_op(problem->graph, &shared->set->jobs[groups->jobs[i]]).macs;
        }
        /* The groups of a file are alternatives; those cut from one list run one after the other. */
        bool follows = g > 0 && shared->set->group_count == 0;
        list[g] = (MerTask){groups->names[g], 1, macs, -1, follows ? INFINITY : 0, shared};
    }
    *tasks = list;
    *count = groups->count;
    return MER_OK;
}

/* The group that the task is about, made with all others if nobody has listed them. */
static MerStatus find_task(const MerProblem *problem, MerArena *arena, Shared **shared, int *group,
                           MerError *error)
{
    *shared = problem->task->shared;
    if (!*shared) {
        MER_TRY(make_shared(problem, arena, shared, error));
    }
    const char **name = mer_name_table_find(&(*shared)->by_name, problem->task->name);
    if (!name) {
        return mer_error_set(error, MER_NOT_FOUND, "there is no group \"%s\" in %s",
                             problem->task->name, problem->graph->name);
    }
    *group = (int)(name - (*shared)->groups.names);
    return MER_OK;
}

static MerStatus open_schedule(MerProblem *problem, MerArena *arena, MerError *error)
{
    const Options     *chosen = problem->options;
    const MerPlatform *platform = problem->platform;
    State             *state = problem->state;
    MerSchedule       *schedule = &state->schedule;
    Shared            *shared;
    int                group = 0;
    MER_TRY(find_task(problem, arena, &shared, &group, error));
    if (!shared->caches) {
        shared->caches =
            MER_ARRAY(shared->arena, struct MerPriceCache *, platform->class_count + 1);
    }
    const MerJobSet    *set = shared->set;
    const MerJobGroups *groups = &shared->groups;
    const int          *jobs = groups->jobs + groups->start[group];
    double              rate = platform->memories[0].read_words_per_cycle * platform->word_bits / 8;
    *schedule = (MerSchedule){
        .job_count = groups->start[group + 1] - groups->start[group],
        .unit_count = platform->unit_count,
        .tenant_count = set->tenant_count,
        .model_count = set->model_count,
        .bandwidth = chosen->bandwidth > 0 ? chosen->bandwidth : rate,
        .clock_hz = platform->clock_hz,
        .arrival_rate = chosen->arrivals.rate,
        .has_other_arrivals = chosen->arrivals.process != MER_ARRIVALS_FILE ||
                              chosen->arrivals.rate != 1 || chosen->arrivals.jitter_ms > 0,
        .has_random_arrivals =
            chosen->arrivals.process == MER_ARRIVALS_POISSON || chosen->arrivals.jitter_ms > 0,
        .has_other_seed = chosen->arrivals.seed != 1,
        .has_own_deadlines = chosen->deadline_ms.count > 0,
        .tenants = set->tenants,
        .models = set->models,
    };
    if (!(schedule->bandwidth > 0) || !isfinite(schedule->bandwidth)) {
        return mer_error_set(
            error, MER_INVALID,
            "platform %s has no off-chip bandwidth, expected bytes_per_cycle of its "
            "outermost memory or --bandwidth",
            platform->name);
    }
    if ((int64_t)schedule->job_count * schedule->unit_count > 50000000) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "%d jobs on %d cores are too many for one group; give --group-size",
                             schedule->job_count, schedule->unit_count);
    }
    const char      *table = chosen->table ? chosen->table : "own";
    const char      *cache = chosen->cache ? chosen->cache : "off";
    MerJobTableInput input = {problem->graph, set,
                              jobs,           schedule->job_count,
                              platform,       &mer_core_pricer,
                              table,          (MerFlexible)chosen->flexible,
                              cache,          shared->caches,
                              shared->arena,  problem->notes};
    MER_TRY(mer_job_table_make(&input, arena, &state->table, error));
    mer_schedule_spread_table(platform, schedule, &state->table, arena);
    mer_schedule_describe_units(platform, schedule, arena);
    mer_schedule_describe_jobs(problem, set, jobs, schedule, arena);
    mer_arrivals_apply(&chosen->arrivals, schedule, arena);
    if (set->group_count == 0) {
        /* Groups cut from one list are judged alike: in one without deadlines nothing is late. */
        schedule->has_deadlines = shared->has_deadlines;
        state->depends_on_start =
            isinf(problem->task->start) && (schedule->has_releases || schedule->has_deadlines);
        mer_schedule_shift(schedule, problem->task->start, arena);
    }
    mer_schedule_link_jobs(set, jobs, schedule, arena);
    MerJobOrder order = chosen->order != MER_ORDER_AUTO ? (MerJobOrder)chosen->order
                        : schedule->is_compat           ? MER_ORDER_M3E
                                                        : MER_ORDER_LATENCY;
    schedule->order = mer_schedule_sort(schedule, order, arena);
    state->symmetry = chosen->symmetry;
    schedule->left_out = shared->left_out;
    problem->space = mer_schedule_space(schedule, arena);
    return MER_OK;
}

static bool depends_on_start(const MerProblem *problem)
{
    return ((const State *)problem->state)->depends_on_start;
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    const State *state = problem->state;
    mer_schedule_decode(&state->schedule, point, plan, arena);
    if (state->symmetry) {
        mer_schedule_canonical(problem, plan);
    }
}

double mer_schedule_shortest(const MerSchedule *schedule, int job)
{
    return mer_schedule_least(schedule->latency + job * schedule->unit_count, schedule->unit_count);
}

double mer_schedule_job_energy(const MerSchedule *schedule, int job, int unit, double moved)
{
    int    at = job * schedule->unit_count + unit;
    double saved = schedule->latency[at] * schedule->rate[at] - moved; /* to the bit 0 if none */
    return schedule->energy[at] - schedule->dram_pj_per_byte * saved;
}

static double least_energy(const MerSchedule *schedule, const MerScheduleRules *rules)
{
    double sum = 0;
    for (int j = 0; schedule->energy && j < schedule->job_count; j++) {
        double least = INFINITY;
        for (int u = 0; u < schedule->unit_count; u++) {
            double kept = schedule->traffic[j * schedule->unit_count + u] -
                          mer_schedule_least_traffic(schedule, rules, j, u);
            least = fmin(least, schedule->energy[j * schedule->unit_count + u] -
                                    schedule->dram_pj_per_byte * kept);
        }
        sum += least;
    }
    return schedule->energy ? sum : NAN;
}

static void bound(const MerProblem *problem, const void *evaluator_rules, MerMetric metric,
                  MerBound *result)
{
    const MerScheduleRules *rules = evaluator_rules;
    State                  *state = problem->state;
    const MerSchedule      *schedule = &state->schedule;
    double                  clock = schedule->clock_hz;
    *result = (MerBound){NAN, "none", ""};
    if (metric == MER_METRIC_JAIN || metric == MER_METRIC_XR_SCORE) {
        *result = (MerBound){metric == MER_METRIC_JAIN ? 1 : 100, "range", ""};
        return;
    }
    if (mer_schedule_is_about_deadlines(metric)) {
        *result = mer_schedule_bound_lateness(schedule, rules, metric);
        return;
    }
    if (rules->drops_jobs) {
        return;
    }
    if (state->bound_rules != rules) {
        state->bound_rules = rules;
        state->bound = mer_schedule_bound(schedule, rules, false, problem->notes);
    }
    double cycles = state->bound.value;
    double energy = least_energy(schedule, rules);
    double value = metric == MER_METRIC_CYCLES       ? cycles
                   : metric == MER_METRIC_MAKESPAN   ? cycles / clock
                   : metric == MER_METRIC_LATENCY    ? cycles / clock
                   : metric == MER_METRIC_THROUGHPUT ? 2 * problem->task->macs * clock / cycles
                   : metric == MER_METRIC_ENERGY     ? energy
                   : metric == MER_METRIC_EDP        ? energy * cycles
                                                     : NAN;
    if (!isnan(value)) {
        const char *kind = metric == MER_METRIC_ENERGY ? "least-energy" : state->bound.kind;
        *result = (MerBound){value, kind, ""};
    }
}

static const char *choice_name(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena)
{
    (void)arena;
    return problem->space.knobs[knob].role == MER_ROLE_UNIT
               ? mer_schedule_of(problem)->unit_names[choice]
               : NULL;
}

/* list_annealing rewrites whole queues, which fixed knobs forbid. */
static const char *choose_default(MerDefault what, const MerInputs *inputs)
{
    return what == MER_DEFAULT_OPTIMIZER && inputs->refused && inputs->has_fixed_knobs ? "annealing"
                                                                                       : NULL;
}

/* Arrivals are drawn anew for every seed: it becomes an option, so that log and plan file say it. */
static void take_seed(void *options, uint64_t seed)
{
    Options *chosen = options;
    chosen->arrivals.seed = chosen->arrivals.seed == 0 ? (int64_t)seed : chosen->arrivals.seed;
}

/* Three groups each of the four tasks that come with the program. */
static const char *const samples[] = {"vision:select=1-3", "language:select=1-3",
                                      "recommendation:select=1-3", "mix:select=1-3", NULL};

static const MerPlanKind *const plan_kinds[] = {&mer_plan_jobs, NULL};

const MerProblemClass mer_problem_schedule = {
    .name = "schedule",
    .summary = "which core runs which job of which network, and when",
    .evaluator = "bandwidth",
    .optimizer = "list_annealing",
    .objective = "cycles",
    .exact = "exact_schedule",
    .subset = "select",
    .platform = "s2",
    .plan_file = "schedule.yaml",
    .budget = 10000,
    .platforms = 1u << MER_PLATFORM_CORES,
    .plans = plan_kinds,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_schedule,
    .decode = decode,
    .encode = mer_schedule_encode,
    .bound = bound,
    .tasks = list_tasks,
    .depends_on_start = depends_on_start,
    .canonical = mer_schedule_canonical,
    .warnings = mer_schedule_warnings,
    .choose_default = choose_default,
    .choice_name = choice_name,
    .flags = mer_schedule_flags,
    .take_flags = mer_schedule_take_flags,
    .join = mer_jobs_join,
    .take_seed = take_seed,
    .can_carry = mer_schedule_can_carry,
    .carry = mer_schedule_carry,
    .combine = mer_schedule_combine,
    .print_costs = mer_schedule_print_costs,
    .advise = mer_schedule_advise,
    .claims = mer_schedule_claims,
    .samples = samples,
    .demo = "mix --platform s2 --select 1",
    .demo_summary = "A hundred jobs of six networks on four unequal cores that share 16 bytes per "
                    "cycle.",
};
