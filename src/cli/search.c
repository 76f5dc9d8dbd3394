/* The searching verbs: one per problem. */
#include "cli/compare_runs.h"
#include "cli/request.h"

#include "mercator/registry.h"
#include "report/pages/html.h"
#include "report/pages/run_folder.h"

#include <stdio.h>
#include <string.h>

enum { MOST_PAGES = 100 }; /* more runs than this get the page of a study */

static MerStatus write_pages(const char **directories, int count, const char *page,
                             const char *title, MerArena *arena, MerError *error)
{
    for (int i = 0; i < count; i++) {
        const char *own = mer_arena_format(arena, "%s/report.html", directories[i]);
        MER_TRY(mer_report_page(&directories[i], 1, NULL, own, arena, error));
    }
    return mer_report_page(directories, count, title, page, arena, error);
}

static MerStatus write_study(const char *root, const char *page, const char *title, MerArena *arena,
                             MerError *error)
{
    MerStudy        study;
    MerStudyOptions options = {.at_count = 2, .at = {500, 2000}};
    const char     *json;
    MER_TRY(mer_study_read(&root, 1, mer_cli_study_plugin, arena, &study, error));
    MER_TRY(mer_study_json(&study, &options, &json, arena, error));
    return mer_report_study(json, title, page, error);
}

static int explain_failure(const MerRunSpec *spec, const MerRunResult *result, MerArena *arena)
{
    for (int t = 0; t < result->task_count; t++) {
        const MerTaskResult *task = &result->tasks[t];
        if (!task->point) {
            bool is_late = task->stopped && strcmp(task->stopped, "time") == 0;
            fprintf(stderr, "mercator: task %s: no feasible plan in %lld trial%s%s\n",
                    task->task.name, (long long)task->trials, task->trials == 1 ? "" : "s",
                    is_late ? ", then its time was over" : "");
            mer_show_refusals(task, stderr);
            mer_show_hints(spec, task, arena, stderr);
        }
    }
    return MER_EXIT_BAD;
}

/* One run: its summary, table and page. */
static int run_one(const MerRequest *request, MerRunSpec *spec, MerArena *arena)
{
    MerError     error = {0};
    MerRunResult result;
    MerStatus    status = mer_request_run(request, spec, arena, &result, &error);
    const char  *page = mer_arena_format(arena, "%s/report.html", spec->directory);
    MerError     late = error; /* of an exporter, where all else is there */
    bool         was_interrupted = result.has_ended && result.total.stopped &&
                           strcmp(result.total.stopped, "interrupted") == 0;
    bool has_report = !request->no_report;
    if (has_report && !mer_report_may_write(page)) {
        mer_request_warn(
            NULL, mer_arena_format(arena, "%s stays as it is: it is not a page of ours", page));
        has_report = false;
    }
    if (result.has_ended) {
        status =
            !has_report ? MER_OK : mer_report_page(&spec->directory, 1, NULL, page, arena, &error);
    }
    if (status != MER_OK) {
        return mer_cli_fail(&error);
    }
    if (request->json) {
        printf("%s\n", result.summary);
    } else {
        mer_show_result(spec, &result, arena, stdout);
        printf("%s\n", has_report ? page : spec->directory);
    }
    int code = late.status != MER_OK ? mer_cli_fail(&late) : MER_EXIT_DONE;
    if (was_interrupted) {
        mer_show_interrupted_run(request, &result, spec->directory);
        return MER_EXIT_INTERRUPTED;
    }
    return code != MER_EXIT_DONE ? code
           : result.is_feasible  ? MER_EXIT_DONE
                                 : explain_failure(spec, &result, arena);
}

