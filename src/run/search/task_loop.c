/* The loop: ask, price, log, tell, until budget, time, gap or the optimizer ends it. */
#include "run/search/task_search.h"

#include "base/log.h"

#include <math.h>
#include <string.h>

enum { FULL_LOG_TRIALS = 1000000, MAX_REPEATS = 100 };

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
static void drop_after_end(MerTaskSearch *s, int count)
{
    for (int i = 0; s->end && i < count; i++) {
        s->trials[i].is_dropped = s->trials[i].index >= s->end->index;
    }
}

static void reserve(MerTaskSearch *s)
{
    int knobs = s->task->problem.space.knob_count;
    int batch = s->run->spec->batch;
    s->capacity = batch > 0 ? batch : MER_DEFAULT_BATCH;
    s->memory = mer_arena_new();
    s->trials = MER_ARRAY(s->memory, MerRunTrial, s->capacity);
    s->proposals = MER_ARRAY(s->memory, MerProposal, s->capacity);
    s->told = MER_ARRAY(s->memory, MerTrial, s->capacity);
    s->seen = MER_ARRAY(s->memory, MerIndex,
                        (size_t)s->capacity * (size_t)(s->task->view.knob_count + 1));
    s->form = mer_trial_form(&s->task->problem.space, s->run->objective.metric,
                             s->run->objective.direction, s->memory);
    s->form.words = &s->run->log.words;
    s->choices = MER_ARRAY(s->memory, int, s->task->view.knob_count + 1);
    for (int i = 0; i < s->capacity; i++) {
        s->trials[i].point = MER_ARRAY(s->memory, MerIndex, knobs + 1);
    }
    for (int k = 0; k < s->task->view.knob_count; k++) {
        s->choices[k] = s->task->view.knobs[k].choices;
    }
}

static bool is_logged(const MerTaskSearch *s, int64_t index)
{
    MerLogMode mode = s->run->spec->log;
    return mode == MER_LOG_ALL || (mode == MER_LOG_AUTO && index < FULL_LOG_TRIALS);
}

