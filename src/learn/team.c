/* A team of agents: their networks, what they see, and how they act. */
#include "learn/team_inside.h"

#include "base/memory.h"
#include "learn/returns.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static MerLinearLayer layer_of(MerTeam *team, const char *name, const char *part, int in, int out,
                               float gain, MerRng *rng)
{
    MerPartName    full = mer_part_name(name, part);
    MerLinearLayer layer = mer_linear_layer(team->parameters, full.text, in, out, rng);
    mer_tensor_fill_orthogonal(layer.w, gain, rng);
    return layer;
}

/* (rows, total) of an agent's choices. */
static MerTensor *table_of(MerTeam *team, const char *name, const char *part, int rows, int total)
{
    MerPartName full = mer_part_name(name, part);
    return mer_parameters_add(team->parameters, full.text, 2, (int[]){rows, total});
}

static MerMlp trunk_of(MerTeam *team, const char *name, int in, MerRng *rng)
{
    int    sizes[MER_MLP_MAX_LAYERS + 1] = {in};
    MerMlp trunk;
    assert(team->spec.depth <= MER_MLP_MAX_LAYERS);
    for (int i = 1; i <= team->spec.depth; i++) {
        sizes[i] = team->spec.width;
    }
    trunk = mer_mlp(team->parameters, name, team->spec.depth + 1, sizes, MER_TANH, rng);
    for (int i = 0; i < trunk.count; i++) {
        mer_tensor_fill_orthogonal(trunk.layers[i].w, sqrtf(2), rng);
    }
    return trunk;
}

static bool has_critic(const MerTeam *team)
{
    return team->spec.algorithm != MER_ALGORITHM_REINFORCE;
}

/* Blocks on the diagonal: a knob's next choice depends on its own present one at first. */
static void fill_habit(MerAgent *agent, const float *const *habits)
{
    int64_t total = agent->heads.total;
    memset(agent->habit->data, 0, (size_t)(total * total) * sizeof(float));
    for (int h = 0; h < agent->heads.count; h++) {
        int first = agent->heads.first[h], width = agent->heads.first[h + 1] - first;
        for (int row = 0; row < width; row++) {
            memcpy(agent->habit->data + (first + row) * total + first,
                   habits[agent->knobs[h]] + (int64_t)row * width, (size_t)width * sizeof(float));
        }
    }
}

static void form_heads(MerTeam *team, MerAgent *agent)
{
    const MerTeamSpec *spec = &team->spec;
    if (spec->heads == MER_HEADS_JOINT) {
        mer_heads_join(&agent->heads, team->arena);
    } else if (spec->heads == MER_HEADS_ORDERED) {
        bool *is_ordered = MER_ARRAY(team->arena, bool, agent->heads.count);
        for (int h = 0; h < agent->heads.count; h++) {
            is_ordered[h] = spec->is_ordered != NULL && spec->is_ordered[agent->knobs[h]];
        }
        mer_heads_order(&agent->heads, is_ordered, team->arena);
    }
}

static void open_agent(MerTeam *team, int index, MerRng *rng)
{
    const MerTeamSpec *spec = &team->spec;
    MerAgent          *agent = &team->agents[index];
    int               *choices = MER_ARRAY(team->arena, int, spec->knob_count + 1), count = 0;
    int64_t            rows = mer_team_rows(team), after = rows + spec->lanes;
    char               name[32];
    bool is_ordered = spec->heads == MER_HEADS_ORDERED; /* other numbers, other names */
    agent->knobs = MER_ARRAY(team->arena, int, spec->knob_count + 1);
    for (int k = 0; k < spec->knob_count; k++) {
        if (spec->owner[k] == index) {
            agent->knobs[count] = k;
            choices[count++] = spec->choices[k];
        }
    }
    assert(count > 0);
    agent->heads = mer_heads_make(count, choices, team->arena);
    form_heads(team, agent);
    int total = agent->heads.total;
    agent->observation = spec->feature_count + total;
    agent->seen = MER_ARRAY(team->arena, float, after * agent->observation);
    agent->columns = MER_ARRAY(team->arena, int, rows *count);
    agent->old = MER_ARRAY(team->arena, float, rows *count);
    agent->acted = MER_ARRAY(team->arena, bool, rows);
    agent->given = MER_ARRAY(team->arena, float, total);
    agent->values = MER_ARRAY(team->arena, double, after);
    agent->now = MER_ARRAY(team->arena, float, (int64_t)spec->lanes *total);
    snprintf(name, sizeof name, "agent%d", index);
    if (agent->heads.later != NULL) { /* zeros: heads are independent until something is learned */
        agent->later = table_of(team, name, "later", total, total);
    }
    if (spec->depth == 0) {
        agent->logits = table_of(team, name, is_ordered ? "strengths" : "logits", 1, total);
        return;
    }
    if (spec->habits != NULL) {
        agent->habit = table_of(team, name, "habit", total, total);
        fill_habit(agent, spec->habits);
        agent->first_habit = MER_ARRAY(team->arena, float, agent->habit->size);
        memcpy(agent->first_habit, agent->habit->data,
               (size_t)agent->habit->size * sizeof *agent->first_habit);
    }
    agent->trunk = trunk_of(team, name, agent->observation, rng);
    agent->policy =
        layer_of(team, name, is_ordered ? "strengths" : "policy", spec->width, total, 0.01f, rng);
    if (has_critic(team) && !spec->is_central) {
        agent->value = layer_of(team, name, "value", spec->width, 1, 1, rng);
    }
}

