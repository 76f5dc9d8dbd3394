/* Lower bounds of loop nests (docs/loopnest-model.md, "Bounds"): roofline cycles, least traffic of a
 * buffer and energy from them. They hold for the charges of `loopnest`, for perfect or for padded factors. */
#include "map/nest/nest_bound.h"

#include "map/nest/factors.h"

#include <math.h>

static const double MAX_TILES = 4e6; /* beyond this B2 falls back to the compulsory words */

/* All tiles of a layer that are worth trying, one dim after the other: the divisors, or for padded
 * factors the least tile of every number of trips. Traffic grows with tile and trips, so that no padded
 * nest moves less than one of those. */
typedef struct Tiles {
    const MerLayerShape *shape;
    bool                 is_padded;
    double               words;   /* of the buffer */
    double               outputs; /* of the whole layer, with its padding */
    double               tile[MER_DIM_COUNT], trips[MER_DIM_COUNT];
    MerTrafficBound      best;
} Tiles;

/* Traffic of a tensor when the loops that do not move `stationary` run innermost, and dim `slid`
 * (-1: none) is the very innermost of them. */
static double class_traffic(const Tiles *tiles, int tensor, int stationary, int slid,
                            double footprint, double all)
{
    const MerLayerShape  *shape = tiles->shape;
    const MerTensorShape *t = &shape->tensors[tensor];
    if (tensor == stationary) {
        double moves = 1;
        for (int i = 0; i < shape->dim_count; i++) {
            int d = shape->dims[i];
            moves *= t->relevant >> d & 1 ? tiles->trips[d] : 1;
        }
        return footprint * moves;
    }
    for (int s = 0; slid >= 0 && s < t->slide_count; s++) {
        const MerSlide *slide = &t->slides[s];
        for (int side = 0; side < 2; side++) {
            if (slide->dim[side] == slid) {
                double height = mer_slide_height(slide, tiles->tile);
                double shift = slide->coefficient[side] * tiles->tile[slid];
                double delta = footprint / height * fmin(height, shift);
                double trips = tiles->trips[slid];
                return (footprint + (trips - 1) * delta) * (all / trips);
            }
        }
    }
    return footprint * all;
}

static void try_order(Tiles *tiles, int stationary, int slid, const double *footprints, double all)
{
    double moved[MER_TENSOR_COUNT];
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        moved[t] = class_traffic(tiles, t, stationary, slid, footprints[t], all);
    }
    double written = moved[MER_TENSOR_O];
    double read_again = fmax(0, written - tiles->outputs);
    double reads = moved[MER_TENSOR_W] + moved[MER_TENSOR_I] + read_again;
    tiles->best.reads = fmin(tiles->best.reads, reads);
    tiles->best.total = fmin(tiles->best.total, reads + written);
}

static void try_tile(Tiles *tiles)
{
    const MerLayerShape *shape = tiles->shape;
    double               footprints[MER_TENSOR_COUNT];
    double               all = 1;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        footprints[t] = mer_layer_footprint(shape, t, tiles->tile);
    }
    for (int i = 0; i < shape->dim_count; i++) {
        all *= tiles->trips[shape->dims[i]];
    }
    if (tiles->is_padded) { /* outputs do not slide here */
        const MerTensorShape *out = &shape->tensors[MER_TENSOR_O];
        tiles->outputs = footprints[MER_TENSOR_O];
        for (int i = 0; i < out->plain_count; i++) {
            tiles->outputs *= tiles->trips[out->plain_dims[i]];
        }
    }
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        try_order(tiles, t, -1, footprints, all);
        for (int i = 0; i < shape->dim_count; i++) {
            int d = shape->dims[i];
            if (!(shape->tensors[t].relevant >> d & 1) && tiles->trips[d] > 1) {
                try_order(tiles, t, d, footprints, all);
            }
        }
    }
}

/* Does the tile fit? Dims that are not chosen yet are 1; if it does not fit now, it never will. */
static bool fits(const Tiles *tiles)
{
    double need = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        need += mer_layer_touched(tiles->shape, t, tiles->tile);
    }
    return need <= tiles->words;
}

