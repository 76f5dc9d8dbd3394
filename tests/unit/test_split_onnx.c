/* Networks as ONNX: run operator by operator, a model gives the numbers of the integer network; our importer reads it back with the
 * same shapes and products; every part has its unit, and golden features are those of the first input. */
#include "one_arena.h"

#include "integer_net_support.h"
#include "mercator/import.h"
#include "onnx_builder.h"
#include "onnx_run.h"
#include "split/export/deployment.h"

enum { NETS = 60, INPUTS = 4 };

static MerDeployment deployment_of(const MerIntegerNet *net)
{
    return (MerDeployment){
        .net = net, .network = "random/1", .platform = "soc", .input_count = INPUTS};
}

static MerExportFiles export_net(const MerDeployment *deployment)
{
    MerExportFiles files = {.arena = arena};
    assert_int_equal(mer_split_write_onnx(deployment, &files, NULL), MER_OK);
    assert_string_equal(files.list[0].name, "onnx/random_1.onnx");
    return files;
}

static Onnx__ModelProto *model_of(const MerExportFiles *files)
{
    Onnx__ModelProto *model =
        onnx__model_proto__unpack(NULL, files->list[0].size, files->list[0].data);
    assert_non_null(model);
    return model;
}

static void check_numbers(const MerDeployment *deployment, const Onnx__ModelProto *model)
{
    const MerIntegerNet *net = deployment->net;
    uint8_t             *input = MER_ARRAY(arena, uint8_t, mer_integer_value_size(&net->values[0]));
    int32_t             *logits = MER_ARRAY(arena, int32_t, net->classes);
    for (int i = 0; i < INPUTS; i++) {
        mer_deployment_input(deployment, i, input, arena);
        mer_integer_net_run(net, input, logits, NULL, arena);
        OnnxTensor found = onnx_run(model, input, arena);
        assert_int_equal(onnx_run_size(&found), net->classes);
        for (int c = 0; c < net->classes; c++) {
            assert_true(found.data[c] == logits[c]);
        }
    }
}

static int64_t macs_of(const MerIntegerNet *net)
{
    int64_t sum = 0;
    for (int n = 0; n < net->node_count; n++) {
        const MerIntegerNode *node = &net->nodes[n];
        for (int p = 0; node->kind == MER_TRAIN_CONV && p < node->part_count; p++) {
            int64_t area = (int64_t)net->values[node->out].height * net->values[node->out].width;
            sum += area * node->parts[p].count * node->kernel[0] * node->kernel[1] *
                   mer_integer_inputs(net, node, node->parts[p].option);
        }
    }
    return sum;
}

