/* Problem `schedule`: which core runs which job, and when (M3E and MAGMA, Kao and Krishna, HPCA 2022;
 * schedule.md). One task per group of jobs; two knobs per job, its core and its priority. */
#include "problem/schedule.h"

#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/yaml.h"
#include "problem/schedule_export.h"
#include "problem/schedule_jobs.h"
#include "problem/schedule_table.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PRIORITIES = 1 << 24 };
enum { ORDER_AUTO, ORDER_INPUT, ORDER_LATENCY, ORDER_M3E };

typedef struct Options {
    double      bandwidth;
    const char *table, *select;
    int         order, dependencies, flexible;
    int64_t     group_size, batch_size, mini_batch;
    bool        symmetry;
} Options;

static const MerOption options[] = {
    {"bandwidth", MER_OPTION_REAL, offsetof(Options, bandwidth), "0", 0, 1e15, NULL,
     "bytes per cycle that all cores share; 0: the platform's"},
    {"table", MER_OPTION_TEXT, offsetof(Options, table), "own", 0, 0, NULL,
     "job analysis table: own, m3e-compat (the published artifact's numbers), or a file"},
    {"select", MER_OPTION_TEXT, offsetof(Options, select), "", 0, 0, NULL,
     "groups to schedule: mix:0, mix:0-9, a scenario, or numbers from 0"},
    {"group_size", MER_OPTION_INT, offsetof(Options, group_size), "0", 0, 1000000, NULL,
     "jobs of a group without dependencies inside, cut by the host's rule; 0: as the file says"},
    {"batch_size", MER_OPTION_INT, offsetof(Options, batch_size), "1", 1, 65536, NULL,
     "images of a network that is no job file"},
    {"mini_batch", MER_OPTION_INT, offsetof(Options, mini_batch), "1", 1, 65536, NULL,
     "images of one job; batch_size is a multiple of it"},
    {"dependencies", MER_OPTION_CHOICE, offsetof(Options, dependencies), "graph", 0, 0,
     "graph|chain|none",
     "of a network that is no job file: its edges, one layer after the other, or none"},
    {"flexible", MER_OPTION_CHOICE, offsetof(Options, flexible), "search", 0, 0, "search|align",
     "shape of flexible arrays: lowest latency, or sides that divide the layer's dimensions"},
    {"order", MER_OPTION_CHOICE, offsetof(Options, order), "auto", 0, 0, "auto|input|latency|m3e",
     "order of the jobs' knobs: as given, by latency on all cores, or by the artifact's sort (auto "
     "with its table)"},
    {"symmetry", MER_OPTION_BOOL, offsetof(Options, symmetry), "false", 0, 0, NULL,
     "equal cores exchange queues so that the one with the earliest job comes first"},
    {0}};

extern const MerProblemClass mer_problem_schedule;

