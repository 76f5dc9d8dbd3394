/* Random layers, cores and schedules: every stream obeys the hardware, computes what a plain convolution
 * computes under any interleaving of the stages, and takes the time that the fast price says. */
#include "codesign/cost/functional.h"
#include "vta_support.h"

#include <math.h>

enum { TRIPLES = 2200 };

typedef struct Case {
    MerOp          op;
    int            images;
    MerVtaTask     task;
    MerVtaSchedule schedule;
} Case;

static int pick(MerRng *rng, int count, const int *list)
{
    return list[mer_rng_below(rng, count)];
}
#define PICK(rng, ...)                                                                             \
    pick(rng, sizeof((const int[]){__VA_ARGS__}) / sizeof(int), (const int[]){__VA_ARGS__})

static int divisor(MerRng *rng, int of)
{
    int list[64], count = 0;
    for (int d = 1; d <= of && count < 64; d++) {
        if (of % d == 0) {
            list[count++] = d;
        }
    }
    return list[mer_rng_below(rng, count)];
}

static void draw_op(MerRng *rng, Case *c)
{
    int kernel = PICK(rng, 1, 3, 3, 5, 7), size = PICK(rng, 5, 7, 8, 9, 12, 14);
    int stride = PICK(rng, 1, 1, 2), pad = mer_rng_below(rng, kernel / 2 + 2);
    int kind = mer_rng_below(rng, 8);
    while (size + 2 * pad < kernel) {
        pad++;
    }
    c->op = vta_conv(size, PICK(rng, 3, 8, 16, 24, 32, 48), PICK(rng, 4, 8, 16, 40, 32), kernel,
                     stride, pad);
    c->images = PICK(rng, 1, 1, 2, 3);
    if (kind == 0) {
        c->op.pad[2] = mer_rng_below(rng, 3); /* uneven padding and dilation */
        c->op.dilation[0] = c->op.dilation[1] = PICK(rng, 1, 2);
        for (int a = 0; a < 2; a++) {
            int64_t reach = (kernel - 1) * c->op.dilation[a] + 1;
            int64_t rows = size + c->op.pad[a] + c->op.pad[a + 2] - reach;
            while (rows < 0) {
                c->op.pad[a]++;
                rows++;
            }
            c->op.dims[a == 0 ? MER_DIM_Y : MER_DIM_X] = rows / stride + 1;
        }
    } else if (kind == 1) {
        c->op.kind = MER_OP_DEPTHWISE;
        c->op.dims[MER_DIM_K] = 1;
    } else if (kind == 2) {
        c->op.dims[MER_DIM_G] = 3;
    } else if (kind == 3 || kind == 4) {
        MerOp gemm = mer_op_make("fc", "Gemm", kind == 3 ? MER_OP_GEMM : MER_OP_BATCHED_GEMM);
        gemm.dims[MER_DIM_Y] = PICK(rng, 1, 1, 6, 17);
        gemm.dims[MER_DIM_C] = PICK(rng, 20, 64, 96);
        gemm.dims[MER_DIM_K] = PICK(rng, 10, 64, 100);
        gemm.dims[MER_DIM_G] = kind == 3 ? 1 : 2;
        c->op = gemm;
    }
}

static void draw(MerRng *rng, Case *c)
{
    MerVtaReason reason;
    for (;;) {
        MerVtaCore usual;
        *c = (Case){0};
        draw_op(rng, c);
        mer_vta_core_make(&usual, 1, 16, 16, 32768, 32768, 262144, 131072);
        mer_vta_core_follow(&usual, PICK(rng, 1, 1, 2, 4), PICK(rng, 4, 8, 16, 32),
                            PICK(rng, 4, 8, 16, 32), PICK(rng, 65536, 491520), &c->task.core);
        mer_vta_shape_make(&c->op, c->images, &c->task.core, &c->task.shape);
        c->task.rules.has_bias = mer_rng_below(rng, 2);
        const MerVtaShape *s = &c->task.shape;
        c->schedule =
            (MerVtaSchedule){divisor(rng, s->rows), divisor(rng, s->columns), divisor(rng, s->ci),
                             divisor(rng, s->co),   PICK(rng, 1, 2),          PICK(rng, 1, 2)};
        if (mer_vta_core_check(&c->task.core, &reason) &&
            mer_vta_check(&c->task.core, s, &c->schedule, &c->task.rules, &reason)) {
            return;
        }
        assert_true(reason.text[0] != '\0');
    }
}

