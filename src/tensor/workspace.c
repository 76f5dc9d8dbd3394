/* Workspace: a list of blocks that only grows. */
#include "tensor/workspace.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64, FIRST_BLOCK = 256 << 10 };

typedef struct Block {
    struct Block  *next;
    unsigned char *memory;
    size_t         size, used;
} Block;

struct MerWorkspace {
    Block  *first, *current, *last;
    size_t  reserved;
    int64_t block_count;
};

MerWorkspace *mer_workspace_new(void)
{
    return mer_heap_zeroed(1, sizeof(MerWorkspace));
}

void mer_workspace_free(MerWorkspace *workspace)
{
    if (workspace == NULL) {
        return;
    }
    for (Block *block = workspace->first; block != NULL;) {
        Block *next = block->next;
        free(block->memory);
        free(block);
        block = next;
    }
    free(workspace);
}

/* As large as all blocks before it, so that their number stays small. */
static Block *add_block(MerWorkspace *workspace, size_t bytes)
{
    size_t size = workspace->reserved < FIRST_BLOCK ? FIRST_BLOCK : workspace->reserved;
    size = size < bytes ? bytes : size;
    Block *block = mer_heap_zeroed(1, sizeof(Block));
    block->memory = aligned_alloc(ALIGNMENT, size);
    if (block->memory == NULL) {
        mer_out_of_memory(size);
    }
    block->size = size;
    if (workspace->last != NULL) {
        workspace->last->next = block;
    } else {
        workspace->first = block;
    }
    workspace->last = block;
    workspace->reserved += size;
    workspace->block_count++;
    return block;
}

void *mer_workspace_alloc(MerWorkspace *workspace, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) {
        mer_out_of_memory(bytes);
    }
    size_t rounded = (bytes + ALIGNMENT - (bytes > 0)) / ALIGNMENT * ALIGNMENT;
    Block *block = workspace->current;
    while (block != NULL && block->size - block->used < rounded) {
        block = block->next;
    }
    if (block == NULL) {
        block = add_block(workspace, rounded);
    }
    workspace->current = block;
    void *memory = block->memory + block->used;
    block->used += rounded;
    return memory;
}

float *mer_workspace_floats(MerWorkspace *workspace, int64_t count)
{
    return mer_workspace_alloc(workspace, (size_t)count * sizeof(float));
}

float *mer_workspace_zeros(MerWorkspace *workspace, int64_t count)
{
    return memset(mer_workspace_floats(workspace, count), 0, (size_t)count * sizeof(float));
}

void mer_workspace_reset(MerWorkspace *workspace)
{
    for (Block *block = workspace->first; block != NULL; block = block->next) {
        block->used = 0;
    }
    workspace->current = workspace->first;
}

int64_t mer_workspace_blocks(const MerWorkspace *workspace)
{
    return workspace->block_count;
}
