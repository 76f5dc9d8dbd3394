/* Policies that place group after group: the graph that they make of tables, loads, networks, what they learn and what
 * they keep. */
#include "one_arena.h"
#include "unit_graph.h"

#include "mercator/text.h"
#include "opt/placer.h"

typedef struct Session { /* an optimizer on a graph, driven by hand */
    const UnitGraph         *graph;
    MerRng                   rng;
    MerNotes                 notes;
    MerSearch               *search;
    const MerOptimizerClass *type;
    MerPlacer               *placer;
    int64_t                  trials, last_noted;
    int                      greedy_notes;
    double                   best, last, noted; /* scores: best, last trial, last greedy note */
    uint64_t                 path;
    MerIndex                 point[UNIT_GRAPH_MOST]; /* the last one */
    bool                     is_always_refused;
} Session;

static void keep_note(void *state, const char *name, const char *json)
{
    Session *s = state;
    if (strcmp(name, "greedy") == 0) {
        s->greedy_notes++;
        s->last_noted = atoll(strstr(json, "\"trial\": ") + 9);
        s->noted = strstr(json, "null") ? INFINITY : atof(strstr(json, "\"score\": ") + 9);
    }
}

static MerSearch *search_on(Session *s, const UnitGraph *graph, int64_t budget)
{
    MerSearch *search = MER_NEW(arena, MerSearch);
    *search = (MerSearch){.space = &graph->space,
                          .task_count = 1,
                          .objective = MER_METRIC_COUNT,
                          .budget = budget,
                          .rng = &s->rng,
                          .notes = &s->notes,
                          .arena = arena};
    return search;
}

static Session *open_session(const char *reference, const UnitGraph *graph, int64_t budget,
                             uint64_t seed, MerStatus expected, MerError *error)
{
    Session     *s = MER_NEW(arena, Session);
    MerReference parsed;
    *s = (Session){.graph = graph, .best = INFINITY, .path = MER_HASH_START};
    s->rng = mer_rng_make(seed, 0);
    s->notes = (MerNotes){.state = s, .note = keep_note};
    s->search = search_on(s, graph, budget);
    assert_int_equal(mer_reference_parse(reference, &parsed, arena, NULL), MER_OK);
    s->type = mer_optimizer_find(parsed.name, NULL);
    assert_non_null(s->type);
    void *options = mer_arena_alloc(arena, s->type->options_size);
    assert_int_equal(
        mer_options_fill(s->type->options, s->type->presets, options, &parsed, arena, error),
        MER_OK);
    s->placer = mer_arena_alloc(arena, s->type->state_size);
    assert_int_equal(s->type->open(s->placer, s->search, options, error), expected);
    return s;
}

static void run_session(Session *s, int64_t trials, int capacity)
{
    MerIndex    points[64][UNIT_GRAPH_MOST];
    MerProposal proposals[64];
    MerTrial    told[64];
    while (trials > 0) {
        int count = trials < capacity ? (int)trials : capacity;
        for (int i = 0; i < count; i++) {
            proposals[i] = (MerProposal){points[i], INFINITY, -1};
        }
        count = s->type->ask(s->placer, proposals, count);
        assert_true(count > 0);
        for (int i = 0; i < count; i++) {
            assert_true(mer_space_contains(&s->graph->space, points[i]));
            s->last = s->is_always_refused ? INFINITY : unit_graph_score(s->graph, points[i]);
            s->best = fmin(s->best, s->last);
            s->path = mer_hash_bytes(s->path, points[i],
                                     (size_t)s->graph->space.knob_count * sizeof(MerIndex));
            memcpy(s->point, points[i], (size_t)s->graph->space.knob_count * sizeof(MerIndex));
            told[i] = (MerTrial){.index = s->trials++, .point = points[i], .score = s->last};
        }
        s->type->tell(s->placer, told, count);
        trials -= count;
    }
}

static double run_whole(const char *reference, const UnitGraph *graph, int64_t budget,
                        uint64_t seed)
{
    Session *s = open_session(reference, graph, budget, seed, MER_OK, NULL);
    run_session(s, budget, 16);
    double last = s->last;
    s->type->close(s->placer);
    return last;
}

