/* Tiles of exact_nest: every tile that divides the layer, numbered, with its footprints; and how a
 * spread of tiles fits on the two axes of a fan-out. */
#include "map/solve/exact_nest.h"

#include "base/memory.h"
#include "map/nest/factors.h"

#include <string.h>

void *mer_exact_grow(void *list, int count, size_t size)
{
    bool is_full = count == 0 || (count >= 1024 && (count & (count - 1)) == 0);
    return is_full ? mer_heap_resize(list, count == 0 ? 1024 : 2 * (size_t)count, size) : list;
}

static void relate_divisors(ExactTiles *tiles, int position)
{
    const int *value = tiles->value[position];
    int        count = tiles->divisor_count[position];
    for (int i = 0; i < count; i++) {
        for (int j = 0; j <= i; j++) {
            if (value[i] % value[j] != 0) {
                continue;
            }
            int q = 0;
            while (value[q] != value[i] / value[j]) {
                q++;
            }
            tiles->inside[position][i] |= UINT64_C(1) << j;
            tiles->quotient[position][i][j] = (uint8_t)q;
        }
    }
}

static void measure_tile(ExactTiles *tiles, int tile)
{
    const MerLayerShape *shape = tiles->shape;
    double               extent[MER_DIM_COUNT];
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        extent[d] = 1;
    }
    tiles->volume[tile] = tiles->reduction[tile] = 1;
    for (int i = 0; i < shape->dim_count; i++) {
        int index = tile / tiles->stride[i] % tiles->divisor_count[i];
        int d = shape->dims[i];
        tiles->index[tile][i] = (uint8_t)index;
        extent[d] = tiles->value[i][index];
        tiles->volume[tile] *= extent[d];
        tiles->reduction[tile] *= shape->reduction >> d & 1 ? extent[d] : 1;
    }
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        tiles->words[t][tile] = mer_layer_footprint(shape, t, extent);
    }
}

static void locate_slides(ExactTiles *tiles)
{
    const MerLayerShape *shape = tiles->shape;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        for (int s = 0; s < shape->tensors[t].slide_count; s++) {
            for (int side = 0; side < 2; side++) {
                tiles->slide_position[t][s][side] = -1;
                for (int i = 0; i < shape->dim_count; i++) {
                    if (shape->dims[i] == shape->tensors[t].slides[s].dim[side]) {
                        tiles->slide_position[t][s][side] = i;
                    }
                }
            }
        }
    }
}

bool mer_exact_slides(const ExactTiles *tiles, int position)
{
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        for (int s = 0; s < tiles->shape->tensors[t].slide_count; s++) {
            const int *pair = tiles->slide_position[t][s];
            if (pair[0] == position || pair[1] == position) {
                return true;
            }
        }
    }
    return false;
}

/* The tensor that each dim leaves in place. False if there are two, or none and the dim slides: the
 * argument about orders needs layers as every operator with MACs has them. */
static bool find_still_tensors(ExactTiles *tiles)
{
    const MerLayerShape *shape = tiles->shape;
    bool                 is_single = true;
    for (int i = 0; i < shape->dim_count; i++) {
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            bool is_moved = shape->tensors[t].relevant >> shape->dims[i] & 1;
            is_single = is_single && (is_moved || !tiles->still[i]);
            tiles->still[i] = is_moved ? tiles->still[i] : 1u << t;
        }
        is_single = is_single && (tiles->still[i] || !mer_exact_slides(tiles, i));
    }
    return is_single;
}

static bool number_tiles(ExactTiles *tiles)
{
    const MerLayerShape *shape = tiles->shape;
    tiles->count = 1;
    for (int i = 0; i < shape->dim_count; i++) {
        int divisors[MER_MOST_DIVISORS];
        int count = mer_divisors(shape->size[shape->dims[i]], divisors);
        if (count > EXACT_DIVISORS || tiles->count > EXACT_TILES / count) {
            return false;
        }
        memcpy(tiles->value[i], divisors, (size_t)count * sizeof *divisors);
        tiles->divisor_count[i] = count;
        relate_divisors(tiles, i);
        tiles->stride[i] = tiles->count;
        tiles->count *= count;
    }
    return true;
}

bool mer_exact_tiles_make(ExactTiles *tiles, const MerLayerShape *shape, MerArena *arena)
{
    *tiles = (ExactTiles){.shape = shape};
    locate_slides(tiles);
    if (!find_still_tensors(tiles) || !number_tiles(tiles)) {
        return false;
    }
    tiles->index = mer_arena_alloc_array(arena, (size_t)tiles->count, sizeof *tiles->index);
    tiles->volume = MER_ARRAY(arena, double, tiles->count);
    tiles->reduction = MER_ARRAY(arena, double, tiles->count);
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        tiles->words[t] = MER_ARRAY(arena, double, tiles->count);
    }
    for (int tile = 0; tile < tiles->count; tile++) {
        measure_tile(tiles, tile);
    }
    return true;
}

