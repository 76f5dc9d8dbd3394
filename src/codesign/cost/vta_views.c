/* Panels of one layer's stream. Long streams are shown by their first instructions. */
#include "codesign/cost/vta_views.h"

#include "mercator/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 400, MOST_EVENTS = 4 * MOST_ITEMS };

typedef struct Event { /* entries that come or go */
    double at, inp, wgt, acc;
} Event;

typedef struct Show {
    const MerVtaTask *task;
    MerArena         *arena;
    int               count;
    MerViewItem      *items;
    int               event_count;
    Event            *events;
    Event             loaded[64]; /* what loads brought and products have not read, oldest first */
    int               loaded_count;
    Event             pending; /* loads of the tile at hand */
} Show;

static void add_event(Show *show, double at, const Event *change, double sign)
{
    if (show->event_count < MOST_EVENTS) {
        show->events[show->event_count++] =
            (Event){at, sign * change->inp, sign * change->wgt, sign * change->acc};
    }
}

/* Entries that an instruction brings or takes away. */
static void note_fill(Show *show, const MerVtaInstruction *i, double start, double end)
{
    double entries =
        (double)(i->y_pad_0 + i->y_size + i->y_pad_1) * (i->x_pad_0 + i->x_size + i->x_pad_1);
    if (i->opcode == MER_VTA_LOAD && (i->memory == MER_VTA_INP || i->memory == MER_VTA_WGT)) {
        Event change = {.inp = i->memory == MER_VTA_INP ? entries : 0,
                        .wgt = i->memory == MER_VTA_WGT ? entries : 0};
        add_event(show, start, &change, 1);
        show->pending.inp += change.inp;
        show->pending.wgt += change.wgt;
        if (i->push_next && show->loaded_count < 64) {
            show->loaded[show->loaded_count++] = show->pending;
            show->pending = (Event){0};
        }
    } else if (i->opcode == MER_VTA_GEMM && i->reset) {
        add_event(show, start, &(Event){.acc = (double)mer_vta_iterations(i)}, 1);
    } else if (i->opcode == MER_VTA_GEMM && show->loaded_count > 0) {
        add_event(show, end, &show->loaded[0], -1);
        memmove(show->loaded, show->loaded + 1, (size_t)--show->loaded_count * sizeof(Event));
    } else if (i->opcode == MER_VTA_STORE) {
        add_event(show, end, &(Event){.acc = (double)i->y_size * i->x_size}, -1);
    }
}

static void watch(void *state, const MerVtaInstruction *i, int64_t index, int64_t ready,
                  int64_t start, int64_t end)
{
    Show  *show = state;
    double from = (double)start / MER_VTA_TICKS, to = (double)end / MER_VTA_TICKS;
    if (index >= MOST_ITEMS || mer_vta_is_noop(i) || i->opcode == MER_VTA_FINISH) {
        return;
    }
    char line[160];
    mer_vta_print(i, line);
    show->items[show->count++] = (MerViewItem){
        .name = mer_arena_format(show->arena, "%lld %s", (long long)index, mer_vta_operation(i)),
        .lane = (int)mer_vta_stage(i),
        .start = from,
        .end = to,
        .ready = (double)ready / MER_VTA_TICKS,
        .group = mer_vta_operation(i),
        .set = NULL};
    note_fill(show, i, from, to);
}

