/* The learning optimizers on a toy space, driven by hand: clusters, warm samples, re-clustering,
 * and the two signs of failure, each provoked. */
#include "toy_support.h"

static double flat(const MerIndex *p, int64_t trial)
{
    (void)p, (void)trial;
    return 10;
}

/* Good points couple other knobs than the first samples do. */
static double changing(const MerIndex *p, int64_t trial)
{
    return trial < 500 ? 1000 * toy_coupled(p, trial)
                       : exp(0.5 * abs(p[0] - p[2]) + 0.5 * abs(p[1] - p[3]));
}

static void test_clusters_are_the_coupled_knobs(void **state)
{
    (void)state;
    static const char *const references[] = {
        "marl:samples=500", "marl:samples=500,partition=interaction",
        "marl:samples=500,initial=latin", "marl:samples=500,initial=annealing,agents=2",
        "marl:partition=role"};
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        Toy *toy = toy_open(references[i], 1000, MER_OK, NULL);
        toy_run(toy, 600, toy_coupled);
        const char *note = toy_find_view(toy, "partition");
        assert_non_null(note);
        mer_test_contains(note, "{\"name\":\"agents\",\"value\":2,");
        mer_test_contains(note, "\"groups\":[0,0,1,1]");
        toy_close(toy);
    }
}

static void test_agents_can_be_given(void **state)
{
    (void)state;
    static const struct {
        const char *reference, *owner;
    } cases[] = {{"marl:agents=1", "\"groups\":[0,0,0,0]"},
                 {"marl:agents=all", "\"groups\":[0,1,2,3]"},
                 {"marl:agents=3,partition=random", "\"name\":\"agents\",\"value\":3"}};
    for (int i = 0; i < 3; i++) {
        Toy *toy = toy_open(cases[i].reference, 1000, MER_OK, NULL);
        toy_run(toy, 10, toy_coupled);
        mer_test_contains(toy_find_view(toy, "partition"), cases[i].owner);
        mer_test_contains(toy_find_view(toy, "partition"),
                          "\"name\":\"samples for clustering\",\"value\":0,");
        toy_close(toy);
    }
    MerError error = {0};
    Toy     *toy = toy_open("marl:agents=some", 1000, MER_INVALID, &error);
    mer_test_contains(error.message, "agents is \"some\", expected auto, all or a number");
    mer_arena_free(toy->arena);
    free(toy);
}

static void test_every_learner_gets_better(void **state)
{
    (void)state;
    static const char *const references[] = {"reinforce:rate=0.05",
                                             "a2c:rate=0.01",
                                             "ppo",
                                             "ppo:ratio=knob",
                                             "ppo:reward=inverse",
                                             "ppo:discount=0.99",
                                             "reinforce:rate=0.05,heads=joint",
                                             "a2c:rate=0.01,heads=ordered",
                                             "ppo:heads=joint",
                                             "ppo:heads=ordered",
                                             "marl:preset=paper,samples=400,heads=joint",
                                             "marl:preset=paper,samples=400",
                                             "marl:preset=paper,samples=400,central=true",
                                             "ppo:preset=bandit",
                                             "marl:preset=bandit,agents=all"};
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        Toy   *toy = toy_open(references[i], 8000, MER_OK, NULL);
        double mean = toy_run(toy, 8000, toy_coupled);
        if (!(mean < 5)) {
            fail_msg("%s: mean score %.2f at the end", references[i], mean);
        }
        assert_null(toy_find_view(toy, "sparse_reward"));
        assert_null(toy_find_view(toy, "correlation_drift"));
        toy_close(toy);
    }
}

