/* What a placement's price depends on, held against prices by hand; platforms with one thing changed; blocks of operators for
 * pictures. */
#include "one_arena.h"
#include "place_support.h"

#include "base/json_read.h"
#include "base/note_list.h"
#include "mercator/rng.h"
#include "place/cost/place_blocks.h"
#include "place/cost/what_if.h"

#include <cjson/cJSON.h>

/* `count` operators of 1 ms on an accelerator and 10 ms on a host, with 100 bytes each; `chain`: each reads the one before, for
 * 0.5 ms. Two accelerators of `memory` bytes. */
static OpenedPlace *open_row(const char *problem, int count, bool chain, int memory)
{
    const char *path = mer_arena_format(arena, "%s/row.json", new_folder(arena));
    FILE       *file = fopen(path, "w");
    fprintf(file, "{\"maxSizePerFPGA\": %d, \"maxFPGAs\": 2, \"maxCPUs\": 1, \"nodes\": [", memory);
    for (int i = 0; i < count; i++) {
        fprintf(file,
                "%s{\"id\": %d, \"name\": \"op%d\", \"supportedOnFpga\": 1, \"cpuLatency\": 10, "
                "\"fpgaLatency\": 1, \"isBackwardNode\": 0, \"size\": 100}",
                i ? "," : "", i, i);
    }
    fprintf(file, "], \"edges\": [");
    for (int i = 0; chain && i + 1 < count; i++) {
        fprintf(file, "%s{\"sourceId\": %d, \"destId\": %d, \"cost\": 0.5, \"size\": 8}",
                i ? "," : "", i, i + 1);
    }
    fprintf(file, "]}");
    fclose(file);
    return open_place(problem, "maxload", path, NULL, arena);
}

static MerPlan plan_of(const OpenedPlace *opened, const int *unit)
{
    MerPlan plan;
    memcpy(mer_place_new_plan(opened->place, &plan, arena)->unit, unit,
           (size_t)opened->place->op_count * sizeof *unit);
    return plan;
}

/* Loads of maxload in ms, by hand: operators and transfers of acc0, acc1 and cpu0. */
static MerWhatIfs ask(const OpenedPlace *opened, const MerPlan *plan, const double *ms)
{
    double         load_us[9], peak[3] = {0}, period = 0;
    MerPlacePricer pricer = {&opened->problem, opened->evaluator, MER_METRIC_PERIOD};
    for (int u = 0; u < 3; u++) {
        period = fmax(period, ms[2 * u] + ms[2 * u + 1]);
    }
    for (int u = 0; u < 3; u++) {
        load_us[3 * u] = 1e3 * ms[2 * u];
        load_us[3 * u + 1] = 1e3 * ms[2 * u + 1];
        load_us[3 * u + 2] = 1e3 * (period - ms[2 * u] - ms[2 * u + 1]);
    }
    for (int o = 0; o < opened->place->op_count; o++) {
        peak[mer_graph_plan(plan)->unit[o]] += opened->place->size[o];
    }
    return mer_place_what_ifs(&pricer, &(MerPlacePriced){plan, load_us, peak}, arena);
}

static const MerWhatIf *find(const MerWhatIfs *what, const char *text)
{
    for (int i = 0; i < what->count; i++) {
        if (strcmp(what->list[i].text, text) == 0) {
            return &what->list[i];
        }
    }
    fail_msg("no change \"%s\"", text);
    return NULL;
}

static void test_faster_transfers_are_priced(void **state)
{
    OpenedPlace *opened = open_row("place", 4, true, 1000);
    MerPlan      plan = plan_of(opened, (int[]){0, 0, 1, 1});
    MerWhatIfs   what = ask(opened, &plan, (double[]){2, 0.5, 2, 0.5, 0, 0});
    (void)state;
    assert_float_equal(what.value, 2.5e-3, 1e-15);
    assert_float_equal(find(&what, "transfers x2 as fast")->value, 2.25e-3, 1e-15);
    assert_int_equal(what.count, 1); /* memory does not matter to a plan that fits */
    assert_int_equal(what.move_count, 0);
    assert_int_equal(what.roomy_unit, 0);
    assert_float_equal(what.roomy_bytes, 400, 1e-9);
}

static void test_one_unit_alone_is_always_priced(void **state)
{
    static const char *const modes[] = {"place", "place:what_if=off"};
    (void)state;
    for (int m = 0; m < 2; m++) {
        OpenedPlace *opened = open_row(modes[m], 4, true, 1000);
        MerPlan      plan = plan_of(opened, (int[]){0, 0, 1, 1});
        MerWhatIfs   what = ask(opened, &plan, (double[]){2, 0.5, 2, 0.5, 0, 0});
        const char  *text = opened->evaluator.type->print(opened->evaluator.state, &plan, arena);
        assert_int_equal(what.single_count, 2); /* an accelerator and the host */
        assert_int_equal(what.singles[0].unit, 0);
        assert_float_equal(what.singles[0].value, 4e-3, 1e-15);
        assert_int_equal(what.singles[1].unit, 2);
        assert_float_equal(what.singles[1].value, 40e-3, 1e-15);
        mer_test_contains(text, "one unit alone: 4.000 ms (+60.0 %) on acc0");
    }
}

