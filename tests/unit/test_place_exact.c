/* The solvers ideal_dp and pipedream on graphs small enough to split by hand, and what they refuse. */
#include "one_arena.h"
#include "place_random.h"

#include "place/solve/stages.h"

/* A chain of operators: each takes its time on an accelerator and ten times as long on a host. */
static RandomNodes chain_of(int count, const double *times)
{
    RandomNodes nodes = new_nodes(count, false, arena);
    for (int n = 0; n < count; n++) {
        nodes.unit_us[n] = times[n];
        nodes.host_us[n] = 10 * times[n];
        nodes.size[n] = 10;
        nodes.bytes[n] = 10;
        nodes.class_of[n] = -1;
        if (n > 0) {
            nodes.reads[n * count + n - 1] = true;
        }
    }
    return nodes;
}

static const MerPlatform *units(int accelerators, int hosts, double memory)
{
    return random_platform(accelerators, hosts, false, memory, NULL, arena);
}

typedef struct Answer {
    MerStatus status;
    MerError  error;
    int       count; /* of points asked for */
    MerIndex *point;
    MerCost   cost; /* of the point */
    MerBound  bound;
    bool      is_proven;
    char      note[200];
} Answer;

static void take_note(void *state, const char *name, const char *json)
{
    Answer *answer = state;
    snprintf(answer->note, sizeof answer->note, "%s: %s", name, json);
}

static bool never(void *state)
{
    (void)state;
    return false;
}

static Answer ask(const OpenedPlace *opened, const char *solver, MerMetric objective, int knobs)
{
    Answer                   answer = {0};
    MerNotes                 notes = {.state = &answer, .note = take_note, .is_cancelled = never};
    const MerOptimizerClass *type = mer_optimizer_find(name_in(solver, arena), NULL);
    const void *options = options_from(solver, type->options, type->options_size, arena);
    MerSpace    space = opened->problem.space;
    MerSearch   search = {
          .space = &space, .objective = objective, .budget = 10, .notes = &notes, .arena = arena};
    MerProposal proposal = {.point = MER_ARRAY(arena, MerIndex, space.knob_count + 1)};
    void       *state = mer_arena_alloc(arena, type->state_size);
    space.knob_count -= knobs;
    answer.status = type->open_problem(state, &search, &opened->problem, &opened->evaluator,
                                       options, &answer.error);
    if (answer.status == MER_OK) {
        answer.count = type->ask(state, &proposal, 1);
        answer.point = proposal.point;
        answer.is_proven = type->proof(state, &answer.bound);
        assert_int_equal(type->ask(state, &(MerProposal){.point = proposal.point}, 1), 0);
    }
    if (answer.count > 0) {
        answer.cost = price_point(opened, proposal.point);
    }
    return answer;
}

static Answer solve(const OpenedPlace *opened, const char *solver)
{
    Answer answer = ask(opened, solver, MER_METRIC_PERIOD, 0);
    if (answer.status != MER_OK) {
        fail_msg("%s", answer.error.message);
    }
    return answer;
}

static void assert_period(const Answer *answer, double us)
{
    assert_int_equal(answer->count, 1);
    if (!answer->cost.feasible) {
        fail_msg("%s", answer->cost.reason);
    }
    assert_true(fabs(answer->cost.value[MER_METRIC_PERIOD] - 1e-6 * us) < 1e-15 * us);
}

static OpenedPlace *open_nodes(const RandomNodes *nodes, const char *problem, const char *evaluator,
                               const MerPlatform *platform)
{
    return open_place_graph(problem, evaluator, graph_of_nodes(nodes, arena), platform, arena);
}

/* 3 4 | 5 1 on two accelerators; with transfers of 2 between 3 and 4, and of 9 elsewhere, 3 | 4 5 1. */
static void test_a_chain_is_cut_where_load_and_transfer_are_least(void **state)
{
    RandomNodes nodes = chain_of(4, (double[]){3, 4, 5, 1});
    (void)state;
    Answer answer = solve(open_nodes(&nodes, "place", "maxload", units(2, 0, 1e9)), "ideal_dp");
    assert_period(&answer, 7);
    nodes.transfer_us[0] = 2;
    nodes.transfer_us[1] = nodes.transfer_us[2] = 9;
    answer = solve(open_nodes(&nodes, "place", "maxload", units(2, 0, 1e9)), "ideal_dp");
    assert_period(&answer, 12);
    answer =
        solve(open_nodes(&nodes, "place", "maxload:transfer=max", units(2, 0, 1e9)), "ideal_dp");
    assert_period(&answer, 9);
}

