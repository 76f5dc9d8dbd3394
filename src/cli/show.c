/* Printing the result of a run. */
#include "cli/cli.h"

#include "base/terminal.h"
#include "report/tables/table.h"

#include <math.h>
#include <string.h>

/* Columns: what the objective is made of and what the evaluator knows, as far as it fits a screen. */
static int choose_metrics(const MerRunResult *result, MerMetric *metrics)
{
    static const MerMetric wanted[] = {
        MER_METRIC_CYCLES, MER_METRIC_MAKESPAN, MER_METRIC_PERIOD,   MER_METRIC_LATENCY,
        MER_METRIC_ENERGY, MER_METRIC_EDP,      MER_METRIC_ACCURACY, MER_METRIC_UTILISATION};
    int  count = 0;
    bool is_wanted = result->objective == MER_METRIC_COUNT;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        is_wanted = is_wanted || wanted[i] == result->objective;
    }
    if (!is_wanted) {
        metrics[count++] = result->objective;
    }
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        bool is_known = false;
        for (int t = 0; t < result->task_count; t++) {
            is_known = is_known ||
                       (result->tasks[t].point && !isnan(result->tasks[t].best.value[wanted[i]]));
        }
        if (is_known) {
            metrics[count++] = wanted[i];
        }
    }
    return count;
}

int mer_show_value(char buffer[48], MerMetric metric, double value)
{
    bool is_share = metric == MER_METRIC_UTILISATION || metric == MER_METRIC_BANDWIDTH_USE ||
                    metric == MER_METRIC_MISS_RATE || metric == MER_METRIC_DROP_RATE;
    bool is_metric = metric != MER_METRIC_COUNT;
    return is_share ? mer_print_percent(buffer, value)
                    : mer_print_engineering(buffer, value,
                                            is_metric ? mer_metric_info(metric)->unit : "");
}

static void add_row(MerTextTable *table, const MerTaskResult *result, bool is_found, bool has_macs,
                    const MerMetric *metrics, int count)
{
    char bound[64];
    mer_text_table_add(table, result->task.name);
    mer_text_table_add_int(table, result->task.count);
    if (has_macs) {
        mer_text_table_add_real(table, result->task.macs, "");
    }
    for (int m = 0; m < count; m++) {
        char text[48];
        mer_show_value(text, metrics[m], is_found ? result->best.value[metrics[m]] : NAN);
        mer_text_table_add(table, text);
    }
    mer_text_table_add_percent(table, result->gap);
    snprintf(bound, sizeof bound, "%s%s", result->is_proven ? "proven " : "", result->bound.kind);
    mer_text_table_add(table, bound);
}

static void show_table(const MerRunResult *result, MerArena *arena, FILE *file)
{
    MerMetric   metrics[MER_METRIC_COUNT];
    const char *titles[MER_METRIC_COUNT + 5] = {"task", "~~>count", "~~~>MACs"};
    int         count = choose_metrics(result, metrics);
    bool        has_macs = result->total.task.macs > 0;
    int         columns = has_macs ? 3 : 2;
    for (int m = 0; m < count; m++) {
        titles[columns++] =
            mer_arena_format(arena, "%s>%s", metrics[m] == result->objective ? "" : "~",
                             mer_metric_info(metrics[m])->name);
    }
    titles[columns++] = ">gap";
    titles[columns++] = "~~bound";
    MerTextTable *table = mer_text_table_new(arena, columns, titles);
    for (int t = 0; t < result->task_count; t++) {
        add_row(table, &result->tasks[t], !isnan(result->tasks[t].value), has_macs, metrics, count);
    }
    if (result->task_count > 1 || result->tasks[0].task.count > 1) {
        MerTaskResult total = result->total;
        total.task.name = "total";
        add_row(table, &total, result->is_feasible, has_macs, metrics, count);
    }
    mer_text_table_print(table, file);
}

/* A stream of tasks: how much of the answer was there when the search began, and soon after. */
static void show_milestones(const MerRunResult *result, MerArena *arena, FILE *file)
{
    const char *titles[] = {"task", ">carried", ">1", ">30", ">100"};
    const char *unit =
        result->objective == MER_METRIC_COUNT ? "" : mer_metric_info(result->objective)->unit;
    if (result->tasks[0].milestone_count == 0) {
        return;
    }
    MerTextTable *table = mer_text_table_new(arena, MER_MAX_MILESTONES + 1, titles);
    for (int t = 0; t < result->task_count; t++) {
        const MerTaskResult *task = &result->tasks[t];
        mer_text_table_add(table, task->task.name);
        for (int i = 0; i < MER_MAX_MILESTONES; i++) {
            mer_text_table_add_real(
                table, i < task->milestone_count ? task->milestones[i].value : NAN, unit);
        }
    }
    fprintf(file,
            "\n%s of what was carried over from the tasks before, and after so many generations:\n",
            result->objective_text);
    mer_text_table_print(table, file);
}

