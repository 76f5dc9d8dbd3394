/* Values that a map must have, of the kind they must have. */
#ifndef MERCATOR_BASE_YAML_NEED_H
#define MERCATOR_BASE_YAML_NEED_H

#include "mercator/yaml.h"

static inline MerStatus mer_yaml_need_kind(MerYaml *map, const char *key, MerYamlKind kind,
                                           MerYaml **value, MerError *error)
{
    MER_TRY(mer_yaml_need(map, key, value, error));
    return mer_yaml_check_kind(*value, kind, error);
}

static inline MerStatus mer_yaml_need_text(MerYaml *map, const char *key, const char **text,
                                           MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    return mer_yaml_text(node, text, error);
}

#endif