typedef struct State {
    MerSchedule      schedule;
    MerJobTable      table;
    MerScheduleRules rules;
    MerBound         bound; /* of cycles; kind NULL: not made yet */
    bool             symmetry;
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

void mer_schedule_set_rules(const MerProblem *problem, const MerScheduleRules *rules)
{
    State *state = problem->state;
    state->rules = *rules;
    state->bound.kind = NULL;
}

const MerScheduleRules *mer_schedule_rules(const MerProblem *problem)
{
    return &((const State *)problem->state)->rules;
}

static MerStatus find_groups(const MerProblem *problem, MerArena *arena, const MerJobSet **set,
                             MerJobGroups *groups, MerError *error)
{
    const Options *chosen = problem->options;
    MerJobOptions  jobs = {(int)chosen->batch_size, (int)chosen->mini_batch,
                           (MerJobDependencies)chosen->dependencies};
    MerStatus      status = mer_schedule_jobs(problem->graph, &jobs, arena, set, error);
    if (status != MER_OK) {
        return status;
    }
    mer_schedule_groups(problem->graph, *set, (int)chosen->group_size, arena, groups);
    return mer_schedule_select(groups, chosen->select, error);
}

static MerStatus list_tasks(const MerProblem *problem, MerArena *arena, const MerTask **tasks,
                            int *count, MerError *error)
{
    const MerJobSet *set;
    MerJobGroups     groups;
    MerStatus        status = find_groups(problem, arena, &set, &groups, error);
    if (status != MER_OK) {
        return status;
    }
    MerTask *list = MER_ARRAY(arena, MerTask, groups.count);
    for (int g = 0; g < groups.count; g++) {
        double macs = 0;
        for (int i = groups.start[g]; i < groups.start[g + 1]; i++) {
            macs += (double)mer_job_op(problem->graph, &set->jobs[groups.jobs[i]]).macs;
        }
        list[g] = (MerTask){groups.names[g], 1, macs, -1};
    }
    *tasks = list;
    *count = groups.count;
    return MER_OK;
}

/* Columns of the table, spread from core classes to cores. */
static void spread_table(const MerPlatform *platform, MerSchedule *schedule,
                         const MerJobTable *table, MerArena *arena)
{
    size_t  size = (size_t)schedule->job_count * (size_t)schedule->unit_count + 1;
    double *latency = MER_ARRAY(arena, double, size);
    double *rate = MER_ARRAY(arena, double, size);
    double *traffic = MER_ARRAY(arena, double, size);
    double *energy = MER_ARRAY(arena, double, size);
    double *weights = MER_ARRAY(arena, double, schedule->job_count + 1);
    double *outputs = MER_ARRAY(arena, double, schedule->job_count + 1);
    bool    has_energy = true;
    for (int j = 0; j < schedule->job_count; j++) {
        for (int u = 0; u < schedule->unit_count; u++) {
            const MerJobTableEntry *entry =
                &table->entries[table->row_of_job[j] * table->class_count +
                                platform->units[u].class_index];
            int at = j * schedule->unit_count + u;
            latency[at] = entry->latency;
            rate[at] = entry->rate;
            traffic[at] = entry->traffic;
            energy[at] = entry->energy_pj;
            weights[j] = entry->weight_bytes;
            outputs[j] = entry->output_bytes;
            has_energy = has_energy && !isnan(entry->energy_pj);
        }
    }
    schedule->latency = latency;
    schedule->rate = rate;
    schedule->traffic = traffic;
    schedule->energy = has_energy ? energy : NULL;
    schedule->weight_bytes = weights;
    schedule->output_bytes = outputs;
    schedule->table_hash = table->hash;
    schedule->is_compat = table->is_compat;
    schedule->layer = table->row_of_job;
}

static void describe_units(const MerPlatform *platform, MerSchedule *schedule, MerArena *arena)
{
    const char **names = MER_ARRAY(arena, const char *, schedule->unit_count);
    int         *classes = MER_ARRAY(arena, int, schedule->unit_count);
    double      *power = MER_ARRAY(arena, double, schedule->unit_count);
    double      *bytes = MER_ARRAY(arena, double, schedule->unit_count);
    for (int u = 0; u < schedule->unit_count; u++) {
        names[u] = platform->units[u].name;
        classes[u] = platform->units[u].class_index;
        power[u] = platform->units[u].static_pj_per_cycle;
        bytes[u] = platform->units[u].memory_bytes;
    }
    schedule->unit_names = names;
    schedule->unit_class = classes;
    schedule->static_pj_per_cycle = power;
    schedule->unit_bytes = bytes;
}

/* Predecessors within the group; those of earlier groups are done. */
static void link_jobs(const MerJobSet *set, const int *jobs, MerSchedule *schedule, MerArena *arena)
{
    int  count = schedule->job_count;
    int *place = MER_ARRAY(arena, int, set->job_count + 1); /* in the group, + 1 */
    int *before_start = MER_ARRAY(arena, int, count + 1);
    int *after_start = MER_ARRAY(arena, int, count + 2);
    int  edges = 0;
    for (int i = 0; i < count; i++) {
        place[jobs[i]] = i + 1;
        edges += set->jobs[jobs[i]].after_count;
    }
    int *before = MER_ARRAY(arena, int, edges + 1);
    int *after = MER_ARRAY(arena, int, edges + 1);
    int  used = 0;
    for (int i = 0; i < count; i++) {
        const MerJob *job = &set->jobs[jobs[i]];
        for (int k = 0; k < job->after_count; k++) {
            int from = place[job->after[k]] - 1;
            if (from >= 0) {
                before[used++] = from;
                after_start[from + 2]++;
            }
        }
        before_start[i + 1] = used;
    }
    for (int i = 0; i < count; i++) {
        after_start[i + 2] += after_start[i + 1];
    }
    for (int i = 0; i < count; i++) {
        for (int k = before_start[i]; k < before_start[i + 1]; k++) {
            after[after_start[before[k] + 1]++] = i;
        }
    }
    schedule->has_dependencies = used > 0;
    schedule->before_start = before_start;
    schedule->before = before;
    schedule->after_start = after_start;
    schedule->after = after;
}

static void describe_jobs(const MerProblem *problem, const MerJobSet *set, const int *jobs,
                          MerSchedule *schedule, MerArena *arena)
{
    int          count = schedule->job_count;
    const char **names = MER_ARRAY(arena, const char *, count + 1);
    double      *numbers[4];
    int         *owners[3];
    for (int i = 0; i < 4; i++) {
        numbers[i] = MER_ARRAY(arena, double, count + 1);
    }
    for (int i = 0; i < 3; i++) {
        owners[i] = MER_ARRAY(arena, int, count + 1);
    }
    double clock = isnan(schedule->clock_hz) ? 1 : schedule->clock_hz;
    for (int i = 0; i < count; i++) {
        const MerJob *job = &set->jobs[jobs[i]];
        names[i] = job->name;
        numbers[0][i] = (double)mer_job_op(problem->graph, job).macs;
        numbers[1][i] = job->release_cycles + job->release_s * clock;
        numbers[2][i] = job->deadline_cycles + job->deadline_s * clock;
        numbers[3][i] = set->tenants[job->tenant].weight;
        owners[0][i] = job->tenant;
        owners[1][i] = job->model;
        owners[2][i] = job->request;
        schedule->has_releases = schedule->has_releases || numbers[1][i] > 0;
        schedule->has_deadlines = schedule->has_deadlines || numbers[2][i] < INFINITY;
    }
    schedule->job_names = names;
    schedule->macs = numbers[0];
    schedule->release = numbers[1];
    schedule->deadline = numbers[2];
    schedule->weight = numbers[3];
    schedule->tenant = owners[0];
    schedule->model = owners[1];
    schedule->request = owners[2];
    schedule->release_order = mer_schedule_sorted(schedule->release, count, arena);
    schedule->deadline_order = mer_schedule_sorted(schedule->deadline, count, arena);
}

/* The order in which the search sees the jobs, which gives one-point crossovers their meaning: by latency on
 * the last core, then the one before, down to core `last_key`; ties keep the input order (section 6). */
static const int *sort_jobs(const MerSchedule *schedule, int order, MerArena *arena)
{
    int  count = schedule->job_count;
    int  units = schedule->unit_count;
    int  last_key = order == ORDER_M3E ? 2 : 0;
    int *sorted = MER_ARRAY(arena, int, count + 1);
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && order != ORDER_INPUT; at--) {
            const double *mine = schedule->latency + (size_t)i * (size_t)units;
            const double *other = schedule->latency + (size_t)sorted[at - 1] * (size_t)units;
            int           key = units - 1;
            while (key >= last_key && mine[key] == other[key]) {
                key--;
            }
            if (key < last_key || mine[key] > other[key]) {
                break;
            }
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = i;
    }
    return sorted;
}

