/* Exporter `kernels`: the tuned native kernels as a C library: one file per layer, a header, a program that checks
 * and times them, and a Makefile (docs/codesign-native.md). */
#include "codesign/native/kernel.h"
#include "mercator/export.h"

#include <ctype.h>

typedef struct Item {
    const char      *name; /* an identifier of C */
    const MerKernel *kernel;
    MerKernelShape   shape;
    MerKernelSizes   sizes;
} Item;

/* "layer1.0/conv" as number 3 of a network: k3_layer1_0_conv. */
static const char *identifier(const char *name, int number, MerArena *arena)
{
    char *text = mer_arena_format(arena, "k%d_%.60s", number, name);
    for (char *c = text; *c; c++) {
        *c = isalnum((unsigned char)*c) ? *c : '_';
    }
    return text;
}

static void write_header(const MerExport *what, const Item *items, FILE *file)
{
    fprintf(file,
            "/* Kernels of %s: float32, one image. Arrays are packed by the functions beside each "
            "kernel,\n"
            " * have the numbers of elements named here, and start at multiples of 64 bytes. */\n"
            "#ifndef KERNELS_H\n#define KERNELS_H\n\n",
            what->workload);
    for (int i = 0; i < what->count; i++) {
        const Item *k = &items[i];
        fprintf(file,
                "/* input %d x %d x %d, output %d x %d x %d */\n"
                "enum { %s_input = %lld, %s_weights = %lld, %s_output = %lld };\n"
                "void %s(const float *input, const float *weights, float *output);\n"
                "void %s_pack_input(const float *image, float *packed);\n"
                "void %s_pack_weights(const float *filters, float *packed);\n"
                "void %s_unpack_output(const float *packed, float *image);\n\n",
                k->shape.ci, k->shape.height, k->shape.width, k->shape.co, k->shape.rows,
                k->shape.columns, k->name, (long long)k->sizes.input, k->name,
                (long long)k->sizes.weights, k->name, (long long)k->sizes.output, k->name, k->name,
                k->name, k->name);
    }
    fprintf(file, "#endif\n");
}

static const char test_head[] =
    "/* Holds every kernel against the plain convolution and times it. Exit code 1: one is wrong. "
    "*/\n"
    "#define _POSIX_C_SOURCE 200809L\n"
    "#include \"kernels.h\"\n\n"
    "#include <stdio.h>\n"
    "#include <stdlib.h>\n"
    "#include <time.h>\n\n"
    "typedef void Copy(const float *from, float *to);\n"
    "typedef struct Kernel {\n"
    "    const char *name;\n"
    "    int ci, co, height, width, rows, columns;\n"
    "    int kernel[2], stride[2], dilation[2], pad[2];\n"
    "    long input, weights, output;\n"
    "    void (*run)(const float *input, const float *weights, float *output);\n"
    "    Copy *pack_input, *pack_weights, *unpack_output;\n"
    "} Kernel;\n\n"
    "static const Kernel kernels[] = {\n";

static const char test_rest[] =
    "};\n\n"
    "static float *array(long count, int is_filled)\n{\n"
    "    float *values = aligned_alloc(64, ((size_t)count * sizeof(float) + 63) / 64 * 64);\n"
    "    unsigned state = 12345;\n"
    "    for (long i = 0; values && i < count; i++) {\n"
    "        state = state * 1664525u + 1013904223u;\n"
    "        values[i] = is_filled ? (float)((int)(state >> 16) % 3 - 1) : 0; /* sums stay exact "
    "*/\n"
    "    }\n"
    "    if (!values)\n        exit(2);\n"
    "    return values;\n}\n\n"
    "static float expected(const Kernel *k, const float *image, const float *filters, long o, int "
    "y, int x)\n{\n"
    "    float sum = 0;\n"
    "    for (long c = 0; c < k->ci; c++)\n"
    "    for (int r = 0; r < k->kernel[0]; r++)\n"
    "    for (int s = 0; s < k->kernel[1]; s++) {\n"
    "        int row = y * k->stride[0] + r * k->dilation[0] - k->pad[0];\n"
    "        int column = x * k->stride[1] + s * k->dilation[1] - k->pad[1];\n"
    "        if (row >= 0 && row < k->height && column >= 0 && column < k->width)\n"
    "            sum += image[(c * k->height + row) * k->width + column] *\n"
    "                   filters[((o * k->ci + c) * k->kernel[0] + r) * k->kernel[1] + s];\n"
    "    }\n"
    "    return sum;\n}\n\n"
    "static double now(void)\n{\n"
    "    struct timespec t;\n"
    "    clock_gettime(CLOCK_MONOTONIC, &t);\n"
    "    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n}\n\n"
    "static int compare(const void *a, const void *b)\n{\n"
    "    double x = *(const double *)a, y = *(const double *)b;\n"
    "    return (x > y) - (x < y);\n}\n\n"
    "/* Seconds of one run: the median of nine samples of 5 ms at least. */\n"
    "static double seconds(const Kernel *k, const float *input, const float *weights, float "
    "*output)\n{\n"
    "    double samples[9];\n"
    "    for (int i = 0; i < 9; i++) {\n"
    "        double start = now(), end;\n"
    "        int runs = 0;\n"
    "        do {\n"
    "            k->run(input, weights, output);\n"
    "            runs++;\n"
    "            end = now();\n"
    "        } while (end - start < 5e-3);\n"
    "        samples[i] = (end - start) / runs;\n"
    "    }\n"
    "    qsort(samples, 9, sizeof samples[0], compare);\n"
    "    return samples[4];\n}\n\n"
    "static int test(const Kernel *k)\n{\n"
    "    long plane = (long)k->rows * k->columns, wrong = 0;\n"
    "    float *image = array((long)k->ci * k->height * k->width, 1);\n"
    "    float *filters = array((long)k->co * k->ci * k->kernel[0] * k->kernel[1], 1);\n"
    "    float *result = array(k->co * plane, 0), *input = array(k->input, 0);\n"
    "    float *weights = array(k->weights, 0), *output = array(k->output, 0);\n"
    "    k->pack_input(image, input);\n"
    "    k->pack_weights(filters, weights);\n"
    "    k->run(input, weights, output);\n"
    "    k->unpack_output(output, result);\n"
    "    for (long i = 0; i < k->co * plane; i++)\n"
    "        wrong += result[i] != expected(k, image, filters, i / plane, (int)(i % plane / "
    "k->columns),\n"
    "                                       (int)(i % k->columns));\n"
    "    double s = seconds(k, input, weights, output);\n"
    "    double flop = 2.0 * (double)k->co * (double)plane * k->ci * k->kernel[0] * k->kernel[1];\n"
    "    printf(\"%-40s %-5s %8.2f GFLOP/s %10.4f ms\\n\", k->name, wrong ? \"WRONG\" : \"ok\", "
    "1e-9 * flop / s,\n"
    "           1e3 * s);\n"
    "    free(image), free(filters), free(result), free(input), free(weights), free(output);\n"
    "    return wrong == 0;\n}\n\n"
    "int main(void)\n{\n"
    "    int is_good = 1;\n"
    "    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)\n"
    "        is_good = test(&kernels[i]) && is_good;\n"
    "    return is_good ? 0 : 1;\n}\n";

