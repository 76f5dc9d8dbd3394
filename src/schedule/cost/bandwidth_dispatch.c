/* Who may start, and who does, in the extended loop (docs/bandwidth-model.md, "Dispatch rules"): releases,
 * drops, queues in plan order, dispatch policies, and what a job finds on the core it starts on. */
#include "schedule/cost/bandwidth_run.h"

#include "base/smallest.h"

#include <math.h>

bool mer_bandwidth_is_ready(const MerBandwidthRun *loop, int job)
{
    return loop->progress[job] == MER_JOB_WAITING && loop->missing[job] == 0 &&
           loop->schedule->release[job] <= mer_smaller(loop->t, loop->seen);
}

void mer_bandwidth_count_ready(MerBandwidthRun *loop, int job, int change)
{
    int count = loop->ready[MER_BANDWIDTH_UNITS];
    if (loop->ready_jobs && change > 0) {
        loop->ready_jobs[count] = job;
    } else if (loop->ready_jobs) {
        int at = 0;
        while (loop->ready_jobs[at] != job) {
            at++;
        }
        loop->ready_jobs[at] = loop->ready_jobs[count - 1];
    } else if (loop->heap && change > 0) {
        int unit = loop->plan->unit[job];
        mer_smallest_push(loop->heap + loop->plan->start[unit], &loop->heap_count[unit],
                          loop->place[job]);
    }
    loop->ready[loop->plan->unit[job]] += change;
    loop->ready[MER_BANDWIDTH_UNITS] += change;
}

void mer_bandwidth_release(MerBandwidthRun *loop)
{
    const MerSchedule *schedule = loop->schedule;
    while (loop->next_release < loop->plan->job_count &&
           schedule->release[schedule->release_order[loop->next_release]] <=
               mer_smaller(loop->t, loop->seen)) {
        int job = schedule->release_order[loop->next_release++];
        if (mer_bandwidth_is_ready(loop, job)) {
            mer_bandwidth_count_ready(loop, job, 1);
        }
    }
}

/* The job goes, if it is known and has not started, and is put on the list of those whose successors go, too. */
static void drop_one(MerBandwidthRun *loop, int job, int *count)
{
    if (loop->progress[job] != MER_JOB_WAITING || loop->schedule->release[job] > loop->seen) {
        return;
    }
    if (mer_bandwidth_is_ready(loop, job)) {
        mer_bandwidth_count_ready(loop, job, -1);
    }
    loop->progress[job] = MER_JOB_DROPPED;
    loop->unfinished--;
    loop->times->dropped++;
    loop->dropping[(*count)++] = job;
}

/* With all that wait for it, by a list: a chain of jobs may be too long for a recursion. */
static void drop(MerBandwidthRun *loop, int job)
{
    const MerSchedule *schedule = loop->schedule;
    int                count = 0;
    drop_one(loop, job, &count);
    while (count > 0) {
        int gone = loop->dropping[--count];
        for (int i = schedule->after_start[gone]; i < schedule->after_start[gone + 1]; i++) {
            drop_one(loop, schedule->after[i], &count);
        }
    }
}

void mer_bandwidth_drop_late(MerBandwidthRun *loop)
{
    const MerSchedule *schedule = loop->schedule;
    while (loop->input->rules.drops_late && loop->next_deadline < loop->plan->job_count &&
           schedule->deadline[schedule->deadline_order[loop->next_deadline]] <= loop->t) {
        drop(loop, schedule->deadline_order[loop->next_deadline++]);
    }
}

/* Bytes that need not move because the unit still holds them. */
static double saved_bytes(const MerBandwidthRun *loop, int unit, int job)
{
    const MerSchedule       *schedule = loop->schedule;
    const MerBandwidthRules *rules = &loop->input->rules;
    int                      last = loop->cores[unit].last;
    double                   saved = 0;
    if (last < 0 || !schedule->weight_bytes) {
        return 0;
    }
    double weights = schedule->weight_bytes[job];
    if (rules->reuses_weights && schedule->layer[last] == schedule->layer[job] &&
        weights <= schedule->unit_bytes[unit]) {
        saved += weights;
    }
    for (int i = schedule->before_start[job];
         rules->forwards && i < schedule->before_start[job + 1]; i++) {
        double tensor = schedule->output_bytes[last];
        bool   is_only = schedule->after_start[last + 1] - schedule->after_start[last] == 1;
        if (schedule->before[i] == last && tensor <= schedule->unit_bytes[unit]) {
            saved +=
                is_only ? 2 * tensor : tensor; /* not read again, and written for others only */
        }
    }
    return saved;
}

