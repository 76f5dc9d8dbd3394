/* A growing list of text lines. */
#include "run/log/lines.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void mer_lines_add(MerLines *lines, const char *line, size_t length)
{
    size_t need = lines->size + length + 1;
    if (need > lines->capacity) {
        lines->capacity = need * 2;
        lines->text = mer_heap_resize(lines->text, lines->capacity, 1);
    }
    memcpy(lines->text + lines->size, line, length);
    lines->text[need - 1] = '\0';
    lines->size = need;
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
