/* The weights of a network as C: one array per part of a layer, packed where they have two bits, and the numbers of its channels. */
#include "split/export/c_export.h"

static void write_bytes(const MerCPart *part, FILE *file)
{
    int column = 0;
    for (int k = 0; k < part->part->count; k++) {
        const int8_t *weights = part->node->channels[part->part->first + k].weights;
        for (int i = 0; i < part->weights; i++, column++) {
            fprintf(file, "%s%d,", column % 24 == 0 ? "\n    " : " ", weights[i]);
        }
    }
}

static int packed_byte(const int8_t *weights, int count)
{
    int byte = 0;
    for (int i = 0; i < count && i < 4; i++) {
        byte |= (weights[i] + 1) << 2 * i;
    }
    return byte;
}

static void write_packed(const MerCPart *part, FILE *file)
{
    int column = 0;
    for (int k = 0; k < part->part->count; k++) {
        const int8_t *weights = part->node->channels[part->part->first + k].weights;
        for (int i = 0; i < part->weights; i += 4, column++) {
            fprintf(file, "%s0x%02x,", column % 16 == 0 ? "\n    " : " ",
                    packed_byte(weights + i, part->weights - i));
        }
    }
}

static void write_channels(const MerCPart *part, FILE *file)
{
    fprintf(file,
            "const Channel %s_channels[] = {\n    /* start, bias, scale, bias_shift, shift */\n",
            part->name);
    for (int k = 0; k < part->part->count; k++) {
        const MerIntegerChannel *c = &part->node->channels[part->part->first + k];
        fprintf(file, "    {%d, %d, %d, %d, %d},\n", c->start, c->bias, c->scale, c->bias_shift,
                c->shift);
    }
    fprintf(file, "};\n");
}

void mer_c_weights(const MerCNetwork *c, FILE *file)
{
    fprintf(file, "/* Weights of %s. */\n#include \"weights.h\"\n", c->title);
    for (int i = 0; i < c->part_count; i++) {
        const MerCPart *part = &c->parts[i];
        fprintf(file, "\nconst %s %s_weights[] = {", part->is_packed ? "uint8_t" : "int8_t",
                part->name);
        if (part->is_packed) {
            write_packed(part, file);
        } else {
            write_bytes(part, file);
        }
        fprintf(file, "\n};\n");
        write_channels(part, file);
    }
}

void mer_c_weights_header(const MerCNetwork *c, FILE *file)
{
    fprintf(file,
            "/* Weights of %s, by part of a layer. */\n#ifndef WEIGHTS_H\n#define WEIGHTS_H\n\n"
            "#include \"kernels.h\"\n\n",
            c->title);
    for (int i = 0; i < c->part_count; i++) {
        const MerCPart *part = &c->parts[i];
        fprintf(file, "extern const %s %s_weights[];\nextern const Channel %s_channels[];\n",
                part->is_packed ? "uint8_t" : "int8_t", part->name, part->name);
    }
    fprintf(file, "\n#endif\n");
}
