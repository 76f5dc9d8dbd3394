/* The template of native kernels: a direct convolution on blocked arrays.
 * Input (C/b, rows, columns, b) with its padding, output (K/v, rows, columns, v), weights grouped by register
 * tile (K/(v*t), C/b, R, S, b, v*t). A register tile of t vectors x rows x columns takes one broadcast of the
 * input and t vectors of weights per t multiply-adds; three loops over cache tiles go around it in any order. */
#include "codesign/native/kernel.h"

typedef struct Emit {
    const MerKernelShape *shape;
    const MerKernel      *kernel;
    MerKernelSizes        sizes;
    const char           *name;
    FILE                 *file;
} Emit;

/* Sizes of one dimension that is cut into register tiles: the full ones, and what is left over. */
typedef struct Cut {
    int tile, full, rest;
} Cut;

static Cut cut(int size, int tile)
{
    tile = tile < size ? tile : size;
    return (Cut){tile, size / tile, size % tile};
}

typedef enum Line { DECLARE, CLEAR, LOAD, STORE } Line;

/* One line per accumulator; each is a variable of its own, so that the compiler keeps it in a register. */
static void emit_accumulators(const Emit *e, Line line, int k, int y, int x)
{
    for (int i = 0; i < k * y * x; i++) {
        long long plane = (long long)e->shape->rows * e->shape->columns;
        long long pixel = (long long)(i / x % y) * e->shape->columns + i % x;
        long long at = (i / (y * x) * plane + pixel) * e->sizes.lanes;
        switch (line) {
        case DECLARE:
            fprintf(e->file, "    vec a%d;\n", i);
            break;
        case CLEAR:
            fprintf(e->file, "        a%d = (vec){0};\n", i);
            break;
        case LOAD:
            fprintf(e->file, "        a%d = *(const vec *)(output + %lld);\n", i, at);
            break;
        case STORE:
            fprintf(e->file, "    *(vec *)(output + %lld) = a%d;\n", at, i);
            break;
        }
    }
}

/* One input channel under one column of the filter. */
static void emit_step(const Emit *e, int k, int y, int x, int column, int channel)
{
    const MerKernelShape *s = e->shape;
    int                   b = e->sizes.ci_lanes;
    /* Without the barrier the compiler keeps inputs of one step for the next, and spills accumulators. */
    fprintf(e->file, "        __asm__ volatile(\"\" : : : \"memory\");\n");
    for (int i = 0; i < k; i++) {
        fprintf(e->file, "        w%d = *(const vec *)(g + %d);\n", i,
                ((column * b + channel) * k + i) * e->sizes.lanes);
    }
    for (int i = 0; i < y * x; i++) {
        long long pixel = (long long)(i / x) * s->stride[0] * e->sizes.width +
                          (long long)(i % x) * s->stride[1] + (long long)column * s->dilation[1];
        fprintf(e->file, "        v = q[%lld];", pixel * b + channel);
        for (int j = 0; j < k; j++) {
            fprintf(e->file, " a%d += w%d * v;", j * y * x + i, j);
        }
        fprintf(e->file, "\n");
    }
}

/* One register tile: sums over `count` blocks of input channels and over the filter. */
static void emit_tile(const Emit *e, int k, int y, int x)
{
    const MerKernelShape *s = e->shape;
    const MerKernel      *p = e->kernel;
    int                   b = e->sizes.ci_lanes, step = k * e->sizes.lanes;
    int                   copies = p->unroll_columns ? s->kernel[1] : 1;
    fprintf(e->file,
            "static __attribute__((noinline)) void tile_%d_%d_%d(\n"
            "    const float *restrict input, const float *restrict f, float *restrict output,\n"
            "    long count, int is_first)\n{\n",
            k, y, x);
    emit_accumulators(e, DECLARE, k, y, x);
    fprintf(e->file, "    if (is_first) {\n");
    emit_accumulators(e, CLEAR, k, y, x);
    fprintf(e->file, "    } else {\n");
    emit_accumulators(e, LOAD, k, y, x);
    fprintf(e->file,
            "    }\n"
            "    for (long c = 0; c < count; c++, input += %lld)\n"
            "    for (int r = 0; r < %d; r++)\n"
            "    for (int s = 0; s < %d; s++, f += %d)\n"
            "    for (int i = 0; i < %d; i += %d) {\n"
            "        const float *q = input + r * %lld + s * %d + i, *g = f + i * %d;\n"
            "        float v;\n        vec w0",
            (long long)e->sizes.height * e->sizes.width * b, s->kernel[0], s->kernel[1] / copies,
            copies * b * step, b, p->unroll, (long long)s->dilation[0] * e->sizes.width * b,
            s->dilation[1] * b, step);
    for (int i = 1; i < k; i++) {
        fprintf(e->file, ", w%d", i);
    }
    fprintf(e->file, ";\n");
    for (int i = 0; i < copies * p->unroll; i++) {
        emit_step(e, k, y, x, i / p->unroll, i % p->unroll);
    }
    fprintf(e->file, "    }\n");
    emit_accumulators(e, STORE, k, y, x);
    fprintf(e->file, "}\n\n");
}

