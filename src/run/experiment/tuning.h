/* Tuning an optimizer (docs/scheduling-online.md, "Tuning an optimizer"): its numeric options are the
 * knobs, the price of a setting is how far its runs on the training workloads come compared with the
 * defaults, and another optimizer searches. The best setting is then tried on workloads and seeds that the
 * search has not seen. */
#ifndef MERCATOR_RUN_EXPERIMENT_TUNING_H
#define MERCATOR_RUN_EXPERIMENT_TUNING_H

#include "mercator/run.h"

typedef struct MerTuneSpec {
    const MerRunSpec *train,
        *test; /* their optimizer is replaced, their seed counts on from `seed` */
    int                      train_count, test_count;
    const MerOptimizerClass *optimizer; /* to be tuned */
    const MerReference      *fixed;     /* options that keep the value given here; NULL: none */
    const MerOptimizerClass *searcher;
    const void              *searcher_options; /* NULL: its defaults */
    int64_t                  budget;           /* settings to try, the defaults not counted */
    int                      seeds;            /* runs per workload and setting */
    uint64_t                 seed;
    int                      threads; /* 0: all cores */
    MerRunHooks              hooks;   /* is_cancelled and warn */
    void (*tried)(void *state, int64_t index, const char *setting,
                  double ratio); /* NULL: nobody listens */
} MerTuneSpec;

typedef struct MerTuneTrial {
    const char *setting; /* "population=50,elite=0.1": what differs from the defaults */
    double ratio; /* geometric mean over tasks and seeds, of its result over that of the defaults */
} MerTuneTrial;

typedef struct MerTuneRow { /* one task, on seeds that were not searched with */
    const char *workload, *task;
    bool        is_test;
    double      initial, tuned; /* means of the objective; NAN: nothing feasible */
    double      ratio;          /* of geometric means; below 1 is better */
} MerTuneRow;

typedef struct MerTuneSide { /* all tasks of one kind */
    int    tasks, better, worse;
    double ratio, low, high; /* geometric mean and its 95 % interval over tasks */
} MerTuneSide;

typedef struct MerTuneResult {
    const char   *reference; /* ready for --optimizer */
    int           trial_count, best, row_count;
    MerTuneTrial *trials; /* the first are the defaults */
    MerTuneRow   *rows;
    MerTuneSide   train, test;
    bool          was_cancelled;
} MerTuneResult;

MerStatus mer_tune(const MerTuneSpec *spec, MerArena *arena, MerTuneResult *result,
                   MerError *error);

/* The numeric options of an optimizer as a space, without those that `fixed` names: rates on a grid of sixteen, others
 * in steps of the root of two up to eight times more or less than the default. */
MerStatus mer_tune_space(const MerOptimizerClass *optimizer, const MerReference *fixed,
                         MerSpace *space, MerIndex **defaults, MerArena *arena, MerError *error);

#endif
