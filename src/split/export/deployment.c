/* The integer network of a run's plan, the inputs that are replayed on it, and where its values lie in memory. */
#include "split/export/deployment.h"

#include "split/split_parts.h"
#include "split/train/split_train.h"

#include <ctype.h>

/* Logits are numbers of a layer: one per class, each of all inputs. */
static MerStatus check_end(const MerIntegerNet *net, MerError *error)
{
    const MerIntegerNode *last = &net->nodes[net->node_count - 1];
    bool                  is_layer = last->kind == MER_TRAIN_CONV;
    for (int p = 0; is_layer && p < last->part_count; p++) {
        is_layer = !mer_integer_is_depthwise(net, last, last->parts[p].option);
    }
    return is_layer && net->values[last->out].height == 1 && net->values[last->out].width == 1
               ? MER_OK
               : mer_error_set(error, MER_UNSUPPORTED,
                               "the network ends with %s, expected a convolution or a product that "
                               "gives one number per class",
                               last->name);
}

MerStatus mer_deployment_open(const MerExport *what, MerArena *arena, MerDeployment *deployment,
                              MerError *error)
{
    const MerExportTask   *task = &what->tasks[0];
    const MerSplitOptions *given = task->problem->options;
    const MerSplitPlan    *plan = mer_split_plan(task->plan);
    MerTrainNet           *trained;
    MerIntegerNet         *net;
    MER_TRY(
        mer_split_trained_net(task->evaluator, task->problem, task->plan, NULL, &trained, error));
    MER_TRY(mer_integer_net_new(trained, plan, arena, &net, error));
    net = mer_integer_net_reorder(net, arena);
    MER_TRY(check_end(net, error));
    const MerDataset *test = &mer_train_data(mer_split_training(task->problem))->test;
    int               inputs = (int)given->golden_inputs;
    *deployment = (MerDeployment){.net = net,
                                  .network = task->problem->graph->name,
                                  .platform = task->problem->platform->name,
                                  .images = test,
                                  .image_count = test->count < inputs ? test->count : inputs,
                                  .input_count = inputs};
    return MER_OK;
}

static void make_input(uint32_t number, uint8_t *bytes, int count)
{
    uint32_t state = (number + 1) * 2654435761u | 1u;
    for (int i = 0; i < count; i++) {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        bytes[i] = (uint8_t)(state >> 25);
    }
}

void mer_deployment_input(const MerDeployment *deployment, int i, uint8_t *bytes, MerArena *scratch)
{
    int size = mer_integer_value_size(&deployment->net->values[0]), label;
    if (i >= deployment->image_count) {
        make_input((uint32_t)i, bytes, size);
        return;
    }
    float *image = MER_ARRAY(scratch, float, size);
    mer_dataset_batch(deployment->images, 1, &i, NULL, 0, 0, image, &label);
    mer_integer_net_input(deployment->net, image, bytes);
}

/* ---- memory */

/* The nodes from the one that makes a value to the last one that reads it. */
static void find_lives(const MerIntegerNet *net, int *first, int *last)
{
    for (int v = 0; v < net->value_count; v++) {
        first[v] = last[v] = -1;
    }
    for (int n = 0; n < net->node_count; n++) {
        const MerIntegerNode *node = &net->nodes[n];
        first[node->out] = last[node->out] = n;
        last[node->in[0]] = n;
        if (node->kind == MER_TRAIN_ADD) {
            last[node->in[1]] = n;
        }
    }
}

typedef struct Placement {
    const MerIntegerNet *net;
    const int           *first, *last;
    int64_t             *offset; /* -1: not placed */
} Placement;

static int64_t size_of(const Placement *p, int v)
{
    return mer_integer_value_size(&p->net->values[v]);
}

/* A value that lives beside `v` and covers a byte of [from, from + size of v); -1: none. */
static int in_the_way(const Placement *p, int v, int64_t from)
{
    for (int other = 0; other < p->net->value_count; other++) {
        bool is_together = p->first[other] <= p->last[v] && p->first[v] <= p->last[other];
        if (p->offset[other] >= 0 && is_together && p->offset[other] < from + size_of(p, v) &&
            from < p->offset[other] + size_of(p, other)) {
            return other;
        }
    }
    return -1;
}

static int largest_left(const Placement *p, const bool *is_done)
{
    int found = -1;
    for (int v = 1; v < p->net->value_count; v++) {
        if (!is_done[v] && (found < 0 || size_of(p, v) > size_of(p, found))) {
            found = v;
        }
    }
    return found;
}

/* Each value in the lowest gap that holds it, the largest one first. */
MerBufferPlan mer_buffer_plan(const MerIntegerNet *net, MerArena *arena)
{
    MerBufferPlan plan = {.offset = MER_ARRAY(arena, int64_t, net->value_count + 1)};
    int          *first = MER_ARRAY(arena, int, net->value_count + 1);
    int          *last = MER_ARRAY(arena, int, net->value_count + 1);
    bool         *is_done = MER_ARRAY(arena, bool, net->value_count + 1);
    Placement     p = {net, first, last, plan.offset};
    find_lives(net, first, last);
    for (int v = 0; v < net->value_count; v++) {
        plan.offset[v] = -1;
    }
    is_done[net->nodes[net->node_count - 1].out] = true;
    for (int v; (v = largest_left(&p, is_done)) >= 0; is_done[v] = true) {
        int64_t at = 0;
        for (int other; (other = in_the_way(&p, v, at)) >= 0;) {
            at = plan.offset[other] + size_of(&p, other);
        }
        plan.offset[v] = at;
        plan.bytes = at + size_of(&p, v) > plan.bytes ? at + size_of(&p, v) : plan.bytes;
    }
    for (int n = 0; n < net->node_count; n++) {
        int64_t sum = 0;
        for (int v = 0; v < net->value_count; v++) {
            sum += plan.offset[v] >= 0 && first[v] <= n && last[v] >= n ? size_of(&p, v) : 0;
        }
        plan.alive = sum > plan.alive ? sum : plan.alive;
    }
    return plan;
}

/* ---- names */

const char *mer_deployment_name(const MerIntegerNet *net, int node, MerArena *arena)
{
    char *text = mer_arena_format(arena, "layer%d_%.60s", node, net->nodes[node].name);
    for (char *c = text; *c; c++) {
        *c = isalnum((unsigned char)*c) ? *c : '_';
    }
    return text;
}

const MerSplitOption *mer_deployment_option(const MerIntegerNet *net, const MerIntegerNode *node,
                                            int option)
{
    return &net->split->layers[node->layer].options[option];
}

const char *mer_deployment_unit(const MerIntegerNet *net, const MerSplitOption *option)
{
    return net->split->platform->units[option->unit].name;
}
