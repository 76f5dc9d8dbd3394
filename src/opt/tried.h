/* Which points have been asked for already: a set of their hashes. Two points with the same 64 bits
 * count as one, which costs a search at most one point in 2^64 / tried. */
#ifndef MERCATOR_OPT_TRIED_H
#define MERCATOR_OPT_TRIED_H

#include "base/stream.h"
#include "mercator/space.h"

#include <stddef.h>

typedef struct MerTried {
    uint64_t *slots; /* 0: free */
    size_t    room, count;
} MerTried;

/* True: it was there already. Beyond MER_TRIED_MOST points nothing is added any more. */
bool mer_tried_add(MerTried *tried, const MerIndex *point, int knob_count);
bool mer_tried_has(const MerTried *tried, const MerIndex *point, int knob_count);
void mer_tried_clear(MerTried *tried); /* frees the room too */
void mer_tried_keep(MerTried *tried, MerStream *stream);

enum { MER_TRIED_MOST = 1 << 24 };

#endif
