/* The extended loop (docs/bandwidth-model.md, "The extended loop"): dependencies, releases, deadlines,
 * switch cost, reuse, sharing rules and dispatch policies. With none of them it does the arithmetic of
 * the plain loop, bit by bit. */
#include "schedule/cost/bandwidth_run.h"

#include <math.h>
#include <string.h>

/* The next time that is known beforehand: a release, the end of a switch, a deadline that drops. */
static double next_known_time(const MerBandwidthRun *loop)
{
    const MerSchedule *schedule = loop->schedule;
    double             next = INFINITY;
    for (int u = 0; u < loop->plan->unit_count; u++) {
        if (loop->cores[u].mode == MER_CORE_SWITCHING) {
            next = mer_smaller(next, loop->cores[u].switched);
        }
    }
    if (loop->next_release < loop->plan->job_count) {
        double release = schedule->release[schedule->release_order[loop->next_release]];
        next = release <= loop->seen ? mer_smaller(next, release) : next;
    }
    if (loop->input->rules.drops_late && loop->next_deadline < loop->plan->job_count) {
        next = mer_smaller(next, schedule->deadline[schedule->deadline_order[loop->next_deadline]]);
    }
    return next;
}

/* An on-line scheduler learns of what has come since `before`, a place in the order of releases. */
static void ask_planner(MerBandwidthRun *loop, int before)
{
    const MerBandwidthPlanner *planner = loop->input->planner;
    if (planner && planner->arrived && loop->next_release > before) {
        planner->arrived(planner->state, loop);
    }
}

static void finish_job(MerBandwidthRun *loop, int unit)
{
    const MerSchedule *schedule = loop->schedule;
    MerCoreState      *core = &loop->cores[unit];
    loop->progress[core->job] = MER_JOB_DONE;
    loop->times->end[core->job] = loop->t;
    loop->unfinished--;
    for (int i = schedule->after_start[core->job]; i < schedule->after_start[core->job + 1]; i++) {
        int next = schedule->after[i];
        if (--loop->missing[next] == 0 && mer_bandwidth_is_ready(loop, next)) {
            mer_bandwidth_count_ready(loop, next, 1);
        }
    }
    core->last = core->job;
    core->job = -1;
    core->mode = MER_CORE_FREE;
    loop->left[unit] = INFINITY;
    loop->need[unit] = 0;
    loop->is_free_of_traffic[unit] = false;
    loop->tenant[unit] = -1;
    /* Gaps rather than the time in between are added up: without any, busy is `finish` to the bit. */
    loop->output->idle[unit] += core->begun - loop->output->finish[unit];
    loop->output->finish[unit] = loop->t;
    loop->output->waste = loop->waste;
}

static void record(const MerBandwidthRun *loop, double duration,
                   const MerBandwidthRecorder *recorder)
{
    int job[MER_BANDWIDTH_UNITS];
    if (!recorder) {
        return;
    }
    for (int u = 0; u < loop->plan->unit_count; u++) {
        job[u] = loop->cores[u].mode == MER_CORE_RUNNING ? loop->cores[u].job : -1;
    }
    recorder->segment(recorder->state, &(MerBandwidthSegment){loop->t, duration, loop->use, job});
}

