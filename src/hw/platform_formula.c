/* Named formulas with constants: the cost and requantisation of a soc unit, its power, and the
 * timing of a vta. Which formulas exist and what they take is data, one row each
 * (docs/platform-format.md, "Formulas"). */
#include "hw/reader.h"

#include "base/yaml_need.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    CONV = 1,
    POINTWISE = 2,
    LINEAR = 4,
    DEPTHWISE = 8,
    DENSE = CONV | POINTWISE | LINEAR,
    ANY_OPERATOR = DENSE | DEPTHWISE
};

/* A constant is a number >= 0; a '+' before its name asks for > 0 (it divides, or counts
 * hardware). */
typedef struct Rule {
    const char *name;
    unsigned    operators;
    const char *constants[14];
} Rule;

static const Rule cost_rules[] = {
    {"pe-array", ANY_OPERATOR, {"+channels", "+columns", "+elements_per_cycle"}},
    {"aimc",
     DENSE,
     {"+rows", "+columns", "+input_block", "min_inputs", "+unroll", "mvm_ns",
      "weight_cycles_per_row"}},
    {"simd-matmul", DENSE, {"gated"}},
    {"dw-engine", DEPTHWISE, {NULL}},
    {"gap8-depthwise", DEPTHWISE, {NULL}},
    {"gap8-linear", LINEAR, {NULL}},
    /* rate_A_W: activation bits, weight bits */
    {"mac-rate",
     ANY_OPERATOR,
     {"+rate", "+rate_2_2", "+rate_2_4", "+rate_2_8", "+rate_4_2", "+rate_4_4", "+rate_4_8",
      "+rate_8_2", "+rate_8_4", "+rate_8_8"}},
    {"ne16", ANY_OPERATOR, {NULL}},
    /* rows: operator (conv 0, pointwise 1, linear 2, depthwise 3), c_in, c_out, k_x, k_y, o_x, o_y, stride, cycles;
     * shape: of `cycles`: c_in, k_x, k_y, o_x, o_y, stride */
    {"table", ANY_OPERATOR, {"cycles", "+shape", "rows"}},
};

static const Rule requantise_rules[] = {
    {"shift", 0, {"shift_bits"}},
    {"scale-shift", 0, {"+scale_max", "shift_max", "+bias_bits", "bias_shift_max"}},
};

static const Rule timing_rule = {"timing",
                                 0,
                                 {"load_setup", "load_row", "load_per_byte", "store_setup",
                                  "store_row", "store_per_byte", "gemm_setup", "gemm_interval",
                                  "alu_setup", "alu_interval", "pad_word", "host_us",
                                  "host_us_per_instruction"}};

static const Rule energy_rule = {
    "energy", 0, {"mac_pj", "alu_pj", "sram_pj_per_byte", "dram_pj_per_byte", "static_mw"}};

enum { COST_RULES = sizeof cost_rules / sizeof *cost_rules };
enum { REQUANTISE_RULES = sizeof requantise_rules / sizeof *requantise_rules };

/* A list of numbers, or of lists of numbers, in one row. */
static MerStatus read_values(const MerYaml *node, bool positive, double *values, int *count,
                             MerError *error)
{
    if (node->kind == MER_YAML_LIST) {
        for (int i = 0; i < node->count; i++) {
            MER_TRY(read_values(node->items[i], positive, values, count, error));
        }
        return MER_OK;
    }
    return mer_yaml_real(node, positive ? DBL_MIN : 0, INFINITY, &values[(*count)++], error);
}

static int count_scalars(const MerYaml *node)
{
    int count = node->kind == MER_YAML_SCALAR;
    for (int i = 0; node->kind == MER_YAML_LIST && i < node->count; i++) {
        count += count_scalars(node->items[i]);
    }
    return count;
}

static MerStatus read_number(MerConstant *constant, const MerYaml *node, bool positive,
                             MerError *error)
{
    double *values = MER_ARRAY(node->arena, double, count_scalars(node) + 1);
    constant->values = values;
    MER_TRY(read_values(node, positive, values, &constant->count, error));
    if (constant->count == 0) {
        return mer_yaml_expected(node, error, "at least one number");
    }
    return MER_OK;
}

