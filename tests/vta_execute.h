/* Tensors of a layer, the plain computation, and the way into and out of the memory of a core. */
#ifndef MERCATOR_TESTS_VTA_EXECUTE_H
#define MERCATOR_TESTS_VTA_EXECUTE_H

#include "codesign/cost/functional.h"
#include "vta_support.h"

typedef struct Case {
    MerOp          op;
    int            images;
    MerVtaTask     task;
    MerVtaSchedule schedule;
} Case;

/* Tensors in the order of the graph: images, groups, channels of a group, rows, columns. */
typedef struct Tensors {
    int      images, groups, ci, co; /* real sizes */
    int      height, width, rows, columns;
    int8_t  *input, *weights, *output;
    int32_t *bias;
} Tensors;

static inline Tensors make_tensors(const Case *c, MerRng *rng)
{
    const MerVtaShape *s = &c->task.shape;
    const int64_t     *d = c->op.dims;
    bool               is_rows = mer_vta_is_dense(&c->op) && d[MER_DIM_Y] > 1;
    Tensors            t = {.images = is_rows ? c->task.core.batch : c->images,
                            .groups = (int)d[MER_DIM_G],
                            .ci = (int)d[MER_DIM_C],
                            .co = (int)d[MER_DIM_K],
                            .height = s->height,
                            .width = s->width,
                            .rows = s->rows,
                            .columns = s->columns};
    if (c->op.kind == MER_OP_DEPTHWISE) {
        t.groups = t.ci;
        t.ci = 1;
    }
    size_t inputs = (size_t)t.images * t.groups * t.ci * t.height * t.width;
    size_t kernel = (size_t)s->kernel[0] * s->kernel[1];
    size_t weights = (size_t)t.groups * t.co * t.ci * kernel, outs = (size_t)t.groups * t.co;
    t.input = malloc(inputs);
    t.weights = malloc(weights);
    t.bias = malloc(t.images * outs * sizeof(int32_t));
    t.output = malloc(t.images * outs * t.rows * t.columns);
    for (size_t i = 0; i < inputs; i++) {
        t.input[i] = (int8_t)(mer_rng_below(rng, 256) - 128);
    }
    for (size_t i = 0; i < weights; i++) {
        t.weights[i] = (int8_t)(mer_rng_below(rng, 256) - 128);
    }
    for (size_t i = 0; i < t.images * outs; i++) {
        t.bias[i] = c->task.rules.has_bias ? mer_rng_below(rng, 32768) - 16384 : 0;
    }
    return t;
}

static inline void free_tensors(Tensors *t)
{
    free(t->input);
    free(t->weights);
    free(t->bias);
    free(t->output);
}

/* The computation that the core is to do, written as plainly as it can be. */
static inline void reference(const Case *c, Tensors *t)
{
    const MerVtaShape *s = &c->task.shape;
    int8_t            *out = t->output;
    for (int n = 0; n < t->images; n++) {
        for (int k = 0; k < t->groups * t->co; k++) {
            int g = k / t->co;
            for (int y = 0; y < t->rows; y++) {
                for (int x = 0; x < t->columns; x++) {
                    int32_t sum = 0;
                    for (int ci = 0; ci < t->ci; ci++) {
                        for (int r = 0; r < s->kernel[0]; r++) {
                            for (int q = 0; q < s->kernel[1]; q++) {
                                int h = y * s->stride[0] + r * s->dilation[0] - s->pad[0];
                                int w = x * s->stride[1] + q * s->dilation[1] - s->pad[1];
                                if (h >= 0 && h < t->height && w >= 0 && w < t->width) {
                                    sum +=
                                        t->input[(((n * t->groups + g) * t->ci + ci) * t->height +
                                                  h) *
                                                     t->width +
                                                 w] *
                                        t->weights[((k * t->ci + ci) * s->kernel[0] + r) *
                                                       s->kernel[1] +
                                                   q];
                                }
                            }
                        }
                    }
                    sum = (sum >= 0 ? sum >> 8 : -((-sum - 1) >> 8) - 1) +
                          t->bias[n * t->groups * t->co + k];
                    *out++ = (int8_t)(sum > 127 ? 127 : sum < 0 ? 0 : sum);
                }
            }
        }
    }
}

/* Group and channel of the graph that block `block`, lane `lane` of group `group` holds; false: padding. */
static inline bool channel_of(const Case *c, int group, int block, int lane, int size, int channels,
                              int *g, int *channel)
{
    if (c->op.kind == MER_OP_DEPTHWISE) {
        int wide = c->task.core.block_in > c->task.core.block_out ? c->task.core.block_in
                                                                  : c->task.core.block_out;
        *g = group * wide + block * size + lane;
        *channel = 0;
        return *g < (int)c->op.dims[MER_DIM_C];
    }
    *g = group;
    *channel = block * size + lane;
    return *channel < channels;
}

