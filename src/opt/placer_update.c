/* What a placing policy learns from a batch: REINFORCE with a baseline (Williams, 1992). */
#include "learn/returns.h"
#include "opt/placer.h"

#include <math.h>

static double shape_reward(const MerPlacer *p, double score)
{
    double size = fabs(score);
    switch ((MerPlacerReward)p->options.reward) {
    case MER_PLACER_SQRT:
        size = sqrt(size);
        break;
    case MER_PLACER_LOG1P:
        size = log1p(size);
        break;
    case MER_PLACER_ID:
        break;
    }
    return score < 0 ? -size : size;
}

static double failing_reward(const MerPlacer *p)
{
    return shape_reward(p, fmax(p->options.failing_signal, 10 * p->graph.worst));
}

/* A refused placement without a failing signal: as the worst of its batch, and the worse the more memory it lacks. A
 * fixed signal, once the others are good, would hide how they differ. */
static double refused_reward(const MerPlacer *p, int lane)
{
    double worst = isfinite(p->now.worst) ? p->now.worst : 1;
    return worst + fabs(worst) * mer_placer_excess(&p->lanes.loads[lane]);
}

/* Late in a training a refused placement beside a low average would undo much of it. */
static bool is_taught(const MerPlacer *p, int lane)
{
    return isfinite(p->scores[lane]) || p->now.updates < p->options.valid_only_after;
}

/* Rewards of the lanes that are taught, one after another; how many there are. They are costs: smaller is better, as
 * the papers have it. */
static int fill_rewards(MerPlacer *p, double *rewards)
{
    int    count = 0;
    double worst = -INFINITY;
    for (int lane = 0; lane < p->now.lanes; lane++) {
        if (isfinite(p->scores[lane])) {
            worst = fmax(worst, shape_reward(p, p->scores[lane]));
        }
    }
    p->now.worst = isfinite(worst) ? worst : p->now.worst;
    for (int lane = 0; lane < p->now.lanes; lane++) {
        if (is_taught(p, lane)) {
            rewards[count++] = isfinite(p->scores[lane])       ? shape_reward(p, p->scores[lane])
                               : p->options.failing_signal > 0 ? failing_reward(p)
                                                               : refused_reward(p, lane);
        }
    }
    return count;
}

static void follow_baseline(MerPlacer *p, const double *rewards, int count)
{
    double decay = p->options.baseline_decay, mean = 0;
    for (int i = 0; i < count; i++) {
        mean += rewards[i] / count;
    }
    if (!p->now.has_baseline) {
        bool is_failing = p->options.start_with_failing_signal && p->options.failing_signal > 0;
        p->now.baseline = is_failing ? failing_reward(p) : mean;
        p->now.has_baseline = true;
    }
    p->now.baseline = decay * p->now.baseline + (1 - decay) * mean;
}

/* Of every lane, divided by how many are taught; 0 where one is not. False: none is. */
static bool fill_advantages(MerPlacer *p)
{
    double *values = p->advantages;
    int     count = fill_rewards(p, values), left = count;
    if (count == 0) {
        return false;
    }
    follow_baseline(p, values, count);
    for (int i = 0; i < count; i++) {
        values[i] = p->now.baseline - values[i];
    }
    if (p->options.standardise) {
        mer_standardise(values, count);
    }
    for (int lane = p->now.lanes - 1; lane >= 0; lane--) {
        values[lane] = is_taught(p, lane) ? values[--left] / count : 0;
    }
    return true;
}

/* Weights of the lanes in the loss: advantages of the samples, then that of the elite. */
static const float *weights_of(MerPlacer *p, int lanes, int rows)
{
    float *weights = mer_workspace_floats(mer_tape_workspace(p->tape), rows);
    for (int row = 0; row < rows; row++) {
        int    lane = row % lanes;
        double share = lane < p->now.lanes ? p->advantages[lane] : p->options.imitate;
        weights[row] = (float)-share;
    }
    return weights;
}

/* -sum over lanes of weight x log p(clusters). */
static MerTensor *grouper_loss(MerPlacer *p, int lanes)
{
    const MerPlacerGraph *g = &p->graph;
    MerTape              *tape = p->tape;
    MerTensor *shares = mer_placer_grouper_run(tape, &p->grouper, mer_placer_group_noise(p));
    size_t     count = (size_t)g->order_count * (size_t)lanes;
    int       *index = mer_workspace_alloc(mer_tape_workspace(tape), count * sizeof *index);
    for (int i = 0; i < g->order_count; i++) {
        for (int lane = 0; lane < lanes; lane++) {
            index[(int64_t)i * lanes + lane] =
                p->lanes.step_of[(int64_t)lane * g->group_count + g->order[i]];
        }
    }
    MerTensor *now = mer_tensor_pick(tape, shares, lanes, index);
    MerTensor *weights = mer_tape_input(tape, 2, (int[]){1, lanes}, weights_of(p, lanes, lanes));
    return mer_tensor_sum(tape, mer_tensor_mul(tape, now, weights));
}

