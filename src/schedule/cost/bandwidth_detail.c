/* What the report shows of a schedule: the Gantt chart with the bandwidth stack, cycles against bandwidth
 * (free in virtual time, docs/bandwidth-model.md, "Virtual time"), the longest job, and the tenants. */
#include "schedule/cost/bandwidth.h"

#include "mercator/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Stack { /* segments as JSON, neighbours with equal use joined */
    MerJson json;
    int     units;
    double  begin, end, use[MER_BANDWIDTH_UNITS];
} Stack;

static void flush(Stack *stack)
{
    if (stack->end > stack->begin) {
        mer_json_array(&stack->json, NULL);
        mer_json_real(&stack->json, NULL, stack->begin);
        mer_json_real(&stack->json, NULL, stack->end);
        for (int u = 0; u < stack->units; u++) {
            mer_json_real(&stack->json, NULL, stack->use[u]);
        }
        mer_json_end_array(&stack->json);
    }
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

/* Jobs of one request have the same pair; a single job is a request of its own. */
static void write_request(const MerSchedule *schedule, int job, MerJson *json)
{
    int model = schedule->model[job];
    mer_json_array(json, "request");
    mer_json_int(json, NULL, model);
    mer_json_int(json, NULL, model < 0 ? job : schedule->request[job]);
    mer_json_end_array(json);
}

/* What a job is, wherever and whether it ran. */
static void write_job(const MerSchedule *schedule, int job, MerJson *json)
{
    int         model = schedule->model[job];
    const char *name = model >= 0 ? schedule->models[model].name : "";
    bool        is_owned = schedule->tenant_count > 1;
    int         first = schedule->before_start[job];
    mer_json_int(json, "id", job);
    mer_json_text(json, "name", schedule->job_names[job]);
    mer_json_text(json, "group", is_owned ? schedule->tenants[schedule->tenant[job]].name : name);
    if (is_owned && model >= 0) {
        mer_json_text(json, "model", name);
    }
    if (schedule->release[job] > 0) {
        mer_json_real(json, "release", schedule->release[job]);
    }
    if (schedule->deadline[job] < INFINITY) {
        mer_json_real(json, "deadline", schedule->deadline[job]);
        write_request(schedule, job, json);
    }
    if (schedule->before_start[job + 1] > first) {
        mer_json_array(json, "after");
        for (int i = first; i < schedule->before_start[job + 1]; i++) {
            mer_json_int(json, NULL, schedule->before[i]);
        }
        mer_json_end_array(json);
    }
}

static void write_dropped(const MerSchedule *schedule, const MerBandwidthTimes *times,
                          MerJson *json)
{
    if (times->dropped == 0) {
        return;
    }
    mer_json_array(json, "dropped");
    for (int j = 0; j < schedule->job_count; j++) {
        if (isnan(times->end[j])) {
            mer_json_object(json, NULL);
            write_job(schedule, j, json);
            mer_json_end_object(json);
        }
    }
    mer_json_end_array(json);
}

static void write_lanes(const MerBandwidthState *state, const MerBandwidthTimes *times,
                        MerJson *json)
{
    const MerSchedule *schedule = state->schedule;
    mer_json_array(json, "lanes");
    for (int u = 0; u < schedule->unit_count; u++) {
        mer_json_object(json, NULL);
        mer_json_text(json, "name", schedule->unit_names[u]);
        mer_json_array(json, "items");
        for (int j = 0; j < schedule->job_count; j++) {
            if (times->unit[j] != u || isnan(times->end[j])) {
                continue;
            }
            double stall =
                times->end[j] - times->start[j] - schedule->latency[j * schedule->unit_count + u];
            mer_json_object(json, NULL);
            mer_json_real(json, "start", times->start[j]);
            mer_json_real(json, "end", times->end[j]);
            mer_json_real(json, "stall", fmax(0, stall));
            mer_json_real(json, "traffic", times->moved[j]);
            write_job(schedule, j, json);
            mer_json_end_object(json);
        }
        mer_json_end_array(json);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

/* Cycles of the same queues at other bandwidths: plain schedules in virtual time, others simulated anew. Where
 * late jobs are dropped there is no curve, as each point would be of other jobs. */
static void note_curve(const MerBandwidthState *state, const MerJobsPlan *plan, MerNotes *notes)
{
    MerJson           json = {0};
    MerArena         *arena = mer_arena_new();
    MerBandwidthState other = *state;
    mer_json_array(&json, NULL);
    for (int step = -8; step <= 8; step++) {
        MerBandwidthTimes  times;
        MerBandwidthOutput output;
        other.input.bandwidth = state->input.bandwidth * pow(2, step * 0.5);
        if (state->is_plain) {
            output.cycles = mer_bandwidth_virtual(&other.input, plan);
        } else if (!mer_bandwidth_simulate(&other, plan, arena, &times, NULL, &output)) {
            output.cycles = NAN;
        }
        mer_json_array(&json, NULL);
        mer_json_real(&json, NULL, other.input.bandwidth);
        mer_json_real(&json, NULL, output.cycles);
        mer_json_end_array(&json);
        mer_arena_reset(arena);
    }
    mer_json_end_array(&json);
    mer_note(notes, "cycles_by_bandwidth", json.text);
    mer_json_free(&json);
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
            double latency = schedule->latency[j * schedule->unit_count + unit];
            work += latency;
            stall += fmax(0, times->end[j] - times->start[j] - latency);
        }
    }
    return (UnitTimes){work / cycles, stall / cycles, fmax(0, 1 - (work + stall) / cycles)};
}

static void write_unit_times(const MerBandwidthState *state, const MerBandwidthTimes *times,
                             const MerBandwidthOutput *output, MerJson *json)
{
    const MerSchedule *schedule = state->schedule;
    mer_json_array(json, "cores");
    for (int u = 0; u < schedule->unit_count; u++) {
        UnitTimes shares = unit_times(schedule, times, output->cycles, u);
        mer_json_object(json, NULL);
        mer_json_text(json, "name", schedule->unit_names[u]);
        mer_json_real(json, "busy", shares.busy);
        mer_json_real(json, "stalled", shares.stalled);
        mer_json_real(json, "idle", shares.idle);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
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
        text = mer_arena_format(arena, "%s\n", text);
    }
    mer_arena_free(scratch);
    return text;
}

static void note_use(const MerBandwidthState *state, const MerBandwidthTimes *times,
                     const MerBandwidthOutput *output, MerNotes *notes)
{
    const MerSchedule *schedule = state->schedule;
    MerJson            json = {0};
    double             longest_cycles;
    int                longest = mer_schedule_longest_job(schedule, &longest_cycles);
    mer_json_object(&json, NULL);
    mer_json_real(&json, "bytes_per_cycle", schedule->bandwidth);
    mer_json_real(&json, "bytes_per_s", schedule->bandwidth * schedule->clock_hz);
    mer_json_real(&json, "clock_hz", schedule->clock_hz);
    mer_json_real(&json, "gflop_per_s",
                  2 * mer_bandwidth_macs(schedule, times) / output->cycles * schedule->clock_hz *
                      1e-9);
    mer_json_hash(&json, "table_hash", schedule->table_hash);
    mer_json_object(&json, "longest_job");
    mer_json_text(&json, "name", schedule->job_names[longest]);
    mer_json_real(&json, "cycles", longest_cycles);
    mer_json_end_object(&json);
    write_unit_times(state, times, output, &json);
    mer_json_end_object(&json);
    mer_note(notes, "schedule", json.text);
    mer_json_free(&json);
}

void mer_bandwidth_detail(const void *opened, const MerPlan *plan, MerNotes *notes)
{
    const MerBandwidthState *state = opened;
    MerArena                *arena = mer_arena_new();
    MerBandwidthTimes        times;
    MerBandwidthOutput       output;
    Stack                    stack = {.units = state->schedule->unit_count};
    MerBandwidthRecorder     recorder = {&stack, add_segment};
    MerJson                  json = {0};
    mer_json_array(&stack.json, NULL);
    if (mer_bandwidth_simulate(state, mer_jobs_plan(plan), arena, &times, &recorder, &output)) {
        stack.end = fmin(stack.end, output.cycles); /* not up to a drop after the last end */
        flush(&stack);
        mer_json_end_array(&stack.json);
        mer_json_object(&json, NULL);
        mer_json_text(&json, "unit", "cycle");
        write_lanes(state, &times, &json);
        write_dropped(state->schedule, &times, &json);
        mer_json_object(&json, "bandwidth");
        mer_json_real(&json, "limit", state->input.bandwidth);
        mer_json_text(&json, "unit", "B/cycle");
        mer_json_raw(&json, "segments", stack.json.text);
        mer_json_end_object(&json);
        mer_json_end_object(&json);
        mer_note(notes, "gantt", json.text);
        note_use(state, &times, &output, notes);
        if (state->schedule->tenant_count > 1) {
            mer_bandwidth_note_tenants(state, &times, arena, notes);
        }
        if (!state->input.rules.drops_late) {
            note_curve(state, mer_jobs_plan(plan), notes);
        }
    }
    mer_json_free(&json);
    mer_json_free(&stack.json);
    mer_arena_free(arena);
}
