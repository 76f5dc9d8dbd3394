/* Every down-set of the blocks, by adding one block at a time; a hash of the set finds those that are known. */
#include "place/solve/stages.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

typedef struct Listing { /* arrays of the heap: they grow */
    const MerStageBlocks *blocks;
    int                   words, count, capacity;
    uint64_t             *bits;       /* [ideal * words + word] */
    uint64_t             *hash;       /* of each ideal */
    int                  *size;       /* of each ideal: blocks */
    size_t               *open_start; /* of each ideal: blocks that can be added to it */
    int                  *open;
    size_t                open_capacity;
    int                  *slots; /* ideal + 1 by hash; 0: free */
    size_t                slot_count;
    uint64_t             *key; /* of each block */
} Listing;

static uint64_t scramble(uint64_t x) /* splitmix64, Steele et al. 2014 */
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static bool has(const uint64_t *bits, int block)
{
    return bits[block / 64] >> (block % 64) & 1;
}

static void release(Listing *l)
{
    free(l->bits);
    free(l->hash);
    free(l->size);
    free(l->open_start);
    free(l->open);
    free(l->slots);
    free(l->key);
}

static void find_slots(Listing *l)
{
    free(l->slots);
    l->slot_count = 4 * (size_t)l->capacity;
    l->slots = mer_heap_zeroed(l->slot_count, sizeof *l->slots);
    for (int i = 0; i < l->count; i++) {
        size_t at = l->hash[i] & (l->slot_count - 1);
        while (l->slots[at] != 0) {
            at = (at + 1) & (l->slot_count - 1);
        }
        l->slots[at] = i + 1;
    }
}

static void grow(Listing *l)
{
    l->capacity = l->capacity > 0 ? 2 * l->capacity : 64;
    size_t capacity = (size_t)l->capacity;
    l->bits = mer_heap_resize(l->bits, capacity * (size_t)l->words + 1, sizeof *l->bits);
    l->hash = mer_heap_resize(l->hash, capacity, sizeof *l->hash);
    l->size = mer_heap_resize(l->size, capacity, sizeof *l->size);
    l->open_start = mer_heap_resize(l->open_start, capacity + 1, sizeof *l->open_start);
    find_slots(l);
}

static uint64_t *bits_of(const Listing *l, int ideal)
{
    return l->bits + (size_t)ideal * (size_t)l->words;
}

/* Is ideal `known` the set `from` and `block`? */
static bool is_sum(const Listing *l, int known, int from, int block)
{
    const uint64_t *sum = bits_of(l, known), *part = bits_of(l, from);
    for (int w = 0; w < l->words; w++) {
        uint64_t added = w == block / 64 ? UINT64_C(1) << (block % 64) : 0;
        if (sum[w] != (part[w] | added)) {
            return false;
        }
    }
    return true;
}

static bool is_known(const Listing *l, uint64_t hash, int from, int block)
{
    for (size_t at = hash & (l->slot_count - 1); l->slots[at] != 0;
         at = (at + 1) & (l->slot_count - 1)) {
        int known = l->slots[at] - 1;
        if (l->hash[known] == hash && is_sum(l, known, from, block)) {
            return true;
        }
    }
    return false;
}

static bool has_all_before(const Listing *l, const uint64_t *bits, int block)
{
    for (int i = l->blocks->before_start[block]; i < l->blocks->before_start[block + 1]; i++) {
        if (!has(bits, l->blocks->before[i])) {
            return false;
        }
    }
    return true;
}

static void need_open(Listing *l, size_t more)
{
    size_t needed = l->open_start[l->count] + more;
    if (needed > l->open_capacity) {
        l->open_capacity = 2 * needed + 64;
        l->open = mer_heap_resize(l->open, l->open_capacity, sizeof *l->open);
    }
}

/* `from` and `block` as a new ideal, and what can be added to it: what could before, and what waited for the block. */
static void add_ideal(Listing *l, int from, int block, uint64_t hash)
{
    if (l->count == l->capacity) {
        grow(l);
    }
    int       made = l->count;
    uint64_t *bits = bits_of(l, made);
    size_t    first = l->open_start[from], end = l->open_start[from + 1], at = l->open_start[made];
    memcpy(bits, bits_of(l, from), (size_t)l->words * sizeof *bits);
    bits[block / 64] |= UINT64_C(1) << (block % 64);
    l->hash[made] = hash;
    l->size[made] = l->size[from] + 1;
    int begin_after = l->blocks->after_start[block], end_after = l->blocks->after_start[block + 1];
    need_open(l, end - first + (size_t)(end_after - begin_after));
    for (size_t i = first; i < end; i++) {
        if (l->open[i] != block) {
            l->open[at++] = l->open[i];
        }
    }
    for (int i = begin_after; i < end_after; i++) {
        if (has_all_before(l, bits, l->blocks->after[i])) {
            l->open[at++] = l->blocks->after[i];
        }
    }
    l->open_start[made + 1] = at;
    size_t slot = hash & (l->slot_count - 1);
    while (l->slots[slot] != 0) {
        slot = (slot + 1) & (l->slot_count - 1);
    }
    l->slots[slot] = made + 1;
    l->count++;
}

