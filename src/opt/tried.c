/* Set of hashes with open addressing. */
#include "opt/tried.h"

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
static uint64_t *slot_of(const MerTried *tried, uint64_t h)
{
    size_t i = (size_t)h & (tried->room - 1);
    while (tried->slots[i] != 0 && tried->slots[i] != h) {
        i = (i + 1) & (tried->room - 1);
    }
    return &tried->slots[i];
}

static void grow(MerTried *tried)
{
    MerTried larger = {NULL, tried->room > 0 ? 2 * tried->room : 1024, tried->count};
    larger.slots = mer_heap_zeroed(larger.room, sizeof *larger.slots);
    for (size_t i = 0; i < tried->room; i++) {
        if (tried->slots[i] != 0) {
            *slot_of(&larger, tried->slots[i]) = tried->slots[i];
        }
    }
    free(tried->slots);
    *tried = larger;
}

static bool add(MerTried *tried, uint64_t h)
{
    if (2 * (tried->count + 1) > tried->room && tried->count < MER_TRIED_MOST) {
        grow(tried);
    }
    uint64_t *slot = slot_of(tried, h);
    if (*slot == h) {
        return true;
    }
    if (tried->count < MER_TRIED_MOST) {
        *slot = h;
        tried->count++;
    }
    return false;
}

bool mer_tried_add(MerTried *tried, const MerIndex *point, int knob_count)
{
    return add(tried, hash(point, knob_count));
}

bool mer_tried_has(const MerTried *tried, const MerIndex *point, int knob_count)
{
    return tried->room > 0 && *slot_of(tried, hash(point, knob_count)) != 0;
}

void mer_tried_clear(MerTried *tried)
{
    free(tried->slots);
    *tried = (MerTried){0};
}

static void load(MerTried *tried, MerStream *stream)
{
    mer_tried_clear(tried);
    int64_t count = mer_stream_int(stream, 0, 0, MER_TRIED_MOST);
    for (int64_t i = 0; i < count && !stream->is_broken; i++) {
        uint64_t h = 0;
        mer_stream_bytes(stream, &h, sizeof h, 1);
        if (h != 0) {
            add(tried, h);
        }
    }
}

void mer_tried_keep(MerTried *tried, MerStream *stream)
{
    if (!stream->is_saving) {
        load(tried, stream);
        return;
    }
    mer_stream_int(stream, (int64_t)tried->count, 0, MER_TRIED_MOST);
    for (size_t i = 0; i < tried->room; i++) {
        if (tried->slots[i] != 0) {
            mer_stream_bytes(stream, &tried->slots[i], sizeof *tried->slots, 1);
        }
    }
}
