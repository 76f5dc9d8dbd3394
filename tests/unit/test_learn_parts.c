/* Parts of learners with answers that can be calculated by hand. */
#include "learn/clustering.h"
#include "learn/heads.h"
#include "learn/returns.h"
#include "learn/reward.h"
#include "space/correlation.h"
#include "support.h"

#include <math.h>

static void test_gae_matches_a_hand_calculation(void **state)
{
    (void)state;
    /* one lane: rewards 1 2, values 0.5 1 2, discount 0.9, lambda 0.5:
     * d1 = 2 + 1.8 - 1 = 2.8, d0 = 1 + 0.9 - 0.5 = 1.4, A0 = 1.4 + 0.45 * 2.8 = 2.66 */
    double rewards[2] = {1, 2}, values[3] = {0.5, 1, 2}, advantages[2], returns[2];
    mer_gae(2, 1, rewards, values, NULL, 0.9, 0.5, advantages, returns);
    assert_float_equal(advantages[1], 2.8, 1e-12);
    assert_float_equal(advantages[0], 2.66, 1e-12);
    assert_float_equal(returns[0], 3.16, 1e-12);
}

static void test_gae_keeps_lanes_apart(void **state)
{
    (void)state;
    double rewards[4] = {1, 10, 2, 20}, values[6] = {0}, advantages[4], returns[4];
    mer_gae(2, 2, rewards, values, NULL, 1, 1, advantages, returns);
    assert_float_equal(advantages[0], 3, 1e-12);
    assert_float_equal(advantages[1], 30, 1e-12);
}

static void test_running_statistics_are_those_of_all_values(void **state)
{
    (void)state;
    MerRunning running = {0};
    double     values[4] = {2, 4, 4, 6};
    assert_float_equal(mer_running_deviation(&running), 1, 0);
    for (int i = 0; i < 4; i++) {
        mer_running_add(&running, values[i]);
    }
    assert_float_equal(running.mean, 4, 1e-12);
    assert_float_equal(mer_running_deviation(&running), sqrt(8.0 / 3), 1e-12);
    assert_float_equal(mer_running_normal(&running, 1e9), 5, 0);
    mer_standardise(values, 4);
    assert_float_equal(values[3], 2 / sqrt(2), 1e-12);
}

static void test_log_reward_is_relative_to_the_first_median(void **state)
{
    (void)state;
    MerReward reward = mer_reward_make(MER_REWARD_LOG, false);
    double    first[4] = {100, INFINITY, 10, 1000}, second[2] = {1, INFINITY}, out[4];
    mer_reward_batch(&reward, first, 4, out);
    assert_float_equal(out[0], 0, 1e-12);
    assert_float_equal(out[2], log(10), 1e-12);
    assert_float_equal(out[3], -log(10), 1e-12);
    assert_float_equal(out[1], -log(10) - 1, 1e-12);
    mer_reward_batch(&reward, second, 2, out);
    assert_float_equal(out[0], log(100), 1e-12);
    assert_float_equal(out[1], -log(10) - 1, 1e-12);
}

static void test_rewards_rise_when_a_maximised_metric_rises(void **state)
{
    (void)state;
    for (int form = 0; form < 2; form++) {
        MerReward reward = mer_reward_make((MerRewardForm)form, true);
        double    scores[3] = {-10, -100, -1}, out[3];
        mer_reward_batch(&reward, scores, 3, out);
        assert_true(out[1] > out[0] && out[0] > out[2]);
    }
}

static void test_inverse_and_archgym_rewards(void **state)
{
    (void)state;
    MerReward inverse = mer_reward_make(MER_REWARD_INVERSE, false);
    MerReward raw = mer_reward_make(MER_REWARD_ARCHGYM, false);
    double    scores[3] = {4, 2, INFINITY}, out[3];
    mer_reward_batch(&inverse, scores, 3, out);
    assert_float_equal(out[0], 0.5, 1e-12);
    assert_float_equal(out[1], 1, 1e-12);
    assert_float_equal(out[2], -0.5, 1e-12);
    mer_reward_batch(&raw, scores, 3, out);
    assert_float_equal(out[0], 0.25, 1e-12);
    assert_float_equal(out[2], -1, 1e-12);
}

