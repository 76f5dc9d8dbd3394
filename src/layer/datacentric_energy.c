/* What follows from the counts: buffer needs, energy, area and power with MAESTRO's regression
 * constants, and the checks that strict mode adds. */
#include "layer/datacentric_levels.h"

static int64_t stride_of(const MerDatacentricInput *input, int dim)
{
    if (!input->exact_strides) /* MAESTRO forgets the stride */
        return 1;
    return dim == MER_DATACENTRIC_Y ? input->layer.stride_y : input->layer.stride_x;
}

/* Outputs of `extent` inputs; with a stride above the filter only inputs that are read count. */
static int64_t outputs_of(const MerDatacentricInput *input, int dim, int64_t extent, int64_t filter)
{
    int64_t stride = stride_of(input, dim);

    if (filter < 1 || extent < filter)
        return 0;
    return filter < stride ? extent / filter : (extent - filter) / stride + 1;
}

int64_t mer_datacentric_tile_macs(const MerDatacentricInput *input,
                                  const MerDatacentricLevel *level, const int64_t *extents)
{
    int64_t macs = 1;

    for (int i = 0; i < level->count; i++) {
        int dim = level->rows[i].dim;

        if (dim == MER_DATACENTRIC_Y || dim == MER_DATACENTRIC_X) {
            int filter =
                level->row_of[dim == MER_DATACENTRIC_Y ? MER_DATACENTRIC_R : MER_DATACENTRIC_S];

            macs *= outputs_of(input, dim, extents[i], extents[filter]);
        } else {
            macs *= extents[i];
        }
    }
    return macs;
}

static int64_t output_extent(const MerDatacentricInput *input, const MerDatacentricLevel *level,
                             int dim)
{
    int filter = dim == MER_DATACENTRIC_Y ? MER_DATACENTRIC_R : MER_DATACENTRIC_S;

    if (dim != MER_DATACENTRIC_Y && dim != MER_DATACENTRIC_X)
        return level->dims[dim];
    return outputs_of(input, dim, level->dims[dim], level->dims[filter]);
}

void mer_datacentric_begin(const MerDatacentricInput *input, const MerDatacentricModel *model,
                           MerDatacentricResult *result)
{
    const MerDatacentricLevel *outer = &model->levels[0];
    const MerDatacentricLevel *inner = &model->levels[model->level_count - 1];
    int64_t                    words[MER_DATACENTRIC_TENSORS] = {1, 1, 1};

    result->true_macs = mer_datacentric_macs(&input->layer);
    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++) {
        int64_t tile = 2; /* double buffered */

        for (int i = 0; i < inner->count; i++)
            if (mer_datacentric_uses(&inner->rows[i], t))
                tile *= inner->rows[i].in.tile;
        for (int i = 0; i < outer->count; i++)
            if (mer_datacentric_uses(&outer->rows[i], t))
                words[t] *= t == OUTPUT ? output_extent(input, outer, outer->rows[i].dim)
                                        : outer->dims[outer->rows[i].dim];
        result->tensor[t].l1_size_req = tile;
    }
    result->tensor[INPUT].l2_write = result->num_input_elems = words[INPUT];
    result->tensor[FILTER].l2_write = result->num_weight_elems = words[FILTER];
    result->tensor[OUTPUT].l2_read = words[OUTPUT];
    result->mcast_input = result->mcast_weight = 1;
}

static void add_energy(const MerDatacentricInput *input, const MerDatacentricModel *model,
                       MerDatacentricResult *result)
{
    const MerDatacentricTensorCounts *tensor = result->tensor;
    double  l1 = input->hardware.l1_energy, l2 = input->hardware.l2_energy, csv;
    int64_t l1_read = 0, l1_write = 0, l2_read = 0, l2_write = 0;

    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++) {
        l1_read += tensor[t].l1_read;
        l1_write += tensor[t].l1_write;
        l2_read += tensor[t].l2_read;
        l2_write += tensor[t].l2_write;
    }
    result->l1_read_energy_x_mac = l1 * (double)l1_read;
    result->l1_write_energy_x_mac = l1 * (double)l1_write;
    result->l2_read_energy_x_mac = l2 * (double)l2_read;
    result->l2_write_energy_x_mac = l2 * (double)l2_write;
    result->total_energy_x_mac = result->l2_read_energy_x_mac + result->l2_write_energy_x_mac +
                                 result->l1_read_energy_x_mac + result->l1_write_energy_x_mac +
                                 (double)result->num_macs;
    csv = l2 * (double)(l2_read + l2_write - tensor[OUTPUT].l2_read);
    if (model->level_count == 1)
        csv += l1 * (double)(l1_read + l1_write);
    result->csv_energy_nj = input->hardware.mac_nj * csv;
}

static double at_least(double value, double least)
{
    return value > least ? value : least;
}

