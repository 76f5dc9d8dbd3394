/* Loops over tiles, virtual threads and tokens (docs/codesign-model.md, "Code generator"). */
#include "codesign/stream/generate.h"

#include "base/memory.h"
#include "codesign/stream/transfers.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 4 };
typedef enum Kernel { RESET, PRODUCT, SHIFT, BIAS, LEAST, MOST, KERNELS } Kernel;

typedef struct Builder {
    const MerVtaTask     *task;
    const MerVtaSchedule *schedule;
    MerVtaStream         *stream;
    MerVtaKernel          kernel;
    int                   threads;
    int                   elements; /* accumulators of a tile, without bias */
    /* micro-ops: where each kernel lies in DRAM, and in SRAM (-1: not there) */
    int  dram[MOST_THREADS][KERNELS], sram[MOST_THREADS][KERNELS];
    int  uop_end;                                            /* of what is in SRAM */
    bool has_loaded[MOST_THREADS], has_stored[MOST_THREADS]; /* tokens of earlier use are there */
} Builder;

static MerVtaInstruction *emit(Builder *b, MerVtaOpcode opcode)
{
    MerVtaStream *s = b->stream;
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 256;
        s->list = mer_heap_resize(s->list, (size_t)s->capacity, sizeof *s->list);
    }
    MerVtaInstruction *instruction = &s->list[s->count++];
    *instruction = (MerVtaInstruction){.opcode = (uint8_t)opcode};
    return instruction;
}

static void add_uop(MerVtaStream *stream, MerVtaUop uop)
{
    if (stream->uop_count == stream->uop_capacity) {
        stream->uop_capacity = stream->uop_capacity ? 2 * stream->uop_capacity : 64;
        stream->uops =
            mer_heap_resize(stream->uops, (size_t)stream->uop_capacity, sizeof *stream->uops);
    }
    stream->uops[stream->uop_count++] = uop;
}

/* First entries of a thread's regions. */
static uint32_t acc_base(const Builder *b, int thread)
{
    return (uint32_t)(thread *
                      (b->elements + (b->task->rules.has_bias ? b->schedule->tile_co : 0)));
}

static uint32_t inp_base(const Builder *b, int thread)
{
    const MerVtaShape *shape = &b->task->shape;
    return (uint32_t)(thread * b->schedule->tile_ci * mer_vta_tile_rows(shape, b->schedule) *
                      mer_vta_tile_columns(shape, b->schedule));
}

static uint32_t wgt_base(const Builder *b, int thread)
{
    const MerVtaShape *shape = &b->task->shape;
    return (uint32_t)(thread * b->schedule->tile_co * b->schedule->tile_ci * shape->kernel[0] *
                      shape->kernel[1]);
}

/* The loops below the instruction's own two, unrolled from `loop` on. */
static void unroll(Builder *b, int loop, MerVtaUop uop)
{
    const MerVtaKernel *k = &b->kernel;
    if (loop == MER_VTA_LOOPS) {
        add_uop(b->stream, uop);
        return;
    }
    int count = loop == k->outer || loop == k->inner ? 1 : k->extent[loop];
    for (int i = 0; i < count; i++) {
        unroll(b, loop + 1, uop);
        uop.dst += (uint32_t)k->acc[loop];
        uop.src += (uint32_t)k->inp[loop];
        uop.wgt += (uint32_t)k->wgt[loop];
    }
}

static void make_kernels(Builder *b)
{
    for (int t = 0; t < b->threads; t++) {
        for (int k = 0; k < KERNELS; k++) {
            uint32_t acc = acc_base(b, t);
            b->dram[t][k] = b->stream->uop_count;
            if (k == PRODUCT) {
                unroll(b, 0, (MerVtaUop){acc, inp_base(b, t), wgt_base(b, t)});
            } else if (k == BIAS && !b->task->rules.has_bias) {
                continue;
            } else if (k == BIAS) {
                add_uop(b->stream, (MerVtaUop){acc, acc + (uint32_t)b->elements, 0});
            } else {
                add_uop(b->stream, (MerVtaUop){acc, k == RESET ? 0 : acc, 0});
            }
        }
    }
}

