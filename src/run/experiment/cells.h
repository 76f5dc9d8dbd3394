/* Many runs, each in its own folder of one directory: finished ones are found again by what they ran,
 * stopped ones go on, the rest is started, several at once. */
#ifndef MERCATOR_RUN_EXPERIMENT_CELLS_H
#define MERCATOR_RUN_EXPERIMENT_CELLS_H

#include "mercator/run.h"

typedef struct MerCells {
    MerRunSpec *specs; /* `directory` is filled in */
    int         count;
    const char *root, *command;
    int         threads;  /* 0: all cores; results do not depend on it */
    bool        is_chain; /* each needs what the one before leaves: one after the other */
    const char *redo;     /* cells of this optimizer are run anew; "all"; NULL: none */
    void       *state;
    bool (*is_cancelled)(void *state);
    void (*warn)(void *state, const char *text); /* each text once */
    /* A cell has ended (from any thread, one at a time). */
    void (*tick)(void *state, int finished, const MerRunSpec *spec);
    /* Its result, in the order of `specs`; `error` is not NULL where it failed. Of a cell that was
     * found finished only the totals are known. */
    void (*done)(void *state, int index, const MerRunResult *result, const MerError *error);
} MerCells;

/* A cell that fails does not stop the others; whether one did is told to `done` only. */
MerStatus mer_cells_run(MerCells *cells, MerArena *arena, MerError *error);

/* What a run is made of, as text: equal for equal MerRunSpecs, whatever the folder, threads or clock. */
const char *mer_cell_identity(const MerRunSpec *spec, MerArena *arena);
/* The same from the first line of a log; NULL if that is no header. */
const char *mer_cell_identity_of(const char *header, MerArena *arena);
/* The first key or option of that header in which a run of `spec` is another one, given that it is. */
const char *mer_cell_difference(const char *header, const MerRunSpec *spec, MerArena *arena);
/* Does the folder of `spec` hold this run, begun and not ended? */
bool mer_cell_is_stopped(const MerRunSpec *spec, MerArena *arena);

#endif
