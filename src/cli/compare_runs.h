/* compare with directories of runs instead of an experiment. */
#ifndef MERCATOR_CLI_COMPARE_RUNS_H
#define MERCATOR_CLI_COMPARE_RUNS_H

#include "cli/cli.h"
#include "report/studies/study.h"

bool mer_cli_is_study(int count, char **arguments); /* is the first argument a directory? */
int  mer_cli_study(const MerVerb *verb, int count, char **arguments, MerArena *arena);
void mer_cli_study_help(void);
/* Options of a plug-in by kind and name, for mer_study_read. */
MerStudyPlugin mer_cli_study_plugin(const char *kind, const char *name);

#endif
