/* What recent evaluations left behind for those of points changed a little (MerCall.base and .trail): a fixed
 * number of places, of which the one that was needed longest ago is given away next. Which place a trial
 * gets depends on the trials before it alone. */
#ifndef MERCATOR_RUN_SEARCH_TRAILS_H
#define MERCATOR_RUN_SEARCH_TRAILS_H

#include <stddef.h>
#include <stdint.h>

enum { MER_TRAIL_SLOTS = 1024 };

typedef struct MerTrails MerTrails;

MerTrails *mer_trails_new(size_t bytes);       /* of one trail */
void       mer_trails_free(MerTrails *trails); /* NULL is fine */

/* Begins a batch. Within one, all bases are asked for before the first place is given away, and no place that
 * the batch reads or writes is given away again. */
void mer_trails_begin(MerTrails *trails);
/* The place of an earlier trial's trail; -1: it has none any more. */
int mer_trails_find(MerTrails *trails, int64_t trial);
/* A place for this trial's own; -1: the batch has taken all. */
int mer_trails_place(MerTrails *trails, int64_t trial);

void *mer_trails_at(const MerTrails *trails, int slot); /* NULL for -1 */

#endif
