/* Time of a stream on a core (docs/codesign-model.md, "Timing"). Time is counted in ticks of 2^-20
 * cycle, so that sums are exact and the fast price equals the walk over instructions bit by bit. */
#ifndef MERCATOR_CODESIGN_TIMING_H
#define MERCATOR_CODESIGN_TIMING_H

#include "codesign/stream/generate.h"
#include "codesign/stream/transfers.h"

#define MER_VTA_TICKS 1048576.0 /* of one cycle */

typedef struct MerVtaTiming { /* cycles, but for those of the host */
    double load_setup, load_row, load_per_byte;
    double store_setup, store_row, store_per_byte;
    double gemm_setup, gemm_interval, alu_setup, alu_interval, pad_word;
    double host_us, host_us_per_instruction;
    double clock_hz;
    bool   is_exact; /* every LOAD UOP is priced; else one at the start */
} MerVtaTiming;

/* One row per constant of a platform's `timing`; a table ends with a NULL name. */
typedef struct MerVtaConstant {
    const char *name;
    size_t      offset;
    double      least; /* of a fit; NAN: it is not fitted */
    double      usual; /* where a fit begins, and stays for want of records */
} MerVtaConstant;
extern const MerVtaConstant mer_vta_constants[];

void mer_vta_timing_of(const MerPlatform *platform, MerVtaTiming *timing);

int64_t mer_vta_load_ticks(const MerVtaTiming *timing, const MerVtaTransfer *transfer, int element);
int64_t mer_vta_store_ticks(const MerVtaTiming *timing, const MerVtaTransfer *transfer,
                            int element);
int64_t mer_vta_gemm_ticks(const MerVtaTiming *timing, int64_t iterations);
int64_t mer_vta_alu_ticks(const MerVtaTiming *timing, int64_t iterations);
/* The one LOAD UOP that is priced where not all are. */
int64_t mer_vta_uop_ticks(const MerVtaTiming *timing);

typedef struct MerVtaTime {
    int64_t ticks;                /* until the last stage is done */
    int64_t busy[MER_VTA_STAGES]; /* ticks that a stage works */
    int64_t instructions;         /* as priced: with one LOAD UOP, or all */
    int     streams;
} MerVtaTime;

/* Seconds with what the host takes. */
double mer_vta_seconds(const MerVtaTiming *timing, const MerVtaTime *time);

/* Told of every instruction that takes part: when it could start but for tokens, when it started and
 * ended. */
typedef void MerVtaWatch(void *state, const MerVtaInstruction *instruction, int64_t index,
                         int64_t ready, int64_t start, int64_t end);
/* Walks over the instructions. false: they wait for each other for ever; the reason says where. */
bool mer_vta_walk(const MerVtaCore *core, const MerVtaTiming *timing, const MerVtaInstruction *list,
                  int64_t count, MerVtaTime *time, MerVtaWatch *watch, void *state,
                  MerVtaReason *reason);

/* The same time without making the instructions; `schedule` passed mer_vta_check. `limit`: stop once
 * the seconds are sure to pass it (INFINITY: never); false: they do, and `time` is a lower bound. */
bool mer_vta_price(const MerVtaTask *task, const MerVtaSchedule *schedule,
                   const MerVtaTiming *timing, double limit, MerVtaTime *time);

typedef struct MerVtaCounters { /* bytes of DRAM without padding; iterations of micro-ops */
    int64_t load[MER_VTA_MEMORY_COUNT], store, gemm, alu;
} MerVtaCounters;
/* Bytes and iterations of a schedule from its loops alone; micro-ops are loaded once. */
void mer_vta_count(const MerVtaTask *task, const MerVtaSchedule *schedule,
                   MerVtaCounters *counters);

#endif