static int uops_of(const Builder *b, Kernel kernel)
{
    return kernel == PRODUCT ? b->kernel.uops : 1;
}

static void forget_kernels(Builder *b)
{
    b->uop_end = 0;
    memset(b->sram, -1, sizeof b->sram);
}

/* Brings the micro-ops of a kernel; a full SRAM is filled again from its beginning. */
static void need_kernel(Builder *b, int thread, Kernel kernel)
{
    int count = uops_of(b, kernel);
    if (b->sram[thread][kernel] >= 0) {
        return;
    }
    if (b->uop_end + count > b->task->core.depth[MER_VTA_UOP]) {
        forget_kernels(b);
    }
    b->sram[thread][kernel] = b->uop_end;
    b->uop_end += count;
    MerVtaInstruction *load = emit(b, MER_VTA_LOAD);
    load->memory = MER_VTA_UOP;
    load->sram_base = (uint32_t)b->sram[thread][kernel];
    load->dram_base = (uint32_t)(b->stream->base[MER_VTA_UOP] + b->dram[thread][kernel]);
    load->y_size = 1;
    load->x_size = load->x_stride = (uint32_t)count;
}

static MerVtaInstruction *emit_kernel(Builder *b, int thread, Kernel kernel, MerVtaOpcode opcode)
{
    need_kernel(b, thread, kernel);
    MerVtaInstruction *i = emit(b, opcode);
    i->uop_begin = (uint32_t)b->sram[thread][kernel];
    i->uop_end = i->uop_begin + (uint32_t)uops_of(b, kernel);
    i->iter_out = i->iter_in = 1;
    return i;
}

static void emit_reset(Builder *b, int thread)
{
    MerVtaInstruction *i = emit_kernel(b, thread, RESET, MER_VTA_GEMM);
    i->reset = true;
    i->iter_in = (uint32_t)b->elements;
    i->dst_in = 1;
    i->pop_next = b->has_stored[thread];
}

static void emit_product(Builder *b, int thread)
{
    const MerVtaKernel *k = &b->kernel;
    MerVtaInstruction  *i = emit_kernel(b, thread, PRODUCT, MER_VTA_GEMM);
    if (k->outer >= 0) {
        i->iter_out = (uint32_t)k->extent[k->outer];
        i->dst_out = (uint32_t)k->acc[k->outer];
        i->src_out = (uint32_t)k->inp[k->outer];
        i->wgt_out = (uint32_t)k->wgt[k->outer];
    }
    if (k->inner >= 0) {
        i->iter_in = (uint32_t)k->extent[k->inner];
        i->dst_in = (uint32_t)k->acc[k->inner];
        i->src_in = (uint32_t)k->inp[k->inner];
        i->wgt_in = (uint32_t)k->wgt[k->inner];
    }
    i->pop_prev = i->push_prev = true;
}

static MerVtaInstruction *emit_alu(Builder *b, int thread, Kernel kernel, MerVtaAlu alu,
                                   int immediate)
{
    MerVtaInstruction *i = emit_kernel(b, thread, kernel, MER_VTA_ALU);
    i->alu = (uint8_t)alu;
    i->use_immediate = kernel != BIAS;
    i->immediate = (int16_t)immediate;
    i->iter_in = (uint32_t)b->elements;
    i->dst_in = 1;
    i->src_in = 1;
    return i;
}

/* One 2-D transfer after the other; returns the first, and the last through `last`. */
static int64_t emit_transfers(Builder *b, MerVtaOpcode opcode, MerVtaMemory memory,
                              const MerVtaTransfer *t, int64_t sram, int64_t dram)
{
    int64_t first = b->stream->count;
    for (int n = 0; n < t->count; n++) {
        MerVtaInstruction *i = emit(b, opcode);
        i->memory = (uint8_t)memory;
        i->sram_base = (uint32_t)(sram + t->sram + n * t->sram_step);
        i->dram_base = (uint32_t)(b->stream->base[memory] + dram + t->dram + n * t->dram_step);
        i->y_size = (uint32_t)t->y;
        i->x_size = (uint32_t)t->x;
        i->x_stride = (uint32_t)t->stride;
        i->y_pad_0 = (uint8_t)t->pad[0];
        i->x_pad_0 = (uint8_t)t->pad[1];
        i->y_pad_1 = (uint8_t)t->pad[2];
        i->x_pad_1 = (uint8_t)t->pad[3];
    }
    return first;
}

