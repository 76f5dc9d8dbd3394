/* The score of XRBench (Kwon et al., MLSys 2023; docs/bandwidth-model.md, "The score of XRBench") over the
 * requests of periodic models: being in time and being frugal, less what was dropped. */
#include "schedule/cost/bandwidth_xr.h"

#include "schedule/cost/bandwidth.h"
#include "schedule/jobs/schedule_deadlines.h"

#include <math.h>

double mer_xr_score(const MerXrRequest *requests, int count, int model_count, bool clamps,
                    MerXrModelScore *models, MerArena *scratch)
{
    enum { STEEPNESS = 15, BUDGET_MJ = 1500, HOPELESS_MS = 40 };
    MerXrModelScore *all = models ? models : MER_ARRAY(scratch, MerXrModelScore, model_count + 1);
    double           sum = 0;
    int              seen = 0;
    for (int m = 0; m < model_count; m++) {
        all[m] = (MerXrModelScore){0};
    }
    for (int r = 0; r < count; r++) {
        MerXrModelScore *model = &all[requests[r].model];
        double           delay = requests[r].finish - requests[r].deadline;
        double           in_time =
            delay > HOPELESS_MS ? 0 : 1 / (1 + exp(STEEPNESS * delay)); /* no overflow */
        double frugal = (BUDGET_MJ - requests[r].energy_mj) / BUDGET_MJ;
        frugal = clamps ? fmax(0, frugal) : frugal;
        model->logged++;
        model->dropped += requests[r].is_dropped;
        if (!requests[r].is_dropped) {
            model->in_time += in_time;
            model->frugal += frugal;
            model->score += in_time * frugal;
        }
    }
    for (int m = 0; m < model_count; m++) {
        MerXrModelScore *model = &all[m];
        int              finished = model->logged - model->dropped;
        if (model->logged > 0) {
            model->score *= (double)finished / model->logged / model->logged;
            model->in_time /= finished > 0 ? finished : 1;
            model->frugal /= finished > 0 ? finished : 1;
            sum += model->score;
            seen++;
        }
    }
    return seen > 0 ? 100 * sum / seen : NAN;
}

/* Requests of the periodic models, from the times of their jobs. Those without a deadline are left out: they
 * would count as in time whenever they end. */
static int gather(const MerBandwidthState *state, const MerBandwidthTimes *times, MerArena *scratch,
                  MerXrRequest **gathered)
{
    const MerSchedule *schedule = state->schedule;
    double             ms = 1000 / schedule->clock_hz;
    MerServed         *served;
    int                all = mer_schedule_serve(schedule, times->end, scratch, &served);
    double            *energy_mj = MER_ARRAY(scratch, double, all + 1);
    MerXrRequest      *requests = MER_ARRAY(scratch, MerXrRequest, all + 1);
    int                count = 0;
    for (int j = 0; j < schedule->job_count && schedule->energy; j++) {
        if (times->unit[j] >= 0) {
            energy_mj[schedule->request_number[j]] +=
                1e-9 * (mer_schedule_job_energy(schedule, j, times->unit[j], times->moved[j]) +
                        state->dram_pj_per_byte * times->moved[j]);
        }
    }
    for (int r = 0; r < all; r++) {
        int model = schedule->model[served[r].job];
        if (model >= 0 && schedule->models[model].fps > 0 && served[r].is_due) {
            requests[count++] = (MerXrRequest){.model = model,
                                               .index = schedule->request[served[r].job],
                                               .unit = -1,
                                               .finish = served[r].end * ms,
                                               .deadline = served[r].deadline * ms,
                                               .energy_mj = energy_mj[r],
                                               .is_dropped = served[r].is_dropped};
        }
    }
    *gathered = requests;
    return count;
}

double mer_bandwidth_xr_score(const MerBandwidthState *state, const MerBandwidthTimes *times,
                              MerArena *scratch)
{
    MerXrRequest *requests;
    if (isnan(state->schedule->clock_hz)) {
        return NAN;
    }
    int count = gather(state, times, scratch, &requests);
    return mer_xr_score(requests, count, state->schedule->model_count, state->clamps_energy, NULL,
                        scratch);
}

/* Latency, energy and price of a whole inference of each model on each core: of its first request. */
static void add_up_layers(const MerSchedule *schedule, bool is_edp, const int *first_request,
                          double *latency, double *energy, double *price)
{
    int    units = schedule->unit_count;
    double ms = 1000 / schedule->clock_hz;
    for (int j = 0; j < schedule->job_count; j++) {
        int m = schedule->model[j];
        if (m < 0 || schedule->request[j] != first_request[m]) {
            continue;
        }
        for (int u = 0; u < units; u++) {
            double time = schedule->latency[j * units + u] * ms;
            double work = schedule->energy ? schedule->energy[j * units + u] * 1e-9 : 0;
            latency[m * units + u] += time;
            energy[m * units + u] += work;
            price[m * units + u] += is_edp ? time * work : time;
        }
    }
}

double mer_bandwidth_xr_compat(const MerBandwidthState *state)
{
    const MerSchedule *schedule = state->schedule;
    MerArena          *arena = mer_arena_new();
    int                models = schedule->model_count;
    int                most = mer_schedule_requests_per_model(schedule);
    size_t             cells = (size_t)models * (size_t)schedule->unit_count + 1;
    double            *numbers[3];
    int               *first = MER_ARRAY(arena, int, models + 1);
    MerXrModel        *list = MER_ARRAY(arena, MerXrModel, models + 1);
    for (int i = 0; i < 3; i++) {
        numbers[i] = MER_ARRAY(arena, double, cells);
    }
    for (int m = 0; m < models; m++) {
        const MerJobModel *model = &schedule->models[m];
        bool              *exists = MER_ARRAY(arena, bool, most);
        first[m] = most;
        for (int j = 0; j < schedule->job_count; j++) {
            if (schedule->model[j] == m) {
                exists[schedule->request[j]] = true;
                first[m] = schedule->request[j] < first[m] ? schedule->request[j] : first[m];
            }
        }
        list[m] = (MerXrModel){.name = model->name,
                               .fps = model->fps,
                               .is_used = first[m] < most && model->fps > 0,
                               .exists_count = most,
                               .exists = model->probability < 1 ? exists : NULL,
                               .after_count = model->after_count,
                               .after = model->after};
    }
    bool is_edp = state->input.rules.policy == MER_POLICY_EDP_GREEDY;
    add_up_layers(schedule, is_edp, first, numbers[0], numbers[1], numbers[2]);
    enum { RUN_MS = 700 }; /* upstream's */
    MerXrRuntime  runtime = {models,     schedule->unit_count, list,  numbers[0],
                             numbers[1], numbers[2],           RUN_MS};
    MerXrRequest *requests;
    int           count = mer_xr_run(&runtime, arena, &requests);
    double        score = mer_xr_score(requests, count, models, false, NULL, arena);
    mer_arena_free(arena);
    return isnan(schedule->clock_hz) ? NAN : score;
}
