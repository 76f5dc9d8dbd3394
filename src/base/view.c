/* Panels of the report as JSON (docs/report-data.md). What is absent is left out. */
#include "mercator/view.h"

#include "mercator/json.h"

#include <math.h>
#include <stdio.h>

static void maybe_text(MerJson *json, const char *key, const char *text)
{
    if (text != NULL) {
        mer_json_text(json, key, text);
    }
}

static void maybe_real(MerJson *json, const char *key, double value)
{
    if (value != 0 && isfinite(value)) {
        mer_json_real(json, key, value);
    }
}

static void maybe_true(MerJson *json, const char *key, bool value)
{
    if (value) {
        mer_json_bool(json, key, true);
    }
}

/* What is only looked at needs no more digits. */
static void short_real(MerJson *json, const char *key, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.5g", value);
    mer_json_raw(json, key, isfinite(value) ? text : "null");
}

static void write_matrix(MerJson *json, const char *key, const double *values, int rows,
                         int columns)
{
    mer_json_array(json, key);
    for (int r = 0; r < rows; r++) {
        mer_json_array(json, NULL);
        for (int c = 0; c < columns; c++) {
            short_real(json, NULL, values[(size_t)r * (size_t)columns + (size_t)c]);
        }
        mer_json_end_array(json);
    }
    mer_json_end_array(json);
}

/* A list of objects: `write` gives the members of one, which it finds in `of`. */
static void write_list(MerJson *json, const char *key, int count,
                       void (*write)(MerJson *json, const void *of, int index), const void *of)
{
    mer_json_array(json, key);
    for (int i = 0; i < count; i++) {
        mer_json_object(json, NULL);
        write(json, of, i);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static void write_fact(MerJson *json, const void *facts, int index)
{
    const MerViewFact *fact = (const MerViewFact *)facts + index;
    mer_json_text(json, "name", fact->name);
    if (fact->unit != NULL) {
        mer_json_real(json, "value", fact->value);
        mer_json_text(json, "unit", fact->unit);
    }
    maybe_text(json, "text", fact->text);
    maybe_text(json, "help", fact->help);
}

/* The object of a view, which is open for what its panel has. */
static MerJson begin(const char *panel, const MerView *view)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "panel", panel);
    mer_json_text(&json, "id", view->id != NULL ? view->id : panel);
    maybe_text(&json, "title", view->title);
    maybe_text(&json, "help", view->help);
    maybe_true(&json, "folded", view->is_folded);
    if (view->mark_at > 0) {
        mer_json_object(&json, "mark");
        mer_json_int(&json, "at", view->mark_at);
        mer_json_text(&json, "text", view->mark != NULL ? view->mark : "");
        mer_json_end_object(&json);
    }
    if (view->fact_count > 0) {
        write_list(&json, "facts", view->fact_count, write_fact, view->facts);
    }
    return json;
}

static void finish(MerJson *json, MerNotes *notes)
{
    mer_json_end_object(json);
    mer_note(notes, "view", json->text);
    mer_json_free(json);
}

void mer_view_facts(MerNotes *notes, const MerView *view)
{
    MerJson json = begin("facts", view);
    finish(&json, notes);
}

void mer_view_warning(MerNotes *notes, const MerView *view, const char *text, const char *remedy)
{
    MerJson json = begin("warning", view);
    mer_json_text(&json, "text", text);
    maybe_text(&json, "try", remedy);
    finish(&json, notes);
}

/* Texts and numbers, as the columns have them. */
static void write_cells(MerJson *json, const char *key, const MerViewColumn *columns, int count,
                        const MerViewCell *cells)
{
    mer_json_array(json, key);
    for (int c = 0; c < count; c++) {
        if (columns[c].unit == NULL) {
            mer_json_text(json, NULL, cells[c].text);
        } else {
            mer_json_real(json, NULL, cells[c].number);
        }
    }
    mer_json_end_array(json);
}

static void write_column(MerJson *json, const void *columns, int index)
{
    const MerViewColumn *column = (const MerViewColumn *)columns + index;
    mer_json_text(json, "name", column->name);
    maybe_text(json, "unit", column->unit);
    maybe_text(json, "help", column->help);
    maybe_true(json, "bar", column->has_bar);
}

