/* The changes of a platform that are worth a question. */
#include "place/cost/what_if.h"

#include <string.h>

enum { MOST_LINKS = 6 }; /* that are changed alone: those that carry most */

double *mer_place_link_times(const MerPlace *place, const MerGraphPlan *plan, MerArena *arena)
{
    double *time = MER_ARRAY(arena, double, place->platform->link_count + 1);
    int    *seen = MER_ARRAY(arena, int, place->unit_count);
    for (int o = 0; o < place->op_count; o++) {
        for (int i = place->after_start[o]; i < place->after_start[o + 1]; i++) {
            int             from = plan->unit[o], to = plan->unit[place->after[i]];
            const MerRoute *route = &place->routes[from * place->unit_count + to];
            bool            is_new = from != to && seen[to] != o + 1;
            seen[to] = o + 1;
            for (int l = 0; l < route->count && is_new; l++) {
                const MerLink *link = &place->platform->links[route->links[l]];
                time[route->links[l]] +=
                    link->latency_us + 1e6 * place->output_bytes[o] / link->bytes_per_s;
            }
        }
    }
    return time;
}

typedef struct Changes {
    const MerPlace  *place;
    MerArena        *arena;
    int              count;
    MerWhatIfChange *list;
} Changes;

static void add_change(Changes *changes, MerPlaceChange change, double transfer, const char *text)
{
    MER_GROW(changes->arena, changes->list, changes->count);
    changes->list[changes->count++] = (MerWhatIfChange){text, change, transfer};
}

/* Links that carry most, a bus as one, then all of them. */
static void add_links(Changes *changes, const MerGraphPlan *plan)
{
    const MerPlatform *platform = changes->place->platform;
    double            *time = mer_place_link_times(changes->place, plan, changes->arena);
    int                used = 0;
    for (;; used++) {
        int most = 0;
        for (int l = 1; l < platform->link_count; l++) {
            most = time[l] > time[most] ? l : most;
        }
        if (platform->link_count == 0 || time[most] <= 0 || used == MOST_LINKS) {
            break;
        }
        const MerLink *link = &platform->links[most];
        const char    *text = link->bus ? mer_arena_format(changes->arena, "bus %s x2", link->bus)
                                        : mer_arena_format(changes->arena, "link %s to %s x2",
                                                           platform->units[link->from].name,
                                                           platform->units[link->to].name);
        add_change(changes, (MerPlaceChange){MER_CHANGE_LINK, most, 2}, 1, text);
        for (int l = 0; l < platform->link_count; l++) {
            const char *bus = platform->links[l].bus;
            bool        is_same = l == most || (link->bus && bus && strcmp(link->bus, bus) == 0);
            time[l] = is_same ? 0 : time[l];
        }
    }
    if (used > 1) {
        add_change(changes, (MerPlaceChange){MER_CHANGE_LINK, -1, 2}, 1, "all links x2");
    }
}

/* The first unit of each class, and what the class is called. */
static bool is_first_of_class(const MerPlace *place, int unit, const char **name)
{
    const MerUnit *units = place->platform->units;
    *name = units[unit].class_name ? units[unit].class_name : units[unit].name;
    for (int u = 0; u < unit; u++) {
        if (units[u].class_index == units[unit].class_index) {
            return false;
        }
    }
    return true;
}

static void add_units(Changes *changes, bool with_memory, bool with_unit)
{
    const MerPlace *place = changes->place;
    const char     *name;
    for (int u = 0; u < place->unit_count; u++) {
        if (!is_first_of_class(place, u, &name)) {
            continue;
        }
        if (with_memory && isfinite(place->limit[u])) {
            add_change(changes, (MerPlaceChange){MER_CHANGE_MEMORY, u, 1.25}, 1,
                       mer_arena_format(changes->arena, "memory of %s x1.25", name));
            add_change(changes, (MerPlaceChange){MER_CHANGE_MEMORY, u, 2}, 1,
                       mer_arena_format(changes->arena, "memory of %s x2", name));
        }
        if (with_unit && !place->is_host[u]) {
            add_change(changes, (MerPlaceChange){MER_CHANGE_UNIT, u, 1}, 1,
                       mer_arena_format(changes->arena, "one more %s", name));
        }
    }
}

static void add_gaps(Changes *changes)
{
    const MerPlace *place = changes->place;
    bool            has_gaps = false;
    for (int u = 0; u < place->unit_count; u++) {
        const MerUnit *unit = &place->platform->units[u];
        has_gaps = has_gaps || unit->gap_us > 0 || (place->flops && unit->launch_us > 0);
    }
    if (has_gaps) {
        add_change(changes, (MerPlaceChange){MER_CHANGE_GAP, -1, 0}, 1, "no launches and gaps");
    }
}

/* More memory or another unit changes the price of a given plan only if it was refused. */
MerWhatIfChange *mer_place_list_changes(const MerPlace *place, const MerGraphPlan *plan,
                                        MerWhatIfMode mode, bool is_refused, MerArena *arena,
                                        int *count)
{
    Changes changes = {.place = place, .arena = arena};
    bool    is_search = mode == MER_WHAT_IF_SEARCH;
    if (place->has_transfer_times) {
        add_change(&changes, (MerPlaceChange){MER_CHANGE_LINK, -1, 1}, 0.5, "transfers x2 as fast");
    } else {
        add_links(&changes, plan);
    }
    add_units(&changes, is_search || is_refused, is_search);
    add_gaps(&changes);
    *count = changes.count;
    return changes.list;
}
