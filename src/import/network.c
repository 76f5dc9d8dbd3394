/* Networks of convolutions as short lists of blocks (`mercator-network/1`, docs/importing.md): plain and residual
 * blocks, depthwise-separable ones, pools and a linear layer. Sizes are numbers or names of dims, so that one file is a
 * network for any image: `resnet8:1x28x28:10`, `mobilenet_v1:3x32x32:10:f=8:stem_stride=1`. Weights have no values. */
#include "base/file.h"
#include "mercator/import.h"
#include "mercator/option.h"
#include "mercator/text.h"
#include "mercator/yaml.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZE = 1 << 20, MOST_BLOCKS = 1000, MOST_DIMS = 16 };

typedef struct Dim {
    const char *name;
    int64_t     size;
} Dim;

typedef struct Builder {
    MerGraph *graph;
    int       dim_count;
    Dim       dims[MOST_DIMS];
    int       value;                   /* that the next layer reads */
    int64_t   channels, height, width; /* of it; height 0: a vector */
    int       conv_count;
} Builder;

typedef struct Window {
    int64_t kernel[2], stride[2], padding[2];
} Window;

/* ---- sizes */

static Dim *find_dim(Builder *b, const char *name, size_t length)
{
    for (int i = 0; i < b->dim_count; i++) {
        if (strlen(b->dims[i].name) == length && strncmp(b->dims[i].name, name, length) == 0) {
            return &b->dims[i];
        }
    }
    return NULL;
}

/* `16`, `classes` or `4*f`. */
static MerStatus size_of(Builder *b, const MerYaml *node, int64_t low, int64_t *size,
                         MerError *error)
{
    const char *text, *star;
    int64_t     factor = 1;
    MER_TRY(mer_yaml_text(node, &text, error));
    star = strchr(text, '*');
    if (star != NULL) {
        char *end;
        factor = strtol(text, &end, 10);
        text = end == star ? star + 1 : "";
    }
    const Dim *dim = find_dim(b, text, strlen(text));
    if (dim == NULL && star == NULL) {
        return mer_yaml_int(node, low, MOST_SIZE, size, error);
    }
    if (dim == NULL || factor < 1 || factor > MOST_SIZE || factor * dim->size < low ||
        factor * dim->size > MOST_SIZE) {
        return mer_yaml_expected(node, error, "a size, the name of one of `dims`, or 4*NAME");
    }
    *size = factor * dim->size;
    return MER_OK;
}

static MerStatus get_size(Builder *b, MerYaml *map, const char *key, int64_t low, int64_t *size,
                          MerError *error)
{
    MerYaml *node = mer_yaml_get(map, key);
    return node != NULL ? size_of(b, node, low, size, error) : MER_OK;
}

/* One size for both directions, or [rows, columns]. */
static MerStatus get_pair(Builder *b, MerYaml *map, const char *key, int64_t low, int64_t pair[2],
                          MerError *error)
{
    MerYaml *node = mer_yaml_get(map, key);
    if (node == NULL) {
        return MER_OK;
    }
    if (node->kind != MER_YAML_LIST) {
        MER_TRY(size_of(b, node, low, &pair[0], error));
        pair[1] = pair[0];
        return MER_OK;
    }
    if (node->count != 2) {
        return mer_yaml_expected(node, error, "one size or [rows, columns]");
    }
    MER_TRY(size_of(b, node->items[0], low, &pair[0], error));
    return size_of(b, node->items[1], low, &pair[1], error);
}

