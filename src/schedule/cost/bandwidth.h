/* The evaluator `bandwidth` beyond its plug-in slots: what solvers and files need of it. */
#ifndef MERCATOR_SCHEDULE_COST_BANDWIDTH_H
#define MERCATOR_SCHEDULE_COST_BANDWIDTH_H

#include "mercator/evaluator.h"
#include "schedule/cost/bandwidth_loop.h"

extern const MerEvaluatorClass mer_evaluator_bandwidth;

typedef struct MerBandwidthState {
    MerBandwidthInput  input;
    const MerSchedule *schedule;
    bool               is_plain;  /* mer_bandwidth_plain says it all */
    const char        *not_plain; /* why; NULL: it is */
    bool               is_fast, wants_fast;
    bool               has_static_power, is_powered_all_time;
    double             dram_pj_per_byte;
    double             total_macs;
    const double      *alone; /* by tenant: cycles on the platform without the others */
    bool               has_requests;
    bool               clamps_energy;
    bool               is_xr_compat; /* xr_score is that of the published runtime, */
    double             xr_compat;    /* which no plan changes */
    const char        *idle;         /* options without effect, one line each; NULL: none */
    MerScheduleRules   bound_rules;
} MerBandwidthState;

/* NULL if `evaluator` is another one. */
const MerBandwidthState *mer_bandwidth_state(const MerEvaluator *evaluator);
/* What bounds and relaxations may rely on; of another evaluator: nothing. */
const MerScheduleRules *mer_bandwidth_rules(const MerEvaluator *evaluator);

/* Simulates `plan` in full; arrays of `times` come from `arena`. False: deadlock. */
bool mer_bandwidth_simulate(const MerBandwidthState *state, const MerJobsPlan *plan,
                            MerArena *arena, MerBandwidthTimes *times,
                            const MerBandwidthRecorder *recorder, MerBandwidthOutput *output);

typedef struct MerBandwidthPlay { /* a plan and how it ran */
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    double            *segments; /* (count, 2 + units): begin, end, bandwidth of each unit */
    int                segment_count;
} MerBandwidthPlay;
/* Likewise, in `arena`. */
bool mer_bandwidth_play(const MerBandwidthState *state, const MerPlan *plan, MerArena *arena,
                        MerBandwidthPlay *play);
/* Cycles that a job waited for memory while it ran. */
double mer_bandwidth_stall(const MerSchedule *schedule, const MerBandwidthTimes *times, int job);

/* Multiplications of the jobs that ran to their end. */
double mer_bandwidth_macs(const MerSchedule *schedule, const MerBandwidthTimes *times);

/* XRBench's score of the requests in `times`, 0 .. 100 (docs/bandwidth-model.md, "The score of XRBench"),
 * over the periodic models with deadlines; NAN without any. */
double mer_bandwidth_xr_score(const MerBandwidthState *state, const MerBandwidthTimes *times,
                              MerArena *scratch);

/* The score that the published runtime reaches with whole inferences at no-stall latency (`xr=compat`). */
double mer_bandwidth_xr_compat(const MerBandwidthState *state);

/* How long each tenant takes alone: the better of fcfs and lpt (docs/bandwidth-model.md, "Metrics"). */
const double *mer_bandwidth_alone(const MerBandwidthState *state, MerArena *arena);
/* STP, ANTT and Jain's index from turnarounds, shared and alone, of the jobs that ran: STP and Jain by the part
 * of the tenant's work that was done, ANTT INFINITY where a tenant had none done. `single`: of one tenant
 * without releases. */
void mer_bandwidth_fill_tenants(const MerBandwidthState *state, const MerBandwidthTimes *times,
                                MerArena *scratch, MerCost *cost);
void mer_bandwidth_fill_single(const MerBandwidthState *state, double cycles, MerCost *cost);
void mer_bandwidth_view_tenants(const MerBandwidthState *state, const MerBandwidthTimes *times,
                                MerArena *scratch, MerNotes *notes);

/* What waits for what, coloured by core; nothing where no job waits (bandwidth_graph.c). */
void mer_bandwidth_view_graph(const MerSchedule *schedule, const MerBandwidthTimes *times,
                              MerArena *arena, MerNotes *notes);
typedef struct MerModelRequests { /* times in seconds, from release to end */
    const char *name;
    int         count, missed, dropped;
    double      p50, p95, p99; /* of those that ended, NAN: none did */
    double      slack;         /* the least of those that have a deadline; NAN: none */
} MerModelRequests;

/* Of each model that has requests. 0 models: none has, or there is no clock. The report and the lines leave out what nobody
 * would look at, one request without a deadline for each. */
const MerModelRequests *mer_bandwidth_requests(const MerSchedule       *schedule,
                                               const MerBandwidthTimes *times, MerArena *arena,
                                               int *count);

void        mer_bandwidth_view_requests(const MerSchedule *schedule, const MerBandwidthTimes *times,
                                        MerArena *arena, MerNotes *notes);
const char *mer_bandwidth_print_requests(const MerSchedule       *schedule,
                                         const MerBandwidthTimes *times, MerArena *arena);

/* Notes for the report: Gantt chart with bandwidth, cycles against bandwidth, tenants. */
void mer_bandwidth_detail(const void *state, const MerPlan *plan, MerNotes *notes);

/* A line for people: how long each core is busy, waits for memory and has nothing to do. */
const char *mer_bandwidth_print(const void *state, const MerPlan *plan, MerArena *arena);

#endif
