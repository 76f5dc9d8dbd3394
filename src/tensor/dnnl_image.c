/* Batch normalisation and pooling, in the layout of the images they are given. */
#include "tensor/dnnl_inside.h"

#include <string.h>

static dnnl_primitive_desc_t norm_forward_desc(const MerDnnl *state, const MerDnnlKey *key)
{
    unsigned flags =
        dnnl_use_scale | dnnl_use_shift | (key->is_training ? 0 : dnnl_use_global_stats);
    dnnl_memory_desc_t              data = mer_dnnl_image_desc(key->x, key->from);
    dnnl_batch_normalization_desc_t op;
    dnnl_primitive_desc_t           desc;
    mer_dnnl_must(dnnl_batch_normalization_forward_desc_init(&op, dnnl_forward_training, &data,
                                                             key->epsilon, flags));
    mer_dnnl_must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, NULL));
    return desc;
}

static void make_norm(MerDnnl *state, MerDnnlKernel *kernel)
{
    int arguments[] = {DNNL_ARG_SRC,      DNNL_ARG_DST,   DNNL_ARG_MEAN,
                       DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    mer_dnnl_finish(state, kernel, norm_forward_desc(state, &kernel->key), 6, arguments);
}

static void make_norm_back(MerDnnl *state, MerDnnlKernel *kernel)
{
    const MerDnnlKey *key = &kernel->key;
    unsigned          flags =
        dnnl_use_scale | dnnl_use_shift | (key->is_training ? 0 : dnnl_use_global_stats);
    dnnl_memory_desc_t              data = mer_dnnl_image_desc(key->x, key->from);
    dnnl_batch_normalization_desc_t op;
    dnnl_primitive_desc_t           desc, hint = norm_forward_desc(state, key);
    mer_dnnl_must(dnnl_batch_normalization_backward_desc_init(&op, dnnl_backward, &data, &data,
                                                              key->epsilon, flags));
    mer_dnnl_must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, hint));
    mer_dnnl_must(dnnl_primitive_desc_destroy(hint));
    /* The shift is not needed to compute anything, but execution fails without it. */
    mer_dnnl_finish(state, kernel, desc, 9,
                    (int[]){DNNL_ARG_SRC, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_DIFF_DST,
                            DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_SCALE,
                            DNNL_ARG_DIFF_SHIFT});
}

static MerDnnlKey norm_key(const MerBatchNorm *norm, const MerTensor *x, MerDnnlKind kind)
{
    MerDnnlKey key;
    memset(&key, 0, sizeof key);
    key.kind = kind;
    key.is_training = norm->is_training;
    key.epsilon = norm->epsilon;
    key.from = x->blocked.data != NULL ? x->blocked.layout : NULL;
    memcpy(key.x, x->shape, sizeof key.x);
    return key;
}

void mer_dnnl_batch_norm(MerTape *tape, const MerBatchNorm *norm, const MerBatchNormTensors *t)
{
    MerDnnl       *state = tape->backend_state;
    MerDnnlKey     key = norm_key(norm, t->x, MER_DNNL_NORM);
    MerDnnlKernel *kernel = mer_dnnl_kernel(state, &key, make_norm);
    float         *out = mer_dnnl_capacity(tape, t->y, key.from);
    mer_dnnl_run(state, kernel,
                 (void *[]){mer_data_form(t->x).data, out, t->mean, t->variance, t->scale->data,
                            t->shift->data});
    mer_dnnl_set_data(t->y, out, key.from);
}

void mer_dnnl_batch_norm_backward(MerTape *tape, const MerBatchNorm *norm,
                                  const MerBatchNormTensors *t)
{
    MerDnnl   *state = tape->backend_state;
    MerDnnlKey key = norm_key(norm, t->x, MER_DNNL_NORM_BACK);
    key.from =
        t->y->blocked.data != NULL ? t->y->blocked.layout : NULL; /* as in the forward pass */
    MerDnnlKernel *kernel = mer_dnnl_kernel(state, &key, make_norm_back);
    float         *dx = mer_dnnl_capacity(tape, t->x, key.from);
    float         *dscale = mer_workspace_floats(tape->workspace, t->scale->size);
    float         *dshift = mer_workspace_floats(tape->workspace, t->shift->size);
    float         *x = mer_form_convert(tape, t->x, mer_data_form(t->x), key.from);
    mer_dnnl_run(state, kernel,
                 (void *[]){x, t->mean, t->variance, mer_dnnl_grad(tape, t->y, key.from),
                            t->scale->data, t->shift->data, dx, dscale, dshift});
    if (t->x->needs_grad) {
        mer_grad_give(tape, t->x, (MerBlocked){dx, key.from}, false);
    }
    if (t->scale->needs_grad) {
        mer_grad_give_plain(tape, t->scale, dscale, false);
    }
    if (t->shift->needs_grad) {
        mer_grad_give_plain(tape, t->shift, dshift, false);
    }
}

static dnnl_alg_kind_t pool_algorithm(const MerDnnlKey *key)
{
    return key->pool == MER_POOL_MAX ? dnnl_pooling_max : dnnl_pooling_avg_exclude_padding;
}

