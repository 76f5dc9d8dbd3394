/* Who waits for whom among jobs, both ways, and an order in which nobody comes before those it waits for. */
#ifndef MERCATOR_SCHEDULE_JOBS_JOB_LINKS_H
#define MERCATOR_SCHEDULE_JOBS_JOB_LINKS_H

#include "schedule/jobs/job_set.h"

/* Predecessors of job j: before[before_start[j]] .. before[before_start[j + 1] - 1]; successors likewise. */
typedef struct MerJobLinks {
    const int *before_start, *before, *after_start, *after;
} MerJobLinks;

/* Among `count` of the jobs, those that `chosen` lists, by their places in it; NULL: the first ones. */
MerJobLinks mer_job_links(const MerJob *jobs, const int *chosen, int count, MerArena *arena);

/* Jobs with predecessors first; gives their number. Those that wait in a circle are left out, and `missing` is
 * how many each job waits for that are. */
int mer_job_order(const MerJobLinks *links, int count, int *missing, int *order);

#endif
