/* Disjoint sets of the numbers 0 .. count - 1 (union-find): `parent` of a number is itself, or another one of its set. */
#ifndef MERCATOR_BASE_SETS_H
#define MERCATOR_BASE_SETS_H

#include "mercator/arena.h"

int *mer_sets_new(int count, MerArena *arena); /* each alone */
int  mer_sets_root(int *parent, int item);
/* The smaller root stays one: paths are halved as they are walked, which keeps them short. */
void mer_sets_join(int *parent, int a, int b);

#endif
