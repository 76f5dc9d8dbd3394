/* One network of a job file: its entry, and its layers with their order in the joint graph. */
#include "schedule/jobs/jobs_reader.h"

#include <string.h>
#include <unistd.h>

/* Files are looked for beside the job file first. */
static const char *beside(const MerJobsReader *reader, const char *name)
{
    const char *slash = strrchr(reader->file->path, '/');
    if (!slash || name[0] == '/') {
        return name;
    }
    const char *path = mer_arena_format(reader->arena, "%.*s/%s", (int)(slash - reader->file->path),
                                        reader->file->path, name);
    return access(path, F_OK) == 0 ? path : name;
}

static MerStatus add_layers(MerJobsReader *reader, MerJobsNetwork *network, const MerGraph *graph,
                            MerJobDependencies dependencies, MerError *error)
{
    MerArena     *arena = reader->arena;
    MerLayerOrder order = network->layers = mer_layer_order(graph, dependencies, arena);
    if (order.count == 0) {
        return mer_yaml_error(network->node, error,
                              "%s has no layer with multiplications, expected at least one",
                              graph->name);
    }
    network->is_last = MER_ARRAY(arena, bool, order.count + 1);
    for (int l = 0; l < order.count; l++) {
        MerOp copy = graph->ops[order.ops[l]];
        copy.name = mer_arena_format(arena, "%s.%s", network->name, copy.name);
        copy.input_count = copy.output_count = 0;
        network->layers.ops[l] = mer_jobs_add_op(&reader->builder, &copy);
        network->is_last[l] = true;
        for (int k = 0; k < order.before_count[l]; k++) {
            network->is_last[order.before[l][k]] = false;
        }
    }
    return MER_OK;
}

MerStatus mer_jobs_read_tenant(MerJobsReader *reader, MerYaml *node, const char *fallback,
                               int *tenant, MerError *error)
{
    const char *name = fallback;
    double      weight = 1;
    MerYaml    *given = mer_yaml_get(node, "weight");
    MER_TRY(mer_yaml_get_text(node, "tenant", &name, error));
    if (given) {
        MER_TRY(mer_yaml_real(given, 1e-9, 1e9, &weight, error));
    }
    *tenant = mer_jobs_tenant(&reader->builder, name, weight);
    MerTenant     *known = &reader->builder.tenants[*tenant];
    const MerYaml *first = mer_name_table_find(&reader->tenants, name);
    if (given && first && known->weight != weight) {
        return mer_yaml_expected(given, error, "%g, the weight of tenant %s in line %d",
                                 known->weight, name, first->line);
    }
    if (given) {
        known->weight = weight;
        mer_name_table_set(&reader->tenants, name, given);
    }
    return MER_OK;
}

/* A period needs a rate, and a batch is cut into whole mini-batches or comes once per period. */
static MerStatus check_times(const MerJobsNetwork *network, MerError *error)
{
    MerYaml *node = network->node;
    if (network->has_deadline && !(network->fps > 0)) {
        return mer_yaml_expected(mer_yaml_get(node, "deadline"), error,
                                 "fps beside it, which says how long a period is");
    }
    if (network->fps > 0 && network->batch != 1 && network->batch != network->mini_batch) {
        return mer_yaml_expected(mer_yaml_get(node, "batch"), error,
                                 "no batch beside fps: mini_batch images come with every request");
    }
    if (network->fps == 0 && network->batch % network->mini_batch != 0) {
        return mer_yaml_expected(mer_yaml_get(node, "batch") ? mer_yaml_get(node, "batch")
                                                             : mer_yaml_get(node, "mini_batch"),
                                 error, "batch a multiple of mini_batch: %lld of %lld",
                                 (long long)network->batch, (long long)network->mini_batch);
    }
    return MER_OK;
}

/* Sizes that the network's file leaves open, as the entry says. */
static MerStatus read_dims(MerYaml *node, MerImportOptions *options, MerArena *arena,
                           MerError *error)
{
    MerYaml *map = mer_yaml_get(node, "dims");
    if (!map) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
    MerDimBinding *dims = MER_ARRAY(arena, MerDimBinding, map->count + 1);
    for (int i = 0; i < map->count; i++) {
        dims[i].name = map->keys[i];
        MER_TRY(mer_yaml_int(map->items[i], 1, INT32_MAX, &dims[i].size, error));
    }
    options->dims = dims;
    options->dim_count = map->count;
    return MER_OK;
}

