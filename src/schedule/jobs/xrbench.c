/* The scenarios of XRBench (Kwon et al., MLSys 2023; docs/scheduling.md, "The forms of M3E and XRBench"),
 * `xrbench-scenarios/1`: models at frame rates, some after others, some with a probability. Every scenario
 * is one group; a request is a chain of layers with the period's start as release and its end as deadline. */
#include "schedule/jobs/jobs_import.h"

#include <math.h>
#include <string.h>

static const double run_s = 0.7;

typedef struct Model { /* layers in the joint graph, one after the other */
    const char *name;
    int         first_op, op_count;
} Model;

typedef struct Entry { /* a model in a scenario */
    const Model *model;
    int         *first_job; /* by request */
    int          request_count;
} Entry;

typedef struct Scenario { /* in the making; its entries are the last models of the job set */
    MerJobBuilder *builder;
    const Model   *models;
    int            model_count, group, first_model, entry_count;
    Entry         *entries;
} Scenario;

static MerStatus read_layers(MerYaml *list, const char *name, MerJobBuilder *builder,
                             MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int l = 0; l < list->count; l++) {
        MerYaml *layer = list->items[l];
        int64_t  d[7]; /* N, K, C, Y, X, R, S */
        MerOp    op;
        MER_TRY(mer_yaml_check_kind(layer, MER_YAML_LIST, error));
        if (layer->count != 2 || layer->items[1]->kind != MER_YAML_LIST ||
            layer->items[1]->count != 7) {
            return mer_yaml_expected(layer, error, "a type and a list of N, K, C, Y, X, R, S");
        }
        for (int i = 0; i < 7; i++) {
            MER_TRY(mer_yaml_int(layer->items[1]->items[i], 1, INT32_MAX, &d[i], error));
        }
        int64_t row[7] = {d[1], d[2], d[3] < d[5] ? d[5] : d[3], d[4] < d[6] ? d[6] : d[4], d[5],
                          d[6], 1};
        if (!mer_m3e_op(row, mer_arena_format(builder->graph->arena, "%s.%d", name, l), &op)) {
            return mer_yaml_expected(layer, error, "sizes >= 1");
        }
        op.dims[MER_DIM_N] = d[0];
        mer_jobs_add_op(builder, &op);
    }
    return MER_OK;
}

static void add_request(Scenario *scenario, const Entry *entry, const MerJobModel *owner,
                        int request)
{
    MerJobBuilder *builder = scenario->builder;
    MerArena      *arena = builder->graph->arena;
    const Model   *model = entry->model;
    entry->first_job[request] = builder->set.job_count;
    for (int l = 0; l < model->op_count; l++) {
        int *after = MER_ARRAY(arena, int, owner->after_count + 1);
        int  count = l > 0;
        after[0] = builder->set.job_count - 1;
        for (int b = 0; l == 0 && b < owner->after_count; b++) {
            const Entry *before = &scenario->entries[owner->after[b] - scenario->first_model];
            if (request < before->request_count) {
                after[count++] = before->first_job[request] + before->model->op_count - 1;
            }
        }
        MerJob job = {.name = mer_arena_format(arena, "%s#%d.%d", model->name, request, l),
                      .op = model->first_op + l,
                      .images = 1,
                      .model = scenario->first_model + scenario->entry_count,
                      .request = request,
                      .tenant = owner->tenant,
                      .group = scenario->group,
                      .row = -1,
                      .release_s = request * (1 / owner->fps),
                      .deadline_s = (request + 1) * (1 / owner->fps),
                      .after_count = count,
                      .after = after};
        mer_jobs_add(builder, &job);
    }
}

static MerStatus find_model(const Scenario *scenario, MerYaml *node, const Model **model,
                            MerError *error)
{
    MerYaml    *name;
    const char *text;
    MER_TRY(mer_yaml_need(node, "model", &name, error));
    MER_TRY(mer_yaml_text(name, &text, error));
    for (int m = 0; m < scenario->model_count; m++) {
        if (strcmp(scenario->models[m].name, text) == 0) {
            *model = &scenario->models[m];
            return MER_OK;
        }
    }
    return mer_yaml_expected(name, error, "one of `models`");
}

/* Models that come before this one are further up in the scenario. */
static MerStatus find_before(const Scenario *scenario, MerYaml *node, MerJobModel *model,
                             MerError *error)
{
    MerYaml *list = mer_yaml_get(node, "depends_on");
    if (!list || mer_yaml_is_null(list)) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    int *after = MER_ARRAY(scenario->builder->graph->arena, int, list->count + 1);
    for (int d = 0; d < list->count; d++) {
        const char *text;
        int         e = 0;
        MER_TRY(mer_yaml_text(list->items[d], &text, error));
        while (e < scenario->entry_count && strcmp(scenario->entries[e].model->name, text) != 0) {
            e++;
        }
        if (e == scenario->entry_count) {
            return mer_yaml_expected(list->items[d], error, "a model above in the scenario");
        }
        after[d] = scenario->first_model + e;
    }
    model->after = after;
    model->after_count = list->count;
    return MER_OK;
}

