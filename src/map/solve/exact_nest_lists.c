/* The lists of exact_nest: all pairs (A_l, T_{l-1}) that fit and can still beat the best nest known,
 * each with the least that it and everything inside it costs. */
#include "map/solve/exact_nest.h"

#include <math.h>
#include <stdlib.h>

static bool fits(const ExactSearch *search, int level, int tile)
{
    const MerNestMemory *memory = search->levels[level].memory;
    double               need = 0;
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
        bool     is_prime = (inside & (inside - 1) & ((inside & (inside - 1)) - 1)) == 0; /* or 1 */
        if (tiles->index[inner][i] > 0 && !(is_prime && mer_exact_slides(tiles, i))) {
            return true;
        }
    }
    return false;
}

typedef struct Spread { /* a spread of a list, with what holds for it whatever tile it spreads */
    int    tile;
    double energy, cycles;
    /* words a parent gives for each word its children take, at least */
    double shared[MER_TENSOR_COUNT];
} Spread;

typedef struct Scan { /* what the pairs of a list are held against */
    double  outside;  /* least energy of the boundaries outside, and what every nest pays */
    bool    stores;   /* keep the pairs, or only find the least */
    int     spread_count;
    Spread *spreads;
} Scan;

/* Least energy of what the children take, for the two cases of a tensor: it stays in place or not.
 * With this a pair is ruled out in a few operations. */
typedef struct Intake {
    double moving[MER_TENSOR_COUNT], still[MER_TENSOR_COUNT]; /* words */
    double give[MER_TENSOR_COUNT], take;                      /* energy per word */
} Intake;

/* Share of the rows of any tile around `inner` that a step along a sliding dim brings in anew: the
 * least shift over the greatest height, the other dim being whole. */
static double least_new_rows(const ExactTiles *tiles, int tensor, int inner)
{
    const MerTensorShape *shape = &tiles->shape->tensors[tensor];
    int                   whole = tiles->count - 1;
    double                share = 1;
    for (int s = 0; s < shape->slide_count; s++) {
        const int *position = tiles->slide_position[tensor][s];
        for (int side = 0; side < 2; side++) {
            double shift =
                shape->slides[s].coefficient[side] * mer_exact_extent(tiles, inner, position[side]);
            double other = mer_exact_extent(tiles, whole, position[1 - side]) - 1;
            bool   moves = mer_exact_extent(tiles, whole, position[side]) >
                         mer_exact_extent(tiles, inner, position[side]);
            double height = 1 + shift - shape->slides[s].coefficient[side] +
                            shape->slides[s].coefficient[1 - side] * other;
            share = moves ? fmin(share, shift / height) : share;
        }
    }
    return share;
}

static void measure_intake(const ExactSearch *search, int l, int inner, Intake *intake)
{
    const ExactTiles *tiles = &search->tiles;
    int               whole = tiles->count - 1;
    *intake = (Intake){.take = l > 0 ? search->levels[l - 1].memory->write_pj : 0};
    for (int t = 0; t < MER_TENSOR_COUNT && l > 0; t++) {
        if (!(search->levels[l - 1].keep >> t & 1)) {
            continue;
        }
        int    parent = search->levels[l - 1].parent[t];
        double words = tiles->words[t][inner] * (tiles->volume[whole] / tiles->volume[inner]);
        double run = 1;
        for (int i = 0; i < tiles->shape->dim_count; i++) {
            double rest = mer_exact_extent(tiles, whole, i) / mer_exact_extent(tiles, inner, i);
            run *= tiles->still[i] >> t & 1 ? rest : 1;
        }
        intake->moving[t] = words * least_new_rows(tiles, t, inner);
        intake->still[t] = words / run;
        intake->give[t] =
            mer_exact_energy_per_word(search, t, parent) / mer_exact_units(search, l + 1, parent);
    }
}

static bool is_hopeless(const ExactSearch *search, const Scan *scan, const Intake *intake,
                        const Spread *spread, double inside_energy, double inside_cycles)
{
    double least = INFINITY;
    for (int still = 0; still < MER_TENSOR_COUNT; still++) {
        double energy = 0;
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            double words = t == still ? intake->still[t] : intake->moving[t];
            energy += words * (intake->take + intake->give[t] * spread->shared[t]);
        }
        least = fmin(least, energy);
    }
    double cycles = fmax(spread->cycles, inside_cycles);
    return !(mer_exact_value(search, scan->outside + inside_energy + spread->energy + least,
                             cycles) < search->cut);
}

static void scan_inner(ExactSearch *search, int l, int inner, const Scan *scan)
{
    ExactList       *list = &search->levels[l].list;
    const ExactList *inside = l > search->innermost ? &search->levels[l - 1].list : NULL;
    double           inside_energy = scan->stores && inside ? inside->energy[inner] : 0;
    double           inside_cycles = scan->stores && inside ? inside->cycles[inner] : 0;
    Intake           intake;
    if (inside_energy == INFINITY) {
        return;
    }
    measure_intake(search, l, inner, &intake);
    for (int s = 0; s < scan->spread_count; s++) {
        ExactBoundary b = {.level = l, .inner = inner, .spread = scan->spreads[s].tile};
        double        energy, cycles;
        if (scan->stores &&
            is_hopeless(search, scan, &intake, &scan->spreads[s], inside_energy, inside_cycles)) {
            continue;
        }
        b.array = mer_exact_multiply(&search->tiles, inner, b.spread);
        if (b.array < 0) {
            continue;
        }
        mer_exact_bound(search, &b, &energy, &cycles);
        list->least_energy = fmin(list->least_energy, energy);
        list->least_cycles = fmin(list->least_cycles, cycles);
        cycles = fmax(cycles, inside_cycles);
        energy += inside_energy;
        if (scan->stores && mer_exact_value(search, scan->outside + energy, cycles) < search->cut) {
            list->options =
                mer_exact_grow(list->options, list->option_count, sizeof *list->options);
            list->options[list->option_count++] =
                (ExactOption){b.array, inner, b.spread, energy, cycles};
        }
    }
}