static void test_nothing_feasible_still_gives_rewards(void **state)
{
    (void)state;
    MerReward reward = mer_reward_make(MER_REWARD_LOG, true);
    double    scores[2] = {INFINITY, INFINITY}, out[2];
    mer_reward_batch(&reward, scores, 2, out);
    assert_float_equal(out[0], -1, 0);
    scores[0] = 5;
    mer_reward_batch(&reward, scores, 2, out);
    assert_true(out[0] > out[1]);
}

static void test_heads_sample_their_probabilities(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerHeads  heads = mer_heads_make(2, (int[]){3, 1}, arena);
    float     logs[4] = {logf(0.5f), logf(0.2f), logf(0.3f), 0};
    int       seen[3] = {0}, columns[2];
    MerRng    rng = mer_rng_make(4, 0);
    for (int i = 0; i < 20000; i++) {
        mer_heads_sample(&heads, logs, &rng, columns);
        assert_in_range(columns[0], 0, 2);
        assert_int_equal(columns[1], 3);
        seen[columns[0]]++;
    }
    assert_true(abs(seen[0] - 10000) < 300 && abs(seen[1] - 4000) < 300);
    mer_arena_free(arena);
}

static void test_entropy_of_even_heads_is_the_sum_of_logs(void **state)
{
    (void)state;
    MerArena  *arena = mer_arena_new();
    MerTape   *tape = mer_tape_new(&mer_backend_plain, NULL);
    MerHeads   heads = mer_heads_make(2, (int[]){4, 2}, arena);
    float      zeros[12] = {0};
    MerTensor *logits = mer_tape_input(tape, 2, (int[]){2, 6}, zeros);
    MerTensor *entropy = mer_heads_entropy(tape, mer_heads_log_softmax(tape, &heads, logits));
    assert_float_equal(entropy->data[0], log(8), 1e-6);
    mer_tape_free(tape);
    mer_arena_free(arena);
}

enum {
    TOTAL = 9,
    ROWS = 3
}; /* heads of 4, 2 and 3 choices, of which the first and last are ordered */

typedef struct Formed { /* heads of either form with something learned */
    MerArena      *arena;
    MerTape       *tape;
    MerParameters *parameters;
    MerHeads       heads;
    MerTensor     *logits, *table;
} Formed;

static Formed formed_heads(bool is_joint)
{
    Formed f = {.arena = mer_arena_new(),
                .tape = mer_tape_new(&mer_backend_plain, NULL),
                .parameters = mer_parameters_new()};
    MerRng rng = mer_rng_make(6, 0);
    f.heads = mer_heads_make(3, (int[]){4, 2, 3}, f.arena);
    f.logits = mer_parameters_add(f.parameters, "logits", 2, (int[]){ROWS, TOTAL});
    f.table = mer_parameters_add(f.parameters, "table", 2, (int[]){TOTAL, TOTAL});
    mer_tensor_fill_normal(f.logits, 1, &rng);
    mer_tensor_fill_normal(f.table, 1, &rng);
    if (is_joint) {
        mer_heads_join(&f.heads, f.arena);
    } else {
        mer_heads_order(&f.heads, (bool[]){true, false, true}, f.arena);
    }
    return f;
}

static void free_formed(Formed *f)
{
    mer_parameters_free(f->parameters);
    mer_tape_free(f->tape);
    mer_arena_free(f->arena);
}

/* Log-probabilities (ROWS, TOTAL) given the columns. */
static MerTensor *formed_logs(Formed *f, const int *columns)
{
    mer_tape_reset(f->tape);
    MerTensor *logits =
        f->heads.later != NULL
            ? mer_tensor_add(f->tape, f->logits,
                             mer_heads_later(f->tape, &f->heads, f->table, ROWS, columns))
            : mer_heads_share(f->tape, &f->heads, f->logits);
    return mer_heads_log_softmax(f->tape, &f->heads, logits);
}

