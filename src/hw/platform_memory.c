/* Memories of a platform file: sizes in words or bytes, rates in any one of their units, energies,
 * what they hold, and the fan-out below them (docs/platform-format.md, "Memories, outermost first"). */
#include "hw/reader.h"

#include "base/yaml_need.h"
#include "mercator/graph.h"
#include "mercator/option.h"

#include <math.h>
#include <string.h>

enum { RATED = MER_IN_PE_ARRAY | MER_IN_CORES | MER_IN_SOC, SIZED = RATED | MER_IN_VTA };

static const MerKeyKinds memory_keys[] = {
    {SIZED, {"name", "words", "bytes", "word_bits"}},
    {RATED,
     {"words_per_cycle", "bytes_per_cycle", "bytes_per_s", "read_words_per_cycle",
      "read_bytes_per_cycle", "read_bytes_per_s", "write_words_per_cycle", "write_bytes_per_cycle",
      "write_bytes_per_s", "access_pj", "read_pj", "write_pj", "update_pj", "pj_per_byte"}},
    {MER_IN_PE_ARRAY, {"keep", "bypass", "buffers", "partition_words", "fanout"}},
    {0}};

/* The unit forms of one rate, by direction: both, read, write. */
static const char *const rate_keys[3][3] = {
    {"words_per_cycle", "bytes_per_cycle", "bytes_per_s"},
    {"read_words_per_cycle", "read_bytes_per_cycle", "read_bytes_per_s"},
    {"write_words_per_cycle", "write_bytes_per_cycle", "write_bytes_per_s"},
};

static MerStatus given_twice(const MerYaml *first, const MerYaml *second, const char *what,
                             MerError *error)
{
    bool is_elsewhere = strcmp(first->file, second->file) != 0;
    return mer_yaml_error(second, error, "%s repeats %s (line %d%s%s): give %s once", second->path,
                          first->path, first->line, is_elsewhere ? " of " : "",
                          is_elsewhere ? first->file : "", what);
}

/* One rate in words per cycle; *given is the node that said it, NULL if none did. */
static MerStatus read_rate(MerYaml *map, const char *const keys[3], int word_bits, double clock_hz,
                           double *words_per_cycle, MerYaml **given, MerError *error)
{
    *given = NULL;
    for (int form = 0; form < 3; form++) {
        MerYaml *node = mer_yaml_get(map, keys[form]);
        double   rate = 0;
        if (node == NULL) {
            continue;
        }
        if (*given != NULL) {
            return given_twice(*given, node, "a rate", error);
        }
        *given = node;
        MER_TRY(mer_platform_get_positive(map, keys[form], &rate, error));
        if (form == 2 && isnan(clock_hz)) {
            return mer_yaml_error(node, error, "%s needs clock_hz, which is absent", node->path);
        }
        *words_per_cycle = form == 0   ? rate
                           : form == 1 ? rate * 8 / word_bits
                                       : rate * 8 / word_bits / clock_hz;
        if (!(*words_per_cycle > 0) || isinf(*words_per_cycle)) {
            return mer_yaml_expected(node, error, "a rate that fits a double in words per cycle");
        }
    }
    return MER_OK;
}

static MerStatus read_rates(MerMemory *memory, MerYaml *map, double clock_hz, MerError *error)
{
    double   both = INFINITY;
    MerYaml *given, *reads, *writes;
    MER_TRY(read_rate(map, rate_keys[0], memory->word_bits, clock_hz, &both, &given, error));
    memory->read_words_per_cycle = memory->write_words_per_cycle = both;
    MER_TRY(read_rate(map, rate_keys[1], memory->word_bits, clock_hz, &memory->read_words_per_cycle,
                      &reads, error));
    MER_TRY(read_rate(map, rate_keys[2], memory->word_bits, clock_hz,
                      &memory->write_words_per_cycle, &writes, error));
    if (given != NULL && (reads != NULL || writes != NULL)) {
        return given_twice(given, reads != NULL ? reads : writes, "a rate", error);
    }
    /* The read rate stands for the memory where only one number is wanted. */
    memory->bytes_per_s = isinf(memory->read_words_per_cycle)
                              ? INFINITY
                              : memory->read_words_per_cycle * memory->word_bits / 8 * clock_hz;
    return MER_OK;
}

static MerStatus read_size(MerMemory *memory, MerYaml *map, MerError *error)
{
    MerYaml *words = mer_yaml_get(map, "words");
    MerYaml *bytes = mer_yaml_get(map, "bytes");
    if (words != NULL && bytes != NULL) {
        return given_twice(words, bytes, "a size", error);
    }
    MER_TRY(mer_platform_get_size(map, "words", &memory->words, error));
    MER_TRY(mer_platform_get_size(map, "bytes", &memory->bytes, error));
    if (words != NULL) {
        memory->bytes = memory->words * memory->word_bits / 8;
    } else if (bytes != NULL) {
        memory->words = memory->bytes * 8 / memory->word_bits;
    }
    return MER_OK;
}

