/* Where searches ended by time. The log says it, since no run could find the same place again by its clock. */
#include "run/log/ends.h"

#include "base/descriptor.h"
#include "base/json_read.h"
#include "run/log/lines.h"
#include "run/log/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char START[] = "{\"type\":\"end\"";

/* "index" and "search" as numbers, the bound if there is one. */
static bool read_end(const char *line, MerLogEnd *end, MerArena *arena)
{
    cJSON       *json = cJSON_Parse(line);
    double       index = mer_json_get_real(json, "index", NAN);
    const cJSON *search = mer_json_get(json, "search");
    const cJSON *bound = mer_json_get(json, "bound");
    double       value = mer_json_get_real(bound, "value", NAN);
    const char  *kind = mer_json_get_text(bound, "kind", NULL);
    bool         is_whole = !isnan(index) && cJSON_IsNumber(search);
    if (is_whole) {
        *end = (MerLogEnd){search->valueint, (int64_t)index, {NAN, "none", ""}, {0}};
        mer_read_spent(mer_json_get(json, "spent"), end->spent);
    }
    if (is_whole && !isnan(value) && kind) {
        end->bound = (MerBound){value, mer_arena_text(arena, kind), ""};
    }
    cJSON_Delete(json);
    return is_whole;
}

MerLogEnds mer_log_ends_read(const char *path, MerArena *arena)
{
    MerLogEnds ends = {0};
    FILE      *file = mer_file_open(path);
    char      *line = NULL;
    size_t     capacity = 0;
    ssize_t    length;
    while (file && (length = getline(&line, &capacity, file)) > 0) {
        if (strncmp(line, START, sizeof START - 1) != 0 || line[length - 1] != '\n') {
            continue;
        }
        MER_GROW(arena, ends.list, ends.count);
        ends.count += read_end(line, &ends.list[ends.count], arena);
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
    bool    has_spent = false;
    for (int s = 0; s < MER_SPENT_COUNT; s++) {
        has_spent = has_spent || end->spent[s] != 0;
    }
    mer_runlog_pass_words(log, end->index);
    mer_line_begin(&json, "end", end->index, task);
    mer_json_int(&json, "search", end->search);
    mer_json_text(&json, "stopped", "time");
    mer_json_object(&json, "bound");
    mer_json_real(&json, "value", end->bound.value);
    mer_json_text(&json, "kind", end->bound.kind);
    mer_json_end_object(&json);
    if (has_spent) {
        mer_write_spent(&json, end->spent);
    }
    return mer_runlog_end_line(log, &json, error);
}
