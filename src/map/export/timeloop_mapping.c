/* Reading Timeloop v0.3 mappings. Writing is in timeloop_write.c. */
#include "map/export/timeloop_mapping.h"

#include "base/yaml_need.h"
#include "hw/timeloop_arch.h"
#include "map/export/timeloop_terms.h"
#include "map/nest/nest_format.h"
#include "map/nest/nest_inside.h"

#include <string.h>

typedef enum Kind { TEMPORAL, SPATIAL, DATATYPE, BYPASS, KIND_COUNT } Kind;
static const char *const kinds[] = {"temporal", "spatial", "datatype", "bypass"};

typedef struct Reader {
    const MerPlatform *platform;
    MerNestPlan       *plan;
    unsigned           seen[MER_NEST_LEVELS]; /* bit per kind */
    bool               has_rest[MER_DIM_COUNT];
    MerNestSlot        rest[MER_DIM_COUNT]; /* where a factor 0 stands */
    MerError          *error;
} Reader;

/* The innermost dims of `order` at the end of the list, those it does not name before them. */
static void set_order(const MerTimeloopOrder *order, int *loops)
{
    int sorted[MER_DIM_COUNT];
    int count = 0;
    for (int i = 0; i < MER_DIM_COUNT; i++) {
        if (!mer_timeloop_names(order, loops[i])) {
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
    MerNestSlot slot = {level, place};
    if (factors->most[dim] > 0) {
        return mer_yaml_expected(node, reader->error,
                                 "one factor for each dimension, a mapping has no limits");
    }
    if (factors->exact[dim] == 0) {
        if (reader->has_rest[dim]) {
            return mer_yaml_error(node, reader->error,
                                  "%s: %c has factor 0, all that remains, at two places",
                                  node->path, MER_DIM_LETTERS[dim]);
        }
        reader->has_rest[dim] = true;
        reader->rest[dim] = slot;
    } else if (factors->exact[dim] > 0) {
        *mer_nest_slot_factor(reader->plan->levels, &slot, dim) = factors->exact[dim];
    }
    return MER_OK;
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

/* Temporal loops, or with `is_spatial` the fan-out below, on X as far as `split` says. */
static MerStatus read_loops(Reader *reader, MerYaml *entry, int level, bool is_spatial)
{
    MerTimeloopFactors factors;
    MerTimeloopOrder   order;
    const MerYaml     *node = mer_yaml_get(entry, "factors");
    int64_t            split = -1;
    MER_TRY(mer_timeloop_loops(entry, reader->plan->op, &factors, &order, reader->error));
    if (!is_spatial) {
        set_order(&order, reader->plan->levels[level].order);
    } else {
        MER_TRY(mer_yaml_get_int(entry, "split", 0, 64, &split, reader->error));
    }
    for (int d = 0; d < MER_DIM_COUNT; d++) { /* dims without a name come last */
        if (!mer_timeloop_names(&order, d)) {
            order.dims[order.count++] = d;
        }
    }
    int capacity = mer_nest_memory(reader->platform, level)->fanout.x;
    split = split < 0 ? find_split(&factors, order.dims, capacity) : split;
    for (int i = 0; i < MER_DIM_COUNT; i++) {
        MER_TRY(set_factor(reader, node, &factors, order.dims[i], level,
                           !is_spatial ? MER_PLACE_TEMPORAL
                           : i < split ? MER_PLACE_X
                                       : MER_PLACE_Y));
    }
    return MER_OK;
}

static MerStatus read_datatype(Reader *reader, MerYaml *entry, int level)
{
    unsigned keep = 0, bypass = 0;
    MER_TRY(mer_timeloop_keep(entry, &keep, &bypass, reader->error));
    if (keep & bypass) {
        return mer_yaml_error(entry, reader->error, "%s has a data-space in both keep and bypass",
                              entry->path);
    }
    if (bypass && level == reader->plan->level_count - 1) {
        return mer_yaml_error(entry, reader->error,
                              "%s: the outermost memory cannot bypass a data-space", entry->path);
    }
    reader->plan->levels[level].keep = (reader->plan->levels[level].keep | keep) & ~bypass;
    return MER_OK;
}

static MerStatus read_entry(Reader *reader, MerYaml *entry)
{
    int level, kind;
    MER_TRY(mer_timeloop_target(entry, reader->platform, &level, reader->error));
    MER_TRY(mer_yaml_need_word(entry, "type", kinds, KIND_COUNT, &kind, reader->error));
    kind = kind == BYPASS ? DATATYPE : kind;
    if (reader->seen[level] >> kind & 1) {
        return mer_yaml_error(entry, reader->error, "%s is a second %s entry of the same target",
                              entry->path, kinds[kind]);
    }
    reader->seen[level] |= 1u << kind;
    MER_TRY(kind == DATATYPE ? read_datatype(reader, entry, level)
                             : read_loops(reader, entry, level, kind == SPATIAL));
    return mer_yaml_finish(entry, reader->error);
}

/* A factor 0 becomes what the others leave of its dim. */
static void fill_remaining(Reader *reader)
{
    MerNestPlan *plan = reader->plan;
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        double product = mer_nest_extent(plan, d, plan->level_count);
        if (reader->has_rest[d] && product <= (double)plan->op->dims[d]) {
            *mer_nest_slot_factor(plan->levels, &reader->rest[d], d) =
                (int)(plan->op->dims[d] / (int64_t)product);
        }
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
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    mer_nest_plan_make(plan, op, platform->memory_count, arena);
    mer_nest_keep_allowed(plan, platform);
    for (int i = 0; i < list->count; i++) {
        MER_TRY(read_entry(&reader, list->items[i]));
    }
    fill_remaining(&reader);
    return mer_nest_check_list(plan, false, list, error);
}
