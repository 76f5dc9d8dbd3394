/* A trainable network at work: weights to start with, batch norms folded away, and the pass from images to logits. */
#include "split/train/train_net.h"

#include "split/split_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const float EPSILON = 1e-5f;

/* Uniform up to 1 / sqrt(fan-in). Behind a batch norm the size of weights is the inverse of their step: these start with larger steps
 * than He's normal numbers of the fan-out, which is worth about half a point in 30 epochs. */
static void fill_branch(MerTrainBranch *branch, MerRng *rng)
{
    int64_t fan_in = branch->weight->size / branch->weight->shape[0];
    float   most = 1 / sqrtf((float)fan_in);
    mer_tensor_fill_uniform(branch->weight, -most, most, rng);
    mer_tensor_fill(branch->bias, 0);
    if (branch->has_norm) {
        mer_tensor_fill(branch->norm.scale, 1);
        mer_tensor_fill(branch->norm.shift, 0);
        mer_tensor_fill(branch->norm.running_mean, 0);
        mer_tensor_fill(branch->norm.running_variance, 1);
    }
}

void mer_train_net_fill(MerTrainNet *net, MerRng *rng)
{
    for (int n = 0; n < net->node_count; n++) {
        MerTrainNode *node = &net->nodes[n];
        for (int k = 0; k < node->branch_count; k++) {
            fill_branch(&node->branches[k], rng);
        }
        const float *known =
            node->layer >= 0 ? mer_split_layer_weights(net->split, node->layer) : NULL;
        if (known != NULL && node->branch_count == 1) {
            memcpy(node->branches[0].weight->data, known,
                   (size_t)node->branches[0].weight->size * sizeof *known);
        }
    }
}

void mer_train_net_copy(MerTrainNet *net, const MerTrainNet *from)
{
    assert(mer_parameters_count(net->weights) == mer_parameters_count(from->weights));
    for (int i = 0; i < mer_parameters_count(net->weights); i++) {
        MerTensor       *to = mer_parameters_get(net->weights, i);
        const MerTensor *source = mer_parameters_get(from->weights, i);
        memcpy(to->data, source->data, (size_t)to->size * sizeof *to->data);
    }
    net->is_folded = from->is_folded;
}

static void start_scales(MerTrainNet *net, const MerTrainNode *node)
{
    const MerSplitLayer *layer = &net->split->layers[node->layer];
    for (int o = 0; o < layer->option_count; o++) {
        int              branch = node->branch_count > 1 ? layer->options[o].branch : 0;
        const MerTensor *w = node->branches[branch].weight;
        mer_train_start_scale(layer->options[o].weights, w->data, w->shape[0],
                              w->size / w->shape[0], w->shape[2] * w->shape[3],
                              net->form.authors_ternary,
                              net->formats[layer->option_start + o].scale->data);
    }
}

/* A channel that hardly ever differs from its mean leaves its norm as the shift. Folded, its weights would be up to 1 / sqrt(EPSILON)
 * times as large, and where a layer has one scale, all others would be rounded to 0: one such channel ended MobileNetV1. */
static void quieten(MerTrainBranch *branch)
{
    int64_t width = branch->weight->size / branch->weight->shape[0];
    for (int r = 0; r < branch->weight->shape[0]; r++) {
        if (branch->norm.running_variance->data[r] < EPSILON) {
            memset(branch->weight->data + r * width, 0, (size_t)width * sizeof(float));
            branch->bias->data[r] = branch->norm.shift->data[r];
        }
    }
}

void mer_train_net_fold(MerTrainNet *net)
{
    for (int n = 0; n < net->node_count; n++) {
        MerTrainNode *node = &net->nodes[n];
        for (int k = 0; k < node->branch_count; k++) {
            MerTrainBranch *branch = &node->branches[k];
            if (branch->has_norm && !net->is_folded) {
                mer_batch_norm_fold(&branch->norm, EPSILON, branch->weight, branch->bias);
                quieten(branch);
            }
        }
        if (node->layer >= 0) {
            start_scales(net, node);
        }
    }
    for (int q = 0; q < net->quantiser_count; q++) {
        net->clips[q]->data[0] = 6;
    }
    net->is_folded = true;
}

typedef struct Pass { /* one way through the network */
    MerTrainNet      *net;
    MerTape          *tape;
    MerTensor *const *choice;
    bool              is_training;
    MerTensor       **values;
    float            *steps; /* of a folded network: between two neighbours of each value */
} Pass;

