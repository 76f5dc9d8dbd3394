/* A layer alone on a core of a given style (docs/bandwidth-model.md, "Core styles"): latency and buffers
 * by the data-centric model with unlimited bandwidth, DRAM traffic from the sizes of the tensors and the
 * core's store. */
#include "schedule/table/layer_pricer.h"

#include "layer/datacentric_plan.h"

#include <math.h>
#include <string.h>

enum { UNLIMITED_RATE = 81920000, UNLIMITED_SIZE = 819200000, COLUMNS = 64 };
enum { DRAM_PJ_PER_BYTE = 32 }; /* about 4 pJ per bit, LPDDR4 */

typedef struct Core {
    const char *style; /* "nvdla", "shi", "eye" */
    int64_t     pes, columns;
} Core;

#define D(letter) MER_DATACENTRIC_##letter

/* Directives of a mapping, on inputs or on outputs; WITHIN opens the clusters, the rows of the array. */
typedef enum StepKind { END, TEMPORAL, SPATIAL, TEMPORAL_OUT, SPATIAL_OUT, WITHIN } StepKind;
/* FILTER: the filter's along the dim; CLUSTER: units of a row; ROWS: as the caller says. */
typedef enum Extent { ONE, FILTER, CLUSTER, ROWS, WIDE } Extent;
typedef struct Step {
    StepKind kind;
    int      dim;
    Extent   size, offset;
} Step;

/* clang-format off */
#define WINDOW {TEMPORAL, D(R), FILTER, FILTER}, {TEMPORAL, D(S), FILTER, FILTER}
/* K over the rows, C within a row; weights stay. */
static const Step nvdla[] = {
    {SPATIAL, D(K), ONE, ONE}, {TEMPORAL, D(C), CLUSTER, CLUSTER}, WINDOW,
    {TEMPORAL, D(Y), FILTER, ONE}, {TEMPORAL, D(X), FILTER, ONE},
    {WITHIN, 0, 0, 0}, {SPATIAL, D(C), ONE, ONE}, {0}};
/* Some output rows at a time over the rows, output columns within a row; outputs stay. */
static const Step shi[] = {
    {TEMPORAL, D(K), ONE, ONE}, {SPATIAL_OUT, D(Y), ROWS, ROWS},
    {TEMPORAL_OUT, D(X), CLUSTER, CLUSTER}, {TEMPORAL, D(C), ONE, ONE}, WINDOW,
    {WITHIN, 0, 0, 0}, {TEMPORAL, D(C), ONE, ONE}, {TEMPORAL_OUT, D(Y), ONE, ONE},
    {SPATIAL_OUT, D(X), ONE, ONE}, WINDOW, {0}};
static const Step eye[] = {
    {TEMPORAL, D(C), ONE, ONE}, {TEMPORAL, D(K), ONE, ONE}, {SPATIAL_OUT, D(Y), CLUSTER, CLUSTER},
    {TEMPORAL_OUT, D(X), FILTER, FILTER}, WINDOW,
    {WITHIN, 0, 0, 0}, {TEMPORAL, D(C), ONE, ONE}, {SPATIAL_OUT, D(Y), ONE, ONE},
    {SPATIAL_OUT, D(X), ONE, ONE}, WINDOW, {0}};
/* The artifact's depthwise mapping, on every style: at most ceil(C / 64) units have work. */
static const Step depthwise_compat[] = {
    {SPATIAL, D(C), WIDE, WIDE}, {TEMPORAL, D(Y), FILTER, ONE}, {TEMPORAL, D(X), FILTER, ONE}, WINDOW, {0}};
/* Channels over the rows, output columns within a row. */
static const Step depthwise[] = {
    {SPATIAL, D(C), ONE, ONE}, {TEMPORAL_OUT, D(Y), ONE, ONE}, {TEMPORAL_OUT, D(X), CLUSTER, CLUSTER}, WINDOW,
    {WITHIN, 0, 0, 0}, {SPATIAL_OUT, D(X), ONE, ONE}, {TEMPORAL_OUT, D(Y), ONE, ONE}, WINDOW, {0}};
