/* What the report shows of a placement, for every evaluator: loads and bytes of the units, the graph coloured by unit, and what
 * goes between units. */
#include "mercator/view.h"
#include "place/cost/place_blocks.h"
#include "place/place_parts.h"

#include <string.h>

enum { COMPUTE, TRANSFER, IDLE, PARTS };
enum {
    MOST_NODES =
        2000, /* of a graph whose operators are written: larger ones are their blocks alone */
    MOST_BLOCKS = 150,
    MOST_MATRIX = 32 /* units of the table from unit to unit */
};

static double seconds(double microseconds)
{
    return 1e-6 * microseconds;
}

static void show_loads(const MerPlace *place, const double *load_us, MerArena *arena,
                       MerNotes *notes)
{
    static const char *const parts[PARTS] = {"operators", "transfers", "idle"};
    int                      units = place->unit_count, most = 0;
    double                  *values = MER_ARRAY(arena, double, PARTS *(size_t)units);
    for (int u = 0; u < units; u++) {
        for (int p = 0; p < PARTS; p++) {
            values[PARTS * u + p] = seconds(load_us[PARTS * u + p]);
        }
        most = load_us[PARTS * u + IDLE] < load_us[PARTS * most + IDLE] ? u : most;
    }
    MerViewFact facts[] = {{.name = "least idle", .text = place->unit_names[most]}};
    MerView     view = {.id = "loads",
                        .title = "Time of the units",
                        .help = "Where a unit is idle, it waits for others.",
                        .facts = facts,
                        .fact_count = 1};
    MerViewBars bars = {.unit = "s",
                        .series = parts,
                        .series_count = PARTS,
                        .rows = place->unit_names,
                        .row_count = units,
                        .values = values,
                        .has_parts = true,
                        .has_rest = true};
    mer_view_bars(notes, &view, &bars);
}

/* Bytes that stay, and what comes on top of them at the worst moment. */
static void show_bytes(const MerPlace *place, const MerGraphPlan *plan, const double *peak,
                       MerArena *arena, MerNotes *notes)
{
    static const char *const parts[2] = {"stays", "comes and goes"};
    int                      units = place->unit_count, series = 1;
    double                  *values = MER_ARRAY(arena, double, 2 * (size_t)units);
    double                  *stays = MER_ARRAY(arena, double, units);
    for (int o = 0; o < place->op_count; o++) {
        stays[plan->unit[o]] += place->size[o];
    }
    for (int u = 0; u < units; u++) {
        series = peak[u] > stays[u] * (1 + 1e-12) ? 2 : series;
    }
    for (int u = 0; u < units; u++) {
        values[series * u] = series == 2 ? fmin(stays[u], peak[u]) : peak[u];
        if (series == 2) {
            values[2 * u + 1] = fmax(0, peak[u] - stays[u]);
        }
    }
    MerView     view = {.id = "bytes",
                        .title = "Memory of the units",
                        .help = "At its fullest, against what there is."};
    MerViewBars bars = {.unit = "B",
                        .series = parts,
                        .series_count = series,
                        .rows = place->unit_names,
                        .row_count = units,
                        .values = values,
                        .limits = place->limit};
    mer_view_bars(notes, &view, &bars);
}

static double time_of(const MerPlace *place, const MerGraphPlan *plan, int op)
{
    return place->time_us[(size_t)op * (size_t)place->unit_count + (size_t)plan->unit[op]];
}

double mer_place_transfer(const MerPlace *place, int op, int from, int to)
{
    const MerRoute *route = &place->routes[from * place->unit_count + to];
    const double   *own = place->transfer_us + (size_t)op * (size_t)place->unit_count;
    if (from == to) {
        return 0;
    }
    if (place->has_transfer_times) { /* over the memory of the host: both ends pay */
        return own[from] + own[to];
    }
    return route->count == 0 ? INFINITY
                             : route->latency_us + place->output_bytes[op] * route->us_per_byte;
}

/* Marks the operators of the longest path, transfers between units included, and gives its length in microseconds. */
static double mark_longest_path(const MerPlace *place, const MerGraphPlan *plan, bool *is_marked,
                                MerArena *arena)
{
    double *end = MER_ARRAY(arena, double, place->op_count);
    int    *from = MER_ARRAY(arena, int, place->op_count), last = 0;
    for (int o = 0; o < place->op_count; o++) {
        double start = 0;
        from[o] = -1;
        for (int i = place->before_start[o]; i < place->before_start[o + 1]; i++) {
            int    producer = place->before[i];
            double there = end[producer] +
                           mer_place_transfer(place, producer, plan->unit[producer], plan->unit[o]);
            if (from[o] < 0 || there > start) {
                start = there;
                from[o] = producer;
            }
        }
        end[o] = start + time_of(place, plan, o);
        last = end[o] > end[last] ? o : last;
    }
    for (int o = last; o >= 0; o = from[o]) {
        is_marked[o] = true;
    }
    return end[last];
}

enum { MEMORY, RESULT, COLOURS }; /* what nodes can be coloured by, beside their units and times */

