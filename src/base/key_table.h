/* Hashes to small numbers. Lives in an arena; nothing is ever taken out. */
#ifndef MERCATOR_BASE_KEY_TABLE_H
#define MERCATOR_BASE_KEY_TABLE_H

#include "mercator/arena.h"

#include <stdint.h>

typedef struct MerKeyTable { /* {.arena = arena} = empty */
    MerArena *arena;
    uint64_t *keys;
    int      *values; /* + 1; 0: a free place */
    size_t    count, capacity;
} MerKeyTable;

int mer_key_table_find(const MerKeyTable *table, uint64_t key); /* -1 if absent */
/* The value of `key`, which becomes `value` >= 0 if it had none. */
int mer_key_table_add(MerKeyTable *table, uint64_t key, int value);

#endif
