/* What must hold for every graph: after import, and after every transformation. */
#include "graph/derive.h"

static MerStatus check_op_values(const MerGraph *graph, const MerOp *op, MerError *error)
{
    if (op->input_count < 0 || op->output_count < 0 ||
        (op->input_count > 0 && op->inputs == NULL) ||
        (op->output_count > 0 && op->outputs == NULL))
        return mer_error_set(error, MER_INVALID, "operator \"%s\" has a broken list of values",
                             op->name);
    for (int i = 0; i < op->input_count + op->output_count; i++) {
        int value = i < op->input_count ? op->inputs[i] : op->outputs[i - op->input_count];
        if (value < 0 || value >= graph->value_count)
            return mer_error_set(error, MER_INVALID,
                                 "operator \"%s\" names value %d, expected 0 to %d", op->name,
                                 value, graph->value_count - 1);
    }
    return MER_OK;
}

static MerStatus check_op_window(const MerOp *op, MerError *error)
{
    for (int axis = 0; axis < 2; axis++) {
        if (op->stride[axis] < 1 || op->dilation[axis] < 1)
            return mer_error_set(error, MER_INVALID,
                                 "operator \"%s\" has %s %d, expected at least 1", op->name,
                                 op->stride[axis] < 1 ? "stride" : "dilation",
                                 op->stride[axis] < 1 ? op->stride[axis] : op->dilation[axis]);
    }
    for (int side = 0; side < 4; side++) {
        if (op->pad[side] < 0)
            return mer_error_set(error, MER_INVALID,
                                 "operator \"%s\" has padding %d, expected at least 0", op->name,
                                 op->pad[side]);
    }
    if (op->input_rows < 0 || op->input_columns < 0)
        return mer_error_set(error, MER_INVALID, "operator \"%s\" has a negative input size",
                             op->name);
    return MER_OK;
}

static MerStatus check_op_extents(const MerOp *op, MerError *error)
{
    bool has_macs = mer_op_kind_has_macs(op->kind);
    for (int dim = 0; dim < MER_DIM_COUNT; dim++) {
        int64_t limit = has_macs ? MER_MAX_EXTENT : 1;
        if (op->dims[dim] < 1 || op->dims[dim] > limit)
            return mer_error_set(error, MER_INVALID,
                                 "operator \"%s\" (%s) has extent %c = %lld, expected 1 to %lld",
                                 op->name, mer_op_kind_name(op->kind), MER_DIM_LETTERS[dim],
                                 (long long)op->dims[dim], (long long)limit);
    }
    if (op->repeat < 1)
        return mer_error_set(error, MER_INVALID,
                             "operator \"%s\" repeats %lld times, expected >= 1", op->name,
                             (long long)op->repeat);
    return MER_OK;
}

MerStatus mer_graph_check_ops(const MerGraph *graph, MerError *error)
{
    for (int i = 0; i < graph->op_count; i++) {
        const MerOp *op = &graph->ops[i];
        if (op->name == NULL || op->source == NULL)
            return mer_error_set(error, MER_INVALID, "operator %d has no name", i);
        if ((int)op->kind < 0 || op->kind >= MER_OP_KIND_COUNT)
            return mer_error_set(error, MER_INVALID, "operator \"%s\" is of unknown kind %d",
                                 op->name, (int)op->kind);
        MER_TRY(check_op_values(graph, op, error));
        MER_TRY(check_op_window(op, error));
        MER_TRY(check_op_extents(op, error));
    }
    return MER_OK;
}

static MerStatus check_value(const MerGraph *graph, int index, MerError *error)
{
    const MerValue *value = &graph->values[index];
    int64_t         elements, bytes;
    if (value->name == NULL || (int)value->type < 0 || value->type >= MER_TYPE_COUNT)
        return mer_error_set(error, MER_INVALID, "value %d has no name or no type", index);
    if (!mer_value_measure(value, &elements, &bytes))
        return mer_error_set(error, MER_INVALID, "the size of value \"%s\" is out of range",
                             value->name);
    if (elements != value->elements || bytes != value->bytes)
        return mer_error_set(error, MER_INVALID, "value \"%s\" has %lld elements, expected %lld",
                             value->name, (long long)value->elements, (long long)elements);
    if (value->producer < -1 || value->producer >= graph->op_count ||
        (value->producer >= 0 && value->role != MER_VALUE_ACTIVATION))
        return mer_error_set(error, MER_INVALID, "value \"%s\" has a wrong producer", value->name);
    return MER_OK;
}

/* Producers come before consumers (so there is no cycle) and each output has one producer. */
static MerStatus check_order(const MerGraph *graph, MerError *error)
{
    int produced = 0, outputs = 0;
    for (int i = 0; i < graph->value_count; i++)
        produced += graph->values[i].producer >= 0;
    for (int i = 0; i < graph->op_count; i++) {
        const MerOp *op = &graph->ops[i];
        outputs += op->output_count;
        for (int k = 0; k < op->input_count; k++) {
            const MerValue *value = &graph->values[op->inputs[k]];
            if (value->role == MER_VALUE_ACTIVATION &&
                (value->producer < 0 || value->producer >= i))
                return mer_error_set(error, MER_INVALID,
                                     "operator \"%s\" reads \"%s\" before anything makes it",
                                     op->name, value->name);
        }
        for (int k = 0; k < op->output_count; k++) {
            if (graph->values[op->outputs[k]].producer != i)
                return mer_error_set(error, MER_INVALID, "value \"%s\" has more than one producer",
                                     graph->values[op->outputs[k]].name);
        }
    }
    if (produced != outputs)
        return mer_error_set(error, MER_INVALID, "%d values have a producer, expected %d", produced,
                             outputs);
    return MER_OK;
}

static MerStatus check_totals(const MerGraph *graph, MerError *error)
{
    int64_t macs = 0;
    for (int i = 0; i < graph->op_count; i++) {
        const MerOp *op = &graph->ops[i];
        bool         has_macs = mer_op_kind_has_macs(op->kind);
        int64_t      product;
        if (!mer_op_multiply(op, &product))
            return mer_error_set(error, MER_INVALID, "the MACs of operator \"%s\" overflow",
                                 op->name);
        if (op->macs != (has_macs ? product : 0) || (op->layer >= 0) != has_macs ||
            op->layer >= graph->layer_count)
            return mer_error_set(error, MER_INVALID, "operator \"%s\" has stale counts", op->name);
        if (__builtin_add_overflow(macs, op->macs, &macs))
            return mer_error_set(error, MER_INVALID, "the sum of all MACs overflows");
    }
    if (macs != graph->macs)
        return mer_error_set(error, MER_INVALID, "the graph counts %lld MACs, expected %lld",
                             (long long)graph->macs, (long long)macs);
    return MER_OK;
}

MerStatus mer_graph_check(const MerGraph *graph, MerError *error)
{
    MER_TRY(mer_graph_check_ops(graph, error));
    for (int i = 0; i < graph->value_count; i++)
        MER_TRY(check_value(graph, i, error));
    MER_TRY(check_order(graph, error));
    return check_totals(graph, error);
}
