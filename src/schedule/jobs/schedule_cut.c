/* The grouping rule of the host program, made explicit (docs/scheduling.md, "Groups"; M3E, HPCA 2022):
 * ready jobs are taken round robin over networks and mini-batches until the group is full. Where jobs have
 * releases, those count as ready that have come by the time the groups before must have taken; only if
 * there are no others a group waits for the next release. */
#include "schedule/jobs/schedule_jobs.h"

#include "base/smallest.h"
#include "mercator/rng.h"
#include "schedule/jobs/job_links.h"
#include "schedule/schedule.h"

#include <math.h>
#include <stdlib.h>

typedef struct Streams { /* one per network and mini-batch, jobs in input order */
    int  count;
    int *start, *jobs;
    int *stream, *place;      /* by job: its stream, and where in `jobs` it is */
    int *order, *turn_of;     /* in which they are asked; by stream its place there */
    int *ready, *ready_count; /* by stream a heap of places of ready jobs, from its start on */
    int *lap,
        *next_lap; /* heaps of turns of streams with ready jobs: from `turn` on, and before it */
    int lap_count, next_count, turn;
} Streams;

typedef struct Cut {
    const MerJobSet     *set;
    const MerGroupTimes *times;
    Streams              streams;
    MerJobLinks          links;
    int                 *missing; /* by job: predecessors that are not in earlier groups */
    const double        *release; /* by job: of itself and of all it waits for */
    const int           *release_order;
    int                  next_release; /* place there: jobs from it on have not come */
    bool                *has_come;
    int                  waiting; /* jobs that have come and are in no group */
    double               now;     /* cycles that the groups so far take at least */
} Cut;

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
    Streams streams = {0};
    int   **arrays[] = {&streams.start, &streams.jobs,    &streams.stream, &streams.place,
                        &streams.order, &streams.turn_of, &streams.ready,  &streams.ready_count,
                        &streams.lap,   &streams.next_lap};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = MER_ARRAY(arena, int, set->job_count + 1);
    }
    const MerJob **sorted = MER_ARRAY(arena, const MerJob *, set->job_count + 1);
    for (int j = 0; j < set->job_count; j++) {
        sorted[j] = &set->jobs[j];
    }
    qsort(sorted, (size_t)set->job_count, sizeof *sorted, by_stream);
    for (int i = 0; i < set->job_count; i++) {
        bool is_new = i == 0 || sorted[i]->model != sorted[i - 1]->model ||
                      sorted[i]->request != sorted[i - 1]->request;
        if (is_new) {
            streams.order[streams.count] = streams.turn_of[streams.count] = streams.count;
            streams.start[streams.count++] = i;
        }
        int job = (int)(sorted[i] - set->jobs);
        streams.jobs[i] = job;
        streams.stream[job] = streams.count - 1;
        streams.place[job] = i;
    }
    return streams;
}

static void enter_turn(Streams *streams, int stream)
{
    int turn = streams->turn_of[stream];
    if (turn >= streams->turn) {
        mer_smallest_push(streams->lap, &streams->lap_count, turn);
    } else {
        mer_smallest_push(streams->next_lap, &streams->next_count, turn);
    }
}

static void add_ready(Streams *streams, int job)
{
    int stream = streams->stream[job];
    if (streams->ready_count[stream] == 0) {
        enter_turn(streams, stream);
    }
    mer_smallest_push(streams->ready + streams->start[stream], &streams->ready_count[stream],
                      streams->place[job]);
}

static bool has_ready(const Streams *streams)
{
    return streams->lap_count + streams->next_count > 0;
}

/* The first ready job of the stream whose turn it is, or of the next one that has some. */
static int take_next(Streams *streams)
{
    if (streams->lap_count == 0) {
        int *lap = streams->lap;
        streams->lap = streams->next_lap;
        streams->next_lap = lap;
        streams->lap_count = streams->next_count;
        streams->next_count = 0;
    }
    int turn = mer_smallest_take(streams->lap, &streams->lap_count);
    int stream = streams->order[turn];
    int place =
        mer_smallest_take(streams->ready + streams->start[stream], &streams->ready_count[stream]);
    streams->turn = turn + 1;
    if (streams->ready_count[stream] > 0) {
        enter_turn(streams, stream);
    }
    return streams->jobs[place];
}

