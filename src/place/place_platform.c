/* Platforms with one thing changed: what another unit, faster links or larger memories would give, and splits that use more
 * accelerators than there are. */
#include "place/place_parts.h"

#include <string.h>

typedef struct Copy { /* of a platform: units and links may be written, and have place for more */
    MerPlatform *platform;
    MerUnit     *units;
    MerLink     *links;
} Copy;

static Copy copy_of(const MerPlatform *platform, MerArena *arena)
{
    Copy copy = {MER_NEW(arena, MerPlatform), MER_ARRAY(arena, MerUnit, platform->unit_count + 1),
                 MER_ARRAY(arena, MerLink, 2 * (size_t)platform->link_count + 1)};
    *copy.platform = *platform;
    memcpy(copy.units, platform->units, (size_t)platform->unit_count * sizeof *copy.units);
    if (platform->link_count > 0) {
        memcpy(copy.links, platform->links, (size_t)platform->link_count * sizeof *copy.links);
    }
    copy.platform->units = copy.units;
    copy.platform->links = copy.links;
    return copy;
}

/* The name of unit `like` with the next number that is free. */
static const char *next_name(const MerPlatform *platform, int like, MerArena *arena)
{
    const char *name = platform->units[like].name;
    int         length = (int)strlen(name);
    while (length > 1 && name[length - 1] >= '0' && name[length - 1] <= '9') {
        length--;
    }
    for (int number = 0;; number++) {
        const char *made = mer_arena_format(arena, "%.*s%d", length, name, number);
        int         taken = 0;
        for (int u = 0; u < platform->unit_count; u++) {
            taken += strcmp(platform->units[u].name, made) == 0;
        }
        if (taken == 0) {
            return made;
        }
    }
}

/* A unit like another one has its links, and one to it where it has some to units of its class. */
static void add_unit(Copy *copy, int like, MerArena *arena)
{
    MerPlatform *platform = copy->platform;
    int          count = platform->link_count, added = platform->unit_count, sister = -1;
    copy->units[added] = copy->units[like];
    copy->units[added].name = next_name(platform, like, arena);
    for (int l = 0; l < platform->link_count; l++) {
        bool goes_out = copy->links[l].from == like;
        if (goes_out || copy->links[l].to == like) {
            int other = goes_out ? copy->links[l].to : copy->links[l].from;
            copy->links[count] = copy->links[l];
            *(goes_out ? &copy->links[count].from : &copy->links[count].to) = added;
            count++;
            sister = copy->units[other].class_index == copy->units[like].class_index ? l : sister;
        }
    }
    if (sister >= 0) {
        copy->links[count] = copy->links[sister];
        copy->links[count].from = like;
        copy->links[count++].to = added;
    }
    platform->link_count = count;
    platform->unit_count++;
}

/* Links of one bus share it, so that they grow together. */
static void speed_up(Copy *copy, int link, double factor)
{
    const char *bus = link >= 0 ? copy->links[link].bus : NULL;
    for (int l = 0; l < copy->platform->link_count; l++) {
        const char *other = copy->links[l].bus;
        bool        is_meant = link < 0 || l == link || (bus && other && strcmp(bus, other) == 0);
        copy->links[l].bytes_per_s *= is_meant ? factor : 1;
    }
}

const MerPlatform *mer_place_change(const MerPlatform *platform, MerPlaceChange change,
                                    MerArena *arena)
{
    Copy copy = copy_of(platform, arena);
    switch (change.kind) {
    case MER_CHANGE_UNIT:
        add_unit(&copy, change.index, arena);
        break;
    case MER_CHANGE_LINK:
        speed_up(&copy, change.index, change.factor);
        break;
    case MER_CHANGE_MEMORY:
        for (int u = 0; u < platform->unit_count; u++) {
            bool is_meant = change.index < 0 ||
                            copy.units[u].class_index == copy.units[change.index].class_index;
            if (is_meant && copy.units[u].memory_bytes > 0) {
                copy.units[u].memory_bytes *= change.factor;
            }
        }
        break;
    case MER_CHANGE_GAP:
        for (int u = 0; u < platform->unit_count; u++) {
            copy.units[u].gap_us = copy.units[u].launch_us = 0;
        }
        break;
    }
    return copy.platform;
}
