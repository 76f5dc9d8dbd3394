/* Places for trails: the fast choice against a plain scan of all places. */
#include "mercator/rng.h"
#include "run/search/trails.h"
#include "support.h"

typedef struct Plain { /* the rule, written down */
    int64_t trial[MER_TRAIL_SLOTS], used[MER_TRAIL_SLOTS], now;
} Plain;

static int plain_find(Plain *plain, int64_t trial)
{
    for (int s = 0; s < MER_TRAIL_SLOTS; s++) {
        if (trial >= 0 && plain->trial[s] == trial) {
            plain->used[s] = plain->now;
            return s;
        }
    }
    return -1;
}

static int plain_place(Plain *plain, int64_t trial)
{
    int oldest = -1;
    for (int s = 0; s < MER_TRAIL_SLOTS; s++) {
        if (plain->used[s] < plain->now && (oldest < 0 || plain->used[s] < plain->used[oldest])) {
            oldest = s;
        }
    }
    if (oldest >= 0) {
        plain->used[oldest] = plain->now;
        plain->trial[oldest] = trial;
    }
    return oldest;
}

/* Batches of `most` trials at most, each changed from one of the last `reach`. */
static void check_batches(uint64_t seed, int batches, int most, int reach)
{
    Plain     *plain = calloc(1, sizeof *plain);
    MerTrails *trails = mer_trails_new(8);
    MerRng     rng = mer_rng_make(seed, 0);
    int64_t    trial = 0;
    for (int s = 0; s < MER_TRAIL_SLOTS; s++) {
        plain->trial[s] = -1;
    }
    for (int b = 0; b < batches; b++) {
        int count = 1 + mer_rng_below(&rng, most);
        plain->now++;
        mer_trails_begin(trails);
        for (int i = 0; i < count; i++) {
            int64_t base = trial - mer_rng_below(&rng, reach) - 1;
            assert_int_equal(mer_trails_find(trails, base), plain_find(plain, base));
        }
        for (int i = 0; i < count; i++, trial += 1 + mer_rng_below(&rng, 3)) {
            assert_int_equal(mer_trails_place(trails, trial), plain_place(plain, trial));
        }
    }
    mer_trails_free(trails);
    free(plain);
}

static void test_places_are_those_of_a_plain_scan(void **state)
{
    (void)state;
    check_batches(1, 5000, 1, 3000);
    check_batches(2, 500, 64, 3000);
    check_batches(3, 500, 64, 200);
    check_batches(4, 20, 3000, 5000); /* batches larger than the room */
}

static void test_a_batch_gives_no_place_away_twice(void **state)
{
    (void)state;
    MerTrails *trails = mer_trails_new(8);
    mer_trails_begin(trails);
    assert_int_equal(mer_trails_find(trails, 0), -1);
    assert_null(mer_trails_at(trails, -1));
    for (int i = 0; i < MER_TRAIL_SLOTS; i++) {
        assert_int_equal(mer_trails_place(trails, i), i);
        memset(mer_trails_at(trails, i), i, 8);
    }
    assert_int_equal(mer_trails_place(trails, MER_TRAIL_SLOTS), -1);
    mer_trails_begin(trails);
    assert_int_equal(mer_trails_find(trails, 0), 0); /* needed: the next one goes instead */
    assert_int_equal(mer_trails_place(trails, MER_TRAIL_SLOTS), 1);
    assert_int_equal(mer_trails_find(trails, 1), -1);
    mer_trails_free(trails);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_are_those_of_a_plain_scan),
        cmocka_unit_test(test_a_batch_gives_no_place_away_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
