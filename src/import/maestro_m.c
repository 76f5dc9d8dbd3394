/* MAESTRO networks (`Network N { Layer L { Type, Stride, Dimensions, Dataflow } }`). Sizes Y and
 * X are input sizes with the padding inside, Y' and X' output sizes. Dataflows are checked and
 * left out. */
#include "import/layer_list.h"
#include "import/maestro_text.h"

#include "base/word_list.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef enum Type { CONV, DSCONV, NGCONV, TRCONV, FC, GEMM, BMM, TYPE_COUNT } Type;

static const struct {
    const char *name;
    MerOpKind   kind;
} types[] = {
    {"CONV", MER_OP_CONV},         {"DSCONV", MER_OP_DEPTHWISE}, {"NGCONV", MER_OP_CONV},
    {"TRCONV", MER_OP_TRANSPOSED}, {"FC", MER_OP_CONV},          {"GEMM", MER_OP_GEMM},
    {"BMM", MER_OP_BATCHED_GEMM},
};

typedef struct Reader {
    const char            *path;
    const MerMaestroLayer *layer;
    MerError              *error;
} Reader;

static MerStatus fail(const Reader *reader, MerMaestroPlace place, const char *what,
                      const char *found)
{
    return mer_error_set(reader->error, MER_INVALID, "%s:%d:%d: layer %.60s: %s%.60s", reader->path,
                         place.line, place.column, reader->layer->name, what, found);
}

static const MerMaestroSize *find(const Reader *reader, const char *name)
{
    return mer_maestro_find(reader->layer->dims, reader->layer->dim_count, name);
}

static MerStatus need(const Reader *reader, const char *name, int64_t *value)
{
    const MerMaestroSize *size = find(reader, name);
    if (size == NULL) {
        return fail(reader, reader->layer->place, "Dimensions lack ", name);
    }
    *value = size->value;
    return MER_OK;
}

static void take(const Reader *reader, const char *name, int64_t *value)
{
    const MerMaestroSize *size = find(reader, name);
    *value = size != NULL ? size->value : *value;
}

static MerStatus read_type(const Reader *reader, Type *type)
{
    const MerMaestroLayer *layer = reader->layer;
    const char            *name = *layer->type != '\0' ? layer->type : "CONV"; /* the default */
    for (*type = 0; *type < TYPE_COUNT; (*type)++) {
        if (strcmp(name, types[*type].name) == 0) {
            return MER_OK;
        }
    }
    if (mer_word_list_has("LSTM POOL RESIDUAL_IDENTITY", name)) {
        return mer_error_set(reader->error, MER_UNSUPPORTED,
                             "%s:%d:%d: layer %.60s: type %s has no meaning in MAESTRO's model",
                             reader->path, layer->type_place.line, layer->type_place.column,
                             layer->name, name);
    }
    return fail(reader, layer->type_place,
                "expected the type CONV, DSCONV, NGCONV, TRCONV, FC, GEMM or BMM, found ",
                layer->type);
}

static void read_strides(const Reader *reader, MerOp *op)
{
    static const char *const names[] = {"Y", "X"};
    for (int axis = 0; axis < 2; axis++) {
        const MerMaestroSize *stride =
            mer_maestro_find(reader->layer->strides, reader->layer->stride_count, names[axis]);
        op->stride[axis] = stride != NULL ? (int)stride->value : 1;
    }
}

/* Rows or columns: from Y' if it is given, else from Y. */
static MerStatus read_axis(const Reader *reader, int axis, MerOp *op)
{
    static const char *const inputs[] = {"Y", "X"}, *const outputs[] = {"Y'", "X'"};
    const MerMaestroSize *input = find(reader, inputs[axis]), *output = find(reader, outputs[axis]);
    int64_t               filter = op->dims[MER_DIM_R + axis], *size = &op->dims[MER_DIM_Y + axis];
    bool                  is_transposed = op->kind == MER_OP_TRANSPOSED;
    if (input != NULL) {
        *(axis == 0 ? &op->input_rows : &op->input_columns) = input->value;
    }
    if (input == NULL && (output == NULL || is_transposed)) {
        return fail(reader, reader->layer->place, "Dimensions lack ", inputs[axis]);
    }
    if (is_transposed) {
        *size = input->value;
    } else if (output != NULL) {
        *size = output->value;
    } else {
        *size = mer_layer_output_size(input->value, filter, op->stride[axis], 1);
    }
    if (*size == 0) {
        char text[40];
        snprintf(text, sizeof text, "%lld", (long long)input->value);
        return fail(reader, input->place, "the filter is larger than the input's size ", text);
    }
    return MER_OK;
}

static MerStatus read_convolution(const Reader *reader, Type type, MerOp *op)
{
    MER_TRY(need(reader, "C", &op->dims[MER_DIM_C]));
    if (type != DSCONV) {
        MER_TRY(need(reader, "K", &op->dims[MER_DIM_K]));
    }
    if (type == NGCONV) {
        MER_TRY(need(reader, "G", &op->dims[MER_DIM_G]));
    }
    take(reader, "N", &op->dims[MER_DIM_N]);
    take(reader, "R", &op->dims[MER_DIM_R]);
    take(reader, "S", &op->dims[MER_DIM_S]);
    read_strides(reader, op);
    MER_TRY(read_axis(reader, 0, op));
    return read_axis(reader, 1, op);
}