static void test_sparse_reward_is_reported_when_nothing_is_feasible(void **state)
{
    (void)state;
    static const char *const references[] = {"reinforce", "a2c", "ppo", "marl:samples=300"};
    for (int i = 0; i < 4; i++) {
        Toy *toy = toy_open(references[i], 2000, MER_OK, NULL);
        toy_run(toy, 999, toy_never);
        assert_null(toy_find_view(toy, "sparse_reward"));
        toy_run(toy, 1001, toy_never);
        const char *note = toy_find_view(toy, "sparse_reward");
        assert_non_null(note);
        mer_test_contains(note, "\"text\":\"no feasible point in the first ");
        mer_test_contains(note, " samples (0 % feasible)\",\"try\":\"larger memories");
        toy_close(toy);
    }
}

static void test_sparse_reward_is_reported_when_nothing_improves(void **state)
{
    (void)state;
    Toy *toy = toy_open("ppo:sparse_after=200", 1000, MER_OK, NULL);
    toy_run(toy, 300, flat);
    mer_test_contains(toy_find_view(toy, "sparse_reward"), "nothing better than the first batch");
    toy_close(toy);
}

static void test_drift_is_reported_and_reclustering_follows_it(void **state)
{
    (void)state;
    Toy *toy = toy_open("marl:samples=500,recluster=1000", 4000, MER_OK, NULL);
    toy_run(toy, 4000, changing);
    mer_test_contains(toy_find_view(toy, "partition"), "\"groups\":[0,0,1,1]");
    const char *drift = toy_find_view(toy, "correlation_drift");
    assert_non_null(drift);
    mer_test_contains(drift, "\"try\":\"recluster=1000, more samples\"");
    mer_test_contains(toy_find_view(toy, "recluster"), "\"groups\":[0,1,0,1]");
    toy_close(toy);
}

static void test_another_initial_policy_is_advised_only_where_there_is_one(void **state)
{
    (void)state;
    Toy *toy = toy_open("marl:form=joint,samples=500", 4000, MER_OK, NULL);
    toy_run(toy, 4000, changing);
    mer_test_contains(toy_find_view(toy, "correlation_drift"), "initial=annealing or gamma");
    toy_close(toy);
}

/* One point of eight is feasible. */
static double sparse(const MerIndex *p, int64_t trial)
{
    return p[0] == 3 ? toy_coupled(p, trial) : INFINITY;
}

static void test_clusters_of_too_few_samples_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *reference, *instead, *owner;
    } cases[] = {{"marl:samples=99", "every knob has an agent", "[0,1,2,3]"},
                 {"marl:samples=99,partition=interaction", "every knob has an agent", "[0,1,2,3]"},
                 {"marl:form=joint,samples=99,agents=2", "neighbouring knobs", "[0,0,1,1]"}};
    for (int i = 0; i < 3; i++) {
        Toy *toy = toy_open(cases[i].reference, 1000, MER_OK, NULL);
        toy_run(toy, 300, toy_coupled);
        mer_test_contains(toy_find_view(toy, "cluster_floor"),
                          "99 feasible of 99 samples, expected at least 100");
        mer_test_contains(toy_find_view(toy, "cluster_floor"), cases[i].instead);
        mer_test_contains(toy_find_view(toy, "partition"), cases[i].owner);
        assert_null(strstr(toy_find_view(toy, "partition"), "matrix"));
        toy_close(toy);
    }
    Toy *toy = toy_open("marl:samples=400,form=joint,recluster=100", 2000, MER_OK, NULL);
    toy_run(toy, 1000, sparse); /* infeasible ones do not count */
    mer_test_contains(toy_find_view(toy, "cluster_floor"), "feasible of 400 samples");
    assert_null(toy_find_view(toy, "recluster"));
    toy_close(toy);
    toy = toy_open("marl:samples=100", 1000, MER_OK, NULL);
    toy_run(toy, 300, toy_coupled);
    assert_null(toy_find_view(toy, "cluster_floor"));
    mer_test_contains(toy_find_view(toy, "partition"), "matrix");
    toy_close(toy);
}

