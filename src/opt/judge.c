/* The network behind the judge: two outputs, the log score against the task's mean and how far
 * from feasible. Its inputs say what a choice means (its value, its share of the largest), not only
 * which one it is, so that layers of other sizes can share what was learned. */
#include "opt/judge.h"

#include "base/memory.h"
#include "base/stream.h"
#include "base/text.h"
#include "space/positions.h"
#include "tensor/layers.h"
#include "tensor/updater.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ONE_HOT_MOST = 64, NUMBERS = 3, BATCH = 64, MEMORY = 8192, FEWEST = 24 };

typedef struct Seen { /* one remembered point: its features follow in `features` */
    double energy, excess;
    int    task;
} Seen;

struct MerJudge {
    int             width, input_count, task;
    double          rate;
    MerTape        *tape;
    MerParameters  *parameters;
    MerUpdater     *updater;
    MerMlp          network;
    const MerSpace *space;
    uint64_t        layout; /* hash of what the inputs stand for */
    int64_t         told;   /* of all tasks; the memory holds the last MEMORY */
    int             here;   /* of this task */
    Seen           *seen;
    float          *features;
    int            *counts; /* feasible points of every task */
    double         *means;  /* of their energies */
    float          *batch, *targets, *mask;
};

MerJudge *mer_judge_new(int width, double rate)
{
    MerJudge *judge = mer_heap_zeroed(1, sizeof *judge);
    judge->width = width;
    judge->rate = rate;
    judge->task = -1;
    judge->seen = mer_heap_zeroed(MEMORY, sizeof *judge->seen);
    return judge;
}

static void drop_network(MerJudge *judge)
{
    mer_updater_free(judge->updater);
    mer_parameters_free(judge->parameters);
    mer_tape_free(judge->tape);
    free(judge->features);
    free(judge->batch);
    free(judge->targets);
    free(judge->mask);
}

void mer_judge_free(MerJudge *judge)
{
    if (judge != NULL) {
        if (judge->tape != NULL) {
            drop_network(judge);
        }
        free(judge->means);
        free(judge->counts);
        free(judge->seen);
        free(judge);
    }
}

static bool is_one_hot(const MerKnob *knob)
{
    return knob->kind == MER_KNOB_CATEGORY && knob->choices <= ONE_HOT_MOST;
}

static const uint64_t FNV_PRIME = 1099511628211u;

/* Saved with a policy: it must come out the same in every version. */
static uint64_t layout_of(const MerSpace *space, int *input_count)
{
    uint64_t hash = MER_HASH_START;
    *input_count = 0;
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        int            inputs = is_one_hot(knob) ? knob->choices : NUMBERS;
        *input_count += inputs;
        hash = (hash ^ (uint64_t)(inputs + 100 * (int)knob->role)) * FNV_PRIME;
        if (knob->name != NULL) {
            hash = mer_hash_bytes(hash, knob->name, strlen(knob->name));
        }
    }
    return hash;
}

static void make_task_room(MerJudge *judge)
{
    judge->means = mer_heap_resize(judge->means, (size_t)judge->task + 1, sizeof(double));
    judge->counts = mer_heap_resize(judge->counts, (size_t)judge->task + 1, sizeof(int));
}

static void build(MerJudge *judge, MerRng *rng)
{
    size_t inputs = (size_t)judge->input_count;
    judge->tape = mer_tape_new(&mer_backend_dnnl);
    judge->parameters = mer_parameters_new();
    judge->network =
        mer_mlp(judge->parameters, "judge", 4,
                (int[]){judge->input_count, judge->width, judge->width, 2}, MER_RELU, rng);
    MerRule rule = mer_rule_adam(1e-7);
    rule.weight_decay = 1e-4;
    judge->updater = mer_updater_new(judge->parameters, &rule);
    judge->features = mer_heap_zeroed(MEMORY * inputs + 1, sizeof(float));
    judge->batch = mer_heap_zeroed(BATCH * inputs + 1, sizeof(float));
    judge->targets = mer_heap_zeroed(2 * BATCH, sizeof(float));
    judge->mask = mer_heap_zeroed(2 * BATCH, sizeof(float));
}

