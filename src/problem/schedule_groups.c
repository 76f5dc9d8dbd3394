/* The grouping rule of the host program, made explicit (schedule.md section 2; M3E, HPCA 2022): ready jobs are
 * taken round robin over networks and mini-batches until the group is full. */
#include "problem/schedule_jobs.h"

#include "mercator/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    int *first, *next; /* place of the first job not taken; where this group goes on looking */
    int *order;        /* in which they are asked */
    int  turn;         /* whose turn it is, a place in `order` */
} Streams;

/* The first mini-batch of every network, then the second, ..., single jobs before networks; jobs of a stream
 * in input order. */
static int by_stream(const void *a, const void *b)
{
    const MerJob *x = *(const MerJob *const *)a;
    const MerJob *y = *(const MerJob *const *)b;
    int           model = (x->model > y->model) - (x->model < y->model);
    int           request = (x->request > y->request) - (x->request < y->request);
    return request ? request : model ? model : (x > y) - (x < y);
}

static Streams make_streams(const MerJobSet *set, MerArena *arena)
{
    Streams        streams = {.jobs = MER_ARRAY(arena, int, set->job_count + 1),
                              .start = MER_ARRAY(arena, int, set->job_count + 1)};
    const MerJob **sorted = MER_ARRAY(arena, const MerJob *, set->job_count + 1);
    for (int j = 0; j < set->job_count; j++) {
        sorted[j] = &set->jobs[j];
    }
    qsort(sorted, (size_t)set->job_count, sizeof *sorted, by_stream);
    for (int i = 0; i < set->job_count; i++) {
        bool is_new = i == 0 || sorted[i]->model != sorted[i - 1]->model ||
                      sorted[i]->request != sorted[i - 1]->request;
        if (is_new) {
            streams.start[streams.count++] = i;
        }
        streams.jobs[i] = (int)(sorted[i] - set->jobs);
    }
    streams.start[streams.count] = set->job_count;
    streams.first = MER_ARRAY(arena, int, streams.count + 1);
    streams.next = MER_ARRAY(arena, int, streams.count + 1);
    streams.order = MER_ARRAY(arena, int, streams.count + 1);
    for (int s = 0; s < streams.count; s++) {
        streams.order[s] = s;
    }
    memcpy(streams.first, streams.start, (size_t)streams.count * sizeof(int));
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

/* The next job of a stream that the group may take, -1: none. What is not ready for a group stays so, hence
 * every group looks at every job once. */
static int take_next(const MerJobSet *set, Streams *streams, int s, int group, int *group_of)
{
    for (int *at = &streams->next[s]; *at < streams->start[s + 1]; (*at)++) {
        int job = streams->jobs[*at];
        if (group_of[job] < 0 && is_ready(set, group_of, group, job)) {
            group_of[job] = group;
            return job;
        }
    }
    return -1;
}

/* Fills one group, going on with the stream whose turn it is; how many jobs it took. */
static int fill_group(const MerJobSet *set, Streams *streams, int size, int group, int *group_of,
                      int *jobs)
{
    int taken = 0;
    int misses = 0; /* streams in a row without a job for this group */
    for (int s = 0; s < streams->count; s++) {
        int *first = &streams->first[s];
        while (*first < streams->start[s + 1] && group_of[streams->jobs[*first]] >= 0) {
            (*first)++;
        }
        streams->next[s] = *first;
    }
    while (taken < size && misses < streams->count) {
        int job = take_next(set, streams, streams->order[streams->turn], group, group_of);
        streams->turn = (streams->turn + 1) % streams->count;
        misses = job < 0 ? misses + 1 : 0;
        if (job >= 0) {
            jobs[taken++] = job;
        }
    }
    return taken;
}

static void cut_groups(const MerJobSet *set, int size, MerArena *arena, MerJobGroups *groups)
{
    Streams streams = make_streams(set, arena);
    int    *group_of = MER_ARRAY(arena, int, set->job_count + 1);
    MerRng  rng = mer_rng_make(set->shuffle_seed, 0);
    for (int j = 0; j < set->job_count; j++) {
        group_of[j] = -1;
    }
    groups->count = 0;
    groups->jobs = MER_ARRAY(arena, int, set->job_count + 1);
    groups->start = MER_ARRAY(arena, int, set->job_count + 2);
    groups->names = MER_ARRAY(arena, const char *, set->job_count + 1);
    for (int done = 0; done < set->job_count;) {
        if (set->is_shuffled) {
            mer_rng_shuffle(&rng, streams.order, streams.count);
            streams.turn = 0;
        }
        int taken = fill_group(set, &streams, size, groups->count, group_of, groups->jobs + done);
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

/* "vision:0-9, mix:0-9", names without a family one by one; as much as fits. */
static void list_groups(const MerJobGroups *groups, char *text, size_t size)
{
    size_t at = 0;
    for (int g = 0; g < groups->count && at < size;) {
        const char *name = groups->names[g];
        size_t      head = strcspn(name, ":") + 1;
        int         last = g;
        while (last + 1 < groups->count && strlen(name) > head &&
               strncmp(groups->names[last + 1], name, head) == 0) {
            last++;
        }
        bool is_cut = at > size - 100;
        at += (size_t)snprintf(text + at, size - at, "%s%.60s%s%.20s", at ? ", " : "",
                               is_cut ? "..." : name, last > g && !is_cut ? "-" : "",
                               last > g && !is_cut ? groups->names[last] + head : "");
        g = is_cut ? groups->count : last + 1;
    }
}

/* A word that names no group is an error, so that a slip of the pen is no smaller run. */
static MerStatus check_words(const MerJobGroups *groups, const char *select, MerError *error)
{
    char listed[300];
    for (const char *at = select; *at;) {
        size_t length = strcspn(at, ",");
        bool   is_known = false;
        for (int g = 0; g < groups->count && !is_known; g++) {
            is_known = names_group(at, length, g, groups->names[g]);
        }
        if (!is_known) {
            list_groups(groups, listed, sizeof listed);
            return mer_error_set(error, MER_INVALID,
                                 "there is no group \"%.*s\", expected one of %d groups: %s",
                                 (int)length, at, groups->count, listed);
        }
        at += length;
        at += *at == ',';
    }
    return MER_OK;
}

MerStatus mer_schedule_select(MerJobGroups *groups, const char *select, MerError *error)
{
    if (!select || !*select) {
        return MER_OK;
    }
    MerStatus status = check_words(groups, select, error);
    if (status != MER_OK) {
        return status;
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
    groups->count = kept;
    groups->start[kept] = jobs;
    return MER_OK;
}
