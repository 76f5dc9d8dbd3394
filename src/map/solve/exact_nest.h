/* Inside of `exact_nest`: the optimum of the loop-nest model by branch and bound over tiles.
 *
 * A nest is a chain of tiles: level l holds T_l, the loops of level l run around the array tile A_l,
 * and the fan-out below spreads A_l over copies of T_{l-1}:
 *
 *     whole layer = T_{L-1} > A_{L-1} > T_{L-2} > ... > T_0 > A_0 > one MAC     (">": is a multiple of)
 *
 * A step of the chain, the pair (A_l, T_{l-1}), decides all traffic between level l-1 and its parent
 * once the loops outside are known. So the search walks from the outermost level inwards, and every
 * step has a list of its pairs with what they cost at least, whatever surrounds them. */
#ifndef MERCATOR_MAP_SOLVE_EXACT_NEST_H
#define MERCATOR_MAP_SOLVE_EXACT_NEST_H

#include "map/cost/loopnest.h"
#include "map/nest/nest.h"

#include <stdint.h>

#define EXACT_ORDER(a, b) (((a) > (b)) - ((a) < (b))) /* as qsort wants it */

enum { EXACT_DIVISORS = 64, EXACT_TILES = 4000000, EXACT_PAIRS = 30000000 };

/* All tiles whose extents divide the layer, as numbers 0 .. count-1; 0 is one MAC, the last the layer.
 * Dims are meant by their position in shape->dims. If i divides j, i <= j. */
typedef struct ExactTiles {
    const MerLayerShape *shape;
    int                  count;
    int                  divisor_count[MER_DIM_COUNT];
    int                  value[MER_DIM_COUNT][EXACT_DIVISORS];
    /* [i]: bit j, if value j divides value i */
    uint64_t inside[MER_DIM_COUNT][EXACT_DIVISORS];
    uint8_t  quotient[MER_DIM_COUNT][EXACT_DIVISORS][EXACT_DIVISORS];
    int      stride[MER_DIM_COUNT];
    uint8_t (*index)[MER_DIM_COUNT];  /* of each tile, per dim */
    double  *words[MER_TENSOR_COUNT]; /* footprints */
    double  *volume;                  /* MACs */
    double  *reduction;               /* product of the extents of the reduction dims */
    unsigned still[MER_DIM_COUNT];    /* per dim: the tensor it does not move, as a bit */
    /* of the dims of a sliding rank; -1: of size 1 */
    int slide_position[MER_TENSOR_COUNT][MER_MAX_SLIDES][2];
} ExactTiles;

typedef struct ExactOrder { /* temporal loops of a level, innermost first */
    int loop[MER_DIM_COUNT];
} ExactOrder;

typedef struct ExactOption {     /* one T_{l-1} for an A_l, and what all inside costs at least */
    int    array, inner, spread; /* A_l, T_{l-1} and their quotient */
    double energy, cycles;
} ExactOption;

typedef struct ExactBoundary { /* one pair and what crosses it, over all copies and the whole run */
    int    level, array, inner, spread; /* set by the caller */
    double rest[MER_DIM_COUNT];         /* layer / A, per dim */
    double run[MER_TENSOR_COUNT];       /* longest */
    double given[MER_TENSOR_COUNT];     /* words out of the parent, nothing staying in place */
    double taken[MER_TENSOR_COUNT];     /* words into the children */
    double reductions;                  /* most */
} ExactBoundary;

typedef struct ExactGroup { /* the options of one A_l */
    int    array, first, count;
    double energy, cycles; /* least of each */
} ExactGroup;

typedef struct ExactList {
    ExactOption *options;
    ExactGroup  *groups; /* cheapest first */
    int          option_count, group_count;
    /* per tile T_l: least of the list and all inner ones inside that tile */
    double *energy, *cycles;
    double  least_energy, least_cycles; /* of this boundary alone */
} ExactList;

typedef struct ExactLevel {
    const MerNestMemory *memory;
    unsigned             keep;
    int                  parent[MER_TENSOR_COUNT]; /* next level outside that keeps the tensor */
    int                  order_count;
    ExactOrder           orders[MER_DIM_COUNT];
    int                  spread_count;
    int                 *spreads; /* tiles that the fan-out below can carry */
    /* its loops may as well run in the level below, which keeps nothing */
    bool   is_idle;
    double most_units, most_reductions;
    /* products of the most_* of all outer levels */
    double    units_outside, reductions_outside;
    ExactList list; /* pairs (A_l, T_{l-1}) */
} ExactLevel;

/* What a tensor sees when it looks outwards from below a level: how many steps leave it in place,
 * and the very innermost loop (-1: none). */
typedef struct ExactView {
    double run[MER_TENSOR_COUNT];
    int    first;
    double trips, inside;
} ExactView;

typedef struct ExactNest { /* levels >= some l decided */
    int       tile;        /* T of the next level inwards */
    double    energy, cycles;
    double    units, reductions; /* copies of the next level inwards */
    double    reads[MER_NEST_MAX_LEVELS], writes[MER_NEST_MAX_LEVELS];
    ExactView view;
} ExactNest;

typedef struct ExactChoice {
    int    array, inner, spread, order;
    double units; /* copies of level l-1 */
} ExactChoice;

typedef struct ExactItem { /* a choice for the outermost level, and what it leads to at least */
    double bound;
    int    group, option, order;
} ExactItem;

typedef enum ExactGoal { EXACT_ENERGY, EXACT_CYCLES, EXACT_EDP } ExactGoal;

