/* YAML (and JSON, which is YAML) as a tree that remembers where everything stood.
 *
 * Readers take keys with the mer_yaml_get_* functions, then call mer_yaml_finish(map): a key nobody
 * asked for is an error with its place and the nearest key that was asked for. */
#ifndef MERCATOR_YAML_H
#define MERCATOR_YAML_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum MerYamlKind { MER_YAML_SCALAR, MER_YAML_LIST, MER_YAML_MAP } MerYamlKind;

typedef struct MerYaml MerYaml;
struct MerYaml {
    MerYamlKind kind;
    const char *file;
    int         line, column; /* from 1 */
    const char *text;         /* scalar */
    bool quoted; /* scalar in quotes: never null or boolean, a number only with a suffix ("32Ki") */
    int  count;  /* items of a list, entries of a map */
    MerYaml    **items; /* values */
    const char **keys;  /* map */
    int         *key_lines, *key_columns;
    const char  *tag;  /* "!Container", NULL if none */
    const char  *path; /* "units[2].memories[0].bytes"; "" at the root */
    MerArena    *arena;
    /* keys asked for so far, for mer_yaml_finish */
    const char **asked;
    int          asked_count;
};

/* Limits: 64 MiB, 4,000,000 values, 1,000,000 of them by aliases, 200 levels. Double keys are errors. */
MerStatus mer_yaml_read(const char *path, MerArena *arena, MerYaml **root, MerError *error);
MerStatus mer_yaml_parse(const char *name, const char *text, size_t size, MerArena *arena,
                         MerYaml **root, MerError *error);

/* `FILE:LINE:COLUMN: PATH is FOUND, expected EXPECTED`; returns MER_INVALID. */
MerStatus mer_yaml_expected(const MerYaml *node, MerError *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* `FILE:LINE:COLUMN: ` and your own words; returns MER_INVALID. */
MerStatus mer_yaml_error(const MerYaml *node, MerError *error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool mer_yaml_is_null(const MerYaml *node); /* empty, null, ~ */

/* The value of a key (hyphen equals underscore), or NULL. Remembers that it was asked for. */
MerYaml *mer_yaml_get(MerYaml *map, const char *key);
/* Like mer_yaml_get; absent is an error. */
MerStatus mer_yaml_need(MerYaml *map, const char *key, MerYaml **value, MerError *error);

/* Scalars. The _get_ forms leave *value alone when the key is absent. */
MerStatus mer_yaml_real(const MerYaml *node, double minimum, double maximum, double *value,
                        MerError *error);
MerStatus mer_yaml_int(const MerYaml *node, int64_t minimum, int64_t maximum, int64_t *value,
                       MerError *error);
MerStatus mer_yaml_bool(const MerYaml *node, bool *value, MerError *error);
MerStatus mer_yaml_text(const MerYaml *node, const char **value, MerError *error);
/* An option's value as a command line has it: a scalar as it stands, a list as [a,b,c]. */
MerStatus mer_yaml_option(const MerYaml *node, const char **text, MerArena *arena, MerError *error);
MerStatus mer_yaml_get_real(MerYaml *map, const char *key, double minimum, double maximum,
                            double *value, MerError *error);
MerStatus mer_yaml_get_int(MerYaml *map, const char *key, int64_t minimum, int64_t maximum,
                           int64_t *value, MerError *error);
MerStatus mer_yaml_get_bool(MerYaml *map, const char *key, bool *value, MerError *error);
MerStatus mer_yaml_get_text(MerYaml *map, const char *key, const char **value, MerError *error);
/* One of `count` words; gives its index. */
MerStatus mer_yaml_word(const MerYaml *node, const char *const *words, int count, int *value,
                        MerError *error);

MerStatus mer_yaml_check_kind(const MerYaml *node, MerYamlKind kind, MerError *error);
/* Error for the first key nobody asked for. */
MerStatus mer_yaml_finish(MerYaml *map, MerError *error);
/* `format: mercator-NOUN/VERSION` at the root; a higher version than `version` is an error naming both. */
MerStatus mer_yaml_format(MerYaml *root, const char *noun, int version, MerError *error);

#endif
