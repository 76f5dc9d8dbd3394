/* Each kind of panel as the JSON that the page reads, and views gathered by their ids. */
#include "mercator/view.h"

#include "base/note_list.h"
#include "support.h"

#include <math.h>
#include <string.h>

static char noted[4000];

static void keep(void *state, const char *name, const char *json)
{
    (void)state;
    snprintf(noted, sizeof noted, "%s %s", name, json);
}

static MerNotes notes = {.note = keep};

static const char *const ab[] = {"a", "b"};

static void test_what_every_panel_has(void **state)
{
    (void)state;
    MerViewFact facts[] = {{.name = "size", .value = 3, .unit = "B", .help = "of it"},
                           {.name = "by", .text = "hand"},
                           {.name = "half", .value = NAN, .unit = "1", .text = "unknown"}};
    MerView     view = {.id = "f",
                        .title = "Facts",
                        .help = "All.",
                        .facts = facts,
                        .fact_count = 3,
                        .mark_at = 80,
                        .mark = "here",
                        .is_folded = true};
    mer_view_facts(&notes, &view);
    assert_string_equal(
        noted, "view {\"panel\":\"facts\",\"id\":\"f\",\"title\":\"Facts\",\"help\":\"All.\","
               "\"folded\":true,\"mark\":{\"at\":80,\"text\":\"here\"},\"facts\":["
               "{\"name\":\"size\",\"value\":3,\"unit\":\"B\",\"help\":\"of it\"},"
               "{\"name\":\"by\",\"text\":\"hand\"},"
               "{\"name\":\"half\",\"value\":null,\"unit\":\"1\",\"text\":\"unknown\"}]}");
    mer_view_warning(&notes, &(MerView){.id = "w"}, "it \"leaks\"", NULL);
    assert_string_equal(noted,
                        "view {\"panel\":\"warning\",\"id\":\"w\",\"text\":\"it \\\"leaks\\\"\"}");
    mer_view_warning(&notes, &(MerView){.id = "w", .title = "leak"}, "it leaks", "a patch");
    assert_string_equal(noted, "view {\"panel\":\"warning\",\"id\":\"w\",\"title\":\"leak\","
                               "\"text\":\"it leaks\",\"try\":\"a patch\"}");
    mer_view_facts(NULL, &view); /* nobody listens */
}

static void test_tables_and_bars_keep_their_numbers(void **state)
{
    (void)state;
    MerViewColumn columns[] = {{.name = "bin"}, {.name = "load", .unit = "B", .has_bar = true}};
    MerViewCell   cells[] = {{.text = "left"}, {.number = 0.1}, {.text = "right"}, {.number = NAN}};
    mer_view_table(&notes, &(MerView){.id = "t"}, &(MerViewTable){columns, 2, cells, 2});
    assert_string_equal(noted,
                        "view {\"panel\":\"table\",\"id\":\"t\",\"columns\":[{\"name\":\"bin\"},"
                        "{\"name\":\"load\",\"unit\":\"B\",\"bar\":true}],"
                        "\"rows\":[[\"left\",0.1],[\"right\",null]]}");
    double      values[] = {1, 2, 3, 4};
    MerViewBars bars = {.unit = "pJ",
                        .series = ab,
                        .series_count = 2,
                        .rows = ab,
                        .row_count = 2,
                        .values = values,
                        .limits = (double[]){0, 7},
                        .is_log = true};
    mer_view_bars(&notes, &(MerView){.id = "b"}, &bars);
    assert_string_equal(noted,
                        "view {\"panel\":\"bars\",\"id\":\"b\",\"unit\":\"pJ\",\"log\":true,"
                        "\"series\":[\"a\",\"b\"],\"rows\":[{\"name\":\"a\",\"values\":[1,2]},"
                        "{\"name\":\"b\",\"values\":[3,4],\"limit\":7}]}");
}

