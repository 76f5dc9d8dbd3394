/* ONNX (opset 9 and later) as a workload graph: shapes are inferred, shape arithmetic is folded,
 * subgraphs and functions are inlined, weights are never read. docs/importing.md says what becomes
 * of each operator. */
#include "import/onnx/onnx.h"

#include "import/import_find.h"

void mer_onnx_define_initializers(OnnxContext *context, const Onnx__GraphProto *graph)
{
    for (size_t i = 0; i < graph->n_initializer && !mer_onnx_failed(context); i++) {
        const Onnx__TensorProto *tensor = graph->initializer[i];
        if (tensor->name != NULL)
            mer_onnx_define(context, tensor->name,
                            mer_onnx_value_of_tensor(
                                context, mer_onnx_prefixed(context, tensor->name), tensor));
    }
    for (size_t i = 0; i < graph->n_sparse_initializer && !mer_onnx_failed(context); i++) {
        const Onnx__SparseTensorProto *sparse = graph->sparse_initializer[i];
        if (sparse->values != NULL && sparse->values->name != NULL)
            mer_onnx_define(context, sparse->values->name,
                            mer_onnx_value_of_sparse(
                                context, mer_onnx_prefixed(context, sparse->values->name), sparse));
    }
}

static void declare(OnnxScope *scope, Onnx__ValueInfoProto *const *infos, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (infos[i]->name != NULL)
            mer_name_table_set(&scope->declared, infos[i]->name, infos[i]);
    }
}

void mer_onnx_walk_graph(OnnxContext *context, const Onnx__GraphProto *graph)
{
    declare(context->scope, graph->value_info, graph->n_value_info);
    declare(context->scope, graph->output, graph->n_output);
    if (!mer_onnx_failed(context))
        mer_onnx_walk_nodes(context, graph->node, graph->n_node);
}

static void define_inputs(OnnxContext *context)
{
    const Onnx__GraphProto *graph = context->model->graph;
    for (size_t i = 0; i < graph->n_input && !mer_onnx_failed(context); i++) {
        const char *name = graph->input[i]->name;
        if (name == NULL || name[0] == '\0') {
            mer_onnx_fail_model(context, "input %zu has no name", i);
            return;
        }
        /* Before IR version 4 every initializer is listed among the inputs too. */
        const OnnxValue *known = mer_onnx_scope_find(context->scope, name);
        if (known != NULL && known->role == MER_VALUE_INPUT)
            mer_onnx_fail_model(context, "input \"%.120s\" occurs twice", known->name);
        if (known != NULL)
            continue;
        OnnxValue *value = mer_onnx_value_new(context, name, MER_TYPE_UNKNOWN, MER_VALUE_INPUT);
        value->shape = mer_onnx_input_shape(context, graph->input[i], &value->type);
        if (!mer_onnx_failed(context)) {
            mer_onnx_value_index(context, value);
            mer_onnx_define(context, name, value);
        }
    }
}

static void mark_outputs(OnnxContext *context)
{
    const Onnx__GraphProto *graph = context->model->graph;
    for (size_t i = 0; i < graph->n_output && !mer_onnx_failed(context); i++) {
        const char *name = graph->output[i]->name != NULL ? graph->output[i]->name : "";
        OnnxValue  *value = mer_onnx_scope_find(context->scope, name);
        if (value == NULL) {
            mer_onnx_fail_model(context, "output \"%.120s\" of the network is never written",
                                mer_onnx_clean(context, name));
            return;
        }
        int index = mer_onnx_value_index(context, value); /* may move the values */
        context->graph->values[index].is_output = true;
    }
}

static void index_functions(OnnxContext *context)
{
    for (size_t i = 0; i < context->model->n_functions; i++) {
        Onnx__FunctionProto *function = context->model->functions[i];
        if (function->name != NULL)
            mer_name_table_set(&context->functions,
                               mer_arena_format(context->scratch, "%s %s",
                                                function->domain != NULL ? function->domain : "",
                                                function->name),
                               function);
    }
}

