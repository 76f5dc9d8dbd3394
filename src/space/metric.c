/* The table of metrics, and costs that are refused with a reason. */
#include "mercator/metric.h"

#include "mercator/option.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static const MerMetricInfo metrics[MER_METRIC_COUNT] = {
#define X(id, name, unit, direction, help) {name, unit, direction, help},
    MER_METRIC_MAP(X)
#undef X
};

const MerMetricInfo *mer_metric_info(MerMetric metric)
{
    return &metrics[metric];
}

MerMetric mer_metric_find(const char *name)
{
    for (int i = 0; i < MER_METRIC_COUNT; i++) {
        if (mer_name_equal(name, metrics[i].name)) {
            return (MerMetric)i;
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
}

void mer_cost_refuse(MerCost *cost, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(cost->reason, sizeof cost->reason, format, arguments);
    va_end(arguments);
    cost->feasible = false;
}
