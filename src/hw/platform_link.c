/* Links between the units of a cluster. `*` in `from` or `to` matches any part of a name; a link
 * joins two different units, each pair once. */
#include "hw/reader.h"

#include <math.h>

static bool same_letter(char a, char b)
{
    return a == b || ((a == '-' || a == '_') && (b == '-' || b == '_'));
}

/* Greedy with one step back to the last star: linear in practice, never exponential. */
static bool matches(const char *pattern, const char *name)
{
    const char *star = NULL, *resume = NULL;
    while (*name != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            resume = name;
        } else if (same_letter(*pattern, *name)) {
            pattern++;
            name++;
        } else if (star != NULL) {
            pattern = star + 1;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*') {
        pattern++;
    }
    return *pattern == '\0';
}

typedef struct Matches {
    int  count;
    int *units;
} Matches;

/* The units that `map`'s `key` means. */
static MerStatus find_units(const MerPlatform *platform, MerYaml *map, const char *key,
                            Matches *found, MerArena *arena, MerError *error)
{
    MerYaml    *node;
    const char *pattern;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    MER_TRY(mer_yaml_text(node, &pattern, error));
    found->count = 0;
    for (int i = 0; i < platform->unit_count; i++) {
        if (matches(pattern, platform->units[i].name)) {
            found->units[found->count++] = i;
        }
    }
    if (found->count > 0) {
        return MER_OK;
    }
    const char **names = MER_ARRAY(arena, const char *, platform->unit_count);
    for (int i = 0; i < platform->unit_count; i++) {
        names[i] = platform->units[i].name;
    }
    return mer_platform_expected(node, "the name of a unit", names, platform->unit_count, error);
}

static MerStatus read_link(MerLink *link, MerYaml *map, MerError *error)
{
    static const char *const duplex[] = {"full", "half"};
    MerYaml                 *node;
    int                      index;
    *link = (MerLink){.bytes_per_s = INFINITY, .full_duplex = true};
    MER_TRY(mer_platform_get_positive(map, "bytes_per_s", &link->bytes_per_s, error));
    MER_TRY(mer_platform_get_cost(map, "latency_us", &link->latency_us, error));
    MER_TRY(mer_platform_get_cost(map, "gap_us", &link->gap_us, error));
    if ((node = mer_yaml_get(map, "duplex")) != NULL) {
        MER_TRY(mer_yaml_word(node, duplex, 2, &index, error));
        link->full_duplex = index == 0;
    }
    if ((node = mer_yaml_get(map, "bus")) != NULL) {
        MER_TRY(mer_platform_name(node, &link->bus, error));
    }
    return mer_yaml_finish(map, error);
}

typedef struct Links {
    MerLink        *items;
    int             count;
    unsigned short *joined; /* 1 + entry that joined a pair, unit_count x unit_count */
} Links;

static void add_link(Links *links, const MerLink *link, MerArena *arena)
{
    MER_GROW(arena, links->items, links->count);
    links->items[links->count++] = *link;
}

/* Joins units i and j. A pair met again in the same entry (`*` to `*`) is the same link. */
static MerStatus join(Links *links, const MerPlatform *platform, const MerLink *link, int entry,
                      const MerYaml *map, MerArena *arena, MerError *error)
{
    int             low = link->from < link->to ? link->from : link->to;
    int             high = link->from < link->to ? link->to : link->from;
    size_t          count = (size_t)platform->unit_count;
    unsigned short *joined = &links->joined[(size_t)low * count + (size_t)high];
    if (low == high || *joined == entry + 1) {
        return MER_OK;
    }
    if (*joined != 0) {
        return mer_yaml_error(map, error, "%s joins %s and %s, as links[%d] does already",
                              map->path, platform->units[link->from].name,
                              platform->units[link->to].name, *joined - 1);
    }
    if (links->count == MER_MAX_LINKS) {
        return mer_yaml_error(map, error, "%s makes more than %d links", map->path, MER_MAX_LINKS);
    }
    *joined = (unsigned short)(entry + 1);
    add_link(links, link, arena);
    return MER_OK;
}

static MerStatus expand(Links *links, const MerPlatform *platform, MerLink *link,
                        const Matches *from, const Matches *to, int entry, const MerYaml *map,
                        MerArena *arena, MerError *error)
{
    int before = links->count;
    for (int i = 0; i < from->count; i++) {
        for (int j = 0; j < to->count; j++) {
            link->from = from->units[i];
            link->to = to->units[j];
            MER_TRY(join(links, platform, link, entry, map, arena, error));
        }
    }
    if (links->count == before) {
        return mer_yaml_error(map, error, "%s joins a unit with itself", map->path);
    }
    return MER_OK;
}

MerStatus mer_platform_read_links(MerPlatform *platform, MerYaml *root, MerArena *arena,
                                  MerError *error)
{
    MerYaml *list = mer_yaml_get(root, "links");
    if (list == NULL) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(list, MER_YAML_LIST, error));
    if (list->count > MER_MAX_UNITS) {
        return mer_yaml_error(list, error, "links has %d items, expected at most %d", list->count,
                              MER_MAX_UNITS);
    }
    size_t  count = (size_t)platform->unit_count;
    Links   links = {.joined = MER_ARRAY(arena, unsigned short, count *count)};
    Matches from = {.units = MER_ARRAY(arena, int, count)};
    Matches to = {.units = MER_ARRAY(arena, int, count)};
    for (int i = 0; i < list->count; i++) {
        MerLink  link;
        MerYaml *map = list->items[i];
        MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
        MER_TRY(find_units(platform, map, "from", &from, arena, error));
        MER_TRY(find_units(platform, map, "to", &to, arena, error));
        MER_TRY(read_link(&link, map, error));
        MER_TRY(expand(&links, platform, &link, &from, &to, i, map, arena, error));
    }
    platform->links = links.items;
    platform->link_count = links.count;
    return MER_OK;
}
