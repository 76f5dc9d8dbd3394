/* Problem `codesign`: the geometry of a VTA-class core and, layer by layer, tiles and virtual threads
 * (docs/codesign.md). One task per distinct layer that the core can run. On a platform of kind native plans are
 * kernels for the processor that runs us (docs/codesign-native.md). */
#include "codesign/codesign.h"

#include "codesign/cost/timing.h"
#include "layer/op_format.h"
#include "layer/task_select.h"
#include "mercator/text.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    int         hardware, buffers, restrict_to, first_layer;
    const char *mac_budget, *sram_budget;
    int64_t     batch_size, min_element_bytes;
    bool        bias;
    const char *select;
} Options;

static const MerOption options[] = {
    {"hardware", MER_OPTION_CHOICE, offsetof(Options, hardware), "shared", 0, 0,
     "shared|per-task|fixed",
     "one geometry for all layers, one for each layer (what no shared one can beat), or that of "
     "the platform"},
    {"buffers", MER_OPTION_CHOICE, offsetof(Options, buffers), "follow", 0, 0, "follow|search",
     "sizes of the SRAMs: follow the geometry within the budget, or are knobs"},
    {"mac_budget", MER_OPTION_TEXT, offsetof(Options, mac_budget), "1x", 0, 0, NULL,
     "most multipliers: a number, or times those of the platform (2x)"},
    {"sram_budget", MER_OPTION_TEXT, offsetof(Options, sram_budget), "1x", 0, 0, NULL,
     "most bytes of SRAM: a number, or times those of the platform (2x)"},
    {"batch_size", MER_OPTION_INT, offsetof(Options, batch_size), "1", 1, 4096, NULL,
     "images at a time"},
    {"min_element_bytes", MER_OPTION_INT, offsetof(Options, min_element_bytes), "1", 1, 4096, NULL,
     "least size of an entry of inp, wgt and out"},
    {"restrict", MER_OPTION_CHOICE, offsetof(Options, restrict_to), "none", 0, 0, "none|tvm",
     "tvm: only tiles whose data one 2-D transfer brings, as in TVM's templates"},
    {"first_layer", MER_OPTION_CHOICE, offsetof(Options, first_layer), "core", 0, 0, "core|host",
     "where layers with fewer than 4 input channels run"},
    {"bias", MER_OPTION_BOOL, offsetof(Options, bias), "false", 0, 0, NULL,
     "price the addition of a bias too"},
    {"select", MER_OPTION_TEXT, offsetof(Options, select), "", 0, 0, NULL,
     "layers to tune, counted from 1: 1,3-5; or a layer's name"},
    {0}};

extern const MerProblemClass mer_problem_codesign;

static const double batches[] = {1, 2, 4, 8, 16}, blocks[] = {4, 8, 16, 32, 64};
static const double thread_counts[] = {1, 2};
enum { LEAST_BLOCK = 4, BUFFER_STEPS = 5 };

const MerCodesignTask *mer_codesign_task(const MerProblem *problem)
{
    return problem->type == &mer_problem_codesign && problem->plan == &mer_plan_vta ? problem->state
                                                                                    : NULL;
}

/* Same operator as far as a core sees it. */
static bool is_same(const MerOp *a, const MerOp *b)
{
    return a->kind == b->kind && a->repeat == b->repeat && a->input_rows == b->input_rows &&
           a->input_columns == b->input_columns && memcmp(a->dims, b->dims, sizeof a->dims) == 0 &&
           memcmp(a->stride, b->stride, sizeof a->stride) == 0 &&
           memcmp(a->dilation, b->dilation, sizeof a->dilation) == 0 &&
           memcmp(a->pad, b->pad, sizeof a->pad) == 0;
}

static bool is_native(const MerProblem *problem)
{
    return problem->platform && problem->platform->kind == MER_PLATFORM_NATIVE;
}

static bool is_on_core(const MerProblem *problem, const MerOp *op)
{
    const Options *chosen = problem->options;
    if (is_native(problem)) {
        return !mer_kernel_host_reason(op);
    }
    return !mer_vta_host_reason(op) &&
           (chosen->first_layer == 0 || op->kind != MER_OP_CONV || op->dims[MER_DIM_C] >= 4);
}

