/* Units and their classes. A class is read once into a template; a unit copies it and may add only
 * its own memory and speed. `count: n` becomes n units that are priced alike. */
#include "hw/reader.h"

#include "base/yaml_need.h"
#include "mercator/graph.h"
#include "mercator/option.h"

#include <math.h>

static const MerKeyKinds unit_keys[] = {
    {MER_IN_ALL, {"name", "class", "memory_bytes"}},
    {MER_IN_CORES | MER_IN_SOC | MER_IN_CLUSTER, {"count"}},
    {MER_IN_PE_ARRAY, {"mac_pj", "lanes"}},
    {MER_IN_VTA, {"batch", "block_in", "block_out"}},
    {MER_IN_CORES,
     {"rows", "columns", "dataflow", "pe_memory_bytes", "flexible", "flexible_limit_bytes",
      "static_pj_per_cycle"}},
    {MER_IN_SOC, {"options", "requantise", "cost"}},
    {MER_IN_CLUSTER,
     {"flops", "bytes_per_s", "launch_us", "gap_us", "streams", "speed", "supports"}},
    {MER_IN_NATIVE, {"vector_bits", "threads"}},
    {0}};

static MerUnit default_unit(void)
{
    return (MerUnit){.memory_bytes = INFINITY,
                     .lanes = 1,
                     .pe_memory_bytes = INFINITY,
                     .flexible_limit_bytes = 2 * 1024 * 1024,
                     .bytes_per_s = INFINITY,
                     .speed = 1,
                     .streams = 1};
}

static MerStatus read_pe(MerUnit *unit, MerYaml *map, MerError *error)
{
    MER_TRY(mer_platform_get_cost(map, "mac_pj", &unit->mac_pj, error));
    return mer_platform_get_count(map, "lanes", &unit->lanes, error);
}

static MerStatus read_geometry(MerUnit *unit, MerYaml *map, MerError *error)
{
    MER_TRY(mer_platform_need_power(map, "batch", &unit->batch, error));
    MER_TRY(mer_platform_need_power(map, "block_in", &unit->block_in, error));
    return mer_platform_need_power(map, "block_out", &unit->block_out, error);
}

static MerStatus read_core(MerUnit *unit, MerYaml *map, MerError *error)
{
    static const char *const dataflows[] = {"nvdla", "shi", "eye"};
    int                      index;
    MER_TRY(mer_platform_need_count(map, "rows", &unit->rows, error));
    MER_TRY(mer_platform_need_count(map, "columns", &unit->columns, error));
    if ((double)unit->rows * unit->columns > INT32_MAX) {
        return mer_yaml_error(map, error, "%s has more than %d processing elements", map->path,
                              INT32_MAX);
    }
    MER_TRY(mer_yaml_need_word(map, "dataflow", dataflows, 3, &index, error));
    unit->dataflow = dataflows[index];
    MER_TRY(mer_platform_get_size(map, "pe_memory_bytes", &unit->pe_memory_bytes, error));
    MER_TRY(mer_yaml_get_bool(map, "flexible", &unit->flexible, error));
    MER_TRY(mer_platform_get_size(map, "flexible_limit_bytes", &unit->flexible_limit_bytes, error));
    return mer_platform_get_cost(map, "static_pj_per_cycle", &unit->static_pj_per_cycle, error);
}

static MerStatus check_item_count(const MerYaml *list, int most, MerError *error)
{
    return list->count >= 1 && list->count <= most
               ? MER_OK
               : mer_yaml_error(list, error, "%s has %d items, expected 1 to %d", list->path,
                                list->count, most);
}

static MerStatus read_option(MerUnitOption *option, MerYaml *map, MerError *error)
{
    int index;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(
        mer_yaml_need_word(map, "operator", mer_operator_names, MER_OPERATOR_COUNT, &index, error));
    option->operator_name = mer_operator_names[index];
    MER_TRY(mer_platform_need_name(map, "weights", &option->weights, error));
    MER_TRY(mer_platform_get_name(map, "name", &option->name, error));
    return mer_yaml_finish(map, error);
}

