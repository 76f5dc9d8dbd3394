/* Panels of a split: channels of every layer, the units over time, numbers by layer, and the plan among fixed splits. */
#include "split/cost/soc_views.h"

#include "mercator/view.h"
#include "split/solve/fixed_splits.h"

#include <string.h>

typedef struct Show {
    const MerSplit      *split;
    const MerSplitRules *rules;
    const MerSplitPlan  *plan;
    MerNotes            *notes;
    MerArena            *arena;
} Show;

static int series_named(const char **names, int count, const char *name)
{
    int s = 0;
    while (s < count && strcmp(names[s], name) != 0) {
        s++;
    }
    return s;
}

/* Options by their names, as they first occur. */
static int find_series(const Show *w, const char **names)
{
    int count = 0;
    for (int l = 0; l < w->split->layer_count; l++) {
        const MerSplitLayer *layer = &w->split->layers[l];
        for (int o = 0; o < layer->option_count; o++) {
            int s = series_named(names, count, layer->options[o].name);
            if (s == count && count < MER_SPLIT_MAX_OPTIONS) {
                names[count++] = layer->options[o].name;
            }
        }
    }
    return count;
}

static void show_channels(const Show *w)
{
    const char  *series[MER_SPLIT_MAX_OPTIONS];
    int          count = find_series(w, series), layers = w->split->layer_count;
    const char **rows = MER_ARRAY(w->arena, const char *, layers);
    double      *values = MER_ARRAY(w->arena, double, layers *count);
    for (int l = 0; l < layers; l++) {
        const MerSplitLayer *layer = &w->split->layers[l];
        rows[l] = layer->name;
        for (int o = 0; o < layer->option_count; o++) {
            int s = series_named(series, count, layer->options[o].name);
            if (s < count) {
                values[l * count + s] += w->plan->counts[layer->option_start + o];
            }
        }
    }
    mer_view_bars(w->notes,
                  &(MerView){.id = "channels",
                             .title = "Channels by unit",
                             .help = "Output channels of every layer, by what computes them."},
                  &(MerViewBars){.unit = "1",
                                 .series = series,
                                 .series_count = count,
                                 .rows = rows,
                                 .row_count = layers,
                                 .values = values,
                                 .has_parts = true});
}

static void show_timeline(const Show *w)
{
    int          units = w->split->unit_count, layers = w->split->layer_count, count = 0;
    const char **lanes = MER_ARRAY(w->arena, const char *, units);
    MerViewItem *items = MER_ARRAY(w->arena, MerViewItem, layers * units);
    double       at = 0;
    for (int u = 0; u < units; u++) {
        lanes[u] = w->split->platform->units[u].name;
    }
    for (int l = 0; l < layers; l++) {
        const MerSplitLayer *layer = &w->split->layers[l];
        MerSplitPrice        price =
            mer_split_layer_price(w->split, w->rules, l, w->plan->counts + layer->option_start);
        for (int u = 0; u < units; u++) {
            if (price.busy[u] > 0) {
                items[count++] = (MerViewItem){.name = layer->name,
                                               .lane = u,
                                               .start = at,
                                               .end = at + price.busy[u],
                                               .group = layer->name};
            }
        }
        at += price.cycles;
    }
    mer_view_timeline(w->notes,
                      &(MerView){.id = "timeline",
                                 .title = "Units over time",
                                 .help = "A layer ends when the longest of its units does."},
                      &(MerViewTimeline){.unit = "cycle",
                                         .lanes = lanes,
                                         .lane_count = units,
                                         .items = items,
                                         .item_count = count,
                                         .item_name = "layer",
                                         .group_name = "layer"});
}

enum { NAME, SPLIT, CYCLES, ENERGY, UNITS, COLUMNS = UNITS + MER_SPLIT_MAX_UNITS };

static const char *counts_text(const Show *w, const MerSplitLayer *layer)
{
    const char *text = "";
    for (int o = 0; o < layer->option_count; o++) {
        int count = w->plan->counts[layer->option_start + o];
        if (count > 0) {
            text = mer_arena_format(w->arena, "%s%s%s %d", text, *text ? ", " : "",
                                    layer->options[o].name, count);
        }
        if (count > 0 && layer->options[o].is_estimated) {
            text = mer_arena_format(w->arena, "%s (estimated)", text);
        }
    }
    return text;
}

