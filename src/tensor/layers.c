/* Linear, multi-layer and graph layers. */
#include "tensor/layers.h"

#include <assert.h>

MerPartName mer_part_name(const char *name, const char *part)
{
    MerPartName full;
    snprintf(full.text, sizeof full.text, "%.140s.%.50s", name, part);
    return full;
}

static MerTensor *add(MerParameters *parameters, const char *name, const char *part, int rank,
                      const int *shape)
{
    return mer_parameters_add(parameters, mer_part_name(name, part).text, rank, shape);
}

MerLinearLayer mer_linear_layer(MerParameters *parameters, const char *name, int in, int out,
                                MerRng *rng)
{
    MerLinearLayer layer;
    layer.w = add(parameters, name, "weight", 2, (int[]){in, out});
    layer.bias = add(parameters, name, "bias", 1, (int[]){out});
    mer_tensor_fill_glorot(layer.w, 1, rng);
    return layer;
}

MerTensor *mer_linear_run(MerTape *tape, const MerLinearLayer *layer, MerTensor *x,
                          MerActivation activation)
{
    return mer_tensor_linear(tape, x, layer->w, layer->bias, activation);
}

MerMlp mer_mlp(MerParameters *parameters, const char *name, int sizes_count, const int *sizes,
               MerActivation activation, MerRng *rng)
{
    MerMlp mlp = {.count = sizes_count - 1, .activation = activation};
    assert(mlp.count >= 1 && mlp.count <= MER_MLP_MAX_LAYERS);
    for (int i = 0; i < mlp.count; i++) {
        char part[16];
        snprintf(part, sizeof part, "%d", i);
        MerPartName full = mer_part_name(name, part);
        mlp.layers[i] = mer_linear_layer(parameters, full.text, sizes[i], sizes[i + 1], rng);
    }
    return mlp;
}

MerTensor *mer_mlp_run(MerTape *tape, const MerMlp *mlp, MerTensor *x)
{
    for (int i = 0; i < mlp->count; i++) {
        x = mer_linear_run(tape, &mlp->layers[i], x,
                           i + 1 < mlp->count ? mlp->activation : MER_LINEAR);
    }
    return x;
}

MerSage mer_sage(MerParameters *parameters, const char *name, int in, int out, MerRng *rng)
{
    MerSage sage;
    sage.pool = mer_linear_layer(parameters, mer_part_name(name, "pool").text, in, in, rng);
    sage.join = mer_linear_layer(parameters, mer_part_name(name, "join").text, 2 * in, out, rng);
    return sage;
}

MerTensor *mer_sage_run(MerTape *tape, const MerSage *sage, MerTensor *x, int edge_count,
                        const int *source, const int *target)
{
    MerTensor *sent = mer_linear_run(tape, &sage->pool, x, MER_RELU);
    MerTensor *along = mer_tensor_gather(tape, sent, edge_count, source);
    MerTensor *most = mer_tensor_scatter_max(tape, along, x->shape[0], target);
    MerTensor *both = mer_tensor_concat(tape, 2, (MerTensor *[]){x, most}, 1);
    return mer_linear_run(tape, &sage->join, both, MER_RELU);
}
