/* The published profiles of PipeDream and Piper, read whole: how much there is of everything. Nodes, edges, inputs
 * and seconds were counted in the files; what is left out (inputs, unused results) follows from them. */
#include "shared.h"

#include "mercator/import.h"
#include "mercator/platform.h"
#include "place/inputs/profile_build.h"

#include <math.h>

static MerGraph *import(const char *relative, MerArena *arena)
{
    char      path[SHARED_PATH_SIZE];
    MerGraph *graph = NULL;
    MerError  error = {0};
    shared_path(path, relative);
    if (mer_graph_import(path, NULL, arena, &graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

static int count_edges(const MerGraph *graph)
{
    int count = 0;
    for (int v = 0; v < graph->value_count; v++) {
        count += graph->values[v].consumer_count;
    }
    return count;
}

static double total_s(const MerGraph *graph, const char *type)
{
    const MerPlaceProfile *profile = mer_graph_attachment(graph, type);
    double                 sum = 0;
    for (int o = 0; o < graph->op_count; o++) {
        sum += profile->unit_us[o];
    }
    return sum / 1e6;
}

static void test_pipedream_profiles_have_their_nodes_edges_and_seconds(void **state)
{
    static const struct {
        const char *path;
        int         nodes, inputs, unused, edges, of_inputs;
        double      seconds;
    } cases[] = {
        {"golden/placement/pipedream/vgg16.txt", 41, 1, 0, 41, 1, 0.672535},
        {"golden/placement/pipedream/resnet50.txt", 177, 1, 0, 193, 1, 0.443419},
        {"golden/placement/pipedream/gnmt_large.txt", 96, 3, 16, 122, 4, 0.520453},
        {"golden/placement/pipedream/inception_v3.txt", 326, 1, 0, 362, 1, 0.689038},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const MerGraph *graph = import(cases[i].path, *state);
        assert_string_equal(graph->format, "pipedream");
        assert_int_equal(graph->op_count, cases[i].nodes - cases[i].inputs - cases[i].unused);
        /* each unused result of a tuple has one edge, from the tuple */
        assert_int_equal(count_edges(graph), cases[i].edges - cases[i].of_inputs - cases[i].unused);
        assert_true(fabs(total_s(graph, MER_PLACE_PROFILE) - cases[i].seconds) < 1e-9);
    }
}

static void test_piper_profile_has_its_nodes_edges_and_devices(void **state)
{
    const MerGraph    *graph = import("golden/placement/piper/gnmt.json", *state);
    const MerPlatform *platform = mer_graph_attachment(graph, "platform");
    assert_string_equal(graph->format, "piper");
    assert_int_equal(graph->op_count, 78);
    assert_int_equal(count_edges(graph), 104);
    assert_true(total_s(graph, MER_PLACE_RECOMPUTE) > total_s(graph, MER_PLACE_PROFILE));
    assert_int_equal(platform->unit_count, 10);
    assert_true(platform->units[9].memory_bytes == 80e9);
    assert_int_equal(platform->link_count, 45);
    assert_true(platform->links[44].bytes_per_s == 25e9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pipedream_profiles_have_their_nodes_edges_and_seconds,
                                        open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_piper_profile_has_its_nodes_edges_and_devices,
                                        open_arena, close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
