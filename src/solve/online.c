/* Scheduling while jobs arrive (schedule.md 5.4): at every release the jobs that are known and not yet started
 * are planned again, within a number of trials and a time per decision; what has started stays. The plan that
 * comes out is the one an on-line scheduler would have followed, and is priced once, like any other.
 * Other jobs are invisible until their release. */
#include "solve/list_schedule.h"

#include "base/json.h"
#include "base/log.h"
#include "cost/bandwidth.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef struct Options {
    int64_t moves;
    double  milliseconds;
} Options;

static const MerOption options[] = {
    {"moves", MER_OPTION_INT, offsetof(Options, moves), "50", 0, 1e9, NULL,
     "neighbours tried at each arrival"},
    {"ms", MER_OPTION_REAL, offsetof(Options, milliseconds), "0", 0, 1e9, NULL,
     "time for a decision; 0: no limit, and the same plan on every machine"},
    {0}};

typedef struct Online {
    const MerSchedule *schedule;
    MerBandwidthState  evaluator; /* sees only the jobs known so far */
    MerSchedule        known;
    double            *release;
    bool              *is_started;
    int      *unit, *order; /* of known jobs: core; all known jobs by place in their queues */
    int       count;
    MerArena *arena, *scratch;
    MerRng   *rng;
    MerBandwidthTimes times;
    int               decisions;
} Online;

/* Smaller is better: late work first, then the end of everything. */
static double simulate(Online *o)
{
    MerJobsPlan        plan;
    MerBandwidthOutput output;
    mer_arena_reset(o->scratch);
    mer_schedule_new_plan(o->schedule, o->scratch, &plan);
    int used = 0;
    for (int u = 0; u < o->schedule->unit_count; u++) {
        plan.start[u] = used;
        for (int i = 0; i < o->count; i++) {
            if (o->unit[o->order[i]] == u) {
                plan.unit[o->order[i]] = u;
                plan.queue[used++] = o->order[i];
            }
        }
    }
    plan.start[o->schedule->unit_count] = used;
    mer_bandwidth_simulate(&o->evaluator, &plan, o->scratch, &o->times, NULL, &output);
    double late = 0;
    for (int i = 0; i < o->count; i++) {
        int    job = o->order[i];
        double end = isnan(o->times.end[job]) ? o->schedule->deadline[job] * 2 : o->times.end[job];
        late += o->schedule->deadline[job] < INFINITY
                    ? o->schedule->weight[job] * fmax(0, end - o->schedule->deadline[job])
                    : 0;
    }
    return late * 1000 + output.cycles;
}

/* Where a new job ends first, by the load that each core still has. */
static void place_job(Online *o, int job, double now)
{
    const MerSchedule *schedule = o->schedule;
    double             load[MER_BANDWIDTH_UNITS] = {0};
    int                best = 0;
    for (int i = 0; i < o->count; i++) {
        int  other = o->order[i];
        bool is_over = o->is_started[other] && o->times.end && o->times.end[other] <= now;
        load[o->unit[other]] +=
            is_over ? 0 : schedule->latency[other * schedule->unit_count + o->unit[other]];
    }
    const double *latency = schedule->latency + (size_t)job * (size_t)schedule->unit_count;
    for (int u = 1; u < schedule->unit_count; u++) {
        best = load[u] + latency[u] < load[best] + latency[best] ? u : best;
    }
    o->unit[job] = best;
    int at = o->count++;
    for (; at > 0 && !o->is_started[o->order[at - 1]] &&
           schedule->deadline[o->order[at - 1]] > schedule->deadline[job];
         at--) {
        o->order[at] = o->order[at - 1];
    }
    o->order[at] = job;
}

/* Takes one job that has not started to another core or place, if that is not worse. */
static double improve(Online *o, int first, double score)
{
    int from = first + mer_rng_below(o->rng, o->count - first);
    int to = first + mer_rng_below(o->rng, o->count - first);
    int job = o->order[from];
    int old_unit = o->unit[job];
    o->unit[job] = mer_rng_below(o->rng, o->schedule->unit_count);
    o->order[from] = o->order[to];
    o->order[to] = job;
    double other = simulate(o);
    if (other <= score) {
        return other;
    }
    o->order[to] = o->order[from];
    o->order[from] = job;
    o->unit[job] = old_unit;
    return score;
}

