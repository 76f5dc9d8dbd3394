/* A streaming JSON writer (RFC 8259). Whatever bytes come in, valid JSON goes out. */
#include "mercator/json.h"

#include "base/memory.h"
#include "base/utf8.h"
#include "mercator/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mer_json_free(MerJson *json)
{
    free(json->text);
    *json = (MerJson){0};
}

void mer_json_reset(MerJson *json)
{
    json->size = 0;
    json->needs_comma = false;
    if (json->text != NULL) {
        json->text[0] = '\0';
    }
}

static void append(MerJson *json, const char *bytes, size_t size)
{
    if (json->capacity - json->size <= size) {
        size_t capacity = json->capacity < 256 ? 256 : json->capacity;
        while (capacity - json->size <= size) {
            if (__builtin_mul_overflow(capacity, 2, &capacity)) {
                mer_out_of_memory(size);
            }
        }
        json->text = mer_heap_resize(json->text, capacity, 1);
        json->capacity = capacity;
    }
    memcpy(json->text + json->size, bytes, size);
    json->size += size;
    json->text[json->size] = '\0';
}

static void append_escape(MerJson *json, unsigned char c)
{
    static const char letters[] = "\bb\tt\nn\ff\rr\"\"\\\\";
    char              escape[8];
    for (const char *pair = letters; *pair != '\0'; pair += 2) {
        if ((unsigned char)pair[0] == c) {
            escape[0] = '\\';
            escape[1] = pair[1];
            append(json, escape, 2);
            return;
        }
    }
    snprintf(escape, sizeof escape, "\\u%04x", c);
    append(json, escape, 6);
}

static void append_quoted(MerJson *json, const char *text)
{
    size_t size = strlen(text), plain = 0, i = 0;
    append(json, "\"", 1);
    while (i < size) {
        unsigned char c = (unsigned char)text[i];
        int           length = mer_utf8_length(text + i, size - i);
        if (length > 0 && c >= 0x20 && c != '"' && c != '\\') {
            i += (size_t)length;
            continue;
        }
        append(json, text + plain, i - plain);
        if (length == 0) {
            append(json, "\xef\xbf\xbd", 3); /* U+FFFD */
        } else {
            append_escape(json, c);
        }
        plain = ++i;
    }
    append(json, text + plain, size - plain);
    append(json, "\"", 1);
}

/* The comma and the key that come before a value. */
static void open_value(MerJson *json, const char *key)
{
    if (json->needs_comma) {
        append(json, ",", 1);
    }
    if (key != NULL) {
        append_quoted(json, key);
        append(json, ":", 1);
    }
    json->needs_comma = true;
}

static void bracket(MerJson *json, const char *key, const char *opening)
{
    open_value(json, key);
    append(json, opening, 1);
    json->needs_comma = false;
}

void mer_json_object(MerJson *json, const char *key)
{
    bracket(json, key, "{");
}

void mer_json_array(MerJson *json, const char *key)
{
    bracket(json, key, "[");
}

void mer_json_end_object(MerJson *json)
{
    append(json, "}", 1);
    json->needs_comma = true;
}

void mer_json_end_array(MerJson *json)
{
    append(json, "]", 1);
    json->needs_comma = true;
}

void mer_json_text(MerJson *json, const char *key, const char *text)
{
    if (text == NULL) {
        mer_json_null(json, key);
        return;
    }
    open_value(json, key);
    append_quoted(json, text);
}

void mer_json_real(MerJson *json, const char *key, double value)
{
    char buffer[32];
    open_value(json, key);
    append(json, buffer, (size_t)mer_print_real(buffer, value));
}

void mer_json_int(MerJson *json, const char *key, int64_t value)
{
    char buffer[32];
    int  length = snprintf(buffer, sizeof buffer, "%" PRId64, value);
    open_value(json, key);
    append(json, buffer, (size_t)length);
}

void mer_json_bool(MerJson *json, const char *key, bool value)
{
    mer_json_raw(json, key, value ? "true" : "false");
}

void mer_json_null(MerJson *json, const char *key)
{
    mer_json_raw(json, key, "null");
}

void mer_json_raw(MerJson *json, const char *key, const char *value)
{
    open_value(json, key);
    append(json, value, strlen(value));
}

void mer_json_hash(MerJson *json, const char *key, uint64_t hash)
{
    char buffer[24];
    snprintf(buffer, sizeof buffer, "\"%016" PRIx64 "\"", hash);
    mer_json_raw(json, key, buffer);
}

void mer_json_texts(MerJson *json, const char *key, const char *const *texts, int count)
{
    mer_json_array(json, key);
    for (int i = 0; i < count; i++) {
        mer_json_text(json, NULL, texts[i]);
    }
    mer_json_end_array(json);
}

void mer_json_reals(MerJson *json, const char *key, const double *values, int count)
{
    mer_json_array(json, key);
    for (int i = 0; i < count; i++) {
        mer_json_real(json, NULL, values[i]);
    }
    mer_json_end_array(json);
}

void mer_json_ints(MerJson *json, const char *key, const int *values, int count)
{
    mer_json_array(json, key);
    for (int i = 0; i < count; i++) {
        mer_json_int(json, NULL, values[i]);
    }
    mer_json_end_array(json);
}

const char *mer_json_keep(MerJson *json, MerArena *arena)
{
    const char *text = mer_arena_text(arena, json->text);
    mer_json_free(json);
    return text;
}
