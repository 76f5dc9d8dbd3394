/* The command line of a searching verb: an experiment and how to show it. */
#ifndef MERCATOR_CLI_REQUEST_H
#define MERCATOR_CLI_REQUEST_H

#include "cli/cli.h"
#include "run/experiment/experiment.h"

typedef struct MerRequest {
    MerExperiment experiment;
    const char   *verb;
    const char   *directory; /* -o, NULL: the default name */
    const char   *resume;    /* directory to go on in, NULL: start anew */
    const char   *command;   /* JSON list of the arguments, for clock.jsonl */
    /* cells of this optimizer are run anew, though they are finished; NULL: none */
    const char *redo;
    bool        json, quiet, no_report, is_help, is_help_all;
    bool        force;      /* replace the results of another command */
    bool        separately; /* several workloads are several runs, though they could be one */
    bool        list_knobs; /* show what could be searched, and end */
    bool        train;      /* one policy goes from workload to workload */
} MerRequest;

/* MER_EXIT_DONE, or the exit code of a message already printed. */
int mer_request_parse(const MerVerb *verb, const char *problem, int count, char **arguments,
                      MerArena *arena, MerRequest *request);
/* request_help.c */
void mer_request_help(const MerRequest *request, const MerVerb *verb, const char *problem,
                      MerArena *arena);

extern const char *const mer_request_switches[]; /* flags without a value, ends with NULL */
/* Is this one of the flags without a value (--quiet, ...)? */
bool mer_request_is_switch(const char *flag);

/* One MerRunSpec per combination of what was asked for; MER_EXIT_DONE, or as above. */
int mer_request_expand(MerRequest *request, MerRunSpec **specs, int *count);

/* Runs one MerRunSpec with progress on stderr. `result` is filled on success. */
MerStatus mer_request_run(const MerRequest *request, MerRunSpec *spec, MerArena *arena,
                          MerRunResult *result, MerError *error);
/* Warnings go to stderr, also of a quiet request. */
void mer_request_warn(void *state, const char *text);
/* The directory of the `count` runs: -o, --resume, or a name in runs/ that tells what is run. */
const char *mer_request_directory(const MerRequest *request, const MerRunSpec *specs, int count,
                                  MerArena *arena);

/* recall.c: what a stopped run was asked for: `mercator VERB --resume DIR` alone goes on with it. */
typedef struct MerRecalled {
    int         count;
    char      **arguments;
    const char *run; /* the run directory as the program now finds it */
} MerRecalled;

/* Reads the command of the run in `run` (or of the first of several runs there) from clock.jsonl, and
 * goes to the directory it was started in, to which its relative paths belong; warns where it cannot. */
MerStatus mer_cli_recall(const char *run, MerArena *arena, MerRecalled *recalled, MerError *error);
/* The directory that the run in `run` was started in, NULL if nothing says so. */
const char *mer_cli_start_of(const char *run, MerArena *arena);

/* What is in the folder, if anything, is of this problem. */
MerStatus mer_cli_check_resumed(const char *run, const char *problem, MerArena *arena,
                                MerError *error);

/* knobs.c: --list-knobs: what a search may choose, for --fix.
 * One table per task on stdout, or one JSON object per network and platform. Returns the exit code. */
int mer_cli_knobs(const MerRequest *request, const MerRunSpec *specs, int count, MerArena *arena);

/* cell_progress.c: the cells of an experiment, with progress and messages.
 * What a table needs of one cell; `is_feasible` false: nothing found, or the cell failed. */
typedef struct MerCellTotal {
    MerTaskResult total; /* best, score, value, gap and evaluations alone */
    double        wall_s;
    bool          is_feasible, has_failed;
    bool          is_done; /* not interrupted, nor never begun */
} MerCellTotal;

/* Runs what is not finished yet in the folders root/001, ... Prints a line per cell (or its summary with --json)
 * in the order of `specs` when `is_shown`. totals[i] belongs to specs[i]. Returns an exit code. */
int mer_cli_cells(const MerRequest *request, MerRunSpec *specs, int count, const char *root,
                  bool is_shown, MerCellTotal *totals, MerArena *arena);

/* interrupted.c: after Ctrl-C, on stderr: what is done, and the command that goes on. */
void mer_show_interrupted_run(const MerRequest *request, const MerRunResult *result,
                              const char *directory);
void mer_show_interrupted_runs(const MerRequest *request, const MerCellTotal *totals, int count,
                               const char *root);

/* train.c: the runs of --train in place of `specs`: all workloads in turn, `passes` times, each with the policy of the run before.
 * Returns an exit code. */
int mer_cli_train(const MerRequest *request, const MerVerb *verb, const char *root,
                  MerRunSpec **specs, int *count, MerArena *arena);

/* sweep.c: hardware sweeps: one row per platform, the ones that nothing beats in both energy and time marked.
 * Prints the table and writes DIR/sweep.csv. */
MerStatus mer_sweep_show(const MerExperiment *experiment, const MerRunSpec *specs,
                         const MerCellTotal *results, int count, const char *directory,
                         MerArena *arena, FILE *file, MerError *error);

#endif