static dnnl_primitive_desc_t pool_forward_desc(const MerDnnl *state, const MerDnnlKey *key)
{
    dnnl_memory_desc_t x = mer_dnnl_image_desc(key->x, key->from), y = mer_dnnl_any_desc(4, key->y);
    dnnl_dims_t        stride = {key->stride[0], key->stride[1]}, window = {key->w[2], key->w[3]};
    dnnl_dims_t        padding = {key->padding[0], key->padding[1]};
    dnnl_pooling_desc_t   op;
    dnnl_primitive_desc_t desc;
    mer_dnnl_must(dnnl_pooling_forward_desc_init(&op, dnnl_forward_training, pool_algorithm(key),
                                                 &x, &y, stride, window, padding, padding));
    mer_dnnl_must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, NULL));
    return desc;
}

static void make_pool(MerDnnl *state, MerDnnlKernel *kernel)
{
    mer_dnnl_finish(state, kernel, pool_forward_desc(state, &kernel->key),
                    kernel->key.pool == MER_POOL_MAX ? 3 : 2,
                    (int[]){DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WORKSPACE});
}

static void make_pool_back(MerDnnl *state, MerDnnlKernel *kernel)
{
    const MerDnnlKey     *key = &kernel->key;
    dnnl_primitive_desc_t desc, hint = pool_forward_desc(state, key);
    dnnl_memory_desc_t    dx = mer_dnnl_image_desc(key->x, key->from);
    dnnl_memory_desc_t    dy = *dnnl_primitive_desc_query_md(hint, dnnl_query_dst_md, 0);
    dnnl_dims_t         stride = {key->stride[0], key->stride[1]}, window = {key->w[2], key->w[3]};
    dnnl_dims_t         padding = {key->padding[0], key->padding[1]};
    dnnl_pooling_desc_t op;
    mer_dnnl_must(dnnl_pooling_backward_desc_init(&op, pool_algorithm(key), &dx, &dy, stride,
                                                  window, padding, padding));
    mer_dnnl_must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, hint));
    mer_dnnl_must(dnnl_primitive_desc_destroy(hint));
    mer_dnnl_finish(state, kernel, desc, key->pool == MER_POOL_MAX ? 3 : 2,
                    (int[]){DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_WORKSPACE});
}

typedef struct Choice { /* what a pooling keeps for its backward pass */
    const MerLayout *layout;
    float           *workspace;
} Choice;

static MerDnnlKey pool_key(const MerPool *pool, const MerTensor *x, const MerTensor *y,
                           const MerLayout *layout)
{
    MerDnnlKey key;
    memset(&key, 0, sizeof key);
    key.pool = pool->kind;
    key.from = layout;
    for (int i = 0; i < 4; i++) {
        key.x[i] = x->shape[i];
        key.y[i] = y->shape[i];
    }
    for (int i = 0; i < 2; i++) {
        key.w[2 + i] = pool->window[i];
        key.stride[i] = pool->stride[i];
        key.padding[i] = pool->padding[i];
    }
    return key;
}

void mer_dnnl_pool(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y, void **choice)
{
    MerDnnl   *state = tape->backend_state;
    MerBlocked form = mer_data_form(x);
    MerDnnlKey key = pool_key(pool, x, y, form.layout);
    key.kind = MER_DNNL_POOL;
    MerDnnlKernel *kernel = mer_dnnl_kernel(state, &key, make_pool);
    float         *out = mer_dnnl_capacity(tape, y, kernel->layouts[1]);
    bool           is_max = pool->kind == MER_POOL_MAX;
    float         *workspace = NULL;
    if (is_max) {
        const dnnl_memory_desc_t *desc;
        mer_dnnl_must(dnnl_memory_get_memory_desc(kernel->memories[2], &desc));
        workspace = mer_workspace_alloc(tape->workspace, dnnl_memory_desc_get_size(desc));
    }
    mer_dnnl_run(state, kernel, (void *[]){form.data, out, workspace});
    mer_dnnl_set_data(y, out, kernel->layouts[1]);
    if (choice != NULL) {
        Choice *kept = *choice = mer_workspace_alloc(tape->workspace, sizeof *kept);
        *kept = (Choice){form.layout, workspace};
    }
}

void mer_dnnl_pool_backward(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y,
                            void *choice)
{
    MerDnnl      *state = tape->backend_state;
    const Choice *kept = choice;
    MerDnnlKey    key = pool_key(pool, x, y, kept->layout);
    key.kind = MER_DNNL_POOL_BACK;
    MerDnnlKernel *kernel = mer_dnnl_kernel(state, &key, make_pool_back);
    float         *dx = mer_dnnl_capacity(tape, x, kernel->layouts[1]);
    mer_dnnl_run(state, kernel,
                 (void *[]){mer_dnnl_grad(tape, y, kernel->layouts[0]), dx, kept->workspace});
    mer_grad_give(tape, x, (MerBlocked){dx, kernel->layouts[1]}, false);
}
