/* What the tuners with a learned cost model share: the first random points (the same for all of them,
 * given a seed), the records they learn from, what was asked for already, and the plan: the points to
 * be measured before the model is fitted anew. */
#ifndef MERCATOR_OPT_TUNER_H
#define MERCATOR_OPT_TUNER_H

#include "mercator/search.h"
#include "opt/points.h"
#include "opt/visited.h"

typedef struct MerTuner {
    const MerSearch *search;
    MerVisited       visited; /* in a plan now or before, or told by an earlier run */
    int              initial; /* random points of the first plan */
    int              count, capacity;
    MerIndex        *points; /* (count, knobs) what was told, */
    double          *scores; /* and how it scored */
    int              best;   /* its index; -1: nothing feasible yet */
    int              plan_count, plan_next, plan_capacity;
    MerIndex        *plan;
} MerTuner;

/* Begins a task; a tuner that was open before must be closed first. */
void mer_tuner_open(MerTuner *tuner, const MerSearch *search, int initial);
void mer_tuner_close(MerTuner *tuner);

static inline MerIndex *mer_tuner_point(const MerTuner *tuner, MerIndex *points, int64_t i)
{
    return mer_point_at(tuner->search->space, points, i);
}

bool mer_tuner_is_legal(const MerTuner *tuner, const MerIndex *point); /* as far as is known */
bool mer_tuner_is_new(const MerTuner *tuner, const MerIndex *point);   /* legal, and not visited */
/* A random new point. False: there seems to be none left. */
bool mer_tuner_sample(const MerTuner *tuner, MerRng *rng, MerIndex *point);
/* Appends to the plan what is not visited, and marks it so. */
bool mer_tuner_add(MerTuner *tuner, const MerIndex *point);
/* Fills the plan with so many random points, or all that are left. */
void mer_tuner_add_random(MerTuner *tuner, int count);

/* True: the plan is used up, make a new one. Makes the first, random one itself. */
bool mer_tuner_needs_plan(MerTuner *tuner);
/* Hands out what is planned; 0: nothing. Telling is a slot of MerOptimizerClass where the state begins with the tuner. */
int  mer_tuner_ask(MerTuner *tuner, MerProposal *proposals, int capacity);
void mer_tuner_tell(void *tuner, const MerTrial *trials, int count);

/* Of all records. */
void mer_tuner_labels(const MerTuner *tuner, float *labels);
/* Rank correlation of what was thought of the first `count` points of the plan with what was measured; NAN: unknown. */
double mer_tuner_agreement(const MerTuner *tuner, int count, const float *thought);
/* What each knob's choice means, as numbers: (count, knobs). */
void mer_tuner_features(const MerTuner *tuner, int count, const MerIndex *points, float *rows);

void mer_tuner_keep(MerTuner *tuner, MerStream *stream);

/* The best points seen, without repeats: a search over a model ends with it. */
typedef struct MerTop {
    int       count, capacity, knobs, worst; /* `worst`: index of it, once full */
    MerIndex *points;
    float    *values;
} MerTop;

MerTop mer_top_make(int capacity, int knobs, MerArena *arena);
/* True: it is among them now, and was not before. */
bool mer_top_offer(MerTop *top, const MerIndex *point, float value);
/* Best first, ties in the order of offering. */
void mer_top_sort(MerTop *top);

#endif