/* Tensors in the order of the graph: images, groups, channels of a group, rows, columns. */
typedef struct Tensors {
    int      images, groups, ci, co; /* real sizes */
    int      height, width, rows, columns;
    int8_t  *input, *weights, *output;
    int32_t *bias;
} Tensors;

static Tensors make_tensors(const Case *c, MerRng *rng)
{
    const MerVtaShape *s = &c->task.shape;
    const int64_t     *d = c->op.dims;
    bool               is_rows = mer_vta_is_dense(&c->op) && d[MER_DIM_Y] > 1;
    Tensors            t = {.images = is_rows ? c->task.core.batch : c->images,
                            .groups = (int)d[MER_DIM_G],
                            .ci = (int)d[MER_DIM_C],
                            .co = (int)d[MER_DIM_K],
                            .height = s->height,
                            .width = s->width,
                            .rows = s->rows,
                            .columns = s->columns};
    if (c->op.kind == MER_OP_DEPTHWISE) {
        t.groups = t.ci;
        t.ci = 1;
    }
    size_t inputs = (size_t)t.images * t.groups * t.ci * t.height * t.width;
    size_t kernel = (size_t)s->kernel[0] * s->kernel[1];
    size_t weights = (size_t)t.groups * t.co * t.ci * kernel, outs = (size_t)t.groups * t.co;
    t.input = malloc(inputs);
    t.weights = malloc(weights);
    t.bias = malloc(t.images * outs * sizeof(int32_t));
    t.output = malloc(t.images * outs * t.rows * t.columns);
    for (size_t i = 0; i < inputs; i++) {
        t.input[i] = (int8_t)(mer_rng_below(rng, 256) - 128);
    }
    for (size_t i = 0; i < weights; i++) {
        t.weights[i] = (int8_t)(mer_rng_below(rng, 256) - 128);
    }
    for (size_t i = 0; i < t.images * outs; i++) {
        t.bias[i] = c->task.rules.has_bias ? mer_rng_below(rng, 32768) - 16384 : 0;
    }
    return t;
}

static void free_tensors(Tensors *t)
{
    free(t->input);
    free(t->weights);
    free(t->bias);
    free(t->output);
}

/* The computation that the core is to do, written as plainly as it can be. */
static void reference(const Case *c, Tensors *t)
{
    const MerVtaShape *s = &c->task.shape;
    int8_t            *out = t->output;
    for (int n = 0; n < t->images; n++) {
        for (int k = 0; k < t->groups * t->co; k++) {
            int g = k / t->co;
            for (int y = 0; y < t->rows; y++) {
                for (int x = 0; x < t->columns; x++) {
                    int32_t sum = 0;
                    for (int ci = 0; ci < t->ci; ci++) {
                        for (int r = 0; r < s->kernel[0]; r++) {
                            for (int q = 0; q < s->kernel[1]; q++) {
                                int h = y * s->stride[0] + r * s->dilation[0] - s->pad[0];
                                int w = x * s->stride[1] + q * s->dilation[1] - s->pad[1];
                                if (h >= 0 && h < t->height && w >= 0 && w < t->width) {
                                    sum +=
                                        t->input[(((n * t->groups + g) * t->ci + ci) * t->height +
                                                  h) *
                                                     t->width +
                                                 w] *
                                        t->weights[((k * t->ci + ci) * s->kernel[0] + r) *
                                                       s->kernel[1] +
                                                   q];
                                }
                            }
                        }
                    }
                    sum = (sum >= 0 ? sum >> 8 : -((-sum - 1) >> 8) - 1) +
                          t->bias[n * t->groups * t->co + k];
                    *out++ = (int8_t)(sum > 127 ? 127 : sum < 0 ? 0 : sum);
                }
            }
        }
    }
}

