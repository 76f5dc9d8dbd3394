/* What a native kernel computes and which settings it can have. */
#include "codesign/native/kernel.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#define FIELD(name, role, dim, agent)                                                              \
    {                                                                                              \
#name, offsetof(MerKernel, name), MER_ROLE_##role, dim, agent                              \
    }
const MerKernelField mer_kernel_fields[MER_KERNEL_FIELDS] = {
    FIELD(vector_bits, HARDWARE, MER_DIM_K, 0),
    FIELD(threads, HARDWARE, MER_DIM_K, 0),
    FIELD(order, ORDER, -1, 1),
    FIELD(unroll, THREADS, MER_DIM_C, 1),
    FIELD(unroll_columns, THREADS, MER_DIM_S, 1),
    FIELD(tile_k, TILE, MER_DIM_K, 2),
    FIELD(tile_y, TILE, MER_DIM_Y, 2),
    FIELD(tile_x, TILE, MER_DIM_X, 2),
    FIELD(cache_k, TILE, MER_DIM_K, 2),
    FIELD(cache_y, TILE, MER_DIM_Y, 2),
    FIELD(cache_c, TILE, MER_DIM_C, 2)};

int *mer_kernel_field(MerKernel *kernel, int field)
{
    return (int *)(void *)((char *)kernel + mer_kernel_fields[field].offset);
}

static const char *const orders[MER_KERNEL_ORDERS] = {"KYC", "KCY", "YKC", "YCK", "CKY", "CYK"};

const char *mer_kernel_order(int order)
{
    assert(order >= 0 && order < MER_KERNEL_ORDERS);
    return orders[order];
}

int mer_kernel_order_find(const char *letters)
{
    int order = MER_KERNEL_ORDERS - 1;
    while (order >= 0 && strcmp(orders[order], letters) != 0) {
        order--;
    }
    return order;
}

const char *mer_kernel_host_reason(const MerOp *op)
{
    enum { LARGEST = 1 << 20 };
    switch (op->kind) {
    case MER_OP_CONV:
    case MER_OP_GEMM:
        break;
    case MER_OP_DEPTHWISE:
        return "depthwise: it sums over no channels";
    case MER_OP_TRANSPOSED:
        return "a transposed convolution scatters its results";
    case MER_OP_BATCHED_GEMM:
        return "no factor of a batched product is known before, so nothing can be packed";
    default:
        return "no multiplications";
    }
    if (op->dims[MER_DIM_G] > 1) {
        return "grouped convolution";
    }
    if (op->dims[MER_DIM_N] > 1) {
        return "more than one image at a time";
    }
    for (int i = 0; i < 4; i++) {
        if (op->pad[i] < 0) {
            return "negative padding";
        }
    }
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (op->dims[d] > LARGEST) {
            return "too large for one kernel";
        }
    }
    return NULL;
}

/* Rows of the input that one axis needs, its padding included. */
static int64_t needed(const MerOp *op, int axis)
{
    return (op->dims[MER_DIM_Y + axis] - 1) * op->stride[axis] +
           (op->dims[MER_DIM_R + axis] - 1) * op->dilation[axis] + 1;
}

void mer_kernel_shape_make(const MerOp *op, MerKernelShape *shape)
{
    const int64_t *d = op->dims;
    *shape = (MerKernelShape){.ci = (int)d[MER_DIM_C],
                              .co = (int)d[MER_DIM_K],
                              .height = 1,
                              .width = (int)d[MER_DIM_Y],
                              .rows = 1,
                              .columns = (int)d[MER_DIM_Y],
                              .kernel = {1, 1},
                              .stride = {1, 1},
                              .dilation = {1, 1}};
    if (op->kind == MER_OP_GEMM) {
        return;
    }
    shape->rows = (int)d[MER_DIM_Y];
    shape->columns = (int)d[MER_DIM_X];
    int *const sizes[] = {&shape->height, &shape->width};
    for (int a = 0; a < 2; a++) {
        int64_t given = a == 0 ? op->input_rows : op->input_columns;
        shape->kernel[a] = (int)d[MER_DIM_R + a];
        shape->stride[a] = op->stride[a];
        shape->dilation[a] = op->dilation[a];
        shape->pad[a] = op->pad[a];
        shape->pad[a + 2] = op->pad[a + 2];
        /* layer tables name no input, or one without the rows that a last stride needs */
        int64_t short_of = needed(op, a) - op->pad[a] - op->pad[a + 2];
        *sizes[a] = (int)(given > short_of ? given : short_of > 1 ? short_of : 1);
    }
}

