/* The weightiest jobs first: each is inserted into the order in which those before it begin and end. Between
 * two ends it is known which of them run throughout; all other jobs flow around them as the relaxation likes,
 * and only cores that have run all their jobs may be idle. Once every job is in, the order is a schedule. */
#include "schedule/solve/exact_schedule.h"

/* Phases of virtual time, each but the last up to the end of a job. */
typedef struct Events {
    int count; /* of phases */
    /* job that the unit begins in it, -1: none */
    int8_t   begin[EXACT_JOBS + 1][MER_BANDWIDTH_UNITS];
    int8_t   end[EXACT_JOBS + 1];    /* unit whose job ends it, -1: the last */
    int8_t   end_of_job[EXACT_JOBS]; /* phase, -1: not in */
    uint32_t given;
} Events;

/* For each unit and phase: the job that it runs throughout, -1: none. */
static void find_running(const Events *events, int units,
                         int8_t running[EXACT_JOBS + 1][MER_BANDWIDTH_UNITS])
{
    int8_t now[MER_BANDWIDTH_UNITS];
    for (int u = 0; u < units; u++) {
        now[u] = -1;
    }
    for (int p = 0; p < events->count; p++) {
        for (int u = 0; u < units; u++) {
            running[p][u] = now[u];
            now[u] = events->begin[p][u] >= 0 ? events->begin[p][u] : now[u];
        }
        if (events->end[p] >= 0) {
            now[events->end[p]] = -1;
        }
    }
}

static double relax(ExactSearch *s, const Events *events)
{
    ExactRelaxation *relaxation = &s->relaxation;
    int8_t           running[EXACT_JOBS + 1][MER_BANDWIDTH_UNITS];
    uint32_t         others[MER_BANDWIDTH_UNITS];
    int              last[MER_BANDWIDTH_UNITS]; /* phase in which the unit begins its last job */
    find_running(events, s->jobs.units, running);
    for (int u = 0; u < s->jobs.units; u++) {
        others[u] = exact_possible_jobs(s, u) & ~events->given;
        last[u] = -1;
        for (int p = 0; p < events->count; p++) {
            last[u] = events->begin[p][u] >= 0 ? p : last[u];
        }
    }
    relaxation->limit = exact_limit(s);
    relaxation->span_count = 0;
    relaxation->phase_count = events->count;
    for (int p = 0; p < events->count; p++) {
        ExactPhase *phase = &relaxation->phase[p];
        *phase = (ExactPhase){.unit_count = 0};
        for (int u = 0; u < s->jobs.units; u++) {
            phase->others[u] = others[u];
            int job = running[p][u] >= 0 ? running[p][u] : events->begin[p][u];
            if (job >= 0) {
                relaxation->unit_of_job[job] = u;
            }
            if (running[p][u] >= 0) {
                phase->runs |= (uint32_t)1 << job;
            } else {
                phase->unit[phase->unit_count] = u;
                phase->own[phase->unit_count] = job >= 0 ? (uint32_t)1 << job : 0;
                phase->may_idle[phase->unit_count++] = p > last[u];
            }
        }
    }
    return exact_relax(s, true);
}

static void keep_schedule(ExactSearch *s, const Events *events)
{
    int at = 0;
    for (int u = 0; u < s->jobs.units; u++) {
        s->plan.start[u] = at;
        for (int p = 0; p < events->count; p++) {
            if (events->begin[p][u] >= 0) {
                s->plan.queue[at++] = s->jobs.number[events->begin[p][u]];
            }
        }
    }
    s->plan.start[s->jobs.units] = at;
    exact_keep_if_better(s);
}

typedef struct Insertion {
    int      job, unit, from, to; /* phases in which it begins and ends */
    uint64_t early;               /* units that begin a job in the last of them before it ends */
} Insertion;

