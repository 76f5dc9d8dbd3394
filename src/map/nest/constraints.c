/* Constraints of loop nests: dataflows by name, what can be obeyed, who obeys, and how it reads. */
#include "map/nest/constraints.h"

#include "base/yaml_files.h"
#include "map/nest/nest_format.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char *const place_text[] = {"", " on x", " on y"};

/* The whole of a dim at one place, 1 at all others. */
static void place_whole(MerNestConstraints *constraints, const MerLayerShape *shape,
                        int level_count, int dim, int level, MerNestPlace place)
{
    for (int l = 0; l < level_count; l++) {
        for (int p = 0; p < 3; p++) {
            constraints->exact[l][p][dim] = 1;
        }
    }
    constraints->exact[level][place][dim] = shape->size[dim];
}

/* Rows of the filter: S as a whole in the innermost memory, R over the innermost fan-out where it fits. */
static void place_rows(MerNestConstraints *constraints, const MerLayerShape *shape,
                       const MerPlatform *platform)
{
    int count = platform->memory_count, l = 0;
    place_whole(constraints, shape, count, MER_DIM_S, 0, MER_PLACE_TEMPORAL);
    while (l < count && mer_nest_fanout(platform, l) == 1) {
        l++;
    }
    const MerFanout *fanout = l < count ? &mer_nest_memory(platform, l)->fanout : NULL;
    MerNestPlace     axis = fanout && fanout->y > 1 ? MER_PLACE_Y : MER_PLACE_X;
    if (fanout && shape->size[MER_DIM_R] <= (axis == MER_PLACE_Y ? fanout->y : fanout->x)) {
        place_whole(constraints, shape, count, MER_DIM_R, l, axis);
    }
}

#define DIM(letter) (1u << MER_DIM_##letter)

static const struct {
    unsigned apart;              /* dims that stay off every fan-out */
    unsigned keep;               /* tensors that the innermost memory keeps, and ... */
    int walked_count, walked[3]; /* ... dims of the innermost loops above it, if there are any */
} dataflows[] = {[MER_DATAFLOW_WEIGHT] = {DIM(N) | DIM(Y) | DIM(X) | DIM(R) | DIM(S),
                                          1u << MER_TENSOR_W,
                                          3,
                                          {MER_DIM_X, MER_DIM_Y, MER_DIM_N}},
                 [MER_DATAFLOW_OUTPUT] = {DIM(C) | DIM(R) | DIM(S),
                                          1u << MER_TENSOR_O,
                                          3,
                                          {MER_DIM_S, MER_DIM_R, MER_DIM_C}},
                 [MER_DATAFLOW_ROW] = {DIM(X) | DIM(N), 0, 1, {MER_DIM_X}}};

static void set_dataflow(MerNestConstraints *constraints, const MerLayerShape *shape,
                         const MerPlatform *platform, MerDataflow dataflow)
{
    int count = platform->memory_count;
    for (int l = 0; l < count; l++) {
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            int apart = dataflows[dataflow].apart >> d & 1;
            constraints->exact[l][MER_PLACE_X][d] = constraints->exact[l][MER_PLACE_Y][d] = apart;
        }
    }
    if (dataflow == MER_DATAFLOW_ROW) {
        place_rows(constraints, shape, platform);
    }
    if (count > 1) {
        constraints->keep[0] |= dataflows[dataflow].keep;
        constraints->inner_count[1] = dataflows[dataflow].walked_count;
        memcpy(constraints->inner[1], dataflows[dataflow].walked,
               sizeof dataflows[dataflow].walked);
    }
}

/* Can `rest` be split into one factor per place, each within its limit (0: none)? */
static bool can_fill(int rest, const int *limits, int count)
{
    if (count == 0) {
        return rest == 1;
    }
    for (int f = 1; f <= rest; f++) {
        if (limits[0] > 0 && f > limits[0]) {
            break;
        }
        if (rest % f == 0 && can_fill(rest / f, limits + 1, count - 1)) {
            return true;
        }
    }
    return false;
}

