/* Keys that have to be there. */
#include "base/yaml_need.h"

MerStatus mer_yaml_need_text(MerYaml *map, const char *key, const char **text, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    return mer_yaml_text(node, text, error);
}

MerStatus mer_yaml_need_int(MerYaml *map, const char *key, int64_t minimum, int64_t maximum,
                            int64_t *value, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    return mer_yaml_int(node, minimum, maximum, value, error);
}

MerStatus mer_yaml_need_kind(MerYaml *map, const char *key, MerYamlKind kind, MerYaml **value,
                             MerError *error)
{
    MER_TRY(mer_yaml_need(map, key, value, error));
    return mer_yaml_check_kind(*value, kind, error);
}

MerStatus mer_yaml_need_word(MerYaml *map, const char *key, const char *const *words, int count,
                             int *index, MerError *error)
{
    MerYaml *node;
    MER_TRY(mer_yaml_need(map, key, &node, error));
    return mer_yaml_word(node, words, count, index, error);
}

MerStatus mer_yaml_get_word(MerYaml *map, const char *key, const char *const *words, int count,
                            int *index, MerError *error)
{
    MerYaml *node = mer_yaml_get(map, key);
    return node ? mer_yaml_word(node, words, count, index, error) : MER_OK;
}
