/* Kernels of oneDNN 2.x: the only file that calls it. Convolutions choose their layouts, batch
 * norm and pooling follow what they are given, and tensors stay blocked between them. A kernel
 * is made once per shape and kept. Everything runs on the calling thread, so that results do not
 * depend on how many there are. Version 3 has no *_desc_init calls: only the make_* functions
 * below would change. */
#include "base/memory.h"
#include "base/text.h"
#include "tensor/tape.h"

#include <dnnl.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* oneDNN's threads come from OpenMP's runtime; declared here because not every compiler ships
 * omp.h. */
int  omp_get_max_threads(void);
void omp_set_num_threads(int count);

struct MerLayout {
    MerLayout         *next;
    dnnl_memory_desc_t desc;
    size_t             bytes;
};

typedef enum Kind {
    REORDER,
    CONV,
    CONV_DATA,
    CONV_WEIGHTS,
    NORM,
    NORM_BACK,
    POOL,
    POOL_BACK,
    LSTM,
    LSTM_BACK
} Kind;

typedef struct Key { /* all that a kernel depends on; unused parts are zero */
    int              kind, has_bias, is_training, pool, is_backwards;
    int              x[4], w[4], y[4];
    int              groups, stride[2], padding[2], dilation[2];
    float            epsilon;
    const MerLayout *from, *to;
} Key;

enum { MAX_ARGUMENTS = 19, BUCKETS = 256 };

typedef struct Kernel {
    struct Kernel   *next;
    uint64_t         hash;
    Key              key;
    dnnl_primitive_t primitive;
    int              count;
    int              arguments[MAX_ARGUMENTS];
    const MerLayout *layouts[MAX_ARGUMENTS];
    dnnl_memory_t    memories[MAX_ARGUMENTS];
} Kernel;

typedef struct State {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    MerLayout    *layouts;
    Kernel       *kernels[BUCKETS];
    int64_t       made;
} State;

/* A refusal by oneDNN is a bug here: shapes were checked before. */
static void must(dnnl_status_t status)
{
    if (status == dnnl_out_of_memory) {
        mer_out_of_memory(0);
    }
    if (status != dnnl_success) {
        fprintf(stderr, "oneDNN: status %d\n", (int)status);
        abort();
    }
}

/* One thread inside, whatever the caller's setting is. */
static int enter(void)
{
    int threads = omp_get_max_threads();
    if (threads != 1) {
        omp_set_num_threads(1);
    }
    return threads;
}

static void leave(int threads)
{
    if (threads != 1) {
        omp_set_num_threads(threads);
    }
}

static void *open_dnnl(void)
{
    State *state = mer_heap_zeroed(1, sizeof *state);
    must(dnnl_engine_create(&state->engine, dnnl_cpu, 0));
    must(dnnl_stream_create(&state->stream, state->engine, dnnl_stream_default_flags));
    return state;
}

static void close_dnnl(void *given)
{
    State *state = given;
    for (int b = 0; b < BUCKETS; b++) {
        for (Kernel *kernel = state->kernels[b]; kernel != NULL;) {
            Kernel *next = kernel->next;
            for (int i = 0; i < kernel->count; i++) {
                dnnl_memory_destroy(kernel->memories[i]);
            }
            dnnl_primitive_destroy(kernel->primitive);
            free(kernel);
            kernel = next;
        }
    }
    for (MerLayout *layout = state->layouts; layout != NULL;) {
        MerLayout *next = layout->next;
        free(layout);
        layout = next;
    }
    dnnl_stream_destroy(state->stream);
    dnnl_engine_destroy(state->engine);
    free(state);
}

static int64_t allocations(const void *state)
{
    return ((const State *)state)->made;
}

static void matmul(void *state, bool transpose_a, bool transpose_b, int m, int n, int k,
                   const float *a, int row_a, const float *b, int row_b, float beta, float *c,
                   int row_c)
{
    (void)state;
    int threads = enter();
    must(dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1, a, row_a, b,
                    row_b, beta, c, row_c));
    leave(threads);
}

