/* Places for snapshots: a heap of places by when they were needed last, and a table of places by trial. */
#include "run/search/snapshots.h"

#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>

enum { BUCKETS = 2 * MER_SNAPSHOT_SLOTS };

struct MerSnapshots {
    size_t  bytes;
    char   *memory;
    int64_t now;                       /* batch */
    int64_t trial[MER_SNAPSHOT_SLOTS]; /* -1: none yet */
    int64_t used[MER_SNAPSHOT_SLOTS];  /* batch that needed it last */
    /* the same when the heap was last put in order: never later */
    int64_t counted[MER_SNAPSHOT_SLOTS];
    int     heap[MER_SNAPSHOT_SLOTS]; /* places, least (counted, place) on top */
    int     bucket[BUCKETS];          /* first place of the trials that fall there, -1: none */
    int     next[MER_SNAPSHOT_SLOTS];
};

MerSnapshots *mer_snapshots_new(size_t bytes)
{
    MerSnapshots *snapshots = mer_heap_zeroed(1, sizeof *snapshots);
    snapshots->bytes = bytes;
    snapshots->memory = mer_heap_zeroed(MER_SNAPSHOT_SLOTS, bytes);
    for (int s = 0; s < MER_SNAPSHOT_SLOTS; s++) {
        snapshots->trial[s] = snapshots->next[s] = -1;
        snapshots->heap[s] = s;
    }
    for (int b = 0; b < BUCKETS; b++) {
        snapshots->bucket[b] = -1;
    }
    return snapshots;
}

void mer_snapshots_free(MerSnapshots *snapshots)
{
    if (snapshots) {
        free(snapshots->memory);
        free(snapshots);
    }
}

void mer_snapshots_begin(MerSnapshots *snapshots)
{
    snapshots->now++;
}

static int *bucket_of(MerSnapshots *snapshots, int64_t trial)
{
    return &snapshots->bucket[trial & (BUCKETS - 1)];
}

int mer_snapshots_find(MerSnapshots *snapshots, int64_t trial)
{
    int slot = trial >= 0 ? *bucket_of(snapshots, trial) : -1;
    while (slot >= 0 && snapshots->trial[slot] != trial) {
        slot = snapshots->next[slot];
    }
    if (slot >= 0) {
        snapshots->used[slot] = snapshots->now;
    }
    return slot;
}

static bool is_before(const MerSnapshots *snapshots, int a, int b)
{
    return snapshots->counted[a] != snapshots->counted[b]
               ? snapshots->counted[a] < snapshots->counted[b]
               : a < b;
}

/* Lets the top of the heap sink to where it belongs. */
static void sink(MerSnapshots *snapshots)
{
    int slot = snapshots->heap[0];
    int at = 0;
    for (int child = 1; child < MER_SNAPSHOT_SLOTS; child = 2 * at + 1) {
        bool is_right_less =
            child + 1 < MER_SNAPSHOT_SLOTS &&
            is_before(snapshots, snapshots->heap[child + 1], snapshots->heap[child]);
        child += is_right_less;
        if (is_before(snapshots, slot, snapshots->heap[child])) {
            break;
        }
        snapshots->heap[at] = snapshots->heap[child];
        at = child;
    }
    snapshots->heap[at] = slot;
}

/* The place that was needed longest ago, the first of equals. Places that were needed again since they
 * were counted are counted anew when they come up. */
static int oldest(MerSnapshots *snapshots)
{
    int slot = snapshots->heap[0];
    while (snapshots->counted[slot] != snapshots->used[slot]) {
        snapshots->counted[slot] = snapshots->used[slot];
        sink(snapshots);
        slot = snapshots->heap[0];
    }
    return slot;
}

static void rename_slot(MerSnapshots *snapshots, int slot, int64_t trial)
{
    if (snapshots->trial[slot] >= 0) {
        int *link = bucket_of(snapshots, snapshots->trial[slot]);
        while (*link != slot) {
            link = &snapshots->next[*link];
        }
        *link = snapshots->next[slot];
    }
    int *bucket = bucket_of(snapshots, trial);
    snapshots->trial[slot] = trial;
    snapshots->next[slot] = *bucket;
    *bucket = slot;
}

int mer_snapshots_place(MerSnapshots *snapshots, int64_t trial)
{
    int slot = oldest(snapshots);
    if (snapshots->used[slot] == snapshots->now) {
        return -1;
    }
    snapshots->used[slot] = snapshots->now;
    rename_slot(snapshots, slot, trial);
    return slot;
}

void *mer_snapshots_at(const MerSnapshots *snapshots, int slot)
{
    return slot < 0 ? NULL : snapshots->memory + (size_t)slot * snapshots->bytes;
}