typedef struct Place { /* of a tile */
    int batch;         /* block of images and group, as one number */
    int row, co, column;
} Place;

static void emit_loads(Builder *b, int thread, const Place *p, int ko)
{
    const MerVtaShape    *shape = &b->task->shape;
    const MerVtaSchedule *s = b->schedule;
    MerVtaTransfer        input, weights;
    int     kernel = shape->kernel[0] * shape->kernel[1], group = p->batch % shape->groups;
    int64_t first_ci = (int64_t)ko * s->tile_ci;
    mer_vta_input_load(shape, s, p->row, p->column, &input);
    mer_vta_weight_load(shape, s, &weights);
    int64_t first =
        emit_transfers(b, MER_VTA_LOAD, MER_VTA_INP, &input, inp_base(b, thread),
                       ((int64_t)p->batch * shape->ci + first_ci) * shape->height * shape->width);
    emit_transfers(b, MER_VTA_LOAD, MER_VTA_WGT, &weights, wgt_base(b, thread),
                   (((int64_t)group * shape->co + p->co) * shape->ci + first_ci) * kernel);
    b->stream->list[first].pop_next = b->has_loaded[thread];
    b->stream->list[b->stream->count - 1].push_next = true;
    b->has_loaded[thread] = true;
}

static void emit_alus(Builder *b, int thread, const Place *p)
{
    emit_alu(b, thread, SHIFT, MER_VTA_SHR, 8);
    if (b->task->rules.has_bias) {
        MerVtaTransfer bias = {.y = 1, .count = 1};
        int            pixels = b->elements / b->schedule->tile_co;
        bias.x = bias.stride = b->schedule->tile_co;
        emit_transfers(b, MER_VTA_LOAD, MER_VTA_ACC, &bias, acc_base(b, thread) + b->elements,
                       (int64_t)p->batch * b->task->shape.co + p->co);
        MerVtaInstruction *add = emit_alu(b, thread, BIAS, MER_VTA_ADD, 0);
        add->iter_out = (uint32_t)b->schedule->tile_co;
        add->iter_in = (uint32_t)pixels;
        add->dst_out = (uint32_t)(pixels < b->elements ? pixels : 0);
        add->src_out = b->schedule->tile_co > 1;
        add->src_in = 0;
    }
    emit_alu(b, thread, LEAST, MER_VTA_MIN, 127);
    emit_alu(b, thread, MOST, MER_VTA_MAX, 0)->push_next = true;
}

static void emit_stores(Builder *b, int thread, const Place *p)
{
    const MerVtaShape *shape = &b->task->shape;
    MerVtaTransfer     output;
    mer_vta_output_store(shape, b->schedule, &output);
    int64_t plane = (int64_t)shape->rows * shape->columns;
    int64_t first = emit_transfers(b, MER_VTA_STORE, MER_VTA_OUT, &output, acc_base(b, thread),
                                   ((int64_t)p->batch * shape->co + p->co) * plane +
                                       (int64_t)p->row * shape->columns + p->column);
    b->stream->list[first].pop_prev = true;
    b->stream->list[b->stream->count - 1].push_prev = true;
    b->has_stored[thread] = true;
}

static Place place_of(const Builder *b, const int at[4], int thread)
{
    const MerVtaSchedule *s = b->schedule;
    int                   row = at[1] * s->h_threads + thread % s->h_threads;
    int                   co = at[2] * s->oc_threads + thread / s->h_threads;
    return (Place){at[0], row * s->tile_h, co * s->tile_co, at[3] * s->tile_w};
}

