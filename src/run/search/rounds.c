/* Tasks that belong together: after every task was searched alone, a problem may ask for further rounds, with knobs
 * fixed alike in all tasks (one geometry for a whole network) or for another objective (a weighted sum, to make the
 * product of the totals small), and says which round's answer each task takes. */
#include "run/search/task_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Rounds {
    MerRunState    *run;
    MerTaskResult **results; /* by round: of every task */
    MerWhole       *wholes;
    MerObjective    objective; /* of the run */
    int             done;
} Rounds;

static void keep_round(Rounds *rounds)
{
    MerRunState *run = rounds->run;
    size_t       count = (size_t)run->task_count;
    rounds->results[rounds->done] = MER_ARRAY(run->arena, MerTaskResult, count);
    memcpy(rounds->results[rounds->done], run->result->tasks, count * sizeof *run->result->tasks);
    rounds->wholes[rounds->done] = mer_run_whole(run);
    mer_run_add_up(run);
    rounds->wholes[rounds->done].score =
        run->result->is_feasible ? mer_objective_score(&rounds->objective, &run->result->total.best)
                                 : INFINITY;
    MerPart *parts = (MerPart *)rounds->wholes[rounds->done].parts;
    for (size_t t = 0; t < count;
         t++) { /* the results that stay, not those that are searched again */
        MerTaskResult *result = &rounds->results[rounds->done][t];
        parts[t].task = &result->task;
        parts[t].plan = result->point ? &result->plan : NULL;
        parts[t].cost = &result->best;
    }
    rounds->done++;
}

static MerStatus note_round(MerRunState *run, const MerRound *round, int number, MerError *error)
{
    MerJson json = {0};
    mer_line_begin(&json, "note", run->trials, -1);
    mer_json_text(&json, "source", run->spec->problem->name);
    mer_json_text(&json, "name", "round");
    mer_json_object(&json, "value");
    mer_json_int(&json, "number", number);
    mer_json_text(&json, "name", round->name);
    mer_json_text(&json, "objective", run->objective.text);
    mer_json_object(&json, "fixed");
    for (int f = 0; f < round->fixed_count; f++) {
        mer_json_real(&json, round->fixed[f].name, round->fixed[f].value);
    }
    mer_json_end_object(&json);
    mer_json_end_object(&json);
    return mer_runlog_end_line(&run->log, &json, error);
}

static MerStatus begin_round(MerRunState *run, const MerRound *round, int number, MerError *error)
{
    run->round = round;
    run->round_number = number;
    if (round->objective) {
        MER_TRY(mer_objective_parse(round->objective, &run->objective, run->arena, error));
    }
    for (int t = 0; t < run->task_count; t++) {
        mer_run_round_budget(run, &run->tasks[t]);
        MER_TRY(mer_run_begin_task(run, &run->tasks[t], error));
    }
    return note_round(run, round, number, error);
}

static int by_index(const void *a, const void *b)
{
    const MerFrontPoint *p = a, *q = b;
    return (p->index > q->index) - (p->index < q->index);
}

/* Of all rounds: a round fixes knobs, so that its own front is a part of it. The picked round comes first, as its plan is the
 * one that is written, then the others as they were. */
static void merge_fronts(Rounds *rounds, int task, int pick)
{
    MerTaskResult *result = &rounds->run->result->tasks[task];
    result->front = NULL;
    result->front_count = 0;
    for (int r = -1; r < rounds->done; r++) {
        const MerTaskResult *from = &rounds->results[r < 0 ? pick : r][task];
        for (int i = 0; i < from->front_count && r != pick; i++) {
            mer_front_add(rounds->run, result, &from->front[i]);
        }
    }
    if (result->front_count > 0) {
        qsort(result->front, (size_t)result->front_count, sizeof *result->front, by_index);
    }
}