static int by_time(const void *a, const void *b)
{
    const Event *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Bytes in use, from event to event. */
static int make_segments(Show *show, double *segments)
{
    const MerVtaCore *core = &show->task->core;
    double            inp = 0, wgt = 0, acc = 0;
    int               count = 0;
    qsort(show->events, (size_t)show->event_count, sizeof(Event), by_time);
    for (int e = 0; e < show->event_count; e++) {
        inp += show->events[e].inp * core->element[MER_VTA_INP];
        wgt += show->events[e].wgt * core->element[MER_VTA_WGT];
        acc += show->events[e].acc * core->element[MER_VTA_ACC];
        double to = e + 1 < show->event_count ? show->events[e + 1].at : show->events[e].at;
        if (to > show->events[e].at) {
            double *row = segments + 5 * count++;
            row[0] = show->events[e].at;
            row[1] = to;
            row[2] = inp;
            row[3] = wgt;
            row[4] = acc;
        }
    }
    return count;
}

static void show_stages(Show *show, const MerVtaSchedule *schedule, const MerVtaTiming *timing,
                        MerNotes *notes)
{
    static const char *const lanes[] = {"load", "compute", "store"};
    static const char *const memories[] = {"inp", "wgt", "acc"};
    MerVtaStream             stream;
    MerVtaTime               time;
    if (mer_vta_generate(show->task, schedule, MER_VTA_STREAM_LIMIT, &stream, NULL) != MER_OK) {
        return;
    }
    show->items = MER_ARRAY(show->arena, MerViewItem, MOST_ITEMS);
    show->events = MER_ARRAY(show->arena, Event, MOST_EVENTS);
    mer_vta_walk(&show->task->core, timing, stream.list, stream.count, &time, watch, show, NULL);
    const int64_t *bytes = show->task->core.bytes;
    double        *segments = MER_ARRAY(show->arena, double, 5 * (MOST_EVENTS + 1));
    MerViewAreas   fill = {.title = "SRAM in use",
                           .unit = "B",
                           .limit =
                               (double)(bytes[MER_VTA_INP] + bytes[MER_VTA_WGT] + bytes[MER_VTA_ACC]),
                           .series = memories,
                           .series_count = 3,
                           .segments = segments};
    fill.segment_count = make_segments(show, segments);
    const char *help = mer_arena_format(
        show->arena,
        "Load, compute and store wait for each other's tokens. %s of %lld instructions.",
        stream.count > MOST_ITEMS ? "The first 400" : "All", (long long)stream.count);
    mer_view_timeline(notes, &(MerView){.id = "stages", .title = "Stages", .help = help},
                      &(MerViewTimeline){.unit = "cycle",
                                         .lanes = lanes,
                                         .lane_count = 3,
                                         .items = show->items,
                                         .item_count = show->count,
                                         .item_name = "instruction",
                                         .group_name = "operation",
                                         .below = &fill,
                                         .below_count = 1});
    mer_vta_stream_free(&stream);
}

static void show_work(const MerVtaTime *time, MerNotes *notes)
{
    static const char *const stages[] = {"load", "compute", "store"}, *const series[] = {"busy",
                                                                                         "waits"};
    double values[6];
    for (int s = 0; s < MER_VTA_STAGES; s++) {
        values[2 * s] = (double)time->busy[s] / MER_VTA_TICKS;
        values[2 * s + 1] = (double)(time->ticks - time->busy[s]) / MER_VTA_TICKS;
    }
    mer_view_bars(notes, &(MerView){.id = "work", .title = "Work of the stages"},
                  &(MerViewBars){.unit = "cycle",
                                 .series = series,
                                 .series_count = 2,
                                 .rows = stages,
                                 .row_count = 3,
                                 .values = values,
                                 .has_parts = true,
                                 .has_rest = true});
}

static void show_roofline(const MerVtaTask *task, const MerVtaSchedule *schedule,
                          const MerVtaTiming *timing, const MerVtaTime *time, double macs,
                          MerNotes *notes)
{
    MerVtaCounters c;
    mer_vta_count(task, schedule, &c);
    double bytes = (double)c.store;
    for (int m = 0; m < MER_VTA_MEMORY_COUNT; m++) {
        bytes += (double)c.load[m];
    }
    double seconds = mer_vta_seconds(timing, time), work = 2 * macs / (double)task->shape.repeat;
    double peak = 2.0 * (double)mer_vta_core_macs(&task->core) * timing->clock_hz;
    double rate = timing->clock_hz / fmax(timing->load_per_byte, 1e-9);
    double values[] = {work / bytes, work / seconds};
    double knee = peak / rate, roof[] = {knee / 64, peak / 64, knee, peak, knee * 64, peak};
    MerViewAxis  axes[] = {{.name = "intensity", .unit = "op/B", .is_log = true},
                           {.name = "throughput", .unit = "op/s", .is_log = true}};
    MerViewPoint point = {.name = "this layer", .values = values};
    MerViewLine  line = {.name = "roof", .points = roof, .point_count = 3};
    mer_view_scatter(notes,
                     &(MerView){.id = "roofline",
                                .title = "Roofline",
                                .help = "Peak of the GEMM unit, and bytes per second that the load "
                                        "stage can bring."},
                     &(MerViewScatter){.axes = axes,
                                       .axis_count = 2,
                                       .points = &point,
                                       .point_count = 1,
                                       .lines = &line,
                                       .line_count = 1});
}

void mer_vta_show(const MerVtaTask *task, const MerVtaSchedule *schedule,
                  const MerVtaTiming *timing, double macs, MerNotes *notes)
{
    MerVtaTime time;
    if (!mer_vta_check(&task->core, &task->shape, schedule, &task->rules, NULL)) {
        return;
    }
    mer_vta_price(task, schedule, timing, INFINITY, &time);
    Show *show = &(Show){.task = task, .arena = mer_arena_new()};
    show_stages(show, schedule, timing, notes);
    show_work(&time, notes);
    show_roofline(task, schedule, timing, &time, macs, notes);
    mer_arena_free(show->arena);
}
