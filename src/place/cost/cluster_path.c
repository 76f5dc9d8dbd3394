/* The critical path of a simulated run: from what ended last back to what it waited for, again and again. Something that starts
 * when it is ready waited for its last input, anything else for what its stream or channel did before. */
#include "place/cost/cluster.h"

#include <stdlib.h>
#include <string.h>

typedef struct Item { /* a kernel, or a transfer: items from op_count on */
    double start, end;
    int    index;
} Item;

typedef struct Path {
    const MerPlace         *place;
    const MerGraphPlan     *plan;
    const MerClusterRecord *record;
    int                    *previous; /* of each item, on its stream or channel; -1: none */
    int                    *transfer_start, *transfers; /* of each operator, as items */
} Path;

static int compare_starts(const void *a, const void *b)
{
    const Item *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1)
           : x->end != y->end   ? (x->end < y->end ? -1 : 1)
                                : x->index - y->index;
}

static Item item_at(const Path *path, int index)
{
    const MerClusterRecord *record = path->record;
    int                     ops = path->place->op_count;
    return index < ops ? (Item){record->start_us[index], record->end_us[index], index}
                       : (Item){record->transfers[index - ops].start_us,
                                record->transfers[index - ops].end_us, index};
}

static int kernel_count(const Path *path)
{
    int count = 0;
    for (int o = 0; o < path->place->op_count; o++) {
        count += mer_record_kernel(path->record, o) == o;
    }
    return count;
}

/* What each stream and channel did before each item. Channels start their transfers in the order of the record. */
static void find_previous(Path *path, MerArena *arena)
{
    const MerClusterRecord *record = path->record;
    int                     ops = path->place->op_count, count = kernel_count(path), most = 0;
    Item                   *kernels = MER_ARRAY(arena, Item, count + 1);
    count = 0;
    for (int o = 0; o < ops; o++) {
        most = record->stream[o] > most ? record->stream[o] : most;
        if (mer_record_kernel(record, o) == o) {
            kernels[count++] = item_at(path, o);
        }
    }
    for (int t = 0; t < record->transfer_count; t++) {
        most = record->transfers[t].channel > most ? record->transfers[t].channel : most;
    }
    int *last = MER_ARRAY(arena, int, most + 1);
    qsort(kernels, (size_t)count, sizeof *kernels, compare_starts);
    for (int k = 0; k < count; k++) {
        int *on = &last[record->stream[kernels[k].index]];
        path->previous[kernels[k].index] = *on - 1;
        *on = kernels[k].index + 1;
    }
    memset(last, 0, (size_t)(most + 1) * sizeof *last);
    for (int t = 0; t < record->transfer_count; t++) {
        int *on = &last[record->transfers[t].channel];
        path->previous[ops + t] = *on - 1;
        *on = ops + t + 1;
    }
}

static void list_transfers(Path *path)
{
    const MerClusterRecord *record = path->record;
    int                    *start = path->transfer_start, ops = path->place->op_count;
    for (int t = 0; t < record->transfer_count; t++) {
        start[record->transfers[t].op + 1]++;
    }
    for (int o = 0; o < ops; o++) {
        start[o + 1] += start[o];
    }
    for (int t = record->transfer_count - 1; t >= 0; t--) {
        path->transfers[--start[record->transfers[t].op + 1]] = ops + t;
    }
    memmove(start, start + 1, (size_t)ops * sizeof *start);
    start[ops] = record->transfer_count;
}

static void take_later(const Path *path, int item, double ready, int *best)
{
    double end = item_at(path, item).end;
    if (end <= ready && (*best < 0 || end > item_at(path, *best).end)) {
        *best = item;
    }
}

/* The input that came last: a kernel on the same unit, or the transfer that brought it. */
static int last_input(const Path *path, int kernel)
{
    const MerPlace *place = path->place;
    double          ready = path->record->ready_us[kernel];
    int             best = -1, unit = path->plan->unit[kernel];
    for (int o = kernel; o < place->op_count; o++) {
        if (mer_record_kernel(path->record, o) != kernel) {
            if (!path->record->kernel) {
                break;
            }
            continue;
        }
        for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
            int producer = place->before[i], from = mer_record_kernel(path->record, producer);
            if (path->plan->unit[producer] == unit && from != kernel) {
                take_later(path, from, ready, &best);
            }
            for (int t = path->transfer_start[producer];
                 t < path->transfer_start[producer + 1] && path->plan->unit[producer] != unit;
                 t++) {
                int to = path->record->transfers[path->transfers[t] - place->op_count].to;
                if (to < 0 || to == unit) {
                    take_later(path, path->transfers[t], ready, &best);
                }
            }
        }
    }
    return best;
}

/* What a transfer carries: the result of a kernel, or what the link before brought. */
static int source(const Path *path, int transfer)
{
    const MerTransferTimes *times = &path->record->transfers[transfer - path->place->op_count];
    int                     best = mer_record_kernel(path->record, times->op);
    for (int t = path->transfer_start[times->op]; t < path->transfer_start[times->op + 1]; t++) {
        const MerTransferTimes *other =
            &path->record->transfers[path->transfers[t] - path->place->op_count];
        if (path->transfers[t] != transfer && other->to == times->to) {
            take_later(path, path->transfers[t], times->ready_us, &best);
        }
    }
    return best;
}

static int waited_for(const Path *path, int item)
{
    int    ops = path->place->op_count, previous = path->previous[item];
    bool   is_transfer = item >= ops;
    double ready =
        is_transfer ? path->record->transfers[item - ops].ready_us : path->record->ready_us[item];
    if (item_at(path, item).start > ready && previous >= 0) {
        return previous;
    }
    return is_transfer ? source(path, item) : last_input(path, item);
}

static int find_last(const Path *path)
{
    int count = path->place->op_count + path->record->transfer_count, last = 0;
    for (int i = 1; i < count; i++) {
        last = item_at(path, i).end > item_at(path, last).end ? i : last;
    }
    return last < path->place->op_count ? mer_record_kernel(path->record, last) : last;
}

int mer_cluster_path(const MerPlace *place, const MerGraphPlan *plan,
                     const MerClusterRecord *record, MerPathStep **steps, MerArena *arena)
{
    size_t items = (size_t)place->op_count + (size_t)record->transfer_count;
    Path   path = {.place = place,
                   .plan = plan,
                   .record = record,
                   .previous = MER_ARRAY(arena, int, items + 1),
                   .transfer_start = MER_ARRAY(arena, int, place->op_count + 2),
                   .transfers = MER_ARRAY(arena, int, record->transfer_count + 1)};
    bool  *is_on = MER_ARRAY(arena, bool, items + 1);
    int    count = 0;
    find_previous(&path, arena);
    list_transfers(&path);
    MerPathStep *list = MER_ARRAY(arena, MerPathStep, items + 1);
    for (int item = find_last(&path); item >= 0 && !is_on[item]; item = waited_for(&path, item)) {
        Item it = item_at(&path, item);
        is_on[item] = true;
        if (count > 0) {
            list[count - 1].wait_us = list[count - 1].start_us - it.end;
        }
        list[count++] = (MerPathStep){item >= place->op_count,
                                      item >= place->op_count ? item - place->op_count : item,
                                      it.start, it.end, it.start};
    }
    for (int i = 0; i < count / 2; i++) {
        MerPathStep swapped = list[i];
        list[i] = list[count - 1 - i];
        list[count - 1 - i] = swapped;
    }
    *steps = list;
    return count;
}
