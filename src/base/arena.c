/* Arena: a list of growing blocks. A block comes zeroed from calloc and remembers how far it was
 * ever written, so that fresh memory is not cleared twice. Under AddressSanitizer everything that
 * was not handed out is poisoned, with a gap between neighbours. */
#include "mercator/arena.h"

#include "base/memory.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif

#ifdef HAS_ASAN
#include <sanitizer/asan_interface.h>
#define GAP 16
#define POISON(memory, bytes) ASAN_POISON_MEMORY_REGION((memory), (bytes))
#define UNPOISON(memory, bytes) ASAN_UNPOISON_MEMORY_REGION((memory), (bytes))
#else
#define GAP 0
#define POISON(memory, bytes) ((void)0)
#define UNPOISON(memory, bytes) ((void)0)
#endif

enum { ALIGNMENT = 16, FIRST_BLOCK = 16 << 10, LARGEST_BLOCK = 64 << 20, FIRST_ITEMS = 16 };

typedef struct Block {
    struct Block *next;
    size_t        size, used;
    size_t        written; /* bytes from here on are still zero */
    alignas(ALIGNMENT) unsigned char memory[];
} Block;

struct MerArena {
    Block *first, *current;
    size_t reserved, handed_out;
    char apart[64]; /* so that two threads with an arena each never write to the same cache line */
};

MerArena *mer_arena_new(void)
{
    return mer_heap_zeroed(1, sizeof(MerArena));
}

void mer_arena_free(MerArena *arena)
{
    if (arena == NULL) {
        return;
    }
    for (Block *block = arena->first; block != NULL;) {
        Block *next = block->next;
        UNPOISON(block->memory, block->size);
        free(block);
        block = next;
    }
    free(arena);
}

/* Doubles what there is, so that the number of blocks stays small. */
static Block *add_block(MerArena *arena, size_t bytes)
{
    size_t size = arena->reserved < FIRST_BLOCK ? FIRST_BLOCK : arena->reserved;
    size = size > LARGEST_BLOCK ? LARGEST_BLOCK : size;
    size = size < bytes ? bytes : size;
    Block *block = mer_heap_zeroed(1, sizeof(Block) + size);
    block->size = size;
    POISON(block->memory, size);
    if (arena->current == NULL) {
        arena->first = block;
    } else {
        block->next = arena->current->next;
        arena->current->next = block;
    }
    arena->reserved += size;
    return block;
}

static Block *block_with_capacity(MerArena *arena, size_t bytes)
{
    for (Block *block = arena->current; block != NULL; block = block->next) {
        if (block->size - block->used >= bytes) {
            return block;
        }
        if (block->next == NULL) {
            arena->current = block;
        }
    }
    return add_block(arena, bytes);
}

void *mer_arena_alloc(MerArena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) {
        mer_out_of_memory(bytes);
    }
    size_t wanted = bytes > 0 ? bytes : 1;
    size_t rounded = (wanted + GAP + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    Block *block = block_with_capacity(arena, rounded);
    arena->current = block;
    unsigned char *memory = block->memory + block->used;
    UNPOISON(memory, wanted);
    if (block->used < block->written) {
        size_t old = block->written - block->used;
        memset(memory, 0, old < wanted ? old : wanted);
    }
    block->used += rounded;
    if (block->written < block->used) {
        block->written = block->used;
    }
    arena->handed_out += wanted;
    return memory;
}

void *mer_arena_alloc_array(MerArena *arena, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size) {
        mer_out_of_memory(SIZE_MAX);
    }
    return mer_arena_alloc(arena, count * size);
}

void *mer_arena_grow(MerArena *arena, void *list, size_t count, size_t size)
{
    bool is_full = count == 0 || (count >= FIRST_ITEMS && (count & (count - 1)) == 0);
    if (!is_full) {
        return list;
    }
    void *larger = mer_arena_alloc_array(arena, count == 0 ? FIRST_ITEMS : 2 * count, size);
    if (count > 0) {
        memcpy(larger, list, count * size);
    }
    return larger;
}

char *mer_arena_text(MerArena *arena, const char *text)
{
    return text == NULL ? NULL : mer_arena_text_n(arena, text, strlen(text));
}

char *mer_arena_text_n(MerArena *arena, const char *text, size_t length)
{
    if (length == SIZE_MAX) {
        mer_out_of_memory(length);
    }
    char *copy = mer_arena_alloc(arena, length + 1);
    if (length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

char *mer_arena_format(MerArena *arena, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int   length = vsnprintf(NULL, 0, format, arguments);
    char *text = mer_arena_alloc(arena, length > 0 ? (size_t)length + 1 : 1);
    if (length > 0) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    va_end(arguments);
    return text;
}

void mer_arena_reset(MerArena *arena)
{
    for (Block *block = arena->first; block != NULL; block = block->next) {
        block->used = 0;
        POISON(block->memory, block->size);
    }
    arena->current = arena->first;
    arena->handed_out = 0;
}

size_t mer_arena_bytes(const MerArena *arena)
{
    return arena->handed_out;
}
