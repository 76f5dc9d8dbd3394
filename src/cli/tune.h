/* `--tune OPTIMIZER` of the searching verbs. */
#ifndef MERCATOR_CLI_TUNE_H
#define MERCATOR_CLI_TUNE_H

#include "cli/cli.h"

bool mer_cli_is_tune(int count, char **arguments);
int  mer_cli_tune(const MerVerb *verb, int count, char **arguments, MerArena *arena);
void mer_cli_tune_help(void);

#endif
