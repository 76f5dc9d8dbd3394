/* Reading Timeloop v0.3 mappings. Writing is in timeloop_write.c. */
#include "map/export/timeloop_mapping.h"

#include "hw/timeloop_arch.h"
#include "map/export/timeloop_terms.h"
#include "map/nest/nest.h"
#include "map/nest/nest_format.h"

#include <stdio.h>
#include <string.h>

typedef enum Kind { TEMPORAL, SPATIAL, DATATYPE, BYPASS, KIND_COUNT } Kind;
static const char *const kinds[] = {"temporal", "spatial", "datatype", "bypass"};

typedef struct Reader {
    const MerPlatform *platform;
    MerNestPlan       *plan;
    unsigned           seen[MER_NEST_LEVELS];       /* bit per kind */
    int                remaining[MER_DIM_COUNT][3]; /* level, place and 1 of a factor 0 */
    MerError          *error;
} Reader;

/* The innermost dims of `order` at the end of the list, those it does not name before them. */
static void set_order(const MerTimeloopOrder *order, int *loops)
{
    int sorted[MER_DIM_COUNT];
    int count = 0;
    for (int i = 0; i < MER_DIM_COUNT; i++) {
        bool is_named = false;
        for (int j = 0; j < order->count; j++) {
            is_named = is_named || order->dims[j] == loops[i];
        }
        if (!is_named) {
            sorted[count++] = loops[i];
        }
    }
    for (int j = order->count - 1; j >= 0; j--) {
        sorted[count++] = order->dims[j];
    }
    memcpy(loops, sorted, sizeof sorted);
}

static MerStatus set_factor(Reader *reader, const MerYaml *node, const MerTimeloopFactors *factors,
                            int dim, int level, MerNestPlace place)
{
    MerNestLevel *to = &reader->plan->levels[level];
    int          *factor = place == MER_PLACE_TEMPORAL ? &to->temporal[dim]
                           : place == MER_PLACE_X      ? &to->x[dim]
                                                       : &to->y[dim];
    if (factors->most[dim] > 0) {
        return mer_yaml_expected(node, reader->error,
                                 "one factor for each dimension, a mapping has no limits");
    }
    if (factors->exact[dim] == 0) {
        if (reader->remaining[dim][2]) {
            return mer_yaml_error(node, reader->error,
                                  "%s: %c has factor 0, all that remains, at two places",
                                  node->path, MER_DIM_LETTERS[dim]);
        }
        reader->remaining[dim][0] = level;
        reader->remaining[dim][1] = (int)place;
        reader->remaining[dim][2] = 1;
    } else if (factors->exact[dim] > 0) {
        *factor = factors->exact[dim];
    }
    return MER_OK;
}

static MerStatus read_temporal(Reader *reader, MerYaml *entry, int level)
{
    MerTimeloopFactors factors;
    MerTimeloopOrder   order;
    const MerYaml     *node = mer_yaml_get(entry, "factors");
    const MerOp       *op = reader->plan->op;
    MerStatus          status = mer_timeloop_factors(node, op, &factors, reader->error);
    if (status == MER_OK) {
        status = mer_timeloop_order(mer_yaml_get(entry, "permutation"), op, &order, reader->error);
    }
    for (int d = 0; status == MER_OK && d < MER_DIM_COUNT; d++) {
        status = set_factor(reader, node, &factors, d, level, MER_PLACE_TEMPORAL);
    }
    if (status == MER_OK) {
        set_order(&order, reader->plan->levels[level].order);
    }
    return status;
}

/* Without `split`: dims in their order on X as long as they fit, the rest on Y. */
static int find_split(const MerTimeloopFactors *factors, const int *dims, int capacity)
{
    double product = 1;
    int    split = 0;
    for (; split < MER_DIM_COUNT; split++) {
        int factor = factors->exact[dims[split]];
        product *= factor > 1 ? factor : 1;
        if (product > capacity) {
            break;
        }
    }
    return split;
}

