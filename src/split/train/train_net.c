/* From a graph to a network that can be trained: nodes in order, parameters, and which values share a quantiser. */
#include "split/train/train_net.h"

#include "mercator/option.h"
#include "tensor/layers.h"

#include <string.h>

typedef struct Image {
    int channels, height, width;
} Image;

typedef struct Builder {
    MerTrainNet    *net;
    const MerGraph *graph;
    int            *slot;     /* of each value of the graph: value of the network, -1: none */
    int            *maker;    /* node that made a value of the network, -1: the input */
    int            *together; /* values of the network that share a quantiser: union-find */
    Image          *images;   /* that values of the network are */
    MerError       *error;
} Builder;

static MerStatus refuse(Builder *b, const MerOp *op, const char *why)
{
    return mer_error_set(b->error, MER_UNSUPPORTED, "%s: operator %s (%s) %s", b->graph->name,
                         op->name, op->source, why);
}

static int find(int *together, int value)
{
    while (together[value] != value) {
        value = together[value] = together[together[value]];
    }
    return value;
}

static void unite(int *together, int a, int b)
{
    a = find(together, a);
    b = find(together, b);
    together[a > b ? a : b] = a < b ? a : b;
}

static bool is_source(const MerOp *op, const char *const *names)
{
    for (; *names != NULL; names++) {
        if (strcmp(op->source, *names) == 0) {
            return true;
        }
    }
    return false;
}

/* The value of the network that input `which` reads; -1: a weight, or nothing that was made here. */
static int input_of(const Builder *b, const MerOp *op, int which)
{
    return which < op->input_count ? b->slot[op->inputs[which]] : -1;
}

static Image image_of(const MerValue *value)
{
    return value->rank == 4
               ? (Image){(int)value->dims[1], (int)value->dims[2], (int)value->dims[3]}
               : (Image){value->rank > 0 ? (int)value->dims[value->rank - 1] : 1, 1, 1};
}

static MerTrainNode *new_node(Builder *b, MerTrainNodeKind kind, const MerOp *op)
{
    MerTrainNet  *net = b->net;
    MerTrainNode *node = &net->nodes[net->node_count];
    *node = (MerTrainNode){.kind = kind,
                           .name = op->name,
                           .op = (int)(op - b->graph->ops),
                           .layer = -1,
                           .in = {-1, -1},
                           .out = net->value_count,
                           .quantiser = -1};
    b->maker[net->value_count] = net->node_count++;
    b->together[net->value_count] = net->value_count;
    b->images[net->value_count] = image_of(&b->graph->values[op->outputs[0]]);
    b->slot[op->outputs[0]] = net->value_count++;
    return node;
}

static const MerSplitLayer *layer_of(const MerSplit *split, int op, int *index)
{
    for (int l = 0; split != NULL && l < split->layer_count; l++) {
        if (split->layers[l].op == op || split->layers[l].pair_op == op) {
            *index = l;
            return &split->layers[l];
        }
    }
    *index = -1;
    return NULL;
}

static const char *branch_name(Builder *b, const MerTrainNode *node, int branch)
{
    return branch == 0 ? node->name
                       : mer_arena_format(b->net->arena, "%s.branch%d", node->name, branch);
}

static void add_branch(Builder *b, MerTrainNode *node, MerConvolution conv, const int shape[4])
{
    MerTrainBranch *branch = &node->branches[node->branch_count];
    const char     *name = branch_name(b, node, node->branch_count++);
    branch->conv = conv;
    branch->weight =
        mer_parameters_add(b->net->weights, mer_part_name(name, "weight").text, 4, shape);
    branch->bias = mer_parameters_add(b->net->weights, mer_part_name(name, "bias").text, 1, shape);
}

