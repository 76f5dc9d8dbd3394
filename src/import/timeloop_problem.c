/* Timeloop problems (YAML v0.1 to v0.4, docs/layer-tables.md): the long form with projections and the
 * short forms `shape: cnn-layer` and `shape: gemm`. */
#include "import/layer_list.h"
#include "import/timeloop.h"

#include "base/word_list.h"
#include "base/yaml_need.h"
#include "mercator/option.h"

#include <string.h>

static MerStatus read_size(const MerYaml *node, int64_t *size, MerError *error)
{
    MER_TRY(mer_yaml_int(node, 1, INT64_MAX, size, error));
    return mer_yaml_int(node, 1, MER_LAYER_MAX_SIZE, size, error);
}

static MerStatus need_size(MerYaml *instance, const char *name, int64_t *size, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(instance, name, &node, error));
    return read_size(node, size, error);
}

static MerStatus read_dims(MerTimeloopProblem *problem)
{
    MerYaml *list;
    MER_TRY(mer_yaml_need_kind(problem->shape, "dimensions", MER_YAML_LIST, &list, problem->error));
    if (list->count < 1 || list->count > MER_TIMELOOP_MAX_DIMS) {
        return mer_yaml_error(list, problem->error, "%s has %d items, expected 1 to %d", list->path,
                              list->count, MER_TIMELOOP_MAX_DIMS);
    }
    problem->dim_count = list->count;
    for (int i = 0; i < list->count; i++) {
        MerTimeloopDim *dim = &problem->dims[i];
        MER_TRY(mer_yaml_text(list->items[i], &dim->name, problem->error));
        for (int j = 0; j < i; j++) {
            if (strcmp(problem->dims[j].name, dim->name) == 0) {
                return mer_yaml_error(list->items[i], problem->error, "%s is %s a second time",
                                      list->items[i]->path, dim->name);
            }
        }
        MER_TRY(need_size(problem->instance, dim->name, &dim->size, problem->error));
    }
    return MER_OK;
}

/* The instance's value, else the default. */
static MerStatus read_coefficients(MerTimeloopProblem *problem)
{
    MerYaml *list = mer_yaml_get(problem->shape, "coefficients");
    if (list == NULL || mer_yaml_is_null(list)) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, problem->error));
    if (list->count > MER_TIMELOOP_MAX_DIMS) {
        return mer_yaml_error(list, problem->error, "%s has %d items, expected at most %d",
                              list->path, list->count, MER_TIMELOOP_MAX_DIMS);
    }
    for (int i = 0; i < list->count; i++) {
        MerYaml    *map = list->items[i], *value;
        const char *text;
        MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, problem->error));
        MER_TRY(mer_yaml_need_text(map, "name", &text, problem->error));
        value = mer_yaml_get(problem->instance, text);
        if (value == NULL && (value = mer_yaml_get(map, "default")) == NULL) {
            return mer_yaml_error(map, problem->error,
                                  "%s: %s has no default, and the instance does "
                                  "not give it",
                                  map->path, text);
        }
        problem->coefficients[i].name = text;
        MER_TRY(read_size(value, &problem->coefficients[i].value, problem->error));
        problem->coefficient_count = i + 1;
    }
    return MER_OK;
}

static MerStatus find_dim(const MerTimeloopProblem *problem, const MerYaml *node, int *dim)
{
    const char *name, *names[MER_TIMELOOP_MAX_DIMS];
    MER_TRY(mer_yaml_text(node, &name, problem->error));
    for (int i = 0; i < problem->dim_count; i++) {
        names[i] = problem->dims[i].name;
        if (strcmp(names[i], name) == 0) {
            *dim = i;
            return MER_OK;
        }
    }
    const char *near = mer_name_nearest(name, names, problem->dim_count);
    return mer_yaml_expected(node, problem->error, "the name of a dimension%s%s",
                             near != NULL ? ", did you mean " : "", near != NULL ? near : "");
}

static MerStatus find_coefficient(const MerTimeloopProblem *problem, const MerYaml *node,
                                  int64_t *value)
{
    const char *name;
    MER_TRY(mer_yaml_text(node, &name, problem->error));
    for (int i = 0; i < problem->coefficient_count; i++) {
        if (mer_name_equal(problem->coefficients[i].name, name)) {
            *value = problem->coefficients[i].value;
            return MER_OK;
        }
    }
    if (mer_yaml_int(node, 1, MER_LAYER_MAX_SIZE, value, NULL) == MER_OK) {
        return MER_OK;
    }
    return mer_yaml_expected(node, problem->error, "the name of a coefficient or an integer >= 1");
}