static void open_critic(MerTeam *team, MerRng *rng)
{
    const MerTeamSpec *spec = &team->spec;
    MerCritic         *critic = &team->critic;
    int64_t            after = mer_team_rows(team) + spec->lanes;
    critic->observation = spec->feature_count;
    for (int k = 0; k < spec->knob_count; k++) {
        critic->observation += spec->choices[k];
    }
    critic->seen = MER_ARRAY(team->arena, float, after * critic->observation);
    critic->values = MER_ARRAY(team->arena, double, after);
    critic->trunk = trunk_of(team, "critic", critic->observation, rng);
    critic->value = layer_of(team, "critic", "value", spec->width, 1, 1, rng);
}

static const int *copy_of(const int *numbers, int count, MerArena *arena)
{
    size_t bytes = (size_t)count * sizeof *numbers;
    return numbers != NULL ? memcpy(mer_arena_alloc(arena, bytes), numbers, bytes) : NULL;
}

MerTeam *mer_team_new(const MerTeamSpec *spec, MerRng *rng)
{
    assert(spec->knob_count >= 1 && spec->agent_count >= 1 && spec->lanes >= 1 &&
           spec->unroll >= 1);
    assert(spec->depth > 0 || spec->algorithm == MER_ALGORITHM_REINFORCE);
    MerTeam *team = mer_heap_zeroed(1, sizeof *team);
    team->spec = *spec;
    team->arena = mer_arena_new();
    team->tape = mer_tape_new(spec->backend, spec->pool);
    team->parameters = mer_parameters_new();
    team->entropy = -1;
    team->agents = MER_ARRAY(team->arena, MerAgent, spec->agent_count);
    team->spec.choices = copy_of(spec->choices, spec->knob_count, team->arena);
    team->spec.owner = copy_of(spec->owner, spec->knob_count, team->arena);
    team->spec.viewer = copy_of(spec->viewer, spec->feature_count, team->arena);
    for (int a = 0; a < spec->agent_count; a++) {
        open_agent(team, a, rng);
    }
    team->spec.habits = NULL;     /* the tables have them now, */
    team->spec.is_ordered = NULL; /* and the heads this */
    team->spec.is_central = spec->is_central && has_critic(team);
    if (team->spec.is_central) {
        open_critic(team, rng);
    }
    MerRule rule = mer_rule_adam(spec->adam_epsilon);
    team->updater = mer_updater_new(team->tape, team->parameters, &rule);
    team->last = MER_ARRAY(team->arena, int, (int64_t)spec->lanes * spec->knob_count);
    memset(team->last, 0xff, (size_t)spec->lanes * (size_t)spec->knob_count * sizeof *team->last);
    team->features = MER_ARRAY(team->arena, float, (int64_t)spec->lanes * spec->feature_count + 1);
    team->advantages = MER_ARRAY(team->arena, double, mer_team_rows(team));
    team->returns = MER_ARRAY(team->arena, double, mer_team_rows(team));
    team->order = MER_ARRAY(team->arena, int, mer_team_rows(team));
    team->ends = MER_ARRAY(team->arena, bool, mer_team_rows(team));
    return team;
}

void mer_team_free(MerTeam *team)
{
    if (team != NULL) {
        mer_updater_free(team->updater);
        mer_parameters_free(team->parameters);
        mer_tape_free(team->tape);
        mer_arena_free(team->arena);
        free(team);
    }
}

/* Hidden layers with tanh on every one of them. */
static MerTensor *run_trunk(MerTape *tape, const MerMlp *trunk, MerTensor *x)
{
    for (int i = 0; i < trunk->count; i++) {
        x = mer_linear_run(tape, &trunk->layers[i], x, trunk->activation);
    }
    return x;
}