static dnnl_memory_desc_t plain_desc(int count, const dnnl_dim_t *dims)
{
    static const dnnl_format_tag_t tags[] = {dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde};
    dnnl_memory_desc_t             desc;
    must(dnnl_memory_desc_init_by_tag(&desc, count, dims, dnnl_f32, tags[count - 1]));
    return desc;
}

/* The one object for this layout, so that equal layouts are equal pointers; NULL for a plain
 * one. */
static const MerLayout *intern(State *state, const dnnl_memory_desc_t *desc)
{
    dnnl_memory_desc_t plain = plain_desc(desc->ndims, desc->dims);
    if (dnnl_memory_desc_equal(desc, &plain)) {
        return NULL;
    }
    for (MerLayout *layout = state->layouts; layout != NULL; layout = layout->next) {
        if (dnnl_memory_desc_equal(&layout->desc, desc)) {
            return layout;
        }
    }
    MerLayout *layout = mer_heap_zeroed(1, sizeof *layout);
    *layout = (MerLayout){state->layouts, *desc, dnnl_memory_desc_get_size(desc)};
    state->layouts = layout;
    state->made++;
    return layout;
}

static int64_t layout_size(const MerLayout *layout)
{
    return (int64_t)((layout->bytes + sizeof(float) - 1) / sizeof(float));
}

/* Takes a finished description apart: one memory object for each argument, filled when it runs. */
static void finish(State *state, Kernel *kernel, dnnl_primitive_desc_t desc, int count,
                   const int *arguments)
{
    assert(count <= MAX_ARGUMENTS);
    must(dnnl_primitive_create(&kernel->primitive, desc));
    kernel->count = count;
    for (int i = 0; i < count; i++) {
        const dnnl_memory_desc_t *memory =
            dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, arguments[i]);
        kernel->arguments[i] = arguments[i];
        kernel->layouts[i] = intern(state, memory);
        must(dnnl_memory_create(&kernel->memories[i], memory, state->engine, DNNL_MEMORY_NONE));
    }
    must(dnnl_primitive_desc_destroy(desc));
}

static void run(State *state, Kernel *kernel, void *const *data)
{
    dnnl_exec_arg_t arguments[MAX_ARGUMENTS];
    int             threads = enter();
    for (int i = 0; i < kernel->count; i++) {
        must(dnnl_memory_set_data_handle_v2(kernel->memories[i], data[i], state->stream));
        arguments[i] = (dnnl_exec_arg_t){kernel->arguments[i], kernel->memories[i]};
    }
    must(dnnl_primitive_execute(kernel->primitive, state->stream, kernel->count, arguments));
    must(dnnl_stream_wait(state->stream));
    leave(threads);
}

typedef void (*Maker)(State *state, Kernel *kernel);

static Kernel *kernel_for(State *state, const Key *key, Maker make)
{
    uint64_t hash = mer_hash_bytes(MER_HASH_START, key, sizeof *key);
    Kernel **bucket = &state->kernels[hash % BUCKETS];
    for (Kernel *kernel = *bucket; kernel != NULL; kernel = kernel->next) {
        if (kernel->hash == hash && memcmp(&kernel->key, key, sizeof *key) == 0) {
            return kernel;
        }
    }
    Kernel *kernel = mer_heap_zeroed(1, sizeof *kernel);
    int     threads = enter();
    kernel->next = *bucket;
    kernel->hash = hash;
    memcpy(&kernel->key, key, sizeof *key);
    make(state, kernel);
    leave(threads);
    *bucket = kernel;
    state->made++;
    return kernel;
}

static dnnl_memory_desc_t any_desc(int count, const int *shape)
{
    dnnl_dims_t        dims;
    dnnl_memory_desc_t desc;
    for (int i = 0; i < count; i++) {
        dims[i] = shape[i];
    }
    must(dnnl_memory_desc_init_by_tag(&desc, count, dims, dnnl_f32, dnnl_format_tag_any));
    return desc;
}

/* A given layout, or plain images where it is NULL. */
static dnnl_memory_desc_t image_desc(const int shape[4], const MerLayout *layout)
{
    dnnl_dims_t dims = {shape[0], shape[1], shape[2], shape[3]};
    return layout != NULL ? layout->desc : plain_desc(4, dims);
}

