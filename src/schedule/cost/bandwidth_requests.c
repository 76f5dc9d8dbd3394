/* Requests by model: how long they took from release to end, how much time was left before their deadlines, and how many missed
 * them. */
#include "schedule/cost/bandwidth.h"

#include "base/engineering.h"
#include "base/stats.h"
#include "mercator/view.h"
#include "schedule/jobs/schedule_deadlines.h"

#include <math.h>

typedef struct ModelRequests {
    const char *name;
    int         count, missed, dropped;
    int         done;    /* of these: ended */
    double     *latency; /* seconds of each */
    double      slack;   /* the least of those that have a deadline; NAN: none */
} ModelRequests;

/* Models with several requests or with deadlines are of interest, and times need a clock. */
static bool is_shown(const MerSchedule *schedule)
{
    int model = -1;
    for (int j = 0; j < schedule->job_count && model < 0; j++) {
        bool is_of_interest = schedule->deadline[j] < INFINITY || schedule->request[j] > 0;
        model = is_of_interest ? schedule->model[j] : -1;
    }
    return model >= 0 && schedule->clock_hz > 0;
}

/* NULL: there is nothing to show. */
static ModelRequests *gather(const MerSchedule *schedule, const MerBandwidthTimes *times,
                             MerArena *arena)
{
    if (!is_shown(schedule)) {
        return NULL;
    }
    MerServed     *requests;
    int            count = mer_schedule_serve(schedule, times->end, arena, &requests);
    ModelRequests *models = MER_ARRAY(arena, ModelRequests, schedule->model_count + 1);
    for (int m = 0; m < schedule->model_count; m++) {
        models[m].name = schedule->models[m].name;
        models[m].latency = MER_ARRAY(arena, double, count + 1);
        models[m].slack = NAN;
    }
    for (int r = 0; r < count; r++) {
        const MerServed *request = &requests[r];
        if (schedule->model[request->job] < 0) {
            continue;
        }
        ModelRequests *model = &models[schedule->model[request->job]];
        model->count++;
        model->dropped += request->is_dropped;
        model->missed += mer_served_is_missed(request);
        if (!request->is_dropped) {
            model->latency[model->done++] = (request->end - request->release) / schedule->clock_hz;
            double slack = mer_served_slack(request) / schedule->clock_hz;
            model->slack = request->is_due ? fmin(model->slack, slack) : model->slack;
        }
    }
    return models;
}

void mer_bandwidth_view_requests(const MerSchedule *schedule, const MerBandwidthTimes *times,
                                 MerArena *arena, MerNotes *notes)
{
    static const MerViewColumn columns[] = {
        {.name = "model"},
        {.name = "requests", .unit = "1"},
        {.name = "p50",
         .unit = "s",
         .help = "half of the requests took no longer from release to end"},
        {.name = "p95", .unit = "s", .help = "95 % of them"},
        {.name = "p99", .unit = "s", .help = "99 % of them"},
        {.name = "least slack",
         .unit = "s",
         .help = "time left before the deadline; below 0: late"},
        {.name = "missed", .unit = "1", .help = "late or dropped"},
        {.name = "dropped", .unit = "1"}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    const ModelRequests *models = gather(schedule, times, arena);
    MerViewCell         *cells = MER_ARRAY(arena, MerViewCell, schedule->model_count * COLUMNS + 1);
    MerViewTable         table = {.columns = columns, .column_count = COLUMNS, .cells = cells};
    for (int m = 0; models && m < schedule->model_count; m++) {
        const ModelRequests *model = &models[m];
        if (model->count == 0) {
            continue;
        }
        MerViewCell *row = cells + table.row_count++ * COLUMNS;
        row[0].text = model->name;
        row[1].number = model->count;
        row[2].number = mer_quantile(model->latency, model->done, 0.5);
        row[3].number = mer_quantile(model->latency, model->done, 0.95);
        row[4].number = mer_quantile(model->latency, model->done, 0.99);
        row[5].number = model->slack;
        row[6].number = model->missed;
        row[7].number = model->dropped;
    }
    if (models) {
        mer_view_table(notes, &(MerView){.id = "requests", .title = "Requests by model"}, &table);
    }
}

const char *mer_bandwidth_print_requests(const MerSchedule       *schedule,
                                         const MerBandwidthTimes *times, MerArena *arena)
{
    const char          *text = "";
    const ModelRequests *models = gather(schedule, times, arena);
    for (int m = 0; models && m < schedule->model_count; m++) {
        const ModelRequests *model = &models[m];
        char                 ms[3][48], slack[48];
        if (model->count == 0) {
            continue;
        }
        for (int q = 0; q < 3; q++) {
            static const double shares[] = {0.5, 0.95, 0.99};
            mer_print_engineering(ms[q], mer_quantile(model->latency, model->done, shares[q]), "s");
        }
        mer_print_engineering(slack, model->slack, "s");
        text = mer_arena_format(
            arena, "%s%s: %d request%s, p50 %s, p95 %s, p99 %s, least slack %s, %d missed\n", text,
            model->name, model->count, model->count > 1 ? "s" : "", ms[0], ms[1], ms[2], slack,
            model->missed);
    }
    return text;
}
