/* Writing a loop nest as a Timeloop v0.3 problem and mapping. The letters are those of Timeloop's
 * convolution; products are written as convolutions with a window of one. */
#include "map/export/timeloop_mapping.h"

#include "map/nest/nest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "NMCPQRSG"; /* of N K C Y X R S G */

typedef struct Writer {
    const MerNestPlan *plan;
    const MerPlatform *platform;
    unsigned           dims; /* of the problem */
    FILE              *file;
} Writer;

static bool has(const Writer *writer, int dim)
{
    return writer->dims >> dim & 1;
}

/* "[[C]], [[M]]" for the dims a tensor has besides its window. */
static void write_ranks(const Writer *writer, const int *dims, int count)
{
    const char *separator = "";
    for (int i = 0; i < count; i++) {
        if (has(writer, dims[i])) {
            fprintf(writer->file, "%s[[%c]]", separator, letters[dims[i]]);
            separator = ", ";
        }
    }
}

static void write_spaces(const Writer *writer)
{
    static const int weights[] = {MER_DIM_G, MER_DIM_C, MER_DIM_K, MER_DIM_R, MER_DIM_S};
    static const int inputs[] = {MER_DIM_N, MER_DIM_G, MER_DIM_C};
    static const int outputs[] = {MER_DIM_N, MER_DIM_G, MER_DIM_K, MER_DIM_X, MER_DIM_Y};
    static const int depthwise[] = {MER_DIM_N, MER_DIM_C, MER_DIM_X, MER_DIM_Y};
    bool             is_depthwise = writer->plan->op->kind == MER_OP_DEPTHWISE;
    fprintf(writer->file, "    data-spaces:\n      - {name: Weights, projection: [");
    write_ranks(writer, weights, 5);
    fprintf(writer->file, "]}\n      - {name: Inputs, projection: [");
    write_ranks(writer, inputs, 3);
    fprintf(writer->file, ", [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, Hstride]]]}\n"
                          "      - {name: Outputs, projection: [");
    write_ranks(writer, is_depthwise ? depthwise : outputs, is_depthwise ? 4 : 5);
    fprintf(writer->file, "], read-write: True}\n");
}

static void write_problem(const Writer *writer)
{
    const MerOp *op = writer->plan->op;
    const char  *separator = "";
    fprintf(writer->file, "problem:\n  version: 0.3\n  shape:\n    name: layer\n"
                          "    dimensions: [");
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (has(writer, d)) {
            fprintf(writer->file, "%s%c", separator, letters[d]);
            separator = ", ";
        }
    }
    fprintf(writer->file,
            "]\n    coefficients: [{name: Wstride, default: 1}, {name: Hstride, default: 1}, "
            "{name: Wdilation, default: 1}, {name: Hdilation, default: 1}]\n");
    write_spaces(writer);
    fprintf(writer->file, "  instance: {");
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (has(writer, d)) {
            fprintf(writer->file, "%c: %lld, ", letters[d], (long long)op->dims[d]);
        }
    }
    fprintf(writer->file, "Wstride: %d, Hstride: %d, Wdilation: %d, Hdilation: %d}\n",
            op->stride[0], op->stride[1], op->dilation[0], op->dilation[1]);
}

static void write_factors(const Writer *writer, const int *first, const int *second)
{
    const char *separator = "";
    fprintf(writer->file, "factors: \"");
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (has(writer, d)) {
            fprintf(writer->file, "%s%c=%d", separator, letters[d],
                    first[d] * (second ? second[d] : 1));
            separator = " ";
        }
    }
    fprintf(writer->file, "\", permutation: ");
}

static void write_temporal(const Writer *writer, const MerNestLevel *level, const char *name)
{
    fprintf(writer->file, "  - {target: %s, type: temporal, ", name);
    write_factors(writer, level->temporal, NULL);
    for (int i = MER_DIM_COUNT - 1; i >= 0; i--) {
        if (has(writer, level->order[i])) {
            fputc(letters[level->order[i]], writer->file);
        }
    }
    fprintf(writer->file, "}\n");
}