static double best_random(const UnitGraph *graph, int trials)
{
    MerRng   rng = mer_rng_make(5, 0);
    MerIndex point[UNIT_GRAPH_MOST];
    double   best = INFINITY;
    for (int i = 0; i < trials; i++) {
        mer_space_sample(&graph->space, &rng, point);
        best = fmin(best, unit_graph_score(graph, point));
    }
    return best;
}

static void test_spaces_without_a_table_are_refused_by_its_name(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(6, 2, arena);
    unit_graph_finish(g, 0, arena);
    const char *needed = mer_optimizer_find("hdp", NULL)->tables;
    for (int t = 0; t < g->space.table_count; t++) {
        UnitGraph less = *g;
        MerTable *tables = MER_ARRAY(arena, MerTable, g->space.table_count);
        MerError  error = {0};
        char      text[80];
        memcpy(tables, g->space.tables, (size_t)g->space.table_count * sizeof *tables);
        if (!strstr(needed, tables[t].name)) {
            continue;
        }
        tables[t].name = "other";
        less.space.tables = tables;
        open_session("hdp:preset=small", &less, 10, 1, MER_UNSUPPORTED, &error);
        snprintf(text, sizeof text, "hdp: the space has no table \"%s\"", g->space.tables[t].name);
        mer_test_contains(error.message, text);
    }
}

static void test_spaces_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(6, 2, arena), other;
    MerError   error = {0};
    unit_graph_finish(g, 0, arena);
    other = *g;
    other.space.knob_count = 0;
    open_session("reinforce_lstm:preset=small", &other, 10, 1, MER_UNSUPPORTED, &error);
    mer_test_contains(error.message,
                      "reinforce_lstm: the space has no knob for the unit of a group");
    MerTable *tables = MER_ARRAY(arena, MerTable, g->space.table_count);
    memcpy(tables, g->space.tables, (size_t)g->space.table_count * sizeof *tables);
    tables[0].columns = 2;
    other = *g;
    other.space.tables = tables;
    open_session("reinforce_lstm:preset=small", &other, 10, 1, MER_UNSUPPORTED, &error);
    mer_test_contains(error.message, "table \"time\" of the space is 6 x 2, expected 6 x 3");
}

static void test_options_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(6, 2, arena);
    MerError   error = {0};
    unit_graph_finish(g, 0, arena);
    open_session("reinforce_lstm:standardise=true", g, 10, 1, MER_INVALID, &error);
    mer_test_contains(error.message, "standardise needs samples >= 2, found 1");
    open_session("hdp:hidden=7", g, 10, 1, MER_INVALID, &error);
    mer_test_contains(error.message, "hidden is 7, expected an even number with both_ways");
    open_session("hdp:clusters=4096,samples=9", g, 10, 1, MER_UNSUPPORTED, &error);
    mer_test_contains(error.message,
                      "samples is 9, expected at most 8 for attention over 4096 steps");
}

/* Two weights (0, 1) that are read by the operators 4 and 3 of their groups. */
static void test_groups_are_placed_when_their_last_operator_is_reached(void **state)
{
    (void)state;
    UnitGraph     *g = MER_NEW(arena, UnitGraph);
    MerPlacerGraph graph;
    *g = (UnitGraph){.ops = 6,
                     .groups = 4,
                     .accelerators = 2,
                     .units = 3,
                     .limit = INFINITY,
                     .group = {0, 1, 2, 1, 0, 3},
                     .edges = 5,
                     .from = {0, 1, 2, 3, 4},
                     .to = {4, 3, 3, 4, 5}};
    unit_graph_finish(g, 0, arena);
    assert_int_equal(mer_placer_graph(&g->space, "test", arena, &graph, NULL), MER_OK);
    static const int order[4] = {2, 1, 0, 3};
    assert_memory_equal(graph.order, order, sizeof order);
    assert_int_equal(graph.position[0], 2);
}

/* Forward 0 1 2, backward 3 (of group 2's class), 4 alone, 5 (of group 0): 4 works with both. */
static void test_groups_of_the_backward_pass_stand_beside_forward_ones(void **state)
{
    (void)state;
    UnitGraph     *g = MER_NEW(arena, UnitGraph);
    MerPlacerGraph graph;
    *g = (UnitGraph){.ops = 6,
                     .groups = 4,
                     .accelerators = 2,
                     .units = 3,
                     .limit = INFINITY,
                     .group = {0, 1, 2, 1, 3, 0},
                     .is_back = {false, false, false, true, true, true},
                     .edges = 5,
                     .from = {0, 1, 2, 3, 4},
                     .to = {1, 2, 3, 4, 5}};
    unit_graph_finish(g, 0, arena);
    assert_int_equal(mer_placer_graph(&g->space, "test", arena, &graph, NULL), MER_OK);
    static const int order[4] = {0, 1, 3, 2};
    assert_memory_equal(graph.order, order, sizeof order);
}

