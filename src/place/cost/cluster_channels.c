/* Channels and ways of a cluster by its model of links (docs/placement.md, "Links and routes"): one queue per directed link or
 * shared bus, one outgoing bus per unit (Placeto), links one after the other in parts (FlexFlow), or one line per unit for all
 * that it sends and receives (Baechi). */
#include "place/cost/cluster.h"

#include <string.h>

/* A link has one channel per direction; half duplex both directions share one, and links of a bus all share that. */
typedef struct LinkChannels {
    int         *forward, *back; /* of each link */
    const char **names;
    int          count;
} LinkChannels;

static int bus_channel(const MerPlatform *platform, const LinkChannels *channels, int link)
{
    for (int l = 0; l < link; l++) {
        if (platform->links[l].bus &&
            strcmp(platform->links[l].bus, platform->links[link].bus) == 0) {
            return channels->forward[l];
        }
    }
    return -1;
}

static LinkChannels make_link_channels(const MerPlatform *platform, MerArena *arena)
{
    size_t       links = (size_t)platform->link_count;
    LinkChannels c = {MER_ARRAY(arena, int, links + 1), MER_ARRAY(arena, int, links + 1),
                      MER_ARRAY(arena, const char *, 2 * links + 1), 0};
    for (int l = 0; l < platform->link_count; l++) {
        const MerLink *link = &platform->links[l];
        const char    *from = platform->units[link->from].name;
        const char    *to = platform->units[link->to].name;
        int            known = link->bus ? bus_channel(platform, &c, l) : -1;
        c.forward[l] = c.back[l] = known >= 0 ? known : c.count;
        if (known >= 0) {
            continue;
        }
        bool is_one = link->bus || !link->full_duplex;
        c.names[c.count++] =
            link->bus ? link->bus
                      : mer_arena_format(arena, is_one ? "%s and %s" : "%s to %s", from, to);
        if (!is_one) {
            c.back[l] = c.count;
            c.names[c.count++] = mer_arena_format(arena, "%s to %s", to, from);
        }
    }
    return c;
}

/* One hop per link of the route, from unit to unit. */
static MerWay way_over_links(const MerPlatform *platform, const MerRoute *route,
                             const LinkChannels *channels, int from, MerArena *arena)
{
    MerHop *hops = MER_ARRAY(arena, MerHop, route->count);
    for (int h = 0; h < route->count; h++) {
        int            l = route->links[h];
        const MerLink *link = &platform->links[l];
        bool           is_forward = link->from == from;
        hops[h] = (MerHop){is_forward ? channels->forward[l] : channels->back[l], link->latency_us,
                           1e6 / link->bytes_per_s, link->gap_us};
        from = is_forward ? link->to : link->from;
    }
    return (MerWay){route->count, hops, route->latency_us, route->us_per_byte};
}

static double longest_gap(const MerPlatform *platform, const MerRoute *route)
{
    double gap = 0;
    for (int h = 0; h < route->count; h++) {
        gap = fmax(gap, platform->links[route->links[h]].gap_us);
    }
    return gap;
}

/* Channels are units: that of the sender, and with `both_ends` that of the receiver. */
static MerWay way_over_units(const MerPlatform *platform, const MerRoute *route, int from, int to,
                             bool both_ends, MerArena *arena)
{
    int     count = route->count == 0 ? 0 : 1 + both_ends;
    MerHop *hops = MER_ARRAY(arena, MerHop, 2);
    double  gap = longest_gap(platform, route);
    hops[0] = (MerHop){from, route->latency_us, route->us_per_byte, gap};
    hops[1] = (MerHop){to, route->latency_us, route->us_per_byte, gap};
    return (MerWay){count, hops, route->latency_us, route->us_per_byte};
}

void mer_cluster_find_ways(MerCluster *cluster, MerArena *arena)
{
    const MerPlace    *place = cluster->place;
    const MerPlatform *platform = place->platform;
    MerLinkModel       model = (MerLinkModel)cluster->options.link_model;
    bool               by_link = model == MER_LINKS_PAIR || model == MER_LINKS_PATH;
    int                units = place->unit_count;
    MerWay            *ways = MER_ARRAY(arena, MerWay, (size_t)units * (size_t)units + 1);
    LinkChannels       channels = make_link_channels(platform, arena);
    cluster->goes_by_hops =
        model == MER_LINKS_PATH || (model == MER_LINKS_PAIR && platform->store_and_forward);
    cluster->is_broadcast = model == MER_LINKS_BUS;
    cluster->max_parts = model == MER_LINKS_PATH ? (int)cluster->options.max_segments : 1;
    cluster->channel_count = by_link ? channels.count : units;
    cluster->channel_names = by_link ? channels.names : place->unit_names;
    for (int from = 0; from < units; from++) {
        for (int to = 0; to < units; to++) {
            const MerRoute *route = &place->routes[from * units + to];
            ways[from * units + to] = by_link
                                          ? way_over_links(platform, route, &channels, from, arena)
                                          : way_over_units(platform, route, from, to,
                                                           model == MER_LINKS_BOTH_ENDS, arena);
        }
    }
    cluster->ways = ways;
}
