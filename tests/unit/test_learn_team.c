/* Teams on a toy: every knob has one good choice, and neighbours should be equal. Each
 * algorithm, alone, with several agents and with a central critic, must learn it, the same way
 * for the same seed. */
#include "learn/team_inside.h"
#include "support.h"

#include <math.h>

enum { KNOBS = 6, LANES = 8, UNROLL = 4, FEATURES = 2 };

static const int choices[KNOBS] = {5, 3, 8, 2, 4, 6};
static const int good[KNOBS] = {3, 0, 6, 1, 2, 5};
static const int owners[3][KNOBS] = {{0, 0, 0, 0, 0, 0}, {0, 1, 0, 1, 0, 1}, {0, 1, 2, 3, 4, 5}};
static const int owner_counts[3] = {1, 2, 6};

static MerTeamSpec spec_of(MerAlgorithm algorithm, int partition)
{
    bool is_plain = algorithm == MER_ALGORITHM_REINFORCE;
    return (MerTeamSpec){
        .backend = &mer_backend_dnnl,
        .algorithm = algorithm,
        .knob_count = KNOBS,
        .agent_count = owner_counts[partition],
        .choices = choices,
        .owner = owners[partition],
        .feature_count = FEATURES,
        .lanes = LANES,
        .unroll = UNROLL,
        .width = 16,
        .depth = is_plain ? 0 : 2,
        .epochs = 4,
        .minibatches = 2,
        .rate = is_plain ? 5e-2 : 5e-3,
        .clip = 0.2,
        .value_cost = 1,
        .grad_norm = 0.5,
        .discount = 0.5,
        .lambda = 0.95,
        .adam_epsilon = 1e-7,
        .entropy = 0.01,
        .baseline_decay = 0.9,
        .is_standardised = algorithm == MER_ALGORITHM_PPO,
    };
}

static double reward_of(const int *point)
{
    int right = 0;
    for (int k = 0; k < KNOBS; k++) {
        right += point[k] == good[k];
    }
    return (double)right / KNOBS;
}

/* The mean reward of one batch, learned from. */
static double round_of(MerTeam *team, MerRng *rng)
{
    double rewards[UNROLL * LANES], sum = 0;
    for (int t = 0; t < UNROLL; t++) {
        for (int lane = 0; lane < LANES; lane++) {
            int point[KNOBS];
            mer_team_act(team, rng, lane, point);
            for (int k = 0; k < KNOBS; k++) {
                assert_in_range(point[k], 0, choices[k] - 1);
            }
            rewards[t * LANES + lane] = reward_of(point);
            sum += rewards[t * LANES + lane];
        }
        for (int lane = 0; lane < LANES; lane++) {
            float features[FEATURES] = {1, (float)rewards[t * LANES + lane]};
            mer_team_see(team, lane, features);
        }
        assert_true(mer_team_step(team) == (t + 1 == UNROLL));
    }
    mer_team_learn(team, rewards, 0, rng);
    return sum / (UNROLL * LANES);
}

static double learned(const MerTeamSpec *spec, int rounds, uint64_t seed)
{
    MerRng   rng = mer_rng_make(seed, 0);
    MerTeam *team = mer_team_new(spec, &rng);
    double   last = 0;
    assert_float_equal(team->entropy, -1, 0);
    for (int i = 0; i < rounds; i++) {
        double mean = round_of(team, &rng);
        last = i >= rounds - 10 ? last + mean / 10 : last;
    }
    assert_true(team->entropy >= 0);
    mer_team_free(team);
    return last;
}

static void test_every_algorithm_learns_with_any_number_of_agents(void **state)
{
    (void)state;
    for (int a = 0; a < 3; a++) {
        for (int p = 0; p < 3; p++) {
            MerTeamSpec spec = spec_of((MerAlgorithm)a, p);
            double      mean = learned(&spec, 200, 1);
            if (!(mean > 0.85)) {
                fail_msg("algorithm %d with %d agents ends at %.3f", a, owner_counts[p], mean);
            }
        }
    }
}

static void test_a_central_critic_and_ratios_per_knob_learn_too(void **state)
{
    (void)state;
    MerTeamSpec spec = spec_of(MER_ALGORITHM_PPO, 1);
    spec.is_central = true;
    assert_true(learned(&spec, 200, 1) > 0.85);
    spec.is_ratio_per_knob = true;
    assert_true(learned(&spec, 200, 1) > 0.85);
}

static void test_entropy_weight_keeps_choices_open(void **state)
{
    (void)state;
    MerTeamSpec spec = spec_of(MER_ALGORITHM_PPO, 0);
    double      sharp = learned(&spec, 150, 1);
    spec.entropy = spec.entropy_end = 2;
    assert_true(learned(&spec, 150, 1) < sharp - 0.1);
}

