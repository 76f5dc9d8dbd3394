/* The inputs of M3E (docs/scheduling.md, "The forms of M3E and XRBench"): `m3e-benchmark/1` JSON with its
 * tasks and groups, the original's instruction CSV without a header, and random layers with the ranges of
 * its generator. Y and X of a row are input sizes; there is no stride and no padding in that data. */
#include "schedule/jobs/jobs_import.h"

#include "mercator/rng.h"
#include "mercator/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FC, CONV, DEPTHWISE, GEMM };

bool mer_m3e_op(const int64_t row[7], const char *name, MerOp *op)
{
    int64_t kind = row[6];
    bool    is_product = kind == FC || kind == GEMM;
    for (int i = 0; i < 6; i++) {
        if (row[i] < 1 || row[i] > INT32_MAX) {
            return false;
        }
    }
    if (kind < FC || kind > GEMM || (!is_product && (row[4] > row[2] || row[5] > row[3]))) {
        return false;
    }
    *op = mer_op_make(name, "m3e",
                      is_product     ? MER_OP_GEMM
                      : kind == CONV ? MER_OP_CONV
                                     : MER_OP_DEPTHWISE);
    op->dims[MER_DIM_K] = kind == GEMM ? row[1] : row[0];
    op->dims[MER_DIM_C] = kind == GEMM ? row[2] : row[1];
    op->dims[MER_DIM_Y] = kind == GEMM ? row[0] : is_product ? 1 : row[2] - row[4] + 1;
    if (!is_product) {
        op->dims[MER_DIM_X] = row[3] - row[5] + 1;
        op->dims[MER_DIM_R] = row[4];
        op->dims[MER_DIM_S] = row[5];
        op->input_rows = row[2];
        op->input_columns = row[3];
    }
    if (kind == DEPTHWISE) {
        op->dims[MER_DIM_K] = 1;
    }
    return true;
}

static const char *name_row(const int64_t row[7], MerArena *arena)
{
    static const char *const kinds[] = {"fc", "conv", "dw", "gemm"};
    int                      sizes = row[6] == FC ? 2 : row[6] == GEMM ? 3 : 6;
    const char              *name = kinds[row[6]];
    for (int i = 0; i < sizes; i++) {
        name = mer_arena_format(arena, "%s%c%lld", name, i == 0 ? '-' : 'x', (long long)row[i]);
    }
    return name;
}

static MerStatus read_row(const MerYaml *node, int64_t row[7], MerError *error)
{
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_LIST, error));
    if (node->count != 7) {
        return mer_yaml_expected(node, error, "a row of 7 integers K, C, Y, X, R, S, T");
    }
    for (int i = 0; i < 7; i++) {
        MER_TRY(mer_yaml_int(node->items[i], 0, INT32_MAX, &row[i], error));
    }
    return MER_OK;
}

static MerStatus read_layers(MerYaml *list, MerJobBuilder *builder, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int i = 0; i < list->count; i++) {
        MerYaml *raw;
        int64_t  row[7];
        MerOp    op;
        MER_TRY(mer_yaml_need(list->items[i], "raw", &raw, error));
        MER_TRY(read_row(raw, row, error));
        if (row[6] > GEMM || !mer_m3e_op(row, name_row(row, builder->graph->arena), &op)) {
            return mer_yaml_expected(raw, error,
                                     "sizes >= 1, a filter within its image and a type 0 .. 3");
        }
        mer_jobs_add_op(builder, &op);
    }
    return MER_OK;
}

/* A job of its own, called by its number and its layer. */
static void add_job(MerJobBuilder *builder, int number, int op, int group, int row)
{
    const char *layer = builder->graph->ops[op].name;
    mer_jobs_add(builder,
                 &(MerJob){.name = mer_arena_format(builder->graph->arena, "%d.%s", number, layer),
                           .op = op,
                           .images = 1,
                           .model = -1,
                           .group = group,
                           .row = row,
                           .deadline_s = INFINITY});
}

static MerStatus read_group(const MerYaml *list, const char *name, MerJobBuilder *builder,
                            MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    if (list->count == 0) {
        return mer_yaml_expected(list, error, "at least one layer");
    }
    int group = mer_jobs_add_group(builder, name);
    for (int i = 0; i < list->count; i++) {
        int64_t layer;
        MER_TRY(mer_yaml_int(list->items[i], 0, builder->graph->op_count - 1, &layer, error));
        add_job(builder, i, (int)layer, group, (int)layer);
    }
    return MER_OK;
}

static MerStatus read_benchmark(const MerImportFile *file, MerJobBuilder *builder, MerError *error)
{
    MerArena *arena = builder->graph->arena;
    MerYaml  *root, *layers, *tasks, *groups;
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, arena, &root, error));
    MER_TRY(mer_yaml_need(root, "layer_table", &layers, error));
    MER_TRY(mer_yaml_need(root, "tasks", &tasks, error));
    MER_TRY(mer_yaml_check_kind(tasks, MER_YAML_MAP, error));
    MER_TRY(read_layers(layers, builder, error));
    for (int t = 0; t < tasks->count; t++) {
        MER_TRY(mer_yaml_need(tasks->items[t], "groups", &groups, error));
        MER_TRY(mer_yaml_check_kind(groups, MER_YAML_LIST, error));
        for (int g = 0; g < groups->count; g++) {
            const char *name = mer_arena_format(arena, "%s:%d", tasks->keys[t], g);
            MER_TRY(read_group(groups->items[g], name, builder, error));
        }
    }
    return MER_OK;
}