static void test_warm_samples_are_free(void **state)
{
    (void)state;
    Toy     *toy = toy_open("marl:samples=300", 1000, MER_OK, NULL);
    MerIndex point[TOY_KNOBS];
    MerRng   rng = mer_rng_make(8, 0);
    for (int i = 0; i < 300; i++) {
        mer_space_sample(toy->space, &rng, point);
        MerTrial trial = {.index = i, .point = point, .score = toy_coupled(point, i), .warm = true};
        toy->type->tell(toy->optimizer, &trial, 1);
    }
    toy_run(toy, 8, toy_coupled);
    mer_test_contains(toy_find_view(toy, "partition"), "\"text\":\"300 of an earlier run\"");
    assert_null(strstr(toy_find_view(toy, "partition"), "\"mark\"")); /* they cost no budget */
    toy_close(toy);
}

/* Saved in the middle of a batch, loaded elsewhere: both go on with the same points. */
static void test_saved_states_go_on_alike(void **state)
{
    (void)state;
    static const char *const references[] = {"reinforce",
                                             "a2c",
                                             "ppo",
                                             "reinforce:heads=joint",
                                             "a2c:heads=joint",
                                             "ppo:heads=ordered",
                                             "marl:samples=200,heads=joint",
                                             "marl:samples=200,heads=ordered",
                                             "marl:preset=paper,samples=200,heads=joint",
                                             "marl:samples=200",
                                             "marl:samples=1500",
                                             "marl:samples=200,recluster=300",
                                             "marl:agents=all,candidates=1",
                                             "marl:samples=200,central=true",
                                             "marl:preset=paper,samples=200",
                                             "marl:preset=paper,samples=800",
                                             "marl:preset=paper,samples=800,initial=latin"};
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        Toy *one = toy_open(references[i], 4000, MER_OK, NULL);
        Toy *other = toy_open(references[i], 4000, MER_OK, NULL);
        toy_run(one, 500 + 3, toy_coupled);
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_int_equal(one->type->save(one->optimizer, MER_KEEP_ALL, file, NULL), MER_OK);
        rewind(file);
        assert_int_equal(other->type->load(other->optimizer, MER_KEEP_ALL, file, NULL), MER_OK);
        other->rng = one->rng;
        other->path = one->path;
        toy_run(one, 1500, toy_coupled);
        toy_run(other, 1500, toy_coupled);
        if (one->path != other->path) {
            fail_msg("%s goes another way", references[i]);
        }
        rewind(file);
        assert_int_equal(ftruncate(fileno(file), 1000), 0);
        assert_int_equal(other->type->load(other->optimizer, MER_KEEP_ALL, file, NULL),
                         MER_INVALID);
        fclose(file);
        toy_close(one);
        toy_close(other);
    }
}

static void test_saved_policies_start_where_they_ended(void **state)
{
    (void)state;
    static const char *const references[] = {"ppo",
                                             "marl:preset=bandit,agents=all",
                                             "marl:preset=paper,samples=400",
                                             "ppo:heads=joint",
                                             "ppo:heads=ordered",
                                             "marl:preset=paper,samples=400,heads=joint"};
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        Toy   *one = toy_open(references[i], 4000, MER_OK, NULL);
        Toy   *other = toy_open(references[i], 4000, MER_OK, NULL);
        double end = toy_run(one, 4000, toy_coupled);
        assert_int_equal(toy_hand_on(one, other, MER_KEEP_POLICY, NULL), MER_OK);
        double begin = toy_run(other, 200, toy_coupled);
        if (!(begin < end + 3)) {
            fail_msg("%s ends at %.2f and begins at %.2f", references[i], end, begin);
        }
        toy_close(one);
        toy_close(other);
    }
}

/* Best at a = 1, b = 6, c = 2, d = 5. */
static double peak(const MerIndex *p, int64_t trial)
{
    (void)trial;
    return exp(0.5 * (abs(p[0] - 1) + abs(p[1] - 6) + abs(p[2] - 2) + abs(p[3] - 5)));
}

/* The same with other knobs: d, e, c, b, a, where e has no effect, c begins with smaller sizes and b has a choice less. */
static double moved_peak(const MerIndex *p, int64_t trial)
{
    return peak((MerIndex[]){p[4], p[3], p[2] - 3, p[0]}, trial);
}

