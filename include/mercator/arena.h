/* Memory that lives and dies together. Nothing inside an arena is freed alone. */
#ifndef MERCATOR_ARENA_H
#define MERCATOR_ARENA_H

#include <stddef.h>

typedef struct MerArena MerArena;

MerArena *mer_arena_new(void);
void      mer_arena_free(MerArena *arena); /* NULL is fine */

/* Zeroed, aligned to 16 bytes, never NULL: running out of memory ends the program with one line
 * on stderr. Importers check sizes before they ask. */
void *mer_arena_alloc(MerArena *arena, size_t bytes);
void *mer_arena_alloc_array(MerArena *arena, size_t count, size_t size); /* checks count * size */
char *mer_arena_text(MerArena *arena, const char *text);                 /* copy; NULL gives NULL */
char *mer_arena_text_n(MerArena *arena, const char *text, size_t length);
char *mer_arena_format(MerArena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A list with memory for one item more than its `count`: the same, or a copy with twice the memory. Only for lists
 * that always grow this way, since the capacity follows from the count; MER_GROW(arena, list, count) assigns. */
void *mer_arena_grow(MerArena *arena, void *list, size_t count, size_t size);

/* Forgets everything, keeps the blocks: for scratch arenas. */
void   mer_arena_reset(MerArena *arena);
size_t mer_arena_bytes(const MerArena *arena); /* handed out since the last reset */

#define MER_NEW(arena, Type) ((Type *)mer_arena_alloc((arena), sizeof(Type)))
#define MER_ARRAY(arena, Type, count)                                                              \
    ((Type *)mer_arena_alloc_array((arena), (size_t)(count), sizeof(Type)))
#define MER_GROW(arena, list, count)                                                               \
    ((list) = mer_arena_grow((arena), (list), (size_t)(count), sizeof *(list)))

#endif
