/* Evaluator `vta`: the time of the layer's instruction stream on the core of the plan, and its energy where the
 * platform has constants (docs/codesign-model.md). */
#include "base/option_rows.h"
#include "codesign/codesign.h"
#include "codesign/cost/timing.h"
#include "codesign/cost/vta_views.h"

#include <math.h>

typedef struct Options {
    int     uops, over;
    double  max_power_mw, max_energy_mj;
    int64_t measure_runs;
    double  measure_s, fail_s;
} Options;

enum { OVER_REFUSE, OVER_PENALTY };

static const MerOption options[] = {
    MER_CHOICE(uops, "single", "single|exact",
               "loads of micro-ops that are priced: one at the start, as the constants were "
               "fitted, or every one"),
    MER_REAL(max_power_mw, "0", 0, 1e9, "most mean power of a layer in mW; 0: no limit"),
    MER_REAL(max_energy_mj, "0", 0, 1e9, "most energy of a layer in mJ; 0: no limit"),
    MER_CHOICE(over, "refuse", "refuse|penalty",
               "plans over a limit: refused, or their time counts as many times as they exceed it"),
    MER_REAL(measure_s, "5", 0, 1e6,
             "time on a board: seconds of a measurement beside the runs of the layer"),
    MER_INT(measure_runs, "12", 0, 1e6, "time on a board: runs of the layer in a measurement"),
    MER_REAL(fail_s, "1", 0, 1e6, "time on a board: seconds of a measurement that is refused"),
    {0}};

typedef struct Energy { /* pJ; all 0: unknown */
    double mac, alu, sram_byte, dram_byte, static_mw;
} Energy;

typedef struct State {
    MerVtaTiming           timing; /* first: the rules that bounds know */
    const MerCodesignTask *task;
    double                 macs;
    Energy                 energy;
    bool                   has_energy;
    Options                options;
} State;

static MerStatus open_vta(void *state, const MerProblem *problem, const void *chosen,
                          MerArena *arena, MerError *error)
{
    State             *s = state;
    const Options     *o = chosen;
    const MerPlatform *platform = problem->platform;
    (void)arena;
    mer_vta_timing_of(platform, &s->timing);
    s->timing.is_exact = o->uops == 1;
    s->task = mer_codesign_task(problem);
    s->macs = s->task->macs;
    s->options = *o;
    s->has_energy = platform->energy.name != NULL;
    s->energy = (Energy){mer_formula_number(&platform->energy, "mac_pj", 0),
                         mer_formula_number(&platform->energy, "alu_pj", 0),
                         mer_formula_number(&platform->energy, "sram_pj_per_byte", 0),
                         mer_formula_number(&platform->energy, "dram_pj_per_byte", 0),
                         mer_formula_number(&platform->energy, "static_mw", 0)};
    if ((o->max_power_mw > 0 || o->max_energy_mj > 0) && !s->has_energy) {
        return mer_error_set(error, MER_INVALID,
                             "platform %s has no `energy`, so %s says nothing; vta-energy has some",
                             platform->name,
                             o->max_power_mw > 0 ? "max_power_mw" : "max_energy_mj");
    }
    if (isnan(platform->clock_hz)) {
        return mer_error_set(error, MER_INVALID, "platform %s has no clock_hz", platform->name);
    }
    return MER_OK;
}

/* Products read an input and a weight entry and update an accumulator; the ALU updates one; what moves over the bus
 * passes an SRAM once. */
static double energy_of(const State *s, const MerVtaTask *vta, const MerVtaCounters *c,
                        double seconds)
{
    const MerVtaCore *core = &vta->core;
    double            bus = (double)c->store, lanes = (double)core->batch * core->block_out;
    for (int m = 0; m < MER_VTA_MEMORY_COUNT; m++) {
        bus += (double)c->load[m];
    }
    double sram = bus +
                  (double)c->gemm * (core->element[MER_VTA_INP] + core->element[MER_VTA_WGT] +
                                     2.0 * core->element[MER_VTA_ACC]) +
                  (double)c->alu * 2.0 * core->element[MER_VTA_ACC];
    return s->energy.mac * (double)c->gemm * (double)mer_vta_core_macs(core) +
           s->energy.alu * (double)c->alu * lanes + s->energy.sram_byte * sram +
           s->energy.dram_byte * bus + s->energy.static_mw * seconds * 1e9;
}

