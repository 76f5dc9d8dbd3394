/* How many images a deployed network gets right. Sums of a convolution are computed in float32 by the tensor engine: they are whole
 * numbers below 2^24, so that every order of adding gives the same bits as the plain way. */
#include "split/deploy/integer_net.h"
#include "tensor/ops.h"

#include <string.h>

enum { BATCH = 50, MOST_SUM = 1 << 24 };

typedef struct Filters { /* of a convolution; NULL: no channel has such */
    float *dense;        /* (K, C / groups, R, S) */
    float *depthwise;    /* (K, 1, R, S) */
} Filters;

typedef struct Counting {
    const MerIntegerNet  *net;
    const MerDataset     *images;
    MerPool              *pool;
    const Filters        *filters; /* of each node; none: it is computed plainly */
    MerArena            **scratch; /* of each worker */
    int                   first, count;
    uint8_t             **bytes;             /* of each value: (BATCH, its size) */
    int32_t              *logits;            /* (images, classes) */
    const MerIntegerNode *node;              /* now at work, */
    float                *padded;            /* its input */
    const float          *dense, *depthwise; /* and its sums */
} Counting;

/* ---- filters as floats */

static bool is_exact(const MerIntegerChannel *channel, int64_t count)
{
    int64_t most = 0;
    for (int64_t i = 0; i < count; i++) {
        most += MER_TRAIN_LEVELS *
                (int64_t)(channel->weights[i] < 0 ? -channel->weights[i] : channel->weights[i]);
    }
    return most < MOST_SUM;
}

static Filters filters_of(const MerIntegerNet *net, const MerIntegerNode *node, MerArena *arena)
{
    Filters filters = {NULL, NULL};
    int     channels = net->values[node->out].channels;
    if (node->kind != MER_TRAIN_CONV) {
        return filters;
    }
    for (int c = 0; c < channels; c++) {
        const MerIntegerChannel *channel = &node->channels[c];
        bool    is_depthwise = mer_integer_is_depthwise(net, node, channel->option);
        float **kind = is_depthwise ? &filters.depthwise : &filters.dense;
        int64_t size = (int64_t)mer_integer_inputs(net, node, channel->option) * node->kernel[0] *
                       node->kernel[1];
        if (!is_exact(channel, size)) {
            return (Filters){NULL, NULL};
        }
        *kind = *kind ? *kind : MER_ARRAY(arena, float, channels *size);
        for (int64_t i = 0; i < size; i++) {
            (*kind)[c * size + i] = channel->weights[i];
        }
    }
    return filters;
}

/* ---- a batch, node by node */

static void for_images(Counting *counting, void (*work)(void *context, int index, int worker))
{
    if (counting->pool) {
        mer_pool_run(counting->pool, counting->count, work, counting);
        return;
    }
    for (int i = 0; i < counting->count; i++) {
        work(counting, i, 0);
    }
}

static uint8_t *bytes_of(const Counting *counting, int value, int index)
{
    int size = mer_integer_value_size(&counting->net->values[value]);
    return counting->bytes[value] ? counting->bytes[value] + (size_t)index * (size_t)size : NULL;
}

static int32_t *logits_of(const Counting *counting, int index)
{
    return counting->logits + (size_t)(counting->first + index) * (size_t)counting->net->classes;
}

static void take_image(void *context, int index, int worker)
{
    Counting *counting = context;
    int       size = mer_integer_value_size(&counting->net->values[0]);
    (void)worker;
    mer_integer_net_input(
        counting->net, counting->images->images + (size_t)(counting->first + index) * (size_t)size,
        bytes_of(counting, 0, index));
}

static void run_plainly(void *context, int index, int worker)
{
    Counting             *counting = context;
    const MerIntegerNode *node = counting->node;
    bool                  is_sum = node->kind == MER_TRAIN_ADD;
    const uint8_t *const  in[2] = {bytes_of(counting, node->in[0], index),
                                  is_sum ? bytes_of(counting, node->in[1], index) : NULL};
    mer_arena_reset(counting->scratch[worker]);
    mer_integer_node_run(counting->net, node, in, bytes_of(counting, node->out, index),
                         logits_of(counting, index), counting->scratch[worker]);
}

static void padded_shape(const Counting *counting, int shape[4])
{
    const MerIntegerValue *in = &counting->net->values[counting->node->in[0]];
    const int             *padding = counting->node->conv.padding;
    shape[0] = BATCH;
    shape[1] = in->channels;
    shape[2] = in->height + 2 * padding[0];
    shape[3] = in->width + 2 * padding[1];
}

static void pad_image(void *context, int index, int worker)
{
    Counting              *counting = context;
    const MerIntegerValue *in = &counting->net->values[counting->node->in[0]];
    const int             *padding = counting->node->conv.padding;
    const uint8_t         *byte = bytes_of(counting, counting->node->in[0], index);
    int                    shape[4];
    (void)worker;
    padded_shape(counting, shape);
    int64_t plane = (int64_t)shape[2] * shape[3];
    float  *to = counting->padded + index * shape[1] * plane;
    for (int64_t i = 0; i < shape[1] * plane; i++) {
        to[i] = (float)in->zero;
    }
    for (int c = 0; c < in->channels; c++) {
        for (int y = 0; y < in->height; y++) {
            float *row = to + c * plane + (int64_t)(y + padding[0]) * shape[3] + padding[1];
            for (int x = 0; x < in->width; x++) {
                row[x] = (float)*byte++;
            }
        }
    }
}

