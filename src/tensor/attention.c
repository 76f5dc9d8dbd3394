/* Multi-head attention with a cached segment (Vaswani et al., 2017; Dai et al., ACL 2019). */
#include "tensor/layers.h"

#include <assert.h>
#include <math.h>

MerAttention mer_attention(MerParameters *parameters, const char *name, int width, int heads,
                           MerRng *rng)
{
    assert(heads >= 1 && width % heads == 0);
    MerAttention             attention = {.heads = heads, .width = width};
    MerLinearLayer          *layers[4] = {&attention.query, &attention.key, &attention.value,
                                          &attention.output};
    static const char *const parts[4] = {"query", "key", "value", "output"};
    for (int i = 0; i < 4; i++) {
        MerPartName full = mer_part_name(name, parts[i]);
        *layers[i] = mer_linear_layer(parameters, full.text, width, width, rng);
    }
    return attention;
}

/* (B, T, heads x d) -> (B x heads, T, d) */
static MerTensor *split_heads(MerTape *tape, const MerAttention *attention, MerTensor *x)
{
    int        batch = x->shape[0], steps = x->shape[1], heads = attention->heads;
    int        d = attention->width / heads;
    MerTensor *y = mer_tensor_reshape(tape, x, 4, (int[]){batch, steps, heads, d});
    y = mer_tensor_transpose(tape, y, (int[]){0, 2, 1, 3});
    return mer_tensor_reshape(tape, y, 3, (int[]){batch * heads, steps, d});
}

static MerTensor *join_heads(MerTape *tape, const MerAttention *attention, MerTensor *x)
{
    int heads = attention->heads, batch = x->shape[0] / heads, steps = x->shape[1], d = x->shape[2];
    MerTensor *y = mer_tensor_reshape(tape, x, 4, (int[]){batch, heads, steps, d});
    y = mer_tensor_transpose(tape, y, (int[]){0, 2, 1, 3});
    return mer_tensor_reshape(tape, y, 3, (int[]){batch, steps, heads * d});
}

MerTensor *mer_attention_run(MerTape *tape, const MerAttention *attention, MerTensor *x,
                             MerTensor *cache, MerTensor *mask)
{
    assert(x->rank == 3 && x->shape[2] == attention->width);
    MerTensor *seen = x;
    if (cache != NULL) {
        MerTensor *both[2] = {mer_tensor_stop(tape, cache), x};
        seen = mer_tensor_concat(tape, 2, both, 1);
    }
    float      scale = 1 / sqrtf((float)(attention->width / attention->heads));
    MerTensor *q = mer_linear_run(tape, &attention->query, x, MER_LINEAR);
    MerTensor *k = mer_linear_run(tape, &attention->key, seen, MER_LINEAR);
    MerTensor *v = mer_linear_run(tape, &attention->value, seen, MER_LINEAR);
    q = split_heads(tape, attention, mer_tensor_affine(tape, q, scale, 0));
    k = split_heads(tape, attention, k);
    v = split_heads(tape, attention, v);
    MerTensor *scores = mer_tensor_matmul_with(tape, q, false, k, true);
    if (mask != NULL) {
        scores = mer_tensor_add(tape, scores, mask);
    }
    MerTensor *mixed = mer_tensor_matmul(tape, mer_tensor_softmax(tape, scores), v);
    return mer_linear_run(tape, &attention->output, join_heads(tape, attention, mixed), MER_LINEAR);
}
