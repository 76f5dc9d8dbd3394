/* Several YAML files as one: their roots are maps and become one map. A key that two files define
 * with different values is an error that names both places. */
#ifndef MERCATOR_BASE_YAML_FILES_H
#define MERCATOR_BASE_YAML_FILES_H

#include "mercator/yaml.h"

/* `paths` is one path or several joined by commas. Nodes keep their files and places. */
MerStatus mer_yaml_read_files(const char *paths, MerArena *arena, MerYaml **root, MerError *error);

/* Adds an entry to a map, whose key stands at the place given. */
void mer_yaml_add(MerYaml *map, const char *key, MerYaml *value, int line, int column);

#endif