void mer_view_table(MerNotes *notes, const MerView *view, const MerViewTable *table)
{
    MerJson json = begin("table", view);
    write_list(&json, "columns", table->column_count, write_column, table->columns);
    mer_json_array(&json, "rows");
    for (int r = 0; r < table->row_count; r++) {
        write_cells(&json, NULL, table->columns, table->column_count,
                    table->cells + r * table->column_count);
    }
    mer_json_end_array(&json);
    finish(&json, notes);
}

static void write_bar(MerJson *json, const void *of, int row)
{
    const MerViewBars *bars = of;
    mer_json_text(json, "name", bars->rows[row]);
    mer_json_reals(json, "values", bars->values + row * bars->series_count, bars->series_count);
    if (bars->limits != NULL) {
        maybe_real(json, "limit", bars->limits[row]);
    }
}

void mer_view_bars(MerNotes *notes, const MerView *view, const MerViewBars *bars)
{
    MerJson json = begin("bars", view);
    maybe_text(&json, "unit", bars->unit);
    maybe_true(&json, "grouped", bars->is_grouped);
    maybe_true(&json, "log", bars->is_log);
    maybe_true(&json, "parts", bars->has_parts);
    maybe_true(&json, "rest", bars->has_rest);
    mer_json_texts(&json, "series", bars->series, bars->series_count);
    write_list(&json, "rows", bars->row_count, write_bar, bars);
    finish(&json, notes);
}

static void write_areas(MerJson *json, const MerViewAreas *areas)
{
    size_t width = (size_t)areas->series_count + 2;
    maybe_text(json, "unit", areas->unit);
    maybe_real(json, "limit", areas->limit);
    if (areas->series != NULL) {
        mer_json_texts(json, "series", areas->series, areas->series_count);
    }
    mer_json_array(json, "segments");
    for (int s = 0; s < areas->segment_count; s++) {
        mer_json_reals(json, NULL, areas->segments + (size_t)s * width, (int)width);
    }
    mer_json_end_array(json);
}

void mer_view_areas(MerNotes *notes, const MerView *view, const MerViewAreas *areas)
{
    MerJson json = begin("areas", view);
    mer_json_object(&json, "x");
    maybe_text(&json, "name", areas->x_name);
    maybe_text(&json, "unit", areas->x_unit);
    mer_json_end_object(&json);
    maybe_text(&json, "name", areas->title);
    write_areas(&json, areas);
    finish(&json, notes);
}

static void write_item(MerJson *json, const MerViewTimeline *timeline, int number)
{
    const MerViewItem *item = &timeline->items[number];
    mer_json_object(json, NULL);
    mer_json_int(json, "id", number);
    mer_json_text(json, "name", item->name);
    if (item->lane >= 0) {
        mer_json_real(json, "start", item->start);
        mer_json_real(json, "end", item->end);
        mer_json_real(json, "stall", item->stall);
        if (timeline->amount_unit != NULL) {
            mer_json_real(json, "amount", item->amount);
        }
    }
    maybe_text(json, "group", item->group);
    maybe_text(json, "kind", item->kind);
    maybe_real(json, "ready", item->ready);
    maybe_real(json, "deadline", item->deadline);
    maybe_text(json, "set", item->set);
    if (item->after_count > 0) {
        mer_json_ints(json, "after", item->after, item->after_count);
    }
    mer_json_end_object(json);
}

/* Those of a lane; no list where there are none. */
static void write_items(MerJson *json, const char *key, const MerViewTimeline *timeline, int lane)
{
    int count = 0;
    for (int i = 0; i < timeline->item_count; i++) {
        if (timeline->items[i].lane == lane && count++ == 0) {
            mer_json_array(json, key);
        }
        if (timeline->items[i].lane == lane) {
            write_item(json, timeline, i);
        }
    }
    if (count > 0) {
        mer_json_end_array(json);
    }
}

