/* The functional simulator. SRAMs start with garbage, so that what is read before it is written shows. */
#include "codesign/cost/functional.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Chip {
    MerVtaMachine *machine;
    uint32_t      *uop;
    int8_t        *inp, *wgt, *out;
    int32_t       *acc;
    int64_t        tokens[4]; /* load to compute, and back, compute to store, and back */
    MerVtaReason  *reason;
} Chip;

enum { TO_COMPUTE, TO_LOAD, TO_STORE, FROM_STORE };

static void *sram_of(const Chip *chip, MerVtaMemory memory)
{
    void *const all[] = {chip->uop, chip->wgt, chip->inp, chip->acc, chip->out, chip->acc};
    return all[memory];
}

static void fill_garbage(const Chip *chip)
{
    MerRng garbage = mer_rng_make(1, 0);
    for (int m = MER_VTA_UOP; m <= MER_VTA_OUT; m++) {
        uint8_t *bytes = sram_of(chip, m);
        for (int64_t i = 0; i + 8 <= chip->machine->core->bytes[m]; i += 8) {
            uint64_t word = mer_rng_next(&garbage);
            memcpy(bytes + i, &word, sizeof word);
        }
    }
}

static bool check_range(const Chip *chip, const char *what, int64_t from, int64_t count,
                        int64_t size)
{
    return (from >= 0 && count >= 0 && from + count <= size) ||
           mer_vta_refuse(chip->reason, "%s: entries %lld to %lld, has %lld", what, (long long)from,
                          (long long)(from + count), (long long)size);
}

/* `count` entries of DRAM from entry `from` on; NULL: outside. */
static uint8_t *dram_at(const Chip *chip, MerVtaMemory memory, int64_t from, int64_t count)
{
    int64_t element = chip->machine->core->element[memory];
    int64_t entries = (int64_t)chip->machine->dram_bytes / element;
    return check_range(chip, "dram", from, count, entries) ? chip->machine->dram + from * element
                                                           : NULL;
}

static void load_row(const Chip *chip, MerVtaMemory memory, int64_t at, const uint8_t *from,
                     int64_t count)
{
    const MerVtaCore *core = chip->machine->core;
    if (memory == MER_VTA_ACC8) {
        int64_t lanes = (int64_t)core->batch * core->block_out;
        for (int64_t i = 0; i < count * lanes; i++) {
            chip->acc[at * lanes + i] = (int8_t)from[i];
        }
        return;
    }
    size_t element = (size_t)core->element[memory];
    memcpy((uint8_t *)sram_of(chip, memory) + (size_t)at * element, from, (size_t)count * element);
}

static bool run_load(Chip *chip, const MerVtaInstruction *i)
{
    const MerVtaCore *core = chip->machine->core;
    MerVtaMemory      memory = i->memory;
    int64_t           width = (int64_t)i->x_pad_0 + i->x_size + i->x_pad_1;
    int64_t           rows = (int64_t)i->y_pad_0 + i->y_size + i->y_pad_1, at = i->sram_base;
    if (memory == MER_VTA_OUT || memory >= MER_VTA_MEMORY_COUNT) {
        return mer_vta_refuse(chip->reason, "encoding: a LOAD cannot fill memory %d", memory);
    }
    if (rows * width > (int64_t)i->y_size * i->x_size && memory != MER_VTA_INP &&
        memory != MER_VTA_ACC) {
        return mer_vta_refuse(chip->reason, "encoding: padding of %s", mer_vta_memory_name(memory));
    }
    if (!check_range(chip, mer_vta_memory_name(memory), at, rows * width, core->depth[memory])) {
        return false;
    }
    size_t entry =
        memory == MER_VTA_ACC8 ? (size_t)core->element[MER_VTA_ACC] : (size_t)core->element[memory];
    memset((uint8_t *)sram_of(chip, memory) + (size_t)at * entry, 0,
           (size_t)(rows * width) * entry);
    for (int64_t y = 0; y < i->y_size; y++) {
        const uint8_t *from =
            dram_at(chip, memory, (int64_t)i->dram_base + y * i->x_stride, i->x_size);
        if (!from) {
            return false;
        }
        load_row(chip, memory, at + (i->y_pad_0 + y) * width + i->x_pad_0, from, i->x_size);
    }
    chip->machine->counters.load[memory] += (int64_t)i->y_size * i->x_size * core->element[memory];
    return true;
}

static bool run_store(Chip *chip, const MerVtaInstruction *i)
{
    const MerVtaCore *core = chip->machine->core;
    size_t            element = (size_t)core->element[MER_VTA_OUT];
    if (i->y_pad_0 || i->y_pad_1 || i->x_pad_0 || i->x_pad_1 || i->memory != MER_VTA_OUT) {
        return mer_vta_refuse(chip->reason, "encoding: a STORE is of out, without padding");
    }
    if (!check_range(chip, "out", i->sram_base, (int64_t)i->y_size * i->x_size,
                     core->depth[MER_VTA_OUT])) {
        return false;
    }
    for (int64_t y = 0; y < i->y_size; y++) {
        uint8_t *to =
            dram_at(chip, MER_VTA_OUT, (int64_t)i->dram_base + y * i->x_stride, i->x_size);
        if (!to) {
            return false;
        }
        memcpy(to, chip->out + (size_t)(i->sram_base + y * i->x_size) * element,
               (size_t)i->x_size * element);
    }
    chip->machine->counters.store += (int64_t)i->y_size * i->x_size * (int64_t)element;
    return true;
}

