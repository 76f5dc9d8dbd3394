/* Panels of the layer evaluators. */
#include "map/cost/map_views.h"

#include "layer/directive_format.h"
#include "map/nest/nest.h"

#include <ctype.h>
#include <math.h>

static const char *const tensors[MER_TENSOR_COUNT] = {"weights", "inputs", "outputs"};

static void view_energy(const MerLayerUse *use, MerArena *arena, MerNotes *notes)
{
    enum { NETWORK = MER_TENSOR_COUNT, MAC, SERIES };
    const char  *series[SERIES] = {tensors[0], tensors[1], tensors[2], "network", "MAC"};
    int          rows = use->level_count + 1;
    double      *values = MER_ARRAY(arena, double, rows *SERIES);
    const char **names = MER_ARRAY(arena, const char *, rows);
    double       total = use->mac_pj;
    for (int l = 0; l < use->level_count; l++) {
        const MerLevelUse *level = &use->levels[l];
        names[l] = level->name;
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            total += values[l * SERIES + t] = level->energy_pj[t];
        }
        total += values[l * SERIES + NETWORK] = level->network_pj;
    }
    names[rows - 1] = "MAC";
    values[(rows - 1) * SERIES + MAC] = use->mac_pj;
    MerViewFact facts[] = {{.name = "total", .value = total, .unit = "pJ"},
                           {.name = "time is bound by", .text = use->binding}};
    MerView     view = {.id = "energy",
                        .title = "Energy by level and tensor",
                        .facts = facts,
                        .fact_count = use->binding ? 2 : 1};
    mer_view_bars(notes, &view,
                  &(MerViewBars){.unit = "pJ",
                                 .series = series,
                                 .series_count = SERIES,
                                 .rows = names,
                                 .row_count = rows,
                                 .values = values});
}

static void view_memories(const MerLayerUse *use, MerArena *arena, MerNotes *notes)
{
    enum { NAME, USED, CAPACITY, FILLED, BANDWIDTH, COLUMNS };
    static const MerViewColumn columns[COLUMNS] = {
        {.name = "memory"},
        {.name = "held", .unit = "word"},
        {.name = "capacity", .unit = "word"},
        {.name = "filled", .unit = "share", .has_bar = true},
        {.name = "bandwidth",
         .unit = "share",
         .help = "busy share of the level's read bandwidth",
         .has_bar = true}};
    MerViewCell *cells = MER_ARRAY(arena, MerViewCell, use->level_count * COLUMNS);
    bool         has_bandwidth = false;
    for (int l = 0; l < use->level_count; l++) {
        const MerLevelUse *level = &use->levels[l];
        has_bandwidth = has_bandwidth || !isnan(level->bandwidth_use);
    }
    int width = has_bandwidth ? COLUMNS : BANDWIDTH;
    for (int l = 0; l < use->level_count; l++) {
        const MerLevelUse *level = &use->levels[l];
        MerViewCell       *row = &cells[l * width];
        row[NAME].text = level->name;
        row[USED].number = level->used_words;
        row[CAPACITY].number = level->capacity_words;
        row[FILLED].number =
            isfinite(level->capacity_words) ? level->used_words / level->capacity_words : NAN;
        if (has_bandwidth) {
            row[BANDWIDTH].number = level->bandwidth_use;
        }
    }
    mer_view_table(notes, &(MerView){.id = "memories", .title = "Memories"},
                   &(MerViewTable){columns, width, cells, use->level_count});
}

