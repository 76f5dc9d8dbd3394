/* The policy `go`: its order of a graph, its network, what it learns and what it keeps. */
#include "placing_session.h"

#include "opt/go_state.h"

#define SMALL "go:preset=small,hidden=16,feed_forward=16"

static UnitGraph *chain(int ops, int accelerators, int extra)
{
    UnitGraph *g = unit_graph_chain(ops, accelerators, arena);
    unit_graph_finish(g, extra, arena);
    return g;
}

/* A priority and a level of fusion for every operator. */
static UnitGraph *with_levels(int ops)
{
    UnitGraph *g = chain(ops, 2, 2 * ops);
    MerKnob   *knobs = (MerKnob *)g->space.knobs;
    for (int k = ops; k < 3 * ops; k++) {
        knobs[k].role = k < 2 * ops ? MER_ROLE_PRIORITY : MER_ROLE_FUSE;
        knobs[k].op = (k - ops) % ops;
        knobs[k].choices = 5;
    }
    return g;
}

/* The same graph, numbered in another topological order: operator o becomes order[o]. */
static UnitGraph *renumbered(const UnitGraph *g, uint64_t seed, int *order)
{
    UnitGraph *other = MER_NEW(arena, UnitGraph);
    MerRng     rng = mer_rng_make(seed, 0);
    bool       is_done[UNIT_GRAPH_MOST] = {0};
    *other = *g;
    for (int next = 0; next < g->ops; next++) {
        int ready[UNIT_GRAPH_MOST], count = 0;
        for (int o = 0; o < g->ops; o++) {
            bool is_ready = !is_done[o];
            for (int e = 0; e < g->edges; e++) {
                is_ready = is_ready && (g->to[e] != o || is_done[g->from[e]]);
            }
            ready[count] = o;
            count += is_ready;
        }
        int o = ready[mer_rng_below(&rng, count)];
        is_done[o] = true;
        order[o] = next;
        other->time[next] = g->time[o];
        other->size[next] = g->size[o];
        other->send[next] = g->send[o];
        other->group[next] = next;
    }
    for (int e = 0; e < g->edges; e++) {
        other->from[e] = order[g->from[e]];
        other->to[e] = order[g->to[e]];
    }
    unit_graph_finish(other, 0, arena);
    double *kinds = (double *)mer_space_table(&other->space, "op_kind")->values;
    for (int o = 0; o < g->ops; o++) {
        kinds[order[o]] = mer_space_table(&g->space, "op_kind")->values[o];
    }
    return other;
}

/* Branches beside each other, so that there are many topological orders. */
static UnitGraph *branches(void)
{
    UnitGraph *g = MER_NEW(arena, UnitGraph);
    *g = (UnitGraph){.ops = 32, .groups = 32, .accelerators = 3, .units = 4, .limit = INFINITY};
    for (int o = 0; o < g->ops; o++) {
        g->group[o] = o;
        g->time[o] = 0.001 * (1 + o * 7 % 11);
        g->size[o] = 5 + o;
        g->send[o] = 0.0003 * (1 + o * 5 % 13);
        for (int step = 1; step <= 4 && o - step >= 0 && o > 3; step += 3) {
            g->from[g->edges] = o - step;
            g->to[g->edges++] = o;
        }
    }
    unit_graph_finish(g, 0, arena);
    return g;
}

static void test_the_placement_does_not_depend_on_the_numbers_of_operators(void **state)
{
    (void)state;
    UnitGraph *g = branches();
    Session   *s = session_open(SMALL, g, 60, 1);
    session_run(s, 60, 8);
    FILE *file = session_saved(s, MER_KEEP_POLICY);
    for (int seed = 1; seed <= 5; seed++) {
        int        order[UNIT_GRAPH_MOST];
        UnitGraph *other = renumbered(g, (uint64_t)seed, order);
        Session   *t = session_open(SMALL ",updates=0", other, 1, 9);
        rewind(file);
        assert_int_equal(t->type->load(t->state, MER_KEEP_POLICY, file, NULL), MER_OK);
        const MerGoGraph *a = &((MerGoState *)s->state)->graph,
                         *b = &((MerGoState *)t->state)->graph;
        assert_true(a->fingerprint == b->fingerprint);
        session_run(t, 1, 1);
        for (int o = 0; o < g->ops; o++) {
            assert_int_equal(order[a->op_order[o]], b->op_order[o]);
            assert_int_equal(t->point[order[o]], s->point[o]);
        }
        session_close(t);
    }
    fclose(file);
    session_close(s);
}

