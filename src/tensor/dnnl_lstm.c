/* A layer of LSTM cells over a whole sequence. */
#include "tensor/dnnl_inside.h"

#include <string.h>

/* One layer, one direction. x is (T, B, in): key->x = {T, B, in, H}. */
typedef struct LstmDescs {
    dnnl_rnn_direction_t direction;
    dnnl_memory_desc_t   x, state, w, u, bias, y, dw, du;
} LstmDescs;

static dnnl_status_t lstm_descs(const MerDnnlKey *key, LstmDescs *d)
{
    int         steps = key->x[0], batch = key->x[1], in = key->x[2], hidden = key->x[3];
    dnnl_dims_t x = {steps, batch, in}, y = {steps, batch, hidden}, state = {1, 1, batch, hidden};
    dnnl_dims_t w = {1, 1, in, 4, hidden}, u = {1, 1, hidden, 4, hidden}, bias = {1, 1, 4, hidden};
    d->direction =
        key->is_backwards ? dnnl_unidirectional_right2left : dnnl_unidirectional_left2right;
    MER_DNNL_TRY(mer_dnnl_plain_desc(3, x, &d->x));
    MER_DNNL_TRY(mer_dnnl_plain_desc(4, state, &d->state));
    MER_DNNL_TRY(mer_dnnl_plain_desc(4, bias, &d->bias));
    MER_DNNL_TRY(mer_dnnl_plain_desc(3, y, &d->y));
    MER_DNNL_TRY(mer_dnnl_plain_desc(5, w, &d->dw));
    MER_DNNL_TRY(mer_dnnl_plain_desc(5, u, &d->du));
    MER_DNNL_TRY(dnnl_memory_desc_init_by_tag(&d->w, 5, w, dnnl_f32, dnnl_format_tag_any));
    return dnnl_memory_desc_init_by_tag(&d->u, 5, u, dnnl_f32, dnnl_format_tag_any);
}

static dnnl_status_t make_lstm(const MerDnnl *state, const MerDnnlKey *key, MerDnnlKernel *kernel,
                               dnnl_primitive_desc_t *desc)
{
    static const int arguments[MER_DNNL_ARGUMENTS] = {
        DNNL_ARG_SRC_LAYER,       DNNL_ARG_SRC_ITER,           DNNL_ARG_SRC_ITER_C,
        DNNL_ARG_WEIGHTS_LAYER,   DNNL_ARG_WEIGHTS_ITER,       DNNL_ARG_BIAS,
        DNNL_ARG_DST_LAYER,       DNNL_ARG_DST_ITER,           DNNL_ARG_DST_ITER_C,
        DNNL_ARG_WORKSPACE,       DNNL_ARG_DIFF_DST_LAYER,     DNNL_ARG_DIFF_DST_ITER,
        DNNL_ARG_DIFF_DST_ITER_C, DNNL_ARG_DIFF_SRC_LAYER,     DNNL_ARG_DIFF_SRC_ITER,
        DNNL_ARG_DIFF_SRC_ITER_C, DNNL_ARG_DIFF_WEIGHTS_LAYER, DNNL_ARG_DIFF_WEIGHTS_ITER,
        DNNL_ARG_DIFF_BIAS};
    LstmDescs       d;
    dnnl_rnn_desc_t forward, back;
    bool            is_back = key->kind == MER_DNNL_LSTM_BACK;
    MER_DNNL_TRY(lstm_descs(key, &d));
    MER_DNNL_TRY(dnnl_lstm_forward_desc_init(&forward, dnnl_forward_training, d.direction, &d.x,
                                             &d.state, &d.state, &d.w, &d.u, &d.bias, &d.y,
                                             &d.state, &d.state, dnnl_rnn_flags_undef));
    MER_DNNL_TRY(dnnl_lstm_backward_desc_init(
        &back, dnnl_backward, d.direction, &d.x, &d.state, &d.state, &d.w, &d.u, &d.bias, &d.y,
        &d.state, &d.state, &d.x, &d.state, &d.state, &d.dw, &d.du, &d.bias, &d.y, &d.state,
        &d.state, dnnl_rnn_flags_undef));
    kernel->count = is_back ? 19 : 10;
    memcpy(kernel->arguments, arguments, sizeof arguments);
    return mer_dnnl_describe(state, &forward, is_back ? &back : NULL, desc);
}

static MerDnnlKey lstm_key(const MerLstmTensors *t, MerDnnlKind kind)
{
    MerDnnlKey key;
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

void mer_dnnl_lstm(MerTape *tape, MerLstmTensors *t)
{
    MerDnnlKey     key = lstm_key(t, MER_DNNL_LSTM);
    MerDnnlKernel *kernel = mer_dnnl_kernel(tape, &key, make_lstm);
    if (kernel == NULL) {
        memset(t->y->data, 0, (size_t)t->y->size * sizeof(float));
        memset(t->last_c->data, 0, (size_t)t->last_c->size * sizeof(float));
        return;
    }
    LstmKept *kept = t->kept = mer_workspace_alloc(tape->workspace, sizeof *kept);
    kept->workspace = mer_workspace_alloc(tape->workspace, kernel->bytes[9]);
    kept->last_h = mer_workspace_floats(tape->workspace, t->h->size);
    kept->bias = mer_workspace_floats(tape->workspace, t->bias->size);
    for (int i = 0; i < t->bias->size; i++) {
        bool is_forget = i / t->h->shape[1] == 1;
        kept->bias[i] = t->bias->data[i] + (is_forget ? t->forget : 0);
    }
    mer_dnnl_run(tape, kernel, 1,
                 (void *[]){mer_tensor_data(tape, t->x), mer_tensor_data(tape, t->h),
                            mer_tensor_data(tape, t->c),
                            mer_dnnl_data(tape, t->w, kernel->layouts[3]),
                            mer_dnnl_data(tape, t->u, kernel->layouts[4]), kept->bias, t->y->data,
                            kept->last_h, t->last_c->data, kept->workspace},
                 NULL);
}

void mer_dnnl_lstm_backward(MerTape *tape, const MerLstmTensors *t)
{
    const LstmKept *kept = t->kept;
    MerDnnlKey      key = lstm_key(t, MER_DNNL_LSTM_BACK);
    MerDnnlKernel  *kernel = mer_dnnl_kernel(tape, &key, make_lstm);
    MerTensor      *inputs[6] = {t->x, t->h, t->c, t->w, t->u, t->bias};
    float          *grads[6];
    if (kernel == NULL) {
        return;
    }
    for (int i = 0; i < 6; i++) { /* gradients of weights are added to what is there */
        grads[i] = mer_workspace_zeros(tape->workspace, inputs[i]->size);
    }
    mer_dnnl_run(
        tape, kernel, 1,
        (void *[]){
            t->x->data, t->h->data, t->c->data, mer_dnnl_data(tape, t->w, kernel->layouts[3]),
            mer_dnnl_data(tape, t->u, kernel->layouts[4]), kept->bias, t->y->data, kept->last_h,
            t->last_c->data, kept->workspace, mer_tensor_grad(tape, t->y),
            mer_workspace_zeros(tape->workspace, t->h->size), mer_tensor_grad(tape, t->last_c),
            grads[0], grads[1], grads[2], grads[3], grads[4], grads[5]},
        NULL);
    for (int i = 0; i < 6; i++) {
        if (inputs[i]->needs_grad) {
            mer_grad_give_plain(tape, inputs[i], grads[i], false);
        }
    }
}
