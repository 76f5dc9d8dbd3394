/* An operator as plan files carry it: `{kind: conv, K: 128, ..., stride: [1, 1]}`. */
#ifndef MERCATOR_LAYER_OP_FORMAT_H
#define MERCATOR_LAYER_OP_FORMAT_H

#include "mercator/graph.h"
#include "mercator/json.h"
#include "mercator/yaml.h"

void mer_op_write(const MerOp *op, MerJson *json); /* the key `op` of an open object */
/* The same with `pad` and `input`, where the padding matters too. */
void      mer_op_write_image(const MerOp *op, MerJson *json);
MerStatus mer_op_read(MerYaml *node, MerOp *op, MerError *error);
/* The graph of a plan file whose tasks carry their operators: one operator per task, in their order. */
MerStatus mer_ops_read(MerYaml *tasks, MerArena *arena, MerGraph **graph, MerError *error);

#endif
