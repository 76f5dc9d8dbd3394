/* From the files given to `evaluate` to tasks with plans. Their content says what they are. */
#include "cli/evaluate_input.h"

#include "base/text.h"
#include "base/try.h"
#include "import/layers.h"
#include "import/maestro_text.h"
#include "import/timeloop.h"
#include "map/export/maestro_plan.h"
#include "map/export/timeloop_mapping.h"
#include "mercator/registry.h"

#include <string.h>

typedef MerEvaluateNames Names;

void mer_evaluate_take_graph(MerEvaluateJob *job, const MerGraph *graph)
{
    job->spec.graph = graph;
    job->spec.name = graph->name;
    job->count = graph->op_count;
    job->given = MER_ARRAY(job->arena, MerGiven, graph->op_count + 1);
    for (int i = 0; i < graph->op_count; i++) {
        job->given[i].task =
            (MerTask){graph->ops[i].name, 1, (double)graph->ops[i].macs, i, 0, NULL};
    }
}

/* MAESTRO */

static bool is_maestro(const char *path, MerArena *arena)
{
    MerImportFile file = {.path = path};
    char         *data;
    if (mer_file_is_stream(path) ||
        mer_file_read(path, (size_t)1 << 26, arena, &data, &file.size, NULL) != MER_OK) {
        return false;
    }
    file.data = data;
    return mer_importer_maestro.probe(&file);
}

/* The layers of the one network of the file; the importer has refused files with more. */
static MerStatus open_maestro(MerEvaluateJob *job, const MerEvaluateRequest *request,
                              MerError *error)
{
    Names          names = {.evaluator = "datacentric", .platform = "maestro-default"};
    const char    *path = request->inputs[0];
    MerMaestroFile file;
    MerGraph      *graph;
    char          *data;
    size_t         size;
    MER_TRY(mer_graph_import(path, NULL, job->arena, &graph, error));
    MER_TRY(mer_file_read(path, (size_t)1 << 26, job->arena, &data, &size, error));
    MER_TRY(mer_maestro_parse(path, data, size, job->arena, &file, error));
    MER_TRY(mer_evaluate_plugins(job, request, &names, error));
    mer_evaluate_take_graph(job, graph);
    const MerMaestroLayer *inherited = NULL;
    for (int i = 0; i < graph->op_count; i++) {
        const MerMaestroLayer *layer = &file.networks[0].layers[i];
        job->given[i].plan.kind = MER_PLAN_DIRECTIVES;
        MER_TRY(mer_maestro_plan(path, layer, inherited, &graph->ops[i],
                                 &job->given[i].plan.as.directives, job->arena, error));
        inherited = layer->has_dataflow ? layer : inherited;
    }
    return MER_OK;
}

/* Timeloop */

typedef struct Timeloop { /* the roles of the files given; a file may have several */
    MerYaml *problem, *mapping, *layers,
        *own;             /* roots; own: of a file of ours with the key `mercator` */
    const char *platform; /* files with an architecture or energies, joined by commas */
} Timeloop;

