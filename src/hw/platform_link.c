/* Links between the units of a cluster. `*` in `from` or `to` matches any part of a name; a link
 * joins two different units, each pair once. */
#include "hw/reader.h"

#include "base/yaml_need.h"

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
                            Matches *found, MerError *error)
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
    return found->count > 0 ? MER_OK
                            : mer_unit_unknown(node, "the name of a unit", platform->units,
                                               platform->unit_count, error);
}

static MerStatus read_link(MerLink *link, MerYaml *map, MerError *error)
{
    static const char *const duplex[] = {"full", "half"};
    int                      index = 0;
    *link = (MerLink){.bytes_per_s = INFINITY};
    MER_TRY(mer_platform_get_positive(map, "bytes_per_s", &link->bytes_per_s, error));
    MER_TRY(mer_platform_get_cost(map, "latency_us", &link->latency_us, error));
    MER_TRY(mer_platform_get_cost(map, "gap_us", &link->gap_us, error));
    MER_TRY(mer_yaml_get_word(map, "duplex", duplex, 2, &index, error));
    link->full_duplex = index == 0;
    MER_TRY(mer_platform_get_name(map, "bus", &link->bus, error));
    return mer_yaml_finish(map, error);
}

typedef struct Links {
    const MerPlatform *platform;
    MerLink           *items;
    int                count;
    unsigned short    *joined; /* 1 + entry that joined a pair, unit_count x unit_count */
} Links;

/* Joins units i and j. A pair met again in the same entry (`*` to `*`) is the same link. */
static MerStatus join(Links *links, const MerLink *link, int entry, const MerYaml *map,
                      MerError *error)
{
    const MerUnit  *units = links->platform->units;
    int             low = link->from < link->to ? link->from : link->to;
    int             high = link->from < link->to ? link->to : link->from;
    size_t          count = (size_t)links->platform->unit_count;
    unsigned short *joined = &links->joined[(size_t)low * count + (size_t)high];
    if (low == high || *joined == entry + 1) {
        return MER_OK;
    }
    if (*joined != 0) {
        return mer_yaml_error(map, error, "%s joins %s and %s, as links[%d] does already",
                              map->path, units[link->from].name, units[link->to].name, *joined - 1);
    }
    if (links->count == MER_MAX_LINKS) {
        return mer_yaml_error(map, error, "%s makes more than %d links", map->path, MER_MAX_LINKS);
    }
    *joined = (unsigned short)(entry + 1);
    MER_GROW(map->arena, links->items, links->count);
    links->items[links->count++] = *link;
    return MER_OK;
}

static MerStatus expand(Links *links, MerLink *link, const Matches *from, const Matches *to,
                        int entry, const MerYaml *map, MerError *error)
{
    int before = links->count;
    for (int i = 0; i < from->count; i++) {
        for (int j = 0; j < to->count; j++) {
            link->from = from->units[i];
            link->to = to->units[j];
            MER_TRY(join(links, link, entry, map, error));
        }
    }
    return links->count > before
               ? MER_OK
               : mer_yaml_error(map, error, "%s joins a unit with itself", map->path);
}

MerStatus mer_platform_read_links(MerPlatform *platform, MerYaml *root, MerError *error)
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
    Links   links = {platform, .joined = MER_ARRAY(root->arena, unsigned short, count *count)};
    Matches from = {.units = MER_ARRAY(root->arena, int, count)};
    Matches to = {.units = MER_ARRAY(root->arena, int, count)};
    for (int i = 0; i < list->count; i++) {
        MerLink  link;
        MerYaml *map = list->items[i];
        MER_TRY(mer_yaml_check_kind(map, MER_YAML_MAP, error));
        MER_TRY(find_units(platform, map, "from", &from, error));
        MER_TRY(find_units(platform, map, "to", &to, error));
        MER_TRY(read_link(&link, map, error));
        MER_TRY(expand(&links, &link, &from, &to, i, map, error));
    }
    platform->links = links.items;
    platform->link_count = links.count;
    return MER_OK;
}
