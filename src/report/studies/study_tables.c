/* The tables of a study. Rows are optimizers (or tasks), medians are over seeds first, then over tasks;
 * intervals over tasks are 95 % bootstrap intervals of the median. */
#include "report/studies/study_maker.h"

#include "mercator/option.h"
#include "report/tables/table.h"

#include <math.h>

static void table_tasks(MerTableMaker *maker)
{
    const MerStudyGroup *group = maker->group;
    mer_table_begin(maker, "tasks", "Tasks",
                    "Best known: the least any run found, whatever its budget; "
                    "proven where a method shows that nothing is better.",
                    ">#|workload|task|>MACs|>knobs|>points|>best known|found by|proven");
    for (int t = 0; t < group->task_count; t++) {
        const MerStudyTask *task = &group->tasks[t];
        char                macs[48], best[48];
        mer_print_engineering(macs, task->macs, "");
        mer_print_engineering(best, fabs(task->best), group->unit);
        mer_table_print(maker, "%d", t + 1);
        mer_table_add(maker, task->workload);
        mer_table_add(maker, task->name);
        mer_table_add(maker, mer_arena_text(maker->arena, macs));
        mer_table_print(maker, "%d", task->knobs);
        mer_table_print(maker, "1e%.0f", task->log10_size);
        mer_table_add(maker, mer_arena_text(maker->arena, best));
        mer_table_add(maker, task->best_by ? task->best_by : "-");
        mer_table_add(maker, task->is_proven ? "yes" : "no");
    }
}

static const char *task_label(const MerTableMaker *maker, int task)
{
    const MerStudyTask *about = &maker->group->tasks[task];
    return mer_arena_format(maker->arena, "%d %s %s", task + 1, about->workload, about->name);
}

static void table_final(MerTableMaker *maker)
{
    const MerStudyGroup *group = maker->group;
    mer_table_begin(
        maker, "final", "Final quality",
        "Objective over the best known of the task (1 is best) "
        "at the end of the run: the median of the seeds, then over the tasks.",
        "optimizer|>samples|>median (95 % interval)|>geometric mean|>worst task|>tasks within 1 %");
    for (int m = 0; m < group->method_count; m++) {
        int close = 0;
        mer_fill_quality(maker, m, INT64_MAX);
        for (int t = 0; t < group->task_count; t++) {
            close += maker->values[t] <= 1.01;
        }
        mer_table_add(maker, group->methods[m].name);
        mer_table_print(maker, "%.0f", mer_method_samples(group, m, maker->arena));
        mer_table_add(maker, mer_table_over_tasks(maker));
        mer_table_add(maker, mer_table_real(mer_table_geomean(maker), maker->arena));
        mer_table_add(maker, mer_table_real(mer_table_extremes(maker).high, maker->arena));
        mer_table_print(maker, "%d of %d", close, group->task_count);
    }
}

static void table_final_by_task(MerTableMaker *maker)
{
    const MerStudyGroup *group = maker->group;
    mer_table_begin_by_method(maker, "final-by-task", "Final quality by task",
                              "Objective over the best known: median of the seeds (quartiles).",
                              "task");
    for (int t = 0; t < group->task_count; t++) {
        mer_table_add(maker, task_label(maker, t));
        for (int m = 0; m < group->method_count; m++) {
            const MerStudyCell *cell = mer_study_cell(group, t, m);
            double             *scores = MER_ARRAY(maker->arena, double, cell->count + 1);
            int                 n = mer_cell_best(cell, INT64_MAX, scores);
            for (int s = 0; s < n; s++) {
                scores[s] = mer_study_ratio(scores[s], group->tasks[t].best);
            }
            MerInterval quartiles = {mer_quantile(scores, n, 0.25), mer_quantile(scores, n, 0.75)};
            mer_table_add(maker, n ? mer_table_with_interval(mer_study_median(scores, n), quartiles,
                                                             maker->arena)
                                   : "-");
        }
    }
}

static void fill_saving(const MerTableMaker *maker, int method, bool is_own)
{
    for (int t = 0; t < maker->group->task_count; t++) {
        double budget = mer_cell_samples(mer_study_cell(maker->group, t, maker->reference));
        double needed = mer_reach_of(maker, t, method).samples;
        maker->values[t] =
            isfinite(needed) ? (is_own ? mer_own_reach(maker, t) : budget) / needed : 0;
    }
}

