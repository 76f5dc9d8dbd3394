/* Multi-agent mapping (after the abstract of arXiv 2507.16249; the details are ours): samples of
 * an initial policy tell which knobs belong together, knobs are clustered, and one PPO agent per
 * cluster searches, all with the same reward and without talking to each other. The samples
 * count against the budget, unless they come from an earlier run. */
#include "opt/marl_inside.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const MerOptimizerClass mer_optimizer_annealing, mer_optimizer_gamma;

enum { MOST_SAMPLES = 20000 };

typedef MerMarlOptions Options;
typedef MerMarl        State;

static const MerOption options[] = {
    MER_CHOICE(form, "turns", "turns|joint",
               "agents change a plan in turns, or all choose a new one together as in the paper"),
    MER_TEXT_AT("agents", agents_wanted, "auto",
                "auto: as many as there are clusters; all: one per knob; or a number"),
    MER_CHOICE(partition, "correlation", MER_PARTITION_CHOICES,
               "what decides which knobs share an agent"),
    MER_CHOICE(distance, "absolute", "absolute|signed",
               "1 - |correlation|, or 1 - correlation: opposite knobs apart"),
    MER_CHOICE(linkage, "average", MER_LINKAGE_CHOICES, "distance between clusters"),
    MER_REAL(threshold, "0.5", 0, 1, "rescaled distance at which the dendrogram is cut"),
    MER_INT(samples, "0", 0, 1e6,
            "trials before the knobs are clustered; 0: a fifth of the budget, at most 20000"),
    MER_CHOICE(initial, "random", "random|latin|annealing|gamma",
               "joint: policy those samples come from"),
    MER_INT(recluster, "0", 0, 1e12,
            "trials after which the best 20 % are clustered anew; 0: never"),
    MER_REAL_AT("hot", turns.hot, "0.2", 1e-12, 1e6,
                "turns: first temperature at which worse plans are gone on from"),
    MER_REAL_AT("cold", turns.cold, "0.001", 1e-12, 1e6, "turns: last temperature"),
    MER_INT_AT("rounds", turns.rounds, "2", 1, 30,
               "turns: times it falls, each twice as long as the last"),
    MER_REAL_AT("again", turns.again, "0.4", 0, 0.99,
                "turns: probability that one more agent acts"),
    MER_REAL_AT("stay", turns.stay, "0.3", 0, 100,
                "turns: knobs beyond one that an agent changes at first, on average"),
    MER_REAL_AT(
        "near", turns.near, "0.3", 0, 100,
        "turns: how much likelier near choices of ordered knobs are at first (logit per step)"),
    MER_REAL_AT(
        "explore", turns.explore, "0.5", 0, 1,
        "turns: share of the moves that follow the first habits instead of what was learned"),
    MER_INT_AT("candidates", turns.candidates, "32", 1, 1e4,
               "turns: moves among which the agents' common critic picks one; 1: no critic"),
    MER_REAL_AT("trust", turns.trust, "0.9", 0, 1,
                "turns: share of the moves that it picks at first"),
    MER_REAL_AT("trust_end", turns.trust_end, "0.3", 0, 1,
                "turns: and from a fifth of the budget on"),
    MER_REAL_AT("judge_rate", turns.critic_rate, "3e-3", 0, 1, "turns: step width of its network"),
    MER_INT_AT("patience", turns.patience, "16", 1, 1e9,
               "turns: random points a lane tries before it starts from the best"),
    MER_INT_AT("transfer", turns.transfer, "24", 0, 1e6,
               "turns: points of earlier tasks that a task tries first"),
    MER_BOOL_AT("central", agents.central, "false",
                "one critic for all agents, which sees all knobs"),
    MER_AGENT_COMMON_OPTIONS("4", "16", "1e-3", "true"),
    MER_AGENT_CRITIC_OPTIONS("1"),
    MER_REAL_AT("discount", agents.discount, "-1", -1, 1,
                "of later rewards; -1: 0.99 in turns, which go on from where they led, and 0 "
                "in the joint form, where every point is an episode of its own"),
    MER_AGENT_PPO_OPTIONS("2", "1"),
    {0}};

static const MerPreset presets[] = {
    {"paper", "form=joint,lanes=8,unroll=8,depth=3,epochs=4,minibatches=4,transfer=0"},
    {"archgym", "form=joint,depth=3,transfer=0," MER_AGENT_ARCHGYM},
    {"bandit", "form=joint,lanes=8,depth=3,epochs=4,minibatches=4,transfer=0," MER_AGENT_BANDIT},
    {NULL, NULL}};

