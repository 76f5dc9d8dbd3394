/* The words of `schedule` for its input: --jobs FILE, and --task NAME, --group N, --groups A..B or
 * --scenario NAME for the groups in it. They say what a network without a flag and --select say. */
#ifndef MERCATOR_CLI_JOB_FLAGS_H
#define MERCATOR_CLI_JOB_FLAGS_H

#include "cli/cli.h"
#include "run/experiment/experiment.h"

typedef struct MerJobFlags {
    const char *task, *group, *groups, *scenario; /* NULL: not given */
    const char *repeated;                         /* the flag among these given twice; NULL: none */
    bool        has_jobs, has_network, has_select, has_warm; /* network: without a flag */
} MerJobFlags;

/* Is the flag one of these, of a problem that has them? */
bool mer_job_flags_know(const char *problem, const char *flag);
/* Is this a built-in list of jobs (vision, mix, ..., synthetic:N:SEED) and no network? */
bool mer_job_flags_is_task(const char *workload, MerArena *arena);
/* Keeps what such a flag says until all are known. The file of --jobs is a workload, which the caller adds. */
void mer_job_flags_take(MerJobFlags *flags, const char *flag, const char *value);
/* Notes another flag that may say the same. */
void mer_job_flags_see(MerJobFlags *flags, const char *flag);
/* Sets --select, --warm chain for a stream of groups, and the workload if --task names a built-in one.
 * MER_EXIT_DONE, or the exit code of a message already printed. */
int  mer_job_flags_apply(const MerJobFlags *given, const MerVerb *verb, MerExperiment *experiment);
void mer_job_flags_help(const char *problem);

#endif
