/* Deadlines of an opened `schedule`: what was missed, and what no schedule can meet. */
#ifndef MERCATOR_SCHEDULE_JOBS_SCHEDULE_DEADLINES_H
#define MERCATOR_SCHEDULE_JOBS_SCHEDULE_DEADLINES_H

#include "schedule/schedule.h"

/* Metrics that deadlines decide: miss_rate, drop_rate, violations, tardiness, lateness and xr_score. */
bool mer_schedule_is_about_deadlines(MerMetric metric);

/* One more than the highest request of any model, at least 1. */
int mer_schedule_requests_per_model(const MerSchedule *schedule);

/* For the field `request_number`, from models and requests. */
const int *mer_schedule_number_requests(const MerSchedule *schedule, MerArena *arena);

typedef struct MerServed { /* what became of (a part of) a request; a single job is one, too */
    /* equal for the parts of one request, in all tasks of a run; -1: it has no other part */
    int64_t number;
    int     job;                    /* its first one */
    double  weight;                 /* of its tenant */
    double  release, deadline, end; /* cycles: the first of each, the last end */
    double  late;                   /* the largest end - deadline of its jobs; -INFINITY: none */
    bool    is_due;                 /* it has a deadline */
    bool    is_dropped;             /* one of its jobs never ended */
} MerServed;
/* By job when it ended, NAN: never. Gives the number of requests. */
int mer_schedule_serve(const MerSchedule *schedule, const double *end, MerArena *arena,
                       MerServed **requests);

/* Whether it has a deadline and was late or dropped. */
static inline bool mer_served_is_missed(const MerServed *request)
{
    return request->is_due && (request->is_dropped || request->late > 0);
}
/* Cycles left before the deadline, below 0 if it was late; INFINITY without one. 0 is never -0. */
static inline double mer_served_slack(const MerServed *request)
{
    return 0 - request->late;
}
/* What all requests say of the service (docs/bandwidth-model.md, "Metrics"): miss_rate, drop_rate, violations,
 * tardiness and lateness, the latter two in seconds; without a clock (NAN) neither. */
void mer_schedule_fill_service(const MerServed *requests, int count, double clock_hz,
                               MerCost *cost);

/* Of tardiness, violations, miss_rate or drop_rate: "earliest-ends", or "zero" where nothing has to be late; of
 * lateness none. */
MerBound mer_schedule_bound_lateness(const MerSchedule *schedule, const MerScheduleRules *rules,
                                     MerMetric metric);

#endif
