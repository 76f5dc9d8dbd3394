/* Tensors in the layouts that kernels ask for. */
#include "tensor/dnnl_inside.h"

#include <string.h>

static void make_reorder(MerDnnl *state, MerDnnlKernel *kernel)
{
    const MerDnnlKey     *key = &kernel->key;
    const MerLayout      *known = key->from != NULL ? key->from : key->to;
    dnnl_memory_desc_t    plain = mer_dnnl_plain_desc(known->desc.ndims, known->desc.dims);
    dnnl_primitive_desc_t desc;
    mer_dnnl_must(dnnl_reorder_primitive_desc_create(
        &desc, key->from != NULL ? &key->from->desc : &plain, state->engine,
        key->to != NULL ? &key->to->desc : &plain, state->engine, NULL));
    mer_dnnl_finish(state, kernel, desc, 2, (int[]){DNNL_ARG_FROM, DNNL_ARG_TO});
}

void mer_dnnl_reorder(MerTape *tape, const MerTensor *shape, const MerLayout *from,
                      const float *source, const MerLayout *to, float *target)
{
    (void)shape;
    MerDnnl   *state = tape->backend_state;
    MerDnnlKey key;
    memset(&key, 0, sizeof key);
    key.kind = MER_DNNL_REORDER;
    key.from = from;
    key.to = to;
    mer_dnnl_run(state, mer_dnnl_kernel(state, &key, make_reorder),
                 (void *[]){(void *)source, target});
}

float *mer_dnnl_capacity(MerTape *tape, const MerTensor *tensor, const MerLayout *layout)
{
    return mer_workspace_floats(tape->workspace,
                                mer_form_size(tape, tensor, (MerBlocked){NULL, layout}));
}

void mer_dnnl_set_data(MerTensor *y, float *data, const MerLayout *layout)
{
    if (layout == NULL) {
        y->data = data;
    } else {
        y->blocked = (MerBlocked){data, layout};
    }
}

float *mer_dnnl_data(MerTape *tape, MerTensor *x, const MerLayout *layout)
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

float *mer_dnnl_grad(MerTape *tape, MerTensor *y, const MerLayout *layout)
{
    return mer_form_convert(tape, y, mer_grad_form(y), layout);
}
