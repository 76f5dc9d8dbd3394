/* Open addressing with linear steps; at most three quarters full. */
#include "base/key_table.h"

/* The place of `key`, or the free place where it belongs. capacity > 0. */
static size_t slot(const MerKeyTable *table, uint64_t key)
{
    size_t index = (size_t)(key ^ (key >> 32)) & (table->capacity - 1);
    while (table->values[index] != 0 && table->keys[index] != key) {
        index = (index + 1) & (table->capacity - 1);
    }
    return index;
}

int mer_key_table_find(const MerKeyTable *table, uint64_t key)
{
    return table->capacity == 0 ? -1 : table->values[slot(table, key)] - 1;
}

static void grow(MerKeyTable *table)
{
    MerKeyTable larger = {.arena = table->arena,
                          .capacity = table->capacity == 0 ? 64 : table->capacity * 2};
    larger.keys = MER_ARRAY(table->arena, uint64_t, larger.capacity);
    larger.values = MER_ARRAY(table->arena, int, larger.capacity);
    larger.count = table->count;
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->values[i] != 0) {
            size_t index = slot(&larger, table->keys[i]);
            larger.keys[index] = table->keys[i];
            larger.values[index] = table->values[i];
        }
    }
    *table = larger;
}

int mer_key_table_add(MerKeyTable *table, uint64_t key, int value)
{
    if (table->count >= table->capacity / 4 * 3) {
        grow(table);
    }
    size_t index = slot(table, key);
    if (table->values[index] == 0) {
        table->keys[index] = key;
        table->values[index] = value + 1;
        table->count++;
    }
    return table->values[index] - 1;
}