/* One tile of every thread, statement by statement. */
static void emit_step(Builder *b, const int at[4])
{
    Place places[MOST_THREADS];
    for (int t = 0; t < b->threads; t++) {
        places[t] = place_of(b, at, t);
        emit_reset(b, t);
    }
    for (int ko = 0; ko < b->task->shape.ci / b->schedule->tile_ci; ko++) {
        for (int t = 0; t < b->threads; t++) {
            emit_loads(b, t, &places[t], ko);
        }
        for (int t = 0; t < b->threads; t++) {
            emit_product(b, t);
        }
    }
    for (int t = 0; t < b->threads; t++) {
        emit_alus(b, t, &places[t]);
    }
    for (int t = 0; t < b->threads; t++) {
        emit_stores(b, t, &places[t]);
    }
}

static MerVtaInstruction *emit_noop(Builder *b, MerVtaOpcode opcode, MerVtaMemory memory)
{
    MerVtaInstruction *i = emit(b, opcode);
    i->memory = (uint8_t)memory;
    return i;
}

static void end_stream(Builder *b)
{
    for (int t = 0; t < b->threads; t++) {
        MerVtaInstruction *load = emit_noop(b, MER_VTA_LOAD, MER_VTA_INP);
        load->pop_next = load->push_next = true;
    }
    for (int t = 0; t < b->threads; t++) {
        MerVtaInstruction *compute = emit_noop(b, MER_VTA_LOAD, MER_VTA_UOP);
        compute->pop_prev = compute->pop_next = true;
    }
    emit(b, MER_VTA_FINISH);
    memset(b->has_loaded, 0, sizeof b->has_loaded);
    memset(b->has_stored, 0, sizeof b->has_stored);
    forget_kernels(b);
}

int64_t mer_vta_step_most(const MerVtaTask *task, const MerVtaSchedule *schedule,
                          const MerVtaKernel *kernel)
{
    int64_t rounds = task->shape.ci / schedule->tile_ci;
    int64_t alus = task->rules.has_bias ? 5 : 3;
    int64_t threads = (int64_t)schedule->h_threads * schedule->oc_threads;
    int64_t most = 1 + rounds * (schedule->tile_ci + 2) + alus + schedule->tile_co;
    bool    evicts = threads * (kernel->uops + KERNELS - 1) > task->core.depth[MER_VTA_UOP];
    return threads * (most + (evicts ? 1 + rounds + alus : 0));
}

MerVtaCut mer_vta_cut(const int extent[4], int64_t step, int threads, int64_t limit)
{
    int64_t left = limit - 2 * threads - 1 - threads * KERNELS;
    int64_t inside = step; /* instructions of one iteration of the loop */
    int64_t inner[4];
    for (int l = 3; l >= 0; l--) {
        inner[l] = inside;
        inside *= extent[l];
    }
    if (inside <= left) {
        return (MerVtaCut){-1, 0};
    }
    for (int l = 0; l < 4; l++) {
        if (inner[l] <= left) {
            return (MerVtaCut){l, (int)(left / inner[l])};
        }
    }
    return (MerVtaCut){3,
                       1}; /* a step that is longer than a stream: mer_vta_check has refused it */
}

void mer_vta_extents(const MerVtaShape *shape, const MerVtaSchedule *s, int extent[4])
{
    extent[0] = shape->batches * shape->groups;
    extent[1] = shape->rows / s->tile_h / s->h_threads;
    extent[2] = shape->co / s->tile_co / s->oc_threads;
    extent[3] = shape->columns / s->tile_w;
}

/* Regions of DRAM one after the other, each at a multiple of the largest entry. */
static void lay_out(const Builder *b, int uops)
{
    enum { ALIGN = 4096 };
    const MerVtaShape *shape = &b->task->shape;
    MerVtaStream      *stream = b->stream;
    int64_t            all = (int64_t)shape->batches * shape->groups;
    int64_t            at = 0;
    stream->entries[MER_VTA_UOP] = uops;
    stream->entries[MER_VTA_WGT] =
        (int64_t)shape->groups * shape->co * shape->ci * shape->kernel[0] * shape->kernel[1];
    stream->entries[MER_VTA_INP] = all * shape->ci * shape->height * shape->width;
    stream->entries[MER_VTA_ACC] = b->task->rules.has_bias ? all * shape->co : 0;
    stream->entries[MER_VTA_OUT] = all * shape->co * shape->rows * shape->columns;
    for (int m = MER_VTA_UOP; m <= MER_VTA_OUT; m++) {
        stream->base[m] = at / b->task->core.element[m];
        at += stream->entries[m] * b->task->core.element[m];
        at = (at + ALIGN - 1) / ALIGN * ALIGN;
    }
}

