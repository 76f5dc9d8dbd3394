/* What `evaluate` is asked to price: plans from a plan file, a MAESTRO network with Dataflows, or
 * Timeloop files. */
#ifndef MERCATOR_CLI_EVALUATE_INPUT_H
#define MERCATOR_CLI_EVALUATE_INPUT_H

#include "base/yaml.h"
#include "mercator/run.h"

enum { MER_EVALUATE_INPUTS = 32 };

typedef struct MerEvaluateRequest {
    int          input_count;
    const char  *inputs[MER_EVALUATE_INPUTS];
    const char  *mapping, *platform, *evaluator, *objective; /* NULL: as the files say */
    MerReference options; /* of the problem: --constraints FILE */
    bool         json, is_help;
} MerEvaluateRequest;

typedef struct MerGiven { /* one task and its plan */
    MerTask     task;
    MerYaml    *body; /* of a plan file, NULL: `plan` is filled */
    MerPlan     plan;
    const char *detail; /* JSON of the evaluator's breakdown, filled by pricing */
} MerGiven;

typedef struct MerEvaluateJob {
    MerRunSpec spec;
    MerArena  *arena;
    int        count;
    MerGiven  *given;
} MerEvaluateJob;

/* Reads the inputs, the platform and the options. `job->arena` is set. */
MerStatus mer_evaluate_open(MerEvaluateJob *job, const MerEvaluateRequest *request,
                            MerError *error);

#endif
