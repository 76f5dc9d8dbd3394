/* Results of many runs as one table: a row per task, and the total. */
#include "report/tables/csv.h"

#include "base/csv_cell.h"
#include "base/json_read.h"
#include "base/output.h"
#include "mercator/metric.h"
#include "mercator/text.h"

#include <string.h>

enum { SUMMARY_LIMIT = 1 << 28 };

typedef struct Table {
    FILE *file;
    bool  has_metric[MER_METRIC_COUNT];
    char  unit[64]; /* of the objective, where all runs have the same */
    bool  is_mixed; /* the runs have several */
} Table;

/* A cell of any type; absent, null and what is no number or text: empty. */
static void write_cell(FILE *file, const cJSON *item)
{
    if (cJSON_IsString(item)) {
        mer_csv_cell(file, item->valuestring);
    } else if (cJSON_IsNumber(item)) {
        char text[32];
        mer_print_real(text, item->valuedouble);
        fputs(text, file);
    } else if (cJSON_IsBool(item)) {
        fputs(cJSON_IsTrue(item) ? "1" : "0", file);
    }
}

static void write_cells(FILE *file, const cJSON *object, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        fputc(',', file);
        write_cell(file, mer_json_get(object, *keys));
    }
}

static const char *const whats[] = {"problem",   "workload",  "platform", "evaluator",
                                    "optimizer", "objective", NULL};
static const char *const seeds[] = {"seed", NULL};
static const char *const tasks[] = {"count", "macs", NULL};
static const char *const bests[] = {"feasible", "score", NULL};
static const char *const bounds[] = {"value", "kind", "gap", "proven", NULL};
static const char *const works[] = {"trials", "evaluations", "stopped", NULL};

static const char *unit_of(const cJSON *summary)
{
    MerMetric objective = mer_metric_find(mer_json_get_text(summary, "objective", ""));
    return objective != MER_METRIC_COUNT ? mer_metric_info(objective)->unit : "";
}

static void write_row(const Table *table, const char *run, const cJSON *summary, const cJSON *task)
{
    FILE        *file = table->file;
    const cJSON *part = task != NULL ? task : summary;
    const cJSON *best = mer_json_get(part, "best");
    mer_csv_cell(file, run);
    write_cells(file, summary, whats);
    fputc(',', file);
    mer_csv_cell(file, unit_of(summary));
    write_cells(file, summary, seeds);
    fputc(',', file);
    mer_csv_cell(file, task != NULL ? mer_json_get_text(task, "name", "") : "total");
    write_cells(file, task, tasks);
    write_cells(file, best, bests);
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        if (table->has_metric[m]) {
            fputc(',', file);
            write_cell(file, mer_json_get(best, mer_metric_info((MerMetric)m)->name));
        }
    }
    write_cells(file, mer_json_get(part, "bound"), bounds);
    write_cells(file, part, works);
    fputc(',', file);
    write_cell(file, task != NULL ? NULL : mer_json_get(summary, "wall_s"));
    fputc('\n', file);
}

static void write_titles(const Table *table)
{
    char unit[80] = "";
    if (table->is_mixed) {
        snprintf(unit, sizeof unit, " [unit]");
    } else if (table->unit[0] != '\0') {
        snprintf(unit, sizeof unit, " [%s]", table->unit);
    }
    fputs("run,problem,workload,platform,evaluator,optimizer,objective,unit,seed,task,count,macs",
          table->file);
    fprintf(table->file, ",feasible,score%s", unit);
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        if (table->has_metric[m]) {
            mer_csv_title(table->file, mer_metric_info((MerMetric)m)->name);
        }
    }
    fprintf(table->file, ",bound%s,bound_kind,gap [1],proven,trials,evaluations,stopped,wall [s]\n",
            unit);
}

/* Which metrics there are, and the unit of all objectives. */
static void learn(Table *table, const cJSON *summary, bool is_first)
{
    const cJSON *list[2] = {
        mer_json_get(summary, "best"),
        mer_json_get(cJSON_GetArrayItem(mer_json_get(summary, "tasks"), 0), "best")};
    const char *unit = unit_of(summary);
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        for (int i = 0; i < 2; i++) {
            const cJSON *value = mer_json_get(list[i], mer_metric_info((MerMetric)m)->name);
            table->has_metric[m] = table->has_metric[m] || cJSON_IsNumber(value);
        }
    }
    if (is_first) {
        snprintf(table->unit, sizeof table->unit, "%s", unit);
    }
    table->is_mixed = table->is_mixed || strcmp(table->unit, unit) != 0;
}

static MerStatus read_summary(const char *run, MerArena *arena, cJSON **summary, MerError *error)
{
    char       *text;
    size_t      size;
    const char *path = mer_arena_format(arena, "%s/summary.json", run);
    MER_TRY(mer_file_read(path, SUMMARY_LIMIT, arena, &text, &size, error));
    *summary = cJSON_ParseWithLength(text, size);
    return *summary != NULL && mer_json_get(*summary, "best") != NULL
               ? MER_OK
               : mer_error_set(error, MER_INVALID,
                               "%s: found no summary, expected mercator-summary/1", path);
}

static void write_run(const Table *table, const char *run, const cJSON *summary)
{
    const cJSON *task;
    cJSON_ArrayForEach(task, mer_json_get(summary, "tasks"))
    {
        write_row(table, run, summary, task);
    }
    write_row(table, run, summary, NULL);
}

/* Each is read twice, so that a thousand runs are never held at once. */
static MerStatus walk(Table *table, const char *const *runs, int count, MerError *error)
{
    for (int r = 0; r < count; r++) {
        MerArena *arena = mer_arena_new();
        cJSON    *summary = NULL;
        MerStatus status = read_summary(runs[r], arena, &summary, error);
        if (status == MER_OK && table->file != NULL) {
            write_run(table, runs[r], summary);
        } else if (status == MER_OK) {
            learn(table, summary, r == 0);
        }
        cJSON_Delete(summary);
        mer_arena_free(arena);
        MER_TRY(status);
    }
    return MER_OK;
}

MerStatus mer_report_results(const char *const *runs, int count, const char *path, MerError *error)
{
    Table     table = {0};
    MerOutput output;
    MER_TRY(walk(&table, runs, count, error));
    MER_TRY(mer_output_open(&output, path, error));
    table.file = output.file;
    write_titles(&table);
    return mer_output_end(&output, walk(&table, runs, count, error), error);
}
