/* Pricing on threads, with the memo of known plans and the snapshots of recent ones. */
#include "run/search/batch.h"

#include "base/key_table.h"
#include "base/log.h"
#include "base/memory.h"
#include "run/search/snapshots.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { MAX_CHUNK = 32 };

typedef struct Worker {
    MerArena      *plans, *scratch;
    MerBatchWalked walked; /* of its walks in the round */
    int64_t        round;
    char           apart[64]; /* from what the next one writes */
} Worker;

typedef struct Known { /* a plan that was priced */
    int64_t  index;
    MerCost *cost;
} Known;

typedef struct Memo {
    MerKeyTable numbers; /* of known plans, by their hash */
    Known      *known;
    int         count;
} Memo;

struct MerBatch {
    const MerProblem   *problem;
    const MerEvaluator *evaluator, *check;
    const MerObjective *objective;
    const MerTrialForm *form;
    MerPool            *pool;
    bool (*is_cancelled)(void *state);
    void         *cancel_state;
    Worker       *workers;
    bool          use_memo;
    Memo          memo;
    MerSnapshots *snapshots; /* NULL: the evaluator leaves none */
    /* of the batch being priced */
    MerRunTrial         *trials;
    int                 *todo, *base_slot, *snapshot_slot;
    int                  todo_capacity, todo_count, chunk, priced;
    const MerBatchWalks *walks;
    int64_t              round; /* of walks */
    bool                 write_lines, is_shared;
    atomic_bool          is_over; /* nobody wants the rest */
    double               started;
    MerPhaseWatch       *watch;   /* NULL: nothing is timed */
    bool                 is_told; /* a feasible trial came from the log */
    /* of the batch before: they decide how much work is handed out at once, never what comes out */
    double seconds_each;
};

MerBatch *mer_batch_new(const MerProblem *problem, const MerEvaluator *evaluator,
                        const MerEvaluator *check, const MerObjective *objective,
                        const MerTrialForm *form, MerPool *pool, bool use_memo,
                        bool (*is_cancelled)(void *state), void *cancel_state)
{
    MerBatch *batch = mer_heap_zeroed(1, sizeof *batch);
    batch->problem = problem;
    batch->evaluator = evaluator;
    batch->check = check;
    batch->objective = objective;
    batch->form = form;
    batch->pool = pool;
    batch->is_cancelled = is_cancelled;
    batch->cancel_state = cancel_state;
    batch->use_memo = use_memo;
    batch->memo.numbers.arena = mer_arena_new();
    batch->seconds_each = 1;
    batch->workers = mer_heap_zeroed((size_t)mer_pool_threads(pool), sizeof *batch->workers);
    for (int w = 0; w < mer_pool_threads(pool); w++) {
        batch->workers[w] = (Worker){.plans = mer_arena_new(), .scratch = mer_arena_new()};
    }
    size_t snapshot =
        evaluator->type->snapshot_size ? evaluator->type->snapshot_size(evaluator->state) : 0;
    batch->snapshots = snapshot > 0 ? mer_snapshots_new(snapshot) : NULL;
    return batch;
}

void mer_batch_watch(MerBatch *batch, MerPhaseWatch *watch)
{
    batch->watch = batch->evaluator->type->mode == MER_EVALUATE_ALONE ? watch : NULL;
}

void mer_batch_free(MerBatch *batch)
{
    if (!batch) {
        return;
    }
    for (int w = 0; w < mer_pool_threads(batch->pool); w++) {
        mer_arena_free(batch->workers[w].plans);
        mer_arena_free(batch->workers[w].scratch);
    }
    mer_arena_free(batch->memo.numbers.arena);
    mer_snapshots_free(batch->snapshots);
    free(batch->workers);
    free(batch->todo);
    free(batch->base_slot);
    free(batch->snapshot_slot);
    free(batch);
}

/* Notes of an evaluation wait in its trial until the trial's turn to be logged. */
typedef struct NoteTarget {
    MerBatch    *batch;
    MerRunTrial *trial;
    bool         was_cancelled; /* the evaluation was told to leave: its result means nothing */
} NoteTarget;

static void note_trial(void *state, const char *name, const char *value)
{
    NoteTarget *target = state;
    MerJson     json = {0};
    mer_line_note(&json, target->trial->index, target->trial->task,
                  target->batch->evaluator->type->name, name, value);
    mer_lines_add(&target->trial->lines, &json);
}

