/* Evaluator `cluster`: one run of a graph on units that work side by side, results between them over links, memory over time, as a
 * simulation from event to event (docs/placement.md, "cluster"). Preset `placeto` is the published simulator of Addanki et al.
 * (NeurIPS 2019). */
#include "place/cost/cluster.h"

#include "base/option_rows.h"

#include <string.h>

typedef MerClusterOptions Options;

static const MerOption options[] = {
    MER_CHOICE(preset, "none", "none|placeto",
               "placeto: the rules of Placeto's simulator with its constants, instead of the "
               "platform's links"),
    MER_CHOICE(
        link_model, "pair", "pair|bus|path|both_ends",
        "a queue per directed link or bus; one outgoing bus per unit, which reaches all readers at "
        "once; link after link in parts; one line per unit for all that it sends and receives"),
    MER_BOOL(overlap, "true", "a unit computes while it sends and receives"),
    MER_REAL(segment_bytes, "16777216", 1, 1e18, "link_model=path: size of the parts of a result"),
    MER_INT(max_segments, "8", 1, 1000, "link_model=path: parts of a result at most"),
    MER_CHOICE(tie_order, "name", "name|numeric|topological",
               "preset=placeto: what is done first of what happens at the same time"),
    MER_BOOL(
        limits, "true",
        "false: memory limits and groups that share a unit do not matter, as in published runs"),
    MER_BOOL(price_infeasible, "false", "give the value of placements that are refused, too"),
    MER_REAL(noise, "0", 0, 10, "standard deviation of the logarithm of what the search is told"),
    MER_INT(noise_seed, "1", 0, 9e15, "of that noise"),
    {0}};

static void describe_units(MerCluster *cluster, MerArena *arena)
{
    const MerPlace *place = cluster->place;
    int             units = place->unit_count;
    int            *streams = MER_ARRAY(arena, int, units);
    int            *start = MER_ARRAY(arena, int, units + 1);
    double         *gap = MER_ARRAY(arena, double, units), least = INFINITY;
    for (int u = 0; u < units; u++) {
        const MerUnit *unit = &place->platform->units[u];
        streams[u] = unit->streams > 1 ? unit->streams : 1;
        start[u + 1] = start[u] + streams[u];
        gap[u] = unit->gap_us;
        least = fmin(least, gap[u]);
    }
    cluster->streams = streams;
    cluster->stream_start = start;
    cluster->gap_us = gap;
    cluster->rules.gap_us = least;
}

static void describe_operators(MerCluster *cluster, MerArena *arena)
{
    const MerPlace *place = cluster->place;
    int             count = place->op_count;
    int            *leader = MER_ARRAY(arena, int, count);
    for (int o = 0; o < count; o++) {
        leader[o] = place->members[place->member_start[place->group[o]]];
    }
    cluster->leader = leader;
}

/* What follows an operator at least, with every operator where it is fastest. A little less, since sums in another order may
 * differ in their last digits. */
static const double *find_tails(const MerPlace *place, MerArena *arena)
{
    double *tail = MER_ARRAY(arena, double, place->op_count);
    for (int o = place->op_count - 1; o >= 0; o--) {
        double least = INFINITY, after = 0;
        for (int u = 0; u < place->unit_count; u++) {
            least = fmin(least, place->time_us[(size_t)o * (size_t)place->unit_count + (size_t)u]);
        }
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            after = fmax(after, tail[place->after[i]]);
        }
        tail[o] = least + after;
    }
    for (int o = 0; o < place->op_count; o++) {
        tail[o] *= 1 - 1e-12;
    }
    return tail;
}

static MerStatus check_links(const MerPlace *place, MerError *error)
{
    return place->unit_count == 1 || place->platform->link_count > 0
               ? MER_OK
               : mer_error_set(
                     error, MER_INVALID,
                     "evaluator cluster needs links between the units, but platform %s "
                     "has none, expected links: [{from: \"gpu*\", to: \"gpu*\", bytes_per_s: "
                     "16G}] in it, or evaluator preset=placeto",
                     place->platform->name);
}

static MerStatus check_replicas(const MerPlace *place, MerError *error)
{
    return !place->has_replicas
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "evaluator cluster runs every operator once, expected "
                               "replication=false");
}

static MerStatus check_decisions(const MerPlace *place, MerError *error)
{
    return !place->decides_order && !place->decides_fusion
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "preset=placeto runs operators as they become ready and one by "
                               "one, expected decide=place");
}

