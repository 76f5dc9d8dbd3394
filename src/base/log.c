/* Clocks, and the progress line for people who wait. */
#include "base/log.h"

#include "base/terminal.h"

#include <string.h>
#include <time.h>

enum { WIDEST = 200 };

static double seconds(clockid_t clock)
{
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double mer_clock(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double mer_cpu_clock(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

void mer_progress_begin(MerProgress *progress, FILE *file)
{
    *progress = (MerProgress){.file = file, .started = mer_clock()};
    progress->is_terminal = mer_is_terminal(file);
    /* A terminal shows the first line at once, a file after its first interval. */
    progress->last = progress->is_terminal ? progress->started - 1 : progress->started;
}

/* 12.3k, 4.56M: three digits are enough. */
static void format_short(char *buffer, size_t size, double rate, const char *unit)
{
    const char *suffix = "";
    if (rate >= 1e6) {
        rate /= 1e6;
        suffix = "M";
    } else if (rate >= 1e3) {
        rate /= 1e3;
        suffix = "k";
    }
    snprintf(buffer, size, "%.3g%s%s", rate, suffix, unit);
}

/* 1:02:03, 2:03; empty where it is not known. */
static void format_left(char *buffer, size_t size, double left_s)
{
    buffer[0] = '\0';
    if (!(left_s >= 0) || left_s > 359999) {
        return;
    }
    int left = (int)(left_s + 0.5);
    if (left >= 3600) {
        snprintf(buffer, size, "%d:%02d:%02d", left / 3600, left / 60 % 60, left % 60);
    } else {
        snprintf(buffer, size, "%d:%02d", left / 60, left % 60);
    }
}

/* What a narrower line leaves out, in this order. */
enum { WHOLE, NO_DETAIL, PERCENT, NO_GAP, NO_NAME, NO_WORDS, NO_RATE, LEVELS };
enum { LEAST_NAME = 10, PART = 96 };

typedef struct Line {
    char        text[4 * PART + WIDEST];
    const char *separator; /* before the next part */
    const char *between;
} Line;

static void add_part(Line *line, const char *before, const char *text, const char *after)
{
    size_t length = strlen(line->text);
    if (text != NULL && *text != '\0') {
        snprintf(line->text + length, sizeof line->text - length, "%s%s%.*s%s", line->separator,
                 before, PART, text, after);
        line->separator = line->between;
    }
}

static void format_done(char *buffer, size_t size, const MerProgressNow *now, int level)
{
    if (level >= PERCENT && now->total > 0) {
        snprintf(buffer, size, "%.0f%s%%", 100.0 * (double)now->done / (double)now->total,
                 level < NO_WORDS ? " " : "");
        return;
    }
    if (level >= NO_WORDS) {
        format_short(buffer, size, (double)now->done, "");
        return;
    }
    char goal[32] = "";
    if (now->total > 0) {
        snprintf(goal, sizeof goal, "/%lld", (long long)now->total);
    }
    snprintf(buffer, size, "%lld%s%s%s", (long long)now->done, goal, *now->unit ? " " : "",
             now->unit);
}

/* Everything but the name, which gets what is left of the width. */
static void format_rest(Line *line, const MerProgressNow *now, int level)
{
    char speed[32] = "", left[40] = "", done[96];
    bool has_words = level < NO_WORDS;
    if (now->rate > 0 && level < NO_RATE) {
        format_short(speed, sizeof speed, now->rate, "/s");
    }
    format_left(left, sizeof left, now->left_s);
    format_done(done, sizeof done, now, level);
    line->between = has_words ? ", " : " ";
    line->separator = has_words ? ": " : " ";
    add_part(line, "", done, "");
    add_part(line, has_words ? "best " : "", now->best, "");
    add_part(line, "gap ", level < NO_GAP ? now->gap : NULL, "");
    add_part(line, "", level < NO_DETAIL ? now->detail : NULL, "");
    add_part(line, "", speed, "");
    add_part(line, "", left, has_words ? " left" : "");
}

/* "map 3/12" and the name, in the columns there are; false: they are too few. */
static bool format_head(char *head, size_t size, const MerProgressNow *now, int level, int columns)
{
    const char *space = strrchr(now->what, ' ');
    const char *what = level >= NO_WORDS && space != NULL ? space + 1 : now->what;
    int         rest = columns - mer_text_columns(what) - 1;
    char        name[PART] = "";
    bool        has_name = now->name != NULL && *now->name != '\0' && level < NO_NAME;
    if (has_name) {
        int most = rest > PART - 1 ? PART - 1 : rest;
        mer_text_shorten(name, sizeof name, now->name, most > 0 ? most : 0);
    }
    snprintf(head, size, "%s%s%s", what, *name ? " " : "", name);
    int needed = has_name ? mer_text_columns(now->name) : -1;
    return rest >= (needed < LEAST_NAME ? needed : LEAST_NAME);
}

void mer_progress_format(char *line, size_t size, const MerProgressNow *now, int columns)
{
    for (int level = WHOLE; level < LEVELS; level++) {
        Line rest = {0};
        char head[2 * PART];
        format_rest(&rest, now, level);
        bool fits =
            format_head(head, sizeof head, now, level, columns - mer_text_columns(rest.text));
        snprintf(line, size, "%s%s", head, rest.text);
        if (fits) {
            return;
        }
    }
    line[(size_t)columns < size ? (size_t)columns : size - 1] = '\0';
}

void mer_progress_update(MerProgress *progress, const MerProgressNow *what)
{
    double now = mer_clock();
    if (progress->file == NULL || now - progress->last < (progress->is_terminal ? 0.1 : 10)) {
        return;
    }
    char line[4 * WIDEST];
    int  columns = mer_terminal_columns(progress->file) - 1; /* the last one would wrap */
    columns = columns <= 0 || columns > WIDEST ? WIDEST : columns;
    mer_progress_format(line, sizeof line, what, columns);
    progress->last = now;
    if (progress->is_terminal) {
        /* Spaces cover what is left of a longer line. */
        int width = mer_text_columns(line);
        int cover = progress->width > width ? progress->width - width : 0;
        fprintf(progress->file, "\r%s%*s", line, cover, "");
        progress->width = width;
    } else {
        fprintf(progress->file, "%s\n", line);
    }
    fflush(progress->file);
}

void mer_progress_end(MerProgress *progress)
{
    if (progress->file != NULL && progress->is_terminal && progress->width > 0) {
        /* and the ^C that the terminal itself may have put behind it */
        int columns = mer_terminal_columns(progress->file);
        int cover = progress->width + 2 < columns ? progress->width + 2 : progress->width;
        fprintf(progress->file, "\r%*s\r", cover, "");
        fflush(progress->file);
    }
    progress->width = 0;
}
