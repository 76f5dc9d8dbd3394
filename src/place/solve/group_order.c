/* Orders of the groups in which results go forward, as far as the groups allow it. */
#include "place/solve/placements.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct Order {
    const MerPlace *place;
    MerRng         *rng;
    int *
        waiting; /* of each group: producers in other groups that are not placed, of forward operators */
    bool *is_taken;
    int  *ready, ready_count;
    int  *order, count;
} Order;

static bool counts(const MerPlace *place, int from, int to)
{
    return !place->is_backward[from] && !place->is_backward[to] &&
           place->group[from] != place->group[to];
}

/* Consumers that became ready come next, the first of them, or a random one, at once: what follows each other stays together. */
static void push_ready(Order *o, int *list, int count)
{
    if (o->rng) {
        mer_rng_shuffle(o->rng, list, count);
    }
    for (int i = count; i-- > 0;) {
        o->ready[o->ready_count++] = list[i];
    }
}

static void take(Order *o, int group, int *list)
{
    const MerPlace *place = o->place;
    int             count = 0;
    o->is_taken[group] = true;
    o->order[o->count++] = group;
    for (int m = place->member_start[group]; m < place->member_start[group + 1]; m++) {
        int op = place->members[m];
        for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
            int other = place->group[place->after[i]];
            if (counts(place, op, place->after[i]) && --o->waiting[other] == 0 &&
                !o->is_taken[other]) {
                list[count++] = other;
            }
        }
    }
    push_ready(o, list, count);
}

void mer_place_depth_first(const MerPlace *place, MerRng *rng, int *order)
{
    size_t groups = (size_t)place->group_count + 1;
    Order  o = {.place = place,
                .rng = rng,
                .waiting = mer_heap_zeroed(groups, sizeof(int)),
                .is_taken = mer_heap_zeroed(groups, sizeof(bool)),
                .ready = mer_heap_zeroed(groups, sizeof(int)),
                .order = order};
    int   *list = mer_heap_zeroed(groups, sizeof *list);
    int    count = 0, first = 0;
    for (int op = 0; op < place->op_count; op++) {
        for (int i = place->after_start[op]; i < place->after_start[op + 1]; i++) {
            o.waiting[place->group[place->after[i]]] += counts(place, op, place->after[i]);
        }
    }
    for (int g = 0; g < place->group_count; g++) {
        if (o.waiting[g] == 0) {
            list[count++] = g;
        }
    }
    push_ready(&o, list, count);
    while (o.count < place->group_count) {
        while (o.is_taken[first]) {
            first++;
        }
        /* groups that depend on each other both ways never become ready: the first of them goes on */
        int group = o.ready_count > 0 ? o.ready[--o.ready_count] : first;
        if (!o.is_taken[group]) {
            take(&o, group, list);
        }
    }
    free(o.waiting);
    free(o.is_taken);
    free(o.ready);
    free(list);
}
