/* From a mapping as written to cluster levels with every dim in place: output-centric directives
 * become input-centric, missing dims are inherited or unrolled, strides adjust sizes. Then the
 * static tables of each level. */
#include "cost/datacentric_levels.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static const char letters[] = MER_DATACENTRIC_LETTERS;

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

void mer_datacentric_refuse(MerDatacentricResult *result, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(result->reason, sizeof result->reason, format, arguments);
    va_end(arguments);
    result->status = MER_DATACENTRIC_INFEASIBLE;
}

static const Coupling *coupling_of(const MerDatacentricInput *input)
{
    if (input->strict && input->layer.type == MER_DATACENTRIC_NGCONV)
        return &strict_grouped;
    return &couplings[input->layer.type];
}

/* A batch of one is no dim of a convolution. */
static unsigned layer_dims(const MerDatacentricLayer *layer)
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
    unsigned dims = layer_dims(layer);
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

static int sliding_filter(const MerDatacentricModel *model, int dim)
{
    if (!((model->dims >> R) & 1))
        return END;
    return dim == Y ? R : dim == X ? S : END;
}

static MerDatacentricRow *find_row(MerDatacentricLevel *level, int dim)
{
    return level->row_of[dim] < 0 ? NULL : &level->rows[level->row_of[dim]];
}

static bool check_layer(const MerDatacentricLayer *layer, unsigned dims,
                        MerDatacentricResult *result)
{
    for (int dim = 0; dim < MER_DATACENTRIC_DIMS; dim++) {
        if (((dims >> dim) & 1) && (layer->dims[dim] < 1 || layer->dims[dim] > INT32_MAX)) {
            mer_datacentric_refuse(result, "encoding: the layer's %c is %lld, expected 1 .. 2^31-1",
                                   letters[dim], (long long)layer->dims[dim]);
            return false;
        }
    }
    if (!((dims >> R) & 1))
        return true;
    if (layer->dims[Y] < layer->dims[R] || layer->dims[X] < layer->dims[S]) {
        mer_datacentric_refuse(result,
                               "encoding: a filter of %lld x %lld on an input of %lld x %lld",
                               (long long)layer->dims[R], (long long)layer->dims[S],
                               (long long)layer->dims[Y], (long long)layer->dims[X]);
        return false;
    }
    if (layer->stride_y < 1 || layer->stride_x < 1) {
        mer_datacentric_refuse(result, "encoding: stride %lld x %lld, expected 1 or more",
                               (long long)layer->stride_y, (long long)layer->stride_x);
        return false;
    }
    return true;
}

/* The rules MAESTRO checks while it parses. */
static bool check_directive(const MerDatacentricInput *input, unsigned dims,
                            const MerDatacentricDirective *directive, MerDatacentricResult *result)
{
    int  dim = directive->dim;
    char mark = directive->output ? '\'' : ' ';

    if (directive->size < 1 || directive->offset < 1 || directive->size > INT32_MAX ||
        directive->offset > INT32_MAX) {
        mer_datacentric_refuse(result, "encoding: (%lld,%lld) %c%c, expected sizes 1 .. 2^31-1",
                               (long long)directive->size, (long long)directive->offset,
                               letters[dim], mark);
        return false;
    }
    if (!((dims >> dim) & 1)) {
        mer_datacentric_refuse(result, "encoding: %c is not a dimension of a %s layer",
                               letters[dim], type_names[input->layer.type]);
        return false;
    }
    if (!directive->spatial && (dim == R || dim == S) &&
        (directive->size != input->layer.dims[dim] || directive->offset != directive->size)) {
        mer_datacentric_refuse(result, "encoding: temporal tile (%lld,%lld) of %c, expected %lld",
                               (long long)directive->size, (long long)directive->offset,
                               letters[dim], (long long)input->layer.dims[dim]);
        return false;
    }
    return true;
}

/* A line on a dim that this layer type does not have is harmless if the layer's size is one. */
static bool is_idle(const MerDatacentricInput *input, unsigned dims,
                    const MerDatacentricDirective *directive)
{
    return !((dims >> directive->dim) & 1) && !directive->spatial &&
           input->layer.dims[directive->dim] <= 1;
}

