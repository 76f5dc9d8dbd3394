/* JSON text read in place: members of objects and items of lists as slices, without building a tree. */
#include "base/json_slice.h"

#include <string.h>

enum { DEPTH_LIMIT = 512 };

const char *mer_slice_skip_space(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

/* The functions below give the first byte after a value, or NULL. */
static const char *skip_string(const char *text)
{
    for (text++; *text != '"'; text++) {
        if ((unsigned char)*text < ' ') {
            return NULL;
        }
        if (*text == '\\' && (unsigned char)*++text < ' ') {
            return NULL;
        }
    }
    return text + 1;
}

static const char *skip_scalar(const char *text)
{
    static const char *const words[] = {"null", "true", "false"};
    size_t                   length = strspn(text, "+-0123456789.eE");
    if (*text == '"') {
        return skip_string(text);
    }
    if (length > 0) {
        return text + length;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strncmp(text, words[i], strlen(words[i])) == 0) {
            return text + strlen(words[i]);
        }
    }
    return NULL;
}

/* Brackets must match; commas and colons are left to the parser that reads the value. */
static const char *skip_value(const char *text)
{
    char closing[DEPTH_LIMIT];
    int  depth = 0;
    do {
        text = mer_slice_skip_space(text);
        if (*text == '{' || *text == '[') {
            if (depth == DEPTH_LIMIT) {
                return NULL;
            }
            closing[depth++] = *text++ == '{' ? '}' : ']';
        } else if (depth > 0 && *text == closing[depth - 1]) {
            depth--;
            text++;
        } else if (depth > 0 && (*text == ',' || *text == ':')) {
            text++;
        } else {
            text = skip_scalar(text);
        }
    } while (text != NULL && depth > 0);
    return text;
}

bool mer_slice_member(const char **cursor, MerSlice *key, MerSlice *value, bool *is_valid)
{
    const char *text = mer_slice_skip_space(*cursor);
    const char *end;
    *is_valid = false;
    if (*text == '}') {
        *is_valid = true;
        *cursor = text + 1;
        return false;
    }
    if (*text != '{' && *text != ',') {
        return false;
    }
    bool is_first = *text == '{';
    text = mer_slice_skip_space(text + 1);
    if (is_first && *text == '}') {
        *is_valid = true;
        *cursor = text + 1;
        return false;
    }
    if (*text != '"' || (end = skip_string(text)) == NULL) {
        return false;
    }
    *key = (MerSlice){text, (size_t)(end - text)};
    text = mer_slice_skip_space(end);
    if (*text != ':') {
        return false;
    }
    text = mer_slice_skip_space(text + 1);
    if ((end = skip_value(text)) == NULL) {
        return false;
    }
    *value = (MerSlice){text, (size_t)(end - text)};
    *cursor = end;
    *is_valid = true;
    return true;
}

bool mer_slice_equals(MerSlice slice, const char *json)
{
    return slice.length == strlen(json) && memcmp(slice.text, json, slice.length) == 0;
}

bool mer_slice_item(const char **cursor, MerSlice *value)
{
    const char *text = mer_slice_skip_space(*cursor);
    if (*text != '[' && *text != ',') {
        return false;
    }
    text = mer_slice_skip_space(text + 1);
    const char *end = *text == ']' ? NULL : skip_value(text);
    if (end == NULL) {
        return false;
    }
    *value = (MerSlice){text, (size_t)(end - text)};
    *cursor = end;
    return true;
}
