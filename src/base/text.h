/* Files as text, hashes, and numbers as users write them. */
#ifndef MERCATOR_BASE_TEXT_H
#define MERCATOR_BASE_TEXT_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole file, followed by a 0 byte that does not count. Refuses directories, missing and empty
 * files and files above `limit` bytes with one clear line. */
MerStatus mer_file_read(const char *path, size_t limit, MerArena *arena, char **data, size_t *size,
                        MerError *error);

/* Writes through a temporary file, so that it is there whole or not at all. */
MerStatus mer_file_write(const char *path, const void *data, size_t size, MerError *error);
/* Makes a folder and those above it. */
MerStatus mer_directory_make(const char *path, MerArena *arena, MerError *error);

/* The first line without its end, NULL if there is none. */
char *mer_file_first_line(const char *path, MerArena *arena);

/* Is it a pipe, a terminal or the like, which can be read only once and must not be looked into before? */
bool mer_file_is_stream(const char *path);

/* A shipped file: in MERCATOR_DATA, beside the installed program, in the source tree, or installed. Gives its path
 * (`kind` is "platforms" or "models"), or NULL. */
const char *mer_data_path(const char *kind, const char *name, const char *ending, MerArena *arena);
/* Names (without ending) of all shipped files of a kind, sorted. */
int mer_data_list(const char *kind, const char *ending, MerArena *arena, const char ***names);

/* 64-bit FNV-1a, continued from `hash` (start with MER_HASH_START). */
#define MER_HASH_START UINT64_C(0xcbf29ce484222325)
uint64_t mer_hash_bytes(uint64_t hash, const void *data, size_t size);
uint64_t mer_hash_text(uint64_t hash, const char *text); /* the terminating 0 counts; NULL = "" */
uint64_t mer_hash_int(uint64_t hash, int64_t value);
uint64_t mer_hash_real(uint64_t hash, double value);

/* "16Gi", "100M", "1e9", "0.5k": a plain number with an optional k M G T Ki Mi Gi Ti. */
bool mer_parse_real(const char *text, double *value);
bool mer_parse_int(const char *text, int64_t *value); /* the same, and a whole number */

/* The fewest digits that read back to the same bits. NaN and infinity: "null". Returns the length. */
int mer_print_real(char buffer[32], double value);

#endif