static bool copy_directives(const MerDatacentricInput *input, unsigned dims, int index,
                            MerDatacentricLevel *level, MerDatacentricResult *result)
{
    const MerDatacentricMapping *mapping = input->mapping;

    level->count = 0;
    for (int dim = 0; dim < MER_DATACENTRIC_DIMS; dim++)
        level->row_of[dim] = -1;
    for (int i = 0; i < mapping->count[index]; i++) {
        const MerDatacentricDirective *directive = &mapping->directives[index][i];
        MerDatacentricRow             *row = &level->rows[level->count];

        if (is_idle(input, dims, directive))
            continue;
        if (!check_directive(input, dims, directive, result))
            return false;
        if (level->row_of[directive->dim] >= 0) {
            mer_datacentric_refuse(result, "encoding: two directives on %c in level %d",
                                   letters[directive->dim], index);
            return false;
        }
        *row = (MerDatacentricRow){.spatial = directive->spatial,
                                   .written = true,
                                   .dim = directive->dim,
                                   .size = directive->size,
                                   .offset = directive->offset};
        level->row_of[directive->dim] = level->count++;
    }
    return true;
}

/* X' of size s is X of size s + filter - 1. */
static void make_input_centric(const MerDatacentricModel   *model,
                               const MerDatacentricMapping *mapping, int index,
                               MerDatacentricLevel *level)
{
    for (int i = 0; i < mapping->count[index]; i++) {
        const MerDatacentricDirective *directive = &mapping->directives[index][i];
        int                            filter = sliding_filter(model, directive->dim);
        const MerDatacentricRow       *filter_row;

        if (!directive->output || filter == END)
            continue;
        filter_row = find_row(level, filter);
        find_row(level, directive->dim)->size +=
            (filter_row ? filter_row->size : level->dims[filter]) - 1;
    }
}

static void insert_row(MerDatacentricLevel *level, int at, int dim, int64_t size, int64_t offset)
{
    memmove(&level->rows[at + 1], &level->rows[at],
            sizeof level->rows[0] * (size_t)(level->count - at));
    level->rows[at] = (MerDatacentricRow){.dim = dim, .size = size, .offset = offset};
    level->count++;
    for (int i = at; i < level->count; i++)
        level->row_of[level->rows[i].dim] = i;
}

static void complete(const MerDatacentricModel *model, const MerDatacentricLevel *upper,
                     MerDatacentricLevel *level)
{
    for (int i = 0; upper && i < upper->count; i++) {
        const MerDatacentricRow *row = &upper->rows[i];

        if (level->row_of[row->dim] < 0)
            insert_row(level, 0, row->dim, row->size, row->offset);
    }
    for (int dim = 0; dim < MER_DATACENTRIC_DIMS; dim++)
        if (((model->dims >> dim) & 1) && level->row_of[dim] < 0)
            insert_row(level, level->count, dim, level->dims[dim], level->dims[dim]);
}

static int64_t stride_of(const MerDatacentricLayer *layer, int dim)
{
    return dim == Y ? layer->stride_y : dim == X ? layer->stride_x : 1;
}

