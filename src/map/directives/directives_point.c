/* From points to data-centric mappings and back. */
#include "layer/directive_format.h"
#include "map/directives/directives_inside.h"

#include <string.h>

static int stride_of(const MerDirectiveSpace *space, int dim)
{
    if (space->op->kind == MER_OP_TRANSPOSED)
        return 1;
    return dim == MER_DIM_Y ? space->op->stride[0] : dim == MER_DIM_X ? space->op->stride[1] : 1;
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
        int block = mer_directives_factorial(n - 1 - i), skip = k / block, item = 0;

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
        k += smaller * mer_directives_factorial(n - 1 - i);
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

        if (mer_directives_is_filter(space->dims[i]) && choice->parallel != i)
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
                                                   .output = dim == MER_DIM_Y || dim == MER_DIM_X,
                                                   .dim = dim,
                                                   .size = (tile - 1) * stride + 1,
                                                   .offset = tile * stride};
    }
}

/* Without stride a tile is its own size; else it spans the inputs between outputs. */
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
    MerArena *scratch = mer_arena_new();
    bool      equal = strcmp(mer_directives_line(a, scratch), mer_directives_line(b, scratch)) == 0;

    mer_arena_free(scratch);
    return equal;
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
        while (scale < MER_DIRECTIVE_SCALES - 1 &&
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

            if (!mer_directives_is_filter(space->dims[i]) || choices[l].parallel == i)
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
