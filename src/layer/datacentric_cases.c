/* Grouping of the iteration cases of a cluster level, see datacentric_cases.h. What one unit holds and computes of
 * a row is said in datacentric_levels.h, for datacentric_plain.c too. */
#include "layer/datacentric_cases.h"

static int spatial_index(const MerDatacentricLevel *level, int row)
{
    return level->spatial[0] == row ? 0 : 1;
}

static unsigned row_bit(const MerDatacentricRow *row, int i)
{
    return row->in.edge_tile != row->in.tile ? 1u << i : 0;
}

/* Every case has the row's whole tile, or the partial one if it begins with that. A row that moves to a partial tile
 * doubles the sets. */
static void add_row(MerDatacentricCases *cases, int i, const MerDatacentricState *states, int count)
{
    const MerDatacentricRow   *row = &cases->level->rows[i];
    const MerDatacentricState *last = &states[count - 1];
    bool                       is_output = mer_datacentric_uses(row, OUTPUT), edge = states[0].edge;
    const MerDatacentricSizes *sizes = is_output ? &row->out : &row->in;
    int64_t                    edge_tile = row->spatial ? 1 : sizes->edge_tile;
    int64_t                    tile = row->spatial ? 1 : edge ? sizes->edge_tile : sizes->tile;
    int                        n = cases->set_count, mover = cases->mover_count;
    unsigned                   bit = row->spatial ? 0 : row_bit(row, i), spatial = 0;

    cases->init_edge[i] = edge;
    if (row->spatial) {
        int k = spatial_index(cases->level, i);

        spatial = 1u << k;
        cases->see[k] = last->see;
        cases->fixed_spatial |= edge ? spatial : 0;
    }
    if (count > 1) {
        bool steps = states[1].position == MER_DATACENTRIC_STEADY;

        cases->mover[mover] = i;
        cases->steady[mover] = steps ? states[1].count : 0;
        cases->edge[mover] = -1;
        cases->mover_count++;
    }
    if (last->position == MER_DATACENTRIC_EDGE) {
        for (int s = 0; s < n; s++) {
            MerDatacentricSet *from = &cases->set[s], *to = &cases->set[n + s];

            to->outputs = is_output ? from->outputs * edge_tile : from->outputs;
            to->macs = from->macs * edge_tile;
            to->last = mover;
            to->rows = from->rows | bit;
            to->spatial = from->spatial | spatial;
        }
        cases->edge[mover] = cases->edge_count++;
        cases->set_count = 2 * n;
    }
    for (int s = 0; s < n; s++) {
        MerDatacentricSet *set = &cases->set[s];

        if (is_output)
            set->outputs *= tile;
        set->macs *= tile;
        set->rows |= edge ? bit : 0;
        set->spatial |= edge ? spatial : 0;
    }
}

/* Ways the rows outside the last one of a set can stand: 1 + steady steps each. */
static void count_outer(MerDatacentricCases *cases)
{
    for (int s = 0; s < cases->set_count; s++) {
        MerDatacentricSet *set = &cases->set[s];

        set->count = 1;
        for (int m = 0; m < set->last; m++)
            if (cases->edge[m] < 0 || !((s >> cases->edge[m]) & 1))
                set->count *= 1 + cases->steady[m];
    }
}

static void prepare_ingress(MerDatacentricCases *cases, const bool *unrolled)
{
    const MerDatacentricLevel *level = cases->level;

    for (int t = 0; t < 2; t++) {
        int64_t full = 1, slid = 1;
        int     last = -1;

        for (int i = 0; i < level->count; i++)
            if (mer_datacentric_uses(&level->rows[i], t) && !unrolled[i])
                last = i;
        for (int i = 0; i < level->count; i++) {
            const MerDatacentricRow *row = &level->rows[i];
            int64_t factor = cases->init_edge[i] ? row->in.edge_tile : row->in.tile;

            if (row->spatial || !mer_datacentric_uses(row, t))
                continue;
            full *= factor;
            slid *= i == last ? (row->in.step > 1 ? row->in.step : 1) : factor;
        }
        cases->in_full[t] = full;
        cases->in_slid[t] = slid;
        cases->last_mover[t] = last;
    }
}