/* [D], [D, coefficient] or a bare D. */
static MerStatus read_term(const MerTimeloopProblem *problem, const MerYaml *node,
                           MerTimeloopTerm *term)
{
    term->coefficient = 1;
    if (node->kind == MER_YAML_SCALAR) {
        return find_dim(problem, node, &term->dim);
    }
    if (node->kind != MER_YAML_LIST || node->count < 1 || node->count > 2) {
        return mer_yaml_expected(node, problem->error,
                                 "a product [dimension] or [dimension, coefficient]");
    }
    MER_TRY(find_dim(problem, node->items[0], &term->dim));
    return node->count == 2 ? find_coefficient(problem, node->items[1], &term->coefficient)
                            : MER_OK;
}

static MerStatus read_rank(const MerTimeloopProblem *problem, const MerYaml *node,
                           MerTimeloopRank *rank)
{
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_LIST, problem->error));
    if (node->count < 1 || node->count > MER_TIMELOOP_MAX_TERMS) {
        return mer_timeloop_unsupported(problem, node,
                                        "a rank is a sum of more than two dimensions", "");
    }
    rank->term_count = node->count;
    for (int i = 0; i < node->count; i++) {
        MER_TRY(read_term(problem, node->items[i], &rank->terms[i]));
    }
    return MER_OK;
}

static MerStatus read_space(const MerTimeloopProblem *problem, MerYaml *map,
                            MerTimeloopSpace *space)
{
    MerYaml *projection;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, problem->error));
    MER_TRY(mer_yaml_need_text(map, "name", &space->name, problem->error));
    MER_TRY(mer_yaml_get_bool(map, "read-write", &space->is_output, problem->error));
    MER_TRY(mer_yaml_need_kind(map, "projection", MER_YAML_LIST, &projection, problem->error));
    if (projection->count > MER_TIMELOOP_MAX_RANKS) {
        return mer_timeloop_unsupported(problem, projection, "too many ranks in ", space->name);
    }
    space->place = map;
    space->rank_count = projection->count;
    for (int i = 0; i < projection->count; i++) {
        MER_TRY(read_rank(problem, projection->items[i], &space->ranks[i]));
    }
    return MER_OK;
}

static MerStatus read_long(MerTimeloopProblem *problem, MerOp *op)
{
    MerYaml *list;
    MER_TRY(
        mer_yaml_need_kind(problem->shape, "data-spaces", MER_YAML_LIST, &list, problem->error));
    MER_TRY(read_dims(problem));
    MER_TRY(read_coefficients(problem));
    if (list->count != 3) {
        return mer_timeloop_unsupported(problem, list, "it has not three data-spaces", "");
    }
    for (int i = 0; i < 3; i++) {
        MER_TRY(read_space(problem, list->items[i], &problem->spaces[i]));
    }
    return mer_timeloop_classify(problem, op);
}

static MerStatus optional_size(MerYaml *instance, const char *name, int64_t *size, MerError *error)
{
    MerYaml *node = mer_yaml_get(instance, name);
    *size = 1;
    return node != NULL ? read_size(node, size, error) : MER_OK;
}

/* Timeloop's own cnn-layer: P goes with R and Wstride, Q with S and Hstride; K in old files, M
 * in new. */
static MerStatus read_cnn_layer(MerYaml *instance, MerOp *op, MerError *error)
{
    static const char *const strides[] = {"Wstride", "Hstride"};
    static const char *const dilations[] = {"Wdilation", "Hdilation"};
    op->kind = MER_OP_CONV;
    MER_TRY(need_size(instance, "C", &op->dims[MER_DIM_C], error));
    MER_TRY(need_size(instance, "P", &op->dims[MER_DIM_Y], error));
    MER_TRY(need_size(instance, "Q", &op->dims[MER_DIM_X], error));
    MER_TRY(need_size(instance, "R", &op->dims[MER_DIM_R], error));
    MER_TRY(need_size(instance, "S", &op->dims[MER_DIM_S], error));
    const char *filters = mer_yaml_get(instance, "K") != NULL ? "K" : "M";
    MER_TRY(need_size(instance, filters, &op->dims[MER_DIM_K], error));
    MER_TRY(optional_size(instance, "N", &op->dims[MER_DIM_N], error));
    MER_TRY(optional_size(instance, "G", &op->dims[MER_DIM_G], error));
    for (int axis = 0; axis < 2; axis++) {
        int64_t stride, dilation;
        MER_TRY(optional_size(instance, strides[axis], &stride, error));
        MER_TRY(optional_size(instance, dilations[axis], &dilation, error));
        op->stride[axis] = (int)stride;
        op->dilation[axis] = (int)dilation;
    }
    return MER_OK;
}

