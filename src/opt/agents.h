/* What the learning optimizers share: a team of agents behind ask and tell, its options, its
 * rewards and the signs that it will not learn. */
#ifndef MERCATOR_OPT_AGENTS_H
#define MERCATOR_OPT_AGENTS_H

#include "base/option_rows.h"
#include "base/stream.h"
#include "learn/reward.h"
#include "learn/team.h"
#include "mercator/search.h"

typedef struct MerAgentOptions {
    int64_t lanes, unroll, width, depth, epochs, minibatches, batch, sparse_after;
    double  rate, entropy, entropy_end, clip, value_cost, grad_norm, discount, lambda, adam_epsilon;
    double  baseline_decay, transfer;
    int     reward, ratio, heads;
    bool    normalise, standardise, central;
} MerAgentOptions;

/* What these options say of a team; who it is for says the rest. */
MerTeamSpec mer_agents_spec(const MerAgentOptions *options);

/* Rows of an option table whose `Options` has `MerAgentOptions agents`. */
/* clang-format off */
#define MER_AGENT_COMMON_OPTIONS(lane_count, steps, first_rate, is_standardised)                   \
    MER_CHOICE_AT("heads", agents.heads, "independent", MER_HEAD_CHOICES,                          \
        "of an agent's knobs; joint: each given the ones before, ordered: near sizes share what "  \
        "is learned"),                                                                             \
    MER_INT_AT("lanes", agents.lanes, lane_count, 1, 4096, "points per step"),                     \
    MER_INT_AT("unroll", agents.unroll, steps, 1, 4096,                                            \
        "steps between updates: a batch is lanes x unroll points"),                                \
    MER_REAL_AT("rate", agents.rate, first_rate, 0, 10, "step width (Adam)"),                      \
    MER_REAL_AT("entropy", agents.entropy, "0.01", 0, 100, "weight of the entropy at the start"),  \
    MER_REAL_AT("entropy_end", agents.entropy_end, "0.01", 0, 100,                                 \
        "and at the end of the budget, linear between"),                                           \
    MER_CHOICE_AT("reward", agents.reward, "log", MER_REWARD_CHOICES,                              \
        "how a score becomes a reward"),                                                           \
    MER_BOOL_AT("normalise", agents.normalise, "true",                                             \
        "divide rewards by their deviation so far"),                                               \
    MER_BOOL_AT("standardise", agents.standardise, is_standardised,                                \
        "advantages of a batch get mean 0 and deviation 1"),                                       \
    MER_REAL_AT("grad_norm", agents.grad_norm, "0.5", 0, 1e9,                                      \
        "largest norm of a gradient; 0: any"),                                                     \
    MER_REAL_AT("adam_epsilon", agents.adam_epsilon, "1e-7", 0, 1, "beside Adam's root"),          \
    MER_INT_AT("sparse_after", agents.sparse_after, "1000", 1, 1e12,                               \
        "trials after which a sparse reward is reported")
#define MER_AGENT_TRANSFER_OPTION                                                                  \
    MER_REAL_AT("transfer", agents.transfer, "0", 0, 1,                                            \
        "share of the preferences that a task takes over from the one before")
#define MER_AGENT_CRITIC_OPTIONS(layers)                                                           \
    MER_INT_AT("width", agents.width, "32", 1, 4096, "of the hidden layers"),                      \
    MER_INT_AT("depth", agents.depth, layers, 1, 8, "hidden layers"),                              \
    MER_REAL_AT("value_cost", agents.value_cost, "1", 0, 100, "weight of the critic's loss"),      \
    MER_REAL_AT("lambda", agents.lambda, "0.95", 0, 1, "of generalised advantage estimation")
/* 0 where a point is an episode of its own: what follows is none of its merit. */
#define MER_AGENT_DISCOUNT_OPTION                                                                  \
    MER_REAL_AT("discount", agents.discount, "0", 0, 1, "of later rewards")
#define MER_AGENT_PPO_OPTIONS(passes, parts)                                                       \
    MER_REAL_AT("clip", agents.clip, "0.2", 0, 10, "of the probability ratio"),                    \
    MER_INT_AT("epochs", agents.epochs, passes, 1, 1000, "passes over a batch"),                   \
    MER_INT_AT("minibatches", agents.minibatches, parts, 1, 4096, "parts of a batch"),             \
    MER_CHOICE_AT("ratio", agents.ratio, "joint", "joint|knob",                                    \
        "ratio that is clipped: of a whole point or of every knob")
/* clang-format on */

