/* Opening an optimizer on a task: what it may know, and its line back to the run. */
#include "run/search/task_search.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

/* What a search that the time ended says after its last trial depends on the clock: a run that follows its log has it there. */
static bool is_after_end(const MerTaskSearch *s)
{
    return s->end && s->run->log.is_replay && s->run->trials >= s->end->index;
}

/* Lines of the optimizer go into the log at once: asks and tells are not parallel. Within a long ask the log may end. */
static void write_line(MerTaskSearch *s, MerJson *json)
{
    MerRunState *run = s->run;
    if (run->note_status == MER_OK && !is_after_end(s)) {
        run->note_status = mer_runlog_end_line(&run->log, json, run->error);
        mer_deadline_set(s);
    }
    mer_json_free(json);
}

/* Notes that say how a search fails are for whoever waits for it too. */
static void warn(const MerTaskSearch *s, const char *name, const char *value)
{
    if (strcmp(name, "warning") == 0 || strcmp(name, "error") == 0) {
        cJSON      *text = cJSON_Parse(value);
        const char *plain = cJSON_GetStringValue(text);
        char        line[600];
        snprintf(line, sizeof line, "%s: %s", s->type->name, plain ? plain : value);
        mer_run_warn(s->run, line);
        cJSON_Delete(text);
    }
}

static void note(void *state, const char *name, const char *value)
{
    MerTaskSearch *s = state;
    MerJson        json = {0};
    warn(s, name, value);
    mer_line_note(&json, s->run->trials, s->task->index, s->type->name, name, value);
    write_line(s, &json);
}

static void epoch(void *state, const char *phase, int number, int count, const char *values)
{
    MerTaskSearch *s = state;
    MerJson        json = {0};
    mer_line_epoch(&json, s->run->trials, s->task->index, phase, number, count, values);
    write_line(s, &json);
    if (!s->run->log.is_replay) { /* the others were timed when the log was written */
        mer_phase_end(&s->run->watch, phase, number, count);
    }
    mer_assess_look(s, number);
}

static void spend(void *state, MerSpent what, double amount)
{
    MerTaskSearch *s = state;
    s->task->result->spent[what] += amount;
    mer_phase_spend(&s->run->watch, what, amount);
}

static void begin_epoch(void *state, bool is_plain)
{
    MerTaskSearch *s = state;
    mer_phase_begin(&s->run->watch, is_plain);
}

static void decisions(void *state, const MerDecisionTimes *times)
{
    MerTaskSearch    *s = state;
    MerDecisionTimes *sum = &s->run->result->decisions;
    sum->count += times->count;
    sum->late += times->late;
    sum->total_ms += times->total_ms;
    sum->worst_ms = fmax(sum->worst_ms, times->worst_ms);
    sum->allowed_ms = times->allowed_ms; /* an option of the run, the same for all tasks */
}

static bool is_cancelled(void *state)
{
    MerTaskSearch *s = state;
    return mer_run_is_cancelled(s->run);
}

static void checkpoint(void *state)
{
    MerTaskSearch *s = state;
    MerRunState   *run = s->run;
    if (run->note_status == MER_OK) {
        run->note_status = mer_checkpoint_save(s, run->error);
    }
}

static bool is_legal(const void *state, const MerIndex *point)
{
    const MerTaskSearch *s = state;
    mer_run_expand(s->task, point, s->legality_point);
    return s->task->problem.type->is_legal(&s->task->problem, s->legality_point);
}

static double value_of(const void *objective, const double *metrics)
{
    return mer_objective_value(objective, metrics);
}

