/* Parameters of plug-ins. One table per plug-in makes help text, checks, documents and log headers.
 *
 *     typedef struct Options { int64_t population; double mutation; } Options;
 *     static const MerOption options[] = {
 *         {"population", MER_OPTION_INT, offsetof(Options, population), "100", 2, 1e6, NULL, "points per generation"},
 *         {"mutation", MER_OPTION_REAL, offsetof(Options, mutation), "0.1", 0, 1, NULL, "probability per knob"},
 *         {0}};
 *
 * A plug-in reference `genetic:population=50,mutation=0.2` fills the struct. */
#ifndef MERCATOR_OPTION_H
#define MERCATOR_OPTION_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>

typedef enum MerOptionType {
    MER_OPTION_INT,    /* int64_t in the struct */
    MER_OPTION_REAL,   /* double */
    MER_OPTION_BOOL,   /* bool */
    MER_OPTION_CHOICE, /* int: index into `choices` */
    MER_OPTION_TEXT,   /* const char *, NULL if empty */
    MER_OPTION_REALS,  /* MerReals */
    MER_OPTION_TEXTS   /* MerTexts */
} MerOptionType;

typedef struct MerReals {
    int           count;
    const double *values;
} MerReals;

typedef struct MerTexts {
    int                count;
    const char *const *values;
} MerTexts;

typedef struct MerOption { /* a table ends with a NULL name */
    const char   *name;
    MerOptionType type;
    size_t        offset;
    const char   *initial;          /* default, as a user would write it */
    double        minimum, maximum; /* of numbers, inclusive; both 0: any */
    const char   *choices;          /* "perfect|padded" for MER_OPTION_CHOICE */
    /* NULL: another name of an option with the same field; read, never written */
    const char *help;
} MerOption;

typedef struct MerPreset { /* `preset=NAME` sets these before the other options; ends with NULL */
    const char *name;
    const char *settings; /* "population=20,elite=0.1" */
} MerPreset;

/* A parsed plug-in reference: a name and key/value texts, in the order written. */
typedef struct MerReference {
    const char  *name;
    int          count;
    const char **keys, **values;
} MerReference;

/* `NAME` or `NAME:key=value,...`; a value may be a list `[a,b,c]`. `NAME:text` that does not begin with `key=` has one value
 * with the key "": of the first option, if that is a text. */
MerStatus mer_reference_parse(const char *text, MerReference *reference, MerArena *arena,
                              MerError *error);

/* Writes every default into `options` (zeroed by the caller, `options_size` bytes of the plug-in). */
void mer_options_defaults(const MerOption *table, void *options, MerArena *arena);

/* Sets one option from text; hyphen and underscore are equal. `where` opens the message. */
MerStatus mer_options_set(const MerOption *table, void *options, const char *where, const char *key,
                          const char *value, MerArena *arena, MerError *error);

/* Defaults, then the preset (if one is named), then the keys of `reference`. */
MerStatus mer_options_fill(const MerOption *table, const MerPreset *presets, void *options,
                           const MerReference *reference, MerArena *arena, MerError *error);

/* The options that were given, else the defaults; NULL if there is no table. `size` bytes. */
const void *mer_options_or_defaults(const void *given, const MerOption *table, size_t size,
                                    MerArena *arena);

/* A copy of `reference` with one key more, or with those of `more`: later ones win when they are set. */
MerReference mer_reference_add(const MerReference *reference, const char *key, const char *value,
                               MerArena *arena);
MerReference mer_reference_join(const MerReference *reference, const MerReference *more,
                                MerArena *arena);

bool             mer_name_equal(const char *a, const char *b);               /* '-' equals '_' */
const MerOption *mer_options_find(const MerOption *table, const char *name); /* NULL if absent */

/* The nearest of `names` to `word` (edit distance at most 2 or a third of its length), else the first that begins with
 * it, or NULL. */
const char *mer_name_nearest(const char *word, const char *const *names, int count);

#endif
