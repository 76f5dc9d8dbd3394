/* The 128-bit instructions and 32-bit micro-ops of VTA (docs/codesign-model.md, "Instructions"). */
#ifndef MERCATOR_CODESIGN_ISA_H
#define MERCATOR_CODESIGN_ISA_H

#include "codesign/stream/vta_core.h"
#include "mercator/json.h"

typedef enum MerVtaOpcode {
    MER_VTA_LOAD,
    MER_VTA_STORE,
    MER_VTA_GEMM,
    MER_VTA_FINISH,
    MER_VTA_ALU
} MerVtaOpcode;
typedef enum MerVtaAlu {
    MER_VTA_MIN,
    MER_VTA_MAX,
    MER_VTA_ADD,
    MER_VTA_SHR,
    MER_VTA_MUL
} MerVtaAlu;
typedef enum MerVtaStage {
    MER_VTA_LOAD_STAGE,
    MER_VTA_COMPUTE_STAGE,
    MER_VTA_STORE_STAGE,
    MER_VTA_STAGES
} MerVtaStage;

typedef struct MerVtaInstruction {
    uint8_t opcode;
    bool    pop_prev, pop_next, push_prev, push_next;
    /* LOAD and STORE */
    uint8_t  memory;
    uint32_t sram_base, dram_base; /* entries */
    uint32_t y_size, x_size, x_stride;
    uint8_t  y_pad_0, y_pad_1, x_pad_0, x_pad_1;
    /* GEMM and ALU */
    bool     reset;
    uint32_t uop_begin, uop_end, iter_out, iter_in;
    uint32_t dst_out, dst_in, src_out, src_in, wgt_out, wgt_in; /* factors */
    /* ALU */
    uint8_t alu;
    bool    use_immediate;
    int16_t immediate;
} MerVtaInstruction;

typedef struct MerVtaUop {
    uint32_t dst, src, wgt;
} MerVtaUop;

typedef struct MerVtaWord { /* little endian: bits 0..63, then 64..127 */
    uint64_t low, high;
} MerVtaWord;

/* NULL: encoded; else the name of the first field that does not fit. */
const char *mer_vta_encode(const MerVtaCore *core, const MerVtaInstruction *instruction,
                           MerVtaWord *word);
/* NULL: decoded; else what is wrong with the word. */
const char *mer_vta_decode(const MerVtaCore *core, MerVtaWord word, MerVtaInstruction *instruction);
bool        mer_vta_uop_encode(const MerVtaCore *core, const MerVtaUop *uop, uint32_t *word);
MerVtaUop   mer_vta_uop_decode(const MerVtaCore *core, uint32_t word);

MerVtaStage mer_vta_stage(const MerVtaInstruction *instruction);
const char *mer_vta_stage_name(MerVtaStage stage);
/* Carries tokens only. */
bool mer_vta_is_noop(const MerVtaInstruction *instruction);
/* Times that a GEMM or ALU instruction runs its micro-ops. */
int64_t mer_vta_iterations(const MerVtaInstruction *instruction);

/* What it does in a word: "gemm", "reset", "shr", "store", or the memory that it loads. */
const char *mer_vta_operation(const MerVtaInstruction *instruction);
/* One line for people, without its end. */
void mer_vta_print(const MerVtaInstruction *instruction, char line[160]);
/* All fields of the instruction as members of an open object. */
void mer_vta_write_json(const MerVtaInstruction *instruction, MerJson *json);

#endif
