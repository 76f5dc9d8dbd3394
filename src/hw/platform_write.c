/* A platform as YAML in its resolved form: one line per memory, unit, class and link, everything
 * stated that is not unlimited. Reading it back gives the same hash. */
#include "hw/reader.h"

#include "mercator/graph.h"
#include "mercator/text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct Writer {
    FILE       *file;
    const char *separator; /* before the next entry of a flow map or list */
} Writer;

/* Would a YAML reader take the bare text for this very text? */
static bool is_plain(const char *text)
{
    static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off"};
    double                   number;
    if (!isalpha((unsigned char)*text) || mer_parse_real(text, &number)) {
        return false;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcasecmp(text, words[i]) == 0) {
            return false;
        }
    }
    for (const char *c = text; *c != '\0'; c++) {
        if (!isalnum((unsigned char)*c) && strchr("_-./+", *c) == NULL) {
            return false;
        }
    }
    return true;
}

static void write_text(FILE *file, const char *text)
{
    if (is_plain(text)) {
        fputs(text, file);
        return;
    }
    fputc('"', file);
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\') {
            fprintf(file, "\\%c", *c);
        } else if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            fprintf(file, "\\x%02x", (unsigned)(unsigned char)*c);
        } else {
            fputc(*c, file);
        }
    }
    fputc('"', file);
}

static void write_number(FILE *file, double value)
{
    char text[32];
    mer_print_real(text, value);
    fputs(text, file);
}

static void key(Writer *writer, const char *name)
{
    fputs(writer->separator, writer->file);
    write_text(writer->file, name);
    fputs(": ", writer->file);
    writer->separator = ", ";
}

static void put_text(Writer *writer, const char *name, const char *text)
{
    if (text != NULL) {
        key(writer, name);
        write_text(writer->file, text);
    }
}

/* Unlimited is said by silence. */
static void put_number(Writer *writer, const char *name, double value)
{
    if (isfinite(value)) {
        key(writer, name);
        write_number(writer->file, value);
    }
}

static void put_bool(Writer *writer, const char *name, bool value)
{
    key(writer, name);
    fputs(value ? "true" : "false", writer->file);
}

static void open_map(Writer *writer, const char *name)
{
    if (name != NULL) {
        key(writer, name);
    }
    fputc('{', writer->file);
    writer->separator = "";
}

static void close_map(Writer *writer)
{
    fputc('}', writer->file);
    writer->separator = ", ";
}

/* A map as an item of a block list, on a line of its own. */
static Writer open_item(FILE *file)
{
    Writer writer = {.file = file, .separator = ""};
    fputs("  - ", file);
    open_map(&writer, NULL);
    return writer;
}

static void close_line(Writer *writer)
{
    close_map(writer);
    fputc('\n', writer->file);
}

void mer_tensors_write(FILE *file, unsigned mask)
{
    const char *separator = "[";
    for (int i = 0; i < MER_TENSOR_COUNT; i++) {
        if (mask >> i & 1) {
            fprintf(file, "%s%c", separator, MER_TENSOR_LETTERS[i]);
            separator = ", ";
        }
    }
    fputc(']', file);
}

static void put_tensors(Writer *writer, const char *name, unsigned mask)
{
    if (mask != 0) {
        key(writer, name);
        mer_tensors_write(writer->file, mask);
    }
}

static void put_numbers(Writer *writer, const double *values, int count)
{
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : count > 1 ? "[" : "", writer->file);
        write_number(writer->file, values[i]);
    }
    fputs(count > 1 ? "]" : "", writer->file);
}

static void put_formula(Writer *writer, const char *name, const MerFormula *formula, bool is_named)
{
    if (formula->name == NULL) {
        return;
    }
    open_map(writer, name);
    if (is_named) {
        put_text(writer, "formula", formula->name);
    }
    for (int i = 0; i < formula->count; i++) {
        const MerConstant *constant = &formula->constants[i];
        key(writer, constant->name);
        if (constant->text != NULL) {
            write_text(writer->file, constant->text);
        } else {
            put_numbers(writer, constant->values, constant->count);
        }
    }
    close_map(writer);
}

