/* Parsing and carrying out the request of a searching verb. */
#include "cli/request.h"

#include "base/log.h"
#include "base/option_json.h"
#include "base/terminal.h"
#include "base/utf8.h"
#include "mercator/json.h"
#include "mercator/registry.h"
#include "report/tables/table.h"
#include "run/experiment/cells.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct Parser {
    const MerVerb *verb;
    MerRequest    *request;
    MerArena      *arena;
    MerError       error;
    bool           is_given[MER_AXIS_COUNT]; /* on the command line: replaces the file's values */
    const MerProblemClass *problem;
    MerCommandLine         line; /* what the problem's own flags may change */
} Parser;

static int fail(Parser *p)
{
    bool is_usage = p->error.status == MER_NOT_FOUND; /* no such option */
    mer_cli_fail(&p->error);
    return is_usage ? MER_EXIT_USAGE : MER_EXIT_BAD;
}

static int add_axis(Parser *p, MerAxis axis, const char *value)
{
    mer_experiment_add(&p->request->experiment, axis, value, !p->is_given[axis]);
    p->is_given[axis] = true;
    return MER_EXIT_DONE;
}

/* Lists grow with every use of their flag: --dim H=32 --dim W=32. */
static const char *join_list(Parser *p, const char *key, const char *value)
{
    const MerOption *option = mer_options_find(mer_run_options, key);
    if (!option || option->type != MER_OPTION_TEXTS) {
        return value;
    }
    const MerTexts *texts =
        (const MerTexts *)((const char *)&p->request->experiment.options + option->offset);
    const char *joined = "";
    for (int i = 0; i < texts->count; i++) {
        joined = mer_arena_format(p->arena, "%s%s,", joined, texts->values[i]);
    }
    size_t length = strlen(value);
    bool   is_list = value[0] == '[' && length > 1 && value[length - 1] == ']';
    return is_list ? mer_arena_format(p->arena, "[%s%s", joined, value + 1)
                   : mer_arena_format(p->arena, "[%s%s]", joined, value);
}

/* No such option: what it is called here, where people know it by another name, else what is near. */
static int unknown_option(Parser *p, const char *key)
{
    const MerExperiment *experiment = &p->request->experiment;
    bool                 is_optimizers = experiment->axes[MER_AXIS_OPTIMIZER].count > 0 &&
                         mer_experiment_optimizer_with(experiment, key);
    const char *ours = is_optimizers ? NULL : mer_cli_our_option(key);
    return ours
               ? mer_cli_usage(p->verb, "%s has no option \"%s\", use %s", p->verb->name, key, ours)
               : mer_cli_usage(p->verb, "%s", p->error.message);
}

/* "run: time_s is" what a file says; here it is "--time is". */
static int fail_flag(Parser *p, const char *flag, size_t length, const char *name)
{
    const char *own = mer_arena_format(p->arena, "run: %s ", name);
    if (strncmp(p->error.message, own, strlen(own)) == 0) {
        mer_error_set(&p->error, p->error.status, "%.*s %s", (int)length, flag,
                      mer_arena_text(p->arena, p->error.message + strlen(own)));
    }
    return fail(p);
}

/* Without a value (NULL) it can only fail, but an unknown option is the greater fault. */
static int set_option(Parser *p, const char *flag, const char *value)
{
    enum { LONGEST = 63 };
    size_t length = strcspn(flag + 2, "=");
    if (length > LONGEST) {
        return mer_cli_usage(p->verb, "unknown option %s", flag);
    }
    const char *key = mer_arena_text_n(p->arena, flag + 2, length);
    const char *name = mer_name_equal(key, "time")         ? "time_s"
                       : mer_name_equal(key, "total-time") ? "total_time_s"
                                                           : key;
    MerStatus   status = mer_experiment_set(&p->request->experiment, name,
                                            join_list(p, name, value ? value : ""), &p->error);
    if (status == MER_NOT_FOUND) {
        return unknown_option(p, key);
    }
    if (!value) {
        return mer_cli_usage(p->verb, "%s needs a value", flag);
    }
    p->line.settings = mer_reference_add(&p->line.settings, name, value, p->arena);
    return status == MER_OK ? MER_EXIT_DONE : fail_flag(p, flag, length + 2, name);
}

