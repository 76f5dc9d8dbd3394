/* Members of JSON objects that cJSON has read. */
#include "base/json_read.h"

#include <stdio.h>
#include <string.h>

const cJSON *mer_json_get(const cJSON *object, const char *key)
{
    return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *mer_json_get_text(const cJSON *object, const char *key, const char *otherwise)
{
    const char *text = cJSON_GetStringValue(mer_json_get(object, key));
    return text != NULL ? text : otherwise;
}

double mer_json_get_real(const cJSON *object, const char *key, double otherwise)
{
    const cJSON *item = mer_json_get(object, key);
    return cJSON_IsNumber(item) ? item->valuedouble : otherwise;
}

bool mer_json_difference(const cJSON **was, const cJSON **now, char *path, size_t size)
{
    const cJSON *maps[] = {*now, *was};
    for (int m = 0; m < 2; m++) {
        const cJSON *item;
        cJSON_ArrayForEach(item, maps[m])
        {
            const cJSON *before = mer_json_get(maps[1], item->string);
            const cJSON *after = mer_json_get(maps[0], item->string);
            if (before && after && cJSON_Compare(before, after, true)) {
                continue;
            }
            size_t length = strlen(path);
            snprintf(path + length, size - length, "%s%s", length > 0 ? "." : "", item->string);
            *was = before;
            *now = after;
            return !cJSON_IsObject(before) || !cJSON_IsObject(after) ||
                   mer_json_difference(was, now, path, size);
        }
    }
    return false;
}
