/* Parts of the solver `online`: what an on-line scheduler knows at one moment, and how it decides. */
#ifndef MERCATOR_SCHEDULE_SOLVE_ONLINE_H
#define MERCATOR_SCHEDULE_SOLVE_ONLINE_H

#include "mercator/search.h"
#include "schedule/cost/bandwidth.h"

typedef enum MerOnlineRule {
    MER_ONLINE_SEARCH,
    MER_ONLINE_FCFS,
    MER_ONLINE_SJF,
    MER_ONLINE_EDF,
    MER_ONLINE_LEAST_LAXITY,
    MER_ONLINE_RULES
} MerOnlineRule;

typedef enum MerOnlineGoal {
    MER_ONLINE_MISSES,
    MER_ONLINE_TARDINESS,
    MER_ONLINE_FINISH
} MerOnlineGoal;

typedef struct MerOnlineOptions {
    int64_t moves, ahead;
    double  milliseconds, patience;
    int     rule, goal;
} MerOnlineOptions;

/* Jobs that arrive together and end together: one inference, or a single job. */
typedef struct MerOnlineRequest {
    int    first, count; /* places in `jobs` of the planner */
    int    next;         /* request of the same model that comes after it, -1: none */
    double release, deadline, weight;
    bool   is_here; /* has arrived */
} MerOnlineRequest;

typedef struct MerOnlinePlan { /* for the live requests */
    int    *order;             /* most urgent first */
    double *patience;          /* by place in `live` */
    double  score;
} MerOnlinePlan;

typedef struct MerOnlinePlanner {
    const MerSchedule *schedule;
    MerOnlineOptions   options;
    MerRng            *rng;
    MerNotes          *notes;      /* NULL: nobody stops it */
    bool               is_stopped; /* the rest was decided without forecasts */
    MerArena          *scratch;
    MerOnlineRequest  *requests;
    int                request_count;
    int               *jobs;
    double            *shortest;   /* by job: latency on its best unit */
    int               *live;       /* requests that have arrived and are not over, */
    int                live_count; /* then those that are expected, */
    int                seen_count; /* both together */
    int                next;       /* place in the order of releases */
    int               *last;       /* by model: the request that arrived last, -1: none */
    MerSchedule        expected;   /* with the releases and deadlines that are believed in, */
    double            *expected_release, *expected_deadline; /* by job and one more */
    int               *release_order, *deadline_order;
    double       *rank, *chosen_patience; /* by request, of the last decision; rank 0: none yet */
    double       *remaining;              /* by place in `live`: cycles of work not started */
    int          *live_jobs;              /* not over, of all that are seen */
    int           live_job_count;
    double       *urgency, *patience, *trial_urgency, *trial_patience; /* by job */
    MerOnlinePlan best, trial;
    MerBandwidthTimes times;
    double            until;
    bool              counts_energy; /* the objective is a score that frugal requests raise */
    int64_t           decisions, forecasts, improved;
    double            began;                   /* wall clock at the start of this decision, */
    double            forecast_began, longest; /* of its last forecast, and its longest one */
    MerDecisionTimes  taken;
    double            cycles;  /* as it went, */
    int               dropped; /* and jobs that never ran */
} MerOnlinePlanner;

/* The plan that an on-line scheduler follows, in the search's arena; `planner` says how it went. `options` NULL: the
 * defaults. False if the evaluator does not follow plans. */
bool mer_online_plan(const MerOnlineOptions *options, const MerSearch *search,
                     const MerEvaluator *evaluator, MerJobsPlan *plan, MerOnlinePlanner *planner);
/* Memory for the requests of `schedule`; all arrays in `arena`. */
void mer_online_prepare(MerOnlinePlanner *planner, MerMetric objective, MerArena *arena);
/* What the simulation calls at every arrival: decides on urgency and patience. */
void mer_online_arrived(void *planner, const MerBandwidthRun *run);
/* Takes in what has arrived, forgets what is over, and sets down what is expected. */
void mer_online_look(MerOnlinePlanner *planner, const MerBandwidthRun *run);
/* Prices a plan by playing it on from `run`: smaller is better. */
double mer_online_forecast(MerOnlinePlanner *planner, const MerBandwidthRun *run,
                           MerOnlinePlan *plan);
/* Writes a plan for the live requests into arrays by job; what could start already keeps its patience. */
void mer_online_write(const MerOnlinePlanner *planner, const MerBandwidthRun *run,
                      const MerOnlinePlan *plan, double *urgency, double *patience);

#endif
