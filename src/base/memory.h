/* Heap memory that is there or ends the program: one line on stderr, exit code 1, no file half-written. */
#ifndef MERCATOR_BASE_MEMORY_H
#define MERCATOR_BASE_MEMORY_H

#include <stddef.h>

_Noreturn void mer_out_of_memory(size_t bytes);

void *mer_heap_zeroed(size_t count, size_t size);               /* give back with free() */
void *mer_heap_resize(void *memory, size_t count, size_t size); /* checks count * size */

#endif