static MerStatus list_tasks(const MerProblem *problem, MerArena *arena, const MerTask **tasks,
                            int *count, MerError *error)
{
    const Options     *chosen = problem->options;
    const MerGraph    *graph = problem->graph;
    MerTask           *list = MER_ARRAY(arena, MerTask, graph->op_count + 1);
    MerCodesignShared *shared = MER_NEW(arena, MerCodesignShared);
    int                found = 0, kept = 0;
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        int          t = 0;
        if (!is_on_core(problem, op)) {
            continue;
        }
        while (t < found && !is_same(&graph->ops[list[t].op], op)) {
            t++;
        }
        if (t == found) {
            list[found++] =
                (MerTask){.name = op->name, .macs = (double)op->macs, .op = o, .shared = shared};
        }
        list[t].count++;
    }
    if (found == 0) {
        return mer_error_set(error, MER_INVALID,
                             "%s has no convolution or matrix product that a core can run",
                             graph->name);
    }
    for (int t = 0; t < found; t++) {
        if (mer_task_is_selected(chosen->select, t + 1, list[t].name)) {
            list[kept] = list[t];
            list[kept++].macs *= (double)chosen->batch_size;
        }
    }
    if (kept == 0) {
        return mer_error_set(error, MER_INVALID,
                             "--select is \"%s\", expected layers in 1 .. %d of %s, or their names",
                             chosen->select, found, graph->name);
    }
    *shared = (MerCodesignShared){.count = kept, .tasks = list, .graph = graph, .arena = arena};
    *tasks = list;
    *count = kept;
    return MER_OK;
}

/* "2x" of `usual`, or a number. */
static MerStatus read_budget(const char *name, const char *text, int64_t usual, int64_t *budget,
                             MerError *error)
{
    size_t length = strlen(text);
    double value;
    char   number[32] = "";
    bool   is_factor = length > 1 && text[length - 1] == 'x';
    snprintf(number, sizeof number, "%.*s", (int)(length - is_factor), text);
    if (length >= sizeof number || !mer_parse_real(number, &value) || value <= 0 || value > 1e12) {
        return mer_error_set(error, MER_INVALID,
                             "%s is \"%s\", expected a number, or a factor such as 2x", name, text);
    }
    *budget = (int64_t)(is_factor ? value * (double)usual : value);
    return MER_OK;
}

static const double *divisors_of(int number, int *count, MerArena *arena)
{
    double *list = MER_ARRAY(arena, double, 1);
    *count = 0;
    for (int d = 1; d <= number; d++) {
        if (number % d == 0) {
            MER_GROW(arena, list, *count);
            list[(*count)++] = d;
        }
    }
    return list;
}

static void set_values(MerCodesignTask *task, MerVtaKnob knob, const double *values, int count)
{
    task->values[knob] = values;
    task->counts[knob] = count;
}

/* Bytes of an SRAM from an eighth to twice those of the platform. */
static void set_buffer(MerCodesignTask *task, MerVtaKnob knob, MerVtaMemory memory, MerArena *arena)
{
    double *values = MER_ARRAY(arena, double, BUFFER_STEPS);
    for (int i = 0; i < BUFFER_STEPS; i++) {
        values[i] = ldexp((double)task->usual.bytes[memory], i - 3);
    }
    set_values(task, knob, values, BUFFER_STEPS);
}

/* Tiles are listed for the smallest blocks that the knobs allow; larger ones are rounded down. */
static void list_values(MerCodesignTask *task, MerArena *arena)
{
    MerVtaCore  smallest = task->usual;
    MerVtaShape shape;
    if (task->mode != MER_HARDWARE_FIXED) {
        mer_vta_core_make(&smallest, 1, LEAST_BLOCK, LEAST_BLOCK, 4, 4, 16, 16);
        set_values(task, MER_KNOB_BATCH, batches, sizeof batches / sizeof batches[0]);
        set_values(task, MER_KNOB_BLOCK_IN, blocks, sizeof blocks / sizeof blocks[0]);
        set_values(task, MER_KNOB_BLOCK_OUT, blocks, sizeof blocks / sizeof blocks[0]);
        if (task->has_buffers) {
            set_buffer(task, MER_KNOB_INP, MER_VTA_INP, arena);
            set_buffer(task, MER_KNOB_WGT, MER_VTA_WGT, arena);
            set_buffer(task, MER_KNOB_ACC, MER_VTA_ACC, arena);
        }
    }
    mer_vta_shape_make(task->op, task->images, &smallest, &shape);
    if (task->op->kind == MER_OP_DEPTHWISE && task->mode != MER_HARDWARE_FIXED) {
        shape.ci = shape.co = 64 / LEAST_BLOCK; /* one diagonal block */
    }
    const int sizes[] = {shape.rows, shape.columns, shape.ci, shape.co};
    for (int i = 0; i < 4; i++) {
        int count;
        set_values(task, MER_KNOB_TILE_H + i, divisors_of(sizes[i], &count, arena), 0);
        task->counts[MER_KNOB_TILE_H + i] = count;
    }
    bool is_one_row = mer_vta_is_dense(task->op) && shape.rows == 1;
    set_values(task, MER_KNOB_H_THREADS, thread_counts, is_one_row ? 1 : 2);
    set_values(task, MER_KNOB_OC_THREADS, thread_counts, 2);
}