/* Whatever the order and the sets in which groups are placed. */
static void test_loads_that_grow_end_at_the_largest_load(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        UnitGraph     *g = unit_graph_random(30, 14, seed, arena);
        MerPlacerGraph graph;
        MerPlacerLoads loads;
        MerRng         rng = mer_rng_make(seed, 1);
        int            order[14], point[14];
        unit_graph_finish(g, 0, arena);
        assert_int_equal(mer_placer_graph(&g->space, "test", arena, &graph, NULL), MER_OK);
        mer_placer_loads_make(&loads, &graph, mer_placer_try(&graph, arena), arena);
        for (int i = 0; i < 14; i++) {
            order[i] = i;
        }
        mer_rng_shuffle(&rng, order, 14);
        for (int i = 0; i < 14;) {
            float        features[4 * MER_PLACER_UNIT_FEATURES];
            int          most = 14 - i < 3 ? 14 - i : 3, unit = mer_rng_below(&rng, 4);
            MerPlacerSet set = {1 + mer_rng_below(&rng, most), order + i};
            mer_placer_unit_features(&loads, set, features);
            mer_placer_put(&loads, set, unit);
            double after = fmin(5, loads.load[unit] / graph.ideal);
            assert_float_equal(features[unit * MER_PLACER_UNIT_FEATURES + 1], after, 1e-5);
            for (int k = 0; k < set.count; k++) {
                point[order[i + k]] = unit;
            }
            i += set.count;
        }
        for (int u = 0; u < 4; u++) {
            assert_float_equal(loads.load[u], unit_graph_load(g, point, u), 1e-9);
        }
        bool is_refused = unit_graph_score(g, point) == INFINITY;
        assert_int_equal(mer_placer_excess(&loads) > 0, is_refused);
    }
}

/* A network with random weights on a batch of placements: x, rows and choices. */
typedef struct Trained {
    MerPlacer *placer;
    Session   *session;
    int        lanes;
} Trained;

static Trained trained_on(const char *reference, uint64_t seed)
{
    UnitGraph *g = unit_graph_random(40, 20, seed, arena);
    unit_graph_finish(g, 0, arena);
    Session *s = open_session(reference, g, 1000, seed, MER_OK, NULL);
    run_session(s, 12, 4); /* a greedy one, samples, and at least one update */
    return (Trained){s->placer, s, 3};
}

static MerTensor *sequence_shares(const Trained *t)
{
    MerPlacer *p = t->placer;
    mer_tape_reset(p->tape);
    MerPlacerRead read =
        mer_placer_read(p->tape, &p->net, mer_placer_inputs(p, t->lanes), t->lanes);
    MerPlacerRows rows = mer_placer_lanes_rows(&p->lanes, 0);
    return mer_placer_write(p->tape, &p->net, &read, 0, p->lanes.steps, &rows);
}

static const char *const kinds[] = {
    "reinforce_lstm:preset=small,samples=3,hidden=8",
    "reinforce_lstm:features=paper,samples=3,hidden=8,embedding=4",
    "hdp:preset=small,samples=3,hidden=8,clusters=9",
    "hdp:features=paper,samples=3,hidden=8,embedding=4,clusters=9,noise=0",
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void test_step_by_step_is_the_same_as_the_whole_sequence(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        Trained    t = trained_on(kinds[k], 3);
        MerPlacer *p = t.placer;
        int        units = p->graph.unit_count;
        mer_placer_lanes_begin(&p->lanes, t.lanes);
        mer_placer_lanes_replay(&p->lanes);
        MerTensor *whole = sequence_shares(&t);
        float     *kept = MER_ARRAY(arena, float, whole->size);
        memcpy(kept, whole->data, (size_t)whole->size * sizeof *kept);
        mer_tape_reset(p->tape);
        MerPlacerRead read =
            mer_placer_read(p->tape, &p->net, mer_placer_inputs(p, t.lanes), t.lanes);
        for (int step = 0; step < p->lanes.steps; step++) {
            MerPlacerRows rows = mer_placer_lanes_rows(&p->lanes, step);
            MerTensor    *shares = mer_placer_write(p->tape, &p->net, &read, step, 1, &rows);
            for (int i = 0; i < t.lanes * units; i++) {
                assert_float_equal(shares->data[i], kept[step * t.lanes * units + i], 1e-4);
            }
        }
        t.session->type->close(p);
    }
}