MerStatus mer_cluster_open(MerCluster *cluster, const MerPlace *place,
                           const MerClusterOptions *chosen, MerArena *arena, MerError *error)
{
    bool is_placeto = chosen->preset == 1;
    *cluster = (MerCluster){.place = place,
                            .options = *chosen,
                            .has_rules = true,
                            .rules = {.form = MER_PLACE_CLUSTER,
                                      .ignores_limits = !chosen->limits,
                                      .max_calls = 1,
                                      .bytes_per_us = INFINITY,
                                      .fuses = place->decides_fusion}};
    MER_TRY(check_replicas(place, error));
    describe_units(cluster, arena);
    describe_operators(cluster, arena);
    if (is_placeto) {
        MER_TRY(check_decisions(place, error));
        cluster->placeto = mer_placeto_open(place, (MerTieOrder)chosen->tie_order, arena);
        cluster->has_rules = mer_placeto_is_exact(cluster->placeto);
        cluster->rules.gap_us = 0;
        cluster->channel_count = place->unit_count;
        cluster->channel_names = place->unit_names;
        return MER_OK;
    }
    MER_TRY(check_links(place, error));
    mer_cluster_find_ways(cluster, arena);
    cluster->fusion = mer_fusion_open(place, arena);
    cluster->tail_us = place->decides_fusion ? NULL : find_tails(place, arena);
    mer_cluster_prepare_plain(cluster, arena);
    return MER_OK;
}

static MerStatus open_cluster(void *opened, const MerProblem *problem, const void *given,
                              MerArena *arena, MerError *error)
{
    const MerPlace *place = mer_place_of(problem);
    if (!place) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "evaluator cluster prices plans of problem place, not of %s",
                             problem->type->name);
    }
    MER_TRY(mer_cluster_open(opened, place, given, arena, error));
    ((MerCluster *)opened)->pricer =
        (MerPlacePricer){problem, {&mer_evaluator_cluster, opened, given}, MER_METRIC_MAKESPAN};
    return MER_OK;
}

/* Is there something to refuse? What it is, mer_place_check finds out. */
static bool is_suspect(const MerCluster *cluster, const MerGraphPlan *plan)
{
    const MerPlace *place = cluster->place;
    bool            is_bad = false, has_groups = cluster->options.limits;
    for (int o = 0; o < plan->op_count; o++) {
        int unit = plan->unit[o];
        is_bad |= place->time_us[(size_t)o * (size_t)place->unit_count + (size_t)unit] == INFINITY;
        is_bad |= has_groups && unit != plan->unit[cluster->leader[o]];
    }
    return is_bad;
}

/* The unit that lacks most, by its factor. */
static bool check_peaks(const MerPlace *place, const MerClusterOutcome *outcome, MerCost *cost)
{
    enum { GIB = 1 << 30 };
    int worst = -1;
    for (int u = 0; u < place->unit_count; u++) {
        bool is_over = outcome->peak[u] > place->limit[u];
        if (is_over && (worst < 0 || outcome->peak[u] * place->limit[worst] >
                                         outcome->peak[worst] * place->limit[u])) {
            worst = u;
        }
    }
    if (worst < 0) {
        return true;
    }
    double need = outcome->peak[worst], has = place->limit[worst];
    bool   is_small = need - has < 0.1 * GIB; /* where the short form would show no difference */
    int    op = outcome->peak_op[worst];
    const char *name = op < 0 ? "weights" : place->names[op];
    mer_cost_refuse(cost,
                    is_small ? "memory: %.30s needs %.0f bytes, has %.0f (%s%.40s)"
                             : "memory: %.30s needs %.1f GiB, has %.1f GiB (%s%.40s)",
                    place->unit_names[worst], is_small ? need : need / GIB,
                    is_small ? has : has / GIB, op < 0 ? "" : "op ", name);
    return false;
}

static void simulate(const MerCluster *cluster, const MerGraphPlan *plan, double limit_us,
                     MerArena *scratch, MerClusterRecord *record, MerClusterOutcome *outcome,
                     MerCost *cost)
{
    MerKernels kernels;
    if (cluster->placeto) {
        mer_placeto_run(cluster, plan, scratch, record, outcome);
    } else if (!mer_cluster_kernels(cluster, plan, scratch, &kernels, cost)) {
        *outcome = (MerClusterOutcome){.end = MER_CLUSTER_REFUSED};
    } else if (cluster->plain_ops && !kernels.kernel && !kernels.priority && !record) {
        mer_cluster_run_plain(cluster, plan, limit_us, scratch, outcome);
    } else {
        mer_cluster_run(cluster, plan, &kernels, limit_us, scratch, record, outcome);
    }
}

static void fill(const MerCluster *cluster, const MerClusterOutcome *outcome, double factor,
                 MerCost *cost)
{
    const MerPlace *place = cluster->place;
    double          peak = 0, makespan = outcome->makespan_us;
    for (int u = 0; u < place->unit_count; u++) {
        peak = fmax(peak, outcome->peak[u]);
    }
    cost->value[MER_METRIC_MAKESPAN] = cost->value[MER_METRIC_LATENCY] = 1e-6 * makespan * factor;
    cost->value[MER_METRIC_PEAK_BYTES] = peak;
    cost->value[MER_METRIC_UTILISATION] =
        makespan > 0 ? outcome->busy_us / (makespan * place->unit_count) : 1;
}

