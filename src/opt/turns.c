/* Lanes, turns, and what the agents learn from them. */
#include "opt/turns.h"

#include "opt/points.h"
#include "space/positions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 20 };        /* of a move before a point that was tried already is asked for again */
enum { MEETINGS = 10 };     /* per round: the worst lane goes on from the best */
enum { JUDGE_EARLY = 500 }; /* trials during which the critic trains most */
enum { FIRST_ROUND = 20000 }; /* trials, when only a time is given */

/* Staying where one is, and near it where choices are ordered, is likelier at first. A head alone
 * in its agent must move; of several, one and `more` do on average. */
static const float *make_habit(MerArena *arena, bool is_ordered, int choices, int heads,
                               double more, double near)
{
    float *habit = MER_ARRAY(arena, float, choices *choices);
    double moved = fmin(1, (1 + more) / heads);
    for (int now = 0; now < choices; now++) {
        double others = 0;
        for (int next = 0; next < choices; next++) {
            double logit = is_ordered ? -near * abs(next - now) : 0;
            habit[now * choices + next] = (float)logit;
            others += next == now ? 0 : exp(logit);
        }
        double stay = moved < 1 ? (1 - moved) / moved * others : 0.02 * others;
        habit[now * choices + now] = (float)log(fmax(stay, 1e-6));
    }
    return habit;
}

const float *const *mer_turns_habits(const MerTurns *turns, int agent_count, const int *owner,
                                     const int *choices, double stay, double near)
{
    const MerSearch *search = turns->agents->search;
    int              knobs = search->space->knob_count;
    const float    **habits = MER_ARRAY(search->arena, const float *, knobs + 1);
    int             *heads = MER_ARRAY(search->arena, int, agent_count + 1);
    for (int k = 0; k < knobs; k++) {
        heads[owner[k]]++;
    }
    for (int k = 0; k < knobs; k++) {
        bool is_ordered = search->space->knobs[k].kind != MER_KNOB_CATEGORY;
        habits[k] = make_habit(search->arena, is_ordered, choices[k], heads[owner[k]], stay, near);
    }
    return habits;
}

static void plan_meeting(MerTurns *turns)
{
    turns->next_meeting = turns->done + turns->round_length / MEETINGS + 1;
}

void mer_turns_open(MerTurns *turns, MerAgents *agents, const MerTurnOptions *options)
{
    const MerSearch *search = agents->search;
    MerElites        elites = turns->elites; /* of earlier tasks */
    mer_visited_clear(&turns->tried);
    MerPointCritic *critic = turns->critic;
    *turns = (MerTurns){.agents = agents, .options = *options, .elites = elites, .critic = critic};
    int64_t parts = ((int64_t)1 << options->rounds) - 1; /* 1 + 2 + 4 + ... */
    turns->round_length = search->budget == INT64_MAX ? FIRST_ROUND : search->budget / parts + 1;
    plan_meeting(turns);
    turns->heads = MER_ARRAY(search->arena, int, search->space->knob_count + 1);
    turns->lanes = MER_ARRAY(search->arena, MerChain, agents->options.lanes);
    for (int i = 0; i < agents->options.lanes; i++) {
        turns->lanes[i].now = MER_ARRAY(search->arena, MerIndex, search->space->knob_count + 1);
        turns->lanes[i].energy = INFINITY;
    }
    if (options->candidates > 1) {
        turns->critic = critic != NULL
                            ? critic
                            : mer_point_critic_new(MER_POINT_CRITIC_WIDTH, options->critic_rate);
        turns->candidates =
            MER_ARRAY(search->arena, MerIndex, options->candidates * search->space->knob_count + 1);
        mer_point_critic_begin(turns->critic, search->space, search->rng);
    }
    mer_elites_begin(&turns->elites, search->space, search->arena, (int)options->transfer);
}

/* The lane stands at the best point of all. */
static void start_from_best(MerTurns *turns, MerChain *lane)
{
    const MerEliteTask *best = turns->elites.now;
    if (best->count > 0) {
        mer_point_copy(turns->agents->search->space, lane->now, best->points);
        lane->energy = mer_log_score(best->scores[0]);
    }
}

