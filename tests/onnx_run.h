/* Runs the ONNX models that the exporter of splits writes, in double precision: only the operators and forms that it has. */
#ifndef MERCATOR_TESTS_ONNX_RUN_H
#define MERCATOR_TESTS_ONNX_RUN_H

#include "support.h"

#include "onnx.pb-c.h"

#include <math.h>

typedef struct OnnxTensor {
    const char *name;
    int         rank;
    int64_t     dims[4];
    double     *data;
} OnnxTensor;

typedef struct OnnxRun {
    MerArena   *arena;
    int         count;
    OnnxTensor *tensors;
} OnnxRun;

static inline int64_t onnx_run_size(const OnnxTensor *t)
{
    int64_t size = 1;
    for (int i = 0; i < t->rank; i++) {
        size *= t->dims[i];
    }
    return size;
}

static inline const OnnxTensor *onnx_run_get(const OnnxRun *run, const char *name)
{
    for (int i = 0; i < run->count; i++) {
        if (strcmp(run->tensors[i].name, name) == 0) {
            return &run->tensors[i];
        }
    }
    fail_msg("no tensor \"%s\"", name);
    return NULL;
}

static inline const Onnx__AttributeProto *onnx_run_attribute(const Onnx__NodeProto *node,
                                                             const char            *name)
{
    for (size_t i = 0; i < node->n_attribute; i++) {
        if (strcmp(node->attribute[i]->name, name) == 0) {
            return node->attribute[i];
        }
    }
    return NULL;
}

static inline int64_t onnx_run_int(const Onnx__NodeProto *node, const char *name, int64_t absent)
{
    const Onnx__AttributeProto *attribute = onnx_run_attribute(node, name);
    return attribute ? attribute->i : absent;
}

static inline int64_t onnx_run_ints(const Onnx__NodeProto *node, const char *name, int i)
{
    const Onnx__AttributeProto *attribute = onnx_run_attribute(node, name);
    assert_true(attribute && attribute->n_ints > (size_t)i);
    return attribute->ints[i];
}

/* Images as rank 4; what lies outside is `beyond`. */
static inline double onnx_run_pixel(const OnnxTensor *x, int64_t c, int64_t y, int64_t column,
                                    double beyond)
{
    bool is_inside = y >= 0 && y < x->dims[2] && column >= 0 && column < x->dims[3];
    return is_inside ? x->data[(c * x->dims[2] + y) * x->dims[3] + column] : beyond;
}

static inline int64_t onnx_run_windows(const Onnx__NodeProto *node, const OnnxTensor *x, int axis,
                                       int64_t dilation)
{
    int64_t size = x->dims[2 + axis] + onnx_run_ints(node, "pads", axis) +
                   onnx_run_ints(node, "pads", axis + 2);
    int64_t window = (onnx_run_ints(node, "kernel_shape", axis) - 1) * dilation + 1;
    return (size - window) / onnx_run_ints(node, "strides", axis) + 1;
}

static inline double onnx_run_conv_at(const Onnx__NodeProto *node, const OnnxTensor *x,
                                      const OnnxTensor *w, int64_t k, int64_t row, int64_t column)
{
    int64_t group = k / (w->dims[0] / onnx_run_int(node, "group", 1));
    double  sum = 0;
    for (int64_t c = 0; c < w->dims[1]; c++) {
        for (int64_t r = 0; r < w->dims[2]; r++) {
            for (int64_t s = 0; s < w->dims[3]; s++) {
                int64_t y = row * onnx_run_ints(node, "strides", 0) -
                            onnx_run_ints(node, "pads", 0) +
                            r * onnx_run_ints(node, "dilations", 0);
                int64_t at = column * onnx_run_ints(node, "strides", 1) -
                             onnx_run_ints(node, "pads", 1) +
                             s * onnx_run_ints(node, "dilations", 1);
                sum += w->data[((k * w->dims[1] + c) * w->dims[2] + r) * w->dims[3] + s] *
                       onnx_run_pixel(x, group * w->dims[1] + c, y, at, 0);
            }
        }
    }
    return sum;
}

static inline void onnx_run_conv(OnnxRun *run, const Onnx__NodeProto *node, const OnnxTensor **in,
                                 OnnxTensor *out)
{
    const OnnxTensor *x = in[0], *w = in[1];
    assert_int_equal(x->dims[1], w->dims[1] * onnx_run_int(node, "group", 1));
    *out = (OnnxTensor){.rank = 4, .dims = {1, w->dims[0]}};
    for (int i = 0; i < 2; i++) {
        out->dims[2 + i] = onnx_run_windows(node, x, i, onnx_run_ints(node, "dilations", i));
    }
    double *to = out->data = MER_ARRAY(run->arena, double, onnx_run_size(out));
    for (int64_t k = 0; k < out->dims[1]; k++) {
        for (int64_t y = 0; y < out->dims[2]; y++) {
            for (int64_t column = 0; column < out->dims[3]; column++) {
                *to++ = in[2]->data[k] + onnx_run_conv_at(node, x, w, k, y, column);
            }
        }
    }
}

