/* The numbers of an ONNX file: float32 initializers and constants that stand in the file itself, by value of the imported graph. */
#include "import/network_weights.h"

#include "base/file.h"
#include "import/onnx/onnx.h"

#include <string.h>

enum { MAX_BYTES = 0x7fffffff };

static size_t element_count(const Onnx__TensorProto *tensor)
{
    size_t count = 1;
    for (size_t i = 0; i < tensor->n_dims; i++) {
        if (tensor->dims[i] < 0 || __builtin_mul_overflow(count, (size_t)tensor->dims[i], &count)) {
            return 0;
        }
    }
    return count;
}

/* Copies; NULL: the tensor is of another type, or its data is elsewhere. */
static const float *numbers_of(const Onnx__TensorProto *tensor, int64_t wanted, MerArena *arena)
{
    size_t count = element_count(tensor);
    bool   is_raw = tensor->raw_data.len == count * sizeof(float);
    if (mer_onnx_type(tensor->has_data_type ? tensor->data_type : 0) != MER_TYPE_FLOAT32 ||
        count == 0 || (int64_t)count != wanted || (!is_raw && tensor->n_float_data != count)) {
        return NULL;
    }
    float *values = MER_ARRAY(arena, float, count);
    if (!is_raw) {
        memcpy(values, tensor->float_data, count * sizeof *values);
        return values;
    }
    for (size_t i = 0; i < count; i++) { /* little-endian */
        const uint8_t *b = tensor->raw_data.data + 4 * i;
        uint32_t       bits =
            (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        memcpy(&values[i], &bits, sizeof bits);
    }
    return values;
}

static void add_constants(const Onnx__GraphProto *graph, MerNameTable *tensors)
{
    for (size_t i = 0; i < graph->n_initializer; i++) {
        if (graph->initializer[i]->name) {
            mer_name_table_set(tensors, graph->initializer[i]->name, graph->initializer[i]);
        }
    }
    for (size_t i = 0; i < graph->n_node; i++) {
        const Onnx__NodeProto *node = graph->node[i];
        bool is_constant = node->op_type && strcmp(node->op_type, "Constant") == 0 &&
                           node->n_output == 1 && node->n_attribute == 1;
        if (is_constant && node->attribute[0]->t) {
            mer_name_table_set(tensors, node->output[0], node->attribute[0]->t);
        }
    }
}

static const MerNetworkWeights *read_values(const MerGraph *graph, const Onnx__ModelProto *model,
                                            MerArena *scratch, MerArena *arena)
{
    MerNameTable       tensors = {.arena = scratch};
    MerNetworkWeights *weights = MER_NEW(arena, MerNetworkWeights);
    const float      **values = MER_ARRAY(arena, const float *, graph->value_count + 1);
    int                found = 0;
    add_constants(model->graph, &tensors);
    for (int v = 0; v < graph->value_count; v++) {
        const MerValue          *value = &graph->values[v];
        const Onnx__TensorProto *tensor = value->role == MER_VALUE_WEIGHT && value->name
                                              ? mer_name_table_find(&tensors, value->name)
                                              : NULL;
        values[v] = tensor ? numbers_of(tensor, value->elements, arena) : NULL;
        found += values[v] != NULL;
    }
    *weights = (MerNetworkWeights){graph->value_count, values};
    return found > 0 ? weights : NULL;
}

const MerNetworkWeights *mer_network_weights(const MerGraph *graph, MerArena *arena)
{
    const MerNetworkWeights *weights = mer_graph_attachment(graph, MER_NETWORK_WEIGHTS);
    if (weights || !graph->path || !graph->format || strcmp(graph->format, "onnx") != 0) {
        return weights;
    }
    MerArena     *scratch = mer_arena_new();
    bool          is_name = strpbrk(graph->path, "/.") == NULL;
    const char   *path = is_name ? mer_data_path("models", graph->path, ".onnx", scratch) : NULL;
    MerImportFile file = {.path = path ? path : graph->path, .name = graph->name};
    char         *data = NULL;
    Onnx__ModelProto *model = NULL;
    if (!mer_file_is_stream(file.path) &&
        mer_file_read(file.path, MAX_BYTES, scratch, &data, &file.size, NULL) == MER_OK) {
        file.data = data;
        model = mer_onnx_wire_check(&file, NULL) == MER_OK
                    ? onnx__model_proto__unpack(NULL, file.size, (const uint8_t *)data)
                    : NULL;
    }
    if (model && model->graph) {
        weights = read_values(graph, model, scratch, arena);
    }
    if (model) {
        onnx__model_proto__free_unpacked(model, NULL);
    }
    mer_arena_free(scratch);
    return weights;
}
