/* The cross-entropy method on a toy space, driven by hand. */
#include "toy_support.h"

enum { POPULATION = 20, LAST = 2 * POPULATION };

static MerIndex seen[LAST][TOY_KNOBS];

/* Scores rise with the trial: the best of the first generation are its first points. */
static double by_trial(const MerIndex *point, int64_t trial)
{
    if (trial < LAST) {
        memcpy(seen[trial], point, sizeof seen[trial]);
    }
    return 1 + (double)trial;
}

static double mostly_refused(const MerIndex *point, int64_t trial)
{
    (void)trial;
    return point[0] != 3 ? INFINITY : 1 + point[1];
}

static double all_refused(const MerIndex *point, int64_t trial)
{
    (void)point, (void)trial;
    return INFINITY;
}

static void test_tables_become_the_choices_of_the_elites(void **state)
{
    (void)state;
    Toy *toy = toy_open("cross_entropy:population=20,elite=0.1,smoothing=1", 1000, MER_OK, NULL);
    toy_run(toy, LAST, by_trial);
    for (int i = POPULATION; i < LAST; i++) {
        for (int k = 0; k < TOY_KNOBS; k++) {
            assert_true(seen[i][k] == seen[0][k] || seen[i][k] == seen[1][k]);
        }
    }
    toy_close(toy);
}

static void test_smoothing_leaves_other_choices(void **state)
{
    (void)state;
    Toy *toy = toy_open("cross_entropy:population=20,elite=0.1,smoothing=0.2", 1000, MER_OK, NULL);
    int  others = 0;
    toy_run(toy, LAST, by_trial);
    for (int i = POPULATION; i < LAST; i++) {
        for (int k = 0; k < TOY_KNOBS; k++) {
            others += seen[i][k] != seen[0][k] && seen[i][k] != seen[1][k];
        }
    }
    assert_true(others > POPULATION * TOY_KNOBS / 4);
    toy_close(toy);
}

static void test_refused_points_are_no_elites(void **state)
{
    (void)state;
    Toy *toy = toy_open("cross_entropy", 2000, MER_OK, NULL);
    toy_run(toy, 600, mostly_refused);
    assert_true(toy->best == 1);
    toy_close(toy);
    toy = toy_open("cross_entropy", 2000, MER_OK, NULL);
    toy_run(toy, 500, all_refused); /* and nothing is learned from them */
    toy_close(toy);
}

/* Once every point is the same one, it begins again. */
static void test_tables_that_know_one_point_start_anew(void **state)
{
    (void)state;
    Toy *toy = toy_open("cross_entropy:population=20,elite=0.05,smoothing=1", 1000, MER_OK, NULL);
    toy_run(toy, LAST, by_trial); /* one elite: the second generation is its copies */
    for (int i = POPULATION; i < LAST; i++) {
        assert_memory_equal(seen[i], seen[0], sizeof seen[0]);
    }
    uint64_t path = toy->path;
    toy->trials = 0; /* `seen` is filled again */
    toy_run(toy, POPULATION, by_trial);
    int others = 0;
    for (int i = 1; i < POPULATION; i++) {
        others += memcmp(seen[i], seen[0], sizeof seen[0]) != 0;
    }
    assert_true(others > POPULATION / 2 && toy->path != path);
    toy_close(toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_become_the_choices_of_the_elites),
        cmocka_unit_test(test_smoothing_leaves_other_choices),
        cmocka_unit_test(test_refused_points_are_no_elites),
        cmocka_unit_test(test_tables_that_know_one_point_start_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
