/* What recent evaluations left behind for those of points changed a little (MerCall.base and .snapshot): a fixed
 * number of places, of which the one that was needed longest ago is given away next. Which place a trial
 * gets depends on the trials before it alone. */
#ifndef MERCATOR_RUN_SEARCH_SNAPSHOTS_H
#define MERCATOR_RUN_SEARCH_SNAPSHOTS_H

#include <stddef.h>
#include <stdint.h>

enum { MER_SNAPSHOT_SLOTS = 1024 };

typedef struct MerSnapshots MerSnapshots;

MerSnapshots *mer_snapshots_new(size_t bytes);             /* of one snapshot */
void          mer_snapshots_free(MerSnapshots *snapshots); /* NULL is fine */

/* Begins a batch. Within one, all bases are asked for before the first place is given away, and no place that
 * the batch reads or writes is given away again. */
void mer_snapshots_begin(MerSnapshots *snapshots);
/* The place of an earlier trial's snapshot; -1: it has none any more. */
int mer_snapshots_find(MerSnapshots *snapshots, int64_t trial);
/* A place for this trial's own; -1: the batch has taken all. */
int mer_snapshots_place(MerSnapshots *snapshots, int64_t trial);

void *mer_snapshots_at(const MerSnapshots *snapshots, int slot); /* NULL for -1 */

#endif