/* A policy's loss: weighed log-probabilities of choices, less some entropy. */
static MerTensor *formed_loss(Formed *f)
{
    static const int   columns[ROWS * 3] = {0, 5, 8, 3, 4, 6, 1, 5, 7};
    static const float weights[ROWS] = {1, -0.5f, 0.7f};
    MerTensor         *logs = formed_logs(f, columns);
    MerTensor         *chosen = mer_tensor_pick(f->tape, logs, 3, columns);
    MerTensor         *weight = mer_tape_input(f->tape, 2, (int[]){ROWS, 1}, weights);
    MerTensor         *loss = mer_tensor_sum(f->tape, mer_tensor_mul(f->tape, chosen, weight));
    MerTensor         *entropy = mer_heads_entropy(f->tape, logs);
    return mer_tensor_add(f->tape, loss, mer_tensor_affine(f->tape, entropy, -0.3f, 0));
}

static void test_gradients_of_joint_and_ordered_heads_are_finite_differences(void **state)
{
    (void)state;
    for (int is_joint = 0; is_joint < 2; is_joint++) {
        Formed     f = formed_heads(is_joint);
        MerTensor *tensors[2] = {f.logits, f.table};
        int        moved = 0;
        mer_parameters_clear(f.parameters);
        assert_int_equal(mer_tape_backward(f.tape, formed_loss(&f), NULL), MER_OK);
        for (int t = 0; t < 1 + is_joint; t++) {
            for (int64_t i = 0; i < tensors[t]->size; i++) {
                float kept = tensors[t]->data[i], step = 1e-2f;
                tensors[t]->data[i] = kept + step;
                double above = formed_loss(&f)->data[0];
                tensors[t]->data[i] = kept - step;
                double below = formed_loss(&f)->data[0];
                tensors[t]->data[i] = kept;
                double expected = (above - below) / (2 * step);
                moved += fabs(expected) > 1e-2;
                assert_float_equal(tensors[t]->grad[i], expected, 1e-3);
            }
        }
        assert_true(moved > 20); /* and not because nothing depends on anything */
        free_formed(&f);
    }
}

/* What a head says does not depend on the heads after it. */
static void test_joint_heads_see_only_the_heads_before_them(void **state)
{
    (void)state;
    Formed f = formed_heads(true);
    float  logs[2][TOTAL];
    for (int c = 0; c < 2; c++) {
        int columns[ROWS * 3] = {2, 4, 6 + c, 2, 4, 6, 2, 4, 6};
        memcpy(logs[c], formed_logs(&f, columns)->data, sizeof logs[c]);
    }
    assert_memory_equal(logs[0], logs[1], sizeof logs[0]);
    for (int c = 0; c < 2; c++) {
        int columns[ROWS * 3] = {c, 4, 6, 2, 4, 6, 2, 4, 6};
        memcpy(logs[c], formed_logs(&f, columns)->data, sizeof logs[c]);
    }
    assert_memory_equal(logs[0], logs[1], 4 * sizeof logs[0][0]);
    assert_true(logs[0][4] != logs[1][4] && logs[0][7] != logs[1][7]);
    free_formed(&f);
}

/* How often every one of the 24 points is drawn, against the product of what the tape computes. */
static void test_joint_heads_sample_their_probabilities(void **state)
{
    (void)state;
    enum { DRAWS = 100000 };
    Formed f = formed_heads(true);
    MerRng rng = mer_rng_make(4, 0);
    int    seen[24] = {0};
    float  start[TOTAL], given[TOTAL];
    double sum = 0;
    memcpy(start, mer_heads_log_softmax(f.tape, &f.heads, f.logits)->data, sizeof start);
    for (int i = 0; i < DRAWS; i++) {
        const int *first = f.heads.first;
        int        columns[3];
        mer_heads_sample_joint(&f.heads, start, f.table->data, &rng, columns, given);
        seen[(columns[0] * 2 + columns[1] - first[1]) * 3 + columns[2] - first[2]]++;
    }
    for (int p = 0; p < 24; p++) {
        const int   *first = f.heads.first;
        int          columns[ROWS * 3] = {p / 6, first[1] + p / 3 % 2, first[2] + p % 3};
        const float *logs = formed_logs(&f, columns)->data;
        double       share = exp((double)logs[columns[0]] + logs[columns[1]] + logs[columns[2]]);
        double       deviation = sqrt(share * (1 - share) / DRAWS);
        assert_float_equal((double)seen[p] / DRAWS, share, 4.5 * deviation);
        sum += share;
    }
    assert_float_equal(sum, 1, 1e-5);
    free_formed(&f);
}