static void note_epoch(void *state, const char *phase, int epoch, int epochs, const char *values)
{
    NoteTarget *target = state;
    MerJson     json = {0};
    if (target->batch->watch) {
        mer_phase_end(target->batch->watch, phase, epoch, epochs);
    }
    mer_line_epoch(&json, target->trial->index, target->trial->task, phase, epoch, epochs, values);
    mer_lines_add(&target->trial->lines, &json);
}

static void note_spend(void *state, MerSpent what, double amount)
{
    NoteTarget *target = state;
    target->trial->spent[what] += amount;
    if (target->batch->watch) {
        mer_phase_spend(target->batch->watch, what, amount);
    }
}

static void note_begin_epoch(void *state, bool is_plain)
{
    NoteTarget *target = state;
    if (target->batch->watch) {
        mer_phase_begin(target->batch->watch, is_plain);
    }
}

static bool is_cancelled(const MerBatch *batch)
{
    return atomic_load_explicit(&batch->is_over, memory_order_relaxed) ||
           batch->is_cancelled(batch->cancel_state);
}

static bool note_cancelled(void *state)
{
    NoteTarget *target = state;
    target->was_cancelled |= is_cancelled(target->batch);
    return target->was_cancelled;
}

/* Places for snapshots are given out before the threads start, never one that this batch reads. */
static void place_snapshots(MerBatch *batch)
{
    mer_snapshots_begin(batch->snapshots);
    for (int i = 0; i < batch->todo_count; i++) {
        batch->base_slot[i] =
            mer_snapshots_find(batch->snapshots, batch->trials[batch->todo[i]].base);
    }
    for (int i = 0; i < batch->todo_count; i++) {
        batch->snapshot_slot[i] =
            mer_snapshots_place(batch->snapshots, batch->trials[batch->todo[i]].index);
    }
}

/* Of the trial `item` of `todo`; -1: one without snapshots. */
static MerCall make_call(MerBatch *batch, const MerRunTrial *trial, int item, Worker *worker,
                         MerNotes *notes)
{
    const MerObjective *objective = batch->objective;
    const MerSnapshots *snapshots = item >= 0 ? batch->snapshots : NULL;
    bool has_limit = objective->metric != MER_METRIC_COUNT && objective->direction < 0;
    return (MerCall){
        .scratch = worker->scratch,
        .notes = notes,
        .limit_metric = has_limit ? objective->metric : MER_METRIC_COUNT,
        .limit = has_limit ? trial->limit : INFINITY,
        .base = snapshots ? mer_snapshots_at(snapshots, batch->base_slot[item]) : NULL,
        .pool = batch->evaluator->type->mode == MER_EVALUATE_ALONE ? batch->pool : NULL,
        .is_told = batch->is_told,
        .snapshot = snapshots ? mer_snapshots_at(snapshots, batch->snapshot_slot[item]) : NULL,
    };
}

static void finish_trial(MerBatch *batch, MerRunTrial *trial)
{
    mer_objective_refuse(batch->objective, &trial->cost);
    trial->score = mer_objective_score(batch->objective, &trial->cost);
    if (batch->write_lines) {
        mer_trial_write(trial, batch->form);
    }
}

/* Prices a few trials, of which the first is `item` of `todo` or (-1) of a step; false: it was told to leave before all
 * were. */
static bool price(MerBatch *batch, Worker *worker, MerRunTrial *const *trials, int count, int item)
{
    const MerEvaluatorClass *type = batch->evaluator->type;
    MerPlan                  plans[MAX_CHUNK];
    MerCall                  calls[MAX_CHUNK];
    MerCost                  costs[MAX_CHUNK];
    NoteTarget               targets[MAX_CHUNK];
    MerNotes                 notes[MAX_CHUNK];
    bool                     is_late = is_cancelled(batch);
    for (int i = 0; i < count; i++) {
        MerRunTrial *trial = trials[i];
        trial->is_dropped = is_late;
        targets[i] = (NoteTarget){batch, trial, false};
        notes[i] = (MerNotes){&targets[i],    note_trial, note_epoch, note_spend,
                              note_cancelled, NULL,       NULL,       note_begin_epoch};
        calls[i] = make_call(batch, trial, item < 0 ? -1 : item + i, worker, &notes[i]);
        if (!is_late) {
            batch->problem->type->decode(batch->problem, trial->point, &plans[i], worker->plans);
        }
    }
    bool at_once = type->evaluate_batch && !batch->check->type;
    if (!is_late && at_once) {
        type->evaluate_batch(batch->evaluator->state, plans, count, calls, costs);
    }
    bool is_whole = !is_late;
    for (int i = 0; i < count && !is_late; i++) {
        MerRunTrial *trial = trials[i];
        if (!at_once) {
            mer_price_plan(batch->evaluator, batch->check, &plans[i], &calls[i], &trial->cost);
            mer_arena_reset(worker->scratch);
        } else {
            trial->cost = costs[i];
        }
        trial->is_dropped = targets[i].was_cancelled;
        is_whole = is_whole && !trial->is_dropped;
        finish_trial(batch, trial);
    }
    mer_arena_reset(worker->plans);
    mer_arena_reset(worker->scratch);
    return is_whole;
}