/* One more constant of a formula. Their lists have no gaps, so that they can be grown. */
static MerConstant *add_constant(MerFormula *formula, const char *name, MerArena *arena)
{
    MerConstant *constants = (MerConstant *)formula->constants;
    MER_GROW(arena, constants, formula->count);
    formula->constants = constants;
    constants[formula->count] = (MerConstant){.name = name};
    return &constants[formula->count++];
}

/* The constants of `rule` that `map` gives. */
static MerStatus read_constants(MerFormula *formula, const Rule *rule, MerYaml *map,
                                MerError *error)
{
    for (int i = 0; rule->constants[i] != NULL; i++) {
        bool        positive = rule->constants[i][0] == '+';
        const char *name = rule->constants[i] + positive;
        MerYaml    *node = mer_yaml_get(map, name);
        if (node != NULL) {
            MerConstant *constant = add_constant(formula, name, map->arena);
            MER_TRY(read_number(constant, node, positive, error));
        }
    }
    return MER_OK;
}

/* The rule that `formula` of a map names. */
static MerStatus read_rule(const Rule *rules, int count, MerYaml *map, const Rule **rule,
                           MerFormula *formula, MerError *error)
{
    const char *names[16];
    int         index;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    for (int i = 0; i < count; i++) {
        names[i] = rules[i].name;
    }
    MER_TRY(mer_yaml_need_word(map, "formula", names, count, &index, error));
    *rule = &rules[index];
    formula->name = (*rule)->name;
    return MER_OK;
}

/* The words of a cost: which axis is x, a table's file, and formulas of single operators, as in
 * `{formula: simd-matmul, depthwise: gap8-depthwise}`. */
static MerStatus read_cost_words(MerFormula *cost, MerYaml *map, MerError *error)
{
    static const char *const axes[] = {"height", "width"};
    MerYaml                 *node = mer_yaml_get(map, "x_axis");
    const char              *names[COST_RULES];
    int                      index;
    if (node != NULL) {
        MER_TRY(mer_yaml_word(node, axes, 2, &index, error));
        add_constant(cost, "x_axis", map->arena)->text = axes[index];
    }
    node = strcmp(cost->name, "table") == 0 ? mer_yaml_get(map, "file") : NULL;
    if (node != NULL) {
        MER_TRY(mer_platform_read_table(node, add_constant(cost, "rows", map->arena), error));
    }
    for (int i = 0; i < COST_RULES; i++) {
        names[i] = cost_rules[i].name;
    }
    for (int i = 0; i < MER_OPERATOR_COUNT; i++) {
        node = mer_yaml_get(map, mer_operator_names[i]);
        if (node == NULL) {
            continue;
        }
        MER_TRY(mer_yaml_word(node, names, COST_RULES, &index, error));
        if ((cost_rules[index].operators & (1u << i)) == 0) {
            return mer_yaml_expected(node, error, "a formula that takes %s", mer_operator_names[i]);
        }
        add_constant(cost, mer_operator_names[i], map->arena)->text = names[index];
    }
    return MER_OK;
}

MerStatus mer_platform_read_cost(MerYaml *unit, MerUnit *into, MerError *error)
{
    static const Rule common = {"", 0, {"elementwise_per_cycle"}};
    MerYaml          *map;
    const Rule       *rule;
    MER_TRY(mer_yaml_need(unit, "cost", &map, error));
    MER_TRY(read_rule(cost_rules, COST_RULES, map, &rule, &into->cost, error));
    MER_TRY(read_cost_words(&into->cost, map, error));
    MER_TRY(read_constants(&into->cost, rule, map, error));
    MER_TRY(read_constants(&into->cost, &common, map, error));
    return mer_yaml_finish(map, error);
}