/* The low byte of every result is seen by STORE. */
static void mirror(const Chip *chip, int64_t entry)
{
    int64_t lanes = (int64_t)chip->machine->core->batch * chip->machine->core->block_out;
    for (int64_t l = entry * lanes; l < (entry + 1) * lanes; l++) {
        chip->out[l] = (int8_t)(uint8_t)((uint32_t)chip->acc[l] & 0xff);
    }
}

static void multiply(const Chip *chip, int64_t dst, int64_t src, int64_t wgt)
{
    const MerVtaCore *core = chip->machine->core;
    int               in = core->block_in, out = core->block_out;
    for (int b = 0; b < core->batch; b++) {
        const int8_t *x = chip->inp + (src * core->batch + b) * in;
        int32_t      *y = chip->acc + (dst * core->batch + b) * out;
        for (int o = 0; o < out; o++) {
            const int8_t *w = chip->wgt + (wgt * out + o) * in;
            int32_t       sum = 0;
            for (int c = 0; c < in; c++) {
                sum += x[c] * w[c];
            }
            y[o] = (int32_t)((uint32_t)y[o] + (uint32_t)sum);
        }
    }
}

static int32_t alu(MerVtaAlu op, int32_t a, int32_t b)
{
    switch (op) {
    case MER_VTA_MIN:
        return a < b ? a : b;
    case MER_VTA_MAX:
        return a > b ? a : b;
    case MER_VTA_ADD:
        return (int32_t)((uint32_t)a + (uint32_t)b);
    case MER_VTA_MUL:
        return (int32_t)((uint32_t)a * (uint32_t)b);
    default: { /* a negative amount shifts to the left */
        int amount = b < 0 ? -b : b;
        amount = amount > 31 ? 31 : amount;
        int64_t shifted = a >= 0 ? (int64_t)a >> amount : -((-(int64_t)a - 1) >> amount) - 1;
        return b < 0 ? (int32_t)((uint32_t)a << amount) : (int32_t)shifted;
    }
    }
}

static void calculate(const Chip *chip, const MerVtaInstruction *i, int64_t dst, int64_t src)
{
    int64_t lanes = (int64_t)chip->machine->core->batch * chip->machine->core->block_out;
    for (int64_t l = 0; l < lanes; l++) {
        int32_t *a = &chip->acc[dst * lanes + l];
        *a = alu(i->alu, *a, i->use_immediate ? i->immediate : chip->acc[src * lanes + l]);
    }
}

static bool run_uop(Chip *chip, const MerVtaInstruction *i, const MerVtaUop *uop, int64_t outer,
                    int64_t inner)
{
    const MerVtaCore *core = chip->machine->core;
    int64_t           dst = uop->dst + outer * i->dst_out + inner * i->dst_in;
    int64_t           src = uop->src + outer * i->src_out + inner * i->src_in;
    int64_t           wgt = uop->wgt + outer * i->wgt_out + inner * i->wgt_in;
    bool              is_gemm = i->opcode == MER_VTA_GEMM;
    if (!check_range(chip, "acc", dst, 1, core->depth[MER_VTA_ACC])) {
        return false;
    }
    if (is_gemm && i->reset) {
        size_t entry = (size_t)core->element[MER_VTA_ACC];
        memset((uint8_t *)chip->acc + (size_t)dst * entry, 0, entry);
    } else if (is_gemm) {
        if (!check_range(chip, "inp", src, 1, core->depth[MER_VTA_INP]) ||
            !check_range(chip, "wgt", wgt, 1, core->depth[MER_VTA_WGT])) {
            return false;
        }
        multiply(chip, dst, src, wgt);
        chip->machine->counters.gemm++;
    } else {
        if (!i->use_immediate && !check_range(chip, "acc", src, 1, core->depth[MER_VTA_ACC])) {
            return false;
        }
        calculate(chip, i, dst, src);
        chip->machine->counters.alu++;
    }
    mirror(chip, dst);
    return true;
}

