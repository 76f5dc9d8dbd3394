/* Subgraphs and functions, inlined. If takes the branch its condition selects, or the first one;
 * Loop and Scan run their body once, with the trip count as repetition of its operators. */
#include "import/onnx/onnx.h"

#include <string.h>

static bool enter(OnnxNode *node)
{
    if (++node->context->depth > ONNX_MAX_INLINE_DEPTH) {
        mer_onnx_fail(node, "subgraphs or functions are nested deeper than %d",
                      ONNX_MAX_INLINE_DEPTH);
        return false;
    }
    return true;
}

/* Walks a subgraph in a scope of its own; the values of its outputs, NULL after a failure. */
static OnnxValue **walk_body(OnnxNode *node, const Onnx__GraphProto *body, OnnxScope *scope)
{
    OnnxContext *context = node->context;
    OnnxScope   *outer = context->scope;
    OnnxValue  **results = MER_ARRAY(context->scratch, OnnxValue *, body->n_output + 1);
    context->scope = scope;
    if (enter(node)) {
        mer_onnx_define_initializers(context, body);
        mer_onnx_walk_graph(context, body);
    }
    for (size_t i = 0; i < body->n_output && !mer_onnx_failed(context); i++) {
        const char *name = body->output[i]->name != NULL ? body->output[i]->name : "";
        results[i] = mer_onnx_scope_find(scope, name);
        if (results[i] == NULL || results[i] == &context->absent)
            mer_onnx_fail(node, "output \"%.120s\" of the subgraph is never written",
                          mer_onnx_clean(context, name));
    }
    context->depth--;
    context->scope = outer;
    return mer_onnx_failed(context) ? NULL : results;
}

static void inline_if(OnnxNode *node)
{
    OnnxContext       *context = node->context;
    const OnnxContent *condition = mer_onnx_input_content(node, 0);
    bool               is_known =
        condition != NULL && condition->count == 1 && !condition->is_partial && !condition->is_real;
    bool takes_then = !is_known || condition->ints[0] != 0;
    if (!is_known)
        mer_graph_warn(context->graph,
                       "node \"%.120s\" (If): the condition is not constant, the then-branch is "
                       "taken",
                       node->name);
    const Onnx__GraphProto *body =
        mer_onnx_subgraph(node, takes_then ? "then_branch" : "else_branch");
    if (body == NULL)
        return;
    if (body->n_output < node->proto->n_output)
        mer_onnx_fail(node, "the branch has %zu outputs, expected %zu", body->n_output,
                      node->proto->n_output);
    if (mer_onnx_failed(context))
        return;
    OnnxValue **results = walk_body(node, body, mer_onnx_scope_new(context, context->scope));
    for (size_t i = 0; results != NULL && i < node->proto->n_output; i++)
        mer_onnx_define_output(node, i, results[i]);
}

/* A value that changes from step to step: of the same shape as its first content, which is not its
 * content in general. */
static OnnxValue *carried(OnnxNode *node, OnnxValue *initial)
{
    mer_onnx_value_index(node->context, initial);
    OnnxValue *value = MER_NEW(node->context->scratch, OnnxValue);
    *value = *initial;
    value->content = NULL;
    value->tensor = NULL;
    return value;
}

static const char *body_input(OnnxNode *node, const Onnx__GraphProto *body, size_t i)
{
    const char *name = i < body->n_input ? body->input[i]->name : NULL;
    if (name == NULL || name[0] == '\0')
        mer_onnx_fail(node, "input %zu of the body is missing", i);
    return name != NULL ? name : "";
}

static void define_in(OnnxNode *node, OnnxScope *scope, const char *name, OnnxValue *value)
{
    OnnxScope *outer = node->context->scope;
    node->context->scope = scope;
    if (!mer_onnx_failed(node->context))
        mer_onnx_define(node->context, name, value);
    node->context->scope = outer;
}

/* Outputs of single steps become one tensor with the steps along an axis. */
static OnnxValue *stack(OnnxNode *node, size_t output, OnnxValue *step, int64_t trips, int64_t at)
{
    OnnxShape shape = mer_onnx_unknown_shape;
    if (step->shape.rank >= 0 && step->shape.rank < MER_MAX_RANK) {
        shape.rank = step->shape.rank + 1;
        int axis = mer_onnx_axis(node, at, shape.rank);
        for (int i = 0, from = 0; axis >= 0 && i < shape.rank; i++)
            shape.dims[i] = i == axis ? trips : step->shape.dims[from++];
    }
    const char *label = mer_onnx_clean(node->context, node->proto->output[output]);
    OnnxValue  *value = mer_onnx_part_value(node, label, step->type, shape);
    mer_onnx_emit_part(node, mer_op_make(value->name, node->op, MER_OP_MOVE), &step, 1, &value, 1);
    return value;
}

