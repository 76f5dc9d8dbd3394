/* Kernels of oneDNN by what they depend on, each made once and kept, and the layouts they chose. */
#include "tensor/dnnl_inside.h"

#include "base/memory.h"
#include "base/text.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* oneDNN's threads come from OpenMP's runtime; declared here because not every compiler ships
 * omp.h. */
int  omp_get_max_threads(void);
void omp_set_num_threads(int count);

void mer_dnnl_must(dnnl_status_t status)
{
    if (status == dnnl_out_of_memory) {
        mer_out_of_memory(0);
    }
    if (status != dnnl_success) {
        fprintf(stderr, "oneDNN: status %d\n", (int)status);
        abort();
    }
}

int mer_dnnl_enter(void)
{
    int threads = omp_get_max_threads();
    if (threads != 1) {
        omp_set_num_threads(1);
    }
    return threads;
}

void mer_dnnl_leave(int threads)
{
    if (threads != 1) {
        omp_set_num_threads(threads);
    }
}

dnnl_memory_desc_t mer_dnnl_plain_desc(int count, const dnnl_dim_t *dims)
{
    static const dnnl_format_tag_t tags[] = {dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde};
    dnnl_memory_desc_t             desc;
    mer_dnnl_must(dnnl_memory_desc_init_by_tag(&desc, count, dims, dnnl_f32, tags[count - 1]));
    return desc;
}

/* The one object for this layout, so that equal layouts are equal pointers; NULL for a plain
 * one. */
static const MerLayout *intern(MerDnnl *state, const dnnl_memory_desc_t *desc)
{
    dnnl_memory_desc_t plain = mer_dnnl_plain_desc(desc->ndims, desc->dims);
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

int64_t mer_dnnl_layout_size(const MerLayout *layout)
{
    return (int64_t)((layout->bytes + sizeof(float) - 1) / sizeof(float));
}

void mer_dnnl_finish(MerDnnl *state, MerDnnlKernel *kernel, dnnl_primitive_desc_t desc, int count,
                     const int *arguments)
{
    assert(count <= MER_DNNL_ARGUMENTS);
    mer_dnnl_must(dnnl_primitive_create(&kernel->primitive, desc));
    kernel->count = count;
    for (int i = 0; i < count; i++) {
        const dnnl_memory_desc_t *memory =
            dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, arguments[i]);
        kernel->arguments[i] = arguments[i];
        kernel->layouts[i] = intern(state, memory);
        mer_dnnl_must(
            dnnl_memory_create(&kernel->memories[i], memory, state->engine, DNNL_MEMORY_NONE));
    }
    mer_dnnl_must(dnnl_primitive_desc_destroy(desc));
}

void mer_dnnl_run(MerDnnl *state, MerDnnlKernel *kernel, void *const *data)
{
    dnnl_exec_arg_t arguments[MER_DNNL_ARGUMENTS];
    int             threads = mer_dnnl_enter();
    for (int i = 0; i < kernel->count; i++) {
        mer_dnnl_must(dnnl_memory_set_data_handle_v2(kernel->memories[i], data[i], state->stream));
        arguments[i] = (dnnl_exec_arg_t){kernel->arguments[i], kernel->memories[i]};
    }
    mer_dnnl_must(
        dnnl_primitive_execute(kernel->primitive, state->stream, kernel->count, arguments));
    mer_dnnl_must(dnnl_stream_wait(state->stream));
    mer_dnnl_leave(threads);
}

MerDnnlKernel *mer_dnnl_kernel(MerDnnl *state, const MerDnnlKey *key, MerDnnlMaker make)
{
    uint64_t        hash = mer_hash_bytes(MER_HASH_START, key, sizeof *key);
    MerDnnlKernel **bucket = &state->kernels[hash % MER_DNNL_BUCKETS];
    for (MerDnnlKernel *kernel = *bucket; kernel != NULL; kernel = kernel->next) {
        if (kernel->hash == hash && memcmp(&kernel->key, key, sizeof *key) == 0) {
            return kernel;
        }
    }
    MerDnnlKernel *kernel = mer_heap_zeroed(1, sizeof *kernel);
    int            threads = mer_dnnl_enter();
    kernel->next = *bucket;
    kernel->hash = hash;
    memcpy(&kernel->key, key, sizeof *key);
    make(state, kernel);
    mer_dnnl_leave(threads);
    *bucket = kernel;
    state->made++;
    return kernel;
}

dnnl_memory_desc_t mer_dnnl_any_desc(int count, const int *shape)
{
    dnnl_dims_t        dims;
    dnnl_memory_desc_t desc;
    for (int i = 0; i < count; i++) {
        dims[i] = shape[i];
    }
    mer_dnnl_must(dnnl_memory_desc_init_by_tag(&desc, count, dims, dnnl_f32, dnnl_format_tag_any));
    return desc;
}

dnnl_memory_desc_t mer_dnnl_image_desc(const int shape[4], const MerLayout *layout)
{
    dnnl_dims_t dims = {shape[0], shape[1], shape[2], shape[3]};
    return layout != NULL ? layout->desc : mer_dnnl_plain_desc(4, dims);
}
