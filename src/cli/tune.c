/* --tune: options of an optimizer, searched on some workloads and tested on others. */

#include "base/file.h"
#include "base/output.h"
#include "cli/request.h"
#include "mercator/json.h"
#include "mercator/registry.h"
#include "report/tables/table.h"
#include "run/experiment/tuning.h"

#include <stdio.h>
#include <string.h>

typedef struct Tuning {
    const char  *optimizer, *searcher;
    int64_t      settings, seeds;
    const char **tests;
    int          test_count;
    char       **rest; /* what is left: the arguments of an ordinary run, */
    int          rest_count;
    char       **flags; /* and those without its workloads */
    int          flag_count;
    int          workload_count;
} Tuning;

bool mer_cli_is_tune(int count, char **arguments)
{
    for (int i = 0; i < count; i++) {
        if (mer_cli_is(arguments[i], "tune")) {
            return true;
        }
    }
    return false;
}

void mer_cli_tune_help(void)
{
    printf("\ntuning:\n");
    mer_cli_print_flag(
        "--tune", "NAME[:key=value,...]",
        "searches the numeric options of this optimizer (those given here stay) on the "
        "workloads, tests the best setting on others, and prints it for --optimizer");
    mer_cli_print_flag(
        "--test", "WORKLOAD",
        "to test on, may be repeated; default: the problem's samples not trained on");
    mer_cli_print_flag("--tune-settings", "N", "settings to try, default 40");
    mer_cli_print_flag("--tune-seeds", "N",
                       "runs per workload and setting, default 3; tests use other seeds");
    mer_cli_print_flag("--tune-with", "NAME[:...]", "what searches, default bayes");
}

static bool take_number(const char *text, int64_t low, int64_t high, int64_t *number)
{
    return mer_parse_int(text, number) && *number >= low && *number <= high;
}

/* Flags of tuning are taken out. */
static int take_flag(const MerVerb *verb, Tuning *tuning, int count, char **arguments, int *at)
{
    const char      *flag = arguments[*at], *test = NULL, *settings = NULL, *seeds = NULL;
    const MerCliFlag flags[] = {{"tune", NULL, &tuning->optimizer},
                                {"tune_with", NULL, &tuning->searcher},
                                {"test", NULL, &test},
                                {"tune_settings", NULL, &settings},
                                {"tune_seeds", NULL, &seeds},
                                {0}};
    int              code = mer_cli_take(verb, flags, count, arguments, at);
    bool is_wrong = (settings && !take_number(settings, 1, 100000, &tuning->settings)) ||
                    (seeds && !take_number(seeds, 1, 1000, &tuning->seeds));
    if (test) {
        tuning->tests[tuning->test_count++] = test;
    }
    return is_wrong ? mer_cli_usage(verb, "%s needs a value", flag) : code;
}

static int parse(const MerVerb *verb, const MerProblemClass *problem, Tuning *tuning, int count,
                 char **arguments)
{
    for (int i = 0; i < count; i++) {
        const char *flag = arguments[i];
        int         code = take_flag(verb, tuning, count, arguments, &i);
        if (code == MER_EXIT_USAGE) {
            return code;
        }
        if (code == MER_EXIT_DONE) {
            continue;
        }
        tuning->rest[tuning->rest_count++] = arguments[i];
        if (flag[0] != '-' || flag[1] == '\0') {
            tuning->workload_count++;
            continue;
        }
        const MerFlag *own = mer_cli_flag_of(problem, flag);
        bool           is_workload = mer_cli_is(flag, "workload") || (own && own->is_workload);
        bool           is_whole = mer_request_is_switch(flag) || strchr(flag, '=');
        bool           has_value = !is_whole && i + 1 < count;
        tuning->workload_count += is_workload;
        for (int part = 0; !is_workload && part <= has_value; part++) {
            tuning->flags[tuning->flag_count++] = arguments[i + part];
        }
        if (has_value) {
            tuning->rest[tuning->rest_count++] = arguments[++i];
        }
    }
    return MER_EXIT_DONE;
}

/* Without a word from the user the first half of the problem's samples trains, what is left tests. */
static void add_samples(Tuning *tuning, const char *const *samples)
{
    int  count = 0;
    bool has_tests = tuning->test_count > 0;
    while (samples[count]) {
        count++;
    }
    for (int t = 0; t < count / 2 && tuning->workload_count == 0; t++) {
        tuning->rest[tuning->rest_count++] = (char *)samples[t];
    }
    for (int t = 0; t < count && !has_tests; t++) {
        size_t length = strcspn(samples[t], ":");
        bool   is_trained = false;
        for (int i = 0; i < tuning->rest_count; i++) {
            is_trained = is_trained || strncmp(tuning->rest[i], samples[t], length) == 0;
        }
        if (!is_trained) {
            tuning->tests[tuning->test_count++] = samples[t];
        }
    }
}