static MerStatus read_agents(const char *text, int *agents, MerError *error)
{
    char *end;
    if (text == NULL || strcmp(text, "auto") == 0) {
        *agents = 0;
        return MER_OK;
    }
    if (strcmp(text, "all") == 0) {
        *agents = INT_MAX;
        return MER_OK;
    }
    long value = strtol(text, &end, 10);
    if (*end != '\0' || value < 1 || value > INT_MAX) {
        return mer_error_set(error, MER_INVALID,
                             "marl: agents is \"%s\", expected auto, all or a number >= 1", text);
    }
    *agents = (int)value;
    return MER_OK;
}

/* Whether the partition depends on samples at all. */
static bool needs_samples(const State *s)
{
    bool is_fixed = s->rule.agents == 1 || s->rule.agents >= s->search->space->knob_count;
    return !is_fixed && s->rule.kind != MER_PARTITION_ROLE && s->rule.kind != MER_PARTITION_RANDOM;
}

/* Every choice of every knob comes up equally often (McKay et al., 1979). */
static void make_latin(State *s)
{
    const MerSpace *space = s->search->space;
    int            *order = MER_ARRAY(s->search->arena, int, s->wanted + 1);
    s->latin = MER_ARRAY(s->search->arena, MerIndex, (int64_t)s->wanted * space->knob_count + 1);
    for (int k = 0; k < space->knob_count; k++) {
        for (int i = 0; i < s->wanted; i++) {
            order[i] = i;
        }
        mer_rng_shuffle(s->search->rng, order, s->wanted);
        for (int i = 0; i < s->wanted; i++) {
            double position = (order[i] + mer_rng_unit(s->search->rng)) / s->wanted;
            mer_point_at(space, s->latin, i)[k] = mer_knob_index(&space->knobs[k], position);
        }
    }
}

static MerStatus open_initial(State *s, MerError *error)
{
    enum { LATIN = 1 };
    static const MerOptimizerClass *const policies[] = {NULL, NULL, &mer_optimizer_annealing,
                                                        &mer_optimizer_gamma};
    const MerOptimizerClass              *inner = policies[s->options.initial];
    s->latin = NULL;
    if (inner == NULL) {
        if (s->options.initial == LATIN) {
            make_latin(s);
        }
        return MER_OK;
    }
    void *settings = mer_arena_alloc(s->search->arena, inner->options_size);
    mer_options_defaults(inner->options, settings, s->search->arena);
    s->inner_search = *s->search;
    s->inner_search.budget = s->wanted;
    s->inner_state = mer_arena_alloc(s->search->arena, inner->state_size);
    MerStatus status = inner->open(s->inner_state, &s->inner_search, settings, error);
    s->inner = status == MER_OK ? inner : NULL;
    return status;
}

void mer_marl_share_out(State *s)
{
    if (s->options.form == MER_MARL_TURNS) {
        mer_turns_divide(&s->turns, s->agent_count, s->owner);
    } else {
        mer_agents_divide(&s->agents, s->agent_count, s->owner);
    }
}

/* One agent per knob, until samples say which belong together. */
static void begin_alone(State *s)
{
    s->agent_count = s->search->space->knob_count;
    for (int k = 0; k < s->agent_count; k++) {
        s->owner[k] = k;
    }
    mer_marl_share_out(s);
}

static void divide(State *s)
{
    s->agent_count = mer_partition(&s->rule, s->search->space, &s->samples, s->search->rng,
                                   "partition", s->search->notes, s->search->arena, s->owner);
    mer_marl_share_out(s);
    s->is_divided = true;
    s->next_recluster = s->agents.now.done + s->options.recluster;
}