static void fill_cost(const State *s, const MerVtaTask *vta, const MerVtaSchedule *schedule,
                      const MerVtaTime *time, MerCost *cost)
{
    MerVtaCounters counters;
    double         repeat = (double)vta->shape.repeat, traffic = 0;
    double         seconds = mer_vta_seconds(&s->timing, time);
    mer_vta_count(vta, schedule, &counters);
    for (int m = 0; m < MER_VTA_MEMORY_COUNT; m++) {
        traffic += (double)counters.load[m];
    }
    double *v = cost->value;
    v[MER_METRIC_CYCLES] = repeat * (double)time->ticks / MER_VTA_TICKS;
    v[MER_METRIC_LATENCY] = repeat * seconds;
    v[MER_METRIC_THROUGHPUT] = 2 * s->macs / v[MER_METRIC_LATENCY];
    v[MER_METRIC_TRAFFIC_BYTES] = repeat * (traffic + (double)counters.store);
    v[MER_METRIC_MAC_UNITS] = (double)mer_vta_core_macs(&vta->core);
    v[MER_METRIC_SRAM_BYTES] = (double)mer_vta_core_bytes(&vta->core);
    v[MER_METRIC_UTILISATION] = s->macs / (v[MER_METRIC_MAC_UNITS] * v[MER_METRIC_CYCLES]);
    if (s->has_energy) {
        v[MER_METRIC_ENERGY] = repeat * energy_of(s, vta, &counters, seconds);
        v[MER_METRIC_EDP] = v[MER_METRIC_ENERGY] * v[MER_METRIC_CYCLES];
        v[MER_METRIC_POWER] = v[MER_METRIC_ENERGY] * 1e-9 / v[MER_METRIC_LATENCY];
    }
}

typedef struct Limit {
    double      most, found; /* most 0: none */
    const char *what, *unit;
} Limit;

/* Limits on power and energy of a layer; under `over=penalty` the worst excess makes the time longer. */
static void apply_limits(const State *s, MerCost *cost)
{
    double     *v = cost->value, excess = 1;
    const Limit limits[] = {
        {s->options.max_power_mw, v[MER_METRIC_POWER], "mean power", "mW"},
        {s->options.max_energy_mj, v[MER_METRIC_ENERGY] * 1e-9, "energy", "mJ"}};
    for (int i = 0; i < 2; i++) {
        const Limit *limit = &limits[i];
        if (limit->most <= 0 || limit->found <= limit->most) {
            continue;
        }
        if (s->options.over == OVER_REFUSE) {
            mer_cost_clear(cost);
            mer_cost_refuse(cost, "limit: %s is %.4g %s, at most %.4g", limit->what, limit->found,
                            limit->unit, limit->most);
            return;
        }
        excess = fmax(excess, limit->found / limit->most);
    }
    v[MER_METRIC_CYCLES] *= excess;
    v[MER_METRIC_LATENCY] *= excess;
    v[MER_METRIC_EDP] *= excess;
    v[MER_METRIC_THROUGHPUT] /= excess;
    v[MER_METRIC_UTILISATION] /= excess;
}

static void evaluate(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State      *s = state;
    const MerVtaPlan *p = plan->content;
    MerVtaTask        vta;
    MerVtaTime        time;
    MerVtaReason      reason;
    bool              is_time = call->limit_metric == MER_METRIC_LATENCY;
    mer_cost_clear(cost);
    mer_codesign_vta_task(s->task, &p->core, &vta);
    if (!mer_codesign_core_check(s->task, &p->core, &reason) ||
        !mer_vta_check(&vta.core, &vta.shape, &p->schedule, &vta.rules, &reason)) {
        mer_cost_refuse(cost, "%s", reason.text);
        mer_spend(call->notes, MER_SPENT_SIMULATED_S, s->options.fail_s);
        return;
    }
    double limit = is_time ? call->limit / (double)vta.shape.repeat : INFINITY;
    cost->cut = !mer_vta_price(&vta, &p->schedule, &s->timing, limit, &time);
    fill_cost(s, &vta, &p->schedule, &time, cost);
    mer_spend(call->notes, MER_SPENT_SIMULATED_S,
              s->options.measure_s +
                  (double)s->options.measure_runs * cost->value[MER_METRIC_LATENCY]);
    if (!cost->cut) {
        apply_limits(s, cost);
    }
}

static const void *rules_of(const void *state)
{
    return &((const State *)state)->timing;
}

static uint64_t zeros(const void *state, const char **why)
{
    const State *s = state;
    *why = "the platform has no energies";
    return s->has_energy ? 0 : UINT64_C(1) << MER_METRIC_ENERGY | UINT64_C(1) << MER_METRIC_EDP;
}

static void detail(const void *state, const MerPlan *plan, MerNotes *notes)
{
    const State      *s = state;
    const MerVtaPlan *p = plan->content;
    MerVtaTask        vta;
    mer_codesign_vta_task(s->task, &p->core, &vta);
    mer_vta_show(&vta, &p->schedule, &s->timing, s->macs, notes);
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_vta, NULL};
#define BIT(metric) (UINT64_C(1) << MER_METRIC_##metric)

const MerEvaluatorClass mer_evaluator_vta = {
    .name = "vta",
    .summary =
        "instruction streams of a VTA-class core: load, compute and store stages with tokens",
    .reference = "Moreau et al., arXiv 1807.04188; timing fitted to PYNQ boards",
    .plans = plan_kinds,
    .metrics = BIT(CYCLES) | BIT(LATENCY) | BIT(THROUGHPUT) | BIT(ENERGY) | BIT(EDP) | BIT(POWER) |
               BIT(TRAFFIC_BYTES) | BIT(MAC_UNITS) | BIT(SRAM_BYTES) | BIT(UTILISATION),
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .checks_plans = true,
    .open = open_vta,
    .evaluate = evaluate,
    .detail = detail,
    .rules = rules_of,
    .zeros = zeros,
};
