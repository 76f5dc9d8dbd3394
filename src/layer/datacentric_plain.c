/* The data-centric model as it is defined: every iteration case of every level in turn, a level
 * analysed again for each case of the level above. The reference for datacentric_fast.c. */
#include "layer/datacentric_levels.h"

#include <string.h>

typedef struct Case { /* one state per row of a level */
    const MerDatacentricLevel *level;
    MerDatacentricState        state[MER_DATACENTRIC_ROWS];
    int                        change; /* innermost row that is not in its first step, -1: none */
    int64_t                    count;
} Case;

typedef struct Analysis {      /* of one level over one vector of extents */
    MerDatacentricResult *sum; /* its counts; idle_level: from here on, 0: none */
    int64_t               needed, total, bandwidth;
    MerDatacentricDelay   delay[DELAYS];
    bool                  stalled; /* a cluster without work: MAESTRO divides by zero */
} Analysis;

/* Elements of a tensor held by one unit in the very first case. */
static int64_t held(const Case *at, int tensor, bool first, bool see)
{
    const MerDatacentricLevel *level = at->level;
    int64_t                    product = 1;

    for (int i = 0; i < level->count; i++) {
        const MerDatacentricRow   *row = &level->rows[i];
        const MerDatacentricState *state = &at->state[i];

        if (!mer_datacentric_uses(row, tensor))
            continue;
        if (row->spatial)
            product *= mer_datacentric_held(level, row, state->edge, first, see);
        else
            product *= state->edge ? row->in.edge_tile : row->in.tile;
    }
    return product;
}

static bool is_reinitialised(const Case *at, int tensor)
{
    for (int i = at->change + 1; i < at->level->count; i++)
        if (mer_datacentric_uses(&at->level->rows[i], tensor) && !at->state[i].unrolled)
            return true;
    return false;
}

/* New elements of a tensor that one unit takes in. */
static int64_t taken_in(const Case *at, int tensor, bool first, bool see)
{
    const MerDatacentricLevel *level = at->level;
    int                        change = at->change;
    int64_t                    product = 1;
    bool                       slides;

    if (change < 0)
        return held(at, tensor, first, see);
    if (!mer_datacentric_uses(&level->rows[change], tensor))
        return 0;
    slides = !is_reinitialised(at, tensor);
    for (int i = 0; i < level->count; i++) {
        const MerDatacentricRow   *row = &level->rows[i];
        const MerDatacentricSizes *in = &row->in;
        bool                       init = at->state[i].position == MER_DATACENTRIC_INIT;

        if (!mer_datacentric_uses(row, tensor))
            continue;
        if (row->spatial) {
            bool step = init ? !first && i > change : !first && i == change && slides;

            product *= step ? (see ? in->edge_step : in->step) : (see ? in->edge_tile : in->tile);
        } else if (init) {
            product *= at->state[i].edge ? in->edge_tile : in->tile;
        } else {
            product *= i == change && slides ? (in->step > 1 ? in->step : 1) : in->tile;
        }
    }
    return product;
}

/* Outputs of one unit, or with `partial_sums` its multiplications. */
static int64_t computed(const Case *at, bool partial_sums, bool first, bool see, bool reuse)
{
    int64_t product = 1;

    for (int i = 0; i < at->level->count; i++) {
        const MerDatacentricRow   *row = &at->level->rows[i];
        const MerDatacentricState *state = &at->state[i];
        bool                       is_output = mer_datacentric_uses(row, OUTPUT);
        const MerDatacentricSizes *sizes = is_output ? &row->out : &row->in;

        if (!is_output && !partial_sums)
            continue;
        if (row->spatial)
            product *= mer_datacentric_computed(at->level, row, state->edge,
                                                state->position == MER_DATACENTRIC_EDGE, first, see,
                                                reuse);
        else
            product *= state->edge ? sizes->edge_tile : sizes->tile;
    }
    return product;
}

static bool has_edge(const Case *at, int tensor)
{
    for (int k = 0; k < at->level->spatial_count; k++) {
        int i = at->level->spatial[k];

        if ((tensor < 0 || mer_datacentric_uses(&at->level->rows[i], tensor)) && at->state[i].edge)
            return true;
    }
    return false;
}

/* Units without the first, and of those at an edge how many have a partial tile of their own. */
static void other_units(const Case *at, const MerDatacentricState *state, int64_t *whole,
                        int64_t *partial)
{
    *partial = state->see;
    *whole = at->level->edge_units - *partial - 1;
    if (*whole < 0)
        *whole = 0;
}

/* What one unit takes in of a tensor, or of the output gives away. */
static int64_t unit_share(const Case *at, int tensor, bool first, bool see)
{
    return tensor == OUTPUT ? computed(at, false, first, see, true)
                            : taken_in(at, tensor, first, see);
}

