/* The tape: ops in the order they were done, and gradients on the way back. */
#include "tensor/tape.h"

#include "base/memory.h"
#include "mercator/threads.h"

#include <assert.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* All that follows the name and the base are pointers to functions: what is NULL is the base's. */
static MerBackend complete(const MerBackend *backend)
{
    typedef void (*Slot)(void);
    MerBackend all = *backend;
    for (const MerBackend *base = all.base; base != NULL; base = base->base) {
        for (size_t at = offsetof(MerBackend, open); at < sizeof all; at += sizeof(Slot)) {
            Slot slot;
            memcpy(&slot, (const char *)&all + at, sizeof slot);
            if (slot == NULL) {
                memcpy((char *)&all + at, (const char *)base + at, sizeof slot);
            }
        }
    }
    return all;
}

MerTape *mer_tape_new(const MerBackend *backend, MerPool *pool)
{
    MerTape *tape = mer_heap_zeroed(1, sizeof *tape);
    tape->backend = complete(backend);
    tape->pool = pool;
    tape->workspace = mer_workspace_new();
    tape->is_recording = true;
    tape->backend_state = tape->backend.open != NULL ? tape->backend.open(tape) : NULL;
    return tape;
}

void mer_tape_free(MerTape *tape)
{
    if (tape != NULL) {
        if (tape->backend_state != NULL) {
            tape->backend.close(tape->backend_state);
        }
        mer_workspace_free(tape->workspace);
        free(tape);
    }
}

void mer_tape_fail(MerTape *tape, MerStatus status, const char *format, ...)
{
    if (tape->error.status == MER_OK) {
        char    text[sizeof tape->error.message];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        mer_error_set(&tape->error, status, "%s", text);
    }
}

MerStatus mer_tape_status(const MerTape *tape, MerError *error)
{
    if (tape->error.status != MER_OK && error != NULL) {
        *error = tape->error;
    }
    return tape->error.status;
}

int mer_tape_threads(const MerTape *tape)
{
    return tape->pool != NULL ? mer_pool_threads(tape->pool) : 1;
}

void mer_tape_parts(MerTape *tape, int count, MerPart work, void *context)
{
    if (tape->pool != NULL) {
        mer_pool_run(tape->pool, count, work, context);
        return;
    }
    for (int i = 0; i < count; i++) {
        work(context, i, 0);
    }
}

typedef struct Split {
    int64_t  count, grain;
    MerRange work;
    void    *context;
} Split;

static void do_part(void *context, int part, int worker)
{
    (void)worker;
    const Split *split = context;
    int64_t      first = part * split->grain, end = first + split->grain;
    split->work(split->context, first, end < split->count ? end : split->count);
}

void mer_tape_split(MerTape *tape, int64_t count, int64_t grain, MerRange work, void *context)
{
    Split split = {count, grain > 0 ? grain : 1, work, context};
    if (count <= split.grain) {
        work(context, 0, count); /* most are small: no detour */
    } else {
        mer_tape_parts(tape, (int)((count + split.grain - 1) / split.grain), do_part, &split);
    }
}

void mer_tape_reset(MerTape *tape)
{
    mer_workspace_reset(tape->workspace);
    tape->last = NULL;
}

void mer_tape_record(MerTape *tape, bool is_on)
{
    tape->is_recording = is_on;
}

MerWorkspace *mer_tape_workspace(MerTape *tape)
{
    return tape->workspace;
}

int64_t mer_tape_allocations(const MerTape *tape)
{
    int64_t blocks = mer_workspace_blocks(tape->workspace);
    return tape->backend_state != NULL ? blocks + tape->backend.allocations(tape->backend_state)
                                       : blocks;
}

void mer_tensor_form(MerTensor *tensor, int rank, const int *shape)
{
    assert(rank >= 1 && rank <= MER_TENSOR_RANK);
    tensor->rank = rank;
    tensor->size = 1;
    for (int i = 0; i < MER_TENSOR_RANK; i++) {
        tensor->shape[i] = i < rank ? shape[i] : 1;
        assert(tensor->shape[i] >= 0);
        tensor->size *= tensor->shape[i];
    }
}

/* Without memory for the numbers: an op that works on blocked forms brings its own. */
static MerTensor *new_tensor(MerTape *tape, int rank, const int *shape)
{
    MerTensor *tensor = mer_workspace_alloc(tape->workspace, sizeof *tensor);
    *tensor = (MerTensor){0};
    mer_tensor_form(tensor, rank, shape);
    return tensor;
}

