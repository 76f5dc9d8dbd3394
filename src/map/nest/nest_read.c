/* Reading loop nests: from plan files and from the one-line form. */
#include "map/nest/nest.h"
#include "map/nest/nest_format.h"

#include "hw/reader.h"
#include "map/export/timeloop_terms.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* "K16" -> dim and trips; false if it is no such thing. */
static bool parse_factor(const char *text, size_t length, int *dim, int *trips)
{
    char *end;
    *dim = length > 1 ? mer_timeloop_dim(text[0], NULL) : -1;
    if (*dim < 0 || text[1] < '0' || text[1] > '9') {
        return false;
    }
    long value = strtol(text + 1, &end, 10);
    *trips = value >= 1 && value <= INT_MAX ? (int)value : 0;
    return end == text + length && *trips > 0;
}

typedef struct Target { /* where the factors of one list go */
    int *factors;
    int *order; /* NULL for axes */
    int  placed;
} Target;

/* The loops named first stand outside; dims that are not named keep trip count 1 inside them. */
static bool place_factor(Target *target, int dim, int trips)
{
    int64_t product = (int64_t)target->factors[dim] * trips;
    if (target->factors[dim] > 1 || product > INT_MAX) {
        return false;
    }
    target->factors[dim] = (int)product;
    for (int i = target->placed; target->order && i < MER_DIM_COUNT; i++) {
        if (target->order[i] == dim) {
            memmove(target->order + target->placed + 1, target->order + target->placed,
                    (size_t)(i - target->placed) * sizeof *target->order);
            target->order[target->placed++] = dim;
            break;
        }
    }
    return true;
}

MerStatus mer_nest_check_product(const MerNestPlan *plan, bool may_pad, const char *where,
                                 MerError *error)
{
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        double size = (double)plan->op->dims[d];
        double product = mer_nest_extent(plan, d, plan->level_count);
        bool   is_padded = may_pad && size > 1 && product > size;
        if (product != size && !is_padded) {
            return mer_error_set(
                error, MER_INVALID, "%s: the factors of %c multiply to %.0f, expected %s%.0f%s",
                where, MER_DIM_LETTERS[d], product, may_pad && size > 1 ? "at least " : "", size,
                !may_pad && product > size ? " (factors=padded allows more)" : "");
        }
    }
    return MER_OK;
}

MerStatus mer_nest_check_list(const MerNestPlan *plan, bool may_pad, const MerYaml *list,
                              MerError *error)
{
    char where[300];
    snprintf(where, sizeof where, "%s:%d:%d: %s", list->file, list->line, list->column, list->path);
    return mer_nest_check_product(plan, may_pad, where, error);
}

static int level_of(const MerPlatform *platform, const char *name, size_t length)
{
    for (int m = 0; m < platform->memory_count; m++) {
        const char *known = platform->memories[m].name;
        if (strlen(known) == length && strncmp(known, name, length) == 0) {
            return platform->memory_count - 1 - m;
        }
    }
    return -1;
}

void mer_nest_keep_allowed(MerNestPlan *plan, const MerPlatform *platform)
{
    for (int l = 0; l < plan->level_count; l++) {
        const MerMemory *memory = mer_nest_memory(platform, l);
        plan->levels[l].keep &= l + 1 < plan->level_count ? ~memory->bypass : ~0u;
    }
}

/* "[WO]:", or "[]:" for nothing. */
static bool parse_keep(const char *text, size_t length, unsigned *keep)
{
    *keep = 0;
    for (size_t i = 1; i + 2 < length; i++) {
        const char *letter = strchr(MER_TENSOR_LETTERS, text[i]);
        if (!letter || !text[i]) {
            return false;
        }
        *keep |= 1u << (letter - MER_TENSOR_LETTERS);
    }
    return length >= 3 && text[length - 2] == ']';
}

