/* Plan reader: Timeloop files, which have several roles: a problem and its mapping, and here or by flags its
 * architecture and energies. */
#include "base/file.h"
#include "import/layer_list.h"
#include "import/timeloop.h"
#include "map/export/read_plans.h"
#include "map/export/timeloop_mapping.h"
#include "map/nest/nest_plan.h"

#include <string.h>

void mer_read_plans_of_graph(MerReadPlans *plans, const MerGraph *graph)
{
    plans->graph = graph;
    plans->count = graph->op_count;
    plans->list = MER_ARRAY(plans->arena, MerReadPlan, graph->op_count + 1);
    for (int i = 0; i < graph->op_count; i++) {
        plans->list[i].task =
            (MerTask){graph->ops[i].name, 1, (double)graph->ops[i].macs, i, 0, NULL};
    }
}

typedef struct Timeloop { /* the roles of the files given; a file may have several */
    MerYaml *problem, *mapping, *layers,
        *own;             /* roots; own: of a file of ours with the key `mercator` */
    const char *platform; /* files with an architecture or energies, joined by commas */
} Timeloop;

static bool has_any(MerYaml *root, const char *const *keys)
{
    while (*keys && !mer_yaml_get(root, *keys)) {
        keys++;
    }
    return *keys;
}

static MerStatus take_role(MerYaml *root, const char *key, MerYaml **role, MerError *error)
{
    MerYaml *value = mer_yaml_get(root, key);
    if (!value) {
        return MER_OK;
    }
    if (*role && strcmp((*role)->file, root->file) != 0) {
        const MerYaml *first = mer_yaml_get(*role, key);
        return mer_yaml_error(value, error, "%s is given twice, first in %s:%d", key, first->file,
                              first->line);
    }
    *role = root;
    return MER_OK;
}

static MerStatus sort_roles(const MerReadPlans *plans, MerYaml *const *roots, int count,
                            Timeloop *found, MerError *error)
{
    static const char *const machine[] = {"architecture", "arch", "ERT", NULL};
    for (int i = 0; i < count; i++) {
        MER_TRY(take_role(roots[i], "problem", &found->problem, error));
        MER_TRY(take_role(roots[i], "mapping", &found->mapping, error));
        MER_TRY(take_role(roots[i], "nest", &found->mapping, error));
        MER_TRY(take_role(roots[i], "layers", &found->layers, error));
        MER_TRY(take_role(roots[i], "mercator", &found->own, error));
        if (!plans->platform && has_any(roots[i], machine)) {
            found->platform = found->platform ? mer_arena_format(plans->arena, "%s,%s",
                                                                 found->platform, roots[i]->file)
                                              : roots[i]->file;
        }
    }
    if (found->layers || (found->mapping && found->problem)) {
        return MER_OK;
    }
    if (found->mapping) {
        return mer_error_set(error, MER_INVALID,
                             "%s has a mapping but no file has a `problem`, expected one beside it",
                             found->mapping->file);
    }
    if (found->own) {
        return mer_error_set(
            error, MER_INVALID,
            "%s holds no mapping: Timeloop cannot say it, a comment there says why",
            found->own->file);
    }
    return mer_error_set(error, MER_INVALID,
                         "%s: found neither `format: mercator-plan/1` nor a Timeloop `mapping`; "
                         "give one with --mapping FILE",
                         roots[0]->file);
}

static MerStatus add_layer(MerGraph *graph, MerYaml *root, const char *name, MerError *error)
{
    MerOp op = mer_op_make(name, "problem", MER_OP_CONV);
    MER_TRY(mer_timeloop_problem(root, &op, error));
    MER_TRY(mer_yaml_get_int(root, "repeat", 1, INT64_C(1) << 40, &op.repeat, error));
    mer_layer_add(graph, &op);
    return MER_OK;
}

static const char *stem(const char *path, MerArena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    return mer_arena_text_n(arena, name, strcspn(name, "."));
}

/* A Timeloop mapping, or the body of a plan: `nest`, `levels` or `directives`. */
static MerStatus read_mapping(MerReadPlans *plans, MerYaml *root, int task, MerError *error)
{
    static const char *const own[] = {"nest", "levels", "directives", NULL};
    MerYaml                 *list;
    MerReadPlan             *given = &plans->list[task];
    if (has_any(root, own)) {
        given->body = root;
        return MER_OK;
    }
    MER_TRY(mer_yaml_need(root, "mapping", &list, error));
    given->plan = (MerPlan){&mer_plan_nest, MER_NEW(plans->arena, MerNestPlan)};
    return mer_timeloop_mapping_read(list, &plans->graph->ops[given->task.op], plans->machine,
                                     given->plan.content, plans->arena, error);
}

static MerStatus read_single(MerReadPlans *plans, const Timeloop *found, MerError *error)
{
    const char *name = stem(found->problem->file, plans->arena);
    MerGraph   *graph = mer_graph_new(name, plans->arena);
    MER_TRY(add_layer(graph, found->problem, name, error));
    MER_TRY(mer_graph_finish(graph, error));
    mer_read_plans_of_graph(plans, graph);
    return read_mapping(plans, found->mapping, 0, error);
}

