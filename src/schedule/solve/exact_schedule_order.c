/* The best orders of queues whose jobs are given: decisions in the order of virtual time, the core that falls
 * free first takes its next job. What is left is bounded by the multipliers of the relaxation in which each
 * core has its own jobs and is busy until its load is done. Of states with the same jobs done and running only
 * the cheapest goes on. */
#include "schedule/solve/exact_schedule.h"

#include <math.h>

enum { SEEN_BITS = 18 };

typedef struct ExactSeen {
    uint64_t key; /* jobs that wait, jobs that run */
    uint32_t round;
    double   cost;
} Seen;

size_t exact_seen_size(void)
{
    return ((size_t)1 << SEEN_BITS) * sizeof(Seen);
}

typedef struct Walk {
    ExactSearch *search;
    int          units;
    uint32_t     given[MER_BANDWIDTH_UNITS];
    double       end[MER_BANDWIDTH_UNITS]; /* of the running job, INFINITY: none */
    int          job[MER_BANDWIDTH_UNITS]; /* that runs, -1: none */
    uint32_t     wait[MER_BANDWIDTH_UNITS];
    int          queue[MER_BANDWIDTH_UNITS][EXACT_JOBS], length[MER_BANDWIDTH_UNITS];
    int          span_count;
    double       span_end[MER_BANDWIDTH_UNITS + 1]; /* rising; the last is the end of all */
    double       limit;
} Walk;

/* What the multipliers say that the rest costs at least, from `now` on. */
static double rest_cost(const Walk *walk, double now)
{
    const ExactSearch     *s = walk->search;
    const ExactRelaxation *relaxation = &s->relaxation;
    double                 rest = 0;
    for (int u = 0; u < walk->units; u++) {
        for (uint32_t left = walk->wait[u]; left; left &= left - 1) {
            rest += relaxation->price[__builtin_ctz(left)];
        }
        int job = walk->job[u];
        rest +=
            job >= 0 ? relaxation->price[job] * (walk->end[u] - now) / s->jobs.length[job][u] : 0;
    }
    double from = now;
    for (int i = 0; i < walk->span_count; i++) {
        if (walk->span_end[i] > from) {
            rest += relaxation->span_price[i] * (walk->span_end[i] - from);
            from = walk->span_end[i];
        }
    }
    return rest;
}

static bool is_seen(Walk *walk, double cost)
{
    ExactSearch *s = walk->search;
    uint64_t     wait = 0, run = 0;
    for (int u = 0; u < walk->units; u++) {
        wait |= walk->wait[u];
        run |= walk->job[u] >= 0 ? (uint64_t)1 << walk->job[u] : 0;
    }
    uint64_t key = wait << EXACT_JOBS | run;
    Seen    *seen = &s->seen[key * 0x9E3779B97F4A7C15u >> (64 - SEEN_BITS)];
    if (seen->key == key && seen->round == s->seen_round && seen->cost * (1 - 1e-14) <= cost) {
        return true;
    }
    *seen = (Seen){key, s->seen_round, cost};
    return false;
}

static void keep_order(Walk *walk)
{
    ExactSearch *s = walk->search;
    int          at = 0;
    for (int u = 0; u < walk->units; u++) {
        s->plan.start[u] = at;
        for (int i = 0; i < walk->length[u]; i++) {
            s->plan.queue[at++] = s->jobs.number[walk->queue[u][i]];
        }
    }
    s->plan.start[walk->units] = at;
    exact_keep_if_better(s);
    walk->limit = exact_limit(s);
}

static void walk_time(Walk *walk, double now, double cost);

/* The first core without a job that has one left takes each of them in turn. */
static void choose_job(Walk *walk, int unit, double now, double cost)
{
    const ExactJobs *jobs = &walk->search->jobs;
    uint32_t         kinds = 0;
    uint32_t         wait = walk->wait[unit];
    for (uint32_t left = wait; left; left &= left - 1) {
        int job = __builtin_ctz(left);
        if (kinds >> jobs->kind[job] & 1) {
            continue;
        }
        kinds |= (uint32_t)1 << jobs->kind[job];
        walk->wait[unit] = wait & ~((uint32_t)1 << job);
        walk->job[unit] = job;
        walk->end[unit] = now + jobs->length[job][unit];
        walk->queue[unit][walk->length[unit]++] = job;
        walk_time(walk, now, cost);
        walk->length[unit]--;
    }
    walk->wait[unit] = wait;
    walk->job[unit] = -1;
    walk->end[unit] = INFINITY;
}

/* Goes on from `now`, where `cost` has been paid. */
static void walk_time(Walk *walk, double now, double cost)
{
    ExactSearch *s = walk->search;
    s->steps++;
    if (exact_is_done(s)) {
        return;
    }
    double need = 0, end = INFINITY;
    int    first = -1;
    for (int u = 0; u < walk->units; u++) {
        if (walk->job[u] < 0 && walk->wait[u]) {
            choose_job(walk, u, now, cost);
            return;
        }
        need += walk->job[u] >= 0 ? s->jobs.need[walk->job[u]][u] : 0;
        if (walk->end[u] < end) {
            end = walk->end[u];
            first = u;
        }
    }
    if (first < 0) {
        if (cost < walk->limit) {
            keep_order(walk);
        }
        return;
    }
    cost += (end - now) * fmax(1, need);
    int job = walk->job[first];
    walk->job[first] = -1;
    walk->end[first] = INFINITY;
    if (cost + rest_cost(walk, end) < walk->limit && !is_seen(walk, cost)) {
        walk_time(walk, end, cost);
    }
    walk->job[first] = job;
    walk->end[first] = end;
}

/* Phases between the ends of the queues: in each it is known who is busy. */
static void relax(Walk *walk)
{
    ExactSearch     *s = walk->search;
    ExactRelaxation *relaxation = &s->relaxation;
    double           load[MER_BANDWIDTH_UNITS];
    relaxation->limit = exact_limit(s);
    relaxation->phase_count = relaxation->span_count = 0;
    for (int u = 0; u < walk->units; u++) {
        load[u] = 0;
        for (uint32_t left = walk->given[u]; left; left &= left - 1) {
            load[u] += s->jobs.length[__builtin_ctz(left)][u];
        }
    }
    double from = 0;
    for (;;) {
        ExactPhase *phase = &relaxation->phase[relaxation->phase_count];
        double      end = INFINITY;
        *phase = (ExactPhase){.spans = (uint32_t)1 << relaxation->span_count};
        for (int u = 0; u < walk->units; u++) {
            if (load[u] > from) {
                phase->unit[phase->unit_count] = u;
                phase->own[phase->unit_count++] = walk->given[u];
                end = fmin(end, load[u]);
            }
        }
        if (phase->unit_count == 0) {
            break;
        }
        relaxation->span[relaxation->span_count] = end - from;
        relaxation->is_least[relaxation->span_count] = false;
        walk->span_end[relaxation->span_count++] = end;
        relaxation->phase_count++;
        from = end;
    }
    walk->span_count = relaxation->span_count;
    exact_relax(s, false);
}

void exact_order(ExactSearch *s, const uint32_t *jobs_of_unit)
{
    Walk walk = {.search = s, .units = s->jobs.units, .limit = exact_limit(s)};
    for (int u = 0; u < walk.units; u++) {
        walk.given[u] = walk.wait[u] = jobs_of_unit[u];
        walk.job[u] = -1;
        walk.end[u] = INFINITY;
    }
    relax(&walk);
    s->seen_round++;
    if (s->relaxation.value < walk.limit) {
        walk_time(&walk, 0, 0);
    }
}