/* Dims on X first: `split` says how many they are. */
static void write_spatial(const Writer *writer, const MerNestLevel *level, const char *name)
{
    int split = 0;
    fprintf(writer->file, "  - {target: %s, type: spatial, ", name);
    write_factors(writer, level->x, level->y);
    for (int on_x = 1; on_x >= 0; on_x--) {
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            if (has(writer, d) && (level->x[d] > 1) == (on_x == 1)) {
                fputc(letters[d], writer->file);
                split += on_x;
            }
        }
    }
    fprintf(writer->file, ", split: %d}\n", split);
}

static void write_tensors(const Writer *writer, const char *key, unsigned mask)
{
    static const char *const names[] = {"Weights", "Inputs", "Outputs"};
    const char              *separator = "";
    fprintf(writer->file, "%s: [", key);
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        if (mask >> t & 1) {
            fprintf(writer->file, "%s%s", separator, names[t]);
            separator = ", ";
        }
    }
    fputc(']', writer->file);
}

static void write_mapping(const Writer *writer)
{
    const MerNestPlan *plan = writer->plan;
    fprintf(writer->file, "mapping:\n");
    for (int l = plan->level_count - 1; l >= 0; l--) {
        const MerMemory    *memory = mer_nest_memory(writer->platform, l);
        const MerNestLevel *level = &plan->levels[l];
        write_temporal(writer, level, memory->name);
        if (memory->fanout.x * memory->fanout.y > 1) {
            write_spatial(writer, level, memory->name);
        }
        fprintf(writer->file, "  - {target: %s, type: datatype, ", memory->name);
        write_tensors(writer, "keep", level->keep);
        fprintf(writer->file, ", ");
        write_tensors(writer, "bypass", ~level->keep & ((1u << MER_TENSOR_COUNT) - 1));
        fprintf(writer->file, "}\n");
    }
}

/* NULL if Timeloop can say it. */
static const char *find_reason(const MerNestPlan *plan, const MerPlatform *platform,
                               MerArena *arena)
{
    if (plan->op->kind == MER_OP_TRANSPOSED) {
        return "a transposed convolution has an output that slides, which no problem of Timeloop's "
               "kinds has";
    }
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        for (int l = 0; l < plan->level_count; l++) {
            const MerNestLevel *level = &plan->levels[l];
            if (level->x[d] > 1 && level->y[d] > 1) {
                return mer_arena_format(
                    arena,
                    "%c (our %c) lies on both axes below %s, which Timeloop cannot say; map with "
                    "--axes exclusive",
                    letters[d], MER_DIM_LETTERS[d], mer_nest_memory(platform, l)->name);
            }
        }
        if (mer_nest_extent(plan, d, plan->level_count) != (double)plan->op->dims[d]) {
            return mer_arena_format(arena,
                                    "the factors of %c (our %c) run past the layer, which Timeloop "
                                    "cannot say; map with "
                                    "--factors perfect",
                                    letters[d], MER_DIM_LETTERS[d]);
        }
    }
    return NULL;
}

static unsigned problem_dims(const MerOp *op)
{
    unsigned dims = 1u << MER_DIM_N | 1u << MER_DIM_C | 1u << MER_DIM_Y | 1u << MER_DIM_X |
                    1u << MER_DIM_R | 1u << MER_DIM_S;
    dims |= op->kind == MER_OP_DEPTHWISE ? 0 : 1u << MER_DIM_K;
    return dims | (op->dims[MER_DIM_G] > 1 ? 1u << MER_DIM_G : 0);
}

const char *mer_timeloop_mapping_write(const MerNestPlan *plan, const MerPlatform *platform,
                                       const char **reason, MerArena *arena)
{
    char  *data = NULL;
    size_t size = 0;
    *reason = find_reason(plan, platform, arena);
    FILE *file = *reason ? NULL : open_memstream(&data, &size);
    if (!file) {
        return NULL;
    }
    Writer writer = {plan, platform, problem_dims(plan->op), file};
    write_problem(&writer);
    write_mapping(&writer);
    fclose(file);
    const char *text = mer_arena_text_n(arena, data, size);
    free(data);
    return text;
}
