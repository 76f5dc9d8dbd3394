/* A team of agents behind ask and tell. */
#include "opt/agents.h"

#include "mercator/view.h"
#include "opt/failure.h"
#include "space/alike.h"

#include <math.h>
#include <string.h>

enum { MOST_JOINT = 4096 }; /* choices of all knobs: joint heads have a table of their pairs */

/* A head's choice among ranges becomes a point of the range, drawn evenly. */
void mer_agents_spread(const MerAgents *agents, const int *heads, MerIndex *point)
{
    const MerSpace *space = agents->search->space;
    for (int k = 0; k < space->knob_count; k++) {
        point[k] = heads[k];
        if (space->knobs[k].choices > MER_AGENT_MOST_CHOICES) {
            double place = (heads[k] + mer_rng_unit(agents->search->rng)) / MER_AGENT_MOST_CHOICES;
            point[k] = mer_knob_index(&space->knobs[k], place);
        }
    }
}

void mer_agents_heads(const MerAgents *agents, const MerIndex *point, int *heads)
{
    const MerSpace *space = agents->search->space;
    for (int k = 0; k < space->knob_count; k++) {
        int64_t choices = space->knobs[k].choices;
        heads[k] = choices > MER_AGENT_MOST_CHOICES
                       ? (int)(point[k] * (int64_t)MER_AGENT_MOST_CHOICES / choices)
                       : point[k];
    }
}

static MerStatus check_joint(const MerAgents *agents, MerError *error)
{
    int64_t total = 0;
    for (int k = 0; k < agents->search->space->knob_count; k++) {
        total += agents->choices[k];
    }
    if (agents->options.heads == MER_HEADS_JOINT && total > MOST_JOINT) {
        return mer_error_set(error, MER_UNSUPPORTED,
                             "heads=joint: the knobs have %lld choices in all, expected at most "
                             "%d; try heads=independent",
                             (long long)total, MOST_JOINT);
    }
    return MER_OK;
}

MerStatus mer_agents_open(MerAgents *agents, const MerSearch *search,
                          const MerAgentOptions *options, MerAlgorithm algorithm, MerError *error)
{
    int64_t rows = options->lanes * options->unroll;
    *agents = (MerAgents){.search = search, .options = *options, .algorithm = algorithm};
    agents->now.reward = mer_reward_make((MerRewardForm)options->reward, options->normalise);
    agents->scores = MER_ARRAY(search->arena, double, rows);
    agents->rewards = MER_ARRAY(search->arena, double, rows);
    agents->choices = MER_ARRAY(search->arena, int, search->space->knob_count + 1);
    agents->is_ordered = MER_ARRAY(search->arena, bool, search->space->knob_count + 1);
    agents->now.first_best = agents->now.best = INFINITY;
    for (int k = 0; k < search->space->knob_count; k++) {
        int choices = search->space->knobs[k].choices;
        agents->choices[k] = choices < MER_AGENT_MOST_CHOICES ? choices : MER_AGENT_MOST_CHOICES;
        agents->is_ordered[k] = search->space->knobs[k].kind != MER_KNOB_CATEGORY;
    }
    return check_joint(agents, error);
}

MerTeamSpec mer_agents_spec(const MerAgentOptions *o)
{
    return (MerTeamSpec){
        .backend = &mer_backend_dnnl,
        .heads = (MerHeadForm)o->heads,
        .lanes = (int)o->lanes,
        .unroll = (int)o->unroll,
        .width = (int)o->width,
        .depth = (int)o->depth,
        .epochs = (int)o->epochs,
        .minibatches = (int)o->minibatches,
        .batch = (int)o->batch,
        .rate = o->rate,
        .clip = o->clip,
        .value_cost = o->value_cost,
        .grad_norm = o->grad_norm,
        .discount = o->discount,
        .lambda = o->lambda,
        .adam_epsilon = o->adam_epsilon,
        .entropy = o->entropy,
        .entropy_end = o->entropy_end,
        .baseline_decay = o->baseline_decay,
        .is_central = o->central,
        .is_ratio_per_knob = o->ratio == 1,
        .is_standardised = o->standardise,
    };
}

