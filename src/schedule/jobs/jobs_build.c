/* Building a job set beside its graph. */
#include "schedule/jobs/jobs_import.h"

#include "import/layer_list.h"
#include "mercator/text.h"
#include "schedule/jobs/job_links.h"

#include <stdio.h>
#include <string.h>

MerJobBuilder mer_jobs_begin(const char *name, const char *format, MerArena *arena)
{
    MerJobBuilder builder = {.graph = mer_graph_new(name, arena)};
    builder.graph->format = format;
    return builder;
}

int mer_jobs_add(MerJobBuilder *builder, const MerJob *job)
{
    MER_GROW(builder->graph->arena, builder->jobs, builder->set.job_count);
    builder->jobs[builder->set.job_count] = *job;
    return builder->set.job_count++;
}

int mer_jobs_add_model(MerJobBuilder *builder, const MerJobModel *model)
{
    MER_GROW(builder->graph->arena, builder->models, builder->set.model_count);
    builder->models[builder->set.model_count] = *model;
    return builder->set.model_count++;
}

int mer_jobs_add_group(MerJobBuilder *builder, const char *name)
{
    MER_GROW(builder->graph->arena, builder->groups, builder->set.group_count);
    builder->groups[builder->set.group_count] = name;
    return builder->set.group_count++;
}

int mer_jobs_tenant(MerJobBuilder *builder, const char *name, double weight)
{
    for (int i = 0; i < builder->set.tenant_count; i++) {
        if (strcmp(builder->tenants[i].name, name) == 0) {
            return i;
        }
    }
    MER_GROW(builder->graph->arena, builder->tenants, builder->set.tenant_count);
    builder->tenants[builder->set.tenant_count] = (MerTenant){name, weight};
    return builder->set.tenant_count++;
}

int mer_jobs_add_op(MerJobBuilder *builder, const MerOp *op)
{
    mer_layer_add(builder->graph, op);
    return builder->graph->op_count - 1;
}

/* The first job that `job` waits for and that waits itself. */
static int next_in_circle(const MerJobBuilder *builder, const int *missing, int job)
{
    const int *after = builder->jobs[job].after;
    while (missing[*after] == 0) {
        after++;
    }
    return *after;
}

/* Walks along predecessors that are not done; a walk of more steps than jobs has met a cycle. */
static MerStatus fail_cycle(const MerJobBuilder *builder, const int *missing, const char *path,
                            MerError *error)
{
    char text[300] = "";
    int  job = 0;
    while (missing[job] == 0) {
        job++;
    }
    for (int step = 0; step < builder->set.job_count; step++) { /* now certainly on the cycle */
        job = next_in_circle(builder, missing, job);
    }
    int    first = job;
    size_t used = 0;
    do {
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s after ", builder->jobs[job].name);
        job = next_in_circle(builder, missing, job);
    } while (job != first && used < sizeof text - 80);
    const MerYaml *list = builder->singles;
    int            item = first - builder->first_single;
    return list && item >= 0 && item < list->count
               ? mer_yaml_error(list->items[item], error,
                                "jobs wait for each other in a circle: %s%s; expected an order",
                                text, builder->jobs[first].name)
               : mer_error_set(error, MER_INVALID,
                               "%s: jobs wait for each other in a circle: %s%s; expected an order",
                               path, text, builder->jobs[first].name);
}

static MerStatus check_order(const MerJobBuilder *builder, const char *path, MerError *error)
{
    int         count = builder->set.job_count;
    MerArena   *scratch = mer_arena_new();
    MerJobLinks links = mer_job_links(builder->jobs, NULL, count, scratch);
    int        *missing = MER_ARRAY(scratch, int, 2 * (size_t)count + 1);
    bool        is_ordered = mer_job_order(&links, count, missing, missing + count) == count;
    MerStatus   status = is_ordered ? MER_OK : fail_cycle(builder, missing, path, error);
    mer_arena_free(scratch);
    return status;
}

static uint64_t hash_owners(uint64_t hash, const MerJobSet *set)
{
    for (int i = 0; i < set->tenant_count; i++) {
        hash = mer_hash_text(hash, set->tenants[i].name);
        hash = mer_hash_real(hash, set->tenants[i].weight);
    }
    for (int m = 0; m < set->model_count; m++) {
        hash = mer_hash_text(hash, set->models[m].name);
        hash = mer_hash_real(hash, set->models[m].fps);
        hash = mer_hash_real(hash, set->models[m].probability);
    }
    for (int g = 0; g < set->group_count; g++) {
        hash = mer_hash_text(hash, set->group_names[g]);
    }
    return hash;
}

static uint64_t hash_jobs(uint64_t hash, const MerJobSet *set)
{
    for (int j = 0; j < set->job_count; j++) {
        const MerJob *job = &set->jobs[j];
        const int     numbers[] = {job->op,      job->images, job->model,
                                   job->request, job->group,  job->tenant};
        hash = mer_hash_text(hash, job->name);
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            hash = mer_hash_int(hash, numbers[i]);
        }
        hash = mer_hash_real(hash, job->release_cycles + job->release_s);
        hash = mer_hash_real(hash, job->deadline_cycles + job->deadline_s);
        for (int i = 0; i < job->after_count; i++) {
            hash = mer_hash_int(hash, job->after[i]);
        }
    }
    hash = hash_owners(hash, set);
    hash = mer_hash_int(hash, set->is_shuffled ? (int64_t)set->shuffle_seed : -1);
    return mer_hash_int(hash, set->group_size);
}

/* A job does the multiplications of its layer once for every image. */
static MerStatus check_sizes(const MerJobBuilder *builder, const char *path, MerError *error)
{
    for (int j = 0; j < builder->set.job_count; j++) {
        const MerJob *job = &builder->jobs[j];
        int64_t       macs = builder->graph->ops[job->op].macs;
        if (macs > INT64_MAX / job->images / 4) {
            return mer_error_set(error, MER_INVALID,
                                 "%s: job %s has %d images of %lld multiplications, expected fewer "
                                 "than 2^61 in all",
                                 path, job->name, job->images, (long long)macs);
        }
    }
    return MER_OK;
}

MerStatus mer_jobs_end(MerJobBuilder *builder, const MerImportFile *file, MerGraph **graph,
                       MerError *error)
{
    MerGraph *made = builder->graph;
    if (builder->set.job_count == 0) {
        return mer_error_set(error, MER_INVALID, "%s: found no jobs, expected at least one",
                             file->path);
    }
    if (builder->set.tenant_count == 0) {
        mer_jobs_tenant(builder, made->name, 1);
    }
    MerError  why = {0};
    MerStatus status = mer_graph_finish(made, &why);
    if (status != MER_OK) {
        return mer_error_set(error, status, "%s: %s, expected smaller layers", file->path,
                             why.message);
    }
    MER_TRY(check_sizes(builder, file->path, error));
    MER_TRY(check_order(builder, file->path, error));
    MerJobSet *set = MER_NEW(made->arena, MerJobSet);
    *set = builder->set;
    set->jobs = builder->jobs;
    set->models = builder->models;
    set->tenants = builder->tenants;
    set->group_names = (const char *const *)builder->groups;
    mer_graph_attach(made, MER_JOB_SET, set);
    made->hash = hash_jobs(made->hash, set);
    *graph = made;
    return MER_OK;
}

bool mer_jobs_has_format(const MerImportFile *file, const char *format)
{
    enum { HEAD = 4096 };
    const char *found = strstr(file->data, format);
    return found && found + strlen(format) <= file->data + HEAD;
}