/* Begins a task. What moves from one to the next: the elites, and the policies of equal knobs. */
static MerStatus begin(State *s, const MerSearch *search, MerError *error)
{
    MerTurns turns = s->turns;
    MerTeam *earlier = s->agents.team;
    Options  options = s->options;
    *s = (State){.options = options, .search = search, .turns = turns};
    int64_t fifth = search->budget / 5 < MOST_SAMPLES ? search->budget / 5 : MOST_SAMPLES;
    s->rule =
        (MerPartitionRule){(MerPartitionKind)s->options.partition, (MerLinkage)s->options.linkage,
                           s->options.threshold, 0, s->options.distance == 1};
    MER_TRY(read_agents(s->options.agents_wanted, &s->rule.agents, error));
    MerStatus status =
        mer_agents_open(&s->agents, search, &s->options.agents, MER_ALGORITHM_PPO, error);
    s->agents.team = earlier;
    MER_TRY(status);
    s->owner = MER_ARRAY(search->arena, int, search->space->knob_count + 1);
    s->wanted = !needs_samples(s) ? 0 : (int)(s->options.samples > 0 ? s->options.samples : fifth);
    s->samples = mer_samples_make(search->space, s->wanted, search->arena);
    s->later = mer_samples_make(search->space, needs_samples(s) ? MOST_SAMPLES : 0, search->arena);
    if (s->options.form == MER_MARL_TURNS) {
        mer_turns_open(&s->turns, &s->agents, &s->options.turns);
    }
    if (s->wanted == 0) {
        divide(s);
        return MER_OK;
    }
    if (s->options.form == MER_MARL_TURNS) {
        begin_alone(s);
        return MER_OK;
    }
    return open_initial(s, error);
}

static MerStatus open_marl(void *state, const MerSearch *search, const void *given, MerError *error)
{
    State *s = state;
    *s = (State){.options = *(const Options *)given};
    if (s->options.agents.discount < 0) {
        s->options.agents.discount = s->options.form == MER_MARL_TURNS ? 0.99 : 0;
    }
    return begin(s, search, error);
}

static void close_initial(State *s)
{
    if (s->inner != NULL && s->inner->close != NULL) {
        s->inner->close(s->inner_state);
    }
}

static MerStatus next_task(void *state, const MerSearch *search, MerError *error)
{
    State *s = state;
    close_initial(s);
    if (s->options.turns.transfer == 0) {
        mer_agents_close(&s->agents);
        mer_turns_close(&s->turns);
        s->turns = (MerTurns){0};
    }
    return begin(s, search, error);
}

static int ask_initial(State *s, MerProposal *proposals, int capacity)
{
    int left = s->wanted - s->samples.count, count = left < capacity ? left : capacity;
    if (s->inner != NULL) {
        return s->inner->ask(s->inner_state, proposals, count);
    }
    for (int i = 0; i < count; i++) {
        const MerSpace *space = s->search->space;
        if (s->latin != NULL) {
            mer_point_copy(space, proposals[i].point,
                           mer_point_at(space, s->latin, s->samples.count + i));
        } else {
            mer_space_sample(space, s->search->rng, proposals[i].point);
        }
    }
    return count;
}

/* Nothing is asked for, and the agents have just learned. */
static bool is_between(const State *s)
{
    return s->agents.now.lane == 0 && s->agents.now.step == 0 &&
           (s->samples.count > 0 || s->is_adopted);
}

static int ask(void *state, MerProposal *proposals, int capacity)
{
    State *s = state;
    if (s->options.form == MER_MARL_TURNS) {
        if (!s->is_divided && is_between(s) && s->samples.count >= s->wanted) {
            divide(s);
        }
        return mer_turns_ask(&s->turns, proposals, capacity);
    }
    if (!s->is_divided) {
        int count = s->samples.count < s->wanted ? ask_initial(s, proposals, capacity) : 0;
        if (count > 0) {
            return count;
        }
        divide(s);
    }
    return mer_agents_ask(&s->agents, proposals, capacity);
}

/* Of the best 20 % of all samples; those are feasible. */
static int best_count(const State *s)
{
    return (mer_samples_feasible(&s->samples) + mer_samples_feasible(&s->later)) / 5;
}

/* Agreement of the clusters with those of these best; fills `owner`. */
static double agreement(State *s, int *owner, int *agent_count, const char *id)
{
    const MerSpace   *space = s->search->space;
    MerArena         *arena = mer_arena_new();
    MerSamples        all = mer_samples_make(space, s->samples.count + s->later.count, arena);
    const MerSamples *parts[2] = {&s->samples, &s->later};
    for (int p = 0; p < 2; p++) {
        for (int i = 0; i < parts[p]->count; i++) {
            mer_samples_add(&all, space, mer_point_at(space, parts[p]->points, i),
                            parts[p]->scores[i]);
        }
    }
    MerSamples best = mer_samples_best(&all, space, 0.2, arena);
    *agent_count =
        mer_partition(&s->rule, space, &best, s->search->rng, id, s->search->notes, arena, owner);
    mer_arena_free(arena);
    return mer_adjusted_rand(space->knob_count, s->owner, owner);
}

