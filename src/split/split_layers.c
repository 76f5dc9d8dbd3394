/* From operators to layers: convolutions, depthwise convolutions and products with weights are priced; the rest of a network costs
 * nothing here. */
#include "split/split_parts.h"

static MerSplitOperator type_of(const MerOp *op)
{
    bool is_one = op->dims[MER_DIM_R] == 1 && op->dims[MER_DIM_S] == 1;
    return op->kind == MER_OP_DEPTHWISE         ? MER_SPLIT_DEPTHWISE
           : op->kind == MER_OP_GEMM            ? MER_SPLIT_LINEAR
           : is_one && op->dims[MER_DIM_G] == 1 ? MER_SPLIT_POINTWISE
                                                : MER_SPLIT_CONV;
}

static bool fits_int(const MerOp *op)
{
    const int64_t *d = op->dims;
    double         k = (double)d[MER_DIM_K] * (double)d[MER_DIM_G],
           c = (double)d[MER_DIM_C] * (double)d[MER_DIM_G];
    double rows = (double)d[MER_DIM_Y] * (double)d[MER_DIM_N], limit = 1 << 24;
    return k <= limit && c <= limit && rows <= limit && (double)d[MER_DIM_X] <= limit &&
           (double)d[MER_DIM_R] <= limit && (double)d[MER_DIM_S] <= limit &&
           (double)op->repeat <= limit;
}

static MerSplitLayer make_layer(const MerOp *op, int index)
{
    const int64_t   *d = op->dims;
    MerSplitOperator type = type_of(op);
    bool             is_depthwise = type == MER_SPLIT_DEPTHWISE;
    int              groups = is_depthwise ? (int)d[MER_DIM_C] : (int)d[MER_DIM_G];
    int              c_in = is_depthwise ? groups : (int)(d[MER_DIM_C] * groups);
    /* a depthwise operator with more outputs than inputs is a CONV with groups in the graph */
    int c_out = is_depthwise ? groups : (int)(d[MER_DIM_K] * groups);
    return (MerSplitLayer){.name = op->name,
                           .op = index,
                           .pair_op = -1,
                           .type = type,
                           .c_in = c_in,
                           .c_out = c_out,
                           .groups = groups,
                           .k_h = (int)d[MER_DIM_R],
                           .k_w = (int)d[MER_DIM_S],
                           .o_h = (int)(d[MER_DIM_Y] * d[MER_DIM_N]),
                           .o_w = (int)d[MER_DIM_X],
                           .i_h = (int)op->input_rows,
                           .i_w = (int)op->input_columns,
                           .stride_h = op->stride[0],
                           .stride_w = op->stride[1],
                           .repeat = (int)op->repeat,
                           .macs = (double)op->macs,
                           .weights = (int64_t)(c_in / groups) * d[MER_DIM_R] * d[MER_DIM_S],
                           .fixed = -1};
}

/* The only operator that reads what `op` makes; -1: there are several, or none. */
static int only_reader(const MerGraph *graph, int op)
{
    const MerOp *maker = &graph->ops[op];
    if (maker->output_count != 1 || graph->values[maker->outputs[0]].consumer_count != 1 ||
        graph->values[maker->outputs[0]].is_output) {
        return -1;
    }
    return graph->values[maker->outputs[0]].consumers[0];
}

/* Works on one tensor, channel by channel. */
static bool is_simple(const MerGraph *graph, const MerOp *op)
{
    int tensors = 0;
    for (int i = 0; i < op->input_count; i++) {
        tensors += graph->values[op->inputs[i]].role != MER_VALUE_WEIGHT;
    }
    return tensors == 1 && (op->kind == MER_OP_NORM || op->kind == MER_OP_ELEMENTWISE);
}

/* The pointwise convolution that follows a 3x3 depthwise one of the same width and stride 1, over normalisations and activations;
 * -1: there is none. */
