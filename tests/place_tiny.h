/* Placement problems of a few operators, written out. */
#ifndef MERCATOR_TESTS_PLACE_TINY_H
#define MERCATOR_TESTS_PLACE_TINY_H

#include "place_cost_support.h"

typedef struct TinyOp {
    double    us, bytes; /* time on any unit, hosts take ten times as long; result */
    int       inputs[3]; /* operators, counted from 1; 0: none */
    MerOpKind kind;
    double    size;
} TinyOp;

/* Operators are called a, b, c ... */
static inline MerGraph *tiny_graph(const TinyOp *ops, int count, MerArena *arena)
{
    MerGraph        *graph = mer_graph_new("tiny", arena);
    MerPlaceProfile *profile = MER_NEW(arena, MerPlaceProfile);
    double          *reals = MER_ARRAY(arena, double, 4 * (size_t)count);
    MerOpKind       *kinds = MER_ARRAY(arena, MerOpKind, count);
    MerError         error = {0};
    *profile = (MerPlaceProfile){.host_us = reals,
                                 .unit_us = reals + count,
                                 .size = reals + 2 * count,
                                 .output_bytes = reals + 3 * count,
                                 .kinds = kinds};
    for (int o = 0; o < count; o++) {
        char *name = mer_arena_format(arena, "%c", 'a' + o);
        MerOp op = mer_op_make(name, "test", MER_OP_MOVE);
        int   inputs[3], output;
        for (int i = 0; i < 3 && ops[o].inputs[i] > 0; i++) {
            inputs[op.input_count++] = ops[o].inputs[i] - 1;
        }
        output = mer_graph_add_value(
            graph, &(MerValue){.name = name, .rank = -1, .type = MER_TYPE_FLOAT32});
        op.inputs = inputs;
        op.outputs = &output;
        op.output_count = 1;
        mer_graph_add_op(graph, &op);
        reals[o] = 10 * ops[o].us;
        reals[count + o] = ops[o].us;
        reals[2 * count + o] = ops[o].size;
        reals[3 * count + o] = ops[o].bytes;
        kinds[o] = ops[o].kind;
    }
    if (mer_graph_finish(graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    mer_graph_attach(graph, MER_PLACE_PROFILE, profile);
    return graph;
}

/* `machine`: what a platform of kind cluster has besides its format. */
static inline const MerPlatform *tiny_platform(const char *machine, MerArena *arena)
{
    return platform_from(
        mer_arena_format(arena, "{format: mercator-platform/1, kind: cluster, %s}", machine),
        arena);
}

/* Units as letters: "0012" puts c on unit 1 and d on unit 2. */
static inline MerPlan tiny_plan(const OpenedPlace *opened, const char *units, MerArena *arena)
{
    MerPlan       plan;
    MerGraphPlan *made = mer_place_new_plan(opened->place, &plan, arena);
    assert_int_equal(strlen(units), made->op_count);
    for (int o = 0; o < made->op_count; o++) {
        made->unit[o] = units[o] - '0';
    }
    return plan;
}

static inline int *tiny_numbers(const char *digits, MerArena *arena)
{
    size_t count = strlen(digits);
    int   *numbers = MER_ARRAY(arena, int, count + 1);
    for (size_t i = 0; i < count; i++) {
        numbers[i] = digits[i] - '0';
    }
    return numbers;
}

static inline void expect_near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * fabs(expected) + 1e-12)) {
        fail_msg("found %.12g, expected %.12g", found, expected);
    }
}

#endif