bool mer_platform_formula_takes(const MerFormula *cost, const char *operator_name)
{
    const char *formula = cost->name;
    for (int i = 0; i < cost->count; i++) {
        if (cost->constants[i].text != NULL &&
            strcmp(cost->constants[i].name, operator_name) == 0) {
            formula = cost->constants[i].text;
        }
    }
    for (int i = 0; i < COST_RULES; i++) {
        for (int j = 0; j < MER_OPERATOR_COUNT && strcmp(cost_rules[i].name, formula) == 0; j++) {
            if (strcmp(mer_operator_names[j], operator_name) == 0) {
                return (cost_rules[i].operators & (1u << j)) != 0;
            }
        }
    }
    return false;
}

MerStatus mer_platform_read_requantise(MerYaml *unit, MerUnit *into, MerError *error)
{
    MerYaml    *map = mer_yaml_get(unit, "requantise");
    const Rule *rule;
    if (map == NULL) {
        return MER_OK;
    }
    MER_TRY(read_rule(requantise_rules, REQUANTISE_RULES, map, &rule, &into->requantise, error));
    MER_TRY(read_constants(&into->requantise, rule, map, error));
    return mer_yaml_finish(map, error);
}

/* A map of single numbers under the name of its rule. */
static MerStatus read_numbers(MerFormula *formula, const Rule *rule, MerYaml *root, MerError *error)
{
    MerYaml *map = mer_yaml_get(root, rule->name);
    if (map == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    formula->name = rule->name;
    MER_TRY(read_constants(formula, rule, map, error));
    for (int i = 0; i < formula->count; i++) {
        if (formula->constants[i].count != 1) {
            return mer_yaml_expected(mer_yaml_get(map, formula->constants[i].name), error,
                                     "a number >= 0");
        }
    }
    return mer_yaml_finish(map, error);
}

MerStatus mer_platform_read_timing(MerPlatform *platform, MerYaml *root, MerError *error)
{
    MER_TRY(read_numbers(&platform->timing, &timing_rule, root, error));
    return read_numbers(&platform->energy, &energy_rule, root, error);
}

/* `digital+analog`: every part must be a unit. */
static MerStatus check_set(const MerPlatform *platform, const MerYaml *map, int index,
                           MerError *error)
{
    for (const char *part = map->keys[index]; part != NULL;) {
        size_t      length = strcspn(part, "+");
        const char *name = mer_arena_text_n(map->arena, part, length);
        if (mer_unit_find(platform->units, platform->unit_count, name) < 0) {
            return mer_yaml_error(map->items[index], error, "%s.%s: there is no unit %s", map->path,
                                  map->keys[index], name);
        }
        part = part[length] == '+' ? part + length + 1 : NULL;
    }
    return MER_OK;
}

/* `by-set` gives the power of each set of busy units, `additive` of each unit alone and `idle`. */
MerStatus mer_platform_read_power(MerPlatform *platform, MerYaml *root, MerError *error)
{
    static const Rule rules[] = {{"by-set", 0, {NULL}}, {"additive", 0, {NULL}}};
    MerFormula       *power = &platform->power_mw;
    MerYaml          *map = mer_yaml_get(root, "power_mw");
    const Rule       *rule;
    if (map == NULL) {
        return MER_OK;
    }
    MER_TRY(read_rule(rules, 2, map, &rule, power, error));
    if (map->count > MER_MAX_CONSTANTS) {
        return mer_yaml_error(map, error, "power_mw has %d keys, expected at most %d", map->count,
                              MER_MAX_CONSTANTS);
    }
    for (int i = 0; i < map->count; i++) {
        bool is_additive = rule == &rules[1];
        bool is_idle = is_additive && strcmp(map->keys[i], "idle") == 0;
        if (strcmp(map->keys[i], "formula") == 0) {
            continue;
        }
        if (is_additive && strchr(map->keys[i], '+') != NULL) {
            return mer_yaml_error(map->items[i], error, "%s.%s: additive power is per unit",
                                  map->path, map->keys[i]);
        }
        if (!is_idle) {
            MER_TRY(check_set(platform, map, i, error));
        }
        MER_TRY(mer_yaml_check_kind(map->items[i], MER_YAML_SCALAR, error));
        MerConstant *constant = add_constant(power, map->keys[i], map->arena);
        MER_TRY(read_number(constant, map->items[i], false, error));
    }
    return MER_OK;
}
