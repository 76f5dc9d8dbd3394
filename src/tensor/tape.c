/* The tape: ops in the order they were done, and gradients on the way back. */
#include "tensor/tape.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

MerTape *mer_tape_new(const MerBackend *backend)
{
    MerTape *tape = mer_heap_zeroed(1, sizeof *tape);
    tape->backend = backend;
    tape->backend_state = backend->open();
    tape->workspace = mer_workspace_new();
    tape->is_recording = true;
    return tape;
}

void mer_tape_free(MerTape *tape)
{
    if (tape != NULL) {
        tape->backend->close(tape->backend_state);
        mer_workspace_free(tape->workspace);
        free(tape);
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
    return mer_workspace_blocks(tape->workspace) + tape->backend->allocations(tape->backend_state);
}

/* Without memory for the numbers: an op that works on blocked forms brings its own. */
static MerTensor *new_tensor(MerTape *tape, int rank, const int *shape)
{
    assert(rank >= 1 && rank <= MER_MAX_RANK);
    MerTensor *tensor = mer_workspace_alloc(tape->workspace, sizeof *tensor);
    *tensor = (MerTensor){.rank = rank, .size = 1};
    for (int i = 0; i < MER_MAX_RANK; i++) {
        tensor->shape[i] = i < rank ? shape[i] : 1;
        assert(tensor->shape[i] >= 0);
        tensor->size *= tensor->shape[i];
    }
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

MerNode *mer_tape_add(MerTape *tape, MerBackward backward, MerTensor *output, MerTensor *a,
                      MerTensor *b, MerTensor *c)
{
    bool is_needed = (a && a->needs_grad) || (b && b->needs_grad) || (c && c->needs_grad);
    if (!is_needed || !tape->is_recording) {
        return NULL;
    }
    MerNode *node = mer_workspace_alloc(tape->workspace, sizeof *node);
    *node = (MerNode){tape->last, backward, output, NULL, {a, b, c, NULL}, NULL};
    output->needs_grad = true;
    tape->last = node;
    return node;
}

float *mer_form_convert(MerTape *tape, const MerTensor *tensor, MerBlocked form,
                        const MerLayout *to)
{
    if (form.layout == to) {
        return form.data;
    }
    int64_t size = to == NULL ? tensor->size : tape->backend->layout_size(to);
    float  *target = mer_workspace_floats(tape->workspace, size);
    tape->backend->reorder(tape, tensor, form.layout, form.data, to, target);
    return target;
}

int64_t mer_form_size(const MerTape *tape, const MerTensor *tensor, MerBlocked form)
{
    return form.layout == NULL ? tensor->size : tape->backend->layout_size(form.layout);
}

MerBlocked mer_data_form(const MerTensor *tensor)
{
    return tensor->blocked.data != NULL ? tensor->blocked : (MerBlocked){tensor->data, NULL};
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

void mer_grad_give(MerTape *tape, MerTensor *tensor, MerBlocked form, bool is_lent)
{
    if (tensor->is_parameter) {
        bool         is_fresh;
        float       *grad = mer_grad_begin(tape, tensor, &is_fresh);
        const float *more = mer_form_convert(tape, tensor, form, NULL);
        for (int64_t i = 0; i < tensor->size; i++) {
            grad[i] = is_fresh ? more[i] : grad[i] + more[i];
        }
        return;
    }
    if (!tensor->has_grad) {
        keep_grad(tensor, form, is_lent);
        return;
    }
    MerBlocked   old = mer_grad_form(tensor);
    int64_t      size = mer_form_size(tape, tensor, old);
    const float *more = mer_form_convert(tape, tensor, form, old.layout);
    float *sum = tensor->is_grad_lent ? mer_workspace_floats(tape->workspace, size) : old.data;
    for (int64_t i = 0; i < size; i++) {
        sum[i] = old.data[i] + more[i];
    }
    keep_grad(tensor, (MerBlocked){sum, old.layout}, false);
}

void mer_grad_give_plain(MerTape *tape, MerTensor *tensor, float *grad, bool is_lent)
{
    mer_grad_give(tape, tensor, (MerBlocked){grad, NULL}, is_lent);
}

void mer_tape_backward(MerTape *tape, MerTensor *loss)
{
    assert(loss->size == 1);
    if (!loss->needs_grad) {
        return;
    }
    mer_grad_zeroed(tape, loss)[0] += 1;
    for (const MerNode *node = tape->last; node != NULL; node = node->previous) {
        if (node->output->has_grad || (node->second != NULL && node->second->has_grad)) {
            node->backward(tape, node);
        }
    }
}
