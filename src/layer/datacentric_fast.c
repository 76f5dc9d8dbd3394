/* The data-centric model in grouped form: each level is priced once per vector of extents (every
 * dim has a whole and a partial tile, so at most 2^dims), and in it each edge set once. */
#include "layer/datacentric_cases.h"

#include <string.h>

enum { WORDS = MER_DATACENTRIC_SETS / 64 + 1 };

typedef struct Priced {
    int64_t runtime;
    double  active;
} Priced;

typedef struct Memo { /* of one level, by the parent's rows that stand at a partial tile */
    uint64_t known[WORDS];
    Priced   priced[MER_DATACENTRIC_SETS];
} Memo;

typedef struct Context {
    const MerDatacentricInput *input;
    const MerDatacentricModel *model;
    int  idle_level; /* outermost level below the first that leaves out work, 0: none */
    Memo memo[MER_DATACENTRIC_LEVELS - 1]; /* of levels 1, 2, ... */
} Context;

typedef struct Inflow { /* by mover + 1 and set of spatial edges */
    int64_t delay[MER_DATACENTRIC_ROWS + 1][4];
    int64_t taken[2][MER_DATACENTRIC_ROWS + 1][4];
} Inflow;

/* Per edge set of the first level, for the report. */
typedef struct Top {
    MerDatacentricCases  cases;
    Inflow               inflow;
    MerDatacentricShares shares[4];
    int64_t              compute[MER_DATACENTRIC_SETS]; /* 0: skipped, no output */
    int64_t              total;
} Top;

static Priced price_level(Context *context, int index, unsigned key);

static Priced price_below(Context *context, int index, unsigned key)
{
    Memo    *memo = &context->memo[index];
    uint64_t bit = (uint64_t)1 << (key & 63);

    if (!(memo->known[key >> 6] & bit)) {
        memo->priced[key] = price_level(context, index + 1, key);
        memo->known[key >> 6] |= bit;
    }
    return memo->priced[key];
}

/* Rows of the spatial maps whose units get a partial tile. */
static unsigned spatial_key(const MerDatacentricLevel *level, unsigned spatial)
{
    unsigned key = 0;

    for (int k = 0; k < level->spatial_count; k++) {
        const MerDatacentricRow *row = &level->rows[level->spatial[k]];

        if (((spatial >> k) & 1) && row->in.edge_tile != row->in.tile)
            key |= 1u << level->spatial[k];
    }
    return key;
}

/* Time of the slowest unit and how many PEs work below. */
static Priced price_units(Context *context, int index, const MerDatacentricCases *cases,
                          const MerDatacentricSet *set, int64_t critical)
{
    const MerDatacentricLevel *level = cases->level;
    bool                       edge = set->spatial & 1;
    int64_t                    units = edge ? level->edge_units : level->units;
    int64_t                    lanes = context->input->hardware.simd_lanes;
    Priced                     priced = {.active = (double)units}, below;
    unsigned                   key;
    double                     active = 0;

    if (index == context->model->level_count - 1) {
        priced.runtime = lanes == 1 ? critical : (critical - 1) / lanes + 1;
        return priced;
    }
    key = set->rows | spatial_key(level, set->spatial);
    if (edge && cases->see[0]) {
        below = price_below(context, index, key);
        priced.runtime = below.runtime;
        active += below.active;
        units--;
    }
    if (units > 0) {
        below = price_below(context, index, level->edge_units == 1 ? key : set->rows);
        priced.runtime = larger(priced.runtime, below.runtime);
        active += below.active * (double)units;
    }
    if (active != 0)
        priced.active = active;
    return priced;
}

