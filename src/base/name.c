/* Names as users type them: equality that forgives '-' for '_', and the nearest of a list. */
#include "mercator/option.h"

#include <string.h>

static char folded(char c)
{
    return c == '-' ? '_' : c;
}

bool mer_name_equal(const char *a, const char *b)
{
    while (*a != '\0' && folded(*a) == folded(*b)) {
        a++;
        b++;
    }
    return folded(*a) == folded(*b);
}

enum { LONGEST_NAME = 64, LEAST_PREFIX = 3 };

static int smaller(int a, int b)
{
    return a < b ? a : b;
}

/* Levenshtein's distance with a swap of neighbours counted once. Both lengths <= LONGEST_NAME. */
static int edit_distance(const char *a, int a_length, const char *b, int b_length)
{
    int rows[3][LONGEST_NAME + 1];
    for (int j = 0; j <= b_length; j++) {
        rows[0][j] = j;
    }
    for (int i = 1; i <= a_length; i++) {
        int       *row = rows[i % 3];
        const int *above = rows[(i + 2) % 3];
        const int *above_that = rows[(i + 1) % 3];
        row[0] = i;
        for (int j = 1; j <= b_length; j++) {
            bool same = folded(a[i - 1]) == folded(b[j - 1]);
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1, above[j - 1] + !same);
            if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                folded(a[i - 2]) == folded(b[j - 1])) {
                row[j] = smaller(row[j], above_that[j - 2] + 1);
            }
        }
    }
    return rows[a_length % 3][b_length];
}

static bool begins_with(const char *name, const char *word)
{
    while (*word != '\0' && folded(*word) == folded(*name)) {
        word++;
        name++;
    }
    return *word == '\0';
}

const char *mer_name_nearest(const char *word, const char *const *names, int count)
{
    const char *nearest = NULL;
    size_t      length = strlen(word);
    if (length > LONGEST_NAME) {
        return NULL;
    }
    int best = (int)length / 3 > 2 ? (int)length / 3 : 2;
    /* A word replaced letter by letter is another word. */
    best = smaller(best, (int)length - 1);
    for (int i = 0; i < count; i++) {
        size_t name_length = strlen(names[i]);
        if (name_length > LONGEST_NAME) {
            continue;
        }
        int distance = edit_distance(word, (int)length, names[i], (int)name_length);
        if (distance < best || (distance == best && nearest == NULL)) {
            best = distance;
            nearest = names[i];
        }
    }
    for (int i = 0; !nearest && length >= LEAST_PREFIX && i < count; i++) {
        nearest = begins_with(names[i], word) ? names[i] : NULL;
    }
    return nearest;
}
