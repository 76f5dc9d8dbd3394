/* network.c and network.h: a function for each part of each layer, and the order in which they run. */
#include "split/export/c_export.h"

static const MerIntegerNode *last_node(const MerIntegerNet *net)
{
    return &net->nodes[net->node_count - 1];
}

static const char *kernel_of(const MerCPart *part, bool is_last)
{
    return is_last              ? (part->is_packed ? "logits_ternary" : "logits_int8")
           : part->is_depthwise ? (part->is_packed ? "depthwise_ternary" : "depthwise_int8")
                                : (part->is_packed ? "conv_ternary" : "conv_int8");
}

/* The name of a value in network_run. */
static void write_value(const MerIntegerNet *net, int value, FILE *file)
{
    if (value == 0) {
        fprintf(file, "input");
    } else if (value == last_node(net)->out) {
        fprintf(file, "logits");
    } else {
        fprintf(file, "VALUE%d", value);
    }
}

static void write_values(const MerCNetwork *c, FILE *file)
{
    if (c->memory.bytes == 0) {
        return;
    }
    fprintf(file,
            "/* What layers make, by number of the layer; those that are alive together do not "
            "overlap. */\nstatic uint8_t memory[NETWORK_MEMORY_BYTES];\n");
    for (int n = 0; n + 1 < c->net->node_count; n++) {
        int                    out = c->net->nodes[n].out;
        const MerIntegerValue *value = &c->net->values[out];
        fprintf(file, "#define VALUE%d (memory + %lld) /* %s: %d x %d x %d */\n", out,
                (long long)c->memory.offset[out], c->names[n], value->channels, value->height,
                value->width);
    }
}

static void write_layer(const MerCNetwork *c, int n, FILE *file)
{
    const MerIntegerNode  *node = &c->net->nodes[n];
    const MerIntegerValue *in = &c->net->values[node->in[0]], *out = &c->net->values[node->out];
    const MerConvolution  *v = &node->conv;
    fprintf(
        file,
        "\nstatic const Convolution %s = {\n"
        "    .in_channels = %d, .in_rows = %d, .in_columns = %d,\n"
        "    .out_channels = %d, .out_rows = %d, .out_columns = %d, .groups = %d,\n"
        "    .kernel = {%d, %d}, .stride = {%d, %d}, .padding = {%d, %d}, .dilation = {%d, %d},\n"
        "    .in_zero = %d, .out_zero = %d,\n};\n",
        c->names[n], in->channels, in->height, in->width, out->channels, out->height, out->width,
        v->groups, node->kernel[0], node->kernel[1], v->stride[0], v->stride[1], v->padding[0],
        v->padding[1], v->dilation[0], v->dilation[1], in->zero, out->zero);
}

static void write_part(const MerCNetwork *c, const MerCPart *part, int n, FILE *file)
{
    bool is_last = part->node == last_node(c->net);
    fprintf(file, "\n/* Channels %d .. %d on %s (%s). */\n", part->part->first,
            part->part->first + part->part->count - 1, mer_deployment_unit(c->net, part->option),
            part->option->weights);
    fprintf(file, "static void %s(const uint8_t *in, %s *out)\n{\n", part->name,
            is_last ? "int32_t" : "uint8_t");
    fprintf(file,
            "    static const Part part = {\n        .layer = &%s, .first = %d, .count = %d,\n"
            "        .%s = %s_weights, .channels = %s_channels,\n    };\n",
            c->names[n], part->part->first, part->part->count, part->is_packed ? "packed" : "bytes",
            part->name, part->name);
    fprintf(file, "    %s(&part, in, %sout);\n}\n", kernel_of(part, is_last),
            is_last ? "classes, " : "");
}

static void write_sum(const MerCNetwork *c, int n, FILE *file)
{
    const MerIntegerNode  *node = &c->net->nodes[n];
    const MerIntegerValue *values = c->net->values;
    fprintf(file,
            "\nstatic void %s(const uint8_t *left, const uint8_t *right, uint8_t *out)\n{\n"
            "    static const Sum sum = {\n"
            "        .bytes = %d, .left_zero = %d, .right_zero = %d, .out_zero = %d,\n"
            "        .left_factor = %d, .right_factor = %d, .scale = %d, .shift = %d,\n    };\n"
            "    add(&sum, left, right, out);\n}\n",
            c->names[n], mer_integer_value_size(&values[node->out]), values[node->in[0]].zero,
            values[node->in[1]].zero, values[node->out].zero, node->factors[0], node->factors[1],
            node->scale, node->shift);
}

static void write_pool(const MerCNetwork *c, int n, FILE *file)
{
    const MerIntegerNode  *node = &c->net->nodes[n];
    const MerIntegerValue *in = &c->net->values[node->in[0]], *out = &c->net->values[node->out];
    const MerPooling      *p = &node->pooling;
    bool                   is_average = p->kind == MER_POOLING_AVERAGE;
    fprintf(file,
            "\nstatic void %s(const uint8_t *in, uint8_t *out)\n{\n"
            "    static const Pool pool = {\n"
            "        .channels = %d, .in_rows = %d, .in_columns = %d, .out_rows = %d, "
            ".out_columns = %d,\n"
            "        .window = {%d, %d}, .stride = {%d, %d}, .padding = {%d, %d},\n"
            "        .in_zero = %d, .out_zero = %d, .scale = %d, .shift = %d,\n    };\n"
            "    %s(&pool, in, out);\n}\n",
            c->names[n], in->channels, in->height, in->width, out->height, out->width, p->window[0],
            p->window[1], p->stride[0], p->stride[1], p->padding[0], p->padding[1], in->zero,
            out->zero, is_average ? node->scale : 1, is_average ? node->shift : 0,
            is_average ? "average" : "maximum");
}