static void show_layers(const Show *w)
{
    int           units = w->split->unit_count, layers = w->split->layer_count;
    int           width = UNITS + units;
    MerViewColumn columns[COLUMNS] = {{.name = "layer"},
                                      {.name = "channels"},
                                      {.name = "cycles", .unit = "cycle", .has_bar = true},
                                      {.name = "energy", .unit = "pJ"}};
    MerViewCell  *cells = MER_ARRAY(w->arena, MerViewCell, layers * width);
    for (int u = 0; u < units; u++) {
        columns[UNITS + u] =
            (MerViewColumn){.name = w->split->platform->units[u].name, .unit = "cycle"};
    }
    for (int l = 0; l < layers; l++) {
        const MerSplitLayer *layer = &w->split->layers[l];
        MerSplitPrice        price =
            mer_split_layer_price(w->split, w->rules, l, w->plan->counts + layer->option_start);
        MerViewCell *row = &cells[l * width];
        row[NAME].text = layer->name;
        row[SPLIT].text = counts_text(w, layer);
        row[CYCLES].number = price.cycles;
        row[ENERGY].number = price.energy_pj;
        for (int u = 0; u < units; u++) {
            row[UNITS + u].number = price.busy[u];
        }
    }
    mer_view_table(w->notes, &(MerView){.id = "layers", .title = "Layers"},
                   &(MerViewTable){columns, width, cells, layers});
}

static MerViewPoint point_of(const Show *w, const char *name, const char *group,
                             const MerSplitPlan *plan)
{
    MerSplitPrice price = mer_split_price(w->split, w->rules, plan);
    double       *values = MER_ARRAY(w->arena, double, 2);
    values[0] = price.cycles;
    values[1] = price.energy_pj;
    return (MerViewPoint){.name = name, .group = group, .values = values};
}

/* This plan beside the fixed splits that the platform allows, and beside what no split can beat. */
static void show_front(const Show *w)
{
    MerViewPoint points[MER_SPLIT_FIXED_COUNT + 1];
    MerViewAxis  axes[] = {{.name = "cycles", .unit = "cycle", .better = -1},
                           {.name = "energy", .unit = "pJ", .better = -1}};
    int          count = 1;
    points[0] = point_of(w, "this split", "this split", w->plan);
    points[0].is_marked = true;
    for (int f = 0; f < MER_SPLIT_FIXED_COUNT; f++) {
        MerPlan plan;
        if (mer_split_make_fixed(w->split, w->rules, (MerSplitFixed)f, MER_METRIC_CYCLES, &plan,
                                 w->arena, NULL) == MER_OK) {
            points[count++] = point_of(w, mer_split_fixed_name((MerSplitFixed)f), "fixed splits",
                                       mer_split_plan(&plan));
        }
    }
    if (isnan(points[0].values[1])) {
        return; /* one axis is no front */
    }
    mer_view_scatter(
        w->notes,
        &(MerView){.id = "front",
                   .title = "Among fixed splits",
                   .help = "Cycles and energy of this split and of those that follow "
                           "a rule."},
        &(MerViewScatter){.axes = axes, .axis_count = 2, .points = points, .point_count = count});
}

enum { GRAPH_CYCLES, GRAPH_ENERGY, GRAPH_UNITS, GRAPH_COLUMNS = GRAPH_UNITS + MER_SPLIT_MAX_UNITS };

/* The unit that computes all channels of a layer; NULL: several do. `shares`: of each unit. */
static const char *unit_of(const Show *w, const MerSplitLayer *layer, double *shares)
{
    const char *name = NULL;
    int         used = 0;
    memset(shares, 0, (size_t)w->split->unit_count * sizeof *shares);
    for (int o = 0; o < layer->option_count; o++) {
        double share = (double)w->plan->counts[layer->option_start + o] / layer->c_out;
        shares[layer->options[o].unit] += share;
    }
    for (int u = 0; u < w->split->unit_count; u++) {
        if (shares[u] > 0) {
            name = w->split->platform->units[u].name;
            used++;
        }
    }
    return used == 1 ? name : NULL;
}