/* The second sign of failure: near the optimum other knobs belong together than in the first
 * samples. */
static void check_drift(State *s)
{
    if (best_count(s) < MER_PARTITION_FLOOR) {
        return; /* not yet */
    }
    int   *owner = MER_ARRAY(s->search->arena, int, s->search->space->knob_count + 1), count;
    double index = agreement(s, owner, &count, NULL);
    char   text[300];
    s->has_checked_drift = true;
    if (index < 0.8) {
        snprintf(text, sizeof text,
                 "after %lld samples the best 20 %% ask for other clusters than the first samples "
                 "did (adjusted Rand index %.2f, 1 means the same; %d agents now, %d by the best)",
                 (long long)s->agents.now.done, index, s->agent_count, count);
        mer_view_warning(s->search->notes,
                         &(MerView){.id = "correlation_drift", .title = "correlation drift"}, text,
                         s->options.form == MER_MARL_TURNS
                             ? "recluster=1000, more samples"
                             : "recluster=1000, initial=annealing or gamma, more samples");
    }
}

/* New clusters where they differ; heads of knobs go with them. */
static void recluster(State *s)
{
    int *owner = MER_ARRAY(s->search->arena, int, s->search->space->knob_count + 1), count;
    s->next_recluster = s->agents.now.done + s->options.recluster;
    if (best_count(s) < MER_PARTITION_FLOOR) {
        mer_partition_refuse(s->search->notes, s->samples.count + s->later.count, best_count(s),
                             "they stay as they are");
        return;
    }
    if (agreement(s, owner, &count, "recluster") < 0.8) {
        s->owner = owner;
        s->agent_count = count;
        mer_marl_share_out(s);
    }
}

/* An earlier run's samples are enough, and free. */
static void keep_to_warm(State *s)
{
    s->wanted = s->samples.count;
    s->samples.is_warm = true;
}

static void tell_initial(State *s, const MerTrial *trials, int count)
{
    bool is_warm = count > 0 && trials[0].warm;
    for (int i = 0; i < count; i++) {
        mer_samples_add(&s->samples, s->search->space, trials[i].point, trials[i].score);
        if (!is_warm) {
            mer_agents_count(&s->agents, trials[i].score);
        }
    }
    if (is_warm) {
        keep_to_warm(s);
    } else if (s->inner != NULL) {
        s->inner->tell(s->inner_state, trials, count);
    }
}

static void tell(void *state, const MerTrial *trials, int count)
{
    State *s = state;
    bool   is_turns = s->options.form == MER_MARL_TURNS;
    if (!s->is_divided && !is_turns) {
        tell_initial(s, trials, count);
        return;
    }
    for (int i = 0; i < count; i++) {
        mer_samples_add(s->is_divided || s->samples.count == s->samples.capacity ? &s->later
                                                                                 : &s->samples,
                        s->search->space, trials[i].point, trials[i].score);
    }
    if (is_turns) {
        mer_turns_tell(&s->turns, trials, count);
    } else {
        mer_agents_tell(&s->agents, trials, count);
    }
    if (!s->is_divided) {
        if (count > 0 && trials[0].warm) {
            keep_to_warm(s);
        }
        return;
    }
    int behind = s->is_adopted ? s->wanted : s->samples.count;
    if (is_between(s) && !s->has_checked_drift && s->later.count >= 2 * behind) {
        check_drift(s);
    }
    if (is_between(s) && s->options.recluster > 0 && s->agents.now.done >= s->next_recluster) {
        recluster(s);
    }
}

static void close_marl(void *state)
{
    State *s = state;
    close_initial(s);
    mer_turns_close(&s->turns);
    mer_agents_close(&s->agents);
}

const MerOptimizerClass mer_optimizer_marl = {
    .name = "marl",
    .summary = "one PPO agent per cluster of knobs, clusters learned from samples",
    .reference = "arXiv 2507.16249",
    .options = options,
    .presets = presets,
    .options_size = sizeof(Options),
    .state_size = sizeof(State),
    .open = open_marl,
    .ask = ask,
    .tell = tell,
    .save = mer_marl_save,
    .load = mer_marl_load,
    .next_task = next_task,
    .close = close_marl,
};