static void test_ordered_heads_share_strength_with_their_neighbours(void **state)
{
    (void)state;
    MerArena *arena = mer_arena_new();
    MerTape  *tape = mer_tape_new(&mer_backend_plain, NULL);
    MerHeads  heads = mer_heads_make(2, (int[]){40, 3}, arena);
    float     strengths[43] = {[10] = 2, [41] = 2};
    mer_heads_order(&heads, (bool[]){true, false}, arena);
    const float *logits =
        mer_heads_share(tape, &heads, mer_tape_input(tape, 2, (int[]){1, 43}, strengths))->data;
    assert_true(logits[10] > logits[11] && logits[11] > logits[13] && logits[13] > logits[20]);
    assert_true(logits[11] > 0.1 && fabsf(logits[9] - logits[11]) < 1e-3 && logits[30] < 1e-3);
    assert_true(logits[40] == 0 && logits[41] == 2 && logits[42] == 0);
    for (int i = 0; i < 43; i++) {
        strengths[i] = 1;
    }
    logits =
        mer_heads_share(tape, &heads, mer_tape_input(tape, 2, (int[]){1, 43}, strengths))->data;
    for (int i = 0; i < 43; i++) {
        assert_float_equal(logits[i], 1, 1e-6); /* no choice is favoured by its place */
    }
    mer_tape_free(tape);
    mer_arena_free(arena);
}

/* Points on a line at 0, 1, 3, 7. */
static void line_distances(double *distances)
{
    static const double at[4] = {0, 1, 3, 7};
    for (int i = 0; i < 16; i++) {
        distances[i] = fabs(at[i / 4] - at[i % 4]);
    }
}

static void test_linkages_have_their_heights(void **state)
{
    (void)state;
    static const double expected[3][3] = {{1, 2.5, 17.0 / 3}, {1, 3, 7}, {1, 2, 4}};
    double              distances[16];
    MerMerge            merges[3];
    line_distances(distances);
    for (int l = 0; l < 3; l++) {
        mer_cluster(4, distances, (MerLinkage)l, merges);
        for (int m = 0; m < 3; m++) {
            assert_float_equal(merges[m].height, expected[l][m], 1e-12);
        }
        assert_int_equal(merges[0].a, 0);
        assert_int_equal(merges[0].b, 1);
        assert_int_equal(merges[1].a, 2);
        assert_int_equal(merges[1].b, 4);
    }
}

static void test_cuts_by_threshold_and_by_count(void **state)
{
    (void)state;
    double   distances[16];
    MerMerge merges[3];
    int      cluster[4];
    line_distances(distances);
    mer_cluster(4, distances, MER_LINKAGE_AVERAGE, merges);
    assert_int_equal(mer_cut_threshold(4, merges, 2.5, cluster), 2);
    assert_memory_equal(cluster, ((int[]){0, 0, 0, 1}), sizeof cluster);
    assert_int_equal(mer_cut_threshold(4, merges, 0.5, cluster), 4);
    assert_int_equal(mer_cut_count(4, merges, 3, cluster), 3);
    assert_memory_equal(cluster, ((int[]){0, 0, 1, 2}), sizeof cluster);
    assert_int_equal(mer_cut_count(4, merges, 1, cluster), 1);
    assert_int_equal(mer_cut_count(4, merges, 99, cluster), 4);
}

static void test_equal_distances_join_lower_indices_first(void **state)
{
    (void)state;
    double   distances[9] = {0, 1, 1, 1, 0, 1, 1, 1, 0};
    MerMerge merges[2];
    mer_cluster(3, distances, MER_LINKAGE_COMPLETE, merges);
    assert_int_equal(merges[0].a, 0);
    assert_int_equal(merges[0].b, 1);
    assert_int_equal(merges[1].a, 2);
    assert_int_equal(merges[1].b, 3);
}

