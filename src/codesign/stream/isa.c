/* Fields of instructions as tables: encoding, decoding, JSON and listings read the same rows. */
#include "codesign/stream/isa.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

typedef enum Width { /* bits of a field: a number, or what depends on the depth of an SRAM */
                     UOP_DEPTH = 100,
                     UOP_DEPTH_AND_1,
                     ACC_DEPTH,
                     INP_DEPTH,
                     WGT_DEPTH,
                     SECOND_WORD /* the next field begins at bit 64 */
} Width;

typedef enum Type { BIT, BYTE, WORD, SIGNED } Type;

typedef struct Field {
    const char *name; /* NULL ends a table, or SECOND_WORD */
    size_t      offset;
    Type        type;
    int         width;
} Field;

#define FIELD(name, member, type, width)                                                           \
    {                                                                                              \
        name, offsetof(MerVtaInstruction, member), type, width                                     \
    }
#define TOKENS                                                                                     \
    FIELD("opcode", opcode, BYTE, 3), FIELD("pop_prev", pop_prev, BIT, 1),                         \
        FIELD("pop_next", pop_next, BIT, 1), FIELD("push_prev", push_prev, BIT, 1),                \
        FIELD("push_next", push_next, BIT, 1)
#define SECOND                                                                                     \
    {                                                                                              \
        "", 0, BIT, SECOND_WORD                                                                    \
    }

static const Field memory_fields[] = {TOKENS,
                                      FIELD("memory_type", memory, BYTE, 3),
                                      FIELD("sram_base", sram_base, WORD, 16),
                                      FIELD("dram_base", dram_base, WORD, 32),
                                      SECOND,
                                      FIELD("y_size", y_size, WORD, 16),
                                      FIELD("x_size", x_size, WORD, 16),
                                      FIELD("x_stride", x_stride, WORD, 16),
                                      FIELD("y_pad_0", y_pad_0, BYTE, 4),
                                      FIELD("y_pad_1", y_pad_1, BYTE, 4),
                                      FIELD("x_pad_0", x_pad_0, BYTE, 4),
                                      FIELD("x_pad_1", x_pad_1, BYTE, 4),
                                      {0}};

#define LOOPS                                                                                      \
    TOKENS, FIELD("reset", reset, BIT, 1), FIELD("uop_bgn", uop_begin, WORD, UOP_DEPTH),           \
        FIELD("uop_end", uop_end, WORD, UOP_DEPTH_AND_1), FIELD("iter_out", iter_out, WORD, 14),   \
        FIELD("iter_in", iter_in, WORD, 14), SECOND,                                               \
        FIELD("dst_factor_out", dst_out, WORD, ACC_DEPTH),                                         \
        FIELD("dst_factor_in", dst_in, WORD, ACC_DEPTH),                                           \
        FIELD("src_factor_out", src_out, WORD, INP_DEPTH),                                         \
        FIELD("src_factor_in", src_in, WORD, INP_DEPTH)

static const Field gemm_fields[] = {LOOPS,
                                    FIELD("wgt_factor_out", wgt_out, WORD, WGT_DEPTH),
                                    FIELD("wgt_factor_in", wgt_in, WORD, WGT_DEPTH),
                                    {0}};

static const Field alu_fields[] = {LOOPS,
                                   FIELD("alu_opcode", alu, BYTE, 3),
                                   FIELD("use_imm", use_immediate, BIT, 1),
                                   FIELD("imm", immediate, SIGNED, 16),
                                   {0}};

static const Field finish_fields[] = {TOKENS, {0}};

static const Field *fields_of(unsigned opcode)
{
    static const Field *const tables[] = {
        [MER_VTA_LOAD] = memory_fields, [MER_VTA_STORE] = memory_fields,
        [MER_VTA_GEMM] = gemm_fields,   [MER_VTA_FINISH] = finish_fields,
        [MER_VTA_ALU] = alu_fields,
    };
    return opcode < sizeof tables / sizeof tables[0] ? tables[opcode] : NULL;
}

