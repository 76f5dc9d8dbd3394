/* Cores, layers as cores see them, and the rules of the hardware (docs/codesign-model.md). */
#include "codesign/stream/vta_core.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *mer_vta_memory_name(MerVtaMemory memory)
{
    static const char *const names[] = {"uop", "wgt", "inp", "acc", "out", "acc8"};
    return names[memory];
}

bool mer_vta_refuse(MerVtaReason *reason, const char *format, ...)
{
    if (reason) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(reason->text, sizeof reason->text, format, arguments);
        va_end(arguments);
    }
    return false;
}

static int log2_of(int64_t value)
{
    int bits = 0;
    while (value > 1) {
        value >>= 1;
        bits++;
    }
    return bits;
}

void mer_vta_core_make(MerVtaCore *core, int batch, int block_in, int block_out, int64_t uop,
                       int64_t inp, int64_t wgt, int64_t acc)
{
    *core = (MerVtaCore){
        .batch = batch,
        .block_in = block_in,
        .block_out = block_out,
        .bytes = {uop, wgt, inp, acc, acc / 4, acc},
        .element = {4, block_in * block_out, batch * block_in, 4 * batch * block_out,
                    batch * block_out, 4 * batch * block_out},
    };
    for (int m = 0; m < MER_VTA_MEMORY_COUNT; m++) {
        core->depth[m] = core->element[m] ? (int)(core->bytes[m] / core->element[m]) : 0;
        core->depth_bits[m] = log2_of(core->depth[m]);
    }
    core->element[MER_VTA_ACC8] = batch * block_out;
}

void mer_vta_core_of(const MerPlatform *platform, MerVtaCore *core)
{
    const MerUnit   *unit = &platform->units[0];
    const MerMemory *memories = platform->memories; /* uop inp wgt acc: the reader checks it */
    mer_vta_core_make(core, unit->batch, unit->block_in, unit->block_out,
                      (int64_t)memories[0].bytes, (int64_t)memories[1].bytes,
                      (int64_t)memories[2].bytes, (int64_t)memories[3].bytes);
}

bool mer_vta_core_equal(const MerVtaCore *a, const MerVtaCore *b)
{
    return a->batch == b->batch && a->block_in == b->block_in && a->block_out == b->block_out &&
           memcmp(a->bytes, b->bytes, sizeof a->bytes) == 0;
}

int64_t mer_vta_core_bytes(const MerVtaCore *core)
{
    int64_t sum = 0;
    for (int m = MER_VTA_UOP; m <= MER_VTA_OUT; m++) {
        sum += core->bytes[m];
    }
    return sum;
}

int64_t mer_vta_core_macs(const MerVtaCore *core)
{
    return (int64_t)core->batch * core->block_in * core->block_out;
}

void mer_vta_core_follow(const MerVtaCore *core, int batch, int block_in, int block_out,
                         int64_t sram_bytes, MerVtaCore *other)
{
    int64_t uop = core->bytes[MER_VTA_UOP];
    int64_t inp = (int64_t)core->depth[MER_VTA_INP] * batch * block_in;
    int64_t wgt = (int64_t)core->depth[MER_VTA_WGT] * block_in * block_out;
    int64_t acc = (int64_t)core->depth[MER_VTA_ACC] * batch * block_out * 4;
    while (uop + inp + wgt + acc + acc / 4 > sram_bytes && inp + wgt + acc > 3) {
        int64_t  with_out = acc + acc / 4;
        int64_t *largest = wgt >= with_out && wgt >= inp ? &wgt : with_out >= inp ? &acc : &inp;
        *largest /= 2;
    }
    mer_vta_core_make(other, batch, block_in, block_out, uop, inp, wgt, acc);
}

static bool is_power_of_two(int64_t value)
{
    return value > 0 && (value & (value - 1)) == 0;
}