static void make_reorder(State *state, Kernel *kernel)
{
    const Key            *key = &kernel->key;
    const MerLayout      *known = key->from != NULL ? key->from : key->to;
    dnnl_memory_desc_t    plain = plain_desc(known->desc.ndims, known->desc.dims);
    dnnl_primitive_desc_t desc;
    must(dnnl_reorder_primitive_desc_create(
        &desc, key->from != NULL ? &key->from->desc : &plain, state->engine,
        key->to != NULL ? &key->to->desc : &plain, state->engine, NULL));
    finish(state, kernel, desc, 2, (int[]){DNNL_ARG_FROM, DNNL_ARG_TO});
}

static void reorder(MerTape *tape, const MerTensor *shape, const MerLayout *from,
                    const float *source, const MerLayout *to, float *target)
{
    (void)shape;
    State *state = tape->backend_state;
    Key    key;
    memset(&key, 0, sizeof key);
    key.kind = REORDER;
    key.from = from;
    key.to = to;
    run(state, kernel_for(state, &key, make_reorder), (void *[]){(void *)source, target});
}

typedef struct ConvDescs {
    dnnl_memory_desc_t x, w, bias, y;
    dnnl_dims_t        stride, dilation, padding;
} ConvDescs;

static ConvDescs conv_descs(const Key *key)
{
    ConvDescs d;
    int       grouped[5] = {key->groups, key->w[0] / key->groups, key->w[1], key->w[2], key->w[3]};
    d.x = any_desc(4, key->x);
    d.w = key->groups > 1 ? any_desc(5, grouped) : any_desc(4, key->w);
    d.bias = any_desc(1, key->w);
    d.y = any_desc(4, key->y);
    for (int i = 0; i < 2; i++) {
        d.stride[i] = key->stride[i];
        d.dilation[i] = key->dilation[i] - 1;
        d.padding[i] = key->padding[i];
    }
    return d;
}

static dnnl_primitive_desc_t conv_forward_desc(const State *state, const Key *key)
{
    ConvDescs               d = conv_descs(key);
    dnnl_convolution_desc_t op;
    dnnl_primitive_desc_t   desc;
    must(dnnl_dilated_convolution_forward_desc_init(
        &op, dnnl_forward_training, dnnl_convolution_direct, &d.x, &d.w,
        key->has_bias ? &d.bias : NULL, &d.y, d.stride, d.dilation, d.padding, d.padding));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, NULL));
    return desc;
}

static void make_conv(State *state, Kernel *kernel)
{
    int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_BIAS};
    finish(state, kernel, conv_forward_desc(state, &kernel->key), kernel->key.has_bias ? 4 : 3,
           arguments);
}

static void make_conv_data(State *state, Kernel *kernel)
{
    ConvDescs               d = conv_descs(&kernel->key);
    dnnl_convolution_desc_t op;
    dnnl_primitive_desc_t   desc, hint = conv_forward_desc(state, &kernel->key);
    must(dnnl_dilated_convolution_backward_data_desc_init(&op, dnnl_convolution_direct, &d.x, &d.w,
                                                          &d.y, d.stride, d.dilation, d.padding,
                                                          d.padding));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, hint));
    must(dnnl_primitive_desc_destroy(hint));
    finish(state, kernel, desc, 3, (int[]){DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC});
}

static void make_conv_weights(State *state, Kernel *kernel)
{
    const Key              *key = &kernel->key;
    ConvDescs               d = conv_descs(key);
    dnnl_convolution_desc_t op;
    dnnl_primitive_desc_t   desc, hint = conv_forward_desc(state, key);
    int arguments[] = {DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS, DNNL_ARG_DIFF_BIAS};
    must(dnnl_dilated_convolution_backward_weights_desc_init(
        &op, dnnl_convolution_direct, &d.x, &d.w, key->has_bias ? &d.bias : NULL, &d.y, d.stride,
        d.dilation, d.padding, d.padding));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, hint));
    must(dnnl_primitive_desc_destroy(hint));
    finish(state, kernel, desc, key->has_bias ? 4 : 3, arguments);
}