void mer_datacentric_group(const MerDatacentricLevel *level, const int64_t *extents,
                           MerDatacentricCases *cases)
{
    MerDatacentricState states[MER_DATACENTRIC_ROWS][3];
    int                 count[MER_DATACENTRIC_ROWS];
    bool                unrolled[MER_DATACENTRIC_ROWS];

    cases->level = level;
    cases->mover_count = cases->edge_count = 0;
    cases->fixed_spatial = 0;
    cases->set_count = 1;
    cases->set[0] = (MerDatacentricSet){.outputs = 1, .macs = 1, .last = -1};
    for (int i = 0; i < level->count; i++) {
        count[i] = mer_datacentric_states(&level->rows[i], extents[i], level->units, states[i]);
        unrolled[i] = states[i][0].unrolled;
        if (count[i] == 1)
            add_row(cases, i, states[i], 1);
    }
    for (int i = 0; i < level->count; i++)
        if (count[i] > 1)
            add_row(cases, i, states[i], count[i]);
    count_outer(cases);
    prepare_ingress(cases, unrolled);
}

static int64_t computed(const MerDatacentricCases *cases, unsigned spatial, bool partial_sums,
                        bool first, bool see, bool reuse)
{
    const MerDatacentricLevel *level = cases->level;
    int64_t                    product = 1;

    for (int k = 0; k < level->spatial_count; k++) {
        int                      i = level->spatial[k];
        const MerDatacentricRow *row = &level->rows[i];

        if (partial_sums || mer_datacentric_uses(row, OUTPUT))
            product *= mer_datacentric_computed(level, row, (spatial >> k) & 1,
                                                !cases->init_edge[i], first, see, reuse);
    }
    return product;
}

/* Bits of the spatial rows that a tensor uses. */
static unsigned spatial_rows(const MerDatacentricLevel *level, int tensor)
{
    unsigned rows = 0;

    for (int k = 0; k < level->spatial_count; k++)
        if (mer_datacentric_uses(&level->rows[level->spatial[k]], tensor))
            rows |= 1u << k;
    return rows;
}

static bool sees(const MerDatacentricCases *cases, int row, unsigned spatial)
{
    int k = spatial_index(cases->level, row);

    return ((spatial >> k) & 1) && cases->see[k];
}

/* Units at an edge besides the first: with a whole tile, and with a partial one. */
static int64_t whole_units(const MerDatacentricLevel *level, bool see)
{
    int64_t whole = level->edge_units - see - 1;

    return whole > 0 ? whole : 0;
}

static int64_t critical_share(const MerDatacentricCases *cases, unsigned spatial)
{
    const MerDatacentricLevel *level = cases->level;
    int                        speaker = level->last_spatial[OUTPUT];
    bool see = speaker >= 0 && level->edge_units == 1 && sees(cases, speaker, spatial) &&
               (spatial & spatial_rows(level, OUTPUT));

    return computed(cases, spatial, true, true, see, true);
}

static int64_t macs_share(const MerDatacentricCases *cases, unsigned spatial)
{
    const MerDatacentricLevel *level = cases->level;
    int64_t                    sum;
    bool                       see;

    if (!spatial)
        return level->units * computed(cases, spatial, true, true, false, true);
    see = sees(cases, level->spatial[level->spatial_count - 1], spatial);
    sum = computed(cases, spatial, true, true, level->edge_units == 1 && see, true);
    if (level->edge_units == 1)
        return sum;
    sum += whole_units(level, see) * computed(cases, spatial, true, true, false, true);
    return see ? sum + computed(cases, spatial, true, false, true, false) : sum;
}

