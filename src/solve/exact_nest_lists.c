/* The lists of exact_nest: all pairs (A_l, T_{l-1}) that fit, each with the least energy and cycles
 * that its boundary and everything inside it can cost, whatever surrounds it.
 *
 * Why the bounds hold. Seen over all copies, the child takes words(T) * layer/volume(T) and the
 * parent gives words(A) * layer/volume(A) words, divided by the run of loops that leave the tensor
 * in place. Only loops outside A can be in that run, so it is at most the product of layer/A over
 * the dims that do not move the tensor, and only one tensor has a run at all (see levels). A halo
 * is the better the more trips slide and the less each shifts: all that is left of the dim, by A. */
#include "solve/exact_nest.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

double mer_exact_value(const ExactSearch *search, double energy, double cycles)
{
    if (search->goal == EXACT_EDP && energy < 0) {
        return -INFINITY; /* fewer cycles would no longer be better: nothing can be said */
    }
    return search->goal == EXACT_ENERGY ? energy : search->goal == EXACT_CYCLES ? cycles : energy * cycles;
}

/* What moving one word between a parent and its children costs at the parent, without the outputs
 * that need not be read before their first update. */
double mer_exact_energy_per_word(const ExactSearch *search, int tensor, int parent)
{
    const MerNestMemory *memory = search->levels[parent].memory;
    double read = memory->read_pj + memory->fanout_pj;
    return tensor == MER_TENSOR_O ? read + memory->update_pj + memory->fanout_pj : read;
}

static double outer_units(const ExactSearch *search, int first, int last)
{
    double units = 1;
    for (int l = first; l <= last; l++) {
        units *= search->levels[l].most_units;
    }
    return units;
}

/* Share of a tensor's traffic that is left when it slides along `position`. */
static double least_share(const ExactTiles *tiles, int tensor, int position, int tile, double trips, double inside)
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

/* halo=timeloop: at least this many different tiles go to the children. */
static double least_distinct(const ExactTiles *tiles, int tensor, int spread)
{
    const MerTensorShape *shape = &tiles->shape->tensors[tensor];
    double distinct = 1;
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        distinct *= shape->plain >> tiles->shape->dims[i] & 1 ? mer_exact_extent(tiles, spread, i) : 1;
    }
    for (int s = 0; s < shape->slide_count; s++) {
        double a = mer_exact_extent(tiles, spread, tiles->slide_position[tensor][s][0]);
        double b = mer_exact_extent(tiles, spread, tiles->slide_position[tensor][s][1]);
        distinct *= a + b - 1;
    }
    return distinct;
}

typedef struct Boundary { /* one pair and what crosses it, over all copies and the whole run */
    int    level, array, inner, spread;
    double rest[MER_DIM_COUNT];        /* layer / A, per position */
    double run[MER_TENSOR_COUNT];      /* longest */
    double given[MER_TENSOR_COUNT];    /* words out of the parent, nothing staying in place */
    double taken[MER_TENSOR_COUNT];    /* words into the children */
    double reductions;                 /* most */
} Boundary;

static void measure_boundary(const ExactSearch *search, Boundary *b)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *level = &search->levels[b->level];
    int whole = tiles->count - 1;
    double outside = tiles->reduction[whole] / tiles->reduction[b->array];
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
        bool sends_tiles = search->model->halo == MER_HALO_TIMELOOP && tiles->shape->tensors[t].slide_count > 0;
        double joint = sends_tiles ? least_distinct(tiles, t, b->spread) * tiles->words[t][b->inner]
                                   : tiles->words[t][b->array];
        int parent = search->levels[b->level - 1].parent[t];
        b->given[t] = joint * (tiles->volume[whole] / tiles->volume[b->array]) /
                      outer_units(search, b->level + 1, parent);
        b->taken[t] = tiles->words[t][b->inner] * (tiles->volume[whole] / tiles->volume[b->inner]);
    }
}