/* The agent's own present choices, one-hot: the tail of what it sees. */
static MerTensor *present(MerTeam *team, const MerAgent *agent, int rows, const float *seen)
{
    int64_t total = agent->heads.total, skipped = agent->observation - total;
    float  *copy = mer_workspace_floats(mer_tape_workspace(team->tape), rows * total);
    for (int64_t i = 0; i < rows; i++) {
        memcpy(copy + i * total, seen + i * agent->observation + skipped,
               (size_t)total * sizeof *copy);
    }
    return mer_tape_input(team->tape, 2, (int[]){rows, (int)total}, copy);
}

/* The same row for all: plain logits see nothing. */
static MerTensor *repeat(MerTape *tape, MerTensor *row, int rows)
{
    int *zeros = mer_workspace_alloc(mer_tape_workspace(tape), (size_t)rows * sizeof *zeros);
    memset(zeros, 0, (size_t)rows * sizeof *zeros);
    return mer_tensor_gather(tape, row, rows, zeros);
}

/* Adds what the present choices make likely. What ordered heads share is what was learned, not the
 * habits they start from. */
static MerTensor *add_habit(MerTeam *team, const MerAgent *agent, MerTensor *logits, int rows,
                            const float *seen)
{
    MerTape   *tape = team->tape;
    MerTensor *now = present(team, agent, rows, seen);
    if (agent->heads.shares == NULL) {
        return mer_tensor_add(tape, logits, mer_tensor_matmul(tape, now, agent->habit));
    }
    MerTensor *start = mer_tape_input(tape, 2, agent->habit->shape, agent->first_habit);
    MerTensor *learned = mer_tensor_sub(tape, agent->habit, start);
    logits = mer_tensor_add(tape, logits, mer_tensor_matmul(tape, now, learned));
    return mer_tensor_add(tape, mer_heads_share(tape, &agent->heads, logits),
                          mer_tensor_matmul(tape, now, start));
}

/* Log-probabilities of (B, total) logits, with what `columns` add to them. */
static MerTensor *finish_heads(MerTape *tape, const MerAgent *agent, MerTensor *logits, int rows,
                               const int *columns)
{
    if (agent->later != NULL && columns != NULL) {
        logits = mer_tensor_add(tape, logits,
                                mer_heads_later(tape, &agent->heads, agent->later, rows, columns));
    }
    return mer_heads_log_softmax(tape, &agent->heads, logits);
}

MerAgentOutput mer_agent_run(MerTeam *team, const MerAgent *agent, int rows, const float *seen,
                             const int *columns)
{
    MerTape       *tape = team->tape;
    MerAgentOutput out = {NULL, NULL};
    bool           is_shared = agent->heads.shares != NULL;
    if (agent->logits != NULL) {
        MerTensor *row =
            is_shared ? mer_heads_share(tape, &agent->heads, agent->logits) : agent->logits;
        if (agent->later != NULL) {
            out.log_probabilities =
                finish_heads(tape, agent, repeat(tape, row, rows), rows, columns);
            return out;
        }
        row = mer_heads_log_softmax(tape, &agent->heads, row);
        out.log_probabilities = repeat(tape, row, rows);
        return out;
    }
    MerTensor *x = mer_tape_input(tape, 2, (int[]){rows, agent->observation}, seen);
    x = run_trunk(tape, &agent->trunk, x);
    MerTensor *logits = mer_linear_run(tape, &agent->policy, x, MER_LINEAR);
    if (agent->habit != NULL) {
        logits = add_habit(team, agent, logits, rows, seen);
    } else if (is_shared) {
        logits = mer_heads_share(tape, &agent->heads, logits);
    }
    out.log_probabilities = finish_heads(tape, agent, logits, rows, columns);
    out.value = agent->value.w != NULL ? mer_linear_run(tape, &agent->value, x, MER_LINEAR) : NULL;
    return out;
}

MerTensor *mer_critic_run(MerTeam *team, int rows, const float *seen)
{
    MerTensor *x = mer_tape_input(team->tape, 2, (int[]){rows, team->critic.observation}, seen);
    return mer_linear_run(team->tape, &team->critic.value,
                          run_trunk(team->tape, &team->critic.trunk, x), MER_LINEAR);
}

/* What one lane shows an agent (-1: the critic): features, then the given knobs of its last point (NULL:
 * all of them), one-hot. What is not for this agent's eyes is 0. Gives where the row ends. */