static void make_space(MerProblem *problem, MerCodesignTask *task, MerArena *arena)
{
    static const struct {
        const char *name;
        MerRole     role;
        int         agent;
    } rows[MER_VTA_KNOBS] = {
        {"batch", MER_ROLE_HARDWARE, 0},     {"block_in", MER_ROLE_HARDWARE, 0},
        {"block_out", MER_ROLE_HARDWARE, 0}, {"inp_bytes", MER_ROLE_HARDWARE, 0},
        {"wgt_bytes", MER_ROLE_HARDWARE, 0}, {"acc_bytes", MER_ROLE_HARDWARE, 0},
        {"tile_h", MER_ROLE_TILE, 2},        {"tile_w", MER_ROLE_TILE, 2},
        {"tile_ci", MER_ROLE_TILE, 2},       {"tile_co", MER_ROLE_TILE, 2},
        {"h_threads", MER_ROLE_THREADS, 1},  {"oc_threads", MER_ROLE_THREADS, 1}};
    static const int dims[MER_VTA_KNOBS] = {
        -1, -1, -1, -1, -1, -1, MER_DIM_Y, MER_DIM_X, MER_DIM_C, MER_DIM_K, MER_DIM_Y, MER_DIM_K};
    MerKnob *knobs = MER_ARRAY(arena, MerKnob, MER_VTA_KNOBS);
    int      count = 0;
    for (int k = 0; k < MER_VTA_KNOBS; k++) {
        bool is_product = mer_vta_is_dense(task->op);
        bool is_idle = is_product && task->counts[k] == 1; /* dense layers have fewer knobs */
        task->knob[k] = -1;
        if (task->counts[k] > 0 && !is_idle) {
            task->knob[k] = count;
            knobs[count++] = (MerKnob){.name = rows[k].name,
                                       .kind = MER_KNOB_ORDERED,
                                       .role = rows[k].role,
                                       .level = -1,
                                       .dim = dims[k],
                                       .op = -1,
                                       .agent = rows[k].agent,
                                       .choices = task->counts[k],
                                       .values = task->values[k]};
        }
    }
    problem->space = (MerSpace){.knob_count = count, .knobs = knobs};
}

static MerStatus open_kernels(MerProblem *problem, MerArena *arena, MerError *error)
{
    const Options   *chosen = problem->options;
    MerCodesignTask *task = problem->state;
    const MerUnit   *cpu = &problem->platform->units[0];
    if (chosen->batch_size != 1) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "batch_size is %lld, native kernels work on one image",
                             (long long)chosen->batch_size);
    }
    mer_kernel_space_open(&task->kernels, &problem->graph->ops[problem->task->op],
                          cpu->vector_bits > 0 ? cpu->vector_bits : mer_kernel_host_bits(),
                          cpu->threads, &problem->space, arena);
    return MER_OK;
}

static MerStatus open_codesign(MerProblem *problem, MerArena *arena, MerError *error)
{
    const Options   *chosen = problem->options;
    MerCodesignTask *task = problem->state;
    if (is_native(problem) != (problem->plan == &mer_plan_kernel)) {
        return mer_error_set(error, MER_INVALID,
                             "plans of kind %s do not run on platform %s of kind %s",
                             problem->plan->name, problem->platform->name,
                             mer_platform_kind_name(problem->platform->kind));
    }
    if (is_native(problem)) {
        return open_kernels(problem, arena, error);
    }
    *task = (MerCodesignTask){.op = &problem->graph->ops[problem->task->op],
                              .images = chosen->batch_size,
                              .macs = (double)problem->graph->ops[problem->task->op].macs *
                                      (double)chosen->batch_size,
                              .rules = {chosen->bias, chosen->restrict_to == 1},
                              .mode = (MerHardwareMode)chosen->hardware,
                              .least_element = chosen->min_element_bytes,
                              .has_buffers = chosen->buffers == 1};
    mer_vta_core_of(problem->platform, &task->usual);
    MER_TRY(read_budget("mac_budget", chosen->mac_budget, mer_vta_core_macs(&task->usual),
                        &task->mac_budget, error));
    MER_TRY(read_budget("sram_budget", chosen->sram_budget, mer_vta_core_bytes(&task->usual),
                        &task->sram_budget, error));
    list_values(task, arena);
    make_space(problem, task, arena);
    return MER_OK;
}

static int value_of(const MerCodesignTask *task, const MerIndex *point, MerVtaKnob knob, int none)
{
    return task->knob[knob] >= 0     ? (int)task->values[knob][point[task->knob[knob]]]
           : task->counts[knob] == 1 ? (int)task->values[knob][0]
                                     : none;
}

