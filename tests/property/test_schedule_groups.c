/* The grouping rule on random graphs of jobs: every job once, none with another it depends on, never before
 * those it waits for, no group that could have held more, and turns that are fair. */
#include "schedule_jobs_support.h"

enum { CASES = 300 };

/* Up to 12 streams of up to 12 jobs; edges lead from earlier to later jobs, within and across streams. */
static HandSet random_set(MerRng *rng, MerArena *arena)
{
    HandSet hand = new_hand_set(12 * 12, arena);
    int     models = 1 + mer_rng_below(rng, 4);
    int     requests = 1 + mer_rng_below(rng, 3);
    int     chance = mer_rng_below(rng, 40);
    for (int m = 0; m < models; m++) {
        for (int r = 0; r < requests; r++) {
            int length = 1 + mer_rng_below(rng, 12);
            for (int l = 0; l < length; l++) {
                int after[4];
                int count = 0;
                for (int k = 0; k < 4 && hand.set.job_count > 0; k++) {
                    bool is_edge = mer_rng_below(rng, 100) < chance;
                    bool is_chain = k == 0 && l > 0 && is_edge;
                    if (is_edge) {
                        after[count++] = is_chain ? hand.set.job_count - 1
                                                  : mer_rng_below(rng, hand.set.job_count);
                    }
                }
                add_hand_job(&hand, mer_rng_below(rng, 10) == 0 ? -1 : m, r, after, count);
            }
        }
    }
    hand.set.is_shuffled = mer_rng_below(rng, 3) == 0;
    hand.set.shuffle_seed = mer_rng_below(rng, 1000);
    return hand;
}

static const int *group_of_jobs(const MerJobSet *set, const MerJobGroups *groups, MerArena *arena)
{
    int *group_of = MER_ARRAY(arena, int, set->job_count + 1);
    for (int j = 0; j < set->job_count; j++) {
        group_of[j] = -1;
    }
    for (int g = 0; g < groups->count; g++) {
        for (int i = groups->start[g]; i < groups->start[g + 1]; i++) {
            assert_int_equal(group_of[groups->jobs[i]], -1);
            group_of[groups->jobs[i]] = g;
        }
    }
    return group_of;
}

static bool is_ready_for(const MerJob *job, const int *group_of, int group)
{
    bool is_ready = true;
    for (int k = 0; k < job->after_count; k++) {
        is_ready = is_ready && group_of[job->after[k]] < group;
    }
    return is_ready;
}

static void test_groups_hold_every_job_once_and_never_two_that_depend_on_each_other(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(11, 0);
    for (int c = 0; c < CASES; c++) {
        MerArena    *arena = mer_arena_new();
        HandSet      hand = random_set(&rng, arena);
        int          size = 1 + mer_rng_below(&rng, 20);
        MerJobGroups groups = cut(&hand.set, size, arena);
        const int   *group_of = group_of_jobs(&hand.set, &groups, arena);
        assert_int_equal(groups.start[groups.count], hand.set.job_count);
        for (int j = 0; j < hand.set.job_count; j++) {
            assert_true(group_of[j] >= 0);
            /* predecessors are in earlier groups, hence by induction so is everything behind them */
            assert_true(is_ready_for(&hand.jobs[j], group_of, group_of[j]));
        }
        mer_arena_free(arena);
    }
}

static void test_a_group_is_full_unless_nothing_else_was_ready(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(12, 0);
    int    part_full = 0;
    for (int c = 0; c < CASES; c++) {
        MerArena    *arena = mer_arena_new();
        HandSet      hand = random_set(&rng, arena);
        int          size = 1 + mer_rng_below(&rng, 20);
        MerJobGroups groups = cut(&hand.set, size, arena);
        const int   *group_of = group_of_jobs(&hand.set, &groups, arena);
        for (int g = 0; g < groups.count; g++) {
            int count = groups.start[g + 1] - groups.start[g];
            assert_in_range(count, 1, size);
            for (int j = 0; count < size && j < hand.set.job_count; j++) {
                assert_false(group_of[j] > g && is_ready_for(&hand.jobs[j], group_of, g));
            }
            part_full += count < size && g + 1 < groups.count;
        }
        mer_arena_free(arena);
    }
    assert_true(part_full > 100); /* the cases do say something */
}

/* Independent jobs in equal streams: after every group no stream is more than one job ahead of another. */
static void test_equal_streams_advance_together(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(13, 0);
    for (int c = 0; c < CASES; c++) {
        MerArena *arena = mer_arena_new();
        int       streams = 2 + mer_rng_below(&rng, 10);
        int       length = 1 + mer_rng_below(&rng, 8);
        int       size = 1 + mer_rng_below(&rng, 15);
        HandSet   hand = new_hand_set(streams * length, arena);
        int      *taken = MER_ARRAY(arena, int, streams);
        for (int s = 0; s < streams; s++) {
            for (int l = 0; l < length; l++) {
                add_hand_job(&hand, s / 2, s % 2, NULL, 0);
            }
        }
        MerJobGroups groups = cut(&hand.set, size, arena);
        for (int g = 0; g < groups.count; g++) {
            for (int i = groups.start[g]; i < groups.start[g + 1]; i++) {
                const MerJob *job = &hand.jobs[groups.jobs[i]];
                taken[2 * job->model + job->request]++;
            }
            for (int s = 1; s < streams; s++) {
                assert_true(abs(taken[s] - taken[0]) <= 1);
            }
        }
        mer_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_hold_every_job_once_and_never_two_that_depend_on_each_other),
        cmocka_unit_test(test_a_group_is_full_unless_nothing_else_was_ready),
        cmocka_unit_test(test_equal_streams_advance_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
