/* Jobs of a network, and the grouping rule of the host program, made explicit. */
#include "problem/schedule_jobs.h"

#include "mercator/rng.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int      *room = MER_ARRAY(arena, int, graph->op_count + 1);
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        int          count = 0;
        for (int i = 0; i < op->input_count; i++) {
            int from = op->inputs[i] >= 0 ? graph->values[op->inputs[i]].producer : -1;
            if (from >= 0 && graph->ops[from].layer >= 0) {
                add_once(room, &count, from);
            }
            for (int k = 0; from >= 0 && graph->ops[from].layer < 0 && k < producers.count[from];
                 k++) {
                add_once(room, &count, producers.layers[from][k]);
            }
        }
        producers.count[o] = count;
        producers.layers[o] = MER_ARRAY(arena, int, count + 1);
        memcpy(producers.layers[o], room, (size_t)count * sizeof *room);
    }
    return producers;
}

MerStatus mer_schedule_jobs(const MerGraph *graph, const MerJobOptions *options, MerArena *arena,
                            const MerJobSet **set, MerError *error)
{
    if (graph->jobs) {
        *set = graph->jobs;
        return MER_OK;
    }
    if (options->batch % options->mini_batch != 0) {
        return mer_error_set(error, MER_INVALID,
                             "batch_size is %d, expected a multiple of mini_batch %d",
                             options->batch, options->mini_batch);
    }
    int       parts = options->batch / options->mini_batch;
    Producers producers = find_producers(graph, arena);
    MerJob   *jobs = MER_ARRAY(arena, MerJob, (size_t)graph->op_count * (size_t)parts + 1);
    int      *job_of = MER_ARRAY(arena, int, graph->op_count + 1);
    int       count = 0;
    for (int part = 0; part < parts; part++) {
        int last = -1;
        for (int o = 0; o < graph->op_count; o++) {
            if (graph->ops[o].layer < 0) {
                continue;
            }
            bool is_graph = options->dependencies == MER_DEPENDENCIES_GRAPH;
            bool is_chain = options->dependencies == MER_DEPENDENCIES_CHAIN && last >= 0;
            int *after = MER_ARRAY(arena, int, producers.count[o] + 1);
            int  after_count = is_graph ? producers.count[o] : is_chain;
            for (int i = 0; i < after_count; i++) {
                after[i] = is_graph ? job_of[producers.layers[o][i]] : last;
            }
            const char *name = graph->ops[o].name;
            jobs[count] = (MerJob){
                .name = parts > 1 ? mer_arena_format(arena, "%s#%d", name, part) : name,
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

static void take_given_groups(const MerJobSet *set, MerArena *arena, MerJobGroups *groups)
{
    groups->count = set->group_count;
    groups->names = MER_ARRAY(arena, const char *, set->group_count + 1);
    groups->start = MER_ARRAY(arena, int, set->group_count + 1);
    groups->jobs = MER_ARRAY(arena, int, set->job_count + 1);
    int  count = 0;
    int *fill = MER_ARRAY(arena, int, set->group_count + 1);
    for (int j = 0; j < set->job_count; j++) {
        groups->start[set->jobs[j].group + 1]++;
    }
    for (int g = 0; g < set->group_count; g++) {
        groups->names[g] = set->group_names[g];
        groups->start[g + 1] += groups->start[g];
        fill[g] = groups->start[g];
    }
    for (; count < set->job_count; count++) {
        groups->jobs[fill[set->jobs[count].group]++] = count;
    }
}

typedef struct Streams { /* one per network and mini-batch, jobs in input order */
    int  count;
    int *start, *jobs;
} Streams;

static Streams make_streams(const MerJobSet *set, MerArena *arena)
{
    int requests = 1;
    for (int j = 0; j < set->job_count; j++) {
        requests = set->jobs[j].request >= requests ? set->jobs[j].request + 1 : requests;
    }
    Streams streams = {(set->model_count + 1) * requests, NULL,
                       MER_ARRAY(arena, int, set->job_count + 1)};
    streams.start = MER_ARRAY(arena, int, streams.count + 1);
    int *fill = MER_ARRAY(arena, int, streams.count + 1);
    for (int j = 0; j < set->job_count; j++) {
        streams.start[(set->jobs[j].model + 1) * requests + set->jobs[j].request + 1]++;
    }
    for (int s = 0; s < streams.count; s++) {
        streams.start[s + 1] += streams.start[s];
        fill[s] = streams.start[s];
    }
    for (int j = 0; j < set->job_count; j++) {
        streams.jobs[fill[(set->jobs[j].model + 1) * requests + set->jobs[j].request]++] = j;
    }
    return streams;
}

static bool is_ready(const MerJobSet *set, const int *group_of, int group, int job)
{
    for (int i = 0; i < set->jobs[job].after_count; i++) {
        int before = group_of[set->jobs[job].after[i]];
        if (before < 0 || before == group) {
            return false;
        }
    }
    return true;
}

/* Fills one group; how many jobs it took. */
static int fill_group(const MerJobSet *set, const Streams *streams, const int *order, int size,
                      int group, int *group_of, int *jobs)
{
    int  taken = 0;
    bool is_progress = true;
    while (taken < size && is_progress) {
        is_progress = false;
        for (int i = 0; i < streams->count && taken < size; i++) {
            int s = order[i];
            for (int at = streams->start[s]; at < streams->start[s + 1]; at++) {
                int job = streams->jobs[at];
                if (group_of[job] < 0 && is_ready(set, group_of, group, job)) {
                    group_of[job] = group;
                    jobs[taken++] = job;
                    is_progress = true;
                    break;
                }
            }
        }
    }
    return taken;
}

static void cut_groups(const MerJobSet *set, int size, MerArena *arena, MerJobGroups *groups)
{
    Streams streams = make_streams(set, arena);
    int    *order = MER_ARRAY(arena, int, streams.count + 1);
    int    *group_of = MER_ARRAY(arena, int, set->job_count + 1);
    MerRng  rng = mer_rng_make(set->shuffle_seed, 0);
    for (int s = 0; s < streams.count; s++) {
        order[s] = s;
    }
    for (int j = 0; j < set->job_count; j++) {
        group_of[j] = -1;
    }
    groups->count = 0;
    groups->jobs = MER_ARRAY(arena, int, set->job_count + 1);
    groups->start = MER_ARRAY(arena, int, set->job_count + 2);
    groups->names = MER_ARRAY(arena, const char *, set->job_count + 1);
    for (int done = 0; done < set->job_count;) {
        if (set->is_shuffled) {
            mer_rng_shuffle(&rng, order, streams.count);
        }
        int taken =
            fill_group(set, &streams, order, size, groups->count, group_of, groups->jobs + done);
        groups->names[groups->count] = mer_arena_format(arena, "group %d", groups->count);
        done += taken;
        groups->start[++groups->count] = done;
    }
}

void mer_schedule_groups(const MerGraph *graph, const MerJobSet *set, int size, MerArena *arena,
                         MerJobGroups *groups)
{
    size = size > 0 ? size : set->group_size;
    if (set->group_count > 0) {
        take_given_groups(set, arena, groups);
    } else if (size > 0) {
        cut_groups(set, size, arena, groups);
    } else {
        *groups = (MerJobGroups){1, MER_ARRAY(arena, const char *, 1), MER_ARRAY(arena, int, 2),
                                 MER_ARRAY(arena, int, set->job_count + 1)};
        groups->names[0] = graph->name;
        groups->start[1] = set->job_count;
        for (int j = 0; j < set->job_count; j++) {
            groups->jobs[j] = j;
        }
    }
}

/* Does one word of `select` name group `number` called `name`? */
static bool names_group(const char *word, size_t length, int number, const char *name)
{
    const char *colon = memchr(word, ':', length);
    const char *own_colon = strchr(name, ':');
    size_t      head = colon ? (size_t)(colon - word) : length;
    size_t      own_head = own_colon ? (size_t)(own_colon - name) : strlen(name);
    if (strlen(name) == length && strncmp(word, name, length) == 0) {
        return true;
    }
    bool is_family = own_head == head && strncmp(word, name, head) == 0;
    if (is_family && !colon) {
        return own_colon != NULL;
    }
    const char *range = is_family ? colon + 1 : word;
    int         own = is_family && own_colon ? atoi(own_colon + 1) : number;
    if (colon && !is_family) {
        return false;
    }
    char *end;
    long  low = strtol(range, &end, 10);
    long  high = *end == '-' ? strtol(end + 1, &end, 10) : low;
    return end == word + length && end != range && own >= low && own <= high;
}

MerStatus mer_schedule_select(MerJobGroups *groups, const char *select, MerError *error)
{
    if (!select || !*select) {
        return MER_OK;
    }
    int kept = 0;
    int jobs = 0;
    for (int g = 0; g < groups->count; g++) {
        bool is_named = false;
        for (const char *at = select; *at;) {
            size_t length = strcspn(at, ",");
            is_named = is_named || names_group(at, length, g, groups->names[g]);
            at += length;
            at += *at == ',';
        }
        int size = groups->start[g + 1] - groups->start[g];
        if (is_named) {
            memmove(groups->jobs + jobs, groups->jobs + groups->start[g],
                    (size_t)size * sizeof(int));
            groups->names[kept] = groups->names[g];
            int first = jobs;
            jobs += size;
            groups->start[kept++] = first;
        }
    }
    int count = groups->count;
    groups->count = kept;
    groups->start[kept] = jobs;
    return kept > 0 ? MER_OK
                    : mer_error_set(error, MER_INVALID,
                                    "--select is \"%s\", expected one of %d groups: %s%s", select,
                                    count, groups->names[0], count > 1 ? ", ..." : "");
}
