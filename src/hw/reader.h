/* What the parts of the platform reader share: which keys belong to which kind, and small
 * takers. */
#ifndef MERCATOR_HW_READER_H
#define MERCATOR_HW_READER_H

#include "mercator/platform.h"
#include "mercator/yaml.h"

enum {
    MER_IN_PE_ARRAY = 1u << MER_PLATFORM_PE_ARRAY,
    MER_IN_CORES = 1u << MER_PLATFORM_CORES,
    MER_IN_VTA = 1u << MER_PLATFORM_VTA,
    MER_IN_SOC = 1u << MER_PLATFORM_SOC,
    MER_IN_CLUSTER = 1u << MER_PLATFORM_CLUSTER,
    MER_IN_NATIVE = 1u << MER_PLATFORM_NATIVE,
    MER_IN_ALL = (1u << MER_PLATFORM_KIND_COUNT) - 1
};

/* Limits that keep a small hostile file from asking for much memory. */
enum {
    MER_MAX_MEMORIES = 64,
    MER_MAX_UNITS = 4096,
    MER_MAX_LINKS = 1000000,
    MER_MAX_OPTIONS = 64,
    MER_MAX_CONSTANTS = 1024
};

typedef struct MerKeyKinds { /* a table ends with no kinds */
    unsigned    kinds;       /* bit per MerPlatformKind */
    const char *keys[16];    /* theirs alone; ends with NULL */
} MerKeyKinds;

/* Error for the first key that belongs to other kinds of platform; unknown keys pass. */
MerStatus mer_platform_check_keys(const MerYaml *map, const MerKeyKinds *table,
                                  MerPlatformKind kind, MerError *error);

/* A key as a node, for messages about it. */
MerYaml mer_platform_key(const MerYaml *map, int index);
/* Takes a key out of a map. */
void mer_platform_drop(MerYaml *map, const char *key);
/* What an item of a list is called; NULL: it has no name. */
const char *mer_platform_item_name(const MerYaml *item);
/* With '_' for letters that a name may not have. */
const char *mer_platform_plain_name(const char *text, size_t length, MerArena *arena);
/* The _get_ forms leave *value alone when the key is absent, as those of yaml.h do. */
MerStatus mer_platform_get_positive(MerYaml *map, const char *key, double *value, MerError *error);
MerStatus mer_platform_get_cost(MerYaml *map, const char *key, double *value,
                                MerError *error); /* >= 0 */
MerStatus mer_platform_get_size(MerYaml *map, const char *key, double *value,
                                MerError *error); /* whole, >= 1 */
MerStatus mer_platform_get_count(MerYaml *map, const char *key, int *value,
                                 MerError *error); /* >= 1 */
MerStatus mer_platform_need_count(MerYaml *map, const char *key, int *value, MerError *error);
MerStatus mer_platform_need_power(MerYaml *map, const char *key, int *value,
                                  MerError *error); /* of two */
/* A name others may refer to: letters, digits, '_' and '-'. */
MerStatus mer_platform_get_name(MerYaml *map, const char *key, const char **name, MerError *error);
MerStatus mer_platform_need_name(MerYaml *map, const char *key, const char **name, MerError *error);
MerStatus mer_platform_name(const MerYaml *node, const char **name, MerError *error);

/* Letters of the tensors, operators of the units of a soc, kinds of platforms. */
enum { MER_OPERATOR_COUNT = 4 };
extern const char *const mer_tensor_letters[],
    *const               mer_operator_names[MER_OPERATOR_COUNT],
        *const           mer_platform_kind_names[MER_PLATFORM_KIND_COUNT];

/* `[W, O]` for a mask of tensors, not empty; and back, added to `mask` if the key is there. */
void      mer_tensors_write(FILE *file, unsigned mask);
MerStatus mer_tensors_read(MerYaml *map, const char *key, unsigned *mask, MerError *error);

/* Each reads its part of the resolved tree into `platform`, with memory of the tree's arena. */
typedef MerStatus MerPlatformReader(MerPlatform *platform, MerYaml *root, MerError *error);
MerPlatformReader mer_platform_read_memories, mer_platform_read_units, mer_platform_read_links,
    mer_platform_read_timing, mer_platform_read_power;
/* Units, or classes of them, by name. */
int       mer_unit_find(const MerUnit *units, int count, const char *name); /* -1: there is none */
MerStatus mer_unit_need(const MerYaml *node, const char *what, const MerUnit *units, int count,
                        int *index, MerError *error);
/* `node` names none of them: what was expected, and which was probably meant. */
MerStatus mer_unit_unknown(const MerYaml *node, const char *what, const MerUnit *units, int count,
                           MerError *error);

/* Formulas of a unit. The key may be absent: the formula's name then stays NULL. */
/* The CSV file that `node` names, beside the platform file, as the constant `rows`. */
MerStatus mer_platform_read_table(const MerYaml *node, MerConstant *constant, MerError *error);
MerStatus mer_platform_read_cost(MerYaml *unit, MerUnit *into, MerError *error);
MerStatus mer_platform_read_requantise(MerYaml *unit, MerUnit *into, MerError *error);
/* Does the cost of this unit say how long `operator_name` takes? */
bool mer_platform_formula_takes(const MerFormula *cost, const char *operator_name);

/* The file behind a name or path, with everything it extends merged in. */
MerStatus mer_platform_load(const char *name_or_path, MerArena *arena, MerYaml **resolved,
                            MerError *error);
/* Merges what `root` extends; relative files are relative to `root->file`. */
MerStatus mer_platform_resolve(MerYaml *root, MerYaml **resolved, MerError *error);
/* The platform of a resolved tree. */
MerStatus mer_platform_from_yaml(MerYaml *root, const MerPlatform **platform, MerError *error);
/* Renames the paths of a tree after it was merged or changed. */
void mer_platform_set_paths(MerYaml *node, const char *path);
/* Applies one `memories.GLB.words=16Ki` to a resolved tree. */
MerStatus mer_platform_change(MerYaml *root, const char *change, MerError *error);
uint64_t  mer_platform_hash(const MerPlatform *platform);

#endif
