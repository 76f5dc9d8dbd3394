/* `mercator evaluate --quantise KIND FILE.json`: what a quantiser makes of given numbers, and its gradients, by the code that trains.
 *
 *     {"x": [[0.1, -0.3], [0.7, 0.2]], "scale": 0.5, "gradient": [[1, 1], [1, 1]]}
 *
 * docs/channel-split-training.md has the keys. */
#include "split/train/train_net.h"

#include "mercator/export.h"
#include "mercator/json.h"

#include <string.h>

enum { MOST_RANK = 4 };

typedef struct Numbers { /* rows of equal length, in the order of the file */
    int    rank, shape[MOST_RANK];
    int    size;
    float *values;
} Numbers;

typedef struct Case {
    const MerInspection *file;
    Numbers              x, scale, gradient; /* size 0: not given */
    double               clip, unit;
    bool                 is_signed, is_authors;
    MerTape             *tape;
    MerParameters       *parameters;
} Case;

/* ---- reading */

static MerStatus read_shape(const MerYaml *node, Numbers *numbers, MerError *error)
{
    numbers->size = 1;
    for (numbers->rank = 0; node->kind == MER_YAML_LIST; node = node->items[0]) {
        if (numbers->rank == MOST_RANK || node->count == 0) {
            return mer_yaml_expected(node, error, "numbers, in lists at most %d deep", MOST_RANK);
        }
        numbers->shape[numbers->rank++] = node->count;
        numbers->size *= node->count;
    }
    return MER_OK;
}

static MerStatus read_values(const MerYaml *node, const Numbers *numbers, int depth, float **next,
                             MerError *error)
{
    double value = 0;
    if (depth == numbers->rank) {
        MER_TRY(mer_yaml_real(node, -1e30, 1e30, &value, error));
        *(*next)++ = (float)value;
        return MER_OK;
    }
    if (node->kind != MER_YAML_LIST || node->count != numbers->shape[depth]) {
        return mer_yaml_expected(node, error, "a list of %d, like the first one",
                                 numbers->shape[depth]);
    }
    for (int i = 0; i < node->count; i++) {
        MER_TRY(read_values(node->items[i], numbers, depth + 1, next, error));
    }
    return MER_OK;
}

/* NULL: none. */
static MerStatus read_numbers(const MerYaml *node, Numbers *numbers, MerArena *arena,
                              MerError *error)
{
    if (node == NULL) {
        return MER_OK;
    }
    MER_TRY(read_shape(node, numbers, error));
    numbers->values = MER_ARRAY(arena, float, numbers->size + 1);
    float *next = numbers->values;
    return read_values(node, numbers, 0, &next, error);
}

static MerStatus read_settings(Case *c, MerYaml *root, MerError *error)
{
    MerArena *arena = c->file->arena;
    MER_TRY(read_numbers(mer_yaml_get(root, "scale"), &c->scale, arena, error));
    MER_TRY(read_numbers(mer_yaml_get(root, "gradient"), &c->gradient, arena, error));
    MER_TRY(mer_yaml_get_real(root, "clip", 1e-30, 1e30, &c->clip, error));
    MER_TRY(mer_yaml_get_real(root, "unit", 1e-30, 1e30, &c->unit, error));
    MER_TRY(mer_yaml_get_bool(root, "signed", &c->is_signed, error));
    MER_TRY(mer_yaml_get_bool(root, "authors", &c->is_authors, error));
    return mer_yaml_finish(root, error);
}

/* A map, or the numbers alone. */
static MerStatus read_case(Case *c, MerError *error)
{
    const MerInspection *file = c->file;
    MerYaml             *root, *x;
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, file->arena, &root, error));
    x = root;
    if (root->kind == MER_YAML_MAP) {
        MER_TRY(mer_yaml_need(root, "x", &x, error));
        MER_TRY(read_settings(c, root, error));
    }
    MER_TRY(read_numbers(x, &c->x, file->arena, error));
    if (c->gradient.size > 0 && c->gradient.size != c->x.size) {
        return mer_yaml_error(x, error, "gradient has %d numbers, expected %d as x",
                              c->gradient.size, c->x.size);
    }
    return MER_OK;
}

/* ---- computing */

static MerTensor *parameter(const Case *c, const char *name, int rank, const int *shape,
                            const float *values)
{
    MerTensor *t = mer_parameters_add(c->parameters, name, rank, shape);
    memcpy(t->data, values, (size_t)t->size * sizeof *values);
    return t;
}

static MerTensor *weights_of(const Case *c)
{
    int rows = c->x.rank > 1 ? c->x.shape[0] : 1;
    return parameter(c, "x", 2, (int[]){rows, c->x.size / rows}, c->x.values);
}

/* s as it was given, or as training starts. */
static MerStatus scale_of(const Case *c, const MerTensor *x, bool is_by_row, MerTensor **scale,
                          MerError *error)
{
    int    rows = x->shape[0], wanted = is_by_row ? rows : 1;
    int    kernel = c->x.rank == 4 ? c->x.shape[2] * c->x.shape[3] : 1;
    float *values = MER_ARRAY(c->file->arena, float, rows + 1);
    if (c->scale.size > 1 && c->scale.size != wanted) {
        return mer_error_set(error, MER_INVALID, "%s: scale has %d numbers, expected %d of %s",
                             c->file->path, c->scale.size, wanted, c->file->kind);
    }
    if (c->scale.size == 0) {
        mer_train_start_scale(c->file->kind, x->data, rows, x->shape[1], kernel, c->is_authors,
                              values);
    }
    for (int r = 0; c->scale.size > 0 && r < wanted; r++) {
        values[r] = c->scale.values[c->scale.size > 1 ? r : 0];
    }
    *scale = parameter(c, "scale", 1, &wanted, values);
    return MER_OK;
}

