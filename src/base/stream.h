/* What is kept in a file of the machine's own bytes: one function says what, and both writes and
 * reads it. Reading checks ranges; after the first failure nothing is trusted any more. */
#ifndef MERCATOR_BASE_STREAM_H
#define MERCATOR_BASE_STREAM_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct MerStream {
    FILE *file;
    bool  is_saving, is_broken;
} MerStream;

void mer_stream_bytes(MerStream *stream, void *memory, size_t size, int64_t count);
/* The number that was kept, or the one given when saving; `low` when it cannot be read or lies
 * outside low .. high. */
int64_t mer_stream_int(MerStream *stream, int64_t value, int64_t low, int64_t high);
double  mer_stream_real(MerStream *stream, double value);
/* Flags, one byte each; any other byte than 0 and 1 is broken. */
void mer_stream_flags(MerStream *stream, bool *flags, int64_t count);
/* Whether memory that was read holds a flag: any other must not be looked at as one. */
bool mer_is_flag(const bool *memory);
/* Before memory is taken for what the file is said to hold: broken where it is shorter than that. */
void mer_stream_expect(MerStream *stream, size_t size, int64_t count);
/* The same for a text, which may be NULL. */
const char *mer_stream_text(MerStream *stream, const char *text, MerArena *arena);
/* MER_OK, or MER_IO when saving and MER_INVALID when loading: `what` is cut off or broken. */
MerStatus mer_stream_status(const MerStream *stream, const char *what, MerError *error);

#endif
