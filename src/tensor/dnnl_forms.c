/* Tensors in the layouts that kernels ask for. */
#include "tensor/dnnl_inside.h"

#include <string.h>

const MerLayout *mer_dnnl_image_layout(MerTape *tape, const int shape[4], int lanes)
{
    dnnl_dims_t        dims = {1, shape[1], shape[2], shape[3]};
    dnnl_format_tag_t  tag = lanes == 16  ? dnnl_aBcd16b
                             : lanes == 8 ? dnnl_aBcd8b
                             : lanes == 4 ? dnnl_aBcd4b
                                          : dnnl_acdb;
    dnnl_memory_desc_t desc;
    const MerLayout   *layout = NULL;
    dnnl_status_t      status = dnnl_memory_desc_init_by_tag(&desc, 4, dims, dnnl_f32, tag);
    if (status == dnnl_success) {
        status = mer_dnnl_layout(tape->backend_state, &desc, true, &layout);
    }
    if (status != dnnl_success) {
        mer_dnnl_fail(tape, status, "layout");
    }
    return layout;
}

/* key->x[0] of a batch's images; weights as they are. */
static dnnl_memory_desc_t desc_of(const MerDnnlKey *key, const MerLayout *layout)
{
    dnnl_memory_desc_t desc = ((const MerDnnlLayout *)layout)->desc;
    if (layout->is_image) {
        desc.dims[0] = desc.padded_dims[0] = key->x[0];
    }
    return desc;
}

static dnnl_status_t make_reorder(const MerDnnl *state, const MerDnnlKey *key,
                                  MerDnnlKernel *kernel, dnnl_primitive_desc_t *desc)
{
    dnnl_memory_desc_t known = desc_of(key, key->from != NULL ? key->from : key->to);
    dnnl_memory_desc_t plain, from, to;
    MER_DNNL_TRY(mer_dnnl_plain_desc(known.ndims, known.dims, &plain));
    from = key->from != NULL ? desc_of(key, key->from) : plain;
    to = key->to != NULL ? desc_of(key, key->to) : plain;
    kernel->count = 2;
    kernel->arguments[0] = DNNL_ARG_FROM;
    kernel->arguments[1] = DNNL_ARG_TO;
    kernel->is_image[0] = kernel->is_image[1] = key->x[0] > 0;
    return dnnl_reorder_primitive_desc_create(desc, &from, state->engine, &to, state->engine,
                                              state->attributes);
}

void mer_dnnl_reorder(MerTape *tape, const MerTensor *shape, const MerLayout *from,
                      const float *source, const MerLayout *to, float *target)
{
    MerDnnlKey key;
    bool       is_image = (from != NULL ? from : to)->is_image;
    int        chunks = is_image ? mer_dnnl_chunks(shape->shape[0], 16.0 * (double)shape->size) : 1;
    memset(&key, 0, sizeof key);
    key.kind = MER_DNNL_REORDER;
    key.from = from;
    key.to = to;
    key.x[0] = is_image ? shape->shape[0] / chunks : 0;
    MerDnnlKernel *kernel = mer_dnnl_kernel(tape, &key, make_reorder);
    if (kernel != NULL) {
        mer_dnnl_run(tape, kernel, chunks, (void *[]){(void *)source, target}, kernel->bytes);
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
