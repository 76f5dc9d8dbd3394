/* Memory of one step of a network: handed out in order, taken back all at once, never cleared.
 * Blocks stay for the next step, so that a step like the last one asks the system for nothing. */
#ifndef MERCATOR_TENSOR_WORKSPACE_H
#define MERCATOR_TENSOR_WORKSPACE_H

#include <stddef.h>
#include <stdint.h>

typedef struct MerWorkspace MerWorkspace;

MerWorkspace *mer_workspace_new(void);
void          mer_workspace_free(MerWorkspace *workspace);                /* NULL is fine */
void         *mer_workspace_alloc(MerWorkspace *workspace, size_t bytes); /* aligned to 64 bytes */
float        *mer_workspace_floats(MerWorkspace *workspace, int64_t count);
float        *mer_workspace_zeros(MerWorkspace *workspace, int64_t count);
void          mer_workspace_reset(MerWorkspace *workspace);
int64_t       mer_workspace_blocks(const MerWorkspace *workspace); /* ever asked of the system */

#endif
