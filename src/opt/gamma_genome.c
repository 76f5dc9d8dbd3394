/* GAMMA's operators on knobs (docs/optimizers.md, "GAMMA"): which knobs form a genome, and how they change. */
#include "opt/gamma_genome.h"

static bool sorts_with(const MerKnob *a, const MerKnob *b)
{
    return a->kind == MER_KNOB_RANK && b->kind == MER_KNOB_RANK && a->role == b->role &&
           a->level == b->level;
}

static bool is_factor(const MerKnob *knob)
{
    return (knob->role == MER_ROLE_TILE || knob->role == MER_ROLE_PARALLEL) && knob->dim >= 0;
}

static bool is_of_dim(const MerKnob *a, const MerKnob *b)
{
    return is_factor(a) && is_factor(b) && a->dim == b->dim && a->op == b->op;
}

/* Whole levels swap their dimension; spatial factors of single dimensions swap within a level. */
static bool swaps_parallel(const MerKnob *a, const MerKnob *b)
{
    bool are_parallel = a->role == MER_ROLE_PARALLEL && b->role == MER_ROLE_PARALLEL;
    bool are_levels = a->dim < 0 && b->dim < 0;
    bool are_factors = a->dim >= 0 && b->dim >= 0 && a->level == b->level;
    return are_parallel && a->op == b->op && (are_levels || are_factors);
}

static bool swaps_tile(const MerKnob *a, const MerKnob *b)
{
    return a->role == MER_ROLE_TILE && b->role == MER_ROLE_TILE && a->kind == MER_KNOB_CATEGORY &&
           b->kind == MER_KNOB_CATEGORY && a->level == b->level && a->choices == b->choices;
}

static int cluster_of(const MerSpace *space, int parallel)
{
    const MerKnob *knob = &space->knobs[parallel];
    for (int k = 0; k < space->knob_count && knob->role == MER_ROLE_PARALLEL && knob->dim < 0;
         k++) {
        if (space->knobs[k].role == MER_ROLE_CLUSTER && space->knobs[k].level == knob->level) {
            return k;
        }
    }
    return -1;
}

static void sort_into_places(MerGammaGenome *genome)
{
    const MerSpace *space = genome->space;
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        bool           is_outer =
            is_factor(knob) && knob->role == MER_ROLE_TILE && knob->level > genome->outer_level;
        genome->outer_level = is_outer ? knob->level : genome->outer_level;
        if (knob->choices < 2 || knob->kind == MER_KNOB_RANK) {
            continue;
        }
        switch (knob->role) {
        case MER_ROLE_LEVELS:
            genome->levels = k;
            break;
        case MER_ROLE_HARDWARE:
            genome->hardware[genome->hardware_count++] = k;
            break;
        case MER_ROLE_ORDER:
            genome->category_orders[genome->category_order_count++] = k;
            break;
        case MER_ROLE_CLUSTER:
            break;
        default:
            genome->clusters[genome->locus_count] = cluster_of(space, k);
            genome->loci[genome->locus_count++] = k;
        }
    }
}

/* In GAMMA's genome a tile counts up to the tile outside it, and choice p of a parallel dimension is the
 * p-th tile. Cluster sizes that divide a tile can be drawn only when the space is built like that. */
static void find_nested_tiles(MerGammaGenome *genome, MerArena *arena)
{
    const MerSpace *space = genome->space;
    int             levels = genome->outer_level + 1;
    int            *count = MER_ARRAY(arena, int, levels + 1);
    genome->tiles = MER_ARRAY(arena, int, (size_t)(levels + 1) * (size_t)(space->knob_count + 1));
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        bool           is_tile = knob->role == MER_ROLE_TILE;
        if (is_tile &&
            (knob->kind != MER_KNOB_ORDERED || knob->values || knob->level < 0 || knob->dim < 0)) {
            return;
        }
        if (is_tile) {
            genome->tiles[knob->level * space->knob_count + count[knob->level]++] = k;
        }
    }
    for (int i = 0; i < genome->locus_count; i++) {
        const MerKnob *knob = &space->knobs[genome->loci[i]];
        bool           is_parallel = knob->role == MER_ROLE_PARALLEL;
        if (is_parallel &&
            (knob->dim >= 0 || knob->level >= levels || knob->choices > count[knob->level])) {
            return;
        }
    }
    for (int l = 1; l < levels; l++) {
        if (count[l] != count[0]) {
            return;
        }
    }
    genome->tile_count = levels > 0 ? count[0] : 0;
}