/* Least energy of a tensor when the dims that leave `still` in place run innermost. */
static double tensor_energy(const ExactSearch *search, const Boundary *b, int tensor, int still)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *child = &search->levels[b->level - 1];
    double give = b->given[tensor] * mer_exact_energy_per_word(search, tensor, child->parent[tensor]);
    double take = b->taken[tensor] * child->memory->write_pj;
    if (tensor == still) {
        return (give + take) / b->run[tensor];
    }
    double least = give + take;
    bool sends_tiles = search->model->halo == MER_HALO_TIMELOOP;
    for (int i = 0; i < tiles->shape->dim_count && tiles->shape->tensors[tensor].slide_count > 0; i++) {
        if (tiles->still[i] == 1u << still && b->rest[i] > 1) {
            double inside = mer_exact_extent(tiles, b->array, i);
            double inner = least_share(tiles, tensor, i, b->inner, b->rest[i], inside);
            double outer = sends_tiles ? inner : least_share(tiles, tensor, i, b->array, b->rest[i], inside);
            least = fmin(least, give * outer + take * inner);
        }
    }
    return least;
}

static double boundary_energy(const ExactSearch *search, const Boundary *b)
{
    const ExactLevel *child = &search->levels[b->level - 1];
    double least = INFINITY;
    for (int still = 0; still < MER_TENSOR_COUNT; still++) {
        double energy = 0;
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            energy += b->given[t] > 0 ? tensor_energy(search, b, t, still) : 0;
        }
        least = fmin(least, energy);
    }
    if (child->keep >> MER_TENSOR_O & 1) {
        const MerNestMemory *memory = child->memory;
        least -= search->tiles.shape->tensors[MER_TENSOR_O].words * b->reductions *
                 (memory->read_pj + memory->fanout_pj + memory->write_pj);
    }
    return least;
}

/* What the MACs below one spread use at a time. Where the level below holds more than one step of a
 * sliding dim, its MACs are apart and their rows do not overlap (as joint_footprint of the model). */
static double operand_footprint(const ExactTiles *tiles, const Boundary *b, int tensor)
{
    const MerTensorShape *shape = &tiles->shape->tensors[tensor];
    double words = 1;
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        words *= shape->plain >> tiles->shape->dims[i] & 1 ? mer_exact_extent(tiles, b->spread, i) : 1;
    }
    for (int s = 0; s < shape->slide_count; s++) {
        double height = 1;
        for (int side = 0; side < 2; side++) {
            int position = tiles->slide_position[tensor][s][side];
            double spread = mer_exact_extent(tiles, b->spread, position);
            bool is_apart = mer_exact_extent(tiles, b->inner, position) > 1;
            words *= is_apart ? spread : 1;
            height += is_apart ? 0 : shape->slides[s].coefficient[side] * (spread - 1);
        }
        words *= height;
    }
    return words;
}

/* Words of a tensor that leave its innermost keeper for the MACs: only the spread shares them. */
static double operand_words(const ExactSearch *search, const Boundary *b, int tensor)
{
    const ExactTiles *tiles = &search->tiles;
    double macs = tiles->volume[tiles->count - 1];
    if (b->level > search->mac_parent[tensor]) {
        return macs; /* level 0 has no fan-out and keeps it */
    }
    return operand_footprint(tiles, b, tensor) * (macs / tiles->volume[b->spread]) /
           outer_units(search, b->level + 1, search->mac_parent[tensor]);
}

