/* mercator VERB INPUT [options]: the whole program, which others can call after they have added plug-ins. */
#define _XOPEN_SOURCE 700 /* sigaltstack */
#include "mercator/program.h"

#include "cli/cli.h"

#include "base/terminal.h"
#include "mercator/registry.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* clang-format off */
const MerVerb mer_cli_verbs[] = {
    {"evaluate", "PLAN", "price one given plan", false, mer_cli_evaluate,
     "--json --help --platform --evaluator --objective --plan --workload --export --dim"},
    {"inspect", "MODEL|PLATFORM|FILE",
     "show layers, shapes, MACs and parameters, a resolved platform, or an exported file", false, mer_cli_inspect,
     "--json --help --dim --select --platform"},
    {"calibrate", "RECORDS", "fit the constants of a platform to measured records", false, mer_cli_calibrate,
     "-o --json --help --platform --where --prior --folds --seed --threads"},
    {"list", "KIND [NAME]",
     "models, platforms, problems, optimizers, solvers, evaluators, exporters, formats or metrics", false, mer_cli_list,
     "--json --help"},
    {"compare", "EXPERIMENT|NETWORK", "several optimizers and seeds on one problem, with intervals", true, mer_cli_compare,
     "--problem --reference --baseline --at --format"},
    {"report", "RUN...", "make report.html, or CSV, from run directories", false, mer_cli_report,
     "-o --help --csv --results --metrics --over"},
    {"demo", "", "every problem on a built-in input, with one report", false, mer_cli_demo, "-o --force --help"},
    {"completion", "bash|zsh", "print what makes the TAB key know these verbs and their options", false, mer_cli_completion,
     "--help"},
    {0},
};
/* clang-format on */

static volatile sig_atomic_t interrupts;

/* The first asks the run to end, the second ends it. timeout(1) sends one to the program and one to its group: what
 * comes right behind the first is the same. */
