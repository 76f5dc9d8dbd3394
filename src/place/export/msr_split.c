/* Plan reader: expert splits that come with the graphs of Tarnawski et al. (NeurIPS 2020) as JSON,
 * {"cpus": [{"nodes": [ids]}], "fpgas": [{"nodes": [ids]}, ...]} (docs/placement.md, "Expert splits"). List i of
 * `fpgas` is accelerator i, list i of `cpus` processor i; operators that no list has follow their group. */
#include "base/key_table.h"
#include "mercator/export.h"
#include "mercator/text.h"
#include "place/place_parts.h"

#include <inttypes.h>

static const char *const keys[2] = {"fpgas", "cpus"}; /* by "is host" */

enum { MOST_UNITS = 256 }; /* that are added for lists */

typedef struct Split {
    const MerPlace *place;
    MerGraphPlan   *plan;
    MerKeyTable     ops; /* ids of the file to operators */
} Split;

static uint64_t key_of(int64_t id)
{
    return mer_hash_int(MER_HASH_START, id);
}

static MerStatus check_list(MerYaml *list, MerYaml **nodes, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_need(list, "nodes", nodes, error));
    MER_TRY(mer_yaml_check_kind(*nodes, MER_YAML_LIST, error));
    mer_yaml_get(list, "load"); /* computed anew */
    return mer_yaml_finish(list, error);
}

/* How many units of a kind the file needs: lists without nodes at the end need none. */
static MerStatus count_units(MerYaml *root, bool is_host, int *count, MerError *error)
{
    MerYaml *lists = mer_yaml_get(root, keys[is_host]), *nodes;
    *count = 0;
    if (!lists) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(lists, MER_YAML_LIST, error));
    for (int i = 0; i < lists->count; i++) {
        MER_TRY(check_list(lists->items[i], &nodes, error));
        *count = nodes->count > 0 ? i + 1 : *count;
    }
    return MER_OK;
}

static MerStatus read_node(Split *split, const MerYaml *node, int unit, MerError *error)
{
    double id;
    MER_TRY(mer_yaml_real(node, -9e15, 9e15, &id, error));
    int op = mer_key_table_find(&split->ops, key_of((int64_t)id));
    if (op < 0 || (double)(int64_t)id != id) {
        return mer_yaml_expected(node, error, "the id of a node of %s", split->place->graph->name);
    }
    if (split->plan->unit[op] >= 0) {
        return mer_yaml_expected(node, error, "every node once");
    }
    split->plan->unit[op] = unit;
    return MER_OK;
}

static MerStatus read_lists(Split *split, MerYaml *body, bool is_host, MerError *error)
{
    MerYaml *lists = mer_yaml_get(body, keys[is_host]), *nodes;
    int      index = 0;
    for (int u = 0; u < split->place->unit_count && lists && index < lists->count; u++) {
        if (split->place->is_host[u] != is_host) {
            continue;
        }
        MER_TRY(check_list(lists->items[index++], &nodes, error));
        for (int n = 0; n < nodes->count; n++) {
            MER_TRY(read_node(split, nodes->items[n], u, error));
        }
    }
    return MER_OK;
}

/* Splits of training files may list the forward nodes alone: the backward ones are in their groups. */
static MerStatus follow_groups(Split *split, const MerYaml *body, MerArena *arena, MerError *error)
{
    const MerPlace *place = split->place;
    int            *unit = MER_ARRAY(arena, int, place->group_count + 1); /* + 1; 0: not known */
    for (int o = place->op_count - 1; o >= 0; o--) {
        if (split->plan->unit[o] >= 0) {
            unit[place->group[o]] = split->plan->unit[o] + 1;
        }
    }
    for (int o = 0; o < place->op_count; o++) {
        if (split->plan->unit[o] < 0 && unit[place->group[o]] == 0) {
            return mer_yaml_error(body, error,
                                  "node %" PRId64 " (%s) is in no list, nor one of its group",
                                  place->ids[o], place->names[o]);
        }
        split->plan->unit[o] =
            split->plan->unit[o] < 0 ? unit[place->group[o]] - 1 : split->plan->unit[o];
    }
    return MER_OK;
}

static MerStatus read_body(const MerProblem *problem, MerYaml *body, MerPlan *plan, MerArena *arena,
                           MerError *error)
{
    const MerPlace *place = mer_place_of(problem);
    int             absent = mer_graph_plan(plan)->absent;
    Split           split = {
                  .place = place, .plan = mer_place_new_plan(place, plan, arena), .ops = {.arena = arena}};
    split.plan->absent = absent;
    for (int o = 0; o < place->op_count; o++) {
        mer_key_table_add(&split.ops, key_of(place->ids[o]), o);
        split.plan->unit[o] = -1;
    }
    mer_yaml_get(body, "maxLoad"); /* computed anew */
    MER_TRY(read_lists(&split, body, false, error));
    MER_TRY(read_lists(&split, body, true, error));
    return follow_groups(&split, body, arena, error);
}

/* Adds units to the platform until there is one for each list. */
static MerStatus add_units(MerReadPlans *plans, bool is_host, int *added, MerError *error)
{
    int needed, there = 0, like = -1;
    MER_TRY(count_units(plans->root, is_host, &needed, error));
    for (int u = 0; u < plans->machine->unit_count; u++) {
        bool is_kind = mer_place_is_host(&plans->machine->units[u]) == is_host;
        there += is_kind;
        like = is_kind ? u : like;
    }
    *added = needed > there ? needed - there : 0;
    if (*added > 0 && (like < 0 || is_host || *added > MOST_UNITS)) {
        return mer_error_set(error, MER_INVALID, "%s uses %d %s, but %s has %d", plans->root->file,
                             needed, keys[is_host], plans->machine->name, there);
    }
    for (int i = 0; i < *added; i++) {
        plans->machine = mer_place_change(
            plans->machine, (MerPlaceChange){.kind = MER_CHANGE_UNIT, .index = like}, plans->arena);
    }
    return MER_OK;
}

static bool is_split(const MerReadPlans *plans)
{
    return plans->root && plans->root->kind == MER_YAML_MAP && mer_yaml_get(plans->root, "fpgas");
}

static MerStatus read_split(MerReadPlans *plans, MerError *error)
{
    MerGraphPlan *plan = MER_NEW(plans->arena, MerGraphPlan);
    int           no_hosts;
    if (!plans->workload) {
        return mer_error_set(error, MER_INVALID,
                             "%s is a split of a graph that it does not name; give --workload FILE",
                             plans->root->file);
    }
    MER_TRY(plans->import(plans, error));
    MER_TRY(plans->open(plans, error));
    MER_TRY(add_units(plans, false, &plan->absent, error));
    MER_TRY(add_units(plans, true, &no_hosts, error));
    plans->count = 1;
    plans->list = MER_NEW(plans->arena, MerReadPlan);
    *plans->list = (MerReadPlan){.task = {.name = plans->graph->name,
                                          .count = 1,
                                          .macs = (double)plans->graph->macs,
                                          .op = -1},
                                 .body = plans->root,
                                 .plan = {&mer_plan_graph, plan},
                                 .read = read_body};
    return MER_OK;
}

const MerPlanReaderClass mer_plan_reader_msr_split = {
    .name = "msr_split",
    .summary = "expert splits of Tarnawski et al. (.json), with --workload GRAPH.json",
    .problem = "place",
    .probe = is_split,
    .read = read_split,
};