static void view_accesses(const MerLayerUse *use, MerArena *arena, MerNotes *notes)
{
    enum { LEVEL, TENSOR, FIRST };
    int           kinds = 0;
    MerViewColumn columns[FIRST + MER_LEVEL_COUNTS + 1] = {{.name = "level"}, {.name = "tensor"}};
    for (; kinds < MER_LEVEL_COUNTS && use->accesses[kinds]; kinds++) {
        columns[FIRST + kinds] = (MerViewColumn){.name = use->accesses[kinds], .unit = "word"};
    }
    int          width = FIRST + kinds + 1;
    MerViewCell *cell = MER_ARRAY(arena, MerViewCell, use->level_count * MER_TENSOR_COUNT * width);
    MerViewTable table = {columns, width, cell, use->level_count * MER_TENSOR_COUNT};
    columns[width - 1] = (MerViewColumn){.name = "energy", .unit = "pJ"};
    for (int l = 0; l < use->level_count; l++) {
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            *cell++ = (MerViewCell){.text = use->levels[l].name};
            *cell++ = (MerViewCell){.text = tensors[t]};
            for (int k = 0; k < kinds; k++) {
                *cell++ = (MerViewCell){.number = use->levels[l].accesses[t][k]};
            }
            *cell++ = (MerViewCell){.number = use->levels[l].energy_pj[t]};
        }
    }
    mer_view_table(notes, &(MerView){.id = "accesses", .title = "Accesses", .is_folded = true},
                   &table);
}

static void view_roofline(const MerLayerUse *use, MerArena *arena, MerNotes *notes)
{
    double      knee = use->peak_macs / use->outer_rate;
    double      roof[] = {knee / 64,      use->peak_macs / 64, knee,
                          use->peak_macs, knee * 64,           use->peak_macs};
    double      values[] = {use->macs / use->outer_bytes, use->macs / use->cycles};
    MerViewAxis axes[] = {{.name = "work per byte", .unit = "MAC/B", .is_log = true},
                          {.name = "work per cycle", .unit = "MAC/cycle", .is_log = true}};
    const char *help = mer_arena_format(
        arena,
        "The roof is what the units and %s allow. Bytes are those read from it or those "
        "written to it, whichever take longer: it does both at the same time.",
        use->levels[0].name);
    mer_view_scatter(
        notes, &(MerView){.id = "roofline", .title = "Roofline", .help = help},
        &(MerViewScatter){.axes = axes,
                          .axis_count = 2,
                          .points = &(MerViewPoint){.name = "this layer", .values = values},
                          .point_count = 1,
                          .lines = &(MerViewLine){"roof", roof, 3},
                          .line_count = 1});
}

void mer_map_view_use(const MerLayerUse *use, MerNotes *notes)
{
    MerArena *arena = mer_arena_new();
    view_energy(use, arena, notes);
    view_memories(use, arena, notes);
    view_accesses(use, arena, notes);
    if (use->outer_bytes > 0) {
        view_roofline(use, arena, notes);
    }
    mer_arena_free(arena);
}

enum { OP_FACTS = MER_DIM_COUNT + 4 };

static int op_facts(const MerOp *op, MerViewFact facts[OP_FACTS], MerArena *arena)
{
    int count = 0;
    facts[count++] = (MerViewFact){.name = "operator", .text = mer_op_kind_name(op->kind)};
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        if (op->dims[d] != 1) {
            facts[count++] =
                (MerViewFact){.name = mer_arena_format(arena, "%c", MER_DIM_LETTERS[d]),
                              .value = (double)op->dims[d],
                              .unit = "1"};
        }
    }
    const char *names[] = {"stride", "dilation"};
    const int  *pairs[] = {op->stride, op->dilation};
    for (int i = 0; i < 2; i++) {
        if (pairs[i][0] != 1 || pairs[i][1] != 1) {
            facts[count++] = (MerViewFact){
                .name = names[i],
                .text = mer_arena_format(arena, "%d\xc3\x97%d", pairs[i][0], pairs[i][1])};
        }
    }
    if (op->repeat != 1) {
        facts[count++] = (MerViewFact){.name = "repeat", .value = (double)op->repeat, .unit = "1"};
    }
    return count;
}