/* Tile functions for full tiles and for what is left over in each dimension. */
static void emit_tiles(const Emit *e, const Cut *k, const Cut *y, const Cut *x)
{
    for (int i = 0; i < 8; i++) {
        int sizes[] = {i & 4 ? k->rest : k->tile, i & 2 ? y->rest : y->tile,
                       i & 1 ? x->rest : x->tile};
        if (sizes[0] > 0 && sizes[1] > 0 && sizes[2] > 0) {
            emit_tile(e, sizes[0], sizes[1], sizes[2]);
        }
    }
}

/* All columns of one tile of rows and output channels: calls of the tile functions that fit. */
static void emit_row(const Emit *e, int k, int y, const Cut *x)
{
    int from = x->tile * e->shape->stride[1] * e->sizes.ci_lanes, to = x->tile * e->sizes.lanes;
    fprintf(e->file,
            "{\n            for (int x = 0; x < %d; x++)\n"
            "                tile_%d_%d_%d(in + x * %d, f, out + x * %d, count, c == 0);\n",
            x->full, k, y, x->tile, from, to);
    if (x->rest > 0) {
        fprintf(e->file, "            tile_%d_%d_%d(in + %d, f, out + %d, count, c == 0);\n", k, y,
                x->rest, x->full * from, x->full * to);
    }
    fprintf(e->file, "        }");
}

static void emit_dispatch(const Emit *e, const Cut *k, const Cut *y, const Cut *x)
{
    fprintf(e->file, "        ");
    for (int i = 0; i < 4; i++) {
        bool is_last_k = i & 2, is_last_y = i & 1;
        if ((is_last_k && k->rest == 0) || (is_last_y && y->rest == 0)) {
            continue;
        }
        fprintf(e->file, "%sif (k %s %d && y %s %d) ", i ? " else " : "", is_last_k ? "==" : "<",
                k->full, is_last_y ? "==" : "<", y->full);
        emit_row(e, is_last_k ? k->rest : k->tile, is_last_y ? y->rest : y->tile, x);
    }
    fprintf(e->file, "\n");
}

/* The loops over cache tiles in the order of the settings, for the tiles `first` .. `last` of output
 * channels. */
static void emit_part(const Emit *e, const Cut *k, const Cut *y, const Cut *x)
{
    const MerKernelShape *s = e->shape;
    int                   b = e->sizes.ci_lanes, lanes = e->sizes.lanes;
    long long             filter = (long long)s->kernel[0] * s->kernel[1] * b * lanes;
    fprintf(e->file,
            "static void part(const float *input, const float *weights, float *output, int first,\n"
            "                 int last)\n{\n");
    for (const char *letter = mer_kernel_order(e->kernel->order); *letter; letter++) {
        if (*letter == 'K') {
            fprintf(e->file, "    for (int k0 = first; k0 < last; k0 += %d)\n", e->kernel->cache_k);
        } else if (*letter == 'Y') {
            fprintf(e->file, "    for (int y0 = 0; y0 < %d; y0 += %d)\n", e->sizes.y_tiles,
                    e->kernel->cache_y);
        } else {
            fprintf(e->file, "    for (int c = 0; c < %d; c += %d)\n", e->sizes.ci_blocks,
                    e->kernel->cache_c);
        }
    }
    fprintf(e->file,
            "    for (int k = k0; k < k0 + %d && k < last; k++)\n"
            "    for (int y = y0; y < y0 + %d && y < %d; y++) {\n"
            "        const long count = c + %d < %d ? %d : %d - c;\n"
            "        const float *in = input + c * %lldL + y * %lldL;\n"
            "        const float *f = weights + k * %lldL + c * (k < %d ? %lldL : %lldL);\n"
            "        float *out = output + k * %lldL + y * %lldL;\n",
            e->kernel->cache_k, e->kernel->cache_y, e->sizes.y_tiles, e->kernel->cache_c,
            e->sizes.ci_blocks, e->kernel->cache_c, e->sizes.ci_blocks,
            (long long)e->sizes.height * e->sizes.width * b,
            (long long)y->tile * s->stride[0] * e->sizes.width * b,
            k->tile * filter * e->sizes.ci_blocks, k->full, k->tile * filter, k->rest * filter,
            (long long)k->tile * s->rows * s->columns * lanes,
            (long long)y->tile * s->columns * lanes);
    emit_dispatch(e, k, y, x);
    fprintf(e->file, "    }\n}\n\n");
}

static void emit_entry(const Emit *e)
{
    fprintf(e->file,
            "void %s(const float *input, const float *weights, float *output)\n{\n"
            "    part(input, weights, output, 0, %d);\n}\n\n",
            e->name, e->sizes.k_tiles);
}

/* Each thread takes a share of the tiles of output channels; where one cannot be started, the caller does
 * its share. */