void mer_gamma_genome_make(MerGammaGenome *genome, const MerSpace *space, MerArena *arena)
{
    int capacity = space->knob_count + 1;
    *genome = (MerGammaGenome){.space = space, .levels = -1, .outer_level = -1};
    genome->loci = MER_ARRAY(arena, int, capacity);
    genome->clusters = MER_ARRAY(arena, int, capacity);
    genome->category_orders = MER_ARRAY(arena, int, capacity);
    genome->hardware = MER_ARRAY(arena, int, capacity);
    mer_knob_groups_make(&genome->orders, space, sorts_with, 2, arena);
    mer_knob_groups_make(&genome->dims, space, is_of_dim, 1, arena);
    mer_knob_groups_make(&genome->parallels, space, swaps_parallel, 2, arena);
    mer_knob_groups_make(&genome->tile_peers, space, swaps_tile, 2, arena);
    sort_into_places(genome);
    find_nested_tiles(genome, arena);
}

/* Tiles of 1 can be said only by knobs that count up. */
static bool is_sized_tile(const MerKnob *knob)
{
    return knob->role == MER_ROLE_TILE && knob->kind == MER_KNOB_ORDERED && knob->dim >= 0;
}

void mer_gamma_start(const MerGammaGenome *genome, MerRng *rng, bool is_all_ones, MerIndex *point)
{
    const MerSpace *space = genome->space;
    mer_space_sample(space, rng, point);
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        if (is_sized_tile(knob) && (is_all_ones || knob->level < genome->outer_level)) {
            point[k] = 0;
        }
    }
}

static void swap_between(MerIndex *a, MerIndex *b, int knob)
{
    MerIndex kept = a[knob];
    a[knob] = b[knob];
    b[knob] = kept;
}

void mer_gamma_cross(const MerGammaGenome *genome, MerRng *rng, MerIndex *a, MerIndex *b)
{
    if (genome->dims.count == 0) { /* no tiles: plain uniform crossover */
        for (int k = 0; k < genome->space->knob_count; k++) {
            if (mer_rng_below(rng, 2)) {
                swap_between(a, b, k);
            }
        }
        return;
    }
    int dim = mer_rng_below(rng, genome->dims.count);
    for (int i = genome->dims.start[dim]; i < genome->dims.start[dim + 1]; i++) {
        swap_between(a, b, genome->dims.knobs[i]);
    }
}

static MerIndex any_other(MerRng *rng, const MerSpace *space, int knob, MerIndex now)
{
    MerIndex other = mer_rng_below(rng, space->knobs[knob].choices - 1);
    return other < now ? other : other + 1;
}

/* Two different members of a random group; false if there is no group. */
static bool draw_pair(const MerKnobGroups *groups, MerRng *rng, int *a, int *b)
{
    if (groups->count == 0) {
        return false;
    }
    int chosen = mer_rng_below(rng, groups->count);
    int first = groups->start[chosen];
    int size = groups->start[chosen + 1] - first;
    int i = mer_rng_below(rng, size);
    int j = mer_rng_below(rng, size - 1);
    *a = groups->knobs[first + i];
    *b = groups->knobs[first + j + (j >= i)];
    return true;
}

void mer_gamma_swap_order(const MerGammaGenome *genome, MerRng *rng, MerIndex *point)
{
    int total = genome->orders.count + genome->category_order_count;
    int chosen = total > 0 ? mer_rng_below(rng, total) : 0;
    int a, b;
    if (chosen < genome->category_order_count) {
        int knob = genome->category_orders[chosen];
        point[knob] = any_other(rng, genome->space, knob, point[knob]);
    } else if (draw_pair(&genome->orders, rng, &a, &b)) {
        MerIndex kept = point[a];
        point[a] = point[b];
        point[b] = kept;
    }
}