static void add_norm(Builder *b, const MerTrainNode *node, int index)
{
    MerTrainBranch *branch = (MerTrainBranch *)&node->branches[index];
    const char     *name = branch_name(b, node, index);
    int             size = branch->weight->shape[0];
    MerParameters  *p = b->net->weights;
    branch->has_norm = true;
    branch->norm.scale = mer_parameters_add(p, mer_part_name(name, "scale").text, 1, &size);
    branch->norm.shift = mer_parameters_add(p, mer_part_name(name, "shift").text, 1, &size);
    branch->norm.running_mean =
        mer_parameters_add_constant(p, mer_part_name(name, "mean").text, 1, &size);
    branch->norm.running_variance =
        mer_parameters_add_constant(p, mer_part_name(name, "variance").text, 1, &size);
}

/* A layer that may be computed by a convolution or by a depthwise one has weights for both. */
static void add_branches(Builder *b, MerTrainNode *node, const MerSplitLayer *layer,
                         MerConvolution conv, const int shape[4])
{
    int  dense[4] = {layer->c_out, layer->c_in, layer->k_h, layer->k_w};
    int  deep[4] = {layer->c_out, 1, layer->k_h, layer->k_w};
    bool has_both = false;
    for (int o = 0; o < layer->option_count; o++) {
        has_both = has_both || layer->options[o].branch != layer->options[0].branch;
    }
    if (!has_both) {
        add_branch(b, node, conv, shape);
        return;
    }
    for (int k = 0; k < MER_TRAIN_BRANCHES; k++) {
        const MerSplitOption *option = NULL;
        for (int o = 0; o < layer->option_count && option == NULL; o++) {
            option = layer->options[o].branch == k ? &layer->options[o] : NULL;
        }
        bool is_deep = option != NULL && option->type == MER_SPLIT_DEPTHWISE;
        conv.groups = is_deep ? layer->c_out : 1;
        add_branch(b, node, conv, is_deep ? deep : dense);
    }
}

/* A product with all pixels of an image is a convolution whose kernel covers it. */
static MerStatus cover_image(Builder *b, const MerOp *op, const Image *image, int shape[4])
{
    if ((int64_t)image->channels * image->height * image->width != shape[1]) {
        return refuse(b, op, "cannot be trained, expected that it reads a whole image or vector");
    }
    shape[1] = image->channels;
    shape[2] = image->height;
    shape[3] = image->width;
    return MER_OK;
}

static MerStatus add_conv(Builder *b, const MerOp *op)
{
    int                  index, from = input_of(b, op, 0);
    const MerSplitLayer *layer = layer_of(b->net->split, (int)(op - b->graph->ops), &index);
    bool                 is_product = op->kind == MER_OP_GEMM;
    bool                 is_deep = op->kind == MER_OP_DEPTHWISE;
    int                  groups = (int)(is_deep ? op->dims[MER_DIM_C] : op->dims[MER_DIM_G]);
    if (layer != NULL && layer->pair_op == (int)(op - b->graph->ops)) {
        b->slot[op->outputs[0]] = from; /* the layer before computes both */
        return MER_OK;
    }
    bool is_plain = op->pad[0] == op->pad[2] && op->pad[1] == op->pad[3] && op->repeat == 1 &&
                    op->dims[MER_DIM_N] == 1 && (!is_product || op->dims[MER_DIM_Y] == 1);
    if (from < 0 || op->input_count < 2 || b->slot[op->inputs[1]] >= 0 || !is_plain) {
        return refuse(b, op, "cannot be trained, expected weights, even padding and a batch of 1");
    }
    MerConvolution conv = {groups,
                           {op->stride[0], op->stride[1]},
                           {op->pad[0], op->pad[1]},
                           {op->dilation[0], op->dilation[1]}};
    int            shape[4] = {(int)(is_deep ? op->dims[MER_DIM_C] : op->dims[MER_DIM_K] * groups),
                               (int)(is_deep ? 1 : op->dims[MER_DIM_C]), (int)op->dims[MER_DIM_R],
                               (int)op->dims[MER_DIM_S]};
    if (is_product) {
        conv = (MerConvolution){1, {1, 1}, {0, 0}, {1, 1}};
        MER_TRY(cover_image(b, op, &b->images[from], shape));
    }
    MerTrainNode *node = new_node(b, MER_TRAIN_CONV, op);
    node->layer = index;
    node->in[0] = from;
    if (layer != NULL) {
        add_branches(b, node, layer, conv, shape);
    } else {
        add_branch(b, node, conv, shape);
    }
    return MER_OK;
}

