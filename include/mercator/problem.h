/* A problem turns one task (a layer, a group of jobs, a graph) on one platform into a space of knobs,
 * and points of that space into plans. It also knows what no plan can beat.
 * docs/how-to-add-a-problem.md builds one from nothing. */
#ifndef MERCATOR_PROBLEM_H
#define MERCATOR_PROBLEM_H

#include "mercator/graph.h"
#include "mercator/metric.h"
#include "mercator/option.h"
#include "mercator/plan.h"
#include "mercator/platform.h"
#include "mercator/search.h"
#include "mercator/space.h"

#include <stddef.h>

/* What one search works on. Costs of a workload add up over tasks, each `count` times. */
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
    void                  *state;
    const void            *options; /* the class's option struct */
    const MerGraph        *graph;
    const MerPlatform     *platform;
    const MerTask         *task;
    /* asked by the evaluator for what it does not price itself, as the user chose; NULL: nobody */
    const MerEvaluator *inner;
    /* asked whether to stop while a large task is opened; NULL: nobody stops it */
    MerNotes          *notes;
    const MerPlanKind *plan; /* the kind the evaluator prices */
    MerSpace           space;
};

/* What defaults may depend on. Fields that are not known yet are NULL. */
typedef struct MerInputs {
    const MerGraph          *graph;
    const MerPlatform       *platform;
    const MerEvaluatorClass *evaluator;
    const char              *objective; /* that the user asked for */
    bool                     has_fixed_knobs;
    const char              *refused; /* the default optimizer that cannot do what is asked */
    const void              *options; /* of the problem, as the user gave them */
} MerInputs;
typedef enum MerDefault {
    MER_DEFAULT_EVALUATOR, /* this and the next may be plug-in references, `name:key=value` */
    MER_DEFAULT_OPTIMIZER,
    MER_DEFAULT_OBJECTIVE
} MerDefault;

/* A flag of the problem's own on the command line, which stands for options: `--group 3`. */
typedef struct MerFlag { /* a table ends with a NULL name */
    const char *name, *value, *help;
    bool        is_workload; /* its value is one */
} MerFlag;
/* A command line as far as a problem may change it: workloads, and settings of problem, evaluator or run. */
typedef struct MerCommandLine {
    MerArena    *arena;
    MerReference flags; /* the problem's own, as given */
    MerTexts     workloads;
    MerReference settings; /* given by the user; what the flags mean is added here */
} MerCommandLine;

typedef struct MerFixedKnob { /* `--fix tile.K.GLB=3`: the optimizer does not see this knob */
    const char *name;         /* `*` in it stands for any text: all knobs that match */
    double      value;        /* one of the knob's values, or its index if it has none */
    const char *word;         /* the choice by its name (choice_name), where `value` is NaN */
} MerFixedKnob;

/* One task as a run has solved it. */
typedef struct MerPart {
    const MerTask      *task;
    const MerProblem   *problem;
    const MerEvaluator *evaluator;
    const MerPlan      *plan;  /* NULL: nothing feasible was found */
    const MerCost      *cost;  /* of that plan */
    MerBound            bound; /* of the objective; kind "none" if unknown */
    double              gap;   /* NaN if unknown */
    bool                is_proven;
} MerPart;

typedef struct MerWhole {
    MerMetric      objective; /* MER_METRIC_COUNT for an expression */
    int            count;
    const MerPart *parts;
    /* the bound of any metric, as the run knows it */
    MerBound (*bound)(const void *state, int part, MerMetric metric);
    const void *state;
    /* of rounds: the whole by the run's objective, minimised; infinite if a part has no plan */
    double score;
    double value; /* of combine: the whole by the run's objective, as users read it */
} MerWhole;

/* A further round: every task is searched again, with knobs fixed or for another objective. */
typedef struct MerRound {
    const char         *name;      /* for the log */
    const char         *objective; /* NULL: that of the run */
    int                 fixed_count;
    const MerFixedKnob *fixed; /* added to those of the user */
    int                 last;  /* number of the last round, where that is known; 0: it is not */
} MerRound;

