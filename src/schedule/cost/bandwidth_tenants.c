/* Owners of jobs: how long each takes alone and beside the others, and what that says of throughput and
 * fairness (docs/bandwidth-model.md, "Metrics"). */
#include "schedule/cost/bandwidth.h"

#include "mercator/view.h"
#include "schedule/schedule_list.h"

#include <math.h>
#include <string.h>

typedef struct Owners { /* jobs by tenant, in input order; those without an owner are left out */
    const int *owner;
    int       *start, *jobs; /* of tenant i: jobs[start[i]] .. */
    int       *place;        /* of a job among those of its tenant */
} Owners;

static Owners sort_by_owner(const int *owner, const MerSchedule *schedule, MerArena *arena)
{
    int    tenants = schedule->tenant_count;
    Owners owners = {owner, MER_ARRAY(arena, int, tenants + 2),
                     MER_ARRAY(arena, int, schedule->job_count + 1),
                     MER_ARRAY(arena, int, schedule->job_count + 1)};
    for (int j = 0; j < schedule->job_count; j++) {
        if (owner[j] >= 0) {
            owners.place[j] = owners.start[owner[j] + 1]++;
        }
    }
    for (int i = 0; i < tenants; i++) {
        owners.start[i + 1] += owners.start[i];
    }
    for (int j = 0; j < schedule->job_count; j++) {
        if (owner[j] >= 0) {
            owners.jobs[owners.start[owner[j]] + owners.place[j]] = j;
        }
    }
    return owners;
}

/* The rows of `jobs` in a matrix; NULL of NULL. */
static const void *pick_rows(const void *matrix, size_t row_size, const int *jobs, int count,
                             MerArena *arena)
{
    char *picked = matrix ? mer_arena_alloc(arena, row_size * ((size_t)count + 1)) : NULL;
    for (int i = 0; matrix && i < count; i++) {
        memcpy(picked + (size_t)i * row_size, (const char *)matrix + (size_t)jobs[i] * row_size,
               row_size);
    }
    return picked;
}

/* Edges between the jobs of one owner; alone, nobody waits for the jobs of others. */
static void pick_edges(const Owners *owners, int tenant, const int **start, const int **list,
                       MerArena *arena)
{
    int        first = owners->start[tenant], count = owners->start[tenant + 1] - first;
    const int *jobs = owners->jobs + first;
    int        capacity = 0, used = 0;
    for (int i = 0; i < count; i++) {
        capacity += (*start)[jobs[i] + 1] - (*start)[jobs[i]];
    }
    int *own_start = MER_ARRAY(arena, int, count + 1);
    int *own = MER_ARRAY(arena, int, capacity + 1);
    for (int i = 0; i < count; i++) {
        for (int k = (*start)[jobs[i]]; k < (*start)[jobs[i] + 1]; k++) {
            if (owners->owner[(*list)[k]] == tenant) {
                own[used++] = owners->place[(*list)[k]];
            }
        }
        own_start[i + 1] = used;
    }
    *start = own_start;
    *list = own;
}

/* A schedule of one tenant's jobs in all that the lists and the event loop look at, which is not everything. */
static MerSchedule pick_schedule(const MerSchedule *schedule, const Owners *owners, int tenant,
                                 MerArena *arena)
{
    const int  *jobs = owners->jobs + owners->start[tenant];
    int         count = owners->start[tenant + 1] - owners->start[tenant];
    size_t      row = (size_t)schedule->unit_count * sizeof(double);
    MerSchedule only = *schedule;
    only.job_count = count;
    const double **numbers[] = {&only.weight_bytes, &only.output_bytes, &only.release,
                                &only.deadline};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        *numbers[i] = pick_rows(*numbers[i], sizeof(double), jobs, count, arena);
    }
    only.latency = pick_rows(schedule->latency, row, jobs, count, arena);
    only.tenant = pick_rows(schedule->tenant, sizeof(int), jobs, count, arena);
    only.layer = pick_rows(schedule->layer, sizeof(int), jobs, count, arena);
    only.release_order = mer_schedule_sorted(only.release, count, arena);
    only.deadline_order = mer_schedule_sorted(only.deadline, count, arena);
    pick_edges(owners, tenant, &only.before_start, &only.before, arena);
    pick_edges(owners, tenant, &only.after_start, &only.after, arena);
    return only;
}

static double end_of_list(const MerBandwidthState *own, MerListOrder order, MerArena *scratch)
{
    MerJobsPlan        plan;
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    mer_schedule_list(own->schedule, &(MerListOptions){.order = order}, scratch, &plan);
    mer_bandwidth_simulate(own, &plan, scratch, &times, NULL, &output);
    return output.cycles;
}

