/* How many groups the single-consumer rule leaves of published graphs, in both readings, with and without the files'
 * classes, and the largest share of the work in one group. The counts were found with an implementation of its own,
 * under several orders of merging. */
#include "place_inputs_support.h"
#include "shared.h"

#include <math.h>

#define LAYER "golden/placement/msr-throughput-layer/"
#define OPERATOR "golden/placement/msr-throughput-operator/"

static double largest_share(const MerPlace *place, const int *group, int count, MerArena *arena)
{
    double *work = MER_ARRAY(arena, double, count), total = 0, largest = 0;
    for (int o = 0; o < place->op_count; o++) {
        double time = place->time_us[o * place->unit_count]; /* of an accelerator */
        work[group[o]] += time;
        total += time;
    }
    for (int g = 0; g < count; g++) {
        largest = fmax(largest, work[g]);
    }
    return largest / total;
}

static void test_single_consumer_leaves_the_known_groups(void **state)
{
    enum { OUTPUT, GROUP, CLASSES_OUTPUT, CLASSES_GROUP, RULES };
    static const struct {
        const char *path;
        int         counts[RULES];
        double      share, class_share; /* by `output` */
    } cases[] = {
        {LAYER "bert24_training.json", {10, 6, 5, 3}, 0.53, 0.93},
        {LAYER "gnmt_inference.json", {47, 47, 47, 47}, 0.14, 0.14},
        {LAYER "resnet50_inference.json", {18, 1, 18, 1}, 0.17, 0.17},
        {OPERATOR "bert_l-3_inference.json", {56, 55, 10, 4}, 0.41, 0.43},
        {OPERATOR "resnet50_training.json", {712, 712, 1, 168}, 0.03, 1.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char                   path[SHARED_PATH_SIZE];
        const MerGraph        *graph = graph_of(shared_path(path, cases[i].path), NULL, *state);
        const MerPlatform     *platform = mer_graph_attachment(graph, "platform");
        const MerPlaceProfile *profile = mer_graph_attachment(graph, MER_PLACE_PROFILE);
        MerPlace               place = open_place(graph, platform, NULL, NULL, *state);
        int                   *group = MER_ARRAY(*state, int, place.op_count);
        for (int rule = 0; rule < RULES; rule++) {
            bool            has_classes = rule >= CLASSES_OUTPUT;
            bool            is_output = rule % 2 == 0;
            MerPlaceOptions options = {.group_work_limit = 1,
                                       .single_consumer =
                                           is_output ? MER_CONSUMER_OUTPUT : MER_CONSUMER_GROUP};
            int             count;
            const char     *warning;
            assert_int_equal(mer_place_find_groups(&place, &options,
                                                   has_classes ? profile->class_of : NULL, group,
                                                   &count, &warning, *state, NULL),
                             MER_OK);
            double share = largest_share(&place, group, count, *state);
            double expected = has_classes ? cases[i].class_share : cases[i].share;
            if (count != cases[i].counts[rule] || (is_output && fabs(share - expected) > 0.0051)) {
                fail_msg("%s, rule %d: %d groups, share %.4f; expected %d, %.2f", cases[i].path,
                         rule, count, share, cases[i].counts[rule], expected);
            }
            assert_true((warning != NULL) == (share * place.accelerator_count > 1));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_single_consumer_leaves_the_known_groups, open_arena,
                                        close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
