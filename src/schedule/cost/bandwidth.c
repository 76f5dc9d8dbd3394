/* Evaluator `bandwidth`: jobs on cores that share one off-chip memory, as a fluid simulation from event to
 * event (MAGMA, Kao and Krishna, HPCA 2022; docs/bandwidth-model.md). Plain schedules take a fast loop with
 * the same bits; everything else goes through the extended one. */
#include "schedule/cost/bandwidth.h"

#include "base/option_rows.h"
#include "schedule/cost/bandwidth_snapshot.h"
#include "schedule/jobs/schedule_deadlines.h"

#include <math.h>
#include <string.h>

typedef struct Options {
    int share, dispatch, policy, late, weight_reuse, forward, static_power, precision, loop,
        xr_energy, xr;
    double switch_cycles, dram_pj_per_byte;
} Options;

static const MerOption options[] = {
    MER_CHOICE(share, "proportional", "proportional|maxmin|even|priority|reserved",
               "who gets how much when jobs need more than there is: by need, small needs first, a "
               "fixed part per core, heavier tenants first, a part per tenant by weight"),
    MER_CHOICE(dispatch, "skip", "skip|strict|policy",
               "a free core takes its first ready job, waits for the head of its queue, or ignores "
               "the plan"),
    MER_CHOICE_AT("rule", policy, "fcfs",
                  "fcfs|sjf|edf|least_laxity|latency_greedy|edp_greedy|balanced",
                  "which ready job goes first with dispatch=policy"),
    MER_REAL(switch_cycles, "0", 0, 1e12, "dead time before every job of a core but its first"),
    MER_CHOICE(late, "run", "run|drop",
               "a job that has not started by its deadline runs anyway, or is dropped with those "
               "that wait for it"),
    MER_CHOICE(weight_reuse, "off", "off|same_layer",
               "a job after one of the same layer keeps its weights, if they fit the core"),
    MER_CHOICE(forward, "off", "off|same_core",
               "a job right after its producer takes the tensor from the core, if it fits"),
    MER_CHOICE_AT("static", static_power, "busy", "busy|powered",
                  "static_pj_per_cycle counts while a core works, or until the end"),
    MER_REAL(dram_pj_per_byte, "0", 0, 1e6, "energy of traffic that the table leaves out"),
    MER_CHOICE(xr_energy, "clamp", "clamp|compat",
               "xr_score of a request above 1500 mJ: 0, or negative as upstream"),
    MER_CHOICE(xr, "exact", "exact|compat",
               "xr_score of the plan, or of XRBench's published runtime with whole inferences, "
               "whatever the plan"),
    MER_CHOICE(precision, "exact", "exact|fast",
               "fast: plain schedules in virtual time, equal to the exact loop within 1e-12; every "
               "best and every point of a front is priced exactly"),
    MER_CHOICE(loop, "auto", "auto|extended", "extended: never the fast loop, for checks"),
    {0}};

const MerBandwidthState *mer_bandwidth_state(const MerEvaluator *evaluator)
{
    return evaluator && evaluator->type == &mer_evaluator_bandwidth ? evaluator->state : NULL;
}

const MerScheduleRules *mer_bandwidth_rules(const MerEvaluator *evaluator)
{
    static const MerScheduleRules unknown = {0};
    const MerBandwidthState      *state = mer_bandwidth_state(evaluator);
    return state ? &state->bound_rules : &unknown;
}

static const MerWork *make_work(const MerSchedule *schedule, MerArena *arena, bool *needs_all)
{
    int      count = schedule->job_count * schedule->unit_count;
    MerWork *work = MER_ARRAY(arena, MerWork, count + 1);
    *needs_all = true;
    for (int i = 0; i < count; i++) {
        double rate = schedule->rate[i];
        *needs_all = *needs_all && rate > 0;
        work[i] = mer_work_make(schedule->latency[i], rate, schedule->bandwidth);
    }
    return work;
}

