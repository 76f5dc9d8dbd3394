/* demo: every problem on a built-in input, at most 15 seconds each, and one report. */
#include "cli/request.h"

#include "mercator/registry.h"
#include "report/pages/html.h"

#include <stdio.h>
#include <string.h>

static int play(const MerVerb *verb, const MerProblemClass *problem, const char *root, bool force,
                const char **directory, MerArena *arena)
{
    MerError     error = {0};
    MerRequest   request;
    MerRunSpec  *specs;
    MerRunResult result;
    enum { MAX_ARGUMENTS = 32 };
    char *arguments[MAX_ARGUMENTS];
    int   count = 0;
    int   spec_count;
    char *rest = NULL;
    for (char *word = strtok_r(mer_arena_text(arena, problem->demo), " ", &rest);
         word && count + 1 < MAX_ARGUMENTS; word = strtok_r(NULL, " ", &rest)) {
        arguments[count++] = word;
    }
    printf("\n%s\n$ mercator %s %s\n\n", problem->demo_summary, problem->name, problem->demo);
    fflush(stdout);
    arguments[count++] = mer_arena_text(arena, "--quiet");
    int code = mer_request_parse(verb, problem->name, count, arguments, arena, &request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    request.force = force;
    code = mer_request_expand(&request, &specs, &spec_count);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    *directory = specs[0].directory = mer_arena_format(arena, "%s/%s", root, problem->name);
    if (mer_request_run(&request, &specs[0], arena, &result, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    mer_show_result(&specs[0], &result, arena, stdout);
    if (!mer_cli_is_interrupted(NULL)) {
        return MER_EXIT_DONE;
    }
    request.verb = problem->name;
    mer_show_interrupted_run(&request, &result, *directory);
    return MER_EXIT_INTERRUPTED;
}

int mer_cli_demo(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    enum { MAX_SCENES = 16 };
    const char      *root = "runs/demo";
    const char      *directories[MAX_SCENES];
    MerError         error = {0};
    int              played = 0;
    int              code = MER_EXIT_DONE;
    bool             is_help = false, force = false;
    const MerCliFlag flags[] = {
        {"output", NULL, &root}, {"force", &force, NULL}, {"help", &is_help, NULL}, {0}};
    for (int i = 0; i < count; i++) {
        int taken = mer_cli_take(verb, flags, count, arguments, &i);
        if (taken != MER_EXIT_DONE) {
            return taken == MER_EXIT_USAGE
                       ? taken
                       : mer_cli_usage(verb, "unexpected argument %s", arguments[i]);
        }
    }
    if (is_help) {
        printf("usage: mercator demo [-o DIR] [--force]\n\n%s\n", verb->summary);
        return MER_EXIT_DONE;
    }
    for (const MerProblemClass *const *problem = mer_problems(); *problem && code == MER_EXIT_DONE;
         problem++) {
        if ((*problem)->demo && played < MAX_SCENES) {
            code = play(verb, *problem, root, force, &directories[played++], arena);
        }
    }
    if (code != MER_EXIT_DONE && code != MER_EXIT_INTERRUPTED) {
        return code;
    }
    const char *page = mer_arena_format(arena, "%s/report.html", root);
    if (mer_report_page(directories, played, "Mercator demo", page, arena, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    printf("\nThe report, to open in a browser: %s\n", page);
    return code;
}
