/* What the report shows of a schedule: the timeline with the bandwidth stack, cycles against bandwidth
 * (free in virtual time, docs/bandwidth-model.md, "Virtual time"), the longest job, and the tenants. */
#include "schedule/cost/bandwidth.h"

#include "mercator/view.h"

#include <math.h>
#include <string.h>

typedef struct Stack { /* neighbours with equal use are joined */
    MerBandwidthPlay *play;
    MerArena         *arena;
    int               units;
    double            begin, end, use[MER_BANDWIDTH_UNITS];
} Stack;

static void flush(Stack *stack)
{
    MerBandwidthPlay *play = stack->play;
    size_t            width = (size_t)stack->units + 2;
    if (!(stack->end > stack->begin)) {
        return;
    }
    play->segments = mer_arena_grow(stack->arena, play->segments, (size_t)play->segment_count,
                                    width * sizeof *play->segments);
    double *segment = play->segments + (size_t)play->segment_count++ * width;
    segment[0] = stack->begin;
    segment[1] = stack->end;
    memcpy(segment + 2, stack->use, (width - 2) * sizeof *segment);
}

static void add_segment(void *state, const MerBandwidthSegment *segment)
{
    Stack *stack = state;
    size_t size = (size_t)stack->units * sizeof(double);
    if (memcmp(stack->use, segment->use, size) != 0 || stack->end != segment->t) {
        flush(stack);
        stack->begin = segment->t;
        memcpy(stack->use, segment->use, size);
    }
    stack->end = segment->t + segment->duration;
}

bool mer_bandwidth_play(const MerBandwidthState *state, const MerPlan *plan, MerArena *arena,
                        MerBandwidthPlay *play)
{
    Stack                stack = {play, arena, state->schedule->unit_count, 0, 0, {0}};
    MerBandwidthRecorder recorder = {&stack, add_segment};
    *play = (MerBandwidthPlay){.segments = NULL};
    if (!mer_bandwidth_simulate(state, mer_jobs_plan(plan), arena, &play->times, &recorder,
                                &play->output)) {
        return false;
    }
    stack.end = fmin(stack.end, play->output.cycles); /* not up to a drop after the last end */
    flush(&stack);
    return true;
}

double mer_bandwidth_stall(const MerSchedule *schedule, const MerBandwidthTimes *times, int job)
{
    double latency = schedule->latency[job * schedule->unit_count + times->unit[job]];
    return fmax(0, times->end[job] - times->start[job] - latency);
}

/* Jobs of one request have the same; a single job is a request of its own. */
static const char *request_name(const MerSchedule *schedule, int job, MerArena *arena)
{
    int model = schedule->model[job];
    return model < 0 ? schedule->job_names[job]
                     : mer_arena_format(arena, "%s %d", schedule->models[model].name,
                                        schedule->request[job]);
}

static MerViewItem job_item(const MerSchedule *schedule, const MerBandwidthTimes *times, int job,
                            MerArena *arena)
{
    int         model = schedule->model[job];
    const char *name = model >= 0 ? schedule->models[model].name : "";
    bool        is_owned = schedule->tenant_count > 1;
    bool        ran = !isnan(times->end[job]);
    int         unit = ran ? times->unit[job] : -1;
    int         first = schedule->before_start[job];
    MerViewItem item = {
        .name = schedule->job_names[job],
        .lane = unit,
        .group = is_owned ? schedule->tenants[schedule->tenant[job]].name : name,
        .kind = is_owned && model >= 0 ? name : NULL,
        .ready = schedule->release[job],
        .deadline = schedule->deadline[job],
        .set = schedule->deadline[job] < INFINITY ? request_name(schedule, job, arena) : NULL,
        .after = schedule->before + first,
        .after_count = schedule->before_start[job + 1] - first};
    if (ran) {
        item.start = times->start[job];
        item.end = times->end[job];
        item.stall = mer_bandwidth_stall(schedule, times, job);
        item.amount = times->moved[job];
    }
    return item;
}