static bool is_strided(const MerDatacentricModel *model, const MerDatacentricLayer *layer,
                       const MerDatacentricRow *row)
{
    int filter = sliding_filter(model, row->dim);

    return filter != END && stride_of(layer, row->dim) != 1 && row->size >= layer->dims[filter];
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Whether a strided dim leaves out the elements no filter reads: in exact mode everywhere. */
static bool is_packed(const MerDatacentricInput *input, int64_t filter, int64_t stride)
{
    return input->exact_strides && filter < stride;
}

/* With a filter smaller than the stride the elements no filter reads are left out of the sizes, and
 * below the first level out of the offsets. What is packed already need not be adjusted again. */
static void adjust_stride(const MerDatacentricInput *input, const MerDatacentricModel *model,
                          int index, MerDatacentricRow *row)
{
    int64_t stride = stride_of(&input->layer, row->dim);
    int64_t filter, outputs;
    bool    packed;

    if (!is_strided(model, &input->layer, row))
        return;
    filter = input->layer.dims[sliding_filter(model, row->dim)];
    packed = is_packed(input, filter, stride);
    if (packed && !row->written)
        return;
    outputs = (row->size + stride - filter) / stride;
    row->size = outputs * smaller(stride, filter) + larger(filter - stride, 0);
    row->offset = outputs * (packed || (index > 0 && filter < stride) ? filter : stride);
}

static void fill_sizes(MerDatacentricRow *row)
{
    int64_t extent = row->extent, size = row->size, offset = row->offset;
    int64_t steps = larger(0, (extent - size) / offset);
    bool    has_edge = steps * offset + size < extent || size > extent;
    int64_t edge = extent - (steps + 1) * offset;

    if (edge < 0)
        edge = extent;
    row->in.tile = size;
    row->in.step = !row->spatial && extent <= size ? 0 : smaller(size, offset);
    row->in.edge_tile = has_edge ? edge : size;
    row->in.edge_step = larger(offset - (size - edge), 0);
    row->out = row->in;
}

/* Outputs of `size` input elements of a strided dim. */
static int64_t strided_outputs(int64_t size, int64_t filter, int64_t stride, bool packed)
{
    if (packed)
        return size / filter;
    return size < filter ? 0 : (size - filter) / stride + 1;
}

static void fill_output_sizes(const MerDatacentricInput *input, const MerDatacentricModel *model,
                              MerDatacentricLevel *level, MerDatacentricRow *row)
{
    int                      filter_dim = sliding_filter(model, row->dim);
    const MerDatacentricRow *filter;

    if (filter_dim == END)
        return;
    filter = find_row(level, filter_dim);
    row->out.tile = row->in.tile - filter->in.tile + 1;
    row->out.step = smaller(row->offset, row->size);
    row->out.edge_tile = row->in.edge_tile - filter->in.edge_tile + 1;
    if (input->exact_strides && is_strided(model, &input->layer, row) &&
        filter->in.tile == input->layer.dims[filter_dim]) {
        int64_t size = filter->in.tile, stride = stride_of(&input->layer, row->dim);
        bool    packed = is_packed(input, size, stride);

        row->out.tile = strided_outputs(row->in.tile, size, stride, packed);
        row->out.edge_tile = strided_outputs(row->in.edge_tile, size, stride, packed);
    }
    row->out.edge_step = smaller(row->offset, row->out.edge_tile);
}

/* Units that get work in the last spatial step, from the first SpatialMap. */
static int64_t count_edge_units(const MerDatacentricRow *row, int64_t units)
{
    int64_t extent = row->extent, size = row->size, offset = row->offset;
    int64_t covered = offset * (units - 1) + size;
    int64_t edge_units;

    if (extent > covered) {
        int64_t steps = ((extent - size) / offset + 1) / units - 1;
        int64_t rest = extent - (steps + 1) * offset * units;

        return rest < size ? 1 : (rest - size) / offset + 1;
    }
    if (extent <= size)
        return 1;
    edge_units = (extent - size) / offset + 1;
    return offset * (edge_units - 1) + size < extent ? edge_units + 1 : edge_units;
}

static bool find_spatial(int index, MerDatacentricLevel *level, MerDatacentricResult *result)
{
    level->spatial_count = 0;
    for (int i = 0; i < level->count; i++) {
        if (!level->rows[i].spatial)
            continue;
        if (level->spatial_count < 2)
            level->spatial[level->spatial_count] = i;
        level->spatial_count++;
    }
    if (level->spatial_count < 1 || level->spatial_count > 2) {
        mer_datacentric_refuse(result, "encoding: %d spatial maps in level %d, expected 1 or 2",
                               level->spatial_count, index);
        return false;
    }
    return true;
}

static void couple(const Coupling *coupling, MerDatacentricLevel *level)
{
    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++) {
        level->last_spatial[t] = -1;
        for (const int *dim = coupling->dims[t]; *dim != END; dim++) {
            MerDatacentricRow *row = find_row(level, *dim);

            if (!row)
                continue;
            row->tensors |= 1u << t;
            if (row->spatial)
                level->last_spatial[t] = level->row_of[*dim];
        }
    }
}

static int64_t layer_extent(const MerDatacentricInput *input, const MerDatacentricModel *model,
                            int dim)
{
    int     filter_dim = sliding_filter(model, dim);
    int64_t extent = input->layer.dims[dim], filter, stride = stride_of(&input->layer, dim);

    if (filter_dim == END)
        return extent;
    filter = input->layer.dims[filter_dim];
    return is_packed(input, filter, stride) ? ((extent - filter) / stride + 1) * filter : extent;
}

