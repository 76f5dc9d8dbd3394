/* The channels of a layer in whole numbers: weights and biases at the levels that the training gave them, and the scale and shift by
 * which the unit of each channel brings its accumulator to the step of the output. */
#include "split/deploy/integer_build.h"

enum { MOST_LOGIT = 32767 }; /* 16 bits */

typedef struct Exact { /* a channel before its unit's rules */
    double  unit;  /* what the accumulator counts: a step of the weights times one of the input */
    int32_t bias;  /* in this unit */
    int64_t reach; /* the largest accumulator, without sign */
} Exact;

static const MerSplitOption *option_of(const MerIntegerBuild *b, const MerIntegerNode *node, int c)
{
    return &b->from->split->layers[node->layer].options[node->channels[c].option];
}

/* Sums of weight x (byte - zero) stay between low and high; 32 bits hold the sums of weight x byte on the way there. */
static MerStatus measure_reach(MerIntegerBuild *b, const MerIntegerNode *node, int c, int64_t width,
                               Exact *exact)
{
    const MerIntegerChannel *channel = &node->channels[c];
    int64_t zero = b->net->values[node->in[0]].zero, low = exact->bias, high = exact->bias;
    int64_t sum = 0;
    for (int64_t i = 0; i < width; i++) {
        int64_t w = channel->weights[i], down = -w * zero, up = w * (MER_TRAIN_LEVELS - zero);
        low += down < up ? down : up;
        high += down < up ? up : down;
        sum += w < 0 ? -w : w;
    }
    exact->reach = -low > high ? -low : high;
    return MER_TRAIN_LEVELS * sum +
                       (channel->start < 0 ? -(int64_t)channel->start : channel->start) <
                   INT32_MAX - 65536 /* a bias */
               ? MER_OK
               : mer_integer_refuse(b, node->name, "its sums do not fit 32 bits");
}

static MerStatus write_channel(MerIntegerBuild *b, const MerTrainNode *from, MerIntegerNode *node,
                               int c, Exact *exact)
{
    const MerSplitLayer   *layer = &b->from->split->layers[node->layer];
    MerIntegerChannel     *channel = &node->channels[c];
    const MerIntegerValue *in = &b->net->values[node->in[0]];
    channel->option = b->plan->assignment[layer->channel_start + c];
    const MerSplitOption *option = option_of(b, node, c);
    const MerTrainBranch *branch = &from->branches[from->branch_count > 1 ? option->branch : 0];
    const MerQuantiser   *format = &b->from->formats[layer->option_start + channel->option];
    int64_t               width = branch->weight->size / branch->weight->shape[0], sum = 0;
    if (branch->weight->shape[1] != mer_integer_inputs(b->net, node, channel->option)) {
        return mer_integer_refuse(b, node->name, "option %s has no weights of its own",
                                  option->name);
    }
    const float *row = branch->weight->data + c * width;
    int8_t      *weights = MER_ARRAY(b->arena, int8_t, width);
    float        e = mer_quantiser_e(format, c);
    for (int64_t i = 0; i < width; i++) {
        weights[i] = (int8_t)mer_format_level(format->format, e, row[i]);
        sum += weights[i];
    }
    channel->weights = weights;
    channel->start = (int32_t)(-in->zero * sum);
    const MerFormat bias = {1, -32768, 32767};
    float           unit = e / format->format.unit * in->step; /* as mixed_bias in train_run.c */
    exact->unit = unit;
    exact->bias = (int32_t)mer_format_level(bias, unit, branch->bias->data[c]);
    return measure_reach(b, node, c, width, exact);
}

static void put_bias(const MerRequantise *rules, int64_t target, MerIntegerChannel *channel)
{
    if (rules->bias_bits > 0) {
        mer_requantise_bias(target, rules->bias_bits, rules->bias_shift_max, &channel->bias,
                            &channel->bias_shift);
    }
}

