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

/* The share of requests with a deadline that end after it or never (NAN in `end`, by job); a single job is a
 * request. */
double mer_schedule_miss_rate(const MerSchedule *schedule, const double *end, MerArena *scratch);

typedef struct MerLateness { /* over the jobs with deadlines */
    double tardiness;        /* cycles, weighted; jobs that never end have none */
    double violations;       /* weighted count of those late or never ended */
    double latest;           /* cycles, may be negative; -INFINITY: none ended */
} MerLateness;
MerLateness mer_schedule_lateness(const MerSchedule *schedule, const double *end);

/* Of tardiness, violations, miss_rate or drop_rate: "earliest-ends", or "zero" where nothing has to be late; of
 * lateness none. */
MerBound mer_schedule_bound_lateness(const MerSchedule *schedule, const MerScheduleRules *rules,
                                     MerMetric metric);

#endif
