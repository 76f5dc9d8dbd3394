/* Small random graphs with everything that a split must mind: classes, backward operators with and without a class, operators that
 * take no time or do not run everywhere, sizes, transfers; and platforms with equal and unequal units. */
#ifndef MERCATOR_TESTS_PLACE_RANDOM_H
#define MERCATOR_TESTS_PLACE_RANDOM_H

#include "place_support.h"

#include "mercator/rng.h"

typedef struct RandomNodes { /* arrays by node; backward nodes follow the forward ones */
    int      count, forward;
    double  *host_us, *unit_us, *size, *bytes, *transfer_us; /* bytes: of results */
    bool    *is_backward;
    int64_t *class_of;
    bool    *reads; /* [reader * count + producer] */
} RandomNodes;

static inline RandomNodes new_nodes(int forward, bool is_training, MerArena *arena)
{
    int    count = is_training ? 2 * forward : forward;
    size_t size = (size_t)count;
    return (RandomNodes){.count = count,
                         .forward = forward,
                         .host_us = MER_ARRAY(arena, double, size),
                         .unit_us = MER_ARRAY(arena, double, size),
                         .size = MER_ARRAY(arena, double, size),
                         .bytes = MER_ARRAY(arena, double, size),
                         .transfer_us = MER_ARRAY(arena, double, size),
                         .is_backward = MER_ARRAY(arena, bool, size),
                         .class_of = MER_ARRAY(arena, int64_t, size),
                         .reads = MER_ARRAY(arena, bool, size *size)};
}

/* Of forward node i the backward node is count - 1 - i; it reads those of i's readers. */
static inline void link_nodes(RandomNodes *nodes, MerRng *rng)
{
    int count = nodes->count;
    for (int i = 0; i < nodes->forward; i++) {
        for (int j = 0; j < i; j++) {
            nodes->reads[i * count + j] = mer_rng_unit(rng) < (j == i - 1 ? 0.6 : 0.2);
        }
    }
    for (int b = nodes->forward; b < count; b++) {
        int of = count - 1 - b;
        for (int i = of + 1; i < nodes->forward; i++) {
            nodes->reads[b * count + count - 1 - i] = nodes->reads[i * count + of];
        }
        nodes->reads[b * count + of] = mer_rng_below(rng, 2) == 0;
    }
}

static inline void describe_nodes(RandomNodes *nodes, bool has_hosts, MerRng *rng)
{
    bool   is_even = mer_rng_below(rng, 3) == 0;
    double slowness = pow(10, 2 * mer_rng_unit(rng) - 1); /* of the links */
    for (int n = 0; n < nodes->count; n++) {
        double time = is_even ? 1 + mer_rng_below(rng, 4) : pow(10, 2 * mer_rng_unit(rng));
        nodes->unit_us[n] = mer_rng_below(rng, 4) == 0 ? 0 : time;
        nodes->host_us[n] = nodes->unit_us[n] * (is_even ? 10 : 0.5 + 9 * mer_rng_unit(rng));
        if (has_hosts && mer_rng_below(rng, 12) == 0) {
            nodes->unit_us[n] = INFINITY;
        }
        nodes->size[n] = mer_rng_below(rng, 3) == 0 ? 0 : mer_rng_below(rng, 100);
        nodes->transfer_us[n] = mer_rng_below(rng, 3) == 0 ? 0 : slowness * mer_rng_below(rng, 9);
        nodes->is_backward[n] = n >= nodes->forward;
        nodes->class_of[n] = mer_rng_below(rng, 5) == 0 ? mer_rng_below(rng, 3) : -1;
    }
    for (int n = nodes->forward; n < nodes->count; n++) { /* most go with their forward node */
        int of = nodes->count - 1 - n;
        if (mer_rng_below(rng, 6) > 0) {
            nodes->class_of[of] = nodes->class_of[of] < 0 ? 100 + of : nodes->class_of[of];
            nodes->class_of[n] = nodes->class_of[of];
        }
    }
}

static inline void attach_profile(MerGraph *graph, const RandomNodes *nodes, MerArena *arena)
{
    MerPlaceProfile *profile = MER_NEW(arena, MerPlaceProfile);
    RandomNodes      sorted = new_nodes(nodes->count, false, arena);
    for (int o = 0; o < graph->op_count; o++) {
        int n = graph->ops[o].outputs[0];
        sorted.host_us[o] = nodes->host_us[n];
        sorted.unit_us[o] = nodes->unit_us[n];
        sorted.size[o] = nodes->size[n];
        sorted.bytes[o] = nodes->bytes[n];
        sorted.transfer_us[o] = nodes->transfer_us[n];
        sorted.is_backward[o] = nodes->is_backward[n];
        sorted.class_of[o] = nodes->class_of[n];
    }
    *profile = (MerPlaceProfile){.host_us = sorted.host_us,
                                 .unit_us = sorted.unit_us,
                                 .size = sorted.size,
                                 .output_bytes = sorted.bytes,
                                 .transfer_us = sorted.transfer_us,
                                 .is_backward = sorted.is_backward,
                                 .class_of = sorted.class_of};
    mer_graph_attach(graph, MER_PLACE_PROFILE, profile);
}

static inline MerGraph *graph_of_nodes(const RandomNodes *nodes, MerArena *arena)
{
    MerGraph *graph = mer_graph_new("random", arena);
    MerError  error = {0};
    int      *inputs = MER_ARRAY(arena, int, nodes->count);
    for (int n = 0; n < nodes->count; n++) {
        mer_graph_add_value(graph, &(MerValue){.name = mer_arena_format(arena, "n%d", n),
                                               .type = MER_TYPE_INT8,
                                               .rank = 1,
                                               .dims = {1}});
    }
    for (int n = 0; n < nodes->count; n++) {
        MerOp op = mer_op_make(mer_arena_format(arena, "n%d", n), "node", MER_OP_MOVE);
        op.inputs = inputs;
        for (int p = 0; p < nodes->count; p++) {
            if (nodes->reads[n * nodes->count + p]) {
                inputs[op.input_count++] = p;
            }
        }
        op.output_count = 1;
        op.outputs = &n;
        mer_graph_add_op(graph, &op);
    }
    if (mer_graph_finish(graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    attach_profile(graph, nodes, arena);
    return graph;
}

/* `unequal`: each accelerator has a speed of its own. */
static inline const MerPlatform *random_platform(int accelerators, int hosts, bool unequal,
                                                 double memory, MerRng *rng, MerArena *arena)
{
    char *text = mer_arena_format(arena,
                                  "{format: mercator-platform/1, kind: cluster, name: random, "
                                  "classes: {acc: {memory_bytes: %.0f}, cpu: {}}, units: [",
                                  memory);
    for (int u = 0; u < accelerators + hosts; u++) {
        bool is_host = u >= accelerators;
        text = mer_arena_format(arena, "%s%s{name: %s%d, class: %s, speed: %g}", text,
                                u ? ", " : "", is_host ? "cpu" : "acc", u, is_host ? "cpu" : "acc",
                                unequal ? 1 + 0.5 * mer_rng_below(rng, 3) : 1);
    }
    return platform_from(mer_arena_format(arena, "%s]}", text), arena);
}

/* What all nodes need, or a part of it that several units have to share. */
static inline double random_memory(const RandomNodes *nodes, int accelerators, MerRng *rng)
{
    double total = 0;
    for (int n = 0; n < nodes->count; n++) {
        total += nodes->size[n];
    }
    return ceil(total *
                (mer_rng_below(rng, 2) == 0 ? 1 : (0.7 + 0.8 * mer_rng_unit(rng)) / accelerators)) +
           1;
}

#endif
