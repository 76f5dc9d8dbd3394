/* compare: optimizers and seeds on one problem, at equal samples and, with --time, at equal time.
 * Every cell is a run directory of its own, so a stopped comparison goes on where it was. */
#include "cli/compare_runs.h"
#include "cli/request.h"

#include "base/file.h"
#include "mercator/platform.h"
#include "mercator/registry.h"
#include "report/pages/html.h"
#include "report/pages/run_folder.h"
#include "report/tables/table.h"
#include "run/experiment/comparison.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Comparison {
    MerRequest   request;
    MerRunSpec  *specs; /* equal samples, then equal time */
    int          spec_count;
    const char  *root;
    MerArena    *arena;
    MerCell     *cells;
    const char **directories;
    int          cell_count;
} Comparison;

static void take_cells(Comparison *comparison, const MerCellTotal *totals)
{
    comparison->cells = MER_ARRAY(comparison->arena, MerCell, comparison->spec_count);
    comparison->directories = MER_ARRAY(comparison->arena, const char *, comparison->spec_count);
    comparison->cell_count = comparison->spec_count;
    for (int i = 0; i < comparison->spec_count; i++) {
        const MerRunSpec *spec = &comparison->specs[i];
        comparison->directories[i] = spec->directory;
        comparison->cells[i] = (MerCell){
            .spec = spec,
            .optimizer = spec->optimizer_text ? spec->optimizer_text : spec->optimizer->name,
            .value = totals[i].is_feasible ? totals[i].total.value : NAN,
            .gap = totals[i].total.gap,
            .wall_s = totals[i].wall_s,
            .evaluations = totals[i].total.evaluations,
            .is_timed = mer_run_time(spec) > 0,
        };
    }
}

/* With a time every combination is run twice: to the budget without a clock, and to the time. */
static void add_timed(Comparison *comparison)
{
    MerRunSpec *all = MER_ARRAY(comparison->arena, MerRunSpec, comparison->spec_count * 2);
    const MerProblemClass *problem = comparison->specs[0].problem;
    for (int i = 0; i < comparison->spec_count; i++) {
        all[i] = all[comparison->spec_count + i] = comparison->specs[i];
        all[i].time_s = all[i].total_time_s = 0;
        all[i].budget = all[i].budget > 0 ? all[i].budget : problem->budget;
        all[comparison->spec_count + i].budget = 0;
    }
    comparison->specs = all;
    comparison->spec_count *= 2;
}

static void print_group(const MerComparisonGroup *group, MerArena *arena)
{
    const char   *titles[] = {"optimizer",       "~~>runs",    ">median",
                              "~>95 % interval", ">ratio",     "~>gap",
                              "~~>evaluations",  "~~>seconds", ">p"};
    MerTextTable *table = mer_text_table_new(arena, 9, titles);
    MerMetric     metric = mer_metric_find(group->objective);
    const char   *unit = metric != MER_METRIC_COUNT ? mer_metric_info(metric)->unit : "";
    for (int r = 0; r < group->row_count; r++) {
        const MerComparisonRow *row = &group->rows[r];
        char                    low[48];
        char                    high[48];
        mer_print_engineering(low, row->low, unit);
        mer_print_engineering(high, row->high, unit);
        mer_text_table_add(table, row->optimizer);
        mer_text_table_add_int(table, row->runs);
        mer_text_table_add_real(table, row->median, unit);
        mer_text_table_add(table, mer_arena_format(arena, "%s .. %s", low, high));
        mer_text_table_add(table, mer_arena_format(arena, "%.4f", row->ratio));
        mer_text_table_add_percent(table, row->gap);
        mer_text_table_add_real(table, row->evaluations, "");
        mer_text_table_add_real(table, row->wall_s, "s");
        mer_text_table_add(table, isnan(row->p) ? "best" : mer_arena_format(arena, "%.3g", row->p));
    }
    printf("\n%s%s%s, %s, objective %s, equal %s: %g%s\n\n", group->workload,
           group->platform ? " on " : "", group->platform ? group->platform : "", group->evaluator,
           group->objective, group->is_timed ? "time" : "samples", group->limit,
           group->is_timed ? " s" : "");
    mer_text_table_print(table, stdout);
}

