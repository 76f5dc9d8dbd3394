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
    MerRequest  request;
    MerRunSpec *specs; /* equal samples, then equal time */
    int         spec_count;
    const char *root;
    MerArena   *arena;
} Comparison;

static MerCell *make_cells(const Comparison *comparison, const MerCellTotal *totals)
{
    MerCell *cells = MER_ARRAY(comparison->arena, MerCell, comparison->spec_count);
    for (int i = 0; i < comparison->spec_count; i++) {
        const MerRunSpec *spec = &comparison->specs[i];
        cells[i] = (MerCell){
            .spec = spec,
            .optimizer = spec->optimizer_text,
            .value = totals[i].is_feasible ? totals[i].total.value : NAN,
            .gap = totals[i].total.gap,
            .wall_s = totals[i].wall_s,
            .evaluations = totals[i].total.evaluations,
            .is_timed = mer_run_time(spec) > 0,
        };
    }
    return cells;
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
        char                    low[48], high[48];
        mer_print_engineering(low, row->low, unit);
        mer_print_engineering(high, row->high, unit);
        mer_text_table_add(table, row->optimizer);
        mer_text_table_add_int(table, row->runs);
        mer_text_table_add_real(table, row->median, unit);
        mer_text_table_add(table,
                           isnan(row->low) ? "-" : mer_arena_format(arena, "%s .. %s", low, high));
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

/* The page of the runs that are there: all of them, unless somebody interrupted; false: there are none, or it is not
 * wanted. */
static MerStatus write_page(const Comparison *comparison, const char *page, bool *is_written,
                            MerError *error)
{
    const char **directories = MER_ARRAY(comparison->arena, const char *, comparison->spec_count);
    int          begun = 0;
    for (int i = 0; i < comparison->spec_count; i++) {
        directories[begun] = comparison->specs[i].directory;
        begun += mer_report_is_run(directories[begun], comparison->arena);
    }
    *is_written = begun > 0 && !comparison->request.no_report;
    return *is_written ? mer_report_page(directories, begun, comparison->request.experiment.name,
                                         page, comparison->arena, error)
                       : MER_OK;
}

static MerStatus show(const Comparison *comparison, const MerCell *cells, const char *page,
                      MerError *error)
{
    MerComparisonGroup *groups;
    int     count = mer_compare(cells, comparison->spec_count, comparison->arena, &groups);
    bool    has_page;
    MerJson json = {0};
    mer_compare_write(groups, count, &json);
    const char *text = mer_arena_format(comparison->arena, "%s\n", json.text);
    const char *path = mer_arena_format(comparison->arena, "%s/comparison.json", comparison->root);
    mer_json_free(&json);
    MER_TRY(mer_file_write(path, text, strlen(text), error));
    if (comparison->request.json) {
        fputs(text, stdout);
    }
    MER_TRY(write_page(comparison, page, &has_page, error));
    for (int g = 0; g < count && !comparison->request.json; g++) {
        print_group(&groups[g], comparison->arena);
    }
    if (!comparison->request.json) {
        printf("\n%s\n", has_page ? page : path);
    }
    return MER_OK;
}

/* After Ctrl-C: a page of the runs that are there. */
static void show_begun(const Comparison *comparison, const MerCellTotal *totals, const char *page)
{
    MerError error = {0};
    bool     has_page;
    if (write_page(comparison, page, &has_page, &error) != MER_OK) {
        mer_cli_fail(&error);
    } else if (has_page) {
        fprintf(comparison->request.json ? stderr : stdout, "%s\n", page);
    }
    mer_show_interrupted_runs(&comparison->request, totals, comparison->spec_count,
                              comparison->root);
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
    enum { GIVEN, NAMED, OF_WORKLOAD, OF_OPTIMIZER, OF_PLATFORM, SOURCES };
    const char *found[SOURCES] = {NULL};
    for (int i = 0; i < count; i++) {
        const char *argument = arguments[i];
        bool        is_value =
            argument[0] == '-' && argument[1] != '\0' && !mer_request_is_switch(argument);
        const char *value = is_value ? mer_cli_value(count, arguments, &i) : argument;
        if (!value) {
            continue; /* said by the parser */
        }
        if (mer_cli_is(argument, "problem")) {
            found[GIVEN] = value;
        } else if (mer_cli_is(argument, "optimizer")) {
            const MerOptimizerClass *optimizer = mer_experiment_optimizer(value, arena);
            const char              *only = optimizer ? optimizer->problem : NULL;
            found[OF_OPTIMIZER] = only ? only : found[OF_OPTIMIZER];
        } else if (mer_cli_is(argument, "platform")) {
            const char *only = problem_of_platform(value, arena);
            found[OF_PLATFORM] = only ? only : found[OF_PLATFORM];
        } else if (is_value && problem_of_flag(argument)) {
            found[OF_WORKLOAD] = problem_of_flag(argument);
        } else if (!is_value && mer_experiment_is(value)) {
            found[NAMED] = mer_experiment_problem(value, arena);
        } else if ((!is_value || mer_cli_is(argument, "workload")) &&
                   problem_of_workload(value, arena)) {
            found[OF_WORKLOAD] = problem_of_workload(value, arena);
        }
    }
    for (int i = 0; i < SOURCES; i++) {
        if (found[i]) {
            return found[i];
        }
    }
    return mer_problems()[0]->name;
}

static void print_help(const MerRequest *request, const MerVerb *verb, const char *problem,
                       MerArena *arena)
{
    mer_request_help(request, verb, problem, arena);
    printf("\n");
    mer_cli_print_flag(
        "--problem", "NAME",
        mer_arena_format(arena,
                         "default: that of the experiment file, of the workload or of the "
                         "optimizers or the platform, else %s; the options above are those of %s",
                         mer_problems()[0]->name, problem));
    mer_print_lines(
        stdout,
        "\ncompare runs every combination of workloads, platforms, evaluators, optimizers, "
        "objectives, seeds and budgets (repeat a flag, or --seed 1-5), each in its own folder of "
        "-o DIR; run it again to go on.\n"
        "With --time S (or --total-time S) every combination also runs for S seconds without a "
        "budget: equal time.\n",
        0);
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
    const char *page = mer_arena_format(arena, "%s/report.html", comparison.root);
    if (code == MER_EXIT_INTERRUPTED) {
        show_begun(&comparison, totals, page);
        return code;
    }
    for (int i = 0; i < comparison.spec_count; i++) {
        if (totals[i].has_failed) {
            return code;
        }
    }
    return show(&comparison, make_cells(&comparison, totals), page, &error) == MER_OK
               ? MER_EXIT_DONE
               : mer_cli_fail(&error);
}
