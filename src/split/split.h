/* The problem `split`, opened: layers whose output channels are shared out over the options of a system on chip, and what any
 * share costs, hard (integer channels) and soft (with a gradient); for its evaluators, bounds, solvers, exporters and training
 * (docs/channel-split.md).
 *
 * Letters as in the papers: ch_o channels of option o, theta[o][c] the part of channel c that option o computes. Cycles are real
 * numbers, energies picojoules. */
#ifndef MERCATOR_SPLIT_SPLIT_H
#define MERCATOR_SPLIT_SPLIT_H

#include "mercator/problem.h"

#include <assert.h>
#include <math.h>

enum { MER_SPLIT_MAX_OPTIONS = 16, MER_SPLIT_MAX_UNITS = 8 };

/* What computes a channel; the names are those of platform files. */
#define MER_SPLIT_OPERATOR_MAP(X)                                                                  \
    X(CONV, "conv") X(POINTWISE, "pointwise") X(LINEAR, "linear") X(DEPTHWISE, "depthwise")
typedef enum MerSplitOperator {
#define X(id, name) MER_SPLIT_##id,
    MER_SPLIT_OPERATOR_MAP(X)
#undef X
        MER_SPLIT_OPERATOR_COUNT
} MerSplitOperator;

/* One way to compute an output channel of a layer, in the order of the platform file (which breaks ties). */
typedef struct MerSplitOption {
    const char *name; /* of the option, unique in its layer: the key in plan files */
    int         unit; /* of the platform */
    /* as the unit computes it: a depthwise option may stand in for a convolution */
    MerSplitOperator type;
    const char      *weights; /* format: "int8-pow2", "int8", "int4", "int2", "ternary" */
    int              bits;    /* that a weight takes in memory; ternary 2 */
    int              branch;  /* options with equal numbers share one float weight tensor */
    /* cycles of 0 .. c_out channels, [0] is 0 (but of ungated units); and where they come from (cost/soc_formula.h) */
    const double            *cycles;
    const struct MerSocCost *formula;
    /* channels at which the cost jumps: multiples of this many; 1: none */
    int  step;
    bool is_estimated; /* of a measured table that has no such shape */
} MerSplitOption;

/* One priced operator of the network, or a depthwise-separable pair that was merged into one (see `pair_op`). */
typedef struct MerSplitLayer {
    const char      *name;
    int              op;      /* of the graph; of a pair: its depthwise half */
    int              pair_op; /* the pointwise half that the layer replaces too; -1: none */
    MerSplitOperator type;    /* a pair: MER_SPLIT_CONV */
    /* all groups together; of a product of matrices c_in is the inner size and its rows are o_h */
    int     c_in, c_out, groups;
    int     k_h, k_w, o_h, o_w, i_h, i_w; /* kernel, output and input image: rows, columns */
    int     stride_h, stride_w;
    int     repeat; /* runs this often */
    double  macs;
    int64_t live_elements; /* of all tensors that are alive while it runs */
    int64_t weights;       /* elements of the weights of a channel: c_in / groups * k_h * k_w */

    int                   option_count;
    const MerSplitOption *options;
    const char *const    *refusals;  /* by unit: why it has no option for the layer; NULL: it has */
    int                   reference; /* the option of the reference unit, else the first */
    /* the only option that may be used (pinned, or there is no other); -1: searchable */
    int  fixed;
    bool is_searchable; /* fixed < 0 */
    /* a depthwise option stands in for a convolution: channel c reads channel c, so that the options must lie in order,
     * option 0 first (thermometer) */
    bool is_ordered;
    /* layers with equal numbers make channels that meet in an Add or pass a depthwise layer: they want one order */
    int tie;
    int channel_start, option_start; /* of its entries in plans */
    /* channels by what they lose on cheap formats, the most sensitive first; option 0 of a count-only plan gets the
     * first ones */
    const int *ranking;
    /* what channel c loses on option o: errors[o * c_out + c], squares of W - Q_o(W) over those of the layer's weights */
    const double *errors;
    const float  *data; /* mer_split_layer_weights */
} MerSplitLayer;

typedef struct MerSplit {
    const MerGraph    *graph;
    const MerPlatform *platform;
    int                layer_count, channel_count, option_count, unit_count; /* sums over layers */
    const MerSplitLayer *layers;   /* in the order of the graph */
    double               clock_hz; /* NAN: unknown, no latency and no energy */
    /* of every set of busy units, by bit mask; NULL: the platform does not say */
    const double *power_mw;
    /* of the network's file (import/network_weights.h); NULL: it has none */
    const struct MerNetworkWeights *weights;
    bool has_weights;   /* errors are of the network's weights, not of random ones */
    bool is_by_channel; /* the space has a knob per channel, not per count */
    bool is_tied;       /* layers of one tie share their assignment */
} MerSplit;

