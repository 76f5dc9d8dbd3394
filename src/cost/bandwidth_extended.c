/* The event loop of schedule.md 5.4: dependencies, releases, deadlines, switch cost, reuse, sharing rules
 * and dispatch policies. With none of them it does the arithmetic of 5.1, bit by bit. */
#include "cost/bandwidth_loop.h"

#include <math.h>
#include <string.h>

typedef enum Mode { FREE, SWITCHING, RUNNING } Mode;
typedef enum Progress { WAITING, STARTED, DONE, DROPPED } Progress;

typedef struct Lane { /* one unit */
    Mode   mode;
    int    job, last; /* running or switched to; the one before, -1: none */
    int    head;      /* first position of its queue that may still be unstarted */
    double switched;  /* when the switch ends */
} Lane;

typedef struct MerBandwidthRun {
    const MerBandwidthInput *input;
    const MerJobsPlan       *plan;
    const MerSchedule       *schedule;
    MerBandwidthTimes       *times;
    MerBandwidthOutput      *output;
    double                   t;
    int                      unfinished;
    Lane                     lanes[MER_BANDWIDTH_UNITS];
    double left[MER_BANDWIDTH_UNITS], need[MER_BANDWIDTH_UNITS], use[MER_BANDWIDTH_UNITS];
    bool   is_free_of_traffic[MER_BANDWIDTH_UNITS]; /* `left` counts cycles */
    int    tenant[MER_BANDWIDTH_UNITS];
    int    ready[MER_BANDWIDTH_UNITS + 1]; /* jobs of each unit's queue that could start; the sum */
    int    next_release, next_deadline;    /* places in the schedule's orders */
    unsigned char *progress;               /* by job */
    int           *missing;                /* by job: predecessors not done */
    int           *ready_jobs;             /* dispatch=policy: the ready ones, in any order, */
    double        *cheapest;               /* and by job the price on its best unit */
    double         seen;                   /* releases after it are not known */
} MerBandwidthRun;
typedef MerBandwidthRun Loop;

/* fmin without its care for NAN, which calls a function. */
static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

static bool is_ready(const Loop *loop, int job)
{
    return loop->progress[job] == WAITING && loop->missing[job] == 0 &&
           loop->schedule->release[job] <= smaller(loop->t, loop->seen);
}

static void count_ready(Loop *loop, int job, int change)
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
    }
    loop->ready[loop->plan->unit[job]] += change;
    loop->ready[MER_BANDWIDTH_UNITS] += change;
}

/* Jobs whose time has come count as ready if nothing else holds them. */
static void release_jobs(Loop *loop)
{
    const MerSchedule *schedule = loop->schedule;
    while (loop->next_release < loop->plan->job_count &&
           schedule->release[schedule->release_order[loop->next_release]] <=
               smaller(loop->t, loop->seen)) {
        int job = schedule->release_order[loop->next_release++];
        if (is_ready(loop, job)) {
            count_ready(loop, job, 1);
        }
    }
}

static void drop(Loop *loop, int job)
{
    const MerSchedule *schedule = loop->schedule;
    if (loop->progress[job] != WAITING || schedule->release[job] > loop->seen) {
        return;
    }
    if (is_ready(loop, job)) {
        count_ready(loop, job, -1);
    }
    loop->progress[job] = DROPPED;
    loop->unfinished--;
    loop->times->dropped++;
    for (int i = schedule->after_start[job]; i < schedule->after_start[job + 1]; i++) {
        drop(loop, schedule->after[i]);
    }
}

static void drop_late(Loop *loop)
{
    const MerSchedule *schedule = loop->schedule;
    while (loop->input->rules.drops_late && loop->next_deadline < loop->plan->job_count &&
           schedule->deadline[schedule->deadline_order[loop->next_deadline]] <= loop->t) {
        drop(loop, schedule->deadline_order[loop->next_deadline++]);
    }
}

