/* Evaluator `datacentric`: prices a mapping given as data-centric directives (MAESTRO, Kwon et al.,
 * MICRO 2019). `mode=compat` gives MAESTRO's numbers, also where they are wrong; `mode=strict`
 * refuses mappings that do not do all of the layer's work or overflow a buffer, and prices energy
 * with the platform's accesses (L2, L1 and MACs). DRAM and the network have no energy here. */
#include "base/option_rows.h"
#include "layer/datacentric_plan.h"
#include "map/cost/map_views.h"
#include "map/directives/directives.h"
#include "map/map.h"
#include "mercator/evaluator.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STRICT, COMPAT };

typedef struct Options {
    int     mode;
    int64_t num_pes, noc_bw, noc_hops, noc_hop_latency, offchip_bw, simd_lanes, l1_size, l2_size;
    double  l1_energy, l2_energy, mac_pj;
    bool    every_level, exact_strides;
} Options;

/* MAESTRO's own name of an option. */
#define ALIAS(name, field) MER_INT_AT(name, field, NULL, 0, INT32_MAX, NULL)
static const MerOption options[] = {
    MER_CHOICE(
        mode, "strict", "strict|compat",
        "refuse mappings that MAESTRO prices wrongly, or give its numbers whatever they are"),
    MER_INT(num_pes, "0", 0, INT32_MAX, "processing elements; 0: the platform's"),
    MER_INT(noc_bw, "0", 0, INT32_MAX,
            "elements per cycle on the network of every cluster level; 0: the platform's"),
    MER_INT(noc_hops, "1", 1, 1e6, "hops of the network"),
    MER_INT(noc_hop_latency, "-1", -1, 1e6, "cycles per hop; -1: the platform's"),
    MER_INT(offchip_bw, "0", 0, INT32_MAX,
            "elements per cycle to and from DRAM; 0: the platform's"),
    MER_INT(simd_lanes, "0", 0, INT32_MAX, "MACs per cycle of a PE; 0: the platform's"),
    MER_INT(l1_size, "0", 0, INT32_MAX, "elements of L1 in each PE; 0: the platform's"),
    MER_INT(l2_size, "0", 0, INT32_MAX, "elements of L2; 0: the platform's"),
    MER_REAL(l1_energy, "0", 0, 1e9,
             "energy of an L1 access in MACs; 0: the platform's, MAESTRO's 1.68 in compat"),
    MER_REAL(l2_energy, "0", 0, 1e9,
             "energy of an L2 access in MACs; 0: the platform's, MAESTRO's 18.61 in compat"),
    MER_REAL(mac_pj, "0", 0, 1e9, "energy of a MAC; 0: the platform's, MAESTRO's 0.23 in compat"),
    MER_BOOL(every_level, "false",
             "strict: refuse mappings whose inner clusters leave out work at the edge of a tile"),
    MER_BOOL(exact_strides, "true",
             "count the outputs of strided tiles exactly, which MAESTRO does only for tiles of one "
             "output"),
    ALIAS("l1_size_cstr", l1_size),
    ALIAS("l2_size_cstr", l2_size),
    ALIAS("noc_bw_cstr", noc_bw),
    ALIAS("offchip_bw_cstr", offchip_bw),
    ALIAS("num_simd_lanes", simd_lanes),
    {0}};

enum { L1, L2, MEMORIES };

typedef struct Energies { /* pJ */
    double mac, read[MEMORIES], write[MEMORIES];
} Energies;

typedef struct State {
    MerDatacentricHardware hardware;
    Energies               energies;
    double                 clock_hz; /* NAN if unknown */
    bool                   strict, every_level, exact_strides;
} State;

static int64_t whole(double number)
{
    return number >= (double)INT_MAX ? INT_MAX : (int64_t)number;
}

static int64_t capacity(double words)
{
    return words >= 0x1p62 ? INT64_MAX : (int64_t)words;
}