static inline void onnx_run_pool(OnnxRun *run, const Onnx__NodeProto *node, const OnnxTensor *x,
                                 OnnxTensor *out)
{
    bool is_whole = node->op_type[0] == 'G', is_max = node->op_type[0] == 'M';
    *out = (OnnxTensor){.rank = 4, .dims = {1, x->dims[1], 1, 1}};
    int64_t window[2] = {x->dims[2], x->dims[3]}, stride[2] = {1, 1}, pads[2] = {0, 0};
    for (int i = 0; !is_whole && i < 2; i++) {
        window[i] = onnx_run_ints(node, "kernel_shape", i);
        stride[i] = onnx_run_ints(node, "strides", i);
        pads[i] = onnx_run_ints(node, "pads", i);
        out->dims[2 + i] = onnx_run_windows(node, x, i, 1);
    }
    double *to = out->data = MER_ARRAY(run->arena, double, onnx_run_size(out));
    for (int64_t i = 0; i < onnx_run_size(out); i++) {
        int64_t column = i % out->dims[3], y = i / out->dims[3] % out->dims[2];
        double  best = is_max ? -INFINITY : 0;
        for (int64_t r = 0; r < window[0]; r++) {
            for (int64_t s = 0; s < window[1]; s++) {
                double at = onnx_run_pixel(x, i / (out->dims[2] * out->dims[3]),
                                           y * stride[0] + r - pads[0],
                                           column * stride[1] + s - pads[1], -INFINITY);
                best = is_max ? fmax(best, at) : best + at;
            }
        }
        to[i] =
            is_max ? best : (float)(best / (double)(window[0] * window[1])); /* as others round */
    }
}

static inline void onnx_run_gemm(OnnxRun *run, const OnnxTensor **in, OnnxTensor *out)
{
    *out = (OnnxTensor){.rank = 2, .dims = {1, in[1]->dims[0]}};
    out->data = MER_ARRAY(run->arena, double, out->dims[1]);
    assert_int_equal(in[0]->dims[1], in[1]->dims[1]);
    for (int64_t k = 0; k < out->dims[1]; k++) {
        out->data[k] = in[2]->data[k];
        for (int64_t i = 0; i < in[1]->dims[1]; i++) {
            out->data[k] += in[1]->data[k * in[1]->dims[1] + i] * in[0]->data[i];
        }
    }
}

/* y has the shape of x, or a number for each channel, or one. */
static inline void onnx_run_pair(OnnxRun *run, const char *type, const OnnxTensor *x,
                                 const OnnxTensor *y, OnnxTensor *out)
{
    int64_t size = onnx_run_size(x), other = onnx_run_size(y), area = size / x->dims[1];
    *out = *x;
    out->data = MER_ARRAY(run->arena, double, size);
    for (int64_t i = 0; i < size; i++) {
        double a = x->data[i], b = y->data[other == size ? i : other == 1 ? 0 : i / area];
        out->data[i] = type[0] == 'A' ? a + b : type[0] == 'M' ? a * b : a / b;
    }
}

static inline void onnx_run_single(OnnxRun *run, const Onnx__NodeProto *node, const OnnxTensor *x,
                                   OnnxTensor *out)
{
    bool is_clip = node->op_type[0] == 'C';
    *out = *x;
    out->data = MER_ARRAY(run->arena, double, onnx_run_size(x));
    for (int64_t i = 0; i < onnx_run_size(x); i++) {
        out->data[i] = is_clip ? fmin(fmax(x->data[i], onnx_run_attribute(node, "min")->f),
                                      onnx_run_attribute(node, "max")->f)
                               : floor(x->data[i]);
    }
}

static inline void onnx_run_pad(OnnxRun *run, const Onnx__NodeProto *node, const OnnxTensor *x,
                                OnnxTensor *out)
{
    int64_t top = onnx_run_ints(node, "pads", 2), left = onnx_run_ints(node, "pads", 3);
    *out = *x;
    out->dims[2] += top + onnx_run_ints(node, "pads", 6);
    out->dims[3] += left + onnx_run_ints(node, "pads", 7);
    out->data = MER_ARRAY(run->arena, double, onnx_run_size(out));
    for (int64_t i = 0; i < onnx_run_size(out); i++) {
        int64_t plane = out->dims[2] * out->dims[3];
        out->data[i] =
            onnx_run_pixel(x, i / plane, i % plane / out->dims[3] - top, i % out->dims[3] - left,
                           (double)onnx_run_attribute(node, "value")->f);
    }
}

