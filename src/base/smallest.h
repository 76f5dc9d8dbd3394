/* Binary heaps of integers, the smallest on top, in arrays that the caller provides: `count` values from `heap`
 * on, with memory for one more when one is pushed. */
#ifndef MERCATOR_BASE_SMALLEST_H
#define MERCATOR_BASE_SMALLEST_H

static inline void mer_smallest_push(int *heap, int *count, int value)
{
    int at = (*count)++;
    for (; at > 0 && heap[(at - 1) / 2] > value; at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = value;
}

/* The smallest, which is taken out; there is at least one. */
static inline int mer_smallest_take(int *heap, int *count)
{
    int first = heap[0];
    int value = heap[--*count];
    int at = 0;
    for (int child = 1; child < *count; child = 2 * at + 1) {
        child += child + 1 < *count && heap[child + 1] < heap[child];
        if (heap[child] >= value) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = value;
    return first;
}

#endif
