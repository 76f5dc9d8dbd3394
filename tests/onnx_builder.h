/* Small ONNX models in memory, written as texts:
 *
 *     OnnxBuilder *b = onnx_builder(17, arena);
 *     onnx_input(b, "x", "1 3 H W");              sizes: numbers, names, ? for none
 *     onnx_weight(b, "w", "8 3 3 3");             float, without data
 *     onnx_ints(b, "shape", "1 -1");              int64 constant (one axis)
 *     onnx_node(b, "Conv", "x w", "y", "pads=[1,1,1,1] group=1 auto_pad=VALID");
 *     onnx_output(b, "y", NULL);
 *
 * An attribute is a list [1,2] or [1.0], a number 3 or 0.5, or a word. "-" is an absent input. */
#ifndef MERCATOR_TESTS_ONNX_BUILDER_H
#define MERCATOR_TESTS_ONNX_BUILDER_H

#include "import/import_find.h"
#include "mercator/import.h"

#include "onnx.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct OnnxBuilder {
    MerArena                 *arena;
    Onnx__ModelProto          model;
    Onnx__GraphProto          graph;
    Onnx__OperatorSetIdProto  opset;
    Onnx__OperatorSetIdProto *opsets[1];
} OnnxBuilder;

enum { ONNX_BUILDER_ITEMS = 128, ONNX_BUILDER_WORDS = 64 };

static inline void *onnx_items(MerArena *arena)
{
    return mer_arena_alloc_array(arena, ONNX_BUILDER_ITEMS, sizeof(void *));
}

static inline void onnx_graph_init(Onnx__GraphProto *graph, MerArena *arena)
{
    onnx__graph_proto__init(graph);
    graph->node = onnx_items(arena);
    graph->initializer = onnx_items(arena);
    graph->input = onnx_items(arena);
    graph->output = onnx_items(arena);
    graph->value_info = onnx_items(arena);
}

static inline OnnxBuilder *onnx_builder(int64_t opset, MerArena *arena)
{
    OnnxBuilder *b = MER_NEW(arena, OnnxBuilder);
    b->arena = arena;
    onnx__model_proto__init(&b->model);
    onnx_graph_init(&b->graph, arena);
    onnx__operator_set_id_proto__init(&b->opset);
    b->opset.has_version = 1;
    b->opset.version = opset;
    b->opsets[0] = &b->opset;
    b->model.has_ir_version = 1;
    b->model.ir_version = 8;
    b->model.graph = &b->graph;
    b->model.n_opset_import = 1;
    b->model.opset_import = b->opsets;
    return b;
}

/* Splits at blanks; the words live in the arena. */
static inline int onnx_words(MerArena *arena, const char *text, char **words)
{
    int   count = 0;
    char *copy = mer_arena_text(arena, text), *rest = NULL;
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return count;
}

static inline Onnx__ValueInfoProto *onnx_info(MerArena *arena, const char *name, int type,
                                              const char *dims)
{
    Onnx__ValueInfoProto *info = MER_NEW(arena, Onnx__ValueInfoProto);
    onnx__value_info_proto__init(info);
    info->name = mer_arena_text(arena, name);
    if (dims == NULL)
        return info;
    info->type = MER_NEW(arena, Onnx__TypeProto);
    onnx__type_proto__init(info->type);
    info->type->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
    info->type->tensor_type = MER_NEW(arena, Onnx__TypeProto__Tensor);
    onnx__type_proto__tensor__init(info->type->tensor_type);
    info->type->tensor_type->has_elem_type = 1;
    info->type->tensor_type->elem_type = type;
    Onnx__TensorShapeProto *shape = MER_NEW(arena, Onnx__TensorShapeProto);
    onnx__tensor_shape_proto__init(shape);
    info->type->tensor_type->shape = shape;
    char *words[ONNX_BUILDER_WORDS];
    shape->n_dim = (size_t)onnx_words(arena, dims, words);
    shape->dim = onnx_items(arena);
    for (size_t i = 0; i < shape->n_dim; i++) {
        shape->dim[i] = MER_NEW(arena, Onnx__TensorShapeProto__Dimension);
        onnx__tensor_shape_proto__dimension__init(shape->dim[i]);
        char   *end;
        int64_t size = strtoll(words[i], &end, 10);
        if (*end == '\0') {
            shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
            shape->dim[i]->dim_value = size;
        } else if (strcmp(words[i], "?") != 0) {
            shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            shape->dim[i]->dim_param = words[i];
        }
    }
    return info;
}

static inline void onnx_input_of_type(OnnxBuilder *b, const char *name, int type, const char *dims)
{
    b->graph.input[b->graph.n_input++] = onnx_info(b->arena, name, type, dims);
}

static inline void onnx_input(OnnxBuilder *b, const char *name, const char *dims)
{
    onnx_input_of_type(b, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, dims);
}

static inline void onnx_output(OnnxBuilder *b, const char *name, const char *dims)
{
    b->graph.output[b->graph.n_output++] =
        onnx_info(b->arena, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, dims);
}