/* Several runs: DIR/001, DIR/002, ... and one page that compares them. Called again it goes on. */
static int run_many(const MerRequest *request, MerRunSpec *specs, int count, const char *root,
                    MerArena *arena)
{
    MerError      error = {0};
    const char  **directories = MER_ARRAY(arena, const char *, count);
    MerCellTotal *totals = MER_ARRAY(arena, MerCellTotal, count);
    int           code = mer_cli_cells(request, specs, count, root, true, totals, arena);
    bool          has_any = false; /* else there is no folder either */
    for (int i = 0; i < count; i++) {
        has_any = has_any || !totals[i].has_failed;
    }
    if (request->experiment.sweep_count > 0 && has_any && code != MER_EXIT_INTERRUPTED &&
        mer_sweep_show(&request->experiment, specs, totals, count, root, arena,
                       request->json ? stderr : stdout, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    const char *page = mer_arena_format(arena, "%s/report.html", root);
    bool        is_whole = true;
    int         begun = 0; /* all, unless somebody interrupts */
    for (int i = 0; i < count; i++) {
        directories[begun] = specs[i].directory;
        begun += code != MER_EXIT_INTERRUPTED || mer_report_is_run(specs[i].directory, arena);
        is_whole = is_whole && !totals[i].has_failed;
    }
    if (is_whole && begun > 0 && !request->no_report) {
        MerStatus status =
            begun > MOST_PAGES
                ? write_study(root, page, request->experiment.name, arena, &error)
                : write_pages(directories, begun, page, request->experiment.name, arena, &error);
        if (status != MER_OK) {
            return mer_cli_fail(&error);
        }
        fprintf(request->json ? stderr : stdout, "%s\n", page);
    }
    if (code == MER_EXIT_INTERRUPTED) {
        mer_show_interrupted_runs(request, totals, count, root);
    }
    return code;
}

/* Several networks on the command line are one workload, where the problem can make one of them. In an experiment
 * file a list is an axis. */
static MerStatus join_workloads(MerRequest *request, MerArena *arena, MerError *error)
{
    MerExperiment         *experiment = &request->experiment;
    const MerAxisValues   *given = &experiment->axes[MER_AXIS_WORKLOAD];
    const MerProblemClass *problem = mer_problem_find(experiment->problem.name, error);
    const char            *joined;
    if (!problem || !problem->join || experiment->file || request->separately || request->train ||
        given->count < 2) {
        return problem ? MER_OK : MER_NOT_FOUND;
    }
    MerTexts texts = {given->count, given->texts};
    MER_TRY(problem->join(&texts, &experiment->problem, &joined, arena, error));
    mer_experiment_add(experiment, MER_AXIS_WORKLOAD, joined, true);
    return MER_OK;
}

int mer_cli_search(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    MerRequest  request;
    MerRunSpec *specs;
    int         spec_count;
    MerError    error = {0};
    if (mer_cli_is_tune(count, arguments)) {
        return mer_cli_tune(verb, count, arguments, arena);
    }
    int code = mer_request_parse(verb, verb->name, count, arguments, arena, &request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (request.is_help) {
        mer_request_help(&request, verb, verb->name, arena);
        if (request.is_help_all) {
            mer_cli_tune_help();
        }
        return MER_EXIT_DONE;
    }
    if (request.separately && !mer_problem_find(verb->name, NULL)->join) {
        return mer_cli_usage(verb, "--separately: %s knows no other way", verb->name);
    }
    if (join_workloads(&request, arena, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    code = mer_request_expand(&request, &specs, &spec_count);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (request.list_knobs) {
        return mer_cli_knobs(&request, specs, spec_count, arena);
    }
    const char *directory = mer_request_directory(&request, specs, spec_count, arena);
    specs[0].directory = directory;
    if (!request.train && request.experiment.options.passes > 1) {
        return mer_cli_usage(verb, "--passes needs --train");
    }
    code = request.train ? mer_cli_train(&request, verb, directory, &specs, &spec_count, arena)
                         : MER_EXIT_DONE;
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (request.resume && spec_count > 1 && mer_report_is_run(request.resume, arena)) {
        return mer_cli_usage(verb, "%s is one of %d runs; --resume takes the folder above it",
                             request.resume, spec_count);
    }
    return spec_count == 1 ? run_one(&request, &specs[0], arena)
                           : run_many(&request, specs, spec_count, directory, arena);
}