static float *write_row(const MerTeam *team, int lane, int agent, int count, const int *knobs,
                        float *row)
{
    const MerTeamSpec *spec = &team->spec;
    memcpy(row, team->features + (int64_t)lane * spec->feature_count,
           (size_t)spec->feature_count * sizeof *row);
    for (int f = 0; spec->viewer != NULL && agent >= 0 && f < spec->feature_count; f++) {
        row[f] = spec->viewer[f] < 0 || spec->viewer[f] == agent ? row[f] : 0;
    }
    row += spec->feature_count;
    for (int i = 0; i < count; i++) {
        int knob = knobs != NULL ? knobs[i] : i;
        int choice = team->last[(int64_t)lane * spec->knob_count + knob];
        memset(row, 0, (size_t)spec->choices[knob] * sizeof *row);
        if (choice >= 0) {
            row[choice] = 1;
        }
        row += spec->choices[knob];
    }
    return row;
}

/* Of (lanes, 1); NULL: there are none. */
static void keep_values(const MerTensor *from, int lanes, double *values)
{
    for (int lane = 0; from != NULL && lane < lanes; lane++) {
        values[lane] = from->data[lane];
    }
}

/* Everybody looks at all lanes at once. */
static void look(MerTeam *team)
{
    const MerTeamSpec *spec = &team->spec;
    int                lanes = spec->lanes;
    int64_t            base = (int64_t)team->step * lanes;
    mer_tape_record(team->tape, false);
    for (int a = 0; a < spec->agent_count; a++) {
        MerAgent *agent = &team->agents[a];
        float    *seen = agent->seen + base * agent->observation, *row = seen;
        mer_tape_reset(team->tape);
        for (int lane = 0; lane < lanes; lane++) {
            row = write_row(team, lane, a, agent->heads.count, agent->knobs, row);
        }
        MerAgentOutput out = mer_agent_run(team, agent, lanes, seen, NULL);
        memcpy(agent->now, out.log_probabilities->data,
               (size_t)out.log_probabilities->size * sizeof(float));
        keep_values(out.value, lanes, agent->values + base);
    }
    if (spec->is_central) {
        float *seen = team->critic.seen + base * team->critic.observation, *row = seen;
        mer_tape_reset(team->tape);
        for (int lane = 0; lane < lanes; lane++) {
            row = write_row(team, lane, -1, spec->knob_count, NULL, row);
        }
        keep_values(mer_critic_run(team, lanes, seen), lanes, team->critic.values + base);
    }
    mer_tape_record(team->tape, true);
}

/* Log-probabilities of the choices that follow the present ones by habit alone, as at the start. */
static void write_habitual(const MerAgent *agent, const int *point, float *log_probabilities)
{
    for (int h = 0; h < agent->heads.count; h++) {
        int          first = agent->heads.first[h], end = agent->heads.first[h + 1];
        const float *logits =
            agent->first_habit + (int64_t)(first + point[agent->knobs[h]]) * agent->heads.total;
        double total = 0;
        for (int c = first; c < end; c++) {
            total += exp(logits[c]);
        }
        for (int c = first; c < end; c++) {
            log_probabilities[c] = logits[c] - (float)log(total);
        }
    }
}

static void choose(MerAgent *agent, MerRng *rng, const float *now, int64_t row, int *point)
{
    int *columns = agent->columns + row * agent->heads.count;
    if (agent->later != NULL && now != agent->given) {
        mer_heads_sample_joint(&agent->heads, now, agent->later->data, rng, columns, agent->given);
        now = agent->given;
    } else { /* by habit heads are independent, as they were at the start */
        mer_heads_sample(&agent->heads, now, rng, columns);
    }
    for (int h = 0; h < agent->heads.count; h++) {
        point[agent->knobs[h]] = columns[h] - agent->heads.first[h];
        agent->old[row * agent->heads.count + h] = now[columns[h]];
    }
}

void mer_team_move(MerTeam *team, MerRng *rng, int lane, const bool *acting, bool is_by_habit,
                   int *point)
{
    if (!team->is_ready) {
        look(team);
        team->is_ready = true;
    }
    int64_t row = (int64_t)team->step * team->spec.lanes + lane;
    for (int a = 0; a < team->spec.agent_count; a++) {
        MerAgent *agent = &team->agents[a];
        agent->acted[row] = acting == NULL || acting[a];
        if (agent->acted[row]) {
            float *now = agent->now + (int64_t)lane * agent->heads.total;
            if (is_by_habit) {
                write_habitual(agent, point, agent->given);
            }
            choose(agent, rng, is_by_habit ? agent->given : now, row, point);
        }
    }
}

void mer_team_stand(MerTeam *team, int lane, const int *point)
{
    memcpy(team->last + (int64_t)lane * team->spec.knob_count, point,
           (size_t)team->spec.knob_count * sizeof *point);
}