static bool has_any(MerYaml *root, const char *const *keys)
{
    for (; *keys; keys++) {
        if (mer_yaml_get(root, *keys)) {
            return true;
        }
    }
    return false;
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

static MerStatus sort_roles(const MerEvaluateRequest *request, MerYaml *const *roots, int count,
                            Timeloop *found, MerArena *arena, MerError *error)
{
    static const char *const machine[] = {"architecture", "arch", "ERT", NULL};
    for (int i = 0; i < count; i++) {
        MER_TRY(take_role(roots[i], "problem", &found->problem, error));
        MER_TRY(take_role(roots[i], "mapping", &found->mapping, error));
        MER_TRY(take_role(roots[i], "nest", &found->mapping, error));
        MER_TRY(take_role(roots[i], "layers", &found->layers, error));
        MER_TRY(take_role(roots[i], "mercator", &found->own, error));
        if (!request->platform && has_any(roots[i], machine)) {
            found->platform =
                found->platform ? mer_arena_format(arena, "%s,%s", found->platform, roots[i]->file)
                                : roots[i]->file;
        }
    }
    if (!found->layers && !found->mapping && found->own) {
        return mer_error_set(
            error, MER_INVALID,
            "%s holds no mapping: Timeloop cannot say it, a comment there says why",
            found->own->file);
    }
    if (!found->layers && !found->mapping) {
        return mer_error_set(
            error, MER_INVALID,
            "%s: found neither `format: mercator-plan/1` nor a Timeloop `mapping`; give one with "
            "--mapping FILE",
            roots[0]->file);
    }
    if (!found->layers && !found->problem) {
        return mer_error_set(error, MER_INVALID,
                             "%s has a mapping but no file has a `problem`, expected one beside it",
                             found->mapping->file);
    }
    return MER_OK;
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
static MerStatus read_mapping(MerEvaluateJob *job, MerYaml *root, int task, MerError *error)
{
    static const char *const own[] = {"nest", "levels", "directives", NULL};
    MerYaml                 *list;
    MerGiven                *given = &job->given[task];
    if (has_any(root, own)) {
        given->body = root;
        return MER_OK;
    }
    MER_TRY(mer_yaml_need(root, "mapping", &list, error));
    given->plan.kind = MER_PLAN_NEST;
    return mer_timeloop_mapping_read(list, &job->spec.graph->ops[given->task.op],
                                     job->spec.platform, &given->plan.as.nest, job->arena, error);
}

static MerStatus read_single(MerEvaluateJob *job, const Timeloop *found, MerError *error)
{
    const char *name = stem(found->problem->file, job->arena);
    MerGraph   *graph = mer_graph_new(name, job->arena);
    MER_TRY(add_layer(graph, found->problem, name, error));
    MER_TRY(mer_graph_finish(graph, error));
    mer_evaluate_take_graph(job, graph);
    return read_mapping(job, found->mapping, 0, error);
}

/* Our own file for a whole network: `layers: [{name, count, problem, mapping}, ...]`. */
static MerStatus read_layers(MerEvaluateJob *job, const Timeloop *found, MerError *error)
{
    MerYaml *list = mer_yaml_get(found->layers, "layers");
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    MerGraph *graph = mer_graph_new(stem(found->layers->file, job->arena), job->arena);
    for (int i = 0; i < list->count; i++) {
        const char *name = "layer";
        MER_TRY(mer_yaml_check_kind(list->items[i], MER_YAML_MAP, error));
        MER_TRY(mer_yaml_get_text(list->items[i], "name", &name, error));
        MER_TRY(add_layer(graph, list->items[i], name, error));
    }
    MER_TRY(mer_graph_finish(graph, error));
    mer_evaluate_take_graph(job, graph);
    for (int i = 0; i < list->count; i++) {
        MER_TRY(mer_yaml_get_int(list->items[i], "count", 1, INT64_C(1) << 40,
                                 &job->given[i].task.count, error));
        MER_TRY(read_mapping(job, list->items[i], i, error));
    }
    return MER_OK;
}

static MerStatus open_timeloop(MerEvaluateJob *job, const MerEvaluateRequest *request,
                               MerYaml *const *roots, int count, MerError *error)
{
    Timeloop found = {0};
    Names    names = {0};
    MER_TRY(sort_roles(request, roots, count, &found, job->arena, error));
    MerYaml *own = found.own ? mer_yaml_get(found.own, "mercator") : NULL;
    if (own && own->kind == MER_YAML_MAP) {
        MER_TRY(mer_evaluate_names(own, request, &names, job->arena, error));
    }
    names.platform = found.platform ? found.platform : names.platform;
    MER_TRY(mer_evaluate_plugins(job, request, &names, error));
    return found.layers ? read_layers(job, &found, error) : read_single(job, &found, error);
}

/* A network of any format with one Timeloop mapping: only when it has one layer. */
static MerStatus open_network(MerEvaluateJob *job, const MerEvaluateRequest *request,
                              MerYaml *mapping, MerError *error)
{
    MerGraph *graph;
    MER_TRY(mer_graph_import(request->inputs[0], NULL, job->arena, &graph, error));
    MER_TRY(mer_evaluate_plugins(job, request, &(Names){0}, error));
    if (graph->layer_count != 1) {
        return mer_error_set(error, MER_INVALID, "%s has %d layers, a mapping is of one",
                             request->inputs[0], graph->layer_count);
    }
    mer_evaluate_take_graph(job, graph);
    int op = graph->layers[0].op;
    job->given[0].task = (MerTask){
        graph->ops[op].name, graph->layers[0].count, (double)graph->ops[op].macs, op, 0, NULL};
    job->count = 1;
    return read_mapping(job, mapping, 0, error);
}

static bool is_yaml(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 ||
                   strcmp(dot, ".txt") == 0 || strcmp(dot, ".json") == 0);
}

MerStatus mer_evaluate_open(MerEvaluateJob *job, const MerEvaluateRequest *request, MerError *error)
{
    MerYaml *roots[MER_EVALUATE_INPUTS + 1];
    int      count = 0;
    if (request->mapping) {
        MER_TRY(mer_yaml_read(request->mapping, job->arena, &roots[0], error));
        MER_TRY(mer_yaml_check_kind(roots[0], MER_YAML_MAP, error));
        if (mer_yaml_get(roots[0], "format")) { /* a plan file carries its layers */
            return mer_evaluate_open_plan(job, request, roots[0], error);
        }
        if (!is_yaml(request->inputs[0])) {
            return open_network(job, request, roots[0], error);
        }
        count = 1;
    } else if (is_maestro(request->inputs[0], job->arena)) {
        return open_maestro(job, request, error);
    }
    for (int i = 0; i < request->input_count; i++) {
        MER_TRY(mer_yaml_read(request->inputs[i], job->arena, &roots[count], error));
        MER_TRY(mer_yaml_check_kind(roots[count++], MER_YAML_MAP, error));
    }
    if (count == 1 && mer_yaml_get(roots[0], "format")) {
        return mer_evaluate_open_plan(job, request, roots[0], error);
    }
    return open_timeloop(job, request, roots, count, error);
}
