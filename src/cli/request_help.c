/* Help of a searching verb: the common options first, the rest with --help-all. */
#include "cli/request.h"

#include "base/expect.h"
#include "base/terminal.h"
#include "mercator/registry.h"

#include <stdio.h>
#include <string.h>

/* limits from which on nobody cares */
enum { INDENT = 25, UNLIMITED = 1000000 };

void mer_cli_print_flag(const char *flag, const char *value, const char *help)
{
    int columns = mer_terminal_columns(stdout);
    int used = printf("  %s%s%s", flag, *value ? " " : "", value);
    int indent = columns > 0 && columns < 60 ? 8 : INDENT;
    if (used + 2 > indent && columns > 0) {
        printf("\n%*s", indent, "");
        used = indent;
    } else {
        int gap = used + 2 <= indent ? indent - used : 2;
        printf("%*s", gap, "");
        used += gap;
    }
    mer_print_words(stdout, help, used, indent, columns);
}

static const char *value_name(const MerOption *option)
{
    static const char *const names[] = {
        [MER_OPTION_INT] = "N",           [MER_OPTION_REAL] = "N",
        [MER_OPTION_BOOL] = "true|false", [MER_OPTION_TEXT] = "TEXT",
        [MER_OPTION_REALS] = "[N,...]",   [MER_OPTION_TEXTS] = "TEXT,..."};
    return option->type == MER_OPTION_CHOICE ? option->choices : names[option->type];
}

/* "; default 3 (integer in 1 .. 9)", as far as there is something to say. */
static const char *value_limits(const MerOption *option, MerArena *arena)
{
    char range[MER_RANGE_SIZE];
    bool is_number = option->type == MER_OPTION_INT || option->type == MER_OPTION_REAL;
    bool has_default = option->initial && *option->initial && strcmp(option->initial, "[]") != 0;
    const char *text = has_default ? mer_arena_format(arena, "; default %s", option->initial) : "";
    if (is_number && option->maximum > 0 && option->maximum < UNLIMITED) {
        text = mer_arena_format(
            arena, "%s (%s)", text,
            mer_range_text(range, option->type == MER_OPTION_INT ? "integer" : "number",
                           option->minimum, option->maximum));
    }
    return text;
}

