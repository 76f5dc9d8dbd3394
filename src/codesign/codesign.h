/* What solvers, evaluators and exporters may ask an opened `codesign` problem. */
#ifndef MERCATOR_CODESIGN_CODESIGN_H
#define MERCATOR_CODESIGN_CODESIGN_H

#include "codesign/native/kernel.h"
#include "codesign/stream/generate.h"
#include "mercator/evaluator.h"

typedef struct MerVtaPlan { /* the content of a plan of kind `vta` */
    MerVtaCore     core;
    MerVtaSchedule schedule;
} MerVtaPlan;
extern const MerPlanKind mer_plan_vta;

typedef enum MerHardwareMode {
    MER_HARDWARE_SHARED, /* one core for all layers */
    MER_HARDWARE_OWN,    /* every layer may have its own: what no shared one can beat */
    MER_HARDWARE_FIXED   /* that of the platform */
} MerHardwareMode;

typedef enum MerVtaKnob { /* order in points; those without a choice are left out */
                          MER_KNOB_BATCH,
                          MER_KNOB_BLOCK_IN,
                          MER_KNOB_BLOCK_OUT,
                          MER_KNOB_INP,
                          MER_KNOB_WGT,
                          MER_KNOB_ACC,
                          MER_KNOB_TILE_H,
                          MER_KNOB_TILE_W,
                          MER_KNOB_TILE_CI,
                          MER_KNOB_TILE_CO,
                          MER_KNOB_H_THREADS,
                          MER_KNOB_OC_THREADS,
                          MER_VTA_KNOBS
} MerVtaKnob;

typedef struct MerCores { /* that the budget allows */
    int         count;
    MerVtaCore *list;
} MerCores;

typedef struct MerCodesignTask { /* one opened task */
    const MerOp    *op;
    int64_t         images;
    double          macs; /* of all of them */
    MerVtaRules     rules;
    MerHardwareMode mode;
    MerVtaCore      usual; /* of the platform */
    int64_t         mac_budget, sram_budget, least_element;
    bool            has_buffers;         /* sizes of SRAMs are knobs */
    int             knob[MER_VTA_KNOBS]; /* index in the space, -1: not a knob */
    int             counts[MER_VTA_KNOBS];
    const double   *values[MER_VTA_KNOBS];
    MerKernelSpace  kernels; /* of plans of kind kernel, then the rest is empty */
} MerCodesignTask;

/* The opened task, NULL if the problem is another one, not opened, or its plans are not of kind vta. */
const MerCodesignTask *mer_codesign_task(const MerProblem *problem);
/* Does the budget allow the core, and can it be built? */
bool mer_codesign_core_check(const MerCodesignTask *task, const MerVtaCore *core,
                             MerVtaReason *reason);
void mer_codesign_vta_task(const MerCodesignTask *task, const MerVtaCore *core, MerVtaTask *vta);
/* Tiles that the knobs can say on a core, ascending: axis 0 rows, 1 columns, 2 input channels, 3 output
 * channels. `list` takes as many as the knob has choices. */
int mer_codesign_tiles(const MerCodesignTask *task, const MerVtaTask *vta, int axis, int *list);
/* All cores that the knobs of hardware can say; those that a larger one replaces are left out. */
void mer_codesign_cores(const MerCodesignTask *task, MerArena *arena, MerCores *cores);

/* The problem's slot `read_log`: logs of AutoTVM. */
MerStatus mer_codesign_read_log(const MerProblem *problem, const char *path, MerIndex **points,
                                int *count, const char **remark, MerArena *arena, MerError *error);

/* The problem's slot `calibrate`: the constants of `timing`. */
MerStatus mer_codesign_calibrate(const MerCalibration *request, MerFit *fit, MerArena *arena,
                                 MerError *error);

/* Operators of all tasks of the run, for solvers that look at the whole network. */
typedef struct MerCodesignShared {
    int             count;
    const MerTask  *tasks;
    const MerGraph *graph;
    void           *solved;        /* what a solver found for all of them */
    double          usual_seconds; /* on the platform's own core at best; 0: unknown */
    MerArena       *arena;
} MerCodesignShared;

#endif