/* What the plain loop cannot do, NULL if nothing. */
static const char *why_not_plain(const MerBandwidthState *state, const Options *chosen,
                                 bool needs_all)
{
    const MerBandwidthRules *rules = &state->input.rules;
    const MerSchedule       *schedule = state->schedule;
    return chosen->loop != 0                        ? "loop=extended"
           : rules->share != MER_SHARE_PROPORTIONAL ? "another way of sharing"
           : rules->dispatch == MER_DISPATCH_POLICY ? "dispatch=policy"
           : rules->switch_cycles > 0               ? "switch_cycles"
           : rules->drops_late                      ? "late=drop"
           : rules->reuses_weights                  ? "weight_reuse"
           : rules->forwards                        ? "forward"
           : schedule->has_dependencies             ? "jobs that wait for others"
           : schedule->has_releases                 ? "releases"
           : schedule->has_deadlines                ? "deadlines"
           : schedule->tenant_count > 1             ? "several tenants"
           : !needs_all                             ? "a job that moves no bytes"
                                                    : NULL;
}

/* The published runtime needs requests, and has arrivals of its own. */
static MerStatus check_xr(const MerProblem *problem, const MerSchedule *schedule,
                          const Options *chosen, MerError *error)
{
    bool is_any = false;
    for (int m = 0; m < schedule->model_count; m++) {
        is_any = is_any || schedule->models[m].fps > 0;
    }
    if (chosen->xr == 1 && !is_any) {
        return mer_error_set(error, MER_INVALID,
                             "xr=compat scores requests, but no model of %s is periodic, expected "
                             "one with fps, or xr=exact",
                             problem->graph->name);
    }
    if (chosen->xr == 1 && schedule->has_other_arrivals) {
        return mer_error_set(error, MER_INVALID,
                             "xr=compat has the arrivals of the published runtime, found others by "
                             "rate, arrivals or jitter_ms, expected none of them, or xr=exact");
    }
    return MER_OK;
}

/* Deadlines are looked for in the whole list: one group of it may have none. */
static const char *find_idle(const MerProblem *problem, const Options *chosen, MerArena *arena)
{
    const MerJobSet *set = mer_job_set(problem->graph);
    bool             has_deadlines = false;
    for (int j = 0; set && j < set->job_count && !has_deadlines; j++) {
        has_deadlines = isfinite(set->jobs[j].deadline_cycles) && isfinite(set->jobs[j].deadline_s);
    }
    bool is_rule_idle =
        chosen->policy != 0 && chosen->dispatch != MER_DISPATCH_POLICY && chosen->xr == 0;
    bool is_drop_idle = chosen->late == 1 && !has_deadlines;
    return is_rule_idle || is_drop_idle
               ? mer_arena_format(
                     arena, "%s%s",
                     is_rule_idle ? "rule has no effect without dispatch=policy\n" : "",
                     is_drop_idle ? "late=drop has no effect: no job has a deadline\n" : "")
               : NULL;
}

