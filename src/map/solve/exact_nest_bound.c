/* Bounds of exact_nest: the least energy and cycles that one pair (A_l, T_{l-1}) can cost at its
 * boundary, whatever surrounds it.
 *
 * Why they hold. Seen over all copies, the child takes words(T) * layer/volume(T) and the parent
 * gives words(A) * layer/volume(A) words, divided by the run of loops that leave the tensor in
 * place. Only loops outside A can be in that run, so it is at most the product of layer/A over the
 * dims that do not move the tensor, and only one tensor has a run at all (see levels). A halo is the
 * better the more trips slide and the less each shifts: all that is left of the dim, by A. */
#include "map/solve/exact_nest.h"

#include <math.h>

double mer_exact_value(const ExactSearch *search, double energy, double cycles)
{
    if (search->goal == EXACT_EDP && energy < 0) {
        return -INFINITY; /* fewer cycles would no longer be better: nothing can be said */
    }
    return search->goal == EXACT_ENERGY   ? energy
           : search->goal == EXACT_CYCLES ? cycles
                                          : energy * cycles;
}

/* What moving one word between a parent and its children costs at the parent, without the outputs
 * that need not be read before their first update. */
double mer_exact_energy_per_word(const ExactSearch *search, int tensor, int parent)
{
    const MerNestMemory *memory = search->levels[parent].memory;
    double               read = memory->read_pj + memory->fanout_pj;
    return tensor == MER_TENSOR_O ? read + memory->update_pj + memory->fanout_pj : read;
}

double mer_exact_spared(const ExactSearch *search, int level, double reductions)
{
    const MerNestMemory *memory = search->levels[level].memory;
    bool                 keeps = search->levels[level].keep >> MER_TENSOR_O & 1;
    return keeps ? search->tiles.shape->tensors[MER_TENSOR_O].words * reductions *
                       (memory->read_pj + memory->fanout_pj + memory->write_pj)
                 : 0;
}

double mer_exact_units(const ExactSearch *search, int first, int last)
{
    double units = 1;
    for (int l = first; l <= last; l++) {
        units *= search->levels[l].most_units;
    }
    return units;
}

/* Share of a tensor's traffic that is left when it slides along `position`. */
static double least_share(const ExactTiles *tiles, int tensor, int position, int tile, double trips,
                          double inside)
{
    for (int s = 0; s < tiles->shape->tensors[tensor].slide_count; s++) {
        for (int side = 0; side < 2; side++) {
            if (tiles->slide_position[tensor][s][side] == position) {
                double height = mer_exact_height(tiles, tensor, s, tile);
                double shift = tiles->shape->tensors[tensor].slides[s].coefficient[side] * inside;
                return shift < height ? (height + (trips - 1) * shift) / (trips * height) : 1;
            }
        }
    }
    return 1;
}

static void measure_boundary(const ExactSearch *search, ExactBoundary *b)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *level = &search->levels[b->level];
    int               whole = tiles->count - 1;
    double            outside = tiles->reduction[whole] / tiles->reduction[b->array];
    b->reductions = tiles->reduction[b->spread] * fmin(outside, level->reductions_outside);
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        b->run[t] = 1;
    }
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        b->rest[i] = mer_exact_extent(tiles, whole, i) / mer_exact_extent(tiles, b->array, i);
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            b->run[t] *= tiles->still[i] >> t & 1 ? b->rest[i] : 1;
        }
    }
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        b->given[t] = b->taken[t] = 0;
        if (b->level == 0 || !(search->levels[b->level - 1].keep >> t & 1)) {
            continue;
        }
        bool sends_tiles =
            search->model->halo == MER_HALO_TIMELOOP && tiles->shape->tensors[t].slide_count > 0;
        double joint = sends_tiles
                           ? mer_exact_distinct(tiles, t, b->spread) * tiles->words[t][b->inner]
                           : tiles->words[t][b->array];
        int    parent = search->levels[b->level - 1].parent[t];
        b->given[t] = joint * (tiles->volume[whole] / tiles->volume[b->array]) /
                      mer_exact_units(search, b->level + 1, parent);
        b->taken[t] = tiles->words[t][b->inner] * (tiles->volume[whole] / tiles->volume[b->inner]);
    }
}

