/* mW of every set of busy units, from a table by sets or from numbers of single units. */
#include "split/split_parts.h"

#include "mercator/option.h"

#include <string.h>

static int unit_named(const MerPlatform *platform, const char *name)
{
    for (int u = 0; u < platform->unit_count; u++) {
        if (mer_name_equal(platform->units[u].name, name)) {
            return u;
        }
    }
    return -1;
}

/* `digital+analog` as a bit mask; 0: a name is unknown. */
static unsigned mask_of(const MerPlatform *platform, const char *key, MerArena *arena)
{
    unsigned mask = 0;
    while (*key) {
        size_t length = strcspn(key, "+");
        int    unit = unit_named(platform, mer_arena_text_n(arena, key, length));
        if (unit < 0) {
            return 0;
        }
        mask |= 1u << unit;
        key += length + (key[length] == '+');
    }
    return mask;
}

static void fill_by_set(const MerPlatform *platform, double *power, MerArena *arena)
{
    for (int i = 0; i < platform->power_mw.count; i++) {
        const MerConstant *constant = &platform->power_mw.constants[i];
        unsigned           mask = mask_of(platform, constant->name, arena);
        if (mask) {
            power[mask] = constant->values[0];
        }
    }
}

static void fill_additive(const MerPlatform *platform, double *power)
{
    double idle = mer_formula_number(&platform->power_mw, "idle", 0);
    for (unsigned mask = 1; mask < 1u << platform->unit_count; mask++) {
        power[mask] = 0;
        for (int u = 0; u < platform->unit_count; u++) {
            power[mask] += mask >> u & 1 ? mer_formula_number(&platform->power_mw,
                                                              platform->units[u].name, NAN)
                                         : idle;
        }
    }
}

static const char *set_name(const MerPlatform *platform, unsigned mask, MerArena *arena)
{
    const char *text = "";
    for (int u = 0; u < platform->unit_count; u++) {
        if (mask >> u & 1) {
            text =
                mer_arena_format(arena, "%s%s%s", text, *text ? "+" : "", platform->units[u].name);
        }
    }
    return text;
}

/* A set that the table leaves out draws what its members draw alone. */
static void add_missing_sets(const MerPlatform *platform, double *power, MerSplitRemarks *remarks,
                             MerArena *arena)
{
    for (unsigned mask = 1; mask < 1u << platform->unit_count; mask++) {
        double sum = 0;
        for (int u = 0; u < platform->unit_count; u++) {
            sum += mask >> u & 1 ? power[1u << u] : 0;
        }
        if (isnan(power[mask]) && !isnan(sum)) {
            power[mask] = sum;
            mer_split_remark(remarks, "power_mw of %s has no %s: %g mW, the sum of its units",
                             platform->name, set_name(platform, mask, arena), sum);
        }
    }
}

const double *mer_split_power(const MerPlatform *platform, MerSplitRemarks *remarks,
                              MerArena *arena)
{
    unsigned sets = 1u << platform->unit_count;
    double  *power = MER_ARRAY(arena, double, sets);
    if (!platform->power_mw.name) {
        return NULL;
    }
    for (unsigned mask = 1; mask < sets; mask++) {
        power[mask] = NAN;
    }
    if (strcmp(platform->power_mw.name, "by-set") == 0) {
        fill_by_set(platform, power, arena);
        add_missing_sets(platform, power, remarks, arena);
    } else {
        fill_additive(platform, power);
    }
    for (unsigned mask = 1; mask < sets; mask++) {
        if (isnan(power[mask])) {
            mer_split_remark(remarks, "power_mw of %s does not cover %s: energies are unknown",
                             platform->name, set_name(platform, mask, arena));
            return NULL;
        }
    }
    return power;
}