/* As users read it: shapes of the borders and all products. */
static void check_import(const MerIntegerNet *net, const MerExportFiles *files)
{
    MerImportFile    file = {.path = "net.onnx",
                             .name = "net",
                             .data = files->list[0].data,
                             .size = files->list[0].size};
    MerImportOptions options = {0};
    MerGraph        *graph;
    MerError         error = {0};
    int64_t          macs = 0;
    if (mer_importer_onnx.read(&file, &options, arena, &graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    for (int o = 0; o < graph->op_count; o++) {
        macs += graph->ops[o].macs * graph->ops[o].repeat;
    }
    assert_int_equal(macs, macs_of(net));
    assert_string_equal(onnx_shape_text(graph, "0", arena),
                        mer_arena_format(arena, "1 %d %d %d", net->values[0].channels,
                                         net->values[0].height, net->values[0].width));
    for (int v = 0; v < graph->value_count; v++) {
        const MerValue *value = &graph->values[v];
        if (value->is_output) {
            assert_int_equal(value->elements, net->classes);
        }
    }
}

/* A Conv or Gemm for each part at least, with bits and unit; results are numbered. */
static void check_nodes(const MerIntegerNet *net, const Onnx__ModelProto *model)
{
    int parts = 0, found = 0, analog = 0;
    for (int n = 0; n < net->node_count; n++) {
        parts += net->nodes[n].part_count;
    }
    assert_int_equal(model->opset_import[0]->version, 10);
    assert_string_equal(model->graph->input[0]->name, "0");
    for (size_t n = 0; n < model->graph->n_node; n++) {
        const Onnx__NodeProto *node = model->graph->node[n];
        assert_int_equal(atoi(node->output[0]), n + 1);
        if (strcmp(node->op_type, "Conv") == 0 || strcmp(node->op_type, "Gemm") == 0) {
            const Onnx__AttributeProto *unit = onnx_run_attribute(node, "unit");
            int64_t                     bits = onnx_run_int(node, "weight_bits", 0);
            assert_int_equal(onnx_run_int(node, "bias_bits", 0), 32);
            assert_int_equal(bits, unit->s.len == 6 ? 2 : 8); /* analog */
            analog += bits == 2;
            found++;
        }
        if (strcmp(node->op_type, "Clip") == 0) {
            assert_int_equal(onnx_run_int(node, "out_bits", 0), 8);
        }
    }
    assert_true(found >= parts && analog <= found);
}

static void test_models(void **state)
{
    MerRng rng = mer_rng_make(17, 0);
    (void)state;
    for (int i = 0; i < NETS; i++) {
        const MerIntegerNet *net = random_integer_net(&rng, arena);
        MerDeployment deployment = deployment_of(i % 2 ? mer_integer_net_reorder(net, arena) : net);
        MerExportFiles    files = export_net(&deployment);
        Onnx__ModelProto *model = model_of(&files);
        check_nodes(deployment.net, model);
        check_numbers(&deployment, model);
        check_import(deployment.net, &files);
        onnx__model_proto__free_unpacked(model, NULL);
    }
}

static const char *text_of(const MerExportFiles *files, const char *name)
{
    for (int f = 0; f < files->count; f++) {
        if (strcmp(files->list[f].name, name) == 0) {
            return mer_arena_text_n(arena, files->list[f].data, files->list[f].size);
        }
    }
    fail_msg("no file %s", name);
    return NULL;
}

/* One convolution of two channels on an image of 1 x 2: every line by hand. */
static void test_features(void **state)
{
    MerRng         rng = mer_rng_make(3, 0);
    IntegerBuilder b = integer_builder(&rng, arena);
    MerConvolution plain = {1, {1, 1}, {0, 0}, {1, 1}};
    (void)state;
    b.net->values[0] = (MerIntegerValue){2, 1, 2, 0, 1.0f / 128};
    MerIntegerNode *first = integer_conv(&b, 0, 2, (int[]){1, 1}, plain, false);
    b.net->values[1].zero = 0;
    static const int8_t weights[2][2] = {{1, 0}, {0, -1}};
    for (int c = 0; c < 2; c++) { /* channel 0 again, and 100 - channel 1 */
        first->channels[c] =
            (MerIntegerChannel){.weights = weights[c], .scale = 1, .start = c * 100};
    }
    mer_integer_find_parts(first, 2, arena);
    integer_last(&b, integer_conv(&b, 1, 2, (int[]){1, 2}, plain, false));
    integer_finish(&b);
    MerDeployment  deployment = deployment_of(b.net);
    MerExportFiles files = export_net(&deployment);
    uint8_t        x[4];
    int32_t        logits[2];
    mer_deployment_input(&deployment, 0, x, arena);
    mer_integer_net_run(b.net, x, logits, NULL, arena);
    int rest[2] = {x[2] < 100 ? 100 - x[2] : 0, x[3] < 100 ? 100 - x[3] : 0};
    assert_string_equal(text_of(&files, "onnx/input.txt"),
                        mer_arena_format(arena, "# input (shape [1, 2, 2]),\n%d,\n%d,\n%d,\n%d,\n",
                                         x[0], x[2], x[1], x[3]));
    assert_string_equal(text_of(&files, "onnx/out_layer0.txt"),
                        mer_arena_format(arena,
                                         "# out_layer0 (shape [1, 2, 2]),\n%d,\n%d,\n%d,\n%d,\n",
                                         x[0], rest[0], x[1], rest[1]));
    assert_string_equal(
        text_of(&files, "onnx/output.txt"),
        mer_arena_format(arena, "# output (shape [2]),\n%d,\n%d,\n", logits[0], logits[1]));
    assert_string_equal(text_of(&files, "onnx/config_random_1.json"),
                        "{\"BNRelu_bits\":32,\"onnx_file\":\"random_1.onnx\",\"code reserved "
                        "space\":160000,\"n_inputs\":1,\"input_bits\":8,\"input_signed\":false}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_features),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