/* -sum over live rows of weight x log p(unit), and the entropy of those rows. */
static MerTensor *placer_loss(MerPlacer *p, int lanes)
{
    MerTape      *tape = p->tape;
    int           rows = p->lanes.steps * lanes;
    float         entropy = (float)(p->options.entropy * (1 - mer_placer_progress(p)));
    MerPlacerRead read = mer_placer_read(tape, &p->net, mer_placer_inputs(p, lanes), lanes);
    MerPlacerRows given = mer_placer_lanes_rows(&p->lanes, 0);
    given.noise = mer_placer_row_noise(p, lanes, p->now.lanes);
    MerTensor *shares = mer_placer_write(tape, &p->net, &read, 0, p->lanes.steps, &given);
    MerTensor *live = mer_tape_input(tape, 2, (int[]){rows, 1}, p->lanes.live);
    MerTensor *weights = mer_tape_input(tape, 2, (int[]){rows, 1}, weights_of(p, lanes, rows));
    MerTensor *now = mer_tensor_mul(tape, mer_tensor_pick(tape, shares, 1, p->lanes.choice), live);
    MerTensor *loss = mer_tensor_sum(tape, mer_tensor_mul(tape, now, weights));
    if (entropy > 0) {
        MerTensor *logs = mer_tensor_clamp(tape, shares, -50, 0); /* 0 log 0 = 0 */
        MerTensor *order = mer_tensor_mul(tape, mer_tensor_exp(tape, shares), logs);
        order = mer_tensor_sum(tape, mer_tensor_mul(tape, order, live));
        loss = mer_tensor_add(tape, loss,
                              mer_tensor_affine(tape, order, entropy / (float)p->now.lanes, 0));
    }
    return loss;
}

static double rate_now(const MerPlacer *p)
{
    const MerPlacerOptions *o = &p->options;
    double                  rate = o->rate;
    if (o->rate_end > 0) {
        rate += (o->rate_end - o->rate) * mer_placer_progress(p);
    }
    if (o->rate_decay > 0 && o->decay_steps > 0 && p->now.updates > o->decay_start) {
        rate *= pow(o->rate_decay, (double)((p->now.updates - o->decay_start) / o->decay_steps));
    }
    return rate;
}

static void step(MerPlacer *p, MerTensor *loss)
{
    mer_parameters_clear(p->parameters);
    if (mer_tape_backward(p->tape, loss, NULL) != MER_OK) {
        return; /* the tape stays failed: the next ask says so */
    }
    if (p->options.grad_norm > 0) {
        mer_parameters_clip(p->tape, p->parameters, p->options.grad_norm);
    }
    mer_updater_step(p->updater, rate_now(p));
}

static bool is_mostly_alike(const MerPlacer *p)
{
    int most = 0;
    for (int lane = 0; lane < p->now.lanes; lane++) {
        int same = 0;
        for (int other = 0; other < p->now.lanes; other++) {
            same += p->scores[other] == p->scores[lane];
        }
        most = same > most ? same : most;
    }
    return 2 * most > p->now.lanes;
}

/* A policy that proposes one placement again and again learns nothing more; REINFORCE with few samples ends there too
 * early now and then. The last part of a budget is too short to start again. */
static void look_for_end(MerPlacer *p)
{
    p->now.alike = is_mostly_alike(p) ? p->now.alike + 1 : 0;
    bool is_late =
        p->search->budget != INT64_MAX && p->now.told_in_all > 0.8 * (double)p->search->budget;
    if (p->options.patience > 0 && p->now.alike >= p->options.patience && !p->now.is_given &&
        !is_late) {
        mer_placer_restart(p);
    }
}

void mer_placer_learn(MerPlacer *p)
{
    int lanes = p->now.lanes;
    if (p->options.imitate > 0 && p->now.has_elite) {
        mer_placer_copy_lane(p, lanes++, mer_placer_elite_slot(p));
    }
    mer_placer_lanes_begin(&p->lanes, lanes);
    mer_placer_lanes_replay(&p->lanes);
    bool has_lesson = fill_advantages(p);
    p->now.updates++;
    if (!has_lesson) {
        return;
    }
    mer_tape_reset(p->tape);
    MerTensor *loss = placer_loss(p, lanes);
    if (p->has_grouper) {
        loss = mer_tensor_add(p->tape, loss, grouper_loss(p, lanes));
    }
    step(p, loss);
    look_for_end(p);
}
