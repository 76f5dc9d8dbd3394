/* Timeloop v0.3 mappings (docs/timeloop-and-maestro.md, "What is written"): a list of `{target, type:
 * temporal | spatial | datatype, factors, permutation, split, keep, bypass}`, as timeloop-model reads it.
 * `split` is the number of leading dims of a spatial permutation that lie on the X axis; a spatial entry
 * without it fills the X axis first. */
#ifndef MERCATOR_MAP_EXPORT_TIMELOOP_MAPPING_H
#define MERCATOR_MAP_EXPORT_TIMELOOP_MAPPING_H

#include "map/nest/nest_plan.h"
#include "mercator/platform.h"
#include "mercator/yaml.h"

/* Tensors that no entry speaks of are kept, except where the platform bypasses them. Keeps op. */
MerStatus mer_timeloop_mapping_read(const MerYaml *list, const MerOp *op,
                                    const MerPlatform *platform, MerNestPlan *plan, MerArena *arena,
                                    MerError *error);

/* The layer as a `problem` and the nest as a `mapping`. NULL if Timeloop cannot say it; `*reason` then
 * says why, and what would help. */
const char *mer_timeloop_mapping_write(const MerNestPlan *plan, const MerPlatform *platform,
                                       const char **reason, MerArena *arena);

#endif