void mer_team_act(MerTeam *team, MerRng *rng, int lane, int *point)
{
    mer_team_move(team, rng, lane, NULL, false, point);
    mer_team_stand(team, lane, point);
}

void mer_team_see(MerTeam *team, int lane, const float *features)
{
    int64_t count = team->spec.feature_count;
    memcpy(team->features + lane * count, features, (size_t)count * sizeof *features);
}

void mer_team_rewind(MerTeam *team)
{
    memset(team->ends, 0, (size_t)mer_team_rows(team) * sizeof *team->ends);
    team->step = 0;
    team->is_ready = false;
}

void mer_team_end(MerTeam *team, int lane)
{
    team->ends[(int64_t)team->step * team->spec.lanes + lane] = true;
}

bool mer_team_step(MerTeam *team)
{
    team->step++;
    team->is_ready = false;
    return team->step == team->spec.unroll;
}

MerStatus mer_team_status(const MerTeam *team, MerError *error)
{
    return mer_tape_status(team->tape, error);
}

double mer_team_entropy(const MerTeam *team)
{
    return team->entropy;
}

/* The rows an agent chose in (NULL: all), shuffled for PPO; gives their number. */
static int fill_order(MerTeam *team, const MerAgent *agent, MerRng *rng)
{
    int count = 0;
    for (int i = 0; i < mer_team_rows(team); i++) {
        if (agent == NULL || agent->acted[i]) {
            team->order[count++] = i;
        }
    }
    if (team->spec.algorithm == MER_ALGORITHM_PPO) {
        mer_rng_shuffle(rng, team->order, count);
    }
    return count;
}

static void estimate(MerTeam *team, const double *rewards, const double *values)
{
    const MerTeamSpec *spec = &team->spec;
    int                rows = mer_team_rows(team);
    if (values != NULL) {
        mer_gae(spec->unroll, spec->lanes, rewards, values, team->ends, spec->discount,
                spec->lambda, team->advantages, team->returns);
    } else {
        for (int i = 0; i < rows; i++) {
            team->advantages[i] = rewards[i] - team->baseline;
        }
    }
    if (spec->is_standardised) {
        mer_standardise(team->advantages, rows);
    }
}

static void move_baseline(MerTeam *team, const double *rewards)
{
    double mean = 0;
    for (int i = 0; i < mer_team_rows(team); i++) {
        mean += rewards[i] / mer_team_rows(team);
    }
    double decay = team->has_baseline ? team->spec.baseline_decay : 0;
    team->baseline = decay * team->baseline + (1 - decay) * mean;
    team->has_baseline = true;
}

/* Of the critic, if `agent` is NULL. */
static void run_epochs(MerTeam *team, MerAgent *agent, double entropy, MerRng *rng)
{
    const MerTeamSpec *spec = &team->spec;
    bool               is_ppo = spec->algorithm == MER_ALGORITHM_PPO;
    for (int e = 0; e < (is_ppo ? spec->epochs : 1); e++) {
        int rows = fill_order(team, agent, rng), parts = is_ppo ? spec->minibatches : 1;
        parts = parts > rows ? rows : parts;
        for (int p = 0; p < parts; p++) {
            int first = (int)((int64_t)rows * p / parts),
                end = (int)((int64_t)rows * (p + 1) / parts);
            int count = spec->batch > 0 && spec->batch < end - first ? spec->batch : end - first;
            if (agent != NULL) {
                mer_agent_update(team, agent, count, team->order + first, entropy);
            } else {
                mer_critic_update(team, count, team->order + first);
            }
        }
    }
}

void mer_team_learn(MerTeam *team, const double *rewards, double progress, MerRng *rng)
{
    const MerTeamSpec *spec = &team->spec;
    double             entropy = spec->entropy + (spec->entropy_end - spec->entropy) * progress;
    assert(team->step == spec->unroll);
    look(team); /* what follows the last step, for the critics */
    if (!has_critic(team)) {
        move_baseline(team, rewards);
    }
    team->entropy = 0;
    for (int a = 0; a < spec->agent_count; a++) {
        MerAgent *agent = &team->agents[a];
        estimate(team, rewards,
                 !has_critic(team)  ? NULL
                 : spec->is_central ? team->critic.values
                                    : agent->values);
        run_epochs(team, agent, entropy, rng);
    }
    if (spec->is_central) {
        estimate(team, rewards, team->critic.values);
        run_epochs(team, NULL, 0, rng);
    }
    team->entropy /= spec->knob_count;
    mer_team_rewind(team);
}
