/* Grouping and statistics of comparisons. */
#include "run/experiment/comparison.h"

#include "base/stats.h"
#include "run/search/objective.h"

#include <math.h>
#include <string.h>

enum { BOOTSTRAP_ROUNDS = 2000 };

static double limit_of(const MerCell *cell)
{
    return cell->is_timed ? mer_run_time(cell->spec) : (double)cell->spec->budget;
}

static bool is_same_group(const MerCell *a, const MerCell *b)
{
    return a->is_timed == b->is_timed && limit_of(a) == limit_of(b) &&
           a->spec->graph == b->spec->graph && a->spec->platform == b->spec->platform &&
           a->spec->evaluator == b->spec->evaluator &&
           strcmp(a->spec->objective, b->spec->objective) == 0;
}

typedef struct Samples {
    int     count, failed;
    double *values, *gaps, *evaluations, *walls;
} Samples;

/* The runs of one optimizer in one group; values as scores, so that smaller is better. */
static Samples gather(const MerCell *cells, int count, const MerCell *group, const char *optimizer,
                      int direction, MerArena *arena)
{
    Samples samples = {.values = MER_ARRAY(arena, double, count),
                       .gaps = MER_ARRAY(arena, double, count),
                       .evaluations = MER_ARRAY(arena, double, count),
                       .walls = MER_ARRAY(arena, double, count)};
    for (int c = 0; c < count; c++) {
        if (!is_same_group(&cells[c], group) || strcmp(cells[c].optimizer, optimizer) != 0) {
            continue;
        }
        bool is_failed = isnan(cells[c].value);
        samples.failed += is_failed;
        samples.values[samples.count] = is_failed ? INFINITY : -direction * cells[c].value;
        samples.gaps[samples.count] = isnan(cells[c].gap) ? INFINITY : cells[c].gap;
        samples.evaluations[samples.count] = (double)cells[c].evaluations;
        samples.walls[samples.count++] = cells[c].wall_s;
    }
    return samples;
}

static MerComparisonRow make_row(const char *optimizer, const Samples *samples)
{
    MerRng      rng = mer_rng_make(1, 0);
    int         n = samples->count;
    bool        is_complete = samples->failed == 0;
    MerInterval interval = {NAN, NAN};
    if (is_complete && n > 1) { /* one run says nothing of others */
        interval = mer_bootstrap(samples->values, n, mer_median, 0.95, BOOTSTRAP_ROUNDS, &rng);
    }
    return (MerComparisonRow){
        .optimizer = optimizer,
        .runs = n,
        .failed = samples->failed,
        .median = samples->failed * 2 >= n ? INFINITY : mer_median(samples->values, n),
        .low = interval.low,
        .high = interval.high,
        .gap = mer_median(samples->gaps, n),
        .evaluations = mer_median(samples->evaluations, n),
        .wall_s = mer_median(samples->walls, n),
        .p = NAN,
    };
}

static void sort_rows(MerComparisonRow *rows, Samples *samples, int count)
{
    for (int i = 1; i < count; i++) {
        MerComparisonRow row = rows[i];
        Samples          kept = samples[i];
        int              j = i;
        for (; j > 0 && rows[j - 1].median > row.median; j--) {
            rows[j] = rows[j - 1];
            samples[j] = samples[j - 1];
        }
        rows[j] = row;
        samples[j] = kept;
    }
}

/* Scores back to what the user reads. */
static void finish_rows(MerComparisonGroup *group, const Samples *samples)
{
    for (int r = 0; r < group->row_count; r++) {
        MerComparisonRow *row = &group->rows[r];
        double            best = group->rows[0].median;
        row->ratio = group->direction > 0 ? best / row->median : row->median / best;
        row->p = r > 0 ? mer_rank_test(samples[0].values, samples[0].count, samples[r].values,
                                       samples[r].count)
                       : NAN;
    }
    for (int r = 0; group->direction > 0 && r < group->row_count; r++) {
        MerComparisonRow *row = &group->rows[r];
        double            low = -row->high;
        row->median = -row->median;
        row->high = -row->low;
        row->low = low;
    }
}

static void fill_group(const MerCell *cells, int count, const MerCell *first,
                       MerComparisonGroup *group, MerArena *arena)
{
    Samples     *samples = MER_ARRAY(arena, Samples, count);
    MerObjective objective = {.direction = -1};
    mer_objective_parse(first->spec->objective, &objective, arena, NULL);
    *group = (MerComparisonGroup){
        .workload = first->spec->name,
        .platform = first->spec->platform ? first->spec->platform->name : NULL,
        .evaluator = first->spec->evaluator->name,
        .objective = first->spec->objective,
        .is_timed = first->is_timed,
        .limit = limit_of(first),
        .direction = objective.direction,
        .rows = MER_ARRAY(arena, MerComparisonRow, count),
    };
    for (int c = 0; c < count; c++) {
        bool is_known = !is_same_group(&cells[c], first);
        for (int r = 0; r < group->row_count && !is_known; r++) {
            is_known = strcmp(group->rows[r].optimizer, cells[c].optimizer) == 0;
        }
        if (!is_known) {
            int row = group->row_count++;
            samples[row] = gather(cells, count, first, cells[c].optimizer, group->direction, arena);
            group->rows[row] = make_row(cells[c].optimizer, &samples[row]);
        }
    }
    sort_rows(group->rows, samples, group->row_count);
    finish_rows(group, samples);
}

int mer_compare(const MerCell *cells, int count, MerArena *arena, MerComparisonGroup **groups)
{
    int group_count = 0;
    *groups = MER_ARRAY(arena, MerComparisonGroup, count + 1);
    for (int c = 0; c < count; c++) {
        bool is_known = false;
        for (int e = 0; e < c && !is_known; e++) {
            is_known = is_same_group(&cells[e], &cells[c]);
        }
        if (!is_known) {
            fill_group(cells, count, &cells[c], &(*groups)[group_count++], arena);
        }
    }
    return group_count;
}

static void write_row(const MerComparisonRow *row, MerJson *json)
{
    mer_json_object(json, NULL);
    mer_json_text(json, "optimizer", row->optimizer);
    mer_json_int(json, "runs", row->runs);
    mer_json_int(json, "failed", row->failed);
    mer_json_real(json, "median", row->median);
    mer_json_array(json, "interval");
    mer_json_real(json, NULL, row->low);
    mer_json_real(json, NULL, row->high);
    mer_json_end_array(json);
    mer_json_real(json, "ratio", row->ratio);
    mer_json_real(json, "gap", row->gap);
    mer_json_real(json, "evaluations", row->evaluations);
    mer_json_real(json, "wall_s", row->wall_s);
    mer_json_real(json, "p", row->p);
    mer_json_end_object(json);
}

void mer_compare_write(const MerComparisonGroup *groups, int count, MerJson *json)
{
    mer_json_array(json, NULL);
    for (int g = 0; g < count; g++) {
        const MerComparisonGroup *group = &groups[g];
        mer_json_object(json, NULL);
        mer_json_text(json, "workload", group->workload);
        mer_json_text(json, "platform", group->platform ? group->platform : "none");
        mer_json_text(json, "evaluator", group->evaluator);
        mer_json_text(json, "objective", group->objective);
        mer_json_text(json, "equal", group->is_timed ? "time" : "samples");
        mer_json_real(json, group->is_timed ? "time_s" : "budget", group->limit);
        mer_json_array(json, "rows");
        for (int r = 0; r < group->row_count; r++) {
            write_row(&group->rows[r], json);
        }
        mer_json_end_array(json);
        mer_json_end_object(json);
    }
    mer_json_end_array(json);
}