/* Operands that go to the MACs from further out than a level 0 without fan-out. */
static double operand_energy(const ExactSearch *search, const Boundary *b)
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
static double transfer_cycles(const ExactSearch *search, const Boundary *b)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *child = &search->levels[b->level - 1];
    const ExactLevel *parent = &search->levels[b->level];
    double units = fmin(parent->units_outside, tiles->volume[tiles->count - 1] / tiles->volume[b->array]);
    double out = tiles->shape->tensors[MER_TENSOR_O].words;
    double reads = 0;
    double updates = 0;
    double fills = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        double share = 1;
        for (int i = 0; i < tiles->shape->dim_count && tiles->shape->tensors[t].slide_count > 0; i++) {
            double inside = mer_exact_extent(tiles, b->array, i);
            bool moves = b->rest[i] > 1;
            share = moves ? fmin(share, fmin(least_share(tiles, t, i, b->array, b->rest[i], inside),
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
    reads -= child->parent[MER_TENSOR_O] == b->level ? out * fmin(units, parent->reductions_outside) : 0;
    double child_units = tiles->volume[b->spread] * units;
    return fmax(fmax(reads / (units * parent->memory->read_rate), updates / (units * parent->memory->write_rate)),
                fills / (child_units * child->memory->write_rate));
}

/* Cycles of feeding the MACs, by whatever levels do it. */
static double operand_cycles(const ExactSearch *search, const Boundary *b)
{
    const ExactTiles *tiles = &search->tiles;
    double reads[MER_NEST_MAX_LEVELS] = {0};
    double updates[MER_NEST_MAX_LEVELS] = {0};
    double cycles = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int parent = search->mac_parent[t];
        double words = operand_words(search, b, t);
        reads[parent] += words;
        updates[parent] += t == MER_TENSOR_O ? words : 0;
    }
    for (int l = 0; l < search->level_count; l++) {
        const ExactLevel *level = &search->levels[l];
        bool is_next = l < b->level; /* its copies are those that this boundary spreads over */
        double units = level->units_outside;
        double reductions = is_next ? b->reductions : level->reductions_outside;
        units = is_next ? fmin(units, tiles->volume[b->spread] * search->levels[b->level].units_outside) : units;
        reads[l] -= search->mac_parent[MER_TENSOR_O] == l
                        ? tiles->shape->tensors[MER_TENSOR_O].words * reductions
                        : 0;
        cycles = fmax(cycles, fmax(reads[l] / (units * level->memory->read_rate),
                                   updates[l] / (units * level->memory->write_rate)));
    }
    return cycles;
}

static double boundary_cycles(const ExactSearch *search, const Boundary *b)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *level = &search->levels[b->level];
    double macs = tiles->volume[tiles->count - 1];
    double units = tiles->volume[b->spread] * level->units_outside;
    double inner = b->level > 0 ? outer_units(search, 0, b->level - 1) : 1;
    double cycles = macs / (units * inner * search->model->lanes);
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

static void bound_pair(const ExactSearch *search, Boundary *b, double *energy, double *cycles)
{
    measure_boundary(search, b);
    *energy = b->level > 0 ? boundary_energy(search, b) : 0;
    if (b->level == search->innermost) {
        *energy += operand_energy(search, b);
    }
    *cycles = boundary_cycles(search, b);
}

static bool fits(const ExactSearch *search, int level, int tile)
{
    const MerNestMemory *memory = search->levels[level].memory;
    double need = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        if (search->levels[level].keep >> t & 1) {
            double words = search->tiles.words[t][tile];
            if (words > memory->partition[t]) {
                return false;
            }
            need += words;
        }
    }
    return need <= memory->words;
}

/* Are the temporal factors of level 0 allowed, when nothing inside it is left to choose? */
static bool allows_innermost(const ExactSearch *search, int tile)
{
    const MerNestConstraints *constraints = &search->space->constraints;
    for (int i = 0; i < search->tiles.shape->dim_count; i++) {
        int d = search->tiles.shape->dims[i];
        int factor = (int)mer_exact_extent(&search->tiles, tile, i);
        int exact = constraints->exact[0][MER_PLACE_TEMPORAL][d];
        int most = constraints->most[0][MER_PLACE_TEMPORAL][d];
        if ((exact != 0 && exact != factor) || (most != 0 && factor > most)) {
            return false;
        }
    }
    return true;
}

