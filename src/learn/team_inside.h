/* Inside of a team, for the files that implement it. */
#ifndef MERCATOR_LEARN_TEAM_INSIDE_H
#define MERCATOR_LEARN_TEAM_INSIDE_H

#include "learn/heads.h"
#include "learn/team.h"
#include "tensor/layers.h"
#include "tensor/updater.h"

typedef struct MerAgent {
    MerHeads       heads;
    int           *knobs;       /* (heads.count) which knob each head sets */
    int            observation; /* numbers it sees: features, then its own last choices, one-hot */
    MerMlp         trunk;       /* count 0: none */
    MerLinearLayer policy, value;
    MerTensor     *logits;      /* without a network: (1, total) */
    MerTensor     *habit;       /* (total, total) from present to next choices; NULL: none */
    MerTensor     *later;       /* (total, total) from a choice to later heads; NULL: not joint */
    float         *seen;        /* (unroll + 1, lanes, observation) */
    int           *columns;     /* (unroll, lanes, heads) chosen columns */
    float         *first_habit; /* where the habit started */
    bool          *acted;       /* (unroll, lanes) */
    float         *old;         /* (unroll, lanes, heads) their log-probabilities then */
    double        *values;      /* (unroll + 1, lanes) */
    float         *given;       /* (total) capacity: what the last choices were drawn from */
    float         *now;         /* (lanes, total) log-probabilities of this step */
} MerAgent;

typedef struct MerCritic { /* of a central team */
    int            observation;
    MerMlp         trunk;
    MerLinearLayer value;
    float         *seen;
    double        *values;
} MerCritic;

struct MerTeam {
    MerTeamSpec    spec;
    MerArena      *arena;
    MerTape       *tape;
    MerParameters *parameters;
    MerUpdater    *updater;
    MerAgent      *agents;
    MerCritic      critic;
    bool          *ends;     /* (unroll, lanes): nothing follows */
    int           *last;     /* (lanes, knobs) the last joint point of every lane, -1: none */
    float         *features; /* (lanes, feature_count) */
    int            step;     /* within the unroll */
    bool           is_ready; /* this step's log-probabilities are there */
    double         baseline;
    bool           has_baseline;
    double         entropy;
    /* of the batch being learned from, (unroll x lanes) */
    double *advantages, *returns;
    int    *order;
};

static inline int mer_team_rows(const MerTeam *team)
{
    return team->spec.unroll * team->spec.lanes;
}

/* Rows of what an agent saw -> log-probabilities (B, total) and value (B, 1); value is NULL without
 * a critic of its own. Of joint heads they are those given the chosen `columns` (B, heads), or, with
 * NULL, those before anything is chosen. */
typedef struct MerAgentOutput {
    MerTensor *log_probabilities, *value;
} MerAgentOutput;
MerAgentOutput mer_agent_run(MerTeam *team, const MerAgent *agent, int rows, const float *seen,
                             const int *columns);
MerTensor     *mer_critic_run(MerTeam *team, int rows, const float *seen);

/* One step for one agent on some rows of the batch. */
void mer_agent_update(MerTeam *team, MerAgent *agent, int count, const int *rows, double entropy);
void mer_critic_update(MerTeam *team, int count, const int *rows);

#endif
