/* The backend on oneDNN 2.x, which this file and the dnnl_*.c beside it alone know. Convolutions
 * choose their layouts, batch norm and pooling follow what they are given, and tensors stay blocked
 * between them. Everything runs on the calling thread, so that results do not depend on how many
 * there are. */
#include "tensor/dnnl_inside.h"

#include "base/memory.h"

#include <stdlib.h>

static void *open_dnnl(void)
{
    MerDnnl *state = mer_heap_zeroed(1, sizeof *state);
    mer_dnnl_must(dnnl_engine_create(&state->engine, dnnl_cpu, 0));
    mer_dnnl_must(dnnl_stream_create(&state->stream, state->engine, dnnl_stream_default_flags));
    return state;
}

static void close_dnnl(void *given)
{
    MerDnnl *state = given;
    for (int b = 0; b < MER_DNNL_BUCKETS; b++) {
        for (MerDnnlKernel *kernel = state->kernels[b]; kernel != NULL;) {
            MerDnnlKernel *next = kernel->next;
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
    return ((const MerDnnl *)state)->made;
}

static void matmul(void *state, bool transpose_a, bool transpose_b, int m, int n, int k,
                   const float *a, int row_a, const float *b, int row_b, float beta, float *c,
                   int row_c)
{
    (void)state;
    int threads = mer_dnnl_enter();
    mer_dnnl_must(dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, 1, a, row_a,
                             b, row_b, beta, c, row_c));
    mer_dnnl_leave(threads);
}

const MerBackend mer_backend_dnnl = {
    .name = "dnnl",
    .open = open_dnnl,
    .close = close_dnnl,
    .allocations = allocations,
    .matmul = matmul,
    .layout_size = mer_dnnl_layout_size,
    .reorder = mer_dnnl_reorder,
    .conv = mer_dnnl_conv,
    .conv_backward = mer_dnnl_conv_backward,
    .batch_norm = mer_dnnl_batch_norm,
    .batch_norm_backward = mer_dnnl_batch_norm_backward,
    .pool = mer_dnnl_pool,
    .pool_backward = mer_dnnl_pool_backward,
    .lstm = mer_dnnl_lstm,
    .lstm_backward = mer_dnnl_lstm_backward,
};
