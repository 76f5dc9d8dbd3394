/* The space of loop nests of one layer on one memory hierarchy (docs/loopnest-model.md, "Space of loop
 * nests"), and its points. */
#ifndef MERCATOR_MAP_NEST_NEST_H
#define MERCATOR_MAP_NEST_NEST_H

#include "map/nest/layer_shape.h"
#include "map/nest/nest_plan.h"
#include "mercator/problem.h"

enum { MER_NEST_LEVELS = 8, MER_NEST_PRIMES = 31 * 8, MER_NEST_SLOTS = 3 * MER_NEST_LEVELS };

typedef enum MerNestGenome {
    MER_GENOME_PRIMES,   /* each prime factor of each dim picks a slot */
    MER_GENOME_DIVISORS, /* each slot takes a divisor of what is left of the dim */
    MER_GENOME_PADDED /* each slot takes any useful share of it; the loops may run past the layer */
} MerNestGenome;

/* Where a factor can go: the temporal loops of a level, or an axis of the fan-out below it. */
typedef enum MerNestPlace { MER_PLACE_TEMPORAL, MER_PLACE_X, MER_PLACE_Y } MerNestPlace;
typedef struct MerNestSlot {
    int          level;
    MerNestPlace place;
} MerNestSlot;

/* What the user fixed (dataflow presets, Timeloop constraints). All zero before `layer`: nothing. */
typedef struct MerNestConstraints {
    int exact[MER_NEST_LEVELS][3][MER_DIM_COUNT]; /* [level][place][dim]: this factor; 0: free */
    int most[MER_NEST_LEVELS][3][MER_DIM_COUNT];  /* at most this factor; 0: no limit */
    int inner_count[MER_NEST_LEVELS];             /* loops whose place is fixed, ... */
    int inner[MER_NEST_LEVELS][MER_DIM_COUNT];    /* ... innermost first */
    /* bit per tensor; over what the platform says */
    unsigned keep[MER_NEST_LEVELS], bypass[MER_NEST_LEVELS];
    /* for messages, from here on */
    const char *layer, *level_names[MER_NEST_LEVELS];
    const char *ignored; /* constraints that have no meaning here, NULL if none */
} MerNestConstraints;

typedef struct MerNestSpace {
    const MerOp              *op;
    MerLayerShape             shape;
    MerNestGenome             genome;
    int                       level_count;                                     /* innermost first */
    unsigned                  keep[MER_NEST_LEVELS], is_free[MER_NEST_LEVELS]; /* bit per tensor */
    int                       fanout[MER_NEST_LEVELS][3];                      /* [level][place] */
    int                       slot_count;
    MerNestSlot               slots[MER_NEST_SLOTS];
    int                       factor_knobs; /* the first knobs of the space */
    const int                *dim, *prime;  /* primes genome, per knob */
    int                       order_knob[MER_NEST_LEVELS][MER_DIM_COUNT]; /* -1: no knob */
    int                       bypass_knob[MER_NEST_LEVELS][MER_TENSOR_COUNT];
    const MerNestConstraints *constraints; /* never NULL */
    bool                      is_constrained;
    /* per dim: the slots it may take (all of them without constraints) */
    int allowed_count[MER_DIM_COUNT], allowed[MER_DIM_COUNT][MER_NEST_SLOTS];
    /* per level: dims whose order is chosen, and loops that stand inside them, innermost first */
    int sorted_count[MER_NEST_LEVELS], sorted[MER_NEST_LEVELS][MER_DIM_COUNT];
    int fixed_count[MER_NEST_LEVELS], fixed[MER_NEST_LEVELS][MER_DIM_COUNT];
    /* what decode starts from: fixed trip counts or 1, dims of size 1 outside */
    MerNestLevel blank[MER_NEST_LEVELS];
} MerNestSpace;

/* The memory of a level. */
static inline const MerMemory *mer_nest_memory(const MerPlatform *platform, int level)
{
    return &platform->memories[platform->memory_count - 1 - level];
}

/* The copies of the next level inside, or of units, below one of the level. */
static inline int mer_nest_fanout(const MerPlatform *platform, int level)
{
    const MerFanout *fanout = &mer_nest_memory(platform, level)->fanout;
    return fanout->x * fanout->y;
}

/* Obeys constraints that can be obeyed (mer_nest_constraints_make); NULL: none. Copies them. */
MerStatus mer_nest_space_open(MerNestSpace *nest, const MerOp *op, const MerPlatform *platform,
                              MerNestGenome genome, const MerNestConstraints *constraints,
                              MerSpace *space, MerArena *arena, MerError *error);
void      mer_nest_decode(const MerNestSpace *nest, const MerIndex *point, MerNestPlan *plan,
                          MerArena *arena);
bool      mer_nest_encode(const MerNestSpace *nest, const MerNestPlan *plan, const MerSpace *space,
                          MerIndex *point);

/* What a choice of a knob means: the slot a prime goes to, keep or bypass; NULL for factors and orders. */
const char *mer_nest_choice_name(const MerNestSpace *nest, const MerPlatform *platform,
                                 const MerKnob *knob, int index, MerIndex choice, MerArena *arena);

static inline bool mer_nest_permits(const MerNestConstraints *constraints, int level, int place,
                                    int dim, int factor)
{
    int exact = constraints->exact[level][place][dim], most = constraints->most[level][place][dim];
    return (exact == 0 || exact == factor) && (most == 0 || factor <= most);
}

/* Does a plan obey the constraints? If not, the reason goes into `reason` (NULL with size 0: nowhere). */
bool mer_nest_allows(const MerNestConstraints *constraints, const MerNestPlan *plan,
                     const MerLayerShape *shape, char *reason, size_t size);

/* What the factors of a dim multiply to, over the innermost `level_count` levels. */
double mer_nest_extent(const MerNestPlan *plan, int dim, int level_count);

/* An empty plan: every trip count 1, dims in order, everything kept. */
void mer_nest_plan_make(MerNestPlan *plan, const MerOp *op, int level_count, MerArena *arena);

#endif