static int chunk_length(const MerBatch *batch, int first, int count)
{
    return count - first < batch->chunk ? count - first : batch->chunk;
}

static void price_chunk(void *context, int chunk, int worker)
{
    MerBatch    *batch = context;
    int          first = chunk * batch->chunk;
    int          count = chunk_length(batch, first, batch->todo_count);
    MerRunTrial *trials[MAX_CHUNK];
    for (int i = 0; i < count; i++) {
        trials[i] = &batch->trials[batch->todo[first + i]];
    }
    price(batch, &batch->workers[worker], trials, count, first);
}

/* Counts the trials of a step, as they were priced, and gathers their lines in the order of the log. */
static void add_up(const MerBatchWalks *walks, MerRunTrial *const *priced, const MerRunTrial *first,
                   int count, MerLines *text, MerBatchWalked *walked)
{
    for (int i = 0; i < count && walked->is_plain; i++) {
        walked->is_plain = walks->count(walks->state, priced[i], &walked->counts);
    }
    for (int i = 0; text && walked->is_plain && i < count; i++) {
        const MerJson *line = &first[i * walks->steps].json;
        mer_lines_append(text, line->text, line->size, '\n');
    }
}

/* The walks of a chunk are taken from both ends, so that no stride comes twice: by equal ones the processor guesses that
 * the next walk is wanted, and takes its trial from the thread that is writing it, at every step. */
static int walk_at(int i, int count)
{
    return i % 2 == 0 ? i / 2 : count - 1 - i / 2;
}

static const MerBatchWalked nothing_walked = {.is_whole = true, .is_plain = true};

/* A few walks in step, so that an evaluator that prices several plans at once gets them. */
static void walk_chunk(void *context, int chunk, int worker_index)
{
    MerBatch            *batch = context;
    Worker              *worker = &batch->workers[worker_index];
    bool                 has_begun = worker->round == batch->round;
    MerBatchWalked       walked = has_begun ? worker->walked : nothing_walked;
    const MerBatchWalks *walks = batch->walks;
    int                  first = chunk * batch->chunk;
    int                  count = chunk_length(batch, first, walks->width);
    MerLines            *text = walks->texts ? &walks->texts[first] : NULL;
    bool                 goes_on = true;
    if (text) {
        text->size = 0;
    }
    for (int step = 0; step < walks->steps; step++) {
        MerRunTrial *trials = &batch->trials[first * walks->steps + step], *priced[MAX_CHUNK];
        for (int i = 0; i < count; i++) {
            int walk = walk_at(i, count);
            priced[i] = &trials[walk * walks->steps];
            priced[i]->is_dropped = true;
            if (goes_on) {
                walks->propose(walks->state, first + walk, step);
            }
        }
        goes_on = goes_on && price(batch, worker, priced, count, -1);
        if (goes_on) {
            add_up(walks, priced, trials, count, text, &walked);
        }
        if (text) {
            walks->ends[first * walks->steps + step] = text->size;
        }
    }
    walked.is_whole = walked.is_whole && goes_on;
    worker->walked = walked;
    worker->round = batch->round;
}

static uint64_t plan_hash(MerBatch *batch, const MerRunTrial *trial)
{
    MerPlan   plan;
    MerArena *arena = batch->workers[0].plans;
    batch->problem->type->decode(batch->problem, trial->point, &plan, arena);
    if (batch->problem->type->canonical) {
        batch->problem->type->canonical(batch->problem, &plan);
    }
    uint64_t hash = mer_plan_hash(&plan);
    mer_arena_reset(arena);
    return hash;
}