static int expand(const MerVerb *verb, int count, char **arguments, MerArena *arena,
                  MerRequest *request, MerRunSpec **specs, int *spec_count)
{
    int code = mer_request_parse(verb, verb->name, count, arguments, arena, request);
    return code == MER_EXIT_DONE ? mer_request_expand(request, specs, spec_count) : code;
}

static MerStatus find_plugins(const Tuning *tuning, MerTuneSpec *spec, MerArena *arena,
                              MerError *error)
{
    MerReference *tuned = MER_NEW(arena, MerReference);
    MerReference  searcher;
    MER_TRY(mer_reference_parse(tuning->optimizer, tuned, arena, error));
    MER_TRY(mer_reference_parse(tuning->searcher, &searcher, arena, error));
    spec->fixed = tuned;
    spec->optimizer = mer_optimizer_find(tuned->name, error);
    spec->searcher = spec->optimizer ? mer_optimizer_find(searcher.name, error) : NULL;
    if (!spec->searcher) {
        return MER_NOT_FOUND;
    }
    return mer_experiment_fill(spec->searcher->options, spec->searcher->presets,
                               spec->searcher->options_size, &searcher, &spec->searcher_options,
                               arena, error);
}

typedef struct Shown {
    bool    quiet;
    int64_t settings;
    double  best;
} Shown;

static void show_trial(void *state, int64_t index, const char *setting, double ratio)
{
    Shown *shown = state;
    shown->best = ratio < shown->best ? ratio : shown->best;
    if (!shown->quiet) {
        fprintf(stderr, "%lld/%lld %.4f (best %.4f) %s\n", (long long)index,
                (long long)shown->settings, ratio, shown->best, setting);
    }
}

static void write_side(MerJson *json, const char *key, const MerTuneSide *side)
{
    mer_json_object(json, key);
    mer_json_int(json, "tasks", side->tasks);
    mer_json_int(json, "better", side->better);
    mer_json_int(json, "worse", side->worse);
    mer_json_real(json, "ratio", side->ratio);
    mer_json_real(json, "low", side->low);
    mer_json_real(json, "high", side->high);
    mer_json_end_object(json);
}

/* What `--json` prints and tune.json holds: nothing in it depends on the clock. */
static const char *write_json(const MerTuneSpec *spec, const MerTuneResult *result, MerArena *arena)
{
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "optimizer", spec->optimizer->name);
    mer_json_text(&json, "reference", result->reference);
    mer_json_text(&json, "searcher", spec->searcher->name);
    mer_json_int(&json, "settings", spec->budget);
    mer_json_int(&json, "seeds", spec->seeds);
    mer_json_int(&json, "seed", (int64_t)spec->seed);
    mer_json_int(&json, "budget", spec->train[0].budget);
    write_side(&json, "train", &result->train);
    write_side(&json, "test", &result->test);
    mer_json_array(&json, "tasks");
    for (int r = 0; r < result->row_count; r++) {
        const MerTuneRow *row = &result->rows[r];
        mer_json_object(&json, NULL);
        mer_json_text(&json, "part", row->is_test ? "test" : "train");
        mer_json_text(&json, "workload", row->workload);
        mer_json_text(&json, "task", row->task);
        mer_json_real(&json, "default", row->initial);
        mer_json_real(&json, "tuned", row->tuned);
        mer_json_real(&json, "ratio", row->ratio);
        mer_json_end_object(&json);
    }
    mer_json_end_array(&json);
    mer_json_array(&json, "trials");
    for (int t = 0; t < result->trial_count; t++) {
        mer_json_object(&json, NULL);
        mer_json_text(&json, "setting", result->trials[t].setting);
        mer_json_real(&json, "ratio", result->trials[t].ratio);
        mer_json_end_object(&json);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    return mer_json_keep(&json, arena);
}

static void print_side(const char *name, const MerTuneSide *side)
{
    if (side->tasks > 0) {
        printf("%s: tuned over default %.4f", name, side->ratio);
        if (side->tasks > 1) {
            printf(" (95 %% interval over tasks %.4f .. %.4f)", side->low, side->high);
        }
        printf(", better on %d, worse on %d of %d tasks\n", side->better, side->worse, side->tasks);
    }
}

