/* Jobs of a network: one per layer with multiplications and mini-batch. */
#include "schedule/jobs/schedule_jobs.h"

#include "base/name_table.h"

#include <math.h>
#include <string.h>

enum { MAX_JOBS = 1000000 };

/* For every operator the layers with multiplications that its inputs come from, through all others. */
typedef struct Producers {
    int  *count;
    int **layers;
} Producers;

static void add_once(int *list, int *count, int value)
{
    for (int i = 0; i < *count; i++) {
        if (list[i] == value) {
            return;
        }
    }
    list[(*count)++] = value;
}

/* Operators are in topological order, so one pass suffices. */
static Producers find_producers(const MerGraph *graph, MerArena *arena)
{
    Producers producers = {MER_ARRAY(arena, int, graph->op_count + 1),
                           MER_ARRAY(arena, int *, graph->op_count + 1)};
    int      *capacity = MER_ARRAY(arena, int, graph->op_count + 1);
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        int          count = 0;
        for (int i = 0; i < op->input_count; i++) {
            int from = op->inputs[i] >= 0 ? graph->values[op->inputs[i]].producer : -1;
            if (from >= 0 && graph->ops[from].layer >= 0) {
                add_once(capacity, &count, from);
            }
            for (int k = 0; from >= 0 && graph->ops[from].layer < 0 && k < producers.count[from];
                 k++) {
                add_once(capacity, &count, producers.layers[from][k]);
            }
        }
        producers.count[o] = count;
        producers.layers[o] = MER_ARRAY(arena, int, count + 1);
        memcpy(producers.layers[o], capacity, (size_t)count * sizeof *capacity);
    }
    return producers;
}

/* A table of layers has none: its rows follow each other. */
static bool has_edges(const MerGraph *graph, const Producers *producers)
{
    int edges = 0;
    for (int o = 0; o < graph->op_count; o++) {
        edges += graph->ops[o].layer >= 0 ? producers->count[o] : 0;
    }
    return edges > 0;
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
    if (count > MAX_JOBS) {
        return mer_error_set(error, MER_INVALID,
                             "batch_size %d makes %lld jobs of %s, expected at most %d",
                             options->batch, (long long)count, graph->name, MAX_JOBS);
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
    MerStatus status = check_sizes(graph, options, error);
    if (status != MER_OK) {
        return status;
    }
    MerNameTable names = {.arena = arena};
    int          parts = options->batch / options->mini_batch;
    Producers    producers = find_producers(graph, arena);
    MerJob      *jobs = MER_ARRAY(arena, MerJob, (size_t)graph->op_count * (size_t)parts + 1);
    int         *job_of = MER_ARRAY(arena, int, graph->op_count + 1);
    int          count = 0;
    bool is_graph = options->dependencies == MER_DEPENDENCIES_GRAPH && has_edges(graph, &producers);
    for (int part = 0; part < parts; part++) {
        int last = -1;
        for (int o = 0; o < graph->op_count; o++) {
            if (graph->ops[o].layer < 0) {
                continue;
            }
            bool is_chain = options->dependencies != MER_DEPENDENCIES_NONE && last >= 0;
            int *after = MER_ARRAY(arena, int, producers.count[o] + 1);
            int  after_count = is_graph ? producers.count[o] : is_chain;
            for (int i = 0; i < after_count; i++) {
                after[i] = is_graph ? job_of[producers.layers[o][i]] : last;
            }
            jobs[count] = (MerJob){
                .name = name_job(&names, o, graph->ops[o].name, part, parts, arena),
                .op = o,
                .images = options->mini_batch,
                .request = part,
                .group = -1,
                .row = -1,
                .deadline_s = INFINITY,
                .after_count = after_count,
                .after = after,
            };
            last = job_of[o] = count++;
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