/* Gives each trial the index of an equal plan before it; those are not priced again. */
static void look_up(MerBatch *batch, MerRunTrial *trials, int count)
{
    Memo *memo = &batch->memo;
    for (int i = 0; i < count; i++) {
        MerRunTrial *trial = &trials[i];
        int  number = mer_key_table_add(&memo->numbers, plan_hash(batch, trial), memo->count);
        bool is_later = number < memo->count && memo->known[number].index < trial->index;
        trial->same_as = is_later ? memo->known[number].index : -1; /* or it is asked for again */
        if (number == memo->count) {
            MER_GROW(memo->numbers.arena, memo->known, memo->count);
            memo->known[memo->count++] =
                (Known){trial->index, MER_NEW(memo->numbers.arena, MerCost)};
        }
    }
}

static void answer_from_memo(MerBatch *batch, MerRunTrial *trials, int count)
{
    for (int i = 0; i < count; i++) {
        MerRunTrial *trial = &trials[i];
        int          number = mer_key_table_find(&batch->memo.numbers, plan_hash(batch, trial));
        MerCost     *cost = batch->memo.known[number].cost;
        if (trial->same_as >= 0 && !trial->is_known) {
            trial->cost = *cost;
            trial->is_dropped = cost->reason[0] == '\0' && !cost->feasible;
            finish_trial(batch, trial);
        } else if (trial->same_as < 0 && !trial->is_dropped) {
            *cost = trial->cost;
        }
    }
}

static void gather_todo(MerBatch *batch, int count)
{
    if (count > batch->todo_capacity) {
        batch->todo_capacity = count;
        batch->todo = mer_heap_resize(batch->todo, (size_t)count, sizeof(int));
        batch->base_slot = mer_heap_resize(batch->base_slot, (size_t)count, sizeof(int));
        batch->snapshot_slot = mer_heap_resize(batch->snapshot_slot, (size_t)count, sizeof(int));
    }
    int todo = 0;
    for (int i = 0; i < count; i++) {
        if (!batch->trials[i].is_known && batch->trials[i].same_as < 0) {
            batch->todo[todo++] = i;
        }
    }
    batch->todo_count = todo;
}

static bool is_parallel(const MerBatch *batch)
{
    return batch->evaluator->type->mode == MER_EVALUATE_PARALLEL;
}

/* Is so little to do that another thread would take longer to hear of it? */
static bool is_small(const MerBatch *batch, int count)
{
    static const double LEAST_S = 15e-6;
    return count * batch->seconds_each < LEAST_S;
}

/* Some evaluators price so many at once. */
static int round_to_lanes(const MerBatch *batch, int count)
{
    enum { LANES = 8 };
    int lanes = batch->evaluator->type->evaluate_batch ? LANES : 1;
    return count < 1 ? lanes : (count + lanes - 1) / lanes * lanes;
}

/* How many plans a thread takes at once: enough to be worth the way, few enough that no thread is left without. */
static int chunk_size(const MerBatch *batch, int count)
{
    static const double WORTH_S = 2e-6;
    enum { PARTS = 32 };
    int threads = mer_pool_threads(batch->pool);
    if (!is_parallel(batch) || batch->seconds_each > 1e-3) {
        return 1;
    }
    int fair = threads == 1 || is_small(batch, count) ? MAX_CHUNK : count / (threads * PARTS);
    int worth = (int)fmin(ceil(WORTH_S / fmax(batch->seconds_each, 1e-9)), PARTS / 4);
    int most = is_small(batch, count) ? count : (count + threads - 1) / threads;
    int chunk = round_to_lanes(batch, fair > worth ? fair : worth);
    chunk = chunk < most ? chunk : most;
    return chunk < 1 ? 1 : chunk < MAX_CHUNK ? chunk : MAX_CHUNK;
}

/* Begins to call `work` for all chunks of `width`, on threads where that is worth the way; `count` trials are priced by it. */
static void begin(MerBatch *batch, void (*work)(void *context, int chunk, int worker), int width,
                  int count)
{
    int chunks = (width + batch->chunk - 1) / batch->chunk;
    batch->started = mer_clock();
    batch->priced = count;
    batch->is_shared = is_parallel(batch) && !is_small(batch, count);
    if (batch->is_shared) {
        mer_pool_start(batch->pool, chunks, work, batch);
    }
    for (int c = 0; !batch->is_shared && c < chunks; c++) {
        work(batch, c, 0);
    }
}