static void fill_inflow(const MerDatacentricHardware *hardware, const MerDatacentricCases *cases,
                        Inflow *inflow)
{
    for (int mover = -1; mover < cases->mover_count; mover++) {
        unsigned edges = mer_datacentric_spatial_edges(cases, mover);

        for (unsigned spatial = cases->fixed_spatial; spatial <= edges; spatial++) {
            int64_t input, filter;

            if ((spatial & ~edges) || (spatial & cases->fixed_spatial) != cases->fixed_spatial)
                continue;
            input = mer_datacentric_ingress(cases, INPUT, mover, spatial);
            filter = mer_datacentric_ingress(cases, FILTER, mover, spatial);
            inflow->taken[INPUT][mover + 1][spatial] = input;
            inflow->taken[FILTER][mover + 1][spatial] = filter;
            inflow->delay[mover + 1][spatial] = mer_datacentric_noc(hardware, input + filter);
        }
    }
}

static void fill_shares(const MerDatacentricCases *cases, bool with_macs,
                        MerDatacentricShares *shares)
{
    unsigned edges = mer_datacentric_spatial_edges(cases, cases->mover_count - 1);

    for (unsigned spatial = cases->fixed_spatial; spatial <= edges; spatial++)
        if (!(spatial & ~edges) && (spatial & cases->fixed_spatial) == cases->fixed_spatial)
            mer_datacentric_share(cases, spatial, with_macs, &shares[spatial]);
}

/* Groups the cases of a tile; gives the multiplications it needs. */
static int64_t group_below(const MerDatacentricInput *input, const MerDatacentricLevel *level,
                           unsigned key, MerDatacentricCases *cases)
{
    const MerDatacentricLevel *upper = level - 1;
    int64_t                    extents[MER_DATACENTRIC_ROWS];

    for (int i = 0; i < level->count; i++) {
        int                      parent = upper->row_of[level->rows[i].dim];
        const MerDatacentricRow *row = &upper->rows[parent];

        extents[i] = (key >> parent) & 1 ? row->in.edge_tile : row->in.tile;
    }
    mer_datacentric_group(level, extents, cases);
    return input->every_level ? mer_datacentric_tile_macs(input, level, extents) : 0;
}

/* Runtime and busy PEs are all that a level below the first hands up. */
static Priced price_level(Context *context, int index, unsigned key)
{
    const MerDatacentricHardware *hardware = &context->input->hardware;
    const MerDatacentricLevel    *level = &context->model->levels[index];
    MerDatacentricCases           cases;
    MerDatacentricShares          shares[4];
    Inflow                        inflow;
    Priced                        sum = {0};
    int64_t total = 0, macs = 0, needed = group_below(context->input, level, key, &cases);

    fill_shares(&cases, context->input->every_level, shares);
    fill_inflow(hardware, &cases, &inflow);
    for (int s = 0; s < cases.set_count; s++) {
        const MerDatacentricSet *set = &cases.set[s];
        unsigned                 spatial = set->spatial;
        int64_t                  critical = set->macs * shares[spatial].critical;
        int64_t                  count = set->count, delay;
        Priced                   units;

        if (critical <= 0)
            continue;
        units = price_units(context, index, &cases, set, critical);
        delay = larger(units.runtime,
                       mer_datacentric_noc(hardware, set->outputs * shares[spatial].egress));
        if (set->last < 0)
            sum.runtime += units.runtime + inflow.delay[0][spatial];
        else
            sum.runtime += count * larger(delay, inflow.delay[set->last + 1][spatial]);
        for (int m = set->last + 1; m < cases.mover_count; m++) {
            sum.runtime += count * cases.steady[m] * larger(delay, inflow.delay[m + 1][spatial]);
            count *= 1 + cases.steady[m];
        }
        total += count;
        macs += context->input->every_level ? count * set->macs * shares[spatial].macs : 0;
        sum.active += (double)count * units.active;
    }
    if (total > 0)
        sum.active /= (double)total;
    if (macs < needed && (context->idle_level == 0 || index < context->idle_level))
        context->idle_level = index;
    return sum;
}

static void add_inflow(const Top *top, int mover, unsigned spatial, int64_t count,
                       MerDatacentricResult *result)
{
    for (int t = INPUT; t <= FILTER; t++)
        result->tensor[t].l2_read += count * top->inflow.taken[t][mover + 1][spatial];
}

