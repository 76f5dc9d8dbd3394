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
    double  weight;     /* of its tenant */
    double  late;       /* cycles: the largest end - deadline of its jobs; -INFINITY: none */
    bool    is_due;     /* it has a deadline */
    bool    is_dropped; /* one of its jobs never ended */
} MerServed;
/* By job when it ended, NAN: never. Gives the number of requests. */
int mer_schedule_serve(const MerSchedule *schedule, const double *end, MerArena *arena,
                       MerServed **requests);

typedef struct MerService { /* over whole requests (docs/bandwidth-model.md, "Metrics") */
    double miss_rate;       /* of those with a deadline the share late or dropped */
    double drop_rate;       /* of all */
    double violations;      /* weighted count of those late or dropped */
    double tardiness;       /* cycles, weighted; those dropped have none */
    double latest;          /* cycles, may be negative; NAN: none with a deadline ended */
} MerService;
MerService mer_schedule_service(const MerServed *requests, int count);
/* As metrics; without a clock (NAN) neither tardiness nor lateness. */
void mer_schedule_fill_service(const MerServed *requests, int count, double clock_hz,
                               MerCost *cost);

/* Of tardiness, violations, miss_rate or drop_rate: "earliest-ends", or "zero" where nothing has to be late; of
 * lateness none. */
MerBound mer_schedule_bound_lateness(const MerSchedule *schedule, const MerScheduleRules *rules,
                                     MerMetric metric);

#endif