static void end(MerBatch *batch)
{
    if (batch->is_shared) {
        mer_pool_finish(batch->pool);
    }
    if (batch->priced > 0) {
        int threads = batch->is_shared ? mer_pool_threads(batch->pool) : 1;
        batch->seconds_each = (mer_clock() - batch->started) * threads / batch->priced;
    }
}

bool mer_batch_can_walk(const MerBatch *batch)
{
    const MerEvaluator *evaluator = batch->evaluator;
    return is_parallel(batch) && !batch->use_memo &&
           !(evaluator->type->approximates && evaluator->type->approximates(evaluator->state));
}

int mer_batch_steps(const MerBatch *batch, int width, int64_t most)
{
    static const double LONG_S = 0.02;
    double steps = LONG_S * mer_pool_threads(batch->pool) / (batch->seconds_each * width);
    return (int)fmax(1, fmin(floor(steps), (double)most));
}

/* Whole walks, but no fewer than are priced at once if every thread gets some. */
static int walks_of_chunk(const MerBatch *batch, const MerBatchWalks *walks)
{
    int count = walks->width * walks->steps;
    int threads = is_small(batch, count) ? 1 : mer_pool_threads(batch->pool);
    int fair = (walks->width + threads - 1) / threads;
    int chunk = round_to_lanes(batch, chunk_size(batch, count) / walks->steps);
    return chunk < fair ? chunk : fair;
}

void mer_batch_walk(MerBatch *batch, MerRunTrial *trials, MerBatchWalks *walks)
{
    batch->trials = trials;
    batch->walks = walks;
    batch->write_lines = walks->texts != NULL;
    batch->chunk = walks->chunk = walks_of_chunk(batch, walks);
    batch->round++; /* what a worker has of another one it forgets itself */
    begin(batch, walk_chunk, walks->width, walks->width * walks->steps);
}

MerBatchWalked mer_batch_walked(MerBatch *batch)
{
    MerBatchWalked all = nothing_walked;
    end(batch);
    for (int w = 0; w < mer_pool_threads(batch->pool); w++) {
        const MerBatchWalked *own = &batch->workers[w].walked;
        if (batch->workers[w].round != batch->round) {
            continue;
        }
        all.counts.infeasible += own->counts.infeasible;
        for (int r = 0; r < MER_MAX_REASONS; r++) {
            all.counts.reasons[r] += own->counts.reasons[r];
        }
        all.counts.has_more = all.counts.has_more || own->counts.has_more;
        all.is_whole = all.is_whole && own->is_whole;
        all.is_plain = all.is_plain && own->is_plain;
    }
    return all;
}

void mer_batch_turn_back(MerBatch *batch)
{
    atomic_store(&batch->is_over, true);
    end(batch);
    atomic_store(&batch->is_over, false);
}

void mer_batch_price(MerBatch *batch, MerRunTrial *trials, int count, bool write_lines)
{
    batch->trials = trials;
    batch->write_lines = write_lines;
    for (int i = 0; i < count; i++) {
        batch->is_told |= trials[i].is_known && trials[i].cost.feasible;
    }
    if (batch->use_memo) {
        look_up(batch, trials, count);
    }
    gather_todo(batch, count);
    if (batch->snapshots) {
        place_snapshots(batch);
    }
    batch->chunk = chunk_size(batch, batch->todo_count);
    begin(batch, price_chunk, batch->todo_count, batch->todo_count);
    end(batch);
    for (int i = 0; i < count; i++) {
        if (trials[i].is_known) {
            trials[i].score = mer_objective_score(batch->objective, &trials[i].cost);
        }
    }
    if (batch->use_memo) {
        answer_from_memo(batch, trials, count);
    }
}

void mer_batch_price_exactly(MerBatch *batch, MerRunTrial *trial)
{
    const MerEvaluator *evaluator = batch->evaluator;
    Worker             *worker = &batch->workers[0];
    MerCall             call = {.scratch = worker->scratch,
                                .limit_metric = MER_METRIC_COUNT,
                                .limit = INFINITY,
                                .exact = true};
    MerPlan             plan;
    if (!evaluator->type->approximates || !evaluator->type->approximates(evaluator->state)) {
        return;
    }
    batch->problem->type->decode(batch->problem, trial->point, &plan, worker->plans);
    mer_price_plan(evaluator, batch->check, &plan, &call, &trial->cost);
    finish_trial(batch, trial);
    mer_arena_reset(worker->plans);
    mer_arena_reset(worker->scratch);
}
