/* Tuning an optimizer: the space of its options, a search that finds what is better, and the same answer for the same
 * seed on any number of threads. */
#include "run_support.h"
#include "support.h"

#include "run/experiment/tuning.h"

#include <math.h>

static const MerKnob *find_knob(const MerSpace *space, const char *name)
{
    for (int k = 0; k < space->knob_count; k++) {
        if (strcmp(space->knobs[k].name, name) == 0) {
            return &space->knobs[k];
        }
    }
    return NULL;
}

static void test_numbers_of_magma_become_knobs_with_their_defaults(void **state)
{
    (void)state;
    MerArena                *arena = mer_arena_new();
    MerSpace                 space;
    MerIndex                *defaults;
    MerError                 error = {0};
    const MerOptimizerClass *magma = mer_optimizer_find("magma", NULL);
    assert_int_equal(mer_tune_space(magma, NULL, &space, &defaults, arena, &error), MER_OK);
    const MerKnob *population = find_knob(&space, "population");
    const MerKnob *mutation = find_knob(&space, "mutation");
    assert_non_null(population);
    assert_non_null(mutation);
    assert_null(find_knob(&space, "rules")); /* not a number */
    assert_true(population->values[defaults[population - space.knobs]] == 100);
    assert_true(mutation->values[defaults[mutation - space.knobs]] == 0.05);
    assert_true(population->values[0] == 13 && population->values[population->choices - 1] == 800);
    for (int k = 0; k < space.knob_count; k++) {
        const MerKnob *knob = &space.knobs[k];
        assert_int_equal(knob->role, MER_ROLE_SETTING);
        for (int i = 1; i < knob->choices; i++) {
            assert_true(knob->values[i] > knob->values[i - 1]);
        }
    }
    mer_arena_free(arena);
}

static void test_options_that_are_given_are_not_tuned(void **state)
{
    (void)state;
    MerArena    *arena = mer_arena_new();
    MerSpace     space;
    MerIndex    *defaults;
    MerError     error = {0};
    MerReference fixed;
    assert_int_equal(mer_reference_parse("magma:mutation=0.2,rules=shipped", &fixed, arena, &error),
                     MER_OK);
    assert_int_equal(
        mer_tune_space(mer_optimizer_find("magma", NULL), &fixed, &space, &defaults, arena, &error),
        MER_OK);
    assert_null(find_knob(&space, "mutation"));
    assert_non_null(find_knob(&space, "elite"));
    assert_int_equal(
        mer_tune_space(mer_optimizer_find("random", NULL), NULL, &space, &defaults, arena, &error),
        MER_INVALID);
    mer_test_contains(error.message, "no numbers left to tune");
    mer_arena_free(arena);
}

static MerRunSpec group_spec(const char *group, MerArena *arena)
{
    const char *problem =
        mer_arena_format(arena, "schedule:group_size=30,bandwidth=100000,select=%s", group);
    MerRunSpec spec =
        spec_from(problem, "bandwidth", NULL, graph_named("synthetic:120:5", arena), "s2", arena);
    spec.budget = 300;
    return spec;
}

static MerTuneResult tune(int threads, MerArena *arena)
{
    MerRunSpec   *train = MER_NEW(arena, MerRunSpec);
    MerRunSpec   *test = MER_NEW(arena, MerRunSpec);
    MerReference *fixed = MER_NEW(arena, MerReference);
    MerTuneResult result;
    MerError      error = {0};
    *train = group_spec("1-2", arena);
    *test = group_spec("3-4", arena);
    assert_int_equal(
        mer_reference_parse("magma:exchange=0,offload=0,swap_units=0", fixed, arena, &error),
        MER_OK);
    MerTuneSpec spec = {.train = train,
                        .train_count = 1,
                        .test = test,
                        .test_count = 1,
                        .optimizer = mer_optimizer_find("magma", NULL),
                        .fixed = fixed,
                        .searcher = mer_optimizer_find("bayes", NULL),
                        .budget = 20,
                        .seeds = 2,
                        .seed = 3,
                        .threads = threads};
    if (mer_tune(&spec, arena, &result, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return result;
}

static void test_a_search_finds_a_setting_that_beats_the_defaults_in_training(void **state)
{
    (void)state;
    MerArena     *arena = mer_arena_new();
    MerTuneResult result = tune(2, arena);
    print_message("%s\ntrain %.4f test %.4f\n", result.reference, result.train.ratio,
                  result.test.ratio);
    assert_int_equal(result.trial_count, 21);
    assert_true(result.trials[0].ratio == 1 && *result.trials[0].setting == '\0');
    assert_true(result.trials[result.best].ratio < 1);
    assert_int_equal(result.row_count, 4);
    assert_true(!result.rows[0].is_test && result.rows[3].is_test);
    assert_int_equal(result.train.tasks, 2);
    double logs = log(result.rows[2].ratio) + log(result.rows[3].ratio);
    assert_true(fabs(result.test.ratio - exp(logs / 2)) < 1e-12);
    assert_int_equal(result.test.better, (result.rows[2].ratio < 1) + (result.rows[3].ratio < 1));
    mer_test_contains(result.reference, "magma:exchange=0,offload=0,swap_units=0,");
    mer_arena_free(arena);
}

static void test_the_same_seed_tunes_alike_on_one_and_two_threads(void **state)
{
    (void)state;
    MerArena     *arena = mer_arena_new();
    MerTuneResult one = tune(1, arena);
    MerTuneResult two = tune(2, arena);
    assert_string_equal(one.reference, two.reference);
    for (int t = 0; t < one.trial_count; t++) {
        assert_string_equal(one.trials[t].setting, two.trials[t].setting);
        assert_true(one.trials[t].ratio == two.trials[t].ratio);
    }
    assert_true(one.test.ratio == two.test.ratio);
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_of_magma_become_knobs_with_their_defaults),
        cmocka_unit_test(test_options_that_are_given_are_not_tuned),
        cmocka_unit_test(test_a_search_finds_a_setting_that_beats_the_defaults_in_training),
        cmocka_unit_test(test_the_same_seed_tunes_alike_on_one_and_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
