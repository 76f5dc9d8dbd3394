/* Exploration of a space on a learned cost model: walkers move knob by knob (one choice down, stay, one
 * up), agents choose the moves and are rewarded with what boosted trees predict for the point they lead
 * to (CHAMELEON, Ahn et al., ICLR 2020). What the walk came across are the candidates for the next
 * measurements. One agent owns all knobs, or several share them. */
#ifndef MERCATOR_OPT_EXPLORER_H
#define MERCATOR_OPT_EXPLORER_H

#include "learn/team.h"
#include "learn/trees.h"
#include "opt/tuner.h"

typedef enum MerSharing {
    MER_SHARING_SPACE,     /* as the space says: MerKnob.agent */
    MER_SHARING_ONE,       /* one agent for all knobs */
    MER_SHARING_CLUSTERED, /* one for each cluster of correlated knobs, once samples show them */
    MER_SHARING_ALL        /* one for every knob */
} MerSharing;

typedef enum MerCriticForm { MER_CRITIC_CENTRAL, MER_CRITIC_OWN, MER_CRITIC_NONE } MerCriticForm;

typedef struct MerExplorerOptions {
    int64_t initial, walkers, steps, width, depth, epochs, minibatches, batch, neighbours;
    double  elite, rate, clip, entropy, value_cost, discount, lambda, grad_norm;
    int     agents, heads, observation, critic, features;
    bool    updates;
} MerExplorerOptions;

/* Rows of an option table whose struct has `MerExplorerOptions explorer`. The constants are those of
 * CHAMELEON's code. */
#define MER_EXPLORER_OPTION(Options, name, type, initial_value, low, high, choices, help)          \
    {                                                                                              \
#name, type, offsetof(Options, explorer.name), initial_value, low, high, choices, help     \
    }
#define MER_EXPLORER_COMMON_OPTIONS(Options, step_count, elite_share, seen, parts, rows)           \
    MER_EXPLORER_OPTION(Options, initial, MER_OPTION_INT, "64", 1, 10000, NULL,                    \
                        "random points before the first fit"),                                     \
        MER_EXPLORER_OPTION(Options, walkers, MER_OPTION_INT, "128", 1, 4096, NULL,                \
                            "points that walk side by side"),                                      \
        MER_EXPLORER_OPTION(Options, steps, MER_OPTION_INT, step_count, 1, 4096, NULL,             \
                            "steps of each between two plans"),                                    \
        MER_EXPLORER_OPTION(Options, elite, MER_OPTION_REAL, elite_share, 0, 1, NULL,              \
                            "share of the walks that start at the best measured points"),          \
        MER_EXPLORER_OPTION(Options, features, MER_OPTION_CHOICE, seen, 0, 0, "knob|product",      \
                            "what the trees see: the knobs' values, or also products of pairs"),   \
        MER_EXPLORER_OPTION(Options, width, MER_OPTION_INT, "20", 1, 4096, NULL,                   \
                            "of the hidden layers"),                                               \
        MER_EXPLORER_OPTION(Options, depth, MER_OPTION_INT, "2", 1, 8, NULL, "hidden layers"),     \
        MER_EXPLORER_OPTION(Options, rate, MER_OPTION_REAL, "1e-3", 0, 10, NULL,                   \
                            "step width (Adam)"),                                                  \
        MER_EXPLORER_OPTION(Options, epochs, MER_OPTION_INT, "3", 1, 1000, NULL,                   \
                            "passes over a walk"),                                                 \
        MER_EXPLORER_OPTION(Options, minibatches, MER_OPTION_INT, parts, 1, 4096, NULL,            \
                            "updates per pass"),                                                   \
        MER_EXPLORER_OPTION(Options, batch, MER_OPTION_INT, rows, 0, 1e6, NULL,                    \
                            "steps that an update learns from; 0: all, shared out"),               \
        MER_EXPLORER_OPTION(Options, clip, MER_OPTION_REAL, "0.3", 0, 10, NULL,                    \
                            "of the probability ratio"),                                           \
        MER_EXPLORER_OPTION(Options, entropy, MER_OPTION_REAL, "0.1", 0, 100, NULL,                \
                            "weight of the entropy"),                                              \
        MER_EXPLORER_OPTION(Options, value_cost, MER_OPTION_REAL, "1", 0, 100, NULL,               \
                            "weight of the critic's loss"),                                        \
        MER_EXPLORER_OPTION(Options, discount, MER_OPTION_REAL, "0.9", 0, 1, NULL,                 \
                            "of later rewards"),                                                   \
        MER_EXPLORER_OPTION(Options, lambda, MER_OPTION_REAL, "0.99", 0, 1, NULL,                  \
                            "of generalised advantage estimation"),                                \
        MER_EXPLORER_OPTION(Options, grad_norm, MER_OPTION_REAL, "0", 0, 1e9, NULL,                \
                            "largest norm of a gradient; 0: any"),                                 \
        MER_EXPLORER_OPTION(Options, updates, MER_OPTION_BOOL, "true", 0, 0, NULL,                 \
                            "learn while exploring; false: walk by the policy as it was loaded, "  \
                            "without a critic")

typedef struct MerExplorer {
    MerExplorerOptions options;
    MerTuner           tuner;
    MerTrees           trees; /* of the last fit */
    MerTeam           *team;  /* NULL: not made yet, or no knobs */
    int               *owner, agent_count;
    bool               is_divided; /* no need to look for clusters again */
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

MerStatus mer_explorer_open(MerExplorer *explorer, const MerSearch *search,
                            const MerExplorerOptions *options, MerError *error);
/* Goes on elsewhere with the policy learned so far. */
MerStatus mer_explorer_next_task(MerExplorer *explorer, const MerSearch *search, MerError *error);
void      mer_explorer_close(MerExplorer *explorer);

/* Fits the trees to all records. */
MerStatus mer_explorer_fit(MerExplorer *explorer, MerError *error);
void      mer_explorer_predict(const MerExplorer *explorer, int count, const MerIndex *points,
                               float *values);
/* The trees' values, and what was met on the last walk but is not planned; no critic. */
void mer_explorer_opinions(const MerExplorer *explorer, int count, const MerIndex *points,
                           MerOpinion *opinions);
/* Fills the candidates, and learns from the walk. With `neighbours`, what differs from one of so many
 * best points in one knob or two are candidates too, where that is not too many. */
MerStatus mer_explorer_walk(MerExplorer *explorer, MerError *error);

MerStatus mer_explorer_save(MerExplorer *explorer, MerKeep what, FILE *file, MerError *error);
MerStatus mer_explorer_load(MerExplorer *explorer, MerKeep what, FILE *file, MerError *error);

#endif