static void add_area_and_power(const MerDatacentricInput *input, MerDatacentricResult *result)
{
    double pes = (double)input->hardware.num_pes, lanes = (double)input->hardware.simd_lanes;
    double bandwidth = (double)input->hardware.noc_bw;
    double l1 = (double)result->l1_size_req, l2 = (double)result->l2_size_req;
    double bus = 14.662 * pes + 28.895, arbiter = 1.2886 * pes * pes + 5.5814 * pes - 23.711;

    result->area_um2 = pes * (283 * lanes + 0.104 * at_least(l1, 1)) + 0.104 * at_least(l2, 1) +
                       101.7938 * bus * bandwidth + at_least(395.473 * arbiter, 395.473);
    result->pe_power = pes * 1.2223 * lanes;
    result->l1_power = pes * 0.00345 * l1;
    result->l2_power = 0.00345 * l2;
    result->noc_power = 0.8 * bus / 1000 * bandwidth + at_least(0.34 * arbiter / 1000, 0.34);
    result->power_mw = result->pe_power + result->l1_power + result->l2_power + result->noc_power;
}

static double ratio(double a, double b)
{
    return b == 0 ? 0 : a / b;
}

static void add_ratios(MerDatacentricResult *result)
{
    double macs = (double)result->num_macs;

    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++)
        result->tensor[t].reuse_factor =
            ratio((double)result->tensor[t].l1_read, (double)result->tensor[t].l1_write);
    result->throughput_macs_per_cycle = ratio(macs, (double)result->runtime_cycles);
    result->throughput_per_energy =
        ratio(result->throughput_macs_per_cycle, result->csv_energy_nj) * 1e9;
    result->ops_per_joule = ratio(macs, result->csv_energy_nj) * 1e9;
    result->perf_per_mac_energy =
        ratio(result->throughput_macs_per_cycle, result->total_energy_x_mac);
}

static void check_strict(const MerDatacentricInput *input, MerDatacentricResult *result)
{
    const MerDatacentricHardware *hardware = &input->hardware;
    double                        lanes = (double)hardware->num_pes * (double)hardware->simd_lanes;

    if (!result->macs_exact || result->runtime_cycles <= 0)
        mer_datacentric_refuse(result, "coverage: covers %lld of %lld MACs",
                               (long long)result->num_macs, (long long)result->true_macs);
    else if (result->tensor[OUTPUT].l1_read < result->num_macs ||
             result->tensor[OUTPUT].l2_write < 0)
        mer_datacentric_refuse(result, "coverage: tiles beyond the output count as negative work");
    else if (result->idle_level > 0)
        mer_datacentric_refuse(result, "coverage: level %d leaves out MACs of its tile",
                               result->idle_level);
    else if ((double)result->runtime_cycles * lanes < (double)result->true_macs)
        mer_datacentric_refuse(result, "coverage: %lld MACs in %lld cycles on %.0f lanes",
                               (long long)result->true_macs, (long long)result->runtime_cycles,
                               lanes);
    else if (!result->l1_fits)
        mer_datacentric_refuse(result, "capacity: L1 needs %lld words, has %lld",
                               (long long)result->l1_size_req, (long long)hardware->l1_size);
    else if (!result->l2_fits)
        mer_datacentric_refuse(result, "capacity: L2 needs %lld words, has %lld",
                               (long long)result->l2_size_req, (long long)hardware->l2_size);
}

void mer_datacentric_finish(const MerDatacentricInput *input, const MerDatacentricModel *model,
                            MerDatacentricWanted wanted, MerDatacentricResult *result)
{
    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++) {
        result->l1_size_req += result->tensor[t].l1_size_req;
        result->l2_size_req += result->tensor[t].l2_size_req;
    }
    result->l1_fits = result->l1_size_req <= input->hardware.l1_size;
    result->l2_fits = result->l2_size_req <= input->hardware.l2_size;
    result->macs_exact = result->num_macs == result->true_macs;
    add_energy(input, model, result);
    add_area_and_power(input, result);
    if (wanted == MER_DATACENTRIC_EVERYTHING)
        add_ratios(result);
    if (result->runtime_cycles <= 0) {
        result->status = MER_DATACENTRIC_DEGENERATE;
        result->runtime_cycles = result->num_macs = 0;
    }
    if (input->strict)
        check_strict(input, result);
}

void mer_datacentric_note_delay(MerDatacentricDelay *delay, int64_t cycles, int64_t count,
                                bool is_first)
{
    delay->least = is_first || cycles < delay->least ? cycles : delay->least;
    delay->largest = is_first || cycles > delay->largest ? cycles : delay->largest;
    delay->sum += cycles * count;
}

void mer_datacentric_report_delays(const MerDatacentricDelay delays[DELAYS], int64_t cases,
                                   MerDatacentricResult *result)
{
    result->ingress_delay_min = delays[INGRESS].least;
    result->ingress_delay_max = delays[INGRESS].largest;
    result->ingress_delay_avg = delays[INGRESS].sum / cases;
    result->egress_delay_min = delays[EGRESS].least;
    result->egress_delay_max = delays[EGRESS].largest;
    result->egress_delay_avg = delays[EGRESS].sum / cases;
    result->compute_delay_min = delays[COMPUTE].least;
    result->compute_delay_max = delays[COMPUTE].largest;
    result->compute_delay_avg = delays[COMPUTE].sum / cases;
}

void mer_datacentric_stall(MerDatacentricResult *result)
{
    *result = (MerDatacentricResult){.true_macs = result->true_macs};
    mer_datacentric_refuse(result, "coverage: a cluster has no work, its inner tiles are empty");
}