/* time_s and total_time_s are --time and --total-time. */
static bool is_shown_before(const MerOption *option)
{
    static const char *const names[] = {"time_s", "total_time_s", "total_budget", "threads",
                                        "export", "pareto",       "dim"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(option->name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void print_options(const MerOption *table, MerArena *arena)
{
    for (const MerOption *option = table; option && option->name; option++) {
        char *flag = mer_arena_format(arena, "--%s", option->name);
        for (char *at = flag; *at; at++) {
            *at = *at == '_' ? '-' : *at;
        }
        if (option->help && !(table == mer_run_options && is_shown_before(option))) {
            const char *help =
                mer_arena_format(arena, "%s%s", option->help, value_limits(option, arena));
            mer_cli_print_flag(flag, value_name(option), help);
        }
    }
}

static void print_inputs(const MerVerb *verb, const MerProblemClass *type, MerArena *arena)
{
    MerCliDefaults defaults = mer_cli_defaults(type);
    for (const MerFlag *flag = type->flags; flag && flag->name; flag++) {
        mer_cli_print_flag(mer_arena_format(arena, "--%s", flag->name), flag->value, flag->help);
    }
    if (type->platforms) {
        mer_cli_print_flag("--platform", "NAME|FILE",
                           mer_arena_format(arena, "default %s; see mercator list platforms",
                                            type->platform ? type->platform : "none"));
    }
    mer_cli_print_flag(
        "--objective", "NAME",
        mer_arena_format(arena,
                         "default %s; a metric (mercator list metrics) or an expression of "
                         "metrics; given twice: a run for each",
                         defaults.objective));
    mer_cli_print_flag(
        "--optimizer", "NAME[:key=value,...]",
        mer_arena_format(arena,
                         "default %s; see mercator list optimizers, and mercator list solvers",
                         defaults.optimizer));
    mer_cli_print_flag(
        "--evaluator", "NAME[:key=value,...]",
        mer_arena_format(arena, "default %s; see mercator list evaluators", defaults.evaluator));
    mer_cli_print_flag(
        "--budget", "N",
        mer_arena_format(arena, "evaluations per task, default %lld", (long long)type->budget));
    mer_cli_print_flag("--total-budget", "N", "evaluations over all tasks, shared out by MACs");
    mer_cli_print_flag("--time", "S", "seconds per task; 0: no limit");
    mer_cli_print_flag("--total-time", "S", "seconds for all tasks of a run together");
    mer_cli_print_flag("--seed", "N", "default 1");
    mer_cli_print_flag("--threads", "N", "default, and 0: all; the result does not depend on it");
    mer_cli_print_flag(
        "-o", "DIR",
        mer_arena_format(arena, "run directory, default runs/%s-NETWORK%s", verb->name,
                         verb->takes_problem ? "" : "-PLATFORM-OBJECTIVE-OPTIMIZER-SEED"));
    mer_cli_print_flag("--pareto", "A,B,...", "keep the best trade-offs of these metrics");
    mer_cli_print_flag("--dim", "NAME=SIZE", "size of an open dimension of the network: batch=4");
    mer_cli_print_flag("--resume", "DIR", "go on where a stopped run was");
}

static void print_outputs(const MerProblemClass *type)
{
    mer_cli_print_flag("--export", "NAME[=FILE]",
                       "write a file for another tool; see mercator list exporters");
    mer_cli_print_flag(
        "--sweep", "PATH=A,B,...",
        "try the platform with each value: memories.GLB.words=16Ki,32Ki, or a range: "
        "memories.GLB.words=16Ki..512Ki:x2");
    if (type->join) {
        mer_cli_print_flag(
            "--separately", "",
            "several networks are several runs; default: one, in which they share the platform");
    }
    mer_cli_print_flag("--json", "",
                       "the summary as a JSON object on stdout, nothing else there; of several "
                       "runs one object each, a line each");
    mer_cli_print_flag("--quiet", "", "no progress; warnings stay");
    mer_cli_print_flag("--no-report", "", "do not write report.html");
    mer_cli_print_flag("--list-knobs", "",
                       "do not search: the knobs of each task and their choices, for --fix");
}

static void print_rest(const MerProblemClass *type, MerArena *arena)
{
    const MerEvaluatorClass *evaluator = mer_evaluator_find(mer_cli_defaults(type).evaluator, NULL);
    printf("\nfurther options:\n");
    mer_cli_print_flag("--force", "",
                       "replace the results of another command in the run directory");
    mer_cli_print_flag(
        "--redo", "NAME|all",
        "of several runs: start those of this optimizer anew, though they are finished");
    mer_cli_print_flag(
        "--train", "",
        "one policy learns on all networks given, run after run; then --save-policy FILE");
    print_options(mer_run_options, arena);
    if (evaluator && evaluator->options) {
        printf("\noptions of evaluator %s (others by --evaluator):\n", evaluator->name);
        print_options(evaluator->options, arena);
    }
}

void mer_request_help(const MerRequest *request, const MerVerb *verb, const char *problem,
                      MerArena *arena)
{
    const MerProblemClass *type = mer_problem_find(problem, NULL);
    printf("usage: mercator %s %s [options]\n\n", verb->name, verb->arguments);
    mer_print_words(stdout, verb->summary, 0, 0, mer_terminal_columns(stdout));
    printf("\n");
    print_inputs(verb, type, arena);
    print_outputs(type);
    if (type->options) {
        printf("\noptions of %s:\n", type->name);
        print_options(type->options, arena);
    }
    if (request->is_help_all) {
        print_rest(type, arena);
    } else {
        mer_print_lines(stdout,
                        mer_arena_format(arena,
                                         "\nmercator %s --help-all shows the rest: limits, logs, "
                                         "policies, fixed knobs, options of the evaluator, tuning",
                                         verb->name),
                        0);
    }
}

MerCliDefaults mer_cli_defaults(const MerProblemClass *problem)
{
    MerInputs inputs = {.evaluator = mer_evaluator_find(problem->evaluator, NULL)};
    return (MerCliDefaults){problem->evaluator,
                            mer_experiment_default(problem, MER_DEFAULT_OPTIMIZER, &inputs),
                            mer_experiment_default(problem, MER_DEFAULT_OBJECTIVE, &inputs)};
}