static bool resolve_level(const MerDatacentricInput *input, int index, MerDatacentricModel *model,
                          MerDatacentricResult *result)
{
    MerDatacentricLevel       *level = &model->levels[index];
    const MerDatacentricLevel *upper = index > 0 ? level - 1 : NULL;

    for (int dim = 0; dim < MER_DATACENTRIC_DIMS; dim++)
        level->dims[dim] = upper && upper->row_of[dim] >= 0
                               ? smaller(upper->rows[upper->row_of[dim]].size, upper->dims[dim])
                               : layer_extent(input, model, dim);
    if (!copy_directives(input, model->dims, index, level, result))
        return false;
    make_input_centric(model, input->mapping, index, level);
    complete(model, upper, level);
    if (!find_spatial(index, level, result))
        return false;
    couple(coupling_of(input), level);
    for (int i = 0; i < level->count; i++) {
        MerDatacentricRow *row = &level->rows[i];

        adjust_stride(input, model, index, row);
        row->extent = level->dims[row->dim];
        fill_sizes(row);
    }
    for (int i = 0; i < level->count; i++)
        fill_output_sizes(input, model, level, &level->rows[i]);
    level->edge_units = count_edge_units(&level->rows[level->spatial[0]], level->units);
    return true;
}

static bool spread_units(const MerDatacentricInput *input, MerDatacentricModel *model,
                         MerDatacentricResult *result)
{
    const MerDatacentricMapping *mapping = input->mapping;
    int64_t                      product = 1;

    for (int l = 0; l + 1 < mapping->level_count; l++) {
        int64_t size = mapping->cluster[l];

        if (size < 1 || size > INT32_MAX) {
            mer_datacentric_refuse(result, "encoding: Cluster(%lld), expected 1 .. 2^31-1",
                                   (long long)size);
            return false;
        }
        model->levels[l + 1].units = size;
        product = product > INT32_MAX ? product : product * size;
    }
    if (product > input->hardware.num_pes) {
        mer_datacentric_refuse(result, "fan-out: clusters need %lld PEs, the array has %lld",
                               (long long)product, (long long)input->hardware.num_pes);
        return false;
    }
    model->levels[0].units = input->hardware.num_pes / product;
    return true;
}

static double largest_size(const MerDatacentricSizes *sizes)
{
    return fmax(fmax(fabs((double)sizes->tile), fabs((double)sizes->edge_tile)),
                fmax(fabs((double)sizes->step), fabs((double)sizes->edge_step)));
}

/* Upper limits of everything the accounting multiplies: a mapping that keeps them below 2^62 can
 * be counted without a check per operation. */
static bool fits_in_64_bits(const MerDatacentricInput *input, const MerDatacentricModel *model)
{
    double runtime = 0, largest = 0;

    for (int l = model->level_count - 1; l >= 0; l--) {
        const MerDatacentricLevel *level = &model->levels[l];
        double                     steps = 1, traffic = 4 * (double)level->units, words = 1;

        for (int i = 0; i < level->count; i++) {
            const MerDatacentricRow *row = &level->rows[i];
            double                   extent = (double)row->extent;

            if (row->size < row->extent)
                steps *= extent / (double)row->offset + 2;
            traffic *= fmax(1, fmax(largest_size(&row->in), largest_size(&row->out)));
            words *= extent;
        }
        if (l == model->level_count - 1)
            runtime = traffic;
        runtime = steps * (runtime + 2 * traffic + 2 * (double)input->hardware.noc_latency);
        largest = fmax(fmax(largest, runtime), words);
    }
    return largest < 0x1p62;
}

bool mer_datacentric_resolve(const MerDatacentricInput *input, MerDatacentricModel *model,
                             MerDatacentricResult *result)
{
    const MerDatacentricHardware *hardware = &input->hardware;

    model->level_count = input->mapping->level_count;
    model->dims = layer_dims(&input->layer);
    if (!check_layer(&input->layer, model->dims, result))
        return false;
    if (hardware->num_pes < 1 || hardware->noc_bw < 1 || hardware->offchip_bw < 1 ||
        hardware->simd_lanes < 1 || hardware->noc_latency < 0) {
        mer_datacentric_refuse(result, "encoding: hardware numbers below 1");
        return false;
    }
    if (model->level_count < 1 || model->level_count > MER_DATACENTRIC_LEVELS) {
        mer_datacentric_refuse(result, "encoding: %d cluster levels, expected 1 .. %d",
                               model->level_count, MER_DATACENTRIC_LEVELS);
        return false;
    }
    if (!spread_units(input, model, result))
        return false;
    for (int l = 0; l < model->level_count; l++)
        if (!resolve_level(input, l, model, result))
            return false;
    if (!fits_in_64_bits(input, model)) {
        mer_datacentric_refuse(result, "overflow: counts could pass 2^62");
        return false;
    }
    return true;
}
