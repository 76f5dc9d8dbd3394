/* What several tests share: cmocka with what it needs, and checks of messages. Reference data in
 * ../shared is found by shared.h. */
#ifndef MERCATOR_TESTS_SUPPORT_H
#define MERCATOR_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Fails with both texts when `part` is not in `text`. */
static inline void mer_test_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("expected \"%s\" in \"%s\"", part, text);
    }
}

#endif
