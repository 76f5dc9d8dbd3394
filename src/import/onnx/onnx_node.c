/* One node after the other: resolve its inputs, infer its outputs, fold what is constant, and add
 * operators for the rest. */
#include "import/onnx/onnx.h"

#include <string.h>

const char *mer_onnx_prefixed(OnnxContext *context, const char *name)
{
    if (context->prefix == NULL)
        return name;
    return mer_arena_format(context->scratch, "%s/%s", context->prefix, name);
}

static int64_t opset_of(const OnnxContext *context, const char *domain)
{
    size_t                           count = context->model->n_opset_import;
    Onnx__OperatorSetIdProto *const *sets = context->model->opset_import;
    if (context->frame != NULL && context->frame->function->n_opset_import > 0) {
        count = context->frame->function->n_opset_import;
        sets = context->frame->function->opset_import;
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = sets[i]->domain != NULL ? sets[i]->domain : "";
        name = strcmp(name, "ai.onnx") == 0 ? "" : name;
        if (strcmp(name, domain) == 0)
            return sets[i]->version;
    }
    return 18;
}

static void resolve_inputs(OnnxNode *node)
{
    const Onnx__NodeProto *proto = node->proto;
    OnnxContext           *context = node->context;
    node->inputs = MER_ARRAY(context->scratch, OnnxValue *, proto->n_input + 1);
    node->input_count = (int)proto->n_input;
    for (size_t i = 0; i < proto->n_input; i++) {
        if (proto->input[i][0] == '\0')
            continue;
        node->inputs[i] = mer_onnx_scope_find(context->scope, proto->input[i]);
        if (node->inputs[i] == NULL)
            mer_onnx_fail(node,
                          "input \"%.120s\" does not exist, expected an input, a weight or "
                          "an output of another node",
                          mer_onnx_clean(context, proto->input[i]));
        if (node->inputs[i] == &context->absent)
            node->inputs[i] = NULL;
    }
}

static bool open_node(OnnxContext *context, const Onnx__NodeProto *proto, OnnxNode *node)
{
    const char *domain = proto->domain != NULL ? proto->domain : "";
    domain = strcmp(domain, "ai.onnx") == 0 ? "" : domain;
    const char *name = proto->name != NULL ? proto->name : "";
    if (name[0] == '\0' && proto->n_output > 0)
        name = proto->output[0];
    *node = (OnnxNode){.context = context, .proto = proto};
    node->name = mer_onnx_clean(context, mer_onnx_prefixed(context, name));
    node->op = mer_onnx_clean(context, proto->op_type != NULL ? proto->op_type : "");
    node->opset = opset_of(context, domain);
    node->type = mer_onnx_operator_find(node->op, domain);
    if (++context->node_count > ONNX_MAX_NODES)
        mer_onnx_fail_model(context, "the model has more than %d nodes after inlining",
                            ONNX_MAX_NODES);
    if (node->op[0] == '\0')
        mer_onnx_fail(node, "the node has no operator type");
    if (proto->n_output == 0)
        mer_onnx_fail(node, "the node has no output, expected at least one");
    /* protobuf-c counts in size_t; the graph counts in int. */
    if (proto->n_input > ONNX_MAX_NODES || proto->n_output > ONNX_MAX_NODES)
        mer_onnx_fail(node, "the node has too many inputs or outputs");
    if (!mer_onnx_failed(context))
        resolve_inputs(node);
    return !mer_onnx_failed(context);
}

static void check_input_count(OnnxNode *node)
{
    for (int i = 0; node->type != NULL && i < node->type->min_inputs; i++) {
        if (i >= node->input_count || node->inputs[i] == NULL)
            mer_onnx_fail(node, "input %d is missing, expected at least %d", i,
                          node->type->min_inputs);
    }
}

static void note_unknown(OnnxNode *node)
{
    OnnxContext *context = node->context;
    const char  *domain = node->proto->domain != NULL ? node->proto->domain : "";
    const char  *text = mer_arena_format(context->scratch, "%s (%s)", node->op,
                                        domain[0] != '\0' ? domain : "ai.onnx");
    OnnxUnknown *unknown = mer_name_table_find(&context->unknowns, text);
    if (unknown == NULL) {
        unknown = MER_NEW(context->scratch, OnnxUnknown);
        unknown->text = mer_onnx_clean(context, text);
        unknown->next = context->unknown_list;
        context->unknown_list = unknown;
        mer_name_table_set(&context->unknowns, text, unknown);
    }
    unknown->count++;
}

static void make_outputs(OnnxNode *node)
{
    const Onnx__NodeProto *proto = node->proto;
    node->outputs = MER_ARRAY(node->context->scratch, OnnxValue *, proto->n_output);
    node->output_count = (int)proto->n_output;
    for (size_t i = 0; i < proto->n_output; i++) {
        if (proto->output[i][0] != '\0')
            node->outputs[i] = mer_onnx_value_new(
                node->context, mer_onnx_prefixed(node->context, proto->output[i]), MER_TYPE_UNKNOWN,
                MER_VALUE_ACTIVATION);
    }
}

