/* report: pages and tables from run directories. */
#include "cli/cli.h"

#include "mercator/option.h"
#include "report/pages/html.h"
#include "report/pages/run_folder.h"
#include "report/tables/csv.h"
#include "report/tables/metrics.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct Request {
    const char **runs;
    int          count;
    const char  *output, *csv, *results, *metrics, *over;
    bool         is_help;
} Request;

static int unknown_option(const MerVerb *verb, const char *argument)
{
    static const char *const names[] = {"csv", "results", "metrics", "over", "output"};
    const char              *word = argument + strspn(argument, "-");
    const char              *nearest = mer_name_nearest(word, names, sizeof names / sizeof *names);
    const char              *ours = mer_cli_our_option(word);
    return nearest ? mer_cli_usage(verb, "unknown option %s, did you mean --%s", argument, nearest)
           : ours  ? mer_cli_usage(verb, "unknown option %s, use %s", argument, ours)
                   : mer_cli_usage(verb, "unknown option %s", argument);
}

static int parse(const MerVerb *verb, int count, char **arguments, Request *request)
{
    const MerCliFlag flags[] = {{"help", &request->is_help, NULL},
                                {"output", NULL, &request->output},
                                {"csv", NULL, &request->csv},
                                {"metrics", NULL, &request->metrics},
                                {"over", NULL, &request->over},
                                {"results", NULL, &request->results},
                                {0}};
    for (int i = 0; i < count; i++) {
        int code = mer_cli_take(verb, flags, count, arguments, &i);
        if (code == MER_EXIT_OTHER && arguments[i][0] != '-') {
            request->runs[request->count++] = arguments[i];
        } else if (code != MER_EXIT_DONE) {
            return code != MER_EXIT_OTHER ? code : unknown_option(verb, arguments[i]);
        }
    }
    if (request->count == 0 && !request->is_help) {
        return mer_cli_usage(verb, "report needs a run directory");
    }
    if (request->over && !request->metrics) {
        return mer_cli_usage(verb, "--over needs --metrics");
    }
    return MER_EXIT_DONE;
}

/* The runs that were named, and those in the folders that were; `most` of a folder, 0: all. */
static MerStatus find_runs(const Request *request, int most, MerArena *arena, const char ***runs,
                           int *count, MerError *error)
{
    for (int i = 0; i < request->count; i++) {
        int before = *count;
        MER_TRY(mer_report_find_runs(request->runs[i], arena, runs, count, error));
        if (most > 0 && *count - before > most) {
            return mer_error_set(error, MER_UNSUPPORTED,
                                 "%s holds %d runs, expected at most %d on one page; mercator "
                                 "compare %s -o DIR makes one "
                                 "of tables",
                                 request->runs[i], *count - before, most, request->runs[i]);
        }
    }
    return MER_OK;
}

/* Those of `runs` that have a summary; it is told how many have none. */
static MerStatus keep_ended(const Request *request, MerArena *arena, const char **runs, int *count,
                            MerError *error)
{
    int kept = 0, all = *count;
    for (int r = 0; r < all; r++) {
        size_t length = strlen(runs[r]);
        if (length > 6 && strcmp(runs[r] + length - 6, ".jsonl") == 0) {
            return mer_error_set(error, MER_INVALID, "%s is a log, expected the folder of its run",
                                 runs[r]);
        }
        if (access(mer_arena_format(arena, "%s/summary.json", runs[r]), F_OK) == 0) {
            runs[kept++] = runs[r];
        }
    }
    *count = kept;
    if (kept == 0) {
        return mer_error_set(error, MER_NOT_FOUND,
                             "%s: none of its runs has ended, expected one with summary.json",
                             request->runs[0]);
    }
    if (kept < all) {
        fprintf(stderr, "mercator: %d of %d runs have not ended and are left out\n", all - kept,
                all);
    }
    return MER_OK;
}

static void tell(const char *path, const char *what, int count)
{
    if (strcmp(path, "-") != 0 && strncmp(path, "/dev/", 5) != 0) { /* the table alone */
        printf("%s: the %s of %d run%s\n", path, what, count, count == 1 ? "" : "s");
    }
}

/* Tables if they are asked for, else one page of all runs; a folder of several gets it as it got its first one. */
static MerStatus carry_out(const Request *request, MerArena *arena, MerError *error)
{
    enum { MOST_IN_FOLDER = 100 };
    const char **runs = NULL;
    int          count = 0;
    bool         is_page = !request->csv && !request->results && !request->metrics;
    MER_TRY(find_runs(request, is_page ? MOST_IN_FOLDER : 0, arena, &runs, &count, error));
    if (is_page) {
        const char *path = request->output ? request->output
                           : request->count == 1
                               ? mer_arena_format(arena, "%s/report.html", request->runs[0])
                               : "report.html";
        MER_TRY(mer_report_page(runs, count, NULL, path, arena, error));
        if (strcmp(path, "-") != 0) {
            printf("%s\n", path);
        }
    }
    if (request->csv) {
        MER_TRY(mer_report_csv(runs, count, request->csv, arena, error));
        tell(request->csv, "trials", count);
    }
    if (request->results || request->metrics) {
        MER_TRY(keep_ended(request, arena, runs, &count, error));
    }
    if (request->metrics) {
        return mer_report_metrics(runs, count, request->metrics, request->over, arena, stdout,
                                  error);
    }
    if (request->results) {
        MER_TRY(mer_report_results(runs, count, request->results, error));
        tell(request->results, "results", count);
    }
    return MER_OK;
}

int mer_cli_report(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    Request  request = {.runs = MER_ARRAY(arena, const char *, count + 1)};
    MerError error = {0};
    int      code = parse(verb, count, arguments, &request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (request.is_help) {
        mer_print_lines(
            stdout,
            "usage: mercator report RUN... [-o FILE.html] [--csv FILE.csv] [--results FILE.csv] "
            "[--metrics NAME,... [--over COLUMN=VALUE,...]]\n\n"
            "One run: its page. Several, or a folder of them: a page that compares them.\n"
            "--csv writes the trials of all these runs instead (-: to the standard output), "
            "--results a "
            "row for each task and total: what was run, the best with all its metrics, bound and "
            "gap. Columns carry "
            "their units.\n"
            "--metrics prints a table instead: what differs between the runs (or the runs in a "
            "directory), and the mean of each metric (or gap) over seeds with its 95 % interval. "
            "--over divides every row by the one that has these values and else the same: --over "
            "platform=s3.\n",
            0);
        return MER_EXIT_DONE;
    }
    return carry_out(&request, arena, &error) == MER_OK ? MER_EXIT_DONE : mer_cli_fail(&error);
}