static MerStatus read_energy(MerMemory *memory, MerYaml *map, MerError *error)
{
    static const char *const keys[] = {"read_pj", "write_pj", "update_pj"};
    double *const            values[] = {&memory->read_pj, &memory->write_pj, &memory->update_pj};
    MerYaml                 *access = mer_yaml_get(map, "access_pj");
    double                   access_pj = 0, pj_per_byte = 0;
    MER_TRY(mer_platform_get_cost(map, "access_pj", &access_pj, error));
    MER_TRY(mer_platform_get_cost(map, "pj_per_byte", &pj_per_byte, error));
    for (int i = 0; i < 3; i++) {
        MerYaml *own = mer_yaml_get(map, keys[i]);
        if (access != NULL && own != NULL) {
            return given_twice(access, own, "an energy", error);
        }
        *values[i] = access_pj;
        MER_TRY(mer_platform_get_cost(map, keys[i], values[i], error));
        *values[i] += pj_per_byte * memory->word_bits / 8;
    }
    return MER_OK;
}

MerStatus mer_tensors_read(MerYaml *map, const char *key, unsigned *mask, MerError *error)
{
    MerYaml *list = mer_yaml_get(map, key);
    if (list == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int i = 0; i < list->count; i++) {
        int tensor;
        MER_TRY(
            mer_yaml_word(list->items[i], mer_tensor_letters, MER_TENSOR_COUNT, &tensor, error));
        *mask |= 1u << tensor;
    }
    return MER_OK;
}

static MerStatus read_partition(MerMemory *memory, MerYaml *map, MerError *error)
{
    MerYaml *partition = mer_yaml_get(map, "partition_words");
    if (partition == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(partition, MER_YAML_MAP, error));
    for (int i = 0; i < MER_TENSOR_COUNT; i++) {
        double *words = &memory->partition_words[i];
        MER_TRY(mer_platform_get_size(partition, mer_tensor_letters[i], words, error));
        memory->has_partition |= !isinf(*words);
    }
    return mer_yaml_finish(partition, error);
}