static void decode_core(const MerCodesignTask *task, const MerIndex *point, MerVtaCore *core)
{
    const MerVtaCore *usual = &task->usual;
    int               batch = value_of(task, point, MER_KNOB_BATCH, usual->batch);
    int               block_in = value_of(task, point, MER_KNOB_BLOCK_IN, usual->block_in);
    int               block_out = value_of(task, point, MER_KNOB_BLOCK_OUT, usual->block_out);
    if (task->mode == MER_HARDWARE_FIXED) {
        *core = *usual;
    } else if (task->has_buffers) {
        mer_vta_core_make(core, batch, block_in, block_out, usual->bytes[MER_VTA_UOP],
                          value_of(task, point, MER_KNOB_INP, 0),
                          value_of(task, point, MER_KNOB_WGT, 0),
                          value_of(task, point, MER_KNOB_ACC, 0));
    } else {
        mer_vta_core_follow(usual, batch, block_in, block_out, task->sram_budget, core);
    }
}

/* The largest divisor of `size` not above `wish`, at least 1. */
static int divisor_below(int size, int wish)
{
    int d = wish < size ? (wish > 1 ? wish : 1) : size;
    while (size % d != 0) {
        d--;
    }
    return d;
}

/* A tile as its knob says it is in blocks of the smallest core; in blocks of this one, rounded up, it is
 * the largest divisor not above. */
static int decode_tile(const MerCodesignTask *task, const MerVtaCore *core,
                       const MerVtaShape *shape, MerVtaKnob knob, int value)
{
    const int sizes[] = {shape->rows, shape->columns, shape->ci, shape->co};
    const int block[] = {mer_vta_is_dense(task->op) ? core->batch : 1, 1, core->block_in,
                         core->block_out};
    const int least[] = {1, 1, LEAST_BLOCK, LEAST_BLOCK};
    int       i = knob - MER_KNOB_TILE_H;
    if (task->mode == MER_HARDWARE_FIXED || block[i] == least[i]) {
        return value;
    }
    return divisor_below(sizes[i], (value * least[i] + block[i] - 1) / block[i]);
}

int mer_codesign_tiles(const MerCodesignTask *task, const MerVtaTask *vta, int axis, int *list)
{
    MerVtaKnob knob = MER_KNOB_TILE_H + axis;
    int        count = 0;
    for (int i = 0; i < task->counts[knob]; i++) {
        int tile = decode_tile(task, &vta->core, &vta->shape, knob, (int)task->values[knob][i]);
        if (count == 0 || list[count - 1] != tile) { /* they grow with the value */
            list[count++] = tile;
        }
    }
    return count;
}

static void decode_point(const MerCodesignTask *task, const MerIndex *point, MerVtaPlan *plan)
{
    MerVtaShape shape;
    int         tile[4];
    decode_core(task, point, &plan->core);
    mer_vta_shape_make(task->op, task->images, &plan->core, &shape);
    for (int i = 0; i < 4; i++) {
        MerVtaKnob knob = MER_KNOB_TILE_H + i;
        tile[i] = decode_tile(task, &plan->core, &shape, knob, value_of(task, point, knob, 1));
    }
    plan->schedule = (MerVtaSchedule){tile[0],
                                      tile[1],
                                      tile[2],
                                      tile[3],
                                      value_of(task, point, MER_KNOB_H_THREADS, 1),
                                      value_of(task, point, MER_KNOB_OC_THREADS, 1)};
}

static void decode(const MerProblem *problem, const MerIndex *point, MerPlan *plan, MerArena *arena)
{
    const MerCodesignTask *task = problem->state;
    plan->kind = problem->plan;
    if (is_native(problem)) {
        plan->content = MER_NEW(arena, MerKernel);
        mer_kernel_decode(&task->kernels, point, plan->content);
    } else {
        plan->content = MER_NEW(arena, MerVtaPlan);
        decode_point(task, point, plan->content);
    }
}