/* The job's end cuts phase `to` in two. */
static void insert(const Events *events, const Insertion *in, int units, Events *result)
{
    *result = *events;
    for (int p = events->count; p > in->to; p--) {
        result->end[p] = events->end[p - 1];
        for (int u = 0; u < units; u++) {
            result->begin[p][u] = events->begin[p - 1][u];
        }
    }
    result->count++;
    result->end[in->to] = (int8_t)in->unit;
    for (int u = 0; u < units; u++) {
        bool is_early = in->early >> u & 1;
        result->begin[in->to][u] = is_early ? events->begin[in->to][u] : -1;
        result->begin[in->to + 1][u] = is_early ? -1 : events->begin[in->to][u];
    }
    result->begin[in->from][in->unit] = (int8_t)in->job;
    for (int j = 0; j < EXACT_JOBS; j++) {
        result->end_of_job[j] = (int8_t)(events->end_of_job[j] + (events->end_of_job[j] >= in->to));
    }
    result->end_of_job[in->job] = (int8_t)in->to;
    result->given |= (uint32_t)1 << in->job;
}

static void place(ExactSearch *s, int depth, const Events *events);

/* Each unit that begins a job in phase `to` does so before or after the end of the inserted one. */
static void try_halves(ExactSearch *s, int depth, const Events *events, Insertion *in, int unit)
{
    int units = s->jobs.units;
    while (unit < units && (unit == in->unit || events->begin[in->to][unit] < 0)) {
        unit++;
    }
    if (unit < units) {
        in->early |= (uint64_t)1 << unit;
        try_halves(s, depth, events, in, unit + 1);
        in->early &= ~((uint64_t)1 << unit);
        try_halves(s, depth, events, in, unit + 1);
        return;
    }
    Events next;
    insert(events, in, units, &next);
    if (!exact_is_done(s) && relax(s, &next) < exact_limit(s)) {
        place(s, depth + 1, &next);
    }
}

/* All places of the job on `unit` in which it ends in phase `least` or later. */
static void try_unit(ExactSearch *s, int depth, const Events *events, int unit, int least)
{
    int8_t    running[EXACT_JOBS + 1][MER_BANDWIDTH_UNITS];
    Insertion in = {.job = s->jobs.by_weight[depth], .unit = unit};
    find_running(events, s->jobs.units, running);
    for (in.from = 0; in.from < events->count; in.from++) {
        for (in.to = in.from; in.to < events->count && running[in.to][unit] < 0; in.to++) {
            if (in.to >= least) {
                try_halves(s, depth, events, &in, 0);
            }
            if (events->begin[in.to][unit] >= 0) {
                break; /* it begins after the end of the inserted one */
            }
        }
    }
}

static void place(ExactSearch *s, int depth, const Events *events)
{
    const ExactJobs *jobs = &s->jobs;
    if (depth == jobs->jobs) {
        keep_schedule(s, events);
        return;
    }
    int      job = s->jobs.by_weight[depth];
    int      equal = depth > 0 ? s->jobs.by_weight[depth - 1] : job;
    int      least = equal != job && jobs->kind[equal] == jobs->kind[job]
                         ? events->end_of_job[equal] + 1
                         : 0; /* equal jobs end one after the other */
    uint64_t empty_classes = 0;
    for (int u = 0; u < jobs->units; u++) {
        uint64_t class = (uint64_t)1 << jobs->unit_class[u];
        bool is_empty = true;
        for (int p = 0; p < events->count; p++) {
            is_empty = is_empty && events->begin[p][u] < 0;
        }
        bool is_repeat = is_empty && empty_classes & class;
        empty_classes |= is_empty ? class : 0;
        if (!is_repeat && exact_possible_jobs(s, u) >> job & 1) {
            try_unit(s, depth, events, u, least);
        }
    }
}

void exact_events(ExactSearch *s)
{
    Events events = {.count = 1, .end = {-1}};
    for (int u = 0; u < s->jobs.units; u++) {
        events.begin[0][u] = -1;
    }
    for (int j = 0; j < EXACT_JOBS; j++) {
        events.end_of_job[j] = -1;
    }
    place(s, 0, &events);
}