static Key conv_key(const MerConvolution *conv, const MerTensor *x, const MerTensor *weight,
                    const MerTensor *bias, const MerTensor *y)
{
    Key key;
    memset(&key, 0, sizeof key);
    key.has_bias = bias != NULL;
    key.groups = conv->groups;
    for (int i = 0; i < 4; i++) {
        key.x[i] = x->shape[i];
        key.w[i] = weight->shape[i];
        key.y[i] = y->shape[i];
    }
    for (int i = 0; i < 2; i++) {
        key.stride[i] = conv->stride[i];
        key.padding[i] = conv->padding[i];
        key.dilation[i] = conv->dilation[i];
    }
    return key;
}

static float *room_for(MerTape *tape, const MerTensor *tensor, const MerLayout *layout)
{
    return mer_workspace_floats(tape->workspace,
                                mer_form_size(tape, tensor, (MerBlocked){NULL, layout}));
}

static void set_data(MerTensor *y, float *data, const MerLayout *layout)
{
    if (layout == NULL) {
        y->data = data;
    } else {
        y->blocked = (MerBlocked){data, layout};
    }
}

/* The tensor's numbers in a layout; the first blocked form of a tensor of this step is kept with
 * it. */
static float *data_in(MerTape *tape, MerTensor *x, const MerLayout *layout)
{
    if (layout == NULL) {
        return mer_tensor_data(tape, x);
    }
    float *data = mer_form_convert(tape, x, mer_data_form(x), layout);
    if (x->blocked.data == NULL && !x->is_parameter) {
        x->blocked = (MerBlocked){data, layout};
    }
    return data;
}

static void conv_forward(MerTape *tape, const MerConvolution *conv, MerTensor *x, MerTensor *weight,
                         MerTensor *bias, MerTensor *y)
{
    State *state = tape->backend_state;
    Key    key = conv_key(conv, x, weight, bias, y);
    key.kind = CONV;
    Kernel *kernel = kernel_for(state, &key, make_conv);
    float  *out = room_for(tape, y, kernel->layouts[2]);
    run(state, kernel,
        (void *[]){data_in(tape, x, kernel->layouts[0]), data_in(tape, weight, kernel->layouts[1]),
                   out, bias != NULL ? mer_tensor_data(tape, bias) : NULL});
    set_data(y, out, kernel->layouts[2]);
}

static float *grad_in(MerTape *tape, MerTensor *y, const MerLayout *layout)
{
    return mer_form_convert(tape, y, mer_grad_form(y), layout);
}

static void conv_backward(MerTape *tape, const MerConvolution *conv, MerTensor *x,
                          MerTensor *weight, MerTensor *bias, MerTensor *y)
{
    State *state = tape->backend_state;
    Key    key = conv_key(conv, x, weight, bias, y);
    bool   has_bias = bias != NULL && bias->needs_grad;
    if (weight->needs_grad || has_bias) {
        key.kind = CONV_WEIGHTS;
        Kernel *kernel = kernel_for(state, &key, make_conv_weights);
        float  *dw = room_for(tape, weight, kernel->layouts[2]);
        float  *db = bias != NULL ? mer_workspace_floats(tape->workspace, bias->size) : NULL;
        run(state, kernel,
            (void *[]){data_in(tape, x, kernel->layouts[0]), grad_in(tape, y, kernel->layouts[1]),
                       dw, db});
        if (weight->needs_grad) {
            mer_grad_give(tape, weight, (MerBlocked){dw, kernel->layouts[2]}, false);
        }
        if (has_bias) {
            mer_grad_give_plain(tape, bias, db, false);
        }
    }
    if (x->needs_grad) {
        key.kind = CONV_DATA;
        key.has_bias = 0;
        Kernel *kernel = kernel_for(state, &key, make_conv_data);
        float  *dx = room_for(tape, x, kernel->layouts[2]);
        run(state, kernel,
            (void *[]){grad_in(tape, y, kernel->layouts[0]),
                       data_in(tape, weight, kernel->layouts[1]), dx});
        mer_grad_give(tape, x, (MerBlocked){dx, kernel->layouts[2]}, false);
    }
}

