#include "split/export/onnx_writer.h"

#include <stdlib.h>
#include <string.h>

enum { IR_VERSION = 5 }; /* of opset 10 */

void mer_onnx_writer_init(MerOnnxWriter *w, const char *name, int64_t opset, MerArena *arena)
{
    *w = (MerOnnxWriter){.arena = arena, .results = 1};
    onnx__model_proto__init(&w->model);
    onnx__graph_proto__init(&w->graph);
    onnx__operator_set_id_proto__init(&w->opset);
    w->opset.domain = mer_arena_text(arena, "");
    w->opset.has_version = 1;
    w->opset.version = opset;
    w->opsets[0] = &w->opset;
    w->graph.name = mer_arena_text(arena, name);
    w->model.has_ir_version = 1;
    w->model.ir_version = IR_VERSION;
    w->model.producer_name = mer_arena_text(arena, "mercator");
    w->model.graph = &w->graph;
    w->model.n_opset_import = 1;
    w->model.opset_import = w->opsets;
}

static Onnx__ValueInfoProto *info_of(MerOnnxWriter *w, const char *name, int rank,
                                     const int64_t *dims)
{
    Onnx__ValueInfoProto    *info = MER_NEW(w->arena, Onnx__ValueInfoProto);
    Onnx__TypeProto         *type = MER_NEW(w->arena, Onnx__TypeProto);
    Onnx__TypeProto__Tensor *tensor = MER_NEW(w->arena, Onnx__TypeProto__Tensor);
    Onnx__TensorShapeProto  *shape = MER_NEW(w->arena, Onnx__TensorShapeProto);
    onnx__value_info_proto__init(info);
    onnx__type_proto__init(type);
    onnx__type_proto__tensor__init(tensor);
    onnx__tensor_shape_proto__init(shape);
    info->name = mer_arena_text(w->arena, name);
    info->type = type;
    type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    tensor->has_elem_type = 1;
    tensor->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT;
    tensor->shape = shape;
    shape->n_dim = (size_t)rank;
    shape->dim = MER_ARRAY(w->arena, Onnx__TensorShapeProto__Dimension *, rank);
    for (int i = 0; i < rank; i++) {
        shape->dim[i] = MER_NEW(w->arena, Onnx__TensorShapeProto__Dimension);
        onnx__tensor_shape_proto__dimension__init(shape->dim[i]);
        shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        shape->dim[i]->dim_value = dims[i];
    }
    return info;
}

void mer_onnx_writer_input(MerOnnxWriter *w, const char *name, int rank, const int64_t *dims)
{
    MER_GROW(w->arena, w->graph.input, w->graph.n_input);
    w->graph.input[w->graph.n_input++] = info_of(w, name, rank, dims);
}

void mer_onnx_writer_output(MerOnnxWriter *w, const char *name, int rank, const int64_t *dims)
{
    MER_GROW(w->arena, w->graph.output, w->graph.n_output);
    w->graph.output[w->graph.n_output++] = info_of(w, name, rank, dims);
}

Onnx__NodeProto *mer_onnx_writer_node(MerOnnxWriter *w, const char *type, const char *name,
                                      int count, const char *const *inputs)
{
    Onnx__NodeProto *node = MER_NEW(w->arena, Onnx__NodeProto);
    onnx__node_proto__init(node);
    node->op_type = mer_arena_text(w->arena, type);
    node->name = mer_arena_format(w->arena, "%s.%s", name, type);
    node->n_input = (size_t)count;
    node->input = MER_ARRAY(w->arena, char *, count);
    for (int i = 0; i < count; i++) {
        node->input[i] = mer_arena_text(w->arena, inputs[i]);
    }
    node->n_output = 1;
    node->output = MER_ARRAY(w->arena, char *, 1);
    node->output[0] = mer_arena_format(w->arena, "%d", w->results++);
    MER_GROW(w->arena, w->graph.node, w->graph.n_node);
    w->graph.node[w->graph.n_node++] = node;
    return node;
}

const char *mer_onnx_writer_result(const Onnx__NodeProto *node)
{
    return node->output[0];
}

