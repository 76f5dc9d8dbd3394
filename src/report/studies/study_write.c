/* A study as text, as Markdown, and as the data of a page. */
#include "report/studies/study_stats.h"

#include "base/terminal.h"
#include "report/tables/table.h"

#include <math.h>

enum { GRID = 72 };

/* `|` would end a cell. */
static void write_cell(FILE *file, const char *text)
{
    for (; *text; text++) {
        if (*text == '|') {
            fputc('\\', file);
        }
        fputc(*text, file);
    }
}

static void write_markdown(const MerStudyTable *table, FILE *file)
{
    fprintf(file, "### %s\n\n%s\n\n|", table->title, table->caption);
    for (int c = 0; c < table->columns; c++) {
        fputc(' ', file);
        write_cell(file, table->titles[c] + (table->titles[c][0] == '>'));
        fputs(" |", file);
    }
    fputs("\n|", file);
    for (int c = 0; c < table->columns; c++) {
        fputs(table->titles[c][0] == '>' ? "---:|" : "---|", file);
    }
    for (int i = 0; i < table->row_count * table->columns; i++) {
        fputs(i % table->columns == 0 ? "\n| " : " ", file);
        write_cell(file, table->cells[i]);
        fputs(" |", file);
    }
    fputs("\n\n", file);
}

static void write_text(const MerStudyTable *table, FILE *file, MerArena *arena)
{
    MerTextTable *text = mer_text_table_new(arena, table->columns, table->titles);
    for (int i = 0; i < table->row_count * table->columns; i++) {
        mer_text_table_add(text, table->cells[i]);
    }
    fputc('\n', file);
    mer_print_lines(file, table->title, 0);
    mer_print_lines(file, table->caption, 0);
    fputc('\n', file);
    mer_text_table_print(text, file);
}

static const char *ending(int count)
{
    return count == 1 ? "" : "s";
}

MerStatus mer_study_text(const MerStudy *study, const MerStudyOptions *options, bool is_markdown,
                         FILE *file, MerArena *arena, MerError *error)
{
    for (int g = 0; g < study->group_count; g++) {
        const MerStudyGroup *group = &study->groups[g];
        MerStudyTable        tables[MER_STUDY_TABLES];
        int                  count;
        MER_TRY(mer_study_tables(group, options, arena, tables, &count, error));
        const char *head = mer_arena_format(
            arena, "%s%s\n\n%d task%s, %d optimizer%s, up to %d seed%s each.",
            is_markdown ? "## " : "\n", group->title, group->task_count, ending(group->task_count),
            group->method_count, ending(group->method_count), mer_study_most_seeds(group),
            ending(mer_study_most_seeds(group)));
        if (group->exact) {
            head = mer_arena_format(arena, "%s Left out: %s, proven best on every task.%s", head,
                                    group->exact,
                                    group->method_count ? "" : " Nothing is left to compare.");
        }
        if (group->hopeless > 0) {
            head = mer_arena_format(arena,
                                    "%s Left out: %d tasks for which no run found a feasible plan.",
                                    head, group->hopeless);
        }
        mer_print_lines(file, head, 0);
        fputs(is_markdown ? "\n" : "", file);
        for (int t = 0; t < count; t++) {
            if (is_markdown) {
                write_markdown(&tables[t], file);
            } else {
                write_text(&tables[t], file, arena);
            }
        }
    }
    return MER_OK;
}

static void write_table(const MerStudyTable *table, MerJson *json)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "id", table->id);
    mer_json_text(json, "title", table->title);
    mer_json_text(json, "caption", table->caption);
    mer_json_texts(json, "columns", table->titles, table->columns);
    mer_json_array(json, "rows");
    for (int r = 0; r < table->row_count; r++) {
        mer_json_texts(json, NULL, table->cells + r * table->columns, table->columns);
    }
    mer_json_end_array(json);
    mer_json_end_object(json);
}

/* Sample counts spread evenly on a log axis, without repetition. */
static int make_grid(int64_t last, int64_t *grid)
{
    int count = 0;
    for (int i = 0; i < GRID; i++) {
        int64_t at = (int64_t)llround(pow((double)last, (double)i / (GRID - 1)));
        if (count == 0 || at > grid[count - 1]) {
            grid[count++] = at;
        }
    }
    return count;
}