static MerStatus read_spatial(Reader *reader, MerYaml *entry, int level)
{
    MerTimeloopFactors factors;
    MerTimeloopOrder   order;
    const MerYaml     *node = mer_yaml_get(entry, "factors");
    const MerOp       *op = reader->plan->op;
    int                dims[MER_DIM_COUNT];
    int64_t            split = -1;
    MerStatus          status = mer_timeloop_factors(node, op, &factors, reader->error);
    if (status == MER_OK) {
        status = mer_timeloop_order(mer_yaml_get(entry, "permutation"), op, &order, reader->error);
    }
    if (status == MER_OK) {
        status = mer_yaml_get_int(entry, "split", 0, 64, &split, reader->error);
    }
    if (status != MER_OK) {
        return status;
    }
    int count = 0;
    for (; count < order.count; count++) {
        dims[count] = order.dims[count];
    }
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        bool is_named = false;
        for (int i = 0; i < order.count; i++) {
            is_named = is_named || order.dims[i] == d;
        }
        if (!is_named) {
            dims[count++] = d;
        }
    }
    int capacity = reader->platform->memories[reader->plan->level_count - 1 - level].fanout.x;
    split = split < 0 ? find_split(&factors, dims, capacity) : split;
    for (int i = 0; status == MER_OK && i < MER_DIM_COUNT; i++) {
        status = set_factor(reader, node, &factors, dims[i], level,
                            i < split ? MER_PLACE_X : MER_PLACE_Y);
    }
    return status;
}

static MerStatus read_datatype(Reader *reader, MerYaml *entry, int level)
{
    unsigned  keep;
    unsigned  bypass;
    MerStatus status = mer_timeloop_keep(entry, &keep, &bypass, reader->error);
    if (status == MER_OK && (keep & bypass)) {
        status = mer_yaml_error(entry, reader->error, "%s has a data-space in both keep and bypass",
                                entry->path);
    }
    if (status == MER_OK && bypass && level == reader->plan->level_count - 1) {
        status = mer_yaml_error(entry, reader->error,
                                "%s: the outermost memory cannot bypass a data-space", entry->path);
    }
    if (status == MER_OK) {
        reader->plan->levels[level].keep = (reader->plan->levels[level].keep | keep) & ~bypass;
    }
    return status;
}

static MerStatus read_entry(Reader *reader, MerYaml *entry)
{
    MerYaml  *type;
    int       level;
    int       kind = 0;
    MerStatus status = mer_timeloop_target(entry, reader->platform, &level, reader->error);
    if (status == MER_OK) {
        status = mer_yaml_need(entry, "type", &type, reader->error);
    }
    if (status == MER_OK) {
        status = mer_yaml_word(type, kinds, KIND_COUNT, &kind, reader->error);
    }
    if (status != MER_OK) {
        return status;
    }
    kind = kind == BYPASS ? DATATYPE : kind;
    if (reader->seen[level] >> kind & 1) {
        return mer_yaml_error(entry, reader->error, "%s is a second %s entry of the same target",
                              entry->path, kinds[kind]);
    }
    reader->seen[level] |= 1u << kind;
    status = kind == TEMPORAL  ? read_temporal(reader, entry, level)
             : kind == SPATIAL ? read_spatial(reader, entry, level)
                               : read_datatype(reader, entry, level);
    return status == MER_OK ? mer_yaml_finish(entry, reader->error) : status;
}

/* A factor 0 becomes what the others leave of its dim. */
static void fill_remaining(Reader *reader)
{
    MerNestPlan *plan = reader->plan;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        double product = 1;
        for (int l = 0; l < plan->level_count; l++) {
            product *=
                (double)plan->levels[l].temporal[d] * plan->levels[l].x[d] * plan->levels[l].y[d];
        }
        if (!reader->remaining[d][2] || product > (double)plan->op->dims[d]) {
            continue;
        }
        MerNestLevel *level = &plan->levels[reader->remaining[d][0]];
        int           place = reader->remaining[d][1];
        int          *factor = place == MER_PLACE_TEMPORAL ? level->temporal
                               : place == MER_PLACE_X      ? level->x
                                                           : level->y;
        factor[d] = (int)(plan->op->dims[d] / (int64_t)product);
    }
}

MerStatus mer_timeloop_mapping_read(const MerYaml *list, const MerOp *op,
                                    const MerPlatform *platform, MerNestPlan *plan, MerArena *arena,
                                    MerError *error)
{
    Reader reader = {.platform = platform, .plan = plan, .error = error};
    if (platform->memory_count > MER_NEST_LEVELS) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "platform %s has %d memories, a mapping takes at most %d",
                             platform->name, platform->memory_count, MER_NEST_LEVELS);
    }
    MerStatus status = mer_yaml_check_kind(list, MER_YAML_LIST, error);
    if (status != MER_OK) {
        return status;
    }
    mer_nest_plan_make(plan, op, platform->memory_count, arena);
    mer_nest_keep_allowed(plan, platform);
    for (int i = 0; status == MER_OK && i < list->count; i++) {
        status = read_entry(&reader, list->items[i]);
    }
    if (status != MER_OK) {
        return status;
    }
    fill_remaining(&reader);
    char where[300];
    snprintf(where, sizeof where, "%s:%d:%d: %s", list->file, list->line, list->column, list->path);
    return mer_nest_check_product(plan, false, where, error);
}