typedef struct ExactSearch {
    const MerNestModel *model;
    const MerNestSpace *space;
    const MerEvaluator *evaluator;
    MerNotes           *notes;
    MerArena           *arena;  /* lives with the search */
    MerArena           *masked; /* lives with one choice of what the levels keep */
    MerArena           *scratch;
    MerMetric           objective;
    ExactGoal           goal;
    double              scale; /* score = scale * value, value as the bounds compute it */
    /* While ties are broken: another objective is minimised, among nests that are as good by the first */
    bool        is_tied;
    MerMetric   first_objective;
    double      first_score;
    int         finds; /* better nests so far, by either objective */
    ExactTiles  tiles;
    int         level_count, innermost; /* innermost: the last list of the chain, 0 or 1 */
    ExactLevel  levels[MER_NEST_MAX_LEVELS];
    int         mac_parent[MER_TENSOR_COUNT];
    double      base_energy; /* what every nest of this mask pays */
    double      base_reads[MER_NEST_MAX_LEVELS], base_writes[MER_NEST_MAX_LEVELS];
    bool        is_free;          /* the user fixed neither factors nor loops */
    bool        has_signed_reads; /* O slides: the model's reads of O may be negative */
    ExactChoice chosen[MER_NEST_MAX_LEVELS];
    /* the best nest so far */
    MerNestPlan best;
    double      best_score, cut; /* values from `cut` on cannot improve it */
    bool        is_stopped;      /* cancelled, or more pairs than there is memory for */
    int         pulse;
} ExactSearch;

/* A list with memory for one item more than `count`; give it back with free(). */
void *mer_exact_grow(void *list, int count, size_t size);

/* exact_nest_tiles.c */
/* False if the layer has more tiles than can be listed; what is no list is filled nevertheless. */
bool   mer_exact_tiles_make(ExactTiles *tiles, const MerLayerShape *shape, MerArena *arena);
int    mer_exact_divide(const ExactTiles *tiles, int tile, int divisor);
int    mer_exact_multiply(const ExactTiles *tiles, int tile, int factor); /* -1: no tile */
double mer_exact_extent(const ExactTiles *tiles, int tile, int position); /* position -1: 1 */
/* is the dim part of a sliding rank? */
bool mer_exact_slides(const ExactTiles *tiles, int position);
/* product of the extents of the dims that are ranks of their own */
double mer_exact_plain(const ExactTiles *tiles, int tensor, int tile);
double mer_exact_height(const ExactTiles *tiles, int tensor, int slide, int tile);
/* halo=timeloop: at least this many of the children that a spread makes receive different tiles. */
double mer_exact_distinct(const ExactTiles *tiles, int tensor, int spread);
/* The temporal factors of a level that holds `tile` and spreads `array`; false if constraints forbid them. */
bool mer_exact_trips(const ExactSearch *search, int level, int tile, int array,
                     double trips[MER_DIM_COUNT]);
/* Splits a spread over the axes of a fan-out; false if it cannot be done. */
bool mer_exact_pack(const ExactSearch *search, int level, int spread, int x[MER_DIM_COUNT],
                    int y[MER_DIM_COUNT]);

/* exact_nest_levels.c: the same for every mask */
void mer_exact_orders_open(ExactSearch *search);
void mer_exact_spreads_open(ExactSearch *search);
/* The order of a plan's level; dims of size 1 stand outside. */
void mer_exact_order_write(const ExactTiles *tiles, const ExactOrder *order, int *loops);

/* exact_nest_bound.c */
double mer_exact_value(const ExactSearch *search, double energy, double cycles);
double mer_exact_energy_per_word(const ExactSearch *search, int tensor, int parent);
/* What a level saves because outputs need not be read before their first update, in so many reductions. */
double mer_exact_spared(const ExactSearch *search, int level, double reductions);
/* most copies that these levels make */
double mer_exact_units(const ExactSearch *search, int first, int last);
void   mer_exact_bound(const ExactSearch *search, ExactBoundary *boundary, double *energy,
                       double *cycles);

/* exact_nest_lists.c */
/* builds the lists, best bounds first */
void   mer_exact_mask_open(ExactSearch *search, const unsigned *keep);
void   mer_exact_mask_close(ExactSearch *search);
double mer_exact_mask_bound(const ExactSearch *search);

/* exact_nest_traffic.c */
/* The traffic between level l-1 and its parents, once chosen[l] and the view from below level l are
 * known. */
void mer_exact_add_boundary(const ExactSearch *search, int l, ExactNest *nest);
/* Operands that reach the MACs from further out than a level 0 without fan-out. */
void mer_exact_add_operands(const ExactSearch *search, ExactNest *nest);
/* Cycles that the decided levels, those from `level` outwards, need at least. */
double mer_exact_cycles(const ExactSearch *search, int level, const ExactNest *nest);
/* The option ramp of the evaluator: the first fill of every level. */
double mer_exact_ramp(const ExactSearch *search);

/* exact_nest_walk.c */
int  mer_exact_items(ExactSearch *search, ExactItem **items); /* sorted; malloc */
void mer_exact_item_walk(ExactSearch *search, const ExactItem *item);

/* exact_nest_start.c */
/* Anneals from the best nest so far, or from the smallest tiles; each round starts hot from the best. */
void mer_exact_start(ExactSearch *search, MerRng *rng, int64_t evaluations, int rounds);
/* Prices a plan with the evaluator and keeps it if it is the best; gives its score. */
double mer_exact_try(ExactSearch *search, const MerNestPlan *plan);
bool   mer_exact_is_stopped(ExactSearch *search);

#endif
