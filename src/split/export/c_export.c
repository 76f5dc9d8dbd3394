/* Exporter `split_c`: a trained network as C that needs nothing else: a function for each part of each layer, weights, reference kernels
 * of the units, and a program that replays inputs (docs/channel-split-deployment.md). */
#include "split/export/c_export.h"

#include <ctype.h>
#include <string.h>

#define ASSET(name)                                                                                \
    extern const unsigned char mer_asset_split_c_##name[];                                         \
    extern const size_t        mer_asset_split_c_##name##_size;
ASSET(kernels_h)
ASSET(kernels_c)
ASSET(test_main_c)
ASSET(Makefile)

/* Characters that are special in comments or strings become "_". */
static const char *plain(const char *text, MerArena *arena)
{
    char *copy = mer_arena_text(arena, text);
    for (char *c = copy; *c; c++) {
        *c = isalnum((unsigned char)*c) || strchr(" .,:;-_@=+", *c) ? *c : '_';
    }
    return copy;
}

static MerCPart part_of(const MerIntegerNet *net, int n, int p, const char *name, MerArena *arena)
{
    const MerIntegerNode *node = &net->nodes[n];
    const MerIntegerPart *part = &node->parts[p];
    const MerSplitOption *option = mer_deployment_option(net, node, part->option);
    char                 *full = mer_arena_format(arena, "%s_part%d_%.40s", name, p, option->name);
    for (char *c = full; *c; c++) {
        *c = isalnum((unsigned char)*c) ? *c : '_';
    }
    return (MerCPart){.node = node,
                      .part = part,
                      .option = option,
                      .name = full,
                      .weights = mer_integer_inputs(net, node, part->option) * node->kernel[0] *
                                 node->kernel[1],
                      .is_packed = option->bits == 2,
                      .is_depthwise = mer_integer_is_depthwise(net, node, part->option)};
}

static MerCNetwork describe(const MerDeployment *deployment, MerArena *arena)
{
    const MerIntegerNet *net = deployment->net;
    MerCNetwork          c = {.deployment = deployment, .net = net};
    int                  parts = 0;
    c.title = plain(mer_arena_format(arena, "%s on %s", deployment->network, deployment->platform),
                    arena);
    c.names = MER_ARRAY(arena, const char *, net->node_count);
    c.memory = mer_buffer_plan(net, arena);
    for (int n = 0; n < net->node_count; n++) {
        parts += net->nodes[n].kind == MER_TRAIN_CONV ? net->nodes[n].part_count : 0;
    }
    c.parts = MER_ARRAY(arena, MerCPart, parts + 1);
    for (int n = 0; n < net->node_count; n++) {
        c.names[n] = mer_deployment_name(net, n, arena);
        for (int p = 0; net->nodes[n].kind == MER_TRAIN_CONV && p < net->nodes[n].part_count; p++) {
            MerCPart part = part_of(net, n, p, c.names[n], arena);
            c.parts[c.part_count++] = part;
            c.weight_bytes += (int64_t)part.part->count *
                              (part.is_packed ? (part.weights + 3) / 4 : part.weights);
        }
    }
    return c;
}

static void write_number(uint32_t number, FILE *file)
{
    for (int i = 0; i < 4; i++) {
        fputc((int)(number >> 8 * i & 255), file);
    }
}

/* Inputs and their logits, as test_main.c reads them. */
static void write_golden(const MerDeployment *deployment, FILE *file)
{
    const MerIntegerNet *net = deployment->net;
    int                  bytes = mer_integer_value_size(&net->values[0]);
    MerArena            *scratch = mer_arena_new();
    fputs("MSG1", file);
    write_number((uint32_t)deployment->image_count, file);
    write_number((uint32_t)(deployment->input_count - deployment->image_count), file);
    write_number((uint32_t)bytes, file);
    write_number((uint32_t)net->classes, file);
    for (int i = 0; i < deployment->input_count; i++) {
        mer_arena_reset(scratch);
        uint8_t *input = MER_ARRAY(scratch, uint8_t, bytes);
        int32_t *logits = MER_ARRAY(scratch, int32_t, net->classes);
        mer_deployment_input(deployment, i, input, scratch);
        mer_integer_net_run(net, input, logits, NULL, scratch);
        if (i < deployment->image_count) {
            fwrite(input, 1, (size_t)bytes, file);
        }
        for (int c = 0; c < net->classes; c++) {
            write_number((uint32_t)logits[c], file);
        }
    }
    mer_arena_free(scratch);
}

static MerStatus write_one(const MerCNetwork *c, MerExportFiles *files, const char *name,
                           void (*write)(const MerCNetwork *, FILE *), MerError *error)
{
    FILE *file = mer_export_begin(files);
    if (file) {
        write(c, file);
    }
    return mer_export_end(files, file, name, error);
}

MerStatus mer_split_write_c(const MerDeployment *deployment, MerExportFiles *files, MerError *error)
{
    MerCNetwork c = describe(deployment, files->arena);
    MER_TRY(write_one(&c, files, "deploy/network.h", mer_c_network_header, error));
    MER_TRY(write_one(&c, files, "deploy/network.c", mer_c_network, error));
    MER_TRY(write_one(&c, files, "deploy/weights.h", mer_c_weights_header, error));
    MER_TRY(write_one(&c, files, "deploy/weights.c", mer_c_weights, error));
#define ADD(path, name)                                                                            \
    mer_export_add(files, "deploy/" path, mer_asset_split_c_##name, mer_asset_split_c_##name##_size)
    ADD("kernels.h", kernels_h);
    ADD("kernels.c", kernels_c);
    ADD("test_main.c", test_main_c);
    ADD("Makefile", Makefile);
    FILE *golden = mer_export_begin(files);
    if (golden) {
        write_golden(deployment, golden);
    }
    return mer_export_end(files, golden, "deploy/golden.bin", error);
}

static MerStatus write_c(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerDeployment deployment;
    MER_TRY(mer_deployment_open(what, files->arena, &deployment, error));
    return mer_split_write_c(&deployment, files, error);
}

const MerExporterClass mer_exporter_split_c = {
    .name = "split_c",
    .summary =
        "deploy/: the trained network in C, in whole numbers, with kernels of every unit and "
        "a test",
    .problem = "split",
    .write = write_c,
};