MerTensor *mer_tape_tensor(MerTape *tape, int rank, const int *shape)
{
    MerTensor *tensor = new_tensor(tape, rank, shape);
    tensor->data = mer_workspace_floats(tape->workspace, tensor->size);
    return tensor;
}

MerTensor *mer_tape_image(MerTape *tape, const int shape[4])
{
    return new_tensor(tape, 4, shape);
}

MerTensor *mer_tape_input(MerTape *tape, int rank, const int *shape, const float *values)
{
    MerTensor *tensor = new_tensor(tape, rank, shape);
    tensor->data = (float *)values; /* read only: no gradient flows into a constant */
    return tensor;
}

MerTensor *mer_tape_scalar(MerTape *tape, float value)
{
    MerTensor *tensor = mer_tape_tensor(tape, 1, (int[]){1});
    tensor->data[0] = value;
    return tensor;
}

MerAlike mer_tape_alike(MerTape *tape, MerTensor *x, bool keeps_layout)
{
    MerAlike alike = {new_tensor(tape, x->rank, x->shape), mer_data_form(x), {0}};
    if (!keeps_layout) {
        alike.from = (MerBlocked){mer_tensor_data(tape, x), NULL};
    }
    alike.to = (MerBlocked){mer_form_memory(tape, x, alike.from.layout), alike.from.layout};
    mer_data_set(alike.y, alike.to);
    return alike;
}

MerNode *mer_tape_add(MerTape *tape, MerBackward backward, MerTensor *output, MerTensor *a,
                      MerTensor *b, MerTensor *c, const void *extra, size_t size)
{
    bool is_needed = (a && a->needs_grad) || (b && b->needs_grad) || (c && c->needs_grad);
    if (!is_needed || !tape->is_recording) {
        return NULL;
    }
    MerNode *node = mer_workspace_alloc(tape->workspace, sizeof *node);
    *node = (MerNode){tape->last, backward, output, NULL, {a, b, c, NULL}, NULL};
    if (extra != NULL) {
        node->extra = mer_workspace_alloc(tape->workspace, size);
        memcpy(node->extra, extra, size);
    }
    output->needs_grad = true;
    tape->last = node;
    return node;
}

int64_t mer_form_size(const MerTensor *tensor, MerBlocked form)
{
    if (form.layout == NULL) {
        return tensor->size;
    }
    return form.layout->is_image ? tensor->shape[0] * form.layout->size : form.layout->size;
}

float *mer_form_memory(MerTape *tape, const MerTensor *tensor, const MerLayout *layout)
{
    return mer_workspace_floats(tape->workspace, mer_form_size(tensor, (MerBlocked){NULL, layout}));
}

float *mer_form_convert(MerTape *tape, const MerTensor *tensor, MerBlocked form,
                        const MerLayout *to)
{
    if (form.layout == to) {
        return form.data;
    }
    float *target = mer_form_memory(tape, tensor, to);
    tape->backend.reorder(tape, tensor, form.layout, form.data, to, target);
    return target;
}

MerBlocked mer_data_form(const MerTensor *tensor)
{
    return tensor->blocked.data != NULL ? tensor->blocked : (MerBlocked){tensor->data, NULL};
}

void mer_data_set(MerTensor *tensor, MerBlocked form)
{
    if (form.layout == NULL) {
        tensor->data = form.data;
    } else {
        tensor->blocked = form;
    }
}

MerBlocked mer_grad_form(const MerTensor *tensor)
{
    bool is_blocked = tensor->blocked_grad.data != NULL;
    return is_blocked ? tensor->blocked_grad : (MerBlocked){tensor->grad, NULL};
}

float *mer_tensor_data(MerTape *tape, MerTensor *tensor)
{
    if (tensor->data == NULL) {
        tensor->data = mer_form_convert(tape, tensor, tensor->blocked, NULL);
    }
    return tensor->data;
}

/* The plain form becomes the only one. */
static void make_grad_plain(MerTape *tape, MerTensor *tensor)
{
    if (tensor->blocked_grad.data != NULL) {
        tensor->grad = mer_form_convert(tape, tensor, tensor->blocked_grad, NULL);
        tensor->blocked_grad = (MerBlocked){0};
        tensor->is_grad_lent = false;
    }
}

