/* Log lines: how they begin, and those that are gathered before their turn. */
#ifndef MERCATOR_RUN_LOG_LINES_H
#define MERCATOR_RUN_LOG_LINES_H

#include "mercator/json.h"

/* Opens a line of a trial, or of what happened before it. */
void mer_line_begin(MerJson *json, const char *type, int64_t index, int task);
/* Whole lines but for their end, so that more can follow. */
void mer_line_note(MerJson *json, int64_t index, int task, const char *source, const char *name,
                   const char *value);
void mer_line_epoch(MerJson *json, int64_t index, int task, const char *phase, int epoch,
                    int epochs, const char *values);

typedef struct MerLines { /* zeroed = empty; lines are 0-terminated, one after the other */
    char  *text;
    size_t size, capacity;
} MerLines;

void mer_lines_append(MerLines *lines, const char *text, size_t length, char end);
void mer_lines_add(MerLines *lines, MerJson *json); /* ends the line, and frees the writer */
void mer_lines_clear(MerLines *lines);              /* keeps the memory */
void mer_lines_free(MerLines *lines);
/* The line after `line` (NULL: the first), or NULL. */
const char *mer_lines_next(const MerLines *lines, const char *line);

#endif
