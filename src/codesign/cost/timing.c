/* Costs of instructions, and the walk over them: the reference of the fast price. */
#include "codesign/cost/timing.h"

#include "base/memory.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* clang-format off */
#define CONSTANT(name, least, usual) {#name, offsetof(MerVtaTiming, name), least, usual}
/* clang-format on */
/* Bounds of a fit: docs/codesign-model.md, "Calibration". Usual values are round numbers that hold for no board. */
const MerVtaConstant mer_vta_constants[] = {CONSTANT(load_setup, 5, 100),
                                            CONSTANT(load_row, 0, 50),
                                            CONSTANT(load_per_byte, 0, 0.2),
                                            CONSTANT(store_setup, 0, 100),
                                            CONSTANT(store_row, 0, 50),
                                            CONSTANT(store_per_byte, 0.125, 0.2),
                                            CONSTANT(gemm_setup, 0, 50),
                                            CONSTANT(alu_setup, 5, 20),
                                            CONSTANT(alu_interval, 2, 4),
                                            CONSTANT(host_us, 0, 50),
                                            CONSTANT(host_us_per_instruction, 0, 0.5),
                                            CONSTANT(gemm_interval, NAN, 1),
                                            CONSTANT(pad_word, NAN, 1),
                                            {0}};

void mer_vta_timing_of(const MerPlatform *platform, MerVtaTiming *timing)
{
    *timing = (MerVtaTiming){.clock_hz = platform->clock_hz};
    for (const MerVtaConstant *c = mer_vta_constants; c->name; c++) {
        *(double *)((char *)timing + c->offset) =
            mer_formula_number(&platform->timing, c->name, isnan(c->least) ? 1 : 0);
    }
}

static int64_t ticks(double cycles)
{
    return llround(cycles * MER_VTA_TICKS);
}

static double burst_cycles(double setup, double row, double per_byte,
                           const MerVtaTransfer *transfer, int element)
{
    int rows = transfer->x == transfer->stride ? 1 : transfer->y;
    return setup + rows * row + (double)transfer->y * transfer->x * element * per_byte;
}

int64_t mer_vta_load_ticks(const MerVtaTiming *timing, const MerVtaTransfer *t, int element)
{
    double inside = (double)t->y * t->x;
    double all = (double)(t->pad[0] + t->y + t->pad[2]) * (t->pad[1] + t->x + t->pad[3]);
    return ticks(
        burst_cycles(timing->load_setup, timing->load_row, timing->load_per_byte, t, element) +
        (all - inside) * timing->pad_word);
}

int64_t mer_vta_store_ticks(const MerVtaTiming *timing, const MerVtaTransfer *t, int element)
{
    return ticks(
        burst_cycles(timing->store_setup, timing->store_row, timing->store_per_byte, t, element));
}

int64_t mer_vta_gemm_ticks(const MerVtaTiming *timing, int64_t iterations)
{
    return ticks(timing->gemm_setup + (double)iterations * timing->gemm_interval);
}

int64_t mer_vta_alu_ticks(const MerVtaTiming *timing, int64_t iterations)
{
    return ticks(timing->alu_setup + (double)iterations * timing->alu_interval);
}

int64_t mer_vta_uop_ticks(const MerVtaTiming *timing)
{
    return mer_vta_load_ticks(timing, &(MerVtaTransfer){.y = 1, .x = 1, .stride = 1}, 4);
}

double mer_vta_seconds(const MerVtaTiming *timing, const MerVtaTime *time)
{
    return (double)time->ticks / MER_VTA_TICKS / timing->clock_hz +
           1e-6 * (time->streams * timing->host_us +
                   (double)time->instructions * timing->host_us_per_instruction);
}

static int64_t cost_of(const MerVtaCore *core, const MerVtaTiming *timing,
                       const MerVtaInstruction *i)
{
    if (i->opcode == MER_VTA_FINISH || mer_vta_is_noop(i)) {
        return 0;
    }
    if (i->opcode == MER_VTA_GEMM) {
        return mer_vta_gemm_ticks(timing, mer_vta_iterations(i));
    }
    if (i->opcode == MER_VTA_ALU) {
        return mer_vta_alu_ticks(timing, mer_vta_iterations(i));
    }
    MerVtaTransfer t = {.y = (int)i->y_size,
                        .x = (int)i->x_size,
                        .stride = (int)i->x_stride,
                        .pad = {i->y_pad_0, i->x_pad_0, i->y_pad_1, i->x_pad_1}};
    int            element = core->element[i->memory];
    return i->opcode == MER_VTA_LOAD ? mer_vta_load_ticks(timing, &t, element)
                                     : mer_vta_store_ticks(timing, &t, element);
}

/* Tokens on their way from one stage to a neighbour, by the time they were sent. */
typedef struct Queue {
    int64_t *times;
    int64_t  first, end, capacity;
} Queue;

static void push(Queue *queue, int64_t time)
{
    if (queue->end == queue->capacity) {
        queue->capacity = queue->capacity ? 2 * queue->capacity : 64;
        queue->times = mer_heap_resize(queue->times, (size_t)queue->capacity, sizeof *queue->times);
    }
    queue->times[queue->end++] = time;
}