/* Size of a tile in the nested genome: its index spread over what the tile outside leaves. */
static int64_t tile_size(const MerGammaGenome *genome, int level, int tile, const MerIndex *point)
{
    int64_t size = 0;
    for (int l = genome->outer_level; l >= level; l--) {
        int     knob = genome->tiles[l * genome->space->knob_count + tile];
        int64_t choices = genome->space->knobs[knob].choices;
        size = 1 + point[knob] * (l == genome->outer_level ? choices : size) / choices;
    }
    return size;
}

static int64_t draw_divisor(MerRng *rng, int64_t number)
{
    int     count = 0;
    int64_t drawn = 1;
    for (int64_t d = 1; d <= number; d++) {
        if (number % d == 0 && mer_rng_below(rng, ++count) == 0) {
            drawn = d;
        }
    }
    return drawn;
}

static void mutate_cluster(const MerGammaGenome *genome, MerRng *rng, int parallel, int cluster,
                           MerIndex *point)
{
    const MerKnob *knob = &genome->space->knobs[cluster];
    if (genome->tile_count == 0 || knob->values || knob->level >= genome->outer_level) {
        point[cluster] = mer_rng_below(rng, knob->choices);
        return;
    }
    int64_t most = tile_size(genome, knob->level + 1, point[parallel], point);
    most = most < knob->choices ? most : knob->choices;
    int64_t size = draw_divisor(rng, most);
    point[cluster] = (MerIndex)(((size - 1) * knob->choices + most - 1) / most);
}

void mer_gamma_mutate_locus(const MerGammaGenome *genome, MerRng *rng, bool use_factor,
                            MerIndex *point)
{
    if (genome->locus_count == 0) {
        return;
    }
    int            locus = mer_rng_below(rng, genome->locus_count);
    int            k = genome->loci[locus];
    const MerKnob *knob = &genome->space->knobs[k];
    if (use_factor && is_sized_tile(knob) && !knob->values) {
        point[k] = (MerIndex)draw_divisor(rng, knob->choices) - 1;
    } else {
        point[k] = any_other(rng, genome->space, k, point[k]);
    }
    if (genome->clusters[locus] >= 0) {
        mutate_cluster(genome, rng, k, genome->clusters[locus], point);
    }
}

static MerIndex fitted(const MerGammaGenome *genome, int knob, MerIndex index)
{
    int last = genome->space->knobs[knob].choices - 1;
    return index < last ? index : last;
}

/* Where every prime factor picks its place, two factors that change places do the same. */
void mer_gamma_swap_parallel(const MerGammaGenome *genome, MerRng *rng, MerIndex *point)
{
    int a, b;
    if (draw_pair(&genome->parallels, rng, &a, &b) || draw_pair(&genome->tile_peers, rng, &a, &b)) {
        MerIndex kept = point[a];
        point[a] = fitted(genome, a, point[b]);
        point[b] = fitted(genome, b, kept);
    }
}

void mer_gamma_mutate_hardware(const MerGammaGenome *genome, MerRng *rng, MerIndex *point)
{
    if (genome->hardware_count > 0) {
        int knob = genome->hardware[mer_rng_below(rng, genome->hardware_count)];
        point[knob] = any_other(rng, genome->space, knob, point[knob]);
    }
}

void mer_gamma_change_levels(const MerGammaGenome *genome, MerRng *rng, int step, MerIndex *point)
{
    const MerSpace *space = genome->space;
    if (genome->levels < 0) {
        return;
    }
    int before = point[genome->levels];
    int after = before + step;
    if (after < 0 || after >= space->knobs[genome->levels].choices) {
        return;
    }
    point[genome->levels] = after;
    int appeared = space->knobs[genome->levels].choices - 1 - after; /* level 0 is the innermost */
    for (int k = 0; k < space->knob_count && step > 0; k++) {
        if (space->knobs[k].level == appeared) {
            point[k] = mer_rng_below(rng, space->knobs[k].choices);
        }
    }
}