typedef struct Picture {
    int          node_count, edge_count;
    MerViewNode *nodes;
    int         *edges;
    MerViewCell *cells; /* (nodes, COLOURS) */
} Picture;

static Picture new_picture(size_t nodes, size_t edges, MerArena *arena)
{
    Picture picture = {.node_count = (int)nodes,
                       .nodes = MER_ARRAY(arena, MerViewNode, nodes + 1),
                       .edges = MER_ARRAY(arena, int, 2 * edges + 1),
                       .cells = MER_ARRAY(arena, MerViewCell, COLOURS * nodes + 1)};
    for (size_t n = 0; n < nodes; n++) {
        picture.nodes[n].cells = picture.cells + COLOURS * n;
    }
    return picture;
}

static void add_bytes(Picture *picture, int node, const MerPlace *place, int op)
{
    MerViewCell *cells = picture->cells + COLOURS * node;
    cells[MEMORY].number += place->size[op];
    cells[RESULT].number += place->output_bytes[op];
}

static Picture draw_operators(const MerPlace *place, const MerGraphPlan *plan,
                              const MerPlaceBlocks *blocks, const bool *is_marked, MerArena *arena)
{
    Picture picture = new_picture((size_t)place->op_count, (size_t)place->edge_count, arena);
    for (int o = 0; o < place->op_count; o++) {
        picture.nodes[o] = (MerViewNode){.name = place->names[o],
                                         .group = place->unit_names[plan->unit[o]],
                                         .parent = blocks->names[blocks->of[o]],
                                         .value = seconds(time_of(place, plan, o)),
                                         .is_marked = is_marked[o],
                                         .cells = picture.nodes[o].cells};
        add_bytes(&picture, o, place, o);
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            picture.edges[2 * picture.edge_count] = o;
            picture.edges[2 * picture.edge_count++ + 1] = place->after[i];
        }
    }
    return picture;
}

static Picture draw_blocks(const MerPlace *place, const MerGraphPlan *plan,
                           const MerPlaceBlocks *blocks, const bool *is_marked, MerArena *arena)
{
    size_t  count = (size_t)blocks->count;
    Picture picture = new_picture(count, count * count, arena);
    bool   *is_drawn = MER_ARRAY(arena, bool, count *count);
    for (int b = 0; b < blocks->count; b++) {
        picture.nodes[b].name = blocks->names[b];
        picture.nodes[b].group = place->unit_names[blocks->unit[b]];
    }
    for (int o = 0; o < place->op_count; o++) {
        int from = blocks->of[o];
        picture.nodes[from].value += seconds(time_of(place, plan, o));
        picture.nodes[from].is_marked = picture.nodes[from].is_marked || is_marked[o];
        add_bytes(&picture, from, place, o);
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int  to = blocks->of[place->after[i]];
            bool is_new = from != to && !is_drawn[(size_t)from * count + (size_t)to];
            if (is_new) {
                is_drawn[(size_t)from * count + (size_t)to] = true;
                picture.edges[2 * picture.edge_count] = from;
                picture.edges[2 * picture.edge_count++ + 1] = to;
            }
        }
    }
    return picture;
}

static void show_graph(const MerPlace *place, const MerGraphPlan *plan, const bool *is_marked,
                       MerArena *arena, MerNotes *notes)
{
    int            quarter = place->op_count / 4 + 1;
    int            most = quarter < MOST_BLOCKS ? quarter : MOST_BLOCKS;
    MerPlaceBlocks blocks = mer_place_find_blocks(place, plan, most, arena);
    bool           is_large = place->op_count > MOST_NODES;
    Picture        picture =
        (is_large ? draw_blocks : draw_operators)(place, plan, &blocks, is_marked, arena);
    MerView      view = {.id = "placement",
                         .title = "The graph on the units",
                         .help = is_large ? "Operators of one unit with names that begin alike are one "
                                            "node. Outlined: the longest path, transfers included."
                                          : "Outlined: the longest path, transfers included."};
    int          used = 0;
    const char **names = MER_ARRAY(arena, const char *, place->unit_count);
    for (int u = 0; u < place->unit_count; u++) { /* as the timeline colours them */
        bool is_used = false;
        for (int o = 0; o < place->op_count && !is_used; o++) {
            is_used = plan->unit[o] == u;
        }
        if (is_used) {
            names[used++] = place->unit_names[u];
        }
    }
    static const MerViewColumn colours[COLOURS] = {
        [MEMORY] = {.name = "memory that stays taken", .unit = "B"},
        [RESULT] = {.name = "size of the result", .unit = "B"}};
    MerViewGraph graph = {.unit = "s",
                          .value_name = "time",
                          .group_name = "unit",
                          .columns = colours,
                          .column_count = COLOURS,
                          .groups = names,
                          .group_count = used,
                          .nodes = picture.nodes,
                          .node_count = picture.node_count,
                          .edges = picture.edges,
                          .edge_count = picture.edge_count};
    mer_view_graph(notes, &view, &graph);
}

/* Results that go from unit to unit, each once per unit that reads it: bytes into [from * units + to], and how many leave each
 * unit. */