static void fill_layer_node(const Show *w, int l, MerViewNode *nodes, MerViewCell *cells)
{
    const MerSplitLayer *layer = &w->split->layers[l];
    MerSplitPrice        price =
        mer_split_layer_price(w->split, w->rules, l, w->plan->counts + layer->option_start);
    double      shares[MER_SPLIT_MAX_UNITS];
    const char *unit = unit_of(w, layer, shares);
    cells[GRAPH_CYCLES].number = price.cycles;
    cells[GRAPH_ENERGY].number = price.energy_pj;
    for (int u = 0; u < w->split->unit_count; u++) {
        cells[GRAPH_UNITS + u].number = shares[u];
    }
    nodes[layer->op].group = unit ? unit : "several";
    nodes[layer->op].cells = cells;
    if (layer->pair_op >= 0) { /* computed with its other half */
        nodes[layer->pair_op].group = nodes[layer->op].group;
    }
}

/* The network coloured by who computes each layer, and by what that takes. */
static void show_graph(const Show *w)
{
    const MerGraph *graph = w->split->graph;
    int             units = w->split->unit_count, layers = w->split->layer_count;
    int             edge_count, width = GRAPH_UNITS + units;
    MerViewNode    *nodes = MER_ARRAY(w->arena, MerViewNode, graph->op_count + 1);
    MerViewCell    *cells = MER_ARRAY(w->arena, MerViewCell, layers * width + 1);
    int            *edges = mer_graph_edges(graph, w->arena, &edge_count);
    const char    **groups = MER_ARRAY(w->arena, const char *, units + 1);
    MerViewColumn   columns[GRAPH_COLUMNS] = {{.name = "cycles", .unit = "cycle"},
                                              {.name = "energy", .unit = "pJ"}};
    if (edge_count == 0) {
        return;
    }
    for (int u = 0; u < units; u++) {
        groups[u] = w->split->platform->units[u].name;
        columns[GRAPH_UNITS + u] = (MerViewColumn){
            .name = mer_arena_format(w->arena, "channels on %s", groups[u]), .unit = "share"};
    }
    groups[units] = "several";
    for (int o = 0; o < graph->op_count; o++) {
        nodes[o].name = graph->ops[o].name;
    }
    for (int l = 0; l < layers; l++) {
        fill_layer_node(w, l, nodes, cells + l * width);
    }
    mer_view_graph(w->notes, &(MerView){.id = "graph", .title = "The network on the units"},
                   &(MerViewGraph){.group_name = "unit",
                                   .groups = groups,
                                   .group_count = units + 1,
                                   .nodes = nodes,
                                   .node_count = graph->op_count,
                                   .edges = edges,
                                   .edge_count = edge_count,
                                   .columns = columns,
                                   .column_count = width});
}

static void show_facts(const Show *w)
{
    MerSplitPrice price = mer_split_price(w->split, w->rules, w->plan);
    MerViewFact   facts[MER_SPLIT_MAX_UNITS + 2];
    int           count = 0;
    for (int u = 0; u < w->split->unit_count; u++) {
        facts[count++] = (MerViewFact){
            .name = mer_arena_format(w->arena, "%s busy", w->split->platform->units[u].name),
            .value = price.cycles > 0 ? price.busy[u] / price.cycles : 0,
            .unit = "share"};
    }
    facts[count++] =
        (MerViewFact){.name = "of the reference",
                      .value = price.cycles / mer_split_reference_cost(w->split, MER_METRIC_CYCLES),
                      .unit = "share",
                      .help = "cycles over those with every layer on the reference"};
    facts[count++] =
        (MerViewFact){.name = "memory",
                      .text = w->rules->memory == MER_SPLIT_MEMORY_OFF     ? "not modelled"
                              : w->rules->memory == MER_SPLIT_MEMORY_CHECK ? "limits checked"
                                                                           : "transfers priced"};
    mer_view_facts(
        w->notes,
        &(MerView){.id = "use", .title = "Use of the units", .facts = facts, .fact_count = count});
}

void mer_split_show(const MerSplit *split, const MerSplitRules *rules, const MerSplitPlan *plan,
                    MerNotes *notes)
{
    Show w = {split, rules, plan, notes, mer_arena_new()};
    if (rules) {
        show_facts(&w);
    }
    show_channels(&w);
    if (rules) {
        show_timeline(&w);
        show_graph(&w);
        show_layers(&w);
        show_front(&w);
    }
    mer_arena_free(w.arena);
}