/* ArchGym's settings of PPO (its default run of 2023). */
#define MER_AGENT_ARCHGYM                                                                          \
    "rate=2e-5,entropy=0.1,entropy_end=0.1,lanes=32,unroll=8,minibatches=8,epochs=2,reward="       \
    "archgym,discount=0.99"

/* No later rewards, many small batches, ratios per knob. */
#define MER_AGENT_BANDIT "discount=0,rate=0.01,unroll=2,ratio=knob"

enum { MER_AGENT_MOST_CHOICES = 64 }; /* of one head; a knob with more is chosen by range */

/* Numbers about the last result that every agent sees: feasible, score, then the metrics up to this one. Those that the table got
 * later are not seen: networks and saved policies keep their form. */
enum { MER_AGENT_FEATURES = 2 + MER_METRIC_MISS_RATE + 1 };

typedef struct MerAgentsProgress { /* plain numbers, saved as they are */
    MerReward  reward;
    int        lane, told, step; /* next lane to ask, lanes told, step of the unroll */
    MerRunning seen[MER_AGENT_FEATURES];
    int64_t    done, feasible;
    double     first_best, best; /* of the first batch, of all */
    MerRunning first, later;     /* log scores of the first batch and of the rest */
    bool       is_checked;       /* for a sparse reward */
} MerAgentsProgress;

typedef struct MerAgents {
    const MerSearch    *search;
    MerAgentOptions     options;
    MerAlgorithm        algorithm;
    MerTeam            *team;             /* NULL: nothing to choose */
    int                *choices;          /* of each knob */
    bool               *is_ordered;       /* each knob: near choices mean similar plans */
    int                 knob_count;       /* of `knobs` */
    MerKnob            *knobs;            /* of this space, for the next task; NULL: not kept */
    const float *const *habits;           /* of a team that moves; NULL: it draws points afresh */
    double             *scores, *rewards; /* (unroll, lanes) */
    MerAgentsProgress   now;
} MerAgents;

MerStatus mer_agents_open(MerAgents *agents, const MerSearch *search,
                          const MerAgentOptions *options, MerAlgorithm algorithm, MerError *error);
/* Makes the team, or replaces it: `owner` gives the agent of each knob. */
void mer_agents_divide(MerAgents *agents, int agent_count, const int *owner);
/* A team as these agents would have with other choices; the space must have a knob. */
MerTeam *mer_agents_team(const MerAgents *agents, int agent_count, const int *owner,
                         const int *choices, const float *const *habits);
/* Opens with one agent for all knobs. */
MerStatus mer_agents_open_one(MerAgents *agents, const MerSearch *search,
                              const MerAgentOptions *options, MerAlgorithm algorithm,
                              MerError *error);
/* Slots of MerOptimizerClass for an optimizer whose state is a MerAgents, opened with one agent. */
#define MER_AGENT_SLOTS                                                                            \
    .options_size = sizeof(Options), .state_size = sizeof(MerAgents), .ask = mer_agents_ask,       \
    .tell = mer_agents_tell, .next_task = mer_agents_next_task, .save = mer_agents_save,           \
    .load = mer_agents_load, .close = mer_agents_close
MerStatus mer_agents_next_task(void *agents, const MerSearch *search, MerError *error);
/* How many of the next lanes are to be asked for now; 0 also if the networks cannot be trained, which is noted in the log. */
int       mer_agents_take_lanes(MerAgents *agents, int capacity);
int       mer_agents_ask(void *agents, MerProposal *proposals, int capacity);
void      mer_agents_tell(void *agents, const MerTrial *trials, int count);
MerStatus mer_agents_save(const void *agents, MerKeep what, FILE *file, MerError *error);
MerStatus mer_agents_load(void *agents, MerKeep what, FILE *file, MerError *error);
void      mer_agents_close(void *agents);
/* The progress alone, for those who keep a team themselves or have none yet. */
void mer_agents_keep(MerAgents *agents, MerStream *stream);
/* For those who ask and tell the team themselves: what it sees of a trial, a head's choice as a
 * choice of its knob and back, and how much of the budget is used. */
void   mer_agents_features(MerAgents *agents, const MerTrial *trial, float *features);
void   mer_agents_spread(const MerAgents *agents, const int *heads, MerIndex *point);
void   mer_agents_heads(const MerAgents *agents, const MerIndex *point, int *heads);
double mer_agents_progress(const MerAgents *agents);
/* Counts a trial that the team did not ask for: for the sparse-reward check. */
void mer_agents_count(MerAgents *agents, double score);

#endif