static void view_timeline(const MerBandwidthState *state, const MerBandwidthPlay *play,
                          MerArena *arena, MerNotes *notes)
{
    const MerSchedule *schedule = state->schedule;
    MerViewItem       *items = MER_ARRAY(arena, MerViewItem, schedule->job_count + 1);
    MerViewAreas       bandwidth = {.title = "bandwidth",
                                    .unit = "B/cycle",
                                    .limit = state->input.bandwidth,
                                    .series_count = schedule->unit_count,
                                    .segments = play->segments,
                                    .segment_count = play->segment_count};
    for (int j = 0; j < schedule->job_count; j++) {
        items[j] = job_item(schedule, &play->times, j, arena);
    }
    MerViewTimeline timeline = {.unit = "cycle",
                                .lanes = schedule->unit_names,
                                .lane_count = schedule->unit_count,
                                .items = items,
                                .item_count = schedule->job_count,
                                .amount_unit = "B",
                                .item_name = "job",
                                .group_name = schedule->tenant_count > 1 ? "tenant" : "model",
                                .kind_name = "model",
                                .set_name = "request",
                                .stall_name = "waits for memory",
                                .below = &bandwidth,
                                .below_count = 1};
    mer_view_timeline(notes, &(MerView){.id = "timeline", .title = "Timeline"}, &timeline);
}

/* Cycles of the same queues at other bandwidths: plain schedules in virtual time, others simulated anew. Where
 * late jobs are dropped there is no curve, as each point would be of other jobs. */
static void view_sensitivity(const MerBandwidthState *state, const MerJobsPlan *plan,
                             MerNotes *notes)
{
    enum { STEPS = 8, POINTS = 2 * STEPS + 1 };
    static const MerViewAxis axes[] = {{.name = "bandwidth", .unit = "B/cycle", .is_log = true},
                                       {.name = "cycles", .unit = "cycle", .is_log = true}};
    double                   points[POINTS][2];
    MerArena                *arena = mer_arena_new();
    MerBandwidthState        other = *state;
    for (int p = 0; p < POINTS; p++) {
        MerBandwidthTimes  times;
        MerBandwidthOutput output;
        other.input.bandwidth = state->input.bandwidth * pow(2, (p - STEPS) * 0.5);
        if (state->is_plain) {
            output.cycles = mer_bandwidth_virtual(&other.input, plan);
        } else if (!mer_bandwidth_simulate(&other, plan, arena, &times, NULL, &output)) {
            output.cycles = NAN;
        }
        points[p][0] = other.input.bandwidth;
        points[p][1] = output.cycles;
        mer_arena_reset(arena);
    }
    MerViewLine    line = {"the same plan", points[0], POINTS};
    MerViewPoint   here = {.name = "this platform", .values = points[STEPS]};
    MerViewScatter scatter = {.axes = axes,
                              .axis_count = 2,
                              .points = &here,
                              .point_count = 1,
                              .lines = &line,
                              .line_count = 1};
    MerView        view = {.id = "sensitivity",
                           .title = "Cycles against bandwidth",
                           .help = "The same plan on platforms with more or less bandwidth."};
    mer_view_scatter(notes, &view, &scatter);
    mer_arena_free(arena);
}

typedef struct UnitTimes { /* shares of the makespan */
    double busy, stalled, idle;
} UnitTimes;

static UnitTimes unit_times(const MerSchedule *schedule, const MerBandwidthTimes *times,
                            double cycles, int unit)
{
    double work = 0;
    double stall = 0;
    for (int j = 0; j < schedule->job_count; j++) {
        if (times->unit[j] == unit && !isnan(times->end[j])) {
            work += schedule->latency[j * schedule->unit_count + unit];
            stall += mer_bandwidth_stall(schedule, times, j);
        }
    }
    return (UnitTimes){work / cycles, stall / cycles, fmax(0, 1 - (work + stall) / cycles)};
}

/* Which jobs a core begins with, where a queue does not say so because jobs wait for others. */
static const char *print_starts(const MerSchedule *schedule, const MerBandwidthTimes *times,
                                MerArena *arena)
{
    enum { MOST = 8 };
    const char *text = "";
    double     *start = MER_ARRAY(arena, double, schedule->job_count + 1);
    if (!schedule->before_start || schedule->before_start[schedule->job_count] == 0) {
        return text;
    }
    for (int j = 0; j < schedule->job_count; j++) {
        start[j] = isnan(times->end[j]) ? INFINITY : times->start[j];
    }
    const int *order = mer_schedule_sorted(start, schedule->job_count, arena);
    for (int u = 0; u < schedule->unit_count; u++) {
        int count = 0;
        for (int i = 0; i < schedule->job_count; i++) {
            bool is_next = times->unit[order[i]] == u && start[order[i]] < INFINITY;
            if (is_next && count++ < MOST) {
                text = mer_arena_format(
                    arena, "%s%s%s%s", text, count == 1 ? schedule->unit_names[u] : "",
                    count == 1 ? " starts " : " ", schedule->job_names[order[i]]);
            }
        }
        text = count ? mer_arena_format(arena, "%s%s\n", text, count > MOST ? " ..." : "") : text;
    }
    return text;
}