static void make_knobs(MerProblem *problem, const MerSchedule *schedule, MerArena *arena)
{
    int      count = schedule->job_count;
    MerKnob *knobs = MER_ARRAY(arena, MerKnob, 2 * (size_t)count + 1);
    for (int i = 0; i < count; i++) {
        int         job = schedule->order[i];
        const char *name = schedule->job_names[job];
        knobs[i] = (MerKnob){mer_arena_format(arena, "unit.%s", name),
                             MER_KNOB_CATEGORY,
                             MER_ROLE_UNIT,
                             -1,
                             -1,
                             job,
                             0,
                             schedule->unit_count,
                             NULL};
        knobs[count + i] = (MerKnob){mer_arena_format(arena, "priority.%s", name),
                                     MER_KNOB_RANK,
                                     MER_ROLE_PRIORITY,
                                     -1,
                                     -1,
                                     job,
                                     1,
                                     PRIORITIES,
                                     NULL};
    }
    MerTable *tables = MER_ARRAY(arena, MerTable, 8);
    int       used = 0;
    double   *classes = MER_ARRAY(arena, double, schedule->unit_count);
    for (int u = 0; u < schedule->unit_count; u++) {
        classes[u] = schedule->unit_class[u];
    }
    tables[used++] = (MerTable){"latency", count, schedule->unit_count, schedule->latency};
    tables[used++] = (MerTable){"bandwidth", count, schedule->unit_count, schedule->rate};
    tables[used++] = (MerTable){"traffic", count, schedule->unit_count, schedule->traffic};
    if (schedule->energy) {
        tables[used++] = (MerTable){"energy", count, schedule->unit_count, schedule->energy};
    }
    tables[used++] = (MerTable){"release", count, 1, schedule->release};
    tables[used++] = (MerTable){"deadline", count, 1, schedule->deadline};
    tables[used++] = (MerTable){"weight", count, 1, schedule->weight};
    tables[used++] = (MerTable){"class", schedule->unit_count, 1, classes};
    problem->space = (MerSpace){2 * count, used, knobs, tables};
}

