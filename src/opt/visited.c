/* Set of hashes with open addressing. */
#include "opt/visited.h"

#include "base/memory.h"

#include <stdlib.h>

static uint64_t hash(const MerIndex *point, int knob_count)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < knob_count; k++) {
        h = (h ^ (uint64_t)point[k]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h != 0 ? h : 1;
}

/* Its slot, or the free one it would take. */
static uint64_t *slot_of(const MerVisited *tried, uint64_t h)
{
    size_t i = (size_t)h & (tried->capacity - 1);
    while (tried->slots[i] != 0 && tried->slots[i] != h) {
        i = (i + 1) & (tried->capacity - 1);
    }
    return &tried->slots[i];
}

static void grow(MerVisited *tried)
{
    MerVisited larger = {NULL, tried->capacity > 0 ? 2 * tried->capacity : 1024, tried->count};
    larger.slots = mer_heap_zeroed(larger.capacity, sizeof *larger.slots);
    for (size_t i = 0; i < tried->capacity; i++) {
        if (tried->slots[i] != 0) {
            *slot_of(&larger, tried->slots[i]) = tried->slots[i];
        }
    }
    free(tried->slots);
    *tried = larger;
}

static bool add(MerVisited *tried, uint64_t h)
{
    if (2 * (tried->count + 1) > tried->capacity && tried->count < MER_VISITED_MOST) {
        grow(tried);
    }
    uint64_t *slot = slot_of(tried, h);
    if (*slot == h) {
        return true;
    }
    if (tried->count < MER_VISITED_MOST) {
        *slot = h;
        tried->count++;
    }
    return false;
}

bool mer_visited_add(MerVisited *tried, const MerIndex *point, int knob_count)
{
    return add(tried, hash(point, knob_count));
}

bool mer_visited_has(const MerVisited *tried, const MerIndex *point, int knob_count)
{
    return tried->capacity > 0 && *slot_of(tried, hash(point, knob_count)) != 0;
}

void mer_visited_clear(MerVisited *tried)
{
    free(tried->slots);
    *tried = (MerVisited){0};
}

static void load(MerVisited *tried, MerStream *stream)
{
    mer_visited_clear(tried);
    int64_t count = mer_stream_int(stream, 0, 0, MER_VISITED_MOST);
    for (int64_t i = 0; i < count && !stream->is_broken; i++) {
        uint64_t h = 0;
        mer_stream_bytes(stream, &h, sizeof h, 1);
        if (h != 0) {
            add(tried, h);
        }
    }
}

void mer_visited_keep(MerVisited *tried, MerStream *stream)
{
    if (!stream->is_saving) {
        load(tried, stream);
        return;
    }
    mer_stream_int(stream, (int64_t)tried->count, 0, MER_VISITED_MOST);
    for (size_t i = 0; i < tried->capacity; i++) {
        if (tried->slots[i] != 0) {
            mer_stream_bytes(stream, &tried->slots[i], sizeof *tried->slots, 1);
        }
    }
}