/* M x K times K x N, B times over in a BMM. */
static MerStatus read_product(const Reader *reader, Type type, MerOp *op)
{
    MER_TRY(need(reader, "M", &op->dims[MER_DIM_Y]));
    MER_TRY(need(reader, "N", &op->dims[MER_DIM_K]));
    MER_TRY(need(reader, "K", &op->dims[MER_DIM_C]));
    return type == BMM ? need(reader, "B", &op->dims[MER_DIM_G]) : MER_OK;
}

static MerStatus check_names(const Reader *reader, Type type)
{
    bool        is_product = type == GEMM || type == BMM;
    const char *names = is_product ? "B M N K" : "N G K C R S Y X Y' X'";
    for (int i = 0; i < reader->layer->dim_count; i++) {
        const MerMaestroSize *size = &reader->layer->dims[i];
        if (!mer_word_list_has(names, size->name)) {
            return fail(reader, size->place,
                        is_product ? "expected a size B, M, N or K, found "
                                   : "expected a size N, G, K, C, R, S, Y, X, Y' or X', found ",
                        size->name);
        }
    }
    return MER_OK;
}

static MerStatus read_layer(const Reader *reader, MerGraph *graph)
{
    Type  type;
    MerOp op = mer_op_make(reader->layer->name, NULL, MER_OP_CONV);
    MER_TRY(read_type(reader, &type));
    MER_TRY(check_names(reader, type));
    op.kind = types[type].kind;
    op.source = types[type].name;
    if (type == FC && find(reader, "Y") == NULL && find(reader, "Y'") == NULL) {
        op.kind = MER_OP_GEMM;
        MER_TRY(need(reader, "K", &op.dims[MER_DIM_K]));
        MER_TRY(need(reader, "C", &op.dims[MER_DIM_C]));
        take(reader, "N", &op.dims[MER_DIM_Y]);
    } else {
        MER_TRY(type == GEMM || type == BMM ? read_product(reader, type, &op)
                                            : read_convolution(reader, type, &op));
    }
    mer_layer_add(graph, &op);
    if (type == NGCONV) {
        mer_graph_warn(graph,
                       "NGCONV: K and C are taken as channels of one group, as MAESTRO does");
    }
    return MER_OK;
}

static MerStatus choose(const MerMaestroFile *parsed, const MerImportFile *file, const char *select,
                        MerArena *arena, const MerMaestroNetwork **network, MerError *error)
{
    if (parsed->network_count == 0) {
        return mer_error_set(error, MER_INVALID, "%s:1:1: the file has no Network", file->path);
    }
    int          index;
    const char **names = MER_ARRAY(arena, const char *, parsed->network_count);
    for (int i = 0; i < parsed->network_count; i++) {
        names[i] = parsed->networks[i].name;
    }
    MER_TRY(mer_layer_network(file, names, parsed->network_count, select, &index, error));
    *network = &parsed->networks[index];
    return MER_OK;
}

/* The first word of the file, comments skipped, is one that only `.m` files start with. */
static bool probe(const MerImportFile *file)
{
    static const char *const words[] = {"Network", "Constant", "Accelerator"};
    const char              *c = file->data, *end = file->data + file->size;
    while (c < end &&
           (isspace((unsigned char)*c) || (end - c >= 2 && c[0] == '/' && c[1] == '/'))) {
        const char *newline = *c == '/' ? memchr(c, '\n', (size_t)(end - c)) : c;
        if (newline == NULL) {
            return false;
        }
        c = newline + 1;
    }
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(end - c) > length && memcmp(c, words[i], length) == 0 &&
            isspace((unsigned char)c[length])) {
            return true;
        }
    }
    return false;
}

static MerStatus read(const MerImportFile *file, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    MerMaestroFile           parsed;
    const MerMaestroNetwork *network = NULL;
    const char              *select = options != NULL ? options->select : NULL;
    MER_TRY(mer_maestro_parse(file->path, file->data, file->size, arena, &parsed, error));
    MER_TRY(choose(&parsed, file, select, arena, &network, error));
    MerGraph *result = mer_graph_new(network->name, arena);
    result->format = mer_importer_maestro.name;
    *graph = result;
    for (int i = 0; i < network->layer_count; i++) {
        Reader reader = {.path = file->path, .layer = &network->layers[i], .error = error};
        MER_TRY(read_layer(&reader, result));
    }
    if (result->op_count == 0) {
        return mer_error_set(error, MER_INVALID, "%s:%d:%d: network %.60s has no layers",
                             file->path, network->place.line, network->place.column, network->name);
    }
    return mer_graph_finish(result, error);
}

const MerImporterClass mer_importer_maestro = {
    .name = "maestro",
    .summary = "MAESTRO networks (.m); Dataflow blocks are checked and left out",
    .endings = "m",
    .probe = probe,
    .read = read,
};