/* The best comes first, wherever it stands; what does not fit comes last, with the reason. */
static void test_the_best_unit_alone_comes_first(void **state)
{
    OpenedPlace *opened = open_row("place", 4, true, 150);
    MerPlan      plan = plan_of(opened, (int[]){0, 0, 1, 1});
    MerWhatIfs   what = ask(opened, &plan, (double[]){2, 0.5, 2, 0.5, 0, 0});
    (void)state;
    assert_int_equal(what.singles[0].unit, 2);
    assert_true(isnan(what.singles[1].value));
    mer_test_contains(what.singles[1].reason, "memory: acc0 needs 400 bytes, has 150");
}

static void test_moves_that_gain_most_come_first(void **state)
{
    OpenedPlace *opened = open_row("place", 5, false, 1000);
    MerPlan      plan = plan_of(opened, (int[]){0, 0, 0, 0, 1});
    MerWhatIfs   what = ask(opened, &plan, (double[]){4, 0, 1, 0, 0, 0});
    (void)state;
    assert_int_equal(what.move_count, 3);
    assert_int_equal(what.moves[0].from, 0);
    assert_int_equal(what.moves[0].to, 1);
    assert_float_equal(what.moves[0].value, 3e-3, 1e-15);
}

static void test_memory_frees_a_refused_plan(void **state)
{
    OpenedPlace *opened = open_row("place", 5, false, 350);
    MerPlan      plan = plan_of(opened, (int[]){0, 0, 0, 0, 1});
    MerWhatIfs   what = ask(opened, &plan, (double[]){4, 0, 1, 0, 0, 0});
    (void)state;
    assert_true(isnan(what.value));
    assert_float_equal(find(&what, "memory of acc x1.25")->value, 4e-3, 1e-15);
    opened = open_row("place", 5, false, 250);
    what = ask(opened, &plan, (double[]){4, 0, 1, 0, 0, 0});
    assert_true(isnan(find(&what, "memory of acc x1.25")->value));
    assert_float_equal(find(&what, "memory of acc x2")->value, 4e-3, 1e-15);
}

static void test_another_unit_is_used_by_an_improved_plan(void **state)
{
    OpenedPlace *opened = open_row("place:what_if=search", 6, false, 1000);
    MerPlan      plan = plan_of(opened, (int[]){0, 0, 0, 0, 1, 1});
    MerWhatIfs   what = ask(opened, &plan, (double[]){4, 0, 2, 0, 0, 0});
    (void)state;
    assert_float_equal(what.improved, 3e-3, 1e-15);
    assert_float_equal(find(&what, "one more acc")->value, 4e-3, 1e-15);
    assert_float_equal(find(&what, "one more acc")->improved, 2e-3, 1e-15);
}

static void test_nothing_is_asked_when_off(void **state)
{
    OpenedPlace *opened = open_row("place:what_if=off", 4, true, 1000);
    MerPlan      plan = plan_of(opened, (int[]){0, 0, 1, 1});
    MerWhatIfs   what = ask(opened, &plan, (double[]){2, 0.5, 2, 0.5, 0, 0});
    (void)state;
    assert_int_equal(what.mode, MER_WHAT_IF_OFF);
    assert_int_equal(what.count, 0);
}

static void test_evaluator_says_what_it_found(void **state)
{
    OpenedPlace *opened = open_row("place", 4, true, 1000);
    MerPlan      plan = plan_of(opened, (int[]){0, 0, 1, 1});
    const char  *text = opened->evaluator.type->print(opened->evaluator.state, &plan, arena);
    (void)state;
    mer_test_contains(text, "busiest unit acc0: operators 80.0 %, transfers 20.0 %, idle 0.0 %");
    mer_test_contains(text,
                      "200 B on acc0 for this placement (has 1.000 kB), 400 B for all on acc0");
    mer_test_contains(text, "transfers x2 as fast 2.250 ms (-10.0 %)");
}

