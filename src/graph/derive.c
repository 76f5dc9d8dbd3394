/* mer_graph_finish: sizes of values, producers and consumers, counts per operator, layers, totals
 * and the hash. Everything is linear in the number of operators and edges. */
#include "graph/derive.h"

#include "base/key_table.h"
#include "graph/order.h"
#include "mercator/text.h"

#include <string.h>

bool mer_value_measure(const MerValue *value, int64_t *elements, int64_t *bytes)
{
    *elements = 0;
    *bytes = 0;
    if (value->rank < 0)
        return value->rank == -1;
    if (value->rank > MER_MAX_RANK)
        return false;
    int64_t product = 1, bits;
    bool    is_empty = false;
    for (int axis = 0; axis < value->rank; axis++) {
        if (value->dims[axis] < 0)
            return false;
        if (value->dims[axis] == 0)
            is_empty = true;
        else if (__builtin_mul_overflow(product, value->dims[axis], &product))
            return false;
    }
    if (__builtin_mul_overflow(product, mer_type_bits(value->type), &bits))
        return false;
    *elements = is_empty ? 0 : product;
    *bytes = is_empty ? 0 : bits / 8 + (bits % 8 != 0);
    return true;
}

bool mer_op_multiply(const MerOp *op, int64_t *product)
{
    bool fits = true;
    *product = op->repeat;
    for (int dim = 0; dim < MER_DIM_COUNT; dim++)
        fits &= !__builtin_mul_overflow(*product, op->dims[dim], product);
    return fits;
}

bool mer_type_is_parameter(MerType type)
{
    bool is_integer = type == MER_TYPE_INT8 || type == MER_TYPE_UINT8 || type == MER_TYPE_INT4;
    return is_integer || mer_type_is_float(type);
}

static MerStatus measure_values(MerGraph *graph, MerError *error)
{
    for (int i = 0; i < graph->value_count; i++) {
        MerValue *value = &graph->values[i];
        if ((int)value->type < 0 || value->type >= MER_TYPE_COUNT)
            return mer_error_set(error, MER_INVALID, "value \"%s\" is of unknown type %d",
                                 value->name, (int)value->type);
        if (!mer_value_measure(value, &value->elements, &value->bytes))
            return mer_error_set(error, MER_INVALID, "the size of value \"%s\" is out of range",
                                 value->name);
        value->producer = -1;
        value->consumer_count = 0;
        value->consumers = NULL;
    }
    return MER_OK;
}

static MerStatus find_producers(MerGraph *graph, MerError *error)
{
    for (int i = 0; i < graph->op_count; i++) {
        const MerOp *op = &graph->ops[i];
        for (int k = 0; k < op->output_count; k++) {
            MerValue *value = &graph->values[op->outputs[k]];
            if (value->role != MER_VALUE_ACTIVATION)
                return mer_error_set(
                    error, MER_INVALID, "operator \"%s\" writes \"%s\", which is %s", op->name,
                    value->name, value->role == MER_VALUE_INPUT ? "an input" : "a constant");
            if (value->producer >= 0)
                return mer_error_set(error, MER_INVALID,
                                     "operators \"%s\" and \"%s\" both write \"%s\"",
                                     graph->ops[value->producer].name, op->name, value->name);
            value->producer = i;
        }
    }
    return MER_OK;
}

static MerStatus check_inputs_exist(const MerGraph *graph, MerError *error)
{
    for (int i = 0; i < graph->op_count; i++) {
        const MerOp *op = &graph->ops[i];
        for (int k = 0; k < op->input_count; k++) {
            const MerValue *value = &graph->values[op->inputs[k]];
            if (value->role == MER_VALUE_ACTIVATION && value->producer < 0)
                return mer_error_set(error, MER_INVALID,
                                     "operator \"%s\" reads \"%s\", which nothing makes", op->name,
                                     value->name);
        }
    }
    return MER_OK;
}

static const char *op_name(const void *graph, int op)
{
    return ((const MerGraph *)graph)->ops[op].name;
}

