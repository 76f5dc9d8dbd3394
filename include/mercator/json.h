/* JSON out, as a stream into memory; JSON in (our own logs) goes through cJSON. */
#ifndef MERCATOR_JSON_H
#define MERCATOR_JSON_H

#include "mercator/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct MerJson { /* zeroed = empty */
    char  *text;         /* 0-terminated */
    size_t size, capacity;
    bool   needs_comma;
} MerJson;

void mer_json_free(MerJson *json);
void mer_json_reset(MerJson *json); /* empty again, keeps the memory */

/* A key opens the value that follows it. Keys are NULL inside arrays and at the root. */
void mer_json_object(MerJson *json, const char *key);
void mer_json_array(MerJson *json, const char *key);
void mer_json_end_object(MerJson *json);
void mer_json_end_array(MerJson *json);
void mer_json_text(MerJson *json, const char *key, const char *text); /* NULL gives null */
void mer_json_real(MerJson *json, const char *key, double value);     /* NaN, infinity: null */
void mer_json_int(MerJson *json, const char *key, int64_t value);
void mer_json_bool(MerJson *json, const char *key, bool value);
void mer_json_null(MerJson *json, const char *key);
void mer_json_raw(MerJson *json, const char *key, const char *value); /* one complete JSON value */
void mer_json_hash(MerJson *json, const char *key, uint64_t hash);    /* 16 hex digits */

/* Whole arrays. */
void mer_json_texts(MerJson *json, const char *key, const char *const *texts, int count);
void mer_json_reals(MerJson *json, const char *key, const double *values, int count);
void mer_json_ints(MerJson *json, const char *key, const int *values, int count);

/* The text so far, kept in the arena; the writer is empty again and holds no memory. */
const char *mer_json_keep(MerJson *json, MerArena *arena);

#endif
