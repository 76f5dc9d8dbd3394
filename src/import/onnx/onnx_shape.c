/* Shapes: what inference does with them everywhere. An unknown size is -1, an unknown rank too. */
#include "import/onnx/onnx.h"

#include <stdio.h>
#include <string.h>

const OnnxShape mer_onnx_unknown_shape = {.rank = -1};

const OnnxShape *mer_onnx_shape(const OnnxNode *node, int input)
{
    bool is_there = input < node->input_count && node->inputs[input] != NULL;
    return is_there ? &node->inputs[input]->shape : &mer_onnx_unknown_shape;
}

MerType mer_onnx_input_type(const OnnxNode *node, int input)
{
    bool is_there = input < node->input_count && node->inputs[input] != NULL;
    return is_there ? node->inputs[input]->type : MER_TYPE_UNKNOWN;
}

int mer_onnx_right(const OnnxNode *node)
{
    return node->type->min_inputs == 4 ? 3 : 1;
}

const OnnxContent *mer_onnx_input_content(OnnxNode *node, int input)
{
    if (input >= node->input_count || node->inputs[input] == NULL)
        return NULL;
    return mer_onnx_content(node->context, node->inputs[input]);
}

const char *mer_onnx_shape_text(OnnxContext *context, const OnnxShape *shape)
{
    char text[200] = "[";
    if (shape->rank < 0)
        return "an unknown shape";
    for (int axis = 0; axis < shape->rank; axis++) {
        size_t used = strlen(text);
        if (shape->dims[axis] == ONNX_UNKNOWN_DIM)
            snprintf(text + used, sizeof text - used, "%s?", axis > 0 ? ", " : "");
        else
            snprintf(text + used, sizeof text - used, "%s%lld", axis > 0 ? ", " : "",
                     (long long)shape->dims[axis]);
    }
    return mer_arena_format(context->scratch, "%s]", text);
}

void mer_onnx_set(OnnxNode *node, int output, MerType type, OnnxShape shape)
{
    if (output >= node->output_count || node->outputs[output] == NULL)
        return;
    int64_t bits = mer_type_bits(type);
    for (int axis = 0; axis < shape.rank; axis++) {
        int64_t dim = shape.dims[axis];
        bool    is_wrong = dim < ONNX_UNKNOWN_DIM || dim > ONNX_MAX_DIM;
        if (is_wrong || (dim > 0 && __builtin_mul_overflow(bits, dim, &bits))) {
            mer_onnx_fail(node, "the size of output %d, %s, is out of range", output,
                          mer_onnx_shape_text(node->context, &shape));
            return;
        }
    }
    node->outputs[output]->type = type;
    node->outputs[output]->shape = shape;
}

OnnxShape mer_onnx_shape_of(int rank, const int64_t *dims)
{
    OnnxShape shape = {.rank = rank};
    for (int axis = 0; axis < rank; axis++)
        shape.dims[axis] = dims[axis];
    return shape;
}

OnnxShape mer_onnx_shape_unknown_dims(OnnxNode *node, int64_t rank)
{
    OnnxShape shape = {.rank = (int)rank};
    if (rank < 0)
        return mer_onnx_unknown_shape;
    if (rank > MER_MAX_RANK) {
        mer_graph_warn(node->context->graph,
                       "node \"%.120s\" makes a tensor of %lld dimensions, more than %d: its shape "
                       "is ignored",
                       node->name, (long long)rank, MER_MAX_RANK);
        return mer_onnx_unknown_shape;
    }
    for (int axis = 0; axis < shape.rank; axis++)
        shape.dims[axis] = ONNX_UNKNOWN_DIM;
    return shape;
}

OnnxShape mer_onnx_shape_of_list(OnnxNode *node, int input, const char *attribute)
{
    OnnxInts  ints = mer_onnx_ints_of(node, input, attribute);
    OnnxShape shape = mer_onnx_shape_unknown_dims(node, ints.count);
    for (int axis = 0; axis < shape.rank; axis++) {
        if (ints.list[axis] != ONNX_UNKNOWN_ELEMENT && ints.list[axis] < 0)
            mer_onnx_fail(node, "the shape has the size %lld, expected 0 or more",
                          (long long)ints.list[axis]);
        shape.dims[axis] = ints.list[axis] < 0 ? ONNX_UNKNOWN_DIM : ints.list[axis];
    }
    return shape;
}

bool mer_onnx_shape_is_known(const OnnxShape *shape)
{
    for (int axis = 0; axis < shape->rank; axis++) {
        if (shape->dims[axis] == ONNX_UNKNOWN_DIM)
            return false;
    }
    return shape->rank >= 0;
}

