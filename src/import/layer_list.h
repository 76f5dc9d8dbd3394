/* Layers that stand alone: what a layer table or a problem file gives. Each becomes one operator
 * with values of its own, so that counts and bytes are right although no edge joins the layers. */
#ifndef MERCATOR_IMPORT_LAYER_LIST_H
#define MERCATOR_IMPORT_LAYER_LIST_H

#include "mercator/import.h"

extern const MerImporterClass mer_importer_layers_csv; /* GAMMA, SCALE-Sim and merged tables */
extern const MerImporterClass mer_importer_maestro;    /* MAESTRO networks, .m */
extern const MerImporterClass mer_importer_timeloop;   /* Timeloop problems, YAML */

/* Sizes read from files stay below this, so that products of two fit int64_t. */
#define MER_LAYER_MAX_SIZE INT64_C(2147483647)

/* Output rows of a window that slides over `size` unpadded input rows: floor((size - extent) /
 * stride) + 1 with extent = dilation * (filter - 1) + 1; 0 if the window does not fit. */
int64_t mer_layer_output_size(int64_t size, int64_t filter, int64_t stride, int64_t dilation);

/* The one of a file's networks that `select` names, or (NULL) the only one; a message lists them. */
MerStatus mer_layer_network(const MerImportFile *file, const char *const *names, int count,
                            const char *select, int *index, MerError *error);

/* Adds `op` (its dims, strides and dilation are set) with an input, a second operand and an
 * output of the shapes that follow from it, as 32-bit floats. Fills input_rows and input_columns
 * if they are 0. */
void mer_layer_add(MerGraph *graph, const MerOp *op);

#endif
