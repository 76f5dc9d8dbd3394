/* Which layers make channels that meet: tensors joined by an Add, a depthwise layer or anything that works channel by channel want
 * their channels in one order. */
#include "split/split_parts.h"

static int root_of(int *parent, int value)
{
    while (parent[value] != value) {
        parent[value] = parent[parent[value]];
        value = parent[value];
    }
    return value;
}

static void join(int *parent, int a, int b)
{
    int x = root_of(parent, a), y = root_of(parent, b);
    parent[x > y ? x : y] = x < y ? x : y;
}

static bool keeps_channels(const MerOp *op)
{
    return op->kind == MER_OP_ELEMENTWISE || op->kind == MER_OP_NORM || op->kind == MER_OP_POOL ||
           op->kind == MER_OP_DEPTHWISE;
}

static int64_t channels_of(const MerValue *value)
{
    return value->rank >= 4 ? value->dims[1] : value->rank >= 1 ? value->dims[value->rank - 1] : 1;
}

void mer_split_find_ties(const MerGraph *graph, MerSplitLayer *layers, int count, MerArena *arena)
{
    int *parent = MER_ARRAY(arena, int, graph->value_count + 1), ties = 0;
    for (int v = 0; v < graph->value_count; v++) {
        parent[v] = v;
    }
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        for (int i = 0; keeps_channels(op) && op->output_count > 0 && i < op->input_count; i++) {
            const MerValue *input = &graph->values[op->inputs[i]];
            const MerValue *output = &graph->values[op->outputs[0]];
            if (input->role == MER_VALUE_ACTIVATION && channels_of(input) == channels_of(output)) {
                join(parent, op->inputs[i], op->outputs[0]);
            }
        }
    }
    int *number = MER_ARRAY(arena, int, graph->value_count + 1); /* 0: none yet */
    for (int l = 0; l < count; l++) {
        const MerOp *op = &graph->ops[layers[l].pair_op >= 0 ? layers[l].pair_op : layers[l].op];
        int          root = op->output_count > 0 ? root_of(parent, op->outputs[0]) : 0;
        if (op->output_count == 0) {
            layers[l].tie = ties++;
            continue;
        }
        number[root] = number[root] ? number[root] : ++ties;
        layers[l].tie = number[root] - 1;
    }
}