static void on_interrupt(int number)
{
    enum { SAME_MS = 200 };
    static struct timespec first;
    struct timespec        now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (interrupts == 0) {
        first = now;
        interrupts = 1;
    } else if ((now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 >
               SAME_MS) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void mer_cli_catch_interrupts(void)
{
    /* A stack of its own: kernels of oneDNN move the stack into memory that has no room below it. Restarted, because
     * a stream that is interrupted while it writes loses what it holds. */
    static char      memory[1 << 16];
    stack_t          stack = {.ss_sp = memory, .ss_size = sizeof memory};
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool mer_cli_is_interrupted(void *state)
{
    (void)state;
    return interrupts > 0;
}

void mer_cli_say(MerStyle style, const char *label, const char *text)
{
    int columns = mer_terminal_columns(stderr);
    fprintf(stderr, "%s%s%s ", mer_style(stderr, style), label, mer_style(stderr, MER_STYLE_NONE));
    if (columns > 0) {
        mer_print_words(stderr, text, (int)strlen(label) + 1, 2, columns);
    } else {
        fprintf(stderr, "%s\n", text);
    }
}

int mer_cli_fail(const MerError *error)
{
    mer_cli_say(MER_STYLE_ERROR, "mercator:", error->message);
    return error->status == MER_CANCELLED ? MER_EXIT_INTERRUPTED : MER_EXIT_BAD;
}

int mer_cli_usage(const MerVerb *verb, const char *format, ...)
{
    enum { LONGEST = 4096 };
    char    text[LONGEST];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    length = length < LONGEST ? length : LONGEST - 1;
    snprintf(text + length, sizeof text - (size_t)length, "; see mercator %s%s--help",
             verb ? verb->name : "", verb ? " " : "");
    mer_cli_say(MER_STYLE_ERROR, "mercator:", text);
    return MER_EXIT_USAGE;
}

bool mer_cli_is(const char *argument, const char *name)
{
    char   flag[64];
    size_t length = strcspn(argument, "=");
    if (strcmp(argument, "-h") == 0 || strcmp(argument, "-o") == 0) {
        return strcmp(name, argument[1] == 'h' ? "help" : "output") == 0;
    }
    if (strcmp(argument, "--help-all") == 0) {
        return strcmp(name, "help") == 0;
    }
    if (strncmp(argument, "--", 2) != 0 || length - 2 >= sizeof flag) {
        return false;
    }
    memcpy(flag, argument + 2, length - 2);
    flag[length - 2] = '\0';
    return mer_name_equal(flag, name);
}

int mer_cli_take(const MerVerb *verb, const MerCliFlag *flags, int count, char **arguments, int *at)
{
    const char *argument = arguments[*at];
    while (flags->name && !mer_cli_is(argument, flags->name)) {
        flags++;
    }
    if (!flags->name) {
        return MER_EXIT_OTHER;
    }
    if (flags->is_on) {
        *flags->is_on = true;
        return MER_EXIT_DONE;
    }
    *flags->value = mer_cli_value(count, arguments, at);
    return *flags->value ? MER_EXIT_DONE : mer_cli_usage(verb, "%s needs a value", argument);
}

const MerFlag *mer_cli_flag_of(const MerProblemClass *problem, const char *argument)
{
    for (const MerFlag *flag = problem->flags; flag && flag->name; flag++) {
        if (mer_cli_is(argument, flag->name)) {
            return flag;
        }
    }
    return NULL;
}

const char *mer_cli_value(int count, char **arguments, int *at)
{
    const char *equals = strncmp(arguments[*at], "--", 2) == 0 ? strchr(arguments[*at], '=') : NULL;
    if (equals) {
        return equals + 1;
    }
    bool is_there = *at + 1 < count && strncmp(arguments[*at + 1], "--", 2) != 0;
    return is_there ? arguments[++*at] : NULL;
}

static void print_verb(FILE *file, const char *name, const char *arguments, const char *summary)
{
    int columns = mer_terminal_columns(file);
    int used = fprintf(file, "  %-10s %-20s ", name, arguments);
    if (columns > 0 && columns < 70) { /* too narrow for three columns */
        fprintf(file, "\n%*s", used = 6, "");
    }
    mer_print_words(file, summary, used, used, columns);
}

static void print_help(FILE *file, MerArena *arena)
{
    const char *steps = "First steps: mercator demo; mercator inspect resnet18";
    fprintf(file,
            "Mercator %s maps deep neural networks onto hardware.\n\nusage: mercator VERB INPUT "
            "[options]\n\n",
            MERCATOR_VERSION);
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        print_verb(file, (*problem)->name, "NETWORK", (*problem)->summary);
        if ((*problem)->demo) {
            steps = mer_arena_format(arena, "%s; mercator %s %s", steps, (*problem)->name,
                                     (*problem)->demo);
        }
    }
    for (const MerVerb *verb = mer_cli_verbs; verb->name; verb++) {
        print_verb(file, verb->name, verb->arguments, verb->summary);
    }
    fprintf(file, "\n  mercator VERB --help    options of a verb\n"
                  "  mercator --version      version and licence\n\n");
    mer_print_words(file, steps, 0, 2, mer_terminal_columns(file));
}

static int unknown_verb(const char *name)
{
    const char *names[64];
    int         count = 0;
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        names[count++] = (*problem)->name;
    }
    for (const MerVerb *verb = mer_cli_verbs; verb->name; verb++) {
        names[count++] = verb->name;
    }
    const char *ours = mer_cli_our_verb(name);
    if (ours) {
        return mer_cli_usage(NULL, "unknown verb \"%s\", use %s", name, ours);
    }
    const char *nearest = mer_name_nearest(name, names, count);
    return mer_cli_usage(NULL, "unknown verb \"%s\"%s%s", name, nearest ? ", did you mean " : "",
                         nearest ? nearest : "");
}

static int run_verb(const char *name, int count, char **arguments, MerArena *arena)
{
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        if (mer_name_equal((*problem)->name, name)) {
            MerVerb verb = {(*problem)->name, "NETWORK", (*problem)->summary, false,
                            mer_cli_search,   NULL};
            return mer_cli_search(&verb, count, arguments, arena);
        }
    }
    for (const MerVerb *verb = mer_cli_verbs; verb->name; verb++) {
        if (mer_name_equal(verb->name, name)) {
            return verb->run(verb, count, arguments, arena);
        }
    }
    return unknown_verb(name);
}

static int run_program(int count, char **arguments, MerArena *arena)
{
    const char *verb = count < 2 ? NULL : arguments[1];
    if (!verb) {
        print_help(stderr, arena);
        return MER_EXIT_USAGE;
    }
    if (strcmp(verb, "help") == 0 && count > 2) { /* help VERB */
        char *help = "--help";
        return run_verb(arguments[2], 1, &help, arena);
    }
    if (strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 || strcmp(verb, "help") == 0) {
        print_help(stdout, arena);
        return MER_EXIT_DONE;
    }
    if (strcmp(verb, "--version") == 0) {
        printf("mercator %s\nApache License 2.0\n", MERCATOR_VERSION);
        return MER_EXIT_DONE;
    }
    return run_verb(verb, count - 2, arguments + 2, arena);
}

int mer_program(int count, char **arguments)
{
    MerArena *arena = mer_arena_new();
    int       code = run_program(count, arguments, arena);
    mer_arena_free(arena);
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "mercator: cannot write to standard output%s%s\n", errno ? ": " : "",
                errno ? strerror(errno) : "");
        return code ? code : MER_EXIT_BAD;
    }
    return code;
}