static MerStatus read_entry(Scenario *scenario, MerYaml *node, MerError *error)
{
    MerJobBuilder *builder = scenario->builder;
    Entry         *entry = &scenario->entries[scenario->entry_count];
    MerJobModel    added = {.probability = 1};
    MerYaml       *rate;
    MER_TRY(find_model(scenario, node, &entry->model, error));
    MER_TRY(mer_yaml_need(node, "fps", &rate, error));
    MER_TRY(mer_yaml_real(rate, 1e-3, 1e6, &added.fps, error));
    MER_TRY(mer_yaml_get_real(node, "probability", 0, 1, &added.probability, error));
    MER_TRY(find_before(scenario, node, &added, error));
    const Model *model = entry->model;
    int          requests = (int)floor(run_s * added.fps + 1e-9);
    added.name = model->name;
    added.tenant = mer_jobs_tenant(builder, model->name, 1);
    if ((int64_t)requests * model->op_count + builder->set.job_count > MER_JOBS_MAX) {
        return mer_yaml_error(node, error,
                              "%s makes %d requests of %d jobs, expected at most %d jobs in all",
                              model->name, requests, model->op_count, MER_JOBS_MAX);
    }
    mer_jobs_add_model(builder, &added);
    entry->request_count = requests;
    entry->first_job = MER_ARRAY(builder->graph->arena, int, requests + 1);
    for (int r = 0; r < requests; r++) {
        add_request(scenario, entry, &added, r);
    }
    scenario->entry_count++;
    return MER_OK;
}

static MerStatus read_scenario(MerYaml *list, const char *name, const Model *models,
                               int model_count, MerJobBuilder *builder, MerError *error)
{
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    Scenario scenario = {.builder = builder,
                         .models = models,
                         .model_count = model_count,
                         .group = mer_jobs_add_group(builder, name),
                         .first_model = builder->set.model_count,
                         .entries = MER_ARRAY(builder->graph->arena, Entry, list->count + 1)};
    int      first = builder->set.job_count;
    for (int e = 0; e < list->count; e++) {
        MER_TRY(read_entry(&scenario, list->items[e], error));
    }
    if (builder->set.job_count == first) {
        return mer_yaml_error(list, error, "scenario %s has no requests, expected at least one",
                              name);
    }
    return MER_OK;
}

static MerStatus read_all(MerYaml *root, MerJobBuilder *builder, MerError *error)
{
    MerYaml *scenarios, *models;
    MER_TRY(mer_yaml_need(root, "models", &models, error));
    MER_TRY(mer_yaml_need(root, "scenarios", &scenarios, error));
    MER_TRY(mer_yaml_check_kind(models, MER_YAML_MAP, error));
    MER_TRY(mer_yaml_check_kind(scenarios, MER_YAML_MAP, error));
    Model *list = MER_ARRAY(builder->graph->arena, Model, models->count + 1);
    for (int m = 0; m < models->count; m++) {
        const char *name = mer_arena_text(builder->graph->arena, models->keys[m]);
        MER_TRY(mer_yaml_check_kind(models->items[m], MER_YAML_LIST, error));
        if (models->items[m]->count == 0) {
            return mer_yaml_expected(models->items[m], error, "at least one layer");
        }
        list[m] = (Model){name, builder->graph->op_count, models->items[m]->count};
        MER_TRY(read_layers(models->items[m], name, builder, error));
    }
    for (int s = 0; s < scenarios->count; s++) {
        MER_TRY(read_scenario(scenarios->items[s],
                              mer_arena_text(builder->graph->arena, scenarios->keys[s]), list,
                              models->count, builder, error));
    }
    return MER_OK;
}

static bool probe(const MerImportFile *file)
{
    return mer_jobs_has_format(file, "xrbench-scenarios/1");
}

static MerStatus read(const MerImportFile *file, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error)
{
    (void)options;
    MerYaml      *root;
    MerJobBuilder builder = mer_jobs_begin(file->name, "xrbench", arena);
    builder.set.horizon_s = run_s;
    MER_TRY(mer_yaml_parse(file->path, file->data, file->size, arena, &root, error));
    MER_TRY(mer_yaml_check_kind(root, MER_YAML_MAP, error));
    MER_TRY(read_all(root, &builder, error));
    return mer_jobs_end(&builder, file, graph, error);
}

const MerImporterClass mer_importer_xrbench = {
    .name = "xrbench",
    .summary =
        "XR scenarios with frame rates, probabilities and dependencies (xrbench-scenarios/1)",
    .endings = "json",
    .probe = probe,
    .read = read,
};