/* The node that made an operator's only input and is read by nothing else; NULL: there is none. */
static MerTrainNode *alone_before(const Builder *b, const MerOp *op)
{
    int value = op->inputs[0], slot = b->slot[value];
    return slot >= 0 && b->maker[slot] >= 0 && b->graph->values[value].consumer_count == 1
               ? &b->net->nodes[b->maker[slot]]
               : NULL;
}

/* Is the operator that makes the value the second half of a pair that one layer computes? */
static bool is_of_pair(const Builder *b, int value)
{
    int                  producer = b->graph->values[value].producer, layer;
    const MerSplitLayer *found = layer_of(b->net->split, producer, &layer);
    return found != NULL && found->pair_op == producer;
}

static MerStatus add_norm_op(Builder *b, const MerOp *op)
{
    MerTrainNode *node = alone_before(b, op);
    if (is_of_pair(b, op->inputs[0])) {
        b->slot[op->outputs[0]] = b->slot[op->inputs[0]];
        return MER_OK;
    }
    if (node == NULL || node->kind != MER_TRAIN_CONV || node->has_relu) {
        return refuse(b, op, "cannot be trained, expected a convolution right before it");
    }
    for (int k = 0; k < node->branch_count && !node->branches[k].has_norm; k++) {
        add_norm(b, node, k);
    }
    b->slot[op->outputs[0]] = node->out;
    return MER_OK;
}

static MerStatus add_relu(Builder *b, const MerOp *op)
{
    MerTrainNode *node = alone_before(b, op);
    if (node == NULL) {
        return refuse(b, op, "cannot be trained, expected that nothing else reads its input");
    }
    node->has_relu = true;
    b->slot[op->outputs[0]] = node->out;
    return MER_OK;
}

static MerStatus add_sum(Builder *b, const MerOp *op)
{
    int left = input_of(b, op, 0), right = input_of(b, op, 1);
    if (left < 0 || right < 0 || op->input_count != 2) {
        return refuse(b, op, "cannot be trained, expected a sum of two activations");
    }
    MerTrainNode *node = new_node(b, MER_TRAIN_ADD, op);
    node->in[0] = left;
    node->in[1] = right;
    unite(b->together, left, right);
    return MER_OK;
}

/* An operator does not keep the window of a pool: with padding p it is 2 p + 1 where that fits, else the largest that fits. */
static int pool_window(const MerOp *op, int axis, int64_t out)
{
    int64_t size = axis == 0 ? op->input_rows : op->input_columns;
    int64_t most = size + op->pad[axis] + op->pad[axis + 2] - (out - 1) * op->stride[axis];
    int64_t usual = 2 * op->pad[axis] + 1;
    return (int)(op->pad[axis] > 0 && usual <= most && usual > most - op->stride[axis] ? usual
                                                                                       : most);
}

static MerStatus add_pool(Builder *b, const MerOp *op)
{
    static const char *const global[] = {"GlobalAveragePool", NULL};
    static const char *const known[] = {"MaxPool", "AveragePool", NULL};
    int                      from = input_of(b, op, 0);
    const MerValue          *out = &b->graph->values[op->outputs[0]];
    if (from < 0 || (!is_source(op, global) && !is_source(op, known))) {
        return refuse(b, op, "cannot be trained, expected a maximum or an average");
    }
    if (is_source(op, global)) {
        new_node(b, MER_TRAIN_AVERAGE, op)->in[0] = from;
        return MER_OK;
    }
    MerTrainNode *node = new_node(b, MER_TRAIN_POOL, op);
    node->in[0] = from;
    node->pooling.kind = op->source[0] == 'M' ? MER_POOLING_MAX : MER_POOLING_AVERAGE;
    for (int i = 0; i < 2; i++) {
        node->pooling.window[i] = pool_window(op, i, out->dims[2 + i]);
        node->pooling.stride[i] = op->stride[i];
        node->pooling.padding[i] = op->pad[i];
    }
    return MER_OK;
}

