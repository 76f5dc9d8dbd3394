/* Evaluator `loopnest`: prices a loop nest in closed form (docs/loopnest-model.md, after Timeloop, ISPASS
 * 2019). The arithmetic is in loopnest_model.c and loopnest_traffic.c; this file is the plug-in. */
#include "map/cost/loopnest.h"

#include "base/option_rows.h"
#include "map/cost/map_views.h"
#include "map/map.h"
#include "mercator/json.h"

#include <math.h>

typedef struct Options {
    int  halo, axes;
    bool ramp;
} Options;

static const MerOption options[] = {
    MER_CHOICE(halo, "shared", "shared|timeloop",
               "rows that neighbouring children share: counted once, or as Timeloop counts them"),
    MER_CHOICE(axes, "shared", "shared|exclusive",
               "whether one dimension may be spread over both axes of a fan-out"),
    MER_BOOL(ramp, "false", "add the time of the first fill of every level"),
    {0}};

static MerStatus open_loopnest(void *state, const MerProblem *problem, const void *given,
                               MerArena *arena, MerError *error)
{
    (void)arena;
    const Options *chosen = given;
    MerNestModel  *model = state;
    const MerOp   *op = &problem->graph->ops[problem->task->op];
    MerStatus      status = mer_nest_model_make(op, problem->platform, model, error);
    model->halo = (MerHalo)chosen->halo;
    model->exclusive_axes = chosen->axes == 1;
    model->ramp = chosen->ramp;
    const MerNestSpace *space = problem->state ? mer_map_nest_space(problem) : NULL;
    model->constraints = space && space->is_constrained ? space->constraints : NULL;
    return status;
}

/* What a level holds of the first `tensors`. */
static double kept_words(const MerNestPlan *plan, const MerNestLoops *loops, int l, int tensors)
{
    double words = 0;
    for (int t = 0; t < tensors; t++) {
        bool is_kept = plan->levels[l].keep >> t & 1;
        words += is_kept ? loops->footprint[l][t] : 0;
    }
    return words;
}

/* Before the first MAC every level's first tile has to arrive, one level after the other. */
static double ramp_cycles(const MerNestModel *model, const MerNestPlan *plan,
                          const MerNestLoops *loops)
{
    double cycles = 0;
    for (int l = 0; l + 1 < model->level_count; l++) {
        cycles += kept_words(plan, loops, l, MER_TENSOR_O) / model->memories[l].write_rate;
    }
    return cycles;
}

/* `words`: to and from the outermost memory. */
static void fill_metrics(const MerNestModel *model, double words, double cycles, double energy,
                         MerCost *cost)
{
    int    outermost = model->level_count - 1;
    double rate = model->memories[outermost].read_rate + model->memories[outermost].write_rate;
    cycles *= model->repeat;
    energy *= model->repeat;
    double macs = model->shape.macs * model->repeat;
    mer_map_fill_costs(cycles, energy, macs, model->peak_macs, model->clock_hz, cost);
    cost->value[MER_METRIC_TRAFFIC_BYTES] = words * model->repeat * model->word_bytes;
    cost->value[MER_METRIC_BANDWIDTH_USE] =
        isfinite(rate) ? words * model->repeat / (cycles * rate) : 0;
    if (!isnan(model->clock_hz)) {
        cost->value[MER_METRIC_POWER] = energy * 1e-9 * model->clock_hz / cycles;
    }
}

static bool obeys(const MerNestModel *model, const MerNestPlan *plan, MerCost *cost)
{
    char reason[100];
    bool is_allowed =
        mer_nest_allows(model->constraints, plan, &model->shape, reason, sizeof reason);
    if (!is_allowed) {
        mer_cost_refuse(cost, "constraint: %s", reason);
    }
    return is_allowed;
}