const char *const mer_request_switches[] = {
    "help", "json", "quiet", "no-report", "list-knobs", "force", "separately", "train", NULL};

static bool set_switch(MerRequest *request, const char *flag)
{
    bool *switches[] = {&request->is_help,    &request->json,       &request->quiet,
                        &request->no_report,  &request->list_knobs, &request->force,
                        &request->separately, &request->train};
    for (int i = 0; mer_request_switches[i]; i++) {
        if (mer_cli_is(flag, mer_request_switches[i])) {
            *switches[i] = true;
            request->is_help_all |= strcmp(flag, "--help-all") == 0;
            return true;
        }
    }
    return false;
}

bool mer_request_is_switch(const char *flag)
{
    return set_switch(&(MerRequest){0}, flag);
}

/* `--in-turn` alone says yes. A word behind it is its value, unless it can be the network that is still missing. */
static bool is_yes(const Parser *p, const char *flag, const char *next)
{
    const MerOption *option = mer_experiment_option(&p->request->experiment, flag + 2);
    bool             value;
    bool             is_word = next && *next != '-' &&
                   (p->is_given[MER_AXIS_WORKLOAD] || mer_option_read_bool(next, &value));
    return option && option->type == MER_OPTION_BOOL && !is_word;
}

static int parse_flag(Parser *p, int count, char **arguments, int *at)
{
    const char *flag = arguments[*at];
    MerRequest *request = p->request;
    if (set_switch(request, flag)) {
        return MER_EXIT_DONE;
    }
    const MerCliFlag flags[] = {{"output", NULL, &request->directory},
                                {"resume", NULL, &request->resume},
                                {"redo", NULL, &request->redo},
                                {0}};
    int              code = mer_cli_take(p->verb, flags, count, arguments, at);
    if (code != MER_EXIT_OTHER) {
        return code;
    }
    if (strncmp(flag, "--", 2) != 0) {
        return mer_cli_usage(p->verb, "unknown option %s", flag);
    }
    bool           is_problem = mer_cli_is(flag, "problem") && p->verb->takes_problem;
    const MerFlag *own = mer_cli_flag_of(p->problem, flag);
    int            axis = 0;
    while (axis < MER_AXIS_COUNT && !mer_cli_is(flag, mer_axis_names[axis])) {
        axis++;
    }
    const char *next = *at + 1 < count ? arguments[*at + 1] : NULL;
    const char *value = is_yes(p, flag, next) ? "true" : mer_cli_value(count, arguments, at);
    if (!is_problem && !own && axis == MER_AXIS_COUNT && !mer_cli_is(flag, "sweep")) {
        return set_option(p, flag, value);
    }
    if (!value) {
        return mer_cli_usage(p->verb, "%s needs a value", flag);
    }
    if (is_problem) { /* found by the verb itself */
        return MER_EXIT_DONE;
    }
    if (own) {
        p->line.flags = mer_reference_add(&p->line.flags, own->name, value, p->arena);
        return MER_EXIT_DONE;
    }
    if (axis < MER_AXIS_COUNT) {
        return add_axis(p, (MerAxis)axis, value);
    }
    return mer_experiment_sweep(&request->experiment, value, &p->error) == MER_OK ? MER_EXIT_DONE
                                                                                  : fail(p);
}

/* An experiment file is read first, so that flags win over it wherever they stand. */
static int read_experiments(Parser *p, int count, char **arguments)
{
    for (int i = 0; i < count; i++) {
        if (arguments[i][0] != '-' && mer_experiment_is(arguments[i]) &&
            mer_experiment_read(&p->request->experiment, arguments[i], &p->error) != MER_OK) {
            return mer_cli_fail(&p->error);
        }
    }
    return MER_EXIT_DONE;
}