static MerStatus get_window(Builder *b, MerYaml *map, int64_t kernel, int64_t stride, Window *w,
                            MerError *error)
{
    *w = (Window){{kernel, kernel}, {stride, stride}, {0, 0}};
    MER_TRY(get_pair(b, map, "kernel", 1, w->kernel, error));
    MER_TRY(get_pair(b, map, "stride", 1, w->stride, error));
    w->padding[0] = w->kernel[0] / 2;
    w->padding[1] = w->kernel[1] / 2;
    MER_TRY(get_pair(b, map, "padding", 0, w->padding, error));
    const int64_t size[2] = {b->height, b->width};
    for (int i = 0; i < 2; i++) {
        if (size[i] + 2 * w->padding[i] < w->kernel[i]) {
            return mer_yaml_error(
                map, error,
                "a kernel of %lld x %lld on an image of %lld x %lld, expected a smaller one",
                (long long)w->kernel[0], (long long)w->kernel[1], (long long)size[0],
                (long long)size[1]);
        }
    }
    return MER_OK;
}

/* ---- operators */

static int new_value(Builder *b, const char *name, MerValueRole role, int rank, const int64_t *dims)
{
    MerValue value = {.name = name, .type = MER_TYPE_FLOAT32, .role = role, .rank = rank};
    memcpy(value.dims, dims, (size_t)rank * sizeof *dims);
    return mer_graph_add_value(b->graph, &value);
}

static const char *part(Builder *b, const char *name, const char *what)
{
    return mer_arena_format(b->graph->arena, "%s.%s", name, what);
}

static const char *joined(Builder *b, const char *name, const char *what)
{
    return mer_arena_format(b->graph->arena, "%s%s", name, what);
}

static void add_op(Builder *b, MerOp op, int input_count, int *inputs)
{
    int64_t dims[4] = {1, b->channels, b->height, b->width};
    int     output =
        new_value(b, part(b, op.name, "out"), MER_VALUE_ACTIVATION, b->height > 0 ? 4 : 2, dims);
    op.input_count = input_count;
    op.inputs = inputs;
    op.output_count = 1;
    op.outputs = &output;
    mer_graph_add_op(b->graph, &op);
    b->value = output;
}

static void add_simple(Builder *b, const char *name, const char *source, MerOpKind kind)
{
    add_op(b, mer_op_make(name, source, kind), 1, (int[]){b->value});
}

static int64_t windows(int64_t size, const Window *w, int axis)
{
    return (size + 2 * w->padding[axis] - w->kernel[axis]) / w->stride[axis] + 1;
}

static void set_window(MerOp *op, Builder *b, const Window *w)
{
    op->input_rows = b->height;
    op->input_columns = b->width;
    for (int i = 0; i < 2; i++) {
        op->stride[i] = (int)w->stride[i];
        op->pad[i] = op->pad[i + 2] = (int)w->padding[i];
    }
    b->height = windows(b->height, w, 0);
    b->width = windows(b->width, w, 1);
}

static void add_conv(Builder *b, const char *name, int64_t channels, const Window *w,
                     bool is_depthwise)
{
    MerOp   op = mer_op_make(name, "Conv", is_depthwise ? MER_OP_DEPTHWISE : MER_OP_CONV);
    int64_t shape[4] = {channels, is_depthwise ? 1 : b->channels, w->kernel[0], w->kernel[1]};
    int inputs[2] = {b->value, new_value(b, part(b, name, "weight"), MER_VALUE_WEIGHT, 4, shape)};
    op.dims[MER_DIM_C] = b->channels;
    op.dims[MER_DIM_K] = is_depthwise ? 1 : channels;
    op.dims[MER_DIM_R] = w->kernel[0];
    op.dims[MER_DIM_S] = w->kernel[1];
    set_window(&op, b, w);
    op.dims[MER_DIM_Y] = b->height;
    op.dims[MER_DIM_X] = b->width;
    b->channels = channels;
    add_op(b, op, 2, inputs);
}

static void add_norm(Builder *b, const char *name)
{
    static const char *const parts[] = {"scale", "shift", "mean", "variance"};
    int                      inputs[5] = {b->value};
    for (int i = 0; i < 4; i++) {
        inputs[i + 1] = new_value(b, part(b, name, parts[i]), MER_VALUE_WEIGHT, 1, &b->channels);
    }
    add_op(b, mer_op_make(part(b, name, "norm"), "BatchNormalization", MER_OP_NORM), 5, inputs);
}