/* Group and channel of the graph that block `block`, lane `lane` of group `group` holds; false: padding. */
static bool channel_of(const Case *c, int group, int block, int lane, int size, int channels,
                       int *g, int *channel)
{
    if (c->op.kind == MER_OP_DEPTHWISE) {
        int wide = c->task.core.block_in > c->task.core.block_out ? c->task.core.block_in
                                                                  : c->task.core.block_out;
        *g = group * wide + block * size + lane;
        *channel = 0;
        return *g < (int)c->op.dims[MER_DIM_C];
    }
    *g = group;
    *channel = block * size + lane;
    return *channel < channels;
}

static void pack(const Case *c, const Tensors *t, const MerVtaStream *stream, uint8_t *dram)
{
    const MerVtaShape *s = &c->task.shape;
    const MerVtaCore  *core = &c->task.core;
    int                kernel = s->kernel[0] * s->kernel[1], g, k, gi, ci;
    int8_t  *inp = (int8_t *)dram + stream->base[MER_VTA_INP] * core->element[MER_VTA_INP];
    int8_t  *wgt = (int8_t *)dram + stream->base[MER_VTA_WGT] * core->element[MER_VTA_WGT];
    int32_t *bias =
        (int32_t *)(void *)(dram + stream->base[MER_VTA_ACC] * core->element[MER_VTA_ACC]);
    for (int nb = 0; nb < s->batches; nb++) {
        for (int group = 0; group < s->groups; group++) {
            int all = nb * s->groups + group;
            for (int block = 0; block < s->ci; block++) {
                for (int p = 0; p < s->height * s->width; p++) {
                    for (int b = 0; b < core->batch; b++) {
                        for (int l = 0; l < core->block_in; l++) {
                            int  n = nb * core->batch + b;
                            bool is_real =
                                channel_of(c, group, block, l, core->block_in, t->ci, &g, &k) &&
                                n < t->images;
                            inp[(((int64_t)all * s->ci + block) * s->height * s->width + p) *
                                    core->batch * core->block_in +
                                b * core->block_in + l] =
                                is_real ? t->input[((n * t->groups + g) * t->ci + k) * t->height *
                                                       t->width +
                                                   p]
                                        : 0;
                        }
                    }
                }
            }
            for (int block = 0; block < s->co && c->task.rules.has_bias; block++) {
                for (int b = 0; b < core->batch; b++) {
                    for (int l = 0; l < core->block_out; l++) {
                        int  n = nb * core->batch + b;
                        bool is_real =
                            channel_of(c, group, block, l, core->block_out, t->co, &g, &k) &&
                            n < t->images;
                        bias[((int64_t)all * s->co + block) * core->batch * core->block_out +
                             b * core->block_out + l] =
                            is_real ? t->bias[(n * t->groups + g) * t->co + k] : 0;
                    }
                }
            }
        }
    }
    for (int group = 0; group < s->groups; group++) {
        for (int ob = 0; ob < s->co; ob++) {
            for (int ib = 0; ib < s->ci; ib++) {
                for (int p = 0; p < kernel; p++) {
                    for (int o = 0; o < core->block_out; o++) {
                        for (int i = 0; i < core->block_in; i++) {
                            bool is_real =
                                channel_of(c, group, ob, o, core->block_out, t->co, &g, &k) &&
                                channel_of(c, group, ib, i, core->block_in, t->ci, &gi, &ci) &&
                                g == gi;
                            *wgt++ = is_real
                                         ? t->weights[((g * t->co + k) * t->ci + ci) * kernel + p]
                                         : 0;
                        }
                    }
                }
            }
        }
    }
}

