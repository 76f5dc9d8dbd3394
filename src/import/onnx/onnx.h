/* What the files of the ONNX importer share.
 *
 * onnx.c reads the model, onnx_node.c walks its nodes: it infers the outputs of each
 * (onnx_shape*.c), folds what is constant (onnx_fold*.c) and adds operators (onnx_layers.c), all
 * through one row of the table in onnx_operators.c. A function that finds something wrong calls
 * mer_onnx_fail, which keeps the first message, and goes on with harmless values; the walk stops
 * after that node. */
#ifndef MERCATOR_IMPORT_ONNX_ONNX_H
#define MERCATOR_IMPORT_ONNX_ONNX_H

#include "base/name_table.h"
#include "mercator/import.h"

#include "onnx.pb-c.h"

enum {
    ONNX_MAX_MESSAGE_DEPTH = 200, /* of the wire format; a subgraph takes three levels */
    ONNX_MAX_INLINE_DEPTH = 100,  /* subgraphs and functions inside one another */
    ONNX_MAX_NODES = 500000,      /* after inlining */
    ONNX_MAX_CONTENT = 4096,      /* elements of a constant that is followed */
    ONNX_MAX_REAL_CONTENT = 64,   /* the same of float constants, which are mostly weights */
    ONNX_MAX_TOTAL_CONTENT = 1 << 24,
};
#define ONNX_MAX_DIM (INT64_C(1) << 40)

/* An element of a constant, or a size, that is not known. */
#define ONNX_UNKNOWN_ELEMENT INT64_MIN
#define ONNX_UNKNOWN_DIM INT64_C(-1)

typedef struct OnnxShape {
    int     rank; /* -1: unknown */
    int64_t dims[MER_MAX_RANK];
} OnnxShape;

/* The elements of a small constant. Booleans are integers. Integers may be unknown one by one
 * (the shape of a tensor with an unknown size); then is_partial is set. */
typedef struct OnnxContent {
    bool     is_real, is_partial;
    int      count;
    int64_t *ints;
    double  *reals;
} OnnxContent;

typedef struct OnnxValue {
    const char              *name;
    MerType                  type;
    MerValueRole             role;
    OnnxShape                shape;
    const OnnxContent       *content; /* NULL: not known, or not read yet */
    const Onnx__TensorProto *tensor;  /* where to read it from, or NULL */
    int                      index;   /* in the graph, -1: not added yet */
} OnnxValue;

typedef struct OnnxScope OnnxScope;
struct OnnxScope {
    const OnnxScope *parent;   /* outer scope of a subgraph; NULL for the model and for functions */
    MerNameTable     values;   /* OnnxValue by name */
    MerNameTable     declared; /* Onnx__ValueInfoProto by name */
};

/* The function that is being inlined: attributes of its nodes may refer to those of the call. */
typedef struct OnnxFrame OnnxFrame;
struct OnnxFrame {
    const OnnxFrame           *parent;
    const Onnx__NodeProto     *call;
    const Onnx__FunctionProto *function;
};

typedef struct OnnxSymbol { /* a named size */
    const char *name;
    int64_t     size; /* ONNX_UNKNOWN_DIM: not bound */
} OnnxSymbol;

typedef struct OnnxUnknown OnnxUnknown;
struct OnnxUnknown { /* an operator type that the table does not have */
    const char  *text;
    int          count;
    OnnxUnknown *next;
};

typedef struct OnnxLoop { /* operators first .. end - 1 of the graph stand in its body */
    int first, end;
} OnnxLoop;

typedef struct OnnxContext {
    const MerImportFile    *file;
    const MerImportOptions *options;
    MerArena               *arena;   /* of the graph */
    MerArena               *scratch; /* until the import ends */
    MerGraph               *graph;
    MerError               *error;
    MerStatus               status; /* of the first failure */
    const Onnx__ModelProto *model;
    OnnxScope              *scope;
    const OnnxFrame        *frame;
    const char             *prefix; /* of names inside an inlined function or loop */
    OnnxValue    absent; /* stands for an optional input that the call of a function leaves out */
    int64_t      repeat; /* of the loop that is being inlined */
    OnnxLoop    *loops;  /* the outermost ones, in order */
    int          loop_count, depth, loop_depth;
    int64_t      node_count, content_count;
    MerNameTable functions;   /* Onnx__FunctionProto by "domain name" */
    MerNameTable symbols;     /* OnnxSymbol by name */
    OnnxSymbol **symbol_list; /* in the order of the file */
    int          symbol_count;
    MerNameTable unknowns; /* OnnxUnknown by type and domain */
    OnnxUnknown *unknown_list;
    int          mismatch_count; /* declared shapes that differ from the inferred ones */
    const char  *mismatch_text;
    int          uncounted_count; /* operators that multiply, of unknown size */
    const char  *uncounted_name;
    int          empty_count; /* operators that multiply nothing, for a tensor is empty */
    const char  *empty_text;  /* the first of them and that tensor */
} OnnxContext;

