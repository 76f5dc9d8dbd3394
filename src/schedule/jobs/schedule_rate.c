/* More or fewer requests of periodic models over the same time (docs/scheduling-online.md, "Requests that arrive"):
 * each is made like request 0 of its model. Jobs of a model stand together, request by request. */
#include "schedule/jobs/schedule_jobs.h"

#include <math.h>
#include <string.h>

typedef struct Stream { /* one model */
    int first, length;  /* first job, and jobs per request, of the set as it was */
    int count, wanted;  /* requests, as it was and as they become */
    int place;          /* its first job in the new set */
} Stream;

typedef struct Rescale {
    const MerJobSet *set;
    double           rate;
    Stream          *streams;      /* by model */
    int             *single_place; /* by old job: of single jobs, in the new set */
    MerArena        *arena;
} Rescale;

/* Gives the number of jobs. */
static double find_streams(Rescale *r)
{
    const MerJobSet *set = r->set;
    double           total = 0;
    for (int j = 0; j < set->job_count; j++) {
        const MerJob *job = &set->jobs[j];
        Stream       *stream = job->model >= 0 ? &r->streams[job->model] : NULL;
        if (!stream) {
            total++;
            continue;
        }
        stream->first = stream->length == 0 ? j : stream->first;
        stream->length += job->request == 0;
        stream->count = job->request >= stream->count ? job->request + 1 : stream->count;
    }
    for (int m = 0; m < set->model_count; m++) {
        Stream *stream = &r->streams[m];
        bool    is_periodic = set->models[m].fps > 0;
        double  wanted = is_periodic ? fmax(1, round(r->rate * stream->count)) : stream->count;
        total += wanted * stream->length;
        stream->wanted = (int)fmin(wanted, MER_JOBS_MAX);
    }
    return total;
}

/* Where a job of the old set has its place in request `request` of its model; -1: there is no such request. */
static int place_of(const Rescale *r, int job, int request)
{
    const MerJob *old = &r->set->jobs[job];
    if (old->model < 0) {
        return r->single_place[job];
    }
    const Stream *stream = &r->streams[old->model];
    int           at = (job - stream->first) % stream->length;
    return request < stream->wanted ? stream->place + request * stream->length + at : -1;
}

/* Names as importers make them: "eyes.3", or "eyes#1.3" where there are several requests. */
static const char *name_of(const Rescale *r, int job, int request)
{
    int           m = r->set->jobs[job].model;
    const Stream *stream = &r->streams[m];
    const char   *layer = strrchr(r->set->jobs[job].name, '.');
    return request < stream->count && (stream->count > 1 || stream->wanted == 1)
               ? r->set->jobs[job + request * stream->length].name
               : mer_arena_format(r->arena, "%s#%d%s", r->set->models[m].name, request,
                                  layer ? layer : "");
}

/* -1 is nobody. */
static void wait_for(const Rescale *r, int place, int **after, int *count)
{
    if (place >= 0) {
        MER_GROW(r->arena, *after, *count);
        (*after)[(*count)++] = place;
    }
}

/* A job of request 0 again in request `request`: it waits within that, and for requests of its number. */
static MerJob clone(const Rescale *r, int job, int request)
{
    const MerJob *first = &r->set->jobs[job];
    double        fps = r->set->models[first->model].fps;
    MerJob        made = *first;
    int          *after = NULL;
    double        later = fps > 0 ? request / (fps * r->rate) : 0;
    made.name = name_of(r, job, request);
    made.request = request;
    made.release_s += later;
    made.deadline_s += later;
    made.after_count = 0;
    for (int i = 0; i < first->after_count; i++) {
        wait_for(r, place_of(r, first->after[i], request), &after, &made.after_count);
    }
    made.after = after;
    return made;
}

/* A single job that waits for a layer in every request of a model goes on doing so. */
static MerJob keep(const Rescale *r, const MerJob *job)
{
    MerJob made = *job;
    int   *after = NULL;
    made.after_count = 0;
    for (int i = 0; i < job->after_count; i++) {
        int           before = job->after[i];
        const MerJob *old = &r->set->jobs[before];
        wait_for(r, place_of(r, before, old->request), &after, &made.after_count);
        if (old->model < 0 || old->request > 0) {
            continue;
        }
        const Stream *stream = &r->streams[old->model];
        int           all = 0;
        for (int k = 0; k < job->after_count; k++) {
            const MerJob *other = &r->set->jobs[job->after[k]];
            all += other->model == old->model && (job->after[k] - before) % stream->length == 0;
        }
        for (int q = stream->count; all == stream->count && q < stream->wanted; q++) {
            wait_for(r, place_of(r, before, q), &after, &made.after_count);
        }
    }
    made.after = after;
    return made;
}

static void place_streams(Rescale *r)
{
    int used = 0;
    for (int j = 0; j < r->set->job_count; j++) {
        int     m = r->set->jobs[j].model;
        Stream *stream = m >= 0 ? &r->streams[m] : NULL;
        if (!stream) {
            r->single_place[j] = used++;
        } else if (j == stream->first) {
            stream->place = used;
            used += stream->wanted * stream->length;
        }
    }
}

MerStatus mer_schedule_scale_requests(const char *name, const MerJobSet *set, double rate,
                                      MerArena *arena, const MerJobSet **scaled, MerError *error)
{
    Rescale r = {set, rate, MER_ARRAY(arena, Stream, set->model_count + 1),
                 MER_ARRAY(arena, int, set->job_count + 1), arena};
    double  total = rate == 1 ? 0 : find_streams(&r);
    *scaled = set;
    if (rate == 1) {
        return MER_OK;
    }
    if (total > MER_JOBS_MAX) {
        return mer_error_set(error, MER_INVALID, "%s: rate %g makes %.0f jobs, expected at most %d",
                             name, rate, total, MER_JOBS_MAX);
    }
    MerJob *jobs = MER_ARRAY(arena, MerJob, (size_t)total + 1);
    int     used = 0;
    place_streams(&r);
    for (int j = 0; j < set->job_count; j++) {
        const MerJob *job = &set->jobs[j];
        const Stream *stream = job->model >= 0 ? &r.streams[job->model] : NULL;
        if (!stream) {
            jobs[used++] = keep(&r, job);
        }
        for (int i = 0; stream && j == stream->first && i < stream->wanted * stream->length; i++) {
            jobs[used++] = clone(&r, j + i % stream->length, i / stream->length);
        }
    }
    *scaled = mer_job_set_with(set, jobs, used, arena);
    return MER_OK;
}