/* To the next event. False: nothing will ever happen again. */
static bool step(MerBandwidthRun *loop, const MerBandwidthRecorder *recorder)
{
    int           units = loop->plan->unit_count;
    double        bandwidth = loop->input->bandwidth;
    MerShareInput share = {loop->input->rules.share,
                           units,
                           loop->schedule->tenant_count,
                           bandwidth,
                           loop->need,
                           loop->tenant,
                           loop->schedule->tenants};
    mer_bandwidth_share(&share, loop->use);
    double soonest = INFINITY;
    double used = 0;
    int    first = -1;
    for (int u = 0; u < units; u++) {
        double rate = loop->is_free_of_traffic[u] ? 1 : loop->use[u];
        double time = loop->cores[u].mode == MER_CORE_RUNNING ? loop->left[u] / rate : INFINITY;
        used += loop->use[u];
        if (time < soonest) {
            soonest = time;
            first = u;
        }
    }
    double known = next_known_time(loop);
    bool   is_known_first = known - loop->t < soonest;
    double duration = is_known_first ? known - loop->t : soonest;
    if (duration == INFINITY) {
        return false;
    }
    record(loop, duration, recorder);
    for (int u = 0; u < units; u++) {
        double left = loop->left[u] - duration * (loop->is_free_of_traffic[u] ? 1 : loop->use[u]);
        loop->left[u] = fabs(left) < 1e-12 ? 0 : left;
    }
    loop->waste += (bandwidth - used) * duration;
    loop->t = is_known_first ? known : loop->t + duration;
    int before = loop->next_release;
    /* Before the completion, which may make the same job ready: once is enough. */
    mer_bandwidth_release(loop);
    if (!is_known_first) {
        finish_job(loop, first);
    }
    for (int u = 0; u < units; u++) {
        if (loop->cores[u].mode == MER_CORE_SWITCHING && loop->cores[u].switched <= loop->t) {
            mer_bandwidth_start(loop, u);
        }
    }
    mer_bandwidth_drop_late(loop);
    ask_planner(loop, before);
    mer_bandwidth_dispatch(loop, is_known_first ? -1 : first);
    return true;
}

/* Is it sure that a job ends after the limit, now that the time has passed it? If all that is left may be dropped
 * it is not. */
static bool ends_after_limit(const MerBandwidthRun *loop)
{
    bool is_sure = !loop->input->rules.drops_late;
    for (int u = 0; u < loop->plan->unit_count; u++) {
        is_sure = is_sure || loop->cores[u].mode != MER_CORE_FREE ||
                  loop->output->finish[u] > loop->input->limit;
    }
    return is_sure;
}

/* The first job of a queue that waits, and one that it waits for. */
static void name_deadlock(MerBandwidthRun *loop)
{
    const MerSchedule *schedule = loop->schedule;
    const MerJobsPlan *plan = loop->plan;
    for (int u = 0; u < plan->unit_count; u++) {
        int at = loop->cores[u].head;
        while (at < plan->start[u + 1] && loop->progress[plan->queue[at]] != MER_JOB_WAITING) {
            at++;
        }
        int job = at < plan->start[u + 1] ? plan->queue[at] : -1;
        int end = job < 0 ? 0 : schedule->before_start[job + 1];
        for (int i = job < 0 ? 0 : schedule->before_start[job]; i < end; i++) {
            if (loop->progress[schedule->before[i]] == MER_JOB_WAITING) {
                loop->times->waiting = job;
                loop->times->waits_for = schedule->before[i];
                return;
            }
        }
    }
}

static void prepare(MerBandwidthRun *loop, MerArena *scratch)
{
    const MerSchedule *schedule = loop->schedule;
    int                jobs = loop->plan->job_count;
    loop->progress = MER_ARRAY(scratch, unsigned char, jobs + 1);
    loop->missing = MER_ARRAY(scratch, int, jobs + 1);
    loop->dropping = loop->input->rules.drops_late ? MER_ARRAY(scratch, int, jobs + 1) : NULL;
    loop->unfinished = jobs;
    loop->seen = loop->input->planner ? loop->input->planner->seen : INFINITY;
    if (loop->input->rules.dispatch == MER_DISPATCH_POLICY) {
        mer_bandwidth_prepare_policy(loop, scratch);
    } else if (loop->input->rules.dispatch == MER_DISPATCH_SKIP && !loop->input->walks_queues) {
        mer_bandwidth_prepare_heaps(loop, scratch);
    }
    for (int j = 0; j < jobs; j++) {
        loop->missing[j] = schedule->before_start[j + 1] - schedule->before_start[j];
        loop->times->start[j] = loop->times->end[j] = NAN;
        loop->times->moved[j] = 0;
        loop->times->unit[j] = -1;
    }
    for (int u = 0; u < loop->plan->unit_count; u++) {
        loop->cores[u] = (MerCoreState){
            .mode = MER_CORE_FREE, .job = -1, .last = -1, .head = loop->plan->start[u]};
        loop->left[u] = INFINITY;
        loop->need[u] = 0;
        loop->tenant[u] = -1;
        loop->is_free_of_traffic[u] = false;
        loop->output->finish[u] = loop->output->idle[u] = 0;
    }
    loop->times->dropped = 0;
    loop->times->waiting = loop->times->waits_for = -1;
    loop->output->waste = 0;
    loop->output->is_cut = false;
}

