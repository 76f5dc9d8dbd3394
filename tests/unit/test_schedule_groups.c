/* The grouping rule on cases small enough to do by hand, and `select`. */
#include "one_arena.h"
#include "schedule_jobs_support.h"

static void assert_group(const MerJobGroups *groups, int group, int count, const int *jobs)
{
    assert_true(group < groups->count);
    assert_int_equal(groups->start[group + 1] - groups->start[group], count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(groups->jobs[groups->start[group] + i], jobs[i]);
    }
}

#define ASSERT_GROUP(groups, group, ...)                                                           \
    do {                                                                                           \
        const int jobs_[] = {__VA_ARGS__};                                                         \
        assert_group(groups, group, (int)(sizeof jobs_ / sizeof jobs_[0]), jobs_);                 \
    } while (0)

/* Networks a and b, two mini-batches each, chains of three: a#0 0-2, a#1 3-5, b#0 6-8, b#1 9-11. The streams
 * take turns a#0 b#0 a#1 b#1, and a group of three goes on where the last one stopped. */
static void test_round_robin_goes_on_with_the_stream_whose_turn_it_is(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(12, arena);
    add_chain(&hand, 0, 0, 3);
    add_chain(&hand, 0, 1, 3);
    add_chain(&hand, 1, 0, 3);
    add_chain(&hand, 1, 1, 3);
    MerJobGroups groups = cut(&hand.set, 3, arena);
    assert_int_equal(groups.count, 4);
    ASSERT_GROUP(&groups, 0, 0, 6, 3);
    ASSERT_GROUP(&groups, 1, 9, 1, 7);
    ASSERT_GROUP(&groups, 2, 4, 10, 2);
    ASSERT_GROUP(&groups, 3, 8, 5, 11);
    assert_string_equal(groups.names[3], "group 4");
}

/* A chain gives one job per group, however much capacity there is. */
static void test_a_chain_alone_gives_groups_of_one(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(4, arena);
    add_chain(&hand, 0, 0, 4);
    MerJobGroups groups = cut(&hand.set, 100, arena);
    assert_int_equal(groups.count, 4);
    for (int g = 0; g < 4; g++) {
        ASSERT_GROUP(&groups, g, g);
    }
}

/* Job 0; 1 and 2 after it; 3 after both. The branches may share a group, their ends may not. */
static void test_a_diamond_takes_three_groups(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(4, arena);
    add_hand_job(&hand, 0, 0, NULL, 0);
    add_hand_job(&hand, 0, 0, (const int[]){0}, 1);
    add_hand_job(&hand, 0, 0, (const int[]){0}, 1);
    add_hand_job(&hand, 0, 0, (const int[]){1, 2}, 2);
    MerJobGroups groups = cut(&hand.set, 10, arena);
    assert_int_equal(groups.count, 3);
    ASSERT_GROUP(&groups, 0, 0);
    ASSERT_GROUP(&groups, 1, 1, 2);
    ASSERT_GROUP(&groups, 2, 3);
}

/* A network of five independent layers beside a chain of two: after its turn the chain has nothing ready, and
 * the rest of the group comes from the other. */
static void test_streams_that_have_nothing_ready_are_passed_over(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(7, arena);
    add_chain(&hand, 0, 0, 2);
    for (int i = 0; i < 5; i++) {
        add_hand_job(&hand, 1, 0, NULL, 0);
    }
    MerJobGroups groups = cut(&hand.set, 4, arena);
    assert_int_equal(groups.count, 2);
    ASSERT_GROUP(&groups, 0, 0, 2, 3, 4);
    ASSERT_GROUP(&groups, 1, 1, 5, 6);
}

/* Job 3 of network b waits for job 1 of network a, across networks and against the order of the turns. */
static void test_dependencies_across_networks_hold(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(4, arena);
    add_chain(&hand, 0, 0, 2);
    add_hand_job(&hand, 1, 0, NULL, 0);
    add_hand_job(&hand, 1, 0, (const int[]){1}, 1);
    MerJobGroups groups = cut(&hand.set, 2, arena);
    assert_int_equal(groups.count, 3);
    ASSERT_GROUP(&groups, 0, 0, 2);
    ASSERT_GROUP(&groups, 1, 1);
    ASSERT_GROUP(&groups, 2, 3);
}

