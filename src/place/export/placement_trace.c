/* Exporter `placement_trace`: the timeline that the evaluator shows, as a trace for chrome://tracing and Perfetto. A process per
 * unit with its lanes as threads, one for links that belong to none, memory as counters, and arrows from producer to
 * consumer (docs/placement.md, "Files for other tools"). */
#include "place/export/place_export.h"

#include "base/json_read.h"
#include "base/trace_events.h"

#include <ctype.h>
#include <string.h>

typedef struct Timeline {
    MerTrace        trace;
    const MerPlace *place;
    const cJSON    *view;
    MerTracePoint  *starts, *ends; /* of items, by id; process 0: it never ran */
    int             item_count;
} Timeline;

/* The unit whose name a lane begins with, "gpu0" or "gpu0 to gpu1"; unit_count: none. */
static int unit_of_lane(const MerPlace *place, const char *lane)
{
    size_t best = 0;
    int    unit = place->unit_count;
    for (int u = 0; u < place->unit_count; u++) {
        size_t length = strlen(place->unit_names[u]);
        if (strncmp(lane, place->unit_names[u], length) == 0 && length > best &&
            !isalnum((unsigned char)lane[length]) && lane[length] != '_') {
            best = length;
            unit = u;
        }
    }
    return unit;
}

static const char *lane_name(const cJSON *lane)
{
    return mer_json_get_text(lane, "name", "");
}

/* Lanes of one process are its threads, in their order: a thread's number is that of its lane. */
static void name_process(Timeline *timeline, int unit)
{
    const cJSON *lane;
    int          number = 0, named = 0;
    cJSON_ArrayForEach(lane, mer_json_get(timeline->view, "lanes"))
    {
        if (unit_of_lane(timeline->place, lane_name(lane)) == unit) {
            if (named++ == 0) {
                bool is_unit = unit < timeline->place->unit_count;
                mer_trace_process(&timeline->trace, unit + 1,
                                  is_unit ? timeline->place->unit_names[unit] : "links");
            }
            mer_trace_thread(&timeline->trace, number, lane_name(lane));
        }
        number++;
    }
}

static void write_item(Timeline *timeline, const cJSON *item, int thread)
{
    MerTrace *trace = &timeline->trace;
    double    start = mer_json_get_real(item, "start", 0), end = mer_json_get_real(item, "end", 0);
    double    amount = mer_json_get_real(item, "amount", 0);
    const char *group = mer_json_get_text(item, "group", NULL);
    int         id = (int)mer_json_get_real(item, "id", -1);
    mer_trace_slice(trace, mer_json_get_text(item, "name", ""), thread, start, end);
    mer_json_object(&trace->json, "args");
    if (group) {
        mer_json_text(&trace->json, "group", group);
    }
    if (amount > 0) {
        mer_json_real(&trace->json, "bytes", amount);
    }
    mer_json_end_object(&trace->json);
    mer_trace_end_event(trace);
    if (id >= 0 && id < timeline->item_count) { /* an arrow begins inside its slice */
        timeline->ends[id] = (MerTracePoint){trace->process, thread, (start + end) / 2};
        timeline->starts[id] = (MerTracePoint){trace->process, thread, start};
    }
}

static void write_lanes(Timeline *timeline)
{
    const cJSON *lane, *item;
    int          thread = 0;
    cJSON_ArrayForEach(lane, mer_json_get(timeline->view, "lanes"))
    {
        timeline->trace.process = unit_of_lane(timeline->place, lane_name(lane)) + 1;
        cJSON_ArrayForEach(item, mer_json_get(lane, "items"))
        {
            write_item(timeline, item, thread);
        }
        thread++;
    }
}

static void write_arrows(Timeline *timeline)
{
    const cJSON *lane, *item, *before;
    int64_t      arrows = 0;
    cJSON_ArrayForEach(lane, mer_json_get(timeline->view, "lanes"))
    {
        cJSON_ArrayForEach(item, mer_json_get(lane, "items"))
        {
            int to = (int)mer_json_get_real(item, "id", -1);
            cJSON_ArrayForEach(before, mer_json_get(item, "after"))
            {
                int from = before->valueint;
                if (to >= 0 && to < timeline->item_count && from >= 0 &&
                    from < timeline->item_count && timeline->ends[from].process > 0) {
                    mer_trace_arrow(&timeline->trace, ++arrows, timeline->ends[from],
                                    timeline->starts[to]);
                }
            }
        }
    }
}