/* A channel whose weights are too small for any shift of its unit is a constant. */
static void make_constant(MerIntegerBuild *b, const MerRequantise *rules, double m,
                          const Exact *exact, int64_t width, MerIntegerChannel *channel)
{
    int32_t value = (int32_t)floor(m * exact->bias);
    channel->weights = MER_ARRAY(b->arena, int8_t, width);
    channel->start = rules->bias_bits > 0 ? 0 : value;
    channel->scale = 1;
    channel->shift = 0;
    put_bias(rules, value, channel);
}

/* Of an accumulator to the step of the output. */
static MerStatus requantise(MerIntegerBuild *b, MerIntegerNode *node, int c, const Exact *exact)
{
    MerIntegerChannel    *channel = &node->channels[c];
    const MerSplitOption *option = option_of(b, node, c);
    const MerUnit        *unit = &b->from->split->platform->units[option->unit];
    MerRequantise         rules = mer_requantise_of(unit);
    double                m = exact->unit / b->net->values[node->out].step;
    if (m < ldexp(0.5, -rules.shift_max)) {
        int64_t width = (int64_t)mer_integer_inputs(b->net, node, channel->option) *
                        node->kernel[0] * node->kernel[1];
        make_constant(b, &rules, m, exact, width, channel);
        return MER_OK;
    }
    mer_requantise_find(m, rules.scale_max, rules.shift_max, &channel->scale, &channel->shift);
    if (fabs(ldexp(channel->scale, -channel->shift) - m) > m / 2) {
        return mer_integer_refuse(b, node->name,
                                  "channel %d needs a factor of %g, unit %s has scales up to %d", c,
                                  m, unit->name, rules.scale_max);
    }
    if (rules.bias_bits == 0) {
        channel->start += exact->bias;
    }
    put_bias(&rules, (int64_t)channel->scale * exact->bias, channel);
    return MER_OK;
}

/* Would the logits of a channel fit 16 bits with this step? */
static bool fits_logits(const MerRequantise *rules, const Exact *exact, double step)
{
    double  m = exact->unit / step;
    int32_t scale, shift;
    mer_requantise_find(m, rules->scale_max, rules->shift_max, &scale, &shift);
    return m <= rules->scale_max &&
           ldexp(scale, -shift) * (double)exact->reach < MOST_LOGIT * (127.0 / 128);
}

/* All logits are compared with each other, so that all channels have the smallest power of two as their step that none of them
 * overflows. A share of 1/128 is left for biases of few bits. */
static void choose_logit_step(MerIntegerBuild *b, const MerIntegerNode *node, const Exact *exact,
                              MerIntegerValue *out)
{
    int exponent = -126;
    for (int c = 0; c < out->channels; c++) {
        const MerUnit *unit = &b->from->split->platform->units[option_of(b, node, c)->unit];
        MerRequantise  rules = mer_requantise_of(unit);
        while (exponent < 126 && !fits_logits(&rules, &exact[c], ldexp(1, exponent))) {
            exponent++;
        }
    }
    out->step = ldexpf(1, exponent);
    out->zero = 0;
}

MerStatus mer_integer_make_layer(MerIntegerBuild *b, const MerTrainNode *from, MerIntegerNode *node)
{
    MerIntegerValue *out = &b->net->values[node->out];
    Exact           *exact = MER_ARRAY(b->arena, Exact, out->channels);
    node->channels = MER_ARRAY(b->arena, MerIntegerChannel, out->channels);
    for (int c = 0; c < out->channels; c++) {
        MER_TRY(write_channel(b, from, node, c, &exact[c]));
    }
    if (node->out == b->net->value_count - 1) {
        choose_logit_step(b, node, exact, out);
    }
    for (int c = 0; c < out->channels; c++) {
        MER_TRY(requantise(b, node, c, &exact[c]));
    }
    mer_integer_find_parts(node, out->channels, b->arena);
    return MER_OK;
}
