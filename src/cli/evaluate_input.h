/* What `evaluate` is asked to price: plans from a plan file, or from files of another tool that a registered
 * reader knows. */
#ifndef MERCATOR_CLI_EVALUATE_INPUT_H
#define MERCATOR_CLI_EVALUATE_INPUT_H

#include "mercator/export.h"
#include "mercator/run.h"
#include "mercator/yaml.h"

enum { MER_EVALUATE_INPUTS = 32 };

typedef struct MerEvaluateRequest {
    int         input_count;
    const char *inputs[MER_EVALUATE_INPUTS];
    const char *plan_file, *platform, *evaluator, *objective; /* NULL: as the files say */
    const char *workload; /* of a plan that does not carry it; NULL: as the file says */
    /* of the problem: --constraints FILE; or of the evaluator: --share maxmin */
    MerReference options;
    int          dim_count;
    const char  *dims[MER_EVALUATE_INPUTS]; /* NAME=SIZE, of a workload that is read again */
    int          export_count;
    const char  *exports[MER_EVALUATE_INPUTS]; /* NAME=FILE */
    bool         json, is_help;
    /* a flag of an inspector: numbers instead of plans; NULL: none */
    const MerInspectorClass *inspector;
    const char              *kind;
} MerEvaluateRequest;

typedef struct MerEvaluation {
    MerRunSpec    spec;
    MerArena     *arena;
    int           count;
    MerGivenPlan *given;
} MerEvaluation;

typedef struct MerEvaluateNames { /* of plug-ins, as the files say; NULL: not said */
    const char *problem, *platform, *evaluator, *objective;
} MerEvaluateNames;

/* Fills the run's problem, evaluator, their options and the platform; the request wins over `names`. */
MerStatus mer_evaluate_plugins(MerEvaluation *evaluation, const MerEvaluateRequest *request,
                               const MerEvaluateNames *names, MerError *error);

/* The keys platform, evaluator and objective of a file of ours, as experiment files say them. */
MerStatus mer_evaluate_names(MerYaml *root, const MerEvaluateRequest *request,
                             MerEvaluateNames *names, MerArena *arena, MerError *error);

/* `node`, a map or NULL: the options of the run that wrote the plan; those of the command line win. */
MerStatus mer_evaluate_join_options(const MerYaml *node, const MerReference *given,
                                    MerReference *all, MerArena *arena, MerError *error);

/* A plan file (`mercator-plan/1`); a key nobody knows is an error. */
MerStatus mer_evaluate_open_plan(MerEvaluation *evaluation, const MerEvaluateRequest *request,
                                 MerYaml *root, MerError *error);

/* Reads the inputs, the platform and the options. `evaluation->arena` is set. */
MerStatus mer_evaluate_open(MerEvaluation *evaluation, const MerEvaluateRequest *request,
                            MerError *error);

#endif
