/* The backend on oneDNN 2.x, which this file and the dnnl_*.c beside it alone know: products,
 * convolutions and LSTMs; the rest is plain. Convolutions choose their layouts, and tensors stay
 * blocked between them. oneDNN itself works on the calling thread; what is done in parallel are parts
 * that the shapes alone decide, so that results do not depend on how many threads there are. */
#include "tensor/dnnl_inside.h"

static dnnl_status_t start(MerDnnl *state)
{
    MER_DNNL_TRY(dnnl_engine_create(&state->engine, dnnl_cpu, 0));
    MER_DNNL_TRY(dnnl_primitive_attr_create(&state->attributes));
    MER_DNNL_TRY(
        dnnl_primitive_attr_set_scratchpad_mode(state->attributes, dnnl_scratchpad_mode_user));
    for (int w = 0; w < state->worker_count; w++) {
        MER_DNNL_TRY(dnnl_stream_create(&state->workers[w].stream, state->engine,
                                        dnnl_stream_default_flags));
    }
    return dnnl_success;
}

static void *open_dnnl(MerTape *tape)
{
    MerArena *arena = mer_arena_new();
    MerDnnl  *state = MER_NEW(arena, MerDnnl);
    state->arena = arena;
    state->worker_count = mer_tape_threads(tape);
    state->workers = MER_ARRAY(arena, MerDnnlWorker, state->worker_count);
    dnnl_status_t status = start(state);
    if (status != dnnl_success) {
        mer_dnnl_fail(tape, status, "CPU engine");
    }
    return state;
}

static int64_t allocations(const void *state)
{
    return ((const MerDnnl *)state)->made;
}

static int multiply(const MerProduct *p)
{
    int           threads = mer_dnnl_enter();
    dnnl_status_t status =
        dnnl_sgemm(p->a.is_transposed ? 'T' : 'N', p->b.is_transposed ? 'T' : 'N', p->m, p->n, p->k,
                   1, p->a.data, p->a.row, p->b.data, p->b.row, p->beta, p->c.data, p->c.row);
    mer_dnnl_leave(threads);
    return (int)status;
}

static void product(MerTape *tape, const MerProduct *p)
{
    int status = mer_product_split(tape, p, multiply);
    if (status != 0) {
        mer_dnnl_fail(tape, (dnnl_status_t)status, "product");
    }
}

const MerBackend mer_backend_dnnl = {
    .name = "dnnl",
    .base = &mer_backend_plain,
    .open = open_dnnl,
    .close = mer_dnnl_close,
    .allocations = allocations,
    .layout = mer_dnnl_image_layout,
    .reorder = mer_dnnl_reorder,
    .product = product,
    .conv = mer_dnnl_conv,
    .conv_backward = mer_dnnl_conv_backward,
    .lstm = mer_dnnl_lstm,
    .lstm_backward = mer_dnnl_lstm_backward,
};