#undef WINDOW
/* clang-format on */

static void write_mapping(const Step *step, const MerDatacentricLayer *layer, int64_t cluster,
                          int64_t rows, MerDatacentricMapping *mapping)
{
    *mapping = (MerDatacentricMapping){.level_count = 1};
    for (; step->kind != END; step++) {
        int  level = mapping->level_count - 1;
        bool is_spatial = step->kind == SPATIAL || step->kind == SPATIAL_OUT;
        bool is_output = step->kind == TEMPORAL_OUT || step->kind == SPATIAL_OUT;
        int  filter = step->dim == D(Y) || step->dim == D(R) ? D(R) : D(S);
        if (step->kind == WITHIN) {
            mapping->cluster[level] = cluster;
            mapping->level_count++;
            continue;
        }
        const int64_t extents[] = {1, layer->dims[filter], cluster, rows, COLUMNS};
        mapping->directives[level][mapping->count[level]++] = (MerDatacentricDirective){
            is_spatial, is_output, step->dim, extents[step->size], extents[step->offset]};
    }
}

/* A product is priced as a convolution with one column: K outputs, C inputs, Y rows. */
static MerStatus make_layer(const MerOp *op, MerDatacentricLayer *layer, MerError *error)
{
    if (op->kind != MER_OP_GEMM && op->kind != MER_OP_BATCHED_GEMM) {
        return mer_datacentric_layer(op, true, layer, error);
    }
    *layer = (MerDatacentricLayer){.type = MER_DATACENTRIC_CONV, .stride_y = 1, .stride_x = 1};
    layer->dims[D(N)] = op->dims[MER_DIM_N];
    layer->dims[D(K)] = op->dims[MER_DIM_K];
    layer->dims[D(C)] = op->dims[MER_DIM_C];
    layer->dims[D(Y)] = op->dims[MER_DIM_Y];
    layer->dims[D(X)] = layer->dims[D(R)] = layer->dims[D(S)] = 1;
    if (op->kind == MER_OP_BATCHED_GEMM) { /* one matrix after the other */
        layer->dims[D(N)] *= op->dims[MER_DIM_G];
    }
    return MER_OK;
}

static bool run_mapping(const MerDatacentricLayer *layer, const Core *core, int64_t cluster,
                        int64_t rows, MerPriceMode mode, MerDatacentricResult *result)
{
    bool                  is_depthwise = layer->type == MER_DATACENTRIC_DSCONV;
    MerDatacentricMapping mapping;
    MerDatacentricInput   input = {.layer = *layer, .mapping = &mapping};
    input.hardware = (MerDatacentricHardware){.num_pes = core->pes,
                                              .noc_bw = UNLIMITED_RATE,
                                              .noc_latency = 1,
                                              .offchip_bw = UNLIMITED_RATE,
                                              .simd_lanes = 1,
                                              .l1_size = UNLIMITED_SIZE,
                                              .l2_size = UNLIMITED_SIZE,
                                              .l1_energy = MER_DATACENTRIC_L1_ENERGY,
                                              .l2_energy = MER_DATACENTRIC_L2_ENERGY,
                                              .mac_nj = MER_DATACENTRIC_MAC_NJ};
    const Step *steps = is_depthwise && mode == MER_PRICE_COMPAT ? depthwise_compat
                        : is_depthwise                           ? depthwise
                        : strcmp(core->style, "shi") == 0        ? shi
                        : strcmp(core->style, "eye") == 0        ? eye
                                                                 : nvdla;
    write_mapping(steps, layer, cluster, rows, &mapping);
    mer_datacentric_evaluate(&input, MER_DATACENTRIC_COSTS, result);
    return result->status == MER_DATACENTRIC_OK && result->runtime_cycles > 0;
}

/* The artifact gives the output-stationary style as many rows at a time as the filter has; ours also tries
 * one, which keeps more of the array busy on small images. */
