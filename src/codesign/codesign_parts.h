/* Parts of the problem `codesign` on platforms of kind vta. */
#ifndef MERCATOR_CODESIGN_CODESIGN_PARTS_H
#define MERCATOR_CODESIGN_CODESIGN_PARTS_H

#include "codesign/codesign.h"

/* Values of the knobs and the space; the other fields of `task` are filled. */
void mer_codesign_space_make(MerProblem *problem, MerCodesignTask *task, MerArena *arena);
void mer_codesign_decode(const MerCodesignTask *task, const MerIndex *point, MerVtaPlan *plan);
/* false: no point says this */
bool mer_codesign_encode(const MerProblem *problem, const MerVtaPlan *plan, MerIndex *point);

enum { MER_CODESIGN_ROUNDS = 4 };
bool   mer_codesign_next_round(const MerWhole *rounds, int done, MerRound *round, MerArena *arena);
double mer_codesign_round_share(const MerProblem *problem, int round, int further);
void   mer_codesign_pick_rounds(const MerWhole *rounds, int done, int *pick);
/* Did `grid` prove the core and the schedules of all layers? */
bool        mer_codesign_is_proven(const MerWhole *whole);
const char *mer_codesign_describe(const MerWhole *whole, MerArena *arena);

#endif