static void begin(Listing *l, const MerStageBlocks *blocks)
{
    *l = (Listing){.blocks = blocks, .words = (blocks->count + 63) / 64};
    grow(l);
    l->key = mer_heap_zeroed((size_t)blocks->count + 1, sizeof *l->key);
    memset(l->bits, 0, (size_t)l->words * sizeof *l->bits);
    l->hash[0] = 0;
    l->size[0] = 0;
    l->open_start[0] = 0;
    need_open(l, (size_t)blocks->count);
    size_t at = 0;
    for (int b = 0; b < blocks->count; b++) {
        l->key[b] = scramble((uint64_t)b);
        if (blocks->before_start[b] == blocks->before_start[b + 1]) {
            l->open[at++] = b;
        }
    }
    l->open_start[1] = at;
    l->count = 1;
    find_slots(l);
}

/* false: there are too many. */
static bool list_all(Listing *l, int64_t stored, int64_t explored, MerNotes *notes)
{
    for (int i = 0; i < l->count; i++) {
        if (i % 4096 == 0 && mer_is_cancelled(notes)) {
            return false;
        }
        for (size_t k = l->open_start[i]; k < l->open_start[i + 1]; k++) {
            int      block = l->open[k];
            uint64_t hash = l->hash[i] ^ l->key[block];
            if (--explored < 0) {
                return false;
            }
            if (!is_known(l, hash, i, block)) {
                if (l->count >= stored) {
                    return false;
                }
                add_ideal(l, i, block, hash);
            }
        }
    }
    return true;
}

typedef struct Rank {
    double work;
    int    size, ideal;
} Rank;

static int by_rank(const void *a, const void *b)
{
    const Rank *x = a, *y = b;
    return x->work != y->work   ? (x->work > y->work) - (x->work < y->work)
           : x->size != y->size ? (x->size > y->size) - (x->size < y->size)
                                : (x->ideal > y->ideal) - (x->ideal < y->ideal);
}

/* Sums of numbers >= 0 in one order never fall when numbers are added in between, rounding included: no subset has more work. */
static double sum_work(const Listing *l, int ideal)
{
    const uint64_t *bits = bits_of(l, ideal);
    double          sum = 0;
    for (int b = 0; b < l->blocks->count; b++) {
        sum += has(bits, b) ? l->blocks->work_us[b] : 0;
    }
    return sum;
}

static const MerIdeals *sort_ideals(const Listing *l, MerArena *arena)
{
    MerIdeals *ideals = MER_NEW(arena, MerIdeals);
    size_t     words = (size_t)l->words;
    uint64_t  *bits = NEW(uint64_t, (size_t)l->count * words);
    double    *work = NEW(double, l->count);
    Rank      *ranks = mer_heap_zeroed((size_t)l->count, sizeof *ranks);
    for (int i = 0; i < l->count; i++) {
        ranks[i] = (Rank){sum_work(l, i), l->size[i], i};
    }
    qsort(ranks, (size_t)l->count, sizeof *ranks, by_rank);
    for (int i = 0; i < l->count; i++) {
        work[i] = ranks[i].work;
        memcpy(bits + (size_t)i * words, bits_of(l, ranks[i].ideal), words * sizeof *bits);
    }
    free(ranks);
    *ideals = (MerIdeals){l->count, l->words, bits, work};
    return ideals;
}

const MerIdeals *mer_stage_list_ideals(const MerStageBlocks *blocks, const MerIdealLimits *limits,
                                       MerNotes *notes, MerArena *arena)
{
    const int64_t    most_words = 16 << 20; /* 128 MB */
    const MerIdeals *ideals = NULL;
    int64_t          stored = most_words / ((blocks->count + 63) / 64 + 1);
    stored = limits->stored < stored ? limits->stored : stored;
    if (blocks->count + 1 > stored) { /* every block ends one of its own */
        return NULL;
    }
    Listing listing;
    begin(&listing, blocks);
    if (list_all(&listing, stored, limits->explored, notes)) {
        ideals = sort_ideals(&listing, arena);
    }
    release(&listing);
    return ideals;
}
