/* Many runs of one study: optimizers against each other on many tasks, from the logs alone.
 *
 *     MerStudy study;
 *     if (mer_study_read(directories, count, arena, &study, &error) == MER_OK)
 *         mer_study_markdown(&study, &options, stdout, arena);
 */
#ifndef MERCATOR_REPORT_STUDIES_STUDY_H
#define MERCATOR_REPORT_STUDIES_STUDY_H

#include "mercator/json.h"
#include "mercator/option.h"
#include "report/pages/run_reader.h"

#include <stdio.h>

typedef struct MerStudyFact { /* a number or a warning among the views of an optimizer */
    const char *view, *name;
    double      value; /* NaN: a warning */
} MerStudyFact;

typedef struct MerStudyTrace { /* one task of one run */
    uint64_t       seed;
    int64_t        samples;  /* evaluations of the task */
    int64_t        until;    /* as many tell what it had: more where it ended by itself */
    bool           is_ended; /* by itself, and not by its budget or the clock */
    MerReportCurve curve;    /* its improvements */
    double         wall_s;   /* of the run, shared equally among its tasks */
    /* what the optimizer showed of itself */
    const MerStudyFact *facts;
    int                 fact_count;
} MerStudyTrace;

typedef struct MerStudyCell { /* one method on one task, all seeds */
    int            count;
    MerStudyTrace *traces;
} MerStudyCell;

typedef struct MerStudyTask {
    const char *workload, *name; /* name: without the parts that say nothing */
    const char *full_name;
    double      macs, log10_size;
    int         knobs;
    double      best; /* least score any run found */
    const char *best_by;
    bool        is_proven; /* no plan is better */
} MerStudyTask;

typedef struct MerStudyMethod {
    const char *name; /* optimizer with the options that are not defaults */
} MerStudyMethod;

typedef struct MerStudyGroup { /* what can be compared: one cost model, platform and objective */
    const char     *title, *objective, *unit;
    int             task_count, method_count;
    int             hopeless; /* tasks left out, since no run found a feasible plan for them */
    const char     *exact;    /* methods left out, since they proved all their tasks; NULL: none */
    MerStudyTask   *tasks;
    MerStudyMethod *methods;
    MerStudyCell   *cells; /* (tasks, methods) */
} MerStudyGroup;

typedef struct MerStudy {
    int            group_count, run_count, unfinished; /* unfinished runs are left out */
    MerStudyGroup *groups;
} MerStudy;

typedef struct MerStudyOptions {
    /* samples are counted to this method's final quality; NULL: the first method */
    const char *reference;
    const char *baseline; /* NULL: random, if it was run */
    int         at_count;
    int64_t     at[8]; /* quality after so many samples */
} MerStudyOptions;

typedef struct MerStudyTable {
    const char  *id, *title, *caption;
    int          columns, row_count, cell_count;
    const char **titles; /* a title that starts with `>` makes a column of numbers */
    const char **cells;
} MerStudyTable;

enum { MER_STUDY_TABLES = 32 };

/* The options a plug-in knows; kind is "problem", "evaluator" or "optimizer". Options with their default
 * value are left out of names. */
typedef struct MerStudyPlugin {
    const MerOption *options; /* NULL: none, or no such plug-in */
    size_t           size;
    const MerPreset *presets; /* NULL: none */
    bool proves; /* a problem's exact solver: it does not compete where it tells the optimum */
    const char *subset; /* option that says which tasks, not how; NULL: none */
} MerStudyPlugin;
typedef MerStudyPlugin (*MerStudyLookup)(const char *kind, const char *name);

/* `paths`: run directories, or directories of run directories. */
MerStatus mer_study_read(const char *const *paths, int count, MerStudyLookup lookup,
                         MerArena *arena, MerStudy *study, MerError *error);
/* Fills at most MER_STUDY_TABLES tables and gives their number. A name in `options` that no method has is an error. */
MerStatus mer_study_tables(const MerStudyGroup *group, const MerStudyOptions *options,
                           MerArena *arena, MerStudyTable *tables, int *count, MerError *error);

MerStatus mer_study_text(const MerStudy *study, const MerStudyOptions *options, bool is_markdown,
                         FILE *file, MerArena *arena, MerError *error);
/* An object {groups: [{title, objective, unit, tasks, methods, tables, curves}]}; numbers of curves are ratios. */
MerStatus mer_study_json(const MerStudy *study, const MerStudyOptions *options, const char **text,
                         MerArena *arena, MerError *error);
/* Best so far over the best known against samples: median of the tasks, and the middle half as a band. */
MerStatus mer_study_svg(const MerStudyGroup *group, const char *path, MerArena *arena,
                        MerError *error);

#endif
