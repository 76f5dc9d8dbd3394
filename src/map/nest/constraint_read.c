/* Reading Timeloop's constraint lists (v0.3; docs/timeloop-and-maestro.md, "Constraints"). A spatial
 * constraint of a target speaks of the fan-out below it. With `split` the leading dims of the permutation
 * belong to the X axis and the others to Y; without it a fixed factor goes where it fits, X first, and a
 * limit holds for the X axis, the dim staying off Y. */
#include "map/nest/constraints.h"

#include "base/yaml_need.h"
#include "hw/timeloop_arch.h"
#include "map/export/timeloop_terms.h"

#include <string.h>

typedef struct Reader {
    MerNestConstraints  *constraints;
    const MerOp         *op;
    const MerLayerShape *shape;
    const MerPlatform   *platform;
    MerNestSlot          rest[MER_DIM_COUNT]; /* where a factor 0 stands; level -1: nowhere */
    MerArena            *arena;
    MerError            *error;
} Reader;

static MerStatus fix(Reader *reader, const MerYaml *node, int level, MerNestPlace place, int dim,
                     int factor)
{
    int *exact = &reader->constraints->exact[level][place][dim];
    if (*exact != 0 && *exact != factor) {
        return mer_yaml_error(
            node, reader->error, "%s fixes %c at %s to %d, it is fixed to %d already", node->path,
            MER_DIM_LETTERS[dim], reader->constraints->level_names[level], factor, *exact);
    }
    *exact = factor;
    return MER_OK;
}

static int capacity_on(const Reader *reader, int level, MerNestPlace place)
{
    const MerFanout *fanout = &mer_nest_memory(reader->platform, level)->fanout;
    int              capacity = place == MER_PLACE_X ? fanout->x : fanout->y;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        int exact = reader->constraints->exact[level][place][d];
        capacity /= exact > 1 ? exact : 1;
    }
    return capacity;
}

/* A fixed factor without an axis: on X if it fits there, else on Y, else on both. */
static MerStatus fix_anywhere(Reader *reader, const MerYaml *node, int level, int dim, int factor)
{
    int capacity_x = capacity_on(reader, level, MER_PLACE_X);
    int capacity_y = capacity_on(reader, level, MER_PLACE_Y);
    int x = factor <= capacity_x ? factor : factor <= capacity_y || capacity_x < 1 ? 1 : capacity_x;
    while (factor % x != 0) {
        x--;
    }
    if (factor / x > capacity_y) {
        return mer_yaml_error(
            node, reader->error,
            "%s: %c=%d does not fit the %d x %d that are left of the fan-out of %s", node->path,
            MER_DIM_LETTERS[dim], factor, capacity_x, capacity_y,
            reader->constraints->level_names[level]);
    }
    MER_TRY(fix(reader, node, level, MER_PLACE_X, dim, x));
    return fix(reader, node, level, MER_PLACE_Y, dim, factor / x);
}

static MerNestPlace other_axis(MerNestPlace axis)
{
    return axis == MER_PLACE_X ? MER_PLACE_Y : MER_PLACE_X;
}

/* What an entry says of a dim at a place; where it names no axis, the place is the one to prefer. */
static MerStatus set_factor(Reader *reader, const MerYaml *node, const MerTimeloopFactors *factors,
                            MerNestSlot slot, int dim, bool is_certain)
{
    int exact = factors->exact[dim], most = factors->most[dim];
    if (most > 0) {
        int *now = &reader->constraints->most[slot.level][slot.place][dim];
        *now = *now == 0 || most < *now ? most : *now;
    }
    if (most > 0 && !is_certain) {
        MER_TRY(fix(reader, node, slot.level, other_axis(slot.place), dim, 1));
    }
    if (exact > 0) {
        return is_certain ? fix(reader, node, slot.level, slot.place, dim, exact)
                          : fix_anywhere(reader, node, slot.level, dim, exact);
    }
    if (exact == 0 && reader->rest[dim].level >= 0) {
        return mer_yaml_error(node, reader->error,
                              "%s: %c has factor 0, all that remains, at two places", node->path,
                              MER_DIM_LETTERS[dim]);
    }
    reader->rest[dim] = exact == 0 ? slot : reader->rest[dim];
    return MER_OK;
}

static MerStatus read_temporal(Reader *reader, MerYaml *entry, int level)
{
    MerTimeloopFactors  factors;
    MerTimeloopOrder    order;
    MerNestConstraints *constraints = reader->constraints;
    const MerYaml      *node = mer_yaml_get(entry, "factors");
    MER_TRY(mer_timeloop_loops(entry, reader->op, &factors, &order, reader->error));
    for (int d = 0; node && d < MER_DIM_COUNT; d++) {
        MER_TRY(
            set_factor(reader, node, &factors, (MerNestSlot){level, MER_PLACE_TEMPORAL}, d, true));
    }
    if (order.count > 0) {
        const MerYaml *permutation = mer_yaml_get(entry, "permutation");
        bool           is_same =
            constraints->inner_count[level] == order.count &&
            memcmp(constraints->inner[level], order.dims, sizeof(int) * (size_t)order.count) == 0;
        if (constraints->inner_count[level] > 0 && !is_same) {
            return mer_yaml_error(permutation, reader->error,
                                  "%s: the loop order of %s is fixed already", permutation->path,
                                  constraints->level_names[level]);
        }
        constraints->inner_count[level] = order.count;
        memcpy(constraints->inner[level], order.dims, sizeof order.dims);
    }
    return MER_OK;
}

