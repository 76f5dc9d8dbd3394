/* `mercator-jobs/1` (docs/scheduling.md, "Job lists"): networks with batches, periods and owners, and
 * single jobs. Networks are read by the other importers; their layers join one graph. */
#include "schedule/jobs/jobs_reader.h"

#include <stdio.h>
#include <string.h>

static int find_network(const MerJobsReader *reader, const char *name)
{
    for (int n = 0; n < reader->network_count; n++) {
        if (strcmp(reader->networks[n].name, name) == 0) {
            return n;
        }
    }
    return -1;
}

static MerStatus read_after(MerJobsReader *reader, MerJobsNetwork *network, MerError *error)
{
    MerYaml *list = mer_yaml_get(network->node, "after");
    if (!list) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    network->after = MER_ARRAY(reader->arena, int, list->count + 1);
    for (int i = 0; i < list->count; i++) {
        const char *name;
        MER_TRY(mer_yaml_text(list->items[i], &name, error));
        network->after[i] = find_network(reader, name);
        if (network->after[i] < 0) {
            return mer_yaml_expected(list->items[i], error, "the name of a model");
        }
    }
    network->after_count = list->count;
    return MER_OK;
}

static MerStatus read_networks(MerJobsReader *reader, MerYaml *list, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    reader->networks = MER_ARRAY(reader->arena, MerJobsNetwork, list->count + 1);
    for (int n = 0; n < list->count; n++) {
        MER_TRY(mer_jobs_read_network(reader, list->items[n], &reader->networks[n], error));
        if (find_network(reader, reader->networks[n].name) >= 0) {
            return mer_yaml_expected(mer_yaml_get(list->items[n], "name"), error,
                                     "a name that no other model has");
        }
        reader->network_count++;
    }
    for (int n = 0; n < list->count; n++) {
        MER_TRY(read_after(reader, &reader->networks[n], error));
    }
    for (int n = 0; n < list->count; n++) {
        const MerJobsNetwork *network = &reader->networks[n];
        MerJobModel           model = {network->name,        network->tenant,      network->fps,
                                       network->probability, network->after_count, network->after};
        mer_jobs_add_model(&reader->builder, &model);
    }
    return mer_jobs_add_requests(reader, error);
}

/* {size: 100, order: input} or order: shuffle(7) */
static MerStatus read_groups(MerJobsReader *reader, MerYaml *node, MerError *error)
{
    int64_t            size = 0;
    const char        *order = "input";
    unsigned long long seed = 1;
    MER_TRY(mer_yaml_check_kind(node, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_get_int(node, "size", 1, 1000000, &size, error));
    MER_TRY(mer_yaml_get_text(node, "order", &order, error));
    int  length = 0;
    bool is_seeded =
        sscanf(order, "shuffle(%19llu)%n", &seed, &length) == 1 && length > 0 && !order[length];
    bool is_shuffled = is_seeded || strcmp(order, "shuffle") == 0;
    if (!is_shuffled && strcmp(order, "input") != 0) {
        return mer_yaml_expected(mer_yaml_get(node, "order"), error, "input or shuffle(SEED)");
    }
    reader->builder.set.group_size = (int)size;
    reader->builder.set.is_shuffled = is_shuffled;
    reader->builder.set.shuffle_seed = seed;
    return mer_yaml_finish(node, error);
}

static MerStatus read_all(MerJobsReader *reader, MerYaml *root, MerError *error)
{
    double   horizon_ms = 1000;
    MerYaml *list;
    MER_TRY(mer_yaml_format(root, "jobs", 1, error));
    MER_TRY(mer_yaml_get_real(root, "horizon_ms", 1e-3, 1e9, &horizon_ms, error));
    reader->horizon_s = reader->builder.set.horizon_s = horizon_ms / 1000;
    if ((list = mer_yaml_get(root, "models")) != NULL) {
        MER_TRY(read_networks(reader, list, error));
    }
    if ((list = mer_yaml_get(root, "jobs")) != NULL) {
        MER_TRY(mer_jobs_read_single(reader, list, error));
    }
    if ((list = mer_yaml_get(root, "groups")) != NULL) {
        MER_TRY(read_groups(reader, list, error));
    }
    MER_TRY(mer_yaml_finish(root, error));
    if (reader->builder.set.job_count == 0) {
        return mer_yaml_error(root, error,
                              "found no jobs, expected `models` or `jobs` with at least one");
    }
    return MER_OK;
}

static bool probe(const MerImportFile *file)
{
    return mer_jobs_has_format(file, "mercator-jobs/");
}

static MerStatus read_jobs(const MerImportFile *file, const MerImportOptions *options,
                           MerArena *arena, MerGraph **graph, MerError *error)
{
    MerJobsReader reader = {.file = file,
                            .options = options,
                            .arena = arena,
                            .tenants = {.arena = arena},
                            .jobs = {.arena = arena}};
    MerYaml      *root;
    if (options && options->is_part) {
        return mer_error_set(error, MER_INVALID, "%s is a list of jobs, expected a network",
                             file->path);
    }
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, arena, &root, error));
    MER_TRY(mer_yaml_check_kind(root, MER_YAML_MAP, error));
    reader.builder = mer_jobs_begin(file->name, "jobs", arena);
    MER_TRY(read_all(&reader, root, error));
    return mer_jobs_end(&reader.builder, file, graph, error);
}

/* The text of a list instead of its name: a map in braces. */
static bool knows(const char *name)
{
    return name[strspn(name, " \t\n")] == '{' && strstr(name, "mercator-jobs/");
}

/* Called after its networks, which also stands before messages. */
static MerStatus make(const char *name, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    MerImportFile file = {"job list", "", name, strlen(name)};
    MER_TRY(read_jobs(&file, options, arena, graph, error));
    const MerJobSet *set = mer_job_set(*graph);
    for (int m = 0; m < set->model_count; m++) {
        (*graph)->name =
            mer_arena_format(arena, "%s%s%s", (*graph)->name, m ? "+" : "", set->models[m].name);
    }
    return MER_OK;
}

const MerImporterClass mer_importer_jobs = {
    .name = "jobs",
    .summary = "networks with batches, periods and owners, and single jobs (mercator-jobs/1)",
    .endings = "yaml yml",
    .probe = probe,
    .read = read_jobs,
    .knows = knows,
    .make = make,
};
