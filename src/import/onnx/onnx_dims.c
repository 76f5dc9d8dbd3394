/* Sizes that the file leaves open. A dimension of an input has a number, or a name that `--dim`
 * binds; one with neither (or with the number -1, as some exporters write) gets the name
 * INPUT_dimAXIS. A leading one that nobody binds is taken for the batch and becomes 1. */
#include "import/onnx/onnx.h"

#include "mercator/option.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const Onnx__TensorShapeProto *shape_of_info(const Onnx__ValueInfoProto *info, MerType *type)
{
    const Onnx__TypeProto *proto = info->type;
    *type = MER_TYPE_UNKNOWN;
    if (proto == NULL)
        return NULL;
    if (proto->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE && proto->tensor_type != NULL) {
        *type = mer_onnx_type(proto->tensor_type->elem_type);
        return proto->tensor_type->shape;
    }
    if (proto->value_case == ONNX__TYPE_PROTO__VALUE_SPARSE_TENSOR_TYPE &&
        proto->sparse_tensor_type != NULL) {
        *type = mer_onnx_type(proto->sparse_tensor_type->elem_type);
        return proto->sparse_tensor_type->shape;
    }
    return NULL;
}

/* The name of an open dimension, NULL if it has a number. */
static const char *open_name(OnnxContext *context, const Onnx__ValueInfoProto *info, size_t axis,
                             const Onnx__TensorShapeProto__Dimension *dim)
{
    bool has_number = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
    if (has_number && dim->dim_value != -1)
        return NULL;
    bool has_name = dim->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
    if (has_name && dim->dim_param != NULL && dim->dim_param[0] != '\0')
        return dim->dim_param;
    return mer_arena_format(context->scratch, "%s_dim%zu", info->name != NULL ? info->name : "",
                            axis);
}

static void add_symbol(OnnxContext *context, const char *name)
{
    if (mer_name_table_find(&context->symbols, name) != NULL)
        return;
    OnnxSymbol *symbol = MER_NEW(context->scratch, OnnxSymbol);
    *symbol = (OnnxSymbol){.name = name, .size = ONNX_UNKNOWN_DIM};
    mer_name_table_set(&context->symbols, name, symbol);
    MER_GROW(context->scratch, context->symbol_list, context->symbol_count);
    context->symbol_list[context->symbol_count++] = symbol;
}

/* The size of an open dimension, NULL if it has a number or a name that is no symbol. */
static OnnxSymbol *open_symbol(OnnxContext *context, const Onnx__ValueInfoProto *info, size_t axis,
                               const Onnx__TensorShapeProto *shape)
{
    const char *name = open_name(context, info, axis, shape->dim[axis]);
    return name != NULL ? mer_name_table_find(&context->symbols, name) : NULL;
}

/* Names inside the graph can be bound too: they are the only way to size what depends on data. */
static void add_named_symbols(OnnxContext *context, Onnx__ValueInfoProto *const *infos,
                              size_t count, bool is_input)
{
    for (size_t i = 0; i < count; i++) {
        MerType                       type;
        const Onnx__TensorShapeProto *shape = shape_of_info(infos[i], &type);
        for (size_t axis = 0; shape != NULL && axis < shape->n_dim; axis++) {
            const char *name = open_name(context, infos[i], axis, shape->dim[axis]);
            bool        has_own_name = shape->dim[axis]->value_case ==
                                ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
            if (name != NULL && (is_input || has_own_name))
                add_symbol(context, name);
        }
    }
}

static void append(char *text, size_t size, const char *before, const char *name, const char *after)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%.60s%s", before, name, after);
}

static void fail_unmatched(OnnxContext *context, const MerDimBinding *binding)
{
    int          count = context->symbol_count;
    const char **names = MER_ARRAY(context->scratch, const char *, count + 1);
    char         list[300] = "";
    for (int i = 0; i < count; i++) {
        names[i] = context->symbol_list[i]->name;
        if (strlen(list) < 200)
            append(list, sizeof list, i > 0 ? ", " : "", mer_onnx_clean(context, names[i]), "");
    }
    const char *nearest = mer_name_nearest(binding->name, names, count);
    mer_onnx_fail_model(context, "--dim %.60s=%lld names no dimension%s%.*s%s", binding->name,
                        (long long)binding->size,
                        count == 0        ? ": all sizes are fixed"
                        : nearest != NULL ? ", did you mean "
                                          : ", expected one of ",
                        nearest != NULL ? 60 : (int)sizeof list, nearest != NULL ? nearest : list,
                        nearest != NULL ? "?" : "");
}