static double weighted(const Trained *t, bool is_learning)
{
    MerPlacer *p = t->placer;
    MerTensor *shares = sequence_shares(t);
    int        rows = p->lanes.steps * t->lanes;
    float     *weights = mer_workspace_floats(mer_tape_workspace(p->tape), rows);
    for (int r = 0; r < rows; r++) {
        weights[r] = (float)(r % 7 - 3) / 3;
    }
    MerTensor *now = mer_tensor_pick(p->tape, shares, 1, p->lanes.choice);
    MerTensor *loss = mer_tensor_sum(
        p->tape,
        mer_tensor_mul(p->tape, now, mer_tape_input(p->tape, 2, (int[]){rows, 1}, weights)));
    if (is_learning) {
        mer_parameters_clear(p->parameters);
        assert_int_equal(mer_tape_backward(p->tape, loss, NULL), MER_OK);
    }
    return loss->data[0];
}

/* Along the gradient of all weights together, so that single precision suffices. */
static void test_the_gradient_of_a_network_is_that_of_its_differences(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        Trained    t = trained_on(kinds[k], 4);
        MerPlacer *p = t.placer;
        double     square = 0, width = 1e-2, sum[2];
        mer_placer_lanes_begin(&p->lanes, t.lanes);
        mer_placer_lanes_replay(&p->lanes);
        weighted(&t, true);
        int     count = mer_parameters_count(p->parameters);
        float **gradient = MER_ARRAY(arena, float *, count);
        for (int i = 0; i < count; i++) {
            MerTensor *w = mer_parameters_get(p->parameters, i);
            gradient[i] = MER_ARRAY(arena, float, w->size);
            memcpy(gradient[i], mer_tensor_grad(p->tape, w), (size_t)w->size * sizeof(float));
            for (int64_t j = 0; j < w->size; j++) {
                square += (double)gradient[i][j] * gradient[i][j];
            }
        }
        for (int side = 0; side < 2; side++) {
            double along = (side == 0 ? width : -2 * width) / sqrt(square);
            for (int i = 0; i < count; i++) {
                MerTensor *w = mer_parameters_get(p->parameters, i);
                for (int64_t j = 0; j < w->size; j++) {
                    w->data[j] += (float)(along * gradient[i][j]);
                }
            }
            sum[side] = weighted(&t, false);
        }
        double slope = (sum[0] - sum[1]) / (2 * width);
        assert_true(fabs(slope - sqrt(square)) < 0.02 * sqrt(square));
        t.session->type->close(p);
    }
}

/* 24 operators of 60 ms in all on three accelerators; the best cuts after cheap results give 22.4 ms. */
static void test_policies_learn_to_cut_the_order(void **state)
{
    (void)state;
    static const char *const references[] = {"reinforce_lstm:preset=small,hidden=16",
                                             "hdp:preset=small,hidden=16"};
    UnitGraph               *g = unit_graph_chain(24, 3, arena);
    unit_graph_finish(g, 0, arena);
    double chance = best_random(g, 1500);
    for (int r = 0; r < 2; r++) {
        double last = run_whole(references[r], g, 1500, 1);
        if (!(last <= 0.0245) || !(last < 0.8 * chance)) {
            fail_msg("%s: %g, random %g", references[r], last, chance);
        }
    }
}

/* Each accelerator holds 9 of 24 groups: what the policy begins with is mostly refused. */
static void test_policies_learn_to_fit_into_memory(void **state)
{
    (void)state;
    static const char *const references[] = {"reinforce_lstm:preset=small,hidden=16",
                                             "hdp:preset=small,hidden=16"};
    UnitGraph               *g = unit_graph_chain(24, 3, arena);
    g->limit = 90;
    unit_graph_finish(g, 0, arena);
    for (int r = 0; r < 2; r++) {
        double last = run_whole(references[r], g, 1500, 1);
        if (!(last <= 0.0245)) {
            fail_msg("%s: %g", references[r], last);
        }
    }
}