static void walk_tiles(Tiles *tiles, int position)
{
    const MerLayerShape *shape = tiles->shape;
    if (position == shape->dim_count) {
        try_tile(tiles);
        return;
    }
    int d = shape->dims[position];
    int size = shape->size[d];
    int choices = tiles->is_padded ? mer_padded_count(size, size) : size;
    for (int i = 0; i < choices; i++) {
        int tile = tiles->is_padded ? mer_padded_at(size, i) : i + 1;
        if (!tiles->is_padded && size % tile != 0) {
            continue;
        }
        tiles->tile[d] = tile;
        tiles->trips[d] = mer_padded_rest(size, tile);
        if (!fits(tiles)) {
            break;
        }
        walk_tiles(tiles, position + 1);
    }
    tiles->tile[d] = tiles->trips[d] = 1;
}

static double tile_count(const MerLayerShape *shape, bool is_padded)
{
    double tiles = 1;
    for (int i = 0; i < shape->dim_count; i++) {
        int size = shape->size[shape->dims[i]];
        tiles *= is_padded ? mer_padded_count(size, size) : mer_divisor_count(size);
    }
    return tiles;
}

static MerTrafficBound traffic_bound(const MerLayerShape *shape, double words, bool is_padded)
{
    double          w = shape->tensors[MER_TENSOR_W].touched;
    double          i = shape->tensors[MER_TENSOR_I].touched;
    double          o = shape->tensors[MER_TENSOR_O].touched;
    bool            has_gaps = is_padded && shape->tensors[MER_TENSOR_O].slide_count > 0;
    MerTrafficBound compulsory = {w + i + o, w + i};
    if (w + i + o <= words || has_gaps || tile_count(shape, is_padded) > MAX_TILES) {
        return compulsory;
    }
    Tiles tiles = {
        .shape = shape, .is_padded = is_padded, .words = words, .best = {INFINITY, INFINITY}};
    tiles.outputs = shape->tensors[MER_TENSOR_O].words;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        tiles.tile[d] = tiles.trips[d] = 1;
    }
    walk_tiles(&tiles, 0);
    return tiles.best;
}

/* Largest divisor of the product of the dims in `mask` that is at most `limit`. */
static double largest_product(const MerLayerShape *shape, unsigned mask, int limit)
{
    for (int candidate = limit; candidate > 1; candidate--) {
        int rest = candidate;
        for (int i = 0; i < shape->dim_count; i++) {
            int d = shape->dims[i];
            int size = mask >> d & 1 ? shape->size[d] : 1;
            for (int p = 2; p <= rest && p <= size; p++) {
                while (rest % p == 0 && size % p == 0) {
                    rest /= p;
                    size /= p;
                }
            }
        }
        if (rest == 1) {
            return candidate;
        }
    }
    return 1;
}

/* U*: the most units that exact factors can use. One fan-out is searched axis by axis; with several
 * the product of the fan-outs is the (weaker) limit. */
static double most_units(const MerLayerShape *shape, const MerPlatform *platform)
{
    int    fanouts = 0, x = 1, y = 1;
    double product = 1;
    for (int m = 0; m < platform->memory_count; m++) {
        const MerFanout *fanout = &platform->memories[m].fanout;
        product *= (double)fanout->x * fanout->y;
        if (fanout->x > 1 || fanout->y > 1) {
            fanouts++;
            x = fanout->x;
            y = fanout->y;
        }
    }
    if (fanouts != 1 || product > 1 << 20) {
        return fmin(product, shape->macs);
    }
    int best = 1;
    for (int i = 1; i <= x; i++) {
        for (int j = 1; j <= y; j++) {
            if (i * j > best && largest_product(shape, ~0u, i * j) == i * j) {
                best = i * j;
            }
        }
    }
    return best;
}

