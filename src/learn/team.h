/* Agents that share a search space: each owns some knobs and proposes values for them, all see
 * how the last joint point did, and all get the same reward. One agent that owns everything is
 * the ordinary single learner. Several lanes walk side by side; after `unroll` steps of all
 * lanes the agents learn.
 *
 *     for (lane = 0; lane < lanes; lane++)
 *         mer_team_act(team, rng, lane, point);      price the points
 *     for (lane = 0; lane < lanes; lane++)
 *         mer_team_see(team, lane, features);        features of the result
 *     if (mer_team_step(team))                       the unroll is full
 *         mer_team_learn(team, rewards, progress, rng);
 *
 * A team with habits moves instead: every lane stands at a point, mer_team_stand says where, and
 * mer_team_move lets some of the agents choose anew while the others keep what they have. */
#ifndef MERCATOR_LEARN_TEAM_H
#define MERCATOR_LEARN_TEAM_H

#include "mercator/error.h"
#include "mercator/rng.h"
#include "tensor/tensor.h"

#include <stdbool.h>
#include <stdio.h>

typedef enum MerAlgorithm {
    MER_ALGORITHM_REINFORCE, /* Williams, 1992; moving-average baseline, no critic */
    MER_ALGORITHM_A2C,       /* Mnih et al., ICML 2016, synchronous */
    MER_ALGORITHM_PPO        /* Schulman et al., 2017, clipped */
} MerAlgorithm;

typedef enum MerHeadForm {
    MER_HEADS_INDEPENDENT, /* every knob is drawn alone */
    MER_HEADS_JOINT,       /* each given what the agent has chosen for its earlier knobs */
    MER_HEADS_ORDERED      /* near choices of ordered knobs share what is learned */
} MerHeadForm;
#define MER_HEAD_CHOICES "independent|joint|ordered"

typedef struct MerTeamSpec {
    const MerBackend *backend; /* of the networks */
    MerPool          *pool;    /* for learning; NULL: the calling thread alone */
    MerAlgorithm      algorithm;
    MerHeadForm       heads;
    int               knob_count, agent_count;
    const int        *choices; /* of each knob */
    const int        *owner;   /* agent of each knob, 0 .. agent_count - 1; every agent owns one */
    const bool       *is_ordered; /* of each knob, for ordered heads; NULL: none */
    /* Per knob (choices, choices): logits of the next choice given the present one, where the
     * learned table starts; NULL: no such table. */
    const float *const *habits;
    int                 feature_count;
    /* of each feature, the agent that alone sees it beside the central critic, -1: all; NULL: all */
    const int *viewer;
    int        lanes, unroll;
    int        width, depth; /* of the hidden layers; depth 0: plain logits that see nothing */
    int        epochs, minibatches;
    int        batch; /* rows of a minibatch at most, others of its part are left out; 0: all */
    double     rate, clip, value_cost, grad_norm, discount, lambda, adam_epsilon;
    double     entropy, entropy_end; /* weight at the start and at the end of the search */
    double     baseline_decay;       /* REINFORCE */
    bool       is_central;           /* one critic for all, which sees all knobs */
    bool       is_ratio_per_knob;    /* PPO: clip every knob's ratio, not that of the whole point */
    bool       is_standardised;      /* advantages: mean 0, deviation 1 in every batch */
} MerTeamSpec;

typedef struct MerTeam MerTeam;

MerTeam *mer_team_new(const MerTeamSpec *spec, MerRng *rng);
void     mer_team_free(MerTeam *team); /* NULL is fine */

void mer_team_act(MerTeam *team, MerRng *rng, int lane, int *point);
void mer_team_stand(MerTeam *team, int lane, const int *point);
/* `point` is where the lane stands, and becomes where it would go; acting[agent]. By habit: as the
 * tables were at the start, whatever has been learned. May be called again for the same lane: the
 * last move counts. */
void mer_team_move(MerTeam *team, MerRng *rng, int lane, const bool *acting, bool is_by_habit,
                   int *point);
void mer_team_see(MerTeam *team, int lane, const float *features);
/* The present step is the last of an episode of this lane: the next begins another one. */
void mer_team_end(MerTeam *team, int lane);
bool mer_team_step(MerTeam *team); /* all lanes have acted and seen; true: learn now */
/* Forgets the steps since it last learned. */
void mer_team_rewind(MerTeam *team);
/* rewards (unroll, lanes); progress 0 .. 1 of the search, for schedules. */
void mer_team_learn(MerTeam *team, const double *rewards, double progress, MerRng *rng);

/* What the networks' library refused: nothing has been learned since. */
MerStatus mer_team_status(const MerTeam *team, MerError *error);
/* nats per knob in the last batch learned from; -1 before */
double mer_team_entropy(const MerTeam *team);

/* Heads of knobs that both teams have begin where the other team's are. */
void mer_team_copy_heads(MerTeam *team, const MerTeam *from);

typedef struct MerTeamMatch { /* of every knob here: the one there that means the same, -1: none, */
    const int        *knob;
    const int *const *choice; /* and, for every choice here, the one there */
} MerTeamMatch;
/* Lone agents of two spaces: this one begins with the other's network, as far as the knobs match;
 * its preferences (logits) count `share` of what they did. */
void mer_team_carry(MerTeam *team, const MerTeam *from, const MerTeamMatch *match, double share);

/* The policy alone, and everything that going on later needs. */
MerStatus mer_team_save(const MerTeam *team, FILE *file, MerError *error);
MerStatus mer_team_load(MerTeam *team, FILE *file, MerError *error);
MerStatus mer_team_save_state(MerTeam *team, FILE *file, MerError *error);
/* `step` of the unroll at which it was saved, as the one who asks knows it. */
MerStatus mer_team_load_state(MerTeam *team, int step, FILE *file, MerError *error);

#endif
