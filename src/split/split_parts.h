/* What the files of problem `split` do for each other. */
#ifndef MERCATOR_SPLIT_SPLIT_PARTS_H
#define MERCATOR_SPLIT_SPLIT_PARTS_H

#include "split/split.h"
#include "split/train/split_training.h"

typedef enum MerSplitGranularity {
    MER_SPLIT_AUTO, /* by channel where there is data to train with */
    MER_SPLIT_BY_COUNT,
    MER_SPLIT_BY_CHANNEL
} MerSplitGranularity;
typedef enum MerSplitOperators { /* may depthwise engines stand in for convolutions? */
                                 MER_SPLIT_REPLACE,
                                 MER_SPLIT_KEEP
} MerSplitOperators;

typedef struct MerSplitOptions {
    int             granularity; /* MerSplitGranularity */
    bool            tie;
    int             operators; /* MerSplitOperators */
    MerTexts        pin;
    bool            reduced;
    bool            quick;
    int64_t         golden_inputs;
    int             missing; /* images that are not there: 0 an error, 1 splits are priced */
    MerTrainOptions train;
} MerSplitOptions;

/* What the user should know of the opened problem, one line each. */
typedef struct MerSplitRemarks {
    const char *text; /* newline-terminated lines, NULL: none */
    MerArena   *arena;
} MerSplitRemarks;
void mer_split_remark(MerSplitRemarks *remarks, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What to say where distortion matters and `has_weights` is false. */
extern const char mer_split_no_weights[];

/* split_model.c: all of `split` but what the space decides. */
MerStatus mer_split_open(const MerProblem *problem, MerSplit *split, MerSplitRemarks *remarks,
                         MerArena *arena, MerError *error);
/* split_layers.c: the priced operators of the graph as layers without options. */
MerStatus mer_split_find_layers(const MerGraph *graph, bool merges_pairs, MerSplitLayer **layers,
                                int *count, MerSplitRemarks *remarks, MerArena *arena,
                                MerError *error);
/* split_plan.c: -1: there is none. */
int mer_split_layer_named(const MerSplit *split, const char *name);
/* split_ties.c: fills `tie` of the layers. */
void mer_split_find_ties(const MerGraph *graph, MerSplitLayer *layers, int count, MerArena *arena);
/* split_choices.c: how the platform can compute the layer. */
MerStatus mer_split_find_options(const MerPlatform *platform, MerSplitLayer *layer, bool replaces,
                                 MerSplitRemarks *remarks, MerArena *arena, MerError *error);
/* Has the platform units that know depthwise layers alone? They may stand in for convolutions. */
bool mer_split_has_depthwise_engine(const MerPlatform *platform);
/* split_power.c: mW of every set of units; NULL: the platform does not say. */
const double *mer_split_power(const MerPlatform *platform, MerSplitRemarks *remarks,
                              MerArena *arena);
/* split_errors.c: `errors` and `ranking` of a layer. */
void mer_split_find_errors(MerSplitLayer *layer, const float *weights, uint64_t seed,
                           MerArena *arena);
/* Options from the finest weights to the coarsest, the platform's order among equals. */
void mer_split_by_precision(const MerSplitLayer *layer, int *order);

/* split_space.c */
/* The layer whose knobs decide for layer `l`: itself, or the first of its class where layers are tied. */
int      mer_split_owner(const MerSplit *split, int l);
MerSpace mer_split_space(const MerSplit *split, MerArena *arena);
void mer_split_decode(const MerSplit *split, const MerIndex *point, MerPlan *plan, MerArena *arena);
bool mer_split_encode(const MerSplit *split, const MerSplitPlan *plan, MerIndex *point);

/* cost/split_cost.c: mer_split_energy with its slopes in the busy times. */
double mer_split_energy_slopes(const MerSplit *split, const double *busy, double *slopes);
/* cost/soft_cost.c: the metric of busy times of a layer, and its slopes in them. */
double mer_split_combine(const MerSplit *split, const MerSplitSoft *soft,
                         const MerSplitLayer *layer, const double *busy, double *slopes);
/* cost/expected_cost.c: mer_split_soft_layer_cost of MER_SPLIT_EXPECTED. */
double mer_split_expected_cost(const MerSplit *split, const MerSplitSoft *soft, int layer,
                               const double *theta, double *gradient, MerArena *scratch);

/* ---- memory limits (cost/split_memory.c) */
typedef enum MerSplitMemoryMode { /* as the option `memory` lists them */
                                  MER_SPLIT_MEMORY_OFF,
                                  MER_SPLIT_MEMORY_CHECK,
                                  MER_SPLIT_MEMORY_PRICE
} MerSplitMemoryMode;

/* How the evaluator `soc` prices: its `rules`, for bounds and solvers. */
typedef struct MerSplitRules {
    MerSplitMemoryMode memory;
    bool               is_resident;     /* weights of all layers must fit at once */
    bool               searchable_only; /* fixed layers are not counted */
    MerSplitSoft       soft; /* how the cost is made differentiable; its metric is not set */
} MerSplitRules;

/* Bytes that the memory outside of the innermost one hands over per cycle; INFINITY: the platform does not say. */
double mer_split_refill_rate(const MerSplit *split);
/* Bytes of weights that the counts put on each unit. */
void mer_split_weight_bytes(const MerSplitLayer *layer, const int *counts, double *bytes);
/* false: the counts of a layer do not fit; `reason` (NULL: not wanted) is refused with it. */
bool mer_split_layer_fits(const MerSplit *split, const MerSplitRules *rules, int layer,
                          const int *counts, MerCost *reason);
/* The same for what must hold over all layers. */
bool mer_split_network_fits(const MerSplit *split, const MerSplitRules *rules,
                            const MerSplitPlan *plan, MerCost *reason);
/* mer_split_layer_cost with what memory adds, and the same of all layers. */
MerSplitPrice mer_split_layer_price(const MerSplit *split, const MerSplitRules *rules, int layer,
                                    const int *counts);
MerSplitPrice mer_split_price(const MerSplit *split, const MerSplitRules *rules,
                              const MerSplitPlan *plan);
/* Largest fill of any unit's weight memory and of the shared activation memory. */
double mer_split_peak_bytes(const MerSplit *split, const MerSplitRules *rules,
                            const MerSplitPlan *plan);

/* bound/split_bound.c */
MerBound mer_split_lower_bound(const MerSplit *split, const MerSplitRules *rules, MerMetric metric);

#endif