/* Least energy of a tensor when the dims that leave `still` in place run innermost. */
static double tensor_energy(const ExactSearch *search, const ExactBoundary *b, int tensor,
                            int still)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *child = &search->levels[b->level - 1];
    double            give =
        b->given[tensor] * mer_exact_energy_per_word(search, tensor, child->parent[tensor]);
    double take = b->taken[tensor] * child->memory->write_pj;
    if (tensor == still) {
        return (give + take) / b->run[tensor];
    }
    double least = give + take;
    bool   sends_tiles = search->model->halo == MER_HALO_TIMELOOP;
    for (int i = 0; i < tiles->shape->dim_count && tiles->shape->tensors[tensor].slide_count > 0;
         i++) {
        if (tiles->still[i] == 1u << still && b->rest[i] > 1) {
            double inside = mer_exact_extent(tiles, b->array, i);
            double inner = least_share(tiles, tensor, i, b->inner, b->rest[i], inside);
            double outer =
                sends_tiles ? inner : least_share(tiles, tensor, i, b->array, b->rest[i], inside);
            least = fmin(least, give * outer + take * inner);
        }
    }
    return least;
}

static double boundary_energy(const ExactSearch *search, const ExactBoundary *b)
{
    double least = INFINITY;
    for (int still = 0; still < MER_TENSOR_COUNT; still++) {
        double energy = 0;
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            energy += b->given[t] > 0 ? tensor_energy(search, b, t, still) : 0;
        }
        least = fmin(least, energy);
    }
    return least - mer_exact_spared(search, b->level - 1, b->reductions);
}

/* What the MACs below one spread use at a time. Where the level below holds more than one step of a
 * sliding dim, its MACs are apart and their rows do not overlap (as joint_footprint of the model). */
static double operand_footprint(const ExactTiles *tiles, const ExactBoundary *b, int tensor)
{
    const MerTensorShape *shape = &tiles->shape->tensors[tensor];
    double                words = mer_exact_plain(tiles, tensor, b->spread);
    for (int s = 0; s < shape->slide_count; s++) {
        double height = 1;
        for (int side = 0; side < 2; side++) {
            int    position = tiles->slide_position[tensor][s][side];
            double spread = mer_exact_extent(tiles, b->spread, position);
            bool   is_apart = mer_exact_extent(tiles, b->inner, position) > 1;
            words *= is_apart ? spread : 1;
            height += is_apart ? 0 : shape->slides[s].coefficient[side] * (spread - 1);
        }
        words *= height;
    }
    return words;
}

/* Words of a tensor that leave its innermost keeper for the MACs: only the spread shares them. */
static double operand_words(const ExactSearch *search, const ExactBoundary *b, int tensor)
{
    const ExactTiles *tiles = &search->tiles;
    double            macs = tiles->volume[tiles->count - 1];
    if (b->level > search->mac_parent[tensor]) {
        return macs; /* level 0 has no fan-out and keeps it */
    }
    return operand_footprint(tiles, b, tensor) * (macs / tiles->volume[b->spread]) /
           mer_exact_units(search, b->level + 1, search->mac_parent[tensor]);
}

/* Operands that go to the MACs from further out than a level 0 without fan-out. */
static double operand_energy(const ExactSearch *search, const ExactBoundary *b)
{
    double energy = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int parent = search->mac_parent[t];
        if (b->level <= parent) {
            energy += operand_words(search, b, t) * mer_exact_energy_per_word(search, t, parent);
        }
    }
    return energy;
}

