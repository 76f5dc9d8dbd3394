/* Layer tables as CSV: GAMMA's K,C,Y,X,R,S,T, the merged tables with a column `network`, and
 * SCALE-Sim's convolution and GEMM topologies. Y and X (IFMAP sizes) are input sizes with the
 * padding inside: out = floor((in - filter) / stride) + 1. */
#include "import/layer_list.h"
#include "import/layer_table.h"

#include "graph/derive.h"
#include "mercator/option.h"

#include <string.h>
#include <strings.h>

enum { MAX_LAYERS = 1000000 };

typedef enum Type { FC, CONV, DSCONV, GEMM, NGCONV, TRCONV, TYPE_COUNT } Type;

static const struct {
    const char *name;
    MerOpKind   kind;
} types[] = {{"FC", MER_OP_GEMM},   {"CONV", MER_OP_CONV},   {"DSCONV", MER_OP_DEPTHWISE},
             {"GEMM", MER_OP_GEMM}, {"NGCONV", MER_OP_CONV}, {"TRCONV", MER_OP_TRANSPOSED}};

static bool is_text(MerTableField field, const char *text)
{
    return (int)strlen(text) == field.length && memcmp(text, field.text, strlen(text)) == 0;
}

static MerStatus read_type(const MerLayerTable *table, Type *type)
{
    MerTableField field = mer_layer_table_field(table, MER_COLUMN_TYPE);
    *type = mer_layer_table_has(table, MER_COLUMN_Y) ? CONV : GEMM;
    if (!mer_layer_table_has(table, MER_COLUMN_TYPE)) {
        return MER_OK;
    }
    /* GAMMA's T is a number: 0 FC, 1 CONV, 2 DSCONV, 3 GEMM. */
    if (field.length == 1 && *field.text >= '0' && *field.text <= '3') {
        *type = (Type)(*field.text - '0');
        return MER_OK;
    }
    for (int t = 0; t < TYPE_COUNT; t++) {
        if ((int)strlen(types[t].name) == field.length &&
            strncasecmp(types[t].name, field.text, (size_t)field.length) == 0) {
            *type = (Type)t;
            return MER_OK;
        }
    }
    return mer_layer_table_fail(
        table, field.column,
        "the type is \"%.*s\", expected FC, CONV, DSCONV, GEMM, NGCONV, TRCONV or 0 to 3",
        field.length < 40 ? field.length : 40, field.text);
}

/* M x Kg times Kg x N. GAMMA's own form has them in the columns K, C, Y. */
static MerStatus read_gemm(const MerLayerTable *table, MerOp *op)
{
    bool           own = !mer_layer_table_has(table, MER_COLUMN_M);
    MerTableColumn inner = own                                             ? MER_COLUMN_Y
                           : mer_layer_table_has(table, MER_COLUMN_GEMM_K) ? MER_COLUMN_GEMM_K
                                                                           : MER_COLUMN_K;
    MER_TRY(mer_layer_table_size(table, own ? MER_COLUMN_K : MER_COLUMN_M, &op->dims[MER_DIM_Y]));
    MER_TRY(mer_layer_table_size(table, own ? MER_COLUMN_C : MER_COLUMN_N, &op->dims[MER_DIM_K]));
    return mer_layer_table_size(table, inner, &op->dims[MER_DIM_C]);
}

static MerStatus read_strides(const MerLayerTable *table, MerOp *op)
{
    static const MerTableColumn columns[] = {MER_COLUMN_STRIDE_Y, MER_COLUMN_STRIDE_X};
    for (int axis = 0; axis < 2; axis++) {
        int64_t        stride;
        bool           is_own = mer_layer_table_has(table, columns[axis]);
        MerTableColumn column = is_own ? columns[axis] : MER_COLUMN_STRIDE;
        MER_TRY(mer_layer_table_optional(table, column, &stride));
        op->stride[axis] = (int)stride;
    }
    return MER_OK;
}

/* Input sizes to output sizes; a transposed convolution loops over its input. */
static MerStatus read_image(const MerLayerTable *table, MerOp *op)
{
    static const MerTableColumn sizes[] = {MER_COLUMN_Y, MER_COLUMN_X};
    for (int axis = 0; axis < 2; axis++) {
        int64_t size, filter = op->dims[MER_DIM_R + axis];
        MER_TRY(mer_layer_table_size(table, sizes[axis], &size));
        *(axis == 0 ? &op->input_rows : &op->input_columns) = size;
        op->dims[MER_DIM_Y + axis] = op->kind == MER_OP_TRANSPOSED
                                         ? size
                                         : mer_layer_output_size(size, filter, op->stride[axis], 1);
        if (op->dims[MER_DIM_Y + axis] == 0) {
            return mer_layer_table_fail(table, mer_layer_table_field(table, sizes[axis]).column,
                                        "%c is %lld, expected at least the filter's %lld",
                                        axis == 0 ? 'Y' : 'X', (long long)size, (long long)filter);
        }
    }
    return MER_OK;
}

