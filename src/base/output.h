/* A file that appears whole or not at all: written beside its place, then renamed. */
#ifndef MERCATOR_BASE_OUTPUT_H
#define MERCATOR_BASE_OUTPUT_H

#include "mercator/error.h"

#include <stdio.h>

typedef struct MerOutput {
    FILE       *file;
    const char *path; /* kept until the end */
    char       *part; /* the name while it is being written */
} MerOutput;

MerStatus mer_output_open(MerOutput *output, const char *path, MerError *error);
/* Checks that every byte went to disk. On failure nothing is left, and an older file stays. */
MerStatus mer_output_close(MerOutput *output, MerError *error);
void      mer_output_discard(MerOutput *output);

#endif
