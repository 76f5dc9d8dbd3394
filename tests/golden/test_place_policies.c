/* Placing policies on a published graph (Tarnawski et al., NeurIPS 2020), with fewer samples than the 5,000 of
 * docs/placement.md, "Learned placement": the most likely placement is near the best contiguous split, or below it. */
#include "one_arena.h"
#include "place_support.h"
#include "shared.h"

/* The score of the last trial, which is the most likely placement. */
static double last_score(const char *reference, const OpenedPlace *opened, int64_t budget)
{
    const MerSpace *space = &opened->problem.space;
    MerRng          rng = mer_rng_make(1, 0);
    MerReference    parsed;
    MerError        error = {0};
    MerSearch       search = {.space = space,
                              .task_count = 1,
                              .objective = MER_METRIC_PERIOD,
                              .budget = budget,
                              .rng = &rng,
                              .arena = arena};
    assert_int_equal(mer_reference_parse(reference, &parsed, arena, &error), MER_OK);
    const MerOptimizerClass *type = mer_optimizer_find(parsed.name, &error);
    void                    *options = mer_arena_alloc(arena, type->options_size);
    void                    *state = mer_arena_alloc(arena, type->state_size);
    assert_int_equal(
        mer_options_fill(type->options, type->presets, options, &parsed, arena, &error), MER_OK);
    assert_int_equal(type->open(state, &search, options, &error), MER_OK);
    MerIndex *point = MER_ARRAY(arena, MerIndex, space->knob_count);
    double    score = INFINITY;
    for (int64_t i = 0; i < budget; i++) {
        MerArena   *scratch = mer_arena_new();
        MerProposal proposal = {point, INFINITY, -1};
        MerPlan     plan;
        assert_int_equal(type->ask(state, &proposal, 1), 1);
        opened->problem.type->decode(&opened->problem, point, &plan, scratch);
        MerCost cost = price_plan(opened, &plan);
        score = cost.feasible ? cost.value[MER_METRIC_PERIOD] : INFINITY;
        type->tell(state, &(MerTrial){.index = i, .point = point, .cost = &cost, .score = score},
                   1);
        mer_arena_free(scratch);
    }
    type->close(state);
    return score;
}

static void check(const char *file, const char *reference, int64_t budget, double most_ms)
{
    char path[SHARED_PATH_SIZE];
    shared_path(path, mer_arena_format(arena, "golden/placement/%s", file));
    double found =
        1000 * last_score(reference, open_place("place", "maxload", path, NULL, arena), budget);
    if (!(found <= most_ms)) {
        fail_msg("%s on %s: %.6g ms, expected at most %.6g", reference, file, found, most_ms);
    }
}

/* Where results are dear to move: annealing from random placements is at 48 ms after 5,000 samples. */
static const char   bert[] = "msr-throughput-operator/bert_l-3_inference.json";
static const double bert_contiguous_ms = 27.91856768;

static void test_reinforce_lstm_cuts_bert_where_little_moves(void **state)
{
    (void)state;
    check(bert, "reinforce_lstm:preset=small", 3000, 1.08 * bert_contiguous_ms);
}

static void test_hdp_cuts_bert_where_little_moves(void **state)
{
    (void)state;
    check(bert, "hdp:preset=small", 3000, 1.08 * bert_contiguous_ms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reinforce_lstm_cuts_bert_where_little_moves),
        cmocka_unit_test(test_hdp_cuts_bert_where_little_moves),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