static MerStatus read_soc_unit(MerUnit *unit, MerYaml *map, MerError *error)
{
    MerYaml *list;
    MER_TRY(mer_yaml_need_kind(map, "options", MER_YAML_LIST, &list, error));
    MER_TRY(check_item_count(list, MER_MAX_OPTIONS, error));
    MER_TRY(mer_platform_read_cost(map, unit, error));
    MER_TRY(mer_platform_read_requantise(map, unit, error));
    MerUnitOption *options = MER_ARRAY(map->arena, MerUnitOption, list->count);
    unit->options = options;
    unit->option_count = list->count;
    for (int i = 0; i < list->count; i++) {
        MER_TRY(read_option(&options[i], list->items[i], error));
        if (!mer_platform_formula_takes(&unit->cost, options[i].operator_name)) {
            return mer_yaml_error(list->items[i], error,
                                  "%s.operator is %s, which the cost formula %s does not take",
                                  list->items[i]->path, options[i].operator_name, unit->cost.name);
        }
    }
    return MER_OK;
}

static MerStatus read_flops(MerUnit *unit, MerYaml *map, MerError *error)
{
    MerYaml  *node = mer_yaml_get(map, "flops");
    MerFlops *flops = MER_ARRAY(map->arena, MerFlops, MER_TYPE_COUNT);
    unit->flops = flops;
    if (node == NULL) {
        return MER_OK;
    }
    if (node->kind != MER_YAML_MAP) {
        unit->flops_count = 1;
        flops[0].type = "";
        return mer_platform_get_positive(map, "flops", &flops[0].per_s, error);
    }
    for (int i = 0; i < MER_TYPE_COUNT; i++) {
        MerFlops *entry = &flops[unit->flops_count];
        entry->type = mer_type_name((MerType)i);
        unit->flops_count += mer_yaml_get(node, entry->type) != NULL;
        MER_TRY(mer_platform_get_positive(node, entry->type, &entry->per_s, error));
    }
    MER_TRY(mer_yaml_finish(node, error));
    return unit->flops_count > 0
               ? MER_OK
               : mer_yaml_expected(node, error, "a rate, or one for each number type");
}

static MerStatus read_supports(MerUnit *unit, MerYaml *map, MerError *error)
{
    static const char *const kinds[] = {
#define X(id, name, macs) name,
        MER_OP_KIND_MAP(X)
#undef X
    };
    static const char *const all[] = {"all"};
    MerYaml                 *node = mer_yaml_get(map, "supports");
    int                      index;
    if (node == NULL || node->kind != MER_YAML_LIST) {
        return mer_yaml_get_word(map, "supports", all, 1, &index, error);
    }
    MER_TRY(check_item_count(node, MER_OP_KIND_COUNT, error));
    const char **supports = MER_ARRAY(map->arena, const char *, node->count);
    unit->supports = supports;
    unit->support_count = node->count;
    for (int i = 0; i < node->count; i++) {
        MER_TRY(mer_yaml_word(node->items[i], kinds, MER_OP_KIND_COUNT, &index, error));
        supports[i] = kinds[index];
    }
    return MER_OK;
}

static MerStatus read_device(MerUnit *unit, MerYaml *map, MerError *error)
{
    MER_TRY(read_flops(unit, map, error));
    MER_TRY(mer_platform_get_positive(map, "bytes_per_s", &unit->bytes_per_s, error));
    MER_TRY(mer_platform_get_cost(map, "launch_us", &unit->launch_us, error));
    MER_TRY(mer_platform_get_cost(map, "gap_us", &unit->gap_us, error));
    MER_TRY(mer_platform_get_count(map, "streams", &unit->streams, error));
    return read_supports(unit, map, error);
}

static MerStatus read_processor(MerUnit *unit, MerYaml *map, MerError *error)
{
    int64_t threads = 1;
    MER_TRY(mer_platform_get_count(map, "vector_bits", &unit->vector_bits, error));
    if (unit->vector_bits != 0 && unit->vector_bits != 128 && unit->vector_bits != 256 &&
        unit->vector_bits != 512) {
        return mer_yaml_expected(mer_yaml_get(map, "vector_bits"), error, "128, 256 or 512");
    }
    MER_TRY(mer_yaml_get_int(map, "threads", 1, 256, &threads, error));
    unit->threads = (int)threads;
    return MER_OK;
}

