/* Step widths over time. */
#include "tensor/updater.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

static double share_done(const MerRate *rate, int64_t step)
{
    double length = (double)(rate->total - rate->warm_up);
    double done = length > 0 ? (double)(step - rate->warm_up) / length : 1;
    return done < 0 ? 0 : done > 1 ? 1 : done;
}

double mer_rate_at(const MerRate *rate, int64_t step)
{
    double first = rate->first, last = rate->last;
    if (step < rate->warm_up) {
        return first * (double)(step + 1) / (double)(rate->warm_up + 1);
    }
    switch (rate->kind) {
    case MER_RATE_CONSTANT:
        return first;
    case MER_RATE_COSINE: /* Loshchilov and Hutter, ICLR 2017 */
        return last + 0.5 * (first - last) * (1 + cos(PI * share_done(rate, step)));
    case MER_RATE_LINEAR:
        return first + (last - first) * share_done(rate, step);
    case MER_RATE_STEPS:
        return first * pow(rate->factor, (double)((step - rate->warm_up) / rate->period));
    }
    return first;
}
