/* Graph embedding and segment-recurrent attention, made of the tape's layers. */
#include "learn/graph_net.h"

#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const float EPSILON = 1e-5f; /* of layer norms */

MerNorm mer_norm(MerParameters *parameters, const char *name, int width)
{
    MerNorm norm = {mer_parameters_add(parameters, mer_part_name(name, "scale").text, 1, &width),
                    mer_parameters_add(parameters, mer_part_name(name, "shift").text, 1, &width)};
    mer_tensor_fill(norm.scale, 1);
    return norm;
}

MerTensor *mer_norm_run(MerTape *tape, const MerNorm *norm, MerTensor *x)
{
    return mer_tensor_layer_norm(tape, x, norm->scale, norm->shift, EPSILON);
}

static MerPartName numbered(const char *name, const char *part, int index)
{
    char text[32];
    snprintf(text, sizeof text, "%s%d", part, index);
    return mer_part_name(name, text);
}

static MerTrunkLayer trunk_layer(MerParameters *parameters, const char *name,
                                 const MerGraphNetSpec *spec, MerRng *rng)
{
    MerTrunkLayer layer = {0};
    int           width = spec->width;
    layer.before = mer_norm(parameters, mer_part_name(name, "before").text, width);
    if (spec->is_modulated) {
        layer.gate =
            mer_linear_layer(parameters, mer_part_name(name, "gate").text, width, width, rng);
    }
    if (spec->has_attention) {
        layer.attention = mer_attention(parameters, mer_part_name(name, "attention").text, width,
                                        spec->heads, rng);
    }
    layer.between = mer_norm(parameters, mer_part_name(name, "between").text, width);
    layer.wide = mer_linear_layer(parameters, mer_part_name(name, "wide").text, width,
                                  spec->feed_forward, rng);
    layer.narrow = mer_linear_layer(parameters, mer_part_name(name, "narrow").text,
                                    spec->feed_forward, width, rng);
    return layer;
}

MerGraphNet mer_graph_net(MerParameters *parameters, const char *name, const MerGraphNetSpec *spec,
                          MerRng *rng)
{
    MerGraphNet net = {.spec = *spec};
    assert(spec->embeddings <= MER_GRAPH_NET_LAYERS && spec->layers <= MER_GRAPH_NET_LAYERS);
    net.input = mer_linear_layer(parameters, mer_part_name(name, "input").text, spec->inputs,
                                 spec->width, rng);
    for (int i = 0; i < spec->embeddings; i++) {
        net.sage[i] =
            mer_sage(parameters, numbered(name, "sage", i).text, spec->width, spec->width, rng);
    }
    for (int i = 0; i < spec->layers; i++) {
        net.layers[i] = trunk_layer(parameters, numbered(name, "layer", i).text, spec, rng);
    }
    return net;
}

MerTensor *mer_graph_net_embed(MerTape *tape, const MerGraphNet *net, MerTensor *x, int edge_count,
                               const int *source, const int *target)
{
    MerTensor *nodes = mer_linear_run(tape, &net->input, x, MER_LINEAR);
    for (int i = 0; i < net->spec.embeddings; i++) {
        nodes = mer_sage_run(tape, &net->sage[i], nodes, edge_count, source, target);
    }
    return nodes;
}

MerTensor *mer_graph_net_whole(MerTape *tape, MerTensor *nodes)
{
    MerTensor *mean = mer_tensor_mean_axis(tape, nodes, 0);
    return mer_tensor_reshape(tape, mean, 2, (int[]){1, nodes->shape[1]});
}

/* LayerNorm(x (.) sigmoid(W whole)) */
static MerTensor *modulate(MerTape *tape, const MerTrunkLayer *layer, MerTensor *x, MerTensor *gate)
{
    return mer_norm_run(tape, &layer->before, gate != NULL ? mer_tensor_mul(tape, x, gate) : x);
}

static MerTensor *gate_of(MerTape *tape, const MerGraphNet *net, const MerTrunkLayer *layer,
                          MerTensor *whole)
{
    return net->spec.is_modulated
               ? mer_tensor_sigmoid(tape, mer_linear_run(tape, &layer->gate, whole, MER_LINEAR))
               : NULL;
}

static MerTensor *thin(MerTape *tape, const MerGraphNet *net, MerTensor *x, MerRng *rng)
{
    return rng != NULL && net->spec.dropout > 0
               ? mer_tensor_dropout(tape, x, net->spec.dropout, rng)
               : x;
}