/* Evaluators and optimizers are named first: which flags are known, and what to say of others, depends on them. */
static void parse_plugins(Parser *p, int count, char **arguments)
{
    static const MerAxis axes[] = {MER_AXIS_EVALUATOR, MER_AXIS_OPTIMIZER};
    for (int i = 0; i < count; i++) {
        for (int a = 0; a < 2; a++) {
            const char *value = mer_cli_is(arguments[i], mer_axis_names[axes[a]])
                                    ? mer_cli_value(count, arguments, &i)
                                    : NULL;
            if (value) {
                add_axis(p, axes[a], value);
                break;
            }
        }
    }
    for (int a = 0; a < 2; a++) { /* the second pass gives them again */
        p->is_given[axes[a]] = false;
    }
}

/* The problem's own flags become workloads and settings. */
static int apply_flags(Parser *p)
{
    MerCommandLine      *line = &p->line;
    const MerAxisValues *given = &p->request->experiment.axes[MER_AXIS_WORKLOAD];
    int                  settings = line->settings.count;
    if (!p->problem->take_flags || line->flags.count == 0) {
        return MER_EXIT_DONE;
    }
    line->arena = p->arena;
    line->workloads = (MerTexts){given->count, given->texts};
    int       workloads = given->count;
    MerStatus status = p->problem->take_flags(line, &p->error);
    if (status != MER_OK) {
        return status == MER_UNSUPPORTED ? mer_cli_usage(p->verb, "%s", p->error.message)
                                         : mer_cli_fail(&p->error);
    }
    for (int i = workloads; i < line->workloads.count; i++) {
        add_axis(p, MER_AXIS_WORKLOAD, line->workloads.values[i]);
    }
    for (int i = settings; status == MER_OK && i < line->settings.count; i++) {
        status = mer_experiment_set(&p->request->experiment, line->settings.keys[i],
                                    line->settings.values[i], &p->error);
    }
    return status == MER_OK ? MER_EXIT_DONE : fail(p);
}

static int parse_all(Parser *p, int count, char **arguments)
{
    p->line = (MerCommandLine){0};
    int code = read_experiments(p, count, arguments);
    parse_plugins(p, count, arguments);
    for (int i = 0; code == MER_EXIT_DONE && i < count; i++) {
        bool is_flag = arguments[i][0] == '-' && arguments[i][1] != '\0';
        if (is_flag) {
            code = parse_flag(p, count, arguments, &i);
        } else if (!mer_experiment_is(arguments[i])) {
            code = add_axis(p, MER_AXIS_WORKLOAD, arguments[i]);
        }
    }
    return code == MER_EXIT_DONE ? apply_flags(p) : code;
}

static const char *list_arguments(int count, char **arguments, MerArena *arena)
{
    MerJson json = {0};
    mer_json_texts(&json, NULL, (const char *const *)arguments, count);
    return mer_json_keep(&json, arena);
}

/* `mercator map --resume DIR` alone: the arguments of the stopped run stand in its clock.jsonl. */
static int recall(Parser *p, int given, char **given_arguments)
{
    for (int i = 0; i < given; i++) {
        const char *flag = given_arguments[i];
        bool        is_about_showing =
            mer_cli_is(flag, "json") || mer_cli_is(flag, "quiet") || mer_cli_is(flag, "no-report");
        bool has_value = mer_cli_is(flag, "resume") || mer_cli_is(flag, "threads");
        if (!is_about_showing && !has_value) {
            return mer_cli_usage(
                p->verb,
                "%s: --resume DIR alone goes on as the run was started; to change it, give the "
                "network and all options again",
                flag);
        }
        i += has_value && !strchr(flag, '=');
    }
    MerRecalled recalled;
    if (mer_cli_recall(p->request->resume, p->arena, &recalled, &p->error) != MER_OK) {
        return mer_cli_fail(&p->error);
    }
    int code = parse_all(p, recalled.count, recalled.arguments);
    p->request->resume = recalled.run;
    p->request->command = list_arguments(recalled.count, recalled.arguments, p->arena);
    return code;
}

