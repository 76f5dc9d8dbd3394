/* The program: one file per verb, and what they share. Only this folder prints errors and chooses
 * exit codes. */
#ifndef MERCATOR_CLI_CLI_H
#define MERCATOR_CLI_CLI_H

#include "base/terminal.h"
#include "mercator/arena.h"
#include "mercator/error.h"
#include "mercator/export.h"
#include "mercator/run.h"

#include <stdio.h>

enum { MER_EXIT_DONE = 0, MER_EXIT_BAD = 1, MER_EXIT_USAGE = 2, MER_EXIT_INTERRUPTED = 130 };

typedef struct MerVerb {
    const char *name, *arguments, *summary;
    bool        takes_problem; /* by --problem; the verb finds it before it parses the rest */
    int (*run)(const struct MerVerb *verb, int count, char **arguments, MerArena *arena);
    const char
        *flags; /* for completion, separated by blanks; with takes_problem those of a search, too */
} MerVerb;

extern const MerVerb mer_cli_verbs[]; /* besides those of the problems; a NULL name ends them */

/* What a verb does with its arguments; the first is the verb of every problem. */
typedef int MerVerbRun(const MerVerb *verb, int count, char **arguments, MerArena *arena);
MerVerbRun  mer_cli_search, mer_cli_compare, mer_cli_evaluate, mer_cli_calibrate, mer_cli_inspect,
    mer_cli_list, mer_cli_report, mer_cli_demo, mer_cli_tune, mer_cli_completion;

/* The label in its style and the text on stderr, in lines that fit a terminal. */
void mer_cli_say(MerStyle style, const char *label, const char *text);
/* `mercator: MESSAGE` on stderr; returns the exit code for the error's status. */
int mer_cli_fail(const MerError *error);
/* Wrong usage: the message and how to get help; returns 2. */
int mer_cli_usage(const MerVerb *verb, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* `--name value` or `--name=value` at arguments[*at]: gives the value and moves on; NULL if it is missing. */
const char *mer_cli_value(int count, char **arguments, int *at);
/* Is the argument the flag `--name` (or `--name=...`)? Hyphen and underscore are equal, and help is -h and --help-all, output -o, too. */
bool mer_cli_is(const char *argument, const char *name);

typedef struct MerCliFlag { /* a table ends with a NULL name */
    const char  *name;
    bool        *is_on; /* NULL: it has a value */
    const char **value;
} MerCliFlag;
enum { MER_EXIT_OTHER = -1 };
/* Takes the flag at arguments[*at]: MER_EXIT_DONE, the code where its value is missing, or MER_EXIT_OTHER where the
 * table has no such flag. */
int mer_cli_take(const MerVerb *verb, const MerCliFlag *flags, int count, char **arguments,
                 int *at);

/* inspect.c: reads `path` of the inspection whole and lets the inspector print it. */
MerStatus mer_cli_print_file(const MerInspectorClass *type, MerInspection *file, MerError *error);

/* A flag that this problem declares; NULL: it has none of that name. */
const MerFlag *mer_cli_flag_of(const MerProblemClass *problem, const char *argument);

/* What a problem takes where nobody says otherwise, as far as that is known without inputs. */
typedef struct MerCliDefaults {
    const char *evaluator, *optimizer, *objective;
} MerCliDefaults;
MerCliDefaults mer_cli_defaults(const MerProblemClass *problem); /* request_help.c */

/* Ctrl-C sets a flag; a second one ends the program at once. */
void mer_cli_catch_interrupts(void);
bool mer_cli_is_interrupted(void *state);

/* other_words.c: what is called otherwise elsewhere: what to type here instead; NULL: no such word. */
const char *mer_cli_our_option(const char *word);
const char *mer_cli_our_verb(const char *word);

/* list.c: the kinds of things that can be listed, by number; NULL: no more. */
const char *mer_cli_list_kind(int index);
/* All of a kind (optimizers and solvers are one), a blank before each. */
const char *mer_cli_list_names(const char *kind, MerArena *arena);

/* request_help.c: `--flag VALUE` and what it does, in lines that fit the terminal, on stdout. */
void mer_cli_print_flag(const char *flag, const char *value, const char *help);

/* tune.c: `--tune OPTIMIZER` of the searching verbs. */
bool mer_cli_is_tune(int count, char **arguments);
void mer_cli_tune_help(void);

/* show.c: results for people: tables of tasks, plans, and why nothing was found.
 * A value with its unit, shares in percent; MER_METRIC_COUNT: of an expression. */
int  mer_show_value(char buffer[48], MerMetric metric, double value);
void mer_show_result(const MerRunSpec *spec, const MerRunResult *result, MerArena *arena,
                     FILE *file);
/* show_front.c: the trade-offs of --pareto, nothing without it. */
void mer_show_front(const MerRunSpec *spec, const MerRunResult *result, MerArena *arena,
                    FILE *file);
/* The commonest reasons with counts and the nearest miss of each, on `file`. */
void mer_show_refusals(const MerTaskResult *result, FILE *file);
/* After a search in vain: the nearest miss of all, and what would help. */
void mer_show_hints(const MerRunSpec *spec, const MerTaskResult *result, MerArena *arena,
                    FILE *file);

#endif