static void describe(MerTaskSearch *s)
{
    MerRunState        *run = s->run;
    const MerProblem   *problem = &s->task->problem;
    const MerEvaluator *evaluator = problem->inner ? problem->inner : &s->task->evaluator;
    s->rng = mer_rng_make(run->spec->seed, (uint64_t)s->task->index);
    s->notes = (MerNotes){s, note, epoch, spend, is_cancelled, checkpoint, decisions, begin_epoch};
    s->goal = (MerGoal){mer_objective_metrics(&run->objective), run->objective.direction, value_of,
                        &run->objective};
    s->search = (MerSearch){
        .space = &s->task->view,
        .graph = problem->graph,
        .task = s->task->index,
        .task_count = run->task_count,
        .objective = run->objective.metric,
        .goal = &s->goal,
        .budget = s->task->budget,
        .batch = s->capacity,
        .rng = &s->rng,
        .seed = run->spec->seed,
        .notes = &s->notes,
        .arena = run->optimizer_arena,
        .pool = run->pool,
    };
    if (problem->type->is_legal && !run->spec->learned_legality) {
        s->legality_point = MER_ARRAY(run->arena, MerIndex, problem->space.knob_count + 1);
        s->legality = (MerLegality){s, is_legal};
        s->search.legality = &s->legality;
    }
    if (evaluator->type->expected) {
        s->soft = (MerSoftCost){evaluator->state, evaluator->type->expected, false};
        s->soft.is_number =
            evaluator->type->is_number && evaluator->type->is_number(evaluator->state);
        s->search.soft = &s->soft;
    }
    mer_point_cost_open(s);
}

const void *mer_run_optimizer_options(const MerRunSpec *spec, MerArena *arena)
{
    const MerOptimizerClass *type = spec->optimizer;
    return mer_options_or_defaults(spec->optimizer_options, type->options, type->options_size,
                                   arena);
}

static MerStatus open_optimizer(MerTaskSearch *s, MerError *error)
{
    MerRunState *run = s->run;
    s->optimizer =
        mer_arena_alloc(run->optimizer_arena, s->type->state_size ? s->type->state_size : 1);
    const void *options = mer_run_optimizer_options(run->spec, run->arena);
    return s->type->open ? s->type->open(s->optimizer, &s->search, options, error)
                         : s->type->open_problem(s->optimizer, &s->search, &s->task->problem,
                                                 &s->task->evaluator, options, error);
}

/* An optimizer that can carry its policy to the next task stays open; others start anew. */
MerStatus mer_task_search_open(MerTaskSearch *s, MerError *error)
{
    MerRunState *run = s->run;
    MerProblem  *problem = &s->task->problem;
    describe(s);
    int64_t points =
        s->type->points ? s->type->points(mer_run_optimizer_options(run->spec, run->arena)) : 0;
    s->expected = s->type->ends_itself                     ? INT64_MAX
                  : points > 0 && points < s->task->budget ? points
                                                           : s->task->budget;
    if (problem->type->trainable) {
        MER_TRY(problem->type->trainable(problem, &s->trainable, error));
        s->search.trainable = &s->trainable;
    }
    if (run->optimizer && s->type->next_task) {
        s->optimizer = run->optimizer;
        return s->type->next_task(s->optimizer, &s->search, error);
    }
    MER_TRY(mer_policy_check(s, error));
    MER_TRY(open_optimizer(s, error));
    run->optimizer = s->optimizer;
    return mer_policy_load(s, error);
}

MerStatus mer_task_search_save(const MerTaskSearch *s, MerKeep what, const void *head,
                               size_t head_size, char **data, size_t *size, MerError *error)
{
    FILE *memory = open_memstream(data, size);
    if (memory) {
        fwrite(head, 1, head_size, memory); /* whether it went well shows at the end */
        MerStatus status = s->type->save(s->optimizer, what, memory, error);
        if (fclose(memory) == 0 || status != MER_OK) {
            return status;
        }
    }
    return mer_error_set(error, MER_NO_MEMORY, "no memory for the optimizer's state");
}

void mer_task_search_close(MerTaskSearch *s, bool is_last)
{
    MerRunState *run = s->run;
    mer_point_cost_close(s);
    if (run->optimizer && (is_last || !s->type->next_task)) {
        if (s->type->close) {
            s->type->close(run->optimizer);
        }
        run->optimizer = NULL;
        mer_arena_reset(run->optimizer_arena);
    }
}
