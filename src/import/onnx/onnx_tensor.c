/* Constants: initializers and Constant nodes as values, and the elements of the small ones, which
 * shape arithmetic needs. External data is never opened: such a value has a shape and no content. */
#include "import/onnx/onnx.h"

#include <math.h>
#include <string.h>

MerType mer_onnx_type(int64_t data_type)
{
    static const MerType types[] = {
        MER_TYPE_UNKNOWN, MER_TYPE_FLOAT32, MER_TYPE_UINT8, MER_TYPE_INT8, MER_TYPE_UINT16,
        MER_TYPE_INT16, MER_TYPE_INT32, MER_TYPE_INT64, MER_TYPE_TEXT, MER_TYPE_BOOL,
        MER_TYPE_FLOAT16, MER_TYPE_FLOAT64, MER_TYPE_UINT32, MER_TYPE_UINT64, MER_TYPE_FLOAT64,
        MER_TYPE_UNKNOWN, MER_TYPE_BFLOAT16,
        /* newer than the installed schema: four 8-bit floats, 4-bit integers, a 4-bit float */
        MER_TYPE_FLOAT8, MER_TYPE_FLOAT8, MER_TYPE_FLOAT8, MER_TYPE_FLOAT8, MER_TYPE_INT4,
        MER_TYPE_INT4, MER_TYPE_INT4};
    int count = (int)(sizeof types / sizeof *types);
    return data_type >= 0 && data_type < count ? types[data_type] : MER_TYPE_UNKNOWN;
}

void mer_onnx_check_size(OnnxContext *context, const char *what, const char *name, MerType type,
                         const OnnxShape *shape)
{
    int64_t bits = mer_type_bits(type);
    for (int axis = 0; axis < shape->rank; axis++) {
        int64_t dim = shape->dims[axis];
        if (dim < 0 || dim > INT32_MAX)
            mer_onnx_fail_model(context,
                                "%s \"%.120s\": dimension %d is %lld, expected 0 to 2147483647",
                                what, name, axis, (long long)dim);
        else if (dim > 0 && __builtin_mul_overflow(bits, dim, &bits))
            mer_onnx_fail_model(context, "%s \"%.120s\": the size of %s overflows 64 bits", what,
                                name, mer_onnx_shape_text(context, shape));
    }
}

OnnxContent *mer_onnx_content_new(OnnxContext *context, bool is_real, int64_t count)
{
    int64_t limit = is_real ? ONNX_MAX_REAL_CONTENT : ONNX_MAX_CONTENT;
    if (count < 0 || count > limit || context->content_count + count > ONNX_MAX_TOTAL_CONTENT)
        return NULL;
    context->content_count += count;
    OnnxContent *content = MER_NEW(context->scratch, OnnxContent);
    content->is_real = is_real;
    content->count = (int)count;
    if (is_real)
        content->reals = MER_ARRAY(context->scratch, double, count);
    else
        content->ints = MER_ARRAY(context->scratch, int64_t, count);
    return content;
}

static double half_to_real(uint16_t half)
{
    int    exponent = (half >> 10) & 31, fraction = half & 1023;
    double value = exponent == 0 ? ldexp(fraction, -24) : ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
        value = fraction == 0 ? INFINITY : NAN;
    return (half & 0x8000) != 0 ? -value : value;
}