/* MAESTRO's machine has one array of PEs between L2 and their L1s. */
static MerStatus check_platform(const MerPlatform *platform, MerError *error)
{
    if (platform->kind != MER_PLATFORM_PE_ARRAY || platform->memory_count != 3)
        return mer_error_set(error, MER_UNSUPPORTED,
                             "platform %s is a %s with %d memories, datacentric expects a pe-array "
                             "with three: DRAM, L2 and L1",
                             platform->name, mer_platform_kind_name(platform->kind),
                             platform->memory_count);
    for (int m = 0; m < 3; m += 2) {
        const MerMemory *memory = &platform->memories[m];

        if (memory->fanout.x * memory->fanout.y != 1)
            return mer_error_set(
                error, MER_UNSUPPORTED,
                "platform %s has a fan-out below %s, datacentric expects one below %s alone",
                platform->name, memory->name, platform->memories[1].name);
    }
    return MER_OK;
}

static MerStatus take_platform(const MerPlatform *platform, State *state, MerError *error)
{
    const MerMemory *dram = &platform->memories[0], *l2 = dram + 1, *l1 = dram + 2;
    const MerFanout *network = &l2->fanout;
    double           offchip = fmin(dram->read_words_per_cycle, dram->write_words_per_cycle);

    if (network->words_per_cycle < 1 || offchip < 1)
        return mer_error_set(error, MER_UNSUPPORTED,
                             "platform %s moves %g words per cycle on its network and %g off chip, "
                             "datacentric expects at least 1",
                             platform->name, network->words_per_cycle, offchip);
    state->hardware = (MerDatacentricHardware){
        .num_pes = (int64_t)network->x * network->y,
        .noc_bw = whole(network->words_per_cycle),
        .noc_latency = whole(network->latency_cycles),
        .offchip_bw = whole(offchip),
        .simd_lanes = platform->unit_count > 0 ? platform->units[0].lanes : 1,
        .l1_size = capacity(l1->words),
        .l2_size = capacity(l2->words)};
    state->energies = (Energies){platform->unit_count > 0 ? platform->units[0].mac_pj : 0,
                                 {l1->read_pj, l2->read_pj},
                                 {l1->write_pj, l2->write_pj}};
    state->clock_hz = platform->clock_hz;
    return MER_OK;
}

static void replace(int64_t *number, int64_t chosen)
{
    if (chosen > 0)
        *number = chosen;
}

static void set_energies(const Options *chosen, bool maestro, State *state)
{
    static const double theirs[] = {MER_DATACENTRIC_L1_ENERGY, MER_DATACENTRIC_L2_ENERGY};
    const double        given[] = {chosen->l1_energy, chosen->l2_energy};
    double *const       in_macs[] = {&state->hardware.l1_energy, &state->hardware.l2_energy};
    double              maestro_mac = MER_DATACENTRIC_MAC_NJ * 1000;
    Energies           *energies = &state->energies;

    if (chosen->mac_pj > 0 || maestro)
        energies->mac = chosen->mac_pj > 0 ? chosen->mac_pj : maestro_mac;
    state->hardware.mac_nj = energies->mac / 1000;
    for (int m = 0; m < MEMORIES; m++) {
        double *read = &energies->read[m], *write = &energies->write[m];

        if (given[m] > 0 || maestro)
            *read = *write = given[m] > 0 ? given[m] * energies->mac : theirs[m] * maestro_mac;
        *in_macs[m] = energies->mac > 0 ? (*read + *write) / 2 / energies->mac : 0;
    }
}

static MerStatus open_datacentric(void *opened, const MerProblem *problem, const void *given,
                                  MerArena *arena, MerError *error)
{
    const Options *chosen = given;
    State         *state = opened;

    (void)arena;
    MER_TRY(check_platform(problem->platform, error));
    MER_TRY(take_platform(problem->platform, state, error));
    state->strict = chosen->mode == STRICT;
    state->every_level = state->strict && chosen->every_level;
    state->exact_strides = state->strict && chosen->exact_strides;
    replace(&state->hardware.num_pes, chosen->num_pes);
    replace(&state->hardware.noc_bw, chosen->noc_bw);
    replace(&state->hardware.offchip_bw, chosen->offchip_bw);
    replace(&state->hardware.simd_lanes, chosen->simd_lanes);
    replace(&state->hardware.l1_size, chosen->l1_size);
    replace(&state->hardware.l2_size, chosen->l2_size);
    if (chosen->noc_hop_latency >= 0)
        state->hardware.noc_latency = chosen->noc_hop_latency;
    state->hardware.noc_latency *= chosen->noc_hops;
    set_energies(chosen, !state->strict, state);
    return MER_OK;
}