/* The tenant's jobs on the whole platform at full bandwidth; 0 if it has none. */
static double time_alone(const MerBandwidthState *state, const Owners *owners, int tenant,
                         MerArena *scratch)
{
    const int *jobs = owners->jobs + owners->start[tenant];
    int        count = owners->start[tenant + 1] - owners->start[tenant];
    size_t     row = (size_t)state->schedule->unit_count * sizeof(MerWork);
    double     first = INFINITY;
    if (count == 0) {
        return 0;
    }
    MerSchedule only = pick_schedule(state->schedule, owners, tenant, scratch);
    for (int j = 0; j < count; j++) {
        first = fmin(first, only.release[j]);
    }
    MerBandwidthState own = *state;
    own.schedule = own.input.schedule = &only;
    own.input.work = pick_rows(state->input.work, row, jobs, count, scratch);
    own.input.limit = INFINITY;
    own.input.rules.drops_late = false;
    own.input.rules.dispatch = MER_DISPATCH_SKIP;
    double fcfs = end_of_list(&own, MER_LIST_INPUT, scratch);
    return fmin(fcfs, end_of_list(&own, MER_LIST_LONGEST, scratch)) - first;
}

const double *mer_bandwidth_alone(const MerBandwidthState *state, MerArena *arena)
{
    int       count = state->schedule->tenant_count;
    double   *alone = MER_ARRAY(arena, double, count);
    MerArena *sorted = mer_arena_new();
    MerArena *scratch = mer_arena_new();
    Owners    owners = sort_by_owner(state->schedule->tenant, state->schedule, sorted);
    for (int i = 0; i < count; i++) {
        alone[i] = time_alone(state, &owners, i, scratch);
        mer_arena_reset(scratch);
    }
    mer_arena_free(scratch);
    mer_arena_free(sorted);
    return alone;
}

typedef struct Service { /* what one tenant got; times in cycles, of the jobs that ran */
    int    jobs, late, dropped;
    double work, done; /* cycles of all its jobs where each is fastest, and of those that ran */
    double first, last, alone;
} Service;

static double turnaround(const Service *service)
{
    return service->last - service->first;
}

/* Where jobs were dropped both times are of the others, or whoever drops the long ones would look quick; where
 * none were, the time alone is the same for all plans. */
static const Service *serve(const MerBandwidthState *state, const MerBandwidthTimes *times,
                            MerArena *scratch)
{
    const MerSchedule *schedule = state->schedule;
    Service           *services = MER_ARRAY(scratch, Service, schedule->tenant_count + 1);
    int               *owner = MER_ARRAY(scratch, int, schedule->job_count + 1);
    for (int i = 0; i < schedule->tenant_count; i++) {
        services[i] = (Service){.first = INFINITY, .last = -INFINITY, .alone = state->alone[i]};
    }
    for (int j = 0; j < schedule->job_count; j++) {
        Service *service = &services[schedule->tenant[j]];
        bool     has_run = !isnan(times->end[j]);
        double   work = mer_schedule_shortest(schedule, j);
        owner[j] = has_run ? schedule->tenant[j] : -1;
        service->jobs++;
        service->late += times->end[j] > schedule->deadline[j];
        service->dropped += !has_run;
        service->work += work;
        if (has_run) {
            service->done += work;
            service->first = fmin(service->first, schedule->release[j]);
            service->last = fmax(service->last, times->end[j]);
        }
    }
    Owners owners = sort_by_owner(owner, schedule, scratch);
    for (int i = 0; i < schedule->tenant_count; i++) {
        if (services[i].dropped > 0 && services[i].done > 0) {
            services[i].alone = time_alone(state, &owners, i, scratch);
        }
    }
    return services;
}

static void fill(const MerSchedule *schedule, const Service *services, MerCost *cost)
{
    double stp = 0, antt = 0, weighted = 0, weights = 0, sum = 0, squares = 0;
    int    seen = 0;
    for (int i = 0; i < schedule->tenant_count; i++) {
        const Service *service = &services[i];
        double         weight = schedule->tenants[i].weight;
        if (service->jobs == 0) { /* its jobs are in other groups */
            continue;
        }
        bool   is_served = service->done > 0;
        double speed = is_served ? service->alone / turnaround(service) : 0;
        double progress = speed * (service->done / service->work);
        stp += progress;
        antt += is_served ? 1 / speed : INFINITY;
        weighted += is_served ? weight / speed : INFINITY;
        weights += weight;
        sum += progress / weight;
        squares += progress / weight * (progress / weight);
        seen++;
    }
    if (seen > 0) {
        cost->value[MER_METRIC_STP] = stp;
        cost->value[MER_METRIC_ANTT] = antt / seen;
        cost->value[MER_METRIC_WEIGHTED_ANTT] = weighted / weights;
        cost->value[MER_METRIC_JAIN] = sum * sum / (seen * squares);
    }
}

