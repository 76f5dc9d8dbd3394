/* All ways to share out the jobs, core by core, whose span in virtual time leaves capacity below the best plan
 * (after Korf and Schreiber, Optimally Scheduling Small Numbers of Identical Parallel Machines, ICAPS 2013).
 * The relaxation says which spans do. Without contention the span is the makespan, otherwise the orders of the
 * queues are searched. */
#include "schedule/solve/exact_schedule.h"

#include <math.h>

typedef struct Walk {
    ExactSearch *search;
    int          order[MER_BANDWIDTH_UNITS]; /* units, those on which jobs take long first */
    uint32_t     given[MER_BANDWIDTH_UNITS];
    double       load[MER_BANDWIDTH_UNITS];
    double later[EXACT_JOBS][MER_BANDWIDTH_UNITS + 1]; /* least length on units from here on */
    double ratio[MER_BANDWIDTH_UNITS];                 /* of that to the own length, at most */
    double jobs_price, span_price;                     /* cost >= jobs_price + span_price * span */
    double cap;                                        /* on the span */
} Walk;

static void set_cap(Walk *walk)
{
    walk->cap = walk->span_price > 0
                    ? (exact_limit(walk->search) - walk->jobs_price) / walk->span_price
                    : INFINITY;
    walk->cap = fmin(walk->cap, exact_limit(walk->search));
}

/* Needs and excess of what is given: the order is of interest only if cores can want too much together. */
static bool order_matters(const Walk *walk)
{
    const ExactJobs *jobs = &walk->search->jobs;
    double           need = 0;
    for (int u = 0; u < jobs->units; u++) {
        double most = 0;
        for (uint32_t left = walk->given[u]; left; left &= left - 1) {
            most = fmax(most, jobs->need[__builtin_ctz(left)][u]);
        }
        need += most;
    }
    return need > 1;
}

static double least_cost(const Walk *walk)
{
    const ExactJobs *jobs = &walk->search->jobs;
    double           span = 0, excess = 0, bytes = 0;
    for (int u = 0; u < jobs->units; u++) {
        span = fmax(span, walk->load[u]);
        for (uint32_t left = walk->given[u]; left; left &= left - 1) {
            int job = __builtin_ctz(left);
            excess += jobs->length[job][u] * fmax(0, jobs->need[job][u] - 1);
            bytes += jobs->length[job][u] * jobs->need[job][u];
        }
    }
    return fmax(fmax(span + excess, bytes), walk->jobs_price + walk->span_price * span);
}

static void keep_assignment(Walk *walk)
{
    ExactSearch *s = walk->search;
    int          at = 0;
    for (int u = 0; u < s->jobs.units; u++) {
        s->plan.start[u] = at;
        for (uint32_t left = walk->given[u]; left; left &= left - 1) {
            s->plan.queue[at++] = s->jobs.number[__builtin_ctz(left)];
        }
    }
    s->plan.start[s->jobs.units] = at;
    exact_keep_if_better(s);
}

static void finish(Walk *walk)
{
    if (least_cost(walk) >= exact_limit(walk->search)) {
        return;
    }
    if (order_matters(walk)) {
        exact_order(walk->search, walk->given);
    } else {
        keep_assignment(walk);
    }
    set_cap(walk);
}

static void fill_unit(Walk *walk, int place, uint32_t left);

typedef struct Filling { /* of one unit */
    int      place, unit;
    uint32_t all;     /* jobs that have no core yet */
    uint32_t left;    /* of these, what it may take */
    bool     is_last; /* no core after it */
    int      must;    /* the job it must take, -1: none */
} Filling;

/* Jobs from `job` on: taken or not. `out` and `open`: work for later cores that is decided, or may come. */
static void choose(Walk *walk, const Filling *filling, int job, double out, double open)
{
    ExactSearch     *s = walk->search;
    const ExactJobs *jobs = &s->jobs;
    int              unit = filling->unit;
    s->steps++;
    if (exact_is_done(s)) {
        return;
    }
    double capacity = walk->cap - walk->load[unit];
    int    later = jobs->units - filling->place - 1;
    if (capacity < 0 ||
        (!filling->is_last &&
         (out + open - walk->ratio[filling->place] * capacity) * (1 - 1e-12) > later * walk->cap)) {
        return;
    }
    uint32_t rest = job < jobs->jobs ? filling->left >> job << job : 0;
    if (!rest) {
        fill_unit(walk, filling->place + 1, filling->all & ~walk->given[unit]);
        return;
    }
    int      next = __builtin_ctz(rest);
    double   length = jobs->length[next][unit];
    double   work = walk->later[next][filling->place + 1];
    uint32_t bit = (uint32_t)1 << next;
    double   load = walk->load[unit];
    walk->given[unit] |= bit;
    walk->load[unit] += length;
    choose(walk, filling, next + 1, out, open - work);
    walk->given[unit] &= ~bit;
    walk->load[unit] = load;
    if (filling->is_last || filling->must == next || work > walk->cap) {
        return;
    }
    double skipped = 0; /* with it all that are equal to it */
    int    after = next;
    for (; rest; rest &= rest - 1) {
        int equal = __builtin_ctz(rest);
        if (jobs->kind[equal] != jobs->kind[next]) {
            break;
        }
        skipped += walk->later[equal][filling->place + 1];
        after = equal + 1;
    }
    choose(walk, filling, after, out + skipped, open - skipped);
}

