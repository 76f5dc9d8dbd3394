/* The walk of exact_nest: from the outermost level inwards, one pair of tiles and one loop order per
 * level, with the exact traffic of every boundary that is decided and the lists' bounds for the
 * rest. */
#include "map/solve/exact_nest.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Looks outwards through the loops of one level. */
static void look(const ExactTiles *tiles, const ExactOrder *order, const double *trips, int array,
                 const ExactView *outer, ExactView *view)
{
    unsigned still = (1u << MER_TENSOR_COUNT) - 1;
    *view = (ExactView){{1, 1, 1}, -1, 1, 1};
    for (int i = 0; i < tiles->shape->dim_count && still; i++) {
        int position = order->loop[i];
        if (trips[position] <= 1) {
            continue;
        }
        if (view->first < 0) {
            view->first = position;
            view->trips = trips[position];
            view->inside = mer_exact_extent(tiles, array, position);
        }
        still &= tiles->still[position];
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            view->run[t] *= still >> t & 1 ? trips[position] : 1;
        }
    }
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        view->run[t] *= still >> t & 1 ? outer->run[t] : 1;
    }
    if (view->first < 0) {
        view->first = outer->first;
        view->trips = outer->trips;
        view->inside = outer->inside;
    }
}

static bool is_same_view(const ExactView *a, const ExactView *b)
{
    return a->first == b->first && a->trips == b->trips && a->inside == b->inside &&
           a->run[0] == b->run[0] && a->run[1] == b->run[1] && a->run[2] == b->run[2];
}

static void build_plan(ExactSearch *search, MerNestPlan *plan)
{
    const ExactTiles *tiles = &search->tiles;
    mer_nest_plan_make(plan, search->space->op, search->level_count, search->scratch);
    int outer = tiles->count - 1;
    for (int l = search->level_count - 1; l >= 0; l--) {
        const ExactChoice *choice = &search->chosen[l];
        MerNestLevel      *level = &plan->levels[l];
        int                trips = mer_exact_divide(tiles, outer, choice->array);
        mer_exact_pack(search, l, choice->spread, level->x, level->y);
        for (int i = 0; i < tiles->shape->dim_count; i++) {
            level->temporal[tiles->shape->dims[i]] = (int)mer_exact_extent(tiles, trips, i);
        }
        mer_exact_order_write(tiles, &search->levels[l].orders[choice->order], level->order);
        level->keep = search->levels[l].keep;
        outer = choice->inner;
    }
}

static void leaf(ExactSearch *search, double value)
{
    MerNestPlan plan;
    if (!(value < search->cut)) {
        return;
    }
    build_plan(search, &plan);
    double priced = mer_exact_try(search, &plan) / search->scale;
    bool   is_exact = search->model->halo == MER_HALO_SHARED && !search->has_signed_reads;
    assert(!is_exact || fabs(priced - value) <= 1e-9 * value);
    (void)priced;
    (void)is_exact;
    mer_arena_reset(search->scratch);
}

static void walk(ExactSearch *search, int l, const ExactNest *outer);

/* One more level decided: chosen[l] is set, `nest` has its view. */
static void descend(ExactSearch *search, int l, ExactNest *nest)
{
    bool   is_leaf = l == search->innermost;
    double rest_energy = 0;
    double rest_cycles = 0;
    if (l > 0) {
        mer_exact_add_boundary(search, l, nest);
    }
    if (is_leaf) {
        mer_exact_add_operands(search, nest);
    } else {
        rest_energy = search->levels[l - 1].list.energy[nest->tile];
        rest_cycles = search->levels[l - 1].list.cycles[nest->tile];
    }
    nest->cycles = fmax(mer_exact_cycles(search, l, nest), rest_cycles);
    double value = mer_exact_value(search, nest->energy + rest_energy, nest->cycles);
    if (!(value < search->cut)) {
        return;
    }
    if (!is_leaf) {
        walk(search, l - 1, nest);
        return;
    }
    leaf(search, search->model->ramp
                     ? mer_exact_value(search, nest->energy, nest->cycles + mer_exact_ramp(search))
                     : value);
}

static bool is_inside(const ExactTiles *tiles, const uint64_t *inside, int tile)
{
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        if (!(inside[i] >> tiles->index[tile][i] & 1)) {
            return false;
        }
    }
    return true;
}

/* Views of the level's orders, each once. */
static int list_views(const ExactSearch *search, int l, int array, const double *trips,
                      const ExactView *outer, ExactView *views, int *orders)
{
    const ExactLevel *level = &search->levels[l];
    int               count = 0;
    for (int o = 0; o < level->order_count; o++) {
        look(&search->tiles, &level->orders[o], trips, array, outer, &views[count]);
        bool is_new = true;
        for (int v = 0; v < count && is_new; v++) {
            is_new = !is_same_view(&views[v], &views[count]);
        }
        orders[count] = o;
        count += is_new;
    }
    return count;
}

static void choose(ExactSearch *search, int l, const ExactOption *option, int order,
                   const ExactView *view, const ExactNest *outer, ExactNest *nest)
{
    const ExactTiles *tiles = &search->tiles;
    *nest = *outer;
    nest->tile = option->inner;
    nest->units *= tiles->volume[option->spread];
    nest->reductions *= tiles->reduction[option->spread];
    nest->view = *view;
    search->chosen[l] =
        (ExactChoice){option->array, option->inner, option->spread, order, nest->units};
}

