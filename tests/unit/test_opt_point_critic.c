/* The common critic: it learns what makes a point good, keeps that for like tasks, and stays quiet
 * when there is nothing to learn. */
#include "opt/point_critic.h"
#include "support.h"

#include <math.h>

enum { KNOBS = 4, CHOICES = 8, CANDIDATES = 16 };

typedef struct Fixture {
    MerKnob  knobs[KNOBS];
    MerSpace space;
    MerRng   rng;
} Fixture;

static void begin(Fixture *f, const char *name)
{
    for (int k = 0; k < KNOBS; k++) {
        f->knobs[k] = (MerKnob){
            .name = name, .kind = k % 2 ? MER_KNOB_ORDERED : MER_KNOB_CATEGORY, .choices = CHOICES};
    }
    f->space = (MerSpace){.knob_count = KNOBS, .knobs = f->knobs};
    f->rng = mer_rng_make(1, 0);
}

/* Best 1 at {3, 0, 3, 0}; points of the last choices are infeasible. */
static double score_of(const MerIndex *p)
{
    bool is_infeasible = p[0] == CHOICES - 1;
    return is_infeasible ? INFINITY : exp((p[0] != 3) + (p[2] != 3) + 0.3 * p[1] + 0.3 * p[3]);
}

static double never(const MerIndex *p)
{
    (void)p;
    return INFINITY;
}

static void see(MerPointCritic *critic, Fixture *f, int count, double (*score)(const MerIndex *))
{
    for (int i = 0; i < count; i++) {
        MerIndex point[KNOBS];
        mer_space_sample(&f->space, &f->rng, point);
        mer_point_critic_see(critic,
                             &(MerTrial){.index = i, .point = point, .score = score(point)});
    }
}

/* The mean rank, 0 .. 1, of what it chooses among random candidates; chance gives 0.5. */
static double mean_rank(MerPointCritic *critic, Fixture *f)
{
    MerIndex points[CANDIDATES * KNOBS];
    int      worse = 0, better = 0;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < CANDIDATES; i++) {
            mer_space_sample(&f->space, &f->rng, points + i * KNOBS);
        }
        int best = mer_point_critic_choose(critic, CANDIDATES, points);
        assert_in_range(best, 0, CANDIDATES - 1);
        for (int i = 0; i < CANDIDATES; i++) {
            worse += score_of(points + i * KNOBS) > score_of(points + best * KNOBS);
            better += score_of(points + i * KNOBS) < score_of(points + best * KNOBS);
        }
    }
    return (double)better / (better + worse);
}

static void test_it_learns_to_choose_well(void **state)
{
    (void)state;
    Fixture         f;
    MerPointCritic *critic = mer_point_critic_new(64, 3e-3);
    begin(&f, "knob");
    mer_point_critic_begin(critic, &f.space, &f.rng);
    assert_false(mer_point_critic_is_ready(critic));
    see(critic, &f, 200, score_of);
    assert_true(mer_point_critic_is_ready(critic));
    mer_point_critic_train(critic, 200, &f.rng);
    double rank = mean_rank(critic, &f);
    if (!(rank < 0.1)) {
        fail_msg("the chosen point lies at %.2f of the candidates, expected below 0.1", rank);
    }
    mer_point_critic_free(critic);
}

static void test_what_it_learned_stays_for_a_like_task(void **state)
{
    (void)state;
    Fixture         f;
    MerPointCritic *critic = mer_point_critic_new(64, 3e-3);
    begin(&f, "knob");
    mer_point_critic_begin(critic, &f.space, &f.rng);
    see(critic, &f, 200, score_of);
    mer_point_critic_train(critic, 200, &f.rng);
    f.knobs[1].choices = 6; /* an ordered knob of another size is the same knob */
    mer_point_critic_begin(critic, &f.space, &f.rng);
    assert_false(mer_point_critic_is_ready(critic)); /* nothing is known to be feasible here */
    see(critic, &f, 4, score_of);
    assert_true(mer_point_critic_is_ready(critic));
    assert_true(mean_rank(critic, &f) < 0.1);
    mer_point_critic_free(critic);
}