/* Started jobs first, in the order they started; the rest keeps its order. */
static int settle_started(Online *o, double now)
{
    simulate(o);
    int first = 0;
    for (int i = 0; i < o->count; i++) {
        int job = o->order[i];
        o->is_started[job] = o->is_started[job] || o->times.start[job] < now;
    }
    for (int i = 0; i < o->count; i++) {
        int job = o->order[i];
        if (o->is_started[job]) {
            int at = i;
            for (; at > 0 && (!o->is_started[o->order[at - 1]] ||
                              o->times.start[o->order[at - 1]] > o->times.start[job]);
                 at--) {
                o->order[at] = o->order[at - 1];
            }
            o->order[at] = job;
            first++;
        }
    }
    return first;
}

static void decide(Online *o, int first, const Options *chosen)
{
    double begin = mer_clock();
    double score = simulate(o);
    for (int64_t i = 0; i < chosen->moves && first + 1 < o->count; i++) {
        if (chosen->milliseconds > 0 && mer_clock() - begin > chosen->milliseconds / 1000) {
            break;
        }
        score = improve(o, first, score);
    }
    o->decisions++;
}

static void play(Online *o, const Options *chosen)
{
    const MerSchedule *schedule = o->schedule;
    int                next = 0;
    while (next < schedule->job_count) {
        double now = schedule->release[schedule->release_order[next]];
        int    first = o->count > 0 ? settle_started(o, now) : 0;
        for (;
             next < schedule->job_count && schedule->release[schedule->release_order[next]] <= now;
             next++) {
            int job = schedule->release_order[next];
            o->release[job] = schedule->release[job];
            place_job(o, job, now);
        }
        o->known.release_order = mer_schedule_sorted(o->release, schedule->job_count, o->arena);
        decide(o, first, chosen);
    }
}

static MerStatus open_online(void *state, const MerSearch *search, const MerProblem *problem,
                             const MerEvaluator *evaluator, const void *given, MerError *error)
{
    const MerSchedule       *schedule;
    MerStatus                status = mer_list_begin("online", problem, &schedule, error);
    const MerBandwidthState *bandwidth = mer_bandwidth_state(evaluator);
    if (status != MER_OK || !bandwidth) {
        return status != MER_OK
                   ? status
                   : mer_error_set(error, MER_UNSUPPORTED, "online needs evaluator bandwidth");
    }
    MerArena *arena = search->arena;
    int       jobs = schedule->job_count;
    Online    o = {.schedule = schedule,
                   .evaluator = *bandwidth,
                   .known = *schedule,
                   .arena = arena,
                   .rng = search->rng,
                   .scratch = mer_arena_new(),
                   .release = MER_ARRAY(arena, double, jobs + 1),
                   .is_started = MER_ARRAY(arena, bool, jobs + 1),
                   .unit = MER_ARRAY(arena, int, jobs + 1),
                   .order = MER_ARRAY(arena, int, jobs + 1)};
    for (int j = 0; j < jobs; j++) {
        o.release[j] = INFINITY;
    }
    o.known.release = o.release;
    o.known.has_releases = true;
    o.evaluator.schedule = o.evaluator.input.schedule = &o.known;
    o.evaluator.input.rules.dispatch = MER_DISPATCH_SKIP;
    play(&o, given);
    MerJobsPlan plan;
    mer_schedule_new_plan(schedule, arena, &plan);
    mer_schedule_make_queues(o.order, o.unit, &plan);
    mer_list_set(state, search, problem, &plan);
    mer_arena_free(o.scratch);
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_int(&json, "decisions", o.decisions);
    mer_json_end_object(&json);
    mer_note(search->notes, "online", json.text);
    mer_json_free(&json);
    return MER_OK;
}

const MerOptimizerClass mer_optimizer_online = {
    .name = "online",
    .summary = "plans again at every arrival what has not started yet, without seeing later jobs",
    .reference =
        "after Graham et al., Optimization and Approximation in Deterministic Sequencing, 1979",
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(MerListState),
    .problem = "schedule",
    .open_problem = open_online,
    .ask = mer_list_ask,
    .tell = mer_list_tell,
};