static void test_the_order_is_topological_and_covers_all(void **state)
{
    (void)state;
    for (int seed = 1; seed <= 30; seed++) {
        UnitGraph *g = unit_graph_random(60, seed % 2 ? 60 : 20, (uint64_t)seed, arena);
        unit_graph_finish(g, 0, arena);
        Session          *s = session_open(SMALL, g, 10, 1);
        const MerGoGraph *go = &((MerGoState *)s->state)->graph;
        for (int e = 0; e < g->edges; e++) {
            assert_true(go->op_rank[g->from[e]] < go->op_rank[g->to[e]]);
        }
        for (int i = 0; i < go->op_count; i++) {
            assert_int_equal(go->op_rank[go->op_order[i]], i);
        }
        for (int i = 0; i < go->group_count; i++) {
            assert_int_equal(go->group_rank[go->group_order[i]], i);
        }
        session_close(s);
    }
}

static double loss_of(MerGoState *s, bool is_learning)
{
    MerGoView *v = &s->view;
    MerTape   *tape = v->tape;
    mer_go_encode(v, true);
    mer_tape_reset(tape);
    mer_tape_record(tape, true);
    MerGoDecided before = mer_go_decided(&s->graph, &s->batch, 0, 0);
    MerGoFirst   first = mer_go_first_logits(v, NULL);
    MerGoLogits  logits = mer_go_round_logits(v, 1, &before, 0, 1, NULL);
    MerTensor   *parts[] = {first.cuts, first.rules, logits.units, logits.levels[0],
                            logits.levels[1]};
    MerTensor   *loss = NULL;
    for (int i = 0; i < 5; i++) {
        MerTensor *p = mer_tensor_log_softmax(tape, parts[i]);
        float     *weights = mer_workspace_floats(mer_tape_workspace(tape), p->size);
        for (int64_t j = 0; j < p->size; j++) {
            weights[j] = p->data[j] < -1e6f ? 0 : (float)(j % 5 - 2) / 10; /* what is not allowed */
        }
        MerTensor *sum = mer_tensor_sum(
            tape, mer_tensor_mul(tape, p, mer_tape_input(tape, 2, p->shape, weights)));
        loss = loss ? mer_tensor_add(tape, loss, sum) : sum;
    }
    if (is_learning) {
        mer_parameters_clear(s->policy.parameters);
        mer_parameters_clear(v->bridge);
        assert_int_equal(mer_tape_backward(tape, loss, NULL), MER_OK);
        assert_int_equal(mer_go_encode_backward(v, NULL), MER_OK);
    }
    return loss->data[0];
}

/* Through all heads, the trunk and, over the bridge, the embedding. Decisions are kept by a weight that depends on the
 * logits but has no gradient (start=cuts), or that is learned (start=none has no cuts): so the first decisions of a start are
 * compared, and rounds with moves so many that nothing is kept. */
static void test_the_gradient_of_the_network_is_that_of_its_differences(void **state)
{
    (void)state;
    UnitGraph  *g = with_levels(12);
    Session    *s = session_open(SMALL ",segment=32", g, 100, 1);
    MerGoState *go = s->state;
    session_run(s, 30, 4);
    go->view.moves = 1e6f;
    loss_of(go, true);
    int     count = mer_parameters_count(go->policy.parameters);
    float **gradient = MER_ARRAY(arena, float *, count);
    double  square = 0, width = 1e-3, sum[2];
    for (int i = 0; i < count; i++) {
        MerTensor *w = mer_parameters_get(go->policy.parameters, i);
        gradient[i] = MER_ARRAY(arena, float, w->size);
        memcpy(gradient[i], mer_tensor_grad(go->view.encoder, w), (size_t)w->size * sizeof(float));
        for (int64_t j = 0; j < w->size; j++) {
            square += (double)gradient[i][j] * gradient[i][j];
        }
    }
    for (int side = 0; side < 2; side++) {
        double along = (side == 0 ? width : -2 * width) / sqrt(square);
        for (int i = 0; i < count; i++) {
            MerTensor *w = mer_parameters_get(go->policy.parameters, i);
            for (int64_t j = 0; j < w->size; j++) {
                w->data[j] += (float)(along * gradient[i][j]);
            }
        }
        sum[side] = loss_of(go, false);
    }
    double slope = (sum[0] - sum[1]) / (2 * width);
    if (!(fabs(slope - sqrt(square)) < 0.03 * sqrt(square))) {
        fail_msg("gradient %g, differences %g", sqrt(square), slope);
    }
    session_close(s);
}