static void print_result(const MerTuneSpec *spec, const MerTuneResult *result, MerArena *arena)
{
    const char   *titles[] = {"", "~workload", "task", ">default", ">tuned", ">ratio"};
    MerTextTable *table = mer_text_table_new(arena, 6, titles);
    const char   *objective = spec->train[0].objective;
    MerMetric     metric = mer_metric_find(objective);
    const char   *unit = metric != MER_METRIC_COUNT ? mer_metric_info(metric)->unit : "";
    for (int r = 0; r < result->row_count; r++) {
        const MerTuneRow *row = &result->rows[r];
        mer_text_table_add(table, row->is_test ? "test" : "train");
        mer_text_table_add(
            table,
            mer_arena_format(arena, "%s%s%s", row->workload, spec->train[0].platform ? " on " : "",
                             spec->train[0].platform ? spec->train[0].platform->name : ""));
        mer_text_table_add(table, row->task);
        mer_text_table_add_real(table, row->initial, unit);
        mer_text_table_add_real(table, row->tuned, unit);
        mer_text_table_add(table, mer_arena_format(arena, "%.4f", row->ratio));
    }
    printf("tuned %s with %s: %d settings, %d seeds, %lld evaluations per task, seed %llu\n\n",
           spec->optimizer->name, spec->searcher->name, result->trial_count - 1, spec->seeds,
           (long long)spec->train[0].budget, (unsigned long long)spec->seed);
    mer_text_table_print(table, stdout);
    printf("\ndefault, tuned: mean %s over the seeds; ratio: geometric mean of theirs, below 1 "
           "where tuned is better\n\n",
           objective);
    print_side("train", &result->train);
    print_side("test", &result->test);
    if (spec->test_count == 0) {
        printf("test: none, give --test WORKLOAD\n");
    }
    printf("\n--optimizer %s\n", result->reference);
}

static MerStatus finish(const MerRequest *request, const MerTuneSpec *spec,
                        const MerTuneResult *result, MerArena *arena, MerError *error)
{
    MerOutput   output;
    const char *text = write_json(spec, result, arena);
    const char *directory =
        request->directory ? request->directory
                           : mer_arena_format(arena, "runs/tune-%s-%llu", spec->optimizer->name,
                                              (unsigned long long)spec->seed);
    const char *path = mer_arena_format(arena, "%s/tune.json", directory);
    mer_directory_make(directory, arena, NULL); /* whether it went well shows with the file */
    MER_TRY(mer_output_open(&output, path, error));
    fprintf(output.file, "%s\n", text);
    MER_TRY(mer_output_close(&output, error));
    if (request->json) {
        printf("%s\n", text);
    } else {
        print_result(spec, result, arena);
        printf("%s\n", path);
    }
    return MER_OK;
}

/* The search itself, and what came of it. */
static MerStatus carry_out(const Tuning *tuning, const MerRequest *request, MerTuneSpec *spec,
                           MerTuneResult *result, MerArena *arena, MerError *error)
{
    MER_TRY(find_plugins(tuning, spec, arena, error));
    mer_cli_catch_interrupts();
    MER_TRY(mer_tune(spec, arena, result, error));
    return result->was_cancelled ? MER_OK : finish(request, spec, result, arena, error);
}

int mer_cli_tune(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    Tuning                 tuning = {.searcher = "bayes",
                                     .settings = 40,
                                     .seeds = 3,
                                     .tests = MER_ARRAY(arena, const char *, count + 16),
                                     .rest = MER_ARRAY(arena, char *, count + 16),
                                     .flags = MER_ARRAY(arena, char *, 2 * count + 16)};
    MerRequest             request, test_request;
    MerRunSpec            *train, *test = NULL;
    MerTuneResult          result;
    MerError               error = {0};
    int                    train_count, test_count = 0;
    const MerProblemClass *problem = mer_problem_find(verb->name, &error);
    int code = problem ? parse(verb, problem, &tuning, count, arguments) : mer_cli_fail(&error);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (problem->samples) {
        add_samples(&tuning, problem->samples);
    }
    code = expand(verb, tuning.rest_count, tuning.rest, arena, &request, &train, &train_count);
    for (int i = 0; i < tuning.test_count; i++) {
        tuning.flags[tuning.flag_count++] = (char *)tuning.tests[i];
    }
    if (code == MER_EXIT_DONE && tuning.test_count > 0) {
        code =
            expand(verb, tuning.flag_count, tuning.flags, arena, &test_request, &test, &test_count);
    }
    if (code != MER_EXIT_DONE) {
        return code;
    }
    Shown       shown = {request.quiet, tuning.settings, 1};
    MerTuneSpec spec = {.train = train,
                        .train_count = train_count,
                        .test = test,
                        .test_count = test_count,
                        .budget = tuning.settings,
                        .seeds = (int)tuning.seeds,
                        .seed = train[0].seed,
                        .threads = train[0].threads,
                        .hooks = {&shown, mer_cli_is_interrupted, NULL, NULL},
                        .tried = show_trial};
    if (carry_out(&tuning, &request, &spec, &result, arena, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    if (result.was_cancelled) {
        fprintf(stderr,
                "mercator: interrupted: the search of settings keeps nothing to go on from\n");
        return MER_EXIT_INTERRUPTED;
    }
    return MER_EXIT_DONE;
}
