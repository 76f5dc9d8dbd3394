/* Random placement problems for tests: graphs with profiles, platforms with all that links can have, plans. */
#ifndef MERCATOR_TESTS_PLACE_CLUSTER_RANDOM_H
#define MERCATOR_TESTS_PLACE_CLUSTER_RANDOM_H

#include "place_cost_support.h"

#include "mercator/rng.h"

/* Operators with up to three producers among the last few, some of them free, whole bytes. Times are whole numbers where
 * `has_ties`: many things happen at once then. */
static inline MerGraph *random_graph_like(int ops, bool has_ties, bool is_chain, MerRng *rng,
                                          MerArena *arena)
{
    static const MerOpKind kinds[] = {MER_OP_ELEMENTWISE, MER_OP_ELEMENTWISE, MER_OP_ELEMENTWISE,
                                      MER_OP_GEMM,        MER_OP_REDUCE,      MER_OP_MOVE};
    MerGraph              *graph = mer_graph_new("random", arena);
    MerPlaceProfile       *profile = MER_NEW(arena, MerPlaceProfile);
    double                *reals = MER_ARRAY(arena, double, 4 * (size_t)ops);
    MerOpKind             *kind = MER_ARRAY(arena, MerOpKind, ops);
    MerError               error = {0};
    *profile = (MerPlaceProfile){.host_us = reals,
                                 .unit_us = reals + ops,
                                 .size = reals + 2 * ops,
                                 .output_bytes = reals + 3 * ops,
                                 .kinds = kind};
    for (int o = 0; o < ops; o++) {
        double time = mer_rng_below(rng, 8) == 0 ? 0 : 100 * mer_rng_unit(rng);
        char  *name = mer_arena_format(arena, "op%d", o);
        MerOp  op = mer_op_make(name, "test", MER_OP_MOVE);
        int    inputs[3], output;
        reals[ops + o] = has_ties ? floor(time / 20) : time;
        reals[o] = 3 * reals[ops + o];
        reals[2 * ops + o] = mer_rng_below(rng, 1000);
        reals[3 * ops + o] = has_ties ? 1000 * mer_rng_below(rng, 3) : mer_rng_below(rng, 100000);
        kind[o] = kinds[mer_rng_below(rng, 6)];
        for (int wanted = is_chain ? 1 : mer_rng_below(rng, 4); o > 0 && op.input_count < wanted;) {
            int reach = is_chain ? 1 : o < 12 ? o : 12;
            inputs[op.input_count++] = o - 1 - mer_rng_below(rng, reach);
        }
        output = mer_graph_add_value(
            graph, &(MerValue){.name = name, .rank = 1, .dims = {1}, .type = MER_TYPE_FLOAT32});
        op.inputs = inputs;
        op.outputs = &output;
        op.output_count = 1;
        mer_graph_add_op(graph, &op);
    }
    if (mer_graph_finish(graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    mer_graph_attach(graph, MER_PLACE_PROFILE, profile);
    return graph;
}

static inline MerGraph *random_graph(int ops, bool has_ties, MerRng *rng, MerArena *arena)
{
    return random_graph_like(ops, has_ties, false, rng, arena);
}

static inline MerGraph *chain_graph(int ops, MerRng *rng, MerArena *arena)
{
    return random_graph_like(ops, false, true, rng, arena);
}

/* Five units: streams, gaps, a bus, half duplex, and a unit that only two hops reach. */
static inline const MerPlatform *mixed_platform(bool stores, MerArena *arena)
{
    return platform_from(
        mer_arena_format(arena,
                         "{format: mercator-platform/1, kind: cluster, routes: %s,\n"
                         "classes: {gpu: {gap_us: 5}, wide: {streams: 2, gap_us: 3}, cpu: {}},\n"
                         "units: [{name: gpu, count: 3, class: gpu}, {name: wide, class: wide}, "
                         "{name: cpu, class: "
                         "cpu}],\n"
                         "links: [{from: gpu0, to: gpu1, bytes_per_s: 2G, latency_us: 1},\n"
                         "{from: gpu0, to: gpu2, bytes_per_s: 1G, gap_us: 7, duplex: half},\n"
                         "{from: gpu1, to: wide, bytes_per_s: 4G, bus: shared, gap_us: 2},\n"
                         "{from: gpu2, to: wide, bytes_per_s: 3G, latency_us: 2, bus: shared},\n"
                         "{from: wide, to: cpu, bytes_per_s: 1G, latency_us: 5}]}",
                         stores ? "store_and_forward" : "cut_through"),
        arena);
}

/* Four like units, every pair on a link of its own. */
static inline const MerPlatform *equal_platform(double bytes_per_s, MerArena *arena)
{
    return platform_from(
        mer_arena_format(
            arena,
            "{format: mercator-platform/1, kind: cluster,\n"
            "classes: {gpu: {gap_us: 5, bytes_per_s: 1G, launch_us: 2}},\n"
            "units: [{name: gpu, count: 4, class: gpu}],\n"
            "links: [{from: \"gpu*\", to: \"gpu*\", bytes_per_s: %.17g, latency_us: 1, "
            "gap_us: 3}]}",
            bytes_per_s),
        arena);
}

/* Units at random, or in runs of operators; priorities of few or many levels where `has_order`. */
static inline MerPlan random_plan(const OpenedPlace *opened, bool has_order, MerRng *rng,
                                  MerArena *arena)
{
    MerPlan       plan;
    MerGraphPlan *made = mer_place_new_plan(opened->place, &plan, arena);
    int           stay = 1 + mer_rng_below(rng, 10), unit = 0, levels = 1 + mer_rng_below(rng, 30);
    made->priority = has_order ? MER_ARRAY(arena, int, made->op_count) : NULL;
    for (int o = 0; o < made->op_count; o++) {
        unit = mer_rng_below(rng, stay) == 0 ? mer_rng_below(rng, opened->place->unit_count) : unit;
        made->unit[o] = unit;
        if (has_order) {
            made->priority[o] = mer_rng_below(rng, levels) - levels / 2;
        }
    }
    return plan;
}

#endif