static double begin_next(const char *reference, double *first)
{
    static const double sizes[] = {1, 2, 3, 4, 5, 6, 7, 8}, later[] = {-2, -1, 0, 1, 2, 3, 4, 5};
    MerKnob             knobs[5], moved[5];
    for (int k = 0; k < 5; k++) {
        knobs[k] = (MerKnob){.name = (const char *[]){"a", "b", "c", "d", "e"}[k],
                             .kind = MER_KNOB_ORDERED,
                             .choices = 8,
                             .values = sizes};
        moved[k] = (MerKnob){.name = (const char *[]){"d", "e", "c", "b", "a"}[k],
                             .kind = MER_KNOB_ORDERED,
                             .choices = k == 3 ? 7 : 8,
                             .values = k == 2 ? later : sizes};
    }
    Toy *toy = toy_open_space(reference, 4000, 4, knobs, MER_OK, NULL);
    *first = toy_run(toy, 4000, peak);
    toy_next_task(toy, 5, moved, 4000);
    double begin = toy_run(toy, 64, moved_peak);
    assert_true(toy_run(toy, 4000, moved_peak) < 20); /* and it goes on learning */
    toy_close(toy);
    return begin;
}

static void test_a_lone_agent_takes_its_policy_to_the_next_task_if_told_to(void **state)
{
    (void)state;
    static const char *const names[] = {"ppo", "a2c:rate=0.01,discount=0.99", "reinforce:rate=0.05",
                                        "ppo:heads=ordered", "reinforce:rate=0.05,heads=joint"};
    for (int i = 0; i < 5; i++) {
        char        reference[64];
        double      first, with, half, without;
        const char *mark = strchr(names[i], ':') ? "," : ":";
        snprintf(reference, sizeof reference, "%s%stransfer=1", names[i], mark);
        with = begin_next(reference, &first);
        snprintf(reference, sizeof reference, "%s%stransfer=0.5", names[i], mark);
        half = begin_next(reference, &first);
        without = begin_next(names[i], &first);
        if (!(with < 2 * first + 2 && with < half && half < without)) {
            fail_msg("%s: ended at %.1f, began at %.1f, %.1f with half of it, %.1f anew", names[i],
                     first, with, half, without);
        }
    }
}

/* The same points that agents in turns start a task with, for a fair comparison with them. */
static void test_annealing_tries_the_best_of_earlier_tasks_if_told_to(void **state)
{
    (void)state;
    double best[2], first[2];
    for (int i = 0; i < 2; i++) {
        Toy *toy = toy_open(i == 0 ? "annealing" : "annealing:transfer=24", 2000, MER_OK, NULL);
        for (int k = 0; k < TOY_KNOBS; k++) {
            toy->knobs[k].name = (const char *[]){"a", "b", "c", "d"}[k];
        }
        toy_next_task(toy, TOY_KNOBS, toy->knobs, 2000); /* with names, which transfer goes by */
        toy_run(toy, 2000, peak);
        best[i] = toy->best;
        toy_next_task(toy, TOY_KNOBS, toy->knobs, 2000);
        toy->capacity = 1;
        toy_run(toy, 1, peak);
        first[i] = toy->best;
        toy_close(toy);
    }
    assert_true(best[0] == best[1]);
    assert_true(first[1] == best[1] && first[0] > best[0]);
}

/* Wild numbers at places all over a state, which a right checksum does not exclude: refused with one
 * line, or without effect on where the search may go. Gives how many were refused. */
