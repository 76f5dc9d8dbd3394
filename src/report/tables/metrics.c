/* The best plans' metrics of many runs as one table. What a run was is read from the first line of its log, what
 * came out from its summary. */
#include "report/tables/metrics.h"

#include "base/json_read.h"
#include "base/stats.h"
#include "mercator/metric.h"
#include "mercator/text.h"
#include "report/pages/run_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MOST_METRICS = 16, MOST_KEYS = 256, MOST_OVER = 8 };

static const char gap_name[] = "gap"; /* to the bound: of the run, not of its plan */

typedef struct Run {
    const char *values[MOST_KEYS]; /* by key; NULL: does not apply */
    double      metrics[MOST_METRICS];
} Run;

typedef struct Table {
    MerArena   *arena;
    const char *keys[MOST_KEYS];
    int         key_count;
    int         shown[MOST_KEYS]; /* keys that make columns: their values differ where they apply */
    int         shown_count;
    const char *metrics[MOST_METRICS]; /* names */
    int         metric_count;
    Run       **runs;
    int         run_count;
    int         over_keys[MOST_OVER];
    const char *over_values[MOST_OVER];
    int         over_count;
} Table;

static void set_value(Table *table, Run *run, const char *key, const cJSON *value)
{
    char *text = cJSON_IsString(value) ? NULL : cJSON_PrintUnformatted(value);
    int   k = 0;
    while (k < table->key_count && strcmp(table->keys[k], key) != 0) {
        k++;
    }
    if (k < MOST_KEYS) {
        table->keys[k] = k == table->key_count ? mer_arena_text(table->arena, key) : table->keys[k];
        table->key_count += k == table->key_count;
        run->values[k] = mer_arena_text(table->arena, text ? text : value->valuestring);
    }
    free(text);
}

/* By convention an option for seeds of inputs is called so at its end. */
static bool is_seed(const char *option)
{
    size_t length = strlen(option);
    return length >= 4 && strcmp(option + length - 4, "seed") == 0;
}

/* `problem`, `evaluator` and `optimizer` have a name and options; the seeds make samples, not rows. */
static void describe_plugin(Table *table, Run *run, const char *kind, const cJSON *plugin)
{
    const cJSON *name = mer_json_get(plugin, "name");
    const cJSON *option;
    if (cJSON_IsString(name)) {
        set_value(table, run, kind, name);
    }
    cJSON_ArrayForEach(option, mer_json_get(plugin, "options"))
    {
        if (!is_seed(option->string)) {
            const char *key = mer_arena_format(table->arena, "%s.%s", kind, option->string);
            set_value(table, run, key, option);
        }
    }
}

static void describe(Table *table, Run *run, const cJSON *header)
{
    static const char *const plugins[] = {"workload", "problem", "platform", "evaluator",
                                          "optimizer"};
    static const char *const plain[] = {"objective", "budget", "time_s", "total_time_s"};
    for (int i = 0; i < 5; i++) {
        describe_plugin(table, run, plugins[i], mer_json_get(header, plugins[i]));
    }
    for (int i = 0; i < 4; i++) {
        const cJSON *value = mer_json_get(header, plain[i]);
        if (value) {
            set_value(table, run, plain[i], value);
        }
    }
}

static cJSON *read_json(Table *table, const char *path, bool is_first_line, MerError *error)
{
    char  *text;
    size_t size;
    if (mer_file_read(path, (size_t)1 << 31, table->arena, &text, &size, error) != MER_OK) {
        return NULL;
    }
    if (is_first_line) {
        text[strcspn(text, "\n")] = '\0';
    }
    cJSON *json = cJSON_Parse(text);
    if (!json) {
        mer_error_set(error, MER_INVALID, "%s:1: not a JSON object", path);
    }
    return json;
}