int64_t mer_onnx_elements(const OnnxShape *shape)
{
    int64_t count = 1;
    if (!mer_onnx_shape_is_known(shape))
        return -1;
    for (int axis = 0; axis < shape->rank; axis++) {
        if (__builtin_mul_overflow(count, shape->dims[axis], &count))
            return -1;
    }
    return count;
}

int mer_onnx_axis(OnnxNode *node, int64_t axis, int rank)
{
    if (axis < -(int64_t)rank || axis >= rank) {
        mer_onnx_fail(node, "axis is %lld, expected %d to %d", (long long)axis, -rank, rank - 1);
        return -1;
    }
    return (int)(axis < 0 ? axis + rank : axis);
}

int mer_onnx_axis_attribute(OnnxNode *node, int64_t fallback, int rank)
{
    return rank < 0 ? -1 : mer_onnx_axis(node, mer_onnx_int(node, "axis", fallback), rank);
}

/* The size of one axis of a broadcast, -2 if the two do not fit. */
static int64_t broadcast_dim(int64_t a, int64_t b)
{
    if (a == b || b == 1)
        return a;
    if (a == 1)
        return b;
    if (a == ONNX_UNKNOWN_DIM || b == ONNX_UNKNOWN_DIM)
        return a == ONNX_UNKNOWN_DIM ? b : a;
    return -2;
}

OnnxShape mer_onnx_broadcast(OnnxNode *node, const OnnxShape *a, const OnnxShape *b)
{
    if (a->rank < 0 || b->rank < 0)
        return mer_onnx_unknown_shape;
    OnnxShape shape = {.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int axis = 0; axis < shape.rank; axis++) {
        int     from_end = shape.rank - axis;
        int64_t in_a = from_end <= a->rank ? a->dims[a->rank - from_end] : 1;
        int64_t in_b = from_end <= b->rank ? b->dims[b->rank - from_end] : 1;
        shape.dims[axis] = broadcast_dim(in_a, in_b);
        if (shape.dims[axis] == -2) {
            mer_onnx_fail(node, "the shapes %s and %s do not fit together",
                          mer_onnx_shape_text(node->context, a),
                          mer_onnx_shape_text(node->context, b));
            return mer_onnx_unknown_shape;
        }
    }
    return shape;
}

int64_t mer_onnx_multiply(OnnxNode *node, int64_t a, int64_t b)
{
    int64_t product;
    if (a == ONNX_UNKNOWN_DIM || b == ONNX_UNKNOWN_DIM)
        return ONNX_UNKNOWN_DIM;
    if (__builtin_mul_overflow(a, b, &product) || product > ONNX_MAX_DIM) {
        mer_onnx_fail(node, "a size of %lld x %lld is out of range", (long long)a, (long long)b);
        return 1;
    }
    return product;
}

OnnxInts mer_onnx_ints_of(OnnxNode *node, int input, const char *attribute)
{
    if (input < 0 || input >= node->input_count || node->inputs[input] == NULL)
        return attribute != NULL ? mer_onnx_ints(node, attribute) : (OnnxInts){-1, NULL};
    const OnnxContent *content = mer_onnx_input_content(node, input);
    if (content == NULL || content->is_real)
        return (OnnxInts){-2, NULL};
    return (OnnxInts){content->count, content->ints};
}

bool mer_onnx_axes(OnnxNode *node, int input, int rank, bool *is_given, unsigned *mask)
{
    OnnxInts axes = mer_onnx_ints_of(node, input, "axes");
    *is_given = axes.count > 0;
    *mask = 0;
    for (int i = 0; i < axes.count; i++) {
        if (axes.list[i] == ONNX_UNKNOWN_ELEMENT)
            return false;
        int axis = mer_onnx_axis(node, axes.list[i], rank);
        if (axis < 0)
            return false;
        if ((*mask & 1u << axis) != 0)
            mer_onnx_fail(node, "axis %d is given twice", axis);
        *mask |= 1u << axis;
    }
    return axes.count != -2;
}

bool mer_onnx_reduced_axes(OnnxNode *node, unsigned *mask)
{
    int  rank = mer_onnx_shape(node, 0)->rank;
    bool is_given;
    if (rank < 0 || !mer_onnx_axes(node, 1, rank, &is_given, mask))
        return false;
    if (!is_given)
        *mask = mer_onnx_int(node, "noop_with_empty_axes", 0) != 0 ? 0 : ~0u;
    return true;
}
