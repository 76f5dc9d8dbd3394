/* What the tuners with a learned cost model have in common, and what tells them apart. */
#include "base/stats.h"
#include "tiling_landscape.h"
#include "toy_support.h"

#include "opt/tuner.h"
#include "opt/visited.h"

static const char *const tuners[] = {"autotvm", "chameleon:steps=20", "dcoc:steps=20",
                                     "random:unique=true", "genetic:preset=autotvm"};
enum { TUNERS = sizeof tuners / sizeof tuners[0], MOST = 64 };

typedef struct Journey {
    int      asked, illegal, repeated, reached; /* points until within 1 % of `optimum` */
    uint64_t first;                             /* hash of the first 64 */
    double   best;
} Journey;

static void *open_on(const char *text, const MerSearch *search, const MerOptimizerClass **type)
{
    MerReference reference;
    assert_int_equal(mer_reference_parse(text, &reference, search->arena, NULL), MER_OK);
    *type = mer_optimizer_find(reference.name, NULL);
    assert_non_null(*type);
    void *options = mer_arena_alloc(search->arena, (*type)->options_size + 1);
    assert_int_equal(mer_options_fill((*type)->options, (*type)->presets, options, &reference,
                                      search->arena, NULL),
                     MER_OK);
    void *state = mer_arena_alloc(search->arena, (*type)->state_size + 1);
    assert_int_equal((*type)->open(state, search, options, NULL), MER_OK);
    return state;
}

static Journey travel(const Tiling *t, const char *tuner, int budget, uint64_t seed, double optimum)
{
    MerArena                *arena = mer_arena_new();
    MerRng                   rng = mer_rng_make(seed, 0);
    MerLegality              legality = {t, tiling_is_legal};
    MerSearch                search = {.space = &t->space,
                                       .task_count = 1,
                                       .objective = MER_METRIC_COUNT,
                                       .budget = budget,
                                       .rng = &rng,
                                       .arena = arena,
                                       .legality = &legality};
    const MerOptimizerClass *type;
    MerIndex                 points[MOST][TILING_KNOBS];
    MerProposal              proposals[MOST];
    MerTrial                 trials[MOST];
    MerVisited               visited = {0};
    Journey                  journey = {.reached = budget, .best = INFINITY};
    void                    *state = open_on(tuner, &search, &type);
    while (journey.asked < budget) {
        for (int i = 0; i < MOST; i++) {
            proposals[i] = (MerProposal){points[i], INFINITY, -1};
        }
        int left = budget - journey.asked, count;
        count = type->ask(state, proposals, left < MOST ? left : MOST);
        if (count == 0) {
            break;
        }
        for (int i = 0; i < count; i++) {
            double score = tiling_seconds(t, points[i]);
            trials[i] = (MerTrial){.index = journey.asked, .point = points[i], .score = score};
            journey.illegal += score == INFINITY;
            journey.repeated += mer_visited_add(&visited, points[i], t->space.knob_count);
            for (int k = 0; k < t->space.knob_count && journey.asked < 64; k++) {
                journey.first = (journey.first ^ (uint64_t)points[i][k]) * 1099511628211u + 1;
            }
            journey.best = fmin(journey.best, score);
            journey.asked++;
            if (journey.best <= 1.01 * optimum && journey.reached == budget) {
                journey.reached = journey.asked;
            }
        }
        type->tell(state, trials, count);
    }
    if (type->close) {
        type->close(state);
    }
    mer_visited_clear(&visited);
    mer_arena_free(arena);
    return journey;
}

/* Best score and number of legal points. */
static double enumerate(const Tiling *t, int *legal)
{
    MerIndex point[TILING_KNOBS] = {0};
    double   best = INFINITY;
    *legal = 0;
    for (int k = 0; k < t->space.knob_count;) {
        double score = tiling_seconds(t, point);
        *legal += score < INFINITY;
        best = fmin(best, score);
        for (k = 0; k < t->space.knob_count && ++point[k] == t->knobs[k].choices; k++) {
            point[k] = 0;
        }
    }
    return best;
}

