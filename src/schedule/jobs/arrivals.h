/* When requests arrive, beyond what a job file says: faster or slower, at random, or late by chance. */
#ifndef MERCATOR_SCHEDULE_JOBS_ARRIVALS_H
#define MERCATOR_SCHEDULE_JOBS_ARRIVALS_H

#include "schedule/schedule.h"

typedef enum MerArrivalProcess { MER_ARRIVALS_FILE, MER_ARRIVALS_POISSON } MerArrivalProcess;

typedef struct MerArrivals {
    int     process;
    double  rate;      /* arrivals per time, as a multiple of the file's */
    double  jitter_ms; /* a request comes up to this much later; its deadline stays */
    int64_t seed;      /* of the draws */
} MerArrivals;

/* Sets releases and deadlines of the requests of periodic models anew; how many there are at this rate is decided
 * before (mer_schedule_scale_requests). A deadline keeps its distance to the
 * arrival that the process gives, at any rate. Poisson: gaps are exponential with the mean of the period;
 * models that wait for others of the same rate arrive with them. */
void mer_arrivals_apply(const MerArrivals *arrivals, MerSchedule *schedule, MerArena *arena);

#endif