static void test_the_same_seed_learns_the_same(void **state)
{
    (void)state;
    MerTeamSpec spec = spec_of(MER_ALGORITHM_PPO, 1);
    assert_true(learned(&spec, 20, 5) == learned(&spec, 20, 5));
    assert_true(learned(&spec, 20, 5) != learned(&spec, 20, 6));
}

static void test_saved_policies_come_back(void **state)
{
    (void)state;
    MerTeamSpec spec = spec_of(MER_ALGORITHM_A2C, 1), other = spec_of(MER_ALGORITHM_A2C, 2);
    MerRng      rng = mer_rng_make(1, 0), fresh = mer_rng_make(2, 0);
    MerTeam    *team = mer_team_new(&spec, &rng), *copy = mer_team_new(&spec, &fresh);
    MerTeam    *unlike = mer_team_new(&other, &fresh);
    MerError    error = {0};
    for (int i = 0; i < 150; i++) {
        round_of(team, &rng);
    }
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(mer_team_save(team, file, NULL), MER_OK);
    rewind(file);
    assert_int_equal(mer_team_load(copy, file, NULL), MER_OK);
    assert_true(round_of(copy, &fresh) > 0.8);
    rewind(file);
    assert_int_equal(mer_team_load(unlike, file, &error), MER_INVALID);
    mer_test_contains(error.message, "expected");
    fclose(file);
    mer_team_free(team);
    mer_team_free(copy);
    mer_team_free(unlike);
}

static void test_heads_move_to_another_partition(void **state)
{
    (void)state;
    MerTeamSpec spec = spec_of(MER_ALGORITHM_REINFORCE, 0),
                split = spec_of(MER_ALGORITHM_REINFORCE, 2);
    MerRng   rng = mer_rng_make(1, 0);
    MerTeam *team = mer_team_new(&spec, &rng), *next = mer_team_new(&split, &rng);
    for (int i = 0; i < 150; i++) {
        round_of(team, &rng);
    }
    mer_team_copy_heads(next, team);
    assert_true(round_of(next, &rng) > 0.8);
    mer_team_free(team);
    mer_team_free(next);
}

/* Hash of all points of some batches. */
static uint64_t path_of(const MerTeamSpec *spec, int rounds)
{
    MerRng   rng = mer_rng_make(7, 0);
    MerTeam *team = mer_team_new(spec, &rng);
    uint64_t path = 1;
    for (int t = 0; t < rounds * UNROLL; t++) {
        double rewards[UNROLL * LANES];
        for (int lane = 0; lane < LANES; lane++) {
            int point[KNOBS];
            mer_team_act(team, &rng, lane, point);
            for (int k = 0; k < KNOBS; k++) {
                path = (path ^ (uint64_t)point[k]) * 1099511628211u + 1;
            }
            rewards[t % UNROLL * LANES + lane] = reward_of(point);
            mer_team_see(team, lane, (float[FEATURES]){0});
        }
        if (mer_team_step(team)) {
            mer_team_learn(team, rewards, 0, &rng);
        }
    }
    mer_team_free(team);
    return path;
}

/* Heads that do not know of each other make the number of agents a matter of book-keeping. */
static void test_the_number_of_agents_matters_to_joint_heads_alone(void **state)
{
    (void)state;
    for (int form = 0; form < 3; form++) {
        uint64_t paths[2];
        for (int p = 0; p < 2; p++) {
            MerTeamSpec spec = spec_of(MER_ALGORITHM_REINFORCE, 2 * p);
            spec.heads = (MerHeadForm)form;
            spec.is_ordered = (bool[KNOBS]){true, true, true, true, true, true};
            spec.grad_norm = 0; /* of one agent's gradient, so the one thing they would not share */
            paths[p] = path_of(&spec, 30);
        }
        assert_true((paths[0] != paths[1]) == (form == MER_HEADS_JOINT));
    }
}

/* Two knobs of two choices are worth 1 if they differ. With a weight of the entropy above 1/2 the
 * best that independent heads can do is to leave both open (p (1 - q) + q (1 - p) + w (H(p) + H(q))
 * has its only maximum at p = q = 1/2), so they are right half of the time. Joint heads leave the
 * first open and make the second differ with probability 1 / (1 + exp(-1 / w)) = 0.86. */
static double learned_xor(MerAlgorithm algorithm, MerHeadForm form)
{
    MerTeamSpec spec = spec_of(algorithm, 0);
    MerRng      rng = mer_rng_make(2, 0);
    double      right = 0;
    spec.knob_count = 2;
    spec.choices = (int[]){2, 2};
    spec.heads = form;
    spec.entropy = spec.entropy_end = 0.55;
    spec.is_standardised = false;
    MerTeam *team = mer_team_new(&spec, &rng);
    for (int round = 0; round < 400; round++) {
        double rewards[UNROLL * LANES];
        for (int i = 0; i < UNROLL * LANES; i++) {
            int point[2];
            mer_team_act(team, &rng, i % LANES, point);
            rewards[i] = point[0] != point[1];
            right += round >= 300 ? rewards[i] / (100 * UNROLL * LANES) : 0;
            mer_team_see(team, i % LANES, (float[FEATURES]){0});
            if (i % LANES == LANES - 1) {
                mer_team_step(team);
            }
        }
        mer_team_learn(team, rewards, 0, &rng);
    }
    mer_team_free(team);
    return right;
}

