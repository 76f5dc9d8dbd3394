/* The table of a hardware sweep. */
#include "cli/sweep.h"

#include "base/csv_cell.h"
#include "base/file.h"
#include "base/output.h"
#include "base/terminal.h"
#include "mercator/text.h"
#include "report/tables/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const MerMetric usual[] = {MER_METRIC_CYCLES, MER_METRIC_ENERGY, MER_METRIC_EDP};
enum { USUAL = sizeof usual / sizeof usual[0] };

/* The metrics that an evaluator of the sweep gives, and the objective if it is none of them. */
static int choose_columns(const MerRunSpec *specs, int count, MerMetric *columns)
{
    uint64_t given = 0, wanted = 0;
    int      chosen = 0;
    for (int i = 0; i < count; i++) {
        MerMetric objective = mer_metric_find(specs[i].objective);
        given |= specs[i].evaluator->metrics;
        wanted |= objective != MER_METRIC_COUNT ? UINT64_C(1) << objective : 0;
    }
    for (int m = 0; m < USUAL; m++) {
        if (given >> usual[m] & 1) {
            columns[chosen++] = usual[m];
            wanted &= ~(UINT64_C(1) << usual[m]);
        }
    }
    for (int m = 0; m < MER_METRIC_COUNT; m++) {
        if (wanted >> m & 1) {
            columns[chosen++] = (MerMetric)m;
        }
    }
    return chosen;
}

/* What rows may differ in, besides platform and seed. */
static const struct {
    const char *title;
    bool        is_usual; /* shown also where all rows agree, if there is enough width */
} labels[] = {{"workload", true},
              {"evaluator", false},
              {"optimizer", true},
              {"objective", false},
              {"budget", false}};
enum { LABELS = sizeof labels / sizeof labels[0] };

static const char *label_of(const MerRunSpec *spec, int label, MerArena *arena)
{
    const char *texts[] = {spec->workload_text, spec->evaluator_text, spec->optimizer_text,
                           spec->objective};
    return label < LABELS - 1 ? texts[label]
                              : mer_arena_format(arena, "%lld", (long long)spec->budget);
}

static bool differs(const MerSweepTable *table, int label, MerArena *arena)
{
    const char *first = label_of(table->rows[0].spec, label, arena);
    for (int r = 1; r < table->count; r++) {
        if (strcmp(label_of(table->rows[r].spec, label, arena), first) != 0) {
            return true;
        }
    }
    return false;
}

static void print_knees(const MerSweepTable *table, const bool *is_told, MerArena *arena,
                        FILE *file)
{
    bool has_platforms = table->rows[table->count - 1].platform > 0;
    for (int r = 0; r < table->count; r++) {
        const MerSweepRow *row = &table->rows[r];
        const char        *of = "";
        for (int l = 0; l < LABELS; l++) {
            of = is_told[l] ? mer_arena_format(arena, "%s%s%s", of, *of ? ", " : " of ",
                                               label_of(row->spec, l, arena))
                            : of;
        }
        if (row->is_knee) {
            const char *text = mer_arena_format(
                arena, "> the knee%s: %s, farthest below the straight line between the ends", of,
                has_platforms ? row->spec->platform->name : row->swept);
            mer_print_words(file, text, 0, 2, mer_terminal_columns(file));
        }
    }
}

/* Of one row; the titles where it is NULL. */
static int add_labels(const MerSweepTable *table, const MerSweepRow *row, const bool *is_told,
                      const char **cells, MerArena *arena)
{
    int count = 0;
    for (int l = 0; l < LABELS; l++) {
        if (is_told[l] || labels[l].is_usual) {
            cells[count++] =
                row ? label_of(row->spec, l, arena)
                    : mer_arena_format(arena, "%s%s", is_told[l] ? "" : "~~", labels[l].title);
        }
    }
    if (table->rows[0].runs > 1) {
        const char *of =
            row && row->found < row->runs ? mer_arena_format(arena, "%d of ", row->found) : "";
        cells[count++] = row ? mer_arena_format(arena, "%s%d", of, row->runs) : ">seeds";
    }
    return count;
}

static void add_row(const MerSweepTable *table, const MerSweepRow *row, const bool *is_told,
                    const MerMetric *metrics, int metric_count, MerTextTable *text, MerArena *arena)
{
    const char          *cells[LABELS + 1];
    const MerTaskResult *total = &row->median.total;
    bool                 is_known = row->median.is_feasible;
    int                  count = add_labels(table, row, is_told, cells, arena);
    mer_text_table_add(text, mer_arena_format(arena, "%s%s", row->is_knee ? ">" : "",
                                              row->is_on_front ? "*" : ""));
    mer_text_table_add(text, row->spec->platform->name);
    for (int c = 0; c < count; c++) {
        mer_text_table_add(text, cells[c]);
    }
    for (int m = 0; m < metric_count; m++) {
        char value[48];
        mer_show_value(value, metrics[m], is_known ? total->best.value[metrics[m]] : NAN);
        mer_text_table_add(text, value);
    }
    mer_text_table_add_percent(text, is_known ? total->gap : NAN);
}