static double bits_to_real(uint64_t bits, MerType type)
{
    if (type == MER_TYPE_FLOAT16)
        return half_to_real((uint16_t)bits);
    if (type == MER_TYPE_FLOAT64) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t word = type == MER_TYPE_BFLOAT16 ? (uint32_t)bits << 16 : (uint32_t)bits;
    float    value;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

static int64_t bits_to_int(uint64_t bits, MerType type)
{
    switch (type) {
    case MER_TYPE_INT8:
        return (int8_t)bits;
    case MER_TYPE_INT16:
        return (int16_t)bits;
    case MER_TYPE_INT32:
        return (int32_t)bits;
    default:
        return (int64_t)bits;
    }
}

/* INT64_MIN stands for "unknown"; as the end of a slice its neighbour means the same. */
static int64_t not_unknown(int64_t value)
{
    return value == ONNX_UNKNOWN_ELEMENT ? value + 1 : value;
}

/* Where the elements of a tensor stand, and as what. */
typedef struct Elements {
    const void *bytes;
    size_t      count; /* 0, and not raw: they are not in the file */
    int         width; /* bytes of one */
    bool        is_raw;
    MerType     type;
} Elements;

/* In lists, small floats stand as bits and small integers as numbers of 32 bits. */
static Elements elements_of(const Onnx__TensorProto *tensor, MerType type)
{
    if (tensor->has_data_location &&
        tensor->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
        return (Elements){0};
    if (tensor->raw_data.len > 0) {
        int width = mer_type_bits(type) / 8;
        return (Elements){tensor->raw_data.data, tensor->raw_data.len / (size_t)width, width, true,
                          type};
    }
    switch (type) {
    case MER_TYPE_FLOAT32:
        return (Elements){tensor->float_data, tensor->n_float_data, 4, false, type};
    case MER_TYPE_FLOAT64:
        return (Elements){tensor->double_data, tensor->n_double_data, 8, false, type};
    case MER_TYPE_INT64:
        return (Elements){tensor->int64_data, tensor->n_int64_data, 8, false, type};
    case MER_TYPE_UINT32:
    case MER_TYPE_UINT64:
        return (Elements){tensor->uint64_data, tensor->n_uint64_data, 8, false, MER_TYPE_UINT64};
    default:
        type = mer_type_is_float(type) ? type : MER_TYPE_INT32;
        return (Elements){tensor->int32_data, tensor->n_int32_data, 4, false, type};
    }
}

/* raw_data is little-endian, lists are as the machine stores them. */
static uint64_t element_bits(const Elements *elements, int i)
{
    const uint8_t *bytes = (const uint8_t *)elements->bytes + (size_t)i * (size_t)elements->width;
    uint64_t       bits = 0;
    uint32_t       word;
    if (!elements->is_raw && elements->width == 4) {
        memcpy(&word, bytes, sizeof word);
        return word;
    }
    if (!elements->is_raw)
        memcpy(&bits, bytes, sizeof bits);
    for (int k = 0; elements->is_raw && k < elements->width; k++)
        bits |= (uint64_t)bytes[k] << (8 * k);
    return bits;
}

static bool is_followed(MerType type)
{
    return type != MER_TYPE_TEXT && type != MER_TYPE_UNKNOWN && type != MER_TYPE_INT4 &&
           type != MER_TYPE_FLOAT8;
}

static const OnnxContent *read_tensor(OnnxContext *context, const OnnxValue *value)
{
    const Onnx__TensorProto *tensor = value->tensor;
    int64_t                  count = mer_onnx_elements(&value->shape);
    if (!is_followed(value->type))
        return NULL;
    Elements elements = elements_of(tensor, value->type);
    if (count != 0 && elements.count == 0 && !elements.is_raw)
        return NULL;
    OnnxContent *content = mer_onnx_content_new(context, mer_type_is_float(value->type), count);
    if (content == NULL || count == 0)
        return content;
    if (elements.count != (size_t)count ||
        (elements.is_raw && tensor->raw_data.len % (size_t)elements.width != 0)) {
        mer_onnx_fail_model(context, "tensor \"%.120s\" holds %zu elements, expected %lld",
                            value->name, elements.count, (long long)count);
        return NULL;
    }
    for (int i = 0; i < content->count; i++) {
        uint64_t bits = element_bits(&elements, i);
        if (content->is_real)
            content->reals[i] = bits_to_real(bits, elements.type);
        else
            content->ints[i] = not_unknown(bits_to_int(bits, elements.type));
    }
    return content;
}

const OnnxContent *mer_onnx_content(OnnxContext *context, OnnxValue *value)
{
    if (value->content == NULL && value->tensor != NULL) {
        value->content = read_tensor(context, value);
        value->tensor = NULL;
    }
    return value->content;
}

OnnxValue *mer_onnx_value_new(OnnxContext *context, const char *name, MerType type,
                              MerValueRole role)
{
    OnnxValue *value = MER_NEW(context->scratch, OnnxValue);
    value->name = mer_onnx_clean(context, name != NULL ? name : "");
    value->type = type;
    value->role = role;
    value->shape = mer_onnx_unknown_shape;
    value->index = -1;
    return value;
}

/* A shape from the file; a rank above the limit leaves it unknown. */
static OnnxShape shape_of_dims(OnnxContext *context, const OnnxValue *value, size_t rank,
                               const int64_t *dims)
{
    if (rank > MER_MAX_RANK) {
        mer_graph_warn(context->graph,
                       "tensor \"%.120s\" has %zu dimensions, more than %d: its shape is ignored",
                       value->name, rank, MER_MAX_RANK);
        return mer_onnx_unknown_shape;
    }
    OnnxShape shape = mer_onnx_shape_of((int)rank, dims);
    mer_onnx_check_size(context, "tensor", value->name, value->type, &shape);
    return shape;
}

OnnxValue *mer_onnx_value_of_tensor(OnnxContext *context, const char *name,
                                    const Onnx__TensorProto *tensor)
{
    MerType    type = mer_onnx_type(tensor->has_data_type ? tensor->data_type : 0);
    OnnxValue *value = mer_onnx_value_new(context, name, type, MER_VALUE_WEIGHT);
    value->shape = shape_of_dims(context, value, tensor->n_dims, tensor->dims);
    value->tensor = value->shape.rank >= 0 ? tensor : NULL;
    return value;
}

/* A scalar or, of rank 1, a list of int64_t or float. */
static OnnxValue *value_of_list(OnnxContext *context, const char *name, int rank, MerType type,
                                int64_t count, const void *numbers)
{
    OnnxValue   *value = mer_onnx_value_new(context, name, type, MER_VALUE_WEIGHT);
    OnnxContent *content = mer_onnx_content_new(context, type == MER_TYPE_FLOAT32, count);
    for (int64_t i = 0; content != NULL && i < count; i++) {
        if (content->is_real)
            content->reals[i] = (double)((const float *)numbers)[i];
        else
            content->ints[i] = not_unknown(((const int64_t *)numbers)[i]);
    }
    value->shape = mer_onnx_shape_of(rank, &count);
    value->content = content;
    return value;
}

OnnxValue *mer_onnx_value_of_sparse(OnnxContext *context, const char *name,
                                    const Onnx__SparseTensorProto *sparse)
{
    int64_t data_type =
        sparse->values != NULL && sparse->values->has_data_type ? sparse->values->data_type : 0;
    OnnxValue *value =
        mer_onnx_value_new(context, name, mer_onnx_type(data_type), MER_VALUE_WEIGHT);
    value->shape = shape_of_dims(context, value, sparse->n_dims, sparse->dims);
    return value;
}

static OnnxValue *value_of_numbers(OnnxNode *node, const char *name)
{
    if (mer_onnx_has(node, "value_int")) {
        int64_t integer = mer_onnx_int(node, "value_int", 0);
        return value_of_list(node->context, name, 0, MER_TYPE_INT64, 1, &integer);
    }
    if (mer_onnx_has(node, "value_float")) {
        float real = (float)mer_onnx_real(node, "value_float", 0);
        return value_of_list(node->context, name, 0, MER_TYPE_FLOAT32, 1, &real);
    }
    OnnxInts ints = mer_onnx_ints(node, "value_ints");
    if (ints.count >= 0)
        return value_of_list(node->context, name, 1, MER_TYPE_INT64, ints.count, ints.list);
    const float *reals;
    int          count = mer_onnx_reals(node, "value_floats", &reals);
    if (count >= 0)
        return value_of_list(node->context, name, 1, MER_TYPE_FLOAT32, count, reals);
    if (!mer_onnx_has(node, "value_string") && !mer_onnx_has(node, "value_strings"))
        mer_onnx_fail(node, "attribute value is missing");
    return mer_onnx_value_new(node->context, name, MER_TYPE_TEXT, MER_VALUE_WEIGHT);
}

OnnxValue *mer_onnx_value_of_node(OnnxNode *node)
{
    const char                 *name = mer_onnx_prefixed(node->context, node->proto->output[0]);
    const Onnx__AttributeProto *value = mer_onnx_attribute(node, "value");
    const Onnx__AttributeProto *sparse = mer_onnx_attribute(node, "sparse_value");
    if (value != NULL && value->t == NULL)
        mer_onnx_fail(node, "attribute value holds no tensor");
    if (value != NULL && value->t != NULL)
        return mer_onnx_value_of_tensor(node->context, name, value->t);
    if (sparse != NULL && sparse->sparse_tensor != NULL)
        return mer_onnx_value_of_sparse(node->context, name, sparse->sparse_tensor);
    return value_of_numbers(node, name);
}