static void test_joint_heads_learn_knobs_that_must_differ(void **state)
{
    (void)state;
    for (int a = 0; a < 3; a++) {
        double joint = learned_xor((MerAlgorithm)a, MER_HEADS_JOINT);
        double independent = learned_xor((MerAlgorithm)a, MER_HEADS_INDEPENDENT);
        if (!(joint > 0.8 && independent < 0.6)) {
            fail_msg("algorithm %d: %.3f joint, %.3f independent", a, joint, independent);
        }
    }
}

static void test_every_form_of_heads_learns_with_any_number_of_agents(void **state)
{
    (void)state;
    for (int form = 1; form < 3; form++) {
        for (int p = 0; p < 3; p++) {
            MerTeamSpec spec = spec_of((MerAlgorithm)p, p);
            spec.heads = (MerHeadForm)form;
            spec.is_ordered = (bool[KNOBS]){true, false, true, true, false, true};
            double mean = learned(&spec, 200, 1);
            if (!(mean > 0.85)) {
                fail_msg("form %d with %d agents ends at %.3f", form, owner_counts[p], mean);
            }
        }
    }
}

/* Pairs that stay with one agent keep what they know of each other. */
static void test_joint_heads_move_to_another_partition(void **state)
{
    (void)state;
    MerTeamSpec spec = spec_of(MER_ALGORITHM_REINFORCE, 0),
                split = spec_of(MER_ALGORITHM_REINFORCE, 1);
    MerRng rng = mer_rng_make(1, 0);
    spec.heads = split.heads = MER_HEADS_JOINT;
    MerTeam *team = mer_team_new(&spec, &rng), *next = mer_team_new(&split, &rng);
    for (int64_t i = 0; i < team->agents[0].later->size; i++) {
        team->agents[0].later->data[i] = (float)i;
    }
    mer_team_copy_heads(next, team);
    const MerHeads *all = &team->agents[0].heads, *some = &next->agents[1].heads;
    /* knobs 1, 3 and 5 are the second agent's: choice 2 of the first says this of choice 4 of the last */
    int64_t from = (int64_t)(all->first[1] + 2) * all->total + all->first[5] + 4;
    int64_t to = (int64_t)(some->first[0] + 2) * some->total + some->first[2] + 4;
    assert_true(next->agents[1].later->data[to] == (float)from);
    mer_team_free(team);
    mer_team_free(next);
}

typedef struct Moving { /* a team of two that moves */
    float        tables[KNOBS][64];
    const float *habits[KNOBS];
    MerTeamSpec  spec;
    MerRng       rng;
} Moving;

/* By habit, by far the likeliest is the choice after the present one. */
static MerTeam *moving_team(Moving *moving)
{
    *moving = (Moving){.spec = spec_of(MER_ALGORITHM_PPO, 1), .rng = mer_rng_make(1, 0)};
    for (int k = 0; k < KNOBS; k++) {
        for (int now = 0; now < choices[k]; now++) {
            moving->tables[k][now * choices[k] + (now + 1) % choices[k]] = 9;
        }
        moving->habits[k] = moving->tables[k];
    }
    moving->spec.habits = moving->habits;
    return mer_team_new(&moving->spec, &moving->rng);
}

static void test_only_acting_agents_change_their_knobs(void **state)
{
    (void)state;
    static const int start[KNOBS] = {1, 1, 4, 0, 2, 3};
    Moving           moving;
    MerTeam         *team = moving_team(&moving);
    int              moved[KNOBS] = {0};
    for (int round = 0; round < 400; round++) {
        bool acting[2] = {round % 4 == 1 || round % 4 == 3, round % 4 >= 2};
        int  point[KNOBS];
        memcpy(point, start, sizeof point);
        mer_team_stand(team, 0, start);
        mer_team_move(team, &moving.rng, 0, acting, round % 3 == 0, point);
        for (int k = 0; k < KNOBS; k++) {
            assert_in_range(point[k], 0, choices[k] - 1);
            assert_true(acting[moving.spec.owner[k]] || point[k] == start[k]);
            moved[k] += point[k] != start[k];
        }
    }
    for (int k = 0; k < KNOBS; k++) {
        assert_true(moved[k] > 100);
    }
    mer_team_free(team);
}

