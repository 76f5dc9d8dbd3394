/* Reading a text through one importer, for tests of importers. */
#ifndef MERCATOR_TESTS_IMPORTER_H
#define MERCATOR_TESTS_IMPORTER_H

#include "mercator/import.h"

#include <stdio.h>
#include <string.h>

static inline MerImportFile text_file(const char *path, const char *text)
{
    return (MerImportFile){.path = path, .name = "toy", .data = text, .size = strlen(text)};
}

/* The graph, or a failed test with the message. */
static inline MerGraph *must_import(const MerImporterClass *importer, const MerImportFile *file,
                                    const char *select, MerArena *arena)
{
    MerImportOptions options = {.select = select};
    MerGraph        *graph = NULL;
    MerError         error = {0};
    assert_true(importer->probe(file));
    if (importer->read(file, &options, arena, &graph, &error) != MER_OK) {
        fail_msg("%s", error.message);
    }
    return graph;
}

/* "conv K64 C3 Y112 X112 R7 S7 s2,2", dims of 1 left out. */
static inline const char *describe(const MerOp *op, char text[200])
{
    int length = snprintf(text, 200, "%s", mer_op_kind_name(op->kind));
    for (int i = 0; i < MER_DIM_COUNT; i++) {
        if (op->dims[i] != 1) {
            length += snprintf(text + length, 200 - (size_t)length, " %c%lld", MER_DIM_LETTERS[i],
                               (long long)op->dims[i]);
        }
    }
    if (op->stride[0] != 1 || op->stride[1] != 1) {
        length +=
            snprintf(text + length, 200 - (size_t)length, " s%d,%d", op->stride[0], op->stride[1]);
    }
    if (op->dilation[0] != 1 || op->dilation[1] != 1) {
        snprintf(text + length, 200 - (size_t)length, " d%d,%d", op->dilation[0], op->dilation[1]);
    }
    return text;
}

#endif
