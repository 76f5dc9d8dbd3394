/* The workload as a graph in the log, where its operators are the tasks: the report colours each operator by what its task
 * came to. Problems that take the graph as one task show it by views of their own. */
#include "mercator/view.h"
#include "run/internal.h"
#include "run/log/lines.h"

#include <string.h>

enum { MOST_OPS = 20000 }; /* of a graph that is written */

typedef struct Target {
    MerRunState *run;
    MerStatus    status;
    MerError    *error;
} Target;

static void write_line(void *state, const char *name, const char *value)
{
    Target *target = state;
    MerJson json = {0};
    mer_line_note(&json, target->run->trials, -1, "run", name, value);
    target->status = mer_runlog_end_line(&target->run->log, &json, target->error);
}

/* The task that stands for each operator, counted from 1; 0: none. Equal layers are one task; where a problem tells them
 * apart by their padding, so does this. Gives how many operators have one. */
static int find_tasks(const MerRunState *run, int *tasks, MerArena *arena)
{
    const MerGraph *graph = run->spec->graph;
    int            *newest = MER_ARRAY(arena, int, graph->layer_count + 1); /* task of the layer */
    int *older = MER_ARRAY(arena, int, run->task_count + 1); /* another one of the layer */
    int  count = 0;
    for (int t = run->task_count; t >= 1; t--) {
        int op = run->tasks[t - 1].result->task.op, layer = op >= 0 ? graph->ops[op].layer : -1;
        if (layer >= 0) {
            older[t] = newest[layer];
            newest[layer] = t;
        }
    }
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        for (int t = op->layer >= 0 ? newest[op->layer] : 0; t > 0; t = older[t]) {
            const int *pad = graph->ops[run->tasks[t - 1].result->task.op].pad;
            bool       is_same = memcmp(pad, op->pad, sizeof op->pad) == 0;
            tasks[o] = is_same || tasks[o] == 0 ? t : tasks[o];
            if (is_same) {
                break;
            }
        }
        count += tasks[o] > 0;
    }
    return count;
}

static void show(const MerGraph *graph, const int *tasks, const int *edges, int edge_count,
                 MerArena *arena, MerNotes *notes)
{
    MerViewNode *nodes = MER_ARRAY(arena, MerViewNode, graph->op_count);
    for (int o = 0; o < graph->op_count; o++) {
        nodes[o] = (MerViewNode){.name = graph->ops[o].name,
                                 .group = mer_op_kind_name(graph->ops[o].kind),
                                 .task = tasks[o]};
    }
    mer_view_graph(
        notes,
        &(MerView){.id = "graph", .title = mer_arena_format(arena, "The graph of %s", graph->name)},
        &(MerViewGraph){.group_name = "operator",
                        .nodes = nodes,
                        .node_count = graph->op_count,
                        .edges = edges,
                        .edge_count = edge_count});
}

MerStatus mer_run_note_graph(MerRunState *run, MerError *error)
{
    const MerGraph *graph = run->spec->graph;
    if (!graph || graph->op_count > MOST_OPS || run->task_count < 2) {
        return MER_OK;
    }
    MerArena *arena = mer_arena_new();
    Target    target = {run, MER_OK, error};
    MerNotes  notes = {.state = &target, .note = write_line};
    int       edge_count = 0;
    int      *edges = mer_graph_edges(graph, arena, &edge_count);
    int      *tasks = MER_ARRAY(arena, int, graph->op_count + 1);
    if (find_tasks(run, tasks, arena) > 1 && edge_count > 0) { /* a list of layers is no graph */
        show(graph, tasks, edges, edge_count, arena, &notes);
    }
    mer_arena_free(arena);
    return target.status;
}