typedef struct Spread { /* search for the fewest steps of padded loops on so many units */
    const MerLayerShape *shape;
    double               rest[MER_DIM_COUNT + 1]; /* product of the sizes from a dim on */
    double               best;
} Spread;

/* B1 for padded factors: least product of ceil(D_d / s_d) with the product of the s_d at most `units`. */
static void spread_dims(Spread *spread, int position, int units, double steps)
{
    if (position == spread->shape->dim_count) {
        spread->best = fmin(spread->best, steps);
        return;
    }
    if (steps * fmax(1, spread->rest[position] / units) >= spread->best) {
        return;
    }
    int size = spread->shape->size[spread->shape->dims[position]];
    for (int i = mer_padded_count(size, units) - 1; i >= 0; i--) {
        int share = mer_padded_at(size, i);
        spread_dims(spread, position + 1, units / share, steps * mer_padded_rest(size, share));
    }
}

static double fewest_steps(const MerLayerShape *shape, double units)
{
    Spread spread = {.shape = shape, .best = INFINITY};
    if (units > 1 << 14) {
        return fmax(1, shape->macs / units);
    }
    spread.rest[shape->dim_count] = 1;
    for (int i = shape->dim_count - 1; i >= 0; i--) {
        spread.rest[i] = spread.rest[i + 1] * shape->size[shape->dims[i]];
    }
    spread_dims(&spread, 0, (int)units, 1);
    return spread.best;
}

/* Most of the outputs' parts that can be summed over the array, of `units` at once. */
static double padded_reductions(const MerLayerShape *shape, double units)
{
    double reductions = 1;
    for (int i = 0; i < shape->dim_count; i++) {
        int d = shape->dims[i];
        reductions *= shape->reduction >> d & 1 ? shape->size[d] : 1;
    }
    return fmin(units, reductions);
}

typedef struct LevelLimits { /* one memory, innermost first, as the bounds see it */
    const MerMemory *memory;
    double           instances; /* all there are */
    bool             keeps_all;
} LevelLimits;

/* Gives how many units there are. */
static double take_levels(const MerPlatform *platform, LevelLimits *levels)
{
    unsigned all = (1u << MER_TENSOR_COUNT) - 1;
    double   instances = 1;
    for (int m = 0; m < platform->memory_count; m++) {
        const MerMemory *memory = &platform->memories[m];
        levels[platform->memory_count - 1 - m] =
            (LevelLimits){memory, instances, m == 0 || memory->keep == all};
        instances *= (double)memory->fanout.x * memory->fanout.y;
    }
    return instances;
}

/* Has every MAC a memory of its own that keeps everything? */
static bool is_private(const LevelLimits *innermost)
{
    return innermost->keeps_all && innermost->memory->fanout.x * innermost->memory->fanout.y == 1;
}

/* Words that MACs read: W, I and every partial output but the first. Sliding outputs of padded nests
 * have no simple count: there are at most as many per MAC as their coefficients say. */
static double least_operand_reads(const MerLayerShape *shape, const MerNestBound *bound)
{
    const MerTensorShape *out = &shape->tensors[MER_TENSOR_O];
    double                reads = 3 * shape->macs - out->words * bound->reductions, spread = 1;
    for (int s = 0; s < out->slide_count; s++) {
        const int *coefficient = out->slides[s].coefficient;
        spread *= coefficient[0] > coefficient[1] ? coefficient[0] : coefficient[1];
    }
    return bound->is_padded && out->slide_count > 0 ? fmax(0, 3 - spread) * shape->macs : reads;
}

/* B1. Every level that must hold all tensors reads W and I at least once and takes O once; the
 * innermost one serves every MAC. */
