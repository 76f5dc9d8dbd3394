/* Groups of jobs that are searched together: those of the file, those that the host's rule cuts, or one of
 * everything; and the choice among them. */
#include "schedule/jobs/schedule_jobs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void take_given_groups(const MerJobSet *set, MerArena *arena, MerJobGroups *groups)
{
    groups->count = set->group_count;
    groups->names = MER_ARRAY(arena, const char *, set->group_count + 1);
    groups->start = MER_ARRAY(arena, int, set->group_count + 1);
    groups->jobs = MER_ARRAY(arena, int, set->job_count + 1);
    int *fill = MER_ARRAY(arena, int, set->group_count + 1);
    for (int j = 0; j < set->job_count; j++) {
        groups->start[set->jobs[j].group + 1]++;
    }
    for (int g = 0; g < set->group_count; g++) {
        groups->names[g] = set->group_names[g];
        groups->start[g + 1] += groups->start[g];
        fill[g] = groups->start[g];
    }
    for (int j = 0; j < set->job_count; j++) {
        groups->jobs[fill[set->jobs[j].group]++] = j;
    }
}

void mer_schedule_groups(const MerGraph *graph, const MerJobSet *set, int size,
                         const MerGroupTimes *times, MerArena *arena, MerJobGroups *groups)
{
    size = size > 0 ? size : set->group_size;
    if (set->group_count > 0) {
        take_given_groups(set, arena, groups);
    } else if (size > 0) {
        mer_schedule_cut(set, size, times, arena, groups);
    } else {
        *groups = (MerJobGroups){1, MER_ARRAY(arena, const char *, 1), MER_ARRAY(arena, int, 2),
                                 MER_ARRAY(arena, int, set->job_count + 1)};
        groups->names[0] = graph->name;
        groups->start[1] = set->job_count;
        for (int j = 0; j < set->job_count; j++) {
            groups->jobs[j] = j;
        }
    }
}

/* Does one word of `select` name the group `name`, or the `number`-th of all, counted from 1? Numbers behind the name of
 * a family are parts of the names that files have published. */
static bool names_group(const char *word, size_t length, int number, const char *name)
{
    const char *colon = memchr(word, ':', length);
    const char *own_colon = strchr(name, ':');
    size_t      head = colon ? (size_t)(colon - word) : length;
    size_t      own_head = own_colon ? (size_t)(own_colon - name) : strlen(name);
    if (strlen(name) == length && strncmp(word, name, length) == 0) {
        return true;
    }
    bool is_family = own_head == head && strncmp(word, name, head) == 0;
    if (is_family && !colon) {
        return own_colon != NULL;
    }
    const char *range = is_family ? colon + 1 : word;
    int         own = is_family && own_colon ? atoi(own_colon + 1) : number;
    if (colon && !is_family) {
        return false;
    }
    char *end;
    long  low = strtol(range, &end, 10);
    long  high = *end == '-' ? strtol(end + 1, &end, 10) : low;
    return end == word + length && end != range && own >= low && own <= high;
}

/* "vision:0-9, mix:0-9", names without a family one by one, as much as fits; "1-97" where the host's rule has cut them. */
static void list_groups(const MerJobGroups *groups, char *text, size_t size)
{
    size_t at = 0;
    if (groups->count > 0 && strcmp(groups->names[0], "group 1") == 0) {
        snprintf(text, size, "1-%d", groups->count);
        return;
    }
    for (int g = 0; g < groups->count && at < size;) {
        const char *name = groups->names[g];
        size_t      head = strcspn(name, ":") + 1;
        int         last = g;
        while (last + 1 < groups->count && strlen(name) > head &&
               strncmp(groups->names[last + 1], name, head) == 0) {
            last++;
        }
        bool is_cut = at > size - 100;
        at += (size_t)snprintf(text + at, size - at, "%s%.60s%s%.20s", at ? ", " : "",
                               is_cut ? "..." : name, last > g && !is_cut ? "-" : "",
                               last > g && !is_cut ? groups->names[last] + head : "");
        g = is_cut ? groups->count : last + 1;
    }
}

static bool names_any(const MerJobGroups *groups, const char *word, size_t length)
{
    bool is_known = false;
    for (int g = 0; g < groups->count && !is_known; g++) {
        is_known = names_group(word, length, g + 1, groups->names[g]);
    }
    return is_known;
}

/* The end of a range that names no group, "mix:20" of "mix:8-20"; false if there is none. */
static bool find_missing_end(const MerJobGroups *groups, const char *word, size_t length,
                             char *text, size_t size)
{
    const char *colon = memchr(word, ':', length);
    const char *range = colon ? colon + 1 : word;
    char       *dash, *end;
    long        ends[2] = {strtol(range, &dash, 10)};
    if (dash == range || *dash != '-') {
        return false;
    }
    ends[1] = strtol(dash + 1, &end, 10);
    for (int i = 0; i < 2 && end == word + length; i++) {
        snprintf(text, size, "%.*s%ld", (int)(range - word), word, ends[i]);
        if (!names_any(groups, text, strlen(text))) {
            return true;
        }
    }
    return false;
}

static bool is_name(const MerJobGroups *groups, const char *word, size_t length)
{
    for (int g = 0; g < groups->count; g++) {
        if (strlen(groups->names[g]) == length && strncmp(word, groups->names[g], length) == 0) {
            return true;
        }
    }
    return false;
}

/* A word that names no group, and a range that goes beyond them, are errors, so that a typing error is no
 * smaller run. */
static MerStatus check_words(const MerJobGroups *groups, const char *select, MerError *error)
{
    char listed[300];
    char missing[100];
    for (const char *at = select; *at;) {
        size_t length = strcspn(at, ",");
        bool   is_known = names_any(groups, at, length);
        bool   is_cut = is_known && !is_name(groups, at, length) &&
                      find_missing_end(groups, at, length, missing, sizeof missing);
        if (!is_known || is_cut) {
            list_groups(groups, listed, sizeof listed);
            return mer_error_set(
                error, MER_INVALID,
                "there is no group \"%.*s\"%s%.*s%s, expected one of %d groups: %s",
                is_cut ? (int)sizeof missing : (int)length, is_cut ? missing : at,
                is_cut ? " of the range \"" : "", is_cut ? (int)length : 0, at, is_cut ? "\"" : "",
                groups->count, listed);
        }
        at += length;
        at += *at == ',';
    }
    return MER_OK;
}

MerStatus mer_schedule_select(MerJobGroups *groups, const char *select, MerError *error)
{
    if (!select || !*select) {
        return MER_OK;
    }
    MER_TRY(check_words(groups, select, error));
    int kept = 0;
    int jobs = 0;
    for (int g = 0; g < groups->count; g++) {
        bool is_named = false;
        for (const char *at = select; *at;) {
            size_t length = strcspn(at, ",");
            is_named = is_named || names_group(at, length, g + 1, groups->names[g]);
            at += length;
            at += *at == ',';
        }
        int size = groups->start[g + 1] - groups->start[g];
        if (is_named) {
            memmove(groups->jobs + jobs, groups->jobs + groups->start[g],
                    (size_t)size * sizeof(int));
            groups->names[kept] = groups->names[g];
            groups->start[kept++] = jobs;
            jobs += size;
        }
    }
    groups->count = kept;
    groups->start[kept] = jobs;
    return MER_OK;
}