MerStatus mer_vta_generate(const MerVtaTask *task, const MerVtaSchedule *schedule, int64_t limit,
                           MerVtaStream *stream, MerError *error)
{
    Builder      b = {.task = task, .schedule = schedule, .stream = stream};
    MerVtaReason reason;
    int          extent[4], at[4];
    *stream = (MerVtaStream){0};
    if (!mer_vta_check(&task->core, &task->shape, schedule, &task->rules, &reason) ||
        !mer_vta_kernel_make(&task->shape, schedule, &b.kernel, &reason)) {
        return mer_error_set(error, MER_INVALID, "%s", reason.text);
    }
    b.threads = schedule->h_threads * schedule->oc_threads;
    b.elements = schedule->tile_h * schedule->tile_w * schedule->tile_co;
    make_kernels(&b);
    lay_out(&b, stream->uop_count);
    forget_kernels(&b);
    mer_vta_extents(&task->shape, schedule, extent);
    MerVtaCut cut =
        mer_vta_cut(extent, mer_vta_step_most(task, schedule, &b.kernel), b.threads, limit);
    int inside = 0; /* iterations of the cut loop in this stream */
    for (at[0] = 0; at[0] < extent[0]; at[0]++) {
        for (at[1] = 0; at[1] < extent[1]; at[1]++) {
            for (at[2] = 0; at[2] < extent[2]; at[2]++) {
                for (at[3] = 0; at[3] < extent[3]; at[3]++) {
                    emit_step(&b, at);
                    bool is_end = true; /* of one iteration of the cut loop */
                    bool is_last = true;
                    for (int l = 3; l > cut.loop; l--) {
                        is_end = is_end && at[l] == extent[l] - 1;
                    }
                    for (int l = 0; l < 4 && cut.loop >= 0; l++) {
                        is_last = is_last && (l < cut.loop || at[l] == extent[l] - 1);
                    }
                    inside += is_end;
                    bool is_cut = cut.loop >= 0 && is_end && (inside == cut.count || is_last);
                    bool is_all = at[0] == extent[0] - 1 && at[1] == extent[1] - 1 &&
                                  at[2] == extent[2] - 1 && at[3] == extent[3] - 1;
                    if (is_cut || is_all) {
                        end_stream(&b);
                        inside = 0;
                    }
                }
            }
        }
    }
    return MER_OK;
}

void mer_vta_stream_free(MerVtaStream *stream)
{
    free(stream->list);
    free(stream->uops);
    *stream = (MerVtaStream){0};
}

/* The last instruction of one stage lets the first of the next one begin. */
static void link_stages(MerVtaInstruction *last, MerVtaInstruction *first)
{
    if (mer_vta_stage(first) > mer_vta_stage(last)) {
        last->push_next = true;
        first->pop_prev = true;
    } else {
        last->push_prev = true;
        first->pop_next = true;
    }
}

void mer_vta_serialise(MerVtaStream *stream)
{
    int64_t kept = 0;
    for (int64_t n = 0; n < stream->count; n++) {
        MerVtaInstruction i = stream->list[n];
        i.pop_prev = i.pop_next = i.push_prev = i.push_next = false;
        bool is_tail = mer_vta_is_noop(&i);
        if (is_tail && !(n + 1 < stream->count && stream->list[n + 1].opcode == MER_VTA_FINISH)) {
            continue;
        }
        /* the last no-op of a stream stays: it waits for the store, which FINISH must not */
        bool is_linked = kept > 0 && stream->list[kept - 1].opcode != MER_VTA_FINISH;
        if (is_linked && mer_vta_stage(&stream->list[kept - 1]) != mer_vta_stage(&i)) {
            link_stages(&stream->list[kept - 1], &i);
        }
        stream->list[kept++] = i;
    }
    stream->count = kept;
}
