/* Executes streams bit by bit: three stages in order, four queues of tokens, any legal interleaving
 * (docs/codesign-model.md, "Functional simulator"). */
#ifndef MERCATOR_CODESIGN_FUNCTIONAL_H
#define MERCATOR_CODESIGN_FUNCTIONAL_H

#include "codesign/cost/timing.h"
#include "mercator/rng.h"

typedef struct MerVtaMachine {
    const MerVtaCore *core;
    uint8_t          *dram; /* addresses from 0 */
    size_t            dram_bytes;
    MerRng           *rng; /* chooses among the stages that can go on; NULL: the first of them */
    MerVtaCounters    counters;
} MerVtaMachine;

/* Runs instructions until all FINISH have passed. false: a rule is broken or no stage can go on. */
bool mer_vta_execute(MerVtaMachine *machine, const MerVtaInstruction *list, int64_t count,
                     MerVtaReason *reason);

#endif
