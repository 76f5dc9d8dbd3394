/* Layers of a network definition as operators and values of a graph, one image at a time. */
#ifndef MERCATOR_IMPORT_NETWORK_BUILD_H
#define MERCATOR_IMPORT_NETWORK_BUILD_H

#include "mercator/graph.h"

typedef struct MerNetworkBuilder {
    MerGraph *graph;
    int       value;                   /* what the next layer reads */
    int64_t   channels, rows, columns; /* of it; rows = columns = 0: a list of numbers */
} MerNetworkBuilder;

typedef struct MerNetworkConv {
    const char *name;
    int64_t     out;
    int         kernel[2], stride[2], pad[2];
    bool        is_depthwise, has_norm, has_relu;
} MerNetworkConv;

MerNetworkBuilder mer_network_begin(MerGraph *graph, int64_t channels, int64_t rows,
                                    int64_t columns);
/* Convolution, then normalisation and ReLU where asked for. MER_INVALID: the filter is larger than the image. */
MerStatus mer_network_conv(MerNetworkBuilder *b, const MerNetworkConv *conv, MerError *error);
/* Two 3x3 convolutions beside a shortcut, which is a 1x1 convolution where shapes differ: `name`c1, `name`c2, `name`ds. */
MerStatus mer_network_residual(MerNetworkBuilder *b, const char *name, int64_t out, int stride,
                               bool has_shortcut_norm, MerError *error);
/* 3x3 depthwise and 1x1, each with normalisation and ReLU: `name`dw, `name`pw. */
MerStatus mer_network_separable(MerNetworkBuilder *b, const char *name, int64_t out, int stride,
                                MerError *error);
MerStatus mer_network_max_pool(MerNetworkBuilder *b, const char *name, int kernel, int stride,
                               int pad, MerError *error);
/* The mean of every channel, as a list of numbers. */
void mer_network_global_pool(MerNetworkBuilder *b, const char *name);
/* Fully connected, with a bias; the end of the network where `is_output`. */
void mer_network_linear(MerNetworkBuilder *b, const char *name, int64_t out, bool is_output);

#endif
