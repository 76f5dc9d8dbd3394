/* Which layers make channels that meet: tensors joined by an Add, a depthwise layer or anything that works channel by channel want
 * their channels in one order. */
#include "base/sets.h"
#include "split/split_parts.h"

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
    int *parent = mer_sets_new(graph->value_count, arena), ties = 0;
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        for (int i = 0; keeps_channels(op) && op->output_count > 0 && i < op->input_count; i++) {
            const MerValue *input = &graph->values[op->inputs[i]];
            const MerValue *output = &graph->values[op->outputs[0]];
            if (input->role == MER_VALUE_ACTIVATION && channels_of(input) == channels_of(output)) {
                mer_sets_join(parent, op->inputs[i], op->outputs[0]);
            }
        }
    }
    int *number = MER_ARRAY(arena, int, graph->value_count + 1); /* 0: none yet */
    for (int l = 0; l < count; l++) {
        const MerOp *op = &graph->ops[layers[l].pair_op >= 0 ? layers[l].pair_op : layers[l].op];
        int          root = op->output_count > 0 ? mer_sets_root(parent, op->outputs[0]) : 0;
        if (op->output_count == 0) {
            layers[l].tie = ties++;
            continue;
        }
        number[root] = number[root] ? number[root] : ++ties;
        layers[l].tie = number[root] - 1;
    }
}