static void table_reach(MerTableMaker *maker)
{
    const MerStudyGroup  *group = maker->group;
    const MerStudyMethod *reference = &group->methods[maker->reference];
    const char           *caption = mer_arena_format(
                  maker->arena,
                  "Target of a task: the median of the final values of %s. Samples needed: "
                            "median of the seeds. Saving = samples of the "
                            "reference / samples needed, where the reference counts with its whole "
                            "budget (%.0f), or with the sample at which its "
                            "own seeds found what they ended with (median). A task that half of the "
                            "seeds or more never finish counts as 0.",
                  reference->name, mer_method_samples(group, maker->reference, maker->arena));
    mer_table_begin(
        maker, "reach",
        mer_arena_format(maker->arena, "Samples to the final quality of %s", reference->name),
        caption,
        "optimizer|>samples needed|>saving on the whole budget (95 % interval)|>largest|>saving on "
        "its own last find (95 % interval)|>tasks reached|>seeds reached");
    for (int m = 0; m < group->method_count; m++) {
        int tasks = 0, seeds = 0, reached = 0;
        for (int t = 0; t < group->task_count; t++) {
            MerReach reach = mer_reach_of(maker, t, m);
            maker->values[t] = reach.samples;
            tasks += isfinite(reach.samples);
            seeds += reach.seeds;
            reached += reach.reached;
        }
        mer_table_add(maker, group->methods[m].name);
        mer_table_add(maker, mer_table_whole(mer_table_median(maker), maker->arena));
        fill_saving(maker, m, false);
        mer_table_add(maker, mer_table_over_tasks(maker));
        mer_table_add(maker, mer_table_real(mer_table_extremes(maker).high, maker->arena));
        fill_saving(maker, m, true);
        mer_table_add(maker, mer_table_over_tasks(maker));
        mer_table_print(maker, "%d of %d", tasks, group->task_count);
        mer_table_print(maker, "%d of %d", reached, seeds);
    }
}

static void table_reach_by_task(MerTableMaker *maker)
{
    const MerStudyGroup *group = maker->group;
    mer_table_begin_by_method(
        maker, "reach-by-task", "Samples to that quality by task",
        "Median of the seeds, and in brackets the saving on the reference's whole budget.", "task");
    for (int t = 0; t < group->task_count; t++) {
        double budget = mer_cell_samples(mer_study_cell(group, t, maker->reference));
        mer_table_add(maker, task_label(maker, t));
        for (int m = 0; m < group->method_count; m++) {
            MerReach reach = mer_reach_of(maker, t, m);
            mer_table_add(
                maker, isfinite(reach.samples)
                           ? mer_arena_format(maker->arena, "%.0f (%sx)", reach.samples,
                                              mer_table_real(budget / reach.samples, maker->arena))
                           : mer_arena_format(maker->arena, "never (%d of %d seeds)", reach.reached,
                                              reach.seeds));
        }
    }
}

/* Tasks on which the seeds of two methods differ by the rank test at 5 %. */
static void count_clear(const MerTableMaker *maker, int method, int against, int *better,
                        int *worse)
{
    *better = *worse = 0;
    for (int t = 0; t < maker->group->task_count; t++) {
        const MerStudyCell *own = mer_study_cell(maker->group, t, method);
        const MerStudyCell *other = mer_study_cell(maker->group, t, against);
        int64_t             samples = mer_equal_samples(maker, t, method, against, INT64_MAX);
        double             *x = MER_ARRAY(maker->arena, double, own->count + 1);
        double             *y = MER_ARRAY(maker->arena, double, other->count + 1);
        bool                is_clear = mer_rank_test(x, mer_cell_best(own, samples, x), y,
                                                     mer_cell_best(other, samples, y)) < 0.05;
        *better += is_clear && maker->values[t] > 1;
        *worse += is_clear && maker->values[t] < 1;
    }
}

