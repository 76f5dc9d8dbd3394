/* What a schedule costs, in words: how busy cores and memory are, who was late, and how fair it was. */
#include "base/engineering.h"
#include "schedule/schedule_parts.h"

#include <math.h>
#include <string.h>

static const char *dropped_text(const double *value, MerArena *arena)
{
    char share[48];
    if (!(value[MER_METRIC_DROP_RATE] > 0)) {
        return "";
    }
    mer_print_percent(share, value[MER_METRIC_DROP_RATE]);
    return mer_arena_format(arena, ", %s of the requests dropped", share);
}

/* How much work is done, and how busy cores and memory are. */
static const char *rates_text(const double *value, MerArena *arena)
{
    char cores[48];
    char memory[48];
    char rate[48];
    if (isnan(value[MER_METRIC_BANDWIDTH_USE])) {
        return "";
    }
    mer_print_percent(cores, value[MER_METRIC_UTILISATION]);
    mer_print_percent(memory, value[MER_METRIC_BANDWIDTH_USE]);
    mer_print_engineering(rate, value[MER_METRIC_THROUGHPUT],
                          mer_metric_info(MER_METRIC_THROUGHPUT)->unit);
    bool has_rate = !isnan(value[MER_METRIC_THROUGHPUT]);
    return mer_arena_format(
        arena, "cores occupied %s (busy or stalled), bandwidth in use %s%s%s%s\n", cores, memory,
        has_rate ? ", " : "", has_rate ? rate : "", dropped_text(value, arena));
}

static const char *lateness_text(const double *value, MerArena *arena)
{
    char missed[48];
    char late[48];
    mer_print_percent(missed, value[MER_METRIC_MISS_RATE]);
    mer_print_engineering(late, value[MER_METRIC_TARDINESS], "s");
    return mer_arena_format(arena, "%s of the requests late or dropped, tardiness %s", missed,
                            late);
}

/* With deadlines or tenants: who was late, and how fair it was. */
static const char *service_text(const double *value, MerArena *arena)
{
    /* One tenant alone is treated like itself, and has no more done than that. */
    bool is_shared = value[MER_METRIC_JAIN] < 1 - 1e-9 ||
                     value[MER_METRIC_STP] * value[MER_METRIC_ANTT] > 1 + 1e-9;
    bool        has_deadlines = !isnan(value[MER_METRIC_MISS_RATE]);
    const char *late = has_deadlines ? lateness_text(value, arena) : "";
    const char *fair =
        mer_arena_format(arena, "tenants: STP %.3g, ANTT %.3g, Jain %.3g", value[MER_METRIC_STP],
                         value[MER_METRIC_ANTT], value[MER_METRIC_JAIN]);
    return mer_arena_format(arena, "%s%s%s%s", late, has_deadlines && is_shared ? "; " : "",
                            is_shared ? fair : "", has_deadlines || is_shared ? "\n" : "");
}

const char *mer_schedule_print_costs(const MerCost *cost, bool is_total, MerArena *arena)
{
    const double *value = cost->value;
    if (!is_total) {
        return mer_arena_format(arena, "%s%s", rates_text(value, arena),
                                service_text(value, arena));
    }
    /* of several groups with deadlines, whose plans are not printed */
    return isnan(value[MER_METRIC_MISS_RATE])
               ? NULL
               : mer_arena_format(arena, "%s%s\n", lateness_text(value, arena),
                                  dropped_text(value, arena));
}

const char *mer_schedule_advise(const char *reason, MerArena *arena)
{
    (void)arena;
    return strncmp(reason, "unsupported: the evaluator gives no ", 36) == 0
               ? "this workload has nothing to measure it by (violations and tardiness need "
                 "deadlines, xr_score both fps and them); choose another --objective"
               : NULL;
}
