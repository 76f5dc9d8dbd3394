/* Owners of jobs: how long each takes alone and beside the others, and what that says of throughput and
 * fairness (schedule.md 5.4). */
#include "cost/bandwidth.h"

#include "base/json.h"
#include "problem/schedule_list.h"

#include <math.h>

/* Edges between jobs of one tenant; alone, nobody waits for the jobs of others. */
static void keep_own(const MerSchedule *schedule, int tenant, const int **start, const int **list,
                     MerArena *arena)
{
    int  jobs = schedule->job_count;
    int  used = 0;
    int *own_start = MER_ARRAY(arena, int, jobs + 1);
    int *own = MER_ARRAY(arena, int, (*start)[jobs] + 1);
    for (int j = 0; j < jobs; j++) {
        for (int i = (*start)[j]; i < (*start)[j + 1]; i++) {
            if (schedule->tenant[j] == tenant && schedule->tenant[(*list)[i]] == tenant) {
                own[used++] = (*list)[i];
            }
        }
        own_start[j + 1] = used;
    }
    *start = own_start;
    *list = own;
}

/* The tenant's jobs on the whole platform at full bandwidth; the others never become ready. */
static double time_alone(const MerBandwidthState *state, int tenant, MerListOrder order,
                         MerArena *scratch)
{
    const MerSchedule *schedule = state->schedule;
    MerJobsPlan        plan;
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    MerListOptions     list = {.order = order, .tenant = tenant};
    mer_schedule_list(schedule, &list, scratch, &plan);
    MerSchedule only = *schedule;
    double     *release = MER_ARRAY(scratch, double, schedule->job_count);
    double      first = INFINITY;
    for (int j = 0; j < schedule->job_count; j++) {
        release[j] = schedule->tenant[j] == tenant ? schedule->release[j] : INFINITY;
        first = fmin(first, release[j]);
    }
    only.release = release;
    only.release_order = mer_schedule_sorted(release, schedule->job_count, scratch);
    keep_own(schedule, tenant, &only.before_start, &only.before, scratch);
    keep_own(schedule, tenant, &only.after_start, &only.after, scratch);
    MerBandwidthState own = *state;
    own.schedule = own.input.schedule = &only;
    own.input.rules.drops_late = false;
    own.input.rules.dispatch = MER_DISPATCH_SKIP;
    mer_bandwidth_simulate(&own, &plan, scratch, &times, NULL, &output);
    return output.cycles - first;
}

const double *mer_bandwidth_alone(const MerBandwidthState *state, MerArena *arena)
{
    int       count = state->schedule->tenant_count;
    double   *alone = MER_ARRAY(arena, double, count);
    MerArena *scratch = mer_arena_new();
    for (int i = 0; i < count; i++) {
        double fcfs = time_alone(state, i, MER_LIST_INPUT, scratch);
        alone[i] = fmin(fcfs, time_alone(state, i, MER_LIST_LONGEST, scratch));
        mer_arena_reset(scratch);
    }
    mer_arena_free(scratch);
    return alone;
}

/* From the first release of each tenant to its last end; not finite where it has no job or none ended. */
static const double *turnarounds(const MerSchedule *schedule, const MerBandwidthTimes *times,
                                 MerArena *scratch)
{
    int     count = schedule->tenant_count;
    double *first = MER_ARRAY(scratch, double, count);
    double *last = MER_ARRAY(scratch, double, count);
    for (int i = 0; i < count; i++) {
        first[i] = INFINITY;
        last[i] = -INFINITY;
    }
    for (int j = 0; j < schedule->job_count; j++) {
        int i = schedule->tenant[j];
        first[i] = fmin(first[i], schedule->release[j]);
        last[i] = isnan(times->end[j]) ? last[i] : fmax(last[i], times->end[j]);
    }
    for (int i = 0; i < count; i++) {
        last[i] -= first[i];
    }
    return last;
}

