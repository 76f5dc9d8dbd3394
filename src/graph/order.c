/* Topological order (Kahn's method), stable: a heap holds the items that are ready, and the one
 * that stood first goes first. Time is linear in the edges plus n log n. */
#include "graph/order.h"

#include "base/smallest.h"
#include "mercator/arena.h"

#include <stdio.h>
#include <string.h>

typedef struct Sorter {
    int        count;
    const int *first, *before;
    int       *open;         /* per item: predecessors that are not placed yet */
    int       *reader_first; /* per item, +1: where its readers begin in `readers` */
    int       *readers;
    int       *heap; /* ready items, smallest on top */
    int        heap_count;
    int       *order;
    int        order_count;
} Sorter;

static bool is_sorted(int count, const int *first, const int *before)
{
    for (int i = 0; i < count; i++) {
        for (int k = first[i]; k < first[i + 1]; k++) {
            if (before[k] >= i)
                return false;
        }
    }
    return true;
}

/* Turns the lists of predecessors round: who reads each item. */
static void list_readers(Sorter *sorter, MerArena *scratch)
{
    int edge_count = sorter->first[sorter->count];
    for (int i = 0; i < sorter->count; i++) {
        for (int k = sorter->first[i]; k < sorter->first[i + 1]; k++) {
            if (sorter->before[k] < 0)
                continue;
            sorter->open[i]++;
            sorter->reader_first[sorter->before[k] + 1]++;
        }
    }
    sorter->readers = MER_ARRAY(scratch, int, edge_count + 1);
    int *next = MER_ARRAY(scratch, int, sorter->count + 1);
    for (int i = 0; i < sorter->count; i++) {
        sorter->reader_first[i + 1] += sorter->reader_first[i];
        next[i] = sorter->reader_first[i];
    }
    for (int i = 0; i < sorter->count; i++) {
        for (int k = sorter->first[i]; k < sorter->first[i + 1]; k++) {
            if (sorter->before[k] >= 0)
                sorter->readers[next[sorter->before[k]]++] = i;
        }
    }
}

static void place_ready(Sorter *sorter)
{
    for (int i = 0; i < sorter->count; i++) {
        if (sorter->open[i] == 0)
            mer_smallest_push(sorter->heap, &sorter->heap_count, i);
    }
    while (sorter->heap_count > 0) {
        int item = mer_smallest_take(sorter->heap, &sorter->heap_count);
        sorter->order[sorter->order_count++] = item;
        for (int k = sorter->reader_first[item]; k < sorter->reader_first[item + 1]; k++) {
            if (--sorter->open[sorter->readers[k]] == 0)
                mer_smallest_push(sorter->heap, &sorter->heap_count, sorter->readers[k]);
        }
    }
}

/* Walks predecessors among the items that were never ready until one comes up twice. */
static int find_cycle(const Sorter *sorter, MerArena *scratch)
{
    int *step = MER_ARRAY(scratch, int, sorter->count); /* 1 + when it was visited */
    int *path = MER_ARRAY(scratch, int, sorter->count);
    int  length = 0, at = 0;
    while (sorter->open[at] == 0)
        at++;
    while (step[at] == 0) {
        path[length++] = at;
        step[at] = length;
        int k = sorter->first[at];
        while (sorter->before[k] < 0 || sorter->open[sorter->before[k]] == 0)
            k++;
        at = sorter->before[k];
    }
    int cycle_length = length - (step[at] - 1);
    for (int i = 0; i < cycle_length; i++)
        sorter->order[i] = path[length - 1 - i];
    return cycle_length;
}

bool mer_order_stable(int count, const int *first, const int *before, int *order, int *cycle_length)
{
    *cycle_length = 0;
    if (is_sorted(count, first, before)) {
        for (int i = 0; i < count; i++)
            order[i] = i;
        return true;
    }
    MerArena *scratch = mer_arena_new();
    Sorter    sorter = {
           .count = count,
           .first = first,
           .before = before,
           .open = MER_ARRAY(scratch, int, count),
           .reader_first = MER_ARRAY(scratch, int, count + 1),
           .heap = MER_ARRAY(scratch, int, count),
           .order = order,
    };
    list_readers(&sorter, scratch);
    place_ready(&sorter);
    if (sorter.order_count < count)
        *cycle_length = find_cycle(&sorter, scratch);
    mer_arena_free(scratch);
    return *cycle_length == 0;
}

void mer_order_cycle_text(char *text, size_t size, const int *cycle, int cycle_length,
                          const char *(*name_of)(const void *items, int item), const void *items)
{
    enum { SHOWN = 4 };
    text[0] = '\0';
    for (int i = 0; i < cycle_length && i < SHOWN; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "\"%.60s\" -> ", name_of(items, cycle[i]));
    }
    size_t used = strlen(text);
    if (cycle_length > SHOWN)
        snprintf(text + used, size - used, "... (%d in all)", cycle_length);
    else
        snprintf(text + used, size - used, "\"%.60s\"", name_of(items, cycle[0]));
}
