/* Requests that exist with a probability, drawn anew for every seed (docs/scheduling-online.md, "Requests
 * that arrive"). */
#include "schedule/jobs/schedule_jobs.h"

#include "mercator/rng.h"

/* Jobs of a request stand together, so one draw per stretch; every group of a file has draws of its own. */
static int draw(const MerJobSet *set, uint64_t seed, bool *exists)
{
    MerRng rng = mer_rng_make(seed, 0);
    int    count = 0;
    for (int j = 0; j < set->job_count; j++) {
        const MerJob *job = &set->jobs[j];
        bool is_next = j > 0 && job->model == job[-1].model && job->request == job[-1].request &&
                       job->group == job[-1].group;
        bool is_sure = job->model < 0 || set->models[job->model].probability >= 1;
        if (j > 0 && job->group != job[-1].group) {
            rng = mer_rng_make(seed, 0);
        }
        if (is_sure) {
            exists[j] = true;
        } else if (is_next) {
            exists[j] = exists[j - 1];
        } else {
            exists[j] = mer_rng_unit(&rng) < set->models[job->model].probability;
        }
        count += exists[j];
    }
    return count;
}

/* Those that wait for a request that does not exist do not wait. */
static void copy_jobs(const MerJobSet *set, const bool *exists, MerJob *jobs, MerArena *arena)
{
    int *place = MER_ARRAY(arena, int, set->job_count + 1);
    int  used = 0;
    for (int j = 0; j < set->job_count; j++) {
        place[j] = exists[j] ? used++ : -1;
    }
    for (int j = 0; j < set->job_count; j++) {
        if (!exists[j]) {
            continue;
        }
        MerJob *job = &jobs[place[j]];
        int    *after = MER_ARRAY(arena, int, set->jobs[j].after_count + 1);
        *job = set->jobs[j];
        job->after_count = 0;
        for (int i = 0; i < set->jobs[j].after_count; i++) {
            int before = place[set->jobs[j].after[i]];
            if (before >= 0) {
                after[job->after_count++] = before;
            }
        }
        job->after = after;
    }
}

static MerStatus check_groups(const char *name, const MerJobSet *set, uint64_t seed,
                              MerArena *arena, MerError *error)
{
    bool *has_jobs = MER_ARRAY(arena, bool, set->group_count + 1);
    for (int j = 0; j < set->job_count && set->group_count > 0; j++) {
        has_jobs[set->jobs[j].group] = true;
    }
    for (int g = 0; g < set->group_count; g++) {
        if (!has_jobs[g]) {
            return mer_error_set(error, MER_INVALID,
                                 "%s: no request of %s exists with arrival_seed %llu, expected at "
                                 "least one",
                                 name, set->group_names[g], (unsigned long long)seed);
        }
    }
    return set->job_count > 0
               ? MER_OK
               : mer_error_set(
                     error, MER_INVALID,
                     "%s: no request exists with arrival_seed %llu, expected at least one", name,
                     (unsigned long long)seed);
}

MerStatus mer_schedule_draw_requests(const char *name, const MerJobSet *set, uint64_t seed,
                                     MerArena *arena, const MerJobSet **drawn, MerError *error)
{
    bool *exists = MER_ARRAY(arena, bool, set->job_count + 1);
    int   count = draw(set, seed, exists);
    *drawn = set;
    if (count == set->job_count) {
        return MER_OK;
    }
    MerJob *jobs = MER_ARRAY(arena, MerJob, count + 1);
    copy_jobs(set, exists, jobs, arena);
    *drawn = mer_job_set_with(set, jobs, count, arena);
    return check_groups(name, *drawn, seed, arena, error);
}
