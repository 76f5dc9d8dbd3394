/* The network behind the critic: two outputs, the log score against the task's mean and how far
 * from feasible. Its inputs say what a choice means (its value, its share of the largest), not only
 * which one it is, so that layers of other sizes can share what was learned. */
#include "opt/point_critic.h"

#include "base/memory.h"
#include "base/stream.h"
#include "mercator/text.h"
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

struct MerPointCritic {
    int             width, input_count, task;
    double          rate;
    MerArena       *arena; /* of features, batch, targets and mask */
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

MerPointCritic *mer_point_critic_new(int width, double rate)
{
    MerPointCritic *critic = mer_heap_zeroed(1, sizeof *critic);
    critic->width = width;
    critic->rate = rate;
    critic->task = -1;
    critic->seen = mer_heap_zeroed(MEMORY, sizeof *critic->seen);
    return critic;
}

static void drop_network(MerPointCritic *critic)
{
    mer_updater_free(critic->updater);
    mer_parameters_free(critic->parameters);
    mer_tape_free(critic->tape);
    mer_arena_free(critic->arena);
}

void mer_point_critic_free(MerPointCritic *critic)
{
    if (critic != NULL) {
        drop_network(critic);
        free(critic->means);
        free(critic->counts);
        free(critic->seen);
        free(critic);
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

static void make_task_capacity(MerPointCritic *critic)
{
    critic->means = mer_heap_resize(critic->means, (size_t)critic->task + 1, sizeof(double));
    critic->counts = mer_heap_resize(critic->counts, (size_t)critic->task + 1, sizeof(int));
}

static void build(MerPointCritic *critic, MerRng *rng)
{
    size_t inputs = (size_t)critic->input_count;
    critic->tape = mer_tape_new(&mer_backend_dnnl, NULL);
    critic->parameters = mer_parameters_new();
    critic->network =
        mer_mlp(critic->parameters, "judge", 4,
                (int[]){critic->input_count, critic->width, critic->width, 2}, MER_RELU, rng);
    MerRule rule = mer_rule_adam(1e-7);
    rule.weight_decay = 1e-4;
    critic->updater = mer_updater_new(critic->tape, critic->parameters, &rule);
    critic->arena = mer_arena_new();
    critic->features = MER_ARRAY(critic->arena, float, MEMORY *inputs + 1);
    critic->batch = MER_ARRAY(critic->arena, float, BATCH *inputs + 1);
    critic->targets = MER_ARRAY(critic->arena, float, 2 * BATCH);
    critic->mask = MER_ARRAY(critic->arena, float, 2 * BATCH);
}

void mer_point_critic_begin(MerPointCritic *critic, const MerSpace *space, MerRng *rng)
{
    int      inputs;
    uint64_t layout = layout_of(space, &inputs);
    if (critic->tape == NULL || layout != critic->layout || inputs != critic->input_count) {
        drop_network(critic);
        critic->layout = layout;
        critic->input_count = inputs;
        critic->told = 0;
        build(critic, rng);
    }
    critic->space = space;
    critic->here = 0;
    critic->task++;
    make_task_capacity(critic);
    critic->means[critic->task] = 0;
    critic->counts[critic->task] = 0;
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
    double excess = trial->cost != NULL ? mer_cost_excess(trial->cost) : INFINITY;
    return isfinite(excess) ? fmin(3, 1 + log(fmax(1, excess))) : 1;
}

void mer_point_critic_see(MerPointCritic *critic, const MerTrial *trial)
{
    int    place = (int)(critic->told++ % MEMORY), task = critic->task;
    double energy = mer_log_score(trial->score);
    critic->seen[place] = (Seen){energy, excess_of(trial), task};
    write_features(critic->space, trial->point,
                   critic->features + (int64_t)place * critic->input_count);
    critic->here++;
    if (energy < INFINITY) {
        critic->counts[task]++;
        critic->means[task] += (energy - critic->means[task]) / critic->counts[task];
    }
}

bool mer_point_critic_is_ready(const MerPointCritic *critic)
{
    return critic->told >= FEWEST && critic->counts[critic->task] > 0 &&
           mer_tape_status(critic->tape, NULL) == MER_OK;
}

static void fill_batch(MerPointCritic *critic, MerRng *rng)
{
    int64_t known = critic->told < MEMORY ? critic->told : MEMORY;
    int64_t here = critic->here < known ? critic->here : known;
    for (int i = 0; i < BATCH; i++) {
        bool    is_here = i % 2 == 0 && here > 0; /* half of a batch from the present task */
        int64_t back = (int64_t)mer_rng_below(rng, (int)(is_here ? here : known));
        int64_t at = (critic->told - 1 - back) % MEMORY;
        Seen    seen = critic->seen[at];
        bool    is_feasible = seen.energy < INFINITY;
        memcpy(critic->batch + (int64_t)i * critic->input_count,
               critic->features + at * critic->input_count,
               (size_t)critic->input_count * sizeof(float));
        critic->mask[2 * i] = is_feasible ? 1 : 0;
        critic->mask[2 * i + 1] = 1;
        critic->targets[2 * i] =
            is_feasible ? (float)fmax(-5, fmin(5, seen.energy - critic->means[seen.task])) : 0;
        critic->targets[2 * i + 1] = (float)seen.excess;
    }
}

void mer_point_critic_train(MerPointCritic *critic, int steps, MerRng *rng)
{
    MerTape *tape = critic->tape;
    for (int s = 0; s < steps && critic->told >= FEWEST; s++) {
        fill_batch(critic, rng);
        mer_tape_reset(tape);
        MerTensor *x = mer_tape_input(tape, 2, (int[]){BATCH, critic->input_count}, critic->batch);
        MerTensor *mask = mer_tape_input(tape, 2, (int[]){BATCH, 2}, critic->mask);
        MerTensor *target = mer_tape_input(tape, 2, (int[]){BATCH, 2}, critic->targets);
        MerTensor *said = mer_tensor_mul(tape, mer_mlp_run(tape, &critic->network, x), mask);
        MerTensor *loss = mer_tensor_mse(tape, said, target);
        mer_parameters_clear(critic->parameters);
        if (mer_tape_backward(tape, loss, NULL) != MER_OK) {
            return; /* the tape stays failed: the critic is not ready from now on */
        }
        mer_updater_step(critic->updater, critic->rate);
    }
}

void mer_point_critic_values(MerPointCritic *critic, int count, const MerIndex *points,
                             double *values)
{
    MerTape *tape = critic->tape;
    int64_t  inputs = critic->input_count, knobs = critic->space->knob_count;
    mer_tape_record(tape, false);
    mer_tape_reset(tape);
    float *rows = mer_workspace_floats(mer_tape_workspace(tape), count * inputs);
    for (int i = 0; i < count; i++) {
        write_features(critic->space, points + i * knobs, rows + i * inputs);
    }
    MerTensor *x = mer_tape_input(tape, 2, (int[]){count, (int)inputs}, rows);
    MerTensor *said = mer_mlp_run(tape, &critic->network, x);
    for (int i = 0; i < count; i++) {
        values[i] = said->data[2 * i] + 3 * fmax(0, said->data[2 * i + 1]);
    }
    mer_tape_record(tape, true);
}

int mer_point_critic_choose(MerPointCritic *critic, int count, const MerIndex *points)
{
    int     best = 0;
    double *values = mer_heap_zeroed((size_t)count + 1, sizeof *values);
    mer_point_critic_values(critic, count, points, values);
    for (int i = 1; i < count; i++) {
        best = values[i] < values[best] ? i : best;
    }
    free(values);
    return best;
}

enum { MOST_INPUTS = 1 << 20, MOST_TASKS = 1 << 20 };

/* Sizes, and memory for what follows them. */
static void keep_sizes(MerPointCritic *critic, MerStream *stream)
{
    mer_stream_bytes(stream, &critic->layout, sizeof critic->layout, 1);
    critic->input_count = (int)mer_stream_int(stream, critic->input_count, 0, MOST_INPUTS);
    critic->width = (int)mer_stream_int(stream, critic->width, critic->width, critic->width);
    critic->task = (int)mer_stream_int(stream, critic->task, 0, MOST_TASKS);
    critic->told = mer_stream_int(stream, critic->told, 0, INT64_MAX / 2);
    critic->here = (int)mer_stream_int(stream, critic->here, 0, INT_MAX / 2);
    /* feasible points of this task: `counts` has them again */
    mer_stream_int(stream, stream->is_saving ? critic->counts[critic->task] : 0, 0, INT_MAX);
    /* weights and tasks must be in the file before there is memory for them */
    mer_stream_expect(stream, sizeof(float) * (size_t)critic->width, critic->input_count);
    mer_stream_expect(stream, sizeof(double), critic->task);
    if (!stream->is_saving && !stream->is_broken) {
        MerRng rng = mer_rng_make(0, 0); /* the weights are read next */
        drop_network(critic);
        build(critic, &rng);
        make_task_capacity(critic);
    }
}

static void keep_memory(MerPointCritic *critic, MerStream *stream)
{
    int64_t known = critic->told < MEMORY ? critic->told : MEMORY;
    mer_stream_bytes(stream, critic->means, sizeof *critic->means, critic->task + 1);
    mer_stream_bytes(stream, critic->counts, sizeof *critic->counts, critic->task + 1);
    mer_stream_bytes(stream, critic->features, sizeof *critic->features,
                     known * critic->input_count);
    for (int i = 0; i <= critic->task && !stream->is_broken; i++) {
        stream->is_broken = critic->counts[i] < 0 || critic->counts[i] > INT_MAX / 2;
    }
    for (int64_t i = 0; i < known && !stream->is_broken; i++) {
        Seen *seen = &critic->seen[i];
        seen->energy = mer_stream_real(stream, seen->energy);
        seen->excess = mer_stream_real(stream, seen->excess);
        seen->task = (int)mer_stream_int(stream, seen->task, 0, critic->task);
    }
}

MerStatus mer_point_critic_keep(MerPointCritic *critic, MerStream *stream, MerError *error)
{
    keep_sizes(critic, stream);
    keep_memory(critic, stream);
    MER_TRY(
        mer_stream_status(stream, stream->is_saving ? "the critic" : "the saved critic", error));
    MER_TRY(mer_parameters_keep(critic->parameters, stream, "saved critic", error));
    return mer_parameters_keep(mer_updater_memory(critic->updater), stream, "saved critic", error);
}

MerStatus mer_point_critic_resume(MerPointCritic *critic, const MerSpace *space, MerError *error)
{
    int inputs;
    if (layout_of(space, &inputs) != critic->layout || inputs != critic->input_count) {
        return mer_error_set(error, MER_INVALID, "the saved critic is of another space");
    }
    critic->space = space;
    return MER_OK;
}
