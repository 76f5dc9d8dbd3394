/* Plans of kind "graph" as `placement.yaml` keeps them and as people read them. */
#include "place/cost/fusion.h"
#include "place/place_parts.h"

#include "base/engineering.h"
#include "base/name_table.h"
#include "mercator/text.h"

#include <string.h>

static uint64_t hash_numbers(uint64_t hash, const int *numbers, int count)
{
    return numbers ? mer_hash_bytes(hash, numbers, (size_t)count * sizeof *numbers)
                   : mer_hash_int(hash, -1);
}

static uint64_t hash_plan(const MerPlan *plan, uint64_t hash)
{
    const MerGraphPlan *graph = mer_graph_plan(plan);
    hash = hash_numbers(hash, graph->unit, graph->op_count);
    hash = hash_numbers(hash, graph->priority, graph->op_count);
    hash = hash_numbers(hash, graph->cluster, graph->op_count);
    return hash_numbers(hash, graph->replicas, graph->unit_count);
}

static void write_op(const MerPlace *place, const MerGraphPlan *plan, int o, MerJson *json)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "name", place->names[o]);
    mer_json_int(json, "id", place->ids[o]);
    mer_json_text(json, "group", place->group_names[place->group[o]]);
    mer_json_text(json, "unit", place->unit_names[plan->unit[o]]);
    if (plan->priority) {
        mer_json_int(json, "priority", plan->priority[o]);
    }
    if (plan->cluster) {
        mer_json_text(json, "cluster", place->names[plan->cluster[o]]);
    }
    if (plan->level) {
        mer_json_int(json, "fuse", plan->level[o]);
    }
    mer_json_end_object(json);
}

/* Of the operators of each unit; what transfers and gaps add depends on the evaluator. */
typedef struct UnitWork {
    int    count, first, last;
    double busy_us, bytes;
} UnitWork;

/* What runs as one kernel takes its time together. */
static void add_kernel_times(const MerPlace *place, const MerGraphPlan *plan, UnitWork *work,
                             MerArena *arena)
{
    int              count = place->op_count;
    const MerFusion *fusion = mer_fusion_open(place, arena);
    int             *start = MER_ARRAY(arena, int, count + 2);
    int *members = MER_ARRAY(arena, int, count + 1), *seen = MER_ARRAY(arena, int, count + 1);
    for (int o = 0; o < count; o++) {
        start[plan->cluster[o] + 2]++;
    }
    for (int o = 0; o < count; o++) {
        start[o + 2] += start[o + 1];
    }
    for (int o = 0; o < count; o++) {
        members[start[plan->cluster[o] + 1]++] = o;
    }
    for (int o = 0; o < count; o++) {
        int size = start[o + 1] - start[o];
        if (size > 0) {
            int unit = plan->unit[members[start[o]]];
            work[unit].busy_us +=
                mer_fusion_time(fusion, members + start[o], size, plan->cluster, unit, seen);
        }
    }
}

static UnitWork *work_of_units(const MerPlace *place, const MerGraphPlan *plan, MerArena *arena)
{
    UnitWork *work = MER_ARRAY(arena, UnitWork, place->unit_count);
    for (int o = 0; o < place->op_count; o++) {
        int       u = plan->unit[o];
        UnitWork *unit = &work[u];
        unit->first = unit->count == 0 ? o : unit->first;
        unit->last = o;
        unit->count++;
        unit->busy_us +=
            plan->cluster ? 0 : place->time_us[(size_t)o * (size_t)place->unit_count + (size_t)u];
        unit->bytes += place->size[o];
    }
    if (plan->cluster) {
        add_kernel_times(place, plan, work, arena);
    }
    return work;
}

static void write_units(const MerPlace *place, const MerGraphPlan *plan, MerJson *json)
{
    MerArena       *arena = mer_arena_new();
    const UnitWork *work = work_of_units(place, plan, arena);
    mer_json_array(json, "units");
    for (int u = 0; u < place->unit_count; u++) {
        mer_json_object(json, NULL);
        mer_json_text(json, "name", place->unit_names[u]);
        mer_json_real(json, "busy_s", 1e-6 * work[u].busy_us);
        mer_json_real(json, "bytes", work[u].bytes);
        mer_json_real(json, "limit_bytes", place->limit[u]);
        if (plan->replicas) {
            mer_json_int(json, "replicas", plan->replicas[u]);
        }
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
    mer_arena_free(arena);
}

static void write_plan(const MerProblem *problem, const MerPlan *plan, MerJson *json)
{
    const MerPlace     *place = mer_place_of(problem);
    const MerGraphPlan *graph = mer_graph_plan(plan);
    mer_json_array(json, "ops");
    for (int o = 0; o < graph->op_count; o++) {
        write_op(place, graph, o, json);
    }
    mer_json_end_array(json);
    write_units(place, graph, json);
}

typedef struct Reader {
    const MerPlace *place;
    MerGraphPlan   *plan;
    MerNameTable    ops; /* names to entries of `place->names` */
    bool           *is_read;
    MerArena       *arena;
} Reader;

static MerStatus read_op_name(const Reader *r, MerYaml *node, const char *expected, int *op,
                              MerError *error)
{
    const char *text;
    MER_TRY(mer_yaml_text(node, &text, error));
    const char *const *entry = mer_name_table_find(&r->ops, text);
    if (!entry) {
        return mer_yaml_expected(node, error, "%s", expected);
    }
    *op = (int)(entry - r->place->names);
    return MER_OK;
}

static MerStatus read_op(Reader *r, MerYaml *map, MerError *error)
{
    MerGraphPlan *plan = r->plan;
    MerYaml      *node;
    int64_t       number = 0;
    int           op;
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(map, "name", &node, error));
    MER_TRY(read_op_name(r, node, "an operator of the graph", &op, error));
    if (r->is_read[op]) {
        return mer_yaml_expected(node, error, "every operator once");
    }
    r->is_read[op] = true;
    MER_TRY(mer_yaml_need(map, "unit", &node, error));
    MER_TRY(
        mer_yaml_word(node, r->place->unit_names, r->place->unit_count, &plan->unit[op], error));
    if (plan->priority) {
        MER_TRY(mer_yaml_get_int(map, "priority", 0, INT32_MAX, &number, error));
        plan->priority[op] = (int)number;
    }
    if (plan->cluster) {
        plan->cluster[op] = op;
        if ((node = mer_yaml_get(map, "cluster")) != NULL) {
            MER_TRY(read_op_name(r, node, "an operator, the first of its cluster",
                                 &plan->cluster[op], error));
        }
    }
    number = 0;
    MER_TRY(mer_yaml_get_int(map, "fuse", 0, INT32_MAX, &number, error));
    if (plan->level) {
        plan->level[op] = (int)number;
    }
    mer_yaml_get(map, "id");
    mer_yaml_get(map, "group");
    return mer_yaml_finish(map, error);
}

