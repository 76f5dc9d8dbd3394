/* What split.json says of a network in whole numbers: the numbers of every channel but its weights, and where values lie. */
#include "split/export/deployment.h"

/* One number of each channel, in the order of `permutation`. */
#define WRITE(key, field)                                                                          \
    do {                                                                                           \
        for (int c = 0; c < count; c++) {                                                          \
            values[c] = node->channels[c].field;                                                   \
        }                                                                                          \
        mer_json_ints(json, key, values, count);                                                   \
    } while (0)

void mer_deployment_json_layer(const MerIntegerNet *net, const MerIntegerNode *node,
                               MerArena *arena, MerJson *json)
{
    int  count = net->values[node->out].channels;
    int *values = MER_ARRAY(arena, int, count);
    WRITE("starts", start);
    WRITE("scales", scale);
    WRITE("biases", bias);
    WRITE("bias_shifts", bias_shift);
    WRITE("shifts", shift);
}

static const char *kind_of(const MerIntegerNode *node)
{
    return node->kind == MER_TRAIN_CONV            ? "layer"
           : node->kind == MER_TRAIN_ADD           ? "sum"
           : node->pooling.kind == MER_POOLING_MAX ? "maximum"
                                                   : "average";
}

static void write_value(const MerIntegerValue *value, int64_t offset, MerJson *json)
{
    mer_json_ints(json, "shape", (int[]){value->channels, value->height, value->width}, 3);
    mer_json_int(json, "zero", value->zero);
    mer_json_real(json, "step", value->step);
    if (offset >= 0) {
        mer_json_int(json, "offset", offset);
    }
}

static void write_node(const MerIntegerNet *net, const MerIntegerNode *node, int64_t offset,
                       MerJson *json)
{
    bool is_sum = node->kind == MER_TRAIN_ADD, is_layer = node->kind == MER_TRAIN_CONV;
    mer_json_object(json, NULL);
    mer_json_text(json, "name", node->name);
    mer_json_text(json, "kind", kind_of(node));
    mer_json_ints(json, "inputs", node->in, is_sum ? 2 : 1);
    mer_json_int(json, "output", node->out);
    write_value(&net->values[node->out], offset, json);
    if (is_sum) {
        mer_json_ints(json, "factors", node->factors, 2);
    }
    if (!is_layer && (is_sum || node->pooling.kind == MER_POOLING_AVERAGE)) {
        mer_json_int(json, "scale", node->scale);
        mer_json_int(json, "shift", node->shift);
    }
    mer_json_end_object(json);
}

void mer_deployment_json(const MerIntegerNet *net, MerArena *arena, MerJson *json)
{
    MerBufferPlan memory = mer_buffer_plan(net, arena);
    mer_json_object(json, "deployment");
    mer_json_object(json, "input");
    write_value(&net->values[0], -1, json);
    mer_json_end_object(json);
    mer_json_int(json, "memory_bytes", memory.bytes);
    mer_json_int(json, "alive_bytes", memory.alive);
    mer_json_ints(json, "classes", net->output_order, net->classes);
    mer_json_array(json, "nodes");
    for (int n = 0; n < net->node_count; n++) {
        write_node(net, &net->nodes[n], memory.offset[net->nodes[n].out], json);
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}