/* A sliding window: convolution or pooling, over at most three axes. */
enum { ONNX_MAX_SPATIAL = 3 };
typedef struct OnnxWindow {
    int     count; /* axes; 0: not known */
    int64_t kernel[ONNX_MAX_SPATIAL], stride[ONNX_MAX_SPATIAL], dilation[ONNX_MAX_SPATIAL];
    int64_t pad_begin[ONNX_MAX_SPATIAL], pad_end[ONNX_MAX_SPATIAL];
    int64_t input[ONNX_MAX_SPATIAL], output[ONNX_MAX_SPATIAL];
} OnnxWindow;

typedef struct OnnxOperator OnnxOperator;

typedef struct OnnxNode {
    OnnxContext           *context;
    const Onnx__NodeProto *proto;
    const OnnxOperator    *type; /* NULL: unknown */
    const char            *name, *op;
    int64_t                opset; /* of the node's domain */
    int                    input_count, output_count;
    OnnxValue            **inputs;      /* NULL entries: absent */
    OnnxValue            **outputs;     /* NULL entries: nobody wants them */
    MerType                result_type; /* of the first output; at first what the table says */
    OnnxWindow             window;      /* set by the inference of convolutions and pools */
} OnnxNode;

typedef struct OnnxInts {
    int            count; /* -1: absent, -2: the content of the input is not known */
    const int64_t *list;  /* lives as long as the model */
} OnnxInts;

typedef OnnxShape          OnnxInfer(OnnxNode *node);
typedef void               OnnxEmit(OnnxNode *node);
typedef const OnnxContent *OnnxFold(OnnxNode *node, int output);

struct OnnxOperator {
    const char *names; /* separated by spaces */
    int         min_inputs;
    MerOpKind   kind;
    OnnxInfer  *infer;     /* the shape of the first output; sets the others, may set result_type */
    OnnxFold   *fold;      /* (optional) content of an output, or NULL; called after infer */
    OnnxEmit   *emit;      /* (optional) adds the operators; default: one operator of `kind` */
    const char *microsoft; /* (optional) names in the domain com.microsoft */
    int         result;    /* 1 + the MerType of the first output; 0: that of the first input */
};

/* onnx_operators.c */
const OnnxOperator *mer_onnx_operator_find(const char *name, const char *domain);

/* onnx_wire.c: the bytes are well-formed, nested at most ONNX_MAX_MESSAGE_DEPTH deep, and unpack to
 * a reasonable size. */
MerStatus mer_onnx_wire_check(const MerImportFile *file, MerError *error);
bool      mer_onnx_wire_probe(const MerImportFile *file);

