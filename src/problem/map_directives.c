/* Knobs of data-centric mappings, and points to plans and back. */
#include "problem/map_directives.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHOICES = 16, SCALES = 8 };

static const char *level_name(const MerDirectiveSpace *space, int level)
{
    int last = space->options.max_levels - 1;

    return level == 0 ? "outer" : level == last ? "inner" : "middle";
}

static bool is_sliding(int dim)
{
    return dim == MER_DIM_Y || dim == MER_DIM_X;
}

static bool is_filter(int dim)
{
    return dim == MER_DIM_R || dim == MER_DIM_S;
}

static int stride_of(const MerDirectiveSpace *space, int dim)
{
    if (space->options.compat || space->op->kind == MER_OP_TRANSPOSED)
        return 1;
    return dim == MER_DIM_Y ? space->op->stride[0] : dim == MER_DIM_X ? space->op->stride[1] : 1;
}

/* Dims the layer type has: a GEMM has no X and no filter, a depthwise layer no K. */
static void find_dims(MerDirectiveSpace *space)
{
    static const int order[MER_DIRECTIVE_DIMS] = {MER_DIM_K, MER_DIM_C, MER_DIM_Y,
                                                  MER_DIM_X, MER_DIM_R, MER_DIM_S};
    const MerOp     *op = space->op;
    bool             is_gemm = op->kind == MER_OP_GEMM || op->kind == MER_OP_BATCHED_GEMM;

    for (int i = 0; i < MER_DIRECTIVE_DIMS; i++) {
        int     dim = order[i];
        int64_t size = op->dims[dim];

        if ((dim == MER_DIM_K && op->kind == MER_OP_DEPTHWISE) ||
            (is_gemm && (dim == MER_DIM_X || is_filter(dim))))
            continue;
        if (space->options.compat && is_sliding(dim)) {
            int axis = dim == MER_DIM_X;

            size = (size - 1) * op->stride[axis] + op->dims[axis ? MER_DIM_S : MER_DIM_R];
        }
        space->dims[space->dim_count] = dim;
        space->limit[space->dim_count++] = (int)size;
        space->tiled_count += !is_filter(dim);
    }
}

enum { MOST_DIVISORS = 1536 }; /* of any number below 2^31 */

static int list_divisors(int number, int *divisors)
{
    int count = 0, low;

    for (int d = 1; d <= number / d; d++)
        if (number % d == 0)
            divisors[count++] = d;
    low = count;
    for (int i = low - 1; i >= 0; i--)
        if (divisors[i] != number / divisors[i])
            divisors[count++] = number / divisors[i];
    return count;
}

/* All divisors, or of more than 16 those nearest to a geometric row. */
static int thin_divisors(int number, double *values)
{
    int divisors[MOST_DIVISORS], all = list_divisors(number, divisors), count = 0;

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

static int factorial(int n)
{
    return n < 2 ? 1 : n * factorial(n - 1);
}

typedef struct Knobs {
    MerDirectiveSpace *space;
    MerKnob           *list;
    int                count;
    MerArena          *arena;
} Knobs;

static MerKnob *add_knob(Knobs *knobs, MerKnobKind kind, MerRole role, int level, int dim,
                         int choices)
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
    knobs->count++;
    return knob;
}

static void add_divisors(Knobs *knobs, MerRole role, int level, int dim, int number)
{
    double   values[MOST_CHOICES], *kept;
    int      count = thin_divisors(number, values);
    MerKnob *knob = add_knob(knobs, MER_KNOB_ORDERED, role, level, dim, count);

    kept = MER_ARRAY(knobs->arena, double, count);
    memcpy(kept, values, sizeof *kept * (size_t)count);
    knob->values = kept;
}

static void add_ten(Knobs *knobs)
{
    MerDirectiveSpace *space = knobs->space;
    MerKnob           *scale;
    double            *powers = MER_ARRAY(knobs->arena, double, SCALES);

    for (int l = 0; l < 2; l++) {
        space->order[l] = knobs->count;
        add_knob(knobs, MER_KNOB_CATEGORY, MER_ROLE_ORDER, l, -1, factorial(space->tiled_count));
    }
    for (int l = 0; l < 2; l++) {
        space->parallel[l] = knobs->count;
        add_knob(knobs, MER_KNOB_CATEGORY, MER_ROLE_PARALLEL, l, -1, space->tiled_count);
    }
    space->cluster[1] = knobs->count;
    add_divisors(knobs, MER_ROLE_CLUSTER, 1, -1, space->num_pes);
    for (int i = 0; i < space->tiled_count; i++) {
        space->tile[0][i] = knobs->count;
        add_divisors(knobs, MER_ROLE_TILE, 0, space->dims[i], space->limit[i]);
    }
    space->scale = knobs->count;
    scale = add_knob(knobs, MER_KNOB_ORDERED, MER_ROLE_TILE, 1, -1, SCALES);
    for (int j = 0; j < SCALES; j++)
        powers[j] = 1 << j;
    scale->values = powers;
}

