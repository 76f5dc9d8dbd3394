/* The workload: operators with loop extents, the values between them, and the distinct layers.
 *
 * An importer fills a graph through mer_graph_new / _add_value / _add_op and ends with
 * mer_graph_finish, which derives edges, counts and layers and checks everything:
 *
 *     MerGraph *graph = mer_graph_new("toy", arena);
 *     int x = mer_graph_add_value(graph, &(MerValue){.name = "x", .type = MER_TYPE_FLOAT32, .rank = 2, .dims = {8, 64}, .role = MER_VALUE_INPUT});
 *     ...
 *     MerOp op = mer_op_make("fc", "Gemm", MER_OP_GEMM);
 *     op.dims[MER_DIM_Y] = 8; op.dims[MER_DIM_C] = 64; op.dims[MER_DIM_K] = 10;
 *     op.input_count = 2; op.inputs = (int[]){x, w}; op.output_count = 1; op.outputs = (int[]){y};
 *     mer_graph_add_op(graph, &op);
 *     if (mer_graph_finish(graph, &error) != MER_OK) ...
 */
#ifndef MERCATOR_GRAPH_H
#define MERCATOR_GRAPH_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Loop dimensions: N batch, K output channels, C input channels, Y X output rows and columns,
 * R S filter rows and columns, G groups of a grouped convolution or batch of a batched GEMM
 * (K and C then count within one group). */
enum {
    MER_DIM_N,
    MER_DIM_K,
    MER_DIM_C,
    MER_DIM_Y,
    MER_DIM_X,
    MER_DIM_R,
    MER_DIM_S,
    MER_DIM_G,
    MER_DIM_COUNT
};
#define MER_DIM_LETTERS "NKCYXRSG"

/* Tensors of a layer. As a bit mask: 1 << MER_TENSOR_W and so on. */
enum { MER_TENSOR_W, MER_TENSOR_I, MER_TENSOR_O, MER_TENSOR_COUNT };
#define MER_TENSOR_LETTERS "WIO"

/* id, name, whether it multiplies and accumulates (a layer that `map` can map) */
#define MER_OP_KIND_MAP(X)                                                                         \
    X(CONV, "conv", true)             /* any groups: dims G, K and C per group */                  \
    X(DEPTHWISE, "depthwise", true)   /* C channels, K = G = 1 */                                  \
    X(TRANSPOSED, "transposed", true) /* Y X are INPUT rows and columns: the loops of scatter */   \
    X(GEMM, "gemm", true)             /* Y rows, C inner, K columns */                             \
    X(BATCHED_GEMM, "batched-gemm", true) /* G matrices of Y x C times C x K, no weights shared */ \
    X(POOL, "pool", false)                                                                         \
    X(NORM, "norm", false)                                                                         \
    X(ELEMENTWISE, "element-wise", false)                                                          \
    X(SOFTMAX, "softmax", false)                                                                   \
    X(REDUCE, "reduce", false)                                                                     \
    X(GATHER, "gather", false)                                                                     \
    X(RESIZE, "resize", false)                                                                     \
    X(MOVE, "move", false) /* concat, split, reshape, transpose, ... and unknown operators */
typedef enum MerOpKind {
#define X(id, name, macs) MER_OP_##id,
    MER_OP_KIND_MAP(X)
#undef X
        MER_OP_KIND_COUNT
} MerOpKind;

/* clang-format off */
#define MER_TYPE_MAP(X)                                                                            \
    X(FLOAT32, "float32", 32) X(FLOAT16, "float16", 16) X(BFLOAT16, "bfloat16", 16)                \
    X(FLOAT64, "float64", 64) X(FLOAT8, "float8", 8) X(INT8, "int8", 8) X(UINT8, "uint8", 8)       \
    X(INT16, "int16", 16) X(UINT16, "uint16", 16) X(INT32, "int32", 32) X(UINT32, "uint32", 32)    \
    X(INT64, "int64", 64) X(UINT64, "uint64", 64) X(INT4, "int4", 4) X(BOOL, "bool", 8)            \
    X(TEXT, "string", 64) X(UNKNOWN, "unknown", 32)
/* clang-format on */
typedef enum MerType {
#define X(id, name, bits) MER_TYPE_##id,
    MER_TYPE_MAP(X)
#undef X
        MER_TYPE_COUNT
} MerType;

typedef enum MerValueRole {
    MER_VALUE_ACTIVATION, /* made by an operator */
    MER_VALUE_INPUT,      /* input of the network */
    MER_VALUE_WEIGHT      /* parameter or constant */
} MerValueRole;

