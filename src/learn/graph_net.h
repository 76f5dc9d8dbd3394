/* Networks that read a graph of any size: an embedding of every node from its neighbours (GraphSAGE, Hamilton et al.,
 * NeurIPS 2017), then attention along a sequence of the nodes, cut in segments that see the one before them (Dai et al., ACL 2019),
 * modulated by what the whole graph is like (Zhou et al., NeurIPS 2020).
 *
 *     MerTensor *nodes = mer_graph_net_embed(tape, net, features, edge_count, source, target);   (N, width)
 *     MerTensor *whole = mer_graph_net_whole(tape, nodes);                                      (1, width)
 *     MerTensor *z = mer_graph_net_run(tape, net, sequences, whole);                            (B, N, width)
 */
#ifndef MERCATOR_LEARN_GRAPH_NET_H
#define MERCATOR_LEARN_GRAPH_NET_H

#include "tensor/layers.h"

enum { MER_GRAPH_NET_LAYERS = 8 }; /* of each kind, at most */

typedef struct MerGraphNetSpec {
    int   inputs, width;
    int   embeddings; /* layers of GraphSAGE; 0: a node is what its own features say */
    int   layers;     /* of the trunk */
    int   heads, feed_forward, segment;
    bool  has_attention, is_modulated;
    float dropout; /* of a training pass */
} MerGraphNetSpec;

typedef struct MerNorm {
    MerTensor *scale, *shift;
} MerNorm;

typedef struct MerTrunkLayer {
    MerNorm        before, between;
    MerLinearLayer gate; /* modulation */
    MerAttention   attention;
    MerLinearLayer wide, narrow;
} MerTrunkLayer;

typedef struct MerGraphNet {
    MerGraphNetSpec spec;
    MerLinearLayer  input;
    MerSage         sage[MER_GRAPH_NET_LAYERS];
    MerTrunkLayer   layers[MER_GRAPH_NET_LAYERS];
} MerGraphNet;

MerNorm    mer_norm(MerParameters *parameters, const char *name, int width);
MerTensor *mer_norm_run(MerTape *tape, const MerNorm *norm, MerTensor *x);

MerGraphNet mer_graph_net(MerParameters *parameters, const char *name, const MerGraphNetSpec *spec,
                          MerRng *rng);
/* x (N, inputs) -> (N, width); results flow both ways along an edge when it is given twice. */
MerTensor *mer_graph_net_embed(MerTape *tape, const MerGraphNet *net, MerTensor *x, int edge_count,
                               const int *source, const int *target);
MerTensor *mer_graph_net_whole(MerTape *tape, MerTensor *nodes); /* their mean */
/* The trunk: x (B, N, width) -> (B, N, width). `rng` draws the dropout; NULL: none, as in use. */
MerTensor *mer_graph_net_run(MerTape *tape, const MerGraphNet *net, MerTensor *x, MerTensor *whole,
                             MerRng *rng);
/* The same in use, without a gradient, for one sequence of any length: `values` (N, width) are replaced; whole (width). The tape is reset:
 * it holds one segment at a time. */
void mer_graph_net_stream(MerTape *tape, const MerGraphNet *net, int count, float *values,
                          const float *whole);

/* Attention along sequences x (B, N, width), in segments; each sees itself and the one before. */
MerTensor *mer_segment_attention(MerTape *tape, const MerAttention *attention, MerTensor *x,
                                 int segment);

#endif
