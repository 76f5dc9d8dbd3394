/* A critic of whole points, shared by all agents: a network that has seen every priced point, of
 * this task and of earlier ones alike, says what a point would score and whether it would be
 * feasible. Agents ask it what would follow if they chose otherwise while the others keep theirs
 * (counterfactuals: Foerster et al., AAAI 2018), and only the most promising move is priced. */
#ifndef MERCATOR_OPT_POINT_CRITIC_H
#define MERCATOR_OPT_POINT_CRITIC_H

#include "base/stream.h"
#include "mercator/search.h"

typedef struct MerPointCritic MerPointCritic;

enum { MER_POINT_CRITIC_WIDTH = 64 }; /* of its hidden layers, where a search uses it */

MerPointCritic *mer_point_critic_new(int width, double rate);
void            mer_point_critic_free(MerPointCritic *critic); /* NULL is fine */

/* A task begins. What was learned stays where the knobs are the same but for their choices. */
void mer_point_critic_begin(MerPointCritic *critic, const MerSpace *space, MerRng *rng);
/* A priced point. */
void mer_point_critic_see(MerPointCritic *critic, const MerTrial *trial);
void mer_point_critic_train(MerPointCritic *critic, int steps, MerRng *rng);
bool mer_point_critic_is_ready(
    const MerPointCritic *critic); /* has seen feasible and enough points */
/* What each of `count` points promises: the log score against the task's mean, more where it seems
 * infeasible; lower is better. */
void mer_point_critic_values(MerPointCritic *critic, int count, const MerIndex *points,
                             double *values);
/* The point that promises most of `count`: the lowest score where it seems feasible. */
int mer_point_critic_choose(MerPointCritic *critic, int count, const MerIndex *points);

/* Everything it knows, saved or loaded. A loaded one replaces what was there: mer_point_critic_begin moves it to another
 * task, mer_point_critic_resume lets it go on with the one it was saved in. */
MerStatus mer_point_critic_keep(MerPointCritic *critic, MerStream *stream, MerError *error);
MerStatus mer_point_critic_resume(MerPointCritic *critic, const MerSpace *space, MerError *error);

#endif
