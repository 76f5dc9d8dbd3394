/* An independent look at a binary stream: what the hardware asks for, read from the words alone. */
#include "codesign/stream/generate.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct Checker {
    const MerVtaCore *core;
    const uint32_t   *uops; /* in DRAM, the first at entry `uop_base` */
    int64_t           uop_count, uop_base;
    MerVtaUop        *sram;
    int64_t           written; /* entries of the uop SRAM that hold something */
    int64_t           at;
    MerVtaReason     *reason;
} Checker;

#define REFUSE(c, ...) mer_vta_refuse((c)->reason, __VA_ARGS__)

static bool check_tokens(Checker *c, const MerVtaInstruction *i)
{
    MerVtaStage stage = mer_vta_stage(i);
    bool        is_wrong = (stage == MER_VTA_LOAD_STAGE && (i->pop_prev || i->push_prev)) ||
                    (stage == MER_VTA_STORE_STAGE && (i->pop_next || i->push_next)) ||
                    (i->opcode == MER_VTA_FINISH && (i->pop_prev || i->pop_next));
    return !is_wrong ||
           REFUSE(c, "tokens: instruction %lld has a flag that its stage must not have",
                  (long long)c->at);
}

static bool check_transfer(Checker *c, const MerVtaInstruction *i)
{
    int64_t x = (int64_t)i->x_pad_0 + i->x_size + i->x_pad_1;
    int64_t y = (int64_t)i->y_pad_0 + i->y_size + i->y_pad_1;
    bool    is_padded = i->x_pad_0 || i->x_pad_1 || i->y_pad_0 || i->y_pad_1;
    int     memory = i->opcode == MER_VTA_STORE ? MER_VTA_OUT : i->memory;
    if (mer_vta_is_noop(i)) {
        return true;
    }
    if (i->opcode == MER_VTA_LOAD && memory == MER_VTA_UOP && i->y_size != 1) {
        return REFUSE(c, "encoding: instruction %lld loads %u rows of micro-ops, expected 1",
                      (long long)c->at, i->y_size);
    }
    if (i->opcode == MER_VTA_STORE && i->memory != MER_VTA_OUT) {
        return REFUSE(c, "encoding: instruction %lld moves memory %d", (long long)c->at, i->memory);
    }
    if (is_padded &&
        (i->opcode == MER_VTA_STORE || (memory != MER_VTA_INP && memory != MER_VTA_ACC))) {
        return REFUSE(c, "encoding: instruction %lld pads %s", (long long)c->at,
                      mer_vta_memory_name(memory));
    }
    return i->sram_base + x * y <= c->core->depth[memory] ||
           REFUSE(c, "capacity: instruction %lld needs %lld entries of %s, has %d",
                  (long long)c->at, (long long)(i->sram_base + x * y), mer_vta_memory_name(memory),
                  c->core->depth[memory]);
}

static bool load_uops(Checker *c, const MerVtaInstruction *i)
{
    int64_t from = (int64_t)i->dram_base - c->uop_base;
    if (from < 0 || from + i->x_size > c->uop_count) {
        return REFUSE(c, "dram: instruction %lld loads micro-ops that are not there",
                      (long long)c->at);
    }
    for (uint32_t u = 0; u < i->x_size; u++) {
        c->sram[i->sram_base + u] = mer_vta_uop_decode(c->core, c->uops[from + u]);
    }
    int64_t end = (int64_t)i->sram_base + i->x_size;
    c->written = end > c->written ? end : c->written;
    return true;
}

/* Indices in range, and three writes between two of one accumulator. */
static bool check_kernel(Checker *c, const MerVtaInstruction *i)
{
    bool    is_product = i->opcode == MER_VTA_GEMM && !i->reset;
    int64_t last[2] = {-1, -1};
    if (i->uop_end > c->written) {
        return REFUSE(c, "capacity: instruction %lld uses micro-op %u, %lld are loaded",
                      (long long)c->at, i->uop_end, (long long)c->written);
    }
    for (int64_t o = 0; o < i->iter_out; o++) {
        for (int64_t n = 0; n < i->iter_in; n++) {
            for (uint32_t u = i->uop_begin; u < i->uop_end; u++) {
                int64_t dst = c->sram[u].dst + o * i->dst_out + n * i->dst_in;
                int64_t src = c->sram[u].src + o * i->src_out + n * i->src_in;
                int64_t wgt = c->sram[u].wgt + o * i->wgt_out + n * i->wgt_in;
                int     source = is_product ? MER_VTA_INP : MER_VTA_ACC;
                bool    reads = is_product || (i->opcode == MER_VTA_ALU && !i->use_immediate);
                if (dst >= c->core->depth[MER_VTA_ACC] ||
                    (reads && src >= c->core->depth[source]) ||
                    (is_product && wgt >= c->core->depth[MER_VTA_WGT])) {
                    return REFUSE(c, "capacity: instruction %lld reaches past an SRAM",
                                  (long long)c->at);
                }
                if (is_product && (dst == last[0] || dst == last[1])) {
                    return REFUSE(c,
                                  "write-distance: instruction %lld writes accumulator %lld again",
                                  (long long)c->at, (long long)dst);
                }
                last[1] = last[0];
                last[0] = dst;
            }
        }
    }
    return true;
}

static bool check_word(Checker *c, MerVtaWord word, MerVtaInstruction *i)
{
    const char *wrong = mer_vta_decode(c->core, word, i);
    if (wrong) {
        return REFUSE(c, "encoding: instruction %lld has %s", (long long)c->at, wrong);
    }
    if (!check_tokens(c, i)) {
        return false;
    }
    if (i->opcode == MER_VTA_LOAD || i->opcode == MER_VTA_STORE) {
        bool is_uops = i->opcode == MER_VTA_LOAD && i->memory == MER_VTA_UOP && !mer_vta_is_noop(i);
        return check_transfer(c, i) && (!is_uops || load_uops(c, i));
    }
    return i->opcode == MER_VTA_FINISH || check_kernel(c, i);
}

bool mer_vta_stream_check(const MerVtaCore *core, const MerVtaWord *words, int64_t count,
                          const uint32_t *uops, int64_t uop_count, int64_t uop_base,
                          MerVtaReason *reason)
{
    Checker c = {.core = core,
                 .uops = uops,
                 .uop_count = uop_count,
                 .uop_base = uop_base,
                 .sram = mer_heap_zeroed((size_t)core->depth[MER_VTA_UOP], sizeof(MerVtaUop)),
                 .reason = reason};
    bool    is_fine = true;
    int64_t length = 0; /* of the stream so far */
    for (; c.at < count && is_fine; c.at++) {
        MerVtaInstruction i;
        is_fine = check_word(&c, words[c.at], &i);
        length = is_fine && i.opcode == MER_VTA_FINISH ? 0 : length + 1;
        if (is_fine && length > MER_VTA_STREAM_LIMIT + 6) {
            is_fine =
                REFUSE(&c, "stream: more than 2^25 bytes at instruction %lld", (long long)c.at);
        }
    }
    if (is_fine && length > 0) {
        is_fine = REFUSE(&c, "stream: it does not end with FINISH");
    }
    free(c.sram);
    return is_fine;
}