/* The first choice of `knob` for which the plan comes out; the other knobs are set. */
static bool encode_knob(const MerCodesignTask *task, MerVtaKnob knob, const MerVtaPlan *plan,
                        MerIndex *point)
{
    for (int i = 0; i < task->counts[knob] && task->knob[knob] >= 0; i++) {
        MerVtaPlan made;
        point[task->knob[knob]] = i;
        decode_point(task, point, &made);
        const int got[] = {made.core.batch,
                           made.core.block_in,
                           made.core.block_out,
                           (int)made.core.bytes[MER_VTA_INP],
                           (int)made.core.bytes[MER_VTA_WGT],
                           (int)made.core.bytes[MER_VTA_ACC],
                           made.schedule.tile_h,
                           made.schedule.tile_w,
                           made.schedule.tile_ci,
                           made.schedule.tile_co,
                           made.schedule.h_threads,
                           made.schedule.oc_threads};
        const int want[] = {plan->core.batch,
                            plan->core.block_in,
                            plan->core.block_out,
                            (int)plan->core.bytes[MER_VTA_INP],
                            (int)plan->core.bytes[MER_VTA_WGT],
                            (int)plan->core.bytes[MER_VTA_ACC],
                            plan->schedule.tile_h,
                            plan->schedule.tile_w,
                            plan->schedule.tile_ci,
                            plan->schedule.tile_co,
                            plan->schedule.h_threads,
                            plan->schedule.oc_threads};
        if (got[knob] == want[knob]) {
            return true;
        }
    }
    return task->knob[knob] < 0;
}

static bool encode(const MerProblem *problem, const MerPlan *plan, MerIndex *point)
{
    const MerCodesignTask *task = problem->state;
    const MerVtaPlan      *wanted = plan->content;
    MerVtaPlan             made;
    if (is_native(problem)) {
        return mer_kernel_encode(&task->kernels, plan->content, point);
    }
    memset(point, 0, (size_t)problem->space.knob_count * sizeof *point);
    for (int k = 0; k < MER_VTA_KNOBS; k++) {
        if (!encode_knob(task, k, wanted, point)) {
            return false;
        }
    }
    decode_point(task, point, &made);
    return memcmp(&made.schedule, &wanted->schedule, sizeof made.schedule) == 0 &&
           mer_vta_core_equal(&made.core, &wanted->core);
}

bool mer_codesign_core_check(const MerCodesignTask *task, const MerVtaCore *core,
                             MerVtaReason *reason)
{
    static const MerVtaMemory entries[] = {MER_VTA_INP, MER_VTA_WGT, MER_VTA_OUT};
    int64_t                   macs = mer_vta_core_macs(core), bytes = mer_vta_core_bytes(core);
    if (macs > task->mac_budget) {
        return mer_vta_refuse(reason, "budget: %lld multipliers, at most %lld", (long long)macs,
                              (long long)task->mac_budget);
    }
    if (bytes > task->sram_budget) {
        return mer_vta_refuse(reason, "budget: %lld bytes of SRAM, at most %lld", (long long)bytes,
                              (long long)task->sram_budget);
    }
    for (int e = 0; e < 3; e++) {
        if (core->element[entries[e]] < task->least_element) {
            return mer_vta_refuse(reason, "budget: an entry of %s is %d bytes, at least %lld",
                                  mer_vta_memory_name(entries[e]), core->element[entries[e]],
                                  (long long)task->least_element);
        }
    }
    return mer_vta_core_check(core, reason);
}

void mer_codesign_vta_task(const MerCodesignTask *task, const MerVtaCore *core, MerVtaTask *vta)
{
    vta->core = *core;
    vta->rules = task->rules;
    mer_vta_shape_make(task->op, task->images, core, &vta->shape);
}

static bool is_legal(const MerProblem *problem, const MerIndex *point)
{
    const MerCodesignTask *task = problem->state;
    MerVtaPlan             plan;
    MerVtaTask             vta;
    MerKernel              kernel;
    if (is_native(problem)) {
        mer_kernel_decode(&task->kernels, point, &kernel);
        return mer_kernel_check(&task->kernels.shape, &kernel, NULL);
    }
    decode_point(task, point, &plan);
    mer_codesign_vta_task(task, &plan.core, &vta);
    return mer_codesign_core_check(task, &plan.core, NULL) &&
           mer_vta_check(&vta.core, &vta.shape, &plan.schedule, &vta.rules, NULL);
}

/* Not smaller anywhere, same geometry: whatever fits the other fits this one. */
static bool replaces(const MerVtaCore *a, const MerVtaCore *b)
{
    return a->batch == b->batch && a->block_in == b->block_in && a->block_out == b->block_out &&
           a->bytes[MER_VTA_INP] >= b->bytes[MER_VTA_INP] &&
           a->bytes[MER_VTA_WGT] >= b->bytes[MER_VTA_WGT] &&
           a->bytes[MER_VTA_ACC] >= b->bytes[MER_VTA_ACC];
}

static void add_core(MerCores *cores, const MerVtaCore *core, MerArena *arena)
{
    int kept = 0;
    for (int c = 0; c < cores->count; c++) {
        if (replaces(&cores->list[c], core)) {
            return;
        }
    }
    for (int c = 0; c < cores->count; c++) {
        if (!replaces(core, &cores->list[c])) {
            cores->list[kept++] = cores->list[c];
        }
    }
    cores->count = kept;
    MER_GROW(arena, cores->list, cores->count);
    cores->list[cores->count++] = *core;
}