static MerStatus find_task(const MerProblem *problem, const MerJobGroups *groups, int *group,
                           MerError *error)
{
    for (*group = 0; *group < groups->count; (*group)++) {
        if (strcmp(groups->names[*group], problem->task->name) == 0) {
            return MER_OK;
        }
    }
    return mer_error_set(error, MER_NOT_FOUND, "there is no group \"%s\" in %s",
                         problem->task->name, problem->graph->name);
}

static MerStatus open_schedule(MerProblem *problem, MerArena *arena, MerError *error)
{
    const Options     *chosen = problem->options;
    const MerPlatform *platform = problem->platform;
    State             *state = problem->state;
    MerSchedule       *schedule = &state->schedule;
    const MerJobSet   *set;
    MerJobGroups       groups;
    int                group;
    MerStatus          status = find_groups(problem, arena, &set, &groups, error);
    status = status == MER_OK ? find_task(problem, &groups, &group, error) : status;
    if (status != MER_OK) {
        return status;
    }
    const int *jobs = groups.jobs + groups.start[group];
    double     rate = platform->memories[0].read_words_per_cycle * platform->word_bits / 8;
    *schedule = (MerSchedule){
        .job_count = groups.start[group + 1] - groups.start[group],
        .unit_count = platform->unit_count,
        .tenant_count = set->tenant_count,
        .model_count = set->model_count,
        .bandwidth = chosen->bandwidth > 0 ? chosen->bandwidth : rate,
        .clock_hz = platform->clock_hz,
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
    MerJobTableInput input = {problem->graph,
                              set,
                              jobs,
                              schedule->job_count,
                              platform,
                              problem->pricer,
                              chosen->table ? chosen->table : "own",
                              (MerFlexible)chosen->flexible};
    status = mer_job_table_make(&input, arena, &state->table, error);
    if (status != MER_OK) {
        return status;
    }
    spread_table(platform, schedule, &state->table, arena);
    describe_units(platform, schedule, arena);
    describe_jobs(problem, set, jobs, schedule, arena);
    link_jobs(set, jobs, schedule, arena);
    int order = chosen->order != ORDER_AUTO ? chosen->order
                : schedule->is_compat       ? ORDER_M3E
                                            : ORDER_LATENCY;
    schedule->order = sort_jobs(schedule, order, arena);
    state->symmetry = chosen->symmetry;
    make_knobs(problem, schedule, arena);
    return MER_OK;
}

/* Stable; short queues by insertion, long ones by merging halves. */
static void sort_by_rank(int *places, int count, const MerIndex *rank, int *room)
{
    if (count > 48) {
        int half = count / 2;
        sort_by_rank(places, half, rank, room);
        sort_by_rank(places + half, count - half, rank, room);
        memcpy(room, places, (size_t)half * sizeof *room);
        int a = 0;
        int b = half;
        for (int at = 0; a < half; at++) {
            bool takes_b = b < count && rank[places[b]] < rank[room[a]];
            places[at] = takes_b ? places[b++] : room[a++];
        }
        return;
    }
    for (int i = 1; i < count; i++) {
        int      place = places[i];
        MerIndex mine = rank[place];
        int      at = i;
        for (; at > 0 && rank[places[at - 1]] > mine; at--) {
            places[at] = places[at - 1];
        }
        places[at] = place;
    }
}

static void make_canonical(const MerSchedule *schedule, MerJobsPlan *plan);

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    const State       *state = problem->state;
    const MerSchedule *schedule = &state->schedule;
    MerJobsPlan       *jobs = &plan->as.jobs;
    int                count = schedule->job_count;
    int                units = schedule->unit_count;
    plan->kind = MER_PLAN_JOBS;
    mer_schedule_new_plan(schedule, arena, jobs);
    int *fill = MER_ARRAY(arena, int, units + count + 1);
    int *room = fill + units;
    for (int i = 0; i < count; i++) {
        jobs->start[point[i] + 1]++;
    }
    for (int u = 0; u < units; u++) {
        jobs->start[u + 1] += jobs->start[u];
        fill[u] = jobs->start[u];
    }
    for (int i = 0; i < count; i++) {
        jobs->queue[fill[point[i]]++] = i;
        jobs->unit[schedule->order[i]] = point[i];
    }
    for (int u = 0; u < units; u++) {
        sort_by_rank(jobs->queue + jobs->start[u], jobs->start[u + 1] - jobs->start[u],
                     point + count, room);
    }
    for (int i = 0; i < count; i++) {
        jobs->queue[i] = schedule->order[jobs->queue[i]];
    }
    if (state->symmetry) {
        make_canonical(schedule, jobs);
    }
}

