/* Set of hashes. */
#include "opt/visited.h"

static uint64_t hash(const MerIndex *point, int knob_count)
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < knob_count; k++) {
        h = (h ^ (uint64_t)point[k]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h != 0 ? h : 1;
}

static bool add(MerVisited *tried, uint64_t h)
{
    bool is_there = mer_key_table_find(tried, h) >= 0;
    if (!is_there && tried->count < MER_VISITED_MOST) {
        tried->arena = tried->arena != NULL ? tried->arena : mer_arena_new();
        mer_key_table_add(tried, h, 0);
    }
    return is_there;
}

bool mer_visited_add(MerVisited *tried, const MerIndex *point, int knob_count)
{
    return add(tried, hash(point, knob_count));
}

bool mer_visited_has(const MerVisited *tried, const MerIndex *point, int knob_count)
{
    return mer_key_table_find(tried, hash(point, knob_count)) >= 0;
}

void mer_visited_clear(MerVisited *tried)
{
    mer_arena_free(tried->arena);
    *tried = (MerVisited){0};
}

void mer_visited_keep(MerVisited *tried, MerStream *stream)
{
    MerVisited kept = stream->is_saving ? *tried : (MerVisited){0};
    int64_t    count = mer_stream_int(stream, (int64_t)kept.count, 0, MER_VISITED_MOST);
    for (size_t i = 0; i < kept.capacity; i++) {
        if (kept.values[i] != 0) {
            mer_stream_bytes(stream, &kept.keys[i], sizeof *kept.keys, 1);
        }
    }
    if (stream->is_saving) {
        return;
    }
    mer_visited_clear(tried);
    for (int64_t i = 0; i < count && !stream->is_broken; i++) {
        uint64_t h = 0;
        mer_stream_bytes(stream, &h, sizeof h, 1);
        if (h != 0) {
            add(tried, h);
        }
    }
}