static double *count_traffic(const MerPlace *place, const MerGraphPlan *plan, int *leaving,
                             MerArena *arena)
{
    int     units = place->unit_count;
    double *bytes = MER_ARRAY(arena, double, (size_t)units *(size_t)units);
    int    *seen = MER_ARRAY(arena, int, units);
    for (int o = 0; o < place->op_count; o++) {
        int from = plan->unit[o], others = 0;
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int to = plan->unit[place->after[i]];
            if (to != from && seen[to] != o + 1) {
                seen[to] = o + 1;
                bytes[from * units + to] += place->output_bytes[o];
                others++;
            }
        }
        leaving[from] += others > 0;
    }
    return bytes;
}

static void show_traffic(const MerPlace *place, const double *bytes, MerNotes *notes)
{
    int    units = place->unit_count;
    double sum = 0;
    for (int i = 0; i < units * units; i++) {
        sum += bytes[i];
    }
    if (sum > 0 && units <= MOST_MATRIX) {
        MerViewFact facts[] = {{.name = "all", .value = sum, .unit = "B"}};
        MerView     view = {.id = "traffic",
                            .title = "Bytes from unit to unit",
                            .help = "Rows send, columns receive; a result counts once for each "
                                        "unit that reads it.",
                            .facts = facts,
                            .fact_count = 1,
                            .is_folded = true};
        mer_view_heatmap(notes, &view,
                         &(MerViewHeatmap){.unit = "B",
                                           .rows = place->unit_names,
                                           .row_count = units,
                                           .column_count = units,
                                           .values = bytes});
    }
}

typedef struct LongestPath { /* transfers between units included */
    bool  *is_on;            /* of each operator */
    double length_us;
} LongestPath;

static void show_table(const MerPlace *place, const MerGraphPlan *plan, const double *load_us,
                       const double *peak, const int *leaving, const LongestPath *path,
                       MerArena *arena, MerNotes *notes)
{
    static const MerViewColumn columns[] = {
        {.name = "unit"},
        {.name = "operators", .unit = "1"},
        {.name = "time", .unit = "s", .help = "of its operators"},
        {.name = "transfers", .unit = "s"},
        {.name = "busy",
         .unit = "share",
         .has_bar = true,
         .help = "operators and transfers, of the whole time"},
        {.name = "results that leave", .unit = "1"},
        {.name = "bytes", .unit = "B", .help = "at its fullest"},
        {.name = "filled", .unit = "share", .has_bar = true, .help = "of its limit"},
        {.name = "longest path",
         .unit = "share",
         .has_bar = true,
         .help = "its operators on the longest path, of the length of that"}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    int          units = place->unit_count;
    MerViewCell *cells = MER_ARRAY(arena, MerViewCell, COLUMNS * (size_t)units);
    int         *count = MER_ARRAY(arena, int, units);
    double      *on_path = MER_ARRAY(arena, double, units), most = 0, sum = 0;
    for (int o = 0; o < place->op_count; o++) {
        count[plan->unit[o]]++;
        on_path[plan->unit[o]] += path->is_on[o] ? time_of(place, plan, o) : 0;
    }
    for (int u = 0; u < units; u++) {
        const double *load = load_us + PARTS * u;
        double        all = load[COMPUTE] + load[TRANSFER] + load[IDLE];
        MerViewCell  *row = cells + COLUMNS * u;
        row[0].text = place->unit_names[u];
        row[1].number = count[u];
        row[2].number = seconds(load[COMPUTE]);
        row[3].number = seconds(load[TRANSFER]);
        row[4].number = all > 0 ? 1 - load[IDLE] / all : 0;
        row[5].number = leaving[u];
        row[6].number = peak[u];
        row[7].number = isfinite(place->limit[u]) ? peak[u] / place->limit[u] : NAN;
        row[8].number = path->length_us > 0 ? on_path[u] / path->length_us : 0;
        most = fmax(most, load[COMPUTE]);
        sum += load[COMPUTE];
    }
    MerViewFact facts[] = {{.name = "busiest unit against the mean",
                            .value = sum > 0 ? most * units / sum : 1,
                            .unit = "1",
                            .help = "by the time of its operators; 1: all do the same"}};
    MerView     view = {.id = "units", .title = "Units", .facts = facts, .fact_count = 1};
    mer_view_table(notes, &view, &(MerViewTable){columns, COLUMNS, cells, units});
}

void mer_place_show(const MerPlace *place, const MerGraphPlan *plan, const double *load_us,
                    const double *peak, MerNotes *notes)
{
    MerArena   *arena = mer_arena_new();
    int        *leaving = MER_ARRAY(arena, int, place->unit_count);
    double     *bytes = count_traffic(place, plan, leaving, arena);
    LongestPath path = {.is_on = MER_ARRAY(arena, bool, place->op_count + 1)};
    path.length_us = mark_longest_path(place, plan, path.is_on, arena);
    show_loads(place, load_us, arena, notes);
    show_bytes(place, plan, peak, arena, notes);
    show_table(place, plan, load_us, peak, leaving, &path, arena, notes);
    show_graph(place, plan, path.is_on, arena, notes);
    show_traffic(place, bytes, notes);
    mer_arena_free(arena);
}