static MerStatus open_bandwidth(void *opened, const MerProblem *problem, const void *given,
                                MerArena *arena, MerError *error)
{
    const Options     *chosen = given;
    MerBandwidthState *state = opened;
    const MerSchedule *schedule = mer_schedule_of(problem);
    if (schedule->unit_count > MER_BANDWIDTH_UNITS) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "platform %s has %d cores, expected at most %d",
                             problem->platform->name, schedule->unit_count, MER_BANDWIDTH_UNITS);
    }
    bool needs_all;
    *state = (MerBandwidthState){.schedule = schedule};
    state->input = (MerBandwidthInput){
        .schedule = schedule,
        .work = make_work(schedule, arena, &needs_all),
        .bandwidth = schedule->bandwidth,
        .limit = INFINITY,
        .rules = {(MerShare)chosen->share, (MerDispatch)chosen->dispatch, (MerPolicy)chosen->policy,
                  chosen->switch_cycles, chosen->late == 1 && schedule->has_deadlines,
                  chosen->weight_reuse == 1, chosen->forward == 1},
    };
    const MerBandwidthRules *rules = &state->input.rules;
    MER_TRY(check_xr(problem, schedule, chosen, error));
    state->not_plain = why_not_plain(state, chosen, needs_all);
    state->is_plain = !state->not_plain;
    state->idle = find_idle(problem, chosen, arena);
    state->wants_fast = chosen->precision == 1;
    state->is_fast = state->is_plain && state->wants_fast;
    state->is_powered_all_time = chosen->static_power == 1;
    state->dram_pj_per_byte = chosen->dram_pj_per_byte;
    state->clamps_energy = chosen->xr_energy == 0;
    for (int u = 0; u < schedule->unit_count; u++) {
        state->has_static_power = state->has_static_power || schedule->static_pj_per_cycle[u] > 0;
    }
    for (int j = 0; j < schedule->job_count; j++) {
        state->total_macs += schedule->macs[j];
        state->has_requests = state->has_requests || (schedule->model[j] >= 0 &&
                                                      schedule->models[schedule->model[j]].fps > 0);
    }
    state->alone = mer_bandwidth_alone(state, arena);
    state->is_xr_compat = state->has_requests && chosen->xr == 1;
    state->xr_compat = state->is_xr_compat ? mer_bandwidth_xr_compat(state) : NAN;
    state->bound_rules =
        (MerScheduleRules){rules->share == MER_SHARE_PROPORTIONAL, rules->drops_late,
                           rules->reuses_weights || rules->forwards, rules->switch_cycles,
                           rules->share == MER_SHARE_EVEN};
    return MER_OK;
}

bool mer_bandwidth_simulate(const MerBandwidthState *state, const MerJobsPlan *plan,
                            MerArena *arena, MerBandwidthTimes *times,
                            const MerBandwidthRecorder *recorder, MerBandwidthOutput *output)
{
    int jobs = plan->job_count;
    times->start = MER_ARRAY(arena, double, jobs + 1);
    times->end = MER_ARRAY(arena, double, jobs + 1);
    times->moved = MER_ARRAY(arena, double, jobs + 1);
    times->unit = MER_ARRAY(arena, int, jobs + 1);
    return mer_bandwidth_extended(&state->input, plan, arena, times, recorder, output);
}

double mer_bandwidth_macs(const MerSchedule *schedule, const MerBandwidthTimes *times)
{
    double macs = 0;
    for (int j = 0; j < schedule->job_count; j++) {
        macs += isnan(times->end[j]) ? 0 : schedule->macs[j];
    }
    return macs;
}

/* Sums over the jobs of the plan, each on its unit. */
static void add_table(const MerBandwidthState *state, const MerJobsPlan *plan, double *traffic,
                      double *energy)
{
    const MerSchedule *schedule = state->schedule;
    *traffic = 0;
    *energy = schedule->energy ? 0 : NAN;
    for (int u = 0; u < plan->unit_count; u++) {
        double bytes = 0,
               spent = 0; /* of one unit: short sums, which need not wait for the others */
        for (int i = plan->start[u]; i < plan->start[u + 1]; i++) {
            int at = plan->queue[i] * plan->unit_count + u;
            bytes += schedule->traffic[at];
            spent += schedule->energy ? schedule->energy[at] : 0;
        }
        *traffic += bytes;
        *energy += spent;
    }
}

static void add_times(const MerBandwidthState *state, const MerBandwidthTimes *times,
                      double *traffic, double *energy)
{
    const MerSchedule *schedule = state->schedule;
    *traffic = 0;
    *energy = schedule->energy ? 0 : NAN;
    for (int j = 0; j < schedule->job_count; j++) {
        int unit = times->unit[j];
        if (unit >= 0) {
            *traffic += times->moved[j];
            *energy +=
                schedule->energy ? mer_schedule_job_energy(schedule, j, unit, times->moved[j]) : 0;
        }
    }
}