static Onnx__AttributeProto *attribute_of(MerOnnxWriter *w, Onnx__NodeProto *node, const char *key,
                                          Onnx__AttributeProto__AttributeType type)
{
    Onnx__AttributeProto *attribute = MER_NEW(w->arena, Onnx__AttributeProto);
    onnx__attribute_proto__init(attribute);
    attribute->name = mer_arena_text(w->arena, key);
    attribute->has_type = 1;
    attribute->type = type;
    MER_GROW(w->arena, node->attribute, node->n_attribute);
    node->attribute[node->n_attribute++] = attribute;
    return attribute;
}

void mer_onnx_writer_set_int(MerOnnxWriter *w, Onnx__NodeProto *node, const char *key,
                             int64_t value)
{
    Onnx__AttributeProto *attribute =
        attribute_of(w, node, key, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT);
    attribute->has_i = 1;
    attribute->i = value;
}

void mer_onnx_writer_set_ints(MerOnnxWriter *w, Onnx__NodeProto *node, const char *key, int count,
                              const int64_t *values)
{
    Onnx__AttributeProto *attribute =
        attribute_of(w, node, key, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS);
    attribute->n_ints = (size_t)count;
    attribute->ints = MER_ARRAY(w->arena, int64_t, count);
    memcpy(attribute->ints, values, (size_t)count * sizeof *values);
}

void mer_onnx_writer_set_real(MerOnnxWriter *w, Onnx__NodeProto *node, const char *key,
                              double value)
{
    Onnx__AttributeProto *attribute =
        attribute_of(w, node, key, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
    attribute->has_f = 1;
    attribute->f = (float)value;
}

void mer_onnx_writer_set_text(MerOnnxWriter *w, Onnx__NodeProto *node, const char *key,
                              const char *value)
{
    Onnx__AttributeProto *attribute =
        attribute_of(w, node, key, ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    attribute->has_s = 1;
    attribute->s.data = (uint8_t *)mer_arena_text(w->arena, value);
    attribute->s.len = strlen(value);
}

static Onnx__TensorProto *constant(MerOnnxWriter *w, const char *name, int type, int rank,
                                   const int64_t *dims)
{
    Onnx__TensorProto *tensor = MER_NEW(w->arena, Onnx__TensorProto);
    onnx__tensor_proto__init(tensor);
    tensor->name = mer_arena_text(w->arena, name);
    tensor->has_data_type = 1;
    tensor->data_type = type;
    tensor->n_dims = (size_t)rank;
    tensor->dims = MER_ARRAY(w->arena, int64_t, rank);
    memcpy(tensor->dims, dims, (size_t)rank * sizeof *dims);
    MER_GROW(w->arena, w->graph.initializer, w->graph.n_initializer);
    w->graph.initializer[w->graph.n_initializer++] = tensor;
    return tensor;
}

const char *mer_onnx_writer_reals(MerOnnxWriter *w, const char *name, int rank, const int64_t *dims,
                                  const float *values)
{
    Onnx__TensorProto *tensor = constant(w, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, rank, dims);
    size_t             count = 1;
    for (int i = 0; i < rank; i++) {
        count *= (size_t)dims[i];
    }
    tensor->n_float_data = count;
    tensor->float_data = MER_ARRAY(w->arena, float, count);
    memcpy(tensor->float_data, values, count * sizeof *values);
    return tensor->name;
}

const char *mer_onnx_writer_ints(MerOnnxWriter *w, const char *name, int count,
                                 const int64_t *values)
{
    Onnx__TensorProto *tensor =
        constant(w, name, ONNX__TENSOR_PROTO__DATA_TYPE__INT64, 1, &(int64_t){count});
    tensor->n_int64_data = (size_t)count;
    tensor->int64_data = MER_ARRAY(w->arena, int64_t, count);
    memcpy(tensor->int64_data, values, (size_t)count * sizeof *values);
    return tensor->name;
}

const void *mer_onnx_writer_pack(MerOnnxWriter *w, size_t *size)
{
    *size = onnx__model_proto__get_packed_size(&w->model);
    uint8_t *data = mer_arena_alloc(w->arena, *size + 1);
    onnx__model_proto__pack(&w->model, data);
    return data;
}
