/* Options of an optimizer as knobs. */
#include "run/experiment/tuning.h"

#include "base/option_json.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_VALUES = 32 };

/* Sorted, without doubles; `value` is rounded and kept within the option's range. */
static void add_value(const MerOption *option, double value, double *values, int *count)
{
    bool is_limited = option->minimum != 0 || option->maximum != 0;
    value = option->type == MER_OPTION_INT ? round(value) : value;
    value = is_limited ? fmin(fmax(value, option->minimum), option->maximum) : value;
    int at = *count;
    for (int i = 0; i < *count; i++) {
        if (values[i] == value) {
            return;
        }
    }
    for (; at > 0 && values[at - 1] > value; at--) {
        values[at] = values[at - 1];
    }
    values[at] = value;
    (*count)++;
}

static int make_values(const MerOption *option, double *values)
{
    static const double rates[] = {0,   0.01, 0.02, 0.05, 0.1, 0.15, 0.2,  0.3,
                                   0.4, 0.5,  0.6,  0.7,  0.8, 0.9,  0.95, 1};
    enum { RATES = sizeof rates / sizeof *rates, STEPS = 6 };
    double initial = strtod(option->initial, NULL);
    bool is_rate = option->type == MER_OPTION_REAL && option->minimum == 0 && option->maximum == 1;
    bool is_number = option->type == MER_OPTION_REAL || option->type == MER_OPTION_INT;
    int  count = 0;
    if (!is_number || (!is_rate && initial == 0)) {
        return 0;
    }
    add_value(option, initial, values, &count);
    for (int i = 0; i < RATES && is_rate; i++) {
        add_value(option, rates[i], values, &count);
    }
    for (int i = -STEPS; i <= STEPS && !is_rate; i++) {
        add_value(option, initial * pow(2, i * 0.5), values, &count);
    }
    return count;
}

MerStatus mer_tune_space(const MerOptimizerClass *optimizer, const MerReference *fixed,
                         MerSpace *space, MerIndex **defaults, MerArena *arena, MerError *error)
{
    int count = 0;
    for (const MerOption *option = optimizer->options; option && option->name; option++) {
        count++;
    }
    MerKnob *knobs = MER_ARRAY(arena, MerKnob, count + 1);
    *defaults = MER_ARRAY(arena, MerIndex, count + 1);
    *space = (MerSpace){.knobs = knobs};
    for (int o = 0; o < count; o++) {
        const MerOption *option = &optimizer->options[o];
        double          *values = MER_ARRAY(arena, double, MOST_VALUES);
        bool             is_fixed = fixed && mer_reference_find(fixed, option->name) >= 0;
        int              choices = is_fixed ? 0 : make_values(option, values);
        if (choices < 2) {
            continue;
        }
        MerIndex initial = 0;
        while (values[initial] != strtod(option->initial, NULL)) {
            initial++;
        }
        (*defaults)[space->knob_count] = initial;
        knobs[space->knob_count++] = (MerKnob){.name = option->name,
                                               .kind = MER_KNOB_ORDERED,
                                               .role = MER_ROLE_SETTING,
                                               .level = -1,
                                               .dim = -1,
                                               .op = -1,
                                               .choices = choices,
                                               .values = values};
    }
    return space->knob_count > 0
               ? MER_OK
               : mer_error_set(error, MER_INVALID, "optimizer %s has no numbers left to tune",
                               optimizer->name);
}