static bool run_model(const MerDatacentricLayer *layer, const Core *core, int64_t cluster,
                      MerPriceMode mode, MerDatacentricResult *result)
{
    MerDatacentricResult other;
    bool is_done = run_mapping(layer, core, cluster, layer->dims[D(R)], mode, result);
    if (mode == MER_PRICE_OWN && strcmp(core->style, "shi") == 0 &&
        run_mapping(layer, core, cluster, 1, mode, &other) &&
        (!is_done || other.runtime_cycles < result->runtime_cycles)) {
        *result = other;
        is_done = true;
    }
    return is_done;
}

/* What is spread within a row of the array, and what over its rows. */
static void spread(const MerDatacentricLayer *layer, const Core *core, int64_t *across,
                   int64_t *down)
{
    bool is_depthwise = layer->type == MER_DATACENTRIC_DSCONV;
    bool by_channels = !is_depthwise && strcmp(core->style, "nvdla") == 0;
    *across = by_channels ? layer->dims[D(C)]
                          : (layer->dims[D(X)] - layer->dims[D(S)]) / layer->stride_x + 1;
    *down = by_channels    ? layer->dims[D(K)]
            : is_depthwise ? layer->dims[D(C)]
                           : (layer->dims[D(Y)] - layer->dims[D(R)]) / layer->stride_y + 1;
}

/* The largest divisor of `extent` that is at most `most`. */
static int64_t divisor_below(int64_t extent, int64_t most)
{
    int64_t best = 1;
    for (int64_t d = 1; d <= most && d <= extent; d++) {
        best = extent % d == 0 ? d : best;
    }
    return best;
}

/* A flexible core chooses its row length per layer (docs/bandwidth-model.md, "Core styles"): a divisor of
 * what is spread within a row, below the number of units, with buffers within the limit. `search` takes
 * the one with the lowest latency, and our tables let the core's own shape compete; `align` the one with
 * most units in whole multiples of both dimensions. False: no shape fits. */
static bool run_flexible(const MerDatacentricLayer *layer, const Core *core, const MerUnit *unit,
                         MerPriceMode mode, MerFlexible flexible, MerDatacentricResult *result)
{
    bool    is_aligned = flexible == MER_FLEXIBLE_ALIGN;
    int64_t across, down;
    double  best_units = 0, best_cycles = INFINITY;
    spread(layer, core, &across, &down);
    for (int64_t d = 1; d < core->pes && (d <= across || d <= core->columns); d++) {
        MerDatacentricResult tried;
        bool                 is_own = d == core->columns && mode == MER_PRICE_OWN && !is_aligned;
        if ((across % d != 0 && !is_own) || !run_model(layer, core, d, mode, &tried) ||
            (double)tried.l2_size_req > unit->flexible_limit_bytes) {
            continue;
        }
        int64_t rows = divisor_below(down, core->pes / d);
        double  units = is_aligned ? (double)(rows * d) : 0; /* in whole multiples */
        double  cycles = (double)tried.runtime_cycles;
        if (units > best_units || (units == best_units && cycles < best_cycles)) {
            best_units = units;
            best_cycles = cycles;
            *result = tried;
        }
    }
    return best_cycles < INFINITY;
}

/* Where the model knows no mapping: the extents of the array's two dimensions, one step after another. */
static void estimate(const MerDatacentricLayer *layer, const Core *core, const MerOp *op,
                     MerDatacentricResult *result)
{
    int64_t across, down;
    spread(layer, core, &across, &down);
    double steps = ceil((double)across / (double)core->columns) *
                   ceil((double)down / (double)(core->pes / core->columns));
    double each = (double)op->macs / (double)op->repeat / ((double)across * (double)down);
    *result = (MerDatacentricResult){.runtime_cycles = (int64_t)ceil(steps * each),
                                     .num_macs = op->macs / op->repeat};
    result->total_energy_x_mac = (double)result->num_macs * (1 + 2 * MER_DATACENTRIC_L1_ENERGY);
}

typedef struct Tensors {
    double weights, inputs, outputs; /* bytes */
} Tensors;

