/* What no data-centric mapping can beat. MAESTRO's model may count fewer than all words of a tensor
 * as read (a reload costs nothing when only an outer loop moves), so the energy bound holds just
 * what every mapping that does all MACs pays: operands and sums at the PEs, L2 filled once. */
#include "map/directives/directives.h"
#include "map/map.h"

#include <math.h>

static double input_extent(const MerOp *op, int axis)
{
    double outputs = (double)op->dims[axis == 0 ? MER_DIM_Y : MER_DIM_X];
    double taps = (double)op->dims[axis == 0 ? MER_DIM_R : MER_DIM_S];
    double stride = op->kind == MER_OP_TRANSPOSED ? 1 : op->stride[axis];

    return taps < stride ? outputs * taps : (outputs - 1) * stride + taps;
}

static double energy_bound(const MerDirectiveSpace *space, const MerPlatform *platform, double macs)
{
    const MerOp     *op = space->op;
    const MerMemory *l2 = &platform->memories[1], *l1 = &platform->memories[2];
    double           groups = (double)op->dims[MER_DIM_G], batch = (double)op->dims[MER_DIM_N];
    double           c = (double)op->dims[MER_DIM_C] * groups, k = (double)op->dims[MER_DIM_K];
    double           channels = op->kind == MER_OP_DEPTHWISE ? c : k * groups;
    double           inputs = batch * c * input_extent(op, 0) * input_extent(op, 1);
    double           weights = c * k * (double)op->dims[MER_DIM_R] * (double)op->dims[MER_DIM_S];
    double outputs = batch * channels * (double)op->dims[MER_DIM_Y] * (double)op->dims[MER_DIM_X];
    double mac_pj = platform->unit_count > 0 ? platform->units[0].mac_pj : 0;

    return macs * (mac_pj + 3 * l1->read_pj + l1->write_pj) + (inputs + weights) * l2->write_pj +
           outputs * l2->read_pj;
}

MerBound mer_directives_bound(const MerDirectiveSpace *space, const MerPlatform *platform,
                              MerMetric metric)
{
    double macs = 1, repeat = (double)space->op->repeat, cycles, energy;

    for (int dim = 0; dim < MER_DIM_COUNT; dim++)
        macs *= (double)space->op->dims[dim];
    cycles = macs * repeat / (space->num_pes * space->lanes);
    energy = platform->memory_count == 3 ? energy_bound(space, platform, macs) * repeat : NAN;
    return mer_map_bound(metric, cycles, energy, macs * repeat, platform->clock_hz);
}