/* Channels one after the other: of one tensor (Slice, Gather) or of several (Concat). */
static inline void onnx_run_channels(OnnxRun *run, const Onnx__NodeProto *node,
                                     const OnnxTensor **in, OnnxTensor *out)
{
    char    kind = node->op_type[0];
    int64_t area = onnx_run_size(in[0]) / in[0]->dims[1], first = 0;
    *out = *in[0];
    if (kind == 'S') {
        assert_true(in[3]->data[0] == 1);
        first = (int64_t)in[1]->data[0];
        out->dims[1] = (int64_t)in[2]->data[0] - first;
    } else if (kind == 'G') {
        out->dims[1] = onnx_run_size(in[1]);
    } else {
        for (size_t i = 1; i < node->n_input; i++) {
            out->dims[1] += in[i]->dims[1];
        }
    }
    double *to = out->data = MER_ARRAY(run->arena, double, out->dims[1] * area);
    for (int64_t c = 0; c < out->dims[1]; c++, to += area) {
        int64_t from = kind == 'G' ? (int64_t)in[1]->data[c] : first + c;
        size_t  i = 0;
        for (; kind == 'C' && from >= in[i]->dims[1]; i++) {
            from -= in[i]->dims[1];
        }
        memcpy(to, in[i]->data + from * area, (size_t)area * sizeof *to);
    }
}

static inline void onnx_run_node(OnnxRun *run, const Onnx__NodeProto *node)
{
    const OnnxTensor *in[64];
    OnnxTensor       *out = &run->tensors[run->count];
    const char       *type = node->op_type;
    for (size_t i = 0; i < node->n_input; i++) {
        in[i] = onnx_run_get(run, node->input[i]);
    }
    if (strcmp(type, "Conv") == 0) {
        onnx_run_conv(run, node, in, out);
    } else if (strcmp(type, "Gemm") == 0) {
        assert_int_equal(onnx_run_int(node, "transB", 0), 1);
        onnx_run_gemm(run, in, out);
    } else if (strstr(type, "Pool") != NULL) {
        onnx_run_pool(run, node, in[0], out);
    } else if (strcmp(type, "Add") == 0 || strcmp(type, "Mul") == 0 || strcmp(type, "Div") == 0) {
        onnx_run_pair(run, type, in[0], in[1], out);
    } else if (strcmp(type, "Floor") == 0 || strcmp(type, "Clip") == 0) {
        onnx_run_single(run, node, in[0], out);
    } else if (strcmp(type, "Pad") == 0) {
        onnx_run_pad(run, node, in[0], out);
    } else if (strcmp(type, "Flatten") == 0) {
        *out = (OnnxTensor){.rank = 2, .dims = {1, onnx_run_size(in[0])}, .data = in[0]->data};
    } else if (strcmp(type, "Slice") == 0 || strcmp(type, "Concat") == 0 ||
               strcmp(type, "Gather") == 0) {
        onnx_run_channels(run, node, in, out);
    } else {
        fail_msg("operator %s", type);
    }
    out->name = node->output[0];
    run->count++;
}

/* The only output of a model for its only input, which has the shape that the model says. */
static inline OnnxTensor onnx_run(const Onnx__ModelProto *model, const uint8_t *input,
                                  MerArena *arena)
{
    const Onnx__GraphProto *graph = model->graph;
    OnnxRun                 run = {arena, 0, NULL};
    run.tensors = MER_ARRAY(arena, OnnxTensor, graph->n_initializer + graph->n_node + 1);
    OnnxTensor *first = &run.tensors[run.count++];
    *first = (OnnxTensor){.name = graph->input[0]->name, .rank = 4};
    for (int i = 0; i < 4; i++) {
        first->dims[i] = graph->input[0]->type->tensor_type->shape->dim[i]->dim_value;
    }
    first->data = MER_ARRAY(arena, double, onnx_run_size(first));
    for (int64_t i = 0; i < onnx_run_size(first); i++) {
        first->data[i] = input[i];
    }
    for (size_t t = 0; t < graph->n_initializer; t++) {
        const Onnx__TensorProto *from = graph->initializer[t];
        OnnxTensor              *to = &run.tensors[run.count++];
        *to = (OnnxTensor){.name = from->name, .rank = (int)from->n_dims};
        memcpy(to->dims, from->dims, from->n_dims * sizeof *from->dims);
        to->data = MER_ARRAY(arena, double, onnx_run_size(to));
        for (int64_t i = 0; i < onnx_run_size(to); i++) {
            to->data[i] =
                from->n_int64_data > 0 ? (double)from->int64_data[i] : (double)from->float_data[i];
        }
    }
    for (size_t n = 0; n < graph->n_node; n++) {
        onnx_run_node(&run, graph->node[n]);
    }
    return *onnx_run_get(&run, graph->output[0]->name);
}

#endif
