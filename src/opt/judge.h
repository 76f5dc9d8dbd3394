/* A critic of whole points, shared by all agents: a network that has seen every priced point, of
 * this task and of earlier ones alike, says what a point would score and whether it would be
 * feasible. Agents ask it what would follow if they chose otherwise while the others keep theirs
 * (counterfactuals: Foerster et al., AAAI 2018), and only the most promising move is priced. */
#ifndef MERCATOR_OPT_JUDGE_H
#define MERCATOR_OPT_JUDGE_H

#include "mercator/search.h"

typedef struct MerJudge MerJudge;

enum { MER_JUDGE_WIDTH = 64 }; /* of its hidden layers, where a search uses it */

MerJudge *mer_judge_new(int width, double rate);
void      mer_judge_free(MerJudge *judge); /* NULL is fine */

/* A task begins. What was learned stays where the knobs are the same but for their choices. */
void mer_judge_begin(MerJudge *judge, const MerSpace *space, MerRng *rng);
/* A priced point. */
void mer_judge_see(MerJudge *judge, const MerTrial *trial);
void mer_judge_train(MerJudge *judge, int steps, MerRng *rng);
bool mer_judge_is_ready(const MerJudge *judge); /* has seen feasible and enough points */
/* The point that promises most of `count`: the lowest score where it seems feasible. */
int mer_judge_choose(MerJudge *judge, int count, const MerIndex *points);

/* Everything it knows. A loaded one replaces what was there: mer_judge_begin moves it to another
 * task, mer_judge_resume lets it go on with the one it was saved in. */
MerStatus mer_judge_save(MerJudge *judge, FILE *file, MerError *error);
MerStatus mer_judge_load(MerJudge *judge, FILE *file, MerError *error);
MerStatus mer_judge_resume(MerJudge *judge, const MerSpace *space, MerError *error);

#endif