/* Our own file for a whole network: `layers: [{name, count, problem, mapping}, ...]`. */
static MerStatus read_layers(MerReadPlans *plans, const Timeloop *found, MerError *error)
{
    MerYaml *list = mer_yaml_get(found->layers, "layers");
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    MerGraph *graph = mer_graph_new(stem(found->layers->file, plans->arena), plans->arena);
    for (int i = 0; i < list->count; i++) {
        const char *name = "layer";
        MER_TRY(mer_yaml_check_kind(list->items[i], MER_YAML_MAP, error));
        MER_TRY(mer_yaml_get_text(list->items[i], "name", &name, error));
        MER_TRY(add_layer(graph, list->items[i], name, error));
    }
    MER_TRY(mer_graph_finish(graph, error));
    mer_read_plans_of_graph(plans, graph);
    for (int i = 0; i < list->count; i++) {
        MER_TRY(mer_yaml_get_int(list->items[i], "count", 1, INT64_C(1) << 40,
                                 &plans->list[i].task.count, error));
        MER_TRY(read_mapping(plans, list->items[i], i, error));
    }
    return MER_OK;
}

static MerStatus read_files(MerReadPlans *plans, MerYaml *const *roots, int count, MerError *error)
{
    Timeloop found = {0};
    MER_TRY(sort_roles(plans, roots, count, &found, error));
    MerYaml *own = found.own ? mer_yaml_get(found.own, "mercator") : NULL;
    if (own && own->kind == MER_YAML_MAP) {
        MER_TRY(plans->read_names(plans, own, error));
    }
    plans->own_platform = found.platform ? found.platform : plans->own_platform;
    MER_TRY(plans->open(plans, error));
    return found.layers ? read_layers(plans, &found, error) : read_single(plans, &found, error);
}

/* A network of any format with one Timeloop mapping: only when it has one layer. */
static MerStatus read_network(MerReadPlans *plans, MerYaml *mapping, MerError *error)
{
    MerGraph *graph;
    MER_TRY(mer_graph_import(plans->files[0], NULL, plans->arena, &graph, error));
    MER_TRY(plans->open(plans, error));
    if (graph->layer_count != 1) {
        return mer_error_set(error, MER_INVALID, "%s has %d layers, a mapping is of one",
                             plans->files[0], graph->layer_count);
    }
    mer_read_plans_of_graph(plans, graph);
    int op = graph->layers[0].op;
    plans->list[0].task = (MerTask){
        graph->ops[op].name, graph->layers[0].count, (double)graph->ops[op].macs, op, 0, NULL};
    plans->count = 1;
    return read_mapping(plans, mapping, 0, error);
}

static bool is_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 ||
                   strcmp(dot, ".txt") == 0 || strcmp(dot, ".json") == 0);
}

static bool has_role(MerYaml *root)
{
    static const char *const keys[] = {"problem", "mapping",      "nest", "levels", "directives",
                                       "layers",  "architecture", "arch", "ERT",    "mercator",
                                       NULL};
    return root && root->kind == MER_YAML_MAP && has_any(root, keys);
}

static bool is_timeloop(const MerReadPlans *plans)
{
    bool is_ours = has_role(plans->root);
    for (int i = 0; plans->file_count > 1 && !plans->plan_file && i < plans->file_count; i++) {
        MerYaml *root = NULL;
        /* pipes are not looked into: they can be read only once */
        is_ours =
            is_ours || mer_file_is_stream(plans->files[i]) ||
            (mer_yaml_read(plans->files[i], plans->arena, &root, NULL) == MER_OK && has_role(root));
    }
    return is_ours;
}

static MerStatus read_timeloop(MerReadPlans *plans, MerError *error)
{
    MerYaml **roots = MER_ARRAY(plans->arena, MerYaml *, plans->file_count + 1);
    int       count = 0;
    if (plans->root) { /* a pipe can be read only once */
        roots[count++] = plans->root;
    }
    if (plans->plan_file && !is_yaml(plans->files[0])) {
        return read_network(plans, roots[0], error);
    }
    bool has_others = plans->plan_file || !plans->root;
    for (int i = 0; i < plans->file_count && has_others; i++) {
        MER_TRY(mer_yaml_read(plans->files[i], plans->arena, &roots[count], error));
        MER_TRY(mer_yaml_check_kind(roots[count++], MER_YAML_MAP, error));
    }
    return read_files(plans, roots, count, error);
}

const MerPlanReaderClass mer_plan_reader_timeloop = {
    .name = "timeloop",
    .summary = "Timeloop problems with their mapping, architecture and energies (.yaml)",
    .problem = "map",
    .flag = "mapping",
    .probe = is_timeloop,
    .read = read_timeloop,
};