/* The keys that a unit may add to its class. */
static MerStatus read_additions(MerPlatformKind kind, MerUnit *unit, MerYaml *map, MerError *error)
{
    MER_TRY(mer_platform_get_size(map, "memory_bytes", &unit->memory_bytes, error));
    if (kind == MER_PLATFORM_CLUSTER) {
        MER_TRY(mer_platform_get_positive(map, "speed", &unit->speed, error));
    }
    return MER_OK;
}

static MerStatus (*const readers[])(MerUnit *unit, MerYaml *map, MerError *error) = {
    [MER_PLATFORM_PE_ARRAY] = read_pe,    [MER_PLATFORM_CORES] = read_core,
    [MER_PLATFORM_VTA] = read_geometry,   [MER_PLATFORM_SOC] = read_soc_unit,
    [MER_PLATFORM_CLUSTER] = read_device, [MER_PLATFORM_NATIVE] = read_processor};

/* The keys of a class, or of a unit without one. */
static MerStatus read_body(MerPlatformKind kind, MerUnit *unit, MerYaml *map, MerError *error)
{
    *unit = default_unit();
    MER_TRY(readers[kind](unit, map, error));
    return read_additions(kind, unit, map, error);
}

static MerStatus check_unit_keys(const MerYaml *map, MerPlatformKind kind, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    return mer_platform_check_keys(map, unit_keys, kind, error);
}

typedef struct Classes { /* units under the name of a class; class_index -1 until a unit uses it */
    int      count;
    MerUnit *units;
} Classes;

