/* Jobs of a network: one per layer with multiplications and mini-batch. */
#include "schedule/jobs/schedule_jobs.h"

#include "base/name_table.h"

#include <math.h>
#include <string.h>

static void add_once(int *list, int *count, int value)
{
    for (int i = 0; i < *count; i++) {
        if (list[i] == value) {
            return;
        }
    }
    list[(*count)++] = value;
}

/* Operators are in topological order, so one pass suffices; those without multiplications hand on the layers that
 * their inputs come from. A table of layers has no edges: its rows follow each other. */
MerLayerOrder mer_layer_order(const MerGraph *graph, MerJobDependencies dependencies,
                              MerArena *arena)
{
    int           ops = graph->op_count, edges = 0;
    MerLayerOrder order = {0, MER_ARRAY(arena, int, ops + 1), MER_ARRAY(arena, int, ops + 1),
                           MER_ARRAY(arena, int *, ops + 1)};
    int         **layers = MER_ARRAY(arena, int *, ops + 1); /* that an operator's output is of */
    int          *count = MER_ARRAY(arena, int, ops + 1);
    int          *found = MER_ARRAY(arena, int, ops + 1);
    for (int o = 0; o < ops; o++) {
        const MerOp *op = &graph->ops[o];
        for (int i = 0; i < op->input_count; i++) {
            int from = op->inputs[i] >= 0 ? graph->values[op->inputs[i]].producer : -1;
            for (int k = 0; from >= 0 && k < count[from]; k++) {
                add_once(found, &count[o], layers[from][k]);
            }
        }
        layers[o] = MER_ARRAY(arena, int, count[o] + 1);
        memcpy(layers[o], found, (size_t)count[o] * sizeof *found);
        if (op->layer >= 0) {
            order.ops[order.count] = o;
            order.before[order.count] = layers[o];
            order.before_count[order.count] = count[o];
            edges += count[o];
            layers[o] = MER_ARRAY(arena, int, 1);
            layers[o][0] = order.count++;
            count[o] = 1;
        }
    }
    bool is_graph = dependencies == MER_DEPENDENCIES_GRAPH && edges > 0;
    for (int l = 0; l < order.count && !is_graph; l++) {
        order.before[l] = MER_ARRAY(arena, int, 1);
        order.before[l][0] = l - 1;
        order.before_count[l] = dependencies != MER_DEPENDENCIES_NONE && l > 0;
    }
    return order;
}

/* Names of jobs are unique, names of layers need not be. */
static const char *name_job(MerNameTable *names, int op, const char *name, int part, int parts,
                            MerArena *arena)
{
    const char *full = parts > 1 ? mer_arena_format(arena, "%s#%d", name, part) : name;
    if (mer_name_table_find(names, full)) {
        full = mer_arena_format(arena, "%s@%d", full, op);
    }
    mer_name_table_set(names, full, names);
    return full;
}

/* Neither the number of jobs nor the work of one may leave the range of integers. */
static MerStatus check_sizes(const MerGraph *graph, const MerJobOptions *options, MerError *error)
{
    if (options->batch % options->mini_batch != 0) {
        return mer_error_set(error, MER_INVALID,
                             "batch_size is %d, expected a multiple of mini_batch %d",
                             options->batch, options->mini_batch);
    }
    int64_t count = (int64_t)graph->op_count * (options->batch / options->mini_batch);
    if (count > MER_JOBS_MAX) {
        return mer_error_set(error, MER_INVALID,
                             "batch_size %d makes %lld jobs of %s, expected at most %d",
                             options->batch, (long long)count, graph->name, MER_JOBS_MAX);
    }
    if (graph->macs > INT64_MAX / options->mini_batch / 4) {
        return mer_error_set(
            error, MER_INVALID, "mini_batch is %d, expected at most %lld for %lld multiplications",
            options->mini_batch, (long long)(INT64_MAX / 4 / graph->macs), (long long)graph->macs);
    }
    return MER_OK;
}

MerStatus mer_schedule_jobs(const MerGraph *graph, const MerJobOptions *options, MerArena *arena,
                            const MerJobSet **set, MerError *error)
{
    *set = mer_job_set(graph);
    if (*set) {
        return MER_OK;
    }
    MER_TRY(check_sizes(graph, options, error));
    MerNameTable  names = {.arena = arena};
    int           parts = options->batch / options->mini_batch;
    MerLayerOrder order = mer_layer_order(graph, options->dependencies, arena);
    MerJob       *jobs = MER_ARRAY(arena, MerJob, (size_t)order.count * (size_t)parts + 1);
    int           count = 0;
    for (int part = 0; part < parts; part++) {
        int first = count;
        for (int l = 0; l < order.count; l++) {
            int  o = order.ops[l];
            int *after = MER_ARRAY(arena, int, order.before_count[l] + 1);
            for (int i = 0; i < order.before_count[l]; i++) {
                after[i] = first + order.before[l][i];
            }
            jobs[count++] = (MerJob){
                .name = name_job(&names, o, graph->ops[o].name, part, parts, arena),
                .op = o,
                .images = options->mini_batch,
                .request = part,
                .group = -1,
                .row = -1,
                .deadline_s = INFINITY,
                .after_count = order.before_count[l],
                .after = after,
            };
        }
    }
    if (count == 0) {
        return mer_error_set(error, MER_INVALID, "%s has no layer with multiplications to schedule",
                             graph->name);
    }
    MerJobSet   *made = MER_NEW(arena, MerJobSet);
    MerTenant   *tenant = MER_NEW(arena, MerTenant);
    MerJobModel *model = MER_NEW(arena, MerJobModel);
    *tenant = (MerTenant){graph->name, 1};
    *model = (MerJobModel){.name = graph->name, .probability = 1};
    *made = (MerJobSet){.job_count = count,
                        .model_count = 1,
                        .tenant_count = 1,
                        .jobs = jobs,
                        .models = model,
                        .tenants = tenant};
    *set = made;
    return MER_OK;
}