static void test_it_learns_to_cut_the_order(void **state)
{
    (void)state;
    UnitGraph *g = chain(24, 3, 0);
    double     last = session_whole(SMALL, g, 1500, 1), chance = session_random(g, 1500);
    if (!(last <= 0.0245) || !(last < 0.8 * chance)) {
        fail_msg("%g, random %g", last, chance);
    }
    g->limit = 90; /* each accelerator holds 9 of 24 groups */
    unit_graph_finish(g, 0, arena);
    last = session_whole(SMALL, g, 1500, 1);
    if (!(last <= 0.0245)) {
        fail_msg("with memory: %g", last);
    }
}

static void test_the_last_trial_is_the_best_of_the_most_likely_placements(void **state)
{
    (void)state;
    static const int64_t budgets[] = {1, 2, 3, 9, 50, 61};
    UnitGraph           *g = chain(16, 3, 0);
    for (int b = 0; b < 6; b++) {
        Session *s = session_open(SMALL ",greedy_every=1", g, budgets[b], 2);
        double   best = INFINITY;
        for (int i = 0; i < budgets[b]; i++) {
            int before = s->greedy_notes;
            session_run(s, 1, 1);
            best = s->greedy_notes > before ? fmin(best, s->last) : best;
        }
        assert_int_equal(s->last_noted, budgets[b] - 1);
        assert_true(s->last == best);
        session_close(s);
    }
}

static void test_refused_placements_alone_are_survived(void **state)
{
    (void)state;
    static const char *const references[] = {SMALL, "go:hidden=16,heads=2,start=none"};
    for (int r = 0; r < 2; r++) {
        Session *s = session_open(references[r], chain(12, 2, 0), 60, 2);
        s->is_always_refused = true;
        session_run(s, 60, 16);
        session_close(s);
    }
}

static const char *const kinds[] = {SMALL, "go:hidden=16,heads=2,start=none,rounds=2,rollouts=4",
                                    SMALL ",rounds=2,improve=0.5,warm_up=0.2,dropout=0.1"};
enum { KINDS = 3 };

static void test_a_saved_state_goes_on_with_the_same_points(void **state)
{
    (void)state;
    UnitGraph *graphs[] = {chain(16, 3, 0), with_levels(12)};
    for (int k = 0; k < 2 * KINDS; k++) {
        for (int at = 20; at < 40; at += 7) {
            Session *s = session_open(kinds[k / 2], graphs[k % 2], 100, 2);
            session_run(s, at, 5);
            FILE    *file = session_saved(s, MER_KEEP_ALL);
            Session *t = session_open(kinds[k / 2], graphs[k % 2], 100, 77);
            assert_int_equal(t->type->load(t->state, MER_KEEP_ALL, file, NULL), MER_OK);
            t->rng = s->rng; /* the run keeps it */
            t->path = s->path;
            session_run(s, 100 - at, 5);
            session_run(t, 100 - at, 5);
            assert_true(s->path == t->path);
            fclose(file);
            session_close(s);
            session_close(t);
        }
    }
}

static void test_a_broken_or_foreign_policy_is_refused(void **state)
{
    (void)state;
    UnitGraph *g = chain(8, 2, 0);
    Session   *s = session_open(SMALL, g, 100, 2), *t = session_open("go:preset=small", g, 100, 2);
    MerError   error = {0};
    FILE      *file = session_saved(s, MER_KEEP_POLICY);
    assert_int_equal(t->type->load(t->state, MER_KEEP_POLICY, file, &error), MER_INVALID);
    mer_test_contains(error.message, "hidden=16");
    fclose(file);
    session_run(s, 9, 3);
    for (MerKeep what = MER_KEEP_POLICY; what <= MER_KEEP_ALL; what++) {
        file = session_saved(s, what);
        fseek(file, 0, SEEK_END);
        long  size = ftell(file);
        char *bytes = mer_arena_alloc(arena, (size_t)size);
        rewind(file);
        assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
        fclose(file);
        FILE *shorter = tmpfile();
        fwrite(bytes, 1, (size_t)size - 3, shorter);
        rewind(shorter);
        Session *u = session_open(SMALL, g, 100, 2);
        assert_int_not_equal(u->type->load(u->state, what, shorter, &error), MER_OK);
        fclose(shorter);
        session_close(u);
    }
    session_close(s);
    session_close(t);
}