static void fill_times(const MerBandwidthState *state, double cycles, double macs, MerCost *cost)
{
    cost->value[MER_METRIC_CYCLES] = cycles;
    if (!isnan(state->schedule->clock_hz)) {
        double seconds = cycles / state->schedule->clock_hz;
        cost->value[MER_METRIC_MAKESPAN] = cost->value[MER_METRIC_LATENCY] = seconds;
        cost->value[MER_METRIC_THROUGHPUT] = 2 * macs / seconds;
    }
}

static void fill_common(const MerBandwidthState *state, const MerBandwidthOutput *output,
                        double traffic, double energy, double macs, MerCost *cost)
{
    const MerSchedule *schedule = state->schedule;
    double             cycles = output->cycles;
    double             work = 0;
    for (int u = 0; u < schedule->unit_count; u++) {
        double busy = output->finish[u] - output->idle[u];
        work += busy;
        double powered = state->is_powered_all_time ? cycles : busy;
        energy += state->has_static_power ? schedule->static_pj_per_cycle[u] * powered : 0;
    }
    energy += state->dram_pj_per_byte * traffic;
    fill_times(state, cycles, macs, cost);
    cost->value[MER_METRIC_TRAFFIC_BYTES] = traffic;
    cost->value[MER_METRIC_ENERGY] = energy;
    cost->value[MER_METRIC_EDP] = energy * cycles;
    cost->value[MER_METRIC_UTILISATION] = cycles > 0 ? work / (schedule->unit_count * cycles) : 0;
    cost->value[MER_METRIC_BANDWIDTH_USE] =
        cycles > 0 ? 1 - output->waste / (state->input.bandwidth * cycles) : 0;
    cost->value[MER_METRIC_POWER] = energy * 1e-9 / cost->value[MER_METRIC_MAKESPAN];
}

static void price_plain(const MerBandwidthState *state, const MerJobsPlan *plan,
                        const MerCall *call, MerCost *cost)
{
    MerBandwidthInput  input = state->input;
    MerBandwidthOutput output;
    double             traffic, energy;
    input.limit = call->limit_metric == MER_METRIC_CYCLES ? call->limit : INFINITY;
    bool is_fast = state->is_fast && !call->exact;
    (is_fast ? mer_bandwidth_fast : mer_bandwidth_plain)(&input, plan, call->base, call->snapshot,
                                                         &output);
    cost->cut = output.is_cut;
    if (output.is_cut) {
        /* How far a plan came before it was cut depends on what it was changed from, and a log must not;
         * so it counts as just above the limit. */
        output.cycles = nextafter(input.limit, INFINITY);
    }
    if (is_fast || output.is_cut) {
        fill_times(state, output.cycles, state->total_macs, cost);
    } else {
        add_table(state, plan, &traffic, &energy);
        fill_common(state, &output, traffic, energy, state->total_macs, cost);
    }
    mer_bandwidth_fill_single(state, output.cycles, cost);
}