void mer_bandwidth_start(MerBandwidthRun *loop, int unit)
{
    MerCoreState  *core = &loop->cores[unit];
    int            job = core->job;
    const MerWork *work = &loop->input->work[job * loop->plan->unit_count + unit];
    double         saved = work->rate > 0 ? fmin(saved_bytes(loop, unit, job), work->left) : 0;
    core->mode = MER_CORE_RUNNING;
    core->begun = loop->t;
    loop->left[unit] = work->left;
    loop->need[unit] = work->rate;
    if (saved > 0) {
        loop->left[unit] = work->left - saved;
        loop->need[unit] = work->rate * (loop->left[unit] / work->left);
    }
    loop->is_free_of_traffic[unit] = !(loop->need[unit] > 0);
    if (loop->is_free_of_traffic[unit]) {
        loop->left[unit] = work->latency;
    }
    loop->tenant[unit] = loop->schedule->tenant[job];
    loop->times->start[job] = loop->t;
    loop->times->unit[job] = unit;
    loop->times->moved[job] = loop->is_free_of_traffic[unit] ? 0 : loop->left[unit];
}

static void assign(MerBandwidthRun *loop, int unit, int job)
{
    MerCoreState *core = &loop->cores[unit];
    double        cost = loop->input->rules.switch_cycles;
    mer_bandwidth_count_ready(loop, job, -1);
    loop->progress[job] = MER_JOB_STARTED;
    core->job = job;
    if (core->last >= 0 && cost > 0) {
        core->mode = MER_CORE_SWITCHING;
        core->switched = loop->t + cost;
    } else {
        mer_bandwidth_start(loop, unit);
    }
}

/* Does a free unit that takes the job now start it by its deadline, if that matters? Without a switch it does:
 * those whose deadline has come are dropped before anyone is dispatched. */
static bool is_in_time(const MerBandwidthRun *loop, int unit, int job)
{
    const MerBandwidthRules *rules = &loop->input->rules;
    double                   wait = loop->cores[unit].last >= 0 ? rules->switch_cycles : 0;
    return !rules->drops_late || loop->t + wait < loop->schedule->deadline[job];
}

static bool can_take(const MerBandwidthRun *loop, int unit, int job)
{
    return mer_bandwidth_is_ready(loop, job) && is_in_time(loop, unit, job);
}

/* The job that a free unit takes, by looking along its queue; -1: none. */
static int walk_queue(MerBandwidthRun *loop, int unit)
{
    const MerJobsPlan *plan = loop->plan;
    MerCoreState      *core = &loop->cores[unit];
    int                end = plan->start[unit + 1];
    int                at = core->head;
    while (at < end && loop->progress[plan->queue[at]] != MER_JOB_WAITING) {
        at++;
    }
    core->head = at;
    bool is_strict = loop->input->rules.dispatch == MER_DISPATCH_STRICT;
    while (at < end && !can_take(loop, unit, plan->queue[at]) && !is_strict) {
        at++;
    }
    return at < end && can_take(loop, unit, plan->queue[at]) ? plan->queue[at] : -1;
}

/* The same from the heap of ready jobs. One that has been dropped, or that a switch makes too late, never comes
 * into question again: time goes on, and the unit will not forget that it has run something. */
static int first_ready(MerBandwidthRun *loop, int unit)
{
    const MerJobsPlan *plan = loop->plan;
    while (loop->heap_count[unit] > 0) {
        int place = mer_smallest_take(loop->heap + plan->start[unit], &loop->heap_count[unit]);
        int job = plan->queue[place];
        if (can_take(loop, unit, job)) {
            return job;
        }
    }
    return -1;
}

static void dispatch_queue(MerBandwidthRun *loop, int unit)
{
    if (loop->ready[unit] == 0) {
        return;
    }
    int job = loop->heap ? first_ready(loop, unit) : walk_queue(loop, unit);
    if (job >= 0) {
        assign(loop, unit, job);
    }
}

