/* The trials of a batch: what the optimizer's ask gives, or what threads propose while they price it. */
#include "run/search/reasons.h"
#include "run/search/task_search.h"

#include <math.h>
#include <string.h>

enum { FULL_LOG_TRIALS = 1000000, WALKED = 1024 }; /* WALKED: trials of a batch of walks */

bool mer_trial_is_logged(const MerTaskSearch *s, int64_t index)
{
    MerLogMode mode = s->run->spec->log;
    return mode == MER_LOG_ALL || (mode == MER_LOG_AUTO && index < FULL_LOG_TRIALS);
}

static void reserve(MerTaskSearch *s, MerTrials *batch)
{
    int knobs = s->task->problem.space.knob_count;
    batch->search = s;
    batch->trials = MER_ARRAY(s->memory, MerRunTrial, s->places);
    batch->seen =
        MER_ARRAY(s->memory, MerIndex, (size_t)s->places * (size_t)(s->task->view.knob_count + 1));
    batch->told = MER_ARRAY(s->memory, MerTrial, s->places);
    batch->texts = MER_ARRAY(s->memory, MerLines, s->places);
    batch->ends = MER_ARRAY(s->memory, size_t, s->places);
    for (int i = 0; i < s->places; i++) {
        batch->trials[i].point = MER_ARRAY(s->memory, MerIndex, knobs + 1);
    }
}

void mer_trials_reserve(MerTaskSearch *s)
{
    int batch = s->run->spec->batch;
    s->capacity = batch > 0 ? batch : MER_DEFAULT_BATCH;
    s->places = s->type->walks && s->capacity < WALKED ? WALKED : s->capacity;
    s->memory = mer_arena_new();
    s->proposals = MER_ARRAY(s->memory, MerProposal, s->capacity);
    s->form = mer_trial_form(&s->task->problem.space, s->run->objective.metric,
                             s->run->objective.direction, s->memory);
    s->form.words = &s->run->log.words;
    s->choices = MER_ARRAY(s->memory, int, s->task->view.knob_count + 1);
    for (int k = 0; k < s->task->view.knob_count; k++) {
        s->choices[k] = s->task->view.knobs[k].choices;
    }
    for (int b = 0; b < 2; b++) {
        reserve(s, &s->batches[b]);
    }
}

void mer_trials_free(MerTaskSearch *s)
{
    for (int b = 0; b < 2; b++) {
        for (int i = 0; s->memory && i < s->places; i++) {
            mer_lines_free(&s->batches[b].texts[i]);
            mer_lines_free(&s->batches[b].trials[i].lines);
            mer_json_free(&s->batches[b].trials[i].json);
        }
    }
    mer_arena_free(s->memory);
    s->memory = NULL;
}

MerIndex *mer_trials_seen(const MerTrials *batch, int place)
{
    return batch->seen + (size_t)place * (size_t)batch->search->task->view.knob_count;
}

void mer_trials_begin(MerTrials *batch, int64_t first, int width, int steps)
{
    batch->first = first;
    batch->count = width * steps;
    batch->walks = (MerBatchWalks){.width = width, .steps = steps};
}

static MerTrial to_tell(const MerTrials *batch, int place)
{
    const MerRunTrial *trial = &batch->trials[place];
    return (MerTrial){trial->index, mer_trials_seen(batch, place), &trial->cost, trial->score,
                      trial->is_warm};
}

bool mer_trials_are_counted(const MerTrials *batch)
{
    const MerBatchWalked *walked = &batch->search->walked;
    return batch->is_walked && walked->is_whole && walked->is_plain;
}

/* An optimizer that wants the last trial of each walk alone gets those that the threads have gathered. */
void mer_trials_tell(const MerTrials *batch, int count)
{
    const MerTaskSearch *s = batch->search;
    bool is_counted = mer_trials_are_counted(batch), has_all = is_counted && !s->type->walked;
    bool has_ends = is_counted && !has_all && count == batch->count;
    if (has_ends &&
        s->type->walked(s->optimizer, batch->told + count - batch->walks.width, count)) {
        return;
    }
    for (int i = 0; i < count && !has_all; i++) {
        batch->told[i] = to_tell(batch, mer_trials_place(batch, i));
    }
    s->type->tell(s->optimizer, batch->told, count);
}

/* What a trial may leave without being taken by itself: a count, and a line that needs no new words. What is told is
 * gathered here, too, as this thread has the trial at hand. */
static bool count(void *context, const MerRunTrial *trial, MerTrialCounts *counts)
{
    const MerTrials     *batch = context;
    const MerTaskSearch *s = batch->search;
    const MerTaskResult *result = s->task->result;
    int                  i = (int)(trial->index - batch->first);
    int known = trial->cost.feasible ? -1 : mer_reasons_known(result, &trial->cost);
    if (!s->type->walked || i >= batch->count - batch->walks.width) {
        batch->told[i] = to_tell(batch, mer_trials_place(batch, i));
    }
    if (known >= 0) {
        counts->infeasible++;
        counts->reasons[known]++;
    }
    counts->has_more = counts->has_more || trial->lines.size > 0;
    for (int k = 0; k < MER_SPENT_COUNT; k++) {
        counts->has_more = counts->has_more || trial->spent[k] != 0;
    }
    return (trial->cost.feasible || known >= 0) && !mer_task_is_better(s->task, trial) &&
           (!batch->walks.texts || mer_trial_is_settled(trial, &s->form));
}