static void apply_bindings(OnnxContext *context)
{
    for (int i = 0; i < context->options->dim_count; i++) {
        const MerDimBinding *binding = &context->options->dims[i];
        OnnxSymbol          *symbol = mer_name_table_find(&context->symbols, binding->name);
        if (symbol == NULL) {
            fail_unmatched(context, binding);
        } else if (binding->size < 0 || binding->size > INT32_MAX) {
            mer_onnx_fail_model(context, "--dim %.60s=%lld: expected a size of 0 to 2147483647",
                                binding->name, (long long)binding->size);
        } else {
            symbol->size = binding->size;
        }
    }
}

static bool is_initializer(const OnnxContext *context, const char *name)
{
    return name != NULL && mer_onnx_scope_find(context->scope, name) != NULL;
}

static void default_batches(OnnxContext *context)
{
    const Onnx__GraphProto *graph = context->model->graph;
    for (size_t i = 0; i < graph->n_input; i++) {
        MerType                       type;
        const Onnx__TensorShapeProto *shape = shape_of_info(graph->input[i], &type);
        if (shape == NULL || shape->n_dim == 0 || is_initializer(context, graph->input[i]->name))
            continue;
        OnnxSymbol *symbol = open_symbol(context, graph->input[i], 0, shape);
        if (symbol == NULL || symbol->size != ONNX_UNKNOWN_DIM)
            continue;
        symbol->size = 1;
        const char *name = mer_onnx_clean(context, symbol->name);
        mer_graph_warn(context->graph,
                       "dimension %.60s is not bound: 1 is used (--dim %.60s=<size>)", name, name);
    }
}

/* The size of one term of a sum, -1 if it is not known. */
static int64_t term_size(const OnnxContext *context, const char *term)
{
    char   *end;
    int64_t number = strtoll(term, &end, 10);
    if (end != term && *end == '\0')
        return number >= 0 && number <= INT32_MAX ? number : ONNX_UNKNOWN_DIM;
    const OnnxSymbol *symbol = mer_name_table_find(&context->symbols, term);
    return symbol != NULL ? symbol->size : ONNX_UNKNOWN_DIM;
}

/* Exporters of language models name sizes "past_length + 1": such a sum follows from its terms. */
static void add_up_sums(OnnxContext *context)
{
    for (int i = 0; i < context->symbol_count; i++) {
        OnnxSymbol *symbol = context->symbol_list[i];
        if (symbol->size != ONNX_UNKNOWN_DIM || strchr(symbol->name, '+') == NULL)
            continue;
        char   *rest = NULL, *text = mer_arena_text(context->scratch, symbol->name);
        int64_t sum = 0;
        for (char *term = strtok_r(text, " +", &rest); term != NULL && sum >= 0;
             term = strtok_r(NULL, " +", &rest)) {
            int64_t size = term_size(context, term);
            sum = size < 0 ? ONNX_UNKNOWN_DIM : sum + size;
        }
        symbol->size = sum > 0 && sum <= INT32_MAX ? sum : ONNX_UNKNOWN_DIM;
    }
}

/* Texts of the message about open sizes: `H, W of input "x"` and `--dim H=<size> ...`. */
typedef struct OpenSizes {
    int  count;
    char where[260], options[260];
} OpenSizes;

