/* Assessing the models of an optimizer: where a task's space is small enough (--assess), all of it is priced beforehand, and
 * after every epoch that the optimizer notes its models are asked what they think of each point. The report shows
 * how well they rank, and how much of the best the optimizer met and left out. */
#include "base/memory.h"
#include "base/stats.h"
#include "mercator/view.h"
#include "run/search/task_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096, TOP = 64 };

typedef struct Row { /* of one epoch; NaN: no such model */
    double epoch, measured, rank[2], recall[2], dropped;
} Row;

struct MerAssessment {
    int         count, knobs;
    double      best;   /* value of the objective */
    MerIndex   *points; /* feasible ones, as the optimizer sees them */
    float      *worth;  /* larger is better */
    int        *order;  /* the best first */
    MerOpinion *opinions;
    float      *thought;
    int         row_count, row_capacity;
    Row        *rows;
};

/* Prices a chunk of points and keeps the feasible ones. */
static void take(MerAssessment *assessment, MerBatch *batch, MerRunTrial *trials,
                 const MerIndex *seen, int count)
{
    int knobs = assessment->knobs;
    mer_batch_price(batch, trials, count, false);
    for (int i = 0; i < count; i++) {
        if (isfinite(trials[i].score)) {
            memcpy(assessment->points + (size_t)assessment->count * (size_t)knobs,
                   seen + (size_t)i * (size_t)knobs, (size_t)knobs * sizeof *seen);
            assessment->worth[assessment->count++] = (float)-trials[i].score;
            if (isnan(assessment->best) || trials[i].score < assessment->best) {
                assessment->best = trials[i].score;
            }
        }
    }
}

/* By a batch of its own: the search knows none of these plans. */
static void price_all(MerTaskSearch *s)
{
    MerBatch *batch =
        mer_batch_new(&s->task->problem, &s->task->evaluator, &s->task->check, &s->run->objective,
                      NULL, s->run->pool, false, mer_run_is_cancelled, s->run);
    const MerSpace *space = &s->task->view;
    int             knobs = space->knob_count, all = s->task->problem.space.knob_count, count = 0;
    MerRunTrial    *trials = mer_heap_zeroed(CHUNK, sizeof *trials);
    MerIndex       *full = mer_heap_zeroed((size_t)CHUNK * (size_t)(all + 1), sizeof *full);
    MerIndex       *seen = mer_heap_zeroed((size_t)CHUNK * (size_t)(knobs + 1), sizeof *seen);
    MerIndex       *point = mer_heap_zeroed((size_t)knobs + 1, sizeof *point);
    bool            has_more = true;
    for (; has_more && !mer_run_is_cancelled(s->run); has_more = mer_space_next(space, point)) {
        trials[count] = (MerRunTrial){.task = s->task->index,
                                      .point = full + (size_t)count * (size_t)all,
                                      .limit = INFINITY,
                                      .base = -1,
                                      .same_as = -1};
        mer_run_expand(s->task, point, trials[count].point);
        memcpy(seen + (size_t)count * (size_t)knobs, point, (size_t)knobs * sizeof *point);
        if (++count == CHUNK) {
            take(s->assessment, batch, trials, seen, count);
            count = 0;
        }
    }
    take(s->assessment, batch, trials, seen, count);
    mer_batch_free(batch);
    free(point);
    free(seen);
    free(full);
    for (int i = 0; i < CHUNK; i++) {
        mer_lines_free(&trials[i].lines);
        mer_json_free(&trials[i].json);
    }
    free(trials);
}

static void sort(MerAssessment *assessment)
{
    double *scores = mer_heap_zeroed((size_t)assessment->count + 1, sizeof *scores);
    for (int i = 0; i < assessment->count; i++) {
        scores[i] = -assessment->worth[i];
    }
    mer_sort_order(scores, assessment->count, assessment->order);
    free(scores);
}

void mer_assess_begin(MerTaskSearch *s)
{
    const MerSpace *space = &s->task->view;
    double          size = pow(10, mer_space_log10_size(space));
    if (s->run->spec->assess == 0 || !s->type->opinions || space->knob_count == 0 ||
        size > 1.001 * (double)s->run->spec->assess) {
        return;
    }
    size_t most = (size_t)(size * 1.001) + 2, knobs = (size_t)space->knob_count;
    s->assessment = mer_heap_zeroed(1, sizeof *s->assessment);
    *s->assessment = (MerAssessment){.knobs = space->knob_count,
                                     .points = mer_heap_zeroed(most * knobs, sizeof(MerIndex)),
                                     .worth = mer_heap_zeroed(most, sizeof(float)),
                                     .order = mer_heap_zeroed(most, sizeof(int)),
                                     .opinions = mer_heap_zeroed(most, sizeof(MerOpinion)),
                                     .thought = mer_heap_zeroed(most, sizeof(float))};
    s->assessment->best = NAN;
    price_all(s);
    sort(s->assessment);
    if (s->run->objective.direction > 0) { /* scores of what is maximised are negative */
        s->assessment->best = -s->assessment->best;
    }
}

