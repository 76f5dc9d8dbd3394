/* Lists of words in one text, separated by spaces. */
#ifndef MERCATOR_BASE_WORD_LIST_H
#define MERCATOR_BASE_WORD_LIST_H

#include <stdbool.h>
#include <string.h>

static inline bool mer_word_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; *at != '\0'; at += strspn(at, " ")) {
        size_t own = strcspn(at, " ");
        if (own == length && strncmp(at, word, length) == 0) {
            return true;
        }
        at += own;
    }
    return false;
}

#endif