static void write_names(MerJson *json, const MerViewTimeline *timeline)
{
    mer_json_object(json, "names");
    maybe_text(json, "item", timeline->item_name);
    maybe_text(json, "group", timeline->group_name);
    maybe_text(json, "kind", timeline->kind_name);
    maybe_text(json, "set", timeline->set_name);
    maybe_text(json, "stall", timeline->stall_name);
    mer_json_end_object(json);
}

static void write_lane(MerJson *json, const void *of, int lane)
{
    const MerViewTimeline *timeline = of;
    mer_json_text(json, "name", timeline->lanes[lane]);
    write_items(json, "items", timeline, lane);
}

static void write_below(MerJson *json, const void *of, int index)
{
    const MerViewAreas *areas = (const MerViewAreas *)of + index;
    maybe_text(json, "name", areas->title);
    write_areas(json, areas);
}

void mer_view_timeline(MerNotes *notes, const MerView *view, const MerViewTimeline *timeline)
{
    MerJson json = begin("timeline", view);
    maybe_text(&json, "unit", timeline->unit);
    maybe_text(&json, "amount_unit", timeline->amount_unit);
    write_names(&json, timeline);
    write_list(&json, "lanes", timeline->lane_count, write_lane, timeline);
    write_items(&json, "dropped", timeline, -1);
    if (timeline->below_count > 0) {
        write_list(&json, "below", timeline->below_count, write_below, timeline->below);
    }
    finish(&json, notes);
}

static void write_node(MerJson *json, const void *of, int index)
{
    const MerViewGraph *graph = of;
    const MerViewNode  *node = &graph->nodes[index];
    mer_json_text(json, "name", node->name);
    maybe_text(json, "group", node->group);
    maybe_text(json, "parent", node->parent);
    if (graph->unit != NULL) {
        mer_json_real(json, "value", node->value);
    }
    maybe_true(json, "marked", node->is_marked);
    if (node->task > 0) {
        mer_json_int(json, "task", node->task - 1);
    }
    if (node->cells) {
        write_cells(json, "cells", graph->columns, graph->column_count, node->cells);
    }
}

void mer_view_graph(MerNotes *notes, const MerView *view, const MerViewGraph *graph)
{
    MerJson json = begin("graph", view);
    maybe_text(&json, "unit", graph->unit);
    maybe_text(&json, "value_name", graph->value_name);
    maybe_text(&json, "group_name", graph->group_name);
    if (graph->groups) {
        mer_json_texts(&json, "groups", graph->groups, graph->group_count);
    }
    if (graph->column_count > 0) {
        write_list(&json, "columns", graph->column_count, write_column, graph->columns);
    }
    write_list(&json, "nodes", graph->node_count, write_node, graph);
    mer_json_array(&json, "edges");
    for (int e = 0; e < graph->edge_count; e++) {
        mer_json_ints(&json, NULL, graph->edges + 2 * e, 2);
    }
    mer_json_end_array(&json);
    finish(&json, notes);
}

static void write_axis(MerJson *json, const void *axes, int index)
{
    const MerViewAxis *axis = (const MerViewAxis *)axes + index;
    mer_json_text(json, "name", axis->name);
    maybe_text(json, "unit", axis->unit);
    if (axis->better != 0) {
        mer_json_int(json, "better", axis->better);
    }
    maybe_true(json, "log", axis->is_log);
}

static void write_point(MerJson *json, const void *of, int index)
{
    const MerViewScatter *scatter = of;
    const MerViewPoint   *point = &scatter->points[index];
    maybe_text(json, "name", point->name);
    maybe_text(json, "group", point->group);
    maybe_real(json, "spread", point->spread);
    maybe_true(json, "marked", point->is_marked);
    mer_json_reals(json, "values", point->values, scatter->axis_count);
}

static void write_line(MerJson *json, const void *lines, int index)
{
    const MerViewLine *line = (const MerViewLine *)lines + index;
    mer_json_text(json, "name", line->name);
    mer_json_array(json, "points");
    for (int p = 0; p < line->point_count; p++) {
        mer_json_reals(json, NULL, line->points + 2 * p, 2);
    }
    mer_json_end_array(json);
}