static MerStatus log_lines(const MerTrials *batch, MerError *error)
{
    const MerBatchWalks *walks = &batch->walks;
    for (int step = 0; step < walks->steps; step++) {
        for (int first = 0; first < walks->width; first += walks->chunk) {
            size_t *end = &batch->ends[first * walks->steps + step], from = step > 0 ? end[-1] : 0;
            int     left = walks->width - first;
            MER_TRY(mer_runlog_lines(&batch->search->run->log, walks->texts[first].text + from,
                                     *end - from, left < walks->chunk ? left : walks->chunk,
                                     error));
        }
    }
    return MER_OK;
}

MerStatus mer_trials_take_counts(const MerTrials *batch, MerError *error)
{
    MerTaskSearch        *s = batch->search;
    MerTaskResult        *result = s->task->result;
    const MerTrialCounts *counts = &s->walked.counts;
    s->counted += batch->count;
    s->run->trials += batch->count;
    result->trials += batch->count;
    result->evaluations += batch->count;
    result->infeasible += counts->infeasible;
    for (int r = 0; r < result->reason_count; r++) {
        result->reasons[r].count += counts->reasons[r];
    }
    mer_generations_count(s->task);
    return batch->walks.texts ? log_lines(batch, error) : MER_OK;
}

void mer_trials_prepare(MerTrials *batch, int i, bool is_warm)
{
    const MerRunTask *task = batch->search->task;
    int               place = mer_trials_place(batch, i);
    MerRunTrial      *trial = &batch->trials[place];
    trial->index = batch->first + i;
    trial->task = task->index;
    trial->limit = INFINITY;
    trial->base = trial->same_as = -1;
    trial->is_known = trial->is_dropped = false;
    trial->is_warm = is_warm;
    trial->is_from_log = false;
    memset(trial->spent, 0, sizeof trial->spent);
    mer_lines_clear(&trial->lines);
    mer_run_expand(task, mer_trials_seen(batch, place), trial->point);
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

/* From any thread. What is not in the space ends the search once the batch is done; until then something is priced. */
static void take_proposal(MerTrials *batch, int i, const MerProposal *proposal)
{
    MerTaskSearch *s = batch->search;
    MerRunTrial   *trial = &batch->trials[mer_trials_place(batch, i)];
    if (!is_inside(s, proposal->point)) {
        memset(proposal->point, 0, (size_t)s->task->view.knob_count * sizeof *proposal->point);
        s->has_left_space = true;
    }
    mer_trials_prepare(batch, i, false);
    trial->limit = proposal->limit;
    trial->base = proposal->base;
}

static void propose(void *context, int walk, int step)
{
    MerTrials           *batch = context;
    const MerTaskSearch *s = batch->search;
    int                  i = step * batch->walks.width + walk, place = mer_trials_place(batch, i);
    MerProposal          proposal = {mer_trials_seen(batch, place), INFINITY, -1};
    MerTrial             last = step > 0 ? to_tell(batch, place - 1) : (MerTrial){0};
    s->type->walk(s->optimizer, walk, step, step > 0 ? &last : NULL, &proposal);
    take_proposal(batch, i, &proposal);
}

/* Proposals that are wanted, once `before` of the trials on their way are counted. */
static int wanted(const MerTaskSearch *s, int before, int most)
{
    int64_t left = s->task->budget - s->counted - before;
    return left < most ? (int)left : most;
}

bool mer_trials_write_lines(const MerTrials *batch)
{
    const MerTaskSearch *s = batch->search;
    return s->run->log.file && mer_trial_is_logged(s, batch->first); /* of the first, so of some */
}

bool mer_trials_walk(MerTrials *batch, int before)
{
    MerTaskSearch *s = batch->search;
    int64_t        steps = 0;
    int            most = wanted(s, before, s->capacity);
    bool           is_possible = s->type->walks && most > 0 && !s->run->log.is_replay && !s->end &&
                       mer_batch_can_walk(s->batch);
    int width = is_possible ? s->type->walks(s->optimizer, most, &steps) : 0;
    batch->is_walked = width > 0;
    if (batch->is_walked) {
        int all = wanted(s, before, s->places) / width;
        steps = steps < all ? steps : all;
        mer_trials_begin(batch, s->run->trials + before, width,
                         mer_batch_steps(s->batch, width, steps));
        batch->walks.propose = propose;
        batch->walks.count = count;
        batch->walks.state = batch;
        batch->walks.texts = mer_trials_write_lines(batch) ? batch->texts : NULL;
        batch->walks.ends = batch->ends;
        mer_batch_walk(s->batch, batch->trials, &batch->walks);
    }
    return batch->is_walked;
}

MerStatus mer_trials_check(const MerTrials *batch, MerError *error)
{
    const MerTaskSearch *s = batch->search;
    return s->has_left_space
               ? mer_error_set(error, MER_INVALID,
                               "optimizer %s proposed a point outside the space of %s",
                               s->type->name, s->task->result->task.name)
               : MER_OK;
}

MerStatus mer_trials_ask(MerTrials *batch, int most, MerError *error)
{
    MerTaskSearch *s = batch->search;
    int            capacity = wanted(s, 0, most);
    for (int i = 0; i < capacity; i++) {
        s->proposals[i] = (MerProposal){mer_trials_seen(batch, i), INFINITY, -1};
    }
    batch->is_walked = false;
    int count = s->type->ask(s->optimizer, s->proposals, capacity);
    mer_trials_begin(batch, s->run->trials, count, 1);
    for (int i = 0; i < count; i++) {
        take_proposal(batch, i, &s->proposals[i]);
    }
    return mer_trials_check(batch, error);
}
