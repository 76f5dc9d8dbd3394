/* The command of a stopped run and the directory it was given in, from clock.jsonl. Network, platform,
 * tables and constraints may be named by relative paths: they are read from where the run was started. */
#include "cli/request.h"

#include "base/file.h"
#include "base/json_read.h"
#include "mercator/text.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CLOCK_LIMIT = 1 << 30 };

/* A file of the run in this folder, or of the first of several. */
static const char *file_of(const char *run, const char *name, MerArena *arena)
{
    const char *own = mer_arena_format(arena, "%s/%s", run, name);
    const char *first = mer_arena_format(arena, "%s/001/%s", run, name);
    return access(own, F_OK) != 0 && access(first, F_OK) == 0 ? first : own;
}

MerStatus mer_cli_check_resumed(const char *run, const char *problem, MerArena *arena,
                                MerError *error)
{
    char     *header = NULL;
    bool      is_whole;
    MerStatus status = MER_OK;
    MER_TRY(
        mer_file_first_line(file_of(run, "run.jsonl", arena), arena, &header, &is_whole, error));
    cJSON      *line = header ? cJSON_Parse(header) : NULL;
    const char *was = mer_json_get_text(mer_json_get(line, "problem"), "name", problem);
    if (strcmp(was, problem) != 0) {
        status = mer_error_set(error, MER_INVALID,
                               "%s is a run of %s, not of %s: mercator %s --resume %s", run, was,
                               problem, was, run);
    }
    cJSON_Delete(line);
    return status;
}

static bool is_same_folder(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static void go_to_start(const char *run, const char *clock, const char *start, MerArena *arena,
                        MerRecalled *recalled)
{
    char here[4096];
    if (is_same_folder(start, ".") || !getcwd(here, sizeof here)) {
        return;
    }
    if (chdir(start) == 0) {
        recalled->run = run[0] == '/' ? run : mer_arena_format(arena, "%s/%s", here, run);
        return;
    }
    mer_request_warn(
        NULL, mer_arena_format(
                  arena, "%s: the run was started in %s (%s); its relative paths are read from %s",
                  clock, start, strerror(errno), here));
}

const char *mer_cli_start_of(const char *run, MerArena *arena)
{
    char *header = NULL;
    bool  is_whole;
    mer_file_first_line(file_of(run, "clock.jsonl", arena), arena, &header, &is_whole, NULL);
    cJSON      *line = header ? cJSON_Parse(header) : NULL;
    const char *start = mer_json_get_text(line, "directory", NULL);
    start = start ? mer_arena_text(arena, start) : NULL;
    cJSON_Delete(line);
    return start;
}

MerStatus mer_cli_recall(const char *run, MerArena *arena, MerRecalled *recalled, MerError *error)
{
    *recalled = (MerRecalled){.run = run};
    const char *path = file_of(run, "clock.jsonl", arena);
    char       *data;
    size_t      size;
    MerStatus   status = MER_OK;
    if (access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) {
        return mer_error_set(error, MER_NOT_FOUND,
                             "%s is not the folder of a run: it has neither clock.jsonl nor "
                             "001/clock.jsonl",
                             run);
    }
    MER_TRY(mer_file_read(path, CLOCK_LIMIT, arena, &data, &size, error));
    data[strcspn(data, "\n")] = '\0';
    cJSON       *line = cJSON_Parse(data);
    const cJSON *command = mer_json_get(line, "command");
    const char  *start = mer_json_get_text(line, "directory", NULL);
    recalled->count = cJSON_GetArraySize(command);
    recalled->arguments = MER_ARRAY(arena, char *, recalled->count + 1);
    for (int i = 0; i < recalled->count; i++) {
        const char *text = cJSON_GetStringValue(cJSON_GetArrayItem(command, i));
        recalled->arguments[i] = mer_arena_text(arena, text ? text : "");
    }
    if (recalled->count == 0) {
        status = mer_error_set(error, MER_INVALID, "%s:1: no command to resume", path);
    } else if (start) {
        go_to_start(run, path, start, arena, recalled);
    }
    cJSON_Delete(line);
    return status;
}
