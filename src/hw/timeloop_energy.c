/* Energies of a Timeloop architecture: an energy reference table (ERT) where one is given, else Timeloop's
 * public table (docs/timeloop-and-maestro.md, "Architectures"): SRAM by its size, DRAM and multipliers by
 * their width. */
#include "hw/timeloop_arch.h"

#include "base/yaml_need.h"
#include "mercator/option.h"

#include <math.h>
#include <string.h>

/* "system.chip.PE[0..255].RF[0..1]" speaks of RF. */
static bool speaks_of(const char *path, const char *level, MerArena *arena)
{
    size_t end = strlen(path);
    if (end > 0 && path[end - 1] == ']') {
        const char *open = strrchr(path, '[');
        end = open ? (size_t)(open - path) : end;
    }
    size_t start = end;
    while (start > 0 && path[start - 1] != '.') {
        start--;
    }
    return mer_name_equal(mer_arena_text_n(arena, path + start, end - start), level);
}

static void raise(double *energy, double candidate)
{
    if (isnan(*energy) || candidate > *energy) {
        *energy = candidate;
    }
}

static bool is_idle(const char *action)
{
    return strstr(action, "idle") || strstr(action, "leak") || strstr(action, "gated") ||
           strstr(action, "reused");
}

/* Of several entries of one action the largest counts. Energies are per access of whole blocks. */
static void take_action(MerTimeloopLevel *level, const char *action, double energy)
{
    static const char *const kinds[] = {"read", "write", "update"};
    double *const            energies[] = {&level->read_pj, &level->write_pj, &level->update_pj};
    if (is_idle(action)) {
        return;
    }
    if (level->is_compute) {
        raise(&level->read_pj, energy);
        return;
    }
    for (int k = 0; k < 3; k++) {
        if (strstr(action, "access") || strstr(action, kinds[k])) {
            raise(energies[k], energy / level->words_per_access);
        }
    }
}

static MerStatus read_actions(MerTimeloopArch *arch, MerYaml *table, MerTimeloopLevel *level)
{
    MerYaml *list;
    MER_TRY(mer_yaml_need_kind(table, "actions", MER_YAML_LIST, &list, arch->error));
    for (int i = 0; i < list->count; i++) {
        const char *name;
        double      energy;
        MerYaml    *node;
        MER_TRY(mer_yaml_check_kind(list->items[i], MER_YAML_MAP, arch->error));
        MER_TRY(mer_yaml_need_text(list->items[i], "name", &name, arch->error));
        MER_TRY(mer_yaml_need(list->items[i], "energy", &node, arch->error));
        MER_TRY(mer_yaml_real(node, 0, 1e15, &energy, arch->error));
        take_action(level, name, energy);
    }
    return MER_OK;
}

static MerStatus read_table(MerTimeloopArch *arch, MerYaml *table)
{
    const char *name;
    MER_TRY(mer_yaml_check_kind(table, MER_YAML_MAP, arch->error));
    MER_TRY(mer_yaml_need_text(table, "name", &name, arch->error));
    for (int l = 0; l < arch->count; l++) {
        if (speaks_of(name, arch->levels[l].name, arch->arena)) {
            return read_actions(arch, table, &arch->levels[l]);
        }
    }
    return MER_OK; /* of a component we have no use for */
}

static MerStatus read_reference(MerTimeloopArch *arch, MerYaml *root)
{
    MerYaml *ert = mer_yaml_get(root, "ERT"), *tables;
    if (!ert) {
        return MER_OK;
    }
    MER_TRY(mer_yaml_check_kind(ert, MER_YAML_MAP, arch->error));
    MER_TRY(mer_yaml_need_kind(ert, "tables", MER_YAML_LIST, &tables, arch->error));
    for (int l = 0; l < arch->count; l++) { /* the table replaces whatever the architecture says */
        arch->levels[l].read_pj = arch->levels[l].write_pj = arch->levels[l].update_pj = NAN;
    }
    for (int i = 0; i < tables->count; i++) {
        MER_TRY(read_table(arch, tables->items[i]));
    }
    return MER_OK;
}

/* pJ per word of a memory, per MAC of a compute element. */
static double public_energy(const MerTimeloopLevel *level)
{
    double width = level->word_bits / 16;
    if (level->is_compute) {
        return width * width;
    }
    if (level->is_dram || isinf(level->words)) {
        return 200 * width;
    }
    double kilobytes = level->words * level->word_bits / 8 / 1024;
    return (5 / 99.5 * (kilobytes - 0.5) + 1) * width;
}

MerStatus mer_timeloop_read_energies(MerTimeloopArch *arch, MerYaml *root)
{
    MER_TRY(read_reference(arch, root));
    for (int l = 0; l < arch->count; l++) {
        MerTimeloopLevel *level = &arch->levels[l];
        double            fallback = public_energy(level);
        if (isnan(level->write_pj) && !isnan(level->update_pj)) {
            level->write_pj = level->update_pj;
        }
        level->read_pj = isnan(level->read_pj) ? fallback : level->read_pj;
        level->write_pj = isnan(level->write_pj) ? level->read_pj : level->write_pj;
        level->update_pj = isnan(level->update_pj) ? level->write_pj : level->update_pj;
    }
    return MER_OK;
}
