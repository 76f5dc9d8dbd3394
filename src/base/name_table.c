/* Open addressing with linear steps; at most three quarters full. */
#include "base/name_table.h"

#include "mercator/text.h"

#include <string.h>

/* The place of `name`, or the free place where it belongs. capacity > 0. */
static size_t slot(const MerNameTable *table, const char *name)
{
    uint64_t hash = mer_hash_text(MER_HASH_START, name);
    size_t   index = (size_t)(hash ^ (hash >> 32)) & (table->capacity - 1);
    while (table->names[index] != NULL && strcmp(table->names[index], name) != 0) {
        index = (index + 1) & (table->capacity - 1);
    }
    return index;
}

void *mer_name_table_find(const MerNameTable *table, const char *name)
{
    return table->capacity == 0 ? NULL : table->values[slot(table, name)];
}

static void grow(MerNameTable *table)
{
    MerNameTable larger = {.arena = table->arena,
                           .capacity = table->capacity == 0 ? 16 : table->capacity * 2};
    larger.names = MER_ARRAY(table->arena, const char *, larger.capacity);
    larger.values = MER_ARRAY(table->arena, void *, larger.capacity);
    larger.count = table->count;
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->names[i] != NULL) {
            size_t index = slot(&larger, table->names[i]);
            larger.names[index] = table->names[i];
            larger.values[index] = table->values[i];
        }
    }
    *table = larger;
}

void mer_name_table_set(MerNameTable *table, const char *name, void *value)
{
    if (table->count >= table->capacity / 4 * 3) {
        grow(table);
    }
    size_t index = slot(table, name);
    table->count += table->names[index] == NULL;
    table->names[index] = name;
    table->values[index] = value;
}