static int width_of(const MerVtaCore *core, int width)
{
    switch (width) {
    case UOP_DEPTH:
        return core->depth_bits[MER_VTA_UOP];
    case UOP_DEPTH_AND_1:
        return core->depth_bits[MER_VTA_UOP] + 1;
    case ACC_DEPTH:
        return core->depth_bits[MER_VTA_ACC];
    case INP_DEPTH:
        return core->depth_bits[MER_VTA_INP];
    case WGT_DEPTH:
        return core->depth_bits[MER_VTA_WGT];
    default:
        return width;
    }
}

static int64_t get(const MerVtaInstruction *instruction, const Field *field)
{
    const char *at = (const char *)instruction + field->offset;
    switch (field->type) {
    case BIT:
        return *(const bool *)at;
    case BYTE:
        return *(const uint8_t *)at;
    case SIGNED:
        return *(const int16_t *)at;
    default:
        return *(const uint32_t *)at;
    }
}

static void set(MerVtaInstruction *instruction, const Field *field, uint64_t value)
{
    char *at = (char *)instruction + field->offset;
    switch (field->type) {
    case BIT:
        *(bool *)at = value != 0;
        break;
    case BYTE:
        *(uint8_t *)at = (uint8_t)value;
        break;
    case SIGNED:
        *(int16_t *)at = (int16_t)(uint16_t)value;
        break;
    default:
        *(uint32_t *)at = (uint32_t)value;
    }
}

const char *mer_vta_encode(const MerVtaCore *core, const MerVtaInstruction *instruction,
                           MerVtaWord *word)
{
    const Field *field = fields_of(instruction->opcode);
    uint64_t     words[2] = {0, 0};
    int          bit = 0;
    for (; field && field->name; field++) {
        int width = width_of(core, field->width);
        if (width == SECOND_WORD) {
            bit = 64;
            continue;
        }
        uint64_t value = (uint64_t)get(instruction, field);
        uint64_t mask = (UINT64_C(1) << width) - 1;
        if (field->type == SIGNED) {
            value &= mask;
        }
        if (value > mask) {
            return field->name;
        }
        words[bit / 64] |= value << bit % 64;
        bit += width;
    }
    *word = (MerVtaWord){words[0], words[1]};
    return field ? NULL : "opcode";
}

const char *mer_vta_decode(const MerVtaCore *core, MerVtaWord word, MerVtaInstruction *instruction)
{
    const Field *field = fields_of(word.low & 7);
    uint64_t     words[2] = {word.low, word.high};
    int          bit = 0;
    *instruction = (MerVtaInstruction){0};
    for (; field && field->name; field++) {
        int width = width_of(core, field->width);
        if (width == SECOND_WORD) {
            bit = 64;
            continue;
        }
        uint64_t mask = (UINT64_C(1) << width) - 1;
        set(instruction, field, words[bit / 64] >> bit % 64 & mask);
        words[bit / 64] &= ~(mask << bit % 64);
        bit += width;
    }
    if (!field) {
        return "unknown opcode";
    }
    if (instruction->memory >= MER_VTA_MEMORY_COUNT) { /* its field has room for two more */
        return "unknown memory";
    }
    return words[0] || words[1] ? "unused bits that are not zero" : NULL;
}

bool mer_vta_uop_encode(const MerVtaCore *core, const MerVtaUop *uop, uint32_t *word)
{
    int      dst = core->depth_bits[MER_VTA_ACC], src = core->depth_bits[MER_VTA_INP];
    int      wgt = core->depth_bits[MER_VTA_WGT];
    uint64_t all =
        (uint64_t)uop->dst | (uint64_t)uop->src << dst | (uint64_t)uop->wgt << (dst + src);
    *word = (uint32_t)all;
    return uop->dst >> dst == 0 && uop->src >> src == 0 && uop->wgt >> wgt == 0 && all >> 32 == 0;
}

MerVtaUop mer_vta_uop_decode(const MerVtaCore *core, uint32_t word)
{
    int dst = core->depth_bits[MER_VTA_ACC], src = core->depth_bits[MER_VTA_INP];
    int wgt = core->depth_bits[MER_VTA_WGT];
    return (MerVtaUop){word & ((UINT32_C(1) << dst) - 1),
                       (uint32_t)((uint64_t)word >> dst) & ((UINT32_C(1) << src) - 1),
                       (uint32_t)((uint64_t)word >> (dst + src)) & ((UINT32_C(1) << wgt) - 1)};
}