void mer_judge_begin(MerJudge *judge, const MerSpace *space, MerRng *rng)
{
    int      inputs;
    uint64_t layout = layout_of(space, &inputs);
    if (judge->tape == NULL || layout != judge->layout || inputs != judge->input_count) {
        if (judge->tape != NULL) {
            drop_network(judge);
        }
        judge->layout = layout;
        judge->input_count = inputs;
        judge->told = 0;
        build(judge, rng);
    }
    judge->space = space;
    judge->here = 0;
    judge->task++;
    make_task_room(judge);
    judge->means[judge->task] = 0;
    judge->counts[judge->task] = 0;
}

/* One-hot, or place, size and share of the largest. */
static void write_features(const MerSpace *space, const MerIndex *point, float *to)
{
    for (int k = 0; k < space->knob_count; k++) {
        const MerKnob *knob = &space->knobs[k];
        if (is_one_hot(knob)) {
            memset(to, 0, (size_t)knob->choices * sizeof *to);
            to[point[k]] = 1;
            to += knob->choices;
            continue;
        }
        to[0] = (float)(2 * mer_knob_position(knob, point[k]) - 1);
        to[1] = to[2] = 0;
        if (knob->values != NULL && knob->values[point[k]] > 0) {
            double most = knob->values[knob->choices - 1];
            to[1] = (float)(log(knob->values[point[k]]) / 4);
            to[2] = most > 0 ? (float)(log(knob->values[point[k]] / most) / 4) : 0;
        }
        to += NUMBERS;
    }
}

/* 0 if feasible, 1 at the limit or where the reason does not say, at most 3. */
static double excess_of(const MerTrial *trial)
{
    if (isfinite(trial->score)) {
        return 0;
    }
    double excess = trial->cost != NULL ? mer_reason_excess(trial->cost->reason) : INFINITY;
    return isfinite(excess) ? fmin(3, 1 + log(fmax(1, excess))) : 1;
}

void mer_judge_see(MerJudge *judge, const MerTrial *trial)
{
    int    place = (int)(judge->told++ % MEMORY), task = judge->task;
    double energy = mer_log_score(trial->score);
    judge->seen[place] = (Seen){energy, excess_of(trial), task};
    write_features(judge->space, trial->point,
                   judge->features + (int64_t)place * judge->input_count);
    judge->here++;
    if (energy < INFINITY) {
        judge->counts[task]++;
        judge->means[task] += (energy - judge->means[task]) / judge->counts[task];
    }
}

bool mer_judge_is_ready(const MerJudge *judge)
{
    return judge->told >= FEWEST && judge->counts[judge->task] > 0;
}

static void fill_batch(MerJudge *judge, MerRng *rng)
{
    int64_t known = judge->told < MEMORY ? judge->told : MEMORY;
    int64_t here = judge->here < known ? judge->here : known;
    for (int i = 0; i < BATCH; i++) {
        bool    is_here = i % 2 == 0 && here > 0; /* half of a batch from the present task */
        int64_t back = (int64_t)mer_rng_below(rng, (int)(is_here ? here : known));
        int64_t at = (judge->told - 1 - back) % MEMORY;
        Seen    seen = judge->seen[at];
        bool    is_feasible = seen.energy < INFINITY;
        memcpy(judge->batch + (int64_t)i * judge->input_count,
               judge->features + at * judge->input_count,
               (size_t)judge->input_count * sizeof(float));
        judge->mask[2 * i] = is_feasible ? 1 : 0;
        judge->mask[2 * i + 1] = 1;
        judge->targets[2 * i] =
            is_feasible ? (float)fmax(-5, fmin(5, seen.energy - judge->means[seen.task])) : 0;
        judge->targets[2 * i + 1] = (float)seen.excess;
    }
}

void mer_judge_train(MerJudge *judge, int steps, MerRng *rng)
{
    MerTape *tape = judge->tape;
    for (int s = 0; s < steps && judge->told >= FEWEST; s++) {
        fill_batch(judge, rng);
        mer_tape_reset(tape);
        MerTensor *x = mer_tape_input(tape, 2, (int[]){BATCH, judge->input_count}, judge->batch);
        MerTensor *mask = mer_tape_input(tape, 2, (int[]){BATCH, 2}, judge->mask);
        MerTensor *target = mer_tape_input(tape, 2, (int[]){BATCH, 2}, judge->targets);
        MerTensor *said = mer_tensor_mul(tape, mer_mlp_run(tape, &judge->network, x), mask);
        MerTensor *loss = mer_tensor_mse(tape, said, target);
        mer_parameters_clear(judge->parameters);
        mer_tape_backward(tape, loss);
        mer_updater_step(judge->updater, judge->rate);
    }
}

