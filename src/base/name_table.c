/* Open addressing with linear steps; at most three quarters full. */
#include "base/name_table.h"

#include "base/text.h"

#include <string.h>

/* The place of `name`, or the free place where it belongs. room > 0. */
static size_t slot(const MerNameTable *table, const char *name)
{
    uint64_t hash = mer_hash_text(MER_HASH_START, name);
    size_t   index = (size_t)(hash ^ (hash >> 32)) & (table->room - 1);
    while (table->names[index] != NULL && strcmp(table->names[index], name) != 0) {
        index = (index + 1) & (table->room - 1);
    }
    return index;
}

void *mer_name_table_find(const MerNameTable *table, const char *name)
{
    return table->room == 0 ? NULL : table->values[slot(table, name)];
}

static void grow(MerNameTable *table)
{
    MerNameTable larger = {.arena = table->arena, .room = table->room == 0 ? 16 : table->room * 2};
    larger.names = MER_ARRAY(table->arena, const char *, larger.room);
    larger.values = MER_ARRAY(table->arena, void *, larger.room);
    larger.count = table->count;
    for (size_t i = 0; i < table->room; i++) {
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
    if (table->count >= table->room / 4 * 3) {
        grow(table);
    }
    size_t index = slot(table, name);
    table->count += table->names[index] == NULL;
    table->names[index] = name;
    table->values[index] = value;
}
