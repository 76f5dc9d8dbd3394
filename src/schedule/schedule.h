/* The problem `schedule`, opened: jobs, cores and the job analysis table, for its evaluator and solvers. */
#ifndef MERCATOR_SCHEDULE_SCHEDULE_H
#define MERCATOR_SCHEDULE_SCHEDULE_H

#include "mercator/problem.h"
#include "schedule/jobs/job_set.h"

#include <assert.h>

/* Plans of kind "jobs": which core runs which jobs, in which order. */
typedef struct MerJobsPlan { /* queue of unit u: queue[start[u]] .. queue[start[u+1]-1] */
    int  job_count, unit_count;
    int *unit, *queue, *start;
} MerJobsPlan;

extern const MerPlanKind mer_plan_jobs;

static inline MerJobsPlan *mer_jobs_plan(const MerPlan *plan)
{
    assert(plan->kind == &mer_plan_jobs);
    return plan->content;
}

/* Jobs are numbered as in the input; matrices are [job * unit_count + unit]. */
typedef struct MerSchedule {
    int    job_count, unit_count, tenant_count, model_count;
    double bandwidth;    /* bytes per cycle shared by all units */
    double clock_hz;     /* NAN if unknown */
    double arrival_rate; /* of periodic models, as a multiple of their fps */
    /* than those of the file: at another rate, at random or with jitter */
    bool has_other_arrivals;
    bool has_random_arrivals, has_other_seed; /* than the default one */
    /* the job analysis table */
    const double *latency;                     /* cycles without stall, > 0 */
    const double *rate;                        /* bytes per cycle needed not to stall, >= 0 */
    const double *traffic;                     /* bytes = latency * rate */
    const double *energy;                      /* pJ; NULL: unknown, */
    double        dram_pj_per_byte;            /* of it for each byte of traffic; 0: none */
    const double *weight_bytes, *output_bytes; /* by job; NULL: unknown */
    uint64_t      table_hash;
    bool          is_compat; /* numbers of the published artifact */
    const char   *left_out;  /* of jobs that it has none for: a warning; NULL: all have */
    /* jobs */
    const char *const *job_names, *const *layer_names;
    const double *macs;
    const double *release, *deadline; /* cycles; 0 and INFINITY where there is none */
    const double *weight;             /* of the job's tenant */
    const int    *tenant, *model, *request;
    const int *request_number; /* requests of all models by their first jobs; a single job is one */
    const int *layer;          /* equal for jobs of equal layers */
    const int *before_start, *before; /* predecessors of job j: before[before_start[j]] .. */
    const int *after_start, *after;   /* successors */
    const int *order;                 /* job of each knob: the search sees jobs sorted */
    const int *release_order, *deadline_order; /* jobs by release and by deadline, rising */
    bool       has_dependencies, has_releases, has_deadlines;
    bool       has_own_deadlines; /* the user gave them beside the workload */
    bool       lacks_clock; /* times are given in seconds, and there is no clock to count them by */
    /* units and tenants */
    const char *const *unit_names;
    const int         *unit_class; /* units with equal columns share it */
    const double      *static_pj_per_cycle, *unit_bytes;
    const MerTenant   *tenants;
    const MerJobModel *models;
} MerSchedule;

/* NULL if `problem` is another one. */
const MerSchedule *mer_schedule_of(const MerProblem *problem);
struct MerJobTable;
const struct MerJobTable *mer_schedule_table(const MerProblem *problem);

/* What bounds need to know of the evaluator: its `rules` (docs/bandwidth-model.md, "Bounds of schedules"). */
typedef struct MerScheduleRules {
    bool   is_proportional; /* sharing by need, so that virtual time holds */
    bool   drops_jobs;      /* not every job runs */
    bool   saves_traffic;   /* reuse or forwarding: jobs may move less than the table says */
    double switch_cycles;
    bool   is_even; /* every core has its own part of the bandwidth and never more */
} MerScheduleRules;

/* The makespan that no schedule beats, in cycles, and where it comes from: "longest-job", "lp",
 * "configurations", "critical-path", "heads-and-tails" or "none" (other metrics: schedule_deadlines.h).
 * `is_published`: the published bound alone (docs/bandwidth-model.md, "Bounds of schedules"). `notes`, NULL for none: when it is cancelled what is known so far is
 * the answer. */
MerBound mer_schedule_bound(const MerSchedule *schedule, const MerScheduleRules *rules,
                            bool is_published, MerNotes *notes);

/* The relaxation behind the bound, rounded: the group of equal units that each job goes to
 * (docs/optimizers.md, "List schedulers", lp_round), and the group of each unit. Cancelled by `notes`: any
 * groups. */
void mer_schedule_round(const MerSchedule *schedule, const MerScheduleRules *rules, int *group,
                        int *group_of_unit, MerNotes *notes);

/* The job that no schedule shortens, the first of equals, and the cycles it takes where it is fastest with
 * all the bandwidth to itself. */
int mer_schedule_longest_job(const MerSchedule *schedule, double *cycles);

/* The least of some values, INFINITY of none, and the place of the first that is least. */
double mer_schedule_least(const double *values, int count);
int    mer_schedule_smallest(const double *values, int count);
/* Cycles of a job on its fastest unit, without stall. */
double mer_schedule_shortest(const MerSchedule *schedule, int job);
/* The table's energy of a job on a unit, less that of the bytes it did not have to move. */
double mer_schedule_job_energy(const MerSchedule *schedule, int job, int unit, double moved);

/* Sorts `jobs` stably: one that `is_after` another goes behind it. */
typedef bool MerJobCompare(const void *context, int a, int b);
void mer_schedule_merge_sort(int *jobs, int count, MerJobCompare *is_after, const void *context);
/* 0, 1, ... */
int *mer_schedule_input_order(int count, MerArena *arena);
/* Jobs sorted by `key`, rising, ties by number. */
const int *mer_schedule_sorted(const double *key, int count, MerArena *arena);

/* The plan of a point, each job on the unit that the point names: option `symmetry` does not count. */
void mer_schedule_decode(const MerSchedule *schedule, const MerIndex *point, MerPlan *plan,
                         MerArena *arena);

/* A plan with memory for all jobs, in `arena`. */
void mer_schedule_new_plan(const MerSchedule *schedule, MerArena *arena, MerJobsPlan *plan);
/* Queues of a plan from units and positions: `queue` keeps the order of `order`, unit by unit. */
void mer_schedule_make_queues(const int *order, const int *unit, MerJobsPlan *plan);

#endif