static void test_the_last_trial_is_the_most_likely_placement(void **state)
{
    (void)state;
    static const int64_t budgets[] = {1, 2, 50, 61};
    UnitGraph           *g = unit_graph_chain(12, 2, arena);
    unit_graph_finish(g, 0, arena);
    for (int b = 0; b < 4; b++) {
        Session *s =
            open_session("reinforce_lstm:preset=small,hidden=8", g, budgets[b], 2, MER_OK, NULL);
        run_session(s, budgets[b], 16);
        assert_int_equal(s->last_noted, budgets[b] - 1);
        assert_true(s->noted == s->last);
        assert_true(s->greedy_notes >= 1);
        run_session(s, 25, 16); /* a run that counts otherwise may ask for more */
        s->type->close(s->placer);
    }
}

static void test_the_kept_policy_is_the_one_with_the_best_most_likely_placement(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(16, 3, arena);
    unit_graph_finish(g, 0, arena);
    Session *s = open_session("reinforce_lstm:preset=small,hidden=8,greedy_every=1,rate=0.2", g,
                              400, 3, MER_OK, NULL);
    double   best = INFINITY;
    for (int i = 0; i < 400; i++) {
        int before = s->greedy_notes;
        run_session(s, 1, 1);
        best = s->greedy_notes > before ? fmin(best, s->last) : best;
    }
    assert_true(s->last == best);
    s->type->close(s->placer);
}

static void test_refused_placements_alone_are_survived(void **state)
{
    (void)state;
    static const char *const references[] = {
        "reinforce_lstm:preset=small,hidden=8", "hdp:preset=small,hidden=8",
        "reinforce_lstm:hidden=8,valid_only_after=5", "hdp:hidden=8,clusters=6,samples=2"};
    UnitGraph *g = unit_graph_chain(12, 2, arena);
    unit_graph_finish(g, 0, arena);
    for (int r = 0; r < 4; r++) {
        Session *s = open_session(references[r], g, 100, 2, MER_OK, NULL);
        s->is_always_refused = true;
        run_session(s, 100, 16);
        s->type->close(s->placer);
    }
}

/* A refused placement teaches nothing then: the weights stay. */
static void test_refused_placements_teach_nothing_after_some_updates(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(12, 2, arena);
    unit_graph_finish(g, 0, arena);
    Session *s = open_session("reinforce_lstm:hidden=8,samples=2,valid_only_after=3,greedy_every=0",
                              g, 1000, 2, MER_OK, NULL);
    s->is_always_refused = true;
    run_session(s, 6, 2);
    const MerTensor *head = s->placer->net.head;
    float           *kept = MER_ARRAY(arena, float, head->size);
    memcpy(kept, head->data, (size_t)head->size * sizeof *kept);
    run_session(s, 4, 2);
    assert_memory_equal(kept, head->data, (size_t)head->size * sizeof *kept);
    s->is_always_refused = false;
    run_session(s, 2, 2);
    assert_memory_not_equal(kept, head->data, (size_t)head->size * sizeof *kept);
    s->type->close(s->placer);
}

static FILE *saved(Session *s, MerKeep what)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    assert_int_equal(s->type->save(s->placer, what, file, NULL), MER_OK);
    rewind(file);
    return file;
}

static void test_a_saved_policy_gives_identical_logits(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        Trained    t = trained_on(kinds[k], 5);
        Session   *other = open_session(kinds[k], t.session->graph, 1000, 99, MER_OK, NULL);
        FILE      *file = saved(t.session, MER_KEEP_POLICY);
        MerPlacer *p = t.placer, *q = other->placer;
        assert_int_equal(other->type->load(q, MER_KEEP_POLICY, file, NULL), MER_OK);
        fclose(file);
        size_t groups = 3 * (size_t)p->graph.group_count, steps = 3 * (size_t)p->lanes.steps;
        memcpy(q->lanes.step_of, p->lanes.step_of, groups * sizeof(int));
        memcpy(q->lanes.unit, p->lanes.unit, steps * sizeof(int));
        mer_placer_lanes_begin(&p->lanes, 3);
        mer_placer_lanes_replay(&p->lanes);
        mer_placer_lanes_begin(&q->lanes, 3);
        mer_placer_lanes_replay(&q->lanes);
        MerTensor *one = sequence_shares(&t), *two = sequence_shares(&(Trained){q, other, 3});
        assert_memory_equal(one->data, two->data, (size_t)one->size * sizeof(float));
        other->type->close(q);
        t.session->type->close(p);
    }
}