static void table_baseline(MerTableMaker *maker)
{
    const MerStudyGroup  *group = maker->group;
    const MerStudyMethod *baseline = &group->methods[maker->baseline];
    mer_table_begin(maker, "baseline", mer_arena_format(maker->arena, "Against %s", baseline->name),
                    "Tasks on which the median of the seeds is better, at as many samples as "
                    "both took. p: two-sided sign test over the "
                    "tasks. Clear: the seeds differ by the rank test at 5 %.",
                    "optimizer|>at samples|>better on|>share|>worse on|>p|>clearly better, worse");
    for (int m = 0; m < group->method_count; m++) {
        int more, less, better, worse;
        if (m == maker->baseline) {
            continue;
        }
        int64_t samples = mer_fill_advantage(maker, m, maker->baseline, INT64_MAX);
        mer_count_signs(maker, &more, &less);
        count_clear(maker, m, maker->baseline, &better, &worse);
        mer_table_add(maker, group->methods[m].name);
        mer_table_print(maker, "%lld", (long long)samples);
        mer_table_print(maker, "%d of %d", more, group->task_count);
        mer_table_print(maker, "%.0f %%", 100.0 * more / group->task_count);
        mer_table_print(maker, "%d", less);
        mer_table_print(maker, "%.2g", mer_sign_test(more, less));
        mer_table_print(maker, "%d, %d", better, worse);
    }
}

static MerStatus find_method(const MerStudyGroup *group, const char *name, const char *what,
                             int *method, MerError *error)
{
    const char *names[64] = {NULL};
    int         count = 0;
    for (*method = 0; *method < group->method_count; ++*method) {
        if (mer_name_equal(group->methods[*method].name, name)) {
            return MER_OK;
        }
        if (count < 64) {
            names[count++] = group->methods[*method].name;
        }
    }
    const char *nearest = mer_name_nearest(name, names, count);
    char        more[32] = "", left[256] = "";
    if (count > 1) {
        snprintf(more, sizeof more, " and %d more", group->method_count - 1);
    }
    if (group->exact) {
        snprintf(left, sizeof left, "; %s left out, proven best on every task", group->exact);
    }
    return mer_error_set(error, MER_NOT_FOUND, "%s: no run of %s \"%s\"%s%s, found %s%s%s",
                         group->title, what, name, nearest ? ", did you mean " : "",
                         nearest ? nearest : "", count ? names[0] : "none", more, left);
}

static MerStatus choose(MerTableMaker *maker, MerError *error)
{
    const MerStudyOptions *options = maker->options;
    if (options->reference) {
        MER_TRY(find_method(maker->group, options->reference, "the reference", &maker->reference,
                            error));
    }
    if (options->baseline) {
        return find_method(maker->group, options->baseline, "the baseline", &maker->baseline,
                           error);
    }
    if (find_method(maker->group, "random", "the baseline", &maker->baseline, NULL) != MER_OK) {
        maker->baseline = -1;
    }
    return MER_OK;
}

MerStatus mer_study_tables(const MerStudyGroup *group, const MerStudyOptions *options,
                           MerArena *arena, MerStudyTable *tables, int *count, MerError *error)
{
    MerTableMaker maker = {.group = group,
                           .options = options,
                           .arena = arena,
                           .tables = tables,
                           .values = MER_ARRAY(arena, double, group->task_count + 1)};
    *count = 0;
    if (group->method_count == 0 || group->task_count == 0) {
        return MER_OK;
    }
    MER_TRY(choose(&maker, error));
    table_tasks(&maker);
    table_final(&maker);
    table_final_by_task(&maker);
    table_reach(&maker);
    table_reach_by_task(&maker);
    if (maker.baseline >= 0) {
        table_baseline(&maker);
    }
    for (int a = 0; a < options->at_count; a++) {
        mer_table_at(&maker, options->at[a]);
        mer_table_pairs(&maker, options->at[a]);
        mer_table_ratios(&maker, options->at[a]);
    }
    mer_table_ratios(&maker, INT64_MAX);
    mer_table_time(&maker);
    mer_table_seeds(&maker);
    mer_table_noted(&maker);
    for (int t = 0; t < maker.count; t++) {
        tables[t].row_count = tables[t].cell_count / tables[t].columns;
    }
    *count = maker.count;
    return MER_OK;
}