int mer_exact_divide(const ExactTiles *tiles, int tile, int divisor)
{
    int quotient = 0;
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        quotient +=
            tiles->stride[i] * tiles->quotient[i][tiles->index[tile][i]][tiles->index[divisor][i]];
    }
    return quotient;
}

int mer_exact_multiply(const ExactTiles *tiles, int tile, int factor)
{
    int product = 0;
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        int last = tiles->divisor_count[i] - 1;
        int rest = tiles->quotient[i][last][tiles->index[tile][i]];
        int share = tiles->index[factor][i];
        if (!(tiles->inside[i][rest] >> share & 1)) {
            return -1;
        }
        product += tiles->stride[i] * tiles->quotient[i][last][tiles->quotient[i][rest][share]];
    }
    return product;
}

double mer_exact_extent(const ExactTiles *tiles, int tile, int position)
{
    return position < 0 ? 1 : tiles->value[position][tiles->index[tile][position]];
}

double mer_exact_plain(const ExactTiles *tiles, int tensor, int tile)
{
    unsigned plain = tiles->shape->tensors[tensor].plain;
    double   words = 1;
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        words *= plain >> tiles->shape->dims[i] & 1 ? mer_exact_extent(tiles, tile, i) : 1;
    }
    return words;
}

double mer_exact_height(const ExactTiles *tiles, int tensor, int slide, int tile)
{
    const MerSlide *rank = &tiles->shape->tensors[tensor].slides[slide];
    const int      *position = tiles->slide_position[tensor][slide];
    return 1 + rank->coefficient[0] * (mer_exact_extent(tiles, tile, position[0]) - 1) +
           rank->coefficient[1] * (mer_exact_extent(tiles, tile, position[1]) - 1);
}

double mer_exact_distinct(const ExactTiles *tiles, int tensor, int spread)
{
    double distinct = mer_exact_plain(tiles, tensor, spread);
    for (int s = 0; s < tiles->shape->tensors[tensor].slide_count; s++) {
        const int *position = tiles->slide_position[tensor][s];
        distinct *= mer_exact_extent(tiles, spread, position[0]) +
                    mer_exact_extent(tiles, spread, position[1]) - 1;
    }
    return distinct;
}

bool mer_exact_trips(const ExactSearch *search, int level, int tile, int array,
                     double trips[MER_DIM_COUNT])
{
    const ExactTiles         *tiles = &search->tiles;
    const MerNestConstraints *constraints = search->space->constraints;
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        int d = tiles->shape->dims[i];
        int factor =
            tiles->value[i][tiles->quotient[i][tiles->index[tile][i]][tiles->index[array][i]]];
        if (!mer_nest_permits(constraints, level, MER_PLACE_TEMPORAL, d, factor)) {
            return false;
        }
        trips[i] = factor;
    }
    return true;
}

typedef struct Packing {
    const ExactSearch *search;
    int                level, spread;
    int               *x, *y;
} Packing;

/* Gives each dim from `position` on its share of the columns and rows that are left. */
static bool pack_rest(const Packing *p, int position, int columns, int rows)
{
    const ExactSearch *search = p->search;
    const ExactTiles  *tiles = &search->tiles;
    if (position == tiles->shape->dim_count) {
        return true;
    }
    int d = tiles->shape->dims[position];
    int i = tiles->index[p->spread][position];
    int whole = tiles->value[position][i];
    for (int j = i; j >= 0; j--) {
        int  x = tiles->value[position][j];
        bool divides = tiles->inside[position][i] >> j & 1;
        if (!divides || x > columns || whole / x > rows) {
            continue;
        }
        int  y = whole / x;
        bool is_split = x > 1 && y > 1;
        if ((is_split && search->model->exclusive_axes) ||
            !mer_nest_permits(search->space->constraints, p->level, MER_PLACE_X, d, x) ||
            !mer_nest_permits(search->space->constraints, p->level, MER_PLACE_Y, d, y)) {
            continue;
        }
        p->x[d] = x;
        p->y[d] = y;
        if (pack_rest(p, position + 1, columns / x, rows / y)) {
            return true;
        }
    }
    return false;
}

bool mer_exact_pack(const ExactSearch *search, int level, int spread, int x[MER_DIM_COUNT],
                    int y[MER_DIM_COUNT])
{
    const MerNestMemory *memory = search->levels[level].memory;
    Packing              packing = {search, level, spread, x, y};
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        x[d] = y[d] = 1;
    }
    return search->tiles.volume[spread] <= (double)memory->fanout_x * memory->fanout_y &&
           pack_rest(&packing, 0, memory->fanout_x, memory->fanout_y);
}
