/* Whose folder is it? The first line of its log says which command wrote it, its summary and its clock which files: the
 * clock is told before a file is written, so that a run that was killed then knows its own. */
#include "run/internal.h"

#include "base/descriptor.h"
#include "base/file.h"
#include "base/json_read.h"
#include "run/experiment/cells.h"
#include "run/log/clock.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_SUMMARY = 1 << 28 };

static const char *path_of(const MerRunState *run, const char *name)
{
    return mer_arena_format(run->arena, "%s/%s", run->spec->directory, name);
}

static bool exists(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0;
}

static bool is_link(const char *path)
{
    struct stat about;
    return lstat(path, &about) == 0 && S_ISLNK(about.st_mode);
}

static bool is_known(const MerRunState *run, const char *name)
{
    return mer_name_table_find(&run->known_files, name) != NULL;
}

/* Its folders, too, with their slash. */
static void know(MerRunState *run, const char *name)
{
    mer_name_table_set(&run->known_files, mer_arena_text(run->arena, name), run);
    for (const char *slash = strchr(name, '/'); slash; slash = strchr(slash + 1, '/')) {
        mer_name_table_set(&run->known_files,
                           mer_arena_text_n(run->arena, name, (size_t)(slash - name) + 1), run);
    }
}

static void tell(MerRunState *run, const char *name)
{
    mer_name_table_set(&run->told_files, mer_arena_text(run->arena, name), run);
}

static void know_written(void *context, const cJSON *line)
{
    MerRunState *run = context;
    const char  *name = mer_json_get_text(line, "writes", NULL);
    if (name) {
        know(run, name);
    }
    if (name && run->spec->resume) { /* else a new file follows */
        tell(run, name);
    }
}

const char *mer_folder_left_part(const char *name, MerArena *arena)
{
    static const char mark[] = ".part";
    const char       *part = strrchr(name, '.');
    if (!part || strncmp(part, mark, sizeof mark - 1) != 0 || !isdigit(part[sizeof mark - 1])) {
        return NULL;
    }
    char *end;
    long  writer = strtol(part + sizeof mark - 1, &end, 10);
    if (*end == '-' && isdigit(end[1])) { /* of another thread */
        strtol(end + 1, &end, 10);
    }
    bool is_left = *end == '\0' && kill((pid_t)writer, 0) != 0 && errno == ESRCH;
    return is_left ? mer_arena_text_n(arena, name, (size_t)(part - name)) : NULL;
}

/* What the run before has written: files of its summary, and those that every run may leave. */
static void know_old_files(MerRunState *run)
{
    static const char *const always[] = {"run.jsonl", "clock.jsonl", "summary.json", "report.html",
                                         "platform.yaml"};
    char                    *text;
    size_t                   size;
    for (size_t i = 0; i < sizeof always / sizeof *always; i++) {
        know(run, always[i]);
    }
    if (run->spec->problem->plan_file) {
        know(run, run->spec->problem->plan_file);
    }
    if (mer_file_read(path_of(run, "summary.json"), MAX_SUMMARY, run->arena, &text, &size, NULL) ==
        MER_OK) {
        cJSON       *summary = cJSON_Parse(text);
        const cJSON *file;
        cJSON_ArrayForEach(file, mer_json_get(summary, "files"))
        {
            if (cJSON_IsString(file)) {
                know(run, file->valuestring);
            }
        }
        cJSON_Delete(summary);
    }
    mer_clock_read(path_of(run, "clock.jsonl"), know_written, run);
}

void mer_folder_will_write(MerRunState *run, const char *name)
{
    if (run->clock_file && !mer_name_table_find(&run->told_files, name)) {
        MerJson json = {0};
        know(run, name);
        tell(run, name);
        mer_json_object(&json, NULL);
        mer_json_text(&json, "writes", name);
        mer_json_end_object(&json);
        fprintf(run->clock_file, "%s\n", json.text);
        fflush(run->clock_file);
        mer_json_free(&json);
    }
}

bool mer_folder_may_write(const MerRunState *run, const char *name)
{
    const char *path = path_of(run, name);
    return !exists(path) || (!is_link(path) && is_known(run, name));
}

/* Which key of the header is not as this run would write it? */
static const char *what_differs(const MerRunState *run, const char *header)
{
    static const char *const keys[] = {"problem",   "workload",  "platform",
                                       "evaluator", "objective", "optimizer"};
    const MerRunSpec        *spec = run->spec;
    const char *const        now[] = {
               spec->problem->name,   spec->name,          spec->platform ? spec->platform->name : "none",
               spec->evaluator->name, run->objective.text, spec->optimizer->name};
    cJSON      *old = cJSON_Parse(header);
    const char *text = NULL;
    for (int k = 0; !text && k < 6; k++) {
        const cJSON *item = mer_json_get(old, keys[k]);
        const cJSON *name = cJSON_IsObject(item) ? mer_json_get(item, "name") : item;
        const char  *was = cJSON_GetStringValue(name);
        if (was && strcmp(was, now[k]) != 0) {
            text = mer_arena_format(run->arena, "%s %s, not %s", keys[k], was, now[k]);
        }
    }
    cJSON_Delete(old);
    return text ? text
                : mer_arena_format(run->arena, "with another %s",
                                   mer_cell_difference(header, spec, run->arena));
}

