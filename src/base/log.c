/* Clocks, and the progress line for people who wait. */
#include "base/log.h"

#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { WIDEST = 200, USUAL_WIDTH = 80 };

/* Columns of the terminal behind `file`; a plain file takes whole lines. */
static int columns_of(const MerProgress *progress)
{
    struct winsize size = {0};
    if (!progress->is_terminal) {
        return WIDEST;
    }
    bool is_known = ioctl(fileno(progress->file), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    int  columns = is_known ? size.ws_col : USUAL_WIDTH;
    return columns - 1 < WIDEST ? columns - 1 : WIDEST;
}

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
    progress->is_terminal = file != NULL && isatty(fileno(file)) == 1;
    /* A terminal shows the first line at once, a file after its first interval. */
    progress->last = progress->is_terminal ? progress->started - 1 : progress->started;
}

/* 12.3k, 4.56M: three digits are enough for a rate. */
static void format_rate(char *buffer, size_t size, double rate)
{
    const char *suffix = "";
    if (rate >= 1e6) {
        rate /= 1e6;
        suffix = "M";
    } else if (rate >= 1e3) {
        rate /= 1e3;
        suffix = "k";
    }
    snprintf(buffer, size, "%.3g%s/s", rate, suffix);
}

static void format_left(char *buffer, size_t size, double left_s)
{
    if (left_s < 0 || left_s > 359999) {
        buffer[0] = '\0';
        return;
    }
    int left = (int)(left_s + 0.5);
    if (left >= 3600) {
        snprintf(buffer, size, ", %d:%02d:%02d left", left / 3600, left / 60 % 60, left % 60);
    } else {
        snprintf(buffer, size, ", %d:%02d left", left / 60, left % 60);
    }
}

static int format_line(char *line, size_t size, const char *label, int64_t done, int64_t total,
                       double rate, const char *best)
{
    char speed[32] = "", left[40] = "", goal[32] = "";
    if (total > 0) {
        snprintf(goal, sizeof goal, "/%lld", (long long)total);
    }
    if (rate > 0) {
        format_rate(speed, sizeof speed, rate);
        format_left(left, sizeof left, total > 0 ? (double)(total - done) / rate : -1);
    }
    int length = snprintf(line, size, "%s: %lld%s%s%s%s%s%s", label, (long long)done, goal,
                          best != NULL ? ", best " : "", best != NULL ? best : "",
                          speed[0] != '\0' ? ", " : "", speed, left);
    return length < (int)size ? length : (int)size - 1;
}

void mer_progress_update(MerProgress *progress, const char *label, int64_t done, int64_t total,
                         double rate, const char *best)
{
    double now = mer_clock();
    if (progress->file == NULL || now - progress->last < (progress->is_terminal ? 0.1 : 10)) {
        return;
    }
    char line[WIDEST + 1];
    int  length =
        format_line(line, (size_t)columns_of(progress) + 1, label, done, total, rate, best);
    progress->last = now;
    if (progress->is_terminal) {
        /* Spaces cover what is left of a longer line. */
        int cover = progress->width > length ? progress->width - length : 0;
        fprintf(progress->file, "\r%s%*s", line, cover, "");
        progress->width = length;
    } else {
        fprintf(progress->file, "%s\n", line);
    }
    fflush(progress->file);
}

void mer_progress_end(MerProgress *progress)
{
    if (progress->file != NULL && progress->is_terminal && progress->width > 0) {
        fprintf(progress->file, "\r%*s\r", progress->width, "");
        fflush(progress->file);
    }
    progress->width = 0;
}
