/* What plug-ins need besides JSON and YAML: whole files, hashes, and numbers as users write them. */
#ifndef MERCATOR_TEXT_H
#define MERCATOR_TEXT_H

#include "mercator/arena.h"
#include "mercator/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole file, followed by a 0 byte that does not count. Refuses directories, missing and empty
 * files and files above `limit` bytes with one clear line. */
MerStatus mer_file_read(const char *path, size_t limit, MerArena *arena, char **data, size_t *size,
                        MerError *error);

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
