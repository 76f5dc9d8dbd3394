/* Owners of jobs: how long each takes alone and beside the others, and what that says of throughput and
 * fairness (schedule.md 5.4). */
#include "cost/bandwidth.h"

#include "base/json.h"
#include "problem/schedule_list.h"

#include <math.h>

/* Edges between the jobs of one owner; alone, nobody waits for the jobs of others. */
static void keep_edges(const int *owner, int tenant, int jobs, const int **start, const int **list,
                       MerArena *arena)
{
    int  used = 0;
    int *own_start = MER_ARRAY(arena, int, jobs + 1);
    int *own = MER_ARRAY(arena, int, (*start)[jobs] + 1);
    for (int j = 0; j < jobs; j++) {
        for (int i = (*start)[j]; i < (*start)[j + 1]; i++) {
            if (owner[j] == tenant && owner[(*list)[i]] == tenant) {
                own[used++] = (*list)[i];
            }
        }
        own_start[j + 1] = used;
    }
    *start = own_start;
    *list = own;
}

/* Queues without the jobs of others, which nobody should have to look past. */
static void keep_queues(const int *owner, int tenant, MerJobsPlan *plan)
{
    int used = 0;
    int at = 0;
    for (int u = 0; u < plan->unit_count; u++) {
        plan->start[u] = used;
        for (int end = plan->start[u + 1]; at < end; at++) {
            if (owner[plan->queue[at]] == tenant) {
                plan->queue[used++] = plan->queue[at];
            }
        }
    }
    plan->start[plan->unit_count] = used;
}

static double end_of_list(const MerBandwidthState *own, int tenant, MerListOrder order,
                          MerArena *scratch)
{
    MerJobsPlan        plan;
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    MerListOptions     list = {.order = order, .tenant = tenant};
    mer_schedule_list(own->schedule, &list, scratch, &plan);
    keep_queues(own->schedule->tenant, tenant, &plan);
    mer_bandwidth_simulate(own, &plan, scratch, &times, NULL, &output);
    return output.cycles;
}

/* The jobs that `owner` gives to the tenant, on the whole platform at full bandwidth; the others never become
 * ready. */
static double time_alone(const MerBandwidthState *state, const int *owner, int tenant,
                         MerArena *scratch)
{
    const MerSchedule *schedule = state->schedule;
    int                jobs = schedule->job_count;
    MerSchedule        only = *schedule;
    double            *release = MER_ARRAY(scratch, double, jobs + 1);
    double             first = INFINITY;
    for (int j = 0; j < jobs; j++) {
        release[j] = owner[j] == tenant ? schedule->release[j] : INFINITY;
        first = fmin(first, release[j]);
    }
    only.tenant = owner;
    only.release = release;
    only.release_order = mer_schedule_sorted(release, jobs, scratch);
    keep_edges(owner, tenant, jobs, &only.before_start, &only.before, scratch);
    keep_edges(owner, tenant, jobs, &only.after_start, &only.after, scratch);
    MerBandwidthState own = *state;
    own.schedule = own.input.schedule = &only;
    own.input.limit = INFINITY;
    own.input.rules.drops_late = false;
    own.input.rules.dispatch = MER_DISPATCH_SKIP;
    double fcfs = end_of_list(&own, tenant, MER_LIST_INPUT, scratch);
    return fmin(fcfs, end_of_list(&own, tenant, MER_LIST_LONGEST, scratch)) - first;
}

const double *mer_bandwidth_alone(const MerBandwidthState *state, MerArena *arena)
{
    int       count = state->schedule->tenant_count;
    double   *alone = MER_ARRAY(arena, double, count);
    MerArena *scratch = mer_arena_new();
    for (int i = 0; i < count; i++) {
        alone[i] = time_alone(state, state->schedule->tenant, i, scratch);
        mer_arena_reset(scratch);
    }
    mer_arena_free(scratch);
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
    for (int i = 0; i < schedule->tenant_count; i++) {
        if (services[i].dropped > 0 && services[i].done > 0) {
            services[i].alone = time_alone(state, owner, i, scratch);
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

static void write_tenant(const MerSchedule *schedule, int tenant, const Service *service,
                         MerJson *json)
{
    if (service->jobs == 0) {
        return;
    }
    bool is_served = service->done > 0;
    mer_json_object(json, NULL);
    mer_json_text(json, "name", schedule->tenants[tenant].name);
    mer_json_real(json, "weight", schedule->tenants[tenant].weight);
    mer_json_int(json, "jobs", service->jobs);
    if (schedule->has_deadlines) {
        mer_json_int(json, "late", service->late);
        mer_json_int(json, "dropped", service->dropped);
        mer_json_real(json, "done", service->done / service->work);
    }
    mer_json_real(json, "alone_cycles", is_served ? service->alone : NAN);
    mer_json_real(json, "shared_cycles", is_served ? turnaround(service) : NAN);
    mer_json_end_object(json);
}

void mer_bandwidth_note_tenants(const MerBandwidthState *state, const MerBandwidthTimes *times,
                                MerArena *scratch, MerNotes *notes)
{
    const MerSchedule *schedule = state->schedule;
    const Service     *services = serve(state, times, scratch);
    MerCost            cost;
    MerJson            json = {0};
    mer_cost_clear(&cost);
    fill(schedule, services, &cost);
    mer_json_object(&json, NULL);
    mer_json_real(&json, "stp", cost.value[MER_METRIC_STP]);
    mer_json_real(&json, "antt", cost.value[MER_METRIC_ANTT]);
    mer_json_real(&json, "weighted_antt", cost.value[MER_METRIC_WEIGHTED_ANTT]);
    mer_json_real(&json, "jain", cost.value[MER_METRIC_JAIN]);
    mer_json_array(&json, "tenants");
    for (int i = 0; i < schedule->tenant_count; i++) {
        write_tenant(schedule, i, &services[i], &json);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    mer_note(notes, "tenants", json.text);
    mer_json_free(&json);
}