static MerTensor *float_conv(Pass *pass, const MerTrainNode *node)
{
    MerTape   *tape = pass->tape;
    MerTensor *sum = NULL;
    for (int k = 0; k < node->branch_count; k++) {
        const MerTrainBranch *branch = &node->branches[k];
        MerTensor            *bias = branch->has_norm ? NULL : branch->bias;
        MerTensor            *x = pass->values[node->in[0]];
        MerTensor            *y = mer_tensor_conv(tape, x, branch->weight, bias, &branch->conv);
        if (branch->has_norm) {
            y = mer_tensor_batch_norm(tape, y, &branch->norm, pass->net->momentum, EPSILON,
                                      pass->is_training, node->has_relu);
        } else if (node->has_relu) {
            y = mer_tensor_relu(tape, y);
        }
        if (node->branch_count > 1 && pass->choice != NULL) { /* (operators, channels) */
            MerTensor *share = mer_tensor_slice(tape, pass->choice[node->layer], 0, k, 1);
            int        shape[4] = {1, y->shape[1], 1, 1};
            y = mer_tensor_mul(tape, y, mer_tensor_reshape(tape, share, 4, shape));
        }
        sum = sum == NULL ? y : mer_tensor_add(tape, sum, y);
        if (node->branch_count > 1 && pass->choice == NULL) {
            break;
        }
    }
    return sum;
}

/* What of the choice belongs to the options of one operator: they follow each other. */
static MerTensor *branch_share(Pass *pass, const MerTrainNode *node, const MerSplitLayer *layer,
                               int branch, int *first, int *count)
{
    MerTensor *choice = pass->choice != NULL ? pass->choice[node->layer] : NULL;
    *first = 0;
    *count = layer->option_count;
    if (node->branch_count > 1) {
        while (*first < layer->option_count && layer->options[*first].branch != branch) {
            ++*first;
        }
        *count = 0;
        while (*first + *count < layer->option_count &&
               layer->options[*first + *count].branch == branch) {
            ++*count;
        }
    }
    if (choice == NULL) {
        int only = layer->fixed >= 0 ? layer->fixed : layer->reference;
        *count = only >= *first && only < *first + *count;
        *first = only;
        return NULL;
    }
    return *count == layer->option_count ? choice
                                         : mer_tensor_slice(pass->tape, choice, 0, *first, *count);
}

/* Biases are whole multiples of what the accumulator counts: a step of the weights times one of the input. */
static MerTensor *mixed_bias(Pass *pass, const MerTrainBranch *branch, MerTensor *share, int count,
                             const MerQuantiser *formats, float step)
{
    MerQuantiser units[MER_MOST_FORMATS];
    int          rows = branch->weight->shape[0];
    for (int o = 0; o < count; o++) {
        MerTensor *unit = mer_tape_tensor(pass->tape, 1, &rows);
        for (int r = 0; r < rows; r++) {
            unit->data[r] = mer_quantiser_e(&formats[o], r) / formats[o].format.unit * step;
        }
        units[o] = (MerQuantiser){{1, -32768, 32767}, MER_SCALE_DIRECT, unit};
    }
    return mer_tensor_mixture(pass->tape, branch->bias, share, count, units);
}

static MerTensor *mixed_conv(Pass *pass, const MerTrainNode *node)
{
    MerTape             *tape = pass->tape;
    const MerSplitLayer *layer = &pass->net->split->layers[node->layer];
    MerTensor           *sum = NULL;
    for (int k = 0; k < node->branch_count; k++) {
        const MerTrainBranch *branch = &node->branches[k];
        int                   first, count;
        MerTensor            *share = branch_share(pass, node, layer, k, &first, &count);
        if (count == 0) {
            continue;
        }
        const MerQuantiser *formats = &pass->net->formats[layer->option_start + first];
        MerTensor          *w = mer_tensor_mixture(tape, branch->weight, share, count, formats);
        MerTensor *bias = mixed_bias(pass, branch, share, count, formats, pass->steps[node->in[0]]);
        MerTensor *y = mer_tensor_conv(tape, pass->values[node->in[0]], w, bias, &branch->conv);
        sum = sum == NULL ? y : mer_tensor_add(tape, sum, y);
    }
    return sum;
}

/* A layer that nobody splits stays in floating point, without its norm. */
static MerTensor *folded_conv(Pass *pass, const MerTrainNode *node)
{
    const MerTrainBranch *branch = &node->branches[0];
    return mer_tensor_conv(pass->tape, pass->values[node->in[0]], branch->weight, branch->bias,
                           &branch->conv);
}

