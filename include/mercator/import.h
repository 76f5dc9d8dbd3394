/* From a file to a graph. Each format is one importer; `mer_graph_import` finds the one that fits. */
#ifndef MERCATOR_IMPORT_H
#define MERCATOR_IMPORT_H

#include "mercator/graph.h"

#include <stddef.h>

typedef struct MerDimBinding { /* `--dim batch=8` */
    const char *name;
    int64_t     size;
} MerDimBinding;

typedef struct MerImportOptions {
    int                  dim_count;
    const MerDimBinding *dims;
    /* of a file with several networks: the one wanted; NULL: all of it */
    const char *select;
    /* read for another file: lists of networks are refused, they could name themselves */
    bool is_part;
} MerImportOptions;

/* A file in memory, as given to importers. `data` is followed by a 0 byte that does not count. */
typedef struct MerImportFile {
    const char *path; /* for messages */
    const char *name; /* default name of the graph */
    const char *data;
    size_t      size;
} MerImportFile;

typedef struct MerImporterClass {
    const char *name, *summary;
    const char *endings; /* "onnx" or "yaml yml" */
    /* Is this file of my format? Looks at the content, cheap, never fails. */
    bool (*probe)(const MerImportFile *file);
    MerStatus (*read)(const MerImportFile *file, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error);

    /* optional */
    /* Workloads that it makes from a name alone, without a file: `synthetic:1000:1`, or the text
     * of a list. */
    bool (*knows)(const char *name);
    MerStatus (*make)(const char *name, const MerImportOptions *options, MerArena *arena,
                      MerGraph **graph, MerError *error);
} MerImporterClass;

/* Reads a built-in model by name, a file by path, or the standard input (`-`). `options` may be NULL. The
 * graph lives in `arena`. */
MerStatus mer_graph_import(const char *name_or_path, const MerImportOptions *options,
                           MerArena *arena, MerGraph **graph, MerError *error);

#endif
