/* The learning optimizers on a toy space, driven by hand: clusters, warm samples, re-clustering,
 * and the two signs of failure, each provoked. */
#include "mercator/registry.h"
#include "support.h"

#include <math.h>

enum { KNOBS = 4, CAPACITY = 16 };

typedef struct Toy {
    MerArena                *arena;
    MerKnob                  knobs[KNOBS];
    MerSpace                 space;
    MerRng                   rng;
    MerNotes                 notes;
    MerSearch                search;
    const MerOptimizerClass *type;
    void                    *optimizer;
    int                      note_count;
    char                     names[64][32], texts[64][1200];
    int64_t                  trials;
} Toy;

static void keep_note(void *state, const char *name, const char *json)
{
    Toy *toy = state;
    if (toy->note_count < 64) {
        snprintf(toy->names[toy->note_count], sizeof toy->names[0], "%s", name);
        snprintf(toy->texts[toy->note_count++], sizeof toy->texts[0], "%s", json);
    }
}

static Toy *toy_open(const char *reference, int64_t budget, MerStatus expected, MerError *error)
{
    Toy         *toy = calloc(1, sizeof *toy);
    MerReference parsed;
    toy->arena = mer_arena_new();
    for (int k = 0; k < KNOBS; k++) {
        toy->knobs[k] = (MerKnob){.name = "k",
                                  .kind = MER_KNOB_ORDERED,
                                  .choices = 8,
                                  .role = k < 2 ? MER_ROLE_TILE : MER_ROLE_ORDER};
    }
    toy->space = (MerSpace){.knob_count = KNOBS, .knobs = toy->knobs};
    toy->rng = mer_rng_make(3, 0);
    toy->notes = (MerNotes){.state = toy, .note = keep_note};
    toy->search = (MerSearch){.space = &toy->space,
                              .task_count = 1,
                              .objective = MER_METRIC_COUNT,
                              .budget = budget,
                              .rng = &toy->rng,
                              .notes = &toy->notes,
                              .arena = toy->arena};
    assert_int_equal(mer_reference_parse(reference, &parsed, toy->arena, NULL), MER_OK);
    toy->type = mer_optimizer_find(parsed.name, NULL);
    assert_non_null(toy->type);
    void *options = mer_arena_alloc(toy->arena, toy->type->options_size);
    assert_int_equal(mer_options_fill(toy->type->options, toy->type->presets, options, &parsed,
                                      toy->arena, NULL),
                     MER_OK);
    toy->optimizer = mer_arena_alloc(toy->arena, toy->type->state_size);
    assert_int_equal(toy->type->open(toy->optimizer, &toy->search, options, error), expected);
    return toy;
}

static void toy_close(Toy *toy)
{
    toy->type->close(toy->optimizer);
    mer_arena_free(toy->arena);
    free(toy);
}

typedef double (*Score)(const MerIndex *point, int64_t trial);

/* Asks and tells; gives the mean score of the last quarter. */
static double toy_run(Toy *toy, int64_t trials, Score score)
{
    MerIndex    points[CAPACITY][KNOBS];
    MerProposal proposals[CAPACITY];
    MerTrial    told[CAPACITY];
    double      sum = 0;
    int64_t     end = toy->trials + trials, last = end - trials / 4, counted = 0;
    while (toy->trials < end) {
        int64_t left = end - toy->trials;
        for (int i = 0; i < CAPACITY; i++) {
            proposals[i] = (MerProposal){points[i], INFINITY, -1};
        }
        int count =
            toy->type->ask(toy->optimizer, proposals, left < CAPACITY ? (int)left : CAPACITY);
        assert_in_range(count, 1, CAPACITY);
        for (int i = 0; i < count; i++) {
            assert_true(mer_space_contains(&toy->space, points[i]));
            told[i] = (MerTrial){
                .index = toy->trials, .point = points[i], .score = score(points[i], toy->trials)};
            sum += toy->trials >= last ? told[i].score : 0;
            counted += toy->trials >= last;
            toy->trials++;
        }
        toy->type->tell(toy->optimizer, told, count);
    }
    return sum / (double)counted;
}

static const char *find_note(const Toy *toy, const char *name)
{
    for (int i = 0; i < toy->note_count; i++) {
        if (strcmp(toy->names[i], name) == 0) {
            return toy->texts[i];
        }
    }
    return NULL;
}

static double coupled(const MerIndex *p, int64_t trial)
{
    (void)trial;
    return exp(0.5 * abs(p[0] - p[1]) + 0.5 * abs(p[2] - p[3]));
}

static double never(const MerIndex *p, int64_t trial)
{
    (void)p, (void)trial;
    return INFINITY;
}

static double flat(const MerIndex *p, int64_t trial)
{
    (void)p, (void)trial;
    return 10;
}

/* Good points couple other knobs than the first samples do. */
static double changing(const MerIndex *p, int64_t trial)
{
    return trial < 500 ? 1000 * coupled(p, trial)
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
        toy_run(toy, 600, coupled);
        const char *note = find_note(toy, "partition");
        assert_non_null(note);
        mer_test_contains(note, "\"agents\": 2, \"owner\": [0, 0, 1, 1]");
        toy_close(toy);
    }
}

static void test_agents_can_be_given(void **state)
{
    (void)state;
    static const struct {
        const char *reference, *owner;
    } cases[] = {{"marl:agents=1", "\"owner\": [0, 0, 0, 0]"},
                 {"marl:agents=all", "\"owner\": [0, 1, 2, 3]"},
                 {"marl:agents=3,partition=random", "\"agents\": 3"}};
    for (int i = 0; i < 3; i++) {
        Toy *toy = toy_open(cases[i].reference, 1000, MER_OK, NULL);
        toy_run(toy, 10, coupled);
        mer_test_contains(find_note(toy, "partition"), cases[i].owner);
        mer_test_contains(find_note(toy, "partition"), "\"samples\": 0");
        toy_close(toy);
    }
    MerError error = {0};
    Toy     *toy = toy_open("marl:agents=some", 1000, MER_INVALID, &error);
    mer_test_contains(error.message, "agents is \"some\", expected auto, all or a number");
    mer_arena_free(toy->arena);
    free(toy);
}