void mer_codesign_cores(const MerCodesignTask *task, MerArena *arena, MerCores *cores)
{
    MerIndex point[MER_VTA_KNOBS] = {0};
    *cores = (MerCores){0, MER_ARRAY(arena, MerVtaCore, 1)};
    for (;;) {
        MerVtaCore core;
        int        k = MER_KNOB_ACC;
        decode_core(task, point, &core);
        if (mer_codesign_core_check(task, &core, NULL)) {
            add_core(cores, &core, arena);
        }
        for (; k >= 0; k--) { /* the next choice of the knobs of hardware */
            if (task->knob[k] >= 0 && ++point[task->knob[k]] < task->counts[k]) {
                break;
            }
            if (task->knob[k] >= 0) {
                point[task->knob[k]] = 0;
            }
        }
        if (k < 0) {
            return;
        }
    }
}

/* No schedule takes less than the products and the ALU alone, the weights and outputs moved once, on the core
 * that suits the layer best. */
static double least_seconds(const MerCodesignTask *task, const MerVtaTiming *timing,
                            const MerVtaCore *core)
{
    MerVtaTask vta;
    mer_codesign_vta_task(task, core, &vta);
    const MerVtaShape *s = &vta.shape;
    double             outputs = (double)s->batches * s->groups * s->co * s->rows * s->columns;
    double             kernel = (double)s->kernel[0] * s->kernel[1];
    double weights = (double)s->groups * s->co * s->ci * kernel * core->element[MER_VTA_WGT];
    double compute = outputs * ((s->ci * kernel + 1) * timing->gemm_interval +
                                (vta.rules.has_bias ? 4 : 3) * timing->alu_interval);
    double load = weights * timing->load_per_byte;
    double store = outputs * core->element[MER_VTA_OUT] * timing->store_per_byte;
    return (double)s->repeat *
           (fmax(compute, fmax(load, store)) / timing->clock_hz + 1e-6 * timing->host_us);
}

static void bound(const MerProblem *problem, const void *rules, MerMetric metric, MerBound *result)
{
    const MerCodesignTask *task = problem->state;
    const MerVtaTiming    *timing = rules;
    MerArena              *arena = mer_arena_new();
    MerCores               cores;
    double                 least = INFINITY;
    mer_codesign_cores(task, arena, &cores);
    for (int c = 0; c < cores.count; c++) {
        least = fmin(least, least_seconds(task, timing, &cores.list[c]));
    }
    mer_arena_free(arena);
    double host = (double)task->op->repeat * 1e-6 * timing->host_us;
    *result = (MerBound){NAN, "none", ""};
    if (cores.count == 0) {
        return;
    }
    switch (metric) {
    case MER_METRIC_LATENCY:
        *result = (MerBound){least, "roofline", ""};
        break;
    case MER_METRIC_CYCLES:
        *result = (MerBound){(least - host) * timing->clock_hz, "roofline", ""};
        break;
    case MER_METRIC_THROUGHPUT:
        *result = (MerBound){2 * task->macs / least, "roofline", ""};
        break;
    default:
        break;
    }
}

/* Operations add up and so do times: the rate of the network, and what bounds of its layers say of it. */
static void combine(const MerWhole *whole, MerCost *total, MerBound *result)
{
    double work = 0, least = 0;
    (void)total;
    for (int p = 0; p < whole->count && whole->objective == MER_METRIC_THROUGHPUT; p++) {
        const MerPart *part = &whole->parts[p];
        double         done = 2 * part->task->macs * (double)part->task->count;
        work += done;
        least += done / part->bound.value;
    }
    if (least > 0) {
        *result = (MerBound){work / least, "search", ""};
    }
}

/* Candidates for the one geometry of the network: those that single layers chose, by the time that chose
 * them. A further round fixes each of the first few. */
enum { ROUNDS = 4 };

typedef struct Candidate {
    const MerVtaCore *core;
    double            weight;
} Candidate;

static int rank_cores(const MerWhole *first, Candidate *list, int most)
{
    int count = 0;
    for (int p = 0; p < first->count; p++) {
        const MerPart *part = &first->parts[p];
        if (!part->plan) {
            continue;
        }
        const MerVtaPlan *plan = part->plan->content;
        double weight = (double)part->task->count * part->cost->value[MER_METRIC_LATENCY];
        int    c = 0;
        while (c < count && !mer_vta_core_equal(list[c].core, &plan->core)) {
            c++;
        }
        if (c == count && count < most) {
            list[count++] = (Candidate){&plan->core, 0};
        }
        if (c < count) {
            list[c].weight += weight;
        }
    }
    for (int i = 1; i < count; i++) { /* heaviest first, earlier ones first among equals */
        Candidate now = list[i];
        int       at = i;
        for (; at > 0 && list[at - 1].weight < now.weight; at--) {
            list[at] = list[at - 1];
        }
        list[at] = now;
    }
    return count;
}

