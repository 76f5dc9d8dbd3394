/* Prices one layer alone on one core: how `schedule` fills its job analysis table. The problem does not
 * know cost models; the run hands it a pricer. */
#ifndef MERCATOR_SCHEDULE_TABLE_LAYER_PRICER_H
#define MERCATOR_SCHEDULE_TABLE_LAYER_PRICER_H

#include "mercator/graph.h"
#include "mercator/platform.h"

typedef enum MerPriceMode {
    MER_PRICE_OWN,   /* best mapping of the core's style, real DRAM traffic */
    MER_PRICE_COMPAT /* the published artifact: its mappings, its cost model with unlimited buffers */
} MerPriceMode;

typedef enum MerFlexible {
    MER_FLEXIBLE_SEARCH, /* the array shape with the lowest latency */
    MER_FLEXIBLE_ALIGN   /* the largest shape whose sides divide the layer's parallel dimensions */
} MerFlexible;

typedef struct MerJobTableEntry { /* cycles, bytes, bytes per cycle */
    double latency, traffic, rate, energy_pj, weight_bytes, output_bytes, l2_bytes, l1_bytes, macs;
    bool   is_fallback; /* a flexible core found no shape and used its own */
} MerJobTableEntry;

typedef struct MerLayerPricer {
    const char *name;
    /* fills all but the rate */
    MerStatus (*price)(const MerOp *op, const MerUnit *unit, int word_bits, MerPriceMode mode,
                       MerFlexible flexible, MerJobTableEntry *entry, MerError *error);
    /* how much of energy_pj each byte of traffic is, in mode OWN; 0: none */
    double dram_pj_per_byte;
} MerLayerPricer;

/* The data-centric model with the mappings of the core styles. */
extern const MerLayerPricer mer_core_pricer;

#endif
