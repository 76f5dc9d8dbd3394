/* A decoded point: what an evaluator prices. One kind per problem family. */
#ifndef MERCATOR_PLAN_H
#define MERCATOR_PLAN_H

#include "mercator/graph.h"

/* clang-format off */
#define MER_PLAN_KIND_MAP(X)                                                                       \
    X(NEST, "nest") X(DIRECTIVES, "directives") X(VTA, "vta") X(JOBS, "jobs") X(GRAPH, "graph")    \
    X(SPLIT, "split")
/* clang-format on */
typedef enum MerPlanKind {
#define X(id, name) MER_PLAN_##id,
    MER_PLAN_KIND_MAP(X)
#undef X
        MER_PLAN_KIND_COUNT
} MerPlanKind;

/* one memory, with the fan-out below it; level 0 of a plan is innermost */
typedef struct MerNestLevel {
    int      temporal[MER_DIM_COUNT], x[MER_DIM_COUNT], y[MER_DIM_COUNT]; /* trip counts, >= 1 */
    int      order[MER_DIM_COUNT]; /* temporal loops, outer to inner: a permutation of the dims */
    unsigned keep;                 /* bit per tensor W, I, O */
} MerNestLevel;
typedef struct MerNestPlan {
    const MerOp  *op;
    int           level_count;
    MerNestLevel *levels;
} MerNestPlan;

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

typedef struct MerVtaPlan {
    const MerOp *op;
    int          batch, block_in, block_out, log2_inp_bytes, log2_wgt_bytes, log2_acc_bytes;
    int          tile_h, tile_w, tile_ci, tile_co, h_threads, oc_threads;
} MerVtaPlan;

typedef struct MerJobsPlan { /* queue of unit u: queue[start[u]] .. queue[start[u+1]-1] */
    int  job_count, unit_count;
    int *unit, *queue, *start;
} MerJobsPlan;

typedef struct MerGraphPlan {
    int  op_count, stage_count;
    int *unit, *priority, *cluster, *stage, *replicas;
} MerGraphPlan;

typedef struct MerSplitPlan { /* channels[op * option_count + option]; assignment[op][channel] */
    int   op_count, option_count;
    int  *channels;
    int **assignment;
} MerSplitPlan;

typedef struct MerPlan {
    MerPlanKind kind;
    union {
        MerNestPlan      nest;
        MerDirectivePlan directives;
        MerVtaPlan       vta;
        MerJobsPlan      jobs;
        MerGraphPlan     graph;
        MerSplitPlan     split;
    } as;
} MerPlan;

const char *mer_plan_kind_name(MerPlanKind kind);
uint64_t    mer_plan_hash(const MerPlan *plan); /* of the choices, not of pointers */

#endif