/* Which of the optional parts the file has: those of its first operator. */
static void prepare(const MerYaml *list, Reader *r)
{
    MerYaml *first = list->count > 0 ? list->items[0] : NULL;
    if (!first || first->kind != MER_YAML_MAP) {
        return;
    }
    int count = r->plan->op_count + 1;
    r->plan->priority = mer_yaml_get(first, "priority") ? MER_ARRAY(r->arena, int, count) : NULL;
    r->plan->cluster = mer_yaml_get(first, "cluster") ? MER_ARRAY(r->arena, int, count) : NULL;
    r->plan->level =
        r->plan->cluster && mer_yaml_get(first, "fuse") ? MER_ARRAY(r->arena, int, count) : NULL;
}

static MerStatus read_replicas(Reader *r, MerYaml *list, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int i = 0; i < list->count; i++) {
        MerYaml *map = list->items[i], *name;
        int64_t  replicas = 1;
        int      unit;
        MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
        MER_TRY(mer_yaml_need(map, "name", &name, error));
        MER_TRY(mer_yaml_word(name, r->place->unit_names, r->place->unit_count, &unit, error));
        if (mer_yaml_get(map, "replicas")) {
            MER_TRY(mer_yaml_get_int(map, "replicas", 1, r->place->unit_count, &replicas, error));
            if (!r->plan->replicas) {
                r->plan->replicas = MER_ARRAY(r->arena, int, r->place->unit_count);
                for (int u = 0; u < r->place->unit_count; u++) {
                    r->plan->replicas[u] = 1;
                }
            }
            r->plan->replicas[unit] = (int)replicas;
        }
    }
    return MER_OK;
}

static MerStatus read_plan(const MerProblem *problem, MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    const MerPlace *place = mer_place_of(problem);
    MerYaml        *list, *units = mer_yaml_get(body, "units");
    Reader          r = {.place = place,
                         .plan = mer_place_new_plan(place, plan, arena),
                         .ops = {.arena = arena},
                         .is_read = MER_ARRAY(arena, bool, place->op_count + 1),
                         .arena = arena};
    MER_TRY(mer_yaml_need(body, "ops", &list, error));
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int o = place->op_count - 1; o >= 0; o--) { /* of equal names the first */
        mer_name_table_set(&r.ops, place->names[o], (void *)&place->names[o]);
    }
    prepare(list, &r);
    if (r.plan->cluster && !place->decides_fusion) { /* bounds and the space hold without fusion */
        return mer_yaml_error(list, error, "ops are fused, expected --decide place,fuse");
    }
    for (int i = 0; i < list->count; i++) {
        MER_TRY(read_op(&r, list->items[i], error));
    }
    for (int o = 0; o < place->op_count; o++) {
        if (!r.is_read[o]) {
            return mer_yaml_error(list, error,
                                  "ops has %d of %d operators, expected all of them; %s is missing",
                                  list->count, place->op_count, place->names[o]);
        }
    }
    return units ? read_replicas(&r, units, error) : MER_OK;
}

/* Unit by unit: how much of the work, and the first and last of its operators. */
static const char *print_plan(const MerProblem *problem, const MerPlan *plan, MerArena *arena)
{
    const MerPlace     *place = mer_place_of(problem);
    const MerGraphPlan *graph = mer_graph_plan(plan);
    const UnitWork     *work = work_of_units(place, graph, arena);
    const char         *text = "";
    for (int u = 0; u < place->unit_count; u++) {
        const UnitWork *unit = &work[u];
        char            busy[48], bytes[48];
        mer_print_engineering(busy, 1e-6 * unit->busy_us, "s");
        mer_print_engineering(bytes, unit->bytes, "B");
        text = mer_arena_format(arena, "%s%-8s %5d operators, %8s, %8s", text, place->unit_names[u],
                                unit->count, busy, bytes);
        if (graph->replicas && unit->count > 0) {
            text = mer_arena_format(arena, "%s, on %d units", text, graph->replicas[u]);
        }
        text = unit->count == 0
                   ? mer_arena_format(arena, "%s\n", text)
                   : mer_arena_format(arena, "%s: %s%s%s\n", text, place->names[unit->first],
                                      unit->count > 1 ? " .. " : "",
                                      unit->count > 1 ? place->names[unit->last] : "");
    }
    return text;
}

const MerPlanKind mer_plan_graph = {
    .name = "graph",
    .hash = hash_plan,
    .write = write_plan,
    .read = read_plan,
    .print = print_plan,
};