/* What `mercator calibrate` asks for: constants of a platform, fitted to measured records. */
typedef struct MerCalibration {
    const char        *records; /* path */
    const MerPlatform *platform;
    MerReference       where; /* members that a record must have: population=A */
    double             prior; /* weight of the squared log distance of constants to usual ones */
    int                folds; /* of the cross-validation; a record is in fold index modulo folds */
    uint64_t           seed;
    int                threads;
} MerCalibration;

typedef struct MerFitRecord {
    int64_t index; /* in the file, from 0 */
    /* seconds: of the record, by the constants before, after, and fitted without the record's fold */
    double measured, before, fitted, held_out;
} MerFitRecord;

typedef struct MerFitConstant {
    const char *path; /* in the platform, "timing.load_row", as mer_platform_read_with takes it */
    double      before, fitted, least; /* least: a bound of the fit */
} MerFitConstant;

typedef struct MerFit { /* in the caller's arena */
    int                   record_count, constant_count;
    const MerFitRecord   *records;
    const MerFitConstant *constants;
    const char           *remark; /* what of the file was not used, NULL: nothing to say */
} MerFit;

struct MerProblemClass {
    const char *name, *summary;
    const char *evaluator, *optimizer, *objective, *platform; /* defaults of the verb */
    const char *exact;     /* what `--optimizer exact` stands for; NULL: nothing yet */
    const char *subset;    /* the option that says which tasks to take; NULL: none */
    const char *plan_file; /* "mapping.yaml"; NULL: plans are not written */
    int64_t     budget;
    bool        counts_distinct; /* plans that were priced before cost no budget (`--count auto`) */
    unsigned    platforms;       /* bit per MerPlatformKind; 0: it needs none */
    const MerPlanKind *const
                    *plans; /* those it makes, ends with NULL; the first that fits is taken */
    const MerOption *options;
    size_t           options_size, state_size;
    /* Fills state and space; what it allocates lives in `arena`. */
    MerStatus (*open)(MerProblem *problem, MerArena *arena, MerError *error);
    /* Every point decodes; the plan lives in `arena`. Thread-safe. */
    void (*decode)(const MerProblem *problem, const MerIndex *point, MerPlan *plan,
                   MerArena *arena);
    /* false: no point says this */
    bool (*encode)(const MerProblem *problem, const MerPlan *plan, MerIndex *point);
    /* What no plan can beat under the evaluator's `rules` (MerEvaluatorClass.rules, never NULL here);
     * kind "none" if unknown. */
    void (*bound)(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *bound);

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
    /* The plan that costs are told as shares of; it lives in `arena`. Absent: there is none. */
    void (*reference)(const MerProblem *problem, MerPlan *plan, MerArena *arena);
    /* A default that depends on the input; NULL, or the slot absent: the field above. */
    const char *(*choose_default)(MerDefault what, const MerInputs *inputs);
    /* Flags of its own and what they mean. MER_UNSUPPORTED: they do not go together. */
    const MerFlag *flags;
    MerStatus (*take_flags)(MerCommandLine *line, MerError *error);
    /* Several workloads of a command line as one, by a name that importers know; `options`: those of the problem
     * that the user gave. Absent: they are separate runs. */
    MerStatus (*join)(const MerTexts *workloads, const MerReference *options, const char **joined,
                      MerArena *arena, MerError *error);
    /* Inputs that are drawn at random get the run's seed, unless the options have one of their own. */
    void (*take_seed)(void *options, uint64_t seed);
    /* Points of another task of this problem become points of this one: for each knob of `problem`
     * the knob of the other task whose choice it takes (`--warm`, `--warm-match`). `other` is NULL
     * where only its number of knobs is known. Absent: only tasks with the same space are of use. */
    bool (*can_carry)(const MerProblem *problem);
    MerStatus (*carry)(const MerProblem *problem, const MerSpace *other, int other_knobs,
                       MerMatch match, int *from, MerArena *arena, MerError *error);
    /* Points for this task from the log of another tool (`--warm FILE`), best first, in `arena`. `remark`: what
     * the user should know of the log, said once for all tasks; NULL: nothing. MER_UNSUPPORTED: not a
     * log it knows. */
    MerStatus (*read_log)(const MerProblem *problem, const char *path, MerIndex **points,
                          int *count, const char **remark, MerArena *arena, MerError *error);
    /* Fits constants of a platform of the kinds above to records of measurements (`mercator calibrate`). */
    MerStatus (*calibrate)(const MerCalibration *request, MerFit *fit, MerArena *arena,
                           MerError *error);
    /* The graph that a plan file carries itself, made of its `tasks`, one operator per task, and the
     * options that they imply. Absent: the workload that the file names is read again. */
    MerStatus (*read_graph)(MerYaml *tasks, MerGraph **graph, MerReference *implied,
                            MerArena *arena, MerError *error);
    /* After the metric table's rules: what adds up in another way, and the bound of the whole. */
    void (*combine)(const MerWhole *whole, MerCost *total, MerBound *bound);
    /* Further rounds over all tasks at most, unless the user says otherwise (`--rounds`). */
    int rounds;
    /* What to search after `done` rounds, the first included; false: nothing more. `rounds` has the
     * parts of every round. */
    bool (*next_round)(const MerWhole *rounds, int done, MerRound *round, MerArena *arena);
    /* What the first round is to keep fixed; false, or absent: nothing. The parts of `whole` have no plans. */
    bool (*first_round)(const MerWhole *whole, MerRound *round, MerArena *arena);
    /* Share of a task's budget for round `round`, the first is 0, where `further` rounds follow the first at most;
     * absent: each round has all of it. */
    double (*round_share)(const MerProblem *problem, int round, int further);
    /* Which round's answer each task takes, into `pick` (preset: the last round); absent: the best by
     * the objective of the run, task by task. */
    void (*pick_rounds)(const MerWhole *rounds, int done, int *pick);
    /* Which plans the space has, where it leaves some out that could be better: "perfect factors". What
     * is said of bounds and proofs holds among these. NULL, or the slot absent: it has all. */
    const char *(*covers)(const MerProblem *problem);
    /* What the user fixed, as it was understood: newline-terminated text in `arena`, NULL if nothing. */
    const char *(*constraints)(const MerProblem *problem, MerArena *arena);
    /* What a choice of a knob means in words, NULL: what its value says; for lists of knobs. */
    const char *(*choice_name)(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena);
    /* What the user should know of the opened task before a search for `objective` (MER_METRIC_COUNT: an
     * expression), under the evaluator's `rules` (NULL: unknown): one line each in `arena`, NULL if
     * nothing. */
    const char *(*warnings)(const MerProblem *problem, const void *rules, MerMetric objective,
                            MerArena *arena);
    /* Lines for people about the costs of one task or, `is_total`, of several: newline-terminated text
     * in `arena`, NULL if there is nothing to say. */
    const char *(*print_costs)(const MerCost *cost, bool is_total, MerArena *arena);
    /* The answer as a whole for people: newline-terminated text in `arena`, NULL if there is nothing to
     * say. */
    const char *(*describe)(const MerWhole *whole, MerArena *arena);
    /* What a user can do about a refusal, one line in `arena` without its end; NULL: no idea. */
    const char *(*advise)(const char *reason, MerArena *arena);
    /* Is this workload, by its name or path alone, made for this problem? */
    bool (*claims)(const char *workload, MerArena *arena);
    /* Built-in workloads for tuning an optimizer, ends with NULL: without a word from the user the
     * first half trains, the rest tests. NULL: none. */
    const char *const *samples;
    /* What `mercator demo` runs: arguments of the verb, and a sentence about them. */
    const char *demo, *demo_summary;
    void (*close)(MerProblem *problem);
};

#endif
