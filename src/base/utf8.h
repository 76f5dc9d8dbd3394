/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. */
#ifndef MERCATOR_BASE_UTF8_H
#define MERCATOR_BASE_UTF8_H

#include <stddef.h>

/* Bytes of the sequence that starts `text` (1 .. 4), or 0 if it is not valid. size >= 1. */
int mer_utf8_length(const char *text, size_t size);
/* Bytes of the mark at the start of a text that some programs write (EF BB BF): 3, or 0 without one. */
int mer_utf8_mark(const char *text, size_t size);

#endif
