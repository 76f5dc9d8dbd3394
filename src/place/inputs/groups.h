/* Operators that must share a unit: a forest of merges with the work of each group, and the rules that grow it. */
#ifndef MERCATOR_PLACE_INPUTS_GROUPS_H
#define MERCATOR_PLACE_INPUTS_GROUPS_H

#include "place/place_parts.h"

typedef struct MerGroupForest {
    int     count;  /* operators */
    int    *parent; /* of each; the root of a group is its own */
    double *work;   /* of the group, at its root: the least time of each operator, summed */
    double  total;
} MerGroupForest;

int mer_group_root(MerGroupForest *forest, int op);
/* Makes them one group, whose root is `into`; both are roots. */
void mer_group_join(MerGroupForest *forest, int into, int from);
void mer_group_merge(MerGroupForest *forest, int a, int b); /* of any operators */

/* group_consumers.c: an operator whose result exactly one other reads joins it, unless the group would hold more than
 * `limit` of all work. `output` counts the operators of the graph, once; `group` counts groups, again after every
 * merge, until nothing changes. */
void mer_groups_by_output(MerGroupForest *forest, const MerPlace *place, double limit);
void mer_groups_by_group(MerGroupForest *forest, const MerPlace *place, double limit,
                         MerArena *scratch);

/* group_blocks.c: repeated parts of the network, by names; where these do not tell, by articulation points. */
void mer_groups_by_block(MerGroupForest *forest, const MerPlace *place, MerArena *scratch);

#endif
