/* Arrival processes of periodic models (docs/scheduling-online.md, "Requests that arrive"). */
#include "schedule/jobs/arrivals.h"

#include "mercator/rng.h"
#include "schedule/jobs/schedule_deadlines.h"
#include "schedule/schedule_parts.h"

#include <math.h>

/* The model whose frames a model works on: the first of those it waits for, as long as rates agree. */
static int source_of(const MerSchedule *schedule, int model)
{
    for (int step = 0; step < schedule->model_count; step++) {
        const MerJobModel *m = &schedule->models[model];
        if (m->after_count == 0 || schedule->models[m->after[0]].fps != m->fps) {
            break;
        }
        model = m->after[0];
    }
    return model;
}

/* Arrivals of requests 0 .. count - 1 and what they come later by, in cycles, one row per model. */
static void draw(const MerArrivals *arrivals, const MerSchedule *schedule, int count, double clock,
                 double *arrival, double *jitter)
{
    enum { STREAM = 1 << 20 }; /* of jitter, apart from those of the arrivals */
    for (int m = 0; m < schedule->model_count; m++) {
        double   period = clock / (schedule->models[m].fps * arrivals->rate);
        uint64_t source = (uint64_t)source_of(schedule, m);
        MerRng   rng = mer_rng_make((uint64_t)arrivals->seed, source);
        MerRng   jitter_rng = mer_rng_make((uint64_t)arrivals->seed, STREAM + source);
        double   now = 0;
        for (int r = 0; r < count && schedule->models[m].fps > 0; r++) {
            int at = m * count + r;
            now += period * -log1p(-mer_rng_unit(&rng));
            arrival[at] = arrivals->process == MER_ARRIVALS_POISSON ? now : r * period;
            jitter[at] = arrivals->jitter_ms * 1e-3 * clock * mer_rng_unit(&jitter_rng);
        }
    }
}

void mer_arrivals_apply(const MerArrivals *arrivals, MerSchedule *schedule, MerArena *arena)
{
    bool is_file = arrivals->process == MER_ARRIVALS_FILE && arrivals->rate == 1;
    if (is_file && !(arrivals->jitter_ms > 0)) {
        return;
    }
    int     jobs = schedule->job_count;
    int     most = mer_schedule_requests_per_model(schedule);
    double  clock = isnan(schedule->clock_hz) ? 1 : schedule->clock_hz;
    size_t  requests = (size_t)schedule->model_count * (size_t)most;
    double *release = MER_ARRAY(arena, double, jobs + 1);
    double *deadline = MER_ARRAY(arena, double, jobs + 1);
    double *arrival = MER_ARRAY(arena, double, requests + 1);
    double *jitter = MER_ARRAY(arena, double, requests + 1);
    draw(arrivals, schedule, most, clock, arrival, jitter);
    for (int j = 0; j < jobs; j++) {
        int  m = schedule->model[j];
        bool is_periodic = m >= 0 && schedule->models[m].fps > 0;
        int  at = m * most + schedule->request[j];
        release[j] = is_periodic && !is_file ? arrival[at] : schedule->release[j];
        deadline[j] = schedule->deadline[j] - schedule->release[j] + release[j];
        release[j] += is_periodic ? jitter[at] : 0;
    }
    mer_schedule_set_times(schedule, release, deadline, arena);
}