/* Cycles of moving words at the two ends of a boundary, each tensor at its best. */
static double transfer_cycles(const ExactSearch *search, const ExactBoundary *b)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *child = &search->levels[b->level - 1];
    const ExactLevel *parent = &search->levels[b->level];
    double            units =
        fmin(parent->units_outside, tiles->volume[tiles->count - 1] / tiles->volume[b->array]);
    double out = tiles->shape->tensors[MER_TENSOR_O].words;
    double reads = 0, updates = 0, fills = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        double share = 1;
        for (int i = 0; i < tiles->shape->dim_count && tiles->shape->tensors[t].slide_count > 0;
             i++) {
            double inside = mer_exact_extent(tiles, b->array, i);
            bool   moves = b->rest[i] > 1;
            share = moves
                        ? fmin(share, fmin(least_share(tiles, t, i, b->array, b->rest[i], inside),
                                           least_share(tiles, t, i, b->inner, b->rest[i], inside)))
                        : share;
        }
        share = fmin(share, 1 / b->run[t]);
        if (child->parent[t] == b->level) {
            reads += b->given[t] * share;
            updates += t == MER_TENSOR_O ? b->given[t] * share : 0;
        }
        fills += b->taken[t] * share;
    }
    if (child->keep >> MER_TENSOR_O & 1) {
        fills -= out * b->reductions;
    }
    reads -=
        child->parent[MER_TENSOR_O] == b->level ? out * fmin(units, parent->reductions_outside) : 0;
    double child_units = tiles->volume[b->spread] * units;
    return fmax(fmax(reads / (units * parent->memory->read_rate),
                     updates / (units * parent->memory->write_rate)),
                fills / (child_units * child->memory->write_rate));
}

/* Cycles of feeding the MACs, by whatever levels do it. */
static double operand_cycles(const ExactSearch *search, const ExactBoundary *b)
{
    const ExactTiles *tiles = &search->tiles;
    double            reads[MER_NEST_MAX_LEVELS] = {0}, updates[MER_NEST_MAX_LEVELS] = {0};
    double            cycles = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int    parent = search->mac_parent[t];
        double words = operand_words(search, b, t);
        reads[parent] += words;
        updates[parent] += t == MER_TENSOR_O ? words : 0;
    }
    for (int l = 0; l < search->level_count; l++) {
        const ExactLevel *level = &search->levels[l];
        bool   is_next = l < b->level; /* its copies are those that this boundary spreads over */
        double units = level->units_outside;
        double reductions = is_next ? b->reductions : level->reductions_outside;
        units = is_next
                    ? fmin(units, tiles->volume[b->spread] * search->levels[b->level].units_outside)
                    : units;
        reads[l] -= search->mac_parent[MER_TENSOR_O] == l
                        ? tiles->shape->tensors[MER_TENSOR_O].words * reductions
                        : 0;
        cycles = fmax(cycles, fmax(reads[l] / (units * level->memory->read_rate),
                                   updates[l] / (units * level->memory->write_rate)));
    }
    return cycles;
}

static double boundary_cycles(const ExactSearch *search, const ExactBoundary *b)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *level = &search->levels[b->level];
    double            macs = tiles->volume[tiles->count - 1];
    double            units = tiles->volume[b->spread] * level->units_outside;
    double            inner = b->level > 0 ? mer_exact_units(search, 0, b->level - 1) : 1;
    double            cycles = macs / (units * inner * search->model->lanes);
    if (search->has_signed_reads) {
        return cycles;
    }
    if (b->level > 0) {
        cycles = fmax(cycles, transfer_cycles(search, b));
    }
    if (b->level == search->innermost) {
        cycles = fmax(cycles, operand_cycles(search, b));
    }
    return cycles;
}

void mer_exact_bound(const ExactSearch *search, ExactBoundary *b, double *energy, double *cycles)
{
    measure_boundary(search, b);
    *energy = b->level > 0 ? boundary_energy(search, b) : 0;
    if (b->level == search->innermost) {
        *energy += operand_energy(search, b);
    }
    *cycles = boundary_cycles(search, b);
}