static bool next_round(const MerWhole *rounds, int done, MerRound *round, MerArena *arena)
{
    enum { MOST = 64 };
    const MerCodesignTask *task =
        rounds[0].count > 0 ? mer_codesign_task(rounds[0].parts[0].problem) : NULL;
    Candidate list[MOST];
    int       count = task ? rank_cores(&rounds[0], list, MOST) : 0;
    bool      is_solved = true;
    for (int p = 0; p < rounds[0].count; p++) {
        is_solved = is_solved && rounds[0].parts[p].is_proven;
    }
    if (!task || task->mode != MER_HARDWARE_SHARED || is_solved || done > count) {
        return false;
    }
    const MerVtaCore *core = list[done - 1].core;
    MerFixedKnob     *fixed = MER_ARRAY(arena, MerFixedKnob, 6);
    int               n = 0;
    fixed[n++] = (MerFixedKnob){"batch", core->batch};
    fixed[n++] = (MerFixedKnob){"block_in", core->block_in};
    fixed[n++] = (MerFixedKnob){"block_out", core->block_out};
    if (task->has_buffers) {
        fixed[n++] = (MerFixedKnob){"inp_bytes", (double)core->bytes[MER_VTA_INP]};
        fixed[n++] = (MerFixedKnob){"wgt_bytes", (double)core->bytes[MER_VTA_WGT]};
        fixed[n++] = (MerFixedKnob){"acc_bytes", (double)core->bytes[MER_VTA_ACC]};
    }
    *round = (MerRound){
        .name = mer_arena_format(arena, "%dx%dx%d", core->batch, core->block_in, core->block_out),
        .fixed_count = n,
        .fixed = fixed};
    return true;
}

/* Half of the budget finds candidates, the rest is for schedules on each of them. */
static double round_share(const MerProblem *problem, int round)
{
    const MerCodesignTask *task = mer_codesign_task(problem); /* NULL: kernels, one round */
    return !task || task->mode != MER_HARDWARE_SHARED ? 1 : round == 0 ? 0.5 : 0.5 / ROUNDS;
}

static bool is_shared(const MerWhole *round)
{
    const MerVtaPlan *first = NULL;
    for (int p = 0; p < round->count; p++) {
        if (!round->parts[p].plan) {
            return false;
        }
        const MerVtaPlan *plan = round->parts[p].plan->content;
        first = first ? first : plan;
        if (!mer_vta_core_equal(&plan->core, &first->core)) {
            return false;
        }
    }
    return round->count > 0;
}

/* All tasks take the round whose one core is fastest for the network. */
static void pick_rounds(const MerWhole *rounds, int done, int *pick)
{
    int    best = done - 1;
    double least = INFINITY;
    for (int r = 0; r < done && done > 1; r++) {
        double sum = 0;
        for (int p = 0; p < rounds[r].count; p++) {
            const MerPart *part = &rounds[r].parts[p];
            sum += part->plan ? (double)part->task->count * part->cost->value[MER_METRIC_LATENCY]
                              : INFINITY;
        }
        if (is_shared(&rounds[r]) && sum < least) {
            least = sum;
            best = r;
        }
    }
    for (int p = 0; p < rounds[0].count; p++) {
        pick[p] = best;
    }
}

/* What has multiplications and no kernel, and why. */
static const char *describe_host(const MerGraph *graph, MerArena *arena)
{
    const char *text = "";
    for (int o = 0; o < graph->op_count; o++) {
        const MerOp *op = &graph->ops[o];
        const char  *reason = mer_kernel_host_reason(op);
        if (reason && mer_op_kind_has_macs(op->kind)) {
            text = mer_arena_format(arena, "%s%s stays on the host: %s\n", text, op->name, reason);
        }
    }
    return *text ? text : NULL;
}