static void test_a_policy_of_another_shape_is_refused(void **state)
{
    (void)state;
    static const char *const references[] = {"reinforce_lstm:preset=small,hidden=6",
                                             "reinforce_lstm:preset=small,hidden=8"};
    UnitGraph               *g = unit_graph_chain(12, 2, arena);
    UnitGraph               *more_units = unit_graph_chain(12, 4, arena);
    unit_graph_finish(g, 0, arena);
    unit_graph_finish(more_units, 0, arena);
    for (int i = 0; i < 2; i++) {
        MerError error = {0};
        Session *s = open_session("reinforce_lstm:preset=small,hidden=8", g, 100, 2, MER_OK, NULL);
        Session *t = open_session(references[i], i == 0 ? g : more_units, 100, 2, MER_OK, NULL);
        FILE    *file = saved(s, MER_KEEP_POLICY);
        assert_int_equal(t->type->load(t->placer, MER_KEEP_POLICY, file, &error), MER_INVALID);
        assert_non_null(
            strstr(error.message, i == 0 ? "as many units, here 3" : "as many units, here 5"));
        fclose(file);
        s->type->close(s->placer);
        t->type->close(t->placer);
    }
}

/* In the middle of a batch, and with an elite, a kept policy and noise. */
static void test_a_saved_state_goes_on_with_the_same_points(void **state)
{
    (void)state;
    static const char *const references[] = {
        "reinforce_lstm:preset=small,hidden=8,samples=6", "hdp:preset=small,hidden=8,samples=6",
        "hdp:hidden=8,samples=3,clusters=7,stop_sampling=4,stop_noise=6,greedy_every=2"};
    UnitGraph *g = unit_graph_chain(16, 3, arena);
    unit_graph_finish(g, 0, arena);
    for (int r = 0; r < 3; r++) {
        for (int at = 20; at < 40; at += 5) {
            Session *s = open_session(references[r], g, 100, 2, MER_OK, NULL);
            run_session(s, at, 5);
            FILE    *file = saved(s, MER_KEEP_ALL);
            Session *t = open_session(references[r], g, 100, 77, MER_OK, NULL);
            assert_int_equal(t->type->load(t->placer, MER_KEEP_ALL, file, NULL), MER_OK);
            t->rng = s->rng; /* the run keeps it */
            t->path = s->path;
            run_session(s, 100 - at, 5);
            run_session(t, 100 - at, 5);
            assert_true(s->path == t->path);
            fclose(file);
            s->type->close(s->placer);
            t->type->close(t->placer);
        }
    }
}

static void test_a_broken_state_is_refused(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(8, 2, arena);
    unit_graph_finish(g, 0, arena);
    Session *s =
        open_session("hdp:preset=small,hidden=4,samples=2,clusters=4", g, 100, 2, MER_OK, NULL);
    run_session(s, 9, 3);
    FILE *file = saved(s, MER_KEEP_ALL);
    fseek(file, 0, SEEK_END);
    long  size = ftell(file);
    char *bytes = mer_arena_alloc(arena, (size_t)size);
    rewind(file);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
    fclose(file);
    for (int cut = 0; cut < 3; cut++) { /* shorter, a step out of range, a unit out of range */
        long  length = cut == 0 ? size - 1 : size;
        char *changed = mer_arena_alloc(arena, (size_t)size);
        long  units = 4L * 4 * (long)sizeof(int);
        memcpy(changed, bytes, (size_t)size);
        if (cut > 0) {
            memset(changed + (cut == 1 ? size - units - 4 : size - 4), 0x7f, 4);
        }
        FILE *again = tmpfile();
        assert_int_equal(fwrite(changed, 1, (size_t)length, again), length);
        rewind(again);
        MerError error = {0};
        Session *t =
            open_session("hdp:preset=small,hidden=4,samples=2,clusters=4", g, 100, 2, MER_OK, NULL);
        assert_int_equal(t->type->load(t->placer, MER_KEEP_ALL, again, &error), MER_INVALID);
        mer_test_contains(error.message, "the policy's saved state");
        fclose(again);
        t->type->close(t->placer);
    }
    s->type->close(s->placer);
}