/* If level 0 keeps nothing and has no fan-out, its loops may as well run in level 1: all that counts
 * is whether a sliding dim has a loop there at all, which sets the MACs apart. */
static bool is_redundant(const ExactSearch *search, int inner)
{
    const ExactTiles *tiles = &search->tiles;
    if (search->innermost == 0 || search->levels[0].keep != 0 || !search->is_free) {
        return false;
    }
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        uint64_t inside = tiles->inside[i][tiles->index[inner][i]];
        bool is_prime = (inside & (inside - 1) & ((inside & (inside - 1)) - 1)) == 0; /* or 1 */
        if (tiles->index[inner][i] > 0 && !(is_prime && mer_exact_slides(tiles, i))) {
            return true;
        }
    }
    return false;
}

/* The tile T * spread, or -1 if it does not divide the layer. */
static int spread_out(const ExactTiles *tiles, int inner, int spread)
{
    int array = 0;
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        int last = tiles->divisor_count[i] - 1;
        int rest = tiles->quotient[i][last][tiles->index[inner][i]];
        int factor = tiles->index[spread][i];
        if (!(tiles->inside[i][rest] >> factor & 1)) {
            return -1;
        }
        array += tiles->stride[i] * tiles->quotient[i][last][tiles->quotient[i][rest][factor]];
    }
    return array;
}

static void add_option(ExactList *list, const ExactOption *option)
{
    if (list->option_count == list->option_room) {
        list->option_room = list->option_room ? 2 * list->option_room : 1024;
        list->options = mer_heap_resize(list->options, (size_t)list->option_room, sizeof *list->options);
    }
    list->options[list->option_count++] = *option;
}

typedef struct Scan { /* what the pairs of a list are held against */
    double outside;   /* least energy of the boundaries outside, and what every nest pays */
    bool   stores;    /* keep the pairs, or only find the least */
} Scan;

static void scan_inner(ExactSearch *search, int l, int inner, const Scan *scan, const int *spreads, int spread_count)
{
    ExactList *list = &search->levels[l].list;
    const ExactList *inside = l > search->innermost ? &search->levels[l - 1].list : NULL;
    double inside_energy = scan->stores && inside ? inside->energy[inner] : 0;
    double inside_cycles = scan->stores && inside ? inside->cycles[inner] : 0;
    if (inside_energy == INFINITY) {
        return;
    }
    for (int s = 0; s < spread_count; s++) {
        Boundary b = {.level = l, .inner = inner, .spread = spreads[s]};
        double energy;
        double cycles;
        b.array = spread_out(&search->tiles, inner, b.spread);
        if (b.array < 0) {
            continue;
        }
        bound_pair(search, &b, &energy, &cycles);
        list->least_energy = fmin(list->least_energy, energy);
        list->least_cycles = fmin(list->least_cycles, cycles);
        cycles = fmax(cycles, inside_cycles);
        energy += inside_energy;
        if (scan->stores && mer_exact_value(search, scan->outside + energy, cycles) < search->cut) {
            add_option(list, &(ExactOption){b.array, inner, b.spread, energy, cycles});
        }
    }
}

/* Energy that no nest of this mask can undercut: what all pay, less the outputs never read. */
static double floor_energy(const ExactSearch *search)
{
    double energy = search->base_energy;
    for (int l = 0; l + 1 < search->level_count; l++) {
        const ExactLevel *level = &search->levels[l];
        if (level->keep >> MER_TENSOR_O & 1) {
            energy -= search->tiles.shape->tensors[MER_TENSOR_O].words * level->reductions_outside *
                      (level->memory->read_pj + level->memory->fanout_pj + level->memory->write_pj);
        }
    }
    return energy;
}