bool mer_vta_core_check(const MerVtaCore *core, MerVtaReason *reason)
{
    if (!is_power_of_two(core->batch) || !is_power_of_two(core->block_in) ||
        !is_power_of_two(core->block_out)) {
        return mer_vta_refuse(reason, "encoding: geometry %dx%dx%d is not of powers of two",
                              core->batch, core->block_in, core->block_out);
    }
    for (int m = MER_VTA_UOP; m <= MER_VTA_OUT; m++) {
        if (core->element[m] > 4096) {
            return mer_vta_refuse(reason, "encoding: an entry of %s is %d bytes, at most 4096",
                                  mer_vta_memory_name(m), core->element[m]);
        }
        if (!is_power_of_two(core->bytes[m]) || core->depth[m] < 1) {
            return mer_vta_refuse(reason, "capacity: %s needs %d bytes for one entry, has %lld",
                                  mer_vta_memory_name(m), core->element[m],
                                  (long long)core->bytes[m]);
        }
    }
    const int *bits = core->depth_bits;
    int source = bits[MER_VTA_ACC] > bits[MER_VTA_INP] ? bits[MER_VTA_ACC] : bits[MER_VTA_INP];
    if (bits[MER_VTA_UOP] > 13) {
        return mer_vta_refuse(reason, "encoding: depth of uop is %d, at most 8192",
                              core->depth[MER_VTA_UOP]);
    }
    if (bits[MER_VTA_ACC] + source + bits[MER_VTA_WGT] > 32) {
        return mer_vta_refuse(reason, "encoding: a micro-op of %d + %d + %d bits is above 32",
                              bits[MER_VTA_ACC], source, bits[MER_VTA_WGT]);
    }
    if (bits[MER_VTA_ACC] + bits[MER_VTA_INP] > 22) {
        return mer_vta_refuse(reason, "encoding: acc and inp indices of %d + %d bits are above 22",
                              bits[MER_VTA_ACC], bits[MER_VTA_INP]);
    }
    return bits[MER_VTA_ACC] <= bits[MER_VTA_INP] ||
           mer_vta_refuse(reason, "encoding: depth of acc is %d, at most that of inp, %d",
                          core->depth[MER_VTA_ACC], core->depth[MER_VTA_INP]);
}

const char *mer_vta_host_reason(const MerOp *op)
{
    if (!mer_op_kind_has_macs(op->kind)) {
        return "no multiplications";
    }
    return op->kind == MER_OP_TRANSPOSED ? "a transposed convolution scatters its results" : NULL;
}

bool mer_vta_is_dense(const MerOp *op)
{
    return op->kind == MER_OP_GEMM || op->kind == MER_OP_BATCHED_GEMM;
}

static int blocks(int64_t channels, int block)
{
    return (int)((channels + block - 1) / block);
}

void mer_vta_shape_make(const MerOp *op, int64_t images, const MerVtaCore *core, MerVtaShape *shape)
{
    const int64_t *d = op->dims;
    int64_t        count = d[MER_DIM_N] * images;
    *shape = (MerVtaShape){
        .batches = blocks(count, core->batch),
        .groups = (int)d[MER_DIM_G],
        .ci = blocks(d[MER_DIM_C], core->block_in),
        .co = blocks(d[MER_DIM_K], core->block_out),
        .height = (int)op->input_rows,
        .width = (int)op->input_columns,
        .rows = (int)d[MER_DIM_Y],
        .columns = (int)d[MER_DIM_X],
        .kernel = {(int)d[MER_DIM_R], (int)d[MER_DIM_S]},
        .stride = {op->stride[0], op->stride[1]},
        .dilation = {op->dilation[0], op->dilation[1]},
        .pad = {op->pad[0], op->pad[1], op->pad[2], op->pad[3]},
        .repeat = op->repeat,
    };
    if (op->input_rows == 0 && !mer_vta_is_dense(op)) { /* a table of layers: no padding */
        shape->height = mer_vta_reach(shape, 0, shape->rows);
        shape->width = mer_vta_reach(shape, 1, shape->columns);
    }
    if (mer_vta_is_dense(op)) {
        /* rows of a product fill the batch, so that no lane idles */
        if (d[MER_DIM_Y] > 1) {
            shape->rows = blocks(d[MER_DIM_Y] * count, core->batch);
            shape->batches = 1;
        }
        shape->columns = shape->width = 1;
        shape->height = shape->rows;
        memset(shape->pad, 0, sizeof shape->pad);
        shape->kernel[0] = shape->kernel[1] = 1;
        for (int i = 0; i < 2; i++) {
            shape->stride[i] = shape->dilation[i] = 1;
        }
    }
    if (op->kind == MER_OP_DEPTHWISE) { /* blocks on the diagonal of a dense convolution */
        int block = core->block_in > core->block_out ? core->block_in : core->block_out;
        shape->groups = blocks(d[MER_DIM_C], block);
        shape->ci = block / core->block_in;
        shape->co = block / core->block_out;
    }
}

/* The hazard rule: an accumulator is written again after three writes at the earliest, within one
 * instruction. The innermost loop over a reduction decides. */
