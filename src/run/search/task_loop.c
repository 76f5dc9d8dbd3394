/* The loop: ask, price, log, tell, until budget, time, gap or the optimizer ends it. */
#include "run/search/task_search.h"

#include "base/log.h"

#include <math.h>
#include <string.h>

enum { MAX_REPEATS = 100 };

static const double SHOW_INTERVAL_S = 0.02; /* nobody reads faster */

bool mer_run_is_cancelled(void *state)
{
    MerRunState *run = state;
    bool is_interrupted = run->hooks.is_cancelled && run->hooks.is_cancelled(run->hooks.state);
    return is_interrupted || mer_clock() > run->deadline;
}

int mer_run_search_number(const MerRunState *run, const MerRunTask *task)
{
    return run->round_number * run->task_count + task->index;
}

/* The trials that a search of the resumed log did not come to. */
static void drop_after_end(const MerTrials *batch)
{
    const MerLogEnd *end = batch->search->end;
    for (int i = 0; end && i < batch->count; i++) {
        batch->trials[i].is_dropped = batch->trials[i].index >= end->index;
    }
}

/* Why every plan has the same price, in all that is wanted; NULL: they differ. */
static const char *why_plans_are_equal(const MerTaskSearch *s)
{
    const MerEvaluator *evaluator = &s->task->evaluator;
    const MerRunSpec   *spec = s->run->spec;
    const char         *reason =
        evaluator->type->ignores_plan
                    ? evaluator->type->ignores_plan(evaluator->state, s->run->objective.metric)
                    : NULL;
    for (int i = 0; reason && i < spec->pareto_count; i++) {
        reason = evaluator->type->ignores_plan(evaluator->state, spec->pareto[i]);
    }
    return reason;
}

static void warn_of_waste(MerTaskSearch *s, const char *reason)
{
    MerRunState *run = s->run;
    const char  *text =
        mer_arena_format(run->arena,
                         "%s: %s is the same for every plan, so that the search ends after "
                         "one evaluation",
                         reason, run->objective.text);
    mer_run_add_warning(s->task->result, mer_arena_format(run->arena, "%s\n", text), run->arena);
    if (!run->has_warned_of_waste) {
        run->has_warned_of_waste = true;
        mer_run_warn(run, text);
    }
}

static MerStatus ask(MerTrials *batch, MerError *error)
{
    MerTaskSearch *s = batch->search;
    const char    *equal = why_plans_are_equal(s);
    if (!equal && mer_trials_walk(batch, 0)) {
        s->walked = mer_batch_walked(s->batch);
        return mer_trials_check(batch, error);
    }
    MER_TRY(mer_trials_ask(batch, equal ? 1 : s->capacity, error));
    if (equal && batch->count > 0 && s->counted > 0) {
        warn_of_waste(s, equal);
        batch->count = 0;
    }
    return MER_OK;
}

static MerStatus replay(const MerTrials *batch, MerError *error)
{
    MerTaskSearch *s = batch->search;
    for (int i = 0; i < batch->count && s->run->log.is_replay; i++) {
        MerRunTrial *trial = &batch->trials[i];
        bool         found;
        if (trial->is_dropped) {
            continue;
        }
        if (!mer_trial_is_logged(s, trial->index)) {
            MER_TRY(mer_runlog_pass(&s->run->log, trial->index, error));
            continue;
        }
        MER_TRY(mer_trial_replay(trial, &s->form, &s->run->log, &found, error));
        if (!found) {
            return MER_OK;
        }
    }
    return MER_OK;
}

static MerStatus log_trial(MerTaskSearch *s, MerRunTrial *trial, bool is_improving, MerError *error)
{
    if (trial->is_known) {
        return MER_OK;
    }
    for (const char *line = mer_lines_next(&trial->lines, NULL); line;
         line = mer_lines_next(&trial->lines, line)) {
        MER_TRY(mer_runlog_line(&s->run->log, line, error));
    }
    bool is_full = mer_trial_is_logged(s, trial->index);
    if (!is_full && !is_improving) {
        return MER_OK;
    }
    if (!s->run->log.file) {
        return MER_OK;
    }
    if (!is_full) {
        trial->is_written = false;
    }
    mer_trial_settle(trial, &s->form);
    return mer_runlog_text(&s->run->log, trial->json.text, trial->json.size, error);
}

/* Does a trial use up budget? Not where a rule that optimizers may ask for refuses its point: those that
 * do not ask lose no measurement by it. */
static bool is_counted(const MerTaskSearch *s, const MerRunTrial *trial)
{
    bool is_known = s->search.legality && !trial->cost.feasible &&
                    !s->task->problem.type->is_legal(&s->task->problem, trial->point);
    return !trial->is_warm && !is_known && !(s->run->spec->count_distinct && trial->same_as >= 0);
}