/* A little above the limit that was given, since it went through a conversion. */
static double limit_of(const MerCluster *cluster, const MerCall *call)
{
    bool is_known =
        call->limit_metric == MER_METRIC_MAKESPAN || call->limit_metric == MER_METRIC_LATENCY;
    bool is_noisy = cluster->options.noise > 0 && !call->exact;
    return is_known && !is_noisy ? call->limit * 1e6 * (1 + 1e-12) : INFINITY;
}

static bool is_refused(const MerCluster *cluster, const MerClusterOutcome *outcome, MerCost *cost)
{
    const MerPlace *place = cluster->place;
    switch (outcome->end) {
    case MER_CLUSTER_NO_WAY:
        mer_cost_refuse(cost, "unsupported: no links lead the result of %.50s to %.30s",
                        place->names[outcome->op], place->unit_names[outcome->to]);
        return true;
    case MER_CLUSTER_CYCLE:
        mer_cost_refuse(cost, "acyclic: clusters wait for each other, one is that of %.50s",
                        place->names[outcome->op]);
        return true;
    default:
        return outcome->end == MER_CLUSTER_REFUSED;
    }
}

static void evaluate(const void *opened, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const MerCluster   *cluster = opened;
    const MerGraphPlan *graph = mer_graph_plan(plan);
    MerClusterOutcome   outcome;
    bool                prices_all = cluster->options.price_infeasible;
    mer_cost_clear(cost);
    if (is_suspect(cluster, graph) && !mer_place_check(cluster->place, graph, cost) &&
        !prices_all) {
        return;
    }
    simulate(cluster, graph, limit_of(cluster, call), call->scratch, NULL, &outcome, cost);
    if (is_refused(cluster, &outcome, cost)) {
        return;
    }
    if (outcome.end == MER_CLUSTER_CUT) {
        /* just above the limit, however far it came */
        cost->value[MER_METRIC_MAKESPAN] = cost->value[MER_METRIC_LATENCY] =
            nextafter(call->limit, INFINITY);
        cost->cut = true;
        return;
    }
    if (cluster->options.limits && cost->feasible && !check_peaks(cluster->place, &outcome, cost) &&
        !prices_all) {
        return;
    }
    double factor =
        cluster->options.noise > 0 && !call->exact
            ? mer_place_noise(mer_plan_hash(plan), (uint64_t)cluster->options.noise_seed,
                              cluster->options.noise)
            : 1;
    fill(cluster, &outcome, factor, cost);
}

bool mer_cluster_play(const MerCluster *cluster, const MerPlan *plan, MerClusterRecord *record,
                      MerClusterOutcome *outcome)
{
    size_t  count = (size_t)cluster->place->op_count;
    double *times = MER_ARRAY(record->arena, double, 3 * count);
    MerCost ignored;
    mer_cost_clear(&ignored);
    record->ready_us = times;
    record->start_us = times + count;
    record->end_us = times + 2 * count;
    record->stream = MER_ARRAY(record->arena, int, count);
    record->transfer_count = record->step_count = 0;
    simulate(cluster, mer_graph_plan(plan), INFINITY, record->arena, record, outcome, &ignored);
    return outcome->end == MER_CLUSTER_DONE;
}

static bool approximates(const void *opened)
{
    return ((const MerCluster *)opened)->options.noise > 0;
}

static const void *rules(const void *opened)
{
    const MerCluster *cluster = opened;
    return cluster->has_rules ? &cluster->rules : NULL;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_graph, NULL};

const MerEvaluatorClass mer_evaluator_cluster = {
    .name = "cluster",
    .summary = "one run on units and links, from event to event, with memory over time",
    .reference = "Addanki et al., NeurIPS 2019; Jia et al., MLSys 2019; Jeon et al., SoCC 2020",
    .plans = plan_kinds,
    .metrics = UINT64_C(1) << MER_METRIC_MAKESPAN | UINT64_C(1) << MER_METRIC_LATENCY |
               UINT64_C(1) << MER_METRIC_PEAK_BYTES | UINT64_C(1) << MER_METRIC_UTILISATION,
    .options = options,
    .options_size = sizeof(MerClusterOptions),
    .state_size = sizeof(MerCluster),
    .checks_plans = true,
    .open = open_cluster,
    .evaluate = evaluate,
    .detail = mer_cluster_detail,
    .print = mer_cluster_print,
    .rules = rules,
    .approximates = approximates,
};
