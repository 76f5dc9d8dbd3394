/* What crosses the boundaries that exact_nest has decided, exactly. The arithmetic is that of
 * cost/loopnest_traffic.c, written for tiles by number. */
#include "map/solve/exact_nest.h"

#include <math.h>

/* Times a tile of the tensor is brought in, per trip of all loops outside: less where it stays in
 * place, or where it slides and only the new rows come in. */
static double share_of(const ExactTiles *tiles, int tensor, const ExactView *view, double height0,
                       double height1)
{
    const MerTensorShape *shape = &tiles->shape->tensors[tensor];
    for (int s = 0; s < shape->slide_count && view->first >= 0; s++) {
        for (int side = 0; side < 2; side++) {
            if (tiles->slide_position[tensor][s][side] == view->first) {
                double height = s == 0 ? height0 : height1;
                double shift = shape->slides[s].coefficient[side] * view->inside;
                return shift < height
                           ? (height + (view->trips - 1) * shift) / (view->trips * height)
                           : 1;
            }
        }
    }
    return 1 / view->run[tensor];
}

static double tile_share(const ExactTiles *tiles, int tensor, const ExactView *view, int tile)
{
    int    slides = tiles->shape->tensors[tensor].slide_count;
    double height0 = slides > 0 ? mer_exact_height(tiles, tensor, 0, tile) : 0;
    double height1 = slides > 1 ? mer_exact_height(tiles, tensor, 1, tile) : 0;
    return share_of(tiles, tensor, view, height0, height1);
}

typedef struct Joint { /* what the children of a distant parent hold together */
    double words, height[MER_MAX_SLIDES];
} Joint;

/* As joint_footprint of the model: copies on either side of a temporal loop of a sliding dim are
 * apart. chosen[] of levels child + 1 .. parent must be set. */
static void join(const ExactSearch *search, int tensor, int child, int parent, Joint *joint)
{
    const ExactTiles     *tiles = &search->tiles;
    const MerTensorShape *shape = &tiles->shape->tensors[tensor];
    double                extent[MER_DIM_COUNT];
    double                copies = 1;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        extent[d] = 1;
    }
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        int d = tiles->shape->dims[i];
        extent[d] = mer_exact_extent(tiles, search->chosen[child + 1].inner, i);
        for (int l = child + 1; l <= parent && shape->relevant >> d & 1; l++) {
            double spread = mer_exact_extent(tiles, search->chosen[l].spread, i);
            bool   is_apart = spread > 1 && !(shape->plain >> d & 1) &&
                            mer_exact_extent(tiles, search->chosen[l].inner, i) != extent[d];
            if (is_apart) {
                copies *= spread;
            } else {
                extent[d] *= spread;
            }
        }
    }
    joint->words = copies * mer_layer_footprint(tiles->shape, tensor, extent);
    for (int s = 0; s < shape->slide_count; s++) {
        joint->height[s] = mer_slide_height(&shape->slides[s], extent);
    }
}

/* The spreads of all levels between a child and its parent together. */
static int joint_spread(const ExactSearch *search, int child, int parent)
{
    int spread = search->chosen[child + 1].spread;
    for (int l = child + 2; l <= parent; l++) {
        spread = mer_exact_multiply(&search->tiles, spread, search->chosen[l].spread);
    }
    return spread;
}

/* Words that all copies of the parent send to (or take from) their children, over the whole run.
 * `outward`: trips of all loops outside the child. */