static void add_relu(Builder *b, const char *name)
{
    add_simple(b, part(b, name, "relu"), "Relu", MER_OP_ELEMENTWISE);
}

static void add_conv_norm(Builder *b, const char *name, int64_t channels, const Window *w,
                          bool is_depthwise, bool has_relu)
{
    add_conv(b, name, channels, w, is_depthwise);
    add_norm(b, name);
    if (has_relu) {
        add_relu(b, name);
    }
}

/* ---- blocks */

static MerStatus need_image(const Builder *b, const MerYaml *map, MerError *error)
{
    return b->height > 0 ? MER_OK : mer_yaml_error(map, error, "a vector here, expected an image");
}

static MerStatus get_name(Builder *b, MerYaml *map, const char *initial, const char **name,
                          MerError *error)
{
    *name = initial;
    MER_TRY(mer_yaml_get_text(map, "name", name, error));
    *name = mer_arena_text(b->graph->arena, *name);
    return MER_OK;
}

static MerStatus read_conv(Builder *b, MerYaml *map, MerError *error)
{
    Window      w;
    int64_t     channels = b->channels;
    const char *name;
    MER_TRY(get_name(b, map, mer_arena_format(b->graph->arena, "conv%d", ++b->conv_count), &name,
                     error));
    MER_TRY(get_size(b, map, "channels", 1, &channels, error));
    MER_TRY(get_window(b, map, 3, 1, &w, error));
    add_conv_norm(b, name, channels, &w, false, true);
    return MER_OK;
}

/* Two 3x3 convolutions beside the input, or beside a 1x1 convolution of it where the shapes differ (He et al., CVPR
 * 2016). */
static void add_residual(Builder *b, const char *name, int64_t channels, int64_t stride,
                         bool has_shortcut_norm)
{
    int     input = b->value, body;
    int64_t in_channels = b->channels, height = b->height, width = b->width;
    Window  first = {{3, 3}, {stride, stride}, {1, 1}}, second = {{3, 3}, {1, 1}, {1, 1}};
    Window  shortcut = {{1, 1}, {stride, stride}, {0, 0}};
    add_conv_norm(b, joined(b, name, "c1"), channels, &first, false, true);
    add_conv_norm(b, joined(b, name, "c2"), channels, &second, false, false);
    body = b->value;
    if (stride != 1 || in_channels != channels) {
        b->value = input;
        b->channels = in_channels;
        b->height = height;
        b->width = width;
        add_conv(b, joined(b, name, "ds"), channels, &shortcut, false);
        if (has_shortcut_norm) {
            add_norm(b, joined(b, name, "ds"));
        }
        input = b->value;
    }
    add_op(b, mer_op_make(part(b, name, "add"), "Add", MER_OP_ELEMENTWISE), 2,
           (int[]){body, input});
    add_relu(b, name);
}

static MerStatus read_residual(Builder *b, MerYaml *map, MerError *error)
{
    int64_t     channels = b->channels, blocks = 1, stride = 1;
    bool        has_shortcut_norm = true;
    const char *name;
    MER_TRY(get_name(b, map, "s", &name, error));
    MER_TRY(get_size(b, map, "channels", 1, &channels, error));
    MER_TRY(get_size(b, map, "blocks", 1, &blocks, error));
    MER_TRY(get_size(b, map, "stride", 1, &stride, error));
    MER_TRY(mer_yaml_get_bool(map, "shortcut_norm", &has_shortcut_norm, error));
    if (blocks > MOST_BLOCKS) {
        return mer_yaml_error(map, error, "%lld blocks, expected at most %d", (long long)blocks,
                              MOST_BLOCKS);
    }
    for (int i = 0; i < blocks; i++) {
        add_residual(b, mer_arena_format(b->graph->arena, "%sb%d", name, i), channels,
                     i == 0 ? stride : 1, has_shortcut_norm);
    }
    return MER_OK;
}

