/* What an on-line scheduler knows, and what it expects of a plan: the requests that have arrived are played on
 * to their end, as if no other came. */
#include "schedule/solve/online.h"

#include <float.h>
#include <math.h>

/* How much a missed request hurts depends on what is counted. */
static double request_weight(const MerSchedule *schedule, int job, MerMetric objective)
{
    int    model = schedule->model[job];
    double fps = model >= 0 ? schedule->models[model].fps : 0;
    if (objective == MER_METRIC_XR_SCORE && fps > 0) {
        return 1 / fps; /* the score is a mean over models, each a mean over its requests */
    }
    return objective == MER_METRIC_MISS_RATE ? 1 : schedule->weight[job];
}

/* Requests in the order of their first job. */
static void find_requests(MerOnlinePlanner *p, MerMetric objective, MerArena *arena)
{
    const MerSchedule *schedule = p->schedule;
    for (int j = 0; j < schedule->job_count; j++) {
        int r = schedule->request_number[j];
        if (r == p->request_count) {
            p->requests[p->request_count++] = (MerOnlineRequest){.release = INFINITY};
        }
        p->requests[r].count++;
    }
    for (int r = 1; r < p->request_count; r++) {
        p->requests[r].first = p->requests[r - 1].first + p->requests[r - 1].count;
    }
    int *used = MER_ARRAY(arena, int, p->request_count + 1);
    for (int j = 0; j < schedule->job_count; j++) {
        int               r = schedule->request_number[j];
        MerOnlineRequest *request = &p->requests[r];
        p->jobs[request->first + used[r]++] = j;
        request->release = fmin(request->release, schedule->release[j]);
        request->deadline = fmax(request->deadline, schedule->deadline[j]);
        request->weight = request_weight(schedule, j, objective);
    }
}

/* A model's requests in the order they come; single jobs have none after them. */
static void link_requests(MerOnlinePlanner *p, MerArena *arena)
{
    const MerSchedule *schedule = p->schedule;
    int               *latest = MER_ARRAY(arena, int, schedule->model_count + 1); /* + 1 */
    p->last = MER_ARRAY(arena, int, schedule->model_count + 1);
    for (int r = 0; r < p->request_count; r++) {
        p->requests[r].next = -1;
    }
    for (int m = 0; m < schedule->model_count; m++) {
        p->last[m] = -1;
    }
    for (int i = 0; i < schedule->job_count; i++) {
        int job = schedule->release_order[i];
        int r = schedule->request_number[job];
        int m = schedule->model[job];
        if (m >= 0 && latest[m] != r + 1) {
            if (latest[m] > 0) {
                p->requests[latest[m] - 1].next = r;
            }
            latest[m] = r + 1;
        }
    }
}

void mer_online_prepare(MerOnlinePlanner *p, MerMetric objective, MerArena *arena)
{
    const MerSchedule *schedule = p->schedule;
    int                jobs = schedule->job_count;
    p->requests = MER_ARRAY(arena, MerOnlineRequest, jobs + 1);
    int    **ints[] = {&p->jobs,           &p->live,       &p->live_jobs,  &p->release_order,
                       &p->deadline_order, &p->times.unit, &p->best.order, &p->trial.order};
    double **numbers[] = {&p->rank,           &p->chosen_patience,  &p->remaining,
                          &p->urgency,        &p->patience,         &p->trial_urgency,
                          &p->trial_patience, &p->times.start,      &p->times.end,
                          &p->times.moved,    &p->expected_release, &p->expected_deadline,
                          &p->shortest,       &p->best.patience,    &p->trial.patience};
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++) {
        *ints[i] = MER_ARRAY(arena, int, jobs + 1);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        *numbers[i] = MER_ARRAY(arena, double, jobs + 1);
    }
    for (int j = 0; j < jobs; j++) {
        p->shortest[j] = mer_schedule_shortest(schedule, j);
        p->patience[j] = p->options.patience;
    }
    find_requests(p, objective, arena);
    link_requests(p, arena);
    p->counts_energy = objective == MER_METRIC_XR_SCORE && schedule->energy;
    p->expected = *schedule;
    p->expected.release = p->expected_release;
    p->expected.deadline = p->expected_deadline;
    p->expected.release_order = p->release_order;
    p->expected.deadline_order = p->deadline_order;
    for (int j = 0; j <= jobs; j++) {
        p->expected_release[j] = p->expected_deadline[j] = INFINITY;
    }
}