static dnnl_primitive_desc_t norm_forward_desc(const State *state, const Key *key)
{
    unsigned flags =
        dnnl_use_scale | dnnl_use_shift | (key->is_training ? 0 : dnnl_use_global_stats);
    dnnl_memory_desc_t              data = image_desc(key->x, key->from);
    dnnl_batch_normalization_desc_t op;
    dnnl_primitive_desc_t           desc;
    must(dnnl_batch_normalization_forward_desc_init(&op, dnnl_forward_training, &data, key->epsilon,
                                                    flags));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, NULL));
    return desc;
}

static void make_norm(State *state, Kernel *kernel)
{
    int arguments[] = {DNNL_ARG_SRC,      DNNL_ARG_DST,   DNNL_ARG_MEAN,
                       DNNL_ARG_VARIANCE, DNNL_ARG_SCALE, DNNL_ARG_SHIFT};
    finish(state, kernel, norm_forward_desc(state, &kernel->key), 6, arguments);
}

static void make_norm_back(State *state, Kernel *kernel)
{
    const Key *key = &kernel->key;
    unsigned   flags =
        dnnl_use_scale | dnnl_use_shift | (key->is_training ? 0 : dnnl_use_global_stats);
    dnnl_memory_desc_t              data = image_desc(key->x, key->from);
    dnnl_batch_normalization_desc_t op;
    dnnl_primitive_desc_t           desc, hint = norm_forward_desc(state, key);
    must(dnnl_batch_normalization_backward_desc_init(&op, dnnl_backward, &data, &data, key->epsilon,
                                                     flags));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, hint));
    must(dnnl_primitive_desc_destroy(hint));
    /* The shift is not needed to compute anything, but execution fails without it. */
    finish(state, kernel, desc, 9,
           (int[]){DNNL_ARG_SRC, DNNL_ARG_MEAN, DNNL_ARG_VARIANCE, DNNL_ARG_DIFF_DST,
                   DNNL_ARG_SCALE, DNNL_ARG_SHIFT, DNNL_ARG_DIFF_SRC, DNNL_ARG_DIFF_SCALE,
                   DNNL_ARG_DIFF_SHIFT});
}

static Key norm_key(const MerBatchNorm *norm, const MerTensor *x, Kind kind)
{
    Key key;
    memset(&key, 0, sizeof key);
    key.kind = kind;
    key.is_training = norm->is_training;
    key.epsilon = norm->epsilon;
    key.from = x->blocked.data != NULL ? x->blocked.layout : NULL;
    memcpy(key.x, x->shape, sizeof key.x);
    return key;
}

static void batch_norm(MerTape *tape, const MerBatchNorm *norm, const MerBatchNormTensors *t)
{
    State  *state = tape->backend_state;
    Key     key = norm_key(norm, t->x, NORM);
    Kernel *kernel = kernel_for(state, &key, make_norm);
    float  *out = room_for(tape, t->y, key.from);
    run(state, kernel,
        (void *[]){mer_data_form(t->x).data, out, t->mean, t->variance, t->scale->data,
                   t->shift->data});
    set_data(t->y, out, key.from);
}

static void batch_norm_backward(MerTape *tape, const MerBatchNorm *norm,
                                const MerBatchNormTensors *t)
{
    State *state = tape->backend_state;
    Key    key = norm_key(norm, t->x, NORM_BACK);
    key.from =
        t->y->blocked.data != NULL ? t->y->blocked.layout : NULL; /* as in the forward pass */
    Kernel *kernel = kernel_for(state, &key, make_norm_back);
    float  *dx = room_for(tape, t->x, key.from);
    float  *dscale = mer_workspace_floats(tape->workspace, t->scale->size);
    float  *dshift = mer_workspace_floats(tape->workspace, t->shift->size);
    float  *x = mer_form_convert(tape, t->x, mer_data_form(t->x), key.from);
    run(state, kernel,
        (void *[]){x, t->mean, t->variance, grad_in(tape, t->y, key.from), t->scale->data,
                   t->shift->data, dx, dscale, dshift});
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

static dnnl_alg_kind_t pool_algorithm(const Key *key)
{
    return key->pool == MER_POOL_MAX ? dnnl_pooling_max : dnnl_pooling_avg_exclude_padding;
}

static dnnl_primitive_desc_t pool_forward_desc(const State *state, const Key *key)
{
    dnnl_memory_desc_t  x = image_desc(key->x, key->from), y = any_desc(4, key->y);
    dnnl_dims_t         stride = {key->stride[0], key->stride[1]}, window = {key->w[2], key->w[3]};
    dnnl_dims_t         padding = {key->padding[0], key->padding[1]};
    dnnl_pooling_desc_t op;
    dnnl_primitive_desc_t desc;
    must(dnnl_pooling_forward_desc_init(&op, dnnl_forward_training, pool_algorithm(key), &x, &y,
                                        stride, window, padding, padding));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, NULL));
    return desc;
}