static void end_image(void *context, int index, int worker)
{
    Counting              *counting = context;
    const MerIntegerNet   *net = counting->net;
    const MerIntegerNode  *node = counting->node;
    const MerIntegerValue *out = &net->values[node->out];
    int                    size = out->height * out->width;
    mer_arena_reset(counting->scratch[worker]);
    int32_t *acc = MER_ARRAY(counting->scratch[worker], int32_t, size);
    for (int c = 0; c < out->channels; c++) {
        const MerIntegerChannel *channel = &node->channels[c];
        bool         is_depthwise = mer_integer_is_depthwise(net, node, channel->option);
        const float *sums = (is_depthwise ? counting->depthwise : counting->dense) +
                            ((size_t)index * (size_t)out->channels + (size_t)c) * (size_t)size;
        for (int i = 0; i < size; i++) {
            acc[i] = channel->start + (int32_t)sums[i];
        }
        mer_integer_channel_end(net, node, c, acc, bytes_of(counting, node->out, index),
                                logits_of(counting, index));
    }
}

/* (BATCH, K, Y, X); NULL: there are no such filters. */
static const float *convolve(const Counting *counting, MerTape *tape, const float *filters,
                             int groups)
{
    const MerIntegerNode *node = counting->node;
    MerConvolution        conv = node->conv;
    int                   shape[4];
    if (filters == NULL) {
        return NULL;
    }
    padded_shape(counting, shape);
    int weights[4] = {counting->net->values[node->out].channels, shape[1] / groups, node->kernel[0],
                      node->kernel[1]};
    MerTensor *x = mer_tape_input(tape, 4, shape, counting->padded);
    MerTensor *w = mer_tape_input(tape, 4, weights, filters);
    conv.groups = groups;
    conv.padding[0] = conv.padding[1] = 0;
    return mer_tensor_data(tape, mer_tensor_conv(tape, x, w, NULL, &conv));
}

static void run_batch(Counting *counting, MerTape *tape)
{
    const MerIntegerNet *net = counting->net;
    for_images(counting, take_image);
    for (int n = 0; n < net->node_count; n++) {
        const Filters *filters = &counting->filters[n];
        counting->node = &net->nodes[n];
        if (filters->dense == NULL && filters->depthwise == NULL) {
            for_images(counting, run_plainly);
            continue;
        }
        int inputs = net->values[counting->node->in[0]].channels;
        mer_tape_reset(tape);
        for_images(counting, pad_image);
        counting->dense = convolve(counting, tape, filters->dense, counting->node->conv.groups);
        counting->depthwise = convolve(counting, tape, filters->depthwise, inputs);
        for_images(counting, end_image);
    }
}

/* ---- all images */

static void make_memory(Counting *counting, MerArena *arena)
{
    const MerIntegerNet *net = counting->net;
    int64_t              most = 0;
    Filters             *filters = MER_ARRAY(arena, Filters, net->node_count);
    counting->filters = filters;
    counting->bytes = MER_ARRAY(arena, uint8_t *, net->value_count);
    for (int v = 0; v < net->value_count - 1; v++) { /* the last one are logits */
        counting->bytes[v] = MER_ARRAY(
            arena, uint8_t, (size_t)BATCH * (size_t)mer_integer_value_size(&net->values[v]));
    }
    for (int n = 0; n < net->node_count; n++) {
        int shape[4];
        counting->node = &net->nodes[n];
        filters[n] = filters_of(net, counting->node, arena);
        if (counting->node->kind == MER_TRAIN_CONV) {
            padded_shape(counting, shape);
            int64_t size = (int64_t)shape[0] * shape[1] * shape[2] * shape[3];
            most = size > most ? size : most;
        }
    }
    counting->padded = MER_ARRAY(arena, float, most + 1);
}

static double share_right(const Counting *counting)
{
    int right = 0, classes = counting->net->classes;
    for (int i = 0; i < counting->images->count; i++) {
        const int32_t *logits = counting->logits + (size_t)i * (size_t)classes;
        int            best = 0;
        for (int c = 1; c < classes; c++) { /* the first of equals, as in training */
            best = logits[c] > logits[best] ? c : best;
        }
        right += best == counting->images->labels[i];
    }
    return counting->images->count > 0 ? (double)right / counting->images->count : 0;
}

MerStatus mer_integer_net_accuracy(const MerIntegerNet *net, const MerDataset *images,
                                   MerPool *pool, int32_t *logits, double *accuracy,
                                   MerError *error)
{
    MerArena *arena = mer_arena_new();
    MerTape  *tape = mer_tape_new(&mer_backend_dnnl, pool);
    int       workers = pool ? mer_pool_threads(pool) : 1;
    Counting  counting = {.net = net, .images = images, .pool = pool, .logits = logits};
    counting.scratch = MER_ARRAY(arena, MerArena *, workers);
    for (int w = 0; w < workers; w++) {
        counting.scratch[w] = mer_arena_new();
    }
    if (logits == NULL) {
        counting.logits =
            MER_ARRAY(arena, int32_t, (size_t)images->count * (size_t)net->classes + 1);
    }
    make_memory(&counting, arena);
    mer_tape_record(tape, false);
    for (int i = 0; i < images->count; i += BATCH) {
        counting.first = i;
        counting.count = images->count - i < BATCH ? images->count - i : BATCH;
        run_batch(&counting, tape);
    }
    *accuracy = share_right(&counting);
    MerStatus status = mer_tape_status(tape, error);
    for (int w = 0; w < workers; w++) {
        mer_arena_free(counting.scratch[w]);
    }
    mer_tape_free(tape);
    mer_arena_free(arena);
    return status;
}