static void add_to_order(const double *key, int *order, int count, int job)
{
    int at = count;
    for (; at > 0 && key[order[at - 1]] > key[job]; at--) {
        order[at] = order[at - 1];
    }
    order[at] = job;
}

/* The next requests of a periodic model, at its rate after the last one; an overdue one may come any moment. */
static void expect_model(MerOnlinePlanner *p, int model, double now, int *releases)
{
    const MerSchedule *schedule = p->schedule;
    double             fps = schedule->models[model].fps * schedule->arrival_rate;
    int                r = p->last[model];
    if (!(fps > 0) || r < 0 || isnan(schedule->clock_hz)) {
        return;
    }
    double release = p->requests[r].release;
    double slack = p->requests[r].deadline - release;
    for (int64_t i = 0; i < p->options.ahead && p->requests[r].next >= 0; i++) {
        r = p->requests[r].next;
        release += schedule->clock_hz / fps;
        release = release > now ? release : nextafter(now, INFINITY);
        p->live[p->seen_count] = r;
        p->remaining[p->seen_count] = 0;
        for (int k = 0; k < p->requests[r].count; k++) {
            int job = p->jobs[p->requests[r].first + k];
            p->expected_release[job] = release;
            p->expected_deadline[job] = release + slack;
            p->live_jobs[p->live_job_count++] = job;
            p->remaining[p->seen_count] += p->shortest[job];
            add_to_order(p->expected_release, p->release_order, (*releases)++, job);
        }
        p->seen_count++;
    }
}

/* What is over falls out of `live`; what is not goes into the lists that forecasts work with. */
static void gather_live(MerOnlinePlanner *p, const MerBandwidthRun *run, double now)
{
    int kept = 0;
    p->live_job_count = 0;
    p->until = now;
    for (int i = 0; i < p->live_count; i++) {
        const MerOnlineRequest *request = &p->requests[p->live[i]];
        int                     before = p->live_job_count;
        double                  work = 0;
        for (int k = 0; k < request->count; k++) {
            int job = p->jobs[request->first + k];
            if (mer_bandwidth_is_over(run, job)) {
                p->times.end[job] = now;
                p->times.unit[job] = -1;
            } else {
                p->live_jobs[p->live_job_count++] = job;
            }
            work += mer_bandwidth_is_started(run, job) ? 0 : p->shortest[job];
        }
        if (p->live_job_count > before) {
            p->live[kept] = p->live[i];
            p->remaining[kept++] = work;
            p->until = fmax(p->until, request->deadline);
        }
    }
    p->live_count = p->seen_count = kept;
}

void mer_online_look(MerOnlinePlanner *p, const MerBandwidthRun *run)
{
    const MerSchedule *schedule = p->schedule;
    double             now = mer_bandwidth_now(run);
    for (; p->next < schedule->job_count &&
           schedule->release[schedule->release_order[p->next]] <= now;
         p->next++) {
        int job = schedule->release_order[p->next];
        int r = schedule->request_number[job];
        p->expected_release[job] = schedule->release[job];
        p->expected_deadline[job] = schedule->deadline[job];
        if (!p->requests[r].is_here) {
            p->requests[r].is_here = true;
            p->live[p->live_count++] = r;
        }
        if (schedule->model[job] >= 0) {
            p->last[schedule->model[job]] = r;
        }
    }
    gather_live(p, run, now);
    int releases = 0;
    for (int m = 0; m < schedule->model_count; m++) {
        expect_model(p, m, now, &releases);
    }
    int deadlines = 0;
    for (int i = 0; i < p->live_job_count; i++) {
        add_to_order(p->expected_deadline, p->deadline_order, deadlines++, p->live_jobs[i]);
    }
    p->release_order[releases] = p->deadline_order[deadlines] = schedule->job_count;
}