/* One line of nine integers: thread, layer (both never read), K, C, Y, X, R, S, T. */
static bool parse_line(const char *text, int64_t numbers[9], const char **rest)
{
    for (int i = 0; i < 9; i++) {
        char     *end;
        long long number = strtoll(text, &end, 10);
        end += strspn(end, " \t\r");
        bool is_last = i == 8;
        if (end == text || (!is_last && *end != ',') || (is_last && *end != '\n' && *end != '\0')) {
            return false;
        }
        numbers[i] = number;
        text = end + (*end != '\0');
    }
    *rest = text;
    return true;
}

static MerStatus read_csv(const MerImportFile *file, MerJobBuilder *builder, MerError *error)
{
    MerArena   *arena = builder->graph->arena;
    const char *at = file->data;
    for (int line = 1; *at != '\0'; line++) {
        int64_t numbers[9];
        MerOp   op;
        if (*at == '\n') {
            at++;
            continue;
        }
        if (!parse_line(at, numbers, &at) || numbers[8] < FC || numbers[8] > GEMM ||
            !mer_m3e_op(numbers + 2, name_row(numbers + 2, arena), &op)) {
            return mer_error_set(error, MER_INVALID,
                                 "%s:%d: expected thread,layer,K,C,Y,X,R,S,T with sizes >= 1, a "
                                 "filter within its image and "
                                 "a type 0 .. 3",
                                 file->path, line);
        }
        add_job(builder, builder->set.job_count, mer_jobs_add_op(builder, &op), -1, -1);
    }
    return MER_OK;
}

static bool is_csv(const MerImportFile *file)
{
    int64_t     numbers[9];
    const char *rest;
    return parse_line(file->data, numbers, &rest);
}

static bool probe(const MerImportFile *file)
{
    return mer_jobs_has_format(file, "m3e-benchmark/1") || is_csv(file);
}

static MerStatus read(const MerImportFile *file, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    (void)options;
    MerJobBuilder builder = mer_jobs_begin(file->name, "m3e", arena);
    MER_TRY(is_csv(file) ? read_csv(file, &builder, error) : read_benchmark(file, &builder, error));
    return mer_jobs_end(&builder, file, graph, error);
}

bool mer_jobs_is_synthetic(const char *name)
{
    return strncmp(name, "synthetic:", 10) == 0;
}

static int between(MerRng *rng, int low, int high)
{
    return low + mer_rng_below(rng, high - low + 1);
}

/* 40 % CONV, 30 % FC, 30 % GEMM. */
static void draw_row(MerRng *rng, int64_t row[7])
{
    int kind = mer_rng_below(rng, 10);
    memcpy(row, (const int64_t[7]){1, 1, 1, 1, 1, 1, FC}, 7 * sizeof *row);
    if (kind < 4) {
        row[0] = between(rng, 1, 256);
        row[1] = between(rng, 1, 256);
        row[2] = row[3] = between(rng, 3, 225);
        row[4] = row[5] = mer_rng_below(rng, 2) ? 3 : 1;
        row[6] = CONV;
    } else if (kind < 7) {
        row[0] = between(rng, 8, 512);
        row[1] = between(rng, 8, 812);
    } else {
        for (int i = 0; i < 3; i++) {
            row[i] = between(rng, 8, 128);
        }
        row[6] = GEMM;
    }
}

static MerStatus make_synthetic(const char *name, const MerImportOptions *options, MerArena *arena,
                                MerGraph **graph, MerError *error)
{
    (void)options;
    char *end;
    long  count = strtol(name + 10, &end, 10);
    long  seed = *end == ':' ? strtol(end + 1, &end, 10) : 1;
    if (*end != '\0' || count < 1 || count > 100000 || seed < 0) {
        return mer_error_set(error, MER_INVALID,
                             "workload is \"%s\", expected synthetic:N:SEED with 1 to 100000 jobs",
                             name);
    }
    MerRng        rng = mer_rng_make((uint64_t)seed, 0);
    MerImportFile file = {.path = name, .name = name};
    MerJobBuilder builder = mer_jobs_begin(name, "synthetic", arena);
    for (long i = 0; i < count; i++) {
        int64_t row[7];
        MerOp   op;
        draw_row(&rng, row);
        mer_m3e_op(row, name_row(row, arena), &op);
        add_job(&builder, (int)i, mer_jobs_add_op(&builder, &op), -1, -1);
    }
    return mer_jobs_end(&builder, &file, graph, error);
}

const MerImporterClass mer_importer_m3e = {
    .name = "m3e",
    .summary =
        "groups of jobs of M3E: m3e-benchmark/1 JSON, or instruction CSV of nine integers per line",
    .endings = "json csv",
    .probe = probe,
    .read = read,
    .knows = mer_jobs_is_synthetic,
    .make = make_synthetic,
};