static MerStatus read_convolution(const MerLayerTable *table, Type type, MerOp *op)
{
    MER_TRY(mer_layer_table_size(table, MER_COLUMN_C, &op->dims[MER_DIM_C]));
    MER_TRY(mer_layer_table_size(table, MER_COLUMN_R, &op->dims[MER_DIM_R]));
    MER_TRY(mer_layer_table_size(table, MER_COLUMN_S, &op->dims[MER_DIM_S]));
    if (type != DSCONV) {
        MER_TRY(mer_layer_table_size(table, MER_COLUMN_K, &op->dims[MER_DIM_K]));
    }
    if (type == NGCONV) {
        MER_TRY(mer_layer_table_size(table, MER_COLUMN_G, &op->dims[MER_DIM_G]));
    }
    /* In a table with GEMM columns N may be the batch. */
    MER_TRY(mer_layer_table_optional(table, MER_COLUMN_N, &op->dims[MER_DIM_N]));
    MER_TRY(read_strides(table, op));
    return read_image(table, op);
}

/* A fully connected layer whose window columns are empty or 1. */
static bool is_flat(const MerLayerTable *table)
{
    bool is_flat = true;
    for (MerTableColumn column = MER_COLUMN_Y; column <= MER_COLUMN_S; column++) {
        MerTableField field = mer_layer_table_field(table, column);
        is_flat = is_flat && (field.length == 0 || is_text(field, "1"));
    }
    return is_flat;
}

static MerStatus read_layer(const MerLayerTable *table, Type type, MerOp *op)
{
    op->kind = types[type].kind;
    if (type == GEMM) {
        return read_gemm(table, op);
    }
    if (!mer_layer_table_has(table, MER_COLUMN_Y)) {
        return mer_layer_table_fail(
            table, mer_layer_table_field(table, MER_COLUMN_TYPE).column,
            "the type is %s, expected GEMM in a table without the columns C, Y, X, R, S",
            types[type].name);
    }
    if (type == FC && is_flat(table)) {
        MER_TRY(mer_layer_table_optional(table, MER_COLUMN_N, &op->dims[MER_DIM_N]));
        MER_TRY(mer_layer_table_size(table, MER_COLUMN_K, &op->dims[MER_DIM_K]));
        return mer_layer_table_size(table, MER_COLUMN_C, &op->dims[MER_DIM_C]);
    }
    op->kind = type == FC ? MER_OP_CONV : op->kind;
    return read_convolution(table, type, op);
}

static MerStatus check_length(const MerLayerTable *table)
{
    if (table->field_count > table->header_count) {
        return mer_layer_table_fail(table, table->fields[table->header_count].column,
                                    "the line has %d fields, expected at most the %d of the header",
                                    table->field_count, table->header_count);
    }
    return MER_OK;
}

/* The names of the column `network`, in the order of the file. */
typedef struct Names {
    int          count;
    const char **list;
} Names;

static void add_name(Names *names, MerTableField field, MerArena *arena)
{
    for (int i = names->count - 1; i >= 0; i--) {
        if (is_text(field, names->list[i])) {
            return;
        }
    }
    MER_GROW(arena, names->list, names->count);
    names->list[names->count++] = mer_arena_text_n(arena, field.text, (size_t)field.length);
}

enum { MAX_NETWORKS = 1000 };

static MerStatus list_networks(const MerLayerTable *start, Names *names, MerArena *arena)
{
    MerLayerTable table = *start;
    MerStatus     status;
    *names = (Names){0};
    while (mer_layer_table_next(&table, &status)) {
        MerTableField field = mer_layer_table_field(&table, MER_COLUMN_NETWORK);
        add_name(names, field, arena);
        if (names->count > MAX_NETWORKS) {
            return mer_layer_table_fail(&table, field.column, "more than %d networks in one file",
                                        MAX_NETWORKS);
        }
    }
    return status;
}

