/* Exporters write the plans of a run as files for other tools. Plan readers are the way back: files of
 * other tools that hold plans, for `mercator evaluate`. Inspectors show such files to people. */
#ifndef MERCATOR_EXPORT_H
#define MERCATOR_EXPORT_H

#include "mercator/evaluator.h"

typedef struct MerExportTask {
    const MerProblem   *problem;
    const MerEvaluator *evaluator;
    const MerPlan      *plan;
    const MerCost      *cost;
    const MerBound     *bound;
    double              gap; /* NaN if unknown */
    bool                is_proven;
    /* JSON object of the evaluator's notes on the plan, NULL if it has none */
    const char *detail;
} MerExportTask;

/* The best plans of a run's tasks, those without one left out. */
typedef struct MerExport {
    /* evaluator: with the options that were changed */
    const char          *workload, *evaluator, *objective;
    int                  count; /* at least 1 */
    const MerExportTask *tasks;
} MerExport;

typedef struct MerExportFile {
    const char *name; /* in the run directory; may have folders, "kernels/conv1.c" */
    const void *data;
    size_t      size;
} MerExportFile;

typedef struct MerExportFiles { /* filled by mer_export_add */
    MerArena      *arena;
    int            count;
    MerExportFile *list;
    char          *text; /* of the stream that is open */
    size_t         size;
} MerExportFiles;

/* Adds a file; `data` is copied. */
void mer_export_add(MerExportFiles *files, const char *name, const void *data, size_t size);
/* A stream, and the file `name` that its text becomes. NULL: no memory, which mer_export_end says. */
FILE     *mer_export_begin(MerExportFiles *files);
MerStatus mer_export_end(MerExportFiles *files, FILE *stream, const char *name, MerError *error);

typedef struct MerExporterClass {
    const char *name, *summary; /* what it writes, and for whom */
    const char *problem;        /* the only one whose plans it knows, by name */
    bool        is_default;     /* written by every run that has a directory */
    bool        is_plan;        /* `mercator evaluate` reads its first file back */
    /* No file: the plans are of a kind it does not write. An error names what cannot be written. */
    MerStatus (*write)(const MerExport *what, MerExportFiles *files, MerError *error);
} MerExporterClass;

/* What a plan reader found: a graph, and one plan or file body per task. */
typedef struct MerReadPlan {
    MerTask  task;
    MerYaml *body; /* of a plan file, read once the problem is open; NULL: `plan` is filled */
    MerPlan  plan;
    /* reads a body of another tool's form into `plan`, which may know something already; NULL: the body is as the
     * plan's kind writes it */
    MerPlanBodyReader read;
} MerReadPlan;

typedef struct MerReadPlans {
    MerArena          *arena;
    int                file_count;
    const char *const *files;
    /* of `plan_file`, else of the only file: read already; NULL: several files, or no YAML */
    MerYaml *root;
    /* from the command line; NULL: as the files say, else as the reader says */
    const char *plan_file, *platform, *evaluator, *objective;
    const char
        *workload; /* from the command line, for plans that do not carry theirs; NULL: none */
    /* filled by the reader; read when it asks for them by `open`, else after it */
    const char *own_platform, *own_evaluator, *own_objective;
    MerYaml *own_options; /* a map of options of the problem; the command line wins; NULL: none */
    /* filled by `open`, may be replaced by the reader; NULL: the problem has none */
    const MerPlatform *machine;
    /* filled by the reader */
    const MerGraph *graph;
    int             count;
    MerReadPlan    *list;
    /* reads `workload`, which must be there, into `graph` */
    MerStatus (*import)(struct MerReadPlans *plans, MerError *error);
    /* reads the platform; `graph` may imply one */
    MerStatus (*open)(struct MerReadPlans *plans, MerError *error);
    /* takes platform, evaluator and objective out of a map of ours */
    MerStatus (*read_names)(struct MerReadPlans *plans, MerYaml *map, MerError *error);
    void *state; /* of the caller */
} MerReadPlans;

typedef struct MerPlanReaderClass {
    const char *name, *summary;
    const char *problem;
    const char *flag; /* of `evaluate`, for the file with the plan; NULL: none */
    /* Are these files of my format? Looks at the content, never fails. */
    bool (*probe)(const MerReadPlans *plans);
    MerStatus (*read)(MerReadPlans *plans, MerError *error);
} MerPlanReaderClass;

/* A file for `mercator inspect` that is neither a network nor a platform, or numbers for a flag of `mercator evaluate`. */
typedef struct MerInspection {
    MerArena   *arena;
    const char *path, *data; /* whole, followed by a 0 byte */
    size_t      size;
    const char *platform; /* `--platform`; NULL: not given */
    const char *kind;     /* what the flag said; NULL: there was none */
    bool        is_json;  /* one JSON object instead of text */
    FILE       *out;
} MerInspection;

typedef struct MerInspectorClass {
    const char *name, *summary;
    const char *endings; /* of names of files, "vta" or "a b" */
    const char
        *flag; /* of `evaluate`: --FLAG KIND FILE, and not of `inspect`; NULL: of `inspect` */
    /* Is this file of my format? Looks at name and content, never fails. */
    bool (*probe)(const MerInspection *file);
    MerStatus (*print)(const MerInspection *file, MerError *error);
} MerInspectorClass;

#endif