static int load_wild(const char *reference, char *data, size_t size, int32_t wild, size_t first)
{
    int refused = 0;
    for (size_t at = first; at + sizeof wild <= size; at += 4 * 61) {
        MerError error = {0};
        char     kept[sizeof wild];
        memcpy(kept, data + at, sizeof kept);
        memcpy(data + at, &wild, sizeof wild);
        Toy      *toy = toy_open(reference, 4000, MER_OK, NULL);
        FILE     *file = fmemopen(data, size, "r");
        MerStatus status = toy->type->load(toy->optimizer, MER_KEEP_ALL, file, &error);
        fclose(file);
        memcpy(data + at, kept, sizeof kept);
        if (status == MER_OK) {
            toy_run(toy, 40, toy_coupled);
        } else {
            assert_int_equal(status, MER_INVALID);
            assert_true(error.message[0] != '\0' && strchr(error.message, '\n') == NULL);
            refused++;
        }
        toy_close(toy);
    }
    return refused;
}

static void test_wild_numbers_in_saved_states_do_no_harm(void **state)
{
    (void)state;
    static const char *const references[] = {
        "reinforce:lanes=2,unroll=4", "ppo:lanes=2,unroll=4,width=3,depth=1,heads=joint",
        "marl:samples=100,recluster=100,lanes=2,unroll=4,width=3,candidates=4",
        "marl:preset=paper,samples=20,initial=latin,lanes=2,unroll=4,width=3,depth=1",
        "marl:preset=paper,samples=400,initial=latin,lanes=2,unroll=4,width=3,depth=1"};
    static const int32_t wild[] = {0x7fffffff, -2, 0x01010101, 65};
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        Toy   *toy = toy_open(references[i], 4000, MER_OK, NULL);
        char  *data = NULL;
        size_t size = 0;
        int    refused = 0;
        FILE  *memory = open_memstream(&data, &size);
        toy_run(toy, 210 + 3, toy_coupled);
        assert_int_equal(toy->type->save(toy->optimizer, MER_KEEP_ALL, memory, NULL), MER_OK);
        fclose(memory);
        for (size_t w = 0; w < sizeof wild / sizeof wild[0]; w++) {
            refused += load_wild(references[i], data, size, wild[w], 4 * w);
        }
        assert_true(refused > 0);
        toy_close(toy);
        free(data);
    }
}

/* What joint heads know of pairs is of no use to others, and ordered heads' numbers are no logits. */
static void test_policies_of_other_heads_are_not_taken(void **state)
{
    (void)state;
    static const char *const heads[] = {"independent", "joint", "ordered"};
    for (int i = 0; i < 9; i++) {
        char     references[2][64];
        MerError error = {0};
        snprintf(references[0], 64, "ppo:heads=%s", heads[i / 3]);
        snprintf(references[1], 64, "ppo:heads=%s", heads[i % 3]);
        Toy *one = toy_open(references[0], 1000, MER_OK, NULL);
        Toy *other = toy_open(references[1], 1000, MER_OK, NULL);
        assert_int_equal(toy_hand_on(one, other, MER_KEEP_POLICY, &error),
                         i / 3 == i % 3 ? MER_OK : MER_INVALID);
        assert_int_equal(toy_hand_on(one, other, MER_KEEP_ALL, &error),
                         i / 3 == i % 3 ? MER_OK : MER_INVALID);
        toy_close(one);
        toy_close(other);
        /* marl takes what fits: clusters, points and critic */
        snprintf(references[0], 64, "marl:samples=100,heads=%s", heads[i / 3]);
        snprintf(references[1], 64, "marl:samples=100,heads=%s", heads[i % 3]);
        one = toy_open(references[0], 1000, MER_OK, NULL);
        other = toy_open(references[1], 1000, MER_OK, NULL);
        toy_run(one, 300, toy_coupled);
        assert_int_equal(toy_hand_on(one, other, MER_KEEP_POLICY, NULL), MER_OK);
        toy_run(other, 100, toy_coupled);
        assert_true(other->best <= one->best);
        toy_close(one);
        toy_close(other);
    }
}

