/* Kernels of oneDNN by what they depend on, each made once and kept, and the layouts they chose. */
#include "tensor/dnnl_inside.h"

#include "base/file.h"
#include "base/memory.h"

#include <assert.h>
#include <dnnl_debug.h>
#include <stdlib.h>
#include <string.h>

/* oneDNN's threads come from OpenMP's runtime; declared here because not every compiler ships
 * omp.h. */
int  omp_get_max_threads(void);
void omp_set_num_threads(int count);

void mer_dnnl_fail(MerTape *tape, dnnl_status_t status, const char *what)
{
    mer_tape_fail(tape, status == dnnl_out_of_memory ? MER_NO_MEMORY : MER_UNSUPPORTED,
                  "oneDNN refused a %s: %s", what, dnnl_status2str(status));
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

dnnl_status_t mer_dnnl_plain_desc(int count, const dnnl_dim_t *dims, dnnl_memory_desc_t *desc)
{
    static const dnnl_format_tag_t tags[] = {dnnl_a, dnnl_ab, dnnl_abc, dnnl_abcd, dnnl_abcde};
    return dnnl_memory_desc_init_by_tag(desc, count, dims, dnnl_f32, tags[count - 1]);
}

dnnl_status_t mer_dnnl_any_desc(int count, const int *shape, dnnl_memory_desc_t *desc)
{
    dnnl_dims_t dims;
    for (int i = 0; i < count; i++) {
        dims[i] = shape[i];
    }
    return dnnl_memory_desc_init_by_tag(desc, count, dims, dnnl_f32, dnnl_format_tag_any);
}

/* How many lanes the order (N, C / lanes, Y, X, lanes) has that this layout is in; 0: it is not. */
static int lanes_of(const dnnl_memory_desc_t *desc)
{
    static const dnnl_format_tag_t tags[] = {dnnl_aBcd4b, dnnl_aBcd8b, dnnl_aBcd16b};
    for (int i = 0; i < 3; i++) {
        dnnl_memory_desc_t blocked;
        if (dnnl_memory_desc_init_by_tag(&blocked, 4, desc->dims, dnnl_f32, tags[i]) ==
                dnnl_success &&
            dnnl_memory_desc_equal(desc, &blocked)) {
            return 4 << i;
        }
    }
    return 0;
}

dnnl_status_t mer_dnnl_layout(MerDnnl *state, const dnnl_memory_desc_t *given, bool is_image,
                              const MerLayout **layout)
{
    dnnl_memory_desc_t plain, desc = *given;
    if (is_image) {
        desc.dims[0] = desc.padded_dims[0] = 1;
        size_t images = (size_t)given->dims[0] * dnnl_memory_desc_get_size(&desc);
        if (images != dnnl_memory_desc_get_size(given)) {
            return dnnl_unimplemented; /* the batch would not be the outermost axis */
        }
    }
    *layout = NULL;
    MER_DNNL_TRY(mer_dnnl_plain_desc(desc.ndims, desc.dims, &plain));
    if (dnnl_memory_desc_equal(&desc, &plain)) {
        return dnnl_success;
    }
    for (MerDnnlLayout *known = state->layouts; known != NULL; known = known->next) {
        if (known->base.is_image == is_image && dnnl_memory_desc_equal(&known->desc, &desc)) {
            *layout = &known->base;
            return dnnl_success;
        }
    }
    MerDnnlLayout *fresh = MER_NEW(state->arena, MerDnnlLayout);
    fresh->base.is_image = is_image;
    fresh->base.lanes = is_image ? lanes_of(&desc) : 0;
    fresh->base.size = (int64_t)((dnnl_memory_desc_get_size(&desc) + 3) / sizeof(float));
    fresh->desc = desc;
    fresh->next = state->layouts;
    state->layouts = fresh;
    state->made++;
    *layout = &fresh->base;
    return dnnl_success;
}

dnnl_status_t mer_dnnl_describe(const MerDnnl *state, const_dnnl_op_desc_t forward,
                                const_dnnl_op_desc_t back, dnnl_primitive_desc_t *desc)
{
    dnnl_primitive_desc_t hint = NULL;
    MER_DNNL_TRY(
        dnnl_primitive_desc_create(&hint, forward, state->attributes, state->engine, NULL));
    if (back == NULL) {
        *desc = hint;
        return dnnl_success;
    }
    dnnl_status_t status =
        dnnl_primitive_desc_create(desc, back, state->attributes, state->engine, hint);
    dnnl_primitive_desc_destroy(hint);
    return status;
}

static void close_kernel(MerDnnlKernel *kernel, int workers)
{
    for (int i = 0; kernel->memories != NULL && i < workers * (kernel->count + 1); i++) {
        dnnl_memory_destroy(kernel->memories[i]);
    }
    dnnl_primitive_destroy(kernel->primitive);
}

/* Scratch memory is ours, one for each thread: a library's own would belong to the thread that made
 * the kernel. */
static void reserve_scratch(MerDnnl *state, size_t bytes)
{
    if (bytes <= state->scratch_bytes) {
        return;
    }
    size_t rounded = (bytes + 4095) / 4096 * 4096;
    for (int w = 0; w < state->worker_count; w++) {
        free(state->workers[w].scratch);
        state->workers[w].scratch = aligned_alloc(4096, rounded);
        if (state->workers[w].scratch == NULL) {
            mer_out_of_memory(rounded);
        }
    }
    state->scratch_bytes = rounded;
    state->made++;
}

/* One memory object for each argument and worker, filled when the kernel runs. */
static dnnl_status_t finish(MerDnnl *state, MerDnnlKernel *kernel, dnnl_primitive_desc_t desc)
{
    const dnnl_memory_desc_t *descs[MER_DNNL_ARGUMENTS + 1];
    int                       count = kernel->count;
    assert(count <= MER_DNNL_ARGUMENTS);
    MER_DNNL_TRY(dnnl_primitive_create(&kernel->primitive, desc));
    for (int i = 0; i < count; i++) {
        descs[i] = dnnl_primitive_desc_query_md(desc, dnnl_query_exec_arg_md, kernel->arguments[i]);
        kernel->bytes[i] = dnnl_memory_desc_get_size(descs[i]);
        MER_DNNL_TRY(mer_dnnl_layout(state, descs[i], kernel->is_image[i], &kernel->layouts[i]));
    }
    descs[count] = dnnl_primitive_desc_query_md(desc, dnnl_query_scratchpad_md, 0);
    reserve_scratch(state, dnnl_memory_desc_get_size(descs[count]));
    kernel->memories = MER_ARRAY(state->arena, dnnl_memory_t, state->worker_count * (count + 1));
    for (int i = 0; i < state->worker_count * (count + 1); i++) {
        MER_DNNL_TRY(dnnl_memory_create(&kernel->memories[i], descs[i % (count + 1)], state->engine,
                                        DNNL_MEMORY_NONE));
    }
    return dnnl_success;
}

static const char *name_of(int kind)
{
    static const char *const names[] = {
#define X(id, name) name,
        MER_DNNL_KINDS(X)
#undef X
    };
    return names[kind];
}

MerDnnlKernel *mer_dnnl_kernel(MerTape *tape, const MerDnnlKey *key, MerDnnlMaker make)
{
    MerDnnl *state = tape->backend_state;
    if (tape->error.status != MER_OK) {
        return NULL;
    }
    uint64_t        hash = mer_hash_bytes(MER_HASH_START, key, sizeof *key);
    MerDnnlKernel **bucket = &state->kernels[hash % MER_DNNL_BUCKETS];
    for (MerDnnlKernel *kernel = *bucket; kernel != NULL; kernel = kernel->next) {
        if (kernel->hash == hash && memcmp(&kernel->key, key, sizeof *key) == 0) {
            return kernel;
        }
    }
    MerDnnlKernel        *kernel = MER_NEW(state->arena, MerDnnlKernel);
    dnnl_primitive_desc_t desc = NULL;
    int                   threads = mer_dnnl_enter();
    dnnl_status_t         status = make(state, key, kernel, &desc);
    if (status == dnnl_success) {
        status = finish(state, kernel, desc);
    }
    dnnl_primitive_desc_destroy(desc);
    mer_dnnl_leave(threads);
    if (status != dnnl_success) {
        close_kernel(kernel, state->worker_count);
        mer_dnnl_fail(tape, status, name_of(key->kind));
        return NULL;
    }
    kernel->hash = hash;
    memcpy(&kernel->key, key, sizeof *key);
    kernel->next = *bucket;
    *bucket = kernel;
    state->made++;
    return kernel;
}

int mer_dnnl_chunks(int batch, double work)
{
    enum { CHUNK_WORK = 1 << 20 };
    int most =
        work < (double)MER_DNNL_CHUNKS * CHUNK_WORK ? (int)(work / CHUNK_WORK) : MER_DNNL_CHUNKS;
    for (int chunks = most; chunks > 1; chunks--) {
        if (batch % chunks == 0) {
            return chunks;
        }
    }
    return 1;
}

typedef struct Job {
    const MerDnnl *state;
    MerDnnlKernel *kernel;
    void *const   *data;
    const size_t  *steps;
    dnnl_status_t  status[MER_DNNL_CHUNKS];
} Job;

static dnnl_status_t execute(const Job *job, int chunk, int worker)
{
    const MerDnnlWorker *own = &job->state->workers[worker];
    const MerDnnlKernel *kernel = job->kernel;
    dnnl_memory_t       *memories = kernel->memories + worker * (kernel->count + 1);
    dnnl_exec_arg_t      arguments[MER_DNNL_ARGUMENTS + 1];
    for (int i = 0; i <= kernel->count; i++) {
        bool  is_scratch = i == kernel->count;
        char *data = is_scratch ? own->scratch : job->data[i];
        if (!is_scratch && job->steps != NULL && data != NULL) {
            data += (size_t)chunk * job->steps[i];
        }
        MER_DNNL_TRY(dnnl_memory_set_data_handle_v2(memories[i], data, own->stream));
        arguments[i] =
            (dnnl_exec_arg_t){is_scratch ? DNNL_ARG_SCRATCHPAD : kernel->arguments[i], memories[i]};
    }
    MER_DNNL_TRY(
        dnnl_primitive_execute(kernel->primitive, own->stream, kernel->count + 1, arguments));
    return dnnl_stream_wait(own->stream);
}

static void do_chunk(void *context, int chunk, int worker)
{
    Job *job = context;
    int  threads = mer_dnnl_enter();
    job->status[chunk] = execute(job, chunk, worker);
    mer_dnnl_leave(threads);
}

bool mer_dnnl_run(MerTape *tape, MerDnnlKernel *kernel, int chunks, void *const *data,
                  const size_t *steps)
{
    Job job = {.state = tape->backend_state, .kernel = kernel, .data = data, .steps = steps};
    mer_tape_parts(tape, chunks, do_chunk, &job);
    for (int c = 0; c < chunks; c++) {
        if (job.status[c] != dnnl_success) {
            mer_dnnl_fail(tape, job.status[c], name_of(kernel->key.kind));
            return false;
        }
    }
    return true;
}

void mer_dnnl_close(void *given)
{
    MerDnnl *state = given;
    for (int b = 0; b < MER_DNNL_BUCKETS; b++) {
        for (MerDnnlKernel *kernel = state->kernels[b]; kernel != NULL; kernel = kernel->next) {
            close_kernel(kernel, state->worker_count);
        }
    }
    for (int w = 0; w < state->worker_count; w++) {
        free(state->workers[w].scratch);
        dnnl_stream_destroy(state->workers[w].stream);
    }
    dnnl_primitive_attr_destroy(state->attributes);
    dnnl_engine_destroy(state->engine);
    mer_arena_free(state->arena);
}
