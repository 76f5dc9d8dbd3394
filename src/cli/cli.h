/* The program: one file per verb, and what they share. Only this folder prints errors and chooses
 * exit codes. */
#ifndef MERCATOR_CLI_CLI_H
#define MERCATOR_CLI_CLI_H

#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/run.h"

enum { MER_EXIT_DONE = 0, MER_EXIT_BAD = 1, MER_EXIT_USAGE = 2, MER_EXIT_INTERRUPTED = 130 };

typedef struct MerVerb {
    const char *name, *arguments, *summary;
    bool        takes_problem; /* by --problem; the verb finds it before it parses the rest */
    int (*run)(const struct MerVerb *verb, int count, char **arguments, MerArena *arena);
} MerVerb;

/* one verb per problem */
int mer_cli_search(const MerVerb *verb, int count, char **arguments, MerArena *arena);
int mer_cli_compare(const MerVerb *verb, int count, char **arguments, MerArena *arena);
int mer_cli_evaluate(const MerVerb *verb, int count, char **arguments, MerArena *arena);
int mer_cli_calibrate(const MerVerb *verb, int count, char **arguments, MerArena *arena);
int mer_cli_inspect(const MerVerb *verb, int count, char **arguments, MerArena *arena);
int mer_cli_list(const MerVerb *verb, int count, char **arguments, MerArena *arena);
int mer_cli_report(const MerVerb *verb, int count, char **arguments, MerArena *arena);
int mer_cli_demo(const MerVerb *verb, int count, char **arguments, MerArena *arena);

/* `mercator: MESSAGE` on stderr; returns the exit code for the error's status. */
int mer_cli_fail(const MerError *error);
/* Wrong usage: the message and how to get help; returns 2. */
int mer_cli_usage(const MerVerb *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* `--name value` or `--name=value` at arguments[*at]: gives the value and moves on; NULL if it is missing. */
const char *mer_cli_value(int count, char **arguments, int *at);
/* `--help` or `-h`, `--output` or `-o`. */
bool mer_cli_is_help(const char *argument);
bool mer_cli_is_output(const char *argument);
/* Is arguments[at] the flag `--name` (or `--name=...`)? Hyphen and underscore are equal. */
bool mer_cli_is(const char *argument, const char *name);

/* A flag that this problem declares; NULL: it has none of that name. */
const MerFlag *mer_cli_flag_of(const MerProblemClass *problem, const char *argument);

/* Ctrl-C sets a flag; a second one ends the program at once. */
void mer_cli_catch_interrupts(void);
bool mer_cli_is_interrupted(void *state);

#endif