static void evaluate(const void *opened, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const MerBandwidthState *state = opened;
    const MerSchedule       *schedule = state->schedule;
    const MerJobsPlan       *jobs = mer_jobs_plan(plan);
    mer_cost_clear(cost);
    if (state->is_plain) {
        price_plain(state, jobs, call, cost);
        return;
    }
    MerBandwidthState  limited = *state;
    MerBandwidthTimes  times;
    MerBandwidthOutput output;
    double             traffic, energy;
    limited.input.limit = call->limit_metric == MER_METRIC_CYCLES ? call->limit : INFINITY;
    if (!mer_bandwidth_simulate(&limited, jobs, call->scratch, &times, NULL, &output)) {
        mer_cost_refuse(cost, "deadlock: job %.40s waits for %.40s",
                        times.waiting < 0 ? "?" : schedule->job_names[times.waiting],
                        times.waits_for < 0 ? "?" : schedule->job_names[times.waits_for]);
        return;
    }
    add_times(state, &times, &traffic, &energy);
    fill_common(state, &output, traffic, energy, mer_bandwidth_macs(schedule, &times), cost);
    cost->cut = output.is_cut;
    if (schedule->has_deadlines && !cost->cut) { /* who has not ended yet has not been dropped */
        MerServed *requests;
        int        count = mer_schedule_serve(schedule, times.end, call->scratch, &requests);
        mer_schedule_fill_service(requests, count, schedule->clock_hz, cost);
    }
    if (!cost->cut) {
        mer_bandwidth_fill_tenants(state, &times, call->scratch, cost);
    }
    if (state->has_requests) {
        cost->value[MER_METRIC_XR_SCORE] =
            state->is_xr_compat ? state->xr_compat
                                : mer_bandwidth_xr_score(state, &times, call->scratch);
    }
}

static size_t snapshot_size(const void *opened)
{
    const MerBandwidthState *state = opened;
    return mer_bandwidth_snapshot_size(state->schedule->job_count, state->schedule->unit_count);
}

static uint64_t tables_hash(const void *opened)
{
    const MerBandwidthState *state = opened;
    return state->schedule->table_hash;
}

static bool approximates(const void *opened)
{
    const MerBandwidthState *state = opened;
    return state->is_fast;
}

static const char *warnings(const void *opened, MerMetric objective, MerArena *arena)
{
    const MerBandwidthState *state = opened;
    (void)objective;
    return state->wants_fast && !state->is_fast
               ? mer_arena_format(
                     arena,
                     "%sprecision=fast is for plain schedules, found %s: every plan is "
                     "priced exactly\n",
                     state->idle ? state->idle : "", state->not_plain)
               : state->idle;
}

static const char *ignores_plan(const void *opened, MerMetric objective)
{
    const MerBandwidthState *state = opened;
    return state->input.rules.dispatch == MER_DISPATCH_POLICY        ? "dispatch=policy"
           : state->is_xr_compat && objective == MER_METRIC_XR_SCORE ? "xr=compat"
                                                                     : NULL;
}

static const void *rules_of(const void *opened)
{
    return &((const MerBandwidthState *)opened)->bound_rules;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_jobs, NULL};

#define METRIC(id) (UINT64_C(1) << MER_METRIC_##id)
const MerEvaluatorClass mer_evaluator_bandwidth = {
    .name = "bandwidth",
    .summary = "jobs on cores that share off-chip bandwidth, simulated from event to event",
    .reference =
        "Kao and Krishna, MAGMA: An Optimization Framework for Mapping Multiple DNNs on Multiple "
        "Accelerator Cores, HPCA 2022",
    .plans = plan_kinds,
    .metrics = METRIC(CYCLES) | METRIC(LATENCY) | METRIC(MAKESPAN) | METRIC(THROUGHPUT) |
               METRIC(ENERGY) | METRIC(EDP) | METRIC(POWER) | METRIC(TRAFFIC_BYTES) |
               METRIC(UTILISATION) | METRIC(BANDWIDTH_USE) | METRIC(LATENESS) | METRIC(TARDINESS) |
               METRIC(VIOLATIONS) | METRIC(DROP_RATE) | METRIC(STP) | METRIC(ANTT) | METRIC(JAIN) |
               METRIC(XR_SCORE) | METRIC(WEIGHTED_ANTT) | METRIC(MISS_RATE),
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(MerBandwidthState),
    .checks_plans = true,
    .open = open_bandwidth,
    .evaluate = evaluate,
    .snapshot_size = snapshot_size,
    .detail = mer_bandwidth_detail,
    .print = mer_bandwidth_print,
    .tables_hash = tables_hash,
    .approximates = approximates,
    .warnings = warnings,
    .ignores_plan = ignores_plan,
    .rules = rules_of,
};