static void put_energy(Writer *writer, const MerMemory *memory)
{
    if (memory->read_pj == memory->write_pj && memory->read_pj == memory->update_pj) {
        put_number(writer, "access_pj", memory->read_pj);
        return;
    }
    put_number(writer, "read_pj", memory->read_pj);
    put_number(writer, "write_pj", memory->write_pj);
    put_number(writer, "update_pj", memory->update_pj);
}

static void put_rates(Writer *writer, const MerMemory *memory)
{
    if (memory->read_words_per_cycle == memory->write_words_per_cycle) {
        put_number(writer, "words_per_cycle", memory->read_words_per_cycle);
        return;
    }
    put_number(writer, "read_words_per_cycle", memory->read_words_per_cycle);
    put_number(writer, "write_words_per_cycle", memory->write_words_per_cycle);
}

static void put_array_keys(Writer *writer, const MerMemory *memory)
{
    put_tensors(writer, "keep", memory->keep);
    put_tensors(writer, "bypass", memory->bypass);
    put_number(writer, "buffers", memory->buffers);
    if (memory->has_partition) {
        open_map(writer, "partition_words");
        for (int i = 0; i < MER_TENSOR_COUNT; i++) {
            put_number(writer, mer_tensor_letters[i], memory->partition_words[i]);
        }
        close_map(writer);
    }
    open_map(writer, "fanout");
    put_number(writer, "x", memory->fanout.x);
    put_number(writer, "y", memory->fanout.y);
    put_number(writer, "words_per_cycle", memory->fanout.words_per_cycle);
    put_number(writer, "latency_cycles", memory->fanout.latency_cycles);
    put_number(writer, "pj_per_word", memory->fanout.pj_per_word);
    close_map(writer);
}

static bool is_size(double value)
{
    return value == floor(value);
}

static void write_memory(const MerPlatform *platform, const MerMemory *memory, FILE *file)
{
    /* Evaluators of arrays count words, all others bytes. */
    bool in_words =
        platform->kind == MER_PLATFORM_PE_ARRAY
            ? is_size(memory->words) && memory->words * memory->word_bits / 8 == memory->bytes
            : !is_size(memory->bytes) || memory->bytes * 8 / memory->word_bits != memory->words;
    Writer writer = open_item(file);
    put_text(&writer, "name", memory->name);
    put_number(&writer, "word_bits", memory->word_bits);
    put_number(&writer, in_words ? "words" : "bytes", in_words ? memory->words : memory->bytes);
    if (platform->kind != MER_PLATFORM_VTA) {
        put_rates(&writer, memory);
        put_energy(&writer, memory);
    }
    if (platform->kind == MER_PLATFORM_PE_ARRAY) {
        put_array_keys(&writer, memory);
    }
    close_line(&writer);
}

static void put_core(Writer *writer, const MerUnit *unit)
{
    put_number(writer, "rows", unit->rows);
    put_number(writer, "columns", unit->columns);
    put_text(writer, "dataflow", unit->dataflow);
    put_number(writer, "pe_memory_bytes", unit->pe_memory_bytes);
    put_bool(writer, "flexible", unit->flexible);
    put_number(writer, "flexible_limit_bytes", unit->flexible_limit_bytes);
    put_number(writer, "static_pj_per_cycle", unit->static_pj_per_cycle);
}

/* Where every unit priced like this one calls the option by its own name, it has no other. */
static bool is_named_by_unit(const MerPlatform *platform, const MerUnit *unit, int option)
{
    for (int i = 0; i < platform->unit_count; i++) {
        const MerUnit *other = &platform->units[i];
        if (other->class_index == unit->class_index &&
            strcmp(other->options[option].name, other->name) != 0) {
            return false;
        }
    }
    return true;
}