bool mer_bandwidth_extended(const MerBandwidthInput *input, const MerJobsPlan *plan,
                            MerArena *scratch, MerBandwidthTimes *times,
                            const MerBandwidthRecorder *recorder, MerBandwidthOutput *output)
{
    MerBandwidthRun loop = {.input = input,
                            .plan = plan,
                            .schedule = input->schedule,
                            .times = times,
                            .output = output};
    prepare(&loop, scratch);
    mer_bandwidth_release(&loop);
    mer_bandwidth_drop_late(&loop);
    ask_planner(&loop, 0);
    mer_bandwidth_dispatch(&loop, -1);
    while (loop.unfinished > 0) {
        if (!step(&loop, recorder)) {
            name_deadlock(&loop);
            break;
        }
        if (loop.t > input->limit && ends_after_limit(&loop)) {
            output->is_cut = true;
            break;
        }
    }
    output->cycles = 0;
    for (int u = 0; u < plan->unit_count; u++) {
        output->cycles = fmax(output->cycles, output->finish[u]);
    }
    if (output->is_cut) {
        output->cycles = loop.t;
        output->waste = loop.waste;
    }
    return loop.unfinished == 0 || output->is_cut;
}

double mer_bandwidth_now(const MerBandwidthRun *run)
{
    return run->t;
}

bool mer_bandwidth_is_over(const MerBandwidthRun *run, int job)
{
    return run->progress[job] == MER_JOB_DONE || run->progress[job] == MER_JOB_DROPPED;
}

bool mer_bandwidth_is_started(const MerBandwidthRun *run, int job)
{
    return run->progress[job] != MER_JOB_WAITING;
}

double mer_bandwidth_forecast(const MerBandwidthRun *run, const MerBandwidthPlanner *planner,
                              const MerSchedule *expected, int todo, double until,
                              MerBandwidthTimes *times, MerArena *scratch)
{
    size_t             jobs = (size_t)run->plan->job_count;
    MerBandwidthInput  input = *run->input;
    MerBandwidthOutput output = *run->output;
    MerBandwidthRun    branch = *run;
    input.planner = planner;
    input.schedule = expected;
    branch.input = &input;
    branch.schedule = expected;
    branch.next_release = branch.next_deadline = 0;
    branch.output = &output;
    branch.times = times;
    branch.seen = planner->seen;
    branch.unfinished = todo;
    branch.progress = MER_ARRAY(scratch, unsigned char, jobs + 1);
    branch.missing = MER_ARRAY(scratch, int, jobs + 1);
    branch.ready_jobs = MER_ARRAY(scratch, int, jobs + 1);
    memcpy(branch.progress, run->progress, jobs);
    memcpy(branch.missing, run->missing, jobs * sizeof *branch.missing);
    memcpy(branch.ready_jobs, run->ready_jobs,
           (size_t)run->ready[MER_BANDWIDTH_UNITS] * sizeof *branch.ready_jobs);
    mer_bandwidth_dispatch(&branch, -1);
    while (branch.unfinished > 0 && branch.t <= until && step(&branch, NULL)) {
    }
    return branch.t;
}