/* Single jobs are a stream of their own that comes first. */
static void test_single_jobs_take_turns_with_networks(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(5, arena);
    add_chain(&hand, 0, 0, 2);
    for (int i = 0; i < 3; i++) {
        add_hand_job(&hand, -1, 0, NULL, 0);
    }
    MerJobGroups groups = cut(&hand.set, 3, arena);
    ASSERT_GROUP(&groups, 0, 2, 0, 3);
    ASSERT_GROUP(&groups, 1, 1, 4);
}

/* Jobs 0 to 3 of one list, of 100 cycles each on either of two cores; job 1 comes at 1000, job 3 at 150. The
 * first group has who is there; it takes at least 100 cycles, the second one waits for nobody else. */
static void test_late_jobs_do_not_hold_up_those_who_are_there(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(4, arena);
    for (int i = 0; i < 4; i++) {
        add_hand_job(&hand, -1, 0, NULL, 0);
    }
    const double  release[] = {0, 1000, 0, 150}, macs[] = {100, 100, 100, 100};
    MerGroupTimes times = {release, macs, 2, 1};
    MerJobGroups  groups;
    mer_schedule_cut(&hand.set, 2, &times, arena, &groups);
    assert_int_equal(groups.count, 2);
    ASSERT_GROUP(&groups, 0, 0, 2);
    ASSERT_GROUP(&groups, 1, 3, 1);
}

/* Two requests of a chain of three, the second one at 200: it starts beside the last layer of the first, which
 * cannot begin before 200, and no later. */
static void test_requests_join_when_they_come(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(6, arena);
    add_chain(&hand, 0, 0, 3);
    add_chain(&hand, 0, 1, 3);
    const double  macs[] = {100, 100, 100, 100, 100, 100};
    const double  release[] = {0, 0, 0, 200, 200, 200};
    MerGroupTimes times = {release, macs, 2, 1};
    MerJobGroups  groups;
    mer_schedule_cut(&hand.set, 10, &times, arena, &groups);
    assert_int_equal(groups.count, 5);
    ASSERT_GROUP(&groups, 0, 0);
    ASSERT_GROUP(&groups, 1, 1);
    ASSERT_GROUP(&groups, 2, 3, 2);
    ASSERT_GROUP(&groups, 3, 4);
    ASSERT_GROUP(&groups, 4, 5);
}

static void test_without_a_size_everything_is_one_group_in_input_order(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(6, arena);
    add_chain(&hand, 1, 0, 3);
    add_chain(&hand, 0, 0, 3);
    MerJobGroups groups = cut(&hand.set, 0, arena);
    assert_int_equal(groups.count, 1);
    assert_string_equal(groups.names[0], "toy");
    ASSERT_GROUP(&groups, 0, 0, 1, 2, 3, 4, 5);
    hand.set.group_size = 2; /* as the file says, unless a size is given */
    assert_int_equal(cut(&hand.set, 0, arena).count, 3);
    assert_int_equal(cut(&hand.set, 1, arena).count, 6);
}

static void test_groups_of_the_file_stay_as_they_are(void **state)
{
    (void)state;
    const char *names[] = {"mix:0", "mix:1"};
    HandSet     hand = new_hand_set(4, arena);
    for (int i = 0; i < 4; i++) {
        add_hand_job(&hand, -1, 0, NULL, 0);
        hand.jobs[i].group = i % 2;
    }
    hand.set.group_count = 2;
    hand.set.group_names = names;
    MerJobGroups groups = cut(&hand.set, 3, arena);
    assert_int_equal(groups.count, 2);
    ASSERT_GROUP(&groups, 0, 0, 2);
    ASSERT_GROUP(&groups, 1, 1, 3);
    assert_string_equal(groups.names[1], "mix:1");
}

