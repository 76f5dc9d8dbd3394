/* MAESTRO's hardware files (docs/datacentric-model.md, "Layers, mappings, machines"): five numbers, each
 * with its name. */
#include "hw/foreign.h"

#include "mercator/option.h"
#include "mercator/text.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef enum Key { PES, L1, L2, NOC, OFFCHIP, HOPS, KEY_COUNT } Key;

static const char *const keys[] = {"num_pes",     "l1_size_cstr",    "l2_size_cstr",
                                   "noc_bw_cstr", "offchip_bw_cstr", "NoC_NumHops"};

typedef struct Words { /* the words of the text one by one */
    const char *at, *end;
    int         line;
    const char *word;
    size_t      length;
} Words;

static bool is_gap(char c)
{
    return isspace((unsigned char)c) || strchr(",:;={}", c) != NULL || c == '\0';
}

static bool is_comment(const Words *words)
{
    return words->end - words->at >= 2 && words->at[0] == '/' && words->at[1] == '/';
}

static bool next(Words *words)
{
    while (words->at < words->end && (is_gap(*words->at) || is_comment(words))) {
        if (is_comment(words)) {
            const char *newline = memchr(words->at, '\n', (size_t)(words->end - words->at));
            words->at = newline ? newline : words->end;
        } else {
            words->line += *words->at++ == '\n';
        }
    }
    words->word = words->at;
    while (words->at < words->end && !is_gap(*words->at) && !is_comment(words)) {
        words->at++;
    }
    words->length = (size_t)(words->at - words->word);
    return words->length > 0;
}

static int key_of(const Words *words)
{
    for (int k = 0; k < KEY_COUNT; k++) {
        if (strlen(keys[k]) == words->length && strncmp(keys[k], words->word, words->length) == 0) {
            return k;
        }
    }
    return -1;
}

bool mer_maestro_is_hardware(const char *text, size_t size)
{
    Words words = {.at = text, .end = text + size, .line = 1};
    return next(&words) && key_of(&words) >= 0;
}

static MerStatus read_number(const char *path, Words *words, const char *key, double *value,
                             MerError *error)
{
    char number[64] = "";
    if (next(words) && words->length < sizeof number) {
        memcpy(number, words->word, words->length);
    }
    if (!mer_parse_real(number, value) || *value < 1 || *value > INT32_MAX ||
        floor(*value) != *value) {
        return mer_error_set(error, MER_INVALID,
                             "%s:%d: %s is \"%s\", expected an integer in 1 .. %d", path,
                             words->line, key, number, INT32_MAX);
    }
    return MER_OK;
}

static MerStatus read_all(const char *path, Words *words, double *values, MerArena *arena,
                          MerError *error)
{
    while (next(words)) {
        int key = key_of(words);
        if (key < 0) {
            const char *word =
                mer_arena_text_n(arena, words->word, words->length < 60 ? words->length : 60);
            const char *near = mer_name_nearest(word, keys, KEY_COUNT);
            return mer_error_set(
                error, MER_INVALID, "%s:%d: found \"%s\", expected %s%s", path, words->line, word,
                near ? ""
                     : "one of num_pes, l1_size_cstr, l2_size_cstr, noc_bw_cstr, offchip_bw_cstr",
                near ? near : "");
        }
        MER_TRY(read_number(path, words, keys[key], &values[key], error));
    }
    return MER_OK;
}

/* `, key: value`, or nothing for MAESTRO's "no limit". */
static const char *limit(const char *key, double value, MerArena *arena)
{
    return value >= INT32_MAX ? "" : mer_arena_format(arena, ", %s: %.0f", key, value);
}

MerStatus mer_maestro_platform(const char *path, const char *text, size_t size, const char *name,
                               MerArena *arena, const char **platform, MerError *error)
{
    double values[KEY_COUNT] = {1, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, 1};
    Words  words = {.at = text, .end = text + size, .line = 1};
    MER_TRY(read_all(path, &words, values, arena, error));
    *platform = mer_arena_format(
        arena,
        "format: mercator-platform/1\nkind: pe-array\nname: \"%s\"\n"
        "source: \"a hardware file of MAESTRO; energies are MAESTRO's constants, DRAM 200 times a "
        "MAC "
        "(Eyeriss, ISCA 2016, table IV; MAESTRO has none)\"\nword_bits: 8\n"
        "units: [{name: PE, mac_pj: 0.23}]\nmemories:\n"
        "  - {name: DRAM, access_pj: 46%s}\n"
        "  - {name: L2, access_pj: 4.2803%s, fanout: {x: %.0f, latency_cycles: %.0f%s}}\n"
        "  - {name: L1, access_pj: 0.3864%s}\n",
        name, limit("words_per_cycle", values[OFFCHIP], arena), limit("words", values[L2], arena),
        values[PES], values[HOPS], limit("words_per_cycle", values[NOC], arena),
        limit("words", values[L1], arena));
    return MER_OK;
}
