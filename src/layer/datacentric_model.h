/* The data-centric cost model of MAESTRO (Kwon et al., MICRO 2019, code at 4eb08d1) as a pure
 * function: a layer, cluster levels of directives and a few hardware numbers in, counts out.
 *
 *     MerDatacentricInput input = {.layer = layer, .mapping = &mapping, .hardware = hardware};
 *     MerDatacentricResult result;
 *     mer_datacentric_evaluate(&input, MER_DATACENTRIC_EVERYTHING, &result);
 *     if (result.status == MER_DATACENTRIC_OK) printf("%lld", (long long)result.runtime_cycles);
 *
 * Nothing here allocates. Y and X are sizes of the padded INPUT; Y' and X' are output sizes. */
#ifndef MERCATOR_LAYER_DATACENTRIC_MODEL_H
#define MERCATOR_LAYER_DATACENTRIC_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* In alphabetical order: the model completes mappings in that order. M is used by GEMM alone. */
typedef enum MerDatacentricDim {
    MER_DATACENTRIC_C,
    MER_DATACENTRIC_G,
    MER_DATACENTRIC_K,
    MER_DATACENTRIC_M,
    MER_DATACENTRIC_N,
    MER_DATACENTRIC_R,
    MER_DATACENTRIC_S,
    MER_DATACENTRIC_X,
    MER_DATACENTRIC_Y,
    MER_DATACENTRIC_DIMS
} MerDatacentricDim;
#define MER_DATACENTRIC_LETTERS "CGKMNRSXY"

enum { MER_DATACENTRIC_LEVELS = 4, MER_DATACENTRIC_ROWS = 10, MER_DATACENTRIC_TENSORS = 3 };
enum { MER_DATACENTRIC_INPUT, MER_DATACENTRIC_FILTER, MER_DATACENTRIC_OUTPUT };

/* clang-format off */
#define MER_DATACENTRIC_TYPE_MAP(X)                                                                \
    X(CONV, "CONV") X(DSCONV, "DSCONV") X(NGCONV, "NGCONV") X(GEMM, "GEMM")
/* clang-format on */
typedef enum MerDatacentricType {
#define X(id, name) MER_DATACENTRIC_##id,
    MER_DATACENTRIC_TYPE_MAP(X)
#undef X
        MER_DATACENTRIC_TYPE_COUNT
} MerDatacentricType;

typedef struct MerDatacentricLayer {
    MerDatacentricType type;
    int64_t            dims[MER_DATACENTRIC_DIMS]; /* 0 or 1 where absent */
    int64_t            stride_y, stride_x;
} MerDatacentricLayer;

typedef struct MerDatacentricDirective {
    bool    spatial, output; /* output: on Y' or X' */
    int     dim;
    int64_t size, offset;
} MerDatacentricDirective;

typedef struct MerDatacentricMapping { /* outermost level first */
    int                     level_count;
    int                     count[MER_DATACENTRIC_LEVELS];
    int64_t                 cluster[MER_DATACENTRIC_LEVELS]; /* cluster[l] opens level l + 1 */
    MerDatacentricDirective directives[MER_DATACENTRIC_LEVELS][MER_DATACENTRIC_ROWS];
} MerDatacentricMapping;

typedef struct MerDatacentricHardware {
    int64_t num_pes, noc_bw, noc_latency, offchip_bw, simd_lanes; /* rates: elements per cycle */
    int64_t l1_size, l2_size;     /* elements; INT64_MAX: unlimited */
    double  l1_energy, l2_energy; /* per access, in MAC energies */
    double  mac_nj;
} MerDatacentricHardware;

/* MAESTRO's constants: 1.68 and 18.61 MAC energies per L1 and L2 access, 0.00023 nJ per MAC. */
#define MER_DATACENTRIC_L1_ENERGY 1.68
#define MER_DATACENTRIC_L2_ENERGY 18.61
#define MER_DATACENTRIC_MAC_NJ 0.00023

typedef struct MerDatacentricInput {
    MerDatacentricLayer          layer;
    const MerDatacentricMapping *mapping;
    MerDatacentricHardware       hardware;
    bool                         strict;        /* refuse what MAESTRO prices wrongly */
    bool                         every_level;   /* strict: no cluster level may leave out work */
    bool                         exact_strides; /* count the outputs of strided tiles exactly */
} MerDatacentricInput;

/* clang-format off */
#define MER_DATACENTRIC_STATUS_MAP(X)                                                              \
    X(OK, "ok") X(DEGENERATE, "degenerate") X(INFEASIBLE, "infeasible")
/* clang-format on */
typedef enum MerDatacentricStatus {
#define X(id, name) MER_DATACENTRIC_##id,
    MER_DATACENTRIC_STATUS_MAP(X)
#undef X
} MerDatacentricStatus;