static const char *describe(const MerWhole *whole, MerArena *arena)
{
    const MerCodesignShared *shared = whole->parts[0].task->shared;
    const MerVtaPlan        *plan = whole->parts[0].plan->content;
    const MerVtaCore        *core = &plan->core, *usual;
    double                   seconds = 0;
    if (is_native(whole->parts[0].problem)) {
        return describe_host(whole->parts[0].problem->graph, arena);
    }
    if (!is_shared(whole)) {
        return "every layer has a core of its own\n";
    }
    for (int p = 0; p < whole->count; p++) {
        seconds +=
            (double)whole->parts[p].task->count * whole->parts[p].cost->value[MER_METRIC_LATENCY];
    }
    usual = &mer_codesign_task(whole->parts[0].problem)->usual;
    const char *text = mer_arena_format(
        arena, "core %dx%dx%d (batch x block_in x block_out): %lld multipliers, %.0f KiB of SRAM\n",
        core->batch, core->block_in, core->block_out, (long long)mer_vta_core_macs(core),
        (double)mer_vta_core_bytes(core) / 1024);
    int bus = whole->parts[0].problem->platform->bus_bits / 8;
    int least = core->element[MER_VTA_INP] < core->element[MER_VTA_OUT]
                    ? core->element[MER_VTA_INP]
                    : core->element[MER_VTA_OUT];
    if (least < bus) {
        text = mer_arena_format(
            arena,
            "%sits smallest entry has %d bytes, the bus %d: no known core is built "
            "so; --min-element-bytes %d leaves such cores out\n",
            text, least, bus, bus);
    }
    if (shared && shared->usual_seconds > 0 && !mer_vta_core_equal(core, usual)) {
        text = mer_arena_format(
            arena,
            "%sthe platform's %dx%dx%d takes %.4g ms at best, this one %.4g ms: %.1f %% less\n",
            text, usual->batch, usual->block_in, usual->block_out, 1e3 * shared->usual_seconds,
            1e3 * seconds, 100 * (1 - seconds / shared->usual_seconds));
    }
    return text;
}

static MerStatus read_graph(MerYaml *tasks, MerGraph **graph, MerReference *implied,
                            MerArena *arena, MerError *error)
{
    (void)implied;
    return mer_ops_read(tasks, arena, graph, error);
}

static const char *advise(const char *reason, MerArena *arena)
{
    (void)arena;
    return strncmp(reason, "budget: ", 8) == 0
               ? "a larger --mac-budget or --sram-budget, or --hardware fixed"
           : strncmp(reason, "capacity: ", 10) == 0 ? "smaller tiles, or a larger --sram-budget"
                                                    : NULL;
}

static const char *covers(const MerProblem *problem)
{
    const MerCodesignTask *task = problem->state;
    return is_native(problem)                  ? NULL
           : task->mode == MER_HARDWARE_SHARED ? "tiles that divide, one geometry for all layers"
                                               : "tiles that divide";
}

static const char *choice_name(const MerProblem *problem, int knob, MerIndex choice,
                               MerArena *arena)
{
    (void)arena;
    return is_native(problem) && mer_kernel_fields[knob].role == MER_ROLE_ORDER
               ? mer_kernel_order(choice)
               : NULL;
}

/* Kernels are measured: there is nothing to enumerate. */
static const char *choose_default(MerDefault what, const MerInputs *inputs)
{
    if (!inputs->platform || inputs->platform->kind != MER_PLATFORM_NATIVE) {
        return NULL;
    }
    return what == MER_DEFAULT_EVALUATOR   ? "native"
           : what == MER_DEFAULT_OPTIMIZER ? "annealing"
                                           : NULL;
}

static const MerPlanKind *const plan_kinds[] = {&mer_plan_vta, &mer_plan_kernel, NULL};

const MerProblemClass mer_problem_codesign = {
    .name = "codesign",
    .summary = "geometry of an accelerator core, tiles and virtual threads of each layer",
    .evaluator = "vta",
    .optimizer = "grid",
    .objective = "throughput",
    .platform = "vta-pynq-b",
    .exact = "grid",
    .plan_file = "mapping.yaml",
    .budget = 256,
    .counts_distinct = true,
    .platforms = 1u << MER_PLATFORM_VTA | 1u << MER_PLATFORM_NATIVE,
    .plans = plan_kinds,
    .options = options,
    .options_size = sizeof(Options),
    .state_size = sizeof(MerCodesignTask),
    .open = open_codesign,
    .decode = decode,
    .encode = encode,
    .bound = bound,
    .tasks = list_tasks,
    .is_legal = is_legal,
    .combine = combine,
    .rounds = ROUNDS,
    .next_round = next_round,
    .round_share = round_share,
    .pick_rounds = pick_rounds,
    .describe = describe,
    .read_log = mer_codesign_read_log,
    .calibrate = mer_codesign_calibrate,
    .choice_name = choice_name,
    .choose_default = choose_default,
    .read_graph = read_graph,
    .advise = advise,
    .covers = covers,
    .demo = "resnet18",
    .demo_summary =
        "ResNet-18 on a VTA-class core: one geometry for the network, tiles and virtual "
        "threads of each layer.",
};