static void test_joint_heads_refuse_a_space_too_large_for_them(void **state)
{
    (void)state;
    MerKnob  knobs[100];
    MerError error = {0};
    for (int k = 0; k < 100; k++) {
        knobs[k] = (MerKnob){.name = "k", .kind = MER_KNOB_ORDERED, .choices = 50};
    }
    MerSpace  space = {.knob_count = 100, .knobs = knobs};
    Toy      *toy = toy_open("ppo:heads=joint", 100, MER_OK, NULL);
    MerSearch search = *toy->search;
    search.space = &space;
    assert_int_equal(toy->type->next_task(toy->optimizer, &search, &error), MER_UNSUPPORTED);
    mer_test_contains(error.message, "5000 choices in all, expected at most 4096");
    toy_close(toy);
}

/* What follows a point is none of its merit where the next one is drawn afresh; in turns it is. */
static void test_discount_is_zero_where_a_point_is_an_episode(void **state)
{
    (void)state;
    static const struct {
        const char *plain, *same, *other;
    } cases[] = {
        {"ppo", "ppo:discount=0", "ppo:discount=0.99"},
        {"a2c", "a2c:discount=0", "a2c:discount=0.99"},
        {"marl:form=joint,agents=all", "marl:form=joint,agents=all,discount=0",
         "marl:form=joint,agents=all,discount=0.99"},
        {"marl:agents=all", "marl:agents=all,discount=0.99", "marl:agents=all,discount=0"}};
    for (int i = 0; i < 4; i++) {
        const char *references[3] = {cases[i].plain, cases[i].same, cases[i].other};
        uint64_t    paths[3];
        for (int r = 0; r < 3; r++) {
            Toy *toy = toy_open(references[r], 1000, MER_OK, NULL);
            toy_run(toy, 400, toy_coupled);
            paths[r] = toy->path;
            toy_close(toy);
        }
        assert_true(paths[0] == paths[1] && paths[0] != paths[2]);
    }
}

/* Sampling by annealing cannot be saved half-way; a restart asks again instead. */
static void test_an_initial_policy_without_state_says_so(void **state)
{
    (void)state;
    MerError error = {0};
    FILE    *file = tmpfile();
    Toy     *toy = toy_open("marl:preset=paper,samples=400,initial=annealing", 1000, MER_OK, NULL);
    toy_run(toy, 100, toy_coupled);
    assert_int_equal(toy->type->save(toy->optimizer, MER_KEEP_ALL, file, &error), MER_UNSUPPORTED);
    mer_test_contains(error.message, "initial policy annealing has no state");
    toy_run(toy, 400, toy_coupled);
    assert_int_equal(toy->type->save(toy->optimizer, MER_KEEP_ALL, file, &error), MER_OK);
    fclose(file);
    toy_close(toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clusters_are_the_coupled_knobs),
        cmocka_unit_test(test_agents_can_be_given),
        cmocka_unit_test(test_every_learner_gets_better),
        cmocka_unit_test(test_sparse_reward_is_reported_when_nothing_is_feasible),
        cmocka_unit_test(test_sparse_reward_is_reported_when_nothing_improves),
        cmocka_unit_test(test_drift_is_reported_and_reclustering_follows_it),
        cmocka_unit_test(test_another_initial_policy_is_advised_only_where_there_is_one),
        cmocka_unit_test(test_clusters_of_too_few_samples_are_refused),
        cmocka_unit_test(test_warm_samples_are_free),
        cmocka_unit_test(test_saved_states_go_on_alike),
        cmocka_unit_test(test_saved_policies_start_where_they_ended),
        cmocka_unit_test(test_a_lone_agent_takes_its_policy_to_the_next_task_if_told_to),
        cmocka_unit_test(test_an_initial_policy_without_state_says_so),
        cmocka_unit_test(test_annealing_tries_the_best_of_earlier_tasks_if_told_to),
        cmocka_unit_test(test_wild_numbers_in_saved_states_do_no_harm),
        cmocka_unit_test(test_policies_of_other_heads_are_not_taken),
        cmocka_unit_test(test_joint_heads_refuse_a_space_too_large_for_them),
        cmocka_unit_test(test_discount_is_zero_where_a_point_is_an_episode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