static int find_pair(const MerGraph *graph, int index)
{
    const MerOp *op = &graph->ops[index];
    if (op->kind != MER_OP_DEPTHWISE || op->dims[MER_DIM_R] != 3 || op->dims[MER_DIM_S] != 3 ||
        op->stride[0] != 1 || op->stride[1] != 1) {
        return -1;
    }
    int next = only_reader(graph, index);
    while (next >= 0 && is_simple(graph, &graph->ops[next])) {
        next = only_reader(graph, next);
    }
    return next >= 0 && graph->ops[next].kind == MER_OP_CONV &&
                   type_of(&graph->ops[next]) == MER_SPLIT_POINTWISE &&
                   graph->ops[next].stride[0] == 1 && graph->ops[next].stride[1] == 1 &&
                   graph->ops[next].dims[MER_DIM_K] == op->dims[MER_DIM_C]
               ? next
               : -1;
}

/* The depthwise half becomes a full 3x3 convolution; its partner is no layer of its own. */
static void merge_pair(MerSplitLayer *layer, int partner, bool *is_taken)
{
    layer->pair_op = partner;
    layer->type = MER_SPLIT_CONV;
    layer->groups = 1;
    layer->weights = (int64_t)layer->c_in * layer->k_h * layer->k_w;
    layer->macs *= layer->c_in;
    is_taken[partner] = true;
}

/* Tensors that wait or are used while operator `at` runs. */
static int64_t count_live(const MerGraph *graph, int at)
{
    int64_t sum = 0;
    for (int v = 0; v < graph->value_count; v++) {
        const MerValue *value = &graph->values[v];
        int             last = value->is_output ? graph->op_count : value->producer;
        for (int i = 0; i < value->consumer_count; i++) {
            last = value->consumers[i] > last ? value->consumers[i] : last;
        }
        sum += value->role != MER_VALUE_WEIGHT && value->producer <= at && last >= at
                   ? value->elements
                   : 0;
    }
    return sum;
}

MerStatus mer_split_find_layers(const MerGraph *graph, bool merges_pairs, MerSplitLayer **layers,
                                int *count, MerSplitRemarks *remarks, MerArena *arena,
                                MerError *error)
{
    bool       *is_taken = MER_ARRAY(arena, bool, graph->op_count + 1);
    int         unpriced = 0;
    const char *first = "";
    *layers = MER_ARRAY(arena, MerSplitLayer, graph->op_count + 1);
    *count = 0;
    for (int i = 0; i < graph->op_count; i++) {
        const MerOp *op = &graph->ops[i];
        if (!mer_op_kind_has_macs(op->kind) || is_taken[i]) {
            continue;
        }
        if (op->kind == MER_OP_BATCHED_GEMM) {
            first = unpriced++ ? first : op->name;
            continue;
        }
        if (op->kind == MER_OP_TRANSPOSED || !fits_int(op)) {
            return mer_error_set(error, MER_UNSUPPORTED,
                                 "%s: operator \"%.120s\" (%s) %s, expected convolutions and "
                                 "products with weights",
                                 graph->name, op->name, op->source,
                                 op->kind == MER_OP_TRANSPOSED ? "is a transposed convolution"
                                                               : "is larger than a split takes");
        }
        MerSplitLayer *layer = &(*layers)[(*count)++];
        *layer = make_layer(op, i);
        layer->live_elements = count_live(graph, i);
        int partner = merges_pairs ? find_pair(graph, i) : -1;
        if (partner >= 0) {
            merge_pair(layer, partner, is_taken);
        }
    }
    if (unpriced > 0) {
        mer_split_remark(remarks, "%d product%s of two activations %s not priced, the first is %s",
                         unpriced, unpriced > 1 ? "s" : "", unpriced > 1 ? "are" : "is", first);
    }
    return *count > 0 ? MER_OK
                      : mer_error_set(error, MER_INVALID,
                                      "%s has no layer with weights, expected convolutions or "
                                      "products",
                                      graph->name);
}
