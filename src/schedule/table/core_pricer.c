/* A layer alone on a core of a given style (docs/bandwidth-model.md, "Core styles"): latency and buffers
 * by the data-centric model with unlimited bandwidth, DRAM traffic from the sizes of the tensors and the
 * core's store. */
#include "schedule/table/core_pricer.h"

#include "layer/datacentric_plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { UNLIMITED_RATE = 81920000, UNLIMITED_SIZE = 819200000, COLUMNS = 64 };
enum { DRAM_PJ_PER_BYTE = 32 }; /* about 4 pJ per bit, LPDDR4 */

typedef struct Core {
    const char *style; /* "nvdla", "shi", "eye" */
    int64_t     pes, columns;
} Core;

typedef struct Builder {
    MerDatacentricMapping *mapping;
    int                    level;
} Builder;

static void add(Builder *builder, bool spatial, bool output, int dim, int64_t size, int64_t offset)
{
    MerDatacentricMapping *mapping = builder->mapping;
    int                    at = mapping->count[builder->level]++;
    mapping->directives[builder->level][at] =
        (MerDatacentricDirective){spatial, output, dim, size, offset};
}

static void temporal(Builder *builder, int dim, int64_t size, int64_t offset)
{
    add(builder, false, false, dim, size, offset);
}

static void spatial(Builder *builder, int dim, int64_t size)
{
    add(builder, true, false, dim, size, size);
}

static void open_cluster(Builder *builder, int64_t size)
{
    builder->mapping->cluster[builder->level++] = size;
    builder->mapping->level_count = builder->level + 1;
}

#define D(letter) MER_DATACENTRIC_##letter

/* K over the rows, C within a row of `cluster` units; weights stay. */
static void map_nvdla(const MerDatacentricLayer *layer, int64_t cluster, Builder *builder)
{
    int64_t r = layer->dims[D(R)];
    int64_t s = layer->dims[D(S)];
    spatial(builder, D(K), 1);
    temporal(builder, D(C), cluster, cluster);
    temporal(builder, D(R), r, r);
    temporal(builder, D(S), s, s);
    temporal(builder, D(Y), r, 1);
    temporal(builder, D(X), s, 1);
    open_cluster(builder, cluster);
    spatial(builder, D(C), 1);
}

/* `rows` output rows at a time over the rows, output columns within a row; outputs stay. */
static void map_shi(const MerDatacentricLayer *layer, int64_t cluster, int64_t rows,
                    Builder *builder)
{
    int64_t r = layer->dims[D(R)];
    int64_t s = layer->dims[D(S)];
    temporal(builder, D(K), 1, 1);
    add(builder, true, true, D(Y), rows, rows);
    add(builder, false, true, D(X), cluster, cluster);
    temporal(builder, D(C), 1, 1);
    temporal(builder, D(R), r, r);
    temporal(builder, D(S), s, s);
    open_cluster(builder, cluster);
    temporal(builder, D(C), 1, 1);
    add(builder, false, true, D(Y), 1, 1);
    add(builder, true, true, D(X), 1, 1);
    temporal(builder, D(R), r, r);
    temporal(builder, D(S), s, s);
}

static void map_eye(const MerDatacentricLayer *layer, int64_t cluster, Builder *builder)
{
    int64_t r = layer->dims[D(R)];
    int64_t s = layer->dims[D(S)];
    temporal(builder, D(C), 1, 1);
    temporal(builder, D(K), 1, 1);
    add(builder, true, true, D(Y), cluster, cluster);
    add(builder, false, true, D(X), s, s);
    temporal(builder, D(R), r, r);
    temporal(builder, D(S), s, s);
    open_cluster(builder, cluster);
    temporal(builder, D(C), 1, 1);
    add(builder, true, true, D(Y), 1, 1);
    add(builder, true, true, D(X), 1, 1);
    temporal(builder, D(R), r, r);
    temporal(builder, D(S), s, s);
}

/* The artifact's depthwise mapping, on every style: at most ceil(C / 64) units have work. */
static void map_depthwise_compat(const MerDatacentricLayer *layer, Builder *builder)
{
    int64_t r = layer->dims[D(R)];
    int64_t s = layer->dims[D(S)];
    spatial(builder, D(C), COLUMNS);
    temporal(builder, D(Y), r, 1);
    temporal(builder, D(X), s, 1);
    temporal(builder, D(R), r, r);
    temporal(builder, D(S), s, s);
    builder->mapping->level_count = 1;
}