static void shuffle_turns(Streams *streams, MerRng *rng)
{
    mer_rng_shuffle(rng, streams->order, streams->count);
    streams->turn = streams->lap_count = streams->next_count = 0;
    for (int turn = 0; turn < streams->count; turn++) {
        streams->turn_of[streams->order[turn]] = turn;
    }
    for (int s = 0; s < streams->count; s++) {
        if (streams->ready_count[s] > 0) {
            enter_turn(streams, s);
        }
    }
}

/* A job cannot come before those it waits for. */
static void find_releases(Cut *cut, MerArena *arena)
{
    int                count = cut->set->job_count;
    const MerJobLinks *links = &cut->links;
    double            *release = MER_ARRAY(arena, double, count + 1);
    int               *order = MER_ARRAY(arena, int, count + 1);
    cut->missing = MER_ARRAY(arena, int, count + 1);
    int used = mer_job_order(links, count, cut->missing, order);
    for (int j = 0; j < count; j++) {
        release[j] = cut->times ? cut->times->release[j] : 0;
        cut->missing[j] = cut->set->jobs[j].after_count;
    }
    for (int i = 0; i < used; i++) {
        for (int k = links->after_start[order[i]]; k < links->after_start[order[i] + 1]; k++) {
            release[links->after[k]] = fmax(release[links->after[k]], release[order[i]]);
        }
    }
    cut->release = release;
    cut->release_order = mer_schedule_sorted(release, count, arena);
    cut->has_come = MER_ARRAY(arena, bool, count + 1);
}

static void let_come(Cut *cut, double time)
{
    while (cut->next_release < cut->set->job_count &&
           cut->release[cut->release_order[cut->next_release]] <= time) {
        int job = cut->release_order[cut->next_release++];
        cut->has_come[job] = true;
        cut->waiting++;
        if (cut->missing[job] == 0) {
            add_ready(&cut->streams, job);
        }
    }
}

/* The least time at which the group ends: its multiplications on all arrays, and every job on the largest. */
static double least_end(const Cut *cut, const int *jobs, int count)
{
    const MerGroupTimes *times = cut->times;
    double               macs = 0;
    double               end = cut->now;
    for (int i = 0; times && i < count; i++) {
        macs += times->macs[jobs[i]];
        end = fmax(end, fmax(cut->now, cut->release[jobs[i]]) +
                            times->macs[jobs[i]] / times->core_macs_per_cycle);
    }
    return times ? fmax(end, cut->now + macs / times->macs_per_cycle) : 0;
}

/* Fills one group, going on with the stream whose turn it is; how many jobs it took. */
static int fill_group(Cut *cut, int size, int *jobs)
{
    int taken = 0;
    let_come(cut, cut->now);
    while (taken < size) {
        /* What has come and is not ready waits for jobs of this group: it is the next one's. */
        if (!has_ready(&cut->streams) && cut->waiting == 0 &&
            cut->next_release < cut->set->job_count) {
            let_come(cut, cut->release[cut->release_order[cut->next_release]]);
        }
        if (!has_ready(&cut->streams)) {
            break;
        }
        jobs[taken++] = take_next(&cut->streams);
        cut->waiting--;
    }
    for (int i = 0; i < taken; i++) {
        for (int k = cut->links.after_start[jobs[i]]; k < cut->links.after_start[jobs[i] + 1];
             k++) {
            int next = cut->links.after[k];
            if (--cut->missing[next] == 0 && cut->has_come[next]) {
                add_ready(&cut->streams, next);
            }
        }
    }
    cut->now = least_end(cut, jobs, taken);
    return taken;
}

void mer_schedule_cut(const MerJobSet *set, int size, const MerGroupTimes *times, MerArena *arena,
                      MerJobGroups *groups)
{
    MerArena *scratch = mer_arena_new();
    Cut       cut = {.set = set,
                     .times = times,
                     .streams = make_streams(set, scratch),
                     .links = mer_job_links(set->jobs, NULL, set->job_count, scratch)};
    MerRng    rng = mer_rng_make(set->shuffle_seed, 0);
    find_releases(&cut, scratch);
    groups->count = 0;
    groups->jobs = MER_ARRAY(arena, int, set->job_count + 1);
    groups->start = MER_ARRAY(arena, int, set->job_count + 2);
    groups->names = MER_ARRAY(arena, const char *, set->job_count + 1);
    for (int done = 0; done < set->job_count;) {
        if (set->is_shuffled) {
            shuffle_turns(&cut.streams, &rng);
        }
        done += fill_group(&cut, size, groups->jobs + done);
        groups->names[groups->count] = mer_arena_format(arena, "group %d", groups->count + 1);
        groups->start[++groups->count] = done;
    }
    mer_arena_free(scratch);
}
