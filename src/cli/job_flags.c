/* --jobs, --task, --group, --groups and --scenario (docs/scheduling.md, "Groups"). */
#include "cli/job_flags.h"

#include "base/text.h"
#include "mercator/registry.h"
#include "schedule/jobs/jobs_import.h"

#include <stdio.h>
#include <string.h>

bool mer_job_flags_know(const char *problem, const char *flag)
{
    static const char *const names[] = {"jobs", "task", "group", "groups", "scenario"};
    bool                     is_known = false;
    for (int i = 0; i < 5; i++) {
        is_known = is_known || mer_cli_is(flag, names[i]);
    }
    return is_known && mer_name_equal(problem, "schedule");
}

bool mer_job_flags_is_task(const char *workload, MerArena *arena)
{
    bool is_name = strpbrk(workload, "/.") == NULL;
    return mer_jobs_is_synthetic(workload) ||
           (is_name && !mer_data_path("models", workload, ".onnx", arena) &&
            mer_data_path("models", workload, ".yaml", arena));
}

void mer_job_flags_take(MerJobFlags *flags, const char *flag, const char *value)
{
    static const char *const names[] = {"task", "group", "groups", "scenario"};
    const char **places[] = {&flags->task, &flags->group, &flags->groups, &flags->scenario};
    flags->has_jobs = flags->has_jobs || mer_cli_is(flag, "jobs");
    for (int i = 0; i < 4; i++) {
        if (mer_cli_is(flag, names[i])) {
            flags->repeated = *places[i] ? names[i] : flags->repeated;
            *places[i] = value;
        }
    }
}

void mer_job_flags_see(MerJobFlags *flags, const char *flag)
{
    flags->has_select = flags->has_select || mer_cli_is(flag, "select");
    flags->has_warm = flags->has_warm || mer_cli_is(flag, "warm");
}

/* What is said twice: NULL, or the two ways. */
static const char *find_contradiction(const MerJobFlags *flags)
{
    bool names_groups = flags->task || flags->group || flags->groups;
    return flags->has_jobs && flags->has_network  ? "a network without a flag and --jobs"
           : flags->group && flags->groups        ? "--group and --groups"
           : names_groups && flags->has_select    ? "--select and --task, --group or --groups"
           : names_groups && flags->scenario      ? "--scenario and --task, --group or --groups"
           : flags->scenario && flags->has_select ? "--scenario and --select"
                                                  : NULL;
}

/* "3" -> 3-3, "0..9" -> 0-9 */
static MerStatus read_range(const MerJobFlags *flags, int64_t *low, int64_t *high, MerArena *arena,
                            MerError *error)
{
    const char *text = flags->groups ? flags->groups : flags->group;
    const char *dots = flags->groups ? strstr(text, "..") : NULL;
    const char *first = dots ? mer_arena_text_n(arena, text, (size_t)(dots - text)) : text;
    bool        is_range = dots && mer_parse_int(dots + 2, high);
    if (mer_parse_int(first, low) && *low >= 0 &&
        (is_range ? *high >= *low : flags->group != NULL)) {
        *high = is_range ? *high : *low;
        return MER_OK;
    }
    return flags->groups
               ? mer_error_set(error, MER_INVALID,
                               "--groups is \"%s\", expected FIRST..LAST such as 0..9", text)
               : mer_error_set(error, MER_INVALID,
                               "--group is \"%s\", expected a whole number from 0", text);
}

/* The selection that the flags stand for, NULL if there are none; several groups are a stream. */
static MerStatus selection(const MerJobFlags *flags, const char **select, bool *is_stream,
                           MerArena *arena, MerError *error)
{
    int64_t low, high;
    *is_stream = false;
    *select = flags->scenario ? flags->scenario : flags->task;
    if (!flags->group && !flags->groups) {
        return MER_OK;
    }
    MerStatus status = read_range(flags, &low, &high, arena, error);
    *is_stream = status == MER_OK && high > low;
    if (*is_stream) {
        *select = mer_arena_format(arena, "%s%s%lld-%lld", flags->task ? flags->task : "",
                                   flags->task ? ":" : "", (long long)low, (long long)high);
    }
    if (status == MER_OK && !*is_stream) { /* as people write it, and as logs show it */
        *select = mer_arena_format(arena, "%s%s%lld", flags->task ? flags->task : "",
                                   flags->task ? ":" : "", (long long)low);
    }
    return status;
}

/* --task without a file is the built-in list of that name, whose groups have no names of their own. */
static void take_built_in(MerJobFlags *flags, MerExperiment *experiment)
{
    const MerAxisValues *given = &experiment->axes[MER_AXIS_WORKLOAD];
    if (!flags->task || !mer_job_flags_is_task(flags->task, experiment->arena)) {
        return;
    }
    if (given->count == 0) {
        mer_experiment_add(experiment, MER_AXIS_WORKLOAD, flags->task, true);
    }
    if (given->count == 1 && strcmp(given->texts[0], flags->task) == 0) {
        flags->task = NULL;
    }
}

static int refuse_task(const MerJobFlags *flags, const MerVerb *verb, MerArena *arena)
{
    const char **names;
    const char  *listed = "";
    int          count = mer_data_list("models", ".yaml", arena, &names);
    for (int i = 0; i < count; i++) {
        listed = mer_arena_format(arena, "%s%s%s", listed, i ? ", " : "", names[i]);
    }
    return mer_cli_usage(verb,
                         "--task is \"%s\", expected --jobs FILE beside it or a built-in task: %s",
                         flags->task, listed);
}

int mer_job_flags_apply(const MerJobFlags *given, const MerVerb *verb, MerExperiment *experiment)
{
    MerError           error = {0};
    const char        *select;
    bool               is_stream;
    MerJobFlags        own = *given;
    const MerJobFlags *flags = &own;
    const char        *twice = find_contradiction(flags);
    if (flags->repeated) {
        return mer_cli_usage(verb,
                             "--%s is given twice, expected once; --select takes several groups",
                             flags->repeated);
    }
    if (twice) {
        return mer_cli_usage(verb, "%s say the same, expected one of them", twice);
    }
    take_built_in(&own, experiment);
    if (flags->task && experiment->axes[MER_AXIS_WORKLOAD].count == 0) {
        return refuse_task(flags, verb, experiment->arena);
    }
    MerStatus status = selection(flags, &select, &is_stream, experiment->arena, &error);
    if (status == MER_OK && select) {
        status = mer_experiment_set(experiment, "select", select, &error);
    }
    if (status == MER_OK && is_stream && !flags->has_warm) { /* a stream of groups */
        status = mer_experiment_set(experiment, "warm", "chain", &error);
    }
    return status == MER_OK ? MER_EXIT_DONE : mer_cli_fail(&error);
}

void mer_job_flags_help(const char *problem)
{
    if (mer_name_equal(problem, "schedule")) {
        printf("  --jobs FILE             the network or job file, as without a flag\n"
               "  --task NAME --group N   group N of a task of the file, as --select NAME:N; "
               "without a file "
               "of the built-in task\n"
               "  --groups FIRST..LAST    these groups (of --task) one after the other, each with "
               "--warm chain\n"
               "  --scenario NAME         of an XRBench file, as --select NAME\n");
    }
}
