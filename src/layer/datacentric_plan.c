/* Operators and directive plans in the terms of the data-centric model, and its counts as JSON. */
#include "layer/datacentric_plan.h"

#include "layer/datacentric_levels.h"

/* Our dims in the terms of the model. */
static const int convolution[MER_DIM_COUNT] = {
    [MER_DIM_N] = MER_DATACENTRIC_N, [MER_DIM_K] = MER_DATACENTRIC_K,
    [MER_DIM_C] = MER_DATACENTRIC_C, [MER_DIM_Y] = MER_DATACENTRIC_Y,
    [MER_DIM_X] = MER_DATACENTRIC_X, [MER_DIM_R] = MER_DATACENTRIC_R,
    [MER_DIM_S] = MER_DATACENTRIC_S, [MER_DIM_G] = MER_DATACENTRIC_G};
/* GEMM has its own letters; dims it lacks keep theirs and are found idle or refused later. */
static const int product[MER_DIM_COUNT] = {
    [MER_DIM_N] = MER_DATACENTRIC_G, [MER_DIM_K] = MER_DATACENTRIC_N,
    [MER_DIM_C] = MER_DATACENTRIC_K, [MER_DIM_Y] = MER_DATACENTRIC_M,
    [MER_DIM_X] = MER_DATACENTRIC_X, [MER_DIM_R] = MER_DATACENTRIC_R,
    [MER_DIM_S] = MER_DATACENTRIC_S, [MER_DIM_G] = MER_DATACENTRIC_G};

/* Padded input rows (axis 0) or columns (axis 1) of an operator: as it says, if that gives its
 * output size and `exact` is false; else just what its outputs read. Dilation is left out. */
static int64_t input_size(const MerOp *op, int axis, bool exact)
{
    int64_t outputs = op->dims[axis == 0 ? MER_DIM_Y : MER_DIM_X];
    int64_t taps = op->dims[axis == 0 ? MER_DIM_R : MER_DIM_S];
    int64_t image = axis == 0 ? op->input_rows : op->input_columns;
    int64_t padded = image + op->pad[axis] + op->pad[axis + 2];

    if (op->kind == MER_OP_TRANSPOSED)
        return !exact && outputs >= taps ? outputs : outputs + taps - 1;
    if (!exact && image > 0 && op->dilation[axis] == 1 && padded >= taps &&
        (padded - taps) / op->stride[axis] + 1 == outputs)
        return padded;
    return (outputs - 1) * op->stride[axis] + taps;
}

static void fill_convolution(const MerOp *op, bool exact, MerDatacentricLayer *layer)
{
    bool strided = op->kind != MER_OP_TRANSPOSED || !exact;

    for (int dim = 0; dim < MER_DIM_COUNT; dim++)
        layer->dims[convolution[dim]] = op->dims[dim];
    layer->dims[MER_DATACENTRIC_Y] = input_size(op, 0, exact);
    layer->dims[MER_DATACENTRIC_X] = input_size(op, 1, exact);
    layer->stride_y = strided ? op->stride[0] : 1;
    layer->stride_x = strided ? op->stride[1] : 1;
}

MerStatus mer_datacentric_layer(const MerOp *op, bool exact, MerDatacentricLayer *layer,
                                MerError *error)
{
    *layer = (MerDatacentricLayer){.stride_y = 1, .stride_x = 1};
    switch (op->kind) {
    case MER_OP_CONV:
    case MER_OP_TRANSPOSED:
        layer->type = op->dims[MER_DIM_G] > 1 ? MER_DATACENTRIC_NGCONV : MER_DATACENTRIC_CONV;
        break;
    case MER_OP_DEPTHWISE:
        layer->type = MER_DATACENTRIC_DSCONV;
        break;
    case MER_OP_BATCHED_GEMM:
        layer->type = MER_DATACENTRIC_NGCONV;
        break;
    case MER_OP_GEMM:
        layer->type = MER_DATACENTRIC_GEMM;
        layer->dims[MER_DATACENTRIC_M] = op->dims[MER_DIM_Y];
        layer->dims[MER_DATACENTRIC_N] = op->dims[MER_DIM_K];
        layer->dims[MER_DATACENTRIC_K] = op->dims[MER_DIM_C];
        if (op->dims[MER_DIM_N] != 1 || op->dims[MER_DIM_G] != 1)
            return mer_error_set(error, MER_UNSUPPORTED,
                                 "%s: a GEMM with a batch, expected batched-gemm", op->name);
        return MER_OK;
    default:
        return mer_error_set(error, MER_UNSUPPORTED, "%s: the data-centric model has no %s layers",
                             op->name, mer_op_kind_name(op->kind));
    }
    fill_convolution(op, exact, layer);
    return MER_OK;
}

bool mer_datacentric_mapping(const MerDirectivePlan *plan, MerDatacentricType type,
                             MerDatacentricMapping *mapping, MerDatacentricResult *result)
{
    const int *dims = type == MER_DATACENTRIC_GEMM ? product : convolution;

    if (plan->level_count < 1 || plan->level_count > MER_DATACENTRIC_LEVELS)
        return mer_datacentric_refuse(result, "encoding: %d cluster levels, expected 1 .. %d",
                                      plan->level_count, MER_DATACENTRIC_LEVELS);
    mapping->level_count = plan->level_count;
    for (int l = 0; l < plan->level_count; l++) {
        const MerDirective *from = &plan->directives[plan->start[l]];
        int                 count = plan->start[l + 1] - plan->start[l];

        if (count > MER_DATACENTRIC_ROWS)
            return mer_datacentric_refuse(
                result, "encoding: %d directives in level %d, expected at most %d", count, l,
                MER_DATACENTRIC_ROWS);
        mapping->count[l] = count;
        mapping->cluster[l] = l + 1 < plan->level_count ? plan->cluster[l] : 1;
        for (int i = 0; i < count; i++)
            mapping->directives[l][i] = (MerDatacentricDirective){.spatial = from[i].spatial,
                                                                  .output = from[i].output,
                                                                  .dim = dims[from[i].dim],
                                                                  .size = from[i].size,
                                                                  .offset = from[i].offset};
    }
    result->status = MER_DATACENTRIC_OK;
    return true;
}

#define write_INT mer_json_int
#define write_REAL mer_json_real
#define write_BOOL mer_json_bool

static void write_tensor(const MerDatacentricTensorCounts *counts, const char *name, MerJson *json)
{
    mer_json_object(json, name);
#define X(kind, field) write_##kind(json, #field, counts->field);
    MER_DATACENTRIC_TENSOR_COUNT_MAP(X)
#undef X
    mer_json_end_object(json);
}

void mer_datacentric_write(const MerDatacentricResult *result, MerJson *json)
{
    mer_json_text(json, "status", mer_datacentric_status_name(result->status));
    mer_json_text(json, "reason", result->reason[0] ? result->reason : NULL);
    if (result->status == MER_DATACENTRIC_INFEASIBLE) {
        mer_json_null(json, "counts");
        return;
    }
    mer_json_object(json, "counts");
#define X(kind, field) write_##kind(json, #field, result->field);
    MER_DATACENTRIC_COUNT_MAP(X)
#undef X
    write_tensor(&result->tensor[MER_DATACENTRIC_INPUT], "input", json);
    write_tensor(&result->tensor[MER_DATACENTRIC_FILTER], "filter", json);
    write_tensor(&result->tensor[MER_DATACENTRIC_OUTPUT], "output", json);
    mer_json_end_object(json);
}
