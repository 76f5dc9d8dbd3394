/* Texts to pointers, by hashing. Lives in an arena; nothing is ever taken out. */
#ifndef MERCATOR_BASE_TABLE_H
#define MERCATOR_BASE_TABLE_H

#include "mercator/arena.h"

typedef struct MerTable { /* {.arena = arena} = empty */
    MerArena    *arena;
    const char **names;
    void       **values;
    size_t       count, room;
} MerTable;

void *mer_table_find(const MerTable *table, const char *name);              /* NULL if absent */
void  mer_table_set(MerTable *table, const char *name, void *value); /* keeps `name`; replaces */

#endif