static MerStatus add_run(Table *table, const char *path, MerError *error)
{
    cJSON *summary =
        read_json(table, mer_arena_format(table->arena, "%s/summary.json", path), false, error);
    cJSON *header = summary ? read_json(table, mer_arena_format(table->arena, "%s/run.jsonl", path),
                                        true, error)
                            : NULL;
    if (!header) {
        cJSON_Delete(summary);
        return error->status;
    }
    Run         *run = MER_NEW(table->arena, Run);
    const cJSON *best = mer_json_get(summary, "best");
    const cJSON *bound = mer_json_get(summary, "bound");
    for (int m = 0; m < table->metric_count; m++) {
        const char  *name = table->metrics[m];
        const cJSON *holder = strcmp(name, gap_name) == 0 ? bound : best;
        run->metrics[m] = mer_json_get_real(holder, name, NAN);
    }
    describe(table, run, header);
    MER_GROW(table->arena, table->runs, table->run_count);
    table->runs[table->run_count++] = run;
    cJSON_Delete(header);
    cJSON_Delete(summary);
    return MER_OK;
}

static bool is_equal(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static void choose_columns(Table *table)
{
    for (int k = 0; k < table->key_count; k++) {
        const char *first = NULL;
        bool        varies = false;
        for (int r = 0; r < table->run_count; r++) {
            const char *value = table->runs[r]->values[k];
            varies = varies || (first && value && strcmp(first, value) != 0);
            first = first ? first : value;
        }
        if (varies) {
            table->shown[table->shown_count++] = k;
        }
    }
}

static bool is_same_row(const Table *table, const Run *a, const Run *b)
{
    for (int i = 0; i < table->shown_count; i++) {
        if (!is_equal(a->values[table->shown[i]], b->values[table->shown[i]])) {
            return false;
        }
    }
    return true;
}

/* The values of a metric over the seeds of a row. */
static int samples(const Table *table, const Run *row, int metric, double *values)
{
    int n = 0;
    for (int r = 0; r < table->run_count; r++) {
        double value = table->runs[r]->metrics[metric];
        if (!isnan(value) && is_same_row(table, table->runs[r], row)) {
            values[n++] = value;
        }
    }
    return n;
}

/* The row that a row is set in relation to: the same but for the keys of `over`. */
static Run over_row(const Table *table, const Run *row)
{
    Run other = *row;
    for (int i = 0; i < table->over_count; i++) {
        other.values[table->over_keys[i]] = table->over_values[i];
    }
    return other;
}

/* A mean, or a quotient of two means whose relative errors add up as those of independent samples. */
static void print_cell(const double *x, int n, const double *base, int base_n, bool is_ratio,
                       FILE *file)
{
    double mean = n > 0 ? mer_mean(x, n) : NAN;
    double below = is_ratio && base_n > 0 ? mer_mean(base, base_n) : 1;
    int    least = is_ratio && base_n < n ? base_n : n;
    if (least == 0 || below == 0) {
        fprintf(file, "| - ");
        return;
    }
    fprintf(file, "| %.4g ", mean / below);
    if (least > 1) {
        double error = mer_variance(x, n) / n;
        double base_error = is_ratio ? mer_variance(base, base_n) / base_n : 0;
        double ratio = mean / below;
        fprintf(file, "± %.2g ",
                mer_student(least) * sqrt(error + ratio * ratio * base_error) / fabs(below));
    }
}

static void print_row(const Table *table, int first, FILE *file)
{
    const Run *row = table->runs[first];
    const Run  other = over_row(table, row);
    double    *x = MER_ARRAY(table->arena, double, table->run_count);
    double    *base = MER_ARRAY(table->arena, double, table->run_count);
    int        runs = 0;
    for (int i = 0; i < table->shown_count; i++) {
        const char *value = row->values[table->shown[i]];
        fprintf(file, "| %s ", value ? value : "");
    }
    for (int r = first; r < table->run_count; r++) {
        runs += is_same_row(table, table->runs[r], row);
    }
    fprintf(file, "| %d ", runs);
    for (int m = 0; m < table->metric_count; m++) {
        int n = samples(table, row, m, x);
        int base_n = samples(table, &other, m, base);
        print_cell(x, n, base, base_n, table->over_count > 0, file);
    }
    fprintf(file, "|\n");
}

/* "share" of `evaluator.share`. */
static const char *title_of(const char *key)
{
    const char *dot = strchr(key, '.');
    return dot ? dot + 1 : key;
}

static void print_table(const Table *table, FILE *file)
{
    for (int i = 0; i < table->shown_count; i++) {
        fprintf(file, "| %s ", title_of(table->keys[table->shown[i]]));
    }
    fprintf(file, "| runs ");
    for (int m = 0; m < table->metric_count; m++) {
        MerMetric metric = mer_metric_find(table->metrics[m]);
        bool      has_unit = metric < MER_METRIC_COUNT && table->over_count == 0;
        fprintf(file, has_unit ? "| %s [%s] " : "| %s ", table->metrics[m],
                has_unit ? mer_metric_info(metric)->unit : "");
    }
    fprintf(file, "|\n");
    for (int i = 0; i < table->shown_count + 1 + table->metric_count; i++) {
        fprintf(file, i < table->shown_count ? "|---" : "|---:");
    }
    fprintf(file, "|\n");
    for (int r = 0; r < table->run_count; r++) {
        Run  other = over_row(table, table->runs[r]);
        bool is_base = table->over_count > 0 && is_same_row(table, table->runs[r], &other);
        bool is_new = true;
        for (int before = 0; before < r && is_new; before++) {
            is_new = !is_same_row(table, table->runs[before], table->runs[r]);
        }
        if (is_new && !is_base) {
            print_row(table, r, file);
        }
    }
}

static MerStatus read_names(Table *table, const char *names, MerError *error)
{
    char *rest = NULL;
    for (char *word = strtok_r(mer_arena_text(table->arena, names), ", ", &rest); word;
         word = strtok_r(NULL, ", ", &rest)) {
        MerMetric metric = mer_metric_find(word);
        bool      is_gap = strcasecmp(word, gap_name) == 0;
        if ((metric == MER_METRIC_COUNT && !is_gap) || table->metric_count == MOST_METRICS) {
            return mer_error_set(
                error, MER_INVALID,
                "--metrics has \"%s\", expected at most %d names of mercator list metrics", word,
                MOST_METRICS);
        }
        table->metrics[table->metric_count++] = is_gap ? gap_name : mer_metric_info(metric)->name;
    }
    return MER_OK;
}

/* The key of a column, by its title: "platform" and "share" are `platform` and `evaluator.share`. */
static int find_key(const Table *table, const char *name)
{
    for (int i = 0; i < table->shown_count; i++) {
        const char *key = table->keys[table->shown[i]];
        if (strcmp(key, name) == 0 || strcmp(title_of(key), name) == 0) {
            return table->shown[i];
        }
    }
    return -1;
}

static bool is_value(const Table *table, int key, const char *value)
{
    for (int r = 0; r < table->run_count; r++) {
        if (is_equal(table->runs[r]->values[key], value)) {
            return true;
        }
    }
    return false;
}

static MerStatus read_over(Table *table, const char *over, MerError *error)
{
    char *rest = NULL;
    for (char *word = strtok_r(mer_arena_text(table->arena, over), ", ", &rest); word;
         word = strtok_r(NULL, ", ", &rest)) {
        char *equals = strchr(word, '=');
        if (equals) {
            *equals = '\0';
        }
        int key = equals ? find_key(table, word) : -1;
        if (key < 0 || table->over_count == MOST_OVER || !is_value(table, key, equals + 1)) {
            return mer_error_set(
                error, MER_INVALID,
                "--over has \"%s%s%s\", expected at most %d times COLUMN=VALUE of the table", word,
                equals ? "=" : "", equals ? equals + 1 : "", MOST_OVER);
        }
        table->over_keys[table->over_count] = key;
        table->over_values[table->over_count++] = equals + 1;
    }
    return MER_OK;
}

MerStatus mer_report_metrics(const char *const *runs, int count, const char *metrics,
                             const char *over, MerArena *arena, FILE *file, MerError *error)
{
    Table    table = {.arena = arena};
    MerError ignored = {0};
    error = error ? error : &ignored;
    MER_TRY(read_names(&table, metrics, error));
    for (int i = 0; i < count; i++) {
        MER_TRY(add_run(&table, runs[i], error));
    }
    choose_columns(&table);
    MER_TRY(over ? read_over(&table, over, error) : MER_OK);
    print_table(&table, file);
    return MER_OK;
}
