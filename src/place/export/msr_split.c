/* Plan reader: expert splits that come with the graphs of Tarnawski et al. (NeurIPS 2020) as JSON,
 * {"cpus": [{"nodes": [ids]}], "fpgas": [{"nodes": [ids]}, ...]} (docs/placement.md, "Expert splits"). List i of
 * `fpgas` is accelerator i, list i of `cpus` processor i; operators that no list has follow their group. */
#include "base/key_table.h"
#include "mercator/export.h"
#include "mercator/text.h"
#include "place/place.h"

#include <inttypes.h>

typedef struct Split {
    const MerPlace *place;
    MerGraphPlan   *plan;
    MerKeyTable     ops;   /* ids of the file to operators */
    int             extra; /* units that the platform does not have, numbered behind those it has */
} Split;

static uint64_t key_of(int64_t id)
{
    return mer_hash_int(MER_HASH_START, id);
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

/* The unit of list `index`: host or accelerator of that number. */
static int find_unit(Split *split, bool is_host, int index)
{
    const MerPlace *place = split->place;
    for (int u = 0; u < place->unit_count; u++) {
        if (place->is_host[u] == is_host && index-- == 0) {
            return u;
        }
    }
    return place->unit_count + split->extra++;
}

static MerStatus read_lists(Split *split, MerYaml *body, const char *key, bool is_host,
                            MerError *error)
{
    MerYaml *lists = mer_yaml_get(body, key), *nodes;
    if (!lists) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(lists, MER_YAML_LIST, error));
    for (int i = 0; i < lists->count; i++) {
        MER_TRY(mer_yaml_check_kind(lists->items[i], MER_YAML_MAP, error));
        MER_TRY(mer_yaml_need(lists->items[i], "nodes", &nodes, error));
        MER_TRY(mer_yaml_check_kind(nodes, MER_YAML_LIST, error));
        mer_yaml_get(lists->items[i], "load"); /* computed anew */
        MER_TRY(mer_yaml_finish(lists->items[i], error));
        int unit = nodes->count > 0 ? find_unit(split, is_host, i) : -1;
        for (int n = 0; n < nodes->count; n++) {
            MER_TRY(read_node(split, nodes->items[n], unit, error));
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
    Split           split = {
                  .place = place, .plan = mer_place_new_plan(place, plan, arena), .ops = {.arena = arena}};
    for (int o = 0; o < place->op_count; o++) {
        mer_key_table_add(&split.ops, key_of(place->ids[o]), o);
        split.plan->unit[o] = -1;
    }
    mer_yaml_get(body, "maxLoad"); /* computed anew */
    MER_TRY(read_lists(&split, body, "fpgas", false, error));
    MER_TRY(read_lists(&split, body, "cpus", true, error));
    split.plan->unit_count += split.extra;
    return follow_groups(&split, body, arena, error);
}

static bool is_split(const MerReadPlans *plans)
{
    return plans->root && plans->root->kind == MER_YAML_MAP && mer_yaml_get(plans->root, "fpgas");
}

static MerStatus read_split(MerReadPlans *plans, MerError *error)
{
    if (!plans->workload) {
        return mer_error_set(error, MER_INVALID,
                             "%s is a split of a graph that it does not name; give --workload FILE",
                             plans->root->file);
    }
    MER_TRY(plans->import(plans, error));
    plans->count = 1;
    plans->list = MER_NEW(plans->arena, MerReadPlan);
    *plans->list = (MerReadPlan){.task = {.name = plans->graph->name,
                                          .count = 1,
                                          .macs = (double)plans->graph->macs,
                                          .op = -1},
                                 .body = plans->root,
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