static Tensors tensor_sizes(const MerOp *op, double element_bytes)
{
    const int64_t *d = op->dims;
    double         window = (double)(d[MER_DIM_R] * d[MER_DIM_S]);
    double         images = (double)d[MER_DIM_N];
    double         groups = (double)d[MER_DIM_G];
    bool           is_product = op->kind == MER_OP_GEMM || op->kind == MER_OP_BATCHED_GEMM;
    double         rows = op->input_rows > 0 ? (double)op->input_rows
                                             : (double)((d[MER_DIM_Y] - 1) * op->stride[0] + d[MER_DIM_R]);
    double         columns = op->input_columns > 0
                                 ? (double)op->input_columns
                                 : (double)((d[MER_DIM_X] - 1) * op->stride[1] + d[MER_DIM_S]);
    double         area = is_product ? (double)d[MER_DIM_Y] : rows * columns;
    double         filters = op->kind == MER_OP_DEPTHWISE ? 1 : (double)d[MER_DIM_K];
    double maps = op->kind == MER_OP_DEPTHWISE ? (double)d[MER_DIM_C] : (double)d[MER_DIM_K];
    return (Tensors){element_bytes * groups * filters * (double)d[MER_DIM_C] * window,
                     element_bytes * images * groups * (double)d[MER_DIM_C] * area,
                     element_bytes * images * groups * maps *
                         (double)(d[MER_DIM_Y] * d[MER_DIM_X])};
}

/* Least traffic with a double-buffered store: either the weights stay tile by tile and the input is read
 * once for each tile of output channels, or the other way round. Everything fits: each tensor once. */
static double least_traffic(const Tensors *tensors, double store_bytes)
{
    double half = store_bytes / 2;
    double once = tensors->weights + tensors->inputs + tensors->outputs;
    if (fmin(tensors->weights, tensors->inputs) <= half) {
        return once;
    }
    double by_weights =
        tensors->inputs * ceil(tensors->weights / half) + tensors->weights + tensors->outputs;
    double by_inputs =
        tensors->weights * ceil(tensors->inputs / half) + tensors->inputs + tensors->outputs;
    return fmin(by_weights, by_inputs);
}

static MerStatus price(const MerOp *op, const MerUnit *unit, int word_bits, MerPriceMode mode,
                       MerFlexible flexible, MerJobTableEntry *entry, MerError *error)
{
    MerDatacentricLayer  layer;
    MerDatacentricResult model;
    Core   core = {unit->dataflow ? unit->dataflow : "nvdla", (int64_t)unit->rows * unit->columns,
                 unit->columns};
    double repeat = (double)op->repeat;
    MER_TRY(make_layer(op, &layer, error));
    bool is_folded = unit->flexible && run_flexible(&layer, &core, unit, mode, flexible, &model);
    bool is_done = is_folded || run_model(&layer, &core, core.columns, mode, &model);
    if (!is_done && mode == MER_PRICE_OWN && op->macs > 0) {
        estimate(&layer, &core, op, &model);
    } else if (!is_done) {
        return mer_error_set(error, MER_UNSUPPORTED, "%s has no mapping on core %s (%s): %s",
                             op->name, unit->name, core.style,
                             model.reason[0] ? model.reason : "no work is done");
    }
    Tensors tensors = tensor_sizes(op, word_bits / 8.0);
    double  traffic = least_traffic(&tensors, unit->memory_bytes) * repeat;
    double  spent = model.total_energy_x_mac * MER_DATACENTRIC_MAC_NJ * 1000 * repeat;
    *entry = (MerJobTableEntry){.latency = (double)model.runtime_cycles * repeat,
                                .traffic = traffic,
                                .energy_pj = mode == MER_PRICE_COMPAT
                                                 ? model.csv_energy_nj * 1000 * repeat
                                                 : spent + DRAM_PJ_PER_BYTE * traffic,
                                .weight_bytes = tensors.weights,
                                .output_bytes = tensors.outputs,
                                .l2_bytes = (double)model.l2_size_req,
                                .l1_bytes = (double)model.l1_size_req,
                                .macs = (double)op->macs,
                                .is_fallback = unit->flexible && !is_folded};
    return MER_OK;
}

const MerLayerPricer mer_core_pricer = {"datacentric", price, DRAM_PJ_PER_BYTE};