/* What is fixed of a dim divides it, and what is free can take the rest. */
static MerStatus check_dim(const MerNestConstraints *constraints, const MerLayerShape *shape,
                           const MerPlatform *platform, bool may_pad, int dim, MerError *error)
{
    int         limits[MER_NEST_SLOTS];
    int         count = 0, rest = shape->size[dim];
    bool        has_capacity = false;
    const char *last = "";
    for (int l = 0; l < platform->memory_count; l++) {
        const MerFanout *fanout = &mer_nest_memory(platform, l)->fanout;
        const int        most[] = {0, fanout->x, fanout->y};
        for (int p = 0; p < 3; p++) {
            int exact = constraints->exact[l][p][dim];
            int limit = constraints->most[l][p][dim];
            limit = most[p] > 0 && (limit == 0 || most[p] < limit) ? most[p] : limit;
            if (exact > 1 && ((rest % exact != 0 && (!may_pad || shape->size[dim] == 1)) ||
                              (limit > 0 && exact > limit))) {
                return mer_error_set(
                    error, MER_INVALID,
                    "constraint %c=%d at %s%s cannot hold: %c is %d in layer %s, of which %d "
                    "remain%s",
                    MER_DIM_LETTERS[dim], exact, constraints->level_names[l], place_text[p],
                    MER_DIM_LETTERS[dim], shape->size[dim], constraints->layer, rest,
                    limit > 0 && exact > limit ? ", and the place is too small" : "");
            }
            last = exact > 0 ? constraints->level_names[l] : last;
            rest = exact > 0 ? (rest + exact - 1) / exact : rest;
            if (exact == 0) {
                limits[count++] = limit;
                has_capacity = has_capacity || limit == 0;
            }
        }
    }
    if (rest > 1 && !has_capacity && !(may_pad && count > 0) && !can_fill(rest, limits, count)) {
        return mer_error_set(error, MER_INVALID,
                             "constraints on %c cannot hold together: %d of %d remain in layer %s "
                             "with no place to go"
                             "%s%s",
                             MER_DIM_LETTERS[dim], rest, shape->size[dim], constraints->layer,
                             *last ? ", the last is at " : "", last);
    }
    return MER_OK;
}

/* The fixed factors on one axis fit it together. */
static MerStatus check_axes(const MerNestConstraints *constraints, const MerPlatform *platform,
                            MerError *error)
{
    for (int l = 0; l < platform->memory_count; l++) {
        const MerFanout *fanout = &mer_nest_memory(platform, l)->fanout;
        for (int p = MER_PLACE_X; p <= MER_PLACE_Y; p++) {
            int    last = 0, has = p == MER_PLACE_X ? fanout->x : fanout->y;
            double used = 1;
            for (int d = 0; d < MER_DIM_COUNT; d++) {
                int exact = constraints->exact[l][p][d];
                used *= exact > 1 ? exact : 1;
                last = exact > 1 ? d : last;
            }
            if (used > has) {
                return mer_error_set(
                    error, MER_INVALID,
                    "constraint %c=%d at %s%s cannot hold: the fixed factors need %.0f instances, "
                    "the fan-out has %d",
                    MER_DIM_LETTERS[last], constraints->exact[l][p][last],
                    constraints->level_names[l], place_text[p], used, has);
            }
        }
    }
    return MER_OK;
}