MerTeam *mer_agents_team(const MerAgents *agents, int agent_count, const int *owner,
                         const int *choices, const float *const *habits)
{
    MerTeamSpec spec = mer_agents_spec(&agents->options);
    spec.algorithm = agents->algorithm;
    spec.knob_count = agents->search->space->knob_count;
    spec.agent_count = agent_count;
    spec.choices = choices;
    spec.owner = owner;
    spec.is_ordered = agents->is_ordered;
    spec.habits = habits;
    spec.feature_count = MER_AGENT_FEATURES;
    return mer_team_new(&spec, agents->search->rng);
}

void mer_agents_divide(MerAgents *agents, int agent_count, const int *owner)
{
    if (agents->search->space->knob_count == 0) {
        return; /* one point: nothing to learn */
    }
    MerTeam *team = mer_agents_team(agents, agent_count, owner, agents->choices, agents->habits);
    if (agents->team != NULL) {
        mer_team_copy_heads(team, agents->team);
        mer_team_free(agents->team);
    }
    agents->team = team;
    agents->now.lane = agents->now.told = agents->now.step = 0;
}

/* The space of a task is gone when the next one begins. */
static void keep_knobs(MerAgents *agents)
{
    const MerSpace *space = agents->search->space;
    agents->knob_count = space->knob_count;
    agents->knobs = MER_ARRAY(agents->search->arena, MerKnob, space->knob_count + 1);
    for (int k = 0; k < space->knob_count; k++) {
        agents->knobs[k] = mer_knob_copy(&space->knobs[k], agents->search->arena);
    }
}

MerStatus mer_agents_open_one(MerAgents *agents, const MerSearch *search,
                              const MerAgentOptions *options, MerAlgorithm algorithm,
                              MerError *error)
{
    MER_TRY(mer_agents_open(agents, search, options, algorithm, error));
    if (options->transfer > 0) {
        keep_knobs(agents);
    }
    int *owner = MER_ARRAY(search->arena, int, search->space->knob_count + 1);
    mer_agents_divide(agents, 1, owner);
    return MER_OK;
}

/* For every choice of a head here, the head's choice there that means the same. */
static int *match_choices(const MerAgents *agents, int k, const MerKnob *there, int there_choices)
{
    const MerKnob *here = &agents->search->space->knobs[k];
    int            choices = agents->choices[k];
    int           *matched = MER_ARRAY(agents->search->arena, int, choices);
    for (int c = 0; c < choices; c++) {
        MerIndex index = choices == here->choices ? c : mer_knob_index(here, (c + 0.5) / choices);
        MerIndex old = mer_knob_translate(here, index, there);
        matched[c] = there_choices == there->choices
                         ? old
                         : (int)(mer_knob_position(there, old) * there_choices);
    }
    return matched;
}

/* What a lone agent learned on one task, as the start on the next: the policy of an earlier layer, said in the
 * knobs of the present one. */
static void carry(MerAgents *agents, const MerAgents *before)
{
    int         count = agents->search->space->knob_count;
    int        *knob = MER_ARRAY(agents->search->arena, int, count + 1);
    const int **choice = MER_ARRAY(agents->search->arena, const int *, count + 1);
    for (int k = 0; k < count; k++) {
        knob[k] =
            mer_knob_find(before->knobs, before->knob_count, &agents->search->space->knobs[k], k);
        if (knob[k] >= 0) {
            choice[k] = match_choices(agents, k, &before->knobs[knob[k]], before->choices[knob[k]]);
        }
    }
    mer_team_carry(agents->team, before->team, &(MerTeamMatch){knob, choice},
                   agents->options.transfer);
}

