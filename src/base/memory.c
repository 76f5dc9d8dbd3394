/* The one place where running out of memory ends the program. */
#include "base/memory.h"

#include "base/output.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

_Noreturn void mer_out_of_memory(size_t bytes)
{
    mer_output_discard_all();
    fprintf(stderr, "mercator: out of memory: %zu more bytes are not to be had\n", bytes);
    /* Other threads may still run, so nothing registered with atexit may touch their data. */
    _Exit(1);
}

void *mer_heap_zeroed(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    if (memory == NULL) {
        mer_out_of_memory(size > 0 && count > SIZE_MAX / size ? SIZE_MAX : count * size);
    }
    return memory;
}

void *mer_heap_resize(void *memory, size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size) {
        mer_out_of_memory(SIZE_MAX);
    }
    size_t bytes = count * size > 0 ? count * size : 1;
    void  *resized = realloc(memory, bytes);
    if (resized == NULL) {
        mer_out_of_memory(bytes);
    }
    return resized;
}
