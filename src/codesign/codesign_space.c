/* The space of cores and schedules: values of the knobs, points to plans and back, and all cores that the
 * knobs can say (docs/codesign.md, "Space"). */
#include "codesign/codesign_parts.h"

#include <math.h>
#include <string.h>

static const double batches[] = {1, 2, 4, 8, 16}, blocks[] = {4, 8, 16, 32, 64};
static const double thread_counts[] = {1, 2};
enum { LEAST_BLOCK = 4, BUFFER_STEPS = 5 };

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

void mer_codesign_space_make(MerProblem *problem, MerCodesignTask *task, MerArena *arena)
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
    list_values(task, arena);
    int count = 0;
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

void mer_codesign_decode(const MerCodesignTask *task, const MerIndex *point, MerVtaPlan *plan)
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

/* The first choice of `knob` for which the plan comes out; the other knobs are set. */
static bool encode_knob(const MerCodesignTask *task, MerVtaKnob knob, const MerVtaPlan *plan,
                        MerIndex *point)
{
    for (int i = 0; i < task->counts[knob] && task->knob[knob] >= 0; i++) {
        MerVtaPlan made;
        point[task->knob[knob]] = i;
        mer_codesign_decode(task, point, &made);
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

bool mer_codesign_encode(const MerProblem *problem, const MerVtaPlan *wanted, MerIndex *point)
{
    const MerCodesignTask *task = problem->state;
    MerVtaPlan             made;
    memset(point, 0, (size_t)problem->space.knob_count * sizeof *point);
    for (int k = 0; k < MER_VTA_KNOBS; k++) {
        if (!encode_knob(task, k, wanted, point)) {
            return false;
        }
    }
    mer_codesign_decode(task, point, &made);
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