/* Work and trade-offs of all rounds, answers of the picked one. */
static void take_pick(Rounds *rounds, int task, int pick)
{
    MerTaskResult *result = &rounds->run->result->tasks[task];
    *result = rounds->results[pick][task];
    for (int r = 0; r < rounds->done; r++) {
        if (r != pick) {
            mer_run_add_work(result, &rounds->results[r][task]);
        }
    }
    merge_fronts(rounds, task, pick);
    MerObjective *objective = &rounds->objective;
    if (result->point) { /* as the objective of the run has it */
        result->score = mer_objective_score(objective, &result->best);
        result->value = mer_objective_value(objective, result->best.value);
    }
    result->bound = rounds->results[0][task].bound;
    mer_run_set_gap(objective, result);
}

static int best_round(const Rounds *rounds, int task)
{
    int    best = 0;
    double least = INFINITY;
    for (int r = 0; r < rounds->done; r++) {
        const MerTaskResult *result = &rounds->results[r][task];
        double               score =
            result->point ? mer_objective_score(&rounds->objective, &result->best) : INFINITY;
        if (score < least) {
            least = score;
            best = r;
        }
    }
    return best;
}

static MerStatus pick_answers(Rounds *rounds, MerError *error)
{
    MerRunState           *run = rounds->run;
    const MerProblemClass *problem = run->spec->problem;
    int                   *pick = MER_ARRAY(run->arena, int, run->task_count + 1);
    for (int t = 0; t < run->task_count; t++) {
        pick[t] = problem->pick_rounds ? rounds->done - 1 : best_round(rounds, t);
    }
    if (problem->pick_rounds) {
        problem->pick_rounds(rounds->wholes, rounds->done, pick);
    }
    run->objective = rounds->objective;
    run->round = NULL;
    for (int t = 0; t < run->task_count; t++) {
        take_pick(rounds, t, pick[t] >= 0 && pick[t] < rounds->done ? pick[t] : 0);
        if (pick[t] != rounds->done - 1 && !run->is_interrupted) {
            MER_TRY(mer_run_note_best(run, &run->tasks[t], error));
        }
    }
    return MER_OK;
}

int mer_run_most_rounds(const MerRunSpec *spec)
{
    bool is_solver = spec->optimizer->open == NULL;
    return !spec->problem->next_round || is_solver ? 0
           : spec->rounds > 0                      ? spec->rounds
                                                   : spec->problem->rounds;
}

int mer_run_last_round(const MerRunState *run)
{
    int most = mer_run_most_rounds(run->spec), last = run->round ? run->round->last : 0;
    return last > 0 && last < most ? last : most;
}

MerStatus mer_run_first_round(MerRunState *run, MerError *error)
{
    const MerProblemClass *problem = run->spec->problem;
    MerRound              *round = MER_NEW(run->arena, MerRound);
    if (mer_run_most_rounds(run->spec) == 0 || !problem->first_round) {
        return MER_OK;
    }
    MerWhole whole = mer_run_whole(run);
    return problem->first_round(&whole, round, run->arena) ? begin_round(run, round, 0, error)
                                                           : MER_OK;
}

MerStatus mer_run_rounds(MerRunState *run, MerError *error)
{
    const MerProblemClass *problem = run->spec->problem;
    int                    most = mer_run_most_rounds(run->spec);
    if (most == 0 || run->is_interrupted) {
        return MER_OK;
    }
    Rounds   rounds = {.run = run,
                       .results = MER_ARRAY(run->arena, MerTaskResult *, most + 1),
                       .wholes = MER_ARRAY(run->arena, MerWhole, most + 1),
                       .objective = run->objective};
    MerRound round = {0};
    keep_round(&rounds);
    while (rounds.done <= most && !run->is_interrupted &&
           problem->next_round(rounds.wholes, rounds.done, &round, run->arena)) {
        run->objective = rounds.objective;
        MER_TRY(begin_round(run, &round, rounds.done, error));
        MER_TRY(mer_run_search_tasks(run, error));
        keep_round(&rounds);
        round = (MerRound){0};
    }
    return pick_answers(&rounds, error);
}
