/* What several tests share: cmocka with what it needs, checks of messages, files and folders. Every test
 * starts in an empty folder of its own. TEST_DATA("x") is tests/data/x, figures and inputs of our own; data of
 * others in ../shared is found by shared.h. */
#ifndef MERCATOR_TESTS_SUPPORT_H
#define MERCATOR_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mercator/arena.h"

#define TEST_DATA(name) MERCATOR_SOURCE_DIR "/tests/data/" name

/* Fails with both texts when `part` is not in `text`. */
static inline void mer_test_contains(const char *text, const char *part)
{
    if (strstr(text, part) == NULL) {
        fail_msg("expected \"%s\" in \"%s\"", part, text);
    }
}

static inline const char *new_folder(MerArena *arena)
{
    char *name = mer_arena_text(arena, "/tmp/mercator-test-XXXXXX");
    assert_non_null(mkdtemp(name));
    return name;
}

static inline void remove_folder(const char *folder)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* A whole file, followed by a 0 byte that does not count. */
static inline char *file_bytes(const char *folder, const char *name, size_t *size, MerArena *arena)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail_msg("cannot read %s", path);
    }
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = mer_arena_alloc(arena, *size + 1);
    assert_int_equal(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

static inline char *file_text(const char *folder, const char *name, MerArena *arena)
{
    size_t size;
    return file_bytes(folder, name, &size, arena);
}

static inline void write_bytes(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file) {
        fail_msg("cannot write %s", path);
    }
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void write_text(const char *path, const char *text)
{
    write_bytes(path, text, strlen(text));
}

static inline void cut_file(const char *folder, const char *name, long size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(truncate(path, size), 0);
}

/* Set-up and tear-down of tests whose state is an arena. */
static inline int open_arena(void **state)
{
    *state = mer_arena_new();
    return 0;
}

static inline int close_arena(void **state)
{
    mer_arena_free(*state);
    return 0;
}

#endif
