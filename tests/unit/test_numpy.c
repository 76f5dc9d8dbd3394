/* Random numbers, sums and sorts against values printed by CPython 3.11 and NumPy 1.24. */
#include "base/numpy.h"
#include "support.h"

static void test_python_draws(void **state)
{
    (void)state;
    static const int small[] = {2, 0, 3, 3, 3, 3, 1, 0, 3, 0};
    static const int large[] = {49, 55, 77, 97, 98, 0};
    MerTwister       twister = mer_twister_python(1);
    assert_true(mer_twister_unit(&twister) == 0.13436424411240122);
    assert_true(mer_twister_unit(&twister) == 0.8474337369372327);
    assert_true(mer_twister_unit(&twister) == 0.763774618976614);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(mer_twister_python_below(&twister, 5), small[i]);
    }
    for (int i = 0; i < 6; i++) {
        assert_int_equal(mer_twister_python_below(&twister, 100), large[i]);
    }
    assert_int_equal(mer_twister_python_below(&twister, 1), 0); /* draws bits until they are 0 */
    assert_int_equal(mer_twister_python_below(&twister, 1), 0);
    assert_true(mer_twister_unit(&twister) == 0.7215400323407826);
}

static void test_python_seeds(void **state)
{
    (void)state;
    MerTwister zero = mer_twister_python(0);
    MerTwister two_words = mer_twister_python((UINT64_C(1) << 40) + 7);
    MerTwister late = mer_twister_python(5);
    double     drawn = 0;
    assert_true(mer_twister_unit(&zero) == 0.8444218515250481);
    assert_true(mer_twister_unit(&two_words) == 0.6137037779936511);
    for (int i = 0; i < 2000; i++) {
        drawn = mer_twister_unit(&late);
    }
    assert_true(drawn == 0.20243881971614341);
}

static void test_numpy_draws(void **state)
{
    (void)state;
    static const int small[] = {3, 0, 0, 1, 4, 4, 1, 2, 4, 2, 4, 3};
    static const int large[] = {28, 29, 14, 50, 68, 87};
    MerTwister       twister = mer_twister_numpy(1);
    assert_true(mer_twister_unit(&twister) == 0.417022004702574);
    assert_true(mer_twister_unit(&twister) == 0.7203244934421581);
    assert_true(mer_twister_unit(&twister) == 0.00011437481734488664);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(mer_twister_numpy_below(&twister, 5), small[i]);
    }
    for (int i = 0; i < 6; i++) {
        assert_int_equal(mer_twister_numpy_below(&twister, 100), large[i]);
    }
    assert_int_equal(mer_twister_numpy_below(&twister, 1), 0); /* draws nothing */
    assert_true(mer_twister_unit(&twister) == 0.45720480798698826);
}

/* Among these ten, some draws agree at first. */
static void test_numpy_choice(void **state)
{
    (void)state;
    static const double weights[4] = {0.5, 0.1, 0.3, 0.1};
    static const int    pairs[10][2] = {{1, 2}, {0, 1}, {2, 0}, {0, 2}, {0, 2},
                                        {0, 2}, {1, 0}, {1, 0}, {0, 2}, {0, 2}};
    MerTwister          twister = mer_twister_numpy(3);
    static const double sums[4] = {0.5, 0.6, 0.9, 1};
    for (int i = 0; i < 10; i++) {
        int pair[2];
        mer_twister_choose_pair(&twister, weights, sums, 4, pair);
        assert_memory_equal(pair, pairs[i], sizeof pair);
    }
    assert_true(mer_twister_unit(&twister) == 0.780314764511367);
}

static void test_numpy_sum(void **state)
{
    (void)state;
    double values[300];
    for (int i = 0; i < 300; i++) {
        values[i] = 1.0 / (i + 1);
    }
    assert_true(mer_numpy_sum(values, 7) == 2.5928571428571425);
    assert_true(mer_numpy_sum(values, 100) == 5.187377517639621);
    assert_true(mer_numpy_sum(values, 300) == 6.282663880299504);
}

static void test_numpy_order_of_equals(void **state)
{
    (void)state;
    static const int expected[60] = {0,  33, 22, 55, 44, 11, 25, 36, 47, 14, 58, 3,  17, 6,  39,
                                     50, 28, 42, 9,  20, 53, 31, 45, 12, 1,  23, 34, 56, 48, 37,
                                     59, 26, 4,  15, 29, 18, 40, 51, 7,  32, 21, 54, 43, 10, 57,
                                     2,  13, 35, 24, 46, 49, 16, 5,  38, 27, 30, 8,  41, 52, 19};
    double           keys[60];
    int              order[60];
    for (int i = 0; i < 60; i++) {
        keys[i] = i * 37 % 11;
    }
    mer_numpy_argsort(keys, 60, order);
    assert_memory_equal(order, expected, sizeof order);
    mer_numpy_argsort(keys, 0, order);
    mer_numpy_argsort(keys, 1, order);
    assert_int_equal(order[0], 0);
}

/* Keys that make every split as uneven as can be (McIlroy, A killer adversary for quicksort, 1999), so that the heap
 * takes over; nobody is lost and the keys ascend. */
static void test_numpy_sort_survives_bad_splits(void **state)
{
    (void)state;
    enum { COUNT = 4096 };
    static double keys[COUNT];
    static int    order[COUNT];
    static bool   is_seen[COUNT];
    for (int i = 0; i < COUNT / 2; i++) {
        keys[i] = i % 2 == 0 ? i + 1 : COUNT / 2 + i;
        keys[COUNT / 2 + i] = 2 * (i + 1);
    }
    mer_numpy_argsort(keys, COUNT, order);
    for (int i = 0; i < COUNT; i++) {
        assert_false(is_seen[order[i]]);
        is_seen[order[i]] = true;
        assert_true(i == 0 || keys[order[i - 1]] <= keys[order[i]]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_python_draws),
        cmocka_unit_test(test_python_seeds),
        cmocka_unit_test(test_numpy_draws),
        cmocka_unit_test(test_numpy_choice),
        cmocka_unit_test(test_numpy_sum),
        cmocka_unit_test(test_numpy_order_of_equals),
        cmocka_unit_test(test_numpy_sort_survives_bad_splits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
