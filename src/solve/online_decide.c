/* One decision of an on-line scheduler: the rules everybody knows and the last decision are tried first, each
 * with several degrees of patience, then neighbours of the best one. So a forecast is never worse than that of
 * any of these rules. */
#include "solve/online.h"

#include "base/log.h"

#include <math.h>
#include <string.h>

enum { LAST_ORDER = MER_ONLINE_RULES, RESCUE, ORDERS };

static const double degrees[] = {8, 3, 1.5};
enum { DEGREES = sizeof degrees / sizeof *degrees };

/* Takes in what has arrived, forgets what is over. */
static void look_around(MerOnlinePlanner *p, const MerBandwidthRun *run)
{
    const MerSchedule *schedule = p->schedule;
    double             now = mer_bandwidth_now(run);
    int                kept = 0;
    for (; p->next < schedule->job_count &&
           schedule->release[schedule->release_order[p->next]] <= now;
         p->next++) {
        int r = p->request_of_job[schedule->release_order[p->next]];
        if (p->live_count == 0 || p->rank[r] == 0) {
            p->live[p->live_count++] = r;
            p->rank[r] = (double)p->request_count + p->live_count;
        }
    }
    p->live_job_count = 0;
    p->until = now;
    for (int i = 0; i < p->live_count; i++) {
        const MerOnlineRequest *request = &p->requests[p->live[i]];
        int                     before = p->live_job_count;
        double                  work = 0;
        for (int k = 0; k < request->count; k++) {
            int job = p->jobs[request->first + k];
            if (!mer_bandwidth_is_over(run, job)) {
                p->live_jobs[p->live_job_count++] = job;
            } else {
                p->times.end[job] = now;
            }
            work += mer_bandwidth_is_started(run, job) ? 0 : p->shortest[job];
        }
        if (p->live_job_count > before) {
            p->live[kept] = p->live[i];
            p->remaining[kept++] = work;
            p->until = fmax(p->until, request->deadline);
        }
    }
    p->live_count = kept;
}

static double key(const MerOnlinePlanner *p, int rule, int place, double now)
{
    int                     r = p->live[place];
    const MerOnlineRequest *request = &p->requests[r];
    double                  laxity = request->deadline - p->remaining[place];
    switch (rule) {
    case MER_ONLINE_SJF:
        return p->remaining[place];
    case MER_ONLINE_EDF:
        return request->deadline;
    case MER_ONLINE_LEAST_LAXITY:
        return laxity;
    case LAST_ORDER:
        return p->rank[r];
    case RESCUE: /* what can no longer be in time steps back */
        return laxity < now ? INFINITY : request->deadline;
    default:
        return request->release;
    }
}

static void sort_by(const MerOnlinePlanner *p, int rule, double now, int *order)
{
    for (int i = 0; i < p->live_count; i++) {
        double mine = key(p, rule, i, now);
        int    at = i;
        for (; at > 0; at--) {
            double other = key(p, rule, order[at - 1], now);
            bool is_first = other < mine || (other == mine && p->live[order[at - 1]] < p->live[i]);
            if (is_first) {
                break;
            }
            order[at] = order[at - 1];
        }
        order[at] = i;
    }
}

static bool has_time(const MerOnlinePlanner *p, double begin, int64_t tried)
{
    double limit = p->options.milliseconds;
    return tried < p->options.moves && !(limit > 0 && (mer_clock() - begin) * 1000 > limit);
}

static void take_if_better(MerOnlinePlanner *p, const MerBandwidthRun *run)
{
    if (mer_online_forecast(p, run, &p->trial) < p->best.score) {
        MerOnlinePlan better = p->trial;
        p->trial = p->best;
        p->best = better;
    }
}

static void set_patience(const MerOnlinePlanner *p, double degree, MerOnlinePlan *plan)
{
    for (int i = 0; i < p->live_count; i++) {
        plan->patience[i] = degree;
    }
}

/* The best plan with one request elsewhere in the order, or more or less patient. */
static void change_one(MerOnlinePlanner *p)
{
    int    count = p->live_count;
    size_t size = (size_t)count;
    memcpy(p->trial.order, p->best.order, size * sizeof *p->trial.order);
    memcpy(p->trial.patience, p->best.patience, size * sizeof *p->trial.patience);
    int from = mer_rng_below(p->rng, count);
    if (count == 1 || mer_rng_below(p->rng, 3) == 0) {
        p->trial.patience[from] = degrees[mer_rng_below(p->rng, DEGREES)];
        return;
    }
    int to = mer_rng_below(p->rng, count - 1);
    to += to >= from;
    int moved = p->trial.order[from];
    int step = to > from ? 1 : -1;
    for (int i = from; i != to; i += step) {
        p->trial.order[i] = p->trial.order[i + step];
    }
    p->trial.order[to] = moved;
}

static void search(MerOnlinePlanner *p, const MerBandwidthRun *run)
{
    static const int orders[] = {MER_ONLINE_EDF, MER_ONLINE_FCFS,         LAST_ORDER,
                                 RESCUE,         MER_ONLINE_LEAST_LAXITY, MER_ONLINE_SJF};
    double           now = mer_bandwidth_now(run);
    double           begin = mer_clock();
    int64_t          tried = 0;
    p->best.score = INFINITY;
    sort_by(p, MER_ONLINE_EDF, now, p->best.order);
    set_patience(p, p->options.patience, &p->best);
    for (int d = 0; d < DEGREES; d++) {
        for (size_t o = 0; o < sizeof orders / sizeof *orders && has_time(p, begin, tried); o++) {
            sort_by(p, orders[o], now, p->trial.order);
            set_patience(p, d == 0 ? p->options.patience : degrees[d], &p->trial);
            take_if_better(p, run);
            tried++;
        }
    }
    double by_rules = p->best.score;
    for (; p->live_count > 0 && has_time(p, begin, tried); tried++) {
        change_one(p);
        take_if_better(p, run);
    }
    p->improved += p->best.score < by_rules;
    p->longest_s = fmax(p->longest_s, mer_clock() - begin);
}

void mer_online_arrived(void *planner, const MerBandwidthRun *run)
{
    MerOnlinePlanner *p = planner;
    look_around(p, run);
    p->decisions++;
    if (p->options.rule == MER_ONLINE_SEARCH) {
        search(p, run);
    } else {
        sort_by(p, p->options.rule, mer_bandwidth_now(run), p->best.order);
        set_patience(p, p->options.patience, &p->best);
    }
    mer_online_write(p, run, &p->best, p->urgency, p->patience);
    for (int i = 0; i < p->live_count; i++) {
        p->rank[p->live[p->best.order[i]]] = i + 1;
    }
}
