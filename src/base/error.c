/* Status names and the one-line error message. */
#include "mercator/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A message too long for its place ends in "..." and never inside a UTF-8 sequence. */
static void shorten(char *text, size_t size)
{
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80) {
        end--;
    }
    memcpy(text + end, "...", 4);
}

MerStatus mer_error_set(MerError *error, MerStatus status, const char *format, ...)
{
    if (error == NULL) {
        return status;
    }
    /* Formatted aside, because the arguments may point into the old message. */
    char    text[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text[0] = '\0';
    } else if ((size_t)length >= sizeof text) {
        shorten(text, sizeof text);
    }
    /* One line whatever the input held. */
    for (char *c = text; *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            *c = ' ';
        }
    }
    memcpy(error->message, text, strlen(text) + 1);
    error->status = status;
    return status;
}

const char *mer_status_name(MerStatus status)
{
    static const char *const names[] = {
#define X(id, text) text,
        MER_STATUS_MAP(X)
#undef X
    };
    size_t index = (size_t)status;
    return index < sizeof names / sizeof names[0] ? names[index] : "unknown status";
}