/* Priorities are spread evenly over each queue. */
static bool encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    const MerSchedule *schedule = mer_schedule_of(problem);
    const MerJobsPlan *jobs = &plan->as.jobs;
    int                count = schedule->job_count;
    if (plan->kind != MER_PLAN_JOBS || jobs->job_count != count ||
        jobs->unit_count != schedule->unit_count) {
        return false;
    }
    int *place = mer_heap_zeroed((size_t)count + 1, sizeof *place); /* knob of each job */
    for (int i = 0; i < count; i++) {
        place[schedule->order[i]] = i;
    }
    for (int u = 0; u < jobs->unit_count; u++) {
        int length = jobs->start[u + 1] - jobs->start[u];
        for (int i = 0; i < length; i++) {
            int knob = place[jobs->queue[jobs->start[u] + i]];
            point[knob] = u;
            point[count + knob] = (MerIndex)((double)PRIORITIES * (i + 0.5) / length);
        }
    }
    free(place);
    return true;
}

static int earliest_job(const MerJobsPlan *plan, int unit)
{
    int earliest = plan->job_count;
    for (int i = plan->start[unit]; i < plan->start[unit + 1]; i++) {
        earliest = plan->queue[i] < earliest ? plan->queue[i] : earliest;
    }
    return earliest;
}

/* Equal cores exchange their queues so that they come in the order of their smallest job. */
static void make_canonical(const MerSchedule *schedule, MerJobsPlan *plan)
{
    int  units = plan->unit_count;
    int *from = mer_heap_zeroed((size_t)(3 * units + plan->job_count + 1),
                                sizeof *from); /* queue that a unit gets */
    int *earliest = from + units;
    int *start = earliest + units;
    int *queue = start + units;
    for (int u = 0; u < units; u++) {
        from[u] = u;
        start[u] = plan->start[u];
        earliest[u] = earliest_job(plan, u);
    }
    for (int a = 0; a < units; a++) {
        for (int b = a + 1; b < units; b++) {
            if (schedule->unit_class[a] == schedule->unit_class[b] &&
                earliest[from[b]] < earliest[from[a]]) {
                int swap = from[a];
                from[a] = from[b];
                from[b] = swap;
            }
        }
    }
    memcpy(queue, plan->queue, (size_t)plan->job_count * sizeof *queue);
    int used = 0;
    int end = plan->job_count;
    for (int u = 0; u < units; u++) {
        int first = start[from[u]];
        int stop = from[u] + 1 < units ? start[from[u] + 1] : end;
        plan->start[u] = used;
        for (int i = first; i < stop; i++) {
            plan->unit[queue[i]] = u;
            plan->queue[used++] = queue[i];
        }
    }
    plan->start[units] = used;
    free(from);
}

