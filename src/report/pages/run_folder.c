/* Folders of runs, as experiments and several optimizers leave them: DIR/001, DIR/002, ... */
#include "report/pages/run_folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Cells of a study are numbered with three digits, and with more where there are more. */
static int by_number(const struct dirent **a, const struct dirent **b)
{
    long x = strtol((*a)->d_name, NULL, 10);
    long y = strtol((*b)->d_name, NULL, 10);
    return x != y ? (x > y) - (x < y) : strcmp((*a)->d_name, (*b)->d_name);
}

bool mer_report_is_run(const char *path, MerArena *arena)
{
    return access(mer_arena_format(arena, "%s/run.jsonl", path), F_OK) == 0;
}

/* Sweeps and comparisons are folders of runs, and stand among runs. */
static void collect(const char *path, int depth, MerArena *arena, const char ***runs, int *count)
{
    struct dirent **entries = NULL;
    int             found = scandir(path, &entries, is_visible, by_number);
    for (int i = 0; i < found; i++) {
        const char *inner = mer_arena_format(arena, "%s/%s", path, entries[i]->d_name);
        if (mer_report_is_run(inner, arena)) {
            MER_GROW(arena, *runs, *count);
            (*runs)[(*count)++] = inner;
        } else if (depth > 1) {
            collect(inner, depth - 1, arena, runs, count);
        }
        free(entries[i]);
    }
    free(entries);
}

MerStatus mer_report_find_runs(const char *path, MerArena *arena, const char ***runs, int *count,
                               MerError *error)
{
    enum { DEEPEST = 3 };
    size_t length = strlen(path);
    bool   is_log = length > 6 && strcmp(path + length - 6, ".jsonl") == 0;
    int    before = *count;
    if (is_log || mer_report_is_run(path, arena)) {
        MER_GROW(arena, *runs, *count);
        (*runs)[(*count)++] = path;
    } else {
        collect(path, DEEPEST, arena, runs, count);
    }
    if (*count > before) {
        return MER_OK;
    }
    return access(path, F_OK) == 0
               ? mer_error_set(error, MER_NOT_FOUND, "%s: no run in it, expected run.jsonl", path)
               : mer_error_set(error, MER_NOT_FOUND, "%s: no such file or folder", path);
}