static bool is_empty(const Queue *queue)
{
    return queue->first == queue->end;
}

typedef struct Walk {
    const MerVtaCore        *core;
    const MerVtaTiming      *timing;
    const MerVtaInstruction *list;
    int64_t                  begin, end; /* of the stream */
    int64_t                  at[MER_VTA_STAGES], clock[MER_VTA_STAGES];
    Queue                    right[2], left[2]; /* [s]: between stage s and s + 1 */
    MerVtaTime              *time;
    MerVtaWatch             *watch;
    void                    *state;
} Walk;

static void find_next(Walk *w, int stage)
{
    while (w->at[stage] < w->end && (int)mer_vta_stage(&w->list[w->at[stage]]) != stage) {
        w->at[stage]++;
    }
}

/* Runs the next instruction of a stage; false: it waits for a token. */
static bool run_next(Walk *w, int stage)
{
    const MerVtaInstruction *i = &w->list[w->at[stage]];
    Queue                   *from_prev = i->pop_prev && stage > 0 ? &w->right[stage - 1] : NULL;
    Queue                   *from_next = i->pop_next && stage < 2 ? &w->left[stage] : NULL;
    if ((from_prev && is_empty(from_prev)) || (from_next && is_empty(from_next))) {
        return false;
    }
    bool is_free = !w->timing->is_exact && i->opcode == MER_VTA_LOAD && i->memory == MER_VTA_UOP &&
                   !mer_vta_is_noop(i);
    int64_t ready = w->clock[stage], start = ready;
    int64_t cost = is_free ? 0 : cost_of(w->core, w->timing, i);
    if (from_prev) {
        int64_t sent = from_prev->times[from_prev->first++];
        start = sent > start ? sent : start;
    }
    if (from_next) {
        int64_t sent = from_next->times[from_next->first++];
        start = sent > start ? sent : start;
    }
    w->clock[stage] = start + cost;
    w->time->busy[stage] += cost;
    w->time->instructions += !is_free;
    if (i->push_prev && stage > 0) {
        push(&w->left[stage - 1], w->clock[stage]);
    }
    if (i->push_next && stage < 2) {
        push(&w->right[stage], w->clock[stage]);
    }
    if (w->watch) {
        w->watch(w->state, i, w->at[stage], ready, start, w->clock[stage]);
    }
    w->at[stage]++;
    find_next(w, stage);
    return true;
}

static bool walk_stream(Walk *w, MerVtaReason *reason)
{
    bool moves = true;
    for (int s = 0; s < MER_VTA_STAGES; s++) {
        w->at[s] = w->begin;
        w->clock[s] = w->time->ticks;
        find_next(w, s);
    }
    if (!w->timing->is_exact) { /* one LOAD UOP before all else */
        int64_t cost = mer_vta_uop_ticks(w->timing);
        w->clock[MER_VTA_COMPUTE_STAGE] += cost;
        w->time->busy[MER_VTA_COMPUTE_STAGE] += cost;
        w->time->instructions++;
    }
    while (moves) {
        moves = false;
        for (int s = 0; s < MER_VTA_STAGES; s++) {
            while (w->at[s] < w->end && run_next(w, s)) {
                moves = true;
            }
        }
    }
    for (int s = 0; s < MER_VTA_STAGES; s++) {
        if (w->at[s] < w->end) {
            return mer_vta_refuse(reason,
                                  "tokens: load waits at instruction %lld, compute at %lld, store "
                                  "at %lld of %lld",
                                  (long long)w->at[0], (long long)w->at[1], (long long)w->at[2],
                                  (long long)w->end);
        }
        w->time->ticks = w->clock[s] > w->time->ticks ? w->clock[s] : w->time->ticks;
    }
    for (int q = 0; q < 2; q++) {
        if (!is_empty(&w->right[q]) || !is_empty(&w->left[q])) {
            return mer_vta_refuse(reason, "tokens: some are left between %s and %s at the end",
                                  mer_vta_stage_name(q), mer_vta_stage_name(q + 1));
        }
    }
    return true;
}

bool mer_vta_walk(const MerVtaCore *core, const MerVtaTiming *timing, const MerVtaInstruction *list,
                  int64_t count, MerVtaTime *time, MerVtaWatch *watch, void *state,
                  MerVtaReason *reason)
{
    Walk w = {
        .core = core, .timing = timing, .list = list, .time = time, .watch = watch, .state = state};
    bool is_fine = true;
    *time = (MerVtaTime){0};
    while (is_fine && w.begin < count) {
        w.end = w.begin;
        while (w.end < count && list[w.end].opcode != MER_VTA_FINISH) {
            w.end++;
        }
        w.end += w.end < count;
        time->streams++;
        is_fine = walk_stream(&w, reason);
        w.begin = w.end;
    }
    for (int q = 0; q < 2; q++) {
        free(w.right[q].times);
        free(w.left[q].times);
    }
    return is_fine;
}
