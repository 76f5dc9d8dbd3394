/* Rules by which levels of priority and of fusion can begin: known orders of lists and of fusion passes. */
#include "opt/go_graph.h"

#include "base/memory.h"
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>

/* Of operators along the order: those with a larger key come earlier in what the levels decide. */
static void list_keys(const MerGoGraph *g, MerGoTask task, int rule, double *key)
{
    for (int i = 0; i < g->op_count; i++) {
        int o = g->op_order[i];
        key[i] = rule == 1   ? g->onward[o]
                 : rule == 2 ? (task == MER_GO_FUSE ? g->bytes[o] : -i)
                 : rule == 3 ? (task == MER_GO_FUSE ? i : -g->depth[o])
                             : g->transfer[o];
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
    double *key = mer_heap_zeroed((size_t)g->op_count + 1, sizeof *key);
    int    *order = mer_heap_zeroed((size_t)g->op_count + 1, sizeof *order);
    int     least = task == MER_GO_FUSE && top > 0 ? 1 : 0; /* level 0: never fused */
    list_keys(g, task, rule, key);
    mer_sort_order(key, g->op_count, order);
    for (int i = 0; i < g->op_count; i++) {
        /* equal keys get equal levels: that of the first of them */
        bool is_equal = i > 0 && key[order[i]] == key[order[i - 1]];
        levels[order[i]] = is_equal ? levels[order[i - 1]]
                                    : least + (int)((int64_t)i * (top + 1 - least) / g->op_count);
    }
    free(key);
    free(order);
}