static void add_gamma_level(Knobs *knobs, int level)
{
    MerDirectiveSpace *space = knobs->space;

    space->parallel[level] = knobs->count;
    add_knob(knobs, MER_KNOB_CATEGORY, MER_ROLE_PARALLEL, level, -1,
             space->options.par_rs ? space->dim_count : space->tiled_count);
    if (level > 0) {
        space->cluster[level] = knobs->count;
        add_knob(knobs, MER_KNOB_ORDERED, MER_ROLE_CLUSTER, level, -1, space->num_pes);
    }
    for (int i = 0; i < space->dim_count; i++) {
        bool fixed = is_filter(space->dims[i]) && !space->options.par_rs;

        space->tile[level][i] = knobs->count;
        add_knob(knobs, MER_KNOB_ORDERED, MER_ROLE_TILE, level, space->dims[i],
                 fixed ? 1 : space->limit[i]);
    }
    for (int i = 0; i < space->dim_count; i++) {
        space->rank[level][i] = knobs->count;
        add_knob(knobs, MER_KNOB_RANK, MER_ROLE_ORDER, level, space->dims[i], space->dim_count);
    }
}

static void add_gamma(Knobs *knobs)
{
    MerDirectiveSpace *space = knobs->space;
    int      first = space->options.min_levels, choices = space->options.max_levels - first + 1;
    double  *values = MER_ARRAY(knobs->arena, double, choices);
    MerKnob *levels;

    space->levels = knobs->count;
    levels = add_knob(knobs, MER_KNOB_ORDERED, MER_ROLE_LEVELS, -1, -1, choices);
    for (int i = 0; i < choices; i++)
        values[i] = first + i;
    levels->values = values;
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
    Knobs     knobs = {.space = space, .arena = arena};
    MerStatus status = check_op(op, error);

    memset(space, 0, sizeof *space);
    if (status == MER_OK)
        status = set_options(space, options, error);
    if (status != MER_OK)
        return status;
    space->op = op;
    space->lanes = platform->unit_count > 0 ? platform->units[0].lanes : 1;
    space->num_pes = 1;
    for (int m = 0; m < platform->memory_count; m++)
        space->num_pes *= platform->memories[m].fanout.x * platform->memories[m].fanout.y;
    if (options->num_pes > 0)
        space->num_pes = options->num_pes;
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

typedef struct Choice { /* one decoded level, in terms of output tiles */
    int parallel;       /* index into dims */
    int tile[MER_DIRECTIVE_DIMS], order[MER_DIRECTIVE_DIMS];
} Choice;

/* The k-th permutation of n items, in lexicographic order. */
static void unrank(int k, int n, int *order)
{
    bool used[MER_DIRECTIVE_DIMS] = {false};

    for (int i = 0; i < n; i++) {
        int block = factorial(n - 1 - i), skip = k / block, item = 0;

        k %= block;
        while (used[item] || skip-- > 0)
            item++;
        used[item] = true;
        order[i] = item;
    }
}

static int rank_of(int n, const int *order)
{
    int k = 0;

    for (int i = 0; i < n; i++) {
        int smaller = 0;

        for (int j = i + 1; j < n; j++)
            smaller += order[j] < order[i];
        k += smaller * factorial(n - 1 - i);
    }
    return k;
}

static int value_of(const MerDirectiveSpace *space, int knob, const MerIndex *point)
{
    return (int)space->space.knobs[knob].values[point[knob]];
}

static void decode_ten(const MerDirectiveSpace *space, const MerIndex *point, int level,
                       const Choice *outer, Choice *choice)
{
    choice->parallel = point[space->parallel[level]];
    unrank(point[space->order[level]], space->tiled_count, choice->order);
    for (int i = 0; i < space->dim_count; i++) {
        int scale = value_of(space, space->scale, point);

        if (i >= space->tiled_count) {
            choice->order[i] = i;
            choice->tile[i] = space->limit[i];
        } else {
            choice->tile[i] = outer ? (outer->tile[i] + scale - 1) / scale
                                    : value_of(space, space->tile[0][i], point);
        }
    }
}

/* Spreads the choices of a knob over 1 .. limit. */
static int scaled(const MerDirectiveSpace *space, int knob, const MerIndex *point, int limit)
{
    return 1 + (int)((int64_t)point[knob] * limit / space->space.knobs[knob].choices);
}

static void decode_gamma(const MerDirectiveSpace *space, const MerIndex *point, int level,
                         const Choice *outer, Choice *choice)
{
    const int *rank = space->rank[level];

    choice->parallel = point[space->parallel[level]];
    for (int i = 0; i < space->dim_count; i++) {
        int limit = outer ? outer->tile[i] : space->limit[i], j = i;

        if (is_filter(space->dims[i]) && choice->parallel != i)
            choice->tile[i] = space->limit[i];
        else
            choice->tile[i] = scaled(space, space->tile[level][i], point, limit);
        for (; j > 0 && point[rank[choice->order[j - 1]]] > point[rank[i]]; j--)
            choice->order[j] = choice->order[j - 1];
        choice->order[j] = i;
    }
}

static void write_level(const MerDirectiveSpace *space, const Choice *choice, bool outermost,
                        MerDirectivePlan *plan, int *at)
{
    static const int single[2] = {MER_DIM_N, MER_DIM_G};

    for (int i = 0; outermost && i < 2; i++)
        if (space->op->dims[single[i]] > 1)
            plan->directives[(*at)++] = (MerDirective){.dim = single[i], .size = 1, .offset = 1};
    for (int i = 0; i < space->dim_count; i++) {
        int index = choice->order[i], dim = space->dims[index], tile = choice->tile[index];
        int stride = stride_of(space, dim);

        plan->directives[(*at)++] = (MerDirective){.spatial = choice->parallel == index,
                                                   .output = is_sliding(dim),
                                                   .dim = dim,
                                                   .size = (tile - 1) * stride + 1,
                                                   .offset = tile * stride};
    }
}

/* In compat and without stride a tile is its own size; else it spans the inputs between outputs. */
void mer_directives_decode(const MerDirectiveSpace *space, const MerIndex *point,
                           MerDirectivePlan *plan, MerArena *arena)
{
    bool is_ten = space->options.genome == MER_GENOME_TEN;
    int  levels = is_ten ? 2 : value_of(space, space->levels, point), at = 0, left = space->num_pes;
    Choice choices[MER_DIRECTIVE_LEVELS];

    plan->op = space->op;
    plan->level_count = levels;
    plan->cluster = MER_ARRAY(arena, int, 2 * levels + 1);
    plan->start = plan->cluster + levels;
    plan->directives = MER_ARRAY(arena, MerDirective, levels * MER_DIRECTIVE_DIMS + 2);
    for (int l = 0; l < levels; l++) {
        const Choice *outer = l > 0 ? &choices[l - 1] : NULL;

        if (is_ten)
            decode_ten(space, point, l, outer, &choices[l]);
        else
            decode_gamma(space, point, l, outer, &choices[l]);
        plan->start[l] = at;
        write_level(space, &choices[l], l == 0, plan, &at);
    }
    plan->start[levels] = at;
    for (int l = 1; l < levels; l++) {
        int most = choices[l - 1].tile[choices[l].parallel];

        plan->cluster[l - 1] =
            is_ten ? value_of(space, space->cluster[l], point)
                   : scaled(space, space->cluster[l], point, most < left ? most : left);
        left /= plan->cluster[l - 1];
    }
}

bool mer_directives_equal(const MerDirectivePlan *a, const MerDirectivePlan *b)
{
    if (a->level_count != b->level_count)
        return false;
    for (int l = 0; l < a->level_count; l++)
        if (a->start[l + 1] != b->start[l + 1] ||
            (l + 1 < a->level_count && a->cluster[l] != b->cluster[l]))
            return false;
    for (int i = 0; i < a->start[a->level_count]; i++) {
        const MerDirective *x = &a->directives[i], *y = &b->directives[i];

        if (x->spatial != y->spatial || x->output != y->output || x->dim != y->dim ||
            x->size != y->size || x->offset != y->offset)
            return false;
    }
    return true;
}

/* What a level of a plan says about the dims of the space; false if a dim is missing. */
static bool read_choice(const MerDirectiveSpace *space, const MerDirectivePlan *plan, int level,
                        Choice *choice)
{
    int found = 0;

    choice->parallel = -1;
    for (int i = plan->start[level]; i < plan->start[level + 1]; i++) {
        const MerDirective *directive = &plan->directives[i];
        int                 index = 0, stride = stride_of(space, directive->dim);

        while (index < space->dim_count && space->dims[index] != directive->dim)
            index++;
        if (index == space->dim_count)
            continue;
        if (found == space->dim_count || directive->size < 1)
            return false;
        choice->order[found++] = index;
        choice->tile[index] = (directive->size - 1) / stride + 1;
        if (directive->spatial)
            choice->parallel = index;
    }
    return found == space->dim_count && choice->parallel >= 0;
}

/* The lowest index that `scaled` turns into `value`. */
static int unscaled(const MerDirectiveSpace *space, int knob, int value, int limit)
{
    int choices = space->space.knobs[knob].choices;

    return limit < 1 ? 0 : (int)(((int64_t)(value - 1) * choices + limit - 1) / limit);
}

static int find_value(const MerDirectiveSpace *space, int knob, int value)
{
    const MerKnob *entry = &space->space.knobs[knob];
    int            index = 0;

    while (index < entry->choices && (int)entry->values[index] != value)
        index++;
    return index;
}

static void encode_ten(const MerDirectiveSpace *space, const MerDirectivePlan *plan,
                       const Choice *choices, MerIndex *point)
{
    int scale = 0;

    for (int l = 0; l < 2; l++) {
        int order[MER_DIRECTIVE_DIMS], count = 0;

        for (int i = 0; i < space->dim_count; i++)
            if (choices[l].order[i] < space->tiled_count)
                order[count++] = choices[l].order[i];
        point[space->order[l]] = rank_of(count, order);
        point[space->parallel[l]] = choices[l].parallel;
    }
    for (int i = 0; i < space->tiled_count; i++) {
        point[space->tile[0][i]] = find_value(space, space->tile[0][i], choices[0].tile[i]);
        while (scale < SCALES - 1 &&
               (choices[0].tile[i] + (1 << scale) - 1) >> scale > choices[1].tile[i])
            scale++;
    }
    point[space->scale] = scale;
    point[space->cluster[1]] = find_value(space, space->cluster[1], plan->cluster[0]);
}

static void encode_gamma(const MerDirectiveSpace *space, const MerDirectivePlan *plan,
                         const Choice *choices, MerIndex *point)
{
    int left = space->num_pes;

    point[space->levels] = plan->level_count - space->options.min_levels;
    for (int l = 0; l < plan->level_count; l++) {
        const Choice *outer = l > 0 ? &choices[l - 1] : NULL;

        point[space->parallel[l]] = choices[l].parallel;
        for (int i = 0; i < space->dim_count; i++) {
            int knob = space->tile[l][i], limit = outer ? outer->tile[i] : space->limit[i];

            if (!is_filter(space->dims[i]) || choices[l].parallel == i)
                point[knob] = unscaled(space, knob, choices[l].tile[i], limit);
            point[space->rank[l][choices[l].order[i]]] = i;
        }
        if (outer) {
            int most = outer->tile[choices[l].parallel];

            point[space->cluster[l]] =
                unscaled(space, space->cluster[l], plan->cluster[l - 1], most < left ? most : left);
            left /= plan->cluster[l - 1] > 0 ? plan->cluster[l - 1] : 1;
        }
    }
}

/* Knobs that say nothing about the plan stay 0; the point must decode to the plan again. */
bool mer_directives_encode(const MerDirectiveSpace *space, const MerDirectivePlan *plan,
                           MerIndex *point)
{
    MerDirectivePlan again;
    MerArena        *scratch;
    Choice           choices[MER_DIRECTIVE_LEVELS];
    bool             equal;

    if (plan->level_count < space->options.min_levels ||
        plan->level_count > space->options.max_levels)
        return false;
    for (int k = 0; k < space->space.knob_count; k++)
        point[k] = 0;
    for (int l = 0; l < plan->level_count; l++)
        if (!read_choice(space, plan, l, &choices[l]))
            return false;
    if (space->options.genome == MER_GENOME_TEN)
        encode_ten(space, plan, choices, point);
    else
        encode_gamma(space, plan, choices, point);
    if (!mer_space_contains(&space->space, point))
        return false;
    scratch = mer_arena_new();
    mer_directives_decode(space, point, &again, scratch);
    equal = mer_directives_equal(plan, &again);
    mer_arena_free(scratch);
    return equal;
}
