/* One task being searched: what the files of the loop share. */
#ifndef MERCATOR_RUN_SEARCH_TASK_SEARCH_H
#define MERCATOR_RUN_SEARCH_TASK_SEARCH_H

#include "run/internal.h"

typedef struct MerTaskSearch {
    MerRunState             *run;
    MerRunTask              *task;
    const MerOptimizerClass *type;
    void                    *optimizer;
    MerSearch                search;
    MerRng                   rng;
    MerNotes                 notes;
    MerLegality              legality;
    MerSoftCost              soft;
    MerTrainable             trainable;
    MerIndex                *legality_point;
    MerBatch                *batch;
    int                      capacity;
    MerRunTrial             *trials;
    MerProposal             *proposals;
    MerTrial                *told;
    MerIndex                *seen;    /* the optimizer's points, capacity x view knobs */
    int64_t                  counted; /* against the budget */
    const MerLogEnd         *end;     /* in the log that is resumed; NULL: none */
} MerTaskSearch;

/* Describes the task to the optimizer (space, graph, rng, notes, legality) and opens it, or moves the
 * one that is open on to this task. The search must not move in memory afterwards. */
MerStatus mer_task_search_open(MerTaskSearch *s, MerError *error);
/* Closes the optimizer, unless it can carry its policy on to the next task. */
void mer_task_search_close(MerTaskSearch *s, bool is_last);

/* `head`, then what the optimizer keeps; give `data` back with free(), after errors too. */
MerStatus mer_task_search_save(const MerTaskSearch *s, MerKeep what, const void *head,
                               size_t head_size, char **data, size_t *size, MerError *error);

/* Would this trial be the best so far? */
bool mer_task_is_better(const MerRunTask *task, const MerRunTrial *trial);
/* Would it be in the front of trade-offs, or could it, as some of its values are not known? */
bool mer_task_joins_front(const MerRunState *run, const MerRunTask *task, const MerRunTrial *trial);
/* Takes a priced trial into the task's result: best, front, counts. */
void mer_task_take(MerRunState *run, MerRunTask *task, const MerRunTrial *trial);

#endif
