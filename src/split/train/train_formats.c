/* Formats of weights, and the scales that they start with. */
#include "split/train/train_net.h"

#include "mercator/option.h"

#include <math.h>
#include <string.h>

typedef struct Format {
    const char  *name;
    MerFormat    format;
    MerScaleRule rule;
    bool         is_by_channel;
} Format;

static const Format formats[] = {
    {"int8-pow2", {127, -127, 127}, MER_SCALE_POWER, false},
    {"int8-pow2-exact", {128, -127, 127}, MER_SCALE_POWER, false},
    {"int8", {127, -127, 127}, MER_SCALE_EXP, false},
    {"int4", {7, -7, 7}, MER_SCALE_EXP, false},
    {"int2", {1, -1, 1}, MER_SCALE_EXP, false},
    {"ternary", {1, -1, 1}, MER_SCALE_EXP, true},
};

bool mer_train_format(const char *name, MerFormat *format, MerScaleRule *rule, bool *is_by_channel)
{
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (mer_name_equal(name, formats[i].name)) {
            *format = formats[i].format;
            *rule = formats[i].rule;
            *is_by_channel = formats[i].is_by_channel;
            return true;
        }
    }
    return false;
}

static float largest(const float *weights, int64_t count)
{
    float most = 0;
    for (int64_t i = 0; i < count; i++) {
        most = fabsf(weights[i]) > most ? fabsf(weights[i]) : most;
    }
    return most > 0 ? most : 1;
}

/* The e that makes the least error of {-e, 0, e} with its threshold at e / 2, by turns: the mean of what is not 0 moves e, e moves
 * what is 0 (Lloyd's method). */
static float best_ternary(const float *weights, int64_t count)
{
    double e = largest(weights, count);
    for (int turn = 0; turn < 20; turn++) {
        double  sum = 0;
        int64_t used = 0;
        for (int64_t i = 0; i < count; i++) {
            bool is_used = fabs(weights[i]) > e / 2;
            sum += is_used ? fabs(weights[i]) : 0;
            used += is_used;
        }
        e = used > 0 ? sum / (double)used : e;
    }
    return (float)e;
}

/* ln(-2 q), q the third of a normal distribution with He's deviation of the fan-out. */
static float authors_ternary(int rows, int kernel)
{
    const double third =
        0.430727299295457; /* of a standard normal distribution, without its sign */
    return (float)log(2 * third * sqrt(2.0 / ((double)rows * kernel)));
}

void mer_train_start_scale(const char *name, const float *weights, int rows, int64_t width,
                           int kernel, bool is_authors, float *scale)
{
    MerFormat    format;
    MerScaleRule rule;
    bool         is_by_channel;
    if (!mer_train_format(name, &format, &rule, &is_by_channel)) {
        return;
    }
    if (is_by_channel) {
        for (int r = 0; r < rows; r++) {
            scale[r] = is_authors ? authors_ternary(rows, kernel)
                                  : logf(best_ternary(weights + r * width, width));
        }
    } else if (rule == MER_SCALE_POWER) {
        *scale = mer_scale_value(MER_SCALE_POWER, 2 * largest(weights, rows * width));
    } else if (format.unit == 1) {
        *scale = logf(best_ternary(weights, rows * width));
    } else {
        *scale = logf(2 * largest(weights, rows * width));
    }
}