static MerStatus read_classes(MerPlatformKind kind, Classes *classes, MerYaml *root,
                              MerError *error)
{
    MerYaml *map = mer_yaml_get(root, "classes");
    *classes = (Classes){0};
    if (map == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    if (map->count > MER_MAX_UNITS) {
        return mer_yaml_error(map, error, "classes has %d entries, expected at most %d", map->count,
                              MER_MAX_UNITS);
    }
    classes->count = map->count;
    classes->units = MER_ARRAY(root->arena, MerUnit, map->count);
    for (int i = 0; i < map->count; i++) {
        MerYaml     key = mer_platform_key(map, i);
        MerUnit    *unit = &classes->units[i];
        const char *name;
        MER_TRY(mer_platform_name(&key, &name, error));
        MER_TRY(check_unit_keys(map->items[i], kind, error));
        MER_TRY(read_body(kind, unit, map->items[i], error));
        MER_TRY(mer_yaml_finish(map->items[i], error));
        unit->name = unit->class_name = name;
        unit->class_index = -1;
    }
    return MER_OK;
}

static MerStatus check_class_additions(const MerYaml *map, const char *class_name, MerError *error)
{
    static const char *const allowed[] = {"name", "count", "class", "memory_bytes", "speed"};
    for (int i = 0; i < map->count; i++) {
        bool found = false;
        for (int j = 0; j < 5; j++) {
            found |= mer_name_equal(map->keys[i], allowed[j]);
        }
        if (!found) {
            MerYaml place = mer_platform_key(map, i);
            return mer_yaml_error(&place, error,
                                  "%s.%s is beside class %s: a unit may add only memory_bytes and "
                                  "speed to its class",
                                  map->path, map->keys[i], class_name);
        }
    }
    return MER_OK;
}

/* Fills `unit` except for its name; `classes` may be given a class_index. */
static MerStatus read_entry(MerPlatform *platform, Classes *classes, MerUnit *unit, MerYaml *map,
                            MerError *error)
{
    MerYaml *class_node = mer_yaml_get(map, "class");
    int      index = 0;
    if (class_node == NULL) {
        MER_TRY(read_body(platform->kind, unit, map, error));
        unit->class_index = platform->class_count++;
        return MER_OK;
    }
    MER_TRY(mer_unit_need(class_node, "a name in classes", classes->units, classes->count, &index,
                          error));
    MerUnit *class = &classes->units[index];
    MER_TRY(check_class_additions(map, class->name, error));
    class->class_index = class->class_index < 0 ? platform->class_count++ : class->class_index;
    *unit = *class;
    return read_additions(platform->kind, unit, map, error);
}

/* An option without a name takes its unit's; two of one operator must differ. */
static MerStatus name_options(MerUnit *unit, const MerYaml *map, MerError *error)
{
    MerUnitOption *options = MER_ARRAY(map->arena, MerUnitOption, unit->option_count);
    for (int i = 0; i < unit->option_count; i++) {
        options[i] = unit->options[i];
        options[i].name = options[i].name != NULL ? options[i].name : unit->name;
        for (int j = 0; j < i; j++) {
            if (options[i].operator_name == options[j].operator_name &&
                mer_name_equal(options[i].name, options[j].name)) {
                return mer_yaml_error(map, error,
                                      "%s has two options named %s for %s: give each a name",
                                      map->path, options[i].name, options[i].operator_name);
            }
        }
    }
    unit->options = options;
    return MER_OK;
}

/* How many units the list makes, with every entry's count checked. */
static MerStatus count_units(MerPlatformKind kind, MerYaml *list, int *total, MerError *error)
{
    *total = 0;
    for (int i = 0; i < list->count; i++) {
        int count = 1;
        MER_TRY(check_unit_keys(list->items[i], kind, error));
        MER_TRY(mer_platform_get_count(list->items[i], "count", &count, error));
        if (count > MER_MAX_UNITS - *total) {
            return mer_yaml_error(list->items[i], error, "%s brings more than %d units",
                                  list->items[i]->path, MER_MAX_UNITS);
        }
        *total += count;
    }
    if (*total == 0) {
        return mer_yaml_error(list, error, "units is empty, expected at least one unit");
    }
    bool is_single =
        kind == MER_PLATFORM_PE_ARRAY || kind == MER_PLATFORM_VTA || kind == MER_PLATFORM_NATIVE;
    if (*total > 1 && is_single) {
        return mer_yaml_error(list->items[1], error,
                              "units has %d items, expected one unit in a %s", *total,
                              mer_platform_kind_name(kind));
    }
    return MER_OK;
}

int mer_unit_find(const MerUnit *units, int count, const char *name)
{
    for (int i = 0; i < count; i++) {
        if (mer_name_equal(units[i].name, name)) {
            return i;
        }
    }
    return -1;
}

MerStatus mer_unit_unknown(const MerYaml *node, const char *what, const MerUnit *units, int count,
                           MerError *error)
{
    const char **names = MER_ARRAY(node->arena, const char *, count);
    for (int i = 0; i < count; i++) {
        names[i] = units[i].name;
    }
    const char *near = mer_name_nearest(node->text, names, count);
    return mer_yaml_expected(node, error, "%s%s%s%s", what, near != NULL ? ", did you mean \"" : "",
                             near != NULL ? near : "", near != NULL ? "\"" : "");
}

MerStatus mer_unit_need(const MerYaml *node, const char *what, const MerUnit *units, int count,
                        int *index, MerError *error)
{
    const char *name;
    MER_TRY(mer_yaml_text(node, &name, error));
    *index = mer_unit_find(units, count, name);
    return *index >= 0 ? MER_OK : mer_unit_unknown(node, what, units, count, error);
}

MerStatus mer_platform_read_units(MerPlatform *platform, MerYaml *root, MerError *error)
{
    MerYaml *list;
    Classes  classes;
    int      total;
    MER_TRY(read_classes(platform->kind, &classes, root, error));
    MER_TRY(mer_yaml_need_kind(root, "units", MER_YAML_LIST, &list, error));
    MER_TRY(count_units(platform->kind, list, &total, error));
    MerUnit *next = MER_ARRAY(root->arena, MerUnit, total);
    platform->units = next;
    for (int i = 0; i < list->count; i++) {
        MerYaml    *map = list->items[i];
        MerUnit     unit;
        const char *name;
        int         count = 1;
        MER_TRY(mer_platform_need_name(map, "name", &name, error));
        MER_TRY(mer_platform_get_count(map, "count", &count, error));
        MER_TRY(read_entry(platform, &classes, &unit, map, error));
        MER_TRY(mer_yaml_finish(map, error));
        for (int copy = 0; copy < count; copy++, next++, platform->unit_count++) {
            *next = unit;
            next->name = count == 1 ? name : mer_arena_format(root->arena, "%s%d", name, copy);
            if (mer_unit_find(platform->units, platform->unit_count, next->name) >= 0) {
                return mer_yaml_error(map, error, "%s makes a second unit named %s", map->path,
                                      next->name);
            }
            MER_TRY(name_options(next, map, error));
        }
    }
    return MER_OK;
}
