/* Blocks in an order in which each comes after all that it depends on. */
#include "place/solve/stages.h"

#include "base/smallest.h"

#define NEW(type, count) MER_ARRAY(arena, type, (count) + 1)

/* Without ranks the last block that became ready goes first, so that branches are not mixed. */
static void push_ready(int *ready, int *count, int block, const int *key)
{
    if (key) {
        mer_smallest_push(ready, count, key[block]);
    } else {
        ready[(*count)++] = block;
    }
}

/* Ranks made different: the place of each block when sorted by rank. */
static int *find_keys(const int *rank, int count, int *block_of_key, MerArena *arena)
{
    int *key = NEW(int, count), most = 0;
    for (int b = 0; b < count; b++) {
        most = rank[b] > most ? rank[b] : most;
    }
    int *next = NEW(int, most + 1);
    for (int b = 0; b < count; b++) {
        next[rank[b] + 1]++;
    }
    for (int r = 0; r <= most; r++) {
        next[r + 1] += next[r];
    }
    for (int b = 0; b < count; b++) {
        key[b] = next[rank[b]]++;
        block_of_key[key[b]] = b;
    }
    return key;
}

int *mer_stage_order(const MerStageBlocks *blocks, const int *rank, MerArena *arena)
{
    int *order = NEW(int, blocks->count), *waits = NEW(int, blocks->count), taken = 0;
    int *ready = NEW(int, blocks->count), ready_count = 0;
    int *block_of_key = NEW(int, blocks->count);
    int *key = rank ? find_keys(rank, blocks->count, block_of_key, arena) : NULL;
    for (int b = blocks->count - 1; b >= 0; b--) {
        waits[b] = blocks->before_start[b + 1] - blocks->before_start[b];
        if (waits[b] == 0) {
            push_ready(ready, &ready_count, b, key);
        }
    }
    while (ready_count > 0) {
        int block =
            key ? block_of_key[mer_smallest_take(ready, &ready_count)] : ready[--ready_count];
        order[taken++] = block;
        for (int i = blocks->after_start[block + 1] - 1; i >= blocks->after_start[block]; i--) {
            if (--waits[blocks->after[i]] == 0) {
                push_ready(ready, &ready_count, blocks->after[i], key);
            }
        }
    }
    assert(taken == blocks->count);
    return order;
}