void mer_show_refusals(const MerTaskResult *result, FILE *file)
{
    bool    is_sampled = result->trials == 0;
    int64_t total = result->trials;
    bool    is_shown[MER_MAX_REASONS] = {false};
    for (int r = 0; is_sampled && r < result->reason_count; r++) {
        total += result->reasons[r].count;
    }
    for (int shown = 0; shown < result->reason_count; shown++) {
        int next = -1;
        for (int r = 0; r < result->reason_count; r++) {
            if (!is_shown[r] &&
                (next < 0 || result->reasons[r].count > result->reasons[next].count)) {
                next = r;
            }
        }
        const MerReasonCount *reason = &result->reasons[next];
        is_shown[next] = true;
        fprintf(file, "  %lld of %lld%s: %s; nearest: %s\n", (long long)reason->count,
                (long long)total, is_sampled ? " sampled points" : "", reason->class_name,
                reason->nearest);
    }
}

/* What to do where the evaluator failed, and not the plan; NULL: it did not. */
static const char *find_fault(const MerTaskResult *result)
{
    static const struct {
        const char *class_name, *hint;
    } faults[] = {
        {"crash", "the evaluator's program failed"},
        {"timeout", "the evaluator is too slow: raise its timeout_s"},
        {"answer", "the evaluator's program answers otherwise than it should"},
    };
    for (int r = 0; r < result->reason_count; r++) {
        for (size_t f = 0; f < sizeof faults / sizeof *faults; f++) {
            if (strcmp(result->reasons[r].class_name, faults[f].class_name) == 0) {
                return faults[f].hint;
            }
        }
    }
    return NULL;
}

static const char *advise(const MerRunSpec *spec, const MerTaskResult *result, MerArena *arena)
{
    const char *advice =
        spec->problem->advise ? spec->problem->advise(result->closest, arena) : NULL;
    bool has_no_metric = strstr(result->closest, MER_GIVES_NO) != NULL;
    return advice          ? advice
           : has_no_metric ? "choose an --objective that the evaluator gives"
                           : NULL;
}

void mer_show_hints(const MerRunSpec *spec, const MerTaskResult *result, MerArena *arena,
                    FILE *file)
{
    const char *hint = find_fault(result);
    bool        has_closest = !result->is_reachable && result->closest[0] != '\0';
    if (!hint && result->is_reachable) {
        hint = spec->total_budget > 0
                   ? "feasible plans exist, one was met afterwards; give the run a larger "
                     "--total-budget"
                   : "feasible plans exist, one was met afterwards; give the search a larger "
                     "--budget";
    } else if (!hint && has_closest) {
        hint = advise(spec, result, arena);
    }
    if (has_closest) {
        fprintf(file, "  nearest miss of all: %s\n", result->closest);
    }
    if (hint) {
        fprintf(file, "  hint: %s\n", hint);
    }
}

static void print_indented(const char *text, FILE *file)
{
    while (*text) {
        int length = (int)strcspn(text, "\n");
        fprintf(file, "  %.*s\n", length, text);
        text += length;
        text += *text == '\n';
    }
}

/* Each text once, with the first task it is of. */
static void show_constraints(const MerRunResult *result, FILE *file)
{
    for (int t = 0; t < result->task_count; t++) {
        const char *text = result->tasks[t].constraints;
        int         same = 0;
        bool        is_first = text != NULL;
        for (int other = 0; text && other < result->task_count; other++) {
            const char *its = result->tasks[other].constraints;
            bool        is_same = its && strcmp(its, text) == 0;
            is_first = is_first && !(is_same && other < t);
            same += is_same;
        }
        if (!is_first) {
            continue;
        }
        fprintf(file, "\nconstraints as understood");
        if (same < result->task_count) {
            fprintf(file, ", %s", result->tasks[t].task.name);
        }
        if (same < result->task_count && same > 1) {
            fprintf(file, " and %d more", same - 1);
        }
        fprintf(file, ":\n");
        print_indented(text, file);
    }
}

/* What the problem has to say of the only task, or of all together. */
static void show_costs(const MerRunSpec *spec, const MerRunResult *result, MerArena *arena,
                       FILE *file)
{
    bool                 is_total = result->task_count > 1;
    const MerTaskResult *shown = is_total ? &result->total : &result->tasks[0];
    bool                 is_said = is_total ? result->is_feasible : !isnan(shown->value);
    const char          *text = spec->problem->print_costs && is_said && (is_total || shown->text)
                                    ? spec->problem->print_costs(&shown->best, is_total, arena)
                                    : NULL;
    if (text || result->description) {
        fprintf(file, "%s", is_total ? "\n" : "");
        mer_print_lines(file, text ? text : "", 2);
        mer_print_lines(file, result->description ? result->description : "", 2);
    }
}

/* Who decides while things happen must be quick about it. */
static void show_decisions(const MerDecisionTimes *times, FILE *file)
{
    char mean[48], worst[48], allowed[48];
    if (times->count == 0) {
        return;
    }
    mer_print_engineering(mean, times->total_ms / (double)times->count * 1e-3, "s");
    mer_print_engineering(worst, times->worst_ms * 1e-3, "s");
    fprintf(file, "%lld decision%s, %s on average, %s at worst", (long long)times->count,
            times->count == 1 ? "" : "s", mean, worst);
    if (times->allowed_ms > 0) {
        mer_print_engineering(allowed, times->allowed_ms * 1e-3, "s");
        fprintf(file, "; %s allowed, %lld took longer", allowed, (long long)times->late);
    }
    fputc('\n', file);
}