/* Channels over the rows, output columns within a row. */
static void map_depthwise(const MerDatacentricLayer *layer, int64_t cluster, Builder *builder)
{
    int64_t r = layer->dims[D(R)];
    int64_t s = layer->dims[D(S)];
    spatial(builder, D(C), 1);
    add(builder, false, true, D(Y), 1, 1);
    add(builder, false, true, D(X), cluster, cluster);
    temporal(builder, D(R), r, r);
    temporal(builder, D(S), s, s);
    open_cluster(builder, cluster);
    add(builder, true, true, D(X), 1, 1);
    add(builder, false, true, D(Y), 1, 1);
    temporal(builder, D(R), r, r);
    temporal(builder, D(S), s, s);
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
    MerDatacentricMapping mapping = {0};
    Builder               builder = {&mapping, 0};
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
    if (layer->type == MER_DATACENTRIC_DSCONV && mode == MER_PRICE_COMPAT) {
        map_depthwise_compat(layer, &builder);
    } else if (layer->type == MER_DATACENTRIC_DSCONV) {
        map_depthwise(layer, cluster, &builder);
    } else if (strcmp(core->style, "shi") == 0) {
        map_shi(layer, cluster, rows, &builder);
    } else if (strcmp(core->style, "eye") == 0) {
        map_eye(layer, cluster, &builder);
    } else {
        map_nvdla(layer, cluster, &builder);
    }
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

/* The dimension that is spread within a row. */
static int64_t row_extent(const MerDatacentricLayer *layer, const Core *core)
{
    bool    by_columns = layer->type == MER_DATACENTRIC_DSCONV || strcmp(core->style, "nvdla") != 0;
    int64_t columns = (layer->dims[D(X)] - layer->dims[D(S)]) / layer->stride_x + 1;
    return by_columns ? columns : layer->dims[D(C)];
}

static int64_t column_extent(const MerDatacentricLayer *layer, const Core *core)
{
    bool    by_rows = layer->type != MER_DATACENTRIC_DSCONV && strcmp(core->style, "nvdla") != 0;
    int64_t rows = (layer->dims[D(Y)] - layer->dims[D(R)]) / layer->stride_y + 1;
    return layer->type == MER_DATACENTRIC_DSCONV ? layer->dims[D(C)]
           : by_rows                             ? rows
                                                 : layer->dims[D(K)];
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

typedef struct Shape { /* of a flexible array: how well it suits a layer, smaller is better */
    double unaligned, cycles;
} Shape;

static bool is_better(const Shape *a, const Shape *b)
{
    return a->unaligned < b->unaligned || (a->unaligned == b->unaligned && a->cycles < b->cycles);
}

/* A flexible core chooses its row length per layer (docs/bandwidth-model.md, "Core styles"): a divisor of
 * what is spread within a row, below the number of units, with buffers within the limit. `search` takes
 * the one with the lowest latency, and our tables let the core's own shape compete; `align` the one with
 * most units in whole multiples of both dimensions. False: no shape fits. */
static bool run_flexible(const MerDatacentricLayer *layer, const Core *core, const MerUnit *unit,
                         MerPriceMode mode, MerFlexible flexible, MerDatacentricResult *result)
{
    bool    is_aligned = flexible == MER_FLEXIBLE_ALIGN;
    int64_t extent = row_extent(layer, core);
    Shape   best = {INFINITY, INFINITY};
    for (int64_t d = 1; d < core->pes && (d <= extent || d <= core->columns); d++) {
        MerDatacentricResult tried;
        bool                 is_own = d == core->columns && mode == MER_PRICE_OWN && !is_aligned;
        if ((extent % d != 0 && !is_own) || !run_model(layer, core, d, mode, &tried) ||
            (double)tried.l2_size_req > unit->flexible_limit_bytes) {
            continue;
        }
        int64_t rows = divisor_below(column_extent(layer, core), core->pes / d);
        Shape   shape = {is_aligned ? -(double)(rows * d) : 0, (double)tried.runtime_cycles};
        if (is_better(&shape, &best)) {
            best = shape;
            *result = tried;
        }
    }
    return best.cycles < INFINITY;
}

/* Where the model knows no mapping: the extents of the array's two dimensions, one step after another. */
static void estimate(const MerDatacentricLayer *layer, const Core *core, const MerOp *op,
                     MerDatacentricResult *result)
{
    double across = (double)row_extent(layer, core);
    double down = (double)column_extent(layer, core);
    double steps =
        ceil(across / (double)core->columns) * ceil(down / (double)(core->pes / core->columns));
    double each = (double)op->macs / (double)op->repeat / (across * down);
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
                       MerFlexible flexible, MerLayerPrice *result, MerError *error)
{
    MerDatacentricLayer  layer;
    MerDatacentricResult model;
    Core   core = {unit->dataflow ? unit->dataflow : "nvdla", (int64_t)unit->rows * unit->columns,
                 unit->columns};
    double repeat = (double)op->repeat;
    MerStatus status = make_layer(op, &layer, error);
    if (status != MER_OK) {
        return status;
    }
    *result = (MerLayerPrice){0};
    bool is_done = unit->flexible && run_flexible(&layer, &core, unit, mode, flexible, &model);
    result->is_fallback = unit->flexible && !is_done;
    is_done = is_done || run_model(&layer, &core, core.columns, mode, &model);
    if (!is_done && mode == MER_PRICE_OWN && op->macs > 0) {
        estimate(&layer, &core, op, &model);
    } else if (!is_done) {
        return mer_error_set(error, MER_UNSUPPORTED, "%s has no mapping on core %s (%s): %s",
                             op->name, unit->name, core.style,
                             model.reason[0] ? model.reason : "no work is done");
    }
    double  element_bytes = word_bits / 8.0;
    Tensors tensors = tensor_sizes(op, element_bytes);
    result->latency_cycles = (double)model.runtime_cycles * repeat;
    result->l2_bytes = (double)model.l2_size_req;
    result->l1_bytes = (double)model.l1_size_req;
    result->weight_bytes = tensors.weights;
    result->output_bytes = tensors.outputs;
    result->traffic_bytes = least_traffic(&tensors, unit->memory_bytes) * repeat;
    result->energy_pj = mode == MER_PRICE_COMPAT
                            ? model.csv_energy_nj * 1000 * repeat
                            : model.total_energy_x_mac * MER_DATACENTRIC_MAC_NJ * 1000 * repeat +
                                  DRAM_PJ_PER_BYTE * result->traffic_bytes;
    return MER_OK;
}

const MerLayerPricer mer_core_pricer = {"datacentric", price, DRAM_PJ_PER_BYTE};
