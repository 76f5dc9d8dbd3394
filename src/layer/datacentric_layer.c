/* Layers as the data-centric model sees them: their dims, which tensors those index, and how many
 * multiplications they need. */
#include "layer/datacentric_levels.h"

#include <stdarg.h>
#include <stdio.h>

enum {
    C = MER_DATACENTRIC_C,
    G = MER_DATACENTRIC_G,
    K = MER_DATACENTRIC_K,
    M = MER_DATACENTRIC_M,
    N = MER_DATACENTRIC_N,
    R = MER_DATACENTRIC_R,
    S = MER_DATACENTRIC_S,
    X = MER_DATACENTRIC_X,
    Y = MER_DATACENTRIC_Y,
    END = -1
};

/* Dims of input, filter, output in MAESTRO's order: the last spatial one speaks for a tensor. */
typedef struct Coupling {
    int dims[MER_DATACENTRIC_TENSORS][7];
} Coupling;

static const Coupling couplings[MER_DATACENTRIC_TYPE_COUNT] = {
    [MER_DATACENTRIC_CONV] = {{{N, C, Y, X, END}, {K, C, R, S, END}, {N, K, Y, X, END}}},
    [MER_DATACENTRIC_DSCONV] = {{{N, C, Y, X, END}, {C, R, S, END}, {N, C, Y, X, END}}},
    [MER_DATACENTRIC_NGCONV] = {{{N, G, C, Y, X, END},
                                 {G, K, C, R, S, END},
                                 {N, G, K, C, Y, X, END}}},
    [MER_DATACENTRIC_GEMM] = {{{M, K, END}, {K, N, END}, {M, N, END}}},
};
/* MAESTRO indexes grouped outputs by C as well and so never reduces them; strict does. */
static const Coupling strict_grouped = {
    {{N, G, C, Y, X, END}, {G, K, C, R, S, END}, {N, G, K, Y, X, END}}};

static const char *const type_names[] = {
#define X(id, name) name,
    MER_DATACENTRIC_TYPE_MAP(X)
#undef X
};

static const char *const status_names[] = {
#define X(id, name) name,
    MER_DATACENTRIC_STATUS_MAP(X)
#undef X
};

const char *mer_datacentric_type_name(MerDatacentricType type)
{
    return type_names[type];
}

const char *mer_datacentric_status_name(MerDatacentricStatus status)
{
    return status_names[status];
}

bool mer_datacentric_refuse(MerDatacentricResult *result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(result->reason, sizeof result->reason, format, arguments);
    va_end(arguments);
    result->status = MER_DATACENTRIC_INFEASIBLE;
    return false;
}

unsigned mer_datacentric_layer_dims(const MerDatacentricLayer *layer)
{
    const Coupling *coupling = &couplings[layer->type];
    unsigned        dims = 0;

    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++)
        for (const int *dim = coupling->dims[t]; *dim != END; dim++)
            dims |= 1u << *dim;
    if (layer->type != MER_DATACENTRIC_GEMM && layer->dims[N] <= 1)
        dims &= ~(1u << N);
    return dims;
}

int64_t mer_datacentric_macs(const MerDatacentricLayer *layer)
{
    unsigned dims = mer_datacentric_layer_dims(layer);
    int64_t  macs = 1;

    for (int dim = 0; dim < MER_DATACENTRIC_DIMS; dim++) {
        int64_t size = layer->dims[dim];

        if (!((dims >> dim) & 1))
            continue;
        if (dim == Y)
            size = (size - layer->dims[R]) / layer->stride_y + 1;
        if (dim == X)
            size = (size - layer->dims[S]) / layer->stride_x + 1;
        if (__builtin_mul_overflow(macs, size, &macs))
            return INT64_MAX;
    }
    return macs;
}

bool mer_datacentric_check_layer(const MerDatacentricLayer *layer, unsigned dims,
                                 MerDatacentricResult *result)
{
    for (int dim = 0; dim < MER_DATACENTRIC_DIMS; dim++) {
        if (((dims >> dim) & 1) && (layer->dims[dim] < 1 || layer->dims[dim] > INT32_MAX))
            return mer_datacentric_refuse(
                result, "encoding: the layer's %c is %lld, expected 1 .. 2^31-1",
                MER_DATACENTRIC_LETTERS[dim], (long long)layer->dims[dim]);
    }
    if (!((dims >> R) & 1))
        return true;
    if (layer->dims[Y] < layer->dims[R] || layer->dims[X] < layer->dims[S])
        return mer_datacentric_refuse(
            result, "encoding: a filter of %lld x %lld on an input of %lld x %lld",
            (long long)layer->dims[R], (long long)layer->dims[S], (long long)layer->dims[Y],
            (long long)layer->dims[X]);
    if (layer->stride_y < 1 || layer->stride_x < 1)
        return mer_datacentric_refuse(result, "encoding: stride %lld x %lld, expected 1 or more",
                                      (long long)layer->stride_y, (long long)layer->stride_x);
    return true;
}

void mer_datacentric_couple(const MerDatacentricInput *input, MerDatacentricLevel *level)
{
    bool            is_reduced = input->strict && input->layer.type == MER_DATACENTRIC_NGCONV;
    const Coupling *coupling = is_reduced ? &strict_grouped : &couplings[input->layer.type];

    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++) {
        level->last_spatial[t] = -1;
        for (const int *dim = coupling->dims[t]; *dim != END; dim++) {
            MerDatacentricRow *row = mer_datacentric_row(level, *dim);

            if (!row)
                continue;
            row->tensors |= 1u << t;
            if (row->spatial)
                level->last_spatial[t] = level->row_of[*dim];
        }
    }
}
