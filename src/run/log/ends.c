/* Where searches ended by time. The log says it, since no run could find the same place again by its clock. */
#include "run/log/ends.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char START[] = "{\"type\":\"end\"";

/* "index" and "search" as numbers, the bound if there is one. */
static bool read_end(const char *line, MerLogEnd *end, MerArena *arena)
{
    cJSON       *json = cJSON_Parse(line);
    const cJSON *index = cJSON_GetObjectItemCaseSensitive(json, "index");
    const cJSON *search = cJSON_GetObjectItemCaseSensitive(json, "search");
    const cJSON *bound = cJSON_GetObjectItemCaseSensitive(json, "bound");
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(bound, "value");
    const char  *kind = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(bound, "kind"));
    bool         is_whole = cJSON_IsNumber(index) && cJSON_IsNumber(search);
    if (is_whole) {
        *end = (MerLogEnd){search->valueint, (int64_t)index->valuedouble, {NAN, "none", ""}};
    }
    if (is_whole && cJSON_IsNumber(value) && kind) {
        end->bound = (MerBound){value->valuedouble, mer_arena_text(arena, kind), ""};
    }
    cJSON_Delete(json);
    return is_whole;
}

MerLogEnds mer_log_ends_read(const char *path, MerArena *arena)
{
    MerLogEnds ends = {0};
    FILE      *file = fopen(path, "r");
    char      *line = NULL;
    size_t     capacity = 0;
    ssize_t    length;
    while (file && (length = getline(&line, &capacity, file)) > 0) {
        if (strncmp(line, START, sizeof START - 1) != 0 || line[length - 1] != '\n') {
            continue;
        }
        MerLogEnd *grown = MER_ARRAY(arena, MerLogEnd, ends.count + 1);
        if (ends.count > 0) {
            memcpy(grown, ends.list, (size_t)ends.count * sizeof *grown);
        }
        ends.list = grown;
        ends.count += read_end(line, &grown[ends.count], arena);
    }
    free(line);
    if (file) {
        fclose(file);
    }
    return ends;
}

const MerLogEnd *mer_log_ends_find(const MerLogEnds *ends, int search)
{
    for (int i = 0; i < ends->count; i++) {
        if (ends->list[i].search == search) {
            return &ends->list[i];
        }
    }
    return NULL;
}

MerStatus mer_log_end_write(MerRunlog *log, const MerLogEnd *end, int task, MerError *error)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "type", "end");
    mer_json_int(&json, "index", end->index);
    mer_json_int(&json, "task", task);
    mer_json_int(&json, "search", end->search);
    mer_json_text(&json, "stopped", "time");
    mer_json_object(&json, "bound");
    mer_json_real(&json, "value", end->bound.value);
    mer_json_text(&json, "kind", end->bound.kind);
    mer_json_end_object(&json);
    mer_json_end_object(&json);
    MerStatus status = mer_runlog_line(log, json.text, error);
    mer_json_free(&json);
    return status;
}