static inline void onnx_value_info(OnnxBuilder *b, const char *name, const char *dims)
{
    b->graph.value_info[b->graph.n_value_info++] =
        onnx_info(b->arena, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, dims);
}

static inline Onnx__TensorProto *onnx_tensor(MerArena *arena, const char *name, int type)
{
    Onnx__TensorProto *tensor = MER_NEW(arena, Onnx__TensorProto);
    onnx__tensor_proto__init(tensor);
    tensor->name = mer_arena_text(arena, name);
    tensor->has_data_type = 1;
    tensor->data_type = type;
    tensor->dims = MER_ARRAY(arena, int64_t, ONNX_BUILDER_WORDS);
    return tensor;
}

static inline Onnx__TensorProto *onnx_initializer(OnnxBuilder *b, const char *name, int type)
{
    Onnx__TensorProto *tensor = onnx_tensor(b->arena, name, type);
    b->graph.initializer[b->graph.n_initializer++] = tensor;
    return tensor;
}

static inline Onnx__TensorProto *onnx_weight_of_type(OnnxBuilder *b, const char *name, int type,
                                                     const char *dims)
{
    Onnx__TensorProto *tensor = onnx_initializer(b, name, type);
    char              *words[ONNX_BUILDER_WORDS];
    tensor->n_dims = (size_t)onnx_words(b->arena, dims, words);
    for (size_t i = 0; i < tensor->n_dims; i++)
        tensor->dims[i] = strtoll(words[i], NULL, 10);
    return tensor;
}

static inline Onnx__TensorProto *onnx_weight(OnnxBuilder *b, const char *name, const char *dims)
{
    return onnx_weight_of_type(b, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT, dims);
}

static inline Onnx__TensorProto *onnx_ints(OnnxBuilder *b, const char *name, const char *values)
{
    Onnx__TensorProto *tensor = onnx_initializer(b, name, ONNX__TENSOR_PROTO__DATA_TYPE__INT64);
    char              *words[ONNX_BUILDER_WORDS];
    tensor->n_dims = 1;
    tensor->n_int64_data = (size_t)onnx_words(b->arena, values, words);
    tensor->dims[0] = (int64_t)tensor->n_int64_data;
    tensor->int64_data = MER_ARRAY(b->arena, int64_t, ONNX_BUILDER_WORDS);
    for (size_t i = 0; i < tensor->n_int64_data; i++)
        tensor->int64_data[i] = strtoll(words[i], NULL, 10);
    return tensor;
}

static inline Onnx__TensorProto *onnx_floats(OnnxBuilder *b, const char *name, const char *values)
{
    Onnx__TensorProto *tensor = onnx_initializer(b, name, ONNX__TENSOR_PROTO__DATA_TYPE__FLOAT);
    char              *words[ONNX_BUILDER_WORDS];
    tensor->n_dims = 1;
    tensor->n_float_data = (size_t)onnx_words(b->arena, values, words);
    tensor->dims[0] = (int64_t)tensor->n_float_data;
    tensor->float_data = MER_ARRAY(b->arena, float, ONNX_BUILDER_WORDS);
    for (size_t i = 0; i < tensor->n_float_data; i++)
        tensor->float_data[i] = strtof(words[i], NULL);
    return tensor;
}

static inline void onnx_list(MerArena *arena, Onnx__AttributeProto *attribute, char *text)
{
    char *rest = NULL;
    bool  is_real = strchr(text, '.') != NULL;
    attribute->type = is_real ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS
                              : ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
    attribute->ints = MER_ARRAY(arena, int64_t, ONNX_BUILDER_WORDS);
    attribute->floats = MER_ARRAY(arena, float, ONNX_BUILDER_WORDS);
    for (char *word = strtok_r(text, "[],", &rest); word != NULL;
         word = strtok_r(NULL, "[],", &rest)) {
        if (is_real)
            attribute->floats[attribute->n_floats++] = strtof(word, NULL);
        else
            attribute->ints[attribute->n_ints++] = strtoll(word, NULL, 10);
    }
}

static inline Onnx__AttributeProto *onnx_attribute(MerArena *arena, const char *name, char *value)
{
    Onnx__AttributeProto *attribute = MER_NEW(arena, Onnx__AttributeProto);
    onnx__attribute_proto__init(attribute);
    attribute->name = mer_arena_text(arena, name);
    attribute->has_type = 1;
    char   *end, *real_end;
    int64_t integer = strtoll(value, &end, 10);
    float   real = strtof(value, &real_end);
    if (value[0] == '[') {
        onnx_list(arena, attribute, value);
    } else if (*end == '\0') {
        attribute->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
        attribute->has_i = 1;
        attribute->i = integer;
    } else if (*real_end == '\0') {
        attribute->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
        attribute->has_f = 1;
        attribute->f = real;
    } else {
        attribute->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
        attribute->has_s = 1;
        attribute->s.data = (uint8_t *)value;
        attribute->s.len = strlen(value);
    }
    return attribute;
}