static MerStatus add_op(Builder *b, const MerOp *op)
{
    static const char *const norms[] = {"BatchNormalization", NULL};
    static const char *const relus[] = {"Relu", "Clip", NULL};
    static const char *const sums[] = {"Add", "Sum", NULL};
    static const char *const same[] = {"Flatten", "Reshape", "Identity",   "Dropout",
                                       "Squeeze", "Softmax", "LogSoftmax", NULL};
    if (op->kind == MER_OP_CONV || op->kind == MER_OP_DEPTHWISE || op->kind == MER_OP_GEMM) {
        return add_conv(b, op);
    }
    if (is_source(op, norms)) {
        return add_norm_op(b, op);
    }
    if (is_source(op, relus)) {
        return add_relu(b, op);
    }
    if (is_source(op, sums)) {
        return add_sum(b, op);
    }
    if (op->kind == MER_OP_POOL) {
        return add_pool(b, op);
    }
    if (op->output_count == 0 || input_of(b, op, 0) < 0) {
        return MER_OK; /* shapes and constants */
    }
    if (is_source(op, same)) {
        b->slot[op->outputs[0]] = input_of(b, op, 0);
        return MER_OK;
    }
    return refuse(
        b, op, "cannot be trained, expected Conv, Gemm, BatchNormalization, Relu, Add or a pool");
}

/* What is added to something, and what comes out of a convolution, a sum or an average, is written in few values; the last logits are
 * not, and a maximum of such values is one of them. */
static void share_quantisers(Builder *b)
{
    MerTrainNet *net = b->net;
    int         *number = MER_ARRAY(net->arena, int, net->value_count + 1);
    bool        *is_added = MER_ARRAY(net->arena, bool, net->value_count + 1);
    memset(number, -1, (size_t)(net->value_count + 1) * sizeof *number);
    for (int n = 0; n < net->node_count; n++) {
        const MerTrainNode *node = &net->nodes[n];
        if (node->kind == MER_TRAIN_ADD) {
            is_added[node->in[0]] = is_added[node->in[1]] = true;
        }
    }
    for (int n = 0; n < net->node_count; n++) {
        MerTrainNode *node = &net->nodes[n];
        int           root = find(b->together, node->out);
        bool is_maximum = node->kind == MER_TRAIN_POOL && node->pooling.kind == MER_POOLING_MAX;
        if (node->out == net->output || is_maximum) {
            continue;
        }
        number[root] = number[root] < 0 ? net->quantiser_count++ : number[root];
        node->quantiser = number[root];
        bool is_positive =
            node->has_relu || node->kind == MER_TRAIN_AVERAGE || node->kind == MER_TRAIN_POOL;
        node->has_relu = node->has_relu || (is_added[node->out] && !net->form.signed_add);
        node->is_signed = !is_positive && !node->has_relu;
    }
}

static void add_scales(MerTrainNet *net)
{
    net->clips = MER_ARRAY(net->arena, MerTensor *, net->quantiser_count + 1);
    for (int q = 0; q < net->quantiser_count; q++) {
        char name[32];
        snprintf(name, sizeof name, "clip.%d", q);
        net->clips[q] = mer_parameters_add(net->scales, name, 1, (int[]){1});
        net->clips[q]->data[0] = 6;
    }
}

static MerStatus add_formats(MerTrainNet *net, MerError *error)
{
    const MerSplit *split = net->split;
    net->formats = MER_ARRAY(net->arena, MerQuantiser, (split ? split->option_count : 0) + 1);
    for (int l = 0; split != NULL && l < split->layer_count; l++) {
        const MerSplitLayer *layer = &split->layers[l];
        for (int o = 0; o < layer->option_count; o++) {
            MerQuantiser *q = &net->formats[layer->option_start + o];
            bool          is_by_channel;
            if (!mer_train_format(layer->options[o].weights, &q->format, &q->rule,
                                  &is_by_channel)) {
                return mer_error_set(
                    error, MER_UNSUPPORTED, "layer %s: weights %s of option %s cannot be trained",
                    layer->name, layer->options[o].weights, layer->options[o].name);
            }
            const char *name =
                mer_arena_format(net->arena, "%s.%s", layer->name, layer->options[o].name);
            int size = is_by_channel ? layer->c_out : 1;
            q->scale = net->form.train_scales
                           ? mer_parameters_add(net->scales, name, 1, &size)
                           : mer_parameters_add_constant(net->scales, name, 1, &size);
        }
    }
    return MER_OK;
}