static void test_views_are_written(void **state)
{
    static const char *const ids[] = {"loads",   "bytes",    "units",  "placement",
                                      "traffic", "timeline", "what-if"};
    OpenedPlace             *opened = open_row("place", 4, true, 1000);
    MerPlan                  plan = plan_of(opened, (int[]){0, 0, 1, 1});
    MerNoteList              list = {0};
    MerNotes                 notes = mer_note_list_begin(&list);
    (void)state;
    opened->evaluator.type->detail(opened->evaluator.state, &plan, &notes);
    cJSON *detail = cJSON_Parse(mer_note_list_end(&list, arena));
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        assert_non_null(mer_json_get(mer_json_get(detail, "views"), ids[i]));
    }
    const cJSON *graph = mer_json_get(mer_json_get(detail, "views"), "placement");
    const cJSON *node = cJSON_GetArrayItem(mer_json_get(graph, "nodes"), 2);
    assert_string_equal(mer_json_get_text(node, "group", ""), "acc1");
    assert_true(cJSON_IsTrue(mer_json_get(node, "marked"))); /* a chain is its longest path */
    cJSON_Delete(detail);
}

static void test_platform_with_one_unit_more(void **state)
{
    const MerPlatform *box = platform_named("two-gpu-box", arena);
    const MerPlatform *more =
        mer_place_change(box, (MerPlaceChange){.kind = MER_CHANGE_UNIT, .index = 0}, arena);
    int links = 0;
    (void)state;
    assert_int_equal(more->unit_count, box->unit_count + 1);
    assert_string_equal(more->units[box->unit_count].name, "gpu2");
    assert_string_equal(more->units[box->unit_count].class_name, "gpu");
    for (int l = 0; l < more->link_count; l++) {
        links += more->links[l].from == box->unit_count || more->links[l].to == box->unit_count;
    }
    assert_int_equal(links, 3); /* to gpu0, to gpu1, to the host */
    assert_int_equal(box->unit_count, 3);
}

static void test_links_of_a_bus_change_together(void **state)
{
    const MerPlatform *box = platform_named("two-gpu-box", arena);
    int                bus = 0;
    (void)state;
    while (!box->links[bus].bus) {
        bus++;
    }
    const MerPlatform *fast =
        mer_place_change(box, (MerPlaceChange){MER_CHANGE_LINK, bus, 2}, arena);
    for (int l = 0; l < box->link_count; l++) {
        double factor = box->links[l].bus ? 2 : 1;
        assert_float_equal(fast->links[l].bytes_per_s, factor * box->links[l].bytes_per_s, 1);
    }
}

/* Names as networks have them, numbered names that say nothing, and names of one part. */
static void test_blocks_are_few_and_keep_to_units(void **state)
{
    MerRng rng = mer_rng_make(9, 0);
    (void)state;
    for (int run = 0; run < 24; run++) {
        int          count = 1 + mer_rng_below(&rng, 2500), most = 1 + mer_rng_below(&rng, 300);
        const char **names = MER_ARRAY(arena, const char *, count);
        int         *unit = MER_ARRAY(arena, int, count), *none = MER_ARRAY(arena, int, count + 1);
        const char  *units[] = {"a", "b", "c"};
        for (int o = 0; o < count; o++) {
            unit[o] = run % 2 == 0 ? 3 * o / count : mer_rng_below(&rng, 3);
            names[o] = run % 3 == 0   ? mer_arena_format(arena, "/net/layer.%d/part%d/op%d", o / 20,
                                                         o / 5 % 4, o)
                       : run % 3 == 1 ? mer_arena_format(arena, "op%d", o)
                                      : "same";
        }
        MerPlace       place = {.op_count = count,
                                .unit_count = 3,
                                .names = names,
                                .unit_names = units,
                                .after_start = none,
                                .before_start = none};
        MerGraphPlan   plan = {.op_count = count, .unit = unit};
        MerPlaceBlocks blocks = mer_place_find_blocks(&place, &plan, most, arena);
        assert_in_range(blocks.count, 1, most + 3);
        for (int o = 0; o < count; o++) {
            assert_in_range(blocks.of[o], 0, blocks.count - 1);
            assert_int_equal(blocks.unit[blocks.of[o]], unit[o]);
        }
        for (int a = 0; a < blocks.count; a++) {
            for (int b = 0; b < a; b++) {
                assert_string_not_equal(blocks.names[a], blocks.names[b]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faster_transfers_are_priced),
        cmocka_unit_test(test_one_unit_alone_is_always_priced),
        cmocka_unit_test(test_the_best_unit_alone_comes_first),
        cmocka_unit_test(test_moves_that_gain_most_come_first),
        cmocka_unit_test(test_memory_frees_a_refused_plan),
        cmocka_unit_test(test_another_unit_is_used_by_an_improved_plan),
        cmocka_unit_test(test_nothing_is_asked_when_off),
        cmocka_unit_test(test_evaluator_says_what_it_found),
        cmocka_unit_test(test_views_are_written),
        cmocka_unit_test(test_platform_with_one_unit_more),
        cmocka_unit_test(test_links_of_a_bus_change_together),
        cmocka_unit_test(test_blocks_are_few_and_keep_to_units),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