static void write_counter(Timeline *timeline, const char *name, const char *series, double time,
                          double value)
{
    mer_trace_counter(&timeline->trace, name, time);
    mer_json_real(&timeline->trace.json, series, value);
    mer_trace_end_counter(&timeline->trace);
}

/* One series: a counter of the unit that it is named after, written where it changes. Segments are [from, to, values ...]. */
static void write_series(Timeline *timeline, const cJSON *areas, const char *series, int number)
{
    const char  *name = mer_json_get_text(areas, "name", "use");
    const cJSON *segment;
    double       shown = 0, end = 0;
    timeline->trace.process = unit_of_lane(timeline->place, series) + 1;
    cJSON_ArrayForEach(segment, mer_json_get(areas, "segments"))
    {
        double value = cJSON_GetNumberValue(cJSON_GetArrayItem(segment, 2 + number));
        if (value != shown) {
            write_counter(timeline, name, series,
                          cJSON_GetNumberValue(cJSON_GetArrayItem(segment, 0)), value);
        }
        shown = value;
        end = cJSON_GetNumberValue(cJSON_GetArrayItem(segment, 1));
    }
    if (shown != 0) {
        write_counter(timeline, name, series, end, 0);
    }
}

/* Areas below the timeline have one series per lane, or names of their own. */
static void write_areas(Timeline *timeline, const cJSON *areas)
{
    const cJSON *named, *series = mer_json_get(areas, "series");
    const cJSON *names = series ? series : mer_json_get(timeline->view, "lanes");
    int          number = 0;
    cJSON_ArrayForEach(named, names)
    {
        const char *name = series ? cJSON_GetStringValue(named) : lane_name(named);
        write_series(timeline, areas, name ? name : "", number++);
    }
}

static int count_items(const cJSON *view)
{
    const cJSON *lane;
    int          count = cJSON_GetArraySize(mer_json_get(view, "dropped"));
    cJSON_ArrayForEach(lane, mer_json_get(view, "lanes"))
    {
        count += cJSON_GetArraySize(mer_json_get(lane, "items"));
    }
    return count;
}

static void write_view(const MerPlacement *placement, const cJSON *view, MerExportFiles *files)
{
    const cJSON *areas;
    bool         is_seconds = strcmp(mer_json_get_text(view, "unit", "s"), "s") == 0;
    Timeline     timeline = {.trace = {.microseconds = is_seconds ? 1e6 : 1},
                             .place = placement->place,
                             .view = view,
                             .item_count = count_items(view)};
    timeline.starts = MER_ARRAY(files->arena, MerTracePoint, timeline.item_count);
    timeline.ends = MER_ARRAY(files->arena, MerTracePoint, timeline.item_count);
    mer_trace_begin(&timeline.trace);
    for (int u = 0; u <= placement->place->unit_count; u++) {
        name_process(&timeline, u);
    }
    write_lanes(&timeline);
    write_arrows(&timeline);
    cJSON_ArrayForEach(areas, mer_json_get(view, "below"))
    {
        write_areas(&timeline, areas);
    }
    mer_trace_end(&timeline.trace);
    mer_export_add(files, "trace.json", timeline.trace.json.text, timeline.trace.json.size);
    mer_json_free(&timeline.trace.json);
}

/* Without a timeline there is no file. */
static MerStatus write_trace(const MerExport *what, MerExportFiles *files, MerError *error)
{
    MerPlacement placement = mer_placement(what, files);
    cJSON       *detail = what->tasks[0].detail ? cJSON_Parse(what->tasks[0].detail) : NULL;
    const cJSON *view;
    (void)error;
    cJSON_ArrayForEach(view, mer_json_get(detail, "views"))
    {
        bool is_timeline = strcmp(mer_json_get_text(view, "panel", ""), "timeline") == 0;
        if (is_timeline && files->count == 0) {
            write_view(&placement, view, files);
        }
    }
    cJSON_Delete(detail);
    return MER_OK;
}

const MerExporterClass mer_exporter_placement_trace = {
    .name = "placement_trace",
    .summary = "trace.json: operators and transfers over time, Chrome's format, for Perfetto too",
    .problem = "place",
    .is_default = true,
    .write = write_trace,
};
