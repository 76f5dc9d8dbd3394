/* What the weights of each channel lose in each format, without data or training: squared error over the layer's squared weights. A
 * network without weights gets a few random ones per channel, by He's rule; their errors tell formats apart, not channels. */
#include "base/stats.h"
#include "split/split_parts.h"

#include "mercator/rng.h"

#include <string.h>

enum { DRAWS = 64 /* random weights per channel */ };

typedef struct Weights { /* of one layer: (channels, per_channel) */
    const float *values;
    int          channels, per_channel;
} Weights;

static double largest(const float *values, size_t count)
{
    double top = 0;
    for (size_t i = 0; i < count; i++) {
        top = fmax(top, fabs((double)values[i]));
    }
    return top;
}

/* Squared error of values on a grid of 2n + 1 steps up to `e`. */
static double grid_error(const float *values, int count, double e, double n)
{
    double sum = 0;
    for (int i = 0; i < count && e > 0; i++) {
        double q = e * nearbyint(n * fmin(fmax((double)values[i] / e, -1), 1)) / n;
        sum += (values[i] - q) * (values[i] - q);
    }
    return sum;
}

/* The published start of a ternary scale, for weights as spread as this channel's: a third of a normal distribution rounds to 0. */
static double ternary_scale(const float *values, int count)
{
    double squares = 0;
    for (int i = 0; i < count; i++) {
        squares += (double)values[i] * (double)values[i];
    }
    return 2 * 0.43072729929545744 * sqrt(squares / count);
}

/* Of whole-number formats below 8 bits: the best of 16 scales for the layer. */
static double best_scale(const Weights *w, double top, double n)
{
    double best = top, least = INFINITY;
    for (int j = 1; j <= 16; j++) {
        double error = 0, e = top * j / 16;
        for (int c = 0; c < w->channels; c++) {
            error +=
                grid_error(w->values + (size_t)c * (size_t)w->per_channel, w->per_channel, e, n);
        }
        best = error < least ? e : best;
        least = fmin(least, error);
    }
    return best;
}

/* The scale of a layer, 0: each channel has its own. */
static double layer_scale(const Weights *w, const MerSplitOption *option, double n)
{
    double top = largest(w->values, (size_t)w->channels * (size_t)w->per_channel);
    return strncmp(option->weights, "ternary", 7) == 0  ? 0
           : option->bits < 8                           ? best_scale(w, top, n)
           : strstr(option->weights, "pow2") && top > 0 ? exp2(floor(log2(2 * top)))
                                                        : 2 * top;
}

static void fill_errors(const Weights *w, const MerSplitOption *option, double total,
                        double *errors)
{
    bool   is_ternary = strncmp(option->weights, "ternary", 7) == 0;
    double n = is_ternary ? 1 : exp2(fmin(option->bits, 32) - 1) - 1;
    double scale = layer_scale(w, option, fmax(n, 1));
    for (int c = 0; c < w->channels; c++) {
        const float *own = w->values + (size_t)c * (size_t)w->per_channel;
        double       e = is_ternary ? ternary_scale(own, w->per_channel) : scale;
        errors[c] = total > 0 ? grid_error(own, w->per_channel, e, fmax(n, 1)) / total : 0;
    }
}

static Weights random_weights(const MerSplitLayer *layer, uint64_t seed, MerArena *scratch)
{
    Weights w = {NULL, layer->c_out, layer->weights < DRAWS ? (int)layer->weights : DRAWS};
    size_t  count = (size_t)w.channels * (size_t)w.per_channel;
    float  *values = MER_ARRAY(scratch, float, count);
    MerRng  rng;
    rng = mer_rng_make(seed, 0);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)mer_rng_normal(&rng);
    }
    w.values = values;
    return w;
}

/* By what a channel loses from the finest to the coarsest format. */
static void rank_channels(MerSplitLayer *layer, bool is_known, int *ranking, MerArena *scratch)
{
    double *gain = MER_ARRAY(scratch, double, layer->c_out);
    int     order[MER_SPLIT_MAX_OPTIONS];
    mer_split_by_precision(layer, order);
    const double *fine = layer->errors + (size_t)order[0] * (size_t)layer->c_out;
    const double *coarse =
        layer->errors + (size_t)order[layer->option_count - 1] * (size_t)layer->c_out;
    for (int c = 0; c < layer->c_out; c++) {
        gain[c] = is_known ? fine[c] - coarse[c] : 0;
    }
    mer_sort_order(gain, layer->c_out, ranking);
}

void mer_split_find_errors(MerSplitLayer *layer, const float *weights, uint64_t seed,
                           MerArena *arena)
{
    MerArena *scratch = mer_arena_new();
    Weights   w = weights ? (Weights){weights, layer->c_out, (int)layer->weights}
                          : random_weights(layer, seed, scratch);
    size_t    count = (size_t)w.channels * (size_t)w.per_channel;
    double   *errors = MER_ARRAY(arena, double, (size_t)layer->option_count *(size_t)layer->c_out);
    int      *ranking = MER_ARRAY(arena, int, layer->c_out);
    double    total = 0;
    for (size_t i = 0; i < count; i++) {
        total += (double)w.values[i] * (double)w.values[i];
    }
    for (int o = 0; o < layer->option_count; o++) {
        fill_errors(&w, &layer->options[o], total, errors + (size_t)o * (size_t)layer->c_out);
    }
    layer->errors = errors;
    rank_channels(layer, weights != NULL, ranking, scratch);
    layer->ranking = ranking;
    mer_arena_free(scratch);
}
