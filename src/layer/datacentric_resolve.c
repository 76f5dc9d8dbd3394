/* From a mapping as written to cluster levels with every dim in place: output-centric directives
 * become input-centric, missing dims are inherited or unrolled. Then the static tables of each
 * level. */
#include "layer/datacentric_levels.h"

#include <string.h>

static const char letters[] = MER_DATACENTRIC_LETTERS;

/* The rules MAESTRO checks while it parses. */
static bool check_directive(const MerDatacentricInput *input, unsigned dims,
                            const MerDatacentricDirective *directive, MerDatacentricResult *result)
{
    int  dim = directive->dim;
    char mark = directive->output ? '\'' : ' ';

    if (directive->size < 1 || directive->offset < 1 || directive->size > INT32_MAX ||
        directive->offset > INT32_MAX)
        return mer_datacentric_refuse(
            result, "encoding: (%lld,%lld) %c%c, expected sizes 1 .. 2^31-1",
            (long long)directive->size, (long long)directive->offset, letters[dim], mark);
    if (!((dims >> dim) & 1))
        return mer_datacentric_refuse(result, "encoding: %c is not a dimension of a %s layer",
                                      letters[dim], mer_datacentric_type_name(input->layer.type));
    if (!directive->spatial && (dim == MER_DATACENTRIC_R || dim == MER_DATACENTRIC_S) &&
        (directive->size != input->layer.dims[dim] || directive->offset != directive->size))
        return mer_datacentric_refuse(result,
                                      "encoding: temporal tile (%lld,%lld) of %c, expected %lld",
                                      (long long)directive->size, (long long)directive->offset,
                                      letters[dim], (long long)input->layer.dims[dim]);
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
        if (level->row_of[directive->dim] >= 0)
            return mer_datacentric_refuse(result, "encoding: two directives on %c in level %d",
                                          letters[directive->dim], index);
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
        int                            filter = mer_datacentric_filter(model, directive->dim);
        const MerDatacentricRow       *filter_row;

        if (!directive->output || filter == MER_DATACENTRIC_NO_FILTER)
            continue;
        filter_row = mer_datacentric_row(level, filter);
        mer_datacentric_row(level, directive->dim)->size +=
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
    if (level->spatial_count < 1 || level->spatial_count > 2)
        return mer_datacentric_refuse(result,
                                      "encoding: %d spatial maps in level %d, expected 1 or 2",
                                      level->spatial_count, index);
    return true;
}

/* What a level hands on of a dim that it has a row for. */
static int64_t tile_of(const MerDatacentricLevel *level, int dim)
{
    int64_t size = level->rows[level->row_of[dim]].size;

    return size < level->dims[dim] ? size : level->dims[dim];
}

static bool resolve_level(const MerDatacentricInput *input, int index, MerDatacentricModel *model,
                          MerDatacentricResult *result)
{
    MerDatacentricLevel       *level = &model->levels[index];
    const MerDatacentricLevel *upper = index > 0 ? level - 1 : NULL;

    for (int dim = 0; dim < MER_DATACENTRIC_DIMS; dim++)
        level->dims[dim] = upper && upper->row_of[dim] >= 0
                               ? tile_of(upper, dim)
                               : mer_datacentric_layer_extent(input, model, dim);
    if (!copy_directives(input, model->dims, index, level, result))
        return false;
    make_input_centric(model, input->mapping, index, level);
    complete(model, upper, level);
    if (!find_spatial(index, level, result))
        return false;
    mer_datacentric_couple(input, level);
    mer_datacentric_size_rows(input, model, index, level);
    return true;
}

static bool spread_units(const MerDatacentricInput *input, MerDatacentricModel *model,
                         MerDatacentricResult *result)
{
    const MerDatacentricMapping *mapping = input->mapping;
    int64_t                      product = 1;

    for (int l = 0; l + 1 < mapping->level_count; l++) {
        int64_t size = mapping->cluster[l];

        if (size < 1 || size > INT32_MAX)
            return mer_datacentric_refuse(result, "encoding: Cluster(%lld), expected 1 .. 2^31-1",
                                          (long long)size);
        model->levels[l + 1].units = size;
        product = product > INT32_MAX ? product : product * size;
    }
    if (product > input->hardware.num_pes)
        return mer_datacentric_refuse(result, "fan-out: clusters need %lld PEs, the array has %lld",
                                      (long long)product, (long long)input->hardware.num_pes);
    model->levels[0].units = input->hardware.num_pes / product;
    return true;
}

bool mer_datacentric_resolve(const MerDatacentricInput *input, MerDatacentricModel *model,
                             MerDatacentricResult *result)
{
    const MerDatacentricHardware *hardware = &input->hardware;

    model->level_count = input->mapping->level_count;
    model->dims = mer_datacentric_layer_dims(&input->layer);
    if (!mer_datacentric_check_layer(&input->layer, model->dims, result))
        return false;
    if (hardware->num_pes < 1 || hardware->noc_bw < 1 || hardware->offchip_bw < 1 ||
        hardware->simd_lanes < 1 || hardware->noc_latency < 0)
        return mer_datacentric_refuse(result, "encoding: hardware numbers below 1");
    if (model->level_count < 1 || model->level_count > MER_DATACENTRIC_LEVELS)
        return mer_datacentric_refuse(result, "encoding: %d cluster levels, expected 1 .. %d",
                                      model->level_count, MER_DATACENTRIC_LEVELS);
    if (!spread_units(input, model, result))
        return false;
    for (int l = 0; l < model->level_count; l++)
        if (!resolve_level(input, l, model, result))
            return false;
    if (!mer_datacentric_fits(input, model))
        return mer_datacentric_refuse(result, "overflow: counts could pass 2^62");
    return true;
}