/* Random points of this toy score 36.6 on average, the best 1. */
static void test_every_learner_gets_better(void **state)
{
    (void)state;
    static const char *const references[] = {"reinforce:rate=0.05",
                                             "a2c:rate=0.01",
                                             "ppo",
                                             "ppo:ratio=knob",
                                             "ppo:reward=inverse",
                                             "ppo:discount=0",
                                             "marl:preset=paper,samples=400",
                                             "marl:preset=paper,samples=400,central=true",
                                             "ppo:preset=bandit",
                                             "marl:preset=bandit,agents=all"};
    for (size_t i = 0; i < sizeof references / sizeof references[0]; i++) {
        Toy   *toy = toy_open(references[i], 8000, MER_OK, NULL);
        double mean = toy_run(toy, 8000, coupled);
        if (!(mean < 5)) {
            fail_msg("%s: mean score %.2f at the end", references[i], mean);
        }
        assert_null(find_note(toy, "sparse_reward"));
        assert_null(find_note(toy, "correlation_drift"));
        toy_close(toy);
    }
}

static void test_sparse_reward_is_reported_when_nothing_is_feasible(void **state)
{
    (void)state;
    static const char *const references[] = {"reinforce", "a2c", "ppo", "marl:samples=300"};
    for (int i = 0; i < 4; i++) {
        Toy *toy = toy_open(references[i], 2000, MER_OK, NULL);
        toy_run(toy, 999, never);
        assert_null(find_note(toy, "sparse_reward"));
        toy_run(toy, 1001, never);
        const char *note = find_note(toy, "sparse_reward");
        assert_non_null(note);
        mer_test_contains(note, "\"feasible\": 0, \"found\": \"no feasible point\", \"try\": ");
        toy_close(toy);
    }
}

static void test_sparse_reward_is_reported_when_nothing_improves(void **state)
{
    (void)state;
    Toy *toy = toy_open("ppo:sparse_after=200", 1000, MER_OK, NULL);
    toy_run(toy, 300, flat);
    mer_test_contains(find_note(toy, "sparse_reward"), "nothing better than the first batch");
    toy_close(toy);
}

static void test_drift_is_reported_and_reclustering_follows_it(void **state)
{
    (void)state;
    Toy *toy = toy_open("marl:samples=500,recluster=1000", 4000, MER_OK, NULL);
    toy_run(toy, 4000, changing);
    mer_test_contains(find_note(toy, "partition"), "\"owner\": [0, 0, 1, 1]");
    const char *drift = find_note(toy, "correlation_drift");
    assert_non_null(drift);
    mer_test_contains(drift, "\"try\": \"recluster=1000");
    mer_test_contains(find_note(toy, "recluster"), "\"owner\": [0, 1, 0, 1]");
    toy_close(toy);
}

static void test_warm_samples_are_free(void **state)
{
    (void)state;
    Toy     *toy = toy_open("marl:samples=300", 1000, MER_OK, NULL);
    MerIndex point[KNOBS];
    MerRng   rng = mer_rng_make(8, 0);
    for (int i = 0; i < 300; i++) {
        mer_space_sample(&toy->space, &rng, point);
        MerTrial trial = {.index = i, .point = point, .score = coupled(point, i), .warm = true};
        toy->type->tell(toy->optimizer, &trial, 1);
    }
    toy_run(toy, 8, coupled);
    mer_test_contains(find_note(toy, "partition"), "\"samples\": 300");
    toy_close(toy);
}

/* Saved in the middle of a batch, loaded elsewhere: both go on with the same points. */
static void test_saved_states_go_on_alike(void **state)
{
    (void)state;
    static const char *const references[] = {"reinforce", "a2c", "ppo"};
    for (int i = 0; i < 3; i++) {
        Toy *one = toy_open(references[i], 4000, MER_OK, NULL);
        Toy *other = toy_open(references[i], 4000, MER_OK, NULL);
        toy_run(one, 500 + 4, coupled);
        FILE *file = tmpfile();
        assert_non_null(file);
        assert_int_equal(one->type->save(one->optimizer, MER_KEEP_ALL, file, NULL), MER_OK);
        rewind(file);
        assert_int_equal(other->type->load(other->optimizer, MER_KEEP_ALL, file, NULL), MER_OK);
        other->rng = one->rng;
        for (int round = 0; round < 10; round++) {
            assert_true(toy_run(one, 100, coupled) == toy_run(other, 100, coupled));
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
    Toy   *one = toy_open("ppo:discount=0", 4000, MER_OK, NULL);
    Toy   *other = toy_open("ppo:discount=0", 4000, MER_OK, NULL);
    double end = toy_run(one, 4000, coupled);
    FILE  *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(one->type->save(one->optimizer, MER_KEEP_POLICY, file, NULL), MER_OK);
    rewind(file);
    assert_int_equal(other->type->load(other->optimizer, MER_KEEP_POLICY, file, NULL), MER_OK);
    assert_true(toy_run(other, 200, coupled) < end + 3);
    fclose(file);
    toy_close(one);
    toy_close(other);
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
        cmocka_unit_test(test_warm_samples_are_free),
        cmocka_unit_test(test_saved_states_go_on_alike),
        cmocka_unit_test(test_saved_policies_start_where_they_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
