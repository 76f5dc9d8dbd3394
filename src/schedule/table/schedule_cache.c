/* The file of a price cache: a line that says what it is, then one line per layer with its numbers in hexadecimal
 * floating point and a checksum. The name of the file is the hash of all that prices depend on. */
#include "schedule/table/schedule_cache.h"

#include "base/file.h"
#include "base/key_table.h"
#include "base/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REVISION = 1, NUMBERS = 8, MOST = 100000, CHECK_EVERY = 16 };

typedef struct Line {
    uint64_t layer;
    double   numbers[NUMBERS];
} Line;

struct MerPriceCache {
    MerArena   *arena;
    const char *folder, *path; /* NULL: off */
    uint64_t    key;
    int         count, found, generation;
    bool        is_changed;
    Line       *lines;
    MerKeyTable places; /* in `lines`, by layer */
};

static const char *cache_folder(const char *where, MerArena *arena)
{
    const char *base = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (!where || strcmp(where, "off") == 0) {
        return NULL;
    }
    if (strcmp(where, "auto") != 0) {
        return where;
    }
    if (base && base[0] == '/') {
        return mer_arena_format(arena, "%s/mercator", base);
    }
    return home && home[0] == '/' ? mer_arena_format(arena, "%s/.cache/mercator", home) : NULL;
}

static uint64_t hash_key(const MerPriceKey *key)
{
    const MerUnit *unit = key->unit;
    uint64_t       hash = mer_hash_text(MER_HASH_START, MERCATOR_VERSION);
    hash = mer_hash_int(hash, REVISION);
    hash = mer_hash_text(hash, key->pricer);
    hash = mer_hash_int(hash, key->mode);
    hash = mer_hash_int(hash, unit->flexible ? (int)key->flexible : -1);
    hash = mer_hash_int(hash, key->word_bits);
    hash = mer_hash_int(hash, unit->rows);
    hash = mer_hash_int(hash, unit->columns);
    hash = mer_hash_text(hash, unit->dataflow ? unit->dataflow : "");
    hash = mer_hash_real(hash, unit->memory_bytes);
    hash = mer_hash_real(hash, unit->pe_memory_bytes);
    return mer_hash_real(hash, unit->flexible ? unit->flexible_limit_bytes : 0);
}

static uint64_t check_sum(const Line *line)
{
    uint64_t hash = mer_hash_int(MER_HASH_START, (int64_t)line->layer);
    return mer_hash_bytes(hash, line->numbers, sizeof line->numbers);
}

static void add_line(MerPriceCache *cache, const Line *line)
{
    MER_GROW(cache->arena, cache->lines, cache->count);
    mer_key_table_add(&cache->places, line->layer, cache->count);
    cache->lines[cache->count++] = *line;
}

static void empty(MerPriceCache *cache)
{
    cache->count = 0;
    cache->places = (MerKeyTable){.arena = cache->arena};
}

static bool read_line(const char *text, Line *line, const char **rest)
{
    char *end;
    line->layer = strtoull(text, &end, 16);
    for (int i = 0; i < NUMBERS; i++) {
        text = end;
        line->numbers[i] = strtod(text, &end);
        if (end == text) {
            return false;
        }
    }
    text = end;
    uint64_t sum = strtoull(text, &end, 16);
    *rest = end + (*end == '\n');
    return end != text && *end == '\n' && sum == check_sum(line);
}

/* All of it or nothing: a damaged file is not worth guessing about. */
static void read_cache(MerPriceCache *cache)
{
    char       *data = NULL;
    size_t      size = 0;
    MerArena   *scratch = mer_arena_new();
    char        head[80];
    const char *at;
    snprintf(head, sizeof head, "mercator-prices/1 %016" PRIx64 "\n", cache->key);
    if (mer_file_read(cache->path, (size_t)1 << 26, scratch, &data, &size, NULL) == MER_OK) {
        bool is_good = strncmp(data, head, strlen(head)) == 0;
        at = data + (is_good ? strlen(head) : 0);
        while (is_good && at < data + size) {
            Line line;
            is_good = cache->count < MOST && read_line(at, &line, &at);
            if (is_good) {
                add_line(cache, &line);
            }
        }
        if (!is_good) {
            empty(cache);
        }
        cache->is_changed = !is_good;
    }
    mer_arena_free(scratch);
}