static double given_words(const ExactSearch *search, int tensor, int child, int parent,
                          const ExactView *view, double outward)
{
    const ExactTiles  *tiles = &search->tiles;
    const ExactChoice *step = &search->chosen[child + 1];
    double copies = parent + 1 < search->level_count ? search->chosen[parent + 1].units : 1;
    if (child >= 0 && search->model->halo == MER_HALO_TIMELOOP &&
        tiles->shape->tensors[tensor].slide_count > 0) {
        return mer_exact_distinct(tiles, tensor, joint_spread(search, child, parent)) *
               tiles->words[tensor][step->inner] * tile_share(tiles, tensor, view, step->inner) *
               outward * copies;
    }
    if (child >= 0 && parent == child + 1) {
        return tiles->words[tensor][step->array] * tile_share(tiles, tensor, view, step->array) *
               outward * copies;
    }
    Joint joint = {0};
    join(search, tensor, child, parent, &joint);
    double share = child < 0 ? 1 : share_of(tiles, tensor, view, joint.height[0], joint.height[1]);
    return joint.words * share * outward * copies;
}

static void add_given(const ExactSearch *search, ExactNest *nest, int tensor, int parent,
                      double words)
{
    nest->energy += words * mer_exact_energy_per_word(search, tensor, parent);
    nest->reads[parent] += words;
    nest->writes[parent] += tensor == MER_TENSOR_O ? words : 0;
}

void mer_exact_add_boundary(const ExactSearch *search, int l, ExactNest *nest)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactLevel *child = &search->levels[l - 1];
    int               inner = search->chosen[l].inner;
    double outward = tiles->volume[tiles->count - 1] / (tiles->volume[inner] * nest->units);
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        if (!(child->keep >> t & 1)) {
            continue;
        }
        add_given(search, nest, t, child->parent[t],
                  given_words(search, t, l - 1, child->parent[t], &nest->view, outward));
        double taken = tiles->words[t][inner] * tile_share(tiles, t, &nest->view, inner) * outward *
                       nest->units;
        nest->energy += taken * child->memory->write_pj;
        nest->writes[l - 1] += taken;
    }
    if (child->keep >> MER_TENSOR_O & 1) {
        double fresh = tiles->shape->tensors[MER_TENSOR_O].words * nest->reductions;
        nest->energy -=
            fresh * (child->memory->read_pj + child->memory->fanout_pj + child->memory->write_pj);
        nest->reads[l - 1] -= fresh;
        nest->writes[l - 1] -= fresh;
    }
}

void mer_exact_add_operands(const ExactSearch *search, ExactNest *nest)
{
    const ExactTiles *tiles = &search->tiles;
    double            units = search->chosen[search->innermost].units;
    double            outward = tiles->volume[tiles->count - 1] / units;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int parent = search->mac_parent[t];
        if (search->innermost == 0 || parent > 0) {
            add_given(search, nest, t, parent, given_words(search, t, -1, parent, NULL, outward));
        }
    }
}

double mer_exact_cycles(const ExactSearch *search, int level, const ExactNest *nest)
{
    const ExactTiles *tiles = &search->tiles;
    double            below = 1;
    for (int l = 0; l < level; l++) {
        below *= search->levels[l].most_units;
    }
    bool   is_leaf = level == search->innermost;
    double cycles = tiles->volume[tiles->count - 1] / (nest->units * below * search->model->lanes);
    if (search->has_signed_reads && !is_leaf) {
        return cycles;
    }
    for (int l = level > 0 ? level - 1 : 0; l < search->level_count; l++) {
        const MerNestMemory *memory = search->levels[l].memory;
        double               units = l + 1 < search->level_count ? search->chosen[l + 1].units : 1;
        cycles = fmax(cycles, nest->reads[l] / (units * memory->read_rate));
        cycles = fmax(cycles, nest->writes[l] / (units * memory->write_rate));
    }
    return cycles;
}

double mer_exact_ramp(const ExactSearch *search)
{
    double cycles = 0;
    for (int l = 0; search->model->ramp && l + 1 < search->level_count; l++) {
        for (int t = 0; t < MER_TENSOR_O; t++) {
            bool is_kept = search->levels[l].keep >> t & 1;
            cycles += is_kept ? search->tiles.words[t][search->chosen[l + 1].inner] /
                                    search->levels[l].memory->write_rate
                              : 0;
        }
    }
    return cycles;
}