static bool is_last_class(const Walk *walk, int place)
{
    const ExactJobs *jobs = &walk->search->jobs;
    for (int p = place + 1; p < jobs->units; p++) {
        if (jobs->unit_class[walk->order[p]] != jobs->unit_class[walk->order[place]]) {
            return false;
        }
    }
    return true;
}

static void fill_unit(Walk *walk, int place, uint32_t left)
{
    const ExactJobs *jobs = &walk->search->jobs;
    if (place == jobs->units || !left) {
        if (!left) {
            finish(walk);
        }
        return;
    }
    int     unit = walk->order[place];
    Filling filling = {.place = place,
                       .unit = unit,
                       .all = left,
                       .left = left,
                       .is_last = place + 1 == jobs->units,
                       .must = is_last_class(walk, place) ? __builtin_ctz(left) : -1};
    int     previous = place > 0 ? walk->order[place - 1] : -1;
    if (previous >= 0 && jobs->unit_class[previous] == jobs->unit_class[unit] &&
        filling.must < 0) { /* of equal cores the first has the first job */
        uint32_t own = walk->given[previous];
        filling.left &= own ? ~(uint32_t)0 << __builtin_ctz(own) : 0;
    }
    double open = 0, out = 0;
    for (uint32_t rest = left; rest; rest &= rest - 1) {
        int    job = __builtin_ctz(rest);
        double work = walk->later[job][place + 1];
        bool   is_allowed = filling.left >> job & 1;
        open += is_allowed ? work : 0;
        out += is_allowed ? 0 : work;
    }
    choose(walk, &filling, 0, out, open);
    walk->given[unit] = 0;
    walk->load[unit] = 0;
}

/* Units of a class together, the slowest class first. */
static bool is_faster(const void *context, int a, int b)
{
    const ExactJobs *jobs = context;
    int              x = jobs->unit_class[a], y = jobs->unit_class[b];
    double           sum[2] = {0, 0};
    for (int j = 0; j < jobs->jobs; j++) {
        sum[0] += jobs->length[j][x];
        sum[1] += jobs->length[j][y];
    }
    return sum[0] != sum[1] ? sum[0] < sum[1] : x > y;
}

static void fill_later(Walk *walk)
{
    const ExactJobs *jobs = &walk->search->jobs;
    for (int j = 0; j < jobs->jobs; j++) {
        walk->later[j][jobs->units] = 0; /* there are none */
        for (int p = jobs->units - 1; p >= 0; p--) {
            double own = jobs->length[j][walk->order[p]];
            bool   is_last = p + 1 == jobs->units;
            walk->ratio[p] = fmax(walk->ratio[p], walk->later[j][p + 1] / own);
            walk->later[j][p] = is_last ? own : fmin(own, walk->later[j][p + 1]);
        }
    }
}

/* Multipliers of the jobs and of the span, such that the longest span below the best plan is as short as
 * possible: the cost that the relaxation has at a span is convex in it, hence the steps of Newton. */
static void find_prices(Walk *walk)
{
    ExactSearch     *s = walk->search;
    ExactRelaxation *relaxation = &s->relaxation;
    walk->span_price = 1;
    set_cap(walk);
    exact_relax_root(s);
    relaxation->limit *= 2; /* the best prices are wanted, not the first that pass the limit */
    relaxation->span_count = 1;
    relaxation->is_least[0] = true;
    relaxation->phase[0].spans = 1;
    for (int i = 0; i < 8; i++) {
        double cap = walk->cap;
        relaxation->span[0] = cap;
        exact_relax(s, false);
        double span_price = relaxation->span_price[0];
        double jobs_price = relaxation->value - span_price * cap;
        if (span_price <= 0 || (exact_limit(s) - jobs_price) / span_price >= cap * (1 - 1e-9)) {
            break;
        }
        walk->span_price = span_price;
        walk->jobs_price = jobs_price;
        set_cap(walk);
    }
}

void exact_assign(ExactSearch *s)
{
    Walk walk = {.search = s};
    for (int u = 0; u < s->jobs.units; u++) {
        walk.order[u] = u;
    }
    mer_schedule_merge_sort(walk.order, s->jobs.units, is_faster, &s->jobs);
    fill_later(&walk);
    find_prices(&walk);
    fill_unit(&walk, 0, exact_all_jobs(&s->jobs));
}
