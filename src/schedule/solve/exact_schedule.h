/* Inside of `exact_schedule`: the optimum of small groups in virtual time (docs/bandwidth-model.md,
 * "Virtual time").
 *
 * In virtual time a job takes its no-stall latency on its core and the makespan is the integral of max(1,
 * need), need = the rates of the running jobs over the bandwidth. A configuration is a set of jobs that
 * run at the same moment, each on its core; a schedule is a sequence of configurations. Without their
 * order, and with jobs that may be interrupted and may change cores, the least cost is a linear program,
 *
 *     least sum of y_k max(1, need_k)   with   sum over k with job j of y_k / length_j >= 1,   y >= 0
 *
 * which bounds all schedules. Searches cut time into phases of which more is known, with the same program. */
#ifndef MERCATOR_SCHEDULE_SOLVE_EXACT_SCHEDULE_H
#define MERCATOR_SCHEDULE_SOLVE_EXACT_SCHEDULE_H

#include "mercator/notes.h"
#include "mercator/rng.h"
#include "schedule/bound/configuration_program.h"
#include "schedule/solve/queue_moves.h"

#include <stdint.h>

enum { EXACT_JOBS = 20, EXACT_PHASES = EXACT_JOBS + 1, EXACT_SPANS = EXACT_JOBS + 1 };

/* Jobs are sorted by the least length, falling. */
typedef struct ExactJobs {
    int    jobs, units;
    int    number[EXACT_JOBS];                      /* in the schedule */
    double length[EXACT_JOBS][MER_BANDWIDTH_UNITS]; /* cycles */
    double need[EXACT_JOBS][MER_BANDWIDTH_UNITS];   /* rate / bandwidth */
    double alone[EXACT_JOBS][MER_BANDWIDTH_UNITS];  /* cycles of all at least if it runs there */
    int    kind[EXACT_JOBS];                        /* the first job that is equal on all units */
    int    unit_class[MER_BANDWIDTH_UNITS];         /* likewise */
    int    by_weight[EXACT_JOBS]; /* jobs by what they cost at least alone, falling, equal ones
                                     together */
} ExactJobs;

/* A stretch of virtual time: who runs throughout, and what the other units may do. */
typedef struct ExactPhase {
    uint32_t runs;       /* jobs, on their `unit_of_job` */
    int      unit_count; /* units that run none of these */
    int      unit[MER_BANDWIDTH_UNITS];
    uint32_t own[MER_BANDWIDTH_UNITS]; /* jobs that only this unit may run, by place in `unit` */
    bool     may_idle[MER_BANDWIDTH_UNITS];
    uint32_t others[MER_BANDWIDTH_UNITS]; /* jobs that any of the units of this class may run */
    uint32_t spans;                       /* whose durations it is a part of */
} ExactPhase;

/* Whether the user interrupts or the time is up, asked now and then. */
typedef struct ExactStop {
    MerNotes *notes; /* NULL: never */
    uint32_t  pulse;
    bool      is_stopped;
} ExactStop;

/* Steps are much shorter than a look at the clock is worth. */
static inline bool exact_stop_soon(ExactStop *stop)
{
    enum { PULSE = 256 };
    stop->is_stopped =
        stop->is_stopped || (++stop->pulse % PULSE == 0 && mer_is_cancelled(stop->notes));
    return stop->is_stopped;
}

typedef struct ExactRelaxation {
    const ExactJobs *jobs;
    double           limit; /* of interest are schedules below it */
    int              unit_of_job[EXACT_JOBS];
    int              phase_count, span_count;
    ExactPhase       phase[EXACT_PHASES];
    double           span[EXACT_SPANS];     /* duration of the phases that are part of it */
    bool             is_least[EXACT_SPANS]; /* or more */
    /* solved */
    double value; /* no schedule below the limit is below this */
    double price[EXACT_JOBS], span_price[EXACT_SPANS];
    /* the same as a program */
    Relaxation         pairs; /* of job and class */
    Columns            columns;
    ConfigurationPhase program_phase[EXACT_PHASES];
    int               *busy, *unit_of_class; /* by class */
} ExactRelaxation;

static inline uint32_t exact_all_jobs(const ExactJobs *jobs)
{
    return ((uint32_t)1 << jobs->jobs) - 1;
}

/* exact_schedule_relax.c: `jobs` and `notes` are kept. */
void exact_relaxation_begin(ExactRelaxation *relaxation, const ExactJobs *jobs, MerNotes *notes,
                            MerArena *arena);

typedef struct ExactSearch {
    ExactJobs         jobs;
    MerBandwidthInput input;
    MerJobsPlan       plan, best; /* jobs as the schedule numbers them */
    MerQueues         queues;     /* of annealing */
    double            best_cycles;
    double            bound, given_bound; /* of all schedules: the best known, and the problem's */
    int64_t           steps, max_steps;
    ExactRelaxation   relaxation; /* the one at work */
    struct ExactSeen *seen;       /* exact_schedule_order.c */
    uint32_t          seen_round;
    ExactStop         stop;
    int               turn;        /* steps taken */
    bool              is_finished; /* nothing left to look at, or no steps or time to do it */
    bool              is_proven;
} ExactSearch;

/* Finds the first plan. The plan found is `best`; `input` is that of a plain schedule, whose virtual time
 * exists. */
void exact_begin(ExactSearch *s, const MerBandwidthInput *input, const MerScheduleRules *rules,
                 int64_t max_steps, MerNotes *notes, MerArena *arena);
/* Goes on with the search, until `is_finished`. */
void exact_step(ExactSearch *s, MerRng *rng);

/* Nothing at or above it is of interest; sums are rounded. */
static inline double exact_limit(const ExactSearch *s)
{
    return s->best_cycles * (1 - 1e-12);
}

static inline bool exact_is_done(ExactSearch *s)
{
    return exact_stop_soon(&s->stop) || s->steps >= s->max_steps || exact_limit(s) <= s->bound;
}

/* exact_schedule_start.c: prices `plan` with the evaluator's own loop and keeps it if it is better; does so with
 * the list schedules; and looks for better ones by annealing from the best. */
void exact_keep_if_better(ExactSearch *s);
void exact_list_plans(ExactSearch *s, const MerScheduleRules *rules, MerArena *arena);
void exact_anneal(ExactSearch *s, MerRng *rng, int64_t moves, double hot);

/* exact_schedule_relax.c: solves the relaxation as it was set up and counts the steps; gives the value. This and the
 * prices are 0 where the configurations are too many to look at. `is_question`: whether the value is below the
 * limit, not which it is. */
double exact_relax(ExactSearch *s, bool is_question);
/* The relaxation of the whole group: one phase. */
void exact_relax_root(ExactSearch *s);
/* Those that a plan as good as the best may run on this unit. */
uint32_t exact_possible_jobs(const ExactSearch *s, int unit);

/* exact_schedule_order.c: the best orders of queues with these jobs, by unit. */
size_t exact_seen_size(void);
void   exact_order(ExactSearch *s, const uint32_t *jobs_of_unit);

/* exact_schedule_assign.c: all ways to share out the jobs. */
void exact_assign(ExactSearch *s);

/* exact_schedule_place.c: the same, the weightiest jobs first, with a relaxation for each. */
void exact_place(ExactSearch *s);

/* exact_schedule_events.c: all orders in which jobs begin and end, the weightiest jobs first. */
void exact_events(ExactSearch *s);

#endif