static void put_soc_unit(Writer *writer, const MerPlatform *platform, const MerUnit *unit)
{
    key(writer, "options");
    fputc('[', writer->file);
    for (int i = 0; i < unit->option_count; i++) {
        bool is_default = is_named_by_unit(platform, unit, i);
        fputs(i > 0 ? ", " : "", writer->file);
        open_map(writer, NULL);
        put_text(writer, "operator", unit->options[i].operator_name);
        put_text(writer, "weights", unit->options[i].weights);
        put_text(writer, "name", is_default ? NULL : unit->options[i].name);
        close_map(writer);
    }
    fputc(']', writer->file);
    put_formula(writer, "requantise", &unit->requantise, true);
    put_formula(writer, "cost", &unit->cost, true);
}

static void put_device(Writer *writer, const MerUnit *unit)
{
    if (unit->flops_count == 1 && *unit->flops[0].type == '\0') {
        put_number(writer, "flops", unit->flops[0].per_s);
    } else if (unit->flops_count > 0) {
        open_map(writer, "flops");
        for (int i = 0; i < unit->flops_count; i++) {
            put_number(writer, unit->flops[i].type, unit->flops[i].per_s);
        }
        close_map(writer);
    }
    put_number(writer, "bytes_per_s", unit->bytes_per_s);
    put_number(writer, "launch_us", unit->launch_us);
    put_number(writer, "gap_us", unit->gap_us);
    put_number(writer, "streams", unit->streams);
    if (unit->support_count == 0) {
        put_text(writer, "supports", "all");
        return;
    }
    key(writer, "supports");
    for (int i = 0; i < unit->support_count; i++) {
        fprintf(writer->file, "%s%s", i == 0 ? "[" : ", ", unit->supports[i]);
    }
    fputc(']', writer->file);
}

static void put_body(Writer *writer, const MerPlatform *platform, const MerUnit *unit)
{
    switch (platform->kind) {
    case MER_PLATFORM_PE_ARRAY:
        put_number(writer, "mac_pj", unit->mac_pj);
        put_number(writer, "lanes", unit->lanes);
        break;
    case MER_PLATFORM_VTA:
        put_number(writer, "batch", unit->batch);
        put_number(writer, "block_in", unit->block_in);
        put_number(writer, "block_out", unit->block_out);
        break;
    case MER_PLATFORM_CORES:
        put_core(writer, unit);
        break;
    case MER_PLATFORM_SOC:
        put_soc_unit(writer, platform, unit);
        break;
    case MER_PLATFORM_NATIVE:
        put_number(writer, "vector_bits", unit->vector_bits > 0 ? unit->vector_bits : NAN);
        put_number(writer, "threads", unit->threads);
        break;
    default:
        put_device(writer, unit);
        break;
    }
}

static void write_classes(const MerPlatform *platform, FILE *file)
{
    int written = 0;
    for (int i = 0; i < platform->unit_count; i++) {
        const MerUnit *unit = &platform->units[i];
        bool           is_first = unit->class_name != NULL;
        for (int j = 0; j < i; j++) {
            is_first &= platform->units[j].class_index != unit->class_index;
        }
        if (!is_first) {
            continue;
        }
        Writer writer = {.file = file, .separator = written++ == 0 ? "classes:\n  " : "  "};
        open_map(&writer, unit->class_name);
        put_body(&writer, platform, unit);
        close_line(&writer);
    }
}

/* Units without a class that share a class index came from one `count`: say it that way again. */
static int run_of(const MerPlatform *platform, int first)
{
    int count = 1;
    while (platform->units[first].class_name == NULL && first + count < platform->unit_count &&
           platform->units[first + count].class_index == platform->units[first].class_index) {
        count++;
    }
    return count;
}

static void write_units(const MerPlatform *platform, FILE *file)
{
    fputs("units:\n", file);
    for (int i = 0, count; i < platform->unit_count; i += count) {
        const MerUnit *unit = &platform->units[i];
        Writer         writer = open_item(file);
        count = run_of(platform, i);
        if (count > 1) {
            /* "gpu0" without its index */
            fprintf(file, "name: \"%.*s\", count: %d", (int)strlen(unit->name) - 1, unit->name,
                    count);
            writer.separator = ", ";
        } else {
            put_text(&writer, "name", unit->name);
        }
        put_text(&writer, "class", unit->class_name);
        put_number(&writer, "memory_bytes", unit->memory_bytes);
        if (platform->kind == MER_PLATFORM_CLUSTER) {
            put_number(&writer, "speed", unit->speed);
        }
        if (unit->class_name == NULL) {
            put_body(&writer, platform, unit);
        }
        close_line(&writer);
    }
}

