/* From a workload to groups of jobs that are searched together (docs/scheduling.md, "Inputs"). */
#ifndef MERCATOR_SCHEDULE_JOBS_SCHEDULE_JOBS_H
#define MERCATOR_SCHEDULE_JOBS_SCHEDULE_JOBS_H

#include "mercator/graph.h"
#include "mercator/option.h"
#include "schedule/jobs/job_set.h"

typedef enum MerJobDependencies {
    MER_DEPENDENCIES_GRAPH,
    MER_DEPENDENCIES_CHAIN,
    MER_DEPENDENCIES_NONE
} MerJobDependencies;

typedef struct MerJobOptions { /* of a network without a job file */
    int                batch, mini_batch;
    MerJobDependencies dependencies;
} MerJobOptions;

typedef struct MerLayerOrder { /* layers with multiplications, and which others each waits for */
    int count, *ops, *before_count, **before;
} MerLayerOrder;
MerLayerOrder mer_layer_order(const MerGraph *graph, MerJobDependencies dependencies,
                              MerArena *arena);

/* The graph's own job set, or one job per layer with multiplications and mini-batch. */
MerStatus mer_schedule_jobs(const MerGraph *graph, const MerJobOptions *options, MerArena *arena,
                            const MerJobSet **set, MerError *error);

/* With `rate` times as many requests of periodic models over the same time, at least one each: released by the
 * shorter period, with deadlines at the same distance. `name`: of the workload, for errors. */
MerStatus mer_schedule_scale_requests(const char *name, const MerJobSet *set, double rate,
                                      MerArena *arena, const MerJobSet **scaled, MerError *error);

/* Deadlines from the command line: "20" for every request of every model, "NAME=20" for those of one, in milliseconds after
 * the release. */
MerStatus mer_schedule_set_deadlines(const MerJobSet *set, const MerTexts *given, MerArena *arena,
                                     const MerJobSet **changed, MerError *error);

/* The jobs whose requests exist: those with a probability below 1 are drawn by `seed`. `name`: of the workload,
 * for errors. */
MerStatus mer_schedule_draw_requests(const char *name, const MerJobSet *set, uint64_t seed,
                                     MerArena *arena, const MerJobSet **drawn, MerError *error);

typedef struct MerJobGroups { /* group g has jobs[start[g]] .. jobs[start[g+1]-1] */
    int          count;
    const char **names;
    int         *start, *jobs;
} MerJobGroups;

typedef struct MerGroupTimes {    /* what the rule knows of time, if jobs come later than at 0 */
    const double *release, *macs; /* by job: cycles, and multiplications */
    double        macs_per_cycle, core_macs_per_cycle; /* at most: of the platform, of one core */
} MerGroupTimes;

/* The groups of the file; else, with a size, those of the host's rule: ready jobs are taken round robin
 * over networks and mini-batches until the group is full (the next group goes on with the stream whose turn
 * it is), no job of a group waits for another of it, and groups run one after the other, so that a job is
 * ready when those it waits for are in earlier groups; else one group of everything. `size` 0: as the job
 * set says. `times` NULL: all jobs are there at 0; else a job is not ready, either, before it has come by the
 * time that the groups before must take, unless the group would be empty or has all others. */
void mer_schedule_groups(const MerGraph *graph, const MerJobSet *set, int size,
                         const MerGroupTimes *times, MerArena *arena, MerJobGroups *groups);
/* The host's rule alone (schedule_cut.c). */
void mer_schedule_cut(const MerJobSet *set, int size, const MerGroupTimes *times, MerArena *arena,
                      MerJobGroups *groups);

/* Drops the groups that `select` does not name: "mix:0", "mix:0-9", "mix", or numbers "0,2-4". */
MerStatus mer_schedule_select(MerJobGroups *groups, const char *select, MerError *error);

#endif