/* What follows the attention; `mixed` NULL: there is none. */
static MerTensor *feed(MerTape *tape, const MerGraphNet *net, const MerTrunkLayer *layer,
                       MerTensor *x, MerTensor *mixed, MerRng *rng)
{
    MerTensor *sum = mixed != NULL ? mer_tensor_add(tape, x, thin(tape, net, mixed, rng)) : x;
    MerTensor *wide =
        mer_linear_run(tape, &layer->wide, mer_norm_run(tape, &layer->between, sum), MER_RELU);
    MerTensor *narrow = mer_linear_run(tape, &layer->narrow, wide, MER_LINEAR);
    return mer_tensor_add(tape, sum, thin(tape, net, narrow, rng));
}

MerTensor *mer_segment_attention(MerTape *tape, const MerAttention *attention, MerTensor *x,
                                 int segment)
{
    int        length = x->shape[1], count = (length + segment - 1) / segment;
    MerTensor *before = NULL;
    if (count <= 1) {
        return mer_attention_run(tape, attention, x, NULL, NULL);
    }
    MerTensor **parts =
        mer_workspace_alloc(mer_tape_workspace(tape), (size_t)count * sizeof *parts);
    for (int s = 0; s < count; s++) {
        int        start = s * segment;
        int        rows = length - start < segment ? length - start : segment;
        MerTensor *part = mer_tensor_slice(tape, x, 1, start, rows);
        parts[s] = mer_attention_run(tape, attention, part, before, NULL);
        before = part;
    }
    return mer_tensor_concat(tape, count, parts, 1);
}

MerTensor *mer_graph_net_run(MerTape *tape, const MerGraphNet *net, MerTensor *x, MerTensor *whole,
                             MerRng *rng)
{
    for (int i = 0; i < net->spec.layers; i++) {
        const MerTrunkLayer *layer = &net->layers[i];
        MerTensor           *y = modulate(tape, layer, x, gate_of(tape, net, layer, whole));
        MerTensor *mixed = net->spec.has_attention ? mer_segment_attention(tape, &layer->attention,
                                                                           y, net->spec.segment)
                                                   : NULL;
        x = feed(tape, net, layer, mixed != NULL ? x : y, mixed, rng);
    }
    return x;
}

static MerTensor *rows_of(MerTape *tape, int width, const float *values, int rows)
{
    return mer_tape_input(tape, 3, (int[]){1, rows, width}, values);
}

/* One segment of one layer; `before` are the inputs of the segment before it. */
static void stream_segment(MerTape *tape, const MerGraphNet *net, const MerTrunkLayer *layer,
                           int rows, float *values, int before_rows, const float *before,
                           const float *whole)
{
    int width = net->spec.width;
    mer_tape_reset(tape);
    MerTensor *gate = gate_of(tape, net, layer, mer_tape_input(tape, 2, (int[]){1, width}, whole));
    MerTensor *x = rows_of(tape, width, values, rows);
    MerTensor *y = modulate(tape, layer, x, gate), *mixed = NULL;
    if (net->spec.has_attention) {
        MerTensor *cache =
            before_rows > 0 ? modulate(tape, layer, rows_of(tape, width, before, before_rows), gate)
                            : NULL;
        mixed = mer_attention_run(tape, &layer->attention, y, cache, NULL);
    }
    MerTensor *out = feed(tape, net, layer, mixed != NULL ? x : y, mixed, NULL);
    memcpy(values, out->data, (size_t)rows * (size_t)width * sizeof *values);
}

void mer_graph_net_stream(MerTape *tape, const MerGraphNet *net, int count, float *values,
                          const float *whole)
{
    int    width = net->spec.width, segment = net->spec.segment;
    size_t bytes = (size_t)segment * (size_t)width * sizeof *values;
    float *before = mer_heap_zeroed(1, bytes), *now = mer_heap_zeroed(1, bytes);
    mer_tape_record(tape, false);
    for (int i = 0; i < net->spec.layers; i++) {
        int before_rows = 0;
        for (int start = 0; start < count; start += segment) {
            int    rows = count - start < segment ? count - start : segment;
            float *part = values + (int64_t)start * width;
            memcpy(now, part, (size_t)rows * (size_t)width * sizeof *values);
            stream_segment(tape, net, &net->layers[i], rows, part, before_rows, before, whole);
            float *old = before;
            before = now;
            now = old;
            before_rows = rows;
        }
    }
    mer_tape_record(tape, true);
    free(before);
    free(now);
}
