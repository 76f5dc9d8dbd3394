/* Jobs: what `schedule` places on cores. A job is one layer of one network at one mini-batch, an operator
 * of the graph with an owner, a release, a deadline and jobs it waits for. Importers of job files attach a
 * MerJobSet to the graph; a graph without one has one job per layer. */
#ifndef MERCATOR_SCHEDULE_JOBS_JOB_SET_H
#define MERCATOR_SCHEDULE_JOBS_JOB_SET_H

#include "mercator/graph.h"

#include <stdbool.h>
#include <stdint.h>

enum { MER_JOBS_MAX = 1000000 }; /* of a set */

typedef struct MerTenant {
    const char *name;
    double      weight; /* > 0 */
} MerTenant;

typedef struct MerJobModel { /* one network; a periodic one sends requests over time */
    const char *name;
    int         tenant;
    double      fps;         /* requests per second; 0: not periodic */
    double      probability; /* that a request exists; the job set has all of them */
    int         after_count;
    const int  *after; /* models whose request i comes before request i of this one */
} MerJobModel;

/* A release or deadline is the sum of both units: cycles, and seconds by the platform's clock. */
typedef struct MerJob {
    const char *name;    /* "cam.3", unique */
    int         op;      /* operator of the graph, */
    int         images;  /* run for this many times its batch (rows of a product) at once, >= 1 */
    int         model;   /* -1: a single job */
    int         request; /* of a periodic model; else the mini-batch */
    int         tenant;
    int         group; /* as the file says; -1: cut by the grouping rule */
    int         row;   /* of a table file; -1: none */
    double      release_cycles, release_s;
    double      deadline_cycles, deadline_s; /* INFINITY: none */
    int         after_count;
    const int  *after; /* jobs, acyclic */
} MerJob;

typedef struct MerJobSet {
    int                job_count, model_count, tenant_count, group_count;
    const MerJob      *jobs;
    const MerJobModel *models;
    const MerTenant   *tenants;     /* at least one */
    const char *const *group_names; /* of the file's groups: "mix:0" */
    int                group_size;  /* for the grouping rule; 0: everything is one group */
    bool               is_shuffled; /* ready jobs are taken in random order, by `shuffle_seed` */
    uint64_t           shuffle_seed;
    double             horizon_s; /* of periodic models */
} MerJobSet;

/* The jobs that an importer attached to the graph; NULL: none. */
#define MER_JOB_SET "jobs"

static inline const MerJobSet *mer_job_set(const MerGraph *graph)
{
    return mer_graph_attachment(graph, MER_JOB_SET);
}

/* The same set with other jobs, in `arena`; keeps `jobs`. */
static inline const MerJobSet *mer_job_set_with(const MerJobSet *set, const MerJob *jobs, int count,
                                                MerArena *arena)
{
    MerJobSet *made = MER_NEW(arena, MerJobSet);
    *made = *set;
    made->jobs = jobs;
    made->job_count = count;
    return made;
}

#endif