/* Walks the body with its operators repeated `trips` times. */
static OnnxValue **walk_repeated(OnnxNode *node, const Onnx__GraphProto *body, OnnxScope *scope,
                                 int64_t trips)
{
    OnnxContext *context = node->context;
    int64_t      outer = context->repeat;
    int          first = context->graph->op_count;
    if (__builtin_mul_overflow(outer, trips < 1 ? 1 : trips, &context->repeat))
        mer_onnx_fail(node, "the loops around the body repeat too often");
    context->loop_depth++;
    OnnxValue **results = mer_onnx_failed(context) ? NULL : walk_body(node, body, scope);
    context->loop_depth--;
    context->repeat = outer;
    if (context->loop_depth == 0) {
        MER_GROW(context->scratch, context->loops, context->loop_count);
        context->loops[context->loop_count++] = (OnnxLoop){first, context->graph->op_count};
    }
    return results;
}

/* -1: not known. A trip count that stands for "until the condition fails" is not known either. */
static int64_t trip_count(OnnxNode *node)
{
    const OnnxContent *trips = mer_onnx_input_content(node, 0);
    const OnnxContent *condition = mer_onnx_input_content(node, 1);
    if (condition != NULL && condition->count == 1 && !condition->is_real &&
        condition->ints[0] == 0)
        return 0;
    if (trips == NULL || trips->count != 1 || trips->is_real || trips->is_partial ||
        trips->ints[0] >= INT32_MAX)
        return -1;
    return trips->ints[0] < 0 ? 0 : trips->ints[0];
}

static void inline_loop(OnnxNode *node)
{
    OnnxContext            *context = node->context;
    const Onnx__GraphProto *body = mer_onnx_subgraph(node, "body");
    if (body == NULL)
        return;
    size_t states = node->input_count > 2 ? (size_t)node->input_count - 2 : 0;
    if (body->n_input < states + 2 || body->n_output < states + 1 ||
        body->n_output - 1 < node->proto->n_output)
        mer_onnx_fail(node, "the body has %zu inputs and %zu outputs, the loop carries %zu values",
                      body->n_input, body->n_output, states);
    int64_t trips = trip_count(node);
    if (trips < 0)
        mer_graph_warn(context->graph,
                       "node \"%.120s\" (Loop): the trip count is not constant, 1 is used",
                       node->name);
    OnnxScope *scope = mer_onnx_scope_new(context, context->scope);
    OnnxValue *counter = mer_onnx_part_value(node, "iteration", MER_TYPE_INT64, (OnnxShape){0});
    OnnxValue *condition = mer_onnx_part_value(node, "condition", MER_TYPE_BOOL, (OnnxShape){0});
    counter->role = condition->role = MER_VALUE_WEIGHT;
    define_in(node, scope, body_input(node, body, 0), counter);
    define_in(node, scope, body_input(node, body, 1), condition);
    for (size_t i = 0; i < states; i++) {
        if (node->inputs[i + 2] == NULL)
            mer_onnx_fail(node, "input %zu is missing", i + 2);
        if (mer_onnx_failed(context))
            return;
        define_in(node, scope, body_input(node, body, i + 2), carried(node, node->inputs[i + 2]));
    }
    OnnxValue **results = trips == 0 ? NULL : walk_repeated(node, body, scope, trips);
    for (size_t i = 0; i < node->proto->n_output && !mer_onnx_failed(context); i++) {
        if (i < states)
            mer_onnx_define_output(node, i, results != NULL ? results[i + 1] : node->inputs[i + 2]);
        else if (results != NULL)
            mer_onnx_define_output(node, i, stack(node, i, results[i + 1], trips, 0));
        else
            mer_onnx_define_output(node, i,
                                   mer_onnx_value_new(context, node->proto->output[i],
                                                      MER_TYPE_UNKNOWN, MER_VALUE_WEIGHT));
    }
}

/* The axis of one scan input or output. */
static int64_t scan_axis(OnnxNode *node, const char *attribute, size_t i)
{
    OnnxInts axes = mer_onnx_ints(node, attribute);
    return axes.count > 0 && i < (size_t)axes.count ? axes.list[i] : 0;
}

/* One step's part of a scanned input; *trips is the number of steps, once it is known. */
static OnnxValue *scan_slice(OnnxNode *node, size_t i, OnnxValue *input, const char *name,
                             int64_t *trips)
{
    OnnxShape shape = mer_onnx_unknown_shape;
    if (input->shape.rank >= 1) {
        int axis = mer_onnx_axis(node, scan_axis(node, "scan_input_axes", i), input->shape.rank);
        shape.rank = 0;
        for (int from = 0; axis >= 0 && from < input->shape.rank; from++) {
            if (from != axis)
                shape.dims[shape.rank++] = input->shape.dims[from];
        }
        if (axis >= 0)
            *trips = *trips < 0 ? input->shape.dims[axis] : *trips;
    }
    OnnxValue *slice =
        mer_onnx_part_value(node, mer_onnx_clean(node->context, name), input->type, shape);
    mer_onnx_emit_part(node, mer_op_make(slice->name, node->op, MER_OP_MOVE), &input, 1, &slice, 1);
    return slice;
}