static bool run_kernel(Chip *chip, const MerVtaInstruction *i)
{
    const MerVtaCore *core = chip->machine->core;
    if (!check_range(chip, "uop", i->uop_begin, (int64_t)i->uop_end - i->uop_begin,
                     core->depth[MER_VTA_UOP])) {
        return false;
    }
    for (int64_t outer = 0; outer < i->iter_out; outer++) {
        for (int64_t inner = 0; inner < i->iter_in; inner++) {
            for (uint32_t u = i->uop_begin; u < i->uop_end; u++) {
                MerVtaUop uop = mer_vta_uop_decode(core, chip->uop[u]);
                if (!run_uop(chip, i, &uop, outer, inner)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool run_instruction(Chip *chip, const MerVtaInstruction *i)
{
    switch (i->opcode) {
    case MER_VTA_LOAD:
        return mer_vta_is_noop(i) || run_load(chip, i);
    case MER_VTA_STORE:
        return mer_vta_is_noop(i) || run_store(chip, i);
    case MER_VTA_FINISH:
        return true;
    default:
        return run_kernel(chip, i);
    }
}

/* Queues that an instruction of a stage takes from and gives to; -1: none. */
static void queues_of(MerVtaStage stage, const MerVtaInstruction *i, int pops[2], int pushes[2])
{
    static const int from_prev[] = {-1, TO_COMPUTE, TO_STORE},
                     from_next[] = {TO_LOAD, FROM_STORE, -1};
    static const int to_prev[] = {-1, TO_LOAD, FROM_STORE}, to_next[] = {TO_COMPUTE, TO_STORE, -1};
    pops[0] = i->pop_prev ? from_prev[stage] : -1;
    pops[1] = i->pop_next ? from_next[stage] : -1;
    pushes[0] = i->push_prev ? to_prev[stage] : -1;
    pushes[1] = i->push_next ? to_next[stage] : -1;
}

static bool can_run(const Chip *chip, MerVtaStage stage, const MerVtaInstruction *i)
{
    int pops[2], pushes[2];
    queues_of(stage, i, pops, pushes);
    return (pops[0] < 0 || chip->tokens[pops[0]] > 0) && (pops[1] < 0 || chip->tokens[pops[1]] > 0);
}

static bool run_one(Chip *chip, MerVtaStage stage, const MerVtaInstruction *i)
{
    int pops[2], pushes[2];
    queues_of(stage, i, pops, pushes);
    for (int q = 0; q < 2; q++) {
        chip->tokens[pops[q] < 0 ? 0 : pops[q]] -= pops[q] >= 0;
    }
    bool is_fine = run_instruction(chip, i);
    for (int q = 0; q < 2; q++) {
        chip->tokens[pushes[q] < 0 ? 0 : pushes[q]] += pushes[q] >= 0;
    }
    return is_fine;
}

static bool run_stream(Chip *chip, const MerVtaInstruction *list, int64_t count)
{
    int64_t at[MER_VTA_STAGES] = {0, 0, 0};
    for (;;) {
        int ready[MER_VTA_STAGES], ready_count = 0, done = 0;
        for (int s = 0; s < MER_VTA_STAGES; s++) {
            while (at[s] < count && (int)mer_vta_stage(&list[at[s]]) != s) {
                at[s]++;
            }
            done += at[s] == count;
            if (at[s] < count && can_run(chip, s, &list[at[s]])) {
                ready[ready_count++] = s;
            }
        }
        if (done == MER_VTA_STAGES) {
            return true;
        }
        if (ready_count == 0) {
            return mer_vta_refuse(chip->reason,
                                  "tokens: load waits at instruction %lld, compute at %lld, store "
                                  "at %lld of %lld",
                                  (long long)at[0], (long long)at[1], (long long)at[2],
                                  (long long)count);
        }
        MerRng *rng = chip->machine->rng;
        int     stage = ready[rng ? (int)mer_rng_below(rng, ready_count) : 0];
        if (!run_one(chip, stage, &list[at[stage]++])) {
            return false;
        }
    }
}

bool mer_vta_execute(MerVtaMachine *machine, const MerVtaInstruction *list, int64_t count,
                     MerVtaReason *reason)
{
    const MerVtaCore *core = machine->core;
    Chip              chip = {.machine = machine,
                              .uop = mer_heap_zeroed((size_t)core->bytes[MER_VTA_UOP], 1),
                              .inp = mer_heap_zeroed((size_t)core->bytes[MER_VTA_INP], 1),
                              .wgt = mer_heap_zeroed((size_t)core->bytes[MER_VTA_WGT], 1),
                              .acc = mer_heap_zeroed((size_t)core->bytes[MER_VTA_ACC], 1),
                              .out = mer_heap_zeroed((size_t)core->bytes[MER_VTA_OUT], 1),
                              .reason = reason};
    bool              is_fine = true;
    machine->counters = (MerVtaCounters){0};
    fill_garbage(&chip);
    for (int64_t begin = 0, end; begin < count && is_fine; begin = end) {
        for (end = begin; end < count && list[end].opcode != MER_VTA_FINISH; end++) {
        }
        end += end < count;
        is_fine = run_stream(&chip, list + begin, end - begin);
        for (int q = 0; q < 4 && is_fine; q++) {
            is_fine = chip.tokens[q] == 0 ||
                      mer_vta_refuse(reason, "tokens: %lld are left in a queue at the end",
                                     (long long)chip.tokens[q]);
        }
    }
    free(chip.uop);
    free(chip.inp);
    free(chip.wgt);
    free(chip.acc);
    free(chip.out);
    return is_fine;
}