static void price(const State *state, const MerDirectivePlan *plan, MerDatacentricWanted wanted,
                  MerDatacentricResult *result)
{
    MerDatacentricMapping mapping;
    MerDatacentricInput   input = {.mapping = &mapping,
                                   .hardware = state->hardware,
                                   .strict = state->strict,
                                   .every_level = state->every_level,
                                   .exact_strides = state->exact_strides};
    MerError              error = {0};

    result->reason[0] = '\0';
    if (mer_datacentric_layer(plan->op, state->strict, &input.layer, &error) != MER_OK) {
        memset(result, 0, sizeof *result);
        result->status = MER_DATACENTRIC_INFEASIBLE;
        snprintf(result->reason, sizeof result->reason, "encoding: %.100s", error.message);
    } else if (mer_datacentric_mapping(plan, input.layer.type, &mapping, result)) {
        mer_datacentric_evaluate(&input, wanted, result);
    }
}

/* Compat: MAESTRO's column, which misses L1 when there are clusters and MACs always. */
static double energy_pj(const State *state, const MerDatacentricResult *result)
{
    const Energies *energies = &state->energies;
    double          energy = (double)result->num_macs * energies->mac;

    if (!state->strict)
        return result->csv_energy_nj * 1000;
    for (int t = 0; t < MER_DATACENTRIC_TENSORS; t++) {
        const MerDatacentricTensorCounts *counts = &result->tensor[t];

        energy += (double)counts->l1_read * energies->read[L1] +
                  (double)counts->l1_write * energies->write[L1] +
                  (double)counts->l2_read * energies->read[L2] +
                  (double)counts->l2_write * energies->write[L2];
    }
    return energy;
}

static void evaluate(const void *opened, const MerPlan *plan, const MerCall *call, MerCost *cost)
{
    const State         *state = opened;
    const MerOp         *op = mer_directive_plan(plan)->op;
    MerDatacentricResult result;
    double               repeat = (double)op->repeat;

    (void)call;
    mer_cost_clear(cost);
    price(state, mer_directive_plan(plan), MER_DATACENTRIC_COSTS, &result);
    if (result.status != MER_DATACENTRIC_OK) {
        mer_cost_refuse(cost, "%s", result.reason[0] ? result.reason : "coverage: covers no MACs");
        return;
    }
    mer_map_fill_costs((double)result.runtime_cycles * repeat, energy_pj(state, &result) * repeat,
                       (double)result.true_macs * repeat,
                       (double)(state->hardware.num_pes * state->hardware.simd_lanes),
                       state->clock_hz, cost);
    cost->value[MER_METRIC_POWER] = result.power_mw;
    cost->value[MER_METRIC_AREA] = result.area_um2;
}

/* One memory over all repeats. */
static MerLevelUse use_memory(const State *state, const MerDatacentricResult *result, int memory,
                              double repeat)
{
    static const int order[] = {MER_DATACENTRIC_FILTER, MER_DATACENTRIC_INPUT,
                                MER_DATACENTRIC_OUTPUT};
    bool             is_l2 = memory == L2;
    int64_t          capacity = is_l2 ? state->hardware.l2_size : state->hardware.l1_size;
    MerLevelUse      use = {.name = is_l2 ? "L2" : "L1",
                            .used_words = (double)(is_l2 ? result->l2_size_req : result->l1_size_req),
                            .capacity_words = capacity < INT64_MAX ? (double)capacity : INFINITY,
                            .bandwidth_use = NAN};

    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        const MerDatacentricTensorCounts *counts = &result->tensor[order[t]];
        double reads = repeat * (double)(is_l2 ? counts->l2_read : counts->l1_read);
        double writes = repeat * (double)(is_l2 ? counts->l2_write : counts->l1_write);

        use.accesses[t][0] = reads;
        use.accesses[t][1] = writes;
        use.accesses[t][2] = (double)(is_l2 ? counts->l2_size_req : counts->l1_size_req);
        use.energy_pj[t] =
            reads * state->energies.read[memory] + writes * state->energies.write[memory];
    }
    return use;
}

