/* ONNX models out: nodes and constants one after the other, results named "1", "2", ... behind the input "0". */
#ifndef MERCATOR_SPLIT_EXPORT_ONNX_WRITER_H
#define MERCATOR_SPLIT_EXPORT_ONNX_WRITER_H

#include "mercator/arena.h"

#include "onnx.pb-c.h"

typedef struct MerOnnxWriter {
    MerArena                 *arena;
    Onnx__ModelProto          model;
    Onnx__GraphProto          graph;
    Onnx__OperatorSetIdProto  opset;
    Onnx__OperatorSetIdProto *opsets[1];
    int                       results;
} MerOnnxWriter;

/* In place: the model points into the writer. Texts are copied. */
void mer_onnx_writer_init(MerOnnxWriter *w, const char *name, int64_t opset, MerArena *arena);
/* Float tensors at the borders of the graph. */
void mer_onnx_writer_input(MerOnnxWriter *w, const char *name, int rank, const int64_t *dims);
void mer_onnx_writer_output(MerOnnxWriter *w, const char *name, int rank, const int64_t *dims);

/* Adds a node; its only result has the next number as its name: mer_onnx_writer_result. */
Onnx__NodeProto *mer_onnx_writer_node(MerOnnxWriter *w, const char *type, const char *name,
                                      int count, const char *const *inputs);
const char      *mer_onnx_writer_result(const Onnx__NodeProto *node);
void             mer_onnx_writer_set_int(MerOnnxWriter *w, Onnx__NodeProto *node, const char *key,
                                         int64_t value);
void mer_onnx_writer_set_ints(MerOnnxWriter *w, Onnx__NodeProto *node, const char *key, int count,
                              const int64_t *values);
void mer_onnx_writer_set_real(MerOnnxWriter *w, Onnx__NodeProto *node, const char *key,
                              double value);
void mer_onnx_writer_set_text(MerOnnxWriter *w, Onnx__NodeProto *node, const char *key,
                              const char *value);

/* Constants; they give their name. */
const char *mer_onnx_writer_reals(MerOnnxWriter *w, const char *name, int rank, const int64_t *dims,
                                  const float *values);
const char *mer_onnx_writer_ints(MerOnnxWriter *w, const char *name, int count,
                                 const int64_t *values);

/* The file, in the arena. */
const void *mer_onnx_writer_pack(MerOnnxWriter *w, size_t *size);

#endif
