/* Agents that take turns, on toys: few samples, nothing twice, what one task hands to the next,
 * and spaces at the edge of sense. */
#include "learn/team_inside.h"
#include "opt/marl_inside.h"
#include "toy_support.h"

enum { KNOBS = 8, MOST_POINTS = 4096 };

static void fill_knobs(MerKnob *knobs, int choices)
{
    static const char *const names[KNOBS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static const double      sizes[] = {1, 2, 3, 4, 5, 6, 7, 8};
    for (int k = 0; k < KNOBS; k++) {
        knobs[k] = (MerKnob){.name = names[k],
                             .kind = k % 4 == 3 ? MER_KNOB_CATEGORY : MER_KNOB_ORDERED,
                             .choices = choices,
                             .values = k % 4 == 3 ? NULL : sizes};
    }
}

/* One best point of 16 million, with 1; ordered knobs lead to it, categories do not. */
static double hidden(const MerIndex *p, int64_t trial)
{
    double sum = 0;
    (void)trial;
    for (int k = 0; k < KNOBS; k++) {
        int best = (3 * k + 2) % 6;
        sum += k % 4 == 3 ? p[k] != best : 0.4 * abs(p[k] - best);
    }
    return exp(sum);
}

static Toy *open_hidden(const char *reference, int64_t budget, uint64_t seed)
{
    MerKnob knobs[KNOBS];
    fill_knobs(knobs, 8);
    Toy *toy = toy_open_space(reference, budget, KNOBS, knobs, MER_OK, NULL);
    toy->rng = mer_rng_make(seed, 0);
    return toy;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Median over five seeds of the trials until the score is at most `wanted`. */
static int64_t trials_to(const char *reference, int64_t budget, double wanted)
{
    int64_t needed[5];
    for (uint64_t seed = 0; seed < 5; seed++) {
        Toy *toy = open_hidden(reference, budget, seed + 1);
        needed[seed] = budget + 1;
        while (toy->trials < budget && toy->best > wanted) {
            toy_run(toy, 4, hidden);
        }
        if (toy->best <= wanted) {
            needed[seed] = toy->trials;
        }
        toy_close(toy);
    }
    qsort(needed, 5, sizeof *needed, by_size);
    return needed[2];
}

static void test_the_optimum_is_found_in_few_samples(void **state)
{
    (void)state;
    int64_t turns = trials_to("marl", 2000, 1), random = trials_to("random", 2000, 5);
    if (!(turns <= 600)) {
        fail_msg("the optimum takes %lld trials", (long long)turns);
    }
    assert_true(random > turns); /* even to come within a factor of five */
    assert_true(trials_to("marl:candidates=1", 2000, 1) <= 1500);
}

typedef struct Asked {
    int      count;
    MerIndex points[MOST_POINTS][KNOBS];
} Asked;

/* Runs and gives how many points were asked for more than once. */
static int count_repeats(Toy *toy, int trials, ToyScore score)
{
    Asked      *asked = calloc(1, sizeof *asked);
    MerIndex    capacity[TOY_CAPACITY][TOY_MOST_KNOBS];
    MerProposal proposals[TOY_CAPACITY];
    MerTrial    told[TOY_CAPACITY];
    int         repeats = 0;
    size_t      bytes = (size_t)toy->space->knob_count * sizeof(MerIndex);
    while (asked->count < trials) {
        for (int i = 0; i < TOY_CAPACITY; i++) {
            proposals[i] = (MerProposal){capacity[i], INFINITY, -1};
        }
        int count = toy->type->ask(toy->optimizer, proposals, toy->capacity);
        for (int i = 0; i < count && asked->count < MOST_POINTS; i++) {
            bool is_new = true;
            for (int j = 0; j < asked->count && is_new; j++) {
                is_new = memcmp(asked->points[j], capacity[i], bytes) != 0;
            }
            repeats += !is_new;
            memcpy(asked->points[asked->count++], capacity[i], bytes);
            told[i] = (MerTrial){.point = capacity[i], .score = score(capacity[i], 0)};
        }
        toy->type->tell(toy->optimizer, told, count);
    }
    free(asked);
    return repeats;
}

/* A cold lane whose agent has tried all its moves may repeat one; nobody else does. */
static void test_points_are_hardly_ever_asked_for_twice(void **state)
{
    (void)state;
    Toy *toy = open_hidden("marl", 1500, 1);
    assert_in_range(count_repeats(toy, 1500, hidden), 0, 3);
    toy_close(toy);
    toy = open_hidden("marl:hot=10,cold=10", 1500, 1); /* always near new points */
    assert_int_equal(count_repeats(toy, 1500, hidden), 0);
    toy_close(toy);
}

/* 16 points: all are tried, then they are asked for again, and the search does not hang. */
static void test_a_space_that_is_used_up_goes_on(void **state)
{
    (void)state;
    MerKnob knobs[TOY_KNOBS];
    toy_fill_knobs(knobs, 2);
    Toy *toy = toy_open_space("marl", 200, TOY_KNOBS, knobs, MER_OK, NULL);
    int  repeats = count_repeats(toy, 200, toy_coupled);
    assert_in_range(repeats, 200 - 16, 200 - 14);
    toy_close(toy);
}

static void test_a_like_task_is_as_good_in_fewer_samples(void **state)
{
    (void)state;
    MerKnob knobs[KNOBS];
    fill_knobs(knobs, 7); /* a little smaller; the best point is there too */
    Toy *toy = open_hidden("marl", 400, 1);
    toy_run(toy, 400, hidden);
    double best = toy->best;
    assert_true(toy->best_at > 24);
    toy_next_task(toy, KNOBS, knobs, 400);
    toy_run(toy, 24, hidden);
    assert_true(toy->best <= best);
    toy_close(toy);
    toy = open_hidden("marl:transfer=0", 400, 1);
    toy_run(toy, 400, hidden);
    toy_next_task(toy, KNOBS, knobs, 400);
    toy_run(toy, 24, hidden);
    assert_true(toy->best > best); /* nothing was handed on */
    toy_close(toy);
}

static void test_the_same_seed_asks_for_the_same_points(void **state)
{
    (void)state;
    uint64_t paths[3];
    for (int i = 0; i < 3; i++) {
        Toy *toy = open_hidden("marl:samples=100", 500, i < 2 ? 7 : 8);
        toy_run(toy, 500, hidden);
        paths[i] = toy->path;
        toy_close(toy);
    }
    assert_true(paths[0] == paths[1]);
    assert_true(paths[0] != paths[2]);
}

/* Three at a time, four lanes: steps end in the middle of an ask. */
static void test_a_capacity_below_the_lanes_learns_too_and_one_above_changes_nothing(void **state)
{
    (void)state;
    uint64_t paths[3];
    for (int i = 0; i < 3; i++) {
        Toy *toy = open_hidden("marl:samples=100,lanes=4", 500, 1);
        toy->capacity = (int[]){16, 3, 4}[i];
        toy_run(toy, 400, hidden);
        paths[i] = toy->path;
        assert_true(toy->best < 20);
        toy_close(toy);
    }
    assert_true(paths[0] == paths[2]);
}

static void test_budgets_below_the_lanes_are_spent(void **state)
{
    (void)state;
    for (int64_t budget = 1; budget < 6; budget++) {
        Toy *toy = open_hidden("marl:lanes=8", budget, 1);
        toy_run(toy, budget, hidden);
        assert_int_equal(toy->trials, budget);
        toy_close(toy);
    }
}

static double by_first(const MerIndex *p, int64_t trial)
{
    (void)trial;
    return 1 + abs(p[0] - 5);
}

static double constant(const MerIndex *p, int64_t trial)
{
    (void)p, (void)trial;
    return 3;
}

static void test_one_knob_is_enough(void **state)
{
    (void)state;
    MerKnob knob = {.name = "only", .kind = MER_KNOB_ORDERED, .choices = 9};
    Toy    *toy = toy_open_space("marl", 100, 1, &knob, MER_OK, NULL);
    toy_run(toy, 100, by_first);
    assert_true(toy->best == 1);
    toy_close(toy);
}

static void test_no_knobs_and_knobs_with_one_choice_are_no_trouble(void **state)
{
    (void)state;
    MerKnob knobs[TOY_KNOBS];
    toy_fill_knobs(knobs, 1);
    for (int count = 0; count <= TOY_KNOBS; count += 2) {
        static const char *const references[] = {"marl", "marl:preset=paper", "marl:agents=all"};
        for (int i = 0; i < 3; i++) {
            Toy *toy = toy_open_space(references[i], 60, count, knobs, MER_OK, NULL);
            toy_run(toy, 60, constant);
            assert_true(toy->best == 3);
            Toy *other = toy_open_space(references[i], 60, count, knobs, MER_OK, NULL);
            assert_int_equal(toy_hand_on(toy, other, MER_KEEP_ALL, NULL), MER_OK);
            toy_run(other, 20, constant);
            assert_int_equal(toy_hand_on(toy, other, MER_KEEP_POLICY, NULL), MER_OK);
            toy_run(other, 20, constant);
            toy_close(toy);
            toy_close(other);
        }
    }
    knobs[0].choices = 6; /* one that can be chosen among others that cannot */
    Toy *toy = toy_open_space("marl", 60, TOY_KNOBS, knobs, MER_OK, NULL);
    toy_run(toy, 60, by_first);
    assert_true(toy->best == 1);
    toy_close(toy);
}

static double far_out(const MerIndex *p, int64_t trial)
{
    (void)trial;
    return 1 + abs(p[0] - 777) + abs(p[1] - 123);
}

/* Heads choose among ranges; moves within a range still find single choices. */
static void test_knobs_with_many_choices_are_searched_by_range(void **state)
{
    (void)state;
    MerKnob knobs[2] = {{.name = "x", .kind = MER_KNOB_ORDERED, .choices = 1000},
                        {.name = "y", .kind = MER_KNOB_CATEGORY, .choices = 200}};
    Toy    *toy = toy_open_space("marl", 2000, 2, knobs, MER_OK, NULL);
    toy_run(toy, 2000, far_out);
    if (!(toy->best < 15)) {
        fail_msg("best %g", toy->best);
    }
    toy_close(toy);
}

/* Signs, zeros and sizes that break logarithms and sums. */
static double wild(const MerIndex *p, int64_t trial)
{
    static const double values[] = {0, -1e300, 1e300, 1e-300, -1e-300, INFINITY, 5, -7};
    return values[(p[0] + 3 * p[1] + 5 * p[2] + trial) % 8];
}

/* A NaN in any agent's network would show in the entropy of all. */
static void expect_finite(const Toy *toy)
{
    const MerMarl *marl = toy->optimizer;
    assert_true(marl->agents.team->entropy >= 0);
    for (int i = 0; i < marl->options.agents.lanes && marl->turns.lanes != NULL; i++) {
        assert_false(isnan(marl->turns.lanes[i].energy));
    }
}

static void test_wild_scores_leave_no_nan(void **state)
{
    (void)state;
    static const char *const references[] = {"marl:samples=200", "marl:preset=paper,samples=200"};
    for (int i = 0; i < 2; i++) {
        Toy *toy = open_hidden(references[i], 1000, 1);
        toy_run(toy, 1000, wild);
        expect_finite(toy);
        toy_close(toy);
    }
}

static void test_a_space_without_feasible_points_is_searched_to_the_end(void **state)
{
    (void)state;
    Toy *toy = open_hidden("marl:samples=200", 1200, 1);
    toy_run(toy, 1200, toy_never);
    assert_true(toy->best == INFINITY);
    assert_non_null(toy_find_view(toy, "sparse_reward"));
    expect_finite(toy);
    toy_next_task(toy, KNOBS, toy->knobs, 100); /* and nothing bad is handed on */
    toy_run(toy, 100, hidden);
    assert_true(toy->best < INFINITY);
    toy_close(toy);
}

static void test_a_policy_brings_clusters_and_best_points(void **state)
{
    (void)state;
    Toy *one = open_hidden("marl:samples=200", 600, 1), *other = open_hidden("marl", 600, 2);
    toy_run(one, 600, hidden);
    assert_int_equal(toy_hand_on(one, other, MER_KEEP_POLICY, NULL), MER_OK);
    const char *before = strstr(toy_find_view(one, "partition"), "\"groups\""),
               *after = toy_find_view(other, "partition");
    mer_test_contains(after, "\"name\":\"samples for clustering\",\"value\":0,");
    assert_memory_equal(before, strstr(after, "\"groups\""), strcspn(before, "]"));
    toy_run(other, 1, hidden);
    assert_true(other->best == one->best);
    toy_run(other, 599, hidden);
    toy_close(one);
    toy_close(other);
}

static void test_a_policy_moves_to_other_sizes_and_other_knobs(void **state)
{
    (void)state;
    MerKnob knobs[KNOBS];
    Toy    *one = open_hidden("marl:samples=200", 600, 1);
    toy_run(one, 600, hidden);
    fill_knobs(knobs, 7);
    Toy *other = toy_open_space("marl", 600, KNOBS, knobs, MER_OK, NULL);
    assert_int_equal(toy_hand_on(one, other, MER_KEEP_POLICY, NULL), MER_OK);
    assert_non_null(toy_find_view(other, "partition"));
    toy_run(other, 100, hidden);
    assert_true(other->best <= one->best);
    toy_close(other);
    knobs[2].name = "z"; /* the clusters do not hold, the points still help */
    other = toy_open_space("marl:samples=60", 600, KNOBS, knobs, MER_OK, NULL);
    assert_int_equal(toy_hand_on(one, other, MER_KEEP_POLICY, NULL), MER_OK);
    assert_null(toy_find_view(other, "partition"));
    toy_run(other, 200, hidden);
    mer_test_contains(toy_find_view(other, "partition"),
                      "\"name\":\"samples for clustering\",\"value\":60,");
    toy_close(other);
    other = toy_open_space("marl:width=16", 600, 3, knobs, MER_OK, NULL);
    assert_int_equal(toy_hand_on(one, other, MER_KEEP_POLICY, NULL), MER_OK);
    toy_run(other, 50, by_first);
    toy_close(other);
    toy_close(one);
}

static void test_policies_that_do_not_fit_or_are_cut_off_are_refused(void **state)
{
    (void)state;
    MerError error = {0};
    Toy     *one = open_hidden("marl:samples=50", 100, 1);
    Toy     *joint = open_hidden("marl:preset=paper,samples=50", 100, 1);
    toy_run(one, 100, hidden);
    assert_int_equal(toy_hand_on(one, joint, MER_KEEP_POLICY, &error), MER_INVALID);
    mer_test_contains(error.message, "was saved with form=turns, expected form=joint");
    FILE *whole = tmpfile();
    assert_int_equal(one->type->save(one->optimizer, MER_KEEP_POLICY, whole, NULL), MER_OK);
    long  size = ftell(whole);
    char *bytes = malloc((size_t)size);
    rewind(whole);
    assert_int_equal(fread(bytes, 1, (size_t)size, whole), size);
    fclose(whole);
    for (long length = 0; length < size; length += 1 + size / 60) {
        Toy  *other = open_hidden("marl:samples=50", 100, 1);
        FILE *part = tmpfile();
        fwrite(bytes, 1, (size_t)length, part);
        rewind(part);
        assert_int_equal(other->type->load(other->optimizer, MER_KEEP_POLICY, part, NULL),
                         MER_INVALID);
        fclose(part);
        toy_close(other);
    }
    free(bytes);
    toy_close(one);
    toy_close(joint);
}

/* Saved in the second task: what the first one left goes along. */
static void test_states_of_later_tasks_go_on_alike(void **state)
{
    (void)state;
    MerKnob knobs[KNOBS];
    Toy    *one = open_hidden("marl:samples=60", 300, 1);
    fill_knobs(knobs, 7);
    toy_run(one, 300, hidden);
    toy_next_task(one, KNOBS, knobs, 300);
    toy_run(one, 10, hidden); /* some guesses are left */
    Toy *other = toy_open_space("marl:samples=60", 300, KNOBS, knobs, MER_OK, NULL);
    assert_int_equal(toy_hand_on(one, other, MER_KEEP_ALL, NULL), MER_OK);
    other->rng = one->rng;
    other->path = one->path;
    toy_run(one, 290, hidden);
    toy_run(other, 290, hidden);
    assert_true(one->path == other->path);
    fill_knobs(knobs, 8);
    toy_next_task(one, KNOBS, knobs, 200);
    toy_next_task(other, KNOBS, knobs, 200);
    toy_run(one, 200, hidden);
    toy_run(other, 200, hidden);
    assert_true(one->path == other->path);
    toy_close(one);
    toy_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_optimum_is_found_in_few_samples),
        cmocka_unit_test(test_points_are_hardly_ever_asked_for_twice),
        cmocka_unit_test(test_a_space_that_is_used_up_goes_on),
        cmocka_unit_test(test_a_like_task_is_as_good_in_fewer_samples),
        cmocka_unit_test(test_the_same_seed_asks_for_the_same_points),
        cmocka_unit_test(test_a_capacity_below_the_lanes_learns_too_and_one_above_changes_nothing),
        cmocka_unit_test(test_budgets_below_the_lanes_are_spent),
        cmocka_unit_test(test_one_knob_is_enough),
        cmocka_unit_test(test_no_knobs_and_knobs_with_one_choice_are_no_trouble),
        cmocka_unit_test(test_knobs_with_many_choices_are_searched_by_range),
        cmocka_unit_test(test_wild_scores_leave_no_nan),
        cmocka_unit_test(test_a_space_without_feasible_points_is_searched_to_the_end),
        cmocka_unit_test(test_a_policy_brings_clusters_and_best_points),
        cmocka_unit_test(test_a_policy_moves_to_other_sizes_and_other_knobs),
        cmocka_unit_test(test_policies_that_do_not_fit_or_are_cut_off_are_refused),
        cmocka_unit_test(test_states_of_later_tasks_go_on_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
