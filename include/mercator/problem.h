/* A problem turns one task (a layer, a group of jobs, a graph) on one platform into a space of knobs,
 * and points of that space into plans. It also knows what no plan can beat. */
#ifndef MERCATOR_PROBLEM_H
#define MERCATOR_PROBLEM_H

#include "mercator/metric.h"
#include "mercator/option.h"
#include "mercator/plan.h"
#include "mercator/platform.h"
#include "mercator/search.h"
#include "mercator/space.h"

#include <stddef.h>

typedef struct MerJson MerJson; /* base/json.h */
typedef struct MerYaml MerYaml; /* base/yaml.h */

/* What one search works on. Costs of a network add up over tasks, each `count` times. */
typedef struct MerTask {
    const char *name;
    int64_t     count;
    double      macs;
    int         op; /* operator of the graph, -1 if the task is not one operator */
    /* cycles from the start of the first task to that of this one; INFINITY: not known yet;
     * 0 where tasks do not follow each other */
    double start;
    /* what the problem keeps for all tasks of the list, in its arena; NULL: nothing */
    void *shared;
} MerTask;

struct MerProblem {
    const MerProblemClass *type;
    void                  *state;   /* NULL while an inner evaluator opens */
    const void            *options; /* the class's option struct */
    const MerGraph        *graph;
    const MerPlatform     *platform;
    const MerTask         *task;
    const MerEvaluator    *inner; /* NULL if none */
    /* prices one layer on one core (problem/layer_pricer.h); NULL: nobody */
    const struct MerLayerPricer *pricer;
    /* asked whether to stop while a large task is opened; NULL: nobody stops it */
    MerNotes   *notes;
    MerPlanKind plan; /* the kind the evaluator prices */
    MerSpace    space;
};

/* What a run hands to export_files: the best plans of its tasks, those without one left out. */
typedef struct MerExportTask {
    const MerProblem *problem;
    const MerPlan    *plan;
    const MerCost    *cost;
    const MerBound   *bound;
    double            gap; /* NaN if unknown */
    bool              is_proven;
    /* JSON object of the evaluator's notes on the plan, NULL if it has none */
    const char *detail;
} MerExportTask;
typedef struct MerExport {
    /* evaluator: with the options that were changed */
    const char          *workload, *evaluator, *objective;
    int                  count;
    const MerExportTask *tasks;
} MerExport;
typedef struct MerExportFile {
    const char *name, *text;
} MerExportFile;
enum { MER_MAX_EXPORTS = 8 };

struct MerProblemClass {
    const char *name, *summary;
    const char *evaluator, *optimizer, *objective, *platform; /* defaults of the verb */
    /* other defaults by kind of plan; NULL: `optimizer` */
    const char *optimizer_of[MER_PLAN_KIND_COUNT];
    /* in place of `optimizer` where that cannot work with fixed knobs; NULL: none */
    const char      *optimizer_fixed;
    const char      *exact;     /* what `--optimizer exact` stands for; NULL: nothing yet */
    const char      *plan_file; /* "mapping.yaml" */
    int64_t          budget;
    unsigned         platforms; /* bit per MerPlatformKind */
    unsigned         plans;     /* bit per MerPlanKind it can make */
    const MerOption *options;
    size_t           options_size, state_size;
    /* Fills state and space; what it allocates lives in `arena`. */
    MerStatus (*open)(MerProblem *problem, MerArena *arena, MerError *error);
    /* Every point decodes; the plan lives in `arena`. Thread-safe. */
    void (*decode)(const MerProblem *problem, const MerIndex *point, MerPlan *plan,
                   MerArena *arena);
    /* false: no point says this */
    bool (*encode)(const MerProblem *problem, const MerPlan *plan, MerIndex *point);
    /* kind "none" if unknown */
    void (*bound)(const MerProblem *problem, MerMetric metric, MerBound *bound);

    /* optional */
    /* The tasks of a workload; absent: one task, the whole graph. `problem` has no state yet. */
    MerStatus (*tasks)(const MerProblem *problem, MerArena *arena, const MerTask **tasks,
                       int *count, MerError *error);
    /* Is the opened task another one once `start` is known? Then it is opened again before its search. */
    bool (*depends_on_start)(const MerProblem *problem);
    /* cheap: false = would be infeasible */
    bool (*is_legal)(const MerProblem *problem, const MerIndex *point);
    /* equal plans become equal; used for the memo */
    void (*canonical)(const MerProblem *problem, MerPlan *plan);
    MerStatus (*trainable)(const MerProblem *problem, MerTrainable *trainable, MerError *error);
    /* The body of a task in a plan file (keys of an open JSON object), and back. Absent: points only. */
    void (*write_plan)(const MerProblem *problem, const MerPlan *plan, MerJson *json);
    MerStatus (*read_plan)(const MerProblem *problem, const MerYaml *body, MerPlan *plan,
                           MerArena *arena, MerError *error);
    /* The plan for people (loop nest, queues, ...), newline-terminated text in `arena`. */
    const char *(*print_plan)(const MerProblem *problem, const MerPlan *plan, MerArena *arena);
    /* What the user fixed, as it was understood: newline-terminated text in `arena`, NULL if nothing. */
    const char *(*constraints)(const MerProblem *problem, MerArena *arena);
    /* What a choice of a knob means in words, NULL: what its value says; for lists of knobs. */
    const char *(*choice_name)(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena);
    /* What the user should know of the opened task before a search for `objective` (MER_METRIC_COUNT: an
     * expression): one line each in `arena`, NULL if nothing. */
    const char *(*warnings)(const MerProblem *problem, MerMetric objective, MerArena *arena);
    /* Files for other tools beside the plan file, made of at least one plan; gives how many. */
    int (*export_files)(const MerExport *what, MerExportFile files[MER_MAX_EXPORTS],
                        MerArena *arena);
    void (*close)(MerProblem *problem);
};

#endif