static void print_table(const MerSweepTable *table, const MerRunSpec *specs, int count,
                        MerArena *arena, FILE *file)
{
    MerMetric   metrics[MER_METRIC_COUNT];
    bool        is_told[LABELS], has_energy = false;
    const char *titles[MER_METRIC_COUNT + LABELS + 4] = {"", "platform"};
    int         metric_count = choose_columns(specs, count, metrics);
    for (int l = 0; l < LABELS; l++) {
        is_told[l] = differs(table, l, arena);
    }
    int columns = 2 + add_labels(table, NULL, is_told, titles + 2, arena);
    for (int m = 0; m < metric_count; m++) {
        titles[columns++] = mer_arena_format(arena, ">%s", mer_metric_info(metrics[m])->name);
        has_energy = has_energy || metrics[m] == MER_METRIC_ENERGY;
    }
    titles[columns++] = ">gap";
    MerTextTable *text = mer_text_table_new(arena, columns, titles);
    for (int r = 0; r < table->count; r++) {
        add_row(table, &table->rows[r], is_told, metrics, metric_count, text, arena);
    }
    fprintf(file, "\n");
    mer_text_table_print(text, file);
    bool        has_groups = table->rows[table->count - 1].group > 0;
    const char *mark = mer_arena_format(
        arena, "* nothing %s beats it%s, or equals it further up%s",
        has_groups ? "of the same network, evaluator and objective" : "in the sweep",
        has_energy ? " in both energy and time" : "",
        table->rows[0].runs > 1 ? "; numbers are medians over the seeds" : "");
    fputc('\n', file);
    mer_print_words(file, mark, 0, 2, mer_terminal_columns(file));
    print_knees(table, is_told, arena, file);
}

/* The next cell; what is not known is empty. */
static void write_number(FILE *file, double value)
{
    char text[32] = "";
    if (isfinite(value)) {
        mer_print_real(text, value);
    }
    fprintf(file, ",%s", text);
}

/* One run, with the marks of its row. */
static void write_run(const MerExperiment *experiment, const MerRunSpec *spec,
                      const MerCellTotal *result, const MerSweepRow *row, FILE *file)
{
    int         combination = row->combination;
    const char *values[MER_MAX_SWEEPS];
    for (int s = experiment->sweep_count - 1; s >= 0; s--) {
        const MerSweep *sweep = &experiment->sweeps[s];
        values[s] = sweep->values.texts[combination % sweep->values.count];
        combination /= sweep->values.count;
    }
    mer_csv_cell(file, spec->workload_text);
    fputc(',', file);
    mer_csv_cell(file, spec->optimizer_text);
    for (int s = 0; s < experiment->sweep_count; s++) {
        double number; /* 16Ki is no number for a spreadsheet */
        if (mer_parse_real(values[s], &number)) {
            write_number(file, number);
        } else {
            fputc(',', file);
            mer_csv_cell(file, values[s]);
        }
    }
    const double *best = result->total.best.value;
    bool          is_known = result->is_feasible;
    for (int m = 0; m < USUAL; m++) {
        write_number(file, is_known ? best[usual[m]] : NAN);
    }
    write_number(file, is_known ? result->total.gap : NAN);
    fprintf(file, ",%d", row->is_on_front);
    write_number(file, is_known ? result->total.value : NAN);
    fprintf(file, ",%d,%llu,", row->is_knee, (unsigned long long)spec->seed);
    mer_csv_cell(file, spec->objective);
    fputc(',', file);
    mer_csv_cell(file, spec->evaluator_text);
    fprintf(file, ",%lld,", (long long)spec->budget);
    mer_csv_cell(file, row->base);
    fputc('\n', file);
}

/* " [s]" where all runs have the same metric as their objective, else nothing. */
static const char *unit_of_objective(const MerRunSpec *specs, int count, MerArena *arena)
{
    MerMetric metric = mer_metric_find(specs[0].objective);
    for (int i = 1; i < count; i++) {
        metric = mer_metric_find(specs[i].objective) == metric ? metric : MER_METRIC_COUNT;
    }
    return metric == MER_METRIC_COUNT
               ? ""
               : mer_arena_format(arena, " [%s]", mer_metric_info(metric)->unit);
}

/* DIR/sweep.csv; a file of that name that no sweep has written stays. */
static MerStatus write_table(const MerExperiment *experiment, const MerRunSpec *specs,
                             const MerCellTotal *results, int count, const MerSweepTable *table,
                             const char *directory, MerArena *arena, MerError *error)
{
    static const char start[] = "workload,optimizer,";
    const char       *path = mer_arena_format(arena, "%s/sweep.csv", directory);
    char             *old = NULL;
    bool              is_whole;
    MerOutput         output;
    MER_TRY(mer_file_first_line(path, arena, &old, &is_whole, error));
    if (old && strncmp(old, start, sizeof start - 1) != 0) {
        mer_request_warn(
            NULL, mer_arena_format(arena, "%s stays as it is: it is not a table of ours", path));
        return MER_OK;
    }
    MER_TRY(mer_output_open(&output, path, error));
    fprintf(output.file, "%s", start);
    for (int s = 0; s < experiment->sweep_count; s++) {
        fprintf(output.file, "%s,", experiment->sweeps[s].path);
    }
    fprintf(output.file,
            "cycles [cycle],energy [pJ],edp [pJ.cycle],gap [1],on_front,objective%s,knee,seed,"
            "objective_name,evaluator,budget,platform\n",
            unit_of_objective(specs, count, arena));
    for (int i = 0; i < count; i++) {
        write_run(experiment, &specs[i], &results[i], &table->rows[table->row_of[i]], output.file);
    }
    return mer_output_close(&output, error);
}

MerStatus mer_sweep_show(const MerExperiment *experiment, const MerRunSpec *specs,
                         const MerCellTotal *results, int count, const char *directory,
                         MerArena *arena, FILE *file, MerError *error)
{
    MerSweepTable table = mer_sweep_rows(experiment, specs, results, count, arena);
    mer_sweep_knees(experiment, &table, arena);
    MER_TRY(write_table(experiment, specs, results, count, &table, directory, arena, error));
    print_table(&table, specs, count, arena, file);
    return MER_OK;
}
