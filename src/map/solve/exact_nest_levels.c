/* What exact_nest knows of each level before any tile is chosen: the loop orders worth trying, and
 * the spreads its fan-out can carry. */
#include "map/solve/exact_nest.h"

#include <math.h>

/* Order collapse (docs/loopnest-model.md, "Exact optimum"). A tensor stays in place while the innermost
 * loops do not move it, and its halo is kept only along the very innermost loop. Each dim leaves at most
 * one tensor in place, so the innermost loop says which tensor that is; all loops that leave it in place
 * follow at once, because a longer run is never worse. Loops that move every tensor go outermost. */
typedef struct Ordering {
    const ExactTiles *tiles;
    int               fixed[MER_DIM_COUNT], fixed_count; /* innermost loops that the user fixed */
    unsigned          is_fixed;                          /* bit per position */
} Ordering;

/* After the fixed loops: `next` (-1: none), those of its class, other classes, loops without class. */
static void write_order(const Ordering *o, int next, ExactOrder *order)
{
    const ExactTiles *tiles = o->tiles;
    int               count = 0;
    unsigned          done = o->is_fixed;
    for (int i = 0; i < o->fixed_count; i++) {
        order->loop[count++] = o->fixed[i];
    }
    if (next >= 0) {
        order->loop[count++] = next;
        done |= 1u << next;
    }
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < tiles->shape->dim_count; i++) {
            bool is_same = next >= 0 && tiles->still[i] == tiles->still[next];
            bool is_due = round == 0 ? is_same : round == 1 ? tiles->still[i] != 0 : true;
            if (is_due && !(done >> i & 1)) {
                order->loop[count++] = i;
                done |= 1u << i;
            }
        }
    }
}

void mer_exact_order_write(const ExactTiles *tiles, const ExactOrder *order, int *loops)
{
    int      place = MER_DIM_COUNT;
    unsigned done = 0;
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        int d = tiles->shape->dims[order->loop[i]];
        loops[--place] = d;
        done |= 1u << d;
    }
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (!(done >> d & 1)) {
            loops[--place] = d;
        }
    }
}

static void take_fixed_loops(Ordering *o, const MerNestSpace *space, int level)
{
    for (int i = 0; i < space->fixed_count[level]; i++) {
        int position = 0;
        while (o->tiles->shape->dims[position] != space->fixed[level][i]) {
            position++;
        }
        o->fixed[o->fixed_count++] = position;
        o->is_fixed |= 1u << position;
    }
}

/* Along a dim that slides the halo is kept, which is never worse than not: where a class has sliding
 * dims only they need to come first. */
static void list_orders(const ExactTiles *tiles, const MerNestSpace *space, int l,
                        ExactLevel *level)
{
    Ordering ordering = {.tiles = tiles};
    take_fixed_loops(&ordering, space, l);
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        int plain = -1, slides = 0;
        for (int i = 0; i < tiles->shape->dim_count; i++) {
            if (tiles->still[i] != 1u << t || ordering.is_fixed >> i & 1) {
                continue;
            }
            if (mer_exact_slides(tiles, i)) {
                write_order(&ordering, i, &level->orders[level->order_count++]);
                slides++;
            } else if (plain < 0) {
                plain = i;
            }
        }
        if (slides == 0 && plain >= 0) {
            write_order(&ordering, plain, &level->orders[level->order_count++]);
        }
    }
    if (level->order_count == 0 || l == 0) {
        write_order(&ordering, -1, &level->orders[0]);
        level->order_count = 1;
    }
}

static void list_spreads(ExactSearch *search, int l)
{
    const ExactTiles *tiles = &search->tiles;
    ExactLevel       *level = &search->levels[l];
    int               x[MER_DIM_COUNT], y[MER_DIM_COUNT];
    int               capacity = 0;
    double            units = (double)level->memory->fanout_x * level->memory->fanout_y;
    for (int tile = 0; tile < tiles->count; tile++) {
        capacity += tiles->volume[tile] <= units;
    }
    level->spreads = MER_ARRAY(search->arena, int, capacity);
    for (int tile = 0; tile < tiles->count; tile++) {
        if (tiles->volume[tile] <= units && mer_exact_pack(search, l, tile, x, y)) {
            level->spreads[level->spread_count++] = tile;
            level->most_units = fmax(level->most_units, tiles->volume[tile]);
            level->most_reductions = fmax(level->most_reductions, tiles->reduction[tile]);
        }
    }
}

void mer_exact_orders_open(ExactSearch *search)
{
    search->level_count = search->model->level_count;
    for (int l = 0; l < search->level_count; l++) {
        search->levels[l] = (ExactLevel){.memory = &search->model->memories[l]};
        list_orders(&search->tiles, search->space, l, &search->levels[l]);
    }
}

void mer_exact_spreads_open(ExactSearch *search)
{
    double units = 1;
    double reductions = 1;
    for (int l = search->level_count - 1; l >= 0; l--) {
        ExactLevel *level = &search->levels[l];
        list_spreads(search, l);
        level->units_outside = units;
        level->reductions_outside = reductions;
        units *= level->most_units;
        reductions *= level->most_reductions;
    }
    const MerNestMemory *last = search->levels[0].memory;
    bool                 has_inner_fanout = last->fanout_x * last->fanout_y > 1;
    search->innermost = has_inner_fanout || search->level_count == 1 ? 0 : 1;
}
