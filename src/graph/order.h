/* Stable topological order of anything with predecessors. */
#ifndef MERCATOR_GRAPH_ORDER_H
#define MERCATOR_GRAPH_ORDER_H

#include <stdbool.h>
#include <stddef.h>

/* Item i of `count` waits for the items before[first[i]] .. before[first[i + 1] - 1]; entries of -1
 * are ignored. Among the items that are ready the smallest goes first, so a sorted list keeps its
 * order. Fills order[count] and returns true; on a cycle returns false with the items of one cycle
 * in order[0 .. *cycle_length - 1], each before the ones that wait for it. */
bool mer_order_stable(int count, const int *first, const int *before, int *order,
                      int *cycle_length);

/* `"a" -> "b" -> "a"` into `text`; of a long cycle only the first few names. */
void mer_order_cycle_text(char *text, size_t size, const int *cycle, int cycle_length,
                          const char *(*name_of)(const void *items, int item), const void *items);

#endif
