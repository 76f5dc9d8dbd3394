/* Random layers, cores and schedules: every stream obeys the hardware, computes what a plain convolution
 * computes under any interleaving of the stages, and takes the time that the fast price says. */
#include "vta_execute.h"

#include <math.h>

enum { TRIPLES = 2200 };

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