MerStatus mer_nest_parse(const char *line, const MerOp *op, const MerPlatform *platform,
                         bool may_pad, MerNestPlan *plan, MerArena *arena, MerError *error)
{
    mer_nest_plan_make(plan, op, platform->memory_count, arena);
    mer_nest_keep_allowed(plan, platform);
    Target target = {0};
    int    level = -1;
    for (const char *at = line; *at;) {
        size_t length = strcspn(at, " |\t\n");
        bool   is_name = length > 1 && at[length - 1] == ':';
        int    dim, trips;
        if (is_name && length == 2 && level >= 0 && (at[0] == 'X' || at[0] == 'Y')) {
            target =
                (Target){at[0] == 'X' ? plan->levels[level].x : plan->levels[level].y, NULL, 0};
        } else if (is_name) {
            size_t name = strcspn(at, "[:");
            level = level_of(platform, at, name);
            if (level < 0) {
                return mer_error_set(error, MER_INVALID, "nest: \"%.*s\" is not a memory of %s",
                                     (int)name, at, platform->name);
            }
            unsigned *keep = &plan->levels[level].keep;
            bool      is_outermost = level == plan->level_count - 1;
            if (at[name] == '[' &&
                (!parse_keep(at + name, length - name, keep) || (is_outermost && *keep != 7u))) {
                return mer_error_set(error, MER_INVALID,
                                     "nest: found \"%.*s\", expected what it keeps as %.*s[%s]:",
                                     (int)length, at, (int)name, at, is_outermost ? "WIO" : "WI");
            }
            target = (Target){plan->levels[level].temporal, plan->levels[level].order, 0};
        } else if (length > 0 && (!target.factors || !parse_factor(at, length, &dim, &trips) ||
                                  !place_factor(&target, dim, trips))) {
            return mer_error_set(
                error, MER_INVALID,
                "nest: found \"%.*s\", expected a memory and a colon or a loop such as K16, "
                "each dimension once per level",
                (int)length, at);
        }
        at += length;
        at += strspn(at, " |\t\n");
    }
    return mer_nest_check_product(plan, may_pad, "nest", error);
}

static MerStatus read_factors(const MerYaml *list, Target target, MerError *error)
{
    if (!list) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int i = 0; i < list->count; i++) {
        const char *text;
        int         dim, trips;
        MER_TRY(mer_yaml_text(list->items[i], &text, error));
        if (!parse_factor(text, strlen(text), &dim, &trips) || !place_factor(&target, dim, trips)) {
            return mer_yaml_expected(list->items[i], error,
                                     "a loop such as K16, each dimension once");
        }
    }
    return MER_OK;
}

static MerStatus read_level(MerYaml *node, const MerPlatform *platform, MerNestPlan *plan,
                            unsigned *seen, MerError *error)
{
    const char *name = NULL;
    MerYaml    *name_node;
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(node, "name", &name_node, error));
    MER_TRY(mer_yaml_text(name_node, &name, error));
    int l = level_of(platform, name, strlen(name));
    if (l < 0 || *seen >> l & 1) {
        return mer_yaml_expected(name_node, error, "a memory of %s, each once", platform->name);
    }
    *seen |= 1u << l;
    MerNestLevel *level = &plan->levels[l];
    for (int p = MER_PLACE_TEMPORAL; p <= MER_PLACE_Y; p++) {
        int *order = p == MER_PLACE_TEMPORAL ? level->order : NULL;
        MER_TRY(read_factors(mer_yaml_get(node, mer_nest_place_keys[p]),
                             (Target){level->factors[p], order, 0}, error));
    }
    level->keep = mer_yaml_get(node, "keep") ? 0 : level->keep;
    MER_TRY(mer_tensors_read(node, "keep", &level->keep, error));
    if (l == plan->level_count - 1 && level->keep != 7u) {
        return mer_yaml_expected(node, error, "the outermost memory to keep W, I and O");
    }
    return mer_yaml_finish(node, error);
}

MerStatus mer_nest_read(MerYaml *body, const MerOp *op, const MerPlatform *platform, bool may_pad,
                        MerNestPlan *plan, MerArena *arena, MerError *error)
{
    MerYaml *line = mer_yaml_get(body, "nest");
    MerYaml *levels = mer_yaml_get(body, "levels");
    MER_TRY(mer_yaml_get_bool(body, "padded", &may_pad, error));
    if (line) {
        const char *text;
        MER_TRY(mer_yaml_text(line, &text, error));
        return mer_nest_parse(text, op, platform, may_pad, plan, arena, error);
    }
    if (!levels) {
        return mer_yaml_expected(body, error, "a key \"levels\" or \"nest\"");
    }
    mer_nest_plan_make(plan, op, platform->memory_count, arena);
    mer_nest_keep_allowed(plan, platform);
    MER_TRY(mer_yaml_check_kind(levels, MER_YAML_LIST, error));
    unsigned seen = 0;
    for (int i = 0; i < levels->count; i++) {
        MER_TRY(read_level(levels->items[i], platform, plan, &seen, error));
    }
    return mer_nest_check_list(plan, may_pad, levels, error);
}