/* A depthwise and a pointwise convolution (Howard et al., 2017). */
static MerStatus read_separable(Builder *b, MerYaml *map, MerError *error)
{
    int64_t     channels = b->channels;
    Window      w, point = {{1, 1}, {1, 1}, {0, 0}};
    const char *name;
    MER_TRY(get_name(b, map, "sep", &name, error));
    MER_TRY(get_size(b, map, "channels", 1, &channels, error));
    MER_TRY(get_window(b, map, 3, 1, &w, error));
    add_conv_norm(b, part(b, name, "dw"), b->channels, &w, true, true);
    add_conv_norm(b, part(b, name, "pw"), channels, &point, false, true);
    return MER_OK;
}

static MerStatus read_max(Builder *b, MerYaml *map, MerError *error)
{
    Window      w;
    const char *name;
    MER_TRY(get_name(b, map, "pool", &name, error));
    MER_TRY(get_window(b, map, 3, 2, &w, error));
    MerOp op = mer_op_make(name, "MaxPool", MER_OP_POOL);
    op.dims[MER_DIM_R] = 1;
    set_window(&op, b, &w);
    /* the kernel of a pool has no place in an operator: it follows from the sizes, as for ONNX */
    add_op(b, op, 1, (int[]){b->value});
    return MER_OK;
}

static MerStatus read_average(Builder *b, MerYaml *map, MerError *error)
{
    const char *name;
    MER_TRY(get_name(b, map, "average", &name, error));
    b->height = b->width = 1;
    add_simple(b, name, "GlobalAveragePool", MER_OP_POOL);
    b->height = b->width = 0;
    add_simple(b, "flatten", "Flatten", MER_OP_MOVE);
    return MER_OK;
}

static MerStatus read_linear(Builder *b, MerYaml *map, MerError *error)
{
    const char *name;
    int64_t     channels = 0;
    MER_TRY(get_name(b, map, "fc", &name, error));
    MerYaml *size;
    MER_TRY(mer_yaml_need(map, "channels", &size, error));
    MER_TRY(size_of(b, size, 1, &channels, error));
    if (b->height > 0) {
        return mer_yaml_error(map, error,
                              "an image here, expected `average` before a linear layer");
    }
    int64_t shape[2] = {channels, b->channels};
    int   inputs[3] = {b->value, new_value(b, part(b, name, "weight"), MER_VALUE_WEIGHT, 2, shape),
                       new_value(b, part(b, name, "bias"), MER_VALUE_WEIGHT, 1, &channels)};
    MerOp op = mer_op_make(name, "Gemm", MER_OP_GEMM);
    op.dims[MER_DIM_C] = b->channels;
    op.dims[MER_DIM_K] = channels;
    b->channels = channels;
    add_op(b, op, 3, inputs);
    return MER_OK;
}

typedef struct Block {
    const char *name;
    MerStatus (*read)(Builder *b, MerYaml *map, MerError *error);
    bool on_image;
} Block;

static const Block blocks[] = {
    {"conv", read_conv, true},           {"residual", read_residual, true},
    {"separable", read_separable, true}, {"max", read_max, true},
    {"average", read_average, true},     {"linear", read_linear, false}};

/* `heights: [low, high]`: only for images of such a height, for stems that depend on it. */
static MerStatus is_for_this_image(Builder *b, MerYaml *map, bool *is_wanted, MerError *error)
{
    int64_t    height = 1, range[2] = {1, MOST_SIZE};
    const Dim *dim = find_dim(b, "height", 6);
    height = dim != NULL ? dim->size : height;
    MER_TRY(get_pair(b, map, "heights", 1, range, error));
    *is_wanted = height >= range[0] && height <= range[1];
    return MER_OK;
}

