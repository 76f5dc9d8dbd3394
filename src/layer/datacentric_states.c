/* The states a directive passes through: the first step, steady steps, a partial last step. */
#include "layer/datacentric_levels.h"

static int temporal_states(const MerDatacentricRow *row, int64_t extent,
                           MerDatacentricState *states)
{
    int64_t steps = (extent - row->size) / row->offset;
    int     count = 1;

    states[0] = (MerDatacentricState){.position = MER_DATACENTRIC_INIT,
                                      .count = 1,
                                      .unrolled = extent <= row->size,
                                      .edge = extent < row->size};
    if (row->size < extent && steps > 0)
        states[count++] = (MerDatacentricState){.position = MER_DATACENTRIC_STEADY, .count = steps};
    if (extent >= row->size && steps * row->offset + row->size < extent)
        states[count++] =
            (MerDatacentricState){.position = MER_DATACENTRIC_EDGE, .count = 1, .edge = true};
    return count;
}

static int spatial_states(const MerDatacentricRow *row, int64_t extent, int64_t units,
                          MerDatacentricState *states)
{
    int64_t size = row->size, offset = row->offset;
    int64_t covered = size + offset * (units - 1);
    int64_t steps, rest, active;
    int     count = 1;

    states[0] = (MerDatacentricState){.position = MER_DATACENTRIC_INIT,
                                      .count = 1,
                                      .unrolled = extent <= covered,
                                      .edge = extent < covered,
                                      .see = extent < covered};
    if (extent <= covered)
        return count;
    steps = ((extent - size) / offset + 1) / units - 1;
    if (steps > 0)
        states[count++] = (MerDatacentricState){.position = MER_DATACENTRIC_STEADY, .count = steps};
    if ((steps + 1) * offset * units + covered > extent &&
        steps * offset * units + covered != extent) {
        rest = extent - (steps + 1) * offset * units;
        active = rest < size ? 1 : (rest - size) / offset + 1;
        states[count++] = (MerDatacentricState){.position = MER_DATACENTRIC_EDGE,
                                                .count = 1,
                                                .edge = true,
                                                .see = (active - 1) * offset + size < rest};
    }
    return count;
}

int mer_datacentric_states(const MerDatacentricRow *row, int64_t extent, int64_t units,
                           MerDatacentricState *states)
{
    return row->spatial ? spatial_states(row, extent, units, states)
                        : temporal_states(row, extent, states);
}