static void test_the_scope_of_the_proof_is_what_the_evaluator_allows(void **state)
{
    RandomNodes nodes = chain_of(4, (double[]){3, 4, 5, 1});
    (void)state;
    Answer answer = solve(open_nodes(&nodes, "place", "maxload", units(2, 0, 1e9)), "ideal_dp");
    assert_true(answer.is_proven);
    assert_string_equal(answer.bound.scope, "contiguous");
    assert_true(fabs(answer.bound.value - 7e-6) < 1e-18);
    answer = solve(open_nodes(&nodes, "place", "maxload:require_contiguous=true", units(2, 0, 1e9)),
                   "ideal_dp");
    assert_string_equal(answer.bound.scope, "");
    assert_string_equal(answer.note, "");
    answer = solve(open_nodes(&nodes, "place", "maxload", units(2, 0, 1e9)), "ideal_dp:ideals=4");
    assert_period(&answer, 7); /* the graph is a chain anyway */
    assert_false(answer.is_proven);
    mer_test_contains(answer.note, "not proven");
}

/* Operators 0 and 3 are of one class, so that all four depend on each other. */
static void test_classes_that_depend_on_each_other_stay_together(void **state)
{
    RandomNodes nodes = chain_of(5, (double[]){3, 4, 5, 1, 2});
    (void)state;
    nodes.class_of[0] = nodes.class_of[3] = 7;
    Answer answer = solve(open_nodes(&nodes, "place", "maxload", units(3, 0, 1e9)), "ideal_dp");
    assert_period(&answer, 13);
}

static void test_a_split_beyond_memory_is_asked_for_with_its_reason(void **state)
{
    RandomNodes nodes = chain_of(4, (double[]){3, 4, 5, 1});
    (void)state;
    Answer answer = solve(open_nodes(&nodes, "place", "maxload", units(3, 0, 11)), "ideal_dp");
    assert_int_equal(answer.count, 1);
    assert_false(answer.cost.feasible || answer.is_proven);
    mer_test_contains(answer.cost.reason, "memory: acc");
    answer = solve(open_nodes(&nodes, "place", "maxload", units(3, 0, 11)), "pipedream");
    mer_test_contains(answer.cost.reason, "memory: acc");
    answer = solve(open_nodes(&nodes, "place", "maxload", units(3, 0, 21)), "ideal_dp");
    assert_period(&answer, 6); /* two operators a unit: 3 | 4 | 5 1 */
}

/* Without any link between units nothing can be cut. */
static void test_results_that_cannot_be_moved_are_not_cut(void **state)
{
    RandomNodes nodes = chain_of(4, (double[]){3, 4, 5, 1});
    (void)state;
    for (int n = 0; n < 4; n++) {
        nodes.transfer_us[n] = INFINITY;
    }
    nodes.reads[2 * 4 + 1] = false; /* two chains */
    Answer answer = solve(open_nodes(&nodes, "place", "maxload", units(3, 0, 1e9)), "ideal_dp");
    assert_period(&answer, 7);
}

/* 8 1 1 on three units: alone 8; the first twice and 1 1 once (8 + 4 * 10 / (10 * 2)) / 2 = 5 at 10 bytes per us. */
static void test_pipedream_shares_the_long_stage(void **state)
{
    RandomNodes  nodes = chain_of(3, (double[]){8, 1, 1});
    OpenedPlace *opened =
        open_nodes(&nodes, "place:replication=true", "maxload:bandwidth=1e7", units(3, 0, 1e9));
    (void)state;
    Answer answer = solve(opened, "pipedream:straight=true");
    assert_period(&answer, 8);
    assert_false(answer.is_proven);
    answer = solve(opened, "pipedream");
    /* all three share all: (10 + 4 * 2 * 30 / (10 * 3)) / 3 = 6 */
    assert_period(&answer, 5);
    assert_int_equal(answer.point[3], 1); /* replicas of acc0: two */
    answer = solve(opened, "pipedream:use_fewer_machines=true");
    assert_true(answer.is_proven);
    assert_string_equal(answer.bound.scope, "contiguous");
    answer = solve(opened, "pipedream:bandwidth=1e3"); /* it thinks that sharing is dear */
    assert_period(&answer, 8);
}