static MerStatus read_block(Builder *b, MerYaml *node, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    const Block *block = NULL;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks && node->count == 1; i++) {
        block = mer_name_equal(node->keys[0], blocks[i].name) ? &blocks[i] : block;
    }
    if (block == NULL) {
        return mer_yaml_error(node, error,
                              "expected one of conv, residual, separable, max, average, linear");
    }
    MerYaml *map = mer_yaml_get(node, block->name);
    bool     is_wanted;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(is_for_this_image(b, map, &is_wanted, error));
    if (!is_wanted) {
        return MER_OK;
    }
    MER_TRY(block->on_image ? need_image(b, map, error) : MER_OK);
    MER_TRY(block->read(b, map, error));
    return mer_yaml_finish(map, error);
}

/* ---- files and names */

static MerStatus read_dims(Builder *b, MerYaml *map, const MerImportOptions *options,
                           MerError *error)
{
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    if (map->count > MOST_DIMS) {
        return mer_yaml_expected(map, error, "at most %d dims", MOST_DIMS);
    }
    for (int i = 0; i < map->count; i++) {
        Dim *dim = &b->dims[b->dim_count++];
        dim->name = map->keys[i];
        MER_TRY(mer_yaml_int(map->items[i], 1, MOST_SIZE, &dim->size, error));
        mer_yaml_get(map, map->keys[i]);
    }
    for (int i = 0; options != NULL && i < options->dim_count; i++) {
        const MerDimBinding *given = &options->dims[i];
        Dim                 *dim = find_dim(b, given->name, strlen(given->name));
        if (dim == NULL || given->size < 1 || given->size > MOST_SIZE) {
            return mer_error_set(
                error, MER_INVALID,
                "%s: dim %s is %lld, expected one of the file's `dims` and 1 to %d", map->file,
                given->name, (long long)given->size, MOST_SIZE);
        }
        dim->size = given->size;
    }
    return MER_OK;
}

static MerStatus add_input(Builder *b, MerYaml *dims, MerError *error)
{
    int64_t                  shape[4] = {1};
    static const char *const names[] = {"channels", "height", "width"};
    for (int i = 0; i < 3; i++) {
        const Dim *dim = find_dim(b, names[i], strlen(names[i]));
        if (dim == NULL) {
            return mer_yaml_error(dims, error, "no dim %s, expected channels, height and width",
                                  names[i]);
        }
        shape[i + 1] = dim->size;
    }
    b->channels = shape[1];
    b->height = shape[2];
    b->width = shape[3];
    b->value = new_value(b, "input", MER_VALUE_INPUT, 4, shape);
    return MER_OK;
}

static MerStatus read_network(const MerImportFile *file, const MerImportOptions *options,
                              MerArena *arena, MerGraph **graph, MerError *error)
{
    MerYaml *root, *dims, *layers;
    Builder  b = {.graph = mer_graph_new(file->name, arena)};
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, arena, &root, error));
    MER_TRY(mer_yaml_format(root, "network", 1, error));
    MER_TRY(mer_yaml_need(root, "dims", &dims, error));
    MER_TRY(mer_yaml_need(root, "layers", &layers, error));
    MER_TRY(mer_yaml_finish(root, error));
    MER_TRY(read_dims(&b, dims, options, error));
    MER_TRY(add_input(&b, dims, error));
    MER_TRY(mer_yaml_check_kind(layers, MER_YAML_LIST, error));
    for (int i = 0; i < layers->count; i++) {
        MER_TRY(read_block(&b, layers->items[i], error));
    }
    if (b.graph->op_count == 0) {
        return mer_yaml_error(layers, error, "no layers, expected at least one");
    }
    b.graph->values[b.value].is_output = true;
    b.graph->format = "network";
    *graph = b.graph;
    return mer_graph_finish(b.graph, error);
}

