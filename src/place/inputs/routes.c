/* The way of a result from any unit to any other: the link that joins them, else the chain of links over which a mebibyte
 * arrives first (docs/placement.md, "Links and routes"). */
#include "place/place_parts.h"

#include <stdlib.h>
#include <string.h>

typedef struct Search { /* from one unit to all others */
    const MerPlatform *platform;
    const int         *start, *links; /* links that end at each unit */
    double            *time;          /* of a mebibyte to each unit; INFINITY: not reached yet */
    int               *via;           /* the last link on the way there */
    int               *reached;       /* units that wait for their turn */
    int                reached_count;
} Search;

static const double example_bytes = 1 << 20;

static double us_per_byte(const MerLink *link)
{
    return 1e6 / link->bytes_per_s;
}

static double link_time(const MerLink *link)
{
    return link->latency_us + example_bytes * us_per_byte(link);
}

static int other_end(const MerLink *link, int unit)
{
    return link->from == unit ? link->to : link->from;
}

/* The waiting unit that is reached first; of equals the one with the smaller number. */
static int take_nearest(Search *search)
{
    int best = 0;
    for (int i = 1; i < search->reached_count; i++) {
        double time = search->time[search->reached[i]], least = search->time[search->reached[best]];
        if (time < least || (time == least && search->reached[i] < search->reached[best])) {
            best = i;
        }
    }
    int unit = search->reached[best];
    search->reached[best] = search->reached[--search->reached_count];
    return unit;
}

/* Dijkstra; times are sums over links, however the platform forwards. */
static void search_from(Search *search, int from)
{
    int count = search->platform->unit_count;
    for (int u = 0; u < count; u++) {
        search->time[u] = INFINITY;
        search->via[u] = -1;
    }
    search->time[from] = 0;
    search->reached[0] = from;
    search->reached_count = 1;
    while (search->reached_count > 0) {
        int unit = take_nearest(search);
        for (int i = search->start[unit]; i < search->start[unit + 1]; i++) {
            const MerLink *link = &search->platform->links[search->links[i]];
            int            next = other_end(link, unit);
            double         time = search->time[unit] + link_time(link);
            if (time < search->time[next]) {
                if (search->time[next] == INFINITY) {
                    search->reached[search->reached_count++] = next;
                }
                search->time[next] = time;
                search->via[next] = search->links[i];
            }
        }
    }
}

static MerRoute route_of(const MerPlatform *platform, const int *links, int count)
{
    MerRoute route = {.count = count};
    for (int i = 0; i < count; i++) {
        double rate = us_per_byte(&platform->links[links[i]]);
        route.latency_us += platform->links[links[i]].latency_us;
        route.us_per_byte =
            platform->store_and_forward ? route.us_per_byte + rate : fmax(route.us_per_byte, rate);
    }
    return route;
}

/* Links on the way back from a unit that was reached. */
static int count_links(const Search *search, int from, int to)
{
    int count = 0;
    for (int unit = to; unit != from; count++) {
        unit = other_end(&search->platform->links[search->via[unit]], unit);
    }
    return count;
}

/* A link that joins two units is their way, even where a detour were faster; `direct` -1: there is none. */
static void fill_route(const Search *search, int from, int to, int direct, MerRoute *route,
                       MerArena *arena)
{
    if (to == from || search->via[to] < 0) {
        return;
    }
    int  count = direct >= 0 ? 1 : count_links(search, from, to);
    int *links = MER_ARRAY(arena, int, count);
    links[0] = direct;
    for (int i = count - 1, unit = to; direct < 0 && i >= 0; i--) {
        links[i] = search->via[unit];
        unit = other_end(&search->platform->links[links[i]], unit);
    }
    *route = route_of(search->platform, links, count);
    route->links = links;
}

static void list_links(const MerPlatform *platform, int *start, int *links)
{
    for (int l = 0; l < platform->link_count; l++) {
        start[platform->links[l].from + 1]++;
        start[platform->links[l].to + 1]++;
    }
    for (int u = 0; u < platform->unit_count; u++) {
        start[u + 1] += start[u];
    }
    for (int l = platform->link_count - 1; l >= 0; l--) {
        links[--start[platform->links[l].from + 1]] = l;
        links[--start[platform->links[l].to + 1]] = l;
    }
    memmove(start, start + 1, (size_t)platform->unit_count * sizeof *start);
    start[platform->unit_count] = 2 * platform->link_count;
}

MerStatus mer_place_find_routes(MerPlace *place, MerArena *arena, MerError *error)
{
    const MerPlatform *platform = place->platform;
    size_t             units = (size_t)place->unit_count;
    MerArena          *scratch = mer_arena_new();
    MerRoute          *routes = MER_ARRAY(arena, MerRoute, units * units + 1);
    int               *start = MER_ARRAY(scratch, int, units + 2);
    int               *links = MER_ARRAY(scratch, int, 2 * (size_t)platform->link_count + 1);
    int               *direct = MER_ARRAY(scratch, int, units + 1);
    Search             search = {.platform = platform,
                                 .start = start,
                                 .links = links,
                                 .time = MER_ARRAY(scratch, double, units + 1),
                                 .via = MER_ARRAY(scratch, int, units + 1),
                                 .reached = MER_ARRAY(scratch, int, units + 1)};
    (void)error;
    list_links(platform, start, links);
    for (int from = 0; from < place->unit_count; from++) {
        if (start[from + 1] == start[from]) {
            continue;
        }
        search_from(&search, from);
        for (int u = 0; u < place->unit_count; u++) {
            direct[u] = -1;
        }
        for (int i = start[from]; i < start[from + 1]; i++) {
            direct[other_end(&platform->links[links[i]], from)] = links[i];
        }
        for (int to = 0; to < place->unit_count; to++) {
            fill_route(&search, from, to, direct[to], &routes[(size_t)from * units + (size_t)to],
                       arena);
        }
    }
    place->routes = routes;
    mer_arena_free(scratch);
    return MER_OK;
}
