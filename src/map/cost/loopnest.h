/* Inside of the `loopnest` evaluator: a plan as loops, and the accesses it causes. Shared by the
 * plain evaluator, its fast forms and the reports. */
#ifndef MERCATOR_MAP_COST_LOOPNEST_H
#define MERCATOR_MAP_COST_LOOPNEST_H

#include "map/nest/nest.h"
#include "mercator/evaluator.h"

enum { MER_NEST_MAX_LEVELS = 8, MER_NEST_MAX_LOOPS = MER_NEST_MAX_LEVELS * MER_DIM_COUNT };

typedef enum MerHalo { MER_HALO_SHARED, MER_HALO_TIMELOOP } MerHalo;

typedef struct MerNestMemory { /* of a MerMemory what is read for every plan, in few cache lines */
    const char *name;
    double      words, partition[MER_TENSOR_COUNT]; /* usable */
    double      read_rate, write_rate;              /* words per cycle and instance */
    double      read_pj, write_pj, update_pj;
    int         fanout_x, fanout_y; /* below it */
    double      fanout_pj;          /* per word sent over the fan-out */
} MerNestMemory;

typedef struct MerNestModel {
    MerLayerShape shape;
    double        repeat; /* the loops run this often, one after the other */
    int           level_count;
    MerNestMemory memories[MER_NEST_MAX_LEVELS]; /* innermost first */
    double        lanes, mac_pj, clock_hz, word_bytes;
    double        peak_macs; /* per cycle, of the whole machine */
    /* with fewer MACs than this every count is a whole number below 2^53 */
    double                    exact_macs;
    MerHalo                   halo;
    bool                      exclusive_axes, ramp;
    const MerNestConstraints *constraints; /* what the user fixed; NULL: nothing */
    /* keys of the platform that are given and not looked at, "fanout.latency_cycles of L2, ..." */
    char unused[160];
} MerNestModel;

/* A plan unfolded. Arrays over levels have the MAC as one more, innermost entry where noted. */
typedef struct MerNestLoops {
    /* [l+1]: what level l holds; [0]: one MAC */
    double tile[MER_NEST_MAX_LEVELS + 1][MER_DIM_COUNT];
    double spatial[MER_NEST_MAX_LEVELS][MER_DIM_COUNT]; /* fan-out below level l, both axes */
    /* temporal loops longer than 1, innermost first */
    int    loop_count;
    int    dim[MER_NEST_MAX_LOOPS];
    double trips[MER_NEST_MAX_LOOPS];
    double inside[MER_NEST_MAX_LOOPS]; /* extent of the same dim inside the loop */
    /* product of the trips of this loop and all outside it */
    double outward[MER_NEST_MAX_LOOPS + 1];
    /* outward of the first loop from here that moves the tensor; from start[1] on */
    double moves[MER_NEST_MAX_LOOPS + 1][MER_TENSOR_COUNT];
    int    start[MER_NEST_MAX_LEVELS + 1];     /* first loop of level l */
    double instances[MER_NEST_MAX_LEVELS + 1]; /* [l+1]: copies of level l in use; [0]: MACs */
    /* [l+1]: how many of them hold parts of one output */
    double reductions[MER_NEST_MAX_LEVELS + 1];
    /* words of tile[l+1], kept there or not */
    double footprint[MER_NEST_MAX_LEVELS][MER_TENSOR_COUNT];
} MerNestLoops;

typedef struct MerNestAccess { /* words, summed over instances, for one run of the loops */
    double reads[MER_NEST_MAX_LEVELS][MER_TENSOR_COUNT];
    double fills[MER_NEST_MAX_LEVELS][MER_TENSOR_COUNT];
    double updates[MER_NEST_MAX_LEVELS][MER_TENSOR_COUNT];
    double network[MER_NEST_MAX_LEVELS]; /* words sent over the fan-out below */
} MerNestAccess;

MerStatus mer_nest_model_make(const MerOp *op, const MerPlatform *platform, MerNestModel *model,
                              MerError *error);
/* In two steps: the tiles are enough for mer_nest_fits, the loops are for what comes after. */
void mer_nest_unfold_tiles(const MerNestModel *model, const MerNestPlan *plan, MerNestLoops *loops);
void mer_nest_unfold_loops(const MerNestModel *model, const MerNestPlan *plan, MerNestLoops *loops);
/* False, with the reason in `cost`, if the plan breaks a fan-out or a capacity. */
bool mer_nest_fits(const MerNestModel *model, const MerNestPlan *plan, const MerNestLoops *loops,
                   MerCost *cost);
void mer_nest_count(const MerNestModel *model, const MerNestPlan *plan, const MerNestLoops *loops,
                    MerNestAccess *access);
/* Cycles and energy of one run; `binding` (may be NULL) names what limits the cycles. */
void mer_nest_price(const MerNestModel *model, const MerNestLoops *loops,
                    const MerNestAccess *access, double *cycles, double *energy,
                    const char **binding);

/* loopnest_batch.c: many nests at once by the same model, one plan per lane of a vector. */
enum { MER_NEST_LANES = 8 };

typedef struct MerNestFigures { /* what the metrics of a cost are made from, per plan */
    double cycles[MER_NEST_LANES], energy[MER_NEST_LANES];
    double words[MER_NEST_LANES]; /* to and from the outermost memory */
    bool   is_priced[MER_NEST_LANES];
} MerNestFigures;

/* Prices plans[0 .. MER_NEST_LANES-1], each to the bit as mer_nest_price does. Left alone (is_priced is
 * false) are plans that do not fit or whose counts are too large to be exact, and all of them if they
 * do not keep the same tensors, if one is not in the form that decoding gives, and where the model needs
 * what is not here (halo=timeloop, ramp, constraints). Vectors are as wide as the machine has them, at most `bits`
 * (128, 256 or 512). */
void mer_nest_price_lanes(const MerNestModel *model, const MerNestPlan *const *plans, int bits,
                          MerNestFigures *figures);

#endif
