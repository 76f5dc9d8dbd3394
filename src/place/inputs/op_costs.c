/* Times of operators that nobody has measured: a roofline per unit and number type, plus what a launch costs
 * (docs/placement.md, "Times without measurements"). */
#include "place/place_parts.h"

#include <string.h>

/* Operations per element (docs/placement.md, the same section). */
enum { TRANSCENDENTAL = 8, NORM = 8, SOFTMAX = 12 };

static bool is_among(const char *word, const char *const *words)
{
    for (; *words; words++) {
        if (strcmp(word, *words) == 0) {
            return true;
        }
    }
    return false;
}

/* Operators that only read the same bytes in another shape. */
static bool is_view(const MerOp *op)
{
    static const char *const words[] = {"Reshape",  "Flatten", "Squeeze", "Unsqueeze",
                                        "Identity", "Dropout", NULL};
    return op->kind == MER_OP_MOVE && is_among(op->source, words);
}

static bool is_recurrent(const MerOp *op)
{
    static const char *const words[] = {"LSTM", "GRU", "RNN", NULL};
    return is_among(op->source, words);
}

static bool is_transcendental(const MerOp *op)
{
    static const char *const words[] = {"Exp",
                                        "Log",
                                        "Sin",
                                        "Cos",
                                        "Tan",
                                        "Asin",
                                        "Acos",
                                        "Atan",
                                        "Sinh",
                                        "Cosh",
                                        "Tanh",
                                        "Asinh",
                                        "Acosh",
                                        "Atanh",
                                        "Sigmoid",
                                        "Erf",
                                        "Gelu",
                                        "Swish",
                                        "Mish",
                                        "Softplus",
                                        "Elu",
                                        "Selu",
                                        "Celu",
                                        "Pow",
                                        "DFT",
                                        "FastGelu",
                                        "BiasGelu",
                                        "QuickGelu",
                                        "QLinearSigmoid",
                                        NULL};
    return is_recurrent(op) || is_among(op->source, words);
}

static bool is_weight(const MerGraph *graph, int value)
{
    return graph->values[value].role == MER_VALUE_WEIGHT;
}

static double input_elements(const MerGraph *graph, const MerOp *op)
{
    double sum = 0;
    for (int i = 0; i < op->input_count; i++) {
        const MerValue *value = &graph->values[op->inputs[i]];
        sum += value->role == MER_VALUE_WEIGHT ? 0 : (double)value->elements;
    }
    return sum;
}

static double output_elements(const MerGraph *graph, const MerOp *op)
{
    double sum = 0;
    for (int i = 0; i < op->output_count; i++) {
        sum += (double)graph->values[op->outputs[i]].elements;
    }
    return sum;
}

/* The largest window along an axis that gives this many outputs: the size itself is not kept for pools. */
static double window(int64_t input, int64_t output, int stride, int dilation, int pads)
{
    int64_t span = input + pads - (output - 1) * stride; /* rows that one window reaches over */
    return span < 1 ? 1 : (double)((span - 1) / dilation + 1);
}

/* Elements that are read for each output of a pool. */
static double pool_window(const MerGraph *graph, const MerOp *op, double outputs)
{
    const MerValue *result = op->output_count > 0 ? &graph->values[op->outputs[0]] : NULL;
    if (op->input_rows > 0 && op->input_columns > 0 && result && result->rank >= 3) {
        int64_t columns = result->dims[result->rank - 1];
        int64_t rows = result->rank >= 4 ? result->dims[result->rank - 2] : 1;
        return window(op->input_rows, rows, op->stride[0], op->dilation[0],
                      op->pad[0] + op->pad[2]) *
               window(op->input_columns, columns, op->stride[1], op->dilation[1],
                      op->pad[1] + op->pad[3]);
    }
    return outputs > 0 ? fmax(1, input_elements(graph, op) / outputs) : 0;
}

/* Of one repetition. */
static double count_flops(const MerGraph *graph, const MerOp *op)
{
    double outputs = output_elements(graph, op);
    switch (op->kind) {
    case MER_OP_POOL:
        return outputs * pool_window(graph, op, outputs);
    case MER_OP_NORM:
        return outputs * NORM;
    case MER_OP_SOFTMAX:
        return outputs * SOFTMAX;
    case MER_OP_REDUCE:
        return input_elements(graph, op);
    case MER_OP_RESIZE:
        return outputs;
    case MER_OP_ELEMENTWISE: /* gates of a recurrence read more than they give */
        return is_recurrent(op)        ? input_elements(graph, op) * TRANSCENDENTAL
               : is_transcendental(op) ? outputs * TRANSCENDENTAL
                                       : outputs;
    default:
        return 2 * (double)op->macs / (double)op->repeat;
    }
}

/* What goes to and from memory in one repetition. Operators that choose read no more than they write: a row of an
 * embedding, not the table. A recurrence comes with all its steps, and reads its weights in each of them. */
static double count_bytes(const MerGraph *graph, const MerOp *op)
{
    double outputs = (double)op->output_bytes, inputs = 0;
    if (is_recurrent(op)) {
        return (outputs + (double)op->input_bytes) / (double)op->repeat + (double)op->weight_bytes;
    }
    if (op->kind != MER_OP_GATHER && op->kind != MER_OP_MOVE) {
        return outputs + (double)op->input_bytes + (double)op->weight_bytes;
    }
    for (int i = 0; i < op->input_count; i++) {
        inputs += fmin((double)graph->values[op->inputs[i]].bytes, outputs);
    }
    return outputs + inputs;
}

