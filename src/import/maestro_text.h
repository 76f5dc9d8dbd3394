/* MAESTRO's `.m` text as a tree: networks, layers with their sizes, and the directives of a
 * Dataflow block, for the reader of networks and for readers of mappings. Values are integers,
 * names of Constants (already replaced), Sz(D), or sums and differences of these. `,` `:` `;` and `->` are white space, `//`
 * opens a comment. */
#ifndef MERCATOR_IMPORT_MAESTRO_TEXT_H
#define MERCATOR_IMPORT_MAESTRO_TEXT_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MerMaestroPlace {
    int line, column; /* from 1 */
} MerMaestroPlace;

typedef struct MerMaestroSize { /* `Y': 28` of Dimensions, `X: 2` of Stride */
    const char     *name;
    int64_t         value;
    MerMaestroPlace place; /* of the value */
} MerMaestroSize;

enum { MER_MAESTRO_TERMS = 4 };
typedef struct MerMaestroTerm {
    const char *size_of; /* "R" of Sz(R) */
    int         sign;    /* 1 or -1 */
} MerMaestroTerm;

typedef struct MerMaestroValue { /* `8+Sz(S)-1`: a number and signed sizes */
    int64_t        number;
    int            term_count;
    MerMaestroTerm terms[MER_MAESTRO_TERMS];
} MerMaestroValue;

typedef enum MerMaestroMap {
    MER_MAESTRO_TEMPORAL,
    MER_MAESTRO_SPATIAL,
    MER_MAESTRO_CLUSTER
} MerMaestroMap;

typedef struct MerMaestroDirective {
    MerMaestroMap   kind;
    MerMaestroValue size, offset; /* of a cluster: size alone */
    const char     *dim;          /* "K", "Y'"; of a cluster "P", "L" or "" */
    MerMaestroPlace place;
} MerMaestroDirective;

typedef struct MerMaestroLayer {
    const char          *name, *type; /* type "" if absent */
    MerMaestroPlace      place, type_place;
    int                  stride_count, dim_count, directive_count;
    MerMaestroSize      *strides, *dims;
    bool                 has_dataflow;
    MerMaestroDirective *directives; /* outermost first */
} MerMaestroLayer;

typedef struct MerMaestroNetwork {
    const char      *name;
    MerMaestroPlace  place;
    int              layer_count;
    MerMaestroLayer *layers;
} MerMaestroNetwork;

typedef struct MerMaestroFile {
    int                network_count;
    MerMaestroNetwork *networks;
} MerMaestroFile;

/* `path` opens messages. */
MerStatus mer_maestro_parse(const char *path, const char *text, size_t size, MerArena *arena,
                            MerMaestroFile *file, MerError *error);

/* NULL if the layer does not name it. */
const MerMaestroSize *mer_maestro_find(const MerMaestroSize *sizes, int count, const char *name);

#endif