static void all_draw_the_same_first_points(void **state)
{
    (void)state;
    Tiling t;
    tiling_make(&t, tiling_layers[0], false);
    uint64_t first = travel(&t, tuners[0], 128, 5, 0).first;
    for (int i = 1; i < TUNERS; i++) {
        assert_true(travel(&t, tuners[i], 128, 5, 0).first == first);
    }
    assert_true(travel(&t, tuners[0], 128, 6, 0).first != first);
}

/* A part of 576 points is legal: every one of it is asked for once, and then it is over. */
static void a_small_space_is_used_up(void **state)
{
    (void)state;
    Tiling t;
    int    legal;
    tiling_make(&t, (TilingLayer){7, 512, 512, 3, 1}, false);
    double best = enumerate(&t, &legal);
    for (int i = 0; i < TUNERS; i++) {
        Journey journey = travel(&t, tuners[i], 1000, 2, best);
        if (journey.asked != legal || journey.repeated != 0 || journey.illegal != 0) {
            fail_msg("%s: %d of %d points, %d twice, %d illegal", tuners[i], journey.asked, legal,
                     journey.repeated, journey.illegal);
        }
        assert_true(journey.best == best);
    }
}

/* Until within 1 % of the optimum, on layers that are hard for random points. */
static void dcoc_needs_half_of_what_autotvm_needs(void **state)
{
    (void)state;
    int rival = 0, ours = 0, legal;
    for (int l = 0; l < 3; l++) {
        Tiling t;
        tiling_make(&t, tiling_layers[(int[]){0, 2, 7}[l]], false);
        double best = enumerate(&t, &legal);
        for (uint64_t seed = 1; seed <= 3; seed++) {
            rival += travel(&t, "autotvm", 256, seed, best).reached - 64;
            ours += travel(&t, "dcoc", 256, seed, best).reached - 64;
        }
    }
    if (2 * ours > rival) {
        fail_msg("dcoc %d, autotvm %d measurements after the first", ours, rival);
    }
}

static void rank_correlation_knows_ties(void **state)
{
    (void)state;
    const float a[] = {1, 2, 3, 4}, b[] = {10, 20, 20, 40}, c[] = {4, 3, 2, 1}, d[] = {7, 7, 7, 7};
    assert_true(fabs(mer_rank_correlation(4, a, c) + 1) < 1e-12);
    /* ranks 0 1.5 1.5 3 against 0 1 2 3: 4.5 / sqrt(5 * 4.5) */
    assert_true(fabs(mer_rank_correlation(4, a, b) - 4.5 / sqrt(22.5)) < 1e-12);
    assert_true(isnan(mer_rank_correlation(4, a, d)));
}

static void top_points_are_distinct_and_sorted(void **state)
{
    (void)state;
    MerArena      *arena = mer_arena_new();
    MerTop         top = mer_top_make(3, 1, arena);
    const MerIndex points[] = {5, 6, 5, 7, 8, 9};
    const float    values[] = {1, 2, 1, 0, 3, 2.5f};
    bool           is_in[] = {true, true, false, true, true, true};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(mer_top_offer(&top, &points[i], values[i]), is_in[i]);
    }
    assert_false(mer_top_offer(&top, &points[0], 1));
    mer_top_sort(&top);
    assert_int_equal(top.points[0], 8);
    assert_int_equal(top.points[1], 9);
    assert_int_equal(top.points[2], 6);
    mer_arena_free(arena);
}

static const char *const saved[] = {"autotvm:plan_size=16,steps=50", "chameleon:steps=10",
                                    "dcoc:steps=10", "dcoc:steps=10,critic=none,agents=all"};
enum { SAVED = sizeof saved / sizeof saved[0] };

/* Saved between two asks and loaded into another, a search goes on as if nothing had been. */
static void a_saved_search_goes_on(void **state)
{
    (void)state;
    for (int i = 0; i < SAVED; i++) {
        for (int before = 40; before < 130; before += 43) {
            Toy *one = toy_open(saved[i], 1000, MER_OK, NULL);
            Toy *two = toy_open(saved[i], 1000, MER_OK, NULL);
            toy_run(one, before, toy_coupled);
            assert_int_equal(toy_hand_on(one, two, MER_KEEP_ALL, NULL), MER_OK);
            two->rng = one->rng; /* the run keeps that */
            one->path = two->path = 0;
            two->trials = one->trials;
            toy_run(one, 80, toy_coupled);
            toy_run(two, 80, toy_coupled);
            if (one->path != two->path) {
                fail_msg("%s goes another way after %d points", saved[i], before);
            }
            toy_close(one);
            toy_close(two);
        }
    }
}