int mer_judge_choose(MerJudge *judge, int count, const MerIndex *points)
{
    MerTape *tape = judge->tape;
    int64_t  inputs = judge->input_count, knobs = judge->space->knob_count;
    int      best = 0;
    double   least = INFINITY;
    mer_tape_record(tape, false);
    mer_tape_reset(tape);
    float *rows = mer_workspace_floats(mer_tape_workspace(tape), count * inputs);
    for (int i = 0; i < count; i++) {
        write_features(judge->space, points + i * knobs, rows + i * inputs);
    }
    MerTensor *x = mer_tape_input(tape, 2, (int[]){count, (int)inputs}, rows);
    MerTensor *said = mer_mlp_run(tape, &judge->network, x);
    for (int i = 0; i < count; i++) {
        double value = said->data[2 * i] + 3 * fmax(0, said->data[2 * i + 1]);
        best = value < least ? i : best;
        least = fmin(least, value);
    }
    mer_tape_record(tape, true);
    return best;
}

enum { MOST_INPUTS = 1 << 20, MOST_TASKS = 1 << 20 };

/* Sizes, and room for what follows them. */
static void keep_sizes(MerJudge *judge, MerStream *stream)
{
    mer_stream_bytes(stream, &judge->layout, sizeof judge->layout, 1);
    judge->input_count = (int)mer_stream_int(stream, judge->input_count, 0, MOST_INPUTS);
    judge->width = (int)mer_stream_int(stream, judge->width, 1, 4096);
    judge->task = (int)mer_stream_int(stream, judge->task, 0, MOST_TASKS);
    judge->told = mer_stream_int(stream, judge->told, 0, INT64_MAX / 2);
    judge->here = (int)mer_stream_int(stream, judge->here, 0, INT_MAX);
    /* feasible points of this task: `counts` has them again */
    mer_stream_int(stream, stream->is_saving ? judge->counts[judge->task] : 0, 0, INT_MAX);
    if (!stream->is_saving && !stream->is_broken) {
        MerRng rng = mer_rng_make(0, 0); /* the weights are read next */
        if (judge->tape != NULL) {
            drop_network(judge);
        }
        build(judge, &rng);
        make_task_room(judge);
    }
}

static void keep_memory(MerJudge *judge, MerStream *stream)
{
    int64_t known = judge->told < MEMORY ? judge->told : MEMORY;
    mer_stream_bytes(stream, judge->means, sizeof *judge->means, judge->task + 1);
    mer_stream_bytes(stream, judge->counts, sizeof *judge->counts, judge->task + 1);
    mer_stream_bytes(stream, judge->features, sizeof *judge->features, known * judge->input_count);
    for (int64_t i = 0; i < known && !stream->is_broken; i++) {
        Seen *seen = &judge->seen[i];
        seen->energy = mer_stream_real(stream, seen->energy);
        seen->excess = mer_stream_real(stream, seen->excess);
        seen->task = (int)mer_stream_int(stream, seen->task, 0, judge->task);
    }
}

MerStatus mer_judge_save(MerJudge *judge, FILE *file, MerError *error)
{
    MerStream stream = {.file = file, .is_saving = true};
    keep_sizes(judge, &stream);
    keep_memory(judge, &stream);
    MerStatus status = mer_stream_status(&stream, "the critic", error);
    if (status == MER_OK) {
        status = mer_parameters_save(judge->parameters, file, error);
    }
    return status == MER_OK ? mer_parameters_save(mer_updater_memory(judge->updater), file, error)
                            : status;
}

MerStatus mer_judge_load(MerJudge *judge, FILE *file, MerError *error)
{
    MerStream stream = {.file = file};
    keep_sizes(judge, &stream);
    keep_memory(judge, &stream);
    MerStatus status = mer_stream_status(&stream, "the saved critic", error);
    if (status == MER_OK) {
        status = mer_parameters_load(judge->parameters, file, "saved critic", error);
    }
    return status == MER_OK ? mer_parameters_load(mer_updater_memory(judge->updater), file,
                                                  "saved critic", error)
                            : status;
}

MerStatus mer_judge_resume(MerJudge *judge, const MerSpace *space, MerError *error)
{
    int inputs;
    if (layout_of(space, &inputs) != judge->layout || inputs != judge->input_count) {
        return mer_error_set(error, MER_INVALID, "the saved critic is of another space");
    }
    judge->space = space;
    return MER_OK;
}