static void test_timeline_lists_items_by_lane_and_the_dropped_ones(void **state)
{
    (void)state;
    MerViewItem     items[] = {{.name = "x", .lane = 1, .end = 2, .stall = 1, .amount = 9},
                               {.name = "y",
                                .lane = 0,
                                .start = 2,
                                .end = 3,
                                .group = "g",
                                .kind = "k",
                                .ready = 1,
                                .deadline = 4,
                                .set = "s",
                                .after = (int[]){0},
                                .after_count = 1},
                               {.name = "z", .lane = -1, .deadline = INFINITY}};
    double          segments[] = {0, 2, 5, 6};
    MerViewAreas    below = {.title = "use",
                             .unit = "B/s",
                             .limit = 8,
                             .series_count = 2,
                             .segments = segments,
                             .segment_count = 1};
    MerViewTimeline timeline = {.unit = "cycle",
                                .lanes = ab,
                                .lane_count = 2,
                                .items = items,
                                .item_count = 3,
                                .amount_unit = "B",
                                .item_name = "step",
                                .below = &below,
                                .below_count = 1};
    mer_view_timeline(&notes, &(MerView){.id = "l"}, &timeline);
    assert_string_equal(
        noted,
        "view {\"panel\":\"timeline\",\"id\":\"l\",\"unit\":\"cycle\",\"amount_unit\":\"B\","
        "\"names\":{\"item\":\"step\"},\"lanes\":[{\"name\":\"a\",\"items\":[{\"id\":1,"
        "\"name\":\"y\",\"start\":2,\"end\":3,\"stall\":0,\"amount\":0,\"group\":\"g\","
        "\"kind\":\"k\",\"ready\":1,\"deadline\":4,\"set\":\"s\",\"after\":[0]}]},"
        "{\"name\":\"b\",\"items\":[{\"id\":0,\"name\":\"x\",\"start\":0,\"end\":2,\"stall\":1,"
        "\"amount\":9}]}],\"dropped\":[{\"id\":2,\"name\":\"z\"}],\"below\":[{\"name\":\"use\","
        "\"unit\":\"B/s\",\"limit\":8,\"segments\":[[0,2,5,6]]}]}");
    below.series = ab;
    below.x_name = "time";
    mer_view_areas(&notes, &(MerView){.id = "a"}, &below);
    assert_string_equal(noted, "view {\"panel\":\"areas\",\"id\":\"a\",\"x\":{\"name\":\"time\"},"
                               "\"name\":\"use\",\"unit\":\"B/s\",\"limit\":8,"
                               "\"series\":[\"a\",\"b\"],\"segments\":[[0,2,5,6]]}");
}

static void test_graph_and_scatter(void **state)
{
    (void)state;
    MerViewNode  nodes[] = {{.name = "n", .value = 1.5, .is_marked = true},
                            {.name = "m", .group = "g", .parent = "p"}};
    MerViewGraph graph = {
        .unit = "s", .nodes = nodes, .node_count = 2, .edges = (int[]){0, 1}, .edge_count = 1};
    mer_view_graph(&notes, &(MerView){.id = "g"}, &graph);
    assert_string_equal(noted, "view {\"panel\":\"graph\",\"id\":\"g\",\"unit\":\"s\",\"nodes\":["
                               "{\"name\":\"n\",\"value\":1.5,\"marked\":true},"
                               "{\"name\":\"m\",\"group\":\"g\",\"parent\":\"p\",\"value\":0}],"
                               "\"edges\":[[0,1]]}");
    MerViewColumn columns[] = {{.name = "kind"}, {.name = "stall", .unit = "s"}};
    MerViewCell   cells[] = {{.text = "conv"}, {.number = 0.25}};
    MerViewNode   task = {.name = "n", .task = 3, .cells = cells};
    graph = (MerViewGraph){.value_name = "time",
                           .nodes = &task,
                           .node_count = 1,
                           .columns = columns,
                           .column_count = 2};
    mer_view_graph(&notes, &(MerView){.id = "g"}, &graph);
    assert_string_equal(noted,
                        "view {\"panel\":\"graph\",\"id\":\"g\",\"value_name\":\"time\","
                        "\"columns\":[{\"name\":\"kind\"},{\"name\":\"stall\",\"unit\":\"s\"}],"
                        "\"nodes\":[{\"name\":\"n\",\"task\":2,\"cells\":[\"conv\",0.25]}],"
                        "\"edges\":[]}");
    MerViewAxis    axes[] = {{.name = "x", .unit = "s", .better = -1, .is_log = true},
                             {.name = "y", .better = 1}};
    MerViewPoint   points[] = {{.name = "p", .values = (double[]){1, 2}, .spread = 0.5}};
    MerViewLine    lines[] = {{"roof", (double[]){0, 1, 2, 3}, 2}};
    MerViewScatter scatter = {.axes = axes,
                              .axis_count = 2,
                              .points = points,
                              .point_count = 1,
                              .lines = lines,
                              .line_count = 1};
    mer_view_scatter(&notes, &(MerView){.id = "s"}, &scatter);
    assert_string_equal(noted, "view {\"panel\":\"scatter\",\"id\":\"s\",\"axes\":[{\"name\":\"x\","
                               "\"unit\":\"s\",\"better\":-1,\"log\":true},{\"name\":\"y\","
                               "\"better\":1}],\"points\":[{\"name\":\"p\",\"spread\":0.5,"
                               "\"values\":[1,2]}],\"lines\":[{\"name\":\"roof\","
                               "\"points\":[[0,1],[2,3]]}]}");
}