/* Sizes are computed from sizes: a few integers that come from Shape or Size alone. */
static bool is_shape_arithmetic(const MerGraph *graph, const MerOp *op, const bool *is_shape)
{
    static const char *const sources[] = {"Shape", "Size", NULL};
    enum { MOST = 64 };
    int from_shapes = 0;
    if (is_among(op->source, sources)) {
        return true;
    }
    for (int i = 0; i < op->output_count; i++) {
        const MerValue *value = &graph->values[op->outputs[i]];
        bool            is_whole = value->type == MER_TYPE_INT64 || value->type == MER_TYPE_INT32 ||
                        value->type == MER_TYPE_BOOL;
        if (!is_whole || value->rank < 0 || value->rank > 1 || value->elements > MOST) {
            return false;
        }
    }
    for (int i = 0; i < op->input_count; i++) {
        int producer = graph->values[op->inputs[i]].producer;
        if (!is_weight(graph, op->inputs[i]) && (producer < 0 || !is_shape[producer])) {
            return false;
        }
        from_shapes += producer >= 0;
    }
    return from_shapes > 0;
}

/* The numbers that an operator computes with: those of its first input that is no weight. */
static MerType type_of(const MerGraph *graph, const MerOp *op)
{
    for (int i = 0; i < op->input_count; i++) {
        if (!is_weight(graph, op->inputs[i])) {
            return graph->values[op->inputs[i]].type;
        }
    }
    return op->output_count > 0 ? graph->values[op->outputs[0]].type : MER_TYPE_FLOAT32;
}

static double rate_named(const MerUnit *unit, const char *type)
{
    for (int i = 0; i < unit->flops_count; i++) {
        if (unit->flops[i].type[0] == '\0' || strcmp(unit->flops[i].type, type) == 0) {
            return unit->flops[i].per_s;
        }
    }
    return NAN;
}

/* Operations per second; what the platform does not say is that of the nearest type, then of float32, then of the
 * first type it lists. Without any the unit computes in no time. */
static double rate_of(const MerUnit *unit, MerType type)
{
    MerType near = type == MER_TYPE_BFLOAT16                         ? MER_TYPE_FLOAT16
                   : type == MER_TYPE_UINT8 || type == MER_TYPE_INT4 ? MER_TYPE_INT8
                   : type == MER_TYPE_FLOAT8                         ? MER_TYPE_INT8
                                                                     : MER_TYPE_FLOAT32;
    double  rate = rate_named(unit, mer_type_name(type));
    rate = isnan(rate) ? rate_named(unit, mer_type_name(near)) : rate;
    rate = isnan(rate) ? rate_named(unit, mer_type_name(MER_TYPE_FLOAT32)) : rate;
    return !isnan(rate) ? rate : unit->flops_count > 0 ? unit->flops[0].per_s : INFINITY;
}

double mer_place_rate(const MerPlace *place, int op, int unit)
{
    const MerUnit *on = &place->platform->units[unit];
    return 1e-6 * rate_of(on, type_of(place->graph, &place->graph->ops[op])) * on->speed;
}

static bool is_supported(const MerUnit *unit, MerOpKind kind)
{
    bool found = unit->support_count == 0;
    for (int i = 0; i < unit->support_count && !found; i++) {
        found = strcmp(unit->supports[i], mer_op_kind_name(kind)) == 0;
    }
    return found;
}

static double price(const MerUnit *unit, const MerOp *op, MerType type, double flops, double bytes)
{
    double launches = is_recurrent(op) ? 1 : (double)op->repeat;
    double roofline_s = fmax(flops / rate_of(unit, type), bytes / unit->bytes_per_s);
    return (1e6 * roofline_s + launches * unit->launch_us) / unit->speed;
}

MerStatus mer_place_estimate(MerPlace *place, MerArena *arena, MerError *error)
{
    const MerGraph *graph = place->graph;
    size_t          count = (size_t)place->op_count, units = (size_t)place->unit_count;
    double *times = MER_ARRAY(arena, double, count *units), *size = MER_ARRAY(arena, double, count);
    double *output = MER_ARRAY(arena, double, count), *flops = MER_ARRAY(arena, double, count);
    double *bytes = MER_ARRAY(arena, double, count);
    bool   *is_shape = MER_ARRAY(arena, bool, count);
    bool    has_hosts = place->accelerator_count < place->unit_count;
    (void)error;
    for (size_t o = 0; o < count; o++) {
        const MerOp *op = &graph->ops[o];
        bool         is_free = is_view(op);
        MerType      type = type_of(graph, op);
        is_shape[o] = is_shape_arithmetic(graph, op, is_shape);
        flops[o] = is_free ? 0 : count_flops(graph, op) * (double)op->repeat;
        bytes[o] = is_free ? 0 : count_bytes(graph, op) * (double)op->repeat;
        size[o] = (double)op->weight_bytes;
        output[o] = (double)op->output_bytes;
        for (size_t u = 0; u < units; u++) {
            const MerUnit *unit = &place->platform->units[u];
            bool           runs = is_shape[o] && has_hosts ? place->is_host[u]
                                                           : is_free || is_supported(unit, op->kind);
            times[o * units + u] = !runs     ? INFINITY
                                   : is_free ? 0
                                             : price(unit, op, type, flops[o], bytes[o]);
        }
    }
    place->time_us = times;
    place->size = size;
    place->output_bytes = output;
    place->workspace_bytes = MER_ARRAY(arena, double, count);
    place->flops = flops;
    place->moved_bytes = bytes;
    return MER_OK;
}
