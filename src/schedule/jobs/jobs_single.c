/* Single jobs of a job file. `after` names jobs, also further down, whole models, or a layer of a model in all
 * its requests ("cam.3"). */
#include "schedule/jobs/jobs_reader.h"

#include "import/layer_list.h"
#include "mercator/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static MerStatus read_op(MerYaml *node, const char *name, MerOp *op, MerError *error)
{
    static const char *const kinds[] = {"fc", "conv", "depthwise", "gemm"};
    static const int         sizes[] = {2, 6, 6, 3};
    MerYaml                 *word, *dims;
    int                      kind = 0;
    int64_t                  row[7] = {1, 1, 1, 1, 1, 1, 0};
    MER_TRY(mer_yaml_need(node, "op", &word, error));
    MER_TRY(mer_yaml_word(word, kinds, 4, &kind, error));
    MER_TRY(mer_yaml_need(node, "dims", &dims, error));
    MER_TRY(mer_yaml_check_kind(dims, MER_YAML_LIST, error));
    if (dims->count != sizes[kind]) {
        return mer_yaml_error(dims, error, "%s has %d sizes, expected %d of a %s", dims->path,
                              dims->count, sizes[kind], kinds[kind]);
    }
    for (int i = 0; i < dims->count; i++) {
        MER_TRY(mer_yaml_int(dims->items[i], 1, MER_LAYER_MAX_SIZE, &row[i], error));
    }
    row[6] = kind;
    return mer_m3e_op(row, name, op) ? MER_OK
                                     : mer_yaml_expected(dims, error, "a filter within its image");
}

/* Times in milliseconds instead of cycles. */
static MerStatus read_milliseconds(MerYaml *node, MerJob *job, MerError *error)
{
    MerYaml *release = mer_yaml_get(node, "release_ms"),
            *deadline = mer_yaml_get(node, "deadline_ms");
    if (release && mer_yaml_get(node, "release_cycles")) {
        return mer_yaml_expected(release, error, "either release_cycles or release_ms");
    }
    if (deadline && mer_yaml_get(node, "deadline_cycles")) {
        return mer_yaml_expected(deadline, error, "either deadline_cycles or deadline_ms");
    }
    if (release) {
        MER_TRY(mer_yaml_real(release, 0, 1e9, &job->release_s, error));
        job->release_s /= 1000;
    }
    if (deadline) {
        MER_TRY(mer_yaml_real(deadline, 0, 1e9, &job->deadline_s, error));
        job->deadline_s /= 1000;
        job->deadline_cycles = 0;
        if (job->deadline_s < job->release_s) {
            return mer_yaml_expected(deadline, error, "at least release_ms, %.17g",
                                     1000 * job->release_s);
        }
    }
    return MER_OK;
}

static MerStatus read_job(MerJobsReader *reader, MerYaml *node, MerError *error)
{
    MerJob   job = {.images = 1, .model = -1, .group = -1, .row = -1};
    MerYaml *name;
    MerOp    op;
    job.deadline_cycles = INFINITY;
    MER_TRY(mer_yaml_need(node, "name", &name, error));
    MER_TRY(mer_jobs_read_name(name, &job.name, error));
    MER_TRY(read_op(node, job.name, &op, error));
    MER_TRY(mer_yaml_get_real(node, "release_cycles", 0, 1e18, &job.release_cycles, error));
    MER_TRY(mer_yaml_get_real(node, "deadline_cycles", 0, 1e18, &job.deadline_cycles, error));
    MER_TRY(read_milliseconds(node, &job, error));
    if (job.deadline_cycles < job.release_cycles) {
        return mer_yaml_expected(mer_yaml_get(node, "deadline_cycles"), error,
                                 "at least release_cycles, %.17g", job.release_cycles);
    }
    MER_TRY(mer_jobs_read_tenant(reader, node, "jobs", &job.tenant, error));
    mer_yaml_get(node, "after"); /* read once all names are known */
    MER_TRY(mer_yaml_finish(node, error));
    job.op = mer_jobs_add_op(&reader->builder, &op);
    return mer_jobs_add_named(reader, name, &job, error);
}

typedef struct Found { /* jobs that a name stands for */
    int *jobs, count;
} Found;

static void add_found(Found *found, int job, MerArena *arena)
{
    MER_GROW(arena, found->jobs, found->count);
    found->jobs[found->count++] = job;
}

/* `layer` -1: the last ones. */
static void add_layers_of(const MerJobsReader *reader, const MerJobsNetwork *network, int64_t layer,
                          Found *found)
{
    for (int r = 0; r < network->request_count; r++) {
        for (int l = 0; l < network->layers.count; l++) {
            if (l == layer || (layer < 0 && network->is_last[l])) {
                add_found(found, network->first_job[r] + l, reader->arena);
            }
        }
    }
}

static MerStatus find_name(const MerJobsReader *reader, const MerYaml *node, Found *found,
                           MerError *error)
{
    const char *name;
    MER_TRY(mer_yaml_text(node, &name, error));
    const int *job = mer_name_table_find(&reader->jobs, name);
    if (job) {
        add_found(found, *job, reader->arena);
        return MER_OK;
    }
    const char *dot = strrchr(name, '.');
    int64_t     layer = -1;
    bool        has_layer = dot && mer_parse_int(dot + 1, &layer) && layer >= 0;
    for (int n = 0; n < reader->network_count; n++) {
        const MerJobsNetwork *network = &reader->networks[n];
        size_t                length = strlen(network->name);
        if (strcmp(network->name, name) == 0) {
            add_layers_of(reader, network, -1, found);
            return MER_OK;
        }
        if (has_layer && length == (size_t)(dot - name) &&
            strncmp(network->name, name, length) == 0 && layer < network->layers.count) {
            add_layers_of(reader, network, layer, found);
            return MER_OK;
        }
    }
    return mer_yaml_expected(node, error, "the name of a job, a model, or MODEL.LAYER");
}

static MerStatus read_after(MerJobsReader *reader, MerYaml *node, int job, MerError *error)
{
    MerYaml *list = mer_yaml_get(node, "after");
    Found    found = {0};
    if (!list) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    for (int i = 0; i < list->count; i++) {
        MER_TRY(find_name(reader, list->items[i], &found, error));
    }
    reader->builder.jobs[job].after = found.jobs;
    reader->builder.jobs[job].after_count = found.count;
    return MER_OK;
}

MerStatus mer_jobs_read_single(MerJobsReader *reader, MerYaml *list, MerError *error)
{
    int first = reader->builder.set.job_count;
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    reader->builder.singles = list;
    reader->builder.first_single = first;
    for (int j = 0; j < list->count; j++) {
        MER_TRY(read_job(reader, list->items[j], error));
    }
    for (int j = 0; j < list->count; j++) {
        MER_TRY(read_after(reader, list->items[j], first + j, error));
    }
    return MER_OK;
}