void mer_online_write(const MerOnlinePlanner *p, const MerBandwidthRun *run,
                      const MerOnlinePlan *plan, double *urgency, double *patience)
{
    double now = mer_bandwidth_now(run);
    for (int i = 0; i < p->seen_count; i++) {
        int                     at = plan->order[i];
        const MerOnlineRequest *request = &p->requests[p->live[at]];
        bool                    is_new = !request->is_here || request->release >= now;
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

/* What the jobs that start in a forecast take of the energy that XRBench allows a request. */
static double spent_energy(const MerOnlinePlanner *p, const MerOnlineRequest *request)
{
    enum { BUDGET_MJ = 1500 };
    const MerSchedule *schedule = p->schedule;
    double             sum = 0;
    for (int k = 0; k < request->count; k++) {
        int job = p->jobs[request->first + k];
        int unit = p->times.unit[job];
        sum += unit >= 0 ? schedule->energy[job * schedule->unit_count + unit] * 1e-9 : 0;
    }
    return sum / BUDGET_MJ;
}

/* Smaller is better: missed requests by weight (and energy, where it scores), then lateness, then when things
 * end. */
static double critic(const MerOnlinePlanner *p, double now, double stopped)
{
    static const double unsure = 0.5; /* what an expected request counts against one that is here */
    double              misses = 0;
    double              tardiness = 0;
    double              finish = 0;
    double              last = now;
    for (int i = 0; i < p->seen_count; i++) {
        const MerOnlineRequest *request = &p->requests[p->live[i]];
        int                     first = p->jobs[request->first];
        double                  deadline = p->expected_deadline[first];
        double                  end = now;
        bool                    is_open = false;
        for (int k = 0; k < request->count; k++) {
            double job_end = p->times.end[p->jobs[request->first + k]];
            is_open = is_open || isnan(job_end);
            end = isnan(job_end) ? fmax(end, stopped + p->remaining[i]) : fmax(end, job_end);
        }
        /* What has not ended when the forecast does is late if its deadline has passed by then. */
        bool   is_late = is_open ? stopped >= deadline : end > deadline;
        double weight = request->weight * (request->is_here ? 1 : unsure);
        misses += is_late ? weight : 0;
        misses += p->counts_energy ? weight * spent_energy(p, request) : 0;
        tardiness += is_late ? weight * (end - deadline) : 0;
        finish += weight * (end - p->expected_release[first]);
        last = fmax(last, end);
    }
    double span = fmax(1, last - now);
    switch (p->options.goal) {
    case MER_ONLINE_TARDINESS:
        return tardiness + 1e-3 * finish;
    case MER_ONLINE_FINISH:
        return finish;
    default:
        return misses + (p->counts_energy ? 1e-6 : 1e-3) * (tardiness + finish) /
                            (tardiness + finish + span);
    }
}

double mer_online_forecast(MerOnlinePlanner *p, const MerBandwidthRun *run, MerOnlinePlan *plan)
{
    MerBandwidthPlanner follow = {
        .urgency = p->trial_urgency, .patience = p->trial_patience, .seen = DBL_MAX};
    mer_online_write(p, run, plan, p->trial_urgency, p->trial_patience);
    for (int i = 0; i < p->live_job_count; i++) {
        p->times.end[p->live_jobs[i]] = NAN;
        p->times.unit[p->live_jobs[i]] = -1;
    }
    mer_arena_reset(p->scratch);
    double stopped = mer_bandwidth_forecast(run, &follow, &p->expected, p->live_job_count, p->until,
                                            &p->times, p->scratch);
    p->forecasts++;
    plan->score = critic(p, mer_bandwidth_now(run), stopped);
    return plan->score;
}
