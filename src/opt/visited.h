/* Which points have been asked for already: a set of their hashes. Two points with the same 64 bits
 * count as one, which costs a search at most one point in 2^64 / tried. */
#ifndef MERCATOR_OPT_VISITED_H
#define MERCATOR_OPT_VISITED_H

#include "base/key_table.h"
#include "base/stream.h"
#include "mercator/space.h"

typedef MerKeyTable MerVisited; /* zeroed = empty; the arena is its own */

/* True: it was there already. Beyond MER_VISITED_MOST points nothing is added any more. */
bool mer_visited_add(MerVisited *tried, const MerIndex *point, int knob_count);
bool mer_visited_has(const MerVisited *tried, const MerIndex *point, int knob_count);
void mer_visited_clear(MerVisited *tried); /* frees the memory too */
void mer_visited_keep(MerVisited *tried, MerStream *stream);

enum { MER_VISITED_MOST = 1 << 24 };

#endif