static MerStatus load_cut(const Toy *from, Toy *to, MerKeep what, long cut, MerError *error)
{
    FILE *file = tmpfile(), *part = tmpfile();
    assert_int_equal(from->type->save(from->optimizer, what, file, NULL), MER_OK);
    long size = ftell(file);
    rewind(file);
    for (long i = 0; i < size - cut; i++) {
        fputc(fgetc(file), part);
    }
    rewind(part);
    MerStatus status = to->type->load(to->optimizer, what, part, error);
    fclose(part);
    fclose(file);
    return status;
}

static void a_cut_state_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < SAVED; i++) {
        Toy *one = toy_open(saved[i], 1000, MER_OK, NULL);
        toy_run(one, 100, toy_coupled);
        for (int what = 0; what < 2; what++) {
            Toy     *two = toy_open(saved[i], 1000, MER_OK, NULL);
            MerError error = {0};
            assert_int_not_equal(load_cut(one, two, (MerKeep)what, 30, &error), MER_OK);
            assert_true(strlen(error.message) > 0);
            toy_close(two);
        }
        toy_close(one);
    }
}

/* Another number of choices is no obstacle, other knobs are. */
static void a_policy_walks_elsewhere_without_learning(void **state)
{
    (void)state;
    MerKnob  knobs[TOY_KNOBS];
    MerError error = {0};
    Toy     *one = toy_open("dcoc:steps=10", 1000, MER_OK, NULL);
    toy_run(one, 120, toy_coupled);
    toy_fill_knobs(knobs, 12);
    Toy *two = toy_open_space("dcoc:steps=10,updates=false", 1000, TOY_KNOBS, knobs, MER_OK, NULL);
    assert_int_equal(toy_hand_on(one, two, MER_KEEP_POLICY, &error), MER_OK);
    toy_run(two, 120, toy_coupled);
    assert_true(two->best == 1);
    Toy *three = toy_open_space("dcoc:steps=10", 1000, TOY_KNOBS - 1, knobs, MER_OK, NULL);
    assert_int_equal(toy_hand_on(one, three, MER_KEEP_POLICY, &error), MER_INVALID);
    assert_non_null(strstr(error.message, "4 knobs, expected 3"));
    toy_close(one);
    toy_close(two);
    toy_close(three);
}

/* 512 records make a base model for the next task, which then goes another way than without. */
static void autotvm_starts_from_earlier_tasks(void **state)
{
    (void)state;
    static const char *const forms[] = {"autotvm:steps=50", "autotvm:steps=50,transfer=false"};
    uint64_t                 first[2], later[2];
    for (int i = 0; i < 2; i++) {
        Toy *toy = toy_open(forms[i], 1000, MER_OK, NULL);
        toy_run(toy, 512, toy_coupled);
        toy->rng = mer_rng_make(9, 0);
        toy->path = 0;
        toy_next_task(toy, TOY_KNOBS, toy->knobs, 1000);
        toy_run(toy, 64, toy_coupled);
        first[i] = toy->path;
        toy_run(toy, 64, toy_coupled);
        later[i] = toy->path;
        toy_close(toy);
    }
    assert_true(first[0] == first[1]);
    assert_true(later[0] != later[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_draw_the_same_first_points),
        cmocka_unit_test(a_small_space_is_used_up),
        cmocka_unit_test(dcoc_needs_half_of_what_autotvm_needs),
        cmocka_unit_test(rank_correlation_knows_ties),
        cmocka_unit_test(top_points_are_distinct_and_sorted),
        cmocka_unit_test(a_saved_search_goes_on),
        cmocka_unit_test(a_cut_state_is_refused),
        cmocka_unit_test(a_policy_walks_elsewhere_without_learning),
        cmocka_unit_test(autotvm_starts_from_earlier_tasks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
