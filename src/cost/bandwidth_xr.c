/* The score of XRBench (Kwon et al., MLSys 2023; schedule.md section 12) over the requests of periodic
 * models: being in time and being frugal, less what was dropped. */
#include "cost/bandwidth.h"

#include <math.h>

typedef struct Request {
    double finish, deadline, energy; /* cycles, cycles, pJ */
    bool   exists, is_dropped;
} Request;

static void gather(const MerBandwidthState *state, const MerBandwidthTimes *times,
                   Request *requests, int per_model)
{
    const MerSchedule *schedule = state->schedule;
    for (int j = 0; j < schedule->job_count; j++) {
        if (schedule->model[j] < 0) {
            continue;
        }
        Request *request = &requests[schedule->model[j] * per_model + schedule->request[j]];
        int      unit = times->unit[j];
        request->exists = true;
        request->is_dropped = request->is_dropped || isnan(times->end[j]);
        request->deadline = schedule->deadline[j] < INFINITY
                                ? fmax(request->deadline, schedule->deadline[j])
                                : request->deadline;
        request->finish = fmax(request->finish, isnan(times->end[j]) ? 0 : times->end[j]);
        if (unit >= 0 && schedule->energy) {
            request->energy += schedule->energy[j * schedule->unit_count + unit] +
                               state->dram_pj_per_byte * times->moved[j];
        }
    }
}

static double request_score(const MerBandwidthState *state, const Request *request)
{
    enum { STEEPNESS = 15, BUDGET_MJ = 1500 };
    double delay_ms = (request->finish - request->deadline) * 1000 / state->schedule->clock_hz;
    bool   has_deadline = request->deadline > 0;
    double in_time = !has_deadline ? 1 : delay_ms > 40 ? 0 : 1 / (1 + exp(STEEPNESS * delay_ms));
    double frugal = (BUDGET_MJ - request->energy * 1e-9) / BUDGET_MJ;
    return in_time * (state->clamps_energy ? fmax(0, frugal) : frugal);
}

double mer_bandwidth_xr_score(const MerBandwidthState *state, const MerBandwidthTimes *times,
                              MerArena *scratch)
{
    const MerSchedule *schedule = state->schedule;
    int                per_model = 1;
    for (int j = 0; j < schedule->job_count; j++) {
        per_model = schedule->request[j] >= per_model ? schedule->request[j] + 1 : per_model;
    }
    Request *requests =
        MER_ARRAY(scratch, Request, (size_t)schedule->model_count * (size_t)per_model + 1);
    gather(state, times, requests, per_model);
    double sum = 0;
    int    models = 0;
    for (int m = 0; m < schedule->model_count; m++) {
        double score = 0;
        int    logged = 0;
        int    dropped = 0;
        for (int r = 0; r < per_model; r++) {
            const Request *request = &requests[m * per_model + r];
            logged += request->exists;
            dropped += request->exists && request->is_dropped;
            score += request->exists && !request->is_dropped ? request_score(state, request) : 0;
        }
        if (logged > 0) {
            sum += score / logged * (1 - (double)dropped / logged);
            models++;
        }
    }
    return models > 0 && !isnan(schedule->clock_hz) ? 100 * sum / models : NAN;
}
