/* Log lines gathered before their turn. */
#ifndef MERCATOR_RUN_LOG_LINES_H
#define MERCATOR_RUN_LOG_LINES_H

#include <stddef.h>

typedef struct MerLines { /* zeroed = empty; lines are 0-terminated, one after the other */
    char  *text;
    size_t size, capacity;
} MerLines;

void mer_lines_add(MerLines *lines, const char *line, size_t length);
void mer_lines_clear(MerLines *lines); /* keeps the memory */
void mer_lines_free(MerLines *lines);
/* The line after `line` (NULL: the first), or NULL. */
const char *mer_lines_next(const MerLines *lines, const char *line);

#endif