/* Energy that no nest of this mask can undercut: what all pay, less the outputs never read. */
static double floor_energy(const ExactSearch *search)
{
    double energy = search->base_energy;
    for (int l = 0; l + 1 < search->level_count; l++) {
        energy -= mer_exact_spared(search, l, search->levels[l].reductions_outside);
    }
    return energy;
}

static void measure_spread(const ExactSearch *search, int l, Spread *spread)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *level = &search->levels[l];
    double            macs = tiles->volume[tiles->count - 1];
    double elsewhere = level->units_outside * (l > 0 ? mer_exact_units(search, 0, l - 1) : 1) *
                       search->model->lanes;
    spread->cycles = macs / (tiles->volume[spread->tile] * elsewhere);
    spread->energy = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int parent = search->mac_parent[t];
        /* operand words per MAC below it, at least: sliding rows may overlap */
        spread->shared[t] = mer_exact_plain(tiles, t, spread->tile) / tiles->volume[spread->tile];
        if (l == search->innermost && l <= parent) {
            spread->energy += spread->shared[t] * macs *
                              mer_exact_energy_per_word(search, t, parent) /
                              mer_exact_units(search, l + 1, parent);
        }
    }
    if (l > 0) {
        spread->energy -= mer_exact_spared(
            search, l - 1, tiles->reduction[spread->tile] * level->reductions_outside);
    }
}

/* Spreads that use too few units to beat the best nest known are left out from the start. */
static void list_useful_spreads(ExactSearch *search, int l, Scan *scan)
{
    const ExactLevel *level = &search->levels[l];
    double            energy = floor_energy(search);
    scan->spreads = MER_ARRAY(search->masked, Spread, level->spread_count + 1);
    for (int s = 0; s < level->spread_count; s++) {
        Spread *spread = &scan->spreads[scan->spread_count];
        spread->tile = level->spreads[s];
        measure_spread(search, l, spread);
        scan->spread_count += mer_exact_value(search, energy, spread->cycles) < search->cut;
    }
}

static void scan_list(ExactSearch *search, int l, Scan scan)
{
    ExactLevel *level = &search->levels[l];
    int         last = l == 0 ? 1 : search->tiles.count;
    double      trips[MER_DIM_COUNT];
    list_useful_spreads(search, l, &scan);
    level->list.least_energy = level->list.least_cycles = INFINITY;
    for (int inner = 0; inner < last && !mer_exact_is_stopped(search); inner++) {
        bool is_usable =
            l == 0 ||
            (fits(search, l - 1, inner) &&
             (l > 1 || search->innermost == 0 ||
              (mer_exact_trips(search, 0, inner, 0, trips) && !is_redundant(search, inner))));
        if (is_usable && level->list.option_count < EXACT_PAIRS) {
            scan_inner(search, l, inner, &scan);
        }
    }
    if (level->list.option_count >= EXACT_PAIRS) {
        search->is_stopped = true;
    }
}

static int compare_options(const void *a, const void *b)
{
    const ExactOption *left = a, *right = b;
    int                by_array = EXACT_ORDER(left->array, right->array);
    int                by_energy = EXACT_ORDER(left->energy, right->energy);
    return by_array ? by_array : by_energy ? by_energy : EXACT_ORDER(left->inner, right->inner);
}

static int compare_energy(const void *a, const void *b)
{
    const ExactGroup *left = a, *right = b;
    int               by_energy = EXACT_ORDER(left->energy, right->energy);
    return by_energy ? by_energy : EXACT_ORDER(left->array, right->array);
}

static int compare_cycles(const void *a, const void *b)
{
    const ExactGroup *left = a, *right = b;
    int               by_cycles = EXACT_ORDER(left->cycles, right->cycles);
    return by_cycles ? by_cycles : compare_energy(a, b);
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
            list->groups[list->group_count++] =
                (ExactGroup){option->array, i, 0, INFINITY, INFINITY};
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
        bool        has_fanout = level->memory->fanout_x * level->memory->fanout_y > 1;
        level->is_idle =
            l > search->innermost && keep[l - 1] == 0 && !has_fanout && search->is_free;
    }
}

/* What all nests pay: the MACs, their operands where level 0 holds them and has no fan-out, less
 * the outputs that the outermost level never reads. */
static void set_base(ExactSearch *search)
{
    const MerLayerShape *shape = search->tiles.shape;
    const MerNestMemory *outermost = search->levels[search->level_count - 1].memory;
    double               out = shape->tensors[MER_TENSOR_O].words;
    for (int l = 0; l < search->level_count; l++) {
        search->base_reads[l] = search->base_writes[l] = 0;
    }
    search->base_energy =
        shape->macs * search->model->mac_pj - out * (outermost->read_pj + outermost->fanout_pj);
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
        scan_list(search, l, (Scan){.stores = false});
        outside[l - 1] = outside[l] + search->levels[l].list.least_energy;
    }
    for (int l = search->innermost; l <= top; l++) {
        ExactList *list = &search->levels[l].list;
        scan_list(search, l, (Scan){.outside = outside[l], .stores = true});
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
    int              whole = search->tiles.count - 1;
    return mer_exact_value(search, search->base_energy + list->energy[whole], list->cycles[whole]);
}