static int64_t array_share(const Case *at, int tensor)
{
    const MerDatacentricLevel *level = at->level;
    const MerDatacentricState *state;
    int64_t                    sum, whole, partial;

    if (level->last_spatial[tensor] < 0)
        return unit_share(at, tensor, true, false);
    state = &at->state[level->last_spatial[tensor]];
    if (!has_edge(at, tensor))
        return unit_share(at, tensor, true, false) +
               (level->units - 1) * unit_share(at, tensor, false, false);
    sum = unit_share(at, tensor, true, level->edge_units == 1 && state->see);
    if (level->edge_units == 1)
        return sum;
    other_units(at, state, &whole, &partial);
    return sum + whole * unit_share(at, tensor, false, false) +
           partial * unit_share(at, tensor, false, true);
}

/* Multiplications of the unit that decides the pace. */
static int64_t critical_macs(const Case *at)
{
    int  speaker = at->level->last_spatial[OUTPUT];
    bool see = speaker >= 0 && has_edge(at, OUTPUT) && at->level->edge_units == 1 &&
               at->state[speaker].see;

    return computed(at, true, true, see, true);
}

static int64_t array_macs(const Case *at)
{
    const MerDatacentricLevel *level = at->level;
    const MerDatacentricState *state = &at->state[level->spatial[level->spatial_count - 1]];
    int64_t                    sum, whole, partial;

    if (!has_edge(at, -1))
        return level->units * computed(at, true, true, false, true);
    sum = computed(at, true, true, level->edge_units == 1 && state->see, true);
    if (level->edge_units == 1)
        return sum;
    other_units(at, state, &whole, &partial);
    return sum + whole * computed(at, true, true, false, true) +
           partial * computed(at, true, false, true, false);
}

static void analyse(const MerDatacentricInput *input, const MerDatacentricModel *model, int index,
                    const int64_t *extents, Analysis *analysis);

/* Prices the level below for one kind of unit; `variant`: the unit with the partial tile. */
static void analyse_below(const MerDatacentricInput *input, const MerDatacentricModel *model,
                          int index, const Case *at, bool variant, int64_t units, int64_t *compute,
                          double *active, int *idle_level)
{
    int64_t              extents[MER_DATACENTRIC_DIMS] = {0};
    MerDatacentricResult below = {0};
    Analysis             analysis = {.sum = &below};

    for (int i = 0; i < at->level->count; i++) {
        const MerDatacentricRow *row = &at->level->rows[i];
        bool edge = at->state[i].edge && (!row->spatial || at->level->edge_units == 1 || variant);

        extents[row->dim] = edge ? row->in.edge_tile : row->in.tile;
    }
    analyse(input, model, index + 1, extents, &analysis);
    if (input->every_level && below.num_macs < analysis.needed)
        below.idle_level = index + 1;
    if (below.idle_level > 0 && (*idle_level == 0 || below.idle_level < *idle_level))
        *idle_level = below.idle_level;
    *compute = larger(*compute, below.runtime_cycles);
    *active += below.avg_utilized_pes * (double)units;
}

static int64_t compute_delay(const MerDatacentricInput *input, const MerDatacentricModel *model,
                             int index, const Case *at, int64_t macs, double *active,
                             int *idle_level)
{
    const MerDatacentricLevel *level = at->level;
    const MerDatacentricState *first = &at->state[level->spatial[0]];
    int64_t                    compute = 0, units = first->edge ? level->edge_units : level->units;
    int64_t                    lanes = input->hardware.simd_lanes;

    *active = 0;
    if (index == model->level_count - 1) {
        compute = (macs - 1) / lanes + 1;
    } else {
        if (first->edge && first->see) {
            analyse_below(input, model, index, at, true, 1, &compute, active, idle_level);
            units--;
        }
        if (units > 0)
            analyse_below(input, model, index, at, false, units, &compute, active, idle_level);
    }
    if (*active == 0)
        *active = (double)(first->edge ? level->edge_units : level->units);
    return compute;
}

/* What the off-chip link adds; level 0 alone talks to it. */
static int64_t offchip_delay(const MerDatacentricInput *input, Analysis *analysis, int64_t delay,
                             int64_t compute)
{
    MerDatacentricResult *sum = analysis->sum;
    int64_t               in = sum->tensor[INPUT].l2_size_req + sum->tensor[FILTER].l2_size_req;
    int64_t out = sum->tensor[OUTPUT].l2_size_req, bandwidth = input->hardware.offchip_bw;

    if (compute == 0) {
        analysis->stalled = true;
        return delay;
    }
    sum->offchip_bw_req = larger(sum->offchip_bw_req, larger(out / compute, in / compute)) / 2;
    return larger(delay, larger(in / bandwidth / 2, out / bandwidth / 2));
}

