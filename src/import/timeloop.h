/* A Timeloop problem as read from YAML, before its kind is known. */
#ifndef MERCATOR_IMPORT_TIMELOOP_H
#define MERCATOR_IMPORT_TIMELOOP_H

#include "mercator/graph.h"
#include "mercator/yaml.h"

enum { MER_TIMELOOP_MAX_DIMS = 32, MER_TIMELOOP_MAX_RANKS = 16, MER_TIMELOOP_MAX_TERMS = 2 };

typedef struct MerTimeloopDim {
    const char *name;
    int64_t     size;
    unsigned    used;    /* by which data-spaces: bit 0 input, 1 weights, 2 output */
    bool        is_done; /* placed by a sliding rank */
} MerTimeloopDim;

typedef struct MerTimeloopTerm {
    int     dim;
    int64_t coefficient;
} MerTimeloopTerm;

typedef struct MerTimeloopRank {
    int             term_count;
    MerTimeloopTerm terms[MER_TIMELOOP_MAX_TERMS];
} MerTimeloopRank;

typedef struct MerTimeloopSpace {
    const char     *name;
    bool            is_output;
    int             rank_count;
    MerTimeloopRank ranks[MER_TIMELOOP_MAX_RANKS];
    MerYaml        *place;
} MerTimeloopSpace;

typedef struct MerTimeloopProblem {
    MerYaml       *shape, *instance;
    int            dim_count, coefficient_count;
    MerTimeloopDim dims[MER_TIMELOOP_MAX_DIMS];
    struct {
        const char *name;
        int64_t     value;
    } coefficients[MER_TIMELOOP_MAX_DIMS];
    MerTimeloopSpace spaces[3]; /* as in the file until mer_timeloop_classify, then I, W, O */
    MerError        *error;
} MerTimeloopProblem;

/* MER_UNSUPPORTED: the problem is none of our kinds, with the reason `what` `name`. */
MerStatus mer_timeloop_unsupported(const MerTimeloopProblem *problem, const MerYaml *place,
                                   const char *what, const char *name);
/* The kind, dims, strides and dilations of `op` from the projections. */
MerStatus mer_timeloop_classify(MerTimeloopProblem *problem, MerOp *op);

/* The operator of the `problem` of a map. Its name and source are the caller's. */
MerStatus mer_timeloop_problem(MerYaml *root, MerOp *op, MerError *error);

#endif