/* What has been proven so far: the problem's bound, or a solver's better one. */
static void take_proof(MerTaskSearch *s)
{
    MerTaskResult *result = s->task->result;
    MerBound       proof = {NAN, "none", ""};
    if (s->type->proof && s->type->proof(s->optimizer, &proof)) {
        bool is_tighter = isnan(result->bound.value) ||
                          (s->run->objective.direction < 0 ? proof.value >= result->bound.value
                                                           : proof.value <= result->bound.value);
        if (*proof.scope) {
            result->reference = proof;
        } else if (is_tighter) {
            result->bound = proof;
        }
    }
    double beyond = s->run->objective.direction > 0 ? result->value / result->bound.value
                                                    : result->bound.value / result->value;
    /* a bound that was beaten is none, and never a proof */
    if (result->point && beyond > 1 + 1e-9) {
        result->bound = (MerBound){NAN, "none", ""};
    }
    mer_run_set_gap(&s->run->objective, result);
    if (result->is_proven) {
        result->bound.kind = "optimum"; /* whatever it was, it has been reached */
    }
}

static void show_progress(MerTaskSearch *s, bool is_end)
{
    MerRunState         *run = s->run;
    const MerTaskResult *result = s->task->result;
    double               now = mer_clock();
    bool                 is_seen = is_end || !s->type->walks || now - s->shown >= SHOW_INTERVAL_S;
    if (run->hooks.progress && is_seen) {
        s->shown = now;
        bool           is_limited = s->expected < INT64_MAX;
        MerRunProgress progress = {
            s->task->index,
            run->task_count,
            result->task.name,
            is_limited ? s->counted : result->trials, /* what the budget counts */
            is_limited ? s->expected : 0,
            now - run->task_started,
            run->spec->time_s,
            result->point ? result->value : NAN,
            result->gap,
            result->trials > 0 ? (double)result->infeasible / (double)result->trials : 0,
            run->result->objective,
            mer_deadline_left(s, now),
        };
        run->hooks.progress(run->hooks.state, &progress);
    }
    if (is_end || now - run->last_tick >= 1) {
        run->last_tick = now;
        mer_deadline_tick(run, now);
    }
}

/* However short the time, one trial is priced: who asks gets a plan. */
static bool has_begun(const MerTaskSearch *s)
{
    return s->task->result->trials > 0 || s->task->result->point;
}

/* By the trials so far: the same in every run. */
static const char *why_enough(const MerTaskSearch *s)
{
    const MerRunState   *run = s->run;
    const MerTaskResult *result = s->task->result;
    /* the optimum is one end of it */
    bool is_front = run->spec->pareto_count > 0 && run->spec->gap == 0;
    if (!is_front && result->gap <= run->spec->gap + 1e-12) {
        return "gap";
    }
    if (s->counted >= s->task->budget) {
        return "budget";
    }
    bool repeats_itself = (run->spec->count_distinct || s->search.legality) &&
                          result->trials - s->counted > MAX_REPEATS * (s->counted + 100);
    return repeats_itself ? "finished" : NULL;
}

static const char *why_stop(const MerTaskSearch *s)
{
    const MerRunState *run = s->run;
    if (run->hooks.is_cancelled && run->hooks.is_cancelled(run->hooks.state)) {
        return "interrupted";
    }
    if (s->end && run->trials >= s->end->index) {
        return "time";
    }
    const char *reason = why_enough(s);
    return reason ? reason : has_begun(s) && mer_clock() > run->deadline ? "time" : NULL;
}

/* Not where a trial may join the front or be counted otherwise, or where the lines of the log end within. */
static bool can_count_at_once(const MerTrials *batch)
{
    const MerTaskSearch *s = batch->search;
    bool                 is_logged = mer_trial_is_logged(s, batch->first + batch->count - 1);
    return mer_trials_are_counted(batch) && !s->walked.counts.has_more &&
           s->run->spec->pareto_count == 0 && !s->search.legality && !s->type->proof &&
           (is_logged || !batch->walks.texts);
}