void mer_bandwidth_fill_tenants(const MerBandwidthState *state, const MerBandwidthTimes *times,
                                MerArena *scratch, MerCost *cost)
{
    const MerSchedule *schedule = state->schedule;
    const double      *turnaround = turnarounds(schedule, times, scratch);
    double             stp = 0, antt = 0, weighted = 0, weights = 0, sum = 0, squares = 0;
    int                seen = 0;
    for (int i = 0; i < schedule->tenant_count; i++) {
        if (turnaround[i] > 0 && turnaround[i] < INFINITY) {
            double speed = state->alone[i] / turnaround[i];
            double fair = speed / schedule->tenants[i].weight;
            stp += speed;
            antt += 1 / speed;
            weighted += schedule->tenants[i].weight / speed;
            weights += schedule->tenants[i].weight;
            sum += fair;
            squares += fair * fair;
            seen++;
        }
    }
    if (seen > 0) {
        cost->value[MER_METRIC_STP] = stp;
        cost->value[MER_METRIC_ANTT] = antt / seen;
        cost->value[MER_METRIC_WEIGHTED_ANTT] = weighted / weights;
        cost->value[MER_METRIC_JAIN] = sum * sum / (seen * squares);
    }
}

void mer_bandwidth_fill_single(const MerBandwidthState *state, double cycles, MerCost *cost)
{
    cost->value[MER_METRIC_STP] = state->alone[0] / cycles;
    cost->value[MER_METRIC_ANTT] = cost->value[MER_METRIC_WEIGHTED_ANTT] = cycles / state->alone[0];
    cost->value[MER_METRIC_JAIN] = 1;
}

static void write_tenant(const MerBandwidthState *state, const MerBandwidthTimes *times, int tenant,
                         double turnaround, MerJson *json)
{
    const MerSchedule *schedule = state->schedule;
    int                jobs = 0, late = 0, dropped = 0;
    for (int j = 0; j < schedule->job_count; j++) {
        bool is_own = schedule->tenant[j] == tenant;
        jobs += is_own;
        dropped += is_own && isnan(times->end[j]);
        late += is_own && times->end[j] > schedule->deadline[j];
    }
    if (jobs == 0) { /* its jobs are in other groups */
        return;
    }
    mer_json_object(json, NULL);
    mer_json_text(json, "name", schedule->tenants[tenant].name);
    mer_json_real(json, "weight", schedule->tenants[tenant].weight);
    mer_json_int(json, "jobs", jobs);
    if (schedule->has_deadlines) {
        mer_json_int(json, "late", late);
        mer_json_int(json, "dropped", dropped);
    }
    mer_json_real(json, "alone_cycles", state->alone[tenant]);
    mer_json_real(json, "shared_cycles", turnaround > 0 ? turnaround : NAN);
    mer_json_end_object(json);
}

void mer_bandwidth_note_tenants(const MerBandwidthState *state, const MerBandwidthTimes *times,
                                MerArena *scratch, MerNotes *notes)
{
    const MerSchedule *schedule = state->schedule;
    const double      *turnaround = turnarounds(schedule, times, scratch);
    MerCost            cost;
    MerJson            json = {0};
    mer_cost_clear(&cost);
    mer_bandwidth_fill_tenants(state, times, scratch, &cost);
    mer_json_object(&json, NULL);
    mer_json_real(&json, "stp", cost.value[MER_METRIC_STP]);
    mer_json_real(&json, "antt", cost.value[MER_METRIC_ANTT]);
    mer_json_real(&json, "weighted_antt", cost.value[MER_METRIC_WEIGHTED_ANTT]);
    mer_json_real(&json, "jain", cost.value[MER_METRIC_JAIN]);
    mer_json_array(&json, "tenants");
    for (int i = 0; i < schedule->tenant_count; i++) {
        write_tenant(state, times, i, turnaround[i], &json);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    mer_note(notes, "tenants", json.text);
    mer_json_free(&json);
}
