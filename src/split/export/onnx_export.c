/* Exporter `split_onnx`: a trained network in whole numbers as annotated ONNX, with the side file and the golden features that
 * compilers for such chips read, and split.json with what it was made of (docs/channel-split-deployment.md). */
#include "split/export/onnx_export.h"

#include <ctype.h>

/* Of the network, for names of files. */
static const char *file_name(const char *network, MerArena *arena)
{
    char *name = mer_arena_text(arena, network);
    for (char *c = name; *c; c++) {
        *c = isalnum((unsigned char)*c) || *c == '-' ? *c : '_';
    }
    return name;
}

static void add_config(const char *name, MerExportFiles *files)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_int(&json, "BNRelu_bits", 32);
    mer_json_text(&json, "onnx_file", mer_arena_format(files->arena, "%s.onnx", name));
    mer_json_int(&json, "code reserved space", 160000);
    mer_json_int(&json, "n_inputs", 1);
    mer_json_int(&json, "input_bits", 8);
    mer_json_bool(&json, "input_signed", false);
    mer_json_end_object(&json);
    mer_export_add(files, mer_arena_format(files->arena, "onnx/config_%s.json", name), json.text,
                   json.size);
    mer_json_free(&json);
}

/* ---- golden features: values of the first input, rows, columns and channels from the outside in */

static MerStatus add_bytes(MerExportFiles *files, const char *name, const MerIntegerValue *value,
                           const uint8_t *bytes, MerError *error)
{
    FILE *file = mer_export_begin(files);
    int   area = value->height * value->width;
    if (file) {
        fprintf(file, "# %s (shape [%d, %d, %d]),\n", name, value->height, value->width,
                value->channels);
        for (int i = 0; i < area; i++) {
            for (int c = 0; c < value->channels; c++) {
                fprintf(file, "%d,\n", bytes[c * area + i]);
            }
        }
    }
    return mer_export_end(files, file, mer_arena_format(files->arena, "onnx/%s.txt", name), error);
}

static MerStatus add_logits(MerExportFiles *files, int count, const int32_t *logits,
                            MerError *error)
{
    FILE *file = mer_export_begin(files);
    if (file) {
        fprintf(file, "# output (shape [%d]),\n", count);
        for (int c = 0; c < count; c++) {
            fprintf(file, "%d,\n", logits[c]);
        }
    }
    return mer_export_end(files, file, "onnx/output.txt", error);
}

static MerStatus add_features(const MerDeployment *deployment, MerExportFiles *files,
                              MerError *error)
{
    const MerIntegerNet *net = deployment->net;
    MerArena            *arena = files->arena;
    uint8_t             *input = MER_ARRAY(arena, uint8_t, mer_integer_value_size(&net->values[0]));
    uint8_t            **values = MER_ARRAY(arena, uint8_t *, net->value_count);
    int32_t             *logits = MER_ARRAY(arena, int32_t, net->classes);
    mer_deployment_input(deployment, 0, input, arena);
    mer_integer_net_run(net, input, logits, values, arena);
    MER_TRY(add_bytes(files, "input", &net->values[0], input, error));
    for (int n = 0; n < net->node_count - 1; n++) {
        int out = net->nodes[n].out;
        MER_TRY(add_bytes(files, mer_arena_format(arena, "out_layer%d", n), &net->values[out],
                          values[out], error));
    }
    return add_logits(files, net->classes, logits, error);
}

MerStatus mer_split_write_onnx(const MerDeployment *deployment, MerExportFiles *files,
                               MerError *error)
{
    const char *name = file_name(deployment->network, files->arena);
    size_t      size;
    const void *data = mer_onnx_network(deployment, &size, files->arena);
    mer_export_add(files, mer_arena_format(files->arena, "onnx/%s.onnx", name), data, size);
    add_config(name, files);
    return add_features(deployment, files, error);
}

static MerStatus write_onnx(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerDeployment deployment;
    MER_TRY(mer_deployment_open(what, files->arena, &deployment, error));
    mer_split_write_json(what, deployment.net, "onnx/split.json", files);
    return mer_split_write_onnx(&deployment, files, error);
}

const MerExporterClass mer_exporter_split_onnx = {
    .name = "split_onnx",
    .summary = "onnx/: the trained network as ONNX in whole numbers, a convolution per unit, with "
               "golden features",
    .problem = "split",
    .write = write_onnx,
};