void mer_bandwidth_fill_tenants(const MerBandwidthState *state, const MerBandwidthTimes *times,
                                MerArena *scratch, MerCost *cost)
{
    fill(state->schedule, serve(state, times, scratch), cost);
}

void mer_bandwidth_fill_single(const MerBandwidthState *state, double cycles, MerCost *cost)
{
    cost->value[MER_METRIC_STP] = state->alone[0] / cycles;
    cost->value[MER_METRIC_ANTT] = cost->value[MER_METRIC_WEIGHTED_ANTT] = cycles / state->alone[0];
    cost->value[MER_METRIC_JAIN] = 1;
}

/* Nothing of a tenant that was dropped ended, ever. */
static void fill_row(const MerSchedule *schedule, int tenant, const Service *service,
                     MerViewCell *row)
{
    bool is_served = service->done > 0;
    int  c = 0;
    row[c++].text = schedule->tenants[tenant].name;
    row[c++].number = schedule->tenants[tenant].weight;
    row[c++].number = service->jobs;
    if (schedule->has_deadlines) {
        row[c++].number = service->late;
        row[c++].number = service->dropped;
        row[c++].number = service->done / service->work;
    }
    row[c++].number = is_served ? service->alone : NAN;
    row[c++].number = is_served ? turnaround(service) : NAN;
    row[c++].number = is_served ? turnaround(service) / service->alone : NAN;
}

static MerViewFact tell(const MerCost *cost, MerMetric metric, const char *name, const char *help)
{
    return (MerViewFact){.name = name, .value = cost->value[metric], .unit = "1", .help = help};
}

void mer_bandwidth_view_tenants(const MerBandwidthState *state, const MerBandwidthTimes *times,
                                MerArena *scratch, MerNotes *notes)
{
    static const MerViewColumn all[] = {
        {.name = "tenant"},
        {.name = "weight", .unit = "1"},
        {.name = "jobs", .unit = "1"},
        {.name = "late", .unit = "1", .help = "jobs that ended after their deadline"},
        {.name = "dropped", .unit = "1", .help = "jobs that never ran"},
        {.name = "done", .unit = "share", .help = "share of its work"},
        {.name = "alone",
         .unit = "cycle",
         .help = "cycles of the jobs that ran, the better of fcfs and lpt with the platform to "
                 "itself"},
        {.name = "shared",
         .unit = "cycle",
         .help = "cycles from the first release of those to their last end"},
        {.name = "slower", .unit = "\xc3\x97", .help = "shared over alone"}};
    enum { COLUMNS = sizeof all / sizeof *all, PLAIN = 3, OF_DEADLINES = 3 };
    const MerSchedule *schedule = state->schedule;
    const Service     *services = serve(state, times, scratch);
    MerCost            cost;
    MerViewColumn      columns[COLUMNS];
    int                skipped = schedule->has_deadlines ? 0 : OF_DEADLINES;
    MerViewTable       table = {.columns = columns, .column_count = COLUMNS - skipped};
    MerViewCell       *cells = MER_ARRAY(scratch, MerViewCell, schedule->tenant_count * COLUMNS);
    for (int c = 0; c < table.column_count; c++) {
        columns[c] = all[c < PLAIN ? c : c + skipped];
    }
    for (int i = 0; i < schedule->tenant_count; i++) {
        if (services[i].jobs > 0) { /* others have their jobs in other groups */
            fill_row(schedule, i, &services[i], cells + table.row_count++ * table.column_count);
        }
    }
    table.cells = cells;
    mer_cost_clear(&cost);
    fill(schedule, services, &cost);
    MerViewFact facts[] = {
        tell(&cost, MER_METRIC_STP, "STP", "sum of alone over shared, by work done"),
        tell(&cost, MER_METRIC_ANTT, "ANTT", "mean of shared over alone times"),
        tell(&cost, MER_METRIC_WEIGHTED_ANTT, "weighted ANTT", "the same by the tenants' weights"),
        tell(&cost, MER_METRIC_JAIN, "Jain", "fairness, 1: all are slowed alike")};
    MerView view = {.id = "tenants",
                    .title = "Tenants",
                    .facts = facts,
                    .fact_count = sizeof facts / sizeof *facts};
    mer_view_table(notes, &view, &table);
}