/* Of four operators with 20 bytes each the first stage keeps one version: 25 bytes hold one operator. */
static void test_pipedream_counts_the_memory_of_samples_on_their_way(void **state)
{
    RandomNodes  nodes = chain_of(4, (double[]){1, 1, 1, 1});
    OpenedPlace *opened = open_nodes(&nodes, "place", "maxload", units(2, 0, 1e9));
    (void)state;
    Answer answer = solve(opened, "pipedream");
    assert_period(&answer, 2);
    answer = solve(opened, "pipedream:memory=25");
    assert_period(&answer, 3);
}

static void test_pipedream_leaves_units_idle_where_operators_are_too_few(void **state)
{
    RandomNodes  nodes = chain_of(2, (double[]){1, 1});
    OpenedPlace *opened = open_nodes(&nodes, "place", "maxload", units(3, 0, 1e9));
    (void)state;
    Answer answer = solve(opened, "pipedream");
    assert_period(&answer, 1);
}

static void assert_refused(const OpenedPlace *opened, const char *solver, MerMetric objective,
                           int knobs, const char *part)
{
    Answer answer = ask(opened, solver, objective, knobs);
    assert_int_equal(answer.status, MER_UNSUPPORTED);
    mer_test_contains(answer.error.message, part);
}

static void test_what_the_solvers_refuse(void **state)
{
    RandomNodes  nodes = chain_of(3, (double[]){1, 2, 3});
    OpenedPlace *plain = open_nodes(&nodes, "place", "maxload", units(2, 1, 1e9));
    OpenedPlace *shared = open_nodes(&nodes, "place:replication=true", "maxload", units(2, 1, 1e9));
    MerRng       rng = mer_rng_make(1, 0);
    (void)state;
    assert_refused(plain, "ideal_dp", MER_METRIC_UTILISATION, 0, "found another objective");
    assert_refused(plain, "ideal_dp", MER_METRIC_PERIOD, 1, "found other knobs, or fixed ones");
    assert_refused(shared, "ideal_dp", MER_METRIC_PERIOD, 0, "found replicas (pipedream splits");
    assert_refused(plain, "pipedream", MER_METRIC_PERIOD, 1, "found fixed knobs");
    assert_refused(open_nodes(&nodes, "place", "maxload", units(0, 2, 1e9)), "pipedream",
                   MER_METRIC_PERIOD, 0, "found none in random");
    assert_refused(open_nodes(&nodes, "place:pin=[n1=acc1]", "maxload", units(2, 1, 1e9)),
                   "pipedream", MER_METRIC_PERIOD, 0, "found that acc0 and acc1 differ");
    assert_refused(
        open_nodes(&nodes, "place", "maxload", random_platform(3, 0, true, 1e9, &rng, arena)),
        "pipedream", MER_METRIC_PERIOD, 0, "differ");
    nodes.unit_us[1] = INFINITY;
    assert_refused(open_nodes(&nodes, "place", "maxload", units(2, 1, 1e9)), "pipedream",
                   MER_METRIC_PERIOD, 0, "found n1, which may run on none of them");
}

/* More kinds of units than there can be states of: the units one after the other. */
static void test_many_different_units_are_taken_in_a_row(void **state)
{
    enum { UNITS = 26 };
    double      times[UNITS];
    const char *pins = "";
    (void)state;
    for (int i = 0; i < UNITS; i++) {
        times[i] = 1 + i % 3;
        pins = mer_arena_format(arena, "%s%sn%d$=acc%d", pins, i > 0 ? "," : "", i, i);
    }
    RandomNodes  nodes = chain_of(UNITS, times);
    OpenedPlace *opened = open_nodes(&nodes, mer_arena_format(arena, "place:pin=[%s]", pins),
                                     "maxload", units(UNITS, 0, 1e9));
    Answer       answer = solve(opened, "ideal_dp");
    assert_period(&answer, 3);
    assert_false(answer.is_proven);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_chain_is_cut_where_load_and_transfer_are_least),
        cmocka_unit_test(test_the_scope_of_the_proof_is_what_the_evaluator_allows),
        cmocka_unit_test(test_classes_that_depend_on_each_other_stay_together),
        cmocka_unit_test(test_a_split_beyond_memory_is_asked_for_with_its_reason),
        cmocka_unit_test(test_results_that_cannot_be_moved_are_not_cut),
        cmocka_unit_test(test_pipedream_shares_the_long_stage),
        cmocka_unit_test(test_pipedream_counts_the_memory_of_samples_on_their_way),
        cmocka_unit_test(test_pipedream_leaves_units_idle_where_operators_are_too_few),
        cmocka_unit_test(test_what_the_solvers_refuse),
        cmocka_unit_test(test_many_different_units_are_taken_in_a_row),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