static int blocks(int count, int block)
{
    return (count + block - 1) / block;
}

void mer_kernel_sizes(const MerKernelShape *shape, const MerKernel *kernel, MerKernelSizes *sizes)
{
    int lanes = kernel->vector_bits / 32;
    *sizes = (MerKernelSizes){.lanes = lanes,
                              .ci_lanes = shape->ci < lanes ? shape->ci : lanes,
                              .co_blocks = blocks(shape->co, lanes),
                              .y_tiles = blocks(shape->rows, kernel->tile_y),
                              .height = shape->height + shape->pad[0] + shape->pad[2],
                              .width = shape->width + shape->pad[1] + shape->pad[3]};
    sizes->ci_blocks = blocks(shape->ci, sizes->ci_lanes);
    sizes->k_tiles = blocks(sizes->co_blocks, kernel->tile_k);
    int64_t channels = (int64_t)sizes->ci_blocks * sizes->ci_lanes;
    sizes->input = channels * sizes->height * sizes->width;
    sizes->output = (int64_t)sizes->co_blocks * lanes * shape->rows * shape->columns;
    sizes->weights = channels * sizes->co_blocks * lanes * shape->kernel[0] * shape->kernel[1];
}

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Loops that run once go inside, K before Y before C. */
static int settle_order(const MerKernel *kernel, const MerKernelSizes *sizes)
{
    const struct {
        char letter;
        bool is_loop;
    } loops[] = {{'K', kernel->cache_k < sizes->k_tiles},
                 {'Y', kernel->cache_y < sizes->y_tiles},
                 {'C', kernel->cache_c < sizes->ci_blocks}};
    char letters[4] = "";
    int  count = 0;
    for (const char *letter = mer_kernel_order(kernel->order); *letter; letter++) {
        for (int l = 0; l < 3; l++) {
            if (loops[l].letter == *letter && loops[l].is_loop) {
                letters[count++] = *letter;
            }
        }
    }
    for (int l = 0; l < 3; l++) {
        if (!loops[l].is_loop) {
            letters[count++] = loops[l].letter;
        }
    }
    return mer_kernel_order_find(letters);
}

void mer_kernel_settle(const MerKernelShape *shape, MerKernel *kernel)
{
    MerKernelSizes sizes;
    mer_kernel_sizes(shape, kernel, &sizes);
    kernel->tile_k = smaller(kernel->tile_k, sizes.co_blocks);
    kernel->tile_y = smaller(kernel->tile_y, shape->rows);
    kernel->tile_x = smaller(kernel->tile_x, shape->columns);
    mer_kernel_sizes(shape, kernel, &sizes);
    kernel->cache_k = smaller(kernel->cache_k, sizes.k_tiles);
    kernel->cache_y = smaller(kernel->cache_y, sizes.y_tiles);
    kernel->cache_c = smaller(kernel->cache_c, sizes.ci_blocks);
    kernel->threads = smaller(kernel->threads, sizes.k_tiles);
    kernel->unroll = smaller(kernel->unroll, sizes.ci_lanes);
    while (sizes.ci_lanes % kernel->unroll != 0) {
        kernel->unroll--;
    }
    kernel->unroll_columns = kernel->unroll_columns && shape->kernel[1] > 1;
    kernel->order = settle_order(kernel, &sizes);
}

__attribute__((format(printf, 2, 3))) static bool refuse(MerKernelReason *reason,
                                                         const char      *format, ...)
{
    va_list arguments;
    if (reason) {
        va_start(arguments, format);
        vsnprintf(reason->text, sizeof reason->text, format, arguments);
        va_end(arguments);
    }
    return false;
}

