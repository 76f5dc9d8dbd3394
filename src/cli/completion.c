/* completion: what a shell offers behind the TAB key, from the tables of verbs, options and plug-ins. The script of
 * every shell has the same `case`, which fills `offer`; only what is around it differs. */
#include "cli/request.h"

#include "base/file.h"
#include "mercator/registry.h"

#include <stdio.h>
#include <string.h>

typedef struct Words {
    MerArena   *arena;
    const char *text; /* separated by blanks */
} Words;

static void add(Words *words, const char *before, const char *word)
{
    char *text = mer_arena_format(words->arena, "%s%s", before, word);
    for (char *at = text; *before && *at; at++) {
        *at = *at == '_' ? '-' : *at; /* flags are typed with hyphens */
    }
    words->text = words->text ? mer_arena_format(words->arena, "%s %s", words->text, text) : text;
}

static bool has_word(const Words *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = words->text; *at; at += strcspn(at, " ")) {
        at += strspn(at, " ");
        if (strcspn(at, " ") == length && strncmp(at, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* A name that has several endings is offered once. */
static const char *data_names(const char *folder, const char *const *endings, MerArena *arena)
{
    Words words = {.arena = arena, .text = ""};
    for (; *endings; endings++) {
        const char **names;
        int          count = mer_data_list(folder, *endings, arena, &names, NULL);
        for (int i = 0; i < count; i++) {
            if (!has_word(&words, names[i])) {
                add(&words, "", names[i]);
            }
        }
    }
    return words.text;
}

/* Optimizers for a problem, NULL: for any. */
static const char *optimizer_names(const char *problem, MerArena *arena)
{
    Words words = {.arena = arena, .text = ""};
    for (const MerOptimizerClass *const *list = mer_optimizers(); *list; list++) {
        if (!problem || !(*list)->problem || mer_name_equal((*list)->problem, problem)) {
            add(&words, "", (*list)->name);
        }
    }
    return words.text;
}

static const char *exporter_names(const char *problem, MerArena *arena)
{
    Words words = {.arena = arena, .text = ""};
    for (const MerExporterClass *const *list = mer_exporters(); *list; list++) {
        if (!problem || !(*list)->problem || mer_name_equal((*list)->problem, problem)) {
            add(&words, "", (*list)->name);
        }
    }
    return words.text;
}

static void print_case(const char *pattern, const char *offer)
{
    printf("    %s) offer='%s' ;;\n", pattern, offer);
}

static void add_options(Words *words, const MerOption *table)
{
    for (; table && table->name; table++) {
        bool is_time =
            strcmp(table->name, "time_s") == 0 || strcmp(table->name, "total_time_s") == 0;
        if (table->help && !is_time) {
            add(words, "--", table->name);
        }
    }
}

/* Words of choices and switches behind their flag, where the verb has such an option. */
static void print_choices(const char *verb, const MerOption *table, MerArena *arena)
{
    for (; table && table->name; table++) {
        Words flag = {.arena = arena};
        char *words = mer_arena_text(arena, table->type == MER_OPTION_BOOL ? "true|false"
                                            : table->choices               ? table->choices
                                                                           : "");
        for (char *at = words; *at; at++) {
            *at = *at == '|' ? ' ' : *at;
        }
        add(&flag, "--", table->name);
        if (*words) {
            print_case(mer_arena_format(arena, "'%s %s'", verb, flag.text), words);
        }
    }
}

static void print_values(const MerProblemClass *problem, const char *verb, MerArena *arena)
{
    const MerEvaluatorClass *evaluator = mer_evaluator_find(problem->evaluator, NULL);
    print_choices(verb, mer_run_options, arena);
    print_choices(verb, problem->options, arena);
    print_choices(verb, evaluator ? evaluator->options : NULL, arena);
    const char *own = optimizer_names(problem->name, arena);
    print_case(
        mer_arena_format(arena, "'%s --optimizer'|'%s --tune'|'%s --tune-with'", verb, verb, verb),
        own);
    print_case(mer_arena_format(arena, "'%s --export'", verb),
               exporter_names(problem->name, arena));
}

static const char *search_flags(const MerProblemClass *problem, MerArena *arena)
{
    static const char *const others[] = {
        "output", "resume", "redo",          "sweep",      "time",      "total-time", "help-all",
        "tune",   "test",   "tune-settings", "tune-seeds", "tune-with", NULL};
    const MerEvaluatorClass *evaluator = mer_evaluator_find(problem->evaluator, NULL);
    Words                    words = {.arena = arena, .text = "-o"};
    for (int axis = 0; axis < MER_AXIS_COUNT; axis++) {
        add(&words, "--", mer_axis_names[axis]);
    }
    for (const char *const *name = mer_request_switches; *name; name++) {
        add(&words, "--", *name);
    }
    for (const char *const *name = others; *name; name++) {
        add(&words, "--", *name);
    }
    for (const MerFlag *flag = problem->flags; flag && flag->name; flag++) {
        add(&words, "--", flag->name);
    }
    add_options(&words, mer_run_options);
    add_options(&words, problem->options);
    add_options(&words, evaluator ? evaluator->options : NULL);
    return words.text;
}

/* Flags of a verb, where the word begins with a hyphen. */
static void print_flags(MerArena *arena)
{
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        print_case(mer_arena_format(arena, "'%s '*", (*problem)->name),
                   search_flags(*problem, arena));
    }
    for (const MerVerb *verb = mer_cli_verbs; verb->name; verb++) {
        Words flags = {.arena = arena, .text = verb->flags};
        if (verb->takes_problem) {
            flags.text = mer_arena_format(arena, "%s %s", verb->flags,
                                          search_flags(mer_problems()[0], arena));
        }
        for (const MerPlanReaderClass *const *reader = mer_plan_readers();
             verb->run == mer_cli_evaluate && *reader; reader++) {
            if ((*reader)->flag) {
                add(&flags, "--", (*reader)->flag);
            }
        }
        for (const MerInspectorClass *const *type = mer_inspectors();
             verb->run == mer_cli_evaluate && *type; type++) {
            if ((*type)->flag) {
                add(&flags, "--", (*type)->flag);
            }
        }
        print_case(mer_arena_format(arena, "'%s '*", verb->name), flags.text);
    }
}

/* What may stand behind the word before: by verb and flag, then by flag alone. */
static void print_before(MerArena *arena)
{
    static const char *const platforms[] = {".yaml", NULL};
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        print_values(*problem, (*problem)->name, arena);
    }
    print_case("*' --platform'", data_names("platforms", platforms, arena));
    print_case("*' --evaluator'", mer_cli_list_names("evaluators", arena));
    print_case("*' --optimizer'|*' --redo'", optimizer_names(NULL, arena));
    print_case("*' --objective'|*' --metrics'|*' --pareto'", mer_cli_list_names("metrics", arena));
    print_case("*' --export'", exporter_names(NULL, arena));
    print_case("*' --problem'", mer_cli_list_names("problems", arena));
    Words kinds = {.arena = arena, .text = ""};
    for (int k = 0; mer_cli_list_kind(k); k++) {
        add(&kinds, "", mer_cli_list_kind(k));
    }
    print_case("'list list'", kinds.text);
    print_case("'list problems'", mer_cli_list_names("problems", arena));
    print_case("'list optimizers'|'list solvers'", optimizer_names(NULL, arena));
    print_case("'list evaluators'", mer_cli_list_names("evaluators", arena));
    print_case("'list metrics'", mer_cli_list_names("metrics", arena));
    print_case("'completion completion'", "bash zsh");
    printf("    'report --output'|'report -o'|'calibrate --output'|'calibrate -o') ;;\n");
    printf("    *' --resume'|*' --output'|*' -o') files=-d ;;\n");
}

/* Inputs that have names: networks, beside the files that shells offer themselves. */
static void print_inputs(MerArena *arena)
{
    static const char *const models[] = {".onnx", ".net", ".yaml", NULL};
    Words                    verbs = {.arena = arena};
    for (const MerProblemClass *const *problem = mer_problems(); *problem; problem++) {
        verbs.text = verbs.text ? mer_arena_format(arena, "%s|%s", verbs.text, (*problem)->name)
                                : (*problem)->name;
    }
    print_case(mer_arena_format(arena, "%s|compare|inspect", verbs.text),
               data_names("models", models, arena));
}

static const char *verb_names(MerArena *arena)
{
    Words words = {.arena = arena, .text = mer_cli_list_names("problems", arena)};
    for (const MerVerb *verb = mer_cli_verbs; verb->name; verb++) {
        add(&words, "", verb->name);
    }
    add(&words, "", "help");
    return words.text;
}

/* What to offer, and the head of the function that asks for it. */
static void print_body(MerArena *arena)
{
    printf("_mercator_offer()\n{\n"
           "  local verb=$1 before=$2 current=$3 position=$4\n"
           "  offer= files=-f\n" /* of those that are there: any, or folders alone */
           "  if [ \"$position\" -eq 1 ]; then\n"
           "    offer='%s --help --version'\n"
           "    return\n"
           "  fi\n"
           "  case $current in\n"
           "    -*) case \"$verb \" in\n",
           verb_names(arena));
    print_flags(arena);
    printf("    esac\n"
           "    return ;;\n"
           "  esac\n"
           "  case \"$verb $before\" in\n");
    print_before(arena);
    printf("  esac\n"
           "  [ -z \"$offer\" ] && [ $files = -f ] || return\n"
           "  case $verb in\n");
    print_inputs(arena);
    printf("  esac\n}\n"
           "_mercator()\n{\n");
}

static void print_bash(MerArena *arena)
{
    printf("# bash completion of mercator, made by `mercator completion bash`.\n");
    print_body(arena);
    printf("  local offer files\n"
           "  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
           "  # --flag=value is three words\n"
           "  if [ \"$current\" = = ]; then\n"
           "    current=\n"
           "  elif [ \"$before\" = = ]; then\n"
           "    before=${COMP_WORDS[COMP_CWORD-2]}\n"
           "  fi\n"
           "  _mercator_offer \"${COMP_WORDS[1]}\" \"$before\" \"$current\" \"$COMP_CWORD\"\n"
           "  COMPREPLY=($(compgen -W \"$offer\" -- \"$current\"))\n"
           "  case $current in\n"
           "    -*) ;;\n"
           "    *) [ \"$COMP_CWORD\" -eq 1 ] || COMPREPLY+=($(compgen $files -- \"$current\")) ;;\n"
           "  esac\n"
           "}\n"
           "complete -o filenames -F _mercator mercator\n");
}

static void print_zsh(MerArena *arena)
{
    printf("#compdef mercator\n"
           "# zsh completion of mercator, made by `mercator completion zsh`.\n");
    print_body(arena);
    printf("  local offer files\n"
           "  _mercator_offer \"$words[2]\" \"$words[CURRENT-1]\" \"$words[CURRENT]\" $((CURRENT - "
           "1))\n"
           "  compadd -- ${=offer}\n"
           "  case \"$words[CURRENT]\" in\n"
           "    -*) ;;\n"
           "    *) [ \"$CURRENT\" -eq 2 ] || _files $([ $files = -f ] || echo -/) ;;\n"
           "  esac\n"
           "}\n"
           "_mercator \"$@\"\n");
}

int mer_cli_completion(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    if (count == 1 && mer_cli_is(arguments[0], "help")) {
        printf("usage: mercator completion bash|zsh\n\n"
               "Prints a script for the TAB key. In ~/.bashrc: . <(mercator completion bash)\n"
               "For zsh, in a folder of $fpath: mercator completion zsh >_mercator\n");
        return MER_EXIT_DONE;
    }
    if (count != 1) {
        return mer_cli_usage(verb, "completion needs a shell: bash or zsh");
    }
    bool is_bash = strcmp(arguments[0], "bash") == 0;
    if (!is_bash && strcmp(arguments[0], "zsh") != 0) {
        return mer_cli_usage(verb, "no completion for \"%s\", expected bash or zsh", arguments[0]);
    }
    if (is_bash) {
        print_bash(arena);
    } else {
        print_zsh(arena);
    }
    return MER_EXIT_DONE;
}