static void make_pool(State *state, Kernel *kernel)
{
    finish(state, kernel, pool_forward_desc(state, &kernel->key),
           kernel->key.pool == MER_POOL_MAX ? 3 : 2,
           (int[]){DNNL_ARG_SRC, DNNL_ARG_DST, DNNL_ARG_WORKSPACE});
}

static void make_pool_back(State *state, Kernel *kernel)
{
    const Key            *key = &kernel->key;
    dnnl_primitive_desc_t desc, hint = pool_forward_desc(state, key);
    dnnl_memory_desc_t    dx = image_desc(key->x, key->from);
    dnnl_memory_desc_t    dy = *dnnl_primitive_desc_query_md(hint, dnnl_query_dst_md, 0);
    dnnl_dims_t         stride = {key->stride[0], key->stride[1]}, window = {key->w[2], key->w[3]};
    dnnl_dims_t         padding = {key->padding[0], key->padding[1]};
    dnnl_pooling_desc_t op;
    must(dnnl_pooling_backward_desc_init(&op, pool_algorithm(key), &dx, &dy, stride, window,
                                         padding, padding));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, hint));
    must(dnnl_primitive_desc_destroy(hint));
    finish(state, kernel, desc, key->pool == MER_POOL_MAX ? 3 : 2,
           (int[]){DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_SRC, DNNL_ARG_WORKSPACE});
}

typedef struct Choice { /* what a pooling keeps for its backward pass */
    const MerLayout *layout;
    float           *workspace;
} Choice;

