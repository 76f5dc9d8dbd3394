/* What an evaluation measures, what it costs to know, and what no plan can beat. */
#ifndef MERCATOR_METRIC_H
#define MERCATOR_METRIC_H

#include "mercator/error.h"

#include <stdbool.h>

/* How a metric adds up over the tasks of a workload. A problem may know better (combine). */
typedef enum MerTotal {
    MER_TOTAL_NONE,    /* it has no total */
    MER_TOTAL_SUM,     /* each task as often as it occurs */
    MER_TOTAL_MAXIMUM, /* of the tasks that have it */
    MER_TOTAL_MEAN,    /* each task as often as it occurs */
    MER_TOTAL_DERIVED  /* from the totals of others: edp from energy and cycles, ... */
} MerTotal;

/* id, name, unit, direction (-1 smaller is better), total over tasks (MerTotal), help */
/* clang-format off */
#define MER_METRIC_MAP(X) \
    X(CYCLES, "cycles", "cycle", -1, SUM, "end of the plan in clock cycles") \
    X(LATENCY, "latency", "s", -1, SUM, "one inference, or one layer, alone") \
    X(MAKESPAN, "makespan", "s", -1, SUM, "end of the last event of a schedule or graph") \
    X(PERIOD, "period", "s", -1, NONE, "time per sample of a full pipeline (max load)") \
    X(THROUGHPUT, "throughput", "op/s", +1, DERIVED, "2 operations per real MAC") \
    X(ENERGY, "energy", "pJ", -1, SUM, "all counted accesses, MACs and static power") \
    X(EDP, "edp", "pJ.cycle", -1, DERIVED, "energy x cycles") \
    X(POWER, "power", "mW", -1, DERIVED, "mean power") \
    X(AREA, "area", "um2", -1, NONE, "silicon area") \
    X(TRAFFIC_BYTES, "traffic_bytes", "B", -1, SUM, "bytes to and from the outermost memory") \
    X(PEAK_BYTES, "peak_bytes", "B", -1, MAXIMUM, "largest fill of any unit's memory") \
    X(MAC_UNITS, "mac_units", "1", -1, MAXIMUM, "multipliers used by the chosen hardware") \
    X(SRAM_BYTES, "sram_bytes", "B", -1, MAXIMUM, "on-chip memory of the chosen hardware") \
    X(UTILISATION, "utilisation", "1", +1, DERIVED, "busy time of the units over units x time to the end") \
    X(BANDWIDTH_USE, "bandwidth_use", "1", +1, NONE, "used share of the outermost bandwidth") \
    X(LATENESS, "lateness", "s", -1, MAXIMUM, "largest finish - deadline of a request, may be negative") \
    X(TARDINESS, "tardiness", "s", -1, SUM, "weighted sum over requests of max(0, finish - deadline)") \
    X(VIOLATIONS, "violations", "1", -1, SUM, "weighted count of requests late or dropped") \
    X(DROP_RATE, "drop_rate", "1", -1, MEAN, "share of requests dropped") \
    X(STP, "stp", "1", +1, NONE, "system throughput over tenants") \
    X(ANTT, "antt", "1", -1, NONE, "average normalised turnaround time") \
    X(JAIN, "jain", "1", +1, NONE, "fairness over tenants, 0..1") \
    X(XR_SCORE, "xr_score", "1", +1, MEAN, "XRBench score, 0..100") \
    X(ACCURACY, "accuracy", "1", +1, NONE, "validation accuracy, 0..1: what a search may look at") \
    X(TEST_ACCURACY, "test_accuracy", "1", +1, NONE, "test accuracy, once per finished mapping") \
    X(DISTORTION, "distortion", "1", -1, NONE, "weight error of a split without training") \
    X(WEIGHTED_ANTT, "weighted_antt", "1", -1, NONE, "antt with the tenants' weights") \
    X(MISS_RATE, "miss_rate", "1", -1, MEAN, "share of requests late or dropped") \
    X(FLOAT_ACCURACY, "float_accuracy", "1", +1, NONE, "test accuracy of the float network that the mapping starts from") \
    X(INTEGER_ACCURACY, "integer_accuracy", "1", +1, NONE, "test accuracy in whole numbers, as deployed")
/* clang-format on */
typedef enum MerMetric {
#define X(id, name, unit, direction, total, help) MER_METRIC_##id,
    MER_METRIC_MAP(X)
#undef X
        MER_METRIC_COUNT
} MerMetric;

typedef struct MerMetricInfo {
    const char *name, *unit;
    int         direction;
    MerTotal    total;
    const char *help;
} MerMetricInfo;

const MerMetricInfo *mer_metric_info(MerMetric metric);
MerMetric            mer_metric_find(const char *name); /* MER_METRIC_COUNT if unknown */
bool                 mer_metric_may_be_negative(MerMetric metric);

typedef struct MerCost {
    bool   feasible;
    bool   cut;                     /* stopped at the limit: values are lower bounds */
    double excess;                  /* need / have of the reason; 0: see mer_cost_excess */
    char   reason[120];             /* infeasible: "capacity: RF needs 301 words, has 256" */
    double value[MER_METRIC_COUNT]; /* NaN where the evaluator is silent */
} MerCost;

void mer_cost_clear(MerCost *cost); /* all NaN, feasible */
void mer_cost_refuse(MerCost *cost, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How far a reason is from fitting: need / have of "needs A ..., has B" or "is A, at most B"; +inf if
 * it does not say. */
double mer_reason_excess(const char *reason);
/* The same of a cost: what its evaluator said, else what its reason says. */
double mer_cost_excess(const MerCost *cost);

/* kind: "roofline", "traffic", "lp", "critical-path", "balance", "search" (a solver's certificate),
 * "optimum", "none"; of a total over bounds of several kinds "mixed".
 * scope: "" = no plan can beat it, else the class of plans it holds for, such as "contiguous". */
typedef struct MerBound {
    double      value;
    const char *kind, *scope;
} MerBound;

#endif