static MerTensor *average(MerTape *tape, MerTensor *x)
{
    MerPooling pool = {MER_POOLING_AVERAGE, {x->shape[2], x->shape[3]}, {1, 1}, {0, 0}};
    return mer_tensor_pool(tape, x, &pool);
}

static MerTensor *run_node(Pass *pass, const MerTrainNode *node)
{
    MerTensor *x = pass->values[node->in[0]], *y;
    switch (node->kind) {
    case MER_TRAIN_CONV:
        return !pass->net->is_folded ? float_conv(pass, node)
               : node->layer >= 0    ? mixed_conv(pass, node)
                                     : folded_conv(pass, node);
    case MER_TRAIN_ADD:
        y = mer_tensor_add(pass->tape, x, pass->values[node->in[1]]);
        return !pass->net->is_folded && node->has_relu ? mer_tensor_relu(pass->tape, y) : y;
    case MER_TRAIN_POOL:
        return mer_tensor_pool(pass->tape, x, &node->pooling);
    default:
        return average(pass->tape, x);
    }
}

static MerTensor *quantise(Pass *pass, const MerTrainNode *node, MerTensor *y)
{
    MerTensor *clip = pass->net->clips[node->quantiser];
    int        low = node->is_signed ? -(MER_TRAIN_LEVELS + 1) / 2 : 0;
    int        high = node->is_signed ? MER_TRAIN_LEVELS / 2 : MER_TRAIN_LEVELS;
    pass->steps[node->out] = 1 / mer_staircase_scale(clip->data[0], high);
    return mer_tensor_staircase(pass->tape, y, clip, low, high);
}

/* Bytes as the machine has them: 7 bits of 0 .. 1, or, with a sign, of -1 .. 1 around the zero point 64. */
static MerTensor *input_of(Pass *pass, const float *images, int batch)
{
    const MerTrainNet *net = pass->net;
    int                shape[4] = {batch, net->shape[0], net->shape[1], net->shape[2]};
    MerTensor         *x = mer_tape_input(pass->tape, 4, shape, images);
    if (!net->is_folded) {
        return x;
    }
    float *bytes = mer_workspace_floats(mer_tape_workspace(pass->tape), x->size);
    float  scale = net->form.is_input_signed ? 64 : 128;
    float  low = net->form.is_input_signed ? -64 : 0, high = net->form.is_input_signed ? 63 : 127;
    for (int64_t i = 0; i < x->size; i++) {
        float q = floorf(scale * images[i]);
        bytes[i] = (q < low ? low : q > high ? high : q) / scale;
    }
    pass->steps[0] = 1 / scale;
    return mer_tape_input(pass->tape, 4, shape, bytes);
}

/* Layers that are tied to another one take its choice. */
static MerTensor *const *all_layers(const MerTrainNet *net, MerTape *tape, MerTensor *const *choice)
{
    const MerSplit *split = net->split;
    if (choice == NULL || split == NULL || !split->is_tied) {
        return choice;
    }
    MerTensor **all = mer_workspace_alloc(mer_tape_workspace(tape),
                                          (size_t)(split->layer_count + 1) * sizeof(MerTensor *));
    for (int l = 0; l < split->layer_count; l++) {
        bool is_tied = split->layers[l].is_searchable && choice[l] == NULL;
        all[l] = choice[is_tied ? mer_split_owner(split, l) : l];
    }
    return all;
}

MerTensor *mer_train_net_run(MerTrainNet *net, MerTape *tape, const float *images, int batch,
                             MerTensor *const *choice, bool is_training)
{
    MerWorkspace *memory = mer_tape_workspace(tape);
    choice = all_layers(net, tape, choice);
    Pass pass = {.net = net, .tape = tape, .choice = choice, .is_training = is_training};
    pass.values = mer_workspace_alloc(memory, (size_t)net->value_count * sizeof *pass.values);
    pass.steps = mer_workspace_floats(memory, net->value_count);
    pass.values[0] = input_of(&pass, images, batch);
    for (int n = 0; n < net->node_count; n++) {
        const MerTrainNode *node = &net->nodes[n];
        MerTensor          *y = run_node(&pass, node);
        pass.steps[node->out] = pass.steps[node->in[0]];
        if (net->is_folded && node->quantiser >= 0) {
            y = quantise(&pass, node, y);
        }
        pass.values[node->out] = y;
    }
    return mer_tensor_reshape(tape, pass.values[net->output], 2, (int[]){batch, net->classes});
}
