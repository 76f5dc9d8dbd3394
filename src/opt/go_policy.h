/* The network of `go`: what it sees of a graph and of a placement, and what it decides (docs/placement.md, "go"). */
#ifndef MERCATOR_OPT_GO_POLICY_H
#define MERCATOR_OPT_GO_POLICY_H

#include "learn/graph_net.h"
#include "opt/go_graph.h"

enum {
    MER_GO_KINDS = 32,    /* of operators, at most */
    MER_GO_NODE = 20,     /* numbers about an operator */
    MER_GO_PREVIOUS = 10, /* about its part in the last decisions, beside its unit */
    MER_GO_PAIR = 16,     /* about a group and a unit */
    MER_GO_GAP = 5,       /* about a gap between groups */
    MER_GO_BOUNDARY = 6,  /* about two lanes that meet */
    MER_GO_ROWS = 8192    /* operators that a tape holds at a time, of one or several placements */
};

typedef struct MerGoShape { /* what a saved policy must agree on */
    MerGraphNetSpec net;    /* `inputs` follow from the rest */
    int             kind_width, max_units, max_levels;
    /* ours: cuts and rules as first decisions; where operators stand along the order; scores of pairs of group and unit */
    bool has_start, has_positions, has_pairs;
} MerGoShape;

typedef struct MerGoPolicy {
    MerGoShape     shape;
    MerParameters *parameters;
    MerGraphNet    net;
    MerTensor     *kinds;    /* (kinds, kind_width) */
    MerLinearLayer previous; /* last decisions -> width */
    MerLinearLayer units;    /* width -> max_units: the paper's head */
    /* ours: one score per pair of group and unit, whatever the number of units */
    MerLinearLayer node_part, pair_part, pair_score;
    MerTensor     *stay; /* (1 + tasks): to keep a unit, a level */
    /* ours: each boundary between lanes points at a gap of the order */
    MerLinearLayer gap_key, boundary_query, whole_query, boundary_shift;
    MerTensor     *shift, *sharpness, *cut_cost; /* (max_units), (1), (1) */
    MerLinearLayer rules;                        /* ours: levels of all operators begin by a rule */
    /* order and fusion */
    MerAttention   task;
    MerNorm        task_norm;
    MerLinearLayer levels[MER_GO_TASKS];
} MerGoPolicy;

void    mer_go_policy_make(MerGoPolicy *policy, const MerGoShape *shape, MerRng *rng);
void    mer_go_policy_free(MerGoPolicy *policy);
int64_t mer_go_policy_size(const MerGoPolicy *policy); /* numbers in all */
/* What belongs to the graph that was learned from, not to graphs: where exactly its cuts lie, and how sure that is. */
void mer_go_policy_forget(MerGoPolicy *policy);

/* The policy on one graph. */
typedef struct MerGoView {
    const MerGoPolicy *policy;
    const MerGoGraph  *graph;
    MerTape           *encoder, *tape;          /* of the embedding; of all that follows */
    MerParameters     *bridge;                  /* the embedding between the two: */
    MerTensor         *nodes, *whole;           /* (N, width), (1, width); rows along the order */
    MerTensor         *made_nodes, *made_whole; /* on the encoder's tape */
    float             *features;                /* (N, MER_GO_NODE) */
    int               *kind, *row_group;        /* of each row */
    int               *source, *target;         /* both ways along the edges */
    float              spread; /* of a cut about where equal shares would put it, in mean shares */
    float              moves;  /* expected of a round that has learned nothing */
    bool               is_learning;
    float             *stream; /* for sequences beyond what a tape holds */
} MerGoView;

void mer_go_view_make(MerGoView *view, const MerGoPolicy *policy, const MerGoGraph *graph,
                      MerPool *pool, MerArena *arena);
void mer_go_view_free(MerGoView *view);

/* Embeds the graph with the parameters as they are. Not for learning: nothing is recorded. */
void mer_go_encode(MerGoView *view, bool is_learning);
/* After losses on `tape`: their gradients go on through the embedding. */
MerStatus mer_go_encode_backward(MerGoView *view, MerError *error);

/* The first decisions: (unit_count - 1, group_count + 1), where each boundary lies, for two units or more; (tasks, rules). May
 * reset the tape. */
typedef struct MerGoFirst {
    MerTensor *cuts, *rules;
} MerGoFirst;
MerGoFirst mer_go_first_logits(MerGoView *view, MerRng *dropout);

typedef struct MerGoLogits {
    MerTensor *units; /* (count x groups, unit_count) */
    MerTensor
        *levels[MER_GO_TASKS]; /* (count x ops, levels), rows along the order; NULL: not decided */
} MerGoLogits;

typedef struct MerGoDecided {        /* of one placement */
    const int *units;                /* of each group */
    const int *levels[MER_GO_TASKS]; /* of each operator along the order; NULL: not decided */
} MerGoDecided;

/* Decisions of `count` placements side by side, each after what was decided `before`; NULL: nothing yet. `round` of `rounds`,
 * from 0; the last one decides the levels too. May reset the tape first. */
MerGoLogits mer_go_round_logits(MerGoView *view, int count, const MerGoDecided *before, int round,
                                int rounds, MerRng *dropout);

/* go_features.c */
/* (N, NODE), along the order */
void mer_go_node_features(const MerGoGraph *graph, bool has_positions, float *features);
void mer_go_gap_features(const MerGoGraph *graph, float *features);      /* (groups + 1, GAP) */
void mer_go_boundary_features(const MerGoGraph *graph, float *features); /* (units - 1, BOUNDARY) */
/* previous (N, PREVIOUS + max_units), pair (groups, unit_count, PAIR); `before` NULL: nothing was decided */
void mer_go_decision_features(const MerGoGraph *graph, const MerGoDecided *before, double progress,
                              bool has_positions, int max_units, float *previous, float *pair);

#endif
