/* Padded factors against the definition: all numbers ceil(n / k), in ascending order. */
#include "map/nest/factors.h"
#include "support.h"

enum { LARGEST = 700 };

static int share(int n, int k)
{
    return (n + k - 1) / k;
}

static void test_ranks_list_every_rounded_up_quotient_once(void **state)
{
    (void)state;
    for (int n = 1; n <= LARGEST; n++) {
        int rank = 0;
        for (int k = n; k >= 1; k--) {
            if (k < n && share(n, k) == share(n, k + 1)) {
                continue;
            }
            assert_int_equal(mer_padded_at(n, rank), share(n, k));
            assert_int_equal(mer_padded_rank(n, share(n, k)), rank);
            rank++;
        }
        assert_int_equal(mer_padded_count(n, n), rank);
    }
}

static void test_numbers_that_are_no_quotient_have_no_rank(void **state)
{
    (void)state;
    for (int n = 1; n <= LARGEST; n++) {
        for (int factor = 1; factor <= n + 2; factor++) {
            int  rank = mer_padded_rank(n, factor);
            int  rest = mer_padded_rest(n, factor);
            bool is_smallest = factor == share(n, rest); /* of those that leave the same rest */
            assert_int_equal(rank >= 0, is_smallest);
        }
    }
}

static void test_a_limit_leaves_the_factors_up_to_it(void **state)
{
    (void)state;
    for (int n = 1; n <= LARGEST; n += 3) {
        for (int limit = 1; limit <= n + 2; limit++) {
            int count = mer_padded_count(n, limit);
            assert_true(mer_padded_at(n, count - 1) <= limit);
            assert_true(count == mer_padded_count(n, n) || mer_padded_at(n, count) > limit);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranks_list_every_rounded_up_quotient_once),
        cmocka_unit_test(test_numbers_that_are_no_quotient_have_no_rank),
        cmocka_unit_test(test_a_limit_leaves_the_factors_up_to_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