static void walk_group(ExactSearch *search, int l, const ExactGroup *group, const ExactNest *outer)
{
    const ExactList *list = &search->levels[l].list;
    double           trips[MER_DIM_COUNT];
    ExactView        views[MER_DIM_COUNT];
    int              orders[MER_DIM_COUNT];
    if (!mer_exact_trips(search, l, outer->tile, group->array, trips)) {
        return;
    }
    int view_count = list_views(search, l, group->array, trips, &outer->view, views, orders);
    for (int i = group->first; i < group->first + group->count; i++) {
        const ExactOption *option = &list->options[i];
        double             cycles = fmax(outer->cycles, option->cycles);
        if (!(mer_exact_value(search, outer->energy + option->energy, cycles) < search->cut)) {
            continue;
        }
        for (int v = 0; v < view_count; v++) {
            ExactNest nest;
            choose(search, l, option, orders[v], &views[v], outer, &nest);
            descend(search, l, &nest);
        }
    }
}

static void walk(ExactSearch *search, int l, const ExactNest *outer)
{
    const ExactTiles *tiles = &search->tiles;
    const ExactList  *list = &search->levels[l].list;
    uint64_t          inside[MER_DIM_COUNT];
    for (int i = 0; i < tiles->shape->dim_count; i++) {
        inside[i] = tiles->inside[i][tiles->index[outer->tile][i]];
    }
    double least_cycles = fmax(outer->cycles, list->cycles[outer->tile]);
    for (int g = 0; g < list->group_count && !mer_exact_is_stopped(search); g++) {
        const ExactGroup *group = &list->groups[g];
        double            cycles =
            search->goal == EXACT_CYCLES ? fmax(outer->cycles, group->cycles) : least_cycles;
        if (!(mer_exact_value(search, outer->energy + group->energy, cycles) < search->cut)) {
            break; /* the groups are sorted */
        }
        bool fills = group->array == outer->tile || !search->levels[l].is_idle;
        if (fills && is_inside(tiles, inside, group->array)) {
            walk_group(search, l, group, outer);
        }
    }
}

static void start_nest(const ExactSearch *search, ExactNest *nest)
{
    *nest = (ExactNest){.tile = search->tiles.count - 1,
                        .energy = search->base_energy,
                        .units = 1,
                        .reductions = 1,
                        .view = {{1, 1, 1}, -1, 1, 1}};
    memcpy(nest->reads, search->base_reads, sizeof nest->reads);
    memcpy(nest->writes, search->base_writes, sizeof nest->writes);
}

static int compare_items(const void *a, const void *b)
{
    const ExactItem *left = a, *right = b;
    int              by_bound = EXACT_ORDER(left->bound, right->bound);
    int              by_option = EXACT_ORDER(left->option, right->option);
    return by_bound ? by_bound : by_option ? by_option : EXACT_ORDER(left->order, right->order);
}

/* Repeats the choice of an item; false if the constraints forbid it. */
static bool choose_item(ExactSearch *search, const ExactItem *item, ExactNest *nest)
{
    int               top = search->level_count - 1;
    const ExactList  *list = &search->levels[top].list;
    const ExactGroup *group = &list->groups[item->group];
    double            trips[MER_DIM_COUNT];
    ExactNest         outer;
    ExactView         view;
    start_nest(search, &outer);
    if (!mer_exact_trips(search, top, outer.tile, group->array, trips)) {
        return false;
    }
    look(&search->tiles, &search->levels[top].orders[item->order], trips, group->array, &outer.view,
         &view);
    choose(search, top, &list->options[item->option], item->order, &view, &outer, nest);
    return true;
}

/* What an item leads to at least: its own boundary exactly, the lists' bounds for the rest. */
static double bound_item(ExactSearch *search, const ExactItem *item)
{
    int                top = search->level_count - 1;
    const ExactOption *option = &search->levels[top].list.options[item->option];
    ExactNest          nest;
    if (!choose_item(search, item, &nest)) {
        return INFINITY;
    }
    if (top == search->innermost) {
        return mer_exact_value(search, search->base_energy + option->energy, option->cycles);
    }
    mer_exact_add_boundary(search, top, &nest);
    const ExactList *inside = &search->levels[top - 1].list;
    return mer_exact_value(search, nest.energy + inside->energy[nest.tile],
                           fmax(mer_exact_cycles(search, top, &nest), inside->cycles[nest.tile]));
}

int mer_exact_items(ExactSearch *search, ExactItem **items)
{
    int              top = search->level_count - 1;
    const ExactList *list = &search->levels[top].list;
    int              count = 0;
    ExactNest        outer;
    start_nest(search, &outer);
    *items = NULL;
    for (int g = 0; g < list->group_count && !mer_exact_is_stopped(search); g++) {
        const ExactGroup *group = &list->groups[g];
        double            trips[MER_DIM_COUNT];
        ExactView         views[MER_DIM_COUNT];
        int               orders[MER_DIM_COUNT];
        bool              fills = group->array == outer.tile || !search->levels[top].is_idle;
        if (!fills || !mer_exact_trips(search, top, outer.tile, group->array, trips)) {
            continue;
        }
        int view_count = list_views(search, top, group->array, trips, &outer.view, views, orders);
        for (int i = 0; i < group->count * view_count; i++) {
            ExactItem item = {0, g, group->first + i / view_count, orders[i % view_count]};
            item.bound = bound_item(search, &item);
            if (item.bound < search->cut) {
                *items = mer_exact_grow(*items, count, sizeof item);
                (*items)[count++] = item;
            }
        }
    }
    if (count > 0) {
        qsort(*items, (size_t)count, sizeof **items, compare_items);
    }
    return count;
}

void mer_exact_item_walk(ExactSearch *search, const ExactItem *item)
{
    ExactNest nest;
    if (item->bound < search->cut && choose_item(search, item, &nest)) {
        descend(search, search->level_count - 1, &nest);
    }
}