/* Another graph with as many units: full features have the same width there. */
static void test_a_policy_moves_to_the_next_graph(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(24, 3, arena), *h = unit_graph_chain(36, 3, arena);
    unit_graph_finish(g, 0, arena);
    unit_graph_finish(h, 0, arena);
    Session *s = open_session("reinforce_lstm:preset=small,hidden=16", g, 1200, 1, MER_OK, NULL);
    run_session(s, 1200, 16);
    float first = s->placer->net.head->data[0];
    s->graph = h;
    s->search = search_on(s, h, 1);
    assert_int_equal(s->type->next_task(s->placer, s->search, NULL), MER_OK);
    assert_true(s->placer->net.head->data[0] == first);
    run_session(s, 1, 1); /* its most likely placement, untrained there */
    assert_true(s->last < best_random(h, 1000));
    s->type->close(s->placer);
}

static void test_a_policy_without_updates_stays(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(12, 2, arena);
    unit_graph_finish(g, 0, arena);
    Session *s =
        open_session("reinforce_lstm:preset=small,hidden=8,updates=0", g, 100, 2, MER_OK, NULL);
    float first = s->placer->net.head->data[0];
    run_session(s, 100, 16);
    assert_true(s->placer->net.head->data[0] == first);
    s->type->close(s->placer);
}

static void test_knobs_of_other_roles_and_fixed_groups_are_left_alone(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(10, 2, arena);
    unit_graph_finish(g, 5, arena);
    Session *s = open_session("hdp:preset=small,hidden=8", g, 30, 2, MER_OK, NULL);
    run_session(s, 30, 8);
    for (int k = 10; k < 15; k++) {
        assert_int_equal(s->point[k], 0);
    }
    s->type->close(s->placer);
    UnitGraph *less = unit_graph_chain(10, 2, arena);
    unit_graph_finish(less, 0, arena);
    MerKnob *knobs = (MerKnob *)less->space.knobs;
    memmove(knobs + 3, knobs + 4, 6 * sizeof *knobs); /* group 3 is fixed */
    less->space.knob_count = 9;
    s = open_session("reinforce_lstm:preset=small,hidden=8", less, 30, 2, MER_OK, NULL);
    assert_int_equal(s->placer->graph.order_count, 9);
    assert_int_equal(s->placer->graph.position[3], -1);
    run_session(s, 30, 8);
    s->type->close(s->placer);
}

/* Groups that may not go everywhere, in clusters whose members have no unit in common. */
static void test_groups_go_only_where_they_may(void **state)
{
    (void)state;
    UnitGraph          *g = unit_graph_chain(12, 2, arena);
    static const double host[1] = {2}, fast[2] = {0, 1};
    unit_graph_finish(g, 0, arena);
    MerKnob *knobs = (MerKnob *)g->space.knobs;
    for (int k = 0; k < 12; k += 2) {
        knobs[k].values = k % 4 == 0 ? host : fast;
        knobs[k].choices = k % 4 == 0 ? 1 : 2;
    }
    static const char *const references[] = {"hdp:preset=small,hidden=8,clusters=3,pull=0",
                                             "reinforce_lstm:preset=small,hidden=8"};
    for (int r = 0; r < 2; r++) {
        Session *s = open_session(references[r], g, 60, 2, MER_OK, NULL);
        run_session(s, 60, 8); /* which looks at every index */
        s->type->close(s->placer);
    }
}

