/* The machine: memories, units and links, read from `mercator-platform/1` YAML (docs/platform-format.md).
 * Six kinds share one structure; a field that a kind does not use keeps its default. */
#ifndef MERCATOR_PLATFORM_H
#define MERCATOR_PLATFORM_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* clang-format off */
#define MER_PLATFORM_KIND_MAP(X)                                                                   \
    X(PE_ARRAY, "pe-array") X(CORES, "cores") X(VTA, "vta") X(SOC, "soc") X(CLUSTER, "cluster")   \
    X(NATIVE, "native")
/* clang-format on */
typedef enum MerPlatformKind {
#define X(id, name) MER_PLATFORM_##id,
    MER_PLATFORM_KIND_MAP(X)
#undef X
        MER_PLATFORM_KIND_COUNT
} MerPlatformKind;

/* Unlimited capacities and rates are INFINITY. Rates are per instance of the memory. */
typedef struct MerFanout {
    int    x, y;            /* instances of the next inner memory (or unit) below one instance */
    double words_per_cycle; /* default: the memory's read rate */
    double latency_cycles, pj_per_word;
} MerFanout;

typedef struct MerMemory {
    const char *name;
    int         word_bits;
    double      words, bytes; /* both filled when one is known; INFINITY: unlimited */
    double      read_words_per_cycle, write_words_per_cycle;
    double      bytes_per_s;                  /* NAN if it cannot be known (no clock) */
    double      read_pj, write_pj, update_pj; /* per word, pj_per_byte included */
    unsigned    keep, bypass; /* bit per tensor W, I, O; in neither: the search decides */
    int         buffers;      /* usable size = words / buffers */
    bool        has_partition;
    double      partition_words[3]; /* W, I, O; INFINITY where not given */
    MerFanout   fanout;
} MerMemory;

/* A named number or text of a formula (`cost`, `requantise`, `timing`, `power_mw`). */
typedef struct MerConstant {
    const char   *name;
    const char   *text; /* as written, for words; NULL for numbers and lists of numbers */
    int           count;
    const double *values;
} MerConstant;

typedef struct MerFormula { /* name NULL: absent */
    const char        *name;
    int                count;
    const MerConstant *constants;
} MerFormula;

typedef struct MerUnitOption { /* soc: one way to compute an output channel */
    const char *name, *operator_name, *weights;
} MerUnitOption;

typedef struct MerFlops { /* per number type; name "" = any */
    const char *type;
    double      per_s;
} MerFlops;

typedef struct MerUnit {           /* `count: n` is already expanded into n units */
    const char *name, *class_name; /* class_name NULL: a class of its own */
    int         class_index;       /* units priced alike share it, 0 .. class_count-1 */
    double      memory_bytes;      /* INFINITY: unlimited */
    /* pe-array */
    double mac_pj;
    int    lanes;
    /* vta */
    int batch, block_in, block_out;
    /* cores */
    int         rows, columns;
    const char *dataflow;
    double      pe_memory_bytes;
    bool        flexible;
    double      flexible_limit_bytes, static_pj_per_cycle;
    /* soc */
    int                  option_count;
    const MerUnitOption *options;
    MerFormula           requantise, cost;
    /* cluster */
    int                flops_count;
    const MerFlops    *flops;
    double             bytes_per_s, launch_us, gap_us, speed;
    int                streams;
    int                support_count; /* 0: all operator kinds */
    const char *const *supports;
    /* native: widest vectors, 0: those of the processor that runs us; most threads of a kernel */
    int vector_bits, threads;
} MerUnit;

typedef struct MerLink {  /* wildcards are already expanded */
    int         from, to; /* units */
    double      bytes_per_s, latency_us, gap_us;
    bool        full_duplex;
    const char *bus; /* NULL: its own */
} MerLink;

typedef struct MerPlatform {
    MerPlatformKind  kind;
    const char      *name, *summary, *source;
    double           clock_hz; /* NAN if not given */
    int              word_bits;
    bool             calibrated;
    int              memory_count, unit_count, link_count, class_count;
    const MerMemory *memories; /* outermost first */
    const MerUnit   *units;
    const MerLink   *links;
    /* vta */
    int        bus_bits;
    MerFormula timing; /* name "timing"; its constants are the timing numbers */
    MerFormula energy; /* name "energy", or absent */
    /* soc */
    int         reference; /* unit, -1 if none */
    int         activation_bits;
    bool        activation_signed;
    const char *activation_quantiser;
    MerFormula  power_mw;
    bool        store_and_forward; /* cluster */
    const char *compiler, *flags;  /* native: the C compiler, a name or a path, and its flags */
    uint64_t    hash;
} MerPlatform;

/* A shipped platform by name, or a file by path. */
MerStatus mer_platform_read(const char *name_or_path, MerArena *arena, const MerPlatform **platform,
                            MerError *error);
/* From text, for tests and embedded platforms; `name` opens messages and resolves `extends`. */
MerStatus mer_platform_parse(const char *name, const char *text, size_t size, MerArena *arena,
                             const MerPlatform **platform, MerError *error);
/* Changes before checking: `memories.GLB.words=16Ki` (sweeps). Each replaces one scalar of the resolved file. */
MerStatus mer_platform_read_with(const char *name_or_path, const char *const *changes,
                                 int change_count, MerArena *arena, const MerPlatform **platform,
                                 MerError *error);
/* The resolved form as YAML: everything after `extends`, classes and defaults. Reads back to the same hash. */
void mer_platform_write(const MerPlatform *platform, FILE *file);

/* The number of a formula constant, or `fallback`. */
double      mer_formula_number(const MerFormula *formula, const char *name, double fallback);
const char *mer_platform_kind_name(MerPlatformKind kind);
/* product of fan-outs above it */
int mer_platform_instances(const MerPlatform *platform, int memory);

#endif