/* Quartiles over the seeds of what they have over the best known, six digits each: enough to draw. */
static void write_curve(const MerStudyGroup *group, int task, int method, const int64_t *grid,
                        int count, MerJson *json, MerArena *arena)
{
    static const char *const names[] = {"low", "median", "high"};
    const MerStudyCell      *cell = mer_study_cell(group, task, method);
    double                  *scores = MER_ARRAY(arena, double, cell->count + 1);
    mer_json_object(json, NULL);
    for (int q = 0; q < 3 && cell->count > 0; q++) {
        mer_json_array(json, names[q]);
        for (int i = 0; i < count && grid[i] <= mer_cell_until(cell); i++) {
            int n = mer_cell_best(cell, grid[i], scores);
            for (int s = 0; s < n; s++) {
                scores[s] = mer_study_ratio(scores[s], group->tasks[task].best);
            }
            double value = mer_quantile(scores, n, 0.25 * (q + 1));
            char   text[32];
            snprintf(text, sizeof text, "%.6g", value);
            mer_json_raw(json, NULL, isfinite(value) ? text : "null");
        }
        mer_json_end_array(json);
    }
    mer_json_end_object(json);
}

static void write_curves(const MerStudyGroup *group, MerJson *json, MerArena *arena)
{
    int64_t grid[GRID], last = 1;
    for (int m = 0; m < group->method_count; m++) {
        int64_t until = mer_method_until(group, m);
        last = until > last ? until : last;
    }
    int count = make_grid(last, grid);
    mer_json_array(json, "samples");
    for (int i = 0; i < count; i++) {
        mer_json_int(json, NULL, grid[i]);
    }
    mer_json_end_array(json);
    mer_json_array(json, "curves"); /* (tasks, methods) */
    for (int t = 0; t < group->task_count; t++) {
        mer_json_array(json, NULL);
        for (int m = 0; m < group->method_count; m++) {
            write_curve(group, t, m, grid, count, json, arena);
        }
        mer_json_end_array(json);
    }
    mer_json_end_array(json);
}

static void write_names(const MerStudyGroup *group, MerJson *json, MerArena *arena)
{
    mer_json_array(json, "tasks");
    for (int t = 0; t < group->task_count; t++) {
        const MerStudyTask *task = &group->tasks[t];
        mer_json_object(json, NULL);
        mer_json_text(json, "workload", task->workload);
        mer_json_text(json, "name", task->name);
        mer_json_text(json, "full_name", task->full_name);
        mer_json_real(json, "best", task->best);
        mer_json_bool(json, "proven", task->is_proven);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
    mer_json_array(json, "methods");
    for (int m = 0; m < group->method_count; m++) {
        mer_json_object(json, NULL);
        mer_json_text(json, "name", group->methods[m].name);
        mer_json_int(json, "samples", (int64_t)mer_method_samples(group, m, arena));
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}

static MerStatus write_group(const MerStudyGroup *group, const MerStudyOptions *options,
                             MerJson *json, MerArena *arena, MerError *error)
{
    MerStudyTable tables[MER_STUDY_TABLES];
    int           count;
    MER_TRY(mer_study_tables(group, options, arena, tables, &count, error));
    mer_json_object(json, NULL);
    mer_json_text(json, "title", group->title);
    mer_json_text(json, "objective", group->objective);
    mer_json_text(json, "unit", group->unit);
    write_names(group, json, arena);
    mer_json_array(json, "tables");
    for (int t = 0; t < count; t++) {
        write_table(&tables[t], json);
    }
    mer_json_end_array(json);
    write_curves(group, json, arena);
    mer_json_end_object(json);
    return MER_OK;
}

MerStatus mer_study_json(const MerStudy *study, const MerStudyOptions *options, const char **text,
                         MerArena *arena, MerError *error)
{
    MerStatus status = MER_OK;
    MerJson   json = {0};
    mer_json_object(&json, NULL);
    mer_json_int(&json, "runs", study->run_count);
    mer_json_int(&json, "unfinished", study->unfinished);
    mer_json_array(&json, "groups");
    for (int g = 0; status == MER_OK && g < study->group_count; g++) {
        status = write_group(&study->groups[g], options, &json, arena, error);
    }
    mer_json_end_array(&json);
    mer_json_end_object(&json);
    *text = mer_json_keep(&json, arena);
    return status;
}