int mer_request_parse(const MerVerb *verb, const char *problem, int count, char **arguments,
                      MerArena *arena, MerRequest *request)
{
    Parser parser = {.verb = verb, .request = request, .arena = arena};
    *request = (MerRequest){.verb = verb->name, .command = list_arguments(count, arguments, arena)};
    mer_experiment_init(&request->experiment, problem, arena);
    parser.problem = mer_problem_find(problem, &parser.error);
    if (!parser.problem) {
        return mer_cli_fail(&parser.error);
    }
    int code = parse_all(&parser, count, arguments);
    if (code == MER_EXIT_DONE && request->resume && !verb->takes_problem &&
        mer_cli_check_resumed(request->resume, problem, arena, &parser.error) != MER_OK) {
        return mer_cli_fail(&parser.error);
    }
    if (code == MER_EXIT_DONE && request->resume &&
        request->experiment.axes[MER_AXIS_WORKLOAD].count == 0) {
        code = recall(&parser, count, arguments);
    }
    if (code == MER_EXIT_DONE && !request->is_help &&
        request->experiment.axes[MER_AXIS_WORKLOAD].count == 0) {
        code = mer_cli_usage(
            verb, "%s needs a network: a built-in model (mercator list models) or a file",
            verb->name);
    }
    return code;
}

int mer_request_expand(MerRequest *request, MerRunSpec **specs, int *count)
{
    MerError error = {0};
    request->experiment.keeps_equal = request->train; /* a network may be visited twice */
    return mer_experiment_expand(&request->experiment, specs, count, mer_request_warn, NULL,
                                 &error) == MER_OK
               ? MER_EXIT_DONE
               : mer_cli_fail(&error);
}

void mer_request_warn(void *state, const char *text)
{
    (void)state;
    mer_cli_say(MER_STYLE_WARNING, "mercator: warning:", text);
}

/* A name without what shells and file systems treat in their own way, and not too long. Letters beyond ASCII stay: without
 * them two networks could share a folder. */
static const char *folder_name(const char *text, MerArena *arena)
{
    enum { LONGEST = 160 };
    char  *name = mer_arena_format(arena, "%.*s", LONGEST, text);
    size_t length = strlen(name);
    for (size_t at = 0; at < length;) {
        int  bytes = mer_utf8_length(name + at, length - at);
        bool is_plain = bytes > 1 || isalnum((unsigned char)name[at]) || strchr("-_.=,+", name[at]);
        name[at] = is_plain ? name[at] : '_';
        at += bytes > 1 ? (size_t)bytes : 1;
    }
    return name;
}

/* What the runs are of, as a part of a folder's name: "a", "a,b", or "a,b,..." */
static const char *name_all(const MerRunSpec *specs, int count,
                            const char *(*name)(const MerRunSpec *spec, MerArena *arena),
                            MerArena *arena)
{
    enum { MOST_NAMES = 3 };
    const char *all = name(&specs[0], arena);
    const char *seen[MOST_NAMES] = {all};
    int         seen_count = 1;
    for (int i = 1; i < count; i++) {
        const char *next = name(&specs[i], arena);
        int         at = 0;
        while (at < seen_count && strcmp(seen[at], next) != 0) {
            at++;
        }
        if (at < seen_count) {
            continue;
        }
        if (seen_count == MOST_NAMES) {
            return mer_arena_format(arena, "%s,...", all);
        }
        seen[seen_count++] = next;
        all = mer_arena_format(arena, "%s,%s", all, next);
    }
    return all;
}

static const char *name_workload(const MerRunSpec *spec, MerArena *arena)
{
    (void)arena;
    return spec->name;
}

