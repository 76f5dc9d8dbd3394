/* The table of metrics, and costs that are refused with a reason. */
#include "mercator/metric.h"

#include "mercator/option.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const MerMetricInfo metrics[MER_METRIC_COUNT] = {
#define X(id, name, unit, direction, total, help) {name, unit, direction, MER_TOTAL_##total, help},
    MER_METRIC_MAP(X)
#undef X
};

const MerMetricInfo *mer_metric_info(MerMetric metric)
{
    return &metrics[metric];
}

bool mer_metric_may_be_negative(MerMetric metric)
{
    return metric == MER_METRIC_LATENESS;
}

MerMetric mer_metric_find(const char *name)
{
    for (int i = 0; i < MER_METRIC_COUNT; i++) {
        if (mer_name_equal(name, metrics[i].name) || strcasecmp(name, metrics[i].name) == 0) {
            return (MerMetric)i; /* EDP, too */
        }
    }
    return MER_METRIC_COUNT;
}

void mer_cost_clear(MerCost *cost)
{
    for (int i = 0; i < MER_METRIC_COUNT; i++) {
        cost->value[i] = NAN;
    }
    cost->feasible = true;
    cost->cut = false;
    cost->reason[0] = '\0';
    cost->excess = 0;
}

void mer_cost_refuse(MerCost *cost, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cost->reason, sizeof cost->reason, format, arguments);
    va_end(arguments);
    cost->feasible = false;
    cost->excess = 0;
}

/* "needs A ..., has B", or "is A, at most B". */
double mer_reason_excess(const char *reason)
{
    const char *needs = strstr(reason, "needs ");
    const char *has = strstr(reason, "has ");
    const char *is = strstr(reason, " is ");
    const char *most = strstr(reason, "at most ");
    double      need = needs ? strtod(needs + 6, NULL) : is && most ? strtod(is + 4, NULL) : NAN;
    double have = needs && has ? strtod(has + 4, NULL) : is && most ? strtod(most + 8, NULL) : NAN;
    return need > 0 && have > 0 ? need / have : INFINITY;
}

double mer_cost_excess(const MerCost *cost)
{
    return cost->excess > 0 ? cost->excess : mer_reason_excess(cost->reason);
}