static void size_buffers(const Top *top, MerDatacentricResult *result)
{
    unsigned spatial = top->cases.fixed_spatial;

    for (int t = INPUT; t <= FILTER; t++)
        result->tensor[t].l2_size_req = 2 * top->inflow.taken[t][0][spatial];
    result->tensor[OUTPUT].l2_size_req =
        2 * top->cases.set[0].outputs * top->shares[spatial].egress;
}

/* Fetching the next tiles into L2 can hold up every case alike. */
static int64_t offchip_delay(const MerDatacentricInput *input, const MerDatacentricResult *result)
{
    int64_t in = result->tensor[INPUT].l2_size_req + result->tensor[FILTER].l2_size_req;
    int64_t out = result->tensor[OUTPUT].l2_size_req;

    return larger(in / input->hardware.offchip_bw / 2, out / input->hardware.offchip_bw / 2);
}

/* The cases of one edge set on the first level; false: a cluster without work. */
static bool account_set(Context *context, Top *top, int s, int64_t floor_delay,
                        MerDatacentricResult *result)
{
    const MerDatacentricCases *cases = &top->cases;
    const MerDatacentricSet   *set = &cases->set[s];
    unsigned                   spatial = set->spatial;
    int64_t                    outputs = set->outputs * top->shares[spatial].egress;
    int64_t                    macs = set->macs * top->shares[spatial].macs;
    int64_t                    critical = set->macs * top->shares[spatial].critical;
    int64_t                    count = set->count;
    int64_t                    delay = 0; /* not used when skipped */
    bool                       skipped = critical <= 0;
    Priced                     units = {0};

    top->compute[s] = 0;
    if (!skipped) {
        units = price_units(context, 0, cases, set, critical);
        if (units.runtime == 0)
            return false;
        top->compute[s] = units.runtime;
        delay = larger(units.runtime, mer_datacentric_noc(&context->input->hardware, outputs));
        delay = larger(delay, floor_delay);
        if (set->last < 0)
            result->runtime_cycles +=
                larger(units.runtime + top->inflow.delay[0][spatial], floor_delay);
        else
            result->runtime_cycles +=
                count * larger(delay, top->inflow.delay[set->last + 1][spatial]);
        add_inflow(top, set->last, spatial, count, result);
    }
    for (int m = set->last + 1; m < cases->mover_count; m++) {
        if (!skipped) {
            int64_t steps = count * cases->steady[m];

            result->runtime_cycles += steps * larger(delay, top->inflow.delay[m + 1][spatial]);
            add_inflow(top, m, spatial, steps, result);
        }
        count *= 1 + cases->steady[m];
    }
    result->tensor[OUTPUT].l2_write += count * outputs;
    result->tensor[OUTPUT].l1_write += count * macs;
    if (skipped)
        return true;
    result->num_macs += count * macs;
    result->avg_utilized_pes += (double)count * units.active;
    top->total += count;
    return true;
}

typedef struct Case {
    int     set, mover;
    int64_t count;
} Case;

/* Case `number` in MAESTRO's order, on which the last figures of its report depend. */
static Case find_case(const MerDatacentricCases *cases, int64_t number)
{
    Case    found = {.mover = -1, .count = 1};
    int64_t inside = 1;

    for (int m = cases->mover_count - 1; m >= 0; m--) {
        bool    steps = cases->steady[m] > 0, ends = cases->edge[m] >= 0;
        int     states = 1 + steps + ends;
        int64_t turn = (number + inside - 1) / inside % states;

        if (turn > 0 && found.mover < 0)
            found.mover = m;
        if (turn == 1 && steps)
            found.count *= cases->steady[m];
        else if (turn > 0)
            found.set |= 1 << cases->edge[m];
        inside *= states;
    }
    return found;
}