static MerStatus find_ends(Builder *b)
{
    const MerGraph *graph = b->graph;
    int             inputs = 0, outputs = 0;
    for (int v = 0; v < graph->value_count; v++) {
        const MerValue *value = &graph->values[v];
        if (value->role == MER_VALUE_INPUT && value->rank == 4 && inputs++ == 0) {
            b->slot[v] = b->net->value_count;
            b->maker[b->net->value_count] = -1;
            b->together[b->net->value_count] = b->net->value_count;
            b->images[b->net->value_count] = image_of(value);
            b->net->value_count++;
            for (int i = 0; i < 3; i++) {
                b->net->shape[i] = (int)value->dims[1 + i];
            }
        }
        outputs += value->is_output;
    }
    if (inputs != 1 || outputs != 1) {
        return mer_error_set(
            b->error, MER_UNSUPPORTED,
            "%s has %d inputs that are images and %d outputs, expected one of each to train it",
            graph->name, inputs, outputs);
    }
    return MER_OK;
}

static MerStatus build(Builder *b)
{
    MerTrainNet *net = b->net;
    MER_TRY(find_ends(b));
    for (int i = 0; i < b->graph->op_count; i++) {
        MER_TRY(add_op(b, &b->graph->ops[i]));
    }
    for (int v = 0; v < b->graph->value_count; v++) {
        if (b->graph->values[v].is_output) {
            net->output = b->slot[v];
        }
    }
    if (net->output < 0 || b->maker[net->output] < 0 ||
        net->nodes[b->maker[net->output]].kind != MER_TRAIN_CONV) {
        return mer_error_set(b->error, MER_UNSUPPORTED,
                             "%s: expected a convolution or a product that gives the last output",
                             b->graph->name);
    }
    const Image *last = &b->images[net->output];
    if (last->height != 1 || last->width != 1) {
        return mer_error_set(b->error, MER_UNSUPPORTED,
                             "%s: the last output is an image of %dx%dx%d, expected one number for "
                             "each class",
                             b->graph->name, last->channels, last->height, last->width);
    }
    net->classes = net->nodes[b->maker[net->output]].branches[0].weight->shape[0];
    share_quantisers(b);
    add_scales(net);
    return add_formats(net, b->error);
}

MerStatus mer_train_net_new(const MerGraph *graph, const MerSplit *split, const MerTrainForm *form,
                            MerArena *arena, MerTrainNet **net, MerError *error)
{
    int values = graph->value_count + 1;
    *net = MER_NEW(arena, MerTrainNet);
    **net = (MerTrainNet){.graph = graph,
                          .split = split,
                          .form = *form,
                          .output = -1,
                          .momentum = 0.1f,
                          .nodes = MER_ARRAY(arena, MerTrainNode, graph->op_count + 1),
                          .weights = mer_parameters_new(),
                          .scales = mer_parameters_new(),
                          .arena = arena};
    Builder b = {*net,
                 graph,
                 MER_ARRAY(arena, int, values),
                 MER_ARRAY(arena, int, values),
                 MER_ARRAY(arena, int, values),
                 MER_ARRAY(arena, Image, values),
                 error};
    memset(b.slot, -1, (size_t)values * sizeof *b.slot);
    MerStatus status = build(&b);
    if (status != MER_OK) {
        mer_train_net_free(*net);
        *net = NULL;
    }
    return status;
}

void mer_train_net_free(MerTrainNet *net)
{
    if (net != NULL) {
        mer_parameters_free(net->weights);
        mer_parameters_free(net->scales);
    }
}
