/* Step widths over time. */
#include "tensor/updater.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static double share_done(const MerSchedule *schedule, int64_t step)
{
    double length = (double)(schedule->total - schedule->warm_up);
    double done = length > 0 ? (double)(step - schedule->warm_up) / length : 1;
    return done < 0 ? 0 : done > 1 ? 1 : done;
}

double mer_schedule_at(const MerSchedule *schedule, int64_t step)
{
    double first = schedule->first, last = schedule->last;
    if (step < schedule->warm_up) {
        return first * (double)(step + 1) / (double)(schedule->warm_up + 1);
    }
    switch (schedule->kind) {
    case MER_CONSTANT:
        return first;
    case MER_COSINE: /* Loshchilov and Hutter, ICLR 2017 */
        return last + 0.5 * (first - last) * (1 + cos(PI * share_done(schedule, step)));
    case MER_LINEAR_FALL:
        return first + (last - first) * share_done(schedule, step);
    case MER_STEPS:
        return first *
               pow(schedule->factor, (double)((step - schedule->warm_up) / schedule->period));
    }
    return first;
}