/* onnx_error.c: the failure of a node gives the unknown shape, for those who give shapes. */
OnnxShape mer_onnx_fail(OnnxNode *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void mer_onnx_fail_model(OnnxContext *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool        mer_onnx_failed(const OnnxContext *context);
const char *mer_onnx_clean(OnnxContext *context, const char *name); /* no control characters */

/* onnx_attribute.c: the value of an attribute, or the default if it is absent; one of the wrong
 * type is a failure. */
const Onnx__AttributeProto *mer_onnx_attribute(const OnnxNode *node, const char *name);
bool                        mer_onnx_has(const OnnxNode *node, const char *name);
int64_t                     mer_onnx_int(OnnxNode *node, const char *name, int64_t fallback);
double                      mer_onnx_real(OnnxNode *node, const char *name, double fallback);
const char                 *mer_onnx_text(OnnxNode *node, const char *name, const char *fallback);
const Onnx__GraphProto     *mer_onnx_subgraph(OnnxNode *node, const char *name);
/* Number of integers, -1 if the attribute is absent; *ints lives as long as the model. */
OnnxInts mer_onnx_ints(OnnxNode *node, const char *name);
int      mer_onnx_reals(OnnxNode *node, const char *name, const float **reals);
int64_t  mer_onnx_required_int(OnnxNode *node, const char *name);

/* onnx_tensor.c */
MerType mer_onnx_type(int64_t data_type);
/* Fails if a size is negative, too large, or their product overflows. */
void mer_onnx_check_size(OnnxContext *context, const char *what, const char *name, MerType type,
                         const OnnxShape *shape);
OnnxContent *mer_onnx_content_new(OnnxContext *context, bool is_real, int64_t count); /* or NULL */
/* The elements of a value if they are known and few, else NULL. */
const OnnxContent *mer_onnx_content(OnnxContext *context, OnnxValue *value);
OnnxValue         *mer_onnx_value_new(OnnxContext *context, const char *name, MerType type,
                                      MerValueRole role);
OnnxValue         *mer_onnx_value_of_tensor(OnnxContext *context, const char *name,
                                            const Onnx__TensorProto *tensor);
OnnxValue         *mer_onnx_value_of_sparse(OnnxContext *context, const char *name,
                                            const Onnx__SparseTensorProto *sparse);
OnnxValue         *mer_onnx_value_of_node(OnnxNode *node); /* of a Constant node */

/* onnx_dims.c: inputs, declared shapes and `--dim` */
void      mer_onnx_bind_dims(OnnxContext *context);
OnnxShape mer_onnx_declared_shape(OnnxContext *context, const Onnx__ValueInfoProto *info,
                                  MerType *type);
OnnxShape mer_onnx_input_shape(OnnxContext *context, const Onnx__ValueInfoProto *info,
                               MerType *type);

/* onnx_order.c: the nodes of a graph, each after those it reads from; NULL after a failure. */
const int *mer_onnx_order(OnnxContext *context, Onnx__NodeProto *const *nodes, size_t count);

/* onnx_scope.c */
OnnxValue *mer_onnx_scope_find(const OnnxScope *scope, const char *name);
OnnxScope *mer_onnx_scope_new(OnnxContext *context, const OnnxScope *parent);
void       mer_onnx_define(OnnxContext *context, const char *name, OnnxValue *value);

/* onnx.c: initializers and nodes of a graph go into the current scope. */
void        mer_onnx_define_initializers(OnnxContext *context, const Onnx__GraphProto *graph);
void        mer_onnx_walk_graph(OnnxContext *context, const Onnx__GraphProto *graph);
void        mer_onnx_walk_nodes(OnnxContext *context, Onnx__NodeProto *const *nodes, size_t count);
const char *mer_onnx_prefixed(OnnxContext *context, const char *name);

/* onnx_node.c: gives a value the name of one of the node's outputs. */
void mer_onnx_define_output(OnnxNode *node, size_t output, OnnxValue *value);

/* onnx_control.c: If, Loop, Scan and functions; false if the node is none of them. */
bool mer_onnx_inline(OnnxNode *node);

/* onnx_weights.c: operators on constants alone become constants. */
void mer_onnx_fold_weights(OnnxContext *context);

/* onnx_shape.c: shapes and what is done with them everywhere */
extern const OnnxShape mer_onnx_unknown_shape;
const OnnxShape       *mer_onnx_shape(const OnnxNode *node, int input); /* unknown if absent */
MerType                mer_onnx_input_type(const OnnxNode *node, int input);
/* The input with the weights or the right factor: behind scale and zero point of the left in the quantised
 * operators, which need four inputs. */
int                mer_onnx_right(const OnnxNode *node);
const OnnxContent *mer_onnx_input_content(OnnxNode *node, int input);
/* Sets shape and type of an output and checks that its size fits; absent outputs are ignored. */
void      mer_onnx_set(OnnxNode *node, int output, MerType type, OnnxShape shape);
OnnxShape mer_onnx_shape_of(int rank, const int64_t *dims);
OnnxShape mer_onnx_shape_unknown_dims(OnnxNode *node, int64_t rank); /* all sizes unknown */
/* A shape that the content of an input or, if given, an attribute lists; what is negative fails. */
OnnxShape mer_onnx_shape_of_list(OnnxNode *node, int input, const char *attribute);
bool      mer_onnx_shape_is_known(const OnnxShape *shape);       /* rank and every size */
int64_t   mer_onnx_elements(const OnnxShape *shape);             /* -1: unknown or too many */
int       mer_onnx_axis(OnnxNode *node, int64_t axis, int rank); /* 0 .. rank-1; -1 after failing */
/* The same of the attribute axis; -1 if the rank is not known. */
int         mer_onnx_axis_attribute(OnnxNode *node, int64_t fallback, int rank);
OnnxShape   mer_onnx_broadcast(OnnxNode *node, const OnnxShape *a, const OnnxShape *b);
const char *mer_onnx_shape_text(OnnxContext *context, const OnnxShape *shape);
int64_t     mer_onnx_multiply(OnnxNode *node, int64_t a, int64_t b); /* of sizes; -1 stays -1 */
/* Axes from an attribute or, if given, the content of an input: bit mask, sorted and in range.
 * false: not known. *is_given says whether there were any. */
bool mer_onnx_axes(OnnxNode *node, int input, int rank, bool *is_given, unsigned *mask);
bool mer_onnx_reduced_axes(OnnxNode *node, unsigned *mask); /* of a reduction; false: not known */
/* Integers from an input if it is there, else from the attribute. -2: the input's content is not
 * known; -1: neither is there. */
OnnxInts mer_onnx_ints_of(OnnxNode *node, int input, const char *attribute);

/* onnx_shape_window.c: the attribute group, checked against the number of channels. */
int64_t mer_onnx_group(OnnxNode *node, int64_t channels);

/* onnx_layers.c */
int  mer_onnx_value_index(OnnxContext *context, OnnxValue *value); /* adds it to the graph */
void mer_onnx_emit_plain(OnnxNode *node, MerOpKind kind);
void mer_onnx_emit_unknown(OnnxNode *node); /* a product whose sizes are not known */
/* Adds `op` with all inputs and outputs of the node. If an extent is not known or 0, the operator
 * counts no MACs and becomes data movement. */
void mer_onnx_emit_loops(OnnxNode *node, MerOp op);
/* The same with other values; NULL entries are left out. */
void mer_onnx_emit_part(OnnxNode *node, MerOp op, OnnxValue *const *inputs, int input_count,
                        OnnxValue *const *outputs, int output_count);
/* A value between the parts of one node: "node/label". */
OnnxValue *mer_onnx_part_value(OnnxNode *node, const char *label, MerType type, OnnxShape shape);

/* Inference, folding and emission; the table names them. */
OnnxInfer mer_onnx_infer_same, mer_onnx_infer_broadcast, mer_onnx_infer_where, mer_onnx_infer_cast,
    mer_onnx_infer_like, mer_onnx_infer_unknown, mer_onnx_infer_batch_norm,
    mer_onnx_infer_layer_norm, mer_onnx_infer_skip_norm, mer_onnx_infer_quantize,
    mer_onnx_infer_dequantize, mer_onnx_infer_dynamic_quantize, mer_onnx_infer_qlinear_binary,
    mer_onnx_infer_embed_norm, mer_onnx_infer_reshape, mer_onnx_infer_flatten,
    mer_onnx_infer_transpose, mer_onnx_infer_squeeze, mer_onnx_infer_unsqueeze,
    mer_onnx_infer_expand, mer_onnx_infer_tile, mer_onnx_infer_concat, mer_onnx_infer_split,
    mer_onnx_infer_slice, mer_onnx_infer_pad, mer_onnx_infer_blocks, mer_onnx_infer_resize,
    mer_onnx_infer_center_crop, mer_onnx_infer_gather, mer_onnx_infer_gather_elements,
    mer_onnx_infer_gather_nd, mer_onnx_infer_reduce, mer_onnx_infer_arg, mer_onnx_infer_top_k,
    mer_onnx_infer_non_zero, mer_onnx_infer_one_hot, mer_onnx_infer_range, mer_onnx_infer_shape,
    mer_onnx_infer_size, mer_onnx_infer_constant_of_shape, mer_onnx_infer_random,
    mer_onnx_infer_suppression, mer_onnx_infer_grid_sample, mer_onnx_infer_roi, mer_onnx_infer_dft,
    mer_onnx_infer_stft, mer_onnx_infer_window_function, mer_onnx_infer_mel,
    mer_onnx_infer_compress, mer_onnx_infer_unique, mer_onnx_infer_det, mer_onnx_infer_affine_grid,
    mer_onnx_infer_conv, mer_onnx_infer_conv_transpose, mer_onnx_infer_pool,
    mer_onnx_infer_global_pool, mer_onnx_infer_max_unpool, mer_onnx_infer_gemm,
    mer_onnx_infer_matmul, mer_onnx_infer_einsum, mer_onnx_infer_recurrent,
    mer_onnx_infer_attention, mer_onnx_infer_multi_head, mer_onnx_infer_group_query;
OnnxFold mer_onnx_fold_arithmetic, mer_onnx_fold_compare, mer_onnx_fold_unary, mer_onnx_fold_where,
    mer_onnx_fold_reduce, mer_onnx_fold_range, mer_onnx_fold_constant_of_shape, mer_onnx_fold_shape,
    mer_onnx_fold_size, mer_onnx_fold_same_order, mer_onnx_fold_cast, mer_onnx_fold_transpose,
    mer_onnx_fold_expand, mer_onnx_fold_tile, mer_onnx_fold_concat, mer_onnx_fold_slice,
    mer_onnx_fold_split, mer_onnx_fold_gather, mer_onnx_fold_non_zero;
OnnxEmit mer_onnx_emit_conv, mer_onnx_emit_conv_transpose, mer_onnx_emit_product,
    mer_onnx_emit_einsum, mer_onnx_emit_recurrent, mer_onnx_emit_attention, mer_onnx_emit_heads,
    mer_onnx_emit_pool;

/* onnx_slice.c: slice and Split as strided views, for inference and for folding. */
typedef struct OnnxSlice {
    OnnxShape shape; /* of the result; -1 where a size is not known */
    int64_t   start[MER_MAX_RANK], step[MER_MAX_RANK];
} OnnxSlice;

/* False if starts, ends, axes or steps are not known. Needs an input of known rank. */
bool mer_onnx_slice_read(OnnxNode *node, OnnxSlice *slice);

#endif