static double bound_cycles(const MerLayerShape *shape, const LevelLimits *levels, int count,
                           double lanes, const MerNestBound *bound)
{
    double in = shape->tensors[MER_TENSOR_W].touched + shape->tensors[MER_TENSOR_I].touched;
    double out = shape->tensors[MER_TENSOR_O].touched;
    double cycles = fmax(0, shape->macs / (bound->units * lanes));
    for (int l = 0; l < count; l++) {
        const MerMemory *memory = levels[l].memory;
        if (levels[l].keeps_all) {
            cycles = fmax(cycles, in / (levels[l].instances * memory->read_words_per_cycle));
            cycles = fmax(cycles, out / (levels[l].instances * memory->write_words_per_cycle));
        }
    }
    if (is_private(&levels[0])) {
        const MerMemory *memory = levels[0].memory;
        double           reads = least_operand_reads(shape, bound);
        cycles = fmax(cycles, reads / (bound->units * memory->read_words_per_cycle));
        cycles = fmax(cycles, shape->macs / (bound->units * memory->write_words_per_cycle));
    }
    return cycles;
}

/* Least energy of serving the MACs: by the innermost memory if it must keep everything, else by
 * whatever memory could do it most cheaply per word, multicast to all units below. */
static double bound_operand_energy(const MerLayerShape *shape, const LevelLimits *levels, int count,
                                   const MerNestBound *bound)
{
    double read = INFINITY, update = INFINITY, below = 1;
    for (int l = 0; l < count; l++) {
        const MerMemory *memory = levels[l].memory;
        below *= (double)memory->fanout.x * memory->fanout.y;
        read = fmin(read, memory->read_pj / below);
        update = fmin(update, memory->update_pj / below);
        if (levels[l].keeps_all) {
            break;
        }
    }
    /* Only a memory of its own per MAC is sure to be asked for partial sums again and again. */
    double reads = is_private(&levels[0]) ? least_operand_reads(shape, bound) : 2 * shape->macs;
    return reads * read + shape->macs * update;
}

/* B4, level by level: each boundary whose child holds everything moves at least Q of its capacity. */
static double bound_energy(const MerLayerShape *shape, const LevelLimits *levels, int count,
                           double mac_pj, MerNestBound *bound)
{
    double operands = bound_operand_energy(shape, levels, count, bound);
    double energy = 0; /* of what crosses boundaries */
    for (int child = 0; child + 1 < count; child++) {
        const LevelLimits *inner = &levels[child];
        const LevelLimits *outer = &levels[child + 1];
        double             own = inner->instances * (inner->memory->words / inner->memory->buffers);
        if (!outer->keeps_all) {
            continue; /* a bypassed parent need not move anything */
        }
        /* Tensors that bypass the child take no capacity in it: then only the compulsory words are sure. */
        MerTrafficBound q =
            traffic_bound(shape, inner->keeps_all ? own : INFINITY, bound->is_padded);
        double written = shape->tensors[MER_TENSOR_O].touched;
        double cheapest = fmin(outer->memory->read_pj, outer->memory->update_pj);
        bool   is_uniform = outer->memory->read_pj == outer->memory->update_pj;
        energy += is_uniform ? q.total * outer->memory->read_pj
                             : fmax(q.total * cheapest, q.reads * outer->memory->read_pj +
                                                            written * outer->memory->update_pj);
        if (inner->keeps_all) {
            energy += q.reads * inner->memory->write_pj;
        }
        bound->outer = q;
    }
    /* If the MACs may be served past the innermost memory, crossing words and operands may be the same. */
    double accesses = levels[0].keeps_all ? operands + energy : fmax(operands, energy);
    return shape->macs * mac_pj + accesses;
}

void mer_nest_bound(const MerLayerShape *shape, const MerPlatform *platform, bool is_padded,
                    MerNestBound *bound)
{
    LevelLimits levels[64];
    int         count = platform->memory_count;
    double      units = take_levels(platform, levels);
    *bound = (MerNestBound){.is_padded = is_padded};
    bound->units =
        is_padded ? shape->macs / fewest_steps(shape, units) : most_units(shape, platform);
    bound->reductions = is_padded ? padded_reductions(shape, units)
                                  : largest_product(shape, shape->reduction, (int)units);
    bound->cycles = bound_cycles(shape, levels, count, platform->units[0].lanes, bound);
    bound->energy = bound_energy(shape, levels, count, platform->units[0].mac_pj, bound);
}
