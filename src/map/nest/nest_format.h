/* Loop nests as text, as JSON and from YAML.
 *
 *     DRAM: K2 C16 | GLB: K16 | X: K4 X4 Y: C4 Y4 | RF: C2 R3 S3 Y7 X7
 *
 * Levels from outside to inside, loops outer to inner; `X:` and `Y:` after a level are the axes of
 * the fan-out below it. Timeloop's M, P and Q are read as K, Y and X. A level that does not keep every
 * tensor says which it keeps: `GLB[IO]: K16`. */
#ifndef MERCATOR_MAP_NEST_NEST_FORMAT_H
#define MERCATOR_MAP_NEST_NEST_FORMAT_H

#include "map/nest/nest_plan.h"
#include "mercator/json.h"
#include "mercator/platform.h"
#include "mercator/yaml.h"

const char *mer_nest_line(const MerNestPlan *plan, const MerPlatform *platform, MerArena *arena);
/* The nest as indented loops, for people. */
const char *mer_nest_print(const MerNestPlan *plan, const MerPlatform *platform, MerArena *arena);
/* The letters of tensors, each after `before`. */
const char *mer_nest_tensors_text(unsigned tensors, const char *before, MerArena *arena);
/* Keys of the factors of a level, by MerNestPlace. */
extern const char *const mer_nest_place_keys[];
/* Keys `op` and `levels` of an open object. */
void mer_nest_write(const MerNestPlan *plan, const MerPlatform *platform, MerJson *json);

/* From a map with `levels` or `nest`. With `may_pad` the factors of a dim may multiply to more than it. */
MerStatus mer_nest_read(MerYaml *body, const MerOp *op, const MerPlatform *platform, bool may_pad,
                        MerNestPlan *plan, MerArena *arena, MerError *error);
/* The same from the line of such a `nest`. */
MerStatus mer_nest_parse(const char *line, const MerOp *op, const MerPlatform *platform,
                         bool may_pad, MerNestPlan *plan, MerArena *arena, MerError *error);
/* The factors of every dim multiply to its size; `where` opens the message. */
MerStatus mer_nest_check_product(const MerNestPlan *plan, bool may_pad, const char *where,
                                 MerError *error);
/* The same of a nest that was read from `list`. */
MerStatus mer_nest_check_list(const MerNestPlan *plan, bool may_pad, const MerYaml *list,
                              MerError *error);
/* Do the loops run past the layer? */
bool mer_nest_is_padded(const MerNestPlan *plan);
/* Drops from the kept tensors of every level those that the platform bypasses there. */
void mer_nest_keep_allowed(MerNestPlan *plan, const MerPlatform *platform);

#endif