static MerStatus import_network(MerJobsReader *reader, MerYaml *node, const MerYaml *file,
                                MerGraph **graph, MerError *error)
{
    MerImportOptions inner = reader->options ? *reader->options : (MerImportOptions){0};
    MerError         why = {0};
    inner.is_part = true;
    MER_TRY(mer_yaml_get_text(node, "network", &inner.select, error));
    MER_TRY(read_dims(node, &inner, reader->arena, error));
    if (mer_graph_import(beside(reader, file->text), &inner, reader->arena, graph, &why) !=
        MER_OK) {
        return mer_yaml_error(file, error, "%s", why.message);
    }
    if (mer_job_set(*graph)) {
        return mer_yaml_expected(file, error, "a network, not a list of jobs");
    }
    return MER_OK;
}

/* One number for all requests, or a list with one for each. */
static MerStatus read_deadlines(MerYaml *node, MerJobsNetwork *network, MerArena *arena,
                                MerError *error)
{
    MerYaml *given = mer_yaml_get(node, "deadline_ms");
    if (!given) {
        return MER_OK;
    }
    if (network->has_deadline) {
        return mer_yaml_expected(given, error, "either deadline or deadline_ms");
    }
    bool is_list = given->kind == MER_YAML_LIST;
    int  count = is_list ? given->count : 1;
    if (count == 0) {
        return mer_yaml_expected(given, error, "milliseconds after the release, or a list of them");
    }
    network->deadlines_ms = MER_ARRAY(arena, double, count);
    network->deadline_count = count;
    for (int i = 0; i < count; i++) {
        MER_TRY(mer_yaml_real(is_list ? given->items[i] : given, 0, 1e9, &network->deadlines_ms[i],
                              error));
    }
    return MER_OK;
}

MerStatus mer_jobs_read_network(MerJobsReader *reader, MerYaml *node, MerJobsNetwork *network,
                                MerError *error)
{
    static const char *const        orders[] = {"none", "chain", "graph"};
    static const MerJobDependencies dependencies[] = {MER_DEPENDENCIES_NONE, MER_DEPENDENCIES_CHAIN,
                                                      MER_DEPENDENCIES_GRAPH};
    static const char *const        deadlines[] = {"none", "period"};
    MerGraph                       *graph = NULL;
    MerYaml                        *words, *file, *name;
    int                             deadline = 0;
    int                             order = 2;
    const char                     *path;
    *network = (MerJobsNetwork){.node = node, .batch = 1, .mini_batch = 1, .probability = 1};
    MER_TRY(mer_yaml_need(node, "name", &name, error));
    MER_TRY(mer_jobs_read_name(name, &network->name, error));
    MER_TRY(mer_yaml_need(node, "file", &file, error));
    MER_TRY(mer_yaml_text(file, &path, error));
    MER_TRY(mer_yaml_get_int(node, "batch", 1, 65536, &network->batch, error));
    MER_TRY(mer_yaml_get_int(node, "mini_batch", 1, 65536, &network->mini_batch, error));
    MER_TRY(mer_yaml_get_real(node, "fps", 1e-3, 1e6, &network->fps, error));
    MER_TRY(mer_yaml_get_real(node, "probability", 0, 1, &network->probability, error));
    if ((words = mer_yaml_get(node, "dependencies")) != NULL) {
        MER_TRY(mer_yaml_word(words, orders, 3, &order, error));
    }
    if ((words = mer_yaml_get(node, "deadline")) != NULL) {
        MER_TRY(mer_yaml_word(words, deadlines, 2, &deadline, error));
    }
    mer_yaml_get(node, "after"); /* read once all names are known */
    mer_yaml_get(node, "dims");  /* and these two with the file */
    mer_yaml_get(node, "network");
    network->has_deadline = deadline == 1;
    MER_TRY(read_deadlines(node, network, reader->arena, error));
    MER_TRY(mer_jobs_read_tenant(reader, node, network->name, &network->tenant, error));
    MER_TRY(mer_yaml_finish(node, error));
    MER_TRY(check_times(network, error));
    MER_TRY(import_network(reader, node, file, &graph, error));
    return add_layers(reader, network, graph, dependencies[order], error);
}
