/* Knobs of data-centric mappings, and what no mapping can beat. */
#include "map/directives/directives_inside.h"
#include "map/map.h"
#include "map/nest/factors.h"

#include <math.h>

enum { MOST_CHOICES = 16 };

static const char *level_name(const MerDirectiveSpace *space, int level)
{
    int last = space->options.max_levels - 1;

    return level == 0 ? "outer" : level == last ? "inner" : "middle";
}

/* Dims the layer type has: a GEMM has no X and no filter, a depthwise layer no K. */
static void find_dims(MerDirectiveSpace *space)
{
    static const int order[MER_DIRECTIVE_DIMS] = {MER_DIM_K, MER_DIM_C, MER_DIM_Y,
                                                  MER_DIM_X, MER_DIM_R, MER_DIM_S};
    const MerOp     *op = space->op;
    bool             is_gemm = op->kind == MER_OP_GEMM || op->kind == MER_OP_BATCHED_GEMM;

    for (int i = 0; i < MER_DIRECTIVE_DIMS; i++) {
        int dim = order[i];

        if ((dim == MER_DIM_K && op->kind == MER_OP_DEPTHWISE) ||
            (is_gemm && (dim == MER_DIM_X || mer_directives_is_filter(dim))))
            continue;
        space->dims[space->dim_count] = dim;
        space->limit[space->dim_count++] = (int)op->dims[dim];
        space->tiled_count += !mer_directives_is_filter(dim);
    }
}

/* All divisors, or of more than 16 those nearest to a geometric row. */
static int thin_divisors(int number, double *values)
{
    int divisors[MER_MOST_DIVISORS], all = mer_divisors(number, divisors), count = 0;

    for (int k = 0; k < MOST_CHOICES; k++) {
        double target = pow(number, (double)k / (MOST_CHOICES - 1));
        int    nearest = 0;

        if (all <= MOST_CHOICES) {
            if (k < all)
                values[count++] = divisors[k];
            continue;
        }
        for (int i = 1; i < all; i++)
            if (fabs(log(divisors[i] / target)) < fabs(log(divisors[nearest] / target)))
                nearest = i;
        if (count == 0 || values[count - 1] != divisors[nearest])
            values[count++] = divisors[nearest];
    }
    return count;
}

typedef struct Knobs {
    MerDirectiveSpace *space;
    MerKnob           *list;
    int                count;
    MerArena          *arena;
} Knobs;

/* Gives its place in the list. */
static int add_knob(Knobs *knobs, MerKnobKind kind, MerRole role, int level, int dim, int choices)
{
    MerKnob *knob = &knobs->list[knobs->count];

    *knob = (MerKnob){.kind = kind,
                      .role = role,
                      .dim = dim,
                      .op = -1,
                      .agent = knobs->count,
                      .choices = choices};
    knob->level = level < 0 ? -1 : knobs->space->options.max_levels - 1 - level;
    if (level < 0)
        knob->name = mer_role_name(role);
    else if (dim < 0)
        knob->name = mer_arena_format(knobs->arena, "%s.%s", mer_role_name(role),
                                      level_name(knobs->space, level));
    else
        knob->name = mer_arena_format(knobs->arena, "%s.%c.%s", mer_role_name(role),
                                      MER_DIM_LETTERS[dim], level_name(knobs->space, level));
    return knobs->count++;
}

static int add_divisors(Knobs *knobs, MerRole role, int level, int dim, int number)
{
    double *values = MER_ARRAY(knobs->arena, double, MOST_CHOICES);
    int     count = thin_divisors(number, values);
    int     knob = add_knob(knobs, MER_KNOB_ORDERED, role, level, dim, count);

    knobs->list[knob].values = values;
    return knob;
}

static void add_ten(Knobs *knobs)
{
    MerDirectiveSpace *space = knobs->space;
    double            *powers = MER_ARRAY(knobs->arena, double, MER_DIRECTIVE_SCALES);

    for (int l = 0; l < 2; l++)
        space->order[l] = add_knob(knobs, MER_KNOB_CATEGORY, MER_ROLE_ORDER, l, -1,
                                   mer_directives_factorial(space->tiled_count));
    for (int l = 0; l < 2; l++)
        space->parallel[l] =
            add_knob(knobs, MER_KNOB_CATEGORY, MER_ROLE_PARALLEL, l, -1, space->tiled_count);
    space->cluster[1] = add_divisors(knobs, MER_ROLE_CLUSTER, 1, -1, space->num_pes);
    for (int i = 0; i < space->tiled_count; i++)
        space->tile[0][i] = add_divisors(knobs, MER_ROLE_TILE, 0, space->dims[i], space->limit[i]);
    space->scale = add_knob(knobs, MER_KNOB_ORDERED, MER_ROLE_TILE, 1, -1, MER_DIRECTIVE_SCALES);
    for (int j = 0; j < MER_DIRECTIVE_SCALES; j++)
        powers[j] = 1 << j;
    knobs->list[space->scale].values = powers;
}