void mer_view_scatter(MerNotes *notes, const MerView *view, const MerViewScatter *scatter)
{
    MerJson json = begin("scatter", view);
    write_list(&json, "axes", scatter->axis_count, write_axis, scatter->axes);
    write_list(&json, "points", scatter->point_count, write_point, scatter);
    write_list(&json, "lines", scatter->line_count, write_line, scatter->lines);
    finish(&json, notes);
}

void mer_view_heatmap(MerNotes *notes, const MerView *view, const MerViewHeatmap *heatmap)
{
    int     columns = heatmap->columns != NULL ? heatmap->column_count : heatmap->row_count;
    MerJson json = begin("heatmap", view);
    maybe_text(&json, "unit", heatmap->unit);
    mer_json_texts(&json, "rows", heatmap->rows, heatmap->row_count);
    if (heatmap->columns != NULL) {
        mer_json_texts(&json, "columns", heatmap->columns, columns);
    }
    write_matrix(&json, "values", heatmap->values, heatmap->row_count, columns);
    finish(&json, notes);
}

void mer_view_clusters(MerNotes *notes, const MerView *view, const MerViewClusters *clusters)
{
    int     leaves = clusters->leaf_count;
    MerJson json = begin("tree", view);
    mer_json_object(&json, "names");
    maybe_text(&json, "leaf", clusters->leaf_name);
    maybe_text(&json, "group", clusters->group_name);
    maybe_text(&json, "height", clusters->height_name);
    mer_json_end_object(&json);
    mer_json_texts(&json, "leaves", clusters->leaves, leaves);
    if (clusters->groups != NULL) {
        mer_json_ints(&json, "groups", clusters->groups, leaves);
    }
    if (clusters->merges != NULL) {
        mer_json_array(&json, "merges");
        for (int m = 0; m + 1 < leaves; m++) {
            mer_json_array(&json, NULL);
            mer_json_int(&json, NULL, clusters->merges[m].a);
            mer_json_int(&json, NULL, clusters->merges[m].b);
            short_real(&json, NULL, clusters->merges[m].height);
            mer_json_end_array(&json);
        }
        mer_json_end_array(&json);
        short_real(&json, "cut", clusters->cut);
    }
    if (clusters->matrix != NULL) {
        write_matrix(&json, "matrix", clusters->matrix, leaves, leaves);
    }
    finish(&json, notes);
}

void mer_view_tree(MerNotes *notes, const MerView *view, const char *unit,
                   const MerViewBranch *branches, int count)
{
    MerJson json = begin("tree", view);
    maybe_text(&json, "unit", unit);
    mer_json_array(&json, "nodes");
    for (int n = 0; n < count; n++) {
        mer_json_object(&json, NULL);
        mer_json_text(&json, "name", branches[n].name);
        mer_json_int(&json, "parent", branches[n].parent);
        if (unit != NULL) {
            mer_json_real(&json, "value", branches[n].value);
        }
        mer_json_end_object(&json);
    }
    mer_json_end_array(&json);
    finish(&json, notes);
}

static void write_tag(MerJson *json, const void *tags, int index)
{
    const MerViewTag *tag = (const MerViewTag *)tags + index;
    mer_json_text(json, "text", tag->text);
    maybe_text(json, "help", tag->help);
    maybe_true(json, "off", tag->is_off);
}

static void write_block(MerJson *json, const void *blocks, int index)
{
    const MerViewBlock *block = (const MerViewBlock *)blocks + index;
    maybe_text(json, "title", block->title);
    mer_json_int(json, "depth", block->depth);
    maybe_text(json, "note", block->note);
    if (block->tag_count > 0) {
        write_list(json, "tags", block->tag_count, write_tag, block->tags);
    }
    maybe_text(json, "text", block->text);
}

void mer_view_text(MerNotes *notes, const MerView *view, const MerViewBlock *blocks, int count,
                   const char *keywords)
{
    MerJson json = begin("text", view);
    maybe_text(&json, "keywords", keywords);
    write_list(&json, "blocks", count, write_block, blocks);
    finish(&json, notes);
}