/* What depends on single cases, not on sums: bandwidths, delays, intensity. */
static void report(const MerDatacentricInput *input, const Top *top, MerDatacentricResult *result)
{
    const MerDatacentricCases *cases = &top->cases;
    int64_t                    number_of_cases = 1, bandwidth = 0, buffers;
    MerDatacentricDelay        delay[DELAYS] = {{0}};
    bool                       is_first = true;

    buffers = larger(result->tensor[INPUT].l2_size_req + result->tensor[FILTER].l2_size_req,
                     result->tensor[OUTPUT].l2_size_req);
    for (int m = 0; m < cases->mover_count; m++)
        number_of_cases *= 1 + (cases->steady[m] > 0) + (cases->edge[m] >= 0);
    for (int64_t number = 0; number < number_of_cases; number++) {
        Case                     at = find_case(cases, number);
        const MerDatacentricSet *set = &cases->set[at.set];
        unsigned                 spatial = set->spatial;
        int64_t                  taken, moved, time = top->compute[at.set];

        if (time == 0)
            continue;
        taken = top->inflow.taken[INPUT][at.mover + 1][spatial] +
                top->inflow.taken[FILTER][at.mover + 1][spatial];
        moved = set->outputs * top->shares[spatial].egress;
        mer_datacentric_note_delay(&delay[INGRESS], top->inflow.delay[at.mover + 1][spatial],
                                   at.count, is_first);
        mer_datacentric_note_delay(&delay[EGRESS], mer_datacentric_noc(&input->hardware, moved),
                                   at.count, is_first);
        mer_datacentric_note_delay(&delay[COMPUTE], time, at.count, is_first);
        moved = larger(moved, taken);
        result->peak_noc_bw_req = larger(result->peak_noc_bw_req, moved / time);
        bandwidth += at.count * moved / time;
        result->offchip_bw_req = larger(result->offchip_bw_req, buffers / time) / 2;
        result->arithmetic_intensity =
            (double)(set->macs * top->shares[spatial].macs) / (double)taken;
        is_first = false;
    }
    if (is_first)
        return;
    result->avg_noc_bw_req = (double)bandwidth / (double)top->total;
    mer_datacentric_report_delays(delay, top->total, result);
}

static void finish_tensors(MerDatacentricResult *result)
{
    MerDatacentricTensorCounts *output = &result->tensor[OUTPUT];

    for (int t = INPUT; t <= FILTER; t++) {
        result->tensor[t].l1_write = result->tensor[t].l2_read;
        result->tensor[t].l1_read = result->num_macs;
    }
    output->l1_read = output->l1_write;
}

void mer_datacentric_evaluate(const MerDatacentricInput *input, MerDatacentricWanted wanted,
                              MerDatacentricResult *result)
{
    MerDatacentricModel  model;
    Context              context;
    Top                  top;
    int64_t              extents[MER_DATACENTRIC_ROWS], floor_delay;
    MerDatacentricLevel *level = &model.levels[0];

    memset(result, 0, sizeof *result);
    if (!mer_datacentric_resolve(input, &model, result))
        return;
    mer_datacentric_begin(input, &model, result);
    context.input = input;
    context.model = &model;
    context.idle_level = 0;
    for (int l = 0; l + 1 < model.level_count; l++)
        memset(context.memo[l].known, 0, sizeof context.memo[l].known);
    for (int i = 0; i < level->count; i++)
        extents[i] = level->rows[i].extent;
    mer_datacentric_group(level, extents, &top.cases);
    fill_shares(&top.cases, true, top.shares);
    fill_inflow(&input->hardware, &top.cases, &top.inflow);
    size_buffers(&top, result);
    floor_delay = offchip_delay(input, result);
    top.total = 0;
    for (int s = 0; s < top.cases.set_count; s++) {
        if (!account_set(&context, &top, s, floor_delay, result)) {
            mer_datacentric_stall(result);
            return;
        }
    }
    if (top.total > 0)
        result->avg_utilized_pes /= (double)top.total;
    result->idle_level = context.idle_level;
    finish_tensors(result);
    if (wanted == MER_DATACENTRIC_EVERYTHING)
        report(input, &top, result);
    mer_datacentric_finish(input, &model, wanted, result);
}
