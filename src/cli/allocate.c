/* The program's allocations: those of the C library, but where one fails the program ends as mer_out_of_memory
 * says, whoever asked. Libraries below us crash (YAML), throw (linear programs, kernels, trees) or give an answer that
 * looks like a broken input (JSON); none of that reaches the user. Of the program alone: a host of the library
 * keeps its own allocator. Sanitizers bring theirs. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "base/memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER 1
#endif

#ifdef HAS_SANITIZER
typedef int MerNoAllocator; /* a file needs something in it */
#else

/* The next definition of a function, of the C library or of a tool that was loaded before it. Looking it up allocates
 * nothing as long as it is found; threads that look at the same time find the same. */
#define NEXT(type, name, ...)                                                                      \
    static type (*_Atomic known)(__VA_ARGS__);                                                     \
    type (*next)(__VA_ARGS__) = atomic_load_explicit(&known, memory_order_relaxed);                \
    if (!next) {                                                                                   \
        void *found = dlsym(RTLD_NEXT, name);                                                      \
        memcpy(&next, &found, sizeof next); /* C has no other way from data to functions */        \
        atomic_store_explicit(&known, next, memory_order_relaxed);                                 \
    }

void *malloc(size_t size)
{
    NEXT(void *, "malloc", size_t)
    void *memory = next(size);
    if (!memory && size > 0) {
        mer_out_of_memory(size);
    }
    return memory;
}

void *calloc(size_t count, size_t size)
{
    NEXT(void *, "calloc", size_t, size_t)
    void *memory = next(count, size);
    if (!memory && count > 0 && size > 0) {
        mer_out_of_memory(count > (size_t)-1 / size ? (size_t)-1 : count * size);
    }
    return memory;
}

void *realloc(void *old, size_t size)
{
    NEXT(void *, "realloc", void *, size_t)
    void *memory = next(old, size);
    if (!memory && size > 0) { /* of size 0 it is freed */
        mer_out_of_memory(size);
    }
    return memory;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    NEXT(void *, "aligned_alloc", size_t, size_t)
    void *memory = next(alignment, size);
    if (!memory && size > 0) {
        mer_out_of_memory(size);
    }
    return memory;
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    NEXT(int, "posix_memalign", void **, size_t, size_t)
    int code = next(memory, alignment, size);
    if (code == ENOMEM) {
        mer_out_of_memory(size);
    }
    return code;
}
#endif
