/* Keys of a map that have to be there, together with what they have to hold. */
#ifndef MERCATOR_BASE_YAML_NEED_H
#define MERCATOR_BASE_YAML_NEED_H

#include "mercator/yaml.h"

MerStatus mer_yaml_need_kind(MerYaml *map, const char *key, MerYamlKind kind, MerYaml **value,
                             MerError *error);
MerStatus mer_yaml_need_text(MerYaml *map, const char *key, const char **text, MerError *error);
MerStatus mer_yaml_need_int(MerYaml *map, const char *key, int64_t minimum, int64_t maximum,
                            int64_t *value, MerError *error);
/* One of `count` words; gives its index. The _get_ form leaves *index alone when the key is absent. */
MerStatus mer_yaml_need_word(MerYaml *map, const char *key, const char *const *words, int count,
                             int *index, MerError *error);
MerStatus mer_yaml_get_word(MerYaml *map, const char *key, const char *const *words, int count,
                            int *index, MerError *error);

#endif