/* What was learned does not change moves by habit. */
static void test_moves_by_habit_follow_the_tables(void **state)
{
    (void)state;
    Moving   moving;
    MerTeam *team = moving_team(&moving);
    int      next = 0, moves = 0;
    for (int i = 0; i < 100; i++) {
        round_of(team, &moving.rng);
    }
    for (int i = 0; i < 500; i++) {
        int start[KNOBS], point[KNOBS];
        for (int k = 0; k < KNOBS; k++) {
            start[k] = point[k] = mer_rng_below(&moving.rng, choices[k]);
        }
        mer_team_stand(team, 0, start);
        mer_team_move(team, &moving.rng, 0, NULL, true, point);
        for (int k = 0; k < KNOBS; k++, moves++) {
            next += point[k] == (start[k] + 1) % choices[k];
        }
    }
    assert_true(next > 0.99 * moves);
    mer_team_free(team);
}

/* A batch in which only agent 0 acts, worth more the higher its first knob. */
static void run_batch_of_first_agent(MerTeam *team, MerRng *rng)
{
    double     rewards[UNROLL * LANES];
    const bool acting[2] = {true, false};
    for (int t = 0; t < UNROLL; t++) {
        for (int lane = 0; lane < LANES; lane++) {
            int   point[KNOBS] = {0};
            float features[FEATURES] = {1, 0};
            mer_team_stand(team, lane, point);
            mer_team_move(team, rng, lane, acting, false, point);
            mer_team_see(team, lane, features);
            rewards[t * LANES + lane] = point[0];
        }
        mer_team_step(team);
    }
    mer_team_learn(team, rewards, 0, rng);
}

static void test_agents_learn_only_from_rows_they_acted_in(void **state)
{
    (void)state;
    Moving     moving;
    MerTeam   *team = moving_team(&moving);
    MerTensor *first = team->agents[0].policy.bias, *second = team->agents[1].policy.bias;
    MerTensor *idle[] = {second, team->agents[1].policy.w, team->agents[1].habit,
                         team->agents[1].value.w, team->agents[1].trunk.layers[0].w};
    double     sums[5] = {0}, before = 0, after = 0;
    round_of(team, &moving.rng); /* so that the updater has something to go on with */
    for (int64_t i = 0; i < first->size; i++) {
        before += fabs(first->data[i]);
    }
    for (int round = 0; round < 2; round++) {
        for (int t = 0; t < 5; t++) {
            double sum = 0;
            for (int64_t i = 0; i < idle[t]->size; i++) {
                sum += (double)(i + 1) * idle[t]->data[i];
            }
            assert_true(round == 0 || sum == sums[t]);
            sums[t] = sum;
        }
        run_batch_of_first_agent(team, &moving.rng);
    }
    for (int64_t i = 0; i < first->size; i++) {
        after += fabs(first->data[i]);
    }
    assert_true(after != before);
    mer_team_free(team);
}

/* Nobody acts: nothing is learned, and nothing breaks. */
static void test_a_batch_without_moves_changes_nothing(void **state)
{
    (void)state;
    Moving     moving;
    MerTeam   *team = moving_team(&moving);
    double     rewards[UNROLL * LANES] = {0};
    const bool acting[2] = {false, false};
    float      before = team->agents[0].habit->data[1];
    for (int t = 0; t < UNROLL; t++) {
        for (int lane = 0; lane < LANES; lane++) {
            int   point[KNOBS] = {0};
            float features[FEATURES] = {0};
            mer_team_stand(team, lane, point);
            mer_team_move(team, &moving.rng, lane, acting, false, point);
            mer_team_see(team, lane, features);
        }
        mer_team_step(team);
    }
    mer_team_learn(team, rewards, 0, &moving.rng);
    assert_true(team->agents[0].habit->data[1] == before);
    assert_true(team->entropy == 0);
    mer_team_free(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm_learns_with_any_number_of_agents),
        cmocka_unit_test(test_a_central_critic_and_ratios_per_knob_learn_too),
        cmocka_unit_test(test_entropy_weight_keeps_choices_open),
        cmocka_unit_test(test_the_same_seed_learns_the_same),
        cmocka_unit_test(test_saved_policies_come_back),
        cmocka_unit_test(test_heads_move_to_another_partition),
        cmocka_unit_test(test_the_number_of_agents_matters_to_joint_heads_alone),
        cmocka_unit_test(test_joint_heads_learn_knobs_that_must_differ),
        cmocka_unit_test(test_every_form_of_heads_learns_with_any_number_of_agents),
        cmocka_unit_test(test_joint_heads_move_to_another_partition),
        cmocka_unit_test(test_only_acting_agents_change_their_knobs),
        cmocka_unit_test(test_moves_by_habit_follow_the_tables),
        cmocka_unit_test(test_agents_learn_only_from_rows_they_acted_in),
        cmocka_unit_test(test_a_batch_without_moves_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