/* Logs and counts the trials in order; stops at the first that was dropped, and where the search has reached its end. */
static MerStatus record(const MerTrials *batch, int *done, MerError *error)
{
    MerTaskSearch *s = batch->search;
    bool           is_end = false;
    if (can_count_at_once(batch)) {
        *done = batch->count;
        return mer_trials_take_counts(batch, error);
    }
    for (*done = 0; *done < batch->count && !is_end; (*done)++) {
        MerRunTrial *trial = mer_trials_at(batch, *done);
        if (trial->is_dropped) {
            break;
        }
        bool is_better = mer_task_is_better(s->task, trial);
        bool may_be_reported = is_better || mer_task_joins_front(s->run, s->task, trial);
        if (!trial->is_known && may_be_reported) {
            mer_batch_price_exactly(s->batch, trial); /* and it may turn out not to be better */
            is_better = mer_task_is_better(s->task, trial);
        }
        MER_TRY(log_trial(s, trial, is_better, error));
        if (may_be_reported) {
            mer_task_keep(s->run, s->task, trial);
        }
        mer_task_count(s->run, s->task, trial);
        mer_generations_count(s->task);
        s->counted += is_counted(s, trial);
        if (batch->is_walked &&
            (*done + 1) % batch->walks.width == 0) { /* where an ask would end */
            take_proof(s);
            is_end = why_enough(s) != NULL;
        }
    }
    return MER_OK;
}

/* Can the threads go on while a batch that they have walked is written? The optimizer is told of it before that, so
 * nothing in it may end the search, or count otherwise than expected; nor may it change what the threads read: the
 * result, and the words of the log. */
static bool can_go_ahead(const MerTrials *batch)
{
    const MerTaskSearch *s = batch->search;
    return mer_trials_are_counted(batch) && mer_pool_threads(s->run->pool) > 1 &&
           s->task->result->point && !s->search.legality && !s->type->save && !s->type->proof;
}

/* Prices prepared trials, unless threads did, logs them and tells the optimizer; `done` of them, fewer when cancelled. */
static MerStatus work_off(MerTrials *batch, int *done, MerError *error)
{
    MerTaskSearch *s = batch->search;
    bool           is_told = can_go_ahead(batch);
    *done = 0;
    if (is_told) {
        MerTrials *next = &s->batches[batch == s->batches];
        mer_trials_tell(batch, batch->count);
        s->ahead = mer_trials_walk(next, batch->count) ? next : NULL;
    } else if (!batch->is_walked) {
        drop_after_end(batch);
        MER_TRY(replay(batch, error));
        int count = 0;
        while (count < batch->count && !batch->trials[count].is_dropped) {
            count++;
        }
        mer_batch_price(s->batch, batch->trials, count, mer_trials_write_lines(batch));
    }
    MER_TRY(record(batch, done, error));
    if (*done > 0) {
        if (!is_told && !batch->trials[0].is_from_log) {
            mer_trials_tell(batch, *done);
        }
        take_proof(s);
        MER_TRY(mer_runlog_flush(&s->run->log, error));
    }
    return s->run->note_status;
}

static MerStatus warm_up(MerTaskSearch *s, MerError *error)
{
    MerTrials *batch = s->batches;
    MerIndex  *points = NULL;
    int        count = 0;
    MER_TRY(mer_warm_read(s->run, s->task, &points, &count, error));
    for (int first = 0; first < count; first += s->capacity) {
        int part = count - first < s->capacity ? count - first : s->capacity;
        int knobs = s->task->view.knob_count;
        memcpy(batch->seen, points + (size_t)first * (size_t)knobs,
               (size_t)(part * knobs) * sizeof *points);
        mer_trials_begin(batch, s->run->trials, part, 1);
        for (int i = 0; i < part; i++) {
            mer_trials_prepare(batch, i, true);
        }
        int done;
        MER_TRY(work_off(batch, &done, error));
    }
    return MER_OK;
}

/* The first of those that were asked for when the time was over. */
static MerStatus price_first(MerTrials *batch, int *done, MerError *error)
{
    MerRunState *run = batch->search->run;
    double       deadline = run->deadline;
    run->deadline = INFINITY;
    mer_trials_begin(batch, run->trials, 1, 1);
    batch->is_walked = false;
    batch->trials[0].is_dropped = false;
    MerStatus status = work_off(batch, done, error);
    run->deadline = deadline;
    return status;
}

/* What an optimizer proposes first when it is cut off depends on the clock: a stopped run takes it from its log. */
static bool follows_log(MerTaskSearch *s)
{
    MerRunState *run = s->run;
    bool         is_only = s->end && !has_begun(s) && s->end->index == run->trials + 1;
    return is_only && run->log.is_replay && mer_trial_is_logged(s, run->trials);
}

/* The next batch: the one that threads have begun with, what the log says, or what the optimizer wants. */
static MerStatus get_batch(MerTaskSearch *s, MerTrials **batch, MerError *error)
{
    *batch = s->ahead ? s->ahead : s->batches;
    if (s->ahead) {
        s->ahead = NULL;
        s->walked = mer_batch_walked(s->batch);
        return mer_trials_check(*batch, error);
    }
    mer_deadline_set(s);
    if (!follows_log(s)) {
        return ask(*batch, error);
    }
    memset((*batch)->seen, 0, (size_t)s->task->view.knob_count * sizeof *(*batch)->seen);
    mer_trials_begin(*batch, s->run->trials, 1, 1);
    mer_trials_prepare(*batch, 0, false);
    (*batch)->trials[0].is_from_log = true;
    return MER_OK;
}