/* Where the lanes stand when the agents look next. */
static void settle(MerTurns *turns)
{
    MerAgents *agents = turns->agents;
    for (int i = 0; i < agents->options.lanes; i++) {
        MerChain *lane = &turns->lanes[i];
        if (lane->energy == INFINITY && lane->tries >= turns->options.patience) {
            start_from_best(turns, lane);
        }
        if (lane->energy < INFINITY) {
            mer_agents_heads(agents, lane->now, turns->heads);
            mer_team_stand(agents->team, i, turns->heads);
        }
    }
}

void mer_turns_divide(MerTurns *turns, int agent_count, const int *owner)
{
    MerAgents *agents = turns->agents;
    agents->habits = mer_turns_habits(turns, agent_count, owner, agents->choices,
                                      turns->options.stay, turns->options.near);
    turns->agent_count = agent_count;
    turns->owner = owner;
    turns->acting = MER_ARRAY(agents->search->arena, bool, agent_count + 1);
    mer_agents_divide(agents, agent_count, owner);
    if (agents->team != NULL) {
        settle(turns);
    }
}

static double temperature(const MerTurns *turns)
{
    double progress = (double)(turns->done - turns->round_start) / (double)turns->round_length;
    return turns->options.hot * pow(turns->options.cold / turns->options.hot, fmin(1, progress));
}

/* Every knob is as likely as any other to have its agent act; now and then two or more do. */
static void choose_actors(MerTurns *turns)
{
    MerRng *rng = turns->agents->search->rng;
    int     knobs = turns->agents->search->space->knob_count;
    memset(turns->acting, 0, (size_t)turns->agent_count * sizeof *turns->acting);
    do {
        turns->acting[turns->owner[mer_rng_below(rng, knobs)]] = true;
    } while (mer_rng_unit(rng) < turns->options.again);
}

/* One point that the acting agents would go to; false: it has been tried already. */
static bool draw(MerTurns *turns, int lane, bool is_by_habit, MerIndex *point)
{
    MerAgents *agents = turns->agents;
    choose_actors(turns);
    mer_agents_heads(agents, turns->lanes[lane].now, point);
    mer_team_move(agents->team, agents->search->rng, lane, turns->acting, is_by_habit, point);
    mer_agents_spread(agents, point, point);
    return !mer_visited_has(&turns->tried, point, agents->search->space->knob_count);
}

/* The critic is worth most while little is known, and misses what it has never seen: its share of
 * the moves falls over the first fifth of the budget. */
static double trust(const MerTurns *turns)
{
    double progress = fmin(1, 5 * mer_agents_progress(turns->agents));
    return turns->options.trust + (turns->options.trust_end - turns->options.trust) * progress;
}

/* Of several moves that were not tried yet, the one that the critic thinks most of. */
static void move(MerTurns *turns, int lane, MerIndex *point)
{
    MerAgents      *agents = turns->agents;
    MerRng         *rng = agents->search->rng;
    const MerSpace *space = agents->search->space;
    int             count = 0;
    bool            is_by_habit = mer_rng_unit(rng) < turns->options.explore;
    bool            is_picked = turns->critic != NULL && mer_point_critic_is_ready(turns->critic) &&
                     mer_rng_unit(rng) < trust(turns);
    int wanted = is_picked ? (int)turns->options.candidates : 1;
    for (int i = 0; i < DRAWS + wanted && count < wanted; i++) {
        if (draw(turns, lane, is_by_habit, point)) {
            if (is_picked) {
                mer_point_copy(space, mer_point_at(space, turns->candidates, count), point);
            }
            count++;
        }
    }
    if (is_picked && count > 0) {
        int best = mer_point_critic_choose(turns->critic, count, turns->candidates);
        mer_point_copy(space, point, mer_point_at(space, turns->candidates, best));
    }
    mer_visited_add(&turns->tried, point, space->knob_count);
}

static void propose(MerTurns *turns, int index, MerIndex *point)
{
    MerAgents      *agents = turns->agents;
    MerChain       *lane = &turns->lanes[index];
    const MerSpace *space = agents->search->space;
    const MerIndex *guess = mer_elites_guess(&turns->elites);
    lane->is_move = guess == NULL && lane->energy < INFINITY;
    if (lane->is_move) {
        move(turns, index, point);
        return;
    }
    memset(turns->acting, 0, (size_t)turns->agent_count * sizeof *turns->acting);
    mer_team_move(agents->team, agents->search->rng, index, turns->acting, false, point);
    if (guess != NULL) {
        mer_point_copy(space, point, guess);
    } else {
        mer_space_sample(space, agents->search->rng, point);
        lane->tries++;
    }
    mer_visited_add(&turns->tried, point, space->knob_count);
}