static void write_test(const MerExport *what, const Item *items, FILE *file)
{
    fputs(test_head, file);
    for (int i = 0; i < what->count; i++) {
        const MerKernelShape *s = &items[i].shape;
        const char           *n = items[i].name;
        fprintf(file,
                "    {\"%s\", %d, %d, %d, %d, %d, %d, {%d, %d}, {%d, %d}, {%d, %d}, {%d, %d},\n"
                "     %s_input, %s_weights, %s_output, %s, %s_pack_input, %s_pack_weights,\n"
                "     %s_unpack_output},\n",
                n, s->ci, s->co, s->height, s->width, s->rows, s->columns, s->kernel[0],
                s->kernel[1], s->stride[0], s->stride[1], s->dilation[0], s->dilation[1], s->pad[0],
                s->pad[1], n, n, n, n, n, n, n);
    }
    fputs(test_rest, file);
}

static void write_makefile(const MerExport *what, const Item *items, FILE *file)
{
    const MerPlatform *platform = what->tasks[0].problem->platform;
    fprintf(file, "CC = %s\nCFLAGS = %s\nOBJECTS =", platform->compiler, platform->flags);
    for (int i = 0; i < what->count; i++) {
        fprintf(file, " %s.o", items[i].name);
    }
    fprintf(file, "\n\nlibkernels.a: $(OBJECTS)\n\t$(AR) rcs $@ $(OBJECTS)\n\n"
                  "test: test.c kernels.h libkernels.a\n"
                  "\t$(CC) $(CFLAGS) -pthread -o $@ test.c libkernels.a\n\n"
                  "check: test\n\t./test\n\n"
                  "clean:\n\trm -f $(OBJECTS) libkernels.a test\n\n"
                  ".PHONY: check clean\n");
}

static MerStatus write_one(const MerExport *what, const Item *items, MerExportFiles *files,
                           const char *name, void (*write)(const MerExport *, const Item *, FILE *),
                           MerError   *error)
{
    FILE *file = mer_export_begin(files);
    if (file) {
        write(what, items, file);
    }
    return mer_export_end(files, file, name, error);
}

static MerStatus write_kernels(const MerExport *what, MerExportFiles *files, MerError *error)
{
    Item *items = MER_ARRAY(files->arena, Item, what->count);
    for (int i = 0; i < what->count; i++) {
        const MerExportTask *task = &what->tasks[i];
        if (task->plan->kind != &mer_plan_kernel) {
            return MER_OK;
        }
        Item *item = &items[i];
        item->name = identifier(task->problem->task->name, i + 1, files->arena);
        item->kernel = task->plan->content;
        mer_kernel_shape_make(&task->problem->graph->ops[task->problem->task->op], &item->shape);
        mer_kernel_sizes(&item->shape, item->kernel, &item->sizes);
    }
    MER_TRY(write_one(what, items, files, "kernels/kernels.h", write_header, error));
    MER_TRY(write_one(what, items, files, "kernels/test.c", write_test, error));
    MER_TRY(write_one(what, items, files, "kernels/Makefile", write_makefile, error));
    for (int i = 0; i < what->count; i++) {
        FILE *file = mer_export_begin(files);
        if (file) {
            mer_kernel_emit(&items[i].shape, items[i].kernel, items[i].name, file);
        }
        MER_TRY(mer_export_end(
            files, file, mer_arena_format(files->arena, "kernels/%s.c", items[i].name), error));
    }
    return MER_OK;
}

const MerExporterClass mer_exporter_kernels = {
    .name = "kernels",
    .summary = "kernels/: the native kernels of a run as a C library, with a header and a test "
               "program",
    .problem = "codesign",
    .write = write_kernels,
};