static bool is_equal(const Case *c, const Tensors *t, const MerVtaStream *stream,
                     const uint8_t *dram)
{
    const MerVtaShape *s = &c->task.shape;
    const MerVtaCore  *core = &c->task.core;
    const int8_t      *out =
        (const int8_t *)dram + stream->base[MER_VTA_OUT] * core->element[MER_VTA_OUT];
    int g, k, pixels = s->rows * s->columns;
    for (int nb = 0; nb < s->batches; nb++) {
        for (int group = 0; group < s->groups; group++) {
            for (int block = 0; block < s->co; block++) {
                for (int p = 0; p < pixels; p++) {
                    for (int b = 0; b < core->batch; b++) {
                        for (int l = 0; l < core->block_out; l++, out++) {
                            int n = nb * core->batch + b;
                            if (channel_of(c, group, block, l, core->block_out, t->co, &g, &k) &&
                                n < t->images &&
                                *out != t->output[((n * t->groups + g) * t->co + k) * pixels + p]) {
                                return false;
                            }
                        }
                    }
                }
            }
        }
    }
    return true;
}

/* All that a failure needs to be seen again. */
static const char *describe(const Case *c)
{
    const MerVtaShape    *s = &c->task.shape;
    const MerVtaSchedule *p = &c->schedule;
    return mer_arena_format(arena,
                            "%s: %dx%dx%d core, %d batches %d groups ci %d co %d, %dx%d to %dx%d, "
                            "kernel %dx%d stride %d "
                            "dilation %d pad %d %d %d %d; tiles %d %d %d %d threads %d %d%s",
                            mer_op_kind_name(c->op.kind), c->task.core.batch, c->task.core.block_in,
                            c->task.core.block_out, s->batches, s->groups, s->ci, s->co, s->height,
                            s->width, s->rows, s->columns, s->kernel[0], s->kernel[1], s->stride[0],
                            s->dilation[0], s->pad[0], s->pad[1], s->pad[2], s->pad[3], p->tile_h,
                            p->tile_w, p->tile_ci, p->tile_co, p->h_threads, p->oc_threads,
                            c->task.rules.has_bias ? " with bias" : "");
}

static size_t dram_bytes(const MerVtaCore *core, const MerVtaStream *stream)
{
    return (size_t)((stream->base[MER_VTA_OUT] + stream->entries[MER_VTA_OUT]) *
                    core->element[MER_VTA_OUT]);
}

static uint32_t *encode_all(const Case *c, const MerVtaStream *stream, MerVtaWord **words)
{
    uint32_t *uops = malloc((size_t)stream->uop_count * sizeof *uops);
    *words = malloc((size_t)stream->count * sizeof **words);
    for (int u = 0; u < stream->uop_count; u++) {
        assert_true(mer_vta_uop_encode(&c->task.core, &stream->uops[u], &uops[u]));
    }
    for (int64_t i = 0; i < stream->count; i++) {
        MerVtaInstruction again;
        assert_null(mer_vta_encode(&c->task.core, &stream->list[i], &(*words)[i]));
        assert_null(mer_vta_decode(&c->task.core, (*words)[i], &again));
        assert_memory_equal(&again.sram_base, &stream->list[i].sram_base, sizeof again.sram_base);
    }
    return uops;
}

/* Executes the decoded words; the counters must be those of the loops. */
static void execute(const Case *c, const Tensors *t, const MerVtaStream *stream,
                    const uint32_t *uops, MerRng *rng, int number)
{
    MerVtaMachine machine = {.core = &c->task.core, .rng = rng};
    MerVtaReason  reason = {""};
    machine.dram_bytes = dram_bytes(&c->task.core, stream);
    machine.dram = calloc(machine.dram_bytes, 1);
    memcpy(machine.dram + stream->base[MER_VTA_UOP] * 4, uops, (size_t)stream->uop_count * 4);
    pack(c, t, stream, machine.dram);
    if (!mer_vta_execute(&machine, stream->list, stream->count, &reason)) {
        fail_msg("case %d: %s", number, reason.text);
    }
    if (!is_equal(c, t, stream, machine.dram)) {
        fail_msg("case %d: another result than the plain convolution: %s", number, describe(c));
    }
    MerVtaCounters counters;
    mer_vta_count(&c->task, &c->schedule, &counters);
    assert_int_equal(machine.counters.gemm, counters.gemm);
    assert_int_equal(machine.counters.alu, counters.alu);
    assert_int_equal(machine.counters.store, counters.store);
    assert_int_equal(machine.counters.load[MER_VTA_INP], counters.load[MER_VTA_INP]);
    assert_int_equal(machine.counters.load[MER_VTA_WGT], counters.load[MER_VTA_WGT]);
    assert_int_equal(machine.counters.load[MER_VTA_ACC], counters.load[MER_VTA_ACC]);
    free(machine.dram);
}