static void add_warnings(OnnxContext *context)
{
    for (const OnnxUnknown *unknown = context->unknown_list; unknown != NULL;
         unknown = unknown->next)
        mer_graph_warn(context->graph,
                       "%d operator%s of unknown type %.120s treated as data movement",
                       unknown->count, unknown->count > 1 ? "s" : "", unknown->text);
    if (context->uncounted_count > 0)
        mer_graph_warn(context->graph,
                       "the MACs of %d operator%s of unknown size are not counted, the first is "
                       "\"%.120s\"",
                       context->uncounted_count, context->uncounted_count > 1 ? "s" : "",
                       context->uncounted_name);
    if (context->empty_count > 0)
        mer_graph_warn(context->graph,
                       "%d operator%s multipl%s nothing because a tensor is empty, the first is %s",
                       context->empty_count, context->empty_count > 1 ? "s" : "",
                       context->empty_count > 1 ? "y" : "ies", context->empty_text);
    if (context->mismatch_count > 0)
        mer_graph_warn(context->graph,
                       "%d declared shape%s differ%s from the inferred ones, which are used; the "
                       "first is %s",
                       context->mismatch_count, context->mismatch_count > 1 ? "s" : "",
                       context->mismatch_count > 1 ? "" : "s", context->mismatch_text);
}

static MerStatus import_model(OnnxContext *context)
{
    if (context->model->graph == NULL) {
        mer_onnx_fail_model(context, "the model has no graph");
        return context->status;
    }
    context->scope = mer_onnx_scope_new(context, NULL);
    index_functions(context);
    mer_onnx_define_initializers(context, context->model->graph);
    if (!mer_onnx_failed(context))
        mer_onnx_bind_dims(context);
    define_inputs(context);
    mer_onnx_walk_graph(context, context->model->graph);
    mark_outputs(context);
    if (!mer_onnx_failed(context))
        mer_onnx_fold_weights(context);
    if (context->graph->op_count == 0)
        mer_onnx_fail_model(context, "the graph has no operators");
    if (mer_onnx_failed(context))
        return context->status;
    add_warnings(context);
    MerError  error = {0};
    MerStatus status = mer_graph_finish(context->graph, &error);
    if (status != MER_OK)
        mer_error_set(context->error, status, "%s: %s", context->file->path, error.message);
    return status;
}

static MerStatus read_model(const MerImportFile *file, const MerImportOptions *options,
                            MerArena *arena, MerGraph **graph, MerError *error)
{
    static const MerImportOptions no_options = {0};
    MerStatus                     status = mer_onnx_wire_check(file, error);
    if (status != MER_OK)
        return status;
    Onnx__ModelProto *model =
        onnx__model_proto__unpack(NULL, file->size, (const uint8_t *)file->data);
    if (model == NULL)
        return mer_error_set(error, MER_INVALID, "%s is not a valid ONNX model", file->path);
    MerArena   *scratch = mer_arena_new();
    OnnxContext context = {
        .file = file,
        .options = options != NULL ? options : &no_options,
        .arena = arena,
        .scratch = scratch,
        .graph = mer_graph_new(file->name, arena),
        .error = error,
        .model = model,
        .repeat = 1,
        .functions = {.arena = scratch},
        .symbols = {.arena = scratch},
        .unknowns = {.arena = scratch},
    };
    context.graph->format = "onnx";
    status = import_model(&context);
    mer_arena_free(scratch);
    onnx__model_proto__free_unpacked(model, NULL);
    if (status == MER_OK)
        *graph = context.graph;
    return status;
}

const MerImporterClass mer_importer_onnx = {
    .name = "onnx",
    .summary = "ONNX model (opset 9 and later), weights not needed",
    .endings = "onnx",
    .probe = mer_onnx_wire_probe,
    .read = read_model,
};