static MerStatus check_owner(MerRunState *run, const char *header, MerError *error)
{
    const MerRunSpec *spec = run->spec;
    const char       *before = mer_cell_identity_of(header, run->arena);
    if (!before) {
        return mer_error_set(error, MER_INVALID,
                             "%s/run.jsonl is not a run log, expected an empty folder or one of an "
                             "earlier run; choose another with -o DIR",
                             spec->directory);
    }
    bool is_same = strcmp(before, mer_cell_identity(spec, run->arena)) == 0;
    if (!is_same && !spec->force) {
        return mer_error_set(error, MER_INVALID,
                             "%s holds the results of another command (%s); choose another folder "
                             "with -o DIR, or replace them with --force",
                             spec->directory, what_differs(run, header));
    }
    return MER_OK;
}

/* A file of ours by name that no run has written is in the way. */
static MerStatus check_strangers(const MerRunState *run, MerError *error)
{
    const char *const needed[] = {"run.jsonl", "clock.jsonl", "summary.json", "platform.yaml",
                                  run->spec->problem->plan_file};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        if (needed[i] && !mer_folder_may_write(run, needed[i])) {
            return mer_error_set(
                error, MER_INVALID,
                "%s/%s was not written by a run and would be replaced; choose another folder with "
                "-o DIR",
                run->spec->directory, needed[i]);
        }
    }
    return MER_OK;
}

static bool is_state(const char *name)
{
    int number;
    int length = 0;
    return sscanf(name, "state-%d.bin%n", &number, &length) == 1 && length > 0 && !name[length];
}

/* Halves of files that a killed run has left; and where it does not go on (`all`) all that it has, its states too: they
 * would be taken for this one's. `below`: "" or a folder of the run's, with its slash. */
static void remove_old(MerRunState *run, const char *below, bool all)
{
    DIR           *folder = mer_folder_open(path_of(run, below));
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        const char *name = mer_arena_format(run->arena, "%s%s", below, entry->d_name);
        const char *inner = mer_arena_format(run->arena, "%s/", name);
        const char *whole = mer_folder_left_part(name, run->arena);
        bool        is_log = strcmp(name, "run.jsonl") == 0; /* made empty when it is opened */
        bool        is_old = all && !is_log && (is_known(run, name) || is_state(name));
        if (is_old || (whole && is_known(run, whole))) {
            remove(path_of(run, name));
        } else if (is_known(run, inner) && entry->d_name[0] != '.' &&
                   !is_link(path_of(run, name))) {
            remove_old(run, inner, all);
        }
    }
    if (folder) {
        closedir(folder);
    }
}

/* The run before ended before its first line did, so there is only the clock beside the log. */
static bool is_begun(const char *header)
{
    static const char start[] = "{\"type\":\"header\"";
    size_t            length = strlen(header);
    return strncmp(header, start, length < sizeof start - 1 ? length : sizeof start - 1) == 0;
}

MerStatus mer_folder_claim(MerRunState *run, MerError *error)
{
    const char *log = path_of(run, "run.jsonl");
    char       *header = NULL;
    bool        is_linked = is_link(log), is_whole = false;
    MER_TRY(mer_directory_make(run->spec->directory, run->arena, error));
    run->known_files = run->told_files = (MerNameTable){.arena = run->arena};
    if (!is_linked) {
        MER_TRY(mer_file_first_line(log, run->arena, &header, &is_whole, error));
    }
    if (header && !is_whole && is_begun(header)) {
        know(run, "run.jsonl");
        know(run, "clock.jsonl");
        header = NULL;
    }
    if (run->spec->resume) {
        if (!is_linked) {
            know_old_files(run);
            remove_old(run, "", false);
        }
        return check_strangers(run, error);
    }
    if (header) {
        MER_TRY(check_owner(run, header, error));
        know_old_files(run);
    }
    if (!header && exists(path_of(run, "001/run.jsonl"))) {
        return mer_error_set(error, MER_INVALID,
                             "%s holds several runs, expected an empty folder or one of a single "
                             "run; choose another with -o DIR",
                             run->spec->directory);
    }
    MER_TRY(check_strangers(run, error));
    if (header) {
        remove_old(run, "", true);
    }
    return MER_OK;
}
