/* Places for snapshots: the fast choice against a plain scan of all places. */
#include "mercator/rng.h"
#include "run/search/snapshots.h"
#include "support.h"

typedef struct Plain { /* the rule, written down */
    int64_t trial[MER_SNAPSHOT_SLOTS], used[MER_SNAPSHOT_SLOTS], now;
} Plain;

static int plain_find(Plain *plain, int64_t trial)
{
    for (int s = 0; s < MER_SNAPSHOT_SLOTS; s++) {
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
    for (int s = 0; s < MER_SNAPSHOT_SLOTS; s++) {
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
    Plain        *plain = calloc(1, sizeof *plain);
    MerSnapshots *snapshots = mer_snapshots_new(8);
    MerRng        rng = mer_rng_make(seed, 0);
    int64_t       trial = 0;
    for (int s = 0; s < MER_SNAPSHOT_SLOTS; s++) {
        plain->trial[s] = -1;
    }
    for (int b = 0; b < batches; b++) {
        int count = 1 + mer_rng_below(&rng, most);
        plain->now++;
        mer_snapshots_begin(snapshots);
        for (int i = 0; i < count; i++) {
            int64_t base = trial - mer_rng_below(&rng, reach) - 1;
            assert_int_equal(mer_snapshots_find(snapshots, base), plain_find(plain, base));
        }
        for (int i = 0; i < count; i++, trial += 1 + mer_rng_below(&rng, 3)) {
            assert_int_equal(mer_snapshots_place(snapshots, trial), plain_place(plain, trial));
        }
    }
    mer_snapshots_free(snapshots);
    free(plain);
}

static void test_places_are_those_of_a_plain_scan(void **state)
{
    (void)state;
    check_batches(1, 5000, 1, 3000);
    check_batches(2, 500, 64, 3000);
    check_batches(3, 500, 64, 200);
    check_batches(4, 20, 3000, 5000); /* batches larger than the memory */
}

static void test_a_batch_gives_no_place_away_twice(void **state)
{
    (void)state;
    MerSnapshots *snapshots = mer_snapshots_new(8);
    mer_snapshots_begin(snapshots);
    assert_int_equal(mer_snapshots_find(snapshots, 0), -1);
    assert_null(mer_snapshots_at(snapshots, -1));
    for (int i = 0; i < MER_SNAPSHOT_SLOTS; i++) {
        assert_int_equal(mer_snapshots_place(snapshots, i), i);
        memset(mer_snapshots_at(snapshots, i), i, 8);
    }
    assert_int_equal(mer_snapshots_place(snapshots, MER_SNAPSHOT_SLOTS), -1);
    mer_snapshots_begin(snapshots);
    assert_int_equal(mer_snapshots_find(snapshots, 0), 0); /* needed: the next one goes instead */
    assert_int_equal(mer_snapshots_place(snapshots, MER_SNAPSHOT_SLOTS), 1);
    assert_int_equal(mer_snapshots_find(snapshots, 1), -1);
    mer_snapshots_free(snapshots);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_are_those_of_a_plain_scan),
        cmocka_unit_test(test_a_batch_gives_no_place_away_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
