/* The best points of a search, kept across tasks: those of earlier tasks, said in the knobs of the
 * present one, are good first guesses where the tasks are alike (layers of one network). */
#ifndef MERCATOR_OPT_ELITES_H
#define MERCATOR_OPT_ELITES_H

#include "base/stream.h"
#include "mercator/search.h"

enum { MER_ELITES_KEPT = 8 };

typedef struct MerEliteTask { /* what one task left */
    struct MerEliteTask *before;
    int                  knob_count, count;
    MerKnob             *knobs;  /* copies, with their names and values */
    MerIndex            *points; /* (MER_ELITES_KEPT, knobs), best first */
    double               scores[MER_ELITES_KEPT];
} MerEliteTask;

typedef struct MerElites {
    MerArena     *arena;
    MerEliteTask *now;     /* of the present task; its `before` are the earlier ones */
    MerIndex     *guesses; /* (guess_count, knobs) of the present space */
    int           guess_count, next_guess;
} MerElites;

/* Begins a task: guesses, at most `most`, come from the tasks before, the nearest first. */
void mer_elites_begin(MerElites *elites, const MerSpace *space, MerArena *arena, int most);
void mer_elites_offer(MerElites *elites, const MerIndex *point, double score);
/* The next guess, NULL when there is none left. */
const MerIndex *mer_elites_guess(MerElites *elites);

/* The elites of all tasks, the present one too. Loaded, they replace what is there, and a task has
 * to begin next. */
void mer_elites_keep(MerElites *elites, MerStream *stream);
/* The same with the guesses that are left: loaded, the present task goes on. */
void mer_elites_keep_all(MerElites *elites, const MerSpace *space, MerStream *stream);

#endif
