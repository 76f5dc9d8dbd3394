/* One network of a job file: its entry, and its layers with their order in the joint graph. */
#include "schedule/jobs/jobs_reader.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { NONE, CHAIN, GRAPH };

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

typedef struct
    Sources { /* the layers behind each operator, through those without multiplications */
    int **layers, *count;
    int  *capacity; /* the one in the making */
} Sources;

static void gather_sources(const MerGraph *graph, int o, Sources *sources, MerArena *arena)
{
    const MerOp *op = &graph->ops[o];
    int          count = 0;
    for (int i = 0; i < op->input_count; i++) {
        int from = op->inputs[i] >= 0 ? graph->values[op->inputs[i]].producer : -1;
        for (int k = 0; from >= 0 && k < sources->count[from]; k++) {
            int  layer = sources->layers[from][k];
            bool is_new = true;
            for (int n = 0; n < count; n++) {
                is_new = is_new && sources->capacity[n] != layer;
            }
            if (is_new) {
                sources->capacity[count++] = layer;
            }
        }
    }
    sources->count[o] = count;
    sources->layers[o] = MER_ARRAY(arena, int, count + 1);
    memcpy(sources->layers[o], sources->capacity, (size_t)count * sizeof(int));
}

static MerStatus add_layers(MerJobsReader *reader, MerJobsNetwork *network, const MerGraph *graph,
                            MerError *error)
{
    MerArena *arena = reader->arena;
    int       ops = graph->op_count;
    Sources   sources = {MER_ARRAY(arena, int *, ops + 1), MER_ARRAY(arena, int, ops + 1),
                         MER_ARRAY(arena, int, ops + 1)};
    network->ops = MER_ARRAY(arena, int, ops + 1);
    network->before = MER_ARRAY(arena, int *, ops + 1);
    network->before_count = MER_ARRAY(arena, int, ops + 1);
    network->is_last = MER_ARRAY(arena, bool, ops + 1);
    for (int o = 0; o < ops; o++) {
        gather_sources(graph, o, &sources, arena);
        if (graph->ops[o].layer < 0) {
            continue;
        }
        int   layer = network->layer_count++;
        MerOp copy = graph->ops[o];
        copy.name = mer_arena_format(arena, "%s.%s", network->name, copy.name);
        copy.input_count = copy.output_count = 0;
        network->ops[layer] = mer_jobs_add_op(&reader->builder, &copy);
        network->before[layer] = sources.layers[o];
        network->before_count[layer] = sources.count[o];
        network->is_last[layer] = true;
        for (int k = 0; k < sources.count[o]; k++) {
            network->is_last[sources.layers[o][k]] = false;
        }
        sources.layers[o] = MER_ARRAY(arena, int, 1);
        sources.layers[o][0] = layer;
        sources.count[o] = 1;
    }
    if (network->layer_count == 0) {
        return mer_yaml_error(network->node, error,
                              "%s has no layer with multiplications, expected at least one",
                              graph->name);
    }
    return MER_OK;
}

/* A chain, or no order at all, instead of the network's own edges. A table of layers has none: its rows
 * follow each other. */
static void change_order(MerJobsNetwork *network, int order, MerArena *arena)
{
    int edges = 0;
    for (int l = 0; l < network->layer_count; l++) {
        edges += network->before_count[l];
    }
    order = order == GRAPH && edges == 0 ? CHAIN : order;
    for (int l = 0; l < network->layer_count && order != GRAPH; l++) {
        network->before[l] = MER_ARRAY(arena, int, 1);
        network->before[l][0] = l - 1;
        network->before_count[l] = order == CHAIN && l > 0;
        network->is_last[l] = order == NONE || l + 1 == network->layer_count;
    }
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

MerStatus mer_jobs_read_network(MerJobsReader *reader, MerYaml *node, MerJobsNetwork *network,
                                MerError *error)
{
    static const char *const orders[] = {"none", "chain", "graph"};
    static const char *const deadlines[] = {"none", "period"};
    MerGraph                *graph = NULL;
    MerYaml                 *words, *file, *name;
    int                      deadline = 0;
    int                      order = GRAPH;
    const char              *path;
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
    MER_TRY(mer_jobs_read_tenant(reader, node, network->name, &network->tenant, error));
    MER_TRY(mer_yaml_finish(node, error));
    MER_TRY(check_times(network, error));
    MER_TRY(import_network(reader, node, file, &graph, error));
    MER_TRY(add_layers(reader, network, graph, error));
    change_order(network, order, reader->arena);
    return MER_OK;
}
