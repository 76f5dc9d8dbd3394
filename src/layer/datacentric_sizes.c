/* Sizes of the tiles of a level: what strides leave out, what moves per step, and the partial tiles at
 * the edge. */
#include "layer/datacentric_levels.h"

#include <math.h>

static int64_t stride_of(const MerDatacentricLayer *layer, int dim)
{
    return dim == MER_DATACENTRIC_Y   ? layer->stride_y
           : dim == MER_DATACENTRIC_X ? layer->stride_x
                                      : 1;
}

static bool is_strided(const MerDatacentricModel *model, const MerDatacentricLayer *layer,
                       const MerDatacentricRow *row)
{
    int filter = mer_datacentric_filter(model, row->dim);

    return filter != MER_DATACENTRIC_NO_FILTER && stride_of(layer, row->dim) != 1 &&
           row->size >= layer->dims[filter];
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
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
    filter = input->layer.dims[mer_datacentric_filter(model, row->dim)];
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
    int                      filter_dim = mer_datacentric_filter(model, row->dim);
    const MerDatacentricRow *filter;

    if (filter_dim == MER_DATACENTRIC_NO_FILTER)
        return;
    filter = mer_datacentric_row(level, filter_dim);
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

int64_t mer_datacentric_layer_extent(const MerDatacentricInput *input,
                                     const MerDatacentricModel *model, int dim)
{
    int     filter_dim = mer_datacentric_filter(model, dim);
    int64_t extent = input->layer.dims[dim], filter, stride = stride_of(&input->layer, dim);

    if (filter_dim == MER_DATACENTRIC_NO_FILTER)
        return extent;
    filter = input->layer.dims[filter_dim];
    return is_packed(input, filter, stride) ? ((extent - filter) / stride + 1) * filter : extent;
}

void mer_datacentric_size_rows(const MerDatacentricInput *input, const MerDatacentricModel *model,
                               int index, MerDatacentricLevel *level)
{
    for (int i = 0; i < level->count; i++) {
        MerDatacentricRow *row = &level->rows[i];

        adjust_stride(input, model, index, row);
        row->extent = level->dims[row->dim];
        fill_sizes(row);
    }
    for (int i = 0; i < level->count; i++)
        fill_output_sizes(input, model, level, &level->rows[i]);
    level->edge_units = count_edge_units(&level->rows[level->spatial[0]], level->units);
}

static double largest_size(const MerDatacentricSizes *sizes)
{
    return fmax(fmax(fabs((double)sizes->tile), fabs((double)sizes->edge_tile)),
                fmax(fabs((double)sizes->step), fabs((double)sizes->edge_step)));
}

bool mer_datacentric_fits(const MerDatacentricInput *input, const MerDatacentricModel *model)
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