static void test_rand_index_knows_equal_and_unrelated(void **state)
{
    (void)state;
    int a[6] = {0, 0, 0, 1, 1, 1}, renamed[6] = {1, 1, 1, 0, 0, 0}, other[6] = {0, 0, 1, 1, 2, 2};
    assert_float_equal(mer_adjusted_rand(6, a, renamed), 1, 1e-12);
    /* pairs together in both 2, in a 6, in other 3, of 15: (2 - 1.2) / (4.5 - 1.2) */
    assert_float_equal(mer_adjusted_rand(6, a, other), 0.8 / 3.3, 1e-12);
}

enum { SAMPLES = 4000, KNOBS = 4 };

typedef struct Samples {
    MerKnob  knobs[KNOBS];
    MerSpace space;
    MerIndex points[SAMPLES * KNOBS];
    double   scores[SAMPLES];
} Samples;

/* Knobs 0 and 1 must be equal, knobs 2 and 3 matter alone; knob 3 is a category. */
static Samples *make_samples(void)
{
    Samples *s = calloc(1, sizeof *s);
    MerRng   rng = mer_rng_make(9, 0);
    for (int k = 0; k < KNOBS; k++) {
        s->knobs[k] = (MerKnob){.name = "k",
                                .kind = k == 3 ? MER_KNOB_CATEGORY : MER_KNOB_ORDERED,
                                .choices = k == 3 ? 3 : 10};
    }
    s->space = (MerSpace){.knob_count = KNOBS, .knobs = s->knobs};
    for (int i = 0; i < SAMPLES; i++) {
        MerIndex *p = s->points + (ptrdiff_t)i * KNOBS;
        mer_space_sample(&s->space, &rng, p);
        s->scores[i] = exp(0.3 * abs(p[0] - p[1]) + 0.1 * p[2] + (p[3] == 1 ? 0.5 : 0));
        s->scores[i] = mer_rng_below(&rng, 10) == 0 ? INFINITY : s->scores[i];
    }
    return s;
}

static void test_coupled_knobs_correlate_among_good_points(void **state)
{
    (void)state;
    Samples *s = make_samples();
    double   matrix[KNOBS * KNOBS], distance[KNOBS * KNOBS];
    mer_correlation(&s->space, SAMPLES, s->points, s->scores, matrix);
    assert_true(matrix[0 * KNOBS + 1] > 0.7);
    assert_true(matrix[0 * KNOBS + 1] == matrix[1 * KNOBS + 0]);
    assert_true(fabs(matrix[0 * KNOBS + 2]) < 0.2 && matrix[3 * KNOBS + 2] < 0.2);
    assert_float_equal(matrix[0], 1, 0);
    mer_correlation_distance(KNOBS, matrix, false, distance);
    assert_float_equal(distance[1], 0, 1e-12);
    for (int i = 0; i < KNOBS * KNOBS; i++) {
        assert_true(distance[i] >= 0 && distance[i] <= 1);
    }
    free(s);
}

/* Correlation of two independent category knobs among `count` samples, or of two equal ones. */
static double between_categories(int choices, int count, uint64_t seed, bool is_equal)
{
    MerKnob   knobs[2] = {{.name = "a", .kind = MER_KNOB_CATEGORY, .choices = choices},
                          {.name = "b", .kind = MER_KNOB_CATEGORY, .choices = choices}};
    MerSpace  space = {.knob_count = 2, .knobs = knobs};
    MerRng    rng = mer_rng_make(seed, 0);
    MerIndex *points = calloc((size_t)count, 2 * sizeof *points);
    double   *scores = calloc((size_t)count, sizeof *scores), matrix[4];
    for (int i = 0; i < count; i++) {
        mer_space_sample(&space, &rng, points + (ptrdiff_t)2 * i);
        points[2 * i + 1] = points[2 * i + !is_equal];
        scores[i] = mer_rng_unit(&rng);
    }
    mer_correlation(&space, count, points, scores, matrix);
    free(points);
    free(scores);
    return matrix[1];
}

/* The strongest of all pairs of choices reached 0.85 on average with 80 samples of 12 choices. */
static void test_independent_categories_do_not_correlate(void **state)
{
    (void)state;
    for (int choices = 3; choices <= 24; choices *= 2) {
        for (int count = 80; count <= 640; count *= 2) {
            double mean = 0, most = 0;
            for (uint64_t seed = 0; seed < 100; seed++) {
                double found = between_categories(choices, count, seed, false);
                mean += found / 100;
                most = fmax(most, found);
            }
            if (!(mean < 0.13 && most < 0.6)) {
                fail_msg("%d choices, %d samples: %.3f, at most %.3f", choices, count, mean, most);
            }
        }
    }
    assert_true(between_categories(12, 160, 1, true) > 0.95);
    assert_true(between_categories(3, 80, 1, true) > 0.95);
}