/* Bytes that need not move because the unit still holds them. */
static double saved_bytes(const Loop *loop, int unit, int job)
{
    const MerSchedule       *schedule = loop->schedule;
    const MerBandwidthRules *rules = &loop->input->rules;
    int                      last = loop->lanes[unit].last;
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

static void start(Loop *loop, int unit)
{
    Lane          *lane = &loop->lanes[unit];
    int            job = lane->job;
    const MerWork *work = &loop->input->work[job * loop->plan->unit_count + unit];
    double         saved = work->rate > 0 ? fmin(saved_bytes(loop, unit, job), work->left) : 0;
    lane->mode = RUNNING;
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

static void assign(Loop *loop, int unit, int job)
{
    Lane  *lane = &loop->lanes[unit];
    double cost = loop->input->rules.switch_cycles;
    count_ready(loop, job, -1);
    loop->progress[job] = STARTED;
    lane->job = job;
    if (lane->last >= 0 && cost > 0) {
        lane->mode = SWITCHING;
        lane->switched = loop->t + cost;
    } else {
        start(loop, unit);
    }
}

/* Does a free unit that takes the job now start it by its deadline, if that matters? Without a switch it does:
 * those whose deadline has come are dropped before anyone is dispatched. */
static bool is_in_time(const Loop *loop, int unit, int job)
{
    const MerBandwidthRules *rules = &loop->input->rules;
    double                   wait = loop->lanes[unit].last >= 0 ? rules->switch_cycles : 0;
    return !rules->drops_late || loop->t + wait < loop->schedule->deadline[job];
}

static bool can_take(const Loop *loop, int unit, int job)
{
    return is_ready(loop, job) && is_in_time(loop, unit, job);
}

static void dispatch_queue(Loop *loop, int unit)
{
    const MerJobsPlan *plan = loop->plan;
    Lane              *lane = &loop->lanes[unit];
    int                end = plan->start[unit + 1];
    int                at = lane->head;
    if (loop->ready[unit] == 0) {
        return;
    }
    while (at < end && loop->progress[plan->queue[at]] != WAITING) {
        at++;
    }
    lane->head = at;
    bool is_strict = loop->input->rules.dispatch == MER_DISPATCH_STRICT;
    while (at < end && !can_take(loop, unit, plan->queue[at]) && !is_strict) {
        at++;
    }
    if (at < end && can_take(loop, unit, plan->queue[at])) {
        assign(loop, unit, plan->queue[at]);
    }
}

static double shortest(const Loop *loop, int job)
{
    int    units = loop->plan->unit_count;
    double best = INFINITY;
    for (int u = 0; u < units; u++) {
        best = fmin(best, loop->schedule->latency[job * units + u]);
    }
    return best;
}

/* What a policy calls urgent: smaller first. */
static double urgency(const Loop *loop, int job)
{
    const MerSchedule *schedule = loop->schedule;
    if (loop->input->planner) {
        return loop->input->planner->urgency[job];
    }
    switch (loop->input->rules.policy) {
    case MER_POLICY_SJF:
        return shortest(loop, job);
    case MER_POLICY_EDF:
        return schedule->deadline[job];
    case MER_POLICY_LEAST_LAXITY:
        return schedule->deadline[job] - loop->t - shortest(loop, job);
    case MER_POLICY_BALANCED:
        return (schedule->deadline[job] < INFINITY ? schedule->deadline[job] - loop->t : 0) +
               shortest(loop, job);
    default:
        return schedule->release[job];
    }
}

static double unit_price(const Loop *loop, int job, int unit)
{
    int  at = job * loop->plan->unit_count + unit;
    bool is_edp = loop->input->rules.policy == MER_POLICY_EDP_GREEDY && loop->schedule->energy;
    return loop->schedule->latency[at] * (is_edp ? loop->schedule->energy[at] : 1);
}

static int free_units(const Loop *loop, int *units)
{
    int count = 0;
    for (int u = 0; u < loop->plan->unit_count; u++) {
        if (loop->lanes[u].mode == FREE) {
            units[count++] = u;
        }
    }
    return count;
}

/* The most urgent ready job on the free unit that suits it best, until one of them runs out. A unit more
 * than `PATIENCE` times slower than the best one is left free: waiting is shorter. */
static void dispatch_policy(Loop *loop)
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

/* What a policy needs besides: lists of the ready and the price of each job where it is cheapest. */
static void prepare_policy(Loop *loop, MerArena *scratch)
{
    int jobs = loop->plan->job_count;
    loop->ready_jobs = MER_ARRAY(scratch, int, jobs + 1);
    loop->cheapest = MER_ARRAY(scratch, double, jobs + 1);
    for (int j = 0; j < jobs; j++) {
        loop->cheapest[j] = INFINITY;
        for (int u = 0; u < loop->plan->unit_count; u++) {
            loop->cheapest[j] = smaller(loop->cheapest[j], unit_price(loop, j, u));
        }
    }
}

static void dispatch(Loop *loop, int completing)
{
    if (loop->input->rules.dispatch == MER_DISPATCH_POLICY) {
        dispatch_policy(loop);
        return;
    }
    if (completing >= 0) {
        dispatch_queue(loop, completing);
    }
    for (int u = 0; u < loop->plan->unit_count; u++) {
        if (loop->lanes[u].mode == FREE) {
            dispatch_queue(loop, u);
        }
    }
}

/* The next time that is known beforehand: a release, the end of a switch, a deadline that drops. */
static double next_known_time(const Loop *loop)
{
    const MerSchedule *schedule = loop->schedule;
    double             next = INFINITY;
    for (int u = 0; u < loop->plan->unit_count; u++) {
        if (loop->lanes[u].mode == SWITCHING) {
            next = smaller(next, loop->lanes[u].switched);
        }
    }
    if (loop->next_release < loop->plan->job_count) {
        double release = schedule->release[schedule->release_order[loop->next_release]];
        next = release <= loop->seen ? smaller(next, release) : next;
    }
    if (loop->input->rules.drops_late && loop->next_deadline < loop->plan->job_count) {
        next = smaller(next, schedule->deadline[schedule->deadline_order[loop->next_deadline]]);
    }
    return next;
}

/* An on-line scheduler learns of what has come since `before`, a place in the order of releases. */
static void ask_planner(Loop *loop, int before)
{
    const MerBandwidthPlanner *planner = loop->input->planner;
    if (planner && planner->arrived && loop->next_release > before) {
        planner->arrived(planner->state, loop);
    }
}

static void finish_job(Loop *loop, int unit)
{
    const MerSchedule *schedule = loop->schedule;
    Lane              *lane = &loop->lanes[unit];
    loop->progress[lane->job] = DONE;
    loop->times->end[lane->job] = loop->t;
    loop->unfinished--;
    for (int i = schedule->after_start[lane->job]; i < schedule->after_start[lane->job + 1]; i++) {
        int next = schedule->after[i];
        if (--loop->missing[next] == 0 && is_ready(loop, next)) {
            count_ready(loop, next, 1);
        }
    }
    lane->last = lane->job;
    lane->job = -1;
    lane->mode = FREE;
    loop->left[unit] = INFINITY;
    loop->need[unit] = 0;
    loop->is_free_of_traffic[unit] = false;
    loop->tenant[unit] = -1;
    loop->output->finish[unit] = loop->t;
}

static void record(const Loop *loop, double duration, const MerBandwidthRecorder *recorder)
{
    int job[MER_BANDWIDTH_UNITS];
    for (int u = 0; recorder && u < loop->plan->unit_count; u++) {
        job[u] = loop->lanes[u].mode == RUNNING ? loop->lanes[u].job : -1;
    }
    if (recorder) {
        recorder->segment(recorder->state,
                          &(MerBandwidthSegment){loop->t, duration, loop->use, job});
    }
}

/* To the next event. False: nothing will ever happen again. */
static bool step(Loop *loop, const MerBandwidthRecorder *recorder)
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
        double time = loop->lanes[u].mode == RUNNING ? loop->left[u] / rate : INFINITY;
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
    loop->output->waste += (bandwidth - used) * duration;
    loop->t = is_known_first ? known : loop->t + duration;
    int before = loop->next_release;
    release_jobs(
        loop); /* before the completion, which may make the same job ready: once is enough */
    if (!is_known_first) {
        finish_job(loop, first);
    }
    for (int u = 0; u < units; u++) {
        if (loop->lanes[u].mode == SWITCHING && loop->lanes[u].switched <= loop->t) {
            start(loop, u);
        }
    }
    drop_late(loop);
    ask_planner(loop, before);
    dispatch(loop, is_known_first ? -1 : first);
    return true;
}

static void name_deadlock(Loop *loop)
{
    const MerSchedule *schedule = loop->schedule;
    for (int u = 0; u < loop->plan->unit_count; u++) {
        int at = loop->lanes[u].head;
        while (at < loop->plan->start[u + 1] && loop->progress[loop->plan->queue[at]] != WAITING) {
            at++;
        }
        int job = at < loop->plan->start[u + 1] ? loop->plan->queue[at] : -1;
        for (int i = job < 0 ? 0 : schedule->before_start[job];
             job >= 0 && i < schedule->before_start[job + 1]; i++) {
            if (loop->progress[job] == WAITING && loop->progress[schedule->before[i]] == WAITING) {
                loop->times->waiting = job;
                loop->times->waits_for = schedule->before[i];
                return;
            }
        }
    }
}

static void prepare(Loop *loop, MerArena *scratch)
{
    const MerSchedule *schedule = loop->schedule;
    int                jobs = loop->plan->job_count;
    loop->progress = MER_ARRAY(scratch, unsigned char, jobs + 1);
    loop->missing = MER_ARRAY(scratch, int, jobs + 1);
    loop->unfinished = jobs;
    loop->seen = loop->input->planner ? loop->input->planner->seen : INFINITY;
    if (loop->input->rules.dispatch == MER_DISPATCH_POLICY) {
        prepare_policy(loop, scratch);
    }
    for (int j = 0; j < jobs; j++) {
        loop->missing[j] = schedule->before_start[j + 1] - schedule->before_start[j];
        loop->times->start[j] = loop->times->end[j] = NAN;
        loop->times->moved[j] = 0;
        loop->times->unit[j] = -1;
    }
    for (int u = 0; u < loop->plan->unit_count; u++) {
        loop->lanes[u] = (Lane){.mode = FREE, .job = -1, .last = -1, .head = loop->plan->start[u]};
        loop->left[u] = INFINITY;
        loop->need[u] = 0;
        loop->tenant[u] = -1;
        loop->is_free_of_traffic[u] = false;
        loop->output->finish[u] = 0;
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
    Loop loop = {.input = input,
                 .plan = plan,
                 .schedule = input->schedule,
                 .times = times,
                 .output = output};
    prepare(&loop, scratch);
    release_jobs(&loop);
    drop_late(&loop);
    ask_planner(&loop, 0);
    dispatch(&loop, -1);
    while (loop.unfinished > 0) {
        if (!step(&loop, recorder)) {
            name_deadlock(&loop);
            break;
        }
        if (loop.t > input->limit) {
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
    }
    return loop.unfinished == 0 || output->is_cut;
}

double mer_bandwidth_now(const MerBandwidthRun *run)
{
    return run->t;
}

bool mer_bandwidth_is_over(const MerBandwidthRun *run, int job)
{
    return run->progress[job] == DONE || run->progress[job] == DROPPED;
}

bool mer_bandwidth_is_started(const MerBandwidthRun *run, int job)
{
    return run->progress[job] != WAITING;
}

bool mer_bandwidth_is_ready(const MerBandwidthRun *run, int job)
{
    return is_ready(run, job);
}

double mer_bandwidth_forecast(const MerBandwidthRun *run, const MerBandwidthPlanner *planner,
                              const MerSchedule *expected, int todo, double until,
                              MerBandwidthTimes *times, MerArena *scratch)
{
    size_t             jobs = (size_t)run->plan->job_count;
    MerBandwidthInput  input = *run->input;
    MerBandwidthOutput output = *run->output;
    Loop               branch = *run;
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
    dispatch(&branch, -1);
    while (branch.unfinished > 0 && branch.t <= until && step(&branch, NULL)) {
    }
    return branch.t;
}