MerStatus mer_agents_next_task(void *state, const MerSearch *search, MerError *error)
{
    MerAgents      *agents = state;
    MerAgents       before = *agents;
    MerAgentOptions options = before.options;
    MerStatus       status = mer_agents_open_one(agents, search, &options, before.algorithm, error);
    if (agents->team != NULL && before.team != NULL && before.knobs != NULL) {
        carry(agents, &before);
    }
    mer_team_free(before.team);
    return status;
}

int mer_agents_take_lanes(MerAgents *agents, int capacity)
{
    MerError error;
    if (agents->team != NULL && mer_team_status(agents->team, &error) != MER_OK) {
        mer_note_failure(agents->search->notes, &error);
        return 0;
    }
    int left = (int)agents->options.lanes - agents->now.lane;
    int count = left < capacity ? left : capacity;
    agents->now.lane += count;
    return count;
}

int mer_agents_ask(void *state, MerProposal *proposals, int capacity)
{
    MerAgents *agents = state;
    int        first = agents->now.lane, count = mer_agents_take_lanes(agents, capacity);
    for (int i = 0; i < count && agents->team != NULL; i++) {
        mer_team_act(agents->team, agents->search->rng, first + i, proposals[i].point);
        mer_agents_spread(agents, proposals[i].point, proposals[i].point);
    }
    return count;
}

static double log_size(double value)
{
    return value > 0 ? log(value) : value < 0 ? -log(-value) : 0;
}

/* Running mean 0 and deviation 1 for every number; what is unknown is 0. */
void mer_agents_features(MerAgents *agents, const MerTrial *trial, float *features)
{
    memset(features, 0, MER_AGENT_FEATURES * sizeof *features);
    if (!isfinite(trial->score)) {
        return;
    }
    features[0] = 1;
    for (int f = 1; f < MER_AGENT_FEATURES; f++) {
        double value = f == 1                ? trial->score
                       : trial->cost != NULL ? trial->cost->value[f - 2]
                                             : NAN;
        if (isfinite(value)) {
            mer_running_add(&agents->now.seen[f], log_size(value));
            features[f] = (float)mer_running_normal(&agents->now.seen[f], log_size(value));
        }
    }
}

static void report_sparse(MerAgents *agents)
{
    char text[200];
    bool is_empty = agents->now.feasible == 0;
    snprintf(text, sizeof text, "%s in the first %lld samples (%.3g %% feasible)",
             is_empty ? "no feasible point" : "nothing better than the first batch",
             (long long)agents->now.done,
             100.0 * (double)agents->now.feasible / (double)agents->now.done);
    mer_view_warning(
        agents->search->notes, &(MerView){.id = "sparse_reward", .title = "sparse reward"}, text,
        is_empty ? "larger memories or a smaller layer; warm starts from a search that finds "
                   "feasible points (annealing, gamma)"
                 : "reward=log, a higher entropy, more lanes, or a warm start");
}

static bool is_improving(const MerAgents *agents)
{
    bool is_better = agents->now.later.count > 0 && agents->now.later.mean < agents->now.first.mean;
    return agents->now.best < agents->now.first_best || (agents->now.first.count > 0 && is_better);
}

/* The first sign of failure: nothing to learn from. Looked at once. */
void mer_agents_count(MerAgents *agents, double score)
{
    int64_t batch = agents->options.lanes * agents->options.unroll;
    int64_t after =
        agents->options.sparse_after > 2 * batch ? agents->options.sparse_after : 2 * batch;
    agents->now.done++;
    agents->now.best = score < agents->now.best ? score : agents->now.best;
    if (isfinite(score)) {
        agents->now.feasible++;
        mer_running_add(agents->now.done <= batch ? &agents->now.first : &agents->now.later,
                        log_size(score));
    }
    if (agents->now.done <= batch) {
        agents->now.first_best = agents->now.best;
    }
    if (agents->now.done >= after && !agents->now.is_checked) {
        agents->now.is_checked = true;
        if (agents->now.feasible == 0 || !is_improving(agents)) {
            report_sparse(agents);
        }
    }
}

double mer_agents_progress(const MerAgents *agents)
{
    int64_t budget = agents->search->budget;
    return budget == INT64_MAX ? 0 : fmin(1, (double)agents->now.done / (double)budget);
}

