/* Operators that read constants alone are computed when a model is loaded: Transpose, Slice and
 * Concat of weights, masks, position tables. They become constants themselves, so that weights
 * stay the weights of the layer that uses them. Groups of connected operators are folded together,
 * and only if that keeps the number of parameters (a weight that is used in two forms counts once). */
#include "import/onnx/onnx.h"

#include "base/sets.h"
#include "graph/derive.h"

#include <string.h>

typedef struct Group { /* of connected operators, at its root */
    int64_t source_parameters, result_parameters;
    bool    is_kept; /* as operators */
} Group;

typedef struct Folder {
    MerGraph *graph;
    int      *producer;    /* per value: constant operator, -1: none */
    bool     *is_constant; /* per operator */
    int      *parent;      /* per operator: mer_sets_new */
    int      *reader;      /* per value: 1 + first constant operator that reads it */
    Group    *groups;
} Folder;

static bool is_random(const char *source)
{
    return strncmp(source, "Random", 6) == 0 || strcmp(source, "Bernoulli") == 0 ||
           strcmp(source, "Multinomial") == 0;
}

static bool is_known_kind(const MerOp *op, bool is_unknown_type)
{
    return !mer_op_kind_has_macs(op->kind) && !is_random(op->source) && !is_unknown_type &&
           op->input_count > 0;
}

static bool reads_constants_alone(const Folder *folder, const MerOp *op)
{
    for (int k = 0; k < op->input_count; k++) {
        int value = op->inputs[k];
        if (folder->graph->values[value].role != MER_VALUE_WEIGHT && folder->producer[value] < 0)
            return false;
    }
    return true;
}

static void find_constant_ops(Folder *folder, const OnnxContext *context)
{
    const MerGraph *graph = folder->graph;
    for (int i = 0, loop = 0; i < graph->op_count; i++) {
        const MerOp *op = &graph->ops[i];
        while (loop < context->loop_count && context->loops[loop].end <= i)
            loop++;
        /* A constant is only the first content of what a loop carries. */
        bool is_in_loop = loop < context->loop_count && i >= context->loops[loop].first;
        bool is_unknown = mer_onnx_operator_find(op->source, "") == NULL;
        folder->is_constant[i] =
            !is_in_loop && is_known_kind(op, is_unknown) && reads_constants_alone(folder, op);
        for (int k = 0; folder->is_constant[i] && k < op->output_count; k++)
            folder->producer[op->outputs[k]] = i;
    }
}

/* Connects an operator with the makers of its inputs and with the others that read its weights;
 * integers, such as axes, may be shared by all. */
static void connect(Folder *folder, int op)
{
    const MerOp *node = &folder->graph->ops[op];
    for (int k = 0; k < node->input_count; k++) {
        int value = node->inputs[k];
        if (folder->producer[value] >= 0)
            mer_sets_join(folder->parent, op, folder->producer[value]);
        else if (folder->reader[value] != 0 &&
                 mer_type_is_parameter(folder->graph->values[value].type))
            mer_sets_join(folder->parent, op, folder->reader[value] - 1);
        folder->reader[value] = op + 1;
    }
}

/* Parameters of a value; its group keeps its operators if they cannot be counted. */
static void add_parameters(const MerValue *value, Group *group, int64_t *sum)
{
    int64_t elements, bytes;
    if (!mer_type_is_parameter(value->type))
        return;
    if (value->rank < 0 || !mer_value_measure(value, &elements, &bytes) ||
        __builtin_add_overflow(*sum, elements, sum))
        group->is_kept = true;
}

/* Every operator has said what it reads; `readers` holds 1 where someone outside a group does. */
static void count_group(Folder *folder, const bool *is_read_outside)
{
    const MerGraph *graph = folder->graph;
    for (int i = 0; i < graph->value_count; i++) {
        const MerValue *value = &graph->values[i];
        int             op = folder->producer[i] >= 0 ? folder->producer[i] : folder->reader[i] - 1;
        if (op < 0)
            continue;
        Group *group = &folder->groups[mer_sets_root(folder->parent, op)];
        bool   is_used = is_read_outside[i] || value->is_output;
        if (folder->producer[i] < 0) {
            add_parameters(value, group, &group->source_parameters);
            group->is_kept |= is_used && mer_type_is_parameter(value->type);
        } else if (is_used) {
            add_parameters(value, group, &group->result_parameters);
        }
    }
}

static void remove_folded(Folder *folder)
{
    MerGraph *graph = folder->graph;
    int       kept = 0;
    for (int i = 0; i < graph->op_count; i++) {
        const Group *group = &folder->groups[mer_sets_root(folder->parent, i)];
        bool         is_folded = folder->is_constant[i] && !group->is_kept &&
                         group->source_parameters == group->result_parameters;
        if (!is_folded) {
            graph->ops[kept++] = graph->ops[i];
            continue;
        }
        for (int k = 0; k < graph->ops[i].output_count; k++)
            graph->values[graph->ops[i].outputs[k]].role = MER_VALUE_WEIGHT;
    }
    graph->op_count = kept;
}

void mer_onnx_fold_weights(OnnxContext *context)
{
    MerGraph *graph = context->graph;
    MerArena *scratch = context->scratch;
    Folder    folder = {
           .graph = graph,
           .producer = MER_ARRAY(scratch, int, graph->value_count + 1),
           .is_constant = MER_ARRAY(scratch, bool, graph->op_count + 1),
           .parent = mer_sets_new(graph->op_count, scratch),
           .reader = MER_ARRAY(scratch, int, graph->value_count + 1),
           .groups = MER_ARRAY(scratch, Group, graph->op_count + 1),
    };
    bool *is_read_outside = MER_ARRAY(scratch, bool, graph->value_count + 1);
    for (int i = 0; i < graph->value_count; i++)
        folder.producer[i] = -1;
    find_constant_ops(&folder, context);
    for (int i = 0; i < graph->op_count; i++) {
        if (folder.is_constant[i])
            connect(&folder, i);
        for (int k = 0; !folder.is_constant[i] && k < graph->ops[i].input_count; k++)
            is_read_outside[graph->ops[i].inputs[k]] = true;
    }
    count_group(&folder, is_read_outside);
    remove_folded(&folder);
}