static inline Onnx__NodeProto *onnx_node_new(MerArena *arena, const char *op, const char *inputs,
                                             const char *outputs, const char *attributes)
{
    Onnx__NodeProto *node = MER_NEW(arena, Onnx__NodeProto);
    char            *words[ONNX_BUILDER_WORDS];
    onnx__node_proto__init(node);
    node->op_type = mer_arena_text(arena, op);
    node->input = onnx_items(arena);
    node->output = onnx_items(arena);
    node->attribute = onnx_items(arena);
    node->n_input = (size_t)onnx_words(arena, inputs, node->input);
    node->n_output = (size_t)onnx_words(arena, outputs, node->output);
    for (size_t i = 0; i < node->n_input; i++) {
        if (strcmp(node->input[i], "-") == 0)
            node->input[i] = mer_arena_text(arena, "");
    }
    int count = onnx_words(arena, attributes, words);
    for (int i = 0; i < count; i++) {
        char *equal = strchr(words[i], '=');
        *equal = '\0';
        node->attribute[node->n_attribute++] = onnx_attribute(arena, words[i], equal + 1);
    }
    return node;
}

static inline Onnx__NodeProto *onnx_node(OnnxBuilder *b, const char *op, const char *inputs,
                                         const char *outputs, const char *attributes)
{
    Onnx__NodeProto *node = onnx_node_new(b->arena, op, inputs, outputs, attributes);
    b->graph.node[b->graph.n_node++] = node;
    return node;
}

/* A subgraph as attribute; fill the graph that comes back. */
static inline Onnx__GraphProto *onnx_subgraph(OnnxBuilder *b, Onnx__NodeProto *node,
                                              const char *name)
{
    Onnx__AttributeProto *attribute = MER_NEW(b->arena, Onnx__AttributeProto);
    onnx__attribute_proto__init(attribute);
    attribute->name = mer_arena_text(b->arena, name);
    attribute->has_type = 1;
    attribute->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
    attribute->g = MER_NEW(b->arena, Onnx__GraphProto);
    onnx_graph_init(attribute->g, b->arena);
    node->attribute[node->n_attribute++] = attribute;
    return attribute->g;
}

static inline MerImportFile onnx_file(OnnxBuilder *b)
{
    size_t   size = onnx__model_proto__get_packed_size(&b->model);
    uint8_t *data = mer_arena_alloc(b->arena, size + 1);
    onnx__model_proto__pack(&b->model, data);
    return (MerImportFile){
        .path = "net.onnx", .name = "net", .data = (const char *)data, .size = size};
}

/* Imports with `--dim` bindings "H=8 W=9" (NULL: none). NULL and a message after a failure. */
static inline MerGraph *onnx_import(OnnxBuilder *b, const char *dims, MerError *error)
{
    char            *words[ONNX_BUILDER_WORDS];
    MerDimBinding    bindings[ONNX_BUILDER_WORDS];
    MerImportOptions options = {.dims = bindings};
    MerImportFile    file = onnx_file(b);
    MerGraph        *graph = NULL;
    options.dim_count = dims != NULL ? onnx_words(b->arena, dims, words) : 0;
    for (int i = 0; i < options.dim_count; i++) {
        char *equal = strchr(words[i], '=');
        *equal = '\0';
        bindings[i] = (MerDimBinding){.name = words[i], .size = strtoll(equal + 1, NULL, 10)};
    }
    *error = (MerError){0};
    MerStatus status = mer_importer_onnx.read(&file, &options, b->arena, &graph, error);
    return status == MER_OK ? graph : NULL;
}

/* "1 64 ? 7"-like text of a value's shape; "?" if it is not known. */
static inline const char *onnx_shape_text(const MerGraph *graph, const char *name, MerArena *arena)
{
    for (int i = 0; i < graph->value_count; i++) {
        const MerValue *value = &graph->values[i];
        if (strcmp(value->name, name) != 0)
            continue;
        char text[200] = "";
        for (int axis = 0; axis < value->rank; axis++) {
            size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, "%s%lld", axis > 0 ? " " : "",
                     (long long)value->dims[axis]);
        }
        return value->rank < 0 ? "?" : mer_arena_text(arena, text);
    }
    return "no such value";
}

/* What a test of the importer starts from: an empty model of opset 17. */
typedef struct OnnxFixture {
    MerArena    *arena;
    OnnxBuilder *b;
    MerError     error;
} OnnxFixture;

static inline int onnx_set_up(void **state)
{
    OnnxFixture *fixture = calloc(1, sizeof *fixture);
    fixture->arena = mer_arena_new();
    fixture->b = onnx_builder(17, fixture->arena);
    *state = fixture;
    return 0;
}

static inline int onnx_tear_down(void **state)
{
    OnnxFixture *fixture = *state;
    mer_arena_free(fixture->arena);
    free(fixture);
    return 0;
}

#endif