/* COSTS fills the fields below marked C; EVERYTHING fills all, a little more slowly. */
typedef enum MerDatacentricWanted {
    MER_DATACENTRIC_COSTS,
    MER_DATACENTRIC_EVERYTHING
} MerDatacentricWanted;

/* kind, name; the names are those of MAESTRO's report and of the reference data */
#define MER_DATACENTRIC_COUNT_MAP(X)                                                               \
    X(INT, runtime_cycles)      /* C */                                                            \
    X(INT, num_macs)            /* C */                                                            \
    X(INT, l1_size_req)         /* C */                                                            \
    X(INT, l2_size_req)         /* C */                                                            \
    X(REAL, csv_energy_nj)      /* C: without L1 when there are clusters, never with MACs */       \
    X(REAL, total_energy_x_mac) /* C: L1, L2 and MACs, in MAC energies */                          \
    X(REAL, area_um2)           /* C */                                                            \
    X(REAL, power_mw)           /* C */                                                            \
    X(REAL, avg_utilized_pes)   /* C */                                                            \
    X(REAL, throughput_macs_per_cycle)                                                             \
    X(REAL, throughput_per_energy)                                                                 \
    X(REAL, ops_per_joule)                                                                         \
    X(REAL, perf_per_mac_energy)                                                                   \
    X(REAL, l1_read_energy_x_mac)                                                                  \
    X(REAL, l1_write_energy_x_mac)                                                                 \
    X(REAL, l2_read_energy_x_mac)                                                                  \
    X(REAL, l2_write_energy_x_mac)                                                                 \
    X(REAL, pe_power)                                                                              \
    X(REAL, l1_power)                                                                              \
    X(REAL, l2_power)                                                                              \
    X(REAL, noc_power)                                                                             \
    X(REAL, avg_noc_bw_req)                                                                        \
    X(INT, peak_noc_bw_req)                                                                        \
    X(INT, offchip_bw_req)                                                                         \
    X(INT, num_input_elems)                                                                        \
    X(INT, num_weight_elems)                                                                       \
    X(INT, mcast_weight)                                                                           \
    X(INT, mcast_input)                                                                            \
    X(INT, ingress_delay_min)                                                                      \
    X(INT, ingress_delay_max)                                                                      \
    X(INT, ingress_delay_avg)                                                                      \
    X(INT, egress_delay_min)                                                                       \
    X(INT, egress_delay_max)                                                                       \
    X(INT, egress_delay_avg)                                                                       \
    X(INT, compute_delay_min)                                                                      \
    X(INT, compute_delay_max)                                                                      \
    X(INT, compute_delay_avg)                                                                      \
    X(REAL, arithmetic_intensity)                                                                  \
    X(BOOL, l1_fits)    /* C */                                                                    \
    X(BOOL, l2_fits)    /* C */                                                                    \
    X(BOOL, macs_exact) /* C */

#define MER_DATACENTRIC_TENSOR_COUNT_MAP(X)                                                        \
    X(INT, l1_read)                                                                                \
    X(INT, l1_write)                                                                               \
    X(INT, l2_read)                                                                                \
    X(INT, l2_write)                                                                               \
    X(REAL, reuse_factor)                                                                          \
    X(INT, l2_size_req)                                                                            \
    X(INT, l1_size_req)

#define MER_DATACENTRIC_C_INT int64_t
#define MER_DATACENTRIC_C_REAL double
#define MER_DATACENTRIC_C_BOOL bool

typedef struct MerDatacentricTensorCounts {
#define X(kind, name) MER_DATACENTRIC_C_##kind name;
    MER_DATACENTRIC_TENSOR_COUNT_MAP(X)
#undef X
} MerDatacentricTensorCounts;

typedef struct MerDatacentricResult {
    MerDatacentricStatus status;
    char                 reason[120]; /* "" if ok; else "coverage: ...", "capacity: ...", ... */
    int64_t              true_macs;   /* of the layer, by definition */
    int idle_level; /* every_level: outermost one below 0 that leaves out work, 0: none */
#define X(kind, name) MER_DATACENTRIC_C_##kind name;
    MER_DATACENTRIC_COUNT_MAP(X)
#undef X
    MerDatacentricTensorCounts tensor[MER_DATACENTRIC_TENSORS]; /* C, without reuse_factor */
} MerDatacentricResult;

/* Sub-levels once per dim vector, cases grouped; equal to the plain form in every count. */
void mer_datacentric_evaluate(const MerDatacentricInput *input, MerDatacentricWanted wanted,
                              MerDatacentricResult *result);
/* Case by case and level by level, as the model is defined. Fills everything. */
void mer_datacentric_evaluate_plain(const MerDatacentricInput *input, MerDatacentricResult *result);

int64_t     mer_datacentric_macs(const MerDatacentricLayer *layer);
const char *mer_datacentric_type_name(MerDatacentricType type);
const char *mer_datacentric_status_name(MerDatacentricStatus status);

#endif
