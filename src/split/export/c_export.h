/* What the files of exporter `split_c` do for each other. */
#ifndef MERCATOR_SPLIT_EXPORT_C_EXPORT_H
#define MERCATOR_SPLIT_EXPORT_C_EXPORT_H

#include "split/export/deployment.h"

typedef struct MerCPart { /* of a layer */
    const MerIntegerNode *node;
    const MerIntegerPart *part;
    const MerSplitOption *option;
    const char           *name;    /* an identifier of C */
    int                   weights; /* of a channel */
    bool                  is_packed, is_depthwise;
} MerCPart;

typedef struct MerCNetwork {
    const MerDeployment *deployment;
    const MerIntegerNet *net;
    const char          *title; /* network and platform, fit for comments and strings */
    const char         **names; /* of the nodes, identifiers of C */
    int                  part_count;
    MerCPart            *parts; /* in the order of the nodes */
    MerBufferPlan        memory;
    int64_t              weight_bytes;
} MerCNetwork;

/* c_network.c: network.c and network.h; c_weights.c: weights.c and weights.h. */
void mer_c_network(const MerCNetwork *c, FILE *file);
void mer_c_network_header(const MerCNetwork *c, FILE *file);
void mer_c_weights(const MerCNetwork *c, FILE *file);
void mer_c_weights_header(const MerCNetwork *c, FILE *file);

#endif
