/* The small language of Timeloop's mappings and constraints: factors, permutations, data-spaces and
 * targets (docs/timeloop-and-maestro.md, "What is read"). Keys are read with hyphens or underscores.
 *
 *     factors: "C=1 M=4"    also "N1 P1 R0", "K<=16" and lists; 0 is all that remains of the dim
 *     permutation: CMQPRSN  innermost first
 *
 * M, P and Q are our K, Y and X. In a layer that was read from a Timeloop GEMM, M, N and K are our
 * Y, K and C. */
#ifndef MERCATOR_MAP_EXPORT_TIMELOOP_TERMS_H
#define MERCATOR_MAP_EXPORT_TIMELOOP_TERMS_H

#include "mercator/graph.h"
#include "mercator/platform.h"
#include "mercator/yaml.h"

typedef struct MerTimeloopFactors {
    int exact[MER_DIM_COUNT]; /* -1: not named; 0: all that remains */
    int most[MER_DIM_COUNT];  /* 0: no limit */
} MerTimeloopFactors;

typedef struct MerTimeloopOrder {
    int count, dims[MER_DIM_COUNT]; /* innermost first, each once */
} MerTimeloopOrder;

/* `op` may be NULL: then the letters are those of a convolution. */
int mer_timeloop_dim(char letter, const MerOp *op); /* -1 if the letter names no dim */
/* The keys `factors` and `permutation` of an entry; where they are absent, nothing is named. */
MerStatus mer_timeloop_loops(MerYaml *entry, const MerOp *op, MerTimeloopFactors *factors,
                             MerTimeloopOrder *order, MerError *error);
bool      mer_timeloop_names(const MerTimeloopOrder *order, int dim);
/* The level (0 = innermost) of the memory that `target` of an entry names. */
MerStatus mer_timeloop_target(MerYaml *entry, const MerPlatform *platform, int *level,
                              MerError *error);

#endif
