/* The command line of a searching verb: an experiment and how to show it. */
#ifndef MERCATOR_CLI_REQUEST_H
#define MERCATOR_CLI_REQUEST_H

#include "cli/cli.h"
#include "run/experiment/experiment.h"

typedef struct MerRequest {
    MerExperiment experiment;
    const char   *directory; /* -o, NULL: the default name */
    const char   *resume;    /* directory to go on in, NULL: start anew */
    const char   *command;   /* JSON list of the arguments, for clock.jsonl */
    /* cells of this optimizer are run anew, though they are finished; NULL: none */
    const char *redo;
    bool        json, quiet, no_report, is_help;
    bool        force;      /* replace the results of another command */
    bool        separately; /* several workloads are several runs, though they could be one */
    bool        list_knobs; /* show what could be searched, and end */
} MerRequest;

/* MER_EXIT_DONE, or the exit code of a message already printed. */
int  mer_request_parse(const MerVerb *verb, const char *problem, int count, char **arguments,
                       MerArena *arena, MerRequest *request);
void mer_request_help(const MerVerb *verb, const char *problem);

/* Is this one of the flags without a value (--quiet, ...)? */
bool mer_request_is_switch(const char *flag);

/* One spec per combination of what was asked for; MER_EXIT_DONE, or as above. */
int mer_request_expand(MerRequest *request, MerRunSpec **specs, int *count);

/* Runs one spec with progress on stderr. `result` is filled on success. */
MerStatus mer_request_run(const MerRequest *request, MerRunSpec *spec, MerArena *arena,
                          MerRunResult *result, MerError *error);
/* Warnings go to stderr, also of a quiet request. */
void mer_request_warn(void *state, const char *text);
/* The run directory: -o, --resume, or a name in runs/ that tells what is run. */
const char *mer_request_directory(const MerRequest *request, const MerRunSpec *spec,
                                  MerArena *arena);

#endif