static void test_matrices_and_trees(void **state)
{
    (void)state;
    double         matrix[] = {1, 1.0 / 3, NAN, -1};
    MerViewHeatmap heatmap = {.rows = ab, .row_count = 2, .values = matrix};
    mer_view_heatmap(&notes, &(MerView){.id = "h"}, &heatmap);
    assert_string_equal(noted, "view {\"panel\":\"heatmap\",\"id\":\"h\",\"rows\":[\"a\",\"b\"],"
                               "\"values\":[[1,0.33333],[null,-1]]}");
    MerViewClusters clusters = {.leaf_name = "knob",
                                .leaves = ab,
                                .leaf_count = 2,
                                .groups = (int[]){0, 0},
                                .merges = &(MerViewMerge){0, 1, 0.25},
                                .cut = 0.5,
                                .matrix = matrix};
    mer_view_clusters(&notes, &(MerView){.id = "c"}, &clusters);
    assert_string_equal(noted,
                        "view {\"panel\":\"tree\",\"id\":\"c\",\"names\":{\"leaf\":\"knob\"},"
                        "\"leaves\":[\"a\",\"b\"],\"groups\":[0,0],\"merges\":[[0,1,0.25]],"
                        "\"cut\":0.5,\"matrix\":[[1,0.33333],[null,-1]]}");
    MerViewBranch branches[] = {{"root", -1, 3}, {"leaf", 0, 1}};
    mer_view_tree(&notes, &(MerView){.id = "t"}, "B", branches, 2);
    assert_string_equal(noted, "view {\"panel\":\"tree\",\"id\":\"t\",\"unit\":\"B\",\"nodes\":["
                               "{\"name\":\"root\",\"parent\":-1,\"value\":3},"
                               "{\"name\":\"leaf\",\"parent\":0,\"value\":1}]}");
}

static void test_text_in_blocks(void **state)
{
    (void)state;
    MerViewTag   tags[] = {{.text = "W", .help = "kept"}, {.text = "I", .is_off = true}};
    MerViewBlock blocks[] = {
        {.title = "outer", .note = "16", .tags = tags, .tag_count = 2, .text = "for a\nfor b"},
        {.depth = 1, .text = "work"}};
    mer_view_text(&notes, &(MerView){.id = "x"}, blocks, 2, "for");
    assert_string_equal(noted, "view {\"panel\":\"text\",\"id\":\"x\",\"keywords\":\"for\","
                               "\"blocks\":[{\"title\":\"outer\",\"depth\":0,\"note\":\"16\","
                               "\"tags\":[{\"text\":\"W\",\"help\":\"kept\"},{\"text\":\"I\","
                               "\"off\":true}],\"text\":\"for a\\nfor b\"},{\"depth\":1,"
                               "\"text\":\"work\"}]}");
}

static void test_gathered_views_are_told_apart_by_their_ids(void **state)
{
    (void)state;
    MerArena   *arena = mer_arena_new();
    MerNoteList list = {0};
    MerNotes    into = mer_note_list_begin(&list);
    mer_note(&into, "data", "[1]");
    mer_view_facts(&into, &(MerView){.id = "one"});
    mer_view_facts(&into, &(MerView){.id = "two"});
    assert_string_equal(mer_note_list_end(&list, arena),
                        "{\"data\":[1],\"views\":{\"one\":{\"panel\":\"facts\",\"id\":\"one\"},"
                        "\"two\":{\"panel\":\"facts\",\"id\":\"two\"}}}");
    into = mer_note_list_begin(&list);
    mer_note(&into, "data", "2");
    assert_string_equal(mer_note_list_end(&list, arena), "{\"data\":2}");
    mer_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_every_panel_has),
        cmocka_unit_test(test_tables_and_bars_keep_their_numbers),
        cmocka_unit_test(test_timeline_lists_items_by_lane_and_the_dropped_ones),
        cmocka_unit_test(test_graph_and_scatter),
        cmocka_unit_test(test_matrices_and_trees),
        cmocka_unit_test(test_text_in_blocks),
        cmocka_unit_test(test_gathered_views_are_told_apart_by_their_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
