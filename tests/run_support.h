/* Small runs for tests: a layer as a graph, temporary folders, files as text. */
#ifndef MERCATOR_TESTS_RUN_SUPPORT_H
#define MERCATOR_TESTS_RUN_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mercator/registry.h"
#include "mercator/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline MerGraph *one_layer_graph(int k, int c, int y, int x, int r, int s, MerArena *arena)
{
    MerGraph *graph = mer_graph_new("layer", arena);
    MerOp op = mer_op_make("layer", "test", MER_OP_CONV);
    op.dims[MER_DIM_K] = k;
    op.dims[MER_DIM_C] = c;
    op.dims[MER_DIM_Y] = y;
    op.dims[MER_DIM_X] = x;
    op.dims[MER_DIM_R] = r;
    op.dims[MER_DIM_S] = s;
    mer_graph_add_op(graph, &op);
    MerError error = {0};
    if (mer_graph_finish(graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

static inline const MerPlatform *platform_named(const char *name, MerArena *arena)
{
    const MerPlatform *platform = NULL;
    MerError error = {0};
    if (mer_platform_read(name, arena, &platform, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return platform;
}

static inline const MerPlatform *platform_from(const char *text, MerArena *arena)
{
    const MerPlatform *platform = NULL;
    MerError error = {0};
    if (mer_platform_parse("test.yaml", text, strlen(text), arena, &platform, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return platform;
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

static inline void write_bytes(const char *path, const char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static inline void cut_file(const char *folder, const char *name, long size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(truncate(path, size), 0);
}

static inline MerRunResult run_or_fail(const MerRunSpec *spec, const MerRunHooks *hooks, MerArena *arena)
{
    MerRunResult result;
    MerError error = {0};
    if (mer_run(spec, hooks, arena, &result, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return result;
}

#endif