static void apply_order(MerGraph *graph, const int *order, MerArena *scratch)
{
    MerOp *old = MER_ARRAY(scratch, MerOp, graph->op_count);
    if (graph->op_count > 0)
        memcpy(old, graph->ops, (size_t)graph->op_count * sizeof *old);
    for (int i = 0; i < graph->op_count; i++) {
        graph->ops[i] = old[order[i]];
        for (int k = 0; k < graph->ops[i].output_count; k++)
            graph->values[graph->ops[i].outputs[k]].producer = i;
    }
}

static MerStatus sort_ops(MerGraph *graph, MerArena *scratch, MerError *error)
{
    int *first = MER_ARRAY(scratch, int, graph->op_count + 1);
    for (int i = 0; i < graph->op_count; i++)
        first[i + 1] = first[i] + graph->ops[i].input_count;
    int *before = MER_ARRAY(scratch, int, first[graph->op_count] + 1);
    for (int i = 0; i < graph->op_count; i++) {
        for (int k = 0; k < graph->ops[i].input_count; k++)
            before[first[i] + k] = graph->values[graph->ops[i].inputs[k]].producer;
    }
    int *order = MER_ARRAY(scratch, int, graph->op_count + 1);
    int  cycle_length;
    if (!mer_order_stable(graph->op_count, first, before, order, &cycle_length)) {
        char names[350];
        mer_order_cycle_text(names, sizeof names, order, cycle_length, op_name, graph);
        return mer_error_set(error, MER_INVALID, "the operators %s form a cycle", names);
    }
    apply_order(graph, order, scratch);
    return MER_OK;
}

/* Was this input of the operator already among the ones before it? `last` remembers the last
 * operator that read each value. */
static bool is_repeated(int *last, int op, int value)
{
    bool repeated = last[value] == op + 1;
    last[value] = op + 1;
    return repeated;
}

static void link_consumers(MerGraph *graph, MerArena *scratch)
{
    int *last = MER_ARRAY(scratch, int, graph->value_count + 1);
    for (int i = 0; i < graph->op_count; i++) {
        for (int k = 0; k < graph->ops[i].input_count; k++) {
            MerValue *value = &graph->values[graph->ops[i].inputs[k]];
            if (is_repeated(last, i, graph->ops[i].inputs[k]))
                continue;
            MER_GROW(graph->arena, value->consumers, value->consumer_count);
            value->consumers[value->consumer_count++] = i;
        }
    }
}

static bool add(int64_t *sum, int64_t value)
{
    return !__builtin_add_overflow(*sum, value, sum);
}

/* Counts of one operator. A weight counts as parameters at its first user, which is its first
 * consumer because consumers are listed in order. */
static bool count_op(MerGraph *graph, int index, int *last)
{
    MerOp *op = &graph->ops[index];
    bool   fits = true;
    op->parameters = op->weight_bytes = op->input_bytes = op->output_bytes = 0;
    for (int k = 0; k < op->input_count; k++) {
        const MerValue *value = &graph->values[op->inputs[k]];
        if (is_repeated(last, index, op->inputs[k]))
            continue;
        bool is_weight = value->role == MER_VALUE_WEIGHT;
        fits &= add(is_weight ? &op->weight_bytes : &op->input_bytes, value->bytes);
        if (is_weight && mer_type_is_parameter(value->type) && value->consumers[0] == index)
            fits &= add(&op->parameters, value->elements);
    }
    for (int k = 0; k < op->output_count; k++)
        fits &= add(&op->output_bytes, graph->values[op->outputs[k]].bytes);
    op->macs = 0;
    if (mer_op_kind_has_macs(op->kind))
        fits &= mer_op_multiply(op, &op->macs);
    return fits;
}

static MerStatus count(MerGraph *graph, MerArena *scratch, MerError *error)
{
    int *last = MER_ARRAY(scratch, int, graph->value_count + 1);
    graph->macs = graph->parameters = graph->activation_bytes = 0;
    for (int i = 0; i < graph->op_count; i++) {
        bool fits = count_op(graph, i, last);
        fits = fits && add(&graph->macs, graph->ops[i].macs) &&
               add(&graph->parameters, graph->ops[i].parameters) &&
               add(&graph->activation_bytes, graph->ops[i].output_bytes);
        if (!fits)
            return mer_error_set(error, MER_INVALID,
                                 "the MACs or bytes of operator \"%s\" overflow 64 bits",
                                 graph->ops[i].name);
    }
    return MER_OK;
}