static void add_gamma_level(Knobs *knobs, int level)
{
    MerDirectiveSpace *space = knobs->space;

    space->parallel[level] =
        add_knob(knobs, MER_KNOB_CATEGORY, MER_ROLE_PARALLEL, level, -1,
                 space->options.par_rs ? space->dim_count : space->tiled_count);
    if (level > 0)
        space->cluster[level] =
            add_knob(knobs, MER_KNOB_ORDERED, MER_ROLE_CLUSTER, level, -1, space->num_pes);
    for (int i = 0; i < space->dim_count; i++) {
        bool fixed = mer_directives_is_filter(space->dims[i]) && !space->options.par_rs;

        space->tile[level][i] = add_knob(knobs, MER_KNOB_ORDERED, MER_ROLE_TILE, level,
                                         space->dims[i], fixed ? 1 : space->limit[i]);
    }
    for (int i = 0; i < space->dim_count; i++)
        space->rank[level][i] =
            add_knob(knobs, MER_KNOB_RANK, MER_ROLE_ORDER, level, space->dims[i], space->dim_count);
}

static void add_gamma(Knobs *knobs)
{
    MerDirectiveSpace *space = knobs->space;
    int     first = space->options.min_levels, choices = space->options.max_levels - first + 1;
    double *values = MER_ARRAY(knobs->arena, double, choices);

    space->levels = add_knob(knobs, MER_KNOB_ORDERED, MER_ROLE_LEVELS, -1, -1, choices);
    for (int i = 0; i < choices; i++)
        values[i] = first + i;
    knobs->list[space->levels].values = values;
    for (int l = 0; l < space->options.max_levels; l++)
        add_gamma_level(knobs, l);
}

static MerStatus check_op(const MerOp *op, MerError *error)
{
    if (!mer_op_kind_has_macs(op->kind))
        return mer_error_set(error, MER_UNSUPPORTED, "%s: %s layers have no directives", op->name,
                             mer_op_kind_name(op->kind));
    for (int dim = 0; dim < MER_DIM_COUNT; dim++)
        if (op->dims[dim] < 1 || op->dims[dim] > (1 << 24))
            return mer_error_set(error, MER_UNSUPPORTED,
                                 "%s: %c is %lld, directives take 1 .. 2^24", op->name,
                                 MER_DIM_LETTERS[dim], (long long)op->dims[dim]);
    return MER_OK;
}

static MerStatus set_options(MerDirectiveSpace *space, const MerDirectiveOptions *options,
                             MerError *error)
{
    MerDirectiveOptions *own = &space->options;

    *own = *options;
    own->min_levels = own->min_levels ? own->min_levels : 2;
    own->max_levels = own->max_levels ? own->max_levels : 2;
    if (own->genome == MER_GENOME_TEN)
        own->min_levels = own->max_levels = 2;
    if (own->min_levels < 1 || own->max_levels > MER_DIRECTIVE_LEVELS ||
        own->min_levels > own->max_levels)
        return mer_error_set(error, MER_INVALID,
                             "levels are %d .. %d, expected a range within 1 .. %d",
                             own->min_levels, own->max_levels, MER_DIRECTIVE_LEVELS);
    return MER_OK;
}

MerStatus mer_directives_open(MerDirectiveSpace *space, const MerOp *op,
                              const MerPlatform *platform, const MerDirectiveOptions *options,
                              MerArena *arena, MerError *error)
{
    Knobs knobs = {.space = space, .arena = arena};

    *space = (MerDirectiveSpace){.op = op};
    MER_TRY(check_op(op, error));
    MER_TRY(set_options(space, options, error));
    space->lanes = platform->unit_count > 0 ? platform->units[0].lanes : 1;
    space->num_pes = 1;
    for (int m = 0; m < platform->memory_count; m++)
        space->num_pes *= platform->memories[m].fanout.x * platform->memories[m].fanout.y;
    find_dims(space);
    space->levels = space->scale = -1;
    for (int l = 0; l < MER_DIRECTIVE_LEVELS; l++) {
        space->order[l] = space->parallel[l] = space->cluster[l] = -1;
        for (int i = 0; i < MER_DIRECTIVE_DIMS; i++)
            space->tile[l][i] = space->rank[l][i] = -1;
    }
    knobs.list = MER_ARRAY(arena, MerKnob, 1 + MER_DIRECTIVE_LEVELS * (2 + 2 * MER_DIRECTIVE_DIMS));
    if (space->options.genome == MER_GENOME_TEN)
        add_ten(&knobs);
    else
        add_gamma(&knobs);
    space->space = (MerSpace){.knob_count = knobs.count, .knobs = knobs.list};
    return MER_OK;
}

static double input_extent(const MerOp *op, int axis)
{
    double outputs = (double)op->dims[axis == 0 ? MER_DIM_Y : MER_DIM_X];
    double taps = (double)op->dims[axis == 0 ? MER_DIM_R : MER_DIM_S];
    double stride = op->kind == MER_OP_TRANSPOSED ? 1 : op->stride[axis];

    return taps < stride ? outputs * taps : (outputs - 1) * stride + taps;
}

/* MAESTRO's model may count fewer than all words of a tensor as read (a reload costs nothing when only an outer
 * loop moves), so this holds just what every mapping that does all MACs pays: operands and sums at the PEs, L2
 * filled once. */
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