/* What a policy calls urgent: smaller first. */
static double urgency(const MerBandwidthRun *loop, int job)
{
    const MerSchedule *schedule = loop->schedule;
    if (loop->input->planner) {
        return loop->input->planner->urgency[job];
    }
    switch (loop->input->rules.policy) {
    case MER_POLICY_SJF:
        return mer_schedule_shortest(schedule, job);
    case MER_POLICY_EDF:
        return schedule->deadline[job];
    case MER_POLICY_LEAST_LAXITY:
        return schedule->deadline[job] - loop->t - mer_schedule_shortest(schedule, job);
    case MER_POLICY_BALANCED:
        return (schedule->deadline[job] < INFINITY ? schedule->deadline[job] - loop->t : 0) +
               mer_schedule_shortest(schedule, job);
    default:
        return schedule->release[job];
    }
}

static double unit_price(const MerBandwidthRun *loop, int job, int unit)
{
    int  at = job * loop->plan->unit_count + unit;
    bool is_edp = loop->input->rules.policy == MER_POLICY_EDP_GREEDY && loop->schedule->energy;
    return loop->schedule->latency[at] * (is_edp ? loop->schedule->energy[at] : 1);
}

static int free_units(const MerBandwidthRun *loop, int *units)
{
    int count = 0;
    for (int u = 0; u < loop->plan->unit_count; u++) {
        if (loop->cores[u].mode == MER_CORE_FREE) {
            units[count++] = u;
        }
    }
    return count;
}

/* The most urgent ready job on the free unit that suits it best, until one of them runs out. A unit more
 * than `PATIENCE` times slower than the best one is left free: waiting is shorter. */
static void dispatch_policy(MerBandwidthRun *loop)
{
    enum { PATIENCE = 8 };
    const MerBandwidthPlanner *planner = loop->input->planner;
    int                        units[MER_BANDWIDTH_UNITS];
    int                        unit_count = free_units(loop, units);
    while (loop->ready[MER_BANDWIDTH_UNITS] > 0 && unit_count > 0) {
        int    chosen = -1;
        int    chosen_unit = -1;
        double most = INFINITY;
        for (int i = 0; i < loop->ready[MER_BANDWIDTH_UNITS]; i++) {
            int    j = loop->ready_jobs[i];
            double value = urgency(loop, j);
            if (chosen >= 0 && (value > most || (value == most && j > chosen))) {
                continue;
            }
            double best = INFINITY;
            int    unit = -1;
            for (int k = 0; k < unit_count; k++) {
                double price = unit_price(loop, j, units[k]);
                if (price < best && is_in_time(loop, units[k], j)) {
                    best = price;
                    unit = units[k];
                }
            }
            double patience = planner ? planner->patience[j] : PATIENCE;
            if (unit >= 0 && best <= patience * loop->cheapest[j]) {
                chosen = j;
                chosen_unit = unit;
                most = value;
            }
        }
        if (chosen < 0) {
            return;
        }
        assign(loop, chosen_unit, chosen);
        unit_count = free_units(loop, units);
    }
}

void mer_bandwidth_prepare_heaps(MerBandwidthRun *loop, MerArena *scratch)
{
    int jobs = loop->plan->job_count;
    loop->place = MER_ARRAY(scratch, int, jobs + 1);
    loop->heap = MER_ARRAY(scratch, int, jobs + 1);
    for (int i = 0; i < jobs; i++) {
        loop->place[loop->plan->queue[i]] = i;
    }
}

void mer_bandwidth_prepare_policy(MerBandwidthRun *loop, MerArena *scratch)
{
    int jobs = loop->plan->job_count;
    loop->ready_jobs = MER_ARRAY(scratch, int, jobs + 1);
    loop->cheapest = MER_ARRAY(scratch, double, jobs + 1);
    for (int j = 0; j < jobs; j++) {
        loop->cheapest[j] = INFINITY;
        for (int u = 0; u < loop->plan->unit_count; u++) {
            loop->cheapest[j] = mer_smaller(loop->cheapest[j], unit_price(loop, j, u));
        }
    }
}

void mer_bandwidth_dispatch(MerBandwidthRun *loop, int completing)
{
    if (loop->input->rules.dispatch == MER_DISPATCH_POLICY) {
        dispatch_policy(loop);
        return;
    }
    if (completing >= 0) {
        dispatch_queue(loop, completing);
    }
    for (int u = 0; u < loop->plan->unit_count; u++) {
        if (loop->cores[u].mode == MER_CORE_FREE) {
            dispatch_queue(loop, u);
        }
    }
}