static MerStatus read_fanout(MerMemory *memory, MerYaml *map, double clock_hz, MerError *error)
{
    MerFanout *fanout = &memory->fanout;
    MerYaml   *node = mer_yaml_get(map, "fanout");
    MerYaml   *given;
    if (node == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    MER_TRY(mer_platform_get_count(node, "x", &fanout->x, error));
    MER_TRY(mer_platform_get_count(node, "y", &fanout->y, error));
    MER_TRY(read_rate(node, rate_keys[0], memory->word_bits, clock_hz, &fanout->words_per_cycle,
                      &given, error));
    MER_TRY(mer_platform_get_cost(node, "latency_cycles", &fanout->latency_cycles, error));
    MER_TRY(mer_platform_get_cost(node, "pj_per_word", &fanout->pj_per_word, error));
    return mer_yaml_finish(node, error);
}

/* What a pe-array memory holds, and how it is cut. */
static MerStatus read_contents(MerMemory *memory, MerYaml *map, double clock_hz, MerError *error)
{
    MER_TRY(mer_tensors_read(map, "keep", &memory->keep, error));
    MER_TRY(mer_tensors_read(map, "bypass", &memory->bypass, error));
    unsigned both = memory->keep & memory->bypass;
    if (both != 0) {
        return mer_yaml_error(map, error, "%s has %c in both keep and bypass", map->path,
                              MER_TENSOR_LETTERS[__builtin_ctz(both)]);
    }
    MER_TRY(mer_platform_get_count(map, "buffers", &memory->buffers, error));
    MER_TRY(read_partition(memory, map, error));
    return read_fanout(memory, map, clock_hz, error);
}

static MerStatus read_memory(const MerPlatform *platform, MerMemory *memory, MerYaml *map,
                             MerError *error)
{
    int64_t word_bits = platform->word_bits;
    *memory = (MerMemory){.words = INFINITY,
                          .bytes = INFINITY,
                          .read_words_per_cycle = INFINITY,
                          .write_words_per_cycle = INFINITY,
                          .bytes_per_s = INFINITY,
                          .buffers = 1,
                          .partition_words = {INFINITY, INFINITY, INFINITY},
                          .fanout = {.x = 1, .y = 1}};
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(mer_platform_check_keys(map, memory_keys, platform->kind, error));
    MER_TRY(mer_platform_need_name(map, "name", &memory->name, error));
    MER_TRY(mer_yaml_get_int(map, "word_bits", 1, 4096, &word_bits, error));
    memory->word_bits = (int)word_bits;
    MER_TRY(read_size(memory, map, error));
    if (platform->kind != MER_PLATFORM_VTA) {
        MER_TRY(read_energy(memory, map, error));
        MER_TRY(read_rates(memory, map, platform->clock_hz, error));
    }
    memory->fanout.words_per_cycle = memory->read_words_per_cycle;
    if (platform->kind == MER_PLATFORM_PE_ARRAY) {
        MER_TRY(read_contents(memory, map, platform->clock_hz, error));
    }
    return mer_yaml_finish(map, error);
}

/* The outermost memory of a pe-array holds everything, and the units can be counted. */
static MerStatus check_array(const MerPlatform *platform, MerYaml *list, MerError *error)
{
    const MerMemory *outermost = &platform->memories[0];
    MerYaml         *first = list->items[0];
    double           instances = 1;
    if (!isinf(outermost->words)) {
        MerYaml *size = mer_yaml_get(first, "words");
        size = size != NULL ? size : mer_yaml_get(first, "bytes");
        return mer_yaml_expected(size, error,
                                 "no size: the outermost memory of a pe-array is unlimited");
    }
    if (outermost->bypass != 0) {
        return mer_yaml_error(first, error,
                              "%s.bypass: the outermost memory of a pe-array keeps "
                              "every tensor",
                              first->path);
    }
    for (int i = 0; i < platform->memory_count; i++) {
        instances *= (double)platform->memories[i].fanout.x * platform->memories[i].fanout.y;
        if (instances > INT32_MAX) {
            return mer_yaml_error(list->items[i], error,
                                  "%s.fanout makes more than %d units of the platform",
                                  list->items[i]->path, INT32_MAX);
        }
    }
    return MER_OK;
}

static bool is_power_of_two(double value)
{
    int exponent;
    return frexp(value, &exponent) == 0.5;
}

static MerStatus check_vta(const MerPlatform *platform, MerYaml *list, MerError *error)
{
    static const char *const names[] = {"uop", "inp", "wgt", "acc"};
    for (int i = 0; i < platform->memory_count || i < 4; i++) {
        const MerMemory *memory = i < platform->memory_count ? &platform->memories[i] : NULL;
        MerYaml         *map = memory != NULL ? list->items[i] : list;
        if (memory == NULL || i >= 4 || strcmp(memory->name, names[i]) != 0) {
            return mer_yaml_error(map, error,
                                  "%s is %s, expected the memories uop, inp, wgt, acc "
                                  "of a vta, in this order",
                                  map->path, memory != NULL ? memory->name : "too short");
        }
        MerYaml *bytes = mer_yaml_get(map, "bytes"), *bits = mer_yaml_get(map, "word_bits");
        if (isinf(memory->bytes)) {
            return mer_yaml_need(map, "bytes", &bytes, error);
        }
        if (!is_power_of_two(memory->bytes)) {
            return mer_yaml_expected(bytes != NULL ? bytes : mer_yaml_get(map, "words"), error,
                                     "a power of two");
        }
        if (!is_power_of_two(memory->word_bits)) {
            return mer_yaml_error(bits != NULL ? bits : map, error,
                                  "%s.word_bits is %d, expected a power of two", map->path,
                                  memory->word_bits);
        }
    }
    return MER_OK;
}

static MerStatus check_names(const MerPlatform *platform, MerYaml *list, MerError *error)
{
    for (int i = 0; i < platform->memory_count; i++) {
        for (int j = 0; j < i; j++) {
            if (mer_name_equal(platform->memories[i].name, platform->memories[j].name)) {
                return mer_yaml_error(list->items[i], error, "%s.name is %s, the name of %s",
                                      list->items[i]->path, platform->memories[i].name,
                                      list->items[j]->path);
            }
        }
    }
    return MER_OK;
}

MerStatus mer_platform_read_memories(MerPlatform *platform, MerYaml *root, MerError *error)
{
    MerYaml *list;
    if (platform->kind == MER_PLATFORM_SOC && mer_yaml_get(root, "memories") == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_need_kind(root, "memories", MER_YAML_LIST, &list, error));
    if (list->count == 0 && platform->kind != MER_PLATFORM_SOC) {
        return mer_yaml_error(list, error, "memories is empty, expected at least one memory");
    }
    if (list->count > MER_MAX_MEMORIES) {
        return mer_yaml_error(list, error, "memories has %d items, expected at most %d",
                              list->count, MER_MAX_MEMORIES);
    }
    MerMemory *memories = MER_ARRAY(root->arena, MerMemory, list->count);
    platform->memories = memories;
    platform->memory_count = list->count;
    for (int i = 0; i < list->count; i++) {
        MER_TRY(read_memory(platform, &memories[i], list->items[i], error));
    }
    MER_TRY(check_names(platform, list, error));
    if (platform->kind == MER_PLATFORM_PE_ARRAY) {
        return check_array(platform, list, error);
    }
    return platform->kind == MER_PLATFORM_VTA ? check_vta(platform, list, error) : MER_OK;
}