static void test_streams_compute_the_layer(void **state)
{
    MerRng rng = mer_rng_make(7, 0);
    (void)state;
    for (int n = 0; n < TRIPLES; n++) {
        Case         c;
        MerVtaStream stream;
        MerVtaWord  *words;
        MerVtaReason reason = {""};
        draw(&rng, &c);
        Tensors t = make_tensors(&c, &rng);
        reference(&c, &t);
        int64_t limit = n % 5 == 0 ? 200 : MER_VTA_STREAM_LIMIT; /* several streams as well */
        assert_int_equal(mer_vta_generate(&c.task, &c.schedule, limit, &stream, NULL), MER_OK);
        uint32_t *uops = encode_all(&c, &stream, &words);
        if (!mer_vta_stream_check(&c.task.core, words, stream.count, uops, stream.uop_count,
                                  stream.base[MER_VTA_UOP], &reason)) {
            fail_msg("case %d: %s", n, reason.text);
        }
        execute(&c, &t, &stream, uops, &rng, n);
        if (n % 3 == 0) {
            mer_vta_serialise(&stream);
            execute(&c, &t, &stream, uops, &rng, n);
        }
        mer_vta_stream_free(&stream);
        free(words);
        free(uops);
        free_tensors(&t);
    }
}

/* The fast price against the walk over instructions, larger layers and long streams included. */
static void test_price_is_the_walk(void **state)
{
    MerRng rng = mer_rng_make(8, 0);
    (void)state;
    for (int n = 0; n < 3000; n++) {
        Case         c;
        MerVtaStream stream;
        MerVtaTiming timing;
        MerVtaTime   fast, slow;
        MerVtaReason reason = {""};
        draw(&rng, &c);
        mer_vta_timing_of(vta_platform(n % 2 ? "vta-pynq-a" : "vta-pynq-b"), &timing);
        timing.load_per_byte *= n % 7 == 0 ? 20 : 1; /* each stage is the slowest somewhere */
        timing.store_per_byte *= n % 11 == 0 ? 100 : 1;
        timing.is_exact = n % 13 == 0;
        assert_int_equal(
            mer_vta_generate(&c.task, &c.schedule, MER_VTA_STREAM_LIMIT, &stream, NULL), MER_OK);
        if (!mer_vta_walk(&c.task.core, &timing, stream.list, stream.count, &slow, NULL, NULL,
                          &reason)) {
            fail_msg("case %d: %s", n, reason.text);
        }
        assert_true(mer_vta_price(&c.task, &c.schedule, &timing, INFINITY, &fast));
        if (memcmp(&fast, &slow, sizeof fast) != 0) {
            fail_msg("case %d: %lld ticks fast, %lld slow: %s", n, (long long)fast.ticks,
                     (long long)slow.ticks, describe(&c));
        }
        double     seconds = mer_vta_seconds(&timing, &slow);
        MerVtaTime cut;
        if (!mer_vta_price(&c.task, &c.schedule, &timing, seconds * 0.7, &cut)) {
            assert_true(mer_vta_seconds(&timing, &cut) <= seconds * (1 + 1e-12));
        }
        mer_vta_stream_free(&stream);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_streams_compute_the_layer),
                                       cmocka_unit_test(test_price_is_the_walk)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
