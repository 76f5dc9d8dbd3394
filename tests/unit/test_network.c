/* Networks of blocks: shapes and MACs of the built-in ones as the papers count them, other images, and what is refused. */
#include "mercator/import.h"
#include "support.h"

static MerGraph *import(const char *name, MerArena *arena)
{
    MerGraph *graph;
    MerError  error = {0};
    if (mer_graph_import(name, NULL, arena, &graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

static int64_t weights_of(const MerGraph *graph)
{
    int64_t sum = 0;
    for (int i = 0; i < graph->value_count; i++) {
        const MerValue *value = &graph->values[i];
        sum += value->role == MER_VALUE_WEIGHT && value->rank > 1 ? value->elements : 0;
    }
    return sum;
}

static int priced(const MerGraph *graph)
{
    int count = 0;
    for (int i = 0; i < graph->op_count; i++) {
        count += graph->ops[i].macs > 0;
    }
    return count;
}

static void test_built_in_networks_have_the_papers_sizes(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerGraph *g = import("resnet8:3x32x32", arena);
    assert_int_equal(weights_of(g), 77360);
    assert_int_equal(priced(g), 10);
    g = import("resnet20", arena);
    assert_int_equal(weights_of(g), 270896);
    assert_int_equal(g->macs / 10000, 4081);
    assert_int_equal(priced(g), 22);
    g = import("resnet18:3x32x32:100", arena);
    assert_int_equal(g->macs / 100000, 5554);
    assert_int_equal(priced(g), 21);
    g = import("resnet18:3x224x224:1000", arena);
    assert_int_equal(g->macs / 1000000, 1814);
    g = import("mobilenet_v1:3x96x96:2:f=8", arena);
    assert_int_equal(g->macs / 10000, 748);
    g = import("mobilenet_v1:3x32x32:10:stem_stride=1", arena);
    assert_int_equal(g->macs / 10000, 4635);
    g = import("ds_cnn", arena);
    assert_int_equal(g->macs / 10000, 265);
    assert_int_equal(g->ops[0].dims[MER_DIM_Y], 25);
    assert_int_equal(g->ops[0].dims[MER_DIM_X], 5);
    mer_arena_free(arena);
}

static void test_layers_come_in_the_order_c1_c2_ds(void **state)
{
    (void)state;
    static const char *const expected[] = {"conv1",  "s0b0c1", "s0b0c2", "s1b0c1", "s1b0c2",
                                           "s1b0ds", "s2b0c1", "s2b0c2", "s2b0ds", "fc"};
    MerArena                *arena = mer_arena_new();
    MerGraph                *g = import("resnet8", arena);
    int                      layer = 0;
    for (int i = 0; i < g->op_count; i++) {
        if (g->ops[i].macs > 0) {
            assert_string_equal(g->ops[i].name, expected[layer++]);
        }
    }
    assert_int_equal(layer, 10);
    mer_arena_free(arena);
}

static void assert_refused(const char *text, const char *part)
{
    MerArena *arena = mer_arena_new();
    MerGraph *graph;
    MerError  error = {0};
    write_bytes("net.network", text, strlen(text));
    assert_int_equal(mer_graph_import("./net.network", NULL, arena, &graph, &error), MER_INVALID);
    mer_test_contains(error.message, part);
    mer_arena_free(arena);
}

#define HEAD "format: mercator-network/1\ndims: {channels: 1, height: 4, width: 4}\nlayers:\n"

static void test_wrong_blocks_are_refused_with_their_place(void **state)
{
    (void)state;
    assert_refused(HEAD "  - conv: {channels: many}\n", "net.network:4:22: ");
    assert_refused(HEAD "  - conf: {channels: 3}\n", "expected one of conv, residual");
    assert_refused(HEAD "  - conv: {channel: 3}\n", "did you mean \"channels\"");
    assert_refused(HEAD "  - conv: {kernel: 9, padding: 0}\n",
                   "a kernel of 9 x 9 on an image of 4 x 4");
    assert_refused(HEAD "  - linear: {channels: 3}\n", "expected `average` before");
    assert_refused(HEAD "  - average: {}\n  - conv: {channels: 3}\n", "a vector here");
    assert_refused("format: mercator-network/1\ndims: {channels: 1}\nlayers: []\n",
                   "no dim height");
}

static void test_names_with_sizes_are_checked(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerGraph *graph;
    MerError  error = {0};
    assert_int_equal(mer_graph_import("resnet8:1x8x8:x", NULL, arena, &graph, &error), MER_INVALID);
    mer_test_contains(error.message, "expected NAME:CHANNELSxHEIGHTxWIDTH");
    assert_int_equal(mer_graph_import("nothing:1x8x8", NULL, arena, &graph, &error), MER_NOT_FOUND);
    assert_int_equal(mer_graph_import("resnet8:1x8x8:g=3", NULL, arena, &graph, &error),
                     MER_INVALID);
    mer_test_contains(error.message, "dim g is 3, expected one of the file's `dims`");
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_built_in_networks_have_the_papers_sizes),
        cmocka_unit_test(test_layers_come_in_the_order_c1_c2_ds),
        cmocka_unit_test(test_wrong_blocks_are_refused_with_their_place),
        cmocka_unit_test(test_names_with_sizes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
