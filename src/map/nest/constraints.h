/* What a user fixes about loop nests: a dataflow by name, and Timeloop's constraint lists
 * (docs/timeloop-and-maestro.md, "Constraints"). Both fill MerNestConstraints, which genomes obey and
 * evaluators check. */
#ifndef MERCATOR_MAP_NEST_CONSTRAINTS_H
#define MERCATOR_MAP_NEST_CONSTRAINTS_H

#include "map/nest/nest.h"
#include "mercator/yaml.h"

/* weight: each unit of the array holds its own weights; only K and C (and G) are spread over the
 *   array, and outputs N, Y, X are walked innermost above the innermost memory, which keeps W.
 * output: each unit gathers its own outputs; no reduction (C, R, S) is spread over the array, and
 *   the reduction is walked innermost above the innermost memory, which keeps O.
 * row (Eyeriss): a filter row per unit. R lies on the Y axis of the innermost fan-out (as a whole
 *   where it fits), S runs as a whole in the innermost memory, X and N are not spread, and X is
 *   walked innermost above the innermost memory, so that the row slides. */
typedef enum MerDataflow {
    MER_DATAFLOW_NONE,
    MER_DATAFLOW_WEIGHT,
    MER_DATAFLOW_OUTPUT,
    MER_DATAFLOW_ROW
} MerDataflow;
#define MER_DATAFLOW_CHOICES "none|weight|output|row"

/* All constraints of one layer: the dataflow, then those of `file` (NULL: none; several with
 * commas). Refused, with the constraint and the dim, when no nest of the layer can obey. With
 * `may_pad` factors need not divide. */
MerStatus mer_nest_constraints_make(MerNestConstraints *constraints, const MerOp *op,
                                    const MerLayerShape *shape, const MerPlatform *platform,
                                    MerDataflow dataflow, const char *file, bool may_pad,
                                    MerArena *arena, MerError *error);

/* From a root with constraint lists; `constraints` holds what is fixed so far. */
MerStatus mer_nest_constraints_read(MerNestConstraints *constraints, MerYaml *root, const MerOp *op,
                                    const MerLayerShape *shape, const MerPlatform *platform,
                                    MerArena *arena, MerError *error);

/* Can a nest of the layer obey? If not, the message names the constraint and the dim. */
MerStatus mer_nest_constraints_check(const MerNestConstraints *constraints,
                                     const MerLayerShape *shape, const MerPlatform *platform,
                                     bool may_pad, MerError *error);

bool mer_nest_is_constrained(const MerNestConstraints *constraints);

/* The constraints of an opened space as understood, one line per memory; "" if nothing is fixed. */
const char *mer_nest_constraints_text(const MerNestSpace *nest, MerArena *arena);

#endif