static void evaluate(const void *state, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    (void)call;
    const MerNestModel *model = state;
    const MerNestPlan  *nest = mer_nest_plan(plan);
    MerNestLoops        loops;
    MerNestAccess       access;
    double              cycles, energy;
    mer_cost_clear(cost);
    if (model->constraints && !obeys(model, nest, cost)) {
        return;
    }
    mer_nest_unfold_tiles(model, nest, &loops);
    if (!mer_nest_fits(model, nest, &loops, cost)) {
        return;
    }
    mer_nest_unfold_loops(model, nest, &loops);
    mer_nest_count(model, nest, &loops, &access);
    mer_nest_price(model, &loops, &access, &cycles, &energy, NULL);
    if (model->ramp) {
        cycles += ramp_cycles(model, nest, &loops);
    }
    fill_metrics(model, access.network[model->level_count - 1], cycles, energy, cost);
}

static void evaluate_batch(const void *state, const MerPlan *plans, int count, const MerCall *calls,
                           MerCost *costs)
{
    const MerNestModel *model = state;
    for (int first = 0; first < count; first += MER_NEST_LANES) {
        const MerNestPlan *nests[MER_NEST_LANES];
        MerNestFigures     figures;
        int                used = count - first < MER_NEST_LANES ? count - first : MER_NEST_LANES;
        for (int i = 0; i < MER_NEST_LANES; i++) {
            nests[i] = mer_nest_plan(&plans[first + (i < used ? i : 0)]);
        }
        mer_nest_price_lanes(model, nests, 512, &figures);
        for (int i = 0; i < used; i++) {
            MerCost *cost = &costs[first + i];
            if (figures.is_priced[i]) {
                mer_cost_clear(cost);
                fill_metrics(model, figures.words[i], figures.cycles[i], figures.energy[i], cost);
            } else {
                evaluate(state, &plans[first + i], &calls[first + i], cost);
            }
        }
    }
}

/* One level over all repeats of the loops. */
static MerLevelUse use_level(const MerNestModel *model, const MerNestPlan *plan,
                             const MerNestLoops *loops, const MerNestAccess *access, int l,
                             double cycles)
{
    const MerNestMemory *memory = &model->memories[l];
    double               read = 0;
    MerLevelUse          use = {.name = memory->name,
                                .network_pj = access->network[l] * memory->fanout_pj * model->repeat,
                                .used_words = kept_words(plan, loops, l, MER_TENSOR_COUNT),
                                .capacity_words = memory->words};
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        double *counts = use.accesses[t];
        counts[0] = access->reads[l][t] * model->repeat;
        counts[1] = access->fills[l][t] * model->repeat;
        counts[2] = access->updates[l][t] * model->repeat;
        read += access->reads[l][t];
        use.energy_pj[t] = counts[0] * memory->read_pj + counts[1] * memory->write_pj +
                           counts[2] * memory->update_pj;
    }
    use.bandwidth_use = isfinite(memory->read_rate)
                            ? read / (loops->instances[l + 1] * memory->read_rate * cycles)
                            : 0;
    return use;
}

static void write_level(const MerLevelUse *use, double instances, MerJson *json)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "name", use->name);
    mer_json_object(json, "tensors");
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        mer_json_object(json, (char[]){MER_TENSOR_LETTERS[t], '\0'});
        mer_json_real(json, "reads", use->accesses[t][0]);
        mer_json_real(json, "fills", use->accesses[t][1]);
        mer_json_real(json, "updates", use->accesses[t][2]);
        mer_json_real(json, "energy", use->energy_pj[t]);
        mer_json_end_object(json);
    }
    mer_json_end_object(json);
    mer_json_real(json, "network_energy", use->network_pj);
    mer_json_real(json, "occupancy_words", use->used_words);
    mer_json_real(json, "capacity_words", use->capacity_words);
    mer_json_real(json, "instances", instances);
    mer_json_real(json, "bandwidth_use", use->bandwidth_use);
    mer_json_end_object(json);
}

/* Reads and writes of the outermost memory go on side by side: those that take longer count. */
static void use_outermost(const MerNestModel *model, const MerNestAccess *access, MerLayerUse *use)
{
    int                  l = model->level_count - 1;
    const MerNestMemory *memory = &model->memories[l];
    double               reads = 0, writes = 0;
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        reads += access->reads[l][t];
        writes += access->fills[l][t] + access->updates[l][t];
    }
    if (isfinite(memory->read_rate)) {
        double words = fmax(reads, writes * memory->read_rate / memory->write_rate);
        use->outer_bytes = words * model->repeat * model->word_bytes;
        use->outer_rate = memory->read_rate * model->word_bytes;
    }
}