/* One entry per memory, as the other layer evaluator writes them. */
static void write_memory(const MerLevelUse *use, int64_t capacity, MerJson *json)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "name", use->name);
    mer_json_object(json, "tensors");
    for (int t = 0; t < MER_TENSOR_COUNT; t++) {
        mer_json_object(json, (char[]){MER_TENSOR_LETTERS[t], '\0'});
        mer_json_real(json, "reads", use->accesses[t][0]);
        mer_json_real(json, "writes", use->accesses[t][1]);
        mer_json_real(json, "energy", use->energy_pj[t]);
        mer_json_int(json, "words", (int64_t)use->accesses[t][2]);
        mer_json_end_object(json);
    }
    mer_json_end_object(json);
    mer_json_int(json, "occupancy_words", (int64_t)use->used_words);
    mer_json_int(json, "capacity_words", capacity);
    mer_json_end_object(json);
}

static void detail(const void *opened, const MerPlan *plan, MerNotes *notes)
{
    const State         *state = opened;
    double               repeat = (double)mer_directive_plan(plan)->op->repeat;
    MerDatacentricResult result;
    MerLevelUse          levels[2];
    MerLayerUse use = {.levels = levels, .level_count = 2, .accesses = {"reads", "writes", "held"}};
    MerJson     json = {0};

    price(state, mer_directive_plan(plan), MER_DATACENTRIC_EVERYTHING, &result);
    mer_json_object(&json, NULL);
    if (result.status != MER_DATACENTRIC_INFEASIBLE) {
        use.mac_pj = repeat * (double)result.num_macs * state->energies.mac;
        mer_json_array(&json, "levels");
        for (int l = 0; l < 2; l++) {
            levels[l] = use_memory(state, &result, l == 0 ? L2 : L1, repeat);
            write_memory(&levels[l], l == 0 ? state->hardware.l2_size : state->hardware.l1_size,
                         &json);
        }
        mer_json_end_array(&json);
        mer_json_real(&json, "mac_energy", use.mac_pj);
    }
    mer_datacentric_write(&result, &json);
    mer_json_end_object(&json);
    mer_note(notes, "breakdown", json.text);
    mer_json_free(&json);
    mer_map_view_directives(mer_directive_plan(plan), notes);
    if (result.status != MER_DATACENTRIC_INFEASIBLE) {
        mer_map_view_use(&use, notes);
    }
}

#define METRIC(id) (UINT64_C(1) << MER_METRIC_##id)
/* MAESTRO's own rules let mappings leave out work. */
static const void *rules(const void *opened)
{
    const State *state = opened;
    return state->strict ? mer_map_rules : NULL;
}

static uint64_t zeros(const void *opened, const char **why)
{
    const State    *state = opened;
    const Energies *e = &state->energies;
    bool            has_energy =
        !state->strict || e->mac + e->read[L1] + e->write[L1] + e->read[L2] + e->write[L2] > 0;
    *why = "the platform has no energies (mac_pj, access_pj)";
    return has_energy ? 0 : METRIC(ENERGY) | METRIC(EDP);
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_directives, NULL};

const MerEvaluatorClass mer_evaluator_datacentric = {
    .name = "datacentric",
    .summary = "MAESTRO's data-centric model: directives, clusters, network and buffers",
    .reference = "Kwon et al., Understanding Reuse, Performance, and Hardware Cost of DNN "
                 "Dataflow, MICRO 2019",
    .plans = plan_kinds,
    .metrics = METRIC(CYCLES) | METRIC(LATENCY) | METRIC(THROUGHPUT) | METRIC(ENERGY) |
               METRIC(EDP) | METRIC(POWER) | METRIC(AREA) | METRIC(UTILISATION),
    .clocked = METRIC(LATENCY) | METRIC(THROUGHPUT) | METRIC(POWER),
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .checks_plans = true,
    .open = open_datacentric,
    .evaluate = evaluate,
    .detail = detail,
    .rules = rules,
    .zeros = zeros,
};