static void canonical(const MerProblem *problem, MerPlan *plan)
{
    make_canonical(mer_schedule_of(problem), &plan->as.jobs);
}

static double least_energy(const MerSchedule *schedule)
{
    double sum = 0;
    for (int j = 0; schedule->energy && j < schedule->job_count; j++) {
        double least = INFINITY;
        for (int u = 0; u < schedule->unit_count; u++) {
            least = fmin(least, schedule->energy[j * schedule->unit_count + u]);
        }
        sum += least;
    }
    return schedule->energy ? sum : NAN;
}

static void bound(const MerProblem *problem, MerMetric metric, MerBound *result)
{
    State             *state = problem->state;
    const MerSchedule *schedule = &state->schedule;
    double             clock = schedule->clock_hz;
    *result = (MerBound){NAN, "none", ""};
    if (!state->rules.is_known || state->rules.drops_jobs) {
        return;
    }
    if (!state->bound.kind) {
        state->bound = mer_schedule_bound(schedule, &state->rules, false);
    }
    MerBound cycles = state->bound;
    double   energy = least_energy(schedule);
    switch (metric) {
    case MER_METRIC_CYCLES:
        *result = cycles;
        break;
    case MER_METRIC_MAKESPAN:
    case MER_METRIC_LATENCY:
        *result = (MerBound){cycles.value / clock, isnan(clock) ? "none" : cycles.kind, ""};
        break;
    case MER_METRIC_THROUGHPUT:
        *result = (MerBound){2 * problem->task->macs * clock / cycles.value,
                             isnan(clock) ? "none" : cycles.kind, ""};
        break;
    case MER_METRIC_ENERGY:
        *result = (MerBound){energy, isnan(energy) ? "none" : "least-energy", ""};
        break;
    case MER_METRIC_EDP:
        *result = (MerBound){energy * cycles.value, isnan(energy) ? "none" : cycles.kind, ""};
        break;
    default:
        break;
    }
}

static void write_plan(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    const MerSchedule *schedule = mer_schedule_of(problem);
    const MerJobsPlan *jobs = &plan->as.jobs;
    mer_json_object(json, "queues");
    for (int u = 0; u < jobs->unit_count; u++) {
        mer_json_array(json, schedule->unit_names[u]);
        for (int i = jobs->start[u]; i < jobs->start[u + 1]; i++) {
            mer_json_text(json, NULL, schedule->job_names[jobs->queue[i]]);
        }
        mer_json_end_array(json);
    }
    mer_json_end_object(json);
}

static int find_job(const MerSchedule *schedule, const char *name)
{
    for (int j = 0; j < schedule->job_count; j++) {
        if (strcmp(schedule->job_names[j], name) == 0) {
            return j;
        }
    }
    return -1;
}

static MerStatus read_queue(const MerSchedule *schedule, const MerYaml *list, int *queue, int *used,
                            bool *is_placed, MerError *error)
{
    MerStatus status = mer_yaml_check_kind(list, MER_YAML_LIST, error);
    for (int i = 0; status == MER_OK && i < list->count; i++) {
        const char *name = NULL;
        status = mer_yaml_text(list->items[i], &name, error);
        int job = status == MER_OK ? find_job(schedule, name) : -1;
        if (status == MER_OK && (job < 0 || is_placed[job])) {
            return mer_yaml_expected(list->items[i], error,
                                     job < 0 ? "a job of the group" : "every job once");
        }
        if (status == MER_OK) {
            is_placed[job] = true;
            queue[(*used)++] = job;
        }
    }
    return status;
}

