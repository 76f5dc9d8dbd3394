/* One period of a full pipeline: what every unit does for each sample, one thing after the other. Units work on different samples
 * meanwhile, so that nothing waits for anything here. */
#include "mercator/view.h"
#include "place/cost/place_blocks.h"
#include "place/place_parts.h"

enum { COMPUTE, TRANSFER, IDLE, PARTS };
enum { MOST_ITEMS = 2000 }; /* of larger graphs blocks of operators are one item */

typedef struct Lanes {
    const MerPlace *place;
    MerViewItem    *items;
    int             count;
    double         *end; /* of each lane so far, s */
} Lanes;

static void add_item(Lanes *lanes, const char *name, const char *group, int lane, double time_us)
{
    double start = lanes->end[lane];
    if (time_us > 0 && isfinite(time_us)) {
        lanes->end[lane] = start + 1e-6 * time_us;
        lanes->items[lanes->count++] = (MerViewItem){
            .name = name, .lane = lane, .start = start, .end = lanes->end[lane], .group = group};
    }
}

static void add_operators(Lanes *lanes, const MerGraphPlan *plan)
{
    const MerPlace *place = lanes->place;
    for (int o = 0; o < place->op_count; o++) {
        int unit = plan->unit[o];
        add_item(lanes, place->names[o], mer_op_kind_name(place->kinds[o]), unit,
                 place->time_us[(size_t)o * (size_t)place->unit_count + (size_t)unit]);
    }
}

static void add_blocks(Lanes *lanes, const MerGraphPlan *plan, MerArena *arena)
{
    const MerPlace *place = lanes->place;
    MerPlaceBlocks  blocks = mer_place_find_blocks(place, plan, MOST_ITEMS / 2, arena);
    double         *time = MER_ARRAY(arena, double, blocks.count);
    for (int o = 0; o < place->op_count; o++) {
        time[blocks.of[o]] +=
            place->time_us[(size_t)o * (size_t)place->unit_count + (size_t)plan->unit[o]];
    }
    for (int b = 0; b < blocks.count; b++) {
        add_item(lanes, blocks.names[b], "block", blocks.unit[b], time[b]);
    }
}

/* Transfers that run beside the operators have lanes of their own. */
static const char *const *name_lanes(const MerPlace *place, bool overlaps, MerArena *arena)
{
    const char **names = MER_ARRAY(arena, const char *, 2 * (size_t)place->unit_count);
    for (int u = 0; u < place->unit_count; u++) {
        names[u] = place->unit_names[u];
        names[place->unit_count + u] =
            mer_arena_format(arena, "%s transfers", place->unit_names[u]);
    }
    return overlaps ? names : place->unit_names;
}

void mer_place_show_period(const MerPlace *place, const MerGraphPlan *plan, const double *load_us,
                           bool overlaps, MerNotes *notes)
{
    MerArena *arena = mer_arena_new();
    int       units = place->unit_count;
    Lanes     lanes = {.place = place,
                       .items = MER_ARRAY(arena, MerViewItem, place->op_count + units),
                       .end = MER_ARRAY(arena, double, 2 * (size_t)units)};
    if (place->op_count > MOST_ITEMS) {
        add_blocks(&lanes, plan, arena);
    } else {
        add_operators(&lanes, plan);
    }
    for (int u = 0; u < units; u++) {
        add_item(&lanes, "transfers", "transfers", overlaps ? units + u : u,
                 load_us[PARTS * u + TRANSFER]);
    }
    MerView         view = {.id = "timeline",
                            .title = "One period",
                            .help = "What each unit does for every sample of a full pipeline; units "
                                            "work on different samples."};
    MerViewTimeline timeline = {.unit = "s",
                                .lanes = name_lanes(place, overlaps, arena),
                                .lane_count = overlaps ? 2 * units : units,
                                .items = lanes.items,
                                .item_count = lanes.count,
                                .item_name = "operator",
                                .group_name = "kind"};
    mer_view_timeline(notes, &view, &timeline);
    mer_arena_free(arena);
}