/* What one tile of a level spans: the product of all loops from there in. */
static const char *tile_text(const MerNestPlan *plan, int level, MerArena *arena)
{
    const char *text = "";
    for (int d = 0; d < MER_DIM_COUNT; d++) {
        double size = mer_nest_extent(plan, d, level + 1);
        if (size > 1) {
            text = mer_arena_format(arena, "%s%s%c%.0f", text, *text ? " " : "", MER_DIM_LETTERS[d],
                                    size);
        }
    }
    return text;
}

static const char *loops_text(const MerNestLevel *level, MerArena *arena)
{
    const char *text = "";
    for (int i = 0; i < MER_DIM_COUNT; i++) {
        int d = level->order[i];
        if (level->temporal[d] > 1) {
            text = mer_arena_format(arena, "%s%sfor %c in 0 .. %d", text, *text ? "\n" : "",
                                    tolower(MER_DIM_LETTERS[d]), level->temporal[d]);
        }
    }
    for (int p = MER_PLACE_X; p <= MER_PLACE_Y; p++) {
        for (int d = 0; d < MER_DIM_COUNT; d++) {
            if (level->factors[p][d] > 1) {
                text = mer_arena_format(arena, "%s%sparallel %c in 0 .. %d across %c", text,
                                        *text ? "\n" : "", tolower(MER_DIM_LETTERS[d]),
                                        level->factors[p][d], " xy"[p]);
            }
        }
    }
    return *text ? text : "one pass";
}

/* A box for each memory, inside the one that feeds it. */
void mer_map_view_nest(const MerNestPlan *plan, const char *const *memories, MerNotes *notes)
{
    static const char letters[MER_TENSOR_COUNT][2] = {"W", "I", "O"};
    MerArena         *arena = mer_arena_new();
    MerViewFact       facts[OP_FACTS];
    int               count = plan->level_count;
    MerViewBlock     *blocks = MER_ARRAY(arena, MerViewBlock, count + 1);
    MerViewTag       *tags = MER_ARRAY(arena, MerViewTag, count * MER_TENSOR_COUNT);
    for (int b = 0; b < count; b++) {
        int                 l = count - 1 - b;
        const MerNestLevel *level = &plan->levels[l];
        for (int t = 0; t < MER_TENSOR_COUNT; t++) {
            bool is_kept = level->keep >> t & 1;
            tags[b * MER_TENSOR_COUNT + t] = (MerViewTag){
                letters[t],
                mer_arena_format(arena, "%s %s", tensors[t], is_kept ? "kept here" : "pass by"),
                !is_kept};
        }
        blocks[b] = (MerViewBlock){.title = memories[l],
                                   .depth = b,
                                   .note = b > 0 ? tile_text(plan, l, arena) : NULL,
                                   .tags = tags + b * MER_TENSOR_COUNT,
                                   .tag_count = MER_TENSOR_COUNT,
                                   .text = loops_text(level, arena)};
    }
    blocks[count] = (MerViewBlock){.depth = count, .text = "multiply-accumulate"};
    MerView view = {.id = "plan",
                    .title = "Loop nest",
                    .help = "One box for each memory, inside the one that feeds it; at the right "
                            "the tile it holds.",
                    .facts = facts,
                    .fact_count = op_facts(plan->op, facts, arena)};
    mer_view_text(notes, &view, blocks, count + 1, "for in parallel across");
    mer_arena_free(arena);
}

void mer_map_view_directives(const MerDirectivePlan *plan, MerNotes *notes)
{
    MerArena    *arena = mer_arena_new();
    MerViewFact  facts[OP_FACTS];
    MerViewBlock block = {.text = mer_directives_print(plan, arena)};
    MerView      view = {.id = "plan",
                         .title = "Directives",
                         .facts = facts,
                         .fact_count = op_facts(plan->op, facts, arena)};
    mer_view_text(notes, &view, &block, 1, "TemporalMap SpatialMap Cluster");
    mer_arena_free(arena);
}
