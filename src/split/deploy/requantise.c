/* How units bring accumulators back to bytes: scale / 2^shift nearest to a real factor. */
#include "split/deploy/integer_net.h"

#include <stdlib.h>
#include <string.h>

static int constant_of(const MerFormula *formula, const char *name, int otherwise, int low,
                       int high)
{
    for (int i = 0; i < formula->count; i++) {
        if (strcmp(formula->constants[i].name, name) == 0 && formula->constants[i].count > 0) {
            return (int)fmax(low, fmin(high, formula->constants[i].values[0]));
        }
    }
    return otherwise;
}

/* A unit without rules computes with what fits 64 bits: 15 bits of scale times 32 of the accumulator. */
MerRequantise mer_requantise_of(const MerUnit *unit)
{
    const MerFormula *rules = &unit->requantise;
    const int         most_scale = (1 << 15) - 1, most_shift = 46;
    if (rules->name == NULL) {
        return (MerRequantise){.has_scale = true, .scale_max = most_scale, .shift_max = most_shift};
    }
    if (strcmp(rules->name, "shift") == 0) {
        int bits = constant_of(rules, "shift_bits", 5, 0, 5);
        return (MerRequantise){.scale_max = 1, .shift_max = (1 << bits) - 1, .bias_bits = 16};
    }
    return (MerRequantise){.has_scale = true,
                           .scale_max = constant_of(rules, "scale_max", 127, 1, most_scale),
                           .shift_max = constant_of(rules, "shift_max", 15, 0, most_shift),
                           .bias_bits = constant_of(rules, "bias_bits", 8, 2, 32),
                           .bias_shift_max = constant_of(rules, "bias_shift_max", 15, 0, 31)};
}

/* Of each shift only the two scales around m 2^shift can be the nearest. */
void mer_requantise_find(double m, int scale_max, int shift_max, int32_t *scale, int32_t *shift)
{
    double best = INFINITY;
    *scale = 1;
    *shift = 0;
    for (int n = 0; n <= shift_max; n++) {
        double exact = ldexp(m, n);
        int    low = exact >= scale_max ? scale_max : exact < 1 ? 1 : (int)exact;
        for (int a = low; a <= low + 1 && a <= scale_max; a++) {
            double distance = fabs(ldexp(a, -n) - m);
            if (distance < best) {
                best = distance;
                *scale = a;
                *shift = n;
            }
        }
    }
}

void mer_requantise_bias(int64_t target, int bits, int shift_max, int32_t *bias, int32_t *shift)
{
    const int64_t high = ((int64_t)1 << (bits - 1)) - 1, low = -high - 1;
    int64_t       best = INT64_MAX;
    *bias = *shift = 0;
    for (int n = 0; n <= shift_max; n++) {
        int64_t unit = (int64_t)1 << n;
        int64_t below = target >= 0 ? target / unit : -((-target + unit - 1) / unit);
        for (int64_t b = below; b <= below + 1; b++) {
            int64_t value = b < low ? low : b > high ? high : b;
            int64_t distance = llabs(value * unit - target);
            if (distance < best) {
                best = distance;
                *bias = (int32_t)value;
                *shift = n;
            }
        }
    }
}
