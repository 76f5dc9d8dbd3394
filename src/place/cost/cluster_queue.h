/* What the simulation of a cluster waits for: events in a heap, and queues of what is ready for a unit or a channel. All memory is
 * the caller's. */
#ifndef MERCATOR_PLACE_COST_CLUSTER_QUEUE_H
#define MERCATOR_PLACE_COST_CLUSTER_QUEUE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Event {
    double time;
    int    item; /* of equal times the smaller item comes first */
} Event;

static inline bool is_earlier(Event a, Event b)
{
    return a.time < b.time || (a.time == b.time && a.item < b.item);
}

static inline void push_event(Event *heap, int *count, Event event)
{
    int at = (*count)++;
    for (; at > 0 && is_earlier(event, heap[(at - 1) / 2]); at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = event;
}

static inline Event pop_event(Event *heap, int *count)
{
    Event first = heap[0], last = heap[--*count];
    int   at = 0;
    for (int child = 1; child < *count; child = 2 * at + 1) {
        child += child + 1 < *count && is_earlier(heap[child + 1], heap[child]);
        if (!is_earlier(heap[child], last)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
    return first;
}

/* Queues share arrays by item, as an item is in one queue at a time. First come, first served, or, with keys, the smallest key
 * first: a skew heap (Sleator and Tarjan, 1986). */
typedef struct Queues {
    int      *head, *tail; /* of each queue; head -1: empty. Of a heap the head is the root */
    int      *next;        /* by item: the next of a queue, or the left child */
    int      *right;       /* by item; NULL: first come, first served */
    uint64_t *key;         /* by item, with `right` */
} Queues;

static inline int merge_heaps(const Queues *queues, int a, int b)
{
    int root, *spot = &root;
    while (a >= 0 && b >= 0) {
        if (queues->key[b] < queues->key[a]) {
            int swapped = a;
            a = b;
            b = swapped;
        }
        *spot = a;
        int rest = queues->right[a];
        queues->right[a] = queues->next[a];
        spot = &queues->next[a];
        a = rest;
    }
    *spot = a >= 0 ? a : b;
    return root;
}

static inline void push_item(Queues *queues, int queue, int item)
{
    queues->next[item] = -1;
    if (queues->right) {
        queues->right[item] = -1;
        queues->head[queue] = merge_heaps(queues, queues->head[queue], item);
    } else if (queues->head[queue] < 0) {
        queues->head[queue] = queues->tail[queue] = item;
    } else {
        queues->next[queues->tail[queue]] = item;
        queues->tail[queue] = item;
    }
}

static inline int take_item(Queues *queues, int queue)
{
    int item = queues->head[queue];
    queues->head[queue] = queues->right
                              ? merge_heaps(queues, queues->next[item], queues->right[item])
                              : queues->next[item];
    return item;
}

#endif