static void write_call(const MerCNetwork *c, const char *name, const MerIntegerNode *node,
                       FILE *file)
{
    fprintf(file, "    %s(", name);
    write_value(c->net, node->in[0], file);
    if (node->kind == MER_TRAIN_ADD) {
        fprintf(file, ", ");
        write_value(c->net, node->in[1], file);
    }
    fprintf(file, ", ");
    write_value(c->net, node->out, file);
    fprintf(file, ");\n");
}

static void write_classes(const MerCNetwork *c, FILE *file)
{
    fprintf(file, "\n/* Of the channels of the last layer. */\nstatic const int32_t classes[] = {");
    for (int i = 0; i < c->net->classes; i++) {
        fprintf(file, "%s%d,", i % 24 == 0 ? "\n    " : " ", c->net->output_order[i]);
    }
    fprintf(file, "\n};\n");
}

static void write_functions(const MerCNetwork *c, FILE *file)
{
    const MerCPart *part = c->parts;
    for (int n = 0; n < c->net->node_count; n++) {
        const MerIntegerNode *node = &c->net->nodes[n];
        if (node->kind == MER_TRAIN_CONV) {
            write_layer(c, n, file);
            for (int p = 0; p < node->part_count; p++) {
                write_part(c, part++, n, file);
            }
        } else if (node->kind == MER_TRAIN_ADD) {
            write_sum(c, n, file);
        } else {
            write_pool(c, n, file);
        }
    }
}

void mer_c_network(const MerCNetwork *c, FILE *file)
{
    const MerCPart *part = c->parts;
    fprintf(file,
            "/* %s: a function for each part of each layer, and their order. */\n"
            "#include \"network.h\"\n\n#include \"kernels.h\"\n#include \"weights.h\"\n\n",
            c->title);
    write_values(c, file);
    write_classes(c, file);
    write_functions(c, file);
    fprintf(file, "\nvoid network_run(const uint8_t *input, int32_t *logits)\n{\n");
    for (int n = 0; n < c->net->node_count; n++) {
        const MerIntegerNode *node = &c->net->nodes[n];
        if (node->kind != MER_TRAIN_CONV) {
            write_call(c, c->names[n], node, file);
            continue;
        }
        for (int p = 0; p < node->part_count; p++) {
            write_call(c, (part++)->name, node, file);
        }
    }
    fprintf(file, "}\n");
}

/* One line per layer: channels of every part. */
static void write_summary(const MerCNetwork *c, FILE *file)
{
    const MerCPart *part = c->parts;
    for (int n = 0; n < c->net->node_count; n++) {
        const MerIntegerNode *node = &c->net->nodes[n];
        if (node->kind == MER_TRAIN_CONV) {
            fprintf(file, " *     %-32s", c->names[n]);
            for (int p = 0; p < node->part_count; p++, part++) {
                fprintf(file, "%s%d on %s (%s)", p > 0 ? ", " : " ", part->part->count,
                        mer_deployment_unit(c->net, part->option), part->option->weights);
            }
            fprintf(file, "\n");
        }
    }
}

void mer_c_network_header(const MerCNetwork *c, FILE *file)
{
    const MerIntegerValue *in = &c->net->values[0];
    fprintf(file, "/* %s, in whole numbers. Channels of every layer:\n *\n", c->title);
    write_summary(c, file);
    fprintf(file,
            " *\n * Weights take %lld bytes, two-bit ones packed. Values between layers take "
            "NETWORK_MEMORY_BYTES; %lld of them are\n * alive at once. Compile with\n *\n"
            " *     cc -std=c11 -O2 network.c weights.c kernels.c test_main.c\n */\n"
            "#ifndef NETWORK_H\n#define NETWORK_H\n\n#include <stdint.h>\n\n",
            (long long)c->weight_bytes, (long long)c->memory.alive);
    fprintf(file,
            "#define NETWORK_NAME \"%s\"\n"
            "#define NETWORK_INPUT_BYTES %d /* %d channels of %d rows of %d */\n"
            "#define NETWORK_CLASSES %d\n#define NETWORK_MEMORY_BYTES %lld\n\n"
            "/* A number x of an image is the byte floor(x * NETWORK_INPUT_SCALE) + "
            "NETWORK_INPUT_ZERO, at least 0 and at most 127. */\n"
            "#define NETWORK_INPUT_SCALE %.9g\n#define NETWORK_INPUT_ZERO %d\n\n"
            "/* Not for two threads at once: values have one memory. */\n"
            "void network_run(const uint8_t *input, int32_t *logits);\n\n#endif\n",
            c->title, mer_integer_value_size(in), in->channels, in->height, in->width,
            c->net->classes, (long long)c->memory.bytes, 1 / (double)in->step, in->zero);
}