/* What is swept stands behind a blank. */
static const char *name_platform(const MerRunSpec *spec, MerArena *arena)
{
    const char *name = spec->platform ? spec->platform->name : "none";
    return mer_arena_text_n(arena, name, strcspn(name, " "));
}

static const char *name_objective(const MerRunSpec *spec, MerArena *arena)
{
    const char *metrics = spec->objective;
    for (int m = 0; m < spec->pareto_count; m++) {
        metrics = mer_arena_format(arena, "%s%s%s", m > 0 ? metrics : "", m > 0 ? "," : "",
                                   mer_metric_info(spec->pareto[m])->name);
    }
    return metrics;
}

static const char *name_optimizer(const MerRunSpec *spec, MerArena *arena)
{
    (void)arena;
    return spec->optimizer_text;
}

const char *mer_request_directory(const MerRequest *request, const MerRunSpec *specs, int count,
                                  MerArena *arena)
{
    if (request->resume) {
        return request->resume;
    }
    if (request->directory) {
        return request->directory;
    }
    const char        *name = request->experiment.name, *kind = "";
    unsigned long long seed = specs[0].seed;
    if (!name) {
        name = mer_arena_format(arena, "%s-%s-%s-%s", name_all(specs, count, name_workload, arena),
                                name_all(specs, count, name_platform, arena),
                                name_all(specs, count, name_objective, arena),
                                name_all(specs, count, name_optimizer, arena));
        kind = request->experiment.sweep_count > 0 ? "-sweep" : count > 1 ? "-runs" : "";
    }
    name = mer_arena_format(arena, "%s-%s-%llu%s", specs[0].problem->name, name, seed, kind);
    return mer_arena_format(arena, "runs/%s", folder_name(name, arena));
}

typedef struct Shown {
    const MerRunSpec *spec;
    MerProgress       progress;
} Shown;

static void show(void *state, const MerRunProgress *now)
{
    Shown *shown = state;
    char   best[48], gap[48] = "", what[80], detail[40];
    mer_show_value(best, now->objective, now->best);
    if (!isnan(now->gap)) {
        mer_print_percent(gap, now->gap);
    }
    snprintf(what, sizeof what, "%.40s %d/%d", shown->spec->problem->name, now->task + 1,
             now->task_count);
    snprintf(detail, sizeof detail, "%.0f %% infeasible", 100 * now->infeasible);
    mer_progress_update(&shown->progress,
                        &(MerProgressNow){.what = what,
                                          .name = now->task_name,
                                          .done = now->trials,
                                          .total = now->budget,
                                          .unit = "evaluations",
                                          .rate = (double)now->trials / fmax(now->elapsed_s, 1e-9),
                                          .left_s = now->left_s,
                                          .best = best,
                                          .gap = gap,
                                          .detail = detail});
}

/* In place of the progress line, not behind it. */
static void warn(void *state, const char *text)
{
    Shown *shown = state;
    mer_progress_end(&shown->progress);
    mer_request_warn(NULL, text);
}

MerStatus mer_request_run(const MerRequest *request, MerRunSpec *spec, MerArena *arena,
                          MerRunResult *result, MerError *error)
{
    Shown       shown = {.spec = spec};
    MerRunHooks hooks = {&shown, mer_cli_is_interrupted, show, warn};
    spec->command = request->command;
    spec->resume = request->resume != NULL;
    spec->force = request->force;
    if (!spec->resume && !spec->force && mer_cell_is_stopped(spec, arena)) {
        spec->resume = true;
        mer_request_warn(NULL, mer_arena_format(arena,
                                                "%s holds this run, which has not ended: it goes "
                                                "on; --force begins anew",
                                                spec->directory));
    }
    mer_progress_begin(&shown.progress, request->quiet ? NULL : stderr);
    mer_cli_catch_interrupts();
    MerStatus status = mer_run(spec, &hooks, arena, result, error);
    mer_progress_end(&shown.progress);
    return status;
}