static void inline_scan(OnnxNode *node)
{
    OnnxContext            *context = node->context;
    const Onnx__GraphProto *body = mer_onnx_subgraph(node, "body");
    int64_t                 scanned = mer_onnx_required_int(node, "num_scan_inputs");
    if (body == NULL)
        return;
    if (scanned < 1 || scanned > node->input_count || body->n_input < (size_t)node->input_count ||
        body->n_output < node->proto->n_output)
        mer_onnx_fail(node, "the body has %zu inputs and %zu outputs, the node %d and %zu",
                      body->n_input, body->n_output, node->input_count, node->proto->n_output);
    if (mer_onnx_failed(context))
        return;
    size_t     states = (size_t)(node->input_count - scanned);
    int64_t    trips = -1;
    OnnxScope *scope = mer_onnx_scope_new(context, context->scope);
    for (size_t i = 0; i < (size_t)node->input_count; i++) {
        const char *name = body_input(node, body, i);
        if (node->inputs[i] == NULL)
            mer_onnx_fail(node, "input %zu is missing", i);
        if (mer_onnx_failed(context))
            return;
        define_in(node, scope, name,
                  i < states ? carried(node, node->inputs[i])
                             : scan_slice(node, i - states, node->inputs[i], name, &trips));
    }
    if (trips < 0)
        mer_graph_warn(context->graph,
                       "node \"%.120s\" (Scan): the number of steps is not known, 1 is used",
                       node->name);
    OnnxValue **results = walk_repeated(node, body, scope, trips);
    for (size_t i = 0; results != NULL && i < node->proto->n_output; i++)
        mer_onnx_define_output(node, i,
                               i < states ? results[i]
                                          : stack(node, i, results[i], trips,
                                                  scan_axis(node, "scan_output_axes", i - states)));
}

static void inline_function(OnnxNode *node, const Onnx__FunctionProto *function)
{
    OnnxContext *context = node->context;
    OnnxScope   *outer = context->scope;
    const char  *prefix = context->prefix;
    int64_t      repeat = context->repeat;
    OnnxFrame    frame = {.parent = context->frame, .call = node->proto, .function = function};
    OnnxScope   *scope = mer_onnx_scope_new(context, NULL);
    for (size_t i = 0; i < function->n_input; i++) {
        OnnxValue *value = i < (size_t)node->input_count ? node->inputs[i] : NULL;
        define_in(node, scope, function->input[i], value != NULL ? value : &context->absent);
    }
    context->scope = scope;
    context->prefix = node->name;
    context->frame = &frame;
    if (enter(node) && !mer_onnx_failed(context))
        mer_onnx_walk_nodes(context, function->node, function->n_node);
    context->depth--;
    context->scope = outer;
    context->prefix = prefix;
    context->frame = frame.parent;
    context->repeat = repeat;
    for (size_t i = 0; i < node->proto->n_output && !mer_onnx_failed(context); i++) {
        const char *name = i < function->n_output ? function->output[i] : "";
        OnnxValue  *value = mer_onnx_scope_find(scope, name);
        if (node->proto->output[i][0] == '\0')
            continue;
        if (value == NULL || value == &context->absent)
            mer_onnx_fail(node, "the function writes no output %zu", i);
        else
            mer_onnx_define_output(node, i, value);
    }
}

static const Onnx__FunctionProto *find_function(OnnxNode *node)
{
    if (node->context->functions.count == 0)
        return NULL;
    const char *domain = node->proto->domain != NULL ? node->proto->domain : "";
    return mer_name_table_find(
        &node->context->functions,
        mer_arena_format(node->context->scratch, "%s %s", domain, node->proto->op_type));
}

bool mer_onnx_inline(OnnxNode *node)
{
    const Onnx__FunctionProto *function = find_function(node);
    if (function != NULL)
        inline_function(node, function);
    else if (node->type != NULL && strcmp(node->op, "If") == 0)
        inline_if(node);
    else if (node->type != NULL && strcmp(node->op, "Loop") == 0)
        inline_loop(node);
    /* Before opset 9 Scan had a batch axis; that form is left as one operator. */
    else if (node->type != NULL && strcmp(node->op, "Scan") == 0 && node->opset >= 9)
        inline_scan(node);
    else
        return false;
    return true;
}