enum { MER_MAX_RANK = 8 };

typedef struct MerValue {
    const char  *name;
    MerType      type;
    MerValueRole role;
    bool         is_output; /* of the network */
    int          rank;      /* -1: shape unknown (elements 0) */
    int64_t      dims[MER_MAX_RANK];
    /* derived by mer_graph_finish */
    int64_t elements, bytes;
    int     producer;       /* operator, -1 for inputs and weights */
    int     consumer_count; /* operators; an operator that reads it twice counts once */
    int    *consumers;
} MerValue;

typedef struct MerOp {
    const char *name;
    const char *source; /* the operator's name in the input format: "Conv", "LSTM" */
    MerOpKind   kind;
    int64_t     dims[MER_DIM_COUNT];    /* loop extents, 1 where absent; all 1 without MACs */
    int         stride[2], dilation[2]; /* rows, columns; >= 1 */
    /* top, left, bottom, right; may be negative in ONNX: refused */
    int     pad[4];
    int64_t input_rows, input_columns; /* of the input image without padding; 0 if none */
    /* the same loops run this often (steps of a recurrence), >= 1 */
    int64_t repeat;
    /* -1 entries of `inputs` (absent optional inputs) are dropped */
    int  input_count, output_count;
    int *inputs, *outputs; /* indices of values; copied by mer_graph_add_op */
    /* derived by mer_graph_finish */
    int64_t macs; /* product of dims times repeat; 0 without MACs */
    /* elements of its float and 4 or 8-bit weights; a shared one counts at its first user */
    int64_t parameters;
    int64_t weight_bytes, input_bytes, output_bytes;
    int     layer; /* index into MerGraph.layers, -1 without MACs */
} MerOp;

/* Operators with equal kind, dims, stride, dilation and repeat are one layer. */
typedef struct MerLayer {
    int op;    /* the first of them */
    int count; /* how many */
} MerLayer;

/* What an importer knows beyond operators and values: job lists, times per device, weights, or the
 * platform that the file implies ("platform": a const MerPlatform). The type names a C type that importer
 * and problem agree on; the content lives as long as the graph. */
typedef struct MerAttachment {
    const char *type;
    const void *content;
} MerAttachment;

typedef struct MerGraph {
    const char *name;   /* "resnet50": file name without folder and ending, or as the file says */
    const char *format; /* importer: "onnx", "layers-csv", ... */
    /* as it was asked for: a file, or the name of a built-in; NULL: made in memory */
    const char *path;
    int         op_count, value_count, layer_count, warning_count;
    MerOp      *ops; /* in topological order after mer_graph_finish */
    MerValue   *values;
    MerLayer   *layers; /* in order of first occurrence */
    char      **warnings;
    /* totals; activation_bytes: sum of all operators' outputs */
    int64_t        macs, parameters, activation_bytes;
    uint64_t       hash; /* of the content, not of names of files */
    int            attachment_count;
    MerAttachment *attachments; /* by mer_graph_attach */
    MerArena      *arena;
} MerGraph;

MerGraph *mer_graph_new(const char *name, MerArena *arena);
int       mer_graph_add_value(MerGraph *graph, const MerValue *value); /* copies; index */
/* dims, strides, repeat 1 */
MerOp mer_op_make(const char *name, const char *source, MerOpKind kind);
int   mer_graph_add_op(MerGraph *graph, const MerOp *op); /* copies; index */
/* One line for the user, repeated texts are kept once. */
void mer_graph_warn(MerGraph *graph, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps `content` under `type`; what was there under that type is replaced. The graph's hash does not
 * know it: an importer continues `hash` over what it attaches, after mer_graph_finish. */
void mer_graph_attach(MerGraph *graph, const char *type, const void *content);
/* NULL if nothing is attached under that type. */
const void *mer_graph_attachment(const MerGraph *graph, const char *type);

/* Sorts operators topologically (stable), derives what is marked derived, then mer_graph_check. */
MerStatus mer_graph_finish(MerGraph *graph, MerError *error);
/* Every index in range, extents >= 1, sizes without overflow, no cycle, one producer per value. */
MerStatus mer_graph_check(const MerGraph *graph, MerError *error);

/* (count, 2): operators from, to, where the second reads what the first makes; in `arena`. */
int *mer_graph_edges(const MerGraph *graph, MerArena *arena, int *count);

const char *mer_op_kind_name(MerOpKind kind);
bool        mer_op_kind_has_macs(MerOpKind kind);
const char *mer_type_name(MerType type);
int         mer_type_bits(MerType type);
bool        mer_type_is_float(MerType type);

#endif