/* NULL if `problem` is another one. */
const MerSplit *mer_split_of(const MerProblem *problem);

/* Plans of kind "split". */
typedef struct MerSplitPlan {
    int  layer_count, option_count, channel_count; /* as in MerSplit */
    int *counts; /* counts[layer.option_start + o], sums to c_out over o */
    /* assignment[layer.channel_start + c] is an option of the layer */
    unsigned char *assignment;
} MerSplitPlan;

extern const MerPlanKind mer_plan_split;

static inline MerSplitPlan *mer_split_plan(const MerPlan *plan)
{
    assert(plan->kind == &mer_plan_split);
    return plan->content;
}

/* Everything on each layer's reference option (or its fixed one). */
MerSplitPlan *mer_split_new_plan(const MerSplit *split, MerPlan *plan, MerArena *arena);
/* Fills `counts` from `assignment`; and the other way: which channels follows from the ranking, or from the order of the
 * channels where a layer is ordered. */
void mer_split_count(const MerSplit *split, MerSplitPlan *plan);
void mer_split_assign(const MerSplit *split, MerSplitPlan *plan);
/* The same for one layer: counts (options) to assignment (c_out). */
void mer_split_assign_layer(const MerSplitLayer *layer, const int *counts,
                            unsigned char *assignment);

/* ---- hard cost: integer channels; every number that is reported */

typedef struct MerSplitPrice {        /* of a layer, or of all */
    double cycles;                    /* of a layer: the longest of its units */
    double energy_pj;                 /* NAN: the platform has no power or no clock */
    double busy[MER_SPLIT_MAX_UNITS]; /* cycles */
} MerSplitPrice;

MerSplitPrice mer_split_layer_cost(const MerSplit *split, int layer, const int *counts);
/* Energy of units that work `busy` cycles side by side; a unit that is done idles until the last one is. */
double mer_split_energy(const MerSplit *split, const double *busy);
/* A price by MER_METRIC_CYCLES, _LATENCY or _ENERGY (NAN: unknown). */
double mer_split_value(const MerSplit *split, const MerSplitPrice *price, MerMetric metric);
/* Everything on the reference: what normalises lambda. */
double mer_split_reference_cost(const MerSplit *split, MerMetric metric);

/* ---- soft cost: real channels, differentiable */

typedef enum MerSplitGradient {                  /* as the option `gradient` lists them */
                                MER_SPLIT_EXACT, /* linear between neighbouring integers */
                                MER_SPLIT_CHORD, /* linear between hardware steps */
                                MER_SPLIT_EXPECTED, /* mean over channels drawn independently by theta */
                                MER_SPLIT_STE, /* the authors': slope 1 of every floor and gate, value of the formula */
                                MER_SPLIT_SCORE /* as exact, and nobody uses the slopes: score function of drawn channels */
} MerSplitGradient;

typedef struct MerSplitSoft {
    MerSplitGradient gradient;
    MerMetric        metric; /* MER_METRIC_CYCLES, _LATENCY or _ENERGY */
    double
        smooth; /* temperature of the soft maximum over the layer's cycles all on the reference; 0.01 */
} MerSplitSoft;

/* The cost of one layer at `theta` (options, c_out), rows that sum to 1 over options; `gradient` (options, c_out) is added to
 * where it is not NULL. In units of the metric; tends to the hard cost as theta tends to 0 and 1 (up to the soft maximum,
 * which `expected` with two units does without). Pure; `scratch` may be reset by the caller afterwards. */
double mer_split_soft_layer_cost(const MerSplit *split, const MerSplitSoft *soft, int layer,
                                 const double *theta, double *gradient, MerArena *scratch);
/* Sum over layers; theta[layer] and gradient[layer] as above, theta[layer] NULL: the layer is fixed and costs what it costs. */
double mer_split_soft_cost(const MerSplit *split, const MerSplitSoft *soft,
                           const double *const *theta, double *const *gradient, MerArena *scratch);

/* ---- weights */

/* Weights of a layer as (c_out, c_in / groups, k_h, k_w), from the network's file; NULL: the file has none. */
const float *mer_split_layer_weights(const MerSplit *split, int layer);

#endif
