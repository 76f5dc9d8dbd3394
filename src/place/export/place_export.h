/* What the exporters of placements share. */
#ifndef MERCATOR_PLACE_EXPORT_PLACE_EXPORT_H
#define MERCATOR_PLACE_EXPORT_PLACE_EXPORT_H

#include "mercator/export.h"
#include "place/place_parts.h"

typedef struct MerPlacement { /* one task that is written */
    const MerPlace     *place;
    const MerGraphPlan *plan;
    MerArena           *arena;
} MerPlacement;

/* The only task of the problem. */
MerPlacement mer_placement(const MerExport *what, MerExportFiles *files);

/* Number of a unit among the accelerators; -1: a host. */
int mer_placement_accelerator(const MerPlace *place, int unit);
/* Its class, or its name where it has none. */
const char *mer_placement_class(const MerPlace *place, int unit);

/* A weight of the network; of graphs that know none, an operator. */
typedef struct MerPlacedTensor {
    const char *name;
    int         unit; /* where its first reader is */
    int         op;   /* that reader */
    int         rank; /* of its shape; 0: it is an operator */
} MerPlacedTensor;
MerPlacedTensor *mer_placement_tensors(const MerPlacement *placement, int *count);

/* number_pattern.c: numbers in rising order as an extended regular expression without brackets around it, "1[2-9]|2[0-3]". */
const char *mer_number_pattern(const int64_t *numbers, int count, MerArena *arena);

#endif
