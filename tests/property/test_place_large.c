/* Cuts of long chains: graphs of hundreds of operators against a plain dynamic programme over all cuts, and of tens of thousands,
 * where a plain one would not end. */
#include "one_arena.h"
#include "place_support.h"

#include "mercator/rng.h"
#include "place/solve/stages.h"

typedef struct Shape {
    int    ops, units;
    double transfer;    /* of a result, times that of an operator */
    double heavy;       /* one operator takes this much of what all others do */
    double memory;      /* of a unit, relative to all sizes; 0: enough for all */
    bool   is_training; /* every operator has a backward one in its class */
    int    scatter; /* operators read others this far before them at random; 0: as networks do */
} Shape;

/* In blocks of 16: operator i reads i - 1, some also an earlier one; the last one reads the end of the block before. */
static int inputs_of(const Shape *shape, int op, MerRng *rng, int *inputs)
{
    int at = op % 16, count = 0;
    if (shape->scatter > 0 && op > shape->scatter) {
        inputs[0] = op - 1 - mer_rng_below(rng, shape->scatter);
        inputs[1] = op - 1 - mer_rng_below(rng, shape->scatter);
        return inputs[0] == inputs[1] ? 1 : 2;
    }
    if (op > 0) {
        inputs[count++] = op - 1;
    }
    if (at == 15 && op >= 16) {
        inputs[count++] = op - 16;
    } else if (at == 5 || at == 9 || at == 11) {
        inputs[count++] = op - at + 1;
    }
    return count;
}

static void add_op(MerGraph *graph, int op, int *inputs, int count)
{
    char *name = mer_arena_format(arena, "op%d", op);
    MerOp made = mer_op_make(name, "node", MER_OP_MOVE);
    made.inputs = inputs;
    made.input_count = count;
    made.output_count = 1;
    made.outputs = &op;
    mer_graph_add_op(graph, &made);
}