MerStatus mer_nest_constraints_check(const MerNestConstraints *constraints,
                                     const MerLayerShape *shape, const MerPlatform *platform,
                                     bool may_pad, MerError *error)
{
    for (int l = 0; l < platform->memory_count; l++) {
        unsigned both = constraints->keep[l] & constraints->bypass[l];
        if (both || (l == platform->memory_count - 1 && constraints->bypass[l])) {
            unsigned which = both ? both : constraints->bypass[l];
            return mer_error_set(
                error, MER_INVALID, "constraint on %c at %s cannot hold: %s",
                MER_TENSOR_LETTERS[__builtin_ctz(which)], constraints->level_names[l],
                both ? "it is both kept and bypassed" : "the outermost memory keeps every tensor");
        }
    }
    MER_TRY(check_axes(constraints, platform, error));
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        MER_TRY(check_dim(constraints, shape, platform, may_pad, d, error));
    }
    return MER_OK;
}

MerStatus mer_nest_constraints_make(MerNestConstraints *constraints, const MerOp *op,
                                    const MerLayerShape *shape, const MerPlatform *platform,
                                    MerDataflow dataflow, const char *file, bool may_pad,
                                    MerArena *arena, MerError *error)
{
    *constraints = (MerNestConstraints){.layer = op->name};
    for (int l = 0; l < platform->memory_count && l < MER_NEST_LEVELS; l++) {
        constraints->level_names[l] = mer_nest_memory(platform, l)->name;
    }
    if (platform->memory_count > MER_NEST_LEVELS) {
        return MER_OK; /* refused where the space opens */
    }
    set_dataflow(constraints, shape, platform, dataflow);
    if (file) {
        MerYaml *root;
        MER_TRY(mer_yaml_read_files(file, arena, &root, error));
        MER_TRY(mer_nest_constraints_read(constraints, root, op, shape, platform, arena, error));
    }
    return mer_nest_is_constrained(constraints)
               ? mer_nest_constraints_check(constraints, shape, platform, may_pad, error)
               : MER_OK;
}

bool mer_nest_is_constrained(const MerNestConstraints *constraints)
{
    static const MerNestConstraints none;
    return memcmp(constraints, &none, offsetof(MerNestConstraints, layer)) != 0;
}

static bool obeys_factors(const MerNestConstraints *constraints, const MerNestLevel *level, int l,
                          const MerLayerShape *shape, char *reason, size_t size)
{
    for (int p = 0; p < 3; p++) {
        for (int i = 0; i < shape->dim_count; i++) {
            int d = shape->dims[i], factor = level->factors[p][d];
            int exact = constraints->exact[l][p][d], most = constraints->most[l][p][d];
            if (!mer_nest_permits(constraints, l, p, d, factor)) {
                snprintf(reason, size, "%c at %s%s is %d, %s %d", MER_DIM_LETTERS[d],
                         constraints->level_names[l], place_text[p], factor,
                         exact ? "fixed to" : "at most", exact ? exact : most);
                return false;
            }
        }
    }
    return true;
}

/* Loops of one trip have no place. */
static bool obeys_order(const MerNestConstraints *constraints, const MerNestLevel *level, int l,
                        char *reason, size_t size)
{
    int at = MER_DIM_COUNT - 1;
    for (int i = 0; i < constraints->inner_count[l]; i++) {
        int wanted = constraints->inner[l][i];
        if (level->temporal[wanted] == 1) {
            continue;
        }
        while (at > 0 && level->temporal[level->order[at]] == 1) {
            at--;
        }
        if (level->order[at] != wanted) {
            snprintf(reason, size,
                     "the loops of %s run over %c inside %c, fixed the other way round",
                     constraints->level_names[l], MER_DIM_LETTERS[level->order[at]],
                     MER_DIM_LETTERS[wanted]);
            return false;
        }
        at--;
    }
    return true;
}