static void prepare_trial(MerTaskSearch *s, int i, const MerIndex *seen, bool is_warm)
{
    MerRunTrial *trial = &s->trials[i];
    trial->index = s->run->trials + i;
    trial->task = s->task->index;
    trial->limit = INFINITY;
    trial->base = trial->same_as = -1;
    trial->is_known = trial->is_dropped = false;
    trial->is_warm = is_warm;
    trial->is_from_log = false;
    memset(trial->spent, 0, sizeof trial->spent);
    mer_lines_clear(&trial->lines);
    mer_run_expand(s->task, seen, trial->point);
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

/* As mer_space_contains, without a jump per knob. */
static bool is_inside(const MerTaskSearch *s, const MerIndex *point)
{
    unsigned outside = 0;
    for (int k = 0; k < s->task->view.knob_count; k++) {
        outside |= (unsigned)point[k] >= (unsigned)s->choices[k];
    }
    return !outside;
}

/* Makes trials of the proposals up to `count`; stops at one that is not in the space. */
static void prepare_proposals(MerTaskSearch *s, int count)
{
    while (s->prepared < count && is_inside(s, s->proposals[s->prepared].point)) {
        const MerProposal *proposal = &s->proposals[s->prepared];
        prepare_trial(s, s->prepared, proposal->point, false);
        s->trials[s->prepared].limit = proposal->limit;
        s->trials[s->prepared].base = proposal->base;
        s->prepared++;
    }
}

/* Not where the log may know the trials already. */
void mer_task_search_ready(void *search, int count)
{
    MerTaskSearch *s = search;
    bool           write_lines = s->run->log.file && is_logged(s, s->run->trials);
    if (s->run->log.is_replay || s->end) {
        return;
    }
    if (!s->is_ahead) {
        s->is_ahead = mer_batch_begin(s->batch, s->trials, write_lines);
    }
    if (s->is_ahead) {
        prepare_proposals(s, count);
        mer_batch_more(s->batch, s->prepared);
    }
}

static MerStatus ask(MerTaskSearch *s, int *count, MerError *error)
{
    int64_t     left = s->task->budget - s->counted;
    int         capacity = left < s->capacity ? (int)left : s->capacity;
    const char *equal = why_plans_are_equal(s);
    capacity = equal ? 1 : capacity;
    for (int i = 0; i < capacity; i++) {
        MerIndex *seen = s->seen + (size_t)i * (size_t)s->task->view.knob_count;
        s->proposals[i] = (MerProposal){seen, INFINITY, -1};
    }
    s->prepared = 0;
    s->is_ahead = false;
    *count = s->type->ask(s->optimizer, s->proposals, capacity);
    prepare_proposals(s, *count);
    if (s->is_ahead) {
        mer_batch_end(s->batch, s->prepared);
    }
    if (s->prepared < *count) {
        return mer_error_set(error, MER_INVALID,
                             "optimizer %s proposed a point outside the space of %s", s->type->name,
                             s->task->result->task.name);
    }
    if (equal && *count > 0 && s->counted > 0) {
        warn_of_waste(s, equal);
        *count = 0;
    }
    return MER_OK;
}

static MerStatus replay(MerTaskSearch *s, int count, MerError *error)
{
    for (int i = 0; i < count && s->run->log.is_replay; i++) {
        MerRunTrial *trial = &s->trials[i];
        bool         found;
        if (trial->is_dropped || !is_logged(s, trial->index)) {
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
    bool is_full = is_logged(s, trial->index);
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

/* Logs and counts the trials in order; stops at the first that was dropped. */
static MerStatus record(MerTaskSearch *s, int count, int *done, MerError *error)
{
    enum { AHEAD = 8 };
    for (int i = 0; i < count && i < AHEAD; i++) {
        mer_batch_expect(&s->trials[i]);
    }
    for (*done = 0; *done < count && !s->trials[*done].is_dropped; (*done)++) {
        MerRunTrial *trial = &s->trials[*done];
        if (*done + AHEAD < count) {
            mer_batch_expect(trial + AHEAD);
            mer_batch_expect_line(trial + AHEAD / 2);
        }
        bool may_be_reported =
            mer_task_is_better(s->task, trial) || mer_task_joins_front(s->run, s->task, trial);
        if (!trial->is_known && may_be_reported) {
            mer_batch_price_exactly(s->batch, trial); /* and it may turn out not to be better */
        }
        MER_TRY(log_trial(s, trial, mer_task_is_better(s->task, trial), error));
        mer_task_take(s->run, s->task, trial);
        mer_generations_count(s->task);
        s->counted += is_counted(s, trial);
        const MerIndex *seen = s->seen + (size_t)*done * (size_t)s->task->view.knob_count;
        s->told[*done] = (MerTrial){trial->index, seen, &trial->cost, trial->score, trial->is_warm};
    }
    return MER_OK;
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
    if (run->hooks.progress) {
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
    if (run->clock_file && (is_end || now - run->last_tick >= 1)) {
        run->last_tick = now;
        fprintf(run->clock_file, "{\"trials\":%lld,\"wall_s\":%.3f,\"cpu_s\":%.3f",
                (long long)run->trials, now - run->started, mer_cpu_clock());
        fprintf(run->clock_file, run->prepared_s > 0 ? ",\"prepared_s\":%.3f}\n" : "}\n",
                run->prepared_s);
        fflush(run->clock_file);
    }
}

/* However short the time, one trial is priced: who asks gets a plan. */
static bool has_begun(const MerTaskSearch *s)
{
    return s->task->result->trials > 0 || s->task->result->point;
}

static const char *why_stop(MerTaskSearch *s)
{
    MerRunState         *run = s->run;
    const MerTaskResult *result = s->task->result;
    if (run->hooks.is_cancelled && run->hooks.is_cancelled(run->hooks.state)) {
        return "interrupted";
    }
    if (s->end && run->trials >= s->end->index) {
        return "time";
    }
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
    if (repeats_itself) {
        return "finished";
    }
    return has_begun(s) && mer_clock() > run->deadline ? "time" : NULL;
}

/* Prices prepared trials, logs them and tells the optimizer; `done` of them, fewer when cancelled. */
static MerStatus work_off(MerTaskSearch *s, int count, int *done, MerError *error)
{
    *done = 0;
    drop_after_end(s, count);
    MER_TRY(replay(s, count, error));
    /* of the first, so of some */
    bool write_lines = s->run->log.file && is_logged(s, s->run->trials);
    int  wanted = 0;
    while (wanted < count && !s->trials[wanted].is_dropped) {
        wanted++;
    }
    if (!s->is_ahead) {
        mer_batch_price(s->batch, s->trials, wanted, write_lines);
    }
    MER_TRY(record(s, count, done, error));
    if (*done > 0) {
        if (!s->trials[0].is_from_log) {
            s->type->tell(s->optimizer, s->told, *done);
        }
        take_proof(s);
        MER_TRY(mer_runlog_flush(&s->run->log, error));
    }
    return s->run->note_status;
}

static MerStatus warm_up(MerTaskSearch *s, MerError *error)
{
    MerIndex *points = NULL;
    int       count = 0;
    MER_TRY(mer_warm_read(s->run, s->task, &points, &count, error));
    for (int first = 0; first < count; first += s->capacity) {
        int part = count - first < s->capacity ? count - first : s->capacity;
        int knobs = s->task->view.knob_count;
        memcpy(s->seen, points + (size_t)first * (size_t)knobs,
               (size_t)(part * knobs) * sizeof *points);
        for (int i = 0; i < part; i++) {
            prepare_trial(s, i, s->seen + (size_t)i * (size_t)knobs, true);
        }
        int done;
        MER_TRY(work_off(s, part, &done, error));
    }
    return MER_OK;
}

/* The first of those that were asked for when the time was over. */
static MerStatus price_first(MerTaskSearch *s, int *done, MerError *error)
{
    double deadline = s->run->deadline;
    s->run->deadline = INFINITY;
    s->is_ahead = false;
    s->trials[0].is_dropped = false;
    MerStatus status = work_off(s, 1, done, error);
    s->run->deadline = deadline;
    return status;
}

/* What an optimizer proposes first when it is cut off depends on the clock: a stopped run takes it from its log. */
static bool follows_log(MerTaskSearch *s)
{
    MerRunState *run = s->run;
    bool         is_only = s->end && !has_begun(s) && s->end->index == run->trials + 1;
    return is_only && run->log.is_replay && is_logged(s, run->trials);
}

static MerStatus loop(MerTaskSearch *s, MerError *error)
{
    MerTaskResult *result = s->task->result;
    while (!(result->stopped = why_stop(s))) {
        int done = 0, count = 0;
        mer_deadline_set(s);
        if (follows_log(s)) {
            memset(s->seen, 0, (size_t)s->task->view.knob_count * sizeof *s->seen);
            prepare_trial(s, 0, s->seen, false);
            s->trials[0].is_from_log = true;
            s->is_ahead = false;
            count = 1;
        } else {
            MER_TRY(ask(s, &count, error));
        }
        MER_TRY(s->run->note_status);
        if (count == 0) {
            take_proof(s);
            const char *reason = why_stop(s);
            result->stopped = reason                           ? reason
                              : mer_clock() > s->run->deadline ? "time"
                                                               : "finished";
            break;
        }
        MER_TRY(work_off(s, count, &done, error));
        if (done == 0 && !has_begun(s)) {
            MER_TRY(price_first(s, &done, error));
        }
        if (done == count) { /* a state that waits for trials cannot go on alone */
            MER_TRY(mer_checkpoint_save(s, error));
        }
        show_progress(s, false);
    }
    s->run->is_interrupted = strcmp(result->stopped, "interrupted") == 0;
    return MER_OK;
}

/* The log keeps the place, and what was proven by then. */
static MerStatus end_by_time(MerTaskSearch *s, MerError *error)
{
    MerRunState   *run = s->run;
    MerTaskResult *result = s->task->result;
    if (strcmp(result->stopped, "time") != 0) {
        return MER_OK;
    }
    if (s->end && !isnan(s->end->bound.value)) {
        result->bound = s->end->bound;
        mer_run_set_gap(&run->objective, result);
    }
    MerLogEnd end = {mer_run_search_number(run, s->task), run->trials, result->bound};
    return mer_log_end_write(&run->log, &end, s->task->index, error);
}

static void free_trials(MerTaskSearch *s)
{
    for (int i = 0; s->trials && i < s->capacity; i++) {
        mer_lines_free(&s->trials[i].lines);
        mer_json_free(&s->trials[i].json);
    }
    mer_arena_free(s->memory);
    s->memory = NULL;
    s->trials = NULL;
    s->capacity = 0;
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
    }
    mer_generations_begin(s->run, s->task);
    mer_assess_begin(s);
    mer_deadline_set(s);
    MER_TRY(loop(s, error));
    mer_assess_end(s);
    mer_generations_end(s->task);
    MER_TRY(end_by_time(s, error));
    MER_TRY(mer_policy_save(s, error));
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
    reserve(s);
    s->batch =
        mer_batch_new(&task->problem, &task->evaluator, &task->check, &run->objective, &s->form,
                      run->pool, run->spec->count_distinct, mer_run_is_cancelled, run);
    mer_batch_watch(s->batch, &run->watch);
    MerStatus status = search(s, error);
    mer_task_search_close(s, status != MER_OK || run->is_interrupted ||
                                 task->index + 1 == run->task_count);
    mer_assess_end(s);
    mer_batch_free(s->batch);
    free_trials(s);
    return status;
}
