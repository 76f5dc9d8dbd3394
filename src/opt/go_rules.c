/* Rules by which levels of priority and of fusion can begin: known orders of lists and of fusion passes. */
#include "opt/go_graph.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Ranked {
    double key;
    int    row; /* along the order */
} Ranked;

static int by_key(const void *a, const void *b)
{
    const Ranked *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1) : x->row - y->row;
}

/* Time of the longest way from each operator to an end of the graph. */
static void list_ways(const MerGoGraph *g, Ranked *list)
{
    double *way = mer_heap_zeroed((size_t)g->op_count + 1, sizeof *way);
    for (int o = g->op_count - 1; o >= 0; o--) {
        for (int i = g->after_start[o]; i < g->after_start[o + 1]; i++) {
            way[o] = fmax(way[o], way[g->after[i]]);
        }
        way[o] += g->op_work[o];
        list[g->op_rank[o]].key = way[o];
    }
    free(way);
}

/* Operators with a larger key come earlier in what the levels decide. */
static void list_keys(const MerGoGraph *g, MerGoTask task, int rule, Ranked *list)
{
    for (int i = 0; i < g->op_count; i++) {
        int o = g->op_order[i];
        list[i] = (Ranked){.row = i};
        list[i].key = rule == 2   ? (task == MER_GO_FUSE ? g->bytes[o] : -i)
                      : rule == 3 ? (task == MER_GO_FUSE ? i : -g->depth[o])
                                  : g->transfer[o];
    }
    if (rule == 1 && task == MER_GO_PRIORITY) {
        list_ways(g, list);
    }
}

/* The top level for the most bytes that an operator reads, one lower for every halving. */
static void level_by_reads(const MerGoGraph *g, int top, int *levels)
{
    double *reads = mer_heap_zeroed((size_t)g->op_count + 1, sizeof *reads), most = 0;
    for (int i = 0; i < g->op_count; i++) {
        int o = g->op_order[i];
        for (int k = g->before_start[o]; k < g->before_start[o + 1]; k++) {
            reads[i] += g->bytes[g->before[k]];
        }
        most = fmax(most, reads[i]);
    }
    for (int i = 0; i < g->op_count; i++) {
        int lower = reads[i] > 0 ? (int)fmin(top, log2(most / reads[i])) : top;
        levels[i] = lower < top ? top - lower : top > 0 && reads[i] > 0 ? 1 : 0;
    }
    free(reads);
}

/* Priority: all equal; longest way to the end; along the order; by depth; large results first. Fusion: none; all alike; large
 * results first; against the order; by what is read. */
void mer_go_rule(const MerGoGraph *g, MerGoTask task, int rule, int *levels)
{
    int top = g->levels[task] - 1;
    if (rule == 0 || (rule == 1 && task == MER_GO_FUSE)) {
        for (int i = 0; i < g->op_count; i++) {
            levels[i] = rule == 0 ? 0 : top;
        }
        return;
    }
    if (rule == 4 && task == MER_GO_FUSE) {
        level_by_reads(g, top, levels);
        return;
    }
    Ranked *list = mer_heap_zeroed((size_t)g->op_count + 1, sizeof *list);
    int     least = task == MER_GO_FUSE && top > 0 ? 1 : 0; /* level 0: never fused */
    list_keys(g, task, rule, list);
    qsort(list, (size_t)g->op_count, sizeof *list, by_key);
    for (int i = 0; i < g->op_count; i++) {
        /* equal keys get equal levels: that of the first of them */
        bool is_equal = i > 0 && list[i].key == list[i - 1].key;
        levels[list[i].row] = is_equal
                                  ? levels[list[i - 1].row]
                                  : least + (int)((int64_t)i * (top + 1 - least) / g->op_count);
    }
    free(list);
}