static uint64_t hash_loops(const MerOp *op)
{
    uint64_t hash = mer_hash_int(MER_HASH_START, op->kind);
    for (int dim = 0; dim < MER_DIM_COUNT; dim++)
        hash = mer_hash_int(hash, op->dims[dim]);
    for (int axis = 0; axis < 2; axis++)
        hash = mer_hash_int(mer_hash_int(hash, op->stride[axis]), op->dilation[axis]);
    return mer_hash_int(hash, op->repeat);
}

static bool has_same_loops(const MerOp *a, const MerOp *b)
{
    return a->kind == b->kind && memcmp(a->dims, b->dims, sizeof a->dims) == 0 &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0 &&
           memcmp(a->dilation, b->dilation, sizeof a->dilation) == 0 && a->repeat == b->repeat;
}

static void group_layers(MerGraph *graph, MerArena *scratch)
{
    MerKeyTable table = {.arena = scratch};
    graph->layers = NULL;
    graph->layer_count = 0;
    for (int i = 0; i < graph->op_count; i++) {
        MerOp   *op = &graph->ops[i];
        uint64_t key = hash_loops(op);
        op->layer = -1;
        if (!mer_op_kind_has_macs(op->kind))
            continue;
        do { /* other loops may have the same hash: then the next key is theirs */
            op->layer = mer_key_table_add(&table, key++, graph->layer_count);
        } while (op->layer < graph->layer_count &&
                 !has_same_loops(op, &graph->ops[graph->layers[op->layer].op]));
        if (op->layer == graph->layer_count) {
            MER_GROW(graph->arena, graph->layers, graph->layer_count);
            graph->layers[graph->layer_count++] = (MerLayer){.op = i};
        }
        graph->layers[op->layer].count++;
    }
}

/* Everything an evaluator or a plan file can see, so names of operators count and the names of the
 * graph and its file do not. */
static uint64_t hash_content(const MerGraph *graph)
{
    uint64_t hash = MER_HASH_START;
    for (int i = 0; i < graph->value_count; i++) {
        const MerValue *value = &graph->values[i];
        hash = mer_hash_int(mer_hash_int(hash, value->type), value->role);
        hash = mer_hash_int(mer_hash_int(hash, value->is_output), value->rank);
        for (int axis = 0; axis < value->rank; axis++)
            hash = mer_hash_int(hash, value->dims[axis]);
    }
    for (int i = 0; i < graph->op_count; i++) {
        const MerOp *op = &graph->ops[i];
        hash = mer_hash_text(mer_hash_text(hash, op->name), op->source);
        hash = mer_hash_int(hash, (int64_t)hash_loops(op));
        for (int side = 0; side < 4; side++)
            hash = mer_hash_int(hash, op->pad[side]);
        hash = mer_hash_int(mer_hash_int(hash, op->input_rows), op->input_columns);
        hash = mer_hash_int(mer_hash_int(hash, op->input_count), op->output_count);
        for (int k = 0; k < op->input_count; k++)
            hash = mer_hash_int(hash, op->inputs[k]);
        for (int k = 0; k < op->output_count; k++)
            hash = mer_hash_int(hash, op->outputs[k]);
    }
    return hash;
}

static MerStatus derive(MerGraph *graph, MerArena *scratch, MerError *error)
{
    MER_TRY(mer_graph_check_ops(graph, error));
    MER_TRY(measure_values(graph, error));
    MER_TRY(find_producers(graph, error));
    MER_TRY(check_inputs_exist(graph, error));
    MER_TRY(sort_ops(graph, scratch, error));
    link_consumers(graph, scratch);
    MER_TRY(count(graph, scratch, error));
    group_layers(graph, scratch);
    graph->hash = hash_content(graph);
    return mer_graph_check(graph, error);
}

MerStatus mer_graph_finish(MerGraph *graph, MerError *error)
{
    MerArena *scratch = mer_arena_new();
    MerStatus status = derive(graph, scratch, error);
    mer_arena_free(scratch);
    return status;
}
