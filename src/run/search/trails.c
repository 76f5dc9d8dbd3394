/* Places for trails: a heap of places by when they were needed last, and a table of places by trial. */
#include "run/search/trails.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

enum { BUCKETS = 2 * MER_TRAIL_SLOTS };

struct MerTrails {
    size_t  bytes;
    char   *room;
    int64_t now;                    /* batch */
    int64_t trial[MER_TRAIL_SLOTS]; /* -1: none yet */
    int64_t used[MER_TRAIL_SLOTS];  /* batch that needed it last */
    /* the same when the heap was last put in order: never later */
    int64_t counted[MER_TRAIL_SLOTS];
    int     heap[MER_TRAIL_SLOTS]; /* places, least (counted, place) on top */
    int     bucket[BUCKETS];       /* first place of the trials that fall there, -1: none */
    int     next[MER_TRAIL_SLOTS];
};

MerTrails *mer_trails_new(size_t bytes)
{
    MerTrails *trails = mer_heap_zeroed(1, sizeof *trails);
    trails->bytes = bytes;
    trails->room = mer_heap_zeroed(MER_TRAIL_SLOTS, bytes);
    for (int s = 0; s < MER_TRAIL_SLOTS; s++) {
        trails->trial[s] = trails->next[s] = -1;
        trails->heap[s] = s;
    }
    for (int b = 0; b < BUCKETS; b++) {
        trails->bucket[b] = -1;
    }
    return trails;
}

void mer_trails_free(MerTrails *trails)
{
    if (trails) {
        free(trails->room);
        free(trails);
    }
}

void mer_trails_begin(MerTrails *trails)
{
    trails->now++;
}

static int *bucket_of(MerTrails *trails, int64_t trial)
{
    return &trails->bucket[trial & (BUCKETS - 1)];
}

int mer_trails_find(MerTrails *trails, int64_t trial)
{
    int slot = trial >= 0 ? *bucket_of(trails, trial) : -1;
    while (slot >= 0 && trails->trial[slot] != trial) {
        slot = trails->next[slot];
    }
    if (slot >= 0) {
        trails->used[slot] = trails->now;
    }
    return slot;
}

static bool is_before(const MerTrails *trails, int a, int b)
{
    return trails->counted[a] != trails->counted[b] ? trails->counted[a] < trails->counted[b]
                                                    : a < b;
}

/* Lets the top of the heap sink to where it belongs. */
static void sink(MerTrails *trails)
{
    int slot = trails->heap[0];
    int at = 0;
    for (int child = 1; child < MER_TRAIL_SLOTS; child = 2 * at + 1) {
        bool is_right_less = child + 1 < MER_TRAIL_SLOTS &&
                             is_before(trails, trails->heap[child + 1], trails->heap[child]);
        child += is_right_less;
        if (is_before(trails, slot, trails->heap[child])) {
            break;
        }
        trails->heap[at] = trails->heap[child];
        at = child;
    }
    trails->heap[at] = slot;
}

/* The place that was needed longest ago, the first of equals. Places that were needed again since they
 * were counted are counted anew when they come up. */
static int oldest(MerTrails *trails)
{
    int slot = trails->heap[0];
    while (trails->counted[slot] != trails->used[slot]) {
        trails->counted[slot] = trails->used[slot];
        sink(trails);
        slot = trails->heap[0];
    }
    return slot;
}

static void rename_slot(MerTrails *trails, int slot, int64_t trial)
{
    if (trails->trial[slot] >= 0) {
        int *link = bucket_of(trails, trails->trial[slot]);
        while (*link != slot) {
            link = &trails->next[*link];
        }
        *link = trails->next[slot];
    }
    int *bucket = bucket_of(trails, trial);
    trails->trial[slot] = trial;
    trails->next[slot] = *bucket;
    *bucket = slot;
}

int mer_trails_place(MerTrails *trails, int64_t trial)
{
    int slot = oldest(trails);
    if (trails->used[slot] == trails->now) {
        return -1;
    }
    trails->used[slot] = trails->now;
    rename_slot(trails, slot, trial);
    return slot;
}

void *mer_trails_at(const MerTrails *trails, int slot)
{
    return slot < 0 ? NULL : trails->room + (size_t)slot * trails->bytes;
}