static MerStatus show(const Comparison *comparison, MerError *error)
{
    MerComparisonGroup *groups;
    int count = mer_compare(comparison->cells, comparison->cell_count, comparison->arena, &groups);
    MerJson json = {0};
    mer_compare_write(groups, count, &json);
    const char *text = mer_arena_format(comparison->arena, "%s\n", json.text);
    const char *path = mer_arena_format(comparison->arena, "%s/comparison.json", comparison->root);
    const char *page = mer_arena_format(comparison->arena, "%s/report.html", comparison->root);
    mer_json_free(&json);
    MER_TRY(mer_file_write(path, text, strlen(text), error));
    if (comparison->request.json) {
        fputs(text, stdout);
    }
    if (!comparison->request.no_report) {
        MER_TRY(mer_report_page(comparison->directories, comparison->cell_count,
                                comparison->request.experiment.name, page, comparison->arena,
                                error));
    }
    for (int g = 0; g < count && !comparison->request.json; g++) {
        print_group(&groups[g], comparison->arena);
    }
    if (!comparison->request.json) {
        printf("\n%s\n", comparison->request.no_report ? path : page);
    }
    return MER_OK;
}

/* After Ctrl-C: a page of the runs that are there. */
static void write_begun(Comparison *comparison)
{
    MerError     error = {0};
    MerArena    *arena = comparison->arena;
    const char **directories = MER_ARRAY(arena, const char *, comparison->spec_count);
    const char  *page = mer_arena_format(arena, "%s/report.html", comparison->root);
    int          begun = 0;
    for (int i = 0; i < comparison->spec_count; i++) {
        directories[begun] = comparison->specs[i].directory;
        begun += mer_report_is_run(comparison->specs[i].directory, arena);
    }
    if (begun == 0 || comparison->request.no_report) {
        return;
    }
    if (mer_report_page(directories, begun, comparison->request.experiment.name, page, arena,
                        &error) != MER_OK) {
        mer_cli_fail(&error);
        return;
    }
    fprintf(comparison->request.json ? stderr : stdout, "%s\n", page);
    fflush(stdout);
}

/* The problem that an optimizer is made for, NULL: any. */
static const char *problem_of_optimizer(const char *text, MerArena *arena)
{
    MerReference             reference;
    const MerOptimizerClass *optimizer =
        mer_reference_parse(text, &reference, arena, NULL) == MER_OK
            ? mer_optimizer_find(reference.name, NULL)
            : NULL;
    return optimizer ? optimizer->problem : NULL;
}

/* The only problem that declares this flag, or that claims this workload. */
static const char *problem_of_flag(const char *argument)
{
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        if (mer_cli_flag_of(*problem, argument)) {
            return (*problem)->name;
        }
    }
    return NULL;
}

static const char *problem_of_workload(const char *workload, MerArena *arena)
{
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        if ((*problem)->claims && (*problem)->claims(workload, arena)) {
            return (*problem)->name;
        }
    }
    return NULL;
}

/* The only problem whose platforms are of this one's kind; NULL: several, or it cannot be read. */
static const char *problem_of_platform(const char *text, MerArena *arena)
{
    const MerPlatform *platform = NULL;
    const char        *name = NULL;
    if (mer_platform_read(text, arena, &platform, NULL) != MER_OK) {
        return NULL; /* said where it is used */
    }
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        if ((*problem)->platforms >> platform->kind & 1) {
            if (name) {
                return NULL;
            }
            name = (*problem)->name;
        }
    }
    return name;
}

/* --problem, else what the experiment file says, else what the workload is made for, else what the optimizers
 * or the platform are: one that knows a single problem could not run with another. */
static const char *find_problem(int count, char **arguments, MerArena *arena)
{
    const char *given = NULL, *named = NULL, *of_workload = NULL, *of_optimizer = NULL;
    const char *of_platform = NULL;
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i];
        bool        is_value =
            argument[0] == '-' && argument[1] != '\0' && !mer_request_is_switch(argument);
        const char *value = is_value ? mer_cli_value(count, arguments, &i) : argument;
        if (!value) {
            continue; /* said by the parser */
        }
        if (mer_cli_is(argument, "problem")) {
            given = value;
        } else if (mer_cli_is(argument, "optimizer")) {
            const char *only = problem_of_optimizer(value, arena);
            of_optimizer = only ? only : of_optimizer;
        } else if (mer_cli_is(argument, "platform")) {
            const char *only = problem_of_platform(value, arena);
            of_platform = only ? only : of_platform;
        } else if (is_value && problem_of_flag(argument)) {
            of_workload = problem_of_flag(argument);
        } else if (!is_value && mer_experiment_is(value)) {
            named = mer_experiment_problem(value, arena);
        } else if ((!is_value || mer_cli_is(argument, "workload")) &&
                   problem_of_workload(value, arena)) {
            of_workload = problem_of_workload(value, arena);
        }
    }
    return given          ? given
           : named        ? named
           : of_workload  ? of_workload
           : of_optimizer ? of_optimizer
           : of_platform  ? of_platform
                          : mer_problems()[0]->name;
}

