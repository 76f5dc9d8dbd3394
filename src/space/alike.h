/* Knobs of two spaces that mean the same: for what is carried from one task to the next. */
#ifndef MERCATOR_SPACE_ALIKE_H
#define MERCATOR_SPACE_ALIKE_H

#include "mercator/arena.h"
#include "mercator/space.h"

/* With its name and values, which may be gone when the copy is read. */
MerKnob mer_knob_copy(const MerKnob *knob, MerArena *arena);
/* The knob of the same name, looked for from `at` on; -1: none. */
int mer_knob_find(const MerKnob *knobs, int count, const MerKnob *wanted, int at);
/* The choice that means the same, or nearly: equal values, the same index of a category, the same
 * place in an order. */
MerIndex mer_knob_translate(const MerKnob *from, MerIndex index, const MerKnob *to);
/* How unlike two spaces are: knobs that are missing, or whose range differs. */
double mer_knobs_distance(const MerSpace *space, const MerKnob *knobs, int count);

#endif
