/* calibrate: constants of a platform, fitted to measured records by the problem whose platform it is. */
#include "cli/cli.h"

#include "base/file.h"
#include "mercator/json.h"
#include "mercator/registry.h"
#include "mercator/text.h"
#include "mercator/threads.h"
#include "report/tables/table.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Request {
    MerCalibration calibration;
    const char    *platform, *output;
    bool           json, is_help;
} Request;

/* The number that a flag was given, if any. */
static int read_number(const MerVerb *verb, const char *flag, const char *text, double least,
                       double most, double *value)
{
    return !text || (mer_parse_real(text, value) && *value >= least && *value <= most)
               ? MER_EXIT_DONE
               : mer_cli_usage(verb, "--%s is \"%s\", expected a number in %g .. %g", flag, text,
                               least, most);
}

static int add_where(const MerVerb *verb, const char *text, MerReference *where, MerArena *arena)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        return mer_cli_usage(verb, "--where is \"%s\", expected KEY=VALUE", text);
    }
    *where = mer_reference_add(where, mer_arena_text_n(arena, text, (size_t)(equals - text)),
                               equals + 1, arena);
    return MER_EXIT_DONE;
}

static int parse(const MerVerb *verb, int count, char **arguments, MerArena *arena,
                 Request *request)
{
    MerCalibration  *asked = &request->calibration;
    const char      *where, *prior = NULL, *folds = NULL, *seed = NULL, *threads = NULL;
    const MerCliFlag flags[] = {{"json", &request->json, NULL},
                                {"help", &request->is_help, NULL},
                                {"platform", NULL, &request->platform},
                                {"output", NULL, &request->output},
                                {"where", NULL, &where},
                                {"prior", NULL, &prior},
                                {"folds", NULL, &folds},
                                {"seed", NULL, &seed},
                                {"threads", NULL, &threads},
                                {0}};
    double           numbers[] = {0.01, 5, 1, mer_cpu_count()};
    int              code = MER_EXIT_DONE;
    for (int i = 0; i < count && code == MER_EXIT_DONE; i++) {
        const char *argument = arguments[i];
        where = NULL;
        code = mer_cli_take(verb, flags, count, arguments, &i);
        if (where) {
            code = add_where(verb, where, &asked->where, arena);
        } else if (code == MER_EXIT_OTHER &&
                   ((argument[0] == '-' && argument[1]) || asked->records)) {
            return mer_cli_usage(verb, "unexpected argument %s", argument);
        } else if (code == MER_EXIT_OTHER) {
            asked->records = argument;
            code = MER_EXIT_DONE;
        }
    }
    if (code != MER_EXIT_DONE || read_number(verb, "prior", prior, 0, 1e6, &numbers[0]) ||
        read_number(verb, "folds", folds, 2, 1000, &numbers[1]) ||
        read_number(verb, "seed", seed, 0, 1e15, &numbers[2]) ||
        read_number(verb, "threads", threads, 1, 4096, &numbers[3])) {
        return MER_EXIT_USAGE;
    }
    asked->prior = numbers[0];
    asked->folds = (int)numbers[1];
    asked->seed = (uint64_t)numbers[2];
    asked->threads = (int)numbers[3];
    return request->is_help || (asked->records && request->platform)
               ? MER_EXIT_DONE
               : mer_cli_usage(verb, "calibrate needs a file of records and --platform P");
}

/* The problem that fits constants of such platforms, NULL: none does. */
static const MerProblemClass *find_problem(const MerPlatform *platform)
{
    for (const MerProblemClass *const *list = mer_problems(); *list; list++) {
        if ((*list)->calibrate && ((*list)->platforms & 1u << platform->kind)) {
            return *list;
        }
    }
    return NULL;
}

typedef enum Column { BEFORE, FITTED, HELD_OUT, COLUMN_COUNT } Column;
static const char *const column_names[] = {"before", "fitted (in-sample)", "cross-validated"};
static const char *const column_keys[] = {"before", "fitted", "cross_validated"};

