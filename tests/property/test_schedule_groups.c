/* The grouping rule on random graphs of jobs: every job once, none with another it depends on, never before
 * those it waits for, no group that could have held more, turns that are fair, and no waiting for late ones. */
#include "schedule_jobs_support.h"

#include <math.h>

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

/* The rule as it reads, without any memory: every turn looks through the whole stream. */
typedef struct Plain {
    int models,
        /* streams: single jobs, then networks, of the first mini-batch, then of the second */
        requests;
    int turn;
} Plain;

static int plain_stream(const Plain *plain, const MerJob *job)
{
    return job->request * (plain->models + 1) + job->model + 1;
}

/* The next job of the stream that the group may take, -1: none. */
static int plain_next(const HandSet *hand, const Plain *plain, const int *group_of, int group,
                      int stream)
{
    for (int j = 0; j < hand->set.job_count; j++) {
        const MerJob *job = &hand->jobs[j];
        bool          is_free = group_of[j] < 0 && plain_stream(plain, job) == stream;
        for (int k = 0; k < job->after_count; k++) {
            int before = group_of[job->after[k]];
            is_free = is_free && before >= 0 && before < group;
        }
        if (is_free) {
            return j;
        }
    }
    return -1;
}

static void test_groups_are_those_of_the_plain_rule(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(14, 0);
    for (int c = 0; c < CASES; c++) {
        MerArena *arena = mer_arena_new();
        HandSet   hand = random_set(&rng, arena);
        int       size = 1 + mer_rng_below(&rng, 20);
        hand.set.is_shuffled = false;
        MerJobGroups groups = cut(&hand.set, size, arena);
        Plain        plain = {hand.set.model_count, 3, 0};
        int          streams = plain.requests * (plain.models + 1);
        int         *group_of = MER_ARRAY(arena, int, hand.set.job_count + 1);
        memset(group_of, -1, (size_t)hand.set.job_count * sizeof *group_of);
        for (int g = 0; g < groups.count; g++) {
            int taken = 0;
            for (int misses = 0; taken < size && misses < streams;) {
                int job = plain_next(&hand, &plain, group_of, g, plain.turn);
                plain.turn = (plain.turn + 1) % streams;
                misses = job < 0 ? misses + 1 : 0;
                if (job >= 0) {
                    group_of[job] = g;
                    assert_true(groups.start[g] + taken < groups.start[g + 1]);
                    assert_int_equal(groups.jobs[groups.start[g] + taken++], job);
                }
            }
            assert_int_equal(groups.start[g + 1] - groups.start[g], taken);
        }
        mer_arena_free(arena);
    }
}

/* Jobs come at random. Nobody is in a group from whose start on, at the earliest, he has to be waited for,
 * unless all who came before are in it or in earlier ones. */
static void test_no_group_waits_for_a_release_while_others_could_run(void **state)
{
    (void)state;
    MerRng rng = mer_rng_make(15, 0);
    int    waits = 0;
    for (int c = 0; c < CASES; c++) {
        MerArena *arena = mer_arena_new();
        HandSet   hand = random_set(&rng, arena);
        int       jobs = hand.set.job_count;
        int       size = 1 + mer_rng_below(&rng, 20);
        double   *release = MER_ARRAY(arena, double, jobs + 1);
        double   *macs = MER_ARRAY(arena, double, jobs + 1);
        for (int j = 0; j < jobs; j++) {
            release[j] = 50 * mer_rng_below(&rng, 5);
            macs[j] = 100 * mer_rng_below(&rng, 10);
        }
        MerGroupTimes times = {release, macs, 40, 10};
        MerJobGroups  groups;
        mer_schedule_cut(&hand.set, size, &times, arena, &groups);
        const int *group_of = group_of_jobs(&hand.set, &groups, arena);
        double     start = 0;
        assert_int_equal(groups.start[groups.count], jobs);
        for (int j = 0; j < jobs; j++) { /* edges lead to later jobs */
            assert_true(is_ready_for(&hand.jobs[j], group_of, group_of[j]));
            for (int k = 0; k < hand.jobs[j].after_count; k++) {
                release[j] = fmax(release[j], release[hand.jobs[j].after[k]]);
            }
        }
        for (int g = 0; g < groups.count; g++) {
            double end = start, work = 0, last = 0;
            for (int i = groups.start[g]; i < groups.start[g + 1]; i++) {
                int job = groups.jobs[i];
                last = fmax(last, release[job]);
                end = fmax(end, fmax(start, release[job]) + macs[job] / 10);
                work += macs[job] / 40;
            }
            for (int j = 0; last > start && j < jobs; j++) {
                assert_false(group_of[j] > g && release[j] < last);
            }
            waits += last > start;
            start = fmax(end, start + work);
        }
        mer_arena_free(arena);
    }
    assert_true(waits > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups_hold_every_job_once_and_never_two_that_depend_on_each_other),
        cmocka_unit_test(test_a_group_is_full_unless_nothing_else_was_ready),
        cmocka_unit_test(test_equal_streams_advance_together),
        cmocka_unit_test(test_groups_are_those_of_the_plain_rule),
        cmocka_unit_test(test_no_group_waits_for_a_release_while_others_could_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