static void print_help(const MerRequest *request, const MerVerb *verb, const char *problem,
                       MerArena *arena)
{
    mer_request_help(request, verb, problem, arena);
    printf("\n  --problem NAME          default: that of the experiment file, of the workload "
           "or of the\n"
           "                          optimizers or the platform, else %s; the options above are "
           "those of %s\n",
           mer_problems()[0]->name, problem);
    printf("\ncompare runs every combination of workloads, platforms, evaluators, optimizers, "
           "objectives, seeds\n"
           "and budgets (repeat a flag, or --seed 1-5), each in its own folder of -o DIR; run "
           "it again to go on.\n"
           "With --time S (or --total-time S) every combination also runs for S seconds without a "
           "budget: equal time.\n");
    mer_cli_study_help();
}

/* `compare --resume DIR`, with nothing but flags about showing: the arguments of the stopped comparison, and those. */
static int take_resume(int *count, char ***arguments, MerRecalled *recalled, MerArena *arena)
{
    const char *resume = NULL;
    int         shown = 0;
    MerError    error = {0};
    char      **flags = MER_ARRAY(arena, char *, *count + 1);
    for (int i = 0; i < *count; i++) {
        char *argument = (*arguments)[i];
        if (mer_cli_is(argument, "resume")) {
            resume = mer_cli_value(*count, *arguments, &i);
        } else if (mer_request_is_switch(argument)) {
            flags[shown++] = argument;
        } else {
            return MER_EXIT_DONE; /* all is said again */
        }
    }
    if (!resume) {
        return MER_EXIT_DONE;
    }
    if (mer_cli_recall(resume, arena, recalled, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    if (recalled->warning) {
        mer_request_warn(NULL, recalled->warning);
    }
    recalled->run = recalled->run ? recalled->run : resume;
    char **all = MER_ARRAY(arena, char *, recalled->count + shown + 1);
    for (int i = 0; i < recalled->count + shown; i++) {
        all[i] = i < recalled->count ? recalled->arguments[i] : flags[i - recalled->count];
    }
    *count = recalled->count + shown;
    *arguments = all;
    return MER_EXIT_DONE;
}

int mer_cli_compare(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    Comparison comparison = {.arena = arena};
    MerError   error = {0};
    if (mer_cli_is_study(count, arguments)) {
        return mer_cli_study(verb, count, arguments, arena);
    }
    MerRecalled recalled = {0};
    int         code = take_resume(&count, &arguments, &recalled, arena);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    const char *problem = find_problem(count, arguments, arena);
    if (!mer_problem_find(problem, &error)) {
        return mer_cli_fail(&error);
    }
    code = mer_request_parse(verb, problem, count, arguments, arena, &comparison.request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (comparison.request.is_help) {
        print_help(&comparison.request, verb, problem, arena);
        return MER_EXIT_DONE;
    }
    code = mer_request_expand(&comparison.request, &comparison.specs, &comparison.spec_count);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    const char *name = comparison.request.experiment.name ? comparison.request.experiment.name
                                                          : comparison.specs[0].name;
    comparison.root = recalled.run                ? recalled.run
                      : comparison.request.resume ? comparison.request.resume
                      : comparison.request.directory
                          ? comparison.request.directory
                          : mer_arena_format(arena, "runs/compare-%s", name);
    if (mer_run_time(&comparison.specs[0]) > 0) {
        add_timed(&comparison);
    }
    MerCellTotal *totals = MER_ARRAY(arena, MerCellTotal, comparison.spec_count);
    code = mer_cli_cells(&comparison.request, comparison.specs, comparison.spec_count,
                         comparison.root, false, totals, arena);
    bool has_all = true;
    int  done = 0;
    for (int i = 0; i < comparison.spec_count; i++) {
        has_all = has_all && !totals[i].has_failed;
        done += totals[i].is_done;
    }
    if (code == MER_EXIT_INTERRUPTED) {
        write_begun(&comparison);
        mer_show_interrupted_runs(&comparison.request, done, comparison.spec_count,
                                  comparison.root);
        return code;
    }
    if (!has_all) {
        return code;
    }
    take_cells(&comparison, totals);
    return show(&comparison, &error) == MER_OK ? MER_EXIT_DONE : mer_cli_fail(&error);
}
