/* What an evaluation measures, what it costs to know, and what no plan can beat. */
#ifndef MERCATOR_METRIC_H
#define MERCATOR_METRIC_H

#include "mercator/error.h"

#include <stdbool.h>

/* id, name, unit, direction (-1 smaller is better), help */
#define MER_METRIC_MAP(X)                                                                          \
    X(CYCLES, "cycles", "cycle", -1, "end of the plan in clock cycles")                            \
    X(LATENCY, "latency", "s", -1, "one inference, or one layer, alone")                           \
    X(MAKESPAN, "makespan", "s", -1, "end of the last event of a schedule or graph")               \
    X(PERIOD, "period", "s", -1, "time per sample of a full pipeline (max load)")                  \
    X(THROUGHPUT, "throughput", "op/s", +1, "2 operations per real MAC")                           \
    X(ENERGY, "energy", "pJ", -1, "all counted accesses, MACs and static power")                   \
    X(EDP, "edp", "pJ.cycle", -1, "energy x cycles")                                               \
    X(POWER, "power", "mW", -1, "mean power")                                                      \
    X(AREA, "area", "um2", -1, "silicon area")                                                     \
    X(TRAFFIC_BYTES, "traffic_bytes", "B", -1, "bytes to and from the outermost memory")           \
    X(PEAK_BYTES, "peak_bytes", "B", -1, "largest fill of any unit's memory")                      \
    X(MAC_UNITS, "mac_units", "1", -1, "multipliers used by the chosen hardware")                  \
    X(SRAM_BYTES, "sram_bytes", "B", -1, "on-chip memory of the chosen hardware")                  \
    X(UTILISATION, "utilisation", "1", +1, "busy share of the units")                              \
    X(BANDWIDTH_USE, "bandwidth_use", "1", +1, "used share of the outermost bandwidth")            \
    X(LATENESS, "lateness", "s", -1, "largest finish - deadline, may be negative")                 \
    X(TARDINESS, "tardiness", "s", -1, "weighted sum of max(0, lateness)")                         \
    X(VIOLATIONS, "violations", "1", -1, "weighted count of missed deadlines")                     \
    X(DROP_RATE, "drop_rate", "1", -1, "share of requests dropped")                                \
    X(STP, "stp", "1", +1, "system throughput over tenants")                                       \
    X(ANTT, "antt", "1", -1, "average normalised turnaround time")                                 \
    X(JAIN, "jain", "1", +1, "fairness over tenants, 0..1")                                        \
    X(XR_SCORE, "xr_score", "1", +1, "XRBench score, 0..100")                                      \
    X(ACCURACY, "accuracy", "1", +1, "validation accuracy, 0..1: what a search may look at")       \
    X(TEST_ACCURACY, "test_accuracy", "1", +1, "test accuracy, once per finished mapping")         \
    X(DISTORTION, "distortion", "1", -1, "weight error of a split without training")               \
    X(WEIGHTED_ANTT, "weighted_antt", "1", -1, "antt with the tenants' weights")                   \
    X(MISS_RATE, "miss_rate", "1", -1, "share of requests late or dropped")
typedef enum MerMetric {
#define X(id, name, unit, direction, help) MER_METRIC_##id,
    MER_METRIC_MAP(X)
#undef X
        MER_METRIC_COUNT
} MerMetric;

typedef struct MerMetricInfo {
    const char *name, *unit;
    int         direction;
    const char *help;
} MerMetricInfo;

const MerMetricInfo *mer_metric_info(MerMetric metric);
MerMetric            mer_metric_find(const char *name); /* MER_METRIC_COUNT if unknown */

typedef struct MerCost {
    double value[MER_METRIC_COUNT]; /* NaN where the evaluator is silent */
    bool   feasible;
    bool   cut;         /* stopped at the limit: values are lower bounds */
    char   reason[120]; /* infeasible: "capacity: RF needs 301 words, has 256" */
} MerCost;

void mer_cost_clear(MerCost *cost); /* all NaN, feasible */
void mer_cost_refuse(MerCost *cost, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How far a reason is from fitting: need / have of "needs A ..., has B" or "is A, at most B"; +inf if
 * it does not say. */
double mer_reason_excess(const char *reason);

/* kind: "roofline", "traffic", "lp", "critical-path", "balance", "search" (a solver's certificate),
 * "optimum", "none"; of a total over bounds of several kinds "mixed".
 * scope: "" = no plan can beat it, else the class of plans it holds for, such as "contiguous". */
typedef struct MerBound {
    double      value;
    const char *kind, *scope;
} MerBound;

#endif