static int64_t held(const MerDatacentricCases *cases, int tensor, unsigned spatial, bool first,
                    bool see)
{
    const MerDatacentricLevel *level = cases->level;
    int64_t                    product = 1;

    for (int k = 0; k < level->spatial_count; k++) {
        const MerDatacentricRow *row = &level->rows[level->spatial[k]];

        if (mer_datacentric_uses(row, tensor))
            product *= mer_datacentric_held(level, row, (spatial >> k) & 1, first, see);
    }
    return product;
}

/* Spatial part of what one unit takes in; `change` is a row, -1 in the first case. */
static int64_t taken_in(const MerDatacentricCases *cases, int tensor, int change, unsigned spatial,
                        bool first, bool see)
{
    const MerDatacentricLevel *level = cases->level;
    int64_t                    product = 1;

    if (change < 0)
        return held(cases, tensor, spatial, first, see);
    for (int k = 0; k < level->spatial_count; k++) {
        int                      i = level->spatial[k];
        const MerDatacentricRow *row = &level->rows[i];
        bool step = !first && (i > change || (i == change && change == cases->last_mover[tensor]));

        if (!mer_datacentric_uses(row, tensor))
            continue;
        if (step)
            product *= see ? row->in.edge_step : row->in.step;
        else
            product *= see ? row->in.edge_tile : row->in.tile;
    }
    return product;
}

/* Spatial part of what one unit takes in of a tensor, or of the output gives away. */
static int64_t unit_share(const MerDatacentricCases *cases, int tensor, int change,
                          unsigned spatial, bool first, bool see)
{
    return tensor == OUTPUT ? computed(cases, spatial, false, first, see, true)
                            : taken_in(cases, tensor, change, spatial, first, see);
}

/* The same of the whole array. */
static int64_t array_share(const MerDatacentricCases *cases, int tensor, int change,
                           unsigned spatial)
{
    const MerDatacentricLevel *level = cases->level;
    int                        speaker = level->last_spatial[tensor];
    int64_t                    sum;
    bool                       see;

    if (speaker < 0)
        return unit_share(cases, tensor, change, spatial, true, false);
    if (!(spatial & spatial_rows(level, tensor)))
        return unit_share(cases, tensor, change, spatial, true, false) +
               (level->units - 1) * unit_share(cases, tensor, change, spatial, false, false);
    see = sees(cases, speaker, spatial);
    sum = unit_share(cases, tensor, change, spatial, true, level->edge_units == 1 && see);
    if (level->edge_units == 1)
        return sum;
    sum += whole_units(level, see) * unit_share(cases, tensor, change, spatial, false, false);
    return see ? sum + unit_share(cases, tensor, change, spatial, false, true) : sum;
}

void mer_datacentric_share(const MerDatacentricCases *cases, unsigned spatial, bool with_macs,
                           MerDatacentricShares *shares)
{
    shares->egress = array_share(cases, OUTPUT, -1, spatial);
    shares->critical = critical_share(cases, spatial);
    shares->macs = with_macs ? macs_share(cases, spatial) : 0;
}

int64_t mer_datacentric_ingress(const MerDatacentricCases *cases, int tensor, int mover,
                                unsigned spatial)
{
    int     change = mover < 0 ? -1 : cases->mover[mover];
    int64_t whole = cases->in_full[tensor];

    if (change >= 0) {
        if (!mer_datacentric_uses(&cases->level->rows[change], tensor))
            return 0;
        if (change == cases->last_mover[tensor])
            whole = cases->in_slid[tensor];
    }
    return whole * array_share(cases, tensor, change, spatial);
}

unsigned mer_datacentric_spatial_edges(const MerDatacentricCases *cases, int mover)
{
    unsigned spatial = cases->fixed_spatial;

    for (int m = 0; m <= mover; m++)
        if (cases->edge[m] >= 0 && cases->level->rows[cases->mover[m]].spatial)
            spatial |= 1u << spatial_index(cases->level, cases->mover[m]);
    return spatial;
}
