/* ResNet-18 in int8, layer after layer through the functional simulator, each with a schedule drawn at random on a
 * core drawn at random: every layer's output equals that of the plain network. What is no convolution or product
 * runs on the host, here in a simple form. */
#include "mercator/import.h"
#include "vta_execute.h"

typedef struct Image {
    int     channels, rows, columns;
    int8_t *data;
} Image;

static Image new_image(int channels, int rows, int columns)
{
    return (Image){channels, rows, columns, calloc((size_t)channels * rows * columns, 1)};
}

static MerVtaSchedule draw_schedule(MerRng *rng, const MerVtaTask *task)
{
    const MerVtaShape *s = &task->shape;
    for (;;) {
        MerVtaSchedule schedule = {
            1 + mer_rng_below(rng, s->rows), 1 + mer_rng_below(rng, s->columns),
            1 + mer_rng_below(rng, s->ci),   1 + mer_rng_below(rng, s->co),
            1 + mer_rng_below(rng, 2),       1 + mer_rng_below(rng, 2)};
        if (mer_vta_check(&task->core, s, &schedule, &task->rules, NULL)) {
            return schedule;
        }
    }
}

static void draw_core(MerRng *rng, MerVtaCore *core)
{
    MerVtaCore usual;
    int        in = 8 << mer_rng_below(rng, 3), out = 8 << mer_rng_below(rng, 3);
    mer_vta_core_make(&usual, 1, 16, 16, 32768, 32768, 262144, 131072);
    do {
        mer_vta_core_follow(&usual, 1, in, out, 491520, core);
        in = out = 16;
    } while (!mer_vta_core_check(core, NULL));
}

/* The layer on the core and plainly; both must agree. */
static Image run_layer(MerRng *rng, const MerOp *op, const Image *input)
{
    Case          c = {.op = *op, .images = 1};
    MerVtaStream  stream;
    MerVtaReason  reason = {""};
    MerVtaMachine machine = {.core = &c.task.core, .rng = rng};
    draw_core(rng, &c.task.core);
    mer_vta_shape_make(&c.op, 1, &c.task.core, &c.task.shape);
    c.schedule = draw_schedule(rng, &c.task);
    Tensors t = make_tensors(&c, rng);
    size_t  inputs = (size_t)t.ci * t.height * t.width;
    size_t  weights = (size_t)t.co * t.ci * c.task.shape.kernel[0] * c.task.shape.kernel[1];
    assert_int_equal(inputs, (size_t)input->channels * input->rows * input->columns);
    memcpy(t.input, input->data, inputs);
    for (size_t w = 0; w < weights; w++) {
        t.weights[w] = (int8_t)(t.weights[w] / 16); /* so that few sums saturate */
    }
    reference(&c, &t);
    assert_int_equal(mer_vta_generate(&c.task, &c.schedule, MER_VTA_STREAM_LIMIT, &stream, NULL),
                     MER_OK);
    machine.dram_bytes = dram_bytes(&c.task.core, &stream);
    machine.dram = calloc(machine.dram_bytes, 1);
    for (int u = 0; u < stream.uop_count; u++) {
        uint32_t word;
        assert_true(mer_vta_uop_encode(&c.task.core, &stream.uops[u], &word));
        memcpy(machine.dram + (stream.base[MER_VTA_UOP] + u) * 4, &word, 4);
    }
    pack(&c, &t, &stream, machine.dram);
    if (!mer_vta_execute(&machine, stream.list, stream.count, &reason)) {
        fail_msg("%s: %s", op->name, reason.text);
    }
    if (!is_equal(&c, &t, &stream, machine.dram)) {
        fail_msg("%s: another result than the plain network", op->name);
    }
    Image output = new_image(t.co, t.rows, t.columns);
    memcpy(output.data, t.output, (size_t)t.co * t.rows * t.columns);
    mer_vta_stream_free(&stream);
    free(machine.dram);
    free_tensors(&t);
    return output;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Pools, sums and what only moves data. */
static Image run_host(const MerGraph *graph, const MerOp *op, const Image *values)
{
    const Image    *x = &values[op->inputs[0]];
    const MerValue *out = &graph->values[op->outputs[0]];
    int             rows = out->rank == 4 ? (int)out->dims[2] : 1;
    int             columns = out->rank == 4 ? (int)out->dims[3] : 1;
    Image           y = new_image((int)out->dims[1], rows, columns);
    bool            is_sum = op->input_count == 2 && values[op->inputs[1]].data;
    int             step = x->rows / rows > 0 ? x->rows / rows : 1;
    for (int c = 0; c < y.channels; c++) {
        for (int p = 0; p < rows * columns; p++) {
            int r = least(p / columns * step, x->rows - 1),
                q = least(p % columns * step, x->columns - 1);
            int at = (c * x->rows + r) * x->columns + q;
            int sum = x->data[at] + (is_sum ? values[op->inputs[1]].data[at] : 0);
            y.data[c * rows * columns + p] = (int8_t)least(sum, 127);
        }
    }
    return y;
}

static void test_resnet18(void **state)
{
    MerRng    rng = mer_rng_make(3, 0);
    MerGraph *graph;
    MerError  error = {0};
    int       on_core = 0;
    (void)state;
    if (mer_graph_import("resnet18", NULL, arena, &graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    Image *values = MER_ARRAY(arena, Image, graph->value_count);
    for (int v = 0; v < graph->value_count; v++) {
        if (graph->values[v].role == MER_VALUE_INPUT) {
            values[v] = new_image(3, 224, 224);
            for (int i = 0; i < 3 * 224 * 224; i++) {
                values[v].data[i] = (int8_t)mer_rng_below(&rng, 128);
            }
        }
    }
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        bool         is_here = !mer_vta_host_reason(op);
        values[op->outputs[0]] =
            is_here ? run_layer(&rng, op, &values[op->inputs[0]]) : run_host(graph, op, values);
        on_core += is_here;
    }
    assert_int_equal(on_core, 21);
    for (int v = 0; v < graph->value_count; v++) {
        free(values[v].data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_resnet18)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