static void write(MerJson *json, const char *key, const float *values, int64_t count)
{
    mer_json_array(json, key);
    for (int64_t i = 0; i < count; i++) {
        mer_json_real(json, NULL, values != NULL ? (double)values[i] : 0);
    }
    mer_json_end_array(json);
}

/* The sum of y times what comes from behind (ones, if nothing was given) sends exactly that back. */
static MerStatus send_back(const Case *c, MerTensor *y, MerError *error)
{
    MerTensor *from_behind = mer_tape_tensor(c->tape, y->rank, y->shape);
    for (int64_t i = 0; i < y->size; i++) {
        from_behind->data[i] = c->gradient.size > 0 ? c->gradient.values[i] : 1;
    }
    return mer_tape_backward(
        c->tape, mer_tensor_sum(c->tape, mer_tensor_mul(c->tape, y, from_behind)), error);
}

static MerStatus quantise_weights(const Case *c, MerQuantiser *q, bool is_by_row, MerJson *json,
                                  MerError *error)
{
    MerTensor *x = weights_of(c);
    MER_TRY(scale_of(c, x, is_by_row, &q->scale, error));
    MerTensor *y = mer_tensor_mixture(c->tape, x, NULL, 1, q);
    float     *e = MER_ARRAY(c->file->arena, float, q->scale->size + 1);
    for (int r = 0; r < q->scale->size; r++) {
        e[r] = mer_quantiser_e(q, r);
    }
    MER_TRY(send_back(c, y, error));
    write(json, "scale", q->scale->data, q->scale->size);
    write(json, "e", e, q->scale->size);
    write(json, "y", y->data, y->size);
    write(json, "dx", x->grad, x->size);
    write(json, "dscale", q->scale->grad, q->scale->size);
    return MER_OK;
}

static MerStatus quantise_activations(const Case *c, MerJson *json, MerError *error)
{
    float      clip = (float)c->clip;
    int        low = c->is_signed ? -(MER_TRAIN_LEVELS + 1) / 2 : 0;
    int        high = c->is_signed ? MER_TRAIN_LEVELS / 2 : MER_TRAIN_LEVELS;
    MerTensor *x = parameter(c, "x", 2, (int[]){1, c->x.size}, c->x.values);
    MerTensor *limit = parameter(c, "clip", 1, (int[]){1}, &clip);
    MerTensor *y = mer_tensor_staircase(c->tape, x, limit, low, high);
    MER_TRY(send_back(c, y, error));
    double S = mer_staircase_scale(clip, high);
    mer_json_real(json, "S", S);
    mer_json_real(json, "snapped_clip", high / S);
    write(json, "y", y->data, y->size);
    write(json, "dx", x->grad, x->size);
    write(json, "dclip", limit->grad, 1);
    return MER_OK;
}

/* 16 bits of a given unit. */
static MerStatus quantise_bias(const Case *c, MerJson *json, MerError *error)
{
    float        unit = (float)c->unit;
    MerTensor   *x = parameter(c, "x", 2, (int[]){1, c->x.size}, c->x.values);
    MerTensor   *scale = parameter(c, "unit", 1, (int[]){1}, &unit);
    MerQuantiser q = {{1, -32768, 32767}, MER_SCALE_DIRECT, scale};
    MerTensor   *y = mer_tensor_mixture(c->tape, x, NULL, 1, &q);
    MER_TRY(send_back(c, y, error));
    write(json, "y", y->data, y->size);
    write(json, "dx", x->grad, x->size);
    return MER_OK;
}

static MerStatus quantise(const Case *c, MerJson *json, MerError *error)
{
    const char  *kind = c->file->kind;
    MerQuantiser q;
    bool         is_by_row;
    if (mer_train_format(kind, &q.format, &q.rule, &is_by_row)) {
        return quantise_weights(c, &q, is_by_row, json, error);
    }
    if (mer_name_equal(kind, "pact-pow2")) {
        return quantise_activations(c, json, error);
    }
    if (mer_name_equal(kind, "bias")) {
        return quantise_bias(c, json, error);
    }
    return mer_error_set(error, MER_INVALID,
                         "--quantise is \"%s\", expected int8-pow2, int8-pow2-exact, int8, int4, "
                         "int2, ternary, pact-pow2 or bias",
                         kind);
}

static MerStatus print(const MerInspection *file, MerError *error)
{
    Case    c = {.file = file, .clip = 6, .unit = 1};
    MerJson json = {0};
    MER_TRY(read_case(&c, error));
    c.tape = mer_tape_new(&mer_backend_plain, NULL);
    c.parameters = mer_parameters_new();
    mer_json_object(&json, NULL);
    mer_json_text(&json, "kind", file->kind);
    MerStatus status = quantise(&c, &json, error);
    mer_json_end_object(&json);
    if (status == MER_OK) {
        fprintf(file->out, "%s\n", json.text);
    }
    mer_json_free(&json);
    mer_parameters_free(c.parameters);
    mer_tape_free(c.tape);
    return status;
}

static bool probe(const MerInspection *file)
{
    return file->kind != NULL;
}

const MerInspectorClass mer_inspector_quantise = {
    .name = "quantise",
    .summary = "outputs and gradients of a quantiser of weights (int8-pow2, ternary, ...), "
               "activations (pact-pow2) or biases for the numbers in FILE",
    .endings = "json",
    .flag = "quantise",
    .probe = probe,
    .print = print,
};
