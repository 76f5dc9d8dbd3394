/* After Ctrl-C: what is done, and how to go on. */
#include "cli/request.h"

#include "base/terminal.h"

#include <stdio.h>
#include <string.h>

/* For a shell: as it is, or in single quotes. */
static void print_word(FILE *file, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-_./=,+@%";
    if (*word && strspn(word, plain) == strlen(word)) {
        fputs(word, file);
        return;
    }
    fputc('\'', file);
    for (; *word; word++) {
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, file);
    }
    fputc('\'', file);
}

static void print_command(const MerRequest *request, const char *directory)
{
    fprintf(stderr, "to go on: mercator %s --resume ", request->verb);
    print_word(stderr, directory);
    fputc('\n', stderr);
}

/* Behind what stands on stdout. */
static void begin_line(void)
{
    fflush(stdout);
    fprintf(stderr, "%smercator: interrupted:%s ", mer_style(stderr, MER_STYLE_WARNING),
            mer_style(stderr, MER_STYLE_NONE));
}

void mer_show_interrupted_run(const MerRequest *request, const MerRunResult *result,
                              const char *directory)
{
    const MerTaskResult *at = NULL;
    int                  done = 0;
    for (int t = 0; t < result->task_count; t++) {
        const MerTaskResult *task = &result->tasks[t];
        bool                 is_done = task->stopped && strcmp(task->stopped, "interrupted") != 0;
        done += is_done;
        at = at || is_done || task->trials == 0 ? at : task;
    }
    begin_line();
    fprintf(stderr, "%d of %d task%s done", done, result->task_count,
            result->task_count == 1 ? "" : "s");
    if (at) {
        fprintf(stderr, ", and %lld evaluation%s of %s", (long long)at->evaluations,
                at->evaluations == 1 ? "" : "s", at->task.name);
    }
    fputc('\n', stderr);
    print_command(request, directory);
}

void mer_show_interrupted_runs(const MerRequest *request, const MerCellTotal *totals, int count,
                               const char *root)
{
    int done = 0;
    for (int i = 0; i < count; i++) {
        done += totals[i].is_done;
    }
    begin_line();
    fprintf(stderr, "%d of %d runs done\n", done, count);
    print_command(request, root);
}