static void detail(const void *state, const MerPlan *plan, MerNotes *notes)
{
    const MerNestModel *model = state;
    const MerNestPlan  *nest = mer_nest_plan(plan);
    MerNestLoops        loops;
    MerNestAccess       access;
    double              cycles, energy;
    MerLevelUse         levels[MER_NEST_MAX_LEVELS];
    const char         *memories[MER_NEST_MAX_LEVELS];
    MerLayerUse         use = {.levels = levels,
                               .level_count = model->level_count,
                               .accesses = {"reads", "fills", "updates"},
                               .mac_pj = model->shape.macs * model->mac_pj * model->repeat,
                               .binding = "compute",
                               .macs = model->shape.macs * model->repeat,
                               .peak_macs = model->peak_macs};
    MerJson             json = {0};
    mer_nest_unfold_tiles(model, nest, &loops);
    mer_nest_unfold_loops(model, nest, &loops);
    mer_nest_count(model, nest, &loops, &access);
    mer_nest_price(model, &loops, &access, &cycles, &energy, &use.binding);
    use.cycles = (cycles + (model->ramp ? ramp_cycles(model, nest, &loops) : 0)) * model->repeat;
    use_outermost(model, &access, &use);
    mer_json_object(&json, NULL);
    mer_json_array(&json, "levels");
    for (int i = 0; i < model->level_count; i++) {
        int l = model->level_count - 1 - i;
        memories[l] = model->memories[l].name;
        levels[i] = use_level(model, nest, &loops, &access, l, cycles);
        write_level(&levels[i], loops.instances[l + 1], &json);
    }
    mer_json_end_array(&json);
    mer_json_real(&json, "mac_energy", use.mac_pj);
    mer_json_text(&json, "binding", use.binding);
    mer_json_end_object(&json);
    mer_note(notes, "breakdown", json.text);
    mer_json_free(&json);
    mer_map_view_nest(nest, memories, notes);
    mer_map_view_use(&use, notes);
}

#define METRIC(id) (UINT64_C(1) << MER_METRIC_##id)
static uint64_t zeros(const void *state, const char **why)
{
    const MerNestModel *model = state;
    bool                has_energy = model->mac_pj > 0;
    for (int l = 0; l < model->level_count; l++) {
        const MerNestMemory *memory = &model->memories[l];
        has_energy = has_energy || memory->read_pj > 0 || memory->write_pj > 0 ||
                     memory->update_pj > 0 || memory->fanout_pj > 0;
    }
    *why = "the platform has no energies (mac_pj, access_pj)";
    return has_energy ? 0 : METRIC(ENERGY) | METRIC(EDP) | METRIC(POWER);
}

/* What of the platform this model leaves out. */
static const char *warnings(const void *state, MerMetric objective, MerArena *arena)
{
    const MerNestModel *model = state;
    (void)objective;
    return model->unused[0] ? mer_arena_format(arena, "loopnest does not use %s\n", model->unused)
                            : NULL;
}

static const void *rules(const void *state)
{
    (void)state;
    return mer_map_rules;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_nest, NULL};

const MerEvaluatorClass mer_evaluator_loopnest = {
    .name = "loopnest",
    .summary = "closed-form loop-nest model: accesses, energy and bandwidth-limited cycles",
    .reference = "Parashar et al., Timeloop, ISPASS 2019",
    .plans = plan_kinds,
    .metrics = METRIC(CYCLES) | METRIC(LATENCY) | METRIC(THROUGHPUT) | METRIC(ENERGY) |
               METRIC(EDP) | METRIC(POWER) | METRIC(TRAFFIC_BYTES) | METRIC(UTILISATION) |
               METRIC(BANDWIDTH_USE),
    .clocked = METRIC(LATENCY) | METRIC(THROUGHPUT) | METRIC(POWER),
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(MerNestModel),
    .checks_plans = true,
    .open = open_loopnest,
    .evaluate = evaluate,
    .evaluate_batch = evaluate_batch,
    .detail = detail,
    .rules = rules,
    .zeros = zeros,
    .warnings = warnings,
};