static void emit_threads(const Emit *e)
{
    int threads = e->kernel->threads, k_tiles = e->sizes.k_tiles;
    fprintf(
        e->file,
        "typedef struct Share { const float *input, *weights; float *output; int index; } "
        "Share;\n\n"
        "static void *work(void *state)\n{\n"
        "    const Share *s = state;\n"
        "    part(s->input, s->weights, s->output, s->index * %d / %d, (s->index + 1) * %d / %d);\n"
        "    return 0;\n}\n\n",
        k_tiles, threads, k_tiles, threads);
    fprintf(
        e->file,
        "void %s(const float *input, const float *weights, float *output)\n{\n"
        "    Share shares[%d];\n    pthread_t threads[%d];\n    int is_on[%d];\n"
        "    for (int i = 0; i < %d; i++) {\n"
        "        shares[i] = (Share){input, weights, output, i};\n"
        "        is_on[i] = i > 0 && pthread_create(&threads[i], 0, work, &shares[i]) == 0;\n"
        "    }\n"
        "    for (int i = 0; i < %d; i++)\n        if (!is_on[i])\n            work(&shares[i]);\n"
        "    for (int i = 0; i < %d; i++)\n        if (is_on[i])\n"
        "            pthread_join(threads[i], 0);\n}\n\n",
        e->name, threads, threads, threads, threads, threads, threads);
}

static void emit_packing(const Emit *e, const Cut *k)
{
    const MerKernelShape *s = e->shape;
    int                   b = e->sizes.ci_lanes, lanes = e->sizes.lanes;
    fprintf(
        e->file,
        "void %s_pack_input(const float *image, float *packed)\n{\n"
        "    for (long c = 0; c < %d; c++)\n"
        "    for (long y = 0; y < %d; y++)\n"
        "    for (long x = 0; x < %d; x++) {\n"
        "        const long row = y - %d, column = x - %d;\n"
        "        const int is_in = c < %d && row >= 0 && row < %d && column >= 0 && column < %d;\n"
        "        packed[((c / %d * %d + y) * %d + x) * %d + c %% %d] =\n"
        "            is_in ? image[(c * %d + row) * %d + column] : 0;\n"
        "    }\n}\n\n",
        e->name, e->sizes.ci_blocks * b, e->sizes.height, e->sizes.width, s->pad[0], s->pad[1],
        s->ci, s->height, s->width, b, e->sizes.height, e->sizes.width, b, b, s->height, s->width);
    fprintf(e->file,
            "void %s_pack_weights(const float *filters, float *packed)\n{\n"
            "    for (long k = 0; k < %d; k++)\n"
            "    for (long c = 0; c < %d; c++)\n"
            "    for (long r = 0; r < %d; r++)\n"
            "    for (long s = 0; s < %d; s++) {\n"
            "        const long tile = k / %d, vectors = tile < %d ? %d : %d;\n"
            "        const long block = ((c / %d * %d + r) * %d + s) * %d + c %% %d;\n"
            "        packed[tile * %lldL + block * vectors * %d + k %% %d] =\n"
            "            k < %d && c < %d ? filters[((k * %d + c) * %d + r) * %d + s] : 0;\n"
            "    }\n}\n\n",
            e->name, e->sizes.co_blocks * lanes, e->sizes.ci_blocks * b, s->kernel[0], s->kernel[1],
            k->tile * lanes, k->full, k->tile, k->rest, b, s->kernel[0], s->kernel[1], b, b,
            (long long)e->sizes.ci_blocks * s->kernel[0] * s->kernel[1] * b * k->tile * lanes,
            lanes, k->tile * lanes, s->co, s->ci, s->ci, s->kernel[0], s->kernel[1]);
    fprintf(e->file,
            "void %s_unpack_output(const float *packed, float *image)\n{\n"
            "    for (long k = 0; k < %d; k++)\n"
            "    for (long i = 0; i < %d; i++)\n"
            "        image[k * %d + i] = packed[(k / %d * %d + i) * %d + k %% %d];\n}\n",
            e->name, s->co, s->rows * s->columns, s->rows * s->columns, lanes, s->rows * s->columns,
            lanes, lanes);
}

void mer_kernel_emit(const MerKernelShape *shape, const MerKernel *kernel, const char *name,
                     FILE *file)
{
    Emit e = {.shape = shape, .kernel = kernel, .name = name, .file = file};
    mer_kernel_sizes(shape, kernel, &e.sizes);
    Cut k = cut(e.sizes.co_blocks, kernel->tile_k), y = cut(shape->rows, kernel->tile_y),
        x = cut(shape->columns, kernel->tile_x);
    fprintf(file,
            "/* %d x %d x %d input, padding %d %d %d %d; %d filters of %d x %d, stride %d %d. */\n"
            "%s"
            "typedef float vec __attribute__((vector_size(%d)));\n\n",
            shape->ci, shape->height, shape->width, shape->pad[0], shape->pad[1], shape->pad[2],
            shape->pad[3], shape->co, shape->kernel[0], shape->kernel[1], shape->stride[0],
            shape->stride[1], kernel->threads > 1 ? "#include <pthread.h>\n" : "",
            kernel->vector_bits / 8);
    emit_tiles(&e, &k, &y, &x);
    emit_part(&e, &k, &y, &x);
    (kernel->threads > 1 ? emit_threads : emit_entry)(&e);
    emit_packing(&e, &k);
}
