/* Channels in an order that makes those of each option neighbours. Values whose channels meet (in a sum, a pool, or where channel c
 * of the output reads channel c of the input) have one order, so that nothing is ever moved while the network runs: only rows and
 * columns of weights change places. The input keeps its order, and so does all that a grouped convolution reads or writes. */
#include "split/deploy/integer_net.h"

#include "base/sets.h"

#include <string.h>

typedef struct Pass {
    const MerIntegerNet *from;
    MerIntegerNet       *net;
    MerArena            *arena;
    int                 *parent;    /* of values: mer_sets_new */
    bool                *is_pinned; /* by the root of a class */
    int                **move;      /* of the root of a class: the channel that comes to place c */
} Pass;

/* Does some channel c read channel c of the input alone? */
static bool is_channelwise(const MerIntegerNet *net, const MerIntegerNode *node)
{
    bool is_found = false;
    for (int i = 0; i < node->part_count; i++) {
        is_found |= mer_integer_is_depthwise(net, node, node->parts[i].option);
    }
    return is_found;
}

static bool is_grouped(const MerIntegerNet *net, const MerIntegerNode *node)
{
    return node->kind == MER_TRAIN_CONV && node->conv.groups > 1 && !is_channelwise(net, node);
}

static void find_classes(Pass *p)
{
    const MerIntegerNet *net = p->from;
    p->parent = mer_sets_new(net->value_count, p->arena);
    p->is_pinned = MER_ARRAY(p->arena, bool, net->value_count);
    for (int n = 0; n < net->node_count; n++) {
        const MerIntegerNode *node = &net->nodes[n];
        if (node->kind != MER_TRAIN_CONV || is_channelwise(net, node)) {
            mer_sets_join(p->parent, node->in[0], node->out);
        }
        if (node->kind == MER_TRAIN_ADD) {
            mer_sets_join(p->parent, node->in[1], node->out);
        }
    }
    p->is_pinned[mer_sets_root(p->parent, 0)] = true;
    for (int n = 0; n < net->node_count; n++) {
        const MerIntegerNode *node = &net->nodes[n];
        if (is_grouped(net, node)) {
            p->is_pinned[mer_sets_root(p->parent, node->in[0])] =
                p->is_pinned[mer_sets_root(p->parent, node->out)] = true;
        }
    }
}

/* What a layer costs with the channels that its options have. */
static double price(const MerIntegerNet *net, const MerIntegerNode *node)
{
    int counts[MER_SPLIT_MAX_OPTIONS] = {0};
    for (int i = 0; i < node->part_count; i++) {
        counts[node->parts[i].option] += node->parts[i].count;
    }
    return mer_split_layer_cost(net->split, node->layer, counts).cycles;
}

/* The layers that make a class, the dearest first, the earlier one among equals. */
static int find_makers(const Pass *p, int root, const MerIntegerNode **makers)
{
    const MerIntegerNet *net = p->from;
    int                  count = 0;
    for (int n = 0; n < net->node_count; n++) {
        const MerIntegerNode *node = &net->nodes[n];
        if (node->kind != MER_TRAIN_CONV || mer_sets_root(p->parent, node->out) != root) {
            continue;
        }
        int at = count++;
        for (; at > 0 && price(net, makers[at - 1]) < price(net, node); at--) {
            makers[at] = makers[at - 1];
        }
        makers[at] = node;
    }
    return count;
}

/* By the options of the dearest layer, inside of one of these by those of the next, and so on. */
static int compare(const MerIntegerNode **makers, int count, int a, int b)
{
    int difference = 0;
    for (int i = 0; i < count && difference == 0; i++) {
        difference = makers[i]->channels[a].option - makers[i]->channels[b].option;
    }
    return difference;
}

static int *find_move(const Pass *p, int root)
{
    const MerIntegerNode **makers =
        MER_ARRAY(p->arena, const MerIntegerNode *, p->from->node_count);
    int  count = p->is_pinned[root] ? 0 : find_makers(p, root, makers);
    int  channels = p->from->values[root].channels;
    int *move = MER_ARRAY(p->arena, int, channels);
    for (int c = 0; c < channels;
         c++) { /* by insertion: channels that want the same stay in order */
        int at = c;
        for (; at > 0 && compare(makers, count, move[at - 1], c) > 0; at--) {
            move[at] = move[at - 1];
        }
        move[at] = c;
    }
    return move;
}

/* Blocks of `size` bytes in another order. */
static const int8_t *move_blocks(const Pass *p, const int8_t *from, const int *move, int count,
                                 int size)
{
    int8_t *to = MER_ARRAY(p->arena, int8_t, (size_t)count * (size_t)size);
    for (int i = 0; i < count; i++) {
        memcpy(to + (size_t)i * (size_t)size, from + (size_t)move[i] * (size_t)size, (size_t)size);
    }
    return to;
}

static void move_layer(const Pass *p, const MerIntegerNode *from, MerIntegerNode *node)
{
    const MerIntegerNet *net = p->from;
    int                  count = net->values[node->out].channels;
    const int           *in = p->move[mer_sets_root(p->parent, node->in[0])],
              *out = p->move[mer_sets_root(p->parent, node->out)];
    node->channels = MER_ARRAY(p->arena, MerIntegerChannel, count);
    for (int c = 0; c < count; c++) {
        MerIntegerChannel *channel = &node->channels[c];
        *channel = from->channels[out[c]];
        int inputs = mer_integer_inputs(net, node, channel->option);
        if (node->conv.groups == 1 && !mer_integer_is_depthwise(net, node, channel->option)) {
            channel->weights =
                move_blocks(p, channel->weights, in, inputs, node->kernel[0] * node->kernel[1]);
        }
    }
    mer_integer_find_parts(node, count, p->arena);
}

static void move_orders(Pass *p)
{
    const MerIntegerNet *from = p->from;
    int                **order = MER_ARRAY(p->arena, int *, from->value_count);
    for (int v = 0; v < from->value_count; v++) {
        const int *move = p->move[mer_sets_root(p->parent, v)];
        order[v] = MER_ARRAY(p->arena, int, from->values[v].channels);
        for (int c = 0; c < from->values[v].channels; c++) {
            order[v][c] = from->order[v][move[c]];
        }
    }
    p->net->order = order;
    p->net->output_order = MER_ARRAY(p->arena, int, from->classes);
    for (int c = 0; c < from->classes; c++) {
        p->net->output_order[c] =
            from->output_order[p->move[mer_sets_root(p->parent, from->value_count - 1)][c]];
    }
}

MerIntegerNet *mer_integer_net_reorder(const MerIntegerNet *from, MerArena *arena)
{
    MerIntegerNet *net = MER_NEW(arena, MerIntegerNet);
    Pass           p = {.from = from, .net = net, .arena = arena};
    *net = *from;
    find_classes(&p);
    p.move = MER_ARRAY(arena, int *, from->value_count);
    for (int v = 0; v < from->value_count; v++) {
        p.move[v] = mer_sets_root(p.parent, v) == v ? find_move(&p, v) : NULL;
    }
    net->nodes = MER_ARRAY(arena, MerIntegerNode, from->node_count);
    for (int n = 0; n < from->node_count; n++) {
        net->nodes[n] = from->nodes[n];
        if (from->nodes[n].kind == MER_TRAIN_CONV) {
            move_layer(&p, &from->nodes[n], &net->nodes[n]);
        }
    }
    move_orders(&p);
    return net;
}
