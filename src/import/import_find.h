/* Finding the importer for a file. The list of importers is passed in, so that this folder does not
 * depend on the registry. */
#ifndef MERCATOR_IMPORT_FIND_H
#define MERCATOR_IMPORT_FIND_H

#include "mercator/import.h"

/* mer_graph_import with the importers of a NULL-terminated list. A name without '/' and '.' is a
 * built-in model first; `-` is the standard input; anything else, and a name that is none, is a path. */
MerStatus mer_graph_import_with(const MerImporterClass *const *importers, const char *name_or_path,
                                const MerImportOptions *options, MerArena *arena, MerGraph **graph,
                                MerError *error);

/* Does the name of the file end with a dot and one of the words of `endings`? */
bool mer_path_has_ending(const char *path, const char *endings);

extern const MerImporterClass mer_importer_onnx;

#endif
