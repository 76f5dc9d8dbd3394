/* A network that can be trained, made from a graph of convolutions, norms, activations, sums, pools and products: in floating point
 * with batch norm, and, once folded, with weights, biases and activations of few values, mixed as choices say.
 *
 * The order of a value's life: convolution, norm, relu are one node; its output has one quantiser, shared with everything that it
 * is added to (docs/channel-split-training.md, "Quantisers"). */
#ifndef MERCATOR_SPLIT_TRAIN_TRAIN_NET_H
#define MERCATOR_SPLIT_TRAIN_TRAIN_NET_H

#include "split/split.h"
#include "tensor/ops.h"

enum { MER_TRAIN_BRANCHES = 2, MER_TRAIN_LEVELS = 127 }; /* of activations: 7 bits */

typedef enum MerTrainNodeKind {
    MER_TRAIN_CONV, /* or a product, as a convolution whose kernel is the image */
    MER_TRAIN_ADD,
    MER_TRAIN_POOL,
    MER_TRAIN_AVERAGE /* over the whole image */
} MerTrainNodeKind;

typedef struct MerTrainBranch { /* one operator of a layer with its own weights */
    MerConvolution    conv;
    MerTensor        *weight, *bias; /* (K, C / groups, R, S), (K) */
    bool              has_norm;
    MerNormParameters norm;
} MerTrainBranch;

typedef struct MerTrainNode {
    MerTrainNodeKind kind;
    const char      *name;
    int              op, layer;  /* of the graph; of the split, -1: none */
    int              in[2], out; /* values of the network */
    int              branch_count;
    MerTrainBranch   branches[MER_TRAIN_BRANCHES];
    MerPooling       pooling;
    bool             has_relu;
    int              quantiser; /* of the output; -1: it is left as it is */
    bool             is_signed;
} MerTrainNode;

/* How the formats of weights start, and which forms a network has. */
typedef struct MerTrainForm {
    bool
        signed_add; /* inputs of a sum keep their sign; else they are clipped at 0, as the integer sum needs it */
    bool
        authors_ternary; /* scales of ternary weights from the shape alone, else from the weights */
    bool train_scales;   /* scales of weights learn too */
    bool is_input_signed; /* zero point 64 */
} MerTrainForm;

typedef struct MerTrainNet {
    const MerGraph *graph;
    const MerSplit *split; /* NULL: floating point only */
    MerTrainForm    form;
    int             node_count, value_count, quantiser_count, classes;
    int             shape[3]; /* channels, height, width of the input */
    MerTrainNode   *nodes;
    int             output;
    MerParameters  *weights; /* with norms */
    MerParameters  *scales;  /* clips of activations, scales of weights */
    MerTensor     **clips;   /* of each quantiser */
    MerQuantiser *formats; /* of each option of each layer: formats[layer.option_start + option] */
    bool          is_folded;
    float         momentum; /* how far a batch of training moves the statistics of norms */
    MerArena     *arena;
} MerTrainNet;

/* Refuses by name what it cannot train. Everything in `arena` but the parameters: mer_train_net_free. */
MerStatus mer_train_net_new(const MerGraph *graph, const MerSplit *split, const MerTrainForm *form,
                            MerArena *arena, MerTrainNet **net, MerError *error);
void      mer_train_net_free(MerTrainNet *net);              /* NULL is fine */
void      mer_train_net_fill(MerTrainNet *net, MerRng *rng); /* starting weights */
/* Weights of another network of the same graph. */
void mer_train_net_copy(MerTrainNet *net, const MerTrainNet *from);
/* Batch norms into the convolutions before them, and scales for the formats: choices are needed from now on. */
void mer_train_net_fold(MerTrainNet *net);

/* Logits (batch, classes) of images (batch, channels, height, width). Of a folded network `choice[layer]` is (options, c_out), NULL
 * where the layer is fixed; `choice` NULL: every layer on its reference. Otherwise `mix[layer]` says which share of a layer with two
 * operators the first has, channel by channel; NULL: all. */
MerTensor *mer_train_net_run(MerTrainNet *net, MerTape *tape, const float *images, int batch,
                             MerTensor *const *choice, bool is_training);

/* Formats of weights by the names of platform files: "int8-pow2", "int8-pow2-exact", "int8", "int4", "int2", "ternary". */
bool mer_train_format(const char *name, MerFormat *format, MerScaleRule *rule, bool *is_by_channel);
/* The scale s that weights (rows, width) start with; `scale` has one number, or one for each row. */
void mer_train_start_scale(const char *name, const float *weights, int rows, int64_t width,
                           int kernel, bool is_authors, float *scale);

#endif