/* Nor do more choices than the samples are worth: nothing is known of them. */
static void test_categories_with_one_choice_say_nothing(void **state)
{
    (void)state;
    assert_float_equal(between_categories(1, 200, 1, false), 0, 0);
    assert_float_equal(between_categories(12, 1, 1, true), 0, 0);
    assert_float_equal(between_categories(24, 12, 1, true), 0, 0);
}

static void test_signed_distance_parts_knobs_that_move_against_each_other(void **state)
{
    (void)state;
    const double matrix[9] = {1, 0.8, -0.9, 0.8, 1, 0, -0.9, 0, 1};
    double       distance[9];
    mer_correlation_distance(3, matrix, false, distance);
    assert_float_equal(distance[2], 0, 1e-12); /* the strongest pair */
    mer_correlation_distance(3, matrix, true, distance);
    assert_float_equal(distance[1], 0, 1e-12);
    assert_float_equal(distance[2], 1, 1e-12);
}

static void test_interaction_sees_only_the_coupled_pair(void **state)
{
    (void)state;
    Samples *s = make_samples();
    double   matrix[KNOBS * KNOBS];
    mer_interaction(&s->space, SAMPLES, s->points, s->scores, matrix);
    for (int a = 0; a < KNOBS; a++) {
        for (int b = 0; b < a; b++) {
            bool is_coupled = a == 1 && b == 0;
            assert_true(is_coupled ? matrix[a * KNOBS + b] > 0.4 : matrix[a * KNOBS + b] < 0.05);
        }
    }
    free(s);
}

static void test_correlation_survives_no_feasible_sample(void **state)
{
    (void)state;
    Samples *s = make_samples();
    double   matrix[KNOBS * KNOBS];
    for (int i = 0; i < SAMPLES; i++) {
        s->scores[i] = INFINITY;
    }
    mer_correlation(&s->space, SAMPLES, s->points, s->scores, matrix);
    assert_float_equal(matrix[1], 0, 0);
    mer_interaction(&s->space, SAMPLES, s->points, s->scores, matrix);
    assert_float_equal(matrix[1], 0, 0);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gae_matches_a_hand_calculation),
        cmocka_unit_test(test_gae_keeps_lanes_apart),
        cmocka_unit_test(test_running_statistics_are_those_of_all_values),
        cmocka_unit_test(test_log_reward_is_relative_to_the_first_median),
        cmocka_unit_test(test_rewards_rise_when_a_maximised_metric_rises),
        cmocka_unit_test(test_inverse_and_archgym_rewards),
        cmocka_unit_test(test_nothing_feasible_still_gives_rewards),
        cmocka_unit_test(test_heads_sample_their_probabilities),
        cmocka_unit_test(test_entropy_of_even_heads_is_the_sum_of_logs),
        cmocka_unit_test(test_gradients_of_joint_and_ordered_heads_are_finite_differences),
        cmocka_unit_test(test_joint_heads_see_only_the_heads_before_them),
        cmocka_unit_test(test_joint_heads_sample_their_probabilities),
        cmocka_unit_test(test_ordered_heads_share_strength_with_their_neighbours),
        cmocka_unit_test(test_linkages_have_their_heights),
        cmocka_unit_test(test_cuts_by_threshold_and_by_count),
        cmocka_unit_test(test_equal_distances_join_lower_indices_first),
        cmocka_unit_test(test_rand_index_knows_equal_and_unrelated),
        cmocka_unit_test(test_coupled_knobs_correlate_among_good_points),
        cmocka_unit_test(test_independent_categories_do_not_correlate),
        cmocka_unit_test(test_categories_with_one_choice_say_nothing),
        cmocka_unit_test(test_signed_distance_parts_knobs_that_move_against_each_other),
        cmocka_unit_test(test_interaction_sees_only_the_coupled_pair),
        cmocka_unit_test(test_correlation_survives_no_feasible_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