/* Operators from shape->ops on are the backward ones, the last of the first; each reads its forward one. */
static MerGraph *link_ops(const Shape *shape, MerRng *rng)
{
    int       count = shape->is_training ? 2 * shape->ops : shape->ops, inputs[2];
    MerGraph *graph = mer_graph_new("large", arena);
    MerError  error = {0};
    for (int o = 0; o < count; o++) {
        mer_graph_add_value(graph, &(MerValue){.name = mer_arena_format(arena, "v%d", o),
                                               .type = MER_TYPE_INT8,
                                               .rank = 1,
                                               .dims = {1}});
    }
    for (int o = 0; o < count; o++) {
        if (o < shape->ops) {
            add_op(graph, o, inputs, inputs_of(shape, o, rng, inputs));
        } else {
            inputs[0] = count - 1 - o;
            inputs[1] = o - 1;
            add_op(graph, o, inputs, o > shape->ops ? 2 : 1);
        }
    }
    if (mer_graph_finish(graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

static void attach_profile(const Shape *shape, MerGraph *graph, MerRng *rng)
{
    int              count = graph->op_count;
    MerPlaceProfile *profile = MER_NEW(arena, MerPlaceProfile);
    double  *unit = MER_ARRAY(arena, double, count), *host = MER_ARRAY(arena, double, count);
    double  *size = MER_ARRAY(arena, double, count), *transfer = MER_ARRAY(arena, double, count);
    bool    *is_backward = MER_ARRAY(arena, bool, count);
    int64_t *class_of = MER_ARRAY(arena, int64_t, count);
    for (int o = 0; o < count; o++) {
        int n = graph->ops[o].outputs[0];
        unit[o] = n == shape->ops / 2 && shape->heavy > 0 ? shape->heavy * count
                                                          : 0.5 + mer_rng_unit(rng);
        host[o] = 10 * unit[o];
        size[o] = 1000 + mer_rng_below(rng, 1001);
        transfer[o] = shape->transfer * (0.5 + mer_rng_unit(rng));
        is_backward[o] = n >= shape->ops;
        class_of[o] = !shape->is_training ? -1 : n < shape->ops ? n : count - 1 - n;
    }
    *profile = (MerPlaceProfile){.host_us = host,
                                 .unit_us = unit,
                                 .size = size,
                                 .output_bytes = size,
                                 .transfer_us = transfer,
                                 .is_backward = is_backward,
                                 .class_of = class_of};
    mer_graph_attach(graph, MER_PLACE_PROFILE, profile);
}

static OpenedPlace *open_shape(const Shape *shape)
{
    MerRng    rng = mer_rng_make(7, 0);
    MerGraph *graph = link_ops(shape, &rng);
    attach_profile(shape, graph, &rng);
    double      memory = 1500.0 * graph->op_count * (shape->memory > 0 ? shape->memory : 2);
    const char *text =
        mer_arena_format(arena,
                         "{format: mercator-platform/1, kind: cluster, name: large, classes: {acc: "
                         "{memory_bytes: %.0f}, cpu: {}}, units: [{name: acc, class: acc, count: "
                         "%d}, {name: cpu, class: cpu}]}",
                         memory, shape->units);
    return open_place_graph("place", "maxload", graph, platform_from(text, arena), arena);
}

static const MerPlaceRules *rules_of(const OpenedPlace *opened)
{
    return opened->evaluator.type->rules(opened->evaluator.state);
}

static void assert_price(const OpenedPlace *opened, const int *unit, double value_us)
{
    MerIndex *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
    assert_true(mer_place_point(opened->place, unit, point));
    MerCost cost = price_point(opened, point);
    assert_true(cost.feasible);
    assert_true(fabs(cost.value[MER_METRIC_PERIOD] - 1e-6 * value_us) < 1e-15 * value_us);
}

/* Loads of all stages that begin at `from`, on accelerators: [end]; of processors the compute alone is 10 times as long. */
static void find_loads(const MerStageBlocks *blocks, const int *order, int from, double *load,
                       double *compute, double *size)
{
    int    *position = MER_ARRAY(arena, int, blocks->count), kinds = blocks->kind_count;
    double *moved = MER_ARRAY(arena, double, blocks->count + 1);
    for (int p = 0; p < blocks->count; p++) {
        position[order[p]] = p;
    }
    for (int n = 0; n < blocks->net_count; n++) {
        for (int end = from + 1; end <= blocks->count; end++) {
            int inside = 0, all = blocks->net_start[n + 1] - blocks->net_start[n];
            for (int i = blocks->net_start[n]; i < blocks->net_start[n + 1]; i++) {
                int p = position[blocks->net_blocks[i]];
                inside += p >= from && p < end;
            }
            moved[end] += inside > 0 && inside < all ? blocks->net_us[n * kinds] : 0;
        }
    }
    compute[from] = size[from] = 0;
    for (int end = from + 1; end <= blocks->count; end++) {
        compute[end] = compute[end - 1] + blocks->time_us[order[end - 1] * kinds];
        size[end] = size[end - 1] + blocks->size[order[end - 1]];
        load[end] = compute[end] + moved[end];
    }
}

static double plain_cuts(const OpenedPlace *opened, int units)
{
    const MerPlace       *place = opened->place;
    const MerStageKinds  *kinds = mer_stage_unit_kinds(place, arena);
    const MerStageBlocks *blocks =
        mer_stage_blocks(place, rules_of(opened), kinds, (MerStageMerges){0}, arena);
    const int *order = mer_stage_order(blocks, NULL, arena);
    size_t     width = (size_t)blocks->count + 1;
    double    *best = MER_ARRAY(arena, double, 2 * ((size_t)units + 1) * width);
    double    *load = MER_ARRAY(arena, double, width), *compute = MER_ARRAY(arena, double, width),
           *size = MER_ARRAY(arena, double, width);
    for (size_t i = 0; i < 2 * ((size_t)units + 1) * width; i++) {
        best[i] = i == 0 ? 0 : INFINITY;
    }
    for (int from = 0; from < blocks->count; from++) {
        find_loads(blocks, order, from, load, compute, size);
        for (int s = 0; s < 2 * (units + 1); s++) { /* 2 * accelerators + processors taken */
            double before = best[(size_t)s * width + (size_t)from];
            for (int end = from + 1; end <= blocks->count && before < INFINITY; end++) {
                if (s / 2 < units && size[end] <= place->limit[0]) {
                    double *next = &best[(size_t)(s + 2) * width + (size_t)end];
                    *next = fmin(*next, fmax(before, load[end]));
                }
                if (s % 2 == 0) {
                    double *next = &best[(size_t)(s + 1) * width + (size_t)end];
                    *next = fmin(*next, fmax(before, 10 * compute[end]));
                }
            }
        }
    }
    double least = INFINITY;
    for (int s = 0; s < 2 * (units + 1); s++) {
        least = fmin(least, best[(size_t)s * width + (size_t)blocks->count]);
    }
    return least;
}

static void test_cuts_are_those_of_the_plain_programme(void **state)
{
    static const Shape shapes[] = {
        {.ops = 160, .units = 5, .transfer = 1},
        {.ops = 160, .units = 5, .transfer = 30},
        {.ops = 160, .units = 5, .transfer = 1, .heavy = 0.4},
        {.ops = 160, .units = 5, .transfer = 3, .memory = 0.21},
        {.ops = 160, .units = 5, .transfer = 3, .memory = 0.21, .scatter = 40},
        {.ops = 160, .units = 8, .transfer = 0.1, .scatter = 150},
        {.ops = 120, .units = 5, .transfer = 5, .is_training = true},
        {.ops = 120, .units = 5, .transfer = 1, .is_training = true, .scatter = 20},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        OpenedPlace *opened = open_shape(&shapes[i]);
        int         *unit = MER_ARRAY(arena, int, opened->place->group_count);
        double       value, plain = plain_cuts(opened, shapes[i].units);
        assert_true(mer_place_chain_split(opened->place, rules_of(opened), NULL, NULL, unit, &value,
                                          arena));
        if (fabs(value - plain) > 1e-9 * plain) {
            fail_msg("shape %zu: %.12g, the plain programme has %.12g", i, value, plain);
        }
        assert_price(opened, unit, value);
        mer_arena_reset(arena);
    }
}

/* Within half of what no placement beats. */
static void test_long_chains_are_cut(void **state)
{
    static const Shape shapes[] = {
        {.ops = 80000, .units = 8, .transfer = 1},
        {.ops = 80000, .units = 8, .transfer = 100, .memory = 0.13},
        {.ops = 20000, .units = 8, .transfer = 1, .heavy = 0.4},
        {.ops = 20000, .units = 8, .transfer = 1000},
        {.ops = 20000, .units = 8, .transfer = 0.01, .scatter = 5000},
        {.ops = 40000, .units = 8, .transfer = 1, .is_training = true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        OpenedPlace *opened = open_shape(&shapes[i]);
        MerBound     bound;
        int         *unit = MER_ARRAY(arena, int, opened->place->group_count);
        double       value;
        opened->problem.type->bound(&opened->problem, rules_of(opened), MER_METRIC_PERIOD, &bound);
        assert_true(mer_place_chain_split(opened->place, rules_of(opened), NULL, NULL, unit, &value,
                                          arena));
        assert_price(opened, unit, value);
        assert_true(1e-6 * value >= bound.value);
        assert_true(1e-6 * value <= 1.5 * bound.value);
        mer_arena_reset(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cuts_are_those_of_the_plain_programme),
        cmocka_unit_test(test_long_chains_are_cut),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
