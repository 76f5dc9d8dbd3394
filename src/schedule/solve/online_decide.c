/* One decision of an on-line scheduler: the rules everybody knows and the last decision are tried first, each
 * with several degrees of patience, then neighbours of the best one. So a forecast is never worse than that of
 * any of these rules. */
#include "schedule/solve/online.h"

#include "base/log.h"

#include <math.h>
#include <string.h>

enum { LAST_ORDER = MER_ONLINE_RULES, RESCUE, ORDERS };

static const double degrees[] = {8, 3, 1.5};
enum { DEGREES = sizeof degrees / sizeof *degrees };

typedef struct Order { /* what the places in `live` are sorted by */
    const MerOnlinePlanner *p;
    int                     rule;
    double                  now;
} Order;

static double key(const Order *by, int place)
{
    const MerOnlinePlanner *p = by->p;
    int                     r = p->live[place];
    int                     first = p->jobs[p->requests[r].first];
    double                  deadline = p->expected_deadline[first];
    double                  laxity = deadline - p->remaining[place];
    switch (by->rule) {
    case MER_ONLINE_SJF:
        return p->remaining[place];
    case MER_ONLINE_EDF:
        return deadline;
    case MER_ONLINE_LEAST_LAXITY:
        return laxity;
    case LAST_ORDER:
        return p->rank[r];
    case RESCUE: /* what can no longer be in time steps back */
        return laxity < by->now ? INFINITY : deadline;
    default:
        return p->expected_release[first];
    }
}

static bool is_later(const void *context, int a, int b)
{
    const Order *by = context;
    double       x = key(by, a), y = key(by, b);
    return x > y || (x == y && by->p->live[a] > by->p->live[b]);
}

static void sort_by(const MerOnlinePlanner *p, int rule, double now, int *order)
{
    for (int i = 0; i < p->seen_count; i++) {
        order[i] = i;
    }
    mer_schedule_merge_sort(order, p->seen_count, is_later, &(Order){p, rule, now});
}

/* With a limit, another forecast must fit in that takes as long as the longest one of this decision. */
static bool has_time(MerOnlinePlanner *p, int64_t tried)
{
    double limit = p->options.milliseconds / 1000;
    p->is_stopped = p->is_stopped || mer_is_cancelled(p->notes);
    if (p->is_stopped || tried >= p->options.moves) {
        return false;
    }
    if (!(limit > 0)) {
        return true;
    }
    double now = mer_clock();
    p->longest = tried > 0 ? fmax(p->longest, now - p->forecast_began) : 0;
    p->forecast_began = now;
    return now - p->began + p->longest <= limit;
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
    for (int i = 0; i < p->seen_count; i++) {
        plan->patience[i] = degree;
    }
}

/* The best plan with one request elsewhere in the order, or more or less patient. */
static void change_one(MerOnlinePlanner *p)
{
    int    count = p->seen_count;
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

/* Requests that are new to this decision take their place in the last one by deadline. */
static void rank_new(MerOnlinePlanner *p)
{
    for (int i = 0; i < p->seen_count; i++) {
        int    r = p->live[i];
        double deadline = p->expected_deadline[p->jobs[p->requests[r].first]];
        if (p->rank[r] > 0) {
            continue;
        }
        double before = (double)p->request_count + 1;
        for (int k = 0; k < p->seen_count; k++) {
            int    other = p->live[k];
            double theirs = p->expected_deadline[p->jobs[p->requests[other].first]];
            bool   is_later = p->rank[other] > 0 && theirs > deadline;
            before = is_later ? fmin(before, p->rank[other] - 0.5) : before;
        }
        p->rank[r] = before;
        p->chosen_patience[r] = p->options.patience;
    }
}

static void search(MerOnlinePlanner *p, const MerBandwidthRun *run)
{
    static const int orders[] = {LAST_ORDER, MER_ONLINE_SJF,  MER_ONLINE_EDF,
                                 RESCUE,     MER_ONLINE_FCFS, MER_ONLINE_LEAST_LAXITY};
    enum { ORDER_COUNT = sizeof orders / sizeof *orders };
    double  now = mer_bandwidth_now(run);
    int64_t tried = 0;
    rank_new(p);
    p->best.score = INFINITY;
    sort_by(p, MER_ONLINE_EDF, now, p->best.order);
    set_patience(p, p->options.patience, &p->best);
    for (int o = 0; o < ORDER_COUNT && has_time(p, tried); o++, tried++) {
        sort_by(p, orders[o], now, p->trial.order);
        for (int i = 0; i < p->seen_count; i++) {
            bool is_last = orders[o] == LAST_ORDER;
            p->trial.patience[i] = is_last ? p->chosen_patience[p->live[i]] : p->options.patience;
        }
        take_if_better(p, run);
    }
    double by_rules = p->best.score;
    for (int i = 0; i < ORDER_COUNT * (DEGREES - 1) && has_time(p, tried); i++, tried++) {
        sort_by(p, orders[i % ORDER_COUNT], now, p->trial.order);
        set_patience(p, degrees[DEGREES - 1 - i / ORDER_COUNT], &p->trial);
        take_if_better(p, run);
    }
    for (; p->seen_count > 0 && has_time(p, tried); tried++) {
        change_one(p);
        take_if_better(p, run);
    }
    p->improved += p->best.score < by_rules;
}

static void count_time(MerOnlinePlanner *p)
{
    MerDecisionTimes *taken = &p->taken;
    double            ms = (mer_clock() - p->began) * 1000;
    taken->allowed_ms = p->options.milliseconds;
    taken->count++;
    taken->late += taken->allowed_ms > 0 && ms > taken->allowed_ms;
    taken->total_ms += ms;
    taken->worst_ms = fmax(taken->worst_ms, ms);
}

void mer_online_arrived(void *planner, const MerBandwidthRun *run)
{
    MerOnlinePlanner *p = planner;
    p->began = mer_clock();
    mer_online_look(p, run);
    p->decisions++;
    if (p->options.rule == MER_ONLINE_SEARCH) {
        search(p, run);
    } else {
        sort_by(p, p->options.rule, mer_bandwidth_now(run), p->best.order);
        set_patience(p, p->options.patience, &p->best);
    }
    mer_online_write(p, run, &p->best, p->urgency, p->patience);
    for (int i = 0; i < p->seen_count; i++) {
        p->rank[p->live[p->best.order[i]]] = i + 1;
        p->chosen_patience[p->live[i]] = p->best.patience[i];
    }
    count_time(p);
}