/* Spreads that use too few units to beat the best nest known are left out from the start. */
static int useful_spreads(const ExactSearch *search, int l, int *useful)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *level = &search->levels[l];
    double elsewhere = level->units_outside * (l > 0 ? outer_units(search, 0, l - 1) : 1) * search->model->lanes;
    double energy = floor_energy(search);
    int count = 0;
    for (int s = 0; s < level->spread_count; s++) {
        double cycles = tiles->volume[tiles->count - 1] / (tiles->volume[level->spreads[s]] * elsewhere);
        if (mer_exact_value(search, energy, cycles) < search->cut) {
            useful[count++] = level->spreads[s];
        }
    }
    return count;
}

static void scan_list(ExactSearch *search, int l, const Scan *scan)
{
    ExactLevel *level = &search->levels[l];
    int *useful = MER_ARRAY(search->masked, int, level->spread_count);
    int useful_count = useful_spreads(search, l, useful);
    int last = l == 0 ? 1 : search->tiles.count;
    level->list.least_energy = level->list.least_cycles = INFINITY;
    for (int inner = 0; inner < last && !mer_exact_is_stopped(search); inner++) {
        bool is_usable = l == 0 || (fits(search, l - 1, inner) &&
                                    (l > 1 || search->innermost == 0 ||
                                     (allows_innermost(search, inner) && !is_redundant(search, inner))));
        if (is_usable && level->list.option_count < EXACT_PAIRS) {
            scan_inner(search, l, inner, scan, useful, useful_count);
        }
    }
    if (level->list.option_count >= EXACT_PAIRS) {
        search->is_stopped = true;
    }
}

static int compare_options(const void *a, const void *b)
{
    const ExactOption *left = a;
    const ExactOption *right = b;
    if (left->array != right->array) {
        return left->array < right->array ? -1 : 1;
    }
    if (left->energy != right->energy) {
        return left->energy < right->energy ? -1 : 1;
    }
    return left->inner < right->inner ? -1 : left->inner > right->inner;
}

static int compare_energy(const void *a, const void *b)
{
    const ExactGroup *left = a;
    const ExactGroup *right = b;
    if (left->energy != right->energy) {
        return left->energy < right->energy ? -1 : 1;
    }
    return left->array < right->array ? -1 : left->array > right->array;
}

static int compare_cycles(const void *a, const void *b)
{
    const ExactGroup *left = a;
    const ExactGroup *right = b;
    if (left->cycles != right->cycles) {
        return left->cycles < right->cycles ? -1 : 1;
    }
    return compare_energy(a, b);
}

static void group_options(ExactSearch *search, ExactList *list)
{
    if (list->option_count > 0) {
        qsort(list->options, (size_t)list->option_count, sizeof *list->options, compare_options);
    }
    int count = 0;
    for (int i = 0; i < list->option_count; i++) {
        count += i == 0 || list->options[i].array != list->options[i - 1].array;
    }
    list->groups = MER_ARRAY(search->masked, ExactGroup, count + 1);
    for (int i = 0; i < list->option_count; i++) {
        const ExactOption *option = &list->options[i];
        if (i == 0 || option->array != option[-1].array) {
            list->groups[list->group_count++] = (ExactGroup){option->array, i, 0, INFINITY, INFINITY};
        }
        ExactGroup *group = &list->groups[list->group_count - 1];
        group->count++;
        group->energy = fmin(group->energy, option->energy);
        group->cycles = fmin(group->cycles, option->cycles);
    }
    if (count > 0) {
        qsort(list->groups, (size_t)count, sizeof *list->groups,
              search->goal == EXACT_CYCLES ? compare_cycles : compare_energy);
    }
}