int mer_turns_ask(MerTurns *turns, MerProposal *proposals, int capacity)
{
    MerAgents *agents = turns->agents;
    int        first = agents->now.lane, count = mer_agents_take_lanes(agents, capacity);
    for (int i = 0; i < count && agents->team != NULL; i++) {
        propose(turns, first + i, proposals[i].point);
    }
    return count;
}

/* How much better than where the lane stood, within -1 .. 1; something infeasible is as bad as can
 * be. */
static double difference(const MerChain *lane, double energy)
{
    return energy < INFINITY ? fmax(-1, fmin(1, 5 * (lane->energy - energy))) : -1;
}

/* Metropolis rule. */
static void go(MerTurns *turns, MerChain *lane, const MerIndex *point, double energy)
{
    double uphill = energy - lane->energy;
    bool is_taken = energy < INFINITY && (uphill <= 0 || mer_rng_unit(turns->agents->search->rng) <
                                                             exp(-uphill / temperature(turns)));
    if (is_taken) {
        mer_point_copy(turns->agents->search->space, lane->now, point);
        lane->energy = energy;
    }
}

static void tell_one(MerTurns *turns, const MerTrial *trial)
{
    MerAgents *agents = turns->agents;
    int        index = agents->now.told++, lanes = (int)agents->options.lanes;
    MerChain  *lane = &turns->lanes[index];
    double     energy = mer_log_score(trial->score);
    float      features[MER_AGENT_FEATURES];
    mer_agents_count(agents, trial->score);
    mer_agents_features(agents, trial, features);
    agents->rewards[agents->now.step * lanes + index] =
        lane->is_move ? difference(lane, energy) : 0;
    mer_elites_offer(&turns->elites, trial->point, trial->score);
    if (turns->elites.guess_count > 0 && energy < INFINITY) {
        agents->now.is_checked = true; /* what earlier tasks taught works here: nothing is sparse */
    }
    go(turns, lane, trial->point, energy);
    mer_team_see(agents->team, index, features);
    if (turns->critic != NULL) {
        mer_point_critic_see(turns->critic, trial);
    }
    turns->done++;
}

static void end_step(MerTurns *turns)
{
    MerAgents *agents = turns->agents;
    agents->now.lane = agents->now.told = 0;
    agents->now.step++;
    settle(turns);
    if (turns->critic != NULL) {
        mer_point_critic_train(turns->critic, turns->done < JUDGE_EARLY ? 6 : 1,
                               agents->search->rng);
    }
    if (mer_team_step(agents->team)) {
        mer_team_learn(agents->team, agents->rewards, mer_agents_progress(agents),
                       agents->search->rng);
        agents->now.step = 0;
    }
}

/* The worst lane goes on from the best point, and in a new round all do. */
static void keep_time(MerTurns *turns)
{
    int lanes = (int)turns->agents->options.lanes, worst = 0;
    if (turns->done - turns->round_start >= turns->round_length) {
        turns->round_start = turns->done;
        turns->round_length *= 2;
        for (int i = 0; i < lanes; i++) {
            start_from_best(turns, &turns->lanes[i]);
        }
        plan_meeting(turns);
    } else if (turns->done >= turns->next_meeting) {
        for (int i = 1; i < lanes; i++) {
            worst = turns->lanes[i].energy > turns->lanes[worst].energy ? i : worst;
        }
        start_from_best(turns, &turns->lanes[worst]);
        plan_meeting(turns);
    }
}

void mer_turns_tell(MerTurns *turns, const MerTrial *trials, int count)
{
    MerAgents *agents = turns->agents;
    for (int i = 0; i < count && agents->team != NULL; i++) {
        if (trials[i].warm) { /* the lanes start at the best of them, the critic has seen them */
            mer_elites_offer(&turns->elites, trials[i].point, trials[i].score);
            turns->lanes[i % agents->options.lanes].tries = turns->options.patience;
            if (turns->critic != NULL) {
                mer_point_critic_see(turns->critic, &trials[i]);
            }
            mer_visited_add(&turns->tried, trials[i].point, agents->search->space->knob_count);
        } else {
            tell_one(turns, &trials[i]);
        }
    }
    if (agents->team == NULL) {
        agents->now.lane = 0;
    } else if (agents->now.told == agents->options.lanes) {
        keep_time(turns);
        end_step(turns);
    }
}