static Key pool_key(const MerPool *pool, const MerTensor *x, const MerTensor *y,
                    const MerLayout *layout)
{
    Key key;
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

static void pool_forward(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y,
                         void **choice)
{
    State     *state = tape->backend_state;
    MerBlocked form = mer_data_form(x);
    Key        key = pool_key(pool, x, y, form.layout);
    key.kind = POOL;
    Kernel *kernel = kernel_for(state, &key, make_pool);
    float  *out = room_for(tape, y, kernel->layouts[1]);
    bool    is_max = pool->kind == MER_POOL_MAX;
    float  *workspace = NULL;
    if (is_max) {
        const dnnl_memory_desc_t *desc;
        must(dnnl_memory_get_memory_desc(kernel->memories[2], &desc));
        workspace = mer_workspace_alloc(tape->workspace, dnnl_memory_desc_get_size(desc));
    }
    run(state, kernel, (void *[]){form.data, out, workspace});
    set_data(y, out, kernel->layouts[1]);
    if (choice != NULL) {
        Choice *kept = *choice = mer_workspace_alloc(tape->workspace, sizeof *kept);
        *kept = (Choice){form.layout, workspace};
    }
}

static void pool_backward(MerTape *tape, const MerPool *pool, MerTensor *x, MerTensor *y,
                          void *choice)
{
    State        *state = tape->backend_state;
    const Choice *kept = choice;
    Key           key = pool_key(pool, x, y, kept->layout);
    key.kind = POOL_BACK;
    Kernel *kernel = kernel_for(state, &key, make_pool_back);
    float  *dx = room_for(tape, x, kernel->layouts[1]);
    run(state, kernel, (void *[]){grad_in(tape, y, kernel->layouts[0]), dx, kept->workspace});
    mer_grad_give(tape, x, (MerBlocked){dx, kernel->layouts[1]}, false);
}

/* One layer, one direction. x is (T, B, in): key->x = {T, B, in, H}. */
typedef struct LstmDescs {
    dnnl_rnn_direction_t direction;
    dnnl_memory_desc_t   x, state, w, u, bias, y, dw, du;
} LstmDescs;

static LstmDescs lstm_descs(const Key *key)
{
    int         steps = key->x[0], batch = key->x[1], in = key->x[2], hidden = key->x[3];
    dnnl_dims_t x = {steps, batch, in}, y = {steps, batch, hidden}, state = {1, 1, batch, hidden};
    dnnl_dims_t w = {1, 1, in, 4, hidden}, u = {1, 1, hidden, 4, hidden}, bias = {1, 1, 4, hidden};
    LstmDescs   d = {.x = plain_desc(3, x),
                     .state = plain_desc(4, state),
                     .bias = plain_desc(4, bias),
                     .y = plain_desc(3, y),
                     .dw = plain_desc(5, w),
                     .du = plain_desc(5, u)};
    d.direction =
        key->is_backwards ? dnnl_unidirectional_right2left : dnnl_unidirectional_left2right;
    must(dnnl_memory_desc_init_by_tag(&d.w, 5, w, dnnl_f32, dnnl_format_tag_any));
    must(dnnl_memory_desc_init_by_tag(&d.u, 5, u, dnnl_f32, dnnl_format_tag_any));
    return d;
}

static dnnl_primitive_desc_t lstm_forward_desc(const State *state, const Key *key)
{
    LstmDescs             d = lstm_descs(key);
    dnnl_rnn_desc_t       op;
    dnnl_primitive_desc_t desc;
    must(dnnl_lstm_forward_desc_init(&op, dnnl_forward_training, d.direction, &d.x, &d.state,
                                     &d.state, &d.w, &d.u, &d.bias, &d.y, &d.state, &d.state,
                                     dnnl_rnn_flags_undef));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, NULL));
    return desc;
}

#define LSTM_ARGUMENTS                                                                             \
    DNNL_ARG_SRC_LAYER, DNNL_ARG_SRC_ITER, DNNL_ARG_SRC_ITER_C, DNNL_ARG_WEIGHTS_LAYER,            \
        DNNL_ARG_WEIGHTS_ITER, DNNL_ARG_BIAS, DNNL_ARG_DST_LAYER, DNNL_ARG_DST_ITER,               \
        DNNL_ARG_DST_ITER_C, DNNL_ARG_WORKSPACE

static void make_lstm(State *state, Kernel *kernel)
{
    finish(state, kernel, lstm_forward_desc(state, &kernel->key), 10, (int[]){LSTM_ARGUMENTS});
}

static void make_lstm_back(State *state, Kernel *kernel)
{
    LstmDescs             d = lstm_descs(&kernel->key);
    dnnl_rnn_desc_t       op;
    dnnl_primitive_desc_t desc, hint = lstm_forward_desc(state, &kernel->key);
    must(dnnl_lstm_backward_desc_init(&op, dnnl_backward, d.direction, &d.x, &d.state, &d.state,
                                      &d.w, &d.u, &d.bias, &d.y, &d.state, &d.state, &d.x, &d.state,
                                      &d.state, &d.dw, &d.du, &d.bias, &d.y, &d.state, &d.state,
                                      dnnl_rnn_flags_undef));
    must(dnnl_primitive_desc_create(&desc, &op, NULL, state->engine, hint));
    must(dnnl_primitive_desc_destroy(hint));
    finish(state, kernel, desc, 19,
           (int[]){LSTM_ARGUMENTS, DNNL_ARG_DIFF_DST_LAYER, DNNL_ARG_DIFF_DST_ITER,
                   DNNL_ARG_DIFF_DST_ITER_C, DNNL_ARG_DIFF_SRC_LAYER, DNNL_ARG_DIFF_SRC_ITER,
                   DNNL_ARG_DIFF_SRC_ITER_C, DNNL_ARG_DIFF_WEIGHTS_LAYER,
                   DNNL_ARG_DIFF_WEIGHTS_ITER, DNNL_ARG_DIFF_BIAS});
}