/* The network to read, NULL in a table that names none. */
static MerStatus choose_network(const MerLayerTable *table, const char *select, MerArena *arena,
                                const char **chosen)
{
    Names names;
    *chosen = NULL;
    if (!mer_layer_table_has(table, MER_COLUMN_NETWORK)) {
        if (select == NULL || mer_name_equal(select, table->file->name)) {
            return MER_OK;
        }
        return mer_error_set(table->error, MER_NOT_FOUND,
                             "%s has no network \"%.80s\": it holds one network without a name",
                             table->file->path, select);
    }
    MER_TRY(list_networks(table, &names, arena));
    if (names.count > 0) {
        int index;
        MER_TRY(
            mer_layer_network(table->file, names.list, names.count, select, &index, table->error));
        *chosen = names.list[index];
    }
    return MER_OK;
}

static void warn(MerGraph *graph, const MerLayerTable *table, bool has_groups)
{
    if (!mer_layer_table_has(table, MER_COLUMN_STRIDE) &&
        !mer_layer_table_has(table, MER_COLUMN_STRIDE_Y) &&
        mer_layer_table_has(table, MER_COLUMN_Y)) {
        mer_graph_warn(graph, "the table has no stride: strided layers count as stride 1");
    }
    if (has_groups) {
        mer_graph_warn(graph,
                       "NGCONV: K and C are taken as channels of one group, as MAESTRO does");
    }
}

/* Looked at here, where the line is known. */
static bool is_countable(const MerGraph *graph, const MerOp *op)
{
    int64_t count, bytes;
    bool    fits = mer_op_multiply(op, &count);
    for (int i = 0; i < op->input_count; i++) {
        fits = fits && mer_value_measure(&graph->values[op->inputs[i]], &count, &bytes);
    }
    return fits && mer_value_measure(&graph->values[op->outputs[0]], &count, &bytes);
}

static MerStatus read_layers(MerLayerTable *table, const char *network, MerGraph *graph)
{
    MerStatus status;
    bool      has_groups = false;
    while (mer_layer_table_next(table, &status)) {
        Type  type;
        MerOp op = mer_op_make(NULL, NULL, MER_OP_CONV);
        if (network && !is_text(mer_layer_table_field(table, MER_COLUMN_NETWORK), network)) {
            continue;
        }
        MER_TRY(check_length(table));
        MER_TRY(read_type(table, &type));
        MER_TRY(read_layer(table, type, &op));
        if (graph->op_count == MAX_LAYERS) {
            return mer_layer_table_fail(table, 1, "more than %d layers in one network", MAX_LAYERS);
        }
        op.source = types[type].name;
        MerTableColumn title =
            mer_layer_table_has(table, MER_COLUMN_LAYER) ? MER_COLUMN_LAYER : MER_COLUMN_NAME;
        op.name = mer_layer_table_field(table, title).length > 0
                      ? mer_layer_table_text(table, title)
                      : mer_arena_format(graph->arena, "layer%d", graph->op_count + 1);
        mer_layer_add(graph, &op);
        if (!is_countable(graph, &graph->ops[graph->op_count - 1])) {
            return mer_layer_table_fail(
                table, 1, "layer %s has more multiplications or bytes than 2^63", op.name);
        }
        has_groups |= type == NGCONV;
    }
    warn(graph, table, has_groups);
    return status;
}

static bool probe(const MerImportFile *file)
{
    MerLayerTable table;
    bool          found;
    mer_layer_table_open(&table, file);
    return mer_layer_table_header(&table, &found) == MER_OK && found;
}

static MerStatus read(const MerImportFile *file, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    MerLayerTable table;
    bool          found;
    const char   *network, *select = options != NULL ? options->select : NULL;
    mer_layer_table_open(&table, file);
    table.error = error;
    table.arena = arena;
    MER_TRY(mer_layer_table_header(&table, &found));
    if (!found && table.field_count == 1 &&
        memchr(table.fields[0].text, ';', (size_t)table.fields[0].length)) {
        return mer_layer_table_fail(&table, 1, "columns are separated by \";\", expected \",\"");
    }
    if (!found) {
        return mer_layer_table_fail(
            &table, 1,
            "the header is none of a layer table, expected the columns K,C,Y,X,R,S,T "
            "or those of a SCALE-Sim topology, or M,N,K");
    }
    MER_TRY(choose_network(&table, select, arena, &network));
    MerGraph *result = mer_graph_new(network != NULL ? network : file->name, arena);
    result->format = mer_importer_layers_csv.name;
    *graph = result;
    MER_TRY(read_layers(&table, network, result));
    if (result->op_count == 0) {
        return mer_layer_table_fail(&table, 1, "the table ends without a layer");
    }
    return mer_graph_finish(result, error);
}

const MerImporterClass mer_importer_layers_csv = {
    .name = "layers-csv",
    .summary = "layer tables: GAMMA, SCALE-Sim convolutions and GEMMs, merged tables",
    .endings = "csv",
    .probe = probe,
    .read = read,
};
