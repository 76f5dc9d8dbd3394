/* The event loops of the evaluator `bandwidth` (docs/bandwidth-model.md): the plain one, the one with all
 * extensions, and the same schedule in virtual time. */
#ifndef MERCATOR_SCHEDULE_COST_BANDWIDTH_LOOP_H
#define MERCATOR_SCHEDULE_COST_BANDWIDTH_LOOP_H

#include "mercator/arena.h"
#include "schedule/schedule.h"

enum { MER_BANDWIDTH_UNITS = 64 }; /* at most */

typedef enum MerShare {
    MER_SHARE_PROPORTIONAL,
    MER_SHARE_MAXMIN,
    MER_SHARE_EVEN,
    MER_SHARE_PRIORITY,
    MER_SHARE_RESERVED
} MerShare;

typedef enum MerDispatch {
    MER_DISPATCH_SKIP,
    MER_DISPATCH_STRICT,
    MER_DISPATCH_POLICY
} MerDispatch;

typedef enum MerPolicy {
    MER_POLICY_FCFS,
    MER_POLICY_SJF,
    MER_POLICY_EDF,
    MER_POLICY_LEAST_LAXITY,
    MER_POLICY_LATENCY_GREEDY,
    MER_POLICY_EDP_GREEDY,
    MER_POLICY_BALANCED
} MerPolicy;

/* What one job on one unit asks for. */
typedef struct MerWork {
    double left; /* bytes to move; cycles if rate is 0 */
    double rate; /* bytes per cycle */
    double latency;
    double excess; /* bytes above what the whole bandwidth moves in that time; for limits only */
} MerWork;

static inline MerWork mer_work_make(double latency, double rate, double bandwidth)
{
    double over = rate - bandwidth;
    return (MerWork){rate > 0 ? latency * rate : latency, rate, latency,
                     over > 0 ? over * latency : 0};
}

typedef struct MerBandwidthRules {
    MerShare    share;
    MerDispatch dispatch;
    MerPolicy   policy;
    double      switch_cycles;
    bool        drops_late, reuses_weights, forwards;
} MerBandwidthRules;

/* An on-line scheduler, asked while the simulation runs (dispatch=policy). Arrays by job, read anew at
 * every dispatch. */
typedef struct MerBandwidthRun MerBandwidthRun;
typedef struct MerBandwidthPlanner {
    const double *urgency;  /* smaller first, ties by job; instead of the policy's */
    const double *patience; /* a unit this many times slower than the job's best is not used */
    double        seen;     /* jobs released later are not known yet; INFINITY: all are */
    void         *state;
    /* Called when jobs have been released, before anyone starts; NULL: nobody is asked. */
    void (*arrived)(void *state, const MerBandwidthRun *run);
} MerBandwidthPlanner;

typedef struct MerBandwidthInput {
    const MerSchedule         *schedule;
    const MerWork             *work; /* [job * unit_count + unit] */
    double                     bandwidth;
    double                     limit; /* cycles above which the answer may be cut short */
    MerBandwidthRules          rules;
    const MerBandwidthPlanner *planner;      /* NULL: none */
    bool                       walks_queues; /* for checks: the plain search for ready jobs */
} MerBandwidthInput;

typedef struct MerBandwidthOutput {
    double cycles, waste;               /* waste: bytes of bandwidth that nobody asked for */
    double finish[MER_BANDWIDTH_UNITS]; /* the last end on each unit, */
    double idle[MER_BANDWIDTH_UNITS];   /* and for how long it ran no job before that */
    bool   is_cut;
} MerBandwidthOutput;

/* Filled where not NULL, arrays by job. */
typedef struct MerBandwidthTimes {
    double *start, *end; /* NAN: dropped or never ready */
    double *moved;       /* bytes */
    int    *unit;        /* where it ran */
    int     dropped;
    int     waiting, waits_for; /* deadlock: two jobs; -1 if none */
} MerBandwidthTimes;

/* One step of the simulation: who used how much of the bandwidth from t to t + duration. */
typedef struct MerBandwidthSegment {
    double        t, duration;
    const double *use; /* bytes per cycle by unit */
    const int    *job; /* by unit, -1: none running */
} MerBandwidthSegment;

typedef struct MerBandwidthRecorder {
    void *state;
    void (*segment)(void *state, const MerBandwidthSegment *segment);
} MerBandwidthRecorder;

/* Independent jobs that all need bandwidth, shared proportionally: the plain loop of docs/bandwidth-model.md.
 * `snapshot` and `base` as in MerCall; NULL is fine. Of a cut plan nothing but that is told. */
void mer_bandwidth_plain(const MerBandwidthInput *input, const MerJobsPlan *plan, const void *base,
                         void *snapshot, MerBandwidthOutput *output);
size_t mer_bandwidth_snapshot_size(int job_count, int unit_count);

/* Everything. False: deadlock, `times` says which jobs. */
bool mer_bandwidth_extended(const MerBandwidthInput *input, const MerJobsPlan *plan,
                            MerArena *scratch, MerBandwidthTimes *times,
                            const MerBandwidthRecorder *recorder, MerBandwidthOutput *output);

/* Where a run stands, for its planner. */
double mer_bandwidth_now(const MerBandwidthRun *run);
bool   mer_bandwidth_is_over(const MerBandwidthRun *run, int job);    /* done or dropped */
bool   mer_bandwidth_is_started(const MerBandwidthRun *run, int job); /* or over */
bool   mer_bandwidth_is_ready(const MerBandwidthRun *run, int job);   /* could start at once */
/* Goes on from `run` with another planner, in `scratch`, until `todo` jobs are over, nothing happens any more
 * or `until` has passed; `run` stays as it is. `expected` has the releases and deadlines that the planner
 * believes in; its orders hold only jobs still to come, and end with a job of INFINITY. Fills start, end, unit
 * and moved of the jobs that start or end. Gives the time it stopped at. */
double mer_bandwidth_forecast(const MerBandwidthRun *run, const MerBandwidthPlanner *planner,
                              const MerSchedule *expected, int todo, double until,
                              MerBandwidthTimes *times, MerArena *scratch);

/* The makespan of a plain schedule as an integral over virtual time (docs/bandwidth-model.md, "Virtual time");
 * finish times are not made. Differs from the plain loop in the last bits. */
double mer_bandwidth_virtual(const MerBandwidthInput *input, const MerJobsPlan *plan);

/* Who gets how much of the bandwidth, by unit. A unit that runs nothing needs 0. */
typedef struct MerShareInput {
    MerShare         share;
    int              units, tenant_count;
    double           bandwidth;
    const double    *need;   /* by unit */
    const int       *tenant; /* of the job on each unit, -1: none */
    const MerTenant *tenants;
} MerShareInput;
void mer_bandwidth_share(const MerShareInput *input, double *use);

#endif
