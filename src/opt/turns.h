/* Agents that take turns. Every lane stands at a point; one agent or a few choose anew for their
 * knobs while the others keep theirs, so that the change of the score is theirs alone (difference
 * rewards: Wolpert and Tumer, "Optimal payoff functions for members of collectives", 2001). A lane
 * goes where it is told as annealing does. No point is asked for twice while new ones are found,
 * and the best points of earlier tasks are tried first in later ones. */
#ifndef MERCATOR_OPT_TURNS_H
#define MERCATOR_OPT_TURNS_H

#include "opt/agents.h"
#include "opt/elites.h"
#include "opt/point_critic.h"
#include "opt/visited.h"

typedef struct MerTurnOptions {
    double  hot, cold, again, stay, near, explore;
    int64_t rounds, patience, transfer, candidates;
    double  trust, trust_end, critic_rate;
} MerTurnOptions; /* each is explained in the table of marl.c */

typedef struct MerChain {
    MerIndex *now;     /* where it stands, once `energy` is finite */
    double    energy;  /* log score, +inf until it stands at a feasible point */
    int64_t   tries;   /* points drawn at random so far */
    bool      is_move; /* the last proposal was the agents' */
} MerChain;

typedef struct MerTurns {
    MerAgents      *agents; /* team, features, rewards' capacity, counts */
    MerTurnOptions  options;
    int             agent_count;
    const int      *owner;
    bool           *acting;
    int            *heads; /* memory for a point */
    MerChain       *lanes;
    MerVisited      tried;
    MerElites       elites;
    MerPointCritic *critic;     /* NULL: none */
    MerIndex       *candidates; /* (candidates, knobs) */
    int64_t         done, round_start, round_length, next_meeting;
} MerTurns;

void mer_turns_open(MerTurns *turns, MerAgents *agents, const MerTurnOptions *options);
/* Makes the team, or replaces it. */
void mer_turns_divide(MerTurns *turns, int agent_count, const int *owner);
int  mer_turns_ask(MerTurns *turns, MerProposal *proposals, int capacity);
void mer_turns_tell(MerTurns *turns, const MerTrial *trials, int count);
void mer_turns_close(MerTurns *turns);

/* What the tables of moves start from, per knob, for a team with these choices and owners. `stay` and
 * `near` as the options of marl mean them. */
const float *const *mer_turns_habits(const MerTurns *turns, int agent_count, const int *owner,
                                     const int *choices, double stay, double near);
/* Elites and critic, or also lanes and points tried; the team is kept apart. A loaded policy begins
 * the task anew. */
MerStatus mer_turns_save(MerTurns *turns, MerKeep what, FILE *file, MerError *error);
MerStatus mer_turns_load(MerTurns *turns, MerKeep what, FILE *file, MerError *error);

#endif
