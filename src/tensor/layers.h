/* Layers with parameters, made of ops: a name, a shape, a start. They point into `parameters`,
 * which must outlive them. */
#ifndef MERCATOR_TENSOR_LAYERS_H
#define MERCATOR_TENSOR_LAYERS_H

#include "tensor/ops.h"
#include "tensor/tensor.h"

/* "NAME.PART", for naming what a layer is made of. */
typedef struct MerPartName {
    char text[200];
} MerPartName;
MerPartName mer_part_name(const char *name, const char *part);

typedef struct MerLinearLayer {
    MerTensor *w, *bias;
} MerLinearLayer;

/* `NAME.weight` (in, out), Glorot, and `NAME.bias`, zero. */
MerLinearLayer mer_linear_layer(MerParameters *parameters, const char *name, int in, int out,
                                MerRng *rng);
MerTensor     *mer_linear_run(MerTape *tape, const MerLinearLayer *layer, MerTensor *x,
                              MerActivation activation);

enum { MER_MLP_MAX_LAYERS = 8 };
typedef struct MerMlp { /* the last layer is linear */
    int            count;
    MerActivation  activation;
    MerLinearLayer layers[MER_MLP_MAX_LAYERS];
} MerMlp;

MerMlp     mer_mlp(MerParameters *parameters, const char *name, int sizes_count, const int *sizes,
                   MerActivation activation, MerRng *rng);
MerTensor *mer_mlp_run(MerTape *tape, const MerMlp *mlp, MerTensor *x);

typedef struct MerLstm {
    int        in, hidden;
    MerTensor *w, *u, *bias; /* (in, 4H), (H, 4H), (4H) */
    float      forget;       /* added to the forget gate */
} MerLstm;

MerLstm      mer_lstm(MerParameters *parameters, const char *name, int in, int hidden, MerRng *rng);
MerLstmState mer_lstm_start(MerTape *tape, const MerLstm *lstm, int batch); /* zeros */
MerLstmState mer_lstm_step(MerTape *tape, const MerLstm *lstm, MerTensor *x, MerLstmState state);
/* x (T, B, in) -> (T, B, H); `state` is where it starts and, afterwards, where it ended. */
MerTensor *mer_lstm_sequence(MerTape *tape, const MerLstm *lstm, MerTensor *x, MerLstmState *state,
                             bool is_backwards);

typedef struct MerAttention {
    int            heads, width;
    MerLinearLayer query, key, value, output;
} MerAttention;

MerAttention mer_attention(MerParameters *parameters, const char *name, int width, int heads,
                           MerRng *rng);
/* x (B, T, width). `cache` (B, M, width) or NULL is the last segment: its rows are keys and
 * values too, and no gradient flows into it (Transformer-XL, Dai et al., ACL 2019; no
 * positions). `mask` (T, M + T) or NULL is added to the scores. */
MerTensor *mer_attention_run(MerTape *tape, const MerAttention *attention, MerTensor *x,
                             MerTensor *cache, MerTensor *mask);

/* GraphSAGE with max-pooling (Hamilton et al., NeurIPS 2017): relu of every neighbour's
 * transform, the largest per node, joined with the node itself. Edge e sends node source[e] to
 * node target[e]. */
typedef struct MerSage {
    MerLinearLayer pool, join;
} MerSage;

MerSage    mer_sage(MerParameters *parameters, const char *name, int in, int out, MerRng *rng);
MerTensor *mer_sage_run(MerTape *tape, const MerSage *sage, MerTensor *x, int edge_count,
                        const int *source, const int *target);

#endif
