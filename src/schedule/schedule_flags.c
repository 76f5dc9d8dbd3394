/* --jobs, --task, --group, --groups and --scenario: other names for the network and for --select
 * (docs/scheduling.md, "Groups"). */
#include "schedule/schedule_parts.h"

#include "base/file.h"
#include "schedule/jobs/jobs_import.h"

#include <string.h>

const MerFlag mer_schedule_flags[] = {
    {"jobs", "FILE", "the network or job file, as without a flag", true},
    {"task", "NAME",
     "with --group N: group N of a task of the file, as --select NAME:N; without a "
     "file of the built-in task",
     false},
    {"group", "N",
     "group N of the file, counted from 1, or the one that --task has under this number", false},
    {"groups", "FIRST..LAST",
     "these groups (of --task) one after the other, each with --warm chain", false},
    {"scenario", "NAME", "of an XRBench file, as --select NAME", false},
    {0}};

typedef struct Flags {
    const char *jobs, *task, *group, *groups, *scenario; /* NULL: not given */
    bool        has_network, has_select, has_warm;
} Flags;

static bool has_setting(const MerReference *settings, const char *name)
{
    for (int i = 0; i < settings->count; i++) {
        if (mer_name_equal(settings->keys[i], name)) {
            return true;
        }
    }
    return false;
}

static MerStatus gather(const MerCommandLine *line, Flags *flags, MerError *error)
{
    const char  *repeated = NULL;
    const char **places[] = {&flags->jobs, &flags->task, &flags->group, &flags->groups,
                             &flags->scenario};
    for (int i = 0; i < line->flags.count; i++) {
        for (int f = 0; mer_schedule_flags[f].name; f++) {
            if (mer_name_equal(line->flags.keys[i], mer_schedule_flags[f].name)) {
                bool is_again = *places[f] && f > 0; /* several job files are several runs */
                repeated = is_again ? mer_schedule_flags[f].name : repeated;
                *places[f] = line->flags.values[i];
            }
        }
    }
    flags->has_network = line->workloads.count > 0;
    flags->has_select = has_setting(&line->settings, "select");
    flags->has_warm = has_setting(&line->settings, "warm");
    return repeated
               ? mer_error_set(error, MER_UNSUPPORTED,
                               "--%s is given twice, expected once; --select takes several groups",
                               repeated)
               : MER_OK;
}

/* What is said twice: NULL, or the two ways. */
static const char *find_contradiction(const Flags *flags)
{
    bool names_groups = flags->task || flags->group || flags->groups;
    return flags->jobs && flags->has_network      ? "a network without a flag and --jobs"
           : flags->group && flags->groups        ? "--group and --groups"
           : names_groups && flags->has_select    ? "--select and --task, --group or --groups"
           : names_groups && flags->scenario      ? "--scenario and --task, --group or --groups"
           : flags->scenario && flags->has_select ? "--scenario and --select"
                                                  : NULL;
}

/* "3" -> 3-3, "0..9" -> 0-9 */
static MerStatus read_range(const Flags *flags, int64_t *low, int64_t *high, MerArena *arena,
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
static MerStatus selection(const Flags *flags, const char **select, bool *is_stream,
                           MerArena *arena, MerError *error)
{
    int64_t low, high;
    *is_stream = false;
    *select = flags->scenario ? flags->scenario : flags->task;
    if (!flags->group && !flags->groups) {
        return MER_OK;
    }
    MER_TRY(read_range(flags, &low, &high, arena, error));
    const char *task = flags->task ? mer_arena_format(arena, "%s:", flags->task) : "";
    *is_stream = high > low;
    *select = *is_stream
                  ? mer_arena_format(arena, "%s%lld-%lld", task, (long long)low, (long long)high)
                  /* as people write it, and as logs show it */
                  : mer_arena_format(arena, "%s%lld", task, (long long)low);
    return MER_OK;
}

/* A built-in list of jobs (vision, mix, ..., synthetic:N:SEED), and no network? */
bool mer_schedule_claims(const char *name, MerArena *arena)
{
    return mer_jobs_is_synthetic(name) ||
           (strpbrk(name, "/.") == NULL && !mer_data_path("models", name, ".onnx", arena) &&
            mer_data_path("models", name, ".yaml", arena));
}

static void add_workload(MerCommandLine *line, const char *name)
{
    const char **grown = MER_ARRAY(line->arena, const char *, line->workloads.count + 1);
    for (int i = 0; i < line->workloads.count; i++) {
        grown[i] = line->workloads.values[i];
    }
    grown[line->workloads.count] = name;
    line->workloads = (MerTexts){line->workloads.count + 1, grown};
}

static void add_setting(MerCommandLine *line, const char *key, const char *value)
{
    line->settings = mer_reference_add(&line->settings, key, value, line->arena);
}

/* --task without a file is the built-in list of that name, whose groups have no names of their own. */
static void take_built_in(Flags *flags, MerCommandLine *line)
{
    if (!flags->task || !mer_schedule_claims(flags->task, line->arena)) {
        return;
    }
    if (line->workloads.count == 0) {
        add_workload(line, flags->task);
    }
    if (line->workloads.count == 1 && strcmp(line->workloads.values[0], flags->task) == 0) {
        flags->task = NULL;
    }
}

static MerStatus refuse_task(const Flags *flags, MerArena *arena, MerError *error)
{
    const char **names;
    const char  *listed = "";
    int          count = mer_data_list("models", ".yaml", arena, &names, NULL);
    for (int i = 0; i < count; i++) {
        listed = mer_arena_format(arena, "%s%s%s", listed, i ? ", " : "", names[i]);
    }
    return mer_error_set(error, MER_UNSUPPORTED,
                         "--task is \"%s\", expected --jobs FILE beside it or a built-in task: %s",
                         flags->task, listed);
}

MerStatus mer_schedule_take_flags(MerCommandLine *line, MerError *error)
{
    Flags       flags = {0};
    const char *select;
    bool        is_stream;
    MER_TRY(gather(line, &flags, error));
    const char *twice = find_contradiction(&flags);
    if (twice) {
        return mer_error_set(error, MER_UNSUPPORTED, "%s say the same, expected one of them",
                             twice);
    }
    for (int i = 0; i < line->flags.count; i++) {
        if (mer_name_equal(line->flags.keys[i], "jobs")) {
            add_workload(line, line->flags.values[i]);
        }
    }
    take_built_in(&flags, line);
    if (flags.task && line->workloads.count == 0) {
        return refuse_task(&flags, line->arena, error);
    }
    MER_TRY(selection(&flags, &select, &is_stream, line->arena, error));
    if (select) {
        add_setting(line, "select", select);
    }
    if (is_stream && !flags.has_warm) { /* docs/scheduling-online.md, "Warm starts" */
        add_setting(line, "warm", "chain");
    }
    return MER_OK;
}
