/* Data-centric mappings as text, as JSON, from YAML, and as MAESTRO's `.m`.
 *
 *     S(1,1) K | T(64,64) C | T(3,3) R | T(1,1) Y' | Cluster 64 | S(1,1) C
 *
 * T is a TemporalMap, S a SpatialMap of (size, offset); Y' X' count outputs, Y X inputs. */
#ifndef MERCATOR_LAYER_DIRECTIVE_FORMAT_H
#define MERCATOR_LAYER_DIRECTIVE_FORMAT_H

#include "layer/directive_plan.h"
#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/json.h"
#include "mercator/yaml.h"

/* One line, directives separated by " | ". */
const char *mer_directives_line(const MerDirectivePlan *plan, MerArena *arena);
/* One directive per line, inner clusters indented. */
const char *mer_directives_print(const MerDirectivePlan *plan, MerArena *arena);
/* Keys `op` and `directives` of an open object. */
void mer_directives_write(const MerDirectivePlan *plan, MerJson *json);
/* An empty plan with memory for `most` directives and clusters; keeps op. */
void mer_directives_begin(MerDirectivePlan *plan, const MerOp *op, int most, MerArena *arena);
/* From a map with `directives`: a list or one line. Takes TemporalMap and SpatialMap, too. */
MerStatus mer_directives_read(MerYaml *body, const MerOp *op, MerDirectivePlan *plan,
                              MerArena *arena, MerError *error);
MerStatus mer_directives_parse(const char *line, const MerOp *op, MerDirectivePlan *plan,
                               MerArena *arena, MerError *error);
/* A MAESTRO layer with its Dataflow. `exact`: the input without rows that no output reads. */
const char *mer_directives_maestro(const MerDirectivePlan *plan, bool exact, MerArena *arena);

#endif