static MerStatus read_plan(const MerProblem *problem, const MerYaml *body, MerPlan *plan,
                           MerArena *arena, MerError *error)
{
    const MerSchedule *schedule = mer_schedule_of(problem);
    MerJobsPlan       *jobs = &plan->as.jobs;
    MerYaml           *queues;
    bool              *is_placed = MER_ARRAY(arena, bool, schedule->job_count + 1);
    int                used = 0;
    MerStatus          status = mer_yaml_need((MerYaml *)body, "queues", &queues, error);
    status = status == MER_OK ? mer_yaml_check_kind(queues, MER_YAML_MAP, error) : status;
    plan->kind = MER_PLAN_JOBS;
    mer_schedule_new_plan(schedule, arena, jobs);
    for (int u = 0; status == MER_OK && u < schedule->unit_count; u++) {
        const MerYaml *list = mer_yaml_get(queues, schedule->unit_names[u]);
        jobs->start[u] = used;
        if (list) {
            status = read_queue(schedule, list, jobs->queue, &used, is_placed, error);
        }
        for (int i = jobs->start[u]; status == MER_OK && i < used; i++) {
            jobs->unit[jobs->queue[i]] = u;
        }
    }
    jobs->start[schedule->unit_count] = used;
    if (status == MER_OK && used < schedule->job_count) {
        int missing = 0;
        while (is_placed[missing]) {
            missing++;
        }
        return mer_yaml_error(queues, error,
                              "queues have %d of %d jobs, expected all of them; %s is missing",
                              used, schedule->job_count, schedule->job_names[missing]);
    }
    return status == MER_OK ? mer_yaml_finish(queues, error) : status;
}

static const char *print_plan(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    const MerSchedule *schedule = mer_schedule_of(problem);
    const MerJobsPlan *jobs = &plan->as.jobs;
    char              *text = NULL;
    size_t             size = 0;
    FILE              *memory = open_memstream(&text, &size);
    if (!memory) {
        return "";
    }
    fprintf(memory, "%g bytes/cycle shared by %d cores", schedule->bandwidth, schedule->unit_count);
    if (!isnan(schedule->clock_hz)) {
        fprintf(memory, " (%g GB/s at %g MHz)", schedule->bandwidth * schedule->clock_hz * 1e-9,
                schedule->clock_hz * 1e-6);
    }
    fprintf(memory, ", table %s\n", ((const State *)problem->state)->table.source);
    if (schedule->job_count < schedule->unit_count) {
        fprintf(memory, "warning: %d jobs leave some of %d cores without work\n",
                schedule->job_count, schedule->unit_count);
    }
    for (int u = 0; u < jobs->unit_count; u++) {
        int length = jobs->start[u + 1] - jobs->start[u];
        fprintf(memory, "%-8s %4d jobs:", schedule->unit_names[u], length);
        for (int i = 0; i < length && i < 8; i++) {
            fprintf(memory, " %s", schedule->job_names[jobs->queue[jobs->start[u] + i]]);
        }
        fprintf(memory, "%s\n", length > 8 ? " ..." : "");
    }
    fclose(memory);
    const char *copy = mer_arena_text(arena, text);
    free(text);
    return copy;
}

const MerProblemClass mer_problem_schedule = {
    .name = "schedule",
    .summary = "which core runs which job of which network, and when",
    .evaluator = "bandwidth",
    .optimizer = "list_annealing",
    .objective = "cycles",
    .exact = "exact_schedule",
    .platform = "s2",
    .plan_file = "schedule.yaml",
    .budget = 10000,
    .platforms = 1u << MER_PLATFORM_CORES,
    .plans = 1u << MER_PLAN_JOBS,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_schedule,
    .decode = decode,
    .encode = encode,
    .bound = bound,
    .tasks = list_tasks,
    .canonical = canonical,
    .write_plan = write_plan,
    .read_plan = read_plan,
    .print_plan = print_plan,
    .export_files = mer_schedule_export,
};