/* What learning choices costs beside a training without them. */
static void show_training(const MerPhaseTimes *times, FILE *file)
{
    bool is_explained = false;
    for (int p = 0; p < times->count; p++) {
        const MerPhaseTime *phase = &times->phases[p];
        double              relative = mer_phase_relative(times, p);
        char                seconds[48];
        mer_print_engineering(seconds, phase->seconds, "s");
        fprintf(file, "%s%s %lld epoch%s in %s", p > 0 ? ", " : "training: ", phase->name,
                (long long)phase->epochs, phase->epochs == 1 ? "" : "s", seconds);
        if (!phase->is_plain && !isnan(relative)) {
            fprintf(file, " (%.2fx%s)", relative,
                    is_explained ? "" : " the processor time of a plain epoch");
            is_explained = true;
        }
    }
    fputs(times->count > 0 ? "\n" : "", file);
}

/* What a solver has proven of one class of plans, where it says nothing of the others. */
static bool is_reference(const MerRunResult *result)
{
    const MerTaskResult *task = &result->tasks[0];
    return result->task_count == 1 && !task->is_proven && !isnan(task->reference.value) &&
           fabs(task->value - task->reference.value) <= 1e-9 * fabs(task->reference.value);
}

/* What the bound says of the value. */
static const char *bound_text(const MerTaskResult *total, MerArena *arena)
{
    char gap[48];
    mer_print_percent(gap, total->gap);
    if (isnan(total->value)) {
        return MER_NO_TOTAL;
    }
    if (isnan(total->gap)) { /* no ratio to a bound of 0 */
        return isnan(total->bound.value) ? "no bound known"
                                         : mer_arena_format(arena, "bound %g", total->bound.value);
    }
    const char *words = total->is_proven ? "proven optimal, gap" : "gap to the bound";
    return total->among ? mer_arena_format(arena, "%s %s (among %s)", words, gap, total->among)
                        : mer_arena_format(arena, "%s %s", words, gap);
}

static const char *value_text(const MerRunResult *result, MerArena *arena)
{
    const MerTaskResult *total = &result->total;
    char                 value[48];
    bool                 is_metric = result->objective != MER_METRIC_COUNT;
    mer_show_value(value, result->objective, total->value);
    const char *text = mer_arena_format(arena, "%s %s, %s", result->objective_text, value,
                                        bound_text(total, arena));
    if (is_reference(result)) {
        text = mer_arena_format(arena, "%s, the optimum of %s plans", text,
                                result->tasks[0].reference.scope);
    }
    /* it is next to nothing, like a rounding error */
    return 100 * total->gap >= MER_MOST_PERCENT
               ? mer_arena_format(arena, "%s (it is %.3g%s%s)", text, total->bound.value,
                                  is_metric ? " " : "",
                                  is_metric ? mer_metric_info(result->objective)->unit : "")
               : text;
}

/* The answer in one sentence. */
static void print_sentence(const MerRunResult *result, MerArena *arena, FILE *file)
{
    const MerTaskResult *total = &result->total;
    bool                 is_word =
        strcmp(total->stopped, "finished") == 0 || strcmp(total->stopped, "interrupted") == 0;
    const char *text = mer_arena_format(
        arena, "%s%s%lld evaluation%s in %.2f s (%.0f/s), %.0f %% infeasible, %s%s",
        result->is_feasible ? value_text(result, arena) : "", result->is_feasible ? "; " : "",
        (long long)total->evaluations, total->evaluations == 1 ? "" : "s", result->wall_s,
        (double)total->evaluations / fmax(result->wall_s, 1e-9),
        total->trials ? 100.0 * (double)total->infeasible / (double)total->trials : 0,
        is_word ? "" : "stopped by ", total->stopped);
    fputc('\n', file);
    mer_print_words(file, text, 0, 0, mer_terminal_columns(file));
}

void mer_show_result(const MerRunSpec *spec, const MerRunResult *result, MerArena *arena,
                     FILE *file)
{
    const char *heading = mer_arena_format(
        arena, "%s %s%s%s, %s, objective %s, seed %llu%s", spec->problem->name, spec->name,
        spec->platform ? " on " : "", spec->platform ? spec->platform->name : "",
        spec->optimizer->name, result->objective_text, (unsigned long long)spec->seed,
        spec->platform && !spec->platform->calibrated ? " (platform not calibrated)" : "");
    mer_print_words(file, heading, 0, 0, mer_terminal_columns(file));
    fputc('\n', file);
    show_table(result, arena, file);
    show_milestones(result, arena, file);
    show_constraints(result, file);
    if (result->task_count == 1 && result->tasks[0].text) {
        fputc('\n', file);
        mer_print_lines(file, result->tasks[0].text, 2);
    }
    show_costs(spec, result, arena, file);
    mer_show_front(spec, result, arena, file);
    print_sentence(result, arena, file);
    show_decisions(&result->decisions, file);
    show_training(&result->training, file);
}