/* Share of the true best so many among those thought best. */
static double recall(const MerAssessment *assessment, const float *thought)
{
    int     most = assessment->count < TOP ? assessment->count : TOP, found = 0;
    double *values = mer_heap_zeroed((size_t)assessment->count + 1, sizeof *values);
    int    *order = mer_heap_zeroed((size_t)assessment->count + 1, sizeof *order);
    bool   *is_best = mer_heap_zeroed((size_t)assessment->count + 1, sizeof *is_best);
    for (int i = 0; i < assessment->count; i++) {
        values[i] = -thought[i];
    }
    mer_sort_order(values, assessment->count, order);
    for (int i = 0; i < most; i++) {
        is_best[assessment->order[i]] = true;
    }
    for (int i = 0; i < most; i++) {
        found += is_best[order[i]];
    }
    free(is_best);
    free(order);
    free(values);
    return (double)found / most;
}

void mer_assess_look(MerTaskSearch *s, int epoch)
{
    MerAssessment *assessment = s->assessment;
    if (!assessment || assessment->count < 2 ||
        !s->type->opinions(s->optimizer, assessment->count, assessment->points,
                           assessment->opinions)) {
        return;
    }
    Row row = {.epoch = epoch, .measured = (double)s->task->result->trials};
    for (int model = 0; model < 2; model++) {
        for (int i = 0; i < assessment->count; i++) {
            assessment->thought[i] =
                model == 0 ? assessment->opinions[i].surrogate : assessment->opinions[i].critic;
        }
        bool is_there = isfinite(assessment->thought[0]);
        row.rank[model] = is_there ? mer_rank_correlation(assessment->count, assessment->thought,
                                                          assessment->worth)
                                   : NAN;
        row.recall[model] = is_there ? recall(assessment, assessment->thought) : NAN;
    }
    int best = (assessment->count + 99) / 100;
    for (int i = 0; i < best; i++) {
        row.dropped += (double)assessment->opinions[assessment->order[i]].is_dropped / best;
    }
    if (assessment->row_count == assessment->row_capacity) {
        assessment->row_capacity = 2 * assessment->row_capacity + 32;
        assessment->rows = mer_heap_resize(assessment->rows, (size_t)assessment->row_capacity,
                                           sizeof *assessment->rows);
    }
    assessment->rows[assessment->row_count++] = row;
}

static void show(const MerTaskSearch *s)
{
    enum { COLUMNS = 7 };
    const MerAssessment *assessment = s->assessment;
    const MerViewColumn  columns[COLUMNS] = {
         {.name = "epoch", .unit = "1"},
         {.name = "measured", .unit = "1"},
         {.name = "surrogate: rank", .unit = "1", .help = "rank correlation with the true scores"},
         {.name = "surrogate: top 64", .unit = "share", .has_bar = true},
         {.name = "critic: rank", .unit = "1"},
         {.name = "critic: top 64", .unit = "share", .has_bar = true},
         {.name = "top 1 % dropped",
          .unit = "share",
          .help = "of the best hundredth: met while planning and left out"}};
    MerViewCell *cells =
        mer_heap_zeroed((size_t)assessment->row_count * COLUMNS + 1, sizeof *cells);
    for (int r = 0; r < assessment->row_count; r++) {
        const Row   *row = &assessment->rows[r];
        const double numbers[COLUMNS] = {row->epoch,   row->measured,  row->rank[0], row->recall[0],
                                         row->rank[1], row->recall[1], row->dropped};
        for (int c = 0; c < COLUMNS; c++) {
            cells[r * COLUMNS + c].number = numbers[c];
        }
    }
    MerViewFact fact = {.name = "points", .value = assessment->count, .unit = "1"};
    MerView     view = {
            .id = "models",
            .title = "Models on the whole space",
            .help = "What the optimizer's models think of every feasible point, against its true "
                        "score, after each epoch.",
            .facts = &fact,
            .fact_count = 1,
            .is_folded = true};
    mer_view_table((MerNotes *)&s->notes, &view,
                   &(MerViewTable){columns, COLUMNS, cells, assessment->row_count});
    free(cells);
}

void mer_assess_end(MerTaskSearch *s)
{
    MerAssessment *assessment = s->assessment;
    if (!assessment) {
        return;
    }
    if (assessment->row_count > 0) {
        show(s);
    }
    if (assessment->count > 0 && !s->run->round &&
        !mer_run_is_cancelled(s->run)) { /* the whole space is known */
        MerTaskResult *result = s->task->result;
        result->bound = (MerBound){assessment->best, "optimum", ""};
        mer_run_set_gap(&s->run->objective, result);
    }
    free(assessment->points);
    free(assessment->worth);
    free(assessment->order);
    free(assessment->opinions);
    free(assessment->thought);
    free(assessment->rows);
    free(assessment);
    s->assessment = NULL;
}
