/* A file that appears whole or not at all: written beside its place, then renamed. */
#ifndef MERCATOR_BASE_OUTPUT_H
#define MERCATOR_BASE_OUTPUT_H

#include "mercator/error.h"

#include <stdio.h>

typedef struct MerOutput {
    FILE                 *file;
    const char           *path; /* kept until the end */
    struct MerOutputPart *part;
} MerOutput;

MerStatus mer_output_open(MerOutput *output, const char *path, MerError *error);
/* Checks that every byte went to disk. On failure nothing is left, an older file stays, and errno says why. */
MerStatus mer_output_close(MerOutput *output, MerError *error);
void      mer_output_discard(MerOutput *output);
/* One or the other: closes it if what was to be written went well (`status`), else discards it and gives `status`. */
MerStatus mer_output_end(MerOutput *output, MerStatus status, MerError *error);
/* Takes away what is not yet in its place: of all threads, for a program that must end at once. */
void mer_output_discard_all(void);

#endif
