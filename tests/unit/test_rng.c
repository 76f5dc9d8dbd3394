/* Random numbers: exact words, ranges and moments. */
#include "mercator/rng.h"
#include "support.h"

#include <math.h>

static void words_are_those_of_the_reference_generator(void **state)
{
    (void)state;
    /* First outputs of xoshiro256** 1.0 from the state 1, 2, 3, 4, by the authors' definition. */
    const uint64_t expected[] = {UINT64_C(11520),
                                 UINT64_C(0),
                                 UINT64_C(1509978240),
                                 UINT64_C(1215971899390074240),
                                 UINT64_C(1216172134540287360),
                                 UINT64_C(607988272756665600),
                                 UINT64_C(16172922978634559625),
                                 UINT64_C(8476171486693032832)};
    MerRng         rng = {{1, 2, 3, 4}};
    for (int i = 0; i < 8; i++) {
        assert_true(mer_rng_next(&rng) == expected[i]);
    }
}

static void seeds_and_streams_give_fixed_words(void **state)
{
    (void)state;
    /* Computed apart, with arbitrary-precision integers. Logs depend on them: never change these. */
    static const struct {
        uint64_t seed, stream, words[3];
    } cases[] = {
        {1,
         0,
         {UINT64_C(17154914556750032435), UINT64_C(15481925071032317162),
          UINT64_C(3049712571244418729)}},
        {1,
         1,
         {UINT64_C(6105526897821739691), UINT64_C(11478420863204661519),
          UINT64_C(4973650902084976733)}},
        {42,
         7,
         {UINT64_C(605564108851498934), UINT64_C(10191206997692546640),
          UINT64_C(9606518504998156689)}},
    };
    for (size_t i = 0; i < 3; i++) {
        MerRng rng = mer_rng_make(cases[i].seed, cases[i].stream);
        for (int j = 0; j < 3; j++) {
            assert_true(mer_rng_next(&rng) == cases[i].words[j]);
        }
    }
}

static void below_is_uniform_and_in_range(void **state)
{
    (void)state;
    enum { SIDES = 6, ROLLS = 60000 };
    MerRng rng = mer_rng_make(3, 0);
    int    counts[SIDES] = {0};
    for (int i = 0; i < ROLLS; i++) {
        int value = mer_rng_below(&rng, SIDES);
        assert_in_range(value, 0, SIDES - 1);
        counts[value]++;
    }
    double chi_square = 0, mean = (double)ROLLS / SIDES;
    for (int i = 0; i < SIDES; i++) {
        chi_square += (counts[i] - mean) * (counts[i] - mean) / mean;
    }
    assert_true(chi_square < 20.5); /* 5 degrees of freedom, p = 0.001 */
    for (int i = 0; i < 100; i++) {
        assert_int_equal(mer_rng_below(&rng, 1), 0);
        assert_in_range(mer_rng_below(&rng, INT32_MAX), 0, INT32_MAX - 1);
    }
}

static void unit_is_in_its_interval_with_its_mean(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(4, 0);
    double sum = 0;
    for (int i = 0; i < 100000; i++) {
        double value = mer_rng_unit(&rng);
        assert_true(value >= 0 && value < 1);
        sum += value;
    }
    assert_true(fabs(sum / 100000 - 0.5) < 0.005);
}

static void normal_has_mean_zero_and_deviation_one(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    MerRng rng = mer_rng_make(5, 0);
    double sum = 0, squares = 0, fourths = 0;
    for (int i = 0; i < COUNT; i++) {
        double value = mer_rng_normal(&rng);
        assert_true(isfinite(value));
        sum += value;
        squares += value * value;
        fourths += value * value * value * value;
    }
    assert_true(fabs(sum / COUNT) < 0.01);
    assert_true(fabs(squares / COUNT - 1) < 0.02);
    assert_true(fabs(fourths / COUNT - 3) < 0.15);
}

static void normal_depends_on_the_state_alone(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(6, 0);
    mer_rng_normal(&rng);
    MerRng copy = rng;
    double first = mer_rng_normal(&rng);
    mer_rng_normal(&rng);
    assert_true(mer_rng_normal(&copy) == first);
}

static void shuffle_permutes_every_way(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(7, 0);
    int    seen[6] = {0};
    for (int i = 0; i < 6000; i++) {
        int values[3] = {0, 1, 2};
        mer_rng_shuffle(&rng, values, 3);
        assert_int_equal((1 << values[0]) | (1 << values[1]) | (1 << values[2]), 7);
        seen[values[0] * 2 + (values[1] > values[2])]++;
    }
    for (int i = 0; i < 6; i++) {
        assert_in_range(seen[i], 880, 1120);
    }
    mer_rng_shuffle(&rng, NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_those_of_the_reference_generator),
        cmocka_unit_test(seeds_and_streams_give_fixed_words),
        cmocka_unit_test(below_is_uniform_and_in_range),
        cmocka_unit_test(unit_is_in_its_interval_with_its_mean),
        cmocka_unit_test(normal_has_mean_zero_and_deviation_one),
        cmocka_unit_test(normal_depends_on_the_state_alone),
        cmocka_unit_test(shuffle_permutes_every_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