/* More groups, and another number of units. */
static void test_a_policy_moves_to_another_graph(void **state)
{
    (void)state;
    UnitGraph *g = chain(24, 3, 0), *h = chain(36, 5, 0);
    Session   *s = session_open(SMALL, g, 600, 1);
    session_run(s, 600, 16);
    s->graph = h;
    s->search = session_search(s, h, 1, NULL);
    assert_int_equal(s->type->next_task(s->state, s->search, NULL), MER_OK);
    session_run(s, 1, 1); /* its most likely placement, untrained there */
    assert_true(s->last < session_random(h, 1000));
    session_close(s);
}

static void test_a_policy_without_updates_stays(void **state)
{
    (void)state;
    Session    *s = session_open(SMALL ",updates=0", chain(12, 2, 0), 100, 2);
    MerGoState *go = s->state;
    float       first = go->policy.units.w->data[0];
    session_run(s, 9, 16); /* a batch and the most likely one; then it ends */
    assert_true(go->policy.units.w->data[0] == first);
    assert_true(go->now.is_done);
    session_close(s);
}

static void test_groups_go_only_where_they_may(void **state)
{
    (void)state;
    UnitGraph          *g = chain(12, 2, 0);
    static const double host[1] = {2}, fast[2] = {0, 1};
    MerKnob            *knobs = (MerKnob *)g->space.knobs;
    for (int k = 0; k < 12; k += 2) {
        knobs[k].values = k % 4 == 0 ? host : fast;
        knobs[k].choices = k % 4 == 0 ? 1 : 2;
    }
    for (int k = 0; k < KINDS; k++) {
        Session *s = session_open(kinds[k], g, 60, 2);
        session_run(s, 60, 8); /* which looks at every index */
        session_close(s);
    }
}

static void test_the_points_do_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    UnitGraph *g = with_levels(20);
    for (int k = 0; k < KINDS; k++) {
        uint64_t path[2];
        for (int threads = 1; threads <= 2; threads++) {
            MerPool *pool = mer_pool_new(threads);
            Session *s = session_open_on(pool, kinds[k], g, 60, 1, MER_OK, NULL);
            session_run(s, 60, 7);
            path[threads - 1] = s->path;
            session_close(s);
            mer_pool_free(pool);
        }
        assert_true(path[0] == path[1]);
    }
}

static void test_what_does_not_fit_is_refused(void **state)
{
    (void)state;
    UnitGraph  *g = chain(6, 2, 0);
    MerError    error = {0};
    const char *needed = mer_optimizer_find("go", NULL)->tables;
    for (int t = 0; t < g->space.table_count; t++) {
        UnitGraph less = *g;
        MerTable *tables = MER_ARRAY(arena, MerTable, g->space.table_count);
        char      text[80];
        memcpy(tables, g->space.tables, (size_t)g->space.table_count * sizeof *tables);
        if (!strstr(needed, tables[t].name)) {
            continue;
        }
        tables[t].name = "other";
        less.space.tables = tables;
        session_open_on(NULL, SMALL, &less, 10, 1, MER_UNSUPPORTED, &error);
        snprintf(text, sizeof text, "go: the space has no table \"%s\"", g->space.tables[t].name);
        mer_test_contains(error.message, text);
    }
    session_open_on(NULL, "go:hidden=15,heads=2", g, 10, 1, MER_INVALID, &error);
    mer_test_contains(error.message, "hidden is 15, expected a multiple of heads, 2");
    session_open_on(NULL, "go:max_devices=2", g, 10, 1, MER_UNSUPPORTED, &error);
    mer_test_contains(error.message, "3 units, expected at most max_devices, 2");
    session_open_on(NULL, "go:rounds=0,start=none", g, 10, 1, MER_INVALID, &error);
    mer_test_contains(error.message, "rounds is 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_placement_does_not_depend_on_the_numbers_of_operators),
        cmocka_unit_test(test_the_order_is_topological_and_covers_all),
        cmocka_unit_test(test_the_gradient_of_the_network_is_that_of_its_differences),
        cmocka_unit_test(test_it_learns_to_cut_the_order),
        cmocka_unit_test(test_the_last_trial_is_the_best_of_the_most_likely_placements),
        cmocka_unit_test(test_refused_placements_alone_are_survived),
        cmocka_unit_test(test_a_saved_state_goes_on_with_the_same_points),
        cmocka_unit_test(test_a_broken_or_foreign_policy_is_refused),
        cmocka_unit_test(test_a_policy_moves_to_another_graph),
        cmocka_unit_test(test_a_policy_without_updates_stays),
        cmocka_unit_test(test_groups_go_only_where_they_may),
        cmocka_unit_test(test_the_points_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(test_what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
