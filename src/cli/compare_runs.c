/* compare DIR...: the tables of a study from runs that are there already. */
#include "cli/compare_runs.h"

#include "base/output.h"
#include "mercator/registry.h"
#include "mercator/text.h"
#include "report/pages/html.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Request {
    const char    **paths;
    int             count;
    const char     *output;
    MerStudyOptions options;
    bool            json, is_markdown, no_report;
} Request;

static bool is_directory(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

static bool is_exact(const char *optimizer)
{
    bool is = false;
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        is = is || ((*problem)->exact && strcmp((*problem)->exact, optimizer) == 0);
    }
    return is;
}

MerStudyPlugin mer_cli_study_plugin(const char *kind, const char *name)
{
    const MerOptimizerClass *optimizer = mer_optimizer_find(name, NULL);
    const MerEvaluatorClass *evaluator = mer_evaluator_find(name, NULL);
    const MerProblemClass   *problem = mer_problem_find(name, NULL);
    if (strcmp(kind, "optimizer") == 0 && optimizer) {
        return (MerStudyPlugin){optimizer->options, optimizer->options_size, optimizer->presets,
                                is_exact(optimizer->name), NULL};
    }
    if (strcmp(kind, "evaluator") == 0 && evaluator) {
        return (MerStudyPlugin){evaluator->options, evaluator->options_size, NULL, false, NULL};
    }
    bool is_problem = strcmp(kind, "problem") == 0 && problem;
    return is_problem ? (MerStudyPlugin){problem->options, problem->options_size, NULL, false,
                                         problem->subset}
                      : (MerStudyPlugin){0};
}

bool mer_cli_is_study(int count, char **arguments)
{
    return count > 0 && arguments[0][0] != '-' && is_directory(arguments[0]);
}

void mer_cli_study_help(void)
{
    mer_print_lines(
        stdout,
        "\nusage: mercator compare DIR... [options]\n\n"
        "Reads the runs in DIR (of `mercator PROBLEM EXPERIMENT -o DIR`, or run directories) and "
        "prints, for every cost model, platform and objective: the tasks with the best known "
        "value, final quality, samples to the final quality of a reference, tasks won against a "
        "baseline, quality after N samples, ratios to the reference with intervals, times, and "
        "what the optimizers noted. Runs that have not ended are left out.\n\n",
        0);
    mer_cli_print_flag("--reference", "NAME", "e.g. marl:agents=1; default: the first optimizer");
    mer_cli_print_flag("--baseline", "NAME", "default random, where it was run");
    mer_cli_print_flag("--at", "N[,N...]", "quality after so many samples, default 500,2000");
    mer_cli_print_flag("--format", "text|markdown", "default text");
    mer_cli_print_flag("--json", "", "one JSON object instead");
    mer_cli_print_flag("-o", "DIR",
                       "also write tables.md, curves-1.svg, ... and report.html there");
    mer_cli_print_flag("--no-report", "", "without report.html");
}

static int take_at(const MerVerb *verb, const char *text, MerArena *arena, MerStudyOptions *options)
{
    char *rest = NULL;
    for (char *word = strtok_r(mer_arena_text(arena, text), ", ", &rest); word;
         word = strtok_r(NULL, ", ", &rest)) {
        bool has_place = options->at_count < (int)(sizeof options->at / sizeof *options->at);
        if (!has_place || !mer_parse_int(word, &options->at[options->at_count]) ||
            options->at[options->at_count] < 1) {
            return mer_cli_usage(
                verb, "--at is \"%s\", expected at most 8 whole numbers of at least 1", text);
        }
        options->at_count++;
    }
    return MER_EXIT_DONE;
}

static int parse(const MerVerb *verb, int count, char **arguments, MerArena *arena,
                 Request *request)
{
    const char      *at = NULL, *format = "text";
    bool             is_quiet;
    const MerCliFlag flags[] = {{"json", &request->json, NULL},
                                {"no-report", &request->no_report, NULL},
                                {"quiet", &is_quiet, NULL},
                                {"reference", NULL, &request->options.reference},
                                {"baseline", NULL, &request->options.baseline},
                                {"at", NULL, &at},
                                {"output", NULL, &request->output},
                                {"format", NULL, &format},
                                {0}};
    request->paths = MER_ARRAY(arena, const char *, count);
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i];
        int         code = mer_cli_take(verb, flags, count, arguments, &i);
        if (code == MER_EXIT_OTHER && argument[0] == '-') {
            return mer_cli_usage(verb, "unknown option %s for directories of runs", argument);
        }
        if (code == MER_EXIT_OTHER && !is_directory(argument)) {
            return mer_cli_usage(
                verb, "%s: not a directory; directories of runs and experiments cannot be mixed",
                argument);
        }
        if (code == MER_EXIT_OTHER) {
            request->paths[request->count++] = argument;
        }
        if (code == MER_EXIT_USAGE ||
            (at && take_at(verb, at, arena, &request->options) != MER_EXIT_DONE)) {
            return MER_EXIT_USAGE;
        }
        at = NULL;
    }
    request->is_markdown = strcmp(format, "markdown") == 0;
    if (!request->is_markdown && strcmp(format, "text") != 0) {
        return mer_cli_usage(verb, "--format is \"%s\", expected text or markdown", format);
    }
    return request->options.at_count > 0 ? MER_EXIT_DONE
                                         : take_at(verb, "500,2000", arena, &request->options);
}

static MerStatus write_tables(const Request *request, const MerStudy *study, MerArena *arena,
                              MerError *error)
{
    MerOutput output;
    MER_TRY(
        mer_output_open(&output, mer_arena_format(arena, "%s/tables.md", request->output), error));
    return mer_output_end(
        &output, mer_study_text(study, &request->options, true, output.file, arena, error), error);
}

static MerStatus write_files(const Request *request, const MerStudy *study, MerArena *arena,
                             MerError *error)
{
    const char *json;
    if (mkdir(request->output, 0777) != 0 && errno != EEXIST) {
        return mer_error_set(error, MER_IO, "%s: cannot make it: %s", request->output,
                             strerror(errno));
    }
    MER_TRY(write_tables(request, study, arena, error));
    for (int g = 0; g < study->group_count; g++) {
        const char *path = mer_arena_format(arena, "%s/curves-%d.svg", request->output, g + 1);
        MER_TRY(mer_study_svg(&study->groups[g], path, arena, error));
    }
    if (request->no_report) {
        return MER_OK;
    }
    MER_TRY(mer_study_json(study, &request->options, &json, arena, error));
    return mer_report_study(json, NULL, mer_arena_format(arena, "%s/report.html", request->output),
                            error);
}

static MerStatus carry_out(const Request *request, MerArena *arena, MerError *error)
{
    MerStudy    study;
    const char *json;
    MER_TRY(
        mer_study_read(request->paths, request->count, mer_cli_study_plugin, arena, &study, error));
    if (request->output) {
        MER_TRY(write_files(request, &study, arena, error));
    }
    if (request->json) {
        MER_TRY(mer_study_json(&study, &request->options, &json, arena, error));
        printf("%s\n", json);
    } else {
        MER_TRY(
            mer_study_text(&study, &request->options, request->is_markdown, stdout, arena, error));
    }
    if (study.unfinished > 0) {
        fprintf(stderr, "mercator: %d runs have not ended and are left out\n", study.unfinished);
    }
    return MER_OK;
}

int mer_cli_study(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    MerError error = {0};
    Request  request = {0};
    int      code = parse(verb, count, arguments, arena, &request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    return carry_out(&request, arena, &error) == MER_OK ? MER_EXIT_DONE : mer_cli_fail(&error);
}