static int64_t write_distance(const int *extent, const bool *is_reduction)
{
    int64_t distance = 1;
    for (int l = MER_VTA_LOOPS - 1; l >= 0; l--) {
        if (is_reduction[l] && extent[l] > 1) {
            return distance;
        }
        distance *= extent[l];
    }
    return 3; /* every accumulator is written once */
}

bool mer_vta_kernel_make(const MerVtaShape *shape, const MerVtaSchedule *schedule,
                         MerVtaKernel *kernel, MerVtaReason *reason)
{
    enum { CI, W, KW, KH, CO, H };
    static const int usual[] = {CI, W, KW, KH, CO, H}, spread[] = {CI, KW, KH, W, CO, H};
    int rows = mer_vta_tile_rows(shape, schedule), columns = mer_vta_tile_columns(shape, schedule);
    int kernel_size = shape->kernel[0] * shape->kernel[1];
    const int extent[] = {schedule->tile_ci, schedule->tile_w,  shape->kernel[1],
                          shape->kernel[0],  schedule->tile_co, schedule->tile_h};
    const int acc[] = {0, 1, 0, 0, schedule->tile_h * schedule->tile_w, schedule->tile_w};
    const int inp[] = {rows * columns,
                       shape->stride[1],
                       shape->dilation[1],
                       shape->dilation[0] * columns,
                       0,
                       shape->stride[0] * columns};
    const int wgt[] = {kernel_size, 0, 1, shape->kernel[1], schedule->tile_ci * kernel_size, 0};
    for (int attempt = 0; attempt < 2; attempt++) {
        const int *order = attempt ? spread : usual;
        bool       is_reduction[MER_VTA_LOOPS];
        for (int l = 0; l < MER_VTA_LOOPS; l++) {
            int from = order[l];
            kernel->extent[l] = extent[from];
            kernel->acc[l] = acc[from];
            kernel->inp[l] = inp[from];
            kernel->wgt[l] = wgt[from];
            is_reduction[l] = from == CI || from == KW || from == KH;
        }
        if (write_distance(kernel->extent, is_reduction) < 3) {
            continue;
        }
        kernel->outer = kernel->inner = -1;
        kernel->uops = 1;
        for (int l = 0; l < MER_VTA_LOOPS; l++) {
            int *slot = kernel->outer < 0 ? &kernel->outer : &kernel->inner;
            if (kernel->extent[l] > 1 && *slot < 0) {
                *slot = l;
            } else if (kernel->extent[l] > 1) {
                kernel->uops *= kernel->extent[l];
            }
        }
        return true;
    }
    return mer_vta_refuse(reason,
                          "write-distance: %d accumulators in a tile, a sum needs 3 between two "
                          "writes of one",
                          schedule->tile_h * schedule->tile_w * schedule->tile_co);
}

static bool check_covers(const MerVtaShape *shape, const MerVtaSchedule *s, MerVtaReason *reason)
{
    static const char *const names[] = {"tile_h", "tile_w", "tile_ci", "tile_co"};
    const int                tiles[] = {s->tile_h, s->tile_w, s->tile_ci, s->tile_co};
    const int                sizes[] = {shape->rows, shape->columns, shape->ci, shape->co};
    const int                threads[] = {s->h_threads, 1, 1, s->oc_threads};
    for (int i = 0; i < 4; i++) {
        if (tiles[i] < 1 || sizes[i] % tiles[i] != 0) {
            return mer_vta_refuse(reason, "coverage: %s %d does not divide %d", names[i], tiles[i],
                                  sizes[i]);
        }
        if (threads[i] < 1 || sizes[i] / tiles[i] % threads[i] != 0) {
            return mer_vta_refuse(reason, "coverage: %d threads do not divide %d tiles of %s %d",
                                  threads[i], sizes[i] / tiles[i], names[i], tiles[i]);
        }
    }
    return true;
}

static bool check_capacity(const MerVtaCore *core, MerVtaMemory memory, int64_t need,
                           MerVtaReason *reason)
{
    return need <= core->depth[memory] ||
           mer_vta_refuse(reason, "capacity: %s needs %lld entries, has %d",
                          mer_vta_memory_name(memory), (long long)need, core->depth[memory]);
}

static bool check_field(const char *name, int64_t value, int64_t most, MerVtaReason *reason)
{
    return value <= most || mer_vta_refuse(reason, "encoding: %s is %lld, at most %lld", name,
                                           (long long)value, (long long)most);
}