static MerStatus read_spatial(Reader *reader, MerYaml *entry, int level)
{
    MerTimeloopFactors factors;
    MerTimeloopOrder   order;
    int64_t            split = -1;
    MerNestPlace       wider =
        mer_nest_memory(reader->platform, level)->fanout.x > 1 ? MER_PLACE_X : MER_PLACE_Y;
    MerNestPlace   axis_of[MER_DIM_COUNT] = {MER_PLACE_TEMPORAL}; /* until it is known */
    const MerYaml *node = mer_yaml_get(entry, "factors");
    MER_TRY(mer_timeloop_loops(entry, reader->op, &factors, &order, reader->error));
    MER_TRY(mer_yaml_get_int(entry, "split", 0, 64, &split, reader->error));
    for (int i = 0; split >= 0 && i < order.count; i++) {
        MerNestPlace axis = i < split ? MER_PLACE_X : MER_PLACE_Y;
        axis_of[order.dims[i]] = axis;
        MER_TRY(fix(reader, entry, level, other_axis(axis), order.dims[i], 1));
    }
    for (int d = 0; node && d < MER_DIM_COUNT; d++) {
        bool        is_certain = axis_of[d] != MER_PLACE_TEMPORAL;
        MerNestSlot slot = {level, is_certain ? axis_of[d] : wider};
        MER_TRY(set_factor(reader, node, &factors, slot, d, is_certain));
    }
    return MER_OK;
}

static MerStatus read_entry(Reader *reader, MerYaml *entry)
{
    static const char *const types[] = {"temporal",    "spatial",       "datatype",
                                        "bypass",      "dataspace",     "utilization",
                                        "parallelism", "max_overbooked"};
    MerNestConstraints      *all = reader->constraints;
    int                      level, type;
    MER_TRY(mer_timeloop_target(entry, reader->platform, &level, reader->error));
    MER_TRY(mer_yaml_need_word(entry, "type", types, sizeof types / sizeof types[0], &type,
                               reader->error));
    if (type >= 5) {
        all->ignored =
            mer_arena_format(reader->arena, "%.300s%s%s of %s", all->ignored ? all->ignored : "",
                             all->ignored ? ", " : "", types[type], all->level_names[level]);
        return MER_OK;
    }
    MER_TRY(type == 0 ? read_temporal(reader, entry, level)
            : type == 1
                ? read_spatial(reader, entry, level)
                : mer_timeloop_keep(entry, &all->keep[level], &all->bypass[level], reader->error));
    return mer_yaml_finish(entry, reader->error);
}

/* A factor 0 is what the fixed factors leave of its dim; nothing of it is left for the other
 * places. */
static void fill_rest(Reader *reader, int dim)
{
    int  rest = reader->shape->size[dim];
    int *at = &reader->constraints->exact[reader->rest[dim].level][reader->rest[dim].place][dim];
    for (int l = 0; l < reader->platform->memory_count; l++) {
        for (int p = 0; p < 3; p++) {
            int *exact = &reader->constraints->exact[l][p][dim];
            *exact = *exact == 0 && exact != at ? 1 : *exact;
            rest = exact != at && rest % *exact == 0 ? rest / *exact : rest;
        }
    }
    *at = rest;
}

MerStatus mer_nest_constraints_read(MerNestConstraints *constraints, MerYaml *root, const MerOp *op,
                                    const MerLayerShape *shape, const MerPlatform *platform,
                                    MerArena *arena, MerError *error)
{
    Reader   reader = {.constraints = constraints,
                       .op = op,
                       .shape = shape,
                       .platform = platform,
                       .arena = arena,
                       .error = error};
    MerYaml *lists[MER_TIMELOOP_LISTS];
    memset(reader.rest, -1, sizeof reader.rest);
    MER_TRY(mer_yaml_check_kind(root, MER_YAML_MAP, error));
    int count = mer_timeloop_constraint_lists(root, lists);
    if (count == 0) {
        return mer_yaml_error(root, error,
                              "found no constraints, expected a list under mapspace_constraints, "
                              "architecture_constraints, mapspace.constraints or constraints");
    }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < lists[i]->count; j++) {
            MER_TRY(read_entry(&reader, lists[i]->items[j]));
        }
    }
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (reader.rest[d].level >= 0) {
            fill_rest(&reader, d);
        }
    }
    return MER_OK;
}