float *mer_grad_begin(MerTape *tape, MerTensor *tensor, bool *is_fresh)
{
    *is_fresh = !tensor->has_grad;
    if (*is_fresh) {
        if (tensor->grad == NULL) {
            tensor->grad = mer_workspace_floats(tape->workspace, tensor->size);
        }
        tensor->has_grad = true;
        return tensor->grad;
    }
    make_grad_plain(tape, tensor);
    if (tensor->is_grad_lent) {
        float *copy = mer_workspace_floats(tape->workspace, tensor->size);
        memcpy(copy, tensor->grad, (size_t)tensor->size * sizeof *copy);
        tensor->grad = copy;
        tensor->is_grad_lent = false;
    }
    return tensor->grad;
}

float *mer_grad_zeroed(MerTape *tape, MerTensor *tensor)
{
    bool   is_fresh;
    float *grad = mer_grad_begin(tape, tensor, &is_fresh);
    if (is_fresh) {
        memset(grad, 0, (size_t)tensor->size * sizeof *grad);
    }
    return grad;
}

float *mer_grad_wanted(MerTape *tape, MerTensor *tensor)
{
    return tensor != NULL && tensor->needs_grad ? mer_grad_zeroed(tape, tensor) : NULL;
}

float *mer_tensor_grad(MerTape *tape, MerTensor *tensor)
{
    if (!tensor->has_grad) {
        return mer_grad_zeroed(tape, tensor);
    }
    make_grad_plain(tape, tensor);
    return tensor->grad;
}

/* What has come in this layout is kept; parameters keep their own memory, and theirs is plain. */
static void keep_grad(MerTensor *tensor, MerBlocked form, bool is_lent)
{
    tensor->has_grad = true;
    tensor->is_grad_lent = is_lent;
    tensor->grad = form.layout == NULL ? form.data : NULL;
    tensor->blocked_grad = form.layout == NULL ? (MerBlocked){0} : form;
}

void mer_add_scaled(MerTape *tape, int64_t count, float factor, const float *from, float *to,
                    bool is_fresh)
{
    MerPointwise op = {.kind = MER_POINTWISE_AFFINE,
                       .p = factor,
                       .count = count,
                       .x = from,
                       .y = (float *)from, /* not read */
                       .dy = from,
                       .dx = to,
                       .is_fresh = is_fresh};
    tape->backend.pointwise_backward(tape, &op); /* the gradient of p x is p dy */
}

void mer_grad_add(MerTape *tape, MerTensor *tensor, float factor, const float *more)
{
    bool   is_fresh;
    float *grad = mer_grad_begin(tape, tensor, &is_fresh);
    mer_add_scaled(tape, tensor->size, factor, more, grad, is_fresh);
}

void mer_grad_give(MerTape *tape, MerTensor *tensor, MerBlocked form, bool is_lent)
{
    if (tensor->is_parameter) {
        mer_grad_add(tape, tensor, 1, mer_form_convert(tape, tensor, form, NULL));
        return;
    }
    if (!tensor->has_grad) {
        keep_grad(tensor, form, is_lent);
        return;
    }
    MerBlocked   old = mer_grad_form(tensor);
    const float *more = mer_form_convert(tape, tensor, form, old.layout);
    int64_t      size = mer_form_size(tensor, old);
    if (tensor->is_grad_lent) {
        MerPair sum = {.is_same = true, .count = size, .x = {old.data, more}};
        sum.y = old.data = mer_form_memory(tape, tensor, old.layout);
        tape->backend.pair(tape, &sum);
    } else {
        mer_add_scaled(tape, size, 1, more, old.data, false);
    }
    keep_grad(tensor, old, false);
}

void mer_grad_give_plain(MerTape *tape, MerTensor *tensor, float *grad, bool is_lent)
{
    mer_grad_give(tape, tensor, (MerBlocked){grad, NULL}, is_lent);
}

MerStatus mer_tape_backward(MerTape *tape, MerTensor *loss, MerError *error)
{
    assert(loss->size == 1);
    if (loss->needs_grad) {
        mer_grad_zeroed(tape, loss)[0] += 1;
    }
    for (const MerNode *node = tape->last; node != NULL && tape->error.status == MER_OK;
         node = node->previous) {
        if (node->output->has_grad || (node->second != NULL && node->second->has_grad)) {
            node->backward(tape, node);
        }
    }
    return mer_tape_status(tape, error);
}
