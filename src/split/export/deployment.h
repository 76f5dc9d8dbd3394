/* A trained network on its way into files: what the exporters `split_c` and `split_onnx` share. */
#ifndef MERCATOR_SPLIT_EXPORT_DEPLOYMENT_H
#define MERCATOR_SPLIT_EXPORT_DEPLOYMENT_H

#include "mercator/export.h"
#include "split/deploy/integer_net.h"
#include "tensor/dataset.h"

typedef struct MerDeployment {
    const MerIntegerNet *net;
    const char          *network, *platform;
    const MerDataset    *images; /* NULL: none */
    /* inputs whose results are exported too: images first, then random bytes */
    int image_count, input_count;
} MerDeployment;

/* The integer network of the only task's plan, in order. Without training an error says what to ask for. */
MerStatus mer_deployment_open(const MerExport *what, MerArena *arena, MerDeployment *deployment,
                              MerError *error);
/* Bytes of input number `i`; random ones as data/split_c/test_main.c makes them. */
void mer_deployment_input(const MerDeployment *deployment, int i, uint8_t *bytes,
                          MerArena *scratch);

/* Where values lie in one block of memory: those that are alive together do not overlap. The input (value 0) and the logits are
 * outside. */
typedef struct MerBufferPlan {
    int64_t *offset; /* of each value; -1: outside */
    int64_t  bytes;  /* of the block */
    int64_t  alive;  /* most that is alive at once: no plan has less */
} MerBufferPlan;
MerBufferPlan mer_buffer_plan(const MerIntegerNet *net, MerArena *arena);

/* "layer1.0/conv" of node 3: layer3_layer1_0_conv. */
const char *mer_deployment_name(const MerIntegerNet *net, int node, MerArena *arena);
/* An option of a layer, and the name of its unit. */
const MerSplitOption *mer_deployment_option(const MerIntegerNet *net, const MerIntegerNode *node,
                                            int option);
const char           *mer_deployment_unit(const MerIntegerNet *net, const MerSplitOption *option);

/* The files of exporters `split_c` and `split_onnx`. */
MerStatus mer_split_write_c(const MerDeployment *deployment, MerExportFiles *files,
                            MerError *error);
MerStatus mer_split_write_onnx(const MerDeployment *deployment, MerExportFiles *files,
                               MerError *error);

/* deployment_json.c: what split.json says of a layer that was trained, and of the whole network; keys of an open object. */
void mer_deployment_json_layer(const MerIntegerNet *net, const MerIntegerNode *node,
                               MerArena *arena, MerJson *json);
void mer_deployment_json(const MerIntegerNet *net, MerArena *arena, MerJson *json);
/* split_json.c: the file, with the numbers of `net` if it is not NULL. */
void mer_split_write_json(const MerExport *what, const MerIntegerNet *net, const char *name,
                          MerExportFiles *files);

#endif
