/* The mean cost when every channel draws its option by theta, and its exact gradient. With two options a layer's cost is a function of
 * one number of channels, whose distribution a dynamic programme gives in c_out^2 steps: no soft maximum is needed. With more, the
 * mean cycles of each option are combined as in soft_cost.c. */
#include "split/split_parts.h"

#include <string.h>

/* sum over subsets of prod(in or out) f(size): linear in every in[c] and out[c], whose slopes are added to `in_slopes` and `out_slopes`
 * (NULL: not wanted), times `weight`. `f` has count + 1 values. */
static double mean_over_subsets(int count, const double *in, const double *out, const double *f,
                                double weight, double *in_slopes, double *out_slopes,
                                MerArena *scratch)
{
    /* rest[c][k]: the mean when channels before c brought k, c from count down to 0 */
    size_t  rows = (size_t)count + 1;
    double *rest = MER_ARRAY(scratch, double, rows *(rows + 1) / 2);
    double *reach = MER_ARRAY(scratch, double, rows); /* how likely channels before c bring k */
    double *below = rest + rows * (rows - 1) / 2;
    memcpy(below, f, rows * sizeof *f);
    for (int c = count - 1; c >= 0; c--) {
        double *here = rest + (size_t)c * ((size_t)c + 1) / 2;
        for (int k = 0; k <= c; k++) {
            here[k] = in[c] * below[k + 1] + out[c] * below[k];
        }
        below = here;
    }
    reach[0] = 1;
    for (int c = 0; in_slopes && c < count; c++) {
        const double *next = rest + ((size_t)c + 1) * ((size_t)c + 2) / 2;
        double        with = 0, without = 0;
        for (int k = 0; k <= c; k++) {
            with += reach[k] * next[k + 1];
            without += reach[k] * next[k];
        }
        in_slopes[c] += weight * with;
        out_slopes[c] += weight * without;
        for (int k = c; k >= 0; k--) {
            reach[k + 1] += reach[k] * in[c];
            reach[k] *= out[c];
        }
    }
    return rest[0];
}

/* Two options: the whole layer's cost by the channels of the first. */
static double two_options(const MerSplit *split, const MerSplitSoft *soft, int l,
                          const double *theta, double *gradient, MerArena *scratch)
{
    int     count = split->layers[l].c_out;
    double *f = MER_ARRAY(scratch, double, count + 1);
    for (int k = 0; k <= count; k++) {
        MerSplitPrice price = mer_split_layer_cost(split, l, (int[]){k, count - k});
        f[k] = mer_split_value(split, &price, soft->metric);
    }
    return mean_over_subsets(count, theta, theta + count, f, 1, gradient,
                             gradient ? gradient + count : NULL, scratch);
}

/* Each option's mean cycles on its own; theta and 1 - theta are in and out. */
static double many_options(const MerSplit *split, const MerSplitSoft *soft, int l,
                           const double *theta, double *gradient, MerArena *scratch)
{
    const MerSplitLayer *layer = &split->layers[l];
    int                  count = layer->c_out;
    double               busy[MER_SPLIT_MAX_UNITS] = {0}, by_unit[MER_SPLIT_MAX_UNITS] = {0};
    double              *out = MER_ARRAY(scratch, double, count);
    double *slopes = MER_ARRAY(scratch, double, 2 * (size_t)count * (size_t)layer->option_count);
    for (int o = 0; o < layer->option_count; o++) {
        const double *in = theta + (size_t)o * (size_t)count;
        double       *own = slopes + 2 * (size_t)o * (size_t)count;
        for (int c = 0; c < count; c++) {
            out[c] = 1 - in[c];
        }
        busy[layer->options[o].unit] += mean_over_subsets(count, in, out, layer->options[o].cycles,
                                                          1, own, own + count, scratch);
    }
    double value = mer_split_combine(split, soft, layer, busy, by_unit);
    for (int o = 0; gradient && o < layer->option_count; o++) {
        const double *own = slopes + 2 * (size_t)o * (size_t)count;
        for (int c = 0; c < count; c++) {
            gradient[o * count + c] += by_unit[layer->options[o].unit] * (own[c] - own[count + c]);
        }
    }
    return value;
}

double mer_split_expected_cost(const MerSplit *split, const MerSplitSoft *soft, int l,
                               const double *theta, double *gradient, MerArena *scratch)
{
    return split->layers[l].option_count == 2
               ? two_options(split, soft, l, theta, gradient, scratch)
               : many_options(split, soft, l, theta, gradient, scratch);
}