static void test_it_begins_anew_when_the_knobs_differ(void **state)
{
    (void)state;
    Fixture         f, other;
    MerPointCritic *critic = mer_point_critic_new(64, 3e-3);
    begin(&f, "knob");
    begin(&other, "another");
    mer_point_critic_begin(critic, &f.space, &f.rng);
    see(critic, &f, 200, score_of);
    mer_point_critic_train(critic, 200, &f.rng);
    mer_point_critic_begin(critic, &other.space, &f.rng);
    see(critic, &other, 4, score_of);
    assert_false(mer_point_critic_is_ready(critic)); /* what it saw before is gone */
    see(critic, &other, 20, score_of);
    assert_true(mer_point_critic_is_ready(critic));
    mer_point_critic_free(critic);
}

static void test_nothing_feasible_does_no_harm(void **state)
{
    (void)state;
    Fixture         f;
    MerPointCritic *critic = mer_point_critic_new(64, 3e-3);
    begin(&f, "knob");
    mer_point_critic_begin(critic, &f.space, &f.rng);
    mer_point_critic_train(critic, 3, &f.rng); /* nothing seen at all */
    see(critic, &f, 300, never);
    mer_point_critic_train(critic, 50, &f.rng);
    assert_false(mer_point_critic_is_ready(critic));
    double rank = mean_rank(critic, &f);
    assert_true(rank >= 0 && rank <= 1);
    mer_point_critic_free(critic);
}

/* More points than it remembers: the last ones count. */
static void test_old_points_make_capacity(void **state)
{
    (void)state;
    Fixture         f;
    MerPointCritic *critic = mer_point_critic_new(16, 3e-3);
    begin(&f, "knob");
    mer_point_critic_begin(critic, &f.space, &f.rng);
    see(critic, &f, 20000, score_of);
    mer_point_critic_train(critic, 200, &f.rng);
    assert_true(mean_rank(critic, &f) < 0.15);
    mer_point_critic_free(critic);
}

static void test_a_saved_critic_chooses_and_learns_alike(void **state)
{
    (void)state;
    Fixture         f;
    MerError        error = {0};
    MerPointCritic *critic = mer_point_critic_new(32, 3e-3), *copy = mer_point_critic_new(32, 3e-3);
    FILE           *file = tmpfile();
    begin(&f, "knob");
    mer_point_critic_begin(critic, &f.space, &f.rng);
    see(critic, &f, 200, score_of);
    mer_point_critic_train(critic, 100, &f.rng);
    assert_int_equal(mer_point_critic_keep(critic, &(MerStream){file, true, false}, NULL), MER_OK);
    long size = ftell(file);
    rewind(file);
    assert_int_equal(mer_point_critic_keep(copy, &(MerStream){file, false, false}, NULL), MER_OK);
    assert_int_equal(mer_point_critic_resume(copy, &f.space, NULL), MER_OK);
    Fixture twin = f;
    twin.space.knobs = twin.knobs;
    mer_point_critic_train(critic, 20, &f.rng);
    mer_point_critic_train(copy, 20, &twin.rng);
    assert_true(mean_rank(critic, &f) == mean_rank(copy, &twin));
    twin.knobs[0].choices++;
    assert_int_equal(mer_point_critic_resume(copy, &twin.space, &error), MER_INVALID);
    mer_test_contains(error.message, "another space");
    for (long cut = 1; cut < size; cut += 1 + size / 40) {
        assert_int_equal(ftruncate(fileno(file), size - cut), 0);
        rewind(file);
        assert_int_equal(mer_point_critic_keep(copy, &(MerStream){file, false, false}, NULL),
                         MER_INVALID);
    }
    fclose(file);
    mer_point_critic_free(critic);
    mer_point_critic_free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_learns_to_choose_well),
        cmocka_unit_test(test_what_it_learned_stays_for_a_like_task),
        cmocka_unit_test(test_it_begins_anew_when_the_knobs_differ),
        cmocka_unit_test(test_nothing_feasible_does_no_harm),
        cmocka_unit_test(test_old_points_make_capacity),
        cmocka_unit_test(test_a_saved_critic_chooses_and_learns_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
