/* Topological order (Kahn), stable: among the operators that are ready, the one that stood first
 * in the file goes first, so a sorted graph keeps its order. A heap holds the ready ones. */
#include "graph/derive.h"

#include <stdio.h>
#include <string.h>

typedef struct Sorter {
    const MerGraph *graph;
    int *open;  /* per operator: inputs whose producer is not placed yet */
    int *first; /* per operator, +1: where its readers begin in `readers` */
    int *readers;
    int *heap; /* ready operators, smallest on top */
    int heap_count;
    int *order; /* old indices in new order */
    int order_count;
} Sorter;

static int producer_of(const MerGraph *graph, const MerOp *op, int input)
{
    return graph->values[op->inputs[input]].producer;
}

static bool is_sorted(const MerGraph *graph)
{
    for (int i = 0; i < graph->op_count; i++) {
        for (int k = 0; k < graph->ops[i].input_count; k++) {
            if (producer_of(graph, &graph->ops[i], k) >= i)
                return false;
        }
    }
    return true;
}

static void push(Sorter *sorter, int op)
{
    int at = sorter->heap_count++;
    while (at > 0 && sorter->heap[(at - 1) / 2] > op) {
        sorter->heap[at] = sorter->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    sorter->heap[at] = op;
}

static int pop(Sorter *sorter)
{
    int top = sorter->heap[0];
    int last = sorter->heap[--sorter->heap_count];
    int at = 0;
    for (;;) {
        int child = 2 * at + 1;
        if (child >= sorter->heap_count)
            break;
        if (child + 1 < sorter->heap_count && sorter->heap[child + 1] < sorter->heap[child])
            child++;
        if (sorter->heap[child] >= last)
            break;
        sorter->heap[at] = sorter->heap[child];
        at = child;
    }
    sorter->heap[at] = last;
    return top;
}

/* Lists the readers of every operator, one entry per edge. */
static void list_readers(Sorter *sorter, MerArena *scratch)
{
    const MerGraph *graph = sorter->graph;
    int edges = 0;
    for (int i = 0; i < graph->op_count; i++) {
        for (int k = 0; k < graph->ops[i].input_count; k++) {
            int producer = producer_of(graph, &graph->ops[i], k);
            if (producer < 0)
                continue;
            sorter->open[i]++;
            sorter->first[producer + 1]++;
            edges++;
        }
    }
    sorter->readers = MER_ARRAY(scratch, int, edges + 1);
    int *next = MER_ARRAY(scratch, int, graph->op_count + 1);
    for (int i = 0; i < graph->op_count; i++) {
        sorter->first[i + 1] += sorter->first[i];
        next[i] = sorter->first[i];
    }
    for (int i = 0; i < graph->op_count; i++) {
        for (int k = 0; k < graph->ops[i].input_count; k++) {
            int producer = producer_of(graph, &graph->ops[i], k);
            if (producer >= 0)
                sorter->readers[next[producer]++] = i;
        }
    }
}

static void place_ready(Sorter *sorter)
{
    for (int i = 0; i < sorter->graph->op_count; i++) {
        if (sorter->open[i] == 0)
            push(sorter, i);
    }
    while (sorter->heap_count > 0) {
        int op = pop(sorter);
        sorter->order[sorter->order_count++] = op;
        for (int k = sorter->first[op]; k < sorter->first[op + 1]; k++) {
            if (--sorter->open[sorter->readers[k]] == 0)
                push(sorter, sorter->readers[k]);
        }
    }
}

/* Walks producers among the unplaced operators until one comes up twice: that is a cycle. */
static MerStatus report_cycle(const Sorter *sorter, MerArena *scratch, MerError *error)
{
    const MerGraph *graph = sorter->graph;
    int *step = MER_ARRAY(scratch, int, graph->op_count); /* 1 + when it was visited */
    int *path = MER_ARRAY(scratch, int, graph->op_count + 1);
    int length = 0, at = 0;
    while (sorter->open[at] == 0)
        at++;
    while (step[at] == 0) {
        path[length++] = at;
        step[at] = length;
        for (int k = 0; k < graph->ops[at].input_count; k++) {
            int producer = producer_of(graph, &graph->ops[at], k);
            if (producer >= 0 && sorter->open[producer] > 0) {
                at = producer;
                break;
            }
        }
    }
    char names[300] = "";
    int shown = 0;
    for (int i = length - 1; i >= step[at] - 1 && shown < 4; i--, shown++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "\"%.60s\" -> ", graph->ops[path[i]].name);
    }
    int cycle_length = length - (step[at] - 1);
    if (shown < cycle_length)
        return mer_error_set(error, MER_INVALID, "the operators %s... (%d in all) form a cycle",
                             names, cycle_length);
    return mer_error_set(error, MER_INVALID, "the operators %s\"%.60s\" form a cycle", names,
                         graph->ops[path[length - 1]].name);
}

static void apply_order(MerGraph *graph, const int *order, MerArena *scratch)
{
    MerOp *old = MER_ARRAY(scratch, MerOp, graph->op_count);
    memcpy(old, graph->ops, (size_t)graph->op_count * sizeof *old);
    for (int i = 0; i < graph->op_count; i++) {
        graph->ops[i] = old[order[i]];
        for (int k = 0; k < graph->ops[i].output_count; k++)
            graph->values[graph->ops[i].outputs[k]].producer = i;
    }
}

MerStatus mer_graph_sort(MerGraph *graph, MerError *error)
{
    if (is_sorted(graph))
        return MER_OK;
    MerArena *scratch = mer_arena_new();
    Sorter sorter = {
        .graph = graph,
        .open = MER_ARRAY(scratch, int, graph->op_count),
        .first = MER_ARRAY(scratch, int, graph->op_count + 1),
        .heap = MER_ARRAY(scratch, int, graph->op_count),
        .order = MER_ARRAY(scratch, int, graph->op_count),
    };
    list_readers(&sorter, scratch);
    place_ready(&sorter);
    MerStatus status = MER_OK;
    if (sorter.order_count < graph->op_count)
        status = report_cycle(&sorter, scratch, error);
    else
        apply_order(graph, sorter.order, scratch);
    mer_arena_free(scratch);
    return status;
}
