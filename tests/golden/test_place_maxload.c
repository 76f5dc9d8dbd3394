/* Evaluator `maxload` on the published graphs of Tarnawski et al. (one accelerator, round robin over classes, bounds), and on a
 * graph of our own against a plain count of every border. */
#include "one_arena.h"
#include "place_support.h"
#include "shared.h"

typedef struct Row {
    const char *file;
    int         ops, edges, groups, accelerators;
    /* ms; the bound and the value of one accelerator are printed with fewer digits */
    double one, round_robin, balance;
    bool   is_full; /* one accelerator cannot hold it */
} Row;

/* clang-format off */
static const Row rows[] = {
    {"msr-throughput-layer/bert24_training.json", 64, 110, 32, 6, 217.813, 40.228596084, 35.7070, false},
    {"msr-throughput-layer/gnmt_inference.json", 96, 122, 96, 6, 182.563, 53.223457031, 29.9284, false},
    {"msr-throughput-layer/resnet50_inference.json", 177, 193, 177, 6, 201.45, 46.220118164, 33.0246, true},
    {"msr-throughput-operator/bert_l-3_inference.json", 235, 250, 128, 3, 49.352568946, 205.719437398, 16.2158, false},
    {"msr-throughput-operator/resnet50_training.json", 1243, 1806, 193, 6, 684.890555765, 1845.863893661, 113.3272, false},
};
/* clang-format on */

static void assert_close(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fabs(expected))) {
        fail_msg("%.12g, expected %.12g", value, expected);
    }
}

static OpenedPlace *open_row(const Row *row)
{
    char path[SHARED_PATH_SIZE];
    shared_path(path, mer_arena_format(arena, "golden/placement/%s", row->file));
    return open_place("place", "maxload:price_infeasible=true", path, NULL, arena);
}

static void test_graphs_have_the_published_counts(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const OpenedPlace *opened = open_row(&rows[r]);
        assert_int_equal(opened->place->op_count, rows[r].ops);
        assert_int_equal(opened->place->group_count, rows[r].groups);
        assert_int_equal(opened->place->accelerator_count, rows[r].accelerators);
        assert_int_equal(opened->place->edge_count <= rows[r].edges, true);
    }
}

static void test_one_accelerator_has_the_published_load(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const OpenedPlace *opened = open_row(&rows[r]);
        int               *unit = MER_ARRAY(arena, int, opened->place->op_count);
        MerCost            cost = price_units(opened, unit);
        assert_close(1000 * cost.value[MER_METRIC_PERIOD], rows[r].one, 1e-9);
        assert_int_equal(cost.feasible, !rows[r].is_full);
        if (rows[r].is_full) {
            mer_test_contains(cost.reason, "memory: acc0 needs");
        }
    }
}

/* Classes take the accelerators in turn, in the order of their first nodes in the file. */
static void test_round_robin_over_classes_has_the_published_load(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const OpenedPlace *opened = open_row(&rows[r]);
        const MerPlace    *place = opened->place;
        int               *at = MER_ARRAY(arena, int, place->op_count), turn = 0;
        int               *unit = MER_ARRAY(arena, int, place->op_count),
            *of_group = MER_ARRAY(arena, int, place->group_count);
        for (int o = 0; o < place->op_count; o++) {
            at[place->file_index[o]] = o;
        }
        for (int i = 0; i < place->op_count; i++) {
            int *taken = &of_group[place->group[at[i]]];
            *taken = *taken > 0 ? *taken : 1 + turn++ % place->accelerator_count;
            unit[at[i]] = *taken - 1;
        }
        assert_close(1000 * price_units(opened, unit).value[MER_METRIC_PERIOD], rows[r].round_robin,
                     1e-9);
    }
}

static void test_bounds_are_those_of_the_reference(void **state)
{
    (void)state;
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        const OpenedPlace *opened = open_row(&rows[r]);
        MerBound           bound;
        opened->problem.type->bound(&opened->problem,
                                    opened->evaluator.type->rules(opened->evaluator.state),
                                    MER_METRIC_PERIOD, &bound);
        assert_close(1000 * bound.value, rows[r].balance, 4e-6);
        assert_string_equal(bound.kind, "balance");
    }
}

/* Every border counted by itself: for each unit, its operators, the results inside that somebody outside reads, and those outside
 * that somebody inside reads. */
static double count_load(const MerPlace *place, const int *unit, int u)
{
    double load = 0;
    for (int o = 0; o < place->op_count; o++) {
        bool crosses = false;
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int reader = unit[place->after[i]];
            crosses = crosses || (unit[o] == u ? reader != u : reader == u);
        }
        load += unit[o] == u ? place->time_us[o * place->unit_count + u] : 0;
        load += crosses ? place->transfer_us[o * place->unit_count + u] : 0;
    }
    return load;
}

static void test_random_placements_equal_a_plain_count(void **state)
{
    (void)state;
    for (int file = 0; file < 2; file++) {
        const OpenedPlace *opened = open_place("place", "maxload",
                                               file ? TEST_DATA("place/tiny-training.json")
                                                    : TEST_DATA("place/tiny-inference.json"),
                                               NULL, arena);
        const MerPlace    *place = opened->place;
        MerRng             rng = mer_rng_make(5, 0);
        MerIndex          *point = MER_ARRAY(arena, MerIndex, opened->problem.space.knob_count);
        int                feasible = 0;
        for (int i = 0; i < 2000; i++) {
            MerPlan plan;
            double  most = 0;
            mer_space_sample(&opened->problem.space, &rng, point);
            mer_place_decode(place, point, &plan, arena);
            MerCost cost = price_plan(opened, &plan);
            for (int u = 0; u < place->unit_count; u++) {
                most = fmax(most, count_load(place, mer_graph_plan(&plan)->unit, u));
            }
            if (cost.feasible) {
                assert_close(1e6 * cost.value[MER_METRIC_PERIOD], most, 1e-12);
                feasible++;
            }
        }
        assert_int_equal(feasible > 200 && feasible < 2000, true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs_have_the_published_counts),
        cmocka_unit_test(test_one_accelerator_has_the_published_load),
        cmocka_unit_test(test_round_robin_over_classes_has_the_published_load),
        cmocka_unit_test(test_bounds_are_those_of_the_reference),
        cmocka_unit_test(test_random_placements_equal_a_plain_count),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