MerPriceCache *mer_price_cache_open(const char *where, const MerPriceKey *key, MerArena *arena)
{
    MerPriceCache *cache = MER_NEW(arena, MerPriceCache);
    const char    *folder = cache_folder(where, arena);
    *cache = (MerPriceCache){.arena = arena, .folder = folder, .key = hash_key(key)};
    empty(cache);
    if (folder) {
        cache->path = mer_arena_format(arena, "%s/prices-%016" PRIx64 ".txt", folder, cache->key);
        read_cache(cache);
    }
    return cache;
}

bool mer_price_cache_find(MerPriceCache *cache, uint64_t layer, MerJobTableEntry *entry)
{
    int place = mer_key_table_find(&cache->places, layer);
    if (place < 0 || cache->found++ % CHECK_EVERY == 0) {
        return false;
    }
    const double *v = cache->lines[place].numbers;
    *entry = (MerJobTableEntry){.latency = v[0],
                                .traffic = v[1],
                                .energy_pj = v[2],
                                .weight_bytes = v[3],
                                .output_bytes = v[4],
                                .l2_bytes = v[5],
                                .l1_bytes = v[6],
                                .macs = v[7] < 0 ? -v[7] : v[7],
                                .is_fallback = v[7] < 0};
    return true;
}

/* The last number has the flag of the fallback as its sign. */
static Line make_line(uint64_t layer, const MerJobTableEntry *entry)
{
    return (Line){layer,
                  {entry->latency, entry->traffic, entry->energy_pj, entry->weight_bytes,
                   entry->output_bytes, entry->l2_bytes, entry->l1_bytes,
                   entry->is_fallback ? -entry->macs : entry->macs}};
}

bool mer_price_equal(const MerJobTableEntry *known, const MerJobTableEntry *priced)
{
    Line a = make_line(0, known);
    Line b = make_line(0, priced);
    return check_sum(&a) == check_sum(&b);
}

int mer_price_cache_generation(const MerPriceCache *cache)
{
    return cache->generation;
}

void mer_price_cache_add(MerPriceCache *cache, uint64_t layer, const MerJobTableEntry *entry)
{
    Line line = make_line(layer, entry);
    int  place = mer_key_table_find(&cache->places, layer);
    if (!cache->path || (place >= 0 && check_sum(&cache->lines[place]) == check_sum(&line))) {
        return;
    }
    cache->generation += place >= 0;
    if (place >= 0 || cache->count >= MOST) { /* better a young cache than none */
        empty(cache);
    }
    add_line(cache, &line);
    cache->is_changed = true;
}

void mer_price_cache_close(MerPriceCache *cache)
{
    MerOutput output;
    if (!cache->path || !cache->is_changed) {
        return;
    }
    cache->is_changed = false;
    mer_directory_make(cache->folder, cache->arena, NULL);
    if (mer_output_open(&output, cache->path, NULL) != MER_OK) {
        return;
    }
    fprintf(output.file, "mercator-prices/1 %016" PRIx64 "\n", cache->key);
    for (int i = 0; i < cache->count; i++) {
        fprintf(output.file, "%016" PRIx64, cache->lines[i].layer);
        for (int n = 0; n < NUMBERS; n++) {
            fprintf(output.file, " %a", cache->lines[i].numbers[n]);
        }
        fprintf(output.file, " %016" PRIx64 "\n", check_sum(&cache->lines[i]));
    }
    mer_output_close(&output, NULL);
}

const char *mer_price_cache_path(const MerPriceCache *cache)
{
    return cache->path;
}
