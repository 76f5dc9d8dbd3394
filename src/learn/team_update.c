/* What an agent learns from a batch: policy gradients with their losses on the tape. */
#include "learn/team_inside.h"

#include <string.h>

/* Rows of a batch, of so many bytes each, copied together. */
static void *rows_of(MerTape *tape, int count, const int *rows, const void *source, size_t bytes)
{
    char *copy = mer_workspace_alloc(mer_tape_workspace(tape), (size_t)count * bytes);
    for (int i = 0; i < count; i++) {
        memcpy(copy + (size_t)i * bytes, (const char *)source + (size_t)rows[i] * bytes, bytes);
    }
    return copy;
}

static float *numbers_of(MerTape *tape, int count, const int *rows, const double *source)
{
    float *copy = mer_workspace_floats(mer_tape_workspace(tape), count);
    for (int i = 0; i < count; i++) {
        copy[i] = (float)source[rows[i]];
    }
    return copy;
}

/* -mean min(r A, clip(r) A), r per point or per knob. */
static MerTensor *ppo_loss(MerTeam *team, const MerAgent *agent, MerTensor *now,
                           MerTensor *advantage, int count, const int *rows)
{
    MerTape   *tape = team->tape;
    int        heads = agent->heads.count;
    float      clip = (float)team->spec.clip;
    MerTensor *old =
        mer_tape_input(tape, 2, (int[]){count, heads},
                       rows_of(tape, count, rows, agent->old, (size_t)heads * sizeof(float)));
    MerTensor *difference = mer_tensor_sub(tape, now, old);
    if (!team->spec.is_ratio_per_knob) {
        difference = mer_tensor_sum_axis(tape, difference, 1);
        difference = mer_tensor_reshape(tape, difference, 2, (int[]){count, 1});
    }
    MerTensor *ratio = mer_tensor_exp(tape, mer_tensor_clamp(tape, difference, -20, 20));
    MerTensor *plain = mer_tensor_mul(tape, ratio, advantage);
    MerTensor *clipped =
        mer_tensor_mul(tape, mer_tensor_clamp(tape, ratio, 1 - clip, 1 + clip), advantage);
    MerTensor *least = mer_tensor_sum(tape, mer_tensor_minimum(tape, plain, clipped));
    return mer_tensor_affine(tape, least, -1 / (float)count, 0);
}

/* -mean A log p */
static MerTensor *gradient_loss(MerTape *tape, MerTensor *now, MerTensor *advantage, int count)
{
    MerTensor *total = mer_tensor_sum(tape, mer_tensor_mul(tape, now, advantage));
    return mer_tensor_affine(tape, total, -1 / (float)count, 0);
}

static void step(MerTeam *team, MerTensor *loss)
{
    mer_parameters_clear(team->parameters);
    if (mer_tape_backward(team->tape, loss, NULL) != MER_OK) {
        return; /* the tape stays failed: mer_team_status says so */
    }
    if (team->spec.grad_norm > 0) {
        mer_parameters_clip(team->tape, team->parameters, team->spec.grad_norm);
    }
    mer_updater_step(team->updater, team->spec.rate);
}

static MerTensor *value_loss(MerTeam *team, MerTensor *value, int count, const int *rows)
{
    MerTape   *tape = team->tape;
    MerTensor *target =
        mer_tape_input(tape, 2, (int[]){count, 1}, numbers_of(tape, count, rows, team->returns));
    return mer_tensor_affine(tape, mer_tensor_mse(tape, value, target),
                             (float)team->spec.value_cost, 0);
}

void mer_agent_update(MerTeam *team, MerAgent *agent, int count, const int *rows, double entropy)
{
    MerTape *tape = team->tape;
    mer_tape_reset(tape);
    const float *seen =
        rows_of(tape, count, rows, agent->seen, (size_t)agent->observation * sizeof *seen);
    const int *columns =
        rows_of(tape, count, rows, agent->columns, (size_t)agent->heads.count * sizeof *columns);
    MerAgentOutput out = mer_agent_run(team, agent, count, seen, columns);
    MerTensor     *advantage =
        mer_tape_input(tape, 2, (int[]){count, 1}, numbers_of(tape, count, rows, team->advantages));
    MerTensor *now = mer_tensor_pick(tape, out.log_probabilities, agent->heads.count, columns);
    MerTensor *loss = team->spec.algorithm == MER_ALGORITHM_PPO
                          ? ppo_loss(team, agent, now, advantage, count, rows)
                          : gradient_loss(tape, now, advantage, count);
    MerTensor *disorder = mer_heads_entropy(tape, out.log_probabilities);
    loss = mer_tensor_add(tape, loss, mer_tensor_affine(tape, disorder, -(float)entropy, 0));
    if (out.value != NULL) {
        loss = mer_tensor_add(tape, loss, value_loss(team, out.value, count, rows));
    }
    int updates =
        team->spec.algorithm == MER_ALGORITHM_PPO ? team->spec.epochs * team->spec.minibatches : 1;
    team->entropy += disorder->data[0] / updates;
    step(team, loss);
}

void mer_critic_update(MerTeam *team, int count, const int *rows)
{
    mer_tape_reset(team->tape);
    const float *seen = rows_of(team->tape, count, rows, team->critic.seen,
                                (size_t)team->critic.observation * sizeof *seen);
    step(team, value_loss(team, mer_critic_run(team, count, seen), count, rows));
}
