/* The Dataflow block of a MAESTRO layer as a plan, for `evaluate`. */
#ifndef MERCATOR_MAP_EXPORT_MAESTRO_PLAN_H
#define MERCATOR_MAP_EXPORT_MAESTRO_PLAN_H

#include "import/maestro_text.h"
#include "layer/directive_plan.h"

/* `op` is what the layer was imported as; Sz(D) is its size of D. A layer without a Dataflow takes
 * that of `inherited` (NULL: none), as MAESTRO does. `path` opens messages. Keeps op. */
MerStatus mer_maestro_plan(const char *path, const MerMaestroLayer *layer,
                           const MerMaestroLayer *inherited, const MerOp *op,
                           MerDirectivePlan *plan, MerArena *arena, MerError *error);

#endif