static Key lstm_key(const MerLstmTensors *t, Kind kind)
{
    Key key;
    memset(&key, 0, sizeof key);
    key.kind = kind;
    key.is_backwards = t->is_backwards;
    memcpy(key.x, t->x->shape, 3 * sizeof *key.x);
    key.x[3] = t->h->shape[1];
    return key;
}

typedef struct LstmKept {
    float *bias, *last_h;
    void  *workspace;
} LstmKept;

static float *zeros_for(MerTape *tape, int64_t count)
{
    float *zeros = mer_workspace_floats(tape->workspace, count);
    memset(zeros, 0, (size_t)count * sizeof *zeros);
    return zeros;
}

static void lstm_forward(MerTape *tape, MerLstmTensors *t)
{
    State                    *state = tape->backend_state;
    Key                       key = lstm_key(t, LSTM);
    Kernel                   *kernel = kernel_for(state, &key, make_lstm);
    LstmKept                 *kept = t->kept = mer_workspace_alloc(tape->workspace, sizeof *kept);
    const dnnl_memory_desc_t *workspace;
    must(dnnl_memory_get_memory_desc(kernel->memories[9], &workspace));
    kept->workspace = mer_workspace_alloc(tape->workspace, dnnl_memory_desc_get_size(workspace));
    kept->last_h = mer_workspace_floats(tape->workspace, t->h->size);
    kept->bias = mer_workspace_floats(tape->workspace, t->bias->size);
    for (int i = 0; i < t->bias->size; i++) {
        bool is_forget = i / t->h->shape[1] == 1;
        kept->bias[i] = t->bias->data[i] + (is_forget ? t->forget : 0);
    }
    run(state, kernel,
        (void *[]){mer_tensor_data(tape, t->x), mer_tensor_data(tape, t->h),
                   mer_tensor_data(tape, t->c), data_in(tape, t->w, kernel->layouts[3]),
                   data_in(tape, t->u, kernel->layouts[4]), kept->bias, t->y->data, kept->last_h,
                   t->last_c->data, kept->workspace});
}

static void lstm_backward(MerTape *tape, const MerLstmTensors *t)
{
    State          *state = tape->backend_state;
    const LstmKept *kept = t->kept;
    Key             key = lstm_key(t, LSTM_BACK);
    Kernel         *kernel = kernel_for(state, &key, make_lstm_back);
    MerTensor      *inputs[6] = {t->x, t->h, t->c, t->w, t->u, t->bias};
    float          *grads[6];
    for (int i = 0; i < 6; i++) { /* gradients of weights are added to what is there */
        grads[i] = zeros_for(tape, inputs[i]->size);
    }
    run(state, kernel,
        (void *[]){t->x->data, t->h->data, t->c->data, data_in(tape, t->w, kernel->layouts[3]),
                   data_in(tape, t->u, kernel->layouts[4]), kept->bias, t->y->data, kept->last_h,
                   t->last_c->data, kept->workspace, mer_tensor_grad(tape, t->y),
                   zeros_for(tape, t->h->size), mer_tensor_grad(tape, t->last_c), grads[0],
                   grads[1], grads[2], grads[3], grads[4], grads[5]});
    for (int i = 0; i < 6; i++) {
        if (inputs[i]->needs_grad) {
            mer_grad_give_plain(tape, inputs[i], grads[i], false);
        }
    }
}

const MerBackend mer_backend_dnnl = {
    .name = "dnnl",
    .open = open_dnnl,
    .close = close_dnnl,
    .allocations = allocations,
    .matmul = matmul,
    .layout_size = layout_size,
    .reorder = reorder,
    .conv = conv_forward,
    .conv_backward = conv_backward,
    .batch_norm = batch_norm,
    .batch_norm_backward = batch_norm_backward,
    .pool = pool_forward,
    .pool_backward = pool_backward,
    .lstm = lstm_forward,
    .lstm_backward = lstm_backward,
};