static void write_links(const MerPlatform *platform, FILE *file)
{
    fputs(platform->link_count > 0 ? "links:\n" : "", file);
    for (int i = 0; i < platform->link_count; i++) {
        const MerLink *link = &platform->links[i];
        Writer         writer = open_item(file);
        put_text(&writer, "from", platform->units[link->from].name);
        put_text(&writer, "to", platform->units[link->to].name);
        put_number(&writer, "bytes_per_s", link->bytes_per_s);
        put_number(&writer, "latency_us", link->latency_us);
        put_number(&writer, "gap_us", link->gap_us);
        put_text(&writer, "duplex", link->full_duplex ? "full" : "half");
        put_text(&writer, "bus", link->bus);
        close_line(&writer);
    }
}

/* Block entries: each on its own line, so no comma before it. What was left out takes no line. */
static void end_line(Writer *writer)
{
    fputs(*writer->separator != '\0' ? "\n" : "", writer->file);
    writer->separator = "";
}

static void write_root(const MerPlatform *platform, FILE *file)
{
    Writer      writer = {.file = file, .separator = ""};
    const char *reference =
        platform->reference >= 0 ? platform->units[platform->reference].name : NULL;
    const char *routes = platform->store_and_forward ? "store_and_forward" : "cut_through";
    fputs("format: mercator-platform/1\n", file);
#define LINE(put) ((put), end_line(&writer))
    LINE(put_text(&writer, "kind", mer_platform_kind_name(platform->kind)));
    LINE(put_text(&writer, "name", platform->name));
    LINE(put_text(&writer, "summary", platform->summary));
    LINE(put_text(&writer, "source", platform->source));
    LINE(put_number(&writer, "clock_hz", platform->clock_hz));
    LINE(put_number(&writer, "word_bits", platform->word_bits));
    LINE(put_bool(&writer, "calibrated", platform->calibrated));
    LINE(put_number(&writer, "bus_bits",
                    platform->kind == MER_PLATFORM_VTA ? platform->bus_bits : NAN));
    LINE(put_text(&writer, "compiler", platform->compiler));
    LINE(put_text(&writer, "flags", platform->flags));
    LINE(put_formula(&writer, "timing", &platform->timing, false));
    LINE(put_formula(&writer, "energy", &platform->energy, false));
    LINE(put_text(&writer, "reference", reference));
    LINE(put_formula(&writer, "power_mw", &platform->power_mw, true));
    LINE(put_text(&writer, "routes", platform->kind == MER_PLATFORM_CLUSTER ? routes : NULL));
#undef LINE
}

static void write_activations(const MerPlatform *platform, FILE *file)
{
    Writer writer = {.file = file, .separator = ""};
    if (platform->kind != MER_PLATFORM_SOC ||
        (platform->activation_bits == 0 && platform->activation_quantiser == NULL &&
         !platform->activation_signed)) {
        return;
    }
    open_map(&writer, "activations");
    put_number(&writer, "bits", platform->activation_bits > 0 ? platform->activation_bits : NAN);
    put_bool(&writer, "signed", platform->activation_signed);
    put_text(&writer, "quantiser", platform->activation_quantiser);
    close_line(&writer);
}

void mer_platform_write(const MerPlatform *platform, FILE *file)
{
    write_root(platform, file);
    write_activations(platform, file);
    fputs(platform->memory_count > 0 ? "memories:\n" : "", file);
    for (int i = 0; i < platform->memory_count; i++) {
        write_memory(platform, &platform->memories[i], file);
    }
    write_classes(platform, file);
    write_units(platform, file);
    write_links(platform, file);
}
