/* Texts to pointers, by hashing. Lives in an arena; nothing is ever taken out. */
#ifndef MERCATOR_BASE_NAME_TABLE_H
#define MERCATOR_BASE_NAME_TABLE_H

#include "mercator/arena.h"

typedef struct MerNameTable { /* {.arena = arena} = empty */
    MerArena    *arena;
    const char **names;
    void       **values;
    size_t       count, capacity;
} MerNameTable;

/* NULL if absent */
void *mer_name_table_find(const MerNameTable *table, const char *name);
/* keeps `name`; replaces */
void mer_name_table_set(MerNameTable *table, const char *name, void *value);

#endif