const char *mer_bandwidth_print(const void *opened, const MerPlan *plan, MerArena *arena)
{
    const MerBandwidthState *state = opened;
    const MerSchedule       *schedule = state->schedule;
    MerArena                *scratch = mer_arena_new();
    MerBandwidthTimes        times;
    MerBandwidthOutput       output;
    const char              *text = NULL;
    if (mer_bandwidth_simulate(state, mer_jobs_plan(plan), scratch, &times, NULL, &output) &&
        output.cycles > 0) {
        text = "busy/stalled/idle %:";
        for (int u = 0; u < schedule->unit_count; u++) {
            UnitTimes shares = unit_times(schedule, &times, output.cycles, u);
            text = mer_arena_format(scratch, "%s%s %s %.0f/%.0f/%.0f", text, u ? "," : "",
                                    schedule->unit_names[u], 100 * shares.busy,
                                    100 * shares.stalled, 100 * shares.idle);
        }
        text = mer_arena_format(arena, "%s%s\n%s", print_starts(schedule, &times, scratch), text,
                                mer_bandwidth_print_requests(schedule, &times, scratch));
    }
    mer_arena_free(scratch);
    return text;
}

static void view_cores(const MerBandwidthState *state, const MerBandwidthTimes *times,
                       const MerBandwidthOutput *output, MerArena *arena, MerNotes *notes)
{
    enum { SHARES = 3, FACTS = 6 };
    static const char *const shares[SHARES] = {"busy", "stalled", "idle"};
    const MerSchedule       *schedule = state->schedule;
    double                  *values = MER_ARRAY(arena, double, schedule->unit_count *SHARES);
    double                   longest_cycles;
    int                      longest = mer_schedule_longest_job(schedule, &longest_cycles);
    double                   per_cycle = 2 * mer_bandwidth_macs(schedule, times) / output->cycles;
    int                      count = 0;
    MerViewFact              facts[FACTS];
    for (int u = 0; u < schedule->unit_count; u++) {
        UnitTimes unit = unit_times(schedule, times, output->cycles, u);
        memcpy(values + u * SHARES, (double[]){unit.busy, unit.stalled, unit.idle},
               SHARES * sizeof *values);
    }
    facts[count++] =
        (MerViewFact){.name = "bandwidth", .value = schedule->bandwidth, .unit = "B/cycle"};
    if (schedule->clock_hz > 0) {
        facts[count++] = (MerViewFact){.name = "bandwidth per second",
                                       .value = schedule->bandwidth * schedule->clock_hz,
                                       .unit = "B/s"};
        facts[count++] = (MerViewFact){.name = "clock", .value = schedule->clock_hz, .unit = "Hz"};
        facts[count++] = (MerViewFact){
            .name = "throughput", .value = per_cycle * schedule->clock_hz, .unit = "op/s"};
    }
    facts[count++] = (MerViewFact){.name = "longest job", .text = schedule->job_names[longest]};
    facts[count++] = (MerViewFact){.name = "which takes",
                                   .value = longest_cycles,
                                   .unit = "cycle",
                                   .help = "at its best core: no schedule is shorter"};
    MerView view = {
        .id = "cores", .title = "Cores and memory", .facts = facts, .fact_count = count};
    mer_view_bars(notes, &view,
                  &(MerViewBars){.unit = "share",
                                 .series = shares,
                                 .series_count = SHARES,
                                 .rows = schedule->unit_names,
                                 .row_count = schedule->unit_count,
                                 .values = values,
                                 .has_parts = true,
                                 .has_rest = true});
}

void mer_bandwidth_detail(const void *opened, const MerPlan *plan, MerNotes *notes)
{
    const MerBandwidthState *state = opened;
    MerArena                *arena = mer_arena_new();
    MerBandwidthPlay         play;
    if (mer_bandwidth_play(state, plan, arena, &play)) {
        view_timeline(state, &play, arena, notes);
        view_cores(state, &play.times, &play.output, arena, notes);
        mer_bandwidth_view_graph(state->schedule, &play.times, arena, notes);
        mer_bandwidth_view_requests(state->schedule, &play.times, arena, notes);
        if (state->schedule->tenant_count > 1) {
            mer_bandwidth_view_tenants(state, &play.times, arena, notes);
        }
        if (!state->input.rules.drops_late) {
            view_sensitivity(state, mer_jobs_plan(plan), notes);
        }
    }
    mer_arena_free(arena);
}
