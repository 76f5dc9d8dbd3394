/* XRBench (Kwon et al., MLSys 2023; docs/bandwidth-model.md, "The score of XRBench"): the score of
 * requests, and the runtime that its authors published, for comparison. Times in ms, energies in mJ. */
#ifndef MERCATOR_SCHEDULE_COST_BANDWIDTH_XR_H
#define MERCATOR_SCHEDULE_COST_BANDWIDTH_XR_H

#include "mercator/arena.h"

#include <stdbool.h>

typedef struct MerXrRequest {
    int    model, index, unit;                /* unit -1: it ran on several, or never */
    double injected, start, finish, deadline; /* deadline INFINITY: none */
    double energy_mj;
    bool   is_dropped;
} MerXrRequest;

typedef struct MerXrModelScore {
    int    logged, dropped;
    double in_time, frugal, score; /* means over finished requests; score with what was dropped */
} MerXrModelScore;

/* 0 .. 100; NAN without requests. Models without a request do not count. `models` (model_count of them) may
 * be NULL. `clamps`: above 1500 mJ a request is worth 0, else less than that, as upstream. */
double mer_xr_score(const MerXrRequest *requests, int count, int model_count, bool clamps,
                    MerXrModelScore *models, MerArena *scratch);

typedef struct MerXrModel {
    const char *name; /* models are served in alphabetical order */
    double      fps;
    bool        is_used; /* has requests at all */
    int         exists_count;
    const bool *exists; /* by request; later ones do not exist. NULL: all do */
    int         after_count;
    const int  *after; /* models that have to be ahead by the request's number */
} MerXrModel;

typedef struct MerXrRuntime {
    int               model_count, unit_count;
    const MerXrModel *models;
    const double     *latency_ms, *energy_mj; /* [model * unit_count + unit] */
    /* what a unit is chosen by, likewise: total latency, or latency x energy */
    const double *price;
    double        run_ms;
} MerXrRuntime;

/* The runtime of the published code: whole milliseconds as periods, arrivals noticed at ticks of the fastest
 * model and at completions, whole inferences on the cheapest idle unit. Gives the requests that finished or
 * were dropped before the last one was injected, in that order. */
int mer_xr_run(const MerXrRuntime *runtime, MerArena *arena, MerXrRequest **requests);

#endif