static bool is_network(const MerImportFile *file)
{
    return strstr(file->data, "format: mercator-network/") != NULL;
}

/* The length of a whole number at `text`, 0: none. */
static size_t digits(const char *text)
{
    size_t length = 0;
    while (isdigit((unsigned char)text[length])) {
        length++;
    }
    return length < 8 ? length : 0;
}

/* The length of `3x32x32`, 0: it is something else. */
static size_t image_size(const char *text)
{
    size_t length = 0;
    for (int i = 0; i < 3; i++) {
        size_t number = digits(text + length);
        length += number;
        if (number == 0 || (i < 2 && text[length++] != 'x')) {
            return 0;
        }
    }
    return text[length] == '\0' || text[length] == ':' ? length : 0;
}

static bool knows(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon != NULL && colon != name && strpbrk(name, "/.") == NULL &&
           image_size(colon + 1) > 0;
}

static MerStatus fail_suffix(const char *name, MerError *error)
{
    return mer_error_set(error, MER_INVALID,
                         "%s: expected NAME:CHANNELSxHEIGHTxWIDTH[:CLASSES][:DIM=SIZE]...", name);
}

/* `:1x28x28:10:f=8` into dims. */
static MerStatus parse_suffix(const char *name, const char *text, MerDimBinding *dims, int *count,
                              MerArena *arena, MerError *error)
{
    static const char *const image[] = {"channels", "height", "width"};
    const char              *at = text;
    for (int i = 0; i < 3; i++, at++) {
        dims[(*count)++] = (MerDimBinding){image[i], strtol(at, (char **)&at, 10)};
    }
    for (at--; *at == ':';) {
        const char *word = ++at, *equals = NULL;
        for (; *at != '\0' && *at != ':'; at++) {
            equals = *at == '=' && equals == NULL ? at : equals;
        }
        const char *number = equals != NULL ? equals + 1 : word;
        size_t      length = digits(number);
        if (length == 0 || number + length != at || *count == MOST_DIMS) {
            return fail_suffix(name, error);
        }
        const char *dim =
            equals != NULL ? mer_arena_text_n(arena, word, (size_t)(equals - word)) : "classes";
        dims[(*count)++] = (MerDimBinding){dim, strtol(number, NULL, 10)};
    }
    return *at == '\0' ? MER_OK : fail_suffix(name, error);
}

static MerStatus make(const char *name, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    const char      *colon = strchr(name, ':');
    const char      *base = mer_arena_text_n(arena, name, (size_t)(colon - name));
    const char      *path = mer_data_path("models", base, ".network", arena);
    MerDimBinding    dims[2 * MOST_DIMS];
    MerImportOptions with = options != NULL ? *options : (MerImportOptions){0};
    int              count = 0;
    char            *data;
    MER_TRY(parse_suffix(name, colon + 1, dims, &count, arena, error));
    for (int i = 0; i < with.dim_count && count < 2 * MOST_DIMS; i++) {
        dims[count++] = with.dims[i];
    }
    with.dims = dims;
    with.dim_count = count;
    if (path == NULL) {
        return mer_error_set(error, MER_NOT_FOUND, "there is no built-in network \"%s\" of %s",
                             base, name);
    }
    MerImportFile file = {.path = path, .name = mer_arena_text(arena, name)};
    MER_TRY(mer_file_read(path, INT_MAX, arena, &data, &file.size, error));
    file.data = data;
    if (!is_network(&file)) {
        return mer_error_set(error, MER_INVALID,
                             "%s: %s is no network of blocks, expected format: mercator-network/1",
                             name, path);
    }
    return read_network(&file, &with, arena, graph, error);
}

const MerImporterClass mer_importer_network = {
    .name = "network",
    .summary = "networks of blocks (mercator-network/1), NAME:CxHxW:CLASSES for other images",
    .endings = "network",
    .probe = is_network,
    .read = read_network,
    .knows = knows,
    .make = make,
};