static void add_open_sizes(OnnxContext *context, const Onnx__ValueInfoProto *info, OpenSizes *open)
{
    MerType                       type;
    const Onnx__TensorShapeProto *shape = shape_of_info(info, &type);
    bool                          is_first = true;
    for (size_t axis = 0; shape != NULL && axis < shape->n_dim; axis++) {
        OnnxSymbol *symbol = open_symbol(context, info, axis, shape);
        if (symbol == NULL || symbol->size != ONNX_UNKNOWN_DIM)
            continue;
        symbol->size = 1; /* listed once; the import fails anyway */
        const char *name = mer_onnx_clean(context, symbol->name);
        append(open->where, sizeof open->where, open->count > 0 ? ", " : "", name, "");
        append(open->options, sizeof open->options, " --dim ", name, "=<size>");
        open->count++;
        is_first = false;
    }
    if (!is_first)
        append(open->where, sizeof open->where, " of input \"",
               mer_onnx_clean(context, info->name != NULL ? info->name : ""), "\"");
}

static void fail_open_sizes(OnnxContext *context)
{
    const Onnx__GraphProto *graph = context->model->graph;
    OpenSizes               open = {0};
    for (size_t i = 0; i < graph->n_input; i++) {
        if (!is_initializer(context, graph->input[i]->name))
            add_open_sizes(context, graph->input[i], &open);
    }
    if (open.count > 0)
        mer_onnx_fail_model(context, "dimension%s %s %s not bound, expected%s",
                            open.count > 1 ? "s" : "", open.where, open.count > 1 ? "are" : "is",
                            open.options);
}

void mer_onnx_bind_dims(OnnxContext *context)
{
    const Onnx__GraphProto *graph = context->model->graph;
    add_named_symbols(context, graph->input, graph->n_input, true);
    add_named_symbols(context, graph->output, graph->n_output, false);
    add_named_symbols(context, graph->value_info, graph->n_value_info, false);
    apply_bindings(context);
    if (!mer_onnx_failed(context))
        default_batches(context);
    add_up_sums(context);
    if (!mer_onnx_failed(context))
        fail_open_sizes(context);
}

OnnxShape mer_onnx_declared_shape(OnnxContext *context, const Onnx__ValueInfoProto *info,
                                  MerType *type)
{
    const Onnx__TensorShapeProto *proto = shape_of_info(info, type);
    if (proto == NULL || proto->n_dim > MER_MAX_RANK)
        return mer_onnx_unknown_shape;
    OnnxShape shape = {.rank = (int)proto->n_dim};
    for (int axis = 0; axis < shape.rank; axis++) {
        const Onnx__TensorShapeProto__Dimension *dim = proto->dim[axis];
        const char                              *name = open_name(context, info, (size_t)axis, dim);
        const OnnxSymbol                        *symbol =
            name != NULL ? mer_name_table_find(&context->symbols, name) : NULL;
        /* Some exporters write 0 for a size that they do not know. */
        int64_t number =
            dim->dim_value >= 1 && dim->dim_value <= INT32_MAX ? dim->dim_value : ONNX_UNKNOWN_DIM;
        shape.dims[axis] = symbol != NULL ? symbol->size : name == NULL ? number : ONNX_UNKNOWN_DIM;
    }
    return shape;
}

OnnxShape mer_onnx_input_shape(OnnxContext *context, const Onnx__ValueInfoProto *info,
                               MerType *type)
{
    const Onnx__TensorShapeProto *proto = shape_of_info(info, type);
    const char                   *input = mer_onnx_clean(context, info->name);
    if (proto == NULL || proto->n_dim > MER_MAX_RANK) {
        mer_graph_warn(context->graph, "input \"%.120s\" has no shape that can be used", input);
        return mer_onnx_unknown_shape;
    }
    for (size_t axis = 0; axis < proto->n_dim; axis++) {
        const Onnx__TensorShapeProto__Dimension *dim = proto->dim[axis];
        if (open_name(context, info, axis, dim) == NULL &&
            (dim->dim_value < 1 || dim->dim_value > INT32_MAX))
            mer_onnx_fail_model(context,
                                "input \"%.120s\": dimension %zu is %lld, expected 1 to 2147483647",
                                input, axis, (long long)dim->dim_value);
    }
    OnnxShape shape = mer_onnx_declared_shape(context, info, type);
    if (mer_onnx_shape_is_known(&shape))
        mer_onnx_check_size(context, "input", input, *type, &shape);
    return shape;
}
