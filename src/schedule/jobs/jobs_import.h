/* Workloads of jobs: files that become a graph of layers with a job set (job_set.h). */
#ifndef MERCATOR_SCHEDULE_JOBS_JOBS_IMPORT_H
#define MERCATOR_SCHEDULE_JOBS_JOBS_IMPORT_H

#include "mercator/import.h"
#include "mercator/option.h"
#include "mercator/yaml.h"
#include "schedule/jobs/job_set.h"

extern const MerImporterClass mer_importer_jobs;    /* mercator-jobs/1 YAML */
extern const MerImporterClass mer_importer_m3e;     /* m3e-benchmark/1 JSON, M3E instruction CSV */
extern const MerImporterClass mer_importer_xrbench; /* xrbench-scenarios/1 JSON */

/* Jobs in the making. Indices are stable; arrays grow in the arena. */
typedef struct MerJobBuilder {
    MerGraph    *graph;
    MerJob      *jobs;
    MerJobModel *models;
    MerTenant   *tenants;
    const char **groups;
    MerJobSet    set; /* their numbers, and the other fields */
    /* where jobs from `first_single` on stand in the file, for messages; NULL: unknown */
    const MerYaml *singles;
    int            first_single;
} MerJobBuilder;

MerJobBuilder mer_jobs_begin(const char *name, const char *format, MerArena *arena);
int           mer_jobs_add(MerJobBuilder *builder, const MerJob *job);
int           mer_jobs_add_model(MerJobBuilder *builder, const MerJobModel *model);
int           mer_jobs_add_group(MerJobBuilder *builder, const char *name);
int mer_jobs_tenant(MerJobBuilder *builder, const char *name, double weight); /* found or added */
/* Adds an operator of a shape that importers know (layers.h); its index. */
int mer_jobs_add_op(MerJobBuilder *builder, const MerOp *op);
/* Finishes the graph and attaches the jobs; a cycle among them is an error that prints it. */
MerStatus mer_jobs_end(MerJobBuilder *builder, const MerImportFile *file, MerGraph **graph,
                       MerError *error);

/* A row K, C, Y, X, R, S, T of the M3E files: T 0 FC, 1 CONV, 2 depthwise, 3 GEMM (docs/scheduling.md,
 * "The forms of M3E and XRBench"). */
bool mer_m3e_op(const int64_t row[7], const char *name, MerOp *op);

/* `synthetic:N:seed`: N layers with the ranges of the public generator. */
bool mer_jobs_is_synthetic(const char *name);
/* Several networks as one workload: the text of a mercator-jobs/1 list, which the importer `jobs` takes for a name.
 * `options`: those of the problem that the user gave; batches and dependencies become part of the text. */
MerStatus mer_jobs_join(const MerTexts *networks, const MerReference *options, const char **text,
                        MerArena *arena, MerError *error);

/* The first scalar of `format:` in a JSON or YAML text, for probes. */
bool mer_jobs_has_format(const MerImportFile *file, const char *format);

#endif