static MerStatus read_gemm(MerYaml *instance, MerOp *op, MerError *error)
{
    op->kind = MER_OP_GEMM;
    MER_TRY(need_size(instance, "M", &op->dims[MER_DIM_Y], error));
    MER_TRY(need_size(instance, "N", &op->dims[MER_DIM_K], error));
    return need_size(instance, "K", &op->dims[MER_DIM_C], error);
}

static MerStatus read_short(const MerTimeloopProblem *problem, MerOp *op)
{
    const char *name;
    MER_TRY(mer_yaml_text(problem->shape, &name, problem->error));
    if (mer_name_equal(name, "cnn-layer") || mer_name_equal(name, "cnn")) {
        return read_cnn_layer(problem->instance, op, problem->error);
    }
    if (strcmp(name, "gemm") == 0 || strcmp(name, "GEMM") == 0) {
        return read_gemm(problem->instance, op, problem->error);
    }
    return mer_error_set(problem->error, MER_UNSUPPORTED,
                         "%s:%d:%d: the shape is \"%.60s\", expected cnn-layer, gemm or a map with "
                         "dimensions and data-spaces",
                         problem->shape->file, problem->shape->line, problem->shape->column, name);
}

static MerStatus check_version(MerYaml *map, MerError *error)
{
    MerYaml    *node = mer_yaml_get(map, "version");
    const char *version;
    if (node == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_text(node, &version, error));
    if (mer_word_list_has("0.1 0.2 0.3 0.4", version)) {
        return MER_OK;
    }
    return mer_error_set(error, MER_UNSUPPORTED,
                         "%s:%d:%d: problem version %.20s is not known, only 0.1 to 0.4",
                         node->file, node->line, node->column, version);
}

MerStatus mer_timeloop_problem(MerYaml *root, MerOp *op, MerError *error)
{
    MerYaml           *map;
    MerTimeloopProblem problem = {.error = error};
    MER_TRY(mer_yaml_need_kind(root, "problem", MER_YAML_MAP, &map, error));
    MER_TRY(check_version(map, error));
    MER_TRY(mer_yaml_need(map, "shape", &problem.shape, error));
    /* Short forms keep the sizes beside `shape`. */
    problem.instance = mer_yaml_get(map, "instance");
    problem.instance = problem.instance != NULL ? problem.instance : map;
    MER_TRY(mer_yaml_check_kind(problem.instance, MER_YAML_MAP, error));
    return problem.shape->kind == MER_YAML_MAP ? read_long(&problem, op) : read_short(&problem, op);
}

/* A line that starts with `problem:` in a file that is none of ours. */
static bool probe(const MerImportFile *file)
{
    static const char key[] = "problem:", own[] = "format: mercator-";
    bool              found = false;
    for (const char *line = file->data, *end = line + file->size; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        size_t      left = (size_t)(end - line);
        if (left >= sizeof own - 1 && memcmp(line, own, sizeof own - 1) == 0) {
            return false;
        }
        found |= left >= sizeof key - 1 && memcmp(line, key, sizeof key - 1) == 0;
        line = newline != NULL ? newline + 1 : end;
    }
    return found;
}

static MerStatus read(const MerImportFile *file, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    MerYaml *root;
    MerOp    op = mer_op_make(file->name, "problem", MER_OP_CONV);
    (void)options;
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, arena, &root, error));
    MER_TRY(mer_timeloop_problem(root, &op, error));
    MerGraph *result = mer_graph_new(file->name, arena);
    result->format = mer_importer_timeloop.name;
    mer_layer_add(result, &op);
    *graph = result;
    return mer_graph_finish(result, error);
}

const MerImporterClass mer_importer_timeloop = {
    .name = "timeloop",
    .summary = "Timeloop problems (YAML, v0.1 to v0.4): one layer",
    .endings = "yaml yml",
    .probe = probe,
    .read = read,
};
