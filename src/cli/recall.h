/* What a stopped run was asked for: `mercator VERB --resume DIR` alone goes on with it. */
#ifndef MERCATOR_CLI_RECALL_H
#define MERCATOR_CLI_RECALL_H

#include "cli/cli.h"

typedef struct MerRecalled {
    int    count;
    char **arguments;
    /* The run directory as the program now finds it; NULL: as it was given. */
    const char *run;
    const char *warning; /* NULL: none */
} MerRecalled;

/* Reads the command of the run in `run` (or of the first of several runs there) from clock.jsonl, and
 * goes to the directory it was started in, to which its relative paths belong. */
MerStatus mer_cli_recall(const char *run, MerArena *arena, MerRecalled *recalled, MerError *error);

#endif