typedef struct Misses { /* relative errors */
    double mean[COLUMN_COUNT], worst[COLUMN_COUNT];
} Misses;

static Misses misses_of(const MerFit *fit)
{
    Misses misses = {{0}, {0}};
    for (int r = 0; r < fit->record_count; r++) {
        const MerFitRecord *record = &fit->records[r];
        const double        values[] = {record->before, record->fitted, record->held_out};
        for (int c = 0; c < COLUMN_COUNT; c++) {
            double miss = fabs(values[c] / record->measured - 1);
            misses.mean[c] += miss / fit->record_count;
            misses.worst[c] = fmax(misses.worst[c], miss);
        }
    }
    return misses;
}

static void print_text(const MerCalibration *asked, const MerFit *fit, MerArena *arena)
{
    Misses        misses = misses_of(fit);
    MerTextTable *errors =
        mer_text_table_new(arena, 3, (const char *[]){"constants", ">mean error", ">worst"});
    MerTextTable *table =
        mer_text_table_new(arena, 4, (const char *[]){"constant", ">before", ">fitted", "bound"});
    printf(
        "%d records of %s on %s, seed %llu, %d folds (index of the record modulo %d), prior %g\n\n",
        fit->record_count, asked->records, asked->platform->name, (unsigned long long)asked->seed,
        asked->folds, asked->folds, asked->prior);
    for (int c = 0; c < COLUMN_COUNT; c++) {
        mer_text_table_add_row(
            errors, (const char *[]){column_names[c],
                                     mer_arena_format(arena, "%.2f %%", 100 * misses.mean[c]),
                                     mer_arena_format(arena, "%.1f %%", 100 * misses.worst[c])});
    }
    mer_text_table_print(errors, stdout);
    printf("\n");
    for (int k = 0; k < fit->constant_count; k++) {
        const MerFitConstant *c = &fit->constants[k];
        mer_text_table_add_row(
            table, (const char *[]){c->path, mer_arena_format(arena, "%.4g", c->before),
                                    mer_arena_format(arena, "%.4g", c->fitted),
                                    c->fitted <= c->least
                                        ? mer_arena_format(arena, "at least %g", c->least)
                                        : ""});
    }
    mer_text_table_print(table, stdout);
}

