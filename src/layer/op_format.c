/* Operators of a plan file, out and in. */
#include "layer/op_format.h"

#include <limits.h>
#include <string.h>

static void write_op(const MerOp *op, bool has_image, MerJson *json)
{
    mer_json_object(json, "op");
    mer_json_text(json, "kind", mer_op_kind_name(op->kind));
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (op->dims[d] != 1) {
            mer_json_int(json, (char[]){MER_DIM_LETTERS[d], '\0'}, op->dims[d]);
        }
    }
    const char *names[2] = {"stride", "dilation"};
    const int  *pairs[2] = {op->stride, op->dilation};
    for (int i = 0; i < 2; i++) {
        if (i == 0 || pairs[i][0] != 1 || pairs[i][1] != 1) {
            mer_json_ints(json, names[i], pairs[i], 2);
        }
    }
    if (op->repeat != 1) {
        mer_json_int(json, "repeat", op->repeat);
    }
    if (has_image && op->input_rows > 0) {
        mer_json_ints(json, "pad", op->pad, 4);
        mer_json_array(json, "input");
        mer_json_int(json, NULL, op->input_rows);
        mer_json_int(json, NULL, op->input_columns);
        mer_json_end_array(json);
    }
    mer_json_end_object(json);
}

void mer_op_write(const MerOp *op, MerJson *json)
{
    write_op(op, false, json);
}

void mer_op_write_image(const MerOp *op, MerJson *json)
{
    write_op(op, true, json);
}

static MerStatus read_ints(MerYaml *map, const char *key, int count, int least, const char *what,
                           int *numbers, MerError *error)
{
    MerYaml *list = mer_yaml_get(map, key);
    if (!list) {
        return MER_OK;
    }
    if (list->kind != MER_YAML_LIST || list->count != count) {
        return mer_yaml_expected(list, error, "%s", what);
    }
    for (int i = 0; i < count; i++) {
        int64_t value;
        MER_TRY(mer_yaml_int(list->items[i], least, INT_MAX, &value, error));
        numbers[i] = (int)value;
    }
    return MER_OK;
}

static MerStatus read_pair(MerYaml *map, const char *key, int pair[2], MerError *error)
{
    return read_ints(map, key, 2, 1, "two numbers: rows, columns", pair, error);
}

MerStatus mer_op_read(MerYaml *node, MerOp *op, MerError *error)
{
    static const char *const kinds[] = {
#define X(id, name, macs) name,
        MER_OP_KIND_MAP(X)
#undef X
    };
    MerYaml *kind_node;
    int      kind = 0;
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(node, "kind", &kind_node, error));
    MER_TRY(mer_yaml_word(kind_node, kinds, MER_OP_KIND_COUNT, &kind, error));
    *op = mer_op_make("layer", kinds[kind], (MerOpKind)kind);
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        MER_TRY(mer_yaml_get_int(node, (char[]){MER_DIM_LETTERS[d], '\0'}, 1, INT_MAX, &op->dims[d],
                                 error));
    }
    MER_TRY(read_pair(node, "stride", op->stride, error));
    MER_TRY(read_pair(node, "dilation", op->dilation, error));
    MER_TRY(mer_yaml_get_int(node, "repeat", 1, INT_MAX, &op->repeat, error));
    int input[2] = {0, 0};
    MER_TRY(read_pair(node, "input", input, error));
    MER_TRY(read_ints(node, "pad", 4, 0, "four numbers: top, left, bottom, right", op->pad, error));
    op->input_rows = input[0];
    op->input_columns = input[1];
    return mer_yaml_finish(node, error);
}

MerStatus mer_ops_read(MerYaml *tasks, MerArena *arena, MerGraph **graph, MerError *error)
{
    *graph = mer_graph_new("plan", arena);
    for (int t = 0; t < tasks->count; t++) {
        MerYaml *task = tasks->items[t], *node;
        MerOp    op;
        MER_TRY(mer_yaml_check_kind(task, MER_YAML_MAP, error));
        MER_TRY(mer_yaml_need(task, "op", &node, error));
        MER_TRY(mer_op_read(node, &op, error));
        op.name = "layer";
        MER_TRY(mer_yaml_get_text(task, "name", &op.name, error));
        mer_graph_add_op(*graph, &op);
    }
    return mer_graph_finish(*graph, error);
}