bool mer_kernel_check(const MerKernelShape *shape, const MerKernel *kernel, MerKernelReason *reason)
{
    enum { LARGEST = 1 << 28 };
    MerKernelSizes sizes;
    if (kernel->vector_bits != 128 && kernel->vector_bits != 256 && kernel->vector_bits != 512) {
        return refuse(reason, "vectors of %d bits, 128, 256 or 512 can be had",
                      kernel->vector_bits);
    }
    for (int f = 0; f < MER_KERNEL_FIELDS; f++) {
        const char *name = mer_kernel_fields[f].name;
        MerKernel   copy = *kernel;
        int         value = *mer_kernel_field(&copy, f);
        int least = strcmp(name, "order") == 0 || strcmp(name, "unroll_columns") == 0 ? 0 : 1;
        if (value < least || value > 65536) {
            return refuse(reason, "%s is %d, expected %d .. 65536", name, value, least);
        }
    }
    if (kernel->threads > 256 || kernel->order >= MER_KERNEL_ORDERS) {
        return refuse(reason, "%d threads, at most 256", kernel->threads);
    }
    int64_t vectors = (int64_t)kernel->tile_k * kernel->tile_y * kernel->tile_x;
    if (vectors > MER_KERNEL_REGISTERS) {
        return refuse(reason, "the register tile needs %lld vectors, has %d", (long long)vectors,
                      MER_KERNEL_REGISTERS);
    }
    mer_kernel_sizes(shape, kernel, &sizes);
    if (sizes.ci_lanes % kernel->unroll != 0) {
        return refuse(reason, "unroll %d does not divide a block of %d input channels",
                      kernel->unroll, sizes.ci_lanes);
    }
    if (sizes.input > LARGEST || sizes.weights > LARGEST || sizes.output > LARGEST) {
        return refuse(reason, "an array has more than %d numbers", LARGEST);
    }
    return true;
}

/* So that no sum of products reaches 2^24, the end of the whole numbers in float32. */
void mer_kernel_fill(const MerKernelShape *shape, float *values, int64_t count, int salt)
{
    int64_t  products = (int64_t)shape->ci * shape->kernel[0] * shape->kernel[1];
    int      top = products < (1 << 24) / 9 ? 3 : 1;
    uint32_t state = 12345u + (uint32_t)salt;
    for (int64_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u; /* Numerical Recipes, "quick and dirty" */
        values[i] = (float)((int)(state >> 16) % (2 * top + 1) - top);
    }
}

/* One row of results += one weight x one row of the image, where it is inside. */
static void add_row(const MerKernelShape *s, const float *row, float weight, int column,
                    float *result)
{
    for (int x = 0; x < s->columns; x++) {
        int at = x * s->stride[1] + column * s->dilation[1] - s->pad[1];
        if (at >= 0 && at < s->width) {
            result[x] += weight * row[at];
        }
    }
}

void mer_kernel_reference(const MerKernelShape *s, const float *image, const float *filters,
                          float *result)
{
    int64_t plane = (int64_t)s->rows * s->columns, taps = (int64_t)s->kernel[0] * s->kernel[1];
    memset(result, 0, (size_t)(plane * s->co) * sizeof *result);
    for (int k = 0; k < s->co; k++) {
        for (int c = 0; c < s->ci; c++) {
            const float *filter = filters + ((int64_t)k * s->ci + c) * taps;
            for (int i = 0; i < (int)taps * s->rows; i++) {
                int tap = i / s->rows, y = i % s->rows;
                int at = y * s->stride[0] + tap / s->kernel[1] * s->dilation[0] - s->pad[0];
                if (at >= 0 && at < s->height) {
                    add_row(s, image + ((int64_t)c * s->height + at) * s->width, filter[tap],
                            tap % s->kernel[1], result + k * plane + (int64_t)y * s->columns);
                }
            }
        }
    }
}