/* What was inferred counts; the file fills the gaps. */
static void merge_declared(OnnxNode *node, int output)
{
    OnnxContext                *context = node->context;
    OnnxValue                  *value = node->outputs[output];
    const Onnx__ValueInfoProto *info =
        mer_name_table_find(&context->scope->declared, node->proto->output[output]);
    if (info == NULL)
        return;
    MerType   type;
    OnnxShape declared = mer_onnx_declared_shape(context, info, &type);
    bool      differs =
        value->shape.rank >= 0 && declared.rank >= 0 && value->shape.rank != declared.rank;
    if (value->type == MER_TYPE_UNKNOWN)
        value->type = type;
    if (value->shape.rank < 0)
        mer_onnx_set(node, output, value->type, declared);
    for (int axis = 0; !differs && axis < declared.rank; axis++) {
        if (value->shape.dims[axis] == ONNX_UNKNOWN_DIM)
            value->shape.dims[axis] = declared.dims[axis];
        differs = declared.dims[axis] != ONNX_UNKNOWN_DIM &&
                  declared.dims[axis] != value->shape.dims[axis];
    }
    mer_onnx_set(node, output, value->type, value->shape);
    if (differs && context->mismatch_count++ == 0)
        context->mismatch_text = mer_arena_format(
            context->scratch, "\"%.120s\": %s declared, %s inferred", value->name,
            mer_onnx_shape_text(context, &declared), mer_onnx_shape_text(context, &value->shape));
}

/* Content of the outputs as far as it is known; true if the node needs no operator. */
static bool fold(OnnxNode *node)
{
    bool is_constant = node->type != NULL && node->type->fold != NULL;
    for (int i = 0; i < node->output_count && is_constant; i++) {
        OnnxValue *value = node->outputs[i];
        if (value == NULL)
            continue;
        value->content = node->type->fold(node, i);
        if (value->content != NULL && mer_onnx_elements(&value->shape) != value->content->count)
            value->content = NULL;
        is_constant = value->content != NULL && !value->content->is_partial;
    }
    for (int i = 0; i < node->output_count && is_constant; i++) {
        if (node->outputs[i] != NULL)
            node->outputs[i]->role = MER_VALUE_WEIGHT;
    }
    return is_constant;
}

void mer_onnx_define_output(OnnxNode *node, size_t output, OnnxValue *value)
{
    if (output >= node->proto->n_output || mer_onnx_failed(node->context))
        return;
    const char *name = node->proto->output[output];
    if (name[0] != '\0' && mer_name_table_find(&node->context->scope->values, name) != NULL)
        mer_onnx_fail(node, "output \"%.120s\" exists already, expected one producer",
                      mer_onnx_clean(node->context, name));
    else
        mer_onnx_define(node->context, name, value);
}

static void define_outputs(OnnxNode *node)
{
    for (int i = 0; i < node->output_count; i++) {
        if (node->outputs[i] != NULL)
            mer_onnx_define_output(node, (size_t)i, node->outputs[i]);
    }
}

/* A quantised weight stays what the file stores: dequantising it is part of its user. */
static bool is_dequantised_weight(const OnnxNode *node)
{
    return strcmp(node->op, "DequantizeLinear") == 0 && node->input_count >= 2 &&
           node->inputs[0] != NULL && node->inputs[0]->role == MER_VALUE_WEIGHT &&
           node->inputs[0]->shape.rank >= 1 && node->inputs[1] != NULL &&
           node->inputs[1]->role == MER_VALUE_WEIGHT;
}

/* Nodes that only give a value another name at inference. */
static bool alias(OnnxNode *node)
{
    bool is_alias =
        node->type != NULL && (strcmp(node->op, "Identity") == 0 ||
                               strcmp(node->op, "Dropout") == 0 || is_dequantised_weight(node));
    if (!is_alias)
        return false;
    check_input_count(node);
    if (mer_onnx_failed(node->context))
        return true;
    make_outputs(node);
    if (node->output_count > 1 && node->outputs[1] != NULL) { /* the mask: all true */
        node->outputs[1]->type = MER_TYPE_BOOL;
        node->outputs[1]->role = MER_VALUE_WEIGHT;
        node->outputs[1]->shape = node->inputs[0]->shape;
    }
    if (node->outputs[0] != NULL)
        node->outputs[0] = node->inputs[0];
    define_outputs(node);
    return true;
}

static void add_operator(OnnxNode *node)
{
    check_input_count(node);
    make_outputs(node);
    if (node->type == NULL)
        note_unknown(node);
    if (node->type != NULL && !mer_onnx_failed(node->context)) {
        node->result_type = node->type->result != 0 ? (MerType)(node->type->result - 1)
                                                    : mer_onnx_input_type(node, 0);
        OnnxShape shape = node->type->infer(node);
        mer_onnx_set(node, 0, node->result_type, shape);
    }
    for (int i = 0; i < node->output_count && !mer_onnx_failed(node->context); i++) {
        if (node->outputs[i] != NULL)
            merge_declared(node, i);
    }
    if (!mer_onnx_failed(node->context) && !fold(node)) {
        if (node->type != NULL && node->type->emit != NULL)
            node->type->emit(node);
        else
            mer_onnx_emit_plain(node, node->type != NULL ? node->type->kind : MER_OP_MOVE);
    }
    if (!mer_onnx_failed(node->context))
        define_outputs(node);
}

static void walk_node(OnnxContext *context, const Onnx__NodeProto *proto)
{
    OnnxNode node;
    if (!open_node(context, proto, &node) || mer_onnx_inline(&node) || alias(&node))
        return;
    if (node.type != NULL && strcmp(node.op, "Constant") == 0) {
        make_outputs(&node);
        node.outputs[0] = mer_onnx_value_of_node(&node);
        define_outputs(&node);
        return;
    }
    add_operator(&node);
}

void mer_onnx_walk_nodes(OnnxContext *context, Onnx__NodeProto *const *nodes, size_t count)
{
    const int *order = mer_onnx_order(context, nodes, count);
    for (size_t i = 0; order != NULL && i < count && !mer_onnx_failed(context); i++)
        walk_node(context, nodes[order[i]]);
}
