/* Plans of kind "directives": a data-centric mapping, cluster by cluster. */
#ifndef MERCATOR_LAYER_DIRECTIVE_PLAN_H
#define MERCATOR_LAYER_DIRECTIVE_PLAN_H

#include "mercator/graph.h"

#include <stdbool.h>

typedef struct MerDirective {
    bool spatial, output; /* output: dim is Y' or X' */
    int  dim, size, offset;
} MerDirective;

/* outermost cluster first; level l has directives start[l] .. start[l+1]-1 */
typedef struct MerDirectivePlan {
    const MerOp *op;
    /* cluster[l]: size of the Cluster that opens level l+1 */
    int           level_count, *cluster, *start;
    MerDirective *directives;
} MerDirectivePlan;

#endif