static bool check_fields(const MerVtaShape *shape, const MerVtaSchedule *s,
                         const MerVtaKernel *kernel, MerVtaReason *reason)
{
    enum { SIZE = 65535, ITERATIONS = 16383 };
    int kernel_size = shape->kernel[0] * shape->kernel[1];
    if (!check_field("x_stride of weights", (int64_t)shape->ci * kernel_size, SIZE, reason) ||
        !check_field("rows of an input tile", mer_vta_tile_rows(shape, s), SIZE, reason) ||
        !check_field("x_stride of inputs", shape->width, SIZE, reason) ||
        !check_field("x_stride of outputs", shape->columns, SIZE, reason) ||
        !check_field("iterations of the ALU", (int64_t)s->tile_h * s->tile_w * s->tile_co,
                     ITERATIONS, reason)) {
        return false;
    }
    for (int p = 0; p < 4; p++) {
        if (!check_field("padding", shape->pad[p], MER_VTA_MOST_PAD, reason)) {
            return false;
        }
    }
    int  rows = mer_vta_tile_rows(shape, s), columns = mer_vta_tile_columns(shape, s);
    bool is_outside = columns <= shape->pad[1] || columns <= shape->pad[3]; /* a tile of zeros */
    if (is_outside && !check_field("padding", (rows + 1) / 2, MER_VTA_MOST_PAD, reason)) {
        return false;
    }
    const int loops[] = {kernel->outer, kernel->inner};
    for (int l = 0; l < 2; l++) {
        if (loops[l] >= 0 &&
            !check_field("iterations of a GEMM", kernel->extent[loops[l]], ITERATIONS, reason)) {
            return false;
        }
    }
    int64_t most = (int64_t)shape->batches * shape->groups;
    return check_field("dram_base of inputs", most * shape->ci * shape->height * shape->width,
                       UINT32_MAX, reason) &&
           check_field("dram_base of weights",
                       (int64_t)shape->groups * shape->ci * shape->co * kernel_size, UINT32_MAX,
                       reason) &&
           check_field("dram_base of outputs", most * shape->co * shape->rows * shape->columns,
                       UINT32_MAX, reason);
}

/* What one 2-D transfer per tile can do: the spaces of TVM's templates. */
static bool check_tvm(const MerVtaShape *shape, const MerVtaSchedule *s, MerVtaReason *reason)
{
    bool is_padded = shape->pad[0] || shape->pad[1] || shape->pad[2] || shape->pad[3];
    bool is_one_load =
        s->tile_ci == 1 || (!is_padded && (mer_vta_tile_rows(shape, s) == 1 ||
                                           mer_vta_tile_columns(shape, s) == shape->width ||
                                           mer_vta_tile_rows(shape, s) == shape->height));
    bool is_one_store = s->tile_co == 1 || s->tile_h == 1 || s->tile_w == shape->columns ||
                        s->tile_h == shape->rows;
    return (is_one_load && is_one_store) ||
           mer_vta_refuse(reason, "encoding: the %s of a tile is no single 2-D pattern",
                          is_one_load ? "store" : "load");
}

bool mer_vta_check(const MerVtaCore *core, const MerVtaShape *shape, const MerVtaSchedule *s,
                   const MerVtaRules *rules, MerVtaReason *reason)
{
    MerVtaKernel kernel;
    if (!check_covers(shape, s, reason)) {
        return false;
    }
    int64_t threads = (int64_t)s->h_threads * s->oc_threads;
    int64_t pixels = (int64_t)s->tile_h * s->tile_w;
    int64_t acc = s->tile_co * (pixels + (rules->has_bias ? 1 : 0));
    int64_t inp =
        (int64_t)s->tile_ci * mer_vta_tile_rows(shape, s) * mer_vta_tile_columns(shape, s);
    int64_t wgt = (int64_t)s->tile_co * s->tile_ci * shape->kernel[0] * shape->kernel[1];
    if (!check_capacity(core, MER_VTA_INP, threads * inp, reason) ||
        !check_capacity(core, MER_VTA_WGT, threads * wgt, reason) ||
        !check_capacity(core, MER_VTA_ACC, threads * acc, reason) ||
        !mer_vta_kernel_make(shape, s, &kernel, reason) ||
        !check_capacity(core, MER_VTA_UOP, kernel.uops, reason)) {
        return false;
    }
    return check_fields(shape, s, &kernel, reason) &&
           (!rules->is_tvm || check_tvm(shape, s, reason));
}