/* Least of the list inside each tile: of the group that fills it, and of all tiles one prime smaller. */
static void spread_bounds(ExactSearch *search, ExactList *list, bool is_idle)
{
    const ExactTiles *tiles = &search->tiles;
    list->energy = MER_ARRAY(search->masked, double, tiles->count);
    list->cycles = MER_ARRAY(search->masked, double, tiles->count);
    for (int tile = 0; tile < tiles->count; tile++) {
        list->energy[tile] = list->cycles[tile] = INFINITY;
    }
    for (int g = 0; g < list->group_count; g++) {
        list->energy[list->groups[g].array] = list->groups[g].energy;
        list->cycles[list->groups[g].array] = list->groups[g].cycles;
    }
    if (is_idle) {
        return; /* the list step fills the tile */
    }
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        for (int tile = 0; tile < tiles->count; tile++) {
            int index = tiles->index[tile][i];
            for (int j = 0; j < index; j++) {
                if (tiles->inside[i][index] >> j & 1) {
                    int smaller = tile + (j - index) * tiles->stride[i];
                    list->energy[tile] = fmin(list->energy[tile], list->energy[smaller]);
                    list->cycles[tile] = fmin(list->cycles[tile], list->cycles[smaller]);
                }
            }
        }
    }
}

static void set_parents(ExactSearch *search, const unsigned *keep)
{
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int parent = -1;
        for (int l = search->level_count - 1; l >= 0; l--) {
            search->levels[l].keep = keep[l];
            search->levels[l].parent[t] = parent;
            parent = keep[l] >> t & 1 ? l : parent;
        }
        search->mac_parent[t] = parent;
    }
    for (int l = 0; l < search->level_count; l++) {
        ExactLevel *level = &search->levels[l];
        bool has_fanout = level->memory->fanout_x * level->memory->fanout_y > 1;
        level->is_idle = l > search->innermost && keep[l - 1] == 0 && !has_fanout && search->is_free;
    }
}

/* What all nests pay: the MACs, their operands where level 0 holds them and has no fan-out, less
 * the outputs that the outermost level never reads. */
static void set_base(ExactSearch *search)
{
    const MerLayerShape *shape = search->tiles.shape;
    const MerNestMemory *outermost = search->levels[search->level_count - 1].memory;
    double out = shape->tensors[MER_TENSOR_O].words;
    for (int l = 0; l < search->level_count; l++) {
        search->base_reads[l] = search->base_writes[l] = 0;
    }
    search->base_energy = shape->macs * search->model->mac_pj - out * (outermost->read_pj + outermost->fanout_pj);
    search->base_reads[search->level_count - 1] -= out;
    for (int t = 0; t < MER_TENSOR_COUNT && search->innermost == 1; t++) {
        if (search->mac_parent[t] == 0) {
            search->base_energy += shape->macs * mer_exact_energy_per_word(search, t, 0);
            search->base_reads[0] += shape->macs;
            search->base_writes[0] += t == MER_TENSOR_O ? shape->macs : 0;
        }
    }
}

void mer_exact_mask_open(ExactSearch *search, const unsigned *keep)
{
    double outside[MER_NEST_MAX_LEVELS + 1] = {0};
    mer_exact_mask_close(search);
    set_parents(search, keep);
    set_base(search);
    int top = search->level_count - 1;
    outside[top] = search->base_energy;
    for (int l = top; l > search->innermost; l--) {
        scan_list(search, l, &(Scan){0, false});
        outside[l - 1] = outside[l] + search->levels[l].list.least_energy;
    }
    for (int l = search->innermost; l <= top; l++) {
        ExactList *list = &search->levels[l].list;
        scan_list(search, l, &(Scan){outside[l], true});
        group_options(search, list);
        spread_bounds(search, list, search->levels[l].is_idle);
    }
}

void mer_exact_mask_close(ExactSearch *search)
{
    for (int l = 0; l < search->level_count; l++) {
        free(search->levels[l].list.options);
        search->levels[l].list = (ExactList){0};
    }
    mer_arena_reset(search->masked);
}

/* Least score of any nest of the mask, as far as the lists say. */
double mer_exact_mask_bound(const ExactSearch *search)
{
    const ExactList *list = &search->levels[search->level_count - 1].list;
    int whole = search->tiles.count - 1;
    return mer_exact_value(search, search->base_energy + list->energy[whole], list->cycles[whole]);
}
