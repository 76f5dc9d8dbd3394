/* Lines of a log, and a growing list of them. */
#include "run/log/lines.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void mer_line_begin(MerJson *json, const char *type, int64_t index, int task)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "type", type);
    mer_json_int(json, "index", index);
    mer_json_int(json, "task", task);
}

void mer_line_note(MerJson *json, int64_t index, int task, const char *source, const char *name,
                   const char *value)
{
    mer_line_begin(json, "note", index, task);
    mer_json_text(json, "source", source);
    mer_json_text(json, "name", name);
    mer_json_raw(json, "value", value);
}

void mer_line_epoch(MerJson *json, int64_t index, int task, const char *phase, int epoch,
                    int epochs, const char *values)
{
    mer_line_begin(json, "epoch", index, task);
    mer_json_text(json, "phase", phase);
    mer_json_int(json, "epoch", epoch);
    mer_json_int(json, "epochs", epochs);
    mer_json_raw(json, "values", values);
}

void mer_lines_append(MerLines *lines, const char *text, size_t length, char end)
{
    size_t need = lines->size + length + 1;
    if (need > lines->capacity) {
        lines->capacity = need * 2;
        lines->text = mer_heap_resize(lines->text, lines->capacity, 1);
    }
    memcpy(lines->text + lines->size, text, length);
    lines->text[need - 1] = end;
    lines->size = need;
}

void mer_lines_add(MerLines *lines, MerJson *json)
{
    mer_json_end_object(json);
    mer_lines_append(lines, json->text, json->size, '\0');
    mer_json_free(json);
}

void mer_lines_clear(MerLines *lines)
{
    lines->size = 0;
}

void mer_lines_free(MerLines *lines)
{
    free(lines->text);
    *lines = (MerLines){0};
}

const char *mer_lines_next(const MerLines *lines, const char *line)
{
    const char *next = line ? line + strlen(line) + 1 : lines->text;
    return next && next < lines->text + lines->size ? next : NULL;
}
