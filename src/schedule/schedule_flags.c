/* --jobs, --task, --group, --groups and --scenario: other names for the network and for --select
 * (docs/scheduling.md, "Groups"). */
#include "schedule/schedule_parts.h"

#include "base/file.h"
#include "schedule/jobs/jobs_import.h"

#include <string.h>

enum { JOBS, TASK, GROUP, GROUPS, SCENARIO, FLAGS };

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

typedef const char *Flags[FLAGS]; /* NULL: not given */

static bool has_setting(const MerCommandLine *line, const char *name)
{
    bool is_any = false;
    for (int i = 0; i < line->settings.count; i++) {
        is_any = is_any || mer_name_equal(line->settings.keys[i], name);
    }
    return is_any;
}

static MerStatus gather(const MerCommandLine *line, Flags flags, MerError *error)
{
    const char *repeated = NULL;
    for (int i = 0; i < line->flags.count; i++) {
        for (int f = 0; f < FLAGS; f++) {
            const char *name = mer_schedule_flags[f].name;
            if (mer_name_equal(line->flags.keys[i], name)) {
                /* several job files are several runs */
                repeated = flags[f] && f != JOBS ? name : repeated;
                flags[f] = line->flags.values[i];
            }
        }
    }
    return repeated
               ? mer_error_set(error, MER_UNSUPPORTED,
                               "--%s is given twice, expected once; --select takes several groups",
                               repeated)
               : MER_OK;
}

/* What is said twice: NULL, or the two ways. */
static const char *find_contradiction(const MerCommandLine *line, Flags flags)
{
    bool names_groups = flags[TASK] || flags[GROUP] || flags[GROUPS];
    bool has_select = has_setting(line, "select");
    return flags[JOBS] && line->workloads.count > 0 ? "a network without a flag and --jobs"
           : flags[GROUP] && flags[GROUPS]          ? "--group and --groups"
           : names_groups && has_select             ? "--select and --task, --group or --groups"
           : names_groups && flags[SCENARIO]        ? "--scenario and --task, --group or --groups"
           : flags[SCENARIO] && has_select          ? "--scenario and --select"
                                                    : NULL;
}

/* "3" -> 3-3, "1..9" -> 1-9. Groups are counted from 1, those of a task of a file as the file names them, from 0. */
static MerStatus read_range(Flags flags, int64_t *low, int64_t *high, MerArena *arena,
                            MerError *error)
{
    const char *text = flags[GROUPS] ? flags[GROUPS] : flags[GROUP];
    const char *dots = flags[GROUPS] ? strstr(text, "..") : NULL;
    const char *first = dots ? mer_arena_text_n(arena, text, (size_t)(dots - text)) : text;
    int         least = flags[TASK] ? 0 : 1;
    if (mer_parse_int(first, low) && *low >= least &&
        (flags[GROUP] || (dots && mer_parse_int(dots + 2, high) && *high >= *low))) {
        *high = flags[GROUP] ? *low : *high;
        return MER_OK;
    }
    return mer_error_set(error, MER_INVALID,
                         flags[GROUPS] ? "--groups is \"%s\", expected FIRST..LAST such as %d..9"
                                       : "--group is \"%s\", expected a whole number from %d",
                         text, least);
}

/* The selection that the flags stand for, NULL if there are none; several groups are a stream. */
static MerStatus selection(Flags flags, const char **select, bool *is_stream, MerArena *arena,
                           MerError *error)
{
    int64_t low, high;
    *is_stream = false;
    *select = flags[SCENARIO] ? flags[SCENARIO] : flags[TASK];
    if (!flags[GROUP] && !flags[GROUPS]) {
        return MER_OK;
    }
    MER_TRY(read_range(flags, &low, &high, arena, error));
    const char *task = flags[TASK] ? mer_arena_format(arena, "%s:", flags[TASK]) : "";
    *is_stream = high > low;
    *select = mer_arena_format(arena, "%s%lld", task, (long long)low);
    if (*is_stream) { /* one group is shown as people write it */
        *select = mer_arena_format(arena, "%s-%lld", *select, (long long)high);
    }
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

/* --task without a file is the built-in list of that name, whose groups have no names of their own. */
static void take_built_in(Flags flags, MerCommandLine *line)
{
    if (!flags[TASK] || !mer_schedule_claims(flags[TASK], line->arena)) {
        return;
    }
    if (line->workloads.count == 0) {
        add_workload(line, flags[TASK]);
    }
    if (line->workloads.count == 1 && strcmp(line->workloads.values[0], flags[TASK]) == 0) {
        flags[TASK] = NULL;
    }
}

static MerStatus refuse_task(const char *task, MerArena *arena, MerError *error)
{
    const char **names;
    const char  *listed = "";
    int          count = mer_data_list("models", ".yaml", arena, &names, NULL);
    for (int i = 0; i < count; i++) {
        listed = mer_arena_format(arena, "%s%s%s", listed, i ? ", " : "", names[i]);
    }
    return mer_error_set(error, MER_UNSUPPORTED,
                         "--task is \"%s\", expected --jobs FILE beside it or a built-in task: %s",
                         task, listed);
}

MerStatus mer_schedule_take_flags(MerCommandLine *line, MerError *error)
{
    Flags       flags = {0};
    const char *select;
    bool        is_stream;
    MER_TRY(gather(line, flags, error));
    const char *twice = find_contradiction(line, flags);
    if (twice) {
        return mer_error_set(error, MER_UNSUPPORTED, "%s say the same, expected one of them",
                             twice);
    }
    for (int i = 0; i < line->flags.count; i++) {
        if (mer_name_equal(line->flags.keys[i], "jobs")) {
            add_workload(line, line->flags.values[i]);
        }
    }
    take_built_in(flags, line);
    if (flags[TASK] && line->workloads.count == 0) {
        return refuse_task(flags[TASK], line->arena, error);
    }
    MER_TRY(selection(flags, &select, &is_stream, line->arena, error));
    if (select) {
        line->settings = mer_reference_add(&line->settings, "select", select, line->arena);
    }
    if (is_stream && !has_setting(line, "warm")) { /* docs/scheduling-online.md, "Warm starts" */
        line->settings = mer_reference_add(&line->settings, "warm", "chain", line->arena);
    }
    return MER_OK;
}