void mer_turns_close(MerTurns *turns)
{
    mer_visited_clear(&turns->tried);
    mer_point_critic_free(turns->critic);
    turns->critic = NULL;
}

static const int64_t LONGEST = INT64_MAX / 4; /* so that sums and doubled rounds stay numbers */

static void keep_lanes(MerTurns *turns, MerStream *stream)
{
    const MerAgents *agents = turns->agents;
    const MerSpace  *space = agents->search->space;
    for (int i = 0; i < agents->options.lanes && !stream->is_broken; i++) {
        MerChain *lane = &turns->lanes[i];
        mer_points_keep(space, lane->now, 1, stream);
        lane->energy = mer_stream_real(stream, lane->energy);
        lane->tries = mer_stream_int(stream, lane->tries, 0, LONGEST);
        lane->is_move = mer_stream_int(stream, lane->is_move, 0, 1);
    }
    mer_stream_bytes(stream, agents->rewards, sizeof *agents->rewards,
                     agents->options.lanes * agents->options.unroll);
}

static void keep_times(MerTurns *turns, MerStream *stream)
{
    turns->done = mer_stream_int(stream, turns->done, 0, LONGEST);
    turns->round_start = mer_stream_int(stream, turns->round_start, 0, turns->done);
    turns->round_length = mer_stream_int(stream, turns->round_length, 1, LONGEST);
    turns->next_meeting = mer_stream_int(stream, turns->next_meeting, 0, LONGEST);
}

static void keep(MerTurns *turns, MerKeep what, MerStream *stream)
{
    if (what == MER_KEEP_POLICY) {
        mer_elites_keep(&turns->elites, stream);
        return;
    }
    keep_times(turns, stream);
    keep_lanes(turns, stream);
    mer_visited_keep(&turns->tried, stream);
    mer_elites_keep_all(&turns->elites, turns->agents->search->space, stream);
}

MerStatus mer_turns_save(MerTurns *turns, MerKeep what, FILE *file, MerError *error)
{
    MerStream stream = {.file = file, .is_saving = true};
    keep(turns, what, &stream);
    mer_stream_int(&stream, turns->critic != NULL, 0, 1);
    MerStatus status = mer_stream_status(&stream, "the state of the turns", error);
    return status == MER_OK && turns->critic != NULL
               ? mer_point_critic_keep(turns->critic, &stream, error)
               : status;
}

/* A saved critic that nobody wants any more is read over. */
static MerStatus load_critic(MerTurns *turns, MerKeep what, MerStream *stream, MerError *error)
{
    const MerSearch *search = turns->agents->search;
    bool             is_wanted = turns->critic != NULL;
    MerPointCritic  *critic =
        is_wanted ? turns->critic
                   : mer_point_critic_new(MER_POINT_CRITIC_WIDTH, turns->options.critic_rate);
    MerStatus status = mer_point_critic_keep(critic, stream, error);
    if (!is_wanted) {
        mer_point_critic_free(critic);
    } else if (status == MER_OK && what == MER_KEEP_POLICY) {
        mer_point_critic_begin(critic, search->space, search->rng);
    } else if (status == MER_OK) {
        status = mer_point_critic_resume(critic, search->space, error);
    }
    return status;
}

MerStatus mer_turns_load(MerTurns *turns, MerKeep what, FILE *file, MerError *error)
{
    const MerSearch *search = turns->agents->search;
    MerStream        stream = {.file = file};
    keep(turns, what, &stream);
    bool      has_critic = mer_stream_int(&stream, 0, 0, 1);
    MerStatus status = mer_stream_status(&stream, "the saved state of the turns", error);
    if (status == MER_OK && what == MER_KEEP_POLICY) {
        mer_elites_begin(&turns->elites, search->space, search->arena,
                         (int)turns->options.transfer);
    }
    return status == MER_OK && has_critic ? load_critic(turns, what, &stream, error) : status;
}