static MerStatus loop(MerTaskSearch *s, MerError *error)
{
    MerTaskResult *result = s->task->result;
    while (!(result->stopped = why_stop(s))) {
        int        done = 0;
        MerTrials *batch;
        MER_TRY(get_batch(s, &batch, error));
        MER_TRY(s->run->note_status);
        if (batch->count == 0) {
            take_proof(s);
            const char *reason = why_stop(s);
            result->stopped = reason                           ? reason
                              : mer_clock() > s->run->deadline ? "time"
                                                               : "finished";
            break;
        }
        /* cut off, and some of it may be priced already: one that follows the log would ask for other points */
        if (has_begun(s) && !batch->is_walked && (result->stopped = why_stop(s))) {
            take_proof(s);
            break;
        }
        MER_TRY(work_off(batch, &done, error));
        if (done == 0 && !has_begun(s)) {
            MER_TRY(price_first(batch, &done, error));
        }
        if (done == batch->count) { /* a state that waits for trials cannot go on alone */
            MER_TRY(mer_checkpoint_save(s, error));
        }
        show_progress(s, false);
    }
    s->run->is_interrupted = strcmp(result->stopped, "interrupted") == 0;
    return MER_OK;
}

/* Calls back the threads that have gone ahead. */
static void turn_back(MerTaskSearch *s)
{
    if (s->ahead) {
        mer_batch_turn_back(s->batch);
        s->ahead = NULL;
    }
}

/* The log keeps the place, and what was proven by then. */
static MerStatus end_by_time(MerTaskSearch *s, MerError *error)
{
    MerRunState   *run = s->run;
    MerTaskResult *result = s->task->result;
    if (strcmp(result->stopped, "time") != 0) {
        return MER_OK;
    }
    if (s->end) {
        memcpy(result->spent, s->end->spent, sizeof result->spent);
    }
    if (s->end && !isnan(s->end->bound.value)) {
        result->bound = s->end->bound;
        mer_run_set_gap(&run->objective, result);
    }
    MerLogEnd end = {mer_run_search_number(run, s->task), run->trials, result->bound, {0}};
    memcpy(end.spent, result->spent, sizeof end.spent);
    return mer_log_end_write(&run->log, &end, s->task->index, error);
}

static MerStatus search(MerTaskSearch *s, MerError *error)
{
    bool is_restored = false;
    MER_TRY(mer_task_search_open(s, error));
    MER_TRY(mer_checkpoint_restore(s, &is_restored, error));
    if (is_restored) {
        take_proof(s); /* a state saved at the very end leaves nothing to ask */
    } else {
        MER_TRY(warm_up(s, error));
        MER_TRY(mer_checkpoint_begin(s, error));
    }
    mer_generations_begin(s->run, s->task);
    mer_assess_begin(s);
    mer_deadline_set(s);
    MerStatus status = loop(s, error);
    turn_back(s);
    MER_TRY(status);
    mer_assess_end(s);
    mer_generations_end(s->task);
    MER_TRY(end_by_time(s, error));
    if (s->run->late.status == MER_OK) {
        mer_policy_save(s, &s->run->late);
    }
    show_progress(s, true);
    return MER_OK;
}

/* In the run's memory: an optimizer that goes on to the next task still has the search of this one. */
MerStatus mer_run_search(MerRunState *run, MerRunTask *task, MerError *error)
{
    MerTaskSearch *s = MER_NEW(run->arena, MerTaskSearch);
    *s = (MerTaskSearch){.run = run, .task = task, .type = run->spec->optimizer};
    run->task_started = mer_clock();
    run->deadline = INFINITY;
    s->end = mer_log_ends_find(&run->ends, mer_run_search_number(run, task));
    mer_deadline_set(s);
    mer_trials_reserve(s);
    s->batch =
        mer_batch_new(&task->problem, &task->evaluator, &task->check, &run->objective, &s->form,
                      run->pool, run->spec->count_distinct, mer_run_is_cancelled, run);
    mer_batch_watch(s->batch, &run->watch);
    MerStatus status = search(s, error);
    mer_task_search_close(s, status != MER_OK || run->is_interrupted ||
                                 task->index + 1 == run->task_count);
    mer_assess_end(s);
    mer_batch_free(s->batch);
    mer_trials_free(s);
    return status;
}