bool mer_nest_allows(const MerNestConstraints *constraints, const MerNestPlan *plan,
                     const MerLayerShape *shape, char *reason, size_t size)
{
    for (int l = 0; l < plan->level_count; l++) {
        const MerNestLevel *level = &plan->levels[l];
        unsigned            wrong =
            (constraints->keep[l] & ~level->keep) | (constraints->bypass[l] & level->keep);
        if (wrong) {
            int tensor = __builtin_ctz(wrong);
            snprintf(reason, size, "%s %s %c, fixed to %s it", constraints->level_names[l],
                     level->keep >> tensor & 1 ? "keeps" : "bypasses", MER_TENSOR_LETTERS[tensor],
                     level->keep >> tensor & 1 ? "bypass" : "keep");
            return false;
        }
        if (!obeys_factors(constraints, level, l, shape, reason, size) ||
            !obeys_order(constraints, level, l, reason, size)) {
            return false;
        }
    }
    return true;
}

static const char *join(const char *text, const char *part, MerArena *arena)
{
    return mer_arena_format(arena, "%s%s%s", text, *text ? ", " : "", part);
}

/* "K=16, C<=4 on x", and the dims that stay off the fan-out. */
static const char *factor_text(const MerNestSpace *nest, int l, MerArena *arena)
{
    const MerNestConstraints *constraints = nest->constraints;
    const char               *text = "";
    const char               *apart = "";
    bool has_fanout = nest->fanout[l][MER_PLACE_X] > 1 || nest->fanout[l][MER_PLACE_Y] > 1;
    for (int i = 0; has_fanout && i < nest->shape.dim_count; i++) {
        int d = nest->shape.dims[i];
        if (constraints->exact[l][MER_PLACE_X][d] == 1 &&
            constraints->exact[l][MER_PLACE_Y][d] == 1) {
            apart = mer_arena_format(arena, "%s %c", apart, MER_DIM_LETTERS[d]);
        }
    }
    for (int p = 0; p < 3; p++) {
        for (int i = 0;
             (p == MER_PLACE_TEMPORAL || nest->fanout[l][p] > 1) && i < nest->shape.dim_count;
             i++) {
            int  d = nest->shape.dims[i];
            int  exact = constraints->exact[l][p][d], most = constraints->most[l][p][d];
            bool is_apart = p != MER_PLACE_TEMPORAL && strchr(apart, MER_DIM_LETTERS[d]);
            if ((exact || most) && !is_apart) {
                const char *part =
                    mer_arena_format(arena, "%c%s%d%s", MER_DIM_LETTERS[d],
                                     exact ? "=" : "<=", exact ? exact : most, place_text[p]);
                text = join(text, part, arena);
            }
        }
    }
    return *apart ? join(text, mer_arena_format(arena, "not spread:%s", apart), arena) : text;
}

static const char *level_text(const MerNestSpace *nest, int l, MerArena *arena)
{
    const MerNestConstraints *constraints = nest->constraints;
    const char               *text = factor_text(nest, l, arena);
    if (nest->fixed_count[l] > 0) {
        const char *order = "innermost";
        for (int i = 0; i < nest->fixed_count[l]; i++) {
            order = mer_arena_format(arena, "%s %c", order, MER_DIM_LETTERS[nest->fixed[l][i]]);
        }
        text = join(text, order, arena);
    }
    const char    *words[] = {"keeps", "bypasses"};
    const unsigned tensors[] = {constraints->keep[l], constraints->bypass[l]};
    for (int i = 0; i < 2; i++) {
        if (tensors[i]) {
            const char *letters = mer_nest_tensors_text(tensors[i], " ", arena);
            text = join(text, mer_arena_format(arena, "%s%s", words[i], letters), arena);
        }
    }
    return text;
}

const char *mer_nest_constraints_text(const MerNestSpace *nest, MerArena *arena)
{
    const char *text = "";
    for (int l = nest->level_count - 1; l >= 0; l--) {
        const char *level = level_text(nest, l, arena);
        if (*level) {
            text = mer_arena_format(arena, "%s%s: %s\n", text, nest->constraints->level_names[l],
                                    level);
        }
    }
    const char *ignored = nest->constraints->ignored;
    return ignored ? mer_arena_format(arena, "%snot obeyed: %s\n", text, ignored) : text;
}
