/* Reading `mercator-jobs/1`: what its files share. */
#ifndef MERCATOR_SCHEDULE_JOBS_JOBS_READER_H
#define MERCATOR_SCHEDULE_JOBS_JOBS_READER_H

#include "base/name_table.h"
#include "schedule/jobs/jobs_import.h"
#include "schedule/jobs/schedule_jobs.h"

typedef struct MerJobsNetwork { /* one entry of `models` */
    MerYaml    *node;
    const char *name;
    int         tenant;
    int64_t     batch, mini_batch;
    double      fps, probability;
    bool        has_deadline; /* the end of the period */
    int         deadline_count;
    double
        *deadlines_ms; /* after the release: of request i, the last one of all further requests */
    MerLayerOrder layers;  /* operators are those of the joint graph */
    bool         *is_last; /* by layer: none waits for it */
    int           request_count;
    int          *first_job; /* of each request */
    int           after_count;
    int          *after; /* networks */
} MerJobsNetwork;

typedef struct MerJobsReader {
    const MerImportFile    *file;
    const MerImportOptions *options;
    MerArena               *arena;
    MerJobBuilder           builder;
    MerJobsNetwork         *networks;
    int                     network_count;
    MerNameTable            tenants; /* the node that gave each tenant its weight */
    MerNameTable            jobs;    /* name to int: which job */
    double                  horizon_s;
} MerJobsReader;

/* One entry of `models` with the layers of its file (jobs_network.c). */
MerStatus mer_jobs_read_network(MerJobsReader *reader, MerYaml *node, MerJobsNetwork *network,
                                MerError *error);
/* The tenant of that name; a weight may be given once, or again the same (jobs_network.c). */
MerStatus mer_jobs_read_tenant(MerJobsReader *reader, MerYaml *node, const char *fallback,
                               int *tenant, MerError *error);

/* Jobs of all requests of all networks, predecessors first (jobs_request.c). */
MerStatus mer_jobs_add_requests(MerJobsReader *reader, MerError *error);
/* Adds a job whose name nobody has yet; `node` is where it comes from. */
/* A text that is not empty. */
MerStatus mer_jobs_read_name(const MerYaml *node, const char **name, MerError *error);
MerStatus mer_jobs_add_named(MerJobsReader *reader, const MerYaml *node, const MerJob *job,
                             MerError *error);

/* The list `jobs`; `after` may name jobs further down (jobs_single.c). */
MerStatus mer_jobs_read_single(MerJobsReader *reader, MerYaml *list, MerError *error);

#endif