static void test_shuffled_turns_depend_on_the_seed_alone(void **state)
{
    (void)state;
    HandSet hand = new_hand_set(64, arena);
    for (int r = 0; r < 32; r++) {
        add_chain(&hand, 0, r, 2);
    }
    hand.set.is_shuffled = true;
    hand.set.shuffle_seed = 7;
    MerJobGroups one = cut(&hand.set, 8, arena);
    MerJobGroups same = cut(&hand.set, 8, arena);
    hand.set.shuffle_seed = 8;
    MerJobGroups other = cut(&hand.set, 8, arena);
    assert_memory_equal(one.jobs, same.jobs, 64 * sizeof(int));
    assert_memory_not_equal(one.jobs, other.jobs, 64 * sizeof(int));
}

static const char *selected(const char *select, const char *const *names, int count)
{
    MerJobGroups groups = {count, MER_ARRAY(arena, const char *, count + 1),
                           MER_ARRAY(arena, int, count + 1), MER_ARRAY(arena, int, count + 1)};
    MerError     error = {0};
    const char  *text = "";
    for (int g = 0; g < count; g++) {
        groups.names[g] = names[g];
        groups.start[g + 1] = g + 1;
        groups.jobs[g] = g;
    }
    if (mer_schedule_select(&groups, select, &error) != MER_OK) {
        return mer_arena_text(arena, error.message);
    }
    for (int g = 0; g < groups.count; g++) {
        assert_int_equal(groups.start[g + 1] - groups.start[g], 1);
        text = mer_arena_format(arena, "%s%s=%d ", text, groups.names[g],
                                groups.jobs[groups.start[g]]);
    }
    return text;
}

static void test_select_takes_names_families_numbers_and_ranges(void **state)
{
    (void)state;
    static const char *const names[] = {"mix:0", "mix:1", "mix:10", "vision:0", "vision:1"};
    assert_string_equal(selected("", names, 5), "mix:0=0 mix:1=1 mix:10=2 vision:0=3 vision:1=4 ");
    assert_string_equal(selected("mix:1", names, 5), "mix:1=1 ");
    assert_string_equal(selected("vision", names, 5), "vision:0=3 vision:1=4 ");
    assert_string_equal(selected("mix:1-10", names, 5), "mix:1=1 mix:10=2 ");
    assert_string_equal(selected("1,4-5", names, 5), "mix:0=0 vision:0=3 vision:1=4 ");
    mer_test_contains(
        selected("language:0", names, 5),
        "there is no group \"language:0\", expected one of 5 groups: mix:0-10, vision:0-1");
    mer_test_contains(selected("mix:0,language:0", names, 5), "there is no group \"language:0\"");
    mer_test_contains(selected("mix:x", names, 5), "expected one of 5 groups: mix:0");
    mer_test_contains(selected("9", names, 5), "expected one of 5 groups");
    /* A range is not cut to what there is. */
    mer_test_contains(selected("vision:0-2", names, 5),
                      "there is no group \"vision:2\" of the range \"vision:0-2\", expected one of "
                      "5 groups: mix:0-10, vision:0-1");
    mer_test_contains(selected("mix:2-10", names, 5), "there is no group \"mix:2\" of the range");
    mer_test_contains(selected("1,4-6", names, 5), "there is no group \"6\" of the range \"4-6\"");
    mer_test_contains(selected("1-99999", names, 5), "there is no group \"99999\" of the range");
    mer_test_contains(selected("0", names, 5), "there is no group \"0\", expected");
    mer_test_contains(selected("4-3", names, 5), "there is no group \"4-3\", expected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_robin_goes_on_with_the_stream_whose_turn_it_is),
        cmocka_unit_test(test_a_chain_alone_gives_groups_of_one),
        cmocka_unit_test(test_a_diamond_takes_three_groups),
        cmocka_unit_test(test_streams_that_have_nothing_ready_are_passed_over),
        cmocka_unit_test(test_dependencies_across_networks_hold),
        cmocka_unit_test(test_single_jobs_take_turns_with_networks),
        cmocka_unit_test(test_late_jobs_do_not_hold_up_those_who_are_there),
        cmocka_unit_test(test_requests_join_when_they_come),
        cmocka_unit_test(test_without_a_size_everything_is_one_group_in_input_order),
        cmocka_unit_test(test_groups_of_the_file_stay_as_they_are),
        cmocka_unit_test(test_shuffled_turns_depend_on_the_seed_alone),
        cmocka_unit_test(test_select_takes_names_families_numbers_and_ranges),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