static inline void pack(const Case *c, const Tensors *t, const MerVtaStream *stream, uint8_t *dram)
{
    const MerVtaShape *s = &c->task.shape;
    const MerVtaCore  *core = &c->task.core;
    int                kernel = s->kernel[0] * s->kernel[1], g, k, gi, ci;
    int8_t  *inp = (int8_t *)dram + stream->base[MER_VTA_INP] * core->element[MER_VTA_INP];
    int8_t  *wgt = (int8_t *)dram + stream->base[MER_VTA_WGT] * core->element[MER_VTA_WGT];
    int32_t *bias =
        (int32_t *)(void *)(dram + stream->base[MER_VTA_ACC] * core->element[MER_VTA_ACC]);
    for (int nb = 0; nb < s->batches; nb++) {
        for (int group = 0; group < s->groups; group++) {
            int all = nb * s->groups + group;
            for (int block = 0; block < s->ci; block++) {
                for (int p = 0; p < s->height * s->width; p++) {
                    for (int b = 0; b < core->batch; b++) {
                        for (int l = 0; l < core->block_in; l++) {
                            int  n = nb * core->batch + b;
                            bool is_real =
                                channel_of(c, group, block, l, core->block_in, t->ci, &g, &k) &&
                                n < t->images;
                            inp[(((int64_t)all * s->ci + block) * s->height * s->width + p) *
                                    core->batch * core->block_in +
                                b * core->block_in + l] =
                                is_real ? t->input[((n * t->groups + g) * t->ci + k) * t->height *
                                                       t->width +
                                                   p]
                                        : 0;
                        }
                    }
                }
            }
            for (int block = 0; block < s->co && c->task.rules.has_bias; block++) {
                for (int b = 0; b < core->batch; b++) {
                    for (int l = 0; l < core->block_out; l++) {
                        int  n = nb * core->batch + b;
                        bool is_real =
                            channel_of(c, group, block, l, core->block_out, t->co, &g, &k) &&
                            n < t->images;
                        bias[((int64_t)all * s->co + block) * core->batch * core->block_out +
                             b * core->block_out + l] =
                            is_real ? t->bias[(n * t->groups + g) * t->co + k] : 0;
                    }
                }
            }
        }
    }
    for (int group = 0; group < s->groups; group++) {
        for (int ob = 0; ob < s->co; ob++) {
            for (int ib = 0; ib < s->ci; ib++) {
                for (int p = 0; p < kernel; p++) {
                    for (int o = 0; o < core->block_out; o++) {
                        for (int i = 0; i < core->block_in; i++) {
                            bool is_real =
                                channel_of(c, group, ob, o, core->block_out, t->co, &g, &k) &&
                                channel_of(c, group, ib, i, core->block_in, t->ci, &gi, &ci) &&
                                g == gi;
                            *wgt++ = is_real
                                         ? t->weights[((g * t->co + k) * t->ci + ci) * kernel + p]
                                         : 0;
                        }
                    }
                }
            }
        }
    }
}

static inline bool is_equal(const Case *c, const Tensors *t, const MerVtaStream *stream,
                            const uint8_t *dram)
{
    const MerVtaShape *s = &c->task.shape;
    const MerVtaCore  *core = &c->task.core;
    const int8_t      *out =
        (const int8_t *)dram + stream->base[MER_VTA_OUT] * core->element[MER_VTA_OUT];
    int g, k, pixels = s->rows * s->columns;
    for (int nb = 0; nb < s->batches; nb++) {
        for (int group = 0; group < s->groups; group++) {
            for (int block = 0; block < s->co; block++) {
                for (int p = 0; p < pixels; p++) {
                    for (int b = 0; b < core->batch; b++) {
                        for (int l = 0; l < core->block_out; l++, out++) {
                            int n = nb * core->batch + b;
                            if (channel_of(c, group, block, l, core->block_out, t->co, &g, &k) &&
                                n < t->images &&
                                *out != t->output[((n * t->groups + g) * t->co + k) * pixels + p]) {
                                return false;
                            }
                        }
                    }
                }
            }
        }
    }
    return true;
}

static inline size_t dram_bytes(const MerVtaCore *core, const MerVtaStream *stream)
{
    return (size_t)((stream->base[MER_VTA_OUT] + stream->entries[MER_VTA_OUT]) *
                    core->element[MER_VTA_OUT]);
}

#endif
