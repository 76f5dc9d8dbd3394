/* The set of points that were asked for. */
#include "opt/visited.h"
#include "support.h"

static void test_a_point_is_found_once_it_is_added(void **state)
{
    (void)state;
    MerVisited tried = {0};
    MerIndex   one[3] = {1, 2, 3}, other[3] = {3, 2, 1};
    assert_false(mer_visited_has(&tried, one, 3));
    assert_false(mer_visited_add(&tried, one, 3));
    assert_true(mer_visited_has(&tried, one, 3));
    assert_false(mer_visited_has(&tried, other, 3));
    assert_true(mer_visited_add(&tried, one, 3));
    assert_int_equal(tried.count, 1);
    mer_visited_clear(&tried);
}

static void test_a_point_without_knobs_is_one_point(void **state)
{
    (void)state;
    MerVisited tried = {0};
    MerIndex   none[1] = {7};
    assert_false(mer_visited_add(&tried, none, 0));
    assert_true(mer_visited_add(&tried, none, 0));
    mer_visited_clear(&tried);
}

/* All neighbours of a grid: small indices are where a weak hash would collide first. */
static void test_a_hundred_thousand_points_do_not_collide(void **state)
{
    (void)state;
    MerVisited tried = {0};
    MerIndex   point[5] = {0};
    for (int i = 0; i < 100000; i++) {
        for (int k = 0, rest = i; k < 5; k++, rest /= 10) {
            point[k] = rest % 10;
        }
        if (mer_visited_add(&tried, point, 5)) {
            fail_msg("point %d collides with an earlier one", i);
        }
    }
    assert_int_equal(tried.count, 100000);
    assert_true(tried.capacity >= 200000);
    for (int i = 0; i < 100000; i += 777) {
        for (int k = 0, rest = i; k < 5; k++, rest /= 10) {
            point[k] = rest % 10;
        }
        assert_true(mer_visited_has(&tried, point, 5));
    }
    point[0] = 10;
    assert_false(mer_visited_has(&tried, point, 5));
    mer_visited_clear(&tried);
}

static void test_clearing_forgets_everything(void **state)
{
    (void)state;
    MerVisited tried = {0};
    MerIndex   point[2] = {4, 5};
    mer_visited_add(&tried, point, 2);
    mer_visited_clear(&tried);
    assert_null(tried.keys);
    assert_false(mer_visited_has(&tried, point, 2));
    assert_false(mer_visited_add(&tried, point, 2));
    mer_visited_clear(&tried);
}

static void test_a_kept_set_comes_back(void **state)
{
    (void)state;
    MerVisited tried = {0}, copy = {0};
    MerIndex   point[2] = {9, 9};
    FILE      *file = tmpfile();
    MerStream  out = {.file = file, .is_saving = true}, in = {.file = file};
    mer_visited_add(&copy, point, 2); /* what is there is replaced */
    for (int i = 0; i < 3000; i++) {
        mer_visited_add(&tried, (MerIndex[]){i, 2 * i}, 2);
    }
    mer_visited_keep(&tried, &out);
    rewind(file);
    mer_visited_keep(&copy, &in);
    assert_false(in.is_broken);
    assert_int_equal(copy.count, 3000);
    assert_false(mer_visited_has(&copy, point, 2));
    for (int i = 0; i < 3000; i++) {
        assert_true(mer_visited_has(&copy, (MerIndex[]){i, 2 * i}, 2));
    }
    assert_int_equal(ftruncate(fileno(file), 1000), 0);
    rewind(file);
    mer_visited_keep(&copy, &in);
    assert_true(in.is_broken);
    fclose(file);
    mer_visited_clear(&tried);
    mer_visited_clear(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_point_is_found_once_it_is_added),
        cmocka_unit_test(test_a_point_without_knobs_is_one_point),
        cmocka_unit_test(test_a_hundred_thousand_points_do_not_collide),
        cmocka_unit_test(test_clearing_forgets_everything),
        cmocka_unit_test(test_a_kept_set_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
