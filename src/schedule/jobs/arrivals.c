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

/* Arrivals of requests 0 .. count - 1 in cycles, one row per model. */
static double *draw_arrivals(const MerArrivals *arrivals, const MerSchedule *schedule, int count,
                             double clock, MerArena *arena)
{
    size_t  capacity = (size_t)schedule->model_count * (size_t)count + 1;
    double *arrival = MER_ARRAY(arena, double, capacity);
    for (int m = 0; m < schedule->model_count; m++) {
        double period = clock / (schedule->models[m].fps * arrivals->rate);
        MerRng rng = mer_rng_make((uint64_t)arrivals->seed, (uint64_t)source_of(schedule, m));
        double now = 0;
        for (int r = 0; r < count && schedule->models[m].fps > 0; r++) {
            now += period * -log1p(-mer_rng_unit(&rng));
            arrival[m * count + r] = arrivals->process == MER_ARRIVALS_POISSON ? now : r * period;
        }
    }
    return arrival;
}

static double *draw_jitter(const MerArrivals *arrivals, const MerSchedule *schedule, int count,
                           double clock, MerArena *arena)
{
    enum { STREAM = 1 << 20 }; /* apart from those of the arrivals */
    double *jitter = MER_ARRAY(arena, double, (size_t)schedule->model_count *(size_t)count + 1);
    for (int m = 0; m < schedule->model_count; m++) {
        MerRng rng =
            mer_rng_make((uint64_t)arrivals->seed, (uint64_t)(STREAM + source_of(schedule, m)));
        for (int r = 0; r < count; r++) {
            jitter[m * count + r] = arrivals->jitter_ms * 1e-3 * clock * mer_rng_unit(&rng);
        }
    }
    return jitter;
}

void mer_arrivals_apply(const MerArrivals *arrivals, MerSchedule *schedule, MerArena *arena)
{
    bool is_file = arrivals->process == MER_ARRIVALS_FILE && arrivals->rate == 1;
    if (is_file && !(arrivals->jitter_ms > 0)) {
        return;
    }
    int           jobs = schedule->job_count;
    int           most = mer_schedule_requests_per_model(schedule);
    double        clock = isnan(schedule->clock_hz) ? 1 : schedule->clock_hz;
    double       *release = MER_ARRAY(arena, double, jobs + 1);
    double       *deadline = MER_ARRAY(arena, double, jobs + 1);
    const double *arrival = draw_arrivals(arrivals, schedule, most, clock, arena);
    const double *jitter = draw_jitter(arrivals, schedule, most, clock, arena);
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