static void test_the_points_do_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(20, 3, arena);
    unit_graph_finish(g, 0, arena);
    for (int k = 0; k < KINDS; k++) {
        uint64_t path[2];
        for (int threads = 1; threads <= 2; threads++) {
            MerPool     *pool = mer_pool_new(threads);
            Session     *s = MER_NEW(arena, Session);
            MerReference parsed;
            *s = (Session){.graph = g, .best = INFINITY, .rng = mer_rng_make(1, 0)};
            s->notes = (MerNotes){.state = s, .note = keep_note};
            s->search = search_on(s, g, 60);
            s->search->pool = pool;
            assert_int_equal(mer_reference_parse(kinds[k], &parsed, arena, NULL), MER_OK);
            s->type = mer_optimizer_find(parsed.name, NULL);
            void *options = mer_arena_alloc(arena, s->type->options_size);
            assert_int_equal(
                mer_options_fill(s->type->options, s->type->presets, options, &parsed, arena, NULL),
                MER_OK);
            s->placer = mer_arena_alloc(arena, s->type->state_size);
            assert_int_equal(s->type->open(s->placer, s->search, options, NULL), MER_OK);
            run_session(s, 60, 7);
            path[threads - 1] = s->path;
            s->type->close(s->placer);
            mer_pool_free(pool);
        }
        assert_true(path[0] == path[1]);
    }
}

/* A placement that another search found is a lesson. */
static void test_a_warm_placement_is_imitated(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(12, 2, arena);
    unit_graph_finish(g, 0, arena);
    MerIndex good[12] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    Session *s =
        open_session("reinforce_lstm:preset=small,hidden=8,imitate=1", g, 400, 2, MER_OK, NULL);
    MerTrial warm = {.point = good, .score = unit_graph_score(g, good), .warm = true};
    s->type->tell(s->placer, &warm, 1);
    run_session(s, 400, 16);
    assert_true(s->last <= warm.score * (1 + 1e-12));
    s->type->close(s->placer);
}

/* Equal scores for a while: other weights, and a new moving average. */
static void test_a_policy_that_repeats_itself_starts_anew(void **state)
{
    (void)state;
    UnitGraph *g = unit_graph_chain(2, 1, arena);
    for (int patience = 0; patience <= 3; patience += 3) {
        char reference[100];
        g->time[0] = g->time[1] = g->send[0] = 0; /* every placement scores 0 */
        unit_graph_finish(g, 0, arena);
        snprintf(reference, sizeof reference,
                 "reinforce_lstm:preset=small,hidden=4,samples=4,greedy_every=0,patience=%d",
                 patience);
        Session *s = open_session(reference, g, 1000, 2, MER_OK, NULL);
        run_session(s, 12, 4);
        assert_int_equal(s->placer->now.start, patience == 0 ? 0 : 12);
        assert_int_equal(s->placer->now.has_elite, patience == 0);
        run_session(s, 988, 4);
        assert_true(s->placer->now.start <= 804); /* the last part is too short */
        s->type->close(s->placer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spaces_without_a_table_are_refused_by_its_name),
        cmocka_unit_test(test_spaces_that_do_not_fit_are_refused),
        cmocka_unit_test(test_options_that_do_not_fit_are_refused),
        cmocka_unit_test(test_groups_are_placed_when_their_last_operator_is_reached),
        cmocka_unit_test(test_groups_of_the_backward_pass_stand_beside_forward_ones),
        cmocka_unit_test(test_loads_that_grow_end_at_the_largest_load),
        cmocka_unit_test(test_step_by_step_is_the_same_as_the_whole_sequence),
        cmocka_unit_test(test_the_gradient_of_a_network_is_that_of_its_differences),
        cmocka_unit_test(test_policies_learn_to_cut_the_order),
        cmocka_unit_test(test_policies_learn_to_fit_into_memory),
        cmocka_unit_test(test_the_last_trial_is_the_most_likely_placement),
        cmocka_unit_test(test_the_kept_policy_is_the_one_with_the_best_most_likely_placement),
        cmocka_unit_test(test_refused_placements_alone_are_survived),
        cmocka_unit_test(test_refused_placements_teach_nothing_after_some_updates),
        cmocka_unit_test(test_a_saved_policy_gives_identical_logits),
        cmocka_unit_test(test_a_policy_of_another_shape_is_refused),
        cmocka_unit_test(test_a_saved_state_goes_on_with_the_same_points),
        cmocka_unit_test(test_a_broken_state_is_refused),
        cmocka_unit_test(test_a_policy_moves_to_the_next_graph),
        cmocka_unit_test(test_a_policy_without_updates_stays),
        cmocka_unit_test(test_knobs_of_other_roles_and_fixed_groups_are_left_alone),
        cmocka_unit_test(test_groups_go_only_where_they_may),
        cmocka_unit_test(test_the_points_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(test_a_warm_placement_is_imitated),
        cmocka_unit_test(test_a_policy_that_repeats_itself_starts_anew),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
