/* The loop of a run, as a user sees it: trials per second of `map` and `schedule` with and without the full log, on one
 * thread and on two, and what a trial takes in the log. Before each case stands how long a number takes from one thread
 * to the other and back: two cores of one cluster need about 80 ns, and a host that keeps a machine's cores apart
 * makes it several hundred, which no bar here is meant for. Lines are `name value unit`; a bar follows where there is one.
 * The program is that of MERCATOR. Starting up is measured apart and taken off.
 * Arguments choose what is measured: verbs, optimizers, or both, as `map annealing`. */
#define _XOPEN_SOURCE 700 /* mkdtemp, popen */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { REPEATS = 5, TRIPS = 200000 };

typedef struct Ball {
    _Alignas(128) atomic_int there;
    _Alignas(128) atomic_int back;
} Ball;

typedef struct Case {
    const char *verb, *input;
    long        budget[2]; /* without the full log, with it */
} Case;

static const char *program, *folder;

static void *throw_back(void *context)
{
    Ball *ball = context;
    for (int i = 1; i <= TRIPS; i++) {
        while (atomic_load_explicit(&ball->there, memory_order_acquire) < i) {
        }
        atomic_store_explicit(&ball->back, i, memory_order_release);
    }
    return NULL;
}

static void measure_round_trip(void)
{
    Ball            ball = {0};
    pthread_t       thread;
    struct timespec start, end;
    if (pthread_create(&thread, NULL, throw_back, &ball) != 0) {
        return;
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 1; i <= TRIPS; i++) {
        atomic_store_explicit(&ball.there, i, memory_order_release);
        while (atomic_load_explicit(&ball.back, memory_order_acquire) < i) {
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    pthread_join(thread, NULL);
    printf("loop_round_trip %.0f ns\n",
           ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
               TRIPS);
}

/* Seconds of a run by its own count, and the size of its log. */
static double run(const Case *what, const char *optimizer, int is_full, int threads, long budget,
                  long *bytes)
{
    char        command[1024], path[512], text[1 << 16];
    struct stat log;
    snprintf(command, sizeof command,
             "rm -rf '%s/run'; '%s' %s %s --optimizer %s --budget %ld --log %s --threads %d "
             "--quiet --no-report --json -o '%s/run' 2>/dev/null",
             folder, program, what->verb, what->input, optimizer, budget,
             is_full ? "all" : "improving", threads, folder);
    FILE  *output = popen(command, "r");
    size_t length = output ? fread(text, 1, sizeof text - 1, output) : 0;
    text[length] = '\0';
    const char *wall = strstr(text, "\"wall_s\":");
    snprintf(path, sizeof path, "%s/run/run.jsonl", folder);
    if (!output || pclose(output) != 0 || !wall || stat(path, &log) != 0) {
        fprintf(stderr, "bench_loop: this failed: %s\n", command);
        exit(1);
    }
    *bytes = (long)log.st_size;
    return atof(wall + strlen("\"wall_s\":"));
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, REPEATS, sizeof *values, compare);
    return values[REPEATS / 2];
}

/* Two runs in turn, so that a machine that gets slower in between slows both. */
static void measure(const Case *what, const char *optimizer, int is_full)
{
    double one[REPEATS], two[REPEATS], ratio[REPEATS], each = 0;
    long   budget = what->budget[is_full], start = budget / 10;
    measure_round_trip();
    for (int i = 0; i < REPEATS; i++) {
        double rate[2];
        for (int t = 0; t < 2; t++) {
            long   few, many;
            double before = run(what, optimizer, is_full, t + 1, start, &few);
            double after = run(what, optimizer, is_full, t + 1, budget, &many);
            rate[t] = (double)(budget - start) / (after - before);
            each = (double)(many - few) / (double)(budget - start);
        }
        one[i] = rate[0];
        two[i] = rate[1];
        ratio[i] = rate[1] / rate[0];
    }
    const char *log = is_full ? "full_log" : "sparse_log";
    int         is_map = strcmp(what->verb, "map") == 0 && strcmp(optimizer, "random") == 0;
    printf("loop_%s_%s_%s_1 %.0f trials/s%s\n", what->verb, optimizer, log, median(one),
           !is_map   ? ""
           : is_full ? " (bar 400000)"
                     : " (bar 1500000)");
    printf("loop_%s_%s_%s_2 %.0f trials/s\n", what->verb, optimizer, log, median(two));
    printf("loop_%s_%s_%s_ratio %.2f x (bar 1.7)\n", what->verb, optimizer, log, median(ratio));
    if (is_full) {
        printf("loop_%s_%s_bytes %.1f bytes/trial%s\n", what->verb, optimizer, each,
               is_map ? " (187.4 in version 1, bar half of it)" : "");
    }
    fflush(stdout);
}

/* Is it among the words given, or are none of its kind? */
static int is_wanted(const char *word, const char *const *kind, size_t count, char **given)
{
    int others = 0;
    for (; *given; given++) {
        for (size_t k = 0; k < count; k++) {
            others += strcmp(*given, kind[k]) == 0;
        }
        if (strcmp(*given, word) == 0) {
            return 1;
        }
    }
    return others == 0;
}

int main(int argc, char **argv)
{
    (void)argc;
    static const Case        cases[] = {{"map", "resnet50 --select 9", {2000000, 500000}},
                                        {"schedule", "mix --select 1", {40000, 20000}}};
    static const char *const verbs[] = {"map", "schedule"};
    static const char *const optimizers[] = {"random", "genetic", "annealing"};
    char                     place[] = "/tmp/bench-loop-XXXXXX", clean[64];
    program = getenv("MERCATOR");
    folder = mkdtemp(place);
    if (!program || !folder) {
        fprintf(stderr, "bench_loop: MERCATOR is not set, expected the program\n");
        return 1;
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t o = 0; o < sizeof optimizers / sizeof *optimizers; o++) {
            int is_measured = is_wanted(cases[c].verb, verbs, 2, argv + 1) &&
                              is_wanted(optimizers[o], optimizers, 3, argv + 1);
            for (int is_full = 0; is_measured && is_full < 2; is_full++) {
                measure(&cases[c], optimizers[o], is_full);
            }
        }
    }
    snprintf(clean, sizeof clean, "rm -rf '%s'", folder);
    return system(clean) != 0;
}
