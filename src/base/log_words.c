/* Short and long forms of the trial lines of a log. */
#include "base/log_words.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char NEEDS[] = "needs ";
enum { MOST_DIGITS = 15 };

static void add(MerWordsText *text, const char *bytes, size_t size)
{
    if (text->size + size + 1 > text->capacity) {
        text->capacity = 2 * (text->size + size + 1);
        text->text = mer_heap_resize(text->text, text->capacity, 1);
    }
    memcpy(text->text + text->size, bytes, size);
    text->size += size;
    text->text[text->size] = '\0';
}

static void add_text(MerWordsText *text, const char *words)
{
    add(text, words, strlen(words));
}

/* Is the text its own JSON form? */
static bool is_plain(const char *reason, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (reason[i] < ' ' || reason[i] > '~' || reason[i] == '"' || reason[i] == '\\') {
            return false;
        }
    }
    return true;
}

/* The digits after "needs ", if they are a number as JSON writes it. */
static MerSlice find_digits(const char *reason, size_t length)
{
    const char *end = reason + length;
    MerSlice    digits = {reason, 0};
    for (const char *at = reason; at + sizeof NEEDS - 1 < end; at++) {
        if (*at == NEEDS[0] && memcmp(at, NEEDS, sizeof NEEDS - 1) == 0) {
            digits.text = at + sizeof NEEDS - 1;
            break;
        }
    }
    const char *at = digits.text;
    while (digits.text != reason && at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    size_t count = (size_t)(at - digits.text);
    bool   is_number = count > 0 && count <= MOST_DIGITS && (count == 1 || *digits.text != '0');
    digits.length = is_number ? count : 0;
    return digits;
}

static int find(const MerLogWords *words, const char *reason, size_t length, MerSlice digits)
{
    size_t before = digits.length > 0 ? (size_t)(digits.text - reason) : length;
    size_t after = length - before - digits.length;
    for (int r = 0; r < words->reason_count; r++) {
        const MerReasonWords *known = &words->reasons[r];
        if ((size_t)known->before_length == before && (size_t)known->after_length == after &&
            known->has_number == (digits.length > 0) &&
            memcmp(known->before, reason, before) == 0 &&
            memcmp(known->after, reason + length - after, after) == 0) {
            return r;
        }
    }
    return -1;
}

int mer_words_find_reason(const MerLogWords *words, const char *reason, MerSlice *digits)
{
    size_t length = strlen(reason);
    *digits = find_digits(reason, length);
    return find(words, reason, length, *digits);
}

void mer_words_take_reason(MerLogWords *words, const char *reason, size_t length)
{
    MerSlice        digits = find_digits(reason, length);
    MerReasonWords *added = &words->reasons[words->reason_count];
    if (words->reason_count == MER_WORDS_REASONS || length >= sizeof added->before ||
        !is_plain(reason, length) || find(words, reason, length, digits) >= 0) {
        return;
    }
    size_t before = digits.length > 0 ? (size_t)(digits.text - reason) : length;
    size_t after = length - before - digits.length;
    *added = (MerReasonWords){
        .before_length = (int)before, .after_length = (int)after, .has_number = digits.length > 0};
    memcpy(added->before, reason, before);
    memcpy(added->after, reason + length - after, after);
    words->reason_count++;
}

/* A JSON text without its quotes as a short name; false: it does not fit. */
static bool take_name(MerSlice value, char name[32])
{
    if (value.length < 2 || value.length - 2 >= 32 || *value.text != '"') {
        return false;
    }
    memcpy(name, value.text + 1, value.length - 2);
    name[value.length - 2] = '\0';
    return true;
}

void mer_words_take_cost(MerLogWords *words, MerSlice cost)
{
    const char *cursor = cost.text;
    MerSlice    key, value;
    bool        is_valid;
    words->name_count = 0;
    words->is_renamed = true;
    while (mer_slice_member(&cursor, &key, &value, &is_valid)) {
        if (words->name_count == MER_WORDS_NAMES ||
            !take_name(key, words->names[words->name_count])) {
            words->name_count = 0;
            return;
        }
        words->name_count++;
    }
}

void mer_words_take_header(MerLogWords *words, const char *line)
{
    const char *cursor = line;
    MerSlice    key, value;
    bool        is_valid;
    words->objective[0] = '\0';
    words->direction = -1;
    while (mer_slice_member(&cursor, &key, &value, &is_valid)) {
        if (mer_slice_equals(key, "\"objective\"") && !take_name(value, words->objective)) {
            words->objective[0] = '\0'; /* a long expression */
        } else if (mer_slice_equals(key, "\"direction\"")) {
            words->direction = *value.text == '-' ? -1 : 1;
        }
    }
}

bool mer_words_full_reason(const MerLogWords *words, MerSlice list, MerWordsText *text)
{
    const char *cursor = list.text;
    MerSlice    number, digits = {0};
    if (!mer_slice_item(&cursor, &number)) {
        return false;
    }
    int  which = atoi(number.text);
    bool has_digits = mer_slice_item(&cursor, &digits);
    if (*number.text < '0' || *number.text > '9' || which >= words->reason_count || which < 0 ||
        words->reasons[which].has_number != has_digits) {
        return false;
    }
    const MerReasonWords *reason = &words->reasons[which];
    add(text, "\"", 1);
    add(text, reason->before, (size_t)reason->before_length);
    if (has_digits) {
        add(text, digits.text, digits.length);
    }
    add(text, reason->after, (size_t)reason->after_length);
    add(text, "\"", 1);
    return true;
}

/* The value that a score tells: a maximised one is negated in it. */
static void add_score(const MerLogWords *words, MerSlice score, MerWordsText *text)
{
    bool is_negative = *score.text == '-';
    if (words->direction < 0) {
        add(text, score.text, score.length);
    } else if (is_negative) {
        add(text, score.text + 1, score.length - 1);
    } else {
        add(text, "-", 1);
        add(text, score.text, score.length);
    }
}

bool mer_words_full_cost(const MerLogWords *words, MerSlice list, MerSlice score,
                         MerWordsText *text)
{
    const char *cursor = list.text;
    MerSlice    value;
    for (int n = 0; n < words->name_count; n++) {
        bool is_told = strcmp(words->names[n], words->objective) == 0;
        add_text(text, n == 0 ? "{\"" : ",\"");
        add_text(text, words->names[n]);
        add_text(text, "\":");
        if (is_told && score.text) {
            add_score(words, score, text);
        } else if (!is_told && mer_slice_item(&cursor, &value)) {
            add(text, value.text, value.length);
        } else {
            return false;
        }
    }
    add_text(text, "}");
    return words->name_count > 0 && !mer_slice_item(&cursor, &value);
}

static bool add_point(MerSlice value, const int *choices, int knobs, MerWordsText *text)
{
    int *point = mer_heap_zeroed((size_t)knobs + 1, sizeof *point);
    bool is_whole = mer_point_read(value.text + 1, value.length - 2, choices, knobs, point);
    for (int k = 0; is_whole && k < knobs; k++) {
        char number[16], *end = number + sizeof number, *first = end;
        for (int rest = point[k]; rest > 0 || first == end; rest /= 10) { /* printf is slower */
            *--first = (char)('0' + rest % 10);
        }
        *--first = k == 0 ? '[' : ',';
        add(text, first, (size_t)(end - first));
    }
    add_text(text, knobs == 0 ? "[]" : "]");
    free(point);
    return is_whole;
}

/* Adds one member in full, and takes its words. */
static bool add_member(MerLogWords *words, MerSlice key, MerSlice value, MerSlice score,
                       const int *choices, int knobs, MerWordsText *text)
{
    bool is_reason = mer_slice_equals(key, "\"reason\"");
    bool is_cost = mer_slice_equals(key, "\"cost\"");
    if (is_reason && !score.text) {
        add_text(text, "\"score\":null,");
    }
    add(text, key.text, key.length);
    add_text(text, ":");
    if (is_reason && *value.text == '[') {
        return mer_words_full_reason(words, value, text);
    }
    if (is_cost && *value.text == '[') {
        return mer_words_full_cost(words, value, score, text);
    }
    if (choices && mer_slice_equals(key, "\"point\"") && *value.text == '"') {
        return add_point(value, choices, knobs, text);
    }
    if (is_reason && *value.text == '"') {
        mer_words_take_reason(words, value.text + 1, value.length - 2);
    } else if (is_cost) {
        mer_words_take_cost(words, value);
    }
    add(text, value.text, value.length);
    return true;
}

const char *mer_words_full_line(MerLogWords *words, const char *line, const int *choices, int knobs,
                                MerWordsText *text)
{
    static const char START[] = "{\"type\":\"trial\"";
    const char       *cursor = line;
    MerSlice          key, value, score = {0};
    bool              is_valid;
    if (words->is_long || strncmp(line, START, sizeof START - 1) != 0) {
        return line;
    }
    text->size = 0;
    while (mer_slice_member(&cursor, &key, &value, &is_valid)) {
        add_text(text, text->size == 0 ? "{" : ",");
        score = mer_slice_equals(key, "\"score\"") ? value : score;
        if (!add_member(words, key, value, score, choices, knobs, text)) {
            return NULL;
        }
    }
    add_text(text, "}");
    return is_valid ? text->text : NULL;
}

static const char digits_64[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_";
enum { BASE = 64, BITS = 6 };

/* Digits of a knob that has its own. */
static int width_of(int choices)
{
    int width = 1;
    while (width < 6 && (int64_t)1 << (BITS * width) < choices) {
        width++;
    }
    return width;
}

int mer_point_write(const int *point, const int *choices, int knobs, char *text)
{
    char *at = text;
    for (int k = 0; k < knobs;) {
        int value = point[k], range = choices[k++];
        if (range > BASE) {
            for (int d = width_of(range) - 1; d >= 0; d--) {
                *at++ = digits_64[value >> (BITS * d) & (BASE - 1)];
            }
            continue;
        }
        for (; k < knobs && range * (int64_t)choices[k] <= BASE; k++) {
            range *= choices[k];
            value = value * choices[k] + point[k];
        }
        *at++ = digits_64[value];
    }
    return (int)(at - text);
}

int mer_point_length(const int *choices, int knobs)
{
    int length = 0;
    for (int k = 0; k < knobs;) {
        int range = choices[k++];
        length += range > BASE ? width_of(range) : 1;
        for (; range <= BASE && k < knobs && range * (int64_t)choices[k] <= BASE; k++) {
            range *= choices[k];
        }
    }
    return length;
}

static int digit_of(char letter)
{
    const char *at = letter ? strchr(digits_64, letter) : NULL;
    return at ? (int)(at - digits_64) : -1;
}

bool mer_point_read(const char *text, size_t length, const int *choices, int knobs, int *point)
{
    const char *end = text + length;
    for (int k = 0; k < knobs;) {
        int     first = k, range = choices[k++];
        int64_t value = 0;
        for (int d = range > BASE ? width_of(range) : 1; d > 0; d--) {
            int digit = text < end ? digit_of(*text++) : -1;
            if (digit < 0) {
                return false;
            }
            value = value << BITS | digit;
        }
        for (; range <= BASE && k < knobs && range * (int64_t)choices[k] <= BASE; k++) {
            range *= choices[k];
        }
        for (int at = k - 1; at > first; at--) {
            point[at] = (int)(value % choices[at]);
            value /= choices[at];
        }
        if (value >= choices[first]) {
            return false;
        }
        point[first] = (int)value;
    }
    return text == end;
}
