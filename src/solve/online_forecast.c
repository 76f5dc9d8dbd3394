/* What an on-line scheduler knows, and what it expects of a plan: the requests that have arrived are played on
 * to their end, as if no other came. */
#include "solve/online.h"

#include <math.h>
#include <string.h>

/* How much a missed request hurts depends on what is counted. */
static double request_weight(const MerSchedule *schedule, int job, int jobs, MerMetric objective)
{
    int    model = schedule->model[job];
    double fps = model >= 0 ? schedule->models[model].fps : 0;
    if (objective == MER_METRIC_XR_SCORE && fps > 0) {
        return 1 / fps; /* the score is a mean over models, each a mean over its requests */
    }
    return schedule->weight[job] * (objective == MER_METRIC_VIOLATIONS ? jobs : 1);
}

/* Requests in the order of their first job. */
static void find_requests(MerOnlinePlanner *p, MerMetric objective, MerArena *arena)
{
    const MerSchedule *schedule = p->schedule;
    int                most = 0;
    for (int j = 0; j < schedule->job_count; j++) {
        most = schedule->request[j] >= most ? schedule->request[j] + 1 : most;
    }
    int *known = MER_ARRAY(arena, int, (size_t)schedule->model_count *(size_t)most + 1); /* + 1 */
    for (int j = 0; j < schedule->job_count; j++) {
        int  single = 0;
        int *at = schedule->model[j] < 0 ? &single
                                         : &known[schedule->model[j] * most + schedule->request[j]];
        if (*at == 0) {
            *at = ++p->request_count;
            p->requests[*at - 1] = (MerOnlineRequest){.release = INFINITY};
        }
        p->request_of_job[j] = *at - 1;
        p->requests[*at - 1].count++;
    }
    for (int r = 1; r < p->request_count; r++) {
        p->requests[r].first = p->requests[r - 1].first + p->requests[r - 1].count;
    }
    int *used = MER_ARRAY(arena, int, p->request_count + 1);
    for (int j = 0; j < schedule->job_count; j++) {
        int               r = p->request_of_job[j];
        MerOnlineRequest *request = &p->requests[r];
        p->jobs[request->first + used[r]++] = j;
        request->release = fmin(request->release, schedule->release[j]);
        request->deadline = fmax(request->deadline, schedule->deadline[j]);
        request->weight = request_weight(schedule, j, request->count, objective);
    }
}

void mer_online_prepare(MerOnlinePlanner *p, MerMetric objective, MerArena *arena)
{
    const MerSchedule *schedule = p->schedule;
    int                jobs = schedule->job_count;
    p->requests = MER_ARRAY(arena, MerOnlineRequest, jobs + 1);
    p->jobs = MER_ARRAY(arena, int, jobs + 1);
    p->request_of_job = MER_ARRAY(arena, int, jobs + 1);
    p->live = MER_ARRAY(arena, int, jobs + 1);
    p->live_jobs = MER_ARRAY(arena, int, jobs + 1);
    p->shortest = MER_ARRAY(arena, double, jobs + 1);
    double **numbers[] = {&p->rank,        &p->remaining,     &p->urgency,
                          &p->patience,    &p->trial_urgency, &p->trial_patience,
                          &p->times.start, &p->times.end,     &p->times.moved};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        *numbers[i] = MER_ARRAY(arena, double, jobs + 1);
    }
    p->times.unit = MER_ARRAY(arena, int, jobs + 1);
    MerOnlinePlan *plans[] = {&p->best, &p->trial, &p->swap};
    for (int i = 0; i < 3; i++) {
        plans[i]->order = MER_ARRAY(arena, int, jobs + 1);
        plans[i]->patience = MER_ARRAY(arena, double, jobs + 1);
    }
    for (int j = 0; j < jobs; j++) {
        p->shortest[j] = INFINITY;
        p->patience[j] = p->options.patience;
        for (int u = 0; u < schedule->unit_count; u++) {
            p->shortest[j] = fmin(p->shortest[j], schedule->latency[j * schedule->unit_count + u]);
        }
    }
    find_requests(p, objective, arena);
}

void mer_online_write(const MerOnlinePlanner *p, const MerBandwidthRun *run,
                      const MerOnlinePlan *plan, double *urgency, double *patience)
{
    double now = mer_bandwidth_now(run);
    for (int i = 0; i < p->live_count; i++) {
        int                     at = plan->order[i];
        const MerOnlineRequest *request = &p->requests[p->live[at]];
        bool                    is_new = request->release >= now;
        for (int k = 0; k < request->count; k++) {
            int job = p->jobs[request->first + k];
            urgency[job] = i;
            /* A job that has been ready, with a free unit it did not want, may not want it later: then the
             * plan would be one that looks ahead. */
            bool is_bound = !is_new && mer_bandwidth_is_ready(run, job);
            patience[job] = is_bound ? p->patience[job] : plan->patience[at];
        }
    }
}

/* Smaller is better: missed requests by weight, then lateness, then when things end. */
static double judge(const MerOnlinePlanner *p, double now, double stopped)
{
    double misses = 0;
    double tardiness = 0;
    double finish = 0;
    double last = now;
    for (int i = 0; i < p->live_count; i++) {
        const MerOnlineRequest *request = &p->requests[p->live[i]];
        double                  end = now;
        for (int k = 0; k < request->count; k++) {
            double job_end = p->times.end[p->jobs[request->first + k]];
            end = isnan(job_end) ? fmax(end, stopped + p->remaining[i]) : fmax(end, job_end);
        }
        bool is_late = end > request->deadline;
        misses += is_late ? request->weight : 0;
        tardiness += is_late ? request->weight * (end - request->deadline) : 0;
        finish += request->weight * (end - request->release);
        last = fmax(last, end);
    }
    double span = fmax(1, last - now);
    switch (p->options.goal) {
    case MER_ONLINE_TARDINESS:
        return tardiness + 1e-3 * finish;
    case MER_ONLINE_FINISH:
        return finish;
    default:
        return misses + 1e-3 * (tardiness + finish) / (tardiness + finish + span);
    }
}

double mer_online_forecast(MerOnlinePlanner *p, const MerBandwidthRun *run, MerOnlinePlan *plan)
{
    MerBandwidthPlanner follow = {
        .urgency = p->trial_urgency, .patience = p->trial_patience, .seen = mer_bandwidth_now(run)};
    mer_online_write(p, run, plan, p->trial_urgency, p->trial_patience);
    for (int i = 0; i < p->live_job_count; i++) {
        p->times.end[p->live_jobs[i]] = NAN;
    }
    mer_arena_reset(p->scratch);
    double stopped =
        mer_bandwidth_forecast(run, &follow, p->live_job_count, p->until, &p->times, p->scratch);
    p->forecasts++;
    plan->score = judge(p, mer_bandwidth_now(run), stopped);
    return plan->score;
}