static void account(const MerDatacentricInput *input, const MerDatacentricModel *model, int index,
                    const Case *at, Analysis *analysis)
{
    const MerDatacentricHardware *hardware = &input->hardware;
    MerDatacentricResult         *sum = analysis->sum;
    int64_t out = array_share(at, OUTPUT), macs = array_macs(at), critical = critical_macs(at);
    int64_t in[2], compute, delay, ingress_delay, egress_delay, moved;
    double  active;
    bool    is_first = analysis->total == 0;

    sum->tensor[OUTPUT].l2_write += at->count * out;
    sum->tensor[OUTPUT].l1_write += at->count * macs;
    sum->tensor[OUTPUT].l1_read += at->count * macs;
    if (critical <= 0)
        return;
    for (int t = INPUT; t <= FILTER; t++) {
        in[t] = array_share(at, t);
        sum->tensor[t].l2_read += at->count * in[t];
        sum->tensor[t].l1_write = sum->tensor[t].l2_read;
        sum->tensor[t].l1_read += at->count * macs;
    }
    compute = compute_delay(input, model, index, at, critical, &active, &sum->idle_level);
    ingress_delay = mer_datacentric_noc(hardware, in[INPUT] + in[FILTER]);
    egress_delay = mer_datacentric_noc(hardware, out);
    delay = at->change < 0 ? compute + ingress_delay
                           : larger(compute, larger(ingress_delay, egress_delay));
    if (index == 0)
        delay = offchip_delay(input, analysis, delay, compute);
    sum->runtime_cycles += at->count * delay;
    sum->num_macs += at->count * macs;
    analysis->total += at->count;
    sum->avg_utilized_pes += (double)at->count * active;
    sum->arithmetic_intensity = (double)macs / (double)(in[INPUT] + in[FILTER]);
    mer_datacentric_note_delay(&analysis->delay[INGRESS], ingress_delay, at->count, is_first);
    mer_datacentric_note_delay(&analysis->delay[EGRESS], egress_delay, at->count, is_first);
    mer_datacentric_note_delay(&analysis->delay[COMPUTE], compute, at->count, is_first);
    compute = larger(compute, 1);
    moved = larger(in[INPUT] + in[FILTER], out);
    sum->peak_noc_bw_req = larger(sum->peak_noc_bw_req, moved / compute);
    analysis->bandwidth += at->count * moved / compute;
}

/* The state of row i in case c is number ceil(c / f) mod n, f = cases of the rows inside. */
static void enter_case(int64_t number, const int *state_count, MerDatacentricState (*states)[3],
                       Case *at)
{
    int64_t inside = 1;

    at->change = -1;
    at->count = 1;
    for (int i = at->level->count - 1; i >= 0; i--) {
        int64_t turn = (number + inside - 1) / inside;

        at->state[i] = states[i][turn % state_count[i]];
        at->count *= at->state[i].count;
        if (at->change < 0 && at->state[i].position != MER_DATACENTRIC_INIT)
            at->change = i;
        inside *= state_count[i];
    }
}

static void analyse(const MerDatacentricInput *input, const MerDatacentricModel *model, int index,
                    const int64_t *extents, Analysis *analysis)
{
    Case                at = {.level = &model->levels[index]};
    MerDatacentricState states[MER_DATACENTRIC_ROWS][3];
    int                 state_count[MER_DATACENTRIC_ROWS] = {0};
    int64_t             cases = 1, row_extents[MER_DATACENTRIC_ROWS] = {0};

    for (int i = 0; i < at.level->count; i++) {
        const MerDatacentricRow *row = &at.level->rows[i];

        row_extents[i] = extents[row->dim];
        state_count[i] = mer_datacentric_states(row, extents[row->dim], at.level->units, states[i]);
        cases *= state_count[i];
    }
    analysis->needed = mer_datacentric_tile_macs(input, at.level, row_extents);
    enter_case(0, state_count, states, &at);
    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++)
        analysis->sum->tensor[t].l2_size_req = 2 * array_share(&at, t);
    for (int64_t number = 0; number < cases; number++) {
        enter_case(number, state_count, states, &at);
        account(input, model, index, &at, analysis);
    }
    if (analysis->total > 0)
        analysis->sum->avg_utilized_pes /= (double)analysis->total;
}

void mer_datacentric_evaluate_plain(const MerDatacentricInput *input, MerDatacentricResult *result)
{
    MerDatacentricModel model;
    Analysis            analysis = {.sum = result};

    memset(result, 0, sizeof *result);
    if (!mer_datacentric_resolve(input, &model, result))
        return;
    mer_datacentric_begin(input, &model, result);
    analyse(input, &model, 0, model.levels[0].dims, &analysis);
    if (analysis.stalled) {
        mer_datacentric_stall(result);
        return;
    }
    if (analysis.total > 0) {
        result->avg_noc_bw_req = (double)analysis.bandwidth / (double)analysis.total;
        mer_datacentric_report_delays(analysis.delay, analysis.total, result);
    }
    mer_datacentric_finish(input, &model, MER_DATACENTRIC_EVERYTHING, result);
}
