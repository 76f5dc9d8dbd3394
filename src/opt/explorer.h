/* Exploration of a space on a learned cost model: walkers move knob by knob (one choice down, stay, one
 * up), agents choose the moves and are rewarded with what boosted trees predict for the point they lead
 * to (CHAMELEON, Ahn et al., ICLR 2020). What the walk came across are the candidates for the next
 * measurements. One agent owns all knobs, or several share them. */
#ifndef MERCATOR_OPT_EXPLORER_H
#define MERCATOR_OPT_EXPLORER_H

#include "learn/trees.h"
#include "opt/agents.h"
#include "opt/tuner.h"

typedef enum MerSharing {
    MER_SHARING_SPACE,     /* as the space says: MerKnob.agent */
    MER_SHARING_ONE,       /* one agent for all knobs */
    MER_SHARING_CLUSTERED, /* one for each cluster of correlated knobs, once samples show them */
    MER_SHARING_ALL        /* one for every knob */
} MerSharing;

typedef enum MerCriticForm { MER_CRITIC_CENTRAL, MER_CRITIC_OWN, MER_CRITIC_NONE } MerCriticForm;

typedef struct MerExplorerOptions {
    MerAgentOptions team; /* a lane of it is a walker, an unroll is a walk */
    int64_t         initial, neighbours;
    double          elite;
    int             agents, observation, critic, features;
    bool            updates;
} MerExplorerOptions;

/* Rows of an option table whose `Options` has `MerExplorerOptions explorer`. The constants are those of
 * CHAMELEON's code. */
/* clang-format off */
#define MER_EXPLORER_COMMON_OPTIONS(step_count, elite_share, seen, parts, rows)                    \
    MER_INT_AT("initial", explorer.initial, "64", 1, 10000, "random points before the first fit"), \
    MER_INT_AT("walkers", explorer.team.lanes, "128", 1, 4096, "points that walk side by side"),   \
    MER_INT_AT("steps", explorer.team.unroll, step_count, 1, 4096,                                 \
        "steps of each between two plans"),                                                        \
    MER_REAL_AT("elite", explorer.elite, elite_share, 0, 1,                                        \
        "share of the walks that start at the best measured points"),                              \
    MER_CHOICE_AT("features", explorer.features, seen, "knob|product",                             \
        "what the trees see: the knobs' values, or also products of pairs"),                       \
    MER_INT_AT("width", explorer.team.width, "20", 1, 4096, "of the hidden layers"),               \
    MER_INT_AT("depth", explorer.team.depth, "2", 1, 8, "hidden layers"),                          \
    MER_REAL_AT("rate", explorer.team.rate, "1e-3", 0, 10, "step width (Adam)"),                   \
    MER_INT_AT("epochs", explorer.team.epochs, "3", 1, 1000, "passes over a walk"),                \
    MER_INT_AT("minibatches", explorer.team.minibatches, parts, 1, 4096, "updates per pass"),      \
    MER_INT_AT("batch", explorer.team.batch, rows, 0, 1e6,                                         \
        "steps that an update learns from; 0: all, shared out"),                                   \
    MER_REAL_AT("clip", explorer.team.clip, "0.3", 0, 10, "of the probability ratio"),             \
    MER_REAL_AT("entropy", explorer.team.entropy, "0.1", 0, 100, "weight of the entropy"),         \
    MER_REAL_AT("value_cost", explorer.team.value_cost, "1", 0, 100,                               \
        "weight of the critic's loss"),                                                            \
    MER_REAL_AT("discount", explorer.team.discount, "0.9", 0, 1, "of later rewards"),              \
    MER_REAL_AT("lambda", explorer.team.lambda, "0.99", 0, 1,                                      \
        "of generalised advantage estimation"),                                                    \
    MER_REAL_AT("grad_norm", explorer.team.grad_norm, "0", 0, 1e9,                                 \
        "largest norm of a gradient; 0: any"),                                                     \
    MER_BOOL_AT("updates", explorer.updates, "true",                                               \
        "learn while exploring; false: walk by the policy as it was loaded, without a critic")
/* clang-format on */

typedef struct MerExplorer {
    MerTuner           tuner; /* first: told as a MerTuner */
    MerExplorerOptions options;
    MerTrees           trees; /* of the last fit */
    MerTeam           *team;  /* NULL: not made yet, or no knobs */
    int               *owner, agent_count;
    bool               is_divided; /* no need to look for clusters again */
    bool               is_failed;  /* trees or team cannot be trained */
    int                columns;    /* of what the trees see */
    int               *pairs;      /* (columns - knobs, 2) */
    MerVisited         seen;       /* in this walk */
    int                count, capacity;
    MerIndex          *points; /* (count, knobs) candidates, distinct and new, */
    float             *values; /* and what the trees say of them */
    int64_t            steps, repeated, forbidden; /* of the last walk */
    /* the policy of an earlier task with more knobs than any since, as it is saved: of convolutions, where dense layers follow */
    char *aside;
    int   aside_size, aside_knobs;
} MerExplorer;

void mer_explorer_open(MerExplorer *explorer, const MerSearch *search,
                       const MerExplorerOptions *options);
/* Goes on elsewhere with the policy learned so far. */
MerStatus mer_explorer_next_task(MerExplorer *explorer, const MerSearch *search, MerError *error);
void      mer_explorer_close(MerExplorer *explorer);

void mer_explorer_predict(const MerExplorer *explorer, int count, const MerIndex *points,
                          float *values);
/* The trees' values, and what was met on the last walk but is not planned; no critic. */
void mer_explorer_opinions(const MerExplorer *explorer, int count, const MerIndex *points,
                           MerOpinion *opinions);
/* Fits the trees to all records, fills the candidates by a walk, and learns from it. False: there is nothing to learn
 * from yet, or it cannot be done any more (is_failed), which is noted in the log. With `neighbours`, what differs from one of so many
 * best points in one knob or two are candidates too, where that is not too many. */
bool mer_explorer_walk(MerExplorer *explorer);

MerStatus mer_explorer_save(MerExplorer *explorer, MerKeep what, FILE *file, MerError *error);
MerStatus mer_explorer_load(MerExplorer *explorer, MerKeep what, FILE *file, MerError *error);

#endif