static void end_step(MerAgents *agents)
{
    int lanes = (int)agents->options.lanes;
    agents->now.lane = agents->now.told = 0;
    agents->now.step++;
    if (mer_team_step(agents->team)) {
        mer_reward_batch(&agents->now.reward, agents->scores, lanes * agents->now.step,
                         agents->rewards);
        mer_team_learn(agents->team, agents->rewards, mer_agents_progress(agents),
                       agents->search->rng);
        agents->now.step = 0;
    }
}

void mer_agents_tell(void *state, const MerTrial *trials, int count)
{
    MerAgents *agents = state;
    int        lanes = (int)agents->options.lanes;
    for (int i = 0; i < count && agents->team != NULL; i++) {
        float features[MER_AGENT_FEATURES];
        if (trials[i].warm) {
            continue; /* learning here is from one's own choices */
        }
        mer_agents_count(agents, trials[i].score);
        mer_agents_features(agents, &trials[i], features);
        mer_team_see(agents->team, agents->now.told, features);
        agents->scores[agents->now.step * lanes + agents->now.told++] = trials[i].score;
    }
    if (agents->team == NULL) {
        agents->now.lane = 0;
    } else if (agents->now.told == lanes) {
        end_step(agents);
    }
}

/* Nothing that was read may lead outside of what there is. A state is saved when all that was asked
 * for has been told. */
static bool is_sound(const MerAgents *agents)
{
    const MerAgentsProgress *now = &agents->now;
    const MerAgentOptions   *options = &agents->options;
    bool has_flags = mer_is_flag(&now->is_checked) && mer_is_flag(&now->reward.is_normalised) &&
                     mer_is_flag(&now->reward.has_reference) &&
                     mer_is_flag(&now->reward.has_feasible);
    bool is_counted =
        now->feasible >= 0 && now->feasible <= now->done && now->done <= INT64_MAX / 4;
    return has_flags && is_counted && (int)now->reward.form == options->reward &&
           now->reward.is_normalised == options->normalise && now->lane == now->told &&
           now->told >= 0 && now->told < options->lanes && now->step >= 0 &&
           now->step < options->unroll;
}

void mer_agents_keep(MerAgents *agents, MerStream *stream)
{
    mer_stream_bytes(stream, &agents->now, sizeof agents->now, 1);
    stream->is_broken = stream->is_broken || (!stream->is_saving && !is_sound(agents));
}

static MerStatus keep_all(MerAgents *agents, MerStream *stream, const char *what, MerError *error)
{
    mer_agents_keep(agents, stream);
    mer_stream_bytes(stream, agents->scores, sizeof *agents->scores,
                     agents->options.lanes * agents->options.unroll);
    return mer_stream_status(stream, what, error);
}

MerStatus mer_agents_save(const void *state, MerKeep what, FILE *file, MerError *error)
{
    MerAgents *agents = (MerAgents *)state; /* saving changes nothing */
    MerStream  stream = {.file = file, .is_saving = true};
    if (agents->team == NULL || what == MER_KEEP_POLICY) {
        return agents->team != NULL ? mer_team_save(agents->team, file, error) : MER_OK;
    }
    MER_TRY(keep_all(agents, &stream, "the agents' state", error));
    return mer_team_save_state(agents->team, file, error);
}

MerStatus mer_agents_load(void *state, MerKeep what, FILE *file, MerError *error)
{
    MerAgents *agents = state;
    MerStream  stream = {.file = file};
    if (agents->team == NULL || what == MER_KEEP_POLICY) {
        return agents->team != NULL ? mer_team_load(agents->team, file, error) : MER_OK;
    }
    MER_TRY(keep_all(agents, &stream, "the agents' saved state", error));
    return mer_team_load_state(agents->team, agents->now.step, file, error);
}

void mer_agents_close(void *state)
{
    MerAgents *agents = state;
    mer_team_free(agents->team);
    agents->team = NULL;
}