static void print_json(const MerCalibration *asked, const MerFit *fit)
{
    Misses  misses = misses_of(fit);
    MerJson json = {0};
    mer_json_object(&json, NULL);
    mer_json_text(&json, "platform", asked->platform->name);
    mer_json_int(&json, "records", fit->record_count);
    mer_json_int(&json, "seed", (int64_t)asked->seed);
    mer_json_int(&json, "folds", asked->folds);
    mer_json_real(&json, "prior", asked->prior);
    for (int c = 0; c < COLUMN_COUNT; c++) {
        mer_json_object(&json, column_keys[c]);
        mer_json_real(&json, "mean_error", misses.mean[c]);
        mer_json_real(&json, "worst_error", misses.worst[c]);
        mer_json_end_object(&json);
    }
    mer_json_object(&json, "constants");
    for (int k = 0; k < fit->constant_count; k++) {
        mer_json_real(&json, fit->constants[k].path, fit->constants[k].fitted);
    }
    mer_json_end_object(&json);
    mer_json_array(&json, "rows");
    for (int r = 0; r < fit->record_count; r++) {
        const MerFitRecord *record = &fit->records[r];
        mer_json_object(&json, NULL);
        mer_json_int(&json, "index", record->index);
        mer_json_int(&json, "fold", record->index % asked->folds);
        mer_json_real(&json, "measured_s", record->measured);
        mer_json_real(&json, "fitted_s", record->fitted);
        mer_json_real(&json, "held_out_s", record->held_out);
        mer_json_end_object(&json);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    printf("%s\n", json.text);
    mer_json_free(&json);
}

/* The file's name without folder and ending, as letters a platform's name may have. */
static const char *name_of(const char *path, MerArena *arena)
{
    const char *start = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    char       *name = mer_arena_text_n(arena, start, strcspn(start, "."));
    for (char *c = name; *c; c++) {
        *c = isalnum((unsigned char)*c) || *c == '_' ? *c : '-';
    }
    return *name ? name : "fitted";
}

/* The platform with the fitted constants, as a file of its own. */
static MerStatus write_platform(const Request *request, const MerFit *fit, MerArena *arena,
                                MerError *error)
{
    const MerPlatform *changed;
    Misses             misses = misses_of(fit);
    const char       **changes = MER_ARRAY(arena, const char *, fit->constant_count + 3);
    int                count = 0;
    for (int k = 0; k < fit->constant_count; k++) {
        char number[32];
        mer_print_real(number, fit->constants[k].fitted);
        changes[count++] = mer_arena_format(arena, "%s=%s", fit->constants[k].path, number);
    }
    changes[count++] = "calibrated=true";
    changes[count++] = mer_arena_format(arena, "name=%s", name_of(request->output, arena));
    changes[count++] = mer_arena_format(
        arena, "source=fitted to %d records of %.200s; mean error %.2f %%, cross-validated %.2f %%",
        fit->record_count, request->calibration.records, 100 * misses.mean[FITTED],
        100 * misses.mean[HELD_OUT]);
    MER_TRY(mer_platform_read_with(request->platform, changes, count, arena, &changed, error));
    char  *text = NULL;
    size_t size = 0;
    FILE  *file = open_memstream(&text, &size);
    if (!file) {
        return mer_error_set(error, MER_INVALID, "no memory for a platform");
    }
    mer_platform_write(changed, file);
    fclose(file);
    MerStatus status = mer_file_write(request->output, text, size, error);
    free(text);
    return status;
}

static void print_help(void)
{
    mer_print_lines(stdout,
                    "usage: mercator calibrate RECORDS --platform P [--where KEY=VALUE ...] "
                    "[--prior W] [--folds N] [--seed N] [--threads N] [--json] [-o FILE.yaml]\n\n"
                    "Fits constants of the platform to measured records, and says how well they "
                    "predict records that they were not fitted to. -o writes the platform with the "
                    "fitted constants.\n",
                    0);
    mer_cli_print_flag("--where", "KEY=VALUE", "only records with this member");
    mer_cli_print_flag(
        "--prior", "W",
        "weight of the distance to usual constants (0.01; 0: the records alone decide)");
    mer_cli_print_flag("--folds", "N",
                       "parts of the cross-validation (5); a record is in part index modulo N");
}

static MerStatus carry_out(Request *request, MerFit *fit, MerArena *arena, MerError *error)
{
    MerCalibration *asked = &request->calibration;
    MER_TRY(mer_platform_read(request->platform, arena, &asked->platform, error));
    const MerProblemClass *problem = find_problem(asked->platform);
    if (!problem) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "platform %s is of kind %s, whose constants are not fitted",
                             asked->platform->name, mer_platform_kind_name(asked->platform->kind));
    }
    MER_TRY(problem->calibrate(asked, fit, arena, error));
    return request->output ? write_platform(request, fit, arena, error) : MER_OK;
}

int mer_cli_calibrate(const MerVerb *verb, int count, char **arguments, MerArena *arena)
{
    Request  request = {0};
    MerError error = {0};
    MerFit   fit = {0};
    int      code = parse(verb, count, arguments, arena, &request);
    if (code != MER_EXIT_DONE) {
        return code;
    }
    if (request.is_help) {
        print_help();
        return MER_EXIT_DONE;
    }
    if (carry_out(&request, &fit, arena, &error) != MER_OK) {
        return mer_cli_fail(&error);
    }
    if (fit.remark) {
        fprintf(stderr, "mercator: warning: %s\n", fit.remark);
    }
    if (request.json) {
        print_json(&request.calibration, &fit);
    } else {
        print_text(&request.calibration, &fit, arena);
    }
    return MER_EXIT_DONE;
}
