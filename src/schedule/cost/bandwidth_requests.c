/* Requests by model: how long they took from release to end, how much time was left before their deadlines, and how many missed
 * them. */
#include "schedule/cost/bandwidth.h"

#include "base/engineering.h"
#include "base/stats.h"
#include "mercator/json.h"
#include "mercator/view.h"
#include "schedule/jobs/schedule_deadlines.h"

#include <math.h>
#include <stdlib.h>

/* Models with several requests or with deadlines are of interest to people; files have all. */
static bool is_shown(const MerSchedule *schedule)
{
    int model = -1;
    for (int j = 0; j < schedule->job_count && model < 0; j++) {
        bool is_of_interest = schedule->deadline[j] < INFINITY || schedule->request[j] > 0;
        model = is_of_interest ? schedule->model[j] : -1;
    }
    return model >= 0;
}

/* The least time that this share of the requests did not exceed (nearest rank); `sorted` is rising. */
static double percentile(const double *sorted, int count, double share)
{
    return count > 0 ? sorted[(int)ceil(share * count) - 1] : NAN;
}

static void summarise(MerModelRequests *model, double *latency, int done)
{
    qsort(latency, (size_t)done, sizeof *latency, mer_compare_reals);
    model->p50 = percentile(latency, done, 0.5);
    model->p95 = percentile(latency, done, 0.95);
    model->p99 = percentile(latency, done, 0.99);
}

const MerModelRequests *mer_bandwidth_requests(const MerSchedule       *schedule,
                                               const MerBandwidthTimes *times, MerArena *arena,
                                               int *count)
{
    *count = 0;
    if (!(schedule->clock_hz > 0)) {
        return NULL;
    }
    MerServed        *requests;
    int               request_count = mer_schedule_serve(schedule, times->end, arena, &requests);
    MerModelRequests *models = MER_ARRAY(arena, MerModelRequests, schedule->model_count + 1);
    double           *latency = MER_ARRAY(arena, double, request_count + 1);
    for (int m = 0; m < schedule->model_count; m++) {
        MerModelRequests *model = &models[*count];
        int               done = 0;
        *model = (MerModelRequests){.name = schedule->models[m].name, .slack = NAN};
        for (int r = 0; r < request_count; r++) {
            const MerServed *request = &requests[r];
            if (schedule->model[request->job] != m) {
                continue;
            }
            model->count++;
            model->dropped += request->is_dropped;
            model->missed += mer_served_is_missed(request);
            if (!request->is_dropped) {
                latency[done++] = (request->end - request->release) / schedule->clock_hz;
                double slack = mer_served_slack(request) / schedule->clock_hz;
                model->slack = request->is_due ? fmin(model->slack, slack) : model->slack;
            }
        }
        summarise(model, latency, done);
        *count += model->count > 0;
    }
    return models;
}

/* The object of the summary, times in milliseconds as in requests.csv. */
static void note_requests(const MerModelRequests *models, int count, MerNotes *notes)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_array(&json, "requests");
    for (int m = 0; m < count; m++) {
        mer_json_object(&json, NULL);
        mer_json_text(&json, "model", models[m].name);
        mer_json_int(&json, "requests", models[m].count);
        mer_json_real(&json, "p50_ms", 1000 * models[m].p50);
        mer_json_real(&json, "p95_ms", 1000 * models[m].p95);
        mer_json_real(&json, "p99_ms", 1000 * models[m].p99);
        mer_json_real(&json, "least_slack_ms", 1000 * models[m].slack);
        mer_json_int(&json, "missed", models[m].missed);
        mer_json_int(&json, "dropped", models[m].dropped);
        mer_json_end_object(&json);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    mer_note(notes, "result", json.text);
    mer_json_free(&json);
}

void mer_bandwidth_view_requests(const MerSchedule *schedule, const MerBandwidthTimes *times,
                                 MerArena *arena, MerNotes *notes)
{
    static const MerViewColumn columns[] = {
        {.name = "model"},
        {.name = "requests", .unit = "1"},
        {.name = "p50",
         .unit = "s",
         .help = "half of the requests that were not dropped took no longer from release to end"},
        {.name = "p95", .unit = "s", .help = "95 % of them"},
        {.name = "p99", .unit = "s", .help = "99 % of them"},
        {.name = "least slack",
         .unit = "s",
         .help = "time left before the deadline; below 0: late"},
        {.name = "missed", .unit = "1", .help = "late or dropped"},
        {.name = "dropped", .unit = "1"}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    int                     count;
    const MerModelRequests *models = mer_bandwidth_requests(schedule, times, arena, &count);
    MerViewCell            *cells = MER_ARRAY(arena, MerViewCell, count * COLUMNS + 1);
    if (count > 0) {
        note_requests(models, count, notes);
    }
    if (count == 0 || !is_shown(schedule)) {
        return;
    }
    for (int m = 0; m < count; m++) {
        const MerModelRequests *model = &models[m];
        MerViewCell            *row = cells + m * COLUMNS;
        row[0].text = model->name;
        row[1].number = model->count;
        row[2].number = model->p50;
        row[3].number = model->p95;
        row[4].number = model->p99;
        row[5].number = model->slack;
        row[6].number = model->missed;
        row[7].number = model->dropped;
    }
    mer_view_table(notes, &(MerView){.id = "requests", .title = "Requests by model"},
                   &(MerViewTable){columns, COLUMNS, cells, count});
}

const char *mer_bandwidth_print_requests(const MerSchedule       *schedule,
                                         const MerBandwidthTimes *times, MerArena *arena)
{
    const char             *text = "";
    int                     count;
    const MerModelRequests *models = mer_bandwidth_requests(schedule, times, arena, &count);
    for (int m = 0; m < count && is_shown(schedule); m++) {
        const MerModelRequests *model = &models[m];
        int                     done = model->count - model->dropped;
        char                    p50[48], p95[48], p99[48], slack[48];
        mer_print_engineering(p50, model->p50, "s");
        mer_print_engineering(p95, model->p95, "s");
        mer_print_engineering(p99, model->p99, "s");
        mer_print_engineering(slack, model->slack, "s");
        text = mer_arena_format(
            arena, "%s%s: %d request%s, %sp50 %s, p95 %s, p99 %s, least slack %s, %d missed\n",
            text, model->name, model->count, model->count > 1 ? "s" : "",
            model->dropped > 0 ? mer_arena_format(arena, "of the %d that ran ", done) : "", p50,
            p95, p99, slack, model->missed);
    }
    return text;
}