MerVtaStage mer_vta_stage(const MerVtaInstruction *instruction)
{
    bool is_load = instruction->opcode == MER_VTA_LOAD &&
                   (instruction->memory == MER_VTA_INP || instruction->memory == MER_VTA_WGT);
    return instruction->opcode == MER_VTA_STORE ? MER_VTA_STORE_STAGE
           : is_load                            ? MER_VTA_LOAD_STAGE
                                                : MER_VTA_COMPUTE_STAGE;
}

const char *mer_vta_stage_name(MerVtaStage stage)
{
    static const char *const names[] = {"load", "compute", "store"};
    return names[stage];
}

bool mer_vta_is_noop(const MerVtaInstruction *instruction)
{
    return instruction->opcode <= MER_VTA_STORE && instruction->x_size == 0;
}

int64_t mer_vta_iterations(const MerVtaInstruction *i)
{
    return i->uop_end > i->uop_begin
               ? (int64_t)i->iter_out * i->iter_in * (i->uop_end - i->uop_begin)
               : 0;
}

static const char *alu_name(const MerVtaInstruction *i)
{
    static const char *const alus[] = {"min", "max", "add", "shr", "mul"};
    return i->alu < 5 ? alus[i->alu] : "?";
}

static const char *memory_name(const MerVtaInstruction *i)
{
    return i->memory < MER_VTA_MEMORY_COUNT ? mer_vta_memory_name(i->memory) : "?";
}

const char *mer_vta_operation(const MerVtaInstruction *i)
{
    if (i->opcode == MER_VTA_GEMM) {
        return i->reset ? "reset" : "gemm";
    }
    return i->opcode == MER_VTA_ALU     ? alu_name(i)
           : i->opcode == MER_VTA_STORE ? "store"
                                        : memory_name(i);
}

void mer_vta_print(const MerVtaInstruction *i, char line[160])
{
    char tokens[5] = {i->pop_prev ? '<' : '.', i->pop_next ? '>' : '.', i->push_prev ? '<' : '.',
                      i->push_next ? '>' : '.', 0};
    const char *stage = mer_vta_stage_name(mer_vta_stage(i));
    int         length = snprintf(line, 160, "%-7s pop %.2s push %.2s ", stage, tokens, tokens + 2);
    size_t      left = 160 - (size_t)length;
    line += length;
    if (i->opcode == MER_VTA_FINISH) {
        snprintf(line, left, "finish");
    } else if (mer_vta_is_noop(i)) {
        snprintf(line, left, "nop");
    } else if (i->opcode <= MER_VTA_STORE) {
        snprintf(line, left, "%s %s sram %u dram %u y %u x %u stride %u pad %u %u %u %u",
                 i->opcode == MER_VTA_LOAD ? "load" : "store", memory_name(i), i->sram_base,
                 i->dram_base, i->y_size, i->x_size, i->x_stride, i->y_pad_0, i->x_pad_0,
                 i->y_pad_1, i->x_pad_1);
    } else if (i->opcode == MER_VTA_GEMM) {
        snprintf(line, left, "%s uop %u..%u out %u in %u dst %u %u src %u %u wgt %u %u",
                 i->reset ? "reset" : "gemm", i->uop_begin, i->uop_end, i->iter_out, i->iter_in,
                 i->dst_out, i->dst_in, i->src_out, i->src_in, i->wgt_out, i->wgt_in);
    } else {
        snprintf(line, left, "%s%s uop %u..%u out %u in %u dst %u %u src %u %u imm %d", alu_name(i),
                 i->use_immediate ? "i" : "", i->uop_begin, i->uop_end, i->iter_out, i->iter_in,
                 i->dst_out, i->dst_in, i->src_out, i->src_in, i->immediate);
    }
}

void mer_vta_write_json(const MerVtaInstruction *instruction, MerJson *json)
{
    for (const Field *field = fields_of(instruction->opcode); field && field->name; field++) {
        if (field->width != SECOND_WORD) {
            mer_json_int(json, field->name, get(instruction, field));
        }
    }
}
